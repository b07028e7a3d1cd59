// Coefficients from counts: the arcs between a vertex's neighbours, over the number of possible ones. A thread
// per vertex, no shared memory.
//
//     PLAIN, ARCS   arcs / (d (d - 1))               LDBC Graphalytics, "Local clustering coefficient"
//     CYCLES        arcs / (t (t - 1) - 2 r)         Fagiolo 2007: t the total degree, r the neighbours
//                                                    with arcs in both directions
#pragma once

namespace ripplet {

// A number of up to 66 bits, rounded once.
RIPPLET_FN double rounded(u64 high, u64 low) {
    if (high == 0) return (double)low;
    // The bits that are cut are below a double's precision, but may break a tie.
    const u64 kept = high << 62 | low >> 2;
    return (double)(kept | ((low & 3) != 0)) * 4.0;
}

// The number of ordered pairs that could close a triangle at a vertex of at least two neighbours, of which
// `reciprocal` have arcs in both directions.
RIPPLET_FN double pairs(u64 neighbors, u64 reciprocal) {
    if (RULE != CYCLES) return (double)(neighbors * (neighbors - 1));
    const u64 total = neighbors + reciprocal, less = 2 * reciprocal;
    const u64 low = total * (total - 1);
    const u64 high = __umul64hi(total, total - 1) - (low < less);
    return rounded(high, low - less);
}

// Replaces numerators by coefficients. `reciprocal` is used for CYCLES only.
RIPPLET_FN void divide(const State& state, const u32* reciprocal, u64 block) {
    const u64 v = block * BLOCK + threadIdx.x;
    if (v >= state.vertices) return;
    const u64 numerator = state.numerators[v];
    if (RULE == PLAIN && state.triangles) state.triangles[v] = numerator;
    // A numerator of 0 already has the bits of 0.0.
    if (numerator == 0) return;
    // An undirected triangle has one edge between neighbours, which is two arcs.
    const double arcs = (double)(RULE == PLAIN ? 2 * numerator : numerator);
    const u32 neighbors = state.is_simple ? place_of(state, (u32)v).out_degree : state.degrees[v];
    const double all = pairs(neighbors, RULE == CYCLES ? reciprocal[v] : 0);
    ((double*)state.numerators)[v] = arcs / all;
}

}  // namespace ripplet
