//! Tests of a program's promises; [`crate::check`] defines them.

use super::state::LpState;
use super::synchronous::SyncRounds;
use crate::hash::{Clock, Stream, mix, part_of};
use crate::promise::{BrokenPromise, CheckError, Checked, Evidence, Promise, ROUNDS, Scored};
use crate::rounds::Rounds;
use crate::views::{Context, Total};
use crate::{
    Activation, Candidate, Counter, Hints, Label, LabelTotal, NO_LABEL, NeighborList, Plan,
    ProgramInfo, RunError, Schedule, Score, Settings, Vertex, VertexMut, Vote,
};
use rayon::prelude::*;
use ripplet_graph::storage::ListParts;
use ripplet_graph::{GraphView, Observer, VertexId};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::Ordering::Relaxed;

/// The most labels of a vertex that are scored, and the most that are compared in pairs.
const MOST_LABELS: usize = 32;
/// The most bytes that a test holds for each neighbour of its vertex: the votes of one list, loaded
/// three times, and those of all lists in a vector that doubles, 40 in all. Later the latter
/// and the sum of votes for each label, 46 with leaves of a B-tree that are half full.
const BYTES_PER_VOTE: u64 = 6 * size_of::<Vote>() as u64;

/// Tests a program on the states before the first rounds of a run with these settings.
pub(super) fn check<P: Hints>(
    program: &P,
    graph: GraphView<'_>,
    settings: &Settings,
    sample: u32,
    observer: &dyn Observer,
) -> Result<Checked, CheckError> {
    let refused = RunError::Array;
    let state = LpState::new(graph, program, settings).map_err(refused)?.with_exact_counter();
    let mut rounds = SyncRounds::new(state, 0).map_err(refused)?;
    let mut checked = Checked::default();
    let sample = sample.min(graph.vertices());
    for round in 0..ROUNDS {
        let clock = rounds.state.begin_round(round);
        let sampled = |index: u32| match sample == graph.vertices() {
            true => index,
            false => part_of(mix(index ^ clock.key(Stream::Start as u32)), graph.vertices()),
        };
        let of_vertex = |index: u32| {
            Sampled::new(&rounds.state, sampled(index), clock).check().map_err(|broken| {
                let (promise, evidence) = *broken;
                BrokenPromise { promise, vertex: sampled(index), round, evidence }
            })
        };
        // In order, so that the first broken promise does not depend on the threads.
        for candidates in in_order(sample, &of_vertex) {
            checked.candidates += candidates?;
            checked.vertices += 1;
        }
        rounds.round(round, observer)?;
    }
    Ok(checked)
}

/// Returns what `of` returns for each of `0..count`, not generic as in [`tasks`](super::tasks).
fn in_order(
    count: u32,
    of: &(dyn Fn(u32) -> Result<u64, BrokenPromise> + Sync),
) -> Vec<Result<u64, BrokenPromise>> {
    (0..count).into_par_iter().map(of).collect()
}

/// Returns the memory of [`check`] on `threads` threads.
pub(crate) fn plan(
    graph: GraphView<'_>,
    program: &ProgramInfo,
    settings: &Settings,
    sample: u32,
    threads: usize,
) -> Plan {
    let rounds = Settings {
        schedule: Schedule::sync(),
        counter: Counter::EXACT,
        keep_disconnected: true,
        ..Settings::default()
    };
    let plan = super::plan_of(graph, program, &rounds, threads);
    let plan = super::with_given(plan, graph, settings);
    let results = size_of::<Result<u64, BrokenPromise>>() as u64;
    let votes = graph.max_degree().saturating_mul(BYTES_PER_VOTE);
    plan.with("results of the sample", u64::from(sample.min(graph.vertices())) * results)
        .with("votes of the sample, one a thread", votes.saturating_mul(threads as u64))
}

/// A promise that does not hold, with what shows it; boxed, as it is rare and large.
type Broken = Box<(Promise, Evidence)>;

fn broken<T>(promise: Promise, evidence: Evidence) -> Result<T, Broken> {
    Err(Box::new((promise, evidence)))
}

/// Refuses two unequal results of equal calls.
fn equal<T: Debug + PartialEq>(hook: &'static str, a: T, b: T) -> Result<T, Broken> {
    if a == b {
        return Ok(a);
    }
    broken(Promise::Pure(hook), Evidence::Unequal(format!("{a:?}"), format!("{b:?}")))
}

