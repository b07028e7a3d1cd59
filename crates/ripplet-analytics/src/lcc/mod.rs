//! The local clustering coefficient: how many of a vertex's neighbours are neighbours of each other.
//!
//! # What it returns
//! Of each vertex a coefficient from 0 to 1, by one of two [`Definition`]s; the number of triangles
//! of the graph; and, where asked for, the triangles of each vertex. A triangle is three vertices
//! with an edge between any two, in whatever directions. Repeated edges count once, self-loops and
//! weights not at all.
//!
//! # What "directed" means
//! Neighbours are those in either direction. On an undirected graph each edge is two arcs, and the
//! two definitions are the same: triangles over pairs of neighbours.
//!
//! # Algorithm
//! Vertices are ranked by degree, highest first, and each edge is kept once, at its end of lower
//! degree, which bounds a list by √(2 · edges). Every triangle {v, u, w} is then met once: at v, as a
//! neighbour w of a neighbour u of v that is v's neighbour, too (`enumerate.rs` tells how). How many
//! arcs its edges are, 1 or 2, is what it adds to each of its corners. Small graphs of a batch are gone through
//! without ranks (`batch.rs`).
//!
//! # Memory
//! Beside the graph at most 4 bytes an edge (and a bit, where the graph is directed), 16 bytes a vertex,
//! 8 bytes a vertex more where triangles are asked for, and what does not grow with the vertices: 2 MiB
//! (4, where the graph is directed) for the hubs, and less than that a thread: [`Lcc::plan`]. The
//! coefficients and triangles are among them. Of a batch: [`Lcc::plan_of_batch`].
//!
//! # Determinism
//! Counts are integers, and a coefficient is one division of two of them: the same bits on any number
//! of threads and any shards.
//!
//! # References
//! Iosup et al., *LDBC Graphalytics*, VLDB 2016, and its specification, section LCC. Fagiolo,
//! *Clustering in complex directed networks*, Physical Review E 76, 2007. The enumeration is the
//! *forward* algorithm: Schank, Wagner, *Finding, counting and listing all triangles in large graphs*,
//! WEA 2005; Latapy, *Main-memory triangle computations*, Theoretical Computer Science 407, 2008.

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
use neighbors::Degrees;
use oriented::Oriented;
use rayon::prelude::*;
use ripplet_graph::{Direction, Graph, VertexId, memory};
use rule::{Arcs, Cycles, Plain};

/// Vertices whose coefficients a task divides.
const VERTICES_PER_TASK: usize = 1 << 12;

/// Which coefficient. On undirected graphs both are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Definition {
    /// LDBC Graphalytics': arcs between neighbours of v over d (d − 1), where d is the number of
    /// neighbours in either direction; 0 where d < 2.
    #[default]
    Ldbc,
    /// Fagiolo's for unweighted directed graphs: ((A + Aᵀ)³)ᵥᵥ over
    /// 2 (t (t − 1) − 2 r), where t is the number of v's arcs in and out and r that of its neighbours in
    /// both directions; 0 where v has fewer than 2 neighbours. It is what networkx computes of a
    /// `DiGraph`.
    Fagiolo,
}

/// The computation: which coefficient, and whether with the triangles of each vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lcc {
    definition: Definition,
    triangles: bool,
}

/// What a run gives back.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Each vertex's coefficient, from 0 to 1.
    pub coefficients: Vec<f64>,
    /// How many triangles each vertex is a corner of, where that was asked for.
    pub triangles: Option<Vec<u64>>,
    /// How many triangles there are.
    pub triangle_count: u64,
}

impl Lcc {
    /// The coefficient of this definition, without triangles.
    pub fn new(definition: Definition) -> Lcc {
        Lcc { definition, triangles: false }
    }

    /// The same with the triangles of each vertex.
    pub fn with_triangles(self) -> Lcc {
        Lcc { triangles: true, ..self }
    }

    /// Which coefficient.
    pub fn definition(&self) -> Definition {
        self.definition
    }

    /// Whether with the triangles of each vertex.
    pub fn has_triangles(&self) -> bool {
        self.triangles
    }

    /// The memory that a run on so many threads will need beside the graph.
    ///
    /// Edges are counted by the lists' lengths: loops, repeated edges and, on a directed graph, edges in
    /// both directions make it more than it needs. Cost: none.
    pub fn plan(&self, graph: &Graph, threads: usize) -> Plan {
        let directed = graph.direction() == Direction::Directed;
        let edges = if directed { graph.arcs() } else { graph.arcs() / 2 };
        let desk = if directed {
            enumerate::bytes_of_desk::<Arcs>(edges, self.triangles)
        } else {
            enumerate::bytes_of_desk::<Plain>(edges, false)
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
        plan.with("marks, a piece a thread", threads.saturating_mul(desk))
    }

    /// Computes the coefficients on rayon's current pool.
    ///
    /// # Errors
    /// Where the observer cancels, or memory is refused.
    pub fn run(&self, graph: &Graph, observer: &mut dyn Observer) -> Result<Outcome, RunError> {
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
        let coefficients = self.divided(graph, numerators, observer)?;
        Ok(Outcome { coefficients, triangles, triangle_count })
    }

    /// The coefficients of what was counted, in the same memory.
    fn divided(
        &self,
        graph: &Graph,
        mut numerators: Vec<u64>,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, RunError> {
        let directed = graph.direction() == Direction::Directed;
        let tasks = numerators.par_chunks_mut(VERTICES_PER_TASK).enumerate();
        tasks.try_for_each(|(task, numerators)| {
            go_on(observer)?;
            for (vertex, numerator) in (task * VERTICES_PER_TASK..).zip(numerators) {
                if *numerator > 0 {
                    let degrees = Degrees::of(graph, vertex as VertexId);
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
    /// A coefficient that is not 0: its vertex has 2 neighbours or more.
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
    /// The mean of all coefficients; 0 without vertices.
    pub fn mean(&self) -> f64 {
        // Parts of a fixed size, added in their order: the same bits on any number of threads.
        let parts = self.coefficients.par_chunks(VERTICES_PER_TASK);
        let sums: Vec<f64> = parts.map(|part| part.iter().sum()).collect();
        sums.iter().fold(0.0, |sum, some| sum + some) / self.coefficients.len().max(1) as f64
    }
}
