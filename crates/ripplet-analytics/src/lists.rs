//! Where an algorithm finds a vertex's neighbours, whatever keeps them.

use ripplet_graph::batch::BatchGraph;
use ripplet_graph::{Graph, Neighbors, VertexId};

/// Lists of neighbours: of a graph of one shard or several, or of a graph of a batch.
pub(crate) trait Lists: Copy + Sync {
    /// How many vertices there are.
    fn vertices(self) -> u32;

    /// The list of a vertex, which ascends.
    fn of(&self, vertex: VertexId) -> &[VertexId];

    /// The stored weights beside the list; none where there are no weights.
    fn weights_of(&self, vertex: VertexId) -> &[u32];
}

/// The lists of a graph of one shard, or of a batch.
#[derive(Clone, Copy)]
pub(crate) struct OneShard<'a> {
    vertices: u32,
    lists: Neighbors<'a>,
}

impl Lists for OneShard<'_> {
    fn vertices(self) -> u32 {
        self.vertices
    }

    #[inline]
    fn of(&self, vertex: VertexId) -> &[VertexId] {
        self.lists.of(vertex as usize)
    }

    #[inline]
    fn weights_of(&self, vertex: VertexId) -> &[u32] {
        self.lists.weights_of(vertex as usize).unwrap_or_default()
    }
}

/// The lists of a graph of any shards, one of which each look finds.
#[derive(Clone, Copy)]
pub(crate) struct AnyShards<'a> {
    graph: &'a Graph,
    incoming: bool,
}

impl Lists for AnyShards<'_> {
    fn vertices(self) -> u32 {
        self.graph.vertices()
    }

    #[inline]
    fn of(&self, vertex: VertexId) -> &[VertexId] {
        let (lists, local) = self.lists(vertex);
        lists.of(local)
    }

    #[inline]
    fn weights_of(&self, vertex: VertexId) -> &[u32] {
        let (lists, local) = self.lists(vertex);
        lists.weights_of(local).unwrap_or_default()
    }
}

impl<'a> AnyShards<'a> {
    /// The lists of a vertex's shard, and its place there.
    #[inline]
    fn lists(&self, vertex: VertexId) -> (Neighbors<'a>, usize) {
        let shard = self.graph.shard_of(vertex);
        let incoming = shard.incoming().filter(|_| self.incoming);
        (incoming.unwrap_or_else(|| shard.out()), (vertex - shard.vertices().start) as usize)
    }
}

/// Which arcs a search follows. On an undirected graph both are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// From their sources: what is found is how far a vertex is from those searched from.
    Arcs,
    /// From their targets: how far those searched from are from a vertex.
    Against,
}

/// The lists of a graph of a batch.
pub(crate) fn of_member(graph: BatchGraph<'_>, along: Along) -> OneShard<'_> {
    let incoming = graph.incoming().filter(|_| along == Along::Against);
    OneShard { vertices: graph.vertices(), lists: incoming.unwrap_or_else(|| graph.out()) }
}

/// What runs over lists of either kind.
pub(crate) trait Over {
    type Result;

    fn lists<L: Lists>(self, lists: L) -> Self::Result;
}

/// Runs over a graph's lists: those of one shard at once, others through their shards.
pub(crate) fn over<O: Over>(graph: &Graph, along: Along, work: O) -> O::Result {
    let incoming = along == Along::Against;
    match graph.shards() {
        [shard] => {
            let lists = shard.incoming().filter(|_| incoming).unwrap_or_else(|| shard.out());
            work.lists(OneShard { vertices: graph.vertices(), lists })
        }
        _ => work.lists(AnyShards { graph, incoming }),
    }
}

/// The lists that arcs leave by and those that they enter by: the same ones on an undirected graph.
#[derive(Clone, Copy)]
pub(crate) struct BothWays<L> {
    pub out: L,
    pub incoming: L,
}

/// Both lists of a graph of a batch.
pub(crate) fn both_of_member(graph: BatchGraph<'_>) -> BothWays<OneShard<'_>> {
    BothWays { out: of_member(graph, Along::Arcs), incoming: of_member(graph, Along::Against) }
}

/// What runs over both lists of either kind.
pub(crate) trait OverBoth {
    type Result;

    fn lists<L: Lists>(self, lists: BothWays<L>) -> Self::Result;
}

/// Runs over both of a graph's lists, as [`over`] does.
pub(crate) fn over_both<O: OverBoth>(graph: &Graph, work: O) -> O::Result {
    match graph.shards() {
        [shard] => {
            let of = |lists| OneShard { vertices: graph.vertices(), lists };
            let incoming = shard.incoming().unwrap_or_else(|| shard.out());
            work.lists(BothWays { out: of(shard.out()), incoming: of(incoming) })
        }
        _ => {
            let of = |incoming| AnyShards { graph, incoming };
            work.lists(BothWays { out: of(false), incoming: of(true) })
        }
    }
}
