// Runs a launch's threads as fibers, one at a time, on the thread that launches.
//
// A fiber runs until it reaches a collective (or returns, which counts as one), then picks the next runnable
// fiber and switches to it. The last fiber that arrives computes every fiber's result.
//
//     lane:   0    1    2         31                    0    1
//             run─>run─>run─>…─>run, all 32 are here,   run─>run─>…
//             └ each stops at __ballot_sync(…) ┘ each is given the 32 bits
//
// Participants are a warp's lanes, a block's threads, or a cooperative grid's blocks. They must be at the
// same call, reached through the same calls. Anything else ends the launch with a fault.
//
// A library holds this state once, in statics, so it runs one launch at a time.

#include "emulator.hpp"
#undef assert

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(RIPPLET_UCONTEXT)
#define RIPPLET_SWITCH 1
#else
#define RIPPLET_SWITCH 0
#endif

extern "C" {

// The same values as in `fault.rs`.
enum Kind : unsigned {
    DIVERGED_WARP = 1,
    DIVERGED_BLOCK,
    DIVERGED_GRID,
    PARTIAL_MASK,
    NOT_COOPERATIVE,
    SHARED_OVERRUN,
    TRAP,
    UNDEFINED,
    BAD_ADDRESS,
    STACK_OVERFLOW,
    LIVELOCK,
    NO_MEMORY,
    DEADLOCK,
};

// A thread, and the call that it is at.
struct Place {
    const char *call, *file;
    unsigned line, block, thread;
};

struct Fault {
    Kind kind;
    Place here, there;
    const char* what;
    unsigned long long address;
};

struct Launch {
    void (*kernel)(const void*);
    const void* argument;
    unsigned blocks, threads, shared, cooperative;
    unsigned long long order;
    // Stacks for this launch, and their number.
    char* stacks;
    unsigned long long stack_count;
};
}  // extern "C"

