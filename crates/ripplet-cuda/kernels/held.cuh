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
    RIPPLET_FN u64 top() const { return table.top(team.rank(), Team::SIZE); }
    template <class F> RIPPLET_FN void each(F visit) const {
        table.each(team.rank(), Team::SIZE, visit);
    }
};

// One vertex's turn; `memory` is the team's.
template <class Team>
RIPPLET_FN void choose_held(const Run& run, Turn turn, const Team& team, u32 id,
                            unsigned char* memory, u32 bytes, Seen* seen) {
    const Field& field = run.field;
    const Place place = place_of(field, id);
    const u32 degree = place.degree();
    const Chooser v(run, id, field.labels[id]);
    Vote votes[HELD];
    Arc arcs[HELD];
    u64 own = 0, cast = 0;
#pragma unroll
    for (u32 index = 0; index < HELD; index++) {
        const u32 at = index * Team::SIZE + team.rank();
        if (at < degree) arcs[index] = arc_at(field, place, at);
    }
#pragma unroll
    for (u32 index = 0; index < HELD; index++) {
        const u32 at = index * Team::SIZE + team.rank();
        votes[index] = at < degree ? v.vote(arcs[index]) : Vote{NO_LABEL, 0};
        cast += votes[index].weight;
        if (votes[index].label == v.label) own += votes[index].weight;
    }
    own = team.sum(own);
    cast = team.sum(cast);

    Verdict verdict;
    if (cast <= U32_MAX) {
        HeldSums<Team, u32> sums = {team, votes, Table<u32>::in(memory, bytes, 2 * degree)};
        verdict = judge(team, v, true, own, cast, sums);
    } else {
        HeldSums<Team, u64> sums = {team, votes, Table<u64>::in(memory, bytes, 2 * degree)};
        verdict = judge(team, v, true, own, cast, sums);
    }
    u32 carried = 0;
    if (CARRIES) {
        for (u32 index = 0; index < HELD; index++) {
            const u32 at = index * Team::SIZE + team.rank();
            if (verdict.best.found && votes[index].weight > 0 && votes[index].label == verdict.best.label)
                carried = max(carried, v.carry(arc_at(field, place, at)));
        }
        carried = team.largest(carried);
    }
    end_turn(run, turn, team.rank() == 0, v, degree, verdict, cast, carried, seen);
    team.sync();
}

RIPPLET_FN void choose_by_warps(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[HELD_WARP];
    constexpr u32 BYTES = SHARED / WARPS;
    unsigned char* memory = shared_memory() + threadIdx.x / 32 * BYTES;
    Seen seen = {0, 0};
    for (u32 item = blockIdx.x * WARPS + threadIdx.x / 32; item < count; item += gridDim.x * WARPS)
        choose_held(run, turn, Warp{}, field.members[HELD_WARP][item], memory, BYTES, &seen);
    seen.report(field);
}

RIPPLET_FN void choose_by_blocks(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[HELD_BLOCK];
    const Block team = {shared_memory()};
    Seen seen = {0, 0};
    for (u32 item = blockIdx.x; item < count; item += gridDim.x)
        choose_held(run, turn, team, field.members[HELD_BLOCK][item], shared_memory() + Block::BYTES,
                    SHARED - Block::BYTES, &seen);
    seen.report(field);
}

}  // namespace ripplet
