//! Options that the prose names: each is one of the command's.

use super::user_pages;
use crate::sandbox::Sandbox;
use std::collections::BTreeSet;
use std::fs;

/// Code of other programs, by what it begins with.
const OF_OTHERS: [&str; 9] = [
    "cargo ",
    "pip ",
    "RIPPLET_GPU=1 cargo ",
    "tar ",
    "sh run.sh ",
    "--gpus all",
    "bench --bin",
    // Scripts of LDBC's harness, and how it calls them.
    "load-graph.sh ",
    "execute-job.sh ",
];

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("--") {
        let is_begin = text[..at].chars().next_back().is_none_or(|c| !is_of_name(c));
        let name: String = text[at + 2..].chars().take_while(|c| is_of_name(*c)).collect();
        if is_begin && name.len() > 1 && !name.starts_with('-') {
            found.insert(format!("--{}", name.trim_end_matches('-')));
        }
    }
    found
}

/// The options of all commands, as the manual has them.
fn known() -> BTreeSet<String> {
    let sandbox = Sandbox::new();
    sandbox.ok("man -o pages");
    let pages = fs::read_dir(sandbox.path("pages")).unwrap();
    let texts = pages.map(|page| fs::read_to_string(page.unwrap().path()).unwrap());
    texts.flat_map(|text| options(&text.replace("\\-", "-"))).collect()
}

/// The inline code of a page, outside of its blocks.
fn inline_code(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_option_that_a_page_names_exists() {
    let known = known();
    assert!(known.len() > 80, "{known:?}");
    let mut named = BTreeSet::new();
    for page in user_pages() {
        for code in inline_code(&page.text) {
            if OF_OTHERS.iter().any(|others| code.starts_with(others)) {
                continue;
            }
            named.extend(options(&code).into_iter().map(|option| (option, page.name.clone())));
        }
    }
    assert!(named.len() > 100, "{named:?}");
    named.retain(|(option, _)| !known.contains(option));
    assert!(named.is_empty(), "no command has these: {named:#?}");
}

#[test]
fn options_are_found_in_a_text() {
    let found = options("a --b-c 1 -- d --fg=2 [--hi]");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["--b-c", "--fg", "--hi"]);
}
