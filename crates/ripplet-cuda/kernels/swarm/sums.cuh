// Sums over all sources in one fixed order, on any team: eight neighbouring sources pairwise, then these sums
// of a group one after the other, then groups one after the other. A unit of 64 sources is a whole group.
//
//     ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))      by shuffles of eight lanes
//     group = unit 0 + unit 1 + … + unit 7                   ascending
//     value = group 0 + group 1 + …                          ascending
//
// A team that processes all units of a graph adds in this order as it goes. Units of a split graph store
// partial sums, which are added after a source batch.
//
// Mapping: eight lanes per vertex or arc for the pairwise sum, whose first lane adds it (`add_sum`); `add_up` has a
// block of 256 threads per `PIECE` values. No shared memory. The order is that of `ripplet_analytics::pairwise`
// (docs/adr/0010-swarms-on-the-gpu.md).
#pragma once

namespace ripplet {

// The pairwise sum over eight neighbouring lanes, in all of them.
RIPPLET_FN f64 pairwise_sum(f64 x) {
    for (u32 other = 1; other < EIGHT; other *= 2) x += __shfl_xor_sync(ALL_LANES, x, other);
    return x;
}
RIPPLET_FN u64 pairwise_sum(u64 x) {
    for (u32 other = 1; other < EIGHT; other *= 2) x += (u64)__shfl_xor_sync(ALL_LANES, x, other);
    return x;
}
RIPPLET_FN u64 pairwise_max(u64 x) {
    for (u32 other = 1; other < EIGHT; other *= 2) x = max(x, (u64)__shfl_xor_sync(ALL_LANES, x, other));
    return x;
}

// Adds a unit's sum to the value with this index. `group` has the sum of the current group so far.
RIPPLET_FN void add_sum(const State& state, const Member& graph, const Item& item, u32 unit, u32 index, f64 sum,
                        f64* group) {
    if (item.split != NO_SPLIT) {
        const Split& split = state.splits[item.split];
        state.partials[split.partials + (u64)(unit - split.first) * graph.width + index] = sum;
        return;
    }
    const bool is_last = unit + 1 == item.end;
    sum = (unit % UNITS_OF_GROUP == 0 ? 0.0 : *group) + sum;
    *group = sum;
    if (!is_last && unit % UNITS_OF_GROUP + 1 < UNITS_OF_GROUP) return;
    f64* const value = state.values + graph.values + index;
    sum = (unit < UNITS_OF_GROUP ? 0.0 : *value) + sum;
    *value = is_last ? value_of_sum(state, graph, sum) : sum;
}

// Adds a source batch's partial sums to a value, in order.
RIPPLET_FN f64 add_partials(const State& state, const Split& split, u32 width, u32 index, f64 value) {
    const f64* partials = state.partials + split.partials + index;
    for (u32 unit = split.first; unit < split.end;) {
        const u32 end = min(split.end, unit + UNITS_OF_GROUP);
        f64 group = 0.0;
        for (; unit < end; unit++, partials += width) group += *partials;
        value += group;
    }
    return value;
}

RIPPLET_FN void add_up(const State& state, const Piece& piece) {
    const Split split = state.splits[piece.split];
    const Member graph = member(state, split.graph);
    // All lanes of a warp must call `store_reach`, also those without a value.
    for (u32 at = threadIdx.x; at < PIECE; at += blockDim.x) {
        const u32 index = piece.first + at;
        const bool there = index < graph.width;
        if constexpr (QUESTION == FAR || QUESTION == SPAN) {
            const Reach found = there ? state.sums[split.sums + index] : Reach{};
            if (QUESTION == SPAN) store_reach(state, graph, index, there, found);
            if (QUESTION == FAR && there)
                state.values[graph.values + index] = value_of_far(state, graph, found);
        } else if (there) {
            f64* const value = state.values + graph.values + index;
            const f64 sum = add_partials(state, split, graph.width, index, split.first == 0 ? 0.0 : *value);
            *value = split.is_last ? value_of_sum(state, graph, sum) : sum;
        }
    }
}

}  // namespace ripplet
