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
//! A *cell* stands for a vertex w: whether it is a neighbour of v, and by how many arcs, in its low
//! bits, and what the triangles of v add to w above. Cells of other vertices are met, too, and stay
//! as they are: no branch depends on whether there is a triangle.

use super::counts::Sum;

/// A numerator below, and triangles above.
///
/// It holds what one list's arcs add to one corner: at most 8 an arc, and a list has fewer than 2²³
/// arcs (see `oriented.rs`).
pub(super) type Packed = u64;

const TRIANGLE: Packed = 1 << 32;

#[inline]
pub(super) fn unpack(packed: Packed) -> Sum {
    Sum { numerator: packed & (TRIANGLE - 1), triangles: packed >> 32 }
}

/// What a triangle adds to its corners.
pub(super) trait Rule: Sync {
    /// What is kept of a possible third corner.
    type Cell: Copy + Default + Send + bytemuck::Zeroable;

    /// Whether it matters how many arcs an edge is.
    const DIRECTED: bool;

    /// The cell of a neighbour of v.
    fn marked(vw: u64) -> Self::Cell;

    /// Meets w at a neighbour u; if its cell is marked, it counts the triangle. Returns what it adds to
    /// v and to u.
    fn meet(cell: &mut Self::Cell, vu: u64, uw: u64) -> (Packed, Packed);

    /// What the triangles that were met add to w.
    fn found(cell: Self::Cell) -> Packed;
}

/// Triangles alone: undirected graphs.
pub(super) struct Plain;

impl Rule for Plain {
    type Cell = u32;
    const DIRECTED: bool = false;

    #[inline]
    fn marked(_vw: u64) -> u32 {
        1
    }

    #[inline]
    fn meet(cell: &mut u32, _vu: u64, _uw: u64) -> (Packed, Packed) {
        let hit = *cell & 1;
        *cell += hit << 1;
        (hit.into(), hit.into())
    }

    #[inline]
    fn found(cell: u32) -> Packed {
        (cell >> 1).into()
    }
}

/// A directed cell's bits for how many arcs there are between v and w, and its packed sum above them:
/// the numerator there has 30 bits, which a list's arcs do not fill.
const ARCS_BITS: u32 = 2;
const ARCS: u64 = (1 << ARCS_BITS) - 1;

/// Adds to the sum of a directed cell.
#[inline]
fn add(cell: &mut u64, numerator: u64, hit: u64) {
    *cell += numerator << ARCS_BITS | hit << 32;
}

#[inline]
fn found(cell: u64) -> Packed {
    (cell >> 32) << 32 | (cell as u32 >> ARCS_BITS) as u64
}

/// Arcs between neighbours: LDBC's, of directed graphs.
pub(super) struct Arcs;

impl Rule for Arcs {
    type Cell = u64;
    const DIRECTED: bool = true;

    #[inline]
    fn marked(vw: u64) -> u64 {
        vw
    }

    #[inline]
    fn meet(cell: &mut u64, vu: u64, uw: u64) -> (Packed, Packed) {
        let vw = *cell & ARCS;
        let hit = vw.div_ceil(2);
        add(cell, hit * vu, hit);
        (hit * (TRIANGLE + uw), hit * TRIANGLE + vw)
    }

    #[inline]
    fn found(cell: u64) -> Packed {
        found(cell)
    }
}

/// Directed cycles and all that look like them: Fagiolo's, of directed graphs.
pub(super) struct Cycles;

impl Rule for Cycles {
    type Cell = u64;
    const DIRECTED: bool = true;

    #[inline]
    fn marked(vw: u64) -> u64 {
        vw
    }

    #[inline]
    fn meet(cell: &mut u64, vu: u64, uw: u64) -> (Packed, Packed) {
        let vw = *cell & ARCS;
        let (hit, cycles) = (vw.div_ceil(2), vu * uw * vw);
        add(cell, cycles, hit);
        let packed = hit * TRIANGLE + cycles;
        (packed, packed)
    }

    #[inline]
    fn found(cell: u64) -> Packed {
        found(cell)
    }
}
