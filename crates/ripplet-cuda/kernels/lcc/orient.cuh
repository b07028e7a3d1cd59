// Orientation of the graph: each edge is kept once, in the list of its vertex that comes later in the order
// by degree. The lists are the graph's arcs, in their order, without those that do not represent an edge or
// lead to a later vertex. So no list is sorted. A block takes `PIECE` consecutive arcs, whatever vertices
// they belong to.
//
//     arcs  --count_listed-->  kept per piece  --sum_listed-->  offsets  --list_edges-->  targets, begins
//
// Mapping: a block of 256 threads per piece, a thread per arc in each of 8 steps; `sum_listed` is one block. Shared
// memory: a count per warp, or per step and warp. Schank and Wagner, Finding, counting and listing all triangles in
// large graphs (2005): the order by degree of "forward".
#pragma once

namespace ripplet {

// The arcs of a piece, in steps of one arc per thread.
struct Arcs {
    u64 first, end;
    u32 low, high;

    RIPPLET_FN Arcs(const State& state, u64 piece)
        : first(piece * PIECE), end(min(state.arcs, first + PIECE)), low(state.owners[piece]),
          high(state.owners[piece + 1]) {}
    // Whether a thread has an arc at a step; there is none behind the last.
    RIPPLET_FN bool has(u32 step) const { return at(step) < end; }
    RIPPLET_FN u64 at(u32 step) const { return first + step * BLOCK + threadIdx.x; }
    RIPPLET_FN u32 owner(const State& state, u32 step) const {
        return owner_of(state, at(step), low, high);
    }
};

RIPPLET_FN void find_owners(const State& state, u64 block) {
    const u64 piece = block * BLOCK + threadIdx.x;
    if (piece > state.pieces) return;
    const u32 last = state.vertices - 1;
    state.owners[piece] = piece < state.pieces ? owner_of(state, piece * PIECE, 0, last) : last;
}

// Counts each vertex's neighbours, or only those with arcs in both directions.
RIPPLET_FN void count_neighbors(const State& state, u64 piece, u32* counts, bool both_alone) {
    const Arcs arcs(state, piece);
    for (u32 step = 0; step < STEPS; step++) {
        u32 owner = U32_MAX;
        bool counts_here = false;
        if (arcs.has(step)) {
            owner = arcs.owner(state, step);
            const Neighbor found = neighbor_at(state, owner, arcs.at(step));
            counts_here = found.counts && (found.both || !both_alone);
        }
        // Lanes with the same owner are added first, for one atomic.
        const u32 alike = __match_any_sync(ALL_LANES, owner);
        const u32 counted = __ballot_sync(ALL_LANES, counts_here) & alike;
        if (counted != 0 && lane_id() == (u32)__ffs((int)alike) - 1)
            atomicAdd(counts + owner, (u32)__popc(counted));
    }
}

// Whether u comes before v in the order by degree.
RIPPLET_FN bool precedes(const State& state, u32 u, u32 v) {
    const u32 of_u = __ldg(state.degrees + u), of_v = __ldg(state.degrees + v);
    return of_u > of_v || (of_u == of_v && u < v);
}

// The arc of a thread at a step, and whether it is kept.
struct Candidate {
    u32 owner;
    Neighbor neighbor;
    bool is_listed;

