//! Joins several files of kernels into one source text.

use std::fmt::{Display, Write};

/// Joins the files' texts. Compilers' messages name the original file and line.
pub(crate) fn joined<'a>(parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        // `#pragma once` is a warning in a main file.
        let part = part.replacen("#pragma once", "", 1);
        write!(text, "#line 1 \"{name}\"\n{part}\n").expect("writing into a string cannot fail");
    }
    text
}

/// Returns text that does not compile if a struct of the kernels has another size than given.
pub(crate) fn sizes_are<'a>(sizes: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    sizes.into_iter().map(|(name, bytes)| is(&format!("sizeof(ripplet::{name})"), bytes)).collect()
}

/// Returns text that does not compile if a constant of the kernels has another value than given.
pub(crate) fn constants_are<'a>(all: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    all.into_iter().map(|(name, value)| is(&format!("ripplet::{name}"), value)).collect()
}

fn is(what: &str, value: impl Display) -> String {
    format!("static_assert({what} == {value}, \"{what} as the host has it\");\n")
}
