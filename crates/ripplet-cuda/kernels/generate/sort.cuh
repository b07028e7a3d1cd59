// Every list ascending: a merge sort of all arcs by their list and their neighbour. Blocks take as many arcs each,
// whoever's they are, so that no list is too long for one of them.
//
//     lists       5 2 | 9 1 4 7 3 8 | 6 2         of three vertices
//     tiles       5 2 | 9 1    4 7 3 8    6 2 ..  of four arcs, here
//     sorted      2 5 | 1 9    3 4 7 8    2 6
//     pass 0      2 5 | 1 3    4 7 8 9            of two neighbouring tiles, what is of one list in both
//     pass 1                                      of two and two: no list is in the second and the third
//
// Lists stay where they are: of two neighbouring groups of tiles, at most one list is in both, the one at their
// border, and all that a pass has to do is to merge that list's part in the one with its part in the other.
#pragma once

namespace ripplet {

constexpr u32 TILE_WORDS = TILE / 32;

// The owner of a tile's first arc; and if that arc is not its first, the pass that merges what is before the tile
// with what is in it.
RIPPLET_FN void find_owners(const State& state, u64 tile) {
    if (tile > state.tiles) return;
    u32 low = 0, high = state.vertices - 1;
    if (tile == state.tiles) low = high;
    const u64 arc = tile * TILE;
    while (low < high) {
        const u32 middle = high - (high - low) / 2;
        if (state.begins[middle] <= arc)
            low = middle;
        else
            high = middle - 1;
    }
    state.owners[tile] = low;
    if (tile < state.tiles && state.begins[low] < arc)
        atomicOr(&state.totals->passes, 1u << ((u32)__ffs((int)(u32)tile) - 1));
}

// Which arcs of a tile are the first of their lists: a bit each. Takes shared memory from `words` on, for them and for
// how many are before each word.
struct Firsts {
    u32 *bits, *before;

    RIPPLET_FN Firsts(const State& state, u64 tile, u32* words) : bits(words), before(words + TILE_WORDS) {
        if (threadIdx.x < TILE_WORDS) bits[threadIdx.x] = 0;
        __syncthreads();
        const u64 first = tile * TILE;
        const u32 last = state.owners[tile + 1];
        for (u64 v = (u64)state.owners[tile] + threadIdx.x; v <= last; v += BLOCK) {
            const u64 at = state.begins[v] - first;
            if (at < TILE) atomicOr(bits + at / 32, 1u << (at % 32));
        }
        __syncthreads();
        static_assert(TILE_WORDS == 64, "two for each lane of a warp");
        if (threadIdx.x < 32) {
            const u32 even = count_ones(bits[2 * lane_id()]), odd = count_ones(bits[2 * lane_id() + 1]);
            before[2 * lane_id()] = sum_before(even + odd);
            before[2 * lane_id() + 1] = before[2 * lane_id()] + even;
        }
        __syncthreads();
    }
    RIPPLET_FN bool is_first(u32 at) const { return bits[at / 32] >> (at % 32) & 1; }
    // How many lists begin in the tile no later than here: ascending from list to list.
    RIPPLET_FN u32 list_of(u32 at) const {
        return before[at / 32] + count_ones(bits[at / 32] & (U32_MAX >> (31 - at % 32)));
    }
};

// Sorts a tile by a bitonic network: of two that are compared, which is lower depends on the place alone.
RIPPLET_FN void sort_tile(const State& state, u64 tile) {
    u64* keys = (u64*)shared_memory();
    const Firsts firsts(state, tile, (u32*)(keys + TILE));
    const u64 first = tile * TILE;
    for (u32 at = threadIdx.x; at < TILE; at += BLOCK) {
        const bool is_there = first + at < state.arcs;
        keys[at] = is_there ? (u64)firsts.list_of(at) << 32 | state.lists[first + at] : U64_MAX;
    }
    for (u32 size = 2; size <= TILE; size *= 2) {
        for (u32 apart = size / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (u32 pair = threadIdx.x; pair < TILE / 2; pair += BLOCK) {
                const u32 low = 2 * pair - (pair & (apart - 1)), high = low + apart;
                const u64 a = keys[low], b = keys[high];
                const bool ascends = (low & size) == 0;
                if ((a > b) == ascends) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
        }
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < TILE; at += BLOCK)
        if (first + at < state.arcs) state.lists[first + at] = (u32)keys[at];
}

// Of the groups of tiles that a pass merges, the one with this tile: the list that is in both halves, of which the
// first ends at `middle`. Empty where there is none.
struct Border {
    u64 begin, middle, end;

    RIPPLET_FN Border(const State& state, u64 tile) : begin(0), middle(0), end(0) {
        const u64 group = tile >> (state.pass + 1) << (state.pass + 1);
        const u64 half = 1ull << state.pass;
        if (group + half >= state.tiles) return;
        const u32 v = state.owners[group + half];
        const u64 border = (group + half) * TILE;
        if (state.begins[v] >= border) return;
        begin = max(group * TILE, (u64)state.begins[v]);
        middle = border;
        end = min((group + 2 * half) * TILE, (u64)state.begins[v + 1]);
    }
};

// How many of the first `count` of two ascending parts, merged, are of the first.
RIPPLET_FN u64 merged_of_first(const u32* lists, const Border& parts, u64 count) {
    const u32 *a = lists + parts.begin, *b = lists + parts.middle;
    const u64 behind = parts.end - parts.middle;
    u64 low = count > behind ? count - behind : 0, high = min(count, parts.middle - parts.begin);
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (a[middle] <= b[count - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

RIPPLET_FN void merge_tile(const State& state, u64 tile) {
    const Border parts(state, tile);
    const u64 mine = tile * TILE + threadIdx.x * EACH;
    const u64 first = max(mine, parts.begin), end = min(mine + EACH, parts.end);
    if (first >= end) return;
    u64 a = parts.begin + merged_of_first(state.lists, parts, first - parts.begin);
    u64 b = parts.middle + (first - a);
    for (u64 at = first; at < end; at++) {
        const bool is_a = b >= parts.end || (a < parts.middle && state.lists[a] <= state.lists[b]);
        state.spare[at] = state.lists[is_a ? a++ : b++];
    }
}

// Brings back what was merged.
RIPPLET_FN void settle_tile(const State& state, u64 tile) {
    const Border parts(state, tile);
    const u64 first = max(tile * TILE, parts.begin), end = min((tile + 1) * TILE, parts.end);
    for (u64 at = first + threadIdx.x; at < end; at += BLOCK) state.lists[at] = state.spare[at];
}

}  // namespace ripplet
