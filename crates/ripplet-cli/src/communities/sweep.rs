//! Layered label propagation at many resolutions: the best of them, and the order that all make.

use super::program::SweepJob;
use super::rows::Rows;
use super::work::{Run, Sweep, Work, judge};
use crate::failure::Failure;
use crate::output::written;
use crate::stats::{ExchangeFigures, Layer, Stages};
use ripplet::device::AnyExecutor;
use ripplet::io::write::{ColumnData, VertexColumn, write_vertex_table};
use ripplet::lp::programs::{Gamma, LayeredOrder, Llp, sweep};
use ripplet::lp::quality::Summary;
use ripplet::lp::{DynProgram, Executor, Outcome, RunError};
use std::time::Instant;

/// A finished sweep: its best run, and the order of all runs.
struct Swept {
    run: Run,
    sweep: Sweep,
    order: Option<LayeredOrder>,
}

impl Work<'_> {
    /// Runs the program at each γ, keeps the communities of the highest modularity, and writes the
    /// order of the vertices if one is requested.
    pub(super) fn sweep(&self, job: &SweepJob) -> Result<(), Failure> {
        self.check(&*Box::<dyn DynProgram>::from(Llp::new(Gamma::ZERO)))?;
        let swept = self.on_device(|executor| self.sweep_on(executor, job))?;
        let Some(Swept { run, sweep, order }) = swept else { return Ok(()) };
        if let (Some(order), Some(path)) = (order, &job.order) {
            let values = ColumnData::U32(order.places());
            let places = VertexColumn { name: "place", len: 1, values };
            written(write_vertex_table(path, self.graph.ids(), &[places]))?;
        }
        self.finish(run, Some(sweep), Box::new(|outcome| Ok(Rows::of_labels(outcome))))
    }

    fn sweep_on(&self, executor: &AnyExecutor, job: &SweepJob) -> Result<Option<Swept>, Failure> {
        let (graph, settings) = (self.graph, &*self.settings.borrow());
        let gammas = Gamma::halved(job.halvings);
        let program = Box::<dyn DynProgram>::from(Llp::new(Gamma::ZERO));
        let mut plan = executor.plan(graph, &*program, settings);
        plan = plan.with("the best labels so far", 4 * u64::from(graph.vertices()));
        if job.order.is_some() {
            plan = plan.with("the layered order", LayeredOrder::bytes_for(graph.vertices()));
        }
        plan = self.with_check(plan, &*program, settings);
        let plans = || executor.plans(graph, &*program, settings);
        if self.is_estimate(executor, &*program, settings, &plan, plans)? {
            return Ok(None);
        }
        let refused = |_| Failure::Run(RunError::OutOfMemory { bytes: plan.algorithm_host() });
        let mut order = match job.order {
            Some(_) => Some(LayeredOrder::new(graph.vertices()).map_err(refused)?),
            None => None,
        };
        let (mut layers, mut best): (Vec<Layer>, Option<(Summary, Outcome)>) = (Vec::new(), None);
        let (mut judged, mut seconds, mut start) = (Ok(()), Stages::default(), Instant::now());
        let watch = &mut self.console.watch().until(settings.stop.clone(), graph.vertices());
        sweep(executor, graph, &gammas, settings, watch, |gamma, outcome| {
            if let Some(order) = &mut order {
                order.refine(&outcome.labels);
            }
            seconds.add_run(start.elapsed().as_secs_f64(), &outcome);
            let gamma = gamma.value();
            match judge(self.console, graph, &outcome) {
                Err(failure) => judged = Err(failure),
                Ok(summary) => {
                    layers.push(Layer { gamma, iterations: outcome.rounds.len(), summary });
                    if best.as_ref().is_none_or(|(top, _)| summary.modularity > top.modularity) {
                        best = Some((summary, outcome));
                    }
                }
            }
            start = Instant::now();
        })?;
        judged?;
        let choices = self.choices(executor, settings);
        Ok(best.map(|(best, outcome)| Swept {
            run: Run {
                choices,
                plan,
                outcome,
                seconds,
                checkpoints: None,
                exchange: executor.exchanged().map(ExchangeFigures::from),
                ranks: None,
                refinement: None,
            },
            sweep: Sweep { layers, best },
            order,
        }))
    }
}
