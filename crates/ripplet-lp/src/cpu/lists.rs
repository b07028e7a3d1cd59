//! Neighbour lists of a graph: plain ones as slices with prefetching, compressed ones decoded in
//! parts.

use rayon::prelude::*;
use ripplet_graph::compressed::{CompressedGraph, CompressedShard};
use ripplet_graph::storage::ShardLists;
use ripplet_graph::{GraphView, Neighbors, VertexId};
use std::sync::atomic::AtomicU32;

/// The neighbour lists of a graph, plain or compressed; the kind is tested once per vertex.
pub(super) enum Lists<'a> {
    Plain(PlainLists<'a>),
    Compressed(&'a CompressedGraph),
}

/// Plain lists as slices, resolved once per run.
pub(super) struct PlainLists<'a> {
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

/// `Adjacency`: the neighbour lists of a vertex, in parts that are slices.
pub(super) trait Adjacency: Copy {
    /// Calls `visit(neighbors, weights)` for each part.
    fn each(self, visit: impl FnMut(&[VertexId], Option<&[u32]>));

    /// Returns the number of arcs that touch the vertex.
    fn degree(self) -> u64;
}

/// A visitor of parts: neighbours and their weights.
type Visit<'v> = dyn FnMut(&[VertexId], Option<&[u32]>) + 'v;

/// The place of a vertex's plain lists.
#[derive(Clone, Copy)]
pub(super) struct Place<'s, 'a> {
    shard: &'s ShardSlices<'a>,
    local: usize,
}

/// Plain lists: each list is one part.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    out: (&'a [VertexId], Option<&'a [u32]>),
    incoming: Option<(&'a [VertexId], Option<&'a [u32]>)>,
}

/// `Coded`: compressed lists. A part is a decoded block on the stack; nothing is allocated.
#[derive(Clone, Copy)]
pub(super) struct Coded<'a> {
    shard: &'a CompressedShard,
    local: usize,
}

/// Plain or compressed lists of a vertex.
#[derive(Clone, Copy)]
pub(super) enum Either<'s, 'a> {
    Plain(Place<'s, 'a>),
    Coded(Coded<'a>),
}

impl Adjacency for Slices<'_> {
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
}

impl Adjacency for Coded<'_> {
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
}

impl Adjacency for Either<'_, '_> {
    #[inline]
    fn each(self, mut visit: impl FnMut(&[VertexId], Option<&[u32]>)) {
        match self {
            Either::Plain(place) => place.adjacency().each(visit),
            Either::Coded(coded) => coded.each_by(&mut visit),
        }
    }

    #[inline]
    fn degree(self) -> u64 {
        match self {
            Either::Plain(place) => place.adjacency().degree(),
            Either::Coded(coded) => coded.degree(),
        }
    }
}

impl<'a> Lists<'a> {
    pub fn new(graph: GraphView<'a>) -> Lists<'a> {
        let graph = match graph {
            GraphView::Plain(graph) => graph,
            GraphView::Compressed(graph) => return Lists::Compressed(graph),
        };
        let mut shards = graph.shards().iter().map(|shard| {
            let (vertices, out, incoming) = (shard.vertices(), shard.out(), shard.incoming());
            ShardSlices { first: vertices.start, end: vertices.end, out, incoming }
        });
        let first = shards.next().unwrap_or_default();
        Lists::Plain(PlainLists { first, others: shards.collect() })
    }

    /// Returns the sum of all vertices' strengths: the summed weights of the arcs that touch a
    /// vertex.
    pub fn strength(&self) -> u64 {
        match self {
            Lists::Plain(lists) => lists.strength(),
            Lists::Compressed(graph) => {
                let graph = GraphView::from(*graph);
                (0..graph.vertices()).into_par_iter().map(|v| graph.strength(v)).sum()
            }
        }
    }

    /// Returns the neighbour lists of `v`.
    #[inline]
    pub fn of(&self, v: VertexId) -> Either<'_, 'a> {
        match self {
            Lists::Plain(lists) => Either::Plain(lists.of(v)),
            Lists::Compressed(graph) => Either::Coded(Coded::of(graph, v)),
        }
    }

    /// Returns the summed weights of the arcs that touch a vertex.
    #[inline]
    pub fn strength_of(&self, v: VertexId) -> u64 {
        match self {
            Lists::Plain(lists) => lists.of(v).strength(),
            Lists::Compressed(graph) => GraphView::from(*graph).strength(v),
        }
    }
}

impl<'a> Coded<'a> {
    #[inline]
    pub fn of(graph: &'a CompressedGraph, v: VertexId) -> Coded<'a> {
        let shard = graph.shard_of(v);
        Coded { shard, local: (v - shard.vertices().start) as usize }
    }

    /// Calls [`Adjacency::each`] without inlining a loop per caller.
    #[inline(never)]
    fn each_by(self, visit: &mut Visit<'_>) {
        self.each(visit);
    }
}

impl<'a> PlainLists<'a> {
    fn strength(&self) -> u64 {
        let shards = std::iter::once(&self.first).chain(&self.others);
        let lists = shards.flat_map(|shard| [Some(shard.out), shard.incoming]);
        let strength = |lists: Neighbors<'_>| match lists.weights() {
            Some(weights) => weights.par_iter().map(|&weight| u64::from(weight)).sum(),
            None => lists.neighbors().len() as u64,
        };
        lists.flatten().map(strength).sum()
    }

