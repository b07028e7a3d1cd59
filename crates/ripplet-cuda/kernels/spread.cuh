// The highest degrees: many blocks a vertex, so that none holds a round up. Each block counts a piece
// of the neighbours in shared memory and adds its labels to the vertex's table in global memory; then
// each judges a part of that table; then one warp takes the best of the parts. Every label is counted.
//
// Tables lie in a region of bounded size. Vertices whose tables do not fit it together take turns.
// The launch is cooperative: between the steps, all blocks wait for one another.
#pragma once

namespace ripplet {

// Gives each spread vertex its table, until the region is full; the first warp of the grid. Tables
// of later batches begin anew: a vertex is of batch `region / region_slots`.
RIPPLET_FN void lay_out_tables(const Field& field) {
    const u32 count = field.tallies->members[SPREAD];
    u64 batch = 0, used = 0;
    for (u32 first = 0; first < count; first += 32) {
        const u32 number = first + lane_id();
        const u32 wanted = number < count ? field.spread[number].slots : 0;
        u64 mine = 0;
        for (u32 lane = 0; lane < 32; lane++) {
            const u32 slots = __shfl_sync(ALL_LANES, wanted, lane);
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
    field.tallies->spread_batches = (u32)batch + 1;
    field.tallies->region_used = batch == 0 ? used : field.region_slots;
}

RIPPLET_FN Table<u64> table_of(const Field& field, const Spread& spread) {
    const u64 first = spread.region % field.region_slots;
    return Table<u64>{field.region_sums + first, field.region_labels + first, spread.slots};
}

RIPPLET_FN bool is_in_batch(const Field& field, const Spread& spread, u32 batch) {
    return spread.region / field.region_slots == batch;
}

// Adds the labels of one piece to the vertex's table.
template <class Sum>
RIPPLET_FN void add_piece(const Block& team, const Chooser& v, const Vote (&votes)[HELD],
                          Table<u64> all) {
    Table<Sum> here =
        Table<Sum>::in(team.memory + Block::BYTES, SHARED - Block::BYTES, 2 * PIECE);
    here.clear(team.rank(), Block::SIZE);
    team.sync();
    for (u32 index = 0; index < HELD; index++) {
        const Vote& vote = votes[index];
        if (vote.weight > 0 && vote.label != v.label) here.add(vote.label, vote.weight, here.slots);
    }
    team.sync();
    here.each(team.rank(), Block::SIZE,
              [&](u32 label, u64 sum) { all.add(label, sum, all.slots); });
    team.sync();
}

RIPPLET_FN void count_pieces(const Run& run, u32 batch) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->spread_pieces;
    const Block team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        Spread& spread = field.spread[piece.owner];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        const Place place = place_of(field, v.id);
        const u32 degree = place.degree();
        Vote votes[HELD];
        u64 own = 0, cast = 0;
        for (u32 index = 0; index < HELD; index++) {
            const u32 at = piece.index * PIECE + index * Block::SIZE + team.rank();
            votes[index] = at < degree ? v.vote(arc_at(field, place, at)) : Vote{NO_LABEL, 0};
            cast += votes[index].weight;
            if (votes[index].label == v.label) own += votes[index].weight;
        }
        own = team.sum(own);
        cast = team.sum(cast);
        if (team.rank() == 0) {
            if (own > 0) atomicAdd(&spread.own, own);
            atomicAdd(&spread.cast, cast);
        }
        if (cast <= U32_MAX) {
            add_piece<u32>(team, v, votes, table_of(field, spread));
        } else {
            add_piece<u64>(team, v, votes, table_of(field, spread));
        }
    }
}

// Judges as large a part of a vertex's table as a piece is of its neighbours.
RIPPLET_FN void judge_pieces(const Run& run, u32 batch) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->spread_pieces;
    const Block team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        const Spread& spread = field.spread[piece.owner];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        Table<u64> part = table_of(field, spread);
        const u64 slots = part.slots;
        const u64 first = slots * piece.index / spread.pieces;
        part.slots = (u32)(slots * (piece.index + 1) / spread.pieces - first);
        part.labels += first;
        part.sums += first;
        Best own = {};
        // In place, others' moves may change the answer before it is asked for again.
        const bool kept = !IN_PLACE && keeps(v, spread.own, spread.cast, &own);
        Best best = {};
        bool nan = false;
        if (!kept) {
            const u64 cast = spread.cast;
            const auto judged = [&](u32 label, u64 sum) {
                const u32 rank = v.rank_of(label);
                if (!beats(v.bound(sum), rank, best)) return;
                const Score score = v.score(label, sum, cast, false);
                nan |= is_nan_score(score);
                if (beats(score, rank, best)) best = Best{score, sum, label, rank, true};
            };
            part.each(team.rank(), Block::SIZE, judged);
            if (piece.index == 0 && team.rank() == 0 && spread.own > 0) judged(v.label, spread.own);
        }
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
    Verdict verdict = {};
    if (keeps(v, spread.own, spread.cast, &verdict.best)) return verdict;
    const Field& field = v.run->field;
    Best best = {};
    for (u32 piece = lane_id(); piece < spread.pieces; piece += 32) {
        const Best other = field.found[spread.first_piece + piece];
        if (is_better(other, best)) best = other;
    }
    best = Warp{}.best(best, [](const Best& a, const Best& b) { return is_better(a, b); });
    return Verdict{best, spread.nan != 0};
}

