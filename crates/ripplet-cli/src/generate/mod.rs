//! `ripplet generate`: synthetic graphs, with their communities if they have any, and swarms.

mod swarm;
mod transactions;

use crate::console::Console;
use crate::convert::{check_graph_place, write_graph};
use crate::failure::Failure;
use crate::interrupt;
use crate::message::size_of;
use crate::output::{check_place, written};
use crate::reading::output_format;
use crate::seed::seed;
use crate::size::Size;
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::{Args, Subcommand};
use ripplet::device::available_memory;
use ripplet::generate::{Planted, Rmat, Road, Social, Web};
use ripplet::graph::{EdgeTable, Graph, GraphBuilder, MAX_VERTICES, VertexIds};
use ripplet::io::{Format, write};
use std::path::{Path, PathBuf};

/// Generate a graph, or many, the same from the same parameters anywhere.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    #[command(flatten)]
    Graph(Generator),
    Swarm(swarm::SwarmArguments),
    Transactions(transactions::TransactionsArguments),
}

#[derive(Subcommand)]
enum Generator {
    Planted(PlantedArguments),
    /// The shape of a crawl of the web: pages of a site have neighbouring ids and link among themselves, and to few
    /// hubs
    Web(WebArguments),
    /// The shape of a social network: the graph of `web` with its ids drawn anew, so that neighbours are far apart
    /// in memory
    Social(WebArguments),
    Road(RoadArguments),
    Rmat(RmatArguments),
}

/// Output and seed of a generated graph.
#[derive(Args)]
struct OutputArguments {
    /// The file for the graph: .rg, .rgz, .el, .csv or any other format of `ripplet convert`.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The output's format, if its name does not show it.
    #[arg(long, value_name = "FORMAT", value_parser = output_format)]
    to: Option<Format>,
    /// Draws the graph.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// The file for the true communities of a generated graph.
#[derive(Args)]
struct TruthArguments {
    /// Write the communities that the graph was made of to this file.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

/// Communities with power-law sizes and degrees, and a chosen share of edges between them.
#[derive(Args)]
struct PlantedArguments {
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    truth: TruthArguments,
    /// Number of vertices.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    vertices: u64,
    /// Number of edges [default: 10 for each vertex].
    #[arg(long, value_name = "N")]
    edges: Option<u64>,
    /// The share of edges that lead out of their community, from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    mixing: f64,
    /// Exponent of the degrees' power law [default: 2].
    #[arg(long, value_name = "X")]
    degree_exponent: Option<f64>,
    /// The largest degree [default: 15 times the average].
    #[arg(long, value_name = "N")]
    max_degree: Option<u32>,
    /// Exponent of the community sizes' power law [default: 2].
    #[arg(long, value_name = "X")]
    size_exponent: Option<f64>,
    /// The smallest community [default: 20, or the average degree].
    #[arg(long, value_name = "N")]
    min_size: Option<u32>,
    /// The largest community [default: 50 times the average degree].
    #[arg(long, value_name = "N")]
    max_size: Option<u32>,
}

/// Blocks of ids that link among themselves, and to few hubs (`social`: with its ids permuted).
#[derive(Args)]
struct WebArguments {
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    truth: TruthArguments,
    /// 2^N vertices.
    #[arg(long, value_name = "N", default_value_t = 17)]
    scale: u32,
    /// Links that each vertex draws [default: 16].
    #[arg(long, value_name = "N")]
    edge_factor: Option<u32>,
    /// The share of a vertex's links that stay in its block [default: 0.75].
    #[arg(long, value_name = "SHARE")]
    inside: Option<f64>,
    /// The smallest block [default: 16].
    #[arg(long, value_name = "N")]
    min_block: Option<u32>,
    /// The largest block [default: 2048].
    #[arg(long, value_name = "N")]
    max_block: Option<u32>,
    /// Exponent of the block sizes' power law [default: 2].
    #[arg(long, value_name = "X")]
    block_exponent: Option<f64>,
    /// Exponent of the hubs' power law [default: 2.1].
    #[arg(long, value_name = "X")]
    hub_exponent: Option<f64>,
}

/// A grid with a part of its edges removed: low degrees, long paths.
#[derive(Args)]
struct RoadArguments {
    #[command(flatten)]
    output: OutputArguments,
    /// A grid of about 2^N vertices.
    #[arg(long, value_name = "N", default_value_t = 17)]
    scale: u32,
    /// Rows of the grid, instead of --scale.
    #[arg(long, value_name = "N", requires = "columns", conflicts_with = "scale")]
    rows: Option<u32>,
    /// Columns of the grid.
    #[arg(long, value_name = "N", requires = "rows")]
    columns: Option<u32>,
    /// The share of the grid's edges that is removed [default: 0.45].
    #[arg(long, value_name = "SHARE")]
    removed: Option<f64>,
}

/// Graph500's recursive matrix: extreme degrees, no communities.
#[derive(Args)]
struct RmatArguments {
    #[command(flatten)]
    output: OutputArguments,
    /// 2^N vertices.
    #[arg(long, value_name = "N", default_value_t = 17)]
    scale: u32,
    /// Edges for each vertex, repeated ones included [default: 16].
    #[arg(long, value_name = "N")]
    edge_factor: Option<u32>,
    /// Probabilities of the first three quadrants [default: 0.57,0.19,0.19].
    #[arg(long, value_name = "A,B,C", value_parser = quadrants)]
    quadrants: Option<[f64; 3]>,
}

/// Edges, and the community of each vertex if there are communities.
type Made = (EdgeTable, Option<Vec<u32>>);

/// Generates a graph, or many.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    match &arguments.what {
        What::Graph(generator) => generate(generator, console),
        What::Swarm(arguments) => swarm::run(arguments, console),
        What::Transactions(arguments) => transactions::run(arguments, console),
    }
}

