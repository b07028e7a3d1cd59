// Initialisation, before the first round. A thread per value or vertex; the grid is strided.
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
    const Field& field = run.field;
    u64 grand_total = 0;
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 at = (u64)blockIdx.x * BLOCK + threadIdx.x; at < field.vertices; at += threads) {
        const u32 v = (u32)at, label = field.labels[v];
        field.active[v] = 1;
        if (TOTAL == TOTAL_NONE) continue;
        const u32 share = share_of(field, v);
        grand_total += share;
        if (label < field.vertices) atomicAdd(field.totals + label, share);
    }
    grand_total = warp_sum(grand_total);
    if (lane_id() == 0 && grand_total > 0) atomicAdd(&field.tallies->grand_total, grand_total);
}

RIPPLET_FN void find_most(const Run& run) {
    const Field& field = run.field;
    u32 most = 0;
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 at = (u64)blockIdx.x * BLOCK + threadIdx.x; at < field.vertices; at += threads)
        most = max(most, field.totals[at]);
    most = warp_max(most);
    if (lane_id() == 0 && most > 0) atomicMax(&field.tallies->most_total, most);
}

}  // namespace ripplet
