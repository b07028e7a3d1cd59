//! Options that the prose names: each is one of the command's.

use super::{Document, user_pages};
use crate::sandbox::Sandbox;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Code of other programs, by what it begins with.
const OF_OTHERS: [&str; 12] = [
    // A line of a Cargo.toml.
    "ripplet = ",
    "cargo ",
    "pip ",
    "RIPPLET_GPU=1 cargo ",
    "tar ",
    "sh run.sh ",
    "--gpus all",
    // Launchers of MPI.
    "mpirun ",
    "srun ",
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

/// Each command's options, as its manual page has them, by names such as `fraud run`.
fn known() -> BTreeMap<String, BTreeSet<String>> {
    let sandbox = Sandbox::new();
    sandbox.ok("man -o pages");
    let mut known = BTreeMap::new();
    for entry in fs::read_dir(sandbox.path("pages")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let name = name.trim_start_matches("ripplet").trim_start_matches('-').replace('-', " ");
        known.insert(name, options(&fs::read_to_string(path).unwrap().replace("\\-", "-")));
    }
    known
}

/// The options of the command in code such as `ripplet fraud run FILE -o OUT`, if there is one of its name.
fn command_of<'a>(
    code: &str,
    known: &'a BTreeMap<String, BTreeSet<String>>,
) -> Option<&'a BTreeSet<String>> {
    let words: Vec<_> = code.split_whitespace().skip(1).collect();
    let word = |count: usize| words.get(..count).map(|words| words.join(" ").replace(',', ""));
    let names = [word(2), word(1)].into_iter().flatten();
    names.filter(|name| !name.is_empty()).find_map(|name| known.get(&name))
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

/// The code of a page with a command or an option that does not exist.
fn wrong_code(page: &Document, known: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let of_any: BTreeSet<_> = known.values().flatten().cloned().collect();
    let mut wrong = Vec::new();
    for code in inline_code(&page.text) {
        if OF_OTHERS.iter().any(|others| code.starts_with(others)) {
            continue;
        }
        let mut all = &of_any;
        if code.starts_with("ripplet ") && !is_placeholder(&code) {
            match command_of(&code, known) {
                Some(of_command) => all = of_command,
                None => wrong.push(format!("{}: `{code}`: no such command", page.name)),
            }
        }
        let named = options(&code);
        let missing = named.difference(all);
        wrong.extend(missing.map(|option| format!("{}: `{code}`: {option}", page.name)));
    }
    wrong
}

#[test]
fn every_option_that_a_page_names_exists() {
    let (known, pages) = (known(), user_pages());
    let codes = pages.iter().flat_map(|page| inline_code(&page.text));
    let named: usize = codes.map(|code| options(&code).len()).sum();
    assert!(named > 200, "{named} options are named");
    let wrong: Vec<_> = pages.iter().flat_map(|page| wrong_code(page, &known)).collect();
    assert!(wrong.is_empty(), "no command has these:\n{}", wrong.join("\n"));
}

#[test]
fn an_option_of_another_command_is_found() {
    let text = "`ripplet lcc --schedule sync`, `ripplet lcc --triangles`, `--nonsense`, `--schedule`, `ripplet \
        fraud run --window 3d`, `ripplet fraud run --triangles`, `ripplet unknown`, `ripplet --version`, `cargo --nonsense`";
    let page = Document { name: "p.md".into(), text: text.into() };
    let expected = [
        "p.md: `ripplet lcc --schedule sync`: --schedule",
        "p.md: `--nonsense`: --nonsense",
        "p.md: `ripplet fraud run --triangles`: --triangles",
        "p.md: `ripplet unknown`: no such command",
    ];
    assert_eq!(wrong_code(&page, &known()), expected);
}

/// Whether the command is any, `ripplet COMMAND --help`, or an option of `ripplet` itself.
fn is_placeholder(code: &str) -> bool {
    let word = code.split_whitespace().nth(1).unwrap_or("-");
    word.starts_with(|c: char| c == '-' || c == '…' || c.is_ascii_uppercase())
}

#[test]
fn options_are_found_in_a_text() {
    let found = options("a --b-c 1 -- d --fg=2 [--hi]");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["--b-c", "--fg", "--hi"]);
}
