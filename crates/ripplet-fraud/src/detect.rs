//! From who is known to be bad to clusters: label propagation along ties beyond chance.
//!
//! # What it returns
//! [`detect`] judges a window's ties ([`ties`](crate::ties)), lets the labels of the known bad spread along them
//! ([`spread`]), and gathers clusters ([`Detected`]), which [`scores`](crate::scores) scores and ranks.
//!
//! # The program: [`Suspicion`]
//! Each vertex has a label and a strength from 0 to 1. The known bad have strength 1 and keep their labels; known bad
//! joined by kept ties have one label, the smallest of them. A vertex takes the label that it hears most of, and is as
//! strong as all that it hears:
//!
//! ```text
//! s(v) = a · Σ s(u) · q(u, v) / Q(u)     over all neighbours u;  Q(u): the sum of all q of u
//! ```
//!
//! so that each neighbour shares its strength out, and many weak neighbours make a strong one, whoever's label they
//! show. a is the hop attenuation; a strength
//! below 2⁻¹⁶ is none, and one that changes by less than a 64th stays, which ends the run. Who is trusted has
//! no label and passes none on. Hubs are damped by q ([`ties`](crate::ties)), and by sharing out.
//!
//! # Clusters
//! *Around seeds*: of a label, all whom a path of kept ties within the label joins to a known bad; of too many, those
//! of fewest steps, then the strongest, then the first. *Without seeds* ([`Detection::unseeded`]): among all others, the
//! communities of [`Lpa`] on kept ties alone; those too large are no rings and are only counted.
//!
//! # Cost, memory, determinism
//! Passes over all arcs: one a round, and a few for ties and clusters. Memory: [`plan`]. The same results on any
//! number of threads and any device, for schedules that are.
//!
//! # References
//! Ye et al., *GPU-accelerated graph label propagation for real-time fraud detection*, SIGMOD 2021 (the pipeline); Leung,
//! Hui, Liò, Crowcroft, Physical Review E 79, 2009 (attenuation).

pub use program::Suspicion;

use crate::ties::{TieError, TieRule, Ties, arcs};
use crate::window::Changed;
use rayon::prelude::*;
use ripplet_graph::{
    Adjacency, Direction, Graph, InvalidGraph, OutOfMemory, Shard, VertexId, WeightScale, memory,
};
use ripplet_lp::programs::Lpa;
use ripplet_lp::{
    Checkpoint, ColumnValues, Executor, Label, NO_LABEL, Observer, Outcome, Plan, Round, RunError,
    Schedule, Settings, State, Stop,
};
use std::collections::{BTreeMap, VecDeque};
use thiserror::Error;

/// A strength below it is none.
pub const FAINT: f32 = 1.0 / 65536.0;

/// How to detect.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// How ties are judged.
    pub ties: TieRule,
    /// The share of its strength that a label keeps at a hop, above 0 and at most 1.
    pub attenuation: f64,
    /// Rounds of label propagation, at most.
    pub rounds: u32,
    /// Rounds of one that goes on from the window before, at most: [`Begin`].
    pub rounds_on: u32,
    /// Members that a cluster has at least.
    pub min_size: u32,
    /// Members that a cluster has at most.
    pub max_size: u32,
    /// Whether clusters without anybody known are found too.
    pub unseeded: bool,
    /// Which vertices update when.
    pub schedule: Schedule,
    /// What all draws depend on.
    pub seed: u64,
}

impl Default for Detection {
    /// Half of a strength goes on at a hop: nothing comes further than 16. Rings have from 3 to 100 members: two are a
    /// pair, and more than an analyst can look at are no cluster.
    fn default() -> Detection {
        Detection {
            ties: TieRule::default(),
            attenuation: 0.5,
            rounds: 50,
            rounds_on: 4,
            min_size: 3,
            max_size: 100,
            unseeded: true,
            schedule: Schedule::phased(),
            seed: 0,
        }
    }
}

