//! Running hash of rows, by which ranks find that they have read different ones.
//!
//! A query has no file whose content could be compared. So rows are hashed as they are decoded, in their order, in blocks of
//! [`BLOCK`] rows; the hash of a block includes that of the block before. It does not depend on how a source cuts its rows
//! into batches.
//!
//! ```text
//! ids ─▶ lengths, bytes ─┐
//! times, amounts ────────┼▶ a hash of each column ─▶ at the end of a block: H(block before, number of rows, all columns)
//! faults, other kinds ───┘
//! ```

use super::{Batch, ROWS};
use arrow_array::{Array, StringArray};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Rows in a block: as many as in a batch, so that a block ends when the batch of a query does.
pub(crate) const BLOCK: usize = ROWS;

/// SHA-256 of all rows up to the end of a block, or of the input.
pub(crate) type RowHash = [u8; 32];

/// Length of an id that is null.
const NULL: u32 = u32::MAX;

/// Running hash of the rows of one input.
#[derive(Default)]
pub(crate) struct RowHasher {
    /// Hash of the rows before the current block.
    before: RowHash,
    /// Lengths and bytes of each column of ids, in the current block.
    ids: Vec<[Sha256; 2]>,
    times: Sha256,
    amounts: Sha256,
    faults: Sha256,
    others: Sha256,
    rows: u64,
    rounded: u64,
    trimmed: u64,
}

impl RowHasher {
    /// Adds rows; returns the hash of each block that they complete.
    pub(crate) fn push(&mut self, batch: &Batch) -> Vec<RowHash> {
        self.rounded += batch.rounded;
        self.trimmed += batch.trimmed;
        let (mut hashes, mut begin) = (Vec::new(), 0);
        while begin < batch.rows() {
            let room = BLOCK - (self.rows % BLOCK as u64) as usize;
            let end = batch.rows().min(begin + room);
            self.add(batch, begin..end);
            if end - begin == room {
                hashes.push(self.end_block(&[]));
            }
            begin = end;
        }
        hashes
    }

    /// Ends the input: the last hash is of all rows, and of the counts that are not of one row.
    pub(crate) fn finish(mut self) -> RowHash {
        let counts = [self.rounded, self.trimmed];
        self.end_block(&counts)
    }

    fn add(&mut self, batch: &Batch, rows: Range<usize>) {
        self.ids.resize_with(batch.ids.len(), Default::default);
        for ([lengths, bytes], column) in self.ids.iter_mut().zip(&batch.ids) {
            add_texts(lengths, bytes, column, rows.clone());
        }
        let times = batch.times.get(rows.clone()).unwrap_or_default();
        self.times.update(times.iter().flat_map(|time| time.0.to_le_bytes()).collect::<Vec<_>>());
        let amounts = batch.amounts.get(rows.clone()).unwrap_or_default();
        self.amounts.update(amounts.iter().flat_map(|of| of.to_le_bytes()).collect::<Vec<_>>());
        // The place of a row of the batch in the input.
        let place = |row: u32| (self.rows + (row as usize - rows.start) as u64).to_le_bytes();
        let first = batch.faults.partition_point(|fault| (fault.row as usize) < rows.start);
        for fault in batch.faults.iter().skip(first).take_while(|of| (of.row as usize) < rows.end) {
            let sentence = fault.kind.to_string();
            self.faults.update(place(fault.row));
            self.faults.update((sentence.len() as u64).to_le_bytes());
            self.faults.update(sentence);
        }
        let first = batch.others.partition_point(|&row| (row as usize) < rows.start);
        for &row in batch.others.iter().skip(first).take_while(|&&row| (row as usize) < rows.end) {
            self.others.update(place(row));
        }
        self.rows += rows.len() as u64;
    }

    /// Returns the hash of all rows so far, and begins a block.
    fn end_block(&mut self, counts: &[u64]) -> RowHash {
        let mut all = Sha256::new();
        all.update(self.before);
        all.update(self.rows.to_le_bytes());
        counts.iter().for_each(|count| all.update(count.to_le_bytes()));
        let of_rows = [&mut self.times, &mut self.amounts, &mut self.faults, &mut self.others];
        for column in self.ids.iter_mut().flatten().chain(of_rows) {
            all.update(column.finalize_reset());
        }
        self.before = all.finalize().into();
        self.before
    }
}

