// Sizes of communities, where a run limits them: which choices of a phase are admitted.
//
// `sizes.rs` of `ripplet_lp::refine` defines it. The vertices of a phase choose at once, so that they may overfill a
// community. A *claim* is a choice of such a community.
//
//     claim       sizes of all choices are added to those of their communities
//     divide      choices --> changes, or claims if the community is now overfull
//     withdraw    sizes of claims are taken off again, and their vertices become active
//     sort        claims of a community side by side, by the hash of the vertex
//     admit       claims --> changes, one after the other, each that still fits
//
// For example, community 4 has room for 2 and is claimed by vertices of sizes 1, 2 and 1:
//
//     claims as vertex:label    6:4  3:4  8:9  7:4      sorted    3:4  7:4  6:4 | 8:9
//     sizes                      1    1    5    2                  1    2    1  |  5
//     admitted                                                     *         *  |  *      vertex 7 does not fit
//
// Mapping: claim, divide and withdraw take a thread per choice, in a loop of the grid; admit takes a warp per
// community. The sort is bitonic: a block sorts `SORTED` claims in shared memory, and wider steps take a thread per
// pair. Shared memory: `SORTED` claims. Batcher, Sorting networks and their applications (1968), with the first step of
// each merge flipped, so that all pairs are ordered alike.
#pragma once

