//! Fraud run: detects suspicious clusters in each window of a feed, and writes them to a run folder.
//!
//! Windows are processed in order. For each window: look up the known bad entities, detect clusters, score
//! them, match them to those of the previous window, and write all results before the next window begins. A
//! run that was killed resumes after its last finished window. It reads the inputs again and checks that they
//! are unchanged, but skips the finished windows. Its results equal those of an uninterrupted run.
//!
//! Labels start from those of the previous window (warm start), unless [`RunOptions::exact`]. Each window's
//! record says which.

use crate::chance::Chance;
use crate::counts::say;
use crate::detect::{self, DetectError, Detected, Detection, Known, WarmStart};
use crate::entities::EntityError;
use crate::entities::KindId;
use crate::evolution::Tracker;
use crate::feed::{Advance, Feed, FeedError, FeedOptions};
use crate::folder::{
    ACTIVE, ENTITIES, FORMAT, FolderError, Manifest, ResumeState, RunFolder, WindowRecord,
    read_json, write_json,
};
use crate::output::{
    DaysLedger, GnnScope, WindowFindings, write_active, write_clusters, write_edges, write_ended,
    write_entities, write_gnn, write_known_bad, write_members, write_transactions,
};
use crate::report::{
    PageLimits, ReportBuilder, ReportLimits, Run as ReportRun, WindowReport, write_report,
};
use crate::scores;
use crate::seeds::{self, ActiveEntries, ListEntry, ListError};
use crate::source::SourceError;
use crate::source::reader::{Input, ReaderError, Sources};
use crate::stream::Counts;
use crate::ties::Ties;
use crate::window::{Changed, WindowError};
use crate::{Entities, Findings, KnownBad, TimeRange, Timestamp, Trusted, Window};
use ripplet_graph::OutOfMemory;
use ripplet_io::WriteError;
use ripplet_lp::{Executor, Observer, RunError as LpError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use thiserror::Error;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Sources, mapping and shape of the windows.
    pub feed: FeedOptions,
    /// Table of known bad entities; without one, clusters are found without seeds.
    pub known_bad: Option<PathBuf>,
    /// Table of trusted entities.
    pub trusted: Option<PathBuf>,
    /// Options of detection.
    pub detection: Detection,
    /// Whether labels start anew in each window (no warm start).
    pub exact: bool,
    /// Memory limit in bytes.
    pub memory: Option<u64>,
    /// Which arrays for graph neural networks are written, if any.
    pub arrays: Option<GnnScope>,
    /// Threshold of [`chance`](crate::chance), from 0 to 1: a cluster without a known bad member whose chance
    /// is higher is noise.
    pub noise: f64,
    /// Limits on what the report keeps of each window.
    pub report: ReportLimits,
    /// Further settings that decide the results, by name; the manifest records them. Above all: the text of
    /// the mapping.
    pub described: BTreeMap<String, String>,
}

/// Callbacks of a run.
pub trait RunObserver: Observer {
    /// Called when an input is opened.
    fn on_input(&mut self, _input: &Input) {}

    /// Called with a note on a list: which columns were read, if that is not obvious.
    fn on_list(&mut self, _note: &str) {}

    /// Called after a window is written.
    fn on_window(&mut self, _record: &WindowRecord) {}
}

/// Error of a run; finished windows stay.
#[derive(Debug, Error)]
pub enum RunError {
    /// The feed failed.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// Detection failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// A list cannot be read.
    #[error(transparent)]
    List(#[from] ListError),
    /// The run folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// An entity is on both lists.
    #[error(
        "the {kind} `{id}` is known to be bad and trusted at the same time: take it off one list"
    )]
    Both {
        /// The kind of entity.
        kind: String,
        /// Id of the entity.
        id: String,
    },
    /// The memory limit would be exceeded.
    #[error(
        "the window of {range} needs {} MiB ({what}), and {} MiB are allowed: choose a shorter window, or allow more",
        needed >> 20, allowed >> 20
    )]
    Memory {
        /// The window.
        range: TimeRange,
        /// Bytes that are needed.
        needed: u64,
        /// What needs the memory.
        what: String,
        /// Bytes that are allowed.
        allowed: u64,
    },
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The options ask for clusters of known bad entities alone, and there is no list of these.
    #[error("clusters around the known bad alone need a list of them, and there is none")]
    NoKnownBad,
    /// The noise threshold is no probability.
    #[error("the chance above which a cluster is noise is from 0 to 1, not {0}")]
    Noise(f64),
    /// A file cannot be written.
    #[error("cannot write {0}")]
    Write(#[from] WriteError),
    /// The input has no transactions.
    #[error("there are no transactions in the input: of {} rows{}", .0.rows, none_taken(.0))]
    NoTransactions(Box<Counts>),
}

