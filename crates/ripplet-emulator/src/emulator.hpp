// The part of CUDA that kernels use, as `platform.cuh` restricts them, for a C++17 compiler. Comes before the
// program's text. `fibers.cpp` implements the collectives.
#pragma once

#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(...)

// Default arguments: the place of the call in the kernel's text.
#define RIPPLET_SITE const char* file = __builtin_FILE(), int line = __builtin_LINE()

#if defined(__clang__)
#define RIPPLET_COLLECTIVE __attribute__((convergent, noduplicate, visibility("hidden")))
#else
#define RIPPLET_COLLECTIVE __attribute__((visibility("hidden")))
#endif
// Called in every collective; kernels are compiled without inlining.
#define RIPPLET_INLINE inline __attribute__((always_inline))
#define RIPPLET_HIDDEN __attribute__((visibility("hidden")))

namespace ripplet_emulator {

// Collectives. `fibers.cpp` has their names, in this order.
enum Call : unsigned {
    RETURN,
    // of a warp
    SYNCWARP,
    SHFL,
    SHFL_UP,
    SHFL_DOWN,
    SHFL_XOR,
    BALLOT,
    ANY,
    ALL,
    MATCH_ANY,
    REDUCE_MIN_U32,
    REDUCE_MAX_U32,
    REDUCE_MIN_I32,
    REDUCE_MAX_I32,
    REDUCE_ADD,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
    // of a block
    SYNCTHREADS,
    SYNCTHREADS_OR,
    SYNCTHREADS_AND,
    SYNCTHREADS_COUNT,
    // of the grid
    GRID_BARRIER,
};

struct Index {
    unsigned x;
};

// Indices of the running thread.
extern "C" RIPPLET_HIDDEN Index ripplet_thread_index, ripplet_block_index, ripplet_block_size,
    ripplet_grid_size;

// Atomics until another thread runs.
extern "C" RIPPLET_HIDDEN unsigned ripplet_atomics_left;

extern "C" {
// Waits for all participants, and returns this thread's result.
RIPPLET_COLLECTIVE unsigned long long ripplet_collective(Call call, unsigned mask, unsigned long long value,
                                                unsigned parameter, const char* file, int line);
// Lets another thread run.
RIPPLET_HIDDEN void ripplet_yield(bool sleeps);
RIPPLET_HIDDEN unsigned char* ripplet_shared_memory();
[[noreturn]] RIPPLET_HIDDEN void ripplet_trap(const char* what, const char* file, int line);
}

inline unsigned char* shared_memory() { return ripplet_shared_memory(); }

inline void grid_barrier(RIPPLET_SITE) {
    ripplet_collective(GRID_BARRIER, 0xffffffffu, 0, 0, file, line);
}

// A value as bits, and back.
template <class T> RIPPLET_INLINE unsigned long long bits_of(T value) {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> RIPPLET_INLINE T of_bits(unsigned long long bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// A shuffle's second operand and the width of its groups, in one word.
RIPPLET_INLINE unsigned shuffle_parameter(unsigned operand, int width, const char* file, int line) {
    if (width <= 0 || width > 32 || (width & (width - 1)) != 0)
        ripplet_trap("a shuffle's width is not 1, 2, 4, 8, 16 or 32", file, line);
    return (operand & 31u) | (unsigned)width << 8;
}

// Called before each atomic operation.
inline void before_atomic() {
    if (--ripplet_atomics_left == 0) ripplet_yield(false);
}

}  // namespace ripplet_emulator

#define threadIdx ((const ripplet_emulator::Index&)ripplet_emulator::ripplet_thread_index)
#define blockIdx ((const ripplet_emulator::Index&)ripplet_emulator::ripplet_block_index)
#define blockDim ((const ripplet_emulator::Index&)ripplet_emulator::ripplet_block_size)
#define gridDim ((const ripplet_emulator::Index&)ripplet_emulator::ripplet_grid_size)
constexpr int warpSize = 32;

// --- Vectors ---

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return uint2{x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return uint4{x, y, z, w};
}
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) {
    return ulonglong2{x, y};
}

// --- Collectives of a warp ---

inline void __syncwarp(unsigned mask = 0xffffffffu, RIPPLET_SITE) {
    ripplet_emulator::ripplet_collective(ripplet_emulator::SYNCWARP, mask, 0, 0, file, line);
}

#define RIPPLET_SHUFFLE(name, call, T, Operand)                                                  \
    inline T name(unsigned mask, T value, Operand operand, int width = 32, RIPPLET_SITE) {       \
        return ripplet_emulator::of_bits<T>(ripplet_emulator::ripplet_collective(                              \
            ripplet_emulator::call, mask, ripplet_emulator::bits_of(value),                              \
            ripplet_emulator::shuffle_parameter((unsigned)operand, width, file, line), file, line)); \
    }
#define RIPPLET_SHUFFLES(T)                                   \
    RIPPLET_SHUFFLE(__shfl_sync, SHFL, T, int)                \
    RIPPLET_SHUFFLE(__shfl_up_sync, SHFL_UP, T, unsigned)     \
    RIPPLET_SHUFFLE(__shfl_down_sync, SHFL_DOWN, T, unsigned) \
    RIPPLET_SHUFFLE(__shfl_xor_sync, SHFL_XOR, T, int)
RIPPLET_SHUFFLES(int)
RIPPLET_SHUFFLES(unsigned)
RIPPLET_SHUFFLES(long)
RIPPLET_SHUFFLES(unsigned long)
RIPPLET_SHUFFLES(long long)
RIPPLET_SHUFFLES(unsigned long long)
RIPPLET_SHUFFLES(float)
RIPPLET_SHUFFLES(double)

inline unsigned __ballot_sync(unsigned mask, int predicate, RIPPLET_SITE) {
    return (unsigned)ripplet_emulator::ripplet_collective(ripplet_emulator::BALLOT, mask, predicate != 0, 0,
                                                file, line);
}
inline int __any_sync(unsigned mask, int predicate, RIPPLET_SITE) {
    return (int)ripplet_emulator::ripplet_collective(ripplet_emulator::ANY, mask, predicate != 0, 0, file, line);
}
inline int __all_sync(unsigned mask, int predicate, RIPPLET_SITE) {
    return (int)ripplet_emulator::ripplet_collective(ripplet_emulator::ALL, mask, predicate != 0, 0, file, line);
}

#define RIPPLET_MATCH(T)                                                                          \
    inline unsigned __match_any_sync(unsigned mask, T value, RIPPLET_SITE) {                      \
        return (unsigned)ripplet_emulator::ripplet_collective(ripplet_emulator::MATCH_ANY, mask,                \
                                                    ripplet_emulator::bits_of(value), 0, file, line); \
    }
RIPPLET_MATCH(int)
RIPPLET_MATCH(unsigned)
RIPPLET_MATCH(long)
RIPPLET_MATCH(unsigned long)
RIPPLET_MATCH(long long)
RIPPLET_MATCH(unsigned long long)
RIPPLET_MATCH(float)
RIPPLET_MATCH(double)

#define RIPPLET_REDUCE(name, call, T)                                                      \
    inline T name(unsigned mask, T value, RIPPLET_SITE) {                                  \
        return (T)ripplet_emulator::ripplet_collective(ripplet_emulator::call, mask, (unsigned)value, 0, \
                                             file, line);                                  \
    }
RIPPLET_REDUCE(__reduce_min_sync, REDUCE_MIN_U32, unsigned)
RIPPLET_REDUCE(__reduce_max_sync, REDUCE_MAX_U32, unsigned)
RIPPLET_REDUCE(__reduce_add_sync, REDUCE_ADD, unsigned)
RIPPLET_REDUCE(__reduce_min_sync, REDUCE_MIN_I32, int)
RIPPLET_REDUCE(__reduce_max_sync, REDUCE_MAX_I32, int)
RIPPLET_REDUCE(__reduce_add_sync, REDUCE_ADD, int)
RIPPLET_REDUCE(__reduce_and_sync, REDUCE_AND, unsigned)
RIPPLET_REDUCE(__reduce_or_sync, REDUCE_OR, unsigned)
RIPPLET_REDUCE(__reduce_xor_sync, REDUCE_XOR, unsigned)

// --- Collectives of a block ---

inline void __syncthreads(RIPPLET_SITE) {
    ripplet_emulator::ripplet_collective(ripplet_emulator::SYNCTHREADS, 0xffffffffu, 0, 0, file, line);
}
#define RIPPLET_VOTE(name, call)                                                \
    inline int name(int predicate, RIPPLET_SITE) {                              \
        return (int)ripplet_emulator::ripplet_collective(ripplet_emulator::call, 0xffffffffu, \
                                               predicate != 0, 0, file, line);  \
    }
RIPPLET_VOTE(__syncthreads_or, SYNCTHREADS_OR)
RIPPLET_VOTE(__syncthreads_and, SYNCTHREADS_AND)
RIPPLET_VOTE(__syncthreads_count, SYNCTHREADS_COUNT)

// --- Atomics: one thread runs at a time ---

#define RIPPLET_ATOMIC(name, T, changed) \
    inline T name(T* at, T value) {      \
        ripplet_emulator::before_atomic();   \
        const T old = *at;               \
        *at = (changed);                 \
        return old;                      \
    }
RIPPLET_ATOMIC(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
RIPPLET_ATOMIC(atomicAdd, unsigned, old + value)
RIPPLET_ATOMIC(atomicAdd, unsigned long long, old + value)
RIPPLET_ATOMIC(atomicSub, int, (int)((unsigned)old - (unsigned)value))
RIPPLET_ATOMIC(atomicSub, unsigned, old - value)
#define RIPPLET_ORDER(T)                                    \
    RIPPLET_ATOMIC(atomicMin, T, value < old ? value : old) \
    RIPPLET_ATOMIC(atomicMax, T, value > old ? value : old)
RIPPLET_ORDER(int)
RIPPLET_ORDER(unsigned)
RIPPLET_ORDER(long long)
RIPPLET_ORDER(unsigned long long)
#define RIPPLET_BITS(T)                             \
    RIPPLET_ATOMIC(atomicAnd, T, old & value)       \
    RIPPLET_ATOMIC(atomicOr, T, old | value)        \
    RIPPLET_ATOMIC(atomicXor, T, old ^ value)       \
    RIPPLET_ATOMIC(atomicExch, T, value)            \
    inline T atomicCAS(T* at, T compare, T value) { \
        ripplet_emulator::before_atomic();              \
        const T old = *at;                          \
        if (old == compare) *at = value;            \
        return old;                                 \
    }
RIPPLET_BITS(int)
RIPPLET_BITS(unsigned)
RIPPLET_BITS(unsigned long long)

// --- The rest ---

template <class T> inline T __ldg(const T* at) { return *at; }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned) { ripplet_emulator::ripplet_yield(true); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit, x >>= 1) reversed = reversed << 1 | (x & 1u);
    return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

[[noreturn]] inline void __trap(RIPPLET_SITE) {
    ripplet_emulator::ripplet_trap("__trap() was called", file, line);
}
#define assert(claim) \
    ((claim) ? (void)0 \
             : ripplet_emulator::ripplet_trap("assert(" #claim ") does not hold", __FILE__, __LINE__))
