//! Merging: communities of label propagation join the neighbouring community that has most of their
//! votes.
//!
//! Label propagation settles at small communities where labels must travel far, on meshes above all.
//! Their boundaries are then long: a large part of a community's arcs leads into one neighbouring
//! community. Planted communities are different: what leaves one is spread over many others. So a
//! community joins another only if this one has a share of all its votes:
//!
//! ```text
//! contract the communities
//! up to 10 rounds, in 8 phases, each active community a:
//!     w[l] = the weight of a's arcs to communities with label l, but for its own arcs
//!     l is eligible if   w[l] · total ≥ strength[a] · strength of l's communities     as by chance
//!                  and   w[l] ≥ share · strength[a]
//!     a takes the eligible label of the largest w[l], if w[l] exceeds that of its own label;
//!     ties fall to the smallest hash(l, a, round)
//!     neighbours of a that have another label become active
//! split labels into their connected parts
//! repeat with the communities that this found, until nothing changes
//! ```
//!
//! It is the same rule as that of label propagation with a guard, on the graph of communities: votes
//! count, and chance is the limit. Communities stay connected. The first test is modularity's gain, so
//! modularity never falls but for communities that move at the same time.
//!
//! # Determinism
//! As in refinement: integers, and phases that see what earlier phases wrote.

use super::awake::with_threads_awake;
use super::contract::{Contraction, named_labels};
use super::level::{Level, LevelGraph, ListPool};
use super::moves::{MoveRound, Partition};
use super::phases::{Draw, Phases, Tallies};
use super::tally::Tally;
use crate::disjoint_sets::DisjointSets;
use crate::hash::{Clock, Stream, mix};
use crate::{Label, NO_LABEL, RunError};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{Direction, GraphView, Observer, VertexId, as_atomic, dispatch_lists};
use thiserror::Error;

/// The most contractions. Each merges several communities into one, so that few graphs need half of
/// them.
const LEVELS: u32 = 8;
/// The most rounds of a level.
const ROUNDS: u32 = 10;
/// The phases of a round.
const PHASES: u32 = 8;
/// The fixed-point scale of [`MergeShare`].
const STEPS: f64 = 65536.0;

/// The share of a community's strength that arcs to another community must have for it to join.
///
/// Strength is the summed weight of the arcs of all members. The default is one twelfth, with which
/// planted communities stay apart: see the decision on merging. A smaller share merges more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeShare(u32);

/// The share is not from 0 to 1.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error(
    "the share of a community's votes that lets it join another is a number from 0 to 1, not {0}"
)]
pub struct BadMergeShare(pub f64);

impl MergeShare {
    /// Returns a share, rounded to a multiple of 2⁻¹⁶.
    ///
    /// # Errors
    /// If it is not a number from 0 to 1.
    pub fn new(share: f64) -> Result<MergeShare, BadMergeShare> {
        let fits = (0.0..=1.0).contains(&share);
        fits.then(|| MergeShare((share * STEPS).round() as u32)).ok_or(BadMergeShare(share))
    }

    /// Returns the share as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / STEPS
    }
}

impl Default for MergeShare {
    fn default() -> Self {
        MergeShare(STEPS as u32 / 12)
    }
}

/// Merges communities; returns how many communities fewer there are.
///
/// If it is not 0, each community is named by its smallest vertex. Vertices without a label keep none,
/// and have no vote.
///
/// # Errors
/// [`RunError::Cancelled`] if the observer cancels, [`RunError::OutOfMemory`] if the system refuses
/// memory, [`RunError::MergeWeights`] if sums do not fit 64 bits; `labels` is then unchanged.
pub(crate) fn merge(
    graph: GraphView<'_>,
    labels: &mut [Label],
    share: MergeShare,
    seed: u64,
    observer: &dyn Observer,
) -> Result<u32, RunError> {
    let named = dispatch_lists!(graph, (out, incoming) => {
        let incoming = (graph.direction() == Direction::Directed).then_some(incoming);
        merge_lists(graph, out, incoming, labels, share, seed, observer)
    })?;
    let Some([before, named]) = named else { return Ok(0) };
    let count = |labels: &[Label]| {
        let is_first = |&(v, &label): &(usize, &Label)| label as usize == v;
        labels.par_iter().enumerate().filter(is_first).count() as u32
    };
    let fewer = count(&before) - count(&named);
    labels
        .par_iter_mut()
        .zip(named)
        .filter(|(label, _)| **label != NO_LABEL)
        .for_each(|(label, named)| *label = named);
    Ok(fewer)
}

