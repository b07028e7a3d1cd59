//! Communities of a graph: every choice of a run at run time, in one expression.
//!
//! ```
//! use ripplet::Device;
//! # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
//! # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
//! # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
//!
//! let found = ripplet::communities(&graph).program("lpa")?.device(Device::auto()).run()?;
//! for community in &found {
//!     println!("{}: {} members", community.id(), community.len());
//! }
//! # assert_eq!(found.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | choice | method | default |
//! |---|---|---|
//! | program, by name | [`CommunitySearch::program`], [`CommunitySearch::parameter`] | `lpa` |
//! | program, as a value | [`CommunitySearch::own_program`] | |
//! | refinement, in place of a program | [`CommunitySearch::refine`] | |
//! | vertices that keep their community, under refinement | [`CommunitySearch::fixed`] | none |
//! | largest size, under refinement | [`CommunitySearch::max_size`] | none |
//! | least size | [`CommunitySearch::min_size`] | none |
//! | many resolutions | [`CommunitySearch::sweep`] or [`CommunitySearch::resolution_profile`] in place of `run` | |
//! | device | [`CommunitySearch::device`] | `auto` |
//! | schedule | [`CommunitySearch::schedule`] | the program's |
//! | counter | [`CommunitySearch::counter`], [`CommunitySearch::fitting_counter`] | exact |
//! | test of the program's promises | [`CommunitySearch::check_program`] | none |
//! | checkpoints | [`CommunitySearch::checkpoints`] | none |
//! | limit of host memory | [`CommunitySearch::host_memory`] | none |
//! | storage of the lists | [`CommunitySearch::storage`] | as they are |
//! | stop rule | [`CommunitySearch::stop`] | the program's |
//! | seed of draws | [`CommunitySearch::seed`] | 0 |
//! | processes that share the run | [`CommunitySearch::ranks`] | none |
//!
//! | to | method |
//! |---|---|
//! | run | [`CommunitySearch::run`], with an observer [`CommunitySearch::run_with`] |
//! | run without grouping members by community | [`CommunitySearch::labels_with`] |
//! | know the memory before | [`CommunitySearch::plan`], [`CommunitySearch::estimate_with`] |
//! | know how it was run | [`Communities::report`] |
//! | follow it, and cancel | [`SearchObserver`] |

mod error;
mod found;
mod kept;
mod observer;
mod profile;
mod report;
mod result;
mod run;
mod search;
#[cfg(feature = "serde")]
mod serialize;
mod sweep;
mod tables;

pub use crate::device::RunSeconds;
pub use error::{CommunitiesError, FailedStage, HostMemoryError, PlannedRun};
pub use found::{FoundLabels, Memberships};
pub(crate) use observer::locked;
pub use observer::{SearchEvent, SearchObserver};
pub use profile::{ProfileRange, ProfiledCommunities, ProfiledLabels};
pub use report::{CheckpointReport, RankReport, RefinementReport, Resumed, RunReport};
pub use result::{Communities, Community, Iter, Members, UnknownVertex};
pub use run::SearchEstimate;
pub use search::{CommunitySearch, communities};
pub use sweep::{SweptCommunities, SweptLabels};
pub use tables::{NamedColumn, columns_of_dendrogram, columns_of_profile};
