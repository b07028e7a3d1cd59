//! How good a ranking is: known accounts are held out, and looked for.
//!
//! # What is measured
//! Later-confirmed accounts are drawn into *known* (a share of them) and *held out* (the rest), many times. Each method
//! ranks all accounts of the kinds that are confirmed, those known left out; it sees the known ones alone, and of these
//! in each window those whose validity holds at its end. With n accounts seen so far, of which H were held out and
//! are there, and of the first k of the ranking h held out,
//!
//! | measure | |
//! |---|---|
//! | recall at a share x | h / H, at k = round(x · n) |
//! | precision there | h / k |
//! | PR-AUC | average precision: the mean of the precision at the rank of each that was held out |
//! | days to detection | from the end of the first window in which an account dealt with anybody to that of the first in which it is in the first k; the mean over those who ever are |
//! | detected | the share of those held out who ever are |
//! | days waited | days to detection of all who were held out, where who is never detected waits until the last window's end: the restricted mean, by which methods that find more are not punished for what they find late |
//!
//! Recall, precision and PR-AUC are of the last window. No ranking can have more than min(1, k / H) recall:
//! [`Report::ceilings`]. Equal scores are ranked by a hash of draw and vertex, so that no method gains by the order of
//! vertices.
//!
//! # Intervals
//! A [`Figure`] is a mean over the draws with its 95 % interval by the bootstrap: of 2000 times as many draws drawn from
//! them with repetition, the mean lies between its bounds 95 times of 100. Ratios of two methods are of their means over
//! the same draws. Draws are of the same accounts, so intervals say what depends on who is known, and nothing about
//! other data.
//!
//! # Cost, memory, determinism
//! Ties are judged once a window; each draw costs a spread of labels and the baselines that look at who is known. Memory:
//! a score a vertex and the ranking. The same numbers for the same seed, on any number of threads.
//!
//! # References
//! Davis, Goadrich, *The relationship between Precision-Recall and ROC curves*, ICML 2006. Efron, Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, chapter 13.

use crate::baselines::{self, Baseline, PageRank};
use crate::detect::{self, DetectError, Detection, Known, suspicion};
use crate::seeds::Listed;
use crate::ties::{Ties, arcs};
use crate::{Entities, KindId, KnownBad, Trusted, Window};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use ripplet_lp::programs::{BadAttenuation, Seed, SeedError, Seeded, Seeding, strengths};
use ripplet_lp::{Executor, Observer, RunError, Settings};
use std::collections::BTreeMap;
use std::io::{self, Write};
use thiserror::Error;

/// How to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// How often accounts are drawn.
    pub draws: u32,
    /// The share of confirmed accounts that is known.
    pub known: f64,
    /// The shares of all accounts at whose ranks recall and precision are told, ascending.
    pub tops: Vec<f64>,
    /// That of them by which an account is detected, and methods are compared.
    pub top: f64,
    /// What all draws depend on.
    pub seed: u64,
    /// How clusters are detected.
    pub detection: Detection,
    /// What is ranked by.
    pub methods: Vec<Method>,
}

impl Default for Evaluation {
    /// A hundred draws of a fifth, compared at the first 2 %.
    fn default() -> Evaluation {
        Evaluation {
            draws: 100,
            known: 0.2,
            tops: vec![0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2],
            top: 0.02,
            seed: 0,
            detection: Detection::default(),
            methods: Method::all(),
        }
    }
}

/// A way to rank accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// An older way.
    Baseline(Baseline),
    /// [`Seeded`] along the window's own weights: the strength, each known account being its own cluster.
    Seeded,
    /// The excess of the most surprising tie: nobody known.
    Ties,
    /// [`Suspicion`](detect::Suspicion)'s strength: who is known, along ties beyond chance.
    Spread,
    /// Personalized PageRank along the same ties.
    PageRankOfTies,
    /// [`detect::suspicion`]: what detection ranks members by.
    Suspicion,
}

