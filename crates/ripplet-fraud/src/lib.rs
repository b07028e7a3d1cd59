//! Windows of transactions, known bad users, and the suspicious clusters around them.
//!
//! ```text
//! files, PostgreSQL ──source──▶ rows ──mapping, entities──▶ days: a sorted run of pairs each
//!                                                            │ a slide adds some, removes some
//! known bad ──seeds──▶ labels given ──▶ label propagation ◀── window: a weighted graph
//!                                            │
//!              clusters, members, scores ──detect, scores──▶ findings ──evolution──▶ stable ids
//!                                                               └──▶ tables, report, evaluation
//! ```
//!
//! | module | what it has |
//! |---|---|
//! | [`time`] | instants, ranges and spans |
//! | [`mapping`] | which columns of a table are a transaction's source, target, time, amount, … |
//! | [`entities`] | the string ids of users, merchants, devices, … and their vertices, the same in all windows |
//! | [`amount`], [`payments`] | exact sums of money; each transaction, by who pays whom |
//! | [`window`] | the graph of a range of time |
//! | [`seeds`] | who is known to be bad, and when; who is trusted |
//! | [`findings`] | what detection finds: clusters and members |
//! | [`ties`], [`surprise`] | which of a window's ties are more than chance |
//! | [`detect`] | labels that spread from the known bad along them, and clusters |
//! | [`chance`] | how often chance alone makes a group as busy |
//! | [`scores`] | how suspicious clusters and members are |
//! | [`evolution`] | what becomes of clusters from window to window |
//! | [`evaluate`], [`baselines`] | known accounts held out and looked for, beside older ways |
//! | [`output`] | tables of a window, and arrays for graph neural networks |
//! | [`report`] | `report.html` |
//! | [`find`] | an entity in all windows of a run folder |
//!
//! Nothing here prints, and all that computes runs on rayon's current pool.

pub mod amount;
pub mod baselines;
pub mod chance;
pub mod counts;
pub mod days;
pub mod detect;
pub mod entities;
pub mod evaluate;
pub mod evolution;
pub mod expression;
pub mod feed;
pub mod find;
pub mod findings;
pub mod folder;
pub mod mapping;
mod neighbours;
pub mod output;
pub mod payments;
pub mod report;
pub mod run;
pub mod scores;
pub mod seeds;
pub mod source;
pub mod stream;
mod sums;
pub mod surprise;
pub mod ties;
pub mod time;
pub mod weights;
pub mod window;

pub use amount::Amount;
pub use entities::{Entities, KindId};
pub use findings::{Cluster, ClusterId, Fate, Findings, Member};
pub use mapping::Mapping;
pub use seeds::{KnownBad, Trusted};
pub use time::{Span, TimeRange, Timestamp};
pub use window::Window;
