//! The errors of commands: a message, advice, and the exit code.

use crate::exit_status::ExitStatus;
use crate::interrupt::{self, Interrupted};
use crate::message::{excerpt, one_line};
use crate::size::Size;
use crate::standard_streams::is_standard;
use miette::Diagnostic;
#[cfg(feature = "jit")]
use ripplet::ProgramErrors;
use ripplet::analyses::AnalyseError;
use ripplet::analytics::AnalysisError;
use ripplet::checkpoints::ResumeError;
use ripplet::device::{DeviceFailure, LccError, OpenError, OpenWorkersError};
#[cfg(feature = "draw")]
use ripplet::draw::DrawError;
#[cfg(feature = "generate")]
use ripplet::generate::GenerateError;
use ripplet::graph::{BuildError, OutOfMemory};
use ripplet::io::{Format, ReadError, ReadErrorKind, WriteError, is_remote};
#[cfg(feature = "jit")]
use ripplet::jit::JitError;
use ripplet::lp::{ColumnError, RunError, SettingsError, cpu::ThreadError, quality::QualityError};
use ripplet::swarm::SwarmError;
use std::io::{ErrorKind, Write, stderr};
use std::path::Path;
use thiserror::Error;

/// An error that ends a command.
#[derive(Debug, Error, Diagnostic)]
pub enum Failure {
    /// Arguments that contradict each other or the input.
    #[error("{sentence}")]
    #[diagnostic(help("{help}"))]
    Refused {
        /// The error, as a sentence.
        sentence: String,
        /// The remedy, as a sentence.
        help: String,
    },
    /// More memory is needed than is free at this moment; the command may succeed later.
    #[error("{sentence}")]
    #[diagnostic(help("{help}"))]
    TooLarge {
        /// The needed and the available memory.
        sentence: String,
        /// The remedy, as a sentence.
        help: String,
    },
    /// An input that cannot be read.
    #[error("{0}")]
    #[diagnostic(help("{}", read_help(.0)))]
    Read(#[from] ReadError),
    /// Edges that do not form a valid graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A graph that cannot be generated.
    #[cfg(feature = "generate")]
    #[error("{}", generate_sentence(.0))]
    #[diagnostic(help("{}", generate_help(.0)))]
    Generate(#[from] GenerateError),
    /// An output whose path, name or format is not usable, found before the work.
    #[error("cannot write {0}")]
    Place(WriteError),
    /// An output that could not be written.
    #[error("cannot write {0}")]
    #[diagnostic(help("{}", write_help(.0)))]
    Write(WriteError),
    /// Standard output that cannot be written.
    #[error("cannot write to standard output: {0}")]
    Print(std::io::Error),
    /// A file without a valid program.
    #[cfg(feature = "jit")]
    #[error(transparent)]
    #[diagnostic(help("docs/hooks.md has the language of hooks"))]
    Program(#[from] ProgramErrors),
    /// A program that cannot be compiled with these parameters.
    #[cfg(feature = "jit")]
    #[error(transparent)]
    #[diagnostic(help("{}", parameter_help(.0)))]
    Compile(#[from] JitError),
    /// A thread of a stage that the system refuses.
    #[error("cannot start a thread: {0}")]
    #[diagnostic(help("allow more memory or more threads, or ask for fewer --threads"))]
    Thread(std::io::Error),
    /// Threads that the system refuses.
    #[error("cannot start the threads: {0}")]
    #[diagnostic(help("ask for fewer --threads"))]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// Threads of the executor that the system refuses.
    #[error(transparent)]
    #[diagnostic(help("ask for fewer --threads"))]
    Threads(#[from] ThreadError),
    /// A graph of a batch that cannot be read.
    #[error(transparent)]
    #[diagnostic(help("--on-error skip leaves such graphs out, and counts them"))]
    BadGraph(ReadError),
    /// A GPU that is missing, defective or too small.
    #[error("{sentence}")]
    #[diagnostic(help("{help}"))]
    Device {
        /// The error, as a sentence.
        sentence: String,
        /// The remedy, as a sentence.
        help: String,
    },
    /// A run that ended without labels.
    #[error(transparent)]
    Run(RunError),
    /// A checkpoint that could not be written.
    #[error(transparent)]
    #[diagnostic(help(
        "what was kept before stands: see to the cause, such as a full disk, and go on with --resume, or leave --checkpoint out"
    ))]
    Checkpoint(RunError),
    /// An analysis that ended without a result.
    #[error(transparent)]
    Analytics(ripplet::analytics::AnalysisError),
    /// Labels whose quality cannot be measured.
    #[error(transparent)]
    Quality(#[from] QualityError),
    /// Communities that cannot be drawn.
    #[cfg(feature = "draw")]
    #[error("cannot draw this: {0}")]
    Draw(#[from] DrawError),
    /// Labels that differ from the reference.
    #[error("{sentence}")]
    #[diagnostic(help("{help}"))]
    Validation {
        /// The difference, as a sentence.
        sentence: String,
        /// The place to look at, as a sentence.
        help: String,
    },
    /// Windows of transactions that cannot be computed, searched or written.
    #[error("{sentence}")]
    #[diagnostic(help("{help}"))]
    Fraud {
        /// The error, as a sentence.
        sentence: String,
        /// The advice; empty if the message has it.
        help: String,
        /// Whether the cause is the input, and not the machine.
        wrong: bool,
        /// Whether memory was refused.
        of_memory: bool,
    },
    /// An array outside a run for which the system refused memory.
    #[error(transparent)]
    Array(#[from] OutOfMemory),
    /// An allocation that failed at a place without an error to return.
    #[error("the memory does not suffice: {bytes} bytes more were refused")]
    #[diagnostic(help("allow more memory, use fewer --threads, or use a larger machine"))]
    Memory {
        /// The bytes of the last request.
        bytes: usize,
    },
    /// A panic.
    #[error("something went wrong inside ripplet")]
    #[diagnostic(help(
        "nothing unfinished was left; please report the command, and what is said above"
    ))]
    Defect,
    /// An error in a text of the user, such as a mapping, shown with its position.
    #[error("{shown}")]
    #[diagnostic(help("{help}"))]
    Text {
        /// The error, on several lines.
        shown: String,
        /// The remedy, as a sentence.
        help: String,
    },
    /// An error of a process of several that share the command.
    #[error("{sentence}")]
    #[diagnostic(help("{help}"))]
    OfRank {
        /// The error, as a sentence.
        sentence: String,
        /// The remedy, as a sentence.
        help: String,
        /// The exit status.
        status: ExitStatus,
        /// Whether it was reported, perhaps by another process.
        is_reported: bool,
    },
    /// An error that another process of those that share the command has, and reports.
    #[error("another rank failed")]
    Elsewhere,
    /// A signal, such as Ctrl-C.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// The end of a command without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything was processed.
    Whole,
    /// Inputs that could not be read were skipped, as requested.
    Skipped,
}

impl Ending {
    /// Returns 0, or 3 if something was skipped.
    pub fn status(self) -> ExitStatus {
        match self {
            Ending::Whole => ExitStatus::Done,
            Ending::Skipped => ExitStatus::Skipped,
        }
    }
}

impl Failure {
    /// Creates an error for contradicting arguments; `help` is the advice.
    pub fn refused(sentence: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Refused { sentence: sentence.into(), help: help.into() }
    }

    /// Returns the error for several GPUs if one is needed.
    fn several_gpus() -> Failure {
        Failure::refused(
            "--device names several GPUs, and this runs on one",
            "name one, such as --device cuda:0",
        )
    }

    /// Removes the advice to use the CPU, for commands that need a GPU.
    pub fn of_gpu_alone(self) -> Failure {
        match self {
            Failure::Device { sentence, .. } => Failure::Device {
                sentence,
                help: "`ripplet devices` lists the devices of this machine".into(),
            },
            other => other,
        }
    }

    /// Whether memory was refused.
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Failure::Read(error) => error.is_out_of_memory(),
            Failure::Build(error) => matches!(error, BuildError::OutOfMemory(_)),
            Failure::Analytics(error) => {
                matches!(error, ripplet::analytics::AnalysisError::OutOfMemory(_))
            }
            Failure::Run(error) => {
                matches!(error, RunError::OutOfMemory { .. } | RunError::Array(_))
            }
            Failure::Array(_) => true,
            Failure::Place(error) | Failure::Write(error) => {
                error.source.kind() == ErrorKind::OutOfMemory
            }
            #[cfg(feature = "draw")]
            Failure::Draw(error) => matches!(error, DrawError::OutOfMemory(_)),
            Failure::Quality(error) => matches!(error, QualityError::OutOfMemory { .. }),
            Failure::Fraud { of_memory, .. } => *of_memory,
            Failure::Memory { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the reader of standard output, such as `head`, has closed it.
    fn is_end_of_reader(&self) -> bool {
        matches!(self, Failure::Print(error) if error.kind() == ErrorKind::BrokenPipe)
    }

    /// Returns 2 if the arguments or the input are wrong, 1 if the run failed, 128 plus a signal's number if that
    /// ended it.
    pub fn status(&self) -> ExitStatus {
        match self {
            Failure::OfRank { status, .. } => *status,
            Failure::Interrupted(_) => interrupt::status(),
            _ if self.is_end_of_reader() => ExitStatus::Unread,
            _ if self.is_out_of_memory() => ExitStatus::Failed,
            Failure::Refused { .. } | Failure::Text { .. } => ExitStatus::Wrong,
            Failure::Read(ReadError { kind: ReadErrorKind::Io(error), .. })
            | Failure::Place(WriteError { source: error, .. })
                if is_of_system(error) =>
            {
                ExitStatus::Failed
            }
            Failure::Read(_) | Failure::BadGraph(_) | Failure::Place(_) => ExitStatus::Wrong,
            #[cfg(feature = "jit")]
            Failure::Program(_) | Failure::Compile(_) => ExitStatus::Wrong,
            Failure::Fraud { wrong: true, .. } => ExitStatus::Wrong,
            #[cfg(feature = "generate")]
            Failure::Generate(GenerateError::OutOfMemory { .. }) => ExitStatus::Failed,
            #[cfg(feature = "generate")]
            Failure::Generate(_) => ExitStatus::Wrong,
            Failure::Build(_) => ExitStatus::Wrong,
            Failure::Run(
                RunError::Settings(_)
                | RunError::NoDeviceSource { .. }
                | RunError::NoDeviceCounter { .. }
                | RunError::InPlaceOnRanks { .. }
                | RunError::RanksDiffer { .. }
                | RunError::NoGhosts { .. },
            ) => ExitStatus::Wrong,
            Failure::Analytics(ripplet::analytics::AnalysisError::NoLength(_)) => ExitStatus::Wrong,
            // The writer refused a graph that the format cannot hold.
            Failure::Write(error) if error.source.kind() == ErrorKind::InvalidInput => {
                ExitStatus::Wrong
            }
            #[cfg(feature = "draw")]
            Failure::Draw(_) => ExitStatus::Wrong,
            Failure::Quality(_) => ExitStatus::Wrong,
            Failure::Write(_)
            | Failure::TooLarge { .. }
            | Failure::Memory { .. }
            | Failure::Array(_)
            | Failure::Defect
            | Failure::Elsewhere
            | Failure::Print(_)
            | Failure::Thread(_)
            | Failure::Pool(_)
            | Failure::Threads(_)
            | Failure::Device { .. }
            | Failure::Run(_)
            | Failure::Checkpoint(_)
            | Failure::Analytics(_) => ExitStatus::Failed,
            Failure::Validation { .. } | Failure::Fraud { .. } => ExitStatus::Failed,
        }
    }

    /// Returns the message and the advice, a line each.
    pub fn sentences(&self) -> (String, String) {
        let help = self.help().map(|help| help.to_string()).unwrap_or_default();
        (one_line(&self.to_string()), one_line(&help))
    }

    /// Returns an error that was reported, perhaps by another process.
    pub fn reported(status: ExitStatus) -> Failure {
        Failure::OfRank { sentence: String::new(), help: String::new(), status, is_reported: true }
    }

    /// Returns the error as that of a rank of several.
    pub fn on_rank(self, rank: usize, host: &str) -> Failure {
        let (sentence, help) = self.sentences();
        let sentence = format!("rank {rank} on {host}: {sentence}");
        Failure::OfRank { sentence, help, status: self.status(), is_reported: false }
    }

    /// Writes the message and the advice, if there is some, to standard error.
    pub fn report(&self) {
        if let Failure::Interrupted(_) = self {
            return interrupt::print_last_message();
        }
        if self.is_end_of_reader() || matches!(self, Failure::OfRank { is_reported: true, .. }) {
            return;
        }
        // Excerpts of programs and mappings have lines; a newline in any other message comes from a file.
        let sentence = match self {
            #[cfg(feature = "jit")]
            Failure::Program(_) | Failure::Compile(_) => excerpt(&self.to_string()),
            Failure::Text { .. } => excerpt(&self.to_string()),
            _ => one_line(&self.to_string()),
        };
        // If standard error is closed, the exit code is the only report.
        let _ = writeln!(stderr(), "error: {sentence}");
        if let Some(help) = self.help().map(|help| help.to_string()).filter(|help| !help.is_empty())
        {
            let _ = writeln!(stderr(), "help: {}", one_line(&help));
        }
    }
}

/// Returns whether the system, and not the file, is the cause: a failing disk, too many open files.
fn is_of_system(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    const OF_SYSTEM: [i32; 5] =
        [libc::EIO, libc::EMFILE, libc::ENFILE, libc::ESTALE, libc::ETIMEDOUT];
    #[cfg(not(unix))]
    const OF_SYSTEM: [i32; 0] = [];
    // Of a server of object storage, which has no code.
    let is_of_server = matches!(
        error.kind(),
        ErrorKind::HostUnreachable
            | ErrorKind::TimedOut
            | ErrorKind::ConnectionAborted
            | ErrorKind::StaleNetworkFileHandle
    );
    is_of_server || error.raw_os_error().is_some_and(|code| OF_SYSTEM.contains(&code))
}

/// Returns the advice on an input that cannot be read; empty if the message has it.
fn read_help(ReadError { path, kind, .. }: &ReadError) -> String {
    match kind {
        // The message of a server has its advice, but for a pattern that matches nothing.
        ReadErrorKind::Io(error) if is_remote(path) => match error.kind() {
            ErrorKind::NotFound if error.to_string().starts_with("no object") => {
                "check the name and the pattern".into()
            }
            _ => String::new(),
        },
        ReadErrorKind::Io(error) => match error.kind() {
            ErrorKind::NotFound => "check the path and the current folder".into(),
            ErrorKind::PermissionDenied => "allow this user to read it".into(),
            _ => String::new(),
        },
        ReadErrorKind::UnknownFormat if has_other_compression(path) => {
            "unpack it, or pack it as .gz or .zst, many files as .tar.gz, .tar.zst or .zip".into()
        }
        ReadErrorKind::UnknownFormat => {
            format!("name the format with --from: {}", Format::names_read())
        }
        ReadErrorKind::Spreadsheet => "save it as CSV, and read that file".into(),
        ReadErrorKind::OutOfMemory(_) => "allow more memory, or use a larger machine".into(),
        ReadErrorKind::Content(_)
        | ReadErrorKind::NoEdges(_)
        | ReadErrorKind::Cancelled(_)
        | ReadErrorKind::NotBuiltIn(_) => String::new(),
    }
}

/// Returns whether a file's name implies a compression or an archive format that is not supported.
fn has_other_compression(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = ["xz", "txz", "bz2", "tbz2", "lz4", "lzma", "7z", "rar"];
    known.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns how to set a missing parameter of a program; empty for other errors.
#[cfg(feature = "jit")]
fn parameter_help(error: &JitError) -> String {
    match error {
        JitError::MissingParameter { name, .. } => format!("give it: --param {name}=VALUE"),
        _ => String::new(),
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Cancelled => Interrupted.into(),
            RunError::NotKept { .. } => Failure::Checkpoint(error),
            RunError::Settings(SettingsError::Columns(ColumnError::Missing { ref name, len })) => {
                let help = match len {
                    1 => format!("name a table with a column `{name}`: --vertex-table FILE"),
                    _ => format!(
                        "give it #[default(VALUE)] in the program: `{name}` has {len} values a vertex, and a table \
                         gives one"
                    ),
                };
                Failure::refused(error.to_string(), help)
            }
            RunError::Device(sentence) => Failure::Device { sentence, help: WITHOUT_A_GPU.into() },
            RunError::DeviceMemory { device, needed, graph, room, limited } => {
                let [all, graph, room] = [needed, graph, room].map(Size);
                let (of, help) = match limited {
                    true => ("is what --device-memory allows", format!("allow {needed}, or")),
                    false => ("is free", "end what else runs there, or".into()),
                };
                Failure::Device {
                    sentence: format!(
                        "the run needs {all} of the memory of {device} at least ({graph} of it for \
                         what must be there of the graph), but {room} {of}"
                    ),
                    help: format!("{help} run it with --device cpu"),
                }
            }
            error => Failure::Run(error),
        }
    }
}

impl From<ResumeError> for Failure {
    fn from(error: ResumeError) -> Failure {
        let help = match error {
            ResumeError::Read(error) => return Failure::Read(error),
            ResumeError::Damaged(_) => "remove the checkpoints to begin anew",
            ResumeError::OtherRun { .. } => {
                "bring the same graph and options, or name another --checkpoint folder for this run"
            }
        };
        Failure::refused(error.to_string(), help)
    }
}

impl From<ripplet::analytics::AnalysisError> for Failure {
    fn from(error: ripplet::analytics::AnalysisError) -> Failure {
        match error {
            ripplet::analytics::AnalysisError::Cancelled => Interrupted.into(),
            error => Failure::Analytics(error),
        }
    }
}

impl From<SwarmError> for Failure {
    fn from(error: SwarmError) -> Failure {
        match error {
            SwarmError::Read(error) => Failure::Read(error),
            SwarmError::Write(error) => unwritten(error),
            SwarmError::Run(error) => error.into(),
            SwarmError::Device(error) => error.into(),
            SwarmError::Thread(error) => Failure::Thread(error),
            SwarmError::Cancelled => Interrupted.into(),
            SwarmError::Unsettled { .. } => Failure::refused(
                error.to_string(),
                "allow more by --tolerance, or say how many rounds by --iterations",
            ),
            SwarmError::NotPersonalizable => {
                Failure::refused(error.to_string(), "leave the vertices to jump to out")
            }
            SwarmError::NotFromSources => {
                Failure::refused(error.to_string(), "leave the sources out")
            }
            SwarmError::NotOfVertices => {
                Failure::refused(error.to_string(), "leave --vertices out")
            }
            SwarmError::SampleOfBatch => Failure::refused(
                error.to_string(),
                "leave --samples out, or take the graphs one by one",
            ),
            SwarmError::NotOnRanks => Failure::refused(error.to_string(), "run it in one process"),
            SwarmError::Elsewhere { .. } => Failure::Elsewhere,
            SwarmError::PartsDiffer { .. } => Failure::refused(
                error.to_string(),
                "give all machines the same files, under the same path: a shared folder, or copies",
            ),
            SwarmError::NoLabel { .. } => Failure::refused(
                error.to_string(),
                "let update_vertex return a label, or run it on each graph alone",
            ),
            SwarmError::NoWorker => Failure::refused(error.to_string(), "name a --device"),
        }
    }
}

/// Converts an error of writing.
pub fn unwritten(error: WriteError) -> Failure {
    match is_standard(&error.path) {
        // A graph that the format cannot hold is refused before the first byte.
        true if error.source.kind() != ErrorKind::InvalidInput => Failure::Print(error.source),
        _ => Failure::Write(error),
    }
}

/// Returns why a graph cannot be generated, with options of the command as names of parameters.
#[cfg(feature = "generate")]
fn generate_sentence(error: &GenerateError) -> String {
    match error {
        GenerateError::Parameter { parameter, value, expected } => {
            let expected = expected.replace("max_size", "--max-size");
            let expected = expected.replace("max_block", "--max-block");
            format!("{} is {value}; it must be {expected}", option(parameter))
        }
        other => other.to_string(),
    }
}

/// Returns which options to change so that a graph can be generated.
#[cfg(feature = "generate")]
fn generate_help(error: &GenerateError) -> String {
    match error {
        GenerateError::TooManyVertices { .. } => {
            "ask for fewer, with --vertices, --scale, or --rows and --columns".into()
        }
        GenerateError::TooManyEdges { room, .. } => format!(
            "ask for more --vertices, or for --edges {room} at most: without the option there are 10 for each vertex"
        ),
        GenerateError::OutOfMemory { .. } => "or use a larger machine".into(),
        GenerateError::Parameter { parameter, .. } => match *parameter {
            "max_degree" => {
                "change --max-degree, or the average degree: twice --edges by --vertices".into()
            }
            "min_size" => "choose both --min-size and --max-size".into(),
            "max_size" => "choose a larger --max-size, or a smaller --max-degree".into(),
            "min_block" => "choose both --min-block and --max-block".into(),
            other => format!("choose another {}, or leave it out", option(other)),
        },
    }
}

/// Returns the option of a parameter.
#[cfg(feature = "generate")]
fn option(parameter: &str) -> String {
    format!("--{}", parameter.replace('_', "-"))
}

/// The advice after an output that could not be written.
fn write_help(WriteError { path, .. }: &WriteError) -> &'static str {
    match is_remote(path) {
        // The message says it if parts of an upload are left.
        true => "no object of it appeared",
        false => "nothing of it was left behind",
    }
}

/// The advice after a failure of a GPU.
const WITHOUT_A_GPU: &str =
    "run it with --device cpu; `ripplet devices` lists the devices of this machine";

impl DeviceFailure for Failure {
    fn is_of_device(&self) -> bool {
        matches!(
            self,
            Failure::Device { .. }
                | Failure::Run(RunError::NoDeviceSource { .. } | RunError::NoDeviceCounter { .. })
        )
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        match error {
            OpenError::Gpu(sentence) => Failure::Device { sentence, help: WITHOUT_A_GPU.into() },
            OpenError::SeveralGpus => Failure::several_gpus(),
            OpenError::CompressedLists => Failure::refused(
                "a GPU reads plain lists for this, but --storage is compressed",
                "leave --storage out, or use --device cpu",
            ),
            OpenError::LimitWithoutGpu(why) => Failure::refused(
                format!("--device-memory is for a GPU, but no GPU can be used: {why}"),
                "leave --device-memory out",
            ),
        }
    }
}

impl From<OpenWorkersError> for Failure {
    fn from(error: OpenWorkersError) -> Failure {
        match error {
            OpenWorkersError::NotOnDevice(why) => {
                Failure::refused(why.to_string(), "use --device cpu")
            }
            OpenWorkersError::Open(error) => error.into(),
        }
    }
}

impl From<AnalyseError> for Failure {
    fn from(error: AnalyseError) -> Failure {
        match error {
            AnalyseError::Open(error) => error.into(),
            // As every error of a message between ranks: it may be the end of another one.
            AnalyseError::Run(SwarmError::Run(AnalysisError::Ranks(error))) => {
                RunError::Ranks(error).into()
            }
            AnalyseError::Run(error) => error.into(),
            AnalyseError::Ranks(error) => error.into(),
            AnalyseError::SeveralGpus => Failure::several_gpus(),
            // What else an analysis refuses, the options have refused before.
            error => Failure::refused(error.to_string(), ""),
        }
    }
}

impl From<LccError> for Failure {
    fn from(error: LccError) -> Failure {
        match error {
            LccError::Cpu(error) => error.into(),
            LccError::Device(error) => error.into(),
            error @ LccError::Compressed => Failure::refused(error.to_string(), "use --device cpu"),
            LccError::SeveralGpus => Failure::several_gpus(),
        }
    }
}

/// Source paths whose panics are not printed: crates that read tables, and the part of the standard library that
/// fails if a new thread gets no memory. The latter ends the process, and `memory` reports it.
const SILENT: [&str; 5] =
    ["/arrow-", "/parquet-", "/flatbuffers-", "/zlib-rs-", "/unix/stack_overflow.rs"];

/// Silences panics of the crates that read tables: a damaged Parquet or Arrow file makes them panic, and the reader
/// catches the panic and returns an error.
pub fn leave_panics_of_table_crates_to_the_reader() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let file = panic.location().map_or("", |location| location.file());
        if !SILENT.iter().any(|part| file.contains(part)) {
            default(panic);
        }
    }));
}
