//! Triangles of the many small graphs of a batch: for each vertex, the neighbours of its neighbours
//! that are its own.
//!
//! The graphs are too small for ranks and hub bitmaps to pay off. Each graph is first made simple:
//! a list of neighbours per vertex, with the number of arcs between both ends and whether one
//! leaves. Each pair of adjacent neighbours of a vertex is then found twice, once from either
//! neighbour.

use super::definition::{Definition, Lcc};
use super::neighbors::{Degrees, for_each_distinct, merge};
use crate::run::go_on;
use crate::swarm::{self, PerGraph, PerVertex, Swarm};
use crate::{AnalysisError, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Observer, OutOfMemory, VertexId, memory};

/// Clustering coefficients of the graphs of a batch: the result of [`Lcc::run_batch`].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchCoefficients {
    /// The coefficient of each vertex within its graph, graph by graph, in the order of the
    /// vertices in their batch.
    pub coefficients: Vec<f64>,
    /// The number of triangles at each vertex, if requested.
    pub triangles: Option<Vec<u64>>,
    /// The number of triangles of each graph.
    pub triangle_counts: Vec<u64>,
}

impl Lcc {
    /// Returns the memory that [`Lcc::run_batch`] needs beside these graphs on `threads` threads.
    pub fn plan_of_batch(&self, graphs: BatchSlice<'_>, threads: usize) -> Plan {
        let workspace = Workspace::bytes(swarm::largest(graphs), most_arcs(graphs));
        let values = if self.triangles { 16 } else { 8 };
        Plan::default()
            .with("coefficients, triangles", values * graphs.vertices() + 8 * graphs.len() as u64)
            .with("simple graphs, one a thread", (threads as u64).saturating_mul(workspace))
    }

    /// Returns the coefficients of each of these graphs, with the bits that [`Lcc::run`] returns
    /// for each.
    ///
    /// One thread works on each graph.
    ///
    /// # Errors
    /// If the observer cancels or memory is refused.
    pub fn run_batch(
        &self,
        graphs: BatchSlice<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BatchCoefficients, AnalysisError> {
        observer.on_stage("counting triangles");
        let observer: &dyn Observer = observer;
        let vertices = graphs.vertices() as usize;
        let mut coefficients = memory::zeros(vertices)?;
        let mut triangles = memory::zeros(if self.triangles { vertices } else { 0 })?;
        let mut triangle_counts = memory::zeros(graphs.len())?;
        let (largest, arcs) = (swarm::largest(graphs), most_arcs(graphs));
        type Places<'a> = ((PerVertex<'a, f64>, PerVertex<'a, u64>), PerGraph<'a, u64>);
        let work = |workspace: &mut Workspace, graph: BatchGraph<'_>, places: Places<'_>| {
            let ((PerVertex(coefficients), PerVertex(triangles)), PerGraph(count)) = places;
            let directed = graph.incoming().is_some();
            workspace.simplify(graph);
            for (vertex, coefficient) in (0..).zip(coefficients) {
                go_on(observer)?;
                let found = workspace.count(vertex, self.definition, directed);
                if found.numerator > 0 {
                    let degrees = workspace.degrees(vertex);
                    *coefficient = self.definition.quotient(found.numerator, degrees, directed);
                }
                if let Some(to) = triangles.get_mut(vertex as usize) {
                    *to = found.triangles;
                }
                count[0] += found.triangles;
            }
            // Each triangle was counted at its three corners.
            count[0] /= 3;
            Ok(())
        };
        let of_vertices = (PerVertex(&mut coefficients[..]), PerVertex(&mut triangles[..]));
        let places = (of_vertices, PerGraph(&mut triangle_counts[..]));
        Swarm { make: || Workspace::new(largest, arcs), work, observer }.fill(graphs, places)?;
        let triangles = self.triangles.then_some(triangles);
        Ok(BatchCoefficients { coefficients, triangles, triangle_counts })
    }
}

/// Returns the largest total length of a graph's simple neighbour lists: an upper bound by its
/// arcs.
fn most_arcs(graphs: BatchSlice<'_>) -> u64 {
    let incoming =
        |graph: BatchGraph<'_>| graph.incoming().map_or(0, |lists| lists.neighbors().len());
    graphs.graphs().map(|graph| graph.arcs() + incoming(graph) as u64).max().unwrap_or(0)
}

