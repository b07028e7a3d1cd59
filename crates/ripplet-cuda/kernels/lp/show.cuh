// The commit: when all vertices of the phase have chosen, their labels and columns are stored, before any
// neighbour is activated. A thread per listed vertex, then a thread per large vertex; no shared memory. Under
// `async`, changes are committed at once, and `show_all` only visits them, to send them to other ranks.
#pragma once

namespace ripplet {

// The contribution of one value to the fingerprint of all labels; `ripplet_lp` defines it.
RIPPLET_FN u64 trace(u32 v, u32 label) {
    return (u64)mix(v ^ mix(label)) << 32 | mix(label ^ mix(~v));
}

RIPPLET_FN u64 trace_of_change(const Field& field, u32 v, u32 before, u32 label) {
    u64 print = trace(v, label) - trace(v, before);
    const u32* draft = field.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) {
        // A column's value contributes as if it belonged to a vertex of its own.
        const u32 place = mix(v ^ mix(index + 1));
        print += trace(place, draft[index]) - trace(place, *written(field, v, index));
    }
    return print;
}

// Commits the change of a vertex; returns whether that activates its neighbours.
RIPPLET_FN bool show_change(const Field& field, u32 v, u32 label, u64* print) {
    const u32 before = field.labels[v];
    if (field.traced) *print += trace_of_change(field, v, before, label);
    if (before != label) {
        field.labels[v] = label;
        move_share(field, v, before, label);
    }
    if (DRAFT_LENGTH > 0) commit_draft(field, v);
    return wakes_others(before != label);
}

// Commits all choices, if they are not committed yet, and calls `each` with every changed vertex. Unlists the
// vertices that activate no neighbour. All lanes of a warp call `each` together, with a flag. Returns the
// change of the fingerprint.
template <class Each> RIPPLET_FN u64 show_all(const Field& field, Turn turn, const Each& each) {
    const Tallies* tallies = field.tallies;
    const u32* lower = tallies->lower[turn.parity];
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 print = 0;
    for (u64 first = thread - lane_id(); first < lower[LARGE]; first += threads) {
        const u64 at = first + lane_id();
        u32 v = U32_MAX;
        if (at < lower[LARGE]) {
            u32 of_class = 0;
            while (at >= lower[of_class + 1]) of_class++;
            const u32 item = (u32)at - lower[of_class];
            u32& member = Members(field, of_class)[item];
            v = member;
            if (v != U32_MAX) {
                const u32 chosen = chosen_of(field, turn, of_class, item);
                const bool wakes = IN_PLACE ? chosen != 0 : show_change(field, v, chosen, &print);
                if (!wakes) member = U32_MAX;
            }
        }
        each(v != U32_MAX, v);
    }
    const u32 large_ones = tallies->members[turn.parity][LARGE];
    for (u64 first = thread - lane_id(); first < large_ones; first += threads) {
        const u64 number = first + lane_id();
        Done done = {0, false, false};
        u32 v = U32_MAX;
        if (number < large_ones) done = field.large[number].done, v = field.large[number].vertex;
        if (!IN_PLACE && done.changed) show_change(field, v, done.label, &print);
        each(done.changed, v);
    }
    return print;
}

// Adds the lanes' changes of the fingerprint, with one atomic per warp.
RIPPLET_FN void add_print(const Field& field, u64 print) {
    if (!field.traced) return;
    print = warp_sum(print);
    if (lane_id() == 0 && print != 0) atomicAdd(&field.tallies->fingerprint, print);
}

RIPPLET_FN void show(const Run& run, Turn turn) {
    add_print(run.field, show_all(run.field, turn, [](bool, u32) {}));
}

}  // namespace ripplet
