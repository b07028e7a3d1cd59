//! Checkpoints: the state of a run between two rounds, from which it can resume.
//!
//! A state holds each vertex's label, the active vertices, the columns that the program writes, and
//! the counts of the rounds so far, which the stop rules read. Everything else is derived: label
//! totals follow from the labels, phases and ties are drawn from seed and round, and read-only
//! columns are given again. A resumed run therefore has the labels, columns and counts of an
//! uninterrupted one, on any executor and any number of threads, unless its schedule is not
//! deterministic.
//!
//! - [`Keeper`] saves states while a run goes on.
//! - [`Settings::resume`] starts a run from a state, [`RefineOptions::resume`] a refinement.
//! - [`RunIdentity`] identifies the run that a checkpoint belongs to.
//!
//! Memory: on the CPU, a [`Keeper`] borrows the state; nothing is copied. The caller owns the
//! checkpoint that a run resumes from; no plan counts it, as it may lie in a mapped file.

use crate::columns::{self, ColumnSpec};
use crate::refine::{Objective, RefineOptions, Resolution};
use crate::{
    ColumnValues, DynProgram, Label, NO_LABEL, ProgramInfo, Round, Scalar, Settings, StopReason,
};
use rayon::prelude::*;
use ripplet_graph::{Buffer, Direction, GraphView, identity_of_values};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The state of a run between two rounds, borrowed from the executor.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// The label of each vertex.
    pub labels: Cow<'a, [Label]>,
    /// A bit per vertex, whether it is active: vertex v is bit `v % 64` of word `v / 64`. Bits past
    /// the last vertex are 0.
    pub active: Cow<'a, [u64]>,
    /// The values of the columns that the program writes, as bits, in its order.
    pub columns: Vec<Cow<'a, [u32]>>,
}

/// Saves a run's states, so that it can be resumed.
pub trait Keeper: Send + Sync {
    /// Returns whether the state after `rounds` is to be saved; called after each round but the
    /// last.
    fn is_due(&mut self, rounds: &[Round]) -> bool;

    /// Saves the state after `rounds`.
    ///
    /// # Errors
    /// If the state cannot be saved; this ends the run.
    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept>;
}

/// The reason why a state could not be saved, as a sentence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct NotKept(pub String);

/// A saved state, for [`Settings::resume`]; its arrays may lie in a mapped file.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The rounds that were done.
    pub rounds: Vec<Round>,
    /// The label of each vertex; see [`State::labels`].
    pub labels: Buffer<Label>,
    /// The active vertices; see [`State::active`].
    pub active: Buffer<u64>,
    /// The written columns; see [`State::columns`].
    pub columns: Vec<Buffer<u32>>,
}

/// The reason why a run cannot resume from a checkpoint.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckpointError {
    /// A size differs from the run's.
    #[error("the checkpoint has {found} {what}, where the run has {wanted}: it is of another run")]
    Misfit {
        /// The quantity.
        what: &'static str,
        /// Its size in the checkpoint.
        found: u64,
        /// Its size in the run.
        wanted: u64,
    },
    /// A label is neither a vertex nor [`NO_LABEL`].
    #[error("the checkpoint's label {label} of vertex {vertex} is no vertex: it is damaged")]
    NoSuchLabel {
        /// The vertex.
        vertex: usize,
        /// Its label.
        label: Label,
    },
    /// The run is a refinement on a device.
    #[error("a refinement resumes from a checkpoint on the CPU, not on a GPU")]
    OfCpu,
    /// The stop rules end the run before the checkpoint's last round.
    #[error(
        "the checkpoint is of round {rounds}, but by these rules the run ends after round {end} \
         ({}): take the rules that it began with, or rules that let it go on", .reason.name()
    )]
    Ended {
        /// The number of rounds in the checkpoint.
        rounds: usize,
        /// The round after which the rules end the run.
        end: usize,
        /// The stop rule.
        reason: StopReason,
    },
}

impl State<'_> {
    /// Returns the number of words of [`State::active`] for `vertices` vertices.
    pub fn words(vertices: u32) -> usize {
        (vertices as usize).div_ceil(64)
    }
}

/// Returns the bytes of the state of a run over `vertices` vertices, with these columns.
pub(crate) fn bytes_of_state(vertices: u32, specs: &[ColumnSpec]) -> u64 {
    let written = specs.iter().filter(|spec| spec.written);
    let values = written.map(|spec| columns::values_of(spec, vertices));
    let values = values.fold(u64::from(vertices), u64::saturating_add);
    values.saturating_mul(4).saturating_add(8 * State::words(vertices) as u64)
}

impl Checkpoint {
    /// Returns the fingerprint of the labels and columns, which later rounds update; 0 without any.
    pub fn fingerprint(&self) -> u64 {
        self.rounds.last().and_then(|round| round.fingerprint).unwrap_or(0)
    }

    /// Checks that a run with these settings can resume from the checkpoint.
    pub(crate) fn check(
        &self,
        vertices: u32,
        program: &ProgramInfo,
        settings: &Settings,
    ) -> Result<(), CheckpointError> {
        let fits = |what, found: usize, wanted: u64| match found as u64 {
            found if found == wanted => Ok(()),
            found => Err(CheckpointError::Misfit { what, found, wanted }),
        };
        fits("labels", self.labels.len(), vertices.into())?;
        fits("words of active vertices", self.active.len(), State::words(vertices) as u64)?;
        let behind = match (self.active.last(), vertices % 64) {
            (Some(&last), rest) if rest > 0 => (last >> rest).count_ones(),
            _ => 0,
        };
        fits("active vertices behind the last", behind as usize, 0)?;
        let written: Vec<&ColumnSpec> =
            program.columns.iter().filter(|spec| spec.written).collect();
        fits("written columns", self.columns.len(), written.len() as u64)?;
        for (values, spec) in self.columns.iter().zip(written) {
            fits("values of a column", values.len(), columns::values_of(spec, vertices))?;
        }
        let unknown = |&label: &Label| label >= vertices && label != NO_LABEL;
        if let Some(vertex) = self.labels.par_iter().position_first(unknown) {
            return Err(CheckpointError::NoSuchLabel { vertex, label: self.labels[vertex] });
        }
        let ended = |end: usize| {
            let reason =
                settings.stop.reason_after(&self.rounds[..end], vertices, settings.schedule)?;
            Some(CheckpointError::Ended { rounds: self.rounds.len(), end, reason })
        };
        (0..self.rounds.len()).find_map(ended).map_or(Ok(()), Err)
    }
}

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
            let digest = identity_of_values(fixed.par_iter().copied());
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
            let letters: Vec<u32> = source.text.bytes().map(u32::from).collect();
            identity.add("program's text", Digest(identity_of_values(letters.into_par_iter())));
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
                ColumnValues::U32(values) => identity_of_values(values.par_iter().copied()),
                ColumnValues::F32(values) => {
                    identity_of_values(values.par_iter().map(|value| value.to_bits()))
                }
            };
            self.add(&format!("column {name}"), Digest(digest));
        }
    }

    fn add_initial(&mut self, labels: Option<&[Label]>) {
        if let Some(labels) = labels {
            let digest = identity_of_values(labels.par_iter().copied());
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
