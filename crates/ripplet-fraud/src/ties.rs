//! Significant ties: the edges with more weight or more common neighbours than chance explains, along which
//! labels spread.
//!
//! # What it returns
//! Each tie (an edge between two vertices) has a *surprise* J in nats. It is the sum of two parts:
//!
//! ```text
//! J(u, v) = surprise(c, λ)              more weight between the two than expected
//!         + surprise(k, κ)              more common neighbours than expected
//!
//! w = min(weight, C)                    the weight of the edge, capped at C
//! c = w(u, v) / φ                       in units of a typical transaction
//! φ = Σ w² / Σ w                        over all ties: 1 if each pair has one transaction
//! λ = W(u) · W(v) / (φ · Σ W)           W: strength, the summed weight of a vertex's ties
//! k                                     common neighbours that are no hubs
//! κ = (d(u) − 1) · (d(v) − 1) / Σ d · (Σ d(z) · (d(z) − 1) over all z that are no hubs) / Σ d
//! ```
//!
//! where d is the degree, and [`surprise`](crate::surprise::surprise) is −ln P(Poisson ≥ …). λ and κ are the
//! expectations of the configuration model: each vertex keeps its strength and degree, and partners are drawn
//! at random. φ turns weights of any unit into counts: a compound Poisson variable of weights w has this
//! dispersion. If every pair has many transactions, φ is large and no vertex stands out.
//!
//! φ has squares, so without a cap one pair with 500 transactions among 20,000 others would make φ large, and
//! all other ties insignificant. With m ties, the *cap* C is the largest whole number with
//!
//! ```text
//! ⌊√m⌋ · C² ≤ Σ min(weight, C)²
//! ```
//!
//! That is, no single tie contributes more than one ⌊√m⌋th of Σ w². Fewer than ⌊√m⌋ ties are above C, and
//! they count as C (winsorized). In most windows no tie is that heavy, and nothing is capped (measured:
//! `bench/runs/2026-11-24-2-cores/fraud-busy-pair.txt`). If ⌊√m⌋ ties or more are equally heavy, they are no
//! outliers, and φ includes them whole.
//!
//! With m ties, even the most surprising one of a graph without rings reaches about ln m. The odds that a tie
//! is not by chance are e^J / m, as one tie is expected to reach J = ln m (Bonferroni's correction). The
//! weight
//!
//! ```text
//! q(u, v) = e^J / (m + e^J)
//! ```
//!
//! is stored in [`Ties::graph`], in steps of 2⁻¹⁶ and at least one step; labels spread by it. A tie is *kept*
//! if its *excess* J − ln m is above 0, and so q above one half. The kept ties are a statistically validated
//! network. [`Ties::excess`] is the largest excess of each vertex's ties.
//!
//! # Hubs
//! A popular item is no ring. λ grows with the strength of both ends, so a hub's ties have little surprise. A
//! vertex of more partners than [`TieRule::hub_degree`] does not count as a common neighbour.
//!
//! Vertices to be avoided (trusted ones) have ties of q = 0 and do not count as common neighbours. Their
//! transactions still count in the expectations. Self-loops are no ties.
//!
//! # Algorithm, cost, memory
//! For common neighbours, each tie is listed at its end of lower degree. Each triangle is found once, at its
//! vertex of lowest degree, by merging two such lists, and counts for each of its ties. A list has at most
//! √(2 m) entries. Each tie is scored at both ends, in one pass over all arcs, which is faster than to look
//! up the result of the other end. Memory: [`Ties::plan`]; about 16 bytes a tie for the result, and 8 more
//! while it is built.
//!
//! # Determinism
//! The result is identical on any number of threads and any shards: counts and sums of weights are integers.
//!
//! # References
//! Tumminello, Miccichè, Lillo, Piilo, Mantegna, *Statistically validated networks in bipartite complex systems*, PLoS
//! ONE 6, 2011 (ties beyond chance, and the correction). Chung, Lu, *Connected components in random graphs with given
//! expected degree sequences*, Annals of Combinatorics 6, 2002 (what is expected). Latapy, *Main-memory triangle
//! computations for very large (sparse (power-law)) graphs*, Theoretical Computer Science 407, 2008 (the lists).

