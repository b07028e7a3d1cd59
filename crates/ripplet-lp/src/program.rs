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
//! State beside the label is in columns, which `update_vertex` alone may write.
//!
//! Reference: GLP, Ye et al., *GPU-accelerated graph label propagation for real-time fraud
//! detection*, SIGMOD 2021, table 1.

use crate::columns::ColumnSpec;
use crate::{Candidate, Neighbor, NeighborList, Schedule, Vertex, VertexMut, Vote};
use ripplet_graph::VertexId;
use std::borrow::Cow;
use std::fmt;

/// A vertex id used as a community's name.
pub type Label = VertexId;

/// What a vertex has, and shows, that has no label. Never a vertex.
pub const NO_LABEL: Label = Label::MAX;

/// A label propagation variant.
///
/// Methods with a view among their arguments are the hooks; the others declare what the engine must
/// know, and say the same whenever they are asked.
///
/// ```
/// use ripplet_lp::hooks::*;
///
/// /// Each neighbour counts as much as its arc weighs, less the more neighbours it has.
/// struct Modest;
///
/// impl Program for Modest {
///     type Score = u64;
///     fn name(&self) -> &str {
///         "modest"
///     }
///     fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
///         Vote { label: u.label, weight: u.weight.saturating_mul(1024) / u.degree().max(1) }
///     }
///     fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
///         c.frequency
///     }
/// }
/// ```
pub trait Program: Send + Sync {
    /// What labels are compared by: `u64`, `i64` or `f32`.
    type Score: Score;

    /// The name, as the command line knows it.
    fn name(&self) -> &str;

    /// When a vertex must be looked at again.
    #[inline]
    fn wake(&self) -> Wake {
        Wake::Change
    }

    /// The schedule that it is made for.
    fn schedule(&self) -> Schedule {
        Schedule::phased()
    }

    /// What the engine keeps for every label, for [`Candidate::total`].
    #[inline]
    fn label_total(&self) -> LabelTotal {
        LabelTotal::None
    }

    /// Whether a label's score can only fall when its total rises, all else equal.
    ///
    /// An engine may then score a label by the largest total of any label first: where that
    /// reaches [`Program::score_bound`], the label's own total need not be looked up.
    #[inline]
    fn falls_with_total(&self) -> bool {
        false
    }

    /// Whether, of the labels that may win, one with more votes never scores less: then counters
    /// that keep but the most frequent labels ([`Counter::Sketch`](crate::Counter)) may run it. They
    /// are refused otherwise.
    #[inline]
    fn follows_frequency(&self) -> bool {
        false
    }

    /// The label that `v` shows its neighbours this round; [`NO_LABEL`] shows none.
    #[inline]
    fn pick_label(&self, v: Vertex<'_>) -> Label {
        v.label
    }

