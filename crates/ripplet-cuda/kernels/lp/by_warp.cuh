// Warp-mapped vertices (kernel `ripplet_choose`): degrees 17 to 1024 if votes are counted, 9 to 512 if they have
// weights. A team of 1 to 32 lanes takes a vertex, so that a warp has some vertices, and their votes are sorted in
// registers.
//
//     degree (counted)    17-32  33-64  65-128  129-256  257-512  513-1024
//     degree (weighted)    9-16  17-32   33-64   65-128  129-256   257-512
//     lanes per vertex        1      2       4        8       16        32
//
// A warp reads the votes of its vertices together, as they lie in memory, through shared memory to the lanes.
// A sorting network brings equal labels together, and the length of a run is the sum of a label. This needs
// no table and no atomics, and its time does not depend on the number of labels. If a lane has all of a
// vertex's votes, it waits for no other. (GLP, section 4.2, packs several vertices into a warp as well, and
// matches labels between lanes. That takes as many steps as there are labels, and a vertex of many labels
// holds up the warp.)
//
// Shared memory, per warp: 32 `Member`s | 32 rows of `LANE_KEYS + 1` keys, an odd length against bank
// conflicts.
#pragma once

namespace ripplet {

// Sort key of a vote: its label, and its weight if votes have weights.
struct Weighted {
    u32 label, weight;
};
template <bool IS_UNIT> struct Sorted {
    typedef Weighted Key;
    typedef u64 Sum;
};
template <> struct Sorted<true> {
    typedef u32 Key, Sum;
};
typedef Sorted<UNIT>::Key Key;
typedef Sorted<UNIT>::Sum KeySum;

RIPPLET_FN u32 label_of(u32 key) { return key; }
RIPPLET_FN u32 label_of(Weighted key) { return key.label; }
RIPPLET_FN u32 weight_of(u32 key) { return key != NO_LABEL; }
RIPPLET_FN u32 weight_of(Weighted key) { return key.weight; }
RIPPLET_FN void set_key(u32& key, const Vote& vote) { key = vote.label; }
RIPPLET_FN void set_key(Weighted& key, const Vote& vote) {
    // Votes without a label or weight sort behind all others.
    key = vote.label == NO_LABEL || vote.weight == 0 ? Weighted{NO_LABEL, 0}
                                                     : Weighted{vote.label, vote.weight};
}

RIPPLET_FN void order(u32& a, u32& b) {
    const u32 less = min(a, b);
    b = max(a, b);
    a = less;
}
RIPPLET_FN void order(Weighted& a, Weighted& b) {
    const bool swap = a.label > b.label;
    const Weighted less = swap ? b : a;
    b = swap ? a : b;
    a = less;
}

RIPPLET_FN u32 key_of_lane(u32 key, u32 lane) { return __shfl_sync(ALL_LANES, key, lane); }
RIPPLET_FN Weighted key_of_lane(Weighted key, u32 lane) {
    return Weighted{__shfl_sync(ALL_LANES, key.label, lane), __shfl_sync(ALL_LANES, key.weight, lane)};
}

// The one of two keys that this lane keeps: the lower one if `least` is set. Of equal labels each lane keeps
// its own.
RIPPLET_FN u32 kept(u32 mine, u32 other, bool least) {
    return least ? min(mine, other) : max(mine, other);
}
RIPPLET_FN Weighted kept(Weighted mine, Weighted other, bool least) {
    const bool swap = least ? other.label < mine.label : other.label > mine.label;
    return swap ? other : mine;
}

// Batcher's odd-even merge sort of `COUNT` keys from number `FIRST` on.
template <u32 FIRST, u32 COUNT, u32 STEP, class K, u32 ALL>
RIPPLET_FN void merge_every(K (&keys)[ALL]) {
    if constexpr (2 * STEP < COUNT) {
        merge_every<FIRST, COUNT, 2 * STEP>(keys);
        merge_every<FIRST + STEP, COUNT, 2 * STEP>(keys);
#pragma unroll
        for (u32 at = FIRST + STEP; at + STEP < FIRST + COUNT; at += 2 * STEP)
            order(keys[at], keys[at + STEP]);
    } else {
        order(keys[FIRST], keys[FIRST + STEP]);
    }
}
template <u32 FIRST, u32 COUNT, class K, u32 ALL> RIPPLET_FN void sort_keys(K (&keys)[ALL]) {
    if constexpr (COUNT > 1) {
        sort_keys<FIRST, COUNT / 2>(keys);
        sort_keys<FIRST + COUNT / 2, COUNT / 2>(keys);
        merge_every<FIRST, COUNT, 1>(keys);
    }
}
// Sorts a bitonic sequence.
template <u32 STEP, class K, u32 ALL> RIPPLET_FN void merge_bitonic(K (&keys)[ALL]) {
    if constexpr (STEP > 0) {
#pragma unroll
        for (u32 at = 0; at < ALL; at++)
            if ((at & STEP) == 0) order(keys[at], keys[at + STEP]);
        merge_bitonic<STEP / 2>(keys);
    }
}

// Sorts the keys of each team's lanes, the lowest in its first lane.
template <u32 WIDTH, class K, u32 KEYS>
RIPPLET_FN void sort_teams(const Lanes<WIDTH>& team, K (&keys)[KEYS]) {
    sort_keys<0, KEYS>(keys);
    for (u32 span = 2; span <= team.size(); span *= 2) {
        // Two sorted halves form a bitonic sequence when the second is reversed.
        const bool is_lower = (lane_id() & (span / 2)) == 0;
#pragma unroll
        for (u32 at = 0; at < KEYS / 2; at++) {
            const u32 partner = lane_id() ^ (span - 1);
            const K near = key_of_lane(keys[KEYS - 1 - at], partner);
            const K far = key_of_lane(keys[at], partner);
            keys[at] = kept(keys[at], near, is_lower);
            keys[KEYS - 1 - at] = kept(keys[KEYS - 1 - at], far, is_lower);
        }
        for (u32 step = span / 4; step > 0; step /= 2) {
            const bool is_least = (lane_id() & step) == 0;
#pragma unroll
            for (u32 at = 0; at < KEYS; at++)
                keys[at] = kept(keys[at], key_of_lane(keys[at], lane_id() ^ step), is_least);
        }
        merge_bitonic<KEYS / 2>(keys);
    }
}

// The label sums of a team's votes; each run of equal labels belongs to the lane where it begins.
template <u32 WIDTH, u32 KEYS> struct SortedSums {
    Lanes<WIDTH> team;
    Key (&keys)[KEYS];
    // This lane's row of shared memory.
    Key* row;
    // Keys of this lane that belong to a run of an earlier lane; votes of later lanes for this lane's last
    // run.
    u32 first;
    KeySum extension;

    RIPPLET_FN Leader lead(const Chooser& v) {
        sort_teams(team, keys);
        first = 0;
        extension = 0;
        if (team.size() > 1) join_runs();
        // A run's partial sums grow up to its final sum, so the largest partial sum is the largest sum.
        KeySum most = 0, sum = 0;
        Leader leader = {0, NO_LABEL, U32_MAX};
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) {
            const u32 label = label_of(keys[at]);
            const bool goes_on = at > 0 && label == label_of(keys[at > 0 ? at - 1 : 0]);
            sum = (goes_on ? sum : 0) + weight_of(keys[at]) + (at + 1 == KEYS ? extension : 0);
            // Labels are in ascending order, so the first of equal sums has the smallest label.
            if (label == NO_LABEL || at < first || sum < most || (SMALLEST_TIES && sum == most)) continue;
            const u32 rank = v.rank_of(label);
            if (sum == most && rank > leader.rank) continue;
            most = sum;
            leader = Leader{sum, label, rank};
        }
        return leader_of(team, leader);
    }
    // Joins the runs that continue from lane to lane.
    RIPPLET_FN void join_runs() {
        const u32 label = label_of(keys[0]);
        const u32 before = __shfl_up_sync(ALL_LANES, label_of(keys[KEYS - 1]), 1);
        const bool goes_on = team.rank() > 0 && label != NO_LABEL && before == label;
        KeySum head = 0;
        if (goes_on) {
#pragma unroll
            for (u32 at = 0; at < KEYS; at++) {
                if (label_of(keys[at]) != label) continue;
                head += weight_of(keys[at]);
                first++;
            }
        }
        u32 is_whole = first == KEYS;
        for (u32 step = 1; step < team.size(); step *= 2) {
            const KeySum behind = __shfl_down_sync(ALL_LANES, head, step);
            const u32 is_whole_behind = __shfl_down_sync(ALL_LANES, is_whole, step);
            const bool has_behind = team.rank() + step < team.size();
            if (is_whole && has_behind) head += behind;
            is_whole = is_whole && has_behind && is_whole_behind;
        }
        const KeySum behind = __shfl_down_sync(ALL_LANES, head, 1);
        if (team.rank() + 1 < team.size()) extension = behind;
    }
    RIPPLET_FN void keep() const {
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) row[at] = keys[at];
    }
    template <class F> RIPPLET_FN void each(F visit) const {
        KeySum sum = 0;
#pragma unroll 1
        for (u32 at = first; at < KEYS; at++) {
            const Key key = row[at];
            const u32 label = label_of(key);
            if (label == NO_LABEL) break;
            sum += weight_of(key);
            if (at + 1 < KEYS && label_of(row[at + 1]) == label) continue;
            visit(label, (u64)(at + 1 < KEYS ? sum : sum + extension));
            sum = 0;
        }
    }
};

