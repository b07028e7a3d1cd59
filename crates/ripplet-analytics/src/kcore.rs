//! k-core decomposition: the coreness of each vertex.
//!
//! # What it returns
//! The coreness of a vertex is the largest k such that the vertex belongs to the k-core, the largest
//! subgraph in which each vertex has at least k neighbours. The largest coreness is the graph's
//! degeneracy.
//!
//! In a directed graph the degree is the number of arcs in both directions. Repeated arcs that the
//! graph keeps count each, and a self-loop counts 2, as in igraph's `coreness` with mode `all`.
//!
//! # Algorithm
//! Vertices are removed in rounds of ascending k, all threads at once:
//!
//! ```text
//! degree[v] = the number of arcs that touch v, for each vertex v
//! while vertices remain:
//!     k = the smallest degree of a remaining vertex
//!     order = the remaining vertices of degree k
//!     for each v in order, which grows meanwhile:
//!         for each neighbour u of v with degree[u] > k:
//!             degree[u] −= 1, atomically;  append u to order if this made it k
//! ```
//!
//! A degree never falls below the k of its round, so that `degree` ends as the coreness. Each arc is
//! read once. The scans for the smallest degree read a vertex at most once for each k up to its
//! coreness: O(vertices + arcs) in total.
//!
//! # Memory
//! Beside the graph 12 bytes per vertex, 4 of them the result: [`plan`]. For a batch 4 bytes per
//! vertex, and 8 bytes per thread and vertex of the largest graph.
//!
//! # Determinism
//! The coreness of a graph is unique: the result is equal for any number of threads and any shards.
//!
//! # References
//! Seidman, *Network structure and minimum degree*, Social Networks 5, 1983. Batagelj, Zaveršnik,
//! *An O(m) algorithm for cores decomposition of networks*, 2003. Kabir, Madduri, *Parallel k-core
//! decomposition on multicore platforms*, IPDPS workshops 2017: rounds with buffers per thread.

use crate::run::go_on;
use crate::sides::{Along, Sides, dispatch_sides, of_member};
use crate::swarm::{self, PerVertex, Swarm};
use crate::{AnalysisError, InvalidSetting, Plan};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{
    Direction, GraphView, Observer, OutOfMemory, VertexId, as_atomic, memory, tasks,
};
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices of a task of a scan.
const SCANNED_PER_TASK: usize = 1 << 14;

/// Vertices of a task that counts degrees: fewer, as it reads their lists.
const COUNTED_PER_TASK: usize = 1 << 10;

/// Removed vertices of a task: few, as their degrees differ.
const REMOVED_PER_TASK: usize = 64;

/// The least number of removed vertices that several threads share: to start a parallel loop costs
/// about as much as to remove some hundred vertices of low degree.
const WORTH_SHARING: usize = 1 << 10;

/// Vertices that a task collects before it appends them to the shared order.
const BUFFER: usize = 128;

/// Returns the memory that [`coreness`] needs beside the graph.
pub fn plan<'g>(graph: impl Into<GraphView<'g>>) -> Plan {
    let vertices = u64::from(graph.into().vertices());
    Plan::default().with("coreness", 4 * vertices).with("vertices in order", 8 * vertices)
}

/// Returns the coreness of each vertex, computed on rayon's current pool.
///
/// # Errors
/// If a vertex has more than 2³² − 1 arcs, the observer cancels, or memory is refused.
///
/// # Examples
/// A triangle with a pendant vertex:
///
/// ```
/// use ripplet_analytics::kcore::coreness;
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// let ids = VertexIds::Consecutive { first: 0, count: 4 };
/// let edges = EdgeTable::new(ids, vec![0, 1, 2, 2], vec![1, 2, 0, 3])?;
/// let graph = GraphBuilder::new().build(edges)?;
/// assert_eq!(coreness(&graph, &mut ())?, [2, 2, 2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn coreness<'g>(
    graph: impl Into<GraphView<'g>>,
    observer: &mut dyn Observer,
) -> Result<Vec<u32>, AnalysisError> {
    coreness_in(graph.into(), observer)
}

