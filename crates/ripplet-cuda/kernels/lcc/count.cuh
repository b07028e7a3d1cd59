// Counts every triangle {v, u, w} once, at v, the last of the three in the order by degree ("forward" with
// hashing, as Schank and Wagner, 2005). A pair of hubs u, w in v's list is tested by a bit (`pairs.cuh`). Other
// neighbours u have their lists walked over, and each w there is looked up in v's list, a hash table in shared
// memory (`walk.cuh`). Mapping by the length of v's list:
//
//     2-32       a warp per vertex              table of 128 slots, and a Walk, per warp
//     33-512     a block of 128 per vertex      table of 1024 slots, and a Walk per warp
//     longer     a block of 512 per slice       table of 8192 slots, which holds the list in parts of 4096;
//                of 512 neighbours              and a Walk per warp
#pragma once

namespace ripplet {

// Longest lists of a warp, which has a lane for each neighbour; and of one block, whose table has them in one part.
constexpr u32 WARP_LIST = 32, BLOCK_LIST = 512;
// Slots of the tables. At most half of them are used: of a longer list, a table has one part after the other. A slot
// has 8 bytes, or 12 (`SLOT_WORDS`): 8 KiB a block of 128 threads, 64 KiB a block of 512. With 2048 slots instead of
// 1024, and other changes, `rmat` 22 took 51 ms instead of 40 (`lcc-2-hubs.txt`, `lcc-3-at-once.txt` in
// `bench/runs/2026-11-22-h200`). Other sizes are not measured.
constexpr u32 WARP_SLOTS = 128, BLOCK_SLOTS = 1024, PART_SLOTS = 8192;
// Neighbours of a slice of a longer list: `BLOCK_LIST`, the longest list that is not sliced. Not measured against others.
constexpr u32 SLICE = 512;
// Threads of a block for the middle lists, and for slices: 12 and 2 such blocks fit the registers of a multiprocessor
// (`kernels.cuh`). Not measured against others.
constexpr u32 SMALL_BLOCK = 128, LARGE_BLOCK = 512;

constexpr u32 BY_WARP_BYTES = WARPS * (WARP_SLOTS * SLOT_WORDS * 4 + sizeof(Walk));

struct List {
    EdgeNumber begin, end;

    RIPPLET_FN List(const State& state, u32 v)
        : begin(__ldg(state.begins + v)), end(__ldg(state.begins + v + 1)) {}
    RIPPLET_FN u32 length() const { return (u32)(end - begin); }
};

// Adds the triangles that a thread counted to the total.
RIPPLET_FN void report(const State& state, u64 triangles) {
    triangles = warp_sum(triangles);
    if (lane_id() == 0 && triangles > 0) atomicAdd(&state.tallies->triangles, triangles);
}

// Adds the counts of a warp's lanes to a vertex.
RIPPLET_FN void add_of_warp(const State& state, u32 v, Sum sum) {
    const u32 triangles = warp_sum(sum.triangles);
    const u64 numerator = RULE == PLAIN ? triangles : warp_sum((u64)sum.numerator);
    if (lane_id() == 0) add_to(state, v, numerator, triangles);
}

// Lists of 2 to 32 neighbours. A warp takes 32 vertices, one after the other.
RIPPLET_FN void count_by_warp(const State& state, u64 block) {
    unsigned char* memory = shared_memory() + threadIdx.x / 32 * (BY_WARP_BYTES / WARPS);
    Walk* walk = (Walk*)(memory + WARP_SLOTS * SLOT_WORDS * 4);
    const u64 first = block * BLOCK + threadIdx.x / 32 * 32, mine = first + lane_id();
    EdgeNumber begin = 0;
    u32 length = 0;
    if (mine < state.vertices) {
        const List list(state, (u32)mine);
        begin = list.begin;
        length = list.length();
    }
    u64 triangles = 0;
    u32 left = __ballot_sync(ALL_LANES, length >= 2 && length <= WARP_LIST);
    for (; left != 0; left &= left - 1) {
        const u32 lane = __ffs((int)left) - 1;
        const EdgeNumber edge = __shfl_sync(ALL_LANES, begin, lane) + lane_id();
        const u32 loaded = __shfl_sync(ALL_LANES, length, lane);
        const bool there = lane_id() < loaded;
        const u32 name = there ? __ldg(state.targets + edge) : FREE;
        const u32 arcs = there ? arcs_of(state, edge) : 1;
        Sum of_owner = {0, 0};
        HubOfLane hub(name, arcs);
        if (__any_sync(ALL_LANES, hub.there)) intersect_hubs(state, &hub, &hub, &of_owner);
        u64 numerator = hub.sum.value(), found = hub.sum.triangles;
        const bool walks = there && !hub.there;
        if (__any_sync(ALL_LANES, walks)) {
            const Table table(memory, WARP_SLOTS, loaded <= 8 ? 32 : loaded <= 16 ? 64 : WARP_SLOTS);
            table.clear(lane_id(), 32);
            __syncwarp();
            const u32 slot = there ? table.insert(name, arcs) : NO_SLOT;
            const u32 all = concatenate(state, walk, name, slot, arcs, walks);
            of_owner.add(intersect(state, table, walk, all));
            __syncwarp();
            if (there) {
                numerator += table.sum(slot);
                if (APART) found += table.triangles[slot];
            }
        }
        add_to(state, name, numerator, found);
        add_of_warp(state, (u32)(first + lane), of_owner);
        triangles += of_owner.triangles;
        __syncwarp();
    }
    report(state, triangles);
}

// Threads and warps of a block, slots of its table, and neighbours in a part of a list.
template <u32 THREADS, u32 SLOTS> struct BlockShape {
    static constexpr u32 SIZE = THREADS, GROUPS = THREADS / 32, ROOM = SLOTS, PART = SLOTS / 2;
};
typedef BlockShape<SMALL_BLOCK, BLOCK_SLOTS> SmallBlock;
typedef BlockShape<LARGE_BLOCK, PART_SLOTS> LargeBlock;

// A vertex that a block processes: its list; the part of the list in shared memory; and the neighbours
// `first` to `end` that are combined with it.
struct Intersection {
    List list;
    u32 part, loaded;
    u32 first, end;

