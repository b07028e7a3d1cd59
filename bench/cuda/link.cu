// Measures the bus: copies from the host's memory, and kernels that read it in place. `nvcc -O3 -arch=sm_90
// link.cu -o link && ./link`. Prints a line of JSON for each kind of memory and of reading: the least of five.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t BYTES = 4ull << 30;

static bool is_ok(cudaError_t code, const char* what) {
    if (code == cudaSuccess) return true;
    printf("{\"failed\": \"%s\", \"reason\": \"%s\"}\n", what, cudaGetErrorString(code));
    cudaGetLastError();
    return false;
}

// One after the other.
template <class T> __global__ void read_all(const T* from, size_t count, uint32_t* sum) {
    uint32_t mine = 0;
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += 4 * threads) {
        T values[4];
        for (int i = 0; i < 4; i++)
            if (at + i * threads < count) values[i] = from[at + i * threads];
        for (int i = 0; i < 4; i++)
            if (at + i * threads < count) mine ^= *(const uint32_t*)&values[i];
    }
    if (mine == 0x12345678) *sum = mine;
}

// Reads one list in 16, of `length` consecutive words each, as a phase does.
__global__ void read_lists(const uint32_t* from, size_t count, uint32_t length, uint32_t* sum) {
    uint32_t mine = 0;
    const size_t warps = (size_t)gridDim.x * blockDim.x / 32, warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const size_t lists = count / length / 16;
    const uint32_t lane = threadIdx.x % 32;
    // A warp reads eight lists of 128 at a time, word by word.
    for (size_t group = warp; group < lists / 8; group += warps)
        for (uint32_t at = lane; at < 8 * length; at += 32) {
            const size_t list = group * 128 + (at / length) * 4 + group % 4;
            mine ^= from[list * length + at % length];
        }
    if (mine == 0x12345678) *sum = mine;
}

template <class Work> static double least(Work work) {
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    float best = 1e30f;
    for (int run = 0; run < 6; run++) {
        cudaEventRecord(start);
        work();
        cudaEventRecord(end);
        if (!is_ok(cudaEventSynchronize(end), "waiting")) return 0;
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, start, end);
        if (run > 0 && milliseconds < best) best = milliseconds;
    }
    return best / 1e3;
}

static void tell(const char* memory, const char* reading, double bytes, double seconds) {
    if (seconds > 0)
        printf("{\"memory\": \"%s\", \"reading\": \"%s\", \"gigabytes_per_second\": %.2f}\n", memory, reading, bytes / seconds / 1e9);
    fflush(stdout);
}

static void measure(const char* name, void* host, void* device, uint32_t* sum) {
    uint32_t* from;
    if (!is_ok(cudaHostGetDevicePointer((void**)&from, host, 0), name)) return;
    const size_t words = BYTES / 4;
    tell(name, "copy", BYTES, least([&] { cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice); }));
    tell(name, "kernel, 4 bytes a lane", BYTES, least([&] { read_all<<<528, 256>>>(from, words, sum); }));
    tell(name, "kernel, 16 bytes a lane", BYTES, least([&] { read_all<<<528, 256>>>((const uint4*)from, words / 4, sum); }));
    const uint32_t lengths[] = {4, 8, 16, 23, 32, 46, 64, 128};
    for (uint32_t length : lengths) {
        char what[64];
        snprintf(what, sizeof what, "kernel, lists of %u words, one in 16", length);
        const double bytes = (double)(words / length / 16 / 8 * 8) * length * 4;
        tell(name, what, bytes, least([&] { read_lists<<<1056, 256>>>(from, words, length, sum); }));
    }
}

int main() {
    void* device;
    uint32_t* sum;
    if (!is_ok(cudaMalloc(&device, BYTES), "reserving") || !is_ok(cudaMalloc(&sum, 4), "reserving")) return 1;
    void* host;
    if (is_ok(cudaHostAlloc(&host, BYTES, 0), "allocating locked memory")) {
        memset(host, 1, BYTES);
        measure("allocated locked", host, device, sum);
        cudaFreeHost(host);
    }
    host = aligned_alloc(4096, BYTES);
    memset(host, 1, BYTES);
    if (is_ok(cudaHostRegister(host, BYTES, cudaHostRegisterMapped), "locking")) {
        measure("locked where it is", host, device, sum);
        cudaHostUnregister(host);
    }
    const int file = open("link.bytes", O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (size_t done = 0; done < BYTES;) {
        const ssize_t wrote = write(file, (char*)host + done, BYTES - done);
        if (wrote <= 0) break;
        done += wrote;
    }
    free(host);
    host = mmap(nullptr, BYTES, PROT_READ, MAP_SHARED, file, 0);
    if (is_ok(cudaHostRegister(host, BYTES, cudaHostRegisterMapped | cudaHostRegisterReadOnly), "locking a file, to be read"))
        measure("locked mapped file, to be read", host, device, sum);
    else if (is_ok(cudaHostRegister(host, BYTES, cudaHostRegisterMapped), "locking a file"))
        measure("locked mapped file", host, device, sum);
    munmap(host, BYTES);
    host = mmap(nullptr, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
    if (is_ok(cudaHostRegister(host, BYTES, cudaHostRegisterMapped | cudaHostRegisterReadOnly), "locking a private file, to be read"))
        measure("locked private file, to be read", host, device, sum);
    unlink("link.bytes");
    return 0;
}
