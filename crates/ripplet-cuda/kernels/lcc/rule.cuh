// What triangles add to their corners.
#pragma once

namespace ripplet {

// What some triangles add to a corner, and how many they are.
struct Sum {
    u32 numerator, triangles;

    RIPPLET_FN void add(u32 gain) {
        // With PLAIN it is the same number.
        if (RULE != PLAIN) numerator += gain;
        triangles++;
    }
    RIPPLET_FN void add(const Sum& other) {
        numerator += other.numerator;
        triangles += other.triangles;
    }
    RIPPLET_FN u32 value() const { return RULE == PLAIN ? triangles : numerator; }
};

// What the corners of a triangle {v, u, w} get, of so many arcs between each two of them.
struct Gains {
    u32 v, u, w;

    RIPPLET_FN Gains(u32 vu, u32 uw, u32 vw)
        : v(RULE == ARCS ? uw : vu * uw * vw), u(RULE == ARCS ? vw : v), w(RULE == ARCS ? vu : v) {}
};

// How many arcs an edge of a list is, where that matters.
RIPPLET_FN u32 arcs_of(const State& state, EdgeNumber edge) {
    return RULE == PLAIN ? 1 : 1 + (__ldg(state.reciprocal + edge / 32) >> (edge % 32) & 1);
}

// Adds to what is counted of a vertex, which is named as in lists.
RIPPLET_FN void add_to(const State& state, u32 name, u64 numerator, u64 triangles) {
    if (numerator == 0) return;
    const u32 vertex = vertex_of(state, name);
    atomicAdd(state.numerators + vertex, numerator);
    if (APART) atomicAdd(state.triangles + vertex, triangles);
}

}  // namespace ripplet