namespace ripplet_emulator {

Index ripplet_thread_index, ripplet_block_index, ripplet_block_size, ripplet_grid_size;
unsigned ripplet_atomics_left;

namespace {

typedef unsigned long long u64;

const char* const NAMES[] = {
    "the kernel's end",   "__syncwarp",          "__shfl_sync",
    "__shfl_up_sync",     "__shfl_down_sync",    "__shfl_xor_sync",
    "__ballot_sync",      "__any_sync",          "__all_sync",
    "__match_any_sync",   "__reduce_min_sync",   "__reduce_max_sync",
    "__reduce_min_sync",  "__reduce_max_sync",   "__reduce_add_sync",
    "__reduce_and_sync",  "__reduce_or_sync",    "__reduce_xor_sync",
    "__syncthreads",      "__syncthreads_or",    "__syncthreads_and",
    "__syncthreads_count", "grid_barrier",
};

constexpr unsigned LANES = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// Contents of memory that was never written, and of guards, which must not be written.
constexpr unsigned char UNDEFINED_BYTE = 0xa5, GUARD_BYTE = 0xc3;
// Bytes of the guards before and behind a block's shared memory.
constexpr size_t SHARED_GUARD = 1024;
// Bytes of a fiber's stack, without its guard page.
constexpr size_t STACK = 64 << 10;
// Blocks of a shuffled launch that are resident at once, so that they interleave.
constexpr unsigned SHUFFLED_BLOCKS = 4;
// Yields without any collective until the launch counts as a livelock; and the yields that `MAX_ATOMICS` atomics
// count for, as a thread may wait with atomics.
constexpr u64 MAX_YIELDS = 20000000, YIELDS_OF_ATOMICS = 1000;
// Atomics after which another thread runs, in ascending order; and the most of them in a shuffled order.
constexpr unsigned MAX_ATOMICS = 1 << 16, SHUFFLED_ATOMICS = 48;
// The most turns of lanes of one warp until a warp is drawn, in a shuffled order.
constexpr unsigned SHUFFLED_TURNS = 32;

#if !RIPPLET_SWITCH
typedef ucontext_t Context;
#elif defined(__x86_64__)
struct Context {
    void *stack, *frame, *place;
};
#else
typedef void* Context;
#endif

struct Warp;

// A thread. What a collective needs of it is in one cache line.
struct alignas(64) Fiber {
    Context context;
    char* top;  // where its stack begins, at the highest address
    Warp* warp;
    u64 value, result;
    unsigned parameter;
    unsigned short thread;
    unsigned char lane;
};

// The calls through which a fiber reached a collective: the return addresses on its stack, innermost first, each at a
// distance from the frame of `ripplet_collective`, and that frame's distance from the stack's beginning. Of more than
// `CALLS` calls, the innermost.
struct Path {
    static constexpr unsigned CALLS = 32;
    size_t depth;
    unsigned calls;
    struct {
        ptrdiff_t at;
        void* address;
    } call[CALLS];
};

// A collective that waits for its participants: their number, and the call that the first of them is at.
struct Arrivals {
    unsigned count;
    Call call;
    int line;
    const char* file;
    const Fiber* first;
};

struct Warp {
    Fiber* lanes;
    unsigned runnable;  // runnable lanes, a bit each
    unsigned stride;    // from each lane to the next, in a shuffled order
    unsigned block, slot;  // its block's number, and its index among the resident ones
    Arrivals arrivals;
    Path path;
};

struct Block {
    unsigned votes;
    Arrivals arrivals;
    Path path;
};

const Launch* launch;
Fault* fault;
bool failed, is_ordered;

Fiber* fibers;
Warp* warps;
Block* blocks;
Fiber* current;
unsigned alive, warps_of_block, warps_alive;
Arrivals grid;

Context main_context;
// Distance of the frame of `fiber_main` from the stack's beginning.
size_t root_depth;
char* stacks;
size_t page;
unsigned capacity;
unsigned char* shared;
size_t shared_capacity, shared_stride;

u64 random_state;
unsigned turns;  // of lanes of one warp, until a warp is drawn in a shuffled order
u64 yields;

u64 random_bits() {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ull >> 32;
}

unsigned random_below(unsigned bound) { return (unsigned)(random_bits() * bound >> 32); }

void reset_atomics() {
    ripplet_atomics_left = is_ordered ? MAX_ATOMICS : 1 + random_below(SHUFFLED_ATOMICS);
}

// --- Switching ---

void fiber_main() {
    root_depth = (size_t)(current->top - (char*)__builtin_frame_address(0));
    launch->kernel(launch->argument);
    ripplet_collective(RETURN, ALL_LANES, 0, 0, "", 0);
    __builtin_unreachable();
}

#if RIPPLET_SWITCH

// A context begins in `fiber_main`, on a stack that ends at `top`. Its frame pointer is 0.
#if defined(__x86_64__)

void begin_at(Context* context, char*, char* top) {
    // As after a call: the stack is aligned to 16 bytes before the return address.
    *context = Context{top - sizeof(void*), nullptr, (void*)fiber_main};
}

// Inline, so that only registers that are in use are saved, once; the jump is to one of few places, which a processor
// predicts.
__attribute__((always_inline)) inline void switch_contexts(Context* from, const Context* to) {
    asm volatile(
        "movq %%rsp, (%0)\n\t"
        "movq %%rbp, 8(%0)\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, 16(%0)\n\t"
        "movq (%1), %%rsp\n\t"
        "movq 8(%1), %%rbp\n\t"
        "jmpq *16(%1)\n"
        "1:"
        : "+D"(from), "+S"(to)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
          "cc", "memory");
}

#else

// Saves the registers that a call preserves, and the stack pointer in *from; continues where `to` was saved.
extern "C" RIPPLET_HIDDEN void ripplet_switch(void** from, void* to);

asm(R"(
.text
.p2align 4
.globl ripplet_switch
.hidden ripplet_switch
.type ripplet_switch, %function
ripplet_switch:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size ripplet_switch, .-ripplet_switch
)");
constexpr unsigned SAVED = 20, ENTRY = 11;

void begin_at(Context* context, char*, char* top) {
    void** words = (void**)top - SAVED;
    memset(words, 0, SAVED * sizeof(void*));
    words[ENTRY] = (void*)fiber_main;
    *context = words;
}

void switch_contexts(Context* from, const Context* to) { ripplet_switch(from, *to); }

#endif

// Notes the calls on the stack of a fiber from this frame on, up to the kernel, which `fiber_main` calls.
void note_path(const Fiber& fiber, void** frame, Path* path) {
    void** const root = (void**)(fiber.top - root_depth);
    path->depth = (size_t)(fiber.top - (char*)frame);
    path->calls = 0;
    for (void** at = frame; at[0] != root && path->calls < Path::CALLS; at = (void**)at[0])
        path->call[path->calls++] = {at + 1 - frame, at[1]};
}

// Whether a fiber reached this frame through the same calls: the innermost `CALLS` of them. It does not depend on inlining.
//
// Return addresses are expected at the same distances. That is exact for these calls: a frame's size depends on the function alone, as
// kernels have neither `alloca` nor arrays of variable length. Innermost first, equal callers have frames of equal size,
// so the next return addresses stand at equal distances. The loads do not wait for one another.
__attribute__((always_inline)) inline bool has_path(const Fiber& fiber, void* const* frame, const Path& path) {
    if ((size_t)(fiber.top - (const char*)frame) != path.depth) return false;
    for (unsigned i = 0; i < path.calls; ++i)
        if (frame[path.call[i].at] != path.call[i].address) return false;
    return true;
}

#else

void begin_at(Context* context, char* base, char* top) {
    getcontext(context);
    context->uc_stack.ss_sp = base;
    context->uc_stack.ss_size = (size_t)(top - base);
    context->uc_link = nullptr;
    makecontext(context, fiber_main, 0);
}

void switch_contexts(Context* from, const Context* to) { swapcontext(from, to); }

void note_path(const Fiber&, void**, Path*) {}

bool has_path(const Fiber&, void* const*, const Path&) { return true; }

#endif

// Continues `to`, or the launch if it is null.
__attribute__((always_inline)) inline void run(Fiber* from, Fiber* to) {
    current = to;
    const Context* context = &main_context;
    if (to != nullptr) {
        ripplet_thread_index.x = to->thread;
        ripplet_block_index.x = to->warp->block;
        context = &to->context;
    }
    switch_contexts(from == nullptr ? &main_context : &from->context, context);
}

// --- Failing ---

Place place_of(const Fiber& fiber, const char* call, const char* file, int line) {
    return Place{call, file, (unsigned)line, fiber.warp->block, fiber.thread};
}

// Ends the launch: no fiber runs again.
[[noreturn]] __attribute__((noinline, cold)) void fail(const Fault& found) {
    *fault = found;
    failed = true;
    run(current, nullptr);
    __builtin_unreachable();
}

[[noreturn]] __attribute__((noinline, cold)) void fail(Kind kind, const char* what, const char* file = "", int line = 0,
                       u64 address = 0) {
    const Place here = place_of(*current, "", file, line);
    fail(Fault{kind, here, here, what, address});
}

// --- Scheduling ---

// Makes all lanes of a warp runnable; in a shuffled order, draws a new stride.
void release(Warp& warp) {
    warp.runnable = ALL_LANES;
    warp.stride = is_ordered ? 1 : 1 | random_below(LANES);
}

// The first runnable fiber of a warp from a lane on, which may be `LANES`, or of the next warps and around. In a shuffled
// order, one of that warp at random; of a random warp after some turns, or if that warp has none. Null if none is runnable.
__attribute__((noinline)) Fiber* next_from(const Warp& of, unsigned lane) {
    unsigned warp = (unsigned)(&of - warps);
    if (!is_ordered) {
        lane = random_below(LANES);
        if (turns == 0) {
            turns = 1 + random_below(SHUFFLED_TURNS);
            warp = random_below(warps_alive);
        }
    }
    unsigned lanes = warps[warp].runnable;
    const unsigned from = lanes & (unsigned)(~0ull << lane);
    if (from != 0) return warps[warp].lanes + (unsigned)__builtin_ctz(from);
    if (lanes != 0 && !is_ordered) return warps[warp].lanes + (unsigned)__builtin_ctz(lanes);
    if (!is_ordered) warp = random_below(warps_alive);
    for (unsigned i = 0; i < warps_alive; ++i) {
        if (++warp == warps_alive) warp = 0;
        lanes = warps[warp].runnable;
        const unsigned last = is_ordered ? lanes : lanes & (unsigned)(~0ull << lane);
        if (lanes != 0) return warps[warp].lanes + (unsigned)__builtin_ctz(last != 0 ? last : lanes);
    }
    return nullptr;
}

// The next runnable fiber after this one: most often a certain lane. That is a branch, so that a processor need not know
// which lanes are runnable to go on there.
__attribute__((always_inline)) inline Fiber* next_after(Fiber& fiber) {
    const Warp& warp = *fiber.warp;
    unsigned next = fiber.lane + 1;
    if (is_ordered) {
        if (next < LANES && (warp.runnable >> next & 1)) return &fiber + 1;
    } else if (--turns != 0) {
        next = (fiber.lane + warp.stride) % LANES;
        if (warp.runnable >> next & 1) return warp.lanes + next;
    }
    return next_from(warp, next);
}

// --- Collectives ---

Place first_of(const Arrivals& arrivals) {
    return place_of(*arrivals.first, NAMES[arrivals.call], arrivals.file, arrivals.line);
}

[[noreturn]] __attribute__((noinline, cold)) void diverged(Kind kind, const Place& here, const Arrivals& arrivals) {
    fail(Fault{kind, here, first_of(arrivals), "", 0});
}

// The lane from which a shuffle's result comes, as PTX defines `shfl.sync`.
unsigned shuffled_from(Call call, unsigned lane, unsigned parameter) {
    const unsigned operand = parameter & 31, width = parameter >> 8;
    const unsigned group = lane & ~(width - 1), last = group + width - 1;
    switch (call) {
        case SHFL: return group + (operand & (width - 1));
        case SHFL_UP: return lane >= group + operand ? lane - operand : lane;
        case SHFL_DOWN: return lane + operand <= last ? lane + operand : lane;
        default: return (lane ^ operand) <= last ? lane ^ operand : lane;
    }
}

// Computes the results of a warp's collective, when all lanes have arrived.
void finish_warp(Call call, Fiber* lanes) {
    u64 all = 0;
    switch (call) {
        case SHFL:
        case SHFL_UP:
        case SHFL_DOWN:
        case SHFL_XOR:
            for (unsigned i = 0; i < LANES; ++i)
                lanes[i].result = lanes[shuffled_from(call, i, lanes[i].parameter)].value;
            return;
        case MATCH_ANY:
            for (unsigned i = 0; i < LANES; ++i) {
                u64 same = 0;
                for (unsigned j = 0; j < LANES; ++j)
                    same |= (u64)(lanes[i].value == lanes[j].value) << j;
                lanes[i].result = same;
            }
            return;
        case BALLOT:
        case ANY:
        case ALL:
            for (unsigned i = 0; i < LANES; ++i) all |= lanes[i].value << i;
            if (call == ANY) all = all != 0;
            if (call == ALL) all = all == ALL_LANES;
            break;
        default:
            all = lanes[0].value;
            for (unsigned i = 1; i < LANES; ++i) {
                const u64 x = lanes[i].value;
                switch (call) {
                    case REDUCE_MIN_U32: all = x < all ? x : all; break;
                    case REDUCE_MAX_U32: all = x > all ? x : all; break;
                    case REDUCE_MIN_I32: all = (int)x < (int)all ? x : all; break;
                    case REDUCE_MAX_I32: all = (int)x > (int)all ? x : all; break;
                    case REDUCE_ADD: all += x; break;
                    case REDUCE_AND: all &= x; break;
                    case REDUCE_OR: all |= x; break;
                    case REDUCE_XOR: all ^= x; break;
                    default: break;
                }
            }
    }
    for (unsigned i = 0; i < LANES; ++i) lanes[i].result = all;
}

void release_block(unsigned slot) {
    blocks[slot].votes = 0;
    blocks[slot].arrivals = Arrivals{};
    for (unsigned i = 0; i < warps_of_block; ++i)
        release(warps[slot * warps_of_block + i]);
}

// Computes the results of a block's collective, when all threads have arrived.
void finish_block(unsigned slot, Call call, const Fiber* first) {
    const unsigned threads = launch->threads, votes = blocks[slot].votes;
    u64 result = 0;
    switch (call) {
        case RETURN:
        case GRID_BARRIER:
            // Blocks may reach a grid barrier at different calls: all of them wait for one another.
            if (!launch->cooperative) return;
            if (grid.count++ == 0)
                grid = Arrivals{1, call, 0, "", first};
            else if (grid.call != call)
                diverged(DIVERGED_GRID, place_of(*first, NAMES[call], "", 0), grid);
            if (call == GRID_BARRIER && grid.count == alive) {
                grid = Arrivals{};
                for (unsigned i = 0; i < alive; ++i) release_block(i);
            }
            return;
        case SYNCTHREADS_OR: result = votes != 0; break;
        case SYNCTHREADS_AND: result = votes == threads; break;
        case SYNCTHREADS_COUNT: result = votes; break;
        default: break;
    }
    release_block(slot);
    for (unsigned i = 0; i < threads; ++i) fibers[slot * threads + i].result = result;
}

[[noreturn]] __attribute__((noinline, cold)) void refuse(Call call, unsigned mask, const char* file, int line) {
    const Place here = place_of(*current, NAMES[call], file, line);
    if (mask != ALL_LANES) fail(Fault{PARTIAL_MASK, here, here, "", mask});
    fail(Fault{NOT_COOPERATIVE, here, here, "", 0});
}

// Ends a collective at which all lanes of a warp have arrived, and the last of them is at this frame. Returns the next
// fiber.
__attribute__((noinline)) Fiber* finish(const Fiber& last, void** frame) {
    Warp& warp = *last.warp;
    const Arrivals& arrivals = warp.arrivals;
    const Call call = arrivals.call;
    warp.arrivals.count = 0;
    if (call >= SYNCWARP && call < SYNCTHREADS) {
        finish_warp(call, warp.lanes);
        release(warp);
        return next_from(warp, 0);
    }
    Block& block = blocks[warp.slot];
    for (unsigned i = 0; i < LANES; ++i) block.votes += warp.lanes[i].value != 0;
    if (block.arrivals.count++ == 0) {
        block.arrivals = arrivals;
        block.arrivals.count = 1;
        note_path(last, frame, &block.path);
    } else if (block.arrivals.call != call || block.arrivals.line != arrivals.line ||
               !has_path(last, frame, block.path))
        diverged(DIVERGED_BLOCK, first_of(arrivals), block.arrivals);
    if (block.arrivals.count == warps_of_block) finish_block(warp.slot, call, arrivals.first);
    return next_from(warp, LANES);
}

}  // namespace

extern "C" {

__attribute__((noinline)) u64 ripplet_collective(Call call, unsigned mask, u64 value, unsigned parameter,
                                           const char* file, int line) {
    Fiber& self = *current;
    Warp& warp = *self.warp;
    Arrivals& arrivals = warp.arrivals;
    if (__builtin_expect(mask != ALL_LANES || (call == GRID_BARRIER && !launch->cooperative), 0))
        refuse(call, mask, file, line);
    self.value = value;
    self.parameter = parameter;
    yields = 0;
    void** const frame = (void**)__builtin_frame_address(0);
    warp.runnable &= ~(1u << self.lane);
    if (arrivals.count++ == 0) {
        arrivals = Arrivals{1, call, line, file, &self};
        note_path(self, frame, &warp.path);
    } else if (__builtin_expect(
                   arrivals.call != call || arrivals.line != line || !has_path(self, frame, warp.path), 0))
        diverged(DIVERGED_WARP, place_of(self, NAMES[call], file, line), arrivals);
    Fiber* const next = arrivals.count == LANES ? finish(self, frame) : next_after(self);
    if (next != &self) run(&self, next);
    return self.result;
}

void ripplet_yield(bool sleeps) {
    reset_atomics();
    yields += sleeps || !is_ordered ? 1 : YIELDS_OF_ATOMICS;
    if (yields > MAX_YIELDS) fail(LIVELOCK, "");
    Fiber& self = *current;
    Fiber* const next = next_after(self);
    if (next != &self) run(&self, next);
}

unsigned char* ripplet_shared_memory() {
    return shared + current->warp->slot * shared_stride + SHARED_GUARD;
}

void ripplet_trap(const char* what, const char* file, int line) { fail(TRAP, what, file, line); }

// Functions that the compiler's checks call (-fsanitize, without its library). The first argument is the place.
struct SourceLocation {
    const char* file;
    unsigned line, column;
};
#define RIPPLET_CHECK(name, operands, what)                         \
    RIPPLET_HIDDEN void __ubsan_handle_##name##_abort operands {    \
        fail(UNDEFINED, what, location->file, (int)location->line); \
    }                                                               \
    RIPPLET_HIDDEN void __ubsan_handle_##name operands {            \
        fail(UNDEFINED, what, location->file, (int)location->line); \
    }
