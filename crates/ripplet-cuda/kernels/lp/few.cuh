// Thread-mapped vertices (kernel `ripplet_choose_low`): degrees up to 16 if votes are counted, otherwise up
// to 8. A lane has all votes of a vertex in its registers and sorts them there. Shared memory: per warp, 32
// `Member`s and a row of `LOW_KEYS + 1` keys a lane.
#pragma once

namespace ripplet {

// The number of degree classes counted here. Few registers a lane let more warps fit a multiprocessor than in
// `choose_middle`, so this is a kernel of its own. A sketch with as many slots as a vertex has arcs loses
// nothing, so sorting gives the same result (`LOSSLESS`); with fewer slots, a lane takes the vertex if one
// lane holds the whole sketch.
constexpr u32 ALL_LOW = UNIT ? 3 : 2;
constexpr u32 LOSSLESS = BY_MAJORITY || SKETCH_SLOTS < 4 ? 0
                         : SKETCH_SLOTS < 8              ? 1
                         : SKETCH_SLOTS < 16             ? 2
                                                         : ALL_LOW;
constexpr u32 LOW = SKETCH_SLOTS == 0 ? ALL_LOW : GROUP == 1 ? 2 : LOSSLESS;

// Finds the label that wins a vertex's votes, at most `KEYS` of them. `row` is the lane's row of shared
// memory. All lanes of a warp call it together; a lane without a vertex passes one without arcs.
template <u32 KEYS> RIPPLET_FN Ended end_of_few(const Run& run, const Member& member, Key* row) {
    constexpr bool SKETCHES = SKETCH_SLOTS > 0 && (KEYS == 4 ? LOSSLESS < 1 : LOSSLESS < 2);
    const Chooser v(run, member.id, member.label);
    const u32 degree = member.place.degree();
    Arc arcs[KEYS];
    if constexpr (SKETCHES) {
        // The result of a sketch depends on the order of the votes.
        const Sketched vertex = Sketched::of(run.field, member);
        Cursor cursor = Cursor::at(run.field, vertex.place, vertex.start);
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) arcs[at] = at < degree ? cursor.next() : Arc{U32_MAX, 0};
    } else {
        Cursor cursor = Cursor::at(run.field, member.place, 0);
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) arcs[at] = at < degree ? cursor.next() : Arc{U32_MAX, 0};
    }
    Key keys[KEYS];
#pragma unroll
    for (u32 at = 0; at < KEYS; at++) keys[at] = key_if(run, member, arcs[at]);
    KeySum own = 0, cast = 0;
#pragma unroll
    for (u32 at = 0; at < KEYS; at++) {
        cast += weight_of(keys[at]);
        if (label_of(keys[at]) == v.label) own += weight_of(keys[at]);
    }
    Ended end = {{}, cast, 0};
    if constexpr (SKETCHES) {
        Slots slots = Slots::nothing();
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) slots.take(label_of(keys[at]), weight_of(keys[at]));
        if (RECOUNTS) slots.recount(keys);
        end.verdict = judge_sketched(Lanes<0>{1}, v, degree > 0, VotesCast{cast, own}, slots);
    } else {
        const Lanes<1> alone = {1};
        SortedSums<1, KEYS> sums = {alone, keys, row, 0, 0};
        end.verdict = judge(alone, v, true, own, cast, sums);
    }
    if (CARRIES) end.carried = carried_by(v, member.place, end.verdict.best, 0, degree, 0, 1);
    return end;
}

// Updates the members of a class, a lane per vertex.
template <u32 KEYS>
RIPPLET_FN void choose_few(const Run& run, Turn turn, u32 of_class, Key* row, Seen* seen) {
    const Field& field = run.field;
    const Members members(field, of_class);
    const u32 count = members_until(field, turn, of_class);
    u32* const taken = &takers(field, turn).taken[of_class];
    // Takes several batches of 32 at once if there are many, to save atomics.
    const u32 share = count / (gridDim.x * BLOCK) / 8;
    const u32 together = 32 * min(max(share, 1u), 8u);
    for (u32 first; (first = take(taken, together)) < count;) {
        const u32 end_of_taken = min(first + together, count);
        for (; first < end_of_taken; first += 32) {
            const u32 item = first + lane_id();
            const bool present = item < count;
            const Member member = present ? member_of(field, members[item]) : Member{};
            const Ended end = end_of_few<KEYS>(run, member, row);
            const Chooser v(run, member.id, member.label);
            if (present) end_turn_of(run, turn, of_class, item, member.place.degree(), v, end, seen);
            __syncwarp();
        }
    }
}

RIPPLET_FN void choose_low(const Run& run, Turn turn, Seen* seen) {
    unsigned char* memory = sorting_memory<LOW_KEYS>();
    Key* row = (Key*)(memory + 32 * sizeof(Member)) + lane_id() * (LOW_KEYS + 1);
    if constexpr (LOW > 2) choose_sorted<16>(run, turn, UP_TO_16, Lanes<1>{1}, memory, seen);
    if constexpr (LOW > 1) choose_few<8>(run, turn, UP_TO_8, row, seen);
    if constexpr (LOW > 0) choose_few<4>(run, turn, UP_TO_4, row, seen);
}

}  // namespace ripplet
