//! Memory-mapped files.

use ripplet_graph::OutOfMemory;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Memory-maps the content of a file; of an empty file, no bytes.
///
/// As with every mapped file, overwriting or truncating it *in place* breaks its reader. This crate's writers
/// never do that: they replace the file, and a mapping keeps the old one.
///
/// # Errors
/// If the operating system refuses, or the path names no regular file.
pub(crate) fn map(path: &Path) -> io::Result<Map> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "this format must be a file on a disk",
        ));
    }
    if metadata.len() == 0 {
        return Ok(Map(None));
    }
    // SAFETY: the pages are read only, through this mapping, whose owner keeps it alive. That no
    // process overwrites the file in place cannot be enforced on any system; the documentation
    // above, and that of `rg`, says so.
    let map = unsafe { memmap2::Mmap::map(&file) };
    let map = map.map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => {
            io::Error::new(error.kind(), OutOfMemory { bytes: metadata.len() })
        }
        _ => error,
    })?;
    Ok(Map(Some(map)))
}

/// Mapped file.
pub(crate) struct Map(Option<memmap2::Mmap>);

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
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
