//! Time profiles of full iterations, with lower bounds; common to all devices.

use crate::RunError;
use crate::rounds::Rounds;
use ripplet_graph::Observer;

/// The time of full iterations: every vertex active, one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Arcs of the graph, each counted as often as it is read: in a directed graph at both ends.
    pub arcs: u64,
    /// The seconds of reading each arc's neighbour and nothing else.
    pub stream: f64,
    /// The seconds of reading each arc's label as well, with labels as in a run's begin: each
    /// vertex its own.
    pub gather: f64,
    /// The iterations in order.
    pub iterations: Vec<Iteration>,
}

/// A full iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// The seconds of the iteration as a whole.
    pub seconds: f64,
    /// The number of vertices that changed.
    pub changed: u64,
    /// The parts, each started and measured separately.
    pub parts: Vec<Part>,
}

/// A part of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// A name that describes the part.
    pub name: &'static str,
    /// The vertices that it processes.
    pub vertices: u64,
    /// Their arcs; 0 if an earlier step counts them.
    pub arcs: u64,
    /// The seconds of the part.
    pub seconds: f64,
}

/// Rounds whose parts can be measured one by one.
#[doc(hidden)]
pub trait Measured: Rounds {
    /// Makes every vertex active.
    fn activate_all(&self);

    /// Returns the number of arcs of the graph, each counted as often as a round reads it.
    fn arcs(&self) -> u64;

    /// Returns the least seconds of reading all neighbours, and of reading all neighbours' labels.
    fn ceilings(&self) -> (f64, f64);

    /// Performs a round whose degree classes choose one after the other, and measures each.
    ///
    /// # Errors
    /// If the observer cancels.
    fn round_in_parts(
        &mut self,
        index: u32,
        observer: &dyn Observer,
    ) -> Result<Vec<Part>, RunError>;
}
