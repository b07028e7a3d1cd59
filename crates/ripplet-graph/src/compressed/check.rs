//! Whether compressed lists that somebody else wrote are sound.

use super::classes::unfolded;
use super::decode::List;
use super::{BLOCK, CompressedAdjacency, CompressedNeighbors, LEAST_RUN};
use crate::VertexId;
use rayon::prelude::*;
use thiserror::Error;

/// Why arrays are no compressed lists.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InvalidCompressed {
    /// A class of more bits than a value has.
    #[error("a value of the compressed lists is said to have more than 32 bits")]
    Code,
    /// Begins of blocks that do not ascend from 0 to the words' end, or are too few or too many.
    #[error("the begins of compressed blocks do not fit the vertices and the words")]
    Begins,
    /// A block whose lists do not follow one upon the other to its end.
    #[error("the compressed lists of vertices {first} and after do not fill their block")]
    Block {
        /// The block's first vertex.
        first: VertexId,
    },
    /// A list that does not end where it must.
    #[error("the compressed list of vertex {vertex} does not end where it must")]
    List {
        /// Whose list it is.
        vertex: VertexId,
    },
    /// A neighbour that is not a vertex, or is smaller than the one before.
    #[error("the compressed list of vertex {vertex} names a neighbour that cannot be")]
    Neighbor {
        /// Whose list it is.
        vertex: VertexId,
    },
    /// Degrees that do not make up the number of arcs.
    #[error("the compressed lists have {found} arcs, not {expected}")]
    Arcs {
        /// The sum of the degrees.
        found: u64,
        /// What was given with the lists.
        expected: u64,
    },
}

impl CompressedAdjacency {
    /// Walks over all lists of a graph of so many vertices, in parallel: each fills its place to the
    /// bit, ascends and names vertices only, and there are as many arcs as was said.
    ///
    /// # Errors
    /// What is wrong in the first block in which anything is.
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
        // A block has as many words as it needs.
        let words = self.begins[block + 1].checked_mul(32).zip(places.lists.checked_add(before));
        if !words.is_some_and(|(limit, end)| end <= limit && limit - end < 32) {
            return Err(wrong);
        }
        (0..count).try_for_each(|lane| {
            let end = places.lists + self.end_before(&places, lane + 1);
            self.check_list(first + lane, end, vertices)
        })
    }

    /// A list that must end at a bit.
    fn check_list(&self, local: usize, end: u64, vertices: u32) -> Result<(), InvalidCompressed> {
        let (list, vertex) = (self.list(local), self.vertex(local));
        let (segments, mut before, mut at) = (list.segments(), None, list.begin);
        for segment in 0..segments {
            let begin = list.segment(self.words, segment);
            // The first one begins behind the ends of the others.
            if begin > end || (segment > 0 && begin != at) {
                return Err(InvalidCompressed::List { vertex });
            }
            (before, at) = self.check_segment(local, list, segment, before, vertices)?;
        }
        if at == end { Ok(()) } else { Err(InvalidCompressed::List { vertex }) }
    }

    /// The last neighbour of a segment, and where it ends.
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
