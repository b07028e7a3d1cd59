//! The choices of a run, beside graph and program.

use crate::columns::{self, ColumnError, ColumnValues};
use crate::{
    Checkpoint, CheckpointError, Counter, Label, NO_LABEL, Order, ProgramInfo, Schedule, Sketch,
    Stop, Ties,
};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
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
    /// The state to go on from, of a run with the same choices; what labels and written columns begin with
    /// is then not looked at.
    pub resume: Option<Checkpoint>,
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
    /// A sketch does not keep what the program looks at.
    #[error(
        "the counter {counter} keeps but a few frequent labels, and the program {program} needs every \
         label's exact frequency; leave --counter out, or use --counter exact"
    )]
    NeedsEveryLabel {
        /// The program's name.
        program: String,
        /// The counter's.
        counter: String,
    },
    /// The columns do not fit the program.
    #[error(transparent)]
    Columns(#[from] ColumnError),
    /// The checkpoint does not fit the run.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
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
    /// νMG8-LPA as it was published, for [`Lpa`](crate::programs::Lpa) without its guard: eight slots
    /// and one scan, `async` with every eighth round pick-less, until at most 5 % of the vertices
    /// change, 20 rounds at most, nothing split afterwards.
    ///
    /// Reference: Sahu, *Memory efficient GPU-based label propagation algorithm for community
    /// detection on large graphs*, 2024. Not as there: of equal slots the smallest label wins, there
    /// the first slot; Misra-Gries loses what it must and no more; and who was kept from a larger
    /// label looks again in the next round.
    pub fn nu_mg8() -> Settings {
        Settings::published(Sketch::NU_MG8)
    }

    /// νBM-LPA: the same with one slot.
    pub fn nu_bm() -> Settings {
        Settings::published(Sketch::NU_BM)
    }

    fn published(sketch: Sketch) -> Settings {
        let pick_less = NonZeroU32::new(8);
        Settings {
            schedule: Schedule { order: Order::Async { pick_less }, ties: Ties::Smallest },
            counter: Counter::Sketch(sketch),
            stop: Stop::after(20).at_tolerance(0.05),
            keep_disconnected: true,
            ..Settings::default()
        }
    }

    /// Checks what can be checked before the run, as every executor does first.
    ///
    /// # Errors
    /// Where they do not fit a graph of so many vertices, or the program.
    pub fn check(&self, vertices: u32, program: &ProgramInfo) -> Result<(), SettingsError> {
        if self.schedule.order == (Order::Phased { phases: 0 }) {
            return Err(SettingsError::NoPhase);
        }
        if let Some(share) = self.stop.tolerance().filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(SettingsError::BadTolerance(share));
        }
        if self.counter != Counter::Exact && !program.follows_frequency {
            let (program, counter) = (program.name.clone(), self.counter.to_string());
            return Err(SettingsError::NeedsEveryLabel { program, counter });
        }
        columns::check(&program.columns, &self.columns, vertices)?;
        if let Some(checkpoint) = &self.resume {
            checkpoint.check(vertices, program, self)?;
        }
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
