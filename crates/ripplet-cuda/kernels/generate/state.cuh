// The state of a shard that is drawn, as the host lays it out (`src/generate/layout.rs` has the same structs).
//
// A shard is drawn in five steps, a file each:
//
//     draw.cuh    every transaction's end in the shard, a thread each, first counted and then put into the list
//                 of its vertex, in any order
//     sums.cuh    in between: where lists begin
//     sort.cuh    tiles of arcs are sorted, whoever's they are; what of a list is in several is merged
//     keep.cuh    each neighbour once, with the number of its arcs
#pragma once

namespace ripplet {

typedef unsigned short u16;

constexpr u32 BLOCK = 256, WARPS = BLOCK / 32;
// Arcs, or vertices, that a block looks at; and each of its threads.
constexpr u32 TILE = 2048, EACH = TILE / BLOCK;

// --- The market's tables, as `MarketTables` of `ripplet_graph::generate` tells them ---

struct Divisor {
    u64 by, reciprocal;
};

// A crowd's share in a day.
struct Day {
    u64 gap, offset;
    u32 first, newcomers;
};

struct Crowd {
    const u32* before;
    const u16* guide;
    const Day* days;
    Divisor block;
    u32 bits, step;
    // The vertex that is its first member.
    u32 first, padding;
};

constexpr u32 ROUNDS = 4;

struct Permutation {
    u64 count, mask, keys[ROUNDS], inverses[ROUNDS];
    u32 shift, padding;
};

// Stubs of a day, before which there are `before` others.
struct Stubs {
    u64 before, first;
    u32 side, day;
};

constexpr u32 MOST_BUYERS = 24, MOST_ITEMS = 6, PAIRS = MOST_BUYERS * MOST_ITEMS;

struct Ring {
    u64 key, chance;
    u32 first_day, end_day, buyers, items;
    u32 members[MOST_BUYERS + MOST_ITEMS];
};

// --- The shard ---

struct Totals {
    // All arcs that were drawn, and those that were kept.
    u32 arcs, kept;
    // A bit for each pass that has something to merge.
    u32 passes, padding;
};

struct State {
    Crowd crowds[2];
    const Permutation* pairings;
    const Stubs* stubs;
    const Ring* rings;
    // One more than vertices. Behind the first: how many arcs a vertex has; then where its next arc goes, and so
    // at last where its list ends and the next begins. In the end, the same of the lists that are kept.
    u32* begins;
    // The arcs, and in the end the weights.
    u32* lists;
    // What was merged; then where the arcs are that are kept.
    u32* spare;
    u32* neighbors;
    // Of each tile, how many, and from then on, how many in those before.
    u32* sums;
    // The owner of each tile's first arc, and behind the last tile the last vertex.
    u32* owners;
    Totals* totals;
    u64 stub_count;
    u32 stub_ranges, ring_count;
    u32 first, vertices;
    // As counted, on the host, too.
    u32 arcs, tiles, kept;
    // What is merged in pairs: 2^pass tiles and as many.
    u32 pass;
};

}  // namespace ripplet
