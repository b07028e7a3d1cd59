//! Kernels compiled before there is a run: into a folder, or into the program itself.
//!
//! ```text
//! sources ──compile_ahead──▶ folder ──▶ a run's cache (RIPPLET_CACHE), or
//!                                   ──▶ a build with RIPPLET_KERNELS=folder ──▶ the program has them
//! ```

use super::cache::{self, Cache, Compiled, Key};
use super::{driver, nvrtc};
use crate::device::Source;
use crate::error::DeviceError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Files of a cache by their names, which `build.rs` found in the folder that `RIPPLET_KERNELS` named.
type Files = [(&'static str, &'static [u8])];
static BUILT_IN: &Files = include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// Returns the number of compiled sources that the program was built with.
#[must_use]
pub fn built_in_kernels() -> usize {
    BUILT_IN.len()
}

/// Returns the code of a key that the program was built with.
pub(super) fn built_in(key: Key, accepts: impl Fn(&Compiled) -> bool) -> Option<Compiled> {
    find(BUILT_IN, key, accepts)
}

/// Returns the code of a key by the newest NVRTC among files.
fn find(files: &Files, key: Key, accepts: impl Fn(&Compiled) -> bool) -> Option<Compiled> {
    let of_key = files.iter().filter(|(name, _)| cache::is_of(name, key));
    let read = of_key.filter_map(|(_, file)| cache::parse(file, key));
    read.filter(accepts).max_by_key(|compiled| compiled.nvrtc)
}

/// Returns whether kernels that are compiled here run on the GPUs here.
///
/// # Errors
/// If there is no driver or no NVRTC, or if the driver is older than NVRTC.
pub fn check_compiler() -> Result<(), DeviceError> {
    nvrtc::for_driver(driver::ready()?.version).map(|_| ())
}

/// Compiles each source for each architecture, (9, 0) being sm_90, and stores the code in a cache; what it has from this
/// NVRTC is not compiled again. Needs NVRTC, and no GPU. Returns the number of compilations; `None` if it was cancelled.
///
/// As many threads as there are cores compile. `progress` gets the fraction that is done, from any of them; if it
/// returns false, the rest is left out.
///
/// # Errors
/// [`DeviceError::NoCompiler`] and [`DeviceError::Compile`]; and [`DeviceError::Failed`] if the cache's folder cannot be
/// written. The cache then has what was compiled before.
pub fn compile_ahead(
    cache: &Cache,
    sources: &[Source],
    architectures: &[(u32, u32)],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Option<usize>, DeviceError> {
    let version = nvrtc::available()?;
    let all: Vec<_> = architectures
        .iter()
        .flat_map(|&architecture| sources.iter().map(move |source| (source, architecture)))
        .collect();
    let [next, done, compiled] = [const { AtomicUsize::new(0) }; 3];
    let (is_cancelled, failed) = (AtomicBool::new(false), Mutex::new(None));
    let compile = |(source, architecture): (&Source, _)| {
        let key = Key::new(&source.text, &nvrtc::options(), architecture);
        if cache.find(key, Some(version), |_| true).is_some() {
            return Ok(());
        }
        // On one core each, as the others compile other sources.
        let code = nvrtc::compile_with(&[], source, architecture)?;
        compiled.fetch_add(1, Relaxed);
        cache.store(key, &Compiled { nvrtc: version, code }).map_err(|error| DeviceError::Failed {
            what: format!("writing compiled kernels into {}", cache.folder().display()),
            reason: error.to_string(),
        })
    };
    let work = || {
        loop {
            if !progress(done.load(Relaxed) as f64 / all.len() as f64) {
                is_cancelled.store(true, Relaxed);
                return;
            }
            let Some(&one) = all.get(next.fetch_add(1, Relaxed)) else { return };
            if let Err(error) = compile(one) {
                next.store(all.len(), Relaxed);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            done.fetch_add(1, Relaxed);
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..cores.min(all.len()) {
            // Where the system refuses a thread, the others do its work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None if is_cancelled.into_inner() && done.into_inner() < all.len() => Ok(None),
        None => Ok(Some(compiled.into_inner())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;

    #[test]
    fn the_newest_that_the_driver_runs_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().to_owned());
        let key = |text| Key::new(text, &[], (9, 0));
        let version = |minor| Version { major: 12, minor };
        let code = |minor| Compiled { nvrtc: version(minor), code: vec![minor as u8; 3] };
        for minor in [2, 10, 9] {
            cache.store(key("one"), &code(minor)).expect("it is stored");
        }
        cache.store(key("other"), &code(11)).expect("it is stored");
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).expect("it is read");
            let (name, bytes): (&str, &[u8]) = (name.leak(), bytes.leak());
            (name, bytes)
        };
        let mut files: Vec<_> =
            std::fs::read_dir(folder.path()).expect("it is there").map(read).collect();
        let found =
            |files: &Files, text, most| find(files, key(text), |found| found.nvrtc.minor <= most);
        assert_eq!(found(&files, "one", 99), Some(code(10)));
        assert_eq!(found(&files, "one", 9), Some(code(9)));
        assert_eq!(found(&files, "one", 1), None);
        assert_eq!(found(&files, "other", 99), Some(code(11)));
        assert_eq!(found(&files, "third", 99), None);
        // A damaged file counts as missing.
        files.iter_mut().for_each(|(_, bytes)| *bytes = &bytes[..bytes.len() - 1]);
        assert_eq!(found(&files, "one", 99), None);
    }

    /// There are some in the weekly run.
    #[test]
    fn kernels_of_the_build_are_whole() {
        for (name, file) in BUILT_IN {
            let key = cache::key_of(name).unwrap_or_else(|| panic!("{name} is no name of a cache"));
            assert!(cache::parse(file, key).is_some(), "{name}");
        }
    }
}
