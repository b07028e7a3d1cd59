// The end of a vertex's update: the choice is recorded, for `commit.cuh` to commit when all members have chosen.
// Under `async` it is committed at once.
//
//     end_update(vertex, verdict):
//         draft  = the written columns
//         label  = update_vertex(vertex, winner)          the program's hook; it may write the draft
//         changed, activates                              from label, draft and the program's activation rule
//         sync, phased     chosen = label                 labels are unchanged until all have chosen
//         async            labels[v] = label, totals follow
//
// Mapping: one thread for each vertex, the first of its team; no shared memory.
#pragma once

namespace ripplet {

// Per-thread counters, added to the tallies at the end of a kernel.
struct ThreadCounters {
    u32 changed, nan_scores;
    u64 activating_arcs;

    RIPPLET_FN void report(const LpState& state, Phase phase) const {
        const u32 all_changed = warp_sum(changed), all_nan = warp_sum(nan_scores);
        const u64 all_activating = warp_sum(activating_arcs);
        if (lane_id() != 0) return;
        if (all_activating > 0) atomicAdd(&state.tallies->activating_arcs[phase.parity], all_activating);
        if (all_changed > 0) atomicAdd(&state.tallies->changed, (u64)all_changed);
        if (all_nan > 0) atomicAdd(&state.tallies->nan_scores, (u64)all_nan);
    }
};

// Takes the next `together` items of a list (dynamic load balancing). For a warp; the second overload takes
// one item for a block, and uses as many bytes of `memory` as the counter has.
RIPPLET_FN u32 take(u32* taken, u32 together) {
    u32 first = 0;
    if (lane_id() == 0) first = atomicAdd(taken, together);
    return __shfl_sync(ALL_LANES, first, 0);
}
template <class T> RIPPLET_FN T take(T* taken, unsigned char* memory) {
    __syncthreads();
    if (threadIdx.x == 0) *(T*)memory = atomicAdd(taken, (T)1);
    __syncthreads();
    const T item = *(T*)memory;
    __syncthreads();
    return item;
}

// The first member of a class to process.
RIPPLET_FN u32 members_from(const LpState& state, Phase phase, u32 of_class) {
    return STREAMED && phase.part > 0 ? state.streamed.parts[phase.part - 1].until[of_class] : 0;
}
// The number of members of a class, or of pieces, to process: all of the phase, or in a streamed graph those
// of this part and the parts before.
RIPPLET_FN u32 members_until(const LpState& state, Phase phase, u32 of_class) {
    return STREAMED ? state.streamed.parts[phase.part].until[of_class] : state.tallies->members[phase.parity][of_class];
}
RIPPLET_FN u32 pieces_until(const LpState& state, Phase phase) {
    return STREAMED ? state.streamed.parts[phase.part].pieces : state.tallies->pieces[phase.parity];
}
RIPPLET_FN WorkCounters& work_counters(const LpState& state, Phase phase) {
    return STREAMED ? state.streamed.parts[phase.part].work_counters : state.tallies->work_counters;
}

// Whether a vertex belongs to this launch: in a streamed graph, a launch may cover only some vertices.
RIPPLET_FN bool is_launched(Phase phase, u32 v) { return !STREAMED || (v >= phase.first && v < phase.end); }

// A bit for each listed class that has members. All lanes of a warp call it together.
RIPPLET_FN u32 classes_with_members(const LpState& state, Phase phase) {
    const bool is_listed = lane_id() < LARGE;
    const u32 count = is_listed ? state.tallies->members[phase.parity][lane_id()] : 0;
    return __ballot_sync(ALL_LANES, count > 0);
}

// What a vertex adds to its label's total: 1, or its volume. Volumes are scaled by `volume_shift`, with
// dithering.
RIPPLET_FN u32 share_of(const LpState& state, u32 v) {
    if (TOTAL == TOTAL_MEMBERS) return 1;
    if (WEIGHTED) return state.totals.shares[v];
    const u32 degree = degree_of(state, v), shift = state.totals.volume_shift;
    if (shift == 0) return degree;
    const u32 key = stream_key(state.round.seed, 0, VOLUME_STREAM);
    const u64 dither = (u64)mix(v ^ key) & ((1ull << shift) - 1);
    return (u32)((degree + dither) >> shift);
}

// Adds a vertex's share to the total of a label, and returns that.
RIPPLET_FN u32 add_share(const LpState& state, u32 label, u32 share) {
    return atomicAdd(state.totals.by_label + label, share) + share;
}

// Raises the largest total to one that a label has had.
RIPPLET_FN void raise_most_total(const LpState& state, u32 total) {
    u32* most = &state.tallies->most_total;
    if (FALLS_WITH_TOTAL && total > *(volatile u32*)most) atomicMax(most, total);
}

// Moves a vertex's share from the total of one label to that of another. Vertices without a label are in no
// total.
RIPPLET_FN void move_share(const LpState& state, u32 v, u32 from, u32 to) {
    if (TOTAL == TOTAL_NONE) return;
    const u32 share = share_of(state, v);
    if (from < state.graph.vertices) atomicSub(state.totals.by_label + from, share);
    if (to < state.graph.vertices) raise_most_total(state, add_share(state, to, share));
}

// Initialises a vertex's draft with the values of its written columns.
RIPPLET_FN void begin_draft(const LpState& state, u32 v) {
    u32* draft = state.columns.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) draft[index] = *written(state, v, index);
}

