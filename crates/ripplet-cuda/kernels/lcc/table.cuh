// A hash table in shared memory with a part of a vertex's list: the names in it, and the sums that triangles
// add to them (open addressing, linear probing).
//
//     names      most × u32     FREE, or a name
//     sums       most × u32     numerator; bit 31: arcs in both directions between owner and name
//     triangles  most × u32     if counted beside numerators (APART)
//
// `most` slots have memory; a table uses a power of two of them, at most half full, so that a search ends soon.
//
// Mapping: the threads of a warp or a block share the slots to clear and read them; any thread inserts, finds and adds.
#pragma once

namespace ripplet {

constexpr u32 NO_SLOT = U32_MAX, FREE = U32_MAX;
// Bit of a sum: the vertex has arcs in both directions.
constexpr u32 BOTH = 1u << 31;

// Words of a slot.
constexpr u32 SLOT_WORDS = APART ? 3 : 2;

struct Table {
    u32 *names, *sums, *triangles;
    u32 mask, shift;

    // A table of `slots` slots, a power of two, in memory for `most`.
    RIPPLET_FN Table(unsigned char* memory, u32 most, u32 slots)
        : names((u32*)memory), sums(names + most), triangles(sums + most), mask(slots - 1),
          shift(leading_zeros(slots) + 1) {}

    // Empties the slots from `first` on, `stride` apart.
    RIPPLET_FN void clear(u32 first, u32 stride) const {
        for (u32 slot = first; slot <= mask; slot += stride) {
            names[slot] = FREE;
            sums[slot] = 0;
            if (APART) triangles[slot] = 0;
        }
    }
    // Inserts a name that is not in the table; returns its slot.
    RIPPLET_FN u32 insert(u32 name, u32 arcs) const {
        u32 slot = first_of(name);
        while (atomicCAS(names + slot, FREE, name) != FREE) slot = (slot + 1) & mask;
        if (arcs == 2) sums[slot] = BOTH;
        return slot;
    }
    // The slot of a name, or NO_SLOT. Some slots are always free, so the search ends.
    RIPPLET_FN u32 find(u32 name) const {
        for (u32 slot = first_of(name);; slot = (slot + 1) & mask) {
            const u32 other = names[slot];
            if (other == name) return slot;
            if (other == FREE) return NO_SLOT;
        }
    }
    // The sum of a slot, without the bit.
    RIPPLET_FN u32 sum(u32 slot) const { return sums[slot] & ~BOTH; }
    // The number of arcs between the owner and the name of a slot, in a directed graph.
    RIPPLET_FN u32 arcs(u32 slot) const { return 1 + (((volatile u32*)sums)[slot] >> 31); }

    RIPPLET_FN void add(u32 slot, u32 numerator, u32 found) const {
        atomicAdd(sums + slot, numerator);
        if (APART) atomicAdd(triangles + slot, found);
    }

  private:
    // Multiplicative hashing: consecutive names are spread, so that no long run of slots fills up.
    RIPPLET_FN u32 first_of(u32 name) const { return (name * 0x9e3779b1u) >> shift; }
};

}  // namespace ripplet
