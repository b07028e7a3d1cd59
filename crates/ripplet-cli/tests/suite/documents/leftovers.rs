//! Files that the commands of the pages leave in a clone.

use std::collections::BTreeMap;

/// Files that a page leaves at the root of a clone.
#[derive(Debug, Default)]
pub struct Leftovers {
    pub page: String,
    /// Names of files and folders, without `examples`; a folder's name ends with `/`.
    pub names: Vec<String>,
    /// Files that the page asks the reader to save, with their texts.
    pub saved: Vec<(String, String)>,
}

/// Pages that fail or mislead if they are followed in one clone, one after another: two of them write the same
/// folder, which a run refuses, or have the reader save different texts under one name.
pub fn collisions(all: &[Leftovers]) -> Vec<String> {
    let mut found = Vec::new();
    let (mut folders, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for Leftovers { page, names, saved } in all {
        for folder in names.iter().filter(|name| name.ends_with('/')) {
            if let Some(other) = folders.insert(folder, page) {
                found.push(format!("{other} and {page} both write {folder}"));
            }
        }
        for (name, text) in saved {
            match texts.insert(name, (page, text)) {
                Some((other, before)) if other != page && before != text => {
                    found.push(format!("{other} and {page} save different texts as {name}"));
                }
                _ => {}
            }
        }
    }
    found
}

/// The names that no line of a `.gitignore` covers. Of its patterns, `/NAME`, `/NAME/` and `/*.EXTENSION` are known.
pub fn not_ignored<'a>(names: &'a [String], gitignore: &str) -> Vec<&'a str> {
    let patterns: Vec<_> = gitignore.lines().filter_map(|line| line.strip_prefix('/')).collect();
    let is_covered = |name: &str| {
        patterns.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name.trim_end_matches('/') == pattern.trim_end_matches('/'),
        })
    };
    names.iter().map(String::as_str).filter(|name| !is_covered(name)).collect()
}

#[test]
fn collisions_of_pages_are_found() {
    let page = |page: &str, names: &[&str], saved: &[(&str, &str)]| Leftovers {
        page: page.into(),
        names: names.iter().map(|name| (*name).into()).collect(),
        saved: saved.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
    };
    let pages = [
        page("a.md", &["rings/", "out.csv"], &[("p.rs", "1"), ("m.toml", "x"), ("m.toml", "y")]),
        page("b.md", &["march/", "out.csv"], &[("p.rs", "1")]),
        page("c.md", &["rings/"], &[("p.rs", "2")]),
    ];
    assert!(collisions(&pages[..2]).is_empty());
    let both = ["a.md and c.md both write rings/", "b.md and c.md save different texts as p.rs"];
    assert_eq!(collisions(&pages), both);
}

#[test]
fn names_that_git_would_show_are_found() {
    let names = ["rings/", "out.csv", "out.tsv", "march"].map(String::from);
    assert_eq!(not_ignored(&names, "# a\n/rings/\n/*.csv\n/march\n"), ["out.tsv"]);
    assert_eq!(not_ignored(&names, "/target\ncsv\n").len(), 4);
}
