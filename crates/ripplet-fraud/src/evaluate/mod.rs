//! How good a ranking is: known accounts are held out, and looked for.
//!
//! # What is measured
//! Later-confirmed accounts are drawn into *known* (a share of them) and *held out* (the rest), many times. Each method
//! ranks all accounts of the kinds that are confirmed, those known left out; it sees the known ones alone, and of these
//! in each window those whose validity holds at its end. With n accounts seen so far, of which H were held out and
//! are there, and of the first k of the ranking h held out,
//!
//! | measure | |
//! |---|---|
//! | recall at a share x | h / H, at k = round(x · n) |
//! | precision there | h / k |
//! | PR-AUC | average precision: the mean of the precision at the rank of each that was held out |
//! | days to detection | from the end of the first window in which an account dealt with anybody to that of the first in which it is in the first k; the mean over those who ever are |
//! | detected | the share of those held out who ever are |
//! | days waited | days to detection of all who were held out, where who is never detected waits until the last window's end: the restricted mean, by which methods that find more are not punished for what they find late |
//!
//! Recall, precision and PR-AUC are of the last window. No ranking can have more than min(1, k / H) recall:
//! [`Report::ceilings`]. Equal scores are ranked by a hash of draw and vertex, so that no method gains by the order of
//! vertices.
//!
//! # Intervals
//! A [`Figure`] is a mean over the draws with its 95 % interval by the bootstrap: of 2000 times as many draws drawn from
//! them with repetition, the mean lies between its bounds 95 times of 100. Ratios of two methods are of their means over
//! the same draws. Draws are of the same accounts, so intervals say what depends on who is known, and nothing about
//! other data.
//!
//! # Cost, memory, determinism
//! Ties are judged once a window; each draw costs a spread of labels and the baselines that look at who is known. Memory:
//! a score a vertex and the ranking. The same numbers for the same seed, on any number of threads.
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

use crate::detect::{DetectError, Detection};
use ripplet_graph::OutOfMemory;
use ripplet_lp::RunError;
use ripplet_lp::programs::{BadAttenuation, SeedError};
use thiserror::Error;

/// How to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// How often accounts are drawn.
    pub draws: u32,
    /// The share of confirmed accounts that is known.
    pub known: f64,
    /// The shares of all accounts at whose ranks recall and precision are told, ascending.
    pub tops: Vec<f64>,
    /// That of them by which an account is detected, and methods are compared.
    pub top: f64,
    /// What all draws depend on.
    pub seed: u64,
    /// How clusters are detected.
    pub detection: Detection,
    /// What is ranked by.
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

/// Why there is no evaluation.
#[derive(Debug, Error)]
pub enum EvaluateError {
    /// A share is none.
    #[error("{name} is a share {expected}, not {value}")]
    Share {
        /// Which.
        name: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        value: f64,
    },
    /// Nothing to do.
    #[error("{0} of an evaluation must be 1 at least")]
    Nothing(&'static str),
    /// The list is empty.
    #[error("no account is confirmed: the list has no entries")]
    NobodyConfirmed,
    /// Nobody is left.
    #[error(
        "{known} of {confirmed} confirmed accounts would be known, and nobody held out: choose a smaller share"
    )]
    NobodyHeldOut {
        /// Accounts that would be known.
        known: usize,
        /// Accounts there are.
        confirmed: usize,
    },
    /// There was no window, or an empty one.
    #[error("no confirmed account that was held out is in any window: do the ids and kinds match?")]
    NobodySeen,
    /// Detection failed.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// Seeds.
    #[error(transparent)]
    Seeds(#[from] SeedError),
    /// The attenuation of seeds.
    #[error(transparent)]
    Attenuation(#[from] BadAttenuation),
    /// Label propagation.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Memory was refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
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

/// k, of a share of so many accounts.
fn rank_of(top: f64, accounts: usize) -> usize {
    ((top * accounts as f64).round() as usize).max(1)
}
