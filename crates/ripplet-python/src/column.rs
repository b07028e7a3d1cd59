//! Columns of edges, from what Python has: buffers, Arrow arrays, sequences of strings or integers.

use crate::arrow::values_of;
use crate::error::{Class, Failure};
use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array as _, ArrayRef, ArrowPrimitiveType, DictionaryArray, Int64Array, PrimitiveArray,
    UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString};
use ripplet::graph::{VertexId, memory};
use std::ptr::NonNull;
use std::sync::Arc;

/// A column that is made of others.
#[pyclass(frozen, module = "ripplet._native")]
pub struct Column(ArrayRef);

#[pymethods]
impl Column {
    /// Returns a column of values, of which errors have a name.
    #[staticmethod]
    fn of(values: &Bound<'_, PyAny>, name: &str) -> PyResult<Column> {
        Ok(Column(column_of(values, name)?))
    }

    /// Returns a column of names that are given by their numbers.
    #[staticmethod]
    fn dictionary(
        codes: &Bound<'_, PyAny>,
        names: &Bound<'_, PyAny>,
        name: &str,
    ) -> PyResult<Column> {
        let (codes, names) = (column_of(codes, name)?, column_of(names, name)?);
        let codes = numbers_of(&codes, name, names.len() as u64)?;
        let column = DictionaryArray::try_new(UInt32Array::from(codes), names);
        let column = column.map_err(|error| Failure::input(format!("{name}: {error}")))?;
        Ok(Column(Arc::new(column)))
    }
}

/// Returns the values of an object as an Arrow array; without a copy if it is one, or has a buffer of numbers.
///
/// # Errors
/// If it has neither, is no list of strings or integers, or a value is `None`; the error names the row.
pub fn column_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<ArrayRef> {
    if let Ok(column) = object.cast::<Column>() {
        return Ok(column.get().0.clone());
    }
    if let Some(values) = values_of(object)? {
        return Ok(values);
    }
    if let Ok(list) = object.cast::<PyList>() {
        return of_list(list, name);
    }
    match PyUntypedBuffer::get(object) {
        Ok(buffer) => of_buffer(buffer, name),
        Err(_) => Err(Failure::new(
            Class::Type,
            format!(
                "{name}: expected an array or a list of integers or strings, not {}",
                kind_of(object)
            ),
        )
        .into()),
    }
}

/// Returns the name of an object's type.
pub fn kind_of(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "this object".into(), |name| name.to_string())
}

fn of_buffer(buffer: PyUntypedBuffer, name: &str) -> PyResult<ArrayRef> {
    let refused = |what: String| Err(Failure::input(format!("{name}: {what}")).into());
    if buffer.dimensions() != 1 {
        return refused(format!("expected one dimension, not {}", buffer.dimensions()));
    }
    if !buffer.is_c_contiguous() {
        return refused("the values are not next to one another in memory; pass a copy".into());
    }
    let format = buffer.format();
    if cfg!(target_endian = "little") && matches!(format.to_bytes().first(), Some(b'>' | b'!')) {
        return refused("the values are in the byte order of another machine; convert them".into());
    }
    let kind = ElementType::from_format(format);
    match kind {
        ElementType::SignedInteger { bytes: 1 } => numbers::<Int8Type>(buffer),
        ElementType::SignedInteger { bytes: 2 } => numbers::<Int16Type>(buffer),
        ElementType::SignedInteger { bytes: 4 } => numbers::<Int32Type>(buffer),
        ElementType::SignedInteger { bytes: 8 } => numbers::<Int64Type>(buffer),
        ElementType::UnsignedInteger { bytes: 1 } => numbers::<UInt8Type>(buffer),
        ElementType::UnsignedInteger { bytes: 2 } => numbers::<UInt16Type>(buffer),
        ElementType::UnsignedInteger { bytes: 4 } => numbers::<UInt32Type>(buffer),
        ElementType::UnsignedInteger { bytes: 8 } => numbers::<UInt64Type>(buffer),
        ElementType::Float { bytes: 4 } => numbers::<Float32Type>(buffer),
        ElementType::Float { bytes: 8 } => numbers::<Float64Type>(buffer),
        _ => {
            let format = format.to_string_lossy();
            refused(format!(
                "expected integers, floats or strings, not values of the format `{format}`"
            ))
        }
    }
}

/// Returns the numbers of a buffer, which it keeps, or a copy if they are not aligned.
fn numbers<T: ArrowPrimitiveType>(buffer: PyUntypedBuffer) -> PyResult<ArrayRef> {
    let (begin, bytes) = (buffer.buf_ptr().cast::<u8>(), buffer.len_bytes());
    let values = match NonNull::new(begin).filter(|_| bytes > 0) {
        None => Buffer::from_vec(Vec::<T::Native>::new()),
        Some(begin) => {
            // SAFETY: The buffer is contiguous and has these bytes, and the owner keeps it. Python code that
            // writes to it meanwhile changes which edges are read, as each value is read once.
            let values =
                unsafe { Buffer::from_custom_allocation(begin, bytes, Arc::new(Kept(buffer))) };
            match begin.cast::<T::Native>().is_aligned() {
                true => values,
                false => Buffer::from(values.as_slice()),
            }
        }
    };
    Ok(Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), None)))
}

