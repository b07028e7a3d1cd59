//! Which ties are more than chance: the evidence that labels spread along.
//!
//! # What it returns
//! For each tie (two who dealt with one another) its *surprise* J in nats, in two parts that are added up:
//!
//! ```text
//! J(u, v) = surprise(c, λ)              they dealt with one another more than chance has it
//!         + surprise(k, κ)              they have more partners in common than chance has it
//!
//! c = w(u, v) / φ                       what they dealt, in units of a typical transaction
//! φ = Σ w² / Σ w                        over all ties: 1 where each pair deals once
//! λ = W(u) · W(v) / (φ · Σ W)           W: the summed weight of all of a vertex' ties
//! k                                     partners of both who are no hubs
//! κ = (d(u) − 1) · (d(v) − 1) / Σ d · (Σ d(z) · (d(z) − 1) over all who are no hubs) / Σ d
//! ```
//!
//! where d counts partners, and [`surprise`] is −ln P(Poisson ≥ …). λ and κ are what is expected where partners are
//! drawn at random and everybody deals as much as they do (the configuration model). φ makes weights of any unit
//! counts: a compound Poisson variable of weights w has this dispersion. Where everybody deals with everybody many
//! times, φ is large and nobody stands out.
//!
//! With m ties, even the most surprising one of a graph without rings reaches about ln m. The odds that a tie is not
//! by chance are e^J / m, where one tie is expected to be (Bonferroni's correction), and
//!
//! ```text
//! q(u, v) = e^J / (m + e^J)
//! ```
//!
//! is what labels spread by ([`Ties::graph`], in steps of 2⁻¹⁶, and at least one). A tie is *kept* where its *excess*
//! J − ln m is above 0, and q above one half: these are a statistically validated network. [`Ties::excess`] is the
//! largest excess of each vertex' ties.
//!
//! # Hubs
//! A popular item is no ring. The more two deal, the more they are expected to deal with one another, so a hub's ties
//! say little, by λ. A vertex of more partners than [`TieRule::hub_degree`] is nobody's partner in common: all
//! the world meets there.
//!
//! Vertices to be avoided (trusted ones) have ties of q = 0, and are nobody's partner in common; what they deal still
//! counts in what is expected. Self-loops are no ties.
//!
//! # Algorithm, cost, memory
//! Each tie is kept at its end of fewer partners; each triangle is found once, at its vertex of fewest partners, by
//! merging two such lists, and counts for each of its ties. A list has at most √(2 m) entries. The rest are three
//! passes over all arcs. Memory: [`Ties::plan`]; about 16 bytes a tie for the result, and 8 while it is made.
//!
//! # Determinism
//! The same on any number of threads, and any shards: counts are integers, sums of weights too.
//!
//! # References
//! Tumminello, Miccichè, Lillo, Piilo, Mantegna, *Statistically validated networks in bipartite complex systems*, PLoS
//! ONE 6, 2011 (ties beyond chance, and the correction). Chung, Lu, *Connected components in random graphs with given
//! expected degree sequences*, Annals of Combinatorics 6, 2002 (what is expected). Latapy, *Main-memory triangle
//! computations for very large (sparse (power-law)) graphs*, Theoretical Computer Science 407, 2008 (the lists).

use crate::surprise::surprise;
use rayon::prelude::*;
use ripplet_graph::{
    Adjacency, Direction, Graph, InvalidGraph, OutOfMemory, Shard, VertexId, WeightScale,
    as_atomic, memory,
};
use ripplet_lp::Plan;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// A q of 1, as it is stored.
pub const CERTAIN: u32 = 1 << 16;

/// Vertices whose lists a task goes through.
const VERTICES_PER_TASK: usize = 1 << 10;

/// How ties are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TieRule {
    /// Whether partners in common count.
    pub closure: bool,
    /// Who has more partners is nobody's partner in common.
    pub hub_degree: u32,
}

impl Default for TieRule {
    /// Partners in common count; beyond 1000, nobody knows their partners, who cannot be said to know one another.
    fn default() -> TieRule {
        TieRule { closure: true, hub_degree: 1000 }
    }
}

/// Why ties could not be judged.
#[derive(Debug, Error)]
pub enum TieError {
    /// Ties have two ends alike.
    #[error("ties are judged in undirected graphs, and this one is directed")]
    Directed,
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// Somebody gave parts that do not fit.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
}

/// Each tie of a window, and how surprising it is.
#[derive(Debug, PartialEq)]
pub struct Ties {
    graph: Graph,
    excess: Vec<f32>,
    ties: u64,
    kept: u64,
}

