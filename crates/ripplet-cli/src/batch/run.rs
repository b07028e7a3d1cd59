//! A command over a batch: graphs are read, computed and written concurrently.

use super::{BatchArguments, WAY_OUT, parts_at_once, report_read};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::memory::{self, Limit};
use crate::message::counted;
use crate::output::written;
use crate::ranks::Ranks;
use crate::size::Size;
use crate::stats::RanksFigures;
use ripplet::LoadOptions;
use ripplet::analytics::AnalysisError;
use ripplet::device::peak_memory;
use ripplet::graph::Direction;
use ripplet::graph::batch::{BatchGraph, BatchSlice};
use ripplet::io::batch::{BatchPart, BatchReader};
use ripplet::io::write::TableWriter;
use ripplet::swarm::{
    Answer, Cut, Progress, Report, SwarmError, SwarmObserver, Work, Worker, WorkerReport, run,
    run_on_ranks,
};
use std::path::Path;
use std::time::Instant;

/// The largest total weight of a part's graphs without `--host-memory`.
const HEAVIEST: u64 = 1 << 24;
/// The bytes of a unit of weight: a number and its text.
const BYTES: u64 = 16;

/// The batch that a command reads.
pub struct Source<'a> {
    /// The path.
    pub input: &'a Path,
    /// The arguments of the batch.
    pub batch: &'a BatchArguments,
    /// The options for each graph.
    pub options: &'a LoadOptions,
    /// The limit on memory.
    pub limit: Option<Size>,
    /// The number of workers.
    pub workers: usize,
    /// Returns the weight of a graph in addition to its arcs: the size of its answer, if that is large.
    pub weight: fn(BatchGraph<'_>) -> u64,
    /// The ranks that share the graphs.
    pub ranks: &'a Ranks,
    /// Returns the work of a graph, by which ranks share a part.
    pub work: Work,
}

/// An open batch.
pub struct Opened<'a> {
    source: &'a Source<'a>,
    reader: BatchReader,
    /// Seconds of opening it.
    seconds: f64,
    /// The largest total weight of a part's graphs.
    most: u64,
    /// Parts that are in memory at once.
    pub(super) at_once: u64,
}

/// A finished batch.
pub struct Done {
    /// The graphs, and the time of each stage.
    pub report: Report,
    /// Ending of the command, which determines its exit code.
    pub ending: Ending,
    pub(super) reader: BatchReader,
    /// Seconds of opening it.
    pub(super) open: f64,
    pub(super) directed: bool,
    pub(super) weighted: bool,
    /// Messages between ranks, if there are several.
    pub(super) ranks: Option<RanksFigures>,
    /// Whether this process prints and writes.
    pub(super) is_first: bool,
}

impl Source<'_> {
    /// Opens the batch and calls `work` with it, within the limit on memory; all ranks call it.
    pub fn open<T>(
        &self,
        console: &Console,
        work: impl FnOnce(Opened<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let what = format!("the batch {}", self.input.display());
        memory::within(self.limit, &what, WAY_OUT, || {
            console.stage(format!("reading {}", self.input.display()));
            let start = Instant::now();
            let at_once = parts_at_once(self.workers);
            let limit =
                self.ranks.agree(Limit::of(self.limit))?.map(|limit| limit.size.0 / at_once);
            // Parts of one size on all ranks.
            let least =
                |limit| self.ranks.together(|comm| comm.all_reduce("memory", limit, u64::min));
            let limit = limit.map(|limit| least(limit).unwrap_or(limit));
            let options = self.batch.options(self.options, limit);
            let reader = BatchReader::open(self.input, &options);
            let reader = self.ranks.agree(self.hinted(reader.map_err(Failure::Read)))?;
            let seconds = start.elapsed().as_secs_f64();
            let most = limit.map_or(HEAVIEST, |limit| limit / BYTES).min(HEAVIEST);
            work(Opened { source: self, reader, seconds, most, at_once })
        })
    }

    /// Adds advice to a failure that concerns a single graph.
    fn hinted<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        result.map_err(|failure| self.batch.with_hint(failure, self.input))
    }
}

