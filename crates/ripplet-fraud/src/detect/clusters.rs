//! Clusters around seeds, and clusters among the vertices without a label.
//!
//! 1. *Around seeds*: of each label, the vertices that a path of kept ties within the label connects to a
//!    known bad one. If there are too many: those of fewest hops, then the strongest, then the first.
//! 2. *Across labels*: parts of step 1 that are smaller than a cluster are merged if a kept tie connects
//!    them, as two known members of one ring split it between their labels. Parts that are still too small are
//!    freed.
//! 3. *Without seeds* ([`Detection::unseeded`]): among all free vertices, the communities of [`Lpa`] on kept
//!    ties alone. Communities that are too large are no rings and are only counted.
//! 4. A known bad vertex that is still in no cluster joins the one to which it has most kept ties, if that
//!    has room.
//!
//! So listing a vertex as bad does not remove it from a cluster.

use super::{DetectError, Detection, Known, Spread, suspicion};
use crate::ties::{Ties, arcs};
use rayon::prelude::*;
use ripplet_graph::{Adjacency, Direction, Graph, Shard, VertexId, WeightScale, memory};
use ripplet_lp::programs::Lpa;
use ripplet_lp::{DynProgram, Executor, Label, RoundObserver, Settings};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// Candidate ring: a group of vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The members, ascending.
    pub members: Vec<VertexId>,
    /// Whether the group has known bad members.
    pub seeded: bool,
}

/// Result of detection in a window.
#[derive(Debug)]
pub struct Detected {
    /// The window's ties.
    pub ties: Ties,
    /// Labels and strengths that spread from the known bad.
    pub spread: Spread,
    /// Clusters: those around seeds, then the others, each ordered by its smallest member.
    pub groups: Vec<Group>,
    /// Number of known bad vertices in no cluster: kept ties connect too few vertices to them.
    pub alone: u64,
    /// Number of groups without seeds that exceed the size limit.
    pub too_large: u64,
}

impl Detected {
    /// Returns the suspicion score of a vertex: see [`suspicion()`].
    pub fn suspicion_of(&self, vertex: VertexId) -> f32 {
        suspicion(self.ties.excess()[vertex as usize], self.spread.strengths[vertex as usize])
    }
}

/// Forms clusters from scored ties and spread labels; see [`detect`](super).
///
/// # Errors
/// If memory allocation fails, or the observer cancels.
pub fn gather(
    executor: &dyn Executor,
    ties: Ties,
    spread: Spread,
    known: Known<'_>,
    detection: &Detection,
    observer: &mut dyn RoundObserver,
) -> Result<Detected, DetectError> {
    let mut taken = memory::zeros::<u8>(spread.labels.len())?;
    let mut groups = around_seeds(&ties, &spread, known, detection, &mut taken);
    let mut too_large = 0;
    if detection.unseeded {
        let kept = kept_graph(&ties, &taken)?;
        let settings = Settings { seed: detection.seed, ..Settings::default() };
        observer.on_stage("looking for clusters without seeds");
        let program = Box::<dyn DynProgram>::from(Lpa::default());
        let outcome = executor.run_on((&kept).into(), &*program, &settings, observer)?;
        too_large = without_seeds(&kept, &outcome.labels, known, detection, &mut groups);
    }
    let alone = join_seeds(&ties, known, detection, &mut groups)?;
    groups.sort_by_key(|group| (!group.seeded, group.members[0]));
    Ok(Detected { ties, spread, groups, alone, too_large })
}

/// Vertex of a part, with its number of hops from a seed.
type Step = (u32, VertexId);

/// Returns the clusters around seeds, and marks their vertices.
fn around_seeds(
    ties: &Ties,
    spread: &Spread,
    known: Known<'_>,
    detection: &Detection,
    taken: &mut [u8],
) -> Vec<Group> {
    let (mut parts, mut small) = (Vec::new(), Vec::new());
    for mut part in parts_of_labels(ties, spread, known, taken) {
        cut(&mut part, spread, detection, taken);
        let is_small = part.len() < detection.min_size as usize;
        if is_small { small.push(part) } else { parts.push(part) }
    }
    for mut part in merged(ties, &small) {
        cut(&mut part, spread, detection, taken);
        match part.len() < detection.min_size as usize {
            true => part.into_iter().for_each(|(_, v)| taken[v as usize] = 0),
            false => parts.push(part),
        }
    }
    let group = |part: Vec<Step>| {
        let mut members: Vec<VertexId> = part.into_iter().map(|(_, v)| v).collect();
        members.sort_unstable();
        Group { members, seeded: true }
    };
    parts.into_iter().map(group).collect()
}

/// Returns, by label, the vertices that kept ties within the label connect to a seed, and marks them.
fn parts_of_labels(
    ties: &Ties,
    spread: &Spread,
    known: Known<'_>,
    taken: &mut [u8],
) -> impl Iterator<Item = Vec<Step>> + use<> {
    let mut reached: BTreeMap<Label, Vec<Step>> = BTreeMap::new();
    let mut queue = VecDeque::new();
    for &seed in known.bad {
        taken[seed as usize] = 1;
        queue.push_back((0, seed));
    }
    while let Some((steps, v)) = queue.pop_front() {
        let label = spread.labels[v as usize];
        reached.entry(label).or_default().push((steps, v));
        for u in ties.kept_of(v) {
            if spread.labels[u as usize] == label && taken[u as usize] == 0 {
                taken[u as usize] = 1;
                queue.push_back((steps + 1, u));
            }
        }
    }
    reached.into_values()
}

