// Records and sums of large vertices, of more than 4096 arcs. A vertex has a `Large` record, and its arcs are
// taken in pieces of 4096, a block each, by the kernel `ripplet_choose`. The sums of votes often show that
// the vertex keeps its label. If they do not, `scanned.cuh` counts labels.
#pragma once

namespace ripplet {

// Creates the record and the pieces of a large vertex. One thread calls it.
RIPPLET_FN void list_large(const Field& field, Turn turn, u32 v, u32 degree) {
    Tallies* tallies = field.tallies;
    const u32 number = atomicAdd(&tallies->members[turn.parity][LARGE], 1u);
    const u32 pieces = (degree - 1) / PIECE + 1;
    const u32 first = atomicAdd(&tallies->pieces[turn.parity], pieces);
    Large large = {};
    large.vertex = v;
    large.first_piece = first;
    large.pieces = pieces;
    large.slots = (u32)min(2ull * min(degree, field.vertices) + 8, (u64)U32_MAX);
    field.large[number] = large;
    for (u32 index = 0; index < pieces; index++) field.pieces[first + index] = Piece{number, index};
}

// Sums the votes of the pieces, a block per piece.
RIPPLET_FN void cast_pieces(const Run& run, Turn turn) {
    const Field& field = run.field;
    const u32 pieces = pieces_until(field, turn);
    const Team team = {shared_memory()};
    if (pieces == 0) return;
    for (u32 item; (item = take(&takers(field, turn).taken[LARGE], team.memory)) < pieces;) {
        const Piece piece = field.pieces[item];
        Large& large = field.large[piece.owner];
        const Chooser v(run, large.vertex, field.labels[large.vertex]);
        const Place place = place_of(field, v.id);
        Vote votes[HELD];
        read_votes<BLOCK>(v, place, piece.index * PIECE, team.memory + Team::BYTES, votes);
        Cast cast = {0, 0};
        cast.add(v, votes);
        cast.sum_up(team);
        if (team.rank() == 0) {
            if (cast.own > 0) atomicAdd(&large.own, cast.own);
            atomicAdd(&large.cast, cast.all);
        }
    }
}

}  // namespace ripplet
