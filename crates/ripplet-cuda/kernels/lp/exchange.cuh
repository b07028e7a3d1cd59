// Messages that ranks exchange in a phase: label updates, then activations. A rank is one of several devices
// that share a run. It has the neighbour lists of a range of consecutive vertices, and the labels, label totals and
// columns of all vertices.
//
// A *phase* is the part of a round in which its scheduled vertices update: by default a round has 8 phases under
// `lpa`, 32 under other programs that are `phased`, one under `sync`, and 1 to 32 under `async`
// (`Tuning::async_phases`). If lists are staged from a file, a phase runs in *parts*: the launches that choose run for
// one range of vertices after the other. Ranks exchange once a phase, when all parts have chosen. The kernels of a
// phase on one rank, in order of launch:
//
//     compact_frontier    lists own active vertices; clears all marks of peers' vertices that update in this
//                         phase, so that they may be sent again (of lists staged by range, the host does)
//     choose, choose_by_* choose for own vertices; in phases that are mirrored at once (see below), write changes
//                         into mirrors
//     pack_updates        commits own changes; unless mirrored at once, writes each into the mirrors, if there are
//                         any, and adds a record if it fits
//     --- first exchange: update messages (and mirrors) become readable by the peers
//     apply_updates       applies the peers' updates: labels, columns, label totals
//     activate            push: activates any rank's neighbours of own changed vertices;
//                         pull: activates own vertices that have a changed neighbour of any rank
//     publish_frontier    packs the activated vertices of each peer, as words of a bitmap
//     --- second exchange: packed words become readable by the peers
//     receive_frontier    applies the peers' activations of own vertices
//
// An exchange is a barrier of all ranks. If kernels read the peers' messages in place, the stream of each device
// waits for an event of every other, so that all that a rank stored before is visible after. Otherwise the host
// transports messages and mirrors, and only these are readable after. So these kernels need no fences.
//
// `UpdateHeader` begins the update message; a record for each changed vertex follows. A record has the
// vertex, its label, and the `DRAFT_LENGTH` values of its written columns:
//
//     | count 2, capacity, activating_arcs | vertex label columns | vertex label columns |
//
// Under `sync`, under `async` with any number of phases, or under `phased` with one phase a round (`MIRRORED`),
// changes may be many, and there are mirrors as well. A mirror has the values of every vertex of a rank, in the memory
// of each peer. If more vertices changed than there is room for records, peers ignore the records and take all values
// from the mirror. Without mirrors, a message has room for all vertices of a phase.
//
// If many changes are expected (`mirrors_at_once`: unless fewer than a quarter of the vertices were visited in the
// last round; never under `async`), a phase is *mirrored at once*: a vertex
// writes its new values into the mirrors when it chooses, and no record is packed; the header says so by a
// capacity of 0. If kernels write the peers' mirrors themselves, communication then overlaps computation.
// `apply_mirror` skips equal labels if there are no columns.
//
//     | label | label | label | label |             a mirror of 4 vertices without columns
//
// What may be written again, and when:
//
//     update message      `receive_frontier` sets its count to 0: the second exchange came after every peer's
//                         `apply_updates`
//     words, their number `apply_updates` clears this rank's `sent_word_counts`, and `publish_frontier` overwrites
//                         the words: the first exchange came after every peer's `receive_frontier` of the phase
//                         before
//     mirror              the rank whose vertices it has writes it again in the next phase, behind the second
//                         exchange
//
// Mapping, with strided grids and no shared memory:
//
//     pack_updates        a thread per member of the phase, then a thread per large record
//     apply_updates       a thread per record, or per 4 vertices of a mirror, which are a grid's threads apart so
//                         that loads of neighbouring threads are of neighbouring vertices
//     publish_frontier    a warp per 256 consecutive vertices (`VERTEX_BLOCK`)
//     receive_frontier    a warp per 32 words, a lane per vertex of a word
//
// `fill_mirrors` fills the mirrors before the first round; the host then waits for each device before a rank begins.
#pragma once

