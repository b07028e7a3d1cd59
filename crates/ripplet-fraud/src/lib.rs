//! Fraud detection: suspicious clusters around known bad users, in sliding windows of transactions.
//!
//! ```text
//! files, PostgreSQL ──source──▶ rows ──mapping, entities──▶ days: one sorted adjacency each
//!                                                            │ a slide adds days and removes days
//! known bad ──seeds──▶ fixed labels ──▶ label propagation ◀── window: a weighted graph
//!                                            │
//!              clusters, members, scores ──detect, scores──▶ findings ──evolution──▶ stable ids
//!                                                               └──▶ tables, report, evaluation
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`time`] | instants, ranges and durations |
//! | [`mapping`] | which columns of a table are a transaction's source, target, time, amount, … |
//! | [`entities`] | interner of the string ids of users, merchants, devices, …; vertices stay across windows |
//! | [`amount`], [`payments`] | exact sums of money; single transactions by payer and payee |
//! | [`window`] | the graph of a range of time |
//! | [`seeds`] | lists of known bad and trusted entities |
//! | [`ledger`] | payments between entities in a window |
//! | [`findings`] | result of detection: clusters and members |
//! | [`ties`], [`surprise`] | which of a window's ties are significant |
//! | [`detect`] | labels that spread from the known bad along significant ties, and clusters |
//! | [`chance`] | p-value of a cluster |
//! | [`scores`] | scores of clusters and members |
//! | [`evidence`], [`model`] | score of every entity: its evidence, and a scorecard learnt from the known bad |
//! | [`evolution`] | matches clusters from window to window |
//! | [`evaluate`], [`baselines`] | recall of held-out accounts, compared with baselines |
//! | [`run`], [`folder`] | the whole pipeline, and the folder that it writes |
//! | [`output`] | tables of a window, and arrays for graph neural networks |
//! | [`database`] | results in a PostgreSQL database |
//! | [`report`] | `report.html` |
//! | [`find`] | search for an entity in all windows of a run folder |
//!
//! The library prints nothing; computations run on rayon's current pool.

pub mod amount;
pub mod baselines;
pub mod chance;
pub mod counts;
pub mod database;
pub mod days;
pub mod detect;
pub mod entities;
mod entity_hash;
pub mod entity_table;
pub mod evaluate;
pub mod evidence;
pub mod evolution;
pub mod expression;
pub mod feed;
pub mod find;
pub mod findings;
pub mod folder;
pub mod ledger;
pub mod mapping;
pub mod model;
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
mod time_outliers;
pub mod weights;
pub mod window;

pub use amount::Amount;
pub use entities::{Entities, KindId};
pub use findings::{Cluster, ClusterEvent, ClusterId, Findings, Member};
pub use mapping::Mapping;
pub use seeds::{KnownBad, Trusted};
pub use time::{Span, TimeRange, Timestamp};
pub use window::Window;
