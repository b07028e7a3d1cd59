//! Detection of suspicious clusters: label propagation from known bad vertices along significant ties.
//!
//! # What it returns
//! [`detect`] scores a window's ties ([`ties`](crate::ties)), spreads the labels of the known bad along them
//! ([`spread`], with the program [`Suspicion`]), and forms clusters ([`gather`]), which
//! [`scores`](crate::scores) scores and ranks.
//!
//! # Cost, memory, determinism
//! One pass over all arcs a round, and a few for ties and clusters. Memory: [`plan`]. The results
//! do not depend on the number of threads or the device, if the schedule is deterministic.
//!
//! # References
//! Ye et al., *GPU-accelerated graph label propagation for real-time fraud detection*, SIGMOD 2021 (the pipeline); Leung,
//! Hui, Liò, Crowcroft, Physical Review E 79, 2009 (attenuation).

mod clusters;
mod spread;
mod suspicion;

pub use clusters::{Detected, Group, gather};
pub use spread::{Spread, WarmStart, spread};
pub use suspicion::{FAINT, Suspicion, suspicion};

pub(crate) use clusters::kept_graph;

use crate::ties::{TieError, TieRule, Ties};
use ripplet_graph::{Graph, InvalidGraph, OutOfMemory, VertexId};
use ripplet_lp::{Executor, Plan, RoundObserver, RunError, Schedule, Settings, Stop};
use thiserror::Error;

/// Options of detection.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Rule by which ties are scored.
    pub ties: TieRule,
    /// Share of its strength that a label keeps at a hop, above 0 and at most 1.
    pub attenuation: f64,
    /// Largest number of rounds of label propagation.
    pub rounds: u32,
    /// Largest number of rounds after a warm start: [`WarmStart`].
    pub warm_rounds: u32,
    /// Smallest size of a cluster.
    pub min_size: u32,
    /// Largest size of a cluster.
    pub max_size: u32,
    /// Whether clusters without a known bad member are found too.
    pub unseeded: bool,
    /// Schedule of updates.
    pub schedule: Schedule,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for Detection {
    /// Half of a strength is kept at a hop, so a label spreads at most 16 hops. Rings have 3 to 100 members:
    /// two are a pair, and more are beyond what an analyst can review.
    fn default() -> Detection {
        Detection {
            ties: TieRule::default(),
            attenuation: 0.5,
            rounds: 50,
            warm_rounds: 4,
            min_size: 3,
            max_size: 100,
            unseeded: true,
            schedule: Schedule::phased(),
            seed: 0,
        }
    }
}

impl Detection {
    /// Reports each option by name.
    pub fn describe(&self, say: &mut impl FnMut(&str, String)) {
        let Detection { ties, attenuation, rounds, warm_rounds, min_size, max_size, .. } = self;
        say("partners in common", if ties.closure { "count" } else { "do not count" }.into());
        say("hub degree", ties.hub_degree.to_string());
        say("share of its strength that a label keeps at a hop", attenuation.to_string());
        say("rounds at most", rounds.to_string());
        say("rounds at most, on from the window before", warm_rounds.to_string());
        say("members of a cluster", format!("{min_size} to {max_size}"));
        say("clusters", if self.unseeded { "all" } else { "around the known bad alone" }.into());
        say("order of updates", self.schedule.description());
        say("seed", self.seed.to_string());
    }

    /// Checks the options that do not depend on a graph.
    ///
    /// # Errors
    /// If the attenuation is out of range, or the size limits contradict.
    pub fn check(&self) -> Result<(), DetectError> {
        if !(self.attenuation > 0.0 && self.attenuation <= 1.0) {
            return Err(DetectError::Attenuation(self.attenuation));
        }
        let (min, max) = (self.min_size, self.max_size);
        if min > max || min == 0 {
            return Err(DetectError::Sizes { min, max });
        }
        Ok(())
    }
}

