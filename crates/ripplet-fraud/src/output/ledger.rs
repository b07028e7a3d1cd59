//! What was paid in a window, by whom to whom, looked up in its days.

use crate::days::DayAdjacency;
use crate::{Amount, Timestamp};
use ripplet_graph::VertexId;
use std::ops::Range;

/// What one entity paid another in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// How many transactions there are, 1 at least.
    pub count: u64,
    /// Their sum, where amounts are mapped.
    pub amount: Option<Amount>,
    /// When the first of them was.
    pub first: Timestamp,
    /// When the last of them was.
    pub last: Timestamp,
}

/// A single transaction between two entities that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// When it was.
    pub time: Timestamp,
    /// How much it was, where amounts are mapped.
    pub amount: Option<Amount>,
}

/// Who paid whom in a window.
pub trait Ledger: Sync {
    /// Digits after the decimal point of all amounts; none where amounts are not mapped.
    fn decimals(&self) -> Option<u32>;

    /// Returns the sums of what one paid another; nothing if there is none.
    fn flow(&self, from: VertexId, to: VertexId) -> Option<Flow>;

    /// Returns what `from` paid each of `to`, which ascend: as [`Ledger::flow`], in the order of `to`.
    fn flows(&self, from: VertexId, to: &[VertexId]) -> Vec<Option<Flow>> {
        to.iter().map(|&to| self.flow(from, to)).collect()
    }

    /// Returns the pairs of columns that link one to another, by their places in
    /// [`Mapping::pairs`](crate::Mapping::pairs), ascending; nothing if a row links two entities only.
    fn pairs(&self, from: VertexId, to: VertexId) -> Vec<u32> {
        let _ = (from, to);
        Vec::new()
    }

    /// Returns the newest transactions from one to another, at most `most`, the newest first.
    fn newest(&self, from: VertexId, to: VertexId, most: usize) -> Vec<Payment>;
}

/// The ledger of some days, which ascend.
///
/// A look-up takes a binary search a day, and a step for each transaction that it finds; the look-ups of one payer
/// together take one binary search a day.
#[derive(Debug)]
pub struct DaysLedger<'a> {
    days: Vec<&'a DayAdjacency>,
    decimals: Option<u32>,
}

impl<'a> DaysLedger<'a> {
    /// That of days, oldest first.
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

    /// Adds the payments of a later day at `places` to those of a pair.
    fn add(&self, flow: &mut Option<Flow>, run: &DayAdjacency, places: Range<usize>) {
        if places.is_empty() {
            return;
        }
        // A day's sum has a bound, and so have the days of a window.
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
