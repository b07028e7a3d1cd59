// A sketch of a vertex's votes (Misra-Gries or Boyer-Moore): `ripplet_lp::counters` has the definition. A group of
// lanes has a sketch in its registers, up to eight slots a lane: 1, 2 or 4 lanes. No shared memory. Functions are
// called by all lanes of a warp together, as groups exchange slots by shuffles.
//
//     SKETCH_SLOTS = 16: 2 lanes a sketch, 16 sketches a warp
//
//     lane      |      0      |      1      |      2      |      3      | ...
//     sketch    |             0             |             1             | ...
//     slots     |  0 ... 7    |  8 ... 15   |  0 ... 7    |  8 ... 15   | ...
//
//     take      the slot of the label gains the weight; if there is none, a free slot takes the label; otherwise
//               all slots and the vote lose the least of their weights
//     merge     the slots of another sketch are taken one after the other:  0+1, 2+3, then (0+1)+(2+3), ...
//
// Sahu, Memory efficient GPU-based label propagation algorithm for community detection on large graphs (2024):
// νMG8-LPA and νBM-LPA. There, eight lanes share a sketch of eight slots.
#pragma once

namespace ripplet {

// Arcs of a part, as `ripplet_lp::counters` defines them; slots of a sketch and of a lane; lanes of a sketch; sketches
// of a warp. Eight slots a lane, with weights of 8 bytes, are 24 registers; other numbers are not measured.
constexpr u32 PART = 128;
constexpr u32 SLOTS = SKETCH_SLOTS > 0 ? SKETCH_SLOTS : 1;
constexpr u32 OWN = SLOTS < 8 ? SLOTS : 8;
constexpr u32 GROUP = SLOTS <= 8 ? 1 : SLOTS <= 16 ? 2 : 4;
constexpr u32 SIDE_BY_SIDE = 32 / GROUP;
typedef Lanes<GROUP> Group;

// This lane's slots of its group's sketch. A free slot has weight 0 and no label.
struct Slots {
    u32 labels[OWN];
    KeySum weights[OWN];

    RIPPLET_FN static Slots nothing() {
        Slots slots;
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            slots.labels[at] = NO_LABEL;
            slots.weights[at] = 0;
        }
        return slots;
    }
    // The index of a slot in the group's sketch, and whether the sketch has that many.
    RIPPLET_FN static u32 number(u32 at) { return lane_id() % GROUP * OWN + at; }
    RIPPLET_FN static bool is_there(u32 at) { return SLOTS % OWN == 0 || number(at) < SLOTS; }
    // The first free slot of this lane, or `OWN`.
    RIPPLET_FN u32 first_free() const {
        u32 free = OWN;
#pragma unroll
        for (u32 at = OWN; at-- > 0;)
            if (weights[at] == 0 && is_there(at)) free = at;
        return free;
    }
    RIPPLET_FN void set(u32 slot, u32 label, KeySum weight) {
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            if (at != slot) continue;
            labels[at] = label;
            weights[at] = weight;
        }
    }

    // Adds a vote, the same at all lanes of the group. A vote of weight 0 has no effect.
    RIPPLET_FN void take(u32 label, KeySum weight) {
        if constexpr (BY_MAJORITY)
            take_by_majority(label, weight);
        else
            take_by_slots(label, weight);
    }
    RIPPLET_FN void take_by_majority(u32 label, KeySum weight) {
        if (weight == 0) return;
        if (labels[0] == label)
            weights[0] += weight;
        else if (weights[0] > weight)
            weights[0] -= weight;
        else
            set(0, label, weight);
    }
    RIPPLET_FN void take_by_slots(u32 label, KeySum weight) {
        const Group group = {GROUP};
        bool has_slot = false;
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            const bool is_its = weight > 0 && labels[at] == label;
            if (is_its) weights[at] += weight;
            has_slot |= is_its;
        }
        const u32 lanes_with_slot = group.count(has_slot);
        const bool open = weight > 0 && lanes_with_slot == 0;
        if (!__any_sync(ALL_LANES, open)) return;
        u32 free = first_free();
        u32 holder = lane_of_first(free);
        const bool is_full = open && holder == U32_MAX;
        if (__any_sync(ALL_LANES, is_full)) {
            KeySum loss = weight;
#pragma unroll
            for (u32 at = 0; at < OWN; at++)
                if (is_there(at)) loss = min(loss, weights[at]);
            for (u32 step = GROUP / 2; step > 0; step /= 2)
                loss = min(loss, (KeySum)__shfl_xor_sync(ALL_LANES, loss, step));
            if (is_full) {
                weight -= loss;
#pragma unroll
                for (u32 at = 0; at < OWN; at++) {
                    weights[at] -= is_there(at) ? loss : 0;
                    if (weights[at] == 0) labels[at] = NO_LABEL;
                }
            }
            free = first_free();
            holder = lane_of_first(free);
        }
        if (open && weight > 0 && holder == lane_id()) set(free, label, weight);
    }
    // The first lane of the group that has a free slot; U32_MAX if none has.
    RIPPLET_FN static u32 lane_of_first(u32 free) {
        if constexpr (GROUP == 1) return free < OWN ? lane_id() : U32_MAX;
        const u32 holders = __ballot_sync(ALL_LANES, free < OWN) & Group{GROUP}.lanes();
        return holders != 0 ? (u32)__ffs(holders) - 1 : U32_MAX;
    }

    // Counts the votes for the candidates exactly, from votes that are all in this lane.
    template <u32 KEYS> RIPPLET_FN void recount(const Key (&keys)[KEYS]) {
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            weights[at] = 0;
            if (labels[at] == NO_LABEL) continue;
#pragma unroll
            for (u32 key = 0; key < KEYS; key++)
                if (label_of(keys[key]) == labels[at]) weights[at] += weight_of(keys[key]);
        }
    }

    // The slots of another group of the warp.
    RIPPLET_FN Slots of_group(u32 number) const {
        Slots slots;
        const u32 lane = number % SIDE_BY_SIDE * GROUP + lane_id() % GROUP;
#pragma unroll
        for (u32 at = 0; at < OWN; at++) {
            slots.labels[at] = __shfl_sync(ALL_LANES, labels[at], lane);
            slots.weights[at] = __shfl_sync(ALL_LANES, weights[at], lane);
        }
        return slots;
    }
    // Merges the sketch of the group `step` further on into this one, if `takes` is set.
    RIPPLET_FN void merge(u32 step, bool takes) {
        const u32 right = (lane_id() / GROUP + step) % SIDE_BY_SIDE;
        if constexpr (BY_MAJORITY) {
            const Slots other = of_group(right);
            if (takes && other.weights[0] > weights[0]) *this = other;
            return;
        }
        // A group that is merged into another merges none itself at the same time. Unrolled, this loop would
        // be most of the kernels' code, and NVRTC would take three times as long for sketches of 32 slots.
#pragma unroll 1
        for (u32 rank = 0; rank < GROUP; rank++) {
#pragma unroll
            for (u32 at = 0; at < OWN; at++) {
                const u32 label = __shfl_sync(ALL_LANES, labels[at], right * GROUP + rank);
                const KeySum weight = __shfl_sync(ALL_LANES, weights[at], right * GROUP + rank);
                take(label, takes ? weight : 0);
            }
        }
    }
    // Merges the sketches of `count` neighbouring groups into the first, whose index is a multiple of
    // `count`.
    RIPPLET_FN void merge_all(u32 count) {
#pragma unroll 1
        for (u32 step = 1; step < count; step *= 2)
            merge(step, lane_id() / GROUP % (2 * step) == 0);
    }
};

}  // namespace ripplet
