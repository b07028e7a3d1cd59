//! `ripplet communities`: from a graph in a file to communities in a file.
//!
//! ```text
//! arguments ─▶ Job ─▶ places ─▶ graph ─▶ plan ─▶ run ─▶ summary ─▶ output ─▶ stats ─▶ last line
//!              (no data touched yet)      └ --estimate ends here
//! ```

mod arguments;
mod file;
mod job;
mod program;
mod rows;
mod sweep;

pub use arguments::Arguments;

use crate::console::{Console, print};
use crate::failure::Failure;
use crate::output::{check_place, is_standard, json, write_json};
use crate::reading::{Loaded, load};
use crate::size::Size;
use crate::stats::{
    Bytes, Choices, Estimate, Seconds, Shape, Stats, available_memory, peak_memory,
};
use crate::{interrupt, memory};
use arguments::EstimateForm;
use job::Job;
use program::{Program, rows_of_seeded};
use ripplet::graph::{Graph, VertexIds};
use ripplet::io::{self, ReadOptions, write};
use ripplet::lp::programs::{Cdlp, Llp, Lpa};
use ripplet::lp::{Executor, Outcome, Plan, Settings, cpu::CpuExecutor, quality::Summary};
use rows::Rows;
use std::path::Path;
use std::time::Instant;
use sweep::Sweep;

/// Finds the communities of a graph.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let mut job = arguments.resolve()?;
    check_places(&job)?;
    let threads = job.threads.start()?;
    let reading = format!("reading {}", job.input.display());
    let loaded =
        memory::within(job.host_memory, &reading, || load(&job.input, &job.load, console))?;
    if let Some(output) = &job.output {
        write::check_communities(output, loaded.graph.ids()).map_err(Failure::Place)?;
    }
    if let Some(labels) = &job.labels {
        console.stage(format!("reading {}", labels.display()));
        let options = ReadOptions::default();
        job.settings.initial = Some(io::read_labels(labels, &options, loaded.graph.ids())?);
    }
    interrupt::check()?;
    let executor = CpuExecutor::new(job.threads.count())?;
    let settings = std::mem::take(&mut job.settings);
    let mut work = Work { job: &job, settings, console, loaded: &loaded, threads, executor };
    match &job.program {
        Program::Lpa(resolution) => work.run(&Lpa::new(*resolution)),
        Program::Cdlp => work.run(&Cdlp),
        Program::Llp(gamma) => work.run(&Llp::new(*gamma)),
        Program::Sweep(sweep) => work.sweep(sweep),
        Program::Slpa(slpa) => work.run_for(&slpa.program, |outcome| slpa.rows(outcome)),
        Program::File(file) => {
            work.settings = file.fill(work.settings, loaded.graph.ids(), console)?;
            file.run(&work)
        }
        Program::Seeded(seeded) => {
            let planted = seeded.plant(&loaded.graph, work.settings, console)?;
            work.settings = planted.settings;
            work.run_for(&planted.program, |outcome| Ok(rows_of_seeded(planted.seeds, outcome)))
        }
    }
}

fn check_places(job: &Job) -> Result<(), Failure> {
    let mut others: Vec<&Path> = vec![&job.input];
    others.extend(job.labels.as_deref());
    let (reads, writes) = job.program.files();
    others.extend(reads);
    let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
    if let Some(output) = &job.output {
        write::check_communities(output, &no_ids).map_err(Failure::Place)?;
        check_place(output, &others)?;
        others.push(output);
    }
    if let Some(table) = writes {
        write::check_vertex_table(table, &no_ids).map_err(Failure::Place)?;
        check_place(table, &others)?;
        others.push(table);
    }
    job.stats.iter().try_for_each(|stats| check_place(stats, &others))
}

/// A job and what it works on.
struct Work<'a> {
    job: &'a Job<'a>,
    settings: Settings,
    console: &'a Console,
    loaded: &'a Loaded,
    threads: usize,
    executor: CpuExecutor,
}

