//! The `sync` schedule: every active vertex chooses by the labels of the round before.
//!
//! ```text
//! choose   labels ──▶ next     all active vertices; the labels of the others are copied
//! swap     labels ◀─▶ next
//! settle   where the two differ: move totals, activate neighbours
//! ```
//!
//! Written columns are drafted in a second array and committed when the round settles.

use super::active::Activated;
use super::drafts::Drafts;
use super::state::{LpState, Workspace};
use crate::hash::{Clock, mix};
use crate::rounds::{Finished, Rounds};
use crate::{Hints, Label, Round, RunError, State};
use rayon::prelude::*;
use ripplet_graph::Observer;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::tasks::MIN_LEN;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

pub(super) struct SyncRounds<'a, P> {
    pub state: LpState<'a, P>,
    next: Vec<AtomicU32>,
    /// A draft per vertex, which equals its columns between rounds.
    drafts: Drafts,
    fingerprint: u64,
}

impl<'a, P: Hints> SyncRounds<'a, P> {
    /// Creates rounds that continue from this fingerprint.
    pub fn new(state: LpState<'a, P>, fingerprint: u64) -> Result<Self, OutOfMemory> {
        let next = copy_of(&state.labels)?;
        let drafts = Drafts::new(next.len(), state.columns.draft_len())?;
        drafts.copy_all(&state.columns);
        Ok(SyncRounds { state, next, drafts, fingerprint })
    }

    /// Chooses labels for the active vertices of some words, and makes these inactive.
    fn choose(&self, words: Range<usize>, clock: Clock, workspace: &mut Workspace) -> Round {
        self.keep_labels(words.clone());
        self.choose_active(words, clock, workspace)
    }

    /// Copies the labels of the vertices of some words to the next ones.
    pub fn keep_labels(&self, words: Range<usize>) {
        let all = words.start * 64..(words.end * 64).min(self.next.len());
        for v in all {
            self.next[v].store(self.state.label(v as u32), Relaxed);
        }
    }

    /// Chooses labels for the active vertices of some words, like [`SyncRounds::choose`], without
    /// copying the others' labels.
    #[inline]
    pub fn choose_active(
        &self,
        words: Range<usize>,
        clock: Clock,
        workspace: &mut Workspace,
    ) -> Round {
        let Workspace { scratch, vertices, .. } = workspace;
        self.state.active.take(words, vertices);
        let mut tally = Round { visited: vertices.len() as u64, ..Round::default() };
        self.state.for_each(vertices, |_, v| {
            let choice = self.state.choose(v, clock, scratch);
            self.next[v.vertex as usize].store(choice.label, Relaxed);
            if choice.redrafted {
                self.drafts.put(v.vertex as usize, &scratch.draft);
            }
            tally.count(choice);
        });
        tally
    }

    /// Commits the choices and activates neighbours; returns the number of vertices that changed.
    pub fn commit(&mut self) -> u64 {
        std::mem::swap(&mut self.state.labels, &mut self.next);
        let vertices = self.next.len();
        let (changed, print) = (AtomicU64::new(0), AtomicU64::new(self.fingerprint));
        ripplet_graph::tasks::for_each_range(vertices, Workspace::VERTICES, &|part| {
            let settled = self.state.with_workspace(|workspace| self.settle(part, workspace));
            changed.fetch_add(settled.0, Relaxed);
            print.fetch_add(settled.1, Relaxed);
        });
        self.state.end_round();
        self.fingerprint = print.into_inner();
        changed.into_inner()
    }

    /// Settles a range of vertices after the swap, when `next` has the old labels. Returns the
    /// number of changes and their fingerprint.
    fn settle(&self, part: Range<usize>, workspace: &mut Workspace) -> (u64, u64) {
        let before = |v: u32| self.next[v as usize].load(Relaxed);
        let relabelled = |v: u32| before(v) != self.state.label(v);
        let changed = |v: &u32| relabelled(*v) || self.redrafted(*v);
        workspace.vertices.clear();
        workspace.vertices.extend((part.start as u32..part.end as u32).filter(changed));
        let mut print = 0u64;
        self.state.for_each_changed(&workspace.vertices, |_, listed| {
            let v = listed.vertex;
            let (before, now) = (before(v), self.state.label(v));
            self.state.shift_total(v, before, now);
            let active = Activated::Shared(&self.state.active);
            self.state.activate_neighbors(listed, now, before != now, active);
            print = print.wrapping_add(trace(v, now)).wrapping_sub(trace(v, before));
            print = print.wrapping_add(self.commit_draft(v));
        });
        (workspace.vertices.len() as u64, print)
    }

    /// Returns whether a vertex's columns are about to change.
    #[inline]
    fn redrafted(&self, v: u32) -> bool {
        let columns = &self.state.columns;
        let drafted = || columns.written(v).zip(self.drafts.get(v as usize));
        columns.draft_len() > 0 && drafted().any(|(value, next)| value.load(Relaxed) != next)
    }

    /// Commits a vertex's draft; returns the change of the fingerprint.
    #[inline]
    fn commit_draft(&self, v: u32) -> u64 {
        let mut print = 0u64;
        for (index, (value, next)) in
            self.state.columns.written(v).zip(self.drafts.get(v as usize)).enumerate()
        {
            // Each value of a column has its own key in the fingerprint.
            let place = mix(v ^ mix(index as u32 + 1));
            let before = value.swap(next, Relaxed);
            print = print.wrapping_add(trace(place, next)).wrapping_sub(trace(place, before));
        }
        print
    }
}

impl<P: Hints> Rounds for SyncRounds<'_, P> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        let clock = self.state.begin_round(index);
        let mut round = self
            .state
            .for_active_words(observer, |words, workspace| self.choose(words, clock, workspace))?;
        round.changed = self.commit();
        round.fingerprint = Some(self.fingerprint);
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        Ok(self.state.state())
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        drop((self.next, self.drafts));
        Ok(self.state.finish())
    }
}

/// Returns a copy of the labels.
fn copy_of(labels: &[AtomicU32]) -> Result<Vec<AtomicU32>, OutOfMemory> {
    let mut copy = memory::with_room(labels.len())?;
    copy.par_extend(
        labels.par_iter().with_min_len(MIN_LEN).map(|label| AtomicU32::new(label.load(Relaxed))),
    );
    Ok(copy)
}

/// Returns the contribution of one vertex to the fingerprint, which is a sum and so independent of
/// order.
pub(super) fn trace(v: u32, label: Label) -> u64 {
    u64::from(mix(v ^ mix(label))) << 32 | u64::from(mix(label ^ mix(!v)))
}
