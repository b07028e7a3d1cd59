//! `ripplet devices`, whatever driver is here.

use crate::sandbox::Sandbox;

#[test]
fn devices_are_told() {
    let text = Sandbox::new().ok("devices");
    assert!(text.starts_with("cpu "), "{text}");
    assert!(text.contains("\ncuda"), "{text}");
}

#[cfg(target_os = "linux")]
mod drivers {
    use super::*;
    use crate::driver::{FAKE, FAKE_NVRTC, compiler, driver, no_compiler, no_driver, run};

    /// Output of `ripplet devices` with the sandbox's driver.
    fn devices(sandbox: &Sandbox, environment: &[(&str, &str)]) -> String {
        let said = run(sandbox, "devices", environment);
        assert_eq!((said.code, &*said.error), (Some(0), ""), "{said:?}");
        assert!(said.out.starts_with("cpu "), "{said:?}");
        said.out
    }

    #[test]
    fn a_library_that_is_none_is_said() {
        let sandbox = Sandbox::new();
        for bytes in [&b""[..], b"this is no library", b"\x7fELF\x02\x01\x01"] {
            no_driver(&sandbox, bytes);
            let text = devices(&sandbox, &[]);
            assert!(text.contains("cuda    none: no NVIDIA driver: no library"), "{text}");
        }
    }

    #[test]
    fn a_library_without_functions_is_said() {
        let sandbox = Sandbox::new();
        sandbox.write("empty.c", "int nothing;\n");
        driver(&sandbox, sandbox.path("empty.c").to_str().expect("text"));
        let text = devices(&sandbox, &[]);
        assert!(text.contains("cuda    none: no NVIDIA driver: its library has no"), "{text}");
        assert!(text.contains("cuInit"), "{text}");
    }

    #[test]
    fn a_driver_that_does_not_start_is_said() {
        let sandbox = Sandbox::new();
        driver(&sandbox, FAKE);
        for (environment, parts) in [
            (("FAKE_VERSION", "11040"), ["is for CUDA 11.4", "install driver version 525"]),
            (("FAKE_INIT", "100"), ["cuda    none", "the NVIDIA driver finds no GPU"]),
            (("FAKE_COUNT", "0"), ["cuda    none", "the NVIDIA driver finds no GPU"]),
            (("FAKE_COUNT", "-1"), ["cuda    none", "the NVIDIA driver finds no GPU"]),
            (("FAKE_INIT", "803"), ["CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart the machine"]),
            (("FAKE_INIT", "802"), ["error 802", "fabricmanager"]),
            (("FAKE_INIT", "34"), ["error 34", "stubs"]),
            (("FAKE_INIT", "999"), ["error 999", "nvidia-smi"]),
            // A code that is in no list.
            (("FAKE_INIT", "123456"), ["it does not start", "error 123456"]),
        ] {
            let text = devices(&sandbox, &[environment]);
            for part in parts {
                assert!(text.contains(part), "{environment:?}: {part} in {text}");
            }
        }
    }

