//! Which ties are more than chance: the evidence that labels spread along.
//!
//! # What it returns
//! For each tie (two who dealt with one another) its *surprise* J in nats, in two parts that are added up:
//!
//! ```text
//! J(u, v) = surprise(c, λ)              they dealt with one another more than chance has it
//!         + surprise(k, κ)              they have more partners in common than chance has it
//!
//! w = min(dealt, C)                     what they dealt, up to the cap C
//! c = w(u, v) / φ                       that, in units of a typical transaction
//! φ = Σ w² / Σ w                        over all ties: 1 where each pair deals once
//! λ = W(u) · W(v) / (φ · Σ W)           W: the summed weight of all of a vertex' ties
//! k                                     partners of both who are no hubs
//! κ = (d(u) − 1) · (d(v) − 1) / Σ d · (Σ d(z) · (d(z) − 1) over all who are no hubs) / Σ d
//! ```
//!
//! where d counts partners, and [`surprise`](crate::surprise::surprise) is −ln P(Poisson ≥ …). λ and κ are what is expected where partners are
//! drawn at random and everybody deals as much as they do (the configuration model). φ makes weights of any unit
//! counts: a compound Poisson variable of weights w has this dispersion. Where everybody deals with everybody many
//! times, φ is large and nobody stands out.
//!
//! φ has squares, so without a cap one pair that deals 500 times among 20,000 others would make φ large, and all other
//! ties no more than chance. With m ties, the *cap* C is the largest whole number with
//!
//! ```text
//! ⌊√m⌋ · C² ≤ Σ min(dealt, C)²
//! ```
//!
//! that is, no single tie makes more than one ⌊√m⌋th of Σ w². Fewer than ⌊√m⌋ ties are above C, and they count as C
//! (winsorized). In most windows no tie is that heavy, and nothing is capped
//! (measured: `bench/runs/2026-11-24-2-cores/fraud-busy-pair.txt`). Where ⌊√m⌋ ties or more are alike, they are no exception, and φ has
//! them whole.
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
//! For partners in common, each tie is listed at its end of fewer partners; each triangle is found once, at its vertex of
//! fewest partners, by merging two such lists, and counts for each of its ties. A list has at most √(2 m) entries. Each
//! tie is judged at both ends, in one pass over all arcs, which is faster than to look up what the other end found.
//! Memory: [`Ties::plan`]; about 16 bytes a tie for the result, and 8 while it is made.
//!
//! # Determinism
//! The same on any number of threads, and any shards: counts are integers, sums of weights too.
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
            .with("partners and weights of each vertex", 16 * vertices)
            .with("partners in common", 4 * arcs + 9 * (vertices + 1))
    }

    /// Judges the ties of a graph, on rayon's current pool; `avoid` are vertices whose ties say nothing, ascending.
    ///
    /// # Errors
    /// Where the graph is directed, or memory is refused.
    pub fn of(graph: &Graph, rule: TieRule, avoid: &[VertexId]) -> Result<Ties, TieError> {
        if graph.direction() != Direction::Undirected {
            return Err(TieError::Directed);
        }
        let cap = Weights::of(graph).cap(graph);
        let crowd = Crowd::of(graph, cap, rule, avoid)?;
        let common = if rule.closure { Common::of(graph, &crowd)? } else { Common::default() };
        let expected = Expected::of(graph, cap, &crowd);
        judged(graph, &crowd, &common, &expected)
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

    /// The share of the ties that are kept here which others, of the same graph with other weights, keep too; none
    /// where none is kept.
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

/// Classes of weights: those of so many bits.
const CLASSES: usize = u32::BITS as usize + 1;

/// The weights of all arcs, by their number of bits.
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

    /// The largest weight that counts as it is: see the module. Above all weights where none is capped.
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
        // By halves: it holds up to the cap, and not beyond.
        let mut cap = 1u32 << (class - 1);
        for bit in (0..class - 1).rev() {
            cap += if is_cap(cap + (1 << bit)) { 1 << bit } else { 0 };
        }
        cap
    }
}

/// The weights of the ties from a weight on.
fn heaviest(graph: &Graph, from: u32) -> Vec<u32> {
    let vertices = (0..graph.vertices()).into_par_iter().with_min_len(VERTICES_PER_TASK);
    let of_vertex = |vertex: VertexId| {
        let ties = arcs(graph, vertex).filter(move |&(partner, _)| partner > vertex);
        ties.map(|(_, weight)| weight).filter(move |&weight| weight >= from)
    };
    vertices.flat_map_iter(of_vertex).collect()
}

