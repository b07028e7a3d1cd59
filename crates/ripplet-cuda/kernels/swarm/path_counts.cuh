// Betweenness by Brandes' algorithm ("A faster algorithm for betweenness centrality", 2001, theorem 6), from 8
// sources at once: path counts σ forwards, dependencies δ backwards.
//
//     a square 0–1–3, 0–2–3, and 3–4; from source 0:
//
//     vertex               0    1    2    3    4
//     step                 0    1    1    2    3
//     σ, forward           1    1    1    2    2      sum of σ over the neighbours a step nearer
//     (1 + δ) / σ, backward     2    2    1   1/2     1 / σ + sum of these over the neighbours a step farther
//     δ                    0    1    1    1    0      σ · that sum
//
// The dependency of an arc from v to w, one step farther, is σ(v) · (1 + δ(w)) / σ(w).
//
// With weights, the step of a vertex is the one after the steps of all its predecessors on shortest paths;
// predecessors are found by lengths.
//
// No number is changed while other threads may read it. A bit per source marks the vertices of the last step,
// which are read, and of this step, which are written (`Marks`).
//
// Mapping: a team per graph (`team.cuh`), eight neighbouring lanes per vertex, one for each source, as in
// `lengths.cuh`; the eight numbers of a vertex are contiguous.
//
// Memory of a vertex (`Rows`), in shared memory if it fits, else in global memory with steps of 4 bytes:
//
//     | per_path 8 × 8 bytes | dependency 8 × 8 | sums 8 | lengths 8 × 8, with weights | steps 8 × 2 | marks 2 |
//
// Each of these is an array over all vertices. They are 154 bytes without weights. `sums` exists for betweenness of
// vertices alone.
#pragma once

namespace ripplet {

// State of a graph's vertices, in shared memory if there is room.
template <class Step> struct Rows {
    typedef typename PlaceOf<Step>::Type Place;

    // Path counts σ; after the backward step of a vertex, (1 + δ) / σ.
    f64* per_path;
    // Dependencies δ; for edges, the path counts σ.
    f64* dependency;
    // By vertex, the sum of δ over the sources of this group so far.
    f64* sums;
    Lengths lengths;
    Step* steps;
    Marks marks;
    // Numbers of each array: eight per vertex.
    Place count;

    // Step of a vertex that is not reached yet; and of a column without a source.
    static constexpr Step NOT_YET = (Step)~0, NEVER = NOT_YET - 1;

    RIPPLET_FN Rows(Arena& arena, u32 n)
        : sums(nullptr), lengths(), steps(nullptr), marks(), count((Place)n * EIGHT) {
        per_path = arena.take<f64>(count);
        dependency = arena.take<f64>(count);
        if (QUESTION == BETWEENNESS) sums = arena.take<f64>(n);
        // `per_path` is not used before paths are counted, so lengths share its memory.
        if (WEIGHS) lengths = Lengths{arena.take<u64>(count), (u64*)per_path};
    }
    // Allocated behind the arrays with larger alignment.
    RIPPLET_FN void take_steps(Arena& arena) { steps = arena.take<Step>(count); }
};

// Initialises the search: a source has step 0 and one path.
template <class Team, class Step>
RIPPLET_FN void begin_path_counts(const Team& team, const Rows<Step>& rows, u32 n, u32 first) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT;
    const bool is_there = first + source < n;
    for (Place at = team.rank(); at < rows.count; at += team.size()) {
        const bool is_source = is_there && at / EIGHT == first + source;
        rows.steps[at] = is_source ? 0 : is_there ? rows.NOT_YET : rows.NEVER;
        rows.per_path[at] = 1.0;
        rows.dependency[at] = QUESTION == EDGES ? 1.0 : 0.0;
    }
    team.sync();
}

// The first step, pushed from the sources, each neighbour with one path. Pulling would have all vertices read
// all neighbours.
template <class Team, class Lists, class Step>
RIPPLET_FN void step_ahead(const Team& team, const Lists& ahead, const Rows<Step>& rows, u32 n, u32 first) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT, v = first + source;
    if (v < n) {
        const u32 begin = ahead.begin(v), end = ahead.end(v);
        for (u32 place = begin + team.rank() / EIGHT; place < end; place += team.size() / EIGHT) {
            const u32 to = ahead.at(v, begin, place);
            if (to != v) rows.steps[(Place)to * EIGHT + source] = 1;
        }
    }
    team.sync();
}

