//! Rows of training by column.

use crate::evidence::FOLDS;
use ripplet_graph::{OutOfMemory, memory};

/// Rows of training: entities with their evidence, in the order of their folds.
///
/// The evidence of a row does not use the known bad of the row's fold.
pub(super) struct Rows {
    /// By column, then by row.
    pub columns: Vec<Vec<f32>>,
    /// Whether a row is known to be bad.
    pub is_bad: Vec<bool>,
    /// First row of each fold, and the number of rows.
    pub starts: [usize; FOLDS + 1],
}

impl Rows {
    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.is_bad.len()
    }

    /// Iterates over the rows of all folds but one, in order.
    pub(super) fn without(&self, fold: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        (0..self.starts[fold]).chain(self.starts[fold + 1]..self.len())
    }

    /// Returns the weight of each known bad row, if others weigh 1: between equal weights of rows, and of both
    /// classes.
    pub(super) fn weight_of_bad(&self, rows: impl Iterator<Item = usize>) -> f64 {
        let (mut bad, mut others) = (0_u32, 0_u32);
        for row in rows {
            *(if self.is_bad[row] { &mut bad } else { &mut others }) += 1;
        }
        (f64::from(others.max(1)) / f64::from(bad.max(1))).sqrt()
    }

    /// Returns the weight of each row by that of the known bad.
    pub(super) fn weights(&self, of_bad: f64) -> Result<Vec<f64>, OutOfMemory> {
        memory::collected(self.is_bad.iter().map(|&bad| if bad { of_bad } else { 1.0 }))
    }
}
