//! Graph identity: a fingerprint that distinguishes graphs, for files that belong to one graph.
//!
//! It is the sum of a hash of each arc with its stored weight, of each vertex with its external id,
//! and of the graph's kind. A sum has no order, so that the number depends on the graph alone: not
//! on its shards, the number of threads, or whether lists are compressed. Ids are hashed as numbers
//! or names, independent of their representation.
//!
//! 64 bits, not cryptographic: two given graphs collide with a probability of 2⁻⁶⁴, but collisions
//! can be constructed. Cost: one pass over the lists, in parallel; no memory.

use crate::batch::{BatchGraph, BatchSlice};
use crate::dispatch_storage;
use crate::splitmix::{self, finalize};
use crate::storage::{NeighborLists, ShardLists};
use crate::{Direction, ExternalId, GraphView, VertexId, VertexIds};
use rayon::prelude::*;
use std::ops::Range;

/// Domains of hashes: equal numbers in different domains have different hashes.
#[derive(Clone, Copy)]
enum Domain {
    Kind = 1,
    Arc,
    Integer,
    Negative,
    Name,
    Value,
}

/// The least number of vertices or values per task.
const TASK: usize = 1 << 12;

impl Domain {
    /// Returns the hash of two numbers.
    #[inline]
    fn hash(self, a: u64, b: u64) -> u64 {
        let key = (self as u64).wrapping_mul(splitmix::INCREMENT);
        finalize(finalize(a.wrapping_add(key)) ^ b)
    }
}

impl GraphView<'_> {
    /// Returns a fingerprint of the graph, for files that belong to it.
    ///
    /// It depends on ids, direction, scale of weights, and arcs with their weights; not on shards,
    /// threads or storage. Not cryptographic: two given graphs collide with a probability of 2⁻⁶⁴,
    /// but collisions can be constructed. Cost: one pass over the outgoing lists, in parallel; no
    /// memory.
    pub fn identity(self) -> u64 {
        self.identity_of_lists(0..self.vertices()).wrapping_add(self.identity_without_lists())
    }

    /// Returns the part of [`GraphView::identity`] of the outgoing lists of these vertices. The identity is the wrapping
    /// sum of those of all vertices and of [`GraphView::identity_without_lists`].
    pub fn identity_of_lists(self, vertices: Range<VertexId>) -> u64 {
        fn of<S: ShardLists>(shards: &[S], vertices: Range<VertexId>) -> u64 {
            let of_shard = |shard: &S| {
                let own = shard.vertices();
                let begin = vertices.start.clamp(own.start, own.end);
                let end = vertices.end.clamp(begin, own.end);
                let locals = (begin - own.start) as usize..(end - own.start) as usize;
                of_lists(own.start, locals, shard.out())
            };
            shards.iter().map(of_shard).fold(0, u64::wrapping_add)
        }
        dispatch_storage!(self, graph => of(graph.shards(), vertices))
    }

    /// Returns the part of [`GraphView::identity`] of the ids, the direction and the scale of weights.
    pub fn identity_without_lists(self) -> u64 {
        of_ids(self.ids()).wrapping_add(self.kind())
    }

    fn kind(self) -> u64 {
        let (directed, weighted) = (self.direction() == Direction::Directed, self.is_weighted());
        // Without weights, the scale has no meaning.
        let exponent = if weighted { u64::from(self.weight_scale().code() as u32) } else { 0 };
        let flags = u64::from(directed) | u64::from(weighted) << 1;
        Domain::Kind.hash(self.vertices().into(), exponent << 32 | flags)
    }
}

impl BatchSlice<'_> {
    /// Returns a fingerprint of these graphs in their order, as [`GraphView::identity`] of a graph: it depends on the ids
    /// of graphs and vertices, and on arcs with their weights.
    ///
    /// Cost: one pass over the outgoing lists, in parallel over the graphs; no memory.
    pub fn identity(self) -> u64 {
        let graphs = (0..self.len()).into_par_iter().with_min_len(TASK / 64);
        let hash = |graph: usize| Domain::Value.hash(graph as u64, of_member(self.graph(graph)));
        graphs.map(hash).reduce(|| 0, u64::wrapping_add)
    }
}

