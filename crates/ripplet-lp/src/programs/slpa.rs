//! Speaker-listener label propagation (SLPA): overlapping communities.
//!
//! Each vertex has a memory of labels with counts. In a round, each neighbour (*speaker*) sends one
//! label of its memory, drawn in proportion to the counts. The vertex (*listener*) adds the most
//! frequent of the received labels to its memory (by weight, if the graph has weights). At the end
//! a vertex belongs to every label whose share of its memory reaches a threshold; the share is the
//! strength of the membership: [`memberships`].
//!
//! In the paper the memory grows by one entry per round. Here it holds a fixed number of labels
//! ([`Slpa::new`], [`MEMORY`] by default), each with a count, in descending order. If the memory is
//! full, a new label replaces the last one and inherits its count, plus one. Counts thus add
//! up to the number of labels received, and no label with a share above 1 / `memory` is ever lost
//! (*Space-Saving*, Metwally, Agrawal, El Abbadi, ICDT 2005). If a vertex receives fewer than
//! `memory` different labels, its memory is exactly the paper's.
//!
//! The label of a vertex is the one with the largest count, of several the one that reached it
//! first: the labels alone are communities that do not overlap. The memory starts with the initial label.
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

/// The default number of labels in a vertex's memory. Overlapping vertices of the LFR benchmark are
/// in at most 8 communities.
pub const MEMORY: u32 = 8;

/// The default number of rounds: more find the communities better on average, but merge more of
/// them (ADR 0028).
pub const ROUNDS: u32 = 40;

/// The default threshold of [`memberships`]: 5 of the 41 labels after [`ROUNDS`] (ADR 0028).
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
    let heard = column("heard").unwrap_or(&[]);
    let cumulative = column("cumulative").unwrap_or(&[]);
    let memory = heard.len() / outcome.labels.len().max(1);
    let mut all = Vec::new();
    for (vertex, &label) in (0..).zip(&outcome.labels) {
        let part = vertex as usize * memory..(vertex as usize + 1) * memory;
        let mut before = 0;
        let known = heard[part.clone()].iter().zip(&cumulative[part]).map(|(&label, &sum)| {
            let count = sum.wrapping_sub(before);
            before = sum;
            (label, count)
        });
        let mut known: Vec<(Label, u32)> = known.filter(|&(_, count)| count > 0).collect();
        if known.is_empty() && label != NO_LABEL {
            known.push((label, 1));
        }
        let sum: u64 = known.iter().map(|&(_, count)| u64::from(count)).sum();
        known.sort_unstable_by_key(|&(label, count)| (std::cmp::Reverse(count), label));
        let strengths =
            known.into_iter().map(|(label, count)| (label, f64::from(count) / sum as f64));
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
        /// `heard`: the labels in memory, in descending order of their counts; only those with a
        /// count are valid.
        #[len(memory)]
        #[default(0)]
        heard: [u32],
        /// `cumulative`: the sum of the counts of a label and of those before it. Draws need no
        /// sum then, and mostly end at the first label.
        #[len(memory)]
        #[default(0)]
        cumulative: [u32],
    }

    impl Program for Slpa {
        type Score = u64;

        fn name(&self) -> &str {
            "slpa"
        }

        fn activation(&self) -> Activation {
            Activation::Always
        }

        // In a call of its own, a vote would compute the key of its random bits anew: three hashes,
        // each of which waits for the one before.
        #[inline(always)]
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
            let last: u32 = self.memory.wrapping_sub(1);
            if v.cumulative(last) == 0 && v.label != NO_LABEL {
                v.set_heard(0, v.label);
                for i in 0..self.memory {
                    v.set_cumulative(i, 1);
                }
            }
            // Find the label's place: the one that holds it, else the first empty one, else the
            // last one, which has the smallest count.
            let mut place: u32 = last;
            let mut before: u32 = 0;
            for i in 0..self.memory {
                let sum: u32 = v.cumulative(i);
                if sum == before || v.heard(i) == label || i == last {
                    place = i;
                    break;
                }
                before = sum;
            }
            // With one more, it belongs before all labels of the same count: it changes places with
            // the first of them.
            let count: u32 = v.cumulative(place).wrapping_sub(before);
            let mut first: u32 = place;
            before = 0;
            for i in 0..place {
                let sum: u32 = v.cumulative(i);
                if sum.wrapping_sub(before) == count {
                    first = i;
                    break;
                }
                before = sum;
            }
            v.set_heard(place, v.heard(first));
            v.set_heard(first, label);
            for i in first..self.memory {
                v.set_cumulative(i, v.cumulative(i).wrapping_add(1));
            }
            v.heard(0)
        }
    }

    /// Draws a label from the memory of `u`, in proportion to the counts; its label if the memory
    /// is empty.
    #[inline(always)]
    fn spoken(u: Neighbor<'_>, memory: u32, random: u32) -> Label {
        let all: u32 = u.cumulative(memory.wrapping_sub(1));
        let drawn: u32 = ((random as u64 * all as u64) >> 32) as u32;
        for i in 0..memory {
            if drawn < u.cumulative(i) {
                return u.heard(i);
            }
        }
        u.label
    }
}
