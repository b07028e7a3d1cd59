//! A `CudaDevice` on a driver written in C (`fakes/driver.c` of ripplet-emulator), whose memory is the host's: copies,
//! errors, and calls after the device was lost.
//!
//! The driver is found once a process, so each test runs itself again in a process of its own.

use ripplet_emulator::fakes;
use ripplet_gpu::cache::{Cache, Compiled, Key};
use ripplet_gpu::transport::{Transport, TransportKind};
use ripplet_gpu::{
    CudaDevice, Device, DeviceError, Launch, Peer, Source, Transfer, Version, nvrtc,
};
use std::path::Path;
use std::process::Command;

/// Set in the process that has the driver.
const INSIDE: &str = "RIPPLET_TEST_FAKE_DRIVER";

/// Kernels that no compiler has seen, for the driver to load; see [`cache`].
fn source() -> Source {
    Source { name: "kernels".to_owned(), text: "there is no such text".to_owned() }
}

/// A cache with machine code of `source`, for the version of NVRTC that is here, or for
/// `otherwise`.
fn cache(folder: &Path, otherwise: Version, code: &[u8]) -> Cache {
    let cache = Cache::at(folder.to_owned());
    let key = Key::new(&source().text, &["--std=c++17", "-default-device", "--fmad=false"], (9, 0));
    let nvrtc = nvrtc::available().unwrap_or(otherwise);
    cache.store(key, &Compiled { nvrtc, code: code.to_vec() }).expect("it is stored");
    cache
}

