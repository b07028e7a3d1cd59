//! Hints: promises of a program about its hooks, and faster forms of them.
//!
//! Hints never change a label. They let an engine leave out work whose result it can infer, or call
//! hooks for a list of neighbours at once. Each default is safe: it promises nothing, and calls the
//! hooks one by one.
//!
//! | hint | what an engine leaves out |
//! |---|---|
//! | [`falls_with_total`](Hints::falls_with_total) | loads of label totals |
//! | [`follows_frequency`](Hints::follows_frequency) | labels with few votes, in [sketches](crate::counters) |
//! | [`score_bound`](Hints::score_bound) | scores of labels that cannot win |
//! | [`carries`](Hints::carries) | calls of [`Program::carry`] |
//! | [`has_columns`](Hints::has_columns) | code for columns |
//! | [`load_neighbors`](Hints::load_neighbors), [`carry_most`](Hints::carry_most) | calls per neighbour |
//!
//! A promise that does not hold gives wrong labels, without an error.

use crate::{DeviceSource, Label, NeighborList, Program, Scalar, Score, Vertex, Vote};

/// Promises of a program about its hooks, and faster forms of them.
///
/// Every program implements it. `#[label_program]` does so, with the functions of this trait that
/// the program's text contains. By hand, `impl Hints for Mine {}` promises nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no program with hints",
    note = "write `impl Hints for … {{}}` to promise nothing, or use `#[label_program]`"
)]
pub trait Hints: Program {
    /// Returns whether a label's score never rises with its total, all else equal.
    ///
    /// An engine may then first score a label with the largest total of any label. If this score
    /// reaches [`Hints::score_bound`], it need not load the label's own total.
    #[inline]
    fn falls_with_total(&self) -> bool {
        false
    }

    /// Returns whether, among eligible labels, one with more votes never scores less.
    ///
    /// Counters that keep only the most frequent labels ([`Sketch`](crate::Sketch))
    /// require this.
    #[inline]
    fn follows_frequency(&self) -> bool {
        false
    }

    /// Returns an upper bound of the scores of all labels with this frequency.
    ///
    /// The bound must not fall as the frequency rises. An engine skips labels that it rules out
    /// without loading their totals. The default is no bound.
    #[inline]
    fn score_bound(&self, _frequency: u64) -> Self::Score {
        Self::Score::HIGHEST
    }

    /// Returns whether [`Program::carry`] is used; otherwise it is not called.
    ///
    /// `#[label_program]` returns true if the program's text contains `carry`.
    #[inline]
    fn carries(&self) -> bool {
        false
    }

    /// Returns whether the program has columns.
    ///
    /// If it is false, [`Program::columns`] is not called, and the engine's code for columns is
    /// compiled out. `#[label_program]` implements it.
    #[inline]
    fn has_columns(&self) -> bool {
        true
    }

    /// Computes the votes of a list of neighbours: `votes[i]` becomes the vote of `list.ids[i]`.
    ///
    /// The engine loads votes through this method only. The default calls [`Program::pick_label`]
    /// and [`Program::load_neighbor`] for each neighbour, which is fastest if they are compiled
    /// with the engine. If a call is expensive, as in programs that are compiled at run time, a
    /// program may loop over the list itself. It must then write the same votes as
    /// [`NeighborList::load_each`]. `votes` has the length of the list; its initial values are
    /// unspecified.
    #[inline]
    fn load_neighbors(&self, v: Vertex<'_>, list: NeighborList<'_>, votes: &mut [Vote]) {
        list.load_each(self, v, votes);
    }

    /// Returns the largest [`Program::carry`] among the neighbours of a list that voted for `label`
    /// (with a weight above 0), ignoring NaN; `votes[i]` is the vote of `list.ids[i]`.
    ///
    /// The engine calls `carry` through this method only; see [`Hints::load_neighbors`]. The result
    /// must be that of [`NeighborList::carried`].
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

    /// Returns the values of the program's fields, in order: the parameters of
    /// [`Hints::device_source`].
    fn parameters(&self) -> Vec<Scalar> {
        Vec::new()
    }

    /// Returns the hooks as text for a device; `None` if the program exists only in Rust.
    fn device_source(&self) -> Option<DeviceSource> {
        None
    }
}
