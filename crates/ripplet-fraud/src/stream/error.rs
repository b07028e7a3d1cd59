//! Error of a stream.

use crate::days::DayError;
use crate::entities::EntityError;
use crate::source::FaultKind;
use crate::{Span, Timestamp};
use ripplet_graph::OutOfMemory;
use ripplet_io::Place;
use thiserror::Error;

/// Error of a row.
#[derive(Debug, Error)]
pub enum StreamError {
    /// A faulty row.
    #[error("{origin}{place}: {fault} (such rows can be left out and counted)")]
    Row {
        /// The file or query.
        origin: String,
        /// Position in it.
        place: Place,
        /// The error, as a sentence.
        fault: Box<FaultKind>,
    },
    /// A row later than the bound allows.
    #[error(
        "{origin}{place}: the transaction of {time} comes after one of {latest} ({beside}), when its day had ended: \
         either time may be wrong; allow for later rows, sort the input by time, or have such rows left out and counted"
    )]
    Late {
        /// The file or query.
        origin: String,
        /// Position in it.
        place: Place,
        /// Time of the transaction.
        time: Timestamp,
        /// Latest time before it.
        latest: Timestamp,
        /// Position of the row with the latest time.
        beside: String,
    },
    /// So long a sequence of rows is far from the rows before it that either side may be wrong.
    #[error(
        "{at}: from here on, {rows} rows in a row are more than {gap} {side} those before them: {time} here, {around} in \
         {beside}. Either this is a pause, or the times on one side are wrong"
    )]
    Pause {
        /// Position of the first of these rows.
        at: String,
        /// Time of the first of these rows.
        time: Timestamp,
        /// Number of these rows so far.
        rows: usize,
        /// `after` or `before`.
        side: &'static str,
        /// Time of a row before them.
        around: Timestamp,
        /// Position of that row.
        beside: String,
        /// Largest gap that is allowed.
        gap: Span,
    },
    /// Time jumps ahead by more than [`LONGEST_GAP`](super::LONGEST_GAP) days.
    #[error(
        "{origin}{place}: the transaction of {time}, and those behind it, come {days} days (of {unit}) after the last \
         before it ({latest}, {beside}): this looks like a wrong time or unit"
    )]
    Jump {
        /// The file or query.
        origin: String,
        /// Position in it.
        place: Place,
        /// Time of the transaction.
        time: Timestamp,
        /// Latest time before it.
        latest: Timestamp,
        /// Position of the row with the latest time.
        beside: String,
        /// Number of days between them.
        days: i64,
        /// Length of a day.
        unit: Span,
    },
    /// An entity cannot be added.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// A day cannot be built.
    #[error(transparent)]
    Day(#[from] DayError),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}
