// Lists of a streamed graph: how they come to the staging area, where the kernels of a phase read them.
//
//                from                                to the staging area of the device
//     by list    list of v, pinned  --fetch-->       a region, prefetched or on demand
//     by range   lists of a range   --copy engine--> a slot, then find_copied; `sync` with many active vertices
//     staged     file --> buffer    --copy-->        the area, then find_staged; if the host's memory is too small
//
// By list: while a phase runs, `request_lists` requests the lists of vertices that are active already and
// scheduled in the next phase, or in some phases after it, and `fetch` reads them over the bus. Lists side by side are
// fetched together in whole lines of 128 bytes, the largest request of the bus. A vertex that is activated
// later has its list fetched on demand, when its phase begins.
//
// The staging area has a region for each phase that is prefetched together, and one more. A region is kept
// until it is used again; `forget` then marks its lists `UNFETCHED`. Lists on demand go to the region whose
// prefetched lists are needed first.
//
// Mapping: `fetch` takes a warp per 32 requested lists; `fetch_long` a warp per piece of `LONG_LIST` units;
// `request_lists` a thread per vertex of a unit; `forget` and `find_…` a thread per list. No shared memory. No paper;
// docs/adr/0014-streamed-lists.md has the reasons and measurements.
#pragma once

namespace ripplet {

// A list of more units of 16 bytes is fetched by several warps, in pieces of this length: 16 KiB, eight steps of a
// warp with four loads of 16 bytes in flight per lane. Not measured against other lengths. `src/lists/streamed.rs` has
// the same number, in words.
constexpr u64 LONG_LIST = 1024;

// Records the bounds of a part of a phase after its members are listed: the work counters begin behind the
// parts before.
RIPPLET_FN void begin_part(const Run& run, Phase phase) {
    const LpState& state = run.state;
    const Tallies* tallies = state.tallies;
    PhasePart& part = state.streamed.parts[phase.part];
    const PhasePart* before = phase.part > 0 ? &state.streamed.parts[phase.part - 1] : nullptr;
    if (blockIdx.x > 0 || threadIdx.x >= CLASSES) return;
    const u32 of_class = threadIdx.x;
    part.until[of_class] = tallies->members[phase.parity][of_class];
    if (of_class < LARGE) {
        part.work_counters.taken[of_class] = before ? before->until[of_class] : 0;
        return;
    }
    part.pieces = tallies->pieces[phase.parity];
    part.work_counters.taken[LARGE] = before ? before->pieces : 0;
    part.work_counters.scans = before ? before->until[LARGE] : 0;
    part.work_counters.items = 0;
}

// An array's place in units of 16 bytes; its first unit may begin before it.
struct Units {
    u64 first, count;

    RIPPLET_FN static Units of(u64 word, u64 words) {
        return Units{word / 4, words > 0 ? (word + words + 3) / 4 - word / 4 : 0};
    }
    // The number of lines of 128 bytes that the units touch.
    RIPPLET_FN u32 lines() const { return count > 0 ? (u32)((first + count - 1) / 8 - first / 8 + 1) : 0; }
};

RIPPLET_FN const uint4* unit_at(u64 unit) { return (const uint4*)(unit * 16); }

// Allocates words (a multiple of 4) of the region for a warp. Returns their begin, or the region's end if
// they do not fit.
RIPPLET_FN u64 take_room(const Streamed& streamed, u64 words) {
    u64 at = 0;
    if (lane_id() == 0 && words > 0) at = atomicAdd(&streamed.use->words, words);
    at = __shfl_sync(ALL_LANES, at, 0);
    return at + words <= streamed.region_words ? at : streamed.region_words;
}

// Copies up to 32 chains of lists, one per lane: eight lanes per line, four lines at a time, and four such
// loads in flight.
RIPPLET_FN void copy_lists(const Units& from, u64 to) {
    constexpr u32 AT_ONCE = 4;
    const u32 lines = from.lines(), until = warp_prefix_sum(lines), total = __shfl_sync(ALL_LANES, until, 31);
    for (u32 first = 0; first < total; first += 4 * AT_ONCE) {
        uint4 values[AT_ONCE];
        u64 places[AT_ONCE];
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++) {
            const u32 mine = first + index * 4 + lane_id() / 8;
            // Finds the first lane whose prefix sum is above `mine`: the owner of this line.
            u32 lane = 0;
            for (u32 step = 16; step > 0; step /= 2)
                if (__shfl_sync(ALL_LANES, until, lane + step - 1) <= mine) lane += step;
            const u64 begin = __shfl_sync(ALL_LANES, from.first, lane), count = __shfl_sync(ALL_LANES, from.count, lane);
            const u64 target = __shfl_sync(ALL_LANES, to, lane);
            const u32 before = __shfl_sync(ALL_LANES, until - lines, lane);
            const u64 unit = (begin / 8 + (mine - before)) * 8 + lane_id() % 8;
            const bool is_here = mine < total && unit >= begin && unit < begin + count;
            places[index] = is_here ? target + (unit - begin) : 0;
            if (is_here) values[index] = *unit_at(unit);
        }
#pragma unroll
        for (u32 index = 0; index < AT_ONCE; index++)
            if (places[index] != 0) *(uint4*)unit_at(places[index]) = values[index];
    }
}

