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
//! | [`votes_for_own_label`](Hints::votes_for_own_label) | totals of labels that no neighbour has, on [ranks](crate::RankExecutor) |
//! | [`score_bound`](Hints::score_bound) | scores of labels that cannot win |
//! | [`carries`](Hints::carries) | calls of [`Program::carry`] |
//! | [`has_columns`](Hints::has_columns) | code for columns |
//! | [`load_neighbors`](Hints::load_neighbors), [`carry_most`](Hints::carry_most) | calls per neighbour |
//!
//! A promise that does not hold gives wrong labels, without an error. [`check_program`] tests them on a sample of
//! vertices (the command's `--check-program`), except that a [`device_source`](Hints::device_source) written by hand
//! has the hooks of the Rust text.
//!
//! [`check_program`]: crate::check::check_program

use crate::{
    DeviceSource, Label, NO_LABEL, Neighbor, NeighborList, Program, Scalar, Score, Vertex, Vote,
};
use ripplet_graph::VertexId;
use std::sync::atomic::Ordering::Relaxed;

/// Promises of a program about its hooks, and faster forms of them.
///
/// Every program implements it. `#[label_program]` does so, with the functions of this trait that
/// the program's text contains. By hand, `impl Hints for Mine {}` promises nothing; a program without
/// `carry` or columns is faster if it says so.
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

    /// Returns whether each neighbour votes for its own label, if for any vertex.
    ///
    /// A vote of weight 0, or for a number that is not a vertex, may have any label. A rank then needs the totals of its
    /// vertices' and their neighbours' labels alone. `#[label_program]` returns true if the program's text has neither
    /// `pick_label` nor `load_neighbor`.
    #[inline]
    fn votes_for_own_label(&self) -> bool {
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

    /// Returns whether [`Program::carry`] may return anything but 0.
    ///
    /// If it is false, `carry` is not called, and the engine's code for it is compiled out.
    /// `#[label_program]` returns false if the program's text has no `carry`.
    #[inline]
    fn carries(&self) -> bool {
        true
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

impl<'a> NeighborList<'a> {
    /// Computes the vote of each neighbour with the program's per-neighbour hooks.
    #[inline]
    pub fn load_each<P: Program + ?Sized>(self, program: &P, v: Vertex<'a>, votes: &mut [Vote]) {
        let votes = votes.iter_mut().zip(self.ids);
        match self.weights {
            None => votes.for_each(|(vote, &u)| *vote = self.vote(program, v, u, 1)),
            Some(weights) => votes
                .zip(weights)
                .for_each(|((vote, &u), &weight)| *vote = self.vote(program, v, u, weight)),
        }
    }

    #[inline]
    fn vote<P: Program + ?Sized>(
        self,
        program: &P,
        v: Vertex<'a>,
        u: VertexId,
        weight: u32,
    ) -> Vote {
        program.load_neighbor(v, self.neighbor(program, v, u, weight))
    }

    /// Returns the largest carry among the neighbours that voted for a label, with the program's
    /// per-neighbour hooks.
    #[inline]
    pub fn carried<P: Program + ?Sized>(
        self,
        program: &P,
        v: Vertex<'a>,
        votes: &[Vote],
        label: Label,
    ) -> Option<f32> {
        let said = votes.iter().zip(self.ids).enumerate();
        let agreed = said.filter(|(_, (vote, _))| vote.label == label && vote.weight > 0);
        let carries = agreed.map(|(index, (_, &u))| {
            let weight = self.weights.and_then(|weights| weights.get(index)).copied();
            program.carry(v, self.neighbor(program, v, u, weight.unwrap_or(1)))
        });
        carries.filter(|carry| !carry.is_nan()).max_by(f32::total_cmp)
    }

    /// Returns the view of a neighbour, with the label from `pick_label`.
    #[inline]
    fn neighbor<P: Program + ?Sized>(
        self,
        program: &P,
        v: Vertex<'a>,
        u: VertexId,
        weight: u32,
    ) -> Neighbor<'a> {
        let label = self.labels.get(u as usize).map_or(NO_LABEL, |label| label.load(Relaxed));
        let label = program.pick_label(v.beside(u, label));
        Neighbor { id: u, label, weight, context: v.context }
    }
}
