// The commit (kernel `ripplet_commit`): when all vertices of the phase have chosen, their labels and columns are
// stored, before any neighbour is activated. Under `async`, changes are committed at once, and `commit_all` only
// visits them, to send them to other ranks, and unlists members.
//
//     members, class by class    | 4 9 7 | 1 - 8 2 | ...       - did not change
//     chosen                     | 5 5 3 | 0   6 1 | ...
//     thread                     | 0 1 2 | 3 4 5 6 | ...       labels[4] = 5, labels[9] = 5, ...
//
// Mapping: a thread per listed member, then a thread per large vertex, whose record has its outcome. A warp adds up its
// lanes' fingerprints, and the shares of lanes that join the same label, by shuffles. Shared memory: none.
#pragma once

namespace ripplet {

// The contribution of one value to the fingerprint of all labels; `ripplet_lp` defines it.
RIPPLET_FN u64 trace(u32 v, u32 label) {
    return (u64)mix(v ^ mix(label)) << 32 | mix(label ^ mix(~v));
}

RIPPLET_FN u64 trace_of_change(const LpState& state, u32 v, u32 before, u32 label) {
    u64 fingerprint = trace(v, label) - trace(v, before);
    const u32* draft = state.columns.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) {
        // A column's value contributes as if it belonged to a vertex of its own.
        const u32 place = mix(v ^ mix(index + 1));
        fingerprint += trace(place, draft[index]) - trace(place, *written(state, v, index));
    }
    return fingerprint;
}

// What the lanes of a warp have committed.
struct Committed {
    // The change of the fingerprint, and the largest total that a label got: for the end, as each waits for memory.
    u64 fingerprint;
    u32 most_total;
};

// Moves the shares of the lanes that change their label. All lanes of a warp call it. Of the lanes that join the same
// label, the first adds the shares of all: many vertices join the same large communities, and atomics at one address
// are serialized (`match` against `pdl` in `bench/runs/2026-11-29-h200/waiting-kernels.txt`: .93 of the time of `rmat`).
RIPPLET_FN void move_shares(const LpState& state, bool changes, u32 v, u32 from, u32 to, Committed* committed) {
    if (TOTAL == TOTAL_NONE) return;
    u32 share = changes ? share_of(state, v) : 0;
    if (changes && from < state.graph.vertices) atomicSub(state.totals.by_label + from, share);
    const bool adds = changes && to < state.graph.vertices;
    const u32 alike = __match_any_sync(ALL_LANES, adds ? to : NO_LABEL);
    u32 remaining = __ballot_sync(ALL_LANES, adds && __popc(alike) > 1);
    while (remaining != 0) {
        const u32 first = (u32)__ffs(remaining) - 1, group = __shfl_sync(ALL_LANES, alike, first);
        const bool in_group = (group >> lane_id() & 1) != 0;
        const u32 sum = warp_sum(in_group ? share : 0);
        if (in_group) share = lane_id() == first ? sum : 0;
        remaining &= ~group;
    }
    if (adds && share > 0) committed->most_total = max(committed->most_total, add_share(state, to, share));
}

// A vertex with its label before and after, and whether it changed.
struct Move {
    u32 id, before, label;
    bool changed;
};

RIPPLET_FN Move move_to(const LpState& state, bool changed, u32 v, u32 label) {
    // A lane without a change has no other label before.
    return Move{v, changed ? state.labels[v] : label, label, changed};
}

// Stores what vertices have chosen. All lanes of a warp call it. Returns whether the lane's vertex activates its
// neighbours.
RIPPLET_FN bool commit_move(const LpState& state, const Move& move, Committed* committed) {
    if (move.changed && state.round.traced)
        committed->fingerprint += trace_of_change(state, move.id, move.before, move.label);
    const bool relabelled = move.before != move.label;
    if (relabelled) state.labels[move.id] = move.label;
    move_shares(state, relabelled, move.id, move.before, move.label, committed);
    if (DRAFT_LENGTH > 0 && move.changed) commit_draft(state, move.id);
    return move.changed && activates_neighbors(relabelled);
}