    #[test]
    fn gpus_are_listed() {
        let sandbox = Sandbox::new();
        driver(&sandbox, FAKE);
        let text = devices(&sandbox, &[("FAKE_COUNT", "2")]);
        for part in [
            "cuda:0  Fake GPU 0, sm_90, 1.0 GiB of 1.0 GiB of memory free\n",
            "cuda:1  Fake GPU 1, sm_90, 1.0 GiB of 1.0 GiB of memory free\n",
            "driver  CUDA 13.0\n",
            "nvrtc   ",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let text = devices(&sandbox, &[("FAKE_SM", "61")]);
        assert!(text.contains("sm_61, 1.0 GiB of memory; cannot be used: the GPU Fake"), "{text}");
        let text = devices(&sandbox, &[("FAKE_OPEN", "46")]);
        assert!(text.contains("cannot be used: the GPU failed at opening it: error 46"), "{text}");
    }

    /// Number of sources of usual runs, `ripplet_cuda::built_in`.
    const SOURCES: usize = 40;

    /// A sandbox with a driver, and a compiler for sm_90 alone.
    fn with_compiler() -> Sandbox {
        let sandbox = Sandbox::new();
        driver(&sandbox, FAKE);
        compiler(&sandbox, FAKE_NVRTC);
        sandbox
    }

    #[test]
    fn kernels_are_compiled_before_there_is_a_run() {
        let sandbox = with_compiler();
        let folder = sandbox.path("cache");
        for (of_gpu, new) in [(true, SOURCES), (false, 0), (true, 0)] {
            let named = if of_gpu { "" } else { " --architectures 90,sm_90" };
            let said = run(&sandbox, &format!("devices --compile-kernels{named}"), &[]);
            let expected = format!(
                "{SOURCES} files of kernels for sm_90, {new} of them new; see {}\n",
                folder.display()
            );
            assert_eq!((said.code, &*said.error, &*said.out), (Some(0), &*expected, ""));
            assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), SOURCES);
        }
        // A run finds them without a compiler, and fails later, at the driver that runs nothing.
        no_compiler(&sandbox);
        sandbox.write("graph.txt", b"1 2\n2 3\n");
        for (run_of, is_ahead) in [
            ("communities graph.txt -o - --device cuda", true),
            ("communities graph.txt -o - --device cuda --program slpa", false),
        ] {
            let said = run(&sandbox, run_of, &[]);
            assert_eq!(said.code, Some(1), "{said:?}");
            assert_eq!(said.error.contains("no compiler for GPU kernels"), !is_ahead, "{said:?}");
        }
        // Without a driver either, if the architecture is named.
        no_driver(&sandbox, b"this is no library");
        compiler(&sandbox, FAKE_NVRTC);
        let said = run(&sandbox, "devices --compile-kernels --architectures 90 --quiet", &[]);
        assert_eq!((said.code, &*said.error, &*said.out), (Some(0), "", ""));
    }

    #[test]
    fn kernels_that_cannot_be_compiled_are_said() {
        let sandbox = with_compiler();
        let all = "devices --compile-kernels";
        let fails = |arguments: &str, environment: &[(&str, &str)], code, parts: &[&str]| {
            let said = run(&sandbox, arguments, environment);
            said.must_fail(&format!("{arguments} {environment:?}"), code, parts);
        };
        let other = "devices --compile-kernels --architectures 90,80";
        fails(other, &[], 1, &["NVRTC 13.0 does not compile for sm_80; it knows sm_90"]);
        assert!(!sandbox.path("cache").exists(), "nothing is compiled for one that is known");
        fails(all, &[("FAKE_LOG", "line 1: no")], 1, &["do not compile", "line 1: no"]);
        fails(all, &[("FAKE_NVRTC", "11")], 1, &["NVRTC here is 11.0"]);
        for old in [("FAKE_COUNT", "0"), ("FAKE_SM", "61")] {
            fails(all, &[old], 1, &["finds no GPU of sm_75 or newer to compile kernels for"]);
        }
        let too_old = [("FAKE_VERSION", "12040")];
        fails(
            all,
            &too_old,
            1,
            &["driver is for CUDA 12.4", "NVRTC 13.0 compiles kernels that it cannot load"],
        );
        let older = "devices --compile-kernels --architectures 61";
        fails(older, &[], 1, &["ripplet needs sm_75 or newer, and sm_61 is older"]);
        sandbox.write("file", b"");
        let file = sandbox.path("file");
        let at_file = [("RIPPLET_CACHE", file.to_str().expect("text"))];
        fails(all, &at_file, 1, &["writing compiled kernels into", "file"]);
        for wrong in ["x", "9", "sm_", "90,,80", "-1", "99999999999"] {
            let arguments = format!("devices --compile-kernels --architectures={wrong}");
            fails(&arguments, &[], 2, &["expected an architecture such as 90 or sm_90"]);
        }
        fails("devices --architectures 90", &[], 2, &["--compile-kernels"]);
        no_compiler(&sandbox);
        fails(all, &[], 1, &["no compiler for GPU kernels", "docs/gpu.md"]);
        no_driver(&sandbox, b"this is no library");
        fails(all, &[], 1, &["no NVIDIA driver"]);
    }
}
