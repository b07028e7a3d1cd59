//! `ripplet communities`: from a graph in a file to communities in a file.
//!
//! ```text
//! arguments ─▶ Job ─▶ places ─▶ GPU ─▶ graph ─▶ plan ─▶ run ─▶ summary ─▶ output ─▶ stats ─▶ last line
//!                   (no data touched yet)        └ --estimate ends here
//! ```
//!
//! A batch goes its own way behind the places: see `batch`.

mod arguments;
mod batch;
mod check;
mod checkpoint;
#[cfg(feature = "jit")]
mod file;
#[cfg(not(feature = "jit"))]
#[path = "file_absent.rs"]
mod file;
mod job;
#[cfg(feature = "draw")]
mod largest;
#[cfg(not(feature = "draw"))]
#[path = "largest_absent.rs"]
mod largest;
mod program;
mod rows;
mod sweep;

pub use arguments::{Arguments, FileArguments};
pub use program::attenuation_refused;

use crate::console::{Console, print};
use crate::device;
use crate::failure::{Ending, Failure};
use crate::memory::{Limit, OF_A_LIST, within};
use crate::message::{counted, on_device};
use crate::named_cover::say_columns;
use crate::output::{check_alone, check_place, is_standard, named_input, write_json};
use crate::reading::{Loaded, load_stored};
use crate::stats::{
    Bytes, CheckpointFigures, Choices, Estimate, ExchangeFigures, Shape, Stages, Stats, peak_memory,
};
use crate::{interrupt, memory};
use arguments::Names;
use checkpoint::{Keeping, Store};
use job::{Job, Small};
use program::{Program, rows_of, rows_of_seeded};
use ripplet::device::AnyExecutor;
use ripplet::graph::{GraphView, VertexId, VertexIds};
use ripplet::io::{self, InitialLabels, ReadOptions, write};
use ripplet::lp::engine::bytes_of_state;
use ripplet::lp::quality::{Sizes, Summary};
use ripplet::lp::small::{drop_small, join_small};
use ripplet::lp::{
    Counter, DynProgram, Executor, Keeper, NO_LABEL, Outcome, Plan, Settings, Sketch,
};
use ripplet::programs::ProgramName;
use rows::Rows;
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;
use sweep::Sweep;

/// Finds the communities of a graph, or of each graph of a batch.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    let job = arguments.resolve()?;
    check_places(&job)?;
    if arguments.batch.is_asked(&job.input, &job.load.read) {
        if job.checks_program {
            return Err(Failure::refused(
                "--check-program tests a program on one graph, and this is a batch",
                "leave --check-program out, or name one graph of the batch",
            ));
        }
        return batch::run(&job, &arguments.batch, console);
    }
    arguments.batch.check_unused()?;
    run_graph(job, console)?;
    Ok(Ending::Whole)
}

fn run_graph(mut job: Job<'_>, console: &Console) -> Result<(), Failure> {
    if let Program::File(file) = &job.program {
        file.check_columns_out()?;
    }
    if job.top.is_some() {
        largest::check()?;
    }
    let threads = job.threads.start()?;
    let store = job.open_store()?;
    let start = Instant::now();
    let opened = job.device.open()?;
    let open = start.elapsed().as_secs_f64();
    let reading = format!("reading {}", job.input.display());
    let loaded = within(job.host_memory, &reading, memory::OF_A_GRAPH, || {
        load_stored(&job.input, &job.load, job.storage, console)
    })?;
    let graph = loaded.graph.view();
    if let Some(output) = job.target() {
        write::check_communities_or_graph(output, graph.ids()).map_err(Failure::Place)?;
    }
    if let Some(labels) = &job.labels {
        console.stage(format!("reading {}", labels.display()));
        let label_columns = job.labels_columns.as_ref().map(|columns| columns.0.clone());
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        let what = format!("reading {}", labels.display());
        let read = || Ok(io::read_initial_labels(labels, &options, graph.ids())?);
        let initial = within(job.host_memory, &what, OF_A_LIST, read)?;
        say_columns(labels, &initial.summary, console);
        console.say(&told_of(labels, &initial));
        job.settings.initial = Some(initial.labels);
    }
    interrupt::check()?;
    let host_memory = Limit::of(job.host_memory)?.map(|limit| limit.size.0);
    let executor = device::start(opened, job.threads, console)?.with_host_memory(host_memory);
    let settings = std::mem::take(&mut job.settings);
    let input = loaded.input();
    let Loaded { read, build, .. } = loaded;
    let before = Stages { open, read, build, ..Stages::default() };
    if job.load.read.weighted && job.program.registered() == Some(ProgramName::Llp) {
        console.remark("votes of llp count neighbours: with --weighted, weights count for the modularity alone, by which --sweep chooses");
    }
    let settings = RefCell::new(settings);
    let mut work =
        Work { job: &job, input, settings, store, console, graph, threads, before, executor };
    match &job.program {
        &Program::BuiltIn(program) => {
            let instance = program.instantiate(graph).map_err(attenuation_refused)?;
            work.run_for(&*instance, |outcome| rows_of(program, outcome))
        }
        Program::Sweep(sweep) => work.sweep(sweep),
        Program::File(file) => {
            let settings = work.settings.into_inner();
            let fill = || file.fill(settings, graph.ids(), console);
            let filled = within(job.host_memory, "reading the columns", OF_A_LIST, fill)?;
            work.settings = filled.into();
            file.run(&work)
        }
        Program::Seeded(seeded) => {
            let settings = work.settings.into_inner();
            let plant = || seeded.plant(graph, settings, console);
            let planted = within(job.host_memory, "reading the seeds", OF_A_LIST, plant)?;
            work.settings = planted.settings.into();
            work.run_for(&*planted.program, |outcome| Ok(rows_of_seeded(planted.seeds, outcome)))
        }
    }
}

