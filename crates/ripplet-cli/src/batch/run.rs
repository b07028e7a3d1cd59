//! A command over a batch: graphs are read, computed and written concurrently.

use super::{BatchArguments, WAY_OUT, parts_at_once, report_read};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::memory::{self, Limit};
use crate::message::counted;
use crate::output::written;
use crate::size::Size;
use ripplet::LoadOptions;
use ripplet::graph::Direction;
use ripplet::graph::batch::{BatchGraph, BatchSlice};
use ripplet::io::batch::{BatchPart, BatchReader};
use ripplet::io::write::TableWriter;
use ripplet::swarm::{Answer, Cut, Progress, Report, SwarmError, SwarmObserver, Worker, run};
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
}

/// An open batch.
pub struct Opened {
    reader: BatchReader,
    /// Seconds of opening it.
    seconds: f64,
    /// The largest total weight of a part's graphs.
    most: u64,
    weight: fn(BatchGraph<'_>) -> u64,
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
}

impl Source<'_> {
    /// Opens the batch and calls `work` with it, within the limit on memory.
    pub fn open<T>(
        &self,
        console: &Console,
        work: impl FnOnce(Opened) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let what = format!("the batch {}", self.input.display());
        memory::within(self.limit, &what, WAY_OUT, || {
            console.stage(format!("reading {}", self.input.display()));
            let start = Instant::now();
            let at_once = parts_at_once(self.workers);
            let limit = Limit::of(self.limit)?.map(|limit| limit.size.0 / at_once);
            let options = self.batch.options(self.options, limit);
            let reader = BatchReader::open(self.input, &options)?;
            let seconds = start.elapsed().as_secs_f64();
            let most = limit.map_or(HEAVIEST, |limit| limit / BYTES).min(HEAVIEST);
            work(Opened { reader, seconds, most, weight: self.weight, at_once })
        })
        .map_err(|failure| self.batch.with_hint(failure, self.input))
    }
}

impl Opened {
    /// Returns the batch, part by part.
    pub(super) fn parts(&mut self) -> Cut<'_, BatchReader> {
        Cut::new(&mut self.reader, self.most, self.weight)
    }

    /// Runs the workers over all parts. What `hand_on` makes of an answer is written to the table, which is
    /// complete afterwards. Reports the graphs that were skipped.
    pub fn run(
        mut self,
        workers: Vec<Box<dyn Worker>>,
        mut table: TableWriter,
        mut hand_on: impl FnMut(BatchSlice<'_>, Answer) -> Result<Answer, SwarmError>,
        console: &Console,
    ) -> Result<Done, Failure> {
        let (mut directed, mut weighted) = (false, false);
        let take = |part: &BatchPart, answer: Answer| {
            directed = part.batch.direction() == Direction::Directed;
            weighted = part.batch.is_weighted();
            let graphs = part.slice();
            Ok(hand_on(graphs, answer)?.append_to(&mut table, graphs)?)
        };
        let report = run(&mut self.parts(), workers, take, &console.watch())?;
        console.stage("finishing the output");
        let start = Instant::now();
        written(table.finish())?;
        let seconds = start.elapsed().as_secs_f64();
        let (write, wall) = (report.write + seconds, report.wall + seconds);
        let Opened { reader, seconds: open, .. } = self;
        Ok(Done {
            report: Report { write, wall, ..report },
            ending: report_read(&reader, console),
            reader,
            open,
            directed,
            weighted,
        })
    }
}

impl SwarmObserver for crate::console::Watch<'_> {
    fn on_part(&self, progress: &Progress) {
        let graphs = counted(progress.graphs, "graph", "graphs");
        self.show(format!("{graphs}, {:.0} % done", 100.0 * progress.done));
    }
}
