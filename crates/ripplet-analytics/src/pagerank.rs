//! PageRank: the stationary distribution of a random surfer that follows arcs and sometimes jumps
//! to any vertex.
//!
//! # What it returns
//! A rank per vertex; all ranks add up to 1 up to rounding. With damping d and n vertices, each
//! round computes
//!
//! ```text
//! rank'(v) = (1 − d) / n + d · (Σ rank(u) / out(u) over the arcs from u to v  +  lost / n)
//! ```
//!
//! where out(u) is the out-degree of u, and *lost* is the sum of the ranks of vertices without
//! outgoing arcs. The initial ranks are 1 / n. This is LDBC Graphalytics' definition, with a fixed
//! number of rounds, and networkx's, which stops once the ranks change by less than a tolerance. Repeated
//! arcs and self-loops that the graph keeps count as arcs. Weighted, an arc gets a share proportional
//! to its weight among the arcs that leave u.
//!
//! Personalized, a surfer that jumps, or is at a vertex without outgoing arcs, goes on at vertex v with the
//! share of v in [`Jumps`] instead of 1 / n, as in networkx:
//!
//! ```text
//! rank'(v) = (1 − d + d · lost) · jumps(v) + d · Σ rank(u) / out(u)
//! ```
//!
//! The initial ranks are then jumps(v), where networkx has 1 / n, so that a vertex to which no walk leads has rank 0.
//!
//! # Directed graphs
//! The surfer follows arcs in their direction. On an undirected graph an edge is an arc in each
//! direction.
//!
//! # Memory
//! Beside the graph 24 bytes per vertex, personalized 32: [`PageRank::plan`], [`PageRank::plan_personalized`]. For a batch 8 bytes per vertex, and 16
//! bytes per thread and vertex of the largest graph.
//!
//! # Determinism
//! Results are bitwise equal for any number of threads and any shards. Contributions along arcs add
//! up in the order of the source vertices. Sums over all vertices are sums of blocks of 4096
//! consecutive ids, added in order.
//!
//! # References
//! Brin, Page, *The anatomy of a large-scale hypertextual web search engine*, Computer Networks 30,
//! 1998. Haveliwala, *Topic-sensitive PageRank*, WWW 2002. Iosup et al., *LDBC Graphalytics*, VLDB 2016.

use crate::run::go_on;
use crate::sides::{Along, Sides, dispatch_sides, of_member};
use crate::swarm::{self, PerGraph, PerVertex, Swarm};
use crate::{AnalysisError, InvalidSetting, Plan};
use rayon::prelude::*;
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{GraphView, Observer, OutOfMemory, VertexId, identity_of_values, memory};
use std::ops::Range;
use thiserror::Error;

mod ranked;

/// Vertices of a partial sum: a constant, as the bits of the result depend on it.
const BLOCK: usize = 1 << 12;

/// The settings of PageRank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRank {
    /// The probability of following an arc, from 0 to 1.
    pub damping: f64,
    /// The stopping criterion.
    pub stop: Stop,
    /// Whether arcs get shares by their weights, if the graph has weights.
    pub weighted: bool,
}

/// The stopping criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// After this number of rounds: LDBC's.
    Rounds(u32),
    /// After a round in which the ranks changed by less than `tolerance · n` in total, and after
    /// `rounds` rounds at the latest: networkx's. Personalized, by less than `tolerance` in total: few vertices have
    /// all ranks at the beginning, and the first rounds of a large graph change less than n such parts.
    Tolerance {
        /// The largest average change per vertex; personalized, the largest change of all ranks together.
        tolerance: f64,
        /// The largest number of rounds.
        rounds: u32,
    },
}

/// The vertices at which a walk goes on that jumps, each with its share of the jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Jumps(Vec<f64>);

