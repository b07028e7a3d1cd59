// Weighted distances from 8 sources at once. At each step, every vertex reads the neighbours behind whose lengths
// shrank at the last step, until no length shrinks. Lengths are integers, so the order of reads does not change the
// result.
//
//     0 –1– 1 –1– 2, and 0 –5– 2; from source 0:
//
//     step     0   1   2
//     lengths  0   .   .
//              0   1   5     1 and 2 shrink
//              0   1   2     2 shrinks once more
//
// Mapping: a team per graph (`team.cuh`), eight neighbouring lanes per vertex, one for each source:
//
//     lane        | 0 1 2 3 4 5 6 7 | 8 9 ... 15 | ...
//     vertex      |        0        |      1     | ...
//     source      | 0 1 2 3 4 5 6 7 | 0 1 ...  7 | ...      eight ids of a unit
//
// Memory of a vertex, in shared memory if it fits, else in global memory; each is an array over all vertices:
//
//     | length 8 × 8 bytes | nearer 8 × 8 | counters (`Tally`) | lists | marks: here 1, next 1 |
//
// Bellman, On a routing problem (Quarterly of Applied Mathematics 16, 1958). A path of k arcs has its length after k
// steps; in small graphs, shortest paths have few arcs.
#pragma once

namespace ripplet {

// Index type of the numbers of a graph, eight per vertex. `Distance` is the type of steps.
template <class Distance> struct PlaceOf {
    typedef u64 Type;
};
template <> struct PlaceOf<u16> {
    typedef u32 Type;
};

// By vertex, a bit for each source: those marked at the last step (`here`) and at this step (`next`).
struct Marks {
    u8 *here, *next;

    static RIPPLET_FN Marks of(Arena& arena, u32 n) {
        u8* const here = arena.take<u8>(n);
        return Marks{here, arena.take<u8>(n)};
    }
    RIPPLET_FN void swap() {
        u8* const last = here;
        here = next;
        next = last;
    }
};

// By vertex and source: the length so far, and the length after this step.
struct Lengths {
    u64 *length, *nearer;

    static RIPPLET_FN Lengths of(Arena& arena, u32 n) {
        u64* const length = arena.take<u64>((u64)n * EIGHT);
        return Lengths{length, arena.take<u64>((u64)n * EIGHT)};
    }

    // The length of a vertex that was not reached.
    static constexpr u64 UNREACHED = U64_MAX;
};

// Calls `is_so(v, at)` for every number, and marks the sources for which it returns true, for the next step.
// Returns whether it was true for any number of this thread.
template <class Place, class Team, class Lists, class IsSo>
RIPPLET_FN bool mark(const Team& team, const Lists& lists, const Marks& marks, u32 n, IsSo is_so) {
    const Place count = (Place)n * EIGHT;
    const u32 source = team.rank() % EIGHT;
    bool any = false;
    for (Place first = 0; first < count; first += team.size()) {
        const Place place = first + team.rank();
        const u32 v = place < count ? lists.vertex((u32)(place / EIGHT)) : 0;
        const bool found = place < count && is_so(v, (Place)v * EIGHT + source);
        const u32 of_warp = __ballot_sync(ALL_LANES, found);
        if (place < count && source == 0) marks.next[v] = (u8)(of_warp >> (lane_id() & ~(EIGHT - 1)));
        any |= found;
    }
    return any;
}

// Computes the lengths from a unit's sources to all vertices.
template <class Place, class Team, class Lists>
RIPPLET_FN void search_by_weight(const Team& team, const Lists& behind, const Lengths& lengths, Marks marks, u32 n,
                                 u32 unit) {
    const u32 source = team.rank() % EIGHT, bit = 1u << source, from_vertex = unit * EIGHT + source;
    const Place count = (Place)n * EIGHT;
    const auto begins = [&](u32 v, Place at) {
        lengths.length[at] = v == from_vertex ? 0 : Lengths::UNREACHED;
        return v == from_vertex;
    };
    mark<Place>(team, behind, marks, n, begins);
    for (;;) {
        team.sync();
        marks.swap();
        const bool any = mark<Place>(team, behind, marks, n, [&](u32 v, Place at) {
            const u64 until_now = lengths.length[at];
            const u32 begin = behind.begin(v), end = behind.end(v);
            u64 least = until_now;
            for (u32 place = begin; place < end; place++) {
                const u32 from = behind.any_at(place);
                if (marks.here[from] & bit)
                    least = min(least, lengths.length[(Place)from * EIGHT + source] + behind.weight(place, place));
            }
            if (least < until_now) lengths.nearer[at] = least;
            return least < until_now;
        });
        if (!team.any(any)) return;
        for (Place at = team.rank(); at < count; at += team.size())
            if (marks.next[at / EIGHT] & bit) lengths.length[at] = lengths.nearer[at];
    }
}

// Adds the distances from a unit's sources to each vertex's values.
template <class Place, class Team, class Sum>
RIPPLET_FN void collect(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                        const Lengths& lengths, const Tally<Sum>& tally) {
    const u32 n = graph.vertices, source = unit * EIGHT + team.rank() % EIGHT;
    const Place count = (Place)n * EIGHT;
    for (Place first = 0; first < count; first += team.size()) {
        const Place at = first + team.rank();
        const u32 v = (u32)(at / EIGHT);
        const u64 length = at < count ? lengths.length[at] : Lengths::UNREACHED;
        const bool is_other = length != Lengths::UNREACHED && v != source;
        const bool is_first = at < count && team.rank() % EIGHT == 0;
        if constexpr (QUESTION == PAIRS) {
            const f64 distance = length == Lengths::UNREACHED ? unreachable() : (f64)length * graph.unit;
            if (at < count && source < n) row_of(state, graph, source)[v] = distance;
        } else if constexpr (QUESTION == NEAR) {
            const f64 sum = pairwise_sum(is_other && length > 0 ? 1.0 / (f64)length : 0.0);
            if (is_first) add_sum(state, graph, item, unit, v, sum, tally.near + v);
        } else {
            const u64 far = pairwise_sum(is_other ? length : 0);
            const u64 farthest = QUESTION == SPAN ? pairwise_max(is_other ? length : 0) : 0;
            const u32 others = __ballot_sync(ALL_LANES, is_other) >> (lane_id() & ~(EIGHT - 1)) & 0xff;
            if (is_first) tally.add(v, (u32)__popc(others), far, farthest);
        }
    }
    team.sync();
}

// Processes an item.
template <class Distance, class Team, class Lists>
RIPPLET_FN void add_weights(const State& state, const Team& team, const Member& graph, const Item& item,
                            const Lists& behind, const Lengths& lengths, const Marks& marks,
                            const Tally<u64>& tally) {
    typedef typename PlaceOf<Distance>::Type Place;
    search_units(state, team, graph, item, tally, [&](u32 unit) {
        search_by_weight<Place>(team, behind, lengths, marks, graph.vertices, unit);
        collect<Place>(state, team, graph, item, unit, lengths, tally);
    });
}

}  // namespace ripplet
