//! Errors of communication between ranks.

use crate::step::Step;
use std::time::Duration;
use thiserror::Error;

/// An error of a collective. After one, every further call returns an error: ranks are no longer in step.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CommError {
    /// Two ranks are in different collectives.
    #[error(
        "ranks are out of step: rank {peer} is in {theirs} and rank {rank} in {own}; start the same \
         program with the same options on every rank"
    )]
    OutOfStep {
        /// This rank.
        rank: usize,
        /// The other rank.
        peer: usize,
        /// The collective of this rank.
        own: Step,
        /// The collective of the other rank.
        theirs: Step,
    },
    /// A message is no message of this program: another program, or another byte order.
    #[error(
        "rank {peer} sent {bytes} bytes that are no message of ripplet; start the same program on every rank"
    )]
    Foreign {
        /// The sender.
        peer: usize,
        /// The bytes that were received.
        bytes: usize,
    },
    /// A message has a length that its collective does not have.
    #[error("rank {peer} sent {bytes} bytes in {step}, and expected was {expected}")]
    Length {
        /// The sender.
        peer: usize,
        /// The collective.
        step: Step,
        /// The length of the message in bytes.
        bytes: u64,
        /// The expected length, in words.
        expected: String,
    },
    /// The caller has not given one message for each rank.
    #[error("{given} messages for {size} ranks: each rank gets one")]
    Messages {
        /// The number of messages given.
        given: usize,
        /// The number of ranks.
        size: usize,
    },
    /// A rank ended before the run did.
    #[error("rank {rank} ended before the run did")]
    Gone {
        /// The rank.
        rank: usize,
    },
    /// A rank reported that it failed; it has said why itself.
    #[error("rank {rank} failed")]
    Failed {
        /// The rank.
        rank: usize,
        /// The exit code of that rank.
        code: u8,
    },
    /// Nothing was received from a rank within the deadline.
    #[error(
        "rank {rank} is silent since {} s: its process or machine hangs, or the network between them is down",
        .waited.as_secs()
    )]
    Silent {
        /// The rank.
        rank: usize,
        /// The time without a sign of life.
        waited: Duration,
    },
    /// The system refused memory for a message.
    #[error("the system refused {bytes} bytes for a message")]
    OutOfMemory {
        /// The bytes.
        bytes: u64,
    },
    /// A function of MPI failed.
    #[error("MPI's {function} failed: {reason}")]
    Mpi {
        /// The function.
        function: &'static str,
        /// MPI's explanation.
        reason: String,
    },
    /// A call of MPI does not return: it waits for a rank that hangs, or for the network.
    #[error(
        "MPI does not return since {} s: a process hangs, a rank is missing, or the network between them is down",
        .waited.as_secs()
    )]
    Stuck {
        /// The time since the last call that returned.
        waited: Duration,
    },
    /// An earlier collective failed.
    #[error("an earlier message between ranks failed")]
    Broken,
}
