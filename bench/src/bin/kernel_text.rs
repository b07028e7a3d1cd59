//! Prints the kernel source that is compiled for a program on a small graph, to read it or for
//! `nvcc -cubin -arch=sm_90 -Xptxas -v`: `cargo run -p ripplet-bench --bin kernel_text -- lpa phased mg:8`.
//!
//! Behind that, `plain` or `compressed` selects the lists, `streamed` lists that are not all on the device (else
//! `whole`), and `ranked` several devices. `-- lcc` and `-- lcc directed` are the clustering coefficient. `-- swarm`,
//! `-- swarm harmonic`, `-- swarm summaries`, `-- swarm distances`, `-- swarm betweenness directed` and
//! `-- swarm edges undirected weighted` are the measures of a batch.

use ripplet_analytics::Lengths;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::lcc::{Definition, Lcc};
use ripplet_cuda::lcc;
use ripplet_cuda::lp::{Compiled, Kernels, Resident, source};
use ripplet_cuda::swarm;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, EdgeTable, GraphBuilder, GraphView, VertexIds};
use ripplet_lp::programs::{Cdlp, Gamma, Llp, Lpa, Seeded, Slpa};
use ripplet_lp::{Hints, ProgramInfo, Schedule, Settings};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |at: usize, default: &'static str| arguments.get(at).map_or(default, |text| text);
    let ids = VertexIds::Consecutive { first: 0, count: 2 };
    let edges = EdgeTable::new(ids, vec![0], vec![1])?;
    if argument(0, "lpa") == "lcc" {
        let directed = argument(1, "undirected") == "directed";
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let graph = GraphBuilder::new().direction(direction).build(edges)?;
        let lcc = Lcc::new(Definition::Ldbc).with_triangles();
        println!("{}", lcc::source(&graph, lcc).text);
        return Ok(());
    }
    if argument(0, "lpa") == "swarm" {
        let directed = argument(2, "undirected") == "directed";
        let weighted = argument(3, "unweighted") == "weighted";
        let (normalized, lengths) = (false, Lengths::Weights);
        let closeness = |measure| PathAnalysis::Closeness { measure, normalized, lengths };
        let question = match argument(1, "closeness") {
            "betweenness" => PathAnalysis::Betweenness { normalized, lengths },
            "edges" => PathAnalysis::EdgeBetweenness { normalized, lengths },
            "harmonic" => closeness(Closeness::Harmonic),
            "summaries" => PathAnalysis::Summary { lengths },
            "distances" => PathAnalysis::Distances { lengths },
            _ => closeness(Closeness::Reciprocal),
        };
        println!("{}", swarm::source(question, directed, weighted).text);
        return Ok(());
    }
    let graph = GraphBuilder::new().build(edges)?;
    let schedule = match argument(1, "phased") {
        "sync" => Schedule::sync(),
        "async" => Schedule::asynchronous(),
        "cdlp" => Schedule::cdlp(),
        _ => Schedule::phased(),
    };
    let counter = argument(2, "exact").parse()?;
    let settings = Settings { schedule, counter, ..Settings::default() };
    let compressed = CompressedGraph::copied(&graph)?;
    let graph = match argument(3, "plain") {
        "compressed" => GraphView::from(&compressed),
        _ => GraphView::from(&graph),
    };
    let resident = match argument(4, "whole") {
        "streamed" => Resident::Partly,
        _ => Resident::Whole,
    };
    let kernels = match argument(5, "alone") {
        "ranked" => Kernels::Ranked,
        _ => Kernels::Measured,
    };
    let these = Compiled { kernels, resident, has_large: true };
    match argument(0, "lpa") {
        "cdlp" => print(graph, &Cdlp, &settings, these),
        "llp" => print(graph, &Llp::new(Gamma::ONE), &settings, these),
        "slpa" => print(graph, &Slpa::default(), &settings, these),
        "seeded" => print(graph, &Seeded::new(graph, 0.9)?, &settings, these),
        _ => print(graph, &Lpa::default(), &settings, these),
    }
}

fn print<P: Hints>(
    graph: GraphView<'_>,
    program: &P,
    settings: &Settings,
    compiled: Compiled,
) -> Result<(), Box<dyn Error>> {
    println!("{}", source(graph, &ProgramInfo::of(program), settings, compiled)?.text);
    Ok(())
}
