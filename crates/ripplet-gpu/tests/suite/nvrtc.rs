//! Finding a GPU: the errors without one, and kernels compiled for all architectures.

use ripplet_emulator::has_nvrtc;
use ripplet_gpu::{self as gpu, CudaDevice, DeviceError, PLATFORM, Source, nvrtc};
use ripplet_hooks::cpp::SCALAR;

/// Turing to Hopper.
const ARCHITECTURES: [(u32, u32); 3] = [(7, 5), (8, 0), (9, 0)];

/// A kernel that uses everything in `platform.cuh`.
const KERNEL: &str = "
namespace ripplet {
struct Work { Barrier* barrier; u64* sums; };
RIPPLET_KERNEL(everything, Work, work, 256, 2) {
    u32* shared = (u32*)shared_memory();
    shared[threadIdx.x] = add(lane_id(), warp_min(threadIdx.x) + warp_max(blockIdx.x));
    grid_barrier(work.barrier);
    const u64 sum = warp_sum((u64)warp_sum(shared[threadIdx.x ^ 1])) + warp_max((u64)threadIdx.x);
    atomicAdd(work.sums, sum);
}
}
";

fn source(kernel: &str) -> Source {
    Source { name: "test".to_owned(), text: format!("{SCALAR}{PLATFORM}{kernel}") }
}

#[test]
fn a_machine_without_a_gpu_says_so() {
    match (gpu::driver_version(), gpu::devices(), CudaDevice::new(99)) {
        // There is a GPU, or a driver without one.
        (Ok(_), Ok(gpus), Err(DeviceError::NoSuchDevice { number: 99, count })) => {
            assert_eq!(gpus.len(), count);
        }
        (Err(why), Err(same), Err(again)) => {
            assert!(
                matches!(
                    why,
                    DeviceError::NoLibrary | DeviceError::NoDriver(_) | DeviceError::TooOld(_)
                ),
                "{why:?}"
            );
            assert_eq!(why, same);
            assert_eq!(why, again);
        }
        (version, gpus, device) => panic!("{version:?} {gpus:?} {:?}", device.map(|_| ())),
    }
}

#[test]
fn kernels_compile_to_machine_code() {
    if !has_nvrtc() {
        return;
    }
    for architecture in ARCHITECTURES {
        let code = nvrtc::compile(&source(KERNEL), architecture).expect("it compiles");
        assert!(code.starts_with(b"\x7fELF"), "{architecture:?}");
        let name = b"everything\0";
        assert!(code.windows(name.len()).any(|part| part == name), "{architecture:?}");
    }
}

#[test]
fn the_same_text_is_the_same_code() {
    if !has_nvrtc() {
        return;
    }
    let compile = || nvrtc::compile(&source(KERNEL), (9, 0)).expect("it compiles");
    assert_eq!(compile(), compile());
}

#[test]
fn products_are_not_fused_with_sums() {
    if !has_nvrtc() {
        return;
    }
    let kernel = "struct Work { float *x; };
        RIPPLET_KERNEL(f, Work, work, 32, 1) { work.x[0] = work.x[1] * work.x[2] + work.x[3]; }";
    // An architecture that no NVRTC knows gives PTX, which is text.
    let ptx = nvrtc::compile(&source(kernel), (99, 0)).expect("it compiles");
    let ptx = String::from_utf8(ptx).expect("PTX is text");
    assert!(ptx.ends_with('\0'), "the driver looks for its end");
    assert!(ptx.contains("mul.rn.f32") && ptx.contains("add.rn.f32"), "{ptx}");
    assert!(!ptx.contains("fma"), "{ptx}");
}

#[test]
fn what_does_not_compile_has_a_log() {
    if !has_nvrtc() {
        return;
    }
    for text in ["int f() { return nothing; }", "", "\0", "#include <nowhere.h>", "é", "}}}}"] {
        let source = Source { name: "wrong".to_owned(), text: text.to_owned() };
        match nvrtc::compile(&source, (9, 0)) {
            Ok(_) => assert_eq!(text, ""),
            Err(DeviceError::Compile { name, log }) => {
                assert_eq!(name, "wrong");
                assert!(!log.is_empty() && !log.contains('\0'), "{text:?}: {log:?}");
            }
            Err(error) => panic!("{text:?}: {error:?}"),
        }
    }
    let source = Source { name: "a\0b".to_owned(), text: String::new() };
    assert!(matches!(nvrtc::compile(&source, (9, 0)), Err(DeviceError::Compile { .. })));
}

#[test]
fn architectures_out_of_reach_are_refused() {
    if !has_nvrtc() {
        return;
    }
    for architecture in [(0, 0), (1, 0), (u32::MAX, u32::MAX)] {
        let refused = nvrtc::compile(&source(KERNEL), architecture);
        assert!(matches!(refused, Err(DeviceError::NoCompiler(_))), "{architecture:?}");
    }
}

#[test]
fn kernels_compile_on_several_threads_at_once() {
    if !has_nvrtc() {
        return;
    }
    std::thread::scope(|scope| {
        for architecture in ARCHITECTURES {
            scope.spawn(move || {
                nvrtc::compile(&source(KERNEL), architecture).expect("it compiles");
            });
        }
    });
}
