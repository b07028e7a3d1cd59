//! Small communities: removal, or merging into the neighbour with the largest edge weight.
//!
//! ```text
//! while a community has fewer than `least` members (the smallest first, of equal ones the smallest label):
//!     merge it into the community with the largest total weight of edges to it
//!     (of equal ones the smallest one, then the smallest label; without edges to others it stays as it is)
//! ```
//!
//! Merged communities get the labels of the communities that they were merged into. A merge follows
//! an edge, so that connected communities stay connected. Directed graphs: edges count in both
//! directions.
//!
//! Memory: 12 bytes per vertex; merging takes 24 more per arc of a member of a small community.
//! Time: one pass over the arcs of small communities, and `O(arcs of small communities · log
//! least)`. Determinism: integers, and ties are broken by label; nothing depends on threads.

use crate::programs::Membership;
use crate::{Label, NO_LABEL};
use ripplet_graph::storage::{NeighborLists, ShardLists};
use ripplet_graph::{GraphView, OutOfMemory, dispatch_storage, memory};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The least size of a community, and what becomes of the members of smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinSize {
    /// Members of communities with fewer members lose their label.
    Drop(u32),
    /// Communities with fewer members are merged into neighbours; see the module.
    Join(u32),
}

/// The numbers of merged and removed communities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmallCommunities {
    /// Communities that were merged into another.
    pub joined: u32,
    /// Communities whose members lost their label.
    pub dropped: u32,
    /// The number of these members.
    pub unassigned: u32,
}

impl MinSize {
    /// Returns the least size.
    pub fn least(self) -> u32 {
        match self {
            MinSize::Drop(least) | MinSize::Join(least) => least,
        }
    }

    /// Applies it to communities given by one label per vertex.
    ///
    /// # Errors
    /// If memory is refused; see the module for how much.
    ///
    /// # Panics
    /// If the number of labels differs from the number of vertices.
    pub fn apply<'g>(
        self,
        graph: impl Into<GraphView<'g>>,
        labels: &mut [Label],
    ) -> Result<SmallCommunities, OutOfMemory> {
        match self {
            MinSize::Drop(least) => drop_small(labels, least),
            MinSize::Join(least) => join_small(graph.into(), labels, least),
        }
    }
}

/// Removes the label of the members of communities with fewer than `least` members.
///
/// # Errors
/// If 4 bytes per vertex are refused.
pub fn drop_small(labels: &mut [Label], least: u32) -> Result<SmallCommunities, OutOfMemory> {
    let sizes = sizes(labels)?;
    let dropped = sizes.iter().filter(|&&size| (1..least).contains(&size)).count() as u32;
    let mut found = SmallCommunities { dropped, ..SmallCommunities::default() };
    for label in labels {
        if sizes.get(*label as usize).is_some_and(|&size| size < least) {
            *label = NO_LABEL;
            found.unassigned += 1;
        }
    }
    Ok(found)
}

/// Removes the memberships in communities with fewer than `least` members, and those whose label is no vertex; returns
/// how many.
///
/// # Errors
/// If 4 bytes per vertex are refused.
pub fn drop_small_memberships(
    memberships: &mut Vec<Membership>,
    vertices: u32,
    least: u32,
) -> Result<u64, OutOfMemory> {
    let mut sizes: Vec<u32> = memory::zeros(vertices as usize)?;
    for row in &*memberships {
        if let Some(size) = sizes.get_mut(row.label as usize) {
            *size += 1;
        }
    }
    let before = memberships.len();
    memberships.retain(|row| sizes.get(row.label as usize).is_some_and(|&size| size >= least));
    Ok((before - memberships.len()) as u64)
}

/// Merges communities with fewer than `least` members into the neighbour with the largest edge
/// weight, until none is left; those without a neighbour lose their label.
///
/// # Errors
/// If memory is refused; see the module for how much.
///
/// # Panics
/// If the number of labels differs from the number of vertices.
pub fn join_small(
    graph: GraphView<'_>,
    labels: &mut [Label],
    least: u32,
) -> Result<SmallCommunities, OutOfMemory> {
    assert_eq!(labels.len(), graph.vertices() as usize, "a label for each vertex");
    let sizes = sizes(labels)?;
    let is_small = |label: Label| sizes.get(label as usize).is_some_and(|&size| size < least);
    let mut ties = Vec::new();
    dispatch_storage!(graph, graph => {
        let mut shards = graph.shards().iter();
        shards.try_for_each(|shard| add_ties(shard, labels, is_small, &mut ties))
    })?;
    let mut joins = Joins::new(sizes, ties, least)?;
    let joined = joins.run();
    let vertices = graph.vertices();
    for label in labels.iter_mut().filter(|label| **label < vertices) {
        *label = joins.root(*label);
    }
    Ok(SmallCommunities { joined, ..drop_small(labels, least)? })
}

