//! The state of a run, and what is done with one vertex: choose, commit, wake.

use super::active::ActiveSet;
use super::lists::Lists;
use super::totals::Totals;
use super::votes::{Count, Votes};
use crate::hash::{Clock, Stream, mix};
use crate::program::Total;
use crate::rounds::Observer;
use crate::{
    Candidate, Label, Neighbor, Program, Round, RunError, Score, Settings, Ties, Vertex, Vote, Wake,
};
use rayon::prelude::*;
use ripplet_graph::{Graph, VertexId};
use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// The state of a run.
pub(super) struct Field<'a, P> {
    graph: &'a Graph,
    program: &'a P,
    lists: Lists<'a>,
    pub labels: Vec<AtomicU32>,
    pub active: ActiveSet,
    totals: Totals,
    ties: Ties,
    seed: u64,
    /// One a thread, so that no lock is ever waited for.
    desks: Vec<Mutex<Desk>>,
}

/// What one thread works with.
#[derive(Default)]
pub(super) struct Desk {
    pub votes: Votes,
    pub vertices: Vec<VertexId>,
}

impl Desk {
    /// Vertices that a task works on at most; a phase's tasks and words of the active set keep to it.
    pub const VERTICES: usize = 512;

    /// Bytes that are occupied once a vertex of this degree was counted.
    pub fn bytes_for(max_degree: u64) -> u64 {
        Votes::bytes_for(max_degree) + (Self::VERTICES * size_of::<VertexId>()) as u64
    }
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
        let lists = Lists::new(graph);
        let totals = Totals::new(program.label_total(), &lists, &labels, settings.seed)?;
        Ok(Field {
            graph,
            program,
            lists,
            labels,
            active: ActiveSet::all(graph.vertices())?,
            totals,
            ties: settings.schedule.ties,
            seed: settings.seed,
            desks: (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect(),
        })
    }

    /// Calls `task` with this thread's desk.
    pub fn at_desk<T>(&self, task: impl FnOnce(&mut Desk) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        // A task that panicked leaves a table behind that must not be used again; nor will it be,
        // as the panic ends the run.
        let mut desk = self.desks[thread].lock().unwrap_or_else(PoisonError::into_inner);
        task(&mut desk)
    }

    /// Calls `act` with some words of the active set at a time, on all threads, and adds up what it
    /// counts.
    pub fn for_active_words(
        &self,
        observer: &dyn Observer,
        act: impl Fn(Range<usize>, &mut Desk) -> Round + Sync,
    ) -> Result<Round, RunError> {
        const WORDS: usize = Desk::VERTICES / 64;
        let words = self.active.words();
        (0..words.div_ceil(WORDS))
            .into_par_iter()
            .map(|task| {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                let part = task * WORDS..(task * WORDS + WORDS).min(words);
                Ok(self.at_desk(|desk| act(part, desk)))
            })
            .try_reduce(Round::default, |a, b| Ok(a.plus(b)))
    }

    /// The clock of a round.
    pub fn clock(&self, round: u32) -> Clock {
        Clock::new(self.seed, round)
    }

