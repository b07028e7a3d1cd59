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

/// Names the folder of Python packages in the process that [`nvrtc_of_a_python_package_compiles`] starts.
const PACKAGES: &str = "RIPPLET_TEST_PACKAGES";

#[test]
fn nvrtc_of_a_python_package_compiles() {
    if let Some(folder) = std::env::var_os(PACKAGES) {
        nvrtc::search_packages(vec!["nowhere".into(), folder.into()]);
        let code = nvrtc::compile(&source(KERNEL), (9, 0)).expect("it compiles");
        assert!(code.starts_with(b"\x7fELF"));
        let loaded = std::fs::read_to_string("/proc/self/maps").unwrap();
        let library = loaded.lines().find(|line| line.contains("libnvrtc.so.")).unwrap();
        println!("loaded {library}");
        return;
    }
    // A folder `nvidia/cu13/lib` is that of a package.
    let folders = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let is_packaged = |path: &std::path::PathBuf| {
        path.join("libnvrtc.so.13").is_file() && path.ends_with("nvidia/cu13/lib")
    };
    let Some(folder) = std::env::split_paths(&folders).find(is_packaged) else {
        assert!(std::env::var_os("RIPPLET_REQUIRE_NVRTC").is_none(), "{folders:?}");
        println!("skipped: LD_LIBRARY_PATH has no folder nvidia/cu13/lib with libnvrtc.so.13");
        return;
    };
    let run = |variables: &[(&str, &std::path::Path)]| {
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.args(["nvrtc_of_a_python_package_compiles", "--nocapture"]);
        test.env_remove("LD_LIBRARY_PATH").envs(variables.iter().copied());
        let done = test.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
        text.lines().find(|line| line.starts_with("loaded ")).unwrap().to_owned()
    };
    let packages = folder.ancestors().nth(3).unwrap();
    let loaded = run(&[(PACKAGES, packages)]);
    assert!(loaded.ends_with(folder.join("libnvrtc.so.13").to_str().unwrap()), "{loaded}");
    // A folder that the dynamic linker searches wins.
    let other = tempfile::tempdir().unwrap();
    for name in ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"] {
        std::fs::copy(folder.join(name), other.path().join(name)).unwrap();
    }
    let loaded = run(&[(PACKAGES, packages), ("LD_LIBRARY_PATH", other.path())]);
    assert!(loaded.contains(other.path().to_str().unwrap()), "{loaded}");
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