/// Shares of jumps that no walk can have.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum JumpsError {
    /// There are none, or all are 0.
    #[error(
        "a walk that jumps needs a vertex to go on at: give at least one, with a weight above 0"
    )]
    Nowhere,
    /// A vertex is not in the graph.
    #[error("vertex {vertex} is no vertex of the graph, which has {vertices}")]
    NoSuchVertex {
        /// The vertex.
        vertex: VertexId,
        /// The number of vertices.
        vertices: u32,
    },
    /// A weight is negative or no finite number, or the sum of all is too large.
    #[error(
        "the weight {weight:?} of vertex {vertex} (the first is 0) is no finite number, 0 or above, or makes the sum \
         of all too large"
    )]
    Weight {
        /// The vertex.
        vertex: VertexId,
        /// Its weight.
        weight: f64,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Jumps {
    /// Returns jumps to some vertices of a graph of `vertices` vertices, in proportion to their weights; those of a
    /// vertex that comes repeatedly add up.
    ///
    /// Memory: 8 bytes per vertex of the graph.
    ///
    /// # Errors
    /// If no vertex has a weight above 0, a weight is negative or no finite number, the sum of all is too large, a vertex
    /// is not in the graph, or memory is refused.
    ///
    /// # Examples
    /// ```
    /// use ripplet_analytics::pagerank::{Jumps, PageRank};
    /// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
    ///
    /// // A path of three vertices: the walk begins anew at its end.
    /// let ids = VertexIds::Consecutive { first: 0, count: 3 };
    /// let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1], vec![1, 2])?)?;
    /// let jumps = Jumps::to(3, [(0, 1.0)])?;
    /// let ranks = PageRank::default().run_personalized(&graph, &jumps, &mut ())?.ranks;
    /// assert!(ranks[0] > ranks[2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to(
        vertices: u32,
        weights: impl IntoIterator<Item = (VertexId, f64)>,
    ) -> Result<Jumps, JumpsError> {
        let mut shares: Vec<f64> = memory::zeros(vertices as usize)?;
        let mut sum = 0.0;
        for (vertex, weight) in weights {
            let share = shares.get_mut(vertex as usize);
            let share = share.ok_or(JumpsError::NoSuchVertex { vertex, vertices })?;
            sum += weight;
            if !(weight >= 0.0 && f64::is_finite(sum)) {
                return Err(JumpsError::Weight { vertex, weight });
            }
            *share += weight;
        }
        if sum == 0.0 {
            return Err(JumpsError::Nowhere);
        }
        shares.iter_mut().for_each(|share| *share /= sum);
        Ok(Jumps(shares))
    }

    /// Returns a hash of the shares, by which processes compare theirs.
    pub fn identity(&self) -> u64 {
        let half = |at: usize| (self.0[at / 2].to_bits() >> (32 * (at % 2))) as u32;
        identity_of_values((0..2 * self.0.len()).into_par_iter().map(half))
    }
}

/// PageRank of the vertices of a graph: the result of [`PageRank::run`].
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// The rank of each vertex.
    pub ranks: Vec<f64>,
    /// Rounds, last change and convergence of the run.
    pub end: End,
}

/// The end of a run: rounds, last change and convergence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct End {
    /// The number of rounds.
    pub rounds: u32,
    /// The sum of the ranks' absolute changes in the last round.
    pub change: f64,
    /// Whether the change is within the tolerance; true for [`Stop::Rounds`], which has none.
    pub converged: bool,
}

/// PageRank of the vertices of a batch: the result of [`PageRank::run_batch`].
#[derive(Clone, Debug, PartialEq)]
pub struct BatchRanks {
    /// The rank of each vertex within its graph, graph by graph, in the order of the vertices in
    /// their batch.
    pub ranks: Vec<f64>,
    /// Rounds, last change and convergence of each graph's run.
    pub ends: Vec<End>,
}

impl Default for PageRank {
    /// Damping 0.85, weights ignored; networkx's tolerance of 10⁻⁶ per vertex, at most 100 rounds.
    fn default() -> PageRank {
        let stop = Stop::Tolerance { tolerance: 1e-6, rounds: 100 };
        PageRank { damping: 0.85, stop, weighted: false }
    }
}