namespace ripplet {

// Header of a rank's update message; the records follow it.
struct UpdateHeader {
    // `count` changed vertices; room for `capacity` records. If `count > capacity`, which needs mirrors, the
    // values are in the mirrors.
    u32 count, capacity;
    // Arcs of the changed vertices that activate their neighbours. Each rank adds those of its peers, so that all push
    // or all pull: else activations would be lost.
    u64 activating_arcs;
};

// 32-bit values in a record: the vertex, then its `VALUES`.
constexpr u32 RECORD = 1 + VALUES;

// Word `word` of a bitmap over all vertices: bit i of `bits` is set if vertex `32 * word + i` was activated.
struct FrontierWord {
    u32 word, bits;
};

struct Ranks {
    u32 count, own;
    // Capacity of this rank's update message, in records: the most vertices of a phase, with mirrors a sixteenth of
    // them.
    u32 capacity;
    // 1 if the host transports messages and whole mirrors (NCCL, copies); 0 if kernels read the peers'
    // messages in place, and write vertices straight into the peers' mirrors.
    u32 copies_messages;
    // First vertex of each rank; after the last rank, the number of vertices. Ranks begin at multiples of 64: the
    // host collects the active vertices of all ranks in words of 64 bits (checkpoints), and no two ranks may
    // share a word. Kernels need multiples of 32, so that a `FrontierWord` belongs to one rank.
    u32 bounds[MOST_RANKS + 1], padding;
    // This rank's update message, and by rank the address at which this rank reads that of each peer.
    UpdateHeader* updates;
    const UpdateHeader* peer_updates[MOST_RANKS];
    // By rank, the mirror of that rank's vertices in this rank's memory, biased so that it is indexed by global
    // vertex. That rank writes it, or the transport; if messages are copied, `mirrors_of[own]` is the one that
    // is sent. Changes are written through `LpState::mirrors`; this is for filling and reading. Entries of the own
    // rank are unused otherwise, here and below.
    u32* mirrors_of[MOST_RANKS];
    // To send, by receiver: the number and the list of words of the receiver's vertices that this rank activated.
    // There is room for every word of the receiver's range, and a word is packed once a phase.
    u32* sent_word_counts;
    FrontierWord* sent_words[MOST_RANKS];
    // By rank, where this rank reads the activations of a peer: its counts by receiver, and the words of own
    // vertices.
    const u32* received_counts[MOST_RANKS];
    const FrontierWord* received_words[MOST_RANKS];
};

struct RankStep {
    Phase phase;
    Ranks ranks;
    Run run;
};

// Copies the label of a vertex and its written columns' values: `VALUES` numbers.
RIPPLET_FN void write_values(const LpState& state, u32 v, u32* values) {
    values[0] = state.labels[v];
    for (u32 index = 0; index < DRAFT_LENGTH; index++) values[1 + index] = *written(state, v, index);
}

// Fills the mirrors with the vertices' values before the first round.
RIPPLET_FN void fill_mirrors(const RankStep& step) {
    const LpState& state = step.run.state;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        // Transported: only the own mirror, which is sent whole. Else those of the peers' vertices, which they update.
        if ((rank == ranks.own) != (ranks.copies_messages != 0)) continue;
        for (u64 at = ranks.bounds[rank] + thread; at < ranks.bounds[rank + 1]; at += threads)
            write_values(state, (u32)at, ranks.mirrors_of[rank] + at * VALUES);
    }
}

// Writes a changed vertex's values into the mirrors, if there are any, and adds a record if it fits. All lanes
// of a warp call it together.
RIPPLET_FN void pack_update(const LpState& state, const Ranks& ranks, bool changed, u32 v) {
    const u32 at = append(&ranks.updates->count, changed);
    if (!changed) return;
    // Also if the record fits: a later phase may apply a whole mirror, in which an old value would undo this one.
    if (MIRRORED) mirror_change(state, v, state.labels[v]);
    if (at < ranks.capacity) {
        u32* record = (u32*)(ranks.updates + 1) + (u64)at * RECORD;
        record[0] = v;
        write_values(state, v, record + 1);
    }
}

