// Every triangle {v, u, w} once: at v, the last of the three, as a w in the list of a u in v's list that
// is in v's list, too. By the length of v's list: a warp, a block, or blocks that take slices of it.
#pragma once

namespace ripplet {

// The longest lists of a warp and of one block, and the longest part of a list that a table holds.
constexpr u32 FEW = 32, MIDDLE = 512, PART = 4096;
// Slots of their tables. Half of them are free at least.
constexpr u32 FEW_SLOTS = 128, MIDDLE_SLOTS = 2048, PART_SLOTS = 8192;
// What a block takes of a longer list.
constexpr u32 SLICE = 512;
// Vertices that a block of the middle class looks for.
constexpr u32 MIDDLE_VERTICES = 8;
constexpr u32 MIDDLE_BLOCK = 128, LARGE_BLOCK = 512;

constexpr u32 FEW_BYTES = WARPS * (FEW_SLOTS * SLOT_WORDS * 4 + sizeof(Walk));

struct List {
    EdgeNumber begin, end;

    RIPPLET_FN List(const State& state, u32 v)
        : begin(__ldg(state.begins + v)), end(__ldg(state.begins + v + 1)) {}
    RIPPLET_FN u32 length() const { return (u32)(end - begin); }
};

// What a thread found at all vertices, and hands over at the end.
RIPPLET_FN void report(const State& state, u64 triangles) {
    triangles = warp_sum(triangles);
    if (lane_id() == 0 && triangles > 0) atomicAdd(&state.tallies->triangles, triangles);
}

// What the threads of a warp found at a vertex.
RIPPLET_FN void add_of_warp(const State& state, u32 v, Sum sum) {
    const u32 triangles = warp_sum(sum.triangles);
    const u64 numerator = RULE == PLAIN ? triangles : warp_sum((u64)sum.numerator);
    if (lane_id() == 0) add_to(state, v, numerator, triangles);
}

// What was added to who has a slot.
RIPPLET_FN void hand_over(const State& state, const Table& table, u32 slot) {
    const u32 sum = table.sums[slot] & ~BOTH;
    if (sum > 0) add_to(state, table.ids[slot], sum, APART ? table.triangles[slot] : sum);
}

// Lists of up to 32. Each warp has 32 vertices.
RIPPLET_FN void count_few(const State& state, u64 block) {
    unsigned char* memory = shared_memory() + threadIdx.x / 32 * (FEW_BYTES / WARPS);
    const Table table(memory, FEW_SLOTS, FEW_SLOTS);
    Walk* walk = (Walk*)(memory + FEW_SLOTS * SLOT_WORDS * 4);
    const u64 first = block * BLOCK + threadIdx.x / 32 * 32, mine = first + lane_id();
    EdgeNumber begin = 0;
    u32 length = 0;
    if (mine < state.vertices) {
        const List list(state, (u32)mine);
        begin = list.begin;
        length = list.length();
    }
    u64 triangles = 0;
    u32 left = __ballot_sync(ALL_LANES, length >= 2 && length <= FEW);
    for (; left != 0; left &= left - 1) {
        const u32 lane = __ffs((int)left) - 1;
        const EdgeNumber edge = __shfl_sync(ALL_LANES, begin, lane) + lane_id();
        const bool there = lane_id() < (u32)__shfl_sync(ALL_LANES, length, lane);
        table.clear(lane_id(), 32);
        __syncwarp();
        const u32 id = there ? __ldg(state.targets + edge) : 0;
        const bool both = there && is_both(state, edge);
        const u32 slot = there ? table.insert(id, both) : NO_SLOT;
        const u32 all = lay_out(state, walk, id, slot, both, there);
        const Sum sum = meet(state, table, walk, all);
        __syncwarp();
        if (there) hand_over(state, table, slot);
        add_of_warp(state, (u32)(first + lane), sum);
        triangles += sum.triangles;
        __syncwarp();
    }
    report(state, triangles);
}

// A vertex, by all threads of a block: the lists of the neighbours from `first` to `end` of its own.
template <u32 THREADS, u32 SLOTS>
RIPPLET_FN u32 count_with_block(const State& state, u32 v, const List& list, u32 first, u32 end) {
    constexpr u32 GROUPS = THREADS / 32, MOST = SLOTS / 2 < PART ? SLOTS / 2 : PART;
    Walk* walk = (Walk*)(shared_memory() + SLOTS * SLOT_WORDS * 4) + threadIdx.x / 32;
    // As many at a time as give every warp as much to do, nearly.
    const u32 at_a_time = min(32u, max(4u, (end - first + 4 * GROUPS - 1) / (4 * GROUPS)));
    Sum of_owner = {0, 0};
    for (u32 part = 0; part < list.length(); part += MOST) {
        const u32 held = min(MOST, list.length() - part);
        // Four times as many slots as ids, where there is room.
        const Table table(shared_memory(), SLOTS, min(SLOTS, 4u << (32 - leading_zeros(held - 1))));
        table.clear(threadIdx.x, THREADS);
        __syncthreads();
        for (u32 at = threadIdx.x; at < held; at += THREADS) {
            const EdgeNumber edge = list.begin + part + at;
            table.insert(__ldg(state.targets + edge), is_both(state, edge));
        }
        __syncthreads();
        for (u32 at = first + threadIdx.x / 32 * at_a_time; at < end; at += GROUPS * at_a_time) {
            const bool there = lane_id() < at_a_time && at + lane_id() < end;
            const EdgeNumber edge = list.begin + at + lane_id();
            const u32 id = there ? __ldg(state.targets + edge) : 0;
            const u32 slot = there ? table.find(id) : NO_SLOT;
            const u32 all = lay_out(state, walk, id, slot, there && is_both(state, edge), there);
            const Sum sum = meet(state, table, walk, all);
            of_owner.numerator += sum.numerator;
            of_owner.triangles += sum.triangles;
            __syncwarp();
        }
        __syncthreads();
        for (u32 slot = threadIdx.x; slot <= table.mask; slot += THREADS)
            if (table.ids[slot] != FREE) hand_over(state, table, slot);
        __syncthreads();
    }
    add_of_warp(state, v, of_owner);
    return of_owner.triangles;
}

// Lists of up to 512.
RIPPLET_FN void count_middle(const State& state, u64 block) {
    u64 triangles = 0;
    const u64 first = block * MIDDLE_VERTICES;
    const u64 end = min((u64)state.vertices, first + MIDDLE_VERTICES);
    for (u64 v = first; v < end; v++) {
        const List list(state, (u32)v);
        const u32 length = list.length();
        if (length > FEW && length <= MIDDLE)
            triangles +=
                count_with_block<MIDDLE_BLOCK, MIDDLE_SLOTS>(state, (u32)v, list, 0, length);
    }
    report(state, triangles);
}

RIPPLET_FN void list_slices(const State& state, u64 block) {
    const u64 v = block * BLOCK + threadIdx.x;
    if (v >= state.vertices) return;
    const u32 length = List(state, (u32)v).length();
    if (length <= MIDDLE) return;
    const u32 slices = (length + SLICE - 1) / SLICE;
    const u32 at = atomicAdd(&state.tallies->slices, slices);
    for (u32 index = 0; index < slices; index++) state.slices[at + index] = Slice{(u32)v, index};
}

// Longer lists.
RIPPLET_FN void count_slice(const State& state, u64 block) {
    const Slice slice = state.slices[block];
    const List list(state, slice.vertex);
    const u32 first = slice.index * SLICE, end = min(list.length(), first + SLICE);
    const u32 found =
        count_with_block<LARGE_BLOCK, PART_SLOTS>(state, slice.vertex, list, first, end);
    report(state, found);
}

}  // namespace ripplet
