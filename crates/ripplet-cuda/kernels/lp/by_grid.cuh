// Large vertices that `by_large_block.cuh` left open, because every label must be counted (kernel
// `ripplet_choose_by_grid`). Many blocks share a vertex, so that none holds up the round. A slice is a quarter of a
// piece; blocks take items, each a step of a slice:
//
//     count     counts 1024 arcs in shared memory, adds the sums to the vertex's table in global memory
//     judge     judges a part of that table, stores its best label, clears the part
//     carry     finds the largest carry, if the program has one
//     the block that ends a vertex's items, whichever comes last, takes the best of the parts and ends the update
//
//     open pieces   | a.0 | a.1 | b.0 | b.1 | b.2 |  -  |  c.0 | c.1 | c.2 | c.3 |      `leave_open` lists them
//     batches       |              batch 0              |         batch 1         |      `room` pieces each; a vertex
//                                                                                        is within one batch
//     items         count a.0 ... b.2 -   judge a.0 ... b.2 -   count c.0 ... c.3   judge c.0 ... c.3
//                   four for each piece: its slices
//
// The step of a slice waits until all slices of its vertex have had the step before, and a batch waits for all batches
// before, as it takes their room. An item thus waits for none but earlier items, and those are taken by blocks that run
// or have ended. So the launch needs no barrier of the grid, however few of its blocks run at a time, and it can run
// beside the launches that choose for other vertices.
//
// Shared memory (`SLICE_SHARED` bytes): `Team::BYTES` for reductions | a table for `SLICE` votes. GLP
// (SIGMOD 2021), section 4.1, falls back to a table in global memory as well.
#pragma once

namespace ripplet {

// Slices of a piece: a block has its item done sooner, and more blocks take part. `hubs-beside.txt` in
// `bench/runs/2026-11-28-h200` has the gain over whole pieces.
constexpr u32 SLICES = 4, SLICE = PIECE / SLICES, SLICE_VOTES = SLICE / BLOCK;
// Two slots for each vote, of 12 bytes if sums have 64 bits.
constexpr u32 SLICE_SHARED = Team::BYTES + 2 * SLICE * 12;

// The steps of a slice, in this order.
constexpr u32 COUNT = 0, JUDGE = 1, CARRY = 2;
constexpr u32 STEPS = CARRIES ? 3 : 2;

// A step of a slice of an open piece. `place` is the index of the piece in the list.
struct Item {
    u32 step, batch, place, slice;