/// A vertex of the sample.
struct Sampled<'s, 'a, P> {
    state: &'s LpState<'a, P>,
    vertex: Vertex<'s>,
    /// The key of draws for this vertex.
    key: u32,
}

/// A label with votes.
#[derive(Clone, Copy)]
struct Voted {
    label: Label,
    frequency: u64,
    /// Its total.
    total: u32,
}

impl<'s, 'a, P: Hints> Sampled<'s, 'a, P> {
    fn new(state: &'s LpState<'a, P>, v: VertexId, clock: Clock) -> Self {
        let context = Context { graph: &state.graph, columns: &state.columns, clock };
        let vertex = Vertex { id: v, label: state.label(v), context };
        Sampled { state, vertex, key: mix(v ^ clock.key(Stream::Tie as u32)) }
    }

    /// Tests all promises at the vertex; returns the number of its labels.
    fn check(&self) -> Result<u64, Broken> {
        let (program, v) = (self.state.program, self.vertex);
        self.check_columns()?;
        equal("pick_label", program.pick_label(v), program.pick_label(v))?;
        let votes = self.votes()?;
        let mut sums: BTreeMap<Label, u64> = BTreeMap::new();
        for vote in votes.iter().filter(|vote| vote.weight > 0 && vote.label != NO_LABEL) {
            *sums.entry(vote.label).or_default() += u64::from(vote.weight);
        }
        let total_votes = sums.values().sum();
        let labels: Vec<Voted> = self.spread(&sums);
        for &voted in &labels {
            self.check_scores(voted, total_votes)?;
            let carried = self.check_carry(voted.label, &votes)?;
            self.check_update(voted, total_votes, carried)?;
        }
        self.check_bounds(total_votes)?;
        if program.follows_frequency() {
            self.check_frequencies(&labels, total_votes)?;
        }
        Ok(labels.len() as u64)
    }

    /// Returns at most [`MOST_LABELS`] labels, evenly spread.
    fn spread(&self, sums: &BTreeMap<Label, u64>) -> Vec<Voted> {
        let kept = self.state.totals.kept();
        let total = |label| {
            let candidate =
                Candidate { label, frequency: 0, total_votes: 0, grand_total: 0, total: kept };
            candidate.total()
        };
        let voted =
            |(&label, &frequency): (&Label, &u64)| Voted { label, frequency, total: total(label) };
        sums.iter().step_by(sums.len().div_ceil(MOST_LABELS).max(1)).map(voted).collect()
    }

    /// Returns the votes of all neighbours, after testing `load_neighbors`.
    fn votes(&self) -> Result<Vec<Vote>, Broken> {
        let (program, v) = (self.state.program, self.vertex);
        let (mut all, mut result) = (Vec::new(), Ok(()));
        self.state.lists.of(v.id).each(|ids, weights| {
            let list = NeighborList { ids, weights, labels: &self.state.labels };
            let [mut votes, mut again, mut bulk] =
                [(); 3].map(|()| vec![Vote::default(); ids.len()]);
            list.load_each(program, v, &mut votes);
            list.load_each(program, v, &mut again);
            program.load_neighbors(v, list, &mut bulk);
            let mut each = votes.iter().zip(&again).zip(&bulk).zip(ids);
            let tested = each.try_for_each(|(((&vote, &again), &found), &neighbor)| {
                let expected = equal("load_neighbor", vote, again)?;
                if found != expected {
                    let evidence = Evidence::Votes { neighbor, found, expected };
                    return broken(Promise::LoadNeighbors, evidence);
                }
                self.check_vote(neighbor, vote)
            });
            if result.is_ok() {
                result = tested;
            }
            all.append(&mut votes);
        });
        result.map(|()| all)
    }

    /// Tests that a neighbour votes for its own label, if the program promises it.
    fn check_vote(&self, neighbor: VertexId, vote: Vote) -> Result<(), Broken> {
        let own = Vote { label: self.state.label(neighbor), ..vote };
        let is_vertex = (vote.label as usize) < self.state.labels.len();
        let is_other = is_vertex && vote.weight > 0 && vote != own;
        match self.state.program.votes_for_own_label() && is_other {
            false => Ok(()),
            true => {
                let evidence = Evidence::Votes { neighbor, found: vote, expected: own };
                broken(Promise::VotesForOwnLabel, evidence)
            }
        }
    }

