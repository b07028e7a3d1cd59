//! Ranking methods: what each knows, and the scores that it assigns.

use super::EvaluateError;
use crate::Window;
use crate::baselines::{self, Baseline, PageRank};
use crate::detect::{self, Detection, Known, suspicion};
use crate::ties::Ties;
use ripplet_graph::memory;
use ripplet_lp::programs::{Seed, Seeded, Seeding, strengths};
use ripplet_lp::{DynProgram, Executor, Settings};

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
}

impl Method {
    /// Returns all methods: baselines first.
    pub fn all() -> Vec<Method> {
        use Method::{PageRankOfTies, Seeded, Spread, Suspicion, Ties};
        let others = [Seeded, Ties, Spread, PageRankOfTies, Suspicion];
        Baseline::ALL.map(Method::Baseline).into_iter().chain(others).collect()
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
        }
    }

    pub(super) fn looks_at_known(self) -> bool {
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
