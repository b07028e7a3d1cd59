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

use super::contract::{Contraction, named_labels};
use super::level::{ArcArrays, Level, LevelGraph, READ_PER_TASK};
use super::merge_share::MergeShare;
use super::moves::MoveRound;
use super::partition::Partition;
use super::phases::{Phases, Workers};
use super::score::Undirected;
use super::steps::{Counts, Draw};
use super::tally::Tally;
use crate::disjoint_sets::DisjointSets;
use crate::hash::{Clock, Stream, mix};
use crate::team::{ThreadTeam, with_whole_pool};
use crate::{Label, NO_LABEL, RunError};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{
    Direction, GraphView, Observer, VertexId, as_atomic, as_atomic_words, dispatch_lists,
};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// The most contractions. Each merges several communities into one, so that few graphs need half of
/// them.
const LEVELS: u32 = 8;
/// The most rounds of a level.
const ROUNDS: u32 = 10;
/// The phases of a round.
const PHASES: u32 = 8;
/// Communities of a task that reads their arcs.
const COMMUNITIES_PER_TASK: usize = 64;

/// Merges communities; returns how many communities fewer there are.
///
/// If it is not 0, each community is named by its smallest vertex. Vertices without a label keep none,
/// and have no vote. `is_named` is whether each community has the name of its smallest vertex already.
///
/// # Errors
/// [`RunError::Cancelled`] if the observer cancels, [`RunError::Array`] if the system refuses memory, [`RunError::MergeWeights`] if sums do not fit 64 bits; `labels` is then unchanged.
pub(crate) fn merge(
    graph: GraphView<'_>,
    labels: &mut [Label],
    is_named: bool,
    share: MergeShare,
    seed: u64,
    observer: &dyn Observer,
) -> Result<u32, RunError> {
    with_whole_pool(|team| {
        dispatch_lists!(graph, (out, incoming) => {
            let incoming = (graph.direction() == Direction::Directed).then_some(incoming);
            let strength_of = |v: usize| {
                out.strength_of(v) + incoming.map_or(0, |incoming| incoming.strength_of(v))
            };
            let masses = strengths_by(team, graph.vertices(), strength_of)?;
            let total = total_of(&masses)?;
            let name_of = |(v, &label)| if label == NO_LABEL { v as VertexId } else { label };
            let before = match is_named {
                true => memory::collected(labels.iter().enumerate().map(name_of)),
                false => named_labels(team, labels),
            };
            let before = before.map_err(refused)?;
            let communities = count_named(&before);
            let arcs = out.arcs() + incoming.map_or(0, NeighborLists::arcs);
            let arrays = ArraysInTurn::new(arcs).map_err(refused)?;
            let has_unlabelled = labels.contains(&NO_LABEL);
            let input = CommunityArcs { out, incoming, labels: &*labels, has_unlabelled, masses };
            let rule = MergeRule { share, total };
            let steps = HostMerge::new(team, &input, before, communities, &arrays)?;
            let (left, named) = merge_communities(steps, communities, rule, seed, observer)?;
            if left == communities {
                return Ok(0);
            }
            let labelled = labels.par_iter_mut().zip(named).with_min_len(MIN_LEN);
            let labelled = labelled.filter(|(label, _)| **label != NO_LABEL);
            labelled.for_each(|(label, named)| *label = named);
            Ok(communities - left)
        })
    })
}

/// The graph of communities, which several ranks have summed up: a list of arcs for each community, in which a
/// neighbour may come repeatedly. It has no arcs within a community.
pub(crate) struct SummedUp {
    /// The strength of each community.
    pub masses: Vec<u64>,
    /// The begin of each community's list, and the end of the last.
    pub begins: Vec<u64>,
    /// The communities at the other ends.
    pub neighbors: Vec<VertexId>,
    /// The weights of the arcs.
    pub weights: Vec<u64>,
}

impl Level for SummedUp {
    type Null = Undirected;

    fn masses(&self) -> &[u64] {
        &self.masses
    }

    fn imbalances(&self) -> &[u64] {
        &[]
    }

    fn degree(&self, v: VertexId) -> u32 {
        u32::try_from(self.list(v).len()).unwrap_or(u32::MAX)
    }

    fn arcs(&self, v: VertexId) -> impl Iterator<Item = (VertexId, u64)> {
        let list = self.list(v);
        let arcs = self.neighbors[list.clone()].iter().zip(&self.weights[list]);
        arcs.map(|(&u, &weight)| (u, weight))
    }

    fn largest_weight(&self) -> u64 {
        self.masses.iter().copied().max().unwrap_or(0)
    }
}