fn generate(generator: &Generator, console: &Console) -> Result<(), Failure> {
    let (output, truth) = generator.places();
    check_graph_place(&output.output, output.to, &[])?;
    if let Some(truth) = truth {
        write::check_communities(truth, &NO_IDS).map_err(Failure::Place)?;
        check_place(truth, &[&output.output])?;
    }
    generator.check_memory()?;
    output.threads.start()?;
    console.stage("drawing edges");
    let (edges, communities) = generator.generate(truth.is_some())?;
    interrupt::check()?;
    console.stage("building the graph");
    let graph = GraphBuilder::new().build(edges)?;
    let left_out = write_graph(&graph, &output.output, output.to, console)?;
    if let (Some(path), Some(communities)) = (truth, communities) {
        write_truth(path, &graph, &communities, left_out > 0)?;
    }
    if !is_standard(&output.output) {
        let size = size_of(graph.vertices().into(), graph.edges());
        console.say(&format!("{size}; see {}", output.output.display()));
    }
    Ok(())
}

/// The table and the graph that is built of it: 8 bytes each, and what building takes.
const BYTES_PER_ROW: u64 = 17;
/// The offsets, communities, degrees, and a part of a permutation.
const BYTES_PER_VERTEX: u64 = 24;

const NO_IDS: VertexIds = VertexIds::Consecutive { first: 0, count: 0 };

impl Generator {
    fn places(&self) -> (&OutputArguments, Option<&Path>) {
        match self {
            Generator::Planted(of) => (&of.output, of.truth.truth.as_deref()),
            Generator::Web(of) | Generator::Social(of) => (&of.output, of.truth.truth.as_deref()),
            Generator::Road(of) => (&of.output, None),
            Generator::Rmat(of) => (&of.output, None),
        }
    }

    /// Returns the most vertices and rows.
    fn size(&self) -> (u64, u64) {
        let scaled = |scale: u32, factor: u32| {
            let vertices = 1u64.checked_shl(scale).unwrap_or(u64::MAX);
            (vertices, vertices.saturating_mul(u64::from(factor)))
        };
        match self {
            Generator::Planted(of) => (of.vertices, of.generator().edges),
            Generator::Web(of) | Generator::Social(of) => {
                scaled(of.scale, of.generator().edge_factor)
            }
            Generator::Rmat(of) => scaled(of.scale, of.generator().edge_factor),
            Generator::Road(of) => {
                let grid = of.generator();
                let vertices = u64::from(grid.rows) * u64::from(grid.columns);
                (vertices, vertices.saturating_mul(2))
            }
        }
    }

    fn check_memory(&self) -> Result<(), Failure> {
        let (vertices, rows) = self.size();
        // Other sizes are refused by the generator, with a better message.
        if vertices > u64::from(MAX_VERTICES) {
            return Ok(());
        }
        let needed = rows.saturating_mul(BYTES_PER_ROW) + vertices * BYTES_PER_VERTEX;
        let what = format!("{vertices} vertices and {rows} edges");
        check_fits(&what, needed, "ask for fewer edges, or use a larger machine")
    }

