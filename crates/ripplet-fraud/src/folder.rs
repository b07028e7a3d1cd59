//! The run folder: what a run writes, and from where it goes on after it was killed.
//!
//! ```text
//! RUN/
//!   manifest.json              version, options, inputs with hashes, counts, windows, timings
//!   report.html
//!   windows/
//!     0000-2024-05-31/         the window that ends at the end of 2024-05-30, UTC; all of it, or nothing
//!       window.json            its figures
//!       clusters, members, edges, transactions, known_bad, ended, entities, active (.parquet)
//!       graph.npz          arrays for graph neural networks
//!       report.json            its part of the report
//!       labels.checkpoint      where labels came, and …
//!       clusters.txt           … what clusters are called: the last window's alone, from which the next goes on
//! ```
//!
//! A window's folder is written under another name, synced, and renamed, so that it is there whole or not at all.
//! What was left of it by who was killed is removed by who goes on.

use crate::TimeRange;
use crate::detect::Spread;
use crate::evolution::{BadTracker, Tracker};
use crate::source::reader::Input;
use crate::stream::Counts;
use ripplet_graph::OutOfMemory;
use ripplet_io::write::{UnfinishedPaths, whole_file};
use ripplet_io::{ReadError, WriteError, checkpoint, read_small, read_small_text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What a run says about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of ripplet.
    pub ripplet: String,
    /// The form of the folder's files: [`FORMAT`].
    #[serde(default = "first_format")]
    pub format: u32,
    /// What decides the results, by name.
    pub options: BTreeMap<String, String>,
    /// What was read, in the order in which it was.
    pub inputs: Vec<Input>,
    /// What was counted.
    pub counts: Counts,
    /// The windows that are finished.
    pub windows: Vec<WindowRecord>,
    /// How it stands: `running`, `finished`, or why it ended.
    pub state: String,
    /// Transactions behind the end of the last window.
    pub transactions_behind: u64,
    /// Entries of the lists that named nobody who was ever seen.
    pub unseen: u64,
    /// Kind and id of the first of these.
    #[serde(default)]
    pub unseen_first: Vec<String>,
    /// Entries of the lists that hold at the end of no window, by their `from` and `until`.
    #[serde(default)]
    pub unheld: u64,
    /// Threads it ran on.
    pub threads: usize,
    /// Seconds since it began, or went on.
    pub seconds: f64,
}

/// The form of a run folder's files. A version of ripplet that cannot read what another wrote has another number.
pub const FORMAT: u32 = 1;

/// The form of manifests that do not say it.
fn first_format() -> u32 {
    1
}

/// The figures of a window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WindowRecord {
    /// Which it is, from 0.
    pub index: u32,
    /// Its first instant.
    pub from: String,
    /// The first instant behind it.
    pub until: String,
    /// Its folder.
    pub folder: String,
    /// Transactions in it.
    pub transactions: u64,
    /// Entities that were seen when it ended.
    pub vertices: u32,
    /// Arcs of its graph: two for each pair.
    pub arcs: u64,
    /// Who was known to be bad when it ended.
    pub known_bad: u64,
    /// Entries of the black list that held then and named nobody who was seen so far.
    pub known_bad_unseen: u64,
    /// Who was trusted.
    pub trusted: u64,
    /// The SHA-256 of the lists as they were then.
    pub lists_sha256: Vec<String>,
    /// Clusters that were found.
    pub clusters: u64,
    /// Their members.
    pub members: u64,
    /// Whether the graph was merged from the window before, and not built of its days.
    pub merged: bool,
    /// Whether its last day ended because the input did: if the run goes on, it is made again, since there may be more
    /// transactions of that day, or of its slide.
    #[serde(default)]
    pub cut: bool,
    /// Whether labels began where they were in the window before.
    pub warm: bool,
    /// Vertices whose lists changed since then; none where it was built.
    pub changed: Option<u64>,
    /// The share of the ties beyond chance that the weight keeps of those that plain counts of transactions have; none
    /// where edges weigh their counts, where these ties are too few for a cluster, or memory is scarce.
    #[serde(default)]
    pub weight_keeps: Option<f64>,
    /// Rounds of label propagation.
    pub rounds: u32,
    /// Arcs that were looked at in them.
    pub scanned: u64,
    /// Whether labels settled.
    pub converged: bool,
    /// Seconds, by what they went to.
    pub seconds: BTreeMap<String, f64>,
    /// Bytes planned: what is kept of the stream and the windows, and what detection takes beside.
    pub bytes_planned: BTreeMap<String, u64>,
    /// The most memory that the process had so far, where the system tells.
    pub bytes_peak: Option<u64>,
}

