//! Connected components; of a directed graph, the weakly connected ones.
//!
//! # What it returns
//! For each vertex the smallest vertex of its component, and the number of components.
//!
//! # Directed graphs
//! Two vertices are connected if there is a path between them that may use arcs against their
//! direction.
//!
//! # Algorithm
//! Disjoint-set union by id: trees whose roots are their smallest vertices. For each arc, the
//! larger of its ends' roots becomes a child of the smaller one. All threads work at once, by
//! compare-and-swap on the root: a thread that loses a race retries with the new roots.
//!
//! # Memory
//! Beside the graph 4 bytes per vertex: [`plan`].
//!
//! # Determinism
//! The result is equal for any number of threads and any shards: in whatever order trees are
//! merged, the root is the smallest vertex.
//!
//! # References
//! Jayanti, Tarjan, *A randomized concurrent algorithm for disjoint set union*, PODC 2016.

use crate::run::go_on;
use crate::swarm::{PerGraph, PerVertex, Swarm};
use crate::{AnalysisError, Plan, RankPart};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{GraphView, Observer, VertexId, as_atomic, dispatch_lists, memory, tasks};
use ripplet_ranks::CommError;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Vertices of a task.
const VERTICES_PER_TASK: usize = 1 << 12;

/// The components of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The smallest vertex of each vertex's component.
    pub smallest: Vec<VertexId>,
    /// The number of components.
    pub count: u32,
}

/// The components of the graphs of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchComponents {
    /// The smallest vertex of each vertex's component, as an index within its graph; graph by
    /// graph, in the order of the vertices in their batch.
    pub smallest: Vec<VertexId>,
    /// The number of components of each graph.
    pub counts: Vec<u32>,
}

/// Returns the memory that [`components`] needs beside the graph.
pub fn plan<'g>(graph: impl Into<GraphView<'g>>) -> Plan {
    Plan::default().with("components", 4 * u64::from(graph.into().vertices()))
}

/// Returns the components of a graph, computed on rayon's current pool.
///
/// # Errors
/// If the observer cancels or memory is refused.
///
/// # Examples
/// ```
/// use ripplet_analytics::components::components;
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
///
/// // 0 – 1, 2 – 3.
/// let ids = VertexIds::Consecutive { first: 0, count: 4 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 2], vec![1, 3])?)?;
/// let found = components(&graph, &mut ())?;
/// assert_eq!(found.count, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn components<'g>(
    graph: impl Into<GraphView<'g>>,
    observer: &mut dyn Observer,
) -> Result<Components, AnalysisError> {
    components_in(graph.into(), observer)
}

fn components_in(
    graph: GraphView<'_>,
    observer: &mut dyn Observer,
) -> Result<Components, AnalysisError> {
    observer.on_stage("connecting vertices");
    let mut smallest = singletons(graph.vertices())?;
    let trees = Trees(as_atomic(&mut smallest));
    dispatch_lists!(graph, (out, _incoming) => {
        trees.connect_all(out, 0..graph.vertices(), observer)
    })?;
    Ok(Components::of(smallest))
}

/// Returns the memory that [`components_on_ranks`] needs on each rank beside its graph.
pub fn plan_on_ranks<'g>(graph: impl Into<GraphView<'g>>) -> Plan {
    let graph = graph.into();
    plan(graph).with("messages between ranks", 8 * u64::from(graph.vertices()))
}

/// Returns the components of a graph that ranks, processes with the lists of their own vertices, find together: the result of
/// [`components`], on each of them.
///
/// Each rank connects its own vertices with their neighbours. Then ranks join their trees in pairs, and rank 0 sends the
/// result to all: 4 bytes per vertex in each of ⌈log₂ ranks⌉ + 1 steps.
///
/// # Errors
/// If the observer cancels, memory is refused, or a message fails.
pub fn components_on_ranks<'g>(
    graph: impl Into<GraphView<'g>>,
    part: &mut RankPart<'_>,
    observer: &mut dyn Observer,
) -> Result<Components, AnalysisError> {
    let graph = graph.into();
    observer.on_stage("connecting vertices");
    let mut smallest = singletons(graph.vertices())?;
    let own = part.own.clone();
    dispatch_lists!(graph, (out, _incoming) => {
        Trees(as_atomic(&mut smallest)).connect_all(out, own, observer)
    })?;
    let (rank, ranks) = (part.comm.rank(), part.comm.size());
    let mut apart = 1;
    while apart < ranks {
        let receiver = (rank % (2 * apart) == apart).then(|| rank - apart);
        let message = |to: usize| if receiver == Some(to) { &smallest[..] } else { &[] };
        let to: Vec<&[VertexId]> = (0..ranks).map(message).collect();
        let received = part.comm.all_to_all("components", &to)?;
        if receiver.is_none()
            && let Some(roots) = received
                .iter()
                .enumerate()
                .find_map(|(peer, roots)| (peer != rank && !roots.is_empty()).then_some(roots))
        {
            let trees = Trees(as_atomic(&mut smallest));
            trees.join(roots, rank + apart)?;
        }
        apart *= 2;
    }
    if rank > 0 {
        smallest = Vec::new();
    }
    smallest = part.comm.broadcast("components", 0, &smallest)?;
    Ok(Components::of(smallest))
}

