//! Programs and their hooks: the four small functions of GLP that define a label propagation variant, and a
//! fifth, `carry`, for variants that pass a number along with the label.
//!
//! In a round, for each scheduled vertex `v`:
//!
//! ```text
//! for each neighbour u of v:      vote = load_neighbor(v, u with pick_label(u))
//! for each label that got votes:  score = label_score(v, label with the sum of its votes)
//! the label of the highest score: update_vertex(v, label, score) is v's next label
//! ```
//!
//! Hooks are pure functions from scalars to scalars: an engine may call them in any order, more
//! than once, or on another device. They inline into the engine's loops at no cost. State beside
//! the label is in columns, which only `update_vertex` writes.
//!
//! A program may give engines [`Hints`](crate::Hints).
//!
//! Reference: GLP, Ye et al., *GPU-accelerated graph label propagation for real-time fraud
//! detection*, SIGMOD 2021, table 1.

use crate::columns::ColumnSpec;
use crate::{Candidate, Label, Neighbor, Schedule, Vertex, VertexMut, Vote};
use std::borrow::Cow;
use std::fmt;

/// A label propagation variant.
///
/// Methods with a view among their arguments are the hooks. The others are declarations and must
/// return the same value at every call.
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
///
/// // No promises.
/// impl Hints for Modest {}
/// ```
pub trait Program: Send + Sync {
    /// The type that labels are compared by: `u64`, `i64` or `f32`.
    type Score: Score;

    /// Returns the name as the command line reads it.
    fn name(&self) -> &str;

    /// Returns when a vertex must be updated again.
    #[inline]
    fn activation(&self) -> Activation {
        Activation::Change
    }

    /// Returns the schedule that the program is made for.
    fn schedule(&self) -> Schedule {
        Schedule::phased()
    }

    /// Returns the total that the engine keeps for every label, for [`Candidate::total`].
    #[inline]
    fn label_total(&self) -> LabelTotal {
        LabelTotal::None
    }

    /// Returns the label of `v` that its neighbours see in this round; [`NO_LABEL`](crate::NO_LABEL) for none.
    #[inline]
    fn pick_label(&self, v: Vertex<'_>) -> Label {
        v.label
    }

    /// Returns the vote that `v` gets from its neighbour `u`.
    #[inline]
    fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        Vote { label: u.label, weight: u.weight }
    }

    /// Returns how good a label is for `v`; see [`Score`] for which one wins.
    fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> Self::Score;

    /// Returns a number that a neighbour passes along with its vote for the winning label.
    ///
    /// [`VertexMut::carried`] is the largest of these. NaN is ignored, and −0 is below 0.
    #[inline]
    fn carry(&self, _v: Vertex<'_>, _u: Neighbor<'_>) -> f32 {
        0.0
    }

    /// Returns the next label of `v`, given the best label and its score.
    ///
    /// It is called only if a label won: a vertex without votes, or without an eligible label,
    /// stays as it is. Returning [`NO_LABEL`](crate::NO_LABEL), or any number that is not a vertex, leaves the
    /// vertex without a label.
    #[inline]
    fn update_vertex(&self, _v: &mut VertexMut<'_>, label: Label, _score: Self::Score) -> Label {
        label
    }

    /// Returns the columns of the program, in the order of their numbers.
    fn columns(&self) -> Vec<ColumnSpec> {
        Vec::new()
    }
}

/// The hooks of a program as CUDA C++ text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSource {
    /// The text.
    pub text: Cow<'static, str>,
}

/// The total that the engine keeps for every label while a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LabelTotal {
    /// No total.
    #[default]
    None,
    /// The number of vertices with the label.
    Members,
    /// The summed weighted degree of the vertices with the label.
    ///
    /// If the sum over all vertices exceeds 2³², totals are kept in units of 2^s: a vertex
    /// contributes its degree divided by 2^s, rounded up or down by a hash of its id, so that the
    /// totals are unbiased.
    Volume,
}

/// When a vertex must be updated again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// When a neighbour changed to another label than the vertex's own. This suffices if a label
    /// that gains a vote never loses rank. Changes of columns activate no neighbour.
    Disagreement,
    /// When a neighbour changed: its label, or a value of a column.
    Change,
    /// In every round. A round in which nothing changed still ends the run.
    Always,
}

/// The type that candidates are compared by: higher is better, and the schedule breaks ties.
pub trait Score: Copy + PartialOrd + fmt::Display + Send + Sync {
    /// The highest score.
    const HIGHEST: Self;

    /// Whether [`Score::is_nan`] is ever true.
    const HAS_NAN: bool = false;

    /// Returns whether a candidate of this score may win.
    ///
    /// `u64`: above 0. `i64`: always. `f32`: all numbers, also negative ones; NaN never wins.
    fn is_eligible(self) -> bool;

    /// Returns whether the score is NaN; counted in
    /// [`Round::nan_scores`](crate::Round::nan_scores).
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