impl SummedUp {
    fn list(&self, v: VertexId) -> Range<usize> {
        self.begins[v as usize] as usize..self.begins[v as usize + 1] as usize
    }

    /// Merges the communities; returns how many are left, and for each the smallest one that it is merged with.
    ///
    /// Communities are numbered in the order of their smallest vertices. The result is that of [`merge`].
    ///
    /// # Errors
    /// See [`merge`].
    pub fn merge(
        &self,
        share: MergeShare,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<(u32, Vec<VertexId>), RunError> {
        with_whole_pool(|team| {
            let communities = self.masses.len() as u32;
            let rule = MergeRule { share, total: total_of(&self.masses)? };
            let arrays = ArraysInTurn::new(self.neighbors.len() as u64).map_err(refused)?;
            let alone = memory::collected(0..communities).map_err(refused)?;
            let steps = HostMerge::new(team, self, alone, communities, &arrays)?;
            merge_communities(steps, communities, rule, seed, observer)
        })
    }
}

/// Returns communities given by labels, each named by its smallest vertex: see [`named_labels`].
pub(crate) fn smallest_members(labels: &[Label]) -> Result<Vec<VertexId>, RunError> {
    with_whole_pool(|team| named_labels(team, labels)).map_err(refused)
}

/// Returns the strength of each vertex: the summed weight of its arcs.
pub(crate) fn strengths(graph: GraphView<'_>) -> Result<Vec<u64>, RunError> {
    let strength_of = |v: usize| graph.strength(v as VertexId);
    with_whole_pool(|team| strengths_by(team, graph.vertices(), strength_of))
}

fn strengths_by(
    team: &ThreadTeam,
    vertices: u32,
    strength_of: impl Fn(usize) -> u64 + Sync,
) -> Result<Vec<u64>, RunError> {
    let mut strengths: Vec<u64> = memory::zeros(vertices as usize).map_err(refused)?;
    let to = as_atomic_words(&mut strengths);
    team.ranges(to.len(), READ_PER_TASK, |range| {
        range.for_each(|v| to[v].store(strength_of(v), Relaxed));
    });
    Ok(strengths)
}

/// Returns the sum of the strengths.
pub(crate) fn total_of(strengths: &[u64]) -> Result<u64, RunError> {
    let total: u128 =
        strengths.par_iter().with_min_len(MIN_LEN).map(|&strength| u128::from(strength)).sum();
    u64::try_from(total).map_err(|_| RunError::MergeWeights { total })
}

/// Returns the number of communities, each named by one of its vertices.
fn count_named(labels: &[Label]) -> u32 {
    let is_name = |&(v, &label): &(usize, &Label)| label as usize == v;
    labels.par_iter().enumerate().with_min_len(MIN_LEN).filter(is_name).count() as u32
}

/// The steps of merging, which a device performs on the graph of each level.
///
/// A *part* is a set of vertices of the level that becomes a vertex of the next one. Steps on all
/// devices find the same communities.
///
/// # Errors
/// All functions return [`RunError::Cancelled`] if the observer cancels, [`RunError::Array`] if the
/// system refuses memory, and [`RunError::Device`] if the device fails.
pub trait MergeSteps {
    /// Contracts the parts of the level; each becomes a community of one vertex, and all are active.
    /// Returns false if there is no room for the arcs; the parts are then the communities in the end.
    fn contract(&mut self, observer: &dyn Observer) -> Result<bool, RunError>;

