// Grid-mapped vertices (kernel `ripplet_choose_by_grid`): large vertices that `by_large_block.cuh` left open,
// because every label must be counted. Many blocks share a vertex, so that none holds up the round. The launch is
// cooperative, with a grid barrier between the steps:
//
//     1. a block per piece      counts 4096 arcs in shared memory, adds the sums to the global table
//     2. a block per piece      judges a part of that table, stores its best label
//     3. a block per piece      finds the carry, if the program has one
//     4. a warp per vertex      takes the best of the parts, ends the update
//
//     region, batch 0     | table of a | table of b           |      tables follow until the region is full
//     region, batch 1     | table of c                  |            then the next batch begins
//     parts of a table    | part 0 | part 1 | part 2 |               as many as the vertex has pieces
//
// The tables lie in a region of bounded size. If they do not fit together, vertices are processed in batches
// (`update_in_batches`, which `sketched_large.cuh` uses as well).
//
// Shared memory (`SHARED` bytes): `Team::BYTES` for reductions | a table for `PIECE` votes. GLP
// (SIGMOD 2021), section 4.1, falls back to a table in global memory as well.
#pragma once

namespace ripplet {

// Assigns each open vertex its table, until the region is full; then the next batch begins. A vertex is in
// batch `region / region_slots`. Run by the first warp of the grid.
RIPPLET_FN void lay_out_tables(const LpState& state, Phase phase) {
    const u32 count = state.tallies->members[phase.parity][LARGE];
    u64 batch = 0, used = 0;
    for (u32 first = 0; first < count; first += 32) {
        const u32 number = first + lane_id();
        const bool is_open = number < count && state.large.records[number].open && is_launched(phase, state.large.records[number].vertex);
        const u32 wanted = is_open ? state.large.records[number].slots : 0;
        u64 mine = 0;
        for (u32 open = __ballot_sync(ALL_LANES, wanted > 0); open != 0; open &= open - 1) {
            const u32 lane = (u32)__ffs(open) - 1, slots = __shfl_sync(ALL_LANES, wanted, lane);
            if (used + slots > state.large.region_slots) {
                batch++;
                used = 0;
            }
            if (lane == lane_id()) mine = batch * state.large.region_slots + used;
            used += slots;
        }
        if (wanted > 0) state.large.records[number].region = mine;
    }
    if (lane_id() != 0) return;
    state.tallies->batches = (u32)batch + 1;
    state.tallies->region_used = batch == 0 ? used : state.large.region_slots;
}

// Part `part` of `parts` of a vertex's table.
RIPPLET_FN GlobalTable table_of(const LpState& state, const Large& large, u32 part, u32 parts) {
    const u64 slots = large.slots, first = slots * part / parts;
    return GlobalTable{(Slot*)state.large.region + large.region % state.large.region_slots + first,
                       (u32)(slots * (part + 1) / parts - first)};
}

RIPPLET_FN bool is_in_batch(const LpState& state, Phase phase, const Large& large, u32 batch) {
    return large.open && large.region / state.large.region_slots == batch && is_launched(phase, large.vertex);
}

// Counts the labels of a piece in shared memory, and adds the sums to the vertex's table.
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
    constexpr u32 AT_ONCE = 8;
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

RIPPLET_FN void count_pieces(const Run& run, Phase phase, u32 batch) {
    const LpState& state = run.state;
    const u32 pieces = state.tallies->pieces[phase.parity];
    const Team team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = state.large.pieces[item];
        Large& large = state.large.records[piece.owner];
        if (!is_in_batch(state, phase, large, batch)) continue;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const Place place = place_of(state, v.id);
        Vote votes[HELD];
        read_votes<BLOCK>(v, place, piece.index * PIECE, team.memory + Team::BYTES, votes);
        const GlobalTable all = table_of(state, large, 0, 1);
        if (UNIT || large.total_votes <= U32_MAX) {
            add_piece<u32>(team, v, votes, all);
        } else {
            add_piece<u64>(team, v, votes, all);
        }
    }
}

// The label sums of one part of a vertex's table, and of its own label if `own` is not 0.
struct PartSums {
    Team team;
    GlobalTable table;
    u64 own;
    u32 label;

    template <class F> RIPPLET_FN void each(F visit) const {
        if (team.rank() == 0 && own > 0) visit(label, own);
        table.each(team.rank(), BLOCK, visit);
    }
};