// Commits the choices of the rank's vertices (under `async` they already are) and publishes them for the
// peers.
RIPPLET_FN void pack_updates(const RankStep& step) {
    const LpState& state = step.run.state;
    const Ranks& ranks = step.ranks;
    const bool in_mirrors = mirrors_at_once(step.phase);
    u32 changes = 0;
    const Committed committed = commit_all(state, step.phase, [&](bool changed, u32 v) {
        if (in_mirrors)
            changes += changed;
        else
            pack_update(state, ranks, changed, v);
    });
    report(state, committed);
    changes = warp_sum(changes);
    if (lane_id() == 0 && changes > 0) atomicAdd(&ranks.updates->count, changes);
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    ranks.updates->capacity = in_mirrors ? 0 : ranks.capacity;
    // The kernels that choose have added all of them.
    ranks.updates->activating_arcs = state.tallies->activating_arcs[step.phase.parity];
}

// Applies an update: sets the label, columns and label totals of a peer's vertex, and stamps it as changed.
RIPPLET_FN void apply_update(const LpState& state, Phase phase, u32 v, const u32* values) {
    const u32 before = state.labels[v], label = values[0];
    bool redrafted = false;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) {
        u32* value = written(state, v, index);
        redrafted |= *value != values[1 + index];
        *value = values[1 + index];
    }
    const bool relabelled = before != label;
    if (relabelled) {
        state.labels[v] = label;
        move_share(state, v, before, label);
    }
    if (state.frontier.pull_threshold > 0 && (relabelled || redrafted) && activates_neighbors(relabelled))
        state.frontier.changed[v] = (unsigned char)phase.stamp;
}

// Applies the updates in a mirror. A thread takes 4 vertices at a time, so that their loads overlap; without
// columns, it first compares their labels.
RIPPLET_FN void apply_mirror(const LpState& state, Phase phase, const u32* mirror, u32 first, u32 end) {
    constexpr u32 AT_ONCE = 4;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    for (u64 begin = first + thread; begin < end; begin += AT_ONCE * threads) {
        bool differs[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u64 v = begin + index * threads;
            differs[index] = v < end && (DRAFT_LENGTH > 0 || state.labels[v] != mirror[v * VALUES]);
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u64 v = begin + index * threads;
            if (differs[index]) apply_update(state, phase, (u32)v, mirror + v * VALUES);
        }
    }
}

RIPPLET_FN void apply_updates(const RankStep& step) {
    const LpState& state = step.run.state;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 activating_arcs = 0, bytes = 0;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        if (rank == ranks.own) continue;
        const UpdateHeader& updates = *ranks.peer_updates[rank];
        const u32 first = ranks.bounds[rank], end = ranks.bounds[rank + 1], count = updates.count;
        activating_arcs += updates.activating_arcs;
        bytes += sizeof(UpdateHeader);
        if (MIRRORED && count > updates.capacity) {
            apply_mirror(state, step.phase, ranks.mirrors_of[rank], first, end);
            bytes += sizeof(u32) * VALUES * (u64)(ranks.copies_messages ? end - first : count);
            continue;
        }
        const u32* records = (const u32*)(&updates + 1);
        for (u64 at = thread; at < count; at += threads)
            apply_update(state, step.phase, records[at * RECORD], records + at * RECORD + 1);
        bytes += sizeof(u32) * RECORD * (u64)count;
    }
    if (thread == 0) {
        state.tallies->activating_arcs[step.phase.parity] += activating_arcs;
        state.tallies->received_bytes += bytes;
    }
    // The first exchange came after every peer's `receive_frontier` of the phase before.
    // A block has more threads than there are ranks.
    if (thread < ranks.count) ranks.sent_word_counts[thread] = 0;
}

