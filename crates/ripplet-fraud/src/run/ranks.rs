//! Runs that ranks share: each has a window of every round.
//!
//! ```text
//! round     0               1                each rank reads all transactions, and slides over all windows
//! rank 0    window 0        window 3         detect, evidence ─▶ take ─▶ ids, regression ─▶ pass ─▶ score, write ─▶ rank 0
//! rank 1      window 1        window 4                            ▲                          │                      commits
//! rank 2        window 2        window 5                          └──── the window before    ▼ the next one         in order
//! ```
//!
//! A window takes from the one before the ids of clusters and the weights of regressions. These go from rank to rank in the
//! order of the windows; all before and after is computed at the same time. Windows get their names on rank 0, in order,
//! so that a run that was killed has no gap.

use super::session::{Chain, Given, Passed, Session, Written};
use super::{PipelineError, PipelineObserver, RunOptions, begin};
use crate::detect::Spread;
use crate::evolution::BadTracker;
use crate::feed::{Feed, FeedError};
use crate::folder::{Manifest, RunFolder, WindowRecord};
use crate::model::Earlier;
use crate::seeds;
use crate::source::SourceError;
use crate::source::postgres::Snapshot;
use crate::source::reader::{ReaderError, Sources};
use crate::source::row_hash::{BLOCK, RowHash};
use ripplet_lp::Executor;
use ripplet_ranks::Comm;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Runs detection as [`run`](super::run) does, together with other ranks; all call it with the same options.
///
/// The run folder has the files of one process, apart from times and memory. It is on a disk that all ranks share: each
/// writes the windows that it has. Rank 0 alone writes the manifest and the report, and its observer alone is called for
/// windows. Each rank reads all inputs and lists, which are compared: settings and lists before the run, and the SHA-256 of each file
/// before windows that it is in are finished. A query of PostgreSQL reads one snapshot on all ranks, which rank 0 exports. Rows of
/// queries and of tables in memory are hashed, and compared before a window of them is finished. Messages of a window: the members of its clusters and the weights of
/// scorecards, as text, from one rank to all.
///
/// # Errors
/// All errors of [`run`](super::run); also if ranks differ in settings, lists, inputs or rows, if windows start from the labels of those before, if the input is followed, or if
/// results go to a database. If another rank failed, [`PipelineError::Elsewhere`]. After [`PipelineError::Ranks`], and after the observer
/// cancelled, the other ranks wait until this one ends or [aborts](Comm::abort).
pub fn run_on_ranks(
    executor: &dyn Executor,
    options: &RunOptions,
    path: &Path,
    resume: bool,
    observer: &mut dyn PipelineObserver,
    comm: &mut Comm,
) -> Result<Manifest, PipelineError> {
    options.check()?;
    options.check_on_ranks()?;
    options.compare(comm)?;
    let own = match comm.rank() {
        0 => begin(executor, options, path, resume).map(Some),
        _ => Ok(None),
    };
    let beginning = own.as_ref().ok().and_then(Option::as_ref).map(Beginning::of);
    let text = beginning.map_or_else(Vec::new, |beginning| json(&beginning));
    let received = comm.all_gather("beginning of a run", &text)?;
    let mut session = match own? {
        Some(session) => session,
        None => Beginning::read(received.of(0))?.session(executor, options, path),
    };
    drop(received);
    let end = session.windows_on_ranks(observer, comm);
    match comm.rank() {
        0 => session.finish(end),
        _ => end.map(|()| session.manifest),
    }
}

impl RunOptions {
    /// Refuses what ranks cannot share.
    fn check_on_ranks(&self) -> Result<(), PipelineError> {
        let refused = [
            (
                "a run whose windows start from the labels of those before",
                !self.exact,
                "add --exact, or run it in one process",
            ),
            (
                "following the input",
                self.feed.reading.follow.is_some(),
                "leave --follow out, or run it in one process",
            ),
            (
                "writing to a database",
                self.database.is_some(),
                "leave --to-postgres out; one process with --resume writes finished windows to it",
            ),
        ];
        match refused.into_iter().find(|(_, is_asked, _)| *is_asked) {
            Some((what, _, help)) => Err(PipelineError::NotOnRanks { what, help }),
            None => Ok(()),
        }
    }

