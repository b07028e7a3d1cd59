// Vertices counted by a sketch, up to degree 4096 (kernel `ripplet_choose`; `sketch.cuh` has the sketch). Each
// part of 128 arcs of a vertex has a sketch of its own, in a group of lanes; sketches of parts are merged in
// pairs. This replaces `by_warp.cuh`, `by_block.cuh` and `by_large_block.cuh` for all degrees above the classes
// of `by_thread.cuh`.
//
//     warp:   | part 0 | part 1 | ... |       a row of ROW votes each, in shared memory
//             | group  | group  | ... |       GROUP lanes, SLOTS slots in registers
//                merge pairs: 0+1, 2+3, then (0+1)+(2+3), ...
//
//     degree      1-128   129-256   257-512   ...   2049-4096
//     parts           1         2         4   ...          32    a warp takes the parts of some vertices side by
//                                                                side; with 2 or 4 lanes a group, in passes
//
// A warp reads the votes of all its parts together, each vote once and as it lies in memory. Through shared
// memory they go to the groups, and each group takes the votes of its part in order. (νMG8-LPA has eight lanes a
// sketch, and each of them reads every vote. That takes eight lanes for the work of one, and reads the neighbours
// of one vertex at a time.)
//
// Shared memory, per warp (`SKETCHING_BYTES`): a `Part` a group | a row of `ROW + 1` keys a group, an odd length
// against bank conflicts.
#pragma once

namespace ripplet {

// A vertex that updates, and the index of the arc that its scan begins with.
struct Sketched {
    Place place;
    u32 id, label, degree, start;

    RIPPLET_FN static Sketched absent() { return Sketched{Place{}, 0, NO_LABEL, 0, 0}; }
    RIPPLET_FN static Sketched of(const LpState& state, const Member& it) {
        const u32 degree = it.place.degree(), key = stream_key(state.round.seed, state.round.index, START_STREAM);
        const u32 start = DRAWN_START ? part_of(mix(it.id ^ key), degree) : 0;
        return Sketched{it.place, it.id, it.label, degree, start};
    }
    RIPPLET_FN static Sketched of(const LpState& state, u32 v) { return of(state, member_of(state, v)); }
    // The index of the arc that is number `phase` of the scan; and that arc.
    RIPPLET_FN u32 number(u32 phase) const {
        const u32 to_last = degree - start;
        return phase < to_last ? start + phase : phase - to_last;
    }
    RIPPLET_FN Arc arc(const LpState& state, u32 phase) const { return arc_at(state, place, number(phase)); }
};

// Work of a group: some arcs of a vertex.
struct Part {
    Sketched vertex;
    u32 first, count;
};

// Votes of a group that are read at a time; bytes of shared memory of a warp.
constexpr u32 ROW = UNIT ? 32 : 16;
constexpr u32 SKETCHING_BYTES =
    (u32)(SIDE_BY_SIDE * sizeof(Part) + SIDE_BY_SIDE * (ROW + 1) * sizeof(Key));

struct Workspace {
    Part* parts;
    Key* rows;

    RIPPLET_FN static Workspace of_warp() {
        unsigned char* memory = shared_memory() + threadIdx.x / 32 * SKETCHING_BYTES;
        return Workspace{(Part*)memory, (Key*)(memory + SIDE_BY_SIDE * sizeof(Part))};
    }
    // Calls `visit` with the votes of the group's part, in order. A group with fewer votes than others is
    // given votes of weight 0 at the end. All lanes of the group pass the same `part`.
    template <class F> RIPPLET_FN void each_vote(const Run& run, const Part& part, F visit) const {
        const u32 group = lane_id() / GROUP;
        __syncwarp();
        if (lane_id() % GROUP == 0) parts[group] = part;
        __syncwarp();
        const u32 most = Warp{}.largest(part.count);
        Cursor cursor = {};
        if (COMPRESSED && lane_id() % GROUP == 0 && part.count > 0)
            cursor = Cursor::at(run.state, part.vertex.place, part.vertex.number(part.first));
#pragma unroll 1
        for (u32 first = 0; first < most; first += ROW) {
            if constexpr (COMPRESSED)
                decode(run, part, first, cursor);
            else
                fill(run, first);
            __syncwarp();
#pragma unroll 4
            for (u32 at = 0; at < ROW; at++) visit(rows[group * (ROW + 1) + at]);
            __syncwarp();
        }
    }

