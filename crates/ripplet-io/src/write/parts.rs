//! Tables in parts: `part-00000.parquet`, `part-00001.parquet`, …, and `manifest.json` last.
//!
//! ```text
//! each process: begin or join ─▶ its part, settled ─▶ committed ─┐
//! the first process:                                             └▶ manifest ─▶ folder renamed
//! ```
//!
//! A folder on a disk is written under a temporary name beside its destination, and renamed once it is whole. Objects cannot be
//! renamed: their parts are uploaded first, then appear, and the manifest follows when all are there.

use super::manifest::{MANIFEST, Manifest, ManifestColumn, PartRecord, check_format};
use super::{Target, refused};
#[cfg(feature = "object-storage")]
use crate::address::check_output_address;
#[cfg(feature = "object-storage")]
use crate::object::{Provisional, Upload, is_empty};
use crate::output::{Destination, Output, PartsFolder, whole_file};
use crate::{Compression, Format, WriteError};
use ripplet_graph::{ExternalId, VertexIds};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Format of parts if none is given.
const DEFAULT: Format = Format::Parquet;

/// A table in parts, of which each of several processes writes one.
///
/// The first process calls [`TableParts::begin`], the others [`TableParts::join`]. Each writes its part and commits it. When all have
/// done so, the others call [`TableParts::leave`] and the first one [`TableParts::finish`], with the records of all parts in order.
/// [`write_communities`](super::write_communities) does all this for a single process.
///
/// Dropping the value at any time before removes what this process has written, as far as the disk or the server allows it; the
/// end of the process by a signal does so too, after [`remove_unfinished`](super::remove_unfinished).
#[derive(Debug)]
pub struct TableParts {
    place: PathBuf,
    format: Format,
    sink: PartsSink,
    /// This process's part, before it is committed.
    part: Option<Output>,
    columns: Vec<ManifestColumn>,
}

/// Where parts are written.
#[derive(Debug)]
enum PartsSink {
    Folder(PartsFolder),
    #[cfg(feature = "object-storage")]
    Prefix {
        prefix: PathBuf,
        /// This process's objects, which are removed if the table is not finished.
        objects: Vec<Provisional>,
    },
}

/// Rows of a part.
pub(super) struct PartRows<'a> {
    pub(super) rows: u64,
    /// Ids of the vertices of the first and of the last row; `None` without rows.
    pub(super) ends: Option<[ExternalId<'a>; 2]>,
    pub(super) columns: Vec<ManifestColumn>,
}

/// Returns the format of a target in parts, which may be compressed in no other way than its format does it.
pub(super) fn format_of(given: Option<Format>) -> (Format, Compression) {
    (given.unwrap_or(DEFAULT), Compression::None)
}

/// Returns the name of a part.
fn name_of(number: usize, format: Format) -> String {
    let extension = if format == Format::EdgeList { "txt" } else { format.name() };
    format!("part-{number:05}.{extension}")
}

