//! A rank on the CPU: the part of a run that one of several executors performs.

use super::phased::PhasedRounds;
use super::state::LpState;
use super::synchronous::trace;
use crate::hash::{Clock, mix};
use crate::ranks::{CpuRank, RankStart, Update};
use crate::rounds::{Finished, Rounds};
use crate::{Hints, Label, Round, RunError, Settings, State};
use rayon::prelude::*;
use ripplet_graph::memory;
use ripplet_graph::{GraphView, Observer, OutOfMemory, VertexId};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// The fewest updates of other ranks that a task applies.
const PER_TASK: usize = 1 << 12;

/// A [`PhasedRounds`] whose active set is restricted to the rank's own vertices.
pub(super) struct PhasedRank<'a, P> {
    rounds: PhasedRounds<'a, P>,
    own: Range<VertexId>,
    /// The current phase.
    at: Option<(Clock, u32)>,
    /// The fingerprint of the rank's vertices, if the schedule detects oscillation.
    fingerprint: Option<u64>,
    /// The counts of the current round.
    round: Round,
}

impl<'a, P: Hints> PhasedRank<'a, P> {
    /// Creates the rank before the first round. A schedule other than
    /// `phased` has one phase, in which no vertex sees another's change.
    pub fn new(
        graph: GraphView<'a>,
        program: &'a P,
        settings: &Settings,
        start: RankStart,
    ) -> Result<Self, OutOfMemory> {
        let RankStart { own, fingerprint, totals } = start;
        let state = LpState::with_totals(graph, program, settings, totals)?;
        let rounds = PhasedRounds::of(own.clone(), state, settings.schedule)?;
        let fingerprint = settings.schedule.is_traced().then_some(fingerprint);
        let mut rank = PhasedRank { rounds, own, at: None, fingerprint, round: Round::default() };
        rank.take_frontier();
        Ok(rank)
    }

    /// Returns the change of the fingerprint in this phase.
    fn trace(&self) -> u64 {
        let parts = (0..self.rounds.parts()).into_par_iter();
        // A sum, so independent of order.
        parts.map(|part| self.trace_of(part)).reduce(|| 0, u64::wrapping_add)
    }

    /// Returns the change of the fingerprint by the updates of a part.
    fn trace_of(&self, part: usize) -> u64 {
        let state = &self.rounds.state;
        let mut print = 0u64;
        for Update { vertex: v, label, values } in self.rounds.updates_of(part) {
            let before = state.label(v);
            print = print.wrapping_add(trace(v, label)).wrapping_sub(trace(v, before));
            for (index, (value, next)) in state.columns.written(v).zip(values).enumerate() {
                let place = mix(v ^ mix(index as u32 + 1));
                let before = value.load(Relaxed);
                print = print.wrapping_add(trace(place, next)).wrapping_sub(trace(place, before));
            }
        }
        print
    }
}

impl<P: Hints> CpuRank for PhasedRank<'_, P> {
    fn begin_round(&mut self, round: u32) {
        self.at = Some((self.rounds.begin_round(round), 0));
        self.round = Round::default();
    }

    fn choose(&mut self, observer: &dyn Observer) -> Result<(), RunError> {
        let Some((clock, phase)) = self.at else { return Ok(()) };
        self.at = Some((clock, phase + 1));
        self.round = self.round.plus(self.rounds.choose(clock, phase, observer)?);
        if let Some(before) = self.fingerprint {
            self.fingerprint = Some(before.wrapping_add(self.trace()));
        }
        // Only after the fingerprint: a commit overwrites the labels and columns that it compares.
        self.rounds.commit();
        Ok(())
    }

    fn updates(&self) -> Vec<Update> {
        let parts = (0..self.rounds.parts()).into_par_iter();
        parts.flat_map_iter(|part| self.rounds.updates_of(part)).collect()
    }

    fn labels_before(&self) -> Vec<Label> {
        self.rounds.labels_before().collect()
    }

    fn apply_updates(&mut self, updates: Vec<Update>) {
        let state = &self.rounds.state;
        // Each vertex is updated once.
        updates.into_par_iter().with_min_len(PER_TASK).for_each(|update| {
            let Update { vertex, label, values } = update;
            if state.label(vertex) != label {
                state.commit(vertex, label);
            }
            state.columns.commit(vertex, values);
        });
    }

    fn set_totals(&mut self, totals: &[(Label, u32)]) {
        totals.iter().for_each(|&(label, total)| self.rounds.state.totals.set(label, total));
    }

    fn activate_neighbors(&mut self) {
        self.rounds.activate_neighbors();
    }

    fn take_frontier(&mut self) -> Vec<(usize, u64)> {
        let active = &mut self.rounds.state.active;
        let words = self.own.start as usize / 64..(self.own.end as usize).div_ceil(64);
        let mut others = Vec::new();
        let words_before = active.state().to_vec();
        for (number, bits) in words_before.into_iter().enumerate() {
            // An empty range has no words, whatever its start.
            let is_own = !self.own.is_empty() && words.contains(&number);
            if bits != 0 && !is_own {
                active.take(number..number + 1, &mut Vec::new());
                others.push((number, bits));
            }
        }
        others
    }

    fn apply_frontier(&mut self, words: Vec<(usize, u64)>) {
        for (number, bits) in words {
            let first = number as u32 * 64;
            let set = (0..64).filter(|bit| bits >> bit & 1 == 1);
            set.for_each(|bit| self.rounds.state.active.insert(first + bit));
        }
    }

    fn end_round(&mut self) -> Round {
        self.rounds.state.end_round();
        self.take_frontier();
        Round { fingerprint: self.fingerprint, ..self.round }
    }

    fn state(&mut self) -> State<'_> {
        self.rounds.state.state()
    }

    fn own_vertices(&mut self) -> Result<Vec<u32>, OutOfMemory> {
        let state = &self.rounds.state;
        let own = self.own.clone();
        let mut words = memory::with_room(own.len() * (1 + state.columns.draft_len()))?;
        for v in own {
            words.push(state.label(v));
            words.extend(state.columns.written(v).map(|value| value.load(Relaxed)));
        }
        Ok(words)
    }

    fn replace_vertices(&mut self, first: VertexId, words: &[u32]) {
        let state = &self.rounds.state;
        let records = words.chunks_exact(1 + state.columns.draft_len());
        for (v, record) in (first..).zip(records) {
            let [label, values @ ..] = record else { continue };
            state.labels[v as usize].store(*label, Relaxed);
            state.columns.commit(v, values.iter().copied());
        }
    }

    fn finish(self: Box<Self>) -> Result<Finished, RunError> {
        Box::new(self.rounds).finish()
    }
}
