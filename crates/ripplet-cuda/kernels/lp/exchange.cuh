// Messages that ranks exchange in a phase: label updates, then activations. A rank is one of several devices
// that share a run. It has the neighbour lists of a range of consecutive vertices, and the labels, label
// totals and columns of all vertices. The kernels of a phase on one rank, in order of launch:
//
//     gather, choose   own vertices only; in full rounds, changes also go into the peers' mirrors
//     post             commits own changes; packs those that are not in mirrors into the update message
//     --- first exchange: messages (and mirrors) become readable by the peers
//     learn            applies the peers' updates: labels, columns, label totals
//     wake             push: activates any rank's neighbours of own changed vertices;
//                      pull: activates own vertices that have a changed neighbour of any rank
//     tell             packs the activated vertices of each peer, as words of a bitmap
//     --- second exchange
//     hear             applies the peers' activations of own vertices
//
// `Letter` is the header of the update message; a record for each changed vertex follows. A record has the
// vertex, its label, and the `DRAFT_LENGTH` values of its written columns:
//
//     | count 2, capacity, waking | vertex label ... | vertex label ... |
//
// If all vertices update in one phase (`MIRRORED`), changes may be many, and there are mirrors as well. A
// mirror has the values of every vertex of a rank, in the memory of each peer. If changes are expected to be
// many (`tells_at_once`), a vertex writes its new values into the mirrors when it chooses. Communication then
// overlaps computation, and `learn` only compares a mirror with the labels.
//
//     | label | label | label | label |             a mirror of 4 vertices without columns
//
// Mapping: `learn` takes a thread per record, or per vertex of a mirror; `post` a thread per listed vertex;
// `tell` a warp per vertex block of `GRAIN`; `hear` a warp per 32 words, a lane per vertex of a word. All
// grids are strided. No shared memory. `reflect` fills the mirrors before the first round.
#pragma once

namespace ripplet {

// Header of a rank's update message; the records follow it.
struct Letter {
    // Changed vertices, and records that fit. If `count > capacity`, the values are in the mirrors.
    u32 count, capacity;
    // Arcs of the changed vertices that activate their neighbours.
    u64 waking;
};

// 32-bit values in a record: the vertex, then its `VALUES`.
constexpr u32 RECORD = 1 + VALUES;

// The activated vertices among 32 consecutive ones: word `word` of a bitmap over all vertices.
struct Woken {
    u32 word, bits;
};

struct Ranks {
    u32 count, own;
    // Capacity of this rank's update message, in records.
    u32 capacity;
    // 1 if the host transports mirrors whole (NCCL, copies); 0 if vertices are written straight into the
    // peers' mirrors.
    u32 brings;
    // First vertex of each rank, a multiple of 32; after the last rank, the number of vertices.
    u32 bounds[MOST_RANKS + 1], padding;
    // This rank's update message, and by rank the address at which this rank reads that of each peer.
    Letter* letter;
    const Letter* letters[MOST_RANKS];
    // By rank, this rank's mirror of its vertices. If mirrors are transported, `mirrors[own]` is the one that
    // is sent.
    u32* mirrors[MOST_RANKS];
    // By rank, the words of its vertices that this rank activated, and their number: what this rank sends.
    u32* told_counts;
    Woken* told[MOST_RANKS];
    // By rank, where this rank reads the activations of a peer: its counts by receiver, and the words of own
    // vertices.
    const u32* heard_counts[MOST_RANKS];
    const Woken* heard[MOST_RANKS];
};

struct RankStep {
    Turn turn;
    Ranks ranks;
    Run run;
};

// Copies the label of a vertex and its written columns' values: `VALUES` numbers.
RIPPLET_FN void write_values(const Field& field, u32 v, u32* values) {
    values[0] = field.labels[v];
    for (u32 index = 0; index < DRAFT_LENGTH; index++) values[1 + index] = *written(field, v, index);
}

// Fills the mirrors with the vertices' values before the first round.
RIPPLET_FN void reflect(const RankStep& step) {
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        if ((rank == ranks.own) != (ranks.brings != 0)) continue;
        for (u64 at = ranks.bounds[rank] + thread; at < ranks.bounds[rank + 1]; at += threads)
            write_values(field, (u32)at, ranks.mirrors[rank] + at * VALUES);
    }
}

