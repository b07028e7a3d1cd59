//! Ways to rank accounts: who knows what, and the scores that they give.

use super::EvaluateError;
use crate::Window;
use crate::baselines::{self, Baseline, PageRank};
use crate::detect::{self, Detection, Known, suspicion};
use crate::ties::Ties;
use ripplet_graph::memory;
use ripplet_lp::programs::{Seed, Seeded, Seeding, strengths};
use ripplet_lp::{DynProgram, Executor, Settings};

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
    /// [`detect::suspicion()`]: what detection ranks members by.
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

    pub(super) fn looks_at_known(self) -> bool {
        let blind = [Baseline::Degree, Baseline::Strength].map(Method::Baseline);
        !blind.contains(&self) && self != Method::Ties
    }
}

/// What scores are computed from.
pub(super) struct Scene<'a> {
    pub(super) executor: &'a dyn Executor,
    pub(super) window: &'a Window,
    pub(super) ties: &'a Ties,
    pub(super) known: Known<'a>,
}

impl Scene<'_> {
    /// Each vertex' score.
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
