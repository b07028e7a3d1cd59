//! The refusal of PostgreSQL by a build without the feature `postgres`.

use super::{Batches, SourceError};
use ripplet_io::NotBuiltIn;

/// Name of a query in messages.
pub const ORIGIN: &str = "the query";

/// Refuses a query.
///
/// # Errors
/// Always: the feature `postgres` is off.
pub fn open(_server: &str, _query: &str, _columns: &[&str]) -> Result<Batches, SourceError> {
    Err(NotBuiltIn::new("reading from PostgreSQL", "postgres").into())
}

/// Refuses a query on ranks.
pub(crate) fn open_at(
    server: &str,
    query: &str,
    columns: &[&str],
    _snapshot: Option<&str>,
) -> Result<Batches, SourceError> {
    open(server, query, columns)
}

/// A snapshot, which there is none of.
pub(crate) enum Snapshot {}

impl Snapshot {
    /// Refuses a snapshot.
    pub(crate) fn export(_server: &str) -> Result<Snapshot, SourceError> {
        Err(NotBuiltIn::new("reading from PostgreSQL", "postgres").into())
    }

    /// Returns its identifier.
    pub(crate) fn id(&self) -> &str {
        match *self {}
    }
}

/// Returns a server's address, which this build does not use, without the password.
pub fn with_password(server: &str, _password: &str) -> String {
    server.to_owned()
}
