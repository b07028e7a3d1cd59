// The state of a run, as the host lays it out (`src/lcc/layout.rs` has the same structs), and what a
// graph's lists say.
//
// Before this file comes the run's configuration, constants of the compilation:
//
//     bool DIRECTED, SHARDED    the graph
//     bool WIDE                 whether it may have 2^32 edges or more
//     u32  RULE                 what a triangle adds to its corners, below
//     bool APART                whether triangles are counted beside that
//
// An *edge* is a pair of neighbours, in whichever directions there are arcs, and however many. Of
// two vertices the one of higher degree comes *first*; of equal ones, that of the smaller id.
#pragma once

namespace ripplet {

// Of a triangle {v, u, w}, whose edges are 1 or 2 arcs each:
// PLAIN    every corner gets 1 (undirected graphs)
// ARCS     every corner gets the arcs of the edge opposite to it
// CYCLES   every corner gets the product of all three
constexpr u32 PLAIN = 0, ARCS = 1, CYCLES = 2;

constexpr u32 BLOCK = 256, WARPS = BLOCK / 32;
// Arcs that a block looks at, in so many steps.
constexpr u32 PIECE = 2048, STEPS = PIECE / BLOCK;

// The number of an edge.
template <bool IS_WIDE> struct NumberOfEdge {
    typedef u64 Type;
};
template <> struct NumberOfEdge<false> {
    typedef u32 Type;
};
typedef NumberOfEdge<WIDE>::Type EdgeNumber;

// A part of the list of a vertex that has a long one.
struct Slice {
    u32 vertex, index;
};

struct Tallies {
    u64 edges, triangles;
    // Distinct neighbours of all vertices, in sum.
    u64 neighbors;
    u32 slices, hubs;
    // How many vertices have degrees of each bin.
    u32 bins[1024];
};

struct State {
    Lists out, incoming;
    const ShardStart* shards;
    // The owner of each piece's first arc, and behind the last piece the last vertex.
    u32* owners;
    // How many edges each piece lists, and from then on, how many those before it list; with the sum.
    u64* listed;
    // How many neighbours a vertex has, before there are lists. In the same memory, when there are, which
    // hubs are neighbours, and between which there are arcs in both directions.
    u32* degrees;
    u32 *bits, *both_bits;
    // The hubs in ascending order. Before there are lists, in the memory of the numerators, as they were
    // found, and each one's number.
    u32 *hubs, *found, *numbers;
    // The neighbours of each vertex that come before it: where its list begins, with the end of the
    // last; the lists, of names, in ascending order of ids where the graph is undirected; and a bit for
    // each, whether there are arcs in both directions.
    EdgeNumber* begins;
    u32* targets;
    u32* reciprocal;
    Slice* slices;
    // What is counted: from which the coefficients are, in the same memory.
    u64 *numerators, *triangles;
    Tallies* tallies;
    // Arcs, outgoing and incoming.
    u64 arcs, pieces;
    u32 vertices, shard_count;
    // Vertices of this degree and more are hubs; how many there are.
    u32 hub_degree, hub_count;
    // Whether each arc is of another edge of its owner, so that a degree is a list's length.
    u32 is_simple, padding;
};

// --- The graph's arcs, vertex by vertex: its outgoing ones, then its incoming ones ---

// Where a vertex's arcs are.
struct Place {
    u64 out, incoming;
    u32 out_degree, in_degree;

    // The number of the first of them.
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

// The vertex that an arc is in the list of: of `low` to `high`, the last that begins no later.
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

// Whether an ascending list has an id.
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

// An arc as an edge of its owner.
struct Neighbor {
    u32 id;
    // Whether this is the one of all arcs between the two that stands for the edge. None does between a
    // vertex and itself.
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
