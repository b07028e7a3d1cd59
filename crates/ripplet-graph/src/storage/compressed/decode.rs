//! Decoding of words to neighbours, one by one and without allocation.

use super::bits::{take, take_long};
use super::classes::unfolded;
use super::{BLOCK, CompressedAdjacency, CompressedNeighbors, LEAST_RUN, SEGMENT, WIDTH_BITS};
use crate::memory::{self, OutOfMemory};
use crate::{Adjacency, VertexId};
use rayon::prelude::*;
use std::iter::FusedIterator;
use std::ops::Range;

/// The places of a block's parts, in bits.
#[derive(Clone, Copy)]
pub(super) struct Block {
    degrees: u64,
    pub(super) degree_width: u32,
    ends: u64,
    pub(super) end_width: u32,
    /// The begin of the first list.
    pub(super) lists: u64,
}

/// The place of a list before decoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) degree: u32,
    /// The first bit.
    pub(super) begin: u64,
    end_width: u32,
}

impl List {
    pub(super) fn segments(self) -> usize {
        (self.degree as usize).div_ceil(SEGMENT)
    }

    /// Returns the begin of a segment.
    #[inline]
    pub(super) fn segment(self, words: &[u32], segment: usize) -> u64 {
        let width = u64::from(self.end_width);
        let begin = match segment.checked_sub(1) {
            None => self.segments().saturating_sub(1) as u64 * width,
            Some(before) => {
                let at = self.begin.wrapping_add(before as u64 * width);
                take_long(words, at, self.end_width)
            }
        };
        self.begin.wrapping_add(begin)
    }

    /// Returns the number of neighbours of a segment.
    #[inline]
    pub(super) fn neighbors_in(self, segment: usize) -> usize {
        (self.degree as usize - segment * SEGMENT).min(SEGMENT)
    }
}

impl<'a> CompressedNeighbors<'a> {
    /// Returns the places in the block of vertex `local`.
    #[inline]
    pub(super) fn block(&self, local: usize) -> Block {
        assert!(local < self.vertices, "vertex {local} of {}", self.vertices);
        let begin = self.begins[local / BLOCK] * 32;
        let count = (self.vertices - local / BLOCK * BLOCK).min(BLOCK) as u64;
        let head = take(self.words, begin, 2 * WIDTH_BITS);
        let (degree_width, end_width) = (head & ((1 << WIDTH_BITS) - 1), head >> WIDTH_BITS);
        let degrees = begin + u64::from(2 * WIDTH_BITS);
        let ends = degrees + count * u64::from(degree_width);
        let lists = ends + count * u64::from(end_width);
        Block { degrees, degree_width, ends, end_width, lists }
    }

    #[inline]
    fn degree_in(&self, block: &Block, lane: usize) -> u32 {
        let at = block.degrees + lane as u64 * u64::from(block.degree_width);
        // A degree has at most 32 bits, also in damaged words.
        take(self.words, at, block.degree_width.min(32))
    }

    /// Returns the end of the lists before a lane, relative to the first list's begin.
    #[inline]
    pub(super) fn end_before(&self, block: &Block, lane: usize) -> u64 {
        let width = u64::from(block.end_width);
        match lane.checked_sub(1) {
            None => 0,
            Some(before) => {
                take_long(self.words, block.ends + before as u64 * width, block.end_width)
            }
        }
    }

    #[inline]
    pub(super) fn list(&self, local: usize) -> List {
        let (block, lane) = (self.block(local), local % BLOCK);
        List {
            degree: self.degree_in(&block, lane),
            begin: block.lists.wrapping_add(self.end_before(&block, lane)),
            end_width: block.end_width,
        }
    }

