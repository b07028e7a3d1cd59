//! The share of votes from which communities merge.

use thiserror::Error;

/// The fixed-point scale of [`MergeShare`].
const STEPS: f64 = 65536.0;

/// The share of a community's strength that arcs to another community must have for it to join.
///
/// Strength is the summed weight of the arcs of all members. The default is one twelfth, with which
/// planted communities stay apart: see the decision on merging. A smaller share merges more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeShare(u32);

/// The share is not from 0 to 1.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error(
    "the share of a community's votes that lets it join another is a number from 0 to 1, not {0}"
)]
pub struct BadMergeShare(pub f64);

impl MergeShare {
    /// Returns a share, rounded to a multiple of 2⁻¹⁶.
    ///
    /// # Errors
    /// If it is not a number from 0 to 1.
    pub fn new(share: f64) -> Result<MergeShare, BadMergeShare> {
        let fits = (0.0..=1.0).contains(&share);
        fits.then(|| MergeShare((share * STEPS).round() as u32)).ok_or(BadMergeShare(share))
    }

    /// Returns the share as a number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / STEPS
    }

    /// Returns the share in units of 2⁻¹⁶.
    pub fn steps(self) -> u32 {
        self.0
    }
}

impl Default for MergeShare {
    fn default() -> Self {
        MergeShare(STEPS as u32 / 12)
    }
}
