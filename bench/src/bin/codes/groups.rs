//! Groups of whole bytes: a list's intervals and residual gaps as values whose lengths, 2 bits each, stand
//! together before their bytes, so that 32 lanes find by one prefix sum where each value begins.
//!
//! ```text
//! degree, intervals     as values of 1 to 4 bytes, with their lengths among the others'
//! lengths               2 bits a value: 1, 2, 3 or 4 bytes
//! values                gaps and lengths of intervals, gaps of residuals
//! ```

use crate::bits::{folded, unfolded};
use crate::intervals::Parts;
use ripplet_graph::Neighbors;

pub struct Groups {
    pub least_interval: usize,
    /// Lists of lower degree have 4 bytes a neighbour.
    pub threshold: usize,
}

pub struct Stream {
    bytes: Vec<u8>,
    /// Where each list begins, and whether it is plain.
    begins: Vec<(usize, bool)>,
}

/// All values of a list, the degree and the number of intervals before the others.
pub fn values(v: u32, degree: usize, parts: &Parts, least: usize, values: &mut Vec<u32>) {
    values.clear();
    values.push(degree as u32);
    if least > 0 && degree >= least {
        values.push(parts.intervals.len() as u32);
    }
    let gap = |before: Option<u32>, next: u32| match before {
        // Of 32 bits: a difference is one modulo 2³².
        None => folded(i64::from(next.wrapping_sub(v) as i32)) as u32,
        Some(before) => next - before,
    };
    let mut before = None;
    for &(begin, length) in &parts.intervals {
        values.extend([gap(before, begin), length - least as u32]);
        before = Some(begin + length);
    }
    before = None;
    for &u in &parts.residuals {
        values.push(gap(before, u));
        before = Some(u + 1);
    }
}

fn length(value: u32) -> usize {
    (4 - value.leading_zeros() as usize / 8).max(1)
}

impl Groups {
    pub fn encode(&self, lists: Neighbors<'_>) -> Stream {
        let (mut bytes, mut begins) = (Vec::new(), Vec::new());
        let (mut parts, mut of_list) = (Parts::default(), Vec::new());
        for v in 0..lists.offsets().len() - 1 {
            let list = lists.of(v);
            let plain = list.len() < self.threshold;
            begins.push((bytes.len(), plain));
            if plain {
                bytes.push(list.len() as u8);
                list.iter().for_each(|u| bytes.extend(u.to_le_bytes()));
                continue;
            }
            parts.cut(list, self.least_interval);
            values(v as u32, list.len(), &parts, self.least_interval, &mut of_list);
            for group in of_list.chunks(4) {
                let control = |(at, value): (usize, &u32)| (length(*value) as u8 - 1) << (2 * at);
                bytes.push(group.iter().enumerate().map(control).sum());
                for value in group {
                    bytes.extend(&value.to_le_bytes()[..length(*value)]);
                }
            }
        }
        bytes.extend([0; 8]);
        Stream { bytes, begins }
    }

    /// Returns the sum of all neighbours, decoded one by one.
    pub fn sum(&self, stream: &Stream) -> u64 {
        let mut sum = 0u64;
        for (v, &(begin, plain)) in stream.begins.iter().enumerate() {
            if plain {
                let degree = usize::from(stream.bytes[begin]);
                let list = &stream.bytes[begin + 1..][..4 * degree];
                let neighbors = list.as_chunks::<4>().0.iter();
                sum += neighbors.map(|u| u64::from(u32::from_le_bytes(*u))).sum::<u64>();
            } else {
                sum += self.list_sum(&stream.bytes[begin..], v as i64);
            }
        }
        sum
    }

    fn list_sum(&self, bytes: &[u8], v: i64) -> u64 {
        let mut values = Values { bytes, left: 0, control: 0 };
        let (mut sum, mut rest) = (0, values.next());
        let least = self.least_interval as u64;
        let intervals = if least > 0 && rest >= least { values.next() } else { 0 };
        let mut at = 0;
        for interval in 0..intervals {
            let gap = values.next();
            at = if interval == 0 { v + unfolded(gap) } else { at + gap as i64 };
            let length = values.next() + least;
            for _ in 0..length {
                sum += at as u64;
                at += 1;
            }
            rest -= length;
        }
        for residual in 0..rest {
            let gap = values.next();
            at = if residual == 0 { v + unfolded(gap) } else { at + gap as i64 };
            sum += at as u64;
            at += 1;
        }
        sum
    }
}

/// Four values at a time, as a processor reads them; a warp would have all lengths first.
struct Values<'a> {
    bytes: &'a [u8],
    left: u32,
    control: u8,
}

impl Values<'_> {
    #[inline]
    fn next(&mut self) -> u64 {
        if self.left == 0 {
            (self.control, self.bytes, self.left) = (self.bytes[0], &self.bytes[1..], 4);
        }
        let length = usize::from(self.control & 3) + 1;
        let word = u32::from_le_bytes(self.bytes[..4].try_into().expect("there are bytes behind"));
        let value = word & (u32::MAX >> (32 - 8 * length));
        (self.bytes, self.left, self.control) =
            (&self.bytes[length..], self.left - 1, self.control >> 2);
        u64::from(value)
    }
}

/// Returns the bits of values by how many have which length, if each takes the least of `widths` it fits.
pub fn classed(lengths: &[u64; 33], widths: &[u32]) -> u64 {
    let mut bits = 0;
    for (length, &count) in lengths.iter().enumerate() {
        let width = widths.iter().find(|&&width| width as usize >= length);
        bits += count * u64::from(*width.expect("the last width has room for all"));
    }
    bits
}

/// Returns the `count` widths that encode values of these bit lengths in the fewest bits, and that number of bits.
pub fn best_widths(lengths: &[u64; 33], count: usize) -> (u64, Vec<u32>) {
    let most = lengths.iter().rposition(|&count| count > 0).unwrap_or(0);
    // best[end]: the least bits of values of lengths up to `end`, whose last width is `end`.
    let mut best: Vec<(u64, Vec<u32>)> = (0..=most)
        .map(|end| (lengths[..=end].iter().sum::<u64>() * end as u64, vec![end as u32]))
        .collect();
    for _ in 1..count {
        for end in (1..=most).rev() {
            for before in 0..end {
                let values: u64 = lengths[before + 1..=end].iter().sum();
                let bits = best[before].0 + values * end as u64;
                if bits < best[end].0 {
                    let widths = [&best[before].1[..], &[end as u32]].concat();
                    best[end] = (bits, widths);
                }
            }
        }
    }
    best.swap_remove(most)
}
