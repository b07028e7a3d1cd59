//! Summed amounts of each pair in an open day, which find the row that makes a sum too large.
//!
//! While all amounts of a day together are within the bound of one pair, no pair can exceed it, and one
//! number a day suffices. Beyond that (11 million million cents), sums are kept pair by pair.
//!
//! Memory: 8 bytes per day; beyond the bound some 20 bytes a pair and day.

use crate::days::MOST_AMOUNT;
use crate::payments::Transfer;
use hashbrown::HashMap;
use ripplet_graph::VertexId;
use ripplet_graph::memory::OutOfMemory;

/// Summed amounts of a day.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    /// Sum of all amounts, saturating at 64 bits.
    total: u64,
    of_pairs: Option<HashMap<u64, u64>>,
}

/// Returns the key of an unordered pair.
fn key(one: VertexId, other: VertexId) -> u64 {
    u64::from(one.min(other)) << 32 | u64::from(one.max(other))
}

impl Sums {
    /// Whether a row that links `pairs` pairs, each with this amount, may exceed the bound of one.
    pub(crate) fn may_exceed(&self, amount: u64, pairs: usize) -> bool {
        self.with(amount, pairs) > MOST_AMOUNT
    }

    fn with(&self, amount: u64, pairs: usize) -> u64 {
        self.total.saturating_add(amount.saturating_mul(pairs as u64))
    }

    /// Returns the first of a row's pairs whose sum would exceed the bound. `transfers` are those of the day
    /// so far.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(crate) fn first_exceeded(
        &mut self,
        transfers: &[Transfer],
        pairs: &[(VertexId, VertexId)],
        amount: u64,
    ) -> Result<Option<(VertexId, VertexId)>, OutOfMemory> {
        if self.of_pairs.is_none() {
            let mut sums = HashMap::new();
            for transfer in transfers {
                add(&mut sums, (transfer.source, transfer.target), transfer.amount)?;
            }
            self.of_pairs = Some(sums);
        }
        let of_pairs = self.of_pairs.as_ref();
        let exceeds = |&(at, &(one, other)): &(usize, &(VertexId, VertexId))| {
            let before = of_pairs.and_then(|sums| sums.get(&key(one, other))).copied();
            // A row may link two entities by several pairs of columns.
            let same = |pair: &&(VertexId, VertexId)| key(pair.0, pair.1) == key(one, other);
            let times = pairs[..=at].iter().filter(same).count() as u64;
            let sum = before.unwrap_or(0).saturating_add(amount.saturating_mul(times));
            one != other && sum > MOST_AMOUNT
        };
        Ok(pairs.iter().enumerate().find(exceeds).map(|(_, pair)| *pair))
    }

    /// Adds an amount to a pair.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(crate) fn add(
        &mut self,
        pair: (VertexId, VertexId),
        amount: u64,
    ) -> Result<(), OutOfMemory> {
        self.total = self.with(amount, 1);
        match &mut self.of_pairs {
            None => Ok(()),
            Some(sums) => add(sums, pair, amount),
        }
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.of_pairs.as_ref().map_or(0, |sums| sums.allocation_size() as u64)
    }
}

fn add(
    sums: &mut HashMap<u64, u64>,
    (one, other): (VertexId, VertexId),
    amount: u64,
) -> Result<(), OutOfMemory> {
    let bytes = 2 * sums.allocation_size() as u64;
    sums.try_reserve(1).map_err(|_| OutOfMemory { bytes })?;
    let sum = sums.entry(key(one, other)).or_default();
    *sum = sum.saturating_add(amount);
    Ok(())
}
