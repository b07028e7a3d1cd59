//! Memory-mapped files.

use crate::source::Source;
use crate::{Place, ReadError};
use ripplet_graph::OutOfMemory;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

/// Memory-maps the content of a file; of an empty file, no bytes. An object of a store is copied into a file without a name
/// before.
///
/// As with every mapped file, overwriting or truncating it *in place* breaks its reader. This crate's writers
/// never do that: they replace the file, and a mapping keeps the old one.
///
/// # Errors
/// If the operating system refuses, or the path names no regular file.
pub(crate) fn map(path: &Path) -> Result<Map, ReadError> {
    map_source(&Source::of(path)?)
}

/// Memory-maps the content of a source as [`map`] does.
pub(crate) fn map_source(source: &Source) -> Result<Map, ReadError> {
    let mapped = source.file().and_then(map_file);
    mapped.map_err(|error| ReadError::io(source.path(), Place::File, error))
}

/// Memory-maps the content of a file as [`map`] does. Of an object, only the bytes are there that [`Map::fill`] copies; the
/// others are zero.
pub(crate) fn map_parts(path: &Path) -> Result<Map, ReadError> {
    match Source::of(path)? {
        #[cfg(feature = "object-storage")]
        Source::Object(object) => {
            let mapped = object.begin_copy().and_then(|copy| {
                let map = map_file(copy.file()?)?;
                Ok(Map { copy: Some(copy), ..map })
            });
            mapped.map_err(|error| ReadError::io(path, Place::File, error))
        }
        source => map_source(&source),
    }
}

/// Memory-maps the content of an open file as [`map`] does.
pub(crate) fn map_file(file: File) -> io::Result<Map> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "this format must be a file on a disk",
        ));
    }
    if metadata.len() == 0 {
        return Ok(Map::of(None));
    }
    // SAFETY: the pages are read only, through this mapping, whose owner keeps it alive. That no
    // process overwrites the file in place cannot be enforced on any system; the documentation
    // above, and that of `rg`, says so. A copy of an object has no name, and `Map::fill` writes its
    // bytes before they are read.
    let map = unsafe { memmap2::Mmap::map(&file) };
    let map = map.map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => {
            io::Error::new(error.kind(), OutOfMemory { bytes: metadata.len() })
        }
        _ => error,
    })?;
    Ok(Map::of(Some(map)))
}

/// Mapped file.
pub(crate) struct Map {
    map: Option<memmap2::Mmap>,
    /// The copy of an object that is being filled.
    #[cfg(feature = "object-storage")]
    copy: Option<crate::object::Copy>,
}

impl Map {
    fn of(map: Option<memmap2::Mmap>) -> Map {
        Map {
            map,
            #[cfg(feature = "object-storage")]
            copy: None,
        }
    }

    /// Sees to it that the bytes of some ranges are there; those of a file are.
    pub(crate) fn fill(&self, ranges: impl Iterator<Item = Range<usize>>) -> io::Result<()> {
        #[cfg(feature = "object-storage")]
        if let Some(copy) = &self.copy {
            return copy.fill(ranges.map(|range| range.start as u64..range.end as u64));
        }
        drop(ranges);
        Ok(())
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_the_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for content in ["", "a", "some bytes"] {
            std::fs::write(&path, content).unwrap();
            let mapped = map(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert_eq!(mapped.as_ref(), content.as_bytes());
        }
        assert!(map(folder.path()).is_err());
        assert!(map(&path).is_err());
    }
}
