// Hash tables from a label to the sum of its votes, filled by many threads at once (open addressing, linear
// probing). Labels are never removed, so a probe for a label ends at its slot, or at a free one.
//
//     shared memory     labels | 7 3 - - | 5 - - - | 9 1 4 2 | ...      read in groups of four
//                       sums   | 2 1     | 8       | 1 1 6 3 | ...
//     label 6 at the last group: full, so the next one; a free slot is taken by `atomicCAS`
//
//     global memory     | 7:2 | - | 3:1 | - | ...       label and sum side by side
//
// Mapping: any thread adds; the threads of a team share the slots when they read. Shared memory: as much as the
// caller gives. GLP (SIGMOD 2021), section 4.1: hash tables in shared and global memory, and the count-min sketch.
#pragma once

namespace ripplet {

// The label of free slots, which no vertex has. Votes for it have weight 0.
constexpr u32 FREE = NO_LABEL;

// Multiplicative hashing: the golden ratio spreads consecutive labels over the table.
RIPPLET_FN u32 place_in(u32 label, u32 places) { return part_of(label * 0x9e3779b9u, places); }

// The index of the number in `four` that equals `wanted`, or 4.
RIPPLET_FN u32 index_in(uint4 four, u32 wanted) {
    if (four.x == wanted) return 0;
    if (four.y == wanted) return 1;
    if (four.z == wanted) return 2;
    return four.w == wanted ? 3 : 4;
}

// A table in shared memory. Slots are read in groups of four: the threads of a warp wait for the longest
// probe, and at half load one group of four mostly has the label.
template <class Sum> struct Table {
    uint4* labels;
    Sum* sums;
    u32 fours;

    // A table of about `wanted` slots, limited by `bytes`; at least 4.
    RIPPLET_FN static Table in(unsigned char* memory, u32 bytes, u32 wanted) {
        const u32 fours = min(wanted / 4 + 1, bytes / (u32)(4 * (sizeof(Sum) + sizeof(u32))));
        return Table{(uint4*)memory, (Sum*)(memory + fours * sizeof(uint4)), fours};
    }
    RIPPLET_FN u32 slots() const { return 4 * fours; }
    RIPPLET_FN void clear(u32 rank, u32 size) const {
        for (u32 at = rank; at < fours; at += size) labels[at] = uint4{FREE, FREE, FREE, FREE};
        for (u32 at = rank; at < slots(); at += size) sums[at] = 0;
    }
    // Adds a vote; returns false if its label finds no slot in `probes` groups.
    RIPPLET_FN bool add(u32 label, u64 weight, u32 probes) const {
        u32 at = place_in(label, fours);
        for (u32 probe = 0; probe < probes;) {
            const uint4 four = labels[at];
            u32 slot = index_in(four, label);
            if (slot == 4) {
                slot = index_in(four, FREE);
                if (slot == 4) {
                    probe++;
                    at = at + 1 < fours ? at + 1 : 0;
                    continue;
                }
                const u32 before = atomicCAS((u32*)(labels + at) + slot, FREE, label);
                // Another label took the slot: read the group again.
                if (before != FREE && before != label) continue;
            }
            atomicAdd(sums + 4 * at + slot, (Sum)weight);
            return true;
        }
        return false;
    }
    // The largest sum among the slots of this thread.
    RIPPLET_FN Sum top(u32 rank, u32 size) const {
        Sum most = 0;
        for (u32 at = rank; at < slots(); at += size) most = max(most, sums[at]);
        return most;
    }
    // The leader of this thread's labels, which have at most `top` votes.
    RIPPLET_FN Leader lead(const Chooser& v, u32 rank, u32 size, Sum top) const {
        Leader leader = {0, NO_LABEL, U32_MAX};
        for (u32 at = rank; at < slots(); at += size) {
            if (sums[at] != top || top == 0) continue;
            leader.combine(Leader{top, label(at), v.rank_of(label(at))});
        }
        return leader;
    }
    // The label of a slot; FREE if it has none.
    RIPPLET_FN u32 label(u32 at) const { return at < slots() ? ((const u32*)labels)[at] : FREE; }
    template <class F> RIPPLET_FN void each(u32 rank, u32 size, F visit) const {
        for (u32 at = rank; at < slots(); at += size)
            if (sums[at] > 0) visit(label(at), (u64)sums[at]);
    }
};

// Slots of a table in global memory: label and sum side by side, so that a vote touches one place. If votes
// are counted, both are one number of 64 bits, and a label is inserted with its first votes. Labels are stored as
// their complements, so that a free slot is zero.
//
// `claim` tries to insert the label into the slot by `atomicCAS`, and returns what the slot had before. `settle` takes
// that; it returns whether the slot is the label's, and then adds the votes, unless `claim` has. Between the two calls,
// a thread can try other slots.
struct CountSlot {
    u64 both;

