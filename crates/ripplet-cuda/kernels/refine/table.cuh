// A table of sums by label, for one vertex or part: open addressing, filled by many threads.
//
//     slot   0      1      2      3          keys, and sums beside them; a free slot has the key `FREE`
//     key    FREE   17     4      FREE       label 17 was added; 4, of the same hash, came later
//
// A table has more slots than labels, so that a search ends. Shared memory: 12 bytes a slot.
#pragma once

namespace ripplet {

// No label.
constexpr u32 FREE = U32_MAX;

struct Table {
    u32* keys;
    u64* sums;
    // The binary logarithm of the slots in use.
    u32 log;

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
            u32 held = ((volatile u32*)keys)[slot];
            if (held == FREE) {
                held = atomicCAS(keys + slot, FREE, label);
                if (held == FREE) held = label;
            }
            if (held == label) break;
            slot = (slot + 1) & (slots() - 1);
        }
        atomicAdd(sums + slot, weight);
    }
};

// The logarithm of the slots for at most `labels` labels: at least twice as many.
RIPPLET_FN u32 log_for(u32 labels) { return labels == 0 ? 0 : 33 - __clz((int)(labels - 1)); }

}  // namespace ripplet
