// Pairs of hubs in a vertex's list: each pair is a triangle if the two hubs are neighbours, by the bit
// matrix. A warp tests 32 rows, one per lane, against 32 columns.
//
//     row's number, broadcast     ──┐
//     columns of the lanes   0 1 … 31    a lane tests the bit (row, column) if its column is smaller
//     hits, by ballot        1 0 … 1     popcount = triangles of the row; each lane adds its own column's
//
// Four rows at a time, so that the loads of their bits overlap. No shared memory.
#pragma once

namespace ripplet {

// The hub of a lane, if it has one, and its counts.
struct HubOfLane {
    u32 number, arcs;
    bool there;
    Sum sum;

    RIPPLET_FN HubOfLane(u32 name, u32 arcs)
        : number(name - HUBS_FROM), arcs(arcs), there(is_hub(name)), sum{0, 0} {}
};

// Rows at a time. One row at a time, and one name in `walk.cuh`, `rmat` 22 took 51 ms instead of 40 (`lcc-2-hubs.txt`
// and `lcc-3-at-once.txt` in `bench/runs/2026-11-22-h200`). Other numbers are not measured.
constexpr u32 PAIRS_AT_ONCE = 4;

// Tests each lane's hub of `rows` with all hubs of `columns` that have lower numbers.
RIPPLET_FN void intersect_hubs(const State& state, HubOfLane* rows, HubOfLane* columns, Sum* of_owner) {
    const u32 least = warp_min(columns->there ? columns->number : U32_MAX);
    const bool is_row = rows->there && rows->number > least;
    u32 left = __ballot_sync(ALL_LANES, is_row);
    while (left != 0) {
        // Several rows at a time, so that their loads overlap.
        u32 lanes[PAIRS_AT_ONCE], between[PAIRS_AT_ONCE];
#pragma unroll
        for (u32 turn = 0; turn < PAIRS_AT_ONCE; turn++) {
            lanes[turn] = left != 0 ? __ffs((int)left) - 1 : 32;
            left &= left - 1;
            const u32 row = __shfl_sync(ALL_LANES, rows->number, lanes[turn]);
            const bool lower = lanes[turn] < 32 && columns->there && columns->number < row;
            between[turn] = lower ? arcs_between(state, row, columns->number) : 0;
        }
#pragma unroll
        for (u32 turn = 0; turn < PAIRS_AT_ONCE; turn++) {
            const bool hit = between[turn] > 0;
            Sum of_row = {0, (u32)__popc(__ballot_sync(ALL_LANES, hit))};
            if (RULE == PLAIN) {
                columns->sum.triangles += hit;
                of_owner->triangles += hit;
            } else {
                const u32 arcs = __shfl_sync(ALL_LANES, rows->arcs, lanes[turn]);
                const Contributions contributions(arcs, between[turn], columns->arcs);
                if (hit) {
                    columns->sum.add(contributions.w);
                    of_owner->add(contributions.v);
                }
                of_row.numerator = warp_sum(hit ? contributions.u : 0u);
            }
            if (lane_id() == lanes[turn]) rows->sum.add(of_row);
        }
    }
}

}  // namespace ripplet
