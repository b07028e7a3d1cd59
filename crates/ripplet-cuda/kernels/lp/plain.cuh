// Neighbours of plain lists: any arc is read at once. `coded.cuh` has the same names for compressed lists.
#pragma once

namespace ripplet {

// The number of an arc. A graph of one shard has fewer than 2^32.
template <bool IS_SHARDED> struct NumberOfArc {
    typedef u64 Type;
};
template <> struct NumberOfArc<false> {
    typedef u32 Type;
};
typedef NumberOfArc<SHARDED>::Type ArcNumber;

// Where a vertex's neighbours are.
struct Place {
    ArcNumber out;
    u32 out_degree;
    ArcNumber incoming;
    u32 in_degree;

    RIPPLET_FN u32 degree() const { return out_degree + in_degree; }
};

RIPPLET_FN Place place_of(const Field& field, u32 v) {
    Place place = {};
    u64 at = v;
    if (SHARDED) {
        const ShardStart* shards = (const ShardStart*)field.shards;
        const u32 shard = shard_of(shards, field.shard_count, v);
        at += shard;
        place.out = (ArcNumber)shards[shard].out;
        place.incoming = (ArcNumber)shards[shard].incoming;
    }
    const u32 out = __ldg(field.out.offsets + at);
    place.out_degree = __ldg(field.out.offsets + at + 1) - out;
    place.out += out;
    if (DIRECTED) {
        const u32 incoming = __ldg(field.incoming.offsets + at);
        place.in_degree = __ldg(field.incoming.offsets + at + 1) - incoming;
        place.incoming += incoming;
    }
    return place;
}

// Arc number `index` of a vertex: its outgoing ones first.
RIPPLET_FN Arc arc_at(const Field& field, const Place& place, u32 index) {
    if (DIRECTED && index >= place.out_degree) {
        const ArcNumber at = place.incoming + (index - place.out_degree);
        return Arc{__ldg(field.incoming.ids + at), WEIGHTED ? __ldg(field.incoming.weights + at) : 1};
    }
    const ArcNumber at = place.out + index;
    return Arc{__ldg(field.out.ids + at), WEIGHTED ? __ldg(field.out.weights + at) : 1};
}

// A vertex's arcs one by one, by this lane alone, from any of them on and around.
struct Cursor {
    const Field* field;
    const Place* place;
    u32 index;

    RIPPLET_FN static Cursor at(const Field& field, const Place& place, u32 index) {
        return Cursor{&field, &place, index};
    }
    RIPPLET_FN Arc next() {
        if (index == place->degree()) index = 0;
        return arc_at(*field, *place, index++);
    }
};

// Calls `visit(number, arc)` for the arcs from number `from` to `to` of a vertex, one a lane at a time: the lanes
// of `warps` warps, each of which has its `rank`, share them.
template <class Visit>
RIPPLET_FN void each_arc_by_warps(const Field& field, const Place& place, u32 from, u32 to, u32 rank, u32 warps,
                                  Visit visit) {
    for (u64 at = from + rank * 32 + lane_id(); at < to; at += warps * 32)
        visit((u32)at, arc_at(field, place, (u32)at));
}

}  // namespace ripplet
