//! Python exceptions of the crate's errors.
//!
//! The classes are in `ripplet.errors`. Each is a `RippletError` and also the built-in that fits.

use pyo3::prelude::*;
use pyo3::types::PyString;
use ripplet::analyses::AnalyseError;
use ripplet::analytics::AnalysisError;
use ripplet::checkpoints::{CheckpointError, ResumeError};
use ripplet::communities::CommunitiesError;
use ripplet::device::OpenWorkersError;
use ripplet::graph::{BuildError, EdgeTableError, OutOfMemory};
use ripplet::io::{Place, ReadError, ReadErrorKind, WriteError};
use ripplet::lp::quality::QualityError;
use ripplet::lp::refine::RefineError;
use ripplet::lp::{RunError, cpu::ThreadError};
use ripplet::swarm::SwarmError;
use ripplet::{GraphError, LoadError};
use std::fmt::Display;
use std::io;

/// Class of an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Input that is no graph, or a value that an option does not take: `ValueError`.
    Input,
    /// An argument of a wrong type: `TypeError`.
    Type,
    /// A vertex that the graph does not have: `KeyError`.
    Key,
    /// A file: `OSError`.
    File,
    /// Memory that is refused: `MemoryError`.
    Memory,
    /// A device that is not there or fails: `RuntimeError`.
    Device,
    /// Anything else that fails in a run: `RuntimeError`.
    Run,
}

/// Error with the class of its exception.
#[derive(Clone, Debug)]
pub struct Failure {
    pub class: Class,
    pub message: String,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Input => "InputError",
            Class::Type => "OptionError",
            Class::Key => "UnknownVertexError",
            Class::File => "FileError",
            Class::Memory => "OutOfMemoryError",
            Class::Device => "DeviceError",
            Class::Run => "RunError",
        }
    }
}

impl Failure {
    /// Returns an error of a class.
    pub fn new(class: Class, message: impl Display) -> Failure {
        Failure { class, message: message.to_string() }
    }

    /// Returns an error of input.
    pub fn input(message: impl Display) -> Failure {
        Failure::new(Class::Input, message)
    }
}

/// What messages advise by options of the command, and the same in Python.
const ADVICE: [(&str, &str); 19] = [
    ("--ids names", "id_kind=\"names\""),
    ("--ids signed", "id_kind=\"signed\""),
    ("--ids unsigned", "id_kind=\"unsigned\""),
    ("leave --ids out", "leave id_kind out"),
    ("with --coarse-weights", "with coarse_weights=True"),
    ("give its format as --to", "give its format as format="),
    ("(--to parquet)", "(format=\"parquet\")"),
    ("(--to csv)", "(format=\"csv\")"),
    ("--delimiter tab", "delimiter=\"tab\""),
    ("(--resume)", "(resume=True)"),
    ("--since and --before", "since= and before="),
    ("by --model FILE", "by model=\"FILE\""),
    ("--model none", "model=\"none\""),
    ("--model auto", "model=\"auto\""),
    ("those of --exact", "those of exact=True"),
    ("without --full-slides (and --follow)", "without full_slides=True"),
    ("; --known sets their share", "; known= sets their share"),
    (
        "--columns names the column of graphs",
        "source=, target= or weight= names the column of graphs",
    ),
    ("with --password-file, set PGPASSWORD", "with PGPASSFILE, set PGPASSWORD"),
];

/// What messages on tables in memory advise, whose ids have their types.
const ADVICE_ON_TABLES: [(&str, &str); 3] = [
    ("use --ids names to read both as names", "make both strings"),
    ("--ids names reads them as names", "make them strings"),
    ("use --ids names", "make all of them strings"),
];

/// What messages advise by options of the command with names or numbers of columns, and the same in Python.
const ADVICE_ON_COLUMNS: [(&str, &str); 2] = [
    (
        "use --columns ",
        "name the ends of an edge with source= and target=, and its weight with weight=",
    ),
    ("use --graph-column ", "name it with graph="),
];

/// Returns a message that advises options of Python in place of those of the command.
pub fn in_python(mut message: String) -> String {
    for (command, python) in ADVICE_ON_COLUMNS {
        if let Some(at) = message.find(command) {
            let advice = &message[at..];
            let end = [advice.find("; "), advice.find('\n')].into_iter().flatten().min();
            let end = end.unwrap_or(advice.len());
            let by_number = match advice[..end].contains("--no-header") {
                true => ", by number as in source=\"1\", target=\"2\", header=False",
                false => "",
            };
            message.replace_range(at..at + end, &format!("{python}{by_number}"));
        }
    }
    advising(message, &ADVICE)
}

/// Returns a message with other advice.
fn advising(mut message: String, advice: &[(&str, &str)]) -> String {
    for (command, python) in advice {
        if message.contains(command) {
            message = message.replace(command, python);
        }
    }
    message
}