RIPPLET_CHECK(type_mismatch_v1, (SourceLocation * location, void*),
              "an address is null or not aligned as its type asks")
RIPPLET_CHECK(shift_out_of_bounds, (SourceLocation * location, void*, void*),
              "a shift by more bits than there are")
RIPPLET_CHECK(out_of_bounds, (SourceLocation * location, void*), "an index past an array's end")
RIPPLET_CHECK(divrem_overflow, (SourceLocation * location, void*, void*), "a division by zero")
}

namespace {

// --- Signals: an access to unmapped memory ends the launch, not the process ---

bool running;
pthread_t runner;
int signal_number;
u64 signal_address;
struct sigaction previous_actions[NSIG];
constexpr int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

char* stack_base(unsigned index) { return stacks + index * (page + STACK) + page; }

// Entry at which the fiber that raised the signal continues, with an empty stack.
[[noreturn]] void after_signal() {
    const u64 base = (u64)(uintptr_t)stack_base((unsigned)(current - fibers));
    if (signal_number == SIGFPE) fail(UNDEFINED, "a division by zero");
    if (signal_number == SIGILL) fail(UNDEFINED, "an instruction that traps");
    if (signal_address >= base - page && signal_address < base) fail(STACK_OVERFLOW, "");
    fail(BAD_ADDRESS, "", "", 0, signal_address);
}

void on_signal(int number, siginfo_t* info, void* context) {
    if (running && pthread_equal(runner, pthread_self()) && current != nullptr) {
        signal_number = number;
        signal_address = (u64)(uintptr_t)info->si_addr;
        const uintptr_t top = (uintptr_t)stack_base((unsigned)(current - fibers)) + STACK;
        mcontext_t& registers = ((ucontext_t*)context)->uc_mcontext;
#if defined(__linux__) && defined(__x86_64__)
        registers.gregs[REG_RSP] = (greg_t)(top - 8);
        registers.gregs[REG_RIP] = (greg_t)(uintptr_t)after_signal;
        return;
#elif defined(__linux__) && defined(__aarch64__)
        registers.sp = top;
        registers.pc = (uintptr_t)after_signal;
        return;
#else
        (void)registers;
        (void)top;
#endif
    }
    const struct sigaction& before = previous_actions[number];
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        signal(number, SIG_DFL);  // and the instruction raises it again
    }
}

