//! An analysis of one graph, in one process or on ranks that share it.

use super::follow::Follow;
use super::output::Output;
use super::{Found, Request};
use crate::console::Console;
use crate::device::note_fallback;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::{self, OF_A_LIST};
use crate::message::on_device;
use crate::on_ranks::{self, Shared};
use crate::ranks::Ranks;
use crate::reading::Loaded;
use crate::stats::{Bytes, Stages};
use crate::values::Weights;
use ripplet::analyses::{AnalyseError, AnalysisDevice, AnalysisRun};
use ripplet::device::{RunSeconds, peak_memory};
use ripplet::graph::GraphView;
use ripplet::io::write::Rows;
use ripplet::swarm::Analysis;
use ripplet::{Device, LoadOptions, StoredGraph};
use serde::Serialize;
use std::time::Instant;

/// The number of rows from which it is printed before they are written.
const MANY_ROWS: u64 = 100_000_000;

/// A graph that was read, and how.
struct ReadGraph {
    /// The seconds of opening the device.
    open: f64,
    loaded: Loaded<StoredGraph>,
    /// What ranks have of it.
    shared: Option<Shared>,
    /// Threads of the CPU.
    threads: usize,
}

impl<C: Serialize> Request<'_, C> {
    /// Runs the analysis of one graph.
    pub(super) fn of_graph(
        &self,
        ranks: &Ranks,
        (options, threads): (&LoadOptions, usize),
        console: &Console,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let device = self.open(ranks)?;
        let open = start.elapsed().as_secs_f64();
        let (loaded, shared) = match ranks.are_several() {
            true => on_ranks::load(ranks, self.values, options, self.listed.is_some(), console)?,
            false => (self.values.load(options, device.is_gpu(), console)?, None),
        };
        let of = ReadGraph { open, loaded, shared, threads };
        let graph = of.loaded.graph.view();
        self.remark_on_weights(graph, console);
        device.fallback().iter().for_each(|fallback| note_fallback(fallback, console));
        let run = AnalysisRun::on(device, graph);
        let run = match (ranks.comm(), &of.shared) {
            (Some(comm), Some(shared)) => run.ranks_with_parts(comm.clone(), shared.parts.clone()),
            _ => run,
        };
        let limit = self.values.host_memory();
        let chosen =
            memory::within(limit, "reading the list of vertices", OF_A_LIST, || {
                match self.listed {
                    Some(listed) => listed.choose(run, graph, console),
                    None => Ok((run, None)),
                }
            });
        let (run, sources) = ranks.agree(chosen)?;
        let mut follow = Follow::new(self.values, ranks, self.many_rows(graph, sources), console);
        match self.values.asks_estimate() {
            true => self.estimate(&run, &of, &mut follow),
            false => self.write(&run, &of, &mut follow),
        }
    }

    /// Opens the device, before the graph is read; ranks compute on their CPUs.
    fn open(&self, ranks: &Ranks) -> Result<AnalysisDevice, Failure> {
        let cpu = Device::cpu();
        let choice = if ranks.are_several() { &cpu } else { self.device.device() };
        let memory = self.device.memory();
        let opened = AnalysisDevice::open(self.analysis, self.scope(), choice, memory);
        opened.map_err(|error| match (error, self.analysis) {
            // Several GPUs share no batch of coefficients, either.
            (error, Analysis::Lcc(_)) => error.into(),
            (AnalyseError::SeveralGpus, _) => Failure::refused(
                "several GPUs share the graphs of a batch, but the input is one graph",
                "name one, such as --device cuda:0",
            ),
            (error, _) => error.into(),
        })
    }

    fn remark_on_weights(&self, graph: GraphView<'_>, console: &Console) {
        let is_useful = !matches!(self.weights, Weights::Useless(_));
        if graph.is_weighted() && !self.values.is_weighted() && is_useful {
            console.remark("the weights of the graph are not used: --weighted uses them");
        }
    }

    /// Returns the remark that a large number of rows is to come; `sources` is the number of vertices from which distances
    /// are searched, if it is not all.
    fn many_rows(&self, graph: GraphView<'_>, sources: Option<u64>) -> Option<String> {
        let vertices = u64::from(graph.vertices());
        let fewer = match sources {
            Some(_) => "fewer --sources have fewer",
            None => "--rows vertices or --rows graphs sums them up",
        };
        let rows = sources.unwrap_or(vertices) * vertices.saturating_sub(1);
        (self.analysis.rows() == Rows::Pairs && rows >= MANY_ROWS)
            .then(|| format!("{rows} rows are to come, one a pair; {fewer}"))
    }

    /// Prints the plan of a run.
    fn estimate(
        &self,
        run: &AnalysisRun<'_>,
        of: &ReadGraph,
        follow: &mut Follow<'_>,
    ) -> Result<(), Failure> {
        let planned = run.plan_with(of.threads, follow);
        let (plan, device) = planned.map_err(|error| follow.failure(error))?;
        let graph = of.loaded.graph.view();
        let choices = self.choices(graph.into(), device, of.threads);
        follow.ranks.agree(match follow.ranks.is_first() {
            true => self.values.print_plan(graph, &choices, &choices.device, &plan),
            false => Ok(()),
        })
    }

    /// Runs the analysis, writes its rows as they arrive, and reports it; of several ranks, the first one writes.
    fn write(
        &self,
        run: &AnalysisRun<'_>,
        of: &ReadGraph,
        follow: &mut Follow<'_>,
    ) -> Result<(), Failure> {
        let (ranks, console) = (follow.ranks, follow.console);
        let ReadGraph { open, ref loaded, ref shared, threads } = *of;
        let graph = loaded.graph.view();
        let mut output = Output::new(self, ranks.is_first(), console);
        let report = run.rows_with(follow, |part, columns| output.take(part, columns));
        let report = report.map_err(|error| follow.failure(error))?;
        interrupt::check()?;
        let peak = output.peak;
        let traffic = report.traffic.filter(|_| self.values.stats().is_some());
        let of_ranks = match (shared, traffic) {
            (Some(shared), Some(traffic)) => Some(shared.figures(ranks, graph, traffic, peak)),
            _ => None,
        };
        if !ranks.is_first() {
            return Ok(());
        }
        let (figures, write) = output.finish()?;
        // Of coefficients and of ranks, the peak is that of computing alone.
        let is_of_all = report.clustering.is_none() && shared.is_none();
        let peak = if is_of_all { peak_memory() } else { peak };
        let found = report.clustering.map_or_else(|| figures.found(), Found::from);
        let RunSeconds { kernels, transfer, compute } = report.seconds;
        let (read, build) = (loaded.read, loaded.build);
        let seconds = Stages { open, read, build, kernels, transfer, compute, write };
        let on = match shared {
            Some(_) => ranks.as_end(),
            None => on_device(&report.device),
        };
        let choices = self.choices(graph.into(), report.device, threads);
        let bytes = Bytes::new(&report.plan, peak);
        self.values.write_stats(loaded, of_ranks, &choices, found, seconds, bytes)?;
        console.say(&format!("{found}, in {compute:.3} s{on}{}", self.values.see()));
        Ok(())
    }
}
