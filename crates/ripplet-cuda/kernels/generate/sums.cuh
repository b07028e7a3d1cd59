// Where lists begin: sums of a tile, sums of the tiles before, and from both the sums before each.
#pragma once

namespace ripplet {

// What the threads of the block before this one have, in sum, and what all have. Takes the first WARPS words of the
// shared memory.
RIPPLET_FN u32 block_sum_before(u32 mine, u32* all) {
    u32* of_warps = (u32*)shared_memory();
    u32 before = sum_before(mine);
    __syncthreads();
    if (lane_id() == 31) of_warps[threadIdx.x / 32] = before + mine;
    __syncthreads();
    *all = 0;
    for (u32 warp = 0; warp < WARPS; warp++) {
        if (warp < threadIdx.x / 32) before += of_warps[warp];
        *all += of_warps[warp];
    }
    return before;
}

// Which vertices of a tile a thread has.
struct Mine {
    u64 first, end;

    RIPPLET_FN Mine(const State& state, u64 tile)
        : first(min((u64)state.vertices, tile * TILE + threadIdx.x * EACH)),
          end(min((u64)state.vertices, first + EACH)) {}
};

RIPPLET_FN void sum_vertices(const State& state, u64 tile) {
    const Mine vertices(state, tile);
    u32 mine = 0, all;
    for (u64 v = vertices.first; v < vertices.end; v++) mine += state.begins[1 + v];
    block_sum_before(mine, &all);
    if (threadIdx.x == 0) state.sums[tile] = all;
}

// One block: instead of what each tile has, what those before have; and what all have.
RIPPLET_FN void sum_tiles(const State& state, u32 tiles, u32* total) {
    const u32 each = (tiles + BLOCK - 1) / BLOCK;
    const u32 first = min(tiles, threadIdx.x * each), end = min(tiles, first + each);
    u32 mine = 0, all;
    for (u32 tile = first; tile < end; tile++) mine += state.sums[tile];
    u32 before = block_sum_before(mine, &all);
    for (u32 tile = first; tile < end; tile++) {
        const u32 has = state.sums[tile];
        state.sums[tile] = before;
        before += has;
    }
    if (threadIdx.x == 0) *total = all;
}

// Instead of how many arcs a vertex has, where its list begins.
RIPPLET_FN void begin_lists(const State& state, u64 tile) {
    const Mine vertices(state, tile);
    u32 mine = 0, all;
    for (u64 v = vertices.first; v < vertices.end; v++) mine += state.begins[1 + v];
    u32 before = state.sums[tile] + block_sum_before(mine, &all);
    for (u64 v = vertices.first; v < vertices.end; v++) {
        const u32 has = state.begins[1 + v];
        state.begins[1 + v] = before;
        before += has;
    }
}

}  // namespace ripplet
