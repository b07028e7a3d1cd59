//! The variant of the guide `docs/your-own-variant.md`, compiled with Rust.

use ripplet::graph::{EdgeTable, GraphBuilder, VertexIds};
use ripplet::lp::hooks::label_program;
use ripplet::lp::{ColumnValues, Executor, Settings, cpu::CpuExecutor};

include!("programs/wary.rs");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = ["ann", "bob", "cyd", "dee", "eve", "fay", "shop"];
    let ids = VertexIds::Consecutive { first: 0, count: 7 };
    let sources = vec![0, 0, 1, 2, 3, 3, 4, 0, 1, 2, 3, 4, 5];
    let targets = vec![1, 2, 2, 3, 4, 5, 5, 6, 6, 6, 6, 6, 6];
    let graph = GraphBuilder::new().build(EdgeTable::new(ids, sources, targets)?)?;

    let mut settings = Settings::default();
    let chargebacks = ColumnValues::U32(vec![2, 1, 0, 3, 0, 1, 0]);
    settings.columns.insert("chargebacks".into(), chargebacks);
    let program = wary::Wary { popular: 5 };
    let found = CpuExecutor::new(None)?.run(&graph, &program, &settings, &mut ())?;
    for (name, &label) in names.iter().zip(&found.labels) {
        println!("{name} belongs to {}", names[label as usize]);
    }
    Ok(())
}
