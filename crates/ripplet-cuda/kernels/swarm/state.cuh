// The state of a run over many small graphs, as the host lays it out (`src/swarm/layout.rs` has the same
// structs).
//
// Before this file comes the run's configuration, constants of the compilation:
//
//     u32  QUESTION     what is asked of each graph, below
//     bool TWO_SIDED    whether a vertex has other neighbours *ahead* of it, on the way back of a search,
//                       than *behind* it, where it looks for who arrives
//     bool WEIGHS       whether the length of a way is the sum of its arcs' weights, or their number
//
// A *unit* of a graph is some sources that are searched from together: 64 of neighbouring ids, or 8 where
// shortest ways are counted or arcs weigh; a *group* is 64 sources at any rate. An *item* of work is some units
// of a graph: all of them, or one where the graph is *split*, because it is so large that others would wait for
// it.
#pragma once

namespace ripplet {

typedef unsigned char u8;
typedef unsigned short u16;
typedef double f64;

// FAR     how many others there are, and the sum of their distances
// NEAR    the sum of 1 / distance
// SPAN    the same with the largest of them, of a vertex or of all vertices of a graph
// PAIRS   each distance
// WAYS    how many shortest ways lead through a vertex
// EDGES   how many lead along an arc
constexpr u32 FAR = 0, NEAR = 1, SPAN = 2, PAIRS = 3, WAYS = 4, EDGES = 5;
constexpr bool COUNTS_WAYS = QUESTION == WAYS || QUESTION == EDGES;

constexpr u32 GROUP = 64, EIGHT = 8;
constexpr u32 UNIT = COUNTS_WAYS || WEIGHS ? EIGHT : GROUP;
constexpr u32 UNITS_OF_GROUP = GROUP / UNIT;

// How far a vertex is, made a value: 1 / far, or reached / far; and as Wasserman and Faust have it.
constexpr u32 RECIPROCAL = 0, WASSERMAN_FAUST = 1;

// The lists of all graphs in one direction, as a batch has them: each graph's offsets are one more than its
// vertices, and begin at 0. Weights are there where arcs weigh.
struct GraphLists {
    const u64* starts;
    const u32 *offsets, *ids, *weights;
    // What the starts count from.
    u64 first;
};

// Units `first` to `end` of a graph. `split` is where what they find is added up, NO_SPLIT where that is all.
struct Item {
    u32 graph, first, end, split;
};
constexpr u32 NO_SPLIT = U32_MAX;

// A graph whose units are items of their own: those that are done in one wave.
struct Split {
    // Where a unit's partial sums begin, for the first unit, one of each value; the next unit's are behind.
    u64 partials;
    // Where the graph's vertices begin in the columns of split graphs.
    u64 sums;
    u32 graph, first, end, is_last;
};

// What the distances from a vertex come to.
struct Reach {
    u64 far, farthest;
    u32 reached, padding;
};

// What all distances of a graph come to. Their sum is in two parts: of the vertices' sums, the lower 32 bits and
// the higher. Of the smallest eccentricity all bits are turned, so that it begins with 0, as the rest does.
struct Summary {
    u64 pairs, low, high, diameter, radius_turned;
};

// Values of a split graph that a block adds up, from `first` on.
struct Piece {
    u32 split, first;
};
constexpr u32 PIECE = 1024;

struct State {
    // Where each graph's vertices begin, and the end of the last.
    const u64* vertex_starts;
    GraphLists behind, ahead;
    const Item* items;
    const Split* splits;
    const Piece* pieces;
    // How many items are taken, of each launch of those that run at once.
    u32* taken;
    // Of each vertex, of each arc ahead, or of each pair: where those begin, graph by graph.
    f64* values;
    const u64* pair_starts;
    // Of each arc, where these are asked of, what a group of sources found until now.
    f64* groups;
    // Of split graphs: a sum of each unit and value, and of each vertex what its units found.
    f64* partials;
    Reach* sums;
    // Of each vertex, and of each graph; null where nobody asks.
    Reach* reach;
    Summary* summaries;
    // The real length that a stored 1 stands for, of each graph, where arcs weigh.
    const f64* units;
    // The state of those that have no shared memory, block by block.
    unsigned char* scratch;
    u64 stride;
    // What vertex_starts counts from.
    u64 first_vertex;
    u32 measure, is_normalized, is_directed;
    // Of a graph alone whose pairs are asked for some sources after others, the first.
    u32 first_source;
};

// A launch over items or pieces `first` to `end`. `bytes` is what a team has of shared memory, and `number` that of
// the launch among those that run at once.
struct Work {
    State state;
    u32 first, end, bytes, number;
};

// A graph of the run.
struct Member {
    u32 index, vertices;
    // How many values it has, and where they begin; pairs are not counted.
    u32 width;
    u64 values;
    // Where its vertices are in columns of all.
    u64 at;
    // The real length that a stored 1 stands for.
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

// Memory that is given out piece by piece: first what is aligned to most bytes.
struct Room {
    unsigned char* next;

    template <class T> RIPPLET_FN T* take(u64 count) {
        T* const begin = (T*)next;
        next += count * sizeof(T);
        return begin;
    }
};

}  // namespace ripplet
