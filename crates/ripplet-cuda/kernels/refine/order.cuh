// The vertices of a round, by phase and class: a counting sort by `BINS` bins.
//
//     active vertices  --count_order-->  a count per bin  --start_order-->  places  --fill_order-->  order
//
//     bin       phase 0: class 0 | 1 | 2 | 3 | phase 1: class 0 | 1 | ...
//     order     | 8 3 11 2 5 | 7 | - | 0 | 4 9 1 | ...
//
// The order within a bin varies, and changes no result.
//
// Mapping: a thread per vertex, in a loop of the grid; start_order is one warp, a lane per bin. Shared memory: a count
// and a place for each bin. No paper.
#pragma once

namespace ripplet {

RIPPLET_FN u32 bin_of(const Work& work, u32 v) {
    return phase_of(work, v) * CLASSES + class_of(work.level.degrees[v]);
}

RIPPLET_FN bool is_scheduled(const Work& work, u32 v) {
    if (v >= work.level.vertices) return false;
    if (work.schedules_all) return true;
    const unsigned char* fixed = work.partition.fixed;
    return work.partition.active[v] && (fixed == nullptr || !fixed[v]);
}

RIPPLET_FN void count_order(const Work& work) {
    u32* bins = (u32*)shared_memory();
    if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
    __syncthreads();
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        if (!is_scheduled(work, v)) continue;
        const u32 bin = bin_of(work, v);
        atomicAdd(bins + bin, 1u);
        if (bin % CLASSES == CLASSES - 1) atomicMax(&work.counters->longest, work.level.degrees[v]);
    }
    __syncthreads();
    if (threadIdx.x < BINS && bins[threadIdx.x] != 0)
        atomicAdd(work.counters->bins + threadIdx.x, bins[threadIdx.x]);
}

RIPPLET_FN void start_order(const Work& work) {
    static_assert(BINS == 32, "one for each lane");
    Counters& counters = *work.counters;
    const u32 count = counters.bins[lane_id()], start = sum_before(count);
    counters.bins[lane_id()] = counters.starts[lane_id()] = start;
    if (lane_id() == 31) counters.starts[BINS] = start + count;
}

RIPPLET_FN void fill_order(const Work& work) {
    u32 *counts = (u32*)shared_memory(), *places = counts + BINS;
    // All threads of the block make as many steps.
    for (u32 base = blockIdx.x * blockDim.x; base < work.level.vertices; base += next_item()) {
        const u32 v = base + threadIdx.x;
        if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
        __syncthreads();
        const bool has = is_scheduled(work, v);
        const u32 bin = has ? bin_of(work, v) : 0;
        const u32 rank = has ? atomicAdd(counts + bin, 1u) : 0;
        __syncthreads();
        if (threadIdx.x < BINS && counts[threadIdx.x] != 0)
            places[threadIdx.x] = atomicAdd(work.counters->bins + threadIdx.x, counts[threadIdx.x]);
        __syncthreads();
        if (has) work.order[places[bin] + rank] = v;
    }
}

}  // namespace ripplet
