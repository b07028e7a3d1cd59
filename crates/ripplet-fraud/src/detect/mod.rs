//! From who is known to be bad to clusters: label propagation along ties beyond chance.
//!
//! # What it returns
//! [`detect`] judges a window's ties ([`ties`](crate::ties)), lets the labels of the known bad spread along them
//! ([`spread`]; the program is [`Suspicion`]), and gathers clusters ([`gather`]), which [`scores`](crate::scores) scores
//! and ranks.
//!
//! # Cost, memory, determinism
//! Passes over all arcs: one a round, and a few for ties and clusters. Memory: [`plan`]. The same results on any
//! number of threads and any device, for schedules that are.
//!
//! # References
//! Ye et al., *GPU-accelerated graph label propagation for real-time fraud detection*, SIGMOD 2021 (the pipeline); Leung,
//! Hui, Liò, Crowcroft, Physical Review E 79, 2009 (attenuation).

mod clusters;
mod spread;
mod suspicion;

pub use clusters::{Detected, Group, gather};
pub use spread::{Begin, Spread, spread};
pub use suspicion::{FAINT, Suspicion, suspicion};

use crate::ties::{TieError, TieRule, Ties};
use ripplet_graph::{Graph, InvalidGraph, OutOfMemory, VertexId};
use ripplet_lp::{Executor, Observer, Plan, RunError, Schedule, Settings, Stop};
use thiserror::Error;

/// How to detect.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// How ties are judged.
    pub ties: TieRule,
    /// The share of its strength that a label keeps at a hop, above 0 and at most 1.
    pub attenuation: f64,
    /// Rounds of label propagation, at most.
    pub rounds: u32,
    /// Rounds of one that goes on from the window before, at most: [`Begin`].
    pub rounds_on: u32,
    /// Members that a cluster has at least.
    pub min_size: u32,
    /// Members that a cluster has at most.
    pub max_size: u32,
    /// Whether clusters without anybody known are found too.
    pub unseeded: bool,
    /// Which vertices update when.
    pub schedule: Schedule,
    /// What all draws depend on.
    pub seed: u64,
}

impl Default for Detection {
    /// Half of a strength goes on at a hop: nothing comes further than 16. Rings have from 3 to 100 members: two are a
    /// pair, and more than an analyst can look at are no cluster.
    fn default() -> Detection {
        Detection {
            ties: TieRule::default(),
            attenuation: 0.5,
            rounds: 50,
            rounds_on: 4,
            min_size: 3,
            max_size: 100,
            unseeded: true,
            schedule: Schedule::phased(),
            seed: 0,
        }
    }
}

impl Detection {
    /// Tells each choice by its name.
    pub fn describe(&self, say: &mut impl FnMut(&str, String)) {
        let Detection { ties, attenuation, rounds, rounds_on, min_size, max_size, .. } = self;
        say("partners in common", if ties.closure { "count" } else { "do not count" }.into());
        say("partners from which on one is a hub", (u64::from(ties.hub_degree) + 1).to_string());
        say("share of its strength that a label keeps at a hop", attenuation.to_string());
        say("rounds at most", rounds.to_string());
        say("rounds at most, on from the window before", rounds_on.to_string());
        say("members of a cluster", format!("{min_size} to {max_size}"));
        say("clusters", if self.unseeded { "all" } else { "around the known bad alone" }.into());
        say("order of updates", self.schedule.description());
        say("seed", self.seed.to_string());
    }

    /// Checks what does not depend on a graph.
    ///
    /// # Errors
    /// Where a share is none, or limits exclude one another.
    pub fn check(&self) -> Result<(), DetectError> {
        if !(self.attenuation > 0.0 && self.attenuation <= 1.0) {
            return Err(DetectError::Attenuation(self.attenuation));
        }
        let (min, max) = (self.min_size, self.max_size);
        if min > max || max == 0 {
            return Err(DetectError::Sizes { min, max });
        }
        Ok(())
    }
}

/// Why nothing was detected.
#[derive(Debug, Error)]
pub enum DetectError {
    /// The attenuation is no share.
    #[error("an attenuation is above 0 and at most 1 (none), not {0}")]
    Attenuation(f64),
    /// The limits exclude one another.
    #[error("a cluster cannot have {min} members at least and {max} at most")]
    Sizes {
        /// Members at least.
        min: u32,
        /// Members at most.
        max: u32,
    },
    /// A list names who is not there.
    #[error("the {list} names vertex {vertex}, but there are {vertices}")]
    NoSuchVertex {
        /// The list.
        list: &'static str,
        /// The vertex.
        vertex: VertexId,
        /// Vertices there are.
        vertices: u32,
    },
    /// A list is not in order.
    #[error("the {list} does not ascend at vertex {vertex}: sort it, and name each once")]
    Order {
        /// The list.
        list: &'static str,
        /// The vertex.
        vertex: VertexId,
    },
    /// Somebody is on both lists.
    #[error("vertex {0} is known to be bad and trusted at the same time; take it off one list")]
    Both(VertexId),
    /// Ties could not be judged.
    #[error(transparent)]
    Ties(#[from] TieError),
    /// Label propagation failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The graph of kept ties.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
}

/// Who is known at a window's end: vertices, ascending, each once, nobody on both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Known to be bad.
    pub bad: &'a [VertexId],
    /// Trusted.
    pub trusted: &'a [VertexId],
}

impl Known<'_> {
    /// Checks them against a graph of so many vertices.
    ///
    /// # Errors
    /// Where somebody is not there, or on both lists, or a list does not ascend.
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

/// Bytes that [`detect`] needs beside the window's graph.
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
/// `begin`: where the labels came in the window before, to go on from ([`Begin`]).
///
/// # Errors
/// Where the options or lists are wrong, memory is refused, or the observer cancels.
pub fn detect(
    executor: &dyn Executor,
    graph: &Graph,
    known: Known<'_>,
    detection: &Detection,
    begin: Option<Begin<'_>>,
    observer: &mut dyn Observer,
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
