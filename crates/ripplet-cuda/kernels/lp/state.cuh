// The state of a run (`LpState`) and of a phase (`Phase`), as the host lays them out: `src/lp/state.rs` has the
// same structs. They are kernel arguments, passed by value; no shared memory.
//
//     Step                   | Phase | LpState                                                    | parameters |
//     LpState                | graph | labels | round | frontier | totals | members | large | ... | columns    |
//     who uses a part        graph: plain.cuh, compressed.cuh    frontier: frontier.cuh, activate.cuh
//                            totals: update.cuh                  members: frontier.cuh, by_*.cuh, commit.cuh
//                            large: large.cuh, by_grid.cuh       streamed: fetch.cuh
//                            mirrors: exchange.cuh               columns: access.cuh, update.cuh
//
// The run's configuration comes before this file, as constants of the compilation:
//
//     bool DIRECTED, WEIGHTED, SHARDED     the graph
//     bool COMPRESSED, STREAMED            compressed lists; some lists in the host's memory
//     bool RANKED, MIRRORED                several devices share the run (`exchange.cuh`), and many
//                                          vertices may change in a phase, so there are mirrors
//     bool DEGREES                         the degrees of all vertices are beside the lists, which may be of
//                                          own vertices alone
//     u32  COLUMNS, DRAFT_LENGTH           the program's columns; values of the written ones per vertex
//     u32  ACTIVATION, TOTAL                     below
//     bool FALLS_WITH_TOTAL, CARRIES       properties of the program's hooks
//     bool SMALLEST_TIES, IN_PLACE         the schedule; IN_PLACE is `async`
//     u32  SKETCH_SLOTS                    the counter: 0 is exact, otherwise the slots of a sketch
//     bool BY_MAJORITY, RECOUNTS           the sketch is Boyer-Moore's; it scans twice
//     bool DRAWN_START                     a scan begins with a drawn arc
#pragma once

