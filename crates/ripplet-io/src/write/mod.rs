//! Writers of communities and graphs, as atomic files.
//!
//! ```text
//! vertices or arcs ─▶ blocks, formatted (and compressed) in parallel ─▶ written in order ─▶ AtomicFile
//! ```
//!
//! The file's extension selects the format and the compression. The bytes do not depend on the number of
//! threads: blocks are cut by rows, and each is compressed independently (a `.gz` has several members, a
//! `.zst` several frames, as their standards allow).
//!
//! Memory: a few blocks a thread, which is some megabytes.

mod annotated;
mod column;
#[cfg(feature = "columnar")]
mod columnar;
#[cfg(not(feature = "columnar"))]
#[path = "columnar_absent.rs"]
mod columnar;
mod communities;
mod graph;
mod manifest;
#[cfg(feature = "archives")]
mod npz;
mod parts;
#[cfg(feature = "columnar")]
mod records;
mod table;
mod vertex_table;

pub use crate::output::{
    AtomicFile, Destination, OutputsStopped, SyncedTogether, UnfinishedPaths, check_destination,
    left_in, remove_unfinished, try_remove_unfinished, whole_file,
};
pub use annotated::{check_communities_or_graph, is_graph, write_communities_or_graph};
pub use communities::{
    Communities, Naming, check_communities, numbered_by_size, write_communities,
    write_communities_part,
};
pub use graph::{check_graph_name, write_graph};
pub use manifest::PartRecord;
#[cfg(feature = "archives")]
pub use npz::{Element, NpzWriter};
pub use parts::TableParts;
#[cfg(feature = "columnar")]
pub use records::RecordWriter;
#[cfg(feature = "columnar")]
pub use table::ArrowTableWriter;
pub use table::{ColumnData, ColumnKind, Part, Rows, Subject, TableShape, TableWriter};
pub use vertex_table::{
    VertexColumn, check_community_table, check_values, check_vertex_table, write_community_table,
    write_numbered_table, write_values, write_vertex_table,
};

pub(crate) use manifest::parts_in;

use crate::output::text::Fields;
use crate::output::{in_order, refused};
use crate::{Compression, Format, NotBuiltIn, WriteError};
use ripplet_graph::VertexIds;
use std::io;
use std::path::Path;

/// Output of a table: a destination, and a format that overrides the one of its extension.
///
/// Without a format, standard output (`-`) is `.txt`, and parts are `.parquet`.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    destination: Destination<'a>,
    format: Option<Format>,
}

impl<'a> Target<'a> {
    /// Creates a target of a path, and of a format that overrides the extension's.
    pub fn new(path: &'a Path, format: Option<Format>) -> Target<'a> {
        Target { destination: Destination::of(path), format }
    }

    /// Returns the path.
    pub fn path(self) -> &'a Path {
        self.destination.path()
    }

    /// Returns the destination.
    pub fn destination(self) -> Destination<'a> {
        self.destination
    }

    /// Returns the format and compression, if the extension or the given format determines them.
    fn resolved_format(self) -> Option<(Format, Compression)> {
        if self.destination.is_in_parts() {
            return Some(parts::format_of(self.format));
        }
        let by_name = Format::of_path(self.path());
        match (self.format, by_name) {
            (Some(format), Some((_, compression))) => Some((format, compression)),
            (Some(format), None) => Some((format, graph::compression_of(self.path()))),
            (None, None) if self.destination.is_standard() => {
                Some((Format::EdgeList, Compression::None))
            }
            (None, by_name) => by_name,
        }
    }

    /// Returns an error of writing there.
    fn error(self, source: io::Error) -> WriteError {
        WriteError { path: self.path().into(), source }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Target<'a> {
    fn from(path: &'a P) -> Target<'a> {
        Target::new(path.as_ref(), None)
    }
}

/// Returns the format of a listing with one line or row per vertex, which may also be `.txt`; `what` describes
/// it.
fn listing_format(
    target: Target<'_>,
    ids: &VertexIds,
    what: &str,
) -> io::Result<(Format, Compression)> {
    let resolved = target.resolved_format();
    let otherwise = format!(
        "{what} are written as .txt, .tsv, .csv or .jsonl (each also .gz or .zst), .parquet or .arrow: \
         choose such a name, or give its format as --to"
    );
    table_format(target.path(), resolved, ids, Format::is_listing, &otherwise)
}

/// Returns the resolved format of a table, if it is an allowed one and can hold the ids; text may be
/// compressed. `otherwise` lists the allowed names.
fn table_format(
    path: &Path,
    resolved: Option<(Format, Compression)>,
    ids: &VertexIds,
    is_meant: impl Fn(Format) -> bool,
    otherwise: &str,
) -> io::Result<(Format, Compression)> {
    let fits = |&(format, compression): &(Format, Compression)| {
        let packs = Fields::of(format).is_some() || compression == Compression::None;
        is_meant(format) && packs
    };
    let (format, compression) = resolved.filter(fits).ok_or_else(|| unfit(path, otherwise))?;
    NotBuiltIn::check_writer(format, compression).map_err(absent)?;
    Fields::of(format).map_or(Ok(()), |fields| fields.spaced(ids).check(ids))?;
    Ok((format, compression))
}

/// Returns the refusal of an output whose name has no format that is written: that it is a folder, or else `otherwise`.
fn unfit(path: &Path, otherwise: &str) -> io::Error {
    match path.is_dir() {
        true => {
            let inside = path.join("result.csv");
            refused(format!("this is a folder: name a file in it, such as {}", inside.display()))
        }
        false => refused(otherwise),
    }
}

/// The refusal of a format that this build lacks.
fn absent(part: NotBuiltIn) -> io::Error {
    refused(part.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Disk with room for some bytes.
    struct Disk {
        room: usize,
        taken: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match bytes.len().min(self.room - self.taken) {
                0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
                now => {
                    self.taken += now;
                    Ok(now)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Checks that `write` reports a full disk after any number of bytes.
    pub(super) fn fails_at_every_byte(write: impl Fn(&mut (dyn Write + Send)) -> io::Result<()>) {
        let mut endless = Disk { room: usize::MAX, taken: 0 };
        write(&mut endless).unwrap();
        for room in 0..endless.taken {
            let error = write(&mut Disk { room, taken: 0 }).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "room for {room}: {error}");
        }
        write(&mut Disk { room: endless.taken, taken: 0 }).unwrap();
    }
}