// Judges the parts of the tables, as many per vertex as it has pieces.
RIPPLET_FN void judge_pieces(const Run& run, Phase phase, u32 batch) {
    const LpState& state = run.state;
    const u32 pieces = state.tallies->pieces[phase.parity];
    const Team team = {shared_memory()};
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = state.large.pieces[item];
        const Large& large = state.large.records[piece.owner];
        if (!is_in_batch(state, phase, large, batch)) continue;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const GlobalTable part = table_of(state, large, piece.index, large.pieces);
        bool nan = false;
        const PartSums sums = {team, part, piece.index == 0 ? large.own : 0, v.label};
        const Best mine = best_of_all(v, large.total_votes, sums, &nan);
        const Best best = team.best(mine, [](const Best& a, const Best& b) { return is_better(a, b); });
        nan = team.count(nan) > 0;
        if (team.rank() == 0) {
            state.large.found[large.first_piece + piece.index] = best;
            if (nan) state.large.records[piece.owner].nan = 1;
        }
        team.sync();
    }
}

// The verdict on a vertex, from the best labels of its parts; a warp.
RIPPLET_FN Verdict verdict_on(const Chooser& v, const Large& large) {
    const LpState& state = v.run->state;
    Best best = {};
    for (u32 piece = lane_id(); piece < large.pieces; piece += 32) {
        const Best other = state.large.found[large.first_piece + piece];
        if (is_better(other, best)) best = other;
    }
    best = Warp{}.best(best, [](const Best& a, const Best& b) { return is_better(a, b); });
    return Verdict{best, large.nan != 0};
}

// Finds the largest carry of the neighbours that voted for the winner.
RIPPLET_FN void carry_pieces(const Run& run, Phase phase, u32 batch) {
    const LpState& state = run.state;
    const u32 pieces = state.tallies->pieces[phase.parity];
    for (u32 item = blockIdx.x; item < pieces; item += gridDim.x) {
        const Piece piece = state.large.pieces[item];
        Large& large = state.large.records[piece.owner];
        if (!is_in_batch(state, phase, large, batch)) continue;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        // Each warp recomputes the winner; a broadcast would need another barrier.
        const Verdict verdict = verdict_on(v, large);
        const Place place = place_of(state, v.id);
        const u32 first = piece.index * PIECE, end = first + min(place.degree() - first, PIECE);
        u32 carried = carried_by(v, place, verdict.best, first, end, threadIdx.x, BLOCK);
        carried = warp_max(carried);
        if (lane_id() == 0 && carried > 0) atomicMax(&large.carried, carried);
    }
}

RIPPLET_FN void end_updates(const Run& run, Phase phase, u32 batch, ThreadCounters* counters) {
    const LpState& state = run.state;
    const u32 count = state.tallies->members[phase.parity][LARGE];
    const u32 warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, warps = gridDim.x * (BLOCK / 32);
    for (u32 number = warp; number < count; number += warps) {
        Large& large = state.large.records[number];
        if (!is_in_batch(state, phase, large, batch)) continue;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const Decision end = {verdict_on(v, large), large.total_votes, large.carried};
        if (lane_id() != 0) continue;
        large.outcome = end_update(run, phase, v, place_of(state, v.id).degree(), end, counters);
    }
}

// Updates large vertices batch by batch. `find(batch)` stores the best label of each piece of a batch.
template <class Find>
RIPPLET_FN void update_in_batches(const Run& run, Phase phase, u32 batches, const Find& find) {
    Barrier* barrier = &run.state.tallies->barrier;
    ThreadCounters counters = {0, 0, 0};
    for (u32 batch = 0; batch < batches; batch++) {
        find(batch);
        grid_barrier(barrier);
        if (CARRIES) {
            carry_pieces(run, phase, batch);
            grid_barrier(barrier);
        }
        end_updates(run, phase, batch, &counters);
    }
    counters.report(run.state, phase);
}

RIPPLET_FN void choose_by_grid(const Run& run, Phase phase) {
    const LpState& state = run.state;
    if (state.tallies->open[phase.parity] == 0) return;
    Barrier* barrier = &state.tallies->barrier;
    if (blockIdx.x == 0 && threadIdx.x < 32) lay_out_tables(state, phase);
    grid_barrier(barrier);
    const u32 thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    const u32 batches = state.tallies->batches;
    const u64 used = state.tallies->region_used;
    update_in_batches(run, phase, batches, [&](u32 batch) {
        for (u64 at = thread; at < used; at += threads) ((Slot*)state.large.region)[at] = Slot::free();
        grid_barrier(barrier);
        count_pieces(run, phase, batch);
        grid_barrier(barrier);
        judge_pieces(run, phase, batch);
    });
}

}  // namespace ripplet
