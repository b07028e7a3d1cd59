//! Tables: batches of Arrow arrays that go to Python and come from it.

use crate::array::Array;
use crate::arrow::{self, capsule_of_batches};
use crate::column::{column_of, kind_of};
use crate::error::{Class, Failure, of_table};
use crate::job::Start;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    UInt8Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, make_array,
    new_empty_array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::concat::concat;
use arrow_select::nullif::nullif;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use ripplet::graph::memory;
use ripplet::io::Format;
use ripplet::io::tables::TableFile;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Batches with one schema.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Table {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

/// Column that Python passes: its name, its values, where it is null, and the unit of values that are times, or `bool`.
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
        let batches =
            Start::default().wait(table.py(), move |watch| rows.batches(&watch.cancel()))?;
        Ok(Table { schema, batches })
    }

    /// Returns a table of columns.
    #[staticmethod]
    fn of_columns(columns: Vec<Given<'_>>, name: &str) -> PyResult<Table> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (title, values, nulls, unit) in columns {
            let mut array = column_of(&values, &title)?;
            array = match unit.as_deref() {
                None => array,
                Some("bool") => flags_of(&array, &title)?,
                Some(unit) => times_of(&array, &title, unit)?,
            };
            if let Some(nulls) = nulls {
                let nulls = flags_of(&column_of(&nulls, &title)?, &title)?;
                array = nullif(&array, nulls.as_boolean())
                    .map_err(|error| Failure::input(format!("{title}: {error}")))?;
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
                let file = Table::of_file(path)?;
                for batch in file.batches {
                    memory::push(&mut batches, batch)?;
                }
                schema.get_or_insert(file.schema);
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

    /// Returns the values of a column: what they are, an array or a list of texts, and a mask of those that are null.
    fn values(&self, py: Python<'_>, column: usize) -> PyResult<Values> {
        let Some(field) = self.schema.fields().get(column) else {
            return Err(Failure::input(format!("there is no column {column}")).into());
        };
        let (name, kind) = (field.name(), field.data_type().clone());
        let arrays: Vec<ArrayRef> =
            self.batches.iter().filter_map(|batch| batch.columns().get(column).cloned()).collect();
        let read = move || -> Result<Values, Failure> {
            let all: Vec<&dyn arrow_array::Array> = arrays.iter().map(|array| &**array).collect();
            let array = match &all[..] {
                [] => new_empty_array(&kind),
                all => concat(all).map_err(|error| Failure::new(Class::Run, error))?,
            };
            let nulls = nulls_of(&array);
            Ok(Values(found_in(array)?, nulls))
        };
        py.detach(read).map_err(|Failure { class, message }| {
            Failure::new(class, format!("{name}: {message}")).into()
        })
    }

    /// Returns the table as bytes of Arrow IPC.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let write = || -> Result<Vec<u8>, ArrowError> {
            let mut out = StreamWriter::try_new(Vec::new(), &self.schema)?;
            self.batches.iter().try_for_each(|batch| out.write(batch))?;
            out.into_inner()
        };
        let bytes = py.detach(write).map_err(|error| Failure::new(Class::Run, error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns a table of such bytes.
    #[staticmethod]
    fn of_bytes(bytes: &[u8]) -> PyResult<Table> {
        let read = || -> Result<Table, ArrowError> {
            let reader = StreamReader::try_new(bytes, None)?;
            let schema = reader.schema();
            Ok(Table { schema, batches: reader.collect::<Result<_, _>>()? })
        };
        read().map_err(|error| Failure::input(format!("this is no table: {error}")).into())
    }

    /// Returns a capsule of a stream of the batches, which are not copied.
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule_of_batches(py, self.schema.clone(), self.batches.clone())
    }
}

impl Table {
    /// Reads a table of a file `.parquet` or `.arrow`.
    pub fn of_file(path: &Path) -> Result<Table, Failure> {
        let format = Format::of_path(path).map_or(Format::Parquet, |(format, _)| format);
        let file = TableFile::open(path, format)?;
        let all: Vec<usize> = (0..file.schema().fields().len()).collect();
        let mut batches = Vec::new();
        for rows in file.batches(&all)? {
            memory::push(&mut batches, rows?.batch)?;
        }
        Ok(Table { schema: Arc::new(file.schema().clone()), batches })
    }

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

/// Values of a column.
#[derive(IntoPyObject)]
pub struct Values(Found, Option<Array>);

/// Values, and what they are.
#[derive(IntoPyObject)]
pub enum Found {
    /// Numbers and truth values, or microseconds since 1970: an array, and numpy's name of its type.
    Numbers(Array, &'static str),
    /// Strings and decimals.
    Texts(Vec<Option<String>>, &'static str),
}

/// Returns a mask of the nulls, if there are some.
fn nulls_of(array: &ArrayRef) -> Option<Array> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    Some(Array::of(nulls.iter().map(|valid| !valid).collect::<Vec<bool>>()))
}

fn found_in(array: ArrayRef) -> Result<Found, Failure> {
    macro_rules! numbers {
        ($type:ty, $name:expr) => {{
            let values = array.as_primitive::<$type>().values().clone();
            Found::Numbers(Array::within(values, |values| &values[..]), $name)
        }};
    }
    Ok(match array.data_type() {
        DataType::UInt32 => numbers!(UInt32Type, "uint32"),
        DataType::UInt64 => numbers!(UInt64Type, "uint64"),
        DataType::Int32 => numbers!(Int32Type, "int32"),
        DataType::Int64 => numbers!(Int64Type, "int64"),
        DataType::Float32 => numbers!(Float32Type, "float32"),
        DataType::Float64 => numbers!(Float64Type, "float64"),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers!(TimestampMicrosecondType, "datetime64[us]")
        }
        DataType::Boolean => {
            let values: Vec<bool> = array.as_boolean().iter().map(|v| v == Some(true)).collect();
            Found::Numbers(Array::of(values), "bool")
        }
        DataType::Utf8 => {
            let texts = array.as_string::<i32>().iter();
            Found::Texts(texts.map(|text| text.map(str::to_owned)).collect(), "str")
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>().iter();
            Found::Texts(texts.map(|text| text.map(str::to_owned)).collect(), "str")
        }
        DataType::Decimal128(..) => {
            let array = array.as_primitive::<Decimal128Type>();
            let text = |row| (!array.is_null(row)).then(|| array.value_as_string(row));
            Found::Texts((0..array.len()).map(text).collect(), "decimal")
        }
        other => {
            let message = format!("values of the type {other} have no array: use to_arrow()");
            return Err(Failure::new(Class::Type, message));
        }
    })
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

/// Returns bytes as truth values.
fn flags_of(array: &ArrayRef, name: &str) -> PyResult<ArrayRef> {
    match array.as_primitive_opt::<UInt8Type>() {
        Some(flags) => {
            Ok(Arc::new(flags.iter().map(|flag| Some(flag == Some(1))).collect::<BooleanArray>()))
        }
        None => Err(Failure::input(format!("{name}: truth values are bytes of 0 and 1")).into()),
    }
}