impl PageRank {
    /// Returns the memory that [`PageRank::run`] needs beside the graph.
    pub fn plan<'g>(&self, graph: impl Into<GraphView<'g>>) -> Plan {
        let vertices = graph.into().vertices();
        let shares = bytes_of_workspace(vertices);
        Plan::default().with("ranks", 8 * u64::from(vertices)).with("shares", shares)
    }

    /// Computes the ranks on rayon's current pool.
    ///
    /// # Errors
    /// If a setting is out of range, the observer cancels, or memory is refused.
    pub fn run<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        observer: &mut dyn Observer,
    ) -> Result<Ranks, AnalysisError> {
        self.run_in(graph.into(), None, observer)
    }

    /// Returns the memory that [`PageRank::run_personalized`] needs beside the graph, that of the jumps included.
    pub fn plan_personalized<'g>(&self, graph: impl Into<GraphView<'g>>) -> Plan {
        let graph = graph.into();
        self.plan(graph).with("jumps", 8 * u64::from(graph.vertices()))
    }

    /// Computes the ranks of walks with jumps of their own on rayon's current pool: personalized PageRank.
    ///
    /// # Errors
    /// See [`PageRank::run`]; also if the jumps are of a graph with another number of vertices.
    pub fn run_personalized<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
        jumps: &Jumps,
        observer: &mut dyn Observer,
    ) -> Result<Ranks, AnalysisError> {
        self.run_in(graph.into(), Some(jumps), observer)
    }

    fn run_in(
        &self,
        graph: GraphView<'_>,
        jumps: Option<&Jumps>,
        observer: &mut dyn Observer,
    ) -> Result<Ranks, AnalysisError> {
        let jumps = self.check_jumps(graph, jumps)?;
        observer.on_stage("ranking vertices");
        let mut ranks = memory::zeros(graph.vertices() as usize)?;
        let mut workspace = Workspace::new(graph.vertices())?;
        let run = self.begin(graph, jumps, &mut ranks, &mut workspace, observer);
        let end = dispatch_sides!(graph, Along::Arcs, lists => run.on_lists(lists))?;
        Ok(Ranks { ranks, end })
    }

    /// Checks the settings, and returns the share of each vertex of the jumps, if they are not alike.
    fn check_jumps<'j>(
        &self,
        graph: GraphView<'_>,
        jumps: Option<&'j Jumps>,
    ) -> Result<Option<&'j [f64]>, AnalysisError> {
        self.check()?;
        let jumps = jumps.map(|Jumps(shares)| &shares[..]);
        if let Some(shares) = jumps.filter(|shares| shares.len() != graph.vertices() as usize) {
            let (name, expected) = ("vertices with shares of jumps", "one for each vertex");
            return Err(InvalidSetting { name, value: shares.len() as f64, expected }.into());
        }
        Ok(jumps)
    }

    /// Returns a run over one graph, with all threads.
    fn begin<'a>(
        &'a self,
        graph: GraphView<'_>,
        jumps: Option<&'a [f64]>,
        ranks: &'a mut [f64],
        workspace: &'a mut Workspace,
        observer: &'a dyn Observer,
    ) -> Run<'a> {
        let weigh = self.weighted && graph.is_weighted();
        Run { settings: self, weigh, jumps, ranks, workspace, at_once: 1, observer }
    }

    /// Returns the memory that [`PageRank::run_batch`] needs beside these graphs on `threads`
    /// threads.
    pub fn plan_of_batch(&self, graphs: BatchSlice<'_>, threads: usize) -> Plan {
        let workspace = bytes_of_workspace(swarm::largest(graphs));
        Plan::default()
            .with("ranks", 8 * graphs.vertices() + size_of::<End>() as u64 * graphs.len() as u64)
            .with("shares, one graph a thread", (threads as u64).saturating_mul(workspace))
    }

    /// Computes the ranks of each of these graphs, with the bits that [`PageRank::run`] returns for
    /// each.
    ///
    /// One thread works on each graph.
    ///
    /// # Errors
    /// See [`PageRank::run`].
    pub fn run_batch(
        &self,
        graphs: BatchSlice<'_>,
        observer: &mut dyn Observer,
    ) -> Result<BatchRanks, AnalysisError> {
        self.check()?;
        observer.on_stage("ranking vertices");
        let observer: &dyn Observer = observer;
        let mut ranks = memory::zeros(graphs.vertices() as usize)?;
        let mut ends = memory::filled(End::default(), graphs.len())?;
        let (largest, weigh) =
            (swarm::largest(graphs), self.weighted && graphs.batch().is_weighted());
        type Places<'a> = (PerVertex<'a, f64>, PerGraph<'a, End>);
        let work = |workspace: &mut Workspace, graph: BatchGraph<'_>, places: Places<'_>| {
            let (PerVertex(ranks), PerGraph(ends)) = places;
            let at_once = usize::MAX;
            let run =
                Run { settings: self, weigh, jumps: None, ranks, workspace, at_once, observer };
            ends[0] = run.on_lists(of_member(graph, Along::Arcs))?;
            Ok(())
        };
        let places = (PerVertex(&mut ranks[..]), PerGraph(&mut ends[..]));
        Swarm { make: || Workspace::new(largest), work, observer }.fill(graphs, places)?;
        Ok(BatchRanks { ranks, ends })
    }

    fn check(&self) -> Result<(), AnalysisError> {
        let wrong =
            |name, value: f64, expected| Err(InvalidSetting { name, value, expected }.into());
        if !(0.0..=1.0).contains(&self.damping) {
            return wrong("damping", self.damping, "from 0 to 1");
        }
        match self.stop {
            Stop::Tolerance { tolerance, .. } if tolerance.is_nan() || tolerance < 0.0 => {
                wrong("tolerance", tolerance, "0 or above")
            }
            _ => Ok(()),
        }
    }
}