// Counts the paths to all vertices behind the first step; returns the last step.
template <class Team, class Lists, class Step>
RIPPLET_FN u32 count_paths(const Team& team, const Lists& behind, Rows<Step>& rows, u32 n) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT, bit = 1u << source;
    const f64* const path_counts_of = rows.per_path + source;
    bool any =
        mark<Place>(team, behind, rows.marks, n, [&](u32, Place at) { return rows.steps[at] == 1; });
    for (u32 step = 2;; step++) {
        if (!team.any(any)) return step - 2;
        rows.marks.swap();
        any = mark<Place>(team, behind, rows.marks, n, [&](u32 v, Place at) {
            if (rows.steps[at] != rows.NOT_YET) return false;
            const u32 begin = behind.begin(v), end = behind.end(v);
            f64 path_counts = 0.0;
            for (u32 place = begin; place < end; place++) {
                const u32 from = behind.at(v, begin, place);
                if (rows.marks.here[from] & bit) path_counts += path_counts_of[(Place)from * EIGHT];
            }
            if (path_counts == 0.0) return false;
            rows.per_path[at] = path_counts;
            rows.steps[at] = (Step)step;
            return true;
        });
    }
}

// Counts paths by weights. A vertex whose paths are counted stays marked. Returns the last step.
template <class Team, class Lists, class Step>
RIPPLET_FN u32 count_weighted_paths(const Team& team, const Lists& behind, Rows<Step>& rows, u32 n) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT, bit = 1u << source;
    const f64* const path_counts_of = rows.per_path + source;
    const u64* const length_of = rows.lengths.length + source;
    bool any = true;
    mark<Place>(team, behind, rows.marks, n, [&](u32, Place at) { return rows.steps[at] == 0; });
    for (u32 step = 1;; step++) {
        if (!team.any(any)) return step - 2;
        rows.marks.swap();
        any = false;
        mark<Place>(team, behind, rows.marks, n, [&](u32 v, Place at) {
            if (rows.steps[at] != rows.NOT_YET) return rows.steps[at] < rows.NEVER;
            const u64 length = rows.lengths.length[at];
            if (length == Lengths::UNREACHED) return false;
            const u32 begin = behind.begin(v), end = behind.end(v);
            f64 path_counts = 0.0;
            for (u32 place = begin; place < end; place++) {
                const u32 from = behind.at(v, begin, place);
                if (from == v) continue;
                const u64 until = length_of[(Place)from * EIGHT];
                // Skips farther neighbours, and unreached ones, whose length is the largest number.
                if (until >= length || until + behind.weight(place, end) != length) continue;
                if (!(rows.marks.here[from] & bit)) return false;
                path_counts += path_counts_of[(Place)from * EIGHT];
            }
            rows.per_path[at] = path_counts;
            rows.steps[at] = (Step)step;
            any = true;
            return true;
        });
    }
}

// The backward pass: accumulates dependencies from the last step to the first. `is_next(v, to, place, end)`
// returns whether `to` is a successor of v on shortest paths. A source has no dependency of its own.
template <class Team, class Lists, class Step, class IsNext>
RIPPLET_FN void accumulate_dependencies(const Team& team, const Lists& ahead, Rows<Step>& rows, u32 n, u32 last, IsNext is_next) {
    typedef typename Rows<Step>::Place Place;
    const f64* const per_path_of = rows.per_path + team.rank() % EIGHT;
    for (u32 step = last; step > 0; step--) {
        mark<Place>(team, ahead, rows.marks, n, [&](u32 v, Place at) {
            if (rows.steps[at] != step) return false;
            const u32 begin = ahead.begin(v), end = ahead.end(v);
            f64 share = 0.0;
            // Vertices of the last step have no successors.
            for (u32 place = step < last ? end : begin; place-- > begin;) {
                const u32 to = ahead.at(v, begin, place);
                if (is_next(v, to, place, end)) share += per_path_of[(Place)to * EIGHT];
            }
            const f64 path_counts = rows.per_path[at];
            rows.per_path[at] = 1.0 / path_counts + share;
            rows.dependency[at] = QUESTION == EDGES ? path_counts : path_counts * share;
            return true;
        });
        team.sync();
        rows.marks.swap();
    }
}

// Adds the dependencies of each vertex over all eight sources.
template <class Team, class Step>
RIPPLET_FN void add_rows(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                         const Rows<Step>& rows) {
    typedef typename Rows<Step>::Place Place;
    for (Place first = 0; first < rows.count; first += team.size()) {
        const Place at = first + team.rank();
        const bool there = at < rows.count;
        const f64 sum = pairwise_sum(there ? rows.dependency[at] : 0.0);
        const u32 v = (u32)(at / EIGHT);
        if (there && team.rank() % EIGHT == 0) add_sum(state, graph, item, unit, v, sum, rows.sums + v);
    }
}