void catch_signals() {
    static bool caught;
    if (caught) return;
    caught = true;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int number : SIGNALS) sigaction(number, &action, &previous_actions[number]);
}

// --- A launch ---

// Makes room for `count` fibers, which is kept for the next launch. Stacks are owned by the caller: a process
// may have only some ten thousands of guarded ones.
bool allocate(unsigned count) {
    page = (size_t)sysconf(_SC_PAGESIZE);
    stacks = launch->stacks;
    if (stacks == nullptr || count > launch->stack_count) return false;
    if (count > capacity) {
        free(fibers);
        free(warps);
        free(blocks);
        capacity = 0;
        fibers = (Fiber*)aligned_alloc(alignof(Fiber), count * sizeof(Fiber));
        warps = (Warp*)calloc(count / LANES, sizeof(Warp));
        blocks = (Block*)calloc(count / LANES, sizeof(Block));
        if (!fibers || !warps || !blocks) return false;
        capacity = count;
    }
    // Aligned to 16 bytes and no more, as CUDA guarantees.
    shared_stride = (launch->shared + 2 * SHARED_GUARD + 31) / 32 * 32;
    if (alive * shared_stride + 32 > shared_capacity) {
        static unsigned char* area;
        free(area);
        shared_capacity = 0;
        area = (unsigned char*)malloc(alive * shared_stride + 64);
        if (area == nullptr) return false;
        shared = area + (32 - (uintptr_t)area % 32) + 16;
        shared_capacity = alive * shared_stride + 32;
    }
    return true;
}

