// Activation, the end of a phase. Changes are committed; vertices that must update again, because a neighbour
// changed, become active. The direction is chosen per phase from the arcs of the changed vertices (`waking`):
//
//     push   waking * waking_share <= arcs, and always for streamed lists:
//            changed vertex --list--> inactive neighbours become active
//     pull   otherwise:
//            inactive vertex --list--> looks for a changed neighbour, and stops at the first
//
// Push maps a changed vertex to 1 to 32 lanes up to degree 1024 (its class's width), to a block up to 4096,
// and each piece of a larger one to a block. Pull maps a vertex to a lane for its first 16 arcs and to its
// warp for the others, and each piece of a vertex of more than `HUB` arcs to a block. Shared memory: 32
// `Changed` a warp, for push.
#pragma once

namespace ripplet {

// Activates the inactive neighbours of a vertex with a compressed list, arcs `first` to `end`: one lane
// decodes them all (`size` 1), or the lanes of `size / 32` warps share them. `label` is the changed vertex's.
RIPPLET_FN void decode_and_wake(const Field& field, Turn turn, u32 label, const Place& place, u32 first, u32 end,
                                u32 rank, u32 size) {
    const auto visit = [&](u32, const Arc& arc) {
        const bool sleeps = !field.active[arc.id];
        if (sleeps && (WAKE != WAKE_DISAGREEMENT || field.labels[arc.id] != label)) activate(field, turn, arc.id);
    };
    if (size > 1) return each_arc_by_warps(field, place, first, end, rank / 32, size / 32, visit);
    Cursor cursor = Cursor::at(field, place, first);
    for (u32 at = first; at < end; at++) visit(at, cursor.next());
}

// Activates the inactive neighbours of a vertex, arcs `first` to `end`, with `step` threads of which this is
// number `rank`. A thread loads 4 neighbours at a time, so that loads overlap. It tests activity first: after
// a while nearly all neighbours are active, and their labels need not be read.
RIPPLET_FN void wake_neighbours(const Field& field, Turn turn, u32 label, const Place& place,
                                u32 first, u32 end, u32 rank, u32 step) {
    if (COMPRESSED) return decode_and_wake(field, turn, label, place, first, end, rank, step);
    constexpr u32 AT_ONCE = 4;
    for (first += rank; first < end; first += AT_ONCE * step) {
        u32 ids[AT_ONCE];
        bool sleeps[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 at = first + index * step;
            ids[index] = at < end ? arc_at(field, place, at).id : U32_MAX;
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            sleeps[index] = ids[index] != U32_MAX && !field.active[ids[index]];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (WAKE == WAKE_DISAGREEMENT && sleeps[index])
                sleeps[index] = field.labels[ids[index]] != label;
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (sleeps[index]) activate(field, turn, ids[index]);
    }
}

// A vertex that changed, and its label.
struct Changed {
    u32 id, label;
};

// Activates the neighbours of a class's changed members, `width` lanes per vertex: a warp compacts the
// changed ones among some members into shared memory, then its teams of lanes share them.
RIPPLET_FN void wake_by_lanes(const Field& field, Turn turn, u32 of_class, u32 width) {
    const Members members(field, of_class);
    const u32 count = field.tallies->members[turn.parity][of_class];
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
        if (!may_have_turn(turn, v)) v = U32_MAX;
        const u32 wakers = __ballot_sync(ALL_LANES, v != U32_MAX);
        if (v != U32_MAX)
            all[__popc(wakers & ((1u << lane_id()) - 1))] = Changed{v, field.labels[v]};
        __syncwarp();
        for (u32 item = team; item < (u32)__popc(wakers); item += teams) {
            const Place place = place_of(field, all[item].id);
            wake_neighbours(field, turn, all[item].label, place, 0, place.degree(), rank, width);
        }
        __syncwarp();
    }
}

// Activates the neighbours of a class's changed members, a block per vertex.
RIPPLET_FN void wake_by_blocks(const Field& field, Turn turn, u32 of_class) {
    const u32 count = field.tallies->members[turn.parity][of_class];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const u32 v = Members(field, of_class)[item];
        if (v == U32_MAX || !may_have_turn(turn, v)) continue;
        const Place place = place_of(field, v);
        wake_neighbours(field, turn, field.labels[v], place, 0, place.degree(), threadIdx.x, BLOCK);
    }
}

// Activates the neighbours of changed large vertices, a block per piece.
RIPPLET_FN void wake_by_pieces(const Field& field, Turn turn) {
    const u32 count = field.tallies->pieces[turn.parity];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const Piece piece = field.pieces[item];
        const Large& large = field.large[piece.owner];
        if (!large.done.wakes || !may_have_turn(turn, large.vertex)) continue;
        const Place place = place_of(field, large.vertex);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        const u32 label = field.labels[large.vertex];
        wake_neighbours(field, turn, label, place, first, end, threadIdx.x, BLOCK);
    }
}

// Whether a neighbour `v` that changed in this phase activates a vertex of this label.
RIPPLET_FN bool is_woken_by(const Field& field, Turn turn, u32 v, u32 label) {
    if (field.changed[v] != turn.stamp) return false;
    return WAKE != WAKE_DISAGREEMENT || field.labels[v] != label;
}

