//! Run folder: the files that a run writes, and the state from which a killed run resumes.
//!
//! ```text
//! RUN/
//!   manifest.json              version, options, inputs with hashes, counts, windows, timings
//!   report.html
//!   windows/
//!     0000-2024-05-31/         the window that ends at the end of 2024-05-30, UTC; complete, or absent
//!       window.json            its figures
//!       clusters, members, edges, transactions, known_bad, ended, entities, active (.parquet)
//!       graph.npz          arrays for graph neural networks
//!       report.json            its part of the report
//!       labels.checkpoint      labels and strengths, and …
//!       clusters.txt           … ids of clusters: of the last window alone, from which the run resumes
//! ```
//!
//! A window's folder is written under a temporary name, synced, and renamed, so that it is either complete or
//! absent. A resumed run removes what a killed one left.

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

/// Contents of `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of ripplet that wrote the run.
    pub ripplet: String,
    /// Version of the folder's file formats: [`FORMAT`].
    #[serde(default = "first_format")]
    pub format: u32,
    /// Settings that decide the results, by name.
    pub options: BTreeMap<String, String>,
    /// Inputs, in the order in which they were read.
    pub inputs: Vec<Input>,
    /// Counters of rows.
    pub counts: Counts,
    /// Records of the finished windows.
    pub windows: Vec<WindowRecord>,
    /// State of the run: `running`, `finished`, or why it ended.
    pub state: String,
    /// Number of transactions after the end of the last window.
    pub transactions_behind: u64,
    /// Number of list entries whose entity was never seen.
    pub unseen: u64,
    /// Kind and id of the first of these.
    #[serde(default)]
    pub unseen_first: Vec<String>,
    /// Number of list entries that are active at the end of no window, by their `from` and `until`.
    #[serde(default)]
    pub unheld: u64,
    /// Number of threads.
    pub threads: usize,
    /// Seconds since the run started, or was resumed.
    pub seconds: f64,
}

/// Version of a run folder's file formats; it changes whenever older versions of ripplet cannot read the
/// files.
pub const FORMAT: u32 = 1;

/// Format of manifests without a format number.
fn first_format() -> u32 {
    1
}

/// Contents of `window.json`: the figures of one window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WindowRecord {
    /// Number of the window, from 0.
    pub index: u32,
    /// First instant of the window.
    pub from: String,
    /// First instant after the window.
    pub until: String,
    /// Name of its folder.
    pub folder: String,
    /// Number of transactions in the window.
    pub transactions: u64,
    /// Number of entities seen when the window ended.
    pub vertices: u32,
    /// Arcs of its graph: two for each pair.
    pub arcs: u64,
    /// Number of known bad entities when the window ended.
    pub known_bad: u64,
    /// Number of deny list entries active then whose entity was not seen so far.
    pub known_bad_unseen: u64,
    /// Number of trusted entities.
    pub trusted: u64,
    /// SHA-256 of the lists at that time.
    pub lists_sha256: Vec<String>,
    /// Number of clusters.
    pub clusters: u64,
    /// Number of members of clusters.
    pub members: u64,
    /// Whether the graph was merged from the previous window instead of built of all its days.
    pub merged: bool,
    /// Whether its last day ended because the input did. A resumed run builds it again, since there may be
    /// more transactions of that day or slide.
    #[serde(default)]
    pub cut: bool,
    /// Whether labels started from the previous window.
    pub warm: bool,
    /// Number of vertices whose lists changed since the previous window; `None` if the graph was built anew.
    pub changed: Option<u64>,
    /// Share of the significant ties of plain transaction counts that the weight keeps. `None` if weights are
    /// counts, if these ties are too few for a cluster, or if memory is scarce.
    #[serde(default)]
    pub weight_keeps: Option<f64>,
    /// Rounds of label propagation.
    pub rounds: u32,
    /// Arcs scanned in these rounds.
    pub scanned: u64,
    /// Whether labels converged.
    pub converged: bool,
    /// Seconds by stage.
    pub seconds: BTreeMap<String, f64>,
    /// Planned bytes by purpose: the state of the stream and the windows, and the working memory of
    /// detection.
    pub bytes_planned: BTreeMap<String, u64>,
    /// Peak memory of the process in bytes, if the system reports it.
    pub bytes_peak: Option<u64>,
}

