//! Cache of compiled kernels on disk.
//!
//! There is a file for each source text, set of compiler options, architecture and version of
//! NVRTC. Its name is a hash of the first three, and the version. A file is written under another
//! name and renamed, so that processes that share a folder see whole files or none. A damaged file
//! counts as missing.
//!
//! ```text
//! "ripplet kernels\n"   16 bytes
//! format                u32, little-endian as all numbers here
//! NVRTC's version       u32 major, u32 minor
//! key                   u128
//! length of the code    u64
//! checksum              u32, CRC-32 of all the rest
//! the code              deflated, to a quarter of its length
//! ```

use super::version::Version;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use twox_hash::XxHash3_128;

const MAGIC: &[u8; 16] = b"ripplet kernels\n";
const FORMAT: u32 = 2;
const HEAD: usize = 16 + 4 + 8 + 16 + 8 + 4;

/// The most files in a folder: at some 80 KB each, 80 megabytes. Kernels of usual runs are some 40 for an architecture.
const MAX_FILES: usize = 1024;

/// The most bytes of a file's code; some hundred kilobytes are usual.
const MOST_CODE: u64 = 64 << 20;

/// Age from which a temporary file is stale: the process that wrote it has ended.
const STALE_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Inputs that determine compiled code, except the compiler's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u128);

impl Key {
    /// Returns the key of a text compiled with options for an architecture.
    #[must_use]
    pub fn new(text: &str, options: &[&str], architecture: (u32, u32)) -> Key {
        let (major, minor) = architecture;
        // The parts before the text contain no zero byte, so different inputs give different
        // strings.
        let all = format!("sm_{major}{minor}\0{}\0\0{text}", options.join("\0"));
        Key(XxHash3_128::oneshot(all.as_bytes()))
    }
}

/// Runs `work` under a lock of the key. A second thread of the process then finds what the first
/// one compiled.
pub fn with_lock<T>(key: Key, work: impl FnOnce() -> T) -> T {
    static LOCKS: LazyLock<Mutex<HashMap<Key, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let lock = Arc::clone(locks.entry(key).or_default());
    drop(locks);
    let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Compiled code, with the version of its compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Version of NVRTC.
    pub nvrtc: Version,
    /// Machine code, or PTX.
    pub code: Vec<u8>,
}

/// A folder of compiled kernels.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Returns a cache in a folder, which is created when something is stored.
    #[must_use]
    pub fn at(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    /// Returns the cache in the folder that `RIPPLET_CACHE` names, else in `ripplet/kernels` in the
    /// user's cache folder; `None` if neither is known.
    #[must_use]
    pub fn of_environment() -> Option<Cache> {
        Cache::of(|name| std::env::var_os(name))
    }

    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<Cache> {
        let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // The XDG base directory specification says to ignore relative paths.
        let caches = || path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        path("RIPPLET_CACHE")
            .or_else(|| Some(caches()?.join("ripplet/kernels")))
            .or_else(|| Some(path("HOME")?.join(".cache/ripplet/kernels")))
            .or_else(|| Some(path("LOCALAPPDATA")?.join("ripplet/kernels")))
            .map(Cache::at)
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the code of a key, compiled by this version of NVRTC. If there is no NVRTC here, any
    /// version that `accepts` returns true for will do.
    #[must_use]
    pub fn find(
        &self,
        key: Key,
        nvrtc: Option<Version>,
        accepts: impl Fn(&Compiled) -> bool,
    ) -> Option<Compiled> {
        let read = |path: &Path| self.read(path, key).filter(&accepts);
        match nvrtc {
            Some(version) => {
                read(&self.path(key, version)).filter(|compiled| compiled.nvrtc == version)
            }
            None => {
                let named = |path: &Path| {
                    path.file_name().is_some_and(|name| is_of(&name.to_string_lossy(), key))
                };
                let of_key = self.files().into_iter().filter(|(path, _)| named(path));
                of_key.filter_map(|(path, _)| read(&path)).max_by_key(|compiled| compiled.nvrtc)
            }
        }
    }

    /// Stores code, and removes the least recently used files above the limit.
    ///
    /// # Errors
    /// If the folder cannot be created or the file cannot be written; nothing is stored then.
    pub fn store(&self, key: Key, compiled: &Compiled) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder)?;
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let beside = self.folder.join(format!("{:032x}.{process}.{number}.part", key.0));
        let written = write(&beside, key, compiled)
            .and_then(|()| fs::rename(&beside, self.path(key, compiled.nvrtc)));
        if written.is_err() {
            // A partial file that cannot be removed here is removed by a later process.
            let _ = fs::remove_file(&beside);
        }
        self.evict();
        written
    }

    fn path(&self, key: Key, nvrtc: Version) -> PathBuf {
        self.folder.join(format!("{:032x}-{nvrtc}.kernels", key.0))
    }

    /// Returns a file's code if the file is whole and has this key.
    fn read(&self, path: &Path, key: Key) -> Option<Compiled> {
        let compiled = parse(&fs::read(path).ok()?, key)?;
        // Marks the file as used now. If that fails, the file is removed somewhat early.
        let _ = File::options().append(true).open(path).map(|file| {
            let _ = file.set_modified(SystemTime::now());
        });
        Some(compiled)
    }

    /// Returns the files of compiled code, with the time of their last use.
    fn files(&self) -> Vec<(PathBuf, SystemTime)> {
        self.entries("kernels")
    }

    fn entries(&self, extension: &str) -> Vec<(PathBuf, SystemTime)> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let entries = entries.filter_map(Result::ok).map(|entry| entry.path());
        let of_kind = entries.filter(|path| path.extension().is_some_and(|of| of == extension));
        of_kind
            .filter_map(|path| {
                let used = fs::metadata(&path).and_then(|about| about.modified()).ok()?;
                Some((path, used))
            })
            .collect()
    }

    /// Removes files above the limit. Errors are ignored, as another process may have removed the
    /// same file.
    fn evict(&self) {
        let mut files = self.files();
        files.sort_by_key(|&(_, used)| std::cmp::Reverse(used));
        for (path, _) in files.into_iter().skip(MAX_FILES) {
            let _ = fs::remove_file(path);
        }
        for (path, written) in self.entries("part") {
            if written.elapsed().is_ok_and(|age| age > STALE_AFTER) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn write(path: &Path, key: Key, compiled: &Compiled) -> io::Result<()> {
    let Compiled { nvrtc, code } = compiled;
    if code.len() as u64 > MOST_CODE {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the code is too long"));
    }
    let deflated = deflate(code)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(&head(key, *nvrtc, code.len() as u64, &deflated))?;
    file.write_all(&deflated)?;
    file.sync_all()
}

fn deflate(code: &[u8]) -> io::Result<Vec<u8>> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    deflated.write_all(code)?;
    deflated.finish()
}

fn head(key: Key, nvrtc: Version, length: u64, deflated: &[u8]) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    for number in [FORMAT, nvrtc.major, nvrtc.minor] {
        head.extend(number.to_le_bytes());
    }
    head.extend(key.0.to_le_bytes());
    head.extend(length.to_le_bytes());
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&head);
    checksum.update(deflated);
    head.extend(checksum.finalize().to_le_bytes());
    head
}