impl Ties {
    /// Bytes that judging will need beside the window's graph, the result among them.
    pub fn plan(graph: &Graph) -> Plan {
        let (vertices, arcs) = (u64::from(graph.vertices()), graph.arcs());
        Plan { graph_host: graph.bytes(), ..Plan::default() }
            .with("ties", 8 * arcs + 4 * (vertices + graph.shards().len() as u64))
            .with("the excess of each vertex", 4 * vertices)
            .with("partners and weights of each vertex", 12 * vertices)
            .with("ties at their smaller ends", 4 * arcs + 8 * (vertices + 1))
    }

    /// Judges the ties of a graph, on rayon's current pool; `avoid` are vertices whose ties say nothing, ascending.
    ///
    /// # Errors
    /// Where the graph is directed, or memory is refused.
    pub fn of(graph: &Graph, rule: TieRule, avoid: &[VertexId]) -> Result<Ties, TieError> {
        if graph.direction() != Direction::Undirected {
            return Err(TieError::Directed);
        }
        let crowd = Crowd::of(graph, rule, avoid)?;
        let mut halves = Halves::of(graph, &crowd)?;
        if rule.closure {
            halves.count_common(&crowd);
        }
        let expected = Expected::of(graph, &crowd);
        halves.judge(graph, &crowd, &expected);
        halves.into_ties(graph, &crowd, expected.ties)
    }

    /// The window's ties, weighed by q in steps of 2⁻¹⁶.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// By how much each vertex' most surprising tie goes beyond what chance has among as many ties, in nats: the most
    /// that J − ln m is, and 0 where no tie is kept.
    pub fn excess(&self) -> &[f32] {
        &self.excess
    }

    /// How many ties there are.
    pub fn count(&self) -> u64 {
        self.ties
    }

    /// How many of them are kept.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Whether a tie of this stored q is kept.
    #[inline]
    pub fn is_kept(stored: u32) -> bool {
        stored > CERTAIN / 2
    }

    /// The kept partners of a vertex.
    pub fn kept_of(&self, vertex: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let (partners, weights) = lists(&self.graph, vertex);
        let both = partners.iter().zip(weights.unwrap_or(&[]));
        both.filter(|(_, q)| Ties::is_kept(**q)).map(|(&partner, _)| partner)
    }
}

/// A vertex' partners, and what their ties weigh where ties have weights.
pub(crate) fn lists(graph: &Graph, vertex: VertexId) -> (&[VertexId], Option<&[u32]>) {
    let shard = graph.shard_of(vertex);
    let local = (vertex - shard.vertices().start) as usize;
    (shard.out().of(local), shard.out().weights_of(local))
}

/// Each partner of a vertex but itself, with the weight of the tie: 1 where there are none.
pub(crate) fn arcs(graph: &Graph, vertex: VertexId) -> impl Iterator<Item = (VertexId, u32)> + '_ {
    let (partners, weights) = lists(graph, vertex);
    let weight = move |at: usize| weights.map_or(1, |weights| weights[at]);
    let all = partners.iter().enumerate().map(move |(at, &partner)| (partner, weight(at)));
    all.filter(move |&(partner, _)| partner != vertex)
}

/// What is known of each vertex.
struct Crowd {
    /// Partners.
    degrees: Vec<u32>,
    /// The summed weight of all ties.
    strengths: Vec<u64>,
    hub_degree: u32,
    avoid: Vec<VertexId>,
}

impl Crowd {
    fn of(graph: &Graph, rule: TieRule, avoid: &[VertexId]) -> Result<Crowd, OutOfMemory> {
        let vertices = graph.vertices() as usize;
        let (mut degrees, mut strengths) = (memory::zeros(vertices)?, memory::zeros(vertices)?);
        let each = degrees.par_iter_mut().zip(&mut strengths).enumerate();
        each.with_min_len(VERTICES_PER_TASK).for_each(|(vertex, (degree, strength))| {
            for (_, weight) in arcs(graph, vertex as VertexId) {
                *degree += 1;
                *strength += u64::from(weight);
            }
        });
        let avoid = memory::copied(avoid)?;
        Ok(Crowd { degrees, strengths, hub_degree: rule.hub_degree, avoid })
    }

    /// Whether a tie is kept at `v` rather than at `u`.
    #[inline]
    fn is_before(&self, v: VertexId, u: VertexId) -> bool {
        (self.degrees[v as usize], v) < (self.degrees[u as usize], u)
    }

    #[inline]
    fn is_avoided(&self, v: VertexId) -> bool {
        !self.avoid.is_empty() && self.avoid.binary_search(&v).is_ok()
    }

    /// Whether others may meet there.
    #[inline]
    fn is_meeting(&self, v: VertexId) -> bool {
        self.degrees[v as usize] <= self.hub_degree && !self.is_avoided(v)
    }
}

/// What chance has.
struct Expected {
    ties: u64,
    /// The weight of a typical transaction.
    unit: f64,
    /// Σ W.
    strength: f64,
    /// What is expected of partners in common beside the two degrees.
    meetings: f64,
}

