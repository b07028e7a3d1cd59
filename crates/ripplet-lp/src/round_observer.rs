//! What follows a run, and may keep its states.

use crate::{Keeper, Round};
use ripplet_graph::Observer;

/// An observer of label propagation: it also follows the rounds, and may keep checkpoints.
///
/// `()` ignores all events and never cancels.
pub trait RoundObserver: Observer {
    /// Called after each round, counted from 0.
    fn on_round(&mut self, _index: usize, _round: &Round) {}

    /// Returns the [`Keeper`] of the run's checkpoints, if there is one.
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        None
    }
}

impl RoundObserver for () {}