    /// Performs a round in which communities join others.
    fn join(
        &mut self,
        rule: MergeRule,
        draw: Draw,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError>;

    /// Divides the communities into their connected parts; returns the number of parts.
    fn divide(&mut self, observer: &dyn Observer) -> Result<u32, RunError>;

    /// Returns the community of each vertex of the input, named by its smallest vertex.
    fn named(self) -> Result<Vec<Label>, RunError>;
}

/// Merges `parts` parts of the input. Returns the number of communities, and each vertex's one, named by
/// its smallest vertex.
pub(crate) fn merge_communities(
    mut steps: impl MergeSteps,
    mut parts: u32,
    rule: MergeRule,
    seed: u64,
    observer: &dyn Observer,
) -> Result<(u32, Vec<Label>), RunError> {
    let mut has_level = steps.contract(observer)?;
    for depth in 0..LEVELS {
        if !has_level {
            break;
        }
        for round in 0..ROUNDS {
            let key = Clock::new(seed, depth << 8 | round).key(Stream::Merge as u32);
            let draw = Draw { key, phases: PHASES };
            if steps.join(rule, draw, observer)?.changed == 0 {
                break;
            }
        }
        let left = steps.divide(observer)?;
        if left == parts {
            break;
        }
        parts = left;
        has_level = steps.contract(observer)?;
    }
    Ok((parts, steps.named()?))
}

fn refused(error: OutOfMemory) -> RunError {
    RunError::Array(error)
}

/// Returns the planned bytes of merging the communities of a graph of this size.
pub(crate) fn bytes_for(vertices: u64, arcs: u64, threads: u64) -> u64 {
    // Strengths and names, two partitions, the first contraction; later ones are smaller.
    let own = 16 * vertices + 2 * Partition::bytes_for(vertices, false);
    let own = own.saturating_add(Workers::bytes_for(vertices, threads));
    own.saturating_add(Contraction::bytes_for(vertices, false))
        .saturating_add(ArcArrays::bytes_for(2 * arcs))
        .saturating_add(Phases::bytes_for(vertices))
}

/// The graph of communities. Chance counts the arcs of either direction alike.
type Communities<'a> = LevelGraph<'a, Undirected>;

/// The input: all arcs that touch a vertex, of both directions, between vertices that have labels.
struct CommunityArcs<'a, N> {
    out: N,
    /// The arcs that enter a vertex, if the graph is directed.
    incoming: Option<N>,
    labels: &'a [Label],
    /// Whether a vertex has no label.
    has_unlabelled: bool,
    masses: Vec<u64>,
}

impl<N: NeighborLists> Level for CommunityArcs<'_, N> {
    type Null = Undirected;

    fn masses(&self) -> &[u64] {
        &self.masses
    }

