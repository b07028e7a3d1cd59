// The changes of a phase: stored, then passed on to neighbours.
//
// Mapping: commit takes a thread per change, activate 8 lanes or a warp per change of a vertex with up to
// `LONG_LIST` arcs, and all blocks together for the others. No shared memory.
#pragma once

namespace ripplet {

// The longest list that a warp reads.
constexpr u32 LONG_LIST = 2048, ACTIVATING = 8;

struct Change {
    u32 vertex, label;
};

RIPPLET_FN u32 changes_of(const Work& work) { return work.counters->changed[work.phase]; }

RIPPLET_FN Change unpacked(u64 packed) { return Change{(u32)(packed >> 32), (u32)packed}; }

RIPPLET_FN Change change_at(const Work& work, u32 index) {
    return unpacked(work.changes[work.counters->starts[work.phase * CLASSES] + index]);
}

RIPPLET_FN void commit(const Work& work) {
    const u32 count = changes_of(work);
    for (u32 index = first_item(); index < count; index += next_item()) {
        const Change change = change_at(work, index);
        if (work.level.degrees[change.vertex] > LONG_LIST)
            work.long_changes[atomicAdd(work.counters->long_changed + work.phase, 1u)] = index;
        const Mass mass = mass_of(work.level, change.vertex);
        const u32 before = work.partition.labels[change.vertex];
        work.partition.labels[change.vertex] = change.label;
        add_mass(work.partition, before, Mass{0, 0}.without(mass));
        add_mass(work.partition, change.label, mass);
        // The new community has the size already.
        if (LIMITED && work.partition.sizes != nullptr)
            atomicAdd(work.partition.sizes + before, 0 - work.level.sizes[change.vertex]);
    }
}

// Activates the neighbours of a moved vertex outside its community.
RIPPLET_FN void activate_neighbors(const Work& work, Change change, u32 first, u32 stride) {
    each_arc(work.level, change.vertex, first, stride, [&](u32 u, u64) {
        if (work.partition.labels[u] != change.label) work.partition.active[u] = 1;
    });
}

RIPPLET_FN void activate(const Work& work) {
    const u32 count = changes_of(work), groups = blockDim.x / ACTIVATING;
    for (u32 base = blockIdx.x * groups; base < count; base += gridDim.x * groups) {
        const u32 index = base + threadIdx.x / ACTIVATING;
        const Change change = index < count ? change_at(work, index) : Change{0, 0};
        const bool has = index < count && work.level.degrees[change.vertex] <= LONG_LIST;
        read_lists(work.level, change.vertex, change.label, has, [&](u32, u32 label, u32 u, u64) {
            if (work.partition.labels[u] != label) work.partition.active[u] = 1;
        });
    }
}

// Of the vertices with longer lists, which are few: every thread reads a part of each list.
RIPPLET_FN void activate_long(const Work& work) {
    const u32 count = work.counters->long_changed[work.phase];
    for (u32 number = 0; number < count; number++)
        activate_neighbors(work, change_at(work, work.long_changes[number]), first_item(), next_item());
}

}  // namespace ripplet
