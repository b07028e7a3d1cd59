//! Arrays in a file in their memory layout, with checksums: the sections of `.rg`, `.swarm` and `.rgz`.
//!
//! ```text
//! 0         the first section
//!           sections, each from a multiple of 64, with zero bytes between them
//! data_end  checksums, u32 each: CRC-32 (IEEE) of every MiB from byte 0 to data_end
//! end - 4   CRC-32 of the checksums
//! ```

use crate::{Place, ReadError};
use rayon::prelude::*;
use ripplet_graph::memory;
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::Path;

/// A cache line, and larger than any value's alignment.
pub(crate) const ALIGNMENT: u64 = 64;
/// Bytes under one checksum: enough blocks for many threads, few enough to keep the table small.
pub(crate) const BLOCK: usize = 1 << 20;

/// Returns the position at which the next section may begin.
pub(crate) fn aligned(at: u64) -> u64 {
    at.next_multiple_of(ALIGNMENT)
}

/// Packs two halves to a word.
pub(crate) fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Returns the word at an index, which must exist.
pub(crate) fn word(bytes: &[u8], index: usize) -> u64 {
    bytemuck::pod_read_unaligned(&bytes[index * 8..][..8])
}

/// Returns the length of sections that end at `data_end`, with their checksums.
pub(crate) fn sealed(data_end: u64) -> Option<u64> {
    data_end.checked_add(4 * (data_end.div_ceil(BLOCK as u64) + 1))
}

/// Borrowed sections of a file.
#[derive(Default)]
pub(crate) struct Sections<'a> {
    /// Position and bytes of each section.
    all: Vec<(u64, &'a [u8])>,
    end: u64,
}

impl<'a> Sections<'a> {
    /// Appends a section, from the next multiple of 64.
    pub(crate) fn push(&mut self, bytes: &'a [u8]) {
        let begin = aligned(self.end);
        self.all.push((begin, bytes));
        self.end = begin + bytes.len() as u64;
    }

    /// Returns the end of the last section.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Writes the sections and their checksums, which are computed in parallel.
    pub(crate) fn write(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let blocks = self.end.div_ceil(BLOCK as u64) as usize;
        let mut sums = memory::zeros::<u32>(blocks)
            .map_err(|refused| io::Error::new(ErrorKind::OutOfMemory, refused))?;
        let fill = || {
            let blocks = sums.par_iter_mut().enumerate();
            blocks.for_each(|(block, sum)| *sum = self.checksum(block));
        };
        let ((), written) = rayon::join(fill, || self.write_data(out));
        written?;
        let sums: &[u8] = bytemuck::cast_slice(&sums);
        out.write_all(sums)?;
        out.write_all(&crc32fast::hash(sums).to_le_bytes())
    }

    fn write_data(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        let mut at = 0;
        for &(begin, bytes) in &self.all {
            out.write_all(gap(at..begin))?;
            out.write_all(bytes)?;
            at = begin + bytes.len() as u64;
        }
        Ok(())
    }

    fn checksum(&self, block: usize) -> u32 {
        let mut at = block as u64 * BLOCK as u64;
        let end = self.end.min(at + BLOCK as u64);
        let ended = |&(begin, bytes): &(u64, &[u8])| begin + bytes.len() as u64 <= at;
        let mut sum = crc32fast::Hasher::new();
        let rest = &self.all[self.all.partition_point(ended)..];
        for &(begin, bytes) in rest.iter().take_while(|&&(begin, _)| begin < end) {
            let from = begin.max(at);
            sum.update(gap(at..from));
            at = end.min(begin + bytes.len() as u64);
            sum.update(&bytes[(from - begin) as usize..(at - begin) as usize]);
        }
        sum.update(gap(at..end));
        sum.finalize()
    }
}

/// Returns the zero bytes between two sections.
pub(crate) fn gap(between: Range<u64>) -> &'static [u8] {
    &[0; ALIGNMENT as usize][..(between.end - between.start) as usize]
}

