// Degrees up to 256, a warp a vertex, and up to 2048, a block a vertex: each thread holds up to eight
// votes in registers, and a table in shared memory, with room for all labels, counts them.
#pragma once

namespace ripplet {

template <class Team, class Sum> struct HeldSums {
    Team team;
    const Vote (&votes)[HELD];
    Table<Sum> table;

    RIPPLET_FN void count() {
        table.clear(team.rank(), Team::SIZE);
        team.sync();
        for (u32 index = 0; index < HELD; index++)
            if (votes[index].weight > 0) table.add(votes[index].label, votes[index].weight, table.slots);
        team.sync();
    }
    RIPPLET_FN u64 top() const { return team.largest(table.top(team.rank(), Team::SIZE)); }
    template <class F> RIPPLET_FN void each(F visit) const {
        table.each(team.rank(), Team::SIZE, visit);
    }
};

// What a vertex's votes come to; `memory` is the team's.
template <class Team>
RIPPLET_FN Ended judge_held(const Run& run, const Team& team, u32 id, u32 label, const Place& place,
                            unsigned char* memory, u32 bytes) {
    const Field& field = run.field;
    const u32 degree = place.degree();
    const Chooser v(run, id, label);
    Vote votes[HELD];
    Arc arcs[HELD];
    u64 own = 0, cast = 0;
#pragma unroll
    for (u32 index = 0; index < HELD; index++) {
        const u32 at = index * Team::SIZE + team.rank();
        arcs[index] = at < degree ? arc_at(field, place, at) : Arc{0, 0};
    }
#pragma unroll
    for (u32 index = 0; index < HELD; index++) {
        const u32 at = index * Team::SIZE + team.rank();
        votes[index] = at < degree ? v.vote(arcs[index]) : Vote{NO_LABEL, 0};
    }
#pragma unroll
    for (u32 index = 0; index < HELD; index++) {
        cast += votes[index].weight;
        if (votes[index].label == v.label) own += votes[index].weight;
    }
    own = team.sum(own);
    cast = team.sum(cast);

    Ended end = {};
    end.cast = cast;
    if (cast <= U32_MAX) {
        HeldSums<Team, u32> sums = {team, votes, Table<u32>::in(memory, bytes, 2 * degree)};
        end.verdict = judge(team, v, true, own, cast, sums);
    } else {
        HeldSums<Team, u64> sums = {team, votes, Table<u64>::in(memory, bytes, 2 * degree)};
        end.verdict = judge(team, v, true, own, cast, sums);
    }
    if (CARRIES) {
        const Best& best = end.verdict.best;
        for (u32 index = 0; index < HELD; index++) {
            const u32 at = index * Team::SIZE + team.rank();
            if (best.found && votes[index].weight > 0 && votes[index].label == best.label)
                end.carried = max(end.carried, v.carry(arc_at(field, place, at)));
        }
        end.carried = team.largest(end.carried);
    }
    return end;
}

// A warp judges some vertices one after the other, and ends their turns together.
RIPPLET_FN void choose_by_warps(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[HELD_WARP];
    constexpr u32 BYTES = SHARED / WARPS, RECORDS = HELD_BATCH * sizeof(Ended);
    unsigned char* memory = shared_memory() + threadIdx.x / 32 * BYTES;
    Ended* ended = (Ended*)memory;
    const u32 warps = gridDim.x * WARPS;
    u32 batch = HELD_BATCH;
    while (batch > 1 && (u64)warps * batch > count) batch /= 2;
    Seen seen = {0, 0};
    if (count == 0) return;
    for (u32 first; (first = take(field, HELD_WARP, batch)) < count;) {
        const bool has = lane_id() < batch && first + lane_id() < count;
        Member mine = {};
        if (has) {
            mine.id = field.members[HELD_WARP][first + lane_id()];
            mine.place = place_of(field, mine.id);
            mine.label = field.labels[mine.id];
        }
        const u32 here = min(batch, count - first);
        for (u32 step = 0; step < here; step++) {
            const Member now = mine.of_lane(step);
            const Ended end = judge_held(run, Warp{}, now.id, now.label, now.place,
                                         memory + RECORDS, BYTES - RECORDS);
            if (lane_id() == 0) ended[step] = end;
            __syncwarp();
        }
        end_turn(run, turn, has, mine.id, mine.label, mine.place.degree(), ended[has ? lane_id() : 0],
                 &seen);
        __syncwarp();
    }
    seen.report(field);
}

RIPPLET_FN void choose_by_blocks(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[HELD_BLOCK];
    const Block team = {shared_memory()};
    Seen seen = {0, 0};
    if (count == 0) return;
    for (u32 item; (item = take(field, HELD_BLOCK, team.memory)) < count;) {
        const u32 id = field.members[HELD_BLOCK][item], label = field.labels[id];
        const Place place = place_of(field, id);
        const Ended end = judge_held(run, team, id, label, place, shared_memory() + Block::BYTES,
                                     SHARED - Block::BYTES);
        end_turn(run, turn, team.rank() == 0, id, label, place.degree(), end, &seen);
        team.sync();
    }
    seen.report(field);
}

}  // namespace ripplet
