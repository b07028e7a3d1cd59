// Degrees up to 1024, where votes weigh 1: some vertices a warp, their votes sorted in registers.
//
// A warp reads the votes of some vertices together, through shared memory to where each lane has as
// many as its registers hold: a vertex's first votes, or all of them, or the next. A sorting network
// brings equal labels together, so a run's length is a label's sum. There is no table and no atomic,
// nothing depends on how many labels there are, and where a lane has all of a vertex's votes none
// waits for another. (GLP, section 4.2, has several vertices a warp as well, and matches labels
// between lanes: that takes as many steps as there are labels, and a warp a vertex's time.)
#pragma once

namespace ripplet {

// A vote as it is sorted: by its label; where votes weigh differently, the weight comes along.
struct Weighed {
    u32 label, weight;
};
template <bool IS_UNIT> struct Sorted {
    typedef Weighed Key;
    typedef u64 Sum;
};
template <> struct Sorted<true> {
    typedef u32 Key, Sum;
};
typedef Sorted<UNIT>::Key Key;
typedef Sorted<UNIT>::Sum KeySum;

RIPPLET_FN u32 label_of(u32 key) { return key; }
RIPPLET_FN u32 label_of(Weighed key) { return key.label; }
RIPPLET_FN u32 weight_of(u32 key) { return key != NO_LABEL; }
RIPPLET_FN u32 weight_of(Weighed key) { return key.weight; }
RIPPLET_FN void set_key(u32& key, Vote vote) { key = vote.label; }
RIPPLET_FN void set_key(Weighed& key, Vote vote) {
    // What has no label, and so no weight, is behind all others.
    key = vote.label == NO_LABEL || vote.weight == 0 ? Weighed{NO_LABEL, 0}
                                                     : Weighed{vote.label, vote.weight};
}

RIPPLET_FN void order(u32& a, u32& b) {
    const u32 less = min(a, b);
    b = max(a, b);
    a = less;
}
RIPPLET_FN void order(Weighed& a, Weighed& b) {
    const bool swap = a.label > b.label;
    const Weighed less = swap ? b : a;
    b = swap ? a : b;
    a = less;
}

RIPPLET_FN u32 of_lane(u32 key, u32 lane) { return __shfl_sync(ALL_LANES, key, lane); }
RIPPLET_FN Weighed of_lane(Weighed key, u32 lane) {
    return Weighed{__shfl_sync(ALL_LANES, key.label, lane), __shfl_sync(ALL_LANES, key.weight, lane)};
}

// The one of two keys that this lane keeps. Of equal labels each lane keeps its own.
RIPPLET_FN u32 kept(u32 mine, u32 other, bool least) {
    return least ? min(mine, other) : max(mine, other);
}
RIPPLET_FN Weighed kept(Weighed mine, Weighed other, bool least) {
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
// Sorts what is bitonic.
template <u32 STEP, class K, u32 ALL> RIPPLET_FN void merge_bitonic(K (&keys)[ALL]) {
    if constexpr (STEP > 0) {
#pragma unroll
        for (u32 at = 0; at < ALL; at++)
            if ((at & STEP) == 0) order(keys[at], keys[at + STEP]);
        merge_bitonic<STEP / 2>(keys);
    }
}

// Sorts the keys of each team's lanes, the least in its first lane.
template <u32 WIDTH, class K, u32 KEYS>
RIPPLET_FN void sort_teams(const Lanes<WIDTH>& team, K (&keys)[KEYS]) {
    sort_keys<0, KEYS>(keys);
    for (u32 span = 2; span <= team.size(); span *= 2) {
        // Two sorted halves become bitonic when one meets the other's end first.
        const bool is_lower = (lane_id() & (span / 2)) == 0;
#pragma unroll
        for (u32 at = 0; at < KEYS / 2; at++) {
            const u32 partner = lane_id() ^ (span - 1);
            const K near = of_lane(keys[KEYS - 1 - at], partner), far = of_lane(keys[at], partner);
            keys[at] = kept(keys[at], near, is_lower);
            keys[KEYS - 1 - at] = kept(keys[KEYS - 1 - at], far, is_lower);
        }
        for (u32 step = span / 4; step > 0; step /= 2) {
            const bool is_least = (lane_id() & step) == 0;
#pragma unroll
            for (u32 at = 0; at < KEYS; at++)
                keys[at] = kept(keys[at], of_lane(keys[at], lane_id() ^ step), is_least);
        }
        merge_bitonic<KEYS / 2>(keys);
    }
}

// A warp's part of shared memory: its vertices, and a row of votes for each lane, odd in length so
// that lanes that read the same place of theirs read different banks.
struct Member {
    Place place;
    u32 id, label;
};
constexpr u32 LANE_KEYS = UNIT ? 32 : 16;
constexpr u32 ROWS_BYTES = 32 * (LANE_KEYS + 1) * sizeof(Key);
constexpr u32 SORT_BYTES = 32 * sizeof(Member) + ROWS_BYTES;

// The sums of a team's votes: of each run of equal labels, at the lane where it begins.
template <u32 WIDTH, u32 KEYS> struct SortedSums {
    typedef Lanes<WIDTH> Team;

    Team team;
    Key (&keys)[KEYS];
    // This lane's row; the lane before has its own before it.
    Key* row;
    // Votes that this lane has; where its first own run begins; what others have of its last one.
    u32 used, first;
    KeySum extension;

    RIPPLET_FN void count() {
        sort_teams(team, keys);
        used = 0;
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) {
            row[at] = keys[at];
            used += label_of(keys[at]) != NO_LABEL;
        }
        first = 0;
        extension = 0;
        __syncwarp();
        if (team.size() == 1) return;
        // A run that began in a lane before, and whether it is all that this lane has.
        KeySum head = 0;
        const u32 label = label_of(row[0]);
        const bool goes_on = team.rank() > 0 && used > 0 && label_of(row[-2]) == label;
        if (goes_on)
            while (first < used && label_of(row[first]) == label) head += weight_of(row[first++]);
        u32 is_whole = goes_on && first == KEYS;
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
    RIPPLET_FN u64 top() const {
        KeySum most = 0;
        each([&](u32, u64 sum) { most = max(most, (KeySum)sum); });
        return team.largest(most);
    }
    template <class F> RIPPLET_FN void each(F visit) const {
        if (first >= used) return;
        u32 label = label_of(row[first]);
        KeySum sum = weight_of(row[first]);
        for (u32 at = first + 1; at <= used; at++) {
            const bool is_behind = at == used;
            const Key next = is_behind ? row[used - 1] : row[at];
            if (!is_behind && label_of(next) == label) {
                sum += weight_of(next);
                continue;
            }
            visit(label, (u64)(is_behind ? sum + extension : sum));
            label = label_of(next);
            sum = weight_of(next);
        }
    }
};

// The turns of a class, a team a vertex, each lane with `KEYS` of its votes.
template <u32 KEYS, u32 WIDTH>
RIPPLET_FN void choose_sorted(const Run& run, Turn turn, u32 of_class, Lanes<WIDTH> team, Seen* seen) {
    const Field& field = run.field;
    const u32* members = field.members[of_class];
    const u32 count = field.tallies->members[turn.parity][of_class];
    if (count == 0) return;
    unsigned char* memory = shared_memory() + threadIdx.x / 32 * SORT_BYTES;
    Member* batch = (Member*)memory;
    Key* rows = (Key*)(memory + 32 * sizeof(Member));
    const u32 vertices = 32 / team.size(), room = KEYS * team.size(), room_bits = trailing_zeros(room);
    const u32 mine = team.first() / team.size();
    // Some batches are taken at a time where there are many.
    const u32 share = count / (gridDim.x * (BLOCK / 32)) / vertices / 8;
    const u32 together = vertices * min(max(share, 1u), 8u);
    u32 first = take(field, of_class, together), end_of_taken = first + together;
    for (; first < count; first += vertices) {
        if (first == end_of_taken) {
            first = take(field, of_class, together);
            end_of_taken = first + together;
            if (first >= count) break;
        }
        if (lane_id() < vertices) {
            Member member = {};
            if (first + lane_id() < count) {
                member.id = members[first + lane_id()];
                member.place = place_of(field, member.id);
                member.label = field.labels[member.id];
            }
            batch[lane_id()] = member;
        }
        __syncwarp();
        // Votes are read as they lie in memory, some at a time.
        constexpr u32 AT_ONCE = KEYS < 8 ? KEYS : 8;
        for (u32 step = 0; step < KEYS; step += AT_ONCE) {
            Arc arcs[AT_ONCE];
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++) {
                const u32 slot = (step + index) * 32 + lane_id();
                const Place& place = batch[slot >> room_bits].place;
                const bool hears = (slot & (room - 1)) < place.degree();
                arcs[index] = hears ? arc_at(field, place, (slot & (room - 1))) : Arc{U32_MAX, 0};
            }
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++) {
                const u32 slot = (step + index) * 32 + lane_id();
                const Member& member = batch[slot >> room_bits];
                const Vote vote = arcs[index].id == U32_MAX
                                      ? Vote{NO_LABEL, 0}
                                      : Chooser(run, member.id, member.label).vote(arcs[index]);
                set_key(rows[slot + slot / KEYS], vote);
            }
        }
        __syncwarp();

        const Member& member = batch[mine];
        const Chooser v(run, member.id, member.label);
        Key keys[KEYS];
        KeySum own = 0, cast = 0;
        Key* row = rows + lane_id() * (KEYS + 1);
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) {
            keys[at] = row[at];
            cast += weight_of(keys[at]);
            if (label_of(keys[at]) == v.label) own += weight_of(keys[at]);
        }
        own = team.sum(own);
        cast = team.sum(cast);
        __syncwarp();
        SortedSums<WIDTH, KEYS> sums = {team, keys, row, 0, 0, 0};
        Ended end = {judge(team, v, true, own, cast, sums), cast, 0};
        const Best& best = end.verdict.best;
        if (CARRIES) {
            if (best.found)
                for (u32 at = team.rank(); at < member.place.degree(); at += team.size()) {
                    const Arc arc = arc_at(field, member.place, at);
                    const Vote vote = v.vote(arc);
                    if (vote.weight > 0 && vote.label == best.label)
                        end.carried = max(end.carried, v.carry(arc));
                }
            end.carried = team.largest(end.carried);
        }
        if (team.rank() == 0 && first + mine < count)
            end_turn_of(run, of_class, first + mine, v.id, v.label, end, seen);
        __syncwarp();
    }
}

// The classes that lanes sort, the longest turns first.
RIPPLET_FN void choose_all_sorted(const Run& run, Turn turn, Seen* seen) {
    constexpr u32 ALONE = UNIT ? UP_TO_32 : UP_TO_16;
#pragma unroll 1
    for (u32 doublings = 5; doublings > 0; doublings--)
        choose_sorted<LANE_KEYS>(run, turn, ALONE + doublings, Lanes<0>{1u << doublings}, seen);
    choose_sorted<LANE_KEYS>(run, turn, ALONE, Lanes<1>{1}, seen);
    if constexpr (UNIT) choose_sorted<16>(run, turn, UP_TO_16, Lanes<1>{1}, seen);
    choose_sorted<8>(run, turn, UP_TO_8, Lanes<1>{1}, seen);
    choose_sorted<4>(run, turn, UP_TO_4, Lanes<1>{1}, seen);
}

}  // namespace ripplet
