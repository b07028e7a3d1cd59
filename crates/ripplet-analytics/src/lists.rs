//! Where an algorithm finds a vertex's neighbours, whatever keeps them.

use ripplet_graph::batch::BatchGraph;
use ripplet_graph::{Graph, Neighbors, Shard, VertexId};

/// Lists of neighbours: of a graph of one shard or several, or of a graph of a batch.
pub(crate) trait Lists: Copy + Sync {
    /// How many vertices there are.
    fn vertices(self) -> u32;

    /// How many arcs there are.
    fn arcs(self) -> u64;

    /// The list of a vertex, which ascends.
    fn of(&self, vertex: VertexId) -> &[VertexId];

    /// The stored weights beside the list; none where there are no weights.
    fn weights_of(&self, vertex: VertexId) -> &[u32];

    /// Where the list begins among all.
    fn begin(&self, vertex: VertexId) -> usize;
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

    fn arcs(self) -> u64 {
        self.lists.neighbors().len() as u64
    }

    #[inline]
    fn of(&self, vertex: VertexId) -> &[VertexId] {
        self.lists.of(vertex as usize)
    }

    #[inline]
    fn weights_of(&self, vertex: VertexId) -> &[u32] {
        self.lists.weights_of(vertex as usize).unwrap_or_default()
    }

    #[inline]
    fn begin(&self, vertex: VertexId) -> usize {
        self.lists.offsets()[vertex as usize] as usize
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

    fn arcs(self) -> u64 {
        self.graph.arcs()
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

    fn begin(&self, vertex: VertexId) -> usize {
        let (lists, local) = self.lists(vertex);
        let before = self.graph.shards().iter().take_while(|shard| shard.vertices().end <= vertex);
        let before: usize = before.map(|shard| self.of_shard(shard).neighbors().len()).sum();
        before + lists.offsets()[local] as usize
    }
}

impl<'a> AnyShards<'a> {
    /// The lists of a vertex's shard, and its place there.
    #[inline]
    fn lists(&self, vertex: VertexId) -> (Neighbors<'a>, usize) {
        let shard = self.graph.shard_of(vertex);
        (self.of_shard(shard), (vertex - shard.vertices().start) as usize)
    }

    #[inline]
    fn of_shard(&self, shard: &'a Shard) -> Neighbors<'a> {
        let incoming = shard.incoming().filter(|_| self.incoming);
        incoming.unwrap_or_else(|| shard.out())
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

/// Both lists of each vertex, as a search sees them.
#[derive(Clone, Copy)]
pub(crate) struct Sides<L> {
    /// Where a search goes on to from a vertex.
    pub ahead: L,
    /// Where it comes to a vertex from.
    pub behind: L,
}

impl<L: Lists> Sides<L> {
    /// How many vertices there are.
    pub fn vertices(self) -> u32 {
        self.ahead.vertices()
    }
}

fn sides<L>(along: Along, out: L, incoming: L) -> Sides<L> {
    match along {
        Along::Arcs => Sides { ahead: out, behind: incoming },
        Along::Against => Sides { ahead: incoming, behind: out },
    }
}

/// The lists of a graph of a batch.
pub(crate) fn of_member(graph: BatchGraph<'_>, along: Along) -> Sides<OneShard<'_>> {
    let (vertices, out) = (graph.vertices(), graph.out());
    let of = |lists| OneShard { vertices, lists };
    sides(along, of(out), of(graph.incoming().unwrap_or(out)))
}

/// What runs over lists of either kind.
pub(crate) trait Over {
    type Result;

    fn lists<L: Lists>(self, lists: Sides<L>) -> Self::Result;
}

/// Runs over a graph's lists: those of one shard at once, others through their shards.
pub(crate) fn over<O: Over>(graph: &Graph, along: Along, work: O) -> O::Result {
    match graph.shards() {
        [shard] => {
            let (vertices, out) = (graph.vertices(), shard.out());
            let of = |lists| OneShard { vertices, lists };
            work.lists(sides(along, of(out), of(shard.incoming().unwrap_or(out))))
        }
        _ => {
            let of = |incoming| AnyShards { graph, incoming };
            work.lists(sides(along, of(false), of(true)))
        }
    }
}
