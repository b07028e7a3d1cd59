//! `ripplet info`: what a file holds, or a batch.

mod batch;

use crate::batch::BatchArguments;
use crate::console::Console;
use crate::convert::MORE;
use crate::failure::{Ending, Failure};
use crate::memory::{MemoryArguments, OF_A_GRAPH, within};
use crate::message::{counted, one_line};
use crate::output::{json, print};
use crate::reading::{BuildArguments, Loaded, ReadArguments, load_stored};
use crate::size::Size;
use crate::stats::{Parts, Shape};
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::graph::{Direction, VertexIds};
use ripplet::{Storage, StoredGraph};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Show what a graph file holds: vertices, edges, degrees, ids, memory; of a batch how many graphs, and how
/// large they are.
///
/// Edges from a vertex to itself are counted, and repeated ones merged.
#[derive(Args)]
pub struct Arguments {
    /// The graph, or the batch.
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: ReadArguments,
    #[command(flatten)]
    batch: BatchArguments,
    #[command(flatten)]
    memory: MemoryArguments,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Figures of a graph.
#[derive(Debug, Serialize)]
struct Info {
    #[serde(flatten)]
    shape: Shape,
    /// Stored arcs.
    arcs: u64,
    /// Rows of the file; null if it is a finished graph.
    rows: Option<u64>,
    /// The report of the reader, as a sentence; null for a finished graph.
    input: Option<String>,
    /// Edges from a vertex to itself.
    self_loops: u64,
    /// Vertices without arcs.
    isolated: u64,
    max_degree: u64,
    mean_degree: f64,
    shards: usize,
    /// The storage of the lists: plain or compressed.
    storage: &'static str,
    /// Bits of the lists for each listed arc, weights and offsets included; null without arcs.
    bits_per_arc: Option<f64>,
    ids: &'static str,
    first_id: Option<String>,
    last_id: Option<String>,
    bytes: u64,
}

/// Shows what a graph file holds, or a batch.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let (file, reading) = (&arguments.file, &arguments.reading);
    let mut options = reading.options(file, &BuildArguments::default())?;
    options.build.self_loops = ripplet::graph::SelfLoops::Keep;
    if arguments.batch.is_asked(file, &options.read) {
        let what = format!("the batch {}", file.display());
        let show = || {
            let shown = arguments.show_batch(&options, console);
            shown.map_err(|failure| arguments.batch.with_hint(failure, &arguments.file))
        };
        return within(arguments.memory.host_memory, &what, MORE, show);
    }
    arguments.batch.check_unused()?;
    arguments.threads.start()?;
    let reading = format!("reading {}", file.display());
    let load = || load_stored(file, &options, None, console);
    let info = Info::of(&within(arguments.memory.host_memory, &reading, OF_A_GRAPH, load)?);
    print(&if arguments.json { json(&info) } else { info.lines() })?;
    Ok(Ending::Whole)
}

impl Info {
    fn of(loaded: &Loaded<StoredGraph>) -> Info {
        let graph = loaded.graph.view();
        let (ids, vertices, shape) = (graph.ids(), graph.vertices(), Shape::of(graph));
        let id = |vertex: Option<u32>| vertex.map(|vertex| ids.get(vertex).to_string());
        let arcs = graph.arcs();
        // An arc touches two vertices; undirected ones are stored twice.
        let touches = if graph.direction() == Direction::Directed { 2 } else { 1 };
        let Parts { offsets, neighbors, weights, .. } = shape.graph_bytes;
        let bits = 8.0 * (offsets + neighbors + weights) as f64;
        Info {
            shape,
            arcs,
            rows: loaded.summary.as_ref().map(|summary| summary.edges),
            input: loaded.input(),
            self_loops: graph.self_loops(),
            isolated: (0..vertices).filter(|&vertex| graph.degree(vertex) == 0).count() as u64,
            max_degree: graph.max_degree(),
            mean_degree: (touches * arcs) as f64 / f64::from(vertices.max(1)),
            shards: graph.shards(),
            storage: shape.storage.name(),
            bits_per_arc: (arcs > 0).then(|| bits / (touches * arcs) as f64),
            ids: match ids {
                VertexIds::Consecutive { .. } => "consecutive",
                VertexIds::Unsigned(_) => "unsigned",
                VertexIds::Signed(_) => "signed",
                VertexIds::Names(_) => "names",
            },
            first_id: id((vertices > 0).then_some(0)),
            last_id: id(vertices.checked_sub(1)),
            bytes: graph.bytes(),
        }
    }

    fn lines(&self) -> String {
        let yes = |fact: bool| if fact { "yes" } else { "no" }.to_string();
        let ends = match (&self.first_id, &self.last_id) {
            (Some(first), Some(last)) => format!(", {} to {}", one_line(first), one_line(last)),
            _ => String::new(),
        };
        let lists = match (self.shape.storage, self.bits_per_arc) {
            (Storage::Plain, _) => String::new(),
            (other, Some(bits)) => format!(", {other} to {bits:.2} bits each"),
            (other, None) => format!(", {other}"),
        };
        let shards = counted(self.shards as u64, "shard", "shards");
        let mut text = String::new();
        for (name, value) in [
            ("vertices", self.shape.vertices.to_string()),
            ("edges", self.shape.edges.to_string()),
            ("directed", yes(self.shape.directed)),
            ("weighted", yes(self.shape.weighted)),
            ("self-loops", self.self_loops.to_string()),
            ("isolated", self.isolated.to_string()),
            ("degree", format!("{:.2} on average, {} at most", self.mean_degree, self.max_degree)),
            ("ids", format!("{}{ends}", self.ids)),
            ("arcs", format!("{} in {shards}{lists}", self.arcs)),
            ("memory", Size(self.bytes).to_string()),
        ] {
            let _ = writeln!(text, "{name:<12}{value}");
        }
        if let Some(input) = &self.input {
            let _ = writeln!(text, "{:<12}{input}", "input");
        }
        text
    }
}
