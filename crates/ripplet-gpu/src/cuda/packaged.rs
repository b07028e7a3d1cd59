//! NVRTC of a Python package of NVIDIA, for a process whose dynamic linker does not find one.

use super::driver;
use super::mutex::lock;
use libloading::Library;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Major versions of NVRTC that are searched for, the newest first.
const MAJORS: [u32; 2] = [13, 12];

/// Folders with Python packages.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Sets the folders with Python packages, such as `site-packages`, in which NVIDIA's package may have NVRTC.
///
/// They are read when NVRTC is first needed, and only if the dynamic linker finds none: a folder in `LD_LIBRARY_PATH` wins.
/// The first folder with a version that the driver can run is used, the newest version first.
pub fn search_packages(folders: Vec<PathBuf>) {
    *lock(&FOLDERS) = folders;
}

/// Loads NVRTC from a package, so that the dynamic linker knows it by its name from now on.
///
/// # Errors
/// The libraries that cannot be loaded, each with the reason; an empty text if there is none.
pub(super) fn load() -> Result<(), String> {
    let newest = driver::ready().ok().map(|driver| driver.version.major);
    let found = libraries(&lock(&FOLDERS));
    // If the driver is too old for all of them, the error of the version says so.
    let suits = |major: u32| newest.is_none_or(|newest| major <= newest);
    let any_suits = found.iter().any(|&(major, _)| suits(major));
    let mut reasons = Vec::new();
    for (major, path) in found.iter().filter(|&&(major, _)| suits(major) || !any_suits) {
        match open(*major, path) {
            Ok(()) => return Ok(()),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    Err(reasons.join("; "))
}

/// Loads NVRTC and, before it, the library beside it that it opens by name when it compiles.
///
/// They stay loaded: the linker forgets the name of a library that is closed.
fn open(major: u32, path: &Path) -> Result<(), libloading::Error> {
    let begin = format!("libnvrtc-builtins.so.{major}.");
    let is_builtins = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begin))
    };
    let beside = path.parent().map(parts).unwrap_or_default();
    let builtins = beside.iter().filter(|path| is_builtins(path)).map(PathBuf::as_path);
    for path in builtins.chain([path]) {
        // SAFETY: loading a library runs its initializers; the libraries of these names are NVIDIA's.
        std::mem::forget(unsafe { Library::new(path) }?);
    }
    Ok(())
}

/// Returns NVRTC's libraries in packages of these folders with their major versions: the newest version first, then in the
/// order of the folders.
///
/// The package for CUDA 13 has the folder `nvidia/cu13/lib`, that for CUDA 12 `nvidia/cuda_nvrtc/lib`.
fn libraries(folders: &[PathBuf]) -> Vec<(u32, PathBuf)> {
    let parts: Vec<PathBuf> =
        folders.iter().flat_map(|folder| parts(&folder.join("nvidia"))).collect();
    let library = |major: u32, part: &PathBuf| part.join(format!("lib/libnvrtc.so.{major}"));
    let of_major = |major: u32| parts.iter().map(move |part| (major, library(major, part)));
    MAJORS.into_iter().flat_map(of_major).filter(|(_, path)| path.is_file()).collect()
}

/// Returns the entries of a folder by name; none if it cannot be read.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_packages_are_found_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let file = |path: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let twelve = file("a/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        let thirteen = file("a/nvidia/cu13/lib/libnvrtc.so.13");
        let other = file("b/nvidia/cu13/lib/libnvrtc.so.13");
        file("b/nvidia/cu11/lib/libnvrtc.so.11.2");
        file("b/nvidia/cudnn/lib/libcudnn.so.9");
        fs::create_dir_all(folder.path().join("b/nvidia/odd/lib/libnvrtc.so.12")).unwrap();
        let folders = ["a", "missing", "b"].map(|name| folder.path().join(name));
        assert_eq!(libraries(&folders), [(13, thirteen), (13, other), (12, twelve)]);
        assert!(libraries(&[]).is_empty());
    }
}
