//! Identities of runs: what a checkpoint must belong to, to be resumed.

use crate::refine::{Objective, RefineOptions, Resolution};
use crate::{ColumnValues, DynProgram, Label, ProgramInfo, Scalar, Settings};
use rayon::prelude::*;
use ripplet_graph::tasks::MIN_LEN;
use ripplet_graph::{Direction, GraphView, identity_of_values};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Everything that determines the labels of a run, by name: two runs with different identities do
/// not share checkpoints.
///
/// The identity contains the graph ([`GraphView::identity`]), the program (its name, its parameters
/// and, if it has one, its device source; a program without device source is known by its name
/// only), schedule, counter, seed, initial labels and columns, and the version of this crate. It
/// contains neither threads nor devices, nor the stop rules: a run may be resumed for more rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    entries: Vec<[String; 2]>,
}

/// A text that is not a [`RunIdentity`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("expected lines of a name, a tab and a value")]
pub struct BadIdentity;

impl RunIdentity {
    /// Returns the identity of a run. Cost: one pass over the graph, in parallel.
    pub fn of<'g>(
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> RunIdentity {
        let graph = graph.into();
        RunIdentity::with_graph(graph.identity(), graph, program, settings)
    }

    /// Returns the identity of a run on a graph whose [`GraphView::identity`] is known; nothing of its lists is read.
    pub fn with_graph<'g>(
        identity: u64,
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> RunIdentity {
        RunIdentity::of_info(identity, graph.into(), &program.info(), settings)
    }

    /// Returns the identity of a refinement. Cost: one pass over the graph, in parallel.
    pub fn of_refinement<'g>(
        graph: impl Into<GraphView<'g>>,
        options: &RefineOptions,
    ) -> RunIdentity {
        // A new option does not compile until it is part of the identity, or left out on purpose.
        let RefineOptions { objective, seed, iterations, initial, fixed, max_size, resume: _ } =
            options;
        let graph = graph.into();
        let mut identity = RunIdentity::of_graph(graph.identity(), graph);
        let (program, resolution) = match *objective {
            Objective::Modularity(Resolution::Auto) => ("refine modularity", None),
            Objective::Modularity(Resolution::Fixed(gamma)) => ("refine modularity", Some(gamma)),
            Objective::Cpm(gamma) => ("refine cpm", Some(gamma)),
        };
        identity.add("program", program);
        identity.add("resolution", resolution.map_or("auto".into(), |gamma| gamma.to_string()));
        identity.add("iterations", iterations);
        if !fixed.is_empty() {
            let digest = identity_of_values(fixed.par_iter().with_min_len(MIN_LEN).copied());
            identity.add("fixed vertices", Digest(digest));
        }
        if let Some(most) = max_size {
            identity.add("most vertices of a community", most);
        }
        identity.add("seed", seed);
        identity.add_initial(initial.as_deref());
        identity
    }

    fn of_info(
        digest: u64,
        graph: GraphView<'_>,
        program: &ProgramInfo,
        settings: &Settings,
    ) -> RunIdentity {
        let mut identity = RunIdentity::of_graph(digest, graph);
        identity.add("program", &program.name);
        let parameters = &program.parameters;
        if !parameters.is_empty() {
            let values: Vec<String> = parameters.iter().map(Scalar::to_string).collect();
            identity.add("parameters", values.join(", "));
        }
        if let Some(source) = &program.device_source {
            let bytes: Vec<u32> = source.text.bytes().map(u32::from).collect();
            identity.add(
                "program's text",
                Digest(identity_of_values(bytes.into_par_iter().with_min_len(MIN_LEN))),
            );
        }
        identity.add_settings(settings);
        identity
    }

    /// Returns what identifies the graph, and the version.
    fn of_graph(digest: u64, graph: GraphView<'_>) -> RunIdentity {
        let mut identity = RunIdentity { entries: Vec::new() };
        let direction = match graph.direction() {
            Direction::Directed => "directed",
            Direction::Undirected => "undirected",
        };
        identity.add("ripplet", env!("CARGO_PKG_VERSION"));
        identity.add("vertices", graph.vertices());
        identity.add("arcs", graph.arcs());
        identity.add("direction", direction);
        identity.add("graph", Digest(digest));
        identity
    }

    fn add_settings(&mut self, settings: &Settings) {
        self.add("schedule", settings.schedule.name());
        if let Some(parameter) = settings.schedule.parameter() {
            self.add(parameter.name(), parameter.value());
        }
        self.add("ties", settings.schedule.ties.name());
        self.add("counter", settings.counter);
        self.add("seed", settings.seed);
        self.add_initial(settings.initial.as_deref());
        for (name, values) in &settings.columns {
            let digest = match values {
                ColumnValues::U32(values) => {
                    identity_of_values(values.par_iter().with_min_len(MIN_LEN).copied())
                }
                ColumnValues::F32(values) => identity_of_values(
                    values.par_iter().with_min_len(MIN_LEN).map(|value| value.to_bits()),
                ),
            };
            self.add(&format!("column {name}"), Digest(digest));
        }
    }

    fn add_initial(&mut self, labels: Option<&[Label]>) {
        if let Some(labels) = labels {
            let digest = identity_of_values(labels.par_iter().with_min_len(MIN_LEN).copied());
            self.add("labels to begin with", Digest(digest));
        }
    }

    fn add(&mut self, name: &str, value: impl fmt::Display) {
        let line = |text: String| text.replace(char::is_control, " ");
        self.entries.push([line(name.into()), line(value.to_string())]);
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|[known, _]| known == name).map(|[_, value]| &**value)
    }

    /// Describes for a user how another run differs: each entry by its name, with its value
    /// `there`, in the other run, and here. Returns nothing if the runs are equal. If the programs
    /// differ, their parameters and sources are left out.
    pub fn differences(&self, there: &RunIdentity) -> Vec<String> {
        let names = self.entries.iter().map(|[name, _]| name);
        let others = there.entries.iter().map(|[name, _]| name);
        let others = others.filter(|name| self.value(name).is_none());
        let of_program = |name: &String| ["parameters", "program's text"].contains(&name.as_str());
        let is_other = self.value("program") != there.value("program");
        let names = names.chain(others).filter(|name| !(is_other && of_program(name)));
        let differs = |name: &String| {
            let [here, there] = [self, there].map(|run| run.value(name).unwrap_or("none"));
            (here != there).then(|| format!("{name}: {there} there, {here} here"))
        };
        names.filter_map(differs).collect()
    }
}

/// Writes one line per entry: a name, a tab, a value.
impl fmt::Display for RunIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|[name, value]| writeln!(f, "{name}\t{value}"))
    }
}

impl FromStr for RunIdentity {
    type Err = BadIdentity;

    fn from_str(text: &str) -> Result<RunIdentity, BadIdentity> {
        let entry = |line: &str| {
            let (name, value) = line.split_once('\t').ok_or(BadIdentity)?;
            Ok([name.into(), value.into()])
        };
        Ok(RunIdentity { entries: text.lines().map(entry).collect::<Result<_, _>>()? })
    }
}

/// A hash in place of data that is too long to print.
struct Digest(u64);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
