// Hubs: the vertices of highest degree, as many as a triangular bit matrix has room for. Whether two of them
// are neighbours is one lookup, and most pairs in long lists are pairs of hubs.
//
//     row 0  .
//     row 1  1 .                 row i has a bit for each hub of a lower number, in words of 32 bits
//     row 2  0 1 .
//
// Mapping: `count_degrees` takes 4096 vertices per block, with 1024 bins in shared memory; `find_hubs` and
// `number_hubs` have a thread per vertex and per hub; `set_bits` has a block per hub.
//
// Hubs come before all other vertices in the order by degree, so a hub's list has only hubs. The bit matrix has no
// paper (docs/adr/0009-clustering-coefficients.md).
#pragma once

namespace ripplet {

// Bins of degrees: by exponent and the five bits behind the highest, so that 32 exponents have 32 bins each, and a
// bin's degrees differ by a 32nd at most. Vertices of degree below 32 are no hubs, as they have no five bits behind
// the highest.
constexpr u32 BINS = 1024, LEAST_DEGREE = 32;
// Vertices whose degrees a block counts: 16 per thread, which then clears and adds 4 bins. Not measured against others.
constexpr u32 BINNED = 4096;

RIPPLET_FN u32 bin_of(u32 degree) {
    const u32 exponent = 31 - leading_zeros(degree);
    return exponent * 32 + (degree >> (exponent - 5) & 31);
}

RIPPLET_FN void count_degrees(const State& state, u64 block) {
    u32* bins = (u32*)shared_memory();
    for (u32 bin = threadIdx.x; bin < BINS; bin += BLOCK) bins[bin] = 0;
    __syncthreads();
    const u64 first = block * BINNED, end = min((u64)state.vertices, first + BINNED);
    u64 all = 0;
    for (u64 v = first + threadIdx.x; v < end; v += BLOCK) {
        const u32 degree = state.degrees[v];
        all += degree;
        if (degree >= LEAST_DEGREE) atomicAdd(bins + bin_of(degree), 1u);
    }
    all = warp_sum(all);
    if (lane_id() == 0 && all > 0) atomicAdd(&state.tallies->neighbors, all);
    __syncthreads();
    for (u32 bin = threadIdx.x; bin < BINS; bin += BLOCK)
        if (bins[bin] > 0) atomicAdd(&state.tallies->bins[bin], bins[bin]);
}

RIPPLET_FN void find_hubs(const State& state, u64 block) {
    const u64 v = block * BLOCK + threadIdx.x;
    if (v < state.vertices && state.degrees[v] >= state.hub_degree)
        state.found[atomicAdd(&state.tallies->hubs, 1u)] = (u32)v;
}

// Numbers the hubs by id, as lists are in the order of ids. A thread per hub counts the smaller ids, a tile
// of 256 in shared memory at a time.
RIPPLET_FN void number_hubs(const State& state, u64 block) {
    u32* tile = (u32*)shared_memory();
    const u32 count = state.tallies->hubs;
    const u64 mine = block * BLOCK + threadIdx.x;
    const u32 id = mine < count ? state.found[mine] : 0;
    u32 number = 0;
    for (u32 first = 0; first < count; first += BLOCK) {
        const u32 at = first + threadIdx.x;
        tile[threadIdx.x] = at < count ? state.found[at] : U32_MAX;
        __syncthreads();
        for (u32 other = 0; other < BLOCK; other++) number += tile[other] < id;
        __syncthreads();
    }
    if (mine >= count) return;
    state.hubs[number] = id;
    state.numbers[id] = number;
}

// --- Names: lists have names in place of ids. A hub's name has its number, and lies behind all ids ---

constexpr u32 HUBS_FROM = U32_MAX - 65536;

RIPPLET_FN bool is_hub(u32 name) { return name >= HUBS_FROM && name != U32_MAX; }

RIPPLET_FN u32 name_of(const State& state, u32 v) {
    const bool is_hub = __ldg(state.degrees + v) >= state.hub_degree;
    return is_hub ? HUBS_FROM + state.numbers[v] : v;
}

RIPPLET_FN u32 vertex_of(const State& state, u32 name) {
    return name < HUBS_FROM ? name : __ldg(state.hubs + (name - HUBS_FROM));
}

// --- The bit matrix: row i has a bit for each hub of a lower number ---

// The word with the bit of hub `lower` in a row.
RIPPLET_FN u32 word_of(u32 row, u32 lower) {
    const u32 group = row / 32;
    return 16 * group * (group + 1) + row % 32 * (group + 1) + lower / 32;
}

// Sets the bits of a hub's neighbours; a block per hub.
RIPPLET_FN void set_bits(const State& state, u64 block) {
    const u32 mine = (u32)block, v = state.hubs[mine];
    const EdgeNumber begin = state.begins[v], end = state.begins[v + 1];
    for (EdgeNumber edge = begin + threadIdx.x; edge < end; edge += BLOCK) {
        const u32 other = state.targets[edge] - HUBS_FROM;
        const u32 word = word_of(max(mine, other), min(mine, other));
        const u32 bit = 1u << (min(mine, other) % 32);
        atomicOr(state.bits + word, bit);
        if (DIRECTED && (state.reciprocal[edge / 32] >> (edge % 32) & 1))
            atomicOr(state.both_bits + word, bit);
    }
}

// The number of arcs between two hubs, 0 to 2; `row` has the higher number.
RIPPLET_FN u32 arcs_between(const State& state, u32 row, u32 lower) {
    const u32 word = word_of(row, lower);
    if (!(__ldg(state.bits + word) >> (lower % 32) & 1)) return 0;
    return RULE == PLAIN ? 1 : 1 + (__ldg(state.both_bits + word) >> (lower % 32) & 1);
}

}  // namespace ripplet
