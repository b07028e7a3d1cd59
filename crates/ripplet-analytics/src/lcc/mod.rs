//! The local clustering coefficient: the fraction of pairs of a vertex's neighbours that are
//! adjacent.
//!
//! # What it returns
//! For each vertex a coefficient from 0 to 1, by one of two [`Definition`]s; the number of
//! triangles of the graph; and, if requested, the number of triangles at each vertex. A triangle is
//! three vertices with an edge between any two, in whatever directions. Repeated edges count once;
//! self-loops and weights are ignored.
//!
//! # Directed graphs
//! Neighbours are vertices with an arc in either direction. On an undirected graph each edge is two
//! arcs, and the two definitions agree: triangles over pairs of neighbours.
//!
//! # Algorithm
//! Vertices are ranked by degree, highest first, and each edge is kept once, at its end of lower
//! degree. This bounds a list by √(2 · edges). Every triangle {v, u, w} is then found once: at v,
//! as a neighbour w of a neighbour u of v that is also v's neighbour (see `enumerate.rs`). It adds
//! the number of arcs of its edges, 1 or 2 each, to its corners. The small graphs of a batch are
//! processed without ranks (`batch.rs`).
//!
//! # Memory
//! Beside the graph at most:
//!
//! - 4 bytes per edge, and a bit more in a directed graph;
//! - 16 bytes per vertex, and 8 more if triangles are requested; the results are part of this;
//! - 2 MiB (directed: 4 MiB) for the hubs' bitmaps, and less than that per thread.
//!
//! [`Lcc::plan`] and, for a batch, [`Lcc::plan_of_batch`] return the exact bounds.
//!
//! # Determinism
//! Counts are integers, and a coefficient is one division of two of them: the same bits for any
//! number of threads and any shards.
//!
//! # References
//! Iosup et al., *LDBC Graphalytics*, VLDB 2016, and its specification, section LCC. Fagiolo,
//! *Clustering in complex directed networks*, Physical Review E 76, 2007. The enumeration is the
//! *forward* algorithm: Schank, Wagner, *Finding, counting and listing all triangles in large
//! graphs*, WEA 2005; Latapy, *Main-memory triangle computations*, Theoretical Computer Science
//! 407, 2008.

mod batch;
mod counts;
mod enumerate;
mod hubs;
mod neighbors;
mod oriented;
mod rule;

pub use batch::BatchOutcome;

use crate::run::go_on;
use crate::{Observer, Plan, RunError};
use counts::Counts;
use enumerate::Enumeration;
use hubs::Hubs;
use neighbors::{Degrees, SimpleGraph};
use oriented::Oriented;
use rayon::prelude::*;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, GraphView, VertexId, dispatch_lists, memory};
use rule::{Arcs, Cycles, Plain};

/// Vertices of a task that divides numerators.
const VERTICES_PER_TASK: usize = 1 << 12;

/// The definition of the coefficient. On undirected graphs both agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Definition {
    /// LDBC Graphalytics': the number of arcs between neighbours of v over d (d − 1), where d is
    /// the number of neighbours in either direction; 0 if d < 2.
    #[default]
    Ldbc,
    /// Fagiolo's for unweighted directed graphs: ((A + Aᵀ)³)ᵥᵥ over 2 (t (t − 1) − 2 r), where t is
    /// the number of arcs in and out of v, and r the number of its neighbours in both directions; 0
    /// if v has fewer than 2 neighbours. networkx computes it for a `DiGraph`.
    Fagiolo,
}

/// The computation of local clustering coefficients: its definition and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lcc {
    definition: Definition,
    triangles: bool,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The coefficient of each vertex, from 0 to 1.
    pub coefficients: Vec<f64>,
    /// The number of triangles at each vertex, if requested.
    pub triangles: Option<Vec<u64>>,
    /// The number of triangles of the graph.
    pub triangle_count: u64,
}

impl Lcc {
    /// Creates a computation by this definition, without triangles per vertex.
    pub fn new(definition: Definition) -> Lcc {
        Lcc { definition, triangles: false }
    }

    /// Requests the number of triangles at each vertex, too.
    pub fn with_triangles(self) -> Lcc {
        Lcc { triangles: true, ..self }
    }

    /// Returns the definition of the coefficient.
    pub fn definition(&self) -> Definition {
        self.definition
    }

    /// Returns whether the number of triangles at each vertex is requested.
    pub fn has_triangles(&self) -> bool {
        self.triangles
    }

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
    ) -> Result<Outcome, RunError> {
        self.run_in(graph.into(), observer)
    }

    fn run_in(
        &self,
        graph: GraphView<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, RunError> {
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
        let coefficients = dispatch_lists!(graph, (out, incoming) => {
            self.divided(SimpleGraph::of(out, incoming, directed), numerators, observer)
        })?;
        Ok(Outcome { coefficients, triangles, triangle_count })
    }

    /// Divides the numerators and returns the coefficients in the same memory.
    fn divided<L: NeighborLists>(
        &self,
        graph: SimpleGraph<L>,
        mut numerators: Vec<u64>,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, RunError> {
        let directed = graph.is_directed();
        let tasks = numerators.par_chunks_mut(VERTICES_PER_TASK).enumerate();
        tasks.try_for_each(|(task, numerators)| {
            go_on(observer)?;
            for (vertex, numerator) in (task * VERTICES_PER_TASK..).zip(numerators) {
                if *numerator > 0 {
                    let degrees = graph.degrees(vertex as VertexId);
                    // An undirected triangle has one edge between neighbours, which is two arcs.
                    let arcs = if directed { *numerator } else { 2 * *numerator };
                    *numerator = self.definition.quotient(arcs, degrees, directed).to_bits();
                }
            }
            Ok::<_, RunError>(())
        })?;
        // The bits of 0.0 are those of 0.
        Ok(bytemuck::allocation::cast_vec(numerators))
    }
}

impl Definition {
    /// Returns a nonzero coefficient: its vertex has at least 2 neighbours.
    fn quotient(self, numerator: u64, degrees: Degrees, directed: bool) -> f64 {
        let Degrees { neighbors, reciprocal } = degrees;
        let pairs = match self {
            Definition::Fagiolo if directed => {
                let total = u128::from(neighbors) + u128::from(reciprocal);
                total * (total - 1) - 2 * u128::from(reciprocal)
            }
            _ => u128::from(neighbors) * u128::from(neighbors - 1),
        };
        numerator as f64 / pairs as f64
    }
}

impl Outcome {
    /// Returns the mean of all coefficients; 0 without vertices.
    pub fn mean(&self) -> f64 {
        // Parts of a fixed size, added in order: the same bits on any number of threads.
        let parts = self.coefficients.par_chunks(VERTICES_PER_TASK);
        let sums: Vec<f64> = parts.map(|part| part.iter().sum()).collect();
        sums.iter().fold(0.0, |sum, some| sum + some) / self.coefficients.len().max(1) as f64
    }
}
