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
    // Whether this lane is the first of its label's, and whether all votes of the warp weigh 1.
    bool speaks, is_unit;

    RIPPLET_FN void count() {
        const bool says = vote.weight > 0;
        const u32 says_here = __ballot_sync(ALL_LANES, says) & team.lanes();
        const u32 same = __match_any_sync(ALL_LANES, vote.label) & says_here;
        speaks = says && (same & ((1u << lane_id()) - 1)) == 0;
        if (is_unit) {
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
    RIPPLET_FN u64 top() const {
        const u64 mine = speaks ? sum : 0;
        return is_unit ? team.largest((u32)mine) : team.largest(mine);
    }
    template <class F> RIPPLET_FN void each(F visit) const {
        if (speaks) visit(vote.label, sum);
    }
};

// The turns of a class, whose vertices fit tiles of this width.
//
// A warp takes a batch of vertices at a time. Each lane looks up one of them, and ends its turn; in
// between the vertices are judged in steps, as many at once as there are tiles. What a vertex needs
// lies in three places, each of which tells where the next is, so each step's arcs are read two
// steps ahead, and their labels one.
template <u32 WIDTH>
RIPPLET_FN void choose_tiles(const Run& run, Turn turn, u32 class_of_tile) {
    const Field& field = run.field;
    constexpr u32 TILES = 32 / WIDTH;
    const Tile<WIDTH> team;
    const u32* members = field.members[class_of_tile];
    const u32 count = field.tallies->members[class_of_tile];
    const u32 warps = gridDim.x * WARPS;
    Ended* ended = (Ended*)shared_memory() + threadIdx.x / 32 * BATCH;
    u32 batch = BATCH;
    while (batch > TILES && (u64)warps * batch > count) batch /= 2;
    // Several batches are taken at a time where there are many.
    const u32 together = count / 32 > warps * batch ? 4 * batch : batch;
    Seen seen = {0, 0};
    u32 first = count > 0 ? take(field, class_of_tile, together) : 0, end_of_taken = first + together;
    for (; first < count; first += batch) {
        if (first == end_of_taken) {
            first = take(field, class_of_tile, together);
            end_of_taken = first + together;
            if (first >= count) break;
        }
        const bool has = lane_id() < batch && first + lane_id() < count;
        Member mine = {};
        if (has) {
            mine.id = members[first + lane_id()];
            mine.place = place_of(field, mine.id);
            mine.label = field.labels[mine.id];
        }
        const auto at = [&](u32 step) { return mine.of_lane((step * TILES + lane_id() / WIDTH) % 32); };
        const auto arc_of = [&](const Member& member) {
            const bool hears = team.rank() < member.place.degree();
            return hears ? arc_at(field, member.place, team.rank()) : Arc{0, 0};
        };
        const auto vote_of = [&](const Member& member, const Arc& arc) {
            const bool hears = team.rank() < member.place.degree();
            return hears ? Chooser(run, member.id, member.label).vote(arc) : Vote{NO_LABEL, 0};
        };
        const u32 steps = batch / TILES;
        Member now = at(0), next = at(1);
        Arc arc = arc_of(now), next_arc = arc_of(next);
        Vote vote = vote_of(now, arc);
        for (u32 step = 0; step < steps; step++) {
            const Member later = at(step + 2);
            const Arc later_arc = step + 2 < steps ? arc_of(later) : Arc{0, 0};
            const Vote next_vote = step + 1 < steps ? vote_of(next, next_arc) : Vote{NO_LABEL, 0};

            const Chooser v(run, now.id, now.label);
            const bool is_unit = __all_sync(ALL_LANES, vote.weight <= 1);
            u64 own, cast;
            if (is_unit) {
                own = team.count(vote.weight && vote.label == v.label);
                cast = team.count(vote.weight);
            } else {
                own = team.sum(vote.label == v.label ? vote.weight : 0);
                cast = team.sum(vote.weight);
            }
            TileSums<WIDTH> sums = {team, vote, 0, false, is_unit};
            const Verdict verdict = judge(team, v, true, own, cast, sums);
            u32 carried = 0;
            if (CARRIES) {
                const bool agrees =
                    verdict.best.found && vote.weight > 0 && vote.label == verdict.best.label;
                carried = team.largest(agrees ? v.carry(arc) : 0);
            }
            if (team.rank() == 0)
                ended[step * TILES + lane_id() / WIDTH] = Ended{verdict, cast, carried};

            now = next;
            next = later;
            arc = next_arc;
            next_arc = later_arc;
            vote = next_vote;
        }
        __syncwarp();
        const Ended& end = ended[has ? lane_id() : 0];
        end_turn(run, turn, has, mine.id, mine.label, mine.place.degree(), end, &seen);
        __syncwarp();
    }
    seen.report(field);
}

}  // namespace ripplet
