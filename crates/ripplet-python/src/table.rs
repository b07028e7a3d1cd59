//! Tables: batches of Arrow arrays that go to Python and come from it.

use crate::arrow::{self, capsule_of_batches};
use crate::column::{column_of, kind_of};
use crate::error::{Class, Failure, of_table};
use crate::job::Start;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, make_array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::nullif::nullif;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use ripplet::graph::memory;
use ripplet::io::Format;
use ripplet::io::tables::TableFile;
use std::path::PathBuf;
use std::sync::Arc;

/// Batches with one schema.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Table {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

/// Column that Python passes: its name, its values, where it is null, and the unit of values that are times.
type Given<'py> = (String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<String>);

#[pymethods]
impl Table {
    /// Returns the table of an object with the method `__arrow_c_stream__` or `__arrow_c_array__`, without a copy.
    #[staticmethod]
    fn of_stream(table: &Bound<'_, PyAny>, name: &str) -> PyResult<Table> {
        let Some(rows) = arrow::table_of(table)? else {
            let message = format!("{name}: {} is no table", kind_of(table));
            return Err(Failure::new(Class::Type, message).into());
        };
        let schema = rows.schema();
        let batches = Start::default().wait(table.py(), move |_| rows.batches())?;
        Ok(Table { schema, batches })
    }

    /// Returns a table of columns.
    #[staticmethod]
    fn of_columns(columns: Vec<Given<'_>>, name: &str) -> PyResult<Table> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (title, values, nulls, unit) in columns {
            let mut array = column_of(&values, &title)?;
            if let Some(unit) = unit {
                array = times_of(&array, &title, &unit)?;
            }
            if let Some(nulls) = nulls {
                array = with_nulls(&array, &column_of(&nulls, &title)?, &title)?;
            }
            fields.push(Field::new(title, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema: SchemaRef = Arc::new(Schema::new(fields));
        let rows = arrays.first().map_or(0, |array| array.len());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(
            |error| Failure::input(format!("{name}: the columns make no table: {error}")),
        )?;
        Ok(Table { schema, batches: vec![batch] })
    }

    /// Reads tables of files `.parquet` or `.arrow` with the same columns, one after the other.
    #[staticmethod]
    fn read(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Table> {
        Start::default().wait(py, move |watch| {
            watch.stage("reading tables");
            let (mut schema, mut batches) = (None, Vec::new());
            for path in &paths {
                let format = Format::of_path(path).map_or(Format::Parquet, |(format, _)| format);
                let file = TableFile::open(path, format)?;
                let all: Vec<usize> = (0..file.schema().fields().len()).collect();
                for rows in file.batches(&all)? {
                    memory::push(&mut batches, rows?.batch)?;
                }
                schema.get_or_insert_with(|| Arc::new(file.schema().clone()));
            }
            let schema = schema.unwrap_or_else(|| Arc::new(Schema::empty()));
            // Batches of a file have its metadata, which no other file has.
            let batches: Result<Vec<RecordBatch>, _> = batches
                .into_iter()
                .map(|batch: RecordBatch| {
                    RecordBatch::try_new(schema.clone(), batch.columns().to_vec())
                })
                .collect();
            let batches = batches.map_err(|error| {
                Failure::input(format!("the files have different columns: {error}"))
            })?;
            Ok(Table { schema, batches })
        })
    }

    #[getter]
    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The name and the type of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let fields = self.schema.fields().iter();
        fields.map(|field| (field.name().clone(), field.data_type().to_string())).collect()
    }

    /// Returns a capsule of a stream of the batches, which are not copied.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule_of_batches(py, self.schema.clone(), self.batches.clone())
    }
}

impl Table {
    /// Returns the table as a source of the fraud library; `name` is its name in messages.
    pub fn source(&self, name: &str) -> Result<ripplet::fraud::source::MemoryTable, Failure> {
        use ripplet::fraud::source::{MemoryTable, SourceError};
        let table = MemoryTable::new(name, self.schema.clone(), self.batches.clone());
        table.map_err(|error| match error {
            SourceError::Read(error) => of_table(error),
            error => Failure::input(error),
        })
    }
}

/// Returns numbers since 1970 as times.
fn times_of(array: &ArrayRef, name: &str, unit: &str) -> PyResult<ArrayRef> {
    let unit = match unit {
        "s" => TimeUnit::Second,
        "ms" => TimeUnit::Millisecond,
        "us" => TimeUnit::Microsecond,
        "ns" => TimeUnit::Nanosecond,
        other => {
            let message = format!("{name}: times in {other} are not read: convert them to seconds");
            return Err(Failure::input(message).into());
        }
    };
    let data = array.to_data().into_builder().data_type(DataType::Timestamp(unit, None)).build();
    let data = data.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    Ok(make_array(data))
}

/// Returns an array with nulls where `nulls` has a 1.
fn with_nulls(array: &ArrayRef, nulls: &ArrayRef, name: &str) -> PyResult<ArrayRef> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt8Type;
    let wrong = |what: String| Failure::input(format!("{name}: {what}"));
    let Some(flags) = nulls.as_primitive_opt::<UInt8Type>() else {
        return Err(wrong("a mask is of bytes".into()).into());
    };
    let mask: BooleanArray = flags.iter().map(|flag| Some(flag == Some(1))).collect();
    nullif(array, &mask).map_err(|error| wrong(error.to_string()).into())
}
