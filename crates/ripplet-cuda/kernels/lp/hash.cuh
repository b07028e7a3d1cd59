// Counter-based random numbers: pure functions of (seed, round, stream, vertex), as `ripplet_lp` defines them.
//
//     key  = mix(seed ^ mix(round ^ mix(stream)))        once for a round
//     draw = mix(vertex ^ key)                           32 bits for a vertex, in any order, on any device
//
// Mapping: called by any thread; no shared memory. Wellons: lowbias32 (hash-prospector, 2018).
#pragma once

namespace ripplet {

constexpr u32 PHASE_STREAM = 1, TIE_STREAM = 2, VOLUME_STREAM = 3, START_STREAM = 4,
              PROGRAM_STREAM = 16;

// lowbias32 (Wellons): a bijection of 32 bits.
RIPPLET_FN u32 mix(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

RIPPLET_FN u32 stream_key(u32 seed, u32 round, u32 stream) {
    return mix(seed ^ mix(round ^ mix(stream)));
}

// Maps 32 hashed bits to 0 .. parts - 1, by multiplication and shift.
RIPPLET_FN u32 part_of(u32 hashed, u32 parts) { return (u32)(((u64)hashed * parts) >> 32); }

}  // namespace ripplet
