//! Encoding of plain lists to compressed ones: widths, then sizes, then words.

use super::bits::{Writer, length};
use super::classes::{Classes, Lengths, Token, each_token};
use super::{BLOCK, Code, CompressedAdjacency, SEGMENT, WIDTH_BITS};
use crate::memory::{self, OutOfMemory};
use crate::{Neighbors, VertexId};
use rayon::prelude::*;
use std::ops::Range;

/// Blocks per task.
const BLOCKS_A_TASK: usize = 64;
const VERTICES_A_TASK: usize = BLOCKS_A_TASK * BLOCK;

impl CompressedAdjacency {
    /// Compresses a shard's lists of one direction with their weights; `first` is their first
    /// vertex.
    ///
    /// Runs in parallel over blocks of vertices, in four passes over the lists: whether neighbours
    /// repeat, the lengths of gaps, the size of each block, and the words. The words do not depend
    /// on the number of threads. Memory: the result, and 5 KiB per thread.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn of(lists: Neighbors<'_>, first: VertexId) -> Result<CompressedAdjacency, OutOfMemory> {
        let count = lists.offsets().len().saturating_sub(1);
        let encoder = Encoder::new(lists, first, count);
        let blocks = count.div_ceil(BLOCK);
        let mut begins = memory::zeros::<u64>(blocks + 1)?;
        begins[1..].par_iter_mut().with_min_len(BLOCKS_A_TASK).enumerate().for_each(
            |(block, size)| {
                *size = encoder.shape(block).bits().div_ceil(32);
            },
        );
        let mut end = 0;
        for begin in &mut begins {
            end += *begin;
            *begin = end;
        }
        let mut words = memory::zeros::<u32>(end as usize + 1)?;
        encoder.write(0..blocks, &begins, &mut words[..end as usize]);
        Ok(CompressedAdjacency {
            vertices: first..first + count as u32,
            arcs: lists.neighbors().len() as u64,
            code: encoder.code,
            begins: begins.into(),
            words: words.into(),
        })
    }
}

/// The encoder of a shard's lists, with their code.
struct Encoder<'a> {
    lists: Neighbors<'a>,
    first: VertexId,
    count: usize,
    code: Code,
    gaps: Classes,
    weights: Classes,
}

/// The statistics from which the code is chosen.
#[derive(Clone, Default)]
struct Statistics {
    /// Gaps without runs.
    gaps: Lengths,
    /// Gaps beside runs; `runs` holds the runs, `counts` the bits of the numbers of tokens.
    gaps_beside_runs: Lengths,
    runs: Lengths,
    counts: u64,
    weights: Lengths,
}

/// The sizes of a block's parts.
struct Shape {
    vertices: Range<usize>,
    degree_width: u32,
    end_width: u32,
    /// Bits of each list.
    lists: [u64; BLOCK],
}

impl Shape {
    fn bits(&self) -> u64 {
        let fields = u64::from(self.degree_width + self.end_width);
        let head = u64::from(2 * WIDTH_BITS) + self.vertices.len() as u64 * fields;
        head + self.lists.iter().sum::<u64>()
    }
}