// Lists a long list's pieces, for `fetch_long`.
RIPPLET_FN void list_pieces(const Streamed& streamed, Phase phase, const Units& from, u64 to) {
    const u64 pieces = (from.count + LONG_LIST - 1) / LONG_LIST;
    const u32 first = atomicAdd(&streamed.use->long_pieces[phase.late], (u32)pieces) + phase.late * streamed.most_long_pieces;
    for (u64 piece = 0; piece < pieces; piece++) {
        const u64 begin = piece * LONG_LIST;
        streamed.long_pieces[first + piece] = LongPiece{from.first + begin, to + begin, min(from.count - begin, LONG_LIST)};
    }
}

// Lists of consecutive lanes that lie side by side in the host's memory, and are fetched together.
struct Chain {
    // The first lane of the chain. In that lane, `all` is the place of the whole chain; in others it has no
    // words.
    u32 head;
    Far all;

    // The chain that a lane's list is in. A list for which `is_alone` is set is a chain of its own.
    RIPPLET_FN static Chain of(const Far& far, bool is_alone) {
        const u64 end = far.word + far.words, shift = far.weights - far.word;
        const u64 begin_before = __shfl_up_sync(ALL_LANES, far.word, 1), end_before = __shfl_up_sync(ALL_LANES, end, 1);
        const u64 shift_before = __shfl_up_sync(ALL_LANES, shift, 1);
        const u32 alone = __ballot_sync(ALL_LANES, is_alone), before = lane_id() > 0 ? lane_id() - 1 : 0;
        // The list begins where the one before ends, or within the next 4 words.
        const bool is_near = far.word <= end_before + 4;
        const bool weighs_alike = !WEIGHTED || COMPRESSED || shift == shift_before;
        const bool follows = lane_id() > 0 && !is_alone && !(alone >> before & 1) && far.word >= begin_before && is_near && weighs_alike;
        const u32 heads = __ballot_sync(ALL_LANES, !follows), behind = heads & (ALL_LANES << 1 << lane_id());
        const u32 head = 31 - leading_zeros(heads & (ALL_LANES >> (31 - lane_id()))), last = behind ? trailing_zeros(behind) - 1 : 31;
        const u64 all_end = __shfl_sync(ALL_LANES, end, last);
        return Chain{head, Far{far.word, far.weights, follows ? 0 : (u32)(all_end - far.word)}};
    }
};

