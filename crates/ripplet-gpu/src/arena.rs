//! Plan of one block of a device's memory.

use std::ops::Range;

/// Alignment of each range, in bytes.
const ALIGNMENT: u64 = 256;

/// Bump allocator of ranges in one block of a device's memory, used before the block is reserved.
///
/// Ranges are in the order of allocation, at multiples of 256 bytes.
///
/// ```
/// let mut arena = ripplet_gpu::Arena::default();
/// assert_eq!(arena.take(4, 100), 0..400);
/// assert_eq!(arena.take(8, 1), 512..520);
/// assert_eq!(arena.bytes, 768);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Arena {
    /// Bytes allocated so far. Saturates at the largest number, which no device has.
    pub bytes: u64,
}

impl Arena {
    /// Allocates a range for `count` items of `size` bytes.
    pub fn take(&mut self, size: u64, count: u64) -> Range<u64> {
        let start = self.bytes;
        let end = start.saturating_add(size.saturating_mul(count));
        self.bytes = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        start..end
    }
}
