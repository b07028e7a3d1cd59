// Activation, the end of a phase (kernel `ripplet_activate`). Changes are committed; vertices that must update
// again, because a neighbour changed, become active. The direction is chosen per phase from the arcs of the
// changed vertices (`activating_arcs`):
//
//     push   activating_arcs * pull_threshold <= arcs, and always for streamed lists:
//            changed vertex --list--> inactive neighbours become active
//     pull   otherwise:
//            inactive vertex --list--> looks for a changed neighbour, and stops at the first
//
// Mapping of a push, by degree of the changed vertex:
//
//     degree     1-4   5-8   9-16   17-32   33-64   65-1024   1025-4096        above
//     plain      1     2     4      8       16      32 lanes  a block of 256   a block per piece of 4096 arcs
//     compressed 1     1     1      1       32      32        8 warps          8 warps per piece
//
//     members of a class       |  a  -  b  -  -  c  -  d  |      - did not change
//     compacted by ballot      |  a  b  c  d  |                  shared memory
//     teams of `width` lanes   | lanes of a | lanes of b | ...
//
// Mapping of a pull, by degree of the inactive vertex: up to 512 (`HUB`), a lane for its first 16 arcs, then its
// warp for the others; above, a block per piece.
//
// Shared memory, for a push: 32 `Changed` a warp. Beamer, Asanović and Patterson, Direction-optimizing
// breadth-first search (SC 2012): the switch between push and pull.
#pragma once

namespace ripplet {

// Activates the inactive neighbours of a vertex with a compressed list, arcs `first` to `end`: one lane
// decodes them all (`size` 1), or the lanes of `size / 32` warps share them. `label` is the changed vertex's.
RIPPLET_FN void push_compressed(const LpState& state, Phase phase, u32 label, const Place& place, u32 first, u32 end,
                                u32 rank, u32 size) {
    const auto visit = [&](u32, const Arc& arc) {
        const bool is_inactive = !state.frontier.active[arc.id];
        if (is_inactive && (ACTIVATION != ACTIVATION_DISAGREEMENT || state.labels[arc.id] != label)) activate(state, phase, arc.id);
    };
    if (size > 1) return each_arc_by_warps(state, place, first, end, rank / 32, size / 32, visit);
    Cursor cursor = Cursor::at(state, place, first);
    for (u32 at = first; at < end; at++) visit(at, cursor.next());
}

// Activates the inactive neighbours of a vertex, arcs `first` to `end`, with `step` threads of which this is
// number `rank`. A thread loads 4 neighbours at a time, so that loads overlap. It tests activity first: after
// a while nearly all neighbours are active, and their labels need not be read.
RIPPLET_FN void push_to_neighbors(const LpState& state, Phase phase, u32 label, const Place& place,
                                u32 first, u32 end, u32 rank, u32 step) {
    if (COMPRESSED) return push_compressed(state, phase, label, place, first, end, rank, step);
    constexpr u32 AT_ONCE = 4;
    for (first += rank; first < end; first += AT_ONCE * step) {
        u32 ids[AT_ONCE];
        bool is_inactive[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 at = first + index * step;
            ids[index] = at < end ? arc_at(state, place, at).id : U32_MAX;
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            is_inactive[index] = ids[index] != U32_MAX && !state.frontier.active[ids[index]];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (ACTIVATION == ACTIVATION_DISAGREEMENT && is_inactive[index])
                is_inactive[index] = state.labels[ids[index]] != label;
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (is_inactive[index]) activate(state, phase, ids[index]);
    }
}

// A vertex that changed, and its label.
struct Changed {
    u32 id, label;
};

// Activates the neighbours of a class's changed members, `width` lanes per vertex: a warp compacts the
// changed ones among some members into shared memory, then its teams of lanes share them.
RIPPLET_FN void push_by_lanes(const LpState& state, Phase phase, u32 of_class, u32 width) {
    const Members members(state, of_class);
    const u32 count = state.tallies->members[phase.parity][of_class];
    Changed* all = (Changed*)shared_memory() + threadIdx.x / 32 * 32;
    const u32 warps = gridDim.x * (BLOCK / 32);
    const u32 team = lane_id() / width, teams = 32 / width, rank = lane_id() % width;
    // A warp takes as few members at a time as still occupy all warps. Classes begin at different warps, so
    // that short lists are spread over the grid.
    u32 together = 32;
    while (together > teams && (u64)together * warps / 2 >= count) together /= 2;
    const u64 start = (u64)of_class * warps / CLASSES;
    const u32 warp = (u32)((start + blockIdx.x * (BLOCK / 32) + threadIdx.x / 32) % warps);
    for (u64 first = (u64)warp * together; first < count; first += (u64)warps * together) {
        const bool is_here = lane_id() < together && first + lane_id() < count;
        u32 v = is_here ? members[(u32)first + lane_id()] : U32_MAX;
        if (!is_launched(phase, v)) v = U32_MAX;
        const u32 changed_lanes = __ballot_sync(ALL_LANES, v != U32_MAX);
        if (v != U32_MAX)
            all[__popc(changed_lanes & ((1u << lane_id()) - 1))] = Changed{v, state.labels[v]};
        __syncwarp();
        for (u32 item = team; item < (u32)__popc(changed_lanes); item += teams) {
            const Place place = place_of(state, all[item].id);
            push_to_neighbors(state, phase, all[item].label, place, 0, place.degree(), rank, width);
        }
        __syncwarp();
    }
}

// Activates the neighbours of a class's changed members, a block per vertex.
RIPPLET_FN void push_by_blocks(const LpState& state, Phase phase, u32 of_class) {
    const u32 count = state.tallies->members[phase.parity][of_class];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const u32 v = Members(state, of_class)[item];
        if (v == U32_MAX || !is_launched(phase, v)) continue;
        const Place place = place_of(state, v);
        push_to_neighbors(state, phase, state.labels[v], place, 0, place.degree(), threadIdx.x, BLOCK);
    }
}

// Activates the neighbours of changed large vertices, a block per piece.
RIPPLET_FN void push_by_pieces(const LpState& state, Phase phase) {
    const u32 count = state.tallies->pieces[phase.parity];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const Piece piece = state.large.pieces[item];
        const Large& large = state.large.records[piece.owner];
        if (!large.outcome.activates || !is_launched(phase, large.vertex)) continue;
        const Place place = place_of(state, large.vertex);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        const u32 label = state.labels[large.vertex];
        push_to_neighbors(state, phase, label, place, first, end, threadIdx.x, BLOCK);
    }
}

