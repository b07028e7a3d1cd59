//! `ripplet devices`: the devices of this machine, and kernels for them before there is a run.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::message::counted;
use crate::output::print;
use crate::size::Size;
use clap::Args;
use ripplet::device::available_memory;
use ripplet::device::{CompiledKernels, GpuInfo, GpuList, built_in_kernels, compile_kernels, gpus};
use std::str::FromStr;

/// List the devices that can compute.
#[derive(Args)]
pub struct Arguments {
    /// Compile the kernels of usual runs now, not when the first run needs them (docs/gpu.md)
    ///
    /// Needs NVRTC, and no GPU with --architectures. Runs find the kernels in the folder RIPPLET_CACHE, else in
    /// `ripplet/kernels` in the user's folder of caches. What is there is not compiled again.
    #[arg(long)]
    compile_kernels: bool,
    /// Architectures to compile for, such as 80,90, instead of those of the GPUs here
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "compile_kernels")]
    architectures: Vec<Architecture>,
}

/// An architecture of GPUs: 90 and sm_90 are (9, 0).
#[derive(Clone, Copy)]
struct Architecture(u32, u32);

impl FromStr for Architecture {
    type Err = String;

    fn from_str(text: &str) -> Result<Architecture, String> {
        let digits = text.strip_prefix("sm_").unwrap_or(text);
        match digits.parse::<u32>() {
            Ok(number) if (10..1000).contains(&number) => {
                Ok(Architecture(number / 10, number % 10))
            }
            _ => Err(format!("expected an architecture such as 90 or sm_90, not `{text}`")),
        }
    }
}

/// Lists the devices, a line each; without a GPU, a line has the reason. With `--compile-kernels`, compiles kernels instead.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    if arguments.compile_kernels {
        return compile(&arguments.architectures, console);
    }
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
    if built_in_kernels() > 0 {
        let files = counted(built_in_kernels() as u64, "file", "files");
        lines.push(format!("kernels {files} built in"));
    }
    print(&(lines.join("\n") + "\n"))
}

/// Compiles the kernels of usual runs.
fn compile(architectures: &[Architecture], console: &Console) -> Result<(), Failure> {
    console.stage("compiling kernels");
    let architectures: Vec<_> =
        architectures.iter().map(|&Architecture(major, minor)| (major, minor)).collect();
    let done = compile_kernels(&architectures, &console.watch());
    interrupt::check()?;
    let CompiledKernels { folder, architectures, files, compiled } =
        done.map_err(|sentence| Failure::Device {
            sentence,
            help: "docs/gpu.md, \"Before the first run\", has what this needs".to_owned(),
        })?;
    let names: Vec<_> =
        architectures.iter().map(|(major, minor)| format!("sm_{major}{minor}")).collect();
    let files = counted(files as u64, "file", "files");
    let (names, folder) = (names.join(", "), folder.display());
    console.say(&format!("{files} of kernels for {names}, {compiled} of them new; see {folder}"));
    Ok(())
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
