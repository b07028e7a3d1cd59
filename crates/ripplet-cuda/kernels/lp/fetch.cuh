// A streamed graph: between the gathering of a part's members and their choice, their lists are fetched from the host's
// memory to the stage, by warps that read as many words at a time as lie together. Parts are fetched while others choose.
#pragma once

namespace ripplet {

// Words of a list that more than one warp fetches, and of each of its pieces.
constexpr u64 LONG_LIST = 4096;
// Words of the stage that a warp takes at a time.
constexpr u32 STAGE_PIECE = 1024;

// What comes when a part's members are gathered: those who choose begin with the first that is not of a part before.
RIPPLET_FN void begin_part(const Run& run, Turn turn) {
    const Field& field = run.field;
    const Tallies* tallies = field.tallies;
    PhasePart& part = field.streamed.parts[turn.part];
    const PhasePart* before = turn.part > 0 ? &field.streamed.parts[turn.part - 1] : nullptr;
    if (blockIdx.x > 0 || threadIdx.x >= CLASSES) return;
    const u32 of_class = threadIdx.x;
    part.until[of_class] = tallies->members[turn.parity][of_class];
    if (of_class < LARGE) {
        part.takers.taken[of_class] = before ? before->until[of_class] : 0;
        return;
    }
    part.pieces = tallies->pieces[turn.parity];
    part.takers.taken[LARGE] = before ? before->pieces : 0;
    part.takers.scans = before ? before->until[LARGE] : 0;
    part.first = turn.first;
    part.end = turn.end;
    part.staged = 0;
    part.long_pieces = 0;
}

// Copies words, all lanes of a warp together.
RIPPLET_FN void copy_words(u64 from, u64 to, u64 words, u32 rank, u32 step) {
    constexpr u32 AT_ONCE = 4;
    for (u64 first = rank; first < words; first += AT_ONCE * step) {
        u32 values[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            values[index] = first + index * step < words ? *word_at(from + first + index * step) : 0;
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (first + index * step < words) *(u32*)word_at(to + first + index * step) = values[index];
    }
}

// A warp's share of a slot of the stage: it takes some words at a time, and gives lists room in them.
struct StageShare {
    u64 next, left;

    // Room for so many words; where it begins in the slot, or the slot's end where there is no room.
    RIPPLET_FN u64 take(const Field& field, PhasePart* part, u64 words) {
        const u64 all = field.streamed.slot_words, fair = all / (8 * gridDim.x * (BLOCK / 32));
        if (words > left) {
            const u64 wanted = max(words, min((u64)STAGE_PIECE, fair));
            u64 at = 0;
            if (lane_id() == 0) at = atomicAdd(&part->staged, wanted);
            at = __shfl_sync(ALL_LANES, at, 0);
            next = min(at, all);
            left = min(wanted, all - next);
        }
        if (words > left) return all;
        const u64 at = next;
        next += words;
        left -= words;
        return at;
    }
};

// Fetches the lists of 32 vertices, a lane's each, of so many words together.
RIPPLET_FN void fetch_lists(const Field& field, const Far& far, u32 count, u32 until, u64 to) {
    const u32 total = __shfl_sync(ALL_LANES, until, 31);
    constexpr u32 AT_ONCE = 4;
    for (u32 first = 0; first < total; first += AT_ONCE * 32) {
        u32 ids[AT_ONCE], weights[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 mine = first + index * 32 + lane_id();
            // The first lane whose words end behind it.
            u32 lane = 0;
            for (u32 step = 16; step > 0; step /= 2)
                if (__shfl_sync(ALL_LANES, until, lane + step - 1) <= mine) lane += step;
            const u64 word = __shfl_sync(ALL_LANES, far.word, lane), weight = __shfl_sync(ALL_LANES, far.weights, lane);
            const u32 before = __shfl_sync(ALL_LANES, until - count, lane);
            ids[index] = mine < total ? *word_at(word + (mine - before)) : 0;
            if (WEIGHTED && !COMPRESSED) weights[index] = mine < total ? *word_at(weight + (mine - before)) : 0;
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 mine = first + index * 32 + lane_id();
            if (mine >= total) continue;
            *(u32*)word_at(to + mine) = ids[index];
            if (WEIGHTED && !COMPRESSED) *(u32*)word_at(to + field.streamed.weights_behind + mine) = weights[index];
        }
    }
}

// Has long lists fetched by the piece, if there is room; says where this lane's will be.
RIPPLET_FN u32 list_long(const Field& field, PhasePart* part, const Far& far, u64 slot) {
    const Streamed& streamed = field.streamed;
    const u64 at = atomicAdd(&part->staged, (u64)far.words);
    if (at + far.words > streamed.slot_words) return UNFETCHED;
    const bool with_weights = WEIGHTED && !COMPRESSED;
    const u64 pieces = (far.words + LONG_LIST - 1) / LONG_LIST, to = streamed.stage + slot + at;
    const u32 first = atomicAdd(&part->long_pieces, (u32)(with_weights ? 2 * pieces : pieces));
    for (u64 piece = 0; piece < pieces; piece++) {
        const u64 begin = piece * LONG_LIST, words = min((u64)far.words - begin, LONG_LIST);
        streamed.long_pieces[first + piece] = LongPiece{far.word + begin, to + begin, words};
        if (with_weights)
            streamed.long_pieces[first + pieces + piece] =
                LongPiece{far.weights + begin, to + streamed.weights_behind + begin, words};
    }
    return (u32)(slot + at);
}

RIPPLET_FN void fetch(const Run& run, Turn turn) {
    const Field& field = run.field;
    const Streamed& streamed = field.streamed;
    PhasePart* part = &streamed.parts[turn.part];
    const u64 slot = (turn.part - 1) % streamed.slots * streamed.slot_words;
    const u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / 32, warps = (u64)gridDim.x * (BLOCK / 32);
    // Nobody is to look in this slot any more for what was there.
    if (turn.part > streamed.slots) {
        const PhasePart& past = streamed.parts[turn.part - streamed.slots];
        for (u64 v = past.first + 32 * warp + lane_id(); v < past.end; v += 32 * warps)
            for (u32 side = 0; side < (DIRECTED ? 2 : 1); side++) streamed.fetched[side][v] = UNFETCHED;
    }
    StageShare share = {0, 0};
    u64 fetched = 0, unstaged = 0;
    for (u32 side = 0; side < (DIRECTED ? 2 : 1); side++) {
        for (u64 first = turn.first + 32 * warp; first < turn.end; first += 32 * warps) {
            const u64 v = first + lane_id();
            const bool wanted = v < turn.end && streamed.fetched[side][v] == WANTED;
            if (!__any_sync(ALL_LANES, wanted)) continue;
            Far far = {};
            if (wanted) far = far_list(field, side, (u32)v);
            const bool is_long = far.words > LONG_LIST;
            const u32 count = is_long ? 0 : far.words, until = warp_prefix_sum(count);
            const u32 total = __shfl_sync(ALL_LANES, until, 31);
            const u64 begin = share.take(field, part, total);
            const bool fits = begin + total <= streamed.slot_words;
            u32 at = fits ? (u32)(slot + begin + (until - count)) : UNFETCHED;
            if (fits) fetch_lists(field, far, count, until, streamed.stage + slot + begin);
            if (is_long) at = list_long(field, part, far, slot);
            if (wanted) streamed.fetched[side][v] = at;
            (at == UNFETCHED ? unstaged : fetched) += far.words;
        }
    }
    fetched = warp_sum(fetched);
    unstaged = warp_sum(unstaged);
    const u32 arrays = WEIGHTED && !COMPRESSED ? 2 : 1;
    if (lane_id() > 0) return;
    if (fetched > 0) atomicAdd(&field.tallies->fetched, fetched * arrays);
    if (unstaged > 0) atomicAdd(&field.tallies->unstaged, unstaged * arrays);
}

// The pieces of long lists, a warp each.
RIPPLET_FN void fetch_long(const Run& run, Turn turn) {
    const Streamed& streamed = run.field.streamed;
    const u32 count = streamed.parts[turn.part].long_pieces;
    const u32 warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, warps = gridDim.x * (BLOCK / 32);
    for (u32 item = warp; item < count; item += warps) {
        const LongPiece piece = streamed.long_pieces[item];
        copy_words(piece.from, piece.to, piece.words, lane_id(), 32);
    }
}

}  // namespace ripplet
