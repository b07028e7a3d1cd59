//! Run folder: the files that a run writes, and the state from which a killed run resumes.
//!
//! ```text
//! RUN/
//!   manifest.json              version, options, inputs with hashes, counts, windows, timings
//!   report.html
//!   windows/
//!     0000-2024-05-31/         the window that ends at the end of 2024-05-30, UTC; complete, or absent
//!       window.json            its figures
//!       clusters, members, edges, transactions, known_bad, ended, entities, active, reasons (.parquet)
//!       graph.npz          arrays for graph neural networks
//!       report.json.gz         its part of the report
//!       labels.checkpoint      labels and strengths, and …
//!       clusters.txt           … ids of clusters: of the last window alone, from which the run resumes
//!       weights.json           … weights of scorecards: the same
//! ```
//!
//! A window's folder is written under a temporary name, synced, and renamed, so that it is either complete or
//! absent. A resumed run removes what a killed one left. The process that writes holds a lock on the folder, which is no file in
//! it ([`RunFolder::resume`]).

mod created;
mod error;
mod lock;
mod manifest;
mod resume_state;

pub use error::FolderError;
pub use manifest::{FORMAT, Manifest, ScoreRecord, WindowRecord};
pub use resume_state::ResumeState;

use crate::report::WindowReport;
use created::CreatedFolders;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lock::FolderLock;
use ripplet_io::read_small;
use ripplet_io::write::{SyncedTogether, UnfinishedPaths, whole_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Run folder on disk.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Paths that a terminating process removes while the run has no window.
    begun: Option<UnfinishedPaths>,
    /// Folders that were created for the run, outermost first.
    made: Vec<PathBuf>,
    /// Lock of the process that writes.
    lock: Option<FolderLock>,
}

const MANIFEST: &str = "manifest.json";
const WINDOWS: &str = "windows";
const REPORT: &str = "report.html";
const WINDOW: &str = "window.json";
const LABELS: &str = "labels.checkpoint";
const CLUSTERS: &str = "clusters.txt";
const WEIGHTS: &str = "weights.json";
/// First table of entities of a window.
pub(crate) const ENTITIES: &str = "entities.parquet";
/// Table of the entities with transactions in a window.
pub(crate) const ACTIVE: &str = "active.parquet";
/// Part of a window in the report, compressed.
pub(crate) const PART: &str = "report.json.gz";
/// Its name in runs of older versions, which did not compress it.
const OLDER_PART: &str = "report.json";
/// Table of reasons of a window.
pub(crate) const REASONS: &str = "reasons.parquet";
/// Scorecard of a window.
pub(crate) const MODEL: &str = "model.json";
const UNFINISHED: &str = ".part-";
/// All files of a window.
const FILES: [&str; 16] = [
    "clusters.parquet",
    "members.parquet",
    "edges.parquet",
    "transactions.parquet",
    "known_bad.parquet",
    "ended.parquet",
    ENTITIES,
    ACTIVE,
    "graph.npz",
    MODEL,
    REASONS,
    PART,
    LABELS,
    CLUSTERS,
    WEIGHTS,
    WINDOW,
];

impl RunFolder {
    /// Returns the folder at a path, whatever it has.
    fn at(path: &Path) -> RunFolder {
        RunFolder { path: path.into(), begun: None, made: Vec::new(), lock: None }
    }

    /// Checks that a new run can use a folder: it is absent or has no run, and is writable. Leaves no file there.
    ///
    /// A run that ended without a window leaves nothing. Older versions left its manifest, which counts as no run.
    ///
    /// # Errors
    /// If there is another run, or anything else, in it, or the operating system refuses.
    pub fn check(path: &Path) -> Result<(), FolderError> {
        let folder = RunFolder::at(path);
        if folder.manifest_path().exists() {
            return folder.check_format().and_then(|()| folder.check_left());
        }
        if path.is_dir() && !is_empty(path)? {
            return Err(FolderError::NotEmpty(path.into()));
        }
        let made = CreatedFolders::folders(&folder.path.join(WINDOWS));
        made.map_err(|source| FolderError::Io { path: path.into(), source })?.remove();
        Ok(())
    }

