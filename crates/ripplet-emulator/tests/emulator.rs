//! The emulator does what CUDA guarantees, and reports kernels that break the rules.

use proptest::prelude::*;
use ripplet_emulator::EmulatedDevice;
use ripplet_gpu::{Address, Device, DeviceError, Launch, PLATFORM, Source};
use ripplet_hooks::cpp::SCALAR;

/// Argument of the tests' kernels.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Argument {
    values: Address,
    results: Address,
    count: u64,
}

const ARGUMENT: &str = "
using namespace ripplet;
struct Argument { u32* values; u32* results; u64 count; };
";

fn source(kernels: &str) -> Source {
    Source { name: "test".into(), text: [SCALAR, PLATFORM, ARGUMENT, kernels].concat() }
}

/// A kernel `k` with this body.
fn kernel(body: &str) -> Source {
    source(&format!("RIPPLET_KERNEL(k, Argument, a, 1024, 1) {{ {body} }}"))
}

fn launch(blocks: u32, threads: u32) -> Launch {
    Launch { kernel: "k", blocks, threads, shared: 0, cooperative: false }
}

/// Runs a kernel on values; returns `results` results.
fn run(
    device: &EmulatedDevice,
    source: &Source,
    launch: &Launch,
    values: &[u32],
    results: usize,
) -> Result<Vec<u32>, DeviceError> {
    let module = device.load(source)?;
    let input = device.reserve(size_of_val(values) as u64)?;
    device.write(&input, 0, bytemuck::cast_slice(values))?;
    let output = device.reserve(results as u64 * 4)?;
    device.fill(&output, 0, results as u64 * 4, 0)?;
    let argument = Argument {
        values: device.address(&input),
        results: device.address(&output),
        count: values.len() as u64,
    };
    // SAFETY: kernels take `Argument`; its memory lives until the end of this function, and kernels
    // that leave it stay within the guards around it.
    unsafe { device.launch(&module, launch, bytemuck::bytes_of(&argument))? };
    device.wait()?;
    let mut read = vec![0; results];
    device.read(&output, 0, bytemuck::cast_slice_mut(&mut read))?;
    Ok(read)
}

/// The fault of a kernel's launch.
fn failure(source: &Source, launch: &Launch) -> String {
    let error = run(&EmulatedDevice::new(), source, launch, &[0; 1024], 1024)
        .expect_err("the kernel breaks a rule");
    assert!(matches!(error, DeviceError::Failed { .. }), "{error:?}");
    error.to_string()
}

#[track_caller]
fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "“{part}” is not in: {said}");
    }
}

const EACH: &str = "const u32 t = blockIdx.x * blockDim.x + threadIdx.x;";

/// A collective of a warp on two values a lane, and its definition.
type Definition = fn(&[u32], &[u32], usize) -> u64;

