//! Drafts: new values of vertices' columns, until the schedule commits them.

use crate::columns::Columns;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::tasks::MIN_LEN;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Records of values, all of the same length, each written by one thread at a time.
pub(super) struct Drafts {
    values: Vec<AtomicU32>,
    /// Values per record; if it is 0, all methods do nothing.
    len: usize,
}

impl Drafts {
    /// Creates `records` records of `len` zeros.
    pub fn new(records: usize, len: usize) -> Result<Drafts, OutOfMemory> {
        let count = records.saturating_mul(len);
        let mut values = memory::with_room(count)?;
        values.par_extend(
            (0..count).into_par_iter().with_min_len(MIN_LEN).map(|_| AtomicU32::new(0)),
        );
        Ok(Drafts { values, len })
    }

    fn record(&self, record: usize) -> &[AtomicU32] {
        &self.values[record * self.len..][..self.len]
    }

    /// Yields the values of a record.
    #[inline]
    pub fn get(&self, record: usize) -> impl Iterator<Item = u32> {
        self.record(record).iter().map(|value| value.load(Relaxed))
    }

    /// Sets a record.
    #[inline]
    pub fn put(&self, record: usize, draft: &[u32]) {
        self.record(record).iter().zip(draft).for_each(|(value, &next)| value.store(next, Relaxed));
    }

    /// Sets the first value of a record to whether it is marked, and if so the others to a draft.
    #[inline]
    pub fn put_marked(&self, record: usize, marked: bool, draft: &[u32]) {
        let Some((mark, values)) = self.record(record).split_first() else { return };
        mark.store(u32::from(marked), Relaxed);
        if marked {
            values.iter().zip(draft).for_each(|(value, &next)| value.store(next, Relaxed));
        }
    }

    /// Sets the record of each vertex to the values of its written columns.
    pub fn copy_all(&self, columns: &Columns) {
        let records = self.values.len().checked_div(self.len).unwrap_or(0);
        (0..records).into_par_iter().with_min_len(MIN_LEN).for_each(|v| {
            let held = columns.written(v as u32);
            self.record(v).iter().zip(held).for_each(|(value, held)| {
                value.store(held.load(Relaxed), Relaxed);
            });
        });
    }
}
