//! The coefficients of one graph, on all threads.

use super::counts::Counts;
use super::definition::{Definition, Lcc};
use super::enumerate::{self, Enumeration};
use super::hubs::{self, Hubs};
use super::neighbors::SimpleGraph;
use super::oriented::{self, Oriented};
use super::rule::{Arcs, Cycles, Plain};
use crate::run::go_on;
use crate::{AnalysisError, Plan};
use rayon::prelude::*;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, GraphView, Observer, VertexId, dispatch_lists, memory, tasks};

/// Vertices of a task that divides numerators.
const VERTICES_PER_TASK: usize = 1 << 12;

/// Clustering coefficients of a graph: the result of [`Lcc::run`].
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficients {
    /// The coefficient of each vertex, from 0 to 1.
    pub coefficients: Vec<f64>,
    /// The number of triangles at each vertex, if requested.
    pub triangles: Option<Vec<u64>>,
    /// The number of triangles of the graph.
    pub triangle_count: u64,
}

impl Lcc {
    /// Returns the memory that [`Lcc::run`] needs on `threads` threads beside the graph.
    ///
    /// It is an upper bound: the number of edges is taken from the lists' lengths, which include
    /// loops, repeated edges and, on a directed graph, both arcs of a reciprocal edge. Cost: O(1).
    pub fn plan<'g>(&self, graph: impl Into<GraphView<'g>>, threads: usize) -> Plan {
        let graph = graph.into();
        let directed = graph.direction() == Direction::Directed;
        let edges = if directed { graph.arcs() } else { graph.arcs() / 2 };
        let workspace = if directed {
            enumerate::bytes_of_workspace::<Arcs>(edges, self.triangles)
        } else {
            enumerate::bytes_of_workspace::<Plain>(edges, false)
        };
        let vertices = u64::from(graph.vertices());
        let plan = Plan::default().with("each edge once, by rank", 4 * edges).with(
            "ranks, places, coefficients",
            16 * vertices + oriented::bytes_of_blocks(vertices),
        );
        let plan = if directed {
            plan.with("edges in both directions", edges.div_ceil(8) + 8)
        } else {
            plan
        };
        let plan = if self.triangles { plan.with("triangles", 8 * vertices) } else { plan };
        let rows = hubs::bytes_of_hubs(graph.vertices(), graph.direction());
        let plan = plan.with("hubs' lists, as bits", rows);
        let threads = threads as u64;
        plan.with("marks, a piece a thread", threads.saturating_mul(workspace))
    }

    /// Computes the coefficients on rayon's current pool.
    ///
    /// # Errors
    /// If the observer cancels or memory is refused.
    pub fn run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        observer: &mut dyn Observer,
    ) -> Result<Coefficients, AnalysisError> {
        self.run_in(graph.into(), observer)
    }

    fn run_in(
        &self,
        graph: GraphView<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Coefficients, AnalysisError> {
        observer.on_stage("ranking vertices by degree");
        let oriented = Oriented::of(graph, observer)?;
        observer.on_stage("counting triangles");
        let vertices = graph.vertices() as usize;
        let directed = graph.direction() == Direction::Directed;
        let mut numerators = memory::zeros(vertices)?;
        let mut triangles = match directed && self.triangles {
            true => Some(memory::zeros(vertices)?),
            false => None,
        };
        let counts = Counts::new(&mut numerators, triangles.as_deref_mut());
        let hubs = Hubs::of(&oriented, graph.direction(), hubs::MOST)?;
        let enumeration = Enumeration::new(&oriented, &hubs, counts, observer);
        let triangle_count = match (directed, self.definition) {
            (false, _) => enumeration.run::<Plain>()?,
            (true, Definition::Ldbc) => enumeration.run::<Arcs>()?,
            (true, Definition::Fagiolo) => enumeration.run::<Cycles>()?,
        };
        drop((oriented, hubs));
        if self.triangles && !directed {
            triangles = Some(memory::copied(&numerators)?);
        }
        dispatch_lists!(graph, (out, incoming) => {
            let graph = SimpleGraph::of(out, incoming, directed);
            self.divide(graph, 0, &mut numerators, observer)
        })?;
        // The bits of 0.0 are those of 0.
        let coefficients = bytemuck::allocation::cast_vec(numerators);
        Ok(Coefficients { coefficients, triangles, triangle_count })
    }

    /// Replaces the numerators of vertices from `first` on by the bits of their coefficients.
    pub(super) fn divide<L: NeighborLists>(
        &self,
        graph: SimpleGraph<L>,
        first: usize,
        numerators: &mut [u64],
        observer: &dyn Observer,
    ) -> Result<(), AnalysisError> {
        let directed = graph.is_directed();
        tasks::try_for_each_chunk(numerators, VERTICES_PER_TASK, &|at, numerators| {
            go_on(observer)?;
            for (vertex, numerator) in (first + at..).zip(numerators) {
                if *numerator > 0 {
                    let degrees = graph.degrees(vertex as VertexId);
                    // An undirected triangle has one edge between neighbours, which is two arcs.
                    let arcs = if directed { *numerator } else { 2 * *numerator };
                    *numerator = self.definition.quotient(arcs, degrees, directed).to_bits();
                }
            }
            Ok(())
        })
    }
}

impl Coefficients {
    /// Returns the mean of all coefficients; 0 without vertices.
    pub fn mean(&self) -> f64 {
        // Parts of a fixed size, added in order: the same bits on any number of threads.
        let parts = self.coefficients.par_chunks(VERTICES_PER_TASK);
        let sums: Vec<f64> = parts.map(|part| part.iter().sum()).collect();
        sums.iter().fold(0.0, |sum, some| sum + some) / self.coefficients.len().max(1) as f64
    }
}
