//! Multi-source breadth-first search from up to 64 sources at once.
//!
//! ```text
//! a source is a bit, and a vertex has three masks:
//!   seen    the sources that have reached it
//!   here    those that reached it at the last step
//!   there   those that reach it at this step
//! each step, if few vertices are active:            if many are (pull):
//!   for each active vertex, for each successor:       for each vertex, for each predecessor:
//!     there |= here, minus the successor's seen         there |= its here; finally minus seen
//! ```
//!
//! Sources with common paths share the work: a vertex's list is read once for all sources that
//! arrive at the same step (Then et al., *The More the Merrier: Efficient Multi-Source Graph
//! Traversal*, VLDB 2014). If few vertices are active, a step reads only these, so that long paths
//! cost no more than short ones. If many are, a step pulls over all lists without branches (Beamer
//! et al., *Direction-Optimizing Breadth-First Search*, SC 2012).

use crate::sides::Sides;
use ripplet_graph::storage::NeighborLists;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::{BitAnd, BitOr, Not};

/// A set of sources that are searched from at once: a bit each.
pub(crate) trait Mask:
    Copy
    + Eq
    + Into<u64>
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
{
    /// The largest number of sources.
    const LANES: u32;
    /// The empty set.
    const NONE: Self;

    /// Returns the set of one source.
    fn of(lane: u32) -> Self;

    /// Returns the first source.
    fn first(self) -> u32;

    /// Returns all sources but the first.
    fn rest(self) -> Self;
}

macro_rules! mask {
    ($($bits:ty),*) => {$(
        impl Mask for $bits {
            const LANES: u32 = <$bits>::BITS;
            const NONE: Self = 0;

            #[inline]
            fn of(lane: u32) -> Self {
                1 << lane
            }

            #[inline]
            fn first(self) -> u32 {
                self.trailing_zeros()
            }

            #[inline]
            fn rest(self) -> Self {
                self & self.wrapping_sub(1)
            }
        }
    )*};
}

mask!(u8, u64);

/// Workspace of a thread for searches, with room for a number of vertices.
pub(crate) struct Search<M> {
    seen: Vec<M>,
    here: Vec<M>,
    there: Vec<M>,
    frontier: Vec<VertexId>,
    reached: Vec<VertexId>,
}

/// Returns the bytes of a [`Search`] for `vertices` vertices.
pub(crate) fn bytes_of_search<M>(vertices: u32) -> u64 {
    (3 * size_of::<M>() as u64 + 8) * u64::from(vertices)
}

/// A visitor of a search.
pub(crate) trait Visit<M> {
    /// Whether the vertices of a step must ascend.
    const IN_ORDER: bool = false;

    /// Called once per step and reached vertex: `sources` are `step` arcs away from `vertex`. Steps
    /// ascend from 0, the sources themselves. `here` holds the sources that reached each vertex at
    /// the step before.
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: M, here: &[M]);
}

/// The pull threshold: a step pulls if more than one in `MANY` vertices is active.
const MANY: usize = 16;

impl<M: Mask> Search<M> {
    pub fn new(vertices: u32) -> Result<Search<M>, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Search {
            seen: memory::filled(M::NONE, vertices)?,
            here: memory::filled(M::NONE, vertices)?,
            there: memory::filled(M::NONE, vertices)?,
            frontier: memory::with_room(vertices)?,
            reached: memory::with_room(vertices)?,
        })
    }

    /// Searches from vertices, which ascend; the first has the lowest bit.
    #[inline(always)]
    pub fn run<L: NeighborLists, V: Visit<M>>(
        &mut self,
        lists: Sides<L>,
        sources: &[VertexId],
        visit: &mut V,
    ) {
        let vertices = lists.vertices() as usize;
        for masks in [&mut self.seen, &mut self.here, &mut self.there] {
            masks[..vertices].fill(M::NONE);
        }
        self.frontier.clear();
        let mut all = M::NONE;
        for (lane, &source) in (0..).zip(sources) {
            let mask = M::of(lane);
            (self.seen[source as usize], self.here[source as usize]) = (mask, mask);
            all = all | mask;
            self.frontier.push(source);
            visit.arrive(0, source, mask, &[]);
        }
        let (mut step, mut active) = (0, self.frontier.len());
        // Whether `frontier` lists the active vertices.
        let mut listed = true;
        while active > 0 {
            step += 1;
            let many = active > vertices / MANY;
            if many {
                active = self.pull(lists, all, step, visit);
            } else {
                if !listed {
                    self.compact(vertices);
                }
                active = self.push(lists, step, visit);
            }
            listed = !many;
        }
    }

    /// Performs a step by pulling: every vertex reads its predecessors.
    #[inline(always)]
    fn pull<L: NeighborLists>(
        &mut self,
        lists: Sides<L>,
        all: M,
        step: u32,
        visit: &mut impl Visit<M>,
    ) -> usize {
        let vertices = lists.vertices() as usize;
        let Search { seen, here, there, .. } = self;
        let (here, mut active) = (&here[..vertices], 0);
        let masks = seen[..vertices].iter_mut().zip(&mut there[..vertices]);
        for (vertex, (seen, there)) in (0..).zip(masks) {
            *there = M::NONE;
            if *seen == all {
                continue;
            }
            let behind = lists.behind.each_of(vertex as usize);
            let sources = behind.fold(M::NONE, |sources, from| sources | here[from as usize]);
            let new = sources & !*seen;
            if new != M::NONE {
                (*there, *seen) = (new, *seen | new);
                active += 1;
                visit.arrive(step, vertex, new, here);
            }
        }
        std::mem::swap(&mut self.here, &mut self.there);
        active
    }

    /// Compacts the active vertices into the frontier, and clears the masks of the next step.
    #[inline(always)]
    fn compact(&mut self, vertices: usize) {
        let Search { here, there, frontier, .. } = self;
        let here = (0..).zip(&here[..vertices]);
        frontier.clear();
        frontier.extend(here.filter(|(_, sources)| **sources != M::NONE).map(|(vertex, _)| vertex));
        there[..vertices].fill(M::NONE);
    }

    /// Performs a step by pushing from the active vertices.
    #[inline(always)]
    fn push<L: NeighborLists, V: Visit<M>>(
        &mut self,
        lists: Sides<L>,
        step: u32,
        visit: &mut V,
    ) -> usize {
        let Search { seen, here, there, frontier, reached } = self;
        for &vertex in &*frontier {
            let sources = here[vertex as usize];
            for neighbor in lists.ahead.each_of(vertex as usize) {
                let to = neighbor as usize;
                let new = sources & !seen[to];
                if new != M::NONE {
                    if there[to] == M::NONE {
                        reached.push(neighbor);
                    }
                    there[to] = there[to] | new;
                }
            }
        }
        if V::IN_ORDER {
            reached.sort_unstable();
        }
        for &vertex in &*reached {
            let at = vertex as usize;
            seen[at] = seen[at] | there[at];
            visit.arrive(step, vertex, there[at], here);
        }
        frontier.drain(..).for_each(|vertex| here[vertex as usize] = M::NONE);
        std::mem::swap(here, there);
        std::mem::swap(frontier, reached);
        frontier.len()
    }
}
