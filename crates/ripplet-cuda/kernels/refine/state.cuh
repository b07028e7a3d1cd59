// The argument of all kernels of refinement, as the host fills it (`src/refine/state.rs` has the same structs).
//
// A *level* is the input graph, or a graph that was contracted from the level below. A *round* has phases. Its
// vertices are sorted by phase and, within a phase, by *class*: a range of degrees, which one kernel takes.
//
// The run's configuration comes before this file, as constants of the compilation:
//
//     bool DIRECTED    whether vertices have an imbalance beside their mass: the null model is directed
//     bool LIMITED     whether sizes of communities are limited (`size_limit.cuh`)
//
// No kernels: functions that any thread calls, without shared memory. `read_lists` maps eight lanes to a list of up to
// 256 arcs, and a warp to a longer one. The algorithm is Leiden's with phases (Traag, Waltman and van Eck, 2019):
// `choose.cuh`, `contract.cuh` and `levels.cuh` say which step is which.
#pragma once

namespace ripplet {

// Threads of a block. Not measured against others, nor are the next two.
constexpr u32 BLOCK = 256;
// Threads of a block that takes a vertex of the largest class: two such blocks fit a multiprocessor's shared memory
// (`table.cuh`). They take half of the time of `social` (`refine-gpu-kernels.txt` in `bench/runs/2026-11-26-h100`).
constexpr u32 LARGE_BLOCK = 512;
// Vertices of a block of the kernels that number parts: 8 per thread. One block then sums up the counts of all blocks.
constexpr u32 NUMBERED = 2048;

// The largest degree of each class but the last, and how many lanes take a vertex. A table has at least two slots for
// each arc, so 12 bytes a slot make 24 KiB of shared memory a block for classes 0 and 1, and 48 KiB for class 2, of
// which 4 fit the 228 KiB of an H100. Other bounds and widths are not measured.
//
//     class   degree       threads           table
//     0       0-16         4 lanes           32 slots in shared memory
//     1       17-128       a warp            256 slots in shared memory
//     2       129-2048     a block of 256    4096 slots in shared memory
//     3        above        a block of 512    8192 slots in shared memory, or a part of `region` (`table.cuh`)
constexpr u32 CLASSES = 4;
// The phases of a round, as on the CPU (`refine-designs.txt` in `bench/runs/2026-11-25-2-cores` has 2, 4 and 16). 8
// phases of 4 classes make a bin for each lane of `start_order`.
constexpr u32 MOST_PHASES = 8;
constexpr u32 BINS = CLASSES * MOST_PHASES;

RIPPLET_FN u32 class_of(u32 degree) {
    return degree <= 16 ? 0 : degree <= 128 ? 1 : degree <= 2048 ? 2 : 3;
}

// A 128-bit integer in two's complement.
struct Factor {
    u64 low;
    i64 high;
};

// How the weights of a level's arcs are stored.
constexpr u32 UNIT_WEIGHTS = 0, SHORT_WEIGHTS = 1, LONG_WEIGHTS = 2;

struct Level {
    // The begin and the length of each vertex's list, and each vertex's mass.
    u64* begins;
    u32* degrees;
    u64* masses;
    // The arcs' other ends, and their weights: none, 4 or 8 bytes.
    u32* ids;
    void* weights;
    u32 vertices, kind;
    // The imbalance of each vertex modulo 2^64, if `DIRECTED`.
    u64* imbalances;
    // The number of the input's vertices in each vertex, if `LIMITED`.
    u32* sizes;
};

struct Partition {
    // The label of each vertex; the mass of each label; 1 for each active vertex.
    u32* labels;
    u64* totals;
    unsigned char* active;
    // The imbalance of each label modulo 2^64, if `DIRECTED`.
    u64* imbalances;
    // 1 for each fixed vertex, which is never scheduled; null if none is fixed.
    unsigned char* fixed;
    // The sum of the members' sizes by label, if `LIMITED`; null of parts.
    u32* sizes;
};

constexpr u32 NONE = 0xffffffffu;

// How the vertices of a level correspond to those of its contraction.
struct Contraction {
    // For each vertex of the level, its part; for each part, its founder.
    u32 *part_of, *founders;
    // The members of each part side by side, the end of each part's members, and the arcs of all its members.
    u32 *members, *ends, *lengths;
    // The communities of the parts to begin with, and the smallest part of each community.
    u32 *begin, *names;
    // The founders of each block of `NUMBERED` vertices, then their exclusive prefix sum.
    u32* of_blocks;
    u32 parts;
    // The founder of the part of finished vertices, or `NONE`.
    u32 finished;
};

struct Counters {
    // The scheduled vertices of each bin, then the place of the next one.
    u32 bins[BINS];
    // The first place of each bin, and the end of the last.
    u32 starts[BINS + 1];
    // The changes of each phase.
    u32 changed[MOST_PHASES], long_changed[MOST_PHASES];
    // If `LIMITED`, the choices of each phase, and those of communities that they would overfill.
    u32 chosen[MOST_PHASES], claims[MOST_PHASES];
    // The longest list of the largest class in the round.
    u32 longest;
    // The number of finished vertices, and the largest complement of one.
    u32 finished, not_finished;
    u64 scanned;
    // The end of all lists of contracted graphs.
    u64 arcs_end;
    u64 arcs, largest_weight, largest_mass, total_mass;
    // Vertices whose label differs from another one.
    u64 different;
    // The weight inside communities; sums of the squares of their masses, by 32 bits.
    u64 inner, squares[4];
};

struct Work {
    Level level, coarse;
    // The partition that changes: of communities, or of parts.
    Partition partition, coarse_partition;
    // Communities while they are subdivided; the best labels while they are compared.
    u32* communities;
    u64 *community_totals, *community_imbalances;
    Contraction contraction;
    // The vertices of a round by phase and class, and the changes of each phase: vertex and label.
    u32* order;
    u64* changes;
    // The changes, by number, of vertices with long lists.
    u32* long_changes;
    // If `LIMITED`, the choices of each phase, as changes are, and the claims of a phase.
    u64 *choices, *claims;
    Counters* counters;
    // Tables of the largest class: `region_slots` slots for each block.
    u32* region_keys;
    u64* region_sums;
    u64 region_slots, arcs_room;
    Factor attraction, repulsion;
    // The draw of the round, and its key of ties.
    u32 key, phases, phase, tie_key;
    u32 keeps_active, schedules_all;
    // If `LIMITED`, the largest size of a community, and the width of a step that sorts claims.
    u32 most_size, width;
    // Parts with at least `huge` arcs are contracted one by one by the whole grid; the one that is.
    u32 huge, part;
    // Of merging: the mass of all vertices, and the share of a community's mass in units of 2^-16 (`merge.cuh`).
    u64 grand_total, share;
};

// The mass of a vertex, or that of a community's members together. Its imbalance is what the arcs out weigh more than
// those in, modulo 2^64; it is 0, and costs nothing, unless `DIRECTED`.
struct Mass {
    u64 sum, imbalance;

