// Benchmark of reading lists: sums the labels of each vertex's neighbours, over plain and over compressed
// lists; and decodes compressed lists to memory.
//
//     vertices            | 0 ... 31 | 32 ... 63 | ...       a warp each, then the grid's warps further on
//     degree < long_from  lane i reads the list of vertex 32 w + i, or decodes it token by token
//     others              one after the other: lane i reads arcs i, i + 32, ..., or 32 tokens are decoded at a time
//
//     decoding to memory      lists of one segment as above; `pieces`, segments of longer lists, a warp each
//
// Mapping: as in the picture. No shared memory. docs/adr/0012-compressed-lists.md has the times by `long_from`
// (`decode.jsonl` in `bench/runs/2026-11-22-h200`), and the papers of other codes.
#pragma once

namespace ripplet {

struct Sums {
    Compressed lists;
    // The lists in plain form.
    const u32 *offsets, *neighbors;
    // Labels by vertex; if null, a vertex is its own label.
    const u32* labels;
    u64* sums;
    // Decoded neighbours, as in `neighbors`; and the segments of lists with several of them, as vertex and
    // index.
    u32* decoded;
    const uint2* pieces;
    u32 piece_count, long_from;
};

RIPPLET_FN u64 label_of(const Sums& sums, u32 vertex) { return sums.labels ? __ldg(sums.labels + vertex) : vertex; }

// Calls `alone(v)` in a lane, or `together(v)` in the warp, for the vertices of this warp; `degree(v)`
// decides.
template <class Degree, class Alone, class Together>
RIPPLET_FN void each_vertex(const Sums& sums, Degree degree, Alone alone, Together together) {
    const u32 warps = gridDim.x * (blockDim.x / 32), n = sums.lists.vertices;
    for (u32 block = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; block * COMPRESSED_BLOCK < n; block += warps) {
        const u32 v = block * COMPRESSED_BLOCK + lane_id();
        const bool is_long = v < n && degree(v) >= sums.long_from;
        if (v < n && !is_long) alone(v);
        for (u32 left = __ballot_sync(ALL_LANES, is_long); left != 0; left &= left - 1)
            together(block * COMPRESSED_BLOCK + (u32)__ffs((int)left) - 1);
    }
}

// Calls `alone` and `together` likewise, and stores the sums that they return.
template <class Degree, class Alone, class Together>
RIPPLET_FN void sum_up(const Sums& sums, Degree degree, Alone alone, Together together) {
    each_vertex(
        sums, degree, [&](u32 v) { sums.sums[v] = alone(v); },
        [&](u32 v) {
            const u64 sum = warp_sum((u64)together(v));
            if (lane_id() == 0) sums.sums[v] = sum;
        });
}

}  // namespace ripplet

using ripplet::Sums;

RIPPLET_KERNEL(ripplet_sum_plain, Sums, a, 256, 8) {
    using namespace ripplet;
    const auto of = [&](u32 v, u32 rank, u32 lanes) {
        u64 sum = 0;
        for (u32 at = __ldg(a.offsets + v) + rank; at < __ldg(a.offsets + v + 1); at += lanes)
            sum += label_of(a, __ldg(a.neighbors + at));
        return sum;
    };
    sum_up(
        a, [&](u32 v) { return __ldg(a.offsets + v + 1) - __ldg(a.offsets + v); },
        [&](u32 v) { return of(v, 0, 1); }, [&](u32 v) { return of(v, lane_id(), 32); });
}

RIPPLET_KERNEL(ripplet_sum_compressed, Sums, a, 256, 6) {
    using namespace ripplet;
    const auto of = [&](u32 v, auto decode) {
        const List list = list_of(a.lists, v);
        u64 sum = 0;
        for (u32 segment = 0; segment < segments(list); segment++)
            decode(a.lists, a.lists.first + v, segment_begin(a.lists, list, segment),
                   min(list.degree - segment * SEGMENT, SEGMENT), [&](u32 u) { sum += label_of(a, u); });
        return sum;
    };
    const auto by_lane = [](const Compressed& lists, u32 v, u64 begin, u32 count, auto visit) {
        decode_segment(lists, v, begin, count, visit);
    };
    const auto by_warp = [](const Compressed& lists, u32 v, u64 begin, u32 count, auto visit) {
        const auto visit_mine = [&](u32, u32 there, u32 u) {
            if (lane_id() < there) visit(u);
        };
        warp_decode_segment(lists, v, tokens_of(lists, begin, count), visit_mine);
    };
    sum_up(
        a, [&](u32 v) { return list_of(a.lists, v).degree; }, [&](u32 v) { return of(v, by_lane); },
        [&](u32 v) { return of(v, by_warp); });
}

RIPPLET_KERNEL(ripplet_decode, Sums, a, 256, 6) {
    using namespace ripplet;
    const auto decode = [&](u32 v, u32 segment) {
        const List list = list_of(a.lists, v);
        u32* const out = a.decoded + __ldg(a.offsets + v) + segment * SEGMENT;
        const u32 count = min(list.degree - segment * SEGMENT, SEGMENT);
        const Tokens tokens = tokens_of(a.lists, segment_begin(a.lists, list, segment), count);
        warp_decode_segment(a.lists, a.lists.first + v, tokens, [&](u32 first, u32 there, u32 u) {
            if (lane_id() < there) out[first + lane_id()] = u;
        });
    };
    const u32 warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, warps = gridDim.x * (blockDim.x / 32);
    for (u32 piece = warp; piece < a.piece_count; piece += warps) decode(a.pieces[piece].x, a.pieces[piece].y);
    each_vertex(
        a, [&](u32 v) { return list_of(a.lists, v).degree; },
        [&](u32 v) {
            const List list = list_of(a.lists, v);
            u32* out = a.decoded + __ldg(a.offsets + v);
            if (segments(list) == 1)
                decode_segment(a.lists, a.lists.first + v, segment_begin(a.lists, list, 0), list.degree,
                               [&](u32 u) { *out++ = u; });
        },
        [&](u32 v) {
            if (segments(list_of(a.lists, v)) == 1) decode(v, 0);
        });
}
