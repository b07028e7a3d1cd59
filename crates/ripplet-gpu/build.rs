//! Lists the compiled kernels in the folder that `RIPPLET_KERNELS` names, for the program to have them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

const FOLDER: &str = "RIPPLET_KERNELS";

fn main() {
    println!("cargo::rerun-if-env-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    let files = match env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        Some(folder) => kernels(&PathBuf::from(folder)),
        None => Vec::new(),
    };
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.file_name().expect("a file has a name").to_string_lossy();
        writeln!(list, "    ({name:?}, include_bytes!({file:?})),").expect("a string takes all");
    }
    list += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("built_in.rs"), list).expect("cargo's folder can be written");
}

/// How a file of compiled kernels begins: the magic number and the format of `src/cuda/cache.rs`.
const BEGIN: &[u8] = b"ripplet kernels\n\x02\0\0\0";

/// Returns the files of compiled kernels in a folder, sorted; there must be some.
fn kernels(folder: &Path) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let refused = |why: &str| -> ! {
        panic!(
            "{FOLDER} is {}, {why}: `RIPPLET_CACHE=FOLDER ripplet devices --compile-kernels` of this version fills one",
            folder.display()
        )
    };
    // Cargo starts this in the folder of the crate.
    if !folder.is_absolute() || folder.to_str().is_none() {
        refused("which is no absolute path in UTF-8");
    }
    let Ok(entries) = fs::read_dir(folder) else { refused("which is no folder that can be read") };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|of| of == "kernels")).collect();
    if files.is_empty() {
        refused("which has no compiled kernels");
    }
    for file in &files {
        if !fs::read(file).is_ok_and(|bytes| bytes.starts_with(BEGIN)) {
            refused("which has kernels of another version of ripplet");
        }
    }
    files.sort();
    files
}