    fn generate(&self, with_truth: bool) -> Result<Made, Failure> {
        Ok(match self {
            Generator::Planted(of) => {
                let made = of.generator().generate()?;
                (made.edges, Some(made.truth))
            }
            Generator::Web(of) => {
                let web = of.generator();
                (web.generate()?, with_truth.then(|| web.blocks()).transpose()?)
            }
            Generator::Social(of) => {
                let social = Social { web: of.generator() };
                (social.generate()?, with_truth.then(|| social.blocks()).transpose()?)
            }
            Generator::Road(of) => (of.generator().generate()?, None),
            Generator::Rmat(of) => (of.generator().generate()?, None),
        })
    }
}

impl PlantedArguments {
    fn generator(&self) -> Planted {
        let edges = self.edges.unwrap_or(self.vertices.saturating_mul(10));
        let mut made = Planted::new(self.vertices, edges, self.mixing);
        replace(&mut made.degree_exponent, self.degree_exponent);
        replace(&mut made.max_degree, self.max_degree);
        replace(&mut made.size_exponent, self.size_exponent);
        replace(&mut made.min_size, self.min_size);
        replace(&mut made.max_size, self.max_size);
        Planted { seed: self.output.seed, ..made }
    }
}

impl WebArguments {
    fn generator(&self) -> Web {
        let mut made = Web::new(self.scale);
        replace(&mut made.edge_factor, self.edge_factor);
        replace(&mut made.inside, self.inside);
        replace(&mut made.min_block, self.min_block);
        replace(&mut made.max_block, self.max_block);
        replace(&mut made.block_exponent, self.block_exponent);
        replace(&mut made.hub_exponent, self.hub_exponent);
        Web { seed: self.output.seed, ..made }
    }
}

impl RoadArguments {
    fn generator(&self) -> Road {
        let mut made = Road::new(self.scale);
        replace(&mut made.rows, self.rows);
        replace(&mut made.columns, self.columns);
        replace(&mut made.removed, self.removed);
        Road { seed: self.output.seed, ..made }
    }
}

impl RmatArguments {
    fn generator(&self) -> Rmat {
        let mut made = Rmat::new(self.scale);
        replace(&mut made.edge_factor, self.edge_factor);
        replace(&mut made.quadrants, self.quadrants);
        Rmat { seed: self.output.seed, ..made }
    }
}

/// Refuses what will not fit: the system may promise memory that it does not have.
fn check_fits(what: &str, needed: u64, advice: &str) -> Result<(), Failure> {
    match available_memory() {
        Some(free) if needed > free => Err(Failure::TooLarge {
            sentence: format!(
                "{what} need about {}, but {} of memory are free",
                Size(needed),
                Size(free)
            ),
            help: advice.into(),
        }),
        _ => Ok(()),
    }
}

fn replace<T>(field: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *field = given;
    }
}

/// Writes each vertex's community, numbered from 0: of those vertices that the graph's file has.
fn write_truth(
    path: &Path,
    graph: &Graph,
    communities: &[u32],
    without_isolated: bool,
) -> Result<(), Failure> {
    let stays = |vertex: &u32| !without_isolated || graph.degree(*vertex) > 0;
    let vertices: Vec<u32> = (0..graph.vertices()).filter(stays).collect();
    // An output calls a community by a vertex: here, by the rank of its first.
    let mut first = vec![u32::MAX; communities.iter().max().map_or(0, |&most| most as usize + 1)];
    let mut labels = Vec::with_capacity(vertices.len());
    for (rank, &vertex) in vertices.iter().enumerate() {
        let first = &mut first[communities[vertex as usize] as usize];
        *first = (*first).min(rank as u32);
        labels.push(*first);
    }
    let ids = if vertices.len() == communities.len() {
        graph.ids().clone()
    } else {
        VertexIds::Unsigned(vertices.into_iter().map(u64::from).collect::<Vec<_>>().into())
    };
    written(write::write_communities(
        path,
        &ids,
        &write::Communities::of_all(&labels),
        write::Naming::Consecutive,
    ))
}

fn quadrants(text: &str) -> Result<[f64; 3], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let three = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    three.ok_or_else(|| "expected three numbers, such as 0.57,0.19,0.19".into())
}
