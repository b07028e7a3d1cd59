// Partitions between levels, and sums over a level.
//
//     level            | 0 1 4 | 2 3 | 5 |          members of parts 0, 1 and 2, whose founders are 0, 2 and 5
//     contraction      |   0   |  1  | 2 |          its vertices are the parts
//
//     up      find_lifted    names[community of founder] = its smallest part
//             lift           labels, masses and sizes of the contraction's vertices; each becomes active
//     down    find_lowered   names[community of part] = its smallest part
//             lower          labels[v] = the founder of the smallest part in the community of v's part
//             activate_borders   if a part changed its community: its members at borders, and their neighbours outside
//     sums    sum_masses, count_joined, measure, sum_inner, sum_squares, keep     over all vertices of one level
//
// Mapping: a thread per vertex or part, in a loop of the grid; 8 lanes per vertex if arcs are read (`each_vertex`). No
// shared memory: a warp adds up its lanes by shuffles. Traag, Waltman and van Eck (2019): as `lift`, an aggregate
// network begins with the communities before refinement. The way down, which their algorithm does not have, is that of
// docs/adr/0027-refinement.md. `gain.cuh` has the score of `sum_inner` and `sum_squares`.
#pragma once

namespace ripplet {

// Makes every vertex a part of its own.
RIPPLET_FN void separate(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        work.partition.labels[v] = v;
        set_mass(work.partition, v, mass_of(work.level, v));
    }
}

// Adds up the masses and sizes of the communities; they are 0 before.
RIPPLET_FN void sum_masses(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        const u32 label = work.partition.labels[v];
        add_mass(work.partition, label, mass_of(work.level, v));
        if (LIMITED) atomicAdd(work.partition.sizes + label, work.level.sizes[v]);
    }
}

// Counts the vertices that are not named by themselves.
RIPPLET_FN void count_joined(const Work& work) {
    u64 mine = 0;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) mine += work.partition.labels[v] != v;
    add_all(&work.counters->different, mine);
}

// Copies labels to the best ones, and counts those that differ.
RIPPLET_FN void keep(const Work& work) {
    u64 mine = 0;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        const u32 label = work.partition.labels[v];
        mine += work.communities[v] != label;
        work.communities[v] = label;
    }
    add_all(&work.counters->different, mine);
}

// The figures of a level.
RIPPLET_FN void measure(const Work& work) {
    u64 arcs = 0, total = 0, largest = 0;
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        const u64 mass = work.level.masses[v];
        arcs += work.level.degrees[v];
        total += mass;
        largest = max(largest, mass);
    }
    add_all(&work.counters->arcs, arcs);
    add_all(&work.counters->total_mass, total);
    largest = warp_max(largest);
    if (lane_id() == 0) atomicMax(&work.counters->largest_mass, largest);
}

// The smallest part of each community; `names` are the largest number before. `label(part)` is the community.
template <class Label> RIPPLET_FN void find_smallest(const Work& work, Label label) {
    for (u32 part = first_item(); part < work.contraction.parts; part += next_item()) {
        u32* name = work.contraction.names + label(part);
        if (*(volatile u32*)name > part) atomicMin(name, part);
    }
}

// Names are by the community of the part's founder on the level.
RIPPLET_FN void find_lifted(const Work& work) {
    find_smallest(work, [&](u32 part) { return work.communities[work.contraction.founders[part]]; });
}

// The same communities of the contracted graph's vertices.
RIPPLET_FN void lift(const Work& work) {
    const Contraction& contraction = work.contraction;
    for (u32 part = first_item(); part < contraction.parts; part += next_item()) {
        const u32 name = contraction.names[work.communities[contraction.founders[part]]];
        work.coarse_partition.labels[part] = contraction.begin[part] = name;
        work.coarse_partition.active[part] = 1;
        add_mass(work.coarse_partition, name, mass_of(work.coarse, part));
        if (LIMITED) atomicAdd(work.coarse_partition.sizes + name, work.coarse.sizes[part]);
    }
}

// A part with a fixed vertex is fixed on the contracted level, where no vertex is before.
RIPPLET_FN void fix_parts(const Work& work) {
    for (u32 v = first_item(); v < work.level.vertices; v += next_item())
        if (work.partition.fixed[v]) work.coarse_partition.fixed[work.contraction.part_of[v]] = 1;
}

// Names are by the community of the contracted vertex.
RIPPLET_FN void find_lowered(const Work& work) {
    find_smallest(work, [&](u32 part) { return work.coarse_partition.labels[part]; });
}

