// A graph whose lists are not all on the device: those of its first vertices are, the others' stay in the host's memory,
// where kernels can read them as well, over the bus. A phase's members have theirs fetched to the stage, each once;
// what finds no room there is read where it lies.
//
// Words of 4 bytes are counted from address 0, so that one number says where a list is, wherever that may be.
#pragma once

namespace ripplet {

// A shard's lists of one direction: the word in which its first arc (of compressed lists, its first word) would be if
// all were on the device, and if all were in the host's memory; the same of weights, of plain lists alone.
struct StreamedLists {
    u64 near, far, near_weights, far_weights;
    // Of compressed lists, the heads of the blocks that are in the host's memory: whoever asks for a degree need not go
    // there. By block of the shard, where in `heads` its head is.
    const u32 *heads, *head_begins;
};

struct StreamedShard {
    u64 first;
    StreamedLists out, incoming;
};

// In `fetched`: a list that is read where it is, and one that is to be fetched.
constexpr u32 UNFETCHED = 0xffffffffu, WANTED = 0xfffffffeu;

// Where a list is in the host's memory.
struct Far {
    u64 word, weights;
    u32 words;
};

RIPPLET_FN const u32* word_at(u64 word) { return (const u32*)(word * 4); }

}  // namespace ripplet