use crate::surprise::Counted;
use rayon::prelude::*;
use ripplet_graph::{
    Adjacency, Direction, Graph, InvalidGraph, OutOfMemory, Shard, VertexId, WeightScale,
    as_atomic, memory,
};
use ripplet_lp::Plan;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use thiserror::Error;

/// The stored value of q = 1.
pub const CERTAIN: u32 = 1 << 16;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1 << 10;

/// Rule by which ties are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TieRule {
    /// Whether common neighbours count.
    pub closure: bool,
    /// Largest degree of a vertex that counts as a common neighbour.
    pub hub_degree: u32,
}

impl Default for TieRule {
    /// Common neighbours count, and a vertex of more than 1000 partners is a hub: two of its partners need
    /// not know each other.
    fn default() -> TieRule {
        TieRule { closure: true, hub_degree: 1000 }
    }
}

/// Error of scoring ties.
#[derive(Debug, Error)]
pub enum TieError {
    /// The graph is directed; ties are symmetric.
    #[error("ties are judged in undirected graphs, and this one is directed")]
    Directed,
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The parts of the graph do not fit together.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
}

/// Ties of a window with their significance.
#[derive(Debug, PartialEq)]
pub struct Ties {
    graph: Graph,
    excess: Vec<f32>,
    surprise: Vec<f32>,
    ties: u64,
    kept: u64,
}

impl Ties {
    /// Returns the memory that scoring needs beside the window's graph, including the result.
    pub fn plan(graph: &Graph) -> Plan {
        let (vertices, arcs) = (u64::from(graph.vertices()), graph.arcs());
        Plan { graph_host: graph.bytes(), ..Plan::default() }
            .with("ties", 8 * arcs + 4 * (vertices + graph.shards().len() as u64))
            .with("excess and surprise of each vertex", 8 * vertices)
            .with("partners and weights of each vertex", 16 * vertices)
            .with("partners in common", 4 * arcs + 9 * (vertices + 1))
    }

    /// Scores the ties of a graph, on rayon's current pool. `avoid` lists the vertices whose ties have no
    /// weight, ascending.
    ///
    /// # Errors
    /// If the graph is directed, or memory allocation fails.
    pub fn of(graph: &Graph, rule: TieRule, avoid: &[VertexId]) -> Result<Ties, TieError> {
        if graph.direction() != Direction::Undirected {
            return Err(TieError::Directed);
        }
        let cap = Weights::of(graph).cap(graph);
        let endpoints = Endpoints::of(graph, cap, rule, avoid)?;
        let common = if rule.closure { Common::of(graph, &endpoints)? } else { Common::default() };
        let expected = Expected::of(graph, cap, &endpoints);
        judged(graph, &endpoints, &common, &expected)
    }

    /// Returns the window's ties, weighted by q in steps of 2⁻¹⁶.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the excess of each vertex in nats: the largest J − ln m of its ties, and 0 if no tie is kept.
    pub fn excess(&self) -> &[f32] {
        &self.excess
    }

    /// Returns the surprise of each vertex in nats: the largest J of its ties, whether or not they are kept; 0
    /// without ties.
    pub fn surprise(&self) -> &[f32] {
        &self.surprise
    }

    /// Number of ties.
    pub fn count(&self) -> u64 {
        self.ties
    }

    /// Number of ties that are kept.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Returns the share of the ties kept here that `others`, of the same graph with other weights, keep too;
    /// `None` if no tie is kept here.
    pub fn share_kept_by(&self, others: &Ties) -> Option<f64> {
        let shards = self.graph.shards().par_iter().zip(others.graph.shards());
        let both = |(here, there): (&Shard, &Shard)| {
            let [here, there] = [here, there].map(|shard| shard.out().weights().unwrap_or(&[]));
            let all = here.iter().zip(there).filter(|(q, _)| Ties::is_kept(**q));
            all.fold((0, 0), |(kept, of), (_, q)| (kept + u64::from(Ties::is_kept(*q)), of + 1))
        };
        let (kept, of) = shards.map(both).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        (of > 0).then(|| kept as f64 / of as f64)
    }

