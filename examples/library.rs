//! Communities of a file, from a Rust program.

use ripplet::lp::{Executor, Settings, cpu::CpuExecutor, programs::Lpa};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = ripplet::load("examples/graphs/payments.csv".as_ref(), &Default::default())?;
    let settings = Settings::default();
    let found = CpuExecutor::new(None)?.run(&graph, &Lpa::default(), &settings, &mut ())?;
    for (vertex, &label) in found.labels.iter().enumerate().take(5) {
        let ids = graph.ids();
        println!("{} belongs to {}", ids.get(vertex as u32), ids.get(label));
    }
    Ok(())
}
