// Arcs of compressed lists (`compressed/lists.cuh` has their format), decoded into registers wherever they are
// read. `plain.cuh` has the same names for plain lists.
//
//     Cursor               a lane decodes arc after arc, from any arc on and around the end
//     each_arc_by_warps    segments of 256 neighbours:   | segment 0 | segment 1 | segment 2 | ...
//                          `warps` = 2:                     warp 0      warp 1      warp 0
//                          a warp decodes 32 neighbours at a time, one per lane
//     arc_at               any arc, by decoding those before it in its segment
//
// Mapping: that of the caller; no shared memory. docs/adr/0012-compressed-lists.md has the format's reasons.
#pragma once

namespace ripplet {

// A vertex's lists: the outgoing one, and in a directed graph the incoming one.
struct Place {
    List lists[DIRECTED ? 2 : 1];
    u32 vertex, shard;

    RIPPLET_FN u32 degree() const { return lists[0].degree + (DIRECTED ? lists[DIRECTED ? 1 : 0].degree : 0); }
};

RIPPLET_FN const CompressedShard& shard_at(const LpState& state, u32 shard) {
    return SHARDED ? ((const CompressedShard*)state.graph.shards)[shard] : state.graph.first;
}

RIPPLET_FN const StreamedLists& streamed_lists(const LpState& state, u32 side, u32 shard) {
    const StreamedShard& start = state.streamed.shards[shard];
    return side > 0 ? start.incoming : start.out;
}

RIPPLET_FN Head far_head(const Compressed& lists, const StreamedLists& its, u32 vertex) {
    const u64 begin = (u64)__ldg(its.head_begins + vertex / COMPRESSED_BLOCK) * 32;
    return Head::at(its.heads, begin, block_of(lists, vertex));
}

// A vertex's list. In a streamed graph `lists.words` is null, and bits are counted from address 0.
RIPPLET_FN List list_in(const LpState& state, const Compressed& lists, u32 side, u32 shard, u32 v) {
    const u32 vertex = v - lists.first, lane = vertex % COMPRESSED_BLOCK;
    if (!STREAMED) return list_of(lists, vertex);
    const Streamed& streamed = state.streamed;
    const StreamedLists& its = streamed_lists(state, side, shard);
    const u64 begin = __ldg(lists.begins + vertex / COMPRESSED_BLOCK);
    if (v < streamed.near_end) {
        const u64 block = (its.near + begin) * 32;
        return Head::at(lists.words, block, block_of(lists, vertex)).list(lane, block);
    }
    List list = far_head(lists, its, vertex).list(lane, (its.far + begin) * 32);
    const u32 fetched = streamed.fetched[side][v];
    if (fetched < REQUESTED) list.begin = (streamed.stage + fetched) * 32 + list.begin % 32;
    return list;
}

RIPPLET_FN Place place_of(const LpState& state, u32 v) {
    Place place = {};
    place.vertex = v;
    const CompressedShard* shards = (const CompressedShard*)state.graph.shards;
    for (u32 left = SHARDED ? state.graph.shard_count : 1; left > 1;) {
        const u32 half = left / 2;
        if (shards[place.shard + half].out.first <= v) place.shard += half;
        left -= half;
    }
    const CompressedShard& shard = shard_at(state, place.shard);
    place.lists[0] = list_in(state, shard.out, 0, place.shard, v);
    if (DIRECTED) place.lists[DIRECTED ? 1 : 0] = list_in(state, shard.incoming, 1, place.shard, v);
    return place;
}

// A list's place in the host's memory, if it is not on the device. It includes the word behind the list, as
// the decoder reads one word ahead.
RIPPLET_FN Far far_list(const LpState& state, u32 side, u32 v) {
    const CompressedShard* shards = (const CompressedShard*)state.graph.shards;
    const u32 shard = SHARDED ? shard_of(state.streamed.shards, state.graph.shard_count, v) : 0;
    const Compressed& lists = side > 0 ? shards[shard].incoming : shards[shard].out;
    const StreamedLists& its = streamed_lists(state, side, shard);
    const u32 vertex = v - lists.first, lane = vertex % COMPRESSED_BLOCK;
    const u64 block = (its.far + __ldg(lists.begins + vertex / COMPRESSED_BLOCK)) * 32;
    const Head head = far_head(lists, its, vertex);
    const u64 begin = head.list(lane, block).begin, end = block + head.bits() + head.end_of(lane);
    return Far{begin / 32, 0, begin == end ? 0 : (u32)((end + 31) / 32 + 1 - begin / 32)};
}

// The degree of any vertex; on several devices also of vertices whose lists are on another rank.
RIPPLET_FN u32 degree_of(const LpState& state, u32 v) {
    return DEGREES ? state.graph.degrees[v] : place_of(state, v).degree();
}

RIPPLET_FN const Compressed& lists_at(const LpState& state, const Place& place, u32 side) {
    const CompressedShard& shard = shard_at(state, place.shard);
    return DIRECTED && side > 0 ? shard.incoming : shard.out;
}

// Decodes values of four width classes sequentially, in one lane. A word is loaded at a time; the next `loaded` bits
// are in `bits`.
struct LaneValues {
    u64 lower, higher, bits;
    const u32* word;
    u32 loaded, low, high;