/// Error of a run folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder already has a run.
    #[error("{} has a run in it already: go on with it (--resume), or name another folder", .0.display())]
    Taken(PathBuf),
    /// The folder has other files.
    #[error("{} is not empty, and no run is in it: name a new folder, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The folder has no run.
    #[error("{} has no run in it: there is no manifest.json", .0.display())]
    NoRun(PathBuf),
    /// Another version of ripplet wrote the folder, in a format that this one does not read.
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
        /// Version that wrote the folder.
        there: String,
        /// This version.
        here: String,
    },
    /// The folder has a run with other options.
    #[error("the run in {} has {name} {there}, and here it is {here}: go on with the same options, or name another folder", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// Name of the setting that differs.
        name: String,
        /// Value in the folder.
        there: String,
        /// Value of this run.
        here: String,
    },
    /// An input changed since the run read it.
    #[error(
        "{path} was replaced since the run read it: its windows stand on what it was. Begin a new run folder"
    )]
    Replaced {
        /// The input.
        path: String,
    },
    /// Inputs differ from those of the run.
    #[error(
        "the run began with {there}, and here {here} comes in its place: go on with the same inputs, in the same order"
    )]
    OtherInput {
        /// Input that the run read.
        there: String,
        /// Input in its place.
        here: String,
    },
    /// The operating system returned an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// A file of the run is damaged.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of the run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error("cannot write {0}")]
    Write(#[from] WriteError),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// Run folder on disk.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Paths that a terminating process removes while the run has no window.
    begun: Option<UnfinishedPaths>,
    /// Folders that were created for the run, outermost first.
    made: Vec<PathBuf>,
}

const MANIFEST: &str = "manifest.json";
const WINDOWS: &str = "windows";
const REPORT: &str = "report.html";
const WINDOW: &str = "window.json";
const LABELS: &str = "labels.checkpoint";
const CLUSTERS: &str = "clusters.txt";
/// First table of entities of a window.
pub(crate) const ENTITIES: &str = "entities.parquet";
/// Table of the entities with transactions in a window.
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
    /// Formats its first and last day.
    pub fn days(&self) -> String {
        match (self.from.parse(), self.until.parse()) {
            (Ok(from), Ok(until)) => TimeRange::new(from, until).to_string(),
            _ => format!("{} to {}", self.from, self.until),
        }
    }
}

/// State from which the next window starts.
#[derive(Debug)]
pub struct ResumeState {
    /// Labels and strengths.
    pub spread: Spread,
    /// Ids of clusters.
    pub tracker: Tracker,
}

impl RunFolder {
    /// Checks that a new run can have a folder, and that it can be written to; nothing is left there.
    ///
    /// A run that ended without a window leaves nothing. Older versions left its manifest: that is no run.
    ///
    /// # Errors
    /// If there is another run, or anything else, in it, or the operating system refuses.
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
    /// See [`RunFolder::check`]; the folder is as it was then.
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
        // Without a manifest, the run could neither be resumed nor replaced.
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
    /// If the operating system refuses.
    pub fn remove(self) -> Result<(), FolderError> {
        self.remove_all()
    }

    fn remove_all(&self) -> Result<(), FolderError> {
        self.clear()?;
        match fs::remove_dir(&self.path) {
            // Another program may have created files there meanwhile.
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                Err(FolderError::Io { path: self.path.clone(), source: error })
            }
            _ => {
                // Its parents, if they are empty.
                for folder in self.made.iter().rev() {
                    let _ = fs::remove_dir(folder);
                }
                Ok(())
            }
        }
    }

    /// Removes the files of a run that ended in an error without a window.
    fn clear(&self) -> Result<(), FolderError> {
        self.tidy()?;
        let gone = |path: PathBuf, removed: io::Result<()>| match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(FolderError::Io { path, source })
            }
            _ => Ok(()),
        };
        // The manifest last: if the process is killed before, the next call finds the same state.
        let (report, windows) = (self.report(), self.path.join(WINDOWS));
        gone(report.clone(), fs::remove_file(&report))?;
        gone(windows.clone(), fs::remove_dir(&windows))?;
        gone(self.manifest_path(), fs::remove_file(self.manifest_path()))
    }

    /// Returns the path of the report.
    pub fn report(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    /// The folder of a run that is to go on, or to be examined.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> Result<RunFolder, FolderError> {
        let folder = RunFolder { path: path.into(), begun: None, made: Vec::new() };
        match folder.manifest_path().exists() {
            true => folder.check_format().map(|()| folder),
            false => Err(FolderError::NoRun(path.into())),
        }
    }

    /// Checks that this version reads the folder's format, according to its manifest.
    fn check_format(&self) -> Result<(), FolderError> {
        let manifest: Value = read_json(&self.manifest_path())?;
        let format = manifest.get("format").map_or(Some(1), Value::as_u64);
        let version = manifest.get("ripplet").and_then(Value::as_str);
        let is_own = version == Some(env!("CARGO_PKG_VERSION"));
        // Manifests without a format number lack fields of later ones.
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

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn manifest_path(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// The manifest.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn manifest(&self) -> Result<Manifest, FolderError> {
        read_json(&self.manifest_path())
    }

    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), FolderError> {
        write_json(&self.manifest_path(), manifest)
    }

    /// The finished windows, in their order.
    ///
    /// # Errors
    /// If they cannot be read, or one is missing between others.
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
    /// If the operating system refuses.
    pub fn tidy(&self) -> Result<(), FolderError> {
        let windows = self.path.join(WINDOWS);
        let failed = |source| FolderError::Io { path: windows.clone(), source };
        // A folder whose cleanup was interrupted has none.
        let entries =
            if windows.exists() { Some(fs::read_dir(&windows).map_err(failed)?) } else { None };
        for entry in entries.into_iter().flatten() {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).map_err(failed)?;
            }
        }
        for left in ripplet_io::write::left_in(&self.path).map_err(failed)? {
            // Another process may have removed it.
            let _ = fs::remove_file(left);
        }
        Ok(())
    }

    /// Returns the folder of a finished window.
    pub fn window(&self, record: &WindowRecord) -> PathBuf {
        self.path.join(WINDOWS).join(&record.folder)
    }

    /// Returns the temporary folder of a window that is being written.
    fn unfinished(&self, record: &WindowRecord) -> PathBuf {
        self.path.join(WINDOWS).join(format!("{UNFINISHED}{}", record.folder))
    }

    /// Writes a window: `write` fills the folder that it is given, and the window is there once that, and what is
    /// kept for the next, is on the disk.
    ///
    /// # Errors
    /// If `write` fails, or the operating system refuses; the window is not there then.
    pub fn write_window<E: From<FolderError>>(
        &mut self,
        record: &WindowRecord,
        kept: &ResumeState,
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
        // The run now has a window: a terminating process keeps the folder.
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
    /// If the operating system refuses.
    pub fn remove_window(&self, record: &WindowRecord) -> Result<(), FolderError> {
        let (path, gone) = (self.window(record), self.unfinished(record));
        let failed = |source| FolderError::Io { path: path.clone(), source };
        // If the process is killed in between, an unfinished window remains, which `tidy` removes.
        fs::rename(&path, &gone).map_err(failed)?;
        fs::remove_dir_all(&gone).map_err(failed)
    }

    /// What the window after this one goes on from.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn kept(&self, record: &WindowRecord) -> Result<ResumeState, FolderError> {
        ResumeState::read(&self.window(record))
    }

    /// Removes what was kept for the window after this one, which is finished too.
    ///
    /// # Errors
    /// If the operating system refuses.
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

