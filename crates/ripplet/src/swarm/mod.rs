//! Swarms: an analysis of every graph of a batch of any size.
//!
//! ```text
//! Parts ─▶ reader ─▶ queue of 2 parts ─▶ workers, one thread each ─▶ reordering ─▶ sink, caller's thread
//! ```
//!
//! Input, computation and output overlap, and only a few parts of the batch are in memory at once:
//! with w workers at most 4 + 2 w, each with its answer once it is computed. [`CpuWorker`] uses all
//! threads of rayon's global pool; a worker for a device uses that device. The answer for a part
//! does not depend on the worker, so that the output does not either.
//!
//! Ranks share a swarm by [`run_on_ranks`].
//!
//! An error of a stage, or the observer, ends all stages. A read or a write in progress is
//! completed; workers are cancelled through their observer.
//!
//! ```
//! use ripplet::analytics::{Lengths, PathAnalysis};
//! use ripplet::graph::batch::{BatchBuilder, BatchRows, BatchTable, Members};
//! use ripplet::swarm::{Analysis, Answer, BatchPart, CpuWorker, Column, WholeBatch, run};
//!
//! // A path of three vertices, and an edge.
//! let members = Members::of_sizes([3, 2].into_iter())?;
//! let rows = BatchRows { graphs: vec![0, 0, 1], sources: vec![0, 1, 0], targets: vec![1, 2, 1], weights: None };
//! let batch = BatchBuilder::new().build(BatchTable::new(members, rows)?)?;
//!
//! let worker = CpuWorker::new(Analysis::Paths(PathAnalysis::Betweenness { normalized: false, lengths: Lengths::Hops }));
//! let mut found = Vec::new();
//! let take = |_: &BatchPart, answer: Answer| {
//!     if let Answer::Vertices(columns) = answer {
//!         found.extend(columns);
//!     }
//!     Ok(())
//! };
//! let report = run(&mut WholeBatch::from(batch), vec![Box::new(worker)], take, &())?;
//! assert_eq!((report.graphs, report.parts), (2, 1));
//! assert_eq!(found, [Column::F64(vec![0.0, 1.0, 0.0, 0.0, 0.0])]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod answer;
mod columns;
mod communities;
#[cfg(feature = "cuda")]
mod device;
mod line;
mod message;
mod parts;
mod ranks;
mod report;
#[cfg(all(test, feature = "cuda"))]
mod tests;
mod worker;

pub use analysis::{Analysis, NotOnDevice, Scope, Selection};
pub(crate) use analysis::{of_coefficients, pass};
pub use answer::{Answer, Clustering, Column, Edges};
pub use communities::CommunitiesWorker;
#[cfg(feature = "cuda")]
pub use device::DeviceWorker;
pub use line::run;
pub use parts::{Cut, Parts, WholeBatch};
pub use ranks::{Work, own_graphs, run_on_ranks};
pub use report::{Progress, Report, SwarmObserver, WorkerReport};
pub use worker::{CpuWorker, Worker};

pub use ripplet_io::batch::BatchPart;
use ripplet_io::{ReadError, WriteError};
use std::io;
use thiserror::Error;

/// The reason why a swarm ended before its last graph.
#[derive(Debug, Error)]
pub enum SwarmError {
    /// The batch cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The computation on the CPU failed.
    #[error(transparent)]
    Run(ripplet_analytics::AnalysisError),
    /// The computation on a device failed.
    #[error(transparent)]
    Device(ripplet_lp::RunError),
    /// PageRank's tolerance was not reached.
    #[error("after {rounds} rounds the ranks of a graph still change by {change:e}, all together")]
    Unsettled {
        /// The number of rounds.
        rounds: u32,
        /// The change of the ranks in the last round.
        change: f64,
    },
    /// An analysis other than PageRank was personalized.
    #[error("only PageRank has walks that jump, which can be personalized")]
    NotPersonalizable,
    /// Sources were chosen for an analysis other than distances.
    #[error("only distances are searched from chosen vertices; other analyses need all of them")]
    NotFromSources,
    /// Vertices were chosen for an analysis other than the exact closeness of one graph.
    #[error("only closeness by all distances is computed of chosen vertices alone")]
    NotOfVertices,
    /// An analysis by a sample was asked of a batch.
    #[error("a sample is of the vertices of one graph, and this is a batch")]
    SampleOfBatch,
    /// An analysis was asked of ranks that they do not share.
    #[error("ranks share PageRank, components and clustering coefficients, and no other analysis")]
    NotOnRanks,
    /// Another rank failed: its error is there.
    #[error("rank {rank} failed")]
    Elsewhere {
        /// The first rank that failed.
        rank: usize,
    },
    /// Ranks have read different graphs.
    #[error("rank {rank} has read other graphs than rank 0")]
    PartsDiffer {
        /// The first rank whose part of the batch is not that of rank 0.
        rank: usize,
    },
    /// A program of the caller's own leaves a vertex without a label.
    #[error(
        "the program leaves a vertex of the graph {graph} without a label, and in a batch each vertex has a row"
    )]
    NoLabel {
        /// The id of the graph.
        graph: String,
    },
    /// No worker was given.
    #[error("a swarm takes at least one worker")]
    NoWorker,
    /// The system refused a thread for a stage.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<ripplet_analytics::AnalysisError> for SwarmError {
    fn from(error: ripplet_analytics::AnalysisError) -> SwarmError {
        match error {
            ripplet_analytics::AnalysisError::Cancelled => SwarmError::Cancelled,
            error => SwarmError::Run(error),
        }
    }
}

impl From<ripplet_graph::OutOfMemory> for SwarmError {
    fn from(error: ripplet_graph::OutOfMemory) -> SwarmError {
        SwarmError::Run(error.into())
    }
}

impl From<ripplet_lp::RunError> for SwarmError {
    fn from(error: ripplet_lp::RunError) -> SwarmError {
        match error {
            ripplet_lp::RunError::Cancelled => SwarmError::Cancelled,
            error => SwarmError::Device(error),
        }
    }
}
