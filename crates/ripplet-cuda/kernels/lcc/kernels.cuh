// Entry points of the kernels, in the order of a run. A kernel takes blocks from a given number on, so that the
// host can launch a long step in parts.
//
//     degrees     find_owners, count_neighbors, count_degrees
//     hubs        find_hubs, number_hubs
//     lists       count_listed, sum_listed, list_edges, list_empty       each edge once
//     bits        set_bits                                               of hubs
//     triangles   list_slices, count_slice, count_by_block, count_by_warp
//     quotients   count_neighbors, count_reciprocal, divide
//
// The numbers behind each argument are threads per block and blocks per multiprocessor that registers must allow: 6
// blocks of 256 and 12 of 128 leave 40 of 65,536 registers to a thread, 4 of 256 and 2 of 512 leave 64. Other bounds
// are not measured. Shared memory: dynamic, in bytes of the launch (`src/lcc/run.rs`).
#pragma once

namespace ripplet {

// Argument of a kernel: its blocks are numbered from `first` on. `counts` is the array that some kernels
// count in.
struct Work {
    State state;
    u64 first;
    u32* counts;

    RIPPLET_FN u64 block() const { return first + blockIdx.x; }
};

}  // namespace ripplet

using ripplet::Work;

RIPPLET_KERNEL(ripplet_find_owners, Work, work, 256, 4) { ripplet::find_owners(work.state, work.block()); }
RIPPLET_KERNEL(ripplet_count_neighbors, Work, work, 256, 6) {
    ripplet::count_neighbors(work.state, work.block(), work.counts, false);
}
RIPPLET_KERNEL(ripplet_count_reciprocal, Work, work, 256, 6) {
    ripplet::count_neighbors(work.state, work.block(), work.counts, true);
}
RIPPLET_KERNEL(ripplet_count_degrees, Work, work, 256, 4) {
    ripplet::count_degrees(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_find_hubs, Work, work, 256, 4) {
    ripplet::find_hubs(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_number_hubs, Work, work, 256, 4) {
    ripplet::number_hubs(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_count_listed, Work, work, 256, 6) {
    ripplet::count_listed(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_sum_listed, Work, work, 256, 1) { ripplet::sum_listed(work.state); }
RIPPLET_KERNEL(ripplet_list_edges, Work, work, 256, 4) {
    ripplet::list_edges(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_list_empty, Work, work, 256, 4) { ripplet::list_empty(work.state, work.block()); }
RIPPLET_KERNEL(ripplet_set_bits, Work, work, 256, 4) {
    ripplet::set_bits(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_list_slices, Work, work, 256, 4) { ripplet::list_slices(work.state, work.block()); }
RIPPLET_KERNEL(ripplet_count_by_warp, Work, work, 256, 6) {
    ripplet::count_by_warp(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_count_by_block, Work, work, 128, 12) {
    ripplet::count_by_block(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_count_slice, Work, work, 512, 2) {
    ripplet::count_slice(work.state, work.block());
}
RIPPLET_KERNEL(ripplet_divide, Work, work, 256, 4) { ripplet::divide(work.state, work.counts, work.block()); }
