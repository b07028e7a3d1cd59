//! Program [`Suspicion`]: spreads the labels of the known bad along ties.
//!
//! Each vertex has a label and a strength from 0 to 1. The known bad have strength 1 and keep their labels;
//! known bad connected by kept ties share the smallest label. A vertex adopts the label with the highest
//! total, and its strength sums up all labels:
//!
//! ```text
//! s(v) = a · Σ s(u) · q(u, v) / Q(u)     over all neighbours u;  Q(u): the sum of all q of u
//! ```
//!
//! Each neighbour divides its strength among its ties, and many weak neighbours add up to a strong vertex,
//! whatever their labels. a is the hop attenuation. A strength below 2⁻¹⁶ counts as 0, and one that changes
//! by less than a 64th stays, so that the run converges. A trusted vertex has no label and passes none on. q
//! damps hubs ([`ties`](crate::ties)), and so does the division.

pub use program::Suspicion;

use super::Detection;

/// Smallest strength that counts.
pub const FAINT: f32 = 1.0 / 65536.0;

/// Returns the suspicion score of a vertex with this excess and strength, in nats:
///
/// ```text
/// m(v) = max(0, max J(u, v) − ln m)  +  ln max(s(v), 2⁻¹⁶)
/// ```
///
/// The first part is the excess of its ties over chance ([`Ties::excess`](crate::ties::Ties::excess)), the
/// second the proximity of the known bad. Either is enough for a high score. 0 is a known bad vertex without
/// kept ties.
#[inline]
pub fn suspicion(excess: f32, strength: f32) -> f32 {
    excess + strength.max(FAINT).ln()
}

impl Suspicion {
    /// Creates the program of a detection.
    pub fn new(detection: &Detection) -> Suspicion {
        Suspicion { attenuation: detection.attenuation as f32 }
    }
}

#[ripplet_lp::hooks::label_program]
mod program {
    use ripplet_lp::hooks::*;

    /// Program that spreads the labels of the known bad along ties: see [`detect`](crate::detect).
    #[derive(Clone, Copy, Debug)]
    pub struct Suspicion {
        /// Share of its strength that a label keeps at a hop.
        pub(super) attenuation: f32,
    }

    #[columns]
    struct Columns {
        /// Not 0 if the vertex keeps its label.
        #[default(0)]
        fixed: u32,
        /// Strength of its label.
        #[default(0.0)]
        strength: f32,
        /// Strength that it passes along a tie of weight 1.
        share: f32,
    }

    impl Program for Suspicion {
        type Score = u64;

        fn name(&self) -> &str {
            "suspicion"
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            // Rounded to steps of 2⁻²⁴, the precision of an `f32`.
            let passed = u.strength() * u.share() * u.weight as f32;
            Vote { label: u.label, weight: (passed * 16777216.0) as u32 }
        }

        fn follows_frequency(&self) -> bool {
            true
        }

        fn label_score(&self, _v: Vertex<'_>, c: Candidate<'_>) -> u64 {
            c.frequency
        }

        fn score_bound(&self, frequency: u64) -> u64 {
            frequency
        }

        fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, _score: u64) -> Label {
            if v.fixed() != 0 {
                return v.label;
            }
            let received = (v.total_votes() as f32 / 16777216.0 * self.attenuation).min(1.0);
            if received * 65536.0 < 1.0 {
                v.set_strength(0.0);
                return NO_LABEL;
            }
            let had = v.strength();
            let change = (received - had).abs();
            if label != v.label || change * 64.0 > had {
                v.set_strength(received);
            }
            label
        }
    }
}
