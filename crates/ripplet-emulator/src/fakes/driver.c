// A CUDA driver without a GPU, to test every answer of a driver: the functions that ripplet uses, with the
// host's memory, all zeros, as the device's. Environment variables set its behaviour:
//
// FAKE_VERSION  result of cuDriverGetVersion (13000)
// FAKE_INIT     code of cuInit (0)
// FAKE_COUNT    number of GPUs (1)
// FAKE_SM       architecture (90)
// FAKE_OPEN     code of cuDevicePrimaryCtxRetain (0)
// FAKE_OTHERS   bytes of memory in use by other processes (0)
// FAKE_PEERS    whether GPUs have peer access (1)
// FAKE_RESERVE  code of cuMemAlloc (0)
// FAKE_LAUNCHES launches of unknown kernels until the device is lost (0)
//
// A kernel `copy` copies 8 bytes per thread of the grid from its argument's first address to its second.
// `missing` is in no module. `waiting` is marked as one that waits for the previous launch: it is an error if it may
// not start early, and for all others if they may. Any kernel but `copy` does nothing, and after FAKE_LAUNCHES of them the device is
// lost: all calls fail from then on.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY ((size_t)1 << 30)
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, NO_BINARY = 209, NOT_FOUND = 500, LOST = 700 };

static size_t used;
static int lost, launches;

static int setting(const char *name, int otherwise) {
    const char *value = getenv(name);
    return value ? atoi(value) : otherwise;
}

static size_t available(void) {
    const size_t taken = used + (size_t)setting("FAKE_OTHERS", 0);
    return taken < MEMORY ? MEMORY - taken : 0;
}

#define UNLESS_LOST() do { if (lost) return LOST; } while (0)

unsigned cuInit(unsigned flags) { return flags ? INVALID_VALUE : (unsigned)setting("FAKE_INIT", 0); }
unsigned cuDriverGetVersion(int *version) { return *version = setting("FAKE_VERSION", 13000), OK; }
unsigned cuDeviceGetCount(int *count) { return *count = setting("FAKE_COUNT", 1), OK; }
unsigned cuDeviceGet(int *device, int number) { return *device = number, OK; }
unsigned cuDeviceGetName(char *name, int length, int device) {
    return snprintf(name, (size_t)length, "Fake GPU %d", device), OK;
}
unsigned cuDeviceGetAttribute(int *value, int which, int device) {
    (void)device;
    const int sm = setting("FAKE_SM", 90);
    *value = which == 75 ? sm / 10 : which == 76 ? sm % 10 : which == 16 ? 4 : which == 97 ? 232448 : -1;
    return OK;
}
unsigned cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; return *bytes = MEMORY, OK; }
unsigned cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    static int here;
    return *context = &here, (unsigned)setting("FAKE_OPEN", 0);
}
unsigned cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return OK; }
unsigned cuCtxSetCurrent(void *context) { return context ? OK : INVALID_VALUE; }
unsigned cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    UNLESS_LOST();
    return *free_bytes = available(), *total = MEMORY, OK;
}

// Header of each allocation: what it was allocated as.
typedef struct {
    void *allocation;
    size_t bytes;
} Head;

unsigned cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    UNLESS_LOST();
    if (bytes == 0) return INVALID_VALUE;
    if (bytes > available()) return OUT_OF_MEMORY;
    if (setting("FAKE_RESERVE", 0)) return (unsigned)setting("FAKE_RESERVE", 0);
    void *allocation = calloc(1, bytes + 512);
    if (!allocation) return OUT_OF_MEMORY;
    *address = ((uint64_t)(uintptr_t)allocation + sizeof(Head) + 255) / 256 * 256;
    ((Head *)(uintptr_t)*address)[-1] = (Head){allocation, bytes};
    used += bytes;
    return OK;
}
unsigned cuMemFree_v2(uint64_t address) {
    const Head head = ((Head *)(uintptr_t)address)[-1];
    used -= head.bytes;
    free(head.allocation);
    return lost ? LOST : OK;
}
unsigned cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    UNLESS_LOST();
    (void)flags;
    return (*memory = calloc(1, bytes)) ? OK : OUT_OF_MEMORY;
}
unsigned cuMemFreeHost(void *memory) { return free(memory), lost ? LOST : OK; }
unsigned cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    UNLESS_LOST();
    if (setting("FAKE_REGISTER", 0)) return (unsigned)setting("FAKE_REGISTER", 0);
    return memory && bytes % 4096 == 0 && (flags & 2) ? OK : INVALID_VALUE;
}
unsigned cuMemHostUnregister(void *memory) { (void)memory; return lost ? LOST : OK; }
unsigned cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags) {
    UNLESS_LOST();
    return *address = (uint64_t)(uintptr_t)memory, flags == 0 ? OK : INVALID_VALUE;
}
unsigned cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    UNLESS_LOST();
    (void)stream;
    return memcpy((void *)(uintptr_t)to, from, bytes), OK;
}
unsigned cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    UNLESS_LOST();
    (void)stream;
    return memcpy(to, (const void *)(uintptr_t)from, bytes), OK;
}
unsigned cuMemcpyPeerAsync(uint64_t to, void *own, uint64_t from, void *other, size_t bytes, void *stream) {
    UNLESS_LOST();
    (void)stream;
    return memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes), own && other ? OK : INVALID_VALUE;
}
unsigned cuDeviceCanAccessPeer(int *can, int device, int other) {
    UNLESS_LOST();
    return *can = setting("FAKE_PEERS", 1) && device != other, OK;
}
unsigned cuCtxEnablePeerAccess(void *context, unsigned flags) {
    UNLESS_LOST();
    return context && flags == 0 ? OK : INVALID_VALUE;
}
unsigned cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
    UNLESS_LOST();
    (void)stream;
    return memset((void *)(uintptr_t)to, value, bytes), OK;
}

