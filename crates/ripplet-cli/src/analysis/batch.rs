//! An analysis of each graph of a batch: read, computed and written at once.

use super::{Figures, Found, Request, noted};
use crate::batch::{Done, Opened, PartNeeds, Source};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::message::{counted, on_device};
use crate::ranks::Ranks;
use ripplet::analytics::apsp::pairs_of_batch;
use ripplet::device::GpuWorker;
use ripplet::graph::batch::{BatchGraph, BatchSlice};
use ripplet::io::write::{Rows, Subject, TableShape};
use ripplet::lp::Plan;
use ripplet::swarm::{Analysis, Answer, Column, CpuWorker, Report, Worker};
use ripplet::{LoadOptions, Storage};
use serde::Serialize;
use std::sync::Arc;

/// Workers per GPU: one copies a part while the other computes.
const LANES: usize = 2;

/// Workers that analyse the parts of a batch.
enum Workers {
    Cpu(CpuWorker),
    Gpus(Vec<GpuWorker>),
}

impl Workers {
    fn new(gpus: Vec<GpuWorker>, analysis: Analysis) -> Workers {
        if gpus.is_empty() { Workers::Cpu(CpuWorker::new(analysis)) } else { Workers::Gpus(gpus) }
    }

    /// Returns the names of all workers in one text.
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
    /// Runs an analysis on each graph of a batch, together with other ranks if there are several.
    pub fn of_batch(
        &self,
        ranks: &Ranks,
        options: &LoadOptions,
        threads: usize,
        console: &Console,
    ) -> Result<Ending, Failure> {
        let analysis = self.analysis;
        let gpus = match ranks.are_several() {
            true => Ok(Vec::new()),
            false => self.device.open_workers(analysis, LANES)?,
        };
        let workers = gpus.as_ref().map_or(1, |gpus| gpus.len().max(1));
        let source = Source {
            input: self.values.input(),
            batch: self.batch,
            options,
            limit: self.values.host_memory(),
            workers,
            weight: self.weight(),
            ranks,
            work: Arc::new(move |graph| analysis.work(graph)),
        };
        source.open(console, |mut batch| {
            let workers = Workers::new(noted(gpus, console), self.analysis);
            let choices = self.choices(Storage::Plain, workers.name(), threads);
            if self.values.asks_estimate() {
                let needs = |part: BatchSlice<'_>| self.needs(part, &workers, threads);
                let estimate = ranks.agree(batch.estimate(choices, needs))?;
                if ranks.is_first() {
                    self.values.print_estimate(&estimate, || estimate.lines())?;
                }
                return Ok(Ending::Whole);
            }
            let (done, figures) = self.run_batch(batch, workers, console)?;
            let found = figures.found();
            let device = match ranks.are_several() {
                true => ranks.as_end(),
                false => on_device(&choices.device),
            };
            done.write_stats(self.values.stats(), choices, found)?;
            self.say_batch(&done.report, found, &device, console);
            Ok(done.ending)
        })
    }

    /// Returns the size of a graph in a part beside its arcs: its pairs, if each has a row.
    fn weight(&self) -> fn(BatchGraph<'_>) -> u64 {
        match self.analysis.rows() {
            Rows::Pairs => |graph| u64::from(graph.vertices()).pow(2),
            _ => |_| 0,
        }
    }

    fn run_batch(
        &self,
        batch: Opened<'_>,
        workers: Workers,
        console: &Console,
    ) -> Result<(Done, Figures), Failure> {
        let (rows, columns) = (self.analysis.rows(), self.analysis.columns());
        let table = || self.values.table(TableShape { rows, of_batch: true, columns }, console);
        let mut figures = Figures::default();
        let look = |graphs: BatchSlice<'_>, answer: Answer| {
            let columns: Vec<_> = answer.columns().iter().map(Column::data).collect();
            figures.add(&answer.part(Subject::Batch(graphs)), &columns);
            Ok(answer)
        };
        let done = batch.run(workers.boxed(), table, look, console)?;
        Ok((done, figures))
    }

    fn say_batch(&self, report: &Report, found: Found, device: &str, console: &Console) {
        let Report { graphs, vertices, wall, .. } = report;
        let (graphs, place) = (counted(*graphs, "graph", "graphs"), self.values.see());
        let vertices = counted(*vertices, "vertex", "vertices");
        console.say(&format!("{graphs}, {vertices}; {found}, in {wall:.3} s{device}{place}"));
    }

    /// Returns the memory that a part needs beside its graphs.
    fn needs(
        &self,
        part: BatchSlice<'_>,
        workers: &Workers,
        threads: usize,
    ) -> Result<PartNeeds, Failure> {
        let of_values = 8 * self.analysis.columns().len() as u64;
        let (rows, of_row) = match self.analysis.rows() {
            Rows::Pairs => (pairs_of_batch(part), of_values),
            Rows::Edges => (part.graphs().map(BatchGraph::edges).sum(), 8 + of_values),
            Rows::Components => (part.vertices(), 4),
            Rows::Graphs => (part.len() as u64, of_values),
            _ => (part.vertices(), of_values),
        };
        let needs = PartNeeds { answer: rows.saturating_mul(of_row), ..PartNeeds::default() };
        Ok(match workers {
            Workers::Cpu(_) => {
                let plan = self.analysis.plan_of_batch(part, threads);
                let host = plan.items.iter().map(|item| (item.purpose, item.bytes)).collect();
                PartNeeds { host, ..needs }
            }
            Workers::Gpus(gpus) => {
                let plans = gpus.iter().map(|gpu| gpu.plan_part(part));
                let plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
                PartNeeds { device: plans.iter().map(Plan::total_device).sum(), ..needs }
            }
        })
    }
}
