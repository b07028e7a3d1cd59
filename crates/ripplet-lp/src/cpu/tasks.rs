//! Parallel loops whose bodies are called by reference.
//!
//! rayon compiles a loop anew for each closure, to about 7 KB. In code that is generic over programs, each program has its
//! own copy. A call by reference costs nothing beside a task of hundreds of vertices.

use crate::{Round, RunError};
use rayon::prelude::*;
use ripplet_graph::Observer;

/// Performs the tasks `0..tasks` on all threads.
pub(super) fn for_each(tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..tasks).into_par_iter().for_each(task);
}

/// Performs the tasks `0..tasks` on all threads; returns the sum of their counts.
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