/// Whether a file of this name has code of a key.
pub(super) fn is_of(name: &str, key: Key) -> bool {
    key_of(name) == Some(key)
}

/// Returns the key in the name of a file.
pub(super) fn key_of(name: &str) -> Option<Key> {
    let (key, _) = name.split_once('-')?;
    let is_key = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_key.then(|| u128::from_str_radix(key, 16).ok().map(Key)).flatten()
}

/// Returns the code of a file of this key; `None` if any part of the file is not as it was written.
pub(super) fn parse(file: &[u8], key: Key) -> Option<Compiled> {
    let (found, deflated) = file.split_at_checked(HEAD)?;
    let number = |at: usize| {
        let bytes = found.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let nvrtc = Version { major: number(20)?, minor: number(24)? };
    let length = u64::from(number(44)?) | u64::from(number(48)?) << 32;
    if length > MOST_CODE || found != head(key, nvrtc, length, deflated) {
        return None;
    }
    let mut code = Vec::new();
    // One byte more, to see a stream that is longer than it says.
    DeflateDecoder::new(deflated).take(length + 1).read_to_end(&mut code).ok()?;
    (code.len() as u64 == length).then_some(Compiled { nvrtc, code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_is_wrong_is_damage() {
        let (key, nvrtc) = (Key::new("text", &[], (9, 0)), Version { major: 13, minor: 0 });
        let code = vec![7; 1000];
        let deflated = deflate(&code).expect("memory");
        let file = |length| [head(key, nvrtc, length, &deflated), deflated.clone()].concat();
        assert_eq!(parse(&file(1000), key), Some(Compiled { nvrtc, code }));
        for length in [0, 999, 1001, MOST_CODE, MOST_CODE + 1, u64::MAX] {
            assert_eq!(parse(&file(length), key), None, "{length}");
        }
    }

    #[test]
    fn the_folder_is_the_environments() {
        let folder = |variables: &[(&str, &str)]| {
            let value = |name: &str| {
                let of_name = variables.iter().find(|(variable, _)| *variable == name);
                of_name.map(|(_, value)| OsString::from(value))
            };
            Cache::of(value).map(|cache| cache.folder().to_owned())
        };
        let home = ("HOME", "/home/ada");
        let caches = ("XDG_CACHE_HOME", "/caches");
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(folder(&[]), None);
        assert_eq!(folder(&[home]), path("/home/ada/.cache/ripplet/kernels"));
        assert_eq!(folder(&[home, caches]), path("/caches/ripplet/kernels"));
        assert_eq!(folder(&[home, caches, ("RIPPLET_CACHE", "here")]), path("here"));
        assert_eq!(folder(&[caches, ("RIPPLET_CACHE", "")]), path("/caches/ripplet/kernels"));
        let relative = ("XDG_CACHE_HOME", "caches");
        assert_eq!(folder(&[home, relative]), path("/home/ada/.cache/ripplet/kernels"));
    }
}
