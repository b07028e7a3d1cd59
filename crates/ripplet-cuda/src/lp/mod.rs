//! Label propagation on a device: the same bytes as on the CPU for every schedule except `async`.
//!
//! # Modules
//! Imports point upwards in this list only:
//!
//! | modules | what they have |
//! |---|---|
//! | `tuning`, `task`, `ranks` | constants; what to run; the vertices and messages of a rank |
//! | `state`, `source` | structs that host and kernels share; the kernels' text |
//! | `classes`, `run_memory`, `errors` | degree classes; the memory of a run; errors |
//! | `stage`, `frontier`, `totals`, `columns`, `members` | parts of the state, each with its arrays |
//! | `layout`, `fit` | places of all arrays; the choice of a layout that fits |
//! | `known`, `arguments`, `launch` | what is known of all vertices; kernel arguments; the launch of each kernel |
//! | `device_run` | memory, launches and arguments of one device |
//! | `residency` | where neighbour lists are, and how a phase gets them |
//! | `rank`, `rank_rounds` | the steps of a phase on one device; the rounds of all |
//! | `executor`, `profile` | runs on one device |
//! | `shares`, `peers`, `devices` | runs on several devices |
//! | `process` | runs on a device of each of several processes |

mod arguments;
mod classes;
mod columns;
mod device_run;
mod devices;
mod errors;
mod executor;
mod fit;
mod frontier;
mod known;
mod launch;
mod layout;
mod limits;
mod members;
mod peers;
mod process;
mod profile;
mod rank;
mod rank_rounds;
mod ranks;
mod residency;
mod run_memory;
mod shares;
mod source;
mod stage;
mod state;
mod task;
mod totals;
mod tuning;

pub use crate::lists::Supply;
pub use devices::DevicesExecutor;
pub(crate) use errors::failed;
pub use executor::DeviceExecutor;
pub(crate) use limits::Limits;
pub use ranks::MOST_RANKS;
pub use source::{Compiled, GraphKind, Kernels, Resident, source, source_for};
pub use tuning::{Counting, Tuning};
