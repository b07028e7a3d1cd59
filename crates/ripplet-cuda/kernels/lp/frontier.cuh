// Compaction of the frontier, the beginning of a phase (kernel `ripplet_compact_frontier`): lists the active
// vertices that are scheduled in it, by degree class.
//
//     unit block     `8 * phases` consecutive vertices: 256 at 32 phases a round, in 32 units of 8
//     unit           8 vertices of a unit block that update in one phase, `stride` apart (`UnitSchedule`)
//     thread         the unit of one unit block that is scheduled in this phase; 256 of them a block of threads
//     warp           reads the 32 * 8 vertices of its units as they lie in memory: 8 steps of 32 lanes
//
//     step 0         lanes 0-7: unit of lane 0; 8-15: unit of lane 1; 16-23: lane 2; 24-31: lane 3
//     step 1         the units of lanes 4 to 7; and so on
//
//     active? --> degree --> class --> rank in the class: warp (match), block (shared atomic), grid (one atomic
//     per class and block) --> members[class][rank]
//
// Shared memory (`u32[2 * CLASSES]`): members of the block by class | their positions in the lists. Gunrock (PPoPP
// 2016) calls this step a filter of the frontier.
#pragma once

namespace ripplet {

// Which vertices update in which phase of a round: `ripplet_lp::schedules::PhasedOrder` defines it.
struct UnitSchedule {
    u32 key, phases, stride;

