//! Commands over a batch: arguments, execution and reports.

mod estimate;
mod run;
mod stats;

pub use estimate::PartNeeds;
pub use run::{Done, Opened, Source};

use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::reading::report_weight_loss;
use clap::{Args, ValueEnum};
use ripplet::LoadOptions;
use ripplet::io::batch::{BatchOptions, BatchReader, OnError, has_files, is_batch};
use ripplet::io::{ReadErrorKind, ReadOptions};
use std::path::Path;

/// Options of a batch of graphs.
#[derive(Args)]
#[command(next_help_heading = "Batches")]
pub struct BatchArguments {
    /// The input is a table with a column `graph`, and each of its graphs is analysed alone.
    ///
    /// The other columns are read as those of a table of one graph. A folder of graph files, an archive of them (.zip, .tar, .tar.gz, .tar.zst), a TU data set and a
    /// .swarm are batches without it.
    #[arg(long)]
    batch: bool,
    /// The column of a table that says which graph an edge is of, by name or by number from 1 [default: graph, or
    /// graph_id].
    #[arg(long, value_name = "COLUMN", requires = "batch")]
    graph_column: Option<String>,
    /// Behaviour if a graph of a batch cannot be read [default: stop].
    ///
    /// Skipped graphs are listed on standard error (20 at most); the exit code is then 3.
    #[arg(long, value_enum, value_name = "WHAT")]
    on_error: Option<OnErrorName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnErrorName {
    /// Nothing is written
    Stop,
    /// A file of a folder or an archive that is no graph is left out
    Skip,
}

/// The arcs and vertices of a part without `--host-memory`: a few times the work that keeps a GPU busy.
const PART: u64 = 1 << 24;
/// The smallest part with `--host-memory`.
const SMALLEST_PART: u64 = 1 << 12;
/// The most bytes of an arc or a vertex, with a numeric id and the results.
const BYTES: u64 = 40;
/// The number of skipped graphs that are listed.
const MOST_LISTED: usize = 20;

/// The advice if `--host-memory` does not suffice.
const WAY_OUT: &str = "allow more --host-memory, or `ripplet convert` the input to .swarm on a machine \
                           with more memory: its parts are read one by one";

/// Returns the number of parts that are in memory at once with `workers` workers.
fn parts_at_once(workers: usize) -> u64 {
    4 + 2 * workers as u64
}

impl BatchArguments {
    /// Returns whether the input is a batch of graphs.
    pub fn is_asked(&self, input: &Path, read: &ReadOptions) -> bool {
        self.batch || is_batch(input, read)
    }

    /// Adds advice to a failure that concerns a single graph.
    pub fn with_hint(&self, failure: Failure, input: &Path) -> Failure {
        match failure {
            Failure::Read(error)
                if self.on_error.is_none()
                    && error.path != input
                    && has_files(input)
                    && matches!(
                        error.kind,
                        ReadErrorKind::Content(_) | ReadErrorKind::NoEdges(_)
                    ) =>
            {
                Failure::BadGraph(error)
            }
            failure => failure,
        }
    }

    /// Refuses options that do not apply to a single graph.
    pub fn check_unused(&self) -> Result<(), Failure> {
        match self.on_error {
            None => Ok(()),
            Some(_) => Err(Failure::refused(
                "--on-error is about the graphs of a batch, but the input is one graph",
                "leave --on-error out, or add --batch where it is a table with a column `graph`",
            )),
        }
    }

    /// Returns the options for reading the graphs. `limit` is the limit on memory in bytes.
    pub fn options(&self, options: &LoadOptions, limit: Option<u64>) -> BatchOptions {
        let on_error = match self.on_error {
            Some(OnErrorName::Skip) => OnError::Skip,
            Some(OnErrorName::Stop) | None => OnError::Stop,
        };
        let room = limit.map_or(PART, |limit| limit / BYTES);
        let mut read = options.read.clone();
        if let Some(graph) = &self.graph_column {
            read.columns.graph = graph.clone();
        }
        BatchOptions {
            read,
            build: options.build.clone(),
            undirected_only: options.undirected_only,
            on_error,
            part_size: room.clamp(SMALLEST_PART, PART),
        }
    }
}

/// Reports what was read. Notes what weights lost, and lists the skipped graphs, also with `--quiet`. Returns how the
/// command ends.
pub fn report_read(reader: &BatchReader, console: &Console) -> Ending {
    console.say(&reader.summary().to_string());
    reader.summary().notes().iter().for_each(|note| console.remark(note));
    report_weight_loss(&reader.weight_loss(), console);
    let skipped = reader.skipped();
    for graph in skipped.iter().take(MOST_LISTED) {
        console.note(&format!("skipped {}: {}", graph.graph, graph.error));
    }
    if skipped.len() > MOST_LISTED {
        let more = skipped.len() - MOST_LISTED;
        console.note(&format!("{more} more {} skipped", if more == 1 { "was" } else { "were" }));
    }
    if skipped.is_empty() { Ending::Whole } else { Ending::Skipped }
}