namespace ripplet {

constexpr u32 ACTIVATION_DISAGREEMENT = 0, ACTIVATION_CHANGE = 1, ACTIVATION_ALWAYS = 2;
// Which lists to prefetch: all; those that units need in several phases in a row; the others.
constexpr u32 PREFETCH_ALL = 0, PREFETCH_TOGETHER = 1, PREFETCH_ALONE = 2;
constexpr u32 TOTAL_NONE = 0, TOTAL_MEMBERS = 1, TOTAL_VOLUME = 2;

// `src/lp/tuning.rs` has the reasons of the constants from here to `VERTEX_BLOCK`, and the raw runs behind them.

// Threads of a block, and of a block that scans a large vertex.
constexpr u32 BLOCK = 256, SCAN_BLOCK = 1024;

// Degree classes, with the upper bounds that `MOST` has in `src/lp/tuning.rs`: 4, 8, 16, … 1024, 4096. A vertex is
// mapped to lanes of a warp up to degree 1024 (512 if votes have weights), to a block up to 4096, and above that
// (`LARGE`) to a block of 1024 threads or to the grid.
constexpr u32 UP_TO_4 = 0, UP_TO_8 = 1, UP_TO_16 = 2, UP_TO_32 = 3, UP_TO_1024 = 8;
constexpr u32 UP_TO_4096 = 9, LARGE = 10, CLASSES = 11;

// Arcs in a piece, the part of a large vertex that one block reads; and the degree above which a vertex has
// its pieces listed for pulling.
constexpr u32 PIECE = 4096, HUB = 512;
// Slots of a table in global memory for each piece of its vertex. And the index of a `Piece` without arcs, which only
// takes room.
constexpr u32 PIECE_SLOTS = 2 * PIECE, NO_PIECE = 0xffffffff;

// Consecutive vertices that share one activation stamp (`Frontier::last_activated`), so that inactive ones are
// skipped together.
constexpr u32 VERTEX_BLOCK = 256;

struct Column {
    u32* values;
    u32 length;
    // Index of its first value in a draft; 0xffffffff if the program does not write the column.
    u32 draft;
};

// A piece of a vertex of many arcs. `owner` is the vertex, or the index of its `Large` record.
struct Piece {
    u32 owner, index;
};

// Work counters: members taken so far by class, pieces for `LARGE`; scans of large vertices; and items of open ones
// (`by_grid.cuh`).
struct WorkCounters {
    u32 taken[CLASSES], scans;
    u64 items;
};

// A part of a phase of a streamed graph: the numbers of members and of pieces in it and in all parts before,
// and its work counters.
struct PhasePart {
    u32 until[CLASSES], pieces;
    WorkCounters work_counters;
};

// Use of a region of the staging area: words allocated; and by time of request (prefetched, on demand) the
// numbers of requested lists and of pieces of long lists.
struct StageUse {
    u64 words;
    u32 wanted[2], long_pieces[2];
};

// A piece of a long list to be fetched from the host's memory. Addresses and length in units of 16 bytes.
struct LongPiece {
    u64 from, to, units;
};

// Where lists are if not all of them are on the device; see `streamed.cuh`.
struct Streamed {
    const StreamedShard* shards;
    // By direction and vertex: the word of its list in the staging area, or `UNFETCHED`, or `REQUESTED`.
    u32* fetched[2];
    PhasePart* parts;
    // The region that lists are fetched to: its use; the vertices whose lists are requested, first the
    // prefetched ones and from `most_requested` on those on demand; and the pieces of long lists.
    StageUse* use;
    u32* wanted;
    LongPiece* long_pieces;
    // Where the member lists of all classes begin; `chosen` has the same layout.
    u32* lists;
    // In words: the staging area's begin (counted from address 0), the region's offset in it and its length,
    // and the distance from an arc to its weight.
    u64 stage, region, region_words, weights_behind;
    // Lists of vertices below `near_end` are on the device. The device's own vertices are `own_first` to
    // `own_end`.
    u32 near_end, own_first, own_end, most_requested, most_long_pieces;
    // Phases whose lists are prefetched together, and which of these lists are wanted (`PREFETCH_…`).
    u32 ahead, prefetch, padding;
};

// The most devices that can share a run.
constexpr u32 MOST_RANKS = 16;

// Values of a vertex that other ranks need: its label, and those of its written columns.
constexpr u32 VALUES = 1 + DRAFT_LENGTH;

// Where a rank writes its vertices' values for its peers, indexed by vertex: the mirror in each peer's
// memory, or one in its own memory if mirrors are transported.
struct Mirrors {
    u64 count;
    u32* of[MOST_RANKS];
};

// Counters that blocks add to. Those without a parity mostly grow during a run, and the host takes
// differences; those by parity are reset for each phase.
struct Tallies {
    u64 visited, scanned, changed, nan_scores, fingerprint, grand_total;
    // Bytes of messages received from other ranks. What peers write into mirrors counts in phases that take it from
    // there, and not if a record has it as well.
    u64 received_bytes;
    // By parity of the phase: arcs of the changed vertices that activate their neighbours.
    u64 activating_arcs[2];
    u32 most_total;
    // The number of the last phase after which vertices pulled. Their `last_activated` stamps are then out of
    // date.
    u32 last_pull;
    // By parity of the phase and by class: the number of members, and that of all lower classes.
    u32 members[2][CLASSES], lower[2][CLASSES];
    // By parity: pieces of the large vertices; entries of the list of open pieces; and how many of these entries the
    // grid-mapped kernel is done with.
    u32 pieces[2], open[2], settled[2];
    WorkCounters work_counters;
    // Words fetched from the host's memory, and words of lists that found no room in the staging area.
    u64 fetched, unstaged;
    Barrier barrier;
};

// Outcome of a vertex's update: its label from now on, whether the vertex changed, and whether that activates
// its neighbours.
struct Outcome {
    u32 label;
    bool changed, activates;
};

// Record of a vertex of more than 4096 arcs that updates in this phase.
struct Large {
    u64 own, total_votes;
    u32 vertex, first_piece, pieces, slots, carried, nan;
    // Of a vertex that is left open: the place of its first piece in the list, and the items that are done: steps of
    // its slices.
    u32 place, done;
    Outcome outcome;
};

struct Best;

// The graph's lists, and what is known of all vertices.
struct GraphState {
    // Plain lists, or of compressed lists those of the first shard.
    Lists out, incoming;
    CompressedShard first;
    // Shards: `ShardStart`s, or `CompressedShard`s.
    const void* shards;
    // Degrees of all vertices, if `DEGREES`.
    const u32* degrees;
    // Number of arcs of all vertices, in one direction.
    u64 arcs;
    u32 vertices, shard_count;
};

// The current round: the run's seed, the round's number and phases, and whether the fingerprint of all labels
// is updated.
struct RoundState {
    u32 seed, index, phases, traced;
};

// Which vertices must update (`frontier.cuh`, `activate.cuh`).
struct Frontier {
    // By vertex, 1 if it is active; a byte each, so that concurrent stores need no atomics. Of another rank's
    // vertices: whether this rank activated it since its last update, and `SENT` if that was sent. A pull
    // stamps no vertex block (`Tallies::last_pull`).
    unsigned char* active;
    // By vertex, the stamp of the phase in which it last changed and activated its neighbours. Empty if no
    // phase pulls.
    unsigned char* changed;
    // By vertex block: the number of the last phase in which one of its vertices was activated.
    u32* last_activated;
    // The pieces of every vertex of more than `HUB` arcs, for pulling.
    const Piece* hubs;
    u32 hub_pieces;
    // Pull threshold: vertices pull if more than one arc in `pull_threshold` belongs to a changed vertex. 0:
    // never.
    u32 pull_threshold;
};

// Label totals: by label, what its vertices add (`share_of` in `update.cuh`).
struct LabelTotals {
    u32* by_label;
    // By vertex, what it adds, if totals are volumes and votes have weights.
    const u32* shares;
    // The sum over all labels at the beginning, and the scale of volumes.
    u64 grand;
    u32 volume_shift, padding;
};

// The vertices that update in the current phase, by degree class.
struct MemberLists {
    // By class, the members of the phase, as `Members` indexes them. U32_MAX replaces a vertex that updated
    // and did not change, and after the commit every vertex that does not activate its neighbours. `LARGE`
    // has records instead.
    u32* of_class[LARGE];
    // Labels chosen by the members that changed: by class, the lowest first. Under `async` on several
    // devices, whether they activate their neighbours; under `async` on one device, empty.
    u32* chosen;
    // The lowest class: vertices of lower degree are counted in this one.
    u32 least_class, padding;
};

// The large vertices that update in the current phase (`large.cuh`).
struct LargeVertices {
    Large* records;
    Piece* pieces;
    // Pieces of the vertices whose labels must all be counted, and `NO_PIECE`s between batches (`leave_open`).
    Piece* open_pieces;
    // By slice of a piece (`by_grid.cuh`), the best label of its part of the table: a `Best`.
    Best* found;
    // Tables in global memory: `PIECE_SLOTS` `Slot`s for each of `room` pieces. They are clear between two uses.
    void* tables;
    // By piece, the labels and weights of its sketch: `SKETCH_SLOTS` each.
    u32* sketched_labels;
    u64* sketched_weights;
    // A block scans vertices up to degree `scan_most`, with `scan_shared` bytes of shared memory.
    u32 scan_most, scan_shared, room, padding;
};

// The program's columns.
struct Columns {
    // By vertex, `DRAFT_LENGTH` values of the written columns that are not committed yet.
    u32* drafts;
    Column all[COLUMNS > 0 ? COLUMNS : 1];
};

// The state of a run, grouped by the kernels that use it.
struct LpState {
    GraphState graph;
    u32* labels;
    RoundState round;
    Frontier frontier;
    LabelTotals totals;
    MemberLists members;
    LargeVertices large;
    Tallies* tallies;
    // Used if `MIRRORED` alone.
    const Mirrors* mirrors;
    Streamed streamed;
    Columns columns;
};

// A phase. `index` is its number in the round; `number` counts the phases of the run, and `parity` is its
// lowest bit; `stamp` differs from those of the 254 phases before. `since` is the first phase of the round
// before: a vertex that is active now was activated in it or later, as every vertex updates once a round. If
// most vertices are inactive, `is_sparse` is set: the stamps of vertex blocks are read first.
struct Phase {
    u32 index, number, parity, stamp, since, is_sparse;
    // Whether a vertex may only take smaller labels (a pick-less round); `async` only.
    u32 takes_smaller_only;
    // Vertices that may update: `first` to `end`; and the number of this part of the phase.
    u32 first, end, part;
    // Whether activation is deferred: vertices pull when their own lists are next on the device.
    u32 defers;
    // 1 if lists are requested on demand, by vertices that update in this phase; 0 if they are prefetched.
    u32 late;
};

// Value of `Frontier::active` for another rank's vertex whose rank has been sent the activation, or knows
// already.
constexpr unsigned char SENT = 2;

// Whether changed vertices stay listed when all have chosen, to be committed or to be sent to other ranks.
constexpr bool LISTS_CHANGES = !IN_PLACE || RANKED;

// A neighbour, and the weight of the arc to it. `id` is U32_MAX for none.
struct Arc {
    u32 id, weight;
};

// The members of a class. Two classes share an array: even classes grow from its front, odd ones from its
// end.
struct Members {
    u32* first;
    i64 step;

    RIPPLET_FN Members(const LpState& state, u32 of_class)
        : first(state.members.of_class[of_class] - of_class % 2), step(of_class % 2 == 0 ? 1 : -1) {}
    RIPPLET_FN u32& operator[](u32 item) const { return first[step * item]; }
};

RIPPLET_FN u32 class_of(const LpState& state, u32 degree) {
    u32 own;
    if (degree <= 1024) {
        own = degree <= 4 ? UP_TO_4 : 30 - leading_zeros(degree - 1);
    } else {
        own = degree <= 4096 ? UP_TO_4096 : LARGE;
    }
    return max(own, state.members.least_class);
}

}  // namespace ripplet
