//! Tests that `docs/hooks.md` describes the language as it is.

use crate::programs::read;
use ripplet_hooks::vocabulary::{Kind, vocabulary};
use ripplet_hooks::{LARGEST_FILE, read_program};

const REFERENCE: &str = include_str!("../../../../docs/hooks.md");

/// Returns the text between two others.
fn between<'a>(from: &str, to: &str) -> &'a str {
    let rest = REFERENCE.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} after {from}")).0
}

/// Returns the words in backticks.
fn words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).flat_map(|code| code.split(' ')).collect()
}

#[test]
fn the_example_is_a_program() {
    let text = between("```rust\n", "```");
    let module = read_program("hooks.md", text).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((module.columns.len(), module.parameters.len()), (2, 2));
    assert!(module.columns[0].written && !module.columns[1].written);
}

/// Returns a call of a method by the name in the reference.
fn call(receiver: &str, name: &str) -> String {
    let arguments = match name {
        "min" | "max" | "abs_diff" | "copysign" => receiver,
        "pow" | "rotate_left" | "rotate_right" => "3",
        name if name.starts_with("wrapping_")
            && !matches!(name, "wrapping_neg" | "wrapping_abs") =>
        {
            "3"
        }
        name if name.starts_with("saturating_") || name.starts_with("checked_") => "3",
        _ => "",
    };
    let unwrap = if name.starts_with("checked_") { ".unwrap_or(1)" } else { "" };
    format!("let x = {receiver}.{name}({arguments}){unwrap}; let _ = x; 1")
}

#[test]
fn the_methods_that_are_listed_are_there() {
    let integers = words(between("| integers | meaning |\n|---|---|\n", "\n\n| `f32`"));
    // First cells contain only names; explanations contain code, too.
    let names = |words: Vec<&'static str>| -> Vec<&str> {
        let known = vocabulary();
        let is_method = |word: &&str| known.contains(&(Kind::Method, (*word).to_owned()));
        words.into_iter().filter(is_method).collect()
    };
    let of_integers = names(integers);
    assert!(of_integers.len() > 25, "{of_integers:?}");
    for name in of_integers {
        let receiver = if name.contains("abs") { "(v.id as i64)" } else { "c.frequency" };
        let body = call(receiver, name);
        assert!(read(&body).is_ok(), "{body}\n{}", read(&body).unwrap_err());
    }
    let floats = words(between("| `f32` | meaning |\n|---|---|\n", "\n\nThe methods"));
    let of_floats = names(floats);
    assert!(of_floats.len() > 10, "{of_floats:?}");
    for name in of_floats {
        let body = call("self.decay", name);
        assert!(read(&body).is_ok(), "{body}\n{}", read(&body).unwrap_err());
    }
}

#[test]
fn methods_that_are_not_listed_are_not_there() {
    for name in [
        "rem_euclid",
        "isqrt",
        "ilog2",
        "signum",
        "overflowing_add",
        "swap_bytes",
        "midpoint",
        "round",
        "exp",
        "sin",
        "hypot",
        "recip",
        "clamp",
        "checked_pow",
        "to_string",
        "clone",
        "into",
    ] {
        for receiver in ["c.frequency", "self.decay"] {
            assert!(read(&call(receiver, name)).is_err(), "{receiver}.{name}");
        }
    }
}

#[test]
fn the_constants_that_are_listed_are_there() {
    let text = between("Constants: ", ".\n\n");
    let (integers, floats) = text.split_once(';').unwrap();
    for (ty, names) in [("u32", integers), ("i64", integers), ("f32", floats)] {
        for name in words(names).into_iter().filter(|name| *name != "f32") {
            let body = format!("let x = {ty}::{name}; let _ = x; 1");
            assert!(read(&body).is_ok(), "{body}");
        }
    }
}

#[test]
fn the_limits_are_those_of_the_reader() {
    assert_eq!(LARGEST_FILE, 1 << 20);
    assert!(REFERENCE.contains("at most 1 MiB"));
    let brackets = |n: usize| read(&("(".repeat(n) + "1" + &")".repeat(n))).is_ok();
    // A hook's body is inside three open brackets.
    assert!(brackets(97) && !brackets(98));
    let arms = |n: usize| {
        let arms: Vec<_> = (1..n).map(|n| format!("{n} => {n}")).collect();
        read(&format!("match c.frequency {{ {}, _ => 0 }}", arms.join(", "))).is_ok()
    };
    assert!(arms(200) && !arms(201));
}

/// Returns the first and the last cell of each row of the tables in a text.
fn rows(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    lines.filter_map(|line| Some((line.split(" | ").next()?, line.rsplit(" | ").next()?))).collect()
}

/// Returns the explanation of a name in the tables of a text; `total` matches `total()` and
/// `total(x: u32)`.
fn explanation<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let name = name.trim_end_matches("()");
    let is_it = |code: &str| code.trim_start_matches("#[").split(['(', ']']).next() == Some(name);
    let has_it = |cell: &str| cell.split('`').skip(1).step_by(2).any(is_it);
    rows(text).into_iter().find(|(first, _)| has_it(first)).map(|(_, last)| last)
}

/// Returns the section of a view.
fn section(view: &str) -> &'static str {
    let heading = format!("\n### `{view}`\n");
    let rest = REFERENCE.split_once(&heading).unwrap_or_else(|| panic!("no section of {view}")).1;
    rest.split("\n#").next().unwrap()
}

#[test]
fn every_name_of_the_language_is_explained() {
    let names = vocabulary();
    assert!(names.len() > 100, "{names:?}");
    let listed = words(REFERENCE);
    for (kind, name) in names {
        let said = match kind {
            // Names of Rust itself: tables list them in groups.
            Kind::Method | Kind::Constant => {
                assert!(listed.contains(&name.as_str()), "{kind:?} {name} is not listed");
                continue;
            }
            Kind::View => {
                let (view, name) = name.split_once('.').unwrap();
                explanation(section(view), name)
            }
            _ => explanation(REFERENCE, &name),
        };
        let said = said.unwrap_or_else(|| panic!("{kind:?} {name} has no row"));
        assert!(said.split_whitespace().count() >= 3, "{kind:?} {name} is not explained: {said}");
    }
}

#[test]
fn the_vocabulary_is_what_the_checker_knows() {
    let names = vocabulary();
    let has = |kind, name: &str| names.contains(&(kind, name.to_owned()));
    for name in [
        "Candidate.total_votes",
        "Candidate.grand_total",
        "Candidate.total()",
        "VertexMut.total_votes()",
    ] {
        assert!(has(Kind::View, name), "{name}");
    }
    assert!(has(Kind::Hook, "falls_with_total") && has(Kind::Value, "Activation::Disagreement"));
    assert!(has(Kind::Function, "powf") && has(Kind::Method, "rotate_left"));
    for (kind, name) in &names {
        let value = match (kind, name.split_once('.')) {
            (Kind::View, Some(("Vertex", name))) => {
                format!("v.{}", name.replace("random()", "random(0)"))
            }
            (Kind::View, Some(("Candidate", name))) => format!("c.{name}"),
            (Kind::Constant, _) if name == "BITS" => "u32::BITS".into(),
            (Kind::Constant, _) => format!("f32::{name}"),
            _ => continue,
        };
        let body = format!("let x = {value}; let _ = x; 1");
        assert!(read(&body).is_ok(), "{body}\n{}", read(&body).unwrap_err());
    }
}
