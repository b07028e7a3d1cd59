//! The single transactions, day by day, that the edges of the graph summarise.

use super::TransactionGraph;
use super::rings::MOST_PAIRS;
use crate::GenerateError;
use crate::random::PowerLaw;
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::splitmix::mix;
use std::ops::Range;

/// Some transactions of one day, drawn together.
#[derive(Clone, Debug, PartialEq)]
pub struct SalesPart {
    /// The day, from 1.
    pub day: u32,
    of: Of,
}

#[derive(Clone, Debug, PartialEq)]
enum Of {
    /// Stubs of buyers.
    Stubs(Range<u64>),
    Rings(Range<u32>),
}

/// Transactions, a row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sales {
    /// Buyers.
    pub buyers: Vec<VertexId>,
    /// Items bought.
    pub items: Vec<VertexId>,
    /// Amounts: an item has one price, from 1 to 10,000 in whole hundredths.
    pub amounts: Vec<f64>,
}

/// Rows in a part: a few megabytes.
const ROWS: u64 = 1 << 18;
/// Rows of a task within a part.
const ROWS_PER_TASK: usize = 1 << 13;
/// Rings in a part: about as many rows.
const RINGS: u32 = (ROWS / MOST_PAIRS) as u32;

impl TransactionGraph {
    /// Returns all transactions in parts, in the order of their days; on each day, those of rings come last.
    pub fn sales_parts(&self) -> impl Iterator<Item = SalesPart> {
        (0..self.populations[0].days()).flat_map(move |day| {
            let number = day as u32 + 1;
            let (stubs, rings) = (self.populations[0].stubs(day), self.rings.active(day as u32));
            let ordinary = (0..stubs).step_by(ROWS as usize).map(move |first| {
                let of = Of::Stubs(first..stubs.min(first + ROWS));
                SalesPart { day: number, of }
            });
            let rings = rings.clone().step_by(RINGS as usize).map(move |first| {
                let of = Of::Rings(first..rings.end.min(first.saturating_add(RINGS)));
                SalesPart { day: number, of }
            });
            ordinary.chain(rings)
        })
    }

    /// Returns the transactions of a part, on rayon's current pool.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn sales(&self, part: &SalesPart) -> Result<Sales, GenerateError> {
        let day = part.day as usize - 1;
        let drawn = match &part.of {
            Of::Stubs(stubs) => self.everybody(day, stubs.clone()),
            Of::Rings(rings) => self.ring_sales(day, rings.clone()),
        };
        drawn.map_err(|error| GenerateError::OutOfMemory { rows: ROWS, bytes: error.bytes })
    }

    fn everybody(&self, day: usize, stubs: Range<u64>) -> Result<Sales, OutOfMemory> {
        let rows = (stubs.end - stubs.start) as usize;
        let (mut buyers, mut items) = (memory::zeros(rows)?, memory::zeros(rows)?);
        let mut amounts = memory::zeros(rows)?;
        let prices = prices();
        let tasks = buyers.par_chunks_mut(ROWS_PER_TASK).zip(items.par_chunks_mut(ROWS_PER_TASK));
        let tasks = tasks.zip(amounts.par_chunks_mut(ROWS_PER_TASK)).enumerate();
        tasks.for_each(|(task, ((buyers, items), amounts))| {
            let first = stubs.start + (task * ROWS_PER_TASK) as u64;
            let rows = buyers.iter_mut().zip(items).zip(amounts);
            for (stub, ((buyer, item), amount)) in (first..).zip(rows) {
                *buyer = self.populations[0].owner(day, stub);
                let bought = self.populations[1].owner(day, self.pairings[day].of(stub));
                *item = self.buyers() + bought;
                *amount = self.price(&prices, bought);
            }
        });
        Ok(Sales { buyers, items, amounts })
    }

    fn ring_sales(&self, day: usize, rings: Range<u32>) -> Result<Sales, OutOfMemory> {
        let (mut sales, prices) = (Sales::default(), prices());
        for ring in rings.filter_map(|ring| self.rings.get(ring)) {
            for buyer in 0..ring.members(0) {
                for item in (0..ring.members(1)).filter(|&i| ring.buys(buyer, i, day as u32)) {
                    let bought = ring.member(1, item);
                    memory::push(&mut sales.buyers, ring.member(0, buyer))?;
                    memory::push(&mut sales.items, self.buyers() + bought)?;
                    memory::push(&mut sales.amounts, self.price(&prices, bought))?;
                }
            }
        }
        Ok(sales)
    }

    fn price(&self, prices: &PowerLaw, item: u32) -> f64 {
        let unit = (mix(self.price_seed ^ mix(u64::from(item))) >> 11) as f64;
        libm::round(100.0 * prices.quantile(unit / (1u64 << 53) as f64)) / 100.0
    }
}

/// Returns the distribution of prices.
fn prices() -> PowerLaw {
    PowerLaw::new(1.0, 10_000.0, 2.0)
}
