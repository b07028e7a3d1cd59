// When all whose turn it was have chosen: their choices are shown, before anybody is woken. In place,
// each was shown at once, and there is nothing to do.
#pragma once

namespace ripplet {

// What a value adds to the fingerprint of all labels; see `ripplet_lp`.
RIPPLET_FN u64 trace(u32 v, u32 label) {
    return (u64)mix(v ^ mix(label)) << 32 | mix(label ^ mix(~v));
}

RIPPLET_FN u64 trace_of_change(const Field& field, u32 v, u32 before, u32 label) {
    u64 print = trace(v, label) - trace(v, before);
    const u32* draft = field.drafts + (u64)v * DRAFT_LENGTH;
    for (u32 index = 0; index < DRAFT_LENGTH; index++) {
        // Values of different columns are different vertices to the fingerprint.
        const u32 place = mix(v ^ mix(index + 1));
        print += trace(place, draft[index]) - trace(place, *written(field, v, index));
    }
    return print;
}

// Shows what a vertex changed to; whether that wakes others.
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

RIPPLET_FN void show(const Run& run, Turn turn) {
    const Field& field = run.field;
    Tallies* tallies = field.tallies;
    const u32* lower = tallies->lower[turn.parity];
    const u64 thread = (u64)blockIdx.x * BLOCK + threadIdx.x, threads = (u64)gridDim.x * BLOCK;
    u64 print = 0;
    for (u64 at = thread; at < lower[LARGE]; at += threads) {
        u32 of_class = 0;
        while (at >= lower[of_class + 1]) of_class++;
        const u32 item = (u32)at - lower[of_class];
        u32& member = Members(field, of_class)[item];
        // Only who wakes others stays listed.
        if (member != U32_MAX && !show_change(field, member, chosen_of(field, turn, of_class, item), &print))
            member = U32_MAX;
    }
    for (u64 number = thread; number < tallies->members[turn.parity][LARGE]; number += threads) {
        const Large& large = field.large[number];
        if (large.done.changed) show_change(field, large.vertex, large.done.label, &print);
    }
    if (!field.traced) return;
    print = warp_sum(print);
    if (lane_id() == 0 && print != 0) atomicAdd(&tallies->fingerprint, print);
}

}  // namespace ripplet
