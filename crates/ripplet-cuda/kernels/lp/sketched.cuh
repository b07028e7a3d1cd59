// Approximate counting by a sketch (Misra-Gries or Boyer-Moore): `ripplet_lp::counter` has the definition.
// Each part of 128 arcs of a vertex has a sketch of its own; sketches of parts are merged in pairs. This
// replaces `by_warp.cuh`, `by_block.cuh`, `by_large_block.cuh` and `by_grid.cuh` for all degrees above the
// classes of `by_thread.cuh`.
//
// A sketch is in the registers of a group of lanes, up to eight slots a lane: 1, 2 or 4 lanes. A warp reads
// the votes of all its parts together, each vote once and as it lies in memory. Through shared memory they go
// to the groups, and each group takes the votes of its part in order. (νMG8-LPA has eight lanes a sketch, and
// each of them reads every vote. That takes eight lanes for the work of one, and reads the neighbours of one
// vertex at a time.)
//
//     warp:   | part 0 | part 1 | ... |       a row of ROW votes each, in shared memory
//             | group  | group  | ... |       GROUP lanes, SLOTS slots in registers
//                merge pairs: 0+1, 2+3, then (0+1)+(2+3), ...
#pragma once

namespace ripplet {

// Arcs of a part; slots of a sketch and of a lane; lanes of a sketch; sketches of a warp.
constexpr u32 PART = 128;
constexpr u32 SLOTS = SKETCH_SLOTS > 0 ? SKETCH_SLOTS : 1;
constexpr u32 OWN = SLOTS < 8 ? SLOTS : 8;
constexpr u32 GROUP = SLOTS <= 8 ? 1 : SLOTS <= 16 ? 2 : 4;
constexpr u32 SIDE_BY_SIDE = 32 / GROUP;
typedef Lanes<GROUP> Group;

// This lane's slots of its group's sketch. A free slot has weight 0 and no label.
struct Slots {
    u32 labels[OWN];
    KeySum weights[OWN];

