//! A run between two rounds: what it needs to go on as if nothing had happened.
//!
//! That is each vertex's label, which vertices are active, the columns that the program writes, and the
//! counts of the rounds so far, by which the stop rules decide. All else follows: label totals are those of
//! the labels, turns and ties are drawn from seed and round, columns that are only read are given again.
//! So a run that goes on from a checkpoint has the labels, columns and counts of one that was never
//! interrupted, on any executor and any number of threads, unless its schedule's name says otherwise.
//!
//! [`Keeper`] is who keeps states while a run goes on, [`Settings::resume`] where one begins that goes on,
//! and [`RunIdentity`] says which run a checkpoint is of.
//!
//! Memory: on the CPU, a state is lent and not copied. A checkpoint to go on from is the caller's; no plan
//! counts it, as it may lie in a mapped file.

use crate::columns::{self, ColumnSpec};
use crate::{
    ColumnValues, DynProgram, Label, NO_LABEL, Order, ProgramInfo, Round, Scalar, Settings,
    StopReason, Ties,
};
use rayon::prelude::*;
use ripplet_graph::{Buffer, Direction, GraphView, identity_of_values};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A run's state between two rounds, lent by who runs it.
#[derive(Clone, Debug)]
pub struct State<'a> {
    /// Each vertex's label.
    pub labels: Cow<'a, [Label]>,
    /// A bit for each vertex, whether it must be looked at again: vertex v is bit `v % 64` of word
    /// `v / 64`. Bits behind the last vertex are 0.
    pub active: Cow<'a, [u64]>,
    /// The bits of the columns that the program writes, in its order.
    pub columns: Vec<Cow<'a, [u32]>>,
}

/// Who keeps a run's states, so that it can go on from one of them.
pub trait Keeper: Send + Sync {
    /// Asked after each round that is not the last: whether the state shall be kept now.
    fn is_due(&mut self, rounds: &[Round]) -> bool;

    /// Keeps the state after these rounds.
    ///
    /// # Errors
    /// Where it cannot, which ends the run.
    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept>;
}

/// Why a state could not be kept, as a sentence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct NotKept(pub String);

/// A state that was kept, for [`Settings::resume`]; its arrays may lie in a mapped file.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The rounds that were done.
    pub rounds: Vec<Round>,
    /// As [`State::labels`].
    pub labels: Buffer<Label>,
    /// As [`State::active`].
    pub active: Buffer<u64>,
    /// As [`State::columns`].
    pub columns: Vec<Buffer<u32>>,
}

/// Why a run cannot go on from a checkpoint.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CheckpointError {
    /// It has more or less of something than the run.
    #[error("the checkpoint has {found} {what}, where the run has {wanted}: it is of another run")]
    Misfit {
        /// Of what.
        what: &'static str,
        /// How many it has.
        found: u64,
        /// How many the run has.
        wanted: u64,
    },
    /// A label that is neither a vertex nor [`NO_LABEL`].
    #[error("the checkpoint's label {label} of vertex {vertex} is no vertex: it is damaged")]
    NoSuchLabel {
        /// The vertex.
        vertex: usize,
        /// Its label.
        label: Label,
    },
    /// The run would have ended before.
    #[error(
        "the checkpoint is of round {rounds}, but by these rules the run ends after round {end} \
         ({}): take the rules that it began with, or rules that let it go on", .reason.name()
    )]
    Ended {
        /// Rounds that it has.
        rounds: usize,
        /// The round after which the rules end the run.
        end: usize,
        /// The rule.
        reason: StopReason,
    },
}

impl State<'_> {
    /// Words of [`State::active`] for so many vertices.
    pub fn words(vertices: u32) -> usize {
        (vertices as usize).div_ceil(64)
    }
}

/// Bytes of the state of a run over so many vertices, of a program with these columns.
pub(crate) fn bytes_of_state(vertices: u32, specs: &[ColumnSpec]) -> u64 {
    let written = specs.iter().filter(|spec| spec.written);
    let values = written.map(|spec| columns::values_of(spec, vertices));
    let values = values.fold(u64::from(vertices), u64::saturating_add);
    values.saturating_mul(4).saturating_add(8 * State::words(vertices) as u64)
}

impl Checkpoint {
    /// The fingerprint of its labels and columns, of which those to come are made; 0 where there is none.
    pub fn fingerprint(&self) -> u64 {
        self.rounds.last().and_then(|round| round.fingerprint).unwrap_or(0)
    }

    /// Checks that a run with these settings can go on from it.
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
            let reason = settings.stop.reason(&self.rounds[..end], vertices, settings.schedule)?;
            Some(CheckpointError::Ended { rounds: self.rounds.len(), end, reason })
        };
        (0..self.rounds.len()).find_map(ended).map_or(Ok(()), Err)
    }
}

/// What decides the labels of a run, by name: a checkpoint of one run is none of another.
///
/// These are the graph ([`GraphView::identity`]), the program (its name, its parameters and, where it has
/// one, its text; of a program in Rust alone, the name is all that is known), schedule, counter, seed, what
/// labels and columns begin with, and the version of this crate. Threads and devices are not among them,
/// nor are the stop rules: a run may go on for longer than it was meant to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    entries: Vec<[String; 2]>,
}

/// A text that is no [`RunIdentity`].
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("expected lines of a name, a tab and a value")]
pub struct BadIdentity;

impl RunIdentity {
    /// The identity of a run: one pass over the graph, in parallel.
    pub fn of<'g>(
        graph: impl Into<GraphView<'g>>,
        program: &dyn DynProgram,
        settings: &Settings,
    ) -> RunIdentity {
        RunIdentity::of_info(graph.into(), &program.info(), settings)
    }

    fn of_info(graph: GraphView<'_>, program: &ProgramInfo, settings: &Settings) -> RunIdentity {
        let mut identity = RunIdentity { entries: Vec::new() };
        let direction = match graph.direction() {
            Direction::Directed => "directed",
            Direction::Undirected => "undirected",
        };
        identity.add("ripplet", env!("CARGO_PKG_VERSION"));
        identity.add("vertices", graph.vertices());
        identity.add("arcs", graph.arcs());
        identity.add("direction", direction);
        identity.add("graph", Digest(graph.identity()));
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

    fn add_settings(&mut self, settings: &Settings) {
        self.add("schedule", settings.schedule.name());
        match settings.schedule.order {
            Order::Phased { phases } => self.add("phases", phases),
            Order::Async { pick_less: Some(every) } => self.add("pick-less", every),
            Order::Sync | Order::Async { pick_less: None } => {}
        }
        let ties = match settings.schedule.ties {
            Ties::Hashed => "hashed",
            Ties::Smallest => "smallest",
        };
        self.add("ties", ties);
        self.add("counter", settings.counter);
        self.add("seed", settings.seed);
        if let Some(labels) = &settings.initial {
            let digest = identity_of_values(labels.par_iter().copied());
            self.add("labels to begin with", Digest(digest));
        }
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

    fn add(&mut self, name: &str, value: impl fmt::Display) {
        let line = |text: String| text.replace(char::is_control, " ");
        self.entries.push([line(name.into()), line(value.to_string())]);
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.entries.iter().find(|[known, _]| known == name).map(|[_, value]| &**value)
    }

    /// What is different in another run, in words for a user: each by its name, with its value `there`, in
    /// the other, and here. None where they are the same run. Of another program, its name alone.
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

/// A line each: a name, a tab, a value.
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

/// A number that stands for what is too long to be told.
struct Digest(u64);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
