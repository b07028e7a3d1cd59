//! Small graphs: 64 sources at once, with one of two engines.
//!
//! If paths are long, a vertex is reached from the sources at many different steps, so that a
//! level-by-level engine handles few sources at a time. Sweeps are not affected (`swept.rs`). If
//! paths are short, each step serves many sources, and few arcs are on shortest paths from any of
//! them: a list of the additions is cheaper (`linked.rs`).

use super::linked::Linked;
use super::rows::AlignedRows;
use super::sums::Sums;
pub(super) use super::sweep::Sources;
use super::swept::Swept;
use crate::sides::Sides;
use ripplet_graph::{Neighbors, OutOfMemory, VertexId};

/// The largest graph for which 64 sources at once are worth their memory.
const MOST_VERTICES: u32 = 1 << 12;
const MOST_ARCS: u64 = 1 << 15;

/// Returns whether a graph is small enough for this module.
pub(super) fn takes(vertices: u32, arcs: u64) -> bool {
    vertices <= MOST_VERTICES && arcs <= MOST_ARCS
}

/// The eccentricity of a source, in arcs, from which on sweeps are faster: measured over paths,
/// rings, trees, grids, random and geometric graphs of 16 to 2000 vertices (`bench/README.md`).
const LONG: usize = 10;

/// Workspace of a thread, with room for a number of vertices and arcs.
pub(super) struct Small<S> {
    pub linked: Linked,
    pub swept: Swept,
    /// The number of shortest paths σ from each source.
    pub path_counts: AlignedRows,
    /// 1 / σ.
    pub inverse: AlignedRows,
    /// δ / σ, accumulated from the successors.
    pub share: AlignedRows,
    pub sums: S,
}

impl<S: Sums<Sources>> Small<S> {
    /// Returns the bytes of a workspace for `vertices` vertices and `arcs` arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        Linked::bytes(vertices, arcs)
            + Swept::bytes(vertices, arcs)
            + 3 * AlignedRows::bytes(vertices)
            + S::bytes(vertices, arcs)
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Small<S>, OutOfMemory> {
        Ok(Small {
            linked: Linked::new(vertices, arcs)?,
            swept: Swept::new(vertices, arcs)?,
            path_counts: AlignedRows::new(vertices)?,
            inverse: AlignedRows::new(vertices)?,
            share: AlignedRows::new(vertices)?,
            sums: S::new(vertices, arcs)?,
        })
    }

    /// Sums up the dependencies of a group of sources.
    pub fn add_group(&mut self, lists: Sides<Neighbors<'_>>, sources: &[VertexId]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            if is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                // SAFETY: the processor has the features that the function is compiled for, as
                // checked above.
                return unsafe { self.add_group_by_masks(lists, sources) };
            }
            // SAFETY: the processor has the features that the function is compiled for, as checked
            // above.
            return unsafe { self.add_group_wide(lists, sources) };
        }
        self.add_group_plain(lists, sources);
    }

    /// Implements [`Small::add_group`] with AVX-512: masked additions of eight numbers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
    fn add_group_by_masks(&mut self, lists: Sides<Neighbors<'_>>, sources: &[VertexId]) {
        self.add_group_plain(lists, sources);
    }

    /// Implements [`Small::add_group`] with AVX2: additions of four numbers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn add_group_wide(&mut self, lists: Sides<Neighbors<'_>>, sources: &[VertexId]) {
        self.add_group_plain(lists, sources);
    }

    #[inline(always)]
    fn add_group_plain(&mut self, lists: Sides<Neighbors<'_>>, sources: &[VertexId]) {
        let Small { linked, swept, path_counts, inverse, share, sums } = self;
        let rows = [path_counts, inverse, share];
        sums.clear(lists.behind);
        // Most smaller graphs have short paths: the search would cost more than it saves.
        let long = lists.vertices() as usize > 2 * LONG
            && swept.sweep.search(lists.ahead, sources[0]) >= LONG;
        if long {
            swept.add_group(lists, sources, rows, sums);
        } else {
            linked.add_group(lists, sources, rows, sums);
        }
    }
}
