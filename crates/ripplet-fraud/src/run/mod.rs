//! Fraud run: detects suspicious clusters in each window of a feed, and writes them to a run folder.
//!
//! Windows are processed in order. For each window: look up the known bad entities, detect clusters, score
//! them, match them to those of the previous window, and write all results before the next window begins. A
//! run that was killed resumes after its last finished window. It reads the inputs again and checks that they
//! are unchanged, but skips the finished windows. Its results equal those of an uninterrupted run.
//!
//! Labels start from those of the previous window (warm start), unless [`RunOptions::exact`]. Each window's
//! record says which.

mod error;
mod lists;
mod notes;
mod ranks;
mod session;

pub use error::PipelineError;
pub use lists::{ActiveLists, ListFiles, Lists};
pub use notes::{notes, write_page};
pub use ranks::run_on_ranks;

use crate::TimeRange;
use crate::database::{Database, DatabaseOptions, Replaced, RunIdentity};
use crate::detect::Detection;
use crate::evidence;
use crate::feed::FeedOptions;
use crate::folder::{FORMAT, FolderError, Manifest, RunFolder, WindowRecord};
use crate::model::ModelFile;
use crate::output::GnnScope;
use crate::report::ReportLimits;
use crate::seeds;
use crate::source::TableSource;
use crate::source::reader::{Input, Sources};
use crate::window::last_unit;
use ripplet_lp::{Executor, RoundObserver};
use session::Session;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Sources, mapping and shape of the windows.
    pub feed: FeedOptions,
    /// Table of known bad entities; without one, clusters are found without seeds.
    pub known_bad: Option<TableSource>,
    /// Table of trusted entities.
    pub trusted: Option<TableSource>,
    /// Table of entities that an analyst confirmed to be bad.
    pub confirmed: Option<TableSource>,
    /// Table of entities that an analyst found to be good.
    pub cleared: Option<TableSource>,
    /// The user's table of entities, whose features are evidence.
    pub entity_table: Option<TableSource>,
    /// Options of detection.
    pub detection: Detection,
    /// Whether labels start anew in each window (no warm start).
    pub exact: bool,
    /// Memory limit in bytes.
    pub memory: Option<u64>,
    /// Scope of the arrays for graph neural networks; `None` writes no arrays.
    pub arrays: Option<GnnScope>,
    /// Threshold of [`chance`](crate::chance), from 0 to 1: a cluster without a known bad member whose chance
    /// is higher is noise.
    pub noise: f64,
    /// Database that gets the results, beside the folder.
    pub database: Option<DatabaseOptions>,
    /// How scores of entities are made.
    pub model: ModelChoice,
    /// Limits on what the report keeps of each window.
    pub report: ReportLimits,
    /// Further settings that decide the results, by name; the manifest records them. Above all: the text of
    /// the mapping.
    pub described: BTreeMap<String, String>,
}

/// How scores of entities are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelChoice {
    /// By a scorecard learnt from the known bad of each window, or by the fixed combination without any.
    #[default]
    Auto,
    /// By the scorecard of a file; nothing is learnt.
    File(ModelFile),
    /// Not at all: neither evidence nor scores are computed.
    None,
}

impl ModelChoice {
    /// Returns its description; that of a file has its content.
    fn described(&self) -> String {
        match self {
            ModelChoice::Auto => "auto".into(),
            ModelChoice::File(file) => format!("a file, SHA-256 {}", file.sha256),
            ModelChoice::None => "none".into(),
        }
    }
}

/// An observer of a run of the pipeline: it also follows inputs, lists and windows.
pub trait PipelineObserver: RoundObserver {
    /// Called when an input is opened.
    fn on_input(&mut self, _input: &Input) {}

    /// Called with a note on a list: which columns were read, if that is not obvious.
    fn on_list(&mut self, _note: &str) {}

    /// Called after a window is written.
    fn on_window(&mut self, _record: &WindowRecord) {}
}

/// Name of the setting with the model.
const MODEL_OPTION: &str = "model of the scores of entities";

/// Description of a run without a list of known bad.
const NO_LIST: &str = "no list";

/// Runs detection into a new folder, or resumes the run in it.
///
/// # Errors
/// If the inputs, the lists, the folder or the machine fail. Finished windows stay, and the manifest records
/// why the run ended.
pub fn run(
    executor: &dyn Executor,
    options: &RunOptions,
    path: &Path,
    resume: bool,
    observer: &mut dyn PipelineObserver,
) -> Result<Manifest, PipelineError> {
    options.check()?;
    let mut session = begin(executor, options, path, resume)?;
    let end = session.windows(observer);
    session.finish(end)
}

impl RunOptions {
    /// Refuses options that exclude each other.
    fn check(&self) -> Result<(), PipelineError> {
        self.detection.check()?;
        if !(0.0..=1.0).contains(&self.noise) {
            return Err(PipelineError::Noise(self.noise));
        }
        // Columns of a table of entities are known when it is read.
        if let (ModelChoice::File(file), None) = (&self.model, &self.entity_table) {
            file.for_columns(&evidence::ALL)?;
        }
        let has_bad = self.known_bad.is_some() || self.confirmed.is_some();
        match has_bad || self.detection.unseeded {
            true => Ok(()),
            false => Err(PipelineError::NoKnownBad),
        }
    }
}

