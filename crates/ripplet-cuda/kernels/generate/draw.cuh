// The transactions' ends in a shard: a thread a stub, and a thread a pair of a ring.
#pragma once

namespace ripplet {

// The finalizer of SplitMix64.
RIPPLET_FN u64 mix(u64 value) {
    u64 z = value + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// The quotient, and what is left of the number.
RIPPLET_FN u64 divide(const Divisor& divisor, u64* number) {
    const u64 quotient = __umul64hi(*number, divisor.reciprocal);
    *number -= quotient * divisor.by;
    if (*number < divisor.by) return quotient;
    *number -= divisor.by;
    return quotient + 1;
}

// --- A day's permutation, both ways ---

RIPPLET_FN u64 image_of(const Permutation& all, u64 value) {
    do {
        for (u32 round = 0; round < ROUNDS; round++) {
            const u64 key = __ldg(all.keys + round);
            value = (value ^ (key >> 32)) & all.mask;
            value = value * (key | 1) & all.mask;
            value ^= value >> all.shift;
        }
    } while (value >= all.count);
    return value;
}

RIPPLET_FN u64 origin_of(const Permutation& all, u64 value) {
    do {
        for (u32 round = ROUNDS; round-- > 0;) {
            value ^= value >> all.shift;
            value = value * __ldg(all.inverses + round) & all.mask;
            value = (value ^ (__ldg(all.keys + round) >> 32)) & all.mask;
        }
    } while (value >= all.count);
    return value;
}

// --- Stubs ---

// The vertex whose a stub is.
RIPPLET_FN u32 owner_of(const Crowd& crowd, u32 day, u64 stub) {
    const Day& share = crowd.days[day];
    if (stub < share.newcomers) return crowd.first + share.first + (u32)stub;
    u64 place = share.offset + (stub - share.newcomers) * share.gap;
    const u64 block = divide(crowd.block, &place);
    u32 member = __ldg(crowd.guide + (place >> crowd.step));
    while (__ldg(crowd.before + member + 1) <= place) member++;
    return crowd.first + (u32)(block << crowd.bits) + member;
}

// The vertex at the other end of a stub's transaction.
RIPPLET_FN u32 partner_of(const State& state, u32 side, u32 day, u64 stub) {
    const Permutation& pairing = state.pairings[day];
    const u64 other = side == 0 ? image_of(pairing, stub) : origin_of(pairing, stub);
    return owner_of(state.crowds[1 - side], day, other);
}

// One of the stubs that are drawn, and whose it is, counted from the shard's first vertex; nobody's behind the last.
struct Stub {
    u64 number;
    u32 side, day, owner;

    RIPPLET_FN Stub(const State& state, u64 index) : number(0), side(0), day(0), owner(U32_MAX) {
        if (index >= state.stub_count) return;
        u32 low = 0, high = state.stub_ranges - 1;
        while (low < high) {
            const u32 middle = high - (high - low) / 2;
            if (__ldg(&state.stubs[middle].before) <= index)
                low = middle;
            else
                high = middle - 1;
        }
        const Stubs& range = state.stubs[low];
        side = range.side;
        day = range.day;
        number = range.first + (index - range.before);
        owner = owner_of(state.crowds[side], day, number) - state.first;
    }
};

// Adds 1 for each lane of a warp to the count of its owner, if there is one, and gives what the lane has found there.
// Neighbouring lanes mostly have one owner, and then one of them adds for all.
//
//     owners   4 4 4 7 7 4 9 -        four lanes add: 3, 2, 1 and 1
RIPPLET_FN u32 add_one(u32* counts, u32 owner) {
    const u32 lane = lane_id(), left = __shfl_up_sync(ALL_LANES, owner, 1);
    const u32 heads = __ballot_sync(ALL_LANES, lane == 0 || left != owner);
    const u32 until_me = U32_MAX >> (31 - lane);
    const u32 head = 31 - leading_zeros(heads & until_me);
    const u32 behind = heads & ~until_me;
    const u32 end = behind == 0 ? 32 : (u32)__ffs((int)behind) - 1;
    u32 found = 0;
    if (lane == head && owner != U32_MAX) found = atomicAdd(counts + owner, end - head);
    return __shfl_sync(ALL_LANES, found, (int)head) + (lane - head);
}

RIPPLET_FN void count_stubs(const State& state, u64 index) {
    add_one(state.begins + 1, Stub(state, index).owner);
}

RIPPLET_FN void place_stubs(const State& state, u64 index) {
    const Stub stub(state, index);
    const u32 at = add_one(state.begins + 1, stub.owner);
    if (stub.owner != U32_MAX) state.lists[at] = partner_of(state, stub.side, stub.day, stub.number);
}

// --- Rings ---

// How often the buyer of a pair of a ring buys its item.
RIPPLET_FN u32 times_of(const Ring& ring, u32 buyer, u32 item) {
    u32 times = 0;
    for (u32 day = ring.first_day; day < ring.end_day; day++) {
        const u64 which = (u64)day << 16 | buyer << 8 | item;
        times += mix(ring.key ^ mix(which)) < ring.chance;
    }
    return times;
}

// Calls `visit(owner, other, times)` for those ends of a pair that are in the shard.
template <class Visit> RIPPLET_FN void visit_pair(const State& state, u64 index, Visit visit) {
    const u64 number = index / PAIRS;
    if (number >= state.ring_count) return;
    const Ring& ring = state.rings[number];
    const u32 pair = (u32)(index % PAIRS), buyer = pair / MOST_ITEMS, item = pair % MOST_ITEMS;
    if (buyer >= ring.buyers || item >= ring.items) return;
    const u32 buys = ring.members[buyer], bought = ring.members[ring.buyers + item];
    const bool has_buyer = buys - state.first < state.vertices;
    const bool has_item = bought - state.first < state.vertices;
    if (!has_buyer && !has_item) return;
    const u32 times = times_of(ring, buyer, item);
    if (has_buyer) visit(buys - state.first, bought, times);
    if (has_item) visit(bought - state.first, buys, times);
}

RIPPLET_FN void count_ring_sales(const State& state, u64 index) {
    visit_pair(state, index, [&](u32 owner, u32, u32 times) { atomicAdd(state.begins + 1 + owner, times); });
}

RIPPLET_FN void place_ring_sales(const State& state, u64 index) {
    visit_pair(state, index, [&](u32 owner, u32 other, u32 times) {
        const u32 at = atomicAdd(state.begins + 1 + owner, times);
        for (u32 which = 0; which < times; which++) state.lists[at + which] = other;
    });
}

}  // namespace ripplet
