//! The hooks: the four small functions that make a label propagation variant.
//!
//! In a round, for each vertex `v` whose turn it is:
//!
//! ```text
//! for each neighbour u of v:      vote = load_neighbor(v, u showing pick_label(u))
//! for each label that got votes:  score = label_score(v, label with the sum of its votes)
//! the label of the highest score: update_vertex(v, label, score) is v's next label
//! ```
//!
//! Hooks are pure: they see scalars and return scalars, so an engine may call them in any order,
//! more than once, or on another device. They inline into the engine's loops and cost nothing.
//!
//! Reference: GLP, Ye et al., *GPU-accelerated graph label propagation for real-time fraud
//! detection*, SIGMOD 2021, table 1.

use crate::Schedule;
use crate::hash::{Clock, Stream, mix};
use ripplet_graph::{Graph, VertexId};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A vertex id used as a community's name.
pub type Label = VertexId;

/// A label propagation variant.
pub trait Program: Sync {
    /// What labels are compared by.
    type Score: Score;

    /// The name, as the command line knows it.
    const NAME: &'static str;

    /// When a vertex must be looked at again.
    const WAKE: Wake;

    /// The schedule that it is made for.
    const SCHEDULE: Schedule = Schedule::phased();

    /// What the engine keeps for every label, for [`Candidate::total`].
    fn label_total(&self) -> LabelTotal {
        LabelTotal::None
    }

    /// The label that `v` shows its neighbours this round.
    #[inline]
    fn pick_label(&self, v: Vertex<'_>) -> Label {
        v.label
    }

    /// The vote that `v` gets from its neighbour `u`.
    #[inline]
    fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor) -> Vote {
        Vote { label: u.label, weight: u.weight }
    }

    /// How good a label is for `v`; see [`Score`] for what wins.
    fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> Self::Score;

    /// No label of this frequency can score higher than this, whatever else is known of it.
    ///
    /// A bound that falls with the frequency lets an engine pass over labels without looking up
    /// their totals. The default knows no bound.
    #[inline]
    fn score_bound(&self, _frequency: u64) -> Self::Score {
        Self::Score::HIGHEST
    }

    /// Whether a label's score can only fall when its total rises, all else equal.
    ///
    /// An engine may then score a label by the largest total of any label first: where that
    /// reaches [`Program::score_bound`], the label's own total need not be looked up.
    const FALLS_WITH_TOTAL: bool = false;

    /// The label that `v` has from now on, given the best label and its score.
    #[inline]
    fn update_vertex(&self, _v: Vertex<'_>, label: Label, _score: Self::Score) -> Label {
        label
    }
}

/// A vertex, as hooks see it.
#[derive(Clone, Copy, Debug)]
pub struct Vertex<'a> {
    /// Its id.
    pub id: VertexId,
    /// The label it has.
    pub label: Label,
    pub(crate) clock: Clock,
    pub(crate) graph: &'a Graph,
}

impl Vertex<'_> {
    /// The number of arcs that touch it, in both directions where the graph is directed.
    #[inline]
    pub fn degree(&self) -> u32 {
        u32::try_from(self.graph.degree(self.id)).unwrap_or(u32::MAX)
    }

    /// The round, from 0.
    #[inline]
    pub fn round(&self) -> u32 {
        self.clock.round()
    }

    /// 32 random bits: the same for the same seed, round, vertex and stream.
    #[inline]
    pub fn random(&self, stream: u32) -> u32 {
        mix(self.id ^ self.clock.key((Stream::Program as u32).wrapping_add(stream)))
    }
}

/// A neighbour, as [`Program::load_neighbor`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbor {
    /// Its id.
    pub id: VertexId,
    /// The label it shows.
    pub label: Label,
    /// The stored weight of the arc to it; 1 in an unweighted graph.
    pub weight: u32,
}

/// What a neighbour says: a label, and how loudly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The label.
    pub label: Label,
    /// Its weight; votes for one label add up in integers. 0 says nothing.
    pub weight: u32,
}

/// A label that got votes, as [`Program::label_score`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The label.
    pub label: Label,
    /// The sum of the votes for it.
    pub frequency: u64,
    /// The sum of all votes that the vertex got.
    pub cast: u64,
    /// The sum of [`Candidate::total`] over all labels.
    pub grand_total: u64,
    pub(crate) total: Total<'a>,
}

/// Where a candidate's total comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Total<'a> {
    /// Looked up when a hook asks for it: it lies anywhere in memory.
    Kept(&'a [AtomicU32]),
    /// No label's total exceeds this.
    AtMost(u32),
}

impl Candidate<'_> {
    /// What the engine keeps for this label, by [`Program::label_total`]; 0 where it keeps nothing.
    #[inline]
    pub fn total(&self) -> u32 {
        match self.total {
            Total::Kept(totals) => {
                totals.get(self.label as usize).map_or(0, |total| total.load(Relaxed))
            }
            Total::AtMost(total) => total,
        }
    }
}

/// What the engine keeps for every label while a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelTotal {
    /// Nothing.
    #[default]
    None,
    /// The number of vertices that have it.
    Members,
    /// The summed weighted degree of the vertices that have it.
    ///
    /// Where the degrees of all vertices together exceed 2³², totals are kept in units of 2^s: a
    /// vertex counts its degree divided by 2^s, rounded up or down by a hash of its id so that
    /// sums stay true on average.
    Volume,
}

/// When a vertex must be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// When a neighbour changed to another label than the vertex's own: enough where a label that
    /// gains a vote never loses its rank.
    Disagreement,
    /// When a neighbour changed.
    Change,
    /// Every round.
    Always,
}

/// What candidates are compared by: higher is better, and equal is a tie, which the schedule ends.
pub trait Score: Copy + PartialOrd + Send + Sync {
    /// Nothing scores higher.
    const HIGHEST: Self;

    /// Whether a candidate of this score may be taken at all.
    ///
    /// Integers: above 0. Floats: any number, negative ones too; NaN never wins.
    fn is_eligible(self) -> bool;
}

impl Score for u64 {
    const HIGHEST: u64 = u64::MAX;

    #[inline]
    fn is_eligible(self) -> bool {
        self > 0
    }
}

impl Score for f32 {
    const HIGHEST: f32 = f32::INFINITY;

    #[inline]
    fn is_eligible(self) -> bool {
        !self.is_nan()
    }
}
