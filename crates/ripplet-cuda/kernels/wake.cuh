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
    return Changed{v, label, WAKE == WAKE_CHANGE || (WAKE == WAKE_DISAGREEMENT && before != label)};
}

RIPPLET_FN bool is_active(const Field& field, u32 v) { return field.active[v / 32] >> v % 32 & 1; }

// Wakes those of a thread's neighbours, from number `first` on, that must look again. Several are
// asked at a time: first whether they are awake, which after a while nearly all are.
RIPPLET_FN void wake_neighbours(const Field& field, u32 label, const Place& place, u32 first, u32 end,
                                u32 step) {
    constexpr u32 AT_ONCE = 4;
    // Choices of others are not shown everywhere yet.
    const u32* others = IN_PLACE ? field.labels : field.next;
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
            sleeps[index] = ids[index] != U32_MAX && !is_active(field, ids[index]);
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 u = ids[index];
            if (!sleeps[index] || (WAKE == WAKE_DISAGREEMENT && others[u] == label)) continue;
            atomicOr(field.active + u / 32, 1u << u % 32);
        }
    }
}

// The neighbours of a class's members, `width` lanes a vertex: a warp finds who of 32 changed, and
// then its lanes share these among them.
RIPPLET_FN void wake_by_lanes(const Field& field, Turn turn, u32 of_class, u32 width, u64* print) {
    const u32* members = field.members[of_class];
    const u32 count = field.tallies->members[turn.parity][of_class];
    Changed* all = (Changed*)shared_memory() + threadIdx.x / 32 * 32;
    const u64 warps = (u64)gridDim.x * (BLOCK / 32);
    const u32 team = lane_id() / width, teams = 32 / width, rank = lane_id() % width;
    for (u64 first = (blockIdx.x * BLOCK + threadIdx.x) / 32 * 32; first < count; first += 32 * warps) {
        const u32 v = first + lane_id() < count ? members[first + lane_id()] : U32_MAX;
        Changed changed = {};
        if (v != U32_MAX) changed = show_change(field, v, print);
        const u32 wakers = __ballot_sync(ALL_LANES, changed.wakes);
        if (changed.wakes) all[__popc(wakers & ((1u << lane_id()) - 1))] = changed;
        __syncwarp();
        for (u32 item = team; item < (u32)__popc(wakers); item += teams) {
            const Place place = place_of(field, all[item].id);
            wake_neighbours(field, all[item].label, place, rank, place.degree(), width);
        }
        __syncwarp();
    }
}

// The same, a block a vertex.
RIPPLET_FN void wake_by_blocks(const Field& field, Turn turn, u32 of_class, u64* print) {
    const u32 count = field.tallies->members[turn.parity][of_class];
    Changed* changed = (Changed*)shared_memory();
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const u32 v = field.members[of_class][item];
        if (v == U32_MAX) continue;
        if (threadIdx.x == 0) *changed = show_change(field, v, print);
        __syncthreads();
        const Place place = place_of(field, v);
        if (changed->wakes)
            wake_neighbours(field, changed->label, place, threadIdx.x, place.degree(), BLOCK);
        __syncthreads();
    }
}

// The neighbours of spread vertices, a block a piece of them.
RIPPLET_FN void wake_by_pieces(const Field& field, Turn turn, u64* print) {
    const u32 count = field.tallies->spread_pieces[turn.parity];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        const Spread& spread = field.spread[piece.owner];
        if (!spread.changed) continue;
        const u32 label = (IN_PLACE ? field.labels : field.next)[spread.vertex];
        if (piece.index == 0 && threadIdx.x == 0) show_change(field, spread.vertex, print);
        if (!spread.wakes) continue;
        const Place place = place_of(field, spread.vertex);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        wake_neighbours(field, label, place, first + threadIdx.x, end, BLOCK);
    }
}

RIPPLET_FN void wake(const Run& run, Turn turn) {
    const Field& field = run.field;
    Tallies* tallies = field.tallies;
    u64 print = 0;
    if (!IN_PLACE || WAKE != WAKE_ALWAYS) {
        wake_by_pieces(field, turn, &print);
        wake_by_blocks(field, turn, SCANNED, &print);
        for (u32 of_class = UP_TO_4096; of_class > UP_TO_4; of_class--)
            wake_by_lanes(field, turn, of_class, min(1u << of_class, 32u), &print);
        wake_by_lanes(field, turn, UP_TO_4, 1, &print);
    }
    if (field.traced) {
        print = warp_sum(print);
        if (lane_id() == 0 && print != 0) atomicAdd(&tallies->fingerprint, print);
    }
    // Nobody reads these before the next phase.
    if (blockIdx.x == 0 && threadIdx.x < CLASSES) {
        tallies->members[turn.parity ^ 1][threadIdx.x] = 0;
        tallies->taken[threadIdx.x] = 0;
        tallies->spread_pieces[turn.parity ^ 1] = 0;
    }
}

}  // namespace ripplet
