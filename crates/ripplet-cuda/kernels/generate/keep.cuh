// Each neighbour once, with the number of its arcs: where it is first, in lists that ascend.
#pragma once

namespace ripplet {

// Which arcs of a tile a thread has, and which of them are kept: a bit each.
struct Kept {
    u64 first;
    u32 bits;

    // Takes the shared memory behind that of `block_sum_before`.
    RIPPLET_FN Kept(const State& state, u64 tile) : first(tile * TILE + threadIdx.x * EACH), bits(0) {
        const Firsts firsts(state, tile, (u32*)shared_memory() + WARPS);
        for (u32 which = 0; which < EACH; which++) {
            const u64 at = first + which;
            if (at >= state.arcs) break;
            const bool is_first = firsts.is_first(threadIdx.x * EACH + which);
            if (is_first || state.lists[at] != state.lists[at - 1]) bits |= 1u << which;
        }
    }
};

RIPPLET_FN void count_kept(const State& state, u64 tile) {
    u32 all;
    block_sum_before(count_ones(Kept(state, tile).bits), &all);
    if (threadIdx.x == 0) state.sums[tile] = all;
}

// Lists where the arcs are that are kept.
RIPPLET_FN void list_kept(const State& state, u64 tile) {
    const Kept kept(state, tile);
    u32 all;
    u32 at = state.sums[tile] + block_sum_before(count_ones(kept.bits), &all);
    for (u32 which = 0; which < EACH; which++)
        if (kept.bits >> which & 1) state.spare[at++] = (u32)(kept.first + which);
}

RIPPLET_FN void gather(const State& state, u64 index) {
    if (index < state.kept) state.neighbors[index] = state.lists[state.spare[index]];
}

// An arc that is kept stands for those up to the next.
RIPPLET_FN void weigh(const State& state, u64 index) {
    if (index >= state.kept) return;
    const u32 next = index + 1 < state.kept ? state.spare[index + 1] : state.arcs;
    state.lists[index] = next - state.spare[index];
}

// Where lists begin among the arcs that are kept.
RIPPLET_FN void begin_kept(const State& state, u64 v) {
    if (v > state.vertices) return;
    const u32 begin = state.begins[v];
    u32 low = 0, high = state.kept;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (state.spare[middle] < begin)
            low = middle + 1;
        else
            high = middle;
    }
    state.begins[v] = low;
}

}  // namespace ripplet