    /// Whether a tie with this stored q is kept.
    #[inline]
    pub fn is_kept(stored: u32) -> bool {
        stored > CERTAIN / 2
    }

    /// Iterates over the partners of a vertex along kept ties.
    pub fn kept_of(&self, vertex: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let (partners, weights) = lists(&self.graph, vertex);
        let both = partners.iter().zip(weights.unwrap_or(&[]));
        both.filter(|(_, q)| Ties::is_kept(**q)).map(|(&partner, _)| partner)
    }
}

/// Returns a vertex's partners, and the weights of its ties if the graph has weights.
#[inline]
pub(crate) fn lists(graph: &Graph, vertex: VertexId) -> (&[VertexId], Option<&[u32]>) {
    let shard = graph.shard_of(vertex);
    let (local, out) = ((vertex - shard.vertices().start) as usize, shard.out());
    (out.of(local), out.weights_of(local))
}

/// Iterates over each partner of a vertex except itself, with the weight of the tie: 1 if the graph has no
/// weights.
pub(crate) fn arcs(graph: &Graph, vertex: VertexId) -> impl Iterator<Item = (VertexId, u32)> + '_ {
    let (partners, weights) = lists(graph, vertex);
    let weight = move |at: usize| weights.map_or(1, |weights| weights[at]);
    let all = partners.iter().enumerate().map(move |(at, &partner)| (partner, weight(at)));
    all.filter(move |&(partner, _)| partner != vertex)
}

/// Number of weight classes: one for each bit length.
const CLASSES: usize = u32::BITS as usize + 1;

/// Counts and sums of squares of all arcs' weights, by bit length.
#[derive(Clone, Copy, Debug)]
struct Weights {
    counts: [u64; CLASSES],
    squares: [u128; CLASSES],
}

impl Weights {
    fn of(graph: &Graph) -> Weights {
        let none = || Weights { counts: [0; CLASSES], squares: [0; CLASSES] };
        let vertices = (0..graph.vertices()).into_par_iter().with_min_len(VERTICES_PER_TASK);
        let each = vertices.fold(none, |mut weights, vertex| {
            for (_, weight) in arcs(graph, vertex) {
                let class = (u32::BITS - weight.leading_zeros()) as usize;
                weights.counts[class] += 1;
                weights.squares[class] += u128::from(weight).pow(2);
            }
            weights
        });
        each.reduce(none, |mut one, other| {
            for class in 0..CLASSES {
                one.counts[class] += other.counts[class];
                one.squares[class] += other.squares[class];
            }
            one
        })
    }

    /// Returns the cap C (see the module); `u32::MAX` if no weight is capped.
    fn cap(&self, graph: &Graph) -> u32 {
        let ties = self.counts[1..].iter().sum::<u64>() / 2;
        let root = u128::from(ties.isqrt());
        // The cap is below the first power of two that is too large.
        let is_too_large = |&class: &usize| {
            let square = 1u128 << (2 * class);
            let below: u128 = self.squares[..=class].iter().sum();
            let above: u64 = self.counts[class + 1..].iter().sum();
            2 * root * square > below + square * u128::from(above)
        };
        let Some(class) = (1..CLASSES).find(is_too_large) else { return u32::MAX };
        // Fewer than 4 ⌊√m⌋ ties, or the power would not be too large.
        let heaviest = heaviest(graph, 1 << (class - 1));
        let below = self.squares[..class].iter().sum::<u128>() / 2;
        let is_cap = |cap: u32| {
            let capped = |&weight: &u32| u128::from(weight.min(cap)).pow(2);
            root * u128::from(cap).pow(2) <= below + heaviest.iter().map(capped).sum::<u128>()
        };
        if heaviest.iter().max().is_none_or(|&most| is_cap(most)) {
            return u32::MAX;
        }
        // Bisection: the inequality holds up to the cap, and not beyond.
        let mut cap = 1u32 << (class - 1);
        for bit in (0..class - 1).rev() {
            cap += if is_cap(cap + (1 << bit)) { 1 << bit } else { 0 };
        }
        cap
    }
}