  private:
    // Reads votes as `fill` does, from compressed lists: a lane of each group decodes, then all lanes load
    // labels.
    RIPPLET_FN void decode(const Run& run, const Part& own, u32 first, Cursor& cursor) const {
        if (lane_id() % GROUP == 0) {
            const Chooser v(run, own.vertex.id, own.vertex.label);
            Key* row = rows + lane_id() / GROUP * (ROW + 1);
#pragma unroll 1
            for (u32 at = 0; at < ROW; at++) {
                if (first + at < own.count)
                    stage(row[at], v, cursor.next());
                else
                    stage_nothing(row[at]);
            }
        }
        __syncwarp();
#pragma unroll 8
        for (u32 slot = lane_id(); slot < SIDE_BY_SIDE * ROW; slot += 32) {
            const Sketched& vertex = parts[slot / ROW].vertex;
            settle(rows[slot + slot / ROW], Chooser(run, vertex.id, vertex.label));
        }
    }
    RIPPLET_FN void fill(const Run& run, u32 first) const {
        constexpr u32 AT_ONCE = 8;
#pragma unroll 1
        for (u32 step = 0; step < SIDE_BY_SIDE * ROW / 32; step += AT_ONCE) {
            Arc arcs[AT_ONCE];
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++) {
                const u32 slot = (step + index) * 32 + lane_id();
                if (slot >= SIDE_BY_SIDE * ROW) continue;
                const Part& part = parts[slot / ROW];
                const u32 at = first + slot % ROW;
                arcs[index] = at < part.count ? part.vertex.arc(run.state, part.first + at)
                                              : Arc{U32_MAX, 0};
            }
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++) {
                const u32 slot = (step + index) * 32 + lane_id();
                if (slot >= SIDE_BY_SIDE * ROW) continue;
                const Part& part = parts[slot / ROW];
                const Arc& arc = arcs[index];
                const Chooser v(run, part.vertex.id, part.vertex.label);
                set_key(rows[slot + slot / ROW], arc.id != U32_MAX ? v.vote(arc) : Vote{NO_LABEL, 0});
            }
        }
    }
};

// Part `index` of the arcs `first` to `end` of a vertex.
RIPPLET_FN Part part_at(const Sketched& vertex, u32 first, u32 end, u32 index) {
    const u32 from = first + index * PART;
    return Part{vertex, from, from < end ? min(end - from, PART) : 0};
}

// Sketches arcs `first` to `end` of a vertex, `wide` parts side by side in `passes` passes; at most 32 parts.
// The groups of a team, `wide` of them, work on one vertex, and the first ends up with the sketch. Each lane
// adds its group's votes to `totals`.
RIPPLET_FN Slots sketch_arcs(const Run& run, const Workspace& workspace, const Sketched& vertex, u32 first,
                             u32 end, u32 wide, u32 passes, VoteTotals* totals) {
    const u32 group = lane_id() / GROUP;
    Slots all = Slots::nothing();
#pragma unroll 1
    for (u32 pass = 0; pass < passes; pass++) {
        const Part part = part_at(vertex, first, end, pass * wide + group % wide);
        Slots slots = Slots::nothing();
        workspace.each_vote(run, part, [&](Key key) {
            slots.take(label_of(key), weight_of(key));
            totals->all += weight_of(key);
            if (label_of(key) == vertex.label) totals->own += weight_of(key);
        });
        slots.merge_all(wide);
        if (passes == 1) return slots;
        // With several passes, all groups work on one vertex. Group `pass` keeps the sketch of that pass.
        const Slots came = slots.of_group(0);
        if (group == pass) all = came;
    }
    all.merge_all(passes);
    return all;
}

// Counts the votes for the candidates exactly; all groups of the team have the same candidates.
RIPPLET_FN void recount_arcs(const Run& run, const Workspace& workspace, const Sketched& vertex, u32 first,
                             u32 end, u32 wide, u32 passes, Slots* slots) {
    const u32 group = lane_id() / GROUP;
#pragma unroll
    for (u32 at = 0; at < OWN; at++) slots->weights[at] = 0;
#pragma unroll 1
    for (u32 pass = 0; pass < passes; pass++) {
        const Part part = part_at(vertex, first, end, pass * wide + group % wide);
        workspace.each_vote(run, part, [&](Key key) {
#pragma unroll
            for (u32 at = 0; at < OWN; at++)
                if (slots->labels[at] == label_of(key)) slots->weights[at] += weight_of(key);
        });
    }
#pragma unroll
    for (u32 at = 0; at < OWN; at++) {
        for (u32 step = GROUP; step < wide * GROUP; step *= 2)
            slots->weights[at] += __shfl_xor_sync(ALL_LANES, slots->weights[at], step);
        // A free slot keeps weight 0.
        if (slots->labels[at] == NO_LABEL) slots->weights[at] = 0;
    }
}

