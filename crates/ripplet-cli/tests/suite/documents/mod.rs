//! The documents: every command runs as it stands, every link leads somewhere, every option exists.
//!
//! CONTRIBUTING.md describes the conventions that the pages follow.

mod examples;
#[cfg(unix)]
mod leftovers;
mod links;
mod options;
mod page;
#[cfg(unix)]
mod shell;

use crate::sandbox::data;
use std::fs;
use std::path::{Path, PathBuf};

/// A page: its name from the root of the repository, and its text.
struct Document {
    name: String,
    text: String,
}

/// The root of the repository.
fn root() -> PathBuf {
    fs::canonicalize(data("..")).unwrap()
}

fn document(path: &Path) -> Document {
    let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    Document { name, text: fs::read_to_string(path).unwrap() }
}

/// The Markdown files of a folder, by name.
fn pages_of(folder: &str) -> Vec<Document> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.iter().map(|path| document(path)).collect()
}

/// Pages for users: the README, the pages of `docs/`, and those beside the examples.
fn user_pages() -> Vec<Document> {
    let of_root = |name| document(&root().join(name));
    let mut pages = vec![of_root("README.md"), of_root("examples/README.md")];
    pages.extend(pages_of("docs"));
    let mut folders: Vec<_> = fs::read_dir(root().join("examples")).unwrap().collect();
    folders.sort_by_key(|entry| entry.as_ref().unwrap().path());
    for entry in folders {
        let page = entry.unwrap().path().join("README.md");
        pages.extend(page.exists().then(|| document(&page)));
    }
    assert!(pages.len() > 20, "{} pages", pages.len());
    pages
}

/// The files that a page asks its reader to save, with their texts.
pub fn files_of(page: &str) -> Vec<(String, String)> {
    let blocks = page::blocks(&document(&root().join(page)).text).into_iter();
    let saved = blocks.filter_map(|block| Some((block.file?, block.lines.join("\n") + "\n")));
    saved.collect()
}
