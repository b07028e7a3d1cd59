//! Views of exclusive slices as atomics, for loops in which several threads write one array, and
//! back.

use std::sync::atomic::{AtomicU32, AtomicU64};

/// Returns an exclusively borrowed slice as atomics, so that several threads may write it at once.
///
/// The plain view is inaccessible while the atomic one lives; afterwards the plain slice holds what
/// the threads stored.
pub fn as_atomic(slice: &mut [u32]) -> &[AtomicU32] {
    // SAFETY: `AtomicU32` has the size, alignment and bit validity of `u32` (documented), and the
    // exclusive borrow, which the result inherits, guarantees that no plain access overlaps.
    unsafe { &*(std::ptr::from_mut::<[u32]>(slice) as *const [AtomicU32]) }
}

/// Returns exclusively borrowed atomics as plain values, for use between loops that write them.
pub fn as_plain(slice: &mut [AtomicU32]) -> &mut [u32] {
    // SAFETY: `AtomicU32` has the size, alignment and bit validity of `u32` (documented), and the
    // exclusive borrow, which the result inherits, guarantees that no atomic access overlaps.
    unsafe { &mut *(std::ptr::from_mut::<[AtomicU32]>(slice) as *mut [u32]) }
}

/// Returns an exclusively borrowed slice as 64-bit atomics; see [`as_atomic`].
pub fn as_atomic_words(slice: &mut [u64]) -> &[AtomicU64] {
    const _: () = assert!(align_of::<AtomicU64>() == align_of::<u64>());
    // SAFETY: `AtomicU64` has the size and bit validity of `u64` (documented), and its alignment, as
    // asserted above; the exclusive borrow, which the result inherits, guarantees that no plain
    // access overlaps.
    unsafe { &*(std::ptr::from_mut::<[u64]>(slice) as *const [AtomicU64]) }
}

/// Returns exclusively borrowed 64-bit atomics as plain values; see [`as_plain`].
pub fn as_plain_words(slice: &mut [AtomicU64]) -> &mut [u64] {
    // SAFETY: `AtomicU64` has the size and bit validity of `u64` and at least its alignment (documented),
    // and the exclusive borrow, which the result inherits, guarantees that no atomic access overlaps.
    unsafe { &mut *(std::ptr::from_mut::<[AtomicU64]>(slice) as *mut [u64]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn threads_write_and_the_plain_slice_sees_it() {
        let mut values = [0u32; 8];
        let shared = as_atomic(&mut values);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    shared.iter().for_each(|v| {
                        v.fetch_add(2, Relaxed);
                    })
                });
            }
        });
        assert_eq!(values, [6; 8]);
        assert!(as_atomic(&mut []).is_empty());
    }

    #[test]
    fn atomics_are_seen_as_what_they_hold() {
        let mut values = [AtomicU32::new(3), AtomicU32::new(u32::MAX)];
        assert_eq!(as_plain(&mut values), [3, u32::MAX]);
        as_plain(&mut values)[0] = 5;
        assert_eq!(values[0].load(Relaxed), 5);
        assert_eq!(as_plain_words(&mut [AtomicU64::new(1 << 40)]), [1 << 40]);
        let mut words = [5u64, 7];
        as_atomic_words(&mut words)[1].fetch_add(1 << 40, Relaxed);
        assert_eq!(words, [5, (1 << 40) + 7]);
    }
}