/// Returns why no row was taken, by number of rows.
fn none_taken(counts: &Counts) -> String {
    let faults = counts.faults.iter().map(|(fault, rows)| (*rows, &**fault));
    let others = [
        (counts.other_kinds, "are of kinds that the mapping does not take"),
        (counts.late, "came too late"),
    ];
    let all = faults.chain(others).filter(|(rows, _)| *rows > 0);
    let all: Vec<String> = all.map(|(rows, why)| format!("{rows} {why}")).collect();
    if all.is_empty() { " none is taken".into() } else { format!(", {}", all.join(", ")) }
}

impl RunError {
    /// Whether the run was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            RunError::Feed(FeedError::Cancelled)
                | RunError::Detect(DetectError::Run(LpError::Cancelled))
        )
    }

    /// Whether memory allocation failed or the memory limit was reached.
    pub fn is_out_of_memory(&self) -> bool {
        let in_io = |error: &WriteError| error.source.kind() == std::io::ErrorKind::OutOfMemory;
        let in_source = |error: &SourceError| matches!(error, SourceError::Read(error) if error.is_out_of_memory());
        match self {
            RunError::OutOfMemory(_) | RunError::Memory { .. } => true,
            RunError::Detect(error) => matches!(
                error,
                DetectError::OutOfMemory(_) | DetectError::Run(LpError::OutOfMemory { .. })
            ),
            RunError::Feed(error) => match error {
                FeedError::Window(WindowError::OutOfMemory(_)) => true,
                FeedError::Entity(EntityError::OutOfMemory(_)) => true,
                FeedError::Reader(ReaderError::Source(error)) => in_source(error),
                _ => false,
            },
            RunError::List(ListError::Source(error)) => in_source(error),
            RunError::Folder(error) => match error {
                FolderError::OutOfMemory(_) => true,
                FolderError::Read(error) => error.is_out_of_memory(),
                FolderError::Write(error) => in_io(error),
                FolderError::Io { source, .. } => source.kind() == std::io::ErrorKind::OutOfMemory,
                _ => false,
            },
            RunError::Write(error) => in_io(error),
            _ => false,
        }
    }
}

/// Deny list and allow list of a run, re-read when they change.
#[derive(Debug)]
pub struct Lists {
    bad: Option<List>,
    trusted: Option<List>,
    default: KindId,
}

#[derive(Debug)]
struct List {
    path: PathBuf,
    sha256: String,
    read: seeds::List,
}

/// Number of entries without a seen entity that a note names.
const NAMED: usize = 10;

/// Description of a run without a list of known bad.
const NO_LIST: &str = "no list";

/// Entries of both lists that are active at a window's end.
#[derive(Clone, Debug, Default)]
pub struct ActiveLists {
    /// Known bad entities.
    pub bad: ActiveEntries,
    /// Trusted entities.
    pub trusted: ActiveEntries,
}

impl Lists {
    /// Reads both lists; entries without a kind are of the kind `default`.
    ///
    /// # Errors
    /// If a list cannot be read.
    pub fn read(
        bad: Option<&Path>,
        trusted: Option<&Path>,
        entities: &Entities,
        default: &str,
    ) -> Result<Lists, RunError> {
        let default = entities.find_kind(default).unwrap_or(KindId(0));
        let read = |path: &Path| -> Result<List, RunError> {
            let sha256 = seeds::fingerprint(path)?;
            Ok(List { path: path.into(), sha256, read: seeds::read(path, entities, default)? })
        };
        let (bad, trusted) = (bad.map(read).transpose()?, trusted.map(read).transpose()?);
        Ok(Lists { bad, trusted, default })
    }