/// Returns the weights of the ties of at least `from`.
fn heaviest(graph: &Graph, from: u32) -> Vec<u32> {
    let vertices = (0..graph.vertices()).into_par_iter().with_min_len(VERTICES_PER_TASK);
    let of_vertex = |vertex: VertexId| {
        let ties = arcs(graph, vertex).filter(move |&(partner, _)| partner > vertex);
        ties.map(|(_, weight)| weight).filter(move |&weight| weight >= from)
    };
    vertices.flat_map_iter(of_vertex).collect()
}

/// Strength, degree and role of a vertex.
#[derive(Clone, Copy, Debug, Default)]
struct Endpoint {
    /// Summed weight of all ties, each up to the cap.
    strength: u64,
    /// Number of partners.
    degree: u32,
    role: Role,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    /// Counts as a common neighbour.
    #[default]
    Ordinary,
    /// Has more partners than the hub degree.
    Hub,
    /// Its ties have no weight.
    Avoided,
}

/// Strength, degree and role of each vertex.
struct Endpoints(Vec<Endpoint>);

impl Endpoints {
    fn of(
        graph: &Graph,
        cap: u32,
        rule: TieRule,
        avoid: &[VertexId],
    ) -> Result<Endpoints, OutOfMemory> {
        let mut endpoints = memory::filled(Endpoint::default(), graph.vertices() as usize)?;
        let each = endpoints.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        each.for_each(|(vertex, endpoint)| {
            for (_, weight) in arcs(graph, vertex as VertexId) {
                endpoint.degree += 1;
                endpoint.strength += u64::from(weight.min(cap));
            }
            if endpoint.degree > rule.hub_degree {
                endpoint.role = Role::Hub;
            }
        });
        for &vertex in avoid {
            if let Some(endpoint) = endpoints.get_mut(vertex as usize) {
                endpoint.role = Role::Avoided;
            }
        }
        Ok(Endpoints(endpoints))
    }

    #[inline]
    fn get(&self, v: VertexId) -> Endpoint {
        self.0[v as usize]
    }

    /// Whether a tie is listed at `v` rather than at `u`.
    #[inline]
    fn is_before(&self, v: VertexId, u: VertexId) -> bool {
        (self.get(v).degree, v) < (self.get(u).degree, u)
    }

    /// Whether a vertex counts as a common neighbour.
    #[inline]
    fn is_ordinary(&self, v: VertexId) -> bool {
        self.get(v).role == Role::Ordinary
    }
}

/// Expectations of the configuration model.
struct Expected {
    /// Weight at which heavier ties are capped.
    cap: u32,
    ties: u64,
    ln_ties: f64,
    /// The weight of a typical transaction.
    unit: f64,
    /// Σ W · φ.
    strength: f64,
    /// Expected number of common neighbours, divided by the product of the two degrees.
    wedges: f64,
    /// Terms of `surprise` for small weights, from 0 on.
    counted: Vec<Counted>,
}

/// Number of weights whose terms are precomputed: most are small.
const COUNTED: u32 = 4096;

impl Expected {
    fn of(graph: &Graph, cap: u32, endpoints: &Endpoints) -> Expected {
        let squares = |vertex| -> u128 {
            arcs(graph, vertex).map(|(_, weight)| u128::from(weight.min(cap)).pow(2)).sum()
        };
        let vertices = (0..graph.vertices()).into_par_iter().with_min_len(VERTICES_PER_TASK);
        let squares: u128 = vertices.map(squares).sum();
        let strength: u64 = endpoints.0.par_iter().map(|endpoint| endpoint.strength).sum();
        let degree: u64 = endpoints.0.par_iter().map(|endpoint| u64::from(endpoint.degree)).sum();
        let meets = |endpoint: &Endpoint| match u128::from(endpoint.degree) {
            degree if degree > 0 && endpoint.role == Role::Ordinary => degree * (degree - 1),
            _ => 0,
        };
        let wedges: u128 = endpoints.0.par_iter().map(meets).sum();
        let share = |of: u128, all: u64| if all > 0 { of as f64 / all as f64 } else { 0.0 };
        let (ties, unit) = (degree / 2, share(squares, strength));
        Expected {
            cap,
            ties,
            ln_ties: (ties as f64).ln(),
            unit,
            strength: unit * strength as f64,
            wedges: share(wedges, degree) / (degree as f64).max(1.0),
            counted: (0..COUNTED).map(|weight| Counted::new(f64::from(weight) / unit)).collect(),
        }
    }

