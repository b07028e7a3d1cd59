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
    use crate::driver::{FAKE, driver, no_driver, run};

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
}
