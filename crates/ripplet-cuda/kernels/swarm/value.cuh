// Values from sums, by the operations of the CPU in their order, so that the bits are the same. The definitions are
// those of `ripplet_analytics`: `closeness`, `betweenness`, `apsp`.
//
//     value_of_far              1 / sum | reached / sum | reached / (n - 1) · reached / sum      (Wasserman and Faust)
//     value_of_near             sum of 1 / distance | the same / (n - 1)
//     scale_of_path_counts      times 1 or 1/2 | times 1 / ((n - 1) (n - 2))                     (vertices)
//     store_reach               a vertex's counts -> its record; a warp's counts -> the graph's summary, by atomics
//
//     `|` separates the measure without normalisation from the others. A sum of stored weights is multiplied by
//     `graph.unit`, a power of two.
//
// Mapping: a thread per vertex or value; `store_reach` a lane per vertex, all lanes of a warp together. No shared
// memory. SwarmGraph (Ji, Liu and Huang, 2020), section 3.4, equations 1 to 3. Wasserman and Faust, Social Network
// Analysis (1994).
#pragma once

namespace ripplet {

RIPPLET_FN f64 others(const Member& graph) { return (f64)graph.vertices - 1.0; }

// Closeness of a vertex, from the summary of its distances.
RIPPLET_FN f64 value_of_far(const State& state, const Member& graph, const Reach& found) {
    // No vertex reaches it, or only vertices at distance 0.
    if (found.far == 0) return 0.0;
    const f64 count = (f64)found.reached, sum = (f64)found.far * graph.unit;
    if (state.measure == WASSERMAN_FAUST) return count / others(graph) * (count / sum);
    return state.is_normalized ? count / sum : 1.0 / sum;
}

RIPPLET_FN f64 value_of_near(const State& state, const Member& graph, f64 near) {
    near /= graph.unit;
    return state.is_normalized && near > 0.0 ? near / others(graph) : near;
}

// Scale of sums over ordered pairs: normalisation, and one half for undirected graphs.
RIPPLET_FN f64 scale_of_path_counts(const State& state, const Member& graph) {
    if (!state.is_normalized) return state.is_directed ? 1.0 : 0.5;
    const f64 pairs = others(graph) * (others(graph) - 1.0);
    return pairs > 0.0 ? 1.0 / pairs : 0.0;
}

// The value of a sum over all sources. For edges, the host turns the sums of arcs into values.
RIPPLET_FN f64 value_of_sum(const State& state, const Member& graph, f64 sum) {
    if (QUESTION == NEAR) return value_of_near(state, graph, sum);
    return QUESTION == BETWEENNESS ? sum * scale_of_path_counts(state, graph) : sum;
}

// Stores the summary of a vertex, one per lane, and adds it to the graph's, if requested. Lanes without
// `there` have none.
RIPPLET_FN void store_reach(const State& state, const Member& graph, u32 v, bool there, const Reach& found) {
    if (there && state.reach) state.reach[graph.at + v] = found;
    if (!state.summaries) return;
    const u64 pairs = warp_sum(there ? (u64)found.reached : 0);
    const u64 low = warp_sum(there ? found.far & U32_MAX : 0), high = warp_sum(there ? found.far >> 32 : 0);
    const u64 largest = warp_max(there ? found.farthest : 0);
    const u64 turned = warp_max(there ? ~found.farthest : 0);
    if (lane_id() > 0) return;
    Summary* const summary = state.summaries + graph.index;
    atomicAdd(&summary->pairs, pairs);
    atomicAdd(&summary->low, low);
    if (high > 0) atomicAdd(&summary->high, high);
    atomicMax(&summary->diameter, largest);
    atomicMax(&summary->radius_turned, turned);
}

}  // namespace ripplet
