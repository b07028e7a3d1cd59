//! `ripplet lcc`: from a graph in a file to its vertices' clustering coefficients in a file.

use crate::communities::EstimateForm;
use crate::console::{Console, print};
use crate::failure::Failure;
use crate::machine::CpuAlone;
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
use ripplet::lp::{Item, Plan};
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
    /// Who computes: auto or cpu; both are this machine's cores.
    #[arg(long, default_value = "auto", value_parser = CpuAlone::parse, help_heading = "Choices")]
    device: CpuAlone,
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
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {
    /// Which coefficient.
    definition: &'static str,
    /// Who computes.
    device: &'static str,
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
    let reading = format!("reading {}", arguments.input.display());
    let loaded = memory::within(arguments.host_memory, &reading, || {
        load(&arguments.input, &options, console)
    })?;
    if let Some(output) = arguments.written() {
        write::check_values(output, loaded.graph.ids()).map_err(Failure::Place)?;
    }
    let (lcc, definition) = arguments.resolve();
    let choices = Choices { definition, device: arguments.device.name(), threads };
    let plan = plan(&lcc, &loaded.graph, threads);
    if let Some(form) = arguments.estimate {
        let estimate = Estimate::new(Shape::of(&loaded.graph), choices, &plan);
        return print(&match form {
            EstimateForm::Text => estimate.lines(choices.device),
            EstimateForm::Json => json(&estimate),
        });
    }
    memory::check_plan(&plan, arguments.host_memory, ", or use fewer --threads")?;
    let start = Instant::now();
    let outcome = lcc.run(&loaded.graph, &mut console.watch())?;
    let compute = start.elapsed().as_secs_f64();
    let peak = peak_memory();
    let Loaded { read, build, .. } = loaded;
    let write = arguments.write(loaded.graph.ids(), &outcome, console)?;
    let mean = outcome.mean();
    if let Some(path) = &arguments.stats {
        let seconds = Stages { read, build, compute, write, ..Stages::default() };
        let stats = Stats {
            version: env!("CARGO_PKG_VERSION"),
            shape: Shape::of(&loaded.graph),
            choices,
            triangles: outcome.triangle_count,
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
    let triangles = outcome.triangle_count;
    console.say(&format!("mean {mean:.4}, {triangles} triangles, in {compute:.3} s{place}"));
    Ok(())
}

impl Arguments {
    /// Refuses what would be ignored.
    fn check(&self) -> Result<(), Failure> {
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

/// The plan, as all commands have it.
fn plan(lcc: &Lcc, graph: &Graph, threads: usize) -> Plan {
    let items = lcc.plan(graph, threads).items;
    let items = items.into_iter().map(|item| Item { purpose: item.purpose, bytes: item.bytes });
    Plan { graph_host: graph.bytes(), items: items.collect(), ..Plan::default() }
}
