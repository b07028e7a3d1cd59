//! Who runs the suite here: threads of this machine. `ripplet-cuda` has the same suite with another one.

use ripplet_analytics::lcc::{Definition, Lcc, Outcome};
use ripplet_graph::Graph;

/// Runs on so many threads, with triangles.
pub fn run(graph: &Graph, definition: Definition, threads: usize) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| Lcc::new(definition).with_triangles().run(graph, &mut ()).unwrap())
}