/// Why nothing was detected.
#[derive(Debug, Error)]
pub enum DetectError {
    /// The attenuation is no share.
    #[error("an attenuation is above 0 and at most 1 (none), not {0}")]
    Attenuation(f64),
    /// The limits exclude one another.
    #[error("a cluster cannot have {min} members at least and {max} at most")]
    Sizes {
        /// Members at least.
        min: u32,
        /// Members at most.
        max: u32,
    },
    /// A list names who is not there.
    #[error("the {list} names vertex {vertex}, but there are {vertices}")]
    NoSuchVertex {
        /// The list.
        list: &'static str,
        /// The vertex.
        vertex: VertexId,
        /// Vertices there are.
        vertices: u32,
    },
    /// A list is not in order.
    #[error("the {list} does not ascend at vertex {vertex}: sort it, and name each once")]
    Order {
        /// The list.
        list: &'static str,
        /// The vertex.
        vertex: VertexId,
    },
    /// Somebody is on both lists.
    #[error("vertex {0} is known to be bad and trusted at the same time; take it off one list")]
    Both(VertexId),
    /// Ties could not be judged.
    #[error(transparent)]
    Ties(#[from] TieError),
    /// Label propagation failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The graph of kept ties.
    #[error(transparent)]
    Graph(#[from] InvalidGraph),
}

/// Who is known at a window's end: vertices, ascending, each once, nobody on both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// Known to be bad.
    pub bad: &'a [VertexId],
    /// Trusted.
    pub trusted: &'a [VertexId],
}

impl Known<'_> {
    /// Checks them against a graph of so many vertices.
    ///
    /// # Errors
    /// Where somebody is not there, or on both lists, or a list does not ascend.
    pub fn check(&self, vertices: u32) -> Result<(), DetectError> {
        for (list, of) in [("black list", self.bad), ("white list", self.trusted)] {
            if let Some(&vertex) = of.iter().find(|v| **v >= vertices) {
                return Err(DetectError::NoSuchVertex { list, vertex, vertices });
            }
            if let Some(pair) = of.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(DetectError::Order { list, vertex: pair[1] });
            }
        }
        match self.bad.iter().find(|v| self.trusted.binary_search(v).is_ok()) {
            Some(&vertex) => Err(DetectError::Both(vertex)),
            None => Ok(()),
        }
    }

    /// Whether a vertex is known to be bad.
    #[inline]
    pub fn is_bad(&self, vertex: VertexId) -> bool {
        self.bad.binary_search(&vertex).is_ok()
    }
}

/// How far the labels of the known bad came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// Each vertex' label: the cluster's smallest known bad, or [`NO_LABEL`].
    pub labels: Vec<Label>,
    /// Each vertex' strength; 0 without a label.
    pub strengths: Vec<f32>,
    /// What happened, round by round.
    pub rounds: Vec<Round>,
    /// Whether nothing changed in the end.
    pub converged: bool,
}

/// Where a run begins that goes on from the window before.
///
/// Labels and strengths are those of before, where their seeds are still known. At first, those are looked at whose
/// lists changed, who have a label, and who deal with any of these; others once a neighbour of theirs changes. So what
/// differs from a run that begins anew is what changes of less than a 64th add up to, ties, and, of those whose dealings
/// and partners are as they were, labels that came within reach because others' dealings made theirs less usual.
/// Strengths that are still on their way after [`Detection::rounds_on`] rounds go on in the next window: each round halves
/// what is left, by the attenuation.
#[derive(Clone, Copy, Debug)]
pub struct Begin<'a> {
    /// Where the labels came.
    pub before: &'a Spread,
    /// Whose lists changed since.
    pub changed: &'a Changed,
}

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
    /// How suspicious a vertex is: see [`suspicion`].
    pub fn suspicion_of(&self, vertex: VertexId) -> f32 {
        suspicion(self.ties.excess()[vertex as usize], self.spread.strengths[vertex as usize])
    }
}

/// How suspicious a vertex of this excess and strength is, in nats:
///
/// ```text
/// m(v) = max(0, max J(u, v) − ln m)  +  ln max(s(v), 2⁻¹⁶)
/// ```
///
/// The first part is what chance cannot explain about its ties ([`Ties::excess`]), the second how far the known bad are;
/// one of them is enough to be looked at. 0 is a known bad one without kept ties.
#[inline]
pub fn suspicion(excess: f32, strength: f32) -> f32 {
    excess + strength.max(FAINT).ln()
}

/// Bytes that [`detect`] needs beside the window's graph.
pub fn plan<E: Executor>(executor: &E, graph: &Graph, detection: &Detection) -> Plan {
    let vertices = u64::from(graph.vertices());
    let (program, settings) = (Suspicion::new(detection), settings(detection));
    let columns = 4 * vertices * 6;
    let run = executor.plan(graph, &program, &settings);
    let mut plan = Ties::plan(graph);
    plan.items.extend(run.items);
    plan.graph_device = run.graph_device;
    plan.device_items = run.device_items;
    plan.with("labels and strengths", columns).with("kept ties", 8 * graph.arcs() + 4 * vertices)
}