// Pull, for vertices of more than `HUB` arcs: a block per piece. If most arcs belong to changed vertices,
// pulling reads less than pushing, as an inactive vertex mostly finds a changed neighbour soon.
RIPPLET_FN void ask_by_pieces(const Field& field, Turn turn) {
    for (u32 item = blockIdx.x; item < field.hub_pieces; item += gridDim.x) {
        const Piece piece = field.hubs[item];
        const u32 u = piece.owner;
        if (u < turn.first || u >= turn.end) continue;
        const u32 label = field.labels[u];
        const Place place = place_of(field, u);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        bool found = false;
        // Another block may activate the vertex meanwhile; the lanes of a warp must agree.
        const bool sleeps = __any_sync(ALL_LANES, !field.active[u]);
        if (sleeps && COMPRESSED)
            each_arc_by_warps(field, place, first, end, threadIdx.x / 32, BLOCK / 32, [&](u32, const Arc& arc) {
                found = found || is_woken_by(field, turn, arc.id, label);
            });
        else if (sleeps)
            for (u32 at = first + threadIdx.x; at < end && !found; at += BLOCK)
                found = is_woken_by(field, turn, arc_at(field, place, at).id, label);
        if (found) field.active[u] = 1;
    }
}

// Pull, for vertices of up to `HUB` arcs: a lane per vertex reads its first `ALONE` arcs. Then the warp reads
// the others of each vertex that has not found a changed neighbour.
RIPPLET_FN void ask_by_lanes(const Field& field, Turn turn) {
    constexpr u32 ALONE = 16, AT_ONCE = 4;
    const u64 step = (u64)gridDim.x * BLOCK, start = (blockIdx.x * BLOCK + threadIdx.x) / 32 * 32;
    for (u64 first = turn.first / 32 * 32 + start; first < turn.end; first += step) {
        const u32 u = (u32)first + lane_id();
        Place place = {};
        if (u >= turn.first && u < turn.end && !field.active[u]) place = place_of(field, u);
        u32 degree = place.degree();
        if (degree > HUB) degree = 0;
        const u32 label = degree > 0 ? field.labels[u] : 0;
        bool found = false;
        Cursor cursor = Cursor::at(field, place, 0);
        for (u32 at = 0; at < min(degree, ALONE) && !found; at++)
            found = is_woken_by(field, turn, cursor.next().id, label);
        u32 open = __ballot_sync(ALL_LANES, !found && degree > ALONE);
        for (; open != 0; open &= open - 1) {
            const u32 asker = (u32)__ffs(open) - 1;
            const Place of_asker = place_of(field, (u32)first + asker);
            const u32 its_label = __shfl_sync(ALL_LANES, label, asker), end = of_asker.degree();
            bool any = false;
            if (COMPRESSED)
                each_arc_by_warps(field, of_asker, ALONE, end, 0, 1, [&](u32, const Arc& arc) {
                    any = any || is_woken_by(field, turn, arc.id, its_label);
                });
            for (u32 at = ALONE; !COMPRESSED && at < end && !any; at += AT_ONCE * 32) {
#pragma unroll
                for (u32 index = 0; index < AT_ONCE; index++) {
                    const u32 mine = at + index * 32 + lane_id();
                    if (mine < end)
                        any |= is_woken_by(field, turn, arc_at(field, of_asker, mine).id, its_label);
                }
                any = __any_sync(ALL_LANES, any);
            }
            if (COMPRESSED) any = __any_sync(ALL_LANES, any);
            if (lane_id() == asker) found = any;
        }
        if (found) field.active[u] = 1;
    }
}

// Pull: inactive vertices from `turn.first` to `turn.end` look for a neighbour whose change activates them.
RIPPLET_FN void ask(const Run& run, Turn turn) {
    const Field& field = run.field;
    // Stamping vertex blocks does not pay if many vertices become active.
    if (blockIdx.x == 0 && threadIdx.x == 0) field.tallies->asked = turn.number;
    ask_by_pieces(field, turn);
    ask_by_lanes(field, turn);
}

RIPPLET_FN void wake(const Run& run, Turn turn) {
    const Field& field = run.field;
    Tallies* tallies = field.tallies;
    const u64 arcs = DIRECTED ? 2 * field.arcs : field.arcs;
    const bool pushes = tallies->waking[turn.parity] * field.waking_share <= arcs || STREAMED;
    if (WAKE != WAKE_ALWAYS && pushes && !turn.defers) {
        wake_by_pieces(field, turn);
        wake_by_blocks(field, turn, UP_TO_4096);
#pragma unroll 1
        for (u32 left = classes_with_members(field, turn) & ((1u << UP_TO_4096) - 1); left != 0;) {
            const u32 of_class = 31 - leading_zeros(left);
            left ^= 1u << of_class;
            // A compressed list is decoded by one lane, or by a warp.
            const u32 width = !COMPRESSED ? min(1u << of_class, 32u) : of_class <= UP_TO_32 ? 1 : 32;
            wake_by_lanes(field, turn, of_class, width);
        }
    }
    if (WAKE != WAKE_ALWAYS && !pushes) ask(run, turn);
    // The other parity's counters are not read before the next phase.
    if (blockIdx.x == 0 && threadIdx.x < CLASSES) {
        const u32 other = turn.parity ^ 1;
        tallies->members[other][threadIdx.x] = 0;
        tallies->lower[other][threadIdx.x] = 0;
        tallies->takers.taken[threadIdx.x] = 0;
        tallies->takers.scans = 0;
        tallies->pieces[other] = 0;
        tallies->open[other] = 0;
        tallies->waking[other] = 0;
    }
}

}  // namespace ripplet
