//! A run on one graph: plan, run, quality, output.

use super::check::check;
use super::checkpoint::{Keeping, Store};
use super::file::FileJob;
use super::job::Job;
use super::largest;
use super::program::Program;
use super::rows::{Names, Rows};
use crate::console::Console;
use crate::failure::Failure;
use crate::message::{counted, on_device};
use crate::output::{print, write_json};
use crate::ranks::Ranks;
use crate::standard_streams::is_standard;
use crate::stats::{
    Bytes, CheckpointFigures, Choices, Estimate, ExchangeFigures, Layer, RanksFigures,
    RefineFigures, Shape, Stages, Stats,
};
use crate::{interrupt, memory};
use ripplet::device::AnyExecutor;
use ripplet::device::peak_memory;
use ripplet::graph::{GraphView, VertexId};
use ripplet::lp::check::{SAMPLE, plan as plan_of_check};
use ripplet::lp::quality::{QualityError, Sizes, Summary};
use ripplet::lp::small::MinSize;
use ripplet::lp::{
    Counter, DynProgram, Executor, Keeper, NO_LABEL, Outcome, Plan, ProgramInfo, RankLabels, Relay,
    Round, RunError, Settings, Sketch,
};
use ripplet::programs::ProgramName;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::PoisonError;
use std::time::Instant;

/// Returns the rows that are written of an outcome.
type RowsOf<'a> = dyn FnOnce(&Outcome) -> Result<Rows<'_>, Failure> + 'a;

/// A job and its graph.
pub struct Work<'a> {
    pub job: &'a Job<'a>,
    /// The processes that share the run.
    pub ranks: &'a Ranks,
    /// Description of the input that was read.
    pub input: Option<String>,
    /// The settings; changed if a run resumes, also after a GPU failed.
    pub settings: RefCell<Settings>,
    /// The folder of checkpoints.
    pub store: Option<Store>,
    pub console: &'a Console,
    pub graph: GraphView<'a>,
    /// The vertices whose lists this process reads: all, or those of a rank.
    pub own: Range<VertexId>,
    pub threads: usize,
    /// The seconds until the graph was ready.
    pub before: Stages,
    pub executor: AnyExecutor,
}

/// A finished run, and its settings.
pub struct Run {
    pub choices: Choices,
    pub plan: Plan,
    pub outcome: Outcome,
    pub seconds: Stages,
    pub checkpoints: Option<CheckpointFigures>,
    pub exchange: Option<ExchangeFigures>,
    pub ranks: Option<RanksFigures>,
    pub refinement: Option<RefineFigures>,
}

/// What is measured of the communities of a run.
#[derive(Clone, Copy)]
struct Wanted {
    /// Their modularity.
    summary: bool,
    /// The figures of `--stats`.
    figures: bool,
    /// Whether the labels are others than those of the run.
    is_relabelled: bool,
}

/// What was measured.
#[derive(Default)]
struct Measured {
    summary: Option<Summary>,
    shape: Option<Shape>,
    /// The peak resident memory of each rank.
    peak_memory: Vec<u64>,
}

/// The result of a sweep.
pub struct Sweep {
    /// The result for each γ.
    pub layers: Vec<Layer>,
    /// The result of the highest modularity.
    pub best: Summary,
}

/// Returns which labels each rank has, and, if the program decides, why.
fn remark_on_labels(labels: RankLabels, program: &ProgramInfo) -> String {
    match labels {
        RankLabels::Ghosts => {
            "each rank has the labels of its vertices and their neighbours (ghosts)".into()
        }
        RankLabels::All | RankLabels::Auto if !RankLabels::has_ghosts(program) => format!(
            "each rank has the labels of all vertices: {} has label totals, and does not promise votes_for_own_label",
            program.name
        ),
        RankLabels::All | RankLabels::Auto => "each rank has the labels of all vertices".into(),
    }
}

