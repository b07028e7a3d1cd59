//! Fraud: runs of windows over tables.

use crate::error::{Class, Failure, in_python};
use crate::graph::Graph;
use crate::job::Watch;
use crate::options::Options;
use crate::table::Table;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ripplet::Device;
use ripplet::Observer;
use ripplet::device::AnyExecutor;
use ripplet::fraud::chance::NOISE;
use ripplet::fraud::database::{DatabaseError, DatabaseOptions, SCHEMA};
use ripplet::fraud::detect::{DetectError, Detection};
use ripplet::fraud::entity_table::EntityTable;
use ripplet::fraud::evaluate::{EvaluateError, Evaluation, Evaluator, Method, Report, write_draws};
use ripplet::fraud::feed::{Advance, Feed, FeedError, FeedOptions, NoWindow};
use ripplet::fraud::find::{FindError, FoundEntities, NotFound, Query, find};
use ripplet::fraud::folder::{FolderError, Manifest, RunFolder};
use ripplet::fraud::model::ModelFile;
use ripplet::fraud::output::GnnScope;
use ripplet::fraud::report::ReportLimits;
use ripplet::fraud::run::{
    self, ListFiles, Lists, ModelChoice, PipelineError, PipelineObserver, RunOptions, notes,
};
use ripplet::fraud::source::reader::{ReaderError, Reading, Sources};
use ripplet::fraud::source::{FaultKind, SourceError, TableSource};
use ripplet::fraud::stream::{LONGEST_PAUSE, StreamError};
use ripplet::fraud::ties::TieRule;
use ripplet::fraud::window::{NamedError, Shape};
use ripplet::fraud::{KindId, Mapping, Span, TimeRange, Timestamp};
use ripplet::io::{LARGEST_TEXT, ReadErrorKind, read_small_text};
use ripplet::lp::{Round, RoundObserver, RunError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Transactions: a table, paths, or a query to a database.
#[derive(FromPyObject)]
pub enum Transactions<'py> {
    Table(PyRef<'py, Table>),
    Files(Vec<String>),
}

/// A list: a table or a path.
#[derive(FromPyObject)]
enum List<'py> {
    Table(PyRef<'py, Table>),
    File(PathBuf),
}

/// Returns how entities get their scores.
fn model_of(options: &Options<'_>) -> PyResult<ModelChoice> {
    Ok(match options.text("model")?.as_deref() {
        None | Some("auto") => ModelChoice::Auto,
        Some("none") => ModelChoice::None,
        Some(path) => {
            let read = ModelFile::read(Path::new(path)).map_err(PipelineError::from);
            ModelChoice::File(read.map_err(Failure::from)?)
        }
    })
}

/// What a run says beside its folder: the manifest, notes, the device, and why it is the CPU.
type Told = (String, Vec<String>, String, Option<String>);

/// Runs detection into a folder. A temporary folder is removed after an error.
#[pyfunction]
pub fn fraud_run(
    py: Python<'_>,
    transactions: Option<Transactions<'_>>,
    mapping: Bound<'_, PyAny>,
    folder: PathBuf,
    options: Bound<'_, PyDict>,
) -> PyResult<Told> {
    let options = Options(options);
    let (mapping, text) = mapping_of(&mapping)?;
    let feed = feed_of(transactions, mapping, &options)?;
    let list = |name: &str| list_of(&options, name);
    let model = model_of(&options)?;
    let database = match options.text("to_postgres")? {
        None => None,
        Some(server) => {
            let schema = options.text("schema")?.unwrap_or_else(|| SCHEMA.into());
            Some(DatabaseOptions { server, schema })
        }
    };
    let arrays = options.text("arrays")?;
    let options_of_run = RunOptions {
        feed,
        known_bad: list("known_bad")?,
        trusted: list("trusted")?,
        confirmed: list("confirmed")?,
        cleared: list("cleared")?,
        entity_table: list("entity_table")?,
        detection: detection_of(&options)?,
        exact: options.flag("exact")?,
        memory: options.count("host_memory", 1)?,
        arrays: one_of(
            "arrays",
            arrays.as_deref().unwrap_or("clusters"),
            &[
                ("clusters", Some(GnnScope::Clusters)),
                ("window", Some(GnnScope::Window)),
                ("none", None),
            ],
        )?,
        noise: options.number("noise")?.unwrap_or(NOISE),
        database,
        model,
        report: ReportLimits::default(),
        described: BTreeMap::from([("mapping".to_owned(), text)]),
    };
    let temporary = options.flag("temporary")?;
    let resume = options.flag("resume")?;
    let device = device_of(&options)?;
    let memory = options.count("device_memory", 1)?;
    let threads = options.threads()?;
    options.start()?.run(py, move |watch| {
        let opened = device.open_one(memory).map_err(|e| Failure::new(Class::Device, e))?;
        let (executor, fallback) = opened.start(threads)?;
        let mut fallback = fallback.map(|fallback| fallback.reason);
        let mut observer = Observed { watch, notes: Vec::new() };
        let mut done = run::run(&executor, &options_of_run, &folder, resume, &mut observer);
        let mut name = executor.name();
        if let Err(PipelineError::Detect(DetectError::Run(error))) = &done
            && let Some(why) = device.fallback(error)
        {
            // The CPU continues behind the windows that the GPU had finished.
            let again = folder.join("manifest.json").exists();
            let cpu = AnyExecutor::cpu(threads)?;
            done = run::run(&cpu, &options_of_run, &folder, again, &mut observer);
            (name, fallback) = (cpu.name(), Some(why.reason));
        }
        let manifest = done.map_err(|error| {
            if temporary {
                // The run's error matters, not that of the cleanup.
                let _ = std::fs::remove_dir_all(&folder);
            }
            Failure::from(error)
        })?;
        let mut all = observer.notes;
        all.extend(notes(&manifest, &manifest.windows));
        let all = all.into_iter().map(in_python).collect();
        Ok((text_of(&manifest)?, all, name, fallback))
    })
}

/// Counts of an evaluation: accounts, confirmed ones, those in no window, and windows.
type Counted = (u32, u32, u32, u32);

/// Figures of each draw, the tables of the command as text, counts, notes, and the device.
type Evaluated = (Table, String, Counted, Vec<String>, String, Option<String>);

/// Measures how many held-out accounts each ranking finds. `draws` is the path of a file for the figures of the draws.
#[pyfunction]
pub fn fraud_evaluate(
    py: Python<'_>,
    transactions: Option<Transactions<'_>>,
    mapping: Bound<'_, PyAny>,
    draws: PathBuf,
    options: Bound<'_, PyDict>,
) -> PyResult<Evaluated> {
    let options = Options(options);
    let (mapping, _) = mapping_of(&mapping)?;
    let kind = mapping.source.kind.clone();
    let feed = feed_of(transactions, mapping, &options)?;
    let (confirmed, trusted) = (list_of(&options, "confirmed")?, list_of(&options, "trusted")?);
    let cleared = list_of(&options, "cleared")?;
    let model = model_of(&options)?;
    let table = list_of(&options, "entity_table")?;
    let detection = detection_of(&options)?;
    let of = Evaluation::default();
    let top = options.number("top")?.unwrap_or(of.top);
    let mut tops = of.tops;
    if !tops.contains(&top) {
        tops.push(top);
        tops.sort_by(f64::total_cmp);
    }
    let mut methods = of.methods;
    if matches!(model, ModelChoice::None) {
        methods.retain(|method| !matches!(method, Method::Score | Method::Evidence(_)));
    }
    let evaluation = Evaluation {
        tops,
        top,
        draws: options.count32("draws", 1)?.unwrap_or(of.draws),
        known: options.number("known")?.unwrap_or(of.known),
        seed: detection.seed,
        detection,
        methods,
    };
    let device = device_of(&options)?;
    let memory = options.count("device_memory", 1)?;
    let threads = options.threads()?;
    options.start()?.run(py, move |watch| {
        let opened = device.open_one(memory).map_err(|e| Failure::new(Class::Device, e))?;
        let (executor, fallback) = opened.start(threads)?;
        let mut fallback = fallback.map(|fallback| fallback.reason);
        let lists = ListFiles {
            bad: confirmed.as_ref(),
            trusted: trusted.as_ref(),
            cleared: cleared.as_ref(),
            ..ListFiles::default()
        };
        let asked = Asked { feed: &feed, lists, table: table.as_ref(), model: &model, kind: &kind };
        let mut name = executor.name();
        let done = match evaluated(&asked, evaluation.clone(), &executor, watch) {
            Err(EvaluationEnd::Run(error)) => match device.fallback(&error) {
                Some(why) => {
                    let cpu = AnyExecutor::cpu(threads)?;
                    (name, fallback) = (cpu.name(), Some(why.reason));
                    evaluated(&asked, evaluation, &cpu, watch)
                }
                None => Err(EvaluationEnd::Run(error)),
            },
            done => done,
        };
        let (report, mut all) = done?;
        all.extend(report.cautions());
        write_draws(&*draws, &report)?;
        let Report { accounts, confirmed, unseen, windows, .. } = report;
        let counted = (accounts, confirmed, unseen, windows);
        Ok((Table::of_file(&draws)?, report.tables(), counted, all, name, fallback))
    })
}

/// What is evaluated.
struct Asked<'a> {
    feed: &'a FeedOptions,
    lists: ListFiles<'a>,
    table: Option<&'a TableSource>,
    model: &'a ModelChoice,
    kind: &'a str,
}