    /// Returns the score of a label, after testing that it is the same twice.
    fn score(&self, voted: Voted, total_votes: u64) -> Result<P::Score, Broken> {
        let Voted { label, frequency, total } = voted;
        let (grand_total, total) = (self.state.totals.grand, Total::AtMost(total));
        let candidate = Candidate { label, frequency, total_votes, grand_total, total };
        let score = || self.state.program.label_score(self.vertex, candidate);
        let (a, b) = (score(), score());
        if a == b || (a.is_nan() && b.is_nan()) {
            return Ok(a);
        }
        broken(Promise::Pure("label_score"), Evidence::Unequal(a.to_string(), b.to_string()))
    }

    /// Returns a draw in `0..=most`.
    fn draw(&self, number: u32, most: u64) -> u64 {
        let drawn = u128::from(mix(self.key ^ mix(number)));
        ((drawn * (u128::from(most) + 1)) >> 32) as u64
    }

    /// Tests the scores of a label with its own and fewer votes, its own and larger totals.
    ///
    /// A label of fewer votes with a larger total can exist. One of more votes with this total may
    /// not: a label that all neighbours of a vertex have, say, has as many members.
    fn check_scores(&self, voted: Voted, total_votes: u64) -> Result<(), Broken> {
        let program = self.state.program;
        let fewer = 1 + self.draw(voted.label ^ 1, voted.frequency - 1);
        let most = self.most_total();
        let larger = voted.total.saturating_add(
            self.draw(voted.label ^ 2, u64::from(most.saturating_sub(voted.total))) as u32,
        );
        let mut totals = vec![voted.total, larger, most.max(larger)];
        totals.dedup();
        let mut frequencies = vec![voted.frequency, fewer];
        frequencies.dedup();
        for &total in &totals {
            let with = |frequency| Voted { frequency, total, ..voted };
            for &frequency in &frequencies {
                self.check_bound(with(frequency), total_votes)?;
            }
            if let [many, few] = frequencies[..] {
                let [a, b] =
                    [self.score(with(many), total_votes)?, self.score(with(few), total_votes)?];
                let loses = b.is_eligible() && !is_at_most(b, a);
                if program.activation() == Activation::Disagreement && loses {
                    let evidence = Evidence::Scores(scored(with(many), a), scored(with(few), b));
                    return broken(Promise::Disagreement, evidence);
                }
            }
        }
        if !program.falls_with_total() || program.label_total() == LabelTotal::None {
            return Ok(());
        }
        for pair in totals.windows(2) {
            let with = |total| Voted { total, ..voted };
            let [low, high] = [with(pair[0]), with(pair[1])];
            let [a, b] = [self.score(low, total_votes)?, self.score(high, total_votes)?];
            if b > a || (a.is_nan() && !b.is_nan()) {
                let evidence = Evidence::Scores(scored(low, a), scored(high, b));
                return broken(Promise::FallsWithTotal, evidence);
            }
        }
        Ok(())
    }

    /// Returns the largest total of any label.
    fn most_total(&self) -> u32 {
        match self.state.totals.at_most() {
            Total::AtMost(most) => most,
            Total::Kept(_) => 0,
        }
    }

    /// Tests a score against its bound.
    fn check_bound(&self, voted: Voted, total_votes: u64) -> Result<(), Broken> {
        let score = self.score(voted, total_votes)?;
        let bound = self.state.program.score_bound(voted.frequency);
        if score.is_eligible() && !is_at_most(score, bound) {
            let evidence = Evidence::Bound(scored(voted, score), bound.to_string());
            return broken(Promise::ScoreBound, evidence);
        }
        Ok(())
    }

