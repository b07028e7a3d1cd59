// A graph whose lists are not all on the device. The lists of its first vertices are; the others stay in the
// host's memory, pinned, and kernels can read them over the bus. Lists that a phase needs are fetched into
// the staging area, each once; a list that finds no room there is read over the bus each time.
//
//     vertices                 0 ... near_end                near_end ... n
//     lists                    device memory (`near`)        host's memory (`far`) or a file
//     lists that are needed                                  device memory: the staging area
//
//     fetched[v]               UNFETCHED  -->  REQUESTED  -->  word in the staging area  -->  UNFETCHED
//     the list of v is read    far             far             staging area                   far
//
// Places are words of 4 bytes counted from address 0, so that one number locates a list in either memory.
//
// Mapping: structs, and a function that any thread calls; no shared memory. `lp/fetch.cuh` has the kernels.
// docs/adr/0014-streamed-lists.md has the reasons.
#pragma once

namespace ripplet {

// A shard's lists of one direction: the word at which its first arc would be if all lists were on the device
// (`near`), or in the host's memory (`far`). Of compressed lists, the shard's first word. Weights exist for
// plain lists only.
struct StreamedLists {
    u64 near, far, near_weights, far_weights;
    // Of compressed lists, copies of the heads of blocks in the host's memory, so that degrees are known on
    // the device. `head_begins` has the position of a block's head in `heads`, in words, by block of the
    // shard.
    const u32 *heads, *head_begins;
};

struct StreamedShard {
    u64 first;
    StreamedLists out, incoming;
};

// Values of `fetched`: the list is read where it lies; the list is requested.
constexpr u32 UNFETCHED = 0xffffffffu, REQUESTED = 0xfffffffeu;

// Place of a list in the host's memory: first word, first word of its weights, and length.
struct Far {
    u64 word, weights;
    u32 words;
};

RIPPLET_FN const u32* word_at(u64 word) { return (const u32*)(word * 4); }

}  // namespace ripplet