/// A neighbour of a vertex in the simple graph.
#[derive(Clone, Copy, Default)]
struct Neighbor {
    vertex: VertexId,
    /// Whether there is an arc to the neighbour.
    leaves: bool,
    /// The number of arcs between both, 1 or 2; 1 on an undirected graph.
    arcs: u8,
}

/// Sums over the triangles of a vertex.
#[derive(Default)]
struct Found {
    numerator: u64,
    triangles: u64,
}

/// Workspace of a thread, with room for a number of vertices and arcs.
struct Workspace {
    /// The neighbours of each vertex in the simple graph, ascending.
    neighbors: Vec<Neighbor>,
    /// The begin of each vertex's neighbours, and the end of the last one's.
    starts: Vec<u64>,
    /// The number of arcs between the current vertex and each other; 0 if they are not adjacent.
    marks: Vec<u8>,
}

impl Workspace {
    fn new(vertices: u32, arcs: u64) -> Result<Workspace, OutOfMemory> {
        Ok(Workspace {
            neighbors: memory::with_room(arcs as usize)?,
            starts: memory::with_room(vertices as usize + 1)?,
            marks: memory::zeros(vertices as usize)?,
        })
    }

    fn bytes(vertices: u32, arcs: u64) -> u64 {
        size_of::<Neighbor>() as u64 * arcs + 9 * u64::from(vertices) + 8
    }

    /// Builds the simple graph.
    fn simplify(&mut self, graph: BatchGraph<'_>) {
        let (out, incoming) = (graph.out(), graph.incoming());
        self.neighbors.clear();
        self.starts.clear();
        self.starts.push(0);
        for vertex in 0..graph.vertices() {
            let leaving = out.of(vertex as usize).iter().copied();
            let neighbors = &mut self.neighbors;
            match incoming {
                None => for_each_distinct(leaving, vertex, |u| {
                    neighbors.push(Neighbor { vertex: u, leaves: true, arcs: 1 });
                }),
                Some(incoming) => {
                    let entering = incoming.of(vertex as usize).iter().copied();
                    merge(leaving, entering, vertex, |u, leaves, enters| {
                        let arcs = 1 + u8::from(leaves && enters);
                        neighbors.push(Neighbor { vertex: u, leaves, arcs });
                    });
                }
            }
            self.starts.push(self.neighbors.len() as u64);
        }
    }

    fn of(&self, vertex: VertexId) -> &[Neighbor] {
        let at = |vertex: usize| self.starts[vertex] as usize;
        &self.neighbors[at(vertex as usize)..at(vertex as usize + 1)]
    }

    fn degrees(&self, vertex: VertexId) -> Degrees {
        let of = self.of(vertex);
        let reciprocal = of.iter().filter(|neighbor| neighbor.arcs == 2).count() as u32;
        Degrees { neighbors: of.len() as u32, reciprocal }
    }

    /// Counts the arcs or cycles between the neighbours of a vertex.
    fn count(&mut self, vertex: VertexId, definition: Definition, directed: bool) -> Found {
        let mut marks = std::mem::take(&mut self.marks);
        let own = self.of(vertex);
        own.iter().for_each(|neighbor| marks[neighbor.vertex as usize] = neighbor.arcs);
        let (mut met, mut arcs, mut cycles) = (0, 0, 0);
        for u in own {
            for w in self.of(u.vertex) {
                let mark = u64::from(marks[w.vertex as usize]);
                let is_own = u64::from(mark > 0);
                met += is_own;
                arcs += is_own & u64::from(w.leaves);
                cycles += mark * u64::from(w.arcs) * u64::from(u.arcs);
            }
        }
        own.iter().for_each(|neighbor| marks[neighbor.vertex as usize] = 0);
        self.marks = marks;
        // Each pair of neighbours was found from either one.
        let numerator = match definition {
            Definition::Fagiolo if directed => cycles / 2,
            _ => arcs,
        };
        Found { numerator, triangles: met / 2 }
    }
}