/// What was read of the labels to begin with.
fn told_of(path: &Path, initial: &InitialLabels) -> String {
    let InitialLabels { labels, communities, unlabelled, are_named, .. } = initial;
    let labelled = counted(labels.len() as u64 - unlabelled, "label", "labels");
    let communities = counted(*communities, "community", "communities");
    let called = if *are_named { "by names" } else { "by vertices" };
    let without = match unlabelled {
        0 => String::new(),
        _ => format!("; {} without one", counted(*unlabelled, "vertex", "vertices")),
    };
    format!("read {labelled} from {}: {communities}, called {called}{without}", named_input(path))
}

fn check_places(job: &Job) -> Result<(), Failure> {
    let mut others: Vec<&Path> = vec![&job.input];
    others.extend(job.labels.as_deref());
    let (reads, writes) = job.program.files();
    others.extend(reads);
    check_alone([job.output.as_deref(), writes, job.stats.as_deref()].into_iter().flatten())?;
    let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
    if let Some(output) = job.target() {
        write::check_communities_or_graph(output, &no_ids).map_err(Failure::Place)?;
        check_place(output.path(), &others)?;
        others.push(output.path());
    }
    if let Some(table) = writes {
        write::check_vertex_table(table, &no_ids).map_err(Failure::Place)?;
        check_place(table, &others)?;
        others.push(table);
    }
    if let Some(stats) = &job.stats {
        check_place(stats, &others)?;
        others.push(stats);
    }
    job.checkpoint.iter().try_for_each(|checkpoint| checkpoint.check_place(&others))
}

/// What is written of an outcome.
type RowsOf<'a> = dyn FnOnce(&Outcome) -> Result<Rows<'_>, Failure> + 'a;

/// A job and what it works on.
struct Work<'a> {
    job: &'a Job<'a>,
    /// What was read.
    input: Option<String>,
    /// Changed where a run goes on, which may be after a GPU failed.
    settings: RefCell<Settings>,
    /// Where states are kept.
    store: Option<Store>,
    console: &'a Console,
    graph: GraphView<'a>,
    threads: usize,
    /// Seconds that it took until there was a graph.
    before: Stages,
    executor: AnyExecutor,
}

/// A run that is done, and what was chosen for it.
struct Run {
    choices: Choices,
    plan: Plan,
    outcome: Outcome,
    seconds: Stages,
    checkpoints: Option<CheckpointFigures>,
    exchange: Option<ExchangeFigures>,
}

