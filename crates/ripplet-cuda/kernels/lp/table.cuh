// Hash tables from label to the sum of its votes, filled by many threads at once. A label that is there
// stays, so whoever looks for it along its slots finds it, or a free slot behind all others.
#pragma once

namespace ripplet {

// Labels that are no vertex's, and so mark free slots. Votes for it have weight 0.
constexpr u32 FREE = NO_LABEL;

// The golden ratio spreads consecutive labels over a table.
RIPPLET_FN u32 place_in(u32 label, u32 places) { return part_of(label * 0x9e3779b9u, places); }

// Where one of four is what is wanted; 4 where none is.
RIPPLET_FN u32 index_in(uint4 four, u32 wanted) {
    if (four.x == wanted) return 0;
    if (four.y == wanted) return 1;
    if (four.z == wanted) return 2;
    return four.w == wanted ? 3 : 4;
}

// In shared memory. Slots come in fours that are read at once: the threads of a warp wait for the one
// that looks longest, and of four slots at half load one is mostly the right one.
template <class Sum> struct Table {
    uint4* labels;
    Sum* sums;
    u32 fours;

    // A table of about `wanted` slots, as far as so many bytes have room. It has 4 at least.
    RIPPLET_FN static Table in(unsigned char* memory, u32 bytes, u32 wanted) {
        const u32 fours = min(wanted / 4 + 1, bytes / (u32)(4 * (sizeof(Sum) + sizeof(u32))));
        return Table{(uint4*)memory, (Sum*)(memory + fours * sizeof(uint4)), fours};
    }
    RIPPLET_FN u32 slots() const { return 4 * fours; }
    RIPPLET_FN void clear(u32 rank, u32 size) const {
        for (u32 at = rank; at < fours; at += size) labels[at] = uint4{FREE, FREE, FREE, FREE};
        for (u32 at = rank; at < slots(); at += size) sums[at] = 0;
    }
    // Adds a vote; false where its label finds no slot in its first `probes` fours.
    RIPPLET_FN bool add(u32 label, u64 weight, u32 probes) const {
        u32 at = place_in(label, fours);
        for (u32 probe = 0; probe < probes;) {
            const uint4 held = labels[at];
            u32 slot = index_in(held, label);
            if (slot == 4) {
                slot = index_in(held, FREE);
                if (slot == 4) {
                    probe++;
                    at = at + 1 < fours ? at + 1 : 0;
                    continue;
                }
                const u32 before = atomicCAS((u32*)(labels + at) + slot, FREE, label);
                // Another took the slot: look again.
                if (before != FREE && before != label) continue;
            }
            atomicAdd(sums + 4 * at + slot, (Sum)weight);
            return true;
        }
        return false;
    }
    // The largest sum of those that this thread looks at.
    RIPPLET_FN Sum top(u32 rank, u32 size) const {
        Sum most = 0;
        for (u32 at = rank; at < slots(); at += size) most = max(most, sums[at]);
        return most;
    }
    // The leader of the labels that this thread looks at, none of which has more than `top`.
    RIPPLET_FN Leader lead(const Chooser& v, u32 rank, u32 size, Sum top) const {
        Leader leader = {0, NO_LABEL, U32_MAX};
        for (u32 at = rank; at < slots(); at += size) {
            if (sums[at] != top || top == 0) continue;
            leader.meet(Leader{top, label(at), v.rank_of(label(at))});
        }
        return leader;
    }
    // The label of a slot, FREE where it has none.
    RIPPLET_FN u32 label(u32 at) const { return at < slots() ? ((const u32*)labels)[at] : FREE; }
    template <class F> RIPPLET_FN void each(u32 rank, u32 size, F visit) const {
        for (u32 at = rank; at < slots(); at += size)
            if (sums[at] > 0) visit(label(at), (u64)sums[at]);
    }
};

// In global memory: label and sum in one place, so that a vote touches no other. Where votes are
// counted they are one number, and a label comes with its first votes.
//
// `ask` tries to make a free slot the label's; what it gives back tells `settle` whether the slot is,
// and if so that adds what is not in it yet. In between others may be asked.
struct CountSlot {
    u64 both;

    RIPPLET_FN static CountSlot free() { return CountSlot{(u64)FREE << 32}; }
    RIPPLET_FN u32 label() const { return (u32)(both >> 32); }
    RIPPLET_FN u64 sum() const { return (u32)both; }
    RIPPLET_FN u64 ask(u32 wanted, u64 weight) {
        return atomicCAS(&both, free().both, (u64)wanted << 32 | (u32)weight);
    }
    RIPPLET_FN bool settle(u64 held, u32 wanted, u64 weight) {
        if (held == free().both) return true;
        if ((u32)(held >> 32) != wanted) return false;
        atomicAdd((u32*)&both, (u32)weight);
        return true;
    }
};
struct SumSlot {
    u64 all;
    u32 held, padding;

    RIPPLET_FN static SumSlot free() { return SumSlot{0, FREE, 0}; }
    RIPPLET_FN u32 label() const { return held; }
    RIPPLET_FN u64 sum() const { return all; }
    RIPPLET_FN u64 ask(u32 wanted, u64) { return atomicCAS(&held, FREE, wanted); }
    RIPPLET_FN bool settle(u64 before, u32 wanted, u64 weight) {
        if (before != FREE && before != wanted) return false;
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

// With twice as many slots as labels. A label's slots are here and there: where they lay side by side,
// full ones would grow together, and of many labels that are looked for at once one is always far off.
struct GlobalTable {
    static constexpr u32 SCATTERED = 32;

    Slot* slots;
    u32 count;

    RIPPLET_FN u32 place(u32 label, u32 probe, u32 before) const {
        if (probe < SCATTERED) return part_of(mix(label + probe * 0x9e3779b9u), count);
        return before + 1 < count ? before + 1 : 0;
    }

    // Adds some sums, those of label FREE excepted: memory is far away, so all are on their way at once.
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
            u64 held[COUNT];
#pragma unroll
            for (u32 index = 0; index < COUNT; index++)
                if (open[index]) held[index] = slots[at[index]].ask(labels[index], sums[index]);
            any_open = false;
#pragma unroll
            for (u32 index = 0; index < COUNT; index++) {
                if (!open[index]) continue;
                open[index] = !slots[at[index]].settle(held[index], labels[index], sums[index]);
                at[index] = place(labels[index], probe, at[index]);
                any_open |= open[index];
            }
        }
    }
    template <class F> RIPPLET_FN void each(u32 rank, u32 size, F visit) const {
        for (u32 at = rank; at < count; at += size) {
            const Slot slot = slots[at];
            if (slot.sum() > 0) visit(slot.label(), slot.sum());
        }
    }
};

// A count-min sketch (Cormode, Muthukrishnan, 2005) of the votes that a table has no slot for: it
// bounds what any of their labels can have.
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
    // No label has more: each row has all of a label's votes in one cell.
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