const WARP_COLLECTIVES: [(&str, Definition); 26] = [
    ("__shfl_sync(ALL_LANES, x, y)", |x, y, i| x[y[i] as usize % 32].into()),
    ("__shfl_sync(ALL_LANES, x, y, 8)", |x, y, i| x[i / 8 * 8 + y[i] as usize % 8].into()),
    ("__shfl_sync(ALL_LANES, (u64)x << 32 | y, 31)", |x, y, _| wide(x, y, 31)),
    ("to_bits(__shfl_sync(ALL_LANES, from_bits(x), 3))", |x, _, _| x[3].into()),
    ("__shfl_xor_sync(ALL_LANES, x, y % 32)", |x, y, i| x[i ^ (y[i] as usize % 32)].into()),
    ("__shfl_xor_sync(ALL_LANES, (u64)x << 32 | y, 16)", |x, y, i| wide(x, y, i ^ 16)),
    ("__shfl_xor_sync(ALL_LANES, x, 8, 8)", |x, _, i| {
        (if (i ^ 8) < i { x[i ^ 8] } else { x[i] }).into()
    }),
    ("__shfl_down_sync(ALL_LANES, x, y % 32)", |x, y, i| {
        x.get(i + y[i] as usize % 32).copied().unwrap_or(x[i]).into()
    }),
    ("__shfl_down_sync(ALL_LANES, x, 3, 4)", |x, _, i| {
        (if i % 4 == 0 { x[i + 3] } else { x[i] }).into()
    }),
    ("__shfl_up_sync(ALL_LANES, x, y % 32)", |x, y, i| {
        i.checked_sub(y[i] as usize % 32).map_or(x[i], |from| x[from]).into()
    }),
    ("__shfl_up_sync(ALL_LANES, x, 1, 16)", |x, _, i| {
        (if i % 16 == 0 { x[i] } else { x[i - 1] }).into()
    }),
    ("__ballot_sync(ALL_LANES, x % 3 == 0)", |x, _, _| {
        x.iter().enumerate().map(|(i, x)| u64::from(x % 3 == 0) << i).sum()
    }),
    ("__ballot_sync(ALL_LANES, x & 6)", |x, _, _| {
        x.iter().enumerate().map(|(i, x)| u64::from(x & 6 != 0) << i).sum()
    }),
    ("__any_sync(ALL_LANES, x % 32 == 0)", |x, _, _| x.iter().any(|x| x % 32 == 0).into()),
    ("__all_sync(ALL_LANES, x % 32 != 0)", |x, _, _| x.iter().all(|x| x % 32 != 0).into()),
    ("__match_any_sync(ALL_LANES, x % 4)", |x, _, i| same(x, i, |x| x % 4)),
    ("__match_any_sync(ALL_LANES, (u64)(x % 3) << 40)", |x, _, i| same(x, i, |x| x % 3)),
    ("__reduce_min_sync(ALL_LANES, x)", |x, _, _| (*x.iter().min().unwrap()).into()),
    ("__reduce_max_sync(ALL_LANES, x)", |x, _, _| (*x.iter().max().unwrap()).into()),
    ("(u32)__reduce_min_sync(ALL_LANES, (i32)x)", |x, _, _| {
        (x.iter().map(|x| x.cast_signed()).min().unwrap().cast_unsigned()).into()
    }),
    ("__reduce_add_sync(ALL_LANES, x)", |x, _, _| {
        x.iter().fold(0u32, |sum, x| sum.wrapping_add(*x)).into()
    }),
    ("__reduce_or_sync(ALL_LANES, x & y)", |x, y, _| {
        x.iter().zip(y).fold(0, |or, (x, y)| or | (x & y)).into()
    }),
    ("__reduce_and_sync(ALL_LANES, x | y)", |x, y, _| {
        x.iter().zip(y).fold(u32::MAX, |and, (x, y)| and & (x | y)).into()
    }),
    ("warp_max(x)", |x, _, _| (*x.iter().max().unwrap()).into()),
    ("warp_sum((u64)x << 32 | y)", |x, y, _| {
        (0..32).fold(0u64, |sum, i| sum.wrapping_add(wide(x, y, i)))
    }),
    ("warp_min((u32)__popc(x) + __clz((int)y) + __ffs((int)x))", |x, y, _| {
        let of = |i: usize| x[i].count_ones() + y[i].leading_zeros() + first_set(x[i]);
        u64::from((0..32).map(of).min().unwrap())
    }),
];

fn wide(x: &[u32], y: &[u32], i: usize) -> u64 {
    u64::from(x[i]) << 32 | u64::from(y[i])
}

fn same(x: &[u32], i: usize, of: fn(u32) -> u32) -> u64 {
    (0..32).map(|j| u64::from(of(x[i]) == of(x[j])) << j).sum()
}

