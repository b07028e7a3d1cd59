//! `ripplet bench lp`: full iterations of label propagation, degree class by degree class, beside
//! their ceilings.

use super::report::{Report, Variant};
use crate::communities::{FileArguments, attenuation_refused};
use crate::console::Console;
use crate::device::one_device;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{check_place, json, print, write_json};
use crate::reading::{BuildArguments, ReadArguments, load};
use crate::seed::seed;
use crate::standard_streams::is_standard;
use crate::stats::Shape;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::Device;
use ripplet::device::{AnyExecutor, GpuCounting};
use ripplet::graph::Graph;
use ripplet::io::batch::is_batch;
use ripplet::lp::{DynProgram, Schedule, Settings};
use ripplet::programs::{BuiltIn, ProgramName};
use std::path::PathBuf;

/// Show where the time of label propagation goes, on a GPU or on this machine's cores.
///
/// Runs full iterations, in which every vertex is active and all update at once, whatever the program's schedule.
/// Prints the time of each iteration, of each degree class in the first and in the last, and the least time that
/// an iteration needs: reading every arc (stream ceiling), and every arc's label as well (gather ceiling).
/// docs/gpu.md explains the columns.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    input: PathBuf,
    /// The program, with its default parameters: lpa, cdlp, llp or slpa [default: lpa].
    #[arg(long, value_parser = program)]
    program: Option<ProgramName>,
    /// The number of iterations.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1000),
        default_value_t = 10
    )]
    iterations: u32,
    /// The device that computes: auto, cpu, cuda or cuda:N, as `ripplet devices` lists them.
    #[arg(long, value_parser = one_device, default_value = "auto")]
    device: Device,
    /// On a GPU, run everything with tables in global memory and with tables in shared memory, too, and compare.
    #[arg(long)]
    ablation: bool,
    /// Write the report as JSON; `-` is standard output, in place of the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The seed of all random draws.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    building: BuildArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// The programs that begin without a file of their own.
fn program(text: &str) -> Result<ProgramName, String> {
    match text.parse() {
        Ok(ProgramName::Seeded) => Err(
            "seeded begins with seeds, which are not read here: expected lpa, cdlp, llp or slpa"
                .into(),
        ),
        Ok(name) => Ok(name),
        Err(_) => Err("expected lpa, cdlp, llp or slpa".into()),
    }
}

/// Measures, and prints what was found.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let Arguments { input, json: report_to, .. } = arguments;
    let options = arguments.reading.options(input, &arguments.building)?;
    if is_batch(input, &options.read) {
        return Err(Failure::refused(
            format!("{} holds many graphs, and `bench lp` measures one", input.display()),
            "name one graph",
        ));
    }
    let file = arguments.file.resolve()?;
    if arguments.program == Some(ProgramName::Cdlp) && arguments.reading.weighted {
        return Err(Failure::refused(
            "cdlp is unweighted by its definition",
            "leave --weighted out",
        ));
    }
    if let Some(path) = report_to {
        check_place(path, &[input])?;
    }
    let executor = open(arguments, console)?;
    let loaded = load(input, &options, console)?;
    let graph = &loaded.graph;
    if graph.arcs() == 0 {
        return Err(Failure::refused(
            format!("{} has no arcs: there is nothing to measure", input.display()),
            "name a graph with edges",
        ));
    }
    let name = arguments.program.unwrap_or(ProgramName::Lpa);
    let declared = file.as_ref().map_or(name.schedule(), |file| file.schedule);
    let schedule = Schedule { ties: declared.ties, ..Schedule::sync() };
    let mut settings = Settings { schedule, seed: arguments.seed, ..Settings::default() };
    if let Some(file) = &file {
        settings = file.fill(settings, graph.ids(), console)?;
    }
    interrupt::check()?;
    let device_name = name_of(&executor);
    let bench = Bench { task: Task { arguments, graph, settings, console }, executor };
    let program = match &file {
        Some(file) => file.program(),
        None => BuiltIn::from(name).instantiate(graph).map_err(attenuation_refused)?,
    };
    let Measured { program, variants } = bench.measure(&*program)?;
    let report = Report::new(Shape::of(graph), program, device_name, &variants);
    let Some(path) = report_to else { return print(&report.lines()) };
    if is_standard(path) {
        return print(&json(&report));
    }
    write_json(path, &report)?;
    print(&report.lines())
}

