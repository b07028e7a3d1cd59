//! Allocation of deflate streams, whose crate panics if memory allocation fails.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `make`, which sets up a deflate stream; a panic becomes an out-of-memory error.
///
/// Setting up a stream is the only allocation of zlib-rs, and the only failure that it asserts. The captures
/// of `make` are dropped.
///
/// # Errors
/// If memory allocation fails.
pub(crate) fn set_up<T>(make: impl FnOnce() -> T) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
