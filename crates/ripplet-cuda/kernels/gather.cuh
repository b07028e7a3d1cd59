// The beginning of a phase: what the phase before changed is shown to all, and the vertices whose
// turn it is are listed by degree class.
#pragma once

namespace ripplet {

// Shows what a vertex chose.
RIPPLET_FN void commit(const Field& field, u32 v) {
    const u32 before = field.labels[v], label = field.next[v];
    if (before != label) {
        field.labels[v] = label;
        move_share(field, v, before, label);
    }
    if (DRAFT_LENGTH > 0) commit_draft(field, v);
}

// Shows what the phase before changed; `parity` is its.
RIPPLET_FN void commit_changes(const Field& field, u32 parity) {
    if (IN_PLACE) return;
    const u32 thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
    const u32* counts = field.tallies->changes[parity];
    for (u32 kind = WAKE_TILE; kind < WAKE_PIECES; kind++)
        for (u32 item = thread; item < counts[kind]; item += threads)
            commit(field, field.changes[kind][item]);
    for (u32 item = thread; item < counts[WAKE_PIECES]; item += threads)
        if (field.change_pieces[item].index == 0) commit(field, field.change_pieces[item].owner);
}

// Whose turn it is in a round: see `ripplet_lp::Order::Phased`.
struct Turns {
    u32 key, phases, stride;

    RIPPLET_FN explicit Turns(const Field& field) {
        key = stream_key(field.seed, field.round, PHASE_STREAM);
        phases = field.phases;
        const u32 drawn = part_of(mix(U32_MAX ^ key), 3);
        stride = min(2u << drawn, 1u << min(trailing_zeros(phases), 31u));
    }
    // Member `member` of 8 of a block's unit in a phase. It may lie behind the last vertex.
    RIPPLET_FN u64 vertex(u32 block, u32 member, u32 phase) const {
        const u32 start = part_of(mix(block ^ key), phases);
        const u32 turn = (u32)(((u64)start + phase) % phases);
        const u64 first = (u64)block * 8 * phases + (u64)(turn / stride) * 8 * stride + turn % stride;
        return first + (u64)member * stride;
    }
};

// Lists the active vertices at their turn, which stop being active.
RIPPLET_FN void gather(const Run& run, Turn turn) {
    const Field& field = run.field;
    Tallies* tallies = field.tallies;
    u32* counts = (u32*)shared_memory();
    u32* starts = counts + CLASSES;
    const Turns turns(field);
    const u64 blocks = ((u64)field.vertices + 8ull * turns.phases - 1) / (8ull * turns.phases);
    const u64 candidates = blocks * 8;
    u64 scanned = 0;
    u32 visited = 0;
    for (u64 first = (u64)blockIdx.x * BLOCK; first < candidates; first += (u64)gridDim.x * BLOCK) {
        const u64 candidate = first + threadIdx.x;
        u32 v = 0, degree = 0, class_of_v = CLASSES;
        if (candidate < candidates) {
            const u64 at = turns.vertex((u32)(candidate / 8), (u32)(candidate % 8), turn.phase);
            if (at < field.vertices && field.active[at]) {
                v = (u32)at;
                field.active[v] = 0;
                degree = place_of(field, v).degree();
                visited++;
                scanned += degree;
                // Who hears nobody stays as it is.
                if (degree > 0) class_of_v = class_of(field, degree);
            }
        }
        if (threadIdx.x < CLASSES) counts[threadIdx.x] = 0;
        __syncthreads();
        const bool listed = class_of_v < SPREAD;
        const u32 alike = __match_any_sync(ALL_LANES, class_of_v);
        const u32 before = __popc(alike & ((1u << lane_id()) - 1));
        u32 rank = 0;
        if (listed && before == 0) rank = atomicAdd(counts + class_of_v, (u32)__popc(alike));
        rank = __shfl_sync(ALL_LANES, rank, __ffs(alike) - 1) + before;
        __syncthreads();
        if (threadIdx.x < SPREAD && counts[threadIdx.x] > 0)
            starts[threadIdx.x] = atomicAdd(&tallies->members[threadIdx.x], counts[threadIdx.x]);
        __syncthreads();
        if (listed) field.members[class_of_v][starts[class_of_v] + rank] = v;
        if (class_of_v == SPREAD) spread_out(field, v, degree);
        __syncthreads();
    }
    scanned = warp_sum(scanned);
    visited = warp_sum(visited);
    if (lane_id() == 0 && visited > 0) {
        atomicAdd(&tallies->visited, (u64)visited);
        atomicAdd(&tallies->scanned, scanned);
    }
}

}  // namespace ripplet
