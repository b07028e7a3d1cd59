//! Limit on the amounts of single transactions.

use crate::amount::Amount;
use crate::days::MOST_AMOUNT;
use crate::mapping::Mapping;
use crate::source::FaultKind;
use crate::weights::{BadWeight, WeightFunction};
use std::sync::Arc;

/// Limit on a single transaction's amount: the weight of an edge must hold it.
#[derive(Debug)]
pub(super) struct Limit {
    weighing: Arc<WeightFunction>,
    pub(super) column: String,
    pub(super) decimals: u32,
    /// Largest amount that is known to fit.
    fits: u64,
}

impl Limit {
    /// Creates the limit of a mapping.
    pub(super) fn new(mapping: &Mapping, weighing: Arc<WeightFunction>) -> Limit {
        let amount = mapping.amount.as_ref();
        Limit {
            weighing,
            column: amount.map_or(String::new(), |amount| amount.column.clone()),
            decimals: amount.map_or(0, |amount| amount.decimals),
            fits: 0,
        }
    }

    /// Returns the fault of an amount that does not fit.
    #[inline]
    pub(super) fn check(&mut self, amount: u64) -> Option<FaultKind> {
        if amount <= self.fits { None } else { self.look(amount) }
    }

    /// Slow path: rare, as few rows exceed all before.
    fn look(&mut self, amount: u64) -> Option<FaultKind> {
        let unit = 10f64.powi(-(self.decimals as i32));
        let why = match self.weighing.stored(1, amount, unit, 0.0) {
            _ if amount > MOST_AMOUNT => "is more than 2⁵⁰ of the smallest unit".into(),
            Err(bad @ BadWeight::TooLarge(_)) => format!("makes an edge whose weight {bad}"),
            _ => {
                self.fits = amount;
                return None;
            }
        };
        let text = Amount { units: amount, decimals: self.decimals }.to_string();
        Some(FaultKind::TooLarge { column: self.column.clone(), text, why })
    }
}
