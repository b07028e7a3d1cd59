//! Communities in graphs by label propagation: what a Rust program imports.
//!
//! | module | what it has |
//! |---|---|
//! | [`analytics`] | what else is asked of a graph: clustering coefficients, distances, centralities |
//! | [`checkpoints`] | runs that are killed and go on: their states in a folder |
//! | [`cuda`] | GPUs: which are here, the way to them, and the executor on one |
//! | [`draw`] | pictures of communities, as SVG and HTML |
//! | [`fraud`] | windows of transactions, and the suspicious clusters in them |
//! | [`generate`] | synthetic graphs |
//! | [`graph`] | graphs, and the builder that makes them of edges |
//! | [`io`] | every file format, in and out |
//! | [`jit`] | programs from files: [`read_program`], and machine code of them |
//! | [`lp`] | label propagation: programs, schedules, executors, quality |
//! | [`swarm`] | an analysis of every graph of a batch: reading, computing and writing at once |
//!
//! [`load`] is the short way from a file to a graph; [`LoadOptions::store`] is the one to a graph that may
//! have compressed lists. From a file to communities in a file:
//!
//! ```
//! use ripplet::lp::{Executor, Settings, cpu::CpuExecutor, programs::Lpa, quality::Summary};
//! use ripplet::{LoadOptions, io::write};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = |name: &str| folder.path().join(name);
//! // Two triangles with one edge between them.
//! std::fs::write(path("graph.csv"), "source,target\na,b\nb,c\nc,a\nd,e\ne,f\nf,d\nc,d\n")?;
//!
//! let graph = ripplet::load(&path("graph.csv"), &LoadOptions::default())?;
//! let executor = CpuExecutor::new(None)?;
//! let found = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut ())?;
//! assert_eq!(Summary::of(&graph, &found.labels)?.communities, 2);
//!
//! let out = path("communities.txt");
//! write::write_communities(&out, graph.ids(), &write::Communities::of_all(&found.labels), write::Naming::VertexId)?;
//! assert_eq!(std::fs::read_to_string(out)?, "a a\nb a\nc a\nd d\ne d\nf d\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here prints, and all that reads, builds and writes runs on rayon's current pool.

mod load;
mod storage;

pub mod checkpoints;
pub mod swarm;

pub use load::{Input, LoadError, LoadOptions, load};
pub use ripplet_analytics as analytics;
pub use ripplet_cuda as cuda;
pub use ripplet_draw as draw;
pub use ripplet_fraud as fraud;
pub use ripplet_generate as generate;
pub use ripplet_graph as graph;
pub use ripplet_hooks::{ProgramErrors, read_program};
pub use ripplet_io as io;
pub use ripplet_jit as jit;
pub use ripplet_lp as lp;
pub use storage::{Storage, StoredGraph};
