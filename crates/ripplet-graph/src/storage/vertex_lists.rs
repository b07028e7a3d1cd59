//! Neighbour lists by vertex, both directions together, in parts that are slices.
//!
//! For loops over vertices in any order that test the storage once per vertex: plain lists are
//! slices with prefetching, compressed ones are decoded into an array on the stack.

use super::compressed::{CompressedGraph, CompressedShard};
use super::prefetch::{PREFETCH_DISTANCE, prefetch};
use super::{GraphView, Neighbors, ShardLists};
use crate::VertexId;
use crate::tasks::MIN_LEN;
use rayon::prelude::*;

/// The neighbour lists of a graph by vertex; the storage is tested once per vertex.
pub enum VertexLists<'a> {
    /// Plain lists.
    Plain(PlainVertexLists<'a>),
    /// Compressed lists.
    Compressed(&'a CompressedGraph),
}

/// Evaluates an expression with the lists of a vertex of [`VertexLists`], compiled once per storage.
///
/// `$parts` implements [`ListParts`].
#[macro_export]
macro_rules! dispatch_parts {
    ($lists:expr, $vertex:expr, $parts:ident => $work:expr) => {
        match $lists {
            $crate::storage::VertexLists::Plain(lists) => {
                let $parts = lists.of($vertex).parts();
                $work
            }
            $crate::storage::VertexLists::Compressed(graph) => {
                let $parts = $crate::storage::DecodedParts::of(graph, $vertex);
                $work
            }
        }
    };
}

/// Plain lists as slices, resolved once per run.
pub struct PlainVertexLists<'a> {
    /// The first shard, usually the only one: it is found without a search.
    first: ShardSlices<'a>,
    others: Vec<ShardSlices<'a>>,
}

#[derive(Default)]
struct ShardSlices<'a> {
    first: VertexId,
    end: VertexId,
    out: Neighbors<'a>,
    incoming: Option<Neighbors<'a>>,
}

/// The neighbour lists of a vertex, in parts that are slices.
pub trait ListParts: Copy {
    /// Calls `visit(neighbors, weights)` for each part.
    fn each(self, visit: impl FnMut(&[VertexId], Option<&[u32]>));

    /// Returns the number of arcs that touch the vertex.
    fn degree(self) -> u64;

    /// Calls a function with the lists. For decoded lists it is not inlined, so that its loops do
    /// not affect the register allocation of the loops over plain lists.
    fn apart<R>(self, work: impl FnOnce(Self) -> R) -> R;
}

/// A visitor of parts: neighbours and their weights.
type Visit<'v> = dyn FnMut(&[VertexId], Option<&[u32]>) + 'v;

/// The place of a vertex's plain lists.
#[derive(Clone, Copy)]
pub struct PlainPlace<'s, 'a> {
    shard: &'s ShardSlices<'a>,
    local: usize,
}

/// Plain lists: each list is one part.
#[derive(Clone, Copy)]
pub struct PlainParts<'a> {
    out: (&'a [VertexId], Option<&'a [u32]>),
    incoming: Option<(&'a [VertexId], Option<&'a [u32]>)>,
}

/// The list of a vertex that has only one, without weights.
#[derive(Clone, Copy)]
pub struct OneList<'a>(pub &'a [VertexId]);

/// A vertex in a loop over [`VertexLists`].
#[derive(Clone, Copy)]
pub struct Listed<'a> {
    /// The vertex.
    pub vertex: VertexId,
    /// Its list, if it has only one, without weights, in plain storage: found while it was prefetched.
    pub only: Option<OneList<'a>>,
}

/// Compressed lists: a part is an array of decoded neighbours on the stack.
#[derive(Clone, Copy)]
pub struct DecodedParts<'a> {
    shard: &'a CompressedShard,
    local: usize,
}

/// Lists of a vertex, plain or compressed.
#[derive(Clone, Copy)]
pub struct EitherParts<'s, 'a>(Either<'s, 'a>);

#[derive(Clone, Copy)]
enum Either<'s, 'a> {
    Plain(PlainPlace<'s, 'a>),
    Compressed(DecodedParts<'a>),
}

impl ListParts for PlainParts<'_> {
    #[inline]
    fn each(self, mut visit: impl FnMut(&[VertexId], Option<&[u32]>)) {
        visit(self.out.0, self.out.1);
        if let Some((neighbors, weights)) = self.incoming {
            visit(neighbors, weights);
        }
    }

    #[inline]
    fn degree(self) -> u64 {
        self.out.0.len() as u64 + self.incoming.map_or(0, |(neighbors, _)| neighbors.len() as u64)
    }

