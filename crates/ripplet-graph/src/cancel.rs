//! Cancellation of reading and building, from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use thiserror::Error;

/// A flag that ends the reading or building of a graph; clones share it.
///
/// The default is a flag of its own, which nothing sets.
///
/// # Examples
/// ```
/// use ripplet_graph::{BuildError, BuildOptions, Cancel, EdgeTable, GraphBuilder, VertexIds};
///
/// let cancel = Cancel::default();
/// let builder = GraphBuilder::from(BuildOptions { cancel: cancel.clone(), ..BuildOptions::default() });
/// cancel.cancel();
/// let ids = VertexIds::Consecutive { first: 0, count: 2 };
/// let built = builder.build(EdgeTable::new(ids, vec![0], vec![1])?);
/// assert!(matches!(built, Err(BuildError::Cancelled(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// Error of a computation that was cancelled.
#[derive(Clone, Copy, Debug, Default, Error, PartialEq, Eq)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    /// Ends the computations that have this flag, within milliseconds.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Returns whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Returns an error if the flag is set.
    ///
    /// # Errors
    /// If it is.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.is_cancelled() {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }
}
