//! The imports of a program: `use ripplet::lp::hooks::*;` and nothing else.
//!
//! A program that uses only this module can be translated for other devices; see [`Program`].

pub use crate::columns::{ColumnKind, ColumnSpec};
pub use crate::hints::Hints;
pub use crate::program::{Activation, DeviceSource, Label, LabelTotal, NO_LABEL, Program, Score};
pub use crate::scalar::Scalar;
pub use crate::schedules::Schedule;
pub use crate::views::{Candidate, Neighbor, Vertex, VertexMut, Vote};
pub use ripplet_hooks::math::{self, exp, exp2, ln, log2, powf};
pub use ripplet_macros::label_program;

/// Returns whether a · b ≥ c · d, computed in 128 bits: exact for all values.
#[inline]
pub fn products_ge(a: u64, b: u64, c: u64, d: u64) -> bool {
    u128::from(a) * u128::from(b) >= u128::from(c) * u128::from(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_exact_at_the_extremes() {
        let most = u64::MAX;
        assert!(products_ge(most, most, most, most));
        assert!(!products_ge(most, most - 1, most, most));
        assert!(products_ge(0, most, most, 0));
        assert!(!products_ge(1 << 32, 1 << 31, 1 << 33, (1 << 30) + 1));
    }
}
