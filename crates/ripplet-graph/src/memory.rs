//! Fallible allocation, for every array that grows with the input.
//!
//! A `Vec` that grows aborts the process if the system refuses memory (a container's limit, `ulimit
//! -v`). These functions return [`OutOfMemory`] instead, with the size of the request.

use bytemuck::Zeroable;
use thiserror::Error;

/// A refused allocation.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "the memory does not suffice: {bytes} bytes more were refused; allow more memory, end other \
     programs, or use a larger machine"
)]
pub struct OutOfMemory {
    /// The requested bytes.
    pub bytes: u64,
}

impl OutOfMemory {
    /// Returns the error for a refused allocation of `values` values.
    pub fn of<T>(values: usize) -> OutOfMemory {
        OutOfMemory { bytes: (values as u64).saturating_mul(size_of::<T>() as u64) }
    }
}

/// Returns an empty array with capacity for exactly `values` values.
///
/// # Errors
/// If memory allocation fails; this holds for the following functions, too.
pub fn with_room<T>(values: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut array = Vec::new();
    array.try_reserve_exact(values).map_err(|_| OutOfMemory::of::<T>(values))?;
    Ok(array)
}

/// Reserves capacity for `more` values; the array grows geometrically, as for pushes.
///
/// # Errors
/// If memory allocation fails.
#[inline]
pub fn reserve<T>(array: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    // A growing array requests at least twice its length.
    let wanted = || OutOfMemory::of::<T>(more.max(array.len()).saturating_add(array.len()));
    let refused = wanted();
    array.try_reserve(more).map_err(|_| refused)
}

/// Returns an array of zeros, whose pages the system provides on first write.
///
/// # Errors
/// If memory allocation fails.
pub fn zeros<T: Zeroable>(values: usize) -> Result<Vec<T>, OutOfMemory> {
    bytemuck::allocation::try_zeroed_vec(values).map_err(|()| OutOfMemory::of::<T>(values))
}

/// Returns an array of one repeated value.
///
/// # Errors
/// If memory allocation fails.
pub fn filled<T: Clone>(value: T, values: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut array = with_room(values)?;
    array.resize(values, value);
    Ok(array)
}

/// Appends a value.
///
/// # Errors
/// If memory allocation fails.
#[inline]
pub fn push<T>(array: &mut Vec<T>, value: T) -> Result<(), OutOfMemory> {
    if array.len() == array.capacity() {
        reserve(array, 1)?;
    }
    array.push(value);
    Ok(())
}

/// Appends copies of some values.
///
/// # Errors
/// If memory allocation fails.
#[inline]
pub fn extend<T: Copy>(array: &mut Vec<T>, values: &[T]) -> Result<(), OutOfMemory> {
    reserve(array, values.len())?;
    array.extend_from_slice(values);
    Ok(())
}

/// Returns a copy of some values.
///
/// # Errors
/// If memory allocation fails.
pub fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut array = with_room(values.len())?;
    array.extend_from_slice(values);
    Ok(array)
}

/// Collects the values of an iterator of exact size.
///
/// # Errors
/// If memory allocation fails.
pub fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut array = with_room(values.len())?;
    array.extend(values);
    Ok(array)
}

/// Splits the first values off a slice; all of them if there are fewer.
pub fn front<'a, T>(array: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let count = count.min(array.len());
    array.split_off_mut(..count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any machine has, and less than the maximal capacity of an array.
    const ABSURD: usize = 1 << 60;

    #[test]
    fn what_cannot_be_is_an_error_with_its_bytes() {
        let refused = OutOfMemory { bytes: 1 << 62 };
        assert_eq!(with_room::<u32>(ABSURD), Err(refused));
        assert_eq!(zeros::<u32>(ABSURD), Err(refused));
        assert_eq!(filled(7u32, ABSURD), Err(refused));
        assert_eq!(reserve(&mut vec![7u32; 3], ABSURD).map_err(|e| e.bytes >> 62), Err(1));
        assert_eq!(with_room::<u64>(usize::MAX), Err(OutOfMemory { bytes: u64::MAX }));
    }

    #[test]
    fn arrays_are_those_of_the_standard_library() {
        assert_eq!(zeros::<u64>(3).unwrap(), [0; 3]);
        assert_eq!(zeros::<u64>(0).unwrap(), []);
        assert_eq!(filled('x', 2).unwrap(), ['x'; 2]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(collected([4, 5].iter()).unwrap(), [&4, &5]);
        let mut grown = Vec::new();
        for value in 0..100 {
            push(&mut grown, value).unwrap();
        }
        extend(&mut grown, &[7, 8]).unwrap();
        assert!(grown.into_iter().eq((0..100).chain([7, 8])));
    }
}
