//! A run of refinement: plan, run, then the output as for label propagation.

use super::program::RefineJob;
use super::rows::Rows;
use super::work::{Run, Work};
use crate::failure::Failure;
use crate::memory;
use crate::stats::{Choices, Estimate, RefineFigures, Shape, Stages};
use ripplet::lp::Outcome;
use ripplet::lp::refine::{RefineError, RefineOptions, plan, refine};
use std::time::Instant;

impl Work<'_> {
    /// Finds communities by refinement, and writes them.
    pub(super) fn refine(&self, job: &RefineJob) -> Result<(), Failure> {
        let settings = self.settings.borrow();
        let options = RefineOptions {
            seed: settings.seed,
            initial: settings.initial.clone(),
            ..RefineOptions::new(job.objective)
        };
        let plan = plan(self.graph, &options, self.threads);
        let choices = Choices { phases: None, ..self.choices(&self.executor, &settings) };
        if let Some(form) = self.job.estimate {
            let estimate = Estimate::new(Shape::of(self.graph), &choices, &plan);
            return form.print_as(&estimate, || estimate.lines(&choices.device));
        }
        memory::check_plan(&plan, self.job.host_memory, ", or use fewer --threads")?;
        let start = Instant::now();
        let watch = &mut self.console.watch();
        let refined = refine(self.graph, &options, watch)?;
        let refinement = Some(RefineFigures::of(&refined));
        let outcome = Outcome::from(refined);
        let mut seconds = Stages::default();
        seconds.add_run(start.elapsed().as_secs_f64(), &outcome);
        let run =
            Run { choices, plan, outcome, seconds, checkpoints: None, exchange: None, refinement };
        self.finish(run, None, Box::new(|outcome| Ok(Rows::of_labels(outcome))))
    }
}

impl From<RefineError> for Failure {
    fn from(error: RefineError) -> Failure {
        let help = match error {
            RefineError::Run(error) => return error.into(),
            RefineError::Directed => "leave --directed out, or leave --refine out",
            RefineError::Weights { .. } => "scale the weights down, or leave --weighted out",
            RefineError::Resolution { .. } => "give --resolution such a number",
            RefineError::Length { .. } => "give each vertex a label",
        };
        Failure::refused(error.to_string(), help)
    }
}
