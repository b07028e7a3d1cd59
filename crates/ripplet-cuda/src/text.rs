//! Kernels as one text, of several files.

use std::fmt::{Display, Write};

/// The files' texts, one behind the other; messages of compilers name the file and its line.
pub(crate) fn joined<'a>(parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (name, part) in parts {
        // A header's own guard against a second inclusion is a warning in a main file.
        let part = part.replacen("#pragma once", "", 1);
        write!(text, "#line 1 \"{name}\"\n{part}\n").expect("writing into a string cannot fail");
    }
    text
}

/// Text that does not compile where the kernels' structs are not of these sizes, which they have here.
pub(crate) fn sizes_are<'a>(sizes: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    sizes.into_iter().map(|(name, bytes)| is(&format!("sizeof(ripplet::{name})"), bytes)).collect()
}

/// The same of constants.
pub(crate) fn constants_are<'a>(all: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    all.into_iter().map(|(name, value)| is(&format!("ripplet::{name}"), value)).collect()
}

fn is(what: &str, value: impl Display) -> String {
    format!("static_assert({what} == {value}, \"{what} as the host has it\");\n")
}
