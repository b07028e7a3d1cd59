//! Error of a run.

use crate::counts::Counts;
use crate::database::DatabaseError;
use crate::detect::DetectError;
use crate::entities::EntityError;
use crate::feed::FeedError;
use crate::folder::FolderError;
use crate::model::ModelError;
use crate::seeds::{Conflict, ListError};
use crate::source::SourceError;
use crate::source::reader::ReaderError;
use crate::source::row_hash::BLOCK;
use crate::window::WindowError;
use crate::{TimeRange, Timestamp};
use ripplet_graph::OutOfMemory;
use ripplet_io::WriteError;
use ripplet_lp::RunError;
use ripplet_ranks::CommError;
use std::path::PathBuf;
use thiserror::Error;

/// Error of a run; finished windows stay.
#[derive(Debug, Error)]
pub enum PipelineError {
    /// The feed failed.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// Detection failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// A list cannot be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The run folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Results cannot be written to the database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// An entity is known to be bad and trusted, or bad and cleared from the same instant on.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The model cannot be used.
    #[error("the model cannot be used: {0}")]
    Model(#[from] ModelError),
    /// The memory limit would be exceeded.
    #[error(
        "the window of {range} needs {} MiB ({what}), and {} MiB are allowed: choose a shorter window, or allow more",
        needed >> 20, allowed >> 20
    )]
    Memory {
        /// The window.
        range: TimeRange,
        /// Bytes that are needed.
        needed: u64,
        /// Step that needs the memory.
        what: String,
        /// Bytes that are allowed.
        allowed: u64,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The options ask for clusters of known bad entities alone, and there is no list of these.
    #[error("clusters around the known bad alone need a list of them, and there is none")]
    NoKnownBad,
    /// The noise threshold is no probability.
    #[error("the chance above which a cluster is noise is from 0 to 1, not {0}")]
    Noise(f64),
    /// A file cannot be written.
    #[error("cannot write {0}")]
    Write(#[from] WriteError),
    /// The feed has no window although one has ended.
    #[error("the window that has ended cannot be built")]
    NoWindow,
    /// Ranks cannot share such a run.
    #[error("{what} is not possible on several ranks")]
    NotOnRanks {
        /// The setting.
        what: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
    /// Another rank failed, with this error.
    #[error("{sentence}")]
    Elsewhere {
        /// The rank.
        rank: usize,
        /// Its error, as a sentence.
        sentence: String,
    },
    /// A rank has other settings, lists or inputs than rank 0.
    #[error("rank {rank} has another {what} than rank 0")]
    RanksDiffer {
        /// The rank.
        rank: usize,
        /// What differs: the name of a setting or of a list, or an input.
        what: String,
    },
    /// Ranks have read different rows of a query or of a table in memory, or the same rows in another order.
    #[error(
        "{input}: rank {rank} has read other rows than rank {other}, or in another order, within {BLOCK} rows from row {row} \
         on"
    )]
    RowsDiffer {
        /// Name of the query or of the table.
        input: String,
        /// The rank.
        rank: usize,
        /// The rank that it is compared with.
        other: usize,
        /// First row of the block with the difference, from 1.
        row: u64,
    },
    /// A rank does not see the run folder that rank 0 has created.
    #[error("{} is not the folder that rank 0 has created there", .0.display())]
    OtherFolder(PathBuf),
    /// The input has no transactions.
    #[error("there are no transactions in the input: of {} rows{}", .0.rows, none_taken(.0))]
    NoTransactions(Box<Counts>),
}

/// Returns why no row was taken, by number of rows.
fn none_taken(counts: &Counts) -> String {
    let faults = counts.faults.iter().map(|(fault, rows)| (*rows, &**fault));
    let others = [
        (counts.other_kinds, "are of kinds that the mapping does not take"),
        (counts.late, "came too late"),
    ];
    let all = faults.chain(others).filter(|(rows, _)| *rows > 0);
    let mut all: Vec<String> = all.map(|(rows, why)| format!("{rows} {why}")).collect();
    if let Some((first, last)) = counts.outside_times {
        let (first, last) = (Timestamp(first), Timestamp(last));
        let rows = counts.outside;
        all.push(format!(
            "{rows} are outside --since and --before, with times from {first} to {last}"
        ));
    }
    if all.is_empty() { " none is taken".into() } else { format!(", {}", all.join(", ")) }
}

impl PipelineError {
    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            PipelineError::Feed(FeedError::Cancelled)
                | PipelineError::Detect(DetectError::Run(RunError::Cancelled))
        )
    }

    /// Whether memory allocation failed or the memory limit was reached.
    pub fn is_out_of_memory(&self) -> bool {
        let in_io = |error: &WriteError| error.source.kind() == std::io::ErrorKind::OutOfMemory;
        let in_source = |error: &SourceError| matches!(error, SourceError::Read(error) if error.is_out_of_memory());
        match self {
            PipelineError::OutOfMemory(_)
            | PipelineError::Memory { .. }
            | PipelineError::Model(ModelError::OutOfMemory(_)) => true,
            PipelineError::Detect(error) => matches!(
                error,
                DetectError::OutOfMemory(_)
                    | DetectError::Run(RunError::OutOfMemory { .. } | RunError::Array(_))
            ),
            PipelineError::Feed(error) => match error {
                FeedError::Window(WindowError::OutOfMemory(_)) => true,
                FeedError::Entity(EntityError::OutOfMemory(_)) => true,
                FeedError::Reader(ReaderError::Source(error)) => in_source(error),
                _ => false,
            },
            PipelineError::List(ListError::Source(error)) => in_source(error),
            PipelineError::Folder(error) => match error {
                FolderError::OutOfMemory(_) => true,
                FolderError::Read(error) => error.is_out_of_memory(),
                FolderError::Write(error) => in_io(error),
                FolderError::Io { source, .. } => source.kind() == std::io::ErrorKind::OutOfMemory,
                _ => false,
            },
            PipelineError::Database(DatabaseError::Read(error)) => error.is_out_of_memory(),
            PipelineError::Write(error) => in_io(error),
            _ => false,
        }
    }
}
