//! Sums of weights within and at communities, for modularity and coverage.

use super::QualityError;
use super::partition::{OUTSIDE, Partition};
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::{Direction, GraphView, OutOfMemory, dispatch_storage, memory};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Stored weights, summed over the communities of a graph.
///
/// | field | directed | undirected |
/// |---|---|---|
/// | `total` | all edges | both directions of all edges: a loop counts twice |
/// || `within` | edges inside communities | both directions of edges inside communities |
/// | `by_chance` | Σ out-degree · in-degree | Σ degree² |
pub(super) struct Flows {
    total: u64,
    within: u64,
    by_chance: u128,
}

/// The sums of a part of the vertices.
#[derive(Clone, Copy, Default)]
struct Sums {
    total: u128,
    within: u128,
}

impl Flows {
    pub(super) fn of(graph: GraphView<'_>, partition: &Partition) -> Result<Flows, QualityError> {
        let directed = graph.direction() == Direction::Directed;
        dispatch_storage!(graph, graph => Flows::of_shards(graph.shards(), directed, partition))
    }

    fn of_shards(
        shards: &[impl ShardLists],
        directed: bool,
        partition: &Partition,
    ) -> Result<Flows, QualityError> {
        let leaving = zeros(partition.count)?;
        let entering = zeros(if directed { partition.count } else { 0 })?;
        let mut sums = Sums::default();
        for shard in shards {
            let part = sum_shard(shard, partition, directed, &leaving);
            sums.total += part.total;
            sums.within += part.within;
            if let Some(list) = shard.incoming() {
                degrees_of(shard, list, partition, &entering);
            }
        }
        // Degrees of communities are parts of the total: if it fits, they have not wrapped.
        let total = u64::try_from(sums.total);
        let total = total.map_err(|_| QualityError::Weights { total: sums.total })?;
        let other = if directed { &entering } else { &leaving };
        let product = |(a, b): (&AtomicU64, &AtomicU64)| {
            u128::from(a.load(Relaxed)) * u128::from(b.load(Relaxed))
        };
        let by_chance = leaving.par_iter().zip(other).map(product).sum();
        Ok(Flows { total, within: sums.within as u64, by_chance })
    }

    pub(super) fn coverage(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.within as f64 / self.total as f64 }
    }

    pub(super) fn modularity(&self, resolution: f64) -> f64 {
        if self.total == 0 {
            return 0.0;
        }
        let total = self.total as f64;
        self.coverage() - resolution * (self.by_chance as f64 / total / total)
    }
}

/// Sums up a shard's out-lists, and adds each vertex's strength to its community in `leaving`.
fn sum_shard(
    shard: &impl ShardLists,
    partition: &Partition,
    directed: bool,
    leaving: &[AtomicU64],
) -> Sums {
    let (first, list) = (shard.vertices().start, shard.out());
    let vertices = (0..shard.vertices().len()).into_par_iter().with_min_len(256);
    let sums = vertices.map(|local| {
        let vertex = first + local as u32;
        let community = partition.communities[vertex as usize];
        let (mut degree, mut within) = (0u64, 0u64);
        list.for_each_arc(local, |neighbor, weight| {
            // An undirected loop is stored once, but counts at both ends.
            let weight = if neighbor == vertex && !directed { 2 * weight } else { weight };
            degree += weight;
            if partition.communities[neighbor as usize] == community && community != OUTSIDE {
                within += weight;
            }
        });
        add(leaving, community, degree);
        Sums { total: u128::from(degree), within: u128::from(within) }
    });
    sums.reduce(Sums::default, |a, b| Sums {
        total: a.total + b.total,
        within: a.within + b.within,
    })
}

/// Adds the strength of each vertex's list to its community.
fn degrees_of<S: ShardLists>(
    shard: &S,
    list: S::Lists<'_>,
    partition: &Partition,
    sums: &[AtomicU64],
) {
    let first = shard.vertices().start as usize;
    (0..shard.vertices().len()).into_par_iter().with_min_len(256).for_each(|local| {
        let community = partition.communities[first + local];
        add(sums, community, list.strength_of(local));
    });
}

/// Adds to a community's sum; does nothing for a vertex outside of all communities.
#[inline]
fn add(sums: &[AtomicU64], community: u32, degree: u64) {
    if let Some(sum) = sums.get(community as usize) {
        sum.fetch_add(degree, Relaxed);
    }
}

fn zeros(count: u32) -> Result<Vec<AtomicU64>, OutOfMemory> {
    let mut array = memory::with_room(count as usize)?;
    array.resize_with(count as usize, || AtomicU64::new(0));
    Ok(array)
}
