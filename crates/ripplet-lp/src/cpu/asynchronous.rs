//! The `async` schedule: each active vertex reads the current labels and commits at once.
//!
//! Not deterministic on more than one thread: the labels that a vertex reads depend on timing. But
//! no change is lost: if a run ends at a fixpoint, every vertex has chosen by the final labels of
//! its neighbours. Two rules keep two vertices that change at the same moment from missing each
//! other. In each, one side stores and the other loads, with a full fence between:
//!
//! ```text
//! v: leaves the active set;  fence;  reads u's label      so v reads u's new label,
//! u: stores its new label;   fence;  tests whether v      or u finds v inactive and
//!                                    is active            activates it
//!
//! v: stores its new label;   fence;  reads u's label      so v finds that u's vote has changed,
//! u: stores its new label;   fence;  reads v's label      or u finds v's new label and disagrees
//! ```
//!
//! The second rule is for [`Activation::Disagreement`]: `u` does not activate `v` because their labels
//! are equal, while `v` is about to leave that label based on `u`'s old vote. In that case `v` activates
//! itself.

use super::active::Activated;
use super::state::{Choice, LpState, Scratch, Workspace};
use crate::hash::Clock;
use crate::rounds::{Finished, Rounds};
use crate::views::Context;
use crate::{
    Activation, Hints, Label, NO_LABEL, NeighborList, Round, RunError, Schedule, State, Vertex,
    Vote,
};
use ripplet_graph::storage::{ListParts, Listed};
use ripplet_graph::{Observer, VertexId};
use std::ops::Range;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;

pub(super) struct AsyncRounds<'a, P> {
    state: LpState<'a, P>,
    schedule: Schedule,
}

impl<'a, P: Hints> AsyncRounds<'a, P> {
    pub fn new(state: LpState<'a, P>, schedule: Schedule) -> Self {
        AsyncRounds { state, schedule }
    }

    /// Updates the active vertices of some words.
    fn update(
        &self,
        words: Range<usize>,
        clock: Clock,
        picks_less: bool,
        workspace: &mut Workspace,
    ) -> Round {
        let (state, Workspace { scratch, vertices, .. }) = (&self.state, workspace);
        state.active.take(words, vertices);
        self.meet();
        let mut tally = Round { visited: vertices.len() as u64, ..Round::default() };
        state.for_each(vertices, |_, v| {
            let choice = state.choose(v, clock, scratch);
            tally.count(choice);
            if !choice.redrafted && choice.label == choice.before {
                return;
            }
            if picks_less && choice.label > choice.before {
                state.active.insert(v.vertex);
            } else {
                tally.changed += 1;
                self.change(v, choice, clock, scratch);
            }
        });
        tally
    }

    /// Commits the choice of `v`, and activates the vertices that must be updated because of it.
    #[inline]
    fn change(&self, listed: Listed<'_>, choice: Choice, clock: Clock, scratch: &Scratch) {
        let (state, v, before) = (&self.state, listed.vertex, choice.before);
        let relabelled = choice.label != before;
        if choice.redrafted {
            state.columns.commit(v, scratch.draft.iter().copied());
        }
        if relabelled {
            state.commit(v, choice.label);
        }
        self.meet();
        let active = Activated::Shared(&state.active);
        state.activate_neighbors(listed, choice.label, relabelled, active);
        let may_be_missed =
            relabelled && self.is_shared() && state.activation() == Activation::Disagreement;
        if may_be_missed && state.is_overtaken(v, before, clock, scratch) {
            state.active.insert(v);
        }
    }

    /// A full fence between a vertex's store and its load of what other vertices store; needed for
    /// several threads only.
    #[inline]
    fn meet(&self) {
        if self.is_shared() {
            fence(SeqCst);
        }
    }

    fn is_shared(&self) -> bool {
        self.state.threads() > 1
    }
}

impl<P: Hints> LpState<'_, P> {
    /// Returns whether a neighbour of `v`, which just left the label `before`, would now vote
    /// differently than in the scratch, and has another label than `v`.
    fn is_overtaken(&self, v: VertexId, before: Label, clock: Clock, scratch: &Scratch) -> bool {
        /// Neighbours that are read at a time.
        const PART: usize = 32;
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let (vertex, now) = (Vertex { id: v, label: before, context }, self.label(v));
        let ballots = match &scratch.vote_sketch {
            None => scratch.votes.ballots(),
            Some(vote_sketch) => vote_sketch.ballots(),
        };
        let degree = self.lists.of(v).degree();
        if ballots.len() < degree as usize {
            // The scratch no longer has all votes: update the vertex again.
            return true;
        }
        let (mut ballots, mut overtaken) = (ballots.iter(), false);
        self.lists.of(v).each(|neighbors, weights| {
            for (part, ids) in neighbors.chunks(PART).enumerate() {
                let weights = weights.map(|weights| &weights[part * PART..][..ids.len()]);
                let mut votes = [Vote::default(); PART];
                let list = NeighborList { ids, weights, labels: &self.labels };
                self.program.load_neighbors(vertex, list, &mut votes[..ids.len()]);
                for ((&u, vote), then) in ids.iter().zip(votes).zip(ballots.by_ref()) {
                    // Votes for no label have weight 0 in the scratch.
                    let same = vote.label == then.label
                        && (vote.weight == then.weight || vote.label == NO_LABEL);
                    overtaken |= !same && self.label(u) != now;
                }
            }
        });
        overtaken
    }
}

impl<P: Hints> Rounds for AsyncRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.state.begin_round(index);
        let picks_less = self.schedule.is_pick_less(index);
        let round = self.state.for_active_words(observer, |words, workspace| {
            self.update(words, clock, picks_less, workspace)
        })?;
        self.state.end_round();
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        Ok(self.state.state())
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        Ok(self.state.finish())
    }
}
