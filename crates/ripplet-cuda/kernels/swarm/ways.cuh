// Shortest ways from 8 sources at once, and back what leads through each vertex. Eight neighbouring lanes have
// a vertex, one for each source; a number of a vertex is eight in a row.
//
//     a square 0–1–3, 0–2–3, and 3–4; from source 0:
//
//     vertex      0    1    2    3    4
//     step        0    1    1    2    3
//     ways        1    1    1    2    2      forward: the sum over neighbours a step nearer
//     passed           2    2    1   1/2     back: 1 / ways + the sum of passed over those a step farther
//     through     0    1    1    1    0      ways · that sum
//
// Along an arc that leads a step on leads what is passed by the vertex it comes to, ways times.
//
// By weights a vertex's step is the one after all that are before it on shortest ways have theirs: they are
// told by lengths.
//
// Nothing changes while others read it. Who is where at a step is said by a bit of each source: those of the step
// before are read and those of this one written.
#pragma once

namespace ripplet {

// What a team keeps of a graph's vertices.
template <class Step> struct Rows {
    typedef typename PlaceOf<Step>::Type Place;

    // Ways; behind the step on the way back, what is passed on.
    f64* passed;
    // What leads through, or the ways where arcs are asked of.
    f64* through;
    // Of each vertex, what leads through it from the sources of this group until now.
    f64* sums;
    Lengths lengths;
    Step* steps;
    Marks marks;
    // Numbers of a kind.
    Place count;

    // Nobody came yet, from a source that is there, and from one that is not.
    static constexpr Step NOT_YET = (Step)~0, NEVER = NOT_YET - 1;

    RIPPLET_FN Rows(Room& room, u32 n)
        : sums(nullptr), lengths(), steps(nullptr), marks(), count((Place)n * EIGHT) {
        passed = room.take<f64>(count);
        through = room.take<f64>(count);
        if (QUESTION == WAYS) sums = room.take<f64>(n);
        // Before ways are counted nothing is passed on.
        if (WEIGHS) lengths = Lengths{room.take<u64>(count), (u64*)passed};
    }
    // After what is aligned to more bytes.
    RIPPLET_FN void take_steps(Room& room) { steps = room.take<Step>(count); }
};

// Whoever is a source begins, with one way; the others wait.
template <class Team, class Step>
RIPPLET_FN void begin_ways(const Team& team, const Rows<Step>& rows, u32 n, u32 first) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT;
    const bool is_there = first + source < n;
    for (Place at = team.rank(); at < rows.count; at += team.size()) {
        const bool is_source = is_there && at / EIGHT == first + source;
        rows.steps[at] = is_source ? 0 : is_there ? rows.NOT_YET : rows.NEVER;
        rows.passed[at] = 1.0;
        rows.through[at] = QUESTION == EDGES ? 1.0 : 0.0;
    }
    team.sync();
}

// The first step, with one way to each, from the sources: others would ask all their neighbours in vain.
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

// Counts the ways to all behind the first step; returns the last one.
template <class Team, class Lists, class Step>
RIPPLET_FN u32 count_ways(const Team& team, const Lists& behind, Rows<Step>& rows, u32 n) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT, bit = 1u << source;
    const f64* const ways_of = rows.passed + source;
    bool any =
        mark<Place>(team, behind, rows.marks, n, [&](u32, Place at) { return rows.steps[at] == 1; });
    for (u32 step = 2;; step++) {
        if (!team.any(any)) return step - 2;
        rows.marks.turn();
        any = mark<Place>(team, behind, rows.marks, n, [&](u32 v, Place at) {
            if (rows.steps[at] != rows.NOT_YET) return false;
            const u32 begin = behind.begin(v), end = behind.end(v);
            f64 ways = 0.0;
            for (u32 place = begin; place < end; place++) {
                const u32 from = behind.at(v, begin, place);
                if (rows.marks.here[from] & bit) ways += ways_of[(Place)from * EIGHT];
            }
            if (ways == 0.0) return false;
            rows.passed[at] = ways;
            rows.steps[at] = (Step)step;
            return true;
        });
    }
}

// The same by weights, behind the sources: whose ways are counted is marked from then on.
template <class Team, class Lists, class Step>
RIPPLET_FN u32 count_weighed_ways(const Team& team, const Lists& behind, Rows<Step>& rows, u32 n) {
    typedef typename Rows<Step>::Place Place;
    const u32 source = team.rank() % EIGHT, bit = 1u << source;
    const f64* const ways_of = rows.passed + source;
    const u64* const length_of = rows.lengths.length + source;
    bool any = true;
    mark<Place>(team, behind, rows.marks, n, [&](u32, Place at) { return rows.steps[at] == 0; });
    for (u32 step = 1;; step++) {
        if (!team.any(any)) return step - 2;
        rows.marks.turn();
        any = false;
        mark<Place>(team, behind, rows.marks, n, [&](u32 v, Place at) {
            if (rows.steps[at] != rows.NOT_YET) return rows.steps[at] < rows.NEVER;
            const u64 length = rows.lengths.length[at];
            if (length == Lengths::UNREACHED) return false;
            const u32 begin = behind.begin(v), end = behind.end(v);
            f64 ways = 0.0;
            for (u32 place = begin; place < end; place++) {
                const u32 from = behind.at(v, begin, place);
                if (from == v) continue;
                const u64 until = length_of[(Place)from * EIGHT];
                // So is one that was not reached farther than any.
                if (until >= length || until + behind.weight(place, end) != length) continue;
                if (!(rows.marks.here[from] & bit)) return false;
                ways += ways_of[(Place)from * EIGHT];
            }
            rows.passed[at] = ways;
            rows.steps[at] = (Step)step;
            any = true;
            return true;
        });
    }
}

