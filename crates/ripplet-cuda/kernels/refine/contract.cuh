// Contraction: each part becomes a vertex of the next level. Traag, Waltman and van Eck (2019) aggregate a network by
// its refined partition in the same way; merging aggregates communities, as Blondel et al. (2008) do.
//
//     unite    finished vertices become one part
//     number   founders per block --sum_founders--> first numbers --number_founders--> founders, part_of
//     group    count_members --sum_of_parts--> ends --group_members--> members side by side
//     sum up   per part: the members' arcs by the other end's part, in a table; then appended to the level's arcs
//
//     labels of vertices 0-5     | 0 0 2 2 0 5 |        the founders of the parts are 0, 2 and 5
//     part_of                    | 0 0 1 1 0 2 |        founders   | 0 2 5 |
//     members, ends              | 0 1 4 | 2 3 | 5 |    ends       | 3 5 6 |
//
// Mapping: a thread per vertex or part, in a loop of the grid; sums of blocks by one block; a group or a block per
// part to sum up, as in `choose.cuh`, and the whole grid for each part with at least `huge` arcs: each block has a
// table for the longest of the other parts, so these are short and all blocks have room. Shared memory: a number per
// warp; the tables of `choose.cuh`, then per block the sums of its warps and a `LongMembers`.
#pragma once

namespace ripplet {

// The sum over a block before this thread, and over all of it. All threads call it; `of_warps` has a place for
// each warp, and one more.
RIPPLET_FN u32 block_sum_before(u32 mine, u32* of_warps, u32& all) {
    const u32 before = sum_before(mine), warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane_id() == 31) of_warps[warp] = before + mine;
    __syncthreads();
    if (warp == 0) {
        const u32 of_warp = lane_id() < warps ? of_warps[lane_id()] : 0, first = sum_before(of_warp);
        if (lane_id() < warps) of_warps[lane_id()] = first;
        if (lane_id() == 31) of_warps[warps] = first + of_warp;
    }
    __syncthreads();
    const u32 sum = of_warps[warp] + before;
    all = of_warps[warps];
    __syncthreads();
    return sum;
}

RIPPLET_FN bool is_founder(const Work& work, u32 v) {
    return v < work.level.vertices && work.partition.labels[v] == v;
}

// Stores the sum of `value(item)` over the block's `NUMBERED` items.
template <class Value> RIPPLET_FN void sum_of_block(const Work& work, Value value) {
    u32* of_warps = (u32*)shared_memory();
    u32 mine = 0, all;
    for (u32 step = 0; step < NUMBERED; step += BLOCK) mine += value(blockIdx.x * NUMBERED + step + threadIdx.x);
    block_sum_before(mine, of_warps, all);
    if (threadIdx.x == 0) work.contraction.of_blocks[blockIdx.x] = all;
}

// Calls `store(item, sum)` for each of the block's items, with the sum of `value` over all items before it, when
// `of_blocks` has the prefix sums.
template <class Value, class Store> RIPPLET_FN void sums_before(const Work& work, Value value, Store store) {
    u32* of_warps = (u32*)shared_memory();
    u32 before = work.contraction.of_blocks[blockIdx.x];
    for (u32 step = 0; step < NUMBERED; step += BLOCK) {
        const u32 item = blockIdx.x * NUMBERED + step + threadIdx.x;
        u32 all;
        const u32 sum = before + block_sum_before(value(item), of_warps, all);
        store(item, sum);
        before += all;
    }
}

// Whether nothing changes a vertex any more (`refine/finished.rs` of ripplet-lp): it has no arcs, and is alone in its
// community.
RIPPLET_FN bool is_finished(const Work& work, u32 v) {
    if (work.level.degrees[v] > 0 || (work.partition.fixed && work.partition.fixed[v])) return false;
    return work.community_totals[work.communities[v]] == work.level.masses[v];
}

RIPPLET_FN void find_finished(const Work& work) {
    u32 count = 0, complement = 0;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        if (!is_finished(work, v)) continue;
        count++;
        complement = max(complement, ~v);
    }
    // Lanes may have left the loop at different times.
    __syncwarp();
    count = warp_sum(count);
    complement = warp_max(complement);
    if (lane_id() > 0 || count == 0) return;
    atomicAdd(&work.counters->finished, count);
    atomicMax(&work.counters->not_finished, complement);
}

