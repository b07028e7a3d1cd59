// Summary of the distances to each vertex, from all sources of a graph, unit after unit.
//
//     clear the counters
//     for each unit of the item:        a search from 64 or 8 sources adds to the counters
//     whole graph:   counters -> values of the graph
//     split graph:   counters -> atomic sums in global memory, which `add_up` (sums.cuh) turns into values
//
// Mapping: a thread per vertex, `team.size()` apart. The counters of a vertex are a part of the search's state, in
// shared memory if there is room:
//
//     NEAR         | near 8 bytes |                                   no counter for PAIRS
//     FAR          | far 4 or 8 | reached 4 |                         8 if sums may need them: weights, large graphs
//     SPAN         | far 4 or 8 | farthest 4 or 8 | reached 4 |
//
// SwarmGraph (Ji, Liu and Huang, 2020), section 3.4, sums up distances in a second launch.
#pragma once

namespace ripplet {

// Counters by vertex. `Sum` is the type of sums of distances.
template <class Sum> struct Tally {
    Sum *far, *farthest;
    // Sum of 1 / distance over the sources of a group.
    f64* near;
    u32* reached;

    RIPPLET_FN Tally(Arena& arena, u32 n) : far(nullptr), farthest(nullptr), near(nullptr), reached(nullptr) {
        if (QUESTION == NEAR) near = arena.take<f64>(n);
        if (QUESTION == FAR || QUESTION == SPAN) far = arena.take<Sum>(n);
        if (QUESTION == SPAN) farthest = arena.take<Sum>(n);
        if (QUESTION == FAR || QUESTION == SPAN) reached = arena.take<u32>(n);
    }

    RIPPLET_FN void clear(u32 v) const {
        if (QUESTION == FAR || QUESTION == SPAN) far[v] = 0;
        if (QUESTION == FAR || QUESTION == SPAN) reached[v] = 0;
        if (QUESTION == SPAN) farthest[v] = 0;
    }

    // Adds `count` sources: the sum of their distances, and their distance.
    RIPPLET_FN void add(u32 v, u32 count, Sum distances, Sum distance) const {
        reached[v] += count;
        far[v] += distances;
        if (QUESTION == SPAN) farthest[v] = max(farthest[v], distance);
    }

    RIPPLET_FN Reach reach(u32 v) const {
        return Reach{far[v], QUESTION == SPAN ? farthest[v] : 0, reached[v], 0};
    }
};

// Turns the counters of a whole graph into its values.
template <class Team, class Sum>
RIPPLET_FN void store_values(const State& state, const Team& team, const Member& graph, const Tally<Sum>& tally) {
    const u32 n = graph.vertices;
    for (u32 first = 0; first < n; first += team.size()) {
        const u32 v = first + team.rank();
        const Reach found = v < n ? tally.reach(v) : Reach{};
        if (QUESTION == SPAN) store_reach(state, graph, v, v < n, found);
        if (QUESTION == FAR && v < n) state.values[graph.values + v] = value_of_far(state, graph, found);
    }
}

// Adds the counters of some units to those of a split graph.
template <class Team, class Sum>
RIPPLET_FN void add_to_split(const State& state, const Team& team, const Split& split, u32 n, const Tally<Sum>& tally) {
    for (u32 v = team.rank(); v < n; v += team.size()) {
        const Reach found = tally.reach(v);
        if (found.reached == 0) continue;
        Reach* const sum = state.sums + split.sums + v;
        atomicAdd(&sum->far, found.far);
        atomicAdd(&sum->reached, found.reached);
        if (QUESTION == SPAN) atomicMax(&sum->farthest, found.farthest);
    }
}

// Calls `search(unit)` for all units of an item, and passes the counters on.
template <class Team, class Sum, class Search>
RIPPLET_FN void search_units(const State& state, const Team& team, const Member& graph, const Item& item,
                        const Tally<Sum>& tally, Search search) {
    for (u32 v = team.rank(); v < graph.vertices; v += team.size()) tally.clear(v);
    team.sync();
    for (u32 unit = item.first; unit < item.end; unit++) search(unit);
    if constexpr (QUESTION == FAR || QUESTION == SPAN) {
        team.sync();
        if (item.split != NO_SPLIT)
            add_to_split(state, team, state.splits[item.split], graph.vertices, tally);
        else
            store_values(state, team, graph, tally);
    }
}

// The distance of an unreachable vertex: infinity.
RIPPLET_FN f64 unreachable() { return (f64)from_bits(0x7f800000u); }

// The begin of the distances from a source.
RIPPLET_FN f64* row_of(const State& state, const Member& graph, u32 source) {
    return state.values + graph.values + (u64)(source - state.first_source) * graph.vertices;
}

}  // namespace ripplet
