//! `ripplet fraud`: windows of transactions, and the suspicious clusters in them.

mod evaluate;
mod feed;
mod find;
mod report;
mod run;
mod window;

use crate::console::Console;
use crate::failure::{Ending, Failure};
use crate::memory::{check_least, within};
use crate::size::Size;
use crate::standard_streams::is_standard;
use clap::{Args, Subcommand};
use ripplet::fraud::Timestamp;
use ripplet::fraud::database::DatabaseError;
use ripplet::fraud::detect::DetectError;
use ripplet::fraud::evaluate::EvaluateError;
use ripplet::fraud::feed::FeedError;
use ripplet::fraud::folder::FolderError;
use ripplet::fraud::mapping::MappingError;
use ripplet::fraud::run::PipelineError;
use ripplet::fraud::seeds::ListError;
use ripplet::fraud::source::reader::ReaderError;
use ripplet::fraud::source::{FaultKind, SourceError};
use ripplet::fraud::stream::{Counts, StreamError};
use ripplet::io::Format;
use ripplet::io::write::Target;
use ripplet::lp::RunError;
use std::path::Path;

/// Find suspicious clusters in windows of transactions, around users who are known to be bad.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Box<run::Arguments>),
    Window(Box<window::Arguments>),
    Evaluate(Box<evaluate::Arguments>),
    Report(report::Arguments),
    Find(find::Arguments),
}

impl Arguments {
    /// Returns whether processes that were started together share the subcommand.
    pub fn is_shared(&self) -> bool {
        matches!(self.command, Command::Run(_))
    }
}

/// The advice if the memory does not suffice for windows.
const SMALLER: &str = "choose a shorter --window, or allow more by RIPPLET_HOST_MEMORY";

/// Runs the subcommand.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, console),
        Command::Window(arguments) => {
            check_least(None, "`ripplet fraud window`", LEAST)?;
            within(None, "the windows", SMALLER, || window::run(arguments, console))
        }
        Command::Evaluate(arguments) => {
            check_least(None, "`ripplet fraud evaluate`", LEAST)?;
            within(None, "the evaluation", SMALLER, || evaluate::run(arguments, console))
        }
        Command::Report(arguments) => report::run(arguments, console),
        Command::Find(arguments) => {
            check_least(None, "`ripplet fraud find`", LEAST_OF_A_SEARCH)?;
            within(None, "the search", "look for fewer: --most", || find::run(arguments, console))
        }
    }
}

/// The least that transactions are read in: five batches of 65,536 rows are in memory at once, in two forms. Of two ids of
/// ten characters, they took 33 to 48 MiB.
const LEAST: Size = Size(64 << 20);
/// The least that a search has: a batch of 65,536 rows, and what Parquet decodes of it. Of 80,000 entities, 2 to 4 MiB.
const LEAST_OF_A_SEARCH: Size = Size(16 << 20);

/// Returns the target of the table by `-o` and `--to`, if either is given.
fn table_target(output: Option<&Path>, to: Option<Format>) -> Result<Option<Target<'_>>, Failure> {
    match (output, to) {
        (Some(output), None) if is_standard(output) => Err(Failure::refused(
            "a table on standard output needs a format, which no name shows",
            "add --to csv, tsv, jsonl, parquet or arrow: -o - --to csv",
        )),
        (Some(output), to) => Ok(Some(Target::new(output, to))),
        (None, Some(to)) => Ok(Some(Target::new(Path::new("-"), Some(to)))),
        (None, None) => Ok(None),
    }
}

/// Notes the skipped rows, also with `--quiet`, and other findings without it. Returns how the command ends.
fn report_rows(counts: &Counts, console: &Console) -> Ending {
    let skipped = counts.skipped_notes();
    skipped.iter().for_each(|note| console.note(note));
    counts
        .notes()
        .iter()
        .filter(|note| !skipped.contains(note))
        .for_each(|note| console.remark(note));
    if counts.skipped() > 0 { Ending::Skipped } else { Ending::Whole }
}

/// The output that a failed command leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    /// A run folder with a finished window, from which `--resume` continues.
    Windows,
}

impl Kept {
    /// Returns the advice if the run failed, and not the input.
    fn help(self) -> &'static str {
        match self {
            Kept::Nothing => "nothing is left: run the same command again",
            Kept::Windows => "finished windows are kept: go on with --resume",
        }
    }

    /// Returns the advice if a server failed.
    fn help_with_a_server(self) -> &'static str {
        match self {
            Kept::Nothing => "run the same command again once the server answers",
            Kept::Windows => {
                "finished windows are kept: go on with --resume once the server answers"
            }
        }
    }
}

