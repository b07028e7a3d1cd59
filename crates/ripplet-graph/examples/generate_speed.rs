//! Times generators and the builder: `cargo run --release -p ripplet-graph --example generate_speed`.
use ripplet_graph::generate::{Planted, Rmat, Road, Social, Web};
use ripplet_graph::{EdgeTable, GraphBuilder};
use std::time::Instant;

fn report(name: &str, make: impl Fn() -> EdgeTable) {
    let start = Instant::now();
    let table = make();
    let generated = start.elapsed().as_secs_f64();
    let rows = table.len();
    let start = Instant::now();
    let graph = GraphBuilder::new().build(table).unwrap();
    let built = start.elapsed().as_secs_f64();
    let (vertices, edges) = (graph.vertices(), graph.edges());
    println!(
        "{name:8} {vertices} vertices, {rows} rows, {edges} edges: generated in {generated:.2} s, built in {built:.2} s"
    );
}

fn main() {
    report("planted", || Planted::new(1_000_000, 10_000_000, 0.3).generate().unwrap().edges);
    report("web", || Web::new(20).generate().unwrap());
    report("social", || Social::new(20).generate().unwrap());
    report("rmat", || Rmat::new(20).generate().unwrap());
    report("road", || Road::new(22).generate().unwrap());
}