// The name of a contracted vertex's community.
RIPPLET_FN u32 name_of(const Work& work, u32 part) {
    return work.contraction.names[work.coarse_partition.labels[part]];
}

// Gives each vertex the community of its part; masses and sizes are 0 before. Finished vertices are communities of their
// own.
RIPPLET_FN void lower(const Work& work) {
    const Contraction& contraction = work.contraction;
    const u32 finished = contraction.finished == NONE ? NONE : contraction.part_of[contraction.finished];
    // Vertices without mass may be in the community of a finished vertex, which leaves them.
    const u32 left = finished == NONE ? NONE : work.coarse_partition.labels[finished];
    for (u32 v = first_item(); v < work.level.vertices; v += next_item()) {
        const u32 part = contraction.part_of[v];
        const u32 label = part == finished ? v : contraction.founders[name_of(work, part)];
        work.partition.labels[v] = label;
        if (part == finished) set_mass(work.partition, v, mass_of(work.level, v));
        if (LIMITED) atomicAdd(work.partition.sizes + label, work.level.sizes[v]);
    }
    for (u32 part = first_item(); part < contraction.parts; part += next_item())
        if (part != finished && name_of(work, part) == part) {
            const u32 label = work.coarse_partition.labels[part], founder = contraction.founders[part];
            Mass mass = mass_of(work.coarse_partition, label);
            if (label == left) mass = mass.without(mass_of(work.coarse, finished));
            set_mass(work.partition, founder, mass);
        }
}

// Lanes per vertex of kernels that read arcs, as `read_lists` has them; `src/refine/launch.rs` has the same number.
constexpr u32 READING = 8;

// Calls `visit(v)` for every vertex, by eight lanes, and then with vertices behind the last one, so that all lanes of
// a warp call it as often.
template <class Visit> RIPPLET_FN void each_vertex(const Work& work, Visit visit) {
    const u32 groups = blockDim.x / READING;
    for (u32 base = blockIdx.x * groups; base < work.level.vertices; base += gridDim.x * groups)
        visit(base + threadIdx.x / READING);
}

// Activates vertices whose community has changed and their neighbours, at borders of communities.
RIPPLET_FN void activate_borders(const Work& work) {
    const Contraction& contraction = work.contraction;
    u64 scanned = 0;
    each_vertex(work, [&](u32 v) {
        u32 own = 0;
        bool has_moved = v < work.level.vertices;
        if (has_moved) {
            const u32 part = contraction.part_of[v];
            own = work.partition.labels[v];
            has_moved = name_of(work, part) != contraction.begin[part];
        }
        if (has_moved && threadIdx.x % READING == 0) scanned += work.level.degrees[v];
        read_lists(work.level, v, own, has_moved, [&](u32 v, u32 own, u32 u, u64) {
            if (work.partition.labels[u] == own) return;
            work.partition.active[u] = work.partition.active[v] = 1;
        });
    });
    add_all(&work.counters->scanned, scanned);
}

// The weight inside communities.
RIPPLET_FN void sum_inner(const Work& work) {
    u64 inner = 0;
    each_vertex(work, [&](u32 v) {
        const bool has = v < work.level.vertices;
        const u32 own = has ? work.partition.labels[v] : 0;
        read_lists(work.level, v, own, has, [&](u32, u32 own, u32 u, u64 weight) {
            inner += work.partition.labels[u] == own ? weight : 0;
        });
    });
    add_all(&work.counters->inner, inner);
}

// The squares of the communities' masses, without those of their imbalances, which are not larger.
RIPPLET_FN void sum_squares(const Work& work) {
    u64 parts[4] = {};
    for (u32 label = first_item(); label < work.level.vertices; label += next_item()) {
        const Mass mass = mass_of(work.partition, label);
        u64 low = mass.sum * mass.sum, high = __umul64hi(mass.sum, mass.sum);
        if (DIRECTED) {
            const u64 size = (i64)mass.imbalance < 0 ? 0 - mass.imbalance : mass.imbalance, square = size * size;
            high -= __umul64hi(size, size) + (low < square);
            low -= square;
        }
        parts[0] += (u32)low;
        parts[1] += low >> 32;
        parts[2] += (u32)high;
        parts[3] += high >> 32;
    }
    for (u32 part = 0; part < 4; part++) add_all(work.counters->squares + part, parts[part]);
}

}  // namespace ripplet
