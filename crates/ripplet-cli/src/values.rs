//! Commands that compute a number for each vertex of a graph: arguments of reading, memory and output.

use crate::console::Console;
use crate::estimate::EstimateArguments;
use crate::failure::Failure;
use crate::memory;
use crate::output::{begin_table, check_alone, check_output, write_json};
use crate::ranks::Ranks;
use crate::reading::{BuildArguments, Loaded, ReadArguments, load_stored, table_format};
use crate::size::Size;
use crate::standard_streams::is_standard;
use crate::stats::{Bytes, RanksFigures, Shape, Stages};
use crate::storage::StorageArguments;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::analytics::Lengths;
use ripplet::graph::{Duplicates, GraphView, VertexIds};
use ripplet::io::Format;
use ripplet::io::write::{self, TableShape, TableWriter, Target};
use ripplet::lp::Plan;
use ripplet::swarm::SwarmError;
use ripplet::{LoadOptions, Storage, StoredGraph};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An input, an output, and what is between them.
#[derive(Args)]
pub struct ValueArguments {
    /// The graph.
    input: PathBuf,
    /// The file or the object (s3://BUCKET/KEY) for the values.
    #[arg(short, long, value_name = "OUT", required_unless_present = "estimate")]
    output: Option<PathBuf>,
    /// OUT's format, if its name does not show it: edgelist (.txt), csv, tsv, jsonl, parquet, arrow.
    #[arg(long, value_name = "FORMAT", value_parser = table_format, help_heading = "Output")]
    to: Option<Format>,
    /// Refuse a run whose plan (see --estimate) needs more memory than this: 8GiB, 500MB.
    ///
    /// Reading and building the graph are held to it as well, as they go.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, help_heading = "Choices")]
    host_memory: Option<Size>,
    #[command(flatten, next_help_heading = "Choices")]
    pub storage: StorageArguments,
    #[command(flatten)]
    reading: ReadArguments,
    /// Write figures of the run (seconds, bytes, sums) to this JSON file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    stats: Option<PathBuf>,
    #[command(flatten)]
    estimate: EstimateArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
}

/// The output of `--stats`.
#[derive(Serialize)]
struct Stats<C, F> {
    /// The version of ripplet.
    version: &'static str,
    /// The report of the reader; null for a finished graph.
    input: Option<String>,
    #[serde(flatten)]
    shape: Shape,
    #[serde(flatten)]
    choices: C,
    #[serde(flatten)]
    found: F,
    /// The seconds of each stage.
    seconds: Stages,
    /// `seconds`, each as a share of their sum.
    shares: Stages,
    /// The bytes by purpose.
    bytes: Bytes,
    /// Messages between ranks; left out in one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<RanksFigures>,
}

/// Figures that only all ranks have together.
pub struct OfRanks {
    /// The shape of the whole graph.
    pub shape: Shape,
    /// The messages between ranks.
    pub messages: Option<RanksFigures>,
}

/// The meaning of weights for a command.
#[derive(Clone, Copy, Debug)]
pub enum Weights {
    /// Nothing: what `--weighted` is refused with.
    Useless(&'static str),
    /// The strength of edges; weights of repeated edges are added.
    Strengths,
    /// The lengths of edges: of repeated ones the least counts.
    Lengths,
}

impl ValueArguments {
    /// Returns the definition of path lengths.
    pub fn lengths(&self) -> Lengths {
        if self.is_weighted() { Lengths::Weights } else { Lengths::Hops }
    }

    /// Returns whether edges have weights.
    pub fn is_weighted(&self) -> bool {
        self.reading.weighted
    }

    /// Refuses what would be ignored or has no place, before any data is touched, and starts the threads. `other` is
    /// another file that the command reads.
    pub fn start(
        &self,
        weights: Weights,
        other: Option<&Path>,
    ) -> Result<(LoadOptions, usize), Failure> {
        let options = self.options(weights)?;
        self.check_places(other)?;
        Ok((options, self.threads.start()?))
    }

    /// Does what [`ValueArguments::start`] does, on each of several ranks, which share the cores and the memory of
    /// their machine; the first one alone writes.
    pub fn start_on_ranks(
        &self,
        weights: Weights,
        other: Option<&Path>,
        ranks: &Ranks,
        console: &Console,
    ) -> Result<(LoadOptions, usize), Failure> {
        let places = if ranks.is_first() { self.check_places(other) } else { Ok(()) };
        let options = ranks.agree(places.and_then(|()| self.options(weights)))?;
        let threads = ranks.share_host(self.threads, self.host_memory, console);
        Ok((options, ranks.agree(threads.start())?))
    }