/// Returns the communities before and after merging, named by their smallest vertices; `None` if
/// nothing merges.
fn merge_lists<N: NeighborLists>(
    graph: GraphView<'_>,
    out: N,
    incoming: Option<N>,
    labels: &[Label],
    share: MergeShare,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Option<[Vec<Label>; 2]>, RunError> {
    let mut masses = memory::with_room(labels.len()).map_err(refused)?;
    masses.par_extend((0..labels.len() as u32).into_par_iter().map(|v| graph.strength(v)));
    let level = CommunityArcs { out, incoming, labels, masses };
    let total: u128 = level.masses.par_iter().map(|&mass| u128::from(mass)).sum();
    let total = u64::try_from(total).map_err(|_| RunError::MergeWeights { total })?;
    let before = named_labels(labels).map_err(refused)?;
    let parts = memory::copied(&before).map_err(refused)?;
    let parts = Partition::new(parts, &level.masses).map_err(refused)?;
    let contraction = Contraction::numbered(&parts, level.vertices()).map_err(refused)?;
    let communities = contraction.founders.len();
    let mut merging = Merging {
        rule: Rule { share, total },
        seed,
        tallies: Tallies::new(communities).map_err(refused)?,
        phases: Phases::new(communities).map_err(refused)?,
        pool: ListPool::new(out.arcs() + incoming.map_or(0, NeighborLists::arcs)),
        observer,
    };
    let found = with_threads_awake(|| merging.all_levels(&level, &parts, contraction))?;
    let after = found.map(|found| named_labels(&found)).transpose().map_err(refused)?;
    Ok(after.map(|after| [before, after]))
}

fn refused(OutOfMemory { bytes }: OutOfMemory) -> RunError {
    RunError::OutOfMemory { bytes }
}

/// Returns the planned bytes of merging the communities of a graph of this size.
pub(crate) fn bytes_for(vertices: u64, arcs: u64, threads: u64) -> u64 {
    // Strengths and names, two partitions, the first contraction; later ones are smaller.
    let own = 16 * vertices + 2 * Partition::bytes_for(vertices);
    let own = own.saturating_add(threads.saturating_mul(Tally::bytes_for(vertices)));
    own.saturating_add(Contraction::bytes_for(vertices))
        .saturating_add(ListPool::bytes_for(arcs))
        .saturating_add(Phases::bytes_for(vertices))
}

/// The input: all arcs that touch a vertex, of both directions, between vertices that have labels.
struct CommunityArcs<'a, N> {
    out: N,
    /// The arcs that enter a vertex, if the graph is directed.
    incoming: Option<N>,
    labels: &'a [Label],
    masses: Vec<u64>,
}

impl<N: NeighborLists> Level for CommunityArcs<'_, N> {
    fn masses(&self) -> &[u64] {
        &self.masses
    }

    fn degree(&self, v: VertexId) -> u32 {
        let entering = self.incoming.map_or(0, |incoming| incoming.degree_of(v as usize));
        self.out.degree_of(v as usize).saturating_add(entering)
    }

    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        let lists = [Some(self.out), self.incoming];
        let arcs = lists.into_iter().flatten().flat_map(move |lists| arcs_of(lists, v));
        let has_label = |v: VertexId| self.labels[v as usize] != NO_LABEL;
        let is_heard = has_label(v);
        arcs.filter(move |&(u, weight)| is_heard && weight > 0 && has_label(u))
    }

    fn largest_weight(&self) -> u64 {
        self.masses.iter().copied().max().unwrap_or(0)
    }
}

/// Yields the arcs of a list.
fn arcs_of<N: NeighborLists>(lists: N, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
    let mut weights = lists.each_weight_of(v as usize);
    lists.each_of(v as usize).map(move |u| {
        let weight = weights.as_mut().map_or(Some(1), Iterator::next);
        (u, u64::from(weight.unwrap_or(0)))
    })
}

/// Returns the connected parts of each label, named by their smallest vertices: a community may have
/// left after others joined through it.
fn connected(level: &LevelGraph, partition: &Partition) -> Result<Vec<VertexId>, OutOfMemory> {
    let vertices = level.vertices();
    let mut parents = memory::collected(0..vertices)?;
    let sets = DisjointSets::new(as_atomic(&mut parents));
    (0..vertices).into_par_iter().for_each(|v| {
        let label = partition.label(v);
        for (u, _) in level.arcs(v) {
            if partition.label(u) == label {
                sets.unite(v, u);
            }
        }
    });
    memory::collected((0..vertices).map(|v| sets.root(v)))
}

