//! The size of WebGraph's BV (Boldi and Vigna, *The WebGraph Framework I*, WWW 2004), from the lengths of
//! its codes: γ for counts, blocks and intervals, unary references, ζ₃ for residuals, intervals of 4 or
//! more, chains of at most 3 references. Of the lists alone, without what finds them.

use crate::bits::{Code, folded};
use crate::intervals::Parts;
use ripplet_graph::Neighbors;

const GAMMA: Code = Code(1);
const ZETA3: Code = Code(3);
const LEAST_INTERVAL: usize = 4;
const LONGEST_CHAIN: u32 = 3;

/// Bits of all lists where each may refer to one of the `window` ones before it; 0 is no reference.
pub fn bits(lists: Neighbors<'_>, window: usize) -> u64 {
    let vertices = lists.offsets().len() - 1;
    let mut chains = vec![0u32; vertices];
    let (mut bits, mut scratch) = (0, Scratch::default());
    for v in 0..vertices {
        let list = lists.of(v);
        bits += GAMMA.length(list.len() as u64);
        if list.is_empty() {
            continue;
        }
        let unary = |reference: usize| if window == 0 { 0 } else { reference as u64 + 1 };
        let mut best = unary(0) + scratch.extra(v, list);
        for reference in 1..=window.min(v) {
            let (other, chain) = (lists.of(v - reference), chains[v - reference]);
            if other.is_empty() || chain >= LONGEST_CHAIN {
                continue;
            }
            let cost = unary(reference) + scratch.copied(v, list, other);
            if cost < best {
                best = cost;
                chains[v] = chain + 1;
            }
        }
        bits += best;
    }
    bits
}

/// Bits of where lists begin, if an Elias-Fano sequence (Elias, 1974; Fano, 1971) has it.
pub fn offset_bits(lists: Neighbors<'_>, bits: u64) -> f64 {
    let vertices = (lists.offsets().len() - 1) as f64;
    vertices * (2.0 + (bits as f64 / vertices).log2().max(0.0).ceil())
}

#[derive(Default)]
struct Scratch {
    parts: Parts,
    extra: Vec<u32>,
    blocks: Vec<u64>,
}

impl Scratch {
    /// Intervals and residuals.
    fn extra(&mut self, v: usize, list: &[u32]) -> u64 {
        if list.is_empty() {
            return 0;
        }
        self.parts.cut(list, LEAST_INTERVAL);
        let from = |v: usize, u: u32| folded(i64::from(u) - v as i64);
        let (intervals, residuals) = (&self.parts.intervals, &self.parts.residuals);
        let mut bits = GAMMA.length(intervals.len() as u64);
        let mut end = None;
        for &(begin, length) in intervals {
            let gap = end.map_or_else(|| from(v, begin), |end| u64::from(begin - end) - 1);
            bits += GAMMA.length(gap) + GAMMA.length(u64::from(length) - LEAST_INTERVAL as u64);
            end = Some(begin + length);
        }
        let mut before = None;
        for &u in residuals {
            let gap = before.map_or_else(|| from(v, u), |before| u64::from(u - before) - 1);
            bits += ZETA3.length(gap);
            before = Some(u);
        }
        bits
    }

    /// Blocks of `other` that are copied and left out in turn, and what else the list has.
    fn copied(&mut self, v: usize, list: &[u32], other: &[u32]) -> u64 {
        self.extra.clear();
        self.blocks.clear();
        let (mut mine, mut copying, mut block) = (list.iter().peekable(), true, 0);
        for &u in other {
            while let Some(&w) = mine.next_if(|&&w| w < u) {
                self.extra.push(w);
            }
            if mine.next_if_eq(&&u).is_some() != copying {
                self.blocks.push(block);
                (copying, block) = (!copying, 0);
            }
            block += 1;
        }
        self.extra.extend(mine);
        // The last block, to the end of the other list, goes without saying.
        let mut bits = GAMMA.length(self.blocks.len() as u64);
        for (place, &block) in self.blocks.iter().enumerate() {
            bits += GAMMA.length(block - u64::from(place > 0));
        }
        let extra = std::mem::take(&mut self.extra);
        bits += self.extra(v, &extra);
        self.extra = extra;
        bits
    }
}