    RIPPLET_FN static Slots nothing() {
        Slots slots;
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            slots.labels[at] = NO_LABEL;
            slots.weights[at] = 0;
        }
        return slots;
    }
    // The index of a slot in the group's sketch, and whether the sketch has that many.
    RIPPLET_FN static u32 number(u32 at) { return lane_id() % GROUP * OWN + at; }
    RIPPLET_FN static bool is_there(u32 at) { return SLOTS % OWN == 0 || number(at) < SLOTS; }
    // The first free slot of this lane, or `OWN`.
    RIPPLET_FN u32 first_free() const {
        u32 free = OWN;
#pragma unroll
        for (u32 at = OWN; at-- > 0;)
            if (weights[at] == 0 && is_there(at)) free = at;
        return free;
    }
    RIPPLET_FN void set(u32 slot, u32 label, KeySum weight) {
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            if (at != slot) continue;
            labels[at] = label;
            weights[at] = weight;
        }
    }

    // Adds a vote, the same at all lanes of the group. A vote of weight 0 has no effect.
    RIPPLET_FN void take(u32 label, KeySum weight) {
        if constexpr (BY_MAJORITY)
            take_by_majority(label, weight);
        else
            take_by_slots(label, weight);
    }
    RIPPLET_FN void take_by_majority(u32 label, KeySum weight) {
        if (weight == 0) return;
        if (labels[0] == label)
            weights[0] += weight;
        else if (weights[0] > weight)
            weights[0] -= weight;
        else
            set(0, label, weight);
    }
    RIPPLET_FN void take_by_slots(u32 label, KeySum weight) {
        const Group group = {GROUP};
        bool is_held = false;
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            const bool is_its = weight > 0 && labels[at] == label;
            if (is_its) weights[at] += weight;
            is_held |= is_its;
        }
        const u32 holding = group.count(is_held);
        const bool open = weight > 0 && holding == 0;
        if (!__any_sync(ALL_LANES, open)) return;
        u32 free = first_free();
        u32 holder = lane_of_first(free);
        const bool is_full = open && holder == U32_MAX;
        if (__any_sync(ALL_LANES, is_full)) {
            KeySum loss = weight;
#pragma unroll
            for (u32 at = 0; at < OWN; at++)
                if (is_there(at)) loss = min(loss, weights[at]);
            for (u32 step = GROUP / 2; step > 0; step /= 2)
                loss = min(loss, (KeySum)__shfl_xor_sync(ALL_LANES, loss, step));
            if (is_full) {
                weight -= loss;
#pragma unroll
                for (u32 at = 0; at < OWN; at++) {
                    weights[at] -= is_there(at) ? loss : 0;
                    if (weights[at] == 0) labels[at] = NO_LABEL;
                }
            }
            free = first_free();
            holder = lane_of_first(free);
        }
        if (open && weight > 0 && holder == lane_id()) set(free, label, weight);
    }
    // The first lane of the group that has a free slot; U32_MAX if none has.
    RIPPLET_FN static u32 lane_of_first(u32 free) {
        if constexpr (GROUP == 1) return free < OWN ? lane_id() : U32_MAX;
        const u32 holders = __ballot_sync(ALL_LANES, free < OWN) & Group{GROUP}.lanes();
        return holders != 0 ? (u32)__ffs(holders) - 1 : U32_MAX;
    }

    // Counts the votes for the candidates exactly, from votes that are all in this lane.
    template <u32 KEYS> RIPPLET_FN void recount(const Key (&keys)[KEYS]) {
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            weights[at] = 0;
            if (labels[at] == NO_LABEL) continue;
#pragma unroll
            for (u32 key = 0; key < KEYS; key++)
                if (label_of(keys[key]) == labels[at]) weights[at] += weight_of(keys[key]);
        }
    }

    // The slots of another group of the warp.
    RIPPLET_FN Slots of_group(u32 number) const {
        Slots slots;
        const u32 lane = number % SIDE_BY_SIDE * GROUP + lane_id() % GROUP;
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            slots.labels[at] = __shfl_sync(ALL_LANES, labels[at], lane);
            slots.weights[at] = __shfl_sync(ALL_LANES, weights[at], lane);
        }
        return slots;
    }
    // Merges the sketch of the group `step` further on into this one, if `takes` is set.
    RIPPLET_FN void merge(u32 step, bool takes) {
        const u32 right = (lane_id() / GROUP + step) % SIDE_BY_SIDE;
        if constexpr (BY_MAJORITY) {
            const Slots other = of_group(right);
            if (takes && other.weights[0] > weights[0]) *this = other;
            return;
        }
        // A group that is merged into another merges none itself at the same time. Unrolled, this loop would
        // be most of the kernels' code, and NVRTC would take three times as long for sketches of 32 slots.
#pragma unroll 1
        for (u32 rank = 0; rank < GROUP; rank++) {
#pragma unroll
            for (u32 at = 0; at < OWN; at++) {
                const u32 label = __shfl_sync(ALL_LANES, labels[at], right * GROUP + rank);
                const KeySum weight = __shfl_sync(ALL_LANES, weights[at], right * GROUP + rank);
                take(label, takes ? weight : 0);
            }
        }
    }
    // Merges the sketches of `count` neighbouring groups into the first, whose index is a multiple of
    // `count`.
    RIPPLET_FN void merge_all(u32 count) {
#pragma unroll 1
        for (u32 step = 1; step < count; step *= 2)
            merge(step, lane_id() / GROUP % (2 * step) == 0);
    }
};

// A vertex that updates, and the index of the arc that its scan begins with.
struct Sketched {
    Place place;
    u32 id, label, degree, start;

