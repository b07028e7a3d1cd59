// The end of a phase: what it changed is shown to all, and those who must look again because a
// neighbour changed become active.
#pragma once

namespace ripplet {

// What a change adds to the fingerprint of all labels; see `ripplet_lp`.
RIPPLET_FN u64 trace(u32 v, u32 label) {
    return (u64)mix(v ^ mix(label)) << 32 | mix(label ^ mix(~v));
}

RIPPLET_FN u64 trace_of_change(const Field& field, u32 v) {
    u64 print = trace(v, field.next[v]) - trace(v, field.labels[v]);
    const u32* draft = field.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) {
        // Values of different columns are different vertices to the fingerprint.
        const u32 place = mix(v ^ mix(index + 1));
        print += trace(place, draft[index]) - trace(place, *written(field, v, index));
    }
    return print;
}

// Shows what a vertex chose.
RIPPLET_FN void commit(const Field& field, u32 v, u32 before, u32 label) {
    if (before != label) {
        field.labels[v] = label;
        move_share(field, v, before, label);
    }
    if (DRAFT_LENGTH > 0) commit_draft(field, v);
}

// A vertex that changed, as those see it who wake its neighbours.
struct Changed {
    u32 id, label;
    bool wakes;
};

// What a vertex changed to, which from now on is shown; one thread asks for it.
RIPPLET_FN Changed show_change(const Field& field, u32 v, u64* print) {
    if (IN_PLACE) return Changed{v, field.labels[v], true};
    if (field.traced) *print += trace_of_change(field, v);
    const u32 before = field.labels[v], label = field.next[v];
    commit(field, v, before, label);
    return Changed{v, label, wakes_others(before != label)};
}

// Choices as they will be shown.
RIPPLET_FN const u32* choices(const Field& field) { return IN_PLACE ? field.labels : field.next; }

// Wakes those of a thread's neighbours, from number `first` on, that must look again. Several are
// asked at a time: first whether they are awake, which after a while nearly all are.
RIPPLET_FN void wake_neighbours(const Field& field, Turn turn, u32 label, const Place& place,
                                u32 first, u32 end, u32 step) {
    constexpr u32 AT_ONCE = 4;
    const u32* others = choices(field);
    for (; first < end; first += AT_ONCE * step) {
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
                sleeps[index] = others[ids[index]] != label;
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (sleeps[index]) activate(field, turn, ids[index]);
    }
}

// The neighbours of a class's members, `width` lanes a vertex: a warp finds who of some changed, and
// then its lanes share these among them.
RIPPLET_FN void wake_by_lanes(const Field& field, Turn turn, u32 of_class, u32 width, bool pushes,
                              u64* print) {
    const u32* members = field.members[of_class];
    const u32 count = field.tallies->members[turn.parity][of_class];
    Changed* all = (Changed*)shared_memory() + threadIdx.x / 32 * 32;
    const u32 warps = gridDim.x * (BLOCK / 32);
    const u32 team = lane_id() / width, teams = 32 / width, rank = lane_id() % width;
    // As few a warp as there are warps for, and the first of each class at others.
    u32 together = 32;
    while (together > teams && (u64)together * warps / 2 >= count) together /= 2;
    const u64 start = (u64)of_class * warps / CLASSES;
    const u32 warp = (u32)((start + blockIdx.x * (BLOCK / 32) + threadIdx.x / 32) % warps);
    for (u64 first = (u64)warp * together; first < count; first += (u64)warps * together) {
        const bool is_here = lane_id() < together && first + lane_id() < count;
        const u32 v = is_here ? members[first + lane_id()] : U32_MAX;
        Changed changed = {};
        if (v != U32_MAX) changed = show_change(field, v, print);
        changed.wakes &= pushes;
        const u32 wakers = __ballot_sync(ALL_LANES, changed.wakes);
        if (changed.wakes) all[__popc(wakers & ((1u << lane_id()) - 1))] = changed;
        __syncwarp();
        for (u32 item = team; item < (u32)__popc(wakers); item += teams) {
            const Place place = place_of(field, all[item].id);
            wake_neighbours(field, turn, all[item].label, place, rank, place.degree(), width);
        }
        __syncwarp();
    }
}

// The same, a block a vertex.
RIPPLET_FN void wake_by_blocks(const Field& field, Turn turn, u32 of_class, bool pushes, u64* print) {
    const u32 count = field.tallies->members[turn.parity][of_class];
    Changed* changed = (Changed*)shared_memory();
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const u32 v = field.members[of_class][item];
        if (v == U32_MAX) continue;
        if (threadIdx.x == 0) *changed = show_change(field, v, print);
        __syncthreads();
        const Place place = place_of(field, v);
        if (changed->wakes && pushes)
            wake_neighbours(field, turn, changed->label, place, threadIdx.x, place.degree(), BLOCK);
        __syncthreads();
    }
}

// The neighbours of large vertices, a block a piece of them.
RIPPLET_FN void wake_by_pieces(const Field& field, Turn turn, bool pushes, u64* print) {
    const u32 count = field.tallies->pieces[turn.parity];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const Piece piece = field.pieces[item];
        const Large& large = field.large[piece.owner];
        if (!large.done.changed) continue;
        const u32 label = choices(field)[large.vertex];
        if (piece.index == 0 && threadIdx.x == 0) show_change(field, large.vertex, print);
        if (!large.done.wakes || !pushes) continue;
        const Place place = place_of(field, large.vertex);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        wake_neighbours(field, turn, label, place, first + threadIdx.x, end, BLOCK);
    }
}