/// Opens the run folder of a run that is resumed, or checks the place of a new one.
fn begin<'a>(
    executor: &'a dyn Executor,
    options: &'a RunOptions,
    path: &'a Path,
    resume: bool,
) -> Result<Session<'a>, PipelineError> {
    let mut described = options.described();
    if let Some(table) = &options.entity_table {
        described.insert("table of entities".into(), seeds::fingerprint(table)?);
    }
    let (mut before, mut finished) = (None, Vec::new());
    let folder = if resume { Some(RunFolder::resume(path)?) } else { None };
    if let Some(folder) = &folder {
        let manifest = folder.manifest()?;
        let (path, version) = (path.into(), env!("CARGO_PKG_VERSION"));
        if manifest.ripplet != version {
            let (there, here) = (manifest.ripplet, version.into());
            return Err(FolderError::OtherVersion { path, there, here }.into());
        }
        if let Some([name, there, here]) = manifest.difference(&described) {
            return Err(FolderError::OtherRun { path, name, there, here }.into());
        }
        folder.tidy()?;
        finished = folder.finished()?;
        before = Some(manifest);
    } else {
        RunFolder::check(path)?;
    }
    // The input may have grown since: windows that were cut are built again. Late rows leave several days
    // open, and so several windows.
    let whole = finished.iter().position(|record| record.cut).unwrap_or(finished.len());
    let cut = finished.split_off(whole);
    if let Some(folder) = &folder {
        // A killed process may have left the resume state of the window before its last one.
        finished.iter().rev().skip(1).try_for_each(|record| folder.forget(record))?;
    }
    let manifest = Manifest {
        ripplet: env!("CARGO_PKG_VERSION").into(),
        format: FORMAT,
        run_id: before
            .as_ref()
            .map(|before| before.run_id.clone())
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| new_id(path)),
        options: described,
        inputs: before.as_ref().map_or_else(Vec::new, |before| before.inputs.clone()),
        counts: before.as_ref().map_or_else(Default::default, |before| before.counts.clone()),
        windows: finished,
        state: "running".into(),
        transactions_behind: 0,
        unseen: 0,
        unseen_first: Vec::new(),
        unheld: 0,
        threads: rayon::current_num_threads(),
        seconds: 0.0,
    };
    if let Some(folder) = &folder {
        folder.write_manifest(&manifest)?;
    }
    let mut database = options.database.as_ref().map(Database::open).transpose()?;
    if let (Some(database), Some(folder)) = (&mut database, &folder) {
        catch_up(database, &manifest, folder)?;
    }
    let session = Session::new(executor, options, path, manifest, before);
    Ok(Session { folder, database, cut, ..session })
}

/// Writes the finished windows that the database lacks: it was not named before, or the run was killed.
fn catch_up(
    database: &mut Database,
    manifest: &Manifest,
    folder: &RunFolder,
) -> Result<(), PipelineError> {
    let there = database.windows(&manifest.run_id)?;
    let options = manifest.options_json()?;
    for record in &manifest.windows {
        if there.get(&i64::from(record.index)) != Some(&record.until) {
            let identity = RunIdentity::of(manifest, &options);
            database.write(identity, record, &folder.window(record), Replaced::Same)?;
        }
    }
    Ok(())
}

/// Returns an id for a new run, which no other run has.
fn new_id(path: &Path) -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let mut hasher = Sha256::new();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    hasher.update(since.as_nanos().to_le_bytes());
    hasher.update(std::process::id().to_le_bytes());
    hasher.update(RUNS.fetch_add(1, Relaxed).to_le_bytes());
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    hasher.update(absolute.as_os_str().as_encoded_bytes());
    let digits = hasher.finalize();
    digits.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl RunOptions {
    /// Returns the settings that decide the results, by name.
    fn described(&self) -> BTreeMap<String, String> {
        let mut all = self.described.clone();
        let mut say = |name: &str, value: String| {
            all.insert(name.into(), value);
        };
        let feed = &self.feed;
        say("window", feed.shape.length().to_string());
        say("slide", feed.shape.slide().to_string());
        say("late", feed.late.map_or("0".into(), |late| late.to_string()));
        say("first window", if feed.shape.is_growing() { "grows" } else { "whole" }.into());
        say("rows with faults", if feed.skip_bad_rows { "left out" } else { "refused" }.into());
        say("late rows", if feed.skip_late_rows { "left out" } else { "refused" }.into());
        let has_bad = self.known_bad.is_some() || self.confirmed.is_some();
        say("known bad", if has_bad { "a list" } else { NO_LIST }.into());
        let feedback = [("confirmed", &self.confirmed), ("cleared", &self.cleared)];
        for (name, _) in feedback.into_iter().filter(|(_, list)| list.is_some()) {
            say(name, "a list".into());
        }
        say("labels", if self.exact { "anew" } else { "from the window before" }.into());
        say(
            "last window",
            match feed.full_slides {
                true => "after a full slide".into(),
                false => format!("ends with the last {}", last_unit(feed.shape.unit())),
            },
        );
        if feed.range != TimeRange::ALL {
            let (from, until) = (feed.range.from, feed.range.until);
            say(
                "since",
                if from == TimeRange::ALL.from { "the first".into() } else { from.to_string() },
            );
            say(
                "before",
                if until == TimeRange::ALL.until { "the end".into() } else { until.to_string() },
            );
        }
        say("longest gap between rows", feed.longest_gap.to_string());
        self.detection.describe(&mut say);
        say("chance above which a cluster is noise", self.noise.to_string());
        say(MODEL_OPTION, self.model.described());
        match &feed.sources {
            Sources::Files(named) => say("inputs", named.join(" ")),
            Sources::Query { query, .. } => say("inputs", query.clone()),
            Sources::DuckDb { file, query } => {
                say("inputs", format!("{}: {query}", file.display()));
            }
            Sources::Memory(table) => {
                say("inputs", format!("{}, in memory", table.name().display()));
            }
        };
        all
    }
}
