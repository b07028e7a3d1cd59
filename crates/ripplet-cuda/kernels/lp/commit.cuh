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

// Moves the shares of the lanes that change their label. All lanes of a warp call it. Of the lanes that join the same
// label, the first adds the shares of all: many vertices join the same large communities, and atomics at one address
// are serialized (`match` against `pdl` in `bench/runs/2026-11-29-h200/waiting-kernels.txt`: .93 of the time of `rmat`).
RIPPLET_FN void move_shares(const LpState& state, bool changes, u32 v, u32 from, u32 to) {
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
    if (adds && share > 0) add_share(state, to, share);
}

// Stores what vertices have chosen. All lanes of a warp call it, each with a vertex that changed, or with `changes`
// false. Returns whether the lane's vertex activates its neighbours.
RIPPLET_FN bool commit_changes(const LpState& state, bool changes, u32 v, u32 label, u64* fingerprint) {
    // A lane without a change has no other label before.
    const u32 before = changes ? state.labels[v] : label;
    if (changes && state.round.traced) *fingerprint += trace_of_change(state, v, before, label);
    const bool relabelled = before != label;
    if (relabelled) state.labels[v] = label;
    move_shares(state, relabelled, v, before, label);
    if (DRAFT_LENGTH > 0 && changes) commit_draft(state, v);
    return changes && activates_neighbors(relabelled);
}

// Commits all choices, if they are not committed yet, and unlists the listed members that activate no neighbour. Calls
// `each` with a vertex and whether it changed, all lanes of a warp together. Returns the change of the fingerprint.
template <class Each> RIPPLET_FN u64 commit_all(const LpState& state, Phase phase, const Each& each) {
    const Tallies* tallies = state.tallies;
    const u32* lower = tallies->lower[phase.parity];
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 fingerprint = 0;
    for (u64 first = thread - lane_id(); first < lower[LARGE]; first += threads) {
        const u64 at = first + lane_id();
        u32 v = U32_MAX, chosen = 0;
        u32* member = nullptr;
        if (at < lower[LARGE]) {
            u32 of_class = 0;
            while (at >= lower[of_class + 1]) of_class++;
            const u32 item = (u32)at - lower[of_class];
            member = &Members(state, of_class)[item];
            v = *member;
            if (v != U32_MAX) chosen = chosen_of(state, phase, of_class, item);
        }
        const bool changed = v != U32_MAX;
        const bool activates = IN_PLACE ? chosen != 0 : commit_changes(state, changed, v, chosen, &fingerprint);
        if (changed && !activates) *member = U32_MAX;
        each(changed, v);
    }
    const u32 large_ones = tallies->members[phase.parity][LARGE];
    for (u64 first = thread - lane_id(); first < large_ones; first += threads) {
        const u64 number = first + lane_id();
        Outcome outcome = {0, false, false};
        u32 v = U32_MAX;
        if (number < large_ones) outcome = state.large.records[number].outcome, v = state.large.records[number].vertex;
        if (!IN_PLACE) commit_changes(state, outcome.changed, v, outcome.label, &fingerprint);
        each(outcome.changed, v);
    }
    return fingerprint;
}

// Adds the lanes' changes of the fingerprint, with one atomic per warp.
RIPPLET_FN void add_fingerprint(const LpState& state, u64 fingerprint) {
    if (!state.round.traced) return;
    fingerprint = warp_sum(fingerprint);
    if (lane_id() == 0 && fingerprint != 0) atomicAdd(&state.tallies->fingerprint, fingerprint);
}

RIPPLET_FN void commit(const Run& run, Phase phase) {
    if constexpr (IN_PLACE) return;
    add_fingerprint(run.state, commit_all(run.state, phase, [](bool, u32) {}));
}

}  // namespace ripplet
