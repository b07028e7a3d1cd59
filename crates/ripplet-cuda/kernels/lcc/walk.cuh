// Intersects the lists of up to 32 of a vertex's neighbours with the vertex's own list, a hash table in shared
// memory. A warp walks over the lists as over one sequence, so that short lists leave no lane idle:
//
//     lists of the neighbours   a: 3 names   b: 5 names   c: 1 name
//     sequence                  a a a b b b b b c
//     lane                      0 0 0 0 1 1 1 1 2      up to four consecutive names per lane
//
// Shared memory: a `Walk` per warp, beside the table.
#pragma once

namespace ripplet {

// The lists of up to 32 neighbours, laid end to end; in shared memory.
struct Walk {
    // The end of each list in this sequence; and the index in `targets` that its position 0 would have.
    u32 ends[32];
    EdgeNumber from[32];
    // The slot of each neighbour in the table, if it has one, and its name.
    u32 slots[32];
    u32 names[32];
    // By neighbour, a bit: there are arcs in both directions between it and the owner.
    u32 both;
};

// Lays out the lists of the lanes' vertices with `there` set; none of them is a hub. Returns the total
// length.
RIPPLET_FN u32 concatenate(const State& state, Walk* walk, u32 v, u32 slot, u32 arcs, bool there) {
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

// The list that a position belongs to.
RIPPLET_FN u32 list_at(const Walk* walk, u32 at) {
    u32 list = 0;
    for (u32 step = 16; step > 0; step /= 2)
        if (at >= walk->ends[list + step - 1]) list += step;
    return list;
}

// Names that a lane loads at a time, so that their latencies overlap. Eight are no better on `rmat` and `social`, and
// counting is 8 % slower on `web` (`lcc-4-eight.txt` in `bench/runs/2026-11-22-h200`).
constexpr u32 AT_ONCE = 4;

// Looks up all names of the lists, `length` in total. Adds the contributions to third corners and to
// neighbours. Returns this lane's share of those to the owner.
RIPPLET_FN Sum intersect(const State& state, const Table& table, const Walk* walk, u32 length) {
    Sum of_owner = {0, 0}, of_neighbor = {0, 0};
    u32 neighbor = 0;
    const auto flush = [&] {
        if (of_neighbor.triangles == 0) return;
        const u32 slot = walk->slots[neighbor];
        if (slot != NO_SLOT)
            table.add(slot, of_neighbor.value(), of_neighbor.triangles);
        else
            add_to(state, walk->names[neighbor], of_neighbor.value(), of_neighbor.triangles);
        of_neighbor = Sum{0, 0};
    };
    // Each lane has consecutive names, mostly of one list.
    const u32 each = min(AT_ONCE, (length + 31) / 32);
    for (u32 first = lane_id() * each; first < length; first += 32 * each) {
        u32 names[AT_ONCE];
        // The list of each name, in eight bits.
        u32 lists = 0;
        u32 list = list_at(walk, first);
#pragma unroll
        for (u32 step = 0; step < AT_ONCE; step++) {
            const u32 at = first + step;
            names[step] = FREE;
            if (step >= each || at >= length) continue;
            while (at >= walk->ends[list]) list++;
            lists |= list << 8 * step;
            names[step] = __ldg(state.targets + (EdgeNumber)(walk->from[list] + at));
        }
#pragma unroll
        for (u32 step = 0; step < AT_ONCE; step++) {
            if (names[step] == FREE) continue;
            const u32 slot = table.find(names[step]);
            if (slot == NO_SLOT) continue;
            const u32 of_list = lists >> 8 * step & 31;
            if (of_list != neighbor) {
                flush();
                neighbor = of_list;
            }
            const u32 vu = 1 + (walk->both >> neighbor & 1);
            const EdgeNumber edge = walk->from[neighbor] + first + step;
            const Contributions contributions(vu, arcs_of(state, edge), RULE == PLAIN ? 1 : table.arcs(slot));
            of_owner.add(contributions.v);
            of_neighbor.add(contributions.u);
            table.add(slot, contributions.w, 1);
        }
    }
    flush();
    return of_owner;
}

}  // namespace ripplet
