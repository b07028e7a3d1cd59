//! Clusters: around seeds, and of those whom no label reached.
//!
//! *Around seeds*: of a label, all whom a path of kept ties within the label joins to a known bad; of too many, those
//! of fewest steps, then the strongest, then the first. *Without seeds* ([`Detection::unseeded`]): among all others, the
//! communities of [`Lpa`] on kept ties alone; those too large are no rings and are only counted.

use super::{DetectError, Detection, Known, Spread, suspicion};
use crate::ties::{Ties, arcs};
use rayon::prelude::*;
use ripplet_graph::{Adjacency, Direction, Graph, Shard, VertexId, WeightScale, memory};
use ripplet_lp::programs::Lpa;
use ripplet_lp::{DynProgram, Executor, Label, Observer, Settings};
use std::collections::{BTreeMap, VecDeque};

/// A group of vertices that may be a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The members, ascending.
    pub members: Vec<VertexId>,
    /// Whether there are known bad ones among them.
    pub seeded: bool,
}

/// What a window has.
#[derive(Debug)]
pub struct Detected {
    /// The window's ties.
    pub ties: Ties,
    /// How far the labels came.
    pub spread: Spread,
    /// Clusters: those around seeds, then the others, each by its smallest member.
    pub groups: Vec<Group>,
    /// Known bad ones in no cluster: nobody of enough is joined to them by kept ties.
    pub alone: u64,
    /// Groups without seeds that are larger than a cluster may be.
    pub too_large: u64,
}

impl Detected {
    /// How suspicious a vertex is: see [`suspicion()`].
    pub fn suspicion_of(&self, vertex: VertexId) -> f32 {
        suspicion(self.ties.excess()[vertex as usize], self.spread.strengths[vertex as usize])
    }
}

/// Gathers clusters of ties that are judged and labels that have spread; see [`detect`](super).
///
/// # Errors
/// Where memory is refused, or the observer cancels.
pub fn gather(
    executor: &dyn Executor,
    ties: Ties,
    spread: Spread,
    known: Known<'_>,
    detection: &Detection,
    observer: &mut dyn Observer,
) -> Result<Detected, DetectError> {
    let mut taken = memory::zeros::<u8>(spread.labels.len())?;
    let (mut groups, alone) = around_seeds(&ties, &spread, known, detection, &mut taken);
    let mut too_large = 0;
    if detection.unseeded {
        let kept = kept_graph(&ties, &taken)?;
        let settings = Settings { seed: detection.seed, ..Settings::default() };
        observer.on_stage("looking for clusters without seeds");
        let program = Box::<dyn DynProgram>::from(Lpa::default());
        let outcome = executor.run_on((&kept).into(), &*program, &settings, observer)?;
        too_large = without_seeds(&kept, &outcome.labels, detection, &mut groups);
    }
    Ok(Detected { ties, spread, groups, alone, too_large })
}

/// Clusters around seeds, and how many seeds have none; marks who is in one.
fn around_seeds(
    ties: &Ties,
    spread: &Spread,
    known: Known<'_>,
    detection: &Detection,
    taken: &mut [u8],
) -> (Vec<Group>, u64) {
    let mut reached: BTreeMap<Label, Vec<(u32, VertexId)>> = BTreeMap::new();
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
    let (mut groups, mut alone) = (Vec::new(), 0);
    for (_, mut found) in reached {
        let limit = detection.max_size as usize;
        if found.len() > limit {
            let strength = |v: VertexId| spread.strengths[v as usize];
            found.sort_by(|a, b| {
                a.0.cmp(&b.0).then(strength(b.1).total_cmp(&strength(a.1))).then(a.1.cmp(&b.1))
            });
            found.split_off(limit).into_iter().for_each(|(_, v)| taken[v as usize] = 0);
        }
        if found.len() < detection.min_size as usize {
            let (seeds, others): (Vec<_>, Vec<_>) =
                found.iter().partition(|(steps, _)| *steps == 0);
            alone += seeds.len() as u64;
            others.into_iter().for_each(|(_, v)| taken[v as usize] = 0);
            continue;
        }
        let mut members: Vec<VertexId> = found.into_iter().map(|(_, v)| v).collect();
        members.sort_unstable();
        groups.push(Group { members, seeded: true });
    }
    groups.sort_by_key(|group| group.members[0]);
    (groups, alone)
}

/// The kept ties of those who are not taken.
fn kept_graph(ties: &Ties, taken: &[u8]) -> Result<Graph, DetectError> {
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

/// Adds the communities that are neither too small nor too large; how many were too large.
fn without_seeds(
    kept: &Graph,
    labels: &[Label],
    detection: &Detection,
    groups: &mut Vec<Group>,
) -> u64 {
    let joined = (0..kept.vertices()).filter(|&v| arcs(kept, v).next().is_some());
    let mut members: Vec<(Label, VertexId)> = joined.map(|v| (labels[v as usize], v)).collect();
    members.par_sort_unstable();
    let (mut too_large, mut found) = (0, Vec::new());
    for community in members.chunk_by(|a, b| a.0 == b.0) {
        let size = community.len() as u64;
        too_large += u64::from(size > u64::from(detection.max_size));
        if (u64::from(detection.min_size)..=u64::from(detection.max_size)).contains(&size) {
            let members = community.iter().map(|(_, v)| *v).collect();
            found.push(Group { members, seeded: false });
        }
    }
    found.sort_by_key(|group| group.members[0]);
    groups.append(&mut found);
    too_large
}