// What the neighbours that voted for the winner hand over.
RIPPLET_FN void carry_pieces(const Run& run, u32 batch) {
    const Field& field = run.field;
    const u32 pieces = field.tallies->spread_pieces;
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = field.spread_pieces[item];
        Spread& spread = field.spread[piece.owner];
        if (!is_in_batch(field, spread, batch)) continue;
        const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
        // Each warp finds the winner again rather than wait for one that writes it down.
        const Verdict verdict = verdict_on(v, spread);
        const Place place = place_of(field, v.id);
        u32 carried = 0;
        for (u32 index = 0; index < HELD; index++) {
            const u32 at = piece.index * PIECE + index * Block::SIZE + threadIdx.x;
            if (at >= place.degree() || !verdict.best.found) continue;
            const Arc arc = arc_at(field, place, at);
            const Vote vote = v.vote(arc);
            if (vote.weight > 0 && vote.label == verdict.best.label)
                carried = max(carried, v.carry(arc));
        }
        carried = warp_max(carried);
        if (lane_id() == 0 && carried > 0) atomicMax(&spread.carried, carried);
    }
}

RIPPLET_FN void choose_spread(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 count = field.tallies->members[SPREAD];
    if (count == 0) return;
    Barrier* barrier = &field.tallies->barrier;
    if (blockIdx.x == 0 && threadIdx.x < 32) lay_out_tables(field);
    grid_barrier(barrier);
    const u32 thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    const u32 warp = thread / 32, warps = threads / 32;
    const u32 batches = field.tallies->spread_batches;
    Seen seen = {0, 0};
    for (u32 batch = 0; batch < batches; batch++) {
        const u64 used = field.tallies->region_used;
        for (u64 at = thread; at < used; at += threads) {
            field.region_labels[at] = FREE;
            field.region_sums[at] = 0;
        }
        grid_barrier(barrier);
        count_pieces(run, batch);
        grid_barrier(barrier);
        judge_pieces(run, batch);
        grid_barrier(barrier);
        if (CARRIES) {
            carry_pieces(run, batch);
            grid_barrier(barrier);
        }
        for (u32 number = warp; number < count; number += warps) {
            const Spread& spread = field.spread[number];
            if (!is_in_batch(field, spread, batch)) continue;
            const Chooser v(run, spread.vertex, field.labels[spread.vertex]);
            const Verdict verdict = verdict_on(v, spread);
            const u32 degree = place_of(field, v.id).degree();
            const Ended end = {verdict, spread.cast, spread.carried};
            end_turn(run, turn, lane_id() == 0, v.id, v.label, degree, end, &seen);
        }
    }
    seen.report(field);
}

}  // namespace ripplet
