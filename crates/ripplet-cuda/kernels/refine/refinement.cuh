// Kernels that refinement alone has: its steps between levels (`levels.cuh`), and its choices in four classes each
// (`choose.cuh`).
//
//     choice       gain        the labels are
//     move         64 bits     communities
//     move_wide    128 bits    communities
//     join         64 bits     parts of a community
//     join_wide    128 bits    parts of a community
//
// The host takes the wide kernels on levels whose largest gain may exceed 64 bits. Mapping and shared memory: those of
// the two files. Traag, Waltman and van Eck (2019): see `choose.cuh`.
#pragma once

RIPPLET_STEP(separate, 256, 4, separate)
RIPPLET_STEP(keep, 256, 4, keep)
RIPPLET_STEP(fix_parts, 256, 4, fix_parts)
RIPPLET_STEP(find_lowered, 256, 4, find_lowered)
RIPPLET_STEP(lower, 256, 4, lower)
RIPPLET_STEP(activate_borders, 256, 4, activate_borders)
RIPPLET_STEP(sum_inner, 256, 4, sum_inner)
RIPPLET_STEP(sum_squares, 256, 4, sum_squares)

namespace ripplet {

// Of communities and of parts, with gains of 64 and of 128 bits.
using Move = Chooser<Gain64, false>;
using MoveWide = Chooser<Gain128, false>;
using Join = Chooser<Gain64, true>;
using JoinWide = Chooser<Gain128, true>;

}  // namespace ripplet

RIPPLET_CHOOSE(move, ripplet::Move)
RIPPLET_CHOOSE(move_wide, ripplet::MoveWide)
RIPPLET_CHOOSE(join, ripplet::Join)
RIPPLET_CHOOSE(join_wide, ripplet::JoinWide)
