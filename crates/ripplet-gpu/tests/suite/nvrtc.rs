//! Finding a GPU: the errors without one, and kernels compiled for all architectures.

use ripplet_emulator::has_nvrtc;
use ripplet_gpu::{self as gpu, CudaDevice, DeviceError, PLATFORM, Source, nvrtc};
use ripplet_hooks::cpp::SCALAR;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
        let loaded = fs::read_to_string("/proc/self/maps").unwrap();
        let library = loaded.lines().find(|line| line.contains("libnvrtc.so.")).unwrap();
        println!("loaded {library}");
        return;
    }
    let folders = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let has_nvrtc = |path: &PathBuf| path.join("libnvrtc.so.13").is_file();
    let Some(folder) = std::env::split_paths(&folders).find(has_nvrtc) else {
        assert!(std::env::var_os("RIPPLET_REQUIRE_PYTHON").is_none(), "{folders:?}");
        println!("skipped: no folder in LD_LIBRARY_PATH has libnvrtc.so.13");
        return;
    };
    let packages = tempfile::tempdir().unwrap();
    let package = packages.path().join("nvidia/cu13/lib");
    fs::create_dir_all(&package).unwrap();
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| is_of_nvrtc_13(file)) {
        fs::copy(&file, package.join(file.file_name().unwrap())).unwrap();
    }
    let loaded_with = |variables: &[(&str, &Path)]| {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["nvrtc_of_a_python_package_compiles", "--nocapture"]);
        test.env_remove("LD_LIBRARY_PATH").envs(variables.iter().copied());
        let done = test.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
        text.lines().find(|line| line.starts_with("loaded ")).unwrap().to_owned()
    };
    let is_of_package = |loaded: &str| loaded.contains(package.to_str().unwrap());
    let loaded = loaded_with(&[(PACKAGES, packages.path())]);
    assert!(is_of_package(&loaded), "{loaded}");
    // A folder that the dynamic linker searches wins.
    let loaded = loaded_with(&[(PACKAGES, packages.path()), ("LD_LIBRARY_PATH", &folder)]);
    assert!(!is_of_package(&loaded), "{loaded}");
}

/// Whether a file is NVRTC 13, or the library beside it that it needs.
fn is_of_nvrtc_13(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name == "libnvrtc.so.13" || name.starts_with("libnvrtc-builtins.so.13.")
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
