//! Where the time of full iterations goes, beside what no iteration can beat: the same on any device.

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
