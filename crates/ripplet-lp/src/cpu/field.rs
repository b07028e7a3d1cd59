//! The state of a run, and what is done with one vertex: choose, commit, wake.

use super::active::ActiveSet;
use super::votes::Votes;
use crate::hash::{Clock, Stream, mix};
use crate::{Candidate, Label, LabelTotal, Neighbor, Program, Score, Settings, Ties, Vertex, Wake};
use rayon::prelude::*;
use ripplet_graph::{Graph, VertexId};
use std::collections::TryReserveError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// The state of a run.
pub(super) struct Field<'a, P> {
    pub graph: &'a Graph,
    pub program: &'a P,
    pub labels: Vec<AtomicU32>,
    pub active: ActiveSet,
    totals: Totals,
    ties: Ties,
    seed: u64,
    /// One table a thread, so that no lock is ever waited for.
    votes: Vec<Mutex<Votes>>,
}

/// What the program wants kept for every label.
struct Totals {
    of_label: Vec<AtomicU32>,
    grand: u64,
    /// What a vertex adds to its label's total.
    share: Share,
}

#[derive(Clone, Copy)]
enum Share {
    Nothing,
    One,
    /// The vertex's weighted degree in units of 2^shift, rounded by a hash.
    Strength {
        shift: u32,
        key: u32,
    },
}

impl<'a, P: Program> Field<'a, P> {
    /// The field before the first round: every vertex active, with its initial label.
    pub fn new(
        graph: &'a Graph,
        program: &'a P,
        settings: &Settings,
    ) -> Result<Self, TryReserveError> {
        let mut labels = Vec::new();
        labels.try_reserve_exact(graph.vertices() as usize)?;
        match &settings.initial {
            Some(initial) => labels.par_extend(initial.par_iter().map(|&l| AtomicU32::new(l))),
            None => labels.par_extend((0..graph.vertices()).into_par_iter().map(AtomicU32::new)),
        }
        let mut field = Field {
            graph,
            program,
            labels,
            active: ActiveSet::all(graph.vertices())?,
            totals: Totals { of_label: Vec::new(), grand: 0, share: Share::Nothing },
            ties: settings.schedule.ties,
            seed: settings.seed,
            votes: (0..rayon::current_num_threads()).map(|_| Mutex::new(Votes::new())).collect(),
        };
        field.begin_totals()?;
        Ok(field)
    }

    fn begin_totals(&mut self) -> Result<(), TryReserveError> {
        let vertices = 0..self.graph.vertices();
        self.totals.share = match self.program.label_total() {
            LabelTotal::None => return Ok(()),
            LabelTotal::Members => Share::One,
            LabelTotal::Volume => {
                let all: u64 = vertices.clone().into_par_iter().map(|v| self.strength(v)).sum();
                // Exact while the sum fits 32 bits; else half of that, as rounding may add a little.
                let shift = if all <= u64::from(u32::MAX) { 0 } else { 33 - all.leading_zeros() };
                Share::Strength { shift, key: Clock::new(self.seed, 0).key(Stream::Volume as u32) }
            }
        };
        let mut of_label = Vec::new();
        of_label.try_reserve_exact(vertices.len())?;
        of_label.par_extend(vertices.clone().into_par_iter().map(|_| AtomicU32::new(0)));
        self.totals.grand = vertices
            .into_par_iter()
            .map(|v| {
                let share = self.share(v);
                of_label[self.label(v) as usize].fetch_add(share, Relaxed);
                u64::from(share)
            })
            .sum();
        self.totals.of_label = of_label;
        Ok(())
    }

    /// Calls `task` with this thread's vote table.
    pub fn with_votes<T>(&self, task: impl FnOnce(&mut Votes) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        // A task that panicked leaves a table behind that must not be used again; nor will it be,
        // as the panic ends the run.
        let mut votes = self.votes[thread].lock().unwrap_or_else(PoisonError::into_inner);
        task(&mut votes)
    }

    /// The clock of a round.
    pub fn clock(&self, round: u32) -> Clock {
        Clock::new(self.seed, round)
    }

