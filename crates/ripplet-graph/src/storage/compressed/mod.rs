//! Compressed adjacency: gaps and runs in four widths, which a warp decodes 32 at a time.
//!
//! The format follows the compressed representation of Ye et al. (*Large-Scale Graph Label
//! Propagation on GPUs*, TKDE 2023, section 5), whose codes are read bit by bit. Here, the data
//! that locates the values precedes them. [`CompressedAdjacency::of`] encodes in parallel and
//! deterministically: the same bytes on any number of threads.
//!
//! # Format
//! Words of 32 bits. The bits of a value ascend from its place; bit `at` is bit `at % 32` of word
//! `at / 32`.
//!
//! ```text
//! begins    u64 each: the first word of each block of 32 vertices; after the last, the end
//! words     the blocks, each aligned to a word; one word of zeros at the end
//!
//! block     6 bits   D, the width of a degree
//!           6 bits   E, the width of an end
//!           n · D    degrees of the block's n vertices (32; the remainder in the last block)
//!           n · E    the end of each list, in bits from the first list's begin
//!           the lists, one after the other
//!
//! list      if the degree is above 256: (s − 1) · E, the end of each of its s segments but the last, in bits
//!           from the list's begin; each segment has 256 neighbours, the last one the remainder
//!           the segments
//!
//! segment   of n neighbours: if the code has runs and n > 3, the number of tokens m, in as many bits as n
//!           has; else m = n
//!           m        lower bits of the tokens' classes
//!           m        higher bits of the tokens' classes
//!           …        the tokens' values, each in the width of its class
//!           if weighted: two planes and values of the n weights in the same layout, with their own widths
//! ```
//!
//! A token's value is a *gap*. For the first token it is the neighbour minus the vertex itself,
//! modulo 2³² in zigzag encoding (0, −1, 1, −2 … as 0, 1, 2, 3 …). For others it is the neighbour
//! minus the one before, minus 1 if no list has a neighbour twice. If the code has runs, values of
//! the last class are *runs*: the next (value + 3) neighbours are consecutive successors of the one
//! before.
//!
//! ```text
//! vertex 16, neighbours 12 18 19 20 21 30 31; widths 0 3 4, and 0 for runs
//! token     −4    6 − 1   3 more   9 − 1   1 − 1
//! value     7     5       0        8       0
//! class     1     1       3        2       0
//! lower     1     1       1        0       0       5 tokens: a number of 3 bits, two planes of 5,
//! higher    0     0       1        1       0       3 + 3 + 0 + 4 + 0 bits of values: 23 bits
//! ```
//!
//! A warp reads the two planes of 32 tokens at once. Three population counts give the number of
//! tokens of each class before a lane's token, and so the place of its value. A prefix sum turns
//! gaps into neighbours. A single thread reads tokens one by one. Segments are independent: a long
//! list is decoded from many places at once.
//!
//! The encoder chooses the widths, and whether there are runs, for the fewest bits over a shard's
//! lists of one direction.
//!
//! # Memory
//! 8 bytes per 32 vertices, and the words. The data that locates lists takes 18 to 24 bits per
//! vertex in total on the measured graphs; the lists come on top. Encoding takes 1.3 KiB per thread
//! more; decoding allocates nothing.
//!
//! # Damaged data
//! Decoding does not validate, but never reads outside of the arrays and always terminates: damaged
//! words yield wrong neighbours. [`CompressedAdjacency::check`] validates lists from untrusted
//! sources.

mod bits;
mod check;
mod classes;
mod decode;
mod encode;
mod graph;
#[cfg(test)]
mod tests;

pub use check::InvalidCompressed;
pub use decode::{ListNeighbors, ListWeights};
pub use graph::{CompressedGraph, CompressedShard, InvalidCompressedGraph};

use crate::{Buffer, VertexId};
use std::ops::Range;

/// Vertices of a block: the lanes of a warp.
pub const BLOCK: usize = 32;
/// Neighbours of a segment: few enough that a list of some thousand has one for each warp of a
/// block (`docs/adr/0012`).
pub const SEGMENT: usize = 256;
/// The shortest run: 2, 3 and 4 differ by less than a percent (`docs/adr/0012`).
const LEAST_RUN: u32 = 3;
/// Bits of each of a block's two widths.
const WIDTH_BITS: u32 = 6;

