// Teams: threads that work on one vertex together. All threads of a warp, or of the block for a `Block`, call
// each function together. `any` is over all of these threads, the others over a team.
//
//     Lanes<4>      | 0 1 2 3 | 4 5 6 7 | 8 ...          8 teams a warp, reduced by shuffles
//     Warp          | 0 ... 31 |                         Lanes<32>
//     Block<256>    | warp 0 | warp 1 | ... | warp 7 |   each warp reduces, then all warps reduce the 8 values
//
// Shared memory of a `Block`: 32 bytes per warp (`BYTES`), one value each.
#pragma once

namespace ripplet {

// A team of neighbouring lanes of a warp, a power of two of them; a warp has `32 / size` teams. `WIDTH` is 0
// if the size is known at run time only.
template <u32 WIDTH> struct Lanes {
    u32 width;

    RIPPLET_FN u32 size() const { return WIDTH > 0 ? WIDTH : width; }
    RIPPLET_FN u32 rank() const { return lane_id() & (size() - 1); }
    RIPPLET_FN u32 first() const { return lane_id() & ~(size() - 1); }
    RIPPLET_FN u32 lanes() const { return (ALL_LANES >> (32 - size())) << first(); }
    RIPPLET_FN void sync() const { __syncwarp(); }
    RIPPLET_FN bool any(bool x) const { return __any_sync(ALL_LANES, x); }
    RIPPLET_FN u32 count(bool x) const {
        if constexpr (WIDTH == 1) return x;
        return __popc(__ballot_sync(ALL_LANES, x) & lanes());
    }
    template <class T> RIPPLET_FN T largest(T x) const {
        if constexpr (WIDTH == 32) {
            x = warp_max(x);
        } else if constexpr (WIDTH != 1) {
            for (u32 step = size() / 2; step > 0; step /= 2)
                x = max(x, (T)__shfl_xor_sync(ALL_LANES, x, step));
        }
        return x;
    }
    template <class T> RIPPLET_FN T sum(T x) const {
        if constexpr (WIDTH == 32) {
            x = warp_sum(x);
        } else if constexpr (WIDTH != 1) {
            for (u32 step = size() / 2; step > 0; step /= 2)
                x += __shfl_xor_sync(ALL_LANES, x, step);
        }
        return x;
    }
    // The best value of the team, by `better(a, b)`.
    template <class T, class Better> RIPPLET_FN T best(T mine, Better better) const {
        for (u32 step = size() / 2; step > 0; step /= 2) {
            const T other = mine.of_lane(lane_id() ^ step);
            if (better(other, mine)) mine = other;
        }
        return mine;
    }
    // The value of the team's first thread.
    template <class T> RIPPLET_FN T of_first(const T& mine) const {
        if constexpr (WIDTH == 1) return mine;
        return mine.of_lane(first());
    }
};

typedef Lanes<32> Warp;

// A team of all threads of a block. Uses `BYTES` of shared memory from `memory` on.
template <u32 THREADS> struct Block {
    static constexpr u32 SIZE = THREADS, WARPS = THREADS / 32;
    static constexpr u32 BYTES = WARPS * 32;

    unsigned char* memory;

    RIPPLET_FN u32 size() const { return SIZE; }
    RIPPLET_FN u32 rank() const { return threadIdx.x; }
    RIPPLET_FN void sync() const { __syncthreads(); }
    // A flag is the same at all threads, except under `async`, where labels may change between two loads.
    RIPPLET_FN bool any(bool x) const { return IN_PLACE ? __syncthreads_or(x) != 0 : x; }
    RIPPLET_FN u32 count(bool x) const { return (u32)__syncthreads_count(x); }

    // Exchanges a value per warp: lane i gets that of warp i, or `none` if there is no such warp.
    template <class T> RIPPLET_FN T across(const T& of_warp, const T& none) const {
        T* slots = (T*)memory;
        __syncthreads();
        if (lane_id() == 0) slots[threadIdx.x / 32] = of_warp;
        __syncthreads();
        return lane_id() < WARPS ? slots[lane_id()] : none;
    }
    template <class T> RIPPLET_FN T largest(T x) const {
        return Warp{}.largest(across(Warp{}.largest(x), (T)0));
    }
    template <class T> RIPPLET_FN T sum(T x) const { return Warp{}.sum(across(Warp{}.sum(x), (T)0)); }
    template <class T, class Better> RIPPLET_FN T best(T mine, Better better) const {
        return Warp{}.best(across(Warp{}.best(mine, better), T{}), better);
    }
    // The value of the team's first thread.
    template <class T> RIPPLET_FN T of_first(const T& mine) const {
        return across(mine, mine).of_lane(0);
    }
};

}  // namespace ripplet