// Commits all choices, if they are not committed yet, and unlists the listed members that activate no neighbour. Calls
// `each` with a vertex and whether it changed, all lanes of a warp together.
template <class Each> RIPPLET_FN Committed commit_all(const LpState& state, Phase phase, const Each& each) {
    // A thread has this many members under way, as each load waits for the one before.
    constexpr u32 AT_ONCE = 2;
    const Tallies* tallies = state.tallies;
    const u32* lower = tallies->lower[phase.parity];
    const u32 listed = lower[LARGE], end_of_class = lane_id() < LARGE ? lower[lane_id() + 1] : U32_MAX;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    Committed committed = {0, 0};
    for (u64 begin = thread - lane_id(); begin < listed; begin += AT_ONCE * threads) {
        u32* members[AT_ONCE];
        u32 ids[AT_ONCE], classes[AT_ONCE];
        Move moves[AT_ONCE];
#pragma unroll
        for (u32 step = 0; step < AT_ONCE; step++) {
            const u64 first = begin + step * threads, at = first + lane_id();
            // The class of the warp's first member: most often it is that of all.
            classes[step] = (u32)__popc(__ballot_sync(ALL_LANES, end_of_class <= first));
            members[step] = nullptr;
            if (at < listed) {
                while (at >= lower[classes[step] + 1]) classes[step]++;
                members[step] = &Members(state, classes[step])[(u32)at - lower[classes[step]]];
            }
        }
#pragma unroll
        for (u32 step = 0; step < AT_ONCE; step++) ids[step] = members[step] ? *members[step] : U32_MAX;
#pragma unroll
        for (u32 step = 0; step < AT_ONCE; step++) {
            const u32 item = (u32)(begin + step * threads) + lane_id() - (ids[step] != U32_MAX ? lower[classes[step]] : 0);
            const u32 chosen = ids[step] != U32_MAX ? chosen_of(state, phase, classes[step], item) : 0;
            moves[step] = IN_PLACE ? Move{ids[step], 0, chosen, ids[step] != U32_MAX}
                                   : move_to(state, ids[step] != U32_MAX, ids[step], chosen);
        }
#pragma unroll
        for (u32 step = 0; step < AT_ONCE; step++) {
            if (begin + step * threads >= listed) break;
            const Move& move = moves[step];
            const bool activates = IN_PLACE ? move.label != 0 : commit_move(state, move, &committed);
            if (move.changed && !activates) *members[step] = U32_MAX;
            each(move.changed, move.id);
        }
    }
    const u32 large_ones = tallies->members[phase.parity][LARGE];
    for (u64 first = thread - lane_id(); first < large_ones; first += threads) {
        const u64 number = first + lane_id();
        Outcome outcome = {0, false, false};
        u32 v = U32_MAX;
        if (number < large_ones) outcome = state.large.records[number].outcome, v = state.large.records[number].vertex;
        if (!IN_PLACE) commit_move(state, move_to(state, outcome.changed, v, outcome.label), &committed);
        each(outcome.changed, v);
    }
    return committed;
}

// Adds up what the lanes have committed, with one atomic a warp.
RIPPLET_FN void report(const LpState& state, const Committed& committed) {
    const u32 most_total = warp_max(committed.most_total);
    if (lane_id() == 0) raise_most_total(state, most_total);
    if (!state.round.traced) return;
    const u64 fingerprint = warp_sum(committed.fingerprint);
    if (lane_id() == 0 && fingerprint != 0) atomicAdd(&state.tallies->fingerprint, fingerprint);
}

RIPPLET_FN void commit(const Run& run, Phase phase) {
    if constexpr (IN_PLACE) return;
    report(run.state, commit_all(run.state, phase, [](bool, u32) {}));
}

}  // namespace ripplet