/// Why an evaluation ended early.
enum EvaluationEnd {
    Run(RunError),
    Other(Failure),
}

impl From<PipelineError> for EvaluationEnd {
    fn from(error: PipelineError) -> EvaluationEnd {
        match error {
            PipelineError::Detect(DetectError::Run(error)) => EvaluationEnd::Run(error),
            error => EvaluationEnd::Other(error.into()),
        }
    }
}

impl From<FeedError> for EvaluationEnd {
    fn from(error: FeedError) -> EvaluationEnd {
        PipelineError::from(error).into()
    }
}

impl From<EvaluateError> for EvaluationEnd {
    fn from(error: EvaluateError) -> EvaluationEnd {
        match error {
            EvaluateError::Run(error) => EvaluationEnd::Run(error),
            EvaluateError::Detect(error) => PipelineError::from(error).into(),
            EvaluateError::OutOfMemory(error) => EvaluationEnd::Other(error.into()),
            error => EvaluationEnd::Other(Failure::input(error)),
        }
    }
}

impl From<EvaluationEnd> for Failure {
    fn from(end: EvaluationEnd) -> Failure {
        match end {
            EvaluationEnd::Run(error) => error.into(),
            EvaluationEnd::Other(failure) => failure,
        }
    }
}

/// Ranks window after window; returns the report and notes.
fn evaluated(
    asked: &Asked<'_>,
    evaluation: Evaluation,
    executor: &AnyExecutor,
    watch: &mut Watch,
) -> Result<(Report, Vec<String>), EvaluationEnd> {
    let mut feed = Feed::begin(asked.feed)?;
    let lists = Lists::read(asked.lists, feed.entities(), asked.kind)?;
    let mut all: Vec<String> = lists.notes().map(str::to_owned).collect();
    let evaluator = Evaluator::new(evaluation, &lists.known_bad())?;
    let mut evaluator = evaluator.with_cleared(lists.cleared().to_vec());
    if let ModelChoice::File(model) = asked.model {
        evaluator = evaluator.with_model(model.clone());
    }
    let trusted = lists.trusted();
    if let Some(table) = asked.table {
        let kind = feed.entities().find_kind(asked.kind).unwrap_or(KindId(0));
        let read = EntityTable::read(table, feed.entities(), kind);
        let table = read.map_err(PipelineError::from)?;
        all.extend(table.notes().iter().cloned());
        evaluator = evaluator.with_table(table);
    }
    watch.stage("reading");
    let cancelled = watch.clone();
    while feed.advance(|_| Ok(()), || cancelled.is_cancelled())? == Advance::Window {
        feed.slide()?;
        if let Some(window) = feed.window() {
            watch.stage("ranking a window");
            let days: Vec<_> = feed.days().map(|(_, day)| day).collect();
            evaluator.window(executor, window, &days, feed.entities(), &trusted, watch)?;
        }
    }
    all.extend(feed.stream().counts().notes());
    Ok((evaluator.finish()?, all.into_iter().map(in_python).collect()))
}

