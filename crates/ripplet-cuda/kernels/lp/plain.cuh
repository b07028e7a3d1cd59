// Arcs of plain lists (compressed sparse rows): random access to any arc. `compressed.cuh` has the same names for
// compressed lists.
//
//     offsets     | 0 | 2 | 2 | 5 |            one more than vertices; each shard has its own
//     ids         | a b | c d e | ...          vertex 0 has a, b; vertex 1 none; vertex 2 c, d, e
//     arc_at(place of 2, index 1) = d
//
// A vertex of a directed graph has its outgoing arcs first, then the incoming ones. In a streamed graph, a list
// begins on the device, in the staging area, or in the host's memory (`StreamedBegin`).
//
// Mapping: that of the caller; no shared memory.
#pragma once

namespace ripplet {

// Index of an arc. A graph of one shard has fewer than 2^32 arcs.
template <bool IS_SHARDED> struct NumberOfArc {
    typedef u64 Type;
};
template <> struct NumberOfArc<false> {
    typedef u32 Type;
};
typedef NumberOfArc<SHARDED>::Type ArcNumber;

RIPPLET_FN u32 shard_in(const LpState& state, u32 v) {
    if (!SHARDED) return 0;
    if (STREAMED) return shard_of(state.streamed.shards, state.graph.shard_count, v);
    return shard_of((const ShardStart*)state.graph.shards, state.graph.shard_count, v);
}

// Begin of a list: the index of its first arc.
struct WholeBegin {
    ArcNumber arc;

    // The begin of a list at `offset` in its shard.
    RIPPLET_FN static WholeBegin of(const LpState& state, u32 side, u32 shard, u32, u32 offset) {
        if (!SHARDED) return WholeBegin{(ArcNumber)offset};
        const ShardStart& start = ((const ShardStart*)state.graph.shards)[shard];
        return WholeBegin{(ArcNumber)(side > 0 ? start.incoming : start.out) + offset};
    }
    RIPPLET_FN Arc at(const Lists& lists, u32 index) const {
        return Arc{__ldg(lists.ids + (arc + index)), WEIGHTED ? __ldg(lists.weights + (arc + index)) : 1};
    }
};

// Begin of a list in a streamed graph: the words of its first arc and of that arc's weight.
struct StreamedBegin {
    u64 arc, weight;

    RIPPLET_FN static StreamedBegin of(const LpState& state, u32 side, u32 shard, u32 v, u32 offset) {
        const Streamed& streamed = state.streamed;
        const StreamedShard& start = streamed.shards[shard];
        const StreamedLists& lists = side > 0 ? start.incoming : start.out;
        if (v < streamed.near_end) return StreamedBegin{lists.near + offset, lists.near_weights + offset};
        const u32 fetched = streamed.fetched[side][v];
        if (fetched >= REQUESTED) return StreamedBegin{lists.far + offset, lists.far_weights + offset};
        const u64 staged = streamed.stage + fetched, shift = (lists.far_weights - lists.far) % 4;
        return StreamedBegin{staged, staged + streamed.weights_behind + shift};
    }
    RIPPLET_FN Arc at(const Lists&, u32 index) const {
        return Arc{__ldg(word_at(arc + index)), WEIGHTED ? __ldg(word_at(weight + index)) : 1};
    }
};

template <bool> struct BeginOfList {
    typedef StreamedBegin Type;
};
template <> struct BeginOfList<false> {
    typedef WholeBegin Type;
};
typedef BeginOfList<STREAMED>::Type ListBegin;

// Place of a vertex's lists, and its degrees.
struct Place {
    ListBegin out;
    u32 out_degree;
    ListBegin incoming;
    u32 in_degree;

    RIPPLET_FN u32 degree() const { return out_degree + in_degree; }
};

RIPPLET_FN Place place_of(const LpState& state, u32 v) {
    Place place = {};
    const u32 shard = shard_in(state, v);
    const u64 at = (u64)v + shard;
    const u32 out = __ldg(state.graph.out.offsets + at);
    place.out_degree = __ldg(state.graph.out.offsets + at + 1) - out;
    place.out = ListBegin::of(state, 0, shard, v, out);
    if (DIRECTED) {
        const u32 incoming = __ldg(state.graph.incoming.offsets + at);
        place.in_degree = __ldg(state.graph.incoming.offsets + at + 1) - incoming;
        place.incoming = ListBegin::of(state, 1, shard, v, incoming);
    }
    return place;
}

// A list's place in the host's memory, if it is not on the device.
RIPPLET_FN Far far_list(const LpState& state, u32 side, u32 v) {
    const u32 shard = shard_in(state, v);
    const u32* const offsets = (side > 0 ? state.graph.incoming : state.graph.out).offsets + ((u64)v + shard);
    const StreamedShard& start = state.streamed.shards[shard];
    const StreamedLists& lists = side > 0 ? start.incoming : start.out;
    const u32 offset = __ldg(offsets);
    return Far{lists.far + offset, lists.far_weights + offset, __ldg(offsets + 1) - offset};
}

RIPPLET_FN u32 degree_of(const LpState& state, u32 v) {
    return DEGREES ? state.graph.degrees[v] : place_of(state, v).degree();
}

// Arc `index` of a vertex, outgoing arcs first.
RIPPLET_FN Arc arc_at(const LpState& state, const Place& place, u32 index) {
    if (DIRECTED && index >= place.out_degree) return place.incoming.at(state.graph.incoming, index - place.out_degree);
    return place.out.at(state.graph.out, index);
}

// Reads a vertex's arcs sequentially in one lane, from any arc on and around the end.
struct Cursor {
    const LpState* state;
    const Place* place;
    u32 index;

    RIPPLET_FN static Cursor at(const LpState& state, const Place& place, u32 index) {
        return Cursor{&state, &place, index};
    }
    RIPPLET_FN Arc next() {
        if (index == place->degree()) index = 0;
        return arc_at(*state, *place, index++);
    }
};

// Calls `visit(number, arc)` for the arcs `from` to `to` of a vertex, one per lane at a time. The lanes of
// `warps` warps, numbered by `rank`, share the arcs.
template <class Visit>
RIPPLET_FN void each_arc_by_warps(const LpState& state, const Place& place, u32 from, u32 to, u32 rank, u32 warps,
                                  Visit visit) {
    for (u64 at = from + rank * 32 + lane_id(); at < to; at += warps * 32)
        visit((u32)at, arc_at(state, place, (u32)at));
}

}  // namespace ripplet
