//! A pool of arrays that threads borrow.

use ripplet_graph::{OutOfMemory, memory};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// A pool of equally long arrays, as many as are borrowed at the same time.
///
/// A borrower must return an array in its initial state: each entry with the pool's value.
pub(super) struct Pool<T> {
    value: T,
    len: usize,
    spare: Mutex<Vec<Vec<T>>>,
}

/// An array of a pool, which it is returned to on drop.
pub(super) struct Borrowed<'p, T> {
    pool: &'p Pool<T>,
    array: Vec<T>,
}

impl<T: Copy> Pool<T> {
    /// Creates an empty pool of arrays of `len` entries of a value.
    pub(super) fn new(value: T, len: usize) -> Pool<T> {
        Pool { value, len, spare: Mutex::default() }
    }

    /// Borrows an array; allocates one if none is free.
    pub(super) fn borrow(&self) -> Result<Borrowed<'_, T>, OutOfMemory> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let array = spare.map_or_else(|| memory::filled(self.value, self.len), Ok)?;
        Ok(Borrowed { pool: self, array })
    }
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.array
    }
}

impl<T> DerefMut for Borrowed<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.array
    }
}

impl<T> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        let mut spare = self.pool.spare.lock().unwrap_or_else(PoisonError::into_inner);
        // If memory is refused here, the array is freed, and the next borrower allocates one.
        if memory::reserve(&mut spare, 1).is_ok() {
            spare.push(std::mem::take(&mut self.array));
        }
    }
}
