//! The arguments `--device` and `--device-memory`, and notes about the device.

use crate::console::Console;
use crate::failure::Failure;
use crate::size::Size;
use crate::storage::StorageArguments;
use crate::threads::ThreadArguments;
use clap::{Arg, Args};
use ripplet::device::{AnyExecutor, Fallback, Opened, Workers};
use ripplet::swarm::Analysis;
use ripplet::{Device, Storage};

/// Options of the device that computes.
#[derive(Args, Clone)]
pub struct DeviceArguments {
    /// The device that computes: auto, cpu, cuda, cuda:N, or cuda:N,M,….
    ///
    /// `cuda` is `cuda:0`, the first GPU that `ripplet devices` lists. `auto` is the first GPU if
    /// it works and the run fits its memory, and the CPU otherwise: a note says why if there is a GPU. Several
    /// GPUs share the graph of label propagation, or the graphs of a batch of distances or centralities; other
    /// work takes one. Ranks of label propagation take one each of those that are named, in turn on each host, and `auto` is their
    /// CPU. `pagerank`, `components` and `kcore` run on the CPU.
    #[arg(long, default_value = "auto")]
    device: Device,
    /// Give a run no more of the GPU's memory than this: 8GiB, 500MB [default: what is free].
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    device_memory: Option<Size>,
}

/// Turns `--device` into that of a command which runs on one device and reads no batch.
pub fn on_one(device: Arg) -> Arg {
    let short = "The device that computes: auto, cpu, cuda, or cuda:N";
    device.help(short).long_help(format!(
        "{short}.\n\n`cuda` is `cuda:0`, the first GPU that `ripplet devices` lists. `auto` is the first GPU if it works and \
         the run fits its memory, and the CPU otherwise: a note says why if there is a GPU."
    ))
}

/// Parses a `--device` of a command that runs on one device.
pub fn one_device(text: &str) -> Result<Device, String> {
    let device: Device =
        text.parse().map_err(|error: ripplet::device::BadDevice| error.to_string())?;
    match device.numbers() {
        [] | [_] => Ok(device),
        _ => Err("this runs on one GPU: name one, such as cuda:0".into()),
    }
}

/// Prints why the CPU computes; the usual reasons only with `--verbose`.
pub fn note_fallback(fallback: &Fallback, console: &Console) {
    let note = fallback.to_string();
    if fallback.is_usual { console.detail(&note) } else { console.remark(&note) }
}

/// Starts a device after the graph was read; prints why it is the CPU if a GPU was allowed.
pub fn start(
    opened: Opened,
    threads: &ThreadArguments,
    console: &Console,
) -> Result<AnyExecutor, Failure> {
    if let Some(fallback) = opened.fallback() {
        note_fallback(fallback, console);
    }
    Ok(opened.start(threads.count())?.0)
}

impl DeviceArguments {
    /// Refuses options that would have no effect.
    pub fn check(&self) -> Result<(), Failure> {
        match self.device_memory {
            Some(_) if self.device.is_cpu() => Err(Failure::refused(
                "--device-memory is for a GPU, but the device is cpu",
                "leave --device-memory out, or use --device cuda",
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether the choice allows the CPU, and no option is for a GPU.
    pub fn is_cpu_enough(&self) -> bool {
        (self.device.is_cpu() || self.device.is_auto()) && self.device_memory.is_none()
    }

    /// Returns the arguments for an analysis of lists of this storage, which a GPU reads plain: of
    /// compressed lists, `auto` is the CPU.
    pub fn with_storage(
        &self,
        storage: &StorageArguments,
        console: &Console,
    ) -> Result<DeviceArguments, Failure> {
        // Without `--storage`, lists are plain for a GPU.
        let lists = storage.get().unwrap_or(Storage::Plain);
        let (device, fallback) = self.device.for_lists(lists, self.memory())?;
        fallback.iter().for_each(|fallback| note_fallback(fallback, console));
        Ok(DeviceArguments { device, device_memory: self.device_memory })
    }

    /// Returns the choice.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Runs `work` on a device. If `auto` chose a GPU that fails, prints why and runs it on the CPU.
    pub fn on<T>(
        &self,
        executor: &AnyExecutor,
        threads: &ThreadArguments,
        console: &Console,
        work: impl Fn(&AnyExecutor) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.device.run_on(executor, threads.count(), |executor, fallback| {
            fallback.iter().for_each(|fallback| note_fallback(fallback, console));
            let done = work(executor);
            executor.notes().iter().for_each(|note| console.remark(note));
            done
        })
    }

    /// Opens the device before any data is read; refuses several GPUs.
    pub fn open_one(&self) -> Result<Opened, Failure> {
        Ok(self.device.open_one(self.memory())?)
    }

    /// Opens the device before any data is read.
    pub fn open(&self) -> Result<Opened, Failure> {
        Ok(self.device.open(self.memory())?)
    }

    /// Opens workers for an analysis on each GPU, `times` per GPU; see [`Device::open_workers`].
    pub fn open_workers(&self, analysis: Analysis, times: usize) -> Result<Workers, Failure> {
        Ok(self.device.open_workers(analysis, times, self.memory())?)
    }

    /// Returns the limit of a GPU's memory, in bytes.
    pub fn memory(&self) -> Option<u64> {
        self.device_memory.map(|size| size.0)
    }
}