    RIPPLET_FN Candidate(const State& state, const Arcs& arcs, u32 step)
        : owner(0), neighbor(), is_listed(false) {
        if (!arcs.has(step)) return;
        owner = arcs.owner(state, step);
        neighbor = neighbor_at(state, owner, arcs.at(step));
        is_listed = neighbor.counts && precedes(state, neighbor.id, owner);
    }
};

RIPPLET_FN void count_listed(const State& state, u64 piece) {
    u32* of_warps = (u32*)shared_memory();
    const Arcs arcs(state, piece);
    u32 mine = 0;
    for (u32 step = 0; step < STEPS; step++) mine += Candidate(state, arcs, step).is_listed;
    mine = warp_sum(mine);
    if (lane_id() == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        const u32 all = warp_sum(lane_id() < WARPS ? of_warps[lane_id()] : 0);
        if (lane_id() == 0) state.listed[piece] = all;
    }
}

// Replaces the number of kept edges of each piece by their exclusive prefix sum; one block.
RIPPLET_FN void sum_listed(const State& state) {
    u64* of_warps = (u64*)shared_memory();
    const u64 each = (state.pieces + BLOCK - 1) / BLOCK;
    const u64 first = min(state.pieces, threadIdx.x * each), end = min(state.pieces, first + each);
    u64 mine = 0;
    for (u64 piece = first; piece < end; piece++) mine += state.listed[piece];
    u64 before = sum_before(mine);
    if (lane_id() == 31) of_warps[threadIdx.x / 32] = before + mine;
    __syncthreads();
    for (u32 warp = 0; warp < threadIdx.x / 32; warp++) before += of_warps[warp];
    for (u64 piece = first; piece < end; piece++) {
        const u64 listed = state.listed[piece];
        state.listed[piece] = before;
        before += listed;
    }
    if (threadIdx.x == BLOCK - 1) {
        state.listed[state.pieces] = before;
        state.tallies->edges = before;
    }
}

RIPPLET_FN void list_edges(const State& state, u64 piece) {
    // By step and warp: the number of kept edges, then its exclusive prefix sum.
    u32* counts = (u32*)shared_memory();
    static_assert(STEPS * WARPS == 64, "two for each lane of a warp");
    const Arcs arcs(state, piece);
    u32 names[STEPS], owners[STEPS], ranks[STEPS];
    u32 listed = 0, both = 0, first = 0;
#pragma unroll
    for (u32 step = 0; step < STEPS; step++) {
        const Candidate found(state, arcs, step);
        const u32 all = __ballot_sync(ALL_LANES, found.is_listed);
        if (lane_id() == 0) counts[step * WARPS + threadIdx.x / 32] = __popc(all);
        names[step] = found.is_listed ? name_of(state, found.neighbor.id) : 0;
        owners[step] = found.owner;
        ranks[step] = __popc(all & ((1u << lane_id()) - 1));
        listed |= (u32)found.is_listed << step;
        both |= (u32)found.neighbor.both << step;
        first |= (u32)found.neighbor.is_first << step;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const u32 even = counts[2 * lane_id()], odd = counts[2 * lane_id() + 1];
        const u32 before = sum_before(even + odd);
        counts[2 * lane_id()] = before;
        counts[2 * lane_id() + 1] = before + even;
    }
    __syncthreads();
    const u64 begin = state.listed[piece];
#pragma unroll
    for (u32 step = 0; step < STEPS; step++) {
        const u64 at = begin + counts[step * WARPS + threadIdx.x / 32] + ranks[step];
        if (first >> step & 1) state.begins[owners[step]] = (EdgeNumber)at;
        if (!(listed >> step & 1)) continue;
        state.targets[at] = names[step];
        if (DIRECTED && (both >> step & 1)) atomicOr(state.reciprocal + at / 32, 1u << (at % 32));
    }
}

// Sets the begins of vertices without arcs, whose lists begin where the next list does.
RIPPLET_FN void list_empty(const State& state, u64 block) {
    const u64 at = block * BLOCK + threadIdx.x;
    if (at > state.vertices) return;
    const u32 v = (u32)at;
    const u64 end = state.tallies->edges;
    if (v == state.vertices) {
        state.begins[v] = (EdgeNumber)end;
        return;
    }
    const Place place = place_of(state, v);
    if (place.out_degree + (u64)place.in_degree > 0) return;
    const u64 next = place.first();
    state.begins[v] = next < state.arcs
        ? state.begins[owner_of(state, next, v, state.vertices - 1)]
        : (EdgeNumber)end;
}

}  // namespace ripplet