fn coreness_in(
    graph: GraphView<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<u32>, AnalysisError> {
    observer.on_stage("removing vertices by degree");
    let mut degrees = memory::zeros(graph.vertices() as usize)?;
    let mut workspace = Workspace::new(graph.vertices())?;
    let directed = graph.direction() == Direction::Directed;
    let workspace = &mut workspace;
    let cores = Cores { degrees: &mut degrees, workspace, directed, shared: true, observer };
    dispatch_sides!(graph, Along::Arcs, lists => cores.decompose(lists))?;
    Ok(degrees)
}

/// Returns the memory that [`coreness_of_batch`] needs beside these graphs on `threads` threads.
pub fn plan_of_batch(graphs: BatchSlice<'_>, threads: usize) -> Plan {
    let workspace = 8 * u64::from(swarm::largest(graphs));
    Plan::default()
        .with("coreness", 4 * graphs.vertices())
        .with("vertices in order, one graph a thread", (threads as u64).saturating_mul(workspace))
}

/// Returns the coreness of each vertex within its graph, graph by graph, in the order of the
/// vertices in their batch.
///
/// One thread works on each graph.
///
/// # Errors
/// See [`coreness`].
pub fn coreness_of_batch(
    graphs: BatchSlice<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<u32>, AnalysisError> {
    observer.on_stage("removing vertices by degree");
    let observer: &dyn Observer = observer;
    let mut degrees = memory::zeros(graphs.vertices() as usize)?;
    let largest = swarm::largest(graphs);
    let work = |workspace: &mut Workspace, graph: BatchGraph<'_>, place: PerVertex<'_, u32>| {
        let (PerVertex(degrees), directed) = (place, graph.incoming().is_some());
        let lists = of_member(graph, Along::Arcs);
        Cores { degrees, workspace, directed, shared: false, observer }.decompose(lists)
    };
    let place = PerVertex(&mut degrees[..]);
    Swarm { make: || Workspace::new(largest), work, observer }.fill(graphs, place)?;
    Ok(degrees)
}

/// Workspace of a run beside the degrees, with room for a number of vertices.
struct Workspace {
    /// The vertices that are not yet removed, ascending.
    remaining: Vec<VertexId>,
    /// The vertices of a round in the order of their removal.
    order: Vec<VertexId>,
}

impl Workspace {
    fn new(vertices: u32) -> Result<Workspace, OutOfMemory> {
        let remaining = memory::zeros(vertices as usize)?;
        Ok(Workspace { remaining, order: memory::zeros(vertices as usize)? })
    }
}

/// The decomposition of one graph.
struct Cores<'a> {
    /// The degrees among the remaining vertices; of a removed vertex its coreness.
    degrees: &'a mut [u32],
    workspace: &'a mut Workspace,
    /// Whether arcs of both directions are read.
    directed: bool,
    /// Whether several threads share the graph.
    shared: bool,
    observer: &'a dyn Observer,
}

impl Cores<'_> {
    /// Removes all vertices, round by round.
    fn decompose<L: NeighborLists>(self, lists: Sides<L>) -> Result<(), AnalysisError> {
        let Cores { degrees, workspace, directed, shared, observer } = self;
        let vertices = degrees.len();
        let (remaining, order) =
            (&mut workspace.remaining[..vertices], &mut workspace.order[..vertices]);
        let arcs = Arcs { lists, directed };
        let of_task = |vertices: usize| if shared { vertices } else { usize::MAX };
        let tasks = of_task(SCANNED_PER_TASK);
        remaining.par_iter_mut().enumerate().with_min_len(tasks).for_each(|(v, to)| *to = v as _);
        let counted = degrees.par_iter_mut().enumerate().with_min_len(of_task(COUNTED_PER_TASK));
        counted.try_for_each(|(vertex, degree)| {
            *degree = arcs.degree(vertex as VertexId)?;
            Ok::<_, AnalysisError>(())
        })?;
        let degrees = as_atomic(degrees);
        let mut left = vertices;
        while left > 0 {
            go_on(observer)?;
            // In a batch, progress is counted in graphs.
            if shared {
                observer.on_progress((vertices - left) as f64 / vertices as f64);
            }
            let k = smallest(degrees, &remaining[..left], tasks);
            let round = Round { degrees, arcs, k, order: Order::new(order) };
            round.begin(&remaining[..left], tasks);
            round.remove(shared, observer)?;
            left = keep_above(degrees, k, &mut remaining[..left], tasks);
        }
        Ok(())
    }
}

/// Returns the smallest degree of these vertices.
fn smallest(degrees: &[AtomicU32], vertices: &[VertexId], task: usize) -> u32 {
    let of = |&vertex: &VertexId| degrees[vertex as usize].load(Relaxed);
    vertices.par_iter().with_min_len(task).map(of).min().unwrap_or(0)
}

/// Moves the vertices of a degree above `k` to the front, in their order; returns their number.
fn keep_above(degrees: &[AtomicU32], k: u32, vertices: &mut [VertexId], task: usize) -> usize {
    let block = task.min(vertices.len()).max(1);
    let keep = |block: &mut [VertexId]| {
        let mut kept = 0;
        for at in 0..block.len() {
            let vertex = block[at];
            block[kept] = vertex;
            kept += usize::from(degrees[vertex as usize].load(Relaxed) > k);
        }
        kept
    };
    if block == vertices.len() {
        return keep(vertices);
    }
    let kept: Vec<usize> = vertices.par_chunks_mut(block).map(keep).collect();
    let mut end = 0;
    for (index, kept) in kept.into_iter().enumerate() {
        vertices.copy_within(index * block..index * block + kept, end);
        end += kept;
    }
    end
}

