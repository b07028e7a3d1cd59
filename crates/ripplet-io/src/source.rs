//! Inputs with bytes at positions: files on a disk, and objects of a store.
//!
//! ```text
//! path ─▶ Source ─┬▶ File     opened when it is read
//!                 └▶ Object   size and ETag first; then ranges of bytes, several requests at a time
//! ```

#[cfg(feature = "object-storage")]
use crate::object::{self, Object};
use crate::small::is_plain_file;
use crate::{NotBuiltIn, Place, ReadError, ReadErrorKind};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Schemes of addresses that are read.
const SCHEMES: [&str; 8] = ["s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https"];

/// Returns the scheme of an address such as `s3://bucket/key`; `None` for the path of a file.
pub(crate) fn scheme_of(path: &Path) -> Option<&str> {
    let (scheme, _) = path.to_str()?.split_once("://")?;
    let is_scheme = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
    // A single character is a drive of Windows.
    (scheme.len() > 1 && scheme.chars().all(is_scheme)).then_some(scheme)
}

/// Whether a path is the address of an object, such as `s3://bucket/key`, and not that of a file.
pub fn is_remote(path: &Path) -> bool {
    scheme_of(path).is_some()
}

/// Rejects an address of object storage where only files on a disk are read or written; `what` is the subject of the
/// sentence, in the plural, such as "outputs".
///
/// # Errors
/// If the path is such an address.
pub fn check_on_disk(path: &Path, what: &str) -> io::Result<()> {
    match scheme_of(path) {
        None => Ok(()),
        Some(scheme) => Err(io::Error::new(
            ErrorKind::InvalidInput,
            format!("{what} are on a disk, not behind {scheme}://: name a path, and copy the file"),
        )),
    }
}

/// Rejects an address that can be no input: one with an unknown scheme, or one with a password or a query, which messages
/// would print.
///
/// # Errors
/// If it is one.
pub fn check_address(path: &Path) -> Result<(), ReadError> {
    let Some(scheme) = scheme_of(path) else { return Ok(()) };
    let refused = |path: &Path, kind: ReadErrorKind| {
        Err(ReadError { path: path.into(), place: Place::File, kind })
    };
    let rest = path.to_str().map_or("", |address| &address[scheme.len() + 3..]);
    if scheme == "file" {
        let sentence = format!(
            "a file on a disk is named by its path: {}",
            rest.trim_start_matches("localhost")
        );
        return refused(path, sentence.into());
    }
    if !SCHEMES.contains(&scheme) {
        let known = SCHEMES.join("://, ");
        let sentence =
            format!("no storage has the scheme {scheme}://: expected {known}://, or a path");
        return refused(path, sentence.into());
    }
    if scheme.starts_with("http") {
        let (host, _) = rest.split_once('/').unwrap_or((rest, ""));
        if host.contains('@') || rest.contains(['?', '#']) {
            let sentence = "an address with a password, a query or a fragment is not read, as messages would print it: \
                            download the file, or use s3://, gs:// or az:// with credentials of the environment";
            let shown = rest.split(['?', '#']).next().unwrap_or_default();
            let shown = shown.rsplit_once('@').map_or(shown, |(_, place)| place);
            return refused(Path::new(&format!("{scheme}://{shown}")), sentence.into());
        }
    }
    match cfg!(feature = "object-storage") {
        true => Ok(()),
        false => refused(path, NotBuiltIn::OBJECT_STORAGE.into()),
    }
}

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

/// What this process has requested of object storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Requests for ranges of bytes; not those that were repeated, or that ask for names and sizes.
    pub requests: u64,
    /// Bytes of objects that were received.
    pub bytes: u64,
}

/// Returns what this process has requested of object storage since it began.
pub fn fetched() -> Fetched {
    #[cfg(feature = "object-storage")]
    return object::fetched();
    #[cfg(not(feature = "object-storage"))]
    Fetched::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_path_has_none() {
        for (path, scheme) in [
            ("s3://bucket/key", Some("s3")),
            ("abfss://c@a.dfs.core.windows.net/x.csv", Some("abfss")),
            ("s4://b", Some("s4")),
            ("C://x.csv", None),
            ("days/s3:/x", None),
            ("a b://c", None),
            ("x.csv", None),
            ("-", None),
        ] {
            assert_eq!(scheme_of(Path::new(path)), scheme, "{path}");
        }
        assert!(check_on_disk(Path::new("out.tsv"), "outputs").is_ok());
        let error = check_on_disk(Path::new("s3://b/out.tsv"), "outputs").unwrap_err().to_string();
        assert_eq!(
            error,
            "outputs are on a disk, not behind s3://: name a path, and copy the file"
        );
    }

    #[test]
    fn secrets_of_an_address_are_not_printed() {
        for address in [
            "https://ann:secret@example.org/x.csv",
            "https://example.org/x.csv?sig=secret",
            "http://example.org/x.csv#secret",
            "https://ann:secret@example.org/x.csv?sig=secret",
        ] {
            let error = check_address(Path::new(address)).unwrap_err();
            let sentence = error.to_string();
            assert!(
                sentence.contains("example.org/x.csv: an address with a password"),
                "{sentence}"
            );
            assert!(!sentence.contains("secret") && !format!("{error:?}").contains("secret"));
        }
        let error = check_address(Path::new("s4://b/x.csv")).unwrap_err().to_string();
        assert!(error.starts_with("s4://b/x.csv: no storage has the scheme s4://"), "{error}");
        let error = check_address(Path::new("file:///data/x.csv")).unwrap_err().to_string();
        assert!(error.ends_with("a file on a disk is named by its path: /data/x.csv"), "{error}");
        assert!(check_address(Path::new("x.csv")).is_ok());
    }
}