    RIPPLET_FN static LaneValues behind(const u32* words, u64 classes, u32 count) {
        const u64 at = classes + 2 * (u64)count;
        LaneValues values = {classes, classes + count, 0, words + at / 32 + 1, 32 - (u32)(at % 32), 0, 0};
        values.bits = __ldg(words + at / 32) >> (at % 32);
        return values;
    }
    // Value `number` of `count`; numbers must be requested in order. Sets whether the value is of the last
    // class.
    RIPPLET_FN u32 next(const u32* words, const u32 (&widths)[4], u32 number, u32 count, bool* is_of_last) {
        if (number % 32 == 0) {
            const u32 there = min(count - number, 32u);
            low = take(words, lower + number, there);
            high = take(words, higher + number, there);
        }
        const u32 of_low = (high & 1) ? widths[2] : widths[0], of_high = (high & 1) ? widths[3] : widths[1];
        const u32 width = (low & 1) ? of_high : of_low;
        *is_of_last = low & high & 1;
        low >>= 1, high >>= 1;
        if (loaded < width) {
            // A word of zeros follows the last one.
            bits |= (u64)__ldg(word++) << loaded;
            loaded += 32;
        }
        const u32 value = (u32)bits & (u32)((1ull << width) - 1);
        bits >>= width;
        loaded -= width;
        return value;
    }
};

// Reads a vertex's arcs sequentially in one lane, from any arc on and around the end.
struct Cursor {
    const LpState* state;
    const Place* place;
    // The direction, the index of the next arc in its list, and the arcs left in its segment.
    u32 side, number, left;
    // In the segment: the number of tokens, the tokens taken, the previous neighbour, and what is left of a
    // run.
    u32 tokens, token, before, run;
    LaneValues gaps, weights;

    RIPPLET_FN static Cursor at(const LpState& state, const Place& place, u32 index) {
        Cursor cursor = {};
        cursor.state = &state;
        cursor.place = &place;
        cursor.seek(index);
        return cursor;
    }
    RIPPLET_FN void seek(u32 index) {
        side = DIRECTED && index >= place->lists[0].degree ? 1 : 0;
        if (side > 0) index -= place->lists[0].degree;
        number = index / SEGMENT * SEGMENT;
        left = 0;
#pragma unroll 1
        for (u32 skipped = index % SEGMENT; skipped > 0; skipped--) next();
    }
    // Returns the next arc; after the last comes the first.
    RIPPLET_FN Arc next() {
        if (left == 0) enter();
        const Compressed& lists = lists_at(*state, *place, side);
        if (run > 0) {
            run--;
            before++;
        } else {
            bool is_of_last;
            const u32 value = gaps.next(lists.words, lists.code.widths, token, tokens, &is_of_last);
            if (token == 0) {
                before += unfolded(value);
            } else if (lists.code.has_runs && is_of_last) {
                run = value + LEAST_RUN - 1;
                before++;
            } else {
                before += value + lists.code.least_gap;
            }
            token++;
        }
        u32 weight = 1;
        bool is_of_last;
        if (WEIGHTED)
            weight = weights.next(lists.words, lists.code.weight_widths, number % SEGMENT, neighbors_here(), &is_of_last);
        number++;
        left--;
        return Arc{before, weight};
    }