    // Item `number` of a list of `open` pieces, of which `room` are in a batch.
    RIPPLET_FN static Item of(u64 number, u32 open, u32 room) {
        const u64 of_batch = (u64)STEPS * SLICES * room;
        const u32 batch = (u32)(number / of_batch);
        const u64 behind = number % of_batch, of_step = (u64)SLICES * min(room, open - batch * room);
        const u64 slice = behind % of_step;
        return Item{(u32)(behind / of_step), batch, batch * room + (u32)(slice / SLICES), (u32)(slice % SLICES)};
    }
};

// Part `part` of `parts` of a vertex's table.
RIPPLET_FN GlobalTable table_of(const LpState& state, const Large& large, u32 part, u32 parts) {
    const u64 slots = large.slots, first = slots * part / parts;
    return GlobalTable{(Slot*)state.large.tables + (u64)(large.place % state.large.room) * PIECE_SLOTS + first,
                       (u32)(slots * (part + 1) / parts - first)};
}

// Counts the labels of a slice in shared memory, and adds the sums to the vertex's table.
template <class Sum>
RIPPLET_FN void add_slice(const Team& team, const Chooser& v, const Vote (&votes)[SLICE_VOTES],
                          const GlobalTable& all) {
    const Table<Sum> here =
        Table<Sum>::in(team.memory + Team::BYTES, SLICE_SHARED - Team::BYTES, 2 * SLICE - 4);
    here.clear(team.rank(), BLOCK);
    team.sync();
    for (u32 index = 0; index < SLICE_VOTES; index++) {
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
}

RIPPLET_FN void count_slice(const Team& team, const Chooser& v, const Large& large, u32 slice) {
    const LpState& state = v.run->state;
    const Place place = place_of(state, v.id);
    // The last piece may have fewer slices with arcs.
    const u32 first = min(slice * SLICE, place.degree());
    Vote votes[SLICE_VOTES];
    read_votes<BLOCK>(v, place, first, team.memory + Team::BYTES, votes);
    const GlobalTable all = table_of(state, large, 0, 1);
    if (UNIT || large.total_votes <= U32_MAX) {
        add_slice<u32>(team, v, votes, all);
    } else {
        add_slice<u64>(team, v, votes, all);
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

// Judges a part of the vertex's table, as one of as many as the vertex has slices, and clears it.
RIPPLET_FN void judge_part(const Team& team, const Chooser& v, Large& large, u32 slice) {
    const LpState& state = v.run->state;
    const GlobalTable part = table_of(state, large, slice, large.pieces * SLICES);
    bool nan = false;
    const PartSums sums = {team, part, slice == 0 ? large.own : 0, v.label};
    const Best mine = best_of_all(v, large.total_votes, sums, &nan);
    part.clear(team.rank(), BLOCK);
    const Best best = team.best(mine, [](const Best& a, const Best& b) { return is_better(a, b); });
    nan = team.count(nan) > 0;
    if (team.rank() != 0) return;
    state.large.found[large.first_piece * SLICES + slice] = best;
    if (nan) large.nan = 1;
}

// The verdict on a vertex, from the best labels of its parts; a warp.
RIPPLET_FN Verdict verdict_on(const Chooser& v, const Large& large) {
    const Best* const found = v.run->state.large.found + large.first_piece * SLICES;
    Best best = {};
    for (u32 slice = lane_id(); slice < large.pieces * SLICES; slice += 32) {
        const Best other = found[slice];
        if (is_better(other, best)) best = other;
    }
    best = Warp{}.best(best, [](const Best& a, const Best& b) { return is_better(a, b); });
    return Verdict{best, large.nan != 0};
}

// Finds the largest carry of the neighbours in a slice that voted for the winner.
RIPPLET_FN void carry_slice(const Chooser& v, Large& large, u32 slice) {
    // Each warp recomputes the winner; a broadcast would need one more step.
    const Verdict verdict = verdict_on(v, large);
    const Place place = place_of(v.run->state, v.id);
    const u32 degree = place.degree(), first = min(slice * SLICE, degree);
    const u32 end = first + min(degree - first, SLICE);
    u32 carried = carried_by(v, place, verdict.best, first, end, threadIdx.x, BLOCK);
    carried = warp_max(carried);
    if (lane_id() == 0 && carried > 0) atomicMax(&large.carried, carried);
}

// Ends the update of a vertex, all of whose parts are judged; a warp.
RIPPLET_FN void end_large(Phase phase, const Chooser& v, Large& large, ThreadCounters* counters) {
    const Decision end = {verdict_on(v, large), large.total_votes, large.carried};
    if (lane_id() != 0) return;
    large.outcome = end_update(*v.run, phase, v, place_of(v.run->state, v.id).degree(), end, counters);
}

RIPPLET_FN void choose_by_grid(const Run& run, Phase phase) {
    const LpState& state = run.state;
    const u32 open = state.tallies->open[phase.parity], room = state.large.room;
    if (open == 0) return;
    const Team team = {shared_memory()};
    u32* const settled = &state.tallies->settled[phase.parity];
    ThreadCounters counters = {0, 0, 0};
    const u64 items = (u64)STEPS * SLICES * open;
    for (u64 number; (number = take(&work_counters(state, phase).items, team.memory)) < items;) {
        const Item item = Item::of(number, open, room);
        const Piece piece = state.large.open_pieces[item.place];
        Large& large = state.large.records[piece.owner];
        // In an earlier part of the phase, its vertex was settled.
        if (!is_launched(phase, large.vertex)) continue;
        if (item.batch > 0) wait_until(settled, item.batch * room);
        if (piece.index == NO_PIECE) {
            const bool is_last = item.step == STEPS - 1 && item.slice == 0;
            if (is_last && team.rank() == 0) atomicAdd(settled, 1u);
            continue;
        }
        const u32 slice = piece.index * SLICES + item.slice, slices = large.pieces * SLICES;
        if (item.step > 0) wait_until(&large.done, item.step * slices);
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        if (item.step == COUNT) {
            count_slice(team, v, large, slice);
        } else if (item.step == JUDGE) {
            judge_part(team, v, large, slice);
        } else {
            carry_slice(v, large, slice);
        }
        if (count_up(&large.done, team.memory) < STEPS * slices) continue;
        if (team.rank() < 32) end_large(phase, v, large, &counters);
        if (team.rank() == 0) atomicAdd(settled, large.pieces);
    }
    counters.report(state, phase);
}

}  // namespace ripplet
