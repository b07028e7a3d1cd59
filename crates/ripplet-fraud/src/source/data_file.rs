//! Files of transactions.

use super::partitions::{self, Partition};
use std::path::PathBuf;
use std::sync::Arc;

/// File of transactions, with what its folders or its table say about its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Columns whose value is the same in all rows.
    pub partitions: Vec<Partition>,
    /// Columns of its table, of which the file may lack some: those are null.
    pub schema: Option<Arc<[String]>>,
    /// Folder of its Delta table.
    pub table: Option<PathBuf>,
}

impl DataFile {
    /// Describes a file by the folders that it is in.
    pub fn new(path: PathBuf) -> DataFile {
        let partitions = partitions::of_path(&path);
        DataFile { path, partitions, schema: None, table: None }
    }
}
