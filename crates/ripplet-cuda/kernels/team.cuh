// Teams: threads that work on one vertex together. All threads of a warp, and for `BlockTeam` of
// the block, call every function here together; `any` is asked for them all, the rest for a team.
#pragma once

namespace ripplet {

// What a team agrees upon: the least rank, and the label that has it.
struct Ranked {
    u32 rank, label;
};

// `WIDTH` neighbouring lanes of a warp; several teams a warp.
template <u32 WIDTH> struct Tile {
    static constexpr u32 SIZE = WIDTH;

    RIPPLET_FN u32 rank() const { return lane_id() % WIDTH; }
    RIPPLET_FN u32 lanes() const {
        if constexpr (WIDTH == 32) return ALL_LANES;
        return ((1u << (WIDTH % 32)) - 1) << (lane_id() / WIDTH * WIDTH);
    }
    RIPPLET_FN void sync() const { __syncwarp(); }
    RIPPLET_FN bool any(bool x) const { return __any_sync(ALL_LANES, x); }
    RIPPLET_FN u32 count(bool x) const { return __popc(__ballot_sync(ALL_LANES, x) & lanes()); }

    template <class T> RIPPLET_FN T largest(T x) const {
        if constexpr (WIDTH == 32) return warp_max(x);
        for (u32 step = WIDTH / 2; step > 0; step /= 2)
            x = max(x, (T)__shfl_xor_sync(ALL_LANES, x, step));
        return x;
    }
    RIPPLET_FN u64 sum(u64 x) const {
        // Nearly always there is no need of 64 bits, for which there is no instruction.
        if (__all_sync(ALL_LANES, x < 1u << 26)) return small_sum((u32)x);
        for (u32 step = WIDTH / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
        return x;
    }
    RIPPLET_FN u32 small_sum(u32 x) const {
        if constexpr (WIDTH == 32) return warp_sum(x);
        for (u32 step = WIDTH / 2; step > 0; step /= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
        return x;
    }
    // The label of the least rank among the lanes that have one. A label has one rank.
    RIPPLET_FN u32 label_of_least(bool has, Ranked mine) const {
        u32 least = has ? mine.rank : U32_MAX;
        if constexpr (WIDTH == 32) {
            least = warp_min(least);
        } else {
            for (u32 step = WIDTH / 2; step > 0; step /= 2)
                least = min(least, (u32)__shfl_xor_sync(ALL_LANES, least, step));
        }
        const u32 holders = __ballot_sync(ALL_LANES, has && mine.rank == least) & lanes();
        const u32 holder = holders ? (u32)__ffs(holders) - 1 : lane_id();
        return __shfl_sync(ALL_LANES, mine.label, holder);
    }
    // The best of all, by `better(a, b)`.
    template <class T, class Better> RIPPLET_FN T best(T mine, Better better) const {
        for (u32 step = WIDTH / 2; step > 0; step /= 2) {
            const T other = mine.of_lane(lane_id() ^ step);
            if (better(other, mine)) mine = other;
        }
        return mine;
    }
    // What its first thread has.
    template <class T> RIPPLET_FN T of_first(const T& mine) const {
        return mine.of_lane(lane_id() / WIDTH * WIDTH);
    }
};

typedef Tile<32> Warp;

// All threads of a block. Uses the first `WARPS` entries of 32 bytes of what it is given of the
// block's shared memory.
struct Block {
    static constexpr u32 SIZE = BLOCK;
    // Bytes of shared memory that it needs.
    static constexpr u32 BYTES = WARPS * 32;

    unsigned char* memory;

    RIPPLET_FN u32 rank() const { return threadIdx.x; }
    RIPPLET_FN void sync() const { __syncthreads(); }
    // What holds for one holds for all, but in place, where others move between two looks.
    RIPPLET_FN bool any(bool x) const { return IN_PLACE ? __syncthreads_or(x) != 0 : x; }
    RIPPLET_FN u32 count(bool x) const { return (u32)__syncthreads_count(x); }

    // One value from each warp, combined by all.
    template <class T, class Combine> RIPPLET_FN T across(T of_warp, Combine combine) const {
        T* slots = (T*)memory;
        __syncthreads();
        if (lane_id() == 0) slots[threadIdx.x / 32] = of_warp;
        __syncthreads();
        T all = slots[0];
        for (u32 warp = 1; warp < WARPS; warp++) all = combine(all, slots[warp]);
        return all;
    }
    template <class T> RIPPLET_FN T largest(T x) const {
        return across(warp_max(x), [](T a, T b) { return max(a, b); });
    }
    RIPPLET_FN u64 sum(u64 x) const {
        return across(Warp{}.sum(x), [](u64 a, u64 b) { return a + b; });
    }
    RIPPLET_FN u32 label_of_least(bool has, Ranked mine) const {
        // A label that nobody has ranks behind all.
        const u64 key = has ? (u64)mine.rank << 32 | mine.label : U64_MAX;
        const u64 least = across(U64_MAX - warp_max(U64_MAX - key), [](u64 a, u64 b) { return min(a, b); });
        return (u32)least;
    }
    template <class T, class Better> RIPPLET_FN T best(T mine, Better better) const {
        return across(Warp{}.best(mine, better),
                      [better](T a, T b) { return better(b, a) ? b : a; });
    }
    // What its first thread has.
    template <class T> RIPPLET_FN T of_first(const T& mine) const {
        return across(mine, [](T a, T) { return a; });
    }
};

}  // namespace ripplet