    #[inline]
    pub fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize].load(Relaxed)
    }

    /// The label that `v` has after this round, by the labels that are there now; and the arcs
    /// that were counted for it.
    #[inline]
    pub fn choose(&self, v: VertexId, clock: Clock, votes: &mut Votes) -> (Label, u64) {
        let shard = self.graph.shard_of(v);
        let local = (v - shard.vertices().start) as usize;
        let vertex = self.vertex(v, clock);
        let degree = shard.degree(local);
        votes.begin(degree);
        for list in shard.lists() {
            let neighbors = list.of(local);
            match list.weights_of(local) {
                None => neighbors.iter().for_each(|&u| votes.add(self.vote(vertex, u, 1))),
                Some(weights) => {
                    let pairs = neighbors.iter().zip(weights);
                    pairs.for_each(|(&u, &w)| votes.add(self.vote(vertex, u, w)));
                }
            }
        }
        (self.best(vertex, votes), degree)
    }

    #[inline]
    fn vertex(&self, v: VertexId, clock: Clock) -> Vertex<'a> {
        Vertex { id: v, label: self.label(v), clock, graph: self.graph }
    }

    #[inline]
    fn vote(&self, v: Vertex<'_>, u: VertexId, weight: u32) -> crate::Vote {
        let label = self.program.pick_label(self.vertex(u, v.clock));
        self.program.load_neighbor(v, Neighbor { id: u, label, weight })
    }

    /// The label that wins the votes; empties the table.
    #[inline]
    fn best(&self, v: Vertex<'_>, votes: &mut Votes) -> Label {
        let cast = votes.cast();
        let key = v.id_key();
        let mut best: Option<(P::Score, u32, Label)> = None;
        votes.drain(|label, frequency| {
            let tie = match self.ties {
                Ties::Hashed => mix(label ^ key),
                Ties::Smallest => label,
            };
            let beats = |score: P::Score| match best {
                None => score.is_eligible(),
                Some((top, top_tie, _)) => score > top || (score == top && tie < top_tie),
            };
            if frequency == 0 || !beats(self.program.score_bound(frequency)) {
                return;
            }
            let total = self.totals.of_label.get(label as usize).map_or(0, |t| t.load(Relaxed));
            let grand_total = self.totals.grand;
            let candidate = Candidate { label, frequency, cast, total, grand_total };
            let score = self.program.label_score(v, candidate);
            if beats(score) {
                best = Some((score, tie, label));
            }
        });
        best.map_or(v.label, |(score, _, label)| self.program.update_vertex(v, label, score))
    }

    /// Moves `v` from its label to `next`.
    #[inline]
    pub fn commit(&self, v: VertexId, next: Label) {
        let before = self.labels[v as usize].swap_relaxed(next);
        self.shift_total(v, before, next);
    }

    /// Moves what `v` adds to label totals.
    #[inline]
    pub fn shift_total(&self, v: VertexId, from: Label, to: Label) {
        if !self.totals.of_label.is_empty() {
            let share = self.share(v);
            self.totals.of_label[from as usize].fetch_sub(share, Relaxed);
            self.totals.of_label[to as usize].fetch_add(share, Relaxed);
        }
    }

    /// Activates those who must look again because `v` has changed to `label`.
    #[inline]
    pub fn wake_neighbors(&self, v: VertexId, label: Label) {
        let shard = self.graph.shard_of(v);
        let local = (v - shard.vertices().start) as usize;
        for list in shard.lists() {
            for &u in list.of(local) {
                let must = match P::WAKE {
                    Wake::Disagreement => !self.active.contains(u) && self.label(u) != label,
                    Wake::Change => !self.active.contains(u),
                    Wake::Always => false,
                };
                if must {
                    self.active.insert(u);
                }
            }
        }
    }

    /// Ends a round: where the program wants it, everybody is active again.
    pub fn end_round(&self) {
        if P::WAKE == Wake::Always {
            self.active.insert_all(self.graph.vertices());
        }
    }

    /// The summed weights of the arcs that touch `v`.
    fn strength(&self, v: VertexId) -> u64 {
        let shard = self.graph.shard_of(v);
        let local = (v - shard.vertices().start) as usize;
        let of_list = |list: ripplet_graph::Neighbors<'_>| match list.weights_of(local) {
            Some(weights) => weights.iter().map(|&w| u64::from(w)).sum(),
            None => u64::from(list.degree(local)),
        };
        shard.lists().map(of_list).sum()
    }

    /// What `v` adds to the total of its label.
    #[inline]
    fn share(&self, v: VertexId) -> u32 {
        match self.totals.share {
            Share::Nothing => 0,
            Share::One => 1,
            Share::Strength { shift: 0, .. } => self.strength(v) as u32,
            Share::Strength { shift, key } => {
                let dither = u64::from(mix(v ^ key)) & ((1 << shift) - 1);
                ((self.strength(v) + dither) >> shift) as u32
            }
        }
    }

    /// Gives the labels back.
    pub fn into_labels(self) -> Vec<Label> {
        self.labels.into_iter().map(AtomicU32::into_inner).collect()
    }
}

impl Vertex<'_> {
    /// What a label is mixed with to draw its rank in a tie.
    #[inline]
    fn id_key(&self) -> u32 {
        mix(self.id ^ self.clock.key(Stream::Tie as u32))
    }
}

/// `swap` without its bus lock: for places that one thread at a time writes.
trait SwapRelaxed {
    fn swap_relaxed(&self, next: u32) -> u32;
}

impl SwapRelaxed for AtomicU32 {
    #[inline]
    fn swap_relaxed(&self, next: u32) -> u32 {
        let before = self.load(Relaxed);
        self.store(next, Relaxed);
        before
    }
}
