//! A command over a batch: its graphs are read, computed and written at once.

use super::{BatchArguments, WAY_OUT, parts_at_once, tell_read};
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

/// What the graphs of a part weigh together at most, where no memory is asked for.
const HEAVIEST: u64 = 1 << 24;
/// Bytes that a unit of weight takes: a number, and what it becomes when it is written.
const BYTES: u64 = 16;

/// The batch that a command is over.
pub struct Source<'a> {
    /// Where it is.
    pub input: &'a Path,
    /// How it is read.
    pub batch: &'a BatchArguments,
    /// How each graph is read.
    pub options: &'a LoadOptions,
    /// The memory for all of it.
    pub limit: Option<Size>,
    /// How many answer.
    pub workers: usize,
    /// What a graph weighs in a part beside its arcs: the numbers of its answer, where they are many.
    pub weight: fn(BatchGraph<'_>) -> u64,
}

/// A batch that can be read.
pub struct Opened {
    reader: BatchReader,
    /// Seconds of opening it.
    seconds: f64,
    /// What the graphs of a part weigh together at most.
    most: u64,
    weight: fn(BatchGraph<'_>) -> u64,
    /// Parts that are in memory at once.
    pub(super) at_once: u64,
}

/// A batch that was read, computed and written.
pub struct Done {
    /// What there was, and where the time went.
    pub report: Report,
    /// How the command ends.
    pub ending: Ending,
    pub(super) reader: BatchReader,
    /// Seconds of opening it.
    pub(super) open: f64,
    pub(super) directed: bool,
    pub(super) weighted: bool,
}

impl Source<'_> {
    /// Opens the batch and does `work` with it, which together may have the memory that was asked for.
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
    /// The batch, part by part.
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
            ending: tell_read(&reader, console),
            reader,
            open,
            directed,
            weighted,
        })
    }
}

impl SwarmObserver for crate::console::Watch<'_> {
    fn on_progress(&self, progress: &Progress) {
        let graphs = counted(progress.graphs, "graph", "graphs");
        self.show(format!("{graphs}, {:.0} % done", 100.0 * progress.done));
    }

    fn is_cancelled(&self) -> bool {
        crate::interrupt::requested()
    }
}
