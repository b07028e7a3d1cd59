//! `ripplet lcc`: from a graph in a file to its vertices' clustering coefficients in a file.

use crate::communities::EstimateForm;
use crate::console::{Console, print};
use crate::failure::Failure;
use crate::machine::{DeviceArguments, Machine};
use crate::output::{check_place, is_standard, json, write_json, written};
use crate::reading::{BuildArguments, Loaded, ReadArguments, format, load};
use crate::size::Size;
use crate::stats::{Bytes, Estimate, Shape, Stages, peak_memory};
use crate::threads::ThreadArguments;
use crate::{interrupt, memory};
use clap::{Args, ValueEnum};
use ripplet::analytics::lcc::{Definition, Lcc, Outcome};
use ripplet::graph::{Graph, VertexIds};
use ripplet::io::Format;
use ripplet::io::write::{self, ColumnData, VertexColumn};
use ripplet::lp::{DeviceSeconds, Plan};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Find each vertex's local clustering coefficient: how many of its neighbours are neighbours.
///
/// INPUT is as for `ripplet communities`. Edges count once, whatever their weights, and edges from a
/// vertex to itself not at all.
///
/// OUT has a line or a row a vertex: its id, the coefficient (`value`, from 0 to 1) and, with
/// --triangles, how many triangles it is a corner of. It is .txt, .tsv or .csv (each also .gz or
/// .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at all.
#[derive(Args)]
pub struct Arguments {
    /// The graph.
    input: PathBuf,
    /// Where the coefficients go.
    #[arg(short, long, value_name = "OUT", required_unless_present = "estimate")]
    output: Option<PathBuf>,
    /// Which coefficient; on undirected graphs both are the same.
    #[arg(long, value_enum, default_value_t = DefinitionName::Ldbc, help_heading = "Choices")]
    definition: DefinitionName,
    /// Add a column `triangles`.
    #[arg(long, help_heading = "Output")]
    triangles: bool,
    #[command(flatten, next_help_heading = "Choices")]
    device: DeviceArguments,
    /// Refuse a run whose plan (see --estimate) needs more memory than this: 8GiB, 500MB.
    ///
    /// Reading and building the graph are held to it as well, as they go.
    #[arg(long, value_name = "SIZE", help_heading = "Choices")]
    host_memory: Option<Size>,
    #[command(flatten)]
    reading: ReadArguments,
    /// The input's format, where its name does not tell.
    #[arg(long, value_parser = format, help_heading = "Reading")]
    format: Option<Format>,
    /// Write figures of the run (seconds, bytes, triangles, mean) to this JSON file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    stats: Option<PathBuf>,
    /// Read the graph, print the memory that the run will need with it, and stop.
    #[arg(
        long,
        value_enum,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = "Running"
    )]
    estimate: Option<EstimateForm>,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// The definitions by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DefinitionName {
    /// LDBC Graphalytics': arcs between neighbours over all that there could be
    Ldbc,
    /// Fagiolo's of directed graphs, as networkx computes it
    Fagiolo,
}

/// What decides a result or its speed, by name.
#[derive(Clone, Debug, Serialize)]
struct Choices {
    /// Which coefficient.
    definition: &'static str,
    /// Who computes.
    device: String,
    /// Threads of the CPU, which reads and writes whoever computes.
    threads: usize,
}

/// What `--stats` writes.
#[derive(Debug, Serialize)]
struct Stats {
    /// The version of ripplet.
    version: &'static str,
    #[serde(flatten)]
    shape: Shape,
    #[serde(flatten)]
    choices: Choices,
    /// How many triangles the graph has.
    triangles: u64,
    /// The mean of all coefficients.
    mean: f64,
    /// Where the time went.
    seconds: Stages,
    /// The same, each as a part of their sum.
    shares: Stages,
    /// Where the memory went.
    bytes: Bytes,
}

/// A run that is done, and what was chosen for it.
struct Run {
    choices: Choices,
    plan: Plan,
    outcome: Outcome,
    seconds: Stages,
}

