//! Quality of communities: from the graph alone ([`Quality`]), and against a ground truth
//! ([`Agreement`]).
//!
//! Labels are arbitrary `u32`s, one per vertex: equal labels are one community. A vertex with
//! [`NO_LABEL`](crate::NO_LABEL) is in no community: its edges count in the total weight, but
//! within no community.
//!
//! **Directed** graphs get directed modularity (Leicht and Newman 2008); a community is connected
//! if it is weakly connected. **Self-loops** count as in the literature: an undirected loop adds
//! twice its weight to its vertex's degree. **Weights** are those of the graph, as stored: sums are
//! exact.
//!
//! **Memory**: [`Quality`] takes at most 20 bytes per vertex beside the graph; see [`agreement`],
//! [`overlap_agreement`] and [`per_community`] for theirs. **Determinism**: sums are of integers,
//! or of floats in an order that does not depend on threads; results are bitwise equal on any
//! number of them.

mod agreement;
mod cover;
mod groups;
mod inside;
mod modularity;
mod omega;
mod overlap;
mod partition;
mod per_community;
mod pool;

pub use agreement::{Agreement, agreement};
pub use cover::Cover;
pub use omega::MOST_OMEGA_STEPS;
pub use overlap::{OverlapAgreement, overlap_agreement};
pub use per_community::{CommunityQuality, per_community};

use crate::communities::split_disconnected;
use modularity::Flows;
use partition::Partition;
use rayon::prelude::*;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{GraphView, OutOfMemory, VertexId, memory};
use ripplet_ranks::{Comm, CommError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;

/// Quality measures of communities, from the graph alone.
///
/// Serialized, the fields have the names of `ripplet quality`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// Modularity: the fraction of edge weight within communities, minus the fraction expected by
    /// chance. Below 1; 0 for a single community or a graph without edges. Newman and Girvan 2004;
    /// directed: Leicht and Newman 2008.
    pub modularity: f64,
    /// The resolution of the modularity: the factor of the expected fraction. 1 is usual; larger
    /// values favour smaller communities. Reichardt and Bornholdt 2006.
    pub resolution: f64,
    /// The fraction of edge weight within communities, from 0 to 1; 0 without edges.
    pub coverage: f64,
    /// The number of communities.
    pub communities: u64,
    /// The number of communities of one vertex.
    pub singletons: u64,
    /// The number of communities whose members are not connected by inner edges.
    pub disconnected: u64,
    /// Sizes of the communities.
    pub sizes: Sizes,
    /// The agreement with a ground truth, if there is one.
    #[serde(flatten)]
    pub agreement: Option<Agreement>,
}

/// Statistics of community sizes, in vertices; zeros without communities.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// The smallest size.
    pub min: u64,
    /// The median size; of an even number, the mean of both middle ones.
    pub median: f64,
    /// The mean size.
    pub mean: f64,
    /// The largest size.
    pub max: u64,
    /// Entry i: the number of communities of 2^i to 2^(i+1) − 1 vertices.
    pub histogram: Vec<u64>,
}

/// Counts of communities by size, where the communities are not all in memory at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeCounts(BTreeMap<u32, u64>);

/// The reason why communities cannot be measured.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum QualityError {
    /// The number of labels differs from the number of vertices.
    #[error("{labels} labels for {vertices} vertices: there must be one for each")]
    Length {
        /// The number of labels.
        labels: usize,
        /// The number of vertices, or of labels to compare with.
        vertices: usize,
    },
    /// The sum of the edge weights does not fit 64 bits.
    #[error("the stored edge weights add up to {total}, more than 64 bits hold; scale them down")]
    Weights {
        /// The sum.
        total: u128,
    },
    /// The resolution is negative or not finite.
    #[error("resolution {resolution}: it must be finite and 0 or above")]
    Resolution {
        /// The resolution.
        resolution: f64,
    },
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
    /// Memory was refused.
    #[error("measuring needs {bytes} more bytes, which this machine refused")]
    OutOfMemory {
        /// The size of the allocation.
        bytes: u64,
    },
}

impl From<OutOfMemory> for QualityError {
    fn from(OutOfMemory { bytes }: OutOfMemory) -> QualityError {
        QualityError::OutOfMemory { bytes }
    }
}

