//! Why a search for communities fails.

use crate::checkpoints::{CheckpointError, ResumeError};
use crate::device::{DeviceFailure, HostLimit, OpenError};
use crate::programs::ProgramError;
use ripplet_graph::OutOfMemory;
use ripplet_lp::check::BrokenPromise;
use ripplet_lp::cpu::ThreadError;
use ripplet_lp::programs::{BadAttenuation, BadThreshold, SeedError};
use ripplet_lp::quality::QualityError;
use ripplet_lp::refine::RefineError;
use ripplet_lp::{Counter, Plan, RunError};
use thiserror::Error;

/// Error of a search for communities.
#[derive(Debug, Error)]
pub enum CommunitiesError {
    /// The program or a parameter does not exist.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The device cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The system refuses the threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory for the graph in another storage, or for the result, is refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The attenuation of `seeded` is out of its range.
    #[error(transparent)]
    Attenuation(#[from] BadAttenuation),
    /// The threshold of `slpa` is out of its range.
    #[error(transparent)]
    Threshold(#[from] BadThreshold),
    /// A seed does not fit the graph.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// `seeded` has no seeds.
    #[error("seeded begins with vertices whose cluster is known, but no seeds are given")]
    NoSeeds,
    /// The modularity of a sweep could not be measured.
    #[error(transparent)]
    Quality(#[from] QualityError),
    /// Refinement is not possible on this graph, or with these choices of it.
    #[error(transparent)]
    Refine(#[from] RefineError),
    /// The program does not keep a promise that the search [tests](super::CommunitySearch::check_program).
    #[error(transparent)]
    Broken(Box<BrokenPromise>),
    /// A choice of label propagation is made for refinement, which has none of it.
    #[error("{0} is a choice of label propagation, and refinement has none; leave it out")]
    UnusedByRefinement(&'static str),
    /// A choice is made for a resolution profile, which has none of it.
    #[error("a resolution profile has no choice of {0}; leave it out")]
    UnusedByProfile(&'static str),
    /// A choice of refinement is made for label propagation, which has none of it.
    #[error("{0} are a choice of refinement, and label propagation has none; choose refinement")]
    OnlyForRefinement(&'static str),
    /// A choice is not possible on several ranks.
    #[error("{0} is not possible on several ranks; leave it out, or run it in one process")]
    NotOnRanks(&'static str),
    /// A choice needs the whole graph on each rank.
    #[error(
        "{0} is not possible on parts of a graph; leave it out, or load the whole graph on each rank"
    )]
    NotOnParts(&'static str),
    /// Communities that share vertices cannot join one another.
    #[error(
        "small communities join others only if communities share no vertex, but the program is {0}; drop them"
    )]
    JoinOverlapping(String),
    /// Communities that join may exceed the limit of sizes.
    #[error(
        "small communities that join others may make ones larger than the limit of sizes; drop them, or leave the limit out"
    )]
    JoinBeyondMaxSize,
    /// The run needs more host memory than it may use.
    #[error(transparent)]
    HostMemory(#[from] Box<HostMemoryError>),
    /// The run cannot keep checkpoints, or go on from one.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A checkpoint keeps the state of one run.
    #[error("{0} is many runs, and a checkpoint keeps the state of one; leave one of both out")]
    CheckpointOfMany(&'static str),
    /// A counter that fits may be another one when the run goes on.
    #[error(
        "a counter that fits depends on the memory at hand, and a run that goes on must count as it began; name the \
         counter"
    )]
    CheckpointOfFittingCounter,
    /// Seeds are given to another program.
    #[error("seeds are for the program seeded, but the program is {0}")]
    UnusedSeeds(String),
    /// A stage failed on some of the ranks. All ranks know it, and each returns this error.
    #[error(transparent)]
    Stage(#[from] Box<FailedStage>),
}

/// The error of a run whose plan exceeds the limit of host memory.
#[derive(Clone, Debug, Error, PartialEq)]
#[error(
    "{} {needed} bytes of host memory {}, more than the limit of {}; allow more, or {}",
    .run.needs(), .limit.counted(), .limit.bytes(), less(*.smaller)
)]
pub struct HostMemoryError {
    /// What exceeds it.
    pub run: PlannedRun,
    /// The plan.
    pub plan: Plan,
    /// The bytes that it needs of what the limit counts.
    pub needed: u64,
    /// The limit.
    pub limit: HostLimit,
    /// A counter with which the run fits, if there is one.
    pub smaller: Option<Counter>,
}

/// What a plan is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedRun {
    /// The test of the program's promises before the run.
    Check,
    /// The run.
    Run,
}

impl PlannedRun {
    fn needs(self) -> &'static str {
        match self {
            PlannedRun::Check => "the check of the program needs",
            PlannedRun::Run => "the run needs",
        }
    }
}

/// Returns what makes a run need less.
fn less(smaller: Option<Counter>) -> String {
    match smaller {
        Some(counter) => format!("count by {counter}, which fits"),
        None => "choose a smaller sketch or compressed storage".into(),
    }
}

/// The failure of a stage that ranks do together.
#[derive(Debug, Error)]
#[error("rank {rank} failed: {message}")]
pub struct FailedStage {
    /// The first rank that failed.
    pub rank: usize,
    /// The message of its error.
    pub message: String,
    /// The error of this rank, if it failed as well.
    pub own: Option<CommunitiesError>,
}

impl From<ResumeError> for CommunitiesError {
    fn from(error: ResumeError) -> CommunitiesError {
        CheckpointError::Resume(error).into()
    }
}

impl From<FailedStage> for CommunitiesError {
    fn from(failed: FailedStage) -> CommunitiesError {
        Box::new(failed).into()
    }
}

impl From<HostMemoryError> for CommunitiesError {
    fn from(error: HostMemoryError) -> CommunitiesError {
        Box::new(error).into()
    }
}

impl CommunitiesError {
    /// Returns whether all ranks of a search have failed in step: none of them waits for another.
    pub(super) fn is_of_all_ranks(&self) -> bool {
        // What is not possible on ranks is refused on all of them, before the first message.
        matches!(
            self,
            CommunitiesError::NotOnRanks(_)
                | CommunitiesError::NotOnParts(_)
                | CommunitiesError::Stage(_)
        )
    }
}

impl DeviceFailure for CommunitiesError {
    fn is_of_device(&self) -> bool {
        match self {
            CommunitiesError::Run(error) => error.is_of_device(),
            CommunitiesError::Refine(error) => error.is_of_device(),
            _ => false,
        }
    }
}
