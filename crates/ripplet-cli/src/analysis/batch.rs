//! An analysis of each graph of a batch: read, computed and written at once.

use super::gpu::Gpu;
use super::{Choices, Figures, Found, Request};
use crate::batch::{WAY_OUT, parts_at_once, tell_skipped};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::memory;
use crate::output::{write_json, written};
use crate::size::Size;
use crate::stats::{Need, needs, peak_memory};
use ripplet::LoadOptions;
use ripplet::analytics::RunError;
use ripplet::analytics::apsp::pairs_of_batch;
use ripplet::graph::Direction;
use ripplet::graph::batch::BatchGraph;
use ripplet::io::batch::{BatchPart, BatchReader};
use ripplet::io::write::{Rows, Subject, TableShape};
use ripplet::lp::Plan;
use ripplet::swarm::{
    Analysis, Answer, Column, CpuWorker, Cut, Parts, Progress, Report, SwarmObserver, Worker, run,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// Pairs of a part, where no memory is asked for.
const PAIRS: u64 = 1 << 24;
/// What `--stats` writes.
#[derive(Serialize)]
struct Stats<'a, C> {
    /// The version of ripplet.
    version: &'static str,
    graphs: u64,
    vertices: u64,
    /// Where they have no direction, half of the stored arcs.
    edges: u64,
    directed: bool,
    weighted: bool,
    #[serde(flatten)]
    choices: Choices<'a, C>,
    #[serde(flatten)]
    found: Found,
    /// Parts in which the batch came.
    parts: u64,
    /// Graphs that could not be read.
    skipped: Vec<Skipped>,
    /// Seconds in which each stage was busy, and in all.
    seconds: Seconds,
    /// The same, each as a part of the time from the first part to the last.
    busy: Seconds,
    /// What each worker did.
    workers: Vec<WorkerStats>,
    /// The largest memory that the process had; null where the system does not tell.
    peak_host: Option<u64>,
}

#[derive(Serialize)]
struct Skipped {
    graph: String,
    error: String,
}

/// A number for each stage. They overlap.
#[derive(Serialize)]
struct Seconds {
    /// Opening the batch; a TU data set and a table are read with their first part.
    open: f64,
    read: f64,
    /// Of the busiest worker.
    compute: f64,
    write: f64,
    /// From the first part to the last.
    wall: f64,
}

#[derive(Serialize)]
struct WorkerStats {
    name: String,
    parts: u64,
    busy: f64,
    /// What these seconds were made of, as far as the worker tells.
    seconds: BTreeMap<&'static str, f64>,
}

/// What `--estimate` prints: of the first part, and those beside it.
#[derive(Serialize)]
struct Estimate<'a, C> {
    #[serde(flatten)]
    choices: Choices<'a, C>,
    graphs: usize,
    vertices: u64,
    arcs: u64,
    plan: Vec<Need>,
    planned_host: u64,
    /// Of all GPUs together.
    planned_device: u64,
}

/// What is known of a batch when it is done.
#[derive(Default)]
struct Seen {
    figures: Figures,
    directed: bool,
    weighted: bool,
}

/// How often each GPU is opened: one lane moves a part while the other computes.
const LANES: usize = 2;

/// Who answers.
enum Workers {
    Cpu(CpuWorker),
    Gpus(Vec<Gpu>),
}

impl Workers {
    fn new(gpus: Vec<Gpu>, analysis: Analysis) -> Workers {
        if gpus.is_empty() { Workers::Cpu(CpuWorker::new(analysis)) } else { Workers::Gpus(gpus) }
    }

    fn len(&self) -> usize {
        match self {
            Workers::Cpu(_) => 1,
            Workers::Gpus(gpus) => gpus.len(),
        }
    }

    /// What they are called together.
    fn name(&self) -> String {
        match self {
            Workers::Cpu(cpu) => cpu.name(),
            Workers::Gpus(gpus) => {
                let mut names: Vec<String> = gpus.iter().map(Worker::name).collect();
                names.dedup();
                names.join(", ")
            }
        }
    }

