//! Breadth-first search from 64 sources at once.
//!
//! ```text
//! a source is a bit, and a vertex has three masks:
//!   seen    the sources that have found it
//!   here    those that did at the last step
//!   next    those that do at this one
//! each step, of the vertices where somebody is:
//!   of each neighbour:   next |= here, without what it has seen
//! ```
//!
//! Sources that go the same way share the way: a vertex's list is read once for all that arrive at the
//! same step (Then et al., *The More the Merrier: Efficient Multi-Source Graph Traversal*, VLDB 2014).
//! Only vertices where somebody arrived are looked at, so that long ways cost no more than short ones.

use crate::lists::Lists;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// Sources of a search.
pub(crate) const SOURCES: u32 = u64::BITS;

/// What a thread keeps for its searches, with room for so many vertices or more. Between two of them
/// `here` and `next` are empty.
pub(crate) struct Search {
    seen: Vec<u64>,
    here: Vec<u64>,
    next: Vec<u64>,
    front: Vec<VertexId>,
    reached: Vec<VertexId>,
}

/// Bytes of a [`Search`] of so many vertices.
pub(crate) fn bytes_of_search(vertices: u32) -> u64 {
    32 * u64::from(vertices)
}

/// Who is told of a search.
pub(crate) trait Visit {
    /// The sources of these bits are so many arcs from a vertex; 0 at themselves. Steps ascend.
    fn arrive(&mut self, step: u32, vertex: VertexId, sources: u64);

    /// All that are so many arcs away have been told.
    fn end_step(&mut self, _step: u32) {}
}

impl Search {
    pub fn new(vertices: u32) -> Result<Search, OutOfMemory> {
        let vertices = vertices as usize;
        Ok(Search {
            seen: memory::zeros(vertices)?,
            here: memory::zeros(vertices)?,
            next: memory::zeros(vertices)?,
            front: memory::with_room(vertices)?,
            reached: memory::with_room(vertices)?,
        })
    }

    /// Searches from up to 64 vertices of consecutive ids, the first of which has the lowest bit.
    pub fn run<L: Lists>(&mut self, lists: L, sources: Range<VertexId>, visit: &mut impl Visit) {
        let Search { seen, here, next, front, reached } = self;
        seen[..lists.vertices() as usize].fill(0);
        for (bit, source) in sources.enumerate() {
            let mask = 1 << bit;
            (seen[source as usize], here[source as usize]) = (mask, mask);
            front.push(source);
            visit.arrive(0, source, mask);
        }
        visit.end_step(0);
        let mut step = 0;
        while !front.is_empty() {
            step += 1;
            for vertex in front.drain(..) {
                let sources = std::mem::take(&mut here[vertex as usize]);
                for &neighbor in lists.of(vertex) {
                    let neighbor_at = neighbor as usize;
                    let new = sources & !seen[neighbor_at];
                    if new != 0 {
                        if next[neighbor_at] == 0 {
                            reached.push(neighbor);
                        }
                        next[neighbor_at] |= new;
                    }
                }
            }
            for &vertex in &*reached {
                let sources = next[vertex as usize];
                seen[vertex as usize] |= sources;
                visit.arrive(step, vertex, sources);
            }
            visit.end_step(step);
            std::mem::swap(here, next);
            std::mem::swap(front, reached);
        }
    }
}

/// How often each of 64 sources was told, as the bits of 64 numbers: adding a mask adds 1 to each of
/// its sources, and takes two operations, however many they are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    /// The lowest bits of all numbers, then the next.
    planes: Vec<u64>,
}

impl Counters {
    #[inline]
    pub fn add(&mut self, mask: u64) {
        let mut carry = mask;
        for plane in &mut self.planes {
            let both = *plane & carry;
            *plane ^= carry;
            carry = both;
            if carry == 0 {
                return;
            }
        }
        if carry != 0 {
            self.planes.push(carry);
        }
    }

    /// The number of each source, and 0 for all from then on.
    pub fn take(&mut self) -> [u64; SOURCES as usize] {
        let mut numbers = [0; SOURCES as usize];
        for (shift, plane) in self.planes.drain(..).enumerate() {
            let mut left = plane;
            while left != 0 {
                numbers[left.trailing_zeros() as usize] += 1 << shift;
                left &= left - 1;
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count() {
        let mut counters = Counters::default();
        let mut expected = [0u64; 64];
        for step in 0..1000u64 {
            let mask = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !(1 << 7);
            counters.add(mask);
            for (bit, number) in expected.iter_mut().enumerate() {
                *number += mask >> bit & 1;
            }
        }
        counters.add(0);
        assert_eq!(counters.take(), expected);
        assert_eq!(counters.take(), [0; 64]);
    }
}
