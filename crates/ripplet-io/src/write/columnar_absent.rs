//! Stubs of the Parquet and Arrow writers for a build without the feature `columnar`: each returns an error.

use super::column::{Column, ColumnType};
use super::refused;
use crate::{Compression, Format, NotBuiltIn};
use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

/// Returns the error for a table.
pub(super) fn write_table(
    out: &mut (dyn Write + Send),
    format: Format,
    columns: &[(&str, ColumnType)],
    _: usize,
    _: impl Fn(usize) -> io::Result<Vec<Column>> + Sync,
) -> io::Result<()> {
    TableFile::create(out, format, columns).map(drop)
}

/// Table that is written batch by batch: never exists in this build.
pub(super) struct TableFile<W> {
    never: Infallible,
    writer: PhantomData<W>,
}

impl<W: Write + Send> TableFile<W> {
    /// Returns the error for a table.
    pub(super) fn create(
        _: W,
        format: Format,
        _: &[(&str, ColumnType)],
    ) -> io::Result<TableFile<W>> {
        let absent = NotBuiltIn::check_writer(format, Compression::None).err();
        Err(refused(absent.map_or_else(String::new, |absent| absent.to_string())))
    }

    /// Cannot be called: no table exists.
    pub(super) fn append(
        &mut self,
        _: usize,
        _: impl Fn(usize) -> io::Result<Vec<Column>> + Sync,
    ) -> io::Result<()> {
        match self.never {}
    }

    /// Cannot be called: no table exists.
    pub(super) fn finish(self) -> io::Result<W> {
        match self.never {}
    }
}
