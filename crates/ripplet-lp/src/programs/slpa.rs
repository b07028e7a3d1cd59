//! Speaker-listener label propagation (SLPA): overlapping communities.
//!
//! Each vertex has a memory of labels with counts. In a round, each neighbour (*speaker*) sends one
//! label of its memory, drawn in proportion to the counts. The vertex (*listener*) adds the most
//! frequent of the received labels to its memory (by weight, if the graph has weights). At the end
//! a vertex belongs to every label whose share of its memory reaches a threshold; the share is the
//! strength of the membership: [`memberships`].
//!
//! In the paper the memory grows by one entry per round. Here it holds a fixed number of labels
//! ([`Slpa::new`], [`MEMORY`] by default), each with a count. If the memory is full, a new label
//! replaces the first one with the smallest count and inherits its count, plus one. Counts thus add
//! up to the number of labels received, and no label with a share above 1 / `memory` is ever lost
//! (*Space-Saving*, Metwally, Agrawal, El Abbadi, ICDT 2005). If a vertex receives fewer than
//! `memory` different labels, its memory is exactly the paper's.
//!
//! The label of a vertex is the first one with the largest count: the labels alone are communities
//! that do not overlap. The memory starts with the initial label.
//!
//! A run never settles, as memories change in every round. Run a fixed number of rounds
//! ([`ROUNDS`]); a tolerance has an effect only if no vertex receives a label. Vertices without
//! neighbours receive none and belong to themselves.
//!
//! Memory: 8 · `memory` bytes per vertex, and as much again with `sync`. Directed graphs: vertices
//! listen to in- and out-neighbours. A reciprocal neighbour counts twice, with the same label both
//! times. Determinism: draws are hashes, so that it is that of the schedule.
//!
//! Reference: Xie, Szymanski, Liu, *SLPA: uncovering overlapping communities in social networks via
//! a speaker-listener interaction dynamic process*, ICDM workshops 2011.

pub use program::Slpa;

use crate::hooks::label_program;
use crate::{Label, NO_LABEL, Outcome, Stop};
use ripplet_graph::VertexId;
use thiserror::Error;

/// The default number of labels in a vertex's memory.
pub const MEMORY: u32 = 5;

/// The default number of rounds, as in the paper's experiments.
pub const ROUNDS: u32 = 100;

/// The default threshold of [`memberships`]: a vertex belongs to at most ten communities.
///
/// On the overlapping LFR grid it is better than 0.05 and 0.15 to 0.45, by both definitions of the
/// normalized mutual information (ADR 0028).
pub const THRESHOLD: f64 = 0.1;

/// The largest number of labels in a vertex's memory.
const MOST_MEMORY: u32 = 64;

/// The number of labels in a memory is 0 or too large.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a vertex remembers 1 to {MOST_MEMORY} labels, not {0}")]
pub struct BadMemory(pub u32);

/// The threshold is not a share.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("a threshold is a share of a vertex's memory from 0 to 1, not {0}")]
pub struct BadThreshold(pub f64);

/// The membership of a vertex in a community.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Membership {
    /// The vertex.
    pub vertex: VertexId,
    /// The community.
    pub label: Label,
    /// The share of the vertex's memory that the label has, above 0 and up to 1.
    pub strength: f32,
}

impl Slpa {
    /// Creates SLPA with `memory` labels per vertex.
    ///
    /// # Errors
    /// If `memory` is not 1 to 64.
    pub fn new(memory: u32) -> Result<Slpa, BadMemory> {
        (1..=MOST_MEMORY).contains(&memory).then_some(Slpa { memory }).ok_or(BadMemory(memory))
    }

    /// Returns the stop rule: after [`ROUNDS`].
    pub fn stop() -> Stop {
        Stop::after(ROUNDS)
    }
}

impl Default for Slpa {
    fn default() -> Self {
        Slpa { memory: MEMORY }
    }
}

/// Returns the communities of each vertex: labels with at least `threshold` of its memory, and the
/// most frequent one, without communities that are subsets of another.
///
/// Memberships come by vertex, for each the strongest first, of equal ones the smallest label
/// first. If a run has no columns of [`Slpa`], each vertex is in the community of its label, at
/// strength 1. Vertices without a label are in none, and all others in at least one.
///
/// A community that is a subset of another is removed, as in the paper: it is what remains of a
/// label that another one has replaced. Of equal sets, the one with the largest sum of strengths
/// stays, of equal sums the smallest label. Thus the most frequent label of a vertex may be absent.
///
/// Memory: 32 bytes per membership above the threshold, and 8 bytes per vertex. Time: linear in the
/// memberships but for a sort, if few communities share many members.
///
/// # Errors
/// If the threshold is not a share.
pub fn memberships(outcome: &Outcome, threshold: f64) -> Result<Vec<Membership>, BadThreshold> {
    if !(0.0..=1.0).contains(&threshold) {
        return Err(BadThreshold(threshold));
    }
    let mut all = above_threshold(outcome, threshold);
    let nested = nested(&all, outcome.labels.len());
    all.retain(|member| nested.binary_search(&member.label).is_err());
    Ok(all)
}