/// The arcs that count for degrees.
#[derive(Clone, Copy)]
struct Arcs<L> {
    lists: Sides<L>,
    directed: bool,
}

impl<L: NeighborLists> Arcs<L> {
    /// Calls a function for the other end of each arc that touches a vertex.
    #[inline]
    fn each(&self, vertex: VertexId, mut visit: impl FnMut(VertexId)) {
        self.lists.ahead.each_of(vertex as usize).for_each(&mut visit);
        if self.directed {
            self.lists.behind.each_of(vertex as usize).for_each(visit);
        }
    }

    /// Returns the number of arcs that touch a vertex; a self-loop counts 2.
    fn degree(&self, vertex: VertexId) -> Result<u32, InvalidSetting> {
        let (mut degree, mut loops) = (0u64, 0u64);
        self.each(vertex, |neighbor| {
            degree += 1;
            loops += u64::from(neighbor == vertex);
        });
        // A directed graph has a loop in both lists, an undirected one once.
        let degree = if self.directed { degree } else { degree + loops };
        u32::try_from(degree).map_err(|_| InvalidSetting {
            name: "the degree of a vertex",
            value: degree as f64,
            expected: "at most 4294967295",
        })
    }
}

/// A round, which removes the vertices of coreness `k`.
struct Round<'a, L> {
    degrees: &'a [AtomicU32],
    arcs: Arcs<L>,
    k: u32,
    order: Order<'a>,
}

impl<L: NeighborLists> Round<'_, L> {
    /// Appends the vertices of degree k.
    fn begin(&self, vertices: &[VertexId], task: usize) {
        tasks::for_each_range(vertices.len(), task, &|range| {
            let mut found = Buffer::new(&self.order);
            for &vertex in &vertices[range] {
                if self.degrees[vertex as usize].load(Relaxed) == self.k {
                    found.push(vertex);
                }
            }
        });
    }

    /// Removes the vertices in order, including those that are appended meanwhile.
    fn remove(&self, shared: bool, observer: &dyn Observer) -> Result<(), AnalysisError> {
        let mut begin = 0;
        loop {
            let end = self.order.len();
            if begin == end {
                return Ok(());
            }
            go_on(observer)?;
            if shared && end - begin >= WORTH_SHARING {
                let vertices = &self.order.places[begin..end];
                let lower = |range: Range<usize>| self.lower(&vertices[range]);
                tasks::for_each_range(vertices.len(), REMOVED_PER_TASK, &lower);
            } else {
                self.lower(&self.order.places[begin..end]);
            }
            begin = end;
        }
    }

    /// Lowers the degrees of the neighbours of these vertices.
    fn lower(&self, vertices: &[AtomicU32]) {
        let mut reached = Buffer::new(&self.order);
        for vertex in vertices {
            self.arcs.each(vertex.load(Relaxed), |neighbor| {
                if lower(&self.degrees[neighbor as usize], self.k) {
                    reached.push(neighbor);
                }
            });
        }
    }
}

/// Lowers a degree by 1 if it is above `k`; returns whether this made it `k`.
#[inline]
fn lower(degree: &AtomicU32, k: u32) -> bool {
    let mut seen = degree.load(Relaxed);
    while seen > k {
        match degree.compare_exchange_weak(seen, seen - 1, Relaxed, Relaxed) {
            Ok(_) => return seen - 1 == k,
            Err(now) => seen = now,
        }
    }
    false
}

/// A list of vertices to which all threads append.
struct Order<'a> {
    places: &'a [AtomicU32],
    len: AtomicU32,
}

impl<'a> Order<'a> {
    fn new(places: &'a mut [VertexId]) -> Order<'a> {
        Order { places: as_atomic(places), len: AtomicU32::new(0) }
    }

    /// Returns the number of vertices. They are complete only if no thread appends.
    fn len(&self) -> usize {
        self.len.load(Relaxed) as usize
    }
}

/// Vertices that one task appends to an order: when the buffer is full, and when it is dropped.
struct Buffer<'a> {
    order: &'a Order<'a>,
    vertices: [VertexId; BUFFER],
    len: usize,
}

impl<'a> Buffer<'a> {
    fn new(order: &'a Order<'a>) -> Buffer<'a> {
        Buffer { order, vertices: [0; BUFFER], len: 0 }
    }

    #[inline]
    fn push(&mut self, vertex: VertexId) {
        if self.len == BUFFER {
            self.flush();
        }
        self.vertices[self.len] = vertex;
        self.len += 1;
    }

    fn flush(&mut self) {
        // Each vertex is appended at most once a run, so that the places suffice.
        let begin = self.order.len.fetch_add(self.len as u32, Relaxed) as usize;
        let places = &self.order.places[begin..begin + self.len];
        places.iter().zip(&self.vertices).for_each(|(place, &vertex)| place.store(vertex, Relaxed));
        self.len = 0;
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
