// The state of a run over many small graphs, as the host lays it out: `src/swarm/abi.rs` has the same
// structs.
//
// The run's configuration comes before this file, as constants of the compilation:
//
//     u32  QUESTION     what is computed for each graph, below
//     bool TWO_SIDED    whether the neighbours *ahead* of a vertex, read by the backward pass, differ from
//                       those *behind* it, read by a search
//     bool WEIGHS       whether the length of a path is the sum of its arcs' weights, or their number
//
// A *unit* of a graph is the sources of one search: 64 neighbouring ids, or 8 if shortest paths are counted
// or arcs have weights. A *group* is always 64 sources. An *item* of work is some units of a graph: all of
// them, or a single one if the graph is *split*, because it is so large that other teams would wait for it.
//
//     source:   0 … 7   8 … 15   …   56 … 63   64 … 71   …
//     unit:     a search from 64, or from 8 sources
//     group:    └──────── 64 sources ────────┘ └──────── …
//
// Mapping: functions that any thread calls; no shared memory. Groups of 64 are those of the masks (`distances.cuh`),
// units of 8 the rows of `path_counts.cuh`; docs/adr/0010-swarms-on-the-gpu.md has the reasons.
#pragma once

namespace ripplet {

typedef unsigned char u8;
typedef unsigned short u16;
typedef double f64;

// FAR     number of other vertices that reach a vertex, and the sum of their distances
// NEAR    sum of 1 / distance
// SPAN    as FAR, with the largest distance; of a vertex, or of all vertices of a graph
// PAIRS   each distance
// EDGES   betweenness of edges: shortest paths along an arc
// BETWEENNESS    of vertices: shortest paths through a vertex
constexpr u32 FAR = 0, NEAR = 1, SPAN = 2, PAIRS = 3, BETWEENNESS = 4, EDGES = 5;
constexpr bool COUNTS_PATHS = QUESTION == BETWEENNESS || QUESTION == EDGES;

constexpr u32 GROUP = 64, EIGHT = 8;
constexpr u32 UNIT = COUNTS_PATHS || WEIGHS ? EIGHT : GROUP;
constexpr u32 UNITS_OF_GROUP = GROUP / UNIT;

// Closeness as 1 / far or reached / far, or as Wasserman and Faust define it.
constexpr u32 RECIPROCAL = 0, WASSERMAN_FAUST = 1;

// The lists of all graphs in one direction, as a batch stores them: each graph has one offset more than
// vertices, beginning at 0. `weights` is used if arcs have weights.
struct GraphLists {
    const u64* starts;
    const u32 *offsets, *ids, *weights;
    // The value of `starts` for the first arc on the device.
    u64 first;
};

// Units `first` to `end` of a graph. `split` is the record that sums are added up in, or NO_SPLIT.
struct Item {
    u32 graph, first, end, split;
};
constexpr u32 NO_SPLIT = U32_MAX;

// The units of a split graph that are processed in one source batch.
struct Split {
    // Index of the first unit's partial sums, one for each value; those of the next units follow.
    u64 partials;
    // Index of the graph's vertices in the columns of split graphs.
    u64 sums;
    u32 graph, first, end, is_last;
};

// Summary of the distances to or from a vertex.
struct Reach {
    u64 far, farthest;
    u32 reached, padding;
};

// Summary of all distances of a graph. The sum is in two parts: the lower and the higher 32 bits of the
// vertices' sums. `radius_turned` is the complement of the smallest eccentricity, so that 0 is its neutral
// element as well.
struct Summary {
    u64 pairs, low, high, diameter, radius_turned;
};

// `PIECE` values of a split graph from `first` on, which a block adds up.
struct Piece {
    u32 split, first;
};
constexpr u32 PIECE = 1024;

struct State {
    // Begin of each graph's vertices, and the end of the last.
    const u64* vertex_starts;
    GraphLists behind, ahead;
    const Item* items;
    const Split* splits;
    const Piece* pieces;
    // Number of items taken, for each of the launches that run concurrently.
    u32* taken;
    // Values by vertex, by arc ahead, or by pair; `pair_starts` has the begin of each graph's pairs.
    f64* values;
    const u64* pair_starts;
    // By arc: the sum over the sources of the current group so far (EDGES).
    f64* groups;
    // Of split graphs: a partial sum by unit and value; and by vertex, the summary over units.
    f64* partials;
    Reach* sums;
    // By vertex, and by graph; null if not requested.
    Reach* reach;
    Summary* summaries;
    // By graph, the real length of a stored weight of 1, if arcs have weights.
    const f64* units;
    // State of searches in global memory, `stride` bytes per block.
    unsigned char* scratch;
    u64 stride;
    // The value of `vertex_starts` for the first vertex on the device.
    u64 first_vertex;
    u32 measure, is_normalized, is_directed;
    // The first source of the pairs that are computed at a time, for a single graph.
    u32 first_source;
};

// A launch over the items or pieces `first` to `end`. `bytes` is a team's share of shared memory, and
// `number` is the index of the launch among those that run concurrently.
struct Work {
    State state;
    u32 first, end, bytes, number;
};

// A graph of the run.
struct Member {
    u32 index, vertices;
    // Number of its values and their begin; the number is not used for pairs.
    u32 width;
    u64 values;
    // Index of its vertices in the columns of all graphs.
    u64 at;
    // The real length of a stored weight of 1.
    f64 unit;
};

RIPPLET_FN Member member(const State& state, u32 graph) {
    const u64 begin = __ldg(state.vertex_starts + graph);
    const u32 vertices = (u32)(__ldg(state.vertex_starts + graph + 1) - begin);
    const u64 at = begin - state.first_vertex;
    Member member = {graph, vertices, vertices, at, at, WEIGHS ? __ldg(state.units + graph) : 1.0};
    if (QUESTION == PAIRS) member.values = __ldg(state.pair_starts + graph);
    if (QUESTION == EDGES) {
        const GraphLists& ahead = TWO_SIDED ? state.ahead : state.behind;
        const u64 first = __ldg(ahead.starts + graph);
        member.width = (u32)(__ldg(ahead.starts + graph + 1) - first);
        member.values = first - ahead.first;
    }
    return member;
}

// A bump allocator. Arrays with the largest alignment come first.
struct Arena {
    unsigned char* next;

    template <class T> RIPPLET_FN T* take(u64 count) {
        T* const begin = (T*)next;
        next += count * sizeof(T);
        return begin;
    }
};

}  // namespace ripplet
