//! `ripplet apsp`: the distances between all vertices, and figures that follow from them.

use crate::analysis::{AskedArguments, Listed, lengths_name};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::values::Weights;
use clap::{Args, ValueEnum};
use ripplet::analytics::PathAnalysis;
use ripplet::swarm::Analysis;
use serde::Serialize;
use std::path::PathBuf;

/// Find the distances between all vertices of a graph, or of each graph of a batch.
///
/// INPUT is as for `ripplet closeness`. A distance is the least number of arcs on a path, along their
/// directions; with --weighted, the least sum of their weights.
///
/// OUT has a line or a row for what --rows says; of a batch, the first column is `graph`. It is .txt, .tsv,
/// .csv or .jsonl (each also .gz or .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at all.
#[derive(Args)]
pub struct Arguments {
    /// Rows of the output: one per pair, vertex or graph.
    #[arg(long, value_enum, default_value_t = RowsName::Pairs, help_heading = "Choices")]
    rows: RowsName,
    /// Vertices from which distances are searched, instead of from all: an id a line, or a table with a column of
    /// ids. Rows are pairs.
    ///
    /// The number of distances then grows with the sources, and not with the square of the vertices.
    #[arg(long, value_name = "FILE", help_heading = "Choices")]
    sources: Option<PathBuf>,
    #[command(flatten)]
    asked: AskedArguments,
}

/// Names of the rows of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowsName {
    /// Two different vertices, in both orders: source, target, distance (inf without a path)
    Pairs,
    /// A vertex: id, eccentricity, reached, average_distance (of those that it has a path to)
    Vertices,
    /// A graph: vertices, edges, pairs (with a path), diameter, radius, average_distance, wiener, connected
    Graphs,
}

/// The settings that determine the result, by name.
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {
    rows: &'static str,
    lengths: &'static str,
    /// Whether distances are those from chosen vertices alone.
    from_sources: bool,
}

/// Finds distances.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let Arguments { rows, sources, asked } = arguments;
    let lengths = asked.values.lengths();
    let (analysis, rows) = match rows {
        RowsName::Pairs => (Analysis::Paths(PathAnalysis::Distances { lengths }), "pairs"),
        RowsName::Vertices => (Analysis::Paths(PathAnalysis::Reach { lengths }), "vertices"),
        RowsName::Graphs => (Analysis::Paths(PathAnalysis::Summary { lengths }), "graphs"),
    };
    if sources.is_some() && rows != "pairs" {
        return Err(Failure::refused(
            format!("--sources is for distances of pairs, and --rows is {rows}"),
            "leave --rows out, or --sources",
        ));
    }
    let choices = Choices { rows, lengths: lengths_name(lengths), from_sources: sources.is_some() };
    let listed = sources.as_deref().map(Listed::From);
    asked.ask(listed, (Weights::Lengths, analysis), choices, console)
}