impl Expected {
    fn of(graph: &Graph, crowd: &Crowd) -> Expected {
        let vertices = 0..graph.vertices();
        let squares = |vertex| -> u128 {
            arcs(graph, vertex).map(|(_, weight)| u128::from(weight).pow(2)).sum()
        };
        let squares: u128 = vertices
            .clone()
            .into_par_iter()
            .with_min_len(VERTICES_PER_TASK)
            .map(squares)
            .sum::<u128>();
        let strength: u64 = crowd.strengths.par_iter().sum();
        let degree: u64 = crowd.degrees.par_iter().map(|&degree| u64::from(degree)).sum();
        let meets = |v: VertexId| match u128::from(crowd.degrees[v as usize]) {
            degree if degree > 0 && crowd.is_meeting(v) => degree * (degree - 1),
            _ => 0,
        };
        let meetings: u128 = vertices.into_par_iter().map(meets).sum();
        let share = |of: u128, all: u64| if all > 0 { of as f64 / all as f64 } else { 0.0 };
        Expected {
            ties: degree / 2,
            unit: share(squares, strength),
            strength: strength as f64,
            meetings: share(meetings, degree) / (degree as f64).max(1.0),
        }
    }

    /// The surprise of a tie.
    fn surprise(&self, crowd: &Crowd, u: VertexId, v: VertexId, weight: u32, common: u32) -> f32 {
        let strength = |v: VertexId| crowd.strengths[v as usize] as f64;
        let degree = |v: VertexId| f64::from(crowd.degrees[v as usize]);
        let expected = strength(u) * strength(v) / (self.unit * self.strength);
        let mut nats = surprise(f64::from(weight) / self.unit, expected);
        if common > 0 {
            let expected = (degree(u) - 1.0) * (degree(v) - 1.0) * self.meetings;
            nats += surprise(f64::from(common), expected);
        }
        nats as f32
    }
}

/// q as it is stored, of a tie among so many.
fn stored(nats: f32, ties: u64) -> u32 {
    let against = ((ties as f64).ln() - f64::from(nats)).exp();
    ((f64::from(CERTAIN) / (1.0 + against)).round() as u32).max(1)
}

/// Each tie at its end of fewer partners.
struct Halves {
    /// Where each vertex' begin.
    offsets: Vec<u64>,
    /// The other ends, ascending.
    ends: Vec<VertexId>,
    /// Partners in common; once they are judged, the bits of their surprise.
    found: Vec<u32>,
}

impl Halves {
    fn of(graph: &Graph, crowd: &Crowd) -> Result<Halves, OutOfMemory> {
        let vertices = graph.vertices() as usize;
        let later =
            |v: VertexId| arcs(graph, v).map(|(u, _)| u).filter(move |&u| crowd.is_before(v, u));
        let mut offsets = memory::zeros::<u64>(vertices + 1)?;
        let counts = offsets[1..].par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        counts.for_each(|(v, count)| *count = later(v as VertexId).count() as u64);
        let mut sum = 0;
        for offset in &mut offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut ends = memory::zeros::<VertexId>(sum as usize)?;
        let mut rest = &mut ends[..];
        let mut tasks = memory::with_room(vertices.div_ceil(VERTICES_PER_TASK))?;
        for first in (0..vertices).step_by(VERTICES_PER_TASK) {
            let last = (first + VERTICES_PER_TASK).min(vertices);
            let (of_task, behind) = rest.split_at_mut((offsets[last] - offsets[first]) as usize);
            tasks.push((first..last, of_task));
            rest = behind;
        }
        tasks.into_par_iter().for_each(|(vertices, ends)| {
            let all = vertices.flat_map(|v| later(v as VertexId));
            ends.iter_mut().zip(all).for_each(|(end, u)| *end = u);
        });
        let found = memory::zeros(ends.len())?;
        Ok(Halves { offsets, ends, found })
    }

    fn range(&self, v: VertexId) -> std::ops::Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    /// Counts, for each tie, the partners that both have.
    fn count_common(&mut self, crowd: &Crowd) {
        let mut found = std::mem::take(&mut self.found);
        let counts = as_atomic(&mut found);
        let halves = &*self;
        let count = |v: u32| {
            let of_v = halves.range(v);
            for at_u in of_v.clone() {
                let u = halves.ends[at_u];
                let meet = [crowd.is_meeting(v), crowd.is_meeting(u)];
                halves.close(crowd, counts, of_v.clone(), (at_u, halves.range(u)), meet);
            }
        };
        (0..crowd.degrees.len() as u32).into_par_iter().with_min_len(64).for_each(count);
        self.found = found;
    }

