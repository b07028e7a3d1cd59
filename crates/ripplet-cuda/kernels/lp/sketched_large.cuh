// Large vertices counted by sketches (kernel `ripplet_choose_by_grid`), in place of counting every label. The
// launch is cooperative, with a grid barrier between the steps:
//
//     1. a warp per piece       sketches 4096 arcs: 32 parts of 128 (`sketched.cuh`)
//     2. a warp per vertex      merges the sketches of its pieces, as many at a time as a warp has groups
//     3. a warp per piece       recounts the votes for the candidates, if the sketch scans twice
//     4. a warp per vertex      judges the candidates, stores the best as if its first slice had found it
//     5. a block per slice      finds the carry, if the program has one (`by_grid.cuh`)
//     6. a warp per vertex      ends the update
//
// Between the steps, sketches are in global memory, a `Record` per piece. Shared memory: that of `sketched.cuh`.
#pragma once

namespace ripplet {

// The sketch of a piece between two steps, in global memory.
struct Record {
    u32* labels;
    u64* weights;

    RIPPLET_FN static Record of(const LpState& state, u32 piece) {
        return Record{state.large.sketched_labels + (u64)piece * SLOTS,
                      state.large.sketched_weights + (u64)piece * SLOTS};
    }
    // `write` is called for one group; `read` by every group that needs the sketch.
    RIPPLET_FN void write(const Slots& slots, bool writes) const {
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            if (!writes || !Slots::is_there(at)) continue;
            labels[Slots::number(at)] = slots.labels[at];
            weights[Slots::number(at)] = slots.weights[at];
        }
    }
    RIPPLET_FN Slots read(bool reads) const {
        Slots slots = Slots::nothing();
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            if (!reads || !Slots::is_there(at)) continue;
            slots.labels[at] = labels[Slots::number(at)];
            slots.weights[at] = (KeySum)weights[Slots::number(at)];
        }
        return slots;
    }
};

// The piece of a large vertex that a warp works on.
struct PieceAtWork {
    Sketched vertex;
    u32 owner, first, end;

    RIPPLET_FN PieceAtWork(const LpState& state, u32 item) {
        const Piece piece = state.large.pieces[item];
        owner = piece.owner;
        vertex = Sketched::of(state, state.large.records[owner].vertex);
        first = piece.index * PIECE;
        end = first + min(vertex.degree - first, PIECE);
    }
};

constexpr u32 PIECE_WIDE = SIDE_BY_SIDE, PIECE_PASSES = PIECE / PART / SIDE_BY_SIDE;

// Calls `act` with each number below `count`, a warp per number.
template <class F> RIPPLET_FN void a_warp_each(u32 count, F act) {
    const u32 warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, warps = gridDim.x * (BLOCK / 32);
    for (u32 item = warp; item < count; item += warps) {
        act(item);
        __syncwarp();
    }
}

RIPPLET_FN void sketch_pieces(const Run& run, Phase phase, u32 pieces) {
    const Workspace workspace = Workspace::of_warp();
    a_warp_each(pieces, [&](u32 item) {
        const PieceAtWork at(run.state, item);
        if (!is_launched(phase, at.vertex.id)) return;
        VoteTotals totals = {0, 0};
        const Slots slots = sketch_arcs(run, workspace, at.vertex, at.first, at.end, PIECE_WIDE,
                                        PIECE_PASSES, &totals);
        Record::of(run.state, item).write(slots, lane_id() < GROUP);
    });
}

// Merges the records of each large vertex, a warp per vertex: as many at a time as a warp has groups, again
// and again until one is left, the vertex's first record. For a recount, its weights are set to 0.
RIPPLET_FN void merge_pieces(const Run& run, Phase phase, u32 count) {
    const LpState& state = run.state;
    const u32 group = lane_id() / GROUP;
    a_warp_each(count, [&](u32 number) {
        const Large& large = state.large.records[number];
        if (!is_launched(phase, large.vertex)) return;
        u32 left = large.pieces;
        do {
            u32 written = 0;
            for (u32 first = 0; first < left; first += SIDE_BY_SIDE, written++) {
                const u32 here = min(left - first, SIDE_BY_SIDE);
                const u32 piece = large.first_piece + first + group;
                Slots slots = Record::of(state, piece).read(group < here);
                slots.merge_all(SIDE_BY_SIDE);
                __syncwarp();
                Record::of(state, large.first_piece + written).write(slots, lane_id() < GROUP);
                __syncwarp();
            }
            left = written;
        } while (left > 1);
        if (RECOUNTS && lane_id() < SLOTS) Record::of(state, large.first_piece).weights[lane_id()] = 0;
    });
}