/// Runs a test of this module in a process that has the driver.
fn inside(name: &str, environment: &[(&str, &str)], test: impl FnOnce(&Path)) {
    if let Some(folder) = std::env::var_os(INSIDE) {
        return test(Path::new(&folder));
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (library, source) in [("libcuda.so", fakes::DRIVER), ("libnccl.so", fakes::NCCL)] {
        fakes::compile(source, &folder.path().join(library));
    }
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = [folder.path().to_owned()].into_iter().chain(std::env::split_paths(&paths));
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args([&format!("fake_driver::{name}"), "--exact", "--nocapture"])
        .env("LD_LIBRARY_PATH", std::env::join_paths(paths).expect("paths"))
        .env(INSIDE, folder.path())
        .envs(environment.iter().copied())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{said}\n{error}", output.status);
    assert!(said.contains("1 passed"), "{said}");
}

const ELF: &[u8] = b"\x7fELF and what follows";
const NVRTC: Version = Version { major: 13, minor: 0 };

fn launch(kernel: &'static str) -> Launch {
    Launch { kernel, blocks: 4, threads: 64, shared: 0, cooperative: false }
}

#[test]
fn what_is_written_is_read() {
    inside("what_is_written_is_read", &[], |_| {
        let device = CudaDevice::with_cache(0, None).expect("a device");
        assert_eq!(device.properties().name, "Fake GPU 0");
        assert_eq!(device.properties().architecture, (9, 0));
        assert_eq!(device.properties().multiprocessors, 4);
        let most = 50 << 20;
        let bytes: Vec<u8> = (0..most).map(|at: usize| ((at * 31) >> 4) as u8).collect();
        let memory = device.reserve(most as u64 + 5).expect("memory");
        assert_eq!(device.address(&memory).0 % 256, 0);
        let mut back = vec![0; most];
        for length in [0, 1, 65_536, 65_537, 16 << 20, (16 << 20) + 1, (33 << 20) + 3, most, 3] {
            device.fill(&memory, 0, most as u64 + 5, 0xee).expect("filled");
            device.write(&memory, 5, &bytes[..length]).expect("written");
            device.read(&memory, 5, &mut back[..length]).expect("read");
            assert!(back[..length] == bytes[..length], "{length}");
            let mut before = [0; 5];
            device.read(&memory, 0, &mut before).expect("read");
            assert_eq!(before, [0xee; 5]);
        }
        assert_eq!(device.timed(&mut || Ok(())), Ok(0.0025));
    });
}

#[test]
fn kernels_that_wait_start_early_and_no_others() {
    inside("kernels_that_wait_start_early_and_no_others", &[("FAKE_LAUNCHES", "9")], |folder| {
        let cache = cache(&folder.join("kernels"), NVRTC, ELF);
        let device = CudaDevice::with_cache(0, Some(cache)).expect("a device");
        let module = device.load(&source()).expect("kernels");
        for kernel in ["waiting", "other", "waiting"] {
            for cooperative in [false, true] {
                let launch = Launch { cooperative, ..launch(kernel) };
                // SAFETY: these kernels of the driver read nothing.
                let launched = unsafe { device.launch(&module, &launch, &[0; 16]) };
                assert_eq!(launched, Ok(()), "{kernel} {cooperative}");
            }
        }
    });
}

#[test]
fn kernels_get_their_argument() {
    inside("kernels_get_their_argument", &[], |folder| {
        let cache = cache(&folder.join("kernels"), NVRTC, ELF);
        let device = CudaDevice::with_cache(0, Some(cache)).expect("a device");
        let module = device.load(&source()).expect("kernels");
        assert_eq!(device.notes(), [""; 0]);
        let numbers: Vec<u64> = (0..256).map(|number| number * number).collect();
        let from = device.reserve(2048).expect("memory");
        device.write(&from, 0, bytemuck::cast_slice(&numbers)).expect("written");
        for cooperative in [false, true] {
            let to = device.reserve(2048).expect("memory");
            let argument = [device.address(&from), device.address(&to)];
            let launch = Launch { shared: 200_000, cooperative, ..launch("copy") };
            assert_eq!(device.resident_blocks(&module, &launch), Ok(4 * 2048 / 64));
            // SAFETY: the driver's `copy` takes these two addresses.
            unsafe { device.launch(&module, &launch, bytemuck::cast_slice(&argument)) }
                .expect("launched");
            device.wait().expect("done");
            let mut back = vec![0_u64; 256];
            device.read(&to, 0, bytemuck::cast_slice_mut(&mut back)).expect("read");
            assert_eq!(back, numbers);
        }
        for (launch, part) in [
            (launch("missing"), "looking for kernel missing of kernels"),
            (Launch { shared: 300_000, ..launch("copy") }, "of 232448, to kernel copy"),
            (Launch { shared: u32::MAX, ..launch("copy") }, "shared memory, of 232448"),
        ] {
            // SAFETY: the launch is refused.
            let refused = unsafe { device.launch(&module, &launch, &[]) }.expect_err("refused");
            assert!(refused.to_string().contains(part), "{refused}");
        }
        // SAFETY: the launch is refused.
        let refused = unsafe { device.launch(&module, &launch("copy"), &[0; 5000]) };
        assert!(refused.expect_err("refused").to_string().contains("more than 4096 bytes"));
    });
}

#[test]
fn kernels_are_launched_together() {
    inside("kernels_are_launched_together", &[], |folder| {
        let cache = cache(&folder.join("kernels"), NVRTC, ELF);
        let device = CudaDevice::with_cache(0, Some(cache)).expect("a device");
        let module = device.load(&source()).expect("kernels");
        let numbers: Vec<u64> = (0..256).map(|number| number * 3).collect();
        let from = device.reserve(2048).expect("memory");
        device.write(&from, 0, bytemuck::cast_slice(&numbers)).expect("written");
        for count in [0, 1, 5, 2] {
            let to: Vec<_> = (0..count).map(|_| device.reserve(2048).expect("memory")).collect();
            let arguments = to.iter().map(|to| [device.address(&from), device.address(to)]);
            let arguments: Vec<_> = arguments.collect();
            let launches = arguments
                .iter()
                .map(|argument| (launch("copy"), bytemuck::cast_slice::<_, u8>(argument)));
            let launches: Vec<_> = launches.collect();
            let chains: Vec<_> = launches.chunks(2).collect();
            // SAFETY: the driver's `copy` takes these two addresses, and writes only to the second.
            unsafe { device.launch_chains(&module, &chains) }.expect("launched");
            device.wait().expect("done");
            for to in &to {
                let mut back = vec![0_u64; 256];
                device.read(to, 0, bytemuck::cast_slice_mut(&mut back)).expect("read");
                assert_eq!(back, numbers);
            }
        }
        // SAFETY: the launch is refused.
        let refused = unsafe { device.launch_chains(&module, &[&[(launch("missing"), &[0; 8])]]) };
        assert!(refused.expect_err("refused").to_string().contains("kernel missing"));
    });
}

/// Two GPUs.
const TWO: (&str, &str) = ("FAKE_COUNT", "2");

fn two() -> Vec<CudaDevice> {
    let device = |number| CudaDevice::with_cache(number, None).expect("a device");
    vec![device(0), device(1)]
}

/// Each GPU sends its message to the other, with different lengths; then each copies it.
#[test]
fn what_is_sent_is_received() {
    inside("what_is_sent_is_received", &[TWO], |_| {
        let devices = two();
        let communicator = CudaDevice::communicator(&devices).expect("NCCL");
        let length = |rank: usize| 1000 + 24 * rank;
        let swap = |rank: usize| {
            let (device, other) = (&devices[rank], 1 - rank);
            let memory = device.reserve(4096).expect("memory");
            device.write(&memory, 0, &vec![rank as u8 + 1; 2048]).expect("written");
            let transfer = |offset: usize, bytes: usize| {
                let address = device.address(&memory).plus(offset as u64);
                Transfer { rank: other, address, bytes: bytes as u64 }
            };
            let sent = [transfer(0, length(rank)), transfer(8, 8)];
            let received = [transfer(2048, length(other)), transfer(2048 + length(other), 8)];
            // SAFETY: the transfers are within the memory, and sizes match between sender and
            // receiver.
            unsafe { device.send_and_receive(&communicator, rank, &sent, &received) }
                .expect("carried");
            assert_eq!(device.wait_unless(&|| true), Ok(true));
            let mut bytes = vec![0; 2048];
            device.read(&memory, 2048, &mut bytes).expect("read");
            let all = length(other) + 8;
            assert!(bytes[..all].iter().all(|&byte| byte == other as u8 + 1), "{rank}");
            assert!(bytes[all..].iter().all(|&byte| byte == 0), "{rank}");
            memory
        };
        let memory: Vec<_> = std::thread::scope(|scope| {
            [0, 1]
                .map(|rank| scope.spawn(move || swap(rank)))
                .map(|it| it.join().expect("well"))
                .into()
        });
        let [to, from] = [0, 1].map(|rank| devices[rank].address(&memory[rank]));
        // SAFETY: there are 100 bytes at both addresses, and nothing writes to them meanwhile.
        unsafe { devices[0].copy_from_peer(to, &devices[1], from, 100) }.expect("fetched");
        let mut bytes = [0; 101];
        devices[0].read(&memory[0], 0, &mut bytes).expect("read");
        assert_eq!((bytes[0], bytes[99], bytes[100]), (2, 2, 1));
    });
}

/// The transport between two GPUs, and the reason why there is no NCCL.
fn transport(requested: Option<TransportKind>) -> (TransportKind, Option<String>) {
    let (transport, reason) = Transport::find(&two(), requested).expect("two devices");
    (transport.kind(), reason)
}

/// The transport with peer access, without it, and if NCCL does not start.
#[test]
fn transports_between_gpus() {
    inside("transports_between_gpus", &[TWO], |_| {
        assert_eq!(transport(None), (TransportKind::PeerAccess, None));
        assert_eq!(transport(Some(TransportKind::Nccl)), (TransportKind::Nccl, None));
        assert_eq!(std::env::var("NCCL_NVLS_ENABLE").as_deref(), Ok("0"));
        let copies = TransportKind::DriverCopies;
        assert_eq!(transport(Some(copies)), (copies, None));
    });
}

#[test]
fn a_transport_without_peer_access() {
    let environment = [TWO, ("FAKE_PEERS", "0"), ("NCCL_NVLS_ENABLE", "1")];
    inside("a_transport_without_peer_access", &environment, |_| {
        assert_eq!(transport(None), (TransportKind::Nccl, None));
        assert_eq!(std::env::var("NCCL_NVLS_ENABLE").as_deref(), Ok("1"));
    });
}

#[test]
fn an_nccl_that_does_not_start() {
    let environment = [TWO, ("FAKE_PEERS", "0"), ("FAKE_NCCL", "2")];
    inside("an_nccl_that_does_not_start", &environment, |_| {
        let (kind, reason) = transport(None);
        assert_eq!(kind, TransportKind::DriverCopies);
        assert!(reason.expect("a reason").contains("unhandled system error"));
    });
}

#[test]
fn memory_that_is_not_there_is_refused() {
    inside("memory_that_is_not_there_is_refused", &[], |_| {
        let device = CudaDevice::with_cache(0, None).expect("a device");
        let all = 1 << 30;
        for bytes in [all + 1, u64::MAX] {
            let refused = device.reserve(bytes).map(|_| ());
            assert_eq!(refused, Err(DeviceError::OutOfMemory { bytes, free: all }));
        }
        let half = device.reserve(all / 2).expect("memory");
        assert_eq!(device.free_memory(), Ok(all / 2));
        let refused = device.reserve(all).map(|_| ());
        assert_eq!(refused, Err(DeviceError::OutOfMemory { bytes: all, free: all / 2 }));
        drop(half);
        assert_eq!(device.free_memory(), Ok(all));
        device.reserve(0).expect("nothing can be reserved");
    });
}

#[test]
fn a_lost_device_gives_errors_and_drops_in_silence() {
    inside("a_lost_device_gives_errors_and_drops_in_silence", &[], |folder| {
        let cache = cache(&folder.join("kernels"), NVRTC, ELF);
        let device = CudaDevice::with_cache(0, Some(cache)).expect("a device");
        let module = device.load(&source()).expect("kernels");
        let memory = device.reserve(1 << 20).expect("memory");
        // SAFETY: the driver does not read the argument.
        unsafe { device.launch(&module, &launch("astray"), &[0; 8]) }.expect("launched");
        let mut bytes = vec![0; 1 << 20];
        let outcomes = [
            device.wait(),
            device.write(&memory, 0, &bytes[..9]),
            device.write(&memory, 0, &bytes),
            device.read(&memory, 0, &mut bytes[..9]),
            device.read(&memory, 0, &mut bytes),
            device.fill(&memory, 0, 1, 0),
            device.reserve(1).map(|_| ()),
            device.free_memory().map(|_| ()),
            device.resident_blocks(&module, &launch("copy")).map(|_| ()),
            device.timed(&mut || Ok(())).map(|_| ()),
            CudaDevice::with_cache(0, None).map(|_| ()),
        ];
        // A loaded module needs no call of the device.
        device.load(&source()).expect("loaded before");
        for (at, outcome) in outcomes.into_iter().enumerate() {
            let error = outcome.expect_err(&format!("outcome {at}")).to_string();
            let reason = "CUDA_ERROR_ILLEGAL_ADDRESS, an illegal memory access was encountered";
            assert!(error.contains(reason), "{at}: {error}");
        }
    });
}

#[test]
fn a_cache_that_cannot_be_written_is_a_note() {
    inside("a_cache_that_cannot_be_written_is_a_note", &[], |folder| {
        if nvrtc::available().is_err() {
            println!("skipped: there is no NVRTC");
            return;
        }
        let file = folder.join("file");
        std::fs::write(&file, "no folder").expect("written");
        let device = CudaDevice::with_cache(0, Some(Cache::at(file))).expect("a device");
        let source = Source { text: "extern \"C\" __global__ void f() {}".to_owned(), ..source() };
        for _ in 0..2 {
            device.load(&source).expect("kernels");
        }
        let notes = device.notes();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("file cannot be written"), "{notes:?}");
        let device = CudaDevice::with_cache(0, None).expect("a device");
        device.load(&source).expect("kernels");
        assert_eq!(device.notes().len(), 1);
    });
}