// The index of the first byte without the guard's value, or -1.
long overrun(const unsigned char* bytes, size_t count) {
    if (bytes[0] == GUARD_BYTE && memcmp(bytes, bytes + 1, count - 1) == 0) return -1;
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != GUARD_BYTE) return (long)i;
    return -1;
}

// Runs `count` blocks, from number `first` on in the launch's order.
void run_blocks(unsigned first, unsigned count, u64 step, u64 begin) {
    const unsigned threads = launch->threads;
    alive = count;
    warps_alive = count * warps_of_block;
    grid = Arrivals{};
    for (unsigned slot = 0; slot < count; ++slot) {
        unsigned char* area = shared + slot * shared_stride;
        memset(area, GUARD_BYTE, SHARED_GUARD);
        memset(area + SHARED_GUARD, UNDEFINED_BYTE, launch->shared);
        memset(area + SHARED_GUARD + launch->shared, GUARD_BYTE, SHARED_GUARD);
        for (unsigned i = 0; i < threads; ++i) {
            const unsigned index = slot * threads + i;
            Fiber& fiber = fibers[index];
            fiber.thread = (unsigned short)i;
            fiber.warp = warps + index / LANES;
            fiber.lane = index % LANES;
            // Stacks begin at different offsets in a page; otherwise they would share a few cache lines.
            fiber.top = stack_base(index) + STACK - index % 16 * 256;
            begin_at(&fiber.context, stack_base(index), fiber.top);
        }
        const unsigned block = (unsigned)((begin + (first + slot) * step) % launch->blocks);
        for (unsigned i = 0; i < warps_of_block; ++i) {
            const unsigned index = slot * warps_of_block + i;
            Warp& warp = warps[index];
            warp.lanes = fibers + index * LANES;
            warp.block = block;
            warp.slot = slot;
            warp.arrivals = Arrivals{};
        }
        release_block(slot);
    }
    turns = 0;
    run(nullptr, next_from(warps[0], 0));
    if (failed) return;
    for (unsigned i = 0; i < warps_alive && !failed; ++i) {
        const Warp& warp = warps[i];
        const Arrivals& block = blocks[i / warps_of_block].arrivals;
        if (warp.arrivals.count == 0 && block.count == warps_of_block && block.call == RETURN)
            continue;
        const Place place = first_of(warp.arrivals.count != 0 ? warp.arrivals : block);
        *fault = Fault{DEADLOCK, place, place, "", 0};
        failed = true;
    }
    for (unsigned slot = 0; slot < count && !failed; ++slot) {
        const unsigned char* area = shared + slot * shared_stride;
        const unsigned char* after = area + SHARED_GUARD + launch->shared;
        const long above = overrun(after, SHARED_GUARD), below = overrun(area, SHARED_GUARD);
        if (above < 0 && below < 0) continue;
        const Place place = {"", "", 0, warps[slot * warps_of_block].block, 0};
        const u64 offset =
            above >= 0 ? launch->shared + (u64)above : (u64)below - (u64)SHARED_GUARD;
        *fault = Fault{SHARED_OVERRUN, place, place, "", offset};
        failed = true;
    }
}

