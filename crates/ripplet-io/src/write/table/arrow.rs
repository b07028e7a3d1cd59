//! Tables that stay in memory, as Arrow batches.

use super::{KeyKind, Part, Sink, TableBatches, TableShape, TableWriter};
use crate::WriteError;
use crate::columnar::RecordBatch;
use crate::output::refused;
use crate::write::ColumnData;
use arrow_schema::SchemaRef;
use std::path::Path;

/// Table that is built part by part, and stays in memory: the columns and the rows are those of [`TableWriter`] in Arrow IPC.
///
/// Memory: that of the table, and a few blocks a thread. The rows do not depend on the number of threads.
///
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::write::{ArrowTableWriter, ColumnData, ColumnKind, Part, Rows, Subject, TableShape};
///
/// let ids = VertexIds::Consecutive { first: 1, count: 3 };
/// let columns = [("value", ColumnKind::F64)];
/// let mut table = ArrowTableWriter::new(TableShape { rows: Rows::Vertices, of_batch: false, columns: &columns });
/// table.append(Part::Vertices(Subject::Graph(&ids)), &[ColumnData::F64(&[0.0, 1.0, 0.0])])?;
/// let (schema, batches) = table.finish()?;
/// assert_eq!(schema.field(1).name(), "value");
/// assert_eq!(batches[0].num_rows(), 3);
/// # Ok::<(), ripplet_io::WriteError>(())
/// ```
pub struct ArrowTableWriter(TableWriter);

impl ArrowTableWriter {
    /// Begins a table.
    pub fn new(shape: TableShape<'_>) -> ArrowTableWriter {
        let TableShape { rows, of_batch, columns } = shape;
        let columns = columns.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect();
        let path = Path::new("(table in memory)").into();
        ArrowTableWriter(TableWriter {
            path,
            rows,
            of_batch,
            columns,
            sink: Some(Sink::Memory(None)),
        })
    }

    /// Appends rows, with the values of each column. After an error, further rows are rejected.
    ///
    /// # Errors
    /// If the rows or the values do not fit the shape, or memory is refused.
    pub fn append(&mut self, part: Part<'_>, values: &[ColumnData<'_>]) -> Result<(), WriteError> {
        self.0.append(part, values)
    }

    /// Returns the table. Without a part, ids are `UInt64`.
    ///
    /// # Errors
    /// If an earlier call failed.
    pub fn finish(mut self) -> Result<(SchemaRef, Vec<RecordBatch>), WriteError> {
        match self.0.sink.take() {
            Some(Sink::Memory(Some((table, _)))) => Ok((table.schema, table.batches)),
            Some(Sink::Memory(None)) => {
                let keys = vec![KeyKind::Unsigned; self.0.key_names().len()];
                let TableBatches { schema, batches } = TableBatches::new(&self.0.types(&keys));
                Ok((schema, batches))
            }
            _ => Err(self.0.error(refused("an error ended this table"))),
        }
    }
}