/// Temporary folder of a window. Dropping it removes the folder, also if a table's writer panics because
/// memory allocation fails.
struct BegunWindow<'p>(&'p Path);

impl Drop for BegunWindow<'_> {
    fn drop(&mut self) {
        remove_unfinished(self.0);
    }
}

/// Removes the folder of a window that cannot be finished.
fn remove_unfinished(folder: &Path) {
    // The first error is the one to report, not that of the cleanup.
    let _ = fs::remove_dir_all(folder);
}

/// Whether a folder is empty.
fn is_empty(path: &Path) -> Result<bool, FolderError> {
    let mut entries =
        fs::read_dir(path).map_err(|source| FolderError::Io { path: path.into(), source })?;
    Ok(entries.next().is_none())
}

/// Folders that were created, outermost first; a terminating process removes them.
struct Made {
    folders: Vec<PathBuf>,
    _listed: UnfinishedPaths,
}

impl Made {
    /// Returns the missing folders on a path, outermost first.
    fn missing(path: &Path) -> Vec<PathBuf> {
        let folders = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty());
        let mut missing: Vec<PathBuf> =
            folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Creates a folder with its parents.
    fn folders(path: &Path) -> io::Result<Made> {
        let folders = Made::missing(path);
        let made = Made { _listed: UnfinishedPaths::list(folders.clone())?, folders };
        for folder in &made.folders {
            if let Err(error) = fs::create_dir(folder) {
                // The ones after it were not created.
                made.remove();
                return Err(error);
            }
        }
        Ok(made)
    }

    /// Removes the created folders, if they are empty.
    fn remove(&self) {
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Syncs a folder, so that a rename in it survives a power failure, if the system supports that.
fn sync(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

impl ResumeState {
    fn write(&self, folder: &Path) -> Result<(), FolderError> {
        let ResumeState { spread, tracker } = self;
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

    fn read(folder: &Path) -> Result<ResumeState, FolderError> {
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
        Ok(ResumeState { spread, tracker })
    }
}

impl Manifest {
    /// Returns the first difference to another run's options.
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
    /// If one was replaced, or another comes in its place.
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

/// Writes indented JSON atomically.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    whole_file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}

/// Size limit of a text file in a run folder in bytes: clusters of a hundred million members.
const LARGEST_STATE: u64 = 1 << 30;

/// Reads a JSON file.
pub(crate) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, FolderError> {
    let text = read_small(path, LARGEST_STATE, "what a run kept")?;
    serde_json::from_slice(&text)
        .map_err(|error| FolderError::Damaged { path: path.into(), why: error.to_string() })
}
