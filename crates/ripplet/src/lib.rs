//! Community detection in graphs by label propagation: the crate that a Rust program imports.
//!
//! | module | contents |
//! |---|---|
//! | [`analytics`] | other analyses of a graph: clustering coefficients, distances, centralities |
//! | [`checkpoints`] | runs that can be killed and resumed: their states in a folder |
//! | [`cuda`] | executors and analyses on GPUs |
//! | [`device`] | the choice of a device: CPU, one GPU or several, with rules of fallback |
//! | [`draw`] | pictures of communities, as SVG and HTML |
//! | [`fraud`] | windows of transactions, and the suspicious clusters in them |
//! | [`generate`] | synthetic graphs |
//! | [`gpu`] | GPUs: detection, memory, and kernels compiled at run time |
//! | [`graph`] | graphs, and the builder that makes them from edges |
//! | [`io`] | readers and writers of every file format |
//! | [`jit`] | programs from files: [`read_program`], and their compilation to machine code |
//! | [`lp`] | label propagation: programs, schedules, executors, quality |
//! | [`swarm`] | an analysis of every graph of a batch, with overlapping input, computation and output |
//!
//! [`load`] reads a graph from a file; [`LoadOptions::store`] also supports graphs with compressed
//! lists. From a file to communities in a file:
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
//! Nothing in this crate prints. All reading, building and writing runs on rayon's current pool.

mod load;

pub mod checkpoints;
pub mod device;
pub mod swarm;

pub use device::Device;
pub use load::{Input, LoadError, LoadOptions, load};
pub use ripplet_analytics as analytics;
pub use ripplet_cuda as cuda;
pub use ripplet_draw as draw;
pub use ripplet_fraud as fraud;
pub use ripplet_generate as generate;
pub use ripplet_gpu as gpu;
pub use ripplet_graph as graph;
pub use ripplet_graph::storage::{Storage, StoredGraph};
pub use ripplet_hooks::{ProgramErrors, read_program};
pub use ripplet_io as io;
pub use ripplet_jit as jit;
pub use ripplet_lp as lp;