impl Method {
    /// All of them: baselines, then the rest.
    pub fn all() -> Vec<Method> {
        use Method::{PageRankOfTies, Seeded, Spread, Suspicion, Ties};
        let others = [Seeded, Ties, Spread, PageRankOfTies, Suspicion];
        Baseline::ALL.map(Method::Baseline).into_iter().chain(others).collect()
    }

    /// The name, as tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Baseline(baseline) => baseline.name(),
            Method::Seeded => "seeded",
            Method::Ties => "ties alone",
            Method::Spread => "labels along ties",
            Method::PageRankOfTies => "pagerank along ties",
            Method::Suspicion => "suspicion",
        }
    }

    fn looks_at_known(self) -> bool {
        let blind = [Baseline::Degree, Baseline::Strength].map(Method::Baseline);
        !blind.contains(&self) && self != Method::Ties
    }
}

/// Why there is no evaluation.
#[derive(Debug, Error)]
pub enum EvaluateError {
    /// A share is none.
    #[error("{name} is a share {expected}, not {value}")]
    Share {
        /// Which.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        value: f64,
    },
    /// Nothing to do.
    #[error("{0} of an evaluation must be 1 at least")]
    Nothing(&'static str),
    /// The list is empty.
    #[error("no account is confirmed: the list of labels has no entries")]
    NobodyConfirmed,
    /// Nobody is left.
    #[error(
        "{known} of {confirmed} confirmed accounts would be known, and nobody held out: choose a smaller share"
    )]
    NobodyHeldOut {
        /// Accounts that would be known.
        known: usize,
        /// Accounts there are.
        confirmed: usize,
    },
    /// There was no window, or an empty one.
    #[error("no confirmed account that was held out is in any window: do the ids and kinds match?")]
    NobodySeen,
    /// Detection failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// Seeds.
    #[error(transparent)]
    Seeds(#[from] SeedError),
    /// The attenuation of seeds.
    #[error(transparent)]
    Attenuation(#[from] BadAttenuation),
    /// Label propagation.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// A mean over draws, and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// The mean; NaN where no draw has the measure.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// What a method did in a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The draw, from 0.
    pub draw: u32,
    /// The method.
    pub method: Method,
    /// Those held out who are there: H.
    pub held_out: u32,
    /// Those of the first k, for each of [`Evaluation::tops`].
    pub found: Vec<u32>,
    /// PR-AUC.
    pub average_precision: f64,
    /// Those who were ever in the first k of a window.
    pub detected: u32,
    /// Mean days until they were; NaN where nobody was.
    pub days: f64,
    /// Mean days until they were or time was up, of all; NaN where nobody dealt with anybody.
    pub waited: f64,
}

/// What a method did in all draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The method.
    pub method: Method,
    /// Recall, for each of [`Evaluation::tops`].
    pub recall: Vec<Figure>,
    /// Precision, likewise.
    pub precision: Vec<Figure>,
    /// PR-AUC.
    pub average_precision: Figure,
    /// The share of those held out who were detected.
    pub detected: Figure,
    /// Days until they were.
    pub days: Figure,
    /// Days until they were or time was up, of all.
    pub waited: Figure,
    /// Its recall at [`Evaluation::top`] as a multiple of that of the best baseline.
    pub ratio: Figure,
}

/// What an evaluation found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it was done.
    pub options: Evaluation,
    /// Accounts that were ranked, known ones among them: n.
    pub accounts: u32,
    /// Confirmed accounts that are there.
    pub confirmed: u32,
    /// Confirmed accounts that no window has.
    pub unseen: u32,
    /// Windows.
    pub windows: u32,
    /// k for each of [`Evaluation::tops`].
    pub ranks: Vec<u32>,
    /// The most recall that any ranking can have, for each of them.
    pub ceilings: Vec<f64>,
    /// The baseline of most recall at [`Evaluation::top`]; none where none was among the methods.
    pub best_baseline: Option<Baseline>,
    /// Each method in all draws.
    pub summaries: Vec<Summary>,
    /// Each method in each draw.
    pub rows: Vec<Row>,
}

