//! Addresses of objects, such as `s3://bucket/key`, in place of paths.

use crate::{NotBuiltIn, Place, ReadError, ReadErrorKind, WriteError};
use std::io::{self, ErrorKind};
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
    let refused = |path: &Path, kind: ReadErrorKind| {
        Err(ReadError { path: path.into(), place: Place::File, kind })
    };
    match fault_of(path) {
        Some((shown, sentence)) => refused(&shown, sentence.into()),
        None if is_remote(path) && !cfg!(feature = "object-storage") => {
            refused(path, NotBuiltIn::OBJECT_STORAGE.into())
        }
        None => Ok(()),
    }
}

/// Rejects an address that can be no output: one that can be no input, and one of a web server.
///
/// # Errors
/// If it is one.
pub(crate) fn check_output_address(path: &Path) -> Result<(), WriteError> {
    let refused = |path: &Path, sentence: String| {
        let source = io::Error::new(ErrorKind::InvalidInput, sentence);
        Err(WriteError { path: path.into(), source })
    };
    match (fault_of(path), scheme_of(path)) {
        (Some((shown, sentence)), _) => refused(&shown, sentence),
        (None, Some("http" | "https")) => refused(
            path,
            "a web server takes no outputs: name a path, or an address of s3://, gs:// or az://"
                .into(),
        ),
        (None, Some(_)) if !cfg!(feature = "object-storage") => {
            refused(path, NotBuiltIn::OBJECT_OUTPUTS.to_string())
        }
        (None, _) => Ok(()),
    }
}

/// Returns why an address is neither read nor written, and what of it may be shown.
fn fault_of(path: &Path) -> Option<(PathBuf, String)> {
    let scheme = scheme_of(path)?;
    let rest = path.to_str().map_or("", |address| &address[scheme.len() + 3..]);
    if scheme == "file" {
        let sentence = format!(
            "a file on a disk is named by its path: {}",
            rest.trim_start_matches("localhost")
        );
        return Some((path.into(), sentence));
    }
    if !SCHEMES.contains(&scheme) {
        let known = SCHEMES.join("://, ");
        let sentence =
            format!("no storage has the scheme {scheme}://: expected {known}://, or a path");
        return Some((path.into(), sentence));
    }
    let (host, _) = rest.split_once('/').unwrap_or((rest, ""));
    if scheme.starts_with("http") && (host.contains('@') || rest.contains(['?', '#'])) {
        let sentence = "an address with a password, a query or a fragment is not read, as messages would print it: \
                        download the file, or use s3://, gs:// or az:// with credentials of the environment";
        let shown = rest.split(['?', '#']).next().unwrap_or_default();
        let shown = shown.rsplit_once('@').map_or(shown, |(_, place)| place);
        return Some((format!("{scheme}://{shown}").into(), sentence.into()));
    }
    None
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
        let web = check_output_address(Path::new("https://ann:secret@example.org/x?sig=secret"));
        assert!(!format!("{web:?}").contains("secret"), "{web:?}");
        let web = check_output_address(Path::new("https://example.org/x.csv")).unwrap_err();
        assert!(web.to_string().contains("x.csv: a web server takes no outputs"), "{web}");
        let error = check_address(Path::new("s4://b/x.csv")).unwrap_err().to_string();
        assert!(error.starts_with("s4://b/x.csv: no storage has the scheme s4://"), "{error}");
        let error = check_address(Path::new("file:///data/x.csv")).unwrap_err().to_string();
        assert!(error.ends_with("a file on a disk is named by its path: /data/x.csv"), "{error}");
        assert!(check_address(Path::new("x.csv")).is_ok());
    }
}
