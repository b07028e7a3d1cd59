// A hash table from label to the sum of its votes, filled by many threads at once. A label that is
// there stays, so whoever looks for it along its slots finds it, or a free slot behind all others.
#pragma once

namespace ripplet {

// Labels that are no vertex's, and so mark free slots. Votes for it have weight 0.
constexpr u32 FREE = NO_LABEL;
// Slots that a label looks at where not all labels may fit.
constexpr u32 PROBES = 16;

// In shared memory, sums and labels apart, or in global memory, as `Slot`s.
template <class Sum, bool IS_SHARED> struct Table {
    static constexpr u32 SUM_STEP = IS_SHARED ? 1 : sizeof(Slot) / sizeof(Sum);
    static constexpr u32 LABEL_STEP = IS_SHARED ? 1 : sizeof(Slot) / sizeof(u32);

    Sum* sums;
    u32 *labels, slots;

    RIPPLET_FN Sum& sum(u32 at) const { return sums[(u64)at * SUM_STEP]; }
    RIPPLET_FN u32& label(u32 at) const { return labels[(u64)at * LABEL_STEP]; }

    RIPPLET_FN void clear(u32 rank, u32 size) const {
        for (u32 at = rank; at < slots; at += size) {
            label(at) = FREE;
            sum(at) = 0;
        }
    }
    // Adds a vote; what its label has then, or 0 where that has none of its first `probes` slots.
    RIPPLET_FN Sum add(u32 label_of_vote, u64 weight, u32 probes) const {
        // The golden ratio spreads consecutive labels over the table.
        u32 at = part_of(label_of_vote * 0x9e3779b9u, slots);
        for (u32 probe = 0; probe < probes; probe++) {
            u32 held = *(volatile u32*)&label(at);
            if (held == FREE) held = atomicCAS(&label(at), FREE, label_of_vote);
            if (held == FREE || held == label_of_vote) {
                return atomicAdd(&sum(at), (Sum)weight) + (Sum)weight;
            }
            at = at + 1 < slots ? at + 1 : 0;
        }
        return 0;
    }
    // The leader of the labels that this thread looks at, none of which has more than `top`.
    RIPPLET_FN Leader lead(const Chooser& v, u32 rank, u32 size, Sum top) const {
        Leader leader = {0, NO_LABEL, U32_MAX};
        for (u32 at = rank; at < slots; at += size)
            if (sum(at) == top && top > 0) leader.meet(Leader{top, label(at), v.rank_of(label(at))});
        return leader;
    }
    template <class F> RIPPLET_FN void each(u32 rank, u32 size, F visit) const {
        for (u32 at = rank; at < slots; at += size)
            if (sum(at) > 0) visit(label(at), (u64)sum(at));
    }
};

// A table of at most `wanted` slots in so many bytes of shared memory.
template <class Sum> RIPPLET_FN Table<Sum, true> table_in(unsigned char* memory, u32 bytes, u32 wanted) {
    const u32 slots = min(wanted, bytes / (u32)(sizeof(Sum) + sizeof(u32)));
    return Table<Sum, true>{(Sum*)memory, (u32*)(memory + slots * sizeof(Sum)), slots};
}

// A table in global memory.
RIPPLET_FN Table<u64, false> table_of_slots(Slot* first, u32 slots) {
    return Table<u64, false>{&first->sum, &first->label, slots};
}

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