    #[inline]
    pub fn of(&self, v: VertexId) -> Place<'_, 'a> {
        let shard = match v < self.first.end {
            true => &self.first,
            false => &self.others[self.others.partition_point(|shard| shard.end <= v)],
        };
        Place { shard, local: (v - shard.first) as usize }
    }
}

impl<'a> Place<'_, 'a> {
    /// Returns the lists as slices. Always inlined, as the result would be returned in memory.
    #[inline(always)]
    pub fn adjacency(self) -> Slices<'a> {
        let of = |lists: &Neighbors<'a>| (lists.of(self.local), lists.weights_of(self.local));
        Slices { out: of(&self.shard.out), incoming: self.shard.incoming.as_ref().map(of) }
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
        self.adjacency().each(|_, weights| {
            sum += weights.into_iter().flatten().map(|&weight| u64::from(weight)).sum::<u64>();
        });
        sum
    }
}

/// Neighbours that are decoded at a time.
const DECODED: usize = 64;

/// The distance between the stages of [`Lists::ahead`], in vertices.
const AHEAD: usize = 8;
/// Neighbours whose labels are prefetched: for longer lists out-of-order execution hides the
/// latency.
const LABELS_AHEAD: usize = 64;
/// Neighbours per cache line.
const LINE: usize = 64 / size_of::<VertexId>();

impl Lists<'_> {
    /// Calls `visit` for each vertex, and prefetches the lists of the next ones and, if `labels`
    /// are given, their neighbours' labels.
    ///
    /// The data of a vertex is in three dependent arrays: offsets, neighbours, labels. Three cache
    /// misses per vertex would take longer than counting; each access is therefore started a few
    /// vertices before it is needed.
    #[inline]
    pub fn ahead(
        &self,
        vertices: &[VertexId],
        labels: Option<&[AtomicU32]>,
        mut visit: impl FnMut(usize, VertexId),
    ) {
        // Compressed lists are not prefetched: decoding takes longer than the latency.
        let plain = match self {
            Lists::Plain(lists) => Some(lists),
            Lists::Compressed(_) => None,
        };
        let fetch_labels = |lists: &PlainLists<'_>, v: VertexId| {
            if let Some(labels) = labels {
                lists.of(v).fetch_labels(labels);
                fetch(labels, v as usize);
            }
        };
        // A single loop that starts before the first vertex, so that each stage is inlined once.
        for step in 0..vertices.len() + 3 * AHEAD {
            let at = |behind: usize| vertices.get(step.wrapping_sub(behind));
            if let Some(lists) = plain {
                at(0).inspect(|&&v| lists.of(v).fetch_offsets());
                at(AHEAD).inspect(|&&v| lists.of(v).fetch_neighbors());
                at(2 * AHEAD).inspect(|&&v| fetch_labels(lists, v));
            }
            at(3 * AHEAD).inspect(|&&v| visit(step - 3 * AHEAD, v));
        }
    }
}

impl Place<'_, '_> {
    #[inline]
    fn fetch_offsets(self) {
        fetch(self.shard.out.offsets(), self.local);
        if let Some(incoming) = &self.shard.incoming {
            fetch(incoming.offsets(), self.local);
        }
    }

    #[inline]
    fn fetch_neighbors(self) {
        self.adjacency().each(|neighbors, weights| {
            for at in (0..neighbors.len().min(LABELS_AHEAD)).step_by(LINE) {
                fetch(neighbors, at);
                weights.inspect(|weights| fetch(weights, at));
            }
        });
    }

    #[inline(never)]
    fn fetch_labels(self, labels: &[AtomicU32]) {
        self.adjacency().each(|neighbors, _| {
            neighbors.iter().take(LABELS_AHEAD).for_each(|&u| fetch(labels, u as usize));
        });
    }
}

/// Prefetches the cache line of a value; does nothing if there is no such value or instruction.
#[inline]
pub(super) fn fetch<T>(values: &[T], index: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(value) = values.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults; the pointer is a live reference's.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (values, index);
}
