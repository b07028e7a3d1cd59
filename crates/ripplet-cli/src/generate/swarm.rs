//! `ripplet generate swarm`: a batch, drawn and written part by part.

use crate::console::Console;
use crate::failure::Failure;
use crate::interrupt;
use crate::message::{counted, size_of};
use crate::output::{check_place, written};
use crate::seed::seed;
use crate::threads::ThreadArguments;
use clap::Args;
use ripplet::generate::Swarm;
use ripplet::graph::batch::GraphBatch;
use ripplet::io::swarm_file::SwarmWriter;
use std::path::PathBuf;

/// Many small graphs, R-MAT and random ones of 32 to 1024 vertices: SwarmGraph's benchmark II.
///
/// OUT is a .swarm. A million graphs take 16 GB.
#[derive(Args)]
pub struct SwarmArguments {
    /// The file for the graphs: a .swarm.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Number of graphs.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    graphs: u64,
    /// Draws the graphs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Edges that are drawn for a part: their arcs are about as many as a part of the file aims at.
const EDGES_PER_PART: u64 = 1 << 23;

/// Generates a swarm.
pub fn run(arguments: &SwarmArguments, console: &Console) -> Result<(), Failure> {
    let output = &arguments.output;
    if output.extension().is_none_or(|extension| extension != "swarm") {
        return Err(Failure::refused(
            format!("{} is not the name of a .swarm, which many graphs go into", output.display()),
            "name it so: OUT.swarm",
        ));
    }
    check_place(output, &[])?;
    let swarm = Swarm { graphs: arguments.graphs, seed: arguments.seed };
    let parts = swarm.parts(EDGES_PER_PART)?;
    arguments.threads.start()?;
    let mut writer = SwarmWriter::create(output).map_err(Failure::Write)?;
    let mut drawn: Option<GraphBatch> = None;
    let (mut vertices, mut arcs) = (0, 0);
    for part in parts {
        interrupt::check()?;
        console.stage(format!("drawing graph {} of {}", part.end, swarm.graphs));
        // A part is written while the next is generated.
        let append = || drawn.as_ref().map_or(Ok(()), |batch| writer.append(batch.all()));
        let (appended, next) = rayon::join(append, || swarm.generate_part(part));
        appended.map_err(Failure::Write)?;
        let next = next?;
        (vertices, arcs) = (vertices + next.vertices(), arcs + next.arcs());
        drawn = Some(next);
    }
    if let Some(last) = drawn {
        writer.append(last.all()).map_err(Failure::Write)?;
    }
    written(writer.finish())?;
    let (graphs, edges) = (swarm.graphs, arcs / 2);
    let see = output.display();
    let graphs = counted(graphs, "graph", "graphs");
    console.say(&format!("{graphs}, {}; see {see}", size_of(vertices, edges)));
    Ok(())
}
