// The state of a run, as the host lays it out (`src/lcc/layout.rs` has the same structs), and access to the
// graph's arcs.
//
// The run's configuration comes before this file, as constants of the compilation:
//
//     bool DIRECTED, SHARDED    the graph
//     bool WIDE                 whether it may have 2^32 edges or more
//     u32  RULE                 what a triangle adds to its corners, below
//     bool APART                whether triangles are counted beside numerators
//
// An *edge* is a pair of neighbours, whatever the number and directions of the arcs between them. In the
// *order by degree*, the vertex of higher degree comes first, and among equal degrees that of the smaller id.
//
//     arcs of vertex v      | out: a a b | incoming: b c |      `is_first` at the first a
//     edges (`counts`)      |      *   * |             * |      v-a, v-b (`both` directions), v-c
//
// Mapping: functions that any thread calls; no shared memory.
#pragma once

namespace ripplet {

// What a triangle {v, u, w}, whose edges are 1 or 2 arcs each, adds to its corners:
// PLAIN    1 to every corner (undirected graphs)
// ARCS     to every corner the number of arcs of the opposite edge
// CYCLES   to every corner the product of the arcs of all three edges
constexpr u32 PLAIN = 0, ARCS = 1, CYCLES = 2;

// Threads of a block, and its warps. Not measured against others.
constexpr u32 BLOCK = 256, WARPS = BLOCK / 32;
// Arcs that a block processes, and its steps: `list_edges` has two counts of a step and warp for each lane of a warp,
// 64 of 8 warps and 8 steps. Not measured against others.
constexpr u32 PIECE = 2048, STEPS = PIECE / BLOCK;

// The index of an edge.
template <bool IS_WIDE> struct NumberOfEdge {
    typedef u64 Type;
};
template <> struct NumberOfEdge<false> {
    typedef u32 Type;
};
typedef NumberOfEdge<WIDE>::Type EdgeNumber;

// A slice of a long list.
struct Slice {
    u32 vertex, index;
};

struct Tallies {
    u64 edges, triangles;
    // Sum of all degrees, with distinct neighbours.
    u64 neighbors;
    u32 slices, hubs;
    // Number of vertices by bin of degrees.
    u32 bins[1024];
};

struct State {
    Lists out, incoming;
    const ShardStart* shards;
    // The owner of each piece's first arc; behind the last piece, the last vertex.
    u32* owners;
    // Number of kept edges of each piece, then its exclusive prefix sum, with the total behind.
    u64* listed;
    // The number of distinct neighbours of each vertex. When lists exist, the same memory has the bit
    // matrices: which hubs are neighbours, and which have arcs in both directions.
    u32* degrees;
    u32 *bits, *both_bits;
    // The hubs in ascending order of ids. Before lists exist, the memory of the numerators has the hubs in
    // the order in which they were found, and the number of each hub by vertex.
    u32 *hubs, *found, *numbers;
    // The lists: the neighbours of each vertex that come before it in the order by degree. `begins` has the
    // begin of each list, and the end of the last; `targets` the names, for an undirected graph in ascending
    // order of ids; `reciprocal` a bit for each edge with arcs in both directions.
    EdgeNumber* begins;
    u32* targets;
    u32* reciprocal;
    Slice* slices;
    // Counts by vertex. The coefficients replace the numerators.
    u64 *numerators, *triangles;
    Tallies* tallies;
    // Number of arcs, outgoing and incoming, and of pieces.
    u64 arcs, pieces;
    u32 vertices, shard_count;
    // The least degree of a hub, and the number of hubs.
    u32 hub_degree, hub_count;
    // Whether no vertex has two arcs to one neighbour, so that its degree is the length of its list.
    u32 is_simple, padding;
};

// --- The graph's arcs, vertex by vertex: outgoing ones, then incoming ones ---

// Place of a vertex's arcs.
struct Place {
    u64 out, incoming;
    u32 out_degree, in_degree;

    // The index of the first arc.
    RIPPLET_FN u64 first() const { return out + incoming; }
};

RIPPLET_FN Place place_of(const State& state, u32 v) {
    Place place = {};
    u64 at = v;
    if (SHARDED) {
        const u32 shard = shard_of(state.shards, state.shard_count, v);
        at += shard;
        place.out = state.shards[shard].out;
        place.incoming = state.shards[shard].incoming;
    }
    const u32 out = __ldg(state.out.offsets + at);
    place.out_degree = __ldg(state.out.offsets + at + 1) - out;
    place.out += out;
    if (DIRECTED) {
        const u32 incoming = __ldg(state.incoming.offsets + at);
        place.in_degree = __ldg(state.incoming.offsets + at + 1) - incoming;
        place.incoming += incoming;
    }
    return place;
}

// The owner of an arc, by binary search from `low` to `high`: the last vertex whose arcs begin no later.
RIPPLET_FN u32 owner_of(const State& state, u64 arc, u32 low, u32 high) {
    while (low < high) {
        const u32 middle = high - (high - low) / 2;
        if (place_of(state, middle).first() <= arc)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Whether an ascending list contains an id.
RIPPLET_FN bool contains(const u32* ids, u32 length, u32 id) {
    u32 low = 0, high = length;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (__ldg(ids + middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < length && __ldg(ids + low) == id;
}

// An arc, seen as an edge of its owner.
struct Neighbor {
    u32 id;
    // Whether this arc represents the edge, among all arcs between the two vertices. No loop represents an
    // edge.
    bool counts;
    // Whether there are arcs in both directions, in a directed graph.
    bool both;
    // Whether it is its owner's first arc.
    bool is_first;
};

RIPPLET_FN Neighbor neighbor_at(const State& state, u32 v, u64 arc) {
    const Place place = place_of(state, v);
    const u64 index = arc - place.first();
    const bool leaves = !DIRECTED || index < place.out_degree;
    const u32* list = leaves ? state.out.ids + place.out : state.incoming.ids + place.incoming;
    const u64 at = leaves ? index : index - place.out_degree;
    const u32 id = __ldg(list + at);
    Neighbor found = {id, id != v && (at == 0 || __ldg(list + at - 1) != id), false, index == 0};
    if (DIRECTED && found.counts) {
        if (leaves)
            found.both = contains(state.incoming.ids + place.incoming, place.in_degree, id);
        else
            found.counts = !contains(state.out.ids + place.out, place.out_degree, id);
    }
    return found;
}

}  // namespace ripplet
