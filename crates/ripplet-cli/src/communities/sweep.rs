//! Layered label propagation at many resolutions: the best of them, and the order that all make.

use super::program::SweepJob;
use super::rows::Rows;
use super::work::{self, Run, Work};
use crate::failure::Failure;
use crate::output::written;
use crate::stats::{ExchangeFigures, Layer, Stages};
use ripplet::device::AnyExecutor;
use ripplet::io::write::{ColumnData, VertexColumn, write_vertex_table};
use ripplet::lp::programs::LayeredOrder;
use ripplet::lp::sweep::{Sweep, SweepError, Swept};

impl Work<'_> {
    /// Runs the program at each γ, keeps the communities of the highest modularity, and writes the
    /// order of the vertices if one is requested.
    pub(super) fn sweep(&self, job: &SweepJob) -> Result<(), Failure> {
        self.check(&*Sweep::program())?;
        let sweep = Sweep::halved(job.halvings);
        let sweep = if job.order.is_some() { sweep.with_order() } else { sweep };
        let swept = self.on_device(|executor| self.sweep_on(executor, sweep))?;
        let Some((run, figures, order)) = swept else { return Ok(()) };
        if let (Some(order), Some(path)) = (order, &job.order) {
            let values = ColumnData::U32(order.places());
            let places = VertexColumn { name: "place", len: 1, values };
            written(write_vertex_table(path, self.graph.ids(), &[places]))?;
        }
        self.finish(run, Some(figures), Box::new(|outcome| Ok(Rows::of_labels(outcome))))
    }

    /// Runs the sweep on a device; returns the best run, the figures of all, and their order, or `None` if only the
    /// plan is requested.
    fn sweep_on(
        &self,
        executor: &AnyExecutor,
        sweep: Sweep,
    ) -> Result<Option<(Run, work::Sweep, Option<LayeredOrder>)>, Failure> {
        let (graph, settings) = (self.graph, &*self.settings.borrow());
        let program = Sweep::program();
        let plan = sweep.plan(executor, graph, settings);
        let plan = self.with_check(plan, &*program, settings);
        let plans = || executor.plans(graph, &*program, settings);
        if self.is_estimate(executor, &*program, settings, &plan, plans)? {
            return Ok(None);
        }
        let mut seconds = Stages::default();
        let watch = &mut self.console.watch().until(settings.stop.clone(), graph.vertices());
        let swept = sweep.run(executor, graph, settings, watch, |outcome, time| {
            seconds.add_run(time.as_secs_f64(), outcome);
            self.console.stage("measuring modularity");
        });
        let Swept { layers, best, outcome, order } = swept.map_err(|error| match error {
            SweepError::Run(error) => Failure::from(error),
            SweepError::Quality(error) => error.into(),
        })?;
        let run = Run {
            choices: self.choices(executor, settings),
            plan,
            outcome,
            seconds,
            checkpoints: None,
            exchange: executor.exchanged().map(ExchangeFigures::from),
            ranks: None,
            refinement: None,
        };
        let layers = layers.into_iter().map(Layer::from).collect();
        Ok(Some((run, work::Sweep { layers, best }, order)))
    }
}