    /// Refuses settings and lists that differ between the ranks.
    fn compare(&self, comm: &mut Comm) -> Result<(), PipelineError> {
        let own = self.compared();
        let text = json(&own.as_ref().map_err(ToString::to_string));
        let received = comm.all_gather("settings of a run", &text)?;
        own?;
        let mut all = Vec::new();
        for (rank, text) in received.iter().enumerate() {
            let settings = serde_json::from_slice::<Result<BTreeMap<String, String>, String>>(text);
            let settings = settings.unwrap_or_else(|_| Err(String::new()));
            all.push(settings.map_err(|sentence| of_rank(rank, sentence))?);
        }
        for (rank, settings) in all.iter().enumerate() {
            let mut names = all[0].keys().chain(settings.keys());
            if let Some(name) = names.find(|&name| settings.get(name) != all[0].get(name)) {
                return Err(PipelineError::RanksDiffer { rank, what: name.clone() });
            }
        }
        Ok(())
    }

    /// Returns what is the same on all ranks, by name.
    fn compared(&self) -> Result<BTreeMap<String, String>, PipelineError> {
        let mut all = self.described();
        let lists = [
            ("table of entities", &self.entity_table),
            ("list of known bad", &self.known_bad),
            ("list of trusted", &self.trusted),
            ("list of confirmed", &self.confirmed),
            ("list of cleared", &self.cleared),
        ];
        for (name, list) in lists {
            if let Some(list) = list {
                all.insert(name.into(), seeds::fingerprint(list)?);
            }
        }
        Ok(all)
    }
}

/// What the other ranks get from rank 0 before the first window.
#[derive(Serialize, Deserialize)]
struct Beginning {
    manifest: Manifest,
    before: Option<Manifest>,
}

impl Beginning {
    fn of(session: &Session<'_>) -> Beginning {
        Beginning { manifest: session.manifest.clone(), before: session.before.clone() }
    }

    /// Reads what rank 0 has sent: nothing if it failed.
    fn read(text: &[u8]) -> Result<Beginning, PipelineError> {
        serde_json::from_slice(text).map_err(|_| of_rank(0, String::new()))
    }

    fn session<'a>(
        self,
        executor: &'a dyn Executor,
        options: &'a RunOptions,
        path: &'a Path,
    ) -> Session<'a> {
        Session::new(executor, options, path, self.manifest, self.before)
    }
}

/// The end of a rank's window, as all ranks get it.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Slot {
    /// It passed on the ids of clusters, as text, and the weights of scorecards.
    Passed(String, Earlier),
    /// There is no such window.
    Over,
    /// The rank failed.
    Failed(String),
}

/// A round: a window of each rank.
struct Round<'c> {
    comm: &'c mut Comm,
    /// The next rank whose slot is exchanged.
    next: usize,
    /// What the last window has passed.
    passed: Passed,
    /// The first slot without a window, after which none is exchanged.
    end: Option<(usize, Slot)>,
    /// Whether the run folder was created, and is the same for all ranks.
    has_folder: bool,
    /// The number of inputs that all ranks have opened, and that are the same.
    compared: usize,
    /// Name of an input without a checksum.
    without_checksum: Option<String>,
    /// The number of hashes of its rows that all ranks have, and that are the same.
    compared_rows: usize,
}