// Fetches the requested lists over the bus into the region.
RIPPLET_FN void fetch(const Run& run, Phase phase) {
    constexpr bool WITH_WEIGHTS = WEIGHTED && !COMPRESSED;
    const LpState& state = run.state;
    const Streamed& streamed = state.streamed;
    const u64 warp = ((u64)blockIdx.x * BLOCK + threadIdx.x) / 32, warps = (u64)gridDim.x * (BLOCK / 32);
    u64 fetched = 0, unstaged = 0;
    const u32 count = min(streamed.use->wanted[phase.late], streamed.most_requested);
    const u32* const wanting = streamed.wanted + phase.late * streamed.most_requested;
    for (u64 item = 32 * warp; item < count; item += 32 * warps) {
        const bool is_listed = item + lane_id() < count;
        const u32 v = is_listed ? wanting[item + lane_id()] : 0;
        // A vertex that was requested twice has its list already.
        const bool wanted = is_listed && streamed.fetched[0][v] == REQUESTED;
        for (u32 side = 0; side < (DIRECTED ? 2 : 1); side++) {
            Far far = {};
            if (wanted) far = far_list(state, side, v);
            const bool is_long = Units::of(far.word, far.words).count > LONG_LIST;
            const Chain chain = Chain::of(far, is_long || far.words == 0);
            const Far& all = chain.all;
            const Units units = Units::of(all.word, all.words), weights = Units::of(all.weights, WITH_WEIGHTS ? all.words : 0);
            // Weights keep the alignment of 16 bytes that they have in the host's memory: `shift` words
            // behind that of the arcs.
            const u32 into = (u32)(all.word % 4), shift = WITH_WEIGHTS ? (u32)(all.weights - all.word) % 4 : 0;
            const u64 room = 4 * (units.count + (shift > 0 && units.count > 0));
            const u32 own = is_long ? 0 : (u32)room, until = warp_prefix_sum(own);
            const u64 begin = take_room(streamed, __shfl_sync(ALL_LANES, until, 31));
            const bool fits = begin < streamed.region_words;
            u64 at = begin + (until - own);
            bool is_staged = fits && !is_long;
            if (is_long) {
                // `fetch_long` runs once for a region. A long list of the second request (`PREFETCH_ALONE`) is
                // fetched on demand.
                at = streamed.prefetch == PREFETCH_ALONE ? streamed.region_words : atomicAdd(&streamed.use->words, room);
                is_staged = at + room <= streamed.region_words;
            }
            at += streamed.region;
            const u64 to = (streamed.stage + at) / 4, to_weights = (streamed.stage + streamed.weights_behind + at + into + shift) / 4;
            if (is_long && is_staged) {
                list_pieces(streamed, phase, units, to);
                if (WITH_WEIGHTS) list_pieces(streamed, phase, weights, to_weights);
            }
            if (fits) {
                copy_lists(is_long ? Units{0, 0} : units, to);
                if (WITH_WEIGHTS) copy_lists(is_long ? Units{0, 0} : weights, to_weights);
            }
            const u64 first_word = __shfl_sync(ALL_LANES, far.word, chain.head), first_at = __shfl_sync(ALL_LANES, at + into, chain.head);
            if (wanted) streamed.fetched[side][v] = is_staged ? (u32)(first_at + (far.word - first_word)) : UNFETCHED;
            if (is_staged) fetched += all.words;
            else unstaged += far.words;
        }
    }
    fetched = warp_sum(fetched);
    unstaged = warp_sum(unstaged);
    const u32 arrays = WITH_WEIGHTS ? 2 : 1;
    if (lane_id() > 0) return;
    if (fetched > 0) atomicAdd(&state.tallies->fetched, fetched * arrays);
    if (unstaged > 0) atomicAdd(&state.tallies->unstaged, unstaged * arrays);
}

// Marks the lists in the region as not fetched, so that the region can be reused.
RIPPLET_FN void forget(const Run& run) {
    const Streamed& streamed = run.state.streamed;
    const u32 threads = gridDim.x * BLOCK, start = blockIdx.x * BLOCK + threadIdx.x;
    for (u32 late = 0; late < 2; late++) {
        const u32 count = min(streamed.use->wanted[late], streamed.most_requested);
        for (u32 at = start; at < count; at += threads) {
            const u32 v = streamed.wanted[late * streamed.most_requested + at];
            for (u32 side = 0; side < (DIRECTED ? 2 : 1); side++) streamed.fetched[side][v] = UNFETCHED;
        }
    }
}

// Fetches the pieces of long lists, a warp per piece, four loads in flight per lane.
RIPPLET_FN void fetch_long(const Run& run, Phase phase) {
    constexpr u32 AT_ONCE = 4;
    const Streamed& streamed = run.state.streamed;
    const u32 count = streamed.use->long_pieces[phase.late];
    const u32 warp = (blockIdx.x * BLOCK + threadIdx.x) / 32, warps = gridDim.x * (BLOCK / 32);
    for (u32 item = warp; item < count; item += warps) {
        const LongPiece piece = streamed.long_pieces[phase.late * streamed.most_long_pieces + item];
        for (u64 first = lane_id(); first < piece.units; first += 32 * AT_ONCE) {
            uint4 values[AT_ONCE];
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++)
                if (first + 32 * index < piece.units) values[index] = *unit_at(piece.from + first + 32 * index);
#pragma unroll
            for (u32 index = 0; index < AT_ONCE; index++)
                if (first + 32 * index < piece.units) *(uint4*)unit_at(piece.to + first + 32 * index) = values[index];
        }
    }
}