    /// The vote that `v` gets from its neighbour `u`.
    #[inline]
    fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        Vote { label: u.label, weight: u.weight }
    }

    /// The votes of a list of neighbours: `votes[i]` becomes what `list.ids[i]` says.
    ///
    /// The engine asks for votes here alone. The default calls [`Program::pick_label`] and
    /// [`Program::load_neighbor`] for each neighbour, which is as fast as it gets where they are
    /// compiled with the engine. Where a call costs something, as in programs that are compiled at
    /// run time, a program loops over the list itself; it must then write the same votes as
    /// [`NeighborList::ask_each`]. As many votes as ids are given; what is in them is not defined.
    #[inline]
    fn load_neighbors(&self, v: Vertex<'_>, list: NeighborList<'_>, votes: &mut [Vote]) {
        list.ask_each(self, v, votes);
    }

    /// How good a label is for `v`; see [`Score`] for what wins.
    fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> Self::Score;

    /// No label of this frequency can score higher than this, whatever else is known of it.
    ///
    /// It must not fall where the frequency rises. An engine passes over labels that it rules out
    /// without looking up their totals. The default knows no bound.
    #[inline]
    fn score_bound(&self, _frequency: u64) -> Self::Score {
        Self::Score::HIGHEST
    }

    /// Whether [`Program::carry`] says anything: otherwise it is not called.
    #[inline]
    fn carries(&self) -> bool {
        false
    }

    /// What a neighbour whose vote is for the winning label hands over with it.
    ///
    /// [`VertexMut::carried`] is the largest; NaN hands over nothing, and −0 is below 0.
    #[inline]
    fn carry(&self, _v: Vertex<'_>, _u: Neighbor<'_>) -> f32 {
        0.0
    }

    /// The largest [`Program::carry`] of those of a list whose vote is for `label` (with a weight
    /// above 0), NaN apart; `votes[i]` is the vote of `list.ids[i]`.
    ///
    /// The engine asks for what is carried here alone; see [`Program::load_neighbors`].
    #[inline]
    fn carry_most(
        &self,
        v: Vertex<'_>,
        list: NeighborList<'_>,
        votes: &[Vote],
        label: Label,
    ) -> Option<f32> {
        list.carried(self, v, votes, label)
    }

    /// The label that `v` has from now on, given the best label and its score.
    ///
    /// Called where a label won; a vertex that got no vote, or whose labels' scores were none that
    /// may win, stays as it is. Returning [`NO_LABEL`], or any number that is not a vertex, leaves
    /// the vertex without a label.
    #[inline]
    fn update_vertex(&self, _v: &mut VertexMut<'_>, label: Label, _score: Self::Score) -> Label {
        label
    }

    /// Whether [`Program::columns`] says anything: otherwise it is not asked, and what engines do
    /// for columns is left out when the program is compiled. `#[label_program]` writes it.
    #[inline]
    fn has_columns(&self) -> bool {
        true
    }

    /// The columns that it has, by number.
    fn columns(&self) -> Vec<ColumnSpec> {
        Vec::new()
    }

    /// The program's own fields, in their order: what a device that runs
    /// [`Program::device_source`] sets them to.
    fn parameters(&self) -> Vec<Scalar> {
        Vec::new()
    }

    /// The hooks as text for a device; none where the program exists in Rust alone.
    fn device_source(&self) -> Option<DeviceSource> {
        None
    }
}

/// A number or truth value, with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `u32`.
    U32(u32),
    /// `i32`.
    I32(i32),
    /// `u64`.
    U64(u64),
    /// `i64`.
    I64(i64),
    /// `f32`.
    F32(f32),
    /// `bool`.
    Bool(bool),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::U32(value) => value.fmt(f),
            Scalar::I32(value) => value.fmt(f),
            Scalar::U64(value) => value.fmt(f),
            Scalar::I64(value) => value.fmt(f),
            Scalar::F32(value) => value.fmt(f),
            Scalar::Bool(value) => value.fmt(f),
        }
    }
}

/// A program's hooks as CUDA C++ text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSource {
    /// The text.
    pub text: Cow<'static, str>,
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
    /// gains a vote never loses its rank. What a neighbour writes into columns wakes nobody.
    Disagreement,
    /// When a neighbour changed: its label, or a value of a column.
    Change,
    /// Every round. A round in which nothing changed still ends the run.
    Always,
}

/// What candidates are compared by: higher is better, and equal is a tie, which the schedule ends.
pub trait Score: Copy + PartialOrd + Send + Sync {
    /// Nothing scores higher.
    const HIGHEST: Self;

    /// Whether [`Score::is_nan`] is ever true.
    const HAS_NAN: bool = false;

    /// Whether a candidate of this score may be taken at all.
    ///
    /// `u64`: above 0. `i64`: all. `f32`: all numbers, negative ones too; NaN never wins.
    fn is_eligible(self) -> bool;

    /// Whether it is not a number: counted in [`Round::nan_scores`](crate::Round::nan_scores).
    #[inline]
    fn is_nan(self) -> bool {
        false
    }
}

impl Score for u64 {
    const HIGHEST: u64 = u64::MAX;

    #[inline]
    fn is_eligible(self) -> bool {
        self > 0
    }
}

impl Score for i64 {
    const HIGHEST: i64 = i64::MAX;

    #[inline]
    fn is_eligible(self) -> bool {
        true
    }
}

impl Score for f32 {
    const HIGHEST: f32 = f32::INFINITY;
    const HAS_NAN: bool = true;

    #[inline]
    fn is_eligible(self) -> bool {
        !f32::is_nan(self)
    }

    #[inline]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
}