/// What the levels of a merge share.
struct Merging<'a> {
    rule: Rule,
    seed: u64,
    tallies: Tallies,
    phases: Phases,
    pool: ListPool,
    observer: &'a dyn Observer,
}

impl Merging<'_> {
    /// Merges the communities of the input, which are its parts. Returns the number of each vertex's
    /// community; `None` if nothing changes.
    fn all_levels<L: Level>(
        &mut self,
        level: &L,
        parts: &Partition,
        mut contraction: Contraction,
    ) -> Result<Option<Vec<VertexId>>, RunError> {
        // A level never has more arcs than that below it: the pool has room for two.
        if !contraction.sum_up(&mut self.pool, level, parts, &self.tallies, self.observer)? {
            return Ok(None);
        }
        let Contraction { mut graph, vertex_of: mut found, .. } = contraction;
        for depth in 0..LEVELS {
            let Some(merged) = self.level(&graph, depth)? else {
                return Ok((depth > 0).then_some(found));
            };
            let mut next = Contraction::numbered(&merged, graph.vertices()).map_err(refused)?;
            found.par_iter_mut().for_each(|vertex| *vertex = next.vertex_of[*vertex as usize]);
            if !next.sum_up(&mut self.pool, &graph, &merged, &self.tallies, self.observer)? {
                return Ok(Some(found));
            }
            let below = std::mem::replace(&mut graph, next.graph);
            self.pool.give_back(below.lists);
        }
        Ok(Some(found))
    }

    /// Merges the vertices of a level; `None` if nothing changes.
    fn level(&mut self, graph: &LevelGraph, depth: u32) -> Result<Option<Partition>, RunError> {
        let alone = memory::collected(0..graph.vertices()).map_err(refused)?;
        let partition = Partition::new(alone, &graph.masses).map_err(refused)?;
        let arcs = graph.degrees.iter().map(|&degree| u64::from(degree)).sum();
        let &mut Merging { rule, seed, ref tallies, ref mut phases, observer, .. } = self;
        phases.begin_level(graph.vertices(), arcs);
        let (level, keeps_active) = (graph, false);
        let moves = MoveRound { level, partition: &partition, tallies, observer, keeps_active };
        for round in 0..ROUNDS {
            let key = Clock::new(seed, depth << 8 | round).key(Stream::Merge as u32);
            let draw = Draw { key, phases: PHASES };
            let choose = |v, tally: &mut Tally| rule.choose(graph, &partition, v, tally, key);
            if moves.perform(phases, draw, choose)?.changed == 0 {
                break;
            }
        }
        let named = connected(graph, &partition).map_err(refused)?;
        if named.par_iter().enumerate().all(|(v, &name)| name as usize == v) {
            return Ok(None);
        }
        Partition::new(named, &graph.masses).map(Some).map_err(refused)
    }
}

/// The rule by which a community joins another.
#[derive(Clone, Copy)]
struct Rule {
    share: MergeShare,
    /// The strength of all communities.
    total: u64,
}

impl Rule {
    /// Returns the new label of a community, if it joins another, and the number of arcs read.
    fn choose(
        self,
        level: &LevelGraph,
        partition: &Partition,
        v: VertexId,
        tally: &mut Tally,
        key: u32,
    ) -> (Option<Label>, u64) {
        let (own, mass, degree) = (partition.label(v), level.mass(v), level.degree(v));
        let mut sums = tally.begin();
        for (u, weight) in level.arcs(v) {
            sums.add(partition.label(u), weight);
        }
        let least = u128::from(mass) * u128::from(self.share.0);
        let is_eligible = |label: Label, weight: u64| {
            let (weight, chance) = (u128::from(weight), u128::from(partition.total(label)));
            weight << 16 >= least && weight * u128::from(self.total) >= u128::from(mass) * chance
        };
        let rank = |label: Label| mix(label ^ mix(v ^ key));
        let mut best = None;
        for (label, weight) in sums.each() {
            if label == own {
                continue;
            }
            let wins = best.is_none_or(|(most, winner)| {
                weight > most || (weight == most && rank(label) < rank(winner))
            });
            if wins && is_eligible(label, weight) {
                best = Some((weight, label));
            }
        }
        let joined = best.filter(|&(weight, _)| weight > sums.of(own)).map(|(_, label)| label);
        (joined, u64::from(degree) << u32::from(joined.is_some()))
    }
}