    /// Re-reads the lists that changed.
    fn refresh(&mut self, entities: &Entities) -> Result<(), RunError> {
        for list in [self.bad.as_mut(), self.trusted.as_mut()].into_iter().flatten() {
            let sha256 = seeds::fingerprint(&list.path)?;
            if sha256 != list.sha256 {
                list.read = seeds::read(&list.path, entities, self.default)?;
                list.sha256 = sha256;
            }
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &List> {
        [self.bad.as_ref(), self.trusted.as_ref()].into_iter().flatten()
    }

    /// Iterates over notes on the lists: which columns were read if that is not obvious, and entries without
    /// effect.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(|list| &list.read.notes).map(String::as_str)
    }

    fn hashes(&self) -> Vec<String> {
        self.all().map(|list| list.sha256.clone()).collect()
    }

    /// Returns the deny list.
    pub fn known_bad(&self) -> KnownBad {
        KnownBad { entries: self.bad.iter().flat_map(|list| list.read.entries.clone()).collect() }
    }

    /// Returns the allow list.
    pub fn trusted(&self) -> Trusted {
        Trusted {
            entries: self.trusted.iter().flat_map(|list| list.read.entries.clone()).collect(),
        }
    }

    /// Returns the entries that are active when a window ends, restricted to its vertices.
    ///
    /// # Errors
    /// If an entity is on both lists.
    pub fn held(&self, entities: &Entities, window: &Window) -> Result<ActiveLists, RunError> {
        let at = Timestamp(window.range.until.0.saturating_sub(1));
        let vertices = window.graph.vertices();
        // The reader may be ahead of the window's end.
        let seen = |mut holding: ActiveEntries| {
            let end = holding.vertices.partition_point(|&vertex| vertex < vertices);
            let later = holding.vertices.split_off(end);
            let name = |v| (entities.kind_of(v), entities.id_of(v).to_owned());
            holding.unseen.extend(later.into_iter().map(name));
            holding.unseen.sort_unstable();
            holding
        };
        let of = |list: &Option<List>| {
            list.as_ref()
                .map(|list| seeds::holding(&list.read.entries, entities, at))
                .unwrap_or_default()
        };
        let (bad, trusted) = (seen(of(&self.bad)), seen(of(&self.trusted)));
        match bad.vertices.iter().find(|v| trusted.vertices.binary_search(v).is_ok()) {
            Some(&v) => Err(RunError::Both {
                kind: entities.kind_name_of(v).into(),
                id: entities.id_of(v).into(),
            }),
            None => Ok(ActiveLists { bad, trusted }),
        }
    }

    /// Returns the number of entries that are active at the end of none of these windows, without those that
    /// are never active.
    fn never_active(&self, windows: &[WindowRecord]) -> u64 {
        let until = windows.iter().filter_map(|window| window.until.parse::<Timestamp>().ok());
        // Windows ascend.
        let ends: Vec<Timestamp> =
            until.map(|until| Timestamp(until.0.saturating_sub(1))).collect();
        let holds = |entry: &&ListEntry| {
            let first = entry.from.map_or(0, |from| ends.partition_point(|&end| end < from));
            ends.get(first).is_some_and(|&end| entry.is_active_at(end))
        };
        let entries = self.all().flat_map(|list| &list.read.entries);
        entries.filter(|entry| !entry.is_void() && !holds(entry)).count() as u64
    }

    /// Returns the number of entries whose entity was never seen, and kind and id of the first of them.
    pub fn never_seen(&self, entities: &Entities) -> (u64, Vec<String>) {
        let entries = self.all().flat_map(|list| &list.read.entries);
        let mut unseen = entries.filter(|entry| entities.find(entry.kind, &entry.id).is_none());
        let name = |entry: &ListEntry| format!("{} {}", entities.kind_name(entry.kind), entry.id);
        let first: Vec<String> = unseen.by_ref().take(NAMED).map(name).collect();
        (first.len() as u64 + unseen.count() as u64, first)
    }
}

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
    observer: &mut dyn RunObserver,
) -> Result<Manifest, RunError> {
    options.detection.check()?;
    if !(0.0..=1.0).contains(&options.noise) {
        return Err(RunError::Noise(options.noise));
    }
    if options.known_bad.is_none() && !options.detection.unseeded {
        return Err(RunError::NoKnownBad);
    }
    let described = options.described();
    let (mut before, mut finished) = (None, Vec::new());
    let folder = if resume { Some(RunFolder::open(path)?) } else { None };
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
    let start = Instant::now();
    let mut running = Running { executor, options, path, folder, before, cut, manifest, start };
    let end = running.windows(observer);
    running.finish(end)
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
        say("known bad", if self.known_bad.is_some() { "a list" } else { NO_LIST }.into());
        say("labels", if self.exact { "anew" } else { "from the window before" }.into());
        say(
            "last window",
            if feed.full_slides { "after a full slide" } else { "ends with the last day" }.into(),
        );
        say("longest gap between rows", feed.longest_gap.to_string());
        self.detection.describe(&mut say);
        say("chance above which a cluster is noise", self.noise.to_string());
        match &feed.sources {
            Sources::Files(named) => say("inputs", named.join(" ")),
            Sources::Query { query, .. } => say("inputs", query.clone()),
        };
        all
    }
}

