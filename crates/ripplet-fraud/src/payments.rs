//! Single transactions of a day, sorted by payer and payee.
//!
//! A [`DayAdjacency`](crate::days::DayAdjacency) has the sums of pairs, regardless of direction. This table
//! keeps each transaction with its direction, exact amount and time. It is sorted by payer, payee and time,
//! so that two binary searches find the transactions of an edge.
//!
//! Memory: 16 bytes per transaction, 24 with amounts.

use crate::Timestamp;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::ops::Range;

/// Directed transaction between two vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The payer.
    pub source: VertexId,
    /// The payee.
    pub target: VertexId,
    /// Time of the transaction.
    pub time: Timestamp,
    /// Amount in smallest units; 0 if amounts are not mapped.
    pub amount: u64,
}

/// The transactions of a day, sorted by payer, payee, time and amount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payments {
    /// Payer and payee, packed.
    keys: Vec<u64>,
    times: Vec<Timestamp>,
    /// Amounts in smallest units; empty if amounts are not mapped.
    amounts: Vec<u64>,
}

fn key(from: VertexId, to: VertexId) -> u64 {
    u64::from(from) << 32 | u64::from(to)
}

impl Payments {
    /// Builds the table from transfers that are sorted by [`sort_key`]; self-loops are dropped.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(crate) fn of_sorted(
        transfers: &[Transfer],
        has_amounts: bool,
    ) -> Result<Payments, OutOfMemory> {
        let between = || transfers.iter().filter(|transfer| transfer.source != transfer.target);
        let count = between().count();
        let mut payments = Payments {
            keys: memory::with_room(count)?,
            times: memory::with_room(count)?,
            amounts: memory::with_room(if has_amounts { count } else { 0 })?,
        };
        for transfer in between() {
            payments.keys.push(key(transfer.source, transfer.target));
            payments.times.push(transfer.time);
            if has_amounts {
                payments.amounts.push(transfer.amount);
            }
        }
        Ok(payments)
    }

    /// Returns the indices of the payments from one vertex to another, by time.
    ///
    /// Takes a binary search, and a galloping one for the end.
    pub fn between(&self, from: VertexId, to: VertexId) -> Range<usize> {
        let key = key(from, to);
        let begin = self.keys.partition_point(|&other| other < key);
        begin..first_from(&self.keys, begin, |&other| other > key)
    }

    /// Calls `each` with the index in `to`, which ascends, of every vertex that `from` paid, and the range of
    /// its payments.
    ///
    /// Takes one binary search, and for each of `to` a galloping search from the end of the previous one.
    pub fn of_each(
        &self,
        from: VertexId,
        to: &[VertexId],
        mut each: impl FnMut(usize, Range<usize>),
    ) {
        let Some(&lowest) = to.first() else { return };
        let mut place = self.keys.partition_point(|&other| other < key(from, lowest));
        for (index, &target) in to.iter().enumerate() {
            let key = key(from, target);
            place = first_from(&self.keys, place, |&other| other >= key);
            let end = first_from(&self.keys, place, |&other| other > key);
            if place < end {
                each(index, place..end);
            }
            place = end;
        }
    }

    /// Returns the number of payments.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no payments.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns payer and payee of the payment at an index.
    pub fn ends(&self, place: usize) -> (VertexId, VertexId) {
        let key = self.keys[place];
        ((key >> 32) as VertexId, key as VertexId)
    }

    /// Returns the time of the payment at an index.
    pub fn time(&self, place: usize) -> Timestamp {
        self.times[place]
    }

    /// Returns the amount of the payment at an index in smallest units, if amounts are mapped.
    pub fn amount(&self, place: usize) -> Option<u64> {
        self.amounts.get(place).copied()
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> u64 {
        8 * (self.keys.capacity() + self.times.capacity() + self.amounts.capacity()) as u64
    }
}

/// Returns the first index from `begin` on at which the monotone predicate `holds` is true; the length if it
/// never is.
///
/// Takes a logarithmic number of steps in the distance (galloping search).
fn first_from<T>(sorted: &[T], begin: usize, holds: impl Fn(&T) -> bool) -> usize {
    let rest = &sorted[begin..];
    let mut bound = 1;
    while bound < rest.len() && !holds(&rest[bound]) {
        bound *= 2;
    }
    let (low, high) = (bound / 2, rest.len().min(bound + 1));
    begin + low + rest[low..high].partition_point(|item| !holds(item))
}

/// Returns the key by which transfers are sorted.
pub(crate) fn sort_key(transfer: &Transfer) -> (u64, Timestamp, u64) {
    (key(transfer.source, transfer.target), transfer.time, transfer.amount)
}