// A vertex that updates: its lists, its id and its label.
struct Member {
    Place place;
    u32 id, label;
};

// Keys of a lane, for warp-mapped vertices and for the lowest degrees; and a warp's bytes of shared memory. 32 votes,
// or 16 with weights, are 32 of the 80 registers that `ripplet_choose` leaves to a thread (`kernels.cuh`).
constexpr u32 LANE_KEYS = UNIT ? 32 : 16, LOW_KEYS = UNIT ? 16 : 8;
template <u32 KEYS>
constexpr u32 SORT_BYTES = (u32)(32 * sizeof(Member) + 32 * (KEYS + 1) * sizeof(Key));

template <u32 KEYS> RIPPLET_FN unsigned char* sorting_memory() {
    return shared_memory() + threadIdx.x / 32 * SORT_BYTES<KEYS>;
}

RIPPLET_FN Member member_of(const LpState& state, u32 v) {
    return Member{place_of(state, v), v, state.labels[v]};
}

// Whether rows first have the arcs, and then their votes, which are loaded by all lanes. If votes are counted
// but arcs have weights, a key has no room for an arc.
constexpr bool STAGES_ARCS = !UNIT || !WEIGHTED;
RIPPLET_FN void set_arc(u32& key, const Arc& arc) { key = arc.id; }
RIPPLET_FN void set_arc(Weighted& key, const Arc& arc) { key = Weighted{arc.id, arc.weight}; }
RIPPLET_FN Arc arc_of(u32 key) { return Arc{key, 1}; }
RIPPLET_FN Arc arc_of(Weighted key) { return Arc{key.label, key.weight}; }