// The candidates of a team's first group and the own label, in the form that `best_of_all` reads.
struct SketchedSums {
    const Slots& slots;
    bool is_first;
    u32 own_label;
    u64 own;

    template <class F> RIPPLET_FN void each(F visit) const {
        if (own > 0) visit(own_label, own);
        if (!is_first) return;
#pragma unroll
        for (u32 at = 0; at < OWN; at++)
            if (slots.weights[at] > 0) visit(slots.labels[at], (u64)slots.weights[at]);
    }
};

// The best of the candidates of a team's first group; all lanes of the team get it.
RIPPLET_FN Verdict judge_sketched(const Lanes<0>& team, const Chooser& v, bool present,
                                  const VoteTotals& totals, const Slots& slots) {
    bool nan = false, is_candidate = false;
    const bool is_first = present && team.rank() < GROUP;
#pragma unroll
    for (u32 at = 0; at < OWN; at++)
        is_candidate |= is_first && slots.weights[at] > 0 && slots.labels[at] == v.label;
    const bool adds_own = team.count(is_candidate) == 0 && RECOUNTS && present && team.rank() == 0;
    const SketchedSums sums = {slots, is_first, v.label, adds_own ? totals.own : 0};
    const Best mine = best_of_all(v, totals.all, sums, &nan);
    const Best best = team.best(mine, [](const Best& a, const Best& b) { return is_better(a, b); });
    return Verdict{team.of_first(best), team.count(nan) > 0};
}

// Updates the members of a class of up to `parts` parts a vertex, a power of two of at most 32.
RIPPLET_FN void choose_sketched(const Run& run, Phase phase, u32 of_class, u32 parts, ThreadCounters* counters) {
    const LpState& state = run.state;
    const Members members(state, of_class);
    const u32 count = members_until(state, phase, of_class);
    if (count == 0) return;
    const Workspace workspace = Workspace::of_warp();
    const u32 wide = min(parts, SIDE_BY_SIDE), passes = parts / wide, vertices = SIDE_BY_SIDE / wide;
    const Lanes<0> team = {wide * GROUP};
    for (u32 first; (first = take(&work_counters(state, phase).taken[of_class], vertices)) < count;) {
        const u32 item = first + team.first() / team.size();
        const bool present = item < count;
        const Sketched vertex = present ? Sketched::of(state, members[item]) : Sketched::absent();
        const u32 degree = vertex.degree;
        const Chooser v(run, vertex.id, vertex.label);
        VoteTotals totals = {0, 0};
        Slots slots = sketch_arcs(run, workspace, vertex, 0, degree, wide, passes, &totals);
        for (u32 step = GROUP; step < team.size(); step *= 2) {
            totals.all += __shfl_xor_sync(ALL_LANES, totals.all, step);
            totals.own += __shfl_xor_sync(ALL_LANES, totals.own, step);
        }
        if (RECOUNTS) {
            slots = slots.of_group(team.first() / GROUP);
            recount_arcs(run, workspace, vertex, 0, degree, wide, passes, &slots);
        }
        Decision end = {judge_sketched(team, v, present, totals, slots), totals.all, 0};
        if (CARRIES)
            end.carried = team.largest(carried_by(v, vertex.place, end.verdict.best, 0, degree,
                                                  team.rank(), team.size()));
        if (team.rank() == 0 && present) end_update_of(run, phase, of_class, item, degree, v, end, counters);
        __syncwarp();
    }
}

// Updates the members of all listed classes from `lowest` on, the highest degrees first.
RIPPLET_FN void choose_all_sketched(const Run& run, Phase phase, u32 lowest, ThreadCounters* counters) {
    choose_sketched(run, phase, UP_TO_4096, 32, counters);
#pragma unroll 1
    for (u32 of_class = UP_TO_4096; of_class-- > lowest;)
        choose_sketched(run, phase, of_class, of_class <= 5 ? 1 : 1u << (of_class - 5), counters);
}

}  // namespace ripplet
