// Entry points of a phase's kernels; `../README.md` walks through their launches. The numbers behind each
// argument are threads per block and blocks per multiprocessor that registers must allow.
//
// 6 blocks of 256 threads leave 40 of the 65,536 registers to a thread, and 4 blocks leave 64. Both compile without
// spills, and more warps hide the latency of dependent loads: with eight registers more, the kernels that compact
// and activate were slower (`10-final` and `11-grains` in `bench/runs/2026-11-21-h200`; bounded in `12-sketches`).
// 5 blocks leave 48 to the kernel of the lowest degrees, whose lanes have 16 votes at most (not measured against other
// bounds). 3 blocks leave 80, for 32 votes in a thread's registers. A bound of 1 limits nothing.
//
//     ripplet_sum_pieces         large vertices, a block per piece
//     ripplet_choose, a block of 256:
//         choose_by_block        degrees 1025 to 4096, a block per vertex
//         choose_by_lanes        degrees 17 to 1024, 1 to 32 lanes per vertex
//     ripplet_choose_by_thread   degrees 1 to 16, a lane per vertex
//     ripplet_choose_by_block    large vertices, a block of 1024 per vertex
//     ripplet_choose_by_grid     large vertices that are left, a block of 256 per slice of 1024 arcs
//
// The longest lists come first, so that short ones fill the gaps at the end. Shared memory: dynamic, in bytes of
// the launch (`src/lp/launch.rs`); each function lays it out anew.
#pragma once

namespace ripplet {

struct Step {
    Phase phase;
    Run run;
};

struct Found {
    Copied copied;
    Run run;
};

struct FoundStaged {
    Staged staged;
    Run run;
};

RIPPLET_FN void choose(const Run& run, Phase phase) {
    ThreadCounters counters = {0, 0, 0};
    if constexpr (SKETCH_SLOTS > 0) {
        choose_all_sketched(run, phase, LOW, &counters);
        counters.report(run.state, phase);
        return;
    }
    choose_by_block(run, phase, UP_TO_4096, &counters);
    if (!UNIT) choose_by_block(run, phase, UP_TO_1024, &counters);
    // The next function uses shared memory with another layout, per warp.
    __syncthreads();
    choose_by_lanes(run, phase, &counters);
    counters.report(run.state, phase);
}

RIPPLET_FN void choose_by_threads(const Run& run, Phase phase) {
    ThreadCounters counters = {0, 0, 0};
    choose_low_classes(run, phase, &counters);
    counters.report(run.state, phase);
}

RIPPLET_FN void choose_by_large_blocks(const Run& run, Phase phase) {
    ThreadCounters counters = {0, 0, 0};
    scan_large(run, phase, &counters);
    counters.report(run.state, phase);
}

}  // namespace ripplet

using ripplet::FoundStaged;
using ripplet::Fill;
using ripplet::Found;
using ripplet::Run;
using ripplet::Step;

RIPPLET_KERNEL(ripplet_fill, Fill, it, 256, 1) { ripplet::fill(it); }
RIPPLET_KERNEL(ripplet_start, Run, run, 256, 1) { ripplet::start(run); }
RIPPLET_KERNEL(ripplet_find_most, Run, run, 256, 1) { ripplet::find_most(run); }

RIPPLET_KERNEL(ripplet_compact_frontier, Step, step, 256, 4) { ripplet::compact_frontier(step.run, step.phase); }
#if RIPPLET_STREAMED
RIPPLET_KERNEL(ripplet_begin_part, Step, step, 256, 1) { ripplet::begin_part(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_fetch, Step, step, 256, 4) { ripplet::fetch(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_fetch_long, Step, step, 256, 4) { ripplet::fetch_long(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_forget, Run, run, 256, 4) { ripplet::forget(run); }
RIPPLET_KERNEL(ripplet_request_lists, Step, step, 256, 4) { ripplet::request_lists(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_find_copied, Found, found, 256, 4) { ripplet::find_copied(found.run, found.copied); }
RIPPLET_KERNEL(ripplet_request_changed, Step, step, 256, 4) { ripplet::request_lists_of_changed(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_find_staged, FoundStaged, found, 256, 4) { ripplet::find_staged(found.run, found.staged); }
RIPPLET_KERNEL(ripplet_pull, Step, step, 256, 6) { ripplet::pull(step.run, step.phase); }
#endif
RIPPLET_KERNEL(ripplet_choose_by_thread, Step, step, 256, 5) { ripplet::choose_by_threads(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_choose, Step, step, 256, 3) { ripplet::choose(step.run, step.phase); }
#if RIPPLET_LARGE
RIPPLET_KERNEL(ripplet_sum_pieces, Step, step, 256, 3) { ripplet::sum_pieces(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_choose_by_block, Step, step, 1024, 1) {
    ripplet::choose_by_large_blocks(step.run, step.phase);
}
// With sketches, a cooperative launch: its blocks meet at grid barriers.
RIPPLET_KERNEL(ripplet_choose_by_grid, Step, step, 256, ripplet::SKETCH_SLOTS > 0 ? 3 : 4) {
    if constexpr (ripplet::SKETCH_SLOTS > 0)
        ripplet::choose_large_sketched(step.run, step.phase);
    else
        ripplet::choose_by_grid(step.run, step.phase);
}
#endif
RIPPLET_KERNEL(ripplet_commit, Step, step, 256, 6) { ripplet::commit(step.run, step.phase); }
RIPPLET_KERNEL(ripplet_activate, Step, step, 256, 6) { ripplet::activate_neighbors(step.run, step.phase); }

#if RIPPLET_MEASURED
RIPPLET_KERNEL(ripplet_read_ids, Run, run, 256, 1) { ripplet::read_ids(run.state); }
RIPPLET_KERNEL(ripplet_gather_labels, Run, run, 256, 1) { ripplet::gather_labels(run.state); }
#endif
