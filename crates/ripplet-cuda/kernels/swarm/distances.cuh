// Distances from 64 sources at once: a bit of a mask for each. At each step every vertex asks its neighbours
// behind which sources are there, and collects those that are new to it.
//
//     a path 0–1–2–3, all four of them sources (bits from the right):
//
//     here      0001 0010 0100 1000
//     step 1    0010 0101 1010 0100    vertex 1 collects two at distance 1
//     step 2    0100 1000 0001 0010    and one at distance 2
//     step 3    1000 0000 0000 0001
#pragma once

namespace ripplet {

// What a team keeps of a graph's vertices. `Sum` is what distances add up in.
template <class Sum> struct Tally {
    // The sources that were ever at a vertex, that are there, and that come next.
    u64 *seen, *here, *next;
    f64* near;
    Sum* far;
    u32 *reached, *farthest;

    RIPPLET_FN Tally(Room& room, u32 n) : near(nullptr), far(nullptr), reached(nullptr), farthest(nullptr) {
        seen = room.take<u64>(n);
        here = room.take<u64>(n);
        next = room.take<u64>(n);
        if (QUESTION == NEAR) near = room.take<f64>(n);
        if (QUESTION != NEAR) far = room.take<Sum>(n);
        if (QUESTION != NEAR) reached = room.take<u32>(n);
        if (QUESTION == SPAN) farthest = room.take<u32>(n);
    }

    RIPPLET_FN void clear(u32 v) const {
        if (QUESTION != NEAR) far[v] = 0;
        if (QUESTION != NEAR) reached[v] = 0;
        if (QUESTION == SPAN) farthest[v] = 0;
    }

    RIPPLET_FN Reach reach(u32 v) const {
        return Reach{far[v], reached[v], QUESTION == SPAN ? farthest[v] : 0};
    }

    // So many sources arrive at a vertex.
    RIPPLET_FN void add(u32 v, u32 count, u32 step) const {
        if (QUESTION == NEAR) {
            near[v] += (f64)count / (f64)step;
        } else {
            reached[v] += count;
            far[v] += (Sum)count * step;
            if (QUESTION == SPAN) farthest[v] = max(farthest[v], step);
        }
    }
};

// Lanes that ask for a vertex: each has some neighbours of an average list, or there are lanes enough.
RIPPLET_FN u32 lanes_of_vertex(u32 threads, u32 vertices, u32 arcs) {
    u32 lanes = 1;
    while (lanes < 32 && (4 * lanes * (u64)vertices <= arcs || 2 * lanes * (u64)vertices <= threads)) lanes *= 2;
    return lanes;
}

// Who is at any of the neighbours behind, of all the lanes that ask for a vertex together.
RIPPLET_FN u64 any_of(u64 there, u32 lanes) {
    for (u32 other = lanes / 2; other > 0; other /= 2) there |= (u64)__shfl_xor_sync(ALL_LANES, there, other);
    return there;
}

// A list so many times as long as lanes ask for it is asked for by the whole warp, or it would wait.
constexpr u32 LONG_FOR_A_LANE = 12;

// Who is at the neighbours behind v, for each vertex of a warp; `asks` where that may be anybody new.
template <class Lists>
RIPPLET_FN u64 look_behind(const Lists& behind, const u64* here, u32 v, bool asks, u32 lanes) {
    const u32 rank = lane_id() & (lanes - 1);
    const u32 begin = asks ? behind.begin(v) : 0, end = asks ? behind.end(v) : 0;
    const bool is_long = end - begin > LONG_FOR_A_LANE * lanes;
    u64 there = 0;
    if (!is_long)
        for (u32 place = begin + rank; place < end; place += lanes) there |= here[behind.any_at(place)];
    there = any_of(there, lanes);
    for (u32 left = __ballot_sync(ALL_LANES, is_long && rank == 0); left != 0; left &= left - 1) {
        const u32 lane = __ffs(left) - 1;
        const u32 from = __shfl_sync(ALL_LANES, begin, lane), to = __shfl_sync(ALL_LANES, end, lane);
        u64 found = 0;
        for (u32 place = from + lane_id(); place < to; place += 32) found |= here[behind.any_at(place)];
        found = any_of(found, 32);
        if (lane == lane_id()) there = found;
    }
    return there;
}

// One step: who is new where. Returns whether this thread found any.
template <class Team, class Lists, class Sum>
RIPPLET_FN bool advance(const Team& team, const Lists& behind, const Tally<Sum>& tally, u32 n, u64 all,
                        u32 lanes, const u64* here, u64* next, u32 step) {
    const u32 at_once = team.size() / lanes;
    bool found = false;
    for (u32 first = 0; first < n; first += at_once) {
        const u32 place = first + team.rank() / lanes;
        const u32 v = place < n ? behind.vertex(place) : n;
        const u64 seen = v < n ? tally.seen[v] : all;
        const u64 there = look_behind(behind, here, v, seen != all, lanes) & ~seen;
        // The first of a vertex's lanes knows of all.
        if (v >= n || (team.rank() & (lanes - 1)) > 0) continue;
        next[v] = there;
        if (there == 0) continue;
        tally.seen[v] = seen | there;
        tally.add(v, (u32)__popcll(there), step);
        found = true;
    }
    return found;
}

// Searches from a group of sources until nobody arrives anywhere.
template <class Team, class Lists, class Sum>
RIPPLET_FN void search(const Team& team, const Lists& behind, const Tally<Sum>& tally, u32 n, u32 group,
                       u32 lanes) {
    const u32 first = group * GROUP, count = min(GROUP, n - first);
    const u64 all = U64_MAX >> (GROUP - count);
    for (u32 v = team.rank(); v < n; v += team.size()) {
        const u64 own = v - first < count ? 1ull << (v - first) : 0;
        tally.seen[v] = own;
        tally.here[v] = own;
        if (QUESTION == NEAR) tally.near[v] = 0.0;
    }
    team.sync();
    u64 *here = tally.here, *next = tally.next;
    for (u32 step = 1; team.any(advance(team, behind, tally, n, all, lanes, here, next, step)); step++) {
        u64* const last = here;
        here = next;
        next = last;
    }
}

// What was found from all sources of a graph, as its values.
template <class Team, class Sum>
RIPPLET_FN void conclude(const State& state, const Team& team, const Member& graph, const Tally<Sum>& tally) {
    const u32 n = graph.vertices;
    for (u32 first = 0; first < n; first += team.size()) {
        const u32 v = first + team.rank();
        const Reach found = v < n ? tally.reach(v) : Reach{};
        if (QUESTION == SPAN) give_reach(state, graph, v, v < n, found);
        if (QUESTION == FAR && v < n) state.values[graph.at + v] = value_of_far(state, n, found);
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

// Sums of 1 / distance, group by group.
template <class Team, class Sum>
RIPPLET_FN void hand_over(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                          const Tally<Sum>& tally) {
    const u32 n = graph.vertices;
    f64* const values = state.values + graph.at;
    const bool is_last = unit + 1 == item.end;
    for (u32 v = team.rank(); v < n; v += team.size()) {
        const f64 sum = (unit == 0 ? 0.0 : values[v]) + tally.near[v];
        values[v] = is_last ? value_of_near(state, n, sum) : sum;
    }
}

// Does an item.
template <class Team, class Lists, class Sum>
RIPPLET_FN void measure(const State& state, const Team& team, const Member& graph, const Item& item,
                        const Lists& behind, const Tally<Sum>& tally) {
    const u32 n = graph.vertices;
    const bool is_split = item.split != NO_SPLIT;
    for (u32 v = team.rank(); v < n; v += team.size()) tally.clear(v);
    const u32 lanes = lanes_of_vertex(team.size(), n, behind.begin(n));
    for (u32 unit = item.first; unit < item.end; unit++) {
        search(team, behind, tally, n, unit, lanes);
        if constexpr (QUESTION == NEAR) {
            if (is_split) {
                const Split split = state.splits[item.split];
                f64* const partials = state.partials + split.partials + (u64)(unit - split.first) * n;
                for (u32 v = team.rank(); v < n; v += team.size()) partials[v] = tally.near[v];
            } else {
                hand_over(state, team, graph, item, unit, tally);
            }
        }
    }
    if constexpr (QUESTION != NEAR) {
        if (is_split)
            share(state, team, state.splits[item.split], n, tally);
        else
            conclude(state, team, graph, tally);
    }
}

}  // namespace ripplet