impl Work<'_> {
    /// Runs a program that gives each vertex a community.
    fn run<P: ripplet::lp::Program>(&self, program: &P) -> Result<(), Failure> {
        self.run_for(program, |outcome| Ok(Rows::of_labels(outcome)))
    }

    /// Runs a program; `rows` is what is written of its outcome.
    fn run_for<P: ripplet::lp::Program>(
        &self,
        program: &P,
        rows: impl FnOnce(&Outcome) -> Result<Rows<'_>, Failure>,
    ) -> Result<(), Failure> {
        let Work { job, console, loaded, executor, .. } = &self;
        let graph = &loaded.graph;
        let plan = executor.plan(graph, program, &self.settings);
        if let Some(form) = job.estimate {
            return self.print_estimate(&plan, form);
        }
        check_memory(&plan, job)?;
        console.stage("round 1");
        let start = Instant::now();
        let outcome = executor.run(graph, program, &self.settings, &mut console.watch())?;
        let compute = start.elapsed().as_secs_f64();
        self.finish(&plan, &outcome, compute, None, rows)
    }

    /// Judges what was found, where a sweep has not, and writes it.
    fn finish(
        &self,
        plan: &Plan,
        outcome: &Outcome,
        compute: f64,
        sweep: Option<Sweep>,
        rows: impl FnOnce(&Outcome) -> Result<Rows<'_>, Failure>,
    ) -> Result<(), Failure> {
        let Work { job, console, loaded, .. } = &self;
        let graph = &loaded.graph;
        let peak = peak_memory();
        let mut seconds =
            Seconds { read: loaded.read, build: loaded.build, compute, ..Seconds::default() };
        let told = job.stats.is_some() || !console.is_quiet();
        let summary = match &sweep {
            Some(sweep) => Some(sweep.best),
            None => told.then(|| judge(console, graph, outcome)).transpose()?,
        };
        interrupt::check()?;
        seconds.write = self.write(rows(outcome)?)?;
        if outcome.nan_scores() > 0 {
            let count = outcome.nan_scores();
            console.note(&format!(
                "{count} times a vertex met a label whose score is no number; such a label never wins"
            ));
        }
        let Some(summary) = summary else { return Ok(()) };
        if let Some(path) = &job.stats {
            let bytes = Bytes::of_host(plan, peak);
            let (shape, choices) = (Shape::of(graph), self.choices());
            let stats = Stats::new(shape, choices, outcome, summary, seconds, bytes);
            write_json(path, &Stats { sweep: sweep.map(|sweep| sweep.layers), ..stats })?;
        }
        console.say(&self.last_line(outcome, summary, compute));
        Ok(())
    }

    fn print_estimate(&self, plan: &Plan, form: EstimateForm) -> Result<(), Failure> {
        let estimate = Estimate::new(Shape::of(&self.loaded.graph), self.choices(), plan);
        print(&match form {
            EstimateForm::Text => estimate.lines(),
            EstimateForm::Json => json(&estimate),
        })
    }

    fn choices(&self) -> Choices {
        self.job.choices(&self.settings, self.threads)
    }

    /// Writes the communities; returns the seconds that it took.
    fn write(&self, rows: Rows<'_>) -> Result<f64, Failure> {
        let Some(path) = &self.job.output else { return Ok(0.0) };
        self.console.stage(format!("writing {}", path.display()));
        let start = Instant::now();
        if is_standard(path) {
            self.console.close();
        }
        rows.write(path, self.loaded.graph.ids(), self.job.consecutive)?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn last_line(&self, outcome: &Outcome, summary: Summary, compute: f64) -> String {
        let Summary { communities, modularity } = summary;
        let (rounds, reason) = (outcome.rounds.len(), outcome.reason.name());
        let place = match &self.job.output {
            Some(path) if !is_standard(path) => format!("; see {}", path.display()),
            _ => String::new(),
        };
        let differs = match self.settings.schedule.is_deterministic() {
            true => "",
            false => " (async: another run may differ)",
        };
        format!(
            "{communities} communities, modularity {modularity:.4}, after {rounds} rounds \
             ({reason}) in {compute:.3} s{place}{differs}"
        )
    }
}

fn judge(console: &Console, graph: &Graph, outcome: &Outcome) -> Result<Summary, Failure> {
    console.stage("measuring modularity");
    Ok(Summary::of(graph, &outcome.labels)?)
}

/// Refuses a run that will not fit.
///
/// `limit` is for everything; without it, what comes beside the graph, which is in memory already,
/// must fit what is free.
fn check_memory(plan: &Plan, job: &Job) -> Result<(), Failure> {
    let (needed, room, of) = match job.host_memory {
        Some(limit) => (plan.total_host(), Some(limit.0), "is what --host-memory allows"),
        None => (plan.algorithm_host(), available_memory(), "is what is free beside the graph"),
    };
    let Some(room) = room.filter(|&room| needed > room) else { return Ok(()) };
    let largest = plan.items.iter().max_by_key(|item| item.bytes);
    let largest = largest.map_or_else(String::new, |item| {
        format!(" (the largest part of it is {}: {})", item.purpose, Size(item.bytes))
    });
    let (needed, room) = (Size(needed), Size(room));
    let way_out = match job.host_memory {
        Some(_) => format!("allow --host-memory {}", needed.0),
        None => "end other programs, or use a larger machine".into(),
    };
    let least = match job.program {
        Program::Cdlp => "",
        _ => ", or --schedule async, which needs the least",
    };
    Err(Failure::refused(
        format!("the run needs {needed}{largest}, but {room} {of}"),
        format!("{way_out}, or use fewer --threads{least}"),
    ))
}
