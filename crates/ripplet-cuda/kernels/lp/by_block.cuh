// Block-mapped vertices (kernel `ripplet_choose`): degrees 1025 to 4096, or 513 to 4096 if votes have weights. A
// block of 256 threads takes a vertex. Each thread has up to 16 votes in registers, and a hash table in shared
// memory, with room for all labels, counts them.
//
//     arcs       |  0  1  2 ... 255 | 256 257 ... 511 | ...     read together, 16 rows
//     thread     |  0  1  2 ... 255 |  0   1  ... 255 | ...     votes stay in registers
//     table      | label, sum | free | label, sum | ...         up to 2 slots an arc
//
//     for each vertex that the block takes from the class's list:
//         read votes; sum those of the own label, and all
//         judge (`best.cuh`): the table is filled only if the own label does not win by these sums
//
// Shared memory (`SHARED` bytes): `Team::BYTES` for reductions | the table. Before that, the place of the table
// has the decoded arcs of a compressed list. GLP (SIGMOD 2021), section 4.1: a block per high-degree vertex, and
// its hash table in shared memory.
#pragma once

namespace ripplet {

typedef Block<BLOCK> Team;

// Votes of a thread, and bytes of shared memory of a block.
constexpr u32 THREAD_VOTES = PIECE / BLOCK, SHARED = 57344;

// The vote of a neighbour, with weight 1 if votes are counted.
RIPPLET_FN Vote vote_of(const Chooser& v, const Arc& arc) {
    Vote vote = v.vote(arc);
    if (UNIT) vote.weight = vote.label != NO_LABEL;
    return vote;
}

// Reads a thread's arcs: up to `COUNT` of those from number `first` on, which a block of `THREADS` threads
// reads together. `room` is the block's shared memory; compressed lists use 8 bytes per arc of it during the
// call.
template <u32 THREADS, u32 COUNT>
RIPPLET_FN void read_arcs(const LpState& state, const Place& place, u32 first, unsigned char* room, Arc (&arcs)[COUNT]) {
    const u32 degree = place.degree();
    if constexpr (COMPRESSED) {
        u32 *ids = (u32*)room, *weights = ids + COUNT * THREADS;
        const u32 end = first + min(degree - first, COUNT * THREADS);
        each_arc_by_warps(state, place, first, end, threadIdx.x / 32, THREADS / 32, [&](u32 number, const Arc& arc) {
            ids[number - first] = arc.id;
            if (WEIGHTED) weights[number - first] = arc.weight;
        });
        __syncthreads();
#pragma unroll
        for (u32 index = 0; index < COUNT; index++) {
            const u32 at = index * THREADS + threadIdx.x;
            arcs[index] = at < end - first ? Arc{ids[at], WEIGHTED ? weights[at] : 1} : Arc{U32_MAX, 0};
        }
        __syncthreads();
    } else {
#pragma unroll
        for (u32 index = 0; index < COUNT; index++) {
            const u32 at = first + index * THREADS + threadIdx.x;
            arcs[index] = at < degree ? arc_at(state, place, at) : Arc{U32_MAX, 0};
        }
    }
}

// Reads a thread's votes, of the same arcs as `read_arcs`.
template <u32 THREADS, u32 COUNT>
RIPPLET_FN void read_votes(const Chooser& v, const Place& place, u32 first, unsigned char* room,
                           Vote (&votes)[COUNT]) {
    Arc arcs[COUNT];
    read_arcs<THREADS>(v.run->state, place, first, room, arcs);
#pragma unroll
    for (u32 index = 0; index < COUNT; index++)
        votes[index] = arcs[index].id != U32_MAX ? vote_of(v, arcs[index]) : Vote{NO_LABEL, 0};
}

// Votes for the vertex's own label, and all votes.
struct VoteTotals {
    u64 own, all;

    template <u32 COUNT> RIPPLET_FN void add(const Chooser& v, const Vote (&votes)[COUNT]) {
#pragma unroll
        for (u32 index = 0; index < COUNT; index++) {
            all += votes[index].weight;
            if (votes[index].label == v.label) own += votes[index].weight;
        }
    }
    // Sums over all threads of a block.
    template <class Team> RIPPLET_FN void sum_up(const Team& team) {
        const VoteTotals of_warp = {Warp{}.sum(own), Warp{}.sum(all)};
        const VoteTotals here = team.across(of_warp, VoteTotals{0, 0});
        own = Warp{}.sum(here.own);
        all = Warp{}.sum(here.all);
    }
};

template <class Sum> struct BlockSums {
    Team team;
    const Vote (&votes)[THREAD_VOTES];
    Table<Sum> table;

    RIPPLET_FN Leader lead(const Chooser& v) {
        table.clear(team.rank(), BLOCK);
        team.sync();
        for (u32 index = 0; index < THREAD_VOTES; index++)
            if (votes[index].weight > 0) table.add(votes[index].label, votes[index].weight, U32_MAX);
        team.sync();
        const Sum top = team.largest(table.top(team.rank(), BLOCK));
        return leader_of(team, table.lead(v, team.rank(), BLOCK, top));
    }
    RIPPLET_FN void keep() const {}
    template <class F> RIPPLET_FN void each(F visit) const {
        table.each(team.rank(), BLOCK, visit);
    }
};

template <class Sum>
RIPPLET_FN Verdict judge_by_block(const Team& team, const Chooser& v, u32 degree, const VoteTotals& totals,
                                  const Vote (&votes)[THREAD_VOTES]) {
    unsigned char* memory = team.memory + Team::BYTES;
    BlockSums<Sum> sums = {team, votes, Table<Sum>::in(memory, SHARED - Team::BYTES, 2 * degree)};
    return judge(team, v, true, totals.own, totals.all, sums);
}

RIPPLET_FN void choose_by_block(const Run& run, Phase phase, u32 of_class, ThreadCounters* counters) {
    const LpState& state = run.state;
    const u32 count = members_until(state, phase, of_class);
    const Team team = {shared_memory()};
    if (count == 0) return;
    for (u32 item; (item = take(&work_counters(state, phase).taken[of_class], team.memory)) < count;) {
        const u32 id = Members(state, of_class)[item];
        const Place place = place_of(state, id);
        const u32 degree = place.degree();
        const Chooser v(run, id, state.labels[id]);
        Vote votes[THREAD_VOTES];
        read_votes<BLOCK>(v, place, 0, team.memory + Team::BYTES, votes);
        VoteTotals totals = {0, 0};
        totals.add(v, votes);
        totals.sum_up(team);
        Decision end = {};
        end.total_votes = totals.all;
        end.verdict = UNIT || totals.all <= U32_MAX ? judge_by_block<u32>(team, v, degree, totals, votes)
                                                    : judge_by_block<u64>(team, v, degree, totals, votes);
        if (CARRIES)
            end.carried = team.largest(
                carried_by(v, place, end.verdict.best, 0, degree, team.rank(), BLOCK));
        if (team.rank() == 0) end_update_of(run, phase, of_class, item, degree, v, end, counters);
        team.sync();
    }
}

}  // namespace ripplet
