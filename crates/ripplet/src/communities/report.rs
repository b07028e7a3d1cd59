//! How a search was run.

use crate::checkpoints::Written;
use crate::device::{Exchanged, Fallback, RunSeconds};
use ripplet_lp::refine::{RefineRound, Refined};
use ripplet_lp::small::SmallCommunities;
use ripplet_lp::{Counter, DeviceSeconds, Outcome, Plan, RankLabels};
use ripplet_ranks::Traffic;
use std::path::PathBuf;

/// How a search was run, and what that took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunReport {
    /// The name of the device that computed: `cpu`, or the GPU's number and model.
    pub device: String,
    /// The reason why it was the CPU, if the choice allowed a GPU.
    pub fallback: Option<Fallback>,
    /// How votes were counted.
    pub counter: Counter,
    /// The planned memory.
    pub plan: Plan,
    /// The seconds of the run.
    pub seconds: RunSeconds,
    /// The checkpoint from which it went on, if there was one.
    pub resumed: Option<Resumed>,
    /// What it did for checkpoints; `None` if it kept none on this rank.
    pub checkpoints: Option<CheckpointReport>,
    /// The data that several GPUs exchanged.
    pub exchanged: Option<Exchanged>,
    /// The messages between several ranks.
    pub ranks: Option<RankReport>,
    /// Vertices to which the program gave no label.
    pub unlabelled: u64,
    /// What became of small communities, if a least size was chosen and communities share no vertex.
    pub small: Option<SmallCommunities>,
    /// The iterations of a refinement.
    pub refinement: Option<RefinementReport>,
}

/// The messages between the ranks of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankReport {
    /// The vertices whose labels each rank had in the rounds: all, or ghosts.
    pub labels: RankLabels,
    /// The traffic of each rank in the run.
    pub run: Vec<Traffic>,
    /// The traffic of each rank in each round.
    pub rounds: Vec<Vec<Traffic>>,
}

/// The iterations of a refinement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefinementReport {
    /// The resolution of the last iteration.
    pub resolution: f64,
    /// The iterations, including one that was undone.
    pub iterations: u32,
    /// Arcs read by all steps, also those between move rounds.
    pub scanned: u64,
    /// The move rounds of all levels and iterations.
    pub rounds: Vec<RefineRound>,
}

impl From<&Refined> for RefinementReport {
    fn from(refined: &Refined) -> RefinementReport {
        RefinementReport {
            resolution: refined.resolution,
            iterations: refined.iterations,
            scanned: refined.scanned,
            rounds: refined.rounds.clone(),
        }
    }
}

impl RunSeconds {
    /// Adds a run that took these seconds in all.
    pub(super) fn add(&mut self, all: f64, outcome: &Outcome) {
        let DeviceSeconds { kernels, transfer } = outcome.device_seconds;
        self.kernels += kernels;
        self.transfer += transfer;
        self.compute += (all - kernels - transfer).max(0.0);
    }
}

/// The checkpoint from which a run went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The number of rounds that were done.
    pub rounds: usize,
    /// The file.
    pub path: PathBuf,
    /// Why newer checkpoints were passed over: they are damaged.
    pub damaged: Vec<String>,
}

/// What a run did for its checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckpointReport {
    /// The checkpoints that were written.
    pub written: Written,
    /// Seconds of finding the identity of the run, and of looking for a checkpoint of it.
    pub looking: f64,
}
