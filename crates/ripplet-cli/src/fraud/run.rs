//! `ripplet fraud run`: from transactions and a deny list to a folder of ranked clusters.

use super::feed::{DetectionArguments, FeedArguments, server_address, span};
use super::{Kept, LEAST, report_rows};
use crate::console::Console;
use crate::device::{self, DeviceArguments};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::memory::{Limit, check_least, within};
use crate::message::counted;
use crate::ranks::{Ranks, RanksArguments, not_on_ranks};
use crate::size::Size;
use crate::threads::ThreadArguments;
use clap::{Arg, Args, ValueEnum};
use ripplet::device::AnyExecutor;
use ripplet::fraud::Span;
use ripplet::fraud::chance::NOISE;
use ripplet::fraud::database::{DatabaseOptions, SCHEMA};
use ripplet::fraud::folder::{Manifest, RunFolder, WindowRecord};
use ripplet::fraud::model::{ModelError, ModelFile};
use ripplet::fraud::output::GnnScope;
use ripplet::fraud::report::ReportLimits;
use ripplet::fraud::run::{self, ModelChoice, PipelineError, PipelineObserver, RunOptions, notes};
use ripplet::fraud::source::reader::Input;
use ripplet::lp::{Round, RoundObserver};
use ripplet::ranks::Traffic;
use ripplet::{Device, Observer};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Find suspicious clusters in each window of transactions, and write them to a run folder.
///
/// Windows of --window slide by --slide over the time of the transactions. In each, clusters are found
/// around accounts that are known to be bad by then, and elsewhere, scored and ranked. FOLDER gets a folder
/// for each window (tables of clusters, members and edges, arrays for graph neural networks), manifest.json, and
/// report.html, which works offline. --resume continues a run that was killed.
#[derive(Args)]
#[command(mut_arg("device", device::on_one), mut_arg("ranks", ranks_of_windows))]
pub struct Arguments {
    #[command(flatten)]
    feed: FeedArguments,
    /// The run folder: new, empty, or of a run that ended before its first window; with --resume that of the run.
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Accounts that are known to be bad: a table with a column `id`, and optional columns `kind`, `from`, `until`.
    /// Without it, all clusters are found without seeds.
    #[arg(short = 'b', long, value_name = "FILE", help_heading = "Lists")]
    known_bad: Option<PathBuf>,
    /// Trusted accounts: a table of the same columns.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    trusted: Option<PathBuf>,
    /// Accounts that an analyst confirmed to be bad, a table of the same columns: known bad from their `from` on.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    confirmed: Option<PathBuf>,
    /// Accounts that an analyst found to be good, a table of the same columns: scores of entities are learnt from them.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    cleared: Option<PathBuf>,
    /// Features of entities: a table with a column `id`, an optional column `kind`, and columns of numbers or categories,
    /// which become evidence of the scores.
    #[arg(long, value_name = "FILE", help_heading = "Lists")]
    entity_table: Option<PathBuf>,
    #[command(flatten)]
    detection: DetectionArguments,
    /// A cluster without a known bad member is noise, and not coloured, if chance alone makes a group as busy more often than
    /// in this share of windows: from 0 to 1.
    #[arg(long, value_name = "CHANCE", default_value_t = NOISE, help_heading = "Detection")]
    noise: f64,
    /// How every entity gets a score. `auto`: by a scorecard that each window fits to its known bad (without any, a
    /// fixed combination of the evidence). `none`: no scores. Or by the scorecard of a file, the model.json of a window.
    #[arg(long, value_name = "auto|none|FILE", default_value = "auto", help_heading = "Detection")]
    model: Model,
    /// Arrays for graph neural networks, a graph.npz for each window: of members of clusters, of the whole window, or
    /// none.
    #[arg(long, value_name = "SCOPE", default_value = "clusters", help_heading = "Windows")]
    arrays: Arrays,
    /// Start each window with new labels, not with those of the window before.
    #[arg(long, help_heading = "Windows")]
    exact: bool,
    /// Write windows, clusters, members, known bad accounts and scores also to this PostgreSQL database, each window in one
    /// transaction: an address as --postgres takes it.
    #[arg(long, value_name = "URL", help_heading = "Database")]
    to_postgres: Option<String>,
    /// The schema that gets the tables; it is created if it is absent.
    #[arg(long, value_name = "NAME", default_value = SCHEMA, requires = "to_postgres")]
    #[arg(help_heading = "Database")]
    schema: String,
    /// The file whose first line is the password for --to-postgres.
    ///
    /// Without it the address, PGPASSWORD, or a line of ~/.pgpass (passfile=FILE, PGPASSFILE) has it.
    #[arg(long, value_name = "FILE", requires = "to_postgres", help_heading = "Database")]
    to_password_file: Option<PathBuf>,
    /// Continue the run in FOLDER after its last finished window.
    #[arg(long, help_heading = "Running")]
    resume: bool,
    /// When all is read, wait for more files, until interrupted.
    #[arg(long, help_heading = "Reading")]
    follow: bool,
    /// Interval at which --follow looks for new files.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = span, requires = "follow")]
    #[arg(help_heading = "Reading")]
    every: Span,
    /// The most memory that all may take, 64 MiB at least: a window that would need more is refused.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, help_heading = "Running")]
    host_memory: Option<Size>,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    ranks: RanksArguments,
}

