//! `docs/hooks.md` says what is so.

use crate::programs::read;
use ripplet_hooks::{LARGEST_FILE, read_program};

const REFERENCE: &str = include_str!("../../../../docs/hooks.md");

/// The text between two others.
fn between<'a>(from: &str, to: &str) -> &'a str {
    let rest = REFERENCE.split_once(from).unwrap_or_else(|| panic!("no {from}")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} after {from}")).0
}

/// The words in backticks.
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

/// A call of a method by the name that the reference lists.
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
    let integers = words(between("| integers | |\n", "\n\n| `f32`"));
    let of_integers: Vec<_> = integers.iter().filter(|w| !w.contains('.')).collect();
    assert!(of_integers.len() > 25, "{of_integers:?}");
    for name in of_integers {
        let receiver = if name.contains("abs") { "(v.id as i64)" } else { "c.frequency" };
        let body = call(receiver, name);
        assert!(read(&body).is_ok(), "{body}\n{}", read(&body).unwrap_err());
    }
    let floats = words(between("| `f32` | |\n|---|---|\n", "| `exp2"));
    let of_floats: Vec<_> = floats.iter().filter(|w| !w.contains(['.', ':'])).collect();
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
    // Three brackets are open around a hook's body.
    assert!(brackets(97) && !brackets(98));
    let arms = |n: usize| {
        let arms: Vec<_> = (1..n).map(|n| format!("{n} => {n}")).collect();
        read(&format!("match c.frequency {{ {}, _ => 0 }}", arms.join(", "))).is_ok()
    };
    assert!(arms(200) && !arms(201));
}
