//! What a window's regression takes from earlier windows.

use crate::evidence::{Definition, FOLDS};
use ripplet_graph::{OutOfMemory, memory};
use serde::{Deserialize, Serialize};

/// Share of the earlier weights in those towards which a ridge draws; the others are those of the fixed combination.
/// 0.5 loses nothing on any set with many windows (ADR 0037); what an earlier window taught is halved by each.
const SHARE: f64 = 0.5;

/// The weights of the columns that a window has learnt, by fold.
pub(super) type Learnt = Vec<(usize, Vec<f64>)>;

/// Weights of the regressions of the last window that learnt any.
///
/// The weights of a fold were fitted without its known bad, in all windows before: an entity keeps its fold. A window knows
/// what was known when earlier windows ended, so that nothing of later labels is in them. Bytes: 8 for each column
/// and fold, and the names of columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Earlier {
    /// Keys of the columns.
    columns: Vec<String>,
    /// Weights of each column, by fold, and then those of all rows; empty without any.
    weights: [Vec<f64>; FOLDS + 1],
}

impl Earlier {
    /// Index of the weights of all rows.
    pub(super) const ALL: usize = FOLDS;

    /// Whether the numbers are those of a run: as many as columns, and finite.
    pub(crate) fn is_sound(&self) -> bool {
        let fits = |weights: &Vec<f64>| {
            (weights.is_empty() || weights.len() == self.columns.len())
                && weights.iter().all(|weight| weight.is_finite())
        };
        self.weights.iter().all(fits)
    }

    /// Returns the weights towards which the ridge of a fold draws.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn prior(&self, fold: usize, fixed: &[Definition]) -> Result<Vec<f64>, OutOfMemory> {
        let keys = fixed.iter().map(|column| column.key);
        let is_same = self.columns.iter().map(String::as_str).eq(keys);
        let earlier = Some(&self.weights[fold]).filter(|of| is_same && !of.is_empty());
        memory::collected(fixed.iter().enumerate().map(|(column, of)| match earlier {
            Some(weights) => (1.0 - SHARE) * of.prior + SHARE * weights[column],
            None => of.prior,
        }))
    }

    /// Returns the weights after a window; folds that learnt nothing keep theirs.
    pub(super) fn after(&self, columns: &[Definition], learnt: Learnt) -> Earlier {
        let keys = || columns.iter().map(|column| column.key);
        let mut after = match self.columns.iter().map(String::as_str).eq(keys()) {
            true => self.clone(),
            false => Earlier { columns: keys().map(String::from).collect(), ..Earlier::default() },
        };
        for (fold, weights) in learnt {
            after.weights[fold] = weights;
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ALL;

    #[test]
    fn half_of_the_prior_is_that_of_the_window_before() {
        let columns = &ALL[..3];
        let fixed: Vec<f64> = columns.iter().map(|of| of.prior).collect();
        let none = Earlier::default();
        assert_eq!(none.prior(2, columns).unwrap(), fixed);
        let after = none.after(columns, vec![(2, vec![1.0, -2.0, 3.0])]);
        let mixed: Vec<f64> =
            fixed.iter().zip([1.0, -2.0, 3.0]).map(|(a, b)| a / 2.0 + b / 2.0).collect();
        assert_eq!(after.prior(2, columns).unwrap(), mixed);
        // Other folds, and other columns, have none.
        assert_eq!(after.prior(1, columns).unwrap(), fixed);
        assert_eq!(after.prior(2, &ALL[1..4]).unwrap()[0], ALL[1].prior);
        // Kept by a window without that fold, and dropped with its columns.
        assert_eq!(after.after(columns, vec![(0, vec![0.0; 3])]).weights[2], [1.0, -2.0, 3.0]);
        assert!(after.after(&ALL[1..4], Vec::new()).weights[2].is_empty());
        let text = serde_json::to_string(&after).unwrap();
        assert_eq!(serde_json::from_str::<Earlier>(&text).unwrap(), after);
        assert!(after.is_sound());
        let short: Earlier = serde_json::from_str(&text.replace(",3.0]", "]")).unwrap();
        assert!(!short.is_sound());
    }
}