/// Workspace of a run beside the ranks, with room for a number of vertices.
struct Workspace {
    /// The out-degree of each vertex, or the sum of its outgoing weights.
    out: Vec<f64>,
    /// The contribution along each arc of a vertex, or along each unit of its weight.
    shares: Vec<f64>,
    /// A sum per block.
    sums: Vec<f64>,
}

fn bytes_of_workspace(vertices: u32) -> u64 {
    16 * u64::from(vertices) + 8 * (vertices as usize).div_ceil(BLOCK) as u64
}

impl Workspace {
    fn new(vertices: u32) -> Result<Workspace, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Workspace {
            out: memory::zeros(vertices)?,
            shares: memory::zeros(vertices)?,
            sums: memory::zeros(vertices.div_ceil(BLOCK))?,
        })
    }
}

/// The rounds of one graph.
struct Run<'a> {
    settings: &'a PageRank,
    weigh: bool,
    /// The share of each vertex of the jumps, if they are not alike.
    jumps: Option<&'a [f64]>,
    ranks: &'a mut [f64],
    workspace: &'a mut Workspace,
    /// The least number of blocks per rayon task: all of them if one thread works on the graph.
    at_once: usize,
    observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Computes rounds over the lists of all vertices.
    fn on_lists<L: NeighborLists>(mut self, lists: Sides<L>) -> Result<End, AnalysisError> {
        self.begin(lists.ahead, 0..self.ranks.len());
        self.rounds(|run, lost| Ok(run.collect(lists.behind, lost)))
    }

    /// Computes rounds until the stopping criterion holds. `collect` computes the next ranks from the shares and from what
    /// is lost, and returns the sum of their absolute changes.
    fn rounds(
        mut self,
        mut collect: impl FnMut(&mut Self, f64) -> Result<f64, AnalysisError>,
    ) -> Result<End, AnalysisError> {
        let vertices = self.ranks.len();
        let (rounds, tolerance) = match self.settings.stop {
            Stop::Rounds(rounds) => (rounds, None),
            Stop::Tolerance { tolerance, rounds } => {
                let parts = if self.jumps.is_some() { 1.0 } else { vertices as f64 };
                (rounds, Some(tolerance * parts))
            }
        };
        let mut end = End { converged: tolerance.is_none() || vertices == 0, ..End::default() };
        while end.rounds < rounds && vertices > 0 {
            go_on(self.observer)?;
            let lost = self.share_out();
            end.change = collect(&mut self, lost)?;
            end.rounds += 1;
            // In a batch, progress is counted in graphs.
            if self.at_once == 1 {
                self.observer.on_progress(f64::from(end.rounds) / f64::from(rounds));
            }
            end.converged = tolerance.is_none_or(|tolerance| end.change < tolerance);
            if tolerance.is_some() && end.converged {
                break;
            }
        }
        Ok(end)
    }

    /// Sets the initial ranks of all vertices, and what leaves some.
    fn begin<L: NeighborLists>(&mut self, out: L, some: Range<usize>) {
        let vertices = self.ranks.len();
        match self.jumps {
            Some(jumps) => self.ranks.copy_from_slice(jumps),
            None => self.ranks.fill(1.0 / vertices as f64),
        }
        let (weigh, first) = (self.weigh, some.start);
        let counts = self.workspace.out[some].par_iter_mut().enumerate();
        counts.with_min_len(BLOCK.saturating_mul(self.at_once)).for_each(|(place, to)| {
            let vertex = first + place;
            *to = match weigh {
                true => out.strength_of(vertex) as f64,
                false => f64::from(out.degree_of(vertex)),
            };
        });
    }

    /// Computes the contribution along each arc; returns the sum of the ranks of vertices without
    /// outgoing arcs.
    fn share_out(&mut self) -> f64 {
        let Workspace { out, shares, sums } = &mut *self.workspace;
        let blocks = self.ranks.par_chunks(BLOCK).zip(out.par_chunks(BLOCK));
        let blocks = blocks.zip(shares.par_chunks_mut(BLOCK)).zip(&mut *sums);
        blocks.with_min_len(self.at_once).for_each(|(((ranks, out), shares), sum)| {
            *sum = 0.0;
            for ((rank, out), share) in ranks.iter().zip(out).zip(shares) {
                *share = if *out > 0.0 { rank / out } else { 0.0 };
                *sum += if *out > 0.0 { 0.0 } else { *rank };
            }
        });
        sums[..self.ranks.len().div_ceil(BLOCK)].iter().sum()
    }

    /// Computes the next ranks; returns the sum of their absolute changes.
    fn collect<L: NeighborLists>(&mut self, incoming: L, lost: f64) -> f64 {
        let vertices = self.ranks.len();
        let Workspace { shares, sums, .. } = &mut *self.workspace;
        let step = Step::new(self.settings, vertices, lost, self.jumps, shares, self.weigh);
        let blocks = self.ranks.par_chunks_mut(BLOCK).zip(&mut *sums).enumerate();
        blocks.with_min_len(self.at_once).for_each(|(block, (ranks, sum))| {
            *sum = 0.0;
            for (vertex, rank) in (block * BLOCK..).zip(ranks) {
                let next = step.next(incoming, vertex);
                *sum += (next - *rank).abs();
                *rank = next;
            }
        });
        sums[..vertices.div_ceil(BLOCK)].iter().sum()
    }
}

