//! Small graphs: 64 sources at once, in one of two ways.
//!
//! Where ways have many arcs, sources meet a vertex at as many steps as there are sources, so that little is done
//! at once; sweeps do not mind (`swept.rs`). Where they have few, each step is of many sources, and of the arcs few
//! are on shortest ways from any of them: to list what counts is cheaper (`linked.rs`).

use super::linked::Linked;
use super::sums::Sums;
pub(super) use super::sweep::Sources;
use super::swept::Swept;
use crate::lists::{Lists, Sides};
use crate::search::Mask;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The most vertices and arcs of a graph for which 64 sources are worth their memory.
const MOST_VERTICES: u32 = 1 << 12;
const MOST_ARCS: u64 = 1 << 15;

/// Whether a graph is small enough.
pub(super) fn takes(vertices: u32, arcs: u64) -> bool {
    vertices <= MOST_VERTICES && arcs <= MOST_ARCS
}

/// Arcs of the longest of the shortest ways from a source, from which on sweeps are faster: measured over paths,
/// rings, trees, grids, random and geometric graphs of 16 to 2000 vertices (`bench/README.md`).
const LONG: usize = 10;

/// What a thread works with, with room for so many vertices and arcs or more.
pub(super) struct Small<S> {
    pub linked: Linked,
    pub swept: Swept,
    /// How many shortest ways there are from each source.
    pub ways: Numbers,
    /// 1 over it.
    pub inverse: Numbers,
    /// What the vertices ahead pass on.
    pub share: Numbers,
    pub sums: S,
}

/// Rows: a number for each vertex and source, where a processor reads eight at once.
pub(super) struct Numbers(Vec<f64>);

/// What a processor reads at once, in numbers.
const LINE: usize = 8;

impl Numbers {
    pub fn bytes(vertices: u32) -> u64 {
        8 * (u64::from(vertices) * u64::from(Sources::LANES) + LINE as u64)
    }

    pub fn new(vertices: u32) -> Result<Numbers, OutOfMemory> {
        Ok(Numbers(memory::zeros(vertices as usize * Sources::LANES as usize + LINE)?))
    }

    /// The first so many.
    #[inline(always)]
    pub fn first(&mut self, count: usize) -> &mut [f64] {
        let begin = self.0.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        &mut self.0[begin..][..count]
    }
}

impl<S: Sums<Sources>> Small<S> {
    /// Bytes of one with room for so many vertices and arcs.
    pub fn bytes(vertices: u32, arcs: u64) -> u64 {
        Linked::bytes(vertices, arcs)
            + Swept::bytes(vertices, arcs)
            + 3 * Numbers::bytes(vertices)
            + S::bytes(vertices, arcs)
    }

    pub fn new(vertices: u32, arcs: u64) -> Result<Small<S>, OutOfMemory> {
        Ok(Small {
            linked: Linked::new(vertices, arcs)?,
            swept: Swept::new(vertices, arcs)?,
            ways: Numbers::new(vertices)?,
            inverse: Numbers::new(vertices)?,
            share: Numbers::new(vertices)?,
            sums: S::new(vertices, arcs)?,
        })
    }

    /// Sums up the shortest ways from a group of sources.
    pub fn add_group<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            if is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                // SAFETY: the processor has what the function is compiled for, as was just asked.
                return unsafe { self.add_group_by_masks(lists, sources) };
            }
            // SAFETY: as above.
            return unsafe { self.add_group_wide(lists, sources) };
        }
        self.add_group_plain(lists, sources);
    }

    /// The same on a processor that adds eight numbers at a time, those of a mask.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
    fn add_group_by_masks<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        self.add_group_plain(lists, sources);
    }

    /// The same on a processor that counts bits and adds four.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn add_group_wide<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        self.add_group_plain(lists, sources);
    }

    #[inline(always)]
    fn add_group_plain<L: Lists>(&mut self, lists: Sides<L>, sources: Range<VertexId>) {
        let Small { linked, swept, ways, inverse, share, sums } = self;
        let rows = [ways, inverse, share];
        sums.clear(lists.behind);
        // Most that have fewer vertices have shorter ways: to look would take longer than it saves.
        let long = lists.vertices() as usize > 2 * LONG
            && swept.sweep.search(lists.ahead, sources.start) >= LONG;
        if long {
            swept.add_group(lists, sources, rows, sums);
        } else {
            linked.add_group(lists, sources, rows, sums);
        }
    }
}
