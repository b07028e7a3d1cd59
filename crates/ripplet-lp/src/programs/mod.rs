//! The programs that come with ripplet: one file each, written with the public hooks only.
//!
//! | program | labels | purpose |
//! |---|---|---|
//! | [`Lpa`] | the most frequent, except giants | communities |
//! | [`Cdlp`] | the most frequent | LDBC Graphalytics |
//! | [`Llp`] | the most frequent, minus a cost of its other members | many resolutions; [`layered_order`] |
//! | [`Slpa`] | several per vertex | communities that overlap: [`memberships`] |
//! | [`Seeded`] | those of seeds | known clusters: [`Seeded::begin`], [`strengths`] |

mod cdlp;
mod layered;
mod llp;
mod lpa;
mod seeded;
mod slpa;

use crate::DynProgram;

pub use cdlp::Cdlp;
pub use layered::{LayeredOrder, layered_order};
pub use llp::{BadGamma, Gamma, Llp};
pub use lpa::{BadGuard, Guard, Lpa};
pub use seeded::{BadAttenuation, Seed, SeedError, Seeded, Seeding, strengths};
pub use slpa::{BadMemory, BadThreshold, MEMORY, Membership, ROUNDS, Slpa, THRESHOLD, memberships};

/// Conversions to trait objects, which compile a program's loops here once, not in each crate that
/// runs it.
macro_rules! into_dyn_program {
    ($($program:ty),*) => {$(
        impl From<$program> for Box<dyn DynProgram> {
            // If it were inlined, the caller would compile the engine's loops again.
            #[inline(never)]
            fn from(program: $program) -> Self {
                Box::new(program)
            }
        }
    )*};
}

into_dyn_program!(Cdlp, Llp, Lpa, Seeded, Slpa);
