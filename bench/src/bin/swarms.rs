//! Distances and centralities of the graphs of TU data sets on the CPU, whole sets at a time: one JSON line
//! a run, which `bench/peers swarms` puts beside igraph's.
//!
//! ```text
//! cargo run --release -p ripplet-bench --bin swarms -- [--threads N] [--repeat N] [--values OUT] FOLDER…
//! ```
//!
//! Only the call is timed, without reading, building or writing. Runs of the measures alternate. With
//! `--values`, the values of the last run are written to `OUT/MEASURE.f64`, in the machine's byte order.
//!
//! The data sets have no weights. For the weighted measures, [`weight`] derives them from an edge's ends.

use ripplet_analytics::Lengths;
use ripplet_analytics::betweenness::betweenness_of_batch;
use ripplet_analytics::closeness::{Closeness, closeness_of_batch};
use ripplet_analytics::edge_betweenness::{edge_betweenness_of_batch, ends_of_member};
use ripplet_bench::Result;
use ripplet_graph::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch, Members};
use ripplet_io::tu;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

/// Names of the measures: by hops, then by weights.
const MEASURES: [&str; 8] = [
    "closeness",
    "harmonic",
    "betweenness",
    "edges",
    "weighted closeness",
    "weighted harmonic",
    "weighted betweenness",
    "weighted edges",
];

fn main() -> Result<()> {
    let (mut threads, mut repeat, mut out, mut folders) = (0, 5, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = arguments.next().ok_or("--threads wants a number")?.parse()?,
            "--repeat" => repeat = arguments.next().ok_or("--repeat wants a number")?.parse()?,
            "--values" => out = Some(arguments.next().ok_or("--values wants a folder")?),
            _ => folders.push(argument),
        }
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    for folder in &folders {
        let folder = Path::new(folder);
        let batch = weighted(&tu::read(folder, &tu::DatasetOptions::default())?.batch)?;
        for _ in 0..repeat {
            for measure in MEASURES {
                let start = Instant::now();
                let values = values(&batch, measure)?;
                let seconds = start.elapsed().as_secs_f64();
                let line = json!({
                    "kind": "swarm",
                    "peer": "ripplet",
                    "version": env!("CARGO_PKG_VERSION"),
                    "set": folder.file_name().unwrap_or_default().to_string_lossy(),
                    "measure": measure,
                    "threads": rayon::current_num_threads(),
                    "graphs": batch.len(),
                    "vertices": batch.vertices(),
                    "arcs": batch.arcs(),
                    "seconds": seconds,
                });
                println!("{line}");
                if let Some(out) = &out {
                    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
                    std::fs::write(Path::new(out).join(measure).with_extension("f64"), bytes)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the weight of the edge between two vertices of a graph, the smaller one first: a small positive
/// integer, so that many paths have equal length.
fn weight(from: u32, to: u32) -> f64 {
    1.0 + f64::from((3 * from + 5 * to) % 7)
}

/// Returns the graphs with weights.
fn weighted(batch: &GraphBatch) -> Result<GraphBatch> {
    let members = Members::of_sizes(batch.all().graphs().map(|graph| graph.vertices()))?;
    let (mut rows, mut weights) = (BatchRows::default(), Vec::new());
    for graph in batch.all().graphs() {
        for (from, to) in ends_of_member(graph) {
            rows.graphs.push(u32::try_from(graph.index())?);
            rows.sources.push(from);
            rows.targets.push(to);
            weights.push(weight(from, to));
        }
    }
    rows.weights = Some(weights);
    Ok(BatchBuilder::new().build(BatchTable::new(members, rows)?)?)
}

fn values(batch: &GraphBatch, measure: &str) -> Result<Vec<f64>> {
    let graphs = batch.all();
    let (measure, lengths) = match measure.strip_prefix("weighted ") {
        Some(measure) => (measure, Lengths::Weights),
        None => (measure, Lengths::Hops),
    };
    Ok(match measure {
        "closeness" => closeness_of_batch(graphs, Closeness::Reciprocal, false, lengths, &mut ())?,
        "harmonic" => closeness_of_batch(graphs, Closeness::Harmonic, false, lengths, &mut ())?,
        "betweenness" => betweenness_of_batch(graphs, false, lengths, &mut ())?,
        _ => edge_betweenness_of_batch(graphs, false, lengths, &mut ())?.values,
    })
}