    /// Creates a new run's folder with its manifest, and locks it; an existing empty folder is used.
    ///
    /// # Errors
    /// If [`RunFolder::check`] fails; the folder is then unchanged.
    pub fn begin(path: &Path, manifest: &Manifest) -> Result<RunFolder, FolderError> {
        RunFolder::check(path)?;
        let mut folder = RunFolder::at(path);
        if folder.manifest_path().exists() {
            folder.clear()?;
        }
        let windows = path.join(WINDOWS);
        let io = |source| FolderError::Io { path: windows.clone(), source };
        let mut begun = CreatedFolders::missing(&windows);
        begun.push(folder.manifest_path());
        folder.begun = Some(UnfinishedPaths::list(begun).map_err(io)?);
        let made = CreatedFolders::folders(&windows).map_err(io)?;
        folder.lock = FolderLock::of(path).inspect_err(|_| made.remove())?;
        // Without a manifest, the run could neither be resumed nor replaced.
        folder.write_manifest(manifest).inspect_err(|_| made.remove())?;
        folder.made = made.folders;
        Ok(folder)
    }

    /// Checks that the contents of the folder were left by a run without a window.
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

    /// Opens the folder of an existing run to go on with it, and locks it until it is dropped.
    ///
    /// # Errors
    /// If the path has no run, or another process writes to it. A file system without locks is no error.
    pub fn resume(path: &Path) -> Result<RunFolder, FolderError> {
        let mut folder = RunFolder::open(path)?;
        folder.lock = FolderLock::of(path)?;
        Ok(folder)
    }

    /// Opens the folder of an existing run to examine it.
    ///
    /// # Errors
    /// If the path has no run.
    pub fn open(path: &Path) -> Result<RunFolder, FolderError> {
        let folder = RunFolder::at(path);
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

    /// Reads the manifest.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn manifest(&self) -> Result<Manifest, FolderError> {
        read_json(&self.manifest_path())
    }