impl Round<'_> {
    /// Exchanges the next slot, of which `own` is what this rank has.
    fn exchange(&mut self, own: Option<&Slot>) -> Result<(), PipelineError> {
        let text = own.map_or_else(Vec::new, json);
        let received = self.comm.all_gather("end of a window", &text)?;
        let rank = self.next;
        let slot = serde_json::from_slice(received.of(rank)).ok();
        self.next += 1;
        match slot {
            Some(Slot::Passed(tracker, earlier)) => {
                let tracker = tracker.parse();
                self.passed =
                    (tracker.map_err(|bad: BadTracker| of_rank(rank, bad.to_string()))?, earlier);
            }
            Some(end) => self.end = Some((rank, end)),
            None => self.end = Some((rank, Slot::Failed(String::new()))),
        }
        Ok(())
    }

    /// Exchanges the slots of the ranks before `end`.
    fn up_to(&mut self, end: usize) -> Result<(), PipelineError> {
        while self.next < end && self.end.is_none() {
            self.exchange(None)?;
        }
        Ok(())
    }

    /// Exchanges all slots: this rank has no window, or failed, and says so unless it has said what it has.
    fn close(&mut self, own: &Slot) -> Result<(), PipelineError> {
        let rank = self.comm.rank();
        self.up_to(rank)?;
        if self.end.is_none() && self.next == rank {
            self.exchange(Some(own))?;
        }
        self.up_to(self.comm.size())
    }

    /// Creates the run folder on rank 0, before the first windows are written, and finds it on the others.
    fn share_folder(&mut self, session: &mut Session<'_>) -> Result<(), PipelineError> {
        if self.has_folder || self.windows() == 0 {
            return Ok(());
        }
        let begun = if self.comm.rank() == 0 { session.begin_folder() } else { Ok(()) };
        self.has_folder = true;
        self.agree("folder of a run", begun)?;
        // If a rank does not find it, no window is finished.
        self.agree("folders of a run", session.find_folder())
    }

    /// Ends a step of all ranks: returns the error of this one, or else that of the first that has one.
    fn agree(
        &mut self,
        purpose: &'static str,
        own: Result<(), PipelineError>,
    ) -> Result<(), PipelineError> {
        let sentence = own.as_ref().err().map(ToString::to_string);
        let received = self.comm.all_gather(purpose, &json(&sentence))?;
        own?;
        let sentences = received.iter().map(serde_json::from_slice::<Option<String>>);
        match sentences.enumerate().find_map(|(rank, sentence)| Some((rank, sentence.ok()??))) {
            Some((rank, sentence)) => Err(of_rank(rank, sentence)),
            None => Ok(()),
        }
    }

    /// Refuses inputs of which the ranks have others; a rank may have opened more than another one.
    fn compare_inputs(&mut self, opened: &Opened) -> Result<(), PipelineError> {
        let inputs = opened.as_ref().map_or(&[][..], |(feed, _)| feed.inputs());
        let new = inputs.iter().skip(self.compared);
        let own: Vec<(&str, &str)> = new
            .map(|input| (input.path.as_str(), input.sha256.as_deref().unwrap_or_default()))
            .collect();
        let received = self.comm.all_gather("inputs of a run", &json(&own))?;
        let all = received.iter().map(serde_json::from_slice::<Vec<(String, String)>>);
        let all: Vec<Vec<(String, String)>> = all.map(Result::unwrap_or_default).collect();
        for (rank, inputs) in all.iter().enumerate() {
            let mut both = all[0].iter().zip(inputs);
            if let Some((first, _)) = both.find(|(first, other)| first.1 != other.1) {
                return Err(PipelineError::RanksDiffer { rank, what: first.0.clone() });
            }
        }
        self.compared += all.iter().map(Vec::len).min().unwrap_or(0);
        Ok(())
    }

    /// Refuses rows of an input without a checksum that differ between the ranks. Each rank first reads as far as that which
    /// has read most, so that all rows of the round's windows are compared.
    fn compare_rows(
        &mut self,
        opened: &mut Opened,
        observer: &dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        let Some(input) = &self.without_checksum else { return Ok(()) };
        let own = opened.as_ref().map_or(0, |(feed, _)| feed.hashes_of_rows());
        let most = self.comm.all_reduce("rows that were read", own as u64, u64::max)?;
        let mut own: &[RowHash] = &[];
        if let Some((feed, _)) = opened {
            feed.read_ahead(most as usize, || observer.is_cancelled())?;
            own = feed.hashes().get(self.compared_rows..).unwrap_or_default();
        }
        let received = self.comm.all_gather("hashes of rows", own)?;
        let counts = || received.iter().map(<[_]>::len);
        // Rank 0, unless it could not read as far as another one.
        let longest = counts().max().unwrap_or(0);
        let other = counts().position(|count| count == longest).unwrap_or(0);
        for (rank, hashes) in received.iter().enumerate() {
            let mut both = received.of(other).iter().zip(hashes);
            if let Some(block) = both.position(|(expected, found)| expected != found) {
                let row = ((self.compared_rows + block) * BLOCK) as u64 + 1;
                return Err(PipelineError::RowsDiffer { input: input.clone(), rank, other, row });
            }
        }
        self.compared_rows += counts().min().unwrap_or(0);
        Ok(())
    }

    /// Returns the number of windows in the round.
    fn windows(&self) -> usize {
        self.end.as_ref().map_or(self.comm.size(), |(rank, _)| *rank)
    }
}