struct Running<'a> {
    executor: &'a dyn Executor,
    options: &'a RunOptions,
    path: &'a Path,
    /// Run folder; `None` until there is a window to write.
    folder: Option<RunFolder>,
    /// Manifest of the run that is resumed.
    before: Option<Manifest>,
    /// Last windows of the resumed run whose last day ended because the input did.
    cut: Vec<WindowRecord>,
    manifest: Manifest,
    start: Instant,
}

impl Running<'_> {
    /// Records how the run ended; a run without a window leaves no files.
    fn finish(mut self, end: Result<(), RunError>) -> Result<Manifest, RunError> {
        self.manifest.windows.append(&mut self.cut);
        let Some(folder) = self.folder else { return end.map(|()| self.manifest) };
        if self.manifest.windows.is_empty() && end.is_err() {
            // The error of the run matters, not that of the cleanup.
            let _ = folder.remove();
            return end.map(|()| self.manifest);
        }
        self.manifest.seconds = self.start.elapsed().as_secs_f64();
        self.manifest.state = match &end {
            Ok(()) => "finished".into(),
            Err(error) => error.to_string(),
        };
        let told = folder.write_manifest(&self.manifest).map_err(RunError::from);
        let told = told.and_then(|()| write_page(&folder));
        // On a full disk the report fails as the window did: the first error is the cause.
        end.and(told).map(|_| self.manifest)
    }

    fn windows(&mut self, observer: &mut dyn RunObserver) -> Result<(), RunError> {
        let options = self.options;
        let mut feed = Feed::begin(&options.feed)?;
        let trusted = options.trusted.as_deref();
        let kind = &options.feed.mapping.source.kind;
        let bad = options.known_bad.as_deref();
        let mut lists = Lists::read(bad, trusted, feed.entities(), kind)?;
        lists.notes().for_each(|note| observer.on_list(note));
        let done = self.manifest.windows.len() as u32;
        let mut kept = match (self.manifest.windows.last(), &self.folder) {
            (Some(last), Some(folder)) => folder.kept(last)?,
            _ => ResumeState { spread: Default::default(), tracker: Tracker::new() },
        };
        let mut index = 0;
        loop {
            observer.on_stage("reading");
            let reading = Instant::now();
            let advance = self.advance(&mut feed, observer)?;
            let read = reading.elapsed().as_secs_f64();
            self.manifest.inputs = self.inputs(&feed);
            self.manifest.counts = feed.stream().counts().clone();
            (self.manifest.unseen, self.manifest.unseen_first) = lists.never_seen(feed.entities());
            self.manifest.transactions_behind = feed.behind();
            if advance == Advance::Over {
                self.manifest.unheld = lists.never_active(&self.manifest.windows);
                let counts = &self.manifest.counts;
                return if index == 0 {
                    Err(RunError::NoTransactions(counts.clone().into()))
                } else {
                    Ok(())
                };
            }
            if index + 1 < done {
                feed.pass();
            } else if index + 1 == done {
                // The next window is merged from this one, as in an uninterrupted run.
                feed.slide()?;
            } else {
                lists.refresh(feed.entities())?;
                kept = self.window(&mut feed, &lists, kept, read, observer)?;
            }
            index += 1;
        }
    }

    fn advance(
        &self,
        feed: &mut Feed,
        observer: &mut dyn RunObserver,
    ) -> Result<Advance, RunError> {
        let mut other = None;
        let observer = std::cell::RefCell::new(observer);
        let advance = feed.advance(
            |inputs| {
                if let Some(input) = inputs.last() {
                    observer.borrow_mut().on_input(input);
                }
                let checked =
                    self.before.as_ref().map_or(Ok(()), |before| before.check_inputs(inputs));
                checked.map_err(|error| {
                    other = Some(error);
                    FeedError::Cancelled
                })
            },
            || observer.borrow().is_cancelled(),
        );
        match other {
            Some(error) => Err(error.into()),
            None => Ok(advance?),
        }
    }

    /// Returns the inputs read so far, followed by those of the resumed run that are yet to be read.
    fn inputs(&self, feed: &Feed) -> Vec<Input> {
        let mut inputs = feed.inputs().to_vec();
        if let Some(before) = &self.before {
            inputs.extend(before.inputs.iter().skip(inputs.len()).cloned());
        }
        inputs
    }

    /// Builds, analyses and writes the window that ends now, and returns the state for the next window.
    fn window(
        &mut self,
        feed: &mut Feed,
        lists: &Lists,
        kept: ResumeState,
        read: f64,
        observer: &mut dyn RunObserver,
    ) -> Result<ResumeState, RunError> {
        let mut seconds = BTreeMap::from([("read".to_owned(), read)]);
        observer.on_stage("sliding the window");
        let start = Instant::now();
        let merged = feed.window().is_some() && !self.options.feed.from_scratch;
        let changed = feed.slide()?;
        seconds.insert("slide".into(), start.elapsed().as_secs_f64());
        let (Some(window), entities) = (feed.window(), feed.entities()) else {
            return Ok(kept);
        };
        let planned = self.plan(feed, window)?;
        let held = lists.held(entities, window)?;
        let known = Known { bad: &held.bad.vertices, trusted: &held.trusted.vertices };
        let start = Instant::now();
        let ResumeState { spread: last, mut tracker } = kept;
        let warm = !self.options.exact && !last.labels.is_empty();
        let begin = warm.then_some(WarmStart { before: &last, changed: &changed });
        let (detection, until) = (&self.options.detection, window.range.until);
        let detected =
            detect::detect(self.executor, &window.graph, known, detection, begin, observer)?;
        seconds.insert("detect".into(), start.elapsed().as_secs_f64());
        let start = Instant::now();
        let mut findings = scores::score(&window.graph, &detected, known, until)?;
        tracker.follow(&mut findings, until);
        let days = || feed.days().map(|(_, run)| run);
        let ledger = DaysLedger::new(days(), feed.decimals());
        Chance::new(&window.graph, days(), entities, &ledger).judge(&mut findings);
        seconds.insert("score".into(), start.elapsed().as_secs_f64());
        let start = Instant::now();
        let weight_keeps = self.weight_keeps(feed, &detected, &held, &planned)?;
        seconds.insert("compare the weight with counts".into(), start.elapsed().as_secs_f64());
        let record = WindowRecord {
            index: window.index,
            from: window.range.from.to_string(),
            until: until.to_string(),
            folder: format!("{:04}-{}", window.index, until.to_string().replace(':', "")),
            transactions: window.transactions,
            vertices: window.graph.vertices(),
            arcs: window.graph.arcs(),
            known_bad: held.bad.vertices.len() as u64,
            known_bad_unseen: held.bad.unseen.len() as u64,
            trusted: held.trusted.vertices.len() as u64,
            lists_sha256: lists.hashes(),
            clusters: findings.clusters.len() as u64,
            members: findings.members.len() as u64,
            cut: feed.is_cut(),
            weight_keeps,
            merged,
            warm,
            changed: match changed {
                Changed::Some(vertices) => Some(vertices.len() as u64),
                Changed::All => None,
            },
            rounds: detected.spread.rounds.len() as u32,
            scanned: detected.spread.rounds.iter().map(|round| round.scanned).sum(),
            converged: detected.spread.converged,
            seconds,
            bytes_planned: planned,
            bytes_peak: peak(),
        };
        observer.on_stage("writing the window");
        let found = Found {
            window,
            entities,
            held: &held,
            lists,
            detected: &detected,
            findings: &findings,
            feed,
        };
        let record = self.write(record, found, tracker)?;
        observer.on_window(&record.0);
        self.manifest.windows.push(record.0);
        self.manifest.seconds = self.start.elapsed().as_secs_f64();
        if let Some(folder) = &self.folder {
            folder.write_manifest(&self.manifest)?;
            if self.options.feed.reading.follow.is_some() {
                write_page(folder)?;
            }
        }
        Ok(ResumeState { spread: detected.spread, tracker: record.1 })
    }

    /// Returns the share of the signal of plain counts that the weight keeps: see
    /// [`WindowRecord::weight_keeps`].
    fn weight_keeps(
        &self,
        feed: &Feed,
        detected: &Detected,
        held: &ActiveLists,
        planned: &BTreeMap<String, u64>,
    ) -> Result<Option<f64>, RunError> {
        // Needs a copy of the graph, and as much again for its ties.
        let graph = feed.window().map_or(0, |window| window.graph.bytes());
        let needed = planned.values().sum::<u64>() + 4 * graph;
        if self.options.memory.is_some_and(|allowed| allowed < needed) {
            return Ok(None);
        }
        let Some(counted) = feed.counted()? else { return Ok(None) };
        let rule = self.options.detection.ties;
        let ties = Ties::of(&counted, rule, &held.trusted.vertices).map_err(DetectError::from)?;
        // Fewer ties make no cluster, and their share has no meaning.
        let fewest = u64::from(self.options.detection.min_size).saturating_sub(1);
        Ok(if ties.kept() < fewest { None } else { ties.share_kept_by(&detected.ties) })
    }

    /// Returns the bytes of the feed's state and of detection; an error if they exceed the limit.
    fn plan(&self, feed: &Feed, window: &Window) -> Result<BTreeMap<String, u64>, RunError> {
        let plan = detect::plan(self.executor, &window.graph, &self.options.detection);
        let planned = BTreeMap::from([
            ("entities, days, windows".to_owned(), feed.bytes()),
            ("detection".to_owned(), plan.algorithm_host()),
        ]);
        let needed: u64 = planned.values().sum();
        match self.options.memory.filter(|&allowed| allowed < needed) {
            Some(allowed) => {
                let of = |(name, bytes): (&String, &u64)| format!("{name}: {} MiB", bytes >> 20);
                let what = planned.iter().map(of).collect::<Vec<_>>().join(", ");
                Err(RunError::Memory { range: window.range, needed, what, allowed })
            }
            None => Ok(planned),
        }
    }

    fn write(
        &mut self,
        mut record: WindowRecord,
        found: Found<'_>,
        tracker: Tracker,
    ) -> Result<(WindowRecord, Tracker), RunError> {
        let start = Instant::now();
        let days = found.feed.days().map(|(_, run)| run);
        let ledger = DaysLedger::new(days, found.feed.decimals());
        let kept = ResumeState { spread: found.detected.spread.clone(), tracker };
        let in_window = WindowFindings {
            window: found.window,
            entities: found.entities,
            findings: found.findings,
            known_bad: &found.held.bad,
            trusted: &found.held.trusted,
            ledger: &ledger,
            noise: self.options.noise,
            listed_bad: found.lists.bad.as_ref().map_or(&[], |list| &list.read.entries),
            pairs: &self.options.feed.mapping.pairs(),
        };
        let report = WindowReport::of(in_window, self.options.report);
        record.seconds.insert("evidence".into(), start.elapsed().as_secs_f64());
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => RunFolder::begin(self.path, &self.manifest)?,
        };
        let folder = self.folder.insert(folder);
        let seen_before = self.manifest.windows.last().map_or(0, |before| before.vertices);
        // Newest first: if the process is killed, no window is missing between others.
        while let Some(cut) = self.cut.pop() {
            folder.remove_window(&cut)?;
        }
        folder.write_window(&record, &kept, |folder| -> Result<(), RunError> {
            write_clusters(&folder.join("clusters.parquet"), in_window)?;
            write_members(&folder.join("members.parquet"), in_window)?;
            write_edges(&folder.join("edges.parquet"), in_window)?;
            write_transactions(&folder.join("transactions.parquet"), in_window)?;
            write_known_bad(&folder.join("known_bad.parquet"), in_window)?;
            write_ended(&folder.join("ended.parquet"), in_window)?;
            write_entities(&folder.join(ENTITIES), in_window, seen_before)?;
            write_active(&folder.join(ACTIVE), in_window)?;
            if let Some(scope) = self.options.arrays {
                write_gnn(&folder.join("graph.npz"), in_window, scope)?;
            }
            Ok(write_json(&folder.join("report.json"), &report)?)
        })?;
        // A cut window is built again if there is more input: keep the state that it starts from.
        if let Some(last) = self.manifest.windows.last().filter(|_| !record.cut) {
            folder.forget(last)?;
        }
        Ok((record, kept.tracker))
    }
}

