//! Reads general tables batch by batch, for data other than edges.
//!
//! A Parquet or Arrow file is memory-mapped ([`TableFile`]) and decoded batch by batch, on the calling
//! thread; memory is that of a batch. Text is returned as bytes, decompressed according to its first bytes
//! ([`open_text`]). Damage is an error, as in [`columnar`](crate::columnar).

use crate::columnar::Table;
use crate::source::{Pace, Source};
use crate::text::{compression_of, decoder, is_damage, pass_over};
use crate::{Compression, Format, Place, ReadError};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// Open Parquet or Arrow IPC file.
pub struct TableFile {
    path: PathBuf,
    table: Table,
}

/// Batch of rows of a table.
#[derive(Debug)]
pub struct Rows {
    /// The requested columns, in the file's order.
    pub batch: RecordBatch,
    /// The number of the first row, from 0.
    pub first: u64,
}

impl TableFile {
    /// Opens a file and reads its schema.
    ///
    /// # Errors
    /// If it cannot be read, or is no file of this format.
    pub fn open(path: &Path, format: Format) -> Result<TableFile, ReadError> {
        Ok(TableFile { path: path.into(), table: Table::of_source(&Source::of(path)?, format)? })
    }

    /// Returns the schema of all columns.
    pub fn schema(&self) -> &Schema {
        self.table.schema()
    }

    /// Returns an iterator over all rows, restricted to the columns at these indices, which ascend.
    ///
    /// # Errors
    /// If the file cannot be read. An item is an error if the file is damaged there; it is the last item.
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

/// Opens a text, decompressed if its first bytes are those of `.gz` or `.zst`.
///
/// # Errors
/// If the operating system refuses.
pub fn open_text(path: &Path) -> Result<Box<dyn Read + Send>, ReadError> {
    Ok(decompressed(path)?.1)
}

/// Checks that a compressed text decompresses, for a reader that has found a wrong row in it: the row is no error of the text if
/// its bytes came from damaged data. The first gigabyte is read again; a plain text is not.
///
/// # Errors
/// If the data is damaged, or ends early.
pub fn check_compressed(path: &Path) -> Result<(), ReadError> {
    let (compression, mut text) = decompressed(path)?;
    let name = match compression {
        Compression::None => return Ok(()),
        Compression::Gzip => "gzip",
        Compression::Zstd => "zstd",
    };
    match pass_over(&mut text) {
        Err(error) if is_damage(&error) => {
            let sentence = format!("the {name} data is damaged: {error}");
            Err(ReadError::content(path, Place::File, sentence))
        }
        _ => Ok(()),
    }
}

/// Opens a text, and returns its compression.
fn decompressed(path: &Path) -> Result<(Compression, Box<dyn Read + Send>), ReadError> {
    const FIRST: u64 = 4;
    let source = Source::of(path)?;
    let open = || {
        let mut file = source.reader(0..u64::MAX, Pace::All)?;
        let mut first = Vec::new();
        file.by_ref().take(FIRST).read_to_end(&mut first)?;
        let compression = compression_of(&first);
        Ok((compression, decoder(Cursor::new(first).chain(file), compression)?))
    };
    open().map_err(|error| ReadError::io(path, Place::File, error))
}
