// Neighbour lists in few bits, as `ripplet_graph::compressed` has them: decoded by one lane, token by token, or by a
// warp, 32 tokens at a time. A neighbour is never written down: whoever asks is told it in a register.
//
// The words are sound: the host has checked those that come from a file.
#pragma once

namespace ripplet {

// Vertices of a block, neighbours of a segment, and the shortest run.
constexpr u32 CODED_BLOCK = 32, SEGMENT = 256, LEAST_RUN = 3, WIDTH_BITS = 6;

// The widths of the four classes of values, and of weights; whether the last class of the former is runs; what is
// added to a gap.
struct Code {
    u32 widths[4], weight_widths[4];
    u32 has_runs, least_gap;
};

// A shard's lists of one direction, as the host lays them out (`src/resident.rs` has the same structs).
struct Compressed {
    const u64* begins;
    const u32* words;
    u32 first, vertices;
    Code code;
};

struct CompressedShard {
    Compressed out, incoming;
};

// The value of so many bits, at most 32, that begins at a bit.
RIPPLET_FN u32 take(const u32* words, u64 at, u32 width) {
    const u32* const word = words + at / 32;
    const u64 pair = (u64)__ldg(word) | (u64)__ldg(word + 1) << 32;
    return (u32)(pair >> (at % 32)) & (u32)((1ull << width) - 1);
}
RIPPLET_FN u64 take_long(const u32* words, u64 at, u32 width) {
    const u64 low = take(words, at, min(width, 32u));
    return width > 32 ? low | (u64)take(words, at + 32, width - 32) << 32 : low;
}

RIPPLET_FN u32 unfolded(u32 value) { return value >> 1 ^ (0u - (value & 1)); }

// A list that is not decoded yet: how many neighbours it has, its first bit, and the width of its segments' ends.
struct List {
    u32 degree, end_width;
    u64 begin;
};

// The head of a block: where it begins, the widths that it has, and where its vertices' degrees and ends are.
struct Head {
    const u32* words;
    u64 begin, degrees, ends;
    u32 degree_width, end_width, count;

