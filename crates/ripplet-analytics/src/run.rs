//! Errors, common to all analyses.

use ripplet_graph::{Observer, OutOfMemory};
use ripplet_ranks::CommError;
use std::fmt;
use thiserror::Error;

/// The reason why an analysis ended without a result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AnalysisError {
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// An edge has length 0, but shortest paths are to be counted.
    #[error(transparent)]
    NoLength(#[from] Box<NoLength>),
    /// A setting is out of its range.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// The system refused memory.
    #[error("computing it needs memory beside the graph: {0}")]
    OutOfMemory(#[from] OutOfMemory),
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
}

/// A setting that is out of its range.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{name} is {value}; it must be {expected}")]
pub struct InvalidSetting {
    /// The setting's name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// The range of valid values.
    pub expected: &'static str,
}

impl From<NoLength> for AnalysisError {
    fn from(error: NoLength) -> AnalysisError {
        AnalysisError::NoLength(Box::new(error))
    }
}

/// An edge of weight 0 where weights are lengths: a path may repeat it without end, so that the
/// number of shortest paths is not defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoLength {
    /// The graph's external id, if it is a graph of a batch.
    pub graph: Option<String>,
    /// The external ids of the edge's ends.
    pub ends: [String; 2],
}

impl fmt::Display for NoLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoLength { graph, ends: [from, to] } = self;
        write!(f, "the edge from {from} to {to}")?;
        if let Some(graph) = graph {
            write!(f, " of graph {graph}")?;
        }
        write!(
            f,
            " has weight 0: a shortest path could use it any number of times, so the number of shortest paths is \
             not defined; remove the edge or make its weight positive"
        )
    }
}

impl std::error::Error for NoLength {}

/// Returns an error if the observer cancels.
pub(crate) fn go_on(observer: &dyn Observer) -> Result<(), AnalysisError> {
    if observer.is_cancelled() { Err(AnalysisError::Cancelled) } else { Ok(()) }
}
