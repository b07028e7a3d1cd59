//! The state of a run, and the steps of updating one vertex: choose, commit, activate neighbours.

use super::active::ActiveSet;
use super::sketch::{CHUNK, Candidates, VoteSketch};
use super::totals::Totals;
use super::votes::{Count, Votes, count_one};
use crate::columns::Columns;
use crate::counter::{Sketch, Start};
use crate::hash::{Clock, Stream, mix};
use crate::rounds::{Finished, Observer};
use crate::views::{Context, Total};
use crate::{
    Activation, Candidate, Hints, Label, NO_LABEL, NeighborList, Round, RunError, Score, Settings,
    State, Ties, Vertex, VertexMut, Vote,
};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::storage::{EitherParts, ListParts, VertexLists};
use ripplet_graph::{GraphView, VertexId, as_plain, dispatch_parts};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// `LpState`: the state of a run on the CPU.
pub(super) struct LpState<'a, P> {
    pub graph: GraphView<'a>,
    pub program: &'a P,
    pub lists: VertexLists<'a>,
    pub labels: Vec<AtomicU32>,
    pub active: ActiveSet,
    pub columns: Columns,
    pub totals: Totals,
    ties: Ties,
    sketch: Option<Sketch>,
    /// The key that ranks labels in ties, in the current round.
    tie_key: u32,
    seed: u64,
    /// A workspace per thread, so that its lock is never contended.
    workspaces: Vec<Mutex<Workspace>>,
}

/// `Workspace`: the workspace of a thread.
#[derive(Default)]
pub(super) struct Workspace {
    pub scratch: Scratch,
    pub vertices: Vec<VertexId>,
}

/// `Scratch`: scratch for the vertex that is being updated.
#[derive(Default)]
pub(super) struct Scratch {
    votes: Votes,
    /// The sketch, used instead of `votes` if the counter is one; created for the first vertex.
    vote_sketch: Option<VoteSketch>,
    /// The new values of the vertex's written columns, column by column.
    pub draft: Vec<u32>,
}

/// The result of updating a vertex.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// The label before.
    pub before: Label,
    /// The label after.
    pub label: Label,
    /// Whether the draft in the scratch differs from the vertex's columns and is to be committed.
    pub redrafted: bool,
    /// The arcs whose votes were counted.
    pub arcs: u64,
    /// Whether a label's score was NaN.
    pub nan: bool,
}

impl Round {
    /// Adds a vertex's choice to the round's counts.
    #[inline]
    pub(super) fn count(&mut self, choice: Choice) {
        self.scanned += choice.arcs;
        self.nan_scores += u64::from(choice.nan);
    }
}

/// The new state of a vertex.
#[derive(Clone, Copy)]
struct Next {
    label: Label,
    /// Whether the draft in the scratch differs from the columns.
    redrafted: bool,
    nan: bool,
}

/// The winning label of a vertex's votes, if any, and whether a score was NaN.
struct Best<S> {
    winner: Option<Winner<S>>,
    nan: bool,
}

/// The winning label of a vertex's votes.
struct Winner<S> {
    label: Label,
    frequency: u64,
    /// `cast`: the total votes of the vertex.
    cast: u64,
    score: S,
}

impl Workspace {
    /// The most vertices of a task; tasks of a phase and of words of the active set observe it.
    pub const VERTICES: usize = 512;

    /// Returns the bytes of a workspace with `votes` bytes of vote counters and drafts of
    /// `draft_len` values.
    pub fn bytes_for(votes: u64, draft_len: u64) -> u64 {
        let vertices = (Self::VERTICES * size_of::<VertexId>()) as u64;
        let draft = draft_len.saturating_mul(size_of::<u32>() as u64);
        votes.saturating_add(vertices).saturating_add(draft)
    }
}

