//! A run in progress: builds, analyses and writes its windows one after the other.

use super::{
    ActiveLists, ListFiles, Lists, ModelChoice, PipelineError, PipelineObserver, RunOptions,
    write_page,
};
use crate::chance::Chance;
use crate::database::{Database, Replaced, RunIdentity};
use crate::days::DayAdjacency;
use crate::detect::{self, DetectError, Detected, Known, Spread, WarmStart};
use crate::entity_table::EntityTable;
use crate::evidence::{self, BlindEvidence, Evidence, Sources};
use crate::evolution::Tracker;
use crate::feed::{Advance, Feed, FeedError};
use crate::folder::{
    ACTIVE, ENTITIES, FolderError, MODEL, Manifest, PART, PreparedWindow, REASONS, ResumeState,
    RunFolder, ScoreRecord, WindowRecord, write_json, write_packed_json,
};
use crate::ledger::DaysLedger;
use crate::model::{self, Earlier, KnownGood};
use crate::output::{
    EntityScores, Explained, GnnScope, WindowFindings, write_active, write_clusters, write_edges,
    write_ended, write_entities, write_gnn, write_known_bad, write_members, write_reasons,
    write_transactions,
};
use crate::report::WindowReport;
use crate::scores;
use crate::source::reader::{Input, SharedReading};
use crate::ties::Ties;
use crate::window::Changed;
use crate::{Entities, Findings, Window};
use rayon::prelude::*;
use ripplet_io::WriteError;
use ripplet_lp::Executor;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Run in progress.
pub(super) struct Session<'a> {
    pub(super) executor: &'a dyn Executor,
    pub(super) options: &'a RunOptions,
    pub(super) path: &'a Path,
    /// Run folder; `None` until there is a window to write.
    pub(super) folder: Option<RunFolder>,
    /// Database that gets the results, too.
    pub(super) database: Option<Database>,
    /// Manifest of the run that is resumed.
    pub(super) before: Option<Manifest>,
    /// Last windows of the resumed run whose last day ended because the input did.
    pub(super) cut: Vec<WindowRecord>,
    pub(super) manifest: Manifest,
    pub(super) start: Instant,
    /// Vertices of the window before the current one.
    pub(super) seen_before: u32,
    /// What the readers of ranks have in common.
    pub(super) reading: SharedReading,
}

/// What the user gives beside the transactions, as far as it was read.
pub(super) struct Given {
    lists: Lists,
    table: Option<EntityTable>,
}

impl Given {
    /// Looks up entities that were new since the last call, and reads lists that have changed.
    fn refresh(&mut self, feed: &Feed) -> Result<(), PipelineError> {
        self.lists.refresh(feed.entities())?;
        self.table.iter_mut().for_each(|table| table.refresh(feed.entities()));
        Ok(())
    }
}

/// Ids of clusters and weights of scorecards: what a window takes from the one before, and passes to the next.
pub(super) type Passed = (Tracker, Earlier);

/// Where a window takes [`Passed`] from, and passes it to.
pub(super) trait Chain {
    /// Returns what the window before has passed.
    fn take(&mut self) -> Result<Passed, PipelineError>;

    /// Passes to the next window.
    fn pass(&mut self, passed: &Passed) -> Result<(), PipelineError>;

    /// Creates the run folder before a window is written, if that is this process' part.
    fn begin_folder(&mut self, session: &mut Session<'_>) -> Result<(), PipelineError>;
}

/// The chain of a process that has all windows: one waits for the next.
struct Alone(Option<Passed>);

impl Chain for Alone {
    fn take(&mut self) -> Result<Passed, PipelineError> {
        Ok(self.0.take().unwrap_or_default())
    }

    fn pass(&mut self, _: &Passed) -> Result<(), PipelineError> {
        Ok(())
    }