/// Returns the number of members of each community, by label.
fn sizes(labels: &[Label]) -> Result<Vec<u32>, OutOfMemory> {
    let mut sizes = memory::zeros::<u32>(labels.len())?;
    for &label in labels {
        if let Some(size) = sizes.get_mut(label as usize) {
            *size += 1;
        }
    }
    Ok(sizes)
}

/// `Tie`: the total weight of edges from one community to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Tie {
    from: Label,
    to: Label,
    weight: u64,
}

/// Adds the weights of small communities' members.
fn add_ties<S: ShardLists>(
    shard: &S,
    labels: &[Label],
    is_small: impl Fn(Label) -> bool,
    ties: &mut Vec<Tie>,
) -> Result<(), OutOfMemory> {
    let Range { start, end } = shard.vertices();
    for v in (start..end).filter(|&v| is_small(labels[v as usize])) {
        let (local, from) = ((v - start) as usize, labels[v as usize]);
        for lists in shard.lists() {
            memory::reserve(ties, lists.degree_of(local) as usize)?;
            lists.for_each_arc(local, |u, weight| {
                let to = labels[u as usize];
                if to != from && (to as usize) < labels.len() {
                    ties.push(Tie { from, to, weight });
                }
            });
        }
    }
    Ok(())
}

/// The state of merging.
struct Joins {
    least: u32,
    sizes: Vec<u32>,
    /// The parent of each community: the one that it was merged into, or itself.
    into: Vec<Label>,
    /// The edge weights of each small community; `to` may have been merged since.
    ties: Vec<Vec<Tie>>,
    /// The place of each label in `ties`.
    place: Vec<u32>,
}

/// The place of a community that is not small.
const NO_PLACE: u32 = u32::MAX;

impl Joins {
    fn new(sizes: Vec<u32>, mut all: Vec<Tie>, least: u32) -> Result<Joins, OutOfMemory> {
        all.sort_unstable();
        let mut ties = Vec::new();
        let mut place = memory::filled(NO_PLACE, sizes.len())?;
        for of_one in all.chunk_by(|a, b| a.from == b.from) {
            place[of_one[0].from as usize] = ties.len() as u32;
            memory::push(&mut ties, merged(of_one))?;
        }
        let into = memory::collected(0..sizes.len() as Label)?;
        Ok(Joins { least, sizes, into, ties, place })
    }

    /// Returns the community that a community is part of now, and compresses the path to it.
    fn root(&mut self, label: Label) -> Label {
        let mut root = label;
        while self.into[root as usize] != root {
            root = self.into[root as usize];
        }
        let mut on_the_way = label;
        while on_the_way != root {
            on_the_way = std::mem::replace(&mut self.into[on_the_way as usize], root);
        }
        root
    }

    /// Merges small communities; returns the number of merges.
    fn run(&mut self) -> u32 {
        let small = (0..self.sizes.len() as Label).filter(|&label| self.is_small(label));
        let mut next: BinaryHeap<Reverse<(u32, Label)>> =
            small.map(|label| Reverse((self.sizes[label as usize], label))).collect();
        let mut joined = 0;
        while let Some(Reverse((size, label))) = next.pop() {
            // Stale entry: a community that was merged or grew has a new entry if it is still
            // small.
            if self.into[label as usize] != label || self.sizes[label as usize] != size {
                continue;
            }
            let Some(to) = self.strongest(label) else { continue };
            let ties = std::mem::take(&mut self.ties[self.place[label as usize] as usize]);
            self.into[label as usize] = to;
            self.sizes[to as usize] += size;
            joined += 1;
            if self.is_small(to) {
                self.ties[self.place[to as usize] as usize].extend(ties);
                next.push(Reverse((self.sizes[to as usize], to)));
            }
        }
        joined
    }

    fn is_small(&self, label: Label) -> bool {
        (1..self.least).contains(&self.sizes[label as usize])
    }

    /// Returns the neighbour with the largest weight; of equal ones the smallest, so that no
    /// community absorbs all of a path; then the smallest label. Updates the edge weights of the
    /// community.
    fn strongest(&mut self, label: Label) -> Option<Label> {
        let place = self.place[label as usize];
        if place == NO_PLACE {
            return None;
        }
        let mut ties = std::mem::take(&mut self.ties[place as usize]);
        for tie in &mut ties {
            *tie = Tie { from: label, to: self.root(tie.to), ..*tie };
        }
        ties.retain(|tie| tie.to != label);
        ties.sort_unstable();
        let ties = merged(&ties);
        let order = |tie: &&Tie| (tie.weight, Reverse((self.sizes[tie.to as usize], tie.to)));
        let best = ties.iter().max_by_key(order).map(|tie| tie.to);
        self.ties[place as usize] = ties;
        best
    }
}