impl Opened<'_> {
    /// Returns the batch, part by part.
    pub(super) fn parts(&mut self) -> Cut<'_, BatchReader> {
        Cut::new(&mut self.reader, self.most, self.source.weight)
    }

    /// Runs the workers over all parts. What `hand_on` makes of an answer is written to the table that `begin` creates,
    /// which is complete afterwards. Reports the graphs that were skipped. Of several ranks, each of which calls it, the
    /// first one writes.
    pub fn run(
        mut self,
        workers: Vec<Box<dyn Worker>>,
        begin: impl FnOnce() -> Result<TableWriter, SwarmError>,
        mut hand_on: impl FnMut(BatchSlice<'_>, Answer) -> Result<Answer, SwarmError>,
        console: &Console,
    ) -> Result<Done, Failure> {
        let (source, ranks) = (self.source, self.source.ranks);
        let begun = ranks.traffic();
        let table = ranks.is_first().then(begin).transpose();
        let mut table = ranks.agree(table.map_err(Failure::from))?;
        let (mut directed, mut weighted) = (false, false);
        let take = |part: &BatchPart, answer: Answer| {
            directed = part.batch.direction() == Direction::Directed;
            weighted = part.batch.is_weighted();
            let graphs = part.slice();
            let answer = hand_on(graphs, answer)?;
            table.as_mut().map_or(Ok(()), |table| Ok(answer.append_to(table, graphs)?))
        };
        let done = self.run_alone_or_on_ranks(workers, take, &console.watch());
        if matches!(done, Err(SwarmError::Cancelled)) {
            // The others wait for this rank, whose end ends them.
            return Err(SwarmError::Cancelled.into());
        }
        let report = ranks.agree(source.hinted(done.map_err(Failure::from)))?;
        console.stage("finishing the output");
        let start = Instant::now();
        let finished = table.map_or(Ok(()), |table| written(table.finish()));
        ranks.agree(finished)?;
        let seconds = start.elapsed().as_secs_f64();
        let (write, wall) = (report.write + seconds, report.wall + seconds);
        let workers = of_all_ranks(report.workers, ranks);
        let traffic = ranks.traffic().since(begun);
        let mut messages = ranks.figures(&[traffic], true);
        if let Some(messages) = &mut messages {
            messages.peak_memory = ranks.gather("peak memory", peak_memory().unwrap_or(0));
        }
        let Opened { reader, seconds: open, .. } = self;
        Ok(Done {
            report: Report { write, wall, workers, ..report },
            ending: report_read(&reader, console),
            reader,
            open,
            directed,
            weighted,
            ranks: messages,
            is_first: ranks.is_first(),
        })
    }

    /// Runs the workers of this process alone, or the only one together with those of the other ranks.
    fn run_alone_or_on_ranks(
        &mut self,
        mut workers: Vec<Box<dyn Worker>>,
        take: impl FnMut(&BatchPart, Answer) -> Result<(), SwarmError>,
        observer: &dyn SwarmObserver,
    ) -> Result<Report, SwarmError> {
        let ranks = self.source.ranks;
        if !ranks.are_several() {
            return run(&mut self.parts(), workers, take, observer);
        }
        let Some(worker) = workers.pop() else { return Err(SwarmError::NoWorker) };
        let work = self.source.work.clone();
        let run = |comm: &mut _| match run_on_ranks(
            &mut self.parts(),
            worker,
            work,
            comm,
            take,
            observer,
        ) {
            Err(SwarmError::Run(AnalysisError::Ranks(error))) => Err(error),
            done => Ok(done),
        };
        ranks.together(run).unwrap_or(Err(SwarmError::NoWorker))
    }
}

/// Returns the figures of the workers of all ranks: of several ranks, each has one.
fn of_all_ranks(workers: Vec<WorkerReport>, ranks: &Ranks) -> Vec<WorkerReport> {
    let own = match &*workers {
        [own] if ranks.are_several() => own.clone(),
        _ => return workers,
    };
    let parts = ranks.gather("parts", own.parts);
    let busy = ranks.gather("seconds", own.busy.to_bits());
    let of_rank = |(parts, busy)| WorkerReport { parts, busy: f64::from_bits(busy), ..own.clone() };
    parts.into_iter().zip(busy).map(of_rank).collect()
}

impl SwarmObserver for crate::console::Watch<'_> {
    fn on_part(&self, progress: &Progress) {
        let graphs = counted(progress.graphs, "graph", "graphs");
        self.show(format!("{graphs}, {:.0} % done", 100.0 * progress.done));
    }
}
