// Shortest ways from 8 sources at once, and back what leads through each vertex. Eight neighbouring lanes have
// a vertex, one for each source; a number of a vertex is eight in a row.
//
//     a square 0–1–3, 0–2–3, and 3–4; from source 0:
//
//     vertex      0    1    2    3    4
//     distance    0    1    1    2    3
//     ways        1    1    1    2    2      forward: the sum over neighbours a step nearer
//     passed           2    2    1   1/2     back: 1 / ways + the sum of passed over those a step farther
//     through     0    1    1    1    0      ways · that sum
//
// Nothing changes while others read it. Who is where at a step is said by a bit of each source: those of the step
// before are read and those of this one written.
#pragma once

namespace ripplet {

// Where a number is: its vertex, eight times, and its source.
template <class Distance> struct PlaceOf {
    typedef u64 Type;
};
template <> struct PlaceOf<u16> {
    typedef u32 Type;
};

// What a team keeps of a graph's vertices.
template <class Distance> struct Rows {
    typedef typename PlaceOf<Distance>::Type Place;

    // Ways; behind the step on the way back, what is passed on.
    f64* passed;
    f64* through;
    // Of each vertex, what leads through it from the sources of this group until now.
    f64* sums;
    Distance* distances;
    // The sources that are at a vertex at one step, and at the next one.
    u8 *here, *next;
    // Numbers of a kind.
    Place count;

    // Nobody came yet, from a source that is there, and from one that is not.
    static constexpr Distance NOT_YET = (Distance)~0, NEVER = NOT_YET - 1;

    RIPPLET_FN Rows(Room& room, u32 n)
        : distances(nullptr), here(nullptr), next(nullptr), count((Place)n * EIGHT) {
        passed = room.take<f64>(count);
        through = room.take<f64>(count);
        sums = room.take<f64>(n);
    }
    // After what is aligned to more bytes.
    RIPPLET_FN void take_distances(Room& room) { distances = room.take<Distance>(count); }
    RIPPLET_FN void take_marks(Room& room) {
        here = room.take<u8>(count / EIGHT);
        next = room.take<u8>(count / EIGHT);
    }

    RIPPLET_FN void turn() {
        u8* const last = here;
        here = next;
        next = last;
    }
};

// Whoever is a source begins, with one way; the others wait.
template <class Team, class Distance>
RIPPLET_FN void begin_ways(const Team& team, const Rows<Distance>& rows, u32 n, u32 first) {
    typedef typename Rows<Distance>::Place Place;
    const u32 source = team.rank() % EIGHT;
    const bool is_there = first + source < n;
    for (Place at = team.rank(); at < rows.count; at += team.size()) {
        const bool is_source = is_there && at / EIGHT == first + source;
        rows.distances[at] = is_source ? 0 : is_there ? rows.NOT_YET : rows.NEVER;
        rows.passed[at] = 1.0;
        rows.through[at] = 0.0;
    }
    team.sync();
}

// The first step, with one way to each, from the sources: others would ask all their neighbours in vain.
template <class Team, class Lists, class Distance>
RIPPLET_FN void step_ahead(const Team& team, const Lists& ahead, const Rows<Distance>& rows, u32 n, u32 first) {
    typedef typename Rows<Distance>::Place Place;
    const u32 source = team.rank() % EIGHT, v = first + source;
    if (v < n) {
        const u32 begin = ahead.begin(v), end = ahead.end(v);
        for (u32 place = begin + team.rank() / EIGHT; place < end; place += team.size() / EIGHT) {
            const u32 to = ahead.at(v, begin, place);
            if (to != v) rows.distances[(Place)to * EIGHT + source] = 1;
        }
    }
    team.sync();
}

// Asks every number of a vertex whether `is_there(v, at)`, and marks the sources for which it is as those of the
// next step. Returns whether it was for any of this thread's.
template <class Team, class Lists, class Distance, class IsThere>
RIPPLET_FN bool mark(const Team& team, const Lists& lists, const Rows<Distance>& rows, IsThere is_there) {
    typedef typename Rows<Distance>::Place Place;
    const u32 source = team.rank() % EIGHT;
    bool any = false;
    for (Place first = 0; first < rows.count; first += team.size()) {
        const Place place = first + team.rank();
        const u32 v = place < rows.count ? lists.vertex((u32)(place / EIGHT)) : 0;
        const bool found = place < rows.count && is_there(v, (Place)v * EIGHT + source);
        const u32 of_warp = __ballot_sync(ALL_LANES, found);
        if (place < rows.count && source == 0) rows.next[v] = (u8)(of_warp >> (lane_id() & ~(EIGHT - 1)));
        any |= found;
    }
    return any;
}

// Counts the ways to all behind the first step; returns the distance of the farthest.
template <class Team, class Lists, class Distance>
RIPPLET_FN u32 count_ways(const Team& team, const Lists& behind, Rows<Distance>& rows) {
    typedef typename Rows<Distance>::Place Place;
    const u32 source = team.rank() % EIGHT, bit = 1u << source;
    const f64* const ways_of = rows.passed + source;
    bool any = mark(team, behind, rows, [&](u32, Place at) { return rows.distances[at] == 1; });
    for (u32 step = 2;; step++) {
        if (!team.any(any)) return step - 2;
        rows.turn();
        any = mark(team, behind, rows, [&](u32 v, Place at) {
            if (rows.distances[at] != rows.NOT_YET) return false;
            const u32 begin = behind.begin(v), end = behind.end(v);
            f64 ways = 0.0;
            for (u32 place = begin; place < end; place++) {
                const u32 from = behind.at(v, begin, place);
                if (rows.here[from] & bit) ways += ways_of[(Place)from * EIGHT];
            }
            if (ways == 0.0) return false;
            rows.passed[at] = ways;
            rows.distances[at] = (Distance)step;
            return true;
        });
    }
}

// Passes on what each vertex has, from the farthest back; nothing leads through a source.
template <class Team, class Lists, class Distance>
RIPPLET_FN void share_out(const Team& team, const Lists& ahead, Rows<Distance>& rows, u32 farthest) {
    typedef typename Rows<Distance>::Place Place;
    const u32 source = team.rank() % EIGHT, bit = 1u << source;
    const f64* const passed_by = rows.passed + source;
    for (u32 step = farthest; step > 0; step--) {
        mark(team, ahead, rows, [&](u32 v, Place at) {
            if (rows.distances[at] != step) return false;
            const u32 begin = ahead.begin(v);
            f64 share = 0.0;
            // Nobody is behind the farthest.
            for (u32 place = step < farthest ? ahead.end(v) : begin; place-- > begin;) {
                const u32 from = ahead.at(v, begin, place);
                if (rows.here[from] & bit) share += passed_by[(Place)from * EIGHT];
            }
            const f64 ways = rows.passed[at];
            rows.passed[at] = 1.0 / ways + share;
            rows.through[at] = ways * share;
            return true;
        });
        team.sync();
        rows.turn();
    }
}

// What leads through each vertex from all eight sources, summed up pairwise; `take(v, sum)` is asked by one
// lane of the eight.
template <class Team, class Distance, class Take>
RIPPLET_FN void add_rows(const Team& team, const Rows<Distance>& rows, Take take) {
    typedef typename Rows<Distance>::Place Place;
    for (Place first = 0; first < rows.count; first += team.size()) {
        const Place at = first + team.rank();
        const bool there = at < rows.count;
        f64 sum = there ? rows.through[at] : 0.0;
        for (u32 other = 1; other < EIGHT; other *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, other);
        if (there && team.rank() % EIGHT == 0) take((u32)(at / EIGHT), sum);
    }
}

// Does an item.
template <class Team, class Lists, class Distance>
RIPPLET_FN void lead(const State& state, const Team& team, const Member& graph, const Item& item,
                     const Lists& behind, const Lists& ahead, Rows<Distance>& rows) {
    const u32 n = graph.vertices;
    f64* const values = state.values + graph.at;
    for (u32 unit = item.first; unit < item.end; unit++) {
        begin_ways(team, rows, n, unit * EIGHT);
        step_ahead(team, ahead, rows, n, unit * EIGHT);
        const u32 farthest = count_ways(team, behind, rows);
        share_out(team, ahead, rows, farthest);
        if (item.split != NO_SPLIT) {
            const Split split = state.splits[item.split];
            f64* const partials = state.partials + split.partials + (u64)(unit - split.first) * n;
            add_rows(team, rows, [&](u32 v, f64 sum) { partials[v] = sum; });
            continue;
        }
        const bool is_first = unit % UNITS_OF_GROUP == 0, is_last = unit + 1 == item.end;
        const bool ends_group = is_last || unit % UNITS_OF_GROUP == UNITS_OF_GROUP - 1;
        add_rows(team, rows, [&](u32 v, f64 sum) {
            sum = (is_first ? 0.0 : rows.sums[v]) + sum;
            rows.sums[v] = sum;
            if (!ends_group) return;
            const f64 value = (unit < UNITS_OF_GROUP ? 0.0 : values[v]) + sum;
            values[v] = is_last ? value * scale_of_ways(state, n) : value;
        });
    }
}

}  // namespace ripplet
