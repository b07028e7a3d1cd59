//! `ripplet graphalytics`: an LDBC Graphalytics workload, timed and validated.

mod properties;

use crate::console::{Console, print};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{check_place, is_standard, written};
use crate::reading::{Loaded, load_with};
use crate::threads::ThreadArguments;
use clap::{Args, ValueEnum};
use properties::Properties;
use ripplet::graph::{Direction, Graph, SelfLoops, VertexIds};
use ripplet::io::{self, ReadOptions, write};
use ripplet::lp::programs::Cdlp;
use ripplet::lp::{Executor, Outcome, Schedule, Settings, Stop, cpu::CpuExecutor};
use ripplet::{Input, LoadOptions};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Run an LDBC Graphalytics workload: time it, and validate it against its reference output.
///
/// The reference output is the file NAME-CDLP beside the properties file. Where it is there and the
/// labels differ, the exit code is 1.
#[derive(Args)]
pub struct Arguments {
    /// The graph's .properties file; its .v and .e files lie where that says.
    properties: PathBuf,
    /// What to run.
    #[arg(long, value_enum, default_value_t = Algorithm::Cdlp)]
    algorithm: Algorithm,
    /// Also write the labels.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Algorithm {
    /// Community detection by label propagation
    Cdlp,
}

/// What a properties file asks for.
struct Workload {
    properties: Properties,
    vertices: PathBuf,
    edges: PathBuf,
    direction: Direction,
    iterations: u32,
    reference: Option<PathBuf>,
}

/// Runs a workload.
pub fn run(arguments: &Arguments, console: &Console) -> Result<(), Failure> {
    let start = Instant::now();
    let Algorithm::Cdlp = arguments.algorithm;
    let workload = Workload::read(&arguments.properties)?;
    if let Some(output) = &arguments.output {
        let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
        write::check_communities(output, &no_ids).map_err(Failure::Place)?;
        let inputs = [&arguments.properties, &workload.vertices, &workload.edges];
        let inputs = inputs.into_iter().chain(&workload.reference);
        check_place(output, &inputs.map(PathBuf::as_path).collect::<Vec<_>>())?;
    }
    let threads = arguments.threads.start()?;
    let loaded = workload.load(console)?;
    let (outcome, compute) = workload.compute(&loaded.graph, &arguments.threads, console)?;
    if let Some(output) = &arguments.output {
        interrupt::check()?;
        let (ids, naming) = (loaded.graph.ids(), write::Naming::VertexId);
        written(write::write_communities(
            output,
            ids,
            &write::Communities::of_all(&outcome.labels),
            naming,
        ))?;
    }
    let whole = start.elapsed().as_secs_f64();
    let mut report = workload.report(&loaded, threads, [compute, whole]);
    let validated = workload.validate(&loaded.graph, &outcome, console);
    if let Ok(sentence) = &validated {
        let _ = writeln!(report, "{:<12}{sentence}", "validation");
    }
    // Labels on standard output must stay alone there.
    match arguments.output.as_deref().is_some_and(is_standard) {
        true => console.say(report.trim_end()),
        false => print(&report)?,
    }
    validated.map(|_| ())
}

impl Workload {
    fn read(path: &Path) -> Result<Workload, Failure> {
        let properties = Properties::read(path)?;
        Ok(Workload {
            vertices: properties.file("vertex-file")?,
            edges: properties.file("edge-file")?,
            direction: properties.direction()?,
            iterations: properties.number("cdlp.max-iterations")?,
            reference: properties.reference("CDLP"),
            properties,
        })
    }

    /// The graph, if it is as large as the properties say.
    fn load(&self, console: &Console) -> Result<Loaded, Failure> {
        let options = LoadOptions {
            direction: self.direction,
            self_loops: SelfLoops::Keep,
            ..LoadOptions::default()
        };
        let read = || {
            let edges = io::read_ldbc(&self.vertices, &self.edges, &options.read)?;
            Ok(Input::Edges(edges))
        };
        let loaded = load_with(&self.edges, &options, read, console)?;
        let vertices = u64::from(loaded.graph.vertices());
        self.check_count("meta.vertices", vertices, "vertices", &self.vertices)?;
        self.check_count("meta.edges", loaded.rows.unwrap_or(0), "edges", &self.edges)?;
        Ok(loaded)
    }

    fn check_count(&self, key: &str, found: u64, what: &str, file: &Path) -> Result<(), Failure> {
        match self.properties.count(key)? {
            Some((expected, line)) if expected != found => {
                let (name, file) = (self.properties.name(), file.display());
                let sentence = format!(
                    "`graph.{name}.{key}` is {expected}, but {file} has {found} {what}: one of the \
                     two files is not the other's"
                );
                Err(self.properties.error(line, sentence))
            }
            _ => Ok(()),
        }
    }

    /// The labels, and the seconds of the algorithm alone.
    fn compute(
        &self,
        graph: &Graph,
        threads: &ThreadArguments,
        console: &Console,
    ) -> Result<(Outcome, f64), Failure> {
        let executor = CpuExecutor::new(threads.count())?;
        let settings = Settings {
            schedule: Schedule::cdlp(),
            stop: Stop::after(self.iterations),
            keep_disconnected: true,
            ..Settings::default()
        };
        let start = Instant::now();
        let outcome = executor.run(graph, &Cdlp, &settings, &mut console.watch())?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    }

    fn report(&self, loaded: &Loaded, threads: usize, [compute, whole]: [f64; 2]) -> String {
        let (name, graph) = (self.properties.name(), &loaded.graph);
        let (vertices, edges) = (graph.vertices(), graph.edges());
        let kind = match self.direction {
            Direction::Directed => "directed",
            Direction::Undirected => "undirected",
        };
        let mut text = String::new();
        for (name, value) in [
            ("graph", format!("{name}, {kind}, {vertices} vertices, {edges} edges")),
            ("algorithm", format!("cdlp, {} iterations, {threads} threads", self.iterations)),
            ("load", format!("{:.6} s", loaded.read + loaded.build)),
            ("compute", format!("{compute:.6} s")),
            ("whole", format!("{whole:.6} s")),
        ] {
            let _ = writeln!(text, "{name:<12}{value}");
        }
        text
    }

    /// What the comparison with the reference output says, if it says nothing bad.
    fn validate(
        &self,
        graph: &Graph,
        outcome: &Outcome,
        console: &Console,
    ) -> Result<String, Failure> {
        let Some(path) = &self.reference else {
            return Ok(format!("none: there is no {}-CDLP", self.properties.name()));
        };
        interrupt::check()?;
        console.stage(format!("reading {}", path.display()));
        let (ids, labels) = (graph.ids(), &outcome.labels);
        let expected = io::read_labels(path, &ReadOptions::default(), ids)?;
        let differs = |v: &usize| labels[*v] != expected[*v];
        let Some(first) = (0..labels.len()).find(differs) else {
            return Ok(format!("exact: all labels are those of {}", path.display()));
        };
        let (all, different) = (labels.len(), (first..labels.len()).filter(differs).count());
        let [vertex, found, wanted] =
            [first as u32, labels[first], expected[first]].map(|v| ids.get(v).to_string());
        Err(Failure::Validation {
            sentence: format!(
                "{different} of {all} vertices have another label than in {}; the first is \
                 vertex {vertex}: {found} instead of {wanted}",
                path.display()
            ),
            help: format!(
                "check that it was made of this graph with {} iterations",
                self.iterations
            ),
        })
    }
}