/// The code of a shard's lists of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Widths of the four classes of values, at most 32.
    pub widths: [u8; 4],
    /// Whether the last class is runs.
    pub runs: bool,
    /// Whether a list may have a neighbour twice.
    pub repeats: bool,
    /// Widths of the weights' classes, if arcs have weights.
    pub weight_widths: Option<[u8; 4]>,
}

impl Code {
    fn least_gap(&self) -> u32 {
        u32::from(!self.repeats)
    }

    /// Returns the width of a segment's number of tokens.
    fn count_width(&self, neighbors: usize) -> u32 {
        let counted = self.runs && neighbors > LEAST_RUN as usize;
        if counted { bits::length(neighbors as u64) } else { 0 }
    }
}

/// The compressed lists of a shard, in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressedAdjacency {
    vertices: Range<VertexId>,
    arcs: u64,
    code: Code,
    begins: Buffer<u64>,
    words: Buffer<u32>,
}

/// [`CompressedAdjacency`] as plain slices; `local` counts from the shard's first vertex.
#[derive(Clone, Copy, Debug)]
pub struct CompressedNeighbors<'a> {
    first: VertexId,
    vertices: usize,
    arcs: u64,
    code: Code,
    begins: &'a [u64],
    words: &'a [u32],
}

impl CompressedAdjacency {
    /// Creates lists from their parts, for the vertices `vertices`, with `arcs` arcs in total.
    ///
    /// It checks only the shape, in one pass over `begins`: see [`CompressedAdjacency::check`].
    ///
    /// # Errors
    /// If a width exceeds 32, or if `begins` do not ascend, have the wrong length, or do not end
    /// before the last of `words`.
    pub fn from_parts(
        vertices: Range<VertexId>,
        arcs: u64,
        code: Code,
        begins: Buffer<u64>,
        words: Buffer<u32>,
    ) -> Result<CompressedAdjacency, InvalidCompressed> {
        let widths = code.widths.iter().chain(code.weight_widths.iter().flatten());
        if widths.copied().any(|width| width > 32) {
            return Err(InvalidCompressed::Code);
        }
        let shape = vertices.start <= vertices.end
            && begins.len() == vertices.len().div_ceil(BLOCK) + 1
            && begins[0] == 0
            && begins.is_sorted()
            && begins.last().and_then(|&end| end.checked_add(1)) == Some(words.len() as u64);
        match shape {
            true => Ok(CompressedAdjacency { vertices, arcs, code, begins, words }),
            false => Err(InvalidCompressed::Begins),
        }
    }

    /// Returns the vertices whose lists these are.
    pub fn vertices(&self) -> Range<VertexId> {
        self.vertices.clone()
    }

    /// Returns the number of arcs of all lists.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Returns the code of the lists.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the first word of each block of 32 vertices, and the end of the last.
    pub fn begins(&self) -> &[u64] {
        &self.begins
    }

    /// Returns the blocks, and a word of zeros.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the words of a block's head: its widths, degrees and ends, and possibly the begin of
    /// its lists.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn head_of(&self, block: usize) -> &[u32] {
        let words = &self.words[self.begins[block] as usize..];
        let vertices = (self.vertices.len() - block * BLOCK).min(BLOCK) as u32;
        let width = |at: u32| words[0] >> at & ((1 << WIDTH_BITS) - 1);
        let bits = 2 * WIDTH_BITS + vertices * (width(0) + width(WIDTH_BITS));
        &words[..bits.div_ceil(u32::BITS) as usize]
    }

    /// Returns the bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.begins.bytes() + self.words.bytes()
    }

    /// Returns the bytes of the arrays in shared memory: [`Buffer::shared_bytes`].
    pub fn shared_bytes(&self) -> u64 {
        self.begins.shared_bytes() + self.words.shared_bytes()
    }

    /// Returns the arrays as plain slices.
    pub fn view(&self) -> CompressedNeighbors<'_> {
        CompressedNeighbors {
            first: self.vertices.start,
            vertices: self.vertices.len(),
            arcs: self.arcs,
            code: self.code,
            begins: &self.begins,
            words: &self.words,
        }
    }
}
