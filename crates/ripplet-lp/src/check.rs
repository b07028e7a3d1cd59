//! Checked mode: tests a program's promises on a sample of a graph's vertices.
//!
//! An engine relies on the [`Hints`](crate::Hints) of a program. A promise that does not hold gives
//! wrong labels without an error; this module finds it first. It compares what an engine may infer
//! from a promise with what the hooks return:
//!
//! | promise | test |
//! |---|---|
//! | hooks are pure functions | two equal calls return the same |
//! | [`falls_with_total`](crate::Hints::falls_with_total) | scores of a label with growing totals |
//! | [`follows_frequency`](crate::Hints::follows_frequency) | scores of a vertex's labels, by frequency |
//! | [`score_bound`](crate::Hints::score_bound) | each score against its bound; bounds of growing frequencies |
//! | [`Activation::Disagreement`] | scores of a label with growing frequencies |
//! | [`load_neighbors`](crate::Hints::load_neighbors) | against one call of the hooks per neighbour |
//! | [`carry_most`](crate::Hints::carry_most) | against one call of the hook per neighbour |
//!
//! Tests use the state before each of the first [`ROUNDS`] rounds, all under
//! [`Schedule::sync`](crate::Schedule::sync). A sample finds a promise that is often broken. That
//! none is found broken is no proof.
//!
//! Memory: that of a run under `sync` and the votes of a vertex on each thread; see [`plan`].
//! Determinism: the sample is drawn by the settings' seed, and
//! the first broken promise of the sample is returned, with any number of threads.
//!
//! [`Activation::Disagreement`]: crate::Activation::Disagreement

use crate::{DynProgram, Label, Plan, RunError, Settings, Vote, cpu};
use ripplet_graph::{GraphView, Observer, VertexId};
use std::fmt;
use thiserror::Error;

/// The rounds before each of which promises are tested. Labels of the first round are unique, so
/// that most labels get one vote; later rounds have more.
pub const ROUNDS: u32 = 4;

/// The number of vertices that the command tests in each round.
pub const SAMPLE: u32 = 1000;

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
    /// [`Hints::score_bound`](crate::Hints::score_bound).
    ScoreBound,
    /// [`Activation::Disagreement`](crate::Activation::Disagreement).
    Disagreement,
    /// [`Hints::load_neighbors`](crate::Hints::load_neighbors).
    LoadNeighbors,
    /// [`Hints::carry_most`](crate::Hints::carry_most).
    CarryMost,
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

/// Tests the promises of a program on `sample` vertices of a graph, or on all if it has fewer.
///
/// The settings provide the seed, initial labels and columns. The work runs on rayon's current
/// pool.
///
/// # Errors
/// With the first broken promise. Also if the settings do not fit, memory is refused, or the
/// observer cancels.
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::check::{Promise, CheckError, check_program};
/// use ripplet_lp::{Settings, hooks::*};
///
/// /// Prefers rare labels, but promises the opposite.
/// struct Contrary;
///
/// impl Program for Contrary {
///     type Score = u64;
///     fn name(&self) -> &str {
///         "contrary"
///     }
///     fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
///         c.total_votes - c.frequency + 1
///     }
/// }
///
/// impl Hints for Contrary {
///     fn follows_frequency(&self) -> bool {
///         true
///     }
/// }
///
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let edges = EdgeTable::new(ids, vec![0, 0], vec![1, 2])?.with_weights(vec![1.0, 5.0])?;
/// let graph = GraphBuilder::new().build(edges)?;
/// let found = check_program(&graph, &Contrary, &Settings::default(), 1000, &());
/// let Err(CheckError::Broken(broken)) = found else { panic!("not found") };
/// assert_eq!(broken.promise, Promise::FollowsFrequency);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_program<'g>(
    graph: impl Into<GraphView<'g>>,
    program: &dyn DynProgram,
    settings: &Settings,
    sample: u32,
    observer: &dyn Observer,
) -> Result<Checked, CheckError> {
    let graph = graph.into();
    settings.check(graph.vertices(), &program.info()).map_err(RunError::from)?;
    let checked = program.check(graph, settings, sample, observer);
    checked.map_err(|error| match error {
        CheckError::Run(error) => {
            let plan = plan(graph, program, settings, sample, rayon::current_num_threads());
            error.planned(plan.algorithm_host()).into()
        }
        broken => broken,
    })
}

/// Returns the memory that [`check_program`] needs, on `threads` threads.
///
/// The memory is free again when the check ends: a run after it adds what exceeds its own plan.
pub fn plan<'g>(
    graph: impl Into<GraphView<'g>>,
    program: &dyn DynProgram,
    settings: &Settings,
    sample: u32,
    threads: usize,
) -> Plan {
    cpu::check::plan(graph.into(), &program.info(), settings, sample, threads)
}

impl Promise {
    /// Returns the promise as a program's text has it.
    pub fn name(self) -> &'static str {
        match self {
            Promise::Pure(hook) => hook,
            Promise::FallsWithTotal => "falls_with_total",
            Promise::FollowsFrequency => "follows_frequency",
            Promise::ScoreBound => "score_bound",
            Promise::Disagreement => "Activation::Disagreement",
            Promise::LoadNeighbors => "load_neighbors",
            Promise::CarryMost => "carry_most",
        }
    }

    /// Returns what holds if the promise does, as a sentence without a full stop.
    pub fn meaning(self) -> &'static str {
        match self {
            Promise::Pure(_) => "equal calls of a hook return the same",
            Promise::FallsWithTotal => "a label's score never rises with its total",
            Promise::FollowsFrequency => "of two eligible labels, more votes never score less",
            Promise::ScoreBound => {
                "no score exceeds the bound of its frequency, and bounds never fall with it"
            }
            Promise::Disagreement => "a label that gains a vote never scores less",
            Promise::LoadNeighbors => "its votes are those of `load_neighbor`",
            Promise::CarryMost => "its result is the largest `carry`",
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