impl From<PipelineError> for Failure {
    fn from(error: PipelineError) -> Failure {
        Failure::of_run(error, Kept::Nothing)
    }
}

impl Failure {
    /// The failure of a command over windows that leaves `kept`.
    fn of_run(error: PipelineError, kept: Kept) -> Failure {
        if error.is_cancelled() {
            return crate::interrupt::Interrupted.into();
        }
        let of_late;
        let help = match &error {
            PipelineError::Feed(FeedError::Stream(StreamError::Late { time, latest, .. })) => {
                of_late = help_for_late(*time, *latest);
                &of_late
            }
            PipelineError::Feed(error) => help_for(error, kept),
            PipelineError::Database(error) => help_for_database(error, kept),
            PipelineError::List(ListError::NoIds { .. }) => NAME_THE_IDS,
            PipelineError::List(_)
            | PipelineError::Conflict(_)
            | PipelineError::Model(_)
            | PipelineError::NoTransactions(_) => "",
            PipelineError::Folder(FolderError::Io { .. } | FolderError::Write(_)) => kept.help(),
            PipelineError::Folder(_) => "",
            PipelineError::Detect(DetectError::Attenuation(_) | DetectError::Sizes { .. }) => "",
            PipelineError::Noise(_) => "for example --noise 0.05",
            PipelineError::NoKnownBad => "name a list with --known-bad, or leave out --seeded-only",
            PipelineError::NotOnRanks { help, .. } => help,
            PipelineError::RanksDiffer { .. } => {
                "all ranks read the same files: use a disk that all machines share, or make the copies the same"
            }
            PipelineError::RowsDiffer { .. } => {
                "give the rows one order by a unique key (ORDER BY at, id), use nothing that differs from call to call, such \
                 as random(), and leave the tables unchanged while the ranks read"
            }
            PipelineError::OtherFolder(_) => {
                "name a folder on a disk that all machines share, under the same path"
            }
            PipelineError::NoWindow | PipelineError::Ranks(_) | PipelineError::Elsewhere { .. } => {
                kept.help()
            }
            PipelineError::Memory { .. } | PipelineError::Detect(_) => kept.help(),
            PipelineError::OutOfMemory(_) | PipelineError::Write(_) => kept.help(),
        };
        match error {
            PipelineError::Detect(DetectError::Run(error)) => error.into(),
            PipelineError::Ranks(error) => RunError::Ranks(error).into(),
            PipelineError::Elsewhere { .. } => Failure::Elsewhere,
            PipelineError::Feed(FeedError::Weight(error)) => {
                Failure::Text { shown: error.to_string(), help: help.into() }
            }
            error => {
                let wrong = match &error {
                    PipelineError::Feed(feed) => is_input(feed),
                    PipelineError::Database(error) => !matches!(
                        error,
                        DatabaseError::Lost { .. }
                            | DatabaseError::Server(SourceError::Query { .. })
                            | DatabaseError::Read(_)
                    ),
                    PipelineError::Folder(folder) => !matches!(
                        folder,
                        FolderError::Io { .. } | FolderError::Write(_) | FolderError::Busy(_)
                    ),
                    PipelineError::List(_)
                    | PipelineError::Model(_)
                    | PipelineError::Conflict(_)
                    | PipelineError::NoKnownBad
                    | PipelineError::Noise(_)
                    | PipelineError::NotOnRanks { .. }
                    | PipelineError::OtherFolder(_)
                    | PipelineError::RanksDiffer { .. }
                    | PipelineError::RowsDiffer { .. }
                    | PipelineError::NoTransactions(_) => true,
                    PipelineError::Detect(error) => {
                        matches!(error, DetectError::Attenuation(_) | DetectError::Sizes { .. })
                    }
                    PipelineError::Memory { .. }
                    | PipelineError::NoWindow
                    | PipelineError::Ranks(_)
                    | PipelineError::Elsewhere { .. }
                    | PipelineError::OutOfMemory(_)
                    | PipelineError::Write(_) => false,
                };
                Failure::Fraud {
                    sentence: error.to_string(),
                    help: help.into(),
                    wrong,
                    of_memory: error.is_out_of_memory(),
                }
            }
        }
    }
}

/// The advice on a list without a column of ids.
const NAME_THE_IDS: &str = "write `id` above the column of ids in the first row: `id`, or `id,kind,from,until` with any of \
                            the last three; a .csv with one id a line begins with the line `id`";

