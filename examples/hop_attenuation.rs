//! A user's program, compiled with Rust: `cargo run --release --example hop_attenuation`.
//!
//! ripplet also runs its file without a Rust compiler:
//!
//! ```text
//! ripplet communities examples/graphs/pgp.graph -o communities.tsv \
//!     --program-file examples/programs/hop_attenuation.rs \
//!     --param attenuation=0.05 --param preference=0.1
//! ```

use ripplet::LoadOptions;
use ripplet::lp::cpu::CpuExecutor;
use ripplet::lp::hooks::label_program;
use ripplet::lp::quality::Summary;
use ripplet::lp::{Executor, Settings};
use std::error::Error;
use std::path::Path;

include!("programs/hop_attenuation.rs");

fn main() -> Result<(), Box<dyn Error>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/graphs/pgp.graph");
    let graph = ripplet::load(&file, &LoadOptions::default())?;
    let program = hop_attenuation::HopAttenuation { attenuation: 0.05, preference: 0.1 };
    let found = CpuExecutor::new(None)?.run(&graph, &program, &Settings::default(), &mut ())?;
    let Summary { communities, modularity } = Summary::of(&graph, &found.labels)?;
    println!("{communities} communities, modularity {modularity:.3}");
    if let Some(strengths) = found.column("strength").and_then(|column| column.values.as_f32()) {
        let mean = strengths.iter().sum::<f32>() / strengths.len() as f32;
        println!("a label is worth {mean:.2} on average");
    }
    Ok(())
}
