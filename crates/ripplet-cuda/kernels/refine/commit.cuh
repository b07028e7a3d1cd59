// The changes of a phase, when all of its vertices have chosen: labels and masses are stored, then neighbours become
// active.
//
//     changes          | 9:4 | 3:4 | 7:2 | ...      vertex and new label, 64 bits, in any order
//     commit           a thread per change          labels[9] = 4; its mass moves from the old label's to that of 4
//     long_changes     | 2 | ...                    the numbers of those whose vertex has more than `LONG_LIST` arcs
//
//     activate         lanes      | 0 ... 7 | 8 ... 15 | 16 ... 23 | 24 ... 31 |
//                      change     |   9:4   |   3:4    |    7:2    |    ...    |   a list of up to 256 arcs each
//                      longer lists, one after the other, all 32 lanes          (`read_lists`)
//     activate_long    lists above `LONG_LIST`, one after the other, all threads of the grid
//
// Mapping: as in the picture, each in a loop of the grid. No shared memory. Neighbours outside of the new community
// become active: the queue of the Leiden algorithm's fast local move (Traag, Waltman and van Eck, 2019) has these
// nodes.
#pragma once

namespace ripplet {

// The longest list that a warp reads. It is the bound of the last class but one (`class_of`), as the host launches
// `activate_long` only if a larger vertex is scheduled. Not measured against other bounds.
constexpr u32 LONG_LIST = 2048;
// Lanes per change, as `read_lists` has them.
constexpr u32 ACTIVATING = 8;

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
