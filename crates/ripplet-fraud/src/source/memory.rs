//! Tables in memory: Arrow batches as a source of transactions, and as lists.
//!
//! Batches are sliced, not copied: the buffers are the caller's until they are decoded. Positions in messages count from 0,
//! as programs do.

use super::{
    Batches, Places, ROWS, RawBatch, SourceError, columns_of, files, open_file, places_of,
};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use ripplet_io::{Place, ReadError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Table in memory: batches with one schema, and its name in messages.
///
/// Cloning shares the batches. Two tables are equal if they have the same name and the same batches in memory.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    name: Arc<Path>,
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
}

impl PartialEq for MemoryTable {
    fn eq(&self, other: &MemoryTable) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.batches, &other.batches)
    }
}

impl Eq for MemoryTable {}

impl MemoryTable {
    /// Creates a table.
    ///
    /// # Errors
    /// If a batch has other columns than the schema, or columns of other types.
    pub fn new(
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<MemoryTable, SourceError> {
        let kinds = |schema: &SchemaRef| -> Vec<(String, arrow_schema::DataType)> {
            let of = schema.fields().iter();
            of.map(|field| (field.name().clone(), field.data_type().clone())).collect()
        };
        let wanted = kinds(&schema);
        if let Some(other) = batches.iter().find(|batch| kinds(&batch.schema()) != wanted) {
            let names = |of: &SchemaRef| {
                let fields = of.fields().iter();
                fields
                    .map(|f| format!("{} {}", f.name(), f.data_type()))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let sentence = format!(
                "its batches have different columns: {} and {}",
                names(&schema),
                names(&other.schema())
            );
            return Err(ReadError::content(Path::new(name), Place::File, sentence).into());
        }
        Ok(MemoryTable { name: Path::new(name).into(), schema, batches: batches.into() })
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// Returns the bytes of its arrays.
    pub fn bytes(&self) -> u64 {
        self.batches.iter().map(|batch| batch.get_array_memory_size() as u64).sum()
    }

    /// Returns the names of its columns.
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns batches of [`ROWS`] rows at most, with these columns in this order.
    ///
    /// # Errors
    /// If a column is missing, or its name is ambiguous.
    pub(super) fn open(&self, columns: &[&str]) -> Result<Batches, SourceError> {
        let names = self.columns();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let places = places_of(columns, &names, &self.name.display().to_string())?;
        let table = self.clone();
        let (mut batch, mut start, mut first) = (0, 0, 0u64);
        let next = move || {
            while let Some(whole) = table.batches.get(batch) {
                let rows = (whole.num_rows() - start).min(ROWS);
                if rows == 0 {
                    (batch, start) = (batch + 1, 0);
                    continue;
                }
                let columns = whole.slice(start, rows).project(&places).map_err(|error| {
                    let sentence = format!("the columns do not fit: {error}");
                    ReadError::content(&*table.name, Place::MemoryRow(first), sentence).into()
                });
                let read = columns.map(|columns| RawBatch {
                    columns,
                    places: Places::Memory(first),
                    trimmed: Vec::new(),
                });
                start += rows;
                first += rows as u64;
                return Some(read);
            }
            None
        };
        Ok(Box::new(std::iter::from_fn(next)))
    }
}

/// A table of the user: a file, or a table in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSource {
    /// A file: `.parquet`, `.arrow`, `.csv`, `.tsv`.
    File(PathBuf),
    /// A table in memory.
    Memory(MemoryTable),
}

impl From<PathBuf> for TableSource {
    fn from(path: PathBuf) -> TableSource {
        TableSource::File(path)
    }
}

impl From<&Path> for TableSource {
    fn from(path: &Path) -> TableSource {
        TableSource::File(path.into())
    }
}

impl From<MemoryTable> for TableSource {
    fn from(table: MemoryTable) -> TableSource {
        TableSource::Memory(table)
    }
}

impl TableSource {
    /// Returns the path of the file, or the name of the table, for messages.
    pub fn path(&self) -> &Path {
        match self {
            TableSource::File(path) => path,
            TableSource::Memory(table) => table.name(),
        }
    }

    /// Returns the names of its columns.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn columns(&self) -> Result<Vec<String>, SourceError> {
        match self {
            TableSource::File(path) => columns_of(path),
            TableSource::Memory(table) => Ok(table.columns()),
        }
    }

    /// Opens the table; batches have these columns in this order.
    ///
    /// # Errors
    /// If it cannot be read, or lacks a column.
    pub fn open(&self, columns: &[&str]) -> Result<Batches, SourceError> {
        match self {
            TableSource::File(path) => open_file(path, columns),
            TableSource::Memory(table) => table.open(columns),
        }
    }

    /// Returns the SHA-256 of a file, in hexadecimal; of a table in memory, which does not change, a text that says so.
    ///
    /// # Errors
    /// If a file cannot be read, or is no regular file.
    pub(crate) fn fingerprint(&self) -> Result<String, ReadError> {
        match self {
            TableSource::File(path) => Ok(files::fingerprint(path)?.0),
            TableSource::Memory(table) => Ok(format!("none: {} rows in memory", table.rows())),
        }
    }
}