// Makes finished vertices one part, as they are no longer part of what is contracted.
RIPPLET_FN void unite_finished(const Work& work) {
    const u32 first = work.contraction.finished;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        if (v == first || !is_finished(work, v)) continue;
        work.partition.labels[v] = first;
        add_mass(work.partition, first, mass_of(work.level, v));
    }
}

RIPPLET_FN void count_founders(const Work& work) {
    sum_of_block(work, [&](u32 v) { return (u32)is_founder(work, v); });
}

// Replaces `count` values by their exclusive prefix sum; one block.
RIPPLET_FN void sum_up(u32* values, u32 count) {
    u32* of_warps = (u32*)shared_memory();
    u32 before = 0;
    for (u32 base = 0; base < count; base += blockDim.x) {
        const u32 at = base + threadIdx.x, mine = at < count ? values[at] : 0;
        u32 all;
        const u32 sum = before + block_sum_before(mine, of_warps, all);
        if (at < count) values[at] = sum;
        before += all;
    }
}

RIPPLET_FN u32 blocks_of(u32 items) { return items / NUMBERED + (items % NUMBERED != 0); }

RIPPLET_FN void sum_founders(const Work& work) {
    sum_up(work.contraction.of_blocks, blocks_of(work.level.vertices));
}

RIPPLET_FN void number_founders(const Work& work) {
    sums_before(
        work, [&](u32 v) { return (u32)is_founder(work, v); },
        [&](u32 v, u32 number) {
            if (!is_founder(work, v)) return;
            work.contraction.founders[number] = v;
            work.contraction.part_of[v] = number;
        });
}

RIPPLET_FN void find_parts(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item())
        if (!is_founder(work, v)) work.contraction.part_of[v] = work.contraction.part_of[work.partition.labels[v]];
}

// `ends`, `lengths` and sizes are 0 before.
RIPPLET_FN void count_members(const Work& work) {
    const Contraction& contraction = work.contraction;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        const u32 part = contraction.part_of[v], degree = work.level.degrees[v];
        atomicAdd(contraction.ends + part, 1u);
        const u32 before = atomicAdd(contraction.lengths + part, degree);
        // A sum that overflows stays at least 2^31, which is in the largest class.
        if (before + degree < before) atomicOr(contraction.lengths + part, 1u << 31);
        if (LIMITED) atomicAdd(work.coarse.sizes + part, work.level.sizes[v]);
    }
}

// The number of a part's members, 0 behind the last part.
RIPPLET_FN u32 members_of(const Work& work, u32 part) {
    return part < work.contraction.parts ? work.contraction.ends[part] : 0;
}

// The sums of blocks of parts, their prefix sums, and those of all parts.
RIPPLET_FN void count_of_parts(const Work& work) {
    sum_of_block(work, [&](u32 part) { return members_of(work, part); });
}

RIPPLET_FN void sum_of_parts(const Work& work) {
    sum_up(work.contraction.of_blocks, blocks_of(work.contraction.parts));
}

RIPPLET_FN void begin_parts(const Work& work) {
    sums_before(
        work, [&](u32 part) { return members_of(work, part); },
        [&](u32 part, u32 begin) {
            if (part < work.contraction.parts) work.contraction.ends[part] = begin;
        });
}

// Moves the begin of each part's members to their end.
RIPPLET_FN void group_members(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item())
        work.contraction.members[atomicAdd(work.contraction.ends + work.contraction.part_of[v], 1u)] = v;
}

// The arcs of a part's members to other parts.
struct Part {
    u32 part, first, end;

    RIPPLET_FN Part(const Work& work, u32 part, bool has) : part(part), first(0), end(0) {
        if (!has) return;
        first = part == 0 ? 0 : work.contraction.ends[part - 1];
        end = work.contraction.ends[part];
    }

    // Adds every `stride`-th arc of a member to the table.
    RIPPLET_FN void add(const Work& work, Table table, u32 member, u32 mine, u32 stride) const {
        each_arc(work.level, member, mine, stride, [&](u32 u, u64 weight) {
            const u32 other = work.contraction.part_of[u];
            if (other != part) table.add(other, weight);
        });
    }

    // Adds the arcs of all members to a group's table: `lanes` of its lanes take a member.
    RIPPLET_FN void sum_up(const Work& work, Table table, u32 mine, u32 group, u32 lanes) const {
        for (u32 at = first + mine / lanes; at < end; at += group / lanes)
            add(work, table, work.contraction.members[at], mine % lanes, lanes);
    }
};