    RIPPLET_FN u32 label() const { return ~(u32)(both >> 32); }
    RIPPLET_FN u64 sum() const { return (u32)both; }
    RIPPLET_FN u64 claim(u32 wanted, u64 weight) {
        return atomicCAS(&both, 0ull, (u64)~wanted << 32 | (u32)weight);
    }
    RIPPLET_FN bool settle(u64 before, u32 wanted, u64 weight) {
        if (before == 0) return true;
        if ((u32)(before >> 32) != ~wanted) return false;
        atomicAdd((u32*)&both, (u32)weight);
        return true;
    }
};
struct SumSlot {
    u64 all;
    u32 complement, padding;

    RIPPLET_FN u32 label() const { return ~complement; }
    RIPPLET_FN u64 sum() const { return all; }
    RIPPLET_FN u64 claim(u32 wanted, u64) { return atomicCAS(&complement, 0u, ~wanted); }
    RIPPLET_FN bool settle(u64 before, u32 wanted, u64 weight) {
        if (before != 0 && before != ~wanted) return false;
        atomicAdd(&all, weight);
        return true;
    }
};
template <bool IS_COUNT> struct SlotOf {
    typedef SumSlot Type;
};
template <> struct SlotOf<true> {
    typedef CountSlot Type;
};
typedef SlotOf<UNIT>::Type Slot;

// A table in global memory, with at least twice as many slots as labels. Probes are scattered: with linear probing,
// clusters would grow, and one of many concurrent probes would always be long. At half load, a probe in two finds a
// place, so that 32 probes hardly ever fail; linear probing then visits every slot, so that a search ends. Other
// numbers are not measured. `7-sharing` in `bench/runs/2026-11-21-h200` has scattered probes at half load, `6-bytes`
// neither.
struct GlobalTable {
    static constexpr u32 SCATTERED = 32;

    Slot* slots;
    u32 count;

    RIPPLET_FN u32 place(u32 label, u32 probe, u32 before) const {
        if (probe < SCATTERED) return part_of(mix(label + probe * 0x9e3779b9u), count);
        return before + 1 < count ? before + 1 : 0;
    }

    // Adds sums, except those of label FREE. The probes of all `COUNT` labels are in flight together, to hide
    // latency.
    template <u32 COUNT, class Sum>
    RIPPLET_FN void add(const u32 (&labels)[COUNT], const Sum (&sums)[COUNT]) const {
        u32 at[COUNT];
        bool open[COUNT], any_open = false;
#pragma unroll
        for (u32 index = 0; index < COUNT; index++) {
            at[index] = place(labels[index], 0, 0);
            open[index] = labels[index] != FREE;
            any_open |= open[index];
        }
        for (u32 probe = 1; any_open; probe++) {
            u64 before[COUNT];
#pragma unroll
            for (u32 index = 0; index < COUNT; index++)
                if (open[index]) before[index] = slots[at[index]].claim(labels[index], sums[index]);
            any_open = false;
#pragma unroll
            for (u32 index = 0; index < COUNT; index++) {
                if (!open[index]) continue;
                open[index] = !slots[at[index]].settle(before[index], labels[index], sums[index]);
                at[index] = place(labels[index], probe, at[index]);
                any_open |= open[index];
            }
        }
    }
    RIPPLET_FN void clear(u32 rank, u32 size) const {
        for (u64 at = rank; at < count; at += size) slots[at] = Slot{};
    }
    template <class F> RIPPLET_FN void each(u32 rank, u32 size, F visit) const {
        // Read together, to hide latency.
        constexpr u32 AT_ONCE = 4;
        for (u64 first = rank; first < count; first += AT_ONCE * size) {
            Slot loaded[AT_ONCE];
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++) {
                const u64 at = first + index * size;
                loaded[index] = at < count ? slots[at] : Slot{};
            }
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++)
                if (loaded[index].sum() > 0) visit(loaded[index].label(), loaded[index].sum());
        }
    }
};

// A count-min sketch (Cormode, Muthukrishnan, 2005) of the votes without a slot. It bounds the votes of any
// of their labels.
template <class Sum> struct Sketch {
    static constexpr u32 ROWS = 2;

    Sum* rows;
    u32 width;

    RIPPLET_FN static Sketch in(unsigned char* memory, u32 bytes) {
        return Sketch{(Sum*)memory, (u32)(bytes / ROWS / sizeof(Sum))};
    }
    RIPPLET_FN void clear(u32 rank, u32 size) const {
        for (u32 at = rank; at < ROWS * width; at += size) rows[at] = 0;
    }
    RIPPLET_FN void add(u32 label, u64 weight) const {
        for (u32 row = 0; row < ROWS; row++)
            atomicAdd(rows + row * width + part_of(mix(label + row), width), (Sum)weight);
    }
    // The bound: each row has all votes of a label in one cell, so no label has more than the row's largest
    // cell.
    template <class Team> RIPPLET_FN u64 bound(const Team& team) const {
        u64 least = U64_MAX;
        for (u32 row = 0; row < ROWS; row++) {
            Sum most = 0;
            for (u32 at = team.rank(); at < width; at += team.size())
                most = max(most, rows[row * width + at]);
            least = min(least, (u64)team.largest(most));
        }
        return least;
    }
};

}  // namespace ripplet
