//! Faults of a GPU, from the outside, with a driver and an NVRTC of the tests: a clear
//! error, or under `--device auto` a note and the CPU; nothing half-written.

use crate::driver::{FAKE, FAKE_NVRTC, compiler, driver, no_compiler, run};
use crate::gpu::{LOUD, TRIANGLES};
use crate::sandbox::{Said, Sandbox};

/// Kernels that do nothing, all of them: every label stays what the memory has, 0.
const WORKS: (&str, &str) = ("FAKE_LAUNCHES", "1000000");

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with([("graph.txt", TRIANGLES), ("loud.rs", LOUD)]);
    driver(&sandbox, FAKE);
    compiler(&sandbox, FAKE_NVRTC);
    let flags = "--device cpu --program-file loud.rs --param voice=3";
    sandbox.ok(&format!("communities graph.txt -o cpu.txt {flags}"));
    sandbox
}

/// Runs a program of one's own, so that the fault must not depend on a program.
fn communities(sandbox: &Sandbox, device: &str, environment: &[(&str, &str)]) -> Said {
    let flags = "-o out.txt --stats stats.json --program-file loud.rs --param voice=3";
    run(sandbox, &format!("communities graph.txt {flags} --device {device}"), environment)
}

/// A run that must fail with code 1 where the GPU is insisted on, and be the CPU's under `auto`; both
/// say each of `parts`.
#[track_caller]
fn fault(sandbox: &Sandbox, environment: &[(&str, &str)], parts: &[&str]) {
    let said = communities(sandbox, "cuda", environment);
    said.must_fail(&format!("{environment:?}"), 1, parts);
    assert!(said.error.contains("--device cpu"), "{said:?}");
    for output in ["out.txt", "stats.json"] {
        assert!(!sandbox.path(output).exists(), "{output} is left: {said:?}");
    }
    let said = communities(sandbox, "auto", environment);
    assert_eq!(said.code, Some(0), "{environment:?}: {said:?}");
    for part in parts.iter().chain(&["note: running on the CPU: "]) {
        assert!(said.error.contains(part), "no `{part}` in {said:?}");
    }
    assert_eq!(sandbox.read("out.txt"), sandbox.read("cpu.txt"));
    assert_eq!(sandbox.json("stats.json")["device"], "cpu");
    for output in ["out.txt", "stats.json"] {
        std::fs::remove_file(sandbox.path(output)).unwrap();
    }
}

#[track_caller]
fn works(sandbox: &Sandbox, environment: &[(&str, &str)]) -> Said {
    let said = communities(sandbox, "cuda", &[&[WORKS], environment].concat());
    assert_eq!(said.code, Some(0), "{environment:?}: {said:?}");
    said
}

#[test]
fn no_nvrtc() {
    let sandbox = sandbox();
    no_compiler(&sandbox);
    fault(&sandbox, &[WORKS], &["no compiler for GPU kernels", "install NVRTC"]);
}

#[test]
fn an_old_nvrtc_and_an_old_driver() {
    let sandbox = sandbox();
    let old = [("FAKE_NVRTC", "11"), WORKS];
    fault(&sandbox, &old, &["the NVRTC here is 11.0, and the kernels need 12.0 or newer"]);
    let old = [("FAKE_VERSION", "12040"), WORKS];
    fault(
        &sandbox,
        &old,
        &["is for CUDA 12.4, and NVRTC 13.0", "an NVRTC of the driver's version"],
    );
    fault(&sandbox, &[("FAKE_VERSION", "11040"), WORKS], &["is for CUDA 11.4", "525"]);
}

#[test]
fn a_full_gpu() {
    let sandbox = sandbox();
    let others = [("FAKE_OTHERS", "1073741000"), WORKS];
    fault(&sandbox, &others, &["the run needs", "of the memory of Fake GPU 0", "824 B is free"]);
    // Free memory is taken before it can be reserved.
    fault(&sandbox, &[("FAKE_RESERVE", "2"), WORKS], &["the GPU refused", "that are free"]);
}

#[test]
fn a_gpu_that_is_taken_away() {
    let sandbox = sandbox();
    // At the first kernel, in a round's first step, and later in it.
    for launches in ["0", "2", "4"] {
        let lost = ["the GPU failed at", "CUDA_ERROR_ILLEGAL_ADDRESS"];
        fault(&sandbox, &[("FAKE_LAUNCHES", launches)], &lost);
    }
}

#[test]
fn hooks_that_do_not_compile() {
    let log = "loud.cu(7): error: no such thing";
    fault(&sandbox(), &[("FAKE_LOG", log)], &["the kernels of loud do not compile", log]);
}

#[test]
fn kernels_are_kept_and_found_again() {
    let sandbox = sandbox();
    assert!(!works(&sandbox, &[]).error.contains("note:"));
    let stats = sandbox.json("stats.json");
    assert_eq!(stats["device"], "cuda:0 Fake GPU 0");
    let shares = stats["shares"].as_object().unwrap().values();
    let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{stats}");
    for stage in ["open", "transfer"] {
        assert!(stats["seconds"][stage].as_f64().unwrap() > 0.0, "{stats}");
    }
    // They need no compiler from now on.
    no_compiler(&sandbox);
    works(&sandbox, &[]);
}

#[test]
fn a_damaged_kernel_is_compiled_again() {
    let sandbox = sandbox();
    works(&sandbox, &[]);
    let kept: Vec<_> = std::fs::read_dir(sandbox.path("cache")).unwrap().collect();
    let [kernel] = &kept[..] else { panic!("{kept:?}") };
    let path = kernel.as_ref().unwrap().path();
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for bytes in [&damaged[..], &whole[..whole.len() / 2], b""] {
        std::fs::write(&path, bytes).unwrap();
        let said = works(&sandbox, &[]);
        assert!(!said.error.contains("note:"), "{said:?}");
        assert!(std::fs::read(&path).unwrap() == whole, "it is mended");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_a_note() {
    let sandbox = sandbox();
    let cache = ("RIPPLET_CACHE", sandbox.path("graph.txt"));
    let cache = (cache.0, cache.1.to_str().unwrap());
    let said = works(&sandbox, &[cache]);
    for part in ["note: compiled kernels are not kept, as ", "cannot be written", "RIPPLET_CACHE"] {
        assert!(said.error.contains(part), "{part}: {said:?}");
    }
    assert_eq!(said.error.matches("note:").count(), 1, "{said:?}");
    assert_eq!(sandbox.read("graph.txt"), TRIANGLES);
    let arguments = "bench lp graph.txt --iterations 1 --ablation";
    let said = run(&sandbox, arguments, &[WORKS, cache]);
    assert_eq!((said.code, said.error.matches("note:").count()), (Some(0), 1), "{said:?}");
}