/// Returns a list of the options: a table, or the path of a file.
fn list_of(options: &Options<'_>, name: &str) -> PyResult<Option<TableSource>> {
    let Some(given) = options.any(name)? else { return Ok(None) };
    Ok(Some(match given.extract::<List<'_>>()? {
        List::Table(table) => table.source(name)?.into(),
        List::File(path) => path.into(),
    }))
}

/// Returns the manifest of a run folder, and notes on it.
#[pyfunction]
pub fn fraud_folder(path: PathBuf) -> PyResult<(String, Vec<String>)> {
    let read = || -> Result<(String, Vec<String>), Failure> {
        let folder = RunFolder::open(&path).map_err(PipelineError::from)?;
        let mut manifest = folder.manifest().map_err(PipelineError::from)?;
        manifest.windows = folder.finished().map_err(PipelineError::from)?;
        let notes = notes(&manifest, &manifest.windows).into_iter().map(in_python).collect();
        Ok((text_of(&manifest)?, notes))
    };
    Ok(read()?)
}

/// Returns the graph of one window.
#[pyfunction]
pub fn fraud_window(
    py: Python<'_>,
    transactions: Option<Transactions<'_>>,
    mapping: Bound<'_, PyAny>,
    options: Bound<'_, PyDict>,
) -> PyResult<Graph> {
    let options = Options(options);
    let feed = feed_of(transactions, mapping_of(&mapping)?.0, &options)?;
    let end = |text: String| {
        let end = Timestamp::parse_last(&text);
        end.map_err(|error| Failure::input(format!("until: {error}")))
    };
    let until = options.text("until")?.map(end).transpose()?;
    options.start()?.run(py, move |watch| {
        watch.stage("reading");
        let mut feed = Feed::begin(&feed).map_err(PipelineError::from)?;
        let ends = feed.slide_to(until, || watch.is_cancelled()).map_err(PipelineError::from)?;
        let window = feed.window().ok_or(NoWindow { ends })?;
        watch.stage("naming the vertices");
        let graph = window.named(feed.entities())?;
        let (transactions, range) = (window.transactions, window.range);
        let noun = if transactions == 1 { "transaction" } else { "transactions" };
        let mut said = vec![format!("{transactions} {noun} from {range}")];
        said.extend(feed.stream().counts().notes().into_iter().map(in_python));
        Ok(Graph::from(graph).with_summary(said.join("; ")))
    })
}

