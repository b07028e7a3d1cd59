//! The files of transactions: single ones, patterns, and folders partitioned by date.
//!
//! A folder is searched with all folders in it. Files come in the order of their paths, so that `dt=2024-05-01`
//! comes before `dt=2024-05-02`; that order is the order of the rows. What begins with `.` or `_`, ends with `.part`,
//! `.tmp` or `.crc`, is not looked at: that is how those who write tables name what is not, or not yet, one.

use super::SourceError;
use ripplet_io::{Format, Place, ReadError, check_plain, is_plain_file};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders in folders that are looked into.
const DEEPEST: usize = 16;

/// All files that these name: paths of files, of folders, and patterns (`data/*/*.parquet`), each once, in the order
/// of what names them, and within that of their paths.
///
/// # Errors
/// If one names nothing.
pub fn find(named: &[String]) -> Result<Vec<PathBuf>, SourceError> {
    let mut files: Vec<PathBuf> = Vec::new();
    for name in named {
        let found = find_one(name)?;
        if found.is_empty() {
            let why = "no file of transactions (.parquet, .arrow, .csv, .tsv) is there".into();
            return Err(SourceError::Listing { what: name.clone(), why });
        }
        for file in found {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// The files that a path or a pattern names now, in the order of their paths; there may be none.
///
/// # Errors
/// If a folder cannot be listed, a pattern is none, or a path names nothing.
pub fn find_one(name: &str) -> Result<Vec<PathBuf>, SourceError> {
    let failed = |why: String| SourceError::Listing { what: name.into(), why };
    let path = Path::new(name);
    let mut files = Vec::new();
    if path.is_dir() {
        walk(path, DEEPEST, &mut files)?;
    } else if path.exists() {
        files.push(plain(path.to_owned())?);
    } else if name.contains(['*', '?', '[']) {
        let paths = glob::glob(name).map_err(|error| failed(error.to_string()))?;
        for path in paths {
            let path = path.map_err(|error| failed(error.to_string()))?;
            if path.is_dir() {
                walk(&path, DEEPEST, &mut files)?;
            } else if is_taken(&path) {
                files.push(plain(path)?);
            }
        }
    } else {
        return Err(failed("there is no such file or folder".into()));
    }
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(folder: &Path, deep: usize, files: &mut Vec<PathBuf>) -> Result<(), SourceError> {
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
            walk(&path, deep - 1, files)?;
        } else if is_taken(&path) {
            files.push(plain(path)?);
        }
    }
    Ok(())
}

/// A path that is a plain file's. Files are read twice, first for their checksum, which a pipe cannot be.
fn plain(path: PathBuf) -> Result<PathBuf, SourceError> {
    // What is gone by now is said by who reads it.
    if path.exists() && !is_plain_file(&path) {
        let why = "this is a pipe, a socket or a device: expected files on a disk".into();
        return Err(SourceError::Listing { what: path.display().to_string(), why });
    }
    Ok(path)
}

/// Whether a name is that of what is finished.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let unfinished = [".part", ".tmp", ".crc", ".inprogress"];
    !name.starts_with(['.', '_']) && !unfinished.iter().any(|end| name.ends_with(end))
}

fn is_taken(path: &Path) -> bool {
    let formats = [Format::Parquet, Format::Arrow, Format::Csv, Format::Tsv];
    is_named(path) && Format::of_path(path).is_some_and(|(format, _)| formats.contains(&format))
}

/// Returns the SHA-256 of a file, in hexadecimal, and the number of its bytes.
///
/// # Errors
/// If it cannot be read, or is a pipe, a socket, a device or a folder: these may have no end, and a pipe can be read
/// only once.
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
