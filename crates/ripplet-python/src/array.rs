//! Arrays that numpy views without a copy.

use pyo3::ffi;
use pyo3::prelude::*;
use ripplet::communities::NamedColumn;
use ripplet::swarm::Column;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// An immutable array, which exports the buffer protocol as bytes: `numpy.frombuffer(array, array.dtype)`.
#[pyclass(frozen, module = "ripplet._native")]
#[derive(Clone)]
pub struct Array {
    values: Arc<dyn Values>,
    dtype: &'static str,
}

/// Values of one type.
trait Values: Send + Sync {
    /// Returns the begin and the number of bytes of the values.
    fn bytes(&self) -> (*const c_void, usize);
}

/// A type of values that numpy knows.
pub trait Kind: Send + Sync + 'static {
    /// numpy's name.
    const DTYPE: &'static str;
}

macro_rules! kinds {
    ($($kind:ty: $name:literal),*) => {
        $(impl Kind for $kind {
            const DTYPE: &'static str = $name;
        })*
    };
}

kinds!(u8: "uint8", bool: "bool", u32: "uint32", u64: "uint64", i32: "int32", i64: "int64", f32: "float32", f64: "float64");

/// A slice within an owner that keeps it alive.
struct Owned<O, F>(O, F);

impl<O, T, F> Values for Owned<O, F>
where
    O: Send + Sync,
    F: Fn(&O) -> &[T] + Send + Sync,
    T: Kind,
{
    fn bytes(&self) -> (*const c_void, usize) {
        let values = (self.1)(&self.0);
        (values.as_ptr().cast(), size_of_val(values))
    }
}

impl Array {
    /// Returns an array of these values.
    pub fn of<T: Kind>(values: Vec<T>) -> Array {
        Array::within(values, |values| &values[..])
    }

    /// Creates an array from a column of a table.
    pub fn of_column(column: Column) -> Array {
        match column {
            Column::U32(values) => Array::of(values),
            Column::U64(values) => Array::of(values),
            Column::F64(values) => Array::of(values),
            Column::Bool(values) => Array::of(values),
        }
    }

    /// Returns whether the values are unsigned integers of 32 bits.
    pub fn is_integer(&self) -> bool {
        self.dtype == u32::DTYPE
    }

    /// Returns the bytes of the values.
    pub fn as_bytes(&self) -> &[u8] {
        let (begin, bytes) = self.values.bytes();
        // SAFETY: The values are a slice of these bytes, which `self` keeps and which do not change; a slice of none has a
        // dangling begin that is not null.
        unsafe { std::slice::from_raw_parts(begin.cast(), bytes) }
    }

    /// Returns an array of a slice within an owner.
    pub fn within<O, T, F>(owner: O, slice: F) -> Array
    where
        O: Send + Sync + 'static,
        F: Fn(&O) -> &[T] + Send + Sync + 'static,
        T: Kind,
    {
        Array { values: Arc::new(Owned(owner, slice)), dtype: T::DTYPE }
    }
}

/// Returns the columns of a table as arrays.
pub fn arrays_of(columns: Vec<NamedColumn>) -> Vec<(&'static str, Array)> {
    columns.into_iter().map(|(name, column)| (name, Array::of_column(column))).collect()
}

#[pymethods]
impl Array {
    /// numpy's name of the type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype
    }

    /// Exports the bytes, which cannot be written.
    ///
    /// # Safety
    /// Python passes a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let (begin, bytes) = slf.get().values.bytes();
        let bytes = ffi::Py_ssize_t::try_from(bytes)?;
        // SAFETY: The view is Python's to fill. It keeps `slf`, and that the values, which do not move
        // or change as the class is frozen; they are exported as read-only.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), begin.cast_mut(), bytes, 1, flags)
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}
