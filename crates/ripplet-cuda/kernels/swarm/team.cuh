// Teams: threads that process one graph, and take one item after the other. All threads of a team call every
// function here together.
//
//     block of 128   | warp 0: graph 17 | warp 1: graph 4 | warp 2: graph 90 | warp 3: graph 8 |    WarpTeam
//     block of n     | all threads: graph 3                                                    |    BlockTeam
//
// Items are in descending order of work, and a team takes the next one by an atomic counter. So the last items
// are small, and teams end at about the same time.
//
// Shared memory: none for a `WarpTeam`, which broadcasts by shuffles; `WORD_BYTES` for a `BlockTeam`, with the index of
// its item. What else a team has there follows it (`kernels.cuh`). SwarmGraph (Ji, Liu and Huang, 2020), section 3.2,
// gives a source to each block.
#pragma once

namespace ripplet {

// A warp, one of several of its block.
struct WarpTeam {
    // Whether the team orders its vertices by degree. For the few vertices of a warp's graph this does not
    // pay.
    static constexpr bool ORDERS = false;

    RIPPLET_FN u32 size() const { return 32; }
    RIPPLET_FN u32 rank() const { return lane_id(); }
    RIPPLET_FN void sync() const { __syncwarp(); }
    // Whether `x` is true in any thread. Writes before the call are visible to the team after it.
    RIPPLET_FN bool any(bool x) const {
        const bool found = __any_sync(ALL_LANES, x) != 0;
        __syncwarp();
        return found;
    }
    // Takes the index of the next item, after all threads have finished the last one.
    RIPPLET_FN u32 next(u32* taken) const {
        __syncwarp();
        u32 number = 0;
        if (rank() == 0) number = atomicAdd(taken, 1u);
        return __shfl_sync(ALL_LANES, number, 0);
    }
};

// All threads of a block. `word`, in shared memory, broadcasts the item.
struct BlockTeam {
    static constexpr bool ORDERS = true;

    u32* word;

    RIPPLET_FN u32 size() const { return blockDim.x; }
    RIPPLET_FN u32 rank() const { return threadIdx.x; }
    RIPPLET_FN void sync() const { __syncthreads(); }
    RIPPLET_FN bool any(bool x) const { return __syncthreads_or(x) != 0; }
    RIPPLET_FN u32 next(u32* taken) const {
        __syncthreads();
        if (rank() == 0) *word = atomicAdd(taken, 1u);
        __syncthreads();
        return *word;
    }
};
// Bytes before the rest of a block's shared memory: 4 are used, and 16 keep the alignment of what follows.
constexpr u32 WORD_BYTES = 16;

}  // namespace ripplet
