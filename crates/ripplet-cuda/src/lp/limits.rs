//! Limits of the memory that a run may use.

/// Limits of the memory that a run may use; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Bytes of each device's memory; `None` for all that is free.
    pub device: Option<u64>,
    /// Bytes of the host's memory.
    pub host: Option<u64>,
}

impl Limits {
    /// Returns the bytes of a device's memory that a run may use if `free` bytes are free.
    pub fn room(self, free: u64) -> u64 {
        self.device.map_or(free, |limit| limit.min(free))
    }
}