// Requests the lists of active vertices that are scheduled in a coming phase, or in one of the phases after
// it.
//
// The vertices of a block that are scheduled in up to `stride` consecutive phases lie side by side. Their
// lists are requested together when the first of these phases comes next, and later for vertices activated
// meanwhile. When a round begins, most blocks are in the middle of such a sequence and request the next phase
// alone (`PREFETCH_ALONE`); these lists go to regions that the end of the round before left half empty.
RIPPLET_FN void request_lists(const Run& run, Phase phase) {
    const LpState& state = run.state;
    // Phase 0 is prefetched during the last phase of the round before, whose members request their own lists.
    const UnitSchedule schedule(state, state.round.index), before(state, state.round.index - 1);
    const bool begins = phase.index == 0;
    const u32 together = min(state.streamed.ahead, schedule.stride), size = 8 * together, prefetch = state.streamed.prefetch;
    const u64 stretch = 8ull * schedule.phases, first_unit = phase.first / stretch, units = (phase.end + stretch - 1) / stretch - first_unit;
    const u64 threads = (u64)gridDim.x * BLOCK, count = size * units, start = (u64)blockIdx.x * BLOCK + threadIdx.x;
    // All lanes of a warp must call `request_list`.
    for (u64 at = start; at - start % 32 < count; at += threads) {
        const u32 unit = (u32)(first_unit + at / size), number = schedule.unit_in(unit, phase.index);
        u64 first = at < count ? schedule.first_at(unit, number) : phase.end;
        if (phase.is_sparse && !may_be_active(state, phase, first, 8 * schedule.stride)) first = phase.end;
        const bool first_of_some = number % together == 0;
        const u32 phases = first_of_some ? min(together, schedule.phases - phase.index) : 1;
        const bool is_in_group = prefetch == PREFETCH_ALL || (prefetch == PREFETCH_TOGETHER) == first_of_some;
        const u32 behind = (u32)(at % together);
        const u64 v = first + behind + (u32)(at % size) / together * schedule.stride;
        bool wanted = is_in_group && behind < phases && v >= phase.first && v < phase.end && state.frontier.active[v];
        if (begins && wanted) wanted = !before.is_scheduled(v, schedule.phases - 1);
        request_list(state, phase, (u32)v, wanted);
    }
}

// Lists that the host copied together, of vertices of one shard in one direction: `word` is the first list's
// word in the host's memory, and `at` its word in the staging area.
struct Copied {
    u32 side, first, end, at;
    u64 word;
};

// Records where lists copied by range are in the staging area; a thread per vertex.
RIPPLET_FN void find_copied(const Run& run, const Copied& copied) {
    const LpState& state = run.state;
    const u64 threads = (u64)gridDim.x * BLOCK;
    for (u64 v = copied.first + (u64)blockIdx.x * BLOCK + threadIdx.x; v < copied.end; v += threads) {
        const u64 word = far_list(state, copied.side, (u32)v).word;
        state.streamed.fetched[copied.side][v] = copied.at + (u32)(word - copied.word);
    }
}

// Requests the lists of a part's changed vertices that activate their neighbours.
RIPPLET_FN void request_lists_of_changed(const Run& run, Phase phase) {
    const LpState& state = run.state;
    const u64 threads = (u64)gridDim.x * BLOCK, start = (u64)blockIdx.x * BLOCK + threadIdx.x;
    // All lanes of a warp must call `request_list`.
    for (u32 of_class = 0; of_class < LARGE; of_class++) {
        const Members members(state, of_class);
        const u32 count = state.tallies->members[phase.parity][of_class];
        for (u64 at = start; at - start % 32 < count; at += threads) {
            const u32 v = at < count ? members[(u32)at] : U32_MAX;
            request_list(state, phase, v, v != U32_MAX && is_launched(phase, v));
        }
    }
    const u32 count = state.tallies->members[phase.parity][LARGE];
    for (u64 at = start; at - start % 32 < count; at += threads) {
        const Large* large = at < count ? &state.large.records[at] : nullptr;
        const bool activates = large && large->outcome.activates && is_launched(phase, large->vertex);
        request_list(state, phase, activates ? large->vertex : 0, activates);
    }
}

// Lists of one direction that the host copied into the staging area: `count` of those requested on demand,
// from `first` on. Their places stand at the same indices of the (unused) prefetch requests.
struct Staged {
    u32 side, first, count;
};

// Records where lists copied by the host are in the staging area; a thread per list.
RIPPLET_FN void find_staged(const Run& run, Staged staged) {
    const Streamed& streamed = run.state.streamed;
    const u32 threads = gridDim.x * BLOCK;
    for (u32 at = blockIdx.x * BLOCK + threadIdx.x; at < staged.count; at += threads)
        streamed.fetched[staged.side][streamed.wanted[streamed.most_requested + staged.first + at]] = streamed.wanted[staged.first + at];
}

}  // namespace ripplet
