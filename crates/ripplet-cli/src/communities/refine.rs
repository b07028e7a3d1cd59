//! A run of refinement: plan, run, then the output as for label propagation.

use super::checkpoint::Keeping;
use super::program::RefineJob;
use super::rows::Rows;
use super::work::{Run, Work};
use crate::console::Console;
use crate::failure::Failure;
use crate::memory;
use crate::output::written;
use crate::reading::read_list;
use crate::stats::{Choices, Estimate, RefineFigures, Shape, Stages};
use ripplet::communities::{NamedColumn, columns_of_dendrogram};
use ripplet::device::AnyExecutor;
use ripplet::graph::{Direction, GraphView, VertexId, VertexIds};
use ripplet::io::write::{
    ColumnData, VertexColumn, numbered_by_size, write_numbered_table, write_vertex_table,
};
use ripplet::lp::refine::{
    Objective, RefineError, RefineOptions, Resolution, dendrogram, dendrogram_bytes, hierarchy,
    hierarchy_bytes,
};
use ripplet::lp::{Keeper, Outcome, Plan, Relay, RunIdentity, Settings};
use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

impl Work<'_> {
    /// Finds communities by refinement, and writes them.
    pub(super) fn refine(&self, job: &RefineJob, fixed: Vec<VertexId>) -> Result<(), Failure> {
        job.check_direction(self.graph)?;
        if let Some(profile) = &job.profile {
            return self.profile(job, profile);
        }
        let settings = self.settings.borrow();
        let options = RefineOptions {
            seed: settings.seed,
            initial: settings.initial.clone(),
            fixed,
            max_size: job.max_size,
            ..RefineOptions::new(job.objective)
        };
        let run = self.on_device(|executor| self.refine_on(executor, job, &options, &settings))?;
        let Some(run) = run else { return Ok(()) };
        if let Some(path) = &job.levels {
            self.write_levels(job.objective, &run, path)?;
        }
        if let Some(path) = &job.dendrogram {
            self.write_dendrogram(job.objective, &run, path)?;
        }
        self.finish(run, None, Box::new(|outcome| Ok(Rows::of_labels(outcome))))?;
        self.store.iter().for_each(|store| store.remove(self.console));
        Ok(())
    }

    /// Refines on a device; returns `None` if only the plan is requested.
    fn refine_on(
        &self,
        executor: &AnyExecutor,
        job: &RefineJob,
        options: &RefineOptions,
        settings: &Settings,
    ) -> Result<Option<Run>, Failure> {
        let plan = executor.plan_refinement(self.graph, options, self.threads);
        let mut plan = self.with_tables(plan, job);
        if self.job.checkpoint.is_some() {
            plan = executor.add_checkpoints_of_refinement(plan, self.graph);
        }
        let choices = Choices { phases: None, ..self.choices(executor, settings) };
        if let Some(form) = self.job.estimate {
            if self.job.device.device().is_auto() {
                // A run that does not fit a GPU would use the CPU, with another plan.
                executor.check_memory(&plan)?;
            }
            let estimate = Estimate::new(Shape::of(self.graph), &choices, &plan);
            form.print_as(&estimate, || estimate.lines(&choices.device))?;
            return Ok(None);
        }
        memory::check_plan(&plan, self.job.host_memory, ", or use fewer --threads")?;
        let (mut options, mut keeping) = (Cow::Borrowed(options), None);
        if let Some(store) = &self.store {
            let identity = || RunIdentity::of_refinement(self.graph, &options);
            let (resume, begun) = store.begin_run(identity, self.console)?;
            (options.to_mut().resume, keeping) = (resume, Some(begun));
        }
        let start = Instant::now();
        let keeper = keeping.as_mut().map(|keeping| keeping as &mut dyn Keeper);
        let watch = &mut Relay { inner: &mut self.console.watch(), keeper, on_round: None };
        let (refined, device_seconds) = executor.run_refinement(self.graph, &options, watch)?;
        let refinement = Some(RefineFigures::of(&refined));
        let outcome = Outcome { device_seconds, ..Outcome::from(refined) };
        let mut seconds = Stages::default();
        let keeping_seconds = keeping.as_ref().map_or(0.0, Keeping::seconds);
        seconds.add_run(start.elapsed().as_secs_f64() - keeping_seconds, &outcome);
        let checkpoints = keeping.map(|keeping| keeping.figures());
        Ok(Some(Run {
            choices,
            plan,
            outcome,
            seconds,
            checkpoints,
            exchange: None,
            ranks: None,
            refinement,
        }))
    }

    /// Adds the tables beside the communities to the plan of a run.
    pub(super) fn with_tables(&self, mut plan: Plan, job: &RefineJob) -> Plan {
        let vertices = self.graph.vertices().into();
        if job.levels.is_some() {
            plan = plan.with("levels", hierarchy_bytes(vertices));
        }
        if job.dendrogram.is_some() {
            // At most: each vertex may be a community.
            plan = plan.with("a dendrogram", dendrogram_bytes(vertices, self.graph.arcs()));
        }
        plan
    }

    /// Finds the parts of the communities at the resolution of the run, and writes them.
    pub(super) fn write_levels(
        &self,
        objective: Objective,
        run: &Run,
        path: &Path,
    ) -> Result<(), Failure> {
        let objective = match (objective, &run.refinement) {
            (Objective::Modularity(_), Some(refinement)) => {
                Objective::Modularity(Resolution::Fixed(refinement.resolution))
            }
            (Objective::Cpm(_), Some(refinement)) if refinement.profile.is_some() => {
                Objective::Cpm(refinement.resolution)
            }
            _ => objective,
        };
        let (seed, labels) = (self.settings.borrow().seed, &run.outcome.labels);
        let watch = &mut self.console.watch();
        let parts = hierarchy(self.graph, objective, seed, labels, watch)?;
        let names: Vec<String> = (1..=parts.len()).map(|level| format!("part_{level}")).collect();
        let names = names.iter().map(String::as_str).chain(["community"]);
        let levels: Vec<Vec<u32>> = parts
            .iter()
            .chain([labels])
            .map(|labels| numbered_by_size(labels, labels.len()))
            .collect::<Result<_, _>>()?;
        let columns: Vec<VertexColumn<'_>> = names
            .zip(&levels)
            .map(|(name, values)| VertexColumn { name, len: 1, values: ColumnData::U32(values) })
            .collect();
        self.console.stage(format!("writing {}", path.display()));
        written(write_vertex_table(path, self.graph.ids(), &columns))
    }

    /// Finds how the communities join, and writes it.
    pub(super) fn write_dendrogram(
        &self,
        objective: Objective,
        run: &Run,
        path: &Path,
    ) -> Result<(), Failure> {
        let labels = &run.outcome.labels;
        let numbers = numbered_by_size(labels, labels.len())?;
        let merges = dendrogram(self.graph, objective, &numbers, &mut self.console.watch())?;
        let communities = numbers.iter().max().map_or(0, |largest| largest + 1);
        let columns = columns_of_dendrogram(&merges)?;
        self.console.stage(format!("writing {}", path.display()));
        write_rows(path, "cluster", communities, &columns)
    }
}