/// Turns `--ranks` into that of a command whose ranks have windows of their own.
fn ranks_of_windows(ranks: Arg) -> Arg {
    ranks.long_help(
        "The processes that share the run.\n\nProcesses that `mpirun` or `srun` started share one run with --exact: each reads all \
         transactions and computes some of the windows, and FOLDER is that of one process. Those on one machine share its cores, \
         unless --threads says what each takes. docs/several-machines.md has the details.",
    )
}

/// Scope of the arrays for graph neural networks.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Arrays {
    Clusters,
    Window,
    None,
}

/// How scores of entities are made.
#[derive(Clone, Debug)]
pub(super) enum Model {
    Auto,
    None,
    File(PathBuf),
}

impl From<OsString> for Model {
    fn from(text: OsString) -> Model {
        match text.to_str() {
            Some("auto") => Model::Auto,
            Some("none") => Model::None,
            _ => Model::File(text.into()),
        }
    }
}

/// The advice if the memory does not suffice.
const WAY_OUT: &str = "allow more --host-memory, choose a shorter --window, or leave scores out by --model none; finished windows are kept";

/// Runs, together with other ranks if there are some.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Ending, Failure> {
    arguments.ranks.share(console, |ranks, console| run_among(arguments, ranks, console))
}

/// A run that can begin.
struct Prepared {
    options: RunOptions,
    executor: AnyExecutor,
    limit: Option<Limit>,
}

fn run_among(arguments: &Arguments, ranks: &Ranks, console: &Console) -> Result<Ending, Failure> {
    let memory = arguments.host_memory;
    let threads = ranks.share_host(arguments.threads, memory, console);
    let Prepared { options, executor, limit } =
        ranks.agree(prepare(arguments, &threads, ranks, console))?;
    let resume = Cell::new(arguments.resume);
    let ended = arguments.device.on(&executor, &threads, console, |executor| {
        // After a GPU failed, the CPU continues behind the windows that it had finished.
        let again = arguments.output.join("manifest.json").exists();
        let resume = resume.replace(again);
        let mut watch = Watch { console, windows: 0 };
        interrupt::keep_windows();
        within(memory, "the run", WAY_OUT, || {
            let done = ranks.together(|comm| {
                match run::run_on_ranks(
                    executor,
                    &options,
                    &arguments.output,
                    resume,
                    &mut watch,
                    comm,
                ) {
                    Err(PipelineError::Ranks(error)) => Err(error),
                    done => Ok(done),
                }
            });
            let done = done.unwrap_or_else(|| {
                run::run(executor, &options, &arguments.output, resume, &mut watch)
            });
            done.map_err(|error| failure(error, limit, &arguments.output))
        })
    });
    let manifest = match ended {
        // The other ranks wait for this one, whose end ends them.
        Err(failure @ Failure::Interrupted(_)) => return Err(failure),
        ended => ranks.agree(ended)?,
    };
    report_result(&manifest, arguments, ranks, console)
}

/// Resolves the options, and opens the device.
fn prepare(
    arguments: &Arguments,
    threads: &ThreadArguments,
    ranks: &Ranks,
    console: &Console,
) -> Result<Prepared, Failure> {
    arguments.device.check()?;
    if ranks.are_several() && !arguments.device.is_cpu_enough() {
        return Err(not_on_ranks("a GPU", "leave --device and --device-memory out"));
    }
    if arguments.output.is_file() {
        return Err(Failure::refused(
            format!("{} is a file, and a run fills a folder", arguments.output.display()),
            "name a new folder with -o",
        ));
    }
    check_least(arguments.host_memory, "a run", LEAST)?;
    let poll = Duration::from_micros(arguments.every.micros().unsigned_abs());
    let feed = arguments.feed.options(arguments.follow.then_some(poll))?;
    let opened = match ranks.are_several() {
        true => Device::cpu().open(None)?,
        false => arguments.device.open_one()?,
    };
    threads.start()?;
    let executor = device::start(opened, threads, console)?;
    let limit = Limit::of(arguments.host_memory)?;
    let options = RunOptions {
        feed,
        known_bad: arguments.known_bad.clone().map(Into::into),
        trusted: arguments.trusted.clone().map(Into::into),
        confirmed: arguments.confirmed.clone().map(Into::into),
        cleared: arguments.cleared.clone().map(Into::into),
        entity_table: arguments.entity_table.clone().map(Into::into),
        detection: arguments.detection.detection(),
        exact: arguments.exact,
        memory: limit.map(|limit| limit.size.0),
        arrays: match arguments.arrays {
            Arrays::Clusters => Some(GnnScope::Clusters),
            Arrays::Window => Some(GnnScope::Window),
            Arrays::None => None,
        },
        noise: arguments.noise,
        database: database(arguments)?,
        model: match &arguments.model {
            Model::Auto => ModelChoice::Auto,
            Model::None => ModelChoice::None,
            Model::File(path) => ModelChoice::File(ModelFile::read(path).map_err(refused_model)?),
        },
        report: ReportLimits::default(),
        described: BTreeMap::from([("mapping".to_owned(), arguments.feed.mapping_text()?)]),
    };
    Ok(Prepared { options, executor, limit })
}