#[test]
fn kernels_that_the_driver_cannot_load_are_not_found() {
    inside(
        "kernels_that_the_driver_cannot_load_are_not_found",
        &[("FAKE_VERSION", "12040")],
        |_| {
            let folder = tempfile::tempdir().expect("a folder");
            // Machine code of NVRTC 13, which this driver does not load, whether NVRTC is here or
            // not.
            let cache = cache(folder.path(), NVRTC, ELF);
            let device = CudaDevice::with_cache(0, Some(cache)).expect("a device");
            match (nvrtc::available(), device.load(&source()).map(|_| ())) {
                (Err(_), Err(DeviceError::NoCompiler(_))) => {}
                (Ok(nvrtc), Err(DeviceError::TooOld(why))) if nvrtc.major == 13 => {
                    assert!(why.contains("is for CUDA 12.4, and NVRTC 13"), "{why}");
                }
                // This driver loads code of NVRTC 12.
                (Ok(nvrtc), Ok(())) if nvrtc.major == 12 => {}
                (nvrtc, loaded) => panic!("{nvrtc:?} {loaded:?}"),
            }
        },
    );
}

#[test]
fn an_old_gpu_is_refused() {
    inside("an_old_gpu_is_refused", &[("FAKE_SM", "70")], |_| {
        let refused = CudaDevice::with_cache(0, None).map(|_| ());
        assert!(matches!(&refused, Err(DeviceError::TooOld(why)) if why.contains("sm_70")));
        let absent = CudaDevice::with_cache(1, None).map(|_| ());
        assert_eq!(absent, Err(DeviceError::NoSuchDevice { number: 1, count: 1 }));
    });
}

#[test]
fn what_does_not_fit_panics() {
    inside("what_does_not_fit_panics", &[], |_| {
        let device = CudaDevice::with_cache(0, None).expect("a device");
        let memory = device.reserve(10).expect("memory");
        device.write(&memory, 10, &[]).expect("nothing fits everywhere within");
        for (offset, length) in [(9, 2), (11, 0), (u64::MAX, 1)] {
            let write = || device.write(&memory, offset, &vec![0; length]);
            let written = std::panic::catch_unwind(std::panic::AssertUnwindSafe(write));
            assert!(written.is_err(), "{length} bytes from {offset} on");
        }
        device.write(&memory, 0, &[1; 10]).expect("the device works on");
    });
}
