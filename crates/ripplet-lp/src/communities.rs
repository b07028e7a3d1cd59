//! The finish: a community whose members do not hang together becomes several.
//!
//! Label propagation can leave a label on both sides of a vertex that meanwhile took another one.
//! Such a community is no community; splitting it never lowers modularity.
//!
//! Algorithm: union-find over the arcs within communities, lock-free, a larger root always linked
//! below a smaller one, so that the root is the smallest vertex whatever the threads do.
//! Memory: 4 bytes a vertex. Directed graphs: connected means connected in either direction.

use crate::{Label, RunError};
use rayon::prelude::*;
use ripplet_graph::{Graph, Shard, VertexId};
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices whose arcs are joined between two looks at whether to go on.
const VERTICES_PER_TASK: usize = 4096;

/// Gives each connected part of each community a label of its own: the part's smallest vertex.
///
/// Returns how many communities that added. `labels` may hold any values, one a vertex.
///
/// # Errors
/// [`RunError::Cancelled`] where `is_cancelled` says so, [`RunError::OutOfMemory`] where the
/// system refuses 4 bytes a vertex; `labels` is then unchanged.
pub fn split_disconnected(
    graph: &Graph,
    labels: &mut [Label],
    is_cancelled: impl Fn() -> bool + Sync,
) -> Result<u32, RunError> {
    let mut parents = Vec::new();
    parents
        .try_reserve_exact(labels.len())
        .map_err(|_| RunError::OutOfMemory { bytes: labels.len() as u64 * 4 })?;
    parents.par_extend((0..graph.vertices()).into_par_iter().map(AtomicU32::new));

    let before = count_distinct(labels, graph.vertices());
    for shard in graph.shards() {
        let tasks = shard.vertices().len().div_ceil(VERTICES_PER_TASK);
        (0..tasks).into_par_iter().try_for_each(|task| {
            if is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let first = shard.vertices().start + (task * VERTICES_PER_TASK) as u32;
            let end = first.saturating_add(VERTICES_PER_TASK as u32).min(shard.vertices().end);
            join(shard, first..end, labels, &parents);
            Ok(())
        })?;
    }
    labels.par_iter_mut().enumerate().for_each(|(v, label)| *label = root(&parents, v as u32));
    let after = labels.par_iter().enumerate().filter(|(v, label)| *v as u32 == **label).count();
    Ok((after as u64 - before) as u32)
}

/// Joins each of some vertices with its neighbours of the same label.
fn join(shard: &Shard, vertices: Range<VertexId>, labels: &[Label], parents: &[AtomicU32]) {
    let lists = shard.out();
    for v in vertices {
        let list = lists.of((v - shard.vertices().start) as usize);
        // An undirected edge stands in both ends' lists: once is enough.
        let list = match shard.incoming() {
            None => &list[..list.partition_point(|&u| u < v)],
            Some(_) => list,
        };
        let label = labels[v as usize];
        let mut top = root(parents, v);
        for &u in list {
            if labels[u as usize] == label && parents[u as usize].load(Relaxed) != top {
                top = unite(parents, u, top);
            }
        }
    }
}

/// The number of distinct labels: vertices are marked, anything else is sorted.
fn count_distinct(labels: &[Label], vertices: u32) -> u64 {
    let words: Vec<AtomicU32> = (0..vertices.div_ceil(32)).map(|_| AtomicU32::new(0)).collect();
    let mut strangers: Vec<Label> = labels
        .par_iter()
        .copied()
        .filter(|&label| {
            let stranger = label >= vertices;
            if !stranger {
                let (word, bit) = (&words[label as usize / 32], 1 << (label % 32));
                if word.load(Relaxed) & bit == 0 {
                    word.fetch_or(bit, Relaxed);
                }
            }
            stranger
        })
        .collect();
    strangers.sort_unstable();
    strangers.dedup();
    let marked: u64 = words.iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum();
    marked + strangers.len() as u64
}

/// The root of `v`'s tree; shortens the path on the way.
fn root(parents: &[AtomicU32], mut v: VertexId) -> VertexId {
    loop {
        let parent = parents[v as usize].load(Relaxed);
        if parent == v {
            return v;
        }
        let grandparent = parents[parent as usize].load(Relaxed);
        if grandparent != parent {
            // Only ever shortens: whoever else writes here writes an ancestor too.
            parents[v as usize].store(grandparent, Relaxed);
        }
        v = grandparent;
    }
}

/// Joins two trees, the larger root below the smaller, which is returned.
fn unite(parents: &[AtomicU32], a: VertexId, b: VertexId) -> VertexId {
    let (mut a, mut b) = (root(parents, a), root(parents, b));
    while a != b {
        let (small, large) = (a.min(b), a.max(b));
        match parents[large as usize].compare_exchange(large, small, Relaxed, Relaxed) {
            Ok(_) => return small,
            Err(_) => (a, b) = (root(parents, small), root(parents, large)),
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};

    #[test]
    fn parts_are_named_by_their_smallest_vertex() {
        // 0–1  2–3, all of label 3; 4 alone with a label that is no vertex; 5–6 of label 4.
        let ids = VertexIds::Consecutive { first: 0, count: 7 };
        let edges = EdgeTable::new(ids, vec![1, 3, 6, 4], vec![0, 2, 5, 0]).unwrap();
        let graph = GraphBuilder::new().build(edges).unwrap();
        let mut labels = [3, 3, 3, 3, u32::MAX, 4, 4];
        assert_eq!(split_disconnected(&graph, &mut labels, || false), Ok(1));
        assert_eq!(labels, [0, 0, 2, 2, 4, 5, 5]);
        assert_eq!(split_disconnected(&graph, &mut labels, || false), Ok(0));
        assert_eq!(split_disconnected(&graph, &mut labels, || true), Err(RunError::Cancelled));
    }
}