    RIPPLET_FN static Sketched nobody() { return Sketched{Place{}, 0, NO_LABEL, 0, 0}; }
    RIPPLET_FN static Sketched of(const LpState& state, const Member& it) {
        const u32 degree = it.place.degree(), key = stream_key(state.seed, state.round, START_STREAM);
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

// All votes, and votes for the own label.
struct VotesCast {
    u64 all, own;
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
// adds its group's votes to `cast`.
RIPPLET_FN Slots sketch_arcs(const Run& run, const Workspace& workspace, const Sketched& vertex, u32 first,
                             u32 end, u32 wide, u32 passes, VotesCast* cast) {
    const u32 group = lane_id() / GROUP;
    Slots all = Slots::nothing();
#pragma unroll 1
    for (u32 pass = 0; pass < passes; pass++) {
        const Part part = part_at(vertex, first, end, pass * wide + group % wide);
        Slots slots = Slots::nothing();
        workspace.each_vote(run, part, [&](Key key) {
            slots.take(label_of(key), weight_of(key));
            cast->all += weight_of(key);
            if (label_of(key) == vertex.label) cast->own += weight_of(key);
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
                                  const VotesCast& cast, const Slots& slots) {
    bool nan = false, is_held = false;
    const bool is_first = present && team.rank() < GROUP;
#pragma unroll
    for (u32 at = 0; at < OWN; at++)
        is_held |= is_first && slots.weights[at] > 0 && slots.labels[at] == v.label;
    const bool adds_own = team.count(is_held) == 0 && RECOUNTS && present && team.rank() == 0;
    const SketchedSums sums = {slots, is_first, v.label, adds_own ? cast.own : 0};
    const Best mine = best_of_all(v, cast.all, sums, &nan);
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
        const Sketched vertex = present ? Sketched::of(state, members[item]) : Sketched::nobody();
        const u32 degree = vertex.degree;
        const Chooser v(run, vertex.id, vertex.label);
        VotesCast cast = {0, 0};
        Slots slots = sketch_arcs(run, workspace, vertex, 0, degree, wide, passes, &cast);
        for (u32 step = GROUP; step < team.size(); step *= 2) {
            cast.all += __shfl_xor_sync(ALL_LANES, cast.all, step);
            cast.own += __shfl_xor_sync(ALL_LANES, cast.own, step);
        }
        if (RECOUNTS) {
            slots = slots.of_group(team.first() / GROUP);
            recount_arcs(run, workspace, vertex, 0, degree, wide, passes, &slots);
        }
        Decision end = {judge_sketched(team, v, present, cast, slots), cast.all, 0};
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

// Large vertices, in a cooperative launch: a warp sketches a piece, a warp merges the pieces of a vertex, and
// all warps recount the votes for its candidates. Between these steps, sketches are in global memory, a
// `Record` per piece.
struct Record {
    u32* labels;
    u64* weights;

    RIPPLET_FN static Record of(const LpState& state, u32 piece) {
        return Record{state.sketched_labels + (u64)piece * SLOTS,
                      state.sketched_weights + (u64)piece * SLOTS};
    }
    // `write` is called for one group; `read` by every group that needs the sketch.
    RIPPLET_FN void write(const Slots& slots, bool writes) const {
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            if (!writes || !Slots::is_there(at)) continue;
            labels[Slots::number(at)] = slots.labels[at];
            weights[Slots::number(at)] = slots.weights[at];
        }
    }
    RIPPLET_FN Slots read(bool reads) const {
        Slots slots = Slots::nothing();
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            if (!reads || !Slots::is_there(at)) continue;
            slots.labels[at] = labels[Slots::number(at)];
            slots.weights[at] = (KeySum)weights[Slots::number(at)];
        }
        return slots;
    }
};

// The piece of a large vertex that a warp works on.
struct PieceAtWork {
    Sketched vertex;
    u32 owner, first, end;

    RIPPLET_FN PieceAtWork(const LpState& state, u32 item) {
        const Piece piece = state.pieces[item];
        owner = piece.owner;
        vertex = Sketched::of(state, state.large[owner].vertex);
        first = piece.index * PIECE;
        end = first + min(vertex.degree - first, PIECE);
    }
};

constexpr u32 PIECE_WIDE = SIDE_BY_SIDE, PIECE_PASSES = PIECE / PART / SIDE_BY_SIDE;

// Calls `act` with each number below `count`, a warp per number.
template <class F> RIPPLET_FN void a_warp_each(u32 count, F act) {
    const u32 warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, warps = gridDim.x * (BLOCK / 32);
    for (u32 item = warp; item < count; item += warps) {
        act(item);
        __syncwarp();
    }
}

RIPPLET_FN void sketch_pieces(const Run& run, Phase phase, u32 pieces) {
    const Workspace workspace = Workspace::of_warp();
    a_warp_each(pieces, [&](u32 item) {
        const PieceAtWork at(run.state, item);
        if (!is_launched(phase, at.vertex.id)) return;
        VotesCast cast = {0, 0};
        const Slots slots = sketch_arcs(run, workspace, at.vertex, at.first, at.end, PIECE_WIDE,
                                        PIECE_PASSES, &cast);
        Record::of(run.state, item).write(slots, lane_id() < GROUP);
    });
}

// Merges the records of each large vertex, a warp per vertex: as many at a time as a warp has groups, again
// and again until one is left, the vertex's first record. For a recount, its weights are set to 0.
RIPPLET_FN void merge_pieces(const Run& run, Phase phase, u32 count) {
    const LpState& state = run.state;
    const u32 group = lane_id() / GROUP;
    a_warp_each(count, [&](u32 number) {
        const Large& large = state.large[number];
        if (!is_launched(phase, large.vertex)) return;
        u32 left = large.pieces;
        do {
            u32 written = 0;
            for (u32 first = 0; first < left; first += SIDE_BY_SIDE, written++) {
                const u32 here = min(left - first, SIDE_BY_SIDE);
                const u32 piece = large.first_piece + first + group;
                Slots slots = Record::of(state, piece).read(group < here);
                slots.merge_all(SIDE_BY_SIDE);
                __syncwarp();
                Record::of(state, large.first_piece + written).write(slots, lane_id() < GROUP);
                __syncwarp();
            }
            left = written;
        } while (left > 1);
        if (RECOUNTS && lane_id() < SLOTS) Record::of(state, large.first_piece).weights[lane_id()] = 0;
    });
}

RIPPLET_FN void recount_pieces(const Run& run, Phase phase, u32 pieces) {
    const LpState& state = run.state;
    const Workspace workspace = Workspace::of_warp();
    a_warp_each(pieces, [&](u32 item) {
        const PieceAtWork at(state, item);
        if (!is_launched(phase, at.vertex.id)) return;
        const Record record = Record::of(state, state.large[at.owner].first_piece);
        // Other warps add to the weights meanwhile, so only the labels are read.
        Slots slots = Slots::nothing();
#pragma unroll
        for (u32 slot = 0; slot < OWN; slot++)
            if (Slots::is_there(slot)) slots.labels[slot] = record.labels[Slots::number(slot)];
        recount_arcs(run, workspace, at.vertex, at.first, at.end, PIECE_WIDE, PIECE_PASSES, &slots);
#pragma unroll
        for (u32 slot = 0; slot < OWN; slot++)
            if (lane_id() < GROUP && slots.weights[slot] > 0)
                atomicAdd(record.weights + Slots::number(slot), (u64)slots.weights[slot]);
    });
}

// Stores the verdict on each vertex in the form that `verdict_on` reads: as if the first piece had found it.
RIPPLET_FN void judge_large_sketched(const Run& run, Phase phase, u32 count) {
    const LpState& state = run.state;
    a_warp_each(count, [&](u32 number) {
        Large& large = state.large[number];
        if (!is_launched(phase, large.vertex)) return;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const Slots slots = Record::of(state, large.first_piece).read(lane_id() < GROUP);
        const VotesCast cast = {large.cast, large.own};
        const Verdict verdict = judge_sketched(Lanes<0>{32}, v, true, cast, slots);
        for (u32 piece = lane_id(); piece < large.pieces; piece += 32)
            state.found[large.first_piece + piece] = piece == 0 ? verdict.best : Best{};
        if (lane_id() != 0) return;
        large.nan = verdict.nan;
        large.region = 0;
        large.open = 1;
    });
}

// Updates all large vertices; a cooperative launch.
RIPPLET_FN void choose_large_sketched(const Run& run, Phase phase) {
    const LpState& state = run.state;
    const u32 count = state.tallies->members[phase.parity][LARGE];
    const u32 pieces = state.tallies->pieces[phase.parity];
    if (count == 0) return;
    Barrier* barrier = &state.tallies->barrier;
    ThreadCounters counters = {0, 0, 0};
    sketch_pieces(run, phase, pieces);
    grid_barrier(barrier);
    merge_pieces(run, phase, count);
    grid_barrier(barrier);
    if (RECOUNTS) {
        recount_pieces(run, phase, pieces);
        grid_barrier(barrier);
    }
    judge_large_sketched(run, phase, count);
    grid_barrier(barrier);
    if (CARRIES) {
        carry_pieces(run, phase, 0);
        grid_barrier(barrier);
    }
    end_updates(run, phase, 0, &counters);
    counters.report(state, phase);
}

}  // namespace ripplet