/// Number of communities and modularity, which every run reports; much cheaper than [`Quality`].
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::quality::Summary;
///
/// // Two triangles with one edge between them.
/// let ids = VertexIds::Consecutive { first: 0, count: 6 };
/// let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// let graph = GraphBuilder::new().build(edges)?;
/// let found = Summary::of(&graph, &[0, 0, 0, 3, 3, 3])?;
/// assert_eq!(found.communities, 2);
/// assert!((found.modularity - 5.0 / 14.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The number of communities.
    pub communities: u64,
    /// [`Quality::modularity`], at resolution 1.
    pub modularity: f64,
}

impl Summary {
    /// Returns the summary of communities given by one label per vertex.
    ///
    /// Cost: one pass over the graph. Memory: 8 bytes per vertex and 8 per community.
    ///
    /// # Errors
    /// See [`Quality::of`].
    pub fn of<'g>(
        graph: impl Into<GraphView<'g>>,
        labels: &[u32],
    ) -> Result<Summary, QualityError> {
        let graph = graph.into();
        check_length(graph, labels)?;
        let partition = Partition::of(labels)?;
        let modularity = Flows::of(graph, &partition)?.modularity(1.0);
        Ok(Summary { communities: u64::from(partition.count), modularity })
    }

    /// Returns the summary of communities on each of several ranks, which call it at the same time with the same labels.
    ///
    /// Each rank reads the lists of the vertices `own` alone, of which every vertex is one rank's. The value is that of
    /// [`Summary::of`]. Memory: that of [`Summary::of`], and a message of 8 bytes per community, 16 if the graph is
    /// directed.
    ///
    /// # Errors
    /// See [`Quality::of`]; [`QualityError::Ranks`] if a message fails.
    ///
    /// # Panics
    /// If a vertex of `own` is not below [`GraphView::vertices`].
    pub fn of_ranks<'g>(
        graph: impl Into<GraphView<'g>>,
        labels: &[u32],
        own: Range<VertexId>,
        comm: &mut Comm,
    ) -> Result<Summary, QualityError> {
        let graph = graph.into();
        check_length(graph, labels)?;
        let partition = Partition::of(labels)?;
        let modularity = Flows::of_ranks(graph, &partition, own, comm)?.modularity(1.0);
        Ok(Summary { communities: u64::from(partition.count), modularity })
    }
}

impl Quality {
    /// Returns the quality of communities given by one label per vertex, at resolution 1.
    ///
    /// Cost: two passes over the graph.
    ///
    /// # Errors
    /// If the number of labels differs from the number of vertices, if the sum of the weights
    /// exceeds 64 bits, or if memory is refused.
    pub fn of<'g>(
        graph: impl Into<GraphView<'g>>,
        labels: &[u32],
    ) -> Result<Quality, QualityError> {
        Quality::at_resolution(graph, labels, 1.0)
    }

    /// Returns the quality of communities given by one label per vertex, at a given resolution of
    /// the modularity.
    ///
    /// # Errors
    /// See [`Quality::of`]; also if the resolution is negative or not finite.
    pub fn at_resolution<'g>(
        graph: impl Into<GraphView<'g>>,
        labels: &[u32],
        resolution: f64,
    ) -> Result<Quality, QualityError> {
        Quality::at_resolution_in(graph.into(), labels, resolution)
    }

    fn at_resolution_in(
        graph: GraphView<'_>,
        labels: &[u32],
        resolution: f64,
    ) -> Result<Quality, QualityError> {
        check_length(graph, labels)?;
        if !(resolution.is_finite() && resolution >= 0.0) {
            return Err(QualityError::Resolution { resolution });
        }
        let partition = Partition::of(labels)?;
        let flows = Flows::of(graph, &partition)?;
        let sizes = partition.sizes()?;
        Ok(Quality {
            modularity: flows.modularity(resolution),
            resolution,
            coverage: flows.coverage(),
            communities: sizes.len() as u64,
            singletons: sizes.par_iter().with_min_len(MIN_LEN).filter(|&&size| size == 1).count()
                as u64,
            disconnected: disconnected(graph, &partition)?,
            sizes: Sizes::of(sizes),
            agreement: None,
        })
    }

    /// Adds the agreement of `labels` with a ground truth.
    ///
    /// # Errors
    /// See [`agreement`].
    pub fn against(mut self, labels: &[u32], truth: &[u32]) -> Result<Quality, QualityError> {
        self.agreement = Some(agreement(labels, truth)?);
        Ok(self)
    }
}

