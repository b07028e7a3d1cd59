// Kernels that both refinement and merging have: each is one function of the files before, over all vertices of a
// level. `RIPPLET_STEP` and `RIPPLET_CHOOSE` declare kernels here, and in `refinement.cuh`, `merge.cuh` and
// `size_limit.cuh`.
//
//     kernels (`ripplet_refine_…`)         threads of a block            items                     file
//     count_order, fill_order              256                           a thread per vertex       order.cuh
//     start_order                          32, one block                 a lane per bin            order.cuh
//     CHOICE_0, CHOICE_1                   256                           4 or 32 lanes per vertex  choose.cuh
//     CHOICE_2, CHOICE_3                   256, 512                      a block per vertex        choose.cuh
//     contract_0 to contract_3             the same                      the same per part         contract.cuh
//     commit                               256                           a thread per change       commit.cuh
//     activate, activate_long              256                           8 lanes; the grid         commit.cuh
//     find_finished to group_members       256; of `sum_…` one of 1024   a thread per vertex, part contract.cuh
//     sum_up_huge, append_huge             256                           the grid for one part     contract.cuh
//     finish_huge                          32, one block                 a thread for one part     contract.cuh
//     sum_masses to lift                   256                           a thread per vertex, part levels.cuh
//
// A choice is `move`, `move_wide`, `join`, `join_wide` or `merge`. The numbers behind a kernel's name are threads per
// block and blocks per multiprocessor that registers must allow: 4 blocks of 256, or 2 of 512, leave 64 of 65,536
// registers to a thread. Other bounds are not measured. Shared memory: each function lays out what the launch gives
// (`src/refine/launch.rs`).
#pragma once

using ripplet::Work;

#define RIPPLET_STEP(name, threads, blocks, call) \
    RIPPLET_KERNEL(ripplet_refine_##name, Work, work, threads, blocks) { ripplet::call(work); }

RIPPLET_STEP(count_order, 256, 4, count_order)
RIPPLET_STEP(start_order, 32, 1, start_order)
RIPPLET_STEP(fill_order, 256, 4, fill_order)
RIPPLET_STEP(commit, 256, 4, commit)
RIPPLET_STEP(activate, 256, 4, activate)
RIPPLET_STEP(activate_long, 256, 4, activate_long)
RIPPLET_STEP(find_finished, 256, 4, find_finished)
RIPPLET_STEP(unite_finished, 256, 4, unite_finished)
RIPPLET_STEP(count_founders, 256, 4, count_founders)
RIPPLET_STEP(sum_founders, 1024, 1, sum_founders)
RIPPLET_STEP(number_founders, 256, 4, number_founders)
RIPPLET_STEP(find_parts, 256, 4, find_parts)
RIPPLET_STEP(count_members, 256, 4, count_members)
RIPPLET_STEP(count_of_parts, 256, 4, count_of_parts)
RIPPLET_STEP(sum_of_parts, 1024, 1, sum_of_parts)
RIPPLET_STEP(begin_parts, 256, 4, begin_parts)
RIPPLET_STEP(group_members, 256, 4, group_members)
RIPPLET_STEP(contract_0, 256, 4, contract_by_group<0>)
RIPPLET_STEP(contract_1, 256, 4, contract_by_group<1>)
RIPPLET_KERNEL(ripplet_refine_contract_2, Work, work, 256, 4) { ripplet::contract_by_block<2, 256>(work); }
RIPPLET_KERNEL(ripplet_refine_contract_3, Work, work, 512, 2) { ripplet::contract_by_block<3, 512>(work); }
RIPPLET_STEP(sum_up_huge, 256, 4, sum_up_huge)
RIPPLET_STEP(append_huge, 256, 4, append_huge)
RIPPLET_STEP(finish_huge, 32, 1, finish_huge)
RIPPLET_STEP(sum_masses, 256, 4, sum_masses)
RIPPLET_STEP(count_joined, 256, 4, count_joined)
RIPPLET_STEP(measure, 256, 4, measure)
RIPPLET_STEP(find_lifted, 256, 4, find_lifted)
RIPPLET_STEP(lift, 256, 4, lift)

// The four classes of a choice.
#define RIPPLET_CHOOSE(name, Choice)                                                                       \
    RIPPLET_KERNEL(ripplet_refine_##name##_0, Work, work, 256, 4) {                                        \
        ripplet::choose_by_group<Choice, 0>(work);                                                         \
    }                                                                                                      \
    RIPPLET_KERNEL(ripplet_refine_##name##_1, Work, work, 256, 4) {                                        \
        ripplet::choose_by_group<Choice, 1>(work);                                                         \
    }                                                                                                      \
    RIPPLET_KERNEL(ripplet_refine_##name##_2, Work, work, 256, 4) {                                        \
        ripplet::choose_by_block<Choice, 2, 256>(work);                                                    \
    }                                                                                                      \
    RIPPLET_KERNEL(ripplet_refine_##name##_3, Work, work, 512, 2) {                                        \
        ripplet::choose_by_block<Choice, 3, 512>(work);                                                    \
    }
