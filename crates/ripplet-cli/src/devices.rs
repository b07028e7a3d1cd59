//! `ripplet devices`: the devices of this machine.

use crate::failure::Failure;
use crate::free_memory::available_memory;
use crate::output::print;
use crate::size::Size;
use clap::Args;
use ripplet::device::{GpuInfo, GpuList, gpus};

/// List the devices that can compute.
#[derive(Args)]
pub struct Arguments {}

/// Lists the devices, a line each; without a GPU, a line has the reason.
pub fn run(_: &Arguments) -> Result<(), Failure> {
    let mut lines = vec![format!("cpu     {}", cpu())];
    match gpus() {
        Err(error) => lines.push(format!("cuda    none: {error}")),
        Ok(list) if list.gpus.is_empty() => {
            lines.push("cuda    none: the NVIDIA driver finds no GPU".to_owned());
        }
        Ok(GpuList { gpus, driver, nvrtc }) => {
            lines.extend(gpus.iter().map(|found| format!("cuda:{}  {}", found.number, gpu(found))));
            lines.extend(driver.map(|version| format!("driver  CUDA {version}")));
            lines.push(match nvrtc {
                Ok(version) => format!("nvrtc   {version}"),
                Err(error) => format!("nvrtc   none: {error}"),
            });
        }
    }
    print(&(lines.join("\n") + "\n"))
}

fn cpu() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = available_memory().map_or_else(String::new, |bytes| {
        let size = Size(bytes);
        format!(", {size} of memory free")
    });
    format!("{threads} threads{memory}")
}

fn gpu(gpu: &GpuInfo) -> String {
    let GpuInfo { name, architecture: (major, minor), memory, free_memory, .. } = gpu;
    let memory = Size(*memory);
    let free = match free_memory {
        Ok(bytes) => format!("{} of {memory} of memory free", Size(*bytes)),
        Err(error) => format!("{memory} of memory; cannot be used: {error}"),
    };
    format!("{name}, sm_{major}{minor}, {free}")
}
