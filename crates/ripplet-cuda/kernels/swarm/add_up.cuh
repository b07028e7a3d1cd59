// What the units of split graphs found, added up in their order: eights of sources up to groups of 64, and the
// groups.
#pragma once

namespace ripplet {

// The sum that a wave leaves of a vertex.
RIPPLET_FN f64 add_partials(const State& state, const Split& split, u32 n, u32 v, f64 value) {
    const f64* partials = state.partials + split.partials + v;
    for (u32 unit = split.first; unit < split.end;) {
        const u32 end = min(split.end, unit + UNITS_OF_GROUP);
        f64 group = 0.0;
        for (; unit < end; unit++, partials += n) group += *partials;
        value += group;
    }
    return value;
}

RIPPLET_FN void add_up(const State& state, const Piece& piece) {
    const Split split = state.splits[piece.split];
    const Member graph = member(state, split.graph);
    const u32 n = graph.vertices;
    // All lanes of a warp stay together, some of them without a vertex.
    for (u32 at = threadIdx.x; at < PIECE; at += blockDim.x) {
        const u32 v = piece.first + at;
        const bool there = v < n;
        if constexpr (QUESTION == FAR || QUESTION == SPAN) {
            const Reach found = there ? state.sums[split.sums + v] : Reach{};
            if (QUESTION == SPAN) give_reach(state, graph, v, there, found);
            if (QUESTION == FAR && there) state.values[graph.at + v] = value_of_far(state, n, found);
        } else if (there) {
            f64* const value = state.values + graph.at + v;
            const f64 sum = add_partials(state, split, n, v, split.first == 0 ? 0.0 : *value);
            const f64 whole = QUESTION == NEAR ? value_of_near(state, n, sum) : sum * scale_of_ways(state, n);
            *value = split.is_last ? whole : sum;
        }
    }
}

}  // namespace ripplet
