//! Splitting of disconnected communities: each connected part becomes a community.
//!
//! Label propagation can leave a label on both sides of a vertex that has since adopted another
//! one. The label's vertices are then not connected. Splitting such a community never lowers
//! modularity.
//!
//! Algorithm: lock-free union-find within communities. A larger root is always linked below a
//! smaller one, so that the root is the smallest vertex for any order of the threads. As in
//! Afforest, each vertex is first united with only two of its neighbours; this connects nearly
//! every community that is connected. Only the members of the remaining communities have all their
//! arcs read.
//!
//! Vertices without a label are in no community and stay without one.
//!
//! Memory: 4 bytes and 2 bits per vertex. Directed graphs: parts are weakly connected.
//!
//! Reference: Sutton, Ben-Nun, Barak, *Optimizing parallel graph connectivity computation via
//! subgraph sampling*, IPDPS 2018.

use crate::disjoint_sets::DisjointSets;
use crate::{Label, RunError};
use rayon::prelude::*;
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{GraphView, OutOfMemory, VertexId, dispatch_storage, memory};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Vertices of a task: the run polls for cancellation between tasks.
const VERTICES_PER_TASK: usize = 4096;

/// Gives each connected part of each community its own label: the part's smallest vertex.
///
/// Returns the number of communities that this adds. Labels that are not vertices stay as they are.
///
/// # Errors
/// [`RunError::Cancelled`] if `is_cancelled` returns true, [`RunError::Array`] if the system refuses 4
/// bytes per vertex; `labels` is then unchanged.
pub(crate) fn split_disconnected(
    graph: GraphView<'_>,
    labels: &mut [Label],
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<u32, RunError> {
    dispatch_storage!(graph, graph => split(graph.shards(), labels, is_cancelled))
}

fn split(
    shards: &[impl ShardLists],
    labels: &mut [Label],
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<u32, RunError> {
    let vertices = labels.len() as u32;
    let refused = RunError::Array;
    let mut parents: Vec<AtomicU32> = memory::with_room(labels.len()).map_err(refused)?;
    parents.par_extend((0..vertices).into_par_iter().with_min_len(MIN_LEN).map(AtomicU32::new));
    let forest = Forest { sets: DisjointSets::new(&parents), labels };
    let seen = Marks::new(vertices).map_err(refused)?;
    let several = Marks::new(vertices).map_err(refused)?;

    for_each_part(shards, is_cancelled, |shard, part| forest.sample(shard, part))?;
    let is_part = |v: u32| labels[v as usize] < vertices && forest.sets.root(v) == v;
    (0..vertices).into_par_iter().with_min_len(MIN_LEN).filter(|&v| is_part(v)).for_each(|v| {
        if seen.set(labels[v as usize]) {
            several.set(labels[v as usize]);
        }
    });
    for_each_part(shards, is_cancelled, |shard, part| forest.join(shard, part, &several))?;

    let roots: Vec<Label> = parents.into_iter().map(AtomicU32::into_inner).collect();
    let labelled = labels
        .par_iter_mut()
        .enumerate()
        .with_min_len(MIN_LEN)
        .filter(|(_, label)| **label < vertices);
    let parts = labelled.map(|(v, label)| {
        let mut root = v as u32;
        while roots[root as usize] != root {
            root = roots[root as usize];
        }
        *label = root;
        u32::from(root == v as u32)
    });
    let parts: u32 = parts.sum();
    Ok(parts - seen.count())
}

/// Returns the bytes that splitting needs.
pub(crate) fn bytes_for(vertices: u32) -> u64 {
    4 * u64::from(vertices) + 2 * u64::from(vertices).div_ceil(64) * 8
}

/// Calls `visit` with ranges of vertices of one shard each, in parallel.
fn for_each_part<S: ShardLists>(
    shards: &[S],
    is_cancelled: &(dyn Fn() -> bool + Sync),
    visit: impl Fn(&S, Range<VertexId>) + Sync,
) -> Result<(), RunError> {
    shards.iter().try_for_each(|shard| {
        let Range { start, end } = shard.vertices();
        (start..end).into_par_iter().step_by(VERTICES_PER_TASK).try_for_each(|first| {
            if is_cancelled() {
                return Err(RunError::Cancelled);
            }
            visit(shard, first..first.saturating_add(VERTICES_PER_TASK as u32).min(end));
            Ok(())
        })
    })
}

/// Disjoint sets of vertices that are connected within their communities.
struct Forest<'a> {
    sets: DisjointSets<'a>,
    labels: &'a [Label],
}

impl Forest<'_> {
    /// Unites each vertex with its first and its last neighbour in its community.
    fn sample(&self, shard: &impl ShardLists, vertices: Range<VertexId>) {
        let first = shard.vertices().start;
        for v in vertices {
            let is_member = |u: VertexId| self.label(u) == self.label(v);
            if self.label(v) as usize >= self.labels.len() {
                continue;
            }
            let local = (v - first) as usize;
            for lists in shard.lists() {
                if let Some(u) = lists.each_of(local).find(|&u| is_member(u)) {
                    self.sets.unite(u, v);
                    // A first member exists, so that the search from the end succeeds, too.
                    let last = lists.last_of(local, is_member);
                    last.into_iter().for_each(|u| self.sets.unite(u, v));
                }
            }
        }
    }

    /// Unites each vertex of a marked community with all neighbours in it.
    fn join(&self, shard: &impl ShardLists, vertices: Range<VertexId>, marked: &Marks) {
        let first = shard.vertices().start;
        // Lists ascend, and an undirected graph has each edge in both of its lists.
        let is_undirected = shard.incoming().is_none();
        for v in vertices.filter(|&v| marked.has(self.label(v))) {
            let end = if is_undirected { v } else { VertexId::MAX };
            for u in shard.out().each_of((v - first) as usize).take_while(|&u| u < end) {
                if self.label(u) == self.label(v) {
                    self.sets.unite(u, v);
                }
            }
        }
    }

    #[inline]
    fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize]
    }
}

