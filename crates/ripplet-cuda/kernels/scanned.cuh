// Higher degrees, a block a vertex (GLP, section 4.1): a table in shared memory counts the labels that
// find a slot, exactly; a count-min sketch bounds all others together. Mostly what wins in the table
// beats that bound. Where it does not, the vertex goes to `spread.cuh`, which counts every label.
#pragma once

namespace ripplet {

// Of a block's shared memory, what the sketch gets.
constexpr u32 SKETCH_BYTES = 8192;

// Calls `visit(arc, vote)` for each vote, a block's threads together; several are read at a time.
template <class Visit>
RIPPLET_FN void each_vote(const Chooser& v, const Place& place, Visit visit) {
    const u32 degree = place.degree();
    for (u32 first = threadIdx.x; first < degree; first += BLOCK * HELD) {
        Arc arcs[HELD];
        Vote votes[HELD];
#pragma unroll
        for (u32 index = 0; index < HELD; index++) {
            const u32 at = first + index * BLOCK;
            arcs[index] = at < degree ? arc_at(v.run->field, place, at) : Arc{0, 0};
        }
#pragma unroll
        for (u32 index = 0; index < HELD; index++)
            votes[index] = first + index * BLOCK < degree ? v.vote(arcs[index]) : Vote{NO_LABEL, 0};
#pragma unroll
        for (u32 index = 0; index < HELD; index++)
            if (first + index * BLOCK < degree) visit(arcs[index], votes[index]);
    }
}

template <class Sum> struct ScannedSums {
    Block team;
    const Chooser& v;
    const Place& place;
    u64 own;
    Table<Sum> table;
    Sketch<Sum> sketch;
    // No label without a slot has more votes.
    u64 outside;

    RIPPLET_FN void count() {
        table.clear(team.rank(), Block::SIZE);
        sketch.clear(team.rank(), Block::SIZE);
        team.sync();
        bool any_outside = false;
        each_vote(v, place, [&](const Arc&, const Vote& vote) {
            // The own label was counted before: it is the one that would be waited for most.
            if (vote.weight == 0 || vote.label == v.label) return;
            if (table.add(vote.label, vote.weight, PROBES)) return;
            sketch.add(vote.label, vote.weight);
            any_outside = true;
        });
        outside = team.count(any_outside) > 0 ? sketch.bound(team) : 0;
    }
    RIPPLET_FN u64 top() const {
        return max((u64)team.largest(table.top(team.rank(), Block::SIZE)), own);
    }
    template <class F> RIPPLET_FN void each(F visit) const {
        if (team.rank() == 0 && own > 0) visit(v.label, own);
        table.each(team.rank(), Block::SIZE, visit);
    }
};

// Judges the votes; false where a label outside of the table may win.
template <class Sum>
RIPPLET_FN bool judge_scanned(const Block& team, const Chooser& v, const Place& place, u64 own,
                              u64 cast, Verdict* verdict) {
    unsigned char* memory = team.memory + Block::BYTES;
    const u32 bytes = SHARED - Block::BYTES - SKETCH_BYTES;
    ScannedSums<Sum> sums = {team,
                             v,
                             place,
                             own,
                             Table<Sum>::in(memory + SKETCH_BYTES, bytes, U32_MAX),
                             Sketch<Sum>::in(memory, SKETCH_BYTES),
                             0};
    *verdict = judge(team, v, true, own, cast, sums);
    if (sums.outside == 0) return true;
    return verdict->best.found && verdict->best.score > v.bound(sums.outside);
}

// Leaves a vertex to many blocks. One thread calls it.
RIPPLET_FN void spread_out(const Field& field, u32 v, u32 degree) {
    Tallies* tallies = field.tallies;
    const u32 number = atomicAdd(&tallies->members[SPREAD], 1u);
    const u32 pieces = (degree + PIECE - 1) / PIECE;
    const u32 first = atomicAdd(&tallies->spread_pieces, pieces);
    const u32 labels = min(degree, field.vertices);
    field.spread[number] = Spread{0, 0, 0, v, first, pieces, labels + labels / 2 + 8, 0, 0};
    for (u32 index = 0; index < pieces; index++)
        field.spread_pieces[first + index] = Piece{number, index};
}

RIPPLET_FN void choose_scanned(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[SCANNED];
    const Block team = {shared_memory()};
    Seen seen = {0, 0};
    if (count == 0) return;
    for (u32 item; (item = take(field, SCANNED, team.memory)) < count;) {
        const u32 id = field.members[SCANNED][item];
        const Place place = place_of(field, id);
        const u32 degree = place.degree();
        const Chooser v(run, id, field.labels[id]);
        u64 own = 0, cast = 0;
        each_vote(v, place, [&](const Arc&, const Vote& vote) {
            cast += vote.weight;
            if (vote.label == v.label) own += vote.weight;
        });
        own = team.sum(own);
        cast = team.sum(cast);
        Ended end = {};
        end.cast = cast;
        const bool settled = cast <= U32_MAX
                                 ? judge_scanned<u32>(team, v, place, own, cast, &end.verdict)
                                 : judge_scanned<u64>(team, v, place, own, cast, &end.verdict);
        const Best& best = end.verdict.best;
        if (CARRIES && settled && best.found) {
            each_vote(v, place, [&](const Arc& arc, const Vote& vote) {
                if (vote.weight > 0 && vote.label == best.label)
                    end.carried = max(end.carried, v.carry(arc));
            });
            end.carried = team.largest(end.carried);
        }
        if (!settled && team.rank() == 0) spread_out(field, id, degree);
        end_turn(run, turn, settled && team.rank() == 0, id, v.label, degree, end, &seen);
        team.sync();
    }
    seen.report(field);
}

}  // namespace ripplet
