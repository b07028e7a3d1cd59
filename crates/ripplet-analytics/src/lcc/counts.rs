//! The sums of all threads, as shared counters.

use ripplet_graph::{VertexId, as_atomic};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Shared counters per vertex: the numerator of its coefficient, and its triangles if requested.
///
/// Sums fit `u64`: each triangle at a vertex has a distinct edge opposite to it and adds at most 8,
/// and fewer than 2⁶⁰ edges can be addressed.
pub(super) struct Counts<'a> {
    numerators: Wide<'a>,
    triangles: Option<Wide<'a>>,
}

impl<'a> Counts<'a> {
    /// Uses these arrays as counters; they must hold 0 for each vertex.
    pub fn new(numerators: &'a mut [u64], triangles: Option<&'a mut [u64]>) -> Counts<'a> {
        Counts { numerators: Wide::new(numerators), triangles: triangles.map(Wide::new) }
    }

    /// Returns whether triangles are counted separately.
    pub fn has_triangles(&self) -> bool {
        self.triangles.is_some()
    }

    #[inline]
    pub fn add(&self, vertex: VertexId, sum: Sum) {
        self.numerators.add(vertex as usize, sum.numerator);
        if let Some(triangles) = &self.triangles {
            triangles.add(vertex as usize, sum.triangles);
        }
    }
}

/// The contribution of triangles to one of their corners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub numerator: u64,
    pub triangles: u64,
}

/// An array of `u64` counters that threads add to, each a pair of atomic halves. An addition that
/// overflows the low half adds 1 to the high one, so that the counter is right once all additions
/// are done.
struct Wide<'a>(&'a [AtomicU32]);

impl<'a> Wide<'a> {
    const LOW: usize = if cfg!(target_endian = "little") { 0 } else { 1 };

    fn new(values: &'a mut [u64]) -> Wide<'a> {
        Wide(as_atomic(bytemuck::cast_slice_mut(values)))
    }

    #[inline]
    fn add(&self, at: usize, value: u64) {
        let low = self.0[2 * at + Wide::LOW].fetch_add(value as u32, Relaxed);
        let carry = low.checked_add(value as u32).is_none();
        let high = (value >> 32) as u32 + u32::from(carry);
        if high > 0 {
            self.0[2 * at + 1 - Wide::LOW].fetch_add(high, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_several_threads_carry() {
        let mut values = [0u64; 3];
        let wide = Wide::new(&mut values);
        let steps = if cfg!(miri) { 100 } else { 1000 };
        let value = |step: u64| (step << 31) + step;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..steps).for_each(|step| wide.add(1, value(step))));
            }
        });
        assert_eq!(values, [0, 4 * (0..steps).map(value).sum::<u64>(), 0]);
    }
}
