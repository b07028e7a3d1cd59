//! Where the time of full iterations goes, beside what no iteration can beat: the same on any device.

use crate::rounds::Rounds;
use crate::{Observer, RunError};

/// What full iterations take: every vertex active, one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Arcs of the graph, each as often as it is read: of a directed graph at both ends.
    pub arcs: u64,
    /// Seconds that it takes to read each arc's neighbour, and nothing else.
    pub stream: f64,
    /// Seconds that it takes to read each arc's label as well, when labels are vertices.
    pub gather: f64,
    /// The iterations, from the first.
    pub iterations: Vec<Iteration>,
}

/// A full iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Seconds that it took as a whole.
    pub seconds: f64,
    /// Vertices that changed.
    pub changed: u64,
    /// Its parts, each begun and measured for itself.
    pub parts: Vec<Part>,
}

/// A part of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it does.
    pub name: &'static str,
    /// Vertices that it is for.
    pub vertices: u64,
    /// Their arcs; none where these are counted at a step before.
    pub arcs: u64,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Rounds whose parts can be measured one by one.
#[doc(hidden)]
pub trait Measured: Rounds {
    /// Makes every vertex active.
    fn activate_all(&self);

    /// Arcs of the graph, each as often as a round reads it.
    fn arcs(&self) -> u64;

    /// The least seconds of reading all neighbours, and of reading all neighbours' labels.
    fn ceilings(&self) -> (f64, f64);

    /// Does a round whose degree classes choose one after the other, and measures each.
    ///
    /// # Errors
    /// If the observer cancels.
    fn round_in_parts(
        &mut self,
        index: u32,
        observer: &dyn Observer,
    ) -> Result<Vec<Part>, RunError>;
}
