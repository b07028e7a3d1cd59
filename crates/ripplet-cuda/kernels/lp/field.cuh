// The state of a run, as the host lays it out (`src/lp/layout.rs` has the same structs).
//
// Before this file comes the run's configuration, constants of the compilation:
//
//     bool DIRECTED, WEIGHTED, SHARDED     the graph
//     bool COMPRESSED, STREAMED            whether its lists are; whether some of them are not on the device
//     bool RANKED, MIRRORED                whether several devices share it: `exchange.cuh`; whether all vertices
//                                          have their turn in one phase there
//     u32  COLUMNS, DRAFT_LENGTH           the program's columns; values of the written ones a vertex
//     u32  WAKE, TOTAL                     below
//     bool FALLS_WITH_TOTAL, CARRIES       what the program says of its hooks
//     bool SMALLEST_TIES, IN_PLACE         the schedule; IN_PLACE is `async`
//     u32  SKETCH_SLOTS                    the counter: 0 is exact; otherwise a sketch's slots, and
//     bool BY_MAJORITY, RECOUNTS           whether it is Boyer-Moore's; whether it scans twice;
//     bool DRAWN_START                     whether it begins with a drawn arc
#pragma once

namespace ripplet {

constexpr u32 WAKE_DISAGREEMENT = 0, WAKE_CHANGE = 1, WAKE_ALWAYS = 2;
// Which lists are wanted ahead: all; of vertices that have their turns in phases that follow one another; of others.
constexpr u32 WANTS_ALL = 0, WANTS_TOGETHER = 1, WANTS_ALONE = 2;
constexpr u32 TOTAL_NONE = 0, TOTAL_MEMBERS = 1, TOTAL_VOLUME = 2;

// Threads of a block, and of one that scans.
constexpr u32 BLOCK = 256, SCAN_BLOCK = 1024;

// Degree classes: up to 4, up to 8, … as `MOST` says. Up to 1024 a warp's lanes count; up to 4096 a
// block; a large vertex has a large block to itself, or many.
constexpr u32 UP_TO_4 = 0, UP_TO_8 = 1, UP_TO_16 = 2, UP_TO_32 = 3, UP_TO_1024 = 8;
constexpr u32 UP_TO_4096 = 9, LARGE = 10, CLASSES = 11;

// Arcs of a vertex that a block takes at a time, and of what has its pieces listed.
constexpr u32 PIECE = 4096, HUB = 512;

// Vertices of consecutive ids that are known to be idle together.
constexpr u32 GRAIN = 256;

struct Column {
    u32* values;
    u32 length;
    // Where its values are in a draft; 0xffffffff where it is not written.
    u32 draft;
};

// A part of a vertex of many arcs: `owner` is the vertex, or the number of a large one.
struct Piece {
    u32 owner, index;
};

// By class, of LARGE by the piece: how many members have been taken; and how many scans.
struct Takers {
    u32 taken[CLASSES], scans;
};

// A part of a phase of a streamed graph: the members that are of it or of a part before, pieces of the large ones, and
// how many were taken of them.
struct PhasePart {
    u32 until[CLASSES], pieces;
    Takers takers;
};

// What is used of a stage: words; and of those who came early, and of those who came late, how many want their lists,
// and pieces of long ones.
struct StageUse {
    u64 words;
    u32 wanted[2], long_pieces[2];
};

// Of a list that a streamed graph has in the host's memory, a piece to be fetched: so many units, from one place to
// another.
struct LongPiece {
    u64 from, to, units;
};

// Where lists are that are not all on the device; see `streamed.cuh`.
struct Streamed {
    const StreamedShard* shards;
    // By direction, of each vertex: where in the stage its list is, or one of two values that say otherwise.
    u32* fetched[2];
    PhasePart* parts;
    // Of the region that lists are fetched to: how much of it is used; who wanted them, the early, and as far behind as
    // there may be, the late; and pieces of long ones.
    StageUse* use;
    u32* wanted;
    LongPiece* long_pieces;
    // Where all lists of members begin, and `chosen` beside them.
    u32* lists;
    // The stage's first word, as words are counted from address 0; how many of them are before the region, and how many it
    // has; and how far behind an arc there its weight is.
    u64 stage, region, region_words, weights_behind;
    // The lists of the vertices before this one are on the device; whose vertices begin and end here.
    u32 near_end, own_first, own_end, most_wanted, most_long_pieces;
    // For how many phases lists are fetched together, and which of them are wanted.
    u32 ahead, wants, padding;
};

// Devices that can share a run.
constexpr u32 MOST_RANKS = 16;

// Values that others need of a vertex: its label, and those of its written columns.
constexpr u32 VALUES = 1 + DRAFT_LENGTH;

// Where a rank writes what its vertices have for the others, by vertex: a mirror in the memory of each, or where they are
// brought, one in its own.
struct Mirrors {
    u64 count;
    u32* of[MOST_RANKS];
};

// Counts that blocks add to. Those in the first part only grow; the host takes differences.
struct Tallies {
    u64 visited, scanned, changed, nan_scores, fingerprint, grand_total;
    // Slots of the region that a batch of large vertices uses.
    u64 region_used;
    // Bytes of others' letters.
    u64 heard_bytes;
    // By parity of the phase: arcs of those who wake their neighbours.
    u64 waking[2];
    u32 most_total;
    u32 batches;
    // By parity of the phase and by class: its members; and those of all lower classes.
    u32 members[2][CLASSES], lower[2][CLASSES];
    // By parity: pieces of the large ones, and how many of these are open.
    u32 pieces[2], open[2];
    Takers takers;
    // The number of the last phase after which the sleeping asked, in any grain.
    u32 asked, padding;
    // Words that were fetched from the host's memory, and those that found no room in the stage and were read there.
    u64 fetched, unstaged;
    Barrier barrier;
};

// What a turn did: the label that the vertex has from now on, whether it changed, and whether that
// wakes its neighbours.
struct Done {
    u32 label;
    bool changed, wakes;
};

// A large vertex whose turn it is.
struct Large {
    u64 region, own, cast;
    u32 vertex, first_piece, pieces, slots, carried, nan;
    // Whether only a count of every label will tell.
    u32 open;
    Done done;
};

struct Best;

struct Field {
    // Plain lists, or of compressed ones those of the first shard.
    Lists out, incoming;
    CompressedShard first;
    // A `ShardStart` or a `CompressedShard` each.
    const void* shards;
    u32* labels;
    // A byte a vertex: many may set it at once, and none has to wait. Of another rank's vertices, whether this
    // one woke them since their last turn: `TOLD` where their rank knows.
    unsigned char* active;
    // Of the phase in which a vertex changed last, and woke its neighbours, the stamp. Nothing where
    // the sleeping never ask.
    unsigned char* changed;
    // By grain: the number of the last phase in which a neighbour woke one of its vertices.
    u32* woken;
    u32 *totals, *shares, *drafts;
    // Of all vertices, where several devices share compressed lists: nobody else has those of the others.
    const u32* degrees;
    // Nothing where none are.
    const Mirrors* mirrors;
    Tallies* tallies;
    // By class: the members of the phase, as `Members` finds them; U32_MAX in the place of those who had
    // their turn and did not change, and when changes are shown, of all who wake nobody. For LARGE
    // there are records.
    u32* members[LARGE];
    // What the members that changed chose, of all classes, the lowest first. In place, where ranks are told of
    // them, whether they wake others; else nothing.
    u32* chosen;
    Large* large;
    Piece* pieces;
    // The pieces of every vertex of more than 512 arcs, where the sleeping may ask.
    const Piece* hubs;
    u32 hub_pieces;
    // 0 where the sleeping never ask.
    u32 waking_share;
    // What each piece of a large vertex found best; a `Best`.
    Best* found;
    // Tables of large vertices: `Slot`s.
    void* region;
    // What pieces' sketches hold, `SKETCH_SLOTS` each.
    u32* sketched_labels;
    u64* sketched_weights;
    // Arcs in `out.ids`.
    u64 arcs, grand_total, region_slots;
    u32 vertices, shard_count, seed, volume_shift;
    u32 round, phases;
    // Degrees up to this are scanned by one block, of so much shared memory in bytes.
    u32 scan_most, scan_shared;
    // No vertex is of a lower class than this.
    u32 least_class;
    // Whether the round's fingerprint is wanted.
    u32 traced;
    Streamed streamed;
    Column columns[COLUMNS > 0 ? COLUMNS : 1];
};

// A phase of the round; its number, counted from the first of the run, and whether that is odd; its
// stamp, which none of the 254 before it has; and the number of the first phase of the round before:
// who is active was woken since then, as in the round between all had their turn. That is asked of the
// grains first where most vertices are idle.
struct Turn {
    u32 phase, number, parity, stamp, since, asks_grains;
    // Whether vertices may not take larger labels than theirs; in place only.
    u32 picks_less;
    // Whose turn it may be: the vertices from `first` to `end`; and the number of that part of the phase.
    u32 first, end, part;
    // Whether who changed leaves it to the sleeping to ask, when their lists are there the next time.
    u32 defers;
    // Whether those who want lists have their turn already: 1, or 0 where it is the next.
    u32 late;
};

// What makes a vertex active whose rank was told, or need not be.
constexpr unsigned char TOLD = 2;

// Whether changes stay listed when all have chosen, to be shown or to be told.
constexpr bool LISTS_CHANGES = !IN_PLACE || RANKED;

// A neighbour, and the weight of the arc to it; no neighbour is U32_MAX.
struct Arc {
    u32 id, weight;
};

// A class's members. Two classes share a list: one begins at its front, the other at its end.
struct Members {
    u32* first;
    i64 step;

    RIPPLET_FN Members(const Field& field, u32 of_class)
        : first(field.members[of_class] - of_class % 2), step(of_class % 2 == 0 ? 1 : -1) {}
    RIPPLET_FN u32& operator[](u32 item) const { return first[step * item]; }
};

RIPPLET_FN u32 class_of(const Field& field, u32 degree) {
    u32 own;
    if (degree <= 1024) {
        own = degree <= 4 ? UP_TO_4 : 30 - leading_zeros(degree - 1);
    } else {
        own = degree <= 4096 ? UP_TO_4096 : LARGE;
    }
    return max(own, field.least_class);
}

}  // namespace ripplet
