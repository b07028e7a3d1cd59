//! What this process has requested of object storage.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// What this process has requested of object storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Requests for ranges of bytes; not those that were repeated, or that ask for names and sizes.
    pub requests: u64,
    /// Bytes of objects that were received.
    pub bytes: u64,
}

/// Returns what this process has requested of object storage since it began.
pub fn fetched() -> Fetched {
    Fetched { requests: REQUESTS.load(Relaxed), bytes: BYTES.load(Relaxed) }
}

/// Counts requests, and bytes that were received.
#[cfg(feature = "object-storage")]
pub(crate) fn count(requests: u64, bytes: u64) {
    REQUESTS.fetch_add(requests, Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
}