/// What is known of a vertex.
#[derive(Clone, Copy, Debug, Default)]
struct Party {
    /// The summed weight of all ties, each up to the cap.
    strength: u64,
    /// Partners.
    degree: u32,
    role: Role,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    /// Others may meet there.
    #[default]
    Meeting,
    /// All the world meets there.
    Hub,
    /// Its ties say nothing.
    Avoided,
}

/// What is known of each vertex.
struct Crowd(Vec<Party>);

impl Crowd {
    fn of(
        graph: &Graph,
        cap: u32,
        rule: TieRule,
        avoid: &[VertexId],
    ) -> Result<Crowd, OutOfMemory> {
        let mut parties = memory::filled(Party::default(), graph.vertices() as usize)?;
        let each = parties.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        each.for_each(|(vertex, party)| {
            for (_, weight) in arcs(graph, vertex as VertexId) {
                party.degree += 1;
                party.strength += u64::from(weight.min(cap));
            }
            if party.degree > rule.hub_degree {
                party.role = Role::Hub;
            }
        });
        for &vertex in avoid {
            if let Some(party) = parties.get_mut(vertex as usize) {
                party.role = Role::Avoided;
            }
        }
        Ok(Crowd(parties))
    }

    #[inline]
    fn party(&self, v: VertexId) -> Party {
        self.0[v as usize]
    }

    /// Whether a tie is listed at `v` rather than at `u`.
    #[inline]
    fn is_before(&self, v: VertexId, u: VertexId) -> bool {
        (self.party(v).degree, v) < (self.party(u).degree, u)
    }

    /// Whether others may meet there.
    #[inline]
    fn is_meeting(&self, v: VertexId) -> bool {
        self.party(v).role == Role::Meeting
    }
}

/// What chance has.
struct Expected {
    /// Heavier ties weigh this.
    cap: u32,
    ties: u64,
    ln_ties: f64,
    /// The weight of a typical transaction.
    unit: f64,
    /// Σ W · φ.
    strength: f64,
    /// What is expected of partners in common beside the two degrees.
    meetings: f64,
    /// Weights in units, from 0 on.
    counted: Vec<Counted>,
}

/// Weights that are counted beforehand: most are small.
const COUNTED: u32 = 4096;

impl Expected {
    fn of(graph: &Graph, cap: u32, crowd: &Crowd) -> Expected {
        let squares = |vertex| -> u128 {
            arcs(graph, vertex).map(|(_, weight)| u128::from(weight.min(cap)).pow(2)).sum()
        };
        let vertices = (0..graph.vertices()).into_par_iter().with_min_len(VERTICES_PER_TASK);
        let squares: u128 = vertices.map(squares).sum();
        let strength: u64 = crowd.0.par_iter().map(|party| party.strength).sum();
        let degree: u64 = crowd.0.par_iter().map(|party| u64::from(party.degree)).sum();
        let meets = |party: &Party| match u128::from(party.degree) {
            degree if degree > 0 && party.role == Role::Meeting => degree * (degree - 1),
            _ => 0,
        };
        let meetings: u128 = crowd.0.par_iter().map(meets).sum();
        let share = |of: u128, all: u64| if all > 0 { of as f64 / all as f64 } else { 0.0 };
        let (ties, unit) = (degree / 2, share(squares, strength));
        Expected {
            cap,
            ties,
            ln_ties: (ties as f64).ln(),
            unit,
            strength: unit * strength as f64,
            meetings: share(meetings, degree) / (degree as f64).max(1.0),
            counted: (0..COUNTED).map(|weight| Counted::new(f64::from(weight) / unit)).collect(),
        }
    }

    /// The surprise of a tie: the same from either end.
    fn surprise(&self, one: Party, other: Party, weight: u32, common: u32) -> f32 {
        let expected = one.strength as f64 * other.strength as f64 / self.strength;
        let weight = weight.min(self.cap);
        let counted = self.counted.get(weight as usize).copied();
        let counted = counted.unwrap_or_else(|| Counted::new(f64::from(weight) / self.unit));
        let mut nats = counted.beside(expected);
        if common > 0 {
            let degrees = (f64::from(one.degree) - 1.0) * (f64::from(other.degree) - 1.0);
            nats += Counted::new(f64::from(common)).beside(degrees * self.meetings);
        }
        nats as f32
    }

    /// q as it is stored.
    fn stored(&self, nats: f32) -> u32 {
        let against = (self.ln_ties - f64::from(nats)).exp();
        ((f64::from(CERTAIN) / (1.0 + against)).round() as u32).max(1)
    }
}