// Adds a record for a changed vertex to the message, and writes it into the mirrors if there are any. All
// lanes of a warp call it together.
RIPPLET_FN void post_change(const Field& field, const Ranks& ranks, bool changed, u32 v) {
    const u32 at = append(&ranks.letter->count, changed);
    if (!changed) return;
    if (MIRRORED) mirror_change(field, v, field.labels[v]);
    if (at < ranks.capacity) {
        u32* record = (u32*)(ranks.letter + 1) + (u64)at * RECORD;
        record[0] = v;
        write_values(field, v, record + 1);
    }
}

// Commits the choices of the rank's vertices (under `async` they already are) and publishes them for the
// peers.
RIPPLET_FN void post(const RankStep& step) {
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    const bool is_told = tells_at_once(step.turn);
    u32 changes = 0;
    const u64 print = show_all(field, step.turn, [&](bool changed, u32 v) {
        if (is_told)
            changes += changed;
        else
            post_change(field, ranks, changed, v);
    });
    add_print(field, print);
    changes = warp_sum(changes);
    if (lane_id() == 0 && changes > 0) atomicAdd(&ranks.letter->count, changes);
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    ranks.letter->capacity = is_told ? 0 : ranks.capacity;
    ranks.letter->waking = field.tallies->waking[step.turn.parity];
}

// Applies an update: sets the label, columns and label totals of a peer's vertex, and stamps it as changed.
RIPPLET_FN void learn_of(const Field& field, Turn turn, u32 v, const u32* values) {
    const u32 before = field.labels[v], label = values[0];
    bool redrafted = false;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) {
        u32* value = written(field, v, index);
        redrafted |= *value != values[1 + index];
        *value = values[1 + index];
    }
    const bool relabelled = before != label;
    if (relabelled) {
        field.labels[v] = label;
        move_share(field, v, before, label);
    }
    if (field.waking_share > 0 && (relabelled || redrafted) && wakes_others(relabelled))
        field.changed[v] = (unsigned char)turn.stamp;
}

// Applies the updates in a mirror: a thread compares 4 vertices at a time, so that their loads overlap.
RIPPLET_FN void learn_all(const Field& field, Turn turn, const u32* mirror, u32 first, u32 end) {
    constexpr u32 AT_ONCE = 4;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    for (u64 begin = first + thread; begin < end; begin += AT_ONCE * threads) {
        bool differs[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u64 v = begin + index * threads;
            differs[index] = v < end && (DRAFT_LENGTH > 0 || field.labels[v] != mirror[v * VALUES]);
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u64 v = begin + index * threads;
            if (differs[index]) learn_of(field, turn, (u32)v, mirror + v * VALUES);
        }
    }
}

RIPPLET_FN void learn(const RankStep& step) {
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 waking = 0, bytes = 0;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        if (rank == ranks.own) continue;
        const Letter& letter = *ranks.letters[rank];
        const u32 first = ranks.bounds[rank], end = ranks.bounds[rank + 1], count = letter.count;
        waking += letter.waking;
        bytes += sizeof(Letter);
        if (MIRRORED && count > letter.capacity) {
            learn_all(field, step.turn, ranks.mirrors[rank], first, end);
            bytes += sizeof(u32) * VALUES * (u64)(ranks.brings ? end - first : count);
            continue;
        }
        const u32* records = (const u32*)(&letter + 1);
        for (u64 at = thread; at < count; at += threads)
            learn_of(field, step.turn, records[at * RECORD], records + at * RECORD + 1);
        bytes += sizeof(u32) * RECORD * (u64)count;
    }
    if (thread == 0) {
        field.tallies->waking[step.turn.parity] += waking;
        field.tallies->heard_bytes += bytes;
    }
    // Every peer has read these activations in the phase before; the counts can be reused.
    if (thread < ranks.count) ranks.told_counts[thread] = 0;
}

