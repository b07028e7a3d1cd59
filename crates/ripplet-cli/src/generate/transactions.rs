//! `ripplet generate transactions`: buyers, items and days, drawn and written shard by shard.

use super::{BYTES_PER_VERTEX, NO_IDS, check_fits, replace};
use crate::console::Console;
use crate::convert::{check_graph_place, write_graph};
use crate::failure::Failure;
use crate::interrupt;
use crate::message::counted;
use crate::output::{check_place, written};
use crate::seed::seed;
use crate::standard_streams::is_standard;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::generate::{Sales, SalesPart, TransactionGraph, Transactions};
use ripplet::graph::{Direction, OutOfMemory, Shard, VertexIds, WeightScale, memory};
use ripplet::io::rg::{RgShape, RgWriter};
use ripplet::io::rgz::RgzWriter;
use ripplet::io::write::{
    self, ColumnData, ColumnKind, Communities, Naming, Part, Rows, Subject, TableShape, TableWriter,
};
use ripplet::io::{Format, WriteError};
use std::io::{Error, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Buyers and items over days, with rings of fraud: sizes of the CGLP paper's Table 8.
///
/// 10 days have 460 million vertices and 1.7 billion edges; 100 days have 1.01 billion and 11.6 billion;
/// --scale is a share of that. An .rg or .rgz is written shard by shard; a table
/// (.csv, .tsv, .parquet, .arrow) gets each transaction: source, target, day, amount; another
/// format takes the whole graph's memory.
#[derive(Args)]
pub struct TransactionsArguments {
    /// The file for the graph, best an .rg or .rgz; or for its transactions, a table.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Number of days, from 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 10)]
    days: u32,
    /// The share of the paper's sizes.
    #[arg(long, value_name = "SHARE", default_value_t = 0.001)]
    scale: f64,
    /// Exponent of the power law of what buyers buy [default: 2.5].
    #[arg(long, value_name = "X")]
    buyer_exponent: Option<f64>,
    /// Exponent of the power law of how often items are bought [default: 2.2].
    #[arg(long, value_name = "X")]
    item_exponent: Option<f64>,
    /// The share of buyers that are in a ring [default: 0.01].
    #[arg(long, value_name = "SHARE")]
    ring_share: Option<f64>,
    /// Leave out the weights: the number of transactions of an edge.
    #[arg(long)]
    no_weights: bool,
    /// Arcs of a shard at most: the memory is about 16 bytes for each, for an .rgz 24.
    #[arg(long, value_name = "N", default_value_t = 1 << 27,
        value_parser = clap::value_parser!(u64).range(1..=1 << 31))]
    shard_arcs: u64,
    /// Write the rings to this file: each member, and the first member of its ring.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Write the rings' known buyers to this file, as --program seeded reads them.
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,
    /// Share of the rings' buyers that are known.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, requires = "seeds")]
    known: f64,
    /// Draws the graph.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// The kind of output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Product {
    /// An `.rg` or `.rgz`, shard by shard.
    Shards { compressed: bool },
    /// A row for each transaction.
    Table,
    /// A graph that is whole before it is written.
    Graph,
}

/// Bytes of an arc while a shard is written and the next one drawn.
const BYTES_PER_SHARD_ARC: u64 = 16;
/// Bytes of an arc and its weight compressed, about: as many as plain if nothing can be saved.
const BYTES_PER_COMPRESSED_ARC: u64 = 8;
/// Bytes of an edge of a graph in memory: two arcs with their weights.
const BYTES_PER_EDGE: u64 = 16;

/// Generates transactions.
pub fn run(arguments: &TransactionsArguments, console: &Console) -> Result<(), Failure> {
    arguments.check_places()?;
    let parameters = arguments.parameters();
    arguments.check_memory(&parameters)?;
    arguments.threads.start()?;
    let transactions = parameters.prepare()?;
    let output = &arguments.output;
    let what = arguments.write(&transactions, console)?;
    let ring = |ring| transactions.ring(ring).collect();
    arguments.write_members(arguments.truth.as_deref(), &transactions, ring)?;
    let known = |ring| transactions.known(ring, arguments.known).collect();
    arguments.write_members(arguments.seeds.as_deref(), &transactions, known)?;
    if !is_standard(output) {
        let (vertices, rings) = (transactions.vertices(), transactions.rings());
        console
            .say(&format!("{vertices} vertices, {rings} rings, {what}; see {}", output.display()));
    }
    Ok(())
}

