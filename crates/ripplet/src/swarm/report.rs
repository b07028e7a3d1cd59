//! Who watches a swarm, and what is told of one that is done.

/// Who watches a swarm and may end it; `()` does neither.
pub trait SwarmObserver: Sync {
    /// Called on the caller's thread whenever a part is written.
    fn on_progress(&self, _progress: &Progress) {}

    /// Asked often, from any thread: true ends the swarm.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl SwarmObserver for () {}

/// How far a swarm is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Graphs that are done.
    pub graphs: u64,
    /// Vertices of these.
    pub vertices: u64,
    /// The part of the batch that had been read with them, from 0 to 1.
    pub done: f64,
}

/// What there was, and where the time went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// How many graphs.
    pub graphs: u64,
    /// Vertices of all graphs.
    pub vertices: u64,
    /// Stored arcs of all graphs.
    pub arcs: u64,
    /// In how many parts.
    pub parts: u64,
    /// Seconds from the begin to the end.
    pub wall: f64,
    /// Seconds in which the reader was busy.
    pub read: f64,
    /// Of each worker.
    pub workers: Vec<WorkerReport>,
    /// Seconds in which the sink was busy.
    pub write: f64,
}

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerReport {
    /// What it is called.
    pub name: String,
    /// Parts that it answered.
    pub parts: u64,
    /// Seconds in which it was busy.
    pub busy: f64,
    /// What these seconds are made of, as far as the worker tells.
    pub steps: Vec<(&'static str, f64)>,
}

impl Report {
    /// The seconds in which the busiest worker was busy.
    pub fn compute(&self) -> f64 {
        self.workers.iter().map(|worker| worker.busy).fold(0.0, f64::max)
    }

    /// Seconds as a part of all.
    pub fn share(&self, seconds: f64) -> f64 {
        if self.wall > 0.0 { seconds / self.wall } else { 0.0 }
    }
}