/// One bit per vertex, set by several threads.
pub(crate) struct Marks(Vec<AtomicU64>);

impl Marks {
    pub(crate) fn new(vertices: u32) -> Result<Marks, OutOfMemory> {
        let words = vertices.div_ceil(64) as usize;
        let mut marks = memory::with_room(words)?;
        marks.resize_with(words, || AtomicU64::new(0));
        Ok(Marks(marks))
    }

    /// Marks a vertex; returns whether it was marked before.
    pub(crate) fn set(&self, v: VertexId) -> bool {
        let bit = 1 << (v % 64);
        self.0[v as usize / 64].fetch_or(bit, Relaxed) & bit != 0
    }

    /// Returns whether `v` is a marked vertex; false if it is not a vertex.
    pub(crate) fn has(&self, v: VertexId) -> bool {
        let word = self.0.get(v as usize / 64);
        word.is_some_and(|word| word.load(Relaxed) >> (v % 64) & 1 == 1)
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.load(Relaxed).count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NO_LABEL;
    use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, VertexIds};

    fn graph(vertices: u32, edges: &[(u32, u32)], direction: Direction) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let (sources, targets) = edges.iter().copied().unzip();
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        GraphBuilder::new().direction(direction).shard_arcs(3).build(table).unwrap()
    }

    #[test]
    fn parts_are_named_by_their_smallest_vertex() {
        // 0–1  2–3, all of label 3; 4 alone; 5–6 of label 4.
        let graph = graph(7, &[(1, 0), (3, 2), (6, 5), (4, 0)], Direction::Undirected);
        let mut labels = [3, 3, 3, 3, 6, 4, 4];
        assert_eq!(split_disconnected((&graph).into(), &mut labels, &|| false), Ok(1));
        assert_eq!(labels, [0, 0, 2, 2, 4, 5, 5]);
        assert_eq!(split_disconnected((&graph).into(), &mut labels, &|| false), Ok(0));
        assert_eq!(
            split_disconnected((&graph).into(), &mut labels, &|| true),
            Err(RunError::Cancelled)
        );
    }

    #[test]
    fn vertices_without_a_label_stay_without_and_join_nothing() {
        // 0–1–2–3–4: the middle has no label, so both ends are parts of label 4; 5–6 have none.
        let graph = graph(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (5, 6)], Direction::Undirected);
        let mut labels = [4, 4, NO_LABEL, 4, 4, NO_LABEL, NO_LABEL];
        assert_eq!(split_disconnected((&graph).into(), &mut labels, &|| false), Ok(1));
        assert_eq!(labels, [0, 0, NO_LABEL, 3, 3, NO_LABEL, NO_LABEL]);
        let mut none = [NO_LABEL; 7];
        assert_eq!(split_disconnected((&graph).into(), &mut none, &|| false), Ok(0));
        assert_eq!(none, [NO_LABEL; 7]);
    }

    #[test]
    fn two_neighbours_each_are_not_enough_for_every_community() {
        // Two triples, each with its own first and last neighbours, joined by 2–3 in the middle.
        let edges =
            [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (0, 6), (6, 2), (2, 3), (3, 7)];
        for direction in [Direction::Undirected, Direction::Directed] {
            let graph = graph(8, &edges, direction);
            let mut labels = [7; 8];
            assert_eq!(split_disconnected((&graph).into(), &mut labels, &|| false), Ok(0));
            assert_eq!(labels, [0; 8]);
        }
    }
}
