//! Checks a GPU and this crate's access to it: `device_check [NUMBER]`.
//!
//! Compiles and runs two kernels, compares their results, measures copies, and provokes a device's
//! errors. Exits with 0 if everything is as expected.

use ripplet_gpu::cache::Cache;
use ripplet_gpu::{
    self as gpu, Address, CudaDevice, Device, DeviceError, Launch, PLATFORM, Source, nvrtc,
};
use ripplet_hooks::cpp::SCALAR;
use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Instant;

const KERNELS: &str = r"
namespace ripplet {

struct Sum { const u32 *a, *b; u32 *sum; u32 count; };

// sum[i] = a[i] + b[i], through shared memory, so that its size is in use.
RIPPLET_KERNEL(sum, Sum, work, 256, 1) {
    u32* block = (u32*)shared_memory();
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    block[threadIdx.x] = at < work.count ? add(work.a[at], work.b[at]) : 0u;
    __syncthreads();
    if (at < work.count) work.sum[at] = block[threadIdx.x];
}

struct Rounds { u32* values; Barrier* barrier; u32 rounds; };

// Each round, each thread of the grid takes one more than its right neighbour has.
RIPPLET_KERNEL(rounds, Rounds, work, 256, 1) {
    const u32 count = gridDim.x * blockDim.x;
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    volatile u32* values = work.values;
    for (u32 round = 0; round < work.rounds; round++) {
        const u32 next = values[at + 1 == count ? 0 : at + 1] + 1;
        grid_barrier(work.barrier);
        values[at] = next;
        grid_barrier(work.barrier);
    }
}

struct Astray { u32* nowhere; };

RIPPLET_KERNEL(astray, Astray, work, 32, 1) { work.nowhere[threadIdx.x] = 1; }

}  // namespace ripplet
";

/// Argument with which this program calls itself to break the GPU's context.
const ASTRAY: &str = "astray";

