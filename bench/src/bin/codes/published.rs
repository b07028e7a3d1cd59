//! The compressed form of GLP's graphs, CGR (Ye et al., TKDE 2023, section 5.1, after Sha, Li and Tan,
//! SIGMOD 2019): degree, number of intervals, intervals, residuals, all in one code.

use crate::bits::{Code, Reader, Writer, folded, unfolded};
use crate::intervals::Parts;
use ripplet_graph::Neighbors;

pub struct Published {
    pub code: Code,
    /// 0 is no intervals, nor their number.
    pub least_interval: usize,
    /// Lists of lower degree have 32 bits a neighbour.
    pub threshold: usize,
}

/// Lists in one stream, and where each begins.
pub struct Stream {
    words: Vec<u64>,
    begins: Vec<u64>,
    pub bits: u64,
}

impl Published {
    pub fn encode(&self, lists: Neighbors<'_>) -> Stream {
        let (mut out, mut begins, mut parts) = (Writer::default(), Vec::new(), Parts::default());
        for v in 0..lists.offsets().len() - 1 {
            begins.push(out.bits());
            let list = lists.of(v);
            out.code(self.code, list.len() as u64);
            if list.len() < self.threshold {
                list.iter().for_each(|&u| out.put(u.into(), 32));
                continue;
            }
            if !list.is_empty() {
                parts.cut(list, self.least_interval);
                self.put(&mut out, v as u32, &parts);
            }
        }
        let bits = out.bits();
        Stream { words: out.finish(), begins, bits }
    }

    fn put(&self, out: &mut Writer, v: u32, parts: &Parts) {
        let least = self.least_interval as u64;
        if least > 0 {
            out.code(self.code, parts.intervals.len() as u64);
        }
        let mut before = None;
        for &(begin, length) in &parts.intervals {
            out.code(self.code, gap(v, before, begin));
            out.code(self.code, u64::from(length) - least);
            before = Some(begin + length);
        }
        before = None;
        for &u in &parts.residuals {
            out.code(self.code, gap(v, before, u));
            before = Some(u + 1);
        }
    }

    /// Returns the sum of all neighbours, decoded one by one.
    pub fn sum(&self, stream: &Stream) -> u64 {
        let mut sum = 0u64;
        for (v, &begin) in stream.begins.iter().enumerate() {
            let mut reader = Reader::new(&stream.words, begin);
            let degree = reader.code(self.code);
            if degree < self.threshold as u64 {
                (0..degree).for_each(|_| sum += reader.take(32));
            } else if degree > 0 {
                sum += self.list_sum(&mut reader, v as i64, degree);
            }
        }
        sum
    }

    fn list_sum(&self, reader: &mut Reader<'_>, v: i64, degree: u64) -> u64 {
        let (mut sum, mut rest) = (0, degree);
        let intervals = if self.least_interval > 0 { reader.code(self.code) } else { 0 };
        let mut at = 0;
        for interval in 0..intervals {
            let gap = reader.code(self.code);
            at = if interval == 0 { v + unfolded(gap) } else { at + gap as i64 };
            let length = reader.code(self.code) + self.least_interval as u64;
            for _ in 0..length {
                sum += at as u64;
                at += 1;
            }
            rest -= length;
        }
        for residual in 0..rest {
            let gap = reader.code(self.code);
            at = if residual == 0 { v + unfolded(gap) } else { at + gap as i64 };
            sum += at as u64;
            at += 1;
        }
        sum
    }
}

/// From the neighbour after the one before, or from the list's own vertex.
fn gap(v: u32, before: Option<u32>, next: u32) -> u64 {
    match before {
        None => folded(i64::from(next) - i64::from(v)),
        Some(before) => u64::from(next - before),
    }
}
