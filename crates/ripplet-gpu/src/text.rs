//! Source text of kernels: files joined into one text, and checks of what host and kernels share.

use std::fmt::{Display, Write};

/// Text of `kernels/platform.cuh`: kernels' definitions, collectives of warps, and the grid barrier.
/// It comes after `scalar.cuh`, which defines the integer types and `RIPPLET_FN`.
pub const PLATFORM: &str = include_str!("../kernels/platform.cuh");

/// Joins files of kernels, each a name and a text. Compilers' messages name the file and its line.
///
/// ```
/// let text = ripplet_gpu::text::joined([("one.cuh", "int one;"), ("two.cuh", "int two;")]);
/// assert_eq!(text, "#line 1 \"one.cuh\"\nint one;\n#line 1 \"two.cuh\"\nint two;\n");
/// ```
pub fn joined<'a>(parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        // `#pragma once` is a warning in a main file.
        let part = part.replacen("#pragma once", "", 1);
        write!(text, "#line 1 \"{name}\"\n{part}\n").expect("writing into a string cannot fail");
    }
    text
}

/// Returns text that compiles only if structs of the kernels have these sizes, in bytes.
pub fn sizes_are<'a>(sizes: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    sizes.into_iter().map(|(name, bytes)| is(&format!("sizeof(ripplet::{name})"), bytes)).collect()
}

/// Returns text that compiles only if constants of the kernels have these values.
pub fn constants_are<'a>(all: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    all.into_iter().map(|(name, value)| is(&format!("ripplet::{name}"), value)).collect()
}

fn is(what: &str, value: impl Display) -> String {
    format!("static_assert({what} == {value}, \"{what} as the host has it\");\n")
}