/// Returns a tree of each vertex alone.
fn singletons(vertices: u32) -> Result<Vec<VertexId>, AnalysisError> {
    let mut smallest = memory::with_room(vertices as usize)?;
    smallest.extend(0..vertices);
    Ok(smallest)
}

impl Components {
    /// The components whose smallest vertices these are.
    fn of(smallest: Vec<VertexId>) -> Components {
        let roots = smallest.par_iter().enumerate().filter(|(v, root)| *v == **root as usize);
        let count = roots.count() as u32;
        Components { smallest, count }
    }
}

/// Returns the memory that [`components_of_batch`] needs beside these graphs.
pub fn plan_of_batch(graphs: BatchSlice<'_>) -> Plan {
    Plan::default().with("components", 4 * graphs.vertices() + 4 * graphs.len() as u64)
}

/// Returns the components of each of these graphs, as [`components`] computes them.
///
/// One thread works on each graph.
///
/// # Errors
/// If the observer cancels or memory is refused.
pub fn components_of_batch(
    graphs: BatchSlice<'_>,
    observer: &mut dyn Observer,
) -> Result<BatchComponents, AnalysisError> {
    observer.on_stage("connecting vertices");
    let mut smallest = memory::zeros(graphs.vertices() as usize)?;
    let mut counts = memory::zeros(graphs.len())?;
    type Places<'a> = (PerVertex<'a, VertexId>, PerGraph<'a, u32>);
    let work = |(): &mut (), graph: BatchGraph<'_>, places: Places<'_>| {
        let (PerVertex(smallest), PerGraph(counts)) = places;
        (0..).zip(&mut *smallest).for_each(|(vertex, root)| *root = vertex);
        let trees = Trees(as_atomic(smallest));
        trees.connect(graph.out(), 0..graph.vertices());
        (0..graph.vertices()).for_each(|vertex| trees.shorten(vertex));
        let roots = (0..).zip(&*smallest).filter(|(vertex, root)| vertex == *root);
        counts[0] = roots.count() as u32;
        Ok(())
    };
    let places = (PerVertex(&mut smallest[..]), PerGraph(&mut counts[..]));
    Swarm { make: || Ok(()), work, observer }.fill(graphs, places)?;
    Ok(BatchComponents { smallest, counts })
}

/// A disjoint-set forest: the parent of each vertex is a smaller vertex of its component, or the
/// vertex itself if it is a root.
struct Trees<'a>(&'a [AtomicU32]);

impl Trees<'_> {
    /// Unites some vertices with their neighbours, on all threads; roots become the parents of all.
    fn connect_all<L: NeighborLists>(
        &self,
        out: L,
        some: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<(), AnalysisError> {
        tasks::try_for_each_range(some.len(), VERTICES_PER_TASK, &|range| {
            go_on(observer)?;
            self.connect(out, some.start + range.start as u32..some.start + range.end as u32);
            Ok::<_, AnalysisError>(())
        })?;
        self.shorten_all();
        Ok(())
    }

    /// Unites each vertex with its root in the trees of another rank; roots become the parents of all.
    fn join(&self, roots: &[VertexId], peer: usize) -> Result<(), AnalysisError> {
        let vertices = self.0.len();
        if roots.len() != vertices || roots.par_iter().any(|&root| root as usize >= vertices) {
            return Err(CommError::Foreign { peer, bytes: size_of_val(roots) }.into());
        }
        tasks::for_each_range(vertices, VERTICES_PER_TASK, &|range| {
            range.for_each(|vertex| self.unite(vertex as u32, roots[vertex]));
        });
        self.shorten_all();
        Ok(())
    }

    /// Makes roots the parents of all vertices.
    fn shorten_all(&self) {
        tasks::for_each_range(self.0.len(), VERTICES_PER_TASK, &|range| {
            range.for_each(|vertex| self.shorten(vertex as u32));
        });
    }

    /// Unites some vertices with all their neighbours.
    fn connect<L: NeighborLists>(&self, lists: L, vertices: Range<VertexId>) {
        for vertex in vertices {
            // Repeated arcs and loops find both ends in one tree already.
            lists.each_of(vertex as usize).for_each(|neighbor| self.unite(vertex, neighbor));
        }
    }

    fn unite(&self, a: VertexId, b: VertexId) {
        let (mut a, mut b) = (self.root(a), self.root(b));
        while a != b {
            let (smaller, larger) = (a.min(b), a.max(b));
            let hung = self.at(larger).compare_exchange(larger, smaller, Relaxed, Relaxed);
            if hung.is_ok() {
                return;
            }
            // Another thread gave the larger root a parent.
            (a, b) = (self.root(smaller), self.root(larger));
        }
    }

    /// Returns the root of a vertex's tree, as this thread sees it, and halves the path to it.
    fn root(&self, mut vertex: VertexId) -> VertexId {
        loop {
            let above = self.at(vertex).load(Relaxed);
            if above == vertex {
                return vertex;
            }
            // A parent only ever gets smaller and stays in the tree: `fetch_min` is safe against
            // races.
            let further = self.at(above).load(Relaxed);
            self.at(vertex).fetch_min(further, Relaxed);
            vertex = further;
        }
    }

    /// Makes the root the vertex's parent; no thread may unite trees any more.
    fn shorten(&self, vertex: VertexId) {
        self.at(vertex).store(self.root(vertex), Relaxed);
    }

    fn at(&self, vertex: VertexId) -> &AtomicU32 {
        &self.0[vertex as usize]
    }
}