    /// Tests that bounds do not fall as the frequency rises.
    fn check_bounds(&self, total_votes: u64) -> Result<(), Broken> {
        let program = self.state.program;
        let mut frequencies: Vec<u64> =
            (0..4).map(|number| self.draw(number, total_votes)).collect();
        frequencies.extend([0, total_votes]);
        frequencies.sort_unstable();
        for pair in frequencies.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(|of| (of, program.score_bound(of)));
            if !is_at_most(low.1, high.1) {
                let evidence = [low, high].map(|(of, bound)| (of, bound.to_string()));
                return broken(Promise::ScoreBound, Evidence::FallingBound(evidence));
            }
        }
        Ok(())
    }

    /// Tests the scores of the vertex's labels against one another, by frequency.
    fn check_frequencies(&self, labels: &[Voted], total_votes: u64) -> Result<(), Broken> {
        let mut scores = Vec::new();
        for &voted in labels {
            let score = self.score(voted, total_votes)?;
            if score.is_eligible() {
                scores.push((voted, score));
            }
        }
        scores.sort_by_key(|(voted, _)| voted.frequency);
        // The best score of fewer votes.
        let mut best: Option<(Voted, P::Score)> = None;
        for group in scores.chunk_by(|a, b| a.0.frequency == b.0.frequency) {
            for &(voted, score) in group {
                if let Some((fewer, higher)) = best.filter(|(_, best)| *best > score) {
                    let evidence = Evidence::Scores(scored(voted, score), scored(fewer, higher));
                    return broken(Promise::FollowsFrequency, evidence);
                }
            }
            for &(voted, score) in group {
                if best.is_none_or(|(_, best)| score > best) {
                    best = Some((voted, score));
                }
            }
        }
        Ok(())
    }

    /// Tests that a program without columns declares none.
    fn check_columns(&self) -> Result<(), Broken> {
        if self.state.program.has_columns() {
            return Ok(());
        }
        match self.state.program.columns() {
            columns if columns.is_empty() => Ok(()),
            columns => {
                let names = columns.into_iter().map(|column| column.name.into_owned()).collect();
                broken(Promise::HasColumns, Evidence::Columns(names))
            }
        }
    }

    /// Returns the largest carry for a label, after testing `carries` and `carry_most`.
    fn check_carry(&self, label: Label, votes: &[Vote]) -> Result<f32, Broken> {
        let (program, v) = (self.state.program, self.vertex);
        let (mut rest, mut most, mut result) = (votes, None, Ok(()));
        self.state.lists.of(v.id).each(|ids, weights| {
            let (here, others) = rest.split_at(ids.len().min(rest.len()));
            rest = others;
            let list = NeighborList { ids, weights, labels: &self.state.labels };
            let each = || list.carried(program, v, here, label);
            let expected = each();
            most = most.into_iter().chain(expected).max_by(f32::total_cmp);
            if result.is_err() || !program.carries() {
                return;
            }
            let again = each();
            let found = program.carry_most(v, list, here, label);
            let bits = |carry: Option<f32>| carry.map(f32::to_bits);
            result = if bits(expected) != bits(again) {
                let texts = [expected, again].map(|carry| format!("{carry:?}"));
                let [a, b] = texts;
                broken(Promise::Pure("carry"), Evidence::Unequal(a, b))
            } else if bits(found) != bits(expected) {
                broken(Promise::CarryMost, Evidence::Carried { label, found, expected })
            } else {
                Ok(())
            };
        });
        result?;
        let carried = most.unwrap_or(0.0);
        if !program.carries() && carried != 0.0 {
            let (found, expected) = (Some(0.0), Some(carried));
            return broken(Promise::Carries, Evidence::Carried { label, found, expected });
        }
        Ok(carried)
    }

    /// Tests that `update_vertex` returns and writes the same twice.
    fn check_update(&self, voted: Voted, total_votes: u64, carried: f32) -> Result<(), Broken> {
        let score = self.score(voted, total_votes)?;
        if !score.is_eligible() {
            return Ok(());
        }
        let frequency = voted.frequency;
        let update = || {
            let written = self.state.columns.written(self.vertex.id);
            let mut draft: Vec<u32> = written.map(|value| value.load(Relaxed)).collect();
            let draft_of = &mut draft;
            let mut vertex =
                VertexMut { vertex: self.vertex, draft: draft_of, carried, frequency, total_votes };
            let label = self.state.program.update_vertex(&mut vertex, voted.label, score);
            (label, draft)
        };
        equal("update_vertex", update(), update()).map(drop)
    }
}

fn scored<S: Score>(voted: Voted, score: S) -> Scored {
    let Voted { label, frequency, total } = voted;
    Scored { label, frequency, total, score: score.to_string() }
}

/// Returns whether `a ≤ b`; false if either is NaN.
fn is_at_most<S: PartialOrd>(a: S, b: S) -> bool {
    a <= b
}
