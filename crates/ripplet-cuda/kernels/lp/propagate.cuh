// Entry points of a phase's kernels; `../README.md` walks through their launches. The numbers behind each
// argument are threads per block and blocks per multiprocessor that registers must allow.
#pragma once

namespace ripplet {

struct Step {
    Turn turn;
    Run run;
};

struct Found {
    Copied copied;
    Run run;
};

struct FoundFerried {
    Ferried ferried;
    Run run;
};

RIPPLET_FN void choose(const Run& run, Turn turn) {
    Seen seen = {0, 0, 0};
    cast_pieces(run, turn);
    if constexpr (SKETCH_SLOTS > 0) {
        // The next functions use shared memory with another layout, per warp.
        __syncthreads();
        choose_all_sketched(run, turn, LOW, &seen);
        seen.report(run.field, turn);
        return;
    }
    choose_held(run, turn, UP_TO_4096, &seen);
    if (!UNIT) choose_held(run, turn, UP_TO_1024, &seen);
    // The next function uses shared memory with another layout, per warp.
    __syncthreads();
    choose_middle(run, turn, &seen);
    seen.report(run.field, turn);
}

RIPPLET_FN void choose_lowest(const Run& run, Turn turn) {
    Seen seen = {0, 0, 0};
    choose_low(run, turn, &seen);
    seen.report(run.field, turn);
}

RIPPLET_FN void choose_large(const Run& run, Turn turn) {
    Seen seen = {0, 0, 0};
    choose_scanned(run, turn, &seen);
    seen.report(run.field, turn);
}

}  // namespace ripplet

using ripplet::FoundFerried;
using ripplet::Fill;
using ripplet::Found;
using ripplet::Run;
using ripplet::Step;

RIPPLET_KERNEL(ripplet_fill, Fill, it, 256, 1) { ripplet::fill(it); }
RIPPLET_KERNEL(ripplet_start, Run, run, 256, 1) { ripplet::start(run); }
RIPPLET_KERNEL(ripplet_find_most, Run, run, 256, 1) { ripplet::find_most(run); }

RIPPLET_KERNEL(ripplet_gather, Step, step, 256, 4) { ripplet::gather(step.run, step.turn); }
#if RIPPLET_STREAMED
RIPPLET_KERNEL(ripplet_begin_part, Step, step, 256, 1) { ripplet::begin_part(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_fetch, Step, step, 256, 4) { ripplet::fetch(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_fetch_long, Step, step, 256, 4) { ripplet::fetch_long(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_forget, Run, run, 256, 4) { ripplet::forget(run); }
RIPPLET_KERNEL(ripplet_want, Step, step, 256, 4) { ripplet::want(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_find_copied, Found, found, 256, 4) { ripplet::find_copied(found.run, found.copied); }
RIPPLET_KERNEL(ripplet_want_changed, Step, step, 256, 4) { ripplet::want_changed(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_find_ferried, FoundFerried, found, 256, 4) { ripplet::find_ferried(found.run, found.ferried); }
RIPPLET_KERNEL(ripplet_ask, Step, step, 256, 6) { ripplet::ask(step.run, step.turn); }
#endif
RIPPLET_KERNEL(ripplet_choose_low, Step, step, 256, 5) { ripplet::choose_lowest(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_choose, Step, step, 256, 3) { ripplet::choose(step.run, step.turn); }
RIPPLET_KERNEL(ripplet_choose_scanned, Step, step, 1024, 1) {
    ripplet::choose_large(step.run, step.turn);
}
// A cooperative launch: its blocks meet at grid barriers.
RIPPLET_KERNEL(ripplet_choose_spread, Step, step, 256, 3) {
    if constexpr (ripplet::SKETCH_SLOTS > 0)
        ripplet::choose_large_sketched(step.run, step.turn);
    else
        ripplet::choose_spread(step.run, step.turn);
}
RIPPLET_KERNEL(ripplet_show, Step, step, 256, 6) {
    if constexpr (!ripplet::IN_PLACE) ripplet::show(step.run, step.turn);
}
RIPPLET_KERNEL(ripplet_wake, Step, step, 256, 6) { ripplet::wake(step.run, step.turn); }

#if RIPPLET_MEASURED
RIPPLET_KERNEL(ripplet_read_ids, Run, run, 256, 1) { ripplet::read_ids(run.field); }
RIPPLET_KERNEL(ripplet_gather_labels, Run, run, 256, 1) { ripplet::gather_labels(run.field); }
#endif
