//! What all runs have in common: who watches them, and why they end without a result.

use crate::NoLength;
use ripplet_graph::OutOfMemory;
use thiserror::Error;

/// Who watches a run and may end it; `()` does neither.
pub trait Observer: Sync + Send {
    /// Called where something begins that may take a while; its name, for a user.
    fn on_stage(&mut self, _name: &'static str) {}

    /// Called now and then, from any thread, with the part of the stage that is done, from 0 to 1.
    fn on_progress(&self, _done: f64) {}

    /// Asked often, from any thread: true ends the run within milliseconds.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// Why a run ended without a result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// The observer cancelled.
    #[error("cancelled")]
    Cancelled,
    /// An edge weighs nothing, where shortest ways are to be counted.
    #[error(transparent)]
    NoLength(#[from] Box<NoLength>),
    /// A setting is out of its range.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// The system refused memory.
    #[error("computing it needs memory beside the graph: {0}")]
    OutOfMemory(#[from] OutOfMemory),
}

/// A setting that is out of its range.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{name} is {value}; it must be {expected}")]
pub struct InvalidSetting {
    /// Which one.
    pub name: &'static str,
    /// What it is.
    pub value: f64,
    /// What it may be.
    pub expected: &'static str,
}

impl From<NoLength> for RunError {
    fn from(error: NoLength) -> RunError {
        RunError::NoLength(Box::new(error))
    }
}

/// An error where the observer cancels.
pub(crate) fn go_on(observer: &dyn Observer) -> Result<(), RunError> {
    if observer.is_cancelled() { Err(RunError::Cancelled) } else { Ok(()) }
}
