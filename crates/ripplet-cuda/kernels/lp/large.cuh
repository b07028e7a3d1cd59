// Records and sums of large vertices, of more than 4096 arcs. The sums of votes often show that the vertex keeps
// its label. If they do not, `by_large_block.cuh` counts labels.
//
//     list_large      (`ripplet_compact_frontier`, a thread per vertex)
//         large       | record of a         | record of b | ...
//         pieces      | a.0 | a.1 | a.2 | a.3 | b.0 | b.1 | ...       4096 arcs each
//     sum_pieces      (`ripplet_sum_pieces`, a block of 256 per piece)
//         a.own, a.total_votes += votes for the own label, and all votes of the piece
//
// Shared memory of `sum_pieces`: `Team::BYTES` for reductions | decoded arcs of a compressed list, up to `SHARED`
// bytes.
#pragma once

namespace ripplet {

// Creates the record and the pieces of a large vertex. One thread calls it.
RIPPLET_FN void list_large(const LpState& state, Phase phase, u32 v, u32 degree) {
    Tallies* tallies = state.tallies;
    const u32 number = atomicAdd(&tallies->members[phase.parity][LARGE], 1u);
    const u32 pieces = (degree - 1) / PIECE + 1;
    const u32 first = atomicAdd(&tallies->pieces[phase.parity], pieces);
    Large large = {};
    large.vertex = v;
    large.first_piece = first;
    large.pieces = pieces;
    large.slots = (u32)min(2ull * min(degree, state.graph.vertices), (u64)U32_MAX);
    state.large.records[number] = large;
    for (u32 index = 0; index < pieces; index++) state.large.pieces[first + index] = Piece{number, index};
}

// Lists the pieces of a vertex whose labels must all be counted, for `by_grid.cuh`: within one batch, as their tables
// exist at the same time. What is left of the batch before is filled with `NO_PIECE`s of this vertex, so that they
// belong to its part of a phase. A block calls it, with 8 bytes of `memory`.
RIPPLET_FN void leave_open(const LpState& state, Phase phase, u32 number, unsigned char* memory) {
    Large& large = state.large.records[number];
    const u32 room = state.large.room;
    uint2* const taken = (uint2*)memory;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32* const end = &state.tallies->open[phase.parity];
        u32 before = *(volatile u32*)end, first, assumed;
        do {
            assumed = before;
            first = assumed % room + large.pieces <= room ? assumed : (assumed / room + 1) * room;
            before = atomicCAS(end, assumed, first + large.pieces);
        } while (before != assumed);
        large.place = first;
        *taken = make_uint2(assumed, first);
    }
    __syncthreads();
    const uint2 here = *taken;
    for (u32 at = here.x + threadIdx.x; at < here.y + large.pieces; at += blockDim.x)
        state.large.open_pieces[at] = Piece{number, at < here.y ? NO_PIECE : at - here.y};
}

// Sums the votes of the pieces, a block per piece.
RIPPLET_FN void sum_pieces(const Run& run, Phase phase) {
    const LpState& state = run.state;
    const u32 pieces = pieces_until(state, phase);
    const Team team = {shared_memory()};
    if (pieces == 0) return;
    for (u32 item; (item = take(&work_counters(state, phase).taken[LARGE], team.memory)) < pieces;) {
        const Piece piece = state.large.pieces[item];
        Large& large = state.large.records[piece.owner];
        const Chooser v(run, large.vertex, state.labels[large.vertex]);
        const Place place = place_of(state, v.id);
        Vote votes[THREAD_VOTES];
        read_votes<BLOCK>(v, place, piece.index * PIECE, team.memory + Team::BYTES, votes);
        VoteTotals totals = {0, 0};
        totals.add(v, votes);
        totals.sum_up(team);
        if (team.rank() == 0) {
            if (totals.own > 0) atomicAdd(&large.own, totals.own);
            atomicAdd(&large.total_votes, totals.all);
        }
    }
}

}  // namespace ripplet