    fn begin_folder(&mut self, session: &mut Session<'_>) -> Result<(), PipelineError> {
        session.begin_folder()
    }
}

/// A window whose temporary folder is filled.
pub(super) struct Written {
    pub(super) record: WindowRecord,
    pub(super) kept: ResumeState,
    pub(super) prepared: PreparedWindow,
}

impl<'a> Session<'a> {
    /// Begins a run without a folder: it has the windows of the manifest, and goes on from `before`.
    pub(super) fn new(
        executor: &'a dyn Executor,
        options: &'a RunOptions,
        path: &'a Path,
        manifest: Manifest,
        before: Option<Manifest>,
    ) -> Session<'a> {
        let seen_before = manifest.windows.last().map_or(0, |last| last.vertices);
        let (folder, database, cut, start) = (None, None, Vec::new(), Instant::now());
        Session {
            executor,
            options,
            path,
            folder,
            database,
            before,
            cut,
            manifest,
            start,
            seen_before,
            reading: SharedReading::default(),
        }
    }
}

impl Session<'_> {
    /// Reads the table of entities, if there is one and scores are made.
    fn table(&self, feed: &Feed) -> Result<Option<EntityTable>, PipelineError> {
        let table = self.options.entity_table.as_ref();
        let table = table.filter(|_| self.options.model != ModelChoice::None);
        let kind = feed.entities().find_kind(&self.options.feed.mapping.source.kind);
        let read =
            |table| EntityTable::read(table, feed.entities(), kind.unwrap_or(crate::KindId(0)));
        Ok(table.map(read).transpose()?)
    }

    /// Records how the run ended; a run without a window leaves no files.
    pub(super) fn finish(
        mut self,
        end: Result<(), PipelineError>,
    ) -> Result<Manifest, PipelineError> {
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
        let written = folder.write_manifest(&self.manifest).map_err(PipelineError::from);
        let written = written.and_then(|()| write_page(&folder));
        let state = &self.manifest.state;
        let told = self.database.map_or(Ok(()), |mut database| {
            database.finish(&self.manifest.run_id, state).map_err(PipelineError::from)
        });
        // On a full disk the report fails as the window did, and so does a lost server: the first error is the cause.
        end.and(written).and(told).map(|_| self.manifest)
    }

    /// Processes all windows of the feed.
    pub(super) fn windows(
        &mut self,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        let (mut feed, mut given) = self.begin(observer)?;
        let mut kept = self.kept()?;
        let mut next = self.after_finished(&mut feed, &given, observer)?;
        while let Some(read) = next {
            let ResumeState { spread, tracker, earlier } = kept;
            let chain = &mut Alone(Some((tracker, earlier)));
            let written =
                self.window(&mut feed, &mut given, &spread, chain, (read, &mut *observer))?;
            let Written { record, kept: after, prepared } = written;
            self.commit(record, observer)?;
            drop(prepared);
            kept = after;
            next = self.next(&mut feed, &given, observer)?;
        }
        self.end(&feed, &mut given, observer)
    }

    /// Opens the feed, and reads the lists and the table of entities.
    pub(super) fn begin(
        &self,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(Feed, Given), PipelineError> {
        let options = self.options;
        let feed = Feed::begin_shared(&options.feed, &self.reading)?;
        let kind = &options.feed.mapping.source.kind;
        let files = ListFiles {
            bad: options.known_bad.as_ref(),
            trusted: options.trusted.as_ref(),
            confirmed: options.confirmed.as_ref(),
            cleared: options.cleared.as_ref(),
        };
        let lists = Lists::read(files, feed.entities(), kind)?;
        lists.notes().for_each(|note| observer.on_list(note));
        let table = self.table(&feed)?;
        table.iter().flat_map(EntityTable::notes).for_each(|note| observer.on_list(note));
        Ok((feed, Given { lists, table }))
    }

    /// Returns the state after the last finished window.
    pub(super) fn kept(&self) -> Result<ResumeState, PipelineError> {
        Ok(match (self.manifest.windows.last(), &self.folder) {
            (Some(last), Some(folder)) => folder.kept(last)?,
            _ => ResumeState {
                spread: Default::default(),
                tracker: Tracker::new(),
                earlier: Earlier::default(),
            },
        })
    }

    /// Reads the transactions of the windows that a resumed run has finished, and up to the end of the first other one, as
    /// [`Session::next`] does.
    pub(super) fn after_finished(
        &mut self,
        feed: &mut Feed,
        given: &Given,
        observer: &mut dyn PipelineObserver,
    ) -> Result<Option<f64>, PipelineError> {
        let done = self.manifest.windows.len();
        for index in 0..done {
            if self.next(feed, given, observer)?.is_none() {
                return Ok(None);
            }
            match index + 1 == done {
                // The next window is merged from this one, as in an uninterrupted run.
                true => drop(feed.slide()?),
                false => feed.pass(),
            }
        }
        self.next(feed, given, observer)
    }

    /// Reads up to the end of the next window; returns the seconds, or `None` after the last window.
    pub(super) fn next(
        &mut self,
        feed: &mut Feed,
        given: &Given,
        observer: &mut dyn PipelineObserver,
    ) -> Result<Option<f64>, PipelineError> {
        observer.on_stage("reading");
        let reading = Instant::now();
        let advance = self.advance(feed, observer)?;
        let read = reading.elapsed().as_secs_f64();
        self.manifest.inputs = self.inputs(feed);
        self.manifest.counts = feed.stream().counts().clone();
        (self.manifest.unseen, self.manifest.unseen_first) =
            given.lists.never_seen(feed.entities());
        self.manifest.transactions_behind = feed.behind();
        Ok((advance != Advance::Over).then_some(read))
    }

    /// Moves past a window that another rank has.
    pub(super) fn pass(&mut self, feed: &mut Feed) -> Result<(), PipelineError> {
        feed.slide()?;
        self.seen_before = feed.window().map_or(0, |window| window.graph.vertices());
        Ok(())
    }

    /// Notes what is known after the last window.
    pub(super) fn end(
        &mut self,
        feed: &Feed,
        given: &mut Given,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        let Given { lists, table } = given;
        self.manifest.unheld = lists.never_active(&self.manifest.windows);
        table.iter_mut().for_each(|table| table.refresh(feed.entities()));
        if let Some((unseen, Some(first))) = table.as_ref().map(EntityTable::never_seen) {
            let rows = table.as_ref().map_or(0, EntityTable::rows);
            observer.on_list(&format!(
                "the table of entities: {unseen} of {rows} are in no transaction, the first is {first}"
            ));
        }
        match self.manifest.windows.is_empty() {
            true => Err(PipelineError::NoTransactions(self.manifest.counts.clone().into())),
            false => Ok(()),
        }
    }

    fn advance(
        &self,
        feed: &mut Feed,
        observer: &mut dyn PipelineObserver,
    ) -> Result<Advance, PipelineError> {
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

    /// Builds, analyses and writes the window that ends now, into its temporary folder; `last` are the labels of the window
    /// before.
    pub(super) fn window(
        &mut self,
        feed: &mut Feed,
        given: &mut Given,
        last: &Spread,
        chain: &mut dyn Chain,
        (read, observer): (f64, &mut dyn PipelineObserver),
    ) -> Result<Written, PipelineError> {
        given.refresh(feed)?;
        let Given { lists, table } = &*given;
        let table = table.as_ref();
        let mut seconds = BTreeMap::from([("read".to_owned(), read)]);
        observer.on_stage("sliding the window");
        let start = Instant::now();
        let merged = feed.window().is_some() && !self.options.feed.from_scratch;
        let changed = feed.slide()?;
        seconds.insert("slide".into(), start.elapsed().as_secs_f64());
        let (feed, entities) = (&*feed, feed.entities());
        let Some(window) = feed.window() else { return Err(PipelineError::NoWindow) };
        let planned = self.plan(feed, window, table)?;
        let held = lists.held(entities, window)?;
        let known = Known { bad: &held.bad.vertices, trusted: &held.trusted.vertices };
        let start = Instant::now();
        let warm = !self.options.exact && !last.labels.is_empty();
        let begin = warm.then_some(WarmStart { before: last, changed: &changed });
        let (detection, until) = (&self.options.detection, window.range.until);
        let detected =
            detect::detect(self.executor, &window.graph, known, detection, begin, observer)?;
        seconds.insert("detect".into(), start.elapsed().as_secs_f64());
        let start = Instant::now();
        let mut findings = scores::score(&window.graph, &detected, known, until)?;
        let days = || feed.days().map(|(_, run)| run);
        let ledger = DaysLedger::new(days(), feed.decimals());
        Chance::new(&window.graph, days(), entities, &ledger).judge(&mut findings);
        seconds.insert("score".into(), start.elapsed().as_secs_f64());
        let start = Instant::now();
        let days: Vec<&DayAdjacency> = feed.days().map(|(_, run)| run).collect();
        let (graph, ties) = (&window.graph, &detected.ties);
        let blind = match &self.options.model {
            ModelChoice::None => None,
            ModelChoice::Auto | ModelChoice::File(_) => {
                let sources = Sources { graph, ties, days: &days, range: window.days, table };
                Some(BlindEvidence::of(self.executor, sources, detection.seed, observer)?)
            }
        };
        let evidence = blind.as_ref();
        let evidence = evidence.map(|blind| Evidence::of(blind, graph, ties, entities, known.bad));
        let evidence = evidence.transpose()?;
        observer.on_stage("scoring entities");
        let good = KnownGood { trusted: known.trusted, cleared: &held.cleared.vertices };
        let vertices = graph.vertices();
        let training = match (&evidence, &self.options.model) {
            (Some(evidence), ModelChoice::Auto) => {
                Some(model::prepare(evidence, entities, good, vertices)?)
            }
            _ => None,
        };
        seconds.insert("score entities".into(), start.elapsed().as_secs_f64());
        // What windows pass on is computed one after the other: as little as possible.
        let (mut tracker, earlier) = chain.take()?;
        let start = Instant::now();
        tracker.follow(&mut findings, until);
        let fitted = training.map(|training| training.fit(&earlier)).transpose()?;
        let passed = (tracker, fitted.as_ref().map_or(earlier, |fitted| fitted.earlier().clone()));
        *seconds.entry("score entities".into()).or_default() += start.elapsed().as_secs_f64();
        chain.pass(&passed)?;
        let start = Instant::now();
        let scored = match (&evidence, &self.options.model, fitted) {
            (Some(evidence), ModelChoice::File(file), _) => {
                let card = file.for_columns(evidence.columns())?;
                Some(model::score_by(evidence, entities, good, vertices, card)?)
            }
            (_, _, Some(fitted)) => Some(fitted.finish()?),
            _ => None,
        };
        let scores = scored.as_ref().zip(evidence.as_ref());
        let scores = scores.map(|(scores, evidence)| EntityScores { scores, evidence });
        if let Some(of) = scores {
            scores::rank_by_entities(&mut findings, of.scores);
        }
        *seconds.entry("score entities".into()).or_default() += start.elapsed().as_secs_f64();
        let start = Instant::now();
        let weight_keeps = self.weight_keeps(feed, &detected, &held, &planned)?;
        seconds.insert("compare the weight with counts".into(), start.elapsed().as_secs_f64());
        let record = WindowRecord {
            index: window.index,
            from: window.range.from.to_string(),
            until: until.to_string(),
            folder: format!("{:04}-{}", window.index, until.to_string().replace(':', "")),
            transactions: window.transactions,
            to_themselves: self.to_themselves(feed, window),
            vertices: window.graph.vertices(),
            arcs: window.graph.arcs(),
            known_bad: held.bad.vertices.len() as u64,
            known_bad_unseen: held.bad.unseen.len() as u64,
            trusted: held.trusted.vertices.len() as u64,
            cleared: held.cleared.vertices.len() as u64,
            lists_sha256: lists.hashes(),
            clusters: findings.clusters.len() as u64,
            members: findings.members.len() as u64,
            cut: feed.is_cut(),
            weight_keeps,
            scores: scores.map(ScoreRecord::of),
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
        let found =
            Found { window, entities, held: &held, lists, findings: &findings, feed, scores, ties };
        let (tracker, earlier) = passed;
        let kept = ResumeState { spread: detected.spread, tracker, earlier };
        chain.begin_folder(self)?;
        let (record, prepared) = self.write(record, found, &kept)?;
        self.seen_before = window.graph.vertices();
        Ok(Written { record, kept, prepared })
    }

    /// Makes a window that was written, by this process or another rank, the last finished one.
    pub(super) fn commit(
        &mut self,
        record: WindowRecord,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        if let Some(folder) = &mut self.folder {
            folder.commit_window(&record)?;
            // A cut window is built again if there is more input: keep the state that it starts from.
            if let Some(last) = self.manifest.windows.last().filter(|_| !record.cut) {
                folder.forget(last)?;
            }
        }
        observer.on_window(&record);
        self.manifest.windows.push(record);
        self.manifest.seconds = self.start.elapsed().as_secs_f64();
        if let Some(folder) = &self.folder {
            folder.write_manifest(&self.manifest)?;
            if self.options.feed.reading.follow.is_some() {
                write_page(folder)?;
            }
        }
        Ok(())
    }

    /// Returns the number of a window's transactions of an entity with itself: see
    /// [`WindowRecord::to_themselves`].
    fn to_themselves(&self, feed: &Feed, window: &Window) -> Option<u64> {
        let between: u64 = feed.days().map(|(_, day)| day.payments.len() as u64).sum();
        let is_of_two = self.options.feed.mapping.pairs().len() <= 1;
        is_of_two.then(|| window.transactions.saturating_sub(between))
    }

    /// Returns the share of the signal of plain counts that the weight keeps: see
    /// [`WindowRecord::weight_keeps`].
    fn weight_keeps(
        &self,
        feed: &Feed,
        detected: &Detected,
        held: &ActiveLists,
        planned: &BTreeMap<String, u64>,
    ) -> Result<Option<f64>, PipelineError> {
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
    fn plan(
        &self,
        feed: &Feed,
        window: &Window,
        table: Option<&EntityTable>,
    ) -> Result<BTreeMap<String, u64>, PipelineError> {
        let plan = detect::plan(self.executor, &window.graph, &self.options.detection);
        let mut planned = BTreeMap::from([
            ("entities, days, windows".to_owned(), feed.bytes()),
            ("detection".to_owned(), plan.algorithm_host()),
        ]);
        if self.options.model != ModelChoice::None {
            let graph = &window.graph;
            let transactions = feed.days().map(|(_, day)| day.payments.len() as u64).sum();
            let columns = evidence::KINDS + table.map_or(0, evidence::Features::count);
            let needed =
                evidence::plan(graph, transactions, table) + model::plan(graph.vertices(), columns);
            planned.insert("evidence and scores".to_owned(), needed);
        }
        let needed: u64 = planned.values().sum();
        match self.options.memory.filter(|&allowed| allowed < needed) {
            Some(allowed) => {
                let of = |(name, bytes): (&String, &u64)| format!("{name}: {} MiB", bytes >> 20);
                let what = planned.iter().map(of).collect::<Vec<_>>().join(", ");
                Err(PipelineError::Memory { range: window.range, needed, what, allowed })
            }
            None => Ok(planned),
        }
    }

    /// Creates the run folder if there is none, and removes windows that are built again.
    pub(super) fn begin_folder(&mut self) -> Result<(), PipelineError> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => RunFolder::begin(self.path, &self.manifest)?,
        };
        let folder = self.folder.insert(folder);
        // Newest first: if the process is killed, no window is missing between others.
        while let Some(cut) = self.cut.pop() {
            folder.remove_window(&cut)?;
        }
        Ok(())
    }

    /// Writes a window into its temporary folder.
    fn write(
        &mut self,
        mut record: WindowRecord,
        found: Found<'_>,
        kept: &ResumeState,
    ) -> Result<(WindowRecord, PreparedWindow), PipelineError> {
        let start = Instant::now();
        let days = found.feed.days().map(|(_, run)| run);
        let ledger = DaysLedger::new(days, found.feed.decimals());
        let in_window = WindowFindings {
            window: found.window,
            entities: found.entities,
            findings: found.findings,
            known_bad: &found.held.bad,
            trusted: &found.held.trusted,
            cleared: &found.held.cleared,
            ledger: &ledger,
            noise: self.options.noise,
            scores: found.scores,
            ties: Some(found.ties),
            explained: None,
            listed_bad: found.lists.bad_entries(),
            pairs: &self.options.feed.mapping.pairs(),
        };
        let limits = self.options.report;
        let explained = Explained::of(in_window, limits.entities, limits.clusters);
        let in_window = WindowFindings { explained: explained.as_ref(), ..in_window };
        let report = WindowReport::of(in_window, limits);
        record.seconds.insert("evidence".into(), start.elapsed().as_secs_f64());
        let seen_before = self.seen_before;
        let (options, arrays) = (self.manifest.options_json()?, self.options.arrays);
        let no_folder = || FolderError::NoRun(self.path.into());
        let folder = self.folder.as_ref().ok_or_else(no_folder)?;
        let prepared =
            folder.prepare_window(&record, kept, |folder| -> Result<(), PipelineError> {
                write_files(folder, in_window, seen_before, arrays, &report)?;
                if let Some(database) = &mut self.database {
                    // Before the folder gets its name: a killed run writes this window again, in both places.
                    let identity = RunIdentity::of(&self.manifest, &options);
                    database.write(identity, &record, folder, Replaced::Later)?;
                }
                Ok(())
            })?;
        Ok((record, prepared))
    }
}

/// Writes the files of a window that show its results; each is a task. Of several errors, that of the first file is returned.
fn write_files(
    folder: &Path,
    found: WindowFindings<'_>,
    seen_before: u32,
    arrays: Option<GnnScope>,
    report: &WindowReport,
) -> Result<(), PipelineError> {
    type Write<'a> = Box<dyn Fn(&Path) -> Result<(), PipelineError> + Send + Sync + 'a>;
    let table = |write: fn(&Path, WindowFindings<'_>) -> Result<(), WriteError>| -> Write<'_> {
        Box::new(move |path| Ok(write(path, found)?))
    };
    // The longest first.
    let mut files: Vec<(&str, Write<'_>)> = vec![
        (ENTITIES, Box::new(|path| Ok(write_entities(path, found, seen_before)?))),
        (PART, Box::new(|path| Ok(write_packed_json(path, report)?))),
        ("transactions.parquet", table(write_transactions)),
        ("edges.parquet", table(write_edges)),
        ("clusters.parquet", table(write_clusters)),
        ("members.parquet", table(write_members)),
        ("known_bad.parquet", table(write_known_bad)),
        ("ended.parquet", table(write_ended)),
        (ACTIVE, table(write_active)),
    ];
    if let Some(scope) = arrays {
        files.push(("graph.npz", Box::new(move |path| Ok(write_gnn(path, found, scope)?))));
    }
    if let Some(EntityScores { scores, .. }) = found.scores {
        files.push((MODEL, Box::new(|path| Ok(write_json(path, &scores.scorecard)?))));
        files.push((REASONS, table(write_reasons)));
    }
    let write = |(name, write): &(&str, Write<'_>)| write(&folder.join(name));
    let written: Vec<_> = files.par_iter().with_max_len(1).map(write).collect();
    written.into_iter().collect()
}

/// Results of one window.
struct Found<'a> {
    window: &'a Window,
    entities: &'a Entities,
    held: &'a ActiveLists,
    lists: &'a Lists,
    findings: &'a Findings,
    feed: &'a Feed,
    scores: Option<EntityScores<'a>>,
    ties: &'a Ties,
}

/// Returns the peak memory of this process in bytes, if the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}