type Outcome = Result<(), Box<dyn Error>>;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Sum {
    a: Address,
    b: Address,
    sum: Address,
    count: u32,
    padding: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Rounds {
    values: Address,
    barrier: Address,
    rounds: u32,
    padding: u32,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Astray {
    nowhere: Address,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(0);
    let outcome = match arguments.iter().any(|argument| argument == ASTRAY) {
        true => go_astray(number),
        false => check(number),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn source() -> Source {
    Source { name: "device_check".to_owned(), text: format!("{SCALAR}{PLATFORM}{KERNELS}") }
}

fn check(number: usize) -> Outcome {
    println!("driver for CUDA {}", gpu::driver_version()?);
    match nvrtc::available() {
        Ok(version) => println!("NVRTC {version}"),
        Err(error) => println!("{error}"),
    }
    for gpu in gpu::devices()? {
        println!("{gpu:?}");
    }
    let start = Instant::now();
    let device = CudaDevice::new(number)?;
    println!("opened in {:?}", start.elapsed());
    for what in ["first", "again"] {
        let start = Instant::now();
        device.load(&source())?;
        println!("loaded, {what}: {:?}", start.elapsed());
    }
    for note in device.notes() {
        println!("note: {note}");
    }

    sums(&device)?;
    meets(&device)?;
    notes()?;
    copies(&device)?;
    refuses(&device)?;
    fails_and_says_so(number)?;
    println!("all as expected");
    Ok(())
}

fn expect(truth: bool, what: &str) -> Outcome {
    if truth { Ok(()) } else { Err(format!("not as expected: {what}").into()) }
}

/// Runs `sum` with more dynamic shared memory than a kernel has by default.
fn sums(device: &CudaDevice) -> Outcome {
    const COUNT: usize = 1_000_003;
    let module = device.load(&source())?;
    let a: Vec<u32> = (0..COUNT as u32).map(|x| x.wrapping_mul(2_654_435_761)).collect();
    let b: Vec<u32> = a.iter().map(|x| x.rotate_left(7)).collect();
    let bytes = 4 * COUNT as u64;
    let memory = [device.reserve(bytes)?, device.reserve(bytes)?, device.reserve(bytes)?];
    let [at_a, at_b, at_sum] = memory.each_ref().map(|memory| device.address(memory));
    device.write(&memory[0], 0, bytemuck::cast_slice(&a))?;
    device.write(&memory[1], 0, bytemuck::cast_slice(&b))?;
    device.fill(&memory[2], 0, bytes, 0xff)?;
    let shared = device.properties().shared_per_block;
    for shared in [1024, 48 << 10, shared] {
        let blocks = COUNT.div_ceil(256) as u32;
        let launch = Launch { kernel: "sum", blocks, threads: 256, shared, cooperative: false };
        let work = Sum { a: at_a, b: at_b, sum: at_sum, count: COUNT as u32, padding: 0 };
        let resident = device.resident_blocks(&module, &launch)?;
        // SAFETY: the argument is the kernel's, with memory of `count` numbers each, which is kept.
        let seconds = device
            .timed(&mut || unsafe { device.launch(&module, &launch, bytemuck::bytes_of(&work)) })?;
        println!(
            "sum with {shared} bytes of shared memory: {resident} blocks at once, {:.1} µs",
            1e6 * seconds
        );
        expect(resident >= device.properties().multiprocessors, "a block a multiprocessor")?;
        let mut sum = vec![0_u32; COUNT];
        device.read(&memory[2], 0, bytemuck::cast_slice_mut(&mut sum))?;
        let right = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b));
        expect(sum.iter().copied().eq(right), "sums")?;
        device.fill(&memory[2], 0, bytes, 0)?;
    }
    let too_much =
        Launch { kernel: "sum", blocks: 1, threads: 256, shared: shared + 1, cooperative: false };
    let refused = device.resident_blocks(&module, &too_much);
    println!("{refused:?}");
    expect(refused.is_err(), "too much shared memory refused")?;
    let nameless = Launch { kernel: "difference", shared: 0, ..too_much };
    let refused = device.resident_blocks(&module, &nameless);
    println!("{refused:?}");
    expect(refused.is_err(), "a kernel that is not there refused")
}

/// Runs `rounds`, whose blocks meet at two grid barriers a round.
fn meets(device: &CudaDevice) -> Outcome {
    const ROUNDS: usize = 1000;
    let module = device.load(&source())?;
    let launch = Launch { kernel: "rounds", blocks: 1, threads: 256, shared: 0, cooperative: true };
    let blocks = device.resident_blocks(&module, &launch)?;
    let launch = Launch { blocks, ..launch };
    let count = 256 * blocks as usize;
    let first: Vec<u32> = (0..count as u32).map(|x| x.wrapping_mul(40503)).collect();
    let values = device.reserve(4 * count as u64)?;
    let barrier = device.reserve(8)?;
    device.write(&values, 0, bytemuck::cast_slice(&first))?;
    device.fill(&barrier, 0, 8, 0)?;
    let work = Rounds {
        values: device.address(&values),
        barrier: device.address(&barrier),
        rounds: ROUNDS as u32,
        padding: 0,
    };
    // SAFETY: the argument is the kernel's, with a number per thread and a barrier, which are kept.
    let seconds = device
        .timed(&mut || unsafe { device.launch(&module, &launch, bytemuck::bytes_of(&work)) })?;
    println!(
        "{blocks} blocks met {} times: {:.2} µs each",
        2 * ROUNDS,
        5e5 * seconds / ROUNDS as f64
    );
    let mut last = vec![0_u32; count];
    device.read(&values, 0, bytemuck::cast_slice_mut(&mut last))?;
    let right = (0..count).map(|at| first[(at + ROUNDS) % count].wrapping_add(ROUNDS as u32));
    expect(last.iter().copied().eq(right), "values after all rounds")?;
    let too_many = Launch { blocks: blocks + 1, ..launch };
    // SAFETY: as above; the launch is refused.
    let refused = unsafe { device.launch(&module, &too_many, bytemuck::bytes_of(&work)) };
    println!("{refused:?}");
    expect(refused.is_err(), "more blocks than can be there at once refused")
}

/// A cache whose folder cannot be created gives a note, not an error.
fn notes() -> Outcome {
    let file = std::env::current_exe()?;
    let device = CudaDevice::with_cache(0, Some(Cache::at(file.join("kernels"))))?;
    device.load(&source())?;
    println!("{:?}", device.notes());
    expect(device.notes().len() == 1, "one note")
}

/// Copies a gibibyte to the device and back, and some lengths around the buffers' sizes.
fn copies(device: &CudaDevice) -> Outcome {
    const GIBIBYTE: usize = 1 << 30;
    let bytes: Vec<u8> =
        (0..GIBIBYTE).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
    let memory = device.reserve(GIBIBYTE as u64)?;
    let mut back = vec![0; GIBIBYTE];
    for _ in 0..3 {
        let start = Instant::now();
        device.write(&memory, 0, &bytes)?;
        device.wait()?;
        let written = start.elapsed().as_secs_f64();
        let start = Instant::now();
        device.read(&memory, 0, &mut back)?;
        let read = start.elapsed().as_secs_f64();
        let speed = |seconds: f64| GIBIBYTE as f64 / seconds / 1e9;
        println!("1 GiB: {:.1} GB/s there, {:.1} GB/s back", speed(written), speed(read));
        expect(back == bytes, "a gibibyte there and back")?;
        back.fill(0);
    }
    let lengths = [0, 1, 255, 65_535, 65_536, 65_537, 16 << 20, (16 << 20) + 1, (48 << 20) + 7];
    for length in lengths {
        let offset = GIBIBYTE - length;
        device.write(&memory, offset as u64, &bytes[..length])?;
        device.read(&memory, offset as u64, &mut back[..length])?;
        expect(back[..length] == bytes[..length], "bytes there and back")?;
    }
    let start = Instant::now();
    for _ in 0..1000 {
        device.read(&memory, 0, &mut back[..8])?;
    }
    println!("8 bytes back: {:.1} µs", 1e3 * start.elapsed().as_secs_f64());
    Ok(())
}

/// Requests more memory than there is, then continues.
fn refuses(device: &CudaDevice) -> Outcome {
    for bytes in [device.properties().memory + 1, u64::MAX] {
        let refused = device.reserve(bytes).err();
        println!("{refused:?}");
        let free = device.free_memory()?;
        let expected = matches!(
            refused,
            Some(DeviceError::OutOfMemory { bytes: asked, free: had }) if asked == bytes && had > 0
        );
        expect(expected && free > 0, "memory refused")?;
    }
    let broken = Source { name: "broken".to_owned(), text: "this is no program".to_owned() };
    let refused = device.load(&broken).err();
    println!("{refused:?}");
    expect(matches!(refused, Some(DeviceError::Compile { .. })), "a text that does not compile")?;
    let memory = device.reserve(0)?;
    expect(device.address(&memory).0 % 256 == 0, "no bytes reserved")
}

/// Accesses an invalid address, in a process of its own, as the GPU's context is lost.
fn fails_and_says_so(number: usize) -> Outcome {
    let status =
        Command::new(std::env::current_exe()?).args([&number.to_string(), ASTRAY]).status()?;
    expect(status.success(), "an error where a kernel leaves its memory")
}

fn go_astray(number: usize) -> Outcome {
    let device = CudaDevice::new(number)?;
    let module = device.load(&source())?;
    let memory = device.reserve(1 << 20)?;
    let launch = Launch { kernel: "astray", blocks: 1, threads: 32, shared: 0, cooperative: false };
    let work = Astray { nowhere: Address(0x10) };
    // SAFETY: none; the launch is meant to fail.
    unsafe { device.launch(&module, &launch, bytemuck::bytes_of(&work)) }?;
    let waited = device.wait();
    println!("{waited:?}");
    expect(matches!(waited, Err(DeviceError::Failed { .. })), "an error from wait")?;
    // All later calls fail as well, and drops are silent.
    let mut bytes = vec![0; 1 << 20];
    expect(device.write(&memory, 0, &bytes).is_err(), "an error from write")?;
    expect(device.read(&memory, 0, &mut bytes).is_err(), "an error from read")?;
    expect(device.fill(&memory, 0, 1, 0).is_err(), "an error from fill")?;
    expect(device.reserve(1).is_err(), "an error from reserve")?;
    expect(device.timed(&mut || Ok(())).is_err(), "an error from timed")?;
    expect(device.load(&source()).is_err(), "an error from load")
}
