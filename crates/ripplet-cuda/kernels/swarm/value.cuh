// What becomes of sums: the same operations in the same order as on the CPU.
#pragma once

namespace ripplet {

RIPPLET_FN f64 others(u32 vertices) { return (f64)vertices - 1.0; }

// Of a vertex that so many reach, from so far in sum.
RIPPLET_FN f64 value_of_far(const State& state, u32 vertices, u32 reached, u64 far) {
    if (reached == 0) return 0.0;
    const f64 count = (f64)reached, sum = (f64)far;
    if (state.measure == WASSERMAN_FAUST) return count / others(vertices) * (count / sum);
    return state.is_normalized ? count / sum : 1.0 / sum;
}

RIPPLET_FN f64 value_of_near(const State& state, u32 vertices, f64 near) {
    return state.is_normalized && near > 0.0 ? near / others(vertices) : near;
}

// What sums of ways between ordered pairs are multiplied by.
RIPPLET_FN f64 scale_of_ways(const State& state, u32 vertices) {
    if (!state.is_normalized) return state.is_directed ? 1.0 : 0.5;
    const f64 pairs = others(vertices) * (others(vertices) - 1.0);
    return pairs > 0.0 ? 1.0 / pairs : 0.0;
}

// What a vertex knows of its distances, one a lane, adds to its graph's; nothing of lanes without one.
RIPPLET_FN void add_to_graph(const State& state, const Member& graph, u32 v, bool there, u32 reached, u64 far,
                             u32 farthest) {
    if (there && state.eccentricities) state.eccentricities[graph.at + v] = farthest;
    const u64 pairs = warp_sum(there ? (u64)reached : 0), sum = warp_sum(there ? far : 0);
    const u32 largest = warp_max(there ? farthest : 0), smallest = warp_min(there ? farthest : U32_MAX);
    if (lane_id() > 0) return;
    atomicAdd(state.pairs + graph.index, pairs);
    atomicAdd(state.sums + graph.index, sum);
    atomicMax(state.diameters + graph.index, largest);
    atomicMin(state.radii + graph.index, smallest);
}

}  // namespace ripplet