/// Opens the device of `--device`, and starts the threads.
fn open(arguments: &Arguments, console: &Console) -> Result<AnyExecutor, Failure> {
    let threads = arguments.threads.start()?;
    let cpu = || Ok(AnyExecutor::cpu(Some(threads))?);
    let gpu = |device: &Device| Ok(device.open(None)?.start(Some(threads))?.0);
    let device = &arguments.device;
    if device.is_cpu() && arguments.ablation {
        return Err(Failure::refused(
            "--ablation compares ways of counting on a GPU, but the device is cpu",
            "leave --ablation out, or use --device cuda",
        ));
    }
    if device.is_cpu() {
        return cpu();
    }
    if !device.is_auto() {
        return gpu(device).map_err(Failure::of_gpu_alone);
    }
    match gpu(&Device::cuda(0)) {
        Err(failure) if arguments.ablation => Err(Failure::of_gpu_alone(failure)),
        Err(failure) => {
            console.remark(&format!("measuring the CPU: {failure}"));
            cpu()
        }
        opened => opened,
    }
}

/// Returns what the device is called in the report.
fn name_of(executor: &AnyExecutor) -> String {
    match executor.threads() {
        None => executor.name(),
        Some(1) => "cpu (1 thread)".into(),
        Some(threads) => format!("cpu ({threads} threads)"),
    }
}

/// A measurement to make.
struct Task<'a> {
    arguments: &'a Arguments,
    graph: &'a Graph,
    settings: Settings,
    console: &'a Console,
}

/// The benchmark of a program.
struct Bench<'a> {
    task: Task<'a>,
    executor: AnyExecutor,
}

/// The measurements of a program: the default way of counting votes, then other ways.
struct Measured {
    program: String,
    variants: Vec<Variant>,
}

impl Bench<'_> {
    fn measure(self, program: &dyn DynProgram) -> Result<Measured, Failure> {
        let Bench { task, executor } = self;
        let variants = match executor.is_cpu() {
            true => vec![task.on_cpu(&executor, program)?],
            false => task.on_gpu(executor, program)?,
        };
        interrupt::check()?;
        Ok(Measured { program: program.info().name, variants })
    }
}

impl Task<'_> {
    fn on_cpu(&self, executor: &AnyExecutor, program: &dyn DynProgram) -> Result<Variant, Failure> {
        self.console.stage("measuring");
        let iterations = self.arguments.iterations;
        let watch = &mut self.console.watch();
        let profile = executor.profile(self.graph, program, &self.settings, iterations, watch)?;
        Ok(Variant { name: "exact", profile })
    }

    fn on_gpu(
        &self,
        mut executor: AnyExecutor,
        program: &dyn DynProgram,
    ) -> Result<Vec<Variant>, Failure> {
        let Task { arguments, graph, settings, console } = self;
        let others = [GpuCounting::SharedTables, GpuCounting::GlobalTables];
        let others = others.iter().filter(|_| arguments.ablation);
        let (mut variants, mut failed) = (Vec::new(), Ok(()));
        for &counting in [GpuCounting::PackedWarps].iter().chain(others) {
            let name = counting.name();
            console.stage(format!("compiling and measuring: {name}"));
            executor = executor.with_gpu_counting(counting);
            match executor.profile(graph, program, settings, arguments.iterations, &mut ()) {
                Ok(profile) => variants.push(Variant { name, profile }),
                Err(error) => failed = Err(error),
            }
            if failed.is_err() || interrupt::requested() {
                break;
            }
        }
        executor.notes().iter().for_each(|note| console.remark(note));
        failed.map_err(|error| Failure::from(error).of_gpu_alone())?;
        Ok(variants)
    }
}
