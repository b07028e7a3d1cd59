//! The graph of a level: the input, or a contracted graph of it.

use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::NeighborLists;

/// A graph with weighted arcs and vertex masses.
///
/// Self-loops and arcs of weight 0 are left out: the first count in no gain, and nothing follows
/// from the second.
pub(super) trait Level: Sync {
    /// Returns the mass of each vertex.
    fn masses(&self) -> &[u64];

    /// Returns the number of arcs of a vertex, or more if some are left out.
    fn degree(&self, v: VertexId) -> u32;

    /// Yields each neighbour with the weight of the arc; a neighbour may come repeatedly.
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)>;

    /// Returns a bound of the sum of a vertex's weights.
    fn largest_weight(&self) -> u64;

    /// Returns the number of vertices.
    fn vertices(&self) -> u32 {
        self.masses().len() as u32
    }

    /// Returns the mass of a vertex.
    #[inline]
    fn mass(&self, v: VertexId) -> u64 {
        self.masses()[v as usize]
    }
}

/// The input graph. `WEIGHTED` is whether arcs have weights, known at compile time for the loops
/// over them.
pub(super) struct InputLevel<N, const WEIGHTED: bool> {
    pub lists: N,
    pub masses: Vec<u64>,
    pub largest_weight: u64,
}

/// The arcs of an [`InputLevel`], compiled once with weights and once without.
pub(super) trait InputArcs {
    /// Yields what [`Level::arcs`] yields.
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)>;
}

impl<N: NeighborLists> InputArcs for InputLevel<N, false> {
    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        self.lists.each_of(v as usize).filter(move |&u| u != v).map(|u| (u, 1))
    }
}

impl<N: NeighborLists> InputArcs for InputLevel<N, true> {
    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        let weights = self.lists.each_weight_of(v as usize).into_iter().flatten();
        let arcs = self.lists.each_of(v as usize).zip(weights.map(u64::from));
        arcs.filter(move |&(u, weight)| u != v && weight > 0)
    }
}

impl<N: NeighborLists, const WEIGHTED: bool> Level for InputLevel<N, WEIGHTED>
where
    InputLevel<N, WEIGHTED>: InputArcs,
{
    #[inline]
    fn masses(&self) -> &[u64] {
        &self.masses
    }

    fn largest_weight(&self) -> u64 {
        self.largest_weight
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.lists.degree_of(v as usize)
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        InputArcs::arcs(self, v)
    }
}

/// A contracted graph.
///
/// The list of a vertex begins at its own place, and may be shorter than the space up to the next
/// list: contraction knows only a bound of its length beforehand.
#[derive(Debug, Default)]
pub(super) struct LevelGraph {
    pub masses: Vec<u64>,
    pub begins: Vec<u64>,
    pub degrees: Vec<u32>,
    pub lists: Lists,
    pub largest_weight: u64,
}

/// The arcs of a contracted graph: two arrays of equal length, which may be longer than needed.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub neighbors: Vec<VertexId>,
    pub weights: Vec<u64>,
    /// The length that is needed.
    needed: u64,
}

/// Arrays for the arcs of contracted graphs, which are used again.
pub(super) struct ListPool {
    /// Arrays that no level uses, the largest last.
    spare: Vec<Lists>,
    /// The arcs that further levels may need.
    room: u64,
    /// The length of all arrays.
    allocated: u64,
    /// The largest length of all arrays.
    most: u64,
}

impl ListPool {
    /// Creates a pool for contractions of a graph. Levels may need twice its arcs together.
    pub fn new(arcs: u64) -> ListPool {
        // The first contraction needs the arcs of the graph, and all others together need less on most
        // graphs; on others, contraction ends early. Arrays are at most a quarter longer than needed.
        let room = 2 * arcs;
        ListPool { spare: Vec::new(), room, allocated: 0, most: room + room / 4 }
    }

    /// Returns the bytes of all arrays.
    pub fn bytes_for(arcs: u64) -> u64 {
        ListPool::new(arcs).most.saturating_mul((size_of::<VertexId>() + size_of::<u64>()) as u64)
    }

    /// Returns arrays of at least this length, if there is room.
    pub fn take(&mut self, arcs: u64) -> Result<Option<Lists>, OutOfMemory> {
        if arcs > self.room {
            return Ok(None);
        }
        self.room -= arcs;
        let last = self.spare.pop().unwrap_or_default();
        if (arcs..=arcs + arcs / 4).contains(&(last.neighbors.len() as u64)) {
            return Ok(Some(Lists { needed: arcs, ..last }));
        }
        self.free(last);
        while self.allocated + arcs > self.most
            && let Some(lists) = self.spare.pop()
        {
            self.free(lists);
        }
        self.allocated += arcs;
        let (neighbors, weights) = (memory::zeros(arcs as usize)?, memory::zeros(arcs as usize)?);
        Ok(Some(Lists { neighbors, weights, needed: arcs }))
    }

    /// Takes back arrays; those of the level above must have come before.
    pub fn give_back(&mut self, lists: Lists) {
        self.room += lists.needed;
        self.spare.push(lists);
    }

    fn free(&mut self, lists: Lists) {
        self.allocated -= lists.neighbors.len() as u64;
    }
}

impl Level for LevelGraph {
    #[inline]
    fn masses(&self) -> &[u64] {
        &self.masses
    }

    fn largest_weight(&self) -> u64 {
        self.largest_weight
    }

    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
        self.degrees[v as usize]
    }

    #[inline]
    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        let begin = self.begins[v as usize] as usize;
        let list = begin..begin + self.degrees[v as usize] as usize;
        let arcs = self.lists.neighbors[list.clone()].iter().zip(&self.lists.weights[list]);
        arcs.map(|(&u, &weight)| (u, weight))
    }
}