// Whether a neighbour `v` that changed in this phase activates a vertex of this label.
RIPPLET_FN bool is_activated_by(const LpState& state, Phase phase, u32 v, u32 label) {
    if (state.frontier.changed[v] != phase.stamp) return false;
    return ACTIVATION != ACTIVATION_DISAGREEMENT || state.labels[v] != label;
}

// Pull, for vertices of more than `HUB` arcs: a block per piece. If most arcs belong to changed vertices,
// pulling reads less than pushing, as an inactive vertex mostly finds a changed neighbour soon.
RIPPLET_FN void pull_by_pieces(const LpState& state, Phase phase) {
    for (u32 item = blockIdx.x; item < state.frontier.hub_pieces; item += gridDim.x) {
        const Piece piece = state.frontier.hubs[item];
        const u32 u = piece.owner;
        if (u < phase.first || u >= phase.end) continue;
        const u32 label = state.labels[u];
        const Place place = place_of(state, u);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        bool found = false;
        // Another block may activate the vertex meanwhile; the lanes of a warp must agree.
        const bool is_inactive = __any_sync(ALL_LANES, !state.frontier.active[u]);
        if (is_inactive && COMPRESSED)
            each_arc_by_warps(state, place, first, end, threadIdx.x / 32, BLOCK / 32, [&](u32, const Arc& arc) {
                found = found || is_activated_by(state, phase, arc.id, label);
            });
        else if (is_inactive)
            for (u32 at = first + threadIdx.x; at < end && !found; at += BLOCK)
                found = is_activated_by(state, phase, arc_at(state, place, at).id, label);
        if (found) state.frontier.active[u] = 1;
    }
}