/// An account that was confirmed.
struct Account {
    entries: Vec<Listed>,
    vertex: Option<VertexId>,
    /// The end of the first window in which it dealt with anybody, in days.
    begun: Option<f64>,
}

/// A draw: who is known, and when which method found whom.
struct Draw {
    key: u64,
    known: Vec<bool>,
    /// For each method, for each account, the end of the window that detected it, in days.
    found: Vec<Vec<Option<f64>>>,
}

/// An evaluation over windows that come one after the other.
pub struct Evaluator {
    options: Evaluation,
    kinds: Vec<KindId>,
    accounts: Vec<Account>,
    draws: Vec<Draw>,
    last: Vec<Row>,
    population: u32,
    windows: u32,
    /// The end of the last window, in days.
    end: f64,
}

impl Evaluator {
    /// Draws who is known of those who were confirmed; an account that is listed several times is one.
    ///
    /// # Errors
    /// Where an option is wrong, or nobody would be held out.
    pub fn new(options: Evaluation, confirmed: &KnownBad) -> Result<Evaluator, EvaluateError> {
        check(&options)?;
        let mut by_id: BTreeMap<(KindId, &str), Vec<Listed>> = BTreeMap::new();
        for entry in &confirmed.entries {
            by_id.entry((entry.kind, &entry.id)).or_default().push(entry.clone());
        }
        let mut kinds: Vec<KindId> = by_id.keys().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        let entries = by_id.into_values();
        let accounts: Vec<Account> =
            entries.map(|entries| Account { entries, vertex: None, begun: None }).collect();
        let confirmed = accounts.len();
        if confirmed == 0 {
            return Err(EvaluateError::NobodyConfirmed);
        }
        let known = (options.known * confirmed as f64).round() as usize;
        if known >= confirmed {
            return Err(EvaluateError::NobodyHeldOut { known, confirmed });
        }
        let draw = |index: u32| {
            let mut numbers = Numbers(mixed(options.seed).wrapping_add(mixed(u64::from(index))));
            let key = numbers.next();
            let mut order: Vec<usize> = (0..confirmed).collect();
            (1..confirmed).rev().for_each(|at| order.swap(at, numbers.below(at + 1)));
            let mut of = vec![false; confirmed];
            order[..known].iter().for_each(|&account| of[account] = true);
            let found = vec![vec![None; confirmed]; options.methods.len()];
            Draw { key, known: of, found }
        };
        let draws = (0..options.draws).map(draw).collect();
        let (last, population, windows, end) = (Vec::new(), 0, 0, 0.0);
        Ok(Evaluator { options, kinds, accounts, draws, last, population, windows, end })
    }