/// Verifies the checksum of every MiB of sections. The sections end at `data_end` and are followed by the
/// checksums; `begin` is their position in the file, for errors.
pub(crate) fn verify(
    bytes: &[u8],
    data_end: usize,
    path: &Path,
    begin: u64,
) -> Result<(), ReadError> {
    verify_sums(bytes, data_end, path)
        .map_err(|_| damaged(path, begin + data_end as u64, begin + bytes.len() as u64))?;
    let (data, tail) = bytes.split_at(data_end);
    let blocks = data.par_chunks(BLOCK).zip(tail.par_chunks(4));
    match blocks.position_first(|(block, sum)| differs(block, sum)) {
        Some(block) => {
            let end = data.len().min((block + 1) * BLOCK);
            Err(damaged(path, begin + (block * BLOCK) as u64, begin + end as u64))
        }
        None => Ok(()),
    }
}

fn differs(block: &[u8], sum: &[u8]) -> bool {
    crc32fast::hash(block).to_le_bytes() != sum[..]
}

fn damaged(path: &Path, from: u64, to: u64) -> ReadError {
    let sentence = format!(
        "the bytes up to {to} do not match their checksum: the file is damaged, copy it or make it again"
    );
    ReadError::content(path, Place::Byte(from), sentence)
}

/// Verifies the checksums of a file of sections against their own one, which it returns.
pub(crate) fn verify_sums(bytes: &[u8], data_end: usize, path: &Path) -> Result<u32, ReadError> {
    let tail = bytes.get(data_end..).unwrap_or_default();
    match tail.split_last_chunk::<4>() {
        Some((sums, last)) if !differs(sums, last) => Ok(u32::from_le_bytes(*last)),
        _ => Err(damaged(path, data_end as u64, bytes.len() as u64)),
    }
}

/// Verifies the checksums of the blocks that these ranges of a file of sections lie in.
pub(crate) fn verify_within(
    bytes: &[u8],
    data_end: usize,
    path: &Path,
    ranges: &[Range<usize>],
) -> Result<(), ReadError> {
    let ranges = ranges.iter().filter(|range| !range.is_empty());
    let mut blocks: Vec<Range<usize>> =
        ranges.map(|range| range.start / BLOCK..range.end.div_ceil(BLOCK)).collect();
    blocks.sort_unstable_by_key(|range| range.start);
    let mut next = 0;
    for range in &mut blocks {
        range.start = range.start.max(next);
        next = next.max(range.end);
    }
    let (data, sums) = bytes.split_at(data_end.min(bytes.len()));
    let block = |block: usize| {
        let end = data.len().min((block + 1) * BLOCK);
        (data.get(block * BLOCK..end).unwrap_or_default(), end)
    };
    let is_damaged = |&number: &usize| {
        let sum = sums.get(4 * number..4 * number + 4).unwrap_or_default();
        differs(block(number).0, sum)
    };
    let first = blocks.into_par_iter().flatten().filter(is_damaged).min();
    match first {
        Some(number) => Err(damaged(path, (number * BLOCK) as u64, block(number).1 as u64)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_verified_wherever_sections_begin() {
        let bytes: Vec<u8> = (0..3 * BLOCK + 100).map(|at| (at % 251) as u8).collect();
        for lengths in [
            &[][..],
            &[0],
            &[1, 0, 64, 63],
            &[BLOCK - 1, 5, BLOCK],
            &[BLOCK, BLOCK, 1],
            &[BLOCK - 64, 64, 2 * BLOCK + 1],
            &[BLOCK - 70, 0, 3, 7, 3 * BLOCK],
        ] {
            let mut sections = Sections::default();
            lengths.iter().for_each(|&length| sections.push(&bytes[..length]));
            let mut file = Vec::new();
            sections.write(&mut file).unwrap();
            assert_eq!(Some(file.len() as u64), sealed(sections.end()));
            let verify = |file: &[u8]| verify(file, sections.end() as usize, Path::new("x"), 7);
            verify(&file).unwrap();
            if let Some(last) = (sections.end() as usize).checked_sub(1) {
                file[last] ^= 1;
                assert!(verify(&file).is_err(), "{lengths:?}");
                let end = sections.end() as usize;
                let within = |range| verify_within(&file, end, Path::new("x"), &[0..0, range]);
                assert!(within(last..last + 1).is_err() && within(0..end).is_err());
                let before = last / BLOCK * BLOCK;
                assert!(within(0..before).is_ok() && within(before..before).is_ok());
                assert!(verify_sums(&file, end, Path::new("x")).is_ok());
            }
        }
    }
}
