//! The refusal of a database by a build without the feature `postgres`.

use super::{DatabaseError, DatabaseOptions, Replaced, RunIdentity};
use crate::folder::WindowRecord;
use crate::source::SourceError;
use ripplet_io::NotBuiltIn;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;

/// Database of results; there is none in a build without the feature `postgres`.
#[derive(Debug)]
pub struct Database(Infallible);

impl Database {
    /// Refuses a database.
    ///
    /// # Errors
    /// Always: the feature `postgres` is off.
    pub fn open(_: &DatabaseOptions) -> Result<Database, DatabaseError> {
        Err(SourceError::from(NotBuiltIn::new("writing to PostgreSQL", "postgres")).into())
    }

    /// Returns the windows of a run.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn windows(&mut self, _: &str) -> Result<BTreeMap<i64, String>, DatabaseError> {
        match self.0 {}
    }

    /// Writes a window.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn write(
        &mut self,
        _: RunIdentity<'_>,
        _: &WindowRecord,
        _: &Path,
        _: Replaced,
    ) -> Result<(), DatabaseError> {
        match self.0 {}
    }

    /// Writes how a run ended.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub fn finish(&mut self, _: &str, _: &str) -> Result<(), DatabaseError> {
        match self.0 {}
    }
}
