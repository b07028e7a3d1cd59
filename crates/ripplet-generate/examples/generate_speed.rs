//! Times generators and the builder, all or the one named:
//! `cargo run --release -p ripplet-graph --example generate_speed [planted]`.

use ripplet_generate::{Planted, Rmat, Road, Social, Swarm, Web};
use ripplet_graph::{EdgeTable, GraphBuilder};
use std::time::Instant;

fn report(name: &str, make: impl Fn() -> EdgeTable) {
    if std::env::args().nth(1).is_some_and(|only| only != name) {
        return;
    }
    let start = Instant::now();
    let table = make();
    let generated = start.elapsed().as_secs_f64();
    let rows = table.len();
    let built: Vec<f64> = (0..3)
        .map(|_| {
            let table = table.clone();
            let start = Instant::now();
            GraphBuilder::new().build(table).expect("it fits");
            start.elapsed().as_secs_f64()
        })
        .collect();
    println!("{name:8} {rows} rows: generated in {generated:.2} s, built in {built:.2?} s");
}

fn report_swarm() {
    if std::env::args().nth(1).is_some_and(|only| only != "swarm") {
        return;
    }
    let swarm = Swarm::new(20_000);
    let shapes = swarm.shapes(0..swarm.graphs).expect("that many may be");
    let rows: u64 = shapes.map(|shape| u64::from(shape.edges)).sum();
    let start = Instant::now();
    for part in swarm.parts(1 << 24).expect("that many may be") {
        swarm.generate_part(part).expect("it fits");
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("swarm    {rows} rows: generated and built in {seconds:.2} s");
}

fn main() {
    report("planted", || Planted::new(1_000_000, 10_000_000, 0.3).generate().unwrap().edges);
    report("web", || Web::new(20).generate().unwrap());
    report("social", || Social::new(20).generate().unwrap());
    report("rmat", || Rmat::new(20).generate().unwrap());
    report("road", || Road::new(22).generate().unwrap());
    report_swarm();
}