    fn imbalances(&self) -> &[u64] {
        &[]
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

    #[inline]
    fn each_arc(&self, v: VertexId, mut visit: impl FnMut(VertexId, u64)) {
        if self.has_unlabelled {
            return self.arcs(v).for_each(|(u, weight)| visit(u, weight));
        }
        for lists in [Some(self.out), self.incoming].into_iter().flatten() {
            lists.for_each_arc(v as usize, |u, weight| {
                if weight > 0 {
                    visit(u, weight);
                }
            });
        }
    }

    fn largest_weight(&self) -> u64 {
        self.masses.iter().copied().max().unwrap_or(0)
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId) {
        let lists = [Some(self.out), self.incoming];
        lists.into_iter().flatten().for_each(|lists| lists.prefetch_place(v as usize));
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId) {
        let lists = [Some(self.out), self.incoming];
        lists.into_iter().flatten().for_each(|lists| lists.prefetch_list(v as usize));
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
fn connected(
    team: &ThreadTeam,
    level: &Communities<'_>,
    partition: &Partition,
) -> Result<Vec<VertexId>, OutOfMemory> {
    let vertices = level.vertices();
    let mut parents = memory::collected(0..vertices)?;
    let sets = DisjointSets::new(as_atomic(&mut parents));
    team.ranges(vertices as usize, COMMUNITIES_PER_TASK, |range| {
        for v in range.start as VertexId..range.end as VertexId {
            let label = partition.label(v);
            level.each_arc(v, |u, _| {
                // Each arc is read from both ends.
                if u < v && partition.label(u) == label {
                    sets.unite(v, u);
                }
            });
        }
    });
    memory::collected((0..vertices).map(|v| sets.root(v)))
}

/// The arcs of a level, and of the one above or below it.
///
/// A level never has more arcs than that below it. So the second arrays have the length of the first level's lists,
/// which is often a small part of the input's: a process that merges repeatedly gets memory that the allocator clears.
struct ArraysInTurn {
    even: ArcArrays,
    odd: OnceLock<ArcArrays>,
}

impl ArraysInTurn {
    /// Creates arrays for levels above an input with `arcs` arcs.
    fn new(arcs: u64) -> Result<ArraysInTurn, OutOfMemory> {
        Ok(ArraysInTurn { even: ArcArrays::new(arcs)?, odd: OnceLock::new() })
    }

    /// Returns the arrays of the level at a depth, after those of all levels below were filled.
    fn at(&self, depth: usize) -> Result<&ArcArrays, OutOfMemory> {
        if depth.is_multiple_of(2) {
            return Ok(&self.even);
        }
        if let Some(odd) = self.odd.get() {
            return Ok(odd);
        }
        let odd = ArcArrays::new(self.even.len())?;
        Ok(self.odd.get_or_init(|| odd))
    }
}

/// A merge on the host's threads.
struct HostMerge<'a, L> {
    input: &'a L,
    /// The graph of the level and its communities; `None` on the input.
    graph: Option<(Communities<'a>, Partition)>,
    /// The parts of the level.
    parts: Partition,
    /// The vertex of the level that each vertex of the input is in; empty on the input.
    found: Vec<VertexId>,
    workers: Workers<'a>,
    phases: Phases,
    arrays: &'a ArraysInTurn,
    depth: usize,
}

impl<'a, L: Level<Null = Undirected>> HostMerge<'a, L> {
    /// Creates the merge of `communities` parts of the input, each named by a vertex.
    fn new(
        team: &'a ThreadTeam,
        input: &'a L,
        parts: Vec<VertexId>,
        communities: u32,
        arrays: &'a ArraysInTurn,
    ) -> Result<Self, RunError> {
        Ok(HostMerge {
            parts: Partition::new(team, parts, input).map_err(refused)?,
            input,
            graph: None,
            found: Vec::new(),
            workers: Workers::new(team, communities as usize).map_err(refused)?,
            phases: Phases::new(communities as usize).map_err(refused)?,
            arrays,
            depth: 0,
        })
    }
}

impl<L: Level<Null = Undirected>> MergeSteps for HostMerge<'_, L> {
    fn contract(&mut self, observer: &dyn Observer) -> Result<bool, RunError> {
        let arrays = self.arrays.at(self.depth).map_err(refused)?;
        arrays.truncate(0);
        let (workers, parts) = (&self.workers, &self.parts);
        let below = self.graph.take();
        let vertices = below.as_ref().map_or(self.input.vertices(), |(graph, _)| graph.vertices());
        let contraction = Contraction::new(workers.team, vertices, parts, None).map_err(refused)?;
        let graph = match &below {
            None => contraction.graph(arrays, self.input, parts, workers, observer)?,
            Some((graph, _)) => contraction.graph(arrays, graph, parts, workers, observer)?,
        };
        if self.depth == 0 {
            self.found = contraction.vertex_of;
        } else {
            let found = as_atomic(&mut self.found);
            workers.team.ranges(found.len(), READ_PER_TASK, |range| {
                for vertex in &found[range] {
                    let below = vertex.load(Relaxed) as usize;
                    vertex.store(contraction.vertex_of[below], Relaxed);
                }
            });
        }
        self.depth += 1;
        let Some(graph) = graph else { return Ok(false) };
        let alone = memory::collected(0..graph.vertices()).map_err(refused)?;
        let partition = Partition::new(workers.team, alone, &graph).map_err(refused)?;
        self.phases.begin_level(graph.vertices(), graph.count());
        self.graph = Some((graph, partition));
        Ok(true)
    }

    fn join(
        &mut self,
        rule: MergeRule,
        draw: Draw,
        observer: &dyn Observer,
    ) -> Result<Counts, RunError> {
        let Some((graph, partition)) = &self.graph else { return Ok(Counts::default()) };
        let (workers, keeps_active) = (&self.workers, false);
        let moves = MoveRound { level: graph, partition, workers, observer, keeps_active };
        let choose = |v, tally: &mut Tally| rule.choose(graph, partition, v, tally, draw.key);
        moves.perform(&mut self.phases, draw, choose)
    }

    fn divide(&mut self, _: &dyn Observer) -> Result<u32, RunError> {
        let Some((graph, partition)) = &self.graph else { return Ok(0) };
        let team = self.workers.team;
        let named = connected(team, graph, partition).map_err(refused)?;
        let parts = count_named(&named);
        self.parts = Partition::new(team, named, graph).map_err(refused)?;
        Ok(parts)
    }

    fn named(self) -> Result<Vec<Label>, RunError> {
        named_labels(self.workers.team, &self.found).map_err(refused)
    }
}

/// The rule by which a community joins another.
#[derive(Clone, Copy, Debug)]
pub struct MergeRule {
    /// The share of its strength that must lead to the other.
    pub share: MergeShare,
    /// The strength of all communities.
    pub total: u64,
}

impl MergeRule {
    /// Returns the new label of a community, if it joins another, and the number of arcs read.
    fn choose(
        self,
        level: &Communities<'_>,
        partition: &Partition,
        v: VertexId,
        tally: &mut Tally,
        key: u32,
    ) -> (Option<Label>, u64) {
        let (own, mass, degree) = (partition.label(v), level.mass(v).sum, level.degree(v));
        let mut sums = tally.begin();
        level.each_arc(v, |u, weight| sums.add(partition.label(u), weight));
        let least = u128::from(mass) * u128::from(self.share.steps());
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
