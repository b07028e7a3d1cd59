//! Speaker-listener label propagation: communities that overlap.
//!
//! Each vertex remembers the labels that it has heard and how often. In a round, each neighbour
//! *speaks* one label of its memory, drawn with the frequency that it has there; the vertex *hears*
//! the label spoken most (by weight, where the graph has weights) and remembers it once more. In the
//! end, a vertex belongs to every label that fills a threshold's share of its memory, and that share
//! is its strength there: [`memberships`].
//!
//! The paper's memory grows by one each round; here it holds a few labels ([`Slpa::new`]; 5 where
//! nothing is said), each with a count. A label that is heard when the memory is full takes the
//! place of the one heard least, the first of these, and takes over its count, plus one: counts add
//! up to what was heard, and no label that fills more than 1 / `memory` of that is ever lost
//! (*Space-Saving*, Metwally, Agrawal, El Abbadi, ICDT 2005). Where fewer than `memory` different
//! labels are heard, it is exactly the paper's.
//!
//! A vertex's label is the one it remembers best, the first of these: so the labels alone are
//! communities that do not overlap. Its memory begins with the label that it begins with.
//!
//! It never settles: memory changes every round. Run it for a fixed number of rounds
//! ([`ROUNDS`]); a tolerance ends it only where nobody hears anything. Vertices without neighbours
//! hear nothing and belong to themselves.
//!
//! Memory: 8 · `memory` bytes a vertex, and as much again with `sync`. Directed graphs: everybody
//! hears in- and out-neighbours, reciprocal ones twice (each time another draw of the same chance:
//! the same label). Determinism: draws are hashes, so that of the schedule.
//!
//! Reference: Xie, Szymanski, Liu, *SLPA: uncovering overlapping communities in social networks via a
//! speaker-listener interaction dynamic process*, ICDM workshops 2011.

pub use program::Slpa;

use crate::hooks::label_program;
use crate::{Label, NO_LABEL, Outcome, Stop};
use ripplet_graph::VertexId;
use thiserror::Error;

/// Labels that a vertex remembers where nothing is said.
pub const MEMORY: u32 = 5;

/// Rounds to run where nothing is said, as in the paper's experiments.
pub const ROUNDS: u32 = 100;

/// The threshold of [`memberships`] where nothing is said: a vertex belongs to three communities at
/// most.
pub const THRESHOLD: f64 = 0.3;

/// Labels that a vertex can remember at most.
const MOST_MEMORY: u32 = 64;

/// A memory that holds nothing, or too much.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a vertex remembers 1 to {MOST_MEMORY} labels, not {0}")]
pub struct BadMemory(pub u32);

/// A threshold that is not a share.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("a threshold is a share of a vertex's memory from 0 to 1, not {0}")]
pub struct BadThreshold(pub f64);

/// A vertex's part in a community.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Membership {
    /// The vertex.
    pub vertex: VertexId,
    /// The community.
    pub label: Label,
    /// The share of the vertex's memory that it fills, above 0 and up to 1.
    pub strength: f32,
}

impl Slpa {
    /// Vertices that remember so many labels.
    ///
    /// # Errors
    /// Where that is not 1 to 64.
    pub fn new(memory: u32) -> Result<Slpa, BadMemory> {
        (1..=MOST_MEMORY).contains(&memory).then_some(Slpa { memory }).ok_or(BadMemory(memory))
    }

    /// When to stop: after [`ROUNDS`].
    pub fn stop() -> Stop {
        Stop::after(ROUNDS)
    }
}

impl Default for Slpa {
    fn default() -> Self {
        Slpa { memory: MEMORY }
    }
}

/// The communities of each vertex whose label fills at least `threshold` of its memory, or is the
/// one that fills most; by vertex, and there the strongest first, then the smaller label.
///
/// What a run without [`Slpa`]'s columns found is one community a vertex, at strength 1. Vertices
/// without a label have none.
///
/// # Errors
/// Where the threshold is not a share.
pub fn memberships(outcome: &Outcome, threshold: f64) -> Result<Vec<Membership>, BadThreshold> {
    if !(0.0..=1.0).contains(&threshold) {
        return Err(BadThreshold(threshold));
    }
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
    Ok(all)
}

#[label_program]
mod program {
    use crate::hooks::*;

    /// Speaker-listener label propagation.
    #[derive(Clone, Copy, Debug)]
    pub struct Slpa {
        /// Labels that a vertex remembers.
        pub(super) memory: u32,
    }

    #[columns]
    struct Columns {
        /// Labels that were heard; those before the first that never was.
        #[len(memory)]
        #[default(0)]
        heard: [u32],
        /// How often each was heard.
        #[len(memory)]
        #[default(0)]
        times: [u32],
    }

    impl Program for Slpa {
        type Score = u64;

        fn name(&self) -> &str {
            "slpa"
        }

        fn wake(&self) -> Wake {
            Wake::Always
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
            // Where the label is, or where it goes: an empty place, or the one heard least.
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

    /// A label that `u` remembers, drawn by how often it was heard; its own where it heard none.
    fn spoken(u: Neighbor<'_>, memory: u32, random: u32) -> Label {
        let mut sum: u32 = 0;
        for i in 0..memory {
            sum = sum.wrapping_add(u.times(i));
        }
        let mut drawn = ((random as u64 * sum as u64) >> 32) as u32;
        for i in 0..memory {
            // Read once: under `async` u may hear another label meanwhile.
            let times: u32 = u.times(i);
            if drawn < times {
                return u.heard(i);
            }
            drawn -= times;
        }
        u.label
    }
}
