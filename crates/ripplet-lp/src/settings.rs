//! The choices of a run, beside graph and program.

use crate::columns::{self, ColumnError, ColumnSpec, ColumnValues};
use crate::{Counter, Label, NO_LABEL, Order, Schedule, Stop};
use std::collections::BTreeMap;
use thiserror::Error;

/// The choices of a run, beside graph and program.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which vertices update when, and how ties end.
    pub schedule: Schedule,
    /// How votes are counted.
    pub counter: Counter,
    /// When it is enough.
    pub stop: Stop,
    /// What all draws depend on.
    pub seed: u64,
    /// The labels to begin with, one a vertex, [`NO_LABEL`] for none; its own id where absent.
    pub initial: Option<Vec<Label>>,
    /// The program's columns to begin with, by name; their defaults where absent.
    pub columns: BTreeMap<String, ColumnValues>,
    /// Whether communities that are not connected stay as they are.
    ///
    /// Otherwise each connected part becomes a community, named by its smallest vertex.
    pub keep_disconnected: bool,
}

/// Choices that cannot be run.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SettingsError {
    /// A round needs a phase.
    #[error("a phased schedule needs at least 1 phase")]
    NoPhase,
    /// The tolerance is not a share.
    #[error("a tolerance is a share of the vertices from 0 to 1, not {0}")]
    BadTolerance(f64),
    /// There are not as many initial labels as vertices.
    #[error("{labels} initial labels for {vertices} vertices: each vertex needs one")]
    LabelCount {
        /// Labels given.
        labels: usize,
        /// Vertices there are.
        vertices: u32,
    },
    /// The columns do not fit the program.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// An initial label is neither a vertex nor [`NO_LABEL`].
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

impl Settings {
    /// Checks what can be checked before the run, as every executor does first.
    ///
    /// # Errors
    /// Where they do not fit a graph of so many vertices, or a program of these columns.
    pub fn check(&self, vertices: u32, specs: &[ColumnSpec]) -> Result<(), SettingsError> {
        if self.schedule.order == (Order::Phased { phases: 0 }) {
            return Err(SettingsError::NoPhase);
        }
        if let Some(share) = self.stop.tolerance().filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(SettingsError::BadTolerance(share));
        }
        columns::check(specs, &self.columns, vertices)?;
        let Some(labels) = &self.initial else { return Ok(()) };
        if labels.len() != vertices as usize {
            return Err(SettingsError::LabelCount { labels: labels.len(), vertices });
        }
        match labels.iter().position(|&label| label >= vertices && label != NO_LABEL) {
            Some(vertex) => Err(SettingsError::NoSuchLabel {
                vertex,
                label: labels[vertex],
                last: vertices.saturating_sub(1),
            }),
            None => Ok(()),
        }
    }
}