    /// Returns the values of a segment's tokens.
    #[inline]
    pub(super) fn tokens(&self, begin: u64, neighbors: usize) -> Values<'a> {
        let width = self.code.count_width(neighbors);
        let count = match width {
            0 => neighbors as u32,
            _ => take(self.words, begin, width),
        };
        let begin = begin.wrapping_add(width.into());
        Values::new(self.words, begin, count, self.code.widths)
    }

    /// Returns the weights of a segment, which begin after its tokens.
    #[inline]
    pub(super) fn weights(&self, begin: u64, neighbors: usize, widths: [u8; 4]) -> Values<'a> {
        Values::new(self.words, begin, neighbors as u32, widths)
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Returns the number of arcs of all lists.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Returns whether arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.code.weight_widths.is_some()
    }

    /// Returns the number of arcs in vertex `local`'s list.
    ///
    /// # Panics
    /// If there is no such vertex; this holds for the following methods, too.
    #[inline]
    pub fn degree(&self, local: usize) -> u32 {
        self.degree_in(&self.block(local), local % BLOCK)
    }

    /// Returns the words of [`CompressedAdjacency::words`] that hold vertex `local`'s list, and the
    /// word after them, which readers of the last values access; empty for an empty list.
    pub fn words_of(&self, local: usize) -> Range<u64> {
        let (block, lane) = (self.block(local), local % BLOCK);
        let bit = |lane| block.lists.wrapping_add(self.end_before(&block, lane));
        let (begin, end) = (bit(lane), bit(lane + 1));
        let most = self.words.len() as u64;
        match begin < end {
            true => (begin / 32).min(most)..(end.div_ceil(32) + 1).min(most),
            false => 0..0,
        }
    }

    /// Returns the neighbours of vertex `local`, ascending.
    #[inline]
    pub fn of(&self, local: usize) -> ListNeighbors<'a> {
        let list = self.list(local);
        ListNeighbors {
            lists: *self,
            list,
            vertex: self.first.wrapping_add(local as u32),
            next_segment: 0,
            after: list.degree,
            left: 0,
            before: 0,
            run: 0,
            tokens: Values::new(&[], 0, 0, [0; 4]),
        }
    }

    /// Returns the stored weights of the arcs in the order of [`CompressedNeighbors::of`], if the
    /// graph has weights.
    #[inline]
    pub fn weights_of(&self, local: usize) -> Option<ListWeights<'a>> {
        let widths = self.code.weight_widths?;
        let list = self.list(local);
        let values = Values::new(&[], 0, 0, widths);
        Some(ListWeights {
            lists: *self,
            list,
            next_segment: 0,
            after: list.degree,
            left: 0,
            values,
        })
    }
}

/// A sequential reader of values in four width classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Values<'a> {
    words: &'a [u32],
    widths: [u8; 4],
    /// The begin of the lower bits of the classes.
    classes: u64,
    pub(super) count: u32,
    next: u32,
    low: u32,
    high: u32,
    /// The begin of the next value.
    pub(super) at: u64,
}

impl<'a> Values<'a> {
    #[inline]
    fn new(words: &'a [u32], begin: u64, count: u32, widths: [u8; 4]) -> Values<'a> {
        let at = begin.wrapping_add(2 * u64::from(count));
        Values { words, widths, classes: begin, count, next: 0, low: 0, high: 0, at }
    }

    /// Returns the lower and the higher bits of the classes of up to 32 values, from value `from`
    /// on.
    #[inline]
    fn planes(&self, from: u32) -> (u32, u32) {
        let width = self.count.saturating_sub(from).min(32);
        let low = self.classes.wrapping_add(from.into());
        let high = low.wrapping_add(self.count.into());
        (take(self.words, low, width), take(self.words, high, width))
    }

    /// Returns the next value and its class; unspecified past the last.
    #[inline]
    pub(super) fn next(&mut self) -> (u32, u32) {
        if self.next.is_multiple_of(32) {
            (self.low, self.high) = self.planes(self.next);
        }
        let class = self.low & 1 | (self.high & 1) << 1;
        (self.low, self.high, self.next) =
            (self.low >> 1, self.high >> 1, self.next.wrapping_add(1));
        let width = u32::from(self.widths[class as usize]);
        let value = take(self.words, self.at, width);
        self.at = self.at.wrapping_add(width.into());
        (class, value)
    }

    /// Returns the end of the last value, computed from all classes; the reader must be at the
    /// first value.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        let mut end = self.at;
        // Damaged words may have more tokens than a segment.
        for from in (0..self.count.min(SEGMENT as u32)).step_by(32) {
            let values = (self.count - from).min(32);
            let (low, high) = self.planes(from);
            let of_class = [!(low | high), low & !high, high & !low, low & high];
            let [zero, others @ ..] = of_class.map(u32::count_ones);
            let counts = [zero + values - 32, others[0], others[1], others[2]];
            let bits =
                counts.iter().zip(self.widths).map(|(count, width)| count * u32::from(width));
            end = end.wrapping_add(bits.sum::<u32>().into());
        }
        end
    }
}