/// Results of one window.
struct Found<'a> {
    window: &'a Window,
    entities: &'a Entities,
    held: &'a ActiveLists,
    lists: &'a Lists,
    detected: &'a Detected,
    findings: &'a Findings,
    feed: &'a Feed,
}

/// Writes `report.html` for all finished windows.
///
/// # Errors
/// If a window's part cannot be read, or the page cannot be written.
pub fn write_page(folder: &RunFolder) -> Result<PathBuf, RunError> {
    let manifest = folder.manifest()?;
    let windows = folder.finished()?;
    let mut builder = ReportBuilder::new(PageLimits::default());
    for record in windows.iter().rev() {
        builder.add(read_json(&folder.window(record).join("report.json"))?);
    }
    let mut facts = vec![("ripplet".to_owned(), manifest.ripplet.clone())];
    facts.extend(manifest.options.iter().map(|(name, value)| (name.clone(), value.clone())));
    facts.push(("seconds".into(), format!("{:.1}", manifest.seconds)));
    let input = |input: &Input| {
        let hash = input.sha256.as_deref().unwrap_or("no hash");
        (input.path.clone(), format!("{} rows, {} bytes, SHA-256 {hash}", input.rows, input.bytes))
    };
    let run = ReportRun {
        title: format!("Suspicious clusters in {}", folder.path().display()),
        facts,
        inputs: manifest.inputs.iter().map(input).collect(),
        notes: notes(&manifest, &windows),
        folder: folder.path().display().to_string(),
    };
    let path = folder.report();
    write_report(&path, &run, &builder)?;
    Ok(path)
}

