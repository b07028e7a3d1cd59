//! What a run gives back.

use crate::{Column, Label};

/// What a run gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Each vertex's label: the id of a vertex, or [`NO_LABEL`](crate::NO_LABEL).
    pub labels: Vec<Label>,
    /// The columns that the program wrote, in its order. Labels in columns are those of the run:
    /// where a community was split, they still have its old name.
    pub columns: Vec<Column>,
    /// What happened, round by round.
    pub rounds: Vec<Round>,
    /// Why it ended.
    pub reason: StopReason,
    /// Communities that splitting what was not connected added; `None` where it was not asked for.
    pub split: Option<u32>,
    /// What a device took beside the rounds.
    pub device_seconds: DeviceSeconds,
    /// Of each round that was done here, what was moved of a graph whose lists are not all on the device; empty where
    /// they are.
    pub lists_moved: Vec<ListsMoved>,
}

/// What was moved in a round of a graph whose lists are not all on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ListsMoved {
    /// Bytes of lists that the device fetched from the host's memory, each once.
    pub fetched: u64,
    /// Bytes of lists that the device had no room to keep for the phase, and read where they are: each as often as it
    /// was looked at, which is not counted.
    pub unstaged: u64,
    /// Seconds that fetching took.
    pub fetching: f64,
    /// Seconds of these that nothing was done meanwhile.
    pub waiting: f64,
}

impl ListsMoved {
    /// What two devices that share a run moved: bytes and seconds of both.
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

/// Seconds that a device takes before and after the rounds: zeros on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceSeconds {
    /// Compiling the kernels, or finding them compiled.
    pub kernels: f64,
    /// Moving the graph and what a run begins with to the device, and labels and columns back.
    pub transfer: f64,
}

/// What happened in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Round {
    /// Vertices whose label, or a value of whose columns, changed.
    pub changed: u64,
    /// Vertices that were looked at.
    pub visited: u64,
    /// Arcs whose vote was counted.
    pub scanned: u64,
    /// Vertices at which a label's score was not a number. Such a label does not win; where
    /// [`Program::score_bound`](crate::Program::score_bound) rules labels out, their scores are not
    /// looked at.
    pub nan_scores: u64,
    /// A hash of all labels and written columns after the round, where the schedule looks for oscillation.
    pub fingerprint: Option<u64>,
    /// Seconds the round took.
    pub seconds: f64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing changed in the last round, and nothing would.
    Fixpoint,
    /// Fewer vertices changed than the tolerance asks for.
    Tolerance,
    /// The labels are those of two rounds before: they would swap for ever.
    Oscillation,
    /// The rounds are used up.
    RoundLimit,
}

impl Outcome {
    /// Whether the labels settled, as far as the stop rules ask for.
    pub fn converged(&self) -> bool {
        matches!(self.reason, StopReason::Fixpoint | StopReason::Tolerance)
    }

    /// Arcs counted over all rounds.
    pub fn scanned(&self) -> u64 {
        self.rounds.iter().map(|round| round.scanned).sum()
    }

    /// How often, over all rounds, a vertex met a label whose score was not a number.
    pub fn nan_scores(&self) -> u64 {
        self.rounds.iter().map(|round| round.nan_scores).sum()
    }

    /// A written column by its name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

impl Round {
    /// The counts of two parts of a round together. Of fingerprints, which are of each part's own vertices, the
    /// sum; and seconds are the first's.
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
    /// The name, as the statistics have it.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Fixpoint => "fixpoint",
            StopReason::Tolerance => "tolerance",
            StopReason::Oscillation => "oscillation",
            StopReason::RoundLimit => "round limit",
        }
    }
}
