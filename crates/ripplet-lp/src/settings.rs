//! The settings of a run, beside graph and program.

use crate::columns::{self, ColumnValues};
use crate::refine::MergeShare;
use crate::stop::StopRule;
use crate::{
    Checkpoint, CheckpointError, Counter, Label, NO_LABEL, ProgramInfo, Schedule, SettingsError,
    Sketch, Stop, Ties,
};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The settings of a run, beside graph and program.
///
/// # Examples
/// ```
/// use ripplet_lp::{Counter, Schedule, Settings};
///
/// let settings = Settings { schedule: Schedule::sync(), seed: 7, ..Settings::default() };
/// assert_eq!(settings.counter, Counter::default());
/// assert!(settings.initial.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The order of updates and the rule for ties.
    pub schedule: Schedule,
    /// The vote counter.
    pub counter: Counter,
    /// The stop rule.
    pub stop: Stop,
    /// The seed of all draws.
    pub seed: u64,
    /// The initial labels, one per vertex, [`NO_LABEL`] for none; each vertex's own id if absent.
    pub initial: Option<Vec<Label>>,
    /// Initial values of the program's columns, by name; their defaults if absent.
    pub columns: BTreeMap<String, ColumnValues>,
    /// The state to resume from, of a run with equal settings. Initial labels and written columns
    /// are then ignored.
    pub resume: Option<Checkpoint>,
    /// Whether disconnected communities stay as they are.
    ///
    /// Otherwise each connected part becomes a community, named by its smallest vertex.
    pub keep_disconnected: bool,
    /// Whether, at the end, communities join the neighbouring community with most of their votes, if
    /// it has this share of them; see [`MergeShare`].
    ///
    /// Communities are then named by their smallest vertex.
    pub merge: Option<MergeShare>,
}

impl Settings {
    /// Returns the settings of νMG8-LPA as published, for [`Lpa`](crate::programs::Lpa) without its
    /// guard.
    ///
    /// Eight slots and one scan, `async` with every eighth round pick-less, until at most 5 % of
    /// the vertices change, at most 20 rounds, no splitting.
    ///
    /// Reference: Sahu, *Memory efficient GPU-based label propagation algorithm for community
    /// detection on large graphs*, 2024. Differences: of equal slots the smallest label wins, in
    /// the paper the first slot; Misra-Gries subtracts only the least weight; a vertex that a
    /// pick-less round held back is active in the next round.
    pub fn nu_mg8() -> Settings {
        Settings::published(Sketch::NU_MG8)
    }

    /// Returns the settings of νBM-LPA as published: those of [`Settings::nu_mg8`] with a
    /// Boyer-Moore sketch.
    pub fn nu_bm() -> Settings {
        Settings::published(Sketch::NU_BM)
    }

    fn published(sketch: Sketch) -> Settings {
        let asynchronous = Schedule::asynchronous_with(NonZeroU32::new(8));
        Settings {
            schedule: Schedule { ties: Ties::Smallest, ..asynchronous },
            counter: sketch.into(),
            stop: Stop::after(20).at_tolerance(0.05),
            keep_disconnected: true,
            ..Settings::default()
        }
    }

    /// Checks the settings before the run; every executor calls it first.
    ///
    /// # Errors
    /// If they do not fit a graph of `vertices` vertices, or the program.
    pub fn check(&self, vertices: u32, program: &ProgramInfo) -> Result<(), SettingsError> {
        if self.schedule.phases() == 0 {
            return Err(SettingsError::NoPhase);
        }
        StopRule::check(&self.stop)?;
        self.check_counter(&program.name, program.follows_frequency)?;
        columns::check(&program.columns, &self.columns, vertices)?;
        if let Some(checkpoint) = &self.resume {
            checkpoint.check(vertices, program)?;
            self.goes_on(checkpoint, vertices)?;
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

    /// Checks that the counter keeps what a program reads, before there is a graph.
    ///
    /// # Errors
    /// If it keeps but a few labels, and the program, by its name, does not
    /// [follow frequency](crate::Hints::follows_frequency).
    pub fn check_counter(
        &self,
        program: &str,
        follows_frequency: bool,
    ) -> Result<(), SettingsError> {
        match self.counter.keeps_every_label() || follows_frequency {
            true => Ok(()),
            false => Err(SettingsError::NeedsEveryLabel {
                program: program.to_owned(),
                counter: self.counter.to_string(),
            }),
        }
    }

    /// Checks that no round of a checkpoint ends a run with this stop rule.
    fn goes_on(&self, checkpoint: &Checkpoint, vertices: u32) -> Result<(), CheckpointError> {
        let rounds = &checkpoint.rounds;
        let ended = |end: usize| {
            let reason = self.stop.reason_after(&rounds[..end], vertices, self.schedule)?;
            Some(CheckpointError::Ended { rounds: rounds.len(), end, reason })
        };
        (0..rounds.len()).find_map(ended).map_or(Ok(()), Err)
    }
}
