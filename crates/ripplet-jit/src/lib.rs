//! Just-in-time compilation of label propagation programs.
//!
//! A label propagation program is four small functions. Written in Rust, they are compiled with the
//! engine. Written in a file, they are read by `ripplet_hooks`, and compiled here by [Cranelift] to
//! machine code of the current processor. A [`JitProgram`] is a [`Program`](ripplet_lp::Program)
//! like any other.
//!
//! ```
//! use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
//! use ripplet_jit::{JitProgram, Parameters};
//! use ripplet_lp::{Executor, Scalar, Settings, cpu::CpuExecutor};
//!
//! let text = "
//!     /// Each neighbour has one vote, or as many as this.
//!     struct Loud { voice: u32 }
//!
//!     impl Program for Loud {
//!         type Score = u64;
//!         fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote {
//!             Vote::new(u.label, if u.id < v.id { self.voice } else { 1 })
//!         }
//!         fn label_score(&self, v: Vertex, c: Candidate) -> u64 { c.frequency }
//!     }
//! ";
//! let module = ripplet_hooks::read_program("loud.rs", text)?;
//! let parameters = Parameters::new().with("voice", Scalar::U32(3));
//! let loud = JitProgram::<u64>::compile(&module, &parameters)?;
//!
//! let ids = VertexIds::Consecutive { first: 0, count: 6 };
//! let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
//! let graph = GraphBuilder::new().build(edges)?;
//! let found = CpuExecutor::new(None)?.run(&graph, &loud, &Settings::default(), &mut ())?;
//! assert_eq!(found.labels.len(), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Results** equal those of the same hooks compiled with Rust, bit by bit: every operation has
//! Rust's semantics, and floating-point operations are rounded individually. (The bits of a NaN
//! from an operation are unspecified in both.)
//!
//! **Safety.** A compiled hook cannot fail, fault or write out of bounds, for any file: divisors
//! are guarded, indices compared with lengths, and loops bounded by `ripplet_hooks`. All `unsafe`
//! code, with its reasons, is in `machine.rs`.
//!
//! **Speed.** The votes of a vertex's neighbours are one call, with `pick_label` and
//! `load_neighbor` inlined into its loop; so are their carries. Every other hook is one call per
//! use.
//!
//! **Memory.** Some KiB of code per program. The code is written once, made executable and
//! read-only, and freed when the program and its clones are dropped. Compilation takes some MiB.
//!
//! **Processors**: x86-64 and 64-bit ARM.
//!
//! [Cranelift]: https://cranelift.dev

mod error;
mod functions;
mod lower;
mod machine;
mod parameters;
mod program;

pub use error::JitError;
pub use functions::Functions;
pub use machine::MOST_COLUMNS;
pub use parameters::Parameters;
pub use program::{CompiledProgram, JitProgram, JitScore};