    RIPPLET_FN UnitSchedule(const LpState& state, u32 round) {
        key = stream_key(state.round.seed, round, PHASE_STREAM);
        phases = state.round.phases;
        const u32 drawn = part_of(mix(U32_MAX ^ key), 3);
        // With a stride of 1, vertices that are 8 apart are in different units.
        const bool is_consecutive = round >= 20 && round % 4 == 0;
        stride = is_consecutive ? 1 : min(2u << drawn, 1u << min(trailing_zeros(phases), 31u));
    }
    // The index, among the `phases` units of a unit block, of the one that is scheduled in a phase.
    RIPPLET_FN u32 unit_in(u32 block, u32 phase) const {
        const u32 start = part_of(mix(block ^ key), phases);
        return (u32)(((u64)start + phase) % phases);
    }
    // The first of the 8 vertices of a unit block's unit with this index; they are `stride` apart. Some may lie
    // behind the last vertex.
    RIPPLET_FN u64 first_at(u32 block, u32 unit) const {
        return (u64)block * 8 * phases + (u64)(unit / stride) * 8 * stride + unit % stride;
    }
    RIPPLET_FN u64 first_of(u32 block, u32 phase) const { return first_at(block, unit_in(block, phase)); }
    // Whether a vertex is scheduled in a phase.
    RIPPLET_FN bool is_scheduled(u64 v, u32 phase) const {
        const u64 stretch = 8ull * phases;
        const u32 behind = (u32)(v % stretch), unit = behind / (8 * stride) * stride + behind % stride;
        return unit == unit_in((u32)(v / stretch), phase);
    }
};

// Whether any of `spread` vertices from `first` on may be active, by the stamps of their vertex blocks.
RIPPLET_FN bool may_be_active(const LpState& state, Phase phase, u64 first, u32 spread) {
    const u64 end = min((u64)state.graph.vertices, first + spread);
    const u32 age = phase.number - phase.since;
    bool any = phase.number - state.tallies->last_pull <= age;
    for (u64 vertex_block = first / VERTEX_BLOCK; vertex_block * VERTEX_BLOCK < end && !any; vertex_block++)
        any = phase.number - state.frontier.last_activated[vertex_block] <= age;
    return any;
}

// Requests the lists of scheduled vertices of a streamed graph, a lane each, if they are not on the device.
// All lanes of a warp call it.
RIPPLET_FN void request_list(const LpState& state, Phase phase, u32 v, bool is_there) {
    const Streamed& streamed = state.streamed;
    const bool wanted = is_there && v >= streamed.near_end && streamed.fetched[0][v] == UNFETCHED;
    const u32 number = append(&streamed.use->wanted[phase.late], wanted);
    if (!wanted || number >= streamed.most_requested) return;
    streamed.wanted[phase.late * streamed.most_requested + number] = v;
    for (u32 side = 0; side < (DIRECTED ? 2 : 1); side++) streamed.fetched[side][v] = REQUESTED;
}

// Lists the active vertices that are scheduled in this phase, and marks them inactive.
RIPPLET_FN void compact_frontier(const Run& run, Phase phase) {
    const LpState& state = run.state;
    Tallies* tallies = state.tallies;
    u32* counts = (u32*)shared_memory();
    u32* starts = counts + CLASSES;
    const UnitSchedule schedule(state, state.round.index);
    // A unit may cross a rank's bound. Marks of other ranks' scheduled vertices are cleared as well, as these
    // vertices update now: of lists fetched on demand by the first part of a phase; of those staged by range the host
    // clears them.
    const bool forgets = RANKED && (!STREAMED || (phase.late > 0 && phase.part == 0));
    const u32 own_first = STREAMED ? state.streamed.own_first : phase.first, own_end = STREAMED ? state.streamed.own_end : phase.end;
    const u64 stretch = 8ull * schedule.phases, nowhere = forgets ? state.graph.vertices : phase.end;
    u64 scanned = 0;
    u32 visited = 0;
    const u64 begin = forgets ? 0 : phase.first / stretch, units = (nowhere + stretch - 1) / stretch;
    for (u64 first = begin + (u64)blockIdx.x * BLOCK; first < units; first += (u64)gridDim.x * BLOCK) {
        const u64 unit = first + threadIdx.x;
        u64 at = unit < units ? schedule.first_of((u32)unit, phase.index) : nowhere;
        if (phase.is_sparse && !may_be_active(state, phase, at, 8 * schedule.stride)) at = nowhere;
        u32 ids[8], degrees[8], classes[8], ranks[8];
        bool found[8], any = false;
#pragma unroll
        for (u32 step = 0; step < 8; step++) {
            const u64 first_of_unit = __shfl_sync(ALL_LANES, at, step * 4 + lane_id() / 8);
            const u64 v = first_of_unit + (u64)(lane_id() % 8) * schedule.stride;
            ids[step] = (u32)v;
            found[step] = v >= phase.first && v < phase.end && state.frontier.active[v];
            any |= found[step];
            const bool is_own = v >= own_first && v < own_end;
            if (forgets && !is_own && v < nowhere && state.frontier.active[v]) state.frontier.active[v] = 0;
        }
        if (threadIdx.x < CLASSES) counts[threadIdx.x] = 0;
        if (!__syncthreads_or(any)) continue;

#pragma unroll
        for (u32 step = 0; step < 8; step++) {
            if (found[step]) state.frontier.active[ids[step]] = 0;
            if (STREAMED && phase.late) request_list(state, phase, ids[step], found[step]);
            // Degrees are loaded without a branch, so that 8 loads overlap; unscheduled lanes load that of
            // `phase.first`.
            const u32 degree = place_of(state, found[step] ? ids[step] : phase.first).degree();
            degrees[step] = found[step] ? degree : 0;
            visited += found[step];
        }
#pragma unroll
        for (u32 step = 0; step < 8; step++) {
            const u32 v = ids[step], degree = degrees[step];
            scanned += degree;
            // A vertex without neighbours keeps its label.
            const u32 own = degree > 0 ? class_of(state, degree) : CLASSES;
            const u32 alike = __match_any_sync(ALL_LANES, own);
            const u32 before = __popc(alike & ((1u << lane_id()) - 1));
            u32 rank = 0;
            if (own < LARGE && before == 0) rank = atomicAdd(counts + own, (u32)__popc(alike));
            classes[step] = own;
            ranks[step] = __shfl_sync(ALL_LANES, rank, __ffs(alike) - 1) + before;
            if (own == LARGE) list_large(state, phase, v, degree);
        }
        __syncthreads();
        if (threadIdx.x < LARGE && counts[threadIdx.x] > 0)
            starts[threadIdx.x] =
                atomicAdd(&tallies->members[phase.parity][threadIdx.x], counts[threadIdx.x]);
        if (LISTS_CHANGES && threadIdx.x < CLASSES) {
            u32 lower = 0;
            for (u32 other = 0; other < threadIdx.x; other++) lower += counts[other];
            if (lower > 0) atomicAdd(&tallies->lower[phase.parity][threadIdx.x], lower);
        }
        __syncthreads();
#pragma unroll
        for (u32 step = 0; step < 8; step++) {
            const u32 own = classes[step];
            if (own < LARGE) Members(state, own)[starts[own] + ranks[step]] = ids[step];
        }
        __syncthreads();
    }
    scanned = warp_sum(scanned);
    visited = warp_sum(visited);
    if (lane_id() == 0 && visited > 0) {
        atomicAdd(&tallies->visited, (u64)visited);
        atomicAdd(&tallies->scanned, scanned);
    }
}

}  // namespace ripplet
