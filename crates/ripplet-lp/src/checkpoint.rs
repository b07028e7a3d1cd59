//! Checkpoints: the state of a run between two rounds, from which it can resume.
//!
//! A state holds each vertex's label, the active vertices, the columns that the program writes, and
//! the counts of the rounds so far, which the stop rules read. Everything else is derived: label
//! totals follow from the labels, phases and ties are drawn from seed and round, and read-only
//! columns are given again. A resumed run therefore has the labels, columns and counts of an
//! uninterrupted one, on any executor and any number of threads, unless its schedule is not
//! deterministic.
//!
//! - [`Keeper`] saves states while a run goes on.
//! - [`Settings::resume`](crate::Settings::resume) starts a run from a state,
//!   [`RefineOptions::resume`](crate::refine::RefineOptions::resume) a refinement.
//! - [`RunIdentity`](crate::RunIdentity) identifies the run that a checkpoint belongs to.
//!
//! Memory: on the CPU, a [`Keeper`] borrows the state; nothing is copied. The caller owns the
//! checkpoint that a run resumes from; no plan counts it, as it may lie in a mapped file.

use crate::columns::{self, ColumnSpec};
use crate::{Label, NO_LABEL, ProgramInfo, Round, StopReason};
use ripplet_graph::Buffer;
use std::borrow::Cow;
use thiserror::Error;

/// The state of a run between two rounds, borrowed from the executor.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// The label of each vertex.
    pub labels: Cow<'a, [Label]>,
    /// A bit per vertex, whether it is active: vertex v is bit `v % 64` of word `v / 64`. Bits past
    /// the last vertex are 0.
    pub active: Cow<'a, [u64]>,
    /// The values of the columns that the program writes, as bits, in its order.
    pub columns: Vec<Cow<'a, [u32]>>,
}

/// Saves a run's states, so that it can be resumed.
pub trait Keeper: Send + Sync {
    /// Returns whether the state after `rounds` is to be saved; called after each round but the
    /// last.
    fn is_due(&mut self, rounds: &[Round]) -> bool;

    /// Saves the state after `rounds`.
    ///
    /// # Errors
    /// If the state cannot be saved; this ends the run.
    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept>;
}

/// The reason why a state could not be saved, as a sentence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct NotKept(pub String);

/// A saved state, for [`Settings::resume`](crate::Settings::resume); its arrays may lie in a mapped file.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The rounds that were done.
    pub rounds: Vec<Round>,
    /// The label of each vertex; see [`State::labels`].
    pub labels: Buffer<Label>,
    /// The active vertices; see [`State::active`].
    pub active: Buffer<u64>,
    /// The written columns; see [`State::columns`].
    pub columns: Vec<Buffer<u32>>,
}

/// The reason why a run cannot resume from a checkpoint.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckpointError {
    /// A size differs from the run's.
    #[error("the checkpoint has {found} {what}, where the run has {wanted}: it is of another run")]
    Misfit {
        /// The quantity.
        what: &'static str,
        /// Its size in the checkpoint.
        found: u64,
        /// Its size in the run.
        wanted: u64,
    },
    /// A label is neither a vertex nor [`NO_LABEL`].
    #[error("the checkpoint's label {label} of vertex {vertex} is no vertex: it is damaged")]
    NoSuchLabel {
        /// The vertex.
        vertex: usize,
        /// Its label.
        label: Label,
    },
    /// The stop rules end the run before the checkpoint's last round.
    #[error(
        "the checkpoint is of round {rounds}, but by these rules the run ends after round {end} \
         ({}): take the rules that it began with, or rules that let it go on", .reason.name()
    )]
    Ended {
        /// The number of rounds in the checkpoint.
        rounds: usize,
        /// The round after which the rules end the run.
        end: usize,
        /// The stop rule.
        reason: StopReason,
    },
}

impl State<'_> {
    /// Returns the number of words of [`State::active`] for `vertices` vertices.
    pub fn words(vertices: u32) -> usize {
        (vertices as usize).div_ceil(64)
    }
}

/// Returns the bytes of the state of a run over `vertices` vertices, with these columns.
pub(crate) fn bytes_of_state(vertices: u32, specs: &[ColumnSpec]) -> u64 {
    let written = specs.iter().filter(|spec| spec.written);
    let values = written.map(|spec| columns::values_of(spec, vertices));
    let values = values.fold(u64::from(vertices), u64::saturating_add);
    values.saturating_mul(4).saturating_add(8 * State::words(vertices) as u64)
}

impl Checkpoint {
    /// Returns the fingerprint of the labels and columns, which later rounds update; 0 without any.
    pub fn fingerprint(&self) -> u64 {
        self.rounds.last().and_then(|round| round.fingerprint).unwrap_or(0)
    }

    /// Checks that a run with these settings can resume from the checkpoint.
    pub(crate) fn check(
        &self,
        vertices: u32,
        program: &ProgramInfo,
    ) -> Result<(), CheckpointError> {
        let fits = |what, found: usize, wanted: u64| match found as u64 {
            found if found == wanted => Ok(()),
            found => Err(CheckpointError::Misfit { what, found, wanted }),
        };
        fits("labels", self.labels.len(), vertices.into())?;
        fits("words of active vertices", self.active.len(), State::words(vertices) as u64)?;
        let behind = match (self.active.last(), vertices % 64) {
            (Some(&last), rest) if rest > 0 => (last >> rest).count_ones(),
            _ => 0,
        };
        fits("active vertices behind the last", behind as usize, 0)?;
        let written: Vec<&ColumnSpec> =
            program.columns.iter().filter(|spec| spec.written).collect();
        fits("written columns", self.columns.len(), written.len() as u64)?;
        for (values, spec) in self.columns.iter().zip(written) {
            fits("values of a column", values.len(), columns::values_of(spec, vertices))?;
        }
        let unknown = |&label: &Label| label >= vertices && label != NO_LABEL;
        // By one thread: a run is checked before its pool has work, and threads of rayon's own pool would stay.
        if let Some(vertex) = self.labels.iter().position(unknown) {
            return Err(CheckpointError::NoSuchLabel { vertex, label: self.labels[vertex] });
        }
        Ok(())
    }
}