    /// Ranks the accounts of the next window in all draws.
    ///
    /// # Errors
    /// Where detection fails, memory is refused, or the observer cancels.
    pub fn window<E: Executor>(
        &mut self,
        executor: &E,
        window: &Window,
        entities: &Entities,
        trusted: &Trusted,
        observer: &mut dyn Observer,
    ) -> Result<(), EvaluateError> {
        let end = window.range.until;
        let days = end.0 as f64 / crate::Span::DAY.micros() as f64;
        let trusted = trusted.at_end_of(entities, window.range).vertices;
        let graph = &window.graph;
        for account in &mut self.accounts {
            let id = &account.entries[0];
            let seen = entities.find(id.kind, &id.id).filter(|&v| v < graph.vertices());
            account.vertex = seen;
            let deals = seen.is_some_and(|v| arcs(graph, v).next().is_some());
            if account.begun.is_none() && deals {
                account.begun = Some(days);
            }
        }
        let population =
            (0..graph.vertices()).filter(|&v| self.kinds.contains(&entities.kind_of(v)));
        let population: Vec<VertexId> = population.collect();
        self.population = population.len() as u32;
        self.windows += 1;
        self.end = days;
        observer.on_stage("judging ties");
        let ties =
            Ties::of(graph, self.options.detection.ties, &trusted).map_err(DetectError::from)?;
        let before = crate::Timestamp(end.0.saturating_sub(1));
        let mut blind: Vec<Option<Vec<f64>>> = vec![None; self.options.methods.len()];
        let mut rows = Vec::new();
        for index in 0..self.draws.len() {
            let mut bad = self.known_at(index, before);
            bad.retain(|v| trusted.binary_search(v).is_err());
            let known = Known { bad: &bad, trusted: &trusted };
            let scene = Scene { executor, window, ties: &ties, known };
            for (method, of) in self.options.methods.clone().into_iter().enumerate() {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled.into());
                }
                let scores = match blind[method].take() {
                    Some(scores) => scores,
                    None => scene.scores(of, &self.options.detection)?,
                };
                rows.push(self.rank(index, method, &population, &scores, days));
                if !of.looks_at_known() {
                    blind[method] = Some(scores);
                }
            }
        }
        self.last = rows;
        Ok(())
    }

    /// Those of a draw's known accounts that are known at an instant, and there.
    fn known_at(&self, draw: usize, at: crate::Timestamp) -> Vec<VertexId> {
        let known = self.accounts.iter().zip(&self.draws[draw].known).filter(|(_, known)| **known);
        let holding = known.filter(|(account, _)| account.entries.iter().any(|e| e.holds_at(at)));
        let mut vertices: Vec<VertexId> =
            holding.filter_map(|(account, _)| account.vertex).collect();
        vertices.sort_unstable();
        vertices
    }

    /// Ranks the accounts that a draw does not know, and notes who was found.
    fn rank(
        &mut self,
        draw: usize,
        method: usize,
        population: &[VertexId],
        scores: &[f64],
        days: f64,
    ) -> Row {
        let Draw { key, known, found } = &mut self.draws[draw];
        let of_known = self.accounts.iter().zip(&*known);
        let mut left_out: Vec<VertexId> =
            of_known.filter_map(|(account, known)| account.vertex.filter(|_| *known)).collect();
        left_out.sort_unstable();
        let held_out = self.accounts.iter().zip(&*known).enumerate();
        let held_out = held_out.filter(|(_, (_, known))| !**known);
        let held_out: BTreeMap<VertexId, usize> =
            held_out.filter_map(|(at, (account, _))| account.vertex.map(|v| (v, at))).collect();
        let ranked = population.iter().filter(|v| left_out.binary_search(v).is_err());
        let mut ranked: Vec<VertexId> = ranked.copied().collect();
        let lot = |v: VertexId| mixed(*key ^ u64::from(v));
        ranked.par_sort_unstable_by(|&a, &b| {
            scores[b as usize].total_cmp(&scores[a as usize]).then_with(|| lot(a).cmp(&lot(b)))
        });
        let tops: Vec<usize> =
            self.options.tops.iter().map(|&top| rank_of(top, population.len())).collect();
        let first = rank_of(self.options.top, population.len());
        let (mut hits, mut precisions) = (0_u32, 0.0);
        let mut at_tops = vec![0; tops.len()];
        for (rank, vertex) in ranked.iter().enumerate() {
            if let Some(&account) = held_out.get(vertex) {
                hits += 1;
                precisions += f64::from(hits) / (rank + 1) as f64;
                tops.iter().zip(&mut at_tops).for_each(|(&top, of)| *of += u32::from(rank < top));
                if rank < first && found[method][account].is_none() {
                    found[method][account] = Some(days);
                }
            }
        }
        let count = held_out.len() as u32;
        Row {
            draw: draw as u32,
            method: self.options.methods[method],
            held_out: count,
            found: at_tops,
            average_precision: precisions / f64::from(count.max(1)),
            detected: 0,
            days: f64::NAN,
            waited: f64::NAN,
        }
    }

    /// What was found, after the last window.
    ///
    /// # Errors
    /// Where no window has anybody who was held out.
    pub fn finish(mut self) -> Result<Report, EvaluateError> {
        if self.last.iter().all(|row| row.held_out == 0) {
            return Err(EvaluateError::NobodySeen);
        }
        for row in &mut self.last {
            let method = self.options.methods.iter().position(|method| *method == row.method);
            let draw = &self.draws[row.draw as usize];
            let found = draw.found[method.unwrap_or(0)].iter().zip(&self.accounts);
            let held_out = found.zip(&draw.known).filter(|(_, known)| !**known);
            let begun = held_out.filter_map(|((at, account), _)| Some((*at, account.begun?)));
            let waits: Vec<(bool, f64)> = begun
                .map(|(at, begun)| (at.is_some(), (at.unwrap_or(self.end) - begun).max(0.0)))
                .collect();
            let of = |all: bool| -> Vec<f64> {
                let those = waits.iter().filter(|(detected, _)| all || *detected);
                those.map(|(_, days)| *days).collect()
            };
            row.detected = of(false).len() as u32;
            (row.days, row.waited) = (mean(&of(false)), mean(&of(true)));
        }
        Ok(self.report())
    }

    fn report(self) -> Report {
        let Evaluator { options, accounts, last: rows, population, windows, .. } = self;
        let ranks = options.tops.iter().map(|&top| rank_of(top, population as usize) as u32);
        let ranks: Vec<u32> = ranks.collect();
        let held_out = mean(&rows.iter().map(|row| f64::from(row.held_out)).collect::<Vec<_>>());
        let ceilings = ranks.iter().map(|&k| (f64::from(k) / held_out).min(1.0)).collect();
        let first = rank_of(options.top, population as usize) as u32;
        let compared = ranks.iter().position(|&k| k == first).unwrap_or(0);
        let of = |method: Method| rows.iter().filter(move |row| row.method == method);
        let recalls = |method: Method, at: usize| -> Vec<f64> {
            of(method).map(|row| share(row.found[at], row.held_out)).collect()
        };
        let baselines = options.methods.iter().filter_map(|method| match method {
            Method::Baseline(baseline) => Some(*baseline),
            _ => None,
        });
        let best_baseline = baselines.max_by(|a, b| {
            let recall = |of: Baseline| mean(&recalls(Method::Baseline(of), compared));
            recall(*a).total_cmp(&recall(*b))
        });
        let summary = |&method: &Method| {
            let figure = |of_row: &dyn Fn(&Row) -> f64| {
                let values: Vec<f64> = of(method).map(of_row).filter(|v| !v.is_nan()).collect();
                Figure::of(&values, options.seed)
            };
            let recall = |at: usize| Figure::of(&recalls(method, at), options.seed);
            let precision = |at: usize| figure(&|row| share(row.found[at], ranks[at]));
            Summary {
                method,
                recall: (0..ranks.len()).map(recall).collect(),
                precision: (0..ranks.len()).map(precision).collect(),
                average_precision: figure(&|row| row.average_precision),
                detected: figure(&|row| share(row.detected, row.held_out)),
                days: figure(&|row| row.days),
                waited: figure(&|row| row.waited),
                ratio: best_baseline.map_or_else(Figure::none, |best| {
                    let best = recalls(Method::Baseline(best), compared);
                    Figure::of_ratio(&recalls(method, compared), &best, options.seed)
                }),
            }
        };
        let summaries = options.methods.iter().map(summary).collect();
        let confirmed = accounts.iter().filter(|account| account.vertex.is_some()).count() as u32;
        let unseen = accounts.len() as u32 - confirmed;
        let accounts = population;
        Report {
            accounts,
            confirmed,
            unseen,
            windows,
            ranks,
            ceilings,
            best_baseline,
            summaries,
            rows,
            options,
        }
    }
}