/// A run folder that cannot be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// There is a run in it.
    #[error("{} has a run in it already: go on with it (--resume), or name another folder", .0.display())]
    Taken(PathBuf),
    /// There is something else in it.
    #[error("{} is not empty, and no run is in it: name a new folder, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// There is no run in it.
    #[error("{} has no run in it: there is no manifest.json", .0.display())]
    NoRun(PathBuf),
    /// Another version of ripplet wrote it, in a form that this one does not read.
    #[error(
        "{} is a run folder of ripplet {version}, in another form than ripplet {} reads: run again into a new folder, or \
         use that version",
        path.display(), env!("CARGO_PKG_VERSION")
    )]
    OtherFormat {
        /// The folder.
        path: PathBuf,
        /// The version that wrote it.
        version: String,
    },
    /// Another version of ripplet wrote it, which may find other clusters.
    #[error(
        "ripplet {there} began the run in {}, and this is ripplet {here}, which may find other clusters: run again into a new \
         folder, or go on with that version",
        path.display()
    )]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// The version that wrote it.
        there: String,
        /// This version.
        here: String,
    },
    /// The run in it is another.
    #[error("the run in {} has {name} {there}, and here it is {here}: go on with the same options, or name another folder", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// What differs.
        name: String,
        /// As it is there.
        there: String,
        /// As it is here.
        here: String,
    },
    /// An input is another than it was.
    #[error(
        "{path} was replaced since the run read it: its windows stand on what it was. Begin a new run folder"
    )]
    Replaced {
        /// The input.
        path: String,
    },
    /// Inputs are others than they were.
    #[error(
        "the run began with {there}, and here {here} comes in its place: go on with the same inputs, in the same order"
    )]
    OtherInput {
        /// As it was.
        there: String,
        /// As it is.
        here: String,
    },
    /// The operating system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the run that is damaged.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of the run that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file that cannot be written.
    #[error("cannot write {0}")]
    Write(#[from] WriteError),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// A run folder.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// What a process that ends removes of a run without a window.
    begun: Option<UnfinishedPaths>,
    /// Folders that were made for it, the outermost first.
    made: Vec<PathBuf>,
}

const MANIFEST: &str = "manifest.json";
const WINDOWS: &str = "windows";
const REPORT: &str = "report.html";
const WINDOW: &str = "window.json";
const LABELS: &str = "labels.checkpoint";
const CLUSTERS: &str = "clusters.txt";
/// The table of entities that a window has first.
pub(crate) const ENTITIES: &str = "entities.parquet";
/// The table of who has transactions in a window.
pub(crate) const ACTIVE: &str = "active.parquet";
const UNFINISHED: &str = ".part-";
/// All files of a window.
const FILES: [&str; 13] = [
    "clusters.parquet",
    "members.parquet",
    "edges.parquet",
    "transactions.parquet",
    "known_bad.parquet",
    "ended.parquet",
    ENTITIES,
    ACTIVE,
    "graph.npz",
    "report.json",
    LABELS,
    CLUSTERS,
    WINDOW,
];

impl WindowRecord {
    /// Its first and its last day, in words.
    pub fn days(&self) -> String {
        match (self.from.parse(), self.until.parse()) {
            (Ok(from), Ok(until)) => TimeRange::new(from, until).to_string(),
            _ => format!("{} to {}", self.from, self.until),
        }
    }
}

/// What the next window goes on from.
#[derive(Debug)]
pub struct Kept {
    /// Where the labels came.
    pub spread: Spread,
    /// What clusters are called.
    pub tracker: Tracker,
}

impl RunFolder {
    /// Checks that a new run can have a folder, and that it can be written to; nothing is left there.
    ///
    /// A run that ended without a window leaves nothing. Older versions left its manifest: that is no run.
    ///
    /// # Errors
    /// Where there is another run, or anything else, in it, or the operating system refuses.
    pub fn check(path: &Path) -> Result<(), FolderError> {
        let folder = RunFolder { path: path.into(), begun: None, made: Vec::new() };
        if folder.manifest_path().exists() {
            return folder.check_format().and_then(|()| folder.check_left());
        }
        if path.is_dir() && !is_empty(path)? {
            return Err(FolderError::NotEmpty(path.into()));
        }
        let made = Made::folders(&folder.path.join(WINDOWS));
        made.map_err(|source| FolderError::Io { path: path.into(), source })?.remove();
        Ok(())
    }

