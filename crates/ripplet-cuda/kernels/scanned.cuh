// Higher degrees, a large block a vertex (GLP, section 4.1): a table in shared memory counts the labels
// that find a slot, exactly; a count-min sketch bounds all others together. Mostly what wins in the
// table beats that bound. Where it does not, the vertex goes to `spread.cuh`, which counts every label.
#pragma once

namespace ripplet {

typedef Block<SCAN_BLOCK> ScanTeam;

// Of a block's shared memory, what the sketch gets.
constexpr u32 SKETCH_BYTES = 8192;
// Fours of slots that a label looks at where not all labels may fit.
constexpr u32 PROBES = 4;
// Votes that a thread reads at a time. Those that it read first stay in registers.
constexpr u32 SCAN_HELD = UNIT ? 16 : 8;
constexpr u32 SCAN_STEP = SCAN_HELD * SCAN_BLOCK;

template <class Sum> struct ScannedSums {
    ScanTeam team;
    const Chooser& v;
    const Place& place;
    const Vote (&held)[SCAN_HELD];
    u64 own;
    Table<Sum> table;
    Sketch<Sum> sketch;
    // No label without a slot has more votes.
    u64 outside;

    // Adds some votes; whether some have no slot.
    RIPPLET_FN bool add(const Vote (&votes)[SCAN_HELD], u32 probes) const {
        bool any_outside = false;
        for (u32 index = 0; index < SCAN_HELD; index++) {
            const Vote& vote = votes[index];
            // The own label was counted before: it is the one that would be waited for most.
            if (vote.weight == 0 || vote.label == v.label) continue;
            if (table.add(vote.label, vote.weight, probes)) continue;
            sketch.add(vote.label, vote.weight);
            any_outside = true;
        }
        return any_outside;
    }
    RIPPLET_FN Leader lead(const Chooser&) {
        table.clear(team.rank(), SCAN_BLOCK);
        sketch.clear(team.rank(), SCAN_BLOCK);
        team.sync();
        const u32 degree = place.degree();
        // Where there is room for all labels, none is turned away.
        const u32 probes = degree <= table.slots() / 4 * 3 ? U32_MAX : PROBES;
        bool any_outside = add(held, probes);
        for (u32 first = SCAN_STEP; first < degree; first += SCAN_STEP) {
            Vote votes[SCAN_HELD];
            read_votes<SCAN_BLOCK>(v, place, first, votes);
            any_outside |= add(votes, probes);
        }
        outside = team.count(any_outside) > 0 ? sketch.bound(team) : 0;
        const Sum top = team.largest(table.top(team.rank(), SCAN_BLOCK));
        Leader mine = table.lead(v, team.rank(), SCAN_BLOCK, top);
        if (team.rank() == 0 && own > 0) mine.meet(Leader{own, v.label, v.rank_of(v.label)});
        return leader_of(team, mine);
    }
    RIPPLET_FN void keep() const {}
    template <class F> RIPPLET_FN void each(F visit) const {
        if (team.rank() == 0 && own > 0) visit(v.label, own);
        table.each(team.rank(), SCAN_BLOCK, visit);
    }
};

// Judges the votes; false where a label outside of the table may win.
template <class Sum>
RIPPLET_FN bool judge_scanned(const ScanTeam& team, const Chooser& v, const Place& place,
                              const Cast& cast, const Vote (&held)[SCAN_HELD], Verdict* verdict) {
    unsigned char* memory = team.memory + ScanTeam::BYTES;
    const u32 bytes = v.run->field.scan_shared - ScanTeam::BYTES - SKETCH_BYTES;
    ScannedSums<Sum> sums = {team,
                             v,
                             place,
                             held,
                             cast.own,
                             Table<Sum>::in(memory + SKETCH_BYTES, bytes, 2 * place.degree()),
                             Sketch<Sum>::in(memory, SKETCH_BYTES),
                             0};
    *verdict = judge(team, v, true, cast.own, cast.all, sums);
    if (sums.outside == 0) return true;
    return verdict->best.found && verdict->best.score > v.bound(sums.outside);
}

// Leaves a vertex to many blocks, with what is known of its votes. One thread calls it.
RIPPLET_FN void spread_out(const Field& field, Turn turn, u32 v, u32 degree, const Cast& cast) {
    Tallies* tallies = field.tallies;
    const u32 number = atomicAdd(&tallies->members[turn.parity][SPREAD], 1u);
    const u32 pieces = (degree + PIECE - 1) / PIECE;
    const u32 first = atomicAdd(&tallies->spread_pieces[turn.parity], pieces);
    const u32 labels = min(degree, field.vertices), slots = (u32)min(2ull * labels + 8, (u64)U32_MAX);
    field.spread[number] = Spread{0, cast.own, cast.all, v, first, pieces, slots, 0, 0, 0, 0, 0, 0};
    for (u32 index = 0; index < pieces; index++)
        field.spread_pieces[first + index] = Piece{number, index};
}

// Adds up the votes of the vertices that are spread from the first, by the piece.
RIPPLET_FN void cast_pieces(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->first_pieces[turn.parity];
    const ScanTeam team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        Spread& spread = field.spread[piece.owner];
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        const Place place = place_of(field, v.id);
        Vote votes[PIECE / SCAN_BLOCK];
        read_votes<SCAN_BLOCK>(v, place, piece.index * PIECE, votes);
        Cast cast = {0, 0};
        cast.add(v, votes);
        cast.sum_up(team);
        if (team.rank() == 0) {
            if (cast.own > 0) atomicAdd(&spread.own, cast.own);
            atomicAdd(&spread.cast, cast.all);
        }
    }
}

RIPPLET_FN void choose_scanned(const Run& run, Turn turn, Seen* seen) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[turn.parity][SCANNED];
    const ScanTeam team = {shared_memory()};
    if (count == 0) return;
    for (u32 item; (item = take(field, SCANNED, team.memory)) < count;) {
        const u32 id = field.members[SCANNED][item];
        const Place place = place_of(field, id);
        const u32 degree = place.degree();
        const Chooser v(run, id, field.labels[id]);
        Vote held[SCAN_HELD];
        read_votes<SCAN_BLOCK>(v, place, 0, held);
        Cast cast = {0, 0};
        cast.add(v, held);
        for (u32 first = SCAN_STEP; first < degree; first += SCAN_STEP) {
            Vote votes[SCAN_HELD];
            read_votes<SCAN_BLOCK>(v, place, first, votes);
            cast.add(v, votes);
        }
        cast.sum_up(team);
        Ended end = {};
        end.cast = cast.all;
        const bool settled = UNIT || cast.all <= U32_MAX
                                 ? judge_scanned<u32>(team, v, place, cast, held, &end.verdict)
                                 : judge_scanned<u64>(team, v, place, cast, held, &end.verdict);
        if (CARRIES && settled)
            end.carried = team.largest(
                carried_by(v, place, end.verdict.best, team.rank(), degree, SCAN_BLOCK));
        if (team.rank() == 0) {
            if (settled) {
                end_turn_of(run, turn, SCANNED, item, degree, v, end, seen);
            } else {
                spread_out(field, turn, id, degree, cast);
                field.members[SCANNED][item] = U32_MAX;
            }
        }
        team.sync();
    }
}

}  // namespace ripplet