/// Detects clusters in a window.
///
/// `begin`: where the labels came in the window before, to go on from ([`Begin`]).
///
/// # Errors
/// Where the options or lists are wrong, memory is refused, or the observer cancels.
pub fn detect<E: Executor>(
    executor: &E,
    graph: &Graph,
    known: Known<'_>,
    detection: &Detection,
    begin: Option<Begin<'_>>,
    observer: &mut dyn Observer,
) -> Result<Detected, DetectError> {
    known.check(graph.vertices())?;
    check(detection)?;
    observer.on_stage("judging ties");
    let ties = Ties::of(graph, detection.ties, known.trusted)?;
    let spread = spread(executor, &ties, known, detection, begin, observer)?;
    gather(executor, ties, spread, known, detection, observer)
}

fn check(detection: &Detection) -> Result<(), DetectError> {
    if !(detection.attenuation > 0.0 && detection.attenuation <= 1.0) {
        return Err(DetectError::Attenuation(detection.attenuation));
    }
    let (min, max) = (detection.min_size, detection.max_size);
    if min > max {
        return Err(DetectError::Sizes { min, max });
    }
    Ok(())
}

fn settings(detection: &Detection) -> Settings {
    Settings {
        schedule: detection.schedule,
        stop: Stop::after(detection.rounds),
        seed: detection.seed,
        keep_disconnected: true,
        ..Settings::default()
    }
}

/// Lets the labels of the known bad spread along ties that are judged; the lists are checked.
///
/// # Errors
/// Where memory is refused, or the observer cancels.
pub fn spread<E: Executor>(
    executor: &E,
    ties: &Ties,
    known: Known<'_>,
    detection: &Detection,
    begin: Option<Begin<'_>>,
    observer: &mut dyn Observer,
) -> Result<Spread, DetectError> {
    let graph = ties.graph();
    let vertices = graph.vertices() as usize;
    let mut labels = memory::filled(NO_LABEL, vertices)?;
    let mut strengths = memory::zeros::<f32>(vertices)?;
    let mut fixed = memory::zeros::<u32>(vertices)?;
    let mut shares = memory::zeros::<f32>(vertices)?;
    shares.par_iter_mut().enumerate().with_min_len(1 << 10).for_each(|(v, share)| {
        let all: u64 = arcs(graph, v as VertexId).map(|(_, q)| u64::from(q)).sum();
        *share = if all > 0 { 1.0 / all as f32 } else { 0.0 };
    });
    let seeds = seed_labels(ties, known);
    if let Some(Begin { before, .. }) = begin {
        let of_now = labels.iter_mut().zip(&mut strengths).zip(&shares);
        begin_with(before, &seeds, of_now);
    }
    for (&v, &label) in &seeds {
        (labels[v as usize], strengths[v as usize], fixed[v as usize]) = (label, 1.0, 1);
    }
    for &v in known.trusted {
        (labels[v as usize], strengths[v as usize], fixed[v as usize]) = (NO_LABEL, 0.0, 1);
    }
    let mut settings = settings(detection);
    if begin.is_some() {
        settings.stop = Stop::after(detection.rounds_on.min(detection.rounds));
    }
    match begin.map(|begin| begin.changed) {
        Some(Changed::Some(changed)) => {
            let active = active(graph, &labels, changed)?;
            let strengths = memory::collected(strengths.iter().map(|strength| strength.to_bits()))?;
            // A state before the first round, which has not looked at all vertices yet to come.
            settings.resume = Some(Checkpoint {
                rounds: Vec::new(),
                labels: labels.into(),
                active: active.into(),
                columns: vec![strengths.into()],
            });
        }
        _ => {
            settings.initial = Some(labels);
            settings.columns.insert("strength".into(), ColumnValues::F32(strengths));
        }
    }
    settings.columns.insert("fixed".into(), ColumnValues::U32(fixed));
    settings.columns.insert("share".into(), ColumnValues::F32(shares));
    observer.on_stage("spreading labels");
    let outcome = executor.run(graph, &Suspicion::new(detection), &settings, observer)?;
    Ok(spread_of(outcome, &seeds))
}

/// Who is to be looked at first, a bit a vertex: those whose lists changed, those with a label, and their neighbours.
fn active(graph: &Graph, labels: &[Label], changed: &[VertexId]) -> Result<Vec<u64>, OutOfMemory> {
    let vertices = graph.vertices();
    let mut active = memory::zeros::<u64>(State::words(vertices))?;
    let mut begun = memory::zeros::<u64>(State::words(vertices))?;
    let mark = |set: &mut [u64], v: VertexId| set[v as usize / 64] |= 1 << (v % 64);
    let labelled = (0..vertices).filter(|&v| labels[v as usize] != NO_LABEL);
    for v in changed.iter().copied().chain(labelled).filter(|&v| v < vertices) {
        mark(&mut begun, v);
    }
    // Both directions are stored, so whoever has one of them in its list is a neighbour.
    let is_begun = |v: VertexId| begun[v as usize / 64] >> (v % 64) & 1 == 1;
    active.par_iter_mut().enumerate().with_min_len(16).for_each(|(word, active)| {
        let first = word as VertexId * 64;
        for v in first..vertices.min(first.saturating_add(64)) {
            if is_begun(v) || arcs(graph, v).any(|(u, _)| is_begun(u)) {
                *active |= 1 << (v % 64);
            }
        }
    });
    Ok(active)
}

