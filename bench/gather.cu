// Measures random reads of labels on a GPU: the ceiling of label propagation where no cache holds the labels.
//
//     nvcc -O3 -arch=sm_90 gather.cu -o gather && ./gather [bytes that the L2 fetches at least: 32, 64 or 128]
//
// Prints a line of JSON for each size of the array. `uniform`: each read anywhere, `in_flight` of a thread at once.
// `ascending/G`: lanes of a warp read on average G values behind one another, as an ascending list has its neighbours.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned u32;
typedef unsigned long long u64;

constexpr u64 READS = 2ull << 30;
constexpr u32 BLOCKS = 132 * 8, THREADS = 256, RUNS = 4;

__device__ u32 drawn(u64 i) {
    i *= 0x9E3779B97F4A7C15ull;
    i ^= i >> 32;
    i *= 0xD6E8FEB86659FD93ull;
    return (u32)(i >> 32);
}

// Which of `n` values a number of 32 bits stands for.
__device__ u32 place_of(u32 number, u32 n) { return (u32)(((u64)number * n) >> 32); }

template <int IN_FLIGHT> __global__ void uniform(const u32* values, u32 n, u32* never) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    for (u64 at = thread; at < READS; at += threads * IN_FLIGHT) {
        u32 read[IN_FLIGHT];
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) read[k] = __ldg(values + place_of(drawn(at + k * threads), n));
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) sum ^= read[k];
    }
    if (sum == 0x12345678) *never = sum;
}

template <int IN_FLIGHT> __global__ void ascending(const u32* values, u32 n, u32 gap, u32* never) {
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, threads = (u64)gridDim.x * blockDim.x;
    u32 sum = 0;
    for (u64 at = thread; at < READS; at += threads * IN_FLIGHT) {
        const u32 base = drawn(at / 32), lane = (u32)(at % 32);
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++)
            sum ^= __ldg(values + place_of(base + (k * 32 + lane) * gap + drawn(at + k) % gap, n));
    }
    if (sum == 0x12345678) *never = sum;
}

template <class F> void measure(const char* kind, double megabytes, int in_flight, F launch) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> all;
    for (u32 run = 0; run < RUNS; run++) {
        cudaEventRecord(begin);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0;
        cudaEventElapsedTime(&ms, begin, end);
        if (run > 0) all.push_back(ms);
    }
    std::sort(all.begin(), all.end());
    const float ms = all[all.size() / 2];
    printf("{\"kind\":\"%s\",\"megabytes\":%.0f,\"bytes\":4,\"in_flight\":%d,\"reads\":%llu,\"ms\":%.3f,"
           "\"gigareads_a_second\":%.2f,\"error\":\"%s\"}\n",
           kind, megabytes, in_flight, READS, ms, READS / ms / 1e6, cudaGetErrorString(cudaGetLastError()));
}

int main(int count, char** arguments) {
    if (count > 1) {
        const int code = cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, atoi(arguments[1]));
        printf("{\"limit\":%s,\"code\":%d}\n", arguments[1], code);
    }
    u32* never;
    cudaMalloc(&never, sizeof(u32));
    for (double megabytes : {16., 32., 64., 128., 512., 1024., 2048., 4040., 8192.}) {
        u32* values;
        cudaMalloc(&values, (size_t)(megabytes * 1e6));
        cudaMemset(values, 1, (size_t)(megabytes * 1e6));
        const u32 n = (u32)(megabytes * 1e6 / 4);
        measure("uniform", megabytes, 1, [&] { uniform<1><<<BLOCKS, THREADS>>>(values, n, never); });
        measure("uniform", megabytes, 4, [&] { uniform<4><<<BLOCKS, THREADS>>>(values, n, never); });
        measure("uniform", megabytes, 8, [&] { uniform<8><<<BLOCKS, THREADS>>>(values, n, never); });
        measure("uniform", megabytes, 16, [&] { uniform<16><<<BLOCKS, THREADS>>>(values, n, never); });
        for (u32 gap : {64u, 1024u, 65536u, 1048576u}) {
            char kind[32];
            snprintf(kind, sizeof kind, "ascending/%u", gap);
            measure(kind, megabytes, 8, [&] { ascending<8><<<BLOCKS, THREADS>>>(values, n, gap, never); });
        }
        cudaFree(values);
    }
}