/// Finds the coefficients of a graph.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    arguments.check()?;
    let options = arguments.reading.options(
        &arguments.input,
        arguments.format,
        &BuildArguments::default(),
    )?;
    arguments.check_places()?;
    let threads = arguments.threads.start()?;
    let start = Instant::now();
    let opened = arguments.device.open()?;
    let open = start.elapsed().as_secs_f64();
    let reading = format!("reading {}", arguments.input.display());
    let loaded = memory::within(arguments.host_memory, &reading, || {
        load(&arguments.input, &options, console)
    })?;
    if let Some(output) = arguments.written() {
        write::check_values(output, loaded.graph.ids()).map_err(Failure::Place)?;
    }
    let machine = opened.start(&arguments.threads, console)?;
    let run = arguments.device.on(&machine, &arguments.threads, console, |machine| {
        arguments.compute(&loaded.graph, machine, threads, console)
    })?;
    let Some(Run { choices, plan, outcome, seconds }) = run else { return Ok(()) };
    let peak = peak_memory();
    let Loaded { read, build, .. } = loaded;
    let write = arguments.write(loaded.graph.ids(), &outcome, console)?;
    let mean = outcome.mean();
    let (compute, triangles) = (seconds.compute, outcome.triangle_count);
    let device = match &*choices.device {
        "cpu" => String::new(),
        device => format!(" on {device}"),
    };
    if let Some(path) = &arguments.stats {
        let seconds = Stages { open, read, build, write, ..seconds };
        let stats = Stats {
            version: env!("CARGO_PKG_VERSION"),
            shape: Shape::of(&loaded.graph),
            choices,
            triangles,
            mean,
            seconds,
            shares: seconds.shares(),
            bytes: Bytes::new(&plan, peak),
        };
        write_json(path, &stats)?;
    }
    let place = match arguments.written() {
        Some(path) if !is_standard(path) => format!("; see {}", path.display()),
        _ => String::new(),
    };
    console
        .say(&format!("mean {mean:.4}, {triangles} triangles, in {compute:.3} s{device}{place}"));
    Ok(())
}

impl Arguments {
    /// Refuses what would be ignored.
    fn check(&self) -> Result<(), Failure> {
        self.device.check()?;
        match self.reading.weighted {
            false => Ok(()),
            true => Err(Failure::refused(
                "--weighted would change nothing: the coefficients are unweighted",
                "leave --weighted out",
            )),
        }
    }

    /// Where the coefficients go, unless only the plan is asked for.
    fn written(&self) -> Option<&PathBuf> {
        self.output.as_ref().filter(|_| self.estimate.is_none())
    }

    fn check_places(&self) -> Result<(), Failure> {
        let mut others = vec![self.input.as_path()];
        if let Some(output) = self.written() {
            let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
            write::check_values(output, &no_ids).map_err(Failure::Place)?;
            check_place(output, &others)?;
            others.push(output);
        }
        let stats = self.stats.iter().filter(|_| self.estimate.is_none());
        stats.into_iter().try_for_each(|stats| check_place(stats, &others))
    }

    /// What is computed, and what its definition is called.
    fn resolve(&self) -> (Lcc, &'static str) {
        let (definition, name) = match self.definition {
            DefinitionName::Ldbc => (Definition::Ldbc, "ldbc"),
            DefinitionName::Fagiolo => (Definition::Fagiolo, "fagiolo"),
        };
        let lcc = Lcc::new(definition);
        (if self.triangles { lcc.with_triangles() } else { lcc }, name)
    }

    /// Finds the coefficients on a machine; `None` where only the plan is asked for, which is printed.
    fn compute(
        &self,
        graph: &Graph,
        machine: &Machine,
        threads: usize,
        console: &Console,
    ) -> Result<Option<Run>, Failure> {
        let (lcc, definition) = self.resolve();
        let choices = Choices { definition, device: machine.name(), threads };
        let plan = machine.plan_lcc(graph, lcc, threads);
        if let Some(form) = self.estimate {
            if self.device.is_auto() {
                // What does not fit a GPU would be run elsewhere, with another plan.
                machine.check_memory(&plan)?;
            }
            let device = choices.device.clone();
            let estimate = Estimate::new(Shape::of(graph), choices, &plan);
            print(&match form {
                EstimateForm::Text => estimate.lines(&device),
                EstimateForm::Json => json(&estimate),
            })?;
            return Ok(None);
        }
        let less = if machine.is_cpu() { ", or use fewer --threads" } else { "" };
        memory::check_plan(&plan, self.host_memory, less)?;
        let start = Instant::now();
        let (outcome, device) = machine.run_lcc(graph, lcc, &mut console.watch())?;
        let DeviceSeconds { kernels, transfer } = device;
        let compute = start.elapsed().as_secs_f64() - kernels - transfer;
        let seconds = Stages { kernels, transfer, compute: compute.max(0.0), ..Stages::default() };
        Ok(Some(Run { choices, plan, outcome, seconds }))
    }

    /// Writes the coefficients; returns the seconds that it took.
    fn write(&self, ids: &VertexIds, outcome: &Outcome, console: &Console) -> Result<f64, Failure> {
        interrupt::check()?;
        let Some(path) = self.written() else { return Ok(0.0) };
        console.stage(format!("writing {}", path.display()));
        let start = Instant::now();
        if is_standard(path) {
            console.close();
        }
        let values = ColumnData::F64(&outcome.coefficients);
        let mut columns = vec![VertexColumn { name: "value", len: 1, values }];
        columns.extend(outcome.triangles.as_deref().map(|triangles| VertexColumn {
            name: "triangles",
            len: 1,
            values: ColumnData::U64(triangles),
        }));
        written(write::write_values(path, ids, &columns))?;
        Ok(start.elapsed().as_secs_f64())
    }
}
