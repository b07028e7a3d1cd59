//! Memory for deflate, whose crate panics where it is refused some.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `make`, which sets up a stream of deflate; a panic is an error of refused memory.
///
/// The set-up of a stream is all that zlib-rs asks memory for, and a refusal is the one thing that it asserts
/// there. What `make` had in hand is dropped.
///
/// # Errors
/// If memory allocation fails.
pub(crate) fn set_up<T>(make: impl FnOnce() -> T) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(make)).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