    RIPPLET_FN EdgeNumber edge(u32 at) const { return list.begin + at; }
};

// Counts triangles of hubs among the neighbours with hubs in the part.
template <class BlockShape> RIPPLET_FN Sum count_pairs(const State& state, const Intersection& it) {
    u32* names = (u32*)shared_memory();
    u32 *sums = names + BlockShape::PART, *triangles = sums + BlockShape::PART;
    for (u32 at = threadIdx.x; at < it.loaded; at += BlockShape::SIZE) {
        names[at] = __ldg(state.targets + it.edge(it.part + at));
        sums[at] = 0;
        if (APART) triangles[at] = 0;
    }
    __syncthreads();
    const auto add = [&](u32 at, u32 name, const Sum& sum) {
        if (sum.triangles == 0) return;
        if (at - it.part < it.loaded) {
            atomicAdd(sums + (at - it.part), sum.value());
            if (APART) atomicAdd(triangles + (at - it.part), sum.triangles);
        } else {
            add_to(state, name, sum.value(), sum.triangles);
        }
    };
    Sum of_owner = {0, 0};
    u32 turn = 0;
    for (u32 column = 0; column < it.loaded; column += 32) {
        const u32 at = it.part + column + lane_id();
        const bool there = column + lane_id() < it.loaded;
        const u32 name = there ? names[column + lane_id()] : FREE;
        HubOfLane columns(name, there ? arcs_of(state, it.edge(at)) : 1);
        if (!__any_sync(ALL_LANES, columns.there)) continue;
        // An ascending list has no smaller vertex behind a larger one.
        u32 row = DIRECTED ? it.first : max(it.first, it.part + column);
        for (; row < it.end; row += 32) {
            if (turn++ % BlockShape::GROUPS != threadIdx.x / 32) continue;
            const u32 at_row = row + lane_id();
            const bool row_there = at_row < it.end;
            const u32 row_name = row_there ? __ldg(state.targets + it.edge(at_row)) : FREE;
            HubOfLane rows(row_name, row_there ? arcs_of(state, it.edge(at_row)) : 1);
            intersect_hubs(state, &rows, &columns, &of_owner);
            add(at_row, row_name, rows.sum);
        }
        add(at, name, columns.sum);
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < it.loaded; at += BlockShape::SIZE)
        add_to(state, names[at], sums[at], APART ? triangles[at] : 0);
    __syncthreads();
    return of_owner;
}

// Counts triangles of the other neighbours, by walking over their lists, with all vertices in the part.
template <class BlockShape> RIPPLET_FN Sum count_walks(const State& state, const Intersection& it) {
    Walk* walk = (Walk*)(shared_memory() + BlockShape::ROOM * SLOT_WORDS * 4) + threadIdx.x / 32;
    // Four times as many slots as names, if there is room.
    const u32 slots = min(BlockShape::ROOM, 4u << (32 - leading_zeros(it.loaded - 1)));
    const Table table(shared_memory(), BlockShape::ROOM, slots);
    table.clear(threadIdx.x, BlockShape::SIZE);
    __syncthreads();
    for (u32 at = threadIdx.x; at < it.loaded; at += BlockShape::SIZE) {
        const EdgeNumber edge = it.edge(it.part + at);
        table.insert(__ldg(state.targets + edge), arcs_of(state, edge));
    }
    __syncthreads();
    // Neighbours per step of a warp, so that all warps have about the same work.
    const u32 shares = 4 * BlockShape::GROUPS;
    const u32 at_a_time = min(32u, max(4u, (it.end - it.first + shares - 1) / shares));
    Sum of_owner = {0, 0};
    u32 first = it.first + threadIdx.x / 32 * at_a_time;
    for (; first < it.end; first += BlockShape::GROUPS * at_a_time) {
        const u32 at = first + lane_id();
        const bool there = lane_id() < at_a_time && at < it.end;
        const u32 name = there ? __ldg(state.targets + it.edge(at)) : FREE;
        const bool walks = there && !is_hub(name);
        if (!__any_sync(ALL_LANES, walks)) continue;
        const u32 slot = walks ? table.find(name) : NO_SLOT;
        const u32 arcs = walks ? arcs_of(state, it.edge(at)) : 1;
        const u32 all = concatenate(state, walk, name, slot, arcs, walks);
        of_owner.add(intersect(state, table, walk, all));
        __syncwarp();
    }
    __syncthreads();
    for (u32 slot = threadIdx.x; slot <= table.mask; slot += BlockShape::SIZE)
        add_to(state, table.names[slot], table.sum(slot), APART ? table.triangles[slot] : 0);
    __syncthreads();
    return of_owner;
}

// Processes the neighbours `first` to `end` of a vertex with all of its list. Returns the triangles of this
// thread.
template <class BlockShape>
RIPPLET_FN u32 count_in_block(const State& state, u32 v, const List& list, u32 first, u32 end) {
    bool has_hubs = false, has_others = false;
    for (u32 at = first + threadIdx.x; at < end; at += BlockShape::SIZE) {
        const bool hub = is_hub(__ldg(state.targets + list.begin + at));
        has_hubs |= hub;
        has_others |= !hub;
    }
    has_hubs = __syncthreads_or(has_hubs);
    has_others = __syncthreads_or(has_others);
    Sum of_owner = {0, 0};
    for (u32 part = 0; part < list.length(); part += BlockShape::PART) {
        const Intersection it = {list, part, min(BlockShape::PART, list.length() - part), first, end};
        if (has_hubs) of_owner.add(count_pairs<BlockShape>(state, it));
        if (has_others) of_owner.add(count_walks<BlockShape>(state, it));
    }
    add_of_warp(state, v, of_owner);
    return of_owner.triangles;
}

// Lists of 33 to 512 neighbours. A block takes 32 vertices, one after the other.
RIPPLET_FN void count_by_block(const State& state, u64 block) {
    const u64 first = block * 32, mine = first + lane_id();
    const u32 length = mine < state.vertices ? List(state, (u32)mine).length() : 0;
    u64 triangles = 0;
    u32 left = __ballot_sync(ALL_LANES, length > WARP_LIST && length <= BLOCK_LIST);
    for (; left != 0; left &= left - 1) {
        const u32 v = (u32)first + __ffs((int)left) - 1;
        const List list(state, v);
        triangles += count_in_block<SmallBlock>(state, v, list, 0, list.length());
    }
    report(state, triangles);
}

RIPPLET_FN void list_slices(const State& state, u64 block) {
    const u64 v = block * BLOCK + threadIdx.x;
    if (v >= state.vertices) return;
    const u32 length = List(state, (u32)v).length();
    if (length <= BLOCK_LIST) return;
    const u32 slices = (length + SLICE - 1) / SLICE;
    const u32 at = atomicAdd(&state.tallies->slices, slices);
    for (u32 index = 0; index < slices; index++) state.slices[at + index] = Slice{(u32)v, index};
}

// A slice of a list of more than 512 neighbours; a block per slice.
RIPPLET_FN void count_slice(const State& state, u64 block) {
    const Slice slice = state.slices[block];
    const List list(state, slice.vertex);
    const u32 first = slice.index * SLICE, end = min(list.length(), first + SLICE);
    report(state, count_in_block<LargeBlock>(state, slice.vertex, list, first, end));
}

}  // namespace ripplet