// Passes on what each vertex has, from the farthest back, to those before it: `is_next(v, to, place, end)` says
// which neighbours of a list pass on to it. Nothing leads through a source.
template <class Team, class Lists, class Step, class IsNext>
RIPPLET_FN void share_out(const Team& team, const Lists& ahead, Rows<Step>& rows, u32 n, u32 last, IsNext is_next) {
    typedef typename Rows<Step>::Place Place;
    const f64* const passed_by = rows.passed + team.rank() % EIGHT;
    for (u32 step = last; step > 0; step--) {
        mark<Place>(team, ahead, rows.marks, n, [&](u32 v, Place at) {
            if (rows.steps[at] != step) return false;
            const u32 begin = ahead.begin(v), end = ahead.end(v);
            f64 share = 0.0;
            // Nobody is behind the farthest.
            for (u32 place = step < last ? end : begin; place-- > begin;) {
                const u32 to = ahead.at(v, begin, place);
                if (is_next(v, to, place, end)) share += passed_by[(Place)to * EIGHT];
            }
            const f64 ways = rows.passed[at];
            rows.passed[at] = 1.0 / ways + share;
            rows.through[at] = QUESTION == EDGES ? ways : ways * share;
            return true;
        });
        team.sync();
        rows.marks.turn();
    }
}

// Adds what leads through each vertex from all eight sources.
template <class Team, class Step>
RIPPLET_FN void add_rows(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                         const Rows<Step>& rows) {
    typedef typename Rows<Step>::Place Place;
    for (Place first = 0; first < rows.count; first += team.size()) {
        const Place at = first + team.rank();
        const bool there = at < rows.count;
        const f64 sum = sum_of_eight(there ? rows.through[at] : 0.0);
        const u32 v = (u32)(at / EIGHT);
        if (there && team.rank() % EIGHT == 0) add_sum(state, graph, item, unit, v, sum, rows.sums + v);
    }
}

// Adds what leads along each arc, likewise.
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
        const f64 ways = is_reached ? rows.through[at] : 0.0;
        // All lanes of a warp stay together.
        const u32 longest = warp_max(end - begin);
        for (u32 place = begin; place < begin + longest; place++) {
            f64 along = 0.0;
            if (place < end && is_reached) {
                const u32 to = ahead.at(v, begin, place);
                if (is_next(v, to, place, end)) along = ways * rows.passed[(Place)to * EIGHT + source];
            }
            const f64 sum = sum_of_eight(along);
            if (place < end && source == 0)
                add_sum(state, graph, item, unit, place, sum, state.groups + graph.values + place);
        }
    }
    team.sync();
}

// What the shortest ways from a unit's sources lead through, by numbers of arcs.
template <class Team, class Lists, class Step>
RIPPLET_FN void lead_by_arcs(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                             const Lists& behind, const Lists& ahead, Rows<Step>& rows) {
    typedef typename Rows<Step>::Place Place;
    const u32 n = graph.vertices, source = team.rank() % EIGHT, bit = 1u << source;
    begin_ways(team, rows, n, unit * EIGHT);
    step_ahead(team, ahead, rows, n, unit * EIGHT);
    const u32 last = count_ways(team, behind, rows, n);
    share_out(team, ahead, rows, n, last,
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

// The same by weights.
template <class Team, class Lists, class Step>
RIPPLET_FN void lead_by_weight(const State& state, const Team& team, const Member& graph, const Item& item, u32 unit,
                               const Lists& behind, const Lists& ahead, Rows<Step>& rows) {
    typedef typename Rows<Step>::Place Place;
    const u32 n = graph.vertices;
    search_by_weight<Place>(team, behind, rows.lengths, rows.marks, n, unit);
    begin_ways(team, rows, n, unit * EIGHT);
    const u32 last = count_weighed_ways(team, behind, rows, n);
    const u64* const length_of = rows.lengths.length + team.rank() % EIGHT;
    const auto is_next = [&](u32 v, u32 to, u32 place, u32 end) {
        const u64 until = length_of[(Place)v * EIGHT];
        return to != v && until + ahead.weight(place, end) == length_of[(Place)to * EIGHT];
    };
    share_out(team, ahead, rows, n, last, is_next);
    if constexpr (QUESTION == EDGES)
        add_arcs(state, team, graph, item, unit, ahead, rows, is_next);
    else
        add_rows(state, team, graph, item, unit, rows);
}

// Does an item.
template <class Team, class Lists, class Step>
RIPPLET_FN void lead(const State& state, const Team& team, const Member& graph, const Item& item,
                     const Lists& behind, const Lists& ahead, Rows<Step>& rows) {
    for (u32 unit = item.first; unit < item.end; unit++) {
        if constexpr (WEIGHS)
            lead_by_weight(state, team, graph, item, unit, behind, ahead, rows);
        else
            lead_by_arcs(state, team, graph, item, unit, behind, ahead, rows);
    }
}

}  // namespace ripplet