    fn boxed(self) -> Vec<Box<dyn Worker>> {
        match self {
            Workers::Cpu(cpu) => vec![Box::new(cpu)],
            Workers::Gpus(gpus) => {
                gpus.into_iter().map(|gpu| Box::new(gpu) as Box<dyn Worker>).collect()
            }
        }
    }
}

impl<C: Serialize> Request<'_, C> {
    /// Asks it of each graph of a batch.
    pub fn of_batch(
        &self,
        options: &LoadOptions,
        threads: usize,
        console: &Console,
    ) -> Result<Ending, Failure> {
        let workers = Workers::new(self.gpus(LANES, console)?, self.analysis);
        let choices = self.choices(workers.name(), threads);
        let at_once = parts_at_once(workers.len());
        let limit = self.values.host_memory();
        let input = self.values.input();
        let what = format!("the batch {}", input.display());
        memory::within(limit, &what, WAY_OUT, || {
            console.stage(format!("reading {}", input.display()));
            let start = Instant::now();
            let mut reader = BatchReader::open(
                input,
                &self.batch.options(options, limit.map(|limit| limit.0 / at_once)),
            )?;
            let open = start.elapsed().as_secs_f64();
            let most = limit.map_or(PAIRS, |limit| limit.0 / (16 * at_once));
            let mut parts = Cut::new(&mut reader, most.min(PAIRS), self.weight());
            if self.values.asks_estimate() {
                self.estimate(&mut parts, choices, &workers)?;
                return Ok(Ending::Whole);
            }
            let (report, seen) = self.run_batch(&mut parts, workers, console)?;
            let ending = tell_skipped(&reader, console);
            self.write_batch_stats(&reader, &report, &seen, open, choices)?;
            self.say_batch(&report, &seen, console);
            Ok(ending)
        })
    }

    /// What a graph weighs in a part beside its arcs: its pairs, where each has a row.
    fn weight(&self) -> fn(BatchGraph<'_>) -> u64 {
        match self.analysis.rows() {
            Rows::Pairs => |graph| u64::from(graph.vertices()).pow(2),
            _ => |_| 0,
        }
    }

    fn run_batch(
        &self,
        parts: &mut impl Parts,
        workers: Workers,
        console: &Console,
    ) -> Result<(Report, Seen), Failure> {
        let (rows, columns) = (self.analysis.rows(), self.analysis.columns());
        let shape = TableShape { rows, of_batch: true, columns };
        let mut table = self.values.table(shape, console)?;
        let mut seen = Seen::default();
        let take = |part: &BatchPart, answer: Answer| {
            let graphs = part.slice();
            let columns: Vec<_> = answer.columns().iter().map(Column::data).collect();
            seen.figures.add(&answer.part(Subject::Batch(graphs)), &columns);
            seen.directed = part.batch.direction() == Direction::Directed;
            seen.weighted = part.batch.is_weighted();
            Ok(answer.append_to(&mut table, graphs)?)
        };
        let report = run(parts, workers.boxed(), take, &console.watch())?;
        console.stage("finishing the output");
        let start = Instant::now();
        written(table.finish())?;
        let seconds = start.elapsed().as_secs_f64();
        let (write, wall) = (report.write + seconds, report.wall + seconds);
        Ok((Report { write, wall, ..report }, seen))
    }

    fn write_batch_stats(
        &self,
        reader: &BatchReader,
        report: &Report,
        seen: &Seen,
        open: f64,
        choices: Choices<'_, C>,
    ) -> Result<(), Failure> {
        let Some(path) = self.values.stats() else { return Ok(()) };
        let skipped = reader.skipped().iter().map(|skipped| Skipped {
            graph: skipped.graph.clone(),
            error: skipped.error.to_string(),
        });
        let stage = |of: &dyn Fn(f64) -> f64| Seconds {
            open: of(open),
            read: of(report.read),
            compute: of(report.compute()),
            write: of(report.write),
            wall: of(report.wall),
        };
        let workers = report.workers.iter().map(|worker| WorkerStats {
            name: worker.name.clone(),
            parts: worker.parts,
            busy: report.share(worker.busy),
            seconds: worker.steps.iter().copied().collect(),
        });
        let stats = Stats {
            version: env!("CARGO_PKG_VERSION"),
            graphs: report.graphs,
            vertices: report.vertices,
            edges: if seen.directed { report.arcs } else { report.arcs / 2 },
            directed: seen.directed,
            weighted: seen.weighted,
            choices,
            found: seen.figures.found(),
            parts: report.parts,
            skipped: skipped.collect(),
            seconds: stage(&|seconds| seconds),
            busy: stage(&|seconds| report.share(seconds)),
            workers: workers.collect(),
            peak_host: peak_memory(),
        };
        write_json(path, &stats)
    }

    fn say_batch(&self, report: &Report, seen: &Seen, console: &Console) {
        let found = seen.figures.found();
        let Report { graphs, vertices, wall, .. } = report;
        let place = self.values.see();
        console
            .say(&format!("{graphs} graphs, {vertices} vertices; {found}, in {wall:.3} s{place}"));
    }

    /// Prints what a part needs, and those beside it.
    fn estimate(
        &self,
        parts: &mut impl Parts,
        choices: Choices<'_, C>,
        workers: &Workers,
    ) -> Result<(), Failure> {
        let part = parts.next_part()?;
        let (mut items, [mut vertices, mut arcs], mut graphs) = (Vec::new(), [0; 2], 0);
        let mut planned_device = 0;
        if let Some(part) = part {
            let slice = part.slice();
            let at_once = parts_at_once(workers.len());
            let (shared, alone) = ("the batch", "parts that are there at once");
            let (purpose, copies) = match slice.len() < part.batch.len() {
                true => (shared, 1),
                false => (alone, at_once),
            };
            items.push((purpose, copies.saturating_mul(part.batch.bytes())));
            match workers {
                Workers::Cpu(_) => {
                    let plan = self.analysis.plan_of_batch(slice, choices.threads);
                    items.extend(plan.items.iter().map(|item| (item.purpose, item.bytes)));
                }
                Workers::Gpus(gpus) => {
                    let plans = gpus.iter().map(|gpu| gpu.plan(slice));
                    let plans: Vec<Plan> =
                        plans.collect::<Result<_, _>>().map_err(RunError::from)?;
                    planned_device = plans.iter().map(Plan::total_device).sum();
                }
            }
            let of_values = 8 * self.analysis.columns().len() as u64;
            let (rows, of_row) = match self.analysis.rows() {
                Rows::Pairs => (pairs_of_batch(slice), of_values),
                Rows::Edges => (slice.graphs().map(BatchGraph::edges).sum(), 8 + of_values),
                Rows::Components => (slice.vertices(), 4),
                Rows::Graphs => (slice.len() as u64, of_values),
                _ => (slice.vertices(), of_values),
            };
            items.push(("answers that wait", rows.saturating_mul(2 * of_row)));
            (graphs, vertices, arcs) = (slice.len(), slice.vertices(), slice.arcs());
        }
        let plan = needs(items);
        let planned_host = plan.iter().map(Need::bytes).fold(0, u64::saturating_add);
        let estimate =
            Estimate { choices, graphs, vertices, arcs, plan, planned_host, planned_device };
        self.values.print_estimate(&estimate, || estimate.lines())
    }
}

impl<C> Estimate<'_, C> {
    fn lines(&self) -> String {
        let Estimate { graphs, vertices, arcs, .. } = self;
        let mut text =
            format!("of the first part: {graphs} graphs, {vertices} vertices, {arcs} arcs\n");
        for need in &self.plan {
            let _ = writeln!(text, "{need}");
        }
        let _ = writeln!(text, "{:<28}{:>12}", "in all", Size(self.planned_host).to_string());
        if self.planned_device > 0 {
            let device = Size(self.planned_device).to_string();
            let _ = writeln!(text, "{:<28}{device:>12}", "of the GPUs' memory");
        }
        text
    }
}

impl SwarmObserver for crate::console::Watch<'_> {
    fn on_progress(&self, progress: &Progress) {
        self.show(format!("{} graphs, {:.0} % done", progress.graphs, 100.0 * progress.done));
    }

    fn is_cancelled(&self) -> bool {
        crate::interrupt::requested()
    }
}
