//! Promises of a program, and what shows that one does not hold.

use crate::{Label, RunError, Vote};
use ripplet_graph::VertexId;
use std::fmt;
use thiserror::Error;

/// The rounds before each of which promises are tested. Labels of the first round are unique, so
/// that most labels get one vote; later rounds have more.
pub const ROUNDS: u32 = 4;

/// Extent of a check that found no broken promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Vertices tested, summed over the rounds.
    pub vertices: u64,
    /// Labels scored.
    pub candidates: u64,
}

/// A promise that a program makes to engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Hooks are pure functions: the named one returned different results for equal arguments.
    Pure(&'static str),
    /// [`Hints::falls_with_total`](crate::Hints::falls_with_total).
    FallsWithTotal,
    /// [`Hints::follows_frequency`](crate::Hints::follows_frequency).
    FollowsFrequency,
    /// [`Hints::votes_for_own_label`](crate::Hints::votes_for_own_label).
    VotesForOwnLabel,
    /// [`Hints::score_bound`](crate::Hints::score_bound).
    ScoreBound,
    /// [`Activation::Disagreement`](crate::Activation::Disagreement).
    Disagreement,
    /// [`Hints::load_neighbors`](crate::Hints::load_neighbors).
    LoadNeighbors,
    /// [`Hints::carry_most`](crate::Hints::carry_most).
    CarryMost,
    /// [`Hints::carries`](crate::Hints::carries).
    Carries,
    /// [`Hints::has_columns`](crate::Hints::has_columns).
    HasColumns,
}

/// A promise that does not hold, with what shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenPromise {
    /// The promise.
    pub promise: Promise,
    /// The vertex at which it does not hold.
    pub vertex: VertexId,
    /// The round, counted from 0.
    pub round: u32,
    /// The evidence.
    pub evidence: Evidence,
}

/// A score of a label, with what it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The label.
    pub label: Label,
    /// The sum of the votes for it.
    pub frequency: u64,
    /// Its total; 0 if the engine keeps none.
    pub total: u32,
    /// The score, as text.
    pub score: String,
}

/// Evidence that a promise does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Two scores in the wrong order; by the promise, the first is not below the second.
    Scores(Scored, Scored),
    /// A score above its bound.
    Bound(Scored, String),
    /// A bound that falls as the frequency rises: each frequency with its bound.
    FallingBound([(u64, String); 2]),
    /// The vote for a neighbour, and that of the hooks.
    Votes {
        /// The neighbour.
        neighbor: VertexId,
        /// The vote.
        found: Vote,
        /// The vote of the hooks.
        expected: Vote,
    },
    /// The largest carry for a label, and that of the hook.
    Carried {
        /// The label.
        label: Label,
        /// The largest carry.
        found: Option<f32>,
        /// The largest carry of the hook.
        expected: Option<f32>,
    },
    /// The names of columns that there should not be.
    Columns(Vec<String>),
    /// Two results of equal calls, as texts.
    Unequal(String, String),
}

/// The reason why a check fails.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckError {
    /// A promise does not hold.
    #[error(transparent)]
    Broken(#[from] BrokenPromise),
    /// The settings do not fit the graph or the program, memory is refused, or the observer
    /// cancels.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Promise {
    /// Returns the promise as a program's text has it.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Pure(hook) => hook,
            Promise::FallsWithTotal => "falls_with_total",
            Promise::FollowsFrequency => "follows_frequency",
            Promise::VotesForOwnLabel => "votes_for_own_label",
            Promise::ScoreBound => "score_bound",
            Promise::Disagreement => "Activation::Disagreement",
            Promise::LoadNeighbors => "load_neighbors",
            Promise::CarryMost => "carry_most",
            Promise::Carries => "carries",
            Promise::HasColumns => "has_columns",
        }
    }

    /// Returns what holds if the promise does, as a sentence without a full stop.
    pub fn meaning(self) -> &'static str {
        match self {
            Promise::Pure(_) => "equal calls of a hook return the same",
            Promise::FallsWithTotal => "a label's score never rises with its total",
            Promise::FollowsFrequency => "of two eligible labels, more votes never score less",
            Promise::VotesForOwnLabel => {
                "each neighbour votes for its own label, if for any vertex"
            }
            Promise::ScoreBound => {
                "no score exceeds the bound of its frequency, and bounds never fall with it"
            }
            Promise::Disagreement => "a label that gains a vote never scores less",
            Promise::LoadNeighbors => "its votes are those of `load_neighbor`",
            Promise::CarryMost => "its result is the largest `carry`",
            Promise::Carries => "if it is false, `carry` returns 0",
            Promise::HasColumns => "if it is false, there are no columns",
        }
    }
}

impl BrokenPromise {
    /// Describes the broken promise in a sentence, with `name` giving vertices their names.
    pub fn describe(&self, name: impl Fn(VertexId) -> String) -> String {
        let label = |label: Label| match label {
            crate::NO_LABEL => "no label".to_owned(),
            label => format!("label {}", name(label)),
        };
        let scored = |of: &Scored| {
            let Scored { frequency, total, score, .. } = of;
            format!(
                "{} has score {score} with frequency {frequency} and total {total}",
                label(of.label)
            )
        };
        let vote = |vote: &Vote| format!("{} votes for {}", vote.weight, label(vote.label));
        let shown = match &self.evidence {
            Evidence::Scores(a, b) => format!("{}, but {}", scored(a), scored(b)),
            Evidence::Bound(a, bound) => format!("{}, above the bound {bound}", scored(a)),
            Evidence::FallingBound([a, b]) => {
                format!("the bound of frequency {} is {}, that of {} is {}", a.0, a.1, b.0, b.1)
            }
            Evidence::Votes { neighbor, found, expected } => {
                let (found, expected) = (vote(found), vote(expected));
                format!("neighbour {} gives {found}, not {expected}", name(*neighbor))
            }
            Evidence::Carried { label: of, found, expected } => {
                let number = |carry: &Option<f32>| {
                    carry.map_or("nothing".to_owned(), |carry| carry.to_string())
                };
                let (found, expected) = (number(found), number(expected));
                format!("{} carries {found}, not {expected}", label(*of))
            }
            Evidence::Columns(names) => format!("the program has the columns {}", names.join(", ")),
            Evidence::Unequal(a, b) => format!("one call returns {a}, the next {b}"),
        };
        format!(
            "`{}` does not hold at vertex {} in round {}: {shown}",
            self.promise.name(),
            name(self.vertex),
            self.round + 1,
        )
    }
}

impl fmt::Display for BrokenPromise {
    /// Writes [`BrokenPromise::describe`] with vertices as numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|v| v.to_string()))
    }
}

impl std::error::Error for BrokenPromise {}
