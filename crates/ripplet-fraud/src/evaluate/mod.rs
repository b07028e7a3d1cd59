//! Evaluation of rankings: known accounts are held out and searched for.
//!
//! # What is measured
//! Confirmed accounts are split at random into *known* ones (a given share) and *held-out* ones, many times.
//! Each method ranks all accounts of the confirmed kinds except the known ones. It sees the known accounts
//! alone, and in each window only those that are active at its end. With n accounts seen so far, H held-out
//! accounts among them, and h of these in the first k of the ranking,
//!
//! | measure | definition |
//! |---|---|
//! | recall at a share x | h / H, at k = round(x · n) |
//! | precision there | h / k |
//! | PR-AUC | average precision: the mean of the precision at the rank of each held-out account |
//! | days to detection | from the end of the first window in which an account has transactions to that of the first in which it is in the first k; the mean over detected accounts |
//! | detected | share of held-out accounts that are ever detected |
//! | days waited | restricted mean of the days to detection over all held-out accounts: an undetected account counts until the last window's end, so that finding more accounts late is no disadvantage |
//!
//! Recall, precision and PR-AUC are of the last window. No ranking exceeds a recall of min(1, k / H):
//! [`Report::ceilings`]. Equal scores are ranked by a hash of draw and vertex, so that the order of vertices
//! favours no method.
//!
//! # Intervals
//! A [`Figure`] is a mean over the draws with its 95 % bootstrap interval: 2000 resamples of the draws with
//! replacement. Ratios of two methods are ratios of means over the same draws. All draws use the same
//! accounts. So intervals measure the dependence on which accounts are known, not on the data set.
//!
//! # Cost, memory, determinism
//! Ties are scored once a window. Each draw costs one spread of labels and the baselines that use known
//! accounts. Memory: a score a vertex and the ranking. The figures depend on the seed, not on the number of
//! threads.
//!
//! # References
//! Davis, Goadrich, *The relationship between Precision-Recall and ROC curves*, ICML 2006. Efron, Tibshirani, *An
//! Introduction to the Bootstrap*, 1993, chapter 13.

mod evaluator;
mod figure;
mod method;
mod numbers;
mod report;
mod rows;

pub use evaluator::Evaluator;
pub use figure::Figure;
pub use method::Method;
pub use report::{Report, Row, Summary};
pub use rows::write_draws;

use crate::baselines::BaselineError;
use crate::detect::{DetectError, Detection};
use crate::model::ModelError;
use crate::seeds::Conflict;
use ripplet_analytics::AnalysisError;
use ripplet_analytics::pagerank::JumpsError;
use ripplet_graph::OutOfMemory;
use ripplet_lp::RunError;
use ripplet_lp::programs::{BadAttenuation, SeedError};
use thiserror::Error;

/// Options of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Number of draws.
    pub draws: u32,
    /// Share of confirmed accounts that is known.
    pub known: f64,
    /// Shares of all accounts at which recall and precision are reported, ascending.
    pub tops: Vec<f64>,
    /// The share by which an account counts as detected, and methods are compared; one of `tops`.
    pub top: f64,
    /// Seed of all draws.
    pub seed: u64,
    /// Options of detection.
    pub detection: Detection,
    /// Methods to compare.
    pub methods: Vec<Method>,
}

impl Default for Evaluation {
    /// A hundred draws of a fifth, compared at the first 2 %.
    fn default() -> Evaluation {
        Evaluation {
            draws: 100,
            known: 0.2,
            tops: vec![0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2],
            top: 0.02,
            seed: 0,
            detection: Detection::default(),
            methods: Method::all(),
        }
    }
}

/// Error of an evaluation.
#[derive(Debug, Error)]
pub enum EvaluateError {
    /// A share is out of range.
    #[error("{name} is a share {expected}, not {value}")]
    Share {
        /// Name of the share.
        name: &'static str,
        /// Expected range.
        expected: &'static str,
        /// Value that was given.
        value: f64,
    },
    /// A number is 0.
    #[error("{0} of an evaluation must be 1 at least")]
    Nothing(&'static str),
    /// The list of confirmed accounts is empty.
    #[error("no account is confirmed: the list has no entries")]
    NobodyConfirmed,
    /// No account would be held out.
    #[error(
        "{known} of {confirmed} confirmed accounts would be known, and none held out: choose a smaller share"
    )]
    NobodyHeldOut {
        /// Number of known accounts.
        known: usize,
        /// Number of confirmed accounts.
        confirmed: usize,
    },
    /// No window has a held-out account.
    #[error("no confirmed account that was held out is in any window: do the ids and kinds match?")]
    NoAccountSeen,
    /// An account is confirmed and trusted, or confirmed and cleared from the same instant on.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// Detection failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The seeds are invalid.
    #[error(transparent)]
    Seeds(#[from] SeedError),
    /// The attenuation of seeds is invalid.
    #[error(transparent)]
    Attenuation(#[from] BadAttenuation),
    /// Label propagation failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The given model has evidence that the evaluation does not have.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A baseline failed.
    #[error(transparent)]
    Baseline(BaselineError),
    /// Memory allocation failed.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl From<BaselineError> for EvaluateError {
    fn from(error: BaselineError) -> EvaluateError {
        match error {
            BaselineError::OutOfMemory(error)
            | BaselineError::Jumps(JumpsError::OutOfMemory(error))
            | BaselineError::PageRank(AnalysisError::OutOfMemory(error)) => {
                EvaluateError::OutOfMemory(error)
            }
            error => EvaluateError::Baseline(error),
        }
    }
}

impl Evaluation {
    fn check(&self) -> Result<(), EvaluateError> {
        let wrong = |name, expected, value| Err(EvaluateError::Share { name, expected, value });
        if !(0.0..1.0).contains(&self.known) {
            return wrong("the known part", "from 0 to below 1", self.known);
        }
        for &top in self.tops.iter().chain([&self.top]) {
            if !(top > 0.0 && top <= 1.0) {
                return wrong("the top of a ranking", "above 0, up to 1", top);
            }
        }
        let descending = self.tops.windows(2).find(|pair| pair[0] >= pair[1]);
        if let Some(pair) = descending {
            return wrong("each of the tops", "above the one before it", pair[1]);
        }
        if !self.tops.contains(&self.top) {
            return wrong("the top that methods are compared at", "among the tops", self.top);
        }
        match (self.draws, self.methods.len()) {
            (0, _) => Err(EvaluateError::Nothing("draws")),
            (_, 0) => Err(EvaluateError::Nothing("methods")),
            _ => Ok(()),
        }
    }
}

/// Returns k, the rank of a share of `accounts`.
fn rank_of(top: f64, accounts: usize) -> usize {
    ((top * accounts as f64).round() as usize).max(1)
}
