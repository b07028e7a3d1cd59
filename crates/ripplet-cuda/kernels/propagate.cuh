// The kernels: a round's stages one by one, and all of a round in one launch.
#pragma once

namespace ripplet {

struct Step {
    Turn turn;
    // Phases from `turn.phase` on, for the kernel that does several.
    u32 phases, pad;
    Run run;
};

// Every class but those that many blocks share.
RIPPLET_FN void choose(const Run& run, Turn turn) {
    choose_scanned(run, turn);
    __syncthreads();
    choose_by_blocks(run, turn);
    __syncthreads();
    choose_by_warps(run, turn);
    // Tiles use shared memory otherwise.
    __syncthreads();
    choose_tiles<32>(run, turn, TILE_32);
    choose_tiles<16>(run, turn, TILE_16);
    choose_tiles<8>(run, turn, TILE_8);
    choose_tiles<4>(run, turn, TILE_4);
}

}  // namespace ripplet

using ripplet::Fill;
using ripplet::Run;
using ripplet::Step;

RIPPLET_KERNEL(ripplet_fill, Fill, it, 256, 1) { ripplet::fill(it); }
RIPPLET_KERNEL(ripplet_start, Run, run, 256, 1) { ripplet::start(run); }
RIPPLET_KERNEL(ripplet_find_most, Run, run, 256, 1) { ripplet::find_most(run); }

RIPPLET_KERNEL(ripplet_commit, Step, step, 256, 1) {
    ripplet::commit_changes(step.run.field, step.turn.parity);
}
#if RIPPLET_STAGED
RIPPLET_KERNEL(ripplet_gather, Step, step, 256, 1) {
    ripplet::commit_changes(step.run.field, step.turn.parity ^ 1);
    ripplet::gather(step.run, step.turn);
}
RIPPLET_KERNEL(ripplet_choose, Step, step, 256, 4) { ripplet::choose(step.run, step.turn); }
#endif

#if RIPPLET_MEASURED
RIPPLET_KERNEL(ripplet_choose_tiles, Step, step, 256, 5) {
    ripplet::choose_tiles<32>(step.run, step.turn, ripplet::TILE_32);
    ripplet::choose_tiles<16>(step.run, step.turn, ripplet::TILE_16);
    ripplet::choose_tiles<8>(step.run, step.turn, ripplet::TILE_8);
    ripplet::choose_tiles<4>(step.run, step.turn, ripplet::TILE_4);
}
RIPPLET_KERNEL(ripplet_choose_by_warps, Step, step, 256, 4) {
    ripplet::choose_by_warps(step.run, step.turn);
}
RIPPLET_KERNEL(ripplet_choose_by_blocks, Step, step, 256, 4) {
    ripplet::choose_by_blocks(step.run, step.turn);
}
RIPPLET_KERNEL(ripplet_choose_scanned, Step, step, 256, 4) {
    ripplet::choose_scanned(step.run, step.turn);
}
#endif

#if RIPPLET_STAGED
// Cooperative.
RIPPLET_KERNEL(ripplet_choose_spread, Step, step, 256, 4) {
    ripplet::choose_spread(step.run, step.turn);
}
RIPPLET_KERNEL(ripplet_wake, Step, step, 256, 1) { ripplet::wake(step.run, step.turn); }
#endif

#if RIPPLET_MEASURED
RIPPLET_KERNEL(ripplet_read_ids, Run, run, 256, 1) { ripplet::read_ids(run.field); }
RIPPLET_KERNEL(ripplet_gather_labels, Run, run, 256, 1) { ripplet::gather_labels(run.field); }
#endif

#if RIPPLET_FUSED
// Several phases in one launch; cooperative.
RIPPLET_KERNEL(ripplet_phases, Step, step, 256, 4) {
    const ripplet::Run& run = step.run;
    ripplet::Barrier* barrier = &run.field.tallies->barrier;
    ripplet::Turn turn = step.turn;
    for (ripplet::u32 phase = 0; phase < step.phases; phase++) {
        ripplet::commit_changes(run.field, turn.parity ^ 1);
        ripplet::gather(run, turn);
        ripplet::grid_barrier(barrier);
        ripplet::choose(run, turn);
        ripplet::grid_barrier(barrier);
        ripplet::choose_spread(run, turn);
        ripplet::grid_barrier(barrier);
        ripplet::wake(run, turn);
        ripplet::grid_barrier(barrier);
        turn.phase++;
        turn.parity ^= 1;
    }
}
#endif
