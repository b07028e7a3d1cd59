//! Password file of libpq: lines `host:port:database:user:password`.
//!
//! A field may be `*`; `\:` and `\\` are a colon and a backslash. The first matching line wins. Lines that
//! begin with `#` are comments. Other users must not be able to read the file.

use crate::source::SourceError;
use ripplet_io::{LARGEST_TEXT, read_small_text};
use std::path::Path;

/// Connection for which a password is looked up.
pub(super) struct Connection<'a> {
    /// Names of the server; any may match.
    pub hosts: Vec<&'a str>,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// Returns the password for a connection, if the file has one.
///
/// # Errors
/// If the file cannot be read, or other users may read it.
pub(super) fn password(
    path: &Path,
    connection: &Connection<'_>,
) -> Result<Option<String>, SourceError> {
    if !is_private(path) {
        return Err(SourceError::address(format!(
            "others may read the file of passwords {0}: run chmod 600 {0}",
            path.display()
        )));
    }
    let text = read_small_text(path, LARGEST_TEXT, "lines host:port:database:user:password");
    let text =
        text.map_err(|error| SourceError::address(format!("the file of passwords {error}")))?;
    Ok(text.lines().find_map(|line| password_of_line(line, connection)))
}

/// Whether only the owner may read the file; its reader reports what is no file.
#[cfg(unix)]
pub(super) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map_or(true, |found| !found.is_file() || found.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub(super) fn is_private(_: &Path) -> bool {
    true
}

fn password_of_line(line: &str, connection: &Connection<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut rest = line;
    let mut field = || {
        let (field, behind) = split(rest)?;
        rest = behind;
        Some(field)
    };
    let [host, port, database, user] = [field()?, field()?, field()?, field()?];
    let fits = |field: &str, value: &str| field == "*" || unescaped(field) == value;
    let is_it = connection.hosts.iter().any(|name| fits(host, name))
        && fits(port, &connection.port.to_string())
        && fits(database, connection.database)
        && fits(user, connection.user);
    is_it.then(|| unescaped(split(rest).map_or(rest, |(password, _)| password)))
}

/// Splits at the first colon without a backslash before it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

fn unescaped(field: &str) -> String {
    let mut plain = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => plain.extend(characters.next()),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_holds() {
        let text = "# db:5432:shop:risk:comment\ndb:5433:*:risk:port\nother:*:*:*:host\n\
                    db:5432:shop:ri\\:sk:colon\\:and\\\\\ndb:*:shop:risk:it:and more\n*:*:*:*:any";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        std::fs::write(&path, text).unwrap();
        let found = |host, port, database, user| {
            password(&path, &Connection { hosts: vec![host], port, database, user })
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let open = std::fs::Permissions::from_mode(0o644);
            std::fs::set_permissions(&path, open).unwrap();
            let error = found("db", 5432, "shop", "risk").unwrap_err().to_string();
            assert!(error.contains("run chmod 600"), "{error}");
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, private).unwrap();
        }
        for (host, port, user, expected) in [
            ("db", 5432, "risk", "it"),
            ("db", 5433, "risk", "port"),
            ("other", 1, "risk", "host"),
            ("db", 5432, "ri:sk", "colon:and\\"),
            ("third", 5432, "risk", "any"),
        ] {
            let found = found(host, port, "shop", user).unwrap();
            assert_eq!(found.as_deref(), Some(expected), "{host} {port} {user}");
        }
        std::fs::write(&path, "db:5432:shop:risk\nnonsense\n\n:::::\n").unwrap();
        assert_eq!(found("db", 5432, "shop", "risk").unwrap(), None);
        assert!(
            password(
                &folder.path().join("none"),
                &Connection { hosts: vec![], port: 0, database: "", user: "" }
            )
            .is_err()
        );
    }
}