impl TransactionsArguments {
    fn parameters(&self) -> Transactions {
        let mut made = Transactions::new(self.days, self.scale);
        replace(&mut made.buyer_exponent, self.buyer_exponent);
        replace(&mut made.item_exponent, self.item_exponent);
        replace(&mut made.ring_share, self.ring_share);
        Transactions { weighted: !self.no_weights, seed: self.seed, ..made }
    }

    fn product(&self) -> Product {
        match Format::of_path(&self.output) {
            Some((Format::Rg, _)) => Product::Shards { compressed: false },
            Some((Format::Rgz, _)) => Product::Shards { compressed: true },
            Some((Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow, _)) => {
                Product::Table
            }
            _ => Product::Graph,
        }
    }

    fn check_places(&self) -> Result<(), Failure> {
        check_graph_place(&self.output, None, &[])?;
        let mut others = vec![self.output.as_path()];
        for path in [&self.truth, &self.seeds].into_iter().flatten() {
            write::check_communities(path, &NO_IDS).map_err(Failure::Place)?;
            check_place(path, &others)?;
            others.push(path);
        }
        if !(0.0..=1.0).contains(&self.known) {
            return Err(Failure::refused(
                format!("--known is {}, which is no share of buyers", self.known),
                "give a number from 0 to 1",
            ));
        }
        Ok(())
    }

    fn check_memory(&self, parameters: &Transactions) -> Result<(), Failure> {
        let (vertices, edges) = parameters.size()?;
        match self.product() {
            Product::Shards { compressed } => {
                let more = if compressed { BYTES_PER_COMPRESSED_ARC } else { 0 };
                let needed = self.shard_arcs.min(2 * edges) * (BYTES_PER_SHARD_ARC + more);
                check_fits("two shards", needed, "give fewer --shard-arcs")
            }
            Product::Table => Ok(()),
            Product::Graph => {
                let needed = edges * BYTES_PER_EDGE + vertices * BYTES_PER_VERTEX;
                let what = format!("{vertices} vertices and {edges} edges");
                check_fits(&what, needed, "write an .rg or .rgz, which goes shard by shard")
            }
        }
    }

    /// Draws and writes the graph or the table, and returns what was written.
    fn write(&self, transactions: &TransactionGraph, console: &Console) -> Result<String, Failure> {
        match self.product() {
            Product::Shards { compressed } => self.write_shards(compressed, transactions, console),
            Product::Table => self.write_table(transactions, console),
            Product::Graph => {
                console.stage("drawing the lists");
                let graph = transactions.graph()?;
                write_graph(&graph, &self.output, None, console)?;
                Ok(format!("{} edges", graph.edges()))
            }
        }
    }

    /// Writes the graph shard by shard: one is written while the next is drawn.
    fn write_shards(
        &self,
        compressed: bool,
        transactions: &TransactionGraph,
        console: &Console,
    ) -> Result<String, Failure> {
        let ranges = transactions.shard_ranges(self.shard_arcs)?;
        let (vertices, shards) = (transactions.vertices(), ranges.len() as u32);
        let shape = RgShape { vertices, shards, weighted: !self.no_weights };
        let writer = ShardWriter::create(&self.output, compressed, shape);
        let mut writer = writer.map_err(Failure::Write)?;
        let mut arcs = 0;
        let draw = |range: Range<u32>| {
            console.stage(format!("drawing vertex {} of {vertices}", range.end));
            Ok(transactions.shard(range)?)
        };
        let append = |shard: Shard| {
            arcs += shard.out().neighbors().len() as u64;
            writer.append(&shard)
        };
        in_turns(ranges.iter().cloned(), draw, append)?;
        interrupt::check()?;
        console.stage(format!("writing {}", self.output.display()));
        written(writer.finish(vertices))?;
        let shards = counted(shards as u64, "shard", "shards");
        Ok(format!("{} edges in {shards}", arcs / 2))
    }