fn first_set(x: u32) -> u32 {
    if x == 0 { 0 } else { x.trailing_zeros() + 1 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn each_collective_of_a_warp_is_its_definition(
        values in prop::collection::vec(any::<u32>(), 256),
        blocks in 1u32..3,
        seed in 0u64..3,
    ) {
        let mut body = format!("{EACH}
            const u32 x = a.values[t], y = a.values[128 + t];
            u64* results = (u64*)a.results;
        ");
        for (index, (call, _)) in WARP_COLLECTIVES.iter().enumerate() {
            body += &format!("results[{index} * 128 + t] = {call};\n");
        }
        let launch = launch(blocks, 128 / blocks);
        let count = WARP_COLLECTIVES.len() * 256;
        let results = run(&EmulatedDevice::with_order(seed), &kernel(&body), &launch, &values, count);
        let results: Vec<u32> = results?;
        for (index, (call, definition)) in WARP_COLLECTIVES.iter().enumerate() {
            for thread in 0..128 {
                let (warp, lane) = (thread / 32 * 32, thread % 32);
                let (x, y) = (&values[warp..warp + 32], &values[128 + warp..128 + warp + 32]);
                let at = 2 * (index * 128 + thread);
                let found = u64::from(results[at + 1]) << 32 | u64::from(results[at]);
                prop_assert_eq!(found, definition(x, y, lane), "{} of thread {}", call, thread);
            }
        }
    }

    #[test]
    fn each_collective_of_a_block_is_its_definition(
        values in prop::collection::vec(0u32..40, 192),
        seed in 0u64..3,
    ) {
        let body = format!("{EACH}
            const u32 x = a.values[t];
            a.results[t] = __syncthreads_count(x & 6);
            a.results[192 + t] = __syncthreads_or(x == 39);
            a.results[384 + t] = __syncthreads_and(x != 39);
        ");
        let device = EmulatedDevice::with_order(seed);
        let results = run(&device, &kernel(&body), &launch(2, 96), &values, 576)?;
        for thread in 0..192 {
            let block = &values[thread / 96 * 96..][..96];
            let count = block.iter().filter(|x| **x & 6 != 0).count() as u32;
            prop_assert_eq!(results[thread], count);
            prop_assert_eq!(results[192 + thread], u32::from(block.contains(&39)));
            prop_assert_eq!(results[384 + thread], u32::from(!block.contains(&39)));
        }
    }
}

#[test]
fn threads_know_where_they_are() {
    let body = format!(
        "{EACH} a.results[t] = blockIdx.x << 24 | threadIdx.x << 12 | blockDim.x << 4 | gridDim.x;"
    );
    for seed in 0..4 {
        let device = EmulatedDevice::with_order(seed);
        let results = run(&device, &kernel(&body), &launch(7, 96), &[], 672).unwrap();
        for (i, result) in (0u32..).zip(results) {
            assert_eq!(result, (i / 96) << 24 | (i % 96) << 12 | 96 << 4 | 7);
        }
    }
}

#[test]
fn atomics_and_the_rest_do_what_cuda_says() {
    let body = "
        u32* r = a.results; u64* wide = (u64*)(a.results + 32);
        atomicAdd(r + 0, 2u); atomicSub(r + 1, 1u); atomicMax(r + 2, threadIdx.x);
        atomicMin(r + 3, 0u - threadIdx.x); atomicOr(r + 4, 1u << threadIdx.x);
        atomicAnd(r + 5, ~(1u << threadIdx.x)); atomicExch(r + 6, 7u);
        if (atomicCAS(r + 7, 0u, threadIdx.x + 1) == 0) atomicAdd(r + 8, 1u);
        atomicAdd((int*)r + 9, -3); atomicMax((int*)r + 10, (int)threadIdx.x - 5);
        atomicAdd(wide + 0, 1ull << 33); atomicMax(wide + 1, (u64)threadIdx.x << 40);
        atomicCAS(wide + 2, 0ull, U64_MAX); atomicExch(wide + 3, 9ull);
        if (threadIdx.x == 0) {
            r[11] = __brev(6u); r[12] = __umulhi(0x80000000u, 6u);
            r[13] = (u32)__umul64hi(U64_MAX, 5ull); r[14] = __popcll(U64_MAX >> 3);
            r[15] = __clzll(1ll) * 100 + __ffsll(1ll << 40); r[16] = __ldg(a.values);
            const uint4 four = make_uint4(1, 2, 3, 4); const uint2 two = make_uint2(5, 6);
            r[17] = four.x + four.w * 10 + two.y * 100 + sizeof(uint4) * 1000;
        }
        __threadfence(); __threadfence_block(); __syncwarp();
    ";
    let results = run(&EmulatedDevice::new(), &kernel(body), &launch(1, 32), &[77], 40).unwrap();
    let minus_one = u32::MAX;
    assert_eq!(
        results[..18],
        [
            64,
            0u32.wrapping_sub(32),
            31,
            0,
            minus_one,
            0,
            7,
            1,
            1,
            0u32.wrapping_sub(96),
            26,
            0x6000_0000,
            3,
            4,
            61,
            6341,
            77,
            16641
        ]
    );
    assert_eq!(results[32..40], [0, 64, 0, 31 << 8, minus_one, minus_one, 9, 0]);
}

/// A block's shared memory has 0xA5 until it is written, and each block has its own.
#[test]
fn shared_memory_is_a_blocks_own() {
    let body = format!(
        "{EACH} u32* shared = (u32*)shared_memory();
        a.results[64 * 3 + t] = shared[threadIdx.x];
        shared[threadIdx.x] = t;
        __syncthreads();
        a.results[t] = shared[63 - threadIdx.x];"
    );
    for seed in 0..4 {
        let device = EmulatedDevice::with_order(seed);
        let launch = Launch { shared: 256, ..launch(3, 64) };
        let results = run(&device, &kernel(&body), &launch, &[], 384).unwrap();
        for i in 0..192 {
            assert_eq!(results[i], (i / 64 * 64 + 63 - i % 64) as u32);
            assert_eq!(results[192 + i], 0xa5a5_a5a5);
        }
    }
}

/// Blocks of an ordinary launch take items in order. The last items wait for what the first ones wrote.
#[test]
fn blocks_wait_for_the_items_of_others() {
    let body = "u32* const counted = a.results + 256;
        u32* const taken = a.results + 257;
        u32* const shown = (u32*)shared_memory();
        while (true) {
            __syncthreads();
            if (threadIdx.x == 0) *shown = atomicAdd(taken, 1u);
            __syncthreads();
            const u32 item = *shown, at = item * 64 + threadIdx.x;
            if (item >= 8) return;
            if (item < 4) {
                a.results[at] = a.values[at];
                count_up(counted, shared_memory());
                continue;
            }
            wait_until(counted, 4);
            u32 sum = 0;
            for (u32 i = 0; i < 256; ++i) sum += a.results[i];
            a.results[at + 260] = sum;
        }";
    let values: Vec<u32> = (0..256).collect();
    for seed in 0..6 {
        let device = EmulatedDevice::with_order(seed);
        let launch = Launch { shared: 16, ..launch(3, 64) };
        let results = run(&device, &kernel(body), &launch, &values, 772).unwrap();
        assert_eq!(results[..256], values);
        assert!(results[516..].iter().all(|&sum| sum == 255 * 128), "{seed}");
    }
}

/// A sum over blocks that wait for one another, and for another thread's writes.
#[test]
fn blocks_of_a_cooperative_launch_meet() {
    let body = format!(
        "{EACH} u32* sums = a.results + 256;
        const u32 sum = warp_sum(a.values[t]);
        if (lane_id() == 0) atomicAdd(sums + blockIdx.x, sum);
        grid_barrier((Barrier*)nullptr);
        u32 before = 0;
        for (u32 block = 0; block < blockIdx.x; ++block) before += sums[block];
        a.results[t] = before;
        grid_barrier((Barrier*)nullptr);
        if (threadIdx.x == 0) sums[blockIdx.x] = 0;
        if (t == 255) atomicExch(a.results + 260, 1u);
        while (atomicAdd(a.results + 260, 0u) == 0) __nanosleep(100);"
    );
    let values: Vec<u32> = (0..256).collect();
    for seed in 0..6 {
        let device = EmulatedDevice::with_order(seed);
        let launch = Launch { cooperative: true, ..launch(4, 64) };
        let results = run(&device, &kernel(&body), &launch, &values, 261).unwrap();
        for thread in 0..256usize {
            assert_eq!(results[thread], values[..thread / 64 * 64].iter().sum::<u32>());
        }
        assert_eq!(results[256..], [0, 0, 0, 0, 1]);
    }
}

#[test]
fn lanes_at_different_collectives_are_an_error() {
    let said = failure(
        &kernel("if (threadIdx.x == 40) __syncwarp();\nelse __ballot_sync(ALL_LANES, 1);"),
        &launch(3, 64),
    );
    assert_says(
        &said,
        &[
            "kernel `k` of test",
            "thread 40 of block 0 is at __syncwarp",
            "while thread 32 of block 0 is at __ballot_sync",
            "else __ballot_sync(ALL_LANES, 1);",
        ],
    );
}

#[test]
fn errors_name_the_file_that_a_line_directive_names() {
    let said = failure(
        &source(
            "\n#line 1 \"part.cuh\"\nRIPPLET_KERNEL(k, Argument, a, 32, 1) {\n__trap();\n(void)a; }",
        ),
        &launch(1, 32),
    );
    assert_says(&said, &["thread 0 of block 0 (part.cuh, line 2: __trap();): __trap() was called"]);
}

#[test]
fn lanes_at_different_calls_of_a_collective_are_an_error() {
    let said = failure(
        &kernel(
            "u32 x = 0;\nif (lane_id() < 7) x = __shfl_sync(ALL_LANES, 1u, 0);
            else x = __shfl_sync(ALL_LANES, 2u, 0);\na.results[threadIdx.x] = x;",
        ),
        &launch(1, 32),
    );
    assert_says(&said, &["thread 7", "thread 0", "all lanes of a warp must meet at one call"]);
}

/// A collective in a function that is called from two places. (With `ucontext`, callers are not
/// known.)
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn lanes_that_come_by_different_ways_are_an_error() {
    let body = "u32 x = 0;
        if (lane_id() < 7) { x = warp_sum(1u); a.results[0] = x; } else { x = warp_sum(2u); }
        a.results[threadIdx.x] = x;";
    let said = failure(&kernel(body), &launch(1, 32));
    assert_says(&said, &["thread 7", "thread 0", "reached by another call"]);
}

/// A compiler that duplicates code between two branches on one condition (GCC's jump threading)
/// must not make two calls of one.
#[test]
fn lanes_that_went_different_ways_meet_again() {
    let source = source(
        "RIPPLET_FN u32 between(u32 x, bool odd) {
            if (odd) x += 3;
            u32 y = warp_max(x);
            if (odd) y ^= x;
            __syncwarp();
            return odd ? y : y + 1;
        }
        RIPPLET_KERNEL(k, Argument, a, 32, 1) {
            const bool odd = a.values[threadIdx.x] & 1;
            u32 x = threadIdx.x;
            for (u32 i = 0; i < a.count; ++i) {
                if (odd && x > 7) x = between(x / 2, odd) + 1; else x = x ^ i;
                if (!odd) x = x * 3;
            }
            a.results[threadIdx.x] = x;
        }
        RIPPLET_KERNEL(l, Argument, a, 32, 1) {
            const bool odd = a.values[threadIdx.x] & 1;
            u32 x = a.values[threadIdx.x];
            for (u32 i = 0; i < a.count; ++i) {
                x = between(x, odd);
                if (odd) x ^= i;
                x = between(x >> 1, !odd);
                if (__any_sync(ALL_LANES, x == 0)) break;
            }
            a.results[threadIdx.x] = x;
        }",
    );
    let values: Vec<u32> = (100..132).collect();
    let both = run(&EmulatedDevice::new(), &source, &launch(1, 32), &values, 32);
    assert!(both.is_err(), "only odd lanes call `between`");
    let launch = Launch { kernel: "l", ..launch(1, 32) };
    let results = run(&EmulatedDevice::new(), &source, &launch, &values, 32).unwrap();
    assert_eq!(
        run(&EmulatedDevice::with_order(1), &source, &launch, &values, 32).unwrap(),
        results
    );
}

#[test]
fn a_lane_that_has_returned_is_an_error() {
    for seed in 0..3 {
        let body = "if (threadIdx.x == 5) return;\na.results[0] = warp_sum(1u);";
        let error = run(&EmulatedDevice::with_order(seed), &kernel(body), &launch(1, 32), &[], 1);
        let said = error.unwrap_err().to_string();
        assert_says(&said, &["thread 5 of block 0 is at the kernel's end", "__shfl_xor_sync"]);
    }
}

#[test]
fn a_loop_of_different_length_is_an_error() {
    let body = "u32 sum = 0;
        for (u32 i = threadIdx.x; i < 40; i += 32) sum += warp_sum(i);
        a.results[threadIdx.x] = sum;";
    assert_says(&failure(&kernel(body), &launch(1, 32)), &["the kernel's end", "__shfl_xor_sync"]);
}

#[test]
fn warps_that_do_not_all_come_to_a_barrier_are_an_error() {
    let said = failure(&kernel("if (threadIdx.x < 32) return; __syncthreads();"), &launch(1, 96));
    assert_says(&said, &["the kernel's end", "is at __syncthreads", "all threads of a block"]);
    let body = "if (threadIdx.x < 32) __syncthreads(); else\n__syncthreads_or(1);";
    let said = failure(&kernel(body), &launch(1, 96));
    assert_says(&said, &["__syncthreads_or", "all threads of a block must meet"]);
}

#[test]
fn blocks_that_do_not_all_come_to_the_grids_barrier_are_an_error() {
    let body = "if (blockIdx.x != 1) grid_barrier((Barrier*)nullptr);";
    let said = failure(&kernel(body), &Launch { cooperative: true, ..launch(3, 32) });
    assert_says(&said, &["block 1 is at the kernel's end", "of block 0 is at grid_barrier"]);
    let said = failure(&kernel(body), &launch(3, 32));
    assert_says(&said, &["grid_barrier", "the launch is not cooperative"]);
}

#[test]
fn a_part_of_a_warp_is_an_error() {
    let said = failure(&kernel("__syncwarp(0xffffu);"), &launch(1, 32));
    assert_says(&said, &["the mask 0xffff", "only 0xffffffff is allowed"]);
}

#[test]
fn writes_outside_are_errors() {
    let said = failure(&kernel("a.results[1024 + threadIdx.x] = 1;"), &launch(1, 32));
    assert_says(&said, &["a kernel wrote to byte 4096 of memory of 4096 bytes"]);
    let said = failure(&kernel("a.results[-3] = 1;"), &launch(1, 32));
    assert_says(&said, &["a kernel wrote to byte -12 of memory"]);
    let body = "((u32*)shared_memory())[threadIdx.x] = 1;";
    let said = failure(&kernel(body), &Launch { shared: 64, ..launch(2, 32) });
    assert_says(&said, &["block 0 wrote to byte 64 of its shared memory"]);
    let body = "if (blockIdx.x == 1) shared_memory()[-1] = 1;";
    let said = failure(&kernel(body), &Launch { shared: 64, ..launch(2, 32) });
    assert_says(&said, &["block 1 wrote to byte -1 of its shared memory"]);
}

/// The process survives, and so does another device.
#[test]
fn what_c_plus_plus_leaves_undefined_is_an_error() {
    let wild = "volatile u32* far = (u32*)(a.count << 20);";
    let cases = [
        (format!("{wild} *far = 1;"), "used address 0x40000000, where there is no memory"),
        (
            "((u32*)nullptr)[a.count - 1024] = 1;".into(),
            "used address 0x0, where there is no memory",
        ),
        ("*(u64*)(a.results + 1) = 1;".into(), "not aligned as its type asks"),
        ("a.results[0] = 1u << (threadIdx.x + 1);".into(), "a shift by more bits"),
        ("a.results[0] = 5u / (u32)(a.count - 1024);".into(), "a division by zero"),
        (
            "u32 few[4] = {}; few[threadIdx.x] = 1; a.results[0] = few[a.values[0]];".into(),
            "an index past an array's end",
        ),
        ("if (threadIdx.x == 9) __trap();".into(), "thread 9 of block 0 (kernels, line"),
        ("assert(threadIdx.x < 3);".into(), "assert(threadIdx.x < 3) does not hold"),
        ("__shfl_sync(ALL_LANES, 1u, 0, 5);".into(), "a shuffle's width"),
    ];
    for (body, says) in cases {
        assert_says(&failure(&kernel(&body), &launch(1, 32)), &[says]);
    }
}

#[test]
fn a_stack_that_overflows_is_an_error() {
    let source = source(
        "RIPPLET_FN u32 deep(u32 n) { volatile u32 big[256]; big[n % 256] = n;
            return n == 0 ? 0 : deep(n - 1) + big[n % 256]; }
        RIPPLET_KERNEL(k, Argument, a, 32, 1) { a.results[0] = deep((u32)a.count); }",
    );
    assert_says(&failure(&source, &launch(1, 32)), &["used more than its stack"]);
}

#[test]
fn waiting_for_ever_is_an_error() {
    for nap in ["", "__nanosleep(100)"] {
        let body = format!("while (atomicAdd(a.results, 0u) == 0) {{ {nap}; }}");
        assert_says(&failure(&kernel(&body), &launch(1, 32)), &["for a write that never comes"]);
    }
}

/// Lanes are independent threads: one may wait for another between collectives.
#[test]
fn waiting_for_another_lane_ends() {
    for nap in ["", "__nanosleep(100)"] {
        let body = format!(
            "if (threadIdx.x == 31) atomicExch(a.results, 5u);
            while (atomicAdd(a.results, 0u) == 0) {{ {nap}; }}"
        );
        for seed in 0..3 {
            let device = EmulatedDevice::with_order(seed);
            assert_eq!(run(&device, &kernel(&body), &launch(1, 32), &[], 1), Ok(vec![5]));
        }
    }
}

/// As on a GPU: nothing runs after a failure, and every call reports it.
#[test]
fn a_failed_device_stays_failed() {
    let device = EmulatedDevice::new();
    let first = run(&device, &kernel("__trap();"), &launch(1, 32), &[], 1).unwrap_err();
    assert_eq!(device.wait(), Err(first.clone()));
    assert_eq!(device.reserve(1).err(), Some(first));
}

#[test]
fn launches_that_no_gpu_takes_are_refused() {
    let refused = |launch: Launch, says: &str| {
        assert_says(&failure(&kernel(""), &launch), &["the launch of `", says]);
    };
    refused(launch(0, 32), "0 blocks");
    refused(launch(1, 33), "33 threads");
    refused(launch(1, 1056), "1056 threads");
    refused(Launch { shared: 228 << 10, ..launch(1, 32) }, "233472 bytes of shared memory");
    refused(Launch { cooperative: true, ..launch(5, 32) }, "only 4 can be there");
    refused(Launch { kernel: "l", ..launch(1, 32) }, "the program test has no kernel of this name");
}

#[test]
fn kernels_that_do_not_compile_are_errors_with_their_lines() {
    let source =
        Source { name: "broken".into(), text: "\nint f() { return no_such_thing; }".into() };
    let Err(error) = EmulatedDevice::new().load(&source) else { panic!("it does not compile") };
    let said = error.to_string();
    assert_says(&said, &["the kernels of broken do not compile", "kernels:2:", "no_such_thing"]);
}

#[test]
fn the_platform_compiles_without_warnings() {
    let module =
        EmulatedDevice::new().load(&kernel("a.results[0] = warp_sum(threadIdx.x);")).unwrap();
    assert_eq!(module.warnings(), "");
}

#[test]
fn memory_is_counted_aligned_and_undefined_at_first() {
    let device = EmulatedDevice::new().with_memory(1000);
    let memory = device.reserve(900).unwrap();
    assert_eq!(device.address(&memory).0 % 256, 0);
    assert_eq!(device.free_memory(), Ok(100));
    let refused = device.reserve(101).err();
    assert_eq!(refused, Some(DeviceError::OutOfMemory { bytes: 101, free: 100 }));
    let mut read = [0; 4];
    device.read(&memory, 896, &mut read).unwrap();
    assert_eq!(read, [0xa5; 4]);
    drop(memory);
    assert_eq!(device.free_memory(), Ok(1000));
    assert_eq!(
        EmulatedDevice::new().reserve(u64::MAX).err().map(|e| e.to_string().is_empty()),
        Some(false)
    );
}

/// The last writer wins; it differs between orders, and is the same for one order.
#[test]
fn another_order_shows_a_race() {
    let bodies = [
        // between the lanes of a warp
        "a.results[0] = threadIdx.x;",
        // between warps, of which any may be first
        "if (lane_id() == 0) atomicCAS(a.results, 0u, 1 + threadIdx.x);",
        // between warps, after a collective
        "__syncthreads(); if (lane_id() == 0) a.results[0] = threadIdx.x;",
        // between blocks
        "if (threadIdx.x == 0) a.results[0] = blockIdx.x;",
        // between an atomic and the next
        "const u32 seen = atomicAdd(a.results + 1, 0u); atomicExch(a.results + 1, seen + 1);
         __syncthreads(); if (threadIdx.x == 0 && blockIdx.x == 0) a.results[0] = a.results[1];",
    ];
    for body in bodies {
        let result = |seed| {
            let device = EmulatedDevice::with_order(seed);
            run(&device, &kernel(body), &launch(3, 128), &[], 2).unwrap()[0]
        };
        let ascending = result(0);
        assert!((1..20).any(|seed| result(seed) != ascending), "{body}");
        assert!((0..20).all(|seed| result(seed) == result(seed)), "{body}");
    }
}

/// Each launch of a device has an order of its own.
#[test]
fn launches_differ_in_order() {
    let device = EmulatedDevice::with_order(1);
    let source = kernel("a.results[0] = threadIdx.x;");
    let last = || run(&device, &source, &launch(1, 256), &[], 1).unwrap()[0];
    let first = last();
    assert!((0..20).any(|_| last() != first));
}

#[test]
fn threads_launch_at_once() {
    let body = format!(
        "{EACH} u32 x = a.values[t];
        for (u32 i = 0; i < 50; ++i) x = warp_sum(x) + __syncthreads_count(x & 1u) + t;
        a.results[t] = x;"
    );
    let source = &kernel(&body);
    let result = |from: u32| {
        let values: Vec<u32> = (from..from + 512).collect();
        run(&EmulatedDevice::with_order(from.into()), source, &launch(2, 256), &values, 512)
            .unwrap()
    };
    let expected: Vec<_> = (0..4).map(result).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let expected = &expected;
            scope.spawn(move || {
                for from in 0..20 {
                    let from = (from + thread) % 4;
                    assert_eq!(result(from), expected[from as usize]);
                }
            });
        }
    });
}
