// A graph's plain lists in the device's memory (compressed sparse rows), as the host lays them out:
// `src/lists/kernel.rs` has the same structs.
//
//     shards      |   shard 0: vertices 0-2   |  shard 1: 3-4  |
//     offsets     | 0      2      2      5    | 0     1      3 |     one more than vertices in each shard, from 0 on
//     ids         | a b | c d e               | f | g h        |
//
//     vertex 4: shard 1, its offset is number 4 + 1, its first arc is `ShardStart::out` (5) + 1
//
// Mapping: called by any thread; no shared memory.
#pragma once

namespace ripplet {

struct Lists {
    const u32 *offsets, *ids, *weights;
};

// Begin of a shard: its first vertex, and the index of its first arc in the outgoing and in the incoming ids.
struct ShardStart {
    u64 first, out, incoming;
};

// The index of the shard that a vertex is in, by binary search. Each shard has one offset more than vertices,
// so this is also the number of extra offsets before the vertex.
template <class Start> RIPPLET_FN u32 shard_of(const Start* shards, u32 count, u32 v) {
    u32 shard = 0;
    for (u32 left = count; left > 1;) {
        const u32 half = left / 2;
        if (shards[shard + half].first <= v) shard += half;
        left -= half;
    }
    return shard;
}

}  // namespace ripplet
