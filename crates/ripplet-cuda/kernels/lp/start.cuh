// Initialisation, before the first round.
//
//     fill         values[i] = bits + step * i           labels: 0 1 2 3 ...; a column: its default
//     start        active[v] = 1; totals[label of v] += share of v
//     find_most    the largest total
//
// Mapping: a thread per value or vertex, strided grid; no shared memory.
#pragma once

namespace ripplet {

// Initial values of a column or of labels: `bits + step * index`.
struct Fill {
    u32* values;
    u64 count;
    u32 bits, step;
};

RIPPLET_FN void fill(const Fill& fill) {
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 at = (u64)blockIdx.x * BLOCK + threadIdx.x; at < fill.count; at += threads)
        fill.values[at] = fill.bits + fill.step * (u32)at;
}

// Marks all vertices active, and computes the label totals.
RIPPLET_FN void start(const Run& run) {
    const LpState& state = run.state;
    u64 grand_total = 0;
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 at = (u64)blockIdx.x * BLOCK + threadIdx.x; at < state.graph.vertices; at += threads) {
        const u32 v = (u32)at, label = state.labels[v];
        state.frontier.active[v] = 1;
        if (TOTAL == TOTAL_NONE) continue;
        const u32 share = share_of(state, v);
        grand_total += share;
        if (label < state.graph.vertices) atomicAdd(state.totals.by_label + label, share);
    }
    grand_total = warp_sum(grand_total);
    if (lane_id() == 0 && grand_total > 0) atomicAdd(&state.tallies->grand_total, grand_total);
}

RIPPLET_FN void find_most(const Run& run) {
    const LpState& state = run.state;
    u32 most = 0;
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 at = (u64)blockIdx.x * BLOCK + threadIdx.x; at < state.graph.vertices; at += threads)
        most = max(most, state.totals.by_label[at]);
    most = warp_max(most);
    if (lane_id() == 0 && most > 0) atomicMax(&state.tallies->most_total, most);
}

}  // namespace ripplet