impl Sizes {
    /// Returns statistics of community sizes in any order; sizes of 0 are ignored.
    ///
    /// Cost: linear.
    pub fn of(mut sizes: Vec<u32>) -> Sizes {
        sizes.retain(|&size| size > 0);
        let (Some(&min), Some(&max)) = (sizes.iter().min(), sizes.iter().max()) else {
            return Sizes::default();
        };
        let count = sizes.len();
        let mut histogram = vec![0; max.ilog2() as usize + 1];
        sizes.iter().for_each(|size| histogram[size.ilog2() as usize] += 1);
        let sum: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let (below, &mut upper, _) = sizes.select_nth_unstable(count / 2);
        let lower = match count % 2 {
            0 => below.iter().copied().max().unwrap_or(upper),
            _ => upper,
        };
        Sizes::new([min, max], [lower, upper], sum as f64 / count as f64, histogram)
    }

    /// Puts the figures together; the median is between the two sizes in the middle.
    fn new([min, max]: [u32; 2], middle: [u32; 2], mean: f64, histogram: Vec<u64>) -> Sizes {
        let [lower, upper] = middle.map(f64::from);
        let (min, max) = (u64::from(min), u64::from(max));
        Sizes { min, median: (lower + upper) / 2.0, mean, max, histogram }
    }

    /// Returns the number of communities.
    pub fn count(&self) -> u64 {
        self.histogram.iter().sum()
    }
}

impl SizeCounts {
    /// Counts a community, unless it is empty.
    pub fn add(&mut self, size: u32) {
        if size > 0 {
            *self.0.entry(size).or_default() += 1;
        }
    }

    /// Returns the figures of the sizes counted so far.
    pub fn sizes(&self) -> Sizes {
        let (Some(&min), Some(&max)) = (self.0.keys().next(), self.0.keys().next_back()) else {
            return Sizes::default();
        };
        let mut histogram = vec![0; max.ilog2() as usize + 1];
        self.0.iter().for_each(|(size, count)| histogram[size.ilog2() as usize] += count);
        let count: u64 = histogram.iter().sum();
        let sum: u128 = self.0.iter().map(|(&size, &n)| u128::from(size) * u128::from(n)).sum();
        let middle = [self.at((count - 1) / 2), self.at(count / 2)];
        Sizes::new([min, max], middle, sum as f64 / count as f64, histogram)
    }

    /// Returns the size at a place, from 0, in ascending order.
    fn at(&self, place: u64) -> u32 {
        let mut before = 0;
        let reaches = |(_, count): &(&u32, &u64)| {
            before += **count;
            before > place
        };
        self.0.iter().find(reaches).map_or(0, |(&size, _)| size)
    }
}

fn check_length(graph: GraphView<'_>, labels: &[u32]) -> Result<(), QualityError> {
    let (labels, vertices) = (labels.len(), graph.vertices() as usize);
    if labels == vertices { Ok(()) } else { Err(QualityError::Length { labels, vertices }) }
}

/// Returns the number of communities that are not connected.
fn disconnected(graph: GraphView<'_>, partition: &Partition) -> Result<u64, QualityError> {
    let mut parts = memory::copied(&partition.communities)?;
    let refused = |_| QualityError::OutOfMemory { bytes: parts_bytes(graph) };
    split_disconnected(graph, &mut parts, &|| false).map_err(refused)?;
    // Each part contains exactly one vertex that names it, its smallest.
    let mut parts_of = memory::zeros::<u32>(partition.count as usize)?;
    for (vertex, (&part, &community)) in parts.iter().zip(&partition.communities).enumerate() {
        if let Some(parts) = parts_of.get_mut(community as usize) {
            *parts += u32::from(part == vertex as u32);
        }
    }
    Ok(parts_of.par_iter().with_min_len(MIN_LEN).filter(|&&parts| parts > 1).count() as u64)
}

fn parts_bytes(graph: GraphView<'_>) -> u64 {
    u64::from(graph.vertices()) * 4
}