    #[inline]
    pub fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize].load(Relaxed)
    }

    /// Calls `visit` for each vertex in turn, with its index, and fetches ahead what
    /// [`Field::choose`] will read.
    #[inline]
    pub fn for_each(&self, vertices: &[VertexId], visit: impl FnMut(usize, VertexId)) {
        self.lists.ahead(vertices, Some(&self.labels), visit);
    }

    /// Calls `visit` for each vertex in turn, with its index, and fetches ahead what
    /// [`Field::wake_neighbors`] will read: lists, but rarely labels.
    #[inline]
    pub fn for_each_changed(&self, vertices: &[VertexId], visit: impl FnMut(usize, VertexId)) {
        self.lists.ahead(vertices, None, visit);
    }

    /// The label that `v` has after this round, by the labels that are there now; and the arcs
    /// that were counted for it.
    #[inline]
    pub fn choose(&self, v: VertexId, clock: Clock, votes: &mut Votes) -> (Label, u64) {
        let place = self.lists.of(v);
        let vertex = self.vertex(v, clock);
        let degree = place.degree();
        votes.begin(degree as usize);
        place.each(|neighbors, weights| {
            let neighbors = neighbors.iter();
            match weights {
                None => votes.collect(neighbors.map(|&u| self.vote(vertex, u, 1))),
                Some(weights) => {
                    votes.collect(neighbors.zip(weights).map(|(&u, &w)| self.vote(vertex, u, w)))
                }
            }
        });
        (self.best(vertex, votes), degree)
    }

    #[inline]
    fn vertex(&self, v: VertexId, clock: Clock) -> Vertex<'a> {
        Vertex { id: v, label: self.label(v), clock, graph: self.graph }
    }

    #[inline]
    fn vote(&self, v: Vertex<'_>, u: VertexId, weight: u32) -> Vote {
        let label = self.program.pick_label(self.vertex(u, v.clock));
        self.program.load_neighbor(v, Neighbor { id: u, label, weight })
    }

    /// The label that wins the votes.
    ///
    /// Three steps, each for what the one before leaves open. Most vertices keep a label that most
    /// of their neighbours have: then all others together cannot beat it, and nobody needs to know
    /// how many votes each of them got. Nearly always else one of the most frequent labels wins, so
    /// only they are looked at; all others only where the program's bound does not rule them out.
    #[inline]
    fn best(&self, v: Vertex<'_>, votes: &mut Votes) -> Label {
        let own = votes.count_one(v.label);
        if own.top > 0 {
            let score = self.score(v, v.label, own.top, own, self.totals.kept());
            if score.is_eligible() && score > self.program.score_bound(own.cast - own.top) {
                return self.program.update_vertex(v, v.label, score);
            }
        }
        let count = votes.count();
        if count.top == 0 {
            return v.label;
        }
        let leader = match self.ties {
            Ties::Hashed => {
                let key = tie_key(v);
                votes.leaders(count.top).min_by_key(|&label| mix(label ^ key))
            }
            Ties::Smallest => votes.leaders(count.top).min(),
        };
        let leader = leader.unwrap_or(v.label);
        let bound = |frequency| self.program.score_bound(frequency);
        let wins = |score: P::Score| {
            score.is_eligible() && score >= bound(count.top) && score > bound(count.top - 1)
        };
        let scored = |total| self.score(v, leader, count.top, count, total);
        let mut score =
            scored(if P::FALLS_WITH_TOTAL { self.totals.at_most() } else { self.totals.kept() });
        if P::FALLS_WITH_TOTAL && !wins(score) {
            score = scored(self.totals.kept());
        }
        if wins(score) {
            return self.program.update_vertex(v, leader, score);
        }
        self.best_of_all(v, votes, count)
    }

    /// The label that wins the votes, each label looked at.
    #[cold]
    fn best_of_all(&self, v: Vertex<'_>, votes: &mut Votes, count: Count) -> Label {
        let key = tie_key(v);
        let rank_of = |label| match self.ties {
            Ties::Hashed => mix(label ^ key),
            Ties::Smallest => label,
        };
        let mut best: Option<(P::Score, u32, Label)> = None;
        for (label, frequency) in votes.all().filter(|(_, frequency)| *frequency > 0) {
            let rank = rank_of(label);
            let beats = |score: P::Score| match best {
                None => score.is_eligible(),
                Some((top, top_rank, _)) => score > top || (score == top && rank < top_rank),
            };
            if !beats(self.program.score_bound(frequency)) {
                continue;
            }
            let score = self.score(v, label, frequency, count, self.totals.kept());
            if beats(score) {
                best = Some((score, rank, label));
            }
        }
        best.map_or(v.label, |(score, _, label)| self.program.update_vertex(v, label, score))
    }

    #[inline]
    fn score(
        &self,
        v: Vertex<'_>,
        label: Label,
        frequency: u64,
        count: Count,
        total: Total<'_>,
    ) -> P::Score {
        let (cast, grand_total) = (count.cast, self.totals.grand);
        self.program.label_score(v, Candidate { label, frequency, cast, grand_total, total })
    }

    /// Moves `v`, which no other thread moves, from its label to `next`.
    #[inline]
    pub fn commit(&self, v: VertexId, next: Label) {
        let before = self.label(v);
        self.labels[v as usize].store(next, Relaxed);
        self.shift_total(v, before, next);
    }

    /// Fetches what [`Field::commit`] will write.
    #[inline]
    pub fn fetch_commit(&self, v: VertexId, next: Label) {
        self.totals.fetch(self.label(v), next);
    }

    /// Moves what `v` adds to label totals.
    #[inline]
    pub fn shift_total(&self, v: VertexId, from: Label, to: Label) {
        self.totals.shift(v, &self.lists, from, to);
    }

    /// Activates those who must look again because `v` has changed to `label`.
    #[inline]
    pub fn wake_neighbors(&self, v: VertexId, label: Label) {
        self.lists.of(v).each(|neighbors, _| {
            for &u in neighbors {
                let must = match P::WAKE {
                    Wake::Disagreement => !self.active.contains(u) && self.label(u) != label,
                    Wake::Change => !self.active.contains(u),
                    Wake::Always => false,
                };
                if must {
                    self.active.insert(u);
                }
            }
        });
    }

    /// Ends a round: where the program wants it, everybody is active again.
    pub fn end_round(&self) {
        if P::WAKE == Wake::Always {
            self.active.insert_all(self.labels.len() as u32);
        }
    }

    /// Gives the labels back.
    pub fn into_labels(self) -> Vec<Label> {
        self.labels.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// What a label is mixed with to draw its rank in a tie at `v`.
#[inline]
fn tie_key(v: Vertex<'_>) -> u32 {
    mix(v.id ^ v.clock.key(Stream::Tie as u32))
}
