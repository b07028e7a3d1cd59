//! Why a run ends without labels.

use crate::{NotKept, SettingsError};
use ripplet_graph::OutOfMemory;
use ripplet_ranks::CommError;
use thiserror::Error;

/// The reason why a run ended without labels.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// The settings do not fit the graph.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A state could not be saved; earlier checkpoints remain.
    #[error("the state after round {rounds} could not be kept: {source}")]
    NotKept {
        /// The number of rounds that were done.
        rounds: usize,
        /// The reason.
        source: NotKept,
    },
    /// The system refused memory for a part of the run.
    #[error("the run needs {bytes} bytes beside the graph, which this machine refused")]
    OutOfMemory {
        /// The planned bytes of the whole run.
        bytes: u64,
    },
    /// The system refused memory for an array, and the whole run has no plan.
    #[error(transparent)]
    Array(#[from] OutOfMemory),
    /// The weights are too large for sums over communities.
    #[error(
        "the stored edge weights add up to {total}, and merging communities needs sums of 64 bits; scale \
         the weights down, or leave merging out"
    )]
    MergeWeights {
        /// The sum over all vertices of the weights of their edges.
        total: u128,
    },
    /// The program has no device source, which other devices need.
    #[error(
        "the program {program} exists in Rust alone, and a GPU needs it as text; write it with \
         #[label_program], or run it on the CPU"
    )]
    NoDeviceSource {
        /// The program's name.
        program: String,
    },
    /// The device does not implement the counter.
    #[error(
        "the counter {counter} has one sketch for all votes of a vertex, which a GPU would have one \
         thread fill; leave :one out, or run it on the CPU"
    )]
    NoDeviceCounter {
        /// The counter's name.
        counter: String,
    },
    /// The run does not fit the device's memory.
    #[error(
        "the run needs {needed} bytes of {device}'s memory at least, {graph} of them for what must \
         be there of the graph, but \
         {room} are {}; run it on the CPU, or on a GPU with more memory",
        if *.limited { "allowed" } else { "free" }
    )]
    DeviceMemory {
        /// The device's name.
        device: String,
        /// The planned bytes.
        needed: u64,
        /// The part of them that is the graph.
        graph: u64,
        /// The available bytes.
        room: u64,
        /// Whether a memory limit was set, rather than the device's free memory.
        limited: bool,
    },
    /// The schedule has no barriers, at which ranks exchange messages.
    #[error(
        "the schedule {schedule} has no barriers, at which ranks exchange messages; use phased or sync"
    )]
    InPlaceOnRanks {
        /// The schedule.
        schedule: &'static str,
    },
    /// Another rank runs something else.
    #[error(
        "rank {rank} has another graph, version or options; start every rank with the same command, and with files \
         that are the same on all machines"
    )]
    RanksDiffer {
        /// The other rank.
        rank: usize,
    },
    /// The program may vote for labels that no neighbour has, whose totals a rank with ghosts does not have.
    #[error(
        "the program {program} has label totals, and may vote for other labels than those of neighbours, so a rank needs \
         the labels of all vertices; if it does not, let it promise votes_for_own_label"
    )]
    NoGhosts {
        /// The program's name.
        program: String,
    },
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
    /// A device failed; its message.
    #[error("{0}")]
    Device(String),
}

impl RunError {
    /// Replaces the bytes of a refused array by the planned bytes of the whole run.
    #[must_use]
    pub fn planned(self, bytes: u64) -> RunError {
        match self {
            RunError::Array(_) | RunError::OutOfMemory { .. } => RunError::OutOfMemory { bytes },
            error => error,
        }
    }
}