/// Error of detection.
#[derive(Debug, Error)]
pub enum DetectError {
    /// The attenuation is out of range.
    #[error("an attenuation is above 0 and at most 1 (none), not {0}")]
    Attenuation(f64),
    /// The size limits contradict.
    #[error(
        "a cluster cannot have {min} members at least and {max} at most: the least is 1 or more, and not more than the most"
    )]
    Sizes {
        /// Smallest size.
        min: u32,
        /// Largest size.
        max: u32,
    },
    /// A list names a vertex that does not exist.
    #[error("the {list} names vertex {vertex}, but there are {vertices}")]
    NoSuchVertex {
        /// The list.
        list: &'static str,
        /// The vertex.
        vertex: VertexId,
        /// Number of vertices.
        vertices: u32,
    },
    /// A list is not sorted.
    #[error("the {list} does not ascend at vertex {vertex}: sort it, and name each once")]
    Order {
        /// The list.
        list: &'static str,
        /// The vertex.
        vertex: VertexId,
    },
    /// A vertex is on both lists.
    #[error("vertex {0} is known to be bad and trusted at the same time; take it off one list")]
    Both(VertexId),
    /// Ties could not be scored.
    #[error(transparent)]
    Ties(#[from] TieError),
    /// Label propagation failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The graph of kept ties is invalid.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
}

/// Known vertices at a window's end: both lists ascend, without duplicates, and are disjoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Known bad vertices.
    pub bad: &'a [VertexId],
    /// Trusted vertices.
    pub trusted: &'a [VertexId],
}

impl Known<'_> {
    /// Checks the lists against a graph of `vertices` vertices.
    ///
    /// # Errors
    /// If a vertex does not exist or is on both lists, or a list does not ascend.
    pub fn check(&self, vertices: u32) -> Result<(), DetectError> {
        for (list, of) in [("black list", self.bad), ("white list", self.trusted)] {
            if let Some(&vertex) = of.iter().find(|v| **v >= vertices) {
                return Err(DetectError::NoSuchVertex { list, vertex, vertices });
            }
            if let Some(pair) = of.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(DetectError::Order { list, vertex: pair[1] });
            }
        }
        match self.bad.iter().find(|v| self.trusted.binary_search(v).is_ok()) {
            Some(&vertex) => Err(DetectError::Both(vertex)),
            None => Ok(()),
        }
    }

    /// Whether a vertex is known to be bad.
    #[inline]
    pub fn is_bad(&self, vertex: VertexId) -> bool {
        self.bad.binary_search(&vertex).is_ok()
    }
}

/// Returns the memory that [`detect`] needs beside the window's graph.
pub fn plan(executor: &dyn Executor, graph: &Graph, detection: &Detection) -> Plan {
    let vertices = u64::from(graph.vertices());
    let (program, settings) = (Suspicion::new(detection), settings(detection));
    let columns = 4 * vertices * 6;
    let run = executor.plan_on(graph.into(), &program, &settings);
    let mut plan = Ties::plan(graph);
    plan.items.extend(run.items);
    plan.graph_device = run.graph_device;
    plan.graph_streamed = run.graph_streamed;
    plan.device_items = run.device_items;
    plan.with("labels and strengths", columns).with("kept ties", 8 * graph.arcs() + 8 * vertices)
}

/// Detects clusters in a window.
///
/// `begin` is the state of the previous window for a warm start ([`WarmStart`]).
///
/// # Errors
/// If the options or lists are invalid, memory allocation fails, or the observer cancels.
pub fn detect(
    executor: &dyn Executor,
    graph: &Graph,
    known: Known<'_>,
    detection: &Detection,
    begin: Option<WarmStart<'_>>,
    observer: &mut dyn RoundObserver,
) -> Result<Detected, DetectError> {
    known.check(graph.vertices())?;
    detection.check()?;
    observer.on_stage("judging ties");
    let ties = Ties::of(graph, detection.ties, known.trusted)?;
    let spread = spread(executor, &ties, known, detection, begin, observer)?;
    gather(executor, ties, spread, known, detection, observer)
}

fn settings(detection: &Detection) -> Settings {
    Settings {
        schedule: detection.schedule,
        stop: Stop::after(detection.rounds),
        seed: detection.seed,
        keep_disconnected: true,
        ..Settings::default()
    }
}
