// Walking over the lists of a vertex's neighbours, up to 32 at a time, with a warp.
#pragma once

namespace ripplet {

// The lists of up to 32 neighbours, one behind the other; in shared memory.
struct Walk {
    // Where each list ends, counted over all; and where in `targets` it would begin, were it the first.
    u32 ends[32];
    EdgeNumber from[32];
    // The slot of each neighbour, if it has one in the table; and who it is.
    u32 slots[32];
    u32 names[32];
    // Whether there are arcs in both directions between the owner and the neighbour.
    u32 both;
};

// The lists of those lanes' vertices that are `there`, no hubs, laid out. Returns the length of all.
RIPPLET_FN u32 lay_out(const State& state, Walk* walk, u32 v, u32 slot, u32 arcs, bool there) {
    const EdgeNumber begin = there ? __ldg(state.begins + v) : 0;
    const u32 length = there ? (u32)(__ldg(state.begins + v + 1) - begin) : 0;
    const u32 before = sum_before(length);
    const u32 all_both = __ballot_sync(ALL_LANES, arcs == 2);
    walk->ends[lane_id()] = before + length;
    walk->from[lane_id()] = begin - before;
    walk->slots[lane_id()] = slot;
    walk->names[lane_id()] = v;
    if (lane_id() == 0) walk->both = all_both;
    __syncwarp();
    return __shfl_sync(ALL_LANES, before + length, 31);
}

// Meets all that is in the lists, `length` in all, and adds what triangles add to the third corners and
// to the neighbours. Returns what they add to the owner, of this lane's share.
RIPPLET_FN Sum meet(const State& state, const Table& table, const Walk* walk, u32 length) {
    Sum of_owner = {0, 0}, of_neighbor = {0, 0};
    u32 list = 0;
    const auto hand_over = [&] {
        if (of_neighbor.triangles == 0) return;
        const u32 slot = walk->slots[list];
        if (slot != NO_SLOT)
            table.add(slot, of_neighbor.value(), of_neighbor.triangles);
        else
            add_to(state, walk->names[list], of_neighbor.value(), of_neighbor.triangles);
        of_neighbor = Sum{0, 0};
    };
    for (u32 at = lane_id(); at < length; at += 32) {
        if (at >= walk->ends[list]) {
            hand_over();
            do list++;
            while (at >= walk->ends[list]);
        }
        const EdgeNumber edge = walk->from[list] + at;
        const u32 slot = table.find(__ldg(state.targets + edge));
        if (slot == NO_SLOT) continue;
        const u32 vu = 1 + (walk->both >> list & 1);
        const Gains gains(vu, arcs_of(state, edge), RULE == PLAIN ? 1 : table.arcs(slot));
        of_owner.add(gains.v);
        of_neighbor.add(gains.u);
        table.add(slot, gains.w, 1);
    }
    hand_over();
    return of_owner;
}

}  // namespace ripplet