/// Returns the hash of a graph of a batch: a chain over its ids and lists.
fn of_member(graph: BatchGraph<'_>) -> u64 {
    let lists = graph.out();
    let exponent = lists.weights().map_or(0, |_| u64::from(graph.weight_scale().code() as u32));
    let directed = u64::from(graph.incoming().is_some());
    let mut hash = Domain::Kind.hash(graph.vertices().into(), exponent << 32 | directed);
    let id = of_id(0, graph.id());
    hash = Domain::Value.hash(hash, id);
    for vertex in 0..graph.vertices() {
        hash = Domain::Value.hash(hash, of_id(vertex, graph.vertex_id(vertex)));
    }
    let words = [Some(lists.offsets()), Some(lists.neighbors()), lists.weights()];
    let words = words.into_iter().flatten().flatten();
    words.fold(hash, |hash, &word| Domain::Arc.hash(hash, word.into()))
}

/// Returns a fingerprint of values in their order, like [`GraphView::identity`]; computed in
/// parallel.
pub fn identity_of_values(values: impl IndexedParallelIterator<Item = u32>) -> u64 {
    let count = Domain::Kind.hash(values.len() as u64, 0);
    let hash = |(place, value): (usize, u32)| Domain::Value.hash(place as u64, u64::from(value));
    let sum = values.with_min_len(TASK).enumerate().map(hash).reduce(|| 0, u64::wrapping_add);
    count.wrapping_add(sum)
}

/// Returns the sum over the vertices' ids.
fn of_ids(ids: &VertexIds) -> u64 {
    let hash = |v: VertexId| of_id(v, ids.get(v));
    (0..ids.len() as u32)
        .into_par_iter()
        .with_min_len(TASK)
        .map(hash)
        .reduce(|| 0, u64::wrapping_add)
}

fn of_id(v: VertexId, id: ExternalId<'_>) -> u64 {
    match id {
        ExternalId::Unsigned(id) => Domain::Integer.hash(v.into(), id),
        ExternalId::Signed(id) if id < 0 => Domain::Negative.hash(v.into(), id.unsigned_abs()),
        ExternalId::Signed(id) => Domain::Integer.hash(v.into(), id as u64),
        ExternalId::Name(name) => Domain::Name.hash(v.into(), of_name(name)),
    }
}

fn of_name(name: &str) -> u64 {
    let word =
        |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let words = name.as_bytes().chunks(8);
    words.fold(name.len() as u64, |hash, bytes| Domain::Name.hash(hash, word(bytes)))
}

