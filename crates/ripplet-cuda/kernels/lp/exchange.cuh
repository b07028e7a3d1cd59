// What ranks tell one another in a phase. Each device of several is a rank: it has the lists of some consecutive
// vertices, and labels, totals and columns of all. Twice a phase each hears of all others:
//
//     gather, choose        as on one device, of the rank's own vertices; in full rounds, who changes tells the others
//     post                  shows what they chose, and where the others were not told, writes it into the rank's letter
//     learn                 the others' letters: their vertices' labels and columns, and the totals
//     wake                  own and others' vertices, by what all changed
//     tell                  writes down which of the others' were woken, for each rank
//     hear                  what the others woke of the own
//
// A letter has a record for each vertex that changed:
//
//     count 2 | vertex label | vertex label |               a rank's letter
//
// Where all vertices have their turn in one phase, that may be many, and there are mirrors beside it: in each rank's memory,
// what the others' vertices have. Who changes writes it there, and if many do, already while others choose. So labels
// are on their way for as long as the rank counts, and nobody waits for them; what is left to learn is where a mirror and
// the labels differ.
//
//     | label | label | label | label |                     a mirror of 4 vertices
#pragma once

namespace ripplet {

// What is before a letter's records.
struct Letter {
    // Vertices that changed, and how many have room: if more changed, mirrors tell of them.
    u32 count, capacity;
    // Arcs of those who wake their neighbours.
    u64 waking;
};

// Values of a record, which begins with the vertex.
constexpr u32 RECORD = 1 + VALUES;

// Those of 32 consecutive vertices that were woken.
struct Woken {
    u32 word, bits;
};

struct Ranks {
    u32 count, own;
    // Records that this rank's letter has room for.
    u32 capacity;
    // Whether mirrors are brought as a whole, and not written by those whose vertices they are of.
    u32 brings;
    // Where each rank's vertices begin: multiples of 32. Behind the last, the end of them all.
    u32 bounds[MOST_RANKS + 1], padding;
    // This rank's, and by rank where it reads the others'.
    Letter* letter;
    const Letter* letters[MOST_RANKS];
    // By rank, the mirror of its vertices that this one has; of its own, where mirrors are brought.
    u32* mirrors[MOST_RANKS];
    // For each rank, those of its vertices that this one woke, and how many words they are in.
    u32* told_counts;
    Woken* told[MOST_RANKS];
    // By rank where this one reads what others woke: how many words of each rank's vertices, and those of its own.
    const u32* heard_counts[MOST_RANKS];
    const Woken* heard[MOST_RANKS];
};

struct RankStep {
    Turn turn;
    Ranks ranks;
    Run run;
};

// Copies a vertex' label, and what its written columns hold.
RIPPLET_FN void write_values(const Field& field, u32 v, u32* values) {
    values[0] = field.labels[v];
    for (u32 index = 0; index < DRAFT_LENGTH; index++) values[1 + index] = *written(field, v, index);
}

// Before the first round: mirrors are of what vertices have.
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

// Tells the others that a vertex changed, where they were not told at once. All lanes of a warp call it together.
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

// Shows what a rank's vertices chose, and sees that the others hear of it; in place, it was shown.
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

// Makes a vertex of another rank what it is there.
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

// The same for all vertices of a rank, by its mirror. Some are read at a time.
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
    // Everybody has read what was told in the phase before.
    if (thread < ranks.count) ranks.told_counts[thread] = 0;
}

// Writes down, for each other rank, those of its vertices that this one woke: a warp takes a grain.
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
        // Mostly they are all one rank's.
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

// Makes active what others woke: a warp takes 32 words, and a lane a vertex of each.
RIPPLET_FN void hear(const RankStep& step) {
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    // Everybody has learnt what was in the letter.
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