// Streams and events are one byte each, so that a leak checker finds those that are not freed.
unsigned cuStreamCreate(void **stream, unsigned flags) {
    UNLESS_LOST();
    return (*stream = malloc(1)) && flags == 1 ? OK : INVALID_VALUE;
}
unsigned cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    UNLESS_LOST();
    return stream && event && flags == 0 ? OK : INVALID_VALUE;
}
unsigned cuStreamQuery(void *stream) { (void)stream; return lost ? LOST : OK; }
unsigned cuStreamSynchronize(void *stream) { (void)stream; return lost ? LOST : OK; }
unsigned cuStreamDestroy_v2(void *stream) { return free(stream), OK; }
unsigned cuEventCreate(void **event, unsigned flags) {
    UNLESS_LOST();
    (void)flags;
    return (*event = malloc(1)) ? OK : OUT_OF_MEMORY;
}
unsigned cuEventRecord(void *event, void *stream) { (void)event, (void)stream; return lost ? LOST : OK; }
unsigned cuEventSynchronize(void *event) { (void)event; return lost ? LOST : OK; }
unsigned cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    (void)start, (void)end;
    UNLESS_LOST();
    return *milliseconds = 2.5f, OK;
}
unsigned cuEventDestroy_v2(void *event) { return free(event), OK; }

unsigned cuModuleLoadData(void **module, const void *code) {
    UNLESS_LOST();
    if (memcmp(code, "\177ELF", 4) != 0) return NO_BINARY;
    return (*module = malloc(1)) ? OK : OUT_OF_MEMORY;
}
unsigned cuModuleUnload(void *module) { return free(module), OK; }
unsigned cuModuleGetFunction(void **function, void *module, const char *name) {
    UNLESS_LOST();
    (void)module;
    static char copy, waiting, other;
    *function = strcmp(name, "copy") == 0 ? &copy : strcmp(name, "waiting") == 0 ? &waiting : &other;
    return strcmp(name, "missing") == 0 ? NOT_FOUND : OK;
}
unsigned cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name) {
    UNLESS_LOST();
    (void)module;
    *address = 0, *bytes = 1;
    return strcmp(name, "waiting_waits") == 0 ? OK : NOT_FOUND;
}
unsigned cuFuncSetAttribute(void *function, int attribute, int value) {
    UNLESS_LOST();
    (void)function;
    return attribute == 8 && value <= 232448 ? OK : INVALID_VALUE;
}
unsigned cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    UNLESS_LOST();
    (void)function, (void)shared;
    return *blocks = 2048 / threads, OK;
}

static unsigned launch(void *function, unsigned blocks, unsigned threads, void **parameters) {
    UNLESS_LOST();
    void *copy;
    cuModuleGetFunction(&copy, NULL, "copy");
    if (function != copy) return lost = launches++ >= setting("FAKE_LAUNCHES", 0), OK;
    uint64_t *const *argument = parameters[0];
    memcpy(argument[1], argument[0], sizeof(uint64_t) * blocks * threads);
    return OK;
}
// CUlaunchConfig and CUlaunchAttribute of NVIDIA's header.
typedef struct {
    unsigned id, padding;
    int value[16];
} Attribute;
typedef struct {
    unsigned blocks[3], threads[3], shared;
    void *stream;
    const Attribute *attributes;
    unsigned count;
} Configuration;

unsigned cuLaunchKernelEx(const Configuration *it, void *function, void **parameters, void **extra) {
    enum { COOPERATIVE = 2, STARTS_EARLY = 6 };
    const unsigned ones = it->blocks[1] * it->blocks[2] * it->threads[1] * it->threads[2];
    if (ones != 1 || extra || it->count > 1) return INVALID_VALUE;
    const unsigned attribute = it->count ? it->attributes->id : 0;
    if (attribute && (it->attributes->value[0] != 1 || (attribute != COOPERATIVE && attribute != STARTS_EARLY))) return INVALID_VALUE;
    void *waiting;
    cuModuleGetFunction(&waiting, NULL, "waiting");
    const int may_start_early = function == waiting && attribute != COOPERATIVE;
    if ((attribute == STARTS_EARLY) != may_start_early) return INVALID_VALUE;
    return launch(function, it->blocks[0], it->threads[0], parameters);
}

unsigned cuGetErrorName(unsigned code, const char **name) {
    *name = code == LOST ? "CUDA_ERROR_ILLEGAL_ADDRESS" : code == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : NULL;
    return *name ? OK : INVALID_VALUE;
}
unsigned cuGetErrorString(unsigned code, const char **text) {
    *text = code == LOST ? "an illegal memory access was encountered" : NULL;
    return *text ? OK : INVALID_VALUE;
}
