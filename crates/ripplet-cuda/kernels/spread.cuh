// The highest degrees: many blocks a vertex, so that none holds a round up. Each block counts a piece
// of the neighbours in shared memory and adds its labels to the vertex's table in global memory; then
// each judges a part of that table; then one warp takes the best of the parts. Every label is counted.
//
// Tables lie in a region of bounded size. Vertices whose tables do not fit it together take turns.
// The launch is cooperative: between the steps, all blocks wait for one another.
#pragma once

namespace ripplet {

// Gives each spread vertex that needs one its table, until the region is full; the first warp of the
// grid. Tables of later batches begin anew: a vertex is of batch `region / region_slots`. Who keeps
// its label needs none; in place, that could be answered differently later, so it is asked here alone.
RIPPLET_FN void lay_out_tables(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[turn.parity][SPREAD];
    u64 batch = 0, used = 0;
    for (u32 first = 0; first < count; first += 32) {
        const u32 number = first + lane_id();
        u32 wanted = 0;
        if (number < count) {
            Spread& spread = field.spread[number];
            const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
            Best own = {};
            spread.keeps = spread.cast == 0 || keeps(v, spread.own, spread.cast, &own);
            wanted = spread.keeps ? 0 : spread.slots;
        }
        u64 mine = 0;
        for (u32 lane = 0; lane < 32; lane++) {
            const u32 slots = __shfl_sync(ALL_LANES, wanted, lane);
            if (slots == 0) continue;
            if (used + slots > field.region_slots) {
                batch++;
                used = 0;
            }
            if (lane == lane_id()) mine = batch * field.region_slots + used;
            used += slots;
        }
        if (number < count) field.spread[number].region = mine;
    }
    if (lane_id() != 0) return;
    field.tallies->spread_batches = used > 0 ? (u32)batch + 1 : 0;
    field.tallies->region_used = batch == 0 ? used : field.region_slots;
}

// A part of a vertex's table, of `parts`.
RIPPLET_FN GlobalTable table_of(const Field& field, const Spread& spread, u32 part, u32 parts) {
    const u64 slots = spread.slots, first = slots * part / parts;
    return GlobalTable{(Slot*)field.region + spread.region % field.region_slots + first,
                       (u32)(slots * (part + 1) / parts - first)};
}

// A batch of those who have no table.
constexpr u64 KEEPING = U64_MAX;

RIPPLET_FN bool is_in_batch(const Field& field, const Spread& spread, u64 batch) {
    return spread.keeps ? batch == KEEPING : spread.region / field.region_slots == batch;
}

// Adds the labels of one piece to the vertex's table.
template <class Sum>
RIPPLET_FN void add_piece(const Team& team, const Chooser& v, const Vote (&votes)[HELD],
                          const GlobalTable& all) {
    const Table<Sum> here =
        Table<Sum>::in(team.memory + Team::BYTES, SHARED - Team::BYTES, 2 * PIECE);
    here.clear(team.rank(), BLOCK);
    team.sync();
    for (u32 index = 0; index < HELD; index++) {
        const Vote& vote = votes[index];
        if (vote.weight > 0 && vote.label != v.label) here.add(vote.label, vote.weight, U32_MAX);
    }
    team.sync();
    constexpr u32 AT_ONCE = 4;
    for (u32 first = team.rank(); first < here.slots(); first += AT_ONCE * BLOCK) {
        u32 labels[AT_ONCE];
        Sum sums[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 at = first + index * BLOCK;
            labels[index] = here.label(at);
            sums[index] = labels[index] != FREE ? here.sums[at] : 0;
        }
        all.add(labels, sums);
    }
    team.sync();
}

RIPPLET_FN void count_pieces(const Run& run, Turn turn, u32 batch) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->spread_pieces[turn.parity];
    const Team team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        Spread& spread = field.spread[piece.owner];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        const Place place = place_of(field, v.id);
        Vote votes[HELD];
        read_votes<BLOCK>(v, place, piece.index * PIECE, votes);
        const GlobalTable all = table_of(field, spread, 0, 1);
        if (UNIT || spread.cast <= U32_MAX) {
            add_piece<u32>(team, v, votes, all);
        } else {
            add_piece<u64>(team, v, votes, all);
        }
    }
}

