//! Ranking methods: what each knows, and the scores that it assigns.

use super::EvaluateError;
use crate::baselines::{Baseline, page_rank_settings, personalized_page_rank};
use crate::detect::{self, Detection, Known, suspicion};
use crate::evidence::{ALL, Evidence, KINDS, OF_KNOWN, View};
use crate::model::{self, Earlier, KnownGood, Scorecard};
use crate::ties::Ties;
use crate::{Entities, Window};
use rayon::prelude::*;
use ripplet_graph::{VertexId, memory};
use ripplet_lp::programs::{Seed, Seeded, Seeding, strengths};
use ripplet_lp::{DynProgram, Executor, Settings};
use std::cell::RefCell;

/// Method that ranks accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A baseline.
    Baseline(Baseline),
    /// [`Seeded`] with the window's own weights: the strength, each known account being its own cluster.
    Seeded,
    /// Excess of the most surprising tie; uses no known accounts.
    Ties,
    /// Strength of [`Suspicion`](detect::Suspicion): known accounts, along significant ties.
    Spread,
    /// Personalized PageRank along significant ties.
    PageRankOfTies,
    /// [`detect::suspicion()`]: the score by which detection ranks members.
    Suspicion,
    /// [`model::score`], or [`model::score_by`] with a given model: the score of every entity that a run writes.
    Score,
    /// One kind of evidence alone, an index into [`ALL`].
    Evidence(usize),
}

impl Method {
    /// Returns all methods: baselines first.
    pub fn all() -> Vec<Method> {
        use Method::{PageRankOfTies, Score, Seeded, Spread, Suspicion, Ties};
        let others = [Seeded, Ties, Spread, PageRankOfTies, Suspicion, Score];
        let baselines = Baseline::ALL.map(Method::Baseline);
        let evidence = (0..KINDS).map(Method::Evidence);
        baselines.into_iter().chain(others).chain(evidence).collect()
    }

    /// Returns the name that tables use.
    pub fn name(self) -> &'static str {
        match self {
            Method::Baseline(baseline) => baseline.name(),
            Method::Seeded => "seeded",
            Method::Ties => "ties alone",
            Method::Spread => "labels along ties",
            Method::PageRankOfTies => "pagerank along ties",
            Method::Suspicion => "suspicion",
            Method::Score => "score",
            Method::Evidence(kind) => ALL.get(kind).map_or("evidence", |of| of.method),
        }
    }

    pub(super) fn looks_at_known(self) -> bool {
        if let Method::Evidence(kind) = self {
            return kind < OF_KNOWN;
        }
        let blind = [Baseline::Degree, Baseline::Strength].map(Method::Baseline);
        !blind.contains(&self) && self != Method::Ties
    }
}

/// Inputs of a score.
pub(super) struct Context<'a> {
    pub(super) executor: &'a dyn Executor,
    pub(super) window: &'a Window,
    pub(super) ties: &'a Ties,
    pub(super) known: Known<'a>,
    pub(super) entities: &'a Entities,
    /// Entities that analysts cleared, ascending.
    pub(super) cleared: &'a [VertexId],
    /// The scorecard of [`Method::Score`]; `None` if one is learnt.
    pub(super) card: Option<&'a Scorecard>,
    /// Evidence with the known accounts, if a method needs it.
    pub(super) evidence: Option<&'a Evidence<'a>>,
    /// What the draw's scorecards learnt in earlier windows, and then in this one.
    pub(super) earlier: RefCell<Earlier>,
}

impl Context<'_> {
    /// Returns the score of each vertex.
    pub(super) fn scores(
        &self,
        method: Method,
        detection: &Detection,
    ) -> Result<Vec<f64>, EvaluateError> {
        let graph = &self.window.graph;
        match method {
            Method::Baseline(baseline) => Ok(baseline.score(graph, self.known.bad)?),
            Method::Seeded => self.seeded(detection),
            Method::Ties => numbers(self.ties.excess().iter().copied()),
            Method::PageRankOfTies => {
                let settings = page_rank_settings(true);
                Ok(personalized_page_rank(self.ties.graph(), self.known.bad, &settings)?)
            }
            Method::Score => match self.evidence {
                None => Ok(memory::zeros(graph.vertices() as usize)?),
                Some(evidence) => {
                    let good = KnownGood { trusted: self.known.trusted, cleared: self.cleared };
                    let (entities, vertices) = (self.entities, graph.vertices());
                    let scores = match self.card {
                        Some(card) => {
                            model::score_by(evidence, entities, good, vertices, card.clone())?
                        }
                        None => {
                            let earlier = &self.earlier.borrow();
                            model::score(evidence, entities, good, earlier, vertices)?
                        }
                    };
                    self.earlier.replace(scores.earlier);
                    let points = scores.points.iter().zip(0..graph.vertices());
                    // Behind all accounts that have transactions in the window.
                    let ranked = points.map(|(&points, v)| match evidence.is_active(v) {
                        true => f64::from(points),
                        false => f64::NEG_INFINITY,
                    });
                    Ok(ranked.collect())
                }
            },
            Method::Evidence(kind) => match self.evidence {
                None => Ok(memory::zeros(graph.vertices() as usize)?),
                Some(evidence) => {
                    let all = (0..graph.vertices()).into_par_iter();
                    Ok(all.map(|v| f64::from(evidence.value(kind, v, View::All))).collect())
                }
            },
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
        let program = Box::<dyn DynProgram>::from(Seeded::new(graph, detection.attenuation)?);
        let settings =
            Settings { stop: Seeded::stop(), seed: detection.seed, ..Settings::default() };
        let settings = Seeded::begin(settings, graph.vertices(), &seeds, Seeding::Fixed)?;
        let outcome = self.executor.run_on(graph.into(), &*program, &settings, &mut ())?;
        numbers(strengths(&outcome).into_iter())
    }
}

fn numbers(values: impl ExactSizeIterator<Item = f32>) -> Result<Vec<f64>, EvaluateError> {
    Ok(memory::collected(values.map(f64::from))?)
}
