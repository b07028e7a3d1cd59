//! `ripplet components`: the connected components of a graph or of a batch.

use crate::analysis::AskedArguments;
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::values::Weights;
use clap::Args;
use ripplet::swarm::Analysis;
use serde::Serialize;

/// Find the connected components: the parts of the graph that no edge joins, whatever the directions of edges.
///
/// INPUT is as for `ripplet closeness`. The time grows with the number of edges.
///
/// OUT has one line or row per vertex: its `graph` if INPUT is a batch, its id and its `component`, which is
/// called by the id of one of its vertices. It is .txt, .tsv, .csv or .jsonl (each also .gz or .zst), .parquet or
/// .arrow; `-` is standard output. It appears whole or not at all.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    asked: AskedArguments,
}

/// Nothing decides the answer.
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {}

/// The message on options that would be ignored.
const UNWEIGHTED: Weights =
    Weights::Useless("--weighted would change nothing: components are unweighted");

/// Finds components.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.asked.ask(None, (UNWEIGHTED, Analysis::Components), Choices {}, console)
}
