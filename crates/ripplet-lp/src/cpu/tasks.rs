//! Parallel loops over tasks that count.

use crate::{Round, RunError};
use rayon::prelude::*;
use ripplet_graph::Observer;

/// Performs the tasks `0..tasks` on all threads; returns the sum of their counts. Compiled once for all programs, as
/// [`ripplet_graph::tasks`] are.
///
/// # Errors
/// [`RunError::Cancelled`] if the observer cancels.
pub(super) fn sum(
    tasks: usize,
    observer: &dyn Observer,
    task: &(dyn Fn(usize) -> Round + Sync),
) -> Result<Round, RunError> {
    let perform = |index| match observer.is_cancelled() {
        true => Err(RunError::Cancelled),
        false => Ok(task(index)),
    };
    (0..tasks).into_par_iter().map(perform).try_reduce(Round::default, |a, b| Ok(a.plus(b)))
}