/// Removes the farthest and weakest vertices of a part that exceeds the size limit, and frees them.
fn cut(part: &mut Vec<Step>, spread: &Spread, detection: &Detection, taken: &mut [u8]) {
    let limit = detection.max_size as usize;
    if part.len() <= limit {
        return;
    }
    let strength = |v: VertexId| spread.strengths[v as usize];
    part.sort_by(|a, b| {
        a.0.cmp(&b.0).then(strength(b.1).total_cmp(&strength(a.1))).then(a.1.cmp(&b.1))
    });
    part.split_off(limit).into_iter().for_each(|(_, v)| taken[v as usize] = 0);
}

/// Merges parts that kept ties connect.
fn merged(ties: &Ties, parts: &[Vec<Step>]) -> Vec<Vec<Step>> {
    let numbered = parts
        .iter()
        .zip(0..)
        .flat_map(|(part, number)| part.iter().map(move |&(_, v)| (v, number)));
    let mut part_of: Vec<(VertexId, usize)> = numbered.collect();
    part_of.sort_unstable();
    let find = |v: VertexId| {
        let at = part_of.binary_search_by_key(&v, |&(vertex, _)| vertex);
        at.ok().map(|at| part_of[at].1)
    };
    let mut is_merged = vec![false; parts.len()];
    let mut all = Vec::new();
    for first in 0..parts.len() {
        if std::mem::replace(&mut is_merged[first], true) {
            continue;
        }
        let (mut whole, mut queue) = (Vec::new(), VecDeque::from([first]));
        while let Some(number) = queue.pop_front() {
            for &(steps, v) in &parts[number] {
                whole.push((steps, v));
                for next in ties.kept_of(v).filter_map(find) {
                    if !std::mem::replace(&mut is_merged[next], true) {
                        queue.push_back(next);
                    }
                }
            }
        }
        all.push(whole);
    }
    all
}

/// Adds each known bad vertex without a cluster to the one with most of its kept ties; the first of several.
/// Returns the number of vertices without such a cluster.
fn join_seeds(
    ties: &Ties,
    known: Known<'_>,
    detection: &Detection,
    groups: &mut [Group],
) -> Result<u64, DetectError> {
    const NONE: u32 = u32::MAX;
    if known.bad.is_empty() {
        return Ok(0);
    }
    let mut group_of = memory::with_room(ties.graph().vertices() as usize)?;
    group_of.resize(ties.graph().vertices() as usize, NONE);
    for (group, number) in groups.iter().zip(0..) {
        group.members.iter().for_each(|&v| group_of[v as usize] = number);
    }
    let mut open: Vec<VertexId> =
        known.bad.iter().copied().filter(|&v| group_of[v as usize] == NONE).collect();
    loop {
        let before = open.len();
        open.retain(|&v| {
            let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
            for u in ties.kept_of(v).filter(|&u| group_of[u as usize] != NONE) {
                *counts.entry(group_of[u as usize]).or_default() += 1;
            }
            let has_room =
                |number: u32| groups[number as usize].members.len() < detection.max_size as usize;
            let best = counts.into_iter().filter(|&(number, _)| has_room(number));
            let Some((number, _)) = best.max_by_key(|&(number, count)| (count, Reverse(number)))
            else {
                return true;
            };
            let Group { members, seeded } = &mut groups[number as usize];
            members.insert(members.partition_point(|&member| member < v), v);
            *seeded = true;
            group_of[v as usize] = number;
            false
        });
        // A seed that joined may connect others.
        if open.len() == before {
            return Ok(open.len() as u64);
        }
    }
}

/// Returns the graph of the kept ties among free vertices: those with 0 in `taken`.
pub(crate) fn kept_graph(ties: &Ties, taken: &[u8]) -> Result<Graph, DetectError> {
    let graph = ties.graph();
    let kept = |v: VertexId| {
        let free = taken[v as usize] == 0;
        let all = free.then(|| ties.kept_of(v)).into_iter().flatten();
        all.filter(move |&u| u != v && taken[u as usize] == 0)
    };
    let mut shards = Vec::new();
    for shard in graph.shards() {
        let vertices = shard.vertices();
        let mut offsets = memory::zeros::<u32>(vertices.len() + 1)?;
        let counts = offsets[1..].par_iter_mut().zip(vertices.clone()).with_min_len(1 << 10);
        counts.for_each(|(count, v)| *count = kept(v).count() as u32);
        let mut sum = 0;
        for offset in &mut offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut neighbors = memory::with_room(sum as usize)?;
        for v in vertices.clone() {
            neighbors.extend(kept(v));
        }
        let lists = Adjacency::new(offsets.into(), neighbors.into(), None);
        shards.push(Shard::new(vertices, lists, None));
    }
    let ids = graph.ids().clone();
    Ok(Graph::from_shards(ids, Direction::Undirected, WeightScale::ONE, shards)?)
}

/// Adds the communities within the size limits; returns the number of those that are too large.
fn without_seeds(
    kept: &Graph,
    labels: &[Label],
    known: Known<'_>,
    detection: &Detection,
    groups: &mut Vec<Group>,
) -> u64 {
    let joined = (0..kept.vertices()).filter(|&v| arcs(kept, v).next().is_some());
    let mut members: Vec<(Label, VertexId)> = joined.map(|v| (labels[v as usize], v)).collect();
    members.par_sort_unstable();
    let mut too_large = 0;
    for community in members.chunk_by(|a, b| a.0 == b.0) {
        let size = community.len() as u64;
        too_large += u64::from(size > u64::from(detection.max_size));
        if (u64::from(detection.min_size)..=u64::from(detection.max_size)).contains(&size) {
            let members: Vec<VertexId> = community.iter().map(|(_, v)| *v).collect();
            let seeded = members.iter().any(|&v| known.is_bad(v));
            groups.push(Group { members, seeded });
        }
    }
    too_large
}
