//! The result of a run.

use crate::{Column, Label};

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The label of each vertex: the id of a vertex, or [`NO_LABEL`](crate::NO_LABEL).
    pub labels: Vec<Label>,
    /// The columns that the program wrote, in its order. They hold labels as they were during the
    /// run, before splitting.
    pub columns: Vec<Column>,
    /// The counts of each round.
    pub rounds: Vec<Round>,
    /// The rule that ended the run.
    pub reason: StopReason,
    /// The number of communities that splitting disconnected ones added; `None` if it was not
    /// requested.
    pub split: Option<u32>,
    /// How many communities fewer there are by [merging](crate::Settings::merge); `None` without it.
    pub merged: Option<u32>,
    /// The seconds of a device outside the rounds.
    pub device_seconds: DeviceSeconds,
    /// Per round of this run, the transfers of lists that are not all on the device; empty if they
    /// are.
    pub lists_moved: Vec<ListsMoved>,
}

/// The transfers of a round, of a graph whose lists are not all on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ListsMoved {
    /// Bytes of lists that the device copied from host memory, each once.
    pub fetched: u64,
    /// Bytes of lists that the device had no room to stage for the phase and read in place. Each
    /// list counts once, although it may be read several times.
    pub unstaged: u64,
    /// Seconds of the copies.
    pub fetching: f64,
    /// Seconds of the copies that did not overlap with computation.
    pub waiting: f64,
}

impl ListsMoved {
    /// Returns the sums of bytes and seconds of two devices that share a run.
    #[must_use]
    pub fn plus(self, other: ListsMoved) -> ListsMoved {
        ListsMoved {
            fetched: self.fetched + other.fetched,
            unstaged: self.unstaged + other.unstaged,
            fetching: self.fetching + other.fetching,
            waiting: self.waiting + other.waiting,
        }
    }
}

/// Seconds of a device before and after the rounds; zeros on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceSeconds {
    /// Compiling the kernels, or loading them from the cache.
    pub kernels: f64,
    /// Copying the graph and the initial state to the device, and labels and columns back.
    pub transfer: f64,
}

/// The counts of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// Vertices whose label or column values changed.
    pub changed: u64,
    /// Vertices that were updated.
    pub visited: u64,
    /// Arcs whose vote was counted.
    pub scanned: u64,
    /// Vertices at which a label's score was NaN. Such a label does not win. Scores of labels that
    /// [`Hints::score_bound`](crate::Hints::score_bound) rules out are not computed.
    pub nan_scores: u64,
    /// A hash of all labels and written columns after the round, if the schedule detects
    /// oscillation.
    pub fingerprint: Option<u64>,
    /// Seconds of the round.
    pub seconds: f64,
}

/// The rule that ended a run. If several held, it is the first of them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// Nothing changed in the last round, and no further round would change anything.
    Fixpoint,
    /// Fewer vertices changed than the tolerance.
    Tolerance,
    /// The labels equal those of two rounds before: they would alternate for ever.
    Oscillation,
    /// A rule of your own, by its name; see [`stop::when`](crate::stop::when).
    Rule(&'static str),
    /// The limit of rounds is reached.
    RoundLimit,
}

impl Outcome {
    /// Returns whether the labels settled, by the stop rules.
    pub fn converged(&self) -> bool {
        matches!(self.reason, StopReason::Fixpoint | StopReason::Tolerance)
    }

    /// Returns the number of arcs counted over all rounds.
    pub fn scanned(&self) -> u64 {
        self.rounds.iter().map(|round| round.scanned).sum()
    }

    /// Returns the number of NaN scores over all rounds, by vertex and round.
    pub fn nan_scores(&self) -> u64 {
        self.rounds.iter().map(|round| round.nan_scores).sum()
    }

    /// Returns a written column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Round {
    /// Returns the sum of the counts of two parts of a round. Fingerprints add up, as each covers
    /// its own vertices; the seconds are those of `self`.
    #[must_use]
    pub fn plus(self, other: Round) -> Round {
        Round {
            changed: self.changed + other.changed,
            visited: self.visited + other.visited,
            scanned: self.scanned + other.scanned,
            nan_scores: self.nan_scores + other.nan_scores,
            fingerprint: match (self.fingerprint, other.fingerprint) {
                (Some(one), Some(other)) => Some(one.wrapping_add(other)),
                (one, other) => one.or(other),
            },
            seconds: self.seconds,
        }
    }
}

impl StopReason {
    /// Returns the name as the statistics print it.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Fixpoint => "fixpoint",
            StopReason::Tolerance => "tolerance",
            StopReason::Oscillation => "oscillation",
            StopReason::Rule(name) => name,
            StopReason::RoundLimit => "round limit",
        }
    }
}