namespace ripplet {

// Claims that a block has in shared memory: a thread compares one pair in each step, so two for each thread. 4 KiB. Not
// measured against others.
constexpr u32 SORTED = 2 * BLOCK;

RIPPLET_FN u32 choices_of(const Work& work) { return work.counters->chosen[work.phase]; }
RIPPLET_FN u32 claims_of(const Work& work) { return work.counters->claims[work.phase]; }

RIPPLET_FN Change choice_at(const Work& work, u32 index) {
    return unpacked(work.choices[work.counters->starts[work.phase * CLASSES] + index]);
}

RIPPLET_FN void claim(const Work& work) {
    const u32 count = choices_of(work);
    for (u32 index = first_item(); index < count; index += next_item()) {
        const Change choice = choice_at(work, index);
        // A vertex chooses no community that it is in, so that no sum exceeds the number of vertices.
        atomicAdd(work.partition.sizes + choice.label, work.level.sizes[choice.vertex]);
    }
}

RIPPLET_FN void append_admitted(const Work& work, Change change, bool has) {
    append_change(work, work.changes, work.counters->changed, change.vertex, change.label, has);
}

RIPPLET_FN void divide(const Work& work) {
    const u32 count = choices_of(work);
    // All lanes of a warp make as many steps.
    for (u32 base = blockIdx.x * blockDim.x; base < count; base += next_item()) {
        const u32 index = base + threadIdx.x;
        const bool has = index < count;
        const Change choice = has ? choice_at(work, index) : Change{0, 0};
        const bool is_claim = has && work.partition.sizes[choice.label] > work.most_size;
        const u32 place = append(work.counters->claims + work.phase, is_claim);
        if (is_claim) work.claims[place] = (u64)choice.vertex << 32 | choice.label;
        append_admitted(work, choice, has && !is_claim);
    }
}

RIPPLET_FN void withdraw(const Work& work) {
    const u32 count = claims_of(work);
    for (u32 index = first_item(); index < count; index += next_item()) {
        const Change claim = unpacked(work.claims[index]);
        atomicAdd(work.partition.sizes + claim.label, 0 - work.level.sizes[claim.vertex]);
        work.partition.active[claim.vertex] = 1;
    }
}

// The place of a claim in the order: its label, then the hash of its vertex. No two claims have the same.
RIPPLET_FN u64 rank_of(const Work& work, u64 packed) {
    const Change claim = unpacked(packed);
    return (u64)claim.label << 32 | mix(claim.vertex ^ work.tie_key);
}

// Puts two of `count` claims in order, if there are both. A claim behind the last one counts as larger than all, and
// would stay where it is.
RIPPLET_FN void put_in_order(const Work& work, u64* claims, u32 count, u32 low, u32 high) {
    if (high >= count) return;
    const u64 first = claims[low], second = claims[high];
    if (rank_of(work, first) < rank_of(work, second)) return;
    claims[low] = second;
    claims[high] = first;
}

// The steps of a bitonic sort, each of which takes pairs by number. Two sorted halves of `width` claims become one
// sorted list by a flip of this width, and then steps of a quarter of it, an eighth, …, 1:
//
//     flip, width 8   0-7  1-6  2-5  3-4         step, distance 2   0-2  1-3  4-6  5-7
RIPPLET_FN void flip(const Work& work, u64* claims, u32 count, u32 pair, u32 width) {
    const u32 half = width / 2, begin = pair / half * width, at = pair % half;
    put_in_order(work, claims, count, begin + at, begin + width - 1 - at);
}
RIPPLET_FN void step(const Work& work, u64* claims, u32 count, u32 pair, u32 distance) {
    const u32 low = pair / distance * distance * 2 + pair % distance;
    put_in_order(work, claims, count, low, low + distance);
}

// Sorts each `SORTED` claims, or makes the last steps on them.
template <bool SORTS> RIPPLET_FN void order_by_block(const Work& work) {
    u64* claims = (u64*)shared_memory();
    const u32 all = claims_of(work);
    for (u32 first = blockIdx.x * SORTED; first < all; first += gridDim.x * SORTED) {
        const u32 count = min(SORTED, all - first);
        for (u32 at = threadIdx.x; at < count; at += BLOCK) claims[at] = work.claims[first + at];
        __syncthreads();
        for (u32 width = SORTS ? 2 : 2 * SORTED; width <= (SORTS ? SORTED : 2 * SORTED); width *= 2) {
            if (SORTS) {
                flip(work, claims, count, threadIdx.x, width);
                __syncthreads();
            }
            for (u32 distance = width / 4; distance > 0; distance /= 2) {
                step(work, claims, count, threadIdx.x, distance);
                __syncthreads();
            }
        }
        for (u32 at = threadIdx.x; at < count; at += BLOCK) work.claims[first + at] = claims[at];
        __syncthreads();
    }
}

// The pairs of a step on all claims, as far as claims of their block of `width` exist.
RIPPLET_FN u32 pairs_of(u32 claims, u32 width) { return (claims / width + (claims % width != 0)) * (width / 2); }

RIPPLET_FN void flip_claims(const Work& work) {
    const u32 count = claims_of(work), pairs = pairs_of(count, work.width);
    for (u32 pair = first_item(); pair < pairs; pair += next_item()) flip(work, work.claims, count, pair, work.width);
}

RIPPLET_FN void step_claims(const Work& work) {
    const u32 count = claims_of(work), pairs = pairs_of(count, work.width);
    for (u32 pair = first_item(); pair < pairs; pair += next_item())
        step(work, work.claims, count, pair, work.width / 2);
}

// Admits the claims of a community, the first of which is at `first`; all lanes of a warp call it.
RIPPLET_FN void admit_to(const Work& work, u32 label, u32 first, u32 count) {
    u32 room = work.most_size - work.partition.sizes[label];
    bool are_more = true;
    // A vertex is not smaller than 1.
    for (u32 base = first; are_more && room > 0; base += 32) {
        const u32 index = base + lane_id();
        const Change claim = index < count ? unpacked(work.claims[index]) : Change{0, U32_MAX};
        const bool has = claim.label == label;
        const u32 size = has ? work.level.sizes[claim.vertex] : 0;
        bool is_admitted = false;
        // The first lane that fits is admitted, then the first behind it that still fits.
        u32 behind = ALL_LANES;
        for (;;) {
            const u32 fitting = __ballot_sync(ALL_LANES, has && size <= room) & behind;
            if (fitting == 0) break;
            const u32 lane = (u32)__ffs((int)fitting) - 1;
            is_admitted = is_admitted || lane == lane_id();
            room -= __shfl_sync(ALL_LANES, size, (int)lane);
            behind = lane == 31 ? 0 : ALL_LANES << (lane + 1);
        }
        if (is_admitted) work.partition.active[claim.vertex] = (unsigned char)work.keeps_active;
        append_admitted(work, claim, is_admitted);
        are_more = __ballot_sync(ALL_LANES, has) == ALL_LANES;
    }
    if (lane_id() == 0) work.partition.sizes[label] = work.most_size - room;
}

RIPPLET_FN void admit(const Work& work) {
    const u32 count = claims_of(work);
    for (u32 base = first_item() - lane_id(); base < count; base += next_item()) {
        const u32 index = base + lane_id();
        const u32 label = index < count ? unpacked(work.claims[index]).label : U32_MAX;
        const u32 before = 0 < index && index < count ? unpacked(work.claims[index - 1]).label : U32_MAX;
        // Lanes with the first claim of a community.
        u32 first = __ballot_sync(ALL_LANES, label != before);
        while (first != 0) {
            const u32 lane = (u32)__ffs((int)first) - 1;
            admit_to(work, __shfl_sync(ALL_LANES, label, (int)lane), base + lane, count);
            first &= first - 1;
        }
    }
}

}  // namespace ripplet

RIPPLET_STEP(claim, 256, 4, claim)
RIPPLET_STEP(divide, 256, 4, divide)
RIPPLET_STEP(withdraw, 256, 4, withdraw)
RIPPLET_STEP(sort_claims, 256, 4, order_by_block<true>)
RIPPLET_STEP(flip_claims, 256, 4, flip_claims)
RIPPLET_STEP(step_claims, 256, 4, step_claims)
RIPPLET_STEP(merge_claims, 256, 4, order_by_block<false>)
RIPPLET_STEP(admit, 256, 4, admit)