    /// Writes the manifest atomically.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), FolderError> {
        write_json(&self.manifest_path(), manifest)
    }

    /// Reads the records of the finished windows, in order.
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

    /// Removes the folders of windows that were not finished.
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

    /// Reads a window's part of the report.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn part(&self, record: &WindowRecord) -> Result<WindowReport, FolderError> {
        let (part, older) = (self.window(record).join(PART), self.window(record).join(OLDER_PART));
        if !part.exists() && older.exists() { read_json(&older) } else { read_packed_json(&part) }
    }

    /// Returns the temporary folder of a window that is being written.
    fn unfinished(&self, record: &WindowRecord) -> PathBuf {
        self.path.join(WINDOWS).join(format!("{UNFINISHED}{}", record.folder))
    }

    /// Fills the temporary folder of a window, which [`RunFolder::commit_window`] makes the window's, in this process or
    /// another one. Dropping what it returns removes the folder, if it is still there by that name.
    ///
    /// # Errors
    /// If `write` fails, or the operating system refuses; no part of the window remains.
    pub fn prepare_window<E: From<FolderError>>(
        &self,
        record: &WindowRecord,
        kept: &ResumeState,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PreparedWindow, E> {
        let unfinished = self.unfinished(record);
        let failed = |source| FolderError::Io { path: unfinished.clone(), source };
        let files = FILES.iter().map(|name| unfinished.join(name));
        let paths = std::iter::once(unfinished.clone()).chain(files);
        let listed = UnfinishedPaths::list(paths.collect()).map_err(failed)?;
        // No allocation may fail between the folder and what removes it.
        let folder = unfinished.clone();
        fs::create_dir(&unfinished).map_err(failed)?;
        let prepared = PreparedWindow { folder, listed };
        let together = SyncedTogether::begin(&unfinished);
        write(&unfinished)?;
        kept.write(&unfinished)?;
        write_json(&unfinished.join(WINDOW), record)?;
        together.sync().map_err(failed)?;
        Ok(prepared)
    }

    /// Gives the temporary folder of a prepared window its name: the window is finished.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn commit_window(&mut self, record: &WindowRecord) -> Result<(), FolderError> {
        let (windows, finished) = (self.path.join(WINDOWS), self.window(record));
        let unfinished = self.unfinished(record);
        // The run now has a window: a terminating process keeps the folder.
        self.begun = None;
        if let Err(source) = fs::rename(&unfinished, &finished) {
            return Err(FolderError::Io { path: finished, source });
        }
        sync(&windows).map_err(|source| FolderError::Io { path: windows, source })
    }

    /// Removes a window, which is then computed again.
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

    /// Reads the state from which the next window continues.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn kept(&self, record: &WindowRecord) -> Result<ResumeState, FolderError> {
        ResumeState::read(&self.window(record))
    }

    /// Removes the state kept for the next window, once that is finished too.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn forget(&self, record: &WindowRecord) -> Result<(), FolderError> {
        for name in [LABELS, CLUSTERS, WEIGHTS] {
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

/// Temporary folder of a window. Dropping it removes the folder, unless [`RunFolder::commit_window`] has given it its
/// name: also if a panic ends the run, because memory allocation fails.
pub struct PreparedWindow {
    folder: PathBuf,
    /// The paths in it, which a signal removes.
    listed: UnfinishedPaths,
}

impl Drop for PreparedWindow {
    fn drop(&mut self) {
        // Removing a folder with its contents takes memory, which may be what was refused.
        self.listed.remove();
        // The first error is the one to report, not that of the cleanup.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether a folder is empty.
fn is_empty(path: &Path) -> Result<bool, FolderError> {
    let mut entries =
        fs::read_dir(path).map_err(|source| FolderError::Io { path: path.into(), source })?;
    Ok(entries.next().is_none())
}

/// Syncs a folder, so that a rename in it survives a power failure, if the system supports that.
fn sync(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Writes indented JSON atomically.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    whole_file(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}

/// Writes JSON atomically, compressed by gzip. Equal values give equal bytes.
pub(crate) fn write_packed_json(path: &Path, value: &impl Serialize) -> Result<(), FolderError> {
    whole_file(path, |out| {
        let mut encoder = GzEncoder::new(&mut *out, Compression::default());
        let mut buffered = BufWriter::with_capacity(1 << 16, &mut encoder);
        serde_json::to_writer(&mut buffered, value)?;
        buffered.flush()?;
        drop(buffered);
        encoder.finish().map(|_| ())
    })?;
    Ok(())
}

/// Reads JSON that is compressed by gzip.
fn read_packed_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, FolderError> {
    let bytes = read_small(path, LARGEST_STATE, "what a run kept")?;
    let damaged = |why: String| FolderError::Damaged { path: path.into(), why };
    let mut text = Vec::new();
    // A small file can decompress to a huge one.
    let mut decoder = GzDecoder::new(&*bytes).take(LARGEST_STATE + 1);
    decoder.read_to_end(&mut text).map_err(|source| match source.kind() {
        // Of the machine, and not of the file.
        io::ErrorKind::OutOfMemory => FolderError::Io { path: path.into(), source },
        _ => damaged(source.to_string()),
    })?;
    if text.len() as u64 > LARGEST_STATE {
        return Err(damaged(format!("it has more than {LARGEST_STATE} bytes when decompressed")));
    }
    serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))
}

/// Size limit of a text file in a run folder in bytes: clusters of a hundred million members.
const LARGEST_STATE: u64 = 1 << 30;

/// Reads a JSON file.
pub(crate) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, FolderError> {
    let text = read_small(path, LARGEST_STATE, "what a run kept")?;
    serde_json::from_slice(&text)
        .map_err(|error| FolderError::Damaged { path: path.into(), why: error.to_string() })
}