impl<'a> Encoder<'a> {
    fn new(lists: Neighbors<'a>, first: VertexId, count: usize) -> Encoder<'a> {
        let twice = |local: usize| lists.of(local).windows(2).any(|pair| pair[0] == pair[1]);
        let repeats = (0..count).into_par_iter().with_min_len(VERTICES_A_TASK).any(twice);
        let of_task = |task: usize| {
            let mut of_task = Statistics::default();
            for local in task * VERTICES_A_TASK..count.min((task + 1) * VERTICES_A_TASK) {
                of_task.list(first + local as u32, lists.of(local), !repeats);
                let weights = lists.weights_of(local).into_iter().flatten();
                weights.for_each(|&weight| of_task.weights.count(weight));
            }
            of_task
        };
        let tasks = (0..count.div_ceil(VERTICES_A_TASK)).into_par_iter();
        let statistics =
            tasks.map(of_task).reduce(Statistics::default, |sum, other| sum.plus(&other));
        let code = statistics.code(repeats, lists.weights().is_some());
        let gaps = Classes::new(code.widths, if code.runs { 3 } else { 4 });
        let weights = Classes::new(code.weight_widths.unwrap_or_default(), 4);
        Encoder { lists, first, count, code, gaps, weights }
    }

    /// Calls `visit` with the class and value of each token of a segment of vertex `v`.
    #[inline]
    fn each_token(&self, v: VertexId, segment: &[VertexId], mut visit: impl FnMut(u8, u32)) {
        each_token(v, segment, self.code.least_gap(), self.code.runs, |token| match token {
            Token::Gap(gap) => visit(self.gaps.of(gap), gap),
            Token::Run(run) => visit(3, run),
        });
    }

    /// Returns the bits of a segment and its weights.
    fn segment_bits(&self, v: VertexId, segment: &[VertexId], weights: &[u32]) -> u64 {
        let mut bits = u64::from(self.code.count_width(segment.len()));
        self.each_token(v, segment, |class, _| {
            bits += 2 + u64::from(self.code.widths[usize::from(class)]);
        });
        let weight_bits = |&weight: &u32| {
            2 + u64::from(self.weights.widths[usize::from(self.weights.of(weight))])
        };
        bits + weights.iter().map(weight_bits).sum::<u64>()
    }

    /// Yields a list's segments, each with its weights; these are empty if the graph has none.
    fn segments(&self, local: usize) -> impl Iterator<Item = (&'a [VertexId], &'a [u32])> {
        let weights = self.lists.weights_of(local).unwrap_or_default();
        self.lists.of(local).chunks(SEGMENT).enumerate().map(move |(at, segment)| {
            let begin = (at * SEGMENT).min(weights.len());
            (segment, &weights[begin..weights.len().min(begin + SEGMENT)])
        })
    }

    fn shape(&self, block: usize) -> Shape {
        let vertices = block * BLOCK..self.count.min((block + 1) * BLOCK);
        let (mut lists, mut ends) = ([0; BLOCK], 0);
        for (bits, local) in lists.iter_mut().zip(vertices.clone()) {
            let v = self.first + local as u32;
            *bits = self.segments(local).map(|(ids, w)| self.segment_bits(v, ids, w)).sum();
            ends += self.inner_ends(local);
        }
        // The ends of inner segments are stored in the lists and add to the ends' own width:
        // iterate to a fixpoint.
        let total: u64 = lists.iter().sum();
        let mut end_width = length(total);
        while length(total + ends * u64::from(end_width)) > end_width {
            end_width += 1;
        }
        for (bits, local) in lists.iter_mut().zip(vertices.clone()) {
            *bits += self.inner_ends(local) * u64::from(end_width);
        }
        let most = vertices.clone().map(|local| self.lists.degree(local)).max();
        let degree_width = length(most.unwrap_or(0).into());
        Shape { vertices, degree_width, end_width, lists }
    }

    /// Returns the number of ends that are stored in a list.
    fn inner_ends(&self, local: usize) -> u64 {
        (self.lists.degree(local) as usize).div_ceil(SEGMENT).saturating_sub(1) as u64
    }

    /// Writes blocks to their words, in parallel by recursive halving.
    fn write(&self, blocks: Range<usize>, begins: &[u64], words: &mut [u32]) {
        if blocks.len() > BLOCKS_A_TASK {
            let middle = blocks.start + blocks.len() / 2;
            let (left, right) =
                words.split_at_mut((begins[middle] - begins[blocks.start]) as usize);
            rayon::join(
                || self.write(blocks.start..middle, begins, left),
                || self.write(middle..blocks.end, begins, right),
            );
            return;
        }
        let (mut rest, mut tokens) = (words, Tokens::default());
        for block in blocks {
            let (own, others) = rest.split_at_mut((begins[block + 1] - begins[block]) as usize);
            self.write_block(&self.shape(block), &mut tokens, &mut Writer::new(own));
            rest = others;
        }
    }

    fn write_block(&self, shape: &Shape, tokens: &mut Tokens, out: &mut Writer<'_>) {
        out.put(shape.degree_width, WIDTH_BITS);
        out.put(shape.end_width, WIDTH_BITS);
        for local in shape.vertices.clone() {
            out.put(self.lists.degree(local), shape.degree_width);
        }
        let mut end = 0;
        for bits in &shape.lists[..shape.vertices.len()] {
            end += bits;
            out.put_long(end, shape.end_width);
        }
        for local in shape.vertices.clone() {
            self.write_list(local, shape.end_width, tokens, out);
        }
        debug_assert_eq!(out.bits(), shape.bits(), "what was counted is what is written");
    }

    fn write_list(&self, local: usize, end_width: u32, tokens: &mut Tokens, out: &mut Writer<'_>) {
        let v = self.first + local as u32;
        let inner = self.inner_ends(local);
        let mut end = inner * u64::from(end_width);
        for (segment, weights) in self.segments(local).take(inner as usize) {
            end += self.segment_bits(v, segment, weights);
            out.put_long(end, end_width);
        }
        for (segment, weights) in self.segments(local) {
            tokens.len = 0;
            self.each_token(v, segment, |class, value| tokens.push(class, value));
            out.put(tokens.len as u32, self.code.count_width(segment.len()));
            tokens.write(&self.code.widths, out);
            tokens.len = 0;
            weights.iter().for_each(|&weight| tokens.push(self.weights.of(weight), weight));
            tokens.write(&self.weights.widths, out);
        }
    }
}

impl Statistics {
    fn list(&mut self, v: VertexId, list: &[VertexId], distinct: bool) {
        let least_gap = u32::from(distinct);
        let code = Code { widths: [0; 4], runs: true, repeats: !distinct, weight_widths: None };
        for segment in list.chunks(SEGMENT) {
            self.counts += u64::from(code.count_width(segment.len()));
            each_token(v, segment, least_gap, true, |token| match token {
                Token::Gap(gap) => self.gaps_beside_runs.count(gap),
                Token::Run(run) => self.runs.count(run),
            });
            each_token(v, segment, least_gap, false, |token| match token {
                Token::Gap(gap) | Token::Run(gap) => self.gaps.count(gap),
            });
        }
    }