/// Adds texts: their lengths, and their bytes one after the other.
fn add_texts(lengths: &mut Sha256, bytes: &mut Sha256, texts: &StringArray, rows: Range<usize>) {
    let texts = texts.slice(rows.start, rows.len());
    let length = |row: usize| match texts.is_null(row) {
        true => NULL,
        false => texts.value_length(row) as u32,
    };
    let of_all: Vec<u8> = (0..texts.len()).flat_map(|row| length(row).to_le_bytes()).collect();
    lengths.update(of_all);
    if texts.null_count() > 0 {
        // There may be bytes behind a null.
        texts.iter().flatten().for_each(|text| bytes.update(text));
        return;
    }
    let offsets = texts.value_offsets();
    if let [first, .., last] = *offsets {
        bytes.update(texts.value_data().get(first as usize..last as usize).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::source::{Fault, FaultKind, Places};

    /// Rows `rows` of an input whose row `changed` has another value in one column.
    fn batch(rows: Range<u64>, changed: Option<(u64, usize)>) -> Batch {
        let is = |row: u64, column: usize| changed == Some((row, column));
        let id = |row: u64, column: usize| match row % 7 {
            0 => None,
            3 if is(row, column) => Some(String::new()),
            _ if is(row, column) => Some("another".into()),
            _ => Some(format!("user{}", row % 1000)),
        };
        let ids = |column| rows.clone().map(|row| id(row, column)).collect::<StringArray>();
        let first = rows.start;
        let faulty = rows.clone().filter(|&row| row % 1000 == 1 || is(row, 4));
        let fault = |row| Fault { row: (row - first) as u32, kind: FaultKind::Null("at".into()) };
        let others = rows.clone().filter(|&row| row % 1000 == 2 || is(row, 5));
        Batch {
            ids: vec![ids(0), ids(1)],
            times: rows.clone().map(|row| Timestamp(row as i64 + i64::from(is(row, 2)))).collect(),
            amounts: rows.clone().map(|row| row + u64::from(is(row, 3))).collect(),
            faults: faulty.map(fault).collect(),
            rounded: rows.end - rows.start,
            trimmed: 0,
            others: others.map(|row| (row - first) as u32).collect(),
            places: Places::Rows(first),
        }
    }

    /// The hashes of `rows` rows, in batches of `of`.
    fn hashes(rows: u64, of: usize, changed: Option<(u64, usize)>) -> Vec<RowHash> {
        let mut hasher = RowHasher::default();
        let mut all = Vec::new();
        for first in (0..rows).step_by(of) {
            all.extend(hasher.push(&batch(first..rows.min(first + of as u64), changed)));
        }
        all.push(hasher.finish());
        all
    }

    #[test]
    fn batches_do_not_matter_and_each_value_does() {
        let rows = 2 * BLOCK as u64 + 5;
        let expected = hashes(rows, BLOCK, None);
        assert_eq!(expected.len(), 3);
        for of in [1000, BLOCK + 1, 3 * BLOCK] {
            assert!(hashes(rows, of, None) == expected, "batches of {of}");
        }
        for column in 0..6 {
            // In the second block, and behind it.
            for (row, first) in [(BLOCK as u64 + 10, 1), (rows - 1, 2)] {
                let found = hashes(rows, 4096, Some((row, column)));
                let same = found.iter().zip(&expected).take_while(|(a, b)| a == b).count();
                assert_eq!(same, first, "row {row}, column {column}");
            }
        }
        let shorter = hashes(rows - 1, BLOCK, None);
        assert!(shorter[..2] == expected[..2] && shorter[2] != expected[2]);
        // An input that ends with a block has a hash of its end.
        let whole = hashes(2 * BLOCK as u64, BLOCK, None);
        assert!(whole.len() == 3 && whole[..2] == expected[..2]);
        assert_eq!(hashes(0, BLOCK, None).len(), 1);
    }
}