// Whether a neighbour's change wakes a vertex of this choice.
RIPPLET_FN bool is_woken_by(const Field& field, Turn turn, u32 v, u32 choice) {
    if (field.changed[v] != turn.stamp) return false;
    return WAKE != WAKE_DISAGREEMENT || choices(field)[v] != choice;
}

// Where most arcs are of vertices that changed, it is quicker to ask them the other way: each sleeping
// vertex looks for one that wakes it, and mostly finds it soon.
RIPPLET_FN void ask_by_pieces(const Field& field, Turn turn) {
    for (u32 item = blockIdx.x; item < field.hub_pieces; item += gridDim.x) {
        const Piece piece = field.hubs[item];
        const u32 u = piece.owner, choice = choices(field)[u];
        const Place place = place_of(field, u);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        bool found = false;
        if (!field.active[u])
            for (u32 at = first + threadIdx.x; at < end && !found; at += BLOCK)
                found = is_woken_by(field, turn, arc_at(field, place, at).id, choice);
        if (found) field.active[u] = 1;
    }
}

// The same for all other vertices: a lane asks some neighbours of its own, then the warp the rest.
RIPPLET_FN void ask_by_lanes(const Field& field, Turn turn, bool shows, u64* print) {
    constexpr u32 ALONE = 16, AT_ONCE = 4;
    const u64 step = (u64)gridDim.x * BLOCK, start = (blockIdx.x * BLOCK + threadIdx.x) / 32 * 32;
    for (u64 first = start; first < field.vertices; first += step) {
        const u32 u = (u32)first + lane_id();
        if (shows && u < field.vertices && field.changed[u] == turn.stamp) show_change(field, u, print);
        Place place = {};
        if (u < field.vertices && !field.active[u]) place = place_of(field, u);
        u32 degree = place.degree();
        if (degree > HUB) degree = 0;
        const u32 choice = degree > 0 ? choices(field)[u] : 0;
        bool found = false;
        for (u32 at = 0; at < min(degree, ALONE) && !found; at++)
            found = is_woken_by(field, turn, arc_at(field, place, at).id, choice);
        u32 open = __ballot_sync(ALL_LANES, !found && degree > ALONE);
        for (; open != 0; open &= open - 1) {
            const u32 asker = (u32)__ffs(open) - 1;
            const Place of_asker = place_of(field, (u32)first + asker);
            const u32 its_choice = __shfl_sync(ALL_LANES, choice, asker), end = of_asker.degree();
            bool any = false;
            for (u32 at = ALONE; at < end && !any; at += AT_ONCE * 32) {
#pragma unroll
                for (u32 index = 0; index < AT_ONCE; index++) {
                    const u32 mine = at + index * 32 + lane_id();
                    if (mine < end)
                        any |= is_woken_by(field, turn, arc_at(field, of_asker, mine).id, its_choice);
                }
                any = __any_sync(ALL_LANES, any);
            }
            if (lane_id() == asker) found = any;
        }
        if (found) field.active[u] = 1;
    }
}

RIPPLET_FN void wake(const Run& run, Turn turn) {
    const Field& field = run.field;
    Tallies* tallies = field.tallies;
    const u64 arcs = DIRECTED ? 2 * field.arcs : field.arcs;
    const bool pushes = tallies->waking[turn.parity] * field.waking_share <= arcs;
    u64 print = 0;
    // Who asks shows its own change on the way, where that is all that there is to show.
    const bool shows = !IN_PLACE && (pushes || DRAFT_LENGTH > 0 || WAKE == WAKE_ALWAYS);
    if (shows || (WAKE != WAKE_ALWAYS && pushes)) {
        wake_by_pieces(field, turn, pushes, &print);
        wake_by_blocks(field, turn, UP_TO_4096, pushes, &print);
        __syncthreads();
#pragma unroll 1
        for (u32 left = classes_with_members(field, turn) & ((1u << UP_TO_4096) - 1); left != 0;) {
            const u32 of_class = 31 - leading_zeros(left);
            left ^= 1u << of_class;
            wake_by_lanes(field, turn, of_class, min(1u << of_class, 32u), pushes, &print);
        }
    }
    if (WAKE != WAKE_ALWAYS && !pushes) {
        // So many may be woken that it is not worth saying where.
        if (blockIdx.x == 0 && threadIdx.x == 0) tallies->asked = turn.number;
        ask_by_pieces(field, turn);
        ask_by_lanes(field, turn, !IN_PLACE && !shows, &print);
    }
    if (field.traced) {
        print = warp_sum(print);
        if (lane_id() == 0 && print != 0) atomicAdd(&tallies->fingerprint, print);
    }
    // Nobody reads these before the next phase.
    if (blockIdx.x == 0 && threadIdx.x < CLASSES) {
        const u32 other = turn.parity ^ 1;
        tallies->members[other][threadIdx.x] = 0;
        tallies->taken[threadIdx.x] = 0;
        tallies->taken_scans = 0;
        tallies->pieces[other] = 0;
        tallies->open[other] = 0;
        tallies->waking[other] = 0;
    }
}

}  // namespace ripplet
