//! `ripplet kcore`: the coreness of each vertex of a graph, or of many.

use crate::analysis::AskedArguments;
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::values::Weights;
use clap::Args;
use ripplet::swarm::Analysis;
use serde::Serialize;

/// Compute each vertex's coreness: the largest k such that it has k neighbours in a subgraph where all do.
///
/// INPUT is as for `ripplet closeness`. With --directed, arcs in both directions count. The time grows with the
/// number of edges.
///
/// OUT has one line or row per vertex: its `graph` if INPUT is a batch, its id and its `coreness`. It is .txt, .tsv,
/// .csv or .jsonl (each also .gz or .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at
/// all.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    asked: AskedArguments,
}

/// The command has no settings.
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {}

/// Refuses an option that would be ignored.
const UNWEIGHTED: Weights =
    Weights::Useless("--weighted would change nothing: coreness counts edges, not their weights");

/// Computes coreness.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.asked.ask(None, (UNWEIGHTED, Analysis::KCore), Choices {}, console)
}