/// What decides on the next rank of each vertex.
struct Step<'a> {
    damping: f64,
    /// What arrives at each vertex otherwise than along arcs, if jumps are alike.
    base: f64,
    /// The share of all walks that jump.
    jumping: f64,
    jumps: Option<&'a [f64]>,
    shares: &'a [f64],
    weigh: bool,
}

impl<'a> Step<'a> {
    fn new(
        settings: &PageRank,
        vertices: usize,
        lost: f64,
        jumps: Option<&'a [f64]>,
        shares: &'a [f64],
        weigh: bool,
    ) -> Step<'a> {
        let damping = settings.damping;
        let base = (1.0 - damping) / vertices as f64 + damping * (lost / vertices as f64);
        let jumping = 1.0 - damping + damping * lost;
        Step { damping, base, jumping, jumps, shares: &shares[..vertices], weigh }
    }

    /// Returns the next rank of a vertex.
    #[inline]
    fn next<L: NeighborLists>(&self, incoming: L, vertex: usize) -> f64 {
        let sources = incoming.each_of(vertex);
        let arriving: f64 = match incoming.each_weight_of(vertex).filter(|_| self.weigh) {
            Some(weights) => {
                let arcs = sources.zip(weights);
                arcs.map(|(from, weight)| self.shares[from as usize] * f64::from(weight)).sum()
            }
            None => sources.map(|from| self.shares[from as usize]).sum(),
        };
        let base = self.jumps.map_or(self.base, |jumps| self.jumping * jumps[vertex]);
        base + self.damping * arriving
    }
}