impl Work<'_> {
    /// Runs a program; `rows` is what is written of its outcome.
    fn run_for(
        &self,
        program: &dyn DynProgram,
        rows: impl FnOnce(&Outcome) -> Result<Rows<'_>, Failure>,
    ) -> Result<(), Failure> {
        self.check(program)?;
        let run = self.on_device(|executor| self.compute(executor, program))?;
        let Some(run) = run else { return Ok(()) };
        self.finish(run, None, Box::new(rows))?;
        self.store.iter().for_each(|store| store.remove(self.console));
        Ok(())
    }

    /// Runs `work` on the device; see [`DeviceArguments::on`](device::DeviceArguments::on).
    fn on_device<T>(
        &self,
        work: impl Fn(&AnyExecutor) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Work { job, console, executor, .. } = self;
        job.device.on(executor, job.threads, console, work)
    }

    /// Runs a program on a device; `None` where only the plan is asked for.
    fn compute(
        &self,
        executor: &AnyExecutor,
        program: &dyn DynProgram,
    ) -> Result<Option<Run>, Failure> {
        let graph = self.graph;
        let mut own = self.settings.borrow_mut();
        let store = self.store.as_ref();
        let keeping = store.map(|store| store.begin(graph, program, &mut own, self.console));
        let mut keeping = keeping.transpose()?;
        let settings = self.settings_on(executor, program, &own);
        let plan = self.plan(executor, program, &settings);
        let plans = || executor.plans(graph, program, &settings);
        if self.is_estimate(executor, program, &settings, &plan, plans)? {
            return Ok(None);
        }
        let start = Instant::now();
        let keeper = keeping.as_mut().map(|keeping| keeping as &mut dyn Keeper);
        let watch = self.console.watch().until(settings.stop, graph.vertices());
        let watch = &mut watch.keeping(keeper);
        let outcome = executor.run(graph, program, &settings, watch)?;
        let all = start.elapsed().as_secs_f64();
        let mut seconds = Stages::default();
        seconds.add_run(all - keeping.as_ref().map_or(0.0, Keeping::seconds), &outcome);
        let checkpoints = keeping.map(|keeping| keeping.figures());
        let choices = self.choices(executor, &settings);
        let exchange = executor.exchanged().map(ExchangeFigures::from);
        Ok(Some(Run { choices, plan, outcome, seconds, checkpoints, exchange }))
    }

    /// What a run will need, with the copy of its state that a checkpoint takes of a GPU's.
    fn plan(&self, executor: &AnyExecutor, program: &dyn DynProgram, settings: &Settings) -> Plan {
        let graph = self.graph;
        let plan = executor.plan(graph, program, settings);
        match self.job.checkpoint {
            Some(_) if !executor.is_cpu() => {
                let bytes = bytes_of_state(graph.vertices(), &program.info().columns);
                plan.with("a checkpoint", bytes)
            }
            _ => plan,
        }
    }

    /// The settings, with the counter that is to be found for the device's memory: the exact one is the
    /// fastest and misses nothing, and only its tables, which grow with degrees, speak for a sketch.
    fn settings_on<'s>(
        &self,
        executor: &AnyExecutor,
        program: &dyn DynProgram,
        settings: &'s Settings,
    ) -> Cow<'s, Settings> {
        let exact = Cow::Borrowed(settings);
        if !self.job.finds_counter || !program.info().follows_frequency {
            return exact;
        }
        let plan = executor.plan(self.graph, program, &exact);
        let refused = memory::check_plan(&plan, self.job.host_memory, "").and_then(|()| {
            let checked = executor.check_run(self.graph, program, &exact, &plan);
            checked.map_err(Failure::from)
        });
        let Err(why) = refused else { return exact };
        let counter = Counter::Sketch(Sketch::of_eight());
        self.console.remark(&format!("counting by {counter}, as exact does not fit: {why}"));
        Cow::Owned(Settings { counter, ..settings.clone() })
    }

    /// Prints the plan where only that is asked for; otherwise refuses a run that will not fit.
    fn is_estimate(
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
            // What does not fit a GPU would be run elsewhere, with another plan.
            executor.check_memory(plan)?;
        }
        let choices = self.choices(executor, settings);
        let estimate = Estimate::new(Shape::of(self.graph), &choices, plan).of_each(plans());
        form.print_as(&estimate, || estimate.lines(&choices.device))?;
        Ok(true)
    }

    /// What needs less memory on the CPU than a run with these settings, to go on with in the help of a refusal.
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
        if !settings.schedule.is_in_place() {
            less += ", or --schedule async, which needs the least";
        }
        if settings.counter == Counter::Exact && program.info().follows_frequency {
            let counter = Counter::Sketch(Sketch::of_eight());
            let sketched = Settings { counter, ..settings.clone() };
            let plan = executor.plan(self.graph, program, &sketched);
            if memory::check_plan(&plan, self.job.host_memory, "").is_ok() {
                less += ", or count by --counter mg:8, which fits";
            }
        }
        less
    }

    /// Judges what was found, where a sweep has not, and writes it.
    fn finish(
        &self,
        mut run: Run,
        mut sweep: Option<Sweep>,
        rows: Box<RowsOf<'_>>,
    ) -> Result<(), Failure> {
        let Work { job, console, graph, .. } = *self;
        self.tell_unlabelled(&run.outcome);
        if let Some(small) = job.small.filter(|_| job.program.is_partition()) {
            console.stage("looking for small communities");
            self.treat(small, &mut run.outcome.labels)?;
            if let Some(sweep) = &mut sweep {
                sweep.best = judge(console, graph, &run.outcome)?;
            }
        }
        let outcome = &run.outcome;
        let peak = peak_memory();
        let Stages { open, read, build, .. } = self.before;
        let mut seconds = Stages { open, read, build, ..run.seconds };
        let told = job.stats.is_some() || !console.is_quiet();
        let summary = match &sweep {
            Some(sweep) => Some(sweep.best),
            None => told.then(|| judge(console, graph, outcome)).transpose()?,
        };
        interrupt::check()?;
        let mut rows = rows(outcome)?;
        if let Some(small) = job.small.filter(|_| !job.program.is_partition()) {
            let dropped = rows.drop_small(small.least, graph.vertices())?;
            self.tell_dropped(small, dropped, "rows");
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
        if let Some(path) = &job.stats {
            let bytes = Bytes::new(&run.plan, peak);
            let (shape, choices) = (Shape::of(graph), run.choices.clone());
            let stats = Stats::new(shape, choices, outcome, summary, &sizes, seconds, bytes);
            let (sweep, checkpoints) = (sweep.map(|sweep| sweep.layers), run.checkpoints);
            let exchange = run.exchange;
            write_json(
                path,
                &Stats { input: self.input.clone(), sweep, checkpoints, exchange, ..stats },
            )?;
        }
        console.say(&self.last_line(&run, summary, &sizes));
        Ok(())
    }

    /// Joins small communities or leaves them out.
    fn treat(&self, small: Small, labels: &mut [VertexId]) -> Result<(), Failure> {
        let found = match small.joins {
            true => join_small(self.graph, labels, small.least)?,
            false => drop_small(labels, small.least)?,
        };
        if found.joined > 0 {
            let joined = counted(found.joined as u64, "community", "communities");
            let least = small.least;
            self.console.remark(&format!(
                "{joined} with fewer than {least} vertices joined the neighbour they have most edges to"
            ));
        }
        self.tell_dropped(small, found.unassigned.into(), "vertices");
        Ok(())
    }

    /// Notes vertices to which the program gave no label, also where only errors are said. What seeds do not
    /// reach is meant to have none.
    fn tell_unlabelled(&self, outcome: &Outcome) {
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

    fn tell_dropped(&self, small: Small, dropped: u64, what: &str) {
        if dropped > 0 {
            let least = small.least;
            self.console.remark(&format!(
                "{dropped} {what} of communities with fewer than {least} are left out"
            ));
        }
    }

    /// Prints a table where communities do not go.
    fn print_table(&self, table: &str) -> Result<(), Failure> {
        match &self.job.output {
            Some(path) if is_standard(path) => {
                self.console.say(table.trim_end());
                Ok(())
            }
            _ => print(table),
        }
    }

    fn choices(&self, executor: &AnyExecutor, settings: &Settings) -> Choices {
        self.job.choices(settings, self.graph.into(), executor.name(), self.threads)
    }

    /// Writes the communities; returns the seconds that it took.
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
        let reason = outcome.reason.name();
        let place = match &self.job.output {
            Some(path) if !is_standard(path) => format!("; see {}", path.display()),
            _ => String::new(),
        };
        let device = on_device(&choices.device);
        let differs = match choices.deterministic {
            true => "",
            false => " (async: another run may differ)",
        };
        format!(
            "{communities}, median size {median}, largest {largest}, modularity {modularity:.4}, \
             after {rounds} ({reason}) in {compute:.3} s{device}{place}{differs}"
        )
    }
}

fn judge(console: &Console, graph: GraphView<'_>, outcome: &Outcome) -> Result<Summary, Failure> {
    console.stage("measuring modularity");
    Ok(Summary::of(graph, &outcome.labels)?)
}