// Members with long lists, which all threads of a block read together. `ROOM` keeps the struct below the 512 bytes of
// shared memory of `sum_up_huge`; one lane alone reads the list of a member that has no room. Lists of 512 to 4096
// arcs read by a warp, and only longer ones by a block, took as long (`long-members.txt` in
// `bench/runs/2026-11-29-h200`). Other values are not measured.
struct LongMembers {
    static constexpr u32 ROOM = 64, SHORT = 512, LANES = 8;
    u32 count, members[ROOM];
};

// Adds the arcs of this block's share of all members to a table: 8 lanes take a member with a short list.
RIPPLET_FN void sum_up_by_block(
    const Work& work, const Part& part, Table table, LongMembers* longer, u32 block = 0, u32 blocks = 1) {
    constexpr u32 LANES = LongMembers::LANES;
    if (threadIdx.x == 0) longer->count = 0;
    __syncthreads();
    const u32 mine = threadIdx.x % LANES;
    const u32 groups = blockDim.x / LANES;
    for (u32 at = part.first + block * groups + threadIdx.x / LANES; at < part.end; at += blocks * groups) {
        const u32 member = work.contraction.members[at];
        // Each lane decides alone: it leaves its share of a list to the block if there is room for the list.
        if (work.level.degrees[member] > LongMembers::SHORT) {
            if (mine != 0) continue;
            const u32 place = atomicAdd(&longer->count, 1u);
            if (place < LongMembers::ROOM)
                longer->members[place] = member;
            else
                part.add(work, table, member, 0, 1);
            continue;
        }
        part.add(work, table, member, mine, LANES);
    }
    __syncthreads();
    for (u32 place = 0; place < min(longer->count, LongMembers::ROOM); place++)
        part.add(work, table, longer->members[place], threadIdx.x, blockDim.x);
}

// Copies every `stride`-th slot that is used to the arcs from `at` on, where there is room.
RIPPLET_FN void copy_arcs(const Work& work, Table table, u32 mine, u32 stride, u64 at) {
    for (u32 slot = mine; slot < table.slots(); slot += stride) {
        if (table.keys[slot] == FREE) continue;
        if (at < work.arcs_room) {
            work.coarse.ids[at] = table.keys[slot];
            ((u64*)work.coarse.weights)[at] = table.sums[slot];
        }
        at++;
    }
}

// Counts every `stride`-th slot that is used, and adds up their weights.
RIPPLET_FN u32 count_used(Table table, u32 mine, u32 stride, u64& weight) {
    u32 used = 0;
    for (u32 slot = mine; slot < table.slots(); slot += stride) {
        if (table.keys[slot] == FREE) continue;
        used++;
        weight += table.sums[slot];
    }
    return used;
}

// Stores what the contracted graph has of a part beside its arcs.
RIPPLET_FN void finish_part(const Work& work, u32 part, u64 begin, u32 degree, u64 weight) {
    const Mass mass = mass_of(work.partition, work.contraction.founders[part]);
    work.coarse.begins[part] = begin;
    work.coarse.degrees[part] = degree;
    work.coarse.masses[part] = mass.sum;
    if (DIRECTED) work.coarse.imbalances[part] = mass.imbalance;
    atomicMax(&work.counters->largest_weight, weight);
}

template <u32 CLASS> RIPPLET_FN void contract_by_group(const Work& work) {
    constexpr u32 GROUP = Groups<CLASS>::LANES, GROUPS = Groups<CLASS>::COUNT;
    const u32 group = threadIdx.x / GROUP, mine = threadIdx.x % GROUP;
    Table table = Groups<CLASS>::table();
    const u32 end = work.counters->starts[CLASS + 1];
    for (u32 base = work.counters->starts[CLASS] + blockIdx.x * GROUPS; base < end; base += gridDim.x * GROUPS) {
        const bool has = base + group < end;
        const u32 number = has ? work.order[base + group] : 0;
        const Part part(work, number, has);
        table.log = log_for(has ? work.contraction.lengths[number] : 0);
        table.clear(mine, GROUP);
        __syncwarp();
        // Most members have few arcs.
        part.sum_up(work, table, mine, GROUP, CLASS == 0 ? 1 : 8);
        __syncwarp();
        u64 weight = 0;
        const u32 used = count_used(table, mine, GROUP, weight);
        const u32 before = sum_before(used), all = __shfl_sync(ALL_LANES, before + used, 31);
        u64 begin = 0;
        if (lane_id() == 0) begin = atomicAdd(&work.counters->arcs_end, (u64)all);
        begin = __shfl_sync(ALL_LANES, begin, 0);
        copy_arcs(work, table, mine, GROUP, begin + before);
        u32 degree = used;
        for (u32 step = GROUP / 2; step > 0; step /= 2) {
            degree += __shfl_xor_sync(ALL_LANES, degree, (int)step);
            weight += __shfl_xor_sync(ALL_LANES, weight, (int)step);
        }
        if (has && mine == 0) finish_part(work, number, begin + before, degree, weight);
        __syncwarp();
    }
}

