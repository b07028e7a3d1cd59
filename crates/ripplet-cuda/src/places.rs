//! Allocator of ranges in one block of a device's memory, planned before it is reserved.

use std::ops::Range;

/// Alignment of each range, in bytes.
const ALIGNMENT: u64 = 256;

/// Ranges of memory, one behind the other, in the order of allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Bytes allocated so far. Saturates at the largest number, which no device has.
    pub bytes: u64,
}

impl Places {
    /// Allocates a range for `count` items of `size` bytes.
    pub fn take(&mut self, size: u64, count: u64) -> Range<u64> {
        let start = self.bytes;
        let end = start.saturating_add(size.saturating_mul(count));
        self.bytes = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        start..end
    }
}