impl TableParts {
    /// Checks that a table in parts can be written, before there is anything to write: that the folder does not exist, or that
    /// no object has an address that begins so, and that there can be one.
    ///
    /// # Errors
    /// If it exists, the format is none of a table, or the operating system or the server refuses.
    pub fn check<'a>(target: impl Into<Target<'a>>) -> Result<(), WriteError> {
        let target = target.into();
        let refuse = |source| target.error(source);
        check_format(format_of(target.format).0).map_err(refuse)?;
        match target.destination() {
            Destination::Folder(path) => PartsFolder::create(path, &[]).map(drop).map_err(refuse),
            Destination::Prefix(prefix) => Self::check_prefix(prefix),
            _ => Err(refuse(refused("parts need a folder: end its name with /"))),
        }
    }

    #[cfg(feature = "object-storage")]
    fn check_prefix(prefix: &Path) -> Result<(), WriteError> {
        let refuse = |source| WriteError { path: prefix.into(), source };
        check_output_address(prefix)?;
        match is_empty(prefix).map_err(refuse)? {
            true => Upload::check(&prefix.join(MANIFEST)).map_err(refuse),
            false => Err(refuse(refused(
                "objects of this prefix exist already: choose another name, or remove them",
            ))),
        }
    }

    #[cfg(not(feature = "object-storage"))]
    fn check_prefix(prefix: &Path) -> Result<(), WriteError> {
        crate::address::check_output_address(prefix)
    }

    /// Begins a table, in the first process, which writes part 0.
    ///
    /// # Errors
    /// See [`TableParts::check`].
    pub fn begin<'a>(target: impl Into<Target<'a>>) -> Result<TableParts, WriteError> {
        let target = target.into();
        TableParts::check(target)?;
        let (format, _) = format_of(target.format);
        let files = [name_of(0, format), MANIFEST.to_owned()];
        TableParts::open(target, |path| PartsFolder::create(path, &files))
    }

    /// Returns what the other processes join by.
    pub fn token(&self) -> String {
        match &self.sink {
            PartsSink::Folder(folder) => folder.name(),
            #[cfg(feature = "object-storage")]
            PartsSink::Prefix { .. } => String::new(),
        }
    }

    /// Joins the table that the first process has begun, to write part `number`.
    ///
    /// # Errors
    /// If this process does not see the folder.
    pub fn join<'a>(
        target: impl Into<Target<'a>>,
        token: &str,
        number: usize,
    ) -> Result<TableParts, WriteError> {
        let target = target.into();
        let files = [name_of(number, format_of(target.format).0)];
        TableParts::open(target, |path| PartsFolder::open(path, token, &files))
    }

    fn open(
        target: Target<'_>,
        folder: impl FnOnce(&Path) -> io::Result<PartsFolder>,
    ) -> Result<TableParts, WriteError> {
        let refuse = |source| target.error(source);
        let sink = match target.destination() {
            Destination::Folder(path) => PartsSink::Folder(folder(path).map_err(refuse)?),
            #[cfg(feature = "object-storage")]
            Destination::Prefix(prefix) => {
                PartsSink::Prefix { prefix: prefix.into(), objects: Vec::new() }
            }
            _ => return Err(refuse(refused("parts need a folder: end its name with /"))),
        };
        let (format, _) = format_of(target.format);
        let place = target.path().to_owned();
        Ok(TableParts { place, format, sink, part: None, columns: Vec::new() })
    }

    /// Writes a part, which does not appear yet, and returns its record.
    pub(super) fn write_part(
        &mut self,
        number: usize,
        rows: PartRows<'_>,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<PartRecord, WriteError> {
        let name = name_of(number, self.format);
        let mut out = self.create(&name)?;
        let mut counted = Counted { out: &mut out, bytes: 0 };
        let written = write(&mut counted);
        let bytes = counted.bytes;
        written.map_err(|source| self.error(source))?;
        out.settle()?;
        self.part = Some(out);
        self.columns = rows.columns;
        Ok(PartRecord::new(name, [rows.rows, bytes], rows.ends))
    }

    /// Creates a file or an object of the table, which is removed if the table is not finished.
    fn create(&mut self, name: &str) -> Result<Output, WriteError> {
        match &mut self.sink {
            PartsSink::Folder(folder) => Output::create(&folder.file(name)),
            #[cfg(feature = "object-storage")]
            PartsSink::Prefix { prefix, objects } => {
                let address = prefix.join(name);
                objects.push(provisional(&address)?);
                Output::create(&address)
            }
        }
    }

    /// Makes this process's part appear, in the temporary folder or as an object.
    ///
    /// # Errors
    /// If the operating system or the server refuses.
    pub fn commit(&mut self) -> Result<(), WriteError> {
        self.part.take().map_or(Ok(()), Output::finish)
    }

    /// Leaves the table to the first process, when all have committed their parts.
    pub fn leave(self) {
        self.keep();
    }

    /// Finishes the table, in the first process, when all have committed their parts: writes the manifest, and makes the
    /// folder appear. `parts` has the records of all processes, in order.
    ///
    /// # Errors
    /// If the operating system or the server refuses; the parts of all processes are then removed.
    pub fn finish(mut self, parts: Vec<PartRecord>) -> Result<(), WriteError> {
        let manifest = Manifest::new(self.format, std::mem::take(&mut self.columns), parts);
        let text = manifest.text();
        match self.sink {
            PartsSink::Folder(folder) => {
                whole_file(&folder.file(MANIFEST), |out| out.write_all(text.as_bytes()))?;
                folder.finish().map_err(|source| WriteError { path: self.place, source })
            }
            #[cfg(feature = "object-storage")]
            PartsSink::Prefix { prefix, mut objects } => {
                // From here on, this process alone removes what others have written.
                for part in manifest.parts().iter().skip(1) {
                    objects.push(provisional(&prefix.join(&part.name))?);
                }
                whole_file(&prefix.join(MANIFEST), |out| out.write_all(text.as_bytes()))?;
                objects.into_iter().for_each(Provisional::keep);
                Ok(())
            }
        }
    }

    fn keep(self) {
        match self.sink {
            PartsSink::Folder(folder) => folder.leave(),
            #[cfg(feature = "object-storage")]
            PartsSink::Prefix { objects, .. } => objects.into_iter().for_each(Provisional::keep),
        }
    }

    /// Names the table in an error.
    fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.place.clone(), source }
    }

    /// Returns the target of the table.
    pub(super) fn target(&self) -> Target<'_> {
        Target::new(&self.place, Some(self.format))
    }
}

/// Begins an object that is removed if the table is not finished.
#[cfg(feature = "object-storage")]
fn provisional(address: &Path) -> Result<Provisional, WriteError> {
    Provisional::begin(address).map_err(|source| WriteError { path: address.into(), source })
}

/// Returns the ids of the first and the last of some vertices.
pub(super) fn ends_of(ids: &VertexIds, first: u32, last: u32) -> [ExternalId<'_>; 2] {
    [ids.get(first), ids.get(last)]
}

/// Writer that counts bytes.
struct Counted<'a> {
    out: &'a mut Output,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
