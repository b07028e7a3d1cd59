//! `ripplet graphalytics`: LDBC Graphalytics workloads, timed, validated and reported.
//!
//! ```text
//! properties ─▶ Workload, Tasks ─▶ places ─▶ graph ─▶ each task: compute, write, validate ─▶ Report
//! ```

mod algorithm;
mod properties;
mod report;
mod workload;

use crate::console::Console;
use crate::device::{self, DeviceArguments};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{check_alone, check_place, print, write_json, write_text};
use crate::reading::Loaded;
use crate::standard_streams::is_standard;
use crate::stats::{MachineFacts, Shape};
use crate::threads::ThreadArguments;
use algorithm::{Algorithm, Difference, Task, Values};
use askama::Template;
use clap::Args;
use clap::builder::TypedValueParser;
use report::{Measured, Report, Run};
use ripplet::device::AnyExecutor;
use ripplet::graph::VertexIds;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Instant;
use workload::Workload;

/// Run LDBC Graphalytics workloads: time them, and validate them against their reference outputs.
///
/// The reference output of an algorithm is the file NAME-CDLP or NAME-LCC beside the properties file.
/// If it exists and the output does not match it as the specification demands, the exit code is 1.
#[derive(Args)]
pub struct Arguments {
    /// The graph's .properties file; its .v and .e files are those that it names.
    properties: PathBuf,
    /// The algorithms, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "cdlp")]
    algorithm: Vec<Algorithm>,
    /// Run each this many times, and print the medians.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..).try_map(NonZeroU16::try_from),
        default_value = "1"
    )]
    repeat: NonZeroU16,
    #[command(flatten)]
    device: DeviceArguments,
    /// Also write the output, of one algorithm: labels or coefficients.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write all figures, and the machine's, to this JSON file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write them as a page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadArguments,
}

/// Runs the workloads.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    arguments.device.check()?;
    let workload = Workload::read(&arguments.properties)?;
    let tasks = arguments.tasks(&workload)?;
    arguments.check_places(&workload, &tasks)?;
    let threads = arguments.threads.start()?;
    let executor = device::start(arguments.device.open()?, &arguments.threads, console)?;
    let loaded = workload.load(console)?;
    arguments.check_output(&tasks, loaded.graph.ids())?;
    let bench = Bench { arguments, console, loaded: &loaded, executor };
    let shape = Shape::of(&loaded.graph);
    // A reference that does not fit the graph is refused before anything is computed or written.
    let ids = loaded.graph.ids();
    let references = tasks.iter().map(|task| task.expected(ids, console));
    let references = references.collect::<Result<Vec<_>, _>>()?;
    let (mut algorithms, mut failures) = (Vec::new(), Vec::new());
    for (task, reference) in tasks.iter().zip(references) {
        let (measured, failure) = bench.measure(task, reference, &shape)?;
        algorithms.push(measured);
        failures.extend(failure);
    }
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        graph: workload.properties.name().to_owned(),
        shape,
        machine: MachineFacts::here(),
        threads,
        load_seconds: loaded.read + loaded.build,
        algorithms,
    };
    arguments.report_result(&report, console)?;
    failures.into_iter().next().map_or(Ok(()), Err)
}

impl Arguments {
    /// Returns the tasks of the properties.
    fn tasks(&self, workload: &Workload) -> Result<Vec<Task>, Failure> {
        if let (Some(_), [_, _, ..]) = (&self.output, &*self.algorithm) {
            return Err(Failure::refused(
                "--output holds the output of one algorithm, but several are asked for",
                "leave --output out, or run them one by one",
            ));
        }
        for (at, algorithm) in self.algorithm.iter().enumerate() {
            if self.algorithm[..at].contains(algorithm) {
                return Err(Failure::refused(
                    format!("--algorithm names {} twice", algorithm.name()),
                    "name it once; --repeat N runs each N times",
                ));
            }
        }
        self.algorithm.iter().map(|&algorithm| Task::of(algorithm, &workload.properties)).collect()
    }

    fn check_places(&self, workload: &Workload, tasks: &[Task]) -> Result<(), Failure> {
        let mut others = vec![self.properties.as_path()];
        others.extend(workload.inputs());
        others.extend(tasks.iter().filter_map(|task| task.reference.path.as_deref()));
        let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
        self.check_output(tasks, &no_ids)?;
        let places = [&self.output, &self.json, &self.html];
        check_alone(places.into_iter().flatten().map(PathBuf::as_path))?;
        for place in places.into_iter().flatten() {
            check_place(place, &others)?;
            others.push(place);
        }
        Ok(())
    }