    RIPPLET_FN Mass without(Mass member) const { return Mass{sum - member.sum, imbalance - member.imbalance}; }
};

RIPPLET_FN Mass mass_of(const Level& level, u32 v) {
    return Mass{level.masses[v], DIRECTED ? level.imbalances[v] : (u64)0};
}

RIPPLET_FN Mass mass_of(const Partition& partition, u32 label) {
    return Mass{partition.totals[label], DIRECTED ? partition.imbalances[label] : (u64)0};
}

RIPPLET_FN void set_mass(const Partition& partition, u32 label, Mass mass) {
    partition.totals[label] = mass.sum;
    if (DIRECTED) partition.imbalances[label] = mass.imbalance;
}

// Adds a mass to that of a label, at the same time as other threads.
RIPPLET_FN void add_mass(const Partition& partition, u32 label, Mass mass) {
    atomicAdd(partition.totals + label, mass.sum);
    if (DIRECTED) atomicAdd(partition.imbalances + label, mass.imbalance);
}

RIPPLET_FN u32 phase_of(const Work& work, u32 v) { return part_of(mix(v ^ work.key), work.phases); }

RIPPLET_FN u64 weight_of(const Level& level, u64 arc) {
    if (level.kind == UNIT_WEIGHTS) return 1;
    if (level.kind == SHORT_WEIGHTS) return __ldg((const u32*)level.weights + arc);
    return ((const u64*)level.weights)[arc];
}

// Calls `visit(neighbour, weight)` for every `stride`-th arc of a vertex from `first` on, without self-loops and
// weights of 0.
template <class Visit>
RIPPLET_FN void each_arc(const Level& level, u32 v, u32 first, u32 stride, Visit visit) {
    const u64 begin = level.begins[v];
    const u32 degree = level.degrees[v];
    for (u32 index = first; index < degree; index += stride) {
        const u32 u = level.ids[begin + index];
        const u64 weight = weight_of(level, begin + index);
        if (u != v && weight != 0) visit(u, weight);
    }
}

// Reads the lists of up to four vertices, one for each eight lanes of a warp: calls `visit(v, value, neighbour,
// weight)` for every arc. Long lists are read by the whole warp, one after the other. All lanes call it, with the same
// vertex and value for eight lanes, or none if `has` is false. `LANES` and `SHORT` are not measured against others.
template <class Visit>
RIPPLET_FN void read_lists(const Level& level, u32 v, u32 value, bool has, Visit visit) {
    constexpr u32 LANES = 8, SHORT = 256;
    const bool is_long = has && level.degrees[v] > SHORT;
    if (has && !is_long)
        each_arc(level, v, lane_id() % LANES, LANES, [&](u32 u, u64 weight) { visit(v, value, u, weight); });
    u32 longer = __ballot_sync(ALL_LANES, is_long && lane_id() % LANES == 0);
    while (longer != 0) {
        const int lane = __ffs((int)longer) - 1;
        const u32 its = __shfl_sync(ALL_LANES, v, lane), its_value = __shfl_sync(ALL_LANES, value, lane);
        each_arc(level, its, lane_id(), 32, [&](u32 u, u64 weight) { visit(its, its_value, u, weight); });
        longer &= longer - 1;
    }
}

// Adds the lanes' values to a sum in global memory; all lanes of a warp call it.
RIPPLET_FN void add_all(u64* sum, u64 mine) {
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine != 0) atomicAdd(sum, mine);
}

// The first item of a thread, and the distance to its next, in a loop of the grid over items.
RIPPLET_FN u32 first_item() { return blockIdx.x * blockDim.x + threadIdx.x; }
RIPPLET_FN u32 next_item() { return gridDim.x * blockDim.x; }

}  // namespace ripplet