    /// Returns the surprise of a tie; it is symmetric in both ends.
    fn surprise(&self, one: Endpoint, other: Endpoint, weight: u32, common: u32) -> f32 {
        let expected = one.strength as f64 * other.strength as f64 / self.strength;
        let weight = weight.min(self.cap);
        let counted = self.counted.get(weight as usize).copied();
        let counted = counted.unwrap_or_else(|| Counted::new(f64::from(weight) / self.unit));
        let mut nats = counted.beside(expected);
        if common > 0 {
            let degrees = (f64::from(one.degree) - 1.0) * (f64::from(other.degree) - 1.0);
            nats += Counted::new(f64::from(common)).beside(degrees * self.wedges);
        }
        nats as f32
    }

    /// Returns q as it is stored.
    fn stored(&self, nats: f32) -> u32 {
        let against = (self.ln_ties - f64::from(nats)).exp();
        ((f64::from(CERTAIN) / (1.0 + against)).round() as u32).max(1)
    }
}

/// Number of common neighbours of each tie's ends.
#[derive(Default)]
struct Common {
    /// Offset of the ties listed at each vertex.
    offsets: Vec<u64>,
    /// Other ends of the listed ties, ascending.
    ends: Vec<VertexId>,
    /// Common neighbours of each listed tie.
    counts: Vec<u32>,
    /// Not 0 if any tie of the vertex has common neighbours.
    any: Vec<u8>,
}

impl Common {
    fn of(graph: &Graph, endpoints: &Endpoints) -> Result<Common, OutOfMemory> {
        let vertices = graph.vertices() as usize;
        let later = |v: VertexId| {
            arcs(graph, v).map(|(u, _)| u).filter(move |&u| endpoints.is_before(v, u))
        };
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
        let counts = memory::zeros(ends.len())?;
        let mut common = Common { offsets, ends, counts, any: memory::zeros(vertices)? };
        common.count(endpoints);
        Ok(common)
    }

    fn range(&self, v: VertexId) -> Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    fn count(&mut self, endpoints: &Endpoints) {
        let mut counts = std::mem::take(&mut self.counts);
        let cells = as_atomic(&mut counts);
        let common = &*self;
        let count = |v: VertexId| {
            let of_v = common.range(v);
            // A triangle's first vertex lists two of its ties.
            for at_u in of_v.clone().filter(|_| of_v.len() > 1) {
                common.close(endpoints, cells, v, of_v.clone(), at_u);
            }
        };
        (0..endpoints.0.len() as VertexId).into_par_iter().with_min_len(64).for_each(count);
        self.counts = counts;
        for v in 0..endpoints.0.len() {
            let range = self.range(v as VertexId);
            for at in range.filter(|&at| self.counts[at] > 0) {
                (self.any[v], self.any[self.ends[at] as usize]) = (1, 1);
            }
        }
    }

