// Baseline for measurements: a thread per edge, which looks up each vertex of the shorter of two lists in the
// longer one by binary search. For undirected graphs without hubs only, as lists must be in ascending order.
// No shared memory.
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
