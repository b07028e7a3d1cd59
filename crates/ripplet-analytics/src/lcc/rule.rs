//! Counting rules: what a triangle adds to its corners.
//!
//! For a triangle {v, u, w}, let vu, uw and vw be the numbers of arcs of its edges, 1 or 2:
//!
//! | rule | v | u | w | the coefficient's numerator |
//! |---|---|---|---|---|
//! | [`Plain`] | 1 | 1 | 1 | triangles (undirected: half of LDBC's) |
//! | [`Arcs`] | uw | vw | vu | LDBC's: arcs between neighbours |
//! | [`Cycles`] | vu · uw · vw, each | | | Fagiolo's: half of ((A + Aᵀ)³)ᵥᵥ, which counts both ways |
//!
//! A *tally* is kept for each neighbour w of v. Its low bits hold the number of arcs between v and
//! w, if the rule needs it; above them it counts what v's triangles add to w. The enumeration also
//! reads tallies of other ranks that share the cell, and leaves them unchanged: no branch depends
//! on whether there is a triangle.

use super::counts::Sum;

/// A numerator in the low 32 bits, and a number of triangles in the high 32.
///
/// It holds what the triangles of one v add to one corner: at most 8 per arc of v's list, or 16 for
/// a corner that is second in some and third in other triangles. A list has fewer than 2²³ arcs
/// (see `oriented.rs`).
pub(super) type Packed = u64;

const TRIANGLE: Packed = 1 << 32;

#[inline]
pub(super) fn unpack(packed: Packed) -> Sum {
    Sum { numerator: packed & (TRIANGLE - 1), triangles: packed >> 32 }
}

/// A counting rule.
pub(super) trait Rule: Sync {
    /// The state kept for a neighbour of v.
    type Tally: Copy + Default + Send;

    /// Whether the number of arcs of an edge matters.
    const DIRECTED: bool;

    /// Whether v and u get the same counts.
    const ALIKE: bool;

    /// Returns the initial tally of a neighbour of v with `vw` arcs.
    fn marked(vw: u64) -> Self::Tally;

    /// Counts a triangle {v, u, w} if `is_of_w` says that the tally is w's. Returns what it adds to
    /// v and to u.
    fn meet(tally: &mut Self::Tally, is_of_w: bool, vu: u64, uw: u64) -> (Packed, Packed);

    /// Adds to the counts of a tally.
    fn add(tally: &mut Self::Tally, packed: Packed);

    /// Returns the counts of a tally: what triangles add to w.
    fn found(tally: Self::Tally) -> Packed;
}

/// Counts triangles only: undirected graphs.
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

/// The low bits of a directed tally, which hold the number of arcs between v and w, 1 or 2. The
/// numerator above them has 30 bits, enough for 16 per arc of a list; the triangles have 32.
const ARCS_BITS: u32 = 2;

/// Returns the number of arcs between v and w; 0 if the tally is another rank's.
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

/// Counts arcs between neighbours: LDBC's coefficient of directed graphs.
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

/// Counts directed closed paths of length 3: Fagiolo's coefficient of directed graphs.
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
