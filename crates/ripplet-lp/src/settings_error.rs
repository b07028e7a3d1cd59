//! Why settings cannot be run.

use crate::{CheckpointError, ColumnError, Label};
use thiserror::Error;

/// Settings that cannot be run.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SettingsError {
    /// A phased schedule has no phase.
    #[error("a phased schedule needs at least 1 phase")]
    NoPhase,
    /// The tolerance is not a share.
    #[error("a tolerance is a share of the vertices from 0 to 1, not {0}")]
    BadTolerance(f64),
    /// The number of initial labels differs from the number of vertices.
    #[error("{labels} initial labels for {vertices} vertices: each vertex needs one")]
    LabelCount {
        /// Labels given.
        labels: usize,
        /// The number of vertices.
        vertices: u32,
    },
    /// The sketch does not keep what the program reads.
    #[error(
        "the counter {counter} keeps but a few frequent labels, and the program {program} needs every \
         label's exact frequency; leave --counter out, or use --counter exact"
    )]
    NeedsEveryLabel {
        /// The program's name.
        program: String,
        /// The counter's name.
        counter: String,
    },
    /// The columns do not fit the program.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// The checkpoint does not fit the run.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// An initial label is neither a vertex nor [`NO_LABEL`](crate::NO_LABEL).
    #[error("vertex {vertex} begins with label {label}, but labels are vertices, 0 to {last}")]
    NoSuchLabel {
        /// The vertex.
        vertex: usize,
        /// Its label.
        label: Label,
        /// The last vertex.
        last: u32,
    },
}
