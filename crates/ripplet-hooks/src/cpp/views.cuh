// The views that a program's hooks see. Include `scalar.cuh` and define `ripplet::Access` first.
//
// `Access` is the engine's accessor for a graph's vertices and columns. A hook that never uses a
// degree or a column never reads one. `Access` has these members (all __device__ in CUDA):
//
//     u32  degree(u32 vertex) const;                      // incident arcs, at most 2^32 - 1
//     u32  round() const;                                 // counted from 0
//     u32  random(u32 vertex, u32 stream) const;          // 32 hashed bits, new in each round
//     u32  total(u32 label) const;                        // the label's total, or 0 if none is kept
//     u32  column(u32 slot, u32 vertex, u32 index) const; // the bits of a value; out of range 0
//     u32  staged(u32 slot, u32 vertex, u32 index) const; // as `column`, but with staged values
//     void stage(u32 slot, u32 vertex, u32 index, u32 bits); // for the vertex of `update_vertex`;
//                                                         // out of range ignored
#pragma once

namespace ripplet {

constexpr u32 NO_LABEL = 0xffffffffu;

struct Vote {
    u32 label, weight;
};

struct Vertex {
    const Access* access;
    u32 id, label;
};

struct Neighbor {
    const Access* access;
    u32 id, label, weight;
};

struct Candidate {
    const Access* access;
    u32 label;
    u64 frequency, total_votes, grand_total;
};

// A vertex whose columns can be set. `carried` is 0 if nothing was carried; `total_votes` is the sum of
// all votes.
struct VertexMut {
    Access* access;
    u32 id, label;
    f32 carried;
    u64 frequency, total_votes;
};

template <class View> RIPPLET_FN u32 degree(const View& v) { return v.access->degree(v.id); }
template <class View> RIPPLET_FN u32 round(const View& v) { return v.access->round(); }
template <class View> RIPPLET_FN u32 random(const View& v, u32 stream) {
    return v.access->random(v.id, stream);
}
RIPPLET_FN u32 total(const Candidate& c) { return c.access->total(c.label); }

template <class View> RIPPLET_FN u32 column_u32(const View& v, u32 slot, u32 index) {
    return v.access->column(slot, v.id, index);
}
RIPPLET_FN u32 column_u32(const VertexMut& v, u32 slot, u32 index) {
    return v.access->staged(slot, v.id, index);
}
template <class View> RIPPLET_FN f32 column_f32(const View& v, u32 slot, u32 index) {
    return from_bits(column_u32(v, slot, index));
}
RIPPLET_FN void set_column_u32(VertexMut& v, u32 slot, u32 index, u32 value) {
    v.access->stage(slot, v.id, index, value);
}
RIPPLET_FN void set_column_f32(VertexMut& v, u32 slot, u32 index, f32 value) {
    v.access->stage(slot, v.id, index, to_bits(value));
}

}  // namespace ripplet
