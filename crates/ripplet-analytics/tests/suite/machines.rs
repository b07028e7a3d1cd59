//! Executor of the suite: threads of this machine. `ripplet-cuda` runs the same suite with another
//! executor.

use ripplet_analytics::lcc::{Coefficients, Definition, Lcc};
use ripplet_graph::Graph;

/// Runs on `threads` threads, with triangle counts.
pub fn run(graph: &Graph, definition: Definition, threads: usize) -> Coefficients {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| Lcc::new(definition).with_triangles().run(graph, &mut ()).unwrap())
}
