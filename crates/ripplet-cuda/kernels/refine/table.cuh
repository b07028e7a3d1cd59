// A table of sums by label, for one vertex or part: open addressing, filled by many threads.
//
//     slot   0      1      2      3          keys, and sums beside them; a free slot has the key `FREE`
//     key    FREE   17     4      FREE       label 17 was added; 4, of the same hash, came later
//
// A table has more slots than labels, so that a search ends. Parts with many arcs often have few labels, as their
// members have the same neighbours. So a part of the largest class is first summed up in shared memory, in a table that
// takes `MOST_LABELS` and drops the rest; if there are more, all are summed up again in global memory. Vertices of
// contracted graphs have one arc to each neighbour, and are summed up in global memory at once
// (docs/adr/0031-refinement-on-a-gpu.md has the times of other designs).
//
// Mapping: the threads of a group or block add arcs in any order, and share the slots when they clear or read them.
// Shared memory: 12 bytes a slot. GLP (SIGMOD 2021), section 4.1: a table in shared memory first, and one in global
// memory if it does not suffice. Knuth, The Art of Computer Programming 3, section 6.4: Fibonacci hashing.
//
//     groups     | sums, 64 bits, of group 0 | of group 1 | ... | keys, 32 bits, of group 0 | of group 1 | ... |
//     a block    | sums of all slots | keys of all slots | number of labels |
#pragma once

namespace ripplet {

// No label.
constexpr u32 FREE = U32_MAX;

// The slots of the largest class's table in shared memory, and the labels that it takes. 2^13 slots take 96 KiB, so
// that two blocks fit the 228 KiB of an H100. Labels fill three quarters of them: each thread of a block may add one
// more at the same time, and there must be a free slot then. Other sizes are not measured.
constexpr u32 LOG_SLOTS = 13, MOST_LABELS = 6144;
static_assert(MOST_LABELS + LARGE_BLOCK < 1u << LOG_SLOTS, "one slot stays free");

struct Table {
    u32* keys;
    u64* sums;
    // The binary logarithm of the slots in use.
    u32 log;
    // The number of labels, if the table takes `MOST_LABELS`; else there is none.
    u32* used;
    bool is_shared;

    RIPPLET_FN u32 slots() const { return 1u << log; }

    // Empties the slots; `count` threads call it, this one with number `mine`.
    RIPPLET_FN void clear(u32 mine, u32 count) const {
        for (u32 slot = mine; slot < slots(); slot += count) {
            keys[slot] = FREE;
            sums[slot] = 0;
        }
    }

    // Adds a weight, above 0, to the sum of a label.
    RIPPLET_FN void add(u32 label, u64 weight) const {
        // Fibonacci hashing.
        u32 slot = log == 0 ? 0 : (label * 0x9e3779b9u) >> (32 - log);
        for (;;) {
            u32 key = ((volatile u32*)keys)[slot];
            if (key == FREE) {
                if (used != nullptr && *(volatile u32*)used > MOST_LABELS) return;
                key = atomicCAS(keys + slot, FREE, label);
                if (key == FREE) {
                    if (used != nullptr) atomicAdd(used, 1u);
                    key = label;
                }
            }
            if (key == label) break;
            slot = (slot + 1) & (slots() - 1);
        }
        add_to(sums + slot, weight);
    }

    // Atomics of 64 bits are loops in shared memory, and one instruction in global memory.
    RIPPLET_FN void add_to(u64* sum, u64 weight) const {
        if (!is_shared) {
            atomicAdd(sum, weight);
            return;
        }
        u32 *half = (u32*)sum, low = (u32)weight;
        const u32 before = atomicAdd(half, low), high = (u32)(weight >> 32) + (before + low < low);
        if (high != 0) atomicAdd(half + 1, high);
    }
};

// The logarithm of the slots for at most `labels` labels: at least twice as many.
RIPPLET_FN u32 log_for(u32 labels) { return labels == 0 ? 0 : 33 - __clz((int)(labels - 1)); }

// The groups of lanes of a block of `BLOCK` threads, each with a table in shared memory.
template <u32 CLASS> struct Groups {
    static constexpr u32 LANES = CLASS == 0 ? 4 : 32, SLOTS = CLASS == 0 ? 32 : 256, COUNT = BLOCK / LANES;

    // The table of this thread's group, without slots in use.
    RIPPLET_FN static Table table() {
        const u32 first = threadIdx.x / LANES * SLOTS;
        u64* sums = (u64*)shared_memory();
        return {(u32*)(sums + COUNT * SLOTS) + first, sums + first, 0, nullptr, true};
    }
};

// The tables of a block: one in shared memory, and for the largest class one in global memory.
template <u32 CLASS> struct BlockTables {
    static constexpr u32 SLOTS = CLASS == 2 ? 4096 : 1u << LOG_SLOTS;
    // Bytes of shared memory before what else a block has there.
    static constexpr u32 BYTES = SLOTS * 12 + 16;
    u64* sums;
    u32 *keys, *used;

    RIPPLET_FN BlockTables() : sums((u64*)shared_memory()), keys((u32*)(sums + SLOTS)), used(keys + SLOTS) {}

    // Sums up the arcs of an item with at most `labels` labels, which `may_be_few` that fit shared memory: calls
    // `sum_up(table)`, which all threads of the block do, and returns the table.
    template <class SumUp> RIPPLET_FN Table fill(const Work& work, u32 labels, bool may_be_few, SumUp sum_up) const {
        const bool are_few = CLASS == 2 || labels <= MOST_LABELS;
        if (are_few || may_be_few) {
            if (threadIdx.x == 0) *used = 0;
            const u32 log = CLASS == 2 ? log_for(labels) : min(log_for(labels), LOG_SLOTS);
            const Table table = {keys, sums, log, are_few ? nullptr : used, true};
            clear_and(table, sum_up);
            if (are_few || *used <= MOST_LABELS) return table;
        }
        const u64 first = blockIdx.x * work.region_slots;
        const Table table = {work.region_keys + first, work.region_sums + first, log_for(labels), nullptr, false};
        clear_and(table, sum_up);
        return table;
    }

    template <class SumUp> RIPPLET_FN void clear_and(Table table, SumUp sum_up) const {
        table.clear(threadIdx.x, blockDim.x);
        __syncthreads();
        sum_up(table);
        __syncthreads();
    }
};

}  // namespace ripplet