/// Returns the database that gets the results.
fn database(arguments: &Arguments) -> Result<Option<DatabaseOptions>, Failure> {
    let Some(address) = &arguments.to_postgres else { return Ok(None) };
    let server = server_address(address, arguments.to_password_file.as_deref())?;
    Ok(Some(DatabaseOptions { server, schema: arguments.schema.clone() }))
}

/// The failure of a model that cannot be used.
fn refused_model(error: ModelError) -> Failure {
    Failure::of_run(error.into(), Kept::Nothing)
}

/// If the user set the limit, the same command is refused again.
fn failure(error: PipelineError, limit: Option<Limit>, folder: &Path) -> Failure {
    match error {
        PipelineError::Memory { .. } if limit.is_some_and(Limit::is_given) => {
            Failure::refused(error.to_string(), WAY_OUT)
        }
        error => Failure::of_run(error, kept_in(folder)),
    }
}

/// Returns what a failed run left in its folder.
fn kept_in(folder: &Path) -> Kept {
    let windows = RunFolder::open(folder).and_then(|folder| folder.finished());
    match windows.is_ok_and(|windows| !windows.is_empty()) {
        true => Kept::Windows,
        false => Kept::Nothing,
    }
}

/// The last words.
fn report_result(
    manifest: &Manifest,
    arguments: &Arguments,
    ranks: &Ranks,
    console: &Console,
) -> Result<Ending, Failure> {
    let ending = report_rows(&manifest.counts, console);
    let of_rows = manifest.counts.notes();
    for note in notes(manifest, &manifest.windows).iter().filter(|note| !of_rows.contains(note)) {
        console.remark(note);
    }
    if arguments.to_postgres.is_some() {
        let (schema, id) = (&arguments.schema, &manifest.run_id);
        console
            .remark(&format!("the schema `{schema}` of the database has the windows as run {id}"));
    }
    let report = arguments.output.join("report.html");
    let rows = counted(manifest.counts.rows, "row", "rows");
    let windows = counted(manifest.windows.len() as u64, "window", "windows");
    let clusters = manifest.windows.last().map_or(0, |window| window.clusters);
    let clusters = counted(clusters, "cluster", "clusters");
    if ranks.are_several() {
        let Traffic { calls, sent, received, waited } = ranks.traffic();
        let waited = waited.as_secs_f64();
        console.detail(&format!(
            "rank 0: {calls} exchanges, {sent} bytes sent, {received} received, {waited:.1} s of waiting"
        ));
    }
    let on_ranks = if ranks.are_several() { ranks.as_end() } else { String::new() };
    console.say(&format!(
        "{rows}, {windows}, {clusters} in the last, in {:.1} s{on_ranks}; see {}",
        manifest.seconds,
        report.display()
    ));
    Ok(ending)
}

/// Shows what a run does, and ends it at an interrupt.
struct Watch<'a> {
    console: &'a Console,
    windows: u64,
}

impl Observer for Watch<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.console.stage(name);
    }

    fn is_cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl RoundObserver for Watch<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        let (number, changed) = (index + 1, round.changed);
        self.console.stage(format!("round {number}: {changed} vertices changed"));
    }
}

impl PipelineObserver for Watch<'_> {
    fn on_input(&mut self, input: &Input) {
        self.console.stage(format!("reading {}", input.path));
    }

    fn on_list(&mut self, note: &str) {
        self.console.remark(note);
    }

    fn on_window(&mut self, record: &WindowRecord) {
        self.windows += 1;
        interrupt::has_written();
        let WindowRecord { transactions, clusters, rounds, .. } = record;
        let how = if record.warm { "warm" } else { "anew" };
        let transactions = counted(*transactions, "transaction", "transactions");
        let clusters = counted(*clusters, "cluster", "clusters");
        let rounds = counted(u64::from(*rounds), "round", "rounds");
        let seconds = record.seconds.values().sum::<f64>();
        self.console.remark(&format!(
            "window of {}: {transactions}, {clusters}, {rounds} ({how}), {seconds:.1} s",
            record.days()
        ));
    }
}
