//! `ripplet closeness`, `ripplet harmonic` and `ripplet betweenness`: centralities of the vertices or edges of a
//! graph, or of each graph of a batch.

use crate::analysis::{AskedArguments, Listed, lengths_name};
use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::values::Weights;
use clap::{Args, ValueEnum};
use ripplet::analytics::closeness::Closeness;
use ripplet::analytics::{Lengths, PathAnalysis, Sample};
use ripplet::swarm::Analysis;
use serde::Serialize;
use std::path::PathBuf;

/// Find each vertex's closeness: the reciprocal of the sum of its distances from all others.
///
/// INPUT is a graph, as for `ripplet communities`, or a batch of many: a folder or an archive of graph files,
/// a TU data set, a .swarm, or with --batch a table with a column `graph`. Distances are numbers of arcs,
/// along their directions, to the vertex, or sums of their weights with --weighted; vertices without
/// a path to it do not count. The time grows with vertices times edges of a graph.
///
/// OUT has one line or row per vertex: its `graph` if INPUT is a batch, its id and its `value`. It is .txt, .tsv,
/// .csv or .jsonl (each also .gz or .zst), .parquet or .arrow; `-` is standard output. It appears whole or not at
/// all.
#[derive(Args)]
pub struct ClosenessArguments {
    /// Variant of closeness.
    #[arg(long, value_enum, default_value_t = MeasureName::Reciprocal, help_heading = "Choices")]
    measure: MeasureName,
    /// Multiply by the number of vertices with a path to it: 1 if all of them are neighbours.
    #[arg(long, help_heading = "Choices")]
    normalized: bool,
    #[command(flatten)]
    some: SomeArguments,
    #[command(flatten)]
    sample: SampleArguments,
    #[command(flatten)]
    asked: AskedArguments,
}

/// Find each vertex's harmonic centrality: the sum of the reciprocals of its distances from all others.
///
/// INPUT and OUT are as for `ripplet closeness`, and so are distances.
#[derive(Args)]
pub struct HarmonicArguments {
    /// Divide by the number of other vertices: 1 if all of them are neighbours.
    #[arg(long, help_heading = "Choices")]
    normalized: bool,
    #[command(flatten)]
    some: SomeArguments,
    #[command(flatten)]
    sample: SampleArguments,
    #[command(flatten)]
    asked: AskedArguments,
}

/// Find each vertex's betweenness, or each edge's: the number of shortest paths through it.
///
/// INPUT and OUT are as for `ripplet closeness`; with --edges, OUT has one line or row per edge: its `source`,
/// its `target` and its `value`. Several shortest paths between two vertices have equal shares of 1; in an
/// undirected graph two vertices count once.
#[derive(Args)]
pub struct BetweennessArguments {
    /// Find the betweenness of edges instead: the number of shortest paths along each.
    #[arg(long, help_heading = "Choices")]
    edges: bool,
    /// Divide by the number of pairs of other vertices: 1 if all paths lead through the vertex. With --edges, divide
    /// by the number of all pairs.
    #[arg(long, help_heading = "Choices")]
    normalized: bool,
    #[command(flatten)]
    sample: SampleArguments,
    #[command(flatten)]
    asked: AskedArguments,
}

/// Options of chosen vertices.
#[derive(Args)]
struct SomeArguments {
    /// Vertices of which the values are computed, instead of all: an id a line, or a table with a column of ids.
    ///
    /// The values are exact, and the time grows with these vertices times the edges.
    #[arg(long, value_name = "FILE", conflicts_with = "samples", help_heading = "Choices")]
    vertices: Option<PathBuf>,
}

impl SomeArguments {
    fn listed(&self) -> Option<Listed<'_>> {
        self.vertices.as_deref().map(Listed::Of)
    }
}

/// Options of a sample of the vertices.
#[derive(Args, Clone, Copy)]
struct SampleArguments {
    /// Estimate the values by the paths from a random sample of this many vertices, which takes less time.
    ///
    /// The mean of all samples' estimates is the betweenness, or the harmonic centrality, and near the closeness. If the
    /// graph has no more vertices, the values are exact.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..),
        help_heading = "Choices"
    )]
    samples: Option<u32>,
    /// The seed of the sample [default: 0].
    ///
    /// A larger sample of the same seed has the vertices of a smaller one.
    #[arg(long, value_name = "SEED", requires = "samples", help_heading = "Choices")]
    seed: Option<u64>,
}

