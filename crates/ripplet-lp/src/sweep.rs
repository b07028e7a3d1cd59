//! A sweep: [`Llp`] at many resolutions, the best of its results, and the order that they all make.
//!
//! ```text
//! for each γ of 1, 1/2, … 2^−halvings, 0, each from the initial labels:
//!     labels = llp(γ)
//!     keep the labels of the highest modularity (of equal ones the first)
//!     refine the layered order by the labels
//! ```
//!
//! The resolution limit of one score is thereby left to the user: each γ has its own line in [`Swept::layers`].
//!
//! Memory: [`Sweep::plan`]. Determinism: that of the schedule.
//!
//! Reference: Boldi, Rosa, Santini, Vigna, WWW 2011.

use crate::programs::{Gamma, LayeredOrder, Llp};
use crate::quality::{QualityError, Summary};
use crate::{DynProgram, Executor, Label, Outcome, Plan, RoundObserver, RunError, Settings};
use ripplet_graph::GraphView;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A sweep over γ = 1, 1/2, … and 0.
///
/// # Examples
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::{Settings, cpu::CpuExecutor, sweep::Sweep};
///
/// // Two triangles with one edge between them.
/// let ids = VertexIds::Consecutive { first: 0, count: 6 };
/// let edges = EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// let graph = GraphBuilder::new().build(edges)?;
///
/// let executor = CpuExecutor::new(None)?;
/// let swept = Sweep::halved(4).run(&executor, &graph, &Settings::default(), &mut (), |_, _| ())?;
/// assert_eq!(swept.layers.len(), 6);
/// assert_eq!(swept.best.communities, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    halvings: u32,
    has_order: bool,
}

/// Result of a sweep.
#[derive(Debug)]
pub struct Swept {
    /// The result at each γ, in their order.
    pub layers: Vec<Layer>,
    /// The result of the highest modularity.
    pub best: Summary,
    /// Its run.
    pub outcome: Outcome,
    /// The order that all labels make, if one was requested.
    pub order: Option<LayeredOrder>,
}

/// Result at one γ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// The γ.
    pub gamma: f64,
    /// The number of rounds.
    pub rounds: usize,
    /// The number of communities, and their modularity.
    pub summary: Summary,
}

/// Error of a sweep.
#[derive(Debug, Error)]
pub enum SweepError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The modularity could not be measured.
    #[error(transparent)]
    Quality(#[from] QualityError),
}

impl Sweep {
    /// Creates the sweep over 1, 1/2, … 2^−`halvings` and 0; see [`Gamma::halved`].
    pub fn halved(halvings: u32) -> Sweep {
        Sweep { halvings, has_order: false }
    }

    /// Makes the layered order of the vertices as well.
    #[must_use]
    pub fn with_order(self) -> Sweep {
        Sweep { has_order: true, ..self }
    }

    /// Returns the program at one of the γ; all need the same memory.
    pub fn program() -> Box<dyn DynProgram> {
        Llp::new(Gamma::ZERO).into()
    }

    /// Returns the memory of the sweep.
    pub fn plan<'g>(
        self,
        executor: &dyn Executor,
        graph: impl Into<GraphView<'g>>,
        settings: &Settings,
    ) -> Plan {
        let graph = graph.into();
        let labels = size_of::<Label>() as u64 * u64::from(graph.vertices());
        let plan = executor.plan_on(graph, &*Sweep::program(), settings);
        let plan = plan.with("the best labels so far", labels);
        match self.has_order {
            true => plan.with("the layered order", LayeredOrder::bytes_for(graph.vertices())),
            false => plan,
        }
    }

    /// Runs [`Llp`] at each γ. `visit` receives each outcome with the time of its run, before its modularity is
    /// measured.
    ///
    /// # Errors
    /// See [`Executor::run`]; also if memory for the order is refused, or the modularity cannot be measured.
    pub fn run<'g>(
        self,
        executor: &dyn Executor,
        graph: impl Into<GraphView<'g>>,
        settings: &Settings,
        observer: &mut dyn RoundObserver,
        mut visit: impl FnMut(&Outcome, Duration),
    ) -> Result<Swept, SweepError> {
        let graph = graph.into();
        let mut order = match self.has_order {
            true => Some(LayeredOrder::new(graph.vertices()).map_err(RunError::from)?),
            false => None,
        };
        let mut layer = |gamma: Gamma| -> Result<(Layer, Outcome), SweepError> {
            let start = Instant::now();
            let program = Box::<dyn DynProgram>::from(Llp::new(gamma));
            let outcome = executor.run_on(graph, &*program, settings, observer)?;
            if let Some(order) = &mut order {
                order.refine(&outcome.labels);
            }
            visit(&outcome, start.elapsed());
            let summary = Summary::of(graph, &outcome.labels)?;
            Ok((Layer { gamma: gamma.value(), rounds: outcome.rounds.len(), summary }, outcome))
        };
        let (first, mut best) = layer(Gamma::ONE)?;
        let (mut layers, mut top) = (vec![first], first.summary);
        for gamma in Gamma::halved(self.halvings).into_iter().skip(1) {
            let (next, outcome) = layer(gamma)?;
            if next.summary.modularity > top.modularity {
                (top, best) = (next.summary, outcome);
            }
            layers.push(next);
        }
        Ok(Swept { layers, best: top, outcome: best, order })
    }
}
