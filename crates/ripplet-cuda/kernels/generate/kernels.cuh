// The kernels, in the order of their launches.
#pragma once

using ripplet::State;

namespace ripplet {

RIPPLET_FN u64 thread_of_grid() { return (u64)blockIdx.x * BLOCK + threadIdx.x; }

}  // namespace ripplet

RIPPLET_KERNEL(ripplet_count_stubs, State, state, 256, 6) {
    ripplet::count_stubs(state, ripplet::thread_of_grid());
}
RIPPLET_KERNEL(ripplet_count_ring_sales, State, state, 256, 6) {
    ripplet::count_ring_sales(state, ripplet::thread_of_grid());
}
RIPPLET_KERNEL(ripplet_sum_vertices, State, state, 256, 6) { ripplet::sum_vertices(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_sum_vertex_tiles, State, state, 256, 1) {
    ripplet::sum_tiles(state, (state.vertices - 1) / ripplet::TILE + 1, &state.totals->arcs);
}
RIPPLET_KERNEL(ripplet_begin_lists, State, state, 256, 6) { ripplet::begin_lists(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_place_stubs, State, state, 256, 6) {
    ripplet::place_stubs(state, ripplet::thread_of_grid());
}
RIPPLET_KERNEL(ripplet_place_ring_sales, State, state, 256, 6) {
    ripplet::place_ring_sales(state, ripplet::thread_of_grid());
}
RIPPLET_KERNEL(ripplet_find_owners, State, state, 256, 6) {
    ripplet::find_owners(state, ripplet::thread_of_grid());
}
RIPPLET_KERNEL(ripplet_sort_tiles, State, state, 256, 6) { ripplet::sort_tile(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_merge_tiles, State, state, 256, 6) { ripplet::merge_tile(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_settle_tiles, State, state, 256, 6) { ripplet::settle_tile(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_count_kept, State, state, 256, 6) { ripplet::count_kept(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_sum_kept, State, state, 256, 1) {
    ripplet::sum_tiles(state, state.tiles, &state.totals->kept);
}
RIPPLET_KERNEL(ripplet_list_kept, State, state, 256, 6) { ripplet::list_kept(state, blockIdx.x); }
RIPPLET_KERNEL(ripplet_gather, State, state, 256, 6) { ripplet::gather(state, ripplet::thread_of_grid()); }
RIPPLET_KERNEL(ripplet_weigh, State, state, 256, 6) { ripplet::weigh(state, ripplet::thread_of_grid()); }
RIPPLET_KERNEL(ripplet_begin_kept, State, state, 256, 6) {
    ripplet::begin_kept(state, ripplet::thread_of_grid());
}
