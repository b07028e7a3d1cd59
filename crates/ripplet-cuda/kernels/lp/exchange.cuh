// What ranks tell one another in a phase. Each device of several is a rank: it has the lists of some consecutive
// vertices, and labels, totals and columns of all. Twice a phase each hears of all others:
//
//     gather, choose        as on one device, of the rank's own vertices
//     post                  shows what they chose, and writes it into the rank's letter
//     learn                 the others' letters: their vertices' labels and columns, and the totals
//     wake                  own and others' vertices, by what all changed
//     tell                  writes down which of the others' were woken, for each rank
//     hear                  what the others woke of the own
//
// A letter has a record for each vertex that changed, or where that is longer, what all of the rank's have:
//
//     few        count 2   | vertex label | vertex label |
//     many       count 9   | label | label | label | label |         of 4 vertices, where 2 records have room
#pragma once

namespace ripplet {

constexpr u32 MOST_RANKS = 16;

// What is before a letter's records.
struct Letter {
    // Vertices that changed, and how many have room: if more changed, the letter has all of the rank's instead.
    u32 count, capacity;
    // Arcs of those who wake their neighbours.
    u64 waking;
};

// Values of a vertex, and of a record, which begins with the vertex.
constexpr u32 VALUES = 1 + DRAFT_LENGTH, RECORD = 1 + VALUES;

// Those of 32 consecutive vertices that were woken.
struct Woken {
    u32 word, bits;
};

struct Ranks {
    u32 count, own;
    // Records that this rank's letter has room for.
    u32 capacity;
    // Where each rank's vertices begin: multiples of 32. Behind the last, the end of them all.
    u32 bounds[MOST_RANKS + 1];
    // This rank's, and by rank where it reads the others'.
    Letter* letter;
    const Letter* letters[MOST_RANKS];
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

// Writes a vertex that changed into the letter. All lanes of a warp call it together.
RIPPLET_FN void post_change(const Field& field, const Ranks& ranks, bool changed, u32 v) {
    const u32 at = append(&ranks.letter->count, changed);
    if (!changed || at >= ranks.capacity) return;
    u32* record = (u32*)(ranks.letter + 1) + (u64)at * RECORD;
    record[0] = v;
    record[1] = field.labels[v];
    for (u32 index = 0; index < DRAFT_LENGTH; index++) record[2 + index] = *written(field, v, index);
}

// Shows what a rank's vertices chose, and writes it down; in place, it was shown.
RIPPLET_FN void post(const RankStep& step) {
    const Field& field = step.run.field;
    const Turn turn = step.turn;
    Tallies* tallies = field.tallies;
    const u32* lower = tallies->lower[turn.parity];
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 print = 0;
    for (u64 first = thread - lane_id(); first < lower[LARGE]; first += threads) {
        const u64 at = first + lane_id();
        u32 v = U32_MAX;
        if (at < lower[LARGE]) {
            u32 of_class = 0;
            while (at >= lower[of_class + 1]) of_class++;
            const u32 item = (u32)at - lower[of_class];
            u32& member = Members(field, of_class)[item];
            v = member;
            if (v != U32_MAX) {
                const u32 chosen = chosen_of(field, turn, of_class, item);
                const bool wakes = IN_PLACE ? chosen != 0 : show_change(field, v, chosen, &print);
                // Only who wakes others stays listed.
                if (!wakes) member = U32_MAX;
            }
        }
        post_change(field, step.ranks, v != U32_MAX, v);
    }
    const u32 large_ones = tallies->members[turn.parity][LARGE];
    for (u64 first = thread - lane_id(); first < large_ones; first += threads) {
        const u64 number = first + lane_id();
        bool changed = false;
        u32 v = 0;
        if (number < large_ones) {
            const Large& large = field.large[number];
            changed = large.done.changed, v = large.vertex;
            if (!IN_PLACE && changed) show_change(field, v, large.done.label, &print);
        }
        post_change(field, step.ranks, changed, v);
    }
    if (thread == 0) {
        step.ranks.letter->capacity = step.ranks.capacity;
        step.ranks.letter->waking = tallies->waking[turn.parity];
    }
    if (!field.traced) return;
    print = warp_sum(print);
    if (lane_id() == 0 && print != 0) atomicAdd(&tallies->fingerprint, print);
}

// Where more changed than the letter has room for: writes what all vertices of the rank have.
RIPPLET_FN void post_all(const RankStep& step) {
    const Ranks& ranks = step.ranks;
    if (ranks.letter->count <= ranks.capacity) return;
    const Field& field = step.run.field;
    u32* values = (u32*)(ranks.letter + 1);
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 at = step.turn.first + (u64)blockIdx.x * BLOCK + threadIdx.x; at < step.turn.end; at += threads) {
        const u32 v = (u32)at;
        u32* own = values + (at - step.turn.first) * VALUES;
        own[0] = field.labels[v];
        for (u32 index = 0; index < DRAFT_LENGTH; index++) own[1 + index] = *written(field, v, index);
    }
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

RIPPLET_FN void learn(const RankStep& step) {
    const Field& field = step.run.field;
    const Ranks& ranks = step.ranks;
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 waking = 0, bytes = 0;
    for (u32 rank = 0; rank < ranks.count; rank++) {
        if (rank == ranks.own) continue;
        const Letter& letter = *ranks.letters[rank];
        const u32* values = (const u32*)(&letter + 1);
        const u32 first = ranks.bounds[rank], end = ranks.bounds[rank + 1], count = letter.count;
        waking += letter.waking;
        const bool has_all = count > letter.capacity;
        bytes += sizeof(Letter) + sizeof(u32) * (has_all ? (u64)(end - first) * VALUES : (u64)count * RECORD);
        if (has_all) {
            for (u64 at = thread; at < end - first; at += threads)
                learn_of(field, step.turn, first + (u32)at, values + at * VALUES);
        } else {
            for (u64 at = thread; at < count; at += threads)
                learn_of(field, step.turn, values[at * RECORD], values + at * RECORD + 1);
        }
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

RIPPLET_KERNEL(ripplet_post, RankStep, step, 256, 6) { ripplet::post(step); }
RIPPLET_KERNEL(ripplet_post_all, RankStep, step, 256, 6) { ripplet::post_all(step); }
RIPPLET_KERNEL(ripplet_learn, RankStep, step, 256, 6) { ripplet::learn(step); }
RIPPLET_KERNEL(ripplet_tell, RankStep, step, 256, 6) { ripplet::tell(step); }
RIPPLET_KERNEL(ripplet_hear, RankStep, step, 256, 6) { ripplet::hear(step); }
