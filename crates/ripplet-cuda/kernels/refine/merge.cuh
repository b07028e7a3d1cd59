// Merging: communities join the neighbouring one that has most of their votes, as `merge.rs` of `ripplet_lp::refine`
// defines it, and are divided into connected parts.
//
//     divide     every vertex alone | unite the ends of each arc within a community | flatten: each has its root
//     choose     as in `choose.cuh`: sum up the arcs' weights by label | the eligible label of the largest sum
//     name       the community of each vertex of the input, composed up the levels; its smallest vertex
//
// Trees of vertices: the parent of a vertex is never larger than it, and a root is its own parent. Threads link the
// larger of two roots below the smaller one. So the root of a part is its smallest vertex, in any order of the threads.
//
//     parents of 0-4     | 0 1 2 3 4 |     | 0 1 2 3 2 |     | 0 1 1 3 2 |     | 0 1 1 3 1 |
//                        each alone        arc 2-4           arc 1-2           flattened
//
// Mapping: 8 lanes per vertex to unite, a warp for lists of more than 256 arcs, and a block for those above
// `LONG_LIST`; the mappings of `choose.cuh` to choose; a thread per vertex for the other steps, all in a loop of the
// grid. Shared memory: none, but for the tables of a choice.
//
// Jayanti and Tarjan, A randomized concurrent algorithm for disjoint set union (PODC 2016): links by compare-and-swap;
// there, roots are in a drawn order. The rule of merging is ours (docs/adr/0025-merging.md).
#pragma once

namespace ripplet {

RIPPLET_FN u32 parent_of(const u32* parents, u32 v) { return ((const volatile u32*)parents)[v]; }

// The root of a vertex; halves the path to it. Every thread that writes here writes an ancestor.
RIPPLET_FN u32 root_of(u32* parents, u32 v) {
    for (;;) {
        const u32 parent = parent_of(parents, v);
        if (parent == v) return v;
        const u32 above = parent_of(parents, parent);
        if (above == parent) return parent;
        ((volatile u32*)parents)[v] = above;
        v = above;
    }
}

RIPPLET_FN void unite(u32* parents, u32 a, u32 b) {
    for (;;) {
        a = root_of(parents, a);
        b = root_of(parents, b);
        if (a == b) return;
        const u32 smaller = min(a, b), larger = max(a, b);
        if (atomicCAS(parents + larger, larger, smaller) == larger) return;
    }
}

RIPPLET_FN void stand_alone(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) work.partition.labels[v] = v;
}

// Unites a vertex with every `stride`-th neighbour of its community from `first` on. Arcs of weight 0 connect, too.
RIPPLET_FN void unite_with_neighbors(const Work& work, u32 v, u32 community, u32 first, u32 stride) {
    const u64 begin = work.level.begins[v];
    const u32 degree = work.level.degrees[v];
    for (u32 index = first; index < degree; index += stride) {
        const u32 u = work.level.ids[begin + index];
        // Each arc is in the lists of both of its ends.
        if (u < v && work.communities[u] == community) unite(work.partition.labels, u, v);
    }
}

// Lists above `LONG_LIST` are left to `unite_long`.
RIPPLET_FN void unite_neighbors(const Work& work) {
    // The bound of `read_lists`: 32 steps of 8 lanes. Not measured against others.
    constexpr u32 SHORT = 256;
    each_vertex(work, [&](u32 v) {
        const bool has = v < work.level.vertices;
        const u32 degree = has ? work.level.degrees[v] : 0, community = has ? work.communities[v] : 0;
        const bool leads = threadIdx.x % READING == 0;
        const bool is_long = degree > LONG_LIST;
        const u32 place = append(work.counters->long_changed, is_long && leads);
        if (is_long && leads) work.long_changes[place] = v;
        if (degree <= SHORT && has) unite_with_neighbors(work, v, community, threadIdx.x % READING, READING);
        u32 longer = __ballot_sync(ALL_LANES, degree > SHORT && !is_long && leads);
        while (longer != 0) {
            const int lane = __ffs((int)longer) - 1;
            const u32 its = __shfl_sync(ALL_LANES, v, lane), of = __shfl_sync(ALL_LANES, community, lane);
            unite_with_neighbors(work, its, of, lane_id(), 32);
            longer &= longer - 1;
        }
    });
}