fn check(options: &Evaluation) -> Result<(), EvaluateError> {
    let wrong = |name, expected, value| Err(EvaluateError::Share { name, expected, value });
    if !(0.0..1.0).contains(&options.known) {
        return wrong("the known part", "from 0 to below 1", options.known);
    }
    for &top in options.tops.iter().chain([&options.top]) {
        if !(top > 0.0 && top <= 1.0) {
            return wrong("the top of a ranking", "above 0, up to 1", top);
        }
    }
    let descending = options.tops.windows(2).find(|pair| pair[0] >= pair[1]);
    if let Some(pair) = descending {
        return wrong("each of the tops", "above the one before it", pair[1]);
    }
    if !options.tops.contains(&options.top) {
        return wrong("the top that methods are compared at", "among the tops", options.top);
    }
    match (options.draws, options.methods.len()) {
        (0, _) => Err(EvaluateError::Nothing("draws")),
        (_, 0) => Err(EvaluateError::Nothing("methods")),
        _ => Ok(()),
    }
}

/// k, of a share of so many accounts.
fn rank_of(top: f64, accounts: usize) -> usize {
    ((top * accounts as f64).round() as usize).max(1)
}

fn share(part: u32, all: u32) -> f64 {
    if all == 0 { 0.0 } else { f64::from(part) / f64::from(all) }
}

