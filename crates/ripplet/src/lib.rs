//! Community detection in graphs by label propagation: the crate that a Rust program imports.
//!
//! | module | contents |
//! |---|---|
//! | [`analyses`] | other analyses of a graph by name, on any device |
//! | [`analytics`] | other analyses of a graph: clustering coefficients, distances, centralities |
//! | [`checkpoints`] | runs that can be killed and resumed: their states in a folder |
//! | [`communities`](mod@communities) | communities of a graph, with every choice at run time |
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
//! | [`ranks`] | processes that share a run, over MPI or threads: see [`CommunitySearch::ranks`](communities::CommunitySearch::ranks) |
//! | `petgraph`, `sprs` | graphs of these crates, with the features of these names |
//! | [`programs`] | the programs by name, with parameters and defaults |
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
//! # Features
//! Only `text` is on by default; `full` is all of them except those of other crates (`petgraph`,
//! `serde`, `sprs`). A file that needs another feature is refused with an error that names it.
//!
//! | feature | adds |
//! |---|---|
//! | `text` | [`io`]: text formats, `.rg`, `.rgz` and `.swarm`, gzip; [`load`], [`communities`](mod@communities), [`checkpoints`], [`device`], [`swarm`] |
//! | `archives` | batches of graphs in `.zip` and `.tar` |
//! | `columnar` | Parquet and Arrow IPC |
//! | `cuda` | [`cuda`], [`gpu`]: NVIDIA GPUs; without it, [`Device`] is the CPU |
//! | `draw` | [`draw`] |
//! | `fraud` | [`fraud`] |
//! | `generate` | [`generate`] |
//! | `graphml` | reading of GraphML and GEXF, which are written without it |
//! | `jit` | [`jit`], [`read_program`] |
//! | `mpi` | `ranks::mpi`: ranks as processes that `mpirun` or `srun` started |
//! | `petgraph` | graphs of the crate petgraph |
//! | `object-storage` | inputs in S3, Google Cloud Storage, Azure Blob Storage and behind HTTP |
//! | `postgres` | transactions by a query to a PostgreSQL server |
//! | `serde` | communities as values of serde |
//! | `sprs` | sparse matrices of the crate sprs |
//! | `zstd` | `.zst` files, and zstd within Parquet and Arrow IPC |
//!
//! Nothing in this crate prints. All reading, building and writing runs on rayon's current pool.

#[cfg(feature = "text")]
mod load;
#[cfg(feature = "text")]
mod load_part;
#[cfg(feature = "text")]
mod own_edges;

#[cfg(feature = "text")]
pub mod analyses;
#[cfg(feature = "text")]
pub mod checkpoints;
#[cfg(feature = "text")]
pub mod communities;
#[cfg(feature = "text")]
pub mod device;
#[cfg(feature = "petgraph")]
pub mod petgraph;
pub mod programs;
#[cfg(feature = "sprs")]
pub mod sprs;
#[cfg(feature = "text")]
pub mod swarm;

#[cfg(feature = "text")]
pub use analyses::analyse;
#[cfg(feature = "text")]
pub use communities::communities;
#[cfg(feature = "text")]
pub use device::Device;
#[cfg(feature = "text")]
pub use load::{Input, LoadError, LoadOptions, load};
#[cfg(feature = "text")]
pub use load_part::{LoadPartError, RankGraph};
#[cfg(feature = "columnar")]
pub use own_edges::graph_from_batches;
#[cfg(feature = "text")]
pub use own_edges::{GraphError, graph_from_edges};
pub use ripplet_analytics as analytics;
#[cfg(feature = "cuda")]
pub use ripplet_cuda as cuda;
#[cfg(feature = "draw")]
pub use ripplet_draw as draw;
#[cfg(feature = "fraud")]
pub use ripplet_fraud as fraud;
#[cfg(feature = "generate")]
pub use ripplet_generate as generate;
#[cfg(feature = "cuda")]
pub use ripplet_gpu as gpu;
pub use ripplet_graph as graph;
pub use ripplet_graph::Observer;
pub use ripplet_graph::storage::{Storage, StoredGraph};
#[cfg(feature = "jit")]
pub use ripplet_hooks::{ProgramErrors, read_program};
#[cfg(feature = "text")]
pub use ripplet_io as io;
#[cfg(feature = "text")]
pub use ripplet_io::edge_table;
#[cfg(feature = "jit")]
pub use ripplet_jit as jit;
pub use ripplet_lp as lp;
pub use ripplet_ranks as ranks;
