//! Statistics of a vertex's distances: counts, sums, and the largest.

/// Distance statistics of a vertex: number of reachable vertices, sum and maximum of the distances.
///
/// The vertex itself does not count. Distances are sums of stored weights, or numbers of arcs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// The number of vertices that it has a path to.
    pub reached: u64,
    /// The sum of the distances to them.
    pub far: u128,
    /// The largest of these distances, the vertex's eccentricity; 0 without any.
    pub farthest: u64,
}

impl Reach {
    /// Returns the average distance to the reachable vertices; 0 without any.
    pub fn average(self) -> f64 {
        if self.reached == 0 { 0.0 } else { self.far as f64 / self.reached as f64 }
    }
}

/// The number of sources that reach a vertex, and the sum of their distances in arcs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Distances {
    pub reached: u64,
    pub far: u64,
}

/// The distances in arcs, and the largest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub distances: Distances,
    pub farthest: u32,
}

impl From<&Extent> for Reach {
    fn from(found: &Extent) -> Reach {
        let (reached, far) = (found.distances.reached, u128::from(found.distances.far));
        Reach { reached, far, farthest: u64::from(found.farthest) }
    }
}

/// The sum of 1 / distance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nearness(pub f64);