    /// The triangles of v, its partner u and any other, who stands in the lists of both.
    fn close(
        &self,
        crowd: &Crowd,
        counts: &[AtomicU32],
        mut of_v: std::ops::Range<usize>,
        (at_u, mut of_u): (usize, std::ops::Range<usize>),
        [v_meets, u_meets]: [bool; 2],
    ) {
        while !of_v.is_empty() && !of_u.is_empty() {
            match self.ends[of_v.start].cmp(&self.ends[of_u.start]) {
                std::cmp::Ordering::Less => of_v.start += 1,
                std::cmp::Ordering::Greater => of_u.start += 1,
                std::cmp::Ordering::Equal => {
                    let w_meets = crowd.is_meeting(self.ends[of_v.start]);
                    counts[at_u].fetch_add(u32::from(w_meets), Relaxed);
                    counts[of_v.start].fetch_add(u32::from(u_meets), Relaxed);
                    counts[of_u.start].fetch_add(u32::from(v_meets), Relaxed);
                    of_v.start += 1;
                    of_u.start += 1;
                }
            }
        }
    }

    /// Turns partners in common into the bits of the surprise; of a tie to be avoided, into those of −1.
    fn judge(&mut self, graph: &Graph, crowd: &Crowd, expected: &Expected) {
        let mut found = std::mem::take(&mut self.found);
        let cells = as_atomic(&mut found);
        let judge = |v: VertexId| {
            let later = arcs(graph, v).filter(|&(u, _)| crowd.is_before(v, u));
            let avoided = crowd.is_avoided(v);
            for (at, (u, weight)) in self.range(v).zip(later) {
                let nats = if avoided || crowd.is_avoided(u) {
                    -1.0
                } else {
                    expected.surprise(crowd, v, u, weight, cells[at].load(Relaxed))
                };
                cells[at].store(f32::to_bits(nats), Relaxed);
            }
        };
        let vertices = (0..graph.vertices()).into_par_iter();
        vertices.with_min_len(VERTICES_PER_TASK).for_each(judge);
        self.found = found;
    }

    /// The surprise of the tie of two, one of whose is kept at `v`, whichever comes first.
    fn nats(&self, crowd: &Crowd, v: VertexId, u: VertexId) -> f32 {
        let (at, other) = if crowd.is_before(v, u) { (v, u) } else { (u, v) };
        let range = self.range(at);
        let place = self.ends[range.clone()].binary_search(&other).map(|place| range.start + place);
        place.map_or(-1.0, |place| f32::from_bits(self.found[place]))
    }

    fn into_ties(self, graph: &Graph, crowd: &Crowd, ties: u64) -> Result<Ties, TieError> {
        let ln_ties = (ties as f64).ln() as f32;
        let mut excess = memory::zeros::<f32>(graph.vertices() as usize)?;
        let mut shards = Vec::new();
        for shard in graph.shards() {
            let out = shard.out();
            let mut weights = memory::zeros::<u32>(out.neighbors().len())?;
            let vertices = shard.vertices();
            let of_shard = &mut excess[vertices.start as usize..vertices.end as usize];
            let mut rest = &mut weights[..];
            let mut tasks = Vec::new();
            for (task, excess) in of_shard.chunks_mut(VERTICES_PER_TASK).enumerate() {
                let first = task * VERTICES_PER_TASK;
                let arcs = out.offsets()[first + excess.len()] - out.offsets()[first];
                let (of_task, behind) = rest.split_at_mut(arcs as usize);
                tasks.push((first, excess, of_task));
                rest = behind;
            }
            tasks.into_par_iter().for_each(|(first, excess, weights)| {
                let mut cells = weights.iter_mut();
                for (local, excess) in (first..).zip(excess) {
                    let v = vertices.start + local as VertexId;
                    for (&u, cell) in out.of(local).iter().zip(&mut cells) {
                        let nats = if u == v { -1.0 } else { self.nats(crowd, v, u) };
                        if nats >= 0.0 {
                            *cell = stored(nats, ties);
                            *excess = excess.max(nats - ln_ties);
                        }
                    }
                }
            });
            let offsets = memory::copied(out.offsets())?;
            let neighbors = memory::copied(out.neighbors())?;
            let lists = Adjacency::new(offsets.into(), neighbors.into(), Some(weights.into()));
            shards.push(Shard::new(vertices, lists, None));
        }
        drop(self);
        let scale = WeightScale::from_exponent(16).unwrap_or(WeightScale::ONE);
        let graph = Graph::from_shards(graph.ids().clone(), Direction::Undirected, scale, shards)?;
        let kept = |v| {
            let (_, weights) = lists(&graph, v);
            weights.unwrap_or(&[]).iter().filter(|q| Ties::is_kept(**q)).count() as u64
        };
        let kept: u64 = (0..graph.vertices()).into_par_iter().map(kept).sum::<u64>() / 2;
        Ok(Ties { graph, excess, ties, kept })
    }
}