/// Rows of a search, how many other entities match, and notes.
type FoundRows = (Table, u64, Vec<String>);

/// Searches a run folder for an entity.
#[pyfunction]
pub fn fraud_find(
    py: Python<'_>,
    path: PathBuf,
    id: String,
    options: Bound<'_, PyDict>,
) -> PyResult<FoundRows> {
    let options = Options(options);
    let query = Query {
        text: id,
        part: options.flag("part")?,
        kind: options.text("kind")?,
        most: options.count("most", 1)?.map_or(100, |most| most as usize),
    };
    options.start()?.wait(py, move |watch| {
        watch.stage("searching");
        let folder = RunFolder::open(&path).map_err(PipelineError::from)?;
        let found = find(&folder, &query, &|| watch.is_cancelled())?;
        let found = found.or_not_found(&folder, &query)?;
        let batches: Result<Vec<_>, _> = found.batches().collect();
        let batches = batches.map_err(|error| Failure::new(Class::Run, error))?;
        let notes = found.notes("most=").into_iter().map(in_python).collect();
        Ok((Table { schema: FoundEntities::schema(), batches }, found.others, notes))
    })
}

/// Returns the columns that a mapping takes.
#[pyfunction]
pub fn fraud_columns(mapping: Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    Ok(mapping_of(&mapping)?.0.columns().into_iter().map(str::to_owned).collect())
}

fn text_of(manifest: &Manifest) -> Result<String, Failure> {
    serde_json::to_string(manifest)
        .map_err(|error| Failure::new(Class::Run, format!("the manifest: {error}")))
}

/// A mapping as Python passes it.
#[derive(FromPyObject)]
enum GivenMapping {
    /// Its text, as a tuple of one.
    Text((String,)),
    /// The path of its file.
    File(PathBuf),
}

/// Returns a mapping and its text.
fn mapping_of(given: &Bound<'_, PyAny>) -> PyResult<(Mapping, String)> {
    Ok(match given.extract()? {
        GivenMapping::Text((text,)) => {
            let mapping = Mapping::parse(&text);
            (mapping.map_err(|error| Failure::input(format!("mapping: {error}")))?, text)
        }
        GivenMapping::File(path) => {
            let text = read_small_text(&path, LARGEST_TEXT, "a mapping").map_err(Failure::from)?;
            let mapping = Mapping::parse(&text)
                .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
            (mapping, text)
        }
    })
}

/// Returns the choice of this name.
fn one_of<T: Copy>(option: &str, given: &str, choices: &[(&str, T)]) -> PyResult<T> {
    match choices.iter().find(|(name, _)| *name == given) {
        Some((_, choice)) => Ok(*choice),
        None => {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            let message = format!("{option}: expected {}, not {given}", names.join(", "));
            Err(Failure::input(message).into())
        }
    }
}