/// What scores are computed from.
struct Scene<'a, E> {
    executor: &'a E,
    window: &'a Window,
    ties: &'a Ties,
    known: Known<'a>,
}

impl<E: Executor> Scene<'_, E> {
    fn scores(&self, method: Method, detection: &Detection) -> Result<Vec<f64>, EvaluateError> {
        let graph = &self.window.graph;
        match method {
            Method::Baseline(baseline) => Ok(baseline.score(graph, self.known.bad)?),
            Method::Seeded => self.seeded(detection),
            Method::Ties => numbers(self.ties.excess().iter().copied()),
            Method::PageRankOfTies => {
                let settings = PageRank::default();
                Ok(baselines::page_rank(self.ties.graph(), self.known.bad, &settings)?)
            }
            Method::Spread | Method::Suspicion => {
                let (executor, ties) = (self.executor, self.ties);
                let spread = detect::spread(executor, ties, self.known, detection, None, &mut ())?;
                let strengths = spread.strengths.iter().copied();
                match method {
                    Method::Spread => numbers(strengths),
                    _ => {
                        let both = ties.excess().iter().zip(strengths);
                        numbers(both.map(|(&excess, strength)| suspicion(excess, strength)))
                    }
                }
            }
        }
    }

    fn seeded(&self, detection: &Detection) -> Result<Vec<f64>, EvaluateError> {
        let graph = &self.window.graph;
        let seeds = self.known.bad.iter().map(|&v| Seed { vertex: v, label: v, strength: 1.0 });
        let seeds: Vec<Seed> = seeds.collect();
        let program = Seeded::new(graph, detection.attenuation)?;
        let settings =
            Settings { stop: Seeded::stop(), seed: detection.seed, ..Settings::default() };
        let settings = Seeded::begin(settings, graph.vertices(), &seeds, Seeding::Fixed)?;
        let outcome = self.executor.run(graph, &program, &settings, &mut ())?;
        numbers(strengths(&outcome).into_iter())
    }
}

