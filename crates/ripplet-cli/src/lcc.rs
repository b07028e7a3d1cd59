//! `ripplet lcc`: clustering coefficients of the vertices of a graph, or of each graph of a batch.

use crate::analysis::Request;
use crate::batch::BatchArguments;
use crate::console::Console;
use crate::device::{self, DeviceArguments};
use crate::failure::{Ending, Failure};
use crate::message::{counted, on_device};
use crate::on_ranks::{RankRun, start};
use crate::ranks::{Ranks, RanksArguments};
use crate::reading::Loaded;
use crate::stats::{Bytes, Stages};
use crate::values::{OfRanks, ValueArguments, Weights};
use clap::{Args, ValueEnum};
use ripplet::analytics::AnalysisError;
use ripplet::analytics::lcc::{Coefficients, Definition, Lcc};
use ripplet::device::{AnyExecutor, peak_memory, plan_on_cpu};
use ripplet::graph::{GraphView, VertexIds};
use ripplet::io::write::{ColumnData, VertexColumn};
use ripplet::lp::{DeviceSeconds, Plan};
use ripplet::swarm::Analysis;
use ripplet::{LoadOptions, Storage, StoredGraph};
use serde::Serialize;
use std::time::Instant;

/// Find each vertex's local clustering coefficient: the share of pairs of its neighbours that are neighbours.
///
/// INPUT is as for `ripplet closeness`. Edges count once, whatever their weights; edges from a
/// vertex to itself do not count.
///
/// OUT has a line or a row a vertex: its `graph` if INPUT is a batch, its id, the coefficient (`value`, from 0 to 1) and, with
/// --triangles, how many triangles it is a corner of. It is .txt, .tsv, .csv or .jsonl (each also .gz or
/// .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at all.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    values: ValueArguments,
    /// Definition of the coefficient; on undirected graphs both are the same.
    #[arg(long, value_enum, default_value_t = DefinitionName::Ldbc, help_heading = "Choices")]
    definition: DefinitionName,
    /// Add a column `triangles`.
    #[arg(long, help_heading = "Output")]
    triangles: bool,
    #[command(flatten)]
    batch: BatchArguments,
    #[command(flatten, next_help_heading = "Choices")]
    device: DeviceArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

/// The definitions by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DefinitionName {
    /// LDBC Graphalytics': arcs between neighbours over all that there could be
    Ldbc,
    /// Fagiolo's of directed graphs, as networkx computes it
    Fagiolo,
}

/// The settings that determine a result or its speed, by name.
#[derive(Clone, Debug, Serialize)]
struct Choices {
    /// Definition of the coefficient.
    definition: &'static str,
    /// The storage of the lists.
    storage: &'static str,
    /// The device.
    device: String,
    /// Threads of the CPU, which reads and writes also if a GPU computes.
    threads: usize,
}

/// The figures of the coefficients in `--stats`.
#[derive(Debug, Serialize)]
struct Found {
    /// The number of triangles.
    triangles: u64,
    /// The mean of all coefficients.
    mean: f64,
}

/// A finished run, and its settings.
struct Run {
    choices: Choices,
    plan: Plan,
    outcome: Coefficients,
    seconds: Stages,
}

/// The message on options that would be ignored.
const UNWEIGHTED: Weights =
    Weights::Useless("--weighted would change nothing: the coefficients are unweighted");

/// The settings that determine the coefficients of a batch, by name.
#[derive(Clone, Copy, Debug, Serialize)]
struct BatchChoices {
    definition: &'static str,
}

/// Finds the coefficients of a graph, or of each graph of a batch.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.ranks.share(console, |ranks, console| run_among(arguments, ranks, console))
}

/// Finds the coefficients together with other ranks, if there are some.
fn run_among(arguments: &Arguments, ranks: &Ranks, console: &Console) -> Result<Ending, Failure> {
    let Arguments { values, batch, device, .. } = arguments;
    device.check()?;
    let device = &device.with_storage(&values.storage, console)?;
    let (options, threads) = match ranks.are_several() {
        true => start(ranks, values, device, (UNWEIGHTED, None), console)?,
        false => values.start(UNWEIGHTED)?,
    };
    if batch.is_asked(values.input(), &options.read) {
        ranks.agree(values.storage.check_of_batch())?;
        let (lcc, definition) = arguments.resolve();
        let (analysis, choices) = (Analysis::Lcc(lcc), BatchChoices { definition });
        let (weights, listed) = (UNWEIGHTED, None);
        let request = Request { values, batch, device, weights, analysis, listed, choices };
        return request.of_batch(ranks, &options, threads, console);
    }
    ranks.agree(batch.check_unused())?;
    match ranks.are_several() {
        true => arguments.run_on_ranks((&options, threads), ranks, console)?,
        false => arguments.run_one(device, &options, threads, console)?,
    }
    Ok(Ending::Whole)
}

