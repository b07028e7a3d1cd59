//! The imports of a program: `use ripplet::lp::hooks::*;` and nothing else.
//!
//! A program that uses only this module can be translated for other devices; see [`Program`].
//!
//! # Examples
//! ```
//! # use ripplet_lp::hooks::label_program;
//! #[label_program]
//! mod attenuated {
//!     use ripplet_lp::hooks::*;
//!
//!     pub struct Attenuated {
//!         pub attenuation: f32,
//!     }
//!
//!     #[columns]
//!     struct Columns {
//!         #[default(1.0)]
//!         strength: f32,
//!     }
//!
//!     impl Program for Attenuated {
//!         type Score = u64;
//!
//!         fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
//!             Vote { label: u.label, weight: (65536.0 * u.strength()) as u32 }
//!         }
//!
//!         fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
//!             c.frequency
//!         }
//!
//!         fn carry(&self, _v: Vertex, u: Neighbor) -> f32 {
//!             u.strength()
//!         }
//!
//!         fn update_vertex(&self, v: &mut VertexMut, label: Label, _score: u64) -> Label {
//!             v.set_strength(v.carried() - self.attenuation);
//!             label
//!         }
//!     }
//! }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
//! use ripplet_lp::{Executor, Settings, cpu::CpuExecutor};
//!
//! // A triangle.
//! let ids = VertexIds::Consecutive { first: 0, count: 3 };
//! let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0, 1, 2], vec![1, 2, 0])?)?;
//! let program = attenuated::Attenuated { attenuation: 0.05 };
//! let found = CpuExecutor::new(None)?.run(&graph, &program, &Settings::default(), &mut ())?;
//! assert_eq!(found.labels.len(), 3);
//! assert_eq!(found.columns[0].name, "strength");
//! # Ok(())
//! # }
//! ```

pub use crate::columns::{ColumnKind, ColumnSpec};
pub use crate::hints::Hints;
pub use crate::label::{Label, NO_LABEL};
pub use crate::program::{Activation, DeviceSource, LabelTotal, Program, Score};
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