// Judges as large a part of a vertex's table as a piece is of its neighbours.
RIPPLET_FN void judge_pieces(const Run& run, Turn turn, u32 batch) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->spread_pieces[turn.parity];
    const Team team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        const Spread& spread = field.spread[piece.owner];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        const GlobalTable part = table_of(field, spread, piece.index, spread.pieces);
        Best best = {};
        bool nan = false;
        const u64 cast = spread.cast;
        const auto judged = [&](u32 label, u64 sum) {
            const u32 rank = v.rank_of(label);
            if (!beats(v.bound(sum), rank, best)) return;
            const Score score = v.score(label, sum, cast, false);
            nan |= is_nan_score(score);
            if (beats(score, rank, best)) best = Best{score, sum, label, rank, true};
        };
        part.each(team.rank(), BLOCK, judged);
        if (piece.index == 0 && team.rank() == 0 && spread.own > 0) judged(v.label, spread.own);
        best = team.best(best, [](const Best& a, const Best& b) { return is_better(a, b); });
        nan = team.count(nan) > 0;
        if (team.rank() == 0) {
            field.found[item] = best;
            if (nan) field.spread[piece.owner].nan = 1;
        }
        team.sync();
    }
}

// The verdict on a spread vertex; a warp.
RIPPLET_FN Verdict verdict_on(const Chooser& v, const Spread& spread) {
    if (spread.keeps) {
        if (spread.cast == 0) return Verdict{};
        const Score score = v.score(v.label, spread.own, spread.cast, false);
        return Verdict{Best{score, spread.own, v.label, 0, true}, false};
    }
    const Field& field = v.run->field;
    Best best = {};
    for (u32 piece = lane_id(); piece < spread.pieces; piece += 32) {
        const Best other = field.found[spread.first_piece + piece];
        if (is_better(other, best)) best = other;
    }
    best = Warp{}.best(best, [](const Best& a, const Best& b) { return is_better(a, b); });
    return Verdict{best, spread.nan != 0};
}

// What the neighbours that voted for the winner hand over, to those who keep their label, or to those
// of a batch.
RIPPLET_FN void carry_pieces(const Run& run, Turn turn, u64 batch) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->spread_pieces[turn.parity];
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        Spread& spread = field.spread[piece.owner];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        // Each warp finds the winner again rather than wait for one that writes it down.
        const Verdict verdict = verdict_on(v, spread);
        const Place place = place_of(field, v.id);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        u32 carried = carried_by(v, place, verdict.best, first + threadIdx.x, end, BLOCK);
        carried = warp_max(carried);
        if (lane_id() == 0 && carried > 0) atomicMax(&spread.carried, carried);
    }
}

// Ends the turns of those who keep their label, or of those of a batch.
RIPPLET_FN void end_turns(const Run& run, Turn turn, u64 batch, Seen* seen) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[turn.parity][SPREAD];
    const u32 warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, warps = gridDim.x * (BLOCK / 32);
    for (u32 number = warp; number < count; number += warps) {
        Spread& spread = field.spread[number];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        const Ended end = {verdict_on(v, spread), spread.cast, spread.carried};
        if (lane_id() != 0) continue;
        const Done done = end_turn(run, turn, v, place_of(field, v.id).degree(), end, seen);
        spread.changed = done.changed;
        spread.wakes = done.wakes;
    }
}

RIPPLET_FN void choose_spread(const Run& run, Turn turn) {
    const Field& field = run.field;
    if (field.tallies->members[turn.parity][SPREAD] == 0) return;
    Barrier* barrier = &field.tallies->barrier;
    if (blockIdx.x == 0 && threadIdx.x < 32) lay_out_tables(run, turn);
    grid_barrier(barrier);
    const u32 thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    const u32 batches = field.tallies->spread_batches;
    const u64 used = field.tallies->region_used;
    Seen seen = {0, 0, 0};
    for (u32 batch = 0; batch < batches; batch++) {
        for (u64 at = thread; at < used; at += threads) ((Slot*)field.region)[at] = Slot::free();
        grid_barrier(barrier);
        count_pieces(run, turn, batch);
        grid_barrier(barrier);
        judge_pieces(run, turn, batch);
        grid_barrier(barrier);
        if (CARRIES) {
            carry_pieces(run, turn, batch);
            grid_barrier(barrier);
        }
        end_turns(run, turn, batch, &seen);
    }
    if (CARRIES) {
        carry_pieces(run, turn, KEEPING);
        grid_barrier(barrier);
    }
    end_turns(run, turn, KEEPING, &seen);
    seen.report(field, turn);
}

}  // namespace ripplet