    /// Counts the triangles of v, its partner u and a third vertex that both list.
    fn close(
        &self,
        endpoints: &Endpoints,
        counts: &[AtomicU32],
        v: VertexId,
        mut of_v: Range<usize>,
        at_u: usize,
    ) {
        let u = self.ends[at_u];
        let mut of_u = self.range(u);
        while !of_v.is_empty() && !of_u.is_empty() {
            match self.ends[of_v.start].cmp(&self.ends[of_u.start]) {
                std::cmp::Ordering::Less => of_v.start += 1,
                std::cmp::Ordering::Greater => of_u.start += 1,
                std::cmp::Ordering::Equal => {
                    let meets = |who| u32::from(endpoints.is_ordinary(who));
                    counts[at_u].fetch_add(meets(self.ends[of_v.start]), Relaxed);
                    counts[of_v.start].fetch_add(meets(u), Relaxed);
                    counts[of_u.start].fetch_add(meets(v), Relaxed);
                    of_v.start += 1;
                    of_u.start += 1;
                }
            }
        }
    }

    /// Returns the number of common neighbours of a tie's ends.
    fn between(&self, endpoints: &Endpoints, v: VertexId, u: VertexId) -> u32 {
        let any = |v: VertexId| self.any.get(v as usize).is_some_and(|any| *any > 0);
        if !any(v) || !any(u) {
            return 0;
        }
        let (at, other) = if endpoints.is_before(v, u) { (v, u) } else { (u, v) };
        let range = self.range(at);
        let place = self.ends[range.clone()].binary_search(&other);
        place.map_or(0, |place| self.counts[range.start + place])
    }
}

/// Scores all ties of a graph.
fn judged(
    graph: &Graph,
    endpoints: &Endpoints,
    common: &Common,
    expected: &Expected,
) -> Result<Ties, TieError> {
    let mut surprise = memory::zeros::<f32>(graph.vertices() as usize)?;
    let (mut shards, mut kept) = (Vec::new(), 0);
    for shard in graph.shards() {
        let out = shard.out();
        let mut weights = memory::zeros::<u32>(out.neighbors().len())?;
        let vertices = shard.vertices();
        let of_shard = &mut surprise[vertices.start as usize..vertices.end as usize];
        let mut rest = &mut weights[..];
        let mut tasks = memory::with_room(vertices.len().div_ceil(VERTICES_PER_TASK))?;
        for (task, most) in of_shard.chunks_mut(VERTICES_PER_TASK).enumerate() {
            let first = task * VERTICES_PER_TASK;
            let arcs = out.offsets()[first + most.len()] - out.offsets()[first];
            let (of_task, behind) = rest.split_at_mut(arcs as usize);
            tasks.push((first, most, of_task));
            rest = behind;
        }
        let of_tasks = tasks.into_par_iter().map(|(first, most, weights)| {
            let (mut cells, mut kept) = (weights.iter_mut(), 0);
            for (local, most) in (first..).zip(most) {
                let v = vertices.start + local as VertexId;
                let dealt = out.weights_of(local);
                let endpoint = endpoints.get(v);
                for ((at, &u), cell) in out.of(local).iter().enumerate().zip(&mut cells) {
                    let other = endpoints.get(u);
                    if u == v || [endpoint.role, other.role].contains(&Role::Avoided) {
                        continue;
                    }
                    let weight = dealt.map_or(1, |dealt| dealt[at]);
                    let common = common.between(endpoints, v, u);
                    let nats = expected.surprise(endpoint, other, weight, common);
                    *cell = expected.stored(nats);
                    *most = most.max(nats);
                    kept += u64::from(Ties::is_kept(*cell));
                }
            }
            kept
        });
        kept += of_tasks.sum::<u64>();
        let offsets = memory::copied(out.offsets())?;
        let neighbors = memory::copied(out.neighbors())?;
        let lists = Adjacency::new(offsets.into(), neighbors.into(), Some(weights.into()));
        shards.push(Shard::new(vertices, lists, None));
    }
    let scale = WeightScale::from_code(16).unwrap_or(WeightScale::ONE);
    let graph = Graph::from_shards(graph.ids().clone(), Direction::Undirected, scale, shards)?;
    // Without ties, their logarithm is not finite.
    let ln_ties = (expected.ln_ties as f32).max(0.0);
    let excess = memory::collected(surprise.iter().map(|most| (most - ln_ties).max(0.0)))?;
    Ok(Ties { graph, excess, surprise, ties: expected.ties, kept: kept / 2 })
}