    #[inline(always)]
    fn apart<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

impl ListParts for OneList<'_> {
    #[inline]
    fn each(self, mut visit: impl FnMut(&[VertexId], Option<&[u32]>)) {
        visit(self.0, None);
    }

    #[inline]
    fn degree(self) -> u64 {
        self.0.len() as u64
    }

    #[inline(always)]
    fn apart<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

impl ListParts for DecodedParts<'_> {
    #[inline]
    fn each(self, mut visit: impl FnMut(&[VertexId], Option<&[u32]>)) {
        for lists in ShardLists::lists(self.shard) {
            let (mut ids, mut stored) = ([0; DECODED], [0; DECODED]);
            let mut neighbors = lists.of(self.local);
            let mut weights = lists.weights_of(self.local);
            loop {
                let count = neighbors.fill(&mut ids);
                if count == 0 {
                    break;
                }
                let weights = weights.as_mut().map(|weights| {
                    weights.fill(&mut stored[..count]);
                    &stored[..count]
                });
                visit(&ids[..count], weights);
            }
        }
    }

    #[inline]
    fn degree(self) -> u64 {
        self.shard.degree(self.local)
    }

    #[inline(never)]
    fn apart<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

impl ListParts for EitherParts<'_, '_> {
    #[inline]
    fn each(self, mut visit: impl FnMut(&[VertexId], Option<&[u32]>)) {
        match self.0 {
            Either::Plain(place) => place.parts().each(visit),
            Either::Compressed(parts) => parts.each_by(&mut visit),
        }
    }

    #[inline]
    fn degree(self) -> u64 {
        match self.0 {
            Either::Plain(place) => place.parts().degree(),
            Either::Compressed(parts) => parts.degree(),
        }
    }

    #[inline]
    fn apart<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

impl<'a> VertexLists<'a> {
    /// Returns the lists of a graph. Cost: O(1) per shard.
    pub fn new(graph: GraphView<'a>) -> VertexLists<'a> {
        let graph = match graph {
            GraphView::Plain(graph) => graph,
            GraphView::Compressed(graph) => return VertexLists::Compressed(graph),
        };
        let mut shards = graph.shards().iter().map(|shard| {
            let (vertices, out, incoming) = (shard.vertices(), shard.out(), shard.incoming());
            ShardSlices { first: vertices.start, end: vertices.end, out, incoming }
        });
        let first = shards.next().unwrap_or_default();
        VertexLists::Plain(PlainVertexLists { first, others: shards.collect() })
    }

    /// Returns the sum of all vertices' strengths: the summed weights of the arcs that touch a
    /// vertex.
    pub fn strength(&self) -> u64 {
        match self {
            VertexLists::Plain(lists) => lists.strength(),
            VertexLists::Compressed(graph) => {
                let graph = GraphView::from(*graph);
                (0..graph.vertices())
                    .into_par_iter()
                    .with_min_len(1 << 8)
                    .map(|v| graph.strength(v))
                    .sum()
            }
        }
    }

    /// Returns the neighbour lists of `v`.
    #[inline]
    pub fn of(&self, v: VertexId) -> EitherParts<'_, 'a> {
        EitherParts(match self {
            VertexLists::Plain(lists) => Either::Plain(lists.of(v)),
            VertexLists::Compressed(graph) => Either::Compressed(DecodedParts::of(graph, v)),
        })
    }

    /// Returns the summed weights of the arcs that touch a vertex.
    #[inline]
    pub fn strength_of(&self, v: VertexId) -> u64 {
        match self {
            VertexLists::Plain(lists) => lists.of(v).strength(),
            VertexLists::Compressed(graph) => GraphView::from(*graph).strength(v),
        }
    }
}

impl<'a> DecodedParts<'a> {
    /// Returns the lists of a vertex.
    #[inline]
    pub fn of(graph: &'a CompressedGraph, v: VertexId) -> DecodedParts<'a> {
        let shard = graph.shard_of(v);
        DecodedParts { shard, local: (v - shard.vertices().start) as usize }
    }

    /// Calls [`ListParts::each`] without inlining a loop per caller.
    #[inline(never)]
    fn each_by(self, visit: &mut Visit<'_>) {
        self.each(visit);
    }
}

impl<'a> PlainVertexLists<'a> {
    fn strength(&self) -> u64 {
        let shards = std::iter::once(&self.first).chain(&self.others);
        let lists = shards.flat_map(|shard| [Some(shard.out), shard.incoming]);
        let strength = |lists: Neighbors<'_>| match lists.weights() {
            Some(weights) => {
                weights.par_iter().with_min_len(MIN_LEN).map(|&weight| u64::from(weight)).sum()
            }
            None => lists.neighbors().len() as u64,
        };
        lists.flatten().map(strength).sum()
    }