    /// Returns the options of reading, and refuses what would be ignored.
    fn options(&self, weights: Weights) -> Result<LoadOptions, Failure> {
        let build = BuildArguments::default();
        let mut options = self.reading.options(&self.input, &build)?;
        match weights {
            Weights::Useless(sentence) if self.reading.weighted => {
                return Err(Failure::refused(sentence, "leave --weighted out"));
            }
            Weights::Lengths if self.reading.weighted => {
                options.build.duplicates = Duplicates::Least
            }
            _ => (),
        }
        Ok(options)
    }

    /// Returns the input.
    pub fn input(&self) -> &Path {
        &self.input
    }

    /// The memory limit that was given.
    pub fn host_memory(&self) -> Option<Size> {
        self.host_memory
    }

    /// Returns the file for figures of the run.
    pub fn stats(&self) -> Option<&Path> {
        self.stats.as_deref()
    }

    /// Returns the output of the values; `None` if only the plan is requested.
    fn written(&self) -> Option<Target<'_>> {
        let output = self.output.as_ref().filter(|_| !self.asks_estimate());
        output.map(|output| Target::new(output, self.to))
    }

    fn check_places(&self, other: Option<&Path>) -> Result<(), Failure> {
        let mut others = vec![self.input.as_path()];
        others.extend(other);
        if let Some(output) = self.written() {
            let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
            write::check_values(output, &no_ids).map_err(Failure::Place)?;
            check_output(output.path(), &others)?;
            others.push(output.path());
        }
        let stats = self.stats().filter(|_| !self.asks_estimate());
        check_alone([self.written().map(|output| output.path()), stats].into_iter().flatten())?;
        stats.map_or(Ok(()), |stats| check_output(stats, &others))
    }

    /// Reads the graph, whose ids the output can hold.
    ///
    /// The CPU reads lists as `--storage` says, by default as the file has them; a GPU needs plain ones.
    pub fn load(
        &self,
        options: &LoadOptions,
        on_gpu: bool,
        console: &Console,
    ) -> Result<Loaded<StoredGraph>, Failure> {
        let storage = if on_gpu { Some(Storage::Plain) } else { self.storage.get() };
        let reading = format!("reading {}", self.input.display());
        let loaded = memory::within(self.host_memory, &reading, memory::OF_A_GRAPH, || {
            load_stored(&self.input, options, storage, console)
        })?;
        self.check_ids(loaded.graph.view().ids())?;
        Ok(loaded)
    }

    /// Refuses ids that the output cannot hold.
    pub fn check_ids(&self, ids: &VertexIds) -> Result<(), Failure> {
        let check = |output| write::check_values(output, ids).map_err(Failure::Place);
        self.written().map_or(Ok(()), check)
    }

    /// Refuses a run that does not fit the limit of memory.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), Failure> {
        let less = if plan.total_device() == 0 { ", or use fewer --threads" } else { "" };
        memory::check_plan(plan, self.host_memory, less)
    }

    /// Prints the plan of a run under `--estimate`.
    pub fn print_plan(
        &self,
        graph: GraphView<'_>,
        choices: impl Serialize,
        device: &str,
        plan: &Plan,
    ) -> Result<(), Failure> {
        self.estimate.estimate.map_or(Ok(()), |form| form.print(graph, choices, device, plan))
    }

    /// Returns whether only the plan is requested.
    pub fn asks_estimate(&self) -> bool {
        self.estimate.estimate.is_some()
    }

    /// Writes the figures of a run if they are requested; `found` has those of the values. A rank that has a part of the graph
    /// gives the shape of the whole, and the figures of messages.
    pub fn write_stats(
        &self,
        loaded: &Loaded<StoredGraph>,
        of_ranks: Option<OfRanks>,
        choices: impl Serialize,
        found: impl Serialize,
        seconds: Stages,
        bytes: Bytes,
    ) -> Result<(), Failure> {
        let Some(path) = &self.stats else { return Ok(()) };
        let (shape, ranks) = match of_ranks {
            Some(OfRanks { shape, messages }) => (shape, messages),
            None => (Shape::of(&loaded.graph), None),
        };
        let (version, input) = (env!("CARGO_PKG_VERSION"), loaded.input());
        let shares = seconds.shares();
        let stats = Stats { version, input, shape, choices, found, seconds, shares, bytes, ranks };
        write_json(path, &stats)
    }

    /// Begins the table that the values go to.
    pub fn table(
        &self,
        shape: TableShape<'_>,
        console: &Console,
    ) -> Result<TableWriter, SwarmError> {
        begin_table(self.written(), shape, console)
    }

    /// Prints a plan under `--estimate`.
    pub fn print_estimate(
        &self,
        estimate: &impl Serialize,
        lines: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.estimate.estimate.map_or(Ok(()), |form| form.print_as(estimate, lines))
    }

    /// Returns the path of the values, as the end of a sentence.
    pub fn see(&self) -> String {
        match self.written() {
            Some(target) if !is_standard(target.path()) => {
                format!("; see {}", target.path().display())
            }
            _ => String::new(),
        }
    }
}