/// The labels of the known bad: those that kept ties join have the smallest of them.
fn seed_labels(ties: &Ties, known: Known<'_>) -> BTreeMap<VertexId, Label> {
    let mut labels = BTreeMap::new();
    for &seed in known.bad {
        if labels.contains_key(&seed) {
            continue;
        }
        let mut reached = vec![seed];
        labels.insert(seed, seed);
        while let Some(v) = reached.pop() {
            for u in ties.kept_of(v).filter(|&u| known.is_bad(u)) {
                labels.entry(u).or_insert_with(|| {
                    reached.push(u);
                    seed
                });
            }
        }
    }
    labels
}

/// Labels and strengths of the window before, of those whose label is still one; but of nobody without ties, who would
/// hear nothing else.
fn begin_with<'a>(
    before: &Spread,
    seeds: &BTreeMap<VertexId, Label>,
    of_now: impl Iterator<Item = ((&'a mut Label, &'a mut f32), &'a f32)>,
) {
    let of_before = before.labels.iter().zip(&before.strengths);
    for ((old, &strength), ((label, to), &share)) in of_before.zip(of_now) {
        // A seed may have another label by now: that of a group that it came to.
        if let Some(&now) = seeds.get(old).filter(|_| share > 0.0) {
            (*label, *to) = (now, strength);
        }
    }
}

fn spread_of(mut outcome: Outcome, seeds: &BTreeMap<VertexId, Label>) -> Spread {
    let converged = outcome.converged();
    let at = outcome.columns.iter().position(|column| column.name == "strength");
    let values = at.map(|at| outcome.columns.swap_remove(at).values);
    let mut strengths = match values {
        Some(ColumnValues::F32(values)) => values,
        _ => vec![0.0; outcome.labels.len()],
    };
    let mut labels = outcome.labels;
    for (v, (label, strength)) in labels.iter_mut().zip(&mut strengths).enumerate() {
        if *label == NO_LABEL || (*strength < FAINT && !seeds.contains_key(&(v as VertexId))) {
            (*label, *strength) = (NO_LABEL, 0.0);
        }
    }
    Spread { labels, strengths, rounds: outcome.rounds, converged }
}

/// Gathers clusters of ties that are judged and labels that have spread; see the [module](self).
///
/// # Errors
/// Where memory is refused, or the observer cancels.
pub fn gather<E: Executor>(
    executor: &E,
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
        let outcome = executor.run(&kept, &Lpa::default(), &settings, observer)?;
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

impl Suspicion {
    fn new(detection: &Detection) -> Suspicion {
        Suspicion { attenuation: detection.attenuation as f32 }
    }
}

#[ripplet_lp::hooks::label_program]
mod program {
    use ripplet_lp::hooks::*;

    /// How far the labels of the known bad come along ties: see the [module](super).
    #[derive(Clone, Copy, Debug)]
    pub struct Suspicion {
        /// The share of its strength that a label keeps at a hop.
        pub(super) attenuation: f32,
    }

    #[columns]
    struct Columns {
        /// Not 0 where the vertex keeps its label.
        #[default(0)]
        fixed: u32,
        /// How strong its label is.
        #[default(0.0)]
        strength: f32,
        /// What it passes on along a tie of weight 1.
        share: f32,
    }

    impl Program for Suspicion {
        type Score = u64;

        fn name(&self) -> &str {
            "suspicion"
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            // In steps of 2⁻²⁴, as fine as 24 bits of an `f32` go.
            let passed = u.strength() * u.share() * u.weight as f32;
            Vote { label: u.label, weight: (passed * 16777216.0) as u32 }
        }

        fn follows_frequency(&self) -> bool {
            true
        }

        fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
            c.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }

        fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, _score: u64) -> Label {
            if v.fixed() != 0 {
                return v.label;
            }
            let heard = (v.cast() as f32 / 16777216.0 * self.attenuation).min(1.0);
            if heard * 65536.0 < 1.0 {
                v.set_strength(0.0);
                return NO_LABEL;
            }
            let had = v.strength();
            let change = (heard - had).abs();
            if label != v.label || change * 64.0 > had {
                v.set_strength(heard);
            }
            label
        }
    }
}