fn numbers(values: impl ExactSizeIterator<Item = f32>) -> Result<Vec<f64>, EvaluateError> {
    Ok(memory::collected(values.map(f64::from))?)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;

impl Figure {
    fn none() -> Figure {
        Figure { mean: f64::NAN, low: f64::NAN, high: f64::NAN }
    }

    /// The mean of values of draws.
    pub fn of(values: &[f64], seed: u64) -> Figure {
        Figure::bootstrap(values.len(), seed, |at| values[at], |_| 1.0)
    }

    /// The ratio of the means of two measures of the same draws.
    pub fn of_ratio(values: &[f64], of: &[f64], seed: u64) -> Figure {
        Figure::bootstrap(values.len().min(of.len()), seed, |at| values[at], |at| of[at])
    }

    fn bootstrap(
        count: usize,
        seed: u64,
        above: impl Fn(usize) -> f64,
        below: impl Fn(usize) -> f64,
    ) -> Figure {
        if count == 0 {
            return Figure::none();
        }
        let ratio = |draws: &mut dyn Iterator<Item = usize>| {
            let sums = draws.fold((0.0, 0.0), |sums, at| (sums.0 + above(at), sums.1 + below(at)));
            sums.0 / sums.1
        };
        let mut numbers = Numbers(mixed(seed ^ 0x6669_6775_7265));
        let mut means: Vec<f64> =
            (0..RESAMPLES).map(|_| ratio(&mut (0..count).map(|_| numbers.below(count)))).collect();
        means.sort_by(f64::total_cmp);
        let outside = RESAMPLES / 40;
        let mean = ratio(&mut (0..count));
        Figure { mean, low: means[outside], high: means[RESAMPLES - 1 - outside] }
    }
}

/// SplitMix64: Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// From 0 to below `end`; a bias of end / 2⁶⁴.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Report {
    /// A table of all draws, tab-separated: a row for each draw and method, after a header.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write_rows(&self, to: &mut dyn Write) -> io::Result<()> {
        write!(to, "draw\tmethod\theld_out")?;
        self.options.tops.iter().try_for_each(|top| write!(to, "\tfound_at_{top}"))?;
        writeln!(to, "\taverage_precision\tdetected\tdays_to_detection\tdays_waited")?;
        for row in &self.rows {
            write!(to, "{}\t{}\t{}", row.draw, row.method.name(), row.held_out)?;
            row.found.iter().try_for_each(|found| write!(to, "\t{found}"))?;
            let Row { average_precision, detected, days, waited, .. } = row;
            writeln!(to, "\t{average_precision:.6}\t{detected}\t{days:.4}\t{waited:.4}")?;
        }
        Ok(())
    }

    /// The summaries as tables of Markdown: recall at each share, precision, and the rest.
    pub fn tables(&self) -> String {
        let percent = |top: &f64| format!("{} %", round(100.0 * top, 4));
        let mut text = String::new();
        for precision in [false, true] {
            let title = if precision { "precision" } else { "recall" };
            text += &format!("| {title} in the first |");
            self.options.tops.iter().for_each(|top| text += &format!(" {} |", percent(top)));
            text += "\n|---|";
            self.options.tops.iter().for_each(|_| text += "--:|");
            text += "\n";
            if !precision {
                text += "| *the most there can be* |";
                self.ceilings.iter().for_each(|most| text += &format!(" {most:.3} |"));
                text += "\n";
            }
            for summary in &self.summaries {
                let of = if precision { &summary.precision } else { &summary.recall };
                text += &format!("| {} |", summary.method.name());
                of.iter().for_each(|figure| text += &format!(" {} |", figure.text(3)));
                text += "\n";
            }
            text += "\n";
        }
        text += &format!(
            "| | PR-AUC | recall in the first {} as a multiple of the best baseline's | detected | days to detection | days waited |\n|---|--:|--:|--:|--:|--:|\n",
            percent(&self.options.top)
        );
        for summary in &self.summaries {
            let Summary { method, average_precision, ratio, detected, days, waited, .. } = summary;
            let (ratio, days, waited) = (ratio.text(2), days.text(1), waited.text(1));
            let (area, detected) = (average_precision.text(3), detected.text(3));
            let name = method.name();
            text += &format!("| {name} | {area} | {ratio} | {detected} | {days} | {waited} |\n");
        }
        text
    }
}

fn round(value: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (value * unit).round() / unit
}

impl Figure {
    /// The mean and the interval, as in `0.528 [0.527, 0.529]`; a dash where there is none.
    fn text(&self, digits: usize) -> String {
        if self.mean.is_nan() {
            return "–".into();
        }
        let Figure { mean, low, high } = self;
        format!("{mean:.digits$} [{low:.digits$}, {high:.digits$}]")
    }
}
