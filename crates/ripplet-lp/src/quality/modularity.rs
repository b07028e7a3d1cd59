//! Sums of weights within and at communities, for modularity and coverage.

use super::QualityError;
use super::partition::{OUTSIDE, Partition};
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{
    Direction, GraphView, OutOfMemory, VertexId, dispatch_lists, dispatch_storage, memory,
};
use ripplet_ranks::Comm;
use std::ops::Range;
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
            let locals = 0..shard.vertices().len();
            let first = shard.vertices().start;
            let part = sum_lists(first, locals.clone(), shard.out(), partition, directed, &leaving);
            sums.total += part.total;
            sums.within += part.within;
            if let Some(list) = shard.incoming() {
                degrees_of(first, locals, list, partition, &entering);
            }
        }
        let other = if directed { &entering } else { &leaving };
        let product = |(a, b): (&AtomicU64, &AtomicU64)| {
            u128::from(a.load(Relaxed)) * u128::from(b.load(Relaxed))
        };
        sums.flows(|| leaving.par_iter().zip(other).with_min_len(MIN_LEN).map(product).sum())
    }

    /// Returns the sums of all ranks, each by the lists of its own vertices, on each of them.
    ///
    /// Communities are dealt out to the ranks, which receive the parts of their degrees and sum up their products.
    pub(super) fn of_ranks(
        graph: GraphView<'_>,
        partition: &Partition,
        own: Range<VertexId>,
        comm: &mut Comm,
    ) -> Result<Flows, QualityError> {
        let directed = graph.direction() == Direction::Directed;
        let leaving = zeros(partition.count)?;
        let entering = zeros(if directed { partition.count } else { 0 })?;
        let locals = own.start as usize..own.end as usize;
        let sums = dispatch_lists!(graph, (out, incoming) => {
            if directed {
                degrees_of(0, locals.clone(), incoming, partition, &entering);
            }
            sum_lists(0, locals, out, partition, directed, &leaving)
        });
        let share = |rank: usize| {
            let bound = |rank: usize| partition.count as usize * rank / comm.size();
            bound(rank)..bound(rank + 1)
        };
        let mut to: Vec<Vec<u64>> = Vec::new();
        for rank in 0..comm.size() {
            let mut degrees = memory::with_room(share(rank).len() * (1 + usize::from(directed)))?;
            for list in [Some(&leaving), directed.then_some(&entering)].into_iter().flatten() {
                let part = list.get(share(rank)).unwrap_or_default();
                degrees.extend(part.iter().map(|degree| degree.load(Relaxed)));
            }
            to.push(degrees);
        }
        let count = share(comm.rank()).len();
        drop((leaving, entering));
        let received = comm.all_to_all("degrees of communities", &to)?;
        drop(to);
        let degree = |at: usize| -> u64 {
            let degrees = received.iter().map(|degrees| degrees.get(at).copied().unwrap_or(0));
            degrees.fold(0, u64::wrapping_add)
        };
        let product = |community: usize| {
            let other = if directed { degree(count + community) } else { degree(community) };
            u128::from(degree(community)) * u128::from(other)
        };
        let by_chance: u128 = (0..count).map(product).sum();
        let words = [sums.total, sums.within, by_chance];
        let halves = words.map(|word| [word as u64, (word >> 64) as u64]);
        let word = |[low, high]: [u64; 2]| u128::from(low) | u128::from(high) << 64;
        let add = |a: [[u64; 2]; 3], b: [[u64; 2]; 3]| {
            std::array::from_fn(|at| {
                let sum = word(a[at]).wrapping_add(word(b[at]));
                [sum as u64, (sum >> 64) as u64]
            })
        };
        let [total, within, by_chance] = comm.all_reduce("modularity", halves, add)?.map(word);
        Sums { total, within }.flows(|| by_chance)
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

impl Sums {
    /// Returns the flows, unless the total does not fit 64 bits.
    fn flows(self, by_chance: impl FnOnce() -> u128) -> Result<Flows, QualityError> {
        // Degrees of communities are parts of the total: if it fits, they have not wrapped.
        let total = u64::try_from(self.total);
        let total = total.map_err(|_| QualityError::Weights { total: self.total })?;
        Ok(Flows { total, within: self.within as u64, by_chance: by_chance() })
    }
}

/// Sums up out-lists, whose vertex 0 is `first`, and adds each vertex's strength to its community in `leaving`.
fn sum_lists(
    first: VertexId,
    locals: Range<usize>,
    list: impl NeighborLists,
    partition: &Partition,
    directed: bool,
    leaving: &[AtomicU64],
) -> Sums {
    let vertices = locals.into_par_iter().with_min_len(256);
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

/// Adds the strength of each vertex's list to its community; vertex 0 of the lists is `first`.
fn degrees_of(
    first: VertexId,
    locals: Range<usize>,
    list: impl NeighborLists,
    partition: &Partition,
    sums: &[AtomicU64],
) {
    locals.into_par_iter().with_min_len(256).for_each(|local| {
        let community = partition.communities[first as usize + local];
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