    /// Refuses an output that cannot hold a task's values, or these ids.
    fn check_output(&self, tasks: &[Task], ids: &VertexIds) -> Result<(), Failure> {
        let Some(output) = &self.output else { return Ok(()) };
        let mut checked = tasks.iter().map(|task| task.algorithm.check_output(output, ids));
        checked.try_for_each(|checked| checked.map_err(Failure::Place))
    }

    /// Reports the result in all requested forms.
    fn report_result(&self, report: &Report, console: &Console) -> Result<(), Failure> {
        if let Some(path) = &self.json {
            write_json(path, report)?;
        }
        if let Some(path) = &self.html {
            let page = report.render().expect("a page of strings and numbers");
            write_text(path, &page)?;
        }
        // An output on standard output must stay alone there.
        let streams = [&self.output, &self.json, &self.html];
        match streams.into_iter().flatten().any(|path| is_standard(path)) {
            true => console.say(report.lines().trim_end()),
            false => print(&report.lines())?,
        }
        Ok(())
    }
}

/// A graph and a device.
struct Bench<'a> {
    arguments: &'a Arguments,
    console: &'a Console,
    loaded: &'a Loaded,
    executor: AnyExecutor,
}

impl Bench<'_> {
    /// Runs a task `--repeat` times; the failure is that of its validation against the reference.
    fn measure(
        &self,
        task: &Task,
        reference: Option<Values>,
        shape: &Shape,
    ) -> Result<(Measured, Option<Failure>), Failure> {
        let ids = self.loaded.graph.ids();
        let (mut runs, mut found) = (Vec::new(), Vec::new());
        let mut device = String::new();
        for _ in 0..self.arguments.repeat.get() {
            interrupt::check()?;
            let start = Instant::now();
            let (values, processing_seconds, by) = self.compute(task)?;
            if let Some(output) = &self.arguments.output {
                interrupt::check()?;
                values.write(output, ids)?;
            }
            let load = self.loaded.read + self.loaded.build;
            let makespan_seconds = load + start.elapsed().as_secs_f64();
            runs.push(Run { processing_seconds, makespan_seconds });
            device = by;
            // A result equal to the previous one is already validated.
            if found.last().is_none_or(|last: &Values| last != &values) {
                found.push(values);
            }
        }
        let mut measured = Measured::new(task, device, shape, runs);
        interrupt::check()?;
        let Some(expected) = reference else { return Ok((measured, None)) };
        let path = task.reference.path.as_deref().unwrap_or(Path::new(""));
        let wrong = found.iter().find_map(|values| values.difference(&expected, ids));
        let failure = wrong.map(|difference| self.failure(task, path, &difference));
        (measured.validation, measured.validated) = match &failure {
            None => {
                let (rule, path) = (task.algorithm.rule(), path.display());
                ("passed", format!("{rule}: all values are those of {path}"))
            }
            Some(failure) => ("failed", format!("failed: {failure}")),
        };
        Ok((measured, failure))
    }

    /// The values, the seconds that they took, and who computed; the CPU where a GPU fails that was not
    /// insisted on.
    fn compute(&self, task: &Task) -> Result<(Values, f64, String), Failure> {
        let Bench { arguments, console, loaded, executor } = self;
        arguments.device.on(executor, &arguments.threads, console, |executor| {
            let (values, seconds) = task.compute(&loaded.graph, executor, console)?;
            Ok((values, seconds, executor.name()))
        })
    }

    fn failure(&self, task: &Task, reference: &Path, difference: &Difference) -> Failure {
        let Difference { vertices, first, found, wanted } = difference;
        let ids = self.loaded.graph.ids();
        let written = match &self.arguments.output {
            Some(output) if !is_standard(output) => {
                format!("; {} has the output as it is", output.display())
            }
            _ => String::new(),
        };
        let parameters = match task.iterations {
            Some(iterations) => format!(" with {iterations} iterations"),
            None => String::new(),
        };
        Failure::Validation {
            sentence: format!(
                "{vertices} of {} vertices have another value than in {}; the first is vertex {}: \
                 {found} instead of {wanted}",
                ids.len(),
                reference.display(),
                ids.get(*first)
            ),
            help: format!("check that it was made of this graph{parameters}{written}"),
        }
    }
}