/// How many partners the ends of each tie have in common.
#[derive(Default)]
struct Common {
    /// Where the ties that are listed at each vertex begin.
    offsets: Vec<u64>,
    /// Their other ends, ascending.
    ends: Vec<VertexId>,
    /// Partners that both ends have.
    counts: Vec<u32>,
    /// Not 0 where any tie of a vertex has some.
    any: Vec<u8>,
}

impl Common {
    fn of(graph: &Graph, crowd: &Crowd) -> Result<Common, OutOfMemory> {
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
        let counts = memory::zeros(ends.len())?;
        let mut common = Common { offsets, ends, counts, any: memory::zeros(vertices)? };
        common.count(crowd);
        Ok(common)
    }

    fn range(&self, v: VertexId) -> Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    fn count(&mut self, crowd: &Crowd) {
        let mut counts = std::mem::take(&mut self.counts);
        let cells = as_atomic(&mut counts);
        let common = &*self;
        let count = |v: VertexId| {
            let of_v = common.range(v);
            // A triangle's first vertex has two ties listed.
            for at_u in of_v.clone().filter(|_| of_v.len() > 1) {
                common.close(crowd, cells, v, of_v.clone(), at_u);
            }
        };
        (0..crowd.0.len() as VertexId).into_par_iter().with_min_len(64).for_each(count);
        self.counts = counts;
        for v in 0..crowd.0.len() {
            let range = self.range(v as VertexId);
            for at in range.filter(|&at| self.counts[at] > 0) {
                (self.any[v], self.any[self.ends[at] as usize]) = (1, 1);
            }
        }
    }

    /// The triangles of v, its partner u and any other, who stands in the lists of both.
    fn close(
        &self,
        crowd: &Crowd,
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
                    let meets = |who| u32::from(crowd.is_meeting(who));
                    counts[at_u].fetch_add(meets(self.ends[of_v.start]), Relaxed);
                    counts[of_v.start].fetch_add(meets(u), Relaxed);
                    counts[of_u.start].fetch_add(meets(v), Relaxed);
                    of_v.start += 1;
                    of_u.start += 1;
                }
            }
        }
    }

    /// Those that two who dealt with one another have.
    fn between(&self, crowd: &Crowd, v: VertexId, u: VertexId) -> u32 {
        let any = |v: VertexId| self.any.get(v as usize).is_some_and(|any| *any > 0);
        if !any(v) || !any(u) {
            return 0;
        }
        let (at, other) = if crowd.is_before(v, u) { (v, u) } else { (u, v) };
        let range = self.range(at);
        let place = self.ends[range.clone()].binary_search(&other);
        place.map_or(0, |place| self.counts[range.start + place])
    }
}

/// The ties of a graph, judged.
fn judged(
    graph: &Graph,
    crowd: &Crowd,
    common: &Common,
    expected: &Expected,
) -> Result<Ties, TieError> {
    let mut excess = memory::zeros::<f32>(graph.vertices() as usize)?;
    let (mut shards, mut kept) = (Vec::new(), 0);
    for shard in graph.shards() {
        let out = shard.out();
        let mut weights = memory::zeros::<u32>(out.neighbors().len())?;
        let vertices = shard.vertices();
        let of_shard = &mut excess[vertices.start as usize..vertices.end as usize];
        let mut rest = &mut weights[..];
        let mut tasks = memory::with_room(vertices.len().div_ceil(VERTICES_PER_TASK))?;
        for (task, excess) in of_shard.chunks_mut(VERTICES_PER_TASK).enumerate() {
            let first = task * VERTICES_PER_TASK;
            let arcs = out.offsets()[first + excess.len()] - out.offsets()[first];
            let (of_task, behind) = rest.split_at_mut(arcs as usize);
            tasks.push((first, excess, of_task));
            rest = behind;
        }
        let of_tasks = tasks.into_par_iter().map(|(first, excess, weights)| {
            let (mut cells, mut kept) = (weights.iter_mut(), 0);
            for (local, excess) in (first..).zip(excess) {
                let v = vertices.start + local as VertexId;
                let dealt = out.weights_of(local);
                let party = crowd.party(v);
                for ((at, &u), cell) in out.of(local).iter().enumerate().zip(&mut cells) {
                    let other = crowd.party(u);
                    if u == v || [party.role, other.role].contains(&Role::Avoided) {
                        continue;
                    }
                    let weight = dealt.map_or(1, |dealt| dealt[at]);
                    let common = common.between(crowd, v, u);
                    let nats = expected.surprise(party, other, weight, common);
                    *cell = expected.stored(nats);
                    *excess = excess.max(nats - expected.ln_ties as f32);
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
    Ok(Ties { graph, excess, ties: expected.ties, kept: kept / 2 })
}
