//! The Arrow C data interface, as Python's capsules.
//!
//! [The protocol](https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html): an object with the method
//! `__arrow_c_stream__` returns a capsule of a stream, one with `__arrow_c_array__` capsules of a schema and an
//! array. pyarrow, polars, pandas, DuckDB and others have them. Nothing is copied: each buffer is released when
//! the last array that uses it is dropped.

use crate::error::{Class, Failure};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, StructArray,
    make_array, new_empty_array,
};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use ripplet::graph::{Cancel, memory};
use std::ffi::CStr;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Returns the pointer of a capsule of this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.cast().as_ptr())
}

fn unread(error: ArrowError) -> Failure {
    let class = match error {
        ArrowError::MemoryError(_) => Class::Memory,
        _ => Class::Input,
    };
    Failure::new(class, format!("the Arrow data cannot be read: {error}"))
}

fn not_arrow(error: ArrowError) -> PyErr {
    unread(error).into()
}

/// Rows of a table.
pub enum Table {
    /// A stream of batches.
    Stream(RecordBatchStreamReader),
    /// One batch.
    Batch(RecordBatch),
}

/// Returns the raw stream of an object, if the object has one.
fn raw_stream_of(object: &Bound<'_, PyAny>) -> PyResult<Option<FFI_ArrowArrayStream>> {
    let Ok(method) = object.getattr("__arrow_c_stream__") else { return Ok(None) };
    let capsule = method.call0()?;
    let stream: *mut FFI_ArrowArrayStream = pointer(&capsule, STREAM)?;
    // SAFETY: The protocol puts a valid stream into a capsule of this name. It is moved out, and marked as released,
    // before the capsule is dropped, which then has nothing to release.
    Ok(Some(unsafe { FFI_ArrowArrayStream::from_raw(stream) }))
}

/// Returns the rows of an object, if the object has some.
pub fn table_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Table>> {
    if let Some(stream) = raw_stream_of(object)? {
        return RecordBatchStreamReader::try_new(stream)
            .map(|rows| Some(Table::Stream(rows)))
            .map_err(not_arrow);
    }
    let Some(array) = array_of(object)? else { return Ok(None) };
    match array.as_any().downcast_ref::<StructArray>() {
        Some(rows) if rows.null_count() == 0 => Ok(Some(Table::Batch(rows.into()))),
        _ => Err(Failure::new(
            Class::Type,
            "an Arrow array is no table: pass it as one of the columns",
        )
        .into()),
    }
}

impl Table {
    /// Returns the columns.
    pub fn schema(&self) -> SchemaRef {
        match self {
            Table::Batch(batch) => batch.schema(),
            Table::Stream(rows) => rows.schema(),
        }
    }

    /// Returns all rows, in one batch at least, which has the columns of a table without rows. A stream may call Python: run
    /// this without the GIL.
    ///
    /// # Errors
    /// If a batch cannot be read, memory is refused, or the flag is set, which is looked at between batches.
    pub fn batches(self, cancel: &Cancel) -> Result<Vec<RecordBatch>, Failure> {
        let mut batches = Vec::new();
        match self {
            Table::Batch(batch) => batches.push(batch),
            Table::Stream(rows) => {
                let schema = rows.schema();
                for batch in rows {
                    cancel.check().map_err(|error| Failure::new(Class::Run, error))?;
                    memory::push(&mut batches, batch.map_err(unread)?)?;
                }
                if batches.is_empty() {
                    batches.push(RecordBatch::new_empty(schema));
                }
            }
        }
        Ok(batches)
    }
}

/// Returns the values of an object, if it is an Arrow array, or a stream of arrays: only several of them are copied.
pub fn values_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    if let Some(array) = array_of(object)? {
        return Ok(Some(array));
    }
    let Some(stream) = raw_stream_of(object)? else { return Ok(None) };
    let mut reader = ArrayStreamReader::try_new(stream).map_err(not_arrow)?;
    let kind = reader.field().data_type().clone();
    let chunks =
        reader.by_ref().collect::<Result<Vec<ArrayRef>, ArrowError>>().map_err(not_arrow)?;
    Ok(Some(match &chunks[..] {
        [] => new_empty_array(&kind),
        [only] => only.clone(),
        several => {
            let several: Vec<&dyn Array> = several.iter().map(|chunk| &**chunk).collect();
            concat(&several).map_err(not_arrow)?
        }
    }))
}

/// Returns an object's values, if it is an Arrow array.
fn array_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    let Ok(method) = object.getattr("__arrow_c_array__") else { return Ok(None) };
    let capsules = method.call0()?;
    let capsules = capsules.cast::<PyTuple>()?;
    let schema: *mut FFI_ArrowSchema = pointer(&capsules.get_item(0)?, SCHEMA)?;
    let array: *mut FFI_ArrowArray = pointer(&capsules.get_item(1)?, ARRAY)?;
    // SAFETY: The protocol puts a valid schema and an array of it into capsules of these names. Both are moved
    // out and marked as released before the capsules are dropped.
    let data = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema);
        from_ffi(FFI_ArrowArray::from_raw(array), &schema)
    };
    data.map(|data| Some(make_array(data))).map_err(not_arrow)
}

/// Returns a capsule of a stream of one batch.
pub fn capsule_of(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    capsule_of_batches(py, batch.schema(), vec![batch])
}

/// Returns a capsule of a stream of batches with this schema.
pub fn capsule_of_batches(
    py: Python<'_>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> PyResult<Bound<'_, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}