    /// Begins a new run's folder with its manifest, which is made where it is not there.
    ///
    /// # Errors
    /// As [`RunFolder::check`]; the folder is as it was then.
    pub fn begin(path: &Path, manifest: &Manifest) -> Result<RunFolder, FolderError> {
        RunFolder::check(path)?;
        let mut folder = RunFolder { path: path.into(), begun: None, made: Vec::new() };
        if folder.manifest_path().exists() {
            folder.clear()?;
        }
        let windows = path.join(WINDOWS);
        let io = |source| FolderError::Io { path: windows.clone(), source };
        let mut begun = Made::missing(&windows);
        begun.push(folder.manifest_path());
        folder.begun = Some(UnfinishedPaths::list(begun).map_err(io)?);
        let made = Made::folders(&windows).map_err(io)?;
        // Without a manifest, nobody could go on with the run nor begin another.
        folder.write_manifest(manifest).inspect_err(|_| made.remove())?;
        folder.made = made.folders;
        Ok(folder)
    }

    /// Checks that what is there was left by a run without a window.
    fn check_left(&self) -> Result<(), FolderError> {
        let manifest = self.manifest()?;
        match !manifest.windows.is_empty() || ["running", "finished"].contains(&&*manifest.state) {
            true => Err(FolderError::Taken(self.path.clone())),
            false => Ok(()),
        }
    }

    /// Removes a run that has no finished window.
    ///
    /// # Errors
    /// Where the operating system refuses.
    pub fn remove(self) -> Result<(), FolderError> {
        self.remove_all()
    }

