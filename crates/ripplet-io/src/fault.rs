//! Error in an input whose file is not named yet.

use crate::names::InternError;
use crate::{Place, ReadError, ReadErrorKind};
use ripplet_graph::{EdgeTableError, OutOfMemory};
use std::path::Path;

/// Error in an input whose file is not named yet.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) kind: ReadErrorKind,
}

impl Fault {
    /// Creates an error at a position; a failed memory allocation has no position.
    pub(crate) fn at(place: Place, why: impl Into<ReadErrorKind>) -> Fault {
        let kind = why.into();
        match kind {
            ReadErrorKind::OutOfMemory(_) => Fault { place: Place::File, kind },
            _ => Fault { place, kind },
        }
    }

    /// Creates an error of a line, counted from 1.
    pub(crate) fn line(line: u64, why: impl Into<ReadErrorKind>) -> Fault {
        Fault::at(Place::Line(line), why)
    }

    /// Creates an error of the text as a whole.
    pub(crate) fn whole(why: impl Into<ReadErrorKind>) -> Fault {
        Fault::at(Place::File, why)
    }

    /// Whether the content is wrong, rather than the system or the request.
    pub(crate) fn is_of_content(&self) -> bool {
        matches!(self.kind, ReadErrorKind::Content(_) | ReadErrorKind::NoEdges(_))
    }

    /// Leaves the file's name out.
    pub(crate) fn unnamed(error: ReadError) -> Fault {
        Fault { place: error.place, kind: error.kind }
    }

    /// Adds the file's name.
    pub(crate) fn of(self, path: &Path) -> ReadError {
        ReadError { path: path.into(), place: self.place, kind: self.kind }
    }
}

/// The parsers check what a table checks, with line numbers; this reports the remaining errors.
impl From<EdgeTableError> for Fault {
    fn from(error: EdgeTableError) -> Fault {
        Fault::whole(error.to_string())
    }
}

impl From<OutOfMemory> for Fault {
    fn from(error: OutOfMemory) -> Fault {
        Fault::whole(error)
    }
}

impl From<InternError> for Fault {
    fn from(error: InternError) -> Fault {
        Fault::whole(error)
    }
}
