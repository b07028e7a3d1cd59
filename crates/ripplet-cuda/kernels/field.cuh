// The state of a run, as the host lays it out (`src/lp/layout.rs` has the same structs), and where
// a vertex's neighbours are.
//
// Before this file comes the run's configuration, constants of the compilation:
//
//     bool DIRECTED, WEIGHTED, SHARDED     the graph
//     u32  COLUMNS, DRAFT_LENGTH           the program's columns; values of the written ones a vertex
//     u32  WAKE, TOTAL                     below
//     bool FALLS_WITH_TOTAL, CARRIES       what the program says of its hooks
//     bool SMALLEST_TIES, IN_PLACE         the schedule; IN_PLACE is `async`
#pragma once

namespace ripplet {

constexpr u32 WAKE_DISAGREEMENT = 0, WAKE_CHANGE = 1, WAKE_ALWAYS = 2;
constexpr u32 TOTAL_NONE = 0, TOTAL_MEMBERS = 1, TOTAL_VOLUME = 2;

// Threads of every block, and its shared memory in bytes.
constexpr u32 BLOCK = 256, WARPS = BLOCK / 32, SHARED = 57344;

// Degree classes. Tiles are parts of a warp; a held vertex's votes stay in registers, 8 a thread.
constexpr u32 TILE_4 = 0, TILE_8 = 1, TILE_16 = 2, TILE_32 = 3;
constexpr u32 HELD_WARP = 4, HELD_BLOCK = 5, SCANNED = 6, SPREAD = 7, CLASSES = 8;
constexpr u32 HELD = 8;
// Vertices whose turns a warp ends together, at most: as many as lanes, or as have room beside a table.
constexpr u32 BATCH = 32, HELD_BATCH = 8;
constexpr u32 WARP_MOST = 32 * HELD, BLOCK_MOST = BLOCK * HELD;

// Arcs of a large vertex that a block takes at a time.
constexpr u32 PIECE = BLOCK_MOST;

// Who wakes a changed vertex's neighbours: four lanes, a warp, or blocks by the piece.
constexpr u32 WAKE_TILE = 0, WAKE_WARP = 1, WAKE_PIECES = 2, WAKE_CLASSES = 3;
constexpr u32 WAKE_TILE_MOST = 64, WAKE_WARP_MOST = BLOCK_MOST;

struct Lists {
    const u32 *offsets, *ids, *weights;
};

// Where a shard begins: its first vertex, and its first arc in `out.ids` and in `incoming.ids`.
struct ShardStart {
    u64 first, out, incoming;
};

struct Column {
    u32* values;
    u32 length;
    // Where its values are in a draft; 0xffffffff where it is not written.
    u32 draft;
};

// A part of a large vertex: `owner` is the vertex, or the number of a spread one.
struct Piece {
    u32 owner, index;
};

// Counts that blocks add to. Those in the first part only grow; the host takes differences.
struct Tallies {
    u64 visited, scanned, changed, nan_scores, fingerprint, grand_total;
    // Slots of the region that a batch of spread vertices uses.
    u64 region_used;
    u32 most_total;
    // By class: members of the phase at work.
    u32 members[CLASSES];
    // By class: how much of that has been taken.
    u32 taken[CLASSES];
    u32 spread_pieces, spread_batches;
    // By parity of the phase and by class: vertices that changed, or pieces of them.
    u32 changes[2][WAKE_CLASSES];
    Barrier barrier;
};

// A vertex whose votes many blocks count together.
struct Spread {
    u64 region, own, cast;
    u32 vertex, first_piece, pieces, slots, carried, nan;
};

struct Best;

struct Field {
    Lists out, incoming;
    const ShardStart* shards;
    u32 *labels, *next;
    unsigned char* active;
    u32 *totals, *shares, *drafts;
    Tallies* tallies;
    // By class: the members of the phase; for SPREAD, records.
    u32* members[CLASSES - 1];
    Spread* spread;
    Piece* spread_pieces;
    // What each piece of a spread vertex found best; a `Best`.
    Best* found;
    // Tables of spread vertices.
    u32* region_labels;
    u64* region_sums;
    u32* changes[WAKE_PIECES];
    // For each changed large vertex its pieces, and once the vertex.
    Piece* change_pieces;
    // Arcs in `out.ids`.
    u64 arcs, grand_total, region_slots;
    u32 vertices, shard_count, seed, volume_shift;
    u32 round, phases;
    // Degrees up to this are scanned by one block.
    u32 scan_most;
    // No vertex is of a lower class than this.
    u32 least_class;
    // Whether the round's fingerprint is wanted.
    u32 traced, padding;
    Column columns[COLUMNS > 0 ? COLUMNS : 1];
};

// A phase of the round, and whether it is an odd one, counted from the first of the run.
struct Turn {
    u32 phase, parity;
};

// Where a vertex's neighbours are.
struct Place {
    u64 out, incoming;
    u32 out_degree, in_degree;

    RIPPLET_FN u32 degree() const { return out_degree + in_degree; }
};

RIPPLET_FN const ShardStart* shard_of(const Field& field, u32 v, u32* number) {
    u32 shard = 0;
    while (shard + 1 < field.shard_count && field.shards[shard + 1].first <= v) shard++;
    *number = shard;
    return field.shards + shard;
}

RIPPLET_FN Place place_of(const Field& field, u32 v) {
    Place place = {0, 0, 0, 0};
    u64 at = v;
    if (SHARDED) {
        u32 number;
        const ShardStart* start = shard_of(field, v, &number);
        at += number;
        place.out = start->out;
        place.incoming = start->incoming;
    }
    const u32 out = __ldg(field.out.offsets + at);
    place.out_degree = __ldg(field.out.offsets + at + 1) - out;
    place.out += out;
    if (DIRECTED) {
        const u32 incoming = __ldg(field.incoming.offsets + at);
        place.in_degree = __ldg(field.incoming.offsets + at + 1) - incoming;
        place.incoming += incoming;
    }
    return place;
}

struct Arc {
    u32 id, weight;
};

// Arc number `index` of a vertex: its outgoing ones first.
RIPPLET_FN Arc arc_at(const Field& field, const Place& place, u32 index) {
    if (DIRECTED && index >= place.out_degree) {
        const u64 at = place.incoming + (index - place.out_degree);
        return Arc{__ldg(field.incoming.ids + at), WEIGHTED ? __ldg(field.incoming.weights + at) : 1};
    }
    const u64 at = place.out + index;
    return Arc{__ldg(field.out.ids + at), WEIGHTED ? __ldg(field.out.weights + at) : 1};
}

RIPPLET_FN u32 class_of(const Field& field, u32 degree) {
    if (degree > BLOCK_MOST) return degree <= field.scan_most ? SCANNED : SPREAD;
    const u32 own = degree <= 4           ? TILE_4
                    : degree <= 8         ? TILE_8
                    : degree <= 16        ? TILE_16
                    : degree <= 32        ? TILE_32
                    : degree <= WARP_MOST ? HELD_WARP
                                          : HELD_BLOCK;
    return max(own, field.least_class);
}

}  // namespace ripplet