    RIPPLET_FN static Head at(const u32* words, u64 begin, u32 count) {
        const u32 widths = take(words, begin, 2 * WIDTH_BITS);
        const u32 degree_width = widths & ((1u << WIDTH_BITS) - 1), end_width = widths >> WIDTH_BITS;
        const u64 degrees = begin + 2 * WIDTH_BITS;
        return Head{words, begin, degrees, degrees + count * degree_width, degree_width, end_width, count};
    }
    // Where the list of a lane's vertex ends, in bits from where the head does.
    RIPPLET_FN u64 end_of(u32 lane) const { return take_long(words, ends + lane * end_width, end_width); }
    // A list, where the block begins at this bit.
    RIPPLET_FN List list(u32 lane, u64 block) const {
        const u64 before = lane > 0 ? end_of(lane - 1) : 0;
        const u32 degree = take(words, degrees + lane * degree_width, degree_width);
        return List{degree, end_width, block + bits() + before};
    }
    // How many bits it has.
    RIPPLET_FN u64 bits() const { return ends + count * end_width - begin; }
};

// How many vertices a vertex's block has.
RIPPLET_FN u32 block_of(const Compressed& lists, u32 vertex) {
    return min(lists.vertices - vertex / CODED_BLOCK * CODED_BLOCK, CODED_BLOCK);
}

RIPPLET_FN List list_of(const Compressed& lists, u32 vertex) {
    const u64 begin = __ldg(lists.begins + vertex / CODED_BLOCK) * 32;
    return Head::at(lists.words, begin, block_of(lists, vertex)).list(vertex % CODED_BLOCK, begin);
}

RIPPLET_FN u32 segments(const List& list) { return (list.degree + SEGMENT - 1) / SEGMENT; }

// Where a segment begins.
RIPPLET_FN u64 segment_begin(const Compressed& lists, const List& list, u32 segment) {
    if (segment == 0) return list.begin + (u64)(max(segments(list), 1u) - 1) * list.end_width;
    return list.begin + take_long(lists.words, list.begin + (u64)(segment - 1) * list.end_width, list.end_width);
}

// The tokens of a segment: how many, and where their classes begin.
struct Tokens {
    u32 count;
    u64 classes;
};

RIPPLET_FN Tokens tokens_of(const Compressed& lists, u64 begin, u32 neighbors) {
    if (!lists.code.has_runs || neighbors <= LEAST_RUN) return Tokens{neighbors, begin};
    const u32 width = 32 - leading_zeros(neighbors);
    return Tokens{take(lists.words, begin, width), begin + width};
}

// Of a segment, each neighbour by this lane alone.
template <class Visit>
RIPPLET_FN void decode_segment(const Compressed& lists, u32 vertex, u64 begin, u32 neighbors, Visit visit) {
    const Code& code = lists.code;
    const Tokens tokens = tokens_of(lists, begin, neighbors);
    u64 at = tokens.classes + 2 * (u64)tokens.count;
    u32 low = 0, high = 0, before = vertex;
    for (u32 token = 0; token < tokens.count; token++) {
        if (token % 32 == 0) {
            const u32 width = min(tokens.count - token, 32u);
            low = take(lists.words, tokens.classes + token, width);
            high = take(lists.words, tokens.classes + tokens.count + token, width);
        }
        const u32 kind = (low & 1) | (high & 1) << 1, width = code.widths[kind];
        const u32 value = take(lists.words, at, width);
        at += width, low >>= 1, high >>= 1;
        if (kind == 3 && code.has_runs && token > 0) {
            for (u32 left = value + LEAST_RUN; left > 0; left--) visit(++before);
        } else {
            before += token > 0 ? value + code.least_gap : unfolded(value);
            visit(before);
        }
    }
}

// The sum over the lanes up to this one.
RIPPLET_FN u32 warp_prefix_sum(u32 x) {
    for (u32 step = 1; step < 32; step *= 2) {
        const u32 other = __shfl_up_sync(ALL_LANES, x, step);
        if (lane_id() >= step) x += other;
    }
    return x;
}

// The bits of so many values, of whose classes these are the lower and the higher bits.
RIPPLET_FN u32 bits_of(const u32 (&widths)[4], u32 low, u32 high, u32 count) {
    const u32 one = (u32)__popc(low & ~high), two = (u32)__popc(high & ~low), three = (u32)__popc(low & high);
    return (count - one - two - three) * widths[0] + one * widths[1] + two * widths[2] + three * widths[3];
}

// Where a segment's weights begin: behind the values of its tokens. All lanes of the warp call it.
RIPPLET_FN u64 warp_weights_begin(const Compressed& lists, const Tokens& tokens) {
    u32 bits = 0;
    const u32 token = lane_id() * 32;
    static_assert(SEGMENT <= 1024, "a lane has 32 tokens");
    if (token < tokens.count) {
        const u32 there = min(tokens.count - token, 32u);
        const u32 low = take(lists.words, tokens.classes + token, there);
        const u32 high = take(lists.words, tokens.classes + tokens.count + token, there);
        bits = bits_of(lists.code.widths, low, high, there);
    }
    return tokens.classes + 2 * (u64)tokens.count + warp_sum(bits);
}

// Of the next values of a warp, up to 32, this lane's; and a bit for each lane whose value is of the last class.
struct LaneValue {
    u32 value, of_last_class;
};

// The next values: their classes begin at `lower` and `higher`, and they at `at`, which is moved behind them. All
// lanes call it; those without a value are given any.
RIPPLET_FN LaneValue next_values(const u32* words, const u32 (&widths)[4], u64 lower, u64 higher, u32 there, u64* at) {
    const u32 lane = lane_id(), before = (1u << lane) - 1, all = there < 32 ? (1u << there) - 1 : ALL_LANES;
    const u32 low = take(words, lower, there), high = take(words, higher, there);
    const u32 of_class[4] = {all & ~(low | high), low & ~high, high & ~low, low & high};
    u32 bits_before = 0, bits = 0, width = 0;
    for (u32 kind = 0; kind < 4; kind++) {
        bits_before += (u32)__popc(of_class[kind] & before) * widths[kind];
        bits += (u32)__popc(of_class[kind]) * widths[kind];
        if (of_class[kind] >> lane & 1) width = widths[kind];
    }
    const u32 value = take(words, *at + bits_before, width);
    *at += bits;
    return LaneValue{value, of_class[3]};
}

// Tells lanes the neighbours of 32 tokens, `visit(first, count, id)` as below: `ends` and `counts` are, of this lane's
// token, its last neighbour and how many there are until then. All lanes call it; returns how many there are.
template <class Visit> RIPPLET_FN u32 hand_out(u32 ends, u32 counts, u32 number, Visit visit) {
    const u32 total = __shfl_sync(ALL_LANES, counts, 31);
    for (u32 first = 0; first < total; first += 32) {
        const u32 mine = first + lane_id();
        // The first token that has more neighbours until its end.
        u32 token = 0;
        for (u32 step = 16; step > 0; step /= 2)
            if ((u32)__shfl_sync(ALL_LANES, counts, token + step - 1) <= mine) token += step;
        const u32 end = __shfl_sync(ALL_LANES, ends, token), until = __shfl_sync(ALL_LANES, counts, token);
        visit(number + first, min(total - first, 32u), end - (until - 1 - mine));
    }
    return total;
}

// Of a segment, each neighbour by one lane of the warp: calls `visit(first, count, id)` for up to 32 at a time, from
// number `first` of the segment on, of which each of the first `count` lanes has one. All lanes call it and are called.
template <class Visit>
RIPPLET_FN void warp_decode_segment(const Compressed& lists, u32 vertex, const Tokens& tokens, Visit visit) {
    const Code& code = lists.code;
    u64 values = tokens.classes + 2 * (u64)tokens.count;
    const u32 lane = lane_id();
    u32 before = vertex, number = 0;
    for (u32 token = 0; token < tokens.count; token += 32) {
        const u32 there = min(tokens.count - token, 32u);
        const u64 lower = tokens.classes + token;
        const LaneValue mine = next_values(lists.words, code.widths, lower, lower + tokens.count, there, &values);
        const u32 runs = code.has_runs ? mine.of_last_class & (token > 0 ? ALL_LANES : ~1u) : 0;
        const bool is_there = lane < there, is_run = runs >> lane & 1, is_first = token + lane == 0;
        const u32 gap = is_first ? unfolded(mine.value) : mine.value + (is_run ? LEAST_RUN : code.least_gap);
        const u32 ends = before + warp_prefix_sum(is_there ? gap : 0);
        before = __shfl_sync(ALL_LANES, ends, 31);
        if (runs == 0) {
            visit(number, there, ends);
            number += there;
        } else {
            number += hand_out(ends, warp_prefix_sum(!is_there ? 0 : is_run ? gap : 1), number, visit);
        }
    }
}

}  // namespace ripplet