impl From<Failure> for PyErr {
    fn from(Failure { class, message }: Failure) -> PyErr {
        let message = in_python(message);
        Python::attach(|py| {
            let raised = py
                .import("ripplet.errors")
                .and_then(|errors| errors.getattr(class.name()))
                .and_then(|exception| exception.call1((PyString::new(py, &message),)));
            raised.map_or_else(|error| error, PyErr::from_value)
        })
    }
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Failure {
        Failure::new(Class::Memory, error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        let class = match &error.kind {
            _ if error.is_out_of_memory() => Class::Memory,
            ReadErrorKind::Io(_) => Class::File,
            ReadErrorKind::Cancelled(_) => Class::Run,
            _ => Class::Input,
        };
        Failure::new(class, error)
    }
}

/// Returns an error of a table in memory, whose rows are counted from 0 as Python does.
pub fn of_table(error: ReadError) -> Failure {
    let class = Failure::from_kind(&error);
    let place = match error.place {
        Place::Row(row) => format!("row {row} (the first is 0): "),
        _ => String::new(),
    };
    Failure::new(class, advising(format!("{place}{}", error.kind), &ADVICE_ON_TABLES))
}

impl Failure {
    fn from_kind(error: &ReadError) -> Class {
        if error.is_out_of_memory() { Class::Memory } else { Class::Input }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        let class = match error {
            BuildError::OutOfMemory(_) => Class::Memory,
            BuildError::Cancelled(_) => Class::Run,
            _ => Class::Input,
        };
        Failure::new(class, error)
    }
}

impl From<EdgeTableError> for Failure {
    fn from(error: EdgeTableError) -> Failure {
        Failure::input(error)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        match error {
            LoadError::Read(error) => error.into(),
            LoadError::Build(error) => error.into(),
        }
    }
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Failure {
        match error {
            GraphError::Build(error) => error.into(),
            error => Failure::input(error),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Failure {
        let class = match error.source.kind() {
            io::ErrorKind::OutOfMemory => Class::Memory,
            _ => Class::File,
        };
        Failure::new(class, error)
    }
}

impl From<ThreadError> for Failure {
    fn from(error: ThreadError) -> Failure {
        Failure::new(Class::Run, error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        let class = match &error {
            RunError::OutOfMemory { .. } | RunError::Array(_) => Class::Memory,
            RunError::Settings(_) | RunError::MergeWeights { .. } => Class::Input,
            _ => Class::Run,
        };
        Failure::new(class, error)
    }
}

impl From<RefineError> for Failure {
    fn from(error: RefineError) -> Failure {
        match error {
            RefineError::Run(error) => error.into(),
            error => Failure::input(error),
        }
    }
}

impl From<CommunitiesError> for Failure {
    fn from(error: CommunitiesError) -> Failure {
        match error {
            CommunitiesError::Run(error) => error.into(),
            CommunitiesError::Refine(error) => error.into(),
            CommunitiesError::OutOfMemory(error) => error.into(),
            CommunitiesError::Quality(error) => error.into(),
            CommunitiesError::Stage(failed) => match failed.own {
                Some(own) => own.into(),
                None => Failure::new(Class::Run, failed),
            },
            CommunitiesError::HostMemory(_) => Failure::new(Class::Memory, error),
            CommunitiesError::Threads(error) => error.into(),
            CommunitiesError::Open(_) => Failure::new(Class::Device, error),
            CommunitiesError::Checkpoint(error) => error.into(),
            error => Failure::input(error),
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Failure {
        match error {
            CheckpointError::Place(error) => error.into(),
            CheckpointError::Read(error) | CheckpointError::Resume(ResumeError::Read(error)) => {
                error.into()
            }
            CheckpointError::Begun { .. } => Failure::input(format!(
                "{error}: go on with that run by resume=True, name another folder, or remove the checkpoints"
            )),
            CheckpointError::Resume(error) => Failure::input(error),
        }
    }
}

impl From<QualityError> for Failure {
    fn from(error: QualityError) -> Failure {
        let class = match error {
            QualityError::OutOfMemory { .. } => Class::Memory,
            _ => Class::Input,
        };
        Failure::new(class, error)
    }
}

impl From<SwarmError> for Failure {
    fn from(error: SwarmError) -> Failure {
        match error {
            SwarmError::Read(error) => error.into(),
            SwarmError::Device(error) => error.into(),
            SwarmError::Run(AnalysisError::OutOfMemory(error)) => error.into(),
            SwarmError::NotPersonalizable
            | SwarmError::SampleOfBatch
            | SwarmError::NoLabel { .. }
            | SwarmError::NotOnRanks
            | SwarmError::Run(AnalysisError::NoLength(_) | AnalysisError::Setting(_)) => {
                Failure::input(error)
            }
            error => Failure::new(Class::Run, error),
        }
    }
}

impl From<OpenWorkersError> for Failure {
    fn from(error: OpenWorkersError) -> Failure {
        Failure::new(Class::Device, error)
    }
}

impl From<AnalyseError> for Failure {
    fn from(error: AnalyseError) -> Failure {
        match error {
            AnalyseError::Run(error) => error.into(),
            AnalyseError::Open(error) => error.into(),
            error => Failure::input(error),
        }
    }
}