RIPPLET_FN void stage(Key& key, const Chooser& v, const Arc& arc) {
    if (STAGES_ARCS)
        set_arc(key, arc);
    else
        set_key(key, v.vote(arc));
}
RIPPLET_FN void stage_nothing(Key& key) { set_arc(key, Arc{NO_LABEL, 0}); }
// Replaces a staged arc by its vote.
RIPPLET_FN void settle(Key& key, const Chooser& v) {
    if (STAGES_ARCS) set_key(key, arc_of(key).id != U32_MAX ? v.vote(arc_of(key)) : Vote{NO_LABEL, 0});
}

// Arc `index` of a vertex, or none if the vertex has fewer; and its vote.
RIPPLET_FN Arc arc_if(const LpState& state, const Member& member, u32 index) {
    return index < member.place.degree() ? arc_at(state, member.place, index) : Arc{U32_MAX, 0};
}
RIPPLET_FN Key key_if(const Run& run, const Member& member, const Arc& arc) {
    Key key;
    set_key(key, arc.id == U32_MAX ? Vote{NO_LABEL, 0}
                                   : Chooser(run, member.id, member.label).vote(arc));
    return key;
}

// Reads votes into the rows from compressed lists. Up to `ALONE_ROOM` arcs, a lane decodes a vertex's list; above, the
// warp decodes one list after the other. Then all lanes load labels. In a benchmark of decoding, bounds of 16 to 64
// are equally good (`decode.jsonl` in `bench/runs/2026-11-22-h200`, docs/adr/0012-compressed-lists.md); here, 64 is
// not measured against others.
constexpr u32 ALONE_ROOM = 64;
template <u32 KEYS>
RIPPLET_FN void decode_rows(const Run& run, const Member* batch, u32 room, Key* rows) {
    const u32 vertices = 32 * KEYS / room;
    if (room <= ALONE_ROOM) {
        const Member member = lane_id() < vertices ? batch[lane_id()] : Member{};
        const Chooser v(run, member.id, member.label);
        Cursor cursor = Cursor::at(run.state, member.place, 0);
        const u32 degree = member.place.degree(), first = lane_id() * room;
#pragma unroll 1
        for (u32 slot = first; slot < first + room && lane_id() < vertices; slot++) {
            if (slot - first < degree)
                stage(rows[slot + slot / KEYS], v, cursor.next());
            else
                stage_nothing(rows[slot + slot / KEYS]);
        }
    } else {
#pragma unroll 1
        for (u32 number = 0; number < vertices; number++) {
            const Member member = batch[number];
            const Chooser v(run, member.id, member.label);
            const u32 degree = member.place.degree(), first = number * room;
            for (u32 at = first + degree + lane_id(); at < first + room; at += 32)
                stage_nothing(rows[at + at / KEYS]);
            each_arc_by_warps(run.state, member.place, 0, degree, 0, 1, [&](u32 index, const Arc& arc) {
                stage(rows[first + index + (first + index) / KEYS], v, arc);
            });
        }
    }
    __syncwarp();
    const u32 room_bits = trailing_zeros(room);
#pragma unroll 8
    for (u32 slot = lane_id(); slot < 32 * KEYS; slot += 32) {
        const Member& member = batch[slot >> room_bits];
        settle(rows[slot + slot / KEYS], Chooser(run, member.id, member.label));
    }
}

