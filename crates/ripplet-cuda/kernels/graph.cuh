// A graph's plain lists in the device's memory, as the host lays them out: `src/lists/kernel.rs` has the same
// structs.
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
