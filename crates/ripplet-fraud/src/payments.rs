//! The single transactions of a day, by who pays whom.
//!
//! A [`Run`](crate::days::Run) has sums of pairs, whichever of the two paid; here each transaction is kept with its
//! direction, its exact amount and its time, sorted by payer, payee and time, so that those of an edge are two binary
//! searches away.
//!
//! Memory: 16 bytes a transaction, 24 with amounts.

use crate::Timestamp;
use crate::days::Deal;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::ops::Range;

/// The transactions of a day, sorted by payer, payee, time and amount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payments {
    /// Payer and payee.
    keys: Vec<u64>,
    times: Vec<Timestamp>,
    /// Smallest units; empty where amounts are not mapped.
    amounts: Vec<u64>,
}

fn key(from: VertexId, to: VertexId) -> u64 {
    u64::from(from) << 32 | u64::from(to)
}

impl Payments {
    /// Returns those of deals that are sorted by [`sort_key`]; deals of a vertex with itself are passed over.
    ///
    /// # Errors
    /// Where memory is refused.
    pub(crate) fn of_sorted(deals: &[Deal], has_amounts: bool) -> Result<Payments, OutOfMemory> {
        let between = || deals.iter().filter(|deal| deal.source != deal.target);
        let count = between().count();
        let mut payments = Payments {
            keys: memory::with_room(count)?,
            times: memory::with_room(count)?,
            amounts: memory::with_room(if has_amounts { count } else { 0 })?,
        };
        for deal in between() {
            payments.keys.push(key(deal.source, deal.target));
            payments.times.push(deal.time);
            if has_amounts {
                payments.amounts.push(deal.amount);
            }
        }
        Ok(payments)
    }

    /// Returns the places of what one vertex paid another, by time.
    ///
    /// A binary search, and a short one for the end.
    pub fn between(&self, from: VertexId, to: VertexId) -> Range<usize> {
        let key = key(from, to);
        let begin = self.keys.partition_point(|&other| other < key);
        begin..first_from(&self.keys, begin, |&other| other > key)
    }

    /// Calls `each` with the place in `to`, which ascends, of every vertex that `from` paid, and where its payments are.
    ///
    /// One binary search, and for each of `to` a search from where the one before ended.
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

    /// When the transaction at a place was.
    pub fn time(&self, place: usize) -> Timestamp {
        self.times[place]
    }

    /// How much it was, in smallest units, where amounts are mapped.
    pub fn amount(&self, place: usize) -> Option<u64> {
        self.amounts.get(place).copied()
    }

    /// Bytes that they occupy.
    pub fn bytes(&self) -> u64 {
        8 * (self.keys.capacity() + self.times.capacity() + self.amounts.capacity()) as u64
    }
}

/// Returns the first place from `begin` on where `holds` does, which goes on holding behind it; the length if it never does.
///
/// Takes steps for the logarithm of the distance.
fn first_from<T>(sorted: &[T], begin: usize, holds: impl Fn(&T) -> bool) -> usize {
    let rest = &sorted[begin..];
    let mut bound = 1;
    while bound < rest.len() && !holds(&rest[bound]) {
        bound *= 2;
    }
    let (low, high) = (bound / 2, rest.len().min(bound + 1));
    begin + low + rest[low..high].partition_point(|item| !holds(item))
}

/// What deals are sorted by.
pub(crate) fn sort_key(deal: &Deal) -> (u64, Timestamp, u64) {
    (key(deal.source, deal.target), deal.time, deal.amount)
}