/// Writes a table whose rows have numbers from `first`.
pub(super) fn write_rows(
    path: &Path,
    number: &'static str,
    first: u32,
    columns: &[NamedColumn],
) -> Result<(), Failure> {
    let columns = columns.iter();
    let columns: Vec<VertexColumn<'_>> = columns
        .map(|(name, column)| VertexColumn { name, len: 1, values: column.data() })
        .collect();
    written(write_numbered_table(path, number, first, &columns))
}

impl RefineJob {
    /// Refuses a graph whose tables cannot be made, before the run.
    fn check_direction(&self, graph: GraphView<'_>) -> Result<(), RefineError> {
        match (&self.dendrogram, graph.direction()) {
            (Some(_), Direction::Directed) => Err(RefineError::DirectedDendrogram),
            _ => Ok(()),
        }
    }

    /// Reads the vertices that keep their community.
    pub(super) fn read_fixed(
        &self,
        ids: &VertexIds,
        console: &Console,
    ) -> Result<Vec<VertexId>, Failure> {
        match &self.fixed {
            Some(path) => read_list(path, "--fixed", "to fix", ids, console),
            None => Ok(Vec::new()),
        }
    }
}

impl From<RefineError> for Failure {
    fn from(error: RefineError) -> Failure {
        let help = match error {
            RefineError::Run(error) => return error.into(),
            RefineError::Checkpoint(_) => "name another folder, or leave --resume out",
            RefineError::DirectedDendrogram => "leave --directed out, or leave --dendrogram out",
            RefineError::Scale { .. } => "multiply the weights, or give another --resolution",
            RefineError::Weights { .. } => "scale the weights down, or leave --weighted out",
            RefineError::Resolution { .. } => "give --resolution such a number",
            RefineError::Range { .. } => "give --resolution such a range",
            RefineError::Length { .. } => "give each vertex a label",
            RefineError::FixedVertex { .. } => "list vertices of the graph",
            RefineError::FixedTwice { .. } => "list each vertex once",
            RefineError::InitialSize { .. } => "give a larger --max-size, or other --labels",
        };
        Failure::refused(error.to_string(), help)
    }
}
