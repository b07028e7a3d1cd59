//! Prefetching: memory is read before it is needed.

/// Vertices between two stages of prefetching, such as that of a list's place and that of the list, and between the last stage and
/// its use.
pub const PREFETCH_DISTANCE: usize = 8;

/// Prefetches the cache line of a value; does nothing if there is no such value or instruction.
#[inline]
pub fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(value) = values.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults; the pointer is a live reference's.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (values, index);
}