RIPPLET_FN bool is_redrafted(const LpState& state, u32 v) {
    const u32* draft = state.columns.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++)
        if (draft[index] != *written(state, v, index)) return true;
    return false;
}

RIPPLET_FN void commit_draft(const LpState& state, u32 v) {
    const u32* draft = state.columns.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) *written(state, v, index) = draft[index];
}

// Everything that the end of a vertex's update needs: the verdict, the total votes, and the carry.
struct Decision {
    Verdict verdict;
    u64 total_votes;
    u32 carried;
};

// Whether a vertex that changed its label, or only its columns, activates its neighbours.
RIPPLET_FN bool activates_neighbors(bool relabelled) {
    return ACTIVATION == ACTIVATION_CHANGE || (ACTIVATION == ACTIVATION_DISAGREEMENT && relabelled);
}

// Marks a vertex active, and stamps its vertex block.
RIPPLET_FN void activate(const LpState& state, Phase phase, u32 v) {
    state.frontier.active[v] = 1;
    // Most vertex blocks are stamped already, and a load costs less than a store.
    if (state.frontier.last_activated[v / VERTEX_BLOCK] != phase.number) state.frontier.last_activated[v / VERTEX_BLOCK] = phase.number;
}

// The label chosen by member `item` of a class.
RIPPLET_FN u32& chosen_of(const LpState& state, Phase phase, u32 of_class, u32 item) {
    if (STREAMED) return state.members.chosen[&Members(state, of_class)[item] - state.streamed.lists];
    return state.members.chosen[state.tallies->lower[phase.parity][of_class] + item];
}

// Whether a changed vertex is written into the peers' mirrors at once: if many may change.
RIPPLET_FN bool mirrors_at_once(Phase phase) { return MIRRORED && !IN_PLACE && !phase.is_sparse; }

// Writes a changed vertex's values into the mirrors.
RIPPLET_FN void mirror_change(const LpState& state, u32 v, u32 label) {
    const Mirrors& mirrors = *state.mirrors;
    const u32* draft = state.columns.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 number = 0; number < mirrors.count; number++) {
        u32* values = mirrors.of[number] + (u64)v * VALUES;
        values[0] = label;
        for (u32 index = 0; index < DRAFT_LENGTH; index++) values[1 + index] = draft[index];
    }
}

// Ends a vertex's update: runs the `update_vertex` hook on the winning label and records the outcome.
RIPPLET_FN Outcome end_update(const Run& run, Phase phase, const Chooser& v, u32 degree, const Decision& end,
                         ThreadCounters* counters) {
    const LpState& state = run.state;
    u32 chosen = v.label;
    bool relabelled = false, redrafted = false;
    if (end.verdict.best.found) {
        const Best& best = end.verdict.best;
        Access access = {&state, false};
        VertexMut vertex = {&access, v.id, v.label, carried_of(end.carried), best.frequency, end.total_votes};
        if (DRAFT_LENGTH > 0) begin_draft(state, v.id);
        u32 label = program::update_vertex(run.parameters, vertex, best.label, best.score);
        // A number that is no vertex is no label.
        if (label != v.label && label >= state.graph.vertices) label = NO_LABEL;
        relabelled = label != v.label;
        redrafted = DRAFT_LENGTH > 0 && is_redrafted(state, v.id);
        if (IN_PLACE && phase.takes_smaller_only && label > v.label) {
            relabelled = redrafted = false;
            activate(state, phase, v.id);
        }
        if (IN_PLACE && redrafted) commit_draft(state, v.id);
        if (relabelled) chosen = label;
        if (IN_PLACE && relabelled) {
            state.labels[v.id] = label;
            move_share(state, v.id, v.label, label);
        }
    }
    const bool changed = relabelled || redrafted;
    const Outcome outcome = {chosen, changed, changed && activates_neighbors(relabelled)};
    if (changed && mirrors_at_once(phase)) mirror_change(state, v.id, chosen);
    counters->changed += outcome.changed;
    counters->nan_scores += end.verdict.nan;
    if (outcome.activates && state.frontier.pull_threshold > 0) {
        counters->activating_arcs += degree;
        state.frontier.changed[v.id] = (unsigned char)phase.stamp;
    }
    return outcome;
}

// Ends the update of member `item` of a class. The vertex stays listed if something is left to do: to commit
// its choice, to send it to other ranks, or to activate its neighbours.
RIPPLET_FN void end_update_of(const Run& run, Phase phase, u32 of_class, u32 item, u32 degree,
                            const Chooser& v, const Decision& end, ThreadCounters* counters) {
    const LpState& state = run.state;
    const Outcome outcome = end_update(run, phase, v, degree, end, counters);
    if (!(LISTS_CHANGES ? outcome.changed : outcome.activates))
        Members(state, of_class)[item] = U32_MAX;
    else if (LISTS_CHANGES)
        chosen_of(state, phase, of_class, item) = IN_PLACE ? outcome.activates : outcome.label;
}

}  // namespace ripplet
