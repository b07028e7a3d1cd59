//! `ripplet lcc`: clustering coefficients of the vertices of a graph, or of each graph of a batch.

use crate::analysis::Request;
use crate::batch::BatchArguments;
use crate::console::Console;
use crate::device::DeviceArguments;
use crate::failure::{Ending, Failure};
use crate::ranks::RanksArguments;
use crate::values::{ValueArguments, Weights};
use clap::{Args, ValueEnum};
use ripplet::analytics::lcc::{Definition, Lcc};
use ripplet::swarm::Analysis;
use serde::Serialize;

/// Find each vertex's local clustering coefficient: the share of pairs of its neighbours that are neighbours.
///
/// INPUT is as for `ripplet closeness`. Edges count once, whatever their weights; edges from a
/// vertex to itself do not count.
///
/// OUT has one line or row per vertex: its `graph` if INPUT is a batch, its id, the coefficient (`value`, from 0 to 1) and, with
/// --triangles, how many triangles it is a corner of. It is .txt, .tsv, .csv or .jsonl (each also .gz or
/// .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at all.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    values: ValueArguments,
    /// Definition of the coefficient; on undirected graphs both are the same.
    #[arg(long, value_enum, default_value_t = DefinitionName::Ldbc, help_heading = "Choices")]
    definition: DefinitionName,
    /// Add a column `triangles`.
    #[arg(long, help_heading = "Output")]
    triangles: bool,
    #[command(flatten)]
    batch: BatchArguments,
    #[command(flatten, next_help_heading = "Choices")]
    device: DeviceArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

/// The definitions by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DefinitionName {
    /// LDBC Graphalytics': arcs between neighbours over all that there could be
    Ldbc,
    /// Fagiolo's of directed graphs, as networkx computes it
    Fagiolo,
}

/// The settings that determine the coefficients, by name.
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {
    definition: &'static str,
}

/// The message on options that would be ignored.
const UNWEIGHTED: Weights =
    Weights::Useless("--weighted would change nothing: the coefficients are unweighted");

/// Finds the coefficients of a graph, or of each graph of a batch.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let &Arguments { ref values, definition, triangles, ref batch, ref device, ref ranks } =
        arguments;
    let (of_library, definition) = match definition {
        DefinitionName::Ldbc => (Definition::Ldbc, "ldbc"),
        DefinitionName::Fagiolo => (Definition::Fagiolo, "fagiolo"),
    };
    let lcc = Lcc::new(of_library);
    let analysis = Analysis::Lcc(if triangles { lcc.with_triangles() } else { lcc });
    let (weights, listed, choices) = (UNWEIGHTED, None, Choices { definition });
    Request { values, batch, device, weights, analysis, listed, choices }.ask(ranks, console)
}
