//! Destinations of outputs, which their names determine.

use crate::address::is_remote;
use std::path::{Path, is_separator};

/// Destination of an output, as its name says.
///
/// A name that ends in a separator is that of a folder or prefix of parts: see [`TableParts`](crate::write::TableParts).
///
/// # Examples
/// ```
/// use ripplet_io::write::Destination;
/// use std::path::Path;
///
/// assert_eq!(Destination::of(Path::new("-")), Destination::Standard);
/// assert!(matches!(Destination::of(Path::new("labels.tsv")), Destination::File(_)));
/// assert!(matches!(Destination::of(Path::new("labels/")), Destination::Folder(_)));
/// assert!(matches!(Destination::of(Path::new("s3://bucket/labels.tsv")), Destination::Object(_)));
/// assert!(matches!(Destination::of(Path::new("s3://bucket/labels/")), Destination::Prefix(_)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// Standard output: `-`.
    Standard,
    /// A file on a disk.
    File(&'a Path),
    /// A folder of parts on a disk: a path that ends in `/`.
    Folder(&'a Path),
    /// An object of a store, by its address.
    Object(&'a Path),
    /// Objects of a store that are parts, by what their addresses begin with: an address that ends in `/`.
    Prefix(&'a Path),
}

impl<'a> Destination<'a> {
    /// Returns the destination of a name. Whether it can be written is not checked.
    pub fn of(path: &'a Path) -> Destination<'a> {
        let last = path.as_os_str().as_encoded_bytes().last();
        let is_folder = last.is_some_and(|&last| is_separator(last.into()));
        match (is_remote(path), is_folder) {
            _ if path == Path::new("-") => Destination::Standard,
            (false, false) => Destination::File(path),
            (false, true) => Destination::Folder(path),
            (true, false) => Destination::Object(path),
            (true, true) => Destination::Prefix(path),
        }
    }

    /// Returns the name.
    pub fn path(self) -> &'a Path {
        match self {
            Destination::Standard => Path::new("-"),
            Destination::File(path)
            | Destination::Folder(path)
            | Destination::Object(path)
            | Destination::Prefix(path) => path,
        }
    }

    /// Whether it is standard output.
    pub fn is_standard(self) -> bool {
        self == Destination::Standard
    }

    /// Whether the output is in parts, under a manifest.
    pub fn is_in_parts(self) -> bool {
        matches!(self, Destination::Folder(_) | Destination::Prefix(_))
    }
}