u64 greatest_common_divisor(u64 a, u64 b) {
    while (b != 0) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

}  // namespace
}  // namespace ripplet_emulator

// Allocates `count` stacks, each behind a guard page. Null if the system refuses.
extern "C" __attribute__((visibility("default"))) char* ripplet_emulator_stacks(
    unsigned long long count) {
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    void* mapped = mmap(nullptr, count * (guard + ripplet_emulator::STACK), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    for (unsigned long long i = 0; i < count; ++i) {
        if (mprotect((char*)mapped + i * (guard + ripplet_emulator::STACK), guard, PROT_NONE) == 0) continue;
        munmap(mapped, count * (guard + ripplet_emulator::STACK));
        return nullptr;
    }
    return (char*)mapped;
}

// Runs a launch. Returns 0, or 1 and fills `found`.
extern "C" __attribute__((visibility("default"))) int ripplet_emulator_launch(const Launch* wanted,
                                                                          Fault* found) {
    using namespace ripplet_emulator;
    launch = wanted;
    fault = found;
    failed = false;
    yields = 0;
    ripplet_block_size.x = launch->threads;
    ripplet_grid_size.x = launch->blocks;
    random_state = launch->order;
    is_ordered = launch->order == 0;
    reset_atomics();
    warps_of_block = launch->threads / LANES;
    unsigned at_once = is_ordered ? 1 : SHUFFLED_BLOCKS;
    if (launch->cooperative || at_once > launch->blocks) at_once = launch->blocks;
    alive = at_once;
    if (!allocate(at_once * launch->threads)) {
        *found = Fault{NO_MEMORY, Place{}, Place{}, "", 0};
        return 1;
    }

    // Blocks in ascending order, or from a random block on by a step that reaches each once.
    u64 begin = 0, step = 1;
    if (!is_ordered) {
        begin = random_below(launch->blocks);
        do step = 1 + random_below(launch->blocks);
        while (greatest_common_divisor(step, launch->blocks) != 1);
    }

    catch_signals();
    static char signal_stack[64 << 10];
    stack_t ours, before;
    memset(&ours, 0, sizeof ours);
    ours.ss_sp = signal_stack;
    ours.ss_size = sizeof signal_stack;
    const bool on_signal_stack = sigaltstack(&ours, &before) == 0;
    runner = pthread_self();
    running = true;
    for (unsigned first = 0; first < launch->blocks && !failed; first += at_once) {
        const unsigned left = launch->blocks - first;
        run_blocks(first, left < at_once ? left : at_once, step, begin);
    }
    running = false;
    if (on_signal_stack) sigaltstack(&before, nullptr);
    return failed ? 1 : 0;
}
