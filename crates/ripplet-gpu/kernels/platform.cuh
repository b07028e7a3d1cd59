// The platform of the kernels: CUDA, or the emulator that runs them on a CPU. Comes after `scalar.cuh`.
//
// Kernels use threadIdx.x, blockIdx.x, blockDim.x and gridDim.x, blocks of whole warps, atomics, __ldg, and
// what is in this file. Warp and block collectives are called by all lanes or threads, never by a part of
// them. The emulator supports nothing else.
#pragma once

#ifndef RIPPLET_EMULATOR
#define RIPPLET_EMULATOR 0
#endif

// `RIPPLET_KERNEL(name, Type, argument, threads, blocks) { … }` defines a kernel of one argument, for at most
// `threads` threads a block; registers are limited so that `blocks` blocks fit a multiprocessor.
//
// From compute capability 9.0 on, its first step waits for the previous launch, and the symbol `name_waits` marks it, so that
// the device may start its blocks before the previous launch has ended (`bench/runs/2026-11-29-h200/waiting-kernels.txt`:
// 1.5 to 4 % of a run). On older ones there is neither.
#if RIPPLET_EMULATOR
#define RIPPLET_KERNEL(name, Type, argument, threads, blocks)                         \
    static void name##_body(const Type& argument);                                    \
    extern "C" void name(const void* bytes) { name##_body(*(const Type*)bytes); }     \
    static void name##_body(const Type& argument)
#else
#if __CUDA_ARCH__ >= 900
#define RIPPLET_MARK_WAITING(name) extern "C" __device__ unsigned char name##_waits = 1;
#else
#define RIPPLET_MARK_WAITING(name)
#endif
#define RIPPLET_KERNEL(name, Type, argument, threads, blocks)             \
    RIPPLET_FN void name##_body(const Type& argument);                    \
    RIPPLET_MARK_WAITING(name)                                            \
    extern "C" __global__ void __launch_bounds__(threads, blocks)         \
        name(const __grid_constant__ Type argument) {                     \
        ripplet::wait_for_previous_launch();                              \
        name##_body(argument);                                            \
    }                                                                     \
    RIPPLET_FN void name##_body(const Type& argument)
#endif

namespace ripplet {

constexpr u32 ALL_LANES = 0xffffffffu;

#if !RIPPLET_EMULATOR
// Waits until the previous launch has ended and its writes are visible. With `griddepcontrol.launch_dependents` before it,
// runs took 5 to 12 % longer than without both on three graphs of four: blocks that wait occupied multiprocessors that
// concurrent kernels needed (`waiting-kernels-variants.txt`).
RIPPLET_FN void wait_for_previous_launch() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#endif

// The block's dynamic shared memory, aligned to 16 bytes.
RIPPLET_FN unsigned char* shared_memory() {
#if RIPPLET_EMULATOR
    return ripplet_emulator::shared_memory();
#else
    extern __shared__ uint4 block_memory[];
    return (unsigned char*)block_memory;
#endif
}

// State of the grid barrier of a cooperative launch. Zeroed once, before the first launch.
struct Barrier {
    u32 arrived, generation;
};

// Waits until every thread of the grid has arrived. Writes before the barrier are visible after it.
RIPPLET_FN void grid_barrier(Barrier* barrier) {
#if RIPPLET_EMULATOR
    (void)barrier;
    ripplet_emulator::grid_barrier();
#else
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile u32* generation = &barrier->generation;
        const u32 before = *generation;
        if (atomicAdd(&barrier->arrived, 1u) == gridDim.x - 1) {
            barrier->arrived = 0;
            __threadfence();
            *generation = before + 1;
        } else {
            while (*generation == before) {}
        }
        __threadfence();
    }
    __syncthreads();
#endif
}

// Adds 1 to a counter when all threads of the block have arrived, and returns the sum to all of them, by 4 bytes of
// shared memory. Writes before it are visible to those who find this sum or a larger one, here or by `wait_until`.
RIPPLET_FN u32 count_up(u32* counter, unsigned char* memory) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        *(u32*)memory = atomicAdd(counter, 1u) + 1;
        __threadfence();
    }
    __syncthreads();
    const u32 sum = *(u32*)memory;
    __syncthreads();
    return sum;
}

// Waits until other blocks have brought a counter to a value. All threads of the block call it. The launch ends only if
// those blocks run, or have ended: they must not wait for this block.
RIPPLET_FN void wait_until(const u32* counter, u32 value) {
    if (threadIdx.x == 0) {
        while (*(const volatile u32*)counter < value) __nanosleep(32);
        __threadfence();
    }
    __syncthreads();
}

RIPPLET_FN u32 lane_id() { return threadIdx.x & 31u; }

// Minimum, maximum and sum over the lanes of a warp.
#if !RIPPLET_EMULATOR && __CUDA_ARCH__ >= 800
RIPPLET_FN u32 warp_min(u32 x) { return __reduce_min_sync(ALL_LANES, x); }
RIPPLET_FN u32 warp_max(u32 x) { return __reduce_max_sync(ALL_LANES, x); }
RIPPLET_FN u32 warp_sum(u32 x) { return __reduce_add_sync(ALL_LANES, x); }
#else
RIPPLET_FN u32 warp_min(u32 x) {
    for (u32 step = 16; step > 0; step /= 2) x = min(x, (u32)__shfl_xor_sync(ALL_LANES, x, step));
    return x;
}
RIPPLET_FN u32 warp_max(u32 x) {
    for (u32 step = 16; step > 0; step /= 2) x = max(x, (u32)__shfl_xor_sync(ALL_LANES, x, step));
    return x;
}
RIPPLET_FN u32 warp_sum(u32 x) {
    for (u32 step = 16; step > 0; step /= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
    return x;
}
#endif
RIPPLET_FN u64 warp_sum(u64 x) {
    for (u32 step = 16; step > 0; step /= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
    return x;
}
RIPPLET_FN u64 warp_max(u64 x) {
    for (u32 step = 16; step > 0; step /= 2) x = max(x, (u64)__shfl_xor_sync(ALL_LANES, x, step));
    return x;
}

// Exclusive prefix sum over the lanes of a warp.
template <class T> RIPPLET_FN T sum_before(T mine) {
    T sum = mine;
    for (u32 step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(ALL_LANES, sum, step);
        if (lane_id() >= step) sum += other;
    }
    return sum - mine;
}

// Allocates an index in a list of `count` items for each lane with `has` set, with one atomic per warp. All
// lanes call it; the result of a lane without `has` is meaningless.
RIPPLET_FN u32 append(u32* count, bool has) {
    const u32 all = __ballot_sync(ALL_LANES, has);
    u32 first = 0;
    if (lane_id() == 0 && all != 0) first = atomicAdd(count, (u32)__popc(all));
    first = __shfl_sync(ALL_LANES, first, 0);
    return first + __popc(all & ((1u << lane_id()) - 1));
}

}  // namespace ripplet
