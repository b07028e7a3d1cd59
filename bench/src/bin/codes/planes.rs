//! What lists cost as tokens of few widths, whose classes stand together as planes of bits: sizes only;
//! `ripplet_graph::compressed` writes and reads the form.
//!
//! A token is a gap to the next neighbour, or a run of successors. Widths are the best ones for the whole
//! graph.

use crate::bits::folded;
use crate::groups::best_widths;
use ripplet_graph::Neighbors;

pub struct Planes {
    /// Bits of a class: 2^planes widths, one of them for runs.
    pub planes: usize,
    /// 0 is no runs.
    pub least_run: usize,
    /// Lists of lower degree have 32 bits a neighbour.
    pub threshold: usize,
}

pub struct Size {
    pub bits: u64,
    pub tokens: u64,
    pub widths: Vec<u32>,
}

impl Planes {
    pub fn size(&self, lists: Neighbors<'_>) -> Size {
        let (mut gaps, mut runs, mut bits) = ([0u64; 33], [0u64; 33], 0);
        let length = |value: u32| (32 - value.leading_zeros()) as usize;
        for v in 0..lists.offsets().len() - 1 {
            let list = lists.of(v);
            if list.len() < self.threshold {
                bits += 32 * list.len() as u64;
                continue;
            }
            let Some((&first, rest)) = list.split_first() else { continue };
            if self.least_run > 0 && list.len() > self.least_run {
                // The number of tokens.
                bits += length(list.len() as u32) as u64;
            }
            gaps[length(folded(i64::from(first.wrapping_sub(v as u32) as i32)) as u32)] += 1;
            let (mut before, mut rest) = (first, rest);
            while let Some(&next) = rest.first() {
                let run = rest.iter().zip(before + 1..).take_while(|&(&u, at)| u == at).count();
                if self.least_run > 0 && run >= self.least_run {
                    runs[length((run - self.least_run) as u32)] += 1;
                    (before, rest) = (rest[run - 1], &rest[run..]);
                } else {
                    gaps[length(next - before - 1)] += 1;
                    (before, rest) = (next, &rest[1..]);
                }
            }
        }
        let tokens = gaps.iter().chain(&runs).sum::<u64>();
        let classes = (1 << self.planes) - usize::from(self.least_run > 0);
        let (of_gaps, widths) = best_widths(&gaps, classes);
        let (of_runs, run) = best_widths(&runs, 1);
        bits += of_gaps + of_runs + tokens * self.planes as u64;
        Size { bits, tokens, widths: [widths, run].concat() }
    }
}