/// The neighbours of a vertex, ascending.
///
/// In damaged words, arbitrary values, as many as the degree.
#[derive(Clone, Debug)]
pub struct ListNeighbors<'a> {
    lists: CompressedNeighbors<'a>,
    list: List,
    vertex: VertexId,
    next_segment: usize,
    /// Neighbours after this segment.
    after: u32,
    /// Remaining neighbours of this segment.
    left: u32,
    before: VertexId,
    /// Remaining successors of `before` in a run.
    run: u32,
    tokens: Values<'a>,
}

impl ListNeighbors<'_> {
    /// Enters the next segment, which must exist. Always inlined, so that the iterator can live in
    /// registers.
    #[inline(always)]
    fn enter(&mut self) {
        let neighbors = self.list.neighbors_in(self.next_segment);
        let begin = self.list.segment(self.lists.words, self.next_segment);
        self.tokens = self.lists.tokens(begin, neighbors);
        let (_, first) = self.tokens.next();
        // Represents the first neighbour as the successor of the one before.
        self.before = self.vertex.wrapping_add(unfolded(first)).wrapping_sub(1);
        self.run = 1;
        self.next_segment += 1;
        self.left = neighbors as u32;
        self.after -= self.left;
    }

    /// Writes the next neighbours to `room`, until it is full or the list ends; returns their
    /// number.
    #[inline]
    pub fn fill(&mut self, room: &mut [VertexId]) -> usize {
        let count = self.len().min(room.len());
        let mut rest = &mut room[..count];
        while !rest.is_empty() {
            if self.left == 0 {
                self.enter();
            }
            let (here, others) = rest.split_at_mut(rest.len().min(self.left as usize));
            for neighbor in here {
                *neighbor = self.step();
            }
            rest = others;
        }
        count
    }

    /// Returns the next neighbour of this segment.
    #[inline]
    fn step(&mut self) -> VertexId {
        let code = self.lists.code;
        let gap = match self.run {
            0 => match self.tokens.next() {
                (3, run) if code.runs => {
                    self.run = run.saturating_add(LEAST_RUN - 1);
                    1
                }
                (_, gap) => gap.wrapping_add(code.least_gap()),
            },
            _ => {
                self.run -= 1;
                1
            }
        };
        self.left -= 1;
        self.before = self.before.wrapping_add(gap);
        self.before
    }
}

impl Iterator for ListNeighbors<'_> {
    type Item = VertexId;

    #[inline]
    fn next(&mut self) -> Option<VertexId> {
        if self.left == 0 {
            if self.after == 0 {
                return None;
            }
            self.enter();
        }
        Some(self.step())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.after as usize + self.left as usize;
        (left, Some(left))
    }

    /// The basis of `for_each` and sums: tests once per segment what `next` tests each time.
    #[inline]
    fn fold<B, F: FnMut(B, VertexId) -> B>(mut self, init: B, mut f: F) -> B {
        let least_gap = self.lists.code.least_gap();
        let mut sum = init;
        loop {
            while self.left > 0 && (self.lists.code.runs || self.run > 0) {
                sum = f(sum, self.step());
            }
            let (mut tokens, mut before) = (self.tokens, self.before);
            for _ in 0..self.left {
                let (_, gap) = tokens.next();
                before = before.wrapping_add(gap.wrapping_add(least_gap));
                sum = f(sum, before);
            }
            if self.after == 0 {
                return sum;
            }
            self.enter();
        }
    }
}