impl Work<'_> {
    /// Runs a program from a file, and writes its columns.
    pub fn run_file(&self, file: &FileJob) -> Result<(), Failure> {
        self.run_for(&*file.program(), |outcome| {
            file.write_columns(outcome, self.graph.ids())?;
            Ok(Rows::of_labels(outcome))
        })
    }

    /// Tests the program's promises under `--check-program`, if the memory suffices.
    pub fn check(&self, program: &dyn DynProgram) -> Result<(), Failure> {
        if !self.job.checks_program || self.job.estimate.is_some() {
            return Ok(());
        }
        let settings = self.settings.borrow();
        let Plan { graph_host, .. } = self.executor.plan(self.graph, program, &settings);
        let plan = Plan { graph_host, ..self.plan_of_check(program, &settings) };
        memory::check_plan(&plan, self.job.host_memory, ", or leave --check-program out")?;
        check(program, self.graph, &settings, self.console)
    }

    fn plan_of_check(&self, program: &dyn DynProgram, settings: &Settings) -> Plan {
        plan_of_check(self.graph, program, settings, SAMPLE, self.threads)
    }

    /// Adds to the plan of a run what the check before it needs beyond that.
    pub fn with_check(&self, plan: Plan, program: &dyn DynProgram, settings: &Settings) -> Plan {
        if !self.job.checks_program {
            return plan;
        }
        let check = self.plan_of_check(program, settings).algorithm_host();
        match check.checked_sub(plan.algorithm_host()) {
            Some(more) if more > 0 => plan.with("checking, beyond that", more),
            _ => plan,
        }
    }

    /// Runs a program; `rows` returns the rows that are written of its outcome.
    pub fn run_for(
        &self,
        program: &dyn DynProgram,
        rows: impl FnOnce(&Outcome) -> Result<Rows<'_>, Failure>,
    ) -> Result<(), Failure> {
        self.check(program)?;
        let run = self.on_device(|executor| self.compute(executor, program))?;
        let Some(run) = run else { return Ok(()) };
        if !self.ranks.is_first() {
            return self.assist(run.outcome.labels);
        }
        self.finish(run, None, Box::new(rows))?;
        self.store.iter().for_each(|store| store.remove(self.console));
        Ok(())
    }

    /// Runs `work` on the device; see [`DeviceArguments::on`](device::DeviceArguments::on).
    pub fn on_device<T>(
        &self,
        work: impl Fn(&AnyExecutor) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Work { job, console, executor, .. } = self;
        job.device.on(executor, &job.threads, console, work)
    }

    /// Runs a program on a device; returns `None` if only the plan is requested.
    fn compute(
        &self,
        executor: &AnyExecutor,
        program: &dyn DynProgram,
    ) -> Result<Option<Run>, Failure> {
        let graph = self.graph;
        let mut own = self.settings.borrow_mut();
        let store = self.store.as_ref();
        let identity = match self.job.keeps {
            true => Some(executor.identity(graph, program, &own)?),
            false => None,
        };
        let keeping = store.zip(identity);
        let keeping = keeping.map(|(store, run)| store.begin(run, &mut own, self.console));
        let mut keeping = self.ranks.agree(keeping.transpose())?;
        own.resume = self.ranks.share_checkpoint(own.resume.take());
        let settings = self.settings_on(executor, program, &own);
        let chosen = executor.choosing_rank_labels(graph, program, &settings);
        let (chosen, labels) = self.ranks.agree(chosen.map_err(Failure::from))?.unzip();
        let executor = chosen.as_ref().unwrap_or(executor);
        if let Some(labels) = labels {
            self.console.remark(&remark_on_labels(labels, &program.info()));
        }
        let plan = self.plan(executor, program, &settings);
        let plans = || executor.plans(graph, program, &settings);
        let is_estimate = self.is_estimate(executor, program, &settings, &plan, plans);
        if self.ranks.agree(is_estimate)? {
            return Ok(None);
        }
        let start = Instant::now();
        let keeper = keeping.as_mut().map(|keeping| keeping as &mut dyn Keeper);
        let inner = &mut self.console.watch().until(settings.stop.clone(), graph.vertices());
        let mut traffic = vec![self.ranks.traffic()];
        let mut on_round = |_: &Round| traffic.push(self.ranks.traffic());
        let watch = &mut Relay { inner, keeper, on_round: Some(&mut on_round) };
        let outcome = executor.run(graph, program, &settings, watch)?;
        let ranks = self.ranks.figures_of_run(&traffic, self.job.whole_graph.is_some());
        let ranks =
            ranks.map(|ranks| RanksFigures { labels: labels.map(RankLabels::name), ..ranks });
        let all = start.elapsed().as_secs_f64();
        let mut seconds = Stages::default();
        seconds.add_run(all - keeping.as_ref().map_or(0.0, Keeping::seconds), &outcome);
        let checkpoints = keeping.map(|keeping| keeping.figures());
        let choices = self.choices(executor, &settings);
        let exchange = executor.exchanged().map(ExchangeFigures::from);
        let refinement = None;
        Ok(Some(Run { choices, plan, outcome, seconds, checkpoints, exchange, ranks, refinement }))
    }

    /// Returns the plan of a run, with the copy of a GPU's state that a checkpoint takes and the check
    /// before it.
    fn plan(&self, executor: &AnyExecutor, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let mut plan = executor.plan(self.graph, program, settings);
        if self.job.checkpoint.is_some() {
            plan = executor.add_checkpoints(plan, self.graph, program);
        }
        self.with_check(plan, program, settings)
    }

    /// The settings, with the counter that is to be found for the device's memory.
    fn settings_on<'s>(
        &self,
        executor: &AnyExecutor,
        program: &dyn DynProgram,
        settings: &'s Settings,
    ) -> Cow<'s, Settings> {
        if !self.job.finds_counter {
            return Cow::Borrowed(settings);
        }
        let fits = |plan: &Plan| memory::check_plan(plan, self.job.host_memory, "");
        match executor.fitting_counter(self.graph, program, settings, fits) {
            (_, None) => Cow::Borrowed(settings),
            (counter, Some(why)) => {
                self.console
                    .remark(&format!("counting by {counter}, as exact does not fit: {why}"));
                Cow::Owned(Settings { counter, ..settings.clone() })
            }
        }
    }

    /// Prints the plan if only that is requested; otherwise refuses a run that does not fit.
    pub fn is_estimate(
        &self,
        executor: &AnyExecutor,
        program: &dyn DynProgram,
        settings: &Settings,
        plan: &Plan,
        plans: impl FnOnce() -> Vec<(String, Plan)>,
    ) -> Result<bool, Failure> {
        let Some(form) = self.job.estimate else {
            let less = || self.needing_less(executor, program, settings);
            memory::check_plan(plan, self.job.host_memory, "")
                .or_else(|_| memory::check_plan(plan, self.job.host_memory, &less()))?;
            return Ok(false);
        };
        if self.job.device.device().is_auto() {
            // A run that does not fit a GPU would use the CPU, with another plan.
            executor.check_memory(plan)?;
        }
        let choices = self.choices(executor, settings);
        let estimate = Estimate::new(self.shape(), &choices, plan).of_each(plans());
        if !self.ranks.is_first() {
            return Ok(true);
        }
        form.print_as(&estimate, || estimate.lines(&choices.device))?;
        Ok(true)
    }

    /// Returns choices that need less memory on the CPU than these settings, for the help of a refusal.
    fn needing_less(
        &self,
        executor: &AnyExecutor,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> String {
        if !executor.is_cpu() {
            return String::new();
        }
        let mut less = ", or use fewer --threads".to_owned();
        if self.job.program.registered() == Some(ProgramName::Cdlp) {
            return less;
        }
        if !settings.schedule.is_in_place() && !self.ranks.are_several() {
            less += ", or --schedule async, which needs the least";
        }
        if settings.counter.keeps_every_label() && program.info().follows_frequency {
            let counter = Counter::from(Sketch::of_eight());
            let sketched = Settings { counter, ..settings.clone() };
            let plan = executor.plan(self.graph, program, &sketched);
            if memory::check_plan(&plan, self.job.host_memory, "").is_ok() {
                less += ", or count by --counter mg:8, which fits";
            }
        }
        less
    }

    /// Measures the quality, unless a sweep has done so, and writes the communities.
    pub fn finish(
        &self,
        mut run: Run,
        mut sweep: Option<Sweep>,
        rows: Box<RowsOf<'_>>,
    ) -> Result<(), Failure> {
        let Work { job, console, graph, .. } = *self;
        self.report_unlabelled(&run.outcome);
        let mut is_relabelled = false;
        if let Some(small) = job.small.filter(|_| job.program.is_partition()) {
            console.stage("looking for small communities");
            self.treat(small, &mut run.outcome.labels)?;
            is_relabelled = true;
            if let Some(sweep) = &mut sweep {
                sweep.best = judge(console, graph, &run.outcome)?;
            }
        }
        let told = job.stats.is_some() || !console.is_quiet();
        let wanted = Wanted {
            summary: told && sweep.is_none(),
            figures: job.stats.is_some(),
            is_relabelled,
        };
        let measured = self.measure(wanted, &run.outcome.labels)?;
        if let Some(ranks) = &mut run.ranks {
            ranks.peak_memory = measured.peak_memory;
        }
        let outcome = &run.outcome;
        let peak = peak_memory();
        let Stages { open, read, build, .. } = self.before;
        let mut seconds = Stages { open, read, build, ..run.seconds };
        let summary = sweep.as_ref().map(|sweep| sweep.best).or(measured.summary);
        interrupt::check()?;
        let mut rows = rows(outcome)?;
        if let Some(small) = job.small.filter(|_| !job.program.is_partition()) {
            let dropped = rows.drop_small(small.least(), graph.vertices())?;
            self.report_dropped(small, dropped, "rows");
        }
        if job.names == Names::Hub {
            rows.call_by_hub(graph)?;
        }
        let sizes = told.then(|| rows.sizes(graph.vertices())).transpose()?;
        seconds.write = self.write(&rows)?;
        if let Some(most) = job.top {
            let table = largest::table(graph, &rows, job.names == Names::Number, most as usize)?;
            self.print_table(&table)?;
        }
        if outcome.nan_scores() > 0 {
            let count = outcome.nan_scores();
            console.note(&format!(
                "{count} times a vertex met a label whose score is no number; such a label never wins"
            ));
        }
        let (Some(summary), Some(sizes)) = (summary, sizes) else { return Ok(()) };
        if let (Some(path), Some(shape)) = (&job.stats, measured.shape) {
            let bytes = Bytes::new(&run.plan, peak);
            let choices = run.choices.clone();
            let stats = Stats::new(shape, choices, outcome, summary, &sizes, seconds, bytes);
            let (sweep, checkpoints) = (sweep.map(|sweep| sweep.layers), run.checkpoints);
            let (exchange, ranks) = (run.exchange, run.ranks.clone());
            let refinement = run.refinement.clone();
            write_json(
                path,
                &Stats {
                    input: self.input.clone(),
                    sweep,
                    checkpoints,
                    exchange,
                    ranks,
                    refinement,
                    ..stats
                },
            )?;
        }
        console.say(&self.last_line(&run, summary, &sizes));
        Ok(())
    }

    /// Returns the shape of the graph; ranks call it at the same time.
    fn shape(&self) -> Shape {
        self.ranks.shape(self.graph, self.own.clone())
    }

    /// Measures communities, together with the other ranks if there are some.
    fn measure(&self, wanted: Wanted, labels: &[VertexId]) -> Result<Measured, Failure> {
        let flags = [wanted.summary, wanted.figures, wanted.is_relabelled].map(u8::from);
        self.ranks.together(|comm| {
            comm.broadcast("what is measured", 0, &flags)?;
            match wanted.is_relabelled {
                true => comm.broadcast("labels", 0, labels).map(|_| ()),
                false => Ok(()),
            }
        });
        self.measure_own(wanted, labels)
    }

    /// Measures communities together with rank 0, which has the results.
    fn assist(&self, mut labels: Vec<VertexId>) -> Result<(), Failure> {
        let flags = self.ranks.together(|comm| comm.broadcast("what is measured", 0, &[0_u8; 3]));
        let flags = flags.unwrap_or_default();
        let has = |at: usize| flags.get(at).is_some_and(|&flag| flag > 0);
        let wanted = Wanted { summary: has(0), figures: has(1), is_relabelled: has(2) };
        if wanted.is_relabelled {
            let sent = self.ranks.together(|comm| comm.broadcast("labels", 0, &labels));
            labels = sent.unwrap_or(labels);
        }
        self.measure_own(wanted, &labels).map(|_| ())
    }

    /// Measures communities by the lists of this process.
    fn measure_own(&self, wanted: Wanted, labels: &[VertexId]) -> Result<Measured, Failure> {
        let mut measured = Measured::default();
        if wanted.summary {
            self.console.stage("measuring modularity");
            let summary = match self.ranks.comm() {
                None => Summary::of(self.graph, labels),
                Some(comm) => {
                    let mut comm = comm.lock().unwrap_or_else(PoisonError::into_inner);
                    Summary::of_ranks(self.graph, labels, self.own.clone(), &mut comm)
                }
            };
            measured.summary = Some(summary.map_err(|error| match error {
                QualityError::Ranks(error) => RunError::Ranks(error).into(),
                error => Failure::from(error),
            })?);
        }
        if wanted.figures {
            measured.shape = Some(self.shape());
            let peak = [peak_memory().unwrap_or(0)];
            let peaks = self.ranks.together(|comm| comm.all_gather("peak memory", &peak));
            measured.peak_memory = peaks.map(|peaks| peaks.all().collect()).unwrap_or_default();
        }
        Ok(measured)
    }

    /// Merges small communities into neighbours or leaves them out.
    fn treat(&self, small: MinSize, labels: &mut [VertexId]) -> Result<(), Failure> {
        let found = small.apply(self.graph, labels)?;
        if found.joined > 0 {
            let joined = counted(found.joined as u64, "community", "communities");
            let least = small.least();
            self.console.remark(&format!(
                "{joined} with fewer than {least} vertices joined the neighbour they have most edges to"
            ));
        }
        self.report_dropped(small, found.unassigned.into(), "vertices");
        Ok(())
    }

    /// Notes vertices to which the program gave no label, also under `--quiet`. Vertices that no seed reaches are
    /// meant to have none.
    fn report_unlabelled(&self, outcome: &Outcome) {
        let labels = &outcome.labels;
        let count = labels.iter().filter(|&&label| label == NO_LABEL).count() as u64;
        if count == 0 || matches!(self.job.program, Program::Seeded(_)) {
            return;
        }
        let vertices = counted(count, "vertex", "vertices");
        let have = if count == 1 { "has" } else { "have" };
        let left_out = match &self.job.output {
            Some(path) if is_standard(path) => ": the output has no community for them".into(),
            Some(path) => format!(": {} has no community for them", path.display()),
            None => String::new(),
        };
        self.console.note(&format!("{vertices} {have} no label{left_out}"));
    }

    fn report_dropped(&self, small: MinSize, dropped: u64, what: &str) {
        if dropped > 0 {
            let least = small.least();
            self.console.remark(&format!(
                "{dropped} {what} of communities with fewer than {least} are left out"
            ));
        }
    }

    /// Prints a table to standard output, or to standard error if the communities go to standard output.
    fn print_table(&self, table: &str) -> Result<(), Failure> {
        match &self.job.output {
            Some(path) if is_standard(path) => {
                self.console.say(table.trim_end());
                Ok(())
            }
            _ => print(table),
        }
    }

    pub fn choices(&self, executor: &AnyExecutor, settings: &Settings) -> Choices {
        self.job.choices(settings, self.graph.into(), executor.name(), self.threads)
    }

    /// Writes the communities; returns the seconds of writing.
    fn write(&self, rows: &Rows<'_>) -> Result<f64, Failure> {
        let Some(target) = self.job.target() else { return Ok(0.0) };
        let path = target.path();
        self.console.stage(format!("writing {}", path.display()));
        let start = Instant::now();
        if is_standard(path) {
            self.console.close();
        }
        rows.write(target, self.graph, self.job.names)?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn last_line(&self, run: &Run, summary: Summary, sizes: &Sizes) -> String {
        let Run { choices, outcome, seconds: Stages { compute, .. }, .. } = run;
        let (communities, median, largest) = (sizes.count(), sizes.median, sizes.max);
        let modularity = summary.modularity;
        let communities = counted(communities, "community", "communities");
        let rounds = counted(outcome.rounds.len() as u64, "round", "rounds");
        let resolution = match &run.refinement {
            Some(refinement) => format!(", resolution {}", short(refinement.resolution)),
            None => String::new(),
        };
        let reason = outcome.reason.name();
        let place = match &self.job.output {
            Some(path) if !is_standard(path) => format!("; see {}", path.display()),
            _ => String::new(),
        };
        let device = match self.ranks.size() {
            1 => on_device(&choices.device),
            ranks => format!(" on {ranks} ranks"),
        };
        let differs = match choices.deterministic {
            true => "",
            false => " (async: another run may differ)",
        };
        format!(
            "{communities}, median size {median}, largest {largest}, modularity {modularity:.4}{resolution}, \
             after {rounds} ({reason}) in {compute:.3} s{device}{place}{differs}"
        )
    }
}

/// Measures the quality of the communities.
pub fn judge(
    console: &Console,
    graph: GraphView<'_>,
    outcome: &Outcome,
) -> Result<Summary, Failure> {
    console.stage("measuring modularity");
    Ok(Summary::of(graph, &outcome.labels)?)
}

/// Returns a positive number with some four significant digits.
fn short(value: f64) -> String {
    match (1e-3..1e6).contains(&value) {
        true => format!("{value:.4}"),
        false => format!("{value:.3e}"),
    }
}
