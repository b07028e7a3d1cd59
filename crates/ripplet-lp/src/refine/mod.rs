//! Communities of high modularity: moves, contraction and moves again, in iterations.
//!
//! # What it returns
//! A partition whose communities are connected, of the quality of the Leiden algorithm.
//!
//! # Algorithm
//! ```text
//! begin with each vertex alone, or with given communities
//! repeat up to 2 times, or 3 if the resolution is estimated:
//!     a cycle through the levels               cycle
//!         move vertices                        moves
//!         subdivide communities                subdivide
//!         contract the parts                   contract
//!     undo it and stop if the score fell       score
//! split what is not connected
//! ```
//!
//! # What it guarantees
//! - Communities are connected, unless they have fixed vertices in several parts.
//! - At a fixed resolution, the score is never below that of the communities to begin with. With `auto`, each
//!   iteration has a resolution of its own, so the communities to begin with may score higher at the last one.
//! - Labels are the same bytes for any number of threads and either kind of lists.
//!
//! Not guaranteed is that no vertex or part could move with a gain: Leiden promises this for
//! iterations without end. Nor are communities γ-connected: parts join without a test of the part
//! that is joined.
//!
//! # Determinism
//! Scores and gains are integers. Vertices choose in phases, which are drawn for each round, by what
//! earlier phases wrote.
//!
//! # Checkpoints
//! An observer's [`Keeper`](crate::Keeper) may save the state after each iteration but the last;
//! [`RefineOptions::resume`] takes it.
//!
//! # References
//! Traag, Waltman, van Eck, *From Louvain to Leiden: guaranteeing well-connected communities*,
//! Scientific Reports 9, 2019. Blondel, Guillaume, Lambiotte, Lefebvre, *Fast unfolding of
//! communities in large networks*, 2008.

mod checkpoint;
mod contract;
mod cycle;
mod dendrogram;
mod envelope;
mod finished;
mod fixed;
mod hierarchy;
mod host;
mod input;
mod level;
pub(crate) mod merge;
mod merge_share;
mod moves;
mod options;
mod partition;
mod phases;
mod profile;
mod ratio;
mod run;
mod score;
mod sizes;
mod steps;
mod subdivide;
mod tally;

pub use checkpoint::checkpoint_bytes;
pub use dendrogram::{Merge, dendrogram, dendrogram_bytes};
pub use hierarchy::{MOST_LEVELS, hierarchy, hierarchy_bytes};
pub use input::arcs_of;
pub use merge::{MergeRule, MergeSteps};
pub use merge_share::{BadMergeShare, MergeShare};
pub use options::{
    DEFAULT_ITERATIONS, ESTIMATE_ITERATIONS, LARGEST_RESOLUTION, LEAST_RESOLUTION, Objective,
    RefineError, RefineOptions, Resolution,
};
pub use profile::{
    DEFAULT_RUNS, LEAST_WIDTH, Profile, ProfileOptions, Profiled, default_range, profile,
    profile_plan,
};
pub use run::{contracted_arcs, plan, refine, refine_on};
pub use score::{Factors, Sums};
pub use steps::{
    BegunOn, Counts, DeviceInput, Draw, Figures, HostLevel, RefineDevice, RefineSteps, Rule, Saved,
};

use crate::{DeviceSeconds, Label, Outcome, Round, StopReason};

/// Communities and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// The community of each vertex, named by its smallest vertex.
    pub labels: Vec<Label>,
    /// The resolution of the last iteration.
    pub resolution: f64,
    /// The iterations, including one that was undone.
    pub iterations: u32,
    /// The move rounds of all levels and iterations.
    pub rounds: Vec<RefineRound>,
    /// Arcs read by all steps, on all levels.
    pub scanned: u64,
    /// The reason of the end: [`StopReason::Fixpoint`] if the last iteration changed nothing, the
    /// rule [`NO_GAIN`] if it was undone, the rule [`SCANS`] if a further iteration would read too
    /// many arcs, and [`StopReason::RoundLimit`] at the limit of iterations.
    pub reason: StopReason,
    /// The number of communities that splitting disconnected ones added.
    pub split: u32,
}

/// The name of the stop rule that the last iteration did not increase the score.
pub const NO_GAIN: &str = "no gain";
/// The name of the stop rule that a further iteration at a fixed resolution would exceed 28 scans of the
/// graph's arcs.
pub const SCANS: &str = "scans";

impl From<Refined> for Outcome {
    /// Returns labels, rounds of all levels and the reason of the end.
    fn from(refined: Refined) -> Outcome {
        Outcome {
            labels: refined.labels,
            columns: Vec::new(),
            rounds: refined.rounds.into_iter().map(|round| round.round).collect(),
            reason: refined.reason,
            split: Some(refined.split),
            merged: None,
            device_seconds: DeviceSeconds::default(),
            lists_moved: Vec::new(),
        }
    }
}

/// A move round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineRound {
    /// The iteration, counted from 0.
    pub iteration: u32,
    /// The number of contractions between the input and the level.
    pub level: u32,
    /// The vertices of the level.
    pub vertices: u32,
    /// The counts of the round.
    pub round: Round,
}