RIPPLET_FN void recount_pieces(const Run& run, Phase phase, u32 pieces) {
    const LpState& state = run.state;
    const Workspace workspace = Workspace::of_warp();
    a_warp_each(pieces, [&](u32 item) {
        const PieceAtWork at(state, item);
        if (!is_launched(phase, at.vertex.id)) return;
        const Record record = Record::of(state, state.large.records[at.owner].first_piece);
        // Other warps add to the weights meanwhile, so only the labels are read.
        Slots slots = Slots::nothing();
#pragma unroll
        for (u32 slot = 0; slot < OWN; slot++)
            if (Slots::is_there(slot)) slots.labels[slot] = record.labels[Slots::number(slot)];
        recount_arcs(run, workspace, at.vertex, at.first, at.end, PIECE_WIDE, PIECE_PASSES, &slots);
#pragma unroll
        for (u32 slot = 0; slot < OWN; slot++)
            if (lane_id() < GROUP && slots.weights[slot] > 0)
                atomicAdd(record.weights + Slots::number(slot), (u64)slots.weights[slot]);
    });
}

// Stores the verdict on each vertex in the form that `verdict_on` reads: as if the first slice had found it.
RIPPLET_FN void judge_large_sketched(const Run& run, Phase phase, u32 count) {
    const LpState& state = run.state;
    a_warp_each(count, [&](u32 number) {
        Large& large = state.large.records[number];
        if (!is_launched(phase, large.vertex)) return;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const Slots slots = Record::of(state, large.first_piece).read(lane_id() < GROUP);
        const VoteTotals totals = {large.own, large.total_votes};
        const Verdict verdict = judge_sketched(Lanes<0>{32}, v, true, totals, slots);
        for (u32 slice = lane_id(); slice < large.pieces * SLICES; slice += 32)
            state.large.found[large.first_piece * SLICES + slice] = slice == 0 ? verdict.best : Best{};
        if (lane_id() != 0) return;
        large.nan = verdict.nan;
    });
}

RIPPLET_FN void carry_large_sketched(const Run& run, Phase phase, u32 pieces) {
    const LpState& state = run.state;
    for (u32 item = blockIdx.x; item < pieces * SLICES; item += gridDim.x) {
        const Piece piece = state.large.pieces[item / SLICES];
        Large& large = state.large.records[piece.owner];
        if (!is_launched(phase, large.vertex)) continue;
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        carry_slice(v, large, piece.index * SLICES + item % SLICES);
    }
}

RIPPLET_FN void end_large_sketched(const Run& run, Phase phase, u32 count, ThreadCounters* counters) {
    const LpState& state = run.state;
    a_warp_each(count, [&](u32 number) {
        Large& large = state.large.records[number];
        if (!is_launched(phase, large.vertex)) return;
        end_large(phase, Chooser(run, large.vertex, state.labels[large.vertex]), large, counters);
    });
}

// Updates all large vertices; a cooperative launch.
RIPPLET_FN void choose_large_sketched(const Run& run, Phase phase) {
    const LpState& state = run.state;
    const u32 count = state.tallies->members[phase.parity][LARGE];
    const u32 pieces = state.tallies->pieces[phase.parity];
    if (count == 0) return;
    Barrier* barrier = &state.tallies->barrier;
    sketch_pieces(run, phase, pieces);
    grid_barrier(barrier);
    merge_pieces(run, phase, count);
    grid_barrier(barrier);
    if (RECOUNTS) {
        recount_pieces(run, phase, pieces);
        grid_barrier(barrier);
    }
    judge_large_sketched(run, phase, count);
    grid_barrier(barrier);
    if (CARRIES) {
        carry_large_sketched(run, phase, pieces);
        grid_barrier(barrier);
    }
    ThreadCounters counters = {0, 0, 0};
    end_large_sketched(run, phase, count, &counters);
    counters.report(state, phase);
}

}  // namespace ripplet
