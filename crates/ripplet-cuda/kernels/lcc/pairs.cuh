// Pairs of hubs in a vertex's list: each is a triangle if the two are neighbours, which a bit tells.
#pragma once

namespace ripplet {

// A hub of a vertex's list, of each lane one, or none; and what is counted of it.
struct HubOfLane {
    u32 number, arcs;
    bool there;
    Sum sum;

    RIPPLET_FN HubOfLane(u32 name, u32 arcs)
        : number(name - HUBS_FROM), arcs(arcs), there(is_hub(name)), sum{0, 0} {}
};

// Meets the hubs of all lanes with all others that have lower numbers, which are of `columns`.
RIPPLET_FN void meet_pairs(const State& state, HubOfLane* rows, HubOfLane* columns, Sum* of_owner) {
    const u32 least = warp_min(columns->there ? columns->number : U32_MAX);
    const bool meets = rows->there && rows->number > least;
    const u32 end = 32 - leading_zeros(__ballot_sync(ALL_LANES, meets));
#pragma unroll 4
    for (u32 lane = 0; lane < end; lane++) {
        // Nobody is lower than the hub of number 0.
        const u32 row = __shfl_sync(ALL_LANES, meets ? rows->number : 0, lane);
        const bool lower = columns->there && columns->number < row;
        const u32 between = lower ? arcs_between(state, row, columns->number) : 0;
        Sum of_row = {0, (u32)__popc(__ballot_sync(ALL_LANES, between > 0))};
        u32 gain_of_row = 0;
        if (RULE == PLAIN) {
            columns->sum.triangles += between;
        } else {
            const u32 arcs = __shfl_sync(ALL_LANES, rows->arcs, lane);
            const Gains gains(arcs, between, columns->arcs);
            if (between > 0) {
                columns->sum.add(gains.w);
                of_owner->add(gains.v);
                gain_of_row = gains.u;
            }
            of_row.numerator = warp_sum(gain_of_row);
        }
        if (lane_id() == lane) {
            rows->sum.add(of_row);
            if (RULE == PLAIN) of_owner->triangles += of_row.triangles;
        }
    }
}

}  // namespace ripplet