    /// Returns all lists if each vertex has only one, without weights, in the only shard.
    #[inline]
    fn only(&self) -> Option<Neighbors<'a>> {
        let ShardSlices { first: begin, out, incoming, .. } = &self.first;
        let is_only = self.others.is_empty() && *begin == 0 && incoming.is_none();
        (is_only && out.weights().is_none()).then_some(*out)
    }

    /// Returns the place of a vertex's lists.
    #[inline]
    pub fn of(&self, v: VertexId) -> PlainPlace<'_, 'a> {
        let shard = match v < self.first.end {
            true => &self.first,
            false => &self.others[self.others.partition_point(|shard| shard.end <= v)],
        };
        PlainPlace { shard, local: (v - shard.first) as usize }
    }
}

impl<'a> PlainPlace<'_, 'a> {
    /// Returns the lists as slices. Always inlined, as the result would be returned in memory.
    #[inline(always)]
    pub fn parts(self) -> PlainParts<'a> {
        let of = |lists: &Neighbors<'a>| (lists.of(self.local), lists.weights_of(self.local));
        PlainParts { out: of(&self.shard.out), incoming: self.shard.incoming.as_ref().map(of) }
    }

    /// Returns the summed weights of the arcs that touch the vertex.
    #[inline]
    fn strength(self) -> u64 {
        if self.shard.out.weights().is_some() {
            return self.weighted_strength();
        }
        let degree = |lists: &Neighbors<'_>| u64::from(lists.degree(self.local));
        degree(&self.shard.out) + self.shard.incoming.as_ref().map_or(0, degree)
    }

    /// Separate, so that the strength of an unweighted vertex takes few instructions.
    #[inline(never)]
    fn weighted_strength(self) -> u64 {
        let mut sum = 0;
        self.parts().each(|_, weights| {
            sum += weights.into_iter().flatten().map(|&weight| u64::from(weight)).sum::<u64>();
        });
        sum
    }
}

/// Neighbours that are decoded at a time.
const DECODED: usize = 64;

/// Neighbours whose values are prefetched: for longer lists out-of-order execution hides the
/// latency.
const VALUES_AHEAD: usize = 64;
/// Neighbours per cache line.
const LINE: usize = 64 / size_of::<VertexId>();

impl VertexLists<'_> {
    /// Calls `visit` for each vertex with its index, and prefetches the lists of the next ones and,
    /// if `values` of vertices are given, those of their neighbours.
    ///
    /// The data of a vertex is in three dependent arrays: offsets, neighbours, values. Three cache
    /// misses per vertex take longer than most work; each access is therefore started a few vertices
    /// before it is needed.
    #[inline]
    pub fn for_each_prefetched<T>(
        &self,
        vertices: &[VertexId],
        values: Option<&[T]>,
        mut visit: impl FnMut(usize, Listed<'_>),
    ) {
        // Compressed lists are not prefetched: decoding takes longer than the latency.
        let plain = match self {
            VertexLists::Plain(lists) => Some(lists),
            VertexLists::Compressed(_) => None,
        };
        if let Some(only) = plain.and_then(PlainVertexLists::only) {
            return only.for_each_prefetched(vertices, values, visit);
        }
        let fetch_values = |lists: &PlainVertexLists<'_>, v: VertexId| {
            if let Some(values) = values {
                lists.of(v).fetch_values(values);
                prefetch(values, v as usize);
            }
        };
        // A single loop that starts before the first vertex, so that each stage is inlined once.
        for step in 0..vertices.len() + 3 * PREFETCH_DISTANCE {
            let at = |behind: usize| vertices.get(step.wrapping_sub(behind));
            if let Some(lists) = plain {
                at(0).inspect(|&&v| lists.of(v).fetch_offsets());
                at(PREFETCH_DISTANCE).inspect(|&&v| lists.of(v).fetch_neighbors());
                at(2 * PREFETCH_DISTANCE).inspect(|&&v| fetch_values(lists, v));
            }
            at(3 * PREFETCH_DISTANCE).inspect(|&&vertex| {
                visit(step - 3 * PREFETCH_DISTANCE, Listed { vertex, only: None })
            });
        }
    }
}

