//! Rows of training by column.

use crate::evidence::FOLDS;
use ripplet_graph::{OutOfMemory, memory};

/// What is known of a row's entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// Known to be bad.
    Bad,
    /// Cleared: known to be good.
    Good,
    /// Neither; counts as good.
    Unknown,
}

/// Rows of training: entities with their evidence, in the order of their folds.
///
/// The evidence of a row does not use the known bad of the row's fold.
pub(super) struct Rows {
    /// By column, then by row.
    pub columns: Vec<Vec<f32>>,
    /// What is known of each row.
    pub labels: Vec<Label>,
    /// First row of each fold, and the number of rows.
    pub starts: [usize; FOLDS + 1],
}

impl Rows {
    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Iterates over the rows of all folds but one, in order.
    pub(super) fn without(&self, fold: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        (0..self.starts[fold]).chain(self.starts[fold + 1]..self.len())
    }

    /// Returns whether each row is known to be bad.
    pub(super) fn is_bad(&self) -> Result<Vec<bool>, OutOfMemory> {
        memory::collected(self.labels.iter().map(|label| *label == Label::Bad))
    }

    /// Returns the weight of each row with a label, if others weigh 1: between equal weights of rows, and of both
    /// classes.
    pub(super) fn weight_of_known(&self, rows: impl Iterator<Item = usize>) -> f64 {
        let (mut bad, mut others) = (0_u32, 0_u32);
        for row in rows {
            *(if self.labels[row] == Label::Bad { &mut bad } else { &mut others }) += 1;
        }
        (f64::from(others.max(1)) / f64::from(bad.max(1))).sqrt()
    }

    /// Returns the weight of each row by that of rows with a label.
    pub(super) fn weights(&self, of_known: f64) -> Result<Vec<f64>, OutOfMemory> {
        let is_known = |label: &Label| *label != Label::Unknown;
        memory::collected(self.labels.iter().map(|of| if is_known(of) { of_known } else { 1.0 }))
    }
}
