// Bandwidth ceilings of a full round, for `ripplet bench lp`: `read_ids` reads every arc, and `gather_labels`
// the label of every neighbour as well.
//
//     arcs       | 0 1 2 3 | 4 5 6 7 | ...      16 bytes a load
//     thread     |    0    |    1    | ...      two loads in flight, then `2 * threads` loads further on
//
// Mapping: a thread per 8 arcs, strided grid; no shared memory.
#pragma once

namespace ripplet {

// Keeps the compiler from removing the loads: stores the sum if it has one arbitrary value.
RIPPLET_FN void pretend_to_use(const LpState& state, u32 sum) {
    if (sum == 0x5bd1e995u) state.tallies->received_bytes = sum;
}

template <class Visit> RIPPLET_FN u32 over_all_arcs(const LpState& state, Visit visit) {
    const uint4* ids = (const uint4*)state.graph.out.ids;
    const u64 count = state.graph.arcs / 4, threads = (u64)gridDim.x * BLOCK;
    u32 sum = 0;
    u64 at = (u64)blockIdx.x * BLOCK + threadIdx.x;
    for (; at + threads < count; at += 2 * threads) {
        const uint4 a = __ldg(ids + at), b = __ldg(ids + at + threads);
        sum ^= visit(a.x) ^ visit(a.y) ^ visit(a.z) ^ visit(a.w);
        sum ^= visit(b.x) ^ visit(b.y) ^ visit(b.z) ^ visit(b.w);
    }
    if (at < count) {
        const uint4 a = __ldg(ids + at);
        sum ^= visit(a.x) ^ visit(a.y) ^ visit(a.z) ^ visit(a.w);
    }
    return sum;
}

RIPPLET_FN void read_ids(const LpState& state) {
    pretend_to_use(state, over_all_arcs(state, [](u32 id) { return id; }));
}

RIPPLET_FN void gather_labels(const LpState& state) {
    const u32* labels = state.labels;
    pretend_to_use(state, over_all_arcs(state, [labels](u32 id) { return __ldg(labels + id); }));
}

}  // namespace ripplet