    /// Writes each transaction: some are written while the next are drawn.
    fn write_table(
        &self,
        transactions: &TransactionGraph,
        console: &Console,
    ) -> Result<String, Failure> {
        let columns = [("day", ColumnKind::U32), ("amount", ColumnKind::F64)];
        let shape = TableShape { rows: Rows::Edges, of_batch: false, columns: &columns };
        let mut table = TableWriter::create(&self.output, shape).map_err(Failure::Write)?;
        let ids = VertexIds::Consecutive { first: 0, count: transactions.vertices() };
        let mut rows = 0;
        let draw = |part: SalesPart| {
            console.stage(format!("drawing day {} of {}", part.day, self.days));
            Ok((part.day, transactions.sales(&part)?))
        };
        let append = |(day, sales): (u32, Sales)| {
            let count = sales.buyers.len();
            rows += count as u64;
            let edges = Part::Edges {
                of: Subject::Graph(&ids),
                starts: &[0, count as u64],
                sources: &sales.buyers,
                targets: &sales.items,
            };
            let days = vec![day; count];
            table.append(edges, &[ColumnData::U32(&days), ColumnData::F64(&sales.amounts)])
        };
        in_turns(transactions.sales_parts(), draw, append)?;
        interrupt::check()?;
        written(table.finish())?;
        Ok(format!("{rows} transactions"))
    }

    /// Writes some of each ring's members, and beside each the ring's first.
    fn write_members(
        &self,
        path: Option<&Path>,
        transactions: &TransactionGraph,
        members: impl Fn(u32) -> Vec<u32>,
    ) -> Result<(), Failure> {
        let Some(path) = path else { return Ok(()) };
        interrupt::check()?;
        let (mut vertices, mut rings) = (Vec::new(), Vec::new());
        let refused = |error: OutOfMemory| {
            let source = Error::new(ErrorKind::OutOfMemory, error);
            Failure::Write(WriteError { path: path.into(), source })
        };
        for ring in 0..transactions.rings() {
            let first = transactions.ring(ring).next().unwrap_or_default();
            let members = members(ring);
            memory::extend(&mut vertices, &members).map_err(refused)?;
            memory::extend(&mut rings, &vec![first; members.len()]).map_err(refused)?;
        }
        let ids = VertexIds::Consecutive { first: 0, count: transactions.vertices() };
        let rows = Communities { vertices: Some(&vertices), communities: &rings, strengths: None };
        written(write::write_communities(path, &ids, &rows, Naming::VertexId))
    }
}

/// A graph that is written shard by shard.
enum ShardWriter {
    Plain(RgWriter),
    Compressed(RgzWriter),
}

impl ShardWriter {
    fn create(path: &Path, compressed: bool, shape: RgShape) -> Result<ShardWriter, WriteError> {
        Ok(match compressed {
            false => ShardWriter::Plain(RgWriter::create(path, shape)?),
            true => ShardWriter::Compressed(RgzWriter::create(path)?),
        })
    }

    fn append(&mut self, shard: &Shard) -> Result<(), WriteError> {
        match self {
            ShardWriter::Plain(writer) => writer.append(shard),
            ShardWriter::Compressed(writer) => writer.compress(shard),
        }
    }

    /// Completes the file of a graph of `vertices` vertices.
    fn finish(self, vertices: u32) -> Result<(), WriteError> {
        match self {
            ShardWriter::Plain(writer) => writer.finish(),
            ShardWriter::Compressed(writer) => {
                let ids = VertexIds::Consecutive { first: 0, count: vertices };
                writer.finish(&ids, Direction::Undirected, WeightScale::ONE)
            }
        }
    }
}

/// Draws parts one after the other, and appends each while the next is drawn.
fn in_turns<P: Send, D: Send>(
    parts: impl Iterator<Item = P>,
    mut draw: impl FnMut(P) -> Result<D, Failure> + Send,
    mut append: impl FnMut(D) -> Result<(), WriteError> + Send,
) -> Result<(), Failure> {
    let mut drawn = None;
    for part in parts {
        interrupt::check()?;
        let last = drawn.take();
        let (appended, next) = rayon::join(|| last.map_or(Ok(()), &mut append), || draw(part));
        appended.map_err(Failure::Write)?;
        drawn = Some(next?);
    }
    drawn.map_or(Ok(()), append).map_err(Failure::Write)
}