impl ExactSizeIterator for ListNeighbors<'_> {}
impl FusedIterator for ListNeighbors<'_> {}

/// The stored weights of a vertex's arcs, in the order of [`ListNeighbors`].
#[derive(Clone, Debug)]
pub struct ListWeights<'a> {
    lists: CompressedNeighbors<'a>,
    list: List,
    next_segment: usize,
    after: u32,
    left: u32,
    values: Values<'a>,
}

impl ListWeights<'_> {
    /// Writes the next weights to `room`, until it is full or the list ends; returns their number.
    #[inline]
    pub fn fill(&mut self, room: &mut [u32]) -> usize {
        let count = self.len().min(room.len());
        room.iter_mut().zip(self).take(count).for_each(|(to, weight)| *to = weight);
        count
    }

    #[inline(always)]
    fn enter(&mut self) {
        let neighbors = self.list.neighbors_in(self.next_segment);
        let begin = self.list.segment(self.lists.words, self.next_segment);
        let end = self.lists.tokens(begin, neighbors).end();
        let widths = self.values.widths;
        self.values = self.lists.weights(end, neighbors, widths);
        self.next_segment += 1;
        self.left = neighbors as u32;
        self.after -= self.left;
    }
}

impl Iterator for ListWeights<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.left == 0 {
            if self.after == 0 {
                return None;
            }
            self.enter();
        }
        self.left -= 1;
        Some(self.values.next().1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.after as usize + self.left as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for ListWeights<'_> {}
impl FusedIterator for ListWeights<'_> {}

impl CompressedAdjacency {
    /// Decodes the lists in parallel to plain ones. Memory: the result.
    ///
    /// # Errors
    /// If memory is refused, as it is for damaged lists of absurd degrees.
    pub fn to_plain(&self) -> Result<Adjacency, OutOfMemory> {
        let lists = self.view();
        let mut offsets = memory::zeros::<u32>(lists.vertices + 1)?;
        offsets[1..].par_iter_mut().enumerate().for_each(|(local, degree)| {
            *degree = lists.degree(local);
        });
        let mut arcs = 0u64;
        for offset in &mut offsets {
            arcs += u64::from(*offset);
            *offset = u32::try_from(arcs).map_err(|_| OutOfMemory::of::<u32>(arcs as usize))?;
        }
        let mut neighbors = memory::zeros::<u32>(arcs as usize)?;
        fill(&offsets, 0..lists.vertices, &mut neighbors, &|local| lists.of(local));
        let weights = match self.code.weight_widths {
            None => None,
            Some(_) => {
                let mut weights = memory::zeros::<u32>(arcs as usize)?;
                fill(&offsets, 0..lists.vertices, &mut weights, &|local| {
                    lists.weights_of(local).into_iter().flatten()
                });
                Some(weights)
            }
        };
        Ok(Adjacency::new(offsets.into(), neighbors.into(), weights.map(Into::into)))
    }
}

/// Writes the lists of some vertices one after the other, in parallel by recursive halving.
fn fill<List: Iterator<Item = u32>>(
    offsets: &[u32],
    vertices: Range<usize>,
    out: &mut [u32],
    of: &(impl Fn(usize) -> List + Sync),
) {
    const VERTICES_A_TASK: usize = 1 << 11;
    if vertices.len() > VERTICES_A_TASK {
        let middle = vertices.start + vertices.len() / 2;
        let (left, right) = out.split_at_mut((offsets[middle] - offsets[vertices.start]) as usize);
        rayon::join(
            || fill(offsets, vertices.start..middle, left, of),
            || fill(offsets, middle..vertices.end, right, of),
        );
        return;
    }
    out.iter_mut().zip(vertices.flat_map(of)).for_each(|(to, value)| *to = value);
}