impl Arguments {
    /// Finds the coefficients of a graph.
    fn run_one(
        &self,
        device: &DeviceArguments,
        options: &LoadOptions,
        threads: usize,
        console: &Console,
    ) -> Result<(), Failure> {
        let values = &self.values;
        let start = Instant::now();
        let opened = device.open_one()?;
        let open = start.elapsed().as_secs_f64();
        let loaded = values.load(options, !opened.is_cpu(), console)?;
        let executor = device::start(opened, &values.threads, console)?;
        let run = device.on(&executor, &values.threads, console, |executor| {
            self.compute(loaded.graph.view(), (device, executor), threads, console)
        })?;
        let Some(run) = run else { return Ok(()) };
        let device = on_device(&run.choices.device);
        let run = Run { seconds: Stages { open, ..run.seconds }, ..run };
        self.report(&loaded, run, None, &device, console)
    }

    /// Finds the coefficients of a graph together with other ranks.
    fn run_on_ranks(
        &self,
        loading: (&LoadOptions, usize),
        ranks: &Ranks,
        console: &Console,
    ) -> Result<(), Failure> {
        let values = &self.values;
        let part = RankRun::load(ranks, values, loading, false, console)?;
        let graph = part.graph();
        let (lcc, definition) = self.resolve();
        let (storage, threads) = (Storage::from(graph).name(), part.threads);
        let choices = Choices { definition, storage, device: "cpu".into(), threads };
        let plan = plan_on_cpu(graph, lcc.plan_on_ranks(graph, part.own.clone()));
        if part.is_estimate(values, &choices, &plan)? {
            return Ok(());
        }
        let start = Instant::now();
        let watch = &mut console.watch();
        let (outcome, of_ranks) =
            part.compute(values, |of_rank| match lcc.run_on_ranks(graph, of_rank, watch) {
                Err(AnalysisError::Ranks(error)) => Err(error),
                outcome => Ok(outcome.map_err(Failure::from)),
            })?;
        let compute = start.elapsed().as_secs_f64();
        if !part.is_first() {
            return Ok(());
        }
        let run = Run { choices, plan, outcome, seconds: Stages { compute, ..Stages::default() } };
        self.report(&part.loaded, run, of_ranks, &part.on_ranks(), console)
    }

    /// Writes the coefficients, and reports them. `on` is what computed them.
    fn report(
        &self,
        loaded: &Loaded<StoredGraph>,
        run: Run,
        of_ranks: Option<OfRanks>,
        on: &str,
        console: &Console,
    ) -> Result<(), Failure> {
        let (values, peak) = (&self.values, peak_memory());
        let Run { choices, plan, outcome, seconds } = run;
        let Loaded { read, build, .. } = loaded;
        let (read, build) = (*read, *build);
        let write = self.write(loaded.graph.view().ids(), &outcome, console)?;
        let mean = outcome.mean();
        let (compute, triangles) = (seconds.compute, outcome.triangle_count);
        let seconds = Stages { read, build, write, ..seconds };
        let (bytes, found) = (Bytes::new(&plan, peak), Found { triangles, mean });
        values.write_stats(loaded, of_ranks, &choices, found, seconds, bytes)?;
        let place = values.see();
        let triangles = counted(triangles, "triangle", "triangles");
        console.say(&format!("mean {mean:.4}, {triangles}, in {compute:.3} s{on}{place}"));
        Ok(())
    }

    /// Returns the analysis and the name of its definition.
    fn resolve(&self) -> (Lcc, &'static str) {
        let (definition, name) = match self.definition {
            DefinitionName::Ldbc => (Definition::Ldbc, "ldbc"),
            DefinitionName::Fagiolo => (Definition::Fagiolo, "fagiolo"),
        };
        let lcc = Lcc::new(definition);
        (if self.triangles { lcc.with_triangles() } else { lcc }, name)
    }

    /// Finds the coefficients on a device; `None` under `--estimate`, which prints the plan.
    fn compute(
        &self,
        graph: GraphView<'_>,
        (device, executor): (&DeviceArguments, &AnyExecutor),
        threads: usize,
        console: &Console,
    ) -> Result<Option<Run>, Failure> {
        let (lcc, definition) = self.resolve();
        let storage = Storage::from(graph).name();
        let choices = Choices { definition, storage, device: executor.name(), threads };
        let plan = executor.plan_lcc(graph, lcc, threads);
        if self.values.asks_estimate() && device.device().is_auto() {
            // A run that does not fit a GPU would use the CPU, with another plan.
            executor.check_memory(&plan)?;
        }
        if self.values.is_estimate(graph, &choices, &choices.device, &plan)? {
            return Ok(None);
        }
        let start = Instant::now();
        let (outcome, device) = executor.run_lcc(graph, lcc, &mut console.watch())?;
        let DeviceSeconds { kernels, transfer } = device;
        let compute = start.elapsed().as_secs_f64() - kernels - transfer;
        let seconds = Stages { kernels, transfer, compute: compute.max(0.0), ..Stages::default() };
        Ok(Some(Run { choices, plan, outcome, seconds }))
    }

    /// Writes the coefficients; returns the seconds that it took.
    fn write(
        &self,
        ids: &VertexIds,
        outcome: &Coefficients,
        console: &Console,
    ) -> Result<f64, Failure> {
        let values = ColumnData::F64(&outcome.coefficients);
        let mut columns = vec![VertexColumn { name: "value", len: 1, values }];
        columns.extend(outcome.triangles.as_deref().map(|triangles| VertexColumn {
            name: "triangles",
            len: 1,
            values: ColumnData::U64(triangles),
        }));
        self.values.write(ids, &columns, console)
    }
}
