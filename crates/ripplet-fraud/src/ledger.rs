//! Ledger: payments between entities in a window, looked up in its days.

use crate::days::DayAdjacency;
use crate::{Amount, Timestamp};
use ripplet_graph::VertexId;
use std::ops::Range;

/// Sum of the payments from one entity to another in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Number of transactions, at least 1.
    pub count: u64,
    /// Summed amount, if amounts are mapped.
    pub amount: Option<Amount>,
    /// Time of the first transaction.
    pub first: Timestamp,
    /// Time of the last transaction.
    pub last: Timestamp,
}

/// Single transaction between two given entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Time of the transaction.
    pub time: Timestamp,
    /// Amount, if amounts are mapped.
    pub amount: Option<Amount>,
}

/// Payments in a window.
pub trait Ledger: Sync {
    /// Returns the number of decimals of amounts; `None` if amounts are not mapped.
    fn decimals(&self) -> Option<u32>;

    /// Returns the sum of the payments from one entity to another; `None` if there are none.
    fn flow(&self, from: VertexId, to: VertexId) -> Option<Flow>;

    /// Returns the flow from `from` to each of `to`, which ascend, in the order of `to`.
    fn flows(&self, from: VertexId, to: &[VertexId]) -> Vec<Option<Flow>> {
        to.iter().map(|&to| self.flow(from, to)).collect()
    }

    /// Returns the pairs of columns that link one entity to another, as indices into
    /// [`Mapping::pairs`](crate::Mapping::pairs), ascending; empty if a row links only two entities.
    fn pairs(&self, from: VertexId, to: VertexId) -> Vec<u32> {
        let _ = (from, to);
        Vec::new()
    }

    /// Returns at most `most` transactions from one entity to another, newest first.
    fn newest(&self, from: VertexId, to: VertexId, most: usize) -> Vec<Payment>;
}

/// Ledger over consecutive days.
///
/// A look-up takes a binary search a day, and a step for each transaction found. The look-ups of one payer
/// together take one binary search a day.
#[derive(Debug)]
pub struct DaysLedger<'a> {
    days: Vec<&'a DayAdjacency>,
    decimals: Option<u32>,
}

impl<'a> DaysLedger<'a> {
    /// Creates the ledger of some days, oldest first.
    pub fn new(
        days: impl IntoIterator<Item = &'a DayAdjacency>,
        decimals: Option<u32>,
    ) -> DaysLedger<'a> {
        DaysLedger { days: days.into_iter().collect(), decimals }
    }

    fn amount(&self, units: Option<u64>) -> Option<Amount> {
        let decimals = self.decimals?;
        units.map(|units| Amount { units, decimals })
    }

    /// Adds a later day's payments to those of a pair.
    fn add(&self, flow: &mut Option<Flow>, run: &DayAdjacency, places: Range<usize>) {
        if places.is_empty() {
            return;
        }
        // Cannot overflow: a day's sum is bounded, and so is the number of days.
        let units = places.clone().map(|place| run.payments.amount(place));
        let units = units.fold(None, |sum, units| Some(sum.unwrap_or(0) + units?));
        let [first, last] = [places.start, places.end - 1].map(|place| run.payments.time(place));
        let before = flow.unwrap_or(Flow { count: 0, amount: None, first, last });
        let sum = self.amount(units).map(|now| Amount {
            units: now.units + before.amount.map_or(0, |before| before.units),
            ..now
        });
        let count = before.count + places.len() as u64;
        *flow = Some(Flow { count, amount: sum, first: before.first.min(first), last });
    }
}

impl Ledger for DaysLedger<'_> {
    fn decimals(&self) -> Option<u32> {
        self.decimals
    }

    fn flow(&self, from: VertexId, to: VertexId) -> Option<Flow> {
        let mut flow = None;
        for run in &self.days {
            self.add(&mut flow, run, run.payments.between(from, to));
        }
        flow
    }

    fn flows(&self, from: VertexId, to: &[VertexId]) -> Vec<Option<Flow>> {
        let mut flows = vec![None; to.len()];
        for run in &self.days {
            run.payments
                .of_each(from, to, |index, places| self.add(&mut flows[index], run, places));
        }
        flows
    }

    fn pairs(&self, from: VertexId, to: VertexId) -> Vec<u32> {
        let several = self.days.iter().map(|run| run.columns.len()).max().unwrap_or(0);
        let links = |pair: &u32| {
            let mut linked = self.days.iter().filter_map(|run| run.columns.get(*pair as usize));
            linked.any(|linked| linked.links(from, to))
        };
        (0..several as u32).filter(links).collect()
    }

    fn newest(&self, from: VertexId, to: VertexId, most: usize) -> Vec<Payment> {
        let places = |run: &DayAdjacency| run.payments.between(from, to).rev();
        let days = self.days.iter().copied().rev();
        let all = days.flat_map(|run| places(run).map(move |place| (run, place))).take(most);
        let payment = |(run, place): (&DayAdjacency, usize)| Payment {
            time: run.payments.time(place),
            amount: self.amount(run.payments.amount(place)),
        };
        all.map(payment).collect()
    }
}
