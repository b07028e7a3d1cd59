// Thread-mapped vertices (kernel `ripplet_choose_by_thread`): degrees up to 16 if votes are counted, otherwise up
// to 8. A lane has all votes of a vertex in its registers and sorts them there.
//
//     lane 0           lane 1           lane 2         ...       a vertex each
//     3 1 3 7          4 4 9 -          1 2 1 1                  votes of up to 4 arcs, `-` for none
//     1 3 3 7          4 4 9 -          1 1 1 2                  sorted: a run's length is a label's sum
//     3: 2 votes       4: 2 votes       1: 3 votes               the leader
//
//     degree (counted)     1-4   5-8   9-16
//     degree (weighted)    1-4   5-8             9-16: `by_warp.cuh`
//     keys a lane            4     8     16
//
// A lane reads its own list up to degree 8. Above, the warp reads the lists of its 32 vertices together, and hands each
// lane its votes through shared memory (`choose_sorted` in `by_warp.cuh`).
//
// Shared memory, per warp (`SORT_BYTES<LOW_KEYS>`): 32 `Member`s | 32 rows of `LOW_KEYS + 1` keys, an odd length
// against bank conflicts. GLP (SIGMOD 2021), section 4.2, packs low-degree vertices into warps; here a vertex has a
// lane of its own.
#pragma once

namespace ripplet {

// The number of degree classes counted here. Few registers a lane let more warps fit a multiprocessor than in
// `choose_by_lanes`, so this is a kernel of its own. A sketch with as many slots as a vertex has arcs loses
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
template <u32 KEYS> RIPPLET_FN Decision decide_by_thread(const Run& run, const Member& member, Key* row) {
    constexpr bool SKETCHES = SKETCH_SLOTS > 0 && (KEYS == 4 ? LOSSLESS < 1 : LOSSLESS < 2);
    const Chooser v(run, member.id, member.label);
    const u32 degree = member.place.degree();
    Arc arcs[KEYS];
    if constexpr (SKETCHES) {
        // The result of a sketch depends on the order of the votes.
        const Sketched vertex = Sketched::of(run.state, member);
        Cursor cursor = Cursor::at(run.state, vertex.place, vertex.start);
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) arcs[at] = at < degree ? cursor.next() : Arc{U32_MAX, 0};
    } else {
        Cursor cursor = Cursor::at(run.state, member.place, 0);
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) arcs[at] = at < degree ? cursor.next() : Arc{U32_MAX, 0};
    }
    Key keys[KEYS];
#pragma unroll
    for (u32 at = 0; at < KEYS; at++) keys[at] = key_if(run, member, arcs[at]);
    KeySum own = 0, total_votes = 0;
#pragma unroll
    for (u32 at = 0; at < KEYS; at++) {
        total_votes += weight_of(keys[at]);
        if (label_of(keys[at]) == v.label) own += weight_of(keys[at]);
    }
    Decision end = {{}, total_votes, 0};
    if constexpr (SKETCHES) {
        Slots slots = Slots::nothing();
#pragma unroll
        for (u32 at = 0; at < KEYS; at++) slots.take(label_of(keys[at]), weight_of(keys[at]));
        if (RECOUNTS) slots.recount(keys);
        end.verdict = judge_sketched(Lanes<0>{1}, v, degree > 0, VoteTotals{own, total_votes}, slots);
    } else {
        const Lanes<1> alone = {1};
        SortedSums<1, KEYS> sums = {alone, keys, row, 0, 0};
        end.verdict = judge(alone, v, true, own, total_votes, sums);
    }
    if (CARRIES) end.carried = carried_by(v, member.place, end.verdict.best, 0, degree, 0, 1);
    return end;
}

// Updates the members of a class, a lane per vertex.
template <u32 KEYS>
RIPPLET_FN void choose_by_thread(const Run& run, Phase phase, u32 of_class, Key* row, ThreadCounters* counters) {
    const LpState& state = run.state;
    const Members members(state, of_class);
    const u32 count = members_until(state, phase, of_class);
    // Lists of a class are of similar length, so that each warp gets the same number of members. On `road`, to take them
    // by a counter, as `choose_sorted` does, doubled the time of the kernel: the atomics of all warps are at one address
    // (`choose_by_thread` in `bench/runs/2026-11-29-h200/phase-kernels.txt`).
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    for (u64 first = members_from(state, phase, of_class) + thread - lane_id(); first < count; first += threads) {
        const u64 item = first + lane_id();
        const bool present = item < count;
        const Member member = present ? member_of(state, members[(u32)item]) : Member{};
        const Decision end = decide_by_thread<KEYS>(run, member, row);
        const Chooser v(run, member.id, member.label);
        if (present) end_update_of(run, phase, of_class, (u32)item, member.place.degree(), v, end, counters);
        __syncwarp();
    }
}

RIPPLET_FN void choose_low_classes(const Run& run, Phase phase, ThreadCounters* counters) {
    unsigned char* memory = sorting_memory<LOW_KEYS>();
    Key* row = (Key*)(memory + 32 * sizeof(Member)) + lane_id() * (LOW_KEYS + 1);
    if constexpr (LOW > 2) choose_sorted<16>(run, phase, UP_TO_16, Lanes<1>{1}, memory, counters);
    if constexpr (LOW > 1) choose_by_thread<8>(run, phase, UP_TO_8, row, counters);
    if constexpr (LOW > 0) choose_by_thread<4>(run, phase, UP_TO_4, row, counters);
}

}  // namespace ripplet