// Adds the dependencies of each arc over all eight sources.
template <class Team, class Lists, class Step, class IsNext>
RIPPLET_FN void add_arcs(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                         const Lists& ahead, const Rows<Step>& rows, IsNext is_next) {
    typedef typename Rows<Step>::Place Place;
    const u32 n = graph.vertices, source = team.rank() % EIGHT;
    for (u32 first = 0; first < n; first += team.size() / EIGHT) {
        const u32 v = first + team.rank() / EIGHT;
        const u32 begin = v < n ? ahead.begin(v) : 0, end = v < n ? ahead.end(v) : 0;
        const Place at = (Place)v * EIGHT + source;
        const bool is_reached = v < n && rows.steps[at] < rows.NEVER;
        const f64 path_counts = is_reached ? rows.dependency[at] : 0.0;
        // All lanes of a warp stay together for the shuffles.
        const u32 longest = warp_max(end - begin);
        for (u32 place = begin; place < begin + longest; place++) {
            f64 along = 0.0;
            if (place < end && is_reached) {
                const u32 to = ahead.at(v, begin, place);
                if (is_next(v, to, place, end)) along = path_counts * rows.per_path[(Place)to * EIGHT + source];
            }
            const f64 sum = pairwise_sum(along);
            if (place < end && source == 0)
                add_sum(state, graph, item, unit, place, sum, state.groups + graph.values + place);
        }
    }
    team.sync();
}

// Adds the dependencies from a unit's sources, with paths by numbers of arcs.
template <class Team, class Lists, class Step>
RIPPLET_FN void betweenness_by_arcs(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                             const Lists& behind, const Lists& ahead, Rows<Step>& rows) {
    typedef typename Rows<Step>::Place Place;
    const u32 n = graph.vertices, source = team.rank() % EIGHT, bit = 1u << source;
    begin_path_counts(team, rows, n, unit * EIGHT);
    step_ahead(team, ahead, rows, n, unit * EIGHT);
    const u32 last = count_paths(team, behind, rows, n);
    accumulate_dependencies(team, ahead, rows, n, last,
              [&](u32, u32 to, u32, u32) { return (rows.marks.here[to] & bit) != 0; });
    if constexpr (QUESTION == EDGES) {
        const Step* const step_of = rows.steps + source;
        add_arcs(state, team, graph, item, unit, ahead, rows, [&](u32 v, u32 to, u32, u32) {
            return step_of[(Place)to * EIGHT] == (u32)step_of[(Place)v * EIGHT] + 1;
        });
    } else {
        add_rows(state, team, graph, item, unit, rows);
    }
}

// Adds the dependencies from a unit's sources, with paths by weights.
template <class Team, class Lists, class Step>
RIPPLET_FN void betweenness_by_weight(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                               const Lists& behind, const Lists& ahead, Rows<Step>& rows) {
    typedef typename Rows<Step>::Place Place;
    const u32 n = graph.vertices;
    search_by_weight<Place>(team, behind, rows.lengths, rows.marks, n, unit);
    begin_path_counts(team, rows, n, unit * EIGHT);
    const u32 last = count_weighted_paths(team, behind, rows, n);
    const u64* const length_of = rows.lengths.length + team.rank() % EIGHT;
    const auto is_next = [&](u32 v, u32 to, u32 place, u32 end) {
        const u64 until = length_of[(Place)v * EIGHT];
        return to != v && until + ahead.weight(place, end) == length_of[(Place)to * EIGHT];
    };
    accumulate_dependencies(team, ahead, rows, n, last, is_next);
    if constexpr (QUESTION == EDGES)
        add_arcs(state, team, graph, item, unit, ahead, rows, is_next);
    else
        add_rows(state, team, graph, item, unit, rows);
}

// Processes an item.
template <class Team, class Lists, class Step>
RIPPLET_FN void betweenness(const State& state, const Team& team, const Member& graph, const Item& item,
                     const Lists& behind, const Lists& ahead, Rows<Step>& rows) {
    for (u32 unit = item.first; unit < item.end; unit++) {
        if constexpr (WEIGHS)
            betweenness_by_weight(state, team, graph, item, unit, behind, ahead, rows);
        else
            betweenness_by_arcs(state, team, graph, item, unit, behind, ahead, rows);
    }
}

}  // namespace ripplet