    fn plus(mut self, other: &Statistics) -> Statistics {
        self.gaps.add(&other.gaps);
        self.gaps_beside_runs.add(&other.gaps_beside_runs);
        self.runs.add(&other.runs);
        self.weights.add(&other.weights);
        self.counts += other.counts;
        self
    }

    /// Returns the code with the fewest bits; without runs if it makes no difference.
    fn code(&self, repeats: bool, weighted: bool) -> Code {
        let (widths, bits) = self.gaps.best::<4>();
        let plain = bits + 2 * self.gaps.values();
        let ([a, b, c], bits) = self.gaps_beside_runs.best::<3>();
        let ([run], run_bits) = self.runs.best::<1>();
        let tokens = self.gaps_beside_runs.values() + self.runs.values();
        let runs = bits + run_bits + 2 * tokens + self.counts < plain;
        let weight_widths = weighted.then(|| self.weights.best::<4>().0);
        Code { widths: if runs { [a, b, c, run] } else { widths }, runs, repeats, weight_widths }
    }
}

/// The tokens of a segment: one buffer per thread for all segments.
struct Tokens {
    len: usize,
    values: [u32; SEGMENT],
    classes: [u8; SEGMENT],
}

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens { len: 0, values: [0; SEGMENT], classes: [0; SEGMENT] }
    }
}

impl Tokens {
    #[inline]
    fn push(&mut self, class: u8, value: u32) {
        (self.values[self.len], self.classes[self.len]) = (value, class);
        self.len += 1;
    }

    fn write(&self, widths: &[u8; 4], out: &mut Writer<'_>) {
        let classes = &self.classes[..self.len];
        for plane in 0..2 {
            for group in classes.chunks(32) {
                let bits = group
                    .iter()
                    .rev()
                    .fold(0, |bits, class| bits << 1 | u32::from(class >> plane & 1));
                out.put(bits, group.len() as u32);
            }
        }
        for (&value, &class) in self.values.iter().zip(classes) {
            out.put(value, widths[usize::from(class)].into());
        }
    }
}