impl Chain for Round<'_> {
    fn take(&mut self) -> Result<Passed, PipelineError> {
        self.up_to(self.comm.rank())?;
        match &self.end {
            Some((rank, slot)) => Err(slot.failure(*rank)),
            None => Ok(std::mem::take(&mut self.passed)),
        }
    }

    fn pass(&mut self, (tracker, earlier): &Passed) -> Result<(), PipelineError> {
        self.exchange(Some(&Slot::Passed(tracker.to_string(), earlier.clone())))?;
        // The ranks after this one do not wait for what it computes next.
        self.up_to(self.comm.size())
    }

    fn begin_folder(&mut self, session: &mut Session<'_>) -> Result<(), PipelineError> {
        self.share_folder(session)
    }
}

impl Slot {
    /// Returns the error of a rank that waits for a window which does not come.
    fn failure(&self, rank: usize) -> PipelineError {
        match self {
            Slot::Failed(sentence) => of_rank(rank, sentence.clone()),
            _ => of_rank(rank, String::new()),
        }
    }
}

/// What a rank has written in a round.
#[derive(Serialize, Deserialize)]
enum Output {
    /// A window, in its temporary folder.
    Window(Box<WindowRecord>),
    /// No window.
    Nothing,
    /// An error.
    Failed(String),
}

/// What a rank has read.
type Opened = Option<(Feed, Given)>;