/// Share of the counts' significant ties below which a weight loses most of the signal.
const ENOUGH_KEPT: f64 = 0.5;

/// Returns notes on a run for a reader of its results.
pub fn notes(manifest: &Manifest, windows: &[WindowRecord]) -> Vec<String> {
    let mut notes = manifest.counts.notes();
    if manifest.unseen > 0 {
        let named = manifest.unseen_first.join(", ");
        let rest = match manifest.unseen - manifest.unseen_first.len() as u64 {
            0 => String::new(),
            rest => format!(
                " and {rest} others; the windows’ known_bad.parquet have all of the known bad"
            ),
        };
        let entries = ["entry of the lists is", "entries of the lists are"];
        let who = format!("in no transaction: {named}{rest}");
        say(&mut notes, manifest.unseen, entries, &who);
    }
    say(
        &mut notes,
        manifest.unheld,
        ["entry of the lists holds", "entries of the lists hold"],
        "at the end of no window, by `from` and `until`",
    );
    say(
        &mut notes,
        manifest.transactions_behind,
        ["transaction lies", "transactions lie"],
        "behind the end of the last window, in none: without --full-slides (and --follow), a last window ends with the last \
         day",
    );
    notes.extend(weight_note(windows));
    let repeated = manifest.inputs.iter().filter(|input| input.repeats.is_some()).count();
    let same = "passed over: others with the same content were read before";
    say(&mut notes, repeated as u64, ["file was", "files were"], same);
    let warm = windows.iter().filter(|window| window.warm).count();
    say(
        &mut notes,
        warm as u64,
        ["window", "windows"],
        "started from the labels of the previous window: with --exact, ties may be broken otherwise",
    );
    let alone = windows.iter().filter(|window| window.known_bad == 0).count();
    if manifest.options.get("known bad").is_some_and(|list| list == NO_LIST) {
        notes.push("there is no list of known bad: all clusters were found without seeds".into());
    } else {
        let without = "no entity that is known to be bad: their clusters were found without seeds";
        say(&mut notes, alone as u64, ["window has", "windows have"], without);
    }
    if !["finished", "running"].contains(&&*manifest.state) {
        notes.push(format!("The run ended early: {}", manifest.state));
    }
    notes
}

/// Returns a note if the weight loses most of the signal, with the window in which it loses most.
fn weight_note(windows: &[WindowRecord]) -> Option<String> {
    let each = windows.iter().filter_map(|window| Some((window.weight_keeps?, window)));
    let few: Vec<_> = each.filter(|(keeps, _)| *keeps < ENOUGH_KEPT).collect();
    let (keeps, worst) = few.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let windows = match few.len() {
        1 => String::new(),
        count => format!(", and less than half in {count} windows"),
    };
    Some(format!(
        "the weight of the mapping takes most of the signal: of the ties that plain counts of transactions have beyond \
         chance, it keeps {:.0} % in the window of {}{windows}. Leave [weight] out, or compare both by `ripplet fraud evaluate`",
        100.0 * keeps,
        worst.days()
    ))
}

/// Returns the peak memory of this process in bytes, if the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}