/// Returns whether the cause is the input, and not the machine.
fn is_input(error: &FeedError) -> bool {
    match error {
        FeedError::Reader(ReaderError::Source(SourceError::Query { .. })) => false,
        FeedError::Reader(ReaderError::Thread(_)) => false,
        FeedError::Reader(_) | FeedError::Weight(_) | FeedError::EdgeWeight { .. } => true,
        FeedError::Stream(error) => {
            matches!(
                error,
                StreamError::Row { .. }
                    | StreamError::Late { .. }
                    | StreamError::Jump { .. }
                    | StreamError::Pause { .. }
            )
        }
        FeedError::Entity(_) | FeedError::Window(_) | FeedError::Cancelled => false,
    }
}

fn help_for_database(error: &DatabaseError, kept: Kept) -> &'static str {
    match error {
        DatabaseError::Lost { .. } | DatabaseError::Server(SourceError::Query { .. }) => {
            kept.help_with_a_server()
        }
        DatabaseError::Server(_) => {
            "docs/fraud-sources.md has addresses, and how connections are encrypted"
        }
        DatabaseError::Name(_) => "for example --schema ripplet",
        DatabaseError::Version { .. } | DatabaseError::Table { .. } => {
            "for example --schema ripplet_2; the one that exists stays as it is"
        }
        DatabaseError::Rights { .. } => {
            "docs/fraud-postgresql.md has the rights that --to-postgres needs, and how they are granted"
        }
        DatabaseError::Refused { .. } | DatabaseError::Read(_) | DatabaseError::File { .. } => {
            kept.help()
        }
    }
}

fn help_for(error: &FeedError, kept: Kept) -> &'static str {
    match error {
        FeedError::Reader(ReaderError::Twice { .. } | ReaderError::Named { .. }) => {
            "--skip-repeated-files passes over such files"
        }
        FeedError::Reader(ReaderError::Source(SourceError::Server { .. })) => {
            "docs/fraud-sources.md has addresses, and how connections are encrypted"
        }
        FeedError::Reader(ReaderError::Source(SourceError::Sql { .. })) => {
            "mend --query: `psql` says the same of it"
        }
        FeedError::Reader(ReaderError::Source(SourceError::Query { .. })) => {
            kept.help_with_a_server()
        }
        FeedError::Stream(StreamError::Pause { .. }) => {
            "--longest-gap 400d allows for pauses of so long; else mend the times, or leave out the files that have them"
        }
        FeedError::Stream(StreamError::Row { fault, .. })
            if matches!(**fault, FaultKind::TimeOutlier { .. }) =>
        {
            "--on-error skip leaves such rows out, and counts them; --longest-gap 400d allows for longer pauses"
        }
        FeedError::Stream(StreamError::Row { .. }) => {
            "--on-error skip leaves such rows out, and counts them"
        }
        FeedError::EdgeWeight { .. } => {
            "mend `of` of [weight] in the mapping: docs/fraud-sources.md has what a weight may be"
        }
        _ => "",
    }
}

/// Returns the advice on a row of `time` behind one of `latest`.
fn help_for_late(time: Timestamp, latest: Timestamp) -> String {
    const DAY: i64 = 86_400_000_000;
    let late = latest.0.saturating_sub(time.0).max(1);
    let days = late / DAY + i64::from(late % DAY > 0);
    format!(
        "--late {days}d allows for rows as late as this one; --skip-late-rows leaves out, and counts, what is later. If \
         the newest rows are first, sort the file by time"
    )
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Failure {
        PipelineError::from(error).into()
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Failure {
        PipelineError::from(error).into()
    }
}

impl From<MappingError> for Failure {
    fn from(error: MappingError) -> Failure {
        match error {
            MappingError::Read(error) if error.is_out_of_memory() => Failure::Read(error),
            error => Failure::Text {
                shown: error.to_string(),
                help: "docs/fraud-sources.md has mappings to begin with".into(),
            },
        }
    }
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Failure {
        match error {
            EvaluateError::Detect(error) => PipelineError::from(error).into(),
            EvaluateError::Run(error) => error.into(),
            EvaluateError::Model(error) => PipelineError::from(error).into(),
            EvaluateError::Conflict(error) => PipelineError::from(error).into(),
            EvaluateError::OutOfMemory(error) => PipelineError::from(error).into(),
            error => {
                let help = match &error {
                    EvaluateError::Share { .. } => {
                        "--known is from 0 to below 1, and --top above 0, up to 1: for example --known 0.2 --top 0.02"
                    }
                    EvaluateError::Nothing(_) => "for example --draws 100",
                    EvaluateError::NobodyConfirmed => "name a list with entries by --confirmed",
                    _ => "ripplet fraud evaluate --help says what is expected",
                };
                Failure::refused(error.to_string(), help)
            }
        }
    }
}
