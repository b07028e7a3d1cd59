// Large vertices, first attempt (kernel `ripplet_choose_by_block`): a block of 1024 threads per vertex of 4097
// to `scan_most` arcs. A hash table in shared memory counts exactly the labels that find a slot; a count-min
// sketch bounds the votes of all others. Mostly the winner in the table beats that bound. If it does not, the
// vertex is left to `by_grid.cuh`, which counts every label.
//
//     vote --> table, 4 probes --found a slot--> its exact sum --> winner's score
//                  |                                                     > ?  yes: settled; no: left open
//                  +--no slot--> two rows of the sketch --> bound of any label outside
//
// Shared memory (`scan_shared` bytes): `ScanTeam::BYTES` for reductions | sketch, 8 KiB | table: labels | sums.
// GLP (SIGMOD 2021), section 4.1: the hash table and the count-min sketch of high-degree vertices.
#pragma once

namespace ripplet {

typedef Block<SCAN_BLOCK> ScanTeam;

// Bytes of the sketch in a block's shared memory: two rows of 1024 sums of 4 bytes, or of 512 of 8. Its bound is the
// smaller of the rows' fullest cells. Not measured against other sizes.
constexpr u32 SKETCH_BYTES = 8192;
// Groups of four slots that a label probes if the table may not have room for all labels: in a full table, a label that
// finds no slot makes all probes. Not measured against other numbers.
constexpr u32 PROBES = 4;
// Votes that a thread reads at a time, so that loads overlap, within the 64 registers that a block of 1024 threads
// leaves to it. Not measured against other numbers.
constexpr u32 SCAN_VOTES = UNIT ? 16 : 8;
constexpr u32 SCAN_STEP = SCAN_VOTES * SCAN_BLOCK;

template <class Sum> struct ScannedSums {
    ScanTeam team;
    const Chooser& v;
    const Place& place;
    u64 own;
    Table<Sum> table;
    Sketch<Sum> sketch;
    // Bound on the votes of any label without a slot.
    u64 outside;

    // Adds votes; returns whether some have no slot.
    RIPPLET_FN bool add(const Vote (&votes)[SCAN_VOTES], u32 probes) const {
        bool any_outside = false;
        for (u32 index = 0; index < SCAN_VOTES; index++) any_outside |= add(votes[index], probes);
        return any_outside;
    }
    RIPPLET_FN bool add(const Vote& vote, u32 probes) const {
        // The own label's votes are summed already; its slot would have the most contention.
        if (vote.weight == 0 || vote.label == v.label) return false;
        if (table.add(vote.label, vote.weight, probes)) return false;
        sketch.add(vote.label, vote.weight);
        return true;
    }
    RIPPLET_FN Leader lead(const Chooser&) {
        table.clear(team.rank(), SCAN_BLOCK);
        sketch.clear(team.rank(), SCAN_BLOCK);
        team.sync();
        const u32 degree = place.degree();
        // If the table has room for all labels, probing goes on until a slot is found.
        const u32 probes = degree <= table.slots() / 4 * 3 ? U32_MAX : PROBES;
        bool any_outside = false;
        if constexpr (COMPRESSED) {
            // The tables occupy the memory that decoded arcs would need, so each arc is counted as it is
            // decoded.
            each_arc_by_warps(v.run->state, place, 0, degree, threadIdx.x / 32, SCAN_BLOCK / 32,
                              [&](u32, const Arc& arc) { any_outside |= add(vote_of(v, arc), probes); });
        } else {
            for (u64 first = 0; first < degree; first += SCAN_STEP) {
                Vote votes[SCAN_VOTES];
                read_votes<SCAN_BLOCK>(v, place, (u32)first, nullptr, votes);
                any_outside |= add(votes, probes);
            }
        }
        outside = team.count(any_outside) > 0 ? sketch.bound(team) : 0;
        const Sum top = team.largest(table.top(team.rank(), SCAN_BLOCK));
        Leader mine = table.lead(v, team.rank(), SCAN_BLOCK, top);
        if (team.rank() == 0 && own > 0) mine.combine(Leader{own, v.label, v.rank_of(v.label)});
        return leader_of(team, mine);
    }
    RIPPLET_FN void keep() const {}
    template <class F> RIPPLET_FN void each(F visit) const {
        if (team.rank() == 0 && own > 0) visit(v.label, own);
        table.each(team.rank(), SCAN_BLOCK, visit);
    }
};

// Judges the votes; returns false if a label outside of the table may win.
template <class Sum>
RIPPLET_FN bool judge_scanned(const ScanTeam& team, const Chooser& v, const Place& place,
                              const Large& large, Verdict* verdict) {
    unsigned char* memory = team.memory + ScanTeam::BYTES;
    const u32 bytes = v.run->state.large.scan_shared - ScanTeam::BYTES - SKETCH_BYTES;
    const u32 wanted = 2 * min(place.degree(), U32_MAX / 2);
    ScannedSums<Sum> sums = {team,
                             v,
                             place,
                             large.own,
                             Table<Sum>::in(memory + SKETCH_BYTES, bytes, wanted),
                             Sketch<Sum>::in(memory, SKETCH_BYTES),
                             0};
    *verdict = judge(team, v, true, large.own, large.total_votes, sums);
    if (sums.outside == 0) return true;
    return verdict->best.found && verdict->best.score > v.bound(sums.outside);
}

// Whether a vertex above `scan_most` keeps its label by its sums alone; if so, sets the verdict.
RIPPLET_FN bool keeps_unseen(const ScanTeam& team, const Chooser& v, const Large& large,
                             Verdict* verdict) {
    Flag kept = {large.total_votes == 0 || keeps(v, large.own, large.total_votes, &verdict->best)};
    // Under `async`, threads may have read different totals; the first one decides.
    if (IN_PLACE) {
        kept = team.of_first(kept);
        verdict->best = team.of_first(verdict->best);
    }
    return kept.is_set;
}

RIPPLET_FN void scan_large(const Run& run, Phase phase, ThreadCounters* counters) {
    const LpState& state = run.state;
    const u32 count = members_until(state, phase, LARGE);
    const ScanTeam team = {shared_memory()};
    if (count == 0) return;
    for (u32 item; (item = take(&work_counters(state, phase).scans, team.memory)) < count;) {
        Large& large = state.large.records[item];
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const Place place = place_of(state, v.id);
        const u32 degree = place.degree();
        Decision end = {};
        end.total_votes = large.total_votes;
        const bool settled =
            degree > state.large.scan_most        ? keeps_unseen(team, v, large, &end.verdict)
            : UNIT || large.total_votes <= U32_MAX ? judge_scanned<u32>(team, v, place, large, &end.verdict)
                                            : judge_scanned<u64>(team, v, place, large, &end.verdict);
        if (CARRIES && settled)
            end.carried = team.largest(
                carried_by(v, place, end.verdict.best, 0, degree, team.rank(), SCAN_BLOCK));
        if (settled && team.rank() == 0) large.outcome = end_update(run, phase, v, degree, end, counters);
        if (!settled) leave_open(state, phase, item, team.memory);
        team.sync();
    }
}

}  // namespace ripplet