/// A buffer of Python's.
struct Kept(#[expect(dead_code, reason = "it is kept, not read")] PyUntypedBuffer);

impl std::panic::RefUnwindSafe for Kept {}

/// Rows of a list between two looks for signals such as Ctrl-C.
const ROWS_PER_LOOK: usize = 1 << 16;

/// Returns a list's strings or integers.
fn of_list(list: &Bound<'_, PyList>, name: &str) -> PyResult<ArrayRef> {
    let wrong = |row: usize, value: &Bound<'_, PyAny>, expected: &str| -> PyErr {
        let message = match value.is_none() {
            true => format!("row {row} (the first is 0): {name} is None"),
            false => format!(
                "row {row} (the first is 0): {name} is of the type {}, but {expected}",
                kind_of(value)
            ),
        };
        Failure::input(message).into()
    };
    let look = |row: usize| match row % ROWS_PER_LOOK {
        0 => list.py().check_signals(),
        _ => Ok(()),
    };
    let Ok(first) = list.get_item(0) else {
        return Ok(Arc::new(UInt64Array::from(Vec::<u64>::new())));
    };
    if first.is_instance_of::<PyString>() {
        let mut names = LargeStringBuilder::new();
        for (row, value) in list.iter().enumerate() {
            look(row)?;
            let text = value.cast::<PyString>().ok().map(|text| text.to_cow());
            match text {
                Some(Ok(text)) => names.append_value(text),
                Some(Err(_)) => {
                    let message = format!("row {row} (the first is 0): {name} is no valid Unicode");
                    return Err(Failure::input(message).into());
                }
                None => return Err(wrong(row, &value, "the first one is a string")),
            }
        }
        return Ok(Arc::new(names.finish()));
    }
    // Integers of numpy are none of Python's, but have its protocol.
    let is_integer = |value: &Bound<'_, PyAny>| match value.is_instance_of::<PyInt>() {
        true => !value.is_instance_of::<PyBool>(),
        false => value.hasattr("__index__").unwrap_or(false),
    };
    let mut signed: Vec<i64> = Vec::new();
    let mut unsigned: Vec<u64> = Vec::new();
    let mut large = false;
    for (row, value) in list.iter().enumerate() {
        look(row)?;
        if !is_integer(&value) {
            let expected = match row {
                _ if value.is_instance_of::<PyFloat>() => {
                    "ids are integers or strings: convert the column, as with .astype(\"Int64\")"
                }
                0 => "ids are integers or strings",
                _ => "the first one is an integer",
            };
            return Err(wrong(row, &value, expected));
        }
        match value.extract::<i64>() {
            Ok(id) => {
                memory::push(&mut signed, id).map_err(Failure::from)?;
                memory::push(&mut unsigned, id as u64).map_err(Failure::from)?;
            }
            Err(_) => match value.extract::<u64>() {
                Ok(id) => {
                    large = true;
                    memory::push(&mut signed, 0).map_err(Failure::from)?;
                    memory::push(&mut unsigned, id).map_err(Failure::from)?;
                }
                Err(_) => {
                    let message = format!(
                        "row {row} (the first is 0): {name} is {value}, but ids are integers of 64 bits"
                    );
                    return Err(Failure::input(message).into());
                }
            },
        }
    }
    if large && let Some(row) = signed.iter().position(|&id| id < 0) {
        let message = format!(
            "row {row} (the first is 0): {name} is negative, and another is above 2⁶³: use strings"
        );
        return Err(Failure::input(message).into());
    }
    Ok(match large {
        true => Arc::new(UInt64Array::from(unsigned)),
        false => Arc::new(Int64Array::from(signed)),
    })
}

/// Returns the numbers of vertices.
pub fn numbers_of(column: &ArrayRef, name: &str, vertices: u64) -> Result<Vec<VertexId>, Failure> {
    fn of<T: ArrowPrimitiveType<Native: TryInto<u64> + Copy>>(
        column: &ArrayRef,
        name: &str,
        vertices: u64,
    ) -> Result<Vec<VertexId>, Failure> {
        let values = column.as_primitive::<T>().values();
        let mut numbers: Vec<VertexId> = memory::with_room(values.len())?;
        for (row, &value) in values.iter().enumerate() {
            let number = value.try_into().ok().filter(|&number: &u64| number < vertices);
            // Below the number of vertices, which has 32 bits.
            let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else {
                let message = format!(
                    "row {row} (the first is 0): {name} is {value:?}, but vertices are numbered from 0 to {}",
                    vertices.saturating_sub(1)
                );
                return Err(Failure::input(message));
            };
            numbers.push(number);
        }
        Ok(numbers)
    }
    check_nulls(column, name)?;
    match column.data_type() {
        DataType::Int8 => of::<Int8Type>(column, name, vertices),
        DataType::Int16 => of::<Int16Type>(column, name, vertices),
        DataType::Int32 => of::<Int32Type>(column, name, vertices),
        DataType::Int64 => of::<Int64Type>(column, name, vertices),
        DataType::UInt8 => of::<UInt8Type>(column, name, vertices),
        DataType::UInt16 => of::<UInt16Type>(column, name, vertices),
        DataType::UInt32 => of::<UInt32Type>(column, name, vertices),
        DataType::UInt64 => of::<UInt64Type>(column, name, vertices),
        _ if column.is_empty() => Ok(Vec::new()),
        other => Err(Failure::new(Class::Type, format!("{name}: expected integers, not {other}"))),
    }
}

/// Refuses a column with nulls.
pub fn check_nulls(column: &ArrayRef, name: &str) -> Result<(), Failure> {
    let null = column.logical_nulls().and_then(|nulls| nulls.iter().position(|valid| !valid));
    match null {
        None => Ok(()),
        Some(row) => Err(Failure::input(format!("row {row} (the first is 0): {name} is null"))),
    }
}
