//! A graph's neighbour lists as plain slices, and how to have them in the cache in time.

use rayon::prelude::*;
use ripplet_graph::{Graph, Neighbors, VertexId};
use std::sync::atomic::AtomicU32;

/// A graph's neighbour lists as plain slices: looked up once a run, not once a vertex.
pub(super) struct Lists<'a> {
    /// The first shard's, mostly the only one's: a small graph finds them without a search.
    first: ShardLists<'a>,
    others: Vec<ShardLists<'a>>,
}

#[derive(Default)]
struct ShardLists<'a> {
    first: VertexId,
    end: VertexId,
    out: Neighbors<'a>,
    incoming: Option<Neighbors<'a>>,
}

/// Where a vertex's lists are.
#[derive(Clone, Copy)]
pub(super) struct Place<'s, 'a> {
    shard: &'s ShardLists<'a>,
    local: usize,
}

/// The lists that a vertex hears from, each with its weights.
#[derive(Clone, Copy)]
pub(super) struct Heard<'a> {
    out: (&'a [VertexId], Option<&'a [u32]>),
    incoming: Option<(&'a [VertexId], Option<&'a [u32]>)>,
}

impl<'a> Heard<'a> {
    /// Calls `visit(neighbors, weights)` for each list.
    #[inline]
    pub fn each(self, mut visit: impl FnMut(&'a [VertexId], Option<&'a [u32]>)) {
        visit(self.out.0, self.out.1);
        if let Some((neighbors, weights)) = self.incoming {
            visit(neighbors, weights);
        }
    }

    /// The number of arcs that touch the vertex.
    #[inline]
    pub fn degree(self) -> u64 {
        self.out.0.len() as u64 + self.incoming.map_or(0, |(neighbors, _)| neighbors.len() as u64)
    }
}

impl<'a> Lists<'a> {
    pub fn new(graph: &'a Graph) -> Lists<'a> {
        let mut shards = graph.shards().iter().map(|shard| {
            let (vertices, out, incoming) = (shard.vertices(), shard.out(), shard.incoming());
            ShardLists { first: vertices.start, end: vertices.end, out, incoming }
        });
        Lists { first: shards.next().unwrap_or_default(), others: shards.collect() }
    }

    /// The summed weights of the arcs that touch a vertex, over all vertices.
    pub fn strength(&self) -> u64 {
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
    /// Calls `visit(neighbors, weights)` for each list that the vertex hears from.
    #[inline]
    pub fn each(self, visit: impl FnMut(&'a [VertexId], Option<&'a [u32]>)) {
        self.heard().each(visit);
    }

    /// The lists themselves: for who asks for more than one thing about them. Always inlined, as
    /// what it gives would be handed over in memory.
    #[inline(always)]
    pub fn heard(self) -> Heard<'a> {
        let of = |lists: &Neighbors<'a>| (lists.of(self.local), lists.weights_of(self.local));
        Heard { out: of(&self.shard.out), incoming: self.shard.incoming.as_ref().map(of) }
    }

    /// The summed weights of the arcs that touch the vertex.
    #[inline]
    pub fn strength(self) -> u64 {
        if self.shard.out.weights().is_some() {
            return self.weighted_strength();
        }
        let degree = |lists: &Neighbors<'_>| u64::from(lists.degree(self.local));
        degree(&self.shard.out) + self.shard.incoming.as_ref().map_or(0, degree)
    }

    /// A function of its own, so that a strength without weights is few instructions.
    #[inline(never)]
    fn weighted_strength(self) -> u64 {
        let mut sum = 0;
        self.each(|_, weights| {
            sum += weights.into_iter().flatten().map(|&weight| u64::from(weight)).sum::<u64>();
        });
        sum
    }
}

/// How many vertices ahead of the one at work each step of [`Lists::ahead`] is.
const AHEAD: usize = 8;
/// Neighbours whose labels are fetched ahead: for longer lists the processor's own reordering
/// hides the latency.
const LABELS_AHEAD: usize = 64;
/// Neighbours in a cache line.
const LINE: usize = 64 / size_of::<VertexId>();

impl Lists<'_> {
    /// Calls `visit` for each vertex in turn, and meanwhile fetches the lists of the next ones and,
    /// where `labels` are given, their neighbours' labels.
    ///
    /// What a vertex needs lies in three places, each of which tells where the next is: offsets,
    /// neighbours, labels. Waiting for memory three times for each vertex would take longer than
    /// all the counting; so each step is begun a few vertices before it is needed.
    #[inline]
    pub fn ahead(
        &self,
        vertices: &[VertexId],
        labels: Option<&[AtomicU32]>,
        mut visit: impl FnMut(usize, VertexId),
    ) {
        let fetch_offsets = |v: &VertexId| self.of(*v).fetch_offsets();
        let fetch_neighbors = |v: &VertexId| self.of(*v).fetch_neighbors();
        let fetch_labels = |v: &VertexId| {
            if let Some(labels) = labels {
                self.of(*v).fetch_labels(labels);
                fetch(labels, *v as usize);
            }
        };
        // One loop from before the first vertex on, so that each step is inlined in one place.
        for step in 0..vertices.len() + 3 * AHEAD {
            let at = |behind: usize| vertices.get(step.wrapping_sub(behind));
            at(0).inspect(|v| fetch_offsets(v));
            at(AHEAD).inspect(|v| fetch_neighbors(v));
            at(2 * AHEAD).inspect(|v| fetch_labels(v));
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
        self.each(|neighbors, weights| {
            for at in (0..neighbors.len().min(LABELS_AHEAD)).step_by(LINE) {
                fetch(neighbors, at);
                weights.inspect(|weights| fetch(weights, at));
            }
        });
    }

    #[inline(never)]
    fn fetch_labels(self, labels: &[AtomicU32]) {
        self.each(|neighbors, _| {
            neighbors.iter().take(LABELS_AHEAD).for_each(|&u| fetch(labels, u as usize));
        });
    }
}

/// Asks for a value's cache line; does nothing where there is no such value, or no such
/// instruction.
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