fn device_of(options: &Options<'_>) -> PyResult<Device> {
    Ok(options.parsed("device")?.unwrap_or_else(Device::auto))
}

/// Returns the sources of transactions and the shape of the windows, with the defaults of the command.
fn feed_of(
    transactions: Option<Transactions<'_>>,
    mapping: Mapping,
    options: &Options<'_>,
) -> PyResult<FeedOptions> {
    let (postgres, duckdb) = (options.text("postgres")?, options.text("duckdb")?);
    let query = options.text("query")?;
    let sources = match (transactions, postgres, duckdb, query) {
        (Some(Transactions::Table(table)), None, None, None) => {
            Sources::Memory(table.source("transactions")?)
        }
        (Some(Transactions::Files(named)), None, None, None) => Sources::Files(named),
        (None, Some(server), None, Some(query)) => Sources::Query { server, query },
        (None, None, Some(file), Some(query)) => Sources::DuckDb { file: file.into(), query },
        _ => {
            let message = "expected transactions: a table or paths; or else postgres= or duckdb=, with query=";
            return Err(Failure::new(Class::Type, message).into());
        }
    };
    let span = |name: &str, default: Span| -> PyResult<Span> {
        Ok(options.parsed::<Span>(name)?.unwrap_or(default))
    };
    let shape = Shape::new(
        span("window", Span::of_days(30).unwrap_or(Span::DAY))?,
        span("slide", Span::DAY)?,
    );
    let shape = shape.map_err(|error| Failure::input(format!("window, slide: {error}")))?;
    let instant = |name: &str, default: Timestamp| -> PyResult<Timestamp> {
        Ok(options.parsed::<Timestamp>(name)?.unwrap_or(default))
    };
    let from = instant("since", TimeRange::ALL.from)?;
    let until = instant("before", TimeRange::ALL.until)?;
    if from >= until {
        return Err(Failure::input(
            "no time is between since and before: since is the first instant, and before the first one after the last",
        )
        .into());
    }
    let on_error = options.text("on_error")?;
    Ok(FeedOptions {
        sources,
        reading: Reading { follow: None, skip_repeated: options.flag("skip_repeated_files")? },
        mapping,
        shape: if options.flag("growing")? { shape.growing() } else { shape },
        late: options.parsed("late")?,
        skip_bad_rows: one_of(
            "on_error",
            on_error.as_deref().unwrap_or("stop"),
            &[("stop", false), ("skip", true)],
        )?,
        skip_late_rows: options.flag("skip_late_rows")?,
        longest_gap: span("longest_gap", LONGEST_PAUSE)?,
        range: TimeRange::new(from, until),
        full_slides: options.flag("full_slides")?,
        from_scratch: false,
    })
}

/// Returns the options of detection, with the defaults of the command.
fn detection_of(options: &Options<'_>) -> PyResult<Detection> {
    let of = Detection::default();
    Ok(Detection {
        ties: TieRule {
            closure: !options.flag("no_closure")?,
            hub_degree: options.count32("hub_degree", 0)?.unwrap_or(of.ties.hub_degree),
        },
        attenuation: options.number("attenuation")?.unwrap_or(of.attenuation),
        rounds: options.count32("max_iterations", 0)?.unwrap_or(of.rounds),
        warm_rounds: options.count32("warm_iterations", 0)?.unwrap_or(of.warm_rounds),
        min_size: options.count32("min_size", 0)?.unwrap_or(of.min_size),
        max_size: options.count32("max_size", 0)?.unwrap_or(of.max_size),
        unseeded: !options.flag("seeded_only")?,
        seed: options.count("seed", 0)?.unwrap_or(0),
        ..of
    })
}

/// Observer of a run of the pipeline, which collects its notes.
struct Observed<'a> {
    watch: &'a mut Watch,
    notes: Vec<String>,
}

impl Observer for Observed<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.watch.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.watch.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }
}

impl RoundObserver for Observed<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.watch.on_round(index, round);
    }
}

impl PipelineObserver for Observed<'_> {
    fn on_list(&mut self, note: &str) {
        self.notes.push(note.into());
    }
}