RIPPLET_FN void unite_long(const Work& work) {
    const u32 count = work.counters->long_changed[0];
    for (u32 number = blockIdx.x; number < count; number += gridDim.x) {
        const u32 v = work.long_changes[number];
        unite_with_neighbors(work, v, work.communities[v], threadIdx.x, blockDim.x);
    }
}

// Gives each vertex its root. Paths are not halved: a thread would replace the root of a vertex that is done by another
// ancestor.
RIPPLET_FN void flatten(const Work& work) {
    u32* parents = work.partition.labels;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        u32 root = v;
        for (u32 parent = parent_of(parents, root); parent != root; parent = parent_of(parents, root)) root = parent;
        ((volatile u32*)parents)[v] = root;
    }
}

// Whether one number of 128 bits is at least as large as another.
RIPPLET_FN bool is_at_least(u64 high, u64 low, u64 other_high, u64 other_low) {
    return high > other_high || (high == other_high && low >= other_low);
}

// A community while it chooses whether to join another. Its gain is the weight of the arcs between them.
struct Merger {
    using Gain = Gain64;
    static constexpr bool IS_OF_PARTS = false;

    u32 v, own, degree;
    u64 mass;

    RIPPLET_FN Merger(const Work& work, u32 v, bool has) : v(v), own(0), degree(0), mass(0) {
        if (!has) return;
        own = work.partition.labels[v];
        mass = work.level.masses[v];
        degree = work.level.degrees[v];
    }

    RIPPLET_FN u64 sum_up(const Work& work, Table table, u32 first, u32 stride) const {
        if (degree == 0) return 0;
        each_arc(work.level, v, first, stride,
                 [&](u32 u, u64 weight) { table.add(work.partition.labels[u], weight); });
        return 0;
    }

    RIPPLET_FN bool is_eligible(const Work& work, u32 label, u64 weight) const {
        const u64 share = work.share, chance = work.partition.totals[label], grand = work.grand_total;
        return is_at_least(weight >> 48, weight << 16, __umul64hi(mass, share), mass * share) &&
               is_at_least(__umul64hi(weight, grand), weight * grand, __umul64hi(mass, chance), mass * chance);
    }

    RIPPLET_FN Best<Gain64> best_of(const Work& work, Table table, u32 first, u32 stride, u64& own_weight) const {
        Best<Gain64> best;
        if (degree == 0) return best;
        for (u32 slot = first; slot < table.slots(); slot += stride) {
            const u32 label = table.keys[slot];
            if (label == FREE) continue;
            const u64 weight = table.sums[slot];
            if (label == own)
                own_weight = weight;
            else if (is_eligible(work, label, weight))
                best.take(Best<Gain64>(Gain64{(i64)weight}, label, mix(label ^ mix(v ^ work.tie_key))));
        }
        return best;
    }

    RIPPLET_FN u32 decide(const Work&, const Best<Gain64>& best, u64 own_weight, u64) const {
        return best.exists && own_weight < (u64)best.gain.value ? best.label : own;
    }

    RIPPLET_FN u64 scanned(const Work&, bool has_changed) const { return (u64)degree << has_changed; }
};

// Every vertex of the input is in the vertex of its own number.
RIPPLET_FN void start_names(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) work.communities[v] = v;
}

// Replaces the vertex of the level below that each vertex of the input is in by its part.
RIPPLET_FN void compose(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item())
        work.communities[v] = work.contraction.part_of[work.communities[v]];
}

// The smallest vertex of each community; `names` are the largest number before.
RIPPLET_FN void find_names(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        u32* name = work.contraction.names + work.communities[v];
        if (*(volatile u32*)name > v) atomicMin(name, v);
    }
}

RIPPLET_FN void give_names(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item())
        work.communities[v] = work.contraction.names[work.communities[v]];
}

}  // namespace ripplet

RIPPLET_STEP(stand_alone, 256, 4, stand_alone)
RIPPLET_STEP(unite_neighbors, 256, 4, unite_neighbors)
RIPPLET_STEP(unite_long, 256, 4, unite_long)
RIPPLET_STEP(flatten, 256, 4, flatten)
RIPPLET_STEP(start_names, 256, 4, start_names)
RIPPLET_STEP(compose, 256, 4, compose)
RIPPLET_STEP(find_names, 256, 4, find_names)
RIPPLET_STEP(give_names, 256, 4, give_names)
RIPPLET_CHOOSE(merge, ripplet::Merger)
