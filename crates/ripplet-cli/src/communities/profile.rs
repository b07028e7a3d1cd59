//! A resolution profile: partitions at many resolutions, and the table of their figures.

use super::program::{ProfileJob, RefineJob};
use super::refine::write_rows;
use super::rows::Rows;
use super::work::{Run, Work};
use crate::failure::Failure;
use crate::memory;
use crate::stats::{Choices, Estimate, ProfileFigures, RefineFigures, Shape, Stages};
use ripplet::communities::columns_of_profile;
use ripplet::lp::Outcome;
use ripplet::lp::refine::{ProfileOptions, Profiled, RefineOptions, profile, profile_plan};
use ripplet::swarm::Column;
use std::path::Path;
use std::time::Instant;

impl Work<'_> {
    /// Finds communities at many resolutions, and writes their figures and the chosen communities.
    pub(super) fn profile(&self, job: &RefineJob, of: &ProfileJob) -> Result<(), Failure> {
        let settings = self.settings.borrow();
        let refine = RefineOptions {
            seed: settings.seed,
            initial: settings.initial.clone(),
            ..ProfileOptions::new(job.objective).refine
        };
        let options = ProfileOptions { refine, range: of.range.clone(), runs: of.runs };
        let plan = self.with_tables(profile_plan(self.graph, &options, self.threads), job);
        let choices = Choices { phases: None, ..self.choices(&self.executor, &settings) };
        if let Some(form) = self.job.estimate {
            let estimate = Estimate::new(Shape::of(self.graph), &choices, &plan);
            return form.print_as(&estimate, || estimate.lines(&choices.device));
        }
        let less = ", or use fewer --threads or --profile-runs";
        memory::check_plan(&plan, self.job.host_memory, less)?;
        let start = Instant::now();
        let found = profile(self.graph, &options, &mut self.console.watch())?;
        let seconds = start.elapsed().as_secs_f64();
        let chosen = found.widest();
        self.console.stage(format!("writing {}", of.path.display()));
        write_table(&of.path, &found.partitions, chosen)?;
        if found.is_cut {
            let (runs, more) = (found.runs, 2 * u64::from(found.runs));
            self.console.remark(&format!(
                "the profile ended after {runs} runs: between its rows there may be others; \
                 --profile-runs {more} looks for them"
            ));
        }
        let (count, runs, is_cut) = (found.partitions.len(), found.runs, found.is_cut);
        let run = found.chosen()?;
        let figures = ProfileFigures { runs, partitions: count, chosen, is_cut };
        let refinement = Some(RefineFigures { profile: Some(figures), ..RefineFigures::of(&run) });
        let outcome = Outcome { split: None, ..Outcome::from(run) };
        let mut stages = Stages::default();
        stages.add_run(seconds, &outcome);
        let run = Run {
            choices,
            plan,
            outcome,
            seconds: stages,
            checkpoints: None,
            exchange: None,
            ranks: None,
            refinement,
        };
        if let Some(path) = &job.levels {
            self.write_levels(job.objective, &run, path)?;
        }
        if let Some(path) = &job.dendrogram {
            self.write_dendrogram(job.objective, &run, path)?;
        }
        self.finish(run, None, Box::new(|outcome| Ok(Rows::of_labels(outcome))))
    }
}

/// Writes a row for each partition.
fn write_table(path: &Path, partitions: &[Profiled], chosen: usize) -> Result<(), Failure> {
    let mut columns = columns_of_profile(partitions)?;
    let is_chosen = (0..partitions.len()).map(|index| index == chosen).collect();
    columns.insert(1, ("chosen", Column::Bool(is_chosen)));
    write_rows(path, "partition", 0, &columns)
}
