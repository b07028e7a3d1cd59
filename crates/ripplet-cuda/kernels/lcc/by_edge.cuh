// Baseline for measurements: a thread per edge, which looks up each vertex of the shorter of two lists in the
// longer one by binary search. For undirected graphs without hubs only, as lists must be in ascending order.
//
//     edges (targets)    | v: u, w, x | u: w, x | ...       the lists of `orient.cuh`, one behind the other
//     sources            | v  v  v    | u  u    | ...       `find_sources`, a thread per vertex
//     thread                 e                               edge v-u: w and x of the shorter list are searched for
//                                                            in the longer one; a hit is the triangle {v, u, w}
//
// Mapping: `count_by_edge` a thread per edge; no shared memory. Cai, Chen, Chen and Haase, An Analysis of Graph
// Algorithms on GPU (2023), section 3.2: their baseline. Their section 4.2 gives an edge four threads.
#pragma once

namespace ripplet {

// Stores the owner of each edge, as an edge list has it.
RIPPLET_FN void find_sources(const State& state, u32* sources, u64 block) {
    const u64 v = block * BLOCK + threadIdx.x;
    if (v >= state.vertices) return;
    const List list(state, (u32)v);
    for (EdgeNumber edge = list.begin; edge < list.end; edge++) sources[edge] = (u32)v;
}

RIPPLET_FN void count_by_edge(const State& state, const u32* sources, u64 block) {
    const u64 edge = block * BLOCK + threadIdx.x;
    u64 found = 0;
    if (edge < state.tallies->edges) {
        const u32 v = sources[edge], u = state.targets[edge];
        const List a(state, v), b(state, u);
        const List &shorter = a.length() < b.length() ? a : b, &longer = a.length() < b.length() ? b : a;
        for (EdgeNumber at = shorter.begin; at < shorter.end; at++) {
            const u32 w = __ldg(state.targets + at);
            if (!contains(state.targets + longer.begin, longer.length(), w)) continue;
            atomicAdd(state.numerators + w, 1ull);
            found++;
        }
        if (found > 0) {
            atomicAdd(state.numerators + v, found);
            atomicAdd(state.numerators + u, found);
        }
    }
    report(state, found);
}

}  // namespace ripplet
