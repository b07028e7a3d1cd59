//! What a triangle adds to its corners.
//!
//! Of a triangle {v, u, w}, let vu, uw and vw be how many arcs its edges are, 1 or 2:
//!
//! | rule | v | u | w | the coefficient's numerator |
//! |---|---|---|---|---|
//! | [`Plain`] | 1 | 1 | 1 | triangles (undirected: twice that is LDBC's) |
//! | [`Arcs`] | uw | vw | vu | LDBC's: arcs between neighbours |
//! | [`Cycles`] | vu · uw · vw, each | | | Fagiolo's: half of ((A + Aᵀ)³)ᵥᵥ, which counts both ways around |
//!
//! A *tally* is kept of each neighbour w of v: how many arcs there are between them, in its low bits,
//! where that matters, and above what the triangles of v add to w. Tallies of others are met, too, and
//! stay as they are: no branch depends on whether there is a triangle.

use super::counts::Sum;

/// A numerator below, and triangles above.
///
/// It holds what the triangles of one v add to one corner: at most 8 for each arc of v's list, or 16 to a
/// corner that is second to some and third to others; and a list has fewer than 2²³ arcs (see
/// `oriented.rs`).
pub(super) type Packed = u64;

const TRIANGLE: Packed = 1 << 32;

#[inline]
pub(super) fn unpack(packed: Packed) -> Sum {
    Sum { numerator: packed & (TRIANGLE - 1), triangles: packed >> 32 }
}

/// What a triangle adds to its corners.
pub(super) trait Rule: Sync {
    /// What is kept of a neighbour of v.
    type Tally: Copy + Default + Send;

    /// Whether it matters how many arcs an edge is.
    const DIRECTED: bool;

    /// Whether v and u get the same.
    const ALIKE: bool;

    /// The tally of a neighbour of v, to begin with.
    fn marked(vw: u64) -> Self::Tally;

    /// Meets w at a neighbour u, which is a triangle if this is w's tally. Returns what it adds to v and
    /// to u.
    fn meet(tally: &mut Self::Tally, is_of_w: bool, vu: u64, uw: u64) -> (Packed, Packed);

    /// Adds to what is tallied.
    fn add(tally: &mut Self::Tally, packed: Packed);

    /// What triangles add to w.
    fn found(tally: Self::Tally) -> Packed;
}

/// Triangles alone: undirected graphs.
pub(super) struct Plain;

impl Rule for Plain {
    type Tally = u32;
    const DIRECTED: bool = false;
    const ALIKE: bool = true;

    #[inline]
    fn marked(_vw: u64) -> u32 {
        0
    }

    #[inline]
    fn meet(tally: &mut u32, is_of_w: bool, _vu: u64, _uw: u64) -> (Packed, Packed) {
        *tally += u32::from(is_of_w);
        (is_of_w.into(), is_of_w.into())
    }

    #[inline]
    fn add(tally: &mut u32, packed: Packed) {
        *tally += packed as u32;
    }

    #[inline]
    fn found(tally: u32) -> Packed {
        tally.into()
    }
}

/// The bits of a directed tally that are the arcs between v and w, 1 or 2. The numerator above them has
/// 30 bits, which 16 for each of a list's arcs do not fill, and the triangles 32.
const ARCS_BITS: u32 = 2;

/// The arcs between v and w, none where the tally is another's.
#[inline]
fn arcs(tally: u64, is_of_w: bool) -> u64 {
    (tally & ((1 << ARCS_BITS) - 1)) * u64::from(is_of_w)
}

#[inline]
fn add(tally: &mut u64, numerator: u64, triangles: u64) {
    *tally += numerator << ARCS_BITS | triangles << 32;
}

#[inline]
fn found(tally: u64) -> Packed {
    tally >> 32 << 32 | u64::from(tally as u32 >> ARCS_BITS)
}

/// Arcs between neighbours: LDBC's, of directed graphs.
pub(super) struct Arcs;

impl Rule for Arcs {
    type Tally = u64;
    const DIRECTED: bool = true;
    const ALIKE: bool = false;

    #[inline]
    fn marked(vw: u64) -> u64 {
        vw
    }

    #[inline]
    fn meet(tally: &mut u64, is_of_w: bool, vu: u64, uw: u64) -> (Packed, Packed) {
        let (vw, one) = (arcs(*tally, is_of_w), u64::from(is_of_w));
        add(tally, one * vu, one);
        (one * (TRIANGLE + uw), one * TRIANGLE + vw)
    }

    #[inline]
    fn add(tally: &mut u64, packed: Packed) {
        let Sum { numerator, triangles } = unpack(packed);
        add(tally, numerator, triangles);
    }

    #[inline]
    fn found(tally: u64) -> Packed {
        found(tally)
    }
}

/// Directed cycles and all that look like them: Fagiolo's, of directed graphs.
pub(super) struct Cycles;

impl Rule for Cycles {
    type Tally = u64;
    const DIRECTED: bool = true;
    const ALIKE: bool = true;

    #[inline]
    fn marked(vw: u64) -> u64 {
        vw
    }

    #[inline]
    fn meet(tally: &mut u64, is_of_w: bool, vu: u64, uw: u64) -> (Packed, Packed) {
        let (vw, one) = (arcs(*tally, is_of_w), u64::from(is_of_w));
        let cycles = vu * uw * vw;
        add(tally, cycles, one);
        (one * TRIANGLE + cycles, one * TRIANGLE + cycles)
    }

    #[inline]
    fn add(tally: &mut u64, packed: Packed) {
        Arcs::add(tally, packed);
    }

    #[inline]
    fn found(tally: u64) -> Packed {
        found(tally)
    }
}
