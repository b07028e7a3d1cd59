//! Locks without poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panic never leaves the data half-written, so poisoning is ignored.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
