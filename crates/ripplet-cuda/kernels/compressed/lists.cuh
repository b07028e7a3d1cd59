// Decoders of compressed neighbour lists, whose format `ripplet_graph::compressed` defines. One lane decodes
// token by token (`decode_segment`), or a warp decodes 32 tokens at a time (`warp_decode_segment`). A decoded
// neighbour is passed to the caller in a register, and is never stored.
//
//     block of 32 vertices:   head | list | list | ...
//     head:                   2 widths of 6 bits | degrees | ends of the lists
//     list:                   ends of the segments but the last | segment of 256 neighbours | segment | ...
//     segment:                number of tokens, if the code has runs | gaps | weights, if there are any
//     gaps, weights:          low bits of the classes | high bits of the classes | values
//
// The words are well-formed: the host has checked those that come from a file. No shared memory.
#pragma once

namespace ripplet {

// Vertices of a block, neighbours of a segment, the shortest run, and the bits of a width.
constexpr u32 COMPRESSED_BLOCK = 32, SEGMENT = 256, LEAST_RUN = 3, WIDTH_BITS = 6;

// Parameters of the code: bits of the values of each of four classes, for gaps and for weights; whether the
// last class of gaps encodes runs; and the least gap, which is added to each value.
struct Code {
    u32 widths[4], weight_widths[4];
    u32 has_runs, least_gap;
};

// A shard's lists of one direction, as the host lays them out: `src/lists/kernel.rs` has the same struct.
struct Compressed {
    const u64* begins;
    const u32* words;
    u32 first, vertices;
    Code code;
};

struct CompressedShard {
    Compressed out, incoming;
};

// The value of `width` bits, at most 32, from bit `at` on.
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

// An encoded list: its number of neighbours, the width of its segments' ends, and its first bit.
struct List {
    u32 degree, end_width;
    u64 begin;
};

// Head of a block: where it begins, its widths, and where its vertices' degrees and the ends of their lists
// are.
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
    // The end of the list of vertex `lane` of the block, in bits from the end of the head.
    RIPPLET_FN u64 end_of(u32 lane) const { return take_long(words, ends + lane * end_width, end_width); }
    // The list of vertex `lane`, if the block begins at bit `block`.
    RIPPLET_FN List list(u32 lane, u64 block) const {
        const u64 before = lane > 0 ? end_of(lane - 1) : 0;
        const u32 degree = take(words, degrees + lane * degree_width, degree_width);
        return List{degree, end_width, block + bits() + before};
    }
    // Length of the head in bits.
    RIPPLET_FN u64 bits() const { return ends + count * end_width - begin; }
};

// The number of vertices of a vertex's block.
RIPPLET_FN u32 block_of(const Compressed& lists, u32 vertex) {
    return min(lists.vertices - vertex / COMPRESSED_BLOCK * COMPRESSED_BLOCK, COMPRESSED_BLOCK);
}

RIPPLET_FN List list_of(const Compressed& lists, u32 vertex) {
    const u64 begin = __ldg(lists.begins + vertex / COMPRESSED_BLOCK) * 32;
    return Head::at(lists.words, begin, block_of(lists, vertex)).list(vertex % COMPRESSED_BLOCK, begin);
}

RIPPLET_FN u32 segments(const List& list) { return (list.degree + SEGMENT - 1) / SEGMENT; }

// The first bit of a segment.
RIPPLET_FN u64 segment_begin(const Compressed& lists, const List& list, u32 segment) {
    if (segment == 0) return list.begin + (u64)(max(segments(list), 1u) - 1) * list.end_width;
    return list.begin + take_long(lists.words, list.begin + (u64)(segment - 1) * list.end_width, list.end_width);
}

// Tokens of a segment: their number, and where their classes begin.
struct Tokens {
    u32 count;
    u64 classes;
};

RIPPLET_FN Tokens tokens_of(const Compressed& lists, u64 begin, u32 neighbors) {
    if (!lists.code.has_runs || neighbors <= LEAST_RUN) return Tokens{neighbors, begin};
    const u32 width = 32 - leading_zeros(neighbors);
    return Tokens{take(lists.words, begin, width), begin + width};
}

// Decodes a segment in one lane, neighbour by neighbour.
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

// Inclusive prefix sum over the lanes of a warp.
RIPPLET_FN u32 warp_prefix_sum(u32 x) {
    for (u32 step = 1; step < 32; step *= 2) {
        const u32 other = __shfl_up_sync(ALL_LANES, x, step);
        if (lane_id() >= step) x += other;
    }
    return x;
}

// The bits of `count` values, given the low and high bits of their classes.
RIPPLET_FN u32 bits_of(const u32 (&widths)[4], u32 low, u32 high, u32 count) {
    const u32 one = (u32)__popc(low & ~high), two = (u32)__popc(high & ~low), three = (u32)__popc(low & high);
    return (count - one - two - three) * widths[0] + one * widths[1] + two * widths[2] + three * widths[3];
}

// The first bit of a segment's weights, behind the values of its tokens. All lanes of the warp call it.
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

// This lane's one of up to 32 values; and a bit for each lane whose value is of the last class.
struct LaneValue {
    u32 value, of_last_class;
};

// Decodes the next `there` values of a warp, a lane each. Their classes begin at `lower` and `higher`, the
// values at `at`, which is moved behind them. All lanes call it; the result of a lane without a value is
// meaningless.
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

// Expands 32 tokens with runs into neighbours, and calls `visit(first, count, id)` as `warp_decode_segment`
// does. `ends` is the last neighbour of this lane's token, and `counts` the number of neighbours up to it.
// All lanes call it. Returns the number of neighbours.
template <class Visit> RIPPLET_FN u32 hand_out(u32 ends, u32 counts, u32 number, Visit visit) {
    const u32 total = __shfl_sync(ALL_LANES, counts, 31);
    for (u32 first = 0; first < total; first += 32) {
        const u32 mine = first + lane_id();
        // Finds the first token whose inclusive count is above `mine`.
        u32 token = 0;
        for (u32 step = 16; step > 0; step /= 2)
            if ((u32)__shfl_sync(ALL_LANES, counts, token + step - 1) <= mine) token += step;
        const u32 end = __shfl_sync(ALL_LANES, ends, token), until = __shfl_sync(ALL_LANES, counts, token);
        visit(number + first, min(total - first, 32u), end - (until - 1 - mine));
    }
    return total;
}

// Decodes a segment in a warp. Calls `visit(first, count, id)` for up to 32 neighbours at a time: number
// `first` and the next ones of the segment, one in each of the first `count` lanes. All lanes call it, and
// all lanes are called.
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
