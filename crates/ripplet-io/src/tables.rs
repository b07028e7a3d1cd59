//! Tables of any columns, some rows at a time: for who reads other things than edges.
//!
//! A Parquet or Arrow file is mapped ([`TableFile`]), and decoded batch by batch, on the thread that asks; memory
//! is what a batch takes. Text comes as bytes, decompressed as its first bytes say ([`open_text`]). Damage is an
//! error, as in [`columnar`](crate::columnar).

use crate::columnar::Table;
use crate::map::map;
use crate::text::{compression_of, decoder};
use crate::{Format, Place, ReadError};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use bytes::Bytes;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// An opened Parquet or Arrow IPC file.
pub struct TableFile {
    path: PathBuf,
    table: Table,
}

/// Some rows of a table.
#[derive(Debug)]
pub struct Rows {
    /// The columns that were asked for, in the file's order.
    pub batch: RecordBatch,
    /// The number of the first row, from 0.
    pub first: u64,
}

impl TableFile {
    /// Reads what a file says about itself.
    ///
    /// # Errors
    /// If it cannot be read, or is no such file.
    pub fn open(path: &Path, format: Format) -> Result<TableFile, ReadError> {
        let bytes = map(path).map_err(|error| ReadError::io(path, Place::File, error))?;
        let table = Table::open(Bytes::from_owner(bytes), format);
        Ok(TableFile { path: path.into(), table: table.map_err(|fault| fault.of(path))? })
    }

    /// The columns there are.
    pub fn schema(&self) -> &Schema {
        self.table.schema()
    }

    /// Returns all rows, of the columns at these places, which ascend.
    ///
    /// # Errors
    /// If the file cannot be read; an item, if it is damaged there. The first error is the last item.
    pub fn batches(
        &self,
        columns: &[usize],
    ) -> Result<impl Iterator<Item = Result<Rows, ReadError>> + Send + use<>, ReadError> {
        let path = self.path.clone();
        let batches = self.table.batches(columns).map_err(|fault| fault.of(&path))?;
        let mut next = 0;
        Ok(batches.map(move |batch| {
            let batch = batch.map_err(|fault| fault.of(&path))?;
            let first = next;
            next += batch.num_rows() as u64;
            Ok(Rows { batch, first })
        }))
    }
}

/// Returns a text's bytes, decompressed where its first bytes say that they are `.gz` or `.zst`.
///
/// # Errors
/// If the operating system refuses.
pub fn open_text(path: &Path) -> Result<Box<dyn Read + Send>, ReadError> {
    const FIRST: u64 = 4;
    let open = || {
        let mut file = File::open(path)?;
        let mut first = Vec::new();
        file.by_ref().take(FIRST).read_to_end(&mut first)?;
        let compression = compression_of(&first);
        decoder(Cursor::new(first).chain(file), compression)
    };
    open().map_err(|error| ReadError::io(path, Place::File, error))
}
