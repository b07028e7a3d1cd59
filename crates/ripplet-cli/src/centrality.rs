//! `ripplet closeness`, `ripplet harmonic` and `ripplet betweenness`: from a graph in a file to how central
//! its vertices are, in a file.

use crate::console::Console;
use crate::failure::Failure;
use crate::machine::plan_of_cpu;
use crate::stats::{Bytes, Stages, peak_memory};
use crate::values::ValueArguments;
use clap::{Args, ValueEnum};
use ripplet::analytics::betweenness::{self, betweenness};
use ripplet::analytics::closeness::{self, Closeness, closeness};
use ripplet::analytics::{self, Observer, RunError};
use ripplet::graph::Graph;
use ripplet::io::write::{ColumnData, VertexColumn};
use serde::Serialize;
use std::time::Instant;

/// Find how near each vertex is to all others: 1 over the sum of its distances from them.
///
/// INPUT is as for `ripplet communities`. Distances are numbers of arcs, along their directions, to the
/// vertex; vertices that no way leads from do not count. The time grows with vertices times edges.
///
/// OUT has a line or a row a vertex: its id and its `value`. It is .txt, .tsv or .csv (each also .gz or
/// .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at all.
#[derive(Args)]
pub struct ClosenessArguments {
    #[command(flatten)]
    values: ValueArguments,
    /// Which closeness.
    #[arg(long, value_enum, default_value_t = MeasureName::Reciprocal, help_heading = "Choices")]
    measure: MeasureName,
    /// Times the number of vertices that a way leads from: 1 where all of them are neighbours.
    #[arg(long, help_heading = "Choices")]
    normalized: bool,
}

/// Find how near each vertex is to all others: the sum of 1 over its distances from them.
///
/// INPUT and OUT are as for `ripplet closeness`, and so are distances.
#[derive(Args)]
pub struct HarmonicArguments {
    #[command(flatten)]
    values: ValueArguments,
    /// Over the number of other vertices: 1 where all of them are neighbours.
    #[arg(long, help_heading = "Choices")]
    normalized: bool,
}

/// Find how many shortest ways lead through each vertex.
///
/// INPUT and OUT are as for `ripplet closeness`. Of several shortest ways between two vertices each has
/// its share; on an undirected graph two vertices count once.
#[derive(Args)]
pub struct BetweennessArguments {
    #[command(flatten)]
    values: ValueArguments,
    /// Over the number of pairs of other vertices: 1 where all ways lead through the vertex.
    #[arg(long, help_heading = "Choices")]
    normalized: bool,
}

/// The measures by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    /// 1 over the sum of distances, as igraph computes it
    Reciprocal,
    /// Wasserman's and Faust's, as networkx computes it: normalized, and by the part that is reached
    WassermanFaust,
}

/// A measure, with what decides its values.
#[derive(Clone, Copy)]
enum Measure {
    Closeness { measure: Closeness, normalized: bool },
    Betweenness { normalized: bool },
}

/// What decides a result or its speed, by name.
#[derive(Clone, Debug, Serialize)]
struct Choices {
    /// What is measured.
    measure: &'static str,
    normalized: bool,
    /// Who computes.
    device: &'static str,
    threads: usize,
}

/// What `--stats` tells of the values.
#[derive(Debug, Serialize)]
struct Found {
    largest: f64,
    mean: f64,
}

/// Finds closeness.
pub fn closeness_of(arguments: &ClosenessArguments, console: &Console) -> Result<(), Failure> {
    let (measure, normalized) = match arguments.measure {
        MeasureName::Reciprocal => (Closeness::Reciprocal, arguments.normalized),
        MeasureName::WassermanFaust if arguments.normalized => {
            return Err(Failure::refused(
                "--normalized would change nothing: this measure is normalized as it is",
                "leave --normalized out, or use --measure reciprocal",
            ));
        }
        MeasureName::WassermanFaust => (Closeness::WassermanFaust, true),
    };
    run(&arguments.values, Measure::Closeness { measure, normalized }, console)
}

/// Finds harmonic closeness.
pub fn harmonic_of(arguments: &HarmonicArguments, console: &Console) -> Result<(), Failure> {
    let (measure, normalized) = (Closeness::Harmonic, arguments.normalized);
    run(&arguments.values, Measure::Closeness { measure, normalized }, console)
}

/// Finds betweenness.
pub fn betweenness_of(arguments: &BetweennessArguments, console: &Console) -> Result<(), Failure> {
    let normalized = arguments.normalized;
    run(&arguments.values, Measure::Betweenness { normalized }, console)
}

/// What the options say that is not there.
const UNWEIGHTED: &str = "distances are numbers of arcs: weights as lengths are not there yet";

fn run(values: &ValueArguments, measure: Measure, console: &Console) -> Result<(), Failure> {
    let (options, threads) = values.start(UNWEIGHTED)?;
    let loaded = values.load(&options, console)?;
    let graph = &loaded.graph;
    let choices = measure.choices(threads);
    let plan = plan_of_cpu(graph, measure.plan(graph, threads));
    if values.is_estimate(graph, &choices, choices.device, &plan)? {
        return Ok(());
    }
    let start = Instant::now();
    let found = measure.compute(graph, &mut console.watch())?;
    let compute = start.elapsed().as_secs_f64();
    let peak = peak_memory();
    let column = VertexColumn { name: "value", len: 1, values: ColumnData::F64(&found) };
    let write = values.write(graph.ids(), &[column], console)?;
    let largest = found.iter().copied().fold(0.0, f64::max);
    let mean = found.iter().fold(0.0, |sum, value| sum + value) / found.len().max(1) as f64;
    let (read, build) = (loaded.read, loaded.build);
    let seconds = Stages { read, build, compute, write, ..Stages::default() };
    let bytes = Bytes::new(&plan, peak);
    values.write_stats(graph, &choices, Found { largest, mean }, seconds, bytes)?;
    let place = values.see();
    console.say(&format!("largest {largest:.6}, mean {mean:.6}, in {compute:.3} s{place}"));
    Ok(())
}

impl Measure {
    fn choices(self, threads: usize) -> Choices {
        let (measure, normalized) = match self {
            Measure::Closeness { measure, normalized } => {
                let name = match measure {
                    Closeness::Reciprocal => "reciprocal",
                    Closeness::WassermanFaust => "wasserman-faust",
                    Closeness::Harmonic => "harmonic",
                };
                (name, normalized)
            }
            Measure::Betweenness { normalized } => ("betweenness", normalized),
        };
        Choices { measure, normalized, device: "cpu", threads }
    }

    fn plan(self, graph: &Graph, threads: usize) -> analytics::Plan {
        match self {
            Measure::Closeness { .. } => closeness::plan(graph, threads),
            Measure::Betweenness { .. } => betweenness::plan(graph, threads),
        }
    }

    fn compute(self, graph: &Graph, observer: &mut dyn Observer) -> Result<Vec<f64>, RunError> {
        match self {
            Measure::Closeness { measure, normalized } => {
                closeness(graph, measure, normalized, observer)
            }
            Measure::Betweenness { normalized } => betweenness(graph, normalized, observer),
        }
    }
}
