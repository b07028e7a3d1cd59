//! `ripplet pagerank`: PageRank of a graph or of a batch.

use crate::analysis::{AskedArguments, Listed};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::values::Weights;
use clap::Args;
use ripplet::analytics::pagerank::{PageRank, Stop};
use ripplet::swarm::Analysis;
use serde::Serialize;
use std::path::PathBuf;

/// Find each vertex's PageRank: the share of time that a random walk with jumps spends there.
///
/// INPUT is as for `ripplet closeness`. The walk follows all arcs of a vertex with the same probability, or with
/// --weighted in proportion to their weights, and jumps to all vertices with the same probability, or with
/// --personalize to some of them. From a vertex without arcs it jumps. The ranks of a graph add up to 1. The time
/// grows with edges times rounds.
///
/// OUT has one line or row per vertex: its `graph` if INPUT is a batch, its id and its `value`. It is .txt, .tsv,
/// .csv or .jsonl (each also .gz or .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at
/// all.
#[derive(Args)]
pub struct Arguments {
    /// The probability of following an arc, from 0 to 1; otherwise the walk jumps.
    #[arg(long, value_name = "SHARE", default_value_t = 0.85, value_parser = share)]
    #[arg(allow_negative_numbers = true, help_heading = "Choices")]
    damping: f64,
    /// Stop after this many rounds, as LDBC does.
    #[arg(long, value_name = "N", conflicts_with = "tolerance", help_heading = "Choices")]
    iterations: Option<u32>,
    /// End once a round changes the ranks by less than this a vertex, as networkx does [default: 1e-6].
    ///
    /// With --personalize, by less than this all together. If 1000 rounds are not enough, the run fails.
    #[arg(long, value_name = "CHANGE", value_parser = tolerance, allow_negative_numbers = true)]
    #[arg(help_heading = "Choices")]
    tolerance: Option<f64>,
    /// Vertices to which the walk jumps instead of to any: an id a line, or a table with a column of ids.
    ///
    /// All have the same probability, or one in proportion to the table's column `weight`. Ranks are then high near these vertices: personalized PageRank, as of networkx.
    #[arg(long, value_name = "FILE", help_heading = "Choices")]
    personalize: Option<PathBuf>,
    #[command(flatten)]
    asked: AskedArguments,
}

/// The settings that determine the ranks, by name.
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {
    damping: f64,
    /// The number of rounds, if it was given.
    iterations: Option<u32>,
    /// The tolerance that ends the rounds otherwise.
    tolerance: Option<f64>,
    /// Whether the probability of an arc is proportional to its weight.
    by_weights: bool,
    /// Whether the walk jumps to some vertices alone.
    personalized: bool,
}

/// networkx's.
const TOLERANCE: f64 = 1e-6;
/// Rounds within which a tolerance has to be reached: with damping 0.85, no change is left but that of
/// rounding.
const MOST_ROUNDS: u32 = 1000;

/// Finds ranks.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let &Arguments { damping, iterations, tolerance, ref personalize, ref asked } = arguments;
    let (tolerance, stop) = match iterations {
        Some(rounds) => (None, Stop::Rounds(rounds)),
        None => {
            let tolerance = tolerance.unwrap_or(TOLERANCE);
            (Some(tolerance), Stop::Tolerance { tolerance, rounds: MOST_ROUNDS })
        }
    };
    let by_weights = asked.values.is_weighted();
    let analysis = Analysis::PageRank(PageRank { damping, stop, weighted: by_weights });
    let personalized = personalize.is_some();
    let choices = Choices { damping, iterations, tolerance, by_weights, personalized };
    let asked_for = (Weights::Strengths, analysis);
    let listed = personalize.as_deref().map(Listed::JumpTo);
    asked.ask(listed, asked_for, choices, console)
}

/// The parser of a share.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".into())
}

/// The parser of a tolerance.
fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|&tolerance: &f64| tolerance > 0.0);
    tolerance.ok_or_else(|| "expected a number above 0, such as 1e-6".into())
}