// Packs the activated vertices of each other rank into words: a warp per vertex block. Packed vertices become
// `SENT`, so that they are sent once; the mark is cleared in the phase in which they update (`compact_frontier`). Only
// a push activates other ranks' vertices, and it stamps their vertex blocks. `step.phase.first` to
// `step.phase.end` is the rank's whole range, even if the vertices of the phase chose in several parts.
RIPPLET_FN void publish_frontier(const RankStep& step) {
    if (ACTIVATION == ACTIVATION_ALWAYS) return;
    const LpState& state = step.run.state;
    const Ranks& ranks = step.ranks;
    constexpr u32 WORDS = VERTEX_BLOCK / 32;
    const u64 warps = (u64)gridDim.x * (BLOCK / 32), vertex_blocks = ((u64)state.graph.vertices + VERTEX_BLOCK - 1) / VERTEX_BLOCK;
    for (u64 vertex_block = (u64)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32; vertex_block < vertex_blocks; vertex_block += warps) {
        const u64 begin = vertex_block * VERTEX_BLOCK, end = min(begin + VERTEX_BLOCK, (u64)state.graph.vertices);
        const bool is_own = begin >= step.phase.first && end <= step.phase.end;
        if (is_own || state.frontier.last_activated[vertex_block] != step.phase.number) continue;
        bool is_new[WORDS];
#pragma unroll
        for (u32 word = 0; word < WORDS; word++) {
            const u64 v = begin + word * 32 + lane_id();
            const bool is_others = v < step.phase.first || v >= step.phase.end;
            is_new[word] = v < end && is_others && state.frontier.active[v] == 1;
        }
        u32 bits = 0;
#pragma unroll
        for (u32 word = 0; word < WORDS; word++) {
            if (is_new[word]) state.frontier.active[begin + word * 32 + lane_id()] = SENT;
            const u32 those = __ballot_sync(ALL_LANES, is_new[word]);
            if (lane_id() == word) bits = those;
        }
        // A vertex block mostly lies within one rank.
        const u64 mine = begin + lane_id() * 32;
        u32 rank = 0;
        while (begin >= ranks.bounds[rank + 1]) rank++;
        for (; rank < ranks.count && ranks.bounds[rank] < end; rank++) {
            const bool is_its = mine >= ranks.bounds[rank] && mine < ranks.bounds[rank + 1];
            const bool is_sent = bits != 0 && is_its;
            const u32 at = append(ranks.sent_word_counts + rank, is_sent);
            if (is_sent) ranks.sent_words[rank][at] = FrontierWord{(u32)(begin / 32) + lane_id(), bits};
        }
    }
}

// Marks the vertices active that peers activated: a warp takes 32 words, and a lane one vertex of each word.
RIPPLET_FN void receive_frontier(const RankStep& step) {
    const LpState& state = step.run.state;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    // Every peer has read this rank's update message; it can be reused.
    if (thread == 0) ranks.updates->count = 0;
    if (ACTIVATION == ACTIVATION_ALWAYS) return;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        if (rank == ranks.own) continue;
        const u32 count = ranks.received_counts[rank][ranks.own];
        if (thread == 0) state.tallies->received_bytes += sizeof(FrontierWord) * (u64)count;
        for (u64 first = thread - lane_id(); first < count; first += threads) {
            const u64 at = first + lane_id();
            const FrontierWord mine = at < count ? ranks.received_words[rank][at] : FrontierWord{0, 0};
            if (mine.bits != 0) state.frontier.last_activated[mine.word / (VERTEX_BLOCK / 32)] = step.phase.number;
            for (u32 item = 0; item < 32 && first + item < count; item++) {
                const u32 word = __shfl_sync(ALL_LANES, mine.word, item), bits = __shfl_sync(ALL_LANES, mine.bits, item);
                // Several ranks may activate a vertex; all store 1.
                if (bits >> lane_id() & 1) state.frontier.active[(u64)word * 32 + lane_id()] = 1;
            }
        }
    }
}

}  // namespace ripplet

using ripplet::RankStep;

// A bound of 6 blocks leaves 40 registers to a thread (`kernels.cuh`).
RIPPLET_KERNEL(ripplet_fill_mirrors, RankStep, step, 256, 6) { ripplet::fill_mirrors(step); }
RIPPLET_KERNEL(ripplet_pack_updates, RankStep, step, 256, 6) { ripplet::pack_updates(step); }
RIPPLET_KERNEL(ripplet_apply_updates, RankStep, step, 256, 6) { ripplet::apply_updates(step); }
RIPPLET_KERNEL(ripplet_publish_frontier, RankStep, step, 256, 6) { ripplet::publish_frontier(step); }
RIPPLET_KERNEL(ripplet_receive_frontier, RankStep, step, 256, 6) { ripplet::receive_frontier(step); }