  private:
    RIPPLET_FN u32 neighbors_here() const { return min(list().degree - number / SEGMENT * SEGMENT, SEGMENT); }
    RIPPLET_FN const List& list() const { return place->lists[DIRECTED ? side : 0]; }

    // Begins the segment of the next arc, which is its first.
    RIPPLET_FN void enter() {
        if (number == list().degree) {
            // Continues with the other direction's list, if it has any arc.
            const u32 other = DIRECTED ? 1 - side : 0;
            if (place->lists[other].degree > 0) side = other;
            number = 0;
        }
        const Compressed& lists = lists_at(*state, *place, side);
        const u32 count = neighbors_here();
        const Tokens all = tokens_of(lists, segment_begin(lists, list(), number / SEGMENT), count);
        tokens = all.count;
        token = run = 0;
        left = count;
        before = place->vertex;
        gaps = LaneValues::behind(lists.words, all.classes, all.count);
        if (!WEIGHTED) return;
        u64 begin = all.classes + 2 * (u64)all.count;
        for (u32 first = 0; first < tokens; first += 32) {
            const u32 there = min(tokens - first, 32u);
            const u32 low = take(lists.words, gaps.lower + first, there);
            begin += bits_of(lists.code.widths, low, take(lists.words, gaps.higher + first, there), there);
        }
        weights = LaneValues::behind(lists.words, begin, count);
    }
};

// Arc `index` of a vertex, outgoing arcs first. Decodes all arcs of the segment before it.
RIPPLET_FN Arc arc_at(const LpState& state, const Place& place, u32 index) {
    return Cursor::at(state, place, index).next();
}

// Calls `visit(number, arc)` for the arcs `from` to `to` of a vertex, one per lane at a time. Each of `warps`
// warps, numbered by `rank`, takes every `warps`-th segment. All lanes call it.
template <class Visit>
RIPPLET_FN void each_arc_by_warps(const LpState& state, const Place& place, u32 from, u32 to, u32 rank, u32 warps,
                                  Visit visit) {
    u32 base = 0;
    for (u32 side = 0; side < (DIRECTED ? 2 : 1); side++) {
        const List& list = place.lists[DIRECTED ? side : 0];
        const Compressed& lists = lists_at(state, place, side);
        const u32 begin = from > base ? (from - base) / SEGMENT : 0;
        const u32 end = to > base ? min((to - base + SEGMENT - 1) / SEGMENT, segments(list)) : 0;
        for (u32 segment = begin + rank; segment < end; segment += warps) {
            const u32 count = min(list.degree - segment * SEGMENT, SEGMENT), before = base + segment * SEGMENT;
            const Tokens tokens = tokens_of(lists, segment_begin(lists, list, segment), count);
            u64 classes = 0, values = 0;
            if (WEIGHTED) {
                classes = warp_weights_begin(lists, tokens);
                values = classes + 2 * (u64)count;
            }
            warp_decode_segment(lists, place.vertex, tokens, [&](u32 first, u32 there, u32 id) {
                u32 weight = 1;
                if (WEIGHTED)
                    weight = next_values(lists.words, lists.code.weight_widths, classes + first,
                                         classes + count + first, there, &values).value;
                const u32 number = before + first + lane_id();
                if (lane_id() < there && number >= from && number < to) visit(number, Arc{id, weight});
            });
        }
        base += list.degree;
    }
}

}  // namespace ripplet