/// Returns the memberships of at least `threshold`, and the strongest one of each vertex.
fn above_threshold(outcome: &Outcome, threshold: f64) -> Vec<Membership> {
    let column = |name| outcome.column(name).and_then(|column| column.values.as_u32());
    let (heard, times) = (column("heard").unwrap_or(&[]), column("times").unwrap_or(&[]));
    let memory = heard.len() / outcome.labels.len().max(1);
    let mut all = Vec::new();
    for (vertex, &label) in (0..).zip(&outcome.labels) {
        let part = vertex as usize * memory..(vertex as usize + 1) * memory;
        let known = heard[part.clone()].iter().copied().zip(times[part].iter().copied());
        let mut known: Vec<(Label, u32)> = known.filter(|&(_, times)| times > 0).collect();
        if known.is_empty() && label != NO_LABEL {
            known.push((label, 1));
        }
        let sum: u64 = known.iter().map(|&(_, times)| u64::from(times)).sum();
        known.sort_unstable_by_key(|&(label, times)| (std::cmp::Reverse(times), label));
        let strengths =
            known.into_iter().map(|(label, times)| (label, f64::from(times) / sum as f64));
        let kept =
            strengths.enumerate().take_while(|&(rank, (_, share))| rank == 0 || share >= threshold);
        all.extend(kept.map(|(_, (label, share))| Membership {
            vertex,
            label,
            strength: share as f32,
        }));
    }
    all
}

/// Returns the labels of communities that are subsets of another, ascending. `all` come by vertex.
fn nested(all: &[Membership], vertices: usize) -> Vec<Label> {
    let mut starts = vec![0; vertices + 1];
    all.iter().for_each(|member| starts[member.vertex as usize + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let of_vertex = |vertex: VertexId| {
        let vertex = vertex as usize;
        all[starts[vertex]..starts[vertex + 1]].iter().map(|member| member.label)
    };
    let mut members: Vec<(Label, VertexId, f32)> =
        all.iter().map(|member| (member.label, member.vertex, member.strength)).collect();
    members.sort_unstable_by_key(|&(label, vertex, _)| (label, vertex));
    let groups: Vec<&[(Label, VertexId, f32)]> = members.chunk_by(|a, b| a.0 == b.0).collect();
    let of_label = |label| groups[groups.partition_point(|group| group[0].0 < label)];
    let weight = |group: &[(Label, VertexId, f32)]| -> f64 {
        group.iter().map(|&(_, _, strength)| f64::from(strength)).sum()
    };
    // A superset stays if it is larger. Equal sets are supersets of each other.
    let outlives = |other: Label, group: &[(Label, VertexId, f32)]| {
        let superset = of_label(other);
        let is_first = || {
            let (a, b) = (weight(superset), weight(group));
            a > b || a == b && other < group[0].0
        };
        superset.len() > group.len() || is_first()
    };
    let is_nested = |group: &[(Label, VertexId, f32)]| {
        let (label, first, _) = group[0];
        let mut supersets: Vec<Label> = of_vertex(first).filter(|&other| other != label).collect();
        for &(_, vertex, _) in &group[1..] {
            if supersets.is_empty() {
                break;
            }
            supersets.retain(|&other| of_vertex(vertex).any(|known| known == other));
        }
        supersets.into_iter().any(|other| outlives(other, group))
    };
    groups.iter().filter(|group| is_nested(group)).map(|group| group[0].0).collect()
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// Speaker-listener label propagation.
    #[derive(Clone, Copy, Debug)]
    pub struct Slpa {
        /// The number of labels in a vertex's memory.
        pub(super) memory: u32,
    }

    #[columns]
    struct Columns {
        /// `heard`: the labels in memory; only those before the first zero count are valid.
        #[len(memory)]
        #[default(0)]
        heard: [u32],
        /// `times`: the count of each label.
        #[len(memory)]
        #[default(0)]
        times: [u32],
    }

    impl Program for Slpa {
        type Score = u64;

        fn name(&self) -> &str {
            "slpa"
        }

        fn activation(&self) -> Activation {
            Activation::Always
        }

        fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            Vote { label: spoken(u, self.memory, u.random(v.id)), weight: u.weight }
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
            if v.times(0) == 0 && v.label != NO_LABEL {
                v.set_heard(0, v.label);
                v.set_times(0, 1);
            }
            // Find the label's place: the one that holds it, else an empty one, else the one
            // with the smallest count.
            let mut place: u32 = 0;
            let mut least: u32 = u32::MAX;
            for i in 0..self.memory {
                if v.times(i) > 0 && v.heard(i) == label {
                    place = i;
                    break;
                }
                if v.times(i) < least {
                    place = i;
                    least = v.times(i);
                }
            }
            v.set_heard(place, label);
            v.set_times(place, v.times(place).wrapping_add(1));
            let mut best: u32 = 0;
            for i in 1..self.memory {
                if v.times(i) > v.times(best) {
                    best = i;
                }
            }
            v.heard(best)
        }
    }

    /// Draws a label from the memory of `u`, in proportion to the counts; its label if the memory
    /// is empty.
    fn spoken(u: Neighbor<'_>, memory: u32, random: u32) -> Label {
        let mut sum: u32 = 0;
        for i in 0..memory {
            sum = sum.wrapping_add(u.times(i));
        }
        let mut drawn = ((random as u64 * sum as u64) >> 32) as u32;
        for i in 0..memory {
            // Read once: under `async`, `u` may change its memory meanwhile.
            let times: u32 = u.times(i);
            if drawn < times {
                return u.heard(i);
            }
            drawn -= times;
        }
        u.label
    }
}
