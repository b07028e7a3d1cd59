//! Observers and reports of a swarm.

use ripplet_graph::Observer;

/// An observer of a swarm: it also follows the parts.
///
/// `()` ignores all events and never cancels. Of [`Observer`], a swarm calls
/// [`is_cancelled`](Observer::is_cancelled) alone.
pub trait SwarmObserver: Observer {
    /// Called on the caller's thread after each written part.
    fn on_part(&self, _progress: &Progress) {}
}

impl SwarmObserver for () {}

/// The progress of a swarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The number of completed graphs.
    pub graphs: u64,
    /// The number of their vertices.
    pub vertices: u64,
    /// The fraction of the batch that was read up to these graphs, from 0 to 1.
    pub done: f64,
}

/// Statistics of a swarm: sizes and times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The number of graphs.
    pub graphs: u64,
    /// Vertices of all graphs.
    pub vertices: u64,
    /// Stored arcs of all graphs.
    pub arcs: u64,
    /// The number of parts.
    pub parts: u64,
    /// Seconds from begin to end.
    pub wall: f64,
    /// Seconds in which the reader was busy.
    pub read: f64,
    /// Statistics per worker.
    pub workers: Vec<WorkerReport>,
    /// Seconds in which the sink was busy.
    pub write: f64,
}

/// Statistics of a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerReport {
    /// The worker's name.
    pub name: String,
    /// The number of parts that it answered.
    pub parts: u64,
    /// Seconds in which it was busy.
    pub busy: f64,
    /// These seconds by step, as far as the worker reports them.
    pub steps: Vec<(&'static str, f64)>,
}

impl Report {
    /// Returns the seconds in which the busiest worker was busy.
    pub fn compute(&self) -> f64 {
        self.workers.iter().map(|worker| worker.busy).fold(0.0, f64::max)
    }

    /// Returns seconds as a fraction of the total time.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.wall > 0.0 { seconds / self.wall } else { 0.0 }
    }
}
