//! The programs that come with ripplet: each one file, each through the public hooks alone.
//!
//! | program | labels | made for |
//! |---|---|---|
//! | [`Lpa`] | the most frequent, unless it is a giant | communities |
//! | [`Cdlp`] | the most frequent | LDBC Graphalytics |
//! | [`Llp`] | the most frequent, less what its other members cost | many resolutions; [`layered_order`] |
//! | [`Slpa`] | as many as a vertex remembers | communities that overlap: [`memberships`] |
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
pub use llp::{BadGamma, Gamma, Llp, sweep};
pub use lpa::{BadGuard, Guard, Lpa};
pub use seeded::{BadAttenuation, Seed, SeedError, Seeded, Seeding, strengths};
pub use slpa::{BadMemory, BadThreshold, MEMORY, Membership, ROUNDS, Slpa, THRESHOLD, memberships};

/// Pointers to programs, whose loops are compiled here: once, and not again in each crate that runs one.
macro_rules! into_dyn_program {
    ($($program:ty),*) => {$(
        impl From<$program> for Box<dyn DynProgram> {
            // Where it is inlined, the caller compiles the engine's loops again.
            #[inline(never)]
            fn from(program: $program) -> Self {
                Box::new(program)
            }
        }
    )*};
}

into_dyn_program!(Cdlp, Llp, Lpa, Seeded, Slpa);
