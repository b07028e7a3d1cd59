//! Finds the files of transactions: single files, patterns, folders partitioned by date, and Delta tables.
//!
//! Folders are searched recursively. Files are ordered by path, so that `dt=2024-05-01` comes before
//! `dt=2024-05-02`, and `month=9` before `month=10` (`partitions`); this is the order of the rows.
//! The files of a folder with a Delta log are those of its newest version (`delta`). Names that begin with `.` or `_`, or end with `.part`,
//! `.tmp` or `.crc`, are skipped: writers of tables use them for unfinished files.

use super::data_file::DataFile;
use super::{SourceError, delta, partitions};
use ripplet_io::{Format, Place, ReadError, check_plain, is_plain_file};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Largest depth of nested folders.
const DEEPEST: usize = 16;

/// Returns the files that paths of files, paths of folders and patterns (`data/*/*.parquet`) name, each as often as
/// arguments name it. They are in the order of the arguments, and within an argument ordered by path.
///
/// # Errors
/// If an argument names no file.
pub(super) fn find(named: &[String]) -> Result<Vec<DataFile>, SourceError> {
    let mut files: Vec<DataFile> = Vec::new();
    for name in named {
        let found = find_one(name)?;
        if found.is_empty() {
            let why = "no file of transactions (.parquet, .arrow, .csv, .tsv) is there".into();
            return Err(SourceError::Listing { what: name.clone(), why });
        }
        files.extend(found);
    }
    Ok(files)
}

/// Returns the files that a path or a pattern names now, ordered by path; there may be none.
///
/// # Errors
/// If a folder cannot be listed, a pattern is invalid, or a path does not exist.
pub(super) fn find_one(name: &str) -> Result<Vec<DataFile>, SourceError> {
    let failed = |why: String| SourceError::Listing { what: name.into(), why };
    let path = Path::new(name);
    ripplet_io::check_on_disk(path, "transactions").map_err(|error| failed(error.to_string()))?;
    let (mut files, mut tables) = (Vec::new(), Vec::new());
    if path.is_dir() {
        walk(path, DEEPEST, &mut files, &mut tables)?;
    } else if path.exists() {
        files.push(plain(path.to_owned())?);
    } else if name.contains(['*', '?', '[']) {
        let paths = glob::glob(name).map_err(|error| failed(error.to_string()))?;
        for path in paths {
            let path = path.map_err(|error| failed(error.to_string()))?;
            if path.is_dir() {
                walk(&path, DEEPEST, &mut files, &mut tables)?;
            } else if is_taken(&path) {
                files.push(plain(path)?);
            }
        }
    } else {
        return Err(failed("there is no such file or folder".into()));
    }
    files.sort_by(|one, other| partitions::compare(one, other));
    files.dedup();
    let mut all: Vec<DataFile> = files.into_iter().map(DataFile::new).collect();
    // Tables after files, each in the order of its own rows.
    tables.sort();
    tables.dedup();
    for table in tables {
        all.extend(delta::files_of(&table)?);
    }
    Ok(all)
}

/// Lists the files below a folder, and the Delta tables, whose files their logs list.
fn walk(
    folder: &Path,
    deep: usize,
    files: &mut Vec<PathBuf>,
    tables: &mut Vec<PathBuf>,
) -> Result<(), SourceError> {
    if delta::is_table(folder) {
        tables.push(folder.to_owned());
        return Ok(());
    }
    let failed = |why: String| SourceError::Listing { what: folder.display().to_string(), why };
    if deep == 0 {
        return Err(failed(format!("folders lie more than {DEEPEST} deep in one another")));
    }
    let entries = std::fs::read_dir(folder).map_err(|error| failed(error.to_string()))?;
    for entry in entries {
        let path = entry.map_err(|error| failed(error.to_string()))?.path();
        if !is_named(&path) {
            continue;
        }
        if path.is_dir() {
            walk(&path, deep - 1, files, tables)?;
        } else if is_taken(&path) {
            files.push(plain(path)?);
        }
    }
    Ok(())
}

/// Checks that a path is a regular file: files are read twice, first for their checksum, which a pipe does
/// not allow.
fn plain(path: PathBuf) -> Result<PathBuf, SourceError> {
    // The reader reports a file that has vanished.
    if path.exists() && !is_plain_file(&path) {
        let why = "this is a pipe, a socket or a device: expected files on a disk".into();
        return Err(SourceError::Listing { what: path.display().to_string(), why });
    }
    Ok(path)
}

/// Whether a name is that of a finished file.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let unfinished = [".part", ".tmp", ".crc", ".inprogress"];
    !name.starts_with(['.', '_']) && !unfinished.iter().any(|end| name.ends_with(end))
}

fn is_taken(path: &Path) -> bool {
    let formats = [Format::Parquet, Format::Arrow, Format::Csv, Format::Tsv];
    is_named(path) && Format::of_path(path).is_some_and(|(format, _)| formats.contains(&format))
}

/// Returns the SHA-256 of a file, in hexadecimal, and its size in bytes.
///
/// # Errors
/// If it cannot be read, or is a pipe, a socket, a device or a folder: these may have no end, and a pipe can
/// be read only once.
pub fn fingerprint(path: &Path) -> Result<(String, u64), ReadError> {
    const BUFFER: usize = 1 << 20;
    check_plain(path)?;
    let read = || {
        let mut file = File::open(path)?;
        let (mut hasher, mut bytes) = (Sha256::new(), 0);
        let mut buffer = vec![0; BUFFER];
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                return Ok((hasher.finalize(), bytes));
            }
            hasher.update(&buffer[..read]);
            bytes += read as u64;
        }
    };
    let (hash, bytes) = read().map_err(|error| ReadError::io(path, Place::File, error))?;
    let mut text = String::with_capacity(64);
    for byte in hash {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok((text, bytes))
}