impl From<PipelineError> for Failure {
    fn from(error: PipelineError) -> Failure {
        let class = match &error {
            _ if error.is_out_of_memory() => Class::Memory,
            PipelineError::Feed(FeedError::Reader(ReaderError::Source(error)))
            | PipelineError::Database(DatabaseError::Server(error)) => of_source(error),
            PipelineError::Feed(FeedError::Reader(ReaderError::Thread(_))) => Class::Run,
            PipelineError::Feed(FeedError::Reader(_) | FeedError::Weight(_)) => Class::Input,
            PipelineError::Feed(FeedError::EdgeWeight { .. }) => Class::Input,
            PipelineError::Feed(FeedError::Stream(
                StreamError::Row { .. }
                | StreamError::Late { .. }
                | StreamError::Jump { .. }
                | StreamError::Pause { .. },
            )) => Class::Input,
            PipelineError::List(ripplet::fraud::seeds::ListError::Source(error)) => {
                of_source(error)
            }
            PipelineError::Folder(FolderError::Read(error)) => of_read(&error.kind),
            PipelineError::Folder(FolderError::Io { .. } | FolderError::Write(_))
            | PipelineError::Write(_) => Class::File,
            PipelineError::Folder(FolderError::Busy(_)) => Class::Run,
            PipelineError::Model(ripplet::fraud::model::ModelError::Read(error)) => {
                of_read(&error.kind)
            }
            PipelineError::Detect(DetectError::Run(error)) => Failure::from(error.clone()).class,
            PipelineError::Detect(DetectError::Attenuation(_) | DetectError::Sizes { .. })
            | PipelineError::Folder(_)
            | PipelineError::Database(_)
            | PipelineError::List(_)
            | PipelineError::Conflict(_)
            | PipelineError::Model(_)
            | PipelineError::NoKnownBad
            | PipelineError::Noise(_)
            | PipelineError::NoTransactions(_) => Class::Input,
            _ => Class::Run,
        };
        let help = match &error {
            PipelineError::Feed(FeedError::Stream(error)) => help_for(error),
            _ => None,
        };
        match help {
            Some(help) => Failure::new(class, format!("{error}: {help}")),
            None => Failure::new(class, error),
        }
    }
}

/// Returns the advice on a bad row.
fn help_for(error: &StreamError) -> Option<String> {
    const SKIP: &str = "on_error=\"skip\" leaves such rows out, and counts them";
    const DAY: i64 = 86_400_000_000;
    Some(match error {
        StreamError::Late { time, latest, .. } => {
            let late = latest.0.saturating_sub(time.0).max(1);
            let days = late / DAY + i64::from(late % DAY > 0);
            format!(
                "late=\"{days}d\" allows for rows as late as this one; skip_late_rows=True leaves out, and counts, what is \
                 later. If the newest rows are first, sort the table by time"
            )
        }
        StreamError::Row { fault, .. } if matches!(**fault, FaultKind::TimeOutlier { .. }) => {
            format!("{SKIP}; longest_gap=\"400d\" allows for longer pauses")
        }
        StreamError::Row { .. } => SKIP.into(),
        StreamError::Pause { .. } => {
            "longest_gap=\"400d\" allows for pauses of so long; else mend the times".into()
        }
        _ => return None,
    })
}

impl From<NoWindow> for Failure {
    fn from(error: NoWindow) -> Failure {
        Failure::input(format!("{error}: {}", error.help()))
    }
}

impl From<NamedError> for Failure {
    fn from(error: NamedError) -> Failure {
        match error {
            NamedError::Edges(error) => error.into(),
            NamedError::Build(error) => error.into(),
        }
    }
}

impl From<NotFound> for Failure {
    fn from(error: NotFound) -> Failure {
        Failure::input(format!("{error}: {}", error.help("part=True")))
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Failure {
        let class = match error {
            FindError::Folder(error) => return PipelineError::from(error).into(),
            FindError::Source(SourceError::Read(error)) => return error.into(),
            FindError::Source(ref error) => of_source(error),
            FindError::Cancelled => Class::Run,
            FindError::OlderRun(_) | FindError::Damaged { .. } => Class::Input,
        };
        Failure::new(class, error)
    }
}

fn of_read(kind: &ReadErrorKind) -> Class {
    match kind {
        ReadErrorKind::Io(_) => Class::File,
        _ => Class::Input,
    }
}

fn of_source(error: &SourceError) -> Class {
    match error {
        SourceError::Read(error) => of_read(&error.kind),
        SourceError::Query { .. } => Class::Run,
        SourceError::Listing { .. } => Class::File,
        _ => Class::Input,
    }
}
