//! Exclusive slices seen as atomics, for loops in which several threads write one array.

use std::sync::atomic::AtomicU32;

/// Views an exclusively borrowed slice as atomics, so that several threads may write it at once.
///
/// The borrow ends the plain view for as long as the atomic one lives; afterwards the plain slice
/// holds what the threads stored.
pub fn as_atomic(slice: &mut [u32]) -> &[AtomicU32] {
    // SAFETY: `AtomicU32` has the size, alignment and bit validity of `u32` (documented), and the
    // exclusive borrow, which the result inherits, guarantees that no plain access overlaps.
    unsafe { &*(std::ptr::from_mut::<[u32]>(slice) as *const [AtomicU32]) }
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
}
