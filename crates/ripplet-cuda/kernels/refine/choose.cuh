// Vertices of a phase choose a label: a community in a move round, a part in a subdivision.
//
//     clear the table | sum up the arcs' weights by label | score every label | reduce | record a change
//
// `moves.rs` and `subdivide.rs` of `ripplet_lp::refine` define the choice. Traag, Waltman and van Eck, From Louvain to
// Leiden (Scientific Reports 9, 2019):
//
//     move        its fast local move of nodes: the largest gain, or a community of its own. Here the vertices of a
//                 phase choose at once; there, one after the other.
//     subdivide   its refinement of a partition: only vertices that are alone join a part, within their community.
//                 Here they take the largest gain, there a drawn one; and only the vertex is tested, not the part.
//
// Mapping: a group of 4 or 32 lanes per vertex, or a block per vertex; each takes vertices in a loop of the grid.
// Shared memory: a table per group, or per block (`table.cuh`), then a `Best` and two sums per warp of a block.
#pragma once

namespace ripplet {

// The mass of a community while communities are subdivided.
RIPPLET_FN Mass mass_of_community(const Work& work, u32 community) {
    const u64 imbalance = DIRECTED ? work.community_imbalances[community] : (u64)0;
    return Mass{work.community_totals[community], imbalance};
}

// A vertex while it chooses. `choose_by_group` and `choose_by_block` take any type with these members.
template <class T, bool PARTS> struct Chooser {
    using Gain = T;
    // Whether the labels are parts.
    static constexpr bool IS_OF_PARTS = PARTS;

    u32 v, own, degree, community;
    // Whether it reads its arcs.
    bool works;
    // Its mass, and that of the other members of its community.
    Mass mass, others;

    RIPPLET_FN Chooser(const Work& work, u32 v, bool has)
        : v(v), own(0), degree(0), community(0), works(has), mass(), others() {
        if (!has) return;
        own = work.partition.labels[v];
        mass = mass_of(work.level, v);
        if (PARTS) {
            const bool is_alone = own == v && work.partition.totals[v] == mass.sum;
            community = work.communities[v];
            others = mass_of_community(work, community).without(mass);
            works = is_alone && others.sum != 0;
        } else {
            others = mass_of(work.partition, own).without(mass);
        }
        degree = works ? work.level.degrees[v] : 0;
    }

    // Adds every `stride`-th arc to the table; returns the weight of those within the community.
    RIPPLET_FN u64 sum_up(const Work& work, Table table, u32 first, u32 stride) const {
        u64 inside = 0;
        if (!works) return 0;
        each_arc(work.level, v, first, stride, [&](u32 u, u64 weight) {
            if (PARTS) {
                if (work.communities[u] != community) return;
                inside += weight;
            }
            table.add(work.partition.labels[u], weight);
        });
        return inside;
    }

    RIPPLET_FN u32 hash_of(const Work& work, u32 label) const { return mix(label ^ mix(v ^ work.tie_key)); }

    // The best of every `stride`-th slot; in a move round, `own_weight` is set if the own label is there.
    RIPPLET_FN Best<T> best_of(const Work& work, Table table, u32 first, u32 stride, u64& own_weight) const {
        Best<T> best;
        if (!works) return best;
        const GainsOf<T> gains(work, mass);
        const u32 size = LIMITED && !PARTS ? work.level.sizes[v] : 0;
        for (u32 slot = first; slot < table.slots(); slot += stride) {
            const u32 label = table.keys[slot];
            if (label == FREE) continue;
            const u64 weight = table.sums[slot];
            if (!PARTS && label == own) {
                own_weight = weight;
                continue;
            }
            const Mass total = mass_of(work.partition, label);
            const T gain = gains.gain(weight, total);
            if (PARTS) {
                // A founder may be joined in its own phase only if a vertex has joined it before.
                const bool is_allowed =
                    total.sum > work.level.masses[label] || phase_of(work, label) != work.phase;
                if (gain.is_negative() || !is_allowed) continue;
            }
            // No community exceeds the limit between phases.
            if (LIMITED && !PARTS && size > work.most_size - work.partition.sizes[label]) continue;
            best.take(Best<T>(gain, label, hash_of(work, label)));
        }
        return best;
    }

    // Whether no community has the vertex's own label. Without sizes, a community of mass 0 counts as empty.
    RIPPLET_FN bool is_free(const Work& work) const {
        return LIMITED ? work.partition.sizes[v] == 0 : work.partition.totals[v] == 0;
    }

    // The new label; the own one if the vertex stays.
    RIPPLET_FN u32 decide(const Work& work, const Best<T>& best, u64 own_weight, u64 inside) const {
        if (!works) return own;
        const GainsOf<T> gains(work, mass);
        if (PARTS) {
            const bool stays = gains.gain(inside, others).is_negative();
            return best.exists && !stays ? best.label : own;
        }
        const T stay = gains.gain(own_weight, others);
        const bool moves = best.exists && stay < best.gain;
        const bool is_negative = moves ? best.gain.is_negative() : stay.is_negative();
        if (is_negative && others.sum > 0 && is_free(work)) return v;
        return moves ? best.label : own;
    }

    // The arcs read. In a move round, those of a vertex that moves are read again, to activate neighbours.
    RIPPLET_FN u64 scanned(const Work& work, bool has_changed) const {
        return !PARTS && has_changed && !work.keeps_active ? 2 * (u64)degree : degree;
    }
};

// Appends a vertex and its new label to those of the phase if `has` is set; all lanes of a warp call it. `counts` are
// the numbers of each phase.
RIPPLET_FN void append_change(const Work& work, u64* changes, u32* counts, u32 v, u32 label, bool has) {
    const u32 place = append(counts + work.phase, has);
    if (has) changes[work.counters->starts[work.phase * CLASSES] + place] = (u64)v << 32 | label;
}

// Records the changes of a warp's leading lanes; all lanes call it. Where sizes are limited, communities admit them.
template <bool PARTS> RIPPLET_FN void record(const Work& work, u32 v, u32 label, bool has_changed) {
    if (LIMITED && !PARTS)
        append_change(work, work.choices, work.counters->chosen, v, label, has_changed);
    else
        append_change(work, work.changes, work.counters->changed, v, label, has_changed);
}

template <class Choice, u32 CLASS> RIPPLET_FN void choose_by_group(const Work& work) {
    using T = typename Choice::Gain;
    constexpr bool PARTS = Choice::IS_OF_PARTS;
    constexpr u32 GROUP = Groups<CLASS>::LANES, GROUPS = Groups<CLASS>::COUNT;
    const u32 group = threadIdx.x / GROUP, mine = threadIdx.x % GROUP;
    Table table = Groups<CLASS>::table();
    const u32 bin = work.phase * CLASSES + CLASS;
    const u32 end = work.counters->starts[bin + 1];
    u64 scanned = 0;
    for (u32 base = work.counters->starts[bin] + blockIdx.x * GROUPS; base < end; base += gridDim.x * GROUPS) {
        const u32 index = base + group;
        const bool has = index < end;
        const Choice chooser(work, has ? work.order[index] : 0, has);
        table.log = log_for(chooser.degree);
        table.clear(mine, GROUP);
        __syncwarp();
        u64 inside = chooser.sum_up(work, table, mine, GROUP), own_weight = 0;
        __syncwarp();
        Best<T> best = chooser.best_of(work, table, mine, GROUP, own_weight);
        best.reduce(GROUP);
        for (u32 step = GROUP / 2; step > 0; step /= 2) {
            if (PARTS)
                inside += __shfl_xor_sync(ALL_LANES, inside, (int)step);
            else
                own_weight += __shfl_xor_sync(ALL_LANES, own_weight, (int)step);
        }
        const u32 label = chooser.decide(work, best, own_weight, inside);
        const bool leads = has && mine == 0, has_changed = leads && label != chooser.own;
        if (leads) {
            if (!PARTS) work.partition.active[chooser.v] = (unsigned char)work.keeps_active;
            scanned += chooser.scanned(work, has_changed);
        }
        record<PARTS>(work, chooser.v, label, has_changed);
        __syncwarp();
    }
    add_all(&work.counters->scanned, scanned);
}

// What a warp of a block found.
template <class T> struct OfWarp {
    Best<T> best;
    u64 own_weight, inside;
};

template <class Choice, u32 CLASS, u32 THREADS> RIPPLET_FN void choose_by_block(const Work& work) {
    using T = typename Choice::Gain;
    constexpr bool PARTS = Choice::IS_OF_PARTS;
    constexpr u32 WARPS = THREADS / 32;
    const BlockTables<CLASS> tables;
    OfWarp<T>* of_warps = (OfWarp<T>*)(shared_memory() + BlockTables<CLASS>::BYTES);
    const u32 bin = work.phase * CLASSES + CLASS, warp = threadIdx.x / 32;
    const u32 end = work.counters->starts[bin + 1];
    u64 scanned = 0;
    for (u32 index = work.counters->starts[bin] + blockIdx.x; index < end; index += gridDim.x) {
        const Choice chooser(work, work.order[index], true);
        OfWarp<T> mine;
        const u32 labels = min(chooser.degree, work.level.vertices);
        const Table table = tables.fill(work, labels, false, [&](Table filled) {
            mine.inside = chooser.sum_up(work, filled, threadIdx.x, THREADS);
        });
        mine.inside = warp_sum(mine.inside);
        mine.own_weight = 0;
        mine.best = chooser.best_of(work, table, threadIdx.x, THREADS, mine.own_weight);
        mine.best.reduce(32);
        mine.own_weight = warp_sum(mine.own_weight);
        if (lane_id() == 0) of_warps[warp] = mine;
        __syncthreads();
        if (warp == 0) {
            OfWarp<T> all = of_warps[0];
            for (u32 other = 1; other < WARPS; other++) {
                all.best.take(of_warps[other].best);
                all.own_weight += of_warps[other].own_weight;
                all.inside += of_warps[other].inside;
            }
            const u32 label = chooser.decide(work, all.best, all.own_weight, all.inside);
            const bool leads = lane_id() == 0, has_changed = leads && label != chooser.own;
            if (leads) {
                if (!PARTS) work.partition.active[chooser.v] = (unsigned char)work.keeps_active;
                scanned += chooser.scanned(work, has_changed);
            }
            record<PARTS>(work, chooser.v, label, has_changed);
        }
        __syncthreads();
    }
    add_all(&work.counters->scanned, scanned);
}

}  // namespace ripplet
