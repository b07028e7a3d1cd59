//! Inputs with bytes at positions: files on a disk, and objects of a store.
//!
//! ```text
//! path ─▶ Source ─┬▶ File     opened when it is read
//!                 └▶ Object   size and ETag first; then ranges of bytes, several requests at a time
//! ```

#[cfg(feature = "object-storage")]
use crate::Place;
use crate::ReadError;
use crate::address::{check_address, is_remote};
#[cfg(feature = "object-storage")]
use crate::object::{self, Object};
use crate::small::is_plain_file;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An input with bytes at positions.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A file on a disk, a pipe, or whatever else the path leads to.
    File(PathBuf),
    /// An object of a store, as it was when it was first asked for.
    #[cfg(feature = "object-storage")]
    Object(Object),
}

/// How a reader asks for the bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// All bytes are needed: large requests, several at a time.
    All,
    /// The first bytes may be enough: small requests first.
    First,
}

impl Source {
    /// Returns the source at a path or an address. Of an object, this asks for its size; of a file, for nothing.
    ///
    /// # Errors
    /// If the address is none that is read, or the server does not answer or has no such object.
    pub(crate) fn of(path: &Path) -> Result<Source, ReadError> {
        if !is_remote(path) {
            return Ok(Source::File(path.into()));
        }
        check_address(path)?;
        #[cfg(feature = "object-storage")]
        return Object::of(path)
            .map(Source::Object)
            .map_err(|error| ReadError::io(path, Place::File, error));
        #[cfg(not(feature = "object-storage"))]
        unreachable!("this build reads no address")
    }

    /// Returns the objects whose names match, ascending by name, and the names of folders that match.
    ///
    /// # Errors
    /// If the server does not answer, or cannot list.
    pub(crate) fn list(
        folder: &Path,
        matches: &dyn Fn(&str) -> bool,
    ) -> Result<(Vec<Source>, Vec<String>), ReadError> {
        check_address(folder)?;
        #[cfg(feature = "object-storage")]
        return object::list(folder, matches)
            .map(|(objects, folders)| (objects.into_iter().map(Source::Object).collect(), folders))
            .map_err(|error| ReadError::io(folder, Place::File, error));
        #[cfg(not(feature = "object-storage"))]
        unreachable!("this build reads no address: {}", matches(""))
    }

    /// Returns the path or the address.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Source::File(path) => path,
            #[cfg(feature = "object-storage")]
            Source::Object(object) => object.address(),
        }
    }

    /// Whether the source is a file or an object, whose bytes can be read more than once: not a pipe or a folder.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Source::File(path) => is_plain_file(path),
            #[cfg(feature = "object-storage")]
            Source::Object(_) => true,
        }
    }

    /// Returns the number of bytes: of a pipe, none.
    pub(crate) fn size(&self) -> io::Result<u64> {
        match self {
            Source::File(path) => Ok(fs::metadata(path)?.len()),
            #[cfg(feature = "object-storage")]
            Source::Object(object) => Ok(object.size()),
        }
    }

    /// Returns what identifies a version of an object; `None` for a file, of which bytes are compared.
    pub(crate) fn version(&self) -> Option<String> {
        match self {
            Source::File(_) => None,
            #[cfg(feature = "object-storage")]
            Source::Object(object) => Some(object.version()),
        }
    }

    /// Returns a reader of a range of the bytes, or of fewer if there are fewer.
    pub(crate) fn reader(&self, range: Range<u64>, pace: Pace) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Source::File(path) => {
                // The system reads ahead of it.
                let _ = pace;
                let mut file = File::open(path)?;
                if range.start > 0 {
                    file.seek(SeekFrom::Start(range.start))?;
                }
                Ok(Box::new(file.take(range.end.saturating_sub(range.start))))
            }
            #[cfg(feature = "object-storage")]
            Source::Object(object) => Ok(Box::new(object.reader(range, pace == Pace::All))),
        }
    }

    /// Opens a file, or makes a copy of an object in a file without a name.
    pub(crate) fn file(&self) -> io::Result<File> {
        match self {
            Source::File(path) => File::open(path),
            #[cfg(feature = "object-storage")]
            Source::Object(object) => object.copy(),
        }
    }
}
