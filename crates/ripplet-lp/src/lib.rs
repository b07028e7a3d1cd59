//! Label propagation: every vertex repeatedly adopts the most frequent label among its neighbours.
//!
//! A run combines independent choices, each a value of its own type:
//!
//! | choice | question | type |
//! |---|---|---|
//! | program | what is a vote, how is a label scored? | [`Program`]: one of [`programs`], or yours by [`hooks`] |
//! | schedule | which vertices update when? how are ties broken? | [`Schedule`], [`Ties`] |
//! | counter | how are a vertex's votes counted? | [`Counter`] |
//! | stop | when does a run end? | [`Stop`] |
//! | executor | on which device? | [`Executor`]: [`cpu::CpuExecutor`] |
//!
//! ```
//! use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
//! use ripplet_lp::{Executor, Settings, cpu::CpuExecutor, programs::Lpa};
//!
//! // Two triangles with one edge between them.
//! let ids = VertexIds::Consecutive { first: 0, count: 6 };
//! let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
//! let graph = GraphBuilder::new().build(edges)?;
//!
//! let found = CpuExecutor::new(None)?.run(&graph, &Lpa::default(), &Settings::default(), &mut ())?;
//! assert_eq!(found.labels, [0, 0, 0, 3, 3, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(doctest)]
#[doc = include_str!("../../ripplet-macros/README.md")]
mod readme_of_macros {}

mod checkpoint;
mod columns;
mod communities;
mod disjoint_sets;
mod dyn_program;
mod executor;
mod finishing;
mod hash;
mod hints;
mod hubs;
mod label;
mod outcome;
mod program;
mod program_info;
mod promise;
mod ranked;
mod ranks;
mod round_observer;
mod rounds;
mod run_error;
mod run_identity;
mod scalar;
mod settings;
mod settings_error;
mod team;
mod views;
mod volume;

pub mod check;
pub mod counters;
pub mod cpu;
pub mod engine;
pub mod hooks;
pub mod profile;
pub mod programs;
pub mod quality;
pub mod refine;
pub mod schedules;
mod shared_checkpoint;
pub mod small;
pub mod stop;
pub mod sweep;

pub use checkpoint::{Checkpoint, CheckpointError, Keeper, NotKept, State};
pub use columns::{Column, ColumnError, ColumnKind, ColumnSpec, ColumnValues};
pub use counters::{Counter, Sketch};
pub use dyn_program::DynProgram;
pub use executor::Executor;
pub use hash::Clock;
pub use hints::Hints;
pub use hubs::hubs;
pub use label::{Label, NO_LABEL};
pub use outcome::{DeviceSeconds, ListsMoved, Outcome, Round, StopReason};
pub use program::{Activation, DeviceSource, LabelTotal, Program, Score};
pub use program_info::ProgramInfo;
pub use ranked::{BadRankLabels, RankExecutor, RankLabels};
pub use ripplet_graph::{Item, Plan};
pub use round_observer::RoundObserver;
pub use run_error::RunError;
pub use run_identity::{BadIdentity, RunIdentity};
pub use scalar::Scalar;
pub use schedules::{DEFAULT_PHASES, Order, Schedule, Ties, Visibility};
pub use settings::Settings;
pub use settings_error::SettingsError;
pub use shared_checkpoint::share_checkpoint;
pub use stop::Stop;
pub use views::{Candidate, Context, Neighbor, NeighborList, Total, Vertex, VertexMut, Vote};
