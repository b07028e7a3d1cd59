// The end of a phase: those who must look again because a neighbour changed become active.
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

// A vertex that changed, as those see it who wake its neighbours.
struct Changed {
    u32 label;
    bool wakes;

    RIPPLET_FN Changed(const Field& field, u32 v) {
        label = (IN_PLACE ? field.labels : field.next)[v];
        // Where a change is not shown yet, it says whether it is of the label.
        wakes = WAKE == WAKE_CHANGE ||
                (WAKE == WAKE_DISAGREEMENT && (IN_PLACE || field.labels[v] != label));
    }
    RIPPLET_FN void wake(const Field& field, u32 u) const {
        if (WAKE == WAKE_DISAGREEMENT && (IN_PLACE ? field.labels : field.next)[u] == label) return;
        field.active[u] = 1;
    }
    // Wakes those of a thread's neighbours, from number `first` on, that must look again. Several are
    // asked at a time: first whether they are awake, which after a while nearly all are.
    RIPPLET_FN void wake_all(const Field& field, const Place& place, u32 first, u32 end,
                             u32 step) const {
        constexpr u32 AT_ONCE = 4;
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
                if (sleeps[index]) wake(field, ids[index]);
        }
    }
};

template <u32 WIDTH>
RIPPLET_FN void wake_by_tiles(const Field& field, Turn turn, u32 kind, u64* print) {
    const u32 count = field.tallies->changes[turn.parity][kind];
    const u32 tile = (blockIdx.x * BLOCK + threadIdx.x) / WIDTH, tiles = gridDim.x * BLOCK / WIDTH;
    const u32 rank = threadIdx.x % WIDTH;
    for (u32 item = tile; item < count; item += tiles) {
        const u32 v = field.changes[kind][item];
        if (field.traced && rank == 0) *print += trace_of_change(field, v);
        const Changed changed(field, v);
        if (!changed.wakes) continue;
        const Place place = place_of(field, v);
        changed.wake_all(field, place, rank, place.degree(), WIDTH);
    }
}

RIPPLET_FN void wake_by_pieces(const Field& field, Turn turn, u64* print) {
    const u32 count = field.tallies->changes[turn.parity][WAKE_PIECES];
    for (u32 item = blockIdx.x; item < count; item += gridDim.x) {
        const Piece piece = field.change_pieces[item];
        const u32 v = piece.owner;
        if (field.traced && piece.index == 0 && threadIdx.x == 0) *print += trace_of_change(field, v);
        const Changed changed(field, v);
        if (!changed.wakes) continue;
        const Place place = place_of(field, v);
        const u32 first = piece.index * PIECE, end = min(place.degree(), first + PIECE);
        changed.wake_all(field, place, first + threadIdx.x, end, BLOCK);
    }
}

RIPPLET_FN void wake(const Run& run, Turn turn) {
    const Field& field = run.field;
    Tallies* tallies = field.tallies;
    u64 print = 0;
    if (WAKE != WAKE_ALWAYS || field.traced) {
        wake_by_pieces(field, turn, &print);
        wake_by_tiles<32>(field, turn, WAKE_WARP, &print);
        wake_by_tiles<4>(field, turn, WAKE_TILE, &print);
    }
    if (field.traced) {
        print = warp_sum(print);
        if (lane_id() == 0 && print != 0) atomicAdd(&tallies->fingerprint, print);
    }
    // Nobody reads these before the next phase.
    if (blockIdx.x == 0 && threadIdx.x < CLASSES) {
        tallies->members[threadIdx.x] = 0;
        tallies->taken[threadIdx.x] = 0;
        tallies->spread_pieces = 0;
        if (threadIdx.x < WAKE_CLASSES) tallies->changes[turn.parity ^ 1][threadIdx.x] = 0;
    }
}

}  // namespace ripplet
