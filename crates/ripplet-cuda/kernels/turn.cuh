// The end of a vertex's turn: what it chose is written down, so that `wake.cuh` can tell others.
#pragma once

namespace ripplet {

// What a thread counts; added to the tallies at the end of a stage.
struct Seen {
    u32 changed, nan_scores;

    RIPPLET_FN void report(const Field& field) const {
        const u32 all_changed = warp_sum(changed), all_nan = warp_sum(nan_scores);
        if (lane_id() != 0) return;
        if (all_changed > 0) atomicAdd(&field.tallies->changed, (u64)all_changed);
        if (all_nan > 0) atomicAdd(&field.tallies->nan_scores, (u64)all_nan);
    }
};

// The next of a class's members that nobody has taken, so many together: who is done early takes
// more. A warp's, or where `memory` is given, a block's.
RIPPLET_FN u32 take(const Field& field, u32 of_class, u32 together) {
    u32 first = 0;
    if (lane_id() == 0) first = atomicAdd(&field.tallies->taken[of_class], together);
    return __shfl_sync(ALL_LANES, first, 0);
}
RIPPLET_FN u32 take(const Field& field, u32 of_class, unsigned char* memory) {
    __syncthreads();
    if (threadIdx.x == 0) *(u32*)memory = atomicAdd(&field.tallies->taken[of_class], 1u);
    __syncthreads();
    const u32 item = *(u32*)memory;
    __syncthreads();
    return item;
}

// What a vertex adds to its label's total.
RIPPLET_FN u32 share_of(const Field& field, u32 v) {
    if (TOTAL == TOTAL_MEMBERS) return 1;
    if (WEIGHTED) return field.shares[v];
    const u32 degree = place_of(field, v).degree(), shift = field.volume_shift;
    if (shift == 0) return degree;
    const u32 key = stream_key(field.seed, 0, VOLUME_STREAM);
    const u64 dither = (u64)mix(v ^ key) & ((1ull << shift) - 1);
    return (u32)((degree + dither) >> shift);
}

// Moves what a vertex adds from one label to another. A vertex without a label is in no total.
RIPPLET_FN void move_share(const Field& field, u32 v, u32 from, u32 to) {
    if (TOTAL == TOTAL_NONE) return;
    const u32 share = share_of(field, v);
    if (from < field.vertices) atomicSub(field.totals + from, share);
    if (to >= field.vertices) return;
    const u32 total = atomicAdd(field.totals + to, share) + share;
    u32* most = &field.tallies->most_total;
    if (FALLS_WITH_TOTAL && total > *(volatile u32*)most) atomicMax(most, total);
}

// Makes the draft of a vertex what its written columns hold.
RIPPLET_FN void begin_draft(const Field& field, u32 v) {
    u32* draft = field.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) draft[index] = *written(field, v, index);
}

RIPPLET_FN bool is_redrafted(const Field& field, u32 v) {
    const u32* draft = field.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++)
        if (draft[index] != *written(field, v, index)) return true;
    return false;
}

RIPPLET_FN void commit_draft(const Field& field, u32 v) {
    const u32* draft = field.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) *written(field, v, index) = draft[index];
}

// Lists the vertices of those lanes that have one to list. All lanes of the warp call it.
RIPPLET_FN void list_change(const Field& field, Turn turn, bool listed, u32 v, u32 degree) {
    const u32 kind = degree <= WAKE_TILE_MOST   ? WAKE_TILE
                     : degree <= WAKE_WARP_MOST ? WAKE_WARP
                                                : WAKE_PIECES;
    u32* counts = field.tallies->changes[turn.parity];
    for (u32 of_kind = WAKE_TILE; of_kind < WAKE_PIECES; of_kind++) {
        const u32 lanes = __ballot_sync(ALL_LANES, listed && kind == of_kind);
        if (lanes == 0) continue;
        u32 first = 0;
        if (lane_id() == 0) first = atomicAdd(counts + of_kind, (u32)__popc(lanes));
        first = __shfl_sync(ALL_LANES, first, 0);
        const u32 before = __popc(lanes & ((1u << lane_id()) - 1));
        if (listed && kind == of_kind) field.changes[of_kind][first + before] = v;
    }
    if (listed && kind == WAKE_PIECES) {
        const u32 pieces = (degree + PIECE - 1) / PIECE;
        const u32 first = atomicAdd(counts + WAKE_PIECES, pieces);
        for (u32 index = 0; index < pieces; index++)
            field.change_pieces[first + index] = Piece{v, index};
    }
}

// What a lane knows of its vertex of a batch.
struct Member {
    Place place;
    u32 id, label;

    RIPPLET_FN Member of_lane(u32 lane) const {
        Member other = {};
        other.place.out = __shfl_sync(ALL_LANES, place.out, lane);
        other.place.out_degree = __shfl_sync(ALL_LANES, place.out_degree, lane);
        if (DIRECTED) {
            other.place.incoming = __shfl_sync(ALL_LANES, place.incoming, lane);
            other.place.in_degree = __shfl_sync(ALL_LANES, place.in_degree, lane);
        }
        other.id = __shfl_sync(ALL_LANES, id, lane);
        other.label = __shfl_sync(ALL_LANES, label, lane);
        return other;
    }
};

// What a vertex's votes came to: what is left to do is to end its turn.
struct Ended {
    Verdict verdict;
    u64 cast;
    u32 carried;
};

// Ends the turns of the vertices of those lanes that have one. All lanes of the warp call it.
RIPPLET_FN void end_turn(const Run& run, Turn turn, bool present, u32 id, u32 before, u32 degree,
                         const Ended& end, Seen* seen) {
    const Field& field = run.field;
    bool relabelled = false, redrafted = false;
    if (present && end.verdict.best.found) {
        const Best& best = end.verdict.best;
        Access access = {&field, false};
        VertexMut vertex = {&access, id, before, carried_of(end.carried), best.frequency, end.cast};
        if (DRAFT_LENGTH > 0) begin_draft(field, id);
        u32 label = program::update_vertex(run.parameters, vertex, best.label, best.score);
        // What is no vertex is no label.
        if (label != before && label >= field.vertices) label = NO_LABEL;
        relabelled = label != before;
        redrafted = DRAFT_LENGTH > 0 && is_redrafted(field, id);
        if (IN_PLACE && redrafted) commit_draft(field, id);
        if (relabelled) (IN_PLACE ? field.labels : field.next)[id] = label;
        if (IN_PLACE && relabelled) move_share(field, id, before, label);
    }
    const bool changed = relabelled || redrafted;
    seen->changed += changed;
    seen->nan_scores += present && end.verdict.nan;
    // In place, a change is listed for those alone whom it wakes.
    const bool wakes = WAKE == WAKE_CHANGE || (WAKE == WAKE_DISAGREEMENT && relabelled);
    list_change(field, turn, IN_PLACE ? changed && wakes : changed, id, degree);
}

}  // namespace ripplet
