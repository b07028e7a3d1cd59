//! The observer of a run on ranks.

use super::locked;
use crate::{Keeper, NotKept, Round, RoundObserver, State};
use ripplet_graph::Observer;
use ripplet_ranks::Comm;
use std::sync::Mutex;

/// An observer whose checkpoints are due on all ranks at the same time.
pub(super) struct Together<'a> {
    pub inner: &'a mut dyn RoundObserver,
    pub comm: &'a Mutex<Comm>,
    /// Whether a rank has a keeper.
    pub keeps: bool,
}

impl Observer for Together<'_> {
    fn on_stage(&mut self, name: &'static str) {
        self.inner.on_stage(name);
    }

    fn on_progress(&self, done: f64) {
        self.inner.on_progress(done);
    }

    fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }
}

impl RoundObserver for Together<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.inner.on_round(index, round);
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        if self.keeps { Some(self) } else { None }
    }
}

impl Keeper for Together<'_> {
    fn is_due(&mut self, rounds: &[Round]) -> bool {
        let own = self.inner.keeper().is_some_and(|keeper| keeper.is_due(rounds));
        let any = locked(self.comm).all_reduce("due", u8::from(own), u8::max);
        // After an error, the next collective returns one.
        any.is_ok_and(|any| any > 0)
    }

    fn keep(&mut self, rounds: &[Round], state: State<'_>) -> Result<(), NotKept> {
        self.inner.keeper().map_or(Ok(()), |keeper| keeper.keep(rounds, state))
    }
}