// Pull, for vertices of up to `HUB` arcs: a lane per vertex reads its first `ALONE` arcs. Then the warp reads
// the others of each vertex that has not found a changed neighbour.
RIPPLET_FN void pull_by_lanes(const LpState& state, Phase phase) {
    // Mostly a lane's first arcs lead to a changed neighbour. Not measured against other numbers.
    constexpr u32 ALONE = 16, AT_ONCE = 4;
    const u64 step = (u64)gridDim.x * BLOCK, start = (blockIdx.x * BLOCK + threadIdx.x) / 32 * 32;
    for (u64 first = phase.first / 32 * 32 + start; first < phase.end; first += step) {
        const u32 u = (u32)first + lane_id();
        Place place = {};
        if (u >= phase.first && u < phase.end && !state.frontier.active[u]) place = place_of(state, u);
        u32 degree = place.degree();
        if (degree > HUB) degree = 0;
        const u32 label = degree > 0 ? state.labels[u] : 0;
        bool found = false;
        Cursor cursor = Cursor::at(state, place, 0);
        for (u32 at = 0; at < min(degree, ALONE) && !found; at++)
            found = is_activated_by(state, phase, cursor.next().id, label);
        u32 open = __ballot_sync(ALL_LANES, !found && degree > ALONE);
        for (; open != 0; open &= open - 1) {
            const u32 lane = (u32)__ffs(open) - 1;
            const Place place_of_lane = place_of(state, (u32)first + lane);
            const u32 its_label = __shfl_sync(ALL_LANES, label, lane), end = place_of_lane.degree();
            bool any = false;
            if (COMPRESSED)
                each_arc_by_warps(state, place_of_lane, ALONE, end, 0, 1, [&](u32, const Arc& arc) {
                    any = any || is_activated_by(state, phase, arc.id, its_label);
                });
            for (u32 at = ALONE; !COMPRESSED && at < end && !any; at += AT_ONCE * 32) {
#pragma unroll
                for (u32 index = 0; index < AT_ONCE; index++) {
                    const u32 mine = at + index * 32 + lane_id();
                    if (mine < end)
                        any |= is_activated_by(state, phase, arc_at(state, place_of_lane, mine).id, its_label);
                }
                any = __any_sync(ALL_LANES, any);
            }
            if (COMPRESSED) any = __any_sync(ALL_LANES, any);
            if (lane_id() == lane) found = any;
        }
        if (found) state.frontier.active[u] = 1;
    }
}

// Pull: inactive vertices from `phase.first` to `phase.end` look for a neighbour whose change activates them.
RIPPLET_FN void pull(const Run& run, Phase phase) {
    const LpState& state = run.state;
    // Stamping vertex blocks does not pay if many vertices become active.
    if (blockIdx.x == 0 && threadIdx.x == 0) state.tallies->last_pull = phase.number;
    pull_by_pieces(state, phase);
    pull_by_lanes(state, phase);
}

RIPPLET_FN void activate_neighbors(const Run& run, Phase phase) {
    const LpState& state = run.state;
    Tallies* tallies = state.tallies;
    const u64 arcs = DIRECTED ? 2 * state.graph.arcs : state.graph.arcs;
    const bool pushes = tallies->activating_arcs[phase.parity] * state.frontier.pull_threshold <= arcs || STREAMED;
    if (ACTIVATION != ACTIVATION_ALWAYS && pushes && !phase.defers) {
        push_by_pieces(state, phase);
        push_by_blocks(state, phase, UP_TO_4096);
#pragma unroll 1
        for (u32 left = classes_with_members(state, phase) & ((1u << UP_TO_4096) - 1); left != 0;) {
            const u32 of_class = 31 - leading_zeros(left);
            left ^= 1u << of_class;
            // A compressed list is decoded by one lane, or by a warp.
            const u32 width = !COMPRESSED ? min(1u << of_class, 32u) : of_class <= UP_TO_32 ? 1 : 32;
            push_by_lanes(state, phase, of_class, width);
        }
    }
    if (ACTIVATION != ACTIVATION_ALWAYS && !pushes) pull(run, phase);
    // The other parity's counters are not read before the next phase.
    if (blockIdx.x == 0 && threadIdx.x < CLASSES) {
        const u32 other = phase.parity ^ 1;
        tallies->members[other][threadIdx.x] = 0;
        tallies->lower[other][threadIdx.x] = 0;
        tallies->work_counters.taken[threadIdx.x] = 0;
        tallies->work_counters.scans = 0;
        tallies->work_counters.items = 0;
        tallies->pieces[other] = 0;
        tallies->open[other] = 0;
        tallies->settled[other] = 0;
        tallies->activating_arcs[other] = 0;
    }
}

}  // namespace ripplet
