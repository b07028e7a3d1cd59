//! Error of a run folder.

use ripplet_graph::OutOfMemory;
use ripplet_io::{ReadError, WriteError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Error of a run folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder already has a run.
    #[error("{} has a run in it already: go on with it (--resume), or name another folder", .0.display())]
    Taken(PathBuf),
    /// Another process has locked the folder.
    #[error("another process is writing to the run in {}: wait until it ends, or end it, and go on then", .0.display())]
    Busy(PathBuf),
    /// The folder has other files.
    #[error("{} is not empty, and no run is in it: name a new folder, or an empty one", .0.display())]
    NotEmpty(PathBuf),
    /// The folder has no run.
    #[error("{} has no run in it: there is no manifest.json", .0.display())]
    NoRun(PathBuf),
    /// Another version of ripplet wrote the folder, in a format that this one does not read.
    #[error(
        "{} is a run folder of ripplet {version}, in another form than ripplet {} reads: run again into a new folder, or \
         use that version",
        path.display(), env!("CARGO_PKG_VERSION")
    )]
    OtherFormat {
        /// The folder.
        path: PathBuf,
        /// The version that wrote it.
        version: String,
    },
    /// Another version of ripplet wrote it, which may find other clusters.
    #[error(
        "ripplet {there} began the run in {}, and this is ripplet {here}, which may find other clusters: run again into a new \
         folder, or go on with that version",
        path.display()
    )]
    OtherVersion {
        /// The folder.
        path: PathBuf,
        /// Version that wrote the folder.
        there: String,
        /// This version.
        here: String,
    },
    /// The folder has a run with other options.
    #[error("the run in {} has {name} {there}, and here it is {here}: go on with the same options, or name another folder", path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
        /// Name of the setting that differs.
        name: String,
        /// Value in the folder.
        there: String,
        /// Value of this run.
        here: String,
    },
    /// An input changed since the run read it.
    #[error(
        "{path} was replaced since the run read it: its windows stand on what it was. Begin a new run folder"
    )]
    Replaced {
        /// The input.
        path: String,
    },
    /// Inputs differ from those of the run.
    #[error(
        "the run began with {there}, and here {here} comes in its place: go on with the same inputs, in the same order"
    )]
    OtherInput {
        /// Input that the run read.
        there: String,
        /// Input in its place.
        here: String,
    },
    /// The operating system returned an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// A file of the run is damaged.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error, as a sentence.
        why: String,
    },
    /// A file of the run cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error("cannot write {0}")]
    Write(#[from] WriteError),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}