    fn remove_all(&self) -> Result<(), FolderError> {
        self.clear()?;
        match fs::remove_dir(&self.path) {
            // Another program may have put something there meanwhile.
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                Err(FolderError::Io { path: self.path.clone(), source: error })
            }
            _ => {
                // Those above it, as far as nothing else is in them.
                for folder in self.made.iter().rev() {
                    let _ = fs::remove_dir(folder);
                }
                Ok(())
            }
        }
    }

    /// Removes what a run left that ended by itself without a window.
    fn clear(&self) -> Result<(), FolderError> {
        self.tidy()?;
        let gone = |path: PathBuf, removed: io::Result<()>| match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FolderError::Io { path, source })
            }
            _ => Ok(()),
        };
        // The manifest last: who is killed before finds the same.
        let (report, windows) = (self.report(), self.path.join(WINDOWS));
        gone(report.clone(), fs::remove_file(&report))?;
        gone(windows.clone(), fs::remove_dir(&windows))?;
        gone(self.manifest_path(), fs::remove_file(self.manifest_path()))
    }

    /// Where the report is.
    pub fn report(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    /// The folder of a run that is to go on, or to be looked at.
    ///
    /// # Errors
    /// Where there is none.
    pub fn open(path: &Path) -> Result<RunFolder, FolderError> {
        let folder = RunFolder { path: path.into(), begun: None, made: Vec::new() };
        match folder.manifest_path().exists() {
            true => folder.check_format().map(|()| folder),
            false => Err(FolderError::NoRun(path.into())),
        }
    }

    /// Checks that the folder is of the form that this version reads, as far as its manifest says.
    fn check_format(&self) -> Result<(), FolderError> {
        let manifest: Value = read_json(&self.manifest_path())?;
        let format = manifest.get("format").map_or(Some(1), Value::as_u64);
        let version = manifest.get("ripplet").and_then(Value::as_str);
        let is_own = version == Some(env!("CARGO_PKG_VERSION"));
        // Before forms had numbers, a manifest lacked what later ones have.
        let is_read = is_own || serde_json::from_value::<Manifest>(manifest.clone()).is_ok();
        match version {
            Some(version) if format != Some(u64::from(FORMAT)) || !is_read => {
                Err(FolderError::OtherFormat {
                    path: self.path.clone(),
                    version: version.chars().take(40).filter(|c| !c.is_control()).collect(),
                })
            }
            _ => Ok(()),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn manifest_path(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// The manifest.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn manifest(&self) -> Result<Manifest, FolderError> {
        read_json(&self.manifest_path())
    }

    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// Where the operating system refuses.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), FolderError> {
        write_json(&self.manifest_path(), manifest)
    }

    /// The finished windows, in their order.
    ///
    /// # Errors
    /// Where they cannot be read, or one is missing between others.
    pub fn finished(&self) -> Result<Vec<WindowRecord>, FolderError> {
        let windows = self.path.join(WINDOWS);
        let failed = |source| FolderError::Io { path: windows.clone(), source };
        let mut records: Vec<WindowRecord> = Vec::new();
        for entry in fs::read_dir(&windows).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !entry.file_name().to_string_lossy().starts_with('.') {
                records.push(read_json(&entry.path().join(WINDOW))?);
            }
        }
        records.sort_by_key(|record| record.index);
        match records.iter().enumerate().find(|(at, record)| record.index as usize != *at) {
            Some((at, _)) => {
                Err(FolderError::Damaged { path: windows, why: format!("window {at} is missing") })
            }
            None => Ok(records),
        }
    }

    /// Removes what was left of windows that were not finished.
    ///
    /// # Errors
    /// Where the operating system refuses.
    pub fn tidy(&self) -> Result<(), FolderError> {
        let windows = self.path.join(WINDOWS);
        let failed = |source| FolderError::Io { path: windows.clone(), source };
        // Who was killed while it was cleared has none.
        let entries =
            if windows.exists() { Some(fs::read_dir(&windows).map_err(failed)?) } else { None };
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
        for left in ripplet_io::write::left_in(&self.path).map_err(failed)? {
            // It may be gone by now.
            let _ = fs::remove_file(left);
        }
        Ok(())
    }

    /// The folder of a finished window.
    pub fn window(&self, record: &WindowRecord) -> PathBuf {
        self.path.join(WINDOWS).join(&record.folder)
    }

    /// The folder of a window while it is written.
    fn unfinished(&self, record: &WindowRecord) -> PathBuf {
        self.path.join(WINDOWS).join(format!("{UNFINISHED}{}", record.folder))
    }

    /// Writes a window: `write` fills the folder that it is given, and the window is there once that, and what is
    /// kept for the next, is on the disk.
    ///
    /// # Errors
    /// Where `write` fails, or the operating system refuses; the window is not there then.
    pub fn write_window<E: From<FolderError>>(
        &mut self,
        record: &WindowRecord,
        kept: &Kept,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let windows = self.path.join(WINDOWS);
        let unfinished = self.unfinished(record);
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, source }
        };
        let files = FILES.iter().map(|name| unfinished.join(name));
        let paths = std::iter::once(unfinished.clone()).chain(files);
        let listed = UnfinishedPaths::list(paths.collect()).map_err(at(&unfinished))?;
        let finished = self.window(record);
        fs::create_dir(&unfinished).map_err(at(&unfinished))?;
        let begun = BegunWindow(&unfinished);
        write(&unfinished)?;
        kept.write(&unfinished)?;
        write_json(&unfinished.join(WINDOW), record)?;
        sync(&unfinished).map_err(at(&unfinished))?;
        std::mem::forget(begun);
        // From now on there is a window, which a process that ends leaves.
        self.begun = None;
        drop(listed);
        if let Err(source) = fs::rename(&unfinished, &finished) {
            remove_unfinished(&unfinished);
            return Err(FolderError::Io { path: finished, source }.into());
        }
        sync(&windows).map_err(at(&windows))?;
        Ok(())
    }

    /// Removes a window, to make it again.
    ///
    /// # Errors
    /// Where the operating system refuses.
    pub fn remove_window(&self, record: &WindowRecord) -> Result<(), FolderError> {
        let (path, gone) = (self.window(record), self.unfinished(record));
        let failed = |source| FolderError::Io { path: path.clone(), source };
        // Who is killed in between finds what is not finished.
        fs::rename(&path, &gone).map_err(failed)?;
        fs::remove_dir_all(&gone).map_err(failed)
    }

    /// What the window after this one goes on from.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn kept(&self, record: &WindowRecord) -> Result<Kept, FolderError> {
        Kept::read(&self.window(record))
    }

    /// Removes what was kept for the window after this one, which is finished too.
    ///
    /// # Errors
    /// Where the operating system refuses.
    pub fn forget(&self, record: &WindowRecord) -> Result<(), FolderError> {
        for name in [LABELS, CLUSTERS] {
            let path = self.window(record).join(name);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(FolderError::Io { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for RunFolder {
    /// Removes a run without a finished window if a panic ends it, as [`RunFolder::remove`] does after an error.
    fn drop(&mut self) {
        if self.begun.is_some() && std::thread::panicking() {
            let _ = self.remove_all();
        }
    }
}

/// The folder of a window that is being written; dropping it removes the folder, also if a table's writer panics
/// because memory is refused.
struct BegunWindow<'p>(&'p Path);

impl Drop for BegunWindow<'_> {
    fn drop(&mut self) {
        remove_unfinished(self.0);
    }
}

/// Removes the folder of a window that cannot be finished.
fn remove_unfinished(folder: &Path) {
    // What made the window unfinished is the error worth telling, not this one.
    let _ = fs::remove_dir_all(folder);
}

/// Whether a folder has nothing in it.
fn is_empty(path: &Path) -> Result<bool, FolderError> {
    let mut entries =
        fs::read_dir(path).map_err(|source| FolderError::Io { path: path.into(), source })?;
    Ok(entries.next().is_none())
}

/// Folders that were made, the outermost first; a process that ends removes them.
struct Made {
    folders: Vec<PathBuf>,
    _listed: UnfinishedPaths,
}

impl Made {
    /// A folder and those that it is in, as far as they are not there, the outermost first.
    fn missing(path: &Path) -> Vec<PathBuf> {
        let folders = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty());
        let mut missing: Vec<PathBuf> =
            folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Makes a folder, and those that it is in.
    fn folders(path: &Path) -> io::Result<Made> {
        let folders = Made::missing(path);
        let made = Made { _listed: UnfinishedPaths::list(folders.clone())?, folders };
        for folder in &made.folders {
            if let Err(error) = fs::create_dir(folder) {
                // Those behind it are not there.
                made.remove();
                return Err(error);
            }
        }
        Ok(made)
    }

    /// Removes them again, as far as nobody put anything there.
    fn remove(&self) {
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes what was renamed in a folder survive a power cut, where the system offers that.
fn sync(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

impl Kept {
    fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let Kept { spread, tracker } = self;
        let strengths: Vec<u32> = spread.strengths.iter().map(|value| value.to_bits()).collect();
        let state = checkpoint::State {
            run: "ripplet fraud",
            rounds: &[],
            labels: &spread.labels,
            active: &[],
            columns: &[&strengths],
        };
        checkpoint::write(&folder.join(LABELS), &state)?;
        whole_file(&folder.join(CLUSTERS), |out| write!(out, "{tracker}"))?;
        Ok(())
    }

    fn read(folder: &Path) -> Result<Kept, FolderError> {
        let path = folder.join(LABELS);
        let state = checkpoint::open(&path)?;
        let damaged = |why: &str| FolderError::Damaged { path: path.clone(), why: why.into() };
        let [strengths] = &*state.columns else { return Err(damaged("strengths are missing")) };
        if strengths.len() != state.labels.len() {
            return Err(damaged("there are not as many strengths as labels"));
        }
        let spread = Spread {
            labels: state.labels.to_vec(),
            strengths: strengths.iter().map(|bits| f32::from_bits(*bits)).collect(),
            rounds: Vec::new(),
            converged: true,
        };
        let path = folder.join(CLUSTERS);
        let text = read_small_text(&path, LARGEST_STATE, "the clusters that a run kept")?;
        let tracker = text
            .parse()
            .map_err(|error: BadTracker| FolderError::Damaged { path, why: error.to_string() })?;
        Ok(Kept { spread, tracker })
    }
}

impl Manifest {
    /// What differs in another run's options, first of all.
    pub fn difference(&self, options: &BTreeMap<String, String>) -> Option<[String; 3]> {
        let names = self.options.keys().chain(options.keys());
        let value = |of: &BTreeMap<String, String>, name: &str| {
            of.get(name).cloned().unwrap_or_else(|| "nothing".into())
        };
        let triple =
            |name: &String| [name.clone(), value(&self.options, name), value(options, name)];
        names.map(triple).find(|[_, there, here]| there != here)
    }

    /// Checks that inputs are those that were read before, as far as both go.
    ///
    /// # Errors
    /// Where one was replaced, or another comes in its place.
    pub fn check_inputs(&self, inputs: &[Input]) -> Result<(), FolderError> {
        for (there, here) in self.inputs.iter().zip(inputs) {
            if there.path != here.path {
                let (there, here) = (there.path.clone(), here.path.clone());
                return Err(FolderError::OtherInput { there, here });
            }
            if there.sha256 != here.sha256 {
                return Err(FolderError::Replaced { path: here.path.clone() });
            }
        }
        Ok(())
    }
}

/// Writes JSON for people and programs, whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    whole_file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}

/// Bytes that a text of a run's folder has at most: clusters of a hundred million members.
const LARGEST_STATE: u64 = 1 << 30;

/// Reads JSON.
pub(crate) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, FolderError> {
    let text = read_small(path, LARGEST_STATE, "what a run kept")?;
    serde_json::from_slice(&text)
        .map_err(|error| FolderError::Damaged { path: path.into(), why: error.to_string() })
}
