//! Reads small files as a whole, such as those written by hand.

use crate::{Place, ReadError, ReadErrorKind};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Size limit in bytes of a file that is written by hand.
pub const LARGEST_TEXT: u64 = 1 << 20;

/// Reads a small text, such as a mapping or a program, from a file or a pipe; `expected` describes it in an
/// error.
///
/// Memory: the text, and no more than `most` bytes, whatever the path names.
///
/// # Errors
/// If it cannot be read, has more than `most` bytes, or is not UTF-8.
pub fn read_small_text(path: &Path, most: u64, expected: &str) -> Result<String, ReadError> {
    let bytes = read_small(path, most, expected)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = Place::Byte(error.utf8_error().valid_up_to() as u64);
        ReadError::content(path, at, format!("this is not UTF-8: expected {expected}"))
    })
}

/// Reads a small file, such as certificates, from a file or a pipe; `expected` describes it in an error.
///
/// # Errors
/// If it cannot be read, or has more than `most` bytes.
pub fn read_small(path: &Path, most: u64, expected: &str) -> Result<Vec<u8>, ReadError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| ReadError::io(path, Place::File, error))?;
    if bytes.len() as u64 > most {
        let kind = format!("it has more than {most} bytes: expected {expected}");
        return Err(ReadError { path: path.into(), place: Place::File, kind: kind.into() });
    }
    Ok(bytes)
}

/// Whether a path, or the target of a link, is a regular file: not a pipe, a socket, a device or a folder, of
/// which the first would block its reader.
pub fn is_plain_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Rejects a pipe, a socket, a device or a folder; the reader reports a missing file.
///
/// # Errors
/// If the path leads to something that is not a regular file.
pub fn check_plain(path: &Path) -> Result<(), ReadError> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(ReadError {
            path: path.into(),
            place: Place::File,
            kind: ReadErrorKind::Content(
                "this is a pipe, a socket, a device or a folder: expected a file on a disk".into(),
            ),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_small_text(&path, 5, "a mapping").unwrap(), "12345");
        let error = read_small_text(&path, 4, "a mapping").unwrap_err().to_string();
        assert!(error.ends_with("it has more than 4 bytes: expected a mapping"), "{error}");
        std::fs::write(&path, b"ab\xff").unwrap();
        let error = read_small_text(&path, 4, "a mapping").unwrap_err().to_string();
        assert!(error.contains("at byte 2: this is not UTF-8"), "{error}");
        assert!(is_plain_file(&path) && !is_plain_file(folder.path()));
        assert!(check_plain(folder.path()).is_err() && check_plain(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let zeros = Path::new("/dev/zero");
        assert!(read_small(zeros, LARGEST_TEXT, "a mapping").is_err());
        assert!(check_plain(zeros).is_err() && !is_plain_file(zeros));
    }
}
