// Neighbour lists of a graph, in shared memory or in global memory. Of repeated neighbours, all
// but one are replaced by the owner itself: a loop changes no search.
//
//     offsets   0     3  4
//     ids       1  1  2  0  …    as copied: 1 0 2 | 0 | …
//     weights   5  3  4  5       as copied: 3 . 4 | 5      the least of those that are repeated
//
// Mapping: eight lanes copy a list (`LANES_OF_LIST`); a thread per vertex, `team.size()` apart, orders the vertices.
// Shared memory: 4 bytes for each offset, 2 for each neighbour and for the order of each vertex, 4 for each weight;
// `kernels.cuh` has their sequence. SwarmGraph (Ji, Liu and Huang, 2020), section 3.1, leaves lists in global memory.
#pragma once

namespace ripplet {

// Lists in shared memory: 2 bytes a neighbour, and 4 a weight if arcs have weights. `order` has the vertices
// by descending degree, or is null: lanes of a warp then have lists of equal length.
struct SharedLists {
    const u32 *offsets, *weights;
    const u16 *ids, *order;

    RIPPLET_FN u32 vertex(u32 place) const { return order ? order[place] : place; }
    RIPPLET_FN u32 begin(u32 v) const { return offsets[v]; }
    RIPPLET_FN u32 end(u32 v) const { return offsets[v + 1]; }
    RIPPLET_FN u32 at(u32, u32, u32 place) const { return ids[place]; }
    RIPPLET_FN u32 any_at(u32 place) const { return ids[place]; }
    RIPPLET_FN u32 weight(u32 place, u32) const { return weights[place]; }
};

// Lanes that copy one list. Not measured against other numbers.
constexpr u32 LANES_OF_LIST = 8;

struct GlobalLists {
    const u32 *offsets, *ids, *weights;

    RIPPLET_FN u32 vertex(u32 place) const { return place; }
    RIPPLET_FN u32 begin(u32 v) const { return __ldg(offsets + v); }
    RIPPLET_FN u32 end(u32 v) const { return __ldg(offsets + v + 1); }
    // The neighbour at `place` of v, whose list begins at `begin`; v itself for a repeated one.
    RIPPLET_FN u32 at(u32 v, u32 begin, u32 place) const {
        const u32 id = __ldg(ids + place);
        return place > begin && __ldg(ids + place - 1) == id ? v : id;
    }
    // The neighbour at `place`, even if repeated.
    RIPPLET_FN u32 any_at(u32 place) const { return __ldg(ids + place); }
    // The least weight among an arc and the repeated ones behind it, in a list that ends at `end`.
    RIPPLET_FN u32 weight(u32 place, u32 end) const {
        const u32 id = __ldg(ids + place);
        u32 least = __ldg(weights + place);
        while (++place < end && __ldg(ids + place) == id) least = min(least, __ldg(weights + place));
        return least;
    }
};

// The lists of a graph, in global memory.
RIPPLET_FN GlobalLists read(const GraphLists& lists, const Member& graph) {
    const u64 first = __ldg(lists.starts + graph.index) - lists.first;
    return GlobalLists{lists.offsets + graph.at + graph.index, lists.ids + first,
                WEIGHS ? lists.weights + first : nullptr};
}

// Allocates room for a graph's lists and copies the offsets. Arrays of 4 bytes come before those of 2, for
// alignment.
template <class Team> RIPPLET_FN u32* copy_offsets(const Team& team, const GlobalLists& lists, u32 n, Arena& arena) {
    u32* const offsets = arena.take<u32>(n + 1);
    for (u32 v = team.rank(); v <= n; v += team.size()) offsets[v] = lists.begin(v);
    return offsets;
}
RIPPLET_FN u32* allocate_weights(const GlobalLists& lists, u32 n, Arena& arena) {
    return arena.take<u32>(WEIGHS ? lists.begin(n) : 0);
}
// Copies neighbours and weights.
template <class Team>
RIPPLET_FN SharedLists copy_ids(const Team& team, const GlobalLists& lists, const u32* offsets, u32* weights, u32 n, Arena& arena) {
    team.sync();
    u16* const ids = arena.take<u16>(offsets[n]);
    for (u32 v = team.rank() / LANES_OF_LIST; v < n; v += team.size() / LANES_OF_LIST) {
        const u32 begin = offsets[v], end = offsets[v + 1];
        for (u32 place = begin + team.rank() % LANES_OF_LIST; place < end; place += LANES_OF_LIST) {
            ids[place] = (u16)lists.at(v, begin, place);
            if (WEIGHS) weights[place] = lists.weight(place, end);
        }
    }
    return SharedLists{offsets, weights, ids, nullptr};
}

// --- Vertices in the order of their degrees, by bins: for block teams, whose warps wait for one another ---

// Bins of degrees: one for each up to 15, then 4 for each power of two.
constexpr u32 BINS = 64;

RIPPLET_FN u32 bin_of(u32 degree) {
    const u32 highest = 31 - leading_zeros(degree | 1);
    return highest < 4 ? degree : min(4 * highest + (degree >> (highest - 2) & 3), BINS - 1);
}

// Orders the vertices by bins, from the longest lists on. `counts` has room for two numbers a bin.
template <class Team>
RIPPLET_FN const u16* order_by_degree(const Team& team, const u32* offsets, u32 n, u32* counts, Arena& arena) {
    u16* const order = arena.take<u16>(n);
    u32* const begins = counts + BINS;
    for (u32 bin = team.rank(); bin < BINS; bin += team.size()) counts[bin] = 0;
    team.sync();
    for (u32 v = team.rank(); v < n; v += team.size())
        atomicAdd(counts + bin_of(offsets[v + 1] - offsets[v]), 1u);
    team.sync();
    for (u32 bin = team.rank(); bin < BINS; bin += team.size()) {
        u32 before = 0;
        for (u32 longer = bin + 1; longer < BINS; longer++) before += counts[longer];
        begins[bin] = before;
    }
    team.sync();
    // The order within a bin varies, and changes no result.
    for (u32 v = team.rank(); v < n; v += team.size())
        order[atomicAdd(begins + bin_of(offsets[v + 1] - offsets[v]), 1u)] = (u16)v;
    team.sync();
    return order;
}

}  // namespace ripplet
