// Kernels that refinement and merging have: each is one function of the files before, for all vertices of a level.
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