/// Sums up sorted edge weights, to one per pair of communities.
fn merged(ties: &[Tie]) -> Vec<Tie> {
    let of_pairs = ties.chunk_by(|a, b| a.to == b.to);
    of_pairs
        .map(|pair| Tie { weight: pair.iter().map(|tie| tie.weight).sum(), ..pair[0] })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
    use std::collections::{BTreeMap, BTreeSet};

    fn graph(vertices: u32, edges: &[(u32, u32)]) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let (sources, targets) = edges.iter().copied().unzip();
        GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
    }

    #[test]
    fn small_communities_lose_their_label() {
        let mut labels = [0, 0, 0, 3, 3, 5, NO_LABEL];
        let found = drop_small(&mut labels, 3).unwrap();
        assert_eq!(found, SmallCommunities { joined: 0, dropped: 2, unassigned: 3 });
        assert_eq!(labels, [0, 0, 0, NO_LABEL, NO_LABEL, NO_LABEL, NO_LABEL]);
        assert_eq!(drop_small(&mut [0, 1], 1).unwrap(), SmallCommunities::default());
    }

    #[test]
    fn a_small_community_joins_where_it_has_most_edges() {
        // A triangle, a square, and a vertex with one edge to the first and two to the second; an
        // isolated pair.
        let edges = [
            (0, 1),
            (1, 2),
            (2, 0),
            (3, 4),
            (4, 5),
            (5, 6),
            (6, 3),
            (7, 0),
            (7, 3),
            (7, 4),
            (8, 9),
        ];
        let graph = graph(10, &edges);
        let mut labels = [0, 0, 0, 3, 3, 3, 3, 7, 8, 8];
        let found = join_small((&graph).into(), &mut labels, 3).unwrap();
        assert_eq!(found, SmallCommunities { joined: 1, dropped: 1, unassigned: 2 });
        assert_eq!(labels, [0, 0, 0, 3, 3, 3, 3, 3, NO_LABEL, NO_LABEL]);
    }

    #[test]
    fn a_path_of_single_vertices_is_cut_into_pieces_of_the_least_size() {
        let edges: Vec<(u32, u32)> = (0..99).map(|v| (v, v + 1)).collect();
        let graph = graph(100, &edges);
        let mut labels: Vec<u32> = (0..100).collect();
        join_small((&graph).into(), &mut labels, 4).unwrap();
        let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
        labels.iter().for_each(|&label| *sizes.entry(label).or_default() += 1);
        assert!(sizes.values().all(|size| (4..8).contains(size)), "{sizes:?}");
        assert!(labels.windows(2).filter(|pair| pair[0] != pair[1]).count() == sizes.len() - 1);
    }

    /// The rule in the module's documentation, evaluated anew at each step.
    fn by_the_rule(edges: &[(u32, u32)], labels: &[u32], least: u32) -> Vec<u32> {
        let mut labels = labels.to_vec();
        loop {
            let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
            labels.iter().for_each(|&label| *sizes.entry(label).or_default() += 1);
            let mut small: Vec<(u32, u32)> = sizes
                .iter()
                .filter(|&(_, &size)| size < least)
                .map(|(&l, &size)| (size, l))
                .collect();
            small.sort_unstable();
            let join = small.iter().find_map(|&(_, from)| {
                let mut weights: BTreeMap<u32, u64> = BTreeMap::new();
                for &(a, b) in edges {
                    for (a, b) in [(a, b), (b, a)] {
                        let (a, b) = (labels[a as usize], labels[b as usize]);
                        if a == from && b != from {
                            *weights.entry(b).or_default() += 1;
                        }
                    }
                }
                let order = |&(&to, &weight): &(&u32, &u64)| (weight, Reverse((sizes[&to], to)));
                let best = weights.iter().max_by_key(order)?;
                Some((from, *best.0))
            });
            match join {
                Some((from, to)) => {
                    labels.iter_mut().filter(|label| **label == from).for_each(|label| *label = to);
                }
                None => {
                    let is_small = |label: &u32| small.iter().any(|(_, other)| other == label);
                    labels.iter_mut().filter(|l| is_small(l)).for_each(|label| *label = NO_LABEL);
                    return labels;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn joining_follows_the_rule(
            edges in prop::collection::btree_set((0u32..24, 0u32..24), 0..50),
            labels in prop::collection::vec(0u32..24, 24),
            least in 0u32..9,
        ) {
            let edges: BTreeSet<(u32, u32)> =
                edges.into_iter().filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
            let edges: Vec<(u32, u32)> = edges.into_iter().collect();
            let graph = graph(24, &edges);
            let expected = by_the_rule(&edges, &labels, least);
            let mut found = labels.clone();
            let told = join_small((&graph).into(), &mut found, least).unwrap();
            prop_assert_eq!(&found, &expected);
            let left_out = expected.iter().filter(|&&label| label == NO_LABEL).count();
            prop_assert_eq!(told.unassigned as usize, left_out);
        }
    }
}
