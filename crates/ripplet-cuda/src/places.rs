//! Where things are in one block of a device's memory, planned before it is reserved.

use std::ops::Range;

/// Where parts begin: at multiples of this.
const ALIGNMENT: u64 = 256;

/// Parts of memory, one behind the other, as they are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The bytes of all until now. More than can be addressed stay at the largest number, which no
    /// device has.
    pub bytes: u64,
}

impl Places {
    /// The next place, for so many items of so many bytes.
    pub fn take(&mut self, size: u64, count: u64) -> Range<u64> {
        let start = self.bytes;
        let end = start.saturating_add(size.saturating_mul(count));
        self.bytes = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        start..end
    }
}
