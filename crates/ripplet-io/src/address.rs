//! Addresses of objects, such as `s3://bucket/key`, in place of paths.

use crate::{NotBuiltIn, Place, ReadError, ReadErrorKind};
use std::io::{self, ErrorKind};
use std::path::Path;

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
