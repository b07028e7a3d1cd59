// What the distances to a vertex come to, from all sources of a graph, one unit of them after the other.
#pragma once

namespace ripplet {

// Of each vertex. `Sum` is what distances add up in.
template <class Sum> struct Tally {
    Sum *far, *farthest;
    // The sum of 1 / distance, of a group of sources.
    f64* near;
    u32* reached;

    RIPPLET_FN Tally(Room& room, u32 n) : far(nullptr), farthest(nullptr), near(nullptr), reached(nullptr) {
        if (QUESTION == NEAR) near = room.take<f64>(n);
        if (QUESTION == FAR || QUESTION == SPAN) far = room.take<Sum>(n);
        if (QUESTION == SPAN) farthest = room.take<Sum>(n);
        if (QUESTION == FAR || QUESTION == SPAN) reached = room.take<u32>(n);
    }

    RIPPLET_FN void clear(u32 v) const {
        if (QUESTION == FAR || QUESTION == SPAN) far[v] = 0;
        if (QUESTION == FAR || QUESTION == SPAN) reached[v] = 0;
        if (QUESTION == SPAN) farthest[v] = 0;
    }

    // So many more vertices, so far in sum, and the farthest of them.
    RIPPLET_FN void add(u32 v, u32 count, Sum distances, Sum distance) const {
        reached[v] += count;
        far[v] += distances;
        if (QUESTION == SPAN) farthest[v] = max(farthest[v], distance);
    }

    RIPPLET_FN Reach reach(u32 v) const {
        return Reach{far[v], QUESTION == SPAN ? farthest[v] : 0, reached[v], 0};
    }
};

// What was found from all sources of a graph, as its values.
template <class Team, class Sum>
RIPPLET_FN void conclude(const State& state, const Team& team, const Member& graph, const Tally<Sum>& tally) {
    const u32 n = graph.vertices;
    for (u32 first = 0; first < n; first += team.size()) {
        const u32 v = first + team.rank();
        const Reach found = v < n ? tally.reach(v) : Reach{};
        if (QUESTION == SPAN) give_reach(state, graph, v, v < n, found);
        if (QUESTION == FAR && v < n) state.values[graph.values + v] = value_of_far(state, graph, found);
    }
}

// The same, added to what others found of a split graph.
template <class Team, class Sum>
RIPPLET_FN void share(const State& state, const Team& team, const Split& split, u32 n, const Tally<Sum>& tally) {
    for (u32 v = team.rank(); v < n; v += team.size()) {
        const Reach found = tally.reach(v);
        if (found.reached == 0) continue;
        Reach* const sum = state.sums + split.sums + v;
        atomicAdd(&sum->far, found.far);
        atomicAdd(&sum->reached, found.reached);
        if (QUESTION == SPAN) atomicMax(&sum->farthest, found.farthest);
    }
}

// Measures the distances of all units of an item by `search(unit)`, and gives on what they come to.
template <class Team, class Sum, class Search>
RIPPLET_FN void measure(const State& state, const Team& team, const Member& graph, const Item& item,
                        const Tally<Sum>& tally, Search search) {
    for (u32 v = team.rank(); v < graph.vertices; v += team.size()) tally.clear(v);
    team.sync();
    for (u32 unit = item.first; unit < item.end; unit++) search(unit);
    if constexpr (QUESTION == FAR || QUESTION == SPAN) {
        team.sync();
        if (item.split != NO_SPLIT)
            share(state, team, state.splits[item.split], graph.vertices, tally);
        else
            conclude(state, team, graph, tally);
    }
}

// The distance where there is no way: infinity.
RIPPLET_FN f64 no_way() { return (f64)from_bits(0x7f800000u); }

// Where the distances from a source begin.
RIPPLET_FN f64* row_of(const State& state, const Member& graph, u32 source) {
    return state.values + graph.values + (u64)(source - state.first_source) * graph.vertices;
}

}  // namespace ripplet