impl Session<'_> {
    /// Processes the windows of the feed together with other ranks.
    fn windows_on_ranks(
        &mut self,
        observer: &mut dyn PipelineObserver,
        comm: &mut Comm,
    ) -> Result<(), PipelineError> {
        let (rank, size) = (comm.rank(), comm.size());
        let without_checksum = match size {
            1 => None,
            _ => self.options.feed.sources.without_checksum(),
        };
        self.reading.is_hashed = without_checksum.is_some();
        let (mut opened, mut skipped) = (None, rank);
        let mut round = Round {
            comm,
            next: 0,
            passed: Passed::default(),
            end: None,
            has_folder: false,
            compared: 0,
            without_checksum,
            compared_rows: 0,
        };
        self.open_at_snapshot(&mut opened, &mut round, observer)?;
        let mut is_first = true;
        loop {
            let own = self.own_window(&mut opened, (is_first, skipped), &mut round, observer);
            if own.is_err() && observer.is_cancelled() {
                // The others wait for this rank, whose end ends them.
                return own.map(drop);
            }
            self.end_round(own, &mut opened, &mut round, observer)?;
            if let Some((last, slot)) = &round.end {
                self.catch_up(&mut opened, last.saturating_sub(rank), observer)?;
                let (Slot::Over, Some((feed, given))) = (slot, &mut opened) else {
                    return Err(slot.failure(*last));
                };
                return self.end(feed, given, observer);
            }
            (round.next, skipped, is_first) = (0, size - 1, false);
        }
    }

    /// Exports a snapshot of the database on rank 0, if the input is a query of PostgreSQL, so that all ranks read the same rows.
    /// Rank 0 keeps what is returned until all have opened the query.
    fn share_snapshot(&mut self, comm: &mut Comm) -> Result<Option<Snapshot>, PipelineError> {
        let Sources::Query { server, .. } = &self.options.feed.sources else { return Ok(None) };
        if comm.size() == 1 {
            return Ok(None);
        }
        let own = if comm.rank() == 0 { Some(Snapshot::export(server)) } else { None };
        let id: Option<Result<&str, String>> =
            own.as_ref().map(|own| own.as_ref().map(Snapshot::id).map_err(ToString::to_string));
        let received = comm.all_gather("snapshot of a database", &json(&id))?;
        let failed = |error: SourceError| FeedError::from(ReaderError::from(error));
        let own = own.transpose().map_err(failed)?;
        let id = serde_json::from_slice::<Option<Result<String, String>>>(received.of(0));
        let id = id.ok().flatten().unwrap_or_else(|| Err(String::new()));
        let snapshot = Some(id.map_err(|sentence| of_rank(0, sentence))?);
        self.reading.snapshot = snapshot;
        Ok(own)
    }

    /// Begins to read a query of PostgreSQL on all ranks, from one snapshot. If a rank cannot, there is no window. Does nothing
    /// for other inputs.
    fn open_at_snapshot(
        &mut self,
        opened: &mut Opened,
        round: &mut Round<'_>,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        let _until_all_have_opened_it = self.share_snapshot(round.comm)?;
        if self.reading.snapshot.is_none() {
            return Ok(());
        }
        let begun = self.open(opened, observer);
        if begun.is_err() && observer.is_cancelled() {
            // The others wait for this rank, whose end ends them.
            return begun;
        }
        round.agree("begin of a query", begun)
    }

    /// Begins to read, and waits until the input is opened.
    fn open(
        &self,
        opened: &mut Opened,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        let (feed, _) = opened.insert(self.begin(observer)?);
        Ok(feed.open(|| observer.is_cancelled())?)
    }

    /// Moves past the windows of other ranks, and computes and writes the next one; `None` if there is none.
    fn own_window(
        &mut self,
        opened: &mut Opened,
        (is_first, skipped): (bool, usize),
        round: &mut Round<'_>,
        observer: &mut dyn PipelineObserver,
    ) -> Result<Option<Written>, PipelineError> {
        let (feed, given) = match opened {
            Some(opened) => opened,
            None => opened.insert(self.begin(observer)?),
        };
        let mut next = match is_first {
            true => {
                let kept = self.kept()?;
                round.passed = (kept.tracker, kept.earlier);
                self.after_finished(feed, given, observer)?
            }
            false => self.next(feed, given, observer)?,
        };
        for _ in 0..skipped {
            if next.is_none() {
                return Ok(None);
            }
            self.pass(feed)?;
            next = self.next(feed, given, observer)?;
        }
        let Some(read) = next else { return Ok(None) };
        // Labels start anew.
        let last = Spread::default();
        self.window(feed, given, &last, round, (read, observer)).map(Some)
    }

    /// Ends a round: on rank 0, windows that were written get their names. Returns the error of this rank, or that of the
    /// first window that was not written.
    fn end_round(
        &mut self,
        own: Result<Option<Written>, PipelineError>,
        opened: &mut Opened,
        round: &mut Round<'_>,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        if let Err(PipelineError::Ranks(_)) = &own {
            return own.map(drop);
        }
        round.close(&match &own {
            Ok(_) => Slot::Over,
            Err(error) => Slot::Failed(error.to_string()),
        })?;
        let own = match round.share_folder(self) {
            Err(error @ PipelineError::Ranks(_)) => return Err(error),
            shared => shared.and(own),
        };
        let compared =
            round.compare_inputs(opened).and_then(|()| round.compare_rows(opened, observer));
        if let Err(error) = compared {
            // Rank 0 removes the folder of a run without a window, when what all have in it is gone.
            drop(own);
            if let PipelineError::RanksDiffer { .. } | PipelineError::RowsDiffer { .. } = error {
                round.comm.barrier("removed windows")?;
            }
            return Err(error);
        }
        let (rank, windows) = (round.comm.rank(), round.windows());
        if windows == 0 {
            return own.map(drop);
        }
        let output = match &own {
            Ok(Some(written)) => Output::Window(Box::new(written.record.clone())),
            Ok(None) => Output::Nothing,
            Err(error) => Output::Failed(error.to_string()),
        };
        let received = round.comm.all_gather("written windows", &json(&output))?;
        let outputs = received.iter().take(windows).map(serde_json::from_slice);
        let (mut records, mut failed) = (Vec::new(), None);
        for (slot, output) in outputs.enumerate() {
            match output {
                Ok(Output::Window(record)) => records.push(*record),
                Ok(Output::Failed(sentence)) => failed = failed.or(Some((slot, sentence))),
                _ => failed = failed.or(Some((slot, String::new()))),
            }
            if failed.is_some() {
                break;
            }
        }
        let mut finished = Ok(());
        if rank == 0 {
            finished = records.iter().try_for_each(|record| self.commit(record.clone(), observer));
        }
        let sentence = finished.as_ref().err().map(ToString::to_string);
        let named = json(&(self.manifest.windows.len(), sentence));
        let received = round.comm.all_gather("finished windows", &named)?;
        let (count, sentence) =
            serde_json::from_slice::<(usize, Option<String>)>(received.of(0)).unwrap_or_default();
        let before = records.first().map_or(count, |record| record.index as usize);
        let named = count.saturating_sub(before).min(records.len());
        if rank > 0 {
            self.manifest.windows.extend(records.drain(..named));
        }
        // What did not get its name is removed here.
        drop(own?);
        finished?;
        match sentence.map(|sentence| (0, sentence)).or(failed) {
            Some((rank, sentence)) => Err(of_rank(rank, sentence)),
            None => Ok(()),
        }
    }

    /// Reads up to the end of a window that another rank could not compute, or that does not exist. An error of the input, and
    /// the counts of rows, are then equal on both.
    fn catch_up(
        &mut self,
        opened: &mut Opened,
        windows: usize,
        observer: &mut dyn PipelineObserver,
    ) -> Result<(), PipelineError> {
        let Some((feed, given)) = opened else { return Ok(()) };
        for window in 1..=windows {
            if self.next(feed, given, observer)?.is_none() {
                break;
            }
            if window < windows {
                feed.pass();
            }
        }
        Ok(())
    }

    /// Finds the run folder that rank 0 has created.
    fn find_folder(&mut self) -> Result<(), PipelineError> {
        if self.folder.is_some() {
            return Ok(());
        }
        let other = || PipelineError::OtherFolder(self.path.into());
        let folder = RunFolder::open(self.path).map_err(|_| other())?;
        match folder.manifest() {
            Ok(manifest) if manifest.run_id == self.manifest.run_id => self.folder = Some(folder),
            _ => return Err(other()),
        }
        Ok(())
    }
}

/// Returns the error of another rank.
fn of_rank(rank: usize, sentence: String) -> PipelineError {
    let sentence =
        if sentence.is_empty() { format!("rank {rank} has no window") } else { sentence };
    PipelineError::Elsewhere { rank, sentence }
}

/// Returns a value as text.
fn json(value: &impl Serialize) -> Vec<u8> {
    // Numbers, texts and lists: nothing that JSON cannot express.
    serde_json::to_vec(value).unwrap_or_default()
}
