//! [`Suspicion`]: how far the labels of the known bad come along ties.
//!
//! Each vertex has a label and a strength from 0 to 1. The known bad have strength 1 and keep their labels; known bad
//! joined by kept ties have one label, the smallest of them. A vertex takes the label that it hears most of, and is as
//! strong as all that it hears:
//!
//! ```text
//! s(v) = a · Σ s(u) · q(u, v) / Q(u)     over all neighbours u;  Q(u): the sum of all q of u
//! ```
//!
//! so that each neighbour shares its strength out, and many weak neighbours make a strong one, whoever's label they
//! show. a is the hop attenuation; a strength below 2⁻¹⁶ is none, and one that changes by less than a 64th stays, which
//! ends the run. Who is trusted has no label and passes none on. Hubs are damped by q ([`ties`](crate::ties)), and by
//! sharing out.

pub use program::Suspicion;

use super::Detection;

/// A strength below it is none.
pub const FAINT: f32 = 1.0 / 65536.0;

/// How suspicious a vertex of this excess and strength is, in nats:
///
/// ```text
/// m(v) = max(0, max J(u, v) − ln m)  +  ln max(s(v), 2⁻¹⁶)
/// ```
///
/// The first part is what chance cannot explain about its ties ([`Ties::excess`](crate::ties::Ties::excess)), the second
/// how far the known bad are; one of them is enough to be looked at. 0 is a known bad one without kept ties.
#[inline]
pub fn suspicion(excess: f32, strength: f32) -> f32 {
    excess + strength.max(FAINT).ln()
}

impl Suspicion {
    /// That of a detection.
    pub fn new(detection: &Detection) -> Suspicion {
        Suspicion { attenuation: detection.attenuation as f32 }
    }
}

#[ripplet_lp::hooks::label_program]
mod program {
    use ripplet_lp::hooks::*;

    /// How far the labels of the known bad come along ties: see [`detect`](crate::detect).
    #[derive(Clone, Copy, Debug)]
    pub struct Suspicion {
        /// The share of its strength that a label keeps at a hop.
        pub(super) attenuation: f32,
    }

    #[columns]
    struct Columns {
        /// Not 0 where the vertex keeps its label.
        #[default(0)]
        fixed: u32,
        /// How strong its label is.
        #[default(0.0)]
        strength: f32,
        /// What it passes on along a tie of weight 1.
        share: f32,
    }

    impl Program for Suspicion {
        type Score = u64;

        fn name(&self) -> &str {
            "suspicion"
        }

        fn load_neighbor(&self, _v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
            // In steps of 2⁻²⁴, as fine as 24 bits of an `f32` go.
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
            let heard = (v.cast() as f32 / 16777216.0 * self.attenuation).min(1.0);
            if heard * 65536.0 < 1.0 {
                v.set_strength(0.0);
                return NO_LABEL;
            }
            let had = v.strength();
            let change = (heard - had).abs();
            if label != v.label || change * 64.0 > had {
                v.set_strength(heard);
            }
            label
        }
    }
}