// Reads the votes of a warp's vertices into the rows, in the order of memory, 8 loads in flight.
template <u32 KEYS>
RIPPLET_FN void fill_rows(const Run& run, const Member* batch, u32 room, Key* rows) {
    const u32 room_bits = trailing_zeros(room);
    constexpr u32 AT_ONCE = 8;
#pragma unroll 1
    for (u32 step = 0; step < KEYS; step += AT_ONCE) {
        Arc arcs[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 slot = (step + index) * 32 + lane_id();
            arcs[index] = arc_if(run.state, batch[slot >> room_bits], slot & (room - 1));
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 slot = (step + index) * 32 + lane_id();
            rows[slot + slot / KEYS] = key_if(run, batch[slot >> room_bits], arcs[index]);
        }
    }
}

// Updates the members of a class, a team per vertex, `KEYS` votes per lane. `memory` is the warp's shared
// memory.
template <u32 KEYS, u32 WIDTH>
RIPPLET_FN void choose_sorted(const Run& run, Phase phase, u32 of_class, Lanes<WIDTH> team,
                              unsigned char* memory, ThreadCounters* counters) {
    const LpState& state = run.state;
    const Members members(state, of_class);
    const u32 count = members_until(state, phase, of_class);
    if (count == 0) return;
    Member* batch = (Member*)memory;
    Key* rows = (Key*)(memory + 32 * sizeof(Member));
    Key* row = rows + lane_id() * (KEYS + 1);
    const u32 vertices = 32 / team.size();
    const u32 own_place = team.first() / team.size();
    // Takes several batches at once if there are many, to save atomics.
    const u32 share = count / (gridDim.x * (BLOCK / 32)) / vertices / 8;
    const u32 together = vertices * min(max(share, 1u), 8u);
    u32* const taken = &work_counters(state, phase).taken[of_class];
    u32 first = take(taken, together), end_of_taken = first + together;
    for (; first < count; first += vertices) {
        if (first == end_of_taken) {
            first = take(taken, together);
            end_of_taken = first + together;
            if (first >= count) break;
        }
        Member member = {};
        Key keys[KEYS];
        if (lane_id() < vertices) {
            if (first + lane_id() < count) member = member_of(state, members[first + lane_id()]);
            batch[lane_id()] = member;
        }
        __syncwarp();
        if constexpr (COMPRESSED)
            decode_rows<KEYS>(run, batch, KEYS * team.size(), rows);
        else
            fill_rows<KEYS>(run, batch, KEYS * team.size(), rows);
        __syncwarp();
        member = batch[own_place];
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) keys[at] = row[at];
        __syncwarp();
        const Chooser v(run, member.id, member.label);
        KeySum own = 0, total_votes = 0;
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) {
            total_votes += weight_of(keys[at]);
            if (label_of(keys[at]) == v.label) own += weight_of(keys[at]);
        }
        own = team.sum(own);
        total_votes = team.sum(total_votes);
        SortedSums<WIDTH, KEYS> sums = {team, keys, row, 0, 0};
        Decision end = {judge(team, v, true, own, total_votes, sums), total_votes, 0};
        const u32 degree = member.place.degree();
        if (CARRIES)
            end.carried = team.largest(carried_by(v, member.place, end.verdict.best, 0, degree,
                                                  team.rank(), team.size()));
        if (team.rank() == 0 && first + own_place < count)
            end_update_of(run, phase, of_class, first + own_place, degree, v, end, counters);
        __syncwarp();
    }
}

// Updates the other classes that are sorted, the highest degrees first.
RIPPLET_FN void choose_by_lanes(const Run& run, Phase phase, ThreadCounters* counters) {
    constexpr u32 ALONE = UNIT ? UP_TO_32 : UP_TO_16;
    unsigned char* memory = sorting_memory<LANE_KEYS>();
#pragma unroll 1
    for (u32 doublings = 5; doublings > 0; doublings--)
        choose_sorted<LANE_KEYS>(run, phase, ALONE + doublings, Lanes<0>{1u << doublings}, memory, counters);
    choose_sorted<LANE_KEYS>(run, phase, ALONE, Lanes<1>{1}, memory, counters);
}

}  // namespace ripplet
