//! Validation of compressed lists from untrusted sources.

use super::classes::unfolded;
use super::decode::List;
use super::{BLOCK, CompressedAdjacency, CompressedNeighbors, LEAST_RUN};
use crate::VertexId;
use rayon::prelude::*;
use thiserror::Error;

/// The reason why arrays are not valid compressed lists.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InvalidCompressed {
    /// The width of a class exceeds that of a value.
    #[error("a value of the compressed lists is said to have more than 32 bits")]
    Code,
    /// The begins of blocks do not ascend from 0 to the end of the words, or their number is wrong.
    #[error("the begins of compressed blocks do not fit the vertices and the words")]
    Begins,
    /// The lists of a block are not consecutive up to its end.
    #[error("the compressed lists of vertices {first} and after do not fill their block")]
    Block {
        /// The block's first vertex.
        first: VertexId,
    },
    /// A list does not end at its recorded end.
    #[error("the compressed list of vertex {vertex} does not end where it must")]
    List {
        /// The vertex of the list.
        vertex: VertexId,
    },
    /// A neighbour is not a vertex, or is smaller than the one before.
    #[error("the compressed list of vertex {vertex} names a neighbour that cannot be")]
    Neighbor {
        /// The vertex of the list.
        vertex: VertexId,
    },
    /// The degrees do not add up to the number of arcs.
    #[error("the compressed lists have {found} arcs, not {expected}")]
    Arcs {
        /// The sum of the degrees.
        found: u64,
        /// The number of arcs given with the lists.
        expected: u64,
    },
}

impl CompressedAdjacency {
    /// Checks all lists of a graph of `vertices` vertices, in parallel.
    ///
    /// Each list must fill its place to the bit, ascend, and name only vertices; the number of arcs
    /// must match.
    ///
    /// # Errors
    /// The first error in the first invalid block.
    pub fn check(&self, vertices: u32) -> Result<(), InvalidCompressed> {
        let lists = self.view();
        let blocks = lists.begins.len() - 1;
        let wrong = |block| lists.check_block(block, vertices).err();
        if let Some(wrong) = (0..blocks).into_par_iter().find_map_first(wrong) {
            return Err(wrong);
        }
        let (expected, local) = (self.arcs, (0..lists.vertices).into_par_iter());
        let found = local.map(|local| u64::from(lists.degree(local))).sum();
        if found == expected { Ok(()) } else { Err(InvalidCompressed::Arcs { found, expected }) }
    }
}

impl CompressedNeighbors<'_> {
    fn check_block(&self, block: usize, vertices: u32) -> Result<(), InvalidCompressed> {
        let first = block * BLOCK;
        let places = self.block(first);
        let wrong = InvalidCompressed::Block { first: self.vertex(first) };
        let count = (self.vertices - first).min(BLOCK);
        let mut before = 0;
        if places.degree_width > 32 {
            return Err(wrong);
        }
        for lane in 0..count {
            let end = self.end_before(&places, lane + 1);
            if end < before {
                return Err(wrong);
            }
            before = end;
        }
        // A block has no more words than it needs.
        let words = self.begins[block + 1].checked_mul(32).zip(places.lists.checked_add(before));
        if !words.is_some_and(|(limit, end)| end <= limit && limit - end < 32) {
            return Err(wrong);
        }
        (0..count).try_for_each(|lane| {
            let end = places.lists + self.end_before(&places, lane + 1);
            self.check_list(first + lane, end, vertices)
        })
    }

    /// Checks a list that must end at bit `end`.
    fn check_list(&self, local: usize, end: u64, vertices: u32) -> Result<(), InvalidCompressed> {
        let (list, vertex) = (self.list(local), self.vertex(local));
        let (segments, mut before, mut at) = (list.segments(), None, list.begin);
        for segment in 0..segments {
            let begin = list.segment(self.words, segment);
            // The first segment begins after the ends of the others.
            if begin > end || (segment > 0 && begin != at) {
                return Err(InvalidCompressed::List { vertex });
            }
            (before, at) = self.check_segment(local, list, segment, before, vertices)?;
        }
        if at == end { Ok(()) } else { Err(InvalidCompressed::List { vertex }) }
    }

    /// Checks a segment; returns its last neighbour, and the bit at which it ends.
    fn check_segment(
        &self,
        local: usize,
        list: List,
        segment: usize,
        before: Option<VertexId>,
        vertices: u32,
    ) -> Result<(Option<VertexId>, u64), InvalidCompressed> {
        let vertex = self.vertex(local);
        let neighbors = list.neighbors_in(segment);
        let begin = list.segment(self.words, segment);
        let mut tokens = self.tokens(begin, neighbors);
        let values_end = tokens.end();
        let mut left = neighbors as u64;
        let mut last = None;
        for _ in 0..tokens.count.min(neighbors as u32) {
            let (class, value) = tokens.next();
            let value = u64::from(value);
            let least = u64::from(self.code.least_gap());
            let (step, of_token) = match last {
                None => (u64::from(vertex.wrapping_add(unfolded(value as u32))), 1),
                Some(last) if self.code.runs && class == 3 => {
                    let run = value + u64::from(LEAST_RUN);
                    (last + run, run)
                }
                Some(last) => (last + value + least, 1),
            };
            let ascends =
                last.is_some() || before.is_none_or(|before| u64::from(before) + least <= step);
            if step >= u64::from(vertices) || !ascends {
                return Err(InvalidCompressed::Neighbor { vertex });
            }
            left = left.checked_sub(of_token).ok_or(InvalidCompressed::List { vertex })?;
            last = Some(step);
        }
        let fits = left == 0 && tokens.count <= neighbors as u32 && tokens.at == values_end;
        let end = match self.code.weight_widths {
            None => values_end,
            Some(widths) => self.weights(values_end, neighbors, widths).end(),
        };
        if !fits {
            return Err(InvalidCompressed::List { vertex });
        }
        Ok((last.map(|last| last as u32), end))
    }

    fn vertex(&self, local: usize) -> VertexId {
        self.first.wrapping_add(local as u32)
    }
}
