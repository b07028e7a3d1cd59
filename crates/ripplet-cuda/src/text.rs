//! Kernels as one text, of several files.

use std::fmt::Write;

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
