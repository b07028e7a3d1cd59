// Distances by numbers of arcs from 64 sources at once: a multi-source breadth-first search (Then et al.,
// "The More the Merrier", VLDB 2014), with a bit of a mask for each source. At each step, every vertex reads the
// masks of its neighbours behind, and collects the sources that are new to it (pull).
//
//     a path 0–1–2–3, all four of them sources (bits from the right):
//
//     here      0001 0010 0100 1000
//     step 1    0010 0101 1010 0100    vertex 1 collects two at distance 1
//     step 2    0100 1000 0001 0010    and one at distance 2
//     step 3    1000 0000 0000 0001
//
// Mapping: a team per graph (`team.cuh`), 1 to 32 lanes per vertex (`lanes_of_vertex`). State: three masks of 8 bytes
// a vertex, then the counters of `Tally`, in shared memory if there is room.
#pragma once

namespace ripplet {

// By vertex: the sources that have reached it, those that reached it at the last step, and at this step.
struct Masks {
    u64 *seen, *here, *next;

    RIPPLET_FN Masks(Arena& arena, u32 n)
        : seen(arena.take<u64>(n)), here(arena.take<u64>(n)), next(arena.take<u64>(n)) {}
};

// Lanes per vertex: as many as give each lane at least 4 neighbours of an average list, or as there are
// threads for. 4 is not measured against other numbers.
RIPPLET_FN u32 lanes_of_vertex(u32 threads, u32 vertices, u32 arcs) {
    u32 lanes = 1;
    while (lanes < 32 && (4 * lanes * (u64)vertices <= arcs || 2 * lanes * (u64)vertices <= threads)) lanes *= 2;
    return lanes;
}

// The union of the masks of all lanes of a vertex.
RIPPLET_FN u64 any_of(u64 there, u32 lanes) {
    for (u32 other = lanes / 2; other > 0; other /= 2) there |= (u64)__shfl_xor_sync(ALL_LANES, there, other);
    return there;
}

// A list longer than this many neighbours a lane is read by the whole warp, so that the other lanes do not
// wait: three times the 4 of an average list, so that few lists are. Not measured against other numbers.
constexpr u32 LONG_FOR_A_LANE = 12;

// The union of the masks of the neighbours behind v, for each vertex of a warp. `is_incomplete` is false if all
// sources have reached v.
template <class Lists>
RIPPLET_FN u64 union_of_masks(const Lists& behind, const u64* here, u32 v, bool is_incomplete, u32 lanes) {
    const u32 rank = lane_id() & (lanes - 1);
    const u32 begin = is_incomplete ? behind.begin(v) : 0, end = is_incomplete ? behind.end(v) : 0;
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

// One step: finds the sources that newly reach each vertex, and calls `arrive(v, sources)`. Returns whether
// this thread found any.
template <class Team, class Lists, class Arrive>
RIPPLET_FN bool advance(const Team& team, const Lists& behind, const Masks& masks, u32 n, u64 all, u32 lanes,
                        Arrive arrive) {
    const u32 at_once = team.size() / lanes;
    bool found = false;
    for (u32 first = 0; first < n; first += at_once) {
        const u32 place = first + team.rank() / lanes;
        const u32 v = place < n ? behind.vertex(place) : n;
        const u64 seen = v < n ? masks.seen[v] : all;
        const u64 there = union_of_masks(behind, masks.here, v, seen != all, lanes) & ~seen;
        // The first lane of a vertex stores the result.
        if (v >= n || (team.rank() & (lanes - 1)) > 0) continue;
        masks.next[v] = there;
        if (there == 0) continue;
        masks.seen[v] = seen | there;
        arrive(v, there);
        found = true;
    }
    return found;
}

// Searches from a group of sources until no vertex is newly reached; calls `arrive(v, sources, distance)`.
template <class Team, class Lists, class Arrive>
RIPPLET_FN void search(const Team& team, const Lists& behind, Masks masks, u32 n, u32 group, u32 lanes,
                       Arrive arrive) {
    const u32 first = group * GROUP, count = min(GROUP, n - first);
    const u64 all = U64_MAX >> (GROUP - count);
    for (u32 v = team.rank(); v < n; v += team.size()) {
        const u64 own = v - first < count ? 1ull << (v - first) : 0;
        masks.seen[v] = own;
        masks.here[v] = own;
    }
    team.sync();
    for (u32 step = 1;; step++) {
        const auto at_step = [&](u32 v, u64 sources) { arrive(v, sources, step); };
        if (!team.any(advance(team, behind, masks, n, all, lanes, at_step))) return;
        u64* const last = masks.here;
        masks.here = masks.next;
        masks.next = last;
    }
}

// Initialises the distances from a group of sources.
template <class Team>
RIPPLET_FN void begin_rows(const State& state, const Team& team, const Member& graph, u32 group) {
    const u32 n = graph.vertices, first = group * GROUP, end = min(first + GROUP, n);
    for (u32 source = first; source < end; source++) {
        f64* const row = row_of(state, graph, source);
        for (u32 v = team.rank(); v < n; v += team.size()) row[v] = v == source ? 0.0 : unreachable();
    }
}

// Processes an item.
template <class Team, class Lists, class Sum>
RIPPLET_FN void count_arcs(const State& state, const Team& team, const Member& graph, const Item& item,
                           const Lists& behind, const Masks& masks, const Tally<Sum>& tally) {
    const u32 n = graph.vertices, lanes = lanes_of_vertex(team.size(), n, behind.begin(n));
    search_units(state, team, graph, item, tally, [&](u32 unit) {
        if (QUESTION == PAIRS) begin_rows(state, team, graph, unit);
        if (QUESTION == NEAR)
            for (u32 v = team.rank(); v < n; v += team.size()) tally.near[v] = 0.0;
        search(team, behind, masks, n, unit, lanes, [&](u32 v, u64 sources, u32 step) {
            if constexpr (QUESTION == PAIRS) {
                for (; sources != 0; sources &= sources - 1)
                    row_of(state, graph, unit * GROUP + __ffsll((long long)sources) - 1)[v] = (f64)step;
            } else {
                const u32 count = (u32)__popcll(sources);
                if constexpr (QUESTION == NEAR)
                    tally.near[v] += (f64)count / (f64)step;
                else
                    tally.add(v, count, (Sum)count * step, (Sum)step);
            }
        });
        if (QUESTION == NEAR)
            for (u32 v = team.rank(); v < n; v += team.size())
                add_sum(state, graph, item, unit, v, tally.near[v], &tally.near[v]);
    });
}

}  // namespace ripplet