/// Returns the sum over the arcs of some lists, whose vertex 0 is `first`.
fn of_lists(first: VertexId, locals: Range<usize>, lists: impl NeighborLists) -> u64 {
    let of_list = |local: usize| {
        let from = u64::from(first + local as u32) << 32;
        let mut sum = 0u64;
        lists.for_each_arc(local, |to, weight| {
            sum = sum.wrapping_add(Domain::Arc.hash(from | u64::from(to), weight));
        });
        sum
    };
    locals.into_par_iter().with_min_len(TASK / 8).map(of_list).reduce(|| 0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EdgeTable, Graph, GraphBuilder, Names};
    use std::collections::BTreeSet;

    fn graph(builder: GraphBuilder, ids: VertexIds, weights: Option<Vec<f64>>) -> Graph {
        let (from, to) = (vec![0, 1, 2, 3], vec![1, 2, 0, 0]);
        let edges = EdgeTable::new(ids, from, to).unwrap();
        let edges = match weights {
            Some(weights) => edges.with_weights(weights).unwrap(),
            None => edges,
        };
        builder.build(edges).unwrap()
    }

    fn identity<'g>(graph: impl Into<GraphView<'g>>) -> u64 {
        graph.into().identity()
    }

    fn four() -> VertexIds {
        VertexIds::Consecutive { first: 7, count: 4 }
    }

    #[test]
    fn graphs_that_differ_in_anything_have_others() {
        let directed = || GraphBuilder::new().direction(Direction::Directed);
        let names = |last| VertexIds::Names(Names::new(["a", "b", "c", last]));
        let all = [
            graph(GraphBuilder::new(), four(), None),
            graph(directed(), four(), None),
            graph(GraphBuilder::new(), VertexIds::Consecutive { first: 8, count: 4 }, None),
            graph(GraphBuilder::new(), names("d"), None),
            graph(GraphBuilder::new(), names("dd"), None),
            graph(GraphBuilder::new(), names("longer than a word"), None),
            graph(GraphBuilder::new(), VertexIds::Signed(vec![-1, 7, 8, 9].into()), None),
            graph(GraphBuilder::new(), four(), Some(vec![1.0; 4])),
            graph(GraphBuilder::new(), four(), Some(vec![1.0, 1.0, 1.0, 2.0])),
            graph(GraphBuilder::new(), four(), Some(vec![0.5; 4])),
        ];
        let identities: BTreeSet<u64> = all.iter().map(identity).collect();
        assert_eq!(identities.len(), all.len());
    }

    #[test]
    fn how_ids_are_kept_does_not_matter() {
        let one = identity(&graph(GraphBuilder::new(), four(), None));
        let unsigned = VertexIds::Unsigned(vec![7, 8, 9, 10].into());
        let signed = VertexIds::Signed(vec![7, 8, 9, 10].into());
        assert_eq!(identity(&graph(GraphBuilder::new(), unsigned, None)), one);
        assert_eq!(identity(&graph(GraphBuilder::new(), signed, None)), one);
    }

    #[test]
    fn an_identity_is_the_sum_of_its_parts() {
        let whole =
            graph(GraphBuilder::new().shard_arcs(3), four(), Some(vec![1.0, 2.0, 3.0, 4.0]));
        let view = GraphView::from(&whole);
        for cut in 0..=4 {
            let lists = [0..cut, cut..4].map(|part| view.identity_of_lists(part));
            let sum = lists.iter().fold(view.identity_without_lists(), |a, &b| a.wrapping_add(b));
            assert_eq!(sum, view.identity());
        }
        assert_eq!(view.identity_of_lists(2..2), 0);
    }

    #[test]
    fn values_in_their_order() {
        let lists: [&[u32]; 6] = [&[], &[0], &[0, 0], &[1, 0], &[0, 1], &[u32::MAX]];
        let identities: BTreeSet<u64> =
            lists.map(|list| identity_of_values(list.par_iter().copied())).into();
        assert_eq!(identities.len(), lists.len());
    }

    #[test]
    fn batches_that_differ_in_anything_have_others() {
        use crate::batch::{BatchBuilder, BatchRows, BatchTable, GraphBatch};
        let batch = |graphs: [&str; 2], ids: VertexIds, targets: [u32; 3], weight: Option<f64>| {
            let rows = BatchRows {
                graphs: vec![0, 0, 1],
                sources: vec![0, 1, 0],
                targets: targets.into(),
                weights: weight.map(|weight| vec![1.0, 1.0, weight]),
            };
            let graphs = VertexIds::Names(Names::new(graphs));
            let table = BatchTable::of_ends(graphs, &ids, rows).unwrap();
            BatchBuilder::new().build(table).unwrap()
        };
        let ids = || VertexIds::Consecutive { first: 7, count: 3 };
        let others = VertexIds::Consecutive { first: 8, count: 3 };
        let all: [GraphBatch; 6] = [
            batch(["a", "b"], ids(), [1, 2, 1], None),
            batch(["a", "c"], ids(), [1, 2, 1], None),
            batch(["a", "b"], others, [1, 2, 1], None),
            batch(["a", "b"], ids(), [2, 2, 1], None),
            batch(["a", "b"], ids(), [1, 2, 1], Some(1.0)),
            batch(["a", "b"], ids(), [1, 2, 1], Some(2.0)),
        ];
        let identities: BTreeSet<u64> = all.iter().map(|batch| batch.all().identity()).collect();
        assert_eq!(identities.len(), all.len());
        assert_ne!(all[0].slice(0..1).identity(), all[0].slice(1..2).identity());
        assert_eq!(all[0].slice(0..1).identity(), all[1].slice(0..1).identity());
    }
}
