// Contributions of triangles to their corners, given the arcs (1 or 2) of each edge.
//
//            v               PLAIN    1 to each corner
//     vu   /   \   vw        ARCS     v: uw   u: vw   w: vu     (LDBC: arcs between neighbours)
//         u ─── w            CYCLES   vu · uw · vw to each      (Fagiolo: directed triangles of all kinds)
//           uw
//
// Mapping: called by the thread that found a triangle; no shared memory. LDBC Graphalytics, "Local clustering
// coefficient"; Fagiolo, Clustering in complex directed networks (2007).
#pragma once

namespace ripplet {

// Sum of the contributions of some triangles to a corner, and the number of triangles.
struct Sum {
    u32 numerator, triangles;

    RIPPLET_FN void add(u32 gain) {
        // With PLAIN, both numbers are equal.
        if (RULE != PLAIN) numerator += gain;
        triangles++;
    }
    RIPPLET_FN void add(const Sum& other) {
        numerator += other.numerator;
        triangles += other.triangles;
    }
    RIPPLET_FN u32 value() const { return RULE == PLAIN ? triangles : numerator; }
};

// Contributions of a triangle {v, u, w} to its corners, given the number of arcs of each edge.
struct Contributions {
    u32 v, u, w;

    RIPPLET_FN Contributions(u32 vu, u32 uw, u32 vw)
        : v(RULE == ARCS ? uw : vu * uw * vw), u(RULE == ARCS ? vw : v), w(RULE == ARCS ? vu : v) {}
};

// The number of arcs of an edge in a list; 1 if the rule does not use it.
RIPPLET_FN u32 arcs_of(const State& state, EdgeNumber edge) {
    return RULE == PLAIN ? 1 : 1 + (__ldg(state.reciprocal + edge / 32) >> (edge % 32) & 1);
}

// Adds to the counts of the vertex with this name.
RIPPLET_FN void add_to(const State& state, u32 name, u64 numerator, u64 triangles) {
    if (numerator == 0) return;
    const u32 vertex = vertex_of(state, name);
    atomicAdd(state.numerators + vertex, numerator);
    if (APART) atomicAdd(state.triangles + vertex, triangles);
}

}  // namespace ripplet