impl<'a, P: Hints> LpState<'a, P> {
    /// Creates the state before the first round: all vertices active with their initial labels, or
    /// the state of the checkpoint.
    pub fn new(
        graph: GraphView<'a>,
        program: &'a P,
        settings: &Settings,
    ) -> Result<Self, OutOfMemory> {
        let mut labels = memory::with_room(graph.vertices() as usize)?;
        let resume = settings.resume.as_ref();
        let initial = resume.map(|checkpoint| &*checkpoint.labels).or(settings.initial.as_deref());
        match initial {
            Some(initial) => labels.par_extend(initial.par_iter().map(|&l| AtomicU32::new(l))),
            None => labels.par_extend((0..graph.vertices()).into_par_iter().map(AtomicU32::new)),
        }
        let lists = VertexLists::new(graph);
        let totals = Totals::new(program.label_total(), &lists, &labels, settings.seed)?;
        let specs = if program.has_columns() { program.columns() } else { Vec::new() };
        let columns = Columns::new(&specs, settings, graph.vertices())?;
        let active = match resume {
            Some(checkpoint) => ActiveSet::of(&checkpoint.active)?,
            None => ActiveSet::all(graph.vertices())?,
        };
        Ok(LpState {
            graph,
            program,
            lists,
            labels,
            active,
            columns,
            totals,
            ties: settings.schedule.ties,
            sketch: settings.counter.sketch(),
            tie_key: 0,
            seed: settings.seed,
            workspaces: (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect(),
        })
    }

    /// Calls `task` with this thread's workspace.
    pub fn with_workspace<T>(&self, task: impl FnOnce(&mut Workspace) -> T) -> T {
        let thread = rayon::current_thread_index().unwrap_or(0);
        // A poisoned workspace may hold a damaged table. It is not used again: the panic ends the
        // run.
        let mut workspace = self.workspaces[thread].lock().unwrap_or_else(PoisonError::into_inner);
        task(&mut workspace)
    }

    /// Calls `act` with ranges of words of the active set, on all threads, and returns the sum of
    /// the counts.
    pub fn for_active_words(
        &self,
        observer: &dyn Observer,
        act: impl Fn(Range<usize>, &mut Workspace) -> Round + Sync,
    ) -> Result<Round, RunError> {
        const WORDS: usize = Workspace::VERTICES / 64;
        let words = self.active.words();
        (0..words.div_ceil(WORDS))
            .into_par_iter()
            .map(|task| {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled);
                }
                let part = task * WORDS..(task * WORDS + WORDS).min(words);
                Ok(self.with_workspace(|workspace| act(part, workspace)))
            })
            .try_reduce(Round::default, |a, b| Ok(a.plus(b)))
    }

    /// Begins a round; returns its clock.
    pub fn begin_round(&mut self, round: u32) -> Clock {
        let clock = Clock::new(self.seed, round);
        self.tie_key = clock.key(Stream::Tie as u32);
        clock
    }

    #[inline]
    pub fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize].load(Relaxed)
    }

    /// Calls `visit` for each vertex with its index, and prefetches what [`LpState::choose`] reads.
    #[inline]
    pub fn for_each(&self, vertices: &[VertexId], visit: impl FnMut(usize, VertexId)) {
        self.lists.for_each_prefetched(vertices, Some(&self.labels), visit);
    }

    /// Calls `visit` for each vertex with its index, and prefetches what [`LpState::activate_neighbors`]
    /// reads: lists, but rarely labels.
    #[inline]
    pub fn for_each_changed(&self, vertices: &[VertexId], visit: impl FnMut(usize, VertexId)) {
        self.lists.for_each_prefetched(vertices, None::<&[u32]>, visit);
    }

    /// Returns the choice of `v` by the current labels.
    #[inline]
    pub fn choose(&self, v: VertexId, clock: Clock, scratch: &mut Scratch) -> Choice {
        if let Some(sketch) = self.sketch {
            return self.choose_by_sketch(v, sketch, clock, scratch);
        }
        dispatch_parts!(&self.lists, v, parts => {
            parts.apart(|parts| self.choose_exactly(v, parts, clock, scratch))
        })
    }

    #[inline(always)]
    fn choose_exactly(
        &self,
        v: VertexId,
        adjacency: impl ListParts,
        clock: Clock,
        scratch: &mut Scratch,
    ) -> Choice {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = self.vertex(v, context);
        let degree = adjacency.degree();
        let ballots = scratch.votes.begin(degree as usize);
        let mut room = &mut *ballots;
        adjacency.each(|neighbors, weights| {
            let list = NeighborList { ids: neighbors, weights, labels: &self.labels };
            let (here, rest) = std::mem::take(&mut room).split_at_mut(neighbors.len());
            self.program.load_neighbors(vertex, list, here);
            room = rest;
        });
        let before = vertex.label;
        let next = match self.kept(vertex, count_one(ballots, before)) {
            Some(winner) => self.adopt_counted(vertex, winner, scratch),
            None => self.contest((v, before), clock, scratch),
        };
        Choice {
            before,
            label: next.label,
            redrafted: self.program.has_columns() && next.redrafted,
            arcs: degree,
            nan: P::Score::HAS_NAN && next.nan,
        }
    }

    /// Applies the winning label to the vertex; the votes are in the scratch.
    #[inline]
    fn adopt_counted(
        &self,
        vertex: Vertex<'_>,
        winner: Winner<P::Score>,
        scratch: &mut Scratch,
    ) -> Next {
        let carried = match self.program.carries() {
            true => self.carried(vertex, winner.label, scratch.votes.ballots()),
            false => 0.0,
        };
        self.adopt(vertex, winner, carried, &mut scratch.draft)
    }

    /// Applies the winning label to the vertex.
    #[inline]
    fn adopt(
        &self,
        vertex: Vertex<'_>,
        winner: Winner<P::Score>,
        carried: f32,
        draft: &mut Vec<u32>,
    ) -> Next {
        if self.program.has_columns() {
            self.columns.begin_draft(vertex.id, draft);
        }
        let Winner { frequency, cast, .. } = winner;
        let (v, before) = (vertex.id, vertex.label);
        let mut vertex = VertexMut { vertex, draft, carried, frequency, cast };
        let label = self.program.update_vertex(&mut vertex, winner.label, winner.score);
        let label = if label == before { before } else { self.known(label) };
        let redrafted = self.program.has_columns() && self.columns.differ(v, draft);
        Next { label, redrafted, nan: false }
    }

    /// Returns the label, or [`NO_LABEL`] if it is not a vertex.
    #[inline]
    fn known(&self, label: Label) -> Label {
        if (label as usize) < self.labels.len() { label } else { NO_LABEL }
    }

    #[inline]
    fn vertex<'s>(&self, v: VertexId, context: Context<'s>) -> Vertex<'s> {
        Vertex { id: v, label: self.label(v), context }
    }

    /// Returns whether a neighbour of `v`, which just left the label `before`, would now vote
    /// differently than in the scratch, and has another label than `v`.
    pub fn is_overtaken(
        &self,
        v: VertexId,
        before: Label,
        clock: Clock,
        scratch: &Scratch,
    ) -> bool {
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

    /// Returns the largest carry among the neighbours that voted for a label; `ballots` are the
    /// votes, in the order of the neighbours.
    fn carried(&self, v: Vertex<'_>, label: Label, mut ballots: &[Vote]) -> f32 {
        let mut most: Option<f32> = None;
        self.lists.of(v.id).each(|neighbors, weights| {
            let (here, rest) = ballots.split_at(neighbors.len().min(ballots.len()));
            ballots = rest;
            let list = NeighborList { ids: neighbors, weights, labels: &self.labels };
            let carried = self.program.carry_most(v, list, here, label);
            // A total order, so that the order of the neighbours does not matter.
            most = most.into_iter().chain(carried).max_by(f32::total_cmp);
        });
        most.unwrap_or(0.0)
    }

    /// Returns the vertex's own label if the votes for it suffice to win: no other label can beat
    /// it even with all other votes. Most vertices take this shortcut, without counting each label.
    #[inline]
    fn kept(&self, v: Vertex<'_>, own: Count) -> Option<Winner<P::Score>> {
        if own.top == 0 {
            return None;
        }
        let (label, Count { cast, top: frequency }) = (v.label, own);
        let score = self.score(v, label, frequency, own, self.totals.kept());
        let wins = score.is_eligible() && score > self.program.score_bound(cast - frequency);
        wins.then_some(Winner { label, frequency, cast, score })
    }

    /// Chooses a label for a vertex whose own label is not certain to win.
    ///
    /// Separate, as is prefetching: inlined into the loop over vertices, its loops would need more
    /// registers than there are. It builds the view itself, as a passed one would be written to the
    /// stack.
    #[inline(never)]
    fn contest(&self, (id, label): (VertexId, Label), clock: Clock, scratch: &mut Scratch) -> Next {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = Vertex { id, label, context };
        let Best { winner, nan } = self.best(vertex, &mut scratch.votes);
        match winner {
            Some(winner) => Next { nan, ..self.adopt_counted(vertex, winner, scratch) },
            None => Next { label, redrafted: false, nan },
        }
    }

    /// Returns the winning label of the votes, if any is eligible.
    ///
    /// One of the most frequent labels nearly always wins. The others are scored only if the
    /// program's bound does not rule them out.
    #[inline]
    fn best(&self, v: Vertex<'_>, votes: &mut Votes) -> Best<P::Score> {
        let best = |winner| Best { winner, nan: false };
        let count = votes.count();
        if count.top == 0 {
            return best(None);
        }
        let leader = self.leader(votes, count.top, self.tie_key(v.id)).unwrap_or(v.label);
        let bound = |frequency| self.program.score_bound(frequency);
        let wins = |score: P::Score| {
            score.is_eligible() && score >= bound(count.top) && score > bound(count.top - 1)
        };
        let scored = |total| self.score(v, leader, count.top, count, total);
        let falls = self.program.falls_with_total();
        let mut score = scored(if falls { self.totals.at_most() } else { self.totals.kept() });
        if falls && !wins(score) {
            score = scored(self.totals.kept());
        }
        if wins(score) {
            let Count { top: frequency, cast } = count;
            return best(Some(Winner { label: leader, frequency, cast, score }));
        }
        self.best_of_all((v.id, v.label), v.context.clock, votes, count)
    }

    /// Returns the label that wins the tie among those with the most votes.
    #[inline]
    fn leader(&self, votes: &Votes, top: u64, key: u32) -> Option<Label> {
        let leaders = votes.leaders(top);
        match self.ties {
            Ties::Hashed => leaders.min_by_key(|&label| mix(label ^ key)),
            Ties::Smallest => leaders.min(),
        }
    }

    /// Returns the winning label of a vertex's votes by scoring every label.
    ///
    /// It builds the view itself: a passed one would be written to the stack for every vertex,
    /// although few need this function.
    #[cold]
    fn best_of_all(
        &self,
        (id, label): (VertexId, Label),
        clock: Clock,
        votes: &mut Votes,
        count: Count,
    ) -> Best<P::Score> {
        let all = votes.all().filter(|(_, frequency)| *frequency > 0);
        self.best_among((id, label), clock, all, count)
    }

    /// Returns the winning label of these candidates, if any is eligible.
    #[inline]
    fn best_among(
        &self,
        (id, label): (VertexId, Label),
        clock: Clock,
        candidates: impl Iterator<Item = (Label, u64)>,
        count: Count,
    ) -> Best<P::Score> {
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let (v, mut nan) = (Vertex { id, label, context }, false);
        let key = self.tie_key(id);
        let rank_of = |label| match self.ties {
            Ties::Hashed => mix(label ^ key),
            Ties::Smallest => label,
        };
        let mut best: Option<(Winner<P::Score>, u32)> = None;
        for (label, frequency) in candidates {
            let rank = rank_of(label);
            let beats = |score: P::Score| match &best {
                None => score.is_eligible(),
                Some((top, top_rank)) => {
                    score > top.score || (score == top.score && rank < *top_rank)
                }
            };
            if !beats(self.program.score_bound(frequency)) {
                continue;
            }
            let score = self.score(v, label, frequency, count, self.totals.kept());
            nan |= score.is_nan();
            if beats(score) {
                best = Some((Winner { label, frequency, cast: count.cast, score }, rank));
            }
        }
        Best { winner: best.map(|(winner, _)| winner), nan }
    }

    /// Returns the choice of `v` with a sketch as counter.
    ///
    /// Separate, so that it does not affect the register allocation of the exact counter's loops.
    #[inline(never)]
    fn choose_by_sketch(
        &self,
        v: VertexId,
        sketch: Sketch,
        clock: Clock,
        scratch: &mut Scratch,
    ) -> Choice {
        let adjacency = self.lists.of(v);
        let context = Context { graph: &self.graph, columns: &self.columns, clock };
        let vertex = self.vertex(v, context);
        let (degree, before) = (adjacency.degree(), vertex.label);
        let Scratch { vote_sketch, draft, .. } = scratch;
        let vote_sketch = vote_sketch.get_or_insert_with(|| VoteSketch::new(sketch));
        let mut chunk = std::mem::take(&mut vote_sketch.chunk);
        let is_whole = degree <= CHUNK as u64;
        let mut own = Count { cast: 0, top: 0 };
        let start = match sketch.start {
            Start::First => 0,
            Start::Drawn => clock.draw(Stream::Start, v, degree),
        };
        // Votes that fit into one chunk are loaded in list order, and sketched in the drawn order
        // later.
        let order = if is_whole { [0..degree, 0..0] } else { [start..degree, 0..start] };
        let mut last = 0;
        for arcs in order.into_iter().filter(|arcs| !arcs.is_empty()) {
            last = self.for_each_chunk(vertex, adjacency, arcs, &mut chunk, |votes| {
                let count = count_one(votes, before);
                own = Count { cast: own.cast + count.cast, top: own.top + count.top };
                if !is_whole {
                    vote_sketch.take(votes);
                }
            });
        }
        vote_sketch.cast = if is_whole { last } else { 0 };
        let mut held = if is_whole { None } else { Some(vote_sketch.finish()) };
        let kept = if sketch.counts_again() { self.kept(vertex, own) } else { None };
        let best = match kept {
            Some(winner) => Best { winner: Some(winner), nan: false },
            None => {
                let held = held.get_or_insert_with(|| {
                    vote_sketch.take(&chunk[start as usize..last]);
                    vote_sketch.take(&chunk[..start as usize]);
                    vote_sketch.finish()
                });
                let mut missing = None;
                if sketch.counts_again() {
                    let whole = is_whole.then_some(last);
                    self.recount(sketch, vertex, adjacency, whole, &mut chunk, held);
                    let is_held = held.candidates().any(|(label, _)| label == before);
                    missing = (own.top > 0 && !is_held).then_some((before, own.top));
                }
                let candidates = held.candidates().chain(missing);
                self.best_among((v, before), clock, candidates, own)
            }
        };
        let next = match best.winner {
            Some(winner) => {
                let carried = match (self.program.carries(), is_whole) {
                    (false, _) => 0.0,
                    (true, true) => self.carried(vertex, winner.label, &chunk[..last]),
                    (true, false) => {
                        self.carried_by_chunks(vertex, winner.label, adjacency, &mut chunk)
                    }
                };
                Next { nan: best.nan, ..self.adopt(vertex, winner, carried, draft) }
            }
            None => Next { label: before, redrafted: false, nan: best.nan },
        };
        vote_sketch.chunk = chunk;
        Choice {
            before,
            label: next.label,
            redrafted: self.program.has_columns() && next.redrafted,
            arcs: degree,
            nan: next.nan,
        }
    }

    /// Replaces the candidates' weights by the true sums of their votes. If `whole` is given, all
    /// votes are the first `whole` of `chunk`; else they are loaded again.
    fn recount(
        &self,
        sketch: Sketch,
        vertex: Vertex<'_>,
        adjacency: EitherParts<'_, '_>,
        whole: Option<usize>,
        chunk: &mut [Vote],
        held: &mut Candidates,
    ) {
        let slots = sketch.slots() as usize;
        held.forget_weights();
        if let Some(whole) = whole {
            return held.recount(slots, &chunk[..whole]);
        }
        self.for_each_chunk(vertex, adjacency, 0..adjacency.degree(), chunk, |votes| {
            count_one(votes, vertex.label);
            held.recount(slots, votes);
        });
    }

    /// Calls `visit` with the votes of a range of a vertex's arcs, in order, `chunk.len()` at a
    /// time. Returns the length of the last chunk, which stays in `chunk`.
    fn for_each_chunk(
        &self,
        vertex: Vertex<'_>,
        adjacency: EitherParts<'_, '_>,
        arcs: Range<u64>,
        chunk: &mut [Vote],
        mut visit: impl FnMut(&mut [Vote]),
    ) -> usize {
        let (mut here, mut before) = (0, 0);
        adjacency.each(|neighbors, weights| {
            let number = neighbors.len() as u64;
            let within = |arc: u64| arc.clamp(before, before + number) - before;
            let part = within(arcs.start) as usize..within(arcs.end) as usize;
            before += number;
            let mut neighbors = &neighbors[part.clone()];
            let mut weights = weights.map(|weights| &weights[part]);
            while !neighbors.is_empty() {
                if here == chunk.len() {
                    visit(chunk);
                    here = 0;
                }
                let count = neighbors.len().min(chunk.len() - here);
                let (ids, others) = neighbors.split_at(count);
                let list = NeighborList {
                    ids,
                    weights: weights.map(|weights| &weights[..count]),
                    labels: &self.labels,
                };
                self.program.load_neighbors(vertex, list, &mut chunk[here..here + count]);
                (neighbors, weights) = (others, weights.map(|weights| &weights[count..]));
                here += count;
            }
        });
        visit(&mut chunk[..here]);
        here
    }

    /// Returns [`LpState::carried`], loading the votes again chunk by chunk.
    fn carried_by_chunks(
        &self,
        v: Vertex<'_>,
        label: Label,
        adjacency: EitherParts<'_, '_>,
        chunk: &mut [Vote],
    ) -> f32 {
        let mut most: Option<f32> = None;
        adjacency.each(|neighbors, weights| {
            for (part, ids) in neighbors.chunks(CHUNK).enumerate() {
                let weights = weights.map(|weights| &weights[part * CHUNK..][..ids.len()]);
                let list = NeighborList { ids, weights, labels: &self.labels };
                let votes = &mut chunk[..ids.len()];
                self.program.load_neighbors(v, list, votes);
                count_one(votes, label);
                let carried = self.program.carry_most(v, list, votes, label);
                most = most.into_iter().chain(carried).max_by(f32::total_cmp);
            }
        });
        most.unwrap_or(0.0)
    }

    /// Returns the key that ranks labels in a tie at `v`.
    #[inline]
    fn tie_key(&self, v: VertexId) -> u32 {
        mix(v ^ self.tie_key)
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

    /// Changes the label of `v` to `next`; no other thread may change it meanwhile.
    #[inline]
    pub fn commit(&self, v: VertexId, next: Label) {
        let before = self.label(v);
        self.labels[v as usize].store(next, Relaxed);
        self.shift_total(v, before, next);
    }

    /// Prefetches what [`LpState::commit`] writes.
    #[inline]
    pub fn fetch_commit(&self, v: VertexId, next: Label) {
        self.totals.fetch(self.label(v), next);
    }

    /// Moves the share of `v` between label totals.
    #[inline]
    pub fn shift_total(&self, v: VertexId, from: Label, to: Label) {
        self.totals.shift(v, &self.lists, from, to);
    }

    /// Activates the neighbours that must be updated after a change of `v`: of its label if
    /// `relabelled`, else only of its columns. `label` is the label of `v`.
    #[inline]
    pub fn activate_neighbors(&self, v: VertexId, label: Label, relabelled: bool) {
        let activation = self.activation();
        if activation == Activation::Always
            || (activation == Activation::Disagreement && !relabelled)
        {
            return;
        }
        let visit = |neighbors: &[VertexId], _: Option<&[u32]>| match activation {
            Activation::Disagreement => self.activate_disagreeing(neighbors, label),
            Activation::Change | Activation::Always => {
                self.active.insert_unless(neighbors, |_| false)
            }
        };
        dispatch_parts!(&self.lists, v, parts => parts.each(visit));
    }

    /// Separate, so that its loop has its variables in registers.
    #[inline(never)]
    fn activate_disagreeing(&self, neighbors: &[VertexId], label: Label) {
        let labels = &*self.labels;
        let agrees = |u: VertexId| labels[u as usize].load(Relaxed) == label;
        self.active.insert_unless(neighbors, agrees);
    }

    /// Returns when the program wants vertices to be updated again.
    #[inline]
    pub fn activation(&self) -> Activation {
        self.program.activation()
    }

    /// Returns the number of arcs that touch `v`.
    #[inline]
    pub fn degree(&self, v: VertexId) -> u64 {
        self.lists.of(v).degree()
    }

    /// Reads the neighbours of some vertices and nothing else; the result depends on all of them.
    #[inline]
    pub fn read_neighbors(&self, vertices: &[VertexId]) -> u32 {
        let mut read = 0;
        vertices.iter().for_each(|&v| {
            self.lists.of(v).each(|ids, _| read = ids.iter().fold(read, |read, &u| read ^ u));
        });
        read
    }

    /// Reads the labels of the neighbours of some vertices; prefetches like [`LpState::choose`] if
    /// `ahead`.
    #[inline]
    pub fn read_labels(&self, vertices: &[VertexId], ahead: bool) -> u32 {
        let (labels, mut read) = (&*self.labels, 0);
        let mut visit = |v: VertexId| {
            self.lists.of(v).each(|ids, _| {
                let label = |u: VertexId| labels[u as usize].load(Relaxed);
                read = ids.iter().fold(read, |read, &u| read ^ label(u));
            });
        };
        match ahead {
            true => self.lists.for_each_prefetched(vertices, Some(labels), |_, v| visit(v)),
            false => vertices.iter().for_each(|&v| visit(v)),
        }
        read
    }

    /// Returns the number of threads.
    #[inline]
    pub fn threads(&self) -> usize {
        self.workspaces.len()
    }

    /// Ends a round: activates all vertices if the program is [`Activation::Always`].
    pub fn end_round(&self) {
        if self.activation() == Activation::Always {
            self.active.insert_all(self.labels.len() as u32);
        }
    }

    /// Returns the state from which a run can resume.
    pub fn state(&mut self) -> State<'_> {
        State {
            labels: Cow::Borrowed(as_plain(&mut self.labels)),
            active: Cow::Borrowed(self.active.state()),
            columns: self.columns.state(),
        }
    }

    /// Returns labels and written columns.
    pub fn finish(self) -> Finished {
        Finished {
            labels: self.labels.into_iter().map(AtomicU32::into_inner).collect(),
            columns: self.columns.into_written(self.program.columns()),
            transfer_seconds: 0.0,
            lists_moved: Vec::new(),
        }
    }
}
