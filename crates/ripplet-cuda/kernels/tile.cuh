// Degrees up to 32: several vertices a warp, a vote a lane, counted in registers.
//
// Equal labels find one another by one warp instruction; where all votes weigh 1, a label's sum is
// the number of its lanes. No table, no atomics, no shared memory (GLP, section 4.2).
#pragma once

namespace ripplet {

template <u32 WIDTH> struct TileSums {
    Tile<WIDTH> team;
    Vote vote;
    u64 sum;
    // Whether this lane is the first of its label's.
    bool speaks;

    RIPPLET_FN void count() {
        const bool says = vote.weight > 0;
        const u32 says_here = __ballot_sync(ALL_LANES, says) & team.lanes();
        const u32 same = __match_any_sync(ALL_LANES, vote.label) & says_here;
        speaks = says && (same & ((1u << lane_id()) - 1)) == 0;
        if (__all_sync(ALL_LANES, vote.weight <= 1)) {
            sum = __popc(same);
            return;
        }
        sum = 0;
        for (u32 lane = 0; lane < WIDTH; lane++) {
            const u32 from = lane_id() / WIDTH * WIDTH + lane;
            const u32 label = __shfl_sync(ALL_LANES, vote.label, from);
            const u32 weight = __shfl_sync(ALL_LANES, vote.weight, from);
            if (label == vote.label) sum += weight;
        }
    }
    RIPPLET_FN u64 top() const { return speaks ? sum : 0; }
    template <class F> RIPPLET_FN void each(F visit) const {
        if (speaks) visit(vote.label, sum);
    }
};

template <u32 WIDTH>
RIPPLET_FN void choose_tiles(const Run& run, Turn turn, u32 class_of_tile) {
    const Field& field = run.field;
    constexpr u32 TILES = 32 / WIDTH;
    const Tile<WIDTH> team;
    const u32* members = field.members[class_of_tile];
    const u32 count = field.tallies->members[class_of_tile];
    const u32 warp = blockIdx.x * WARPS + threadIdx.x / 32;
    Seen seen = {0, 0};
    for (u32 first = warp * TILES; first < count; first += gridDim.x * WARPS * TILES) {
        const u32 item = first + lane_id() / WIDTH;
        const bool present = item < count;
        const u32 id = present ? members[item] : 0;
        const Place place = place_of(field, id);
        const u32 degree = place.degree();
        const Chooser v(run, id, field.labels[id]);
        const bool hears = present && team.rank() < degree;
        const Arc arc = hears ? arc_at(field, place, team.rank()) : Arc{0, 0};
        const Vote vote = hears ? v.vote(arc) : Vote{NO_LABEL, 0};

        u64 own, cast;
        if (__all_sync(ALL_LANES, vote.weight <= 1)) {
            own = team.count(vote.weight && vote.label == v.label);
            cast = team.count(vote.weight);
        } else {
            own = team.sum((u64)(vote.label == v.label ? vote.weight : 0));
            cast = team.sum((u64)vote.weight);
        }
        TileSums<WIDTH> sums = {team, vote, 0, false};
        const Verdict verdict = judge(team, v, present, own, cast, sums);
        u32 carried = 0;
        if (CARRIES) {
            const bool agrees =
                verdict.best.found && vote.weight > 0 && vote.label == verdict.best.label;
            carried = team.largest(agrees ? v.carry(arc) : 0);
        }
        end_turn(run, turn, present && team.rank() == 0, v, degree, verdict, cast, carried, &seen);
    }
    seen.report(field);
}

}  // namespace ripplet