impl SampleArguments {
    /// Returns the sample, if one is requested.
    fn get(self) -> Option<Sample> {
        self.samples.map(|vertices| Sample { vertices, seed: self.seed.unwrap_or(0) })
    }
}

/// The measures by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    /// 1 over the sum of distances, as igraph computes it
    Reciprocal,
    /// Wasserman's and Faust's, as networkx computes it: normalized, and by the part that is reached
    WassermanFaust,
}

/// The settings that determine the values, by name.
#[derive(Clone, Copy, Debug, Serialize)]
struct Choices {
    /// The measure.
    measure: &'static str,
    normalized: bool,
    /// The definition of path lengths.
    lengths: &'static str,
    /// The number of vertices from which paths were searched, at most, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u32>,
    /// The seed of their choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// Whether values are those of chosen vertices alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    of_vertices: bool,
}

impl Choices {
    fn new(
        measure: &'static str,
        normalized: bool,
        lengths: Lengths,
        sample: Option<Sample>,
    ) -> Choices {
        let (lengths, seed) = (lengths_name(lengths), sample.map(|sample| sample.seed));
        let samples = sample.map(|sample| sample.vertices);
        Choices { measure, normalized, lengths, samples, seed, of_vertices: false }
    }

    /// Returns the choices of the values of listed vertices, if there are any.
    fn of(self, listed: Option<Listed<'_>>) -> Choices {
        Choices { of_vertices: listed.is_some(), ..self }
    }
}

/// Finds closeness.
pub fn closeness_of(arguments: &ClosenessArguments, console: &Console) -> Result<Ending, Failure> {
    let (measure, normalized, name) = match arguments.measure {
        MeasureName::Reciprocal => (Closeness::Reciprocal, arguments.normalized, "reciprocal"),
        MeasureName::WassermanFaust if arguments.normalized => {
            return Err(Failure::refused(
                "--normalized would change nothing: this measure is normalized as it is",
                "leave --normalized out, or use --measure reciprocal",
            ));
        }
        MeasureName::WassermanFaust => (Closeness::WassermanFaust, true, "wasserman-faust"),
    };
    let asked = &arguments.asked;
    let lengths = asked.values.lengths();
    let sample = arguments.sample.get();
    let listed = arguments.some.listed();
    let choices = Choices::new(name, normalized, lengths, sample).of(listed);
    let analysis = Analysis::closeness(measure, normalized, lengths, sample);
    asked.ask(listed, (Weights::Lengths, analysis), choices, console)
}

/// Finds harmonic closeness.
pub fn harmonic_of(arguments: &HarmonicArguments, console: &Console) -> Result<Ending, Failure> {
    let HarmonicArguments { normalized, some, sample, asked } = arguments;
    let (measure, normalized) = (Closeness::Harmonic, *normalized);
    let lengths = asked.values.lengths();
    let sample = sample.get();
    let choices = Choices::new("harmonic", normalized, lengths, sample).of(some.listed());
    let analysis = Analysis::closeness(measure, normalized, lengths, sample);
    asked.ask(some.listed(), (Weights::Lengths, analysis), choices, console)
}

/// Finds betweenness.
pub fn betweenness_of(
    arguments: &BetweennessArguments,
    console: &Console,
) -> Result<Ending, Failure> {
    let &BetweennessArguments { edges, normalized, sample, ref asked } = arguments;
    let lengths = asked.values.lengths();
    let measure = if edges { "edge-betweenness" } else { "betweenness" };
    let sample = sample.get();
    let analysis = match (sample, edges) {
        (Some(sample), _) => Analysis::SampledBetweenness { edges, normalized, lengths, sample },
        (None, true) => PathAnalysis::EdgeBetweenness { normalized, lengths }.into(),
        (None, false) => PathAnalysis::Betweenness { normalized, lengths }.into(),
    };
    let choices = Choices::new(measure, normalized, lengths, sample);
    asked.ask(None, (Weights::Lengths, analysis), choices, console)
}