// Packs the activated vertices of each other rank into words: a warp per vertex block. Packed vertices become
// `TOLD`, so that they are sent once until they update again.
RIPPLET_FN void tell(const RankStep& step) {
    if (WAKE == WAKE_ALWAYS) return;
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    constexpr u32 WORDS = GRAIN / 32;
    const u64 warps = (u64)gridDim.x * (BLOCK / 32), grains = ((u64)field.vertices + GRAIN - 1) / GRAIN;
    for (u64 grain = (u64)blockIdx.x * (BLOCK / 32) + threadIdx.x / 32; grain < grains; grain += warps) {
        const u64 begin = grain * GRAIN, end = min(begin + GRAIN, (u64)field.vertices);
        const bool is_own = begin >= step.turn.first && end <= step.turn.end;
        if (is_own || field.woken[grain] != step.turn.number) continue;
        bool is_new[WORDS];
#pragma unroll
        for (u32 word = 0; word < WORDS; word++) {
            const u64 v = begin + word * 32 + lane_id();
            const bool is_others = v < step.turn.first || v >= step.turn.end;
            is_new[word] = v < end && is_others && field.active[v] == 1;
        }
        u32 bits = 0;
#pragma unroll
        for (u32 word = 0; word < WORDS; word++) {
            if (is_new[word]) field.active[begin + word * 32 + lane_id()] = TOLD;
            const u32 those = __ballot_sync(ALL_LANES, is_new[word]);
            if (lane_id() == word) bits = those;
        }
        // A vertex block mostly lies within one rank.
        const u64 mine = begin + lane_id() * 32;
        u32 rank = 0;
        while (begin >= ranks.bounds[rank + 1]) rank++;
        for (; rank < ranks.count && ranks.bounds[rank] < end; rank++) {
            const bool is_its = mine >= ranks.bounds[rank] && mine < ranks.bounds[rank + 1];
            const bool is_told = bits != 0 && is_its;
            const u32 at = append(ranks.told_counts + rank, is_told);
            if (is_told) ranks.told[rank][at] = Woken{(u32)(begin / 32) + lane_id(), bits};
        }
    }
}

// Marks the vertices active that peers activated: a warp takes 32 words, and a lane one vertex of each word.
RIPPLET_FN void hear(const RankStep& step) {
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    // Every peer has read this rank's update message; it can be reused.
    if (thread == 0) ranks.letter->count = 0;
    if (WAKE == WAKE_ALWAYS) return;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        if (rank == ranks.own) continue;
        const u32 count = ranks.heard_counts[rank][ranks.own];
        if (thread == 0) field.tallies->heard_bytes += sizeof(Woken) * (u64)count;
        for (u64 first = thread - lane_id(); first < count; first += threads) {
            const u64 at = first + lane_id();
            const Woken mine = at < count ? ranks.heard[rank][at] : Woken{0, 0};
            if (mine.bits != 0) field.woken[mine.word / (GRAIN / 32)] = step.turn.number;
            for (u32 item = 0; item < 32 && first + item < count; item++) {
                const u32 word = __shfl_sync(ALL_LANES, mine.word, item), bits = __shfl_sync(ALL_LANES, mine.bits, item);
                if (bits >> lane_id() & 1) field.active[(u64)word * 32 + lane_id()] = 1;
            }
        }
    }
}

}  // namespace ripplet

using ripplet::RankStep;

RIPPLET_KERNEL(ripplet_reflect, RankStep, step, 256, 6) { ripplet::reflect(step); }
RIPPLET_KERNEL(ripplet_post, RankStep, step, 256, 6) { ripplet::post(step); }
RIPPLET_KERNEL(ripplet_learn, RankStep, step, 256, 6) { ripplet::learn(step); }
RIPPLET_KERNEL(ripplet_tell, RankStep, step, 256, 6) { ripplet::tell(step); }
RIPPLET_KERNEL(ripplet_hear, RankStep, step, 256, 6) { ripplet::hear(step); }