impl<'a> Neighbors<'a> {
    /// Does what [`VertexLists::for_each_prefetched`] does. Each list is found once, for prefetching and for `visit`: most
    /// vertices have so few neighbours that finding it takes a good part of the work.
    #[inline]
    fn for_each_prefetched<T>(
        self,
        vertices: &[VertexId],
        values: Option<&[T]>,
        mut visit: impl FnMut(usize, Listed<'a>),
    ) {
        let (blocks, rest) = vertices.as_chunks::<PREFETCH_DISTANCE>();
        let blocks = blocks.iter().map(|block| &block[..]);
        let blocks = blocks.chain((!rest.is_empty()).then_some(rest));
        // The blocks ahead of the one that is visited, with their lists: a block is in three stages.
        let mut found: [_; 3] = [[&[][..]; PREFETCH_DISTANCE]; 3];
        let mut waiting: [&[VertexId]; 3] = [&[]; 3];
        let mut index = 0;
        for (step, block) in blocks.chain([&[][..]; 3]).enumerate() {
            block.iter().for_each(|&v| prefetch(self.offsets(), v as usize));
            for (&v, list) in waiting[(step + 2) % 3].iter().zip(&mut found[(step + 2) % 3]) {
                *list = self.of(v as usize);
                fetch_list(list);
            }
            if let Some(values) = values {
                for (&v, list) in waiting[(step + 1) % 3].iter().zip(&found[(step + 1) % 3]) {
                    fetch_values(list, values);
                    prefetch(values, v as usize);
                }
            }
            for (&vertex, list) in waiting[step % 3].iter().zip(found[step % 3]) {
                visit(index, Listed { vertex, only: Some(OneList(list)) });
                index += 1;
            }
            waiting[step % 3] = block;
        }
    }
}

/// Prefetches a list.
#[inline]
fn fetch_list(list: &[VertexId]) {
    list[..list.len().min(VALUES_AHEAD)].chunks(LINE).for_each(|line| prefetch(line, 0));
}

/// Prefetches the values of a list.
#[inline(never)]
fn fetch_values<T>(list: &[VertexId], values: &[T]) {
    list.iter().take(VALUES_AHEAD).for_each(|&u| prefetch(values, u as usize));
}

impl PlainPlace<'_, '_> {
    #[inline]
    fn fetch_offsets(self) {
        prefetch(self.shard.out.offsets(), self.local);
        if let Some(incoming) = &self.shard.incoming {
            prefetch(incoming.offsets(), self.local);
        }
    }

    #[inline]
    fn fetch_neighbors(self) {
        self.parts().each(|neighbors, weights| {
            fetch_list(neighbors);
            weights.inspect(|weights| fetch_list(weights));
        });
    }

    #[inline]
    fn fetch_values<T>(self, values: &[T]) {
        self.parts().each(|neighbors, _| fetch_values(neighbors, values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressed::CompressedGraph;
    use crate::{Direction, EdgeTable, GraphBuilder, VertexIds};

    #[test]
    fn each_vertex_comes_once_in_turn_with_its_list() {
        let vertices = 90;
        let sources: Vec<u32> = (0..400).map(|edge| edge * 7 % vertices).collect();
        let targets: Vec<u32> = (0..400).map(|edge| edge * edge % vertices).collect();
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        let weights = (1..=400).map(f64::from).collect();
        let weighted = table.clone().with_weights(weights).unwrap();
        let order: Vec<VertexId> = (0..vertices).map(|v| v * 31 % vertices).collect();
        let labels: Vec<u32> = (0..vertices).collect();
        let of = |direction, arcs, table: &EdgeTable| {
            let builder = GraphBuilder::new().direction(direction).shard_arcs(arcs);
            builder.build(table.clone()).unwrap()
        };
        let one = of(Direction::Undirected, 1 << 20, &table);
        let compressed = CompressedGraph::of(one.clone()).unwrap();
        let others = [
            of(Direction::Undirected, 50, &table),
            of(Direction::Directed, 1 << 20, &table),
            of(Direction::Undirected, 1 << 20, &weighted),
        ];
        let views = others.iter().map(|graph| (GraphView::from(graph), false));
        let views = views.chain([(GraphView::from(&one), true), ((&compressed).into(), false)]);
        for (view, has_one) in views {
            let lists = VertexLists::new(view);
            for count in [0, 1, 7, 8, 9, 16, 17, 90] {
                for values in [None, Some(&labels[..])] {
                    let mut seen = Vec::new();
                    lists.for_each_prefetched(&order[..count], values, |index, listed| {
                        assert_eq!(index, seen.len());
                        assert_eq!(listed.only.is_some(), has_one);
                        if let Some(OneList(list)) = listed.only {
                            assert!(view.neighbors(listed.vertex).eq(list.iter().copied()));
                        }
                        seen.push(listed.vertex);
                    });
                    assert_eq!(seen, order[..count]);
                }
            }
        }
    }
}