template <u32 CLASS, u32 THREADS> RIPPLET_FN void contract_by_block(const Work& work) {
    constexpr u32 WARPS = THREADS / 32;
    const BlockTables<CLASS> tables;
    u64* of_warps = (u64*)(shared_memory() + BlockTables<CLASS>::BYTES);
    u64* begin = of_warps + WARPS;
    u32* counts = (u32*)(begin + 1);
    LongMembers* longer = (LongMembers*)(counts + WARPS + 1);
    const u32 end = work.counters->starts[CLASS + 1];
    for (u32 index = work.counters->starts[CLASS] + blockIdx.x; index < end; index += gridDim.x) {
        const u32 number = work.order[index];
        const u32 length = work.contraction.lengths[number];
        if (length >= work.huge) continue;
        const Part part(work, number, true);
        const u32 labels = min(length, work.contraction.parts);
        const Table table = tables.fill(
            work, labels, true, [&](Table filled) { sum_up_by_block(work, part, filled, longer); });
        u64 weight = 0;
        u32 all;
        const u32 used = count_used(table, threadIdx.x, THREADS, weight);
        const u32 before = block_sum_before(used, counts, all);
        weight = warp_sum(weight);
        if (lane_id() == 0) of_warps[threadIdx.x / 32] = weight;
        if (threadIdx.x == 0) *begin = atomicAdd(&work.counters->arcs_end, (u64)all);
        __syncthreads();
        copy_arcs(work, table, threadIdx.x, THREADS, *begin + before);
        if (threadIdx.x == 0) {
            for (u32 warp = 1; warp < WARPS; warp++) weight += of_warps[warp];
            finish_part(work, number, *begin, all, weight);
        }
        __syncthreads();
    }
}

// The table of a part that the grid sums up: the first slots in global memory, which are free before.
RIPPLET_FN Table huge_table(const Work& work) {
    const u32 labels = min(work.contraction.lengths[work.part], work.contraction.parts);
    return {work.region_keys, work.region_sums, log_for(labels), nullptr, false};
}

RIPPLET_FN void sum_up_huge(const Work& work) {
    LongMembers* longer = (LongMembers*)shared_memory();
    // Nothing else is appended until the part is finished.
    if (blockIdx.x == 0 && threadIdx.x == 0) work.coarse.begins[work.part] = work.counters->arcs_end;
    sum_up_by_block(work, Part(work, work.part, true), huge_table(work), longer, blockIdx.x, gridDim.x);
}

// Appends the arcs of the part, block by block in any order; `inner` is 0 before, and their weight after.
RIPPLET_FN void append_huge(const Work& work) {
    u32* counts = (u32*)shared_memory();
    u64* begin = (u64*)(counts + BLOCK / 32 + 2);
    const Table table = huge_table(work);
    const u32 first = blockIdx.x * BLOCK + threadIdx.x, stride = gridDim.x * BLOCK;
    u64 weight = 0;
    u32 all;
    const u32 used = count_used(table, first, stride, weight), before = block_sum_before(used, counts, all);
    if (threadIdx.x == 0) *begin = atomicAdd(&work.counters->arcs_end, (u64)all);
    __syncthreads();
    copy_arcs(work, table, first, stride, *begin + before);
    weight = warp_sum(weight);
    if (lane_id() == 0) atomicAdd(&work.counters->inner, weight);
}

RIPPLET_FN void finish_huge(const Work& work) {
    if (threadIdx.x != 0) return;
    const u64 begin = work.coarse.begins[work.part];
    finish_part(work, work.part, begin, (u32)(work.counters->arcs_end - begin), work.counters->inner);
    work.counters->inner = 0;
}

}  // namespace ripplet
