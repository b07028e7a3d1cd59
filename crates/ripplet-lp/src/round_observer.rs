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

/// An observer that passes all on to another one, adds a keeper, and does more after each round.
///
/// # Examples
/// ```
/// use ripplet_lp::{Executor, Relay, Round, Settings, cpu::CpuExecutor, programs::Lpa};
/// # let ids = ripplet_graph::VertexIds::Consecutive { first: 0, count: 2 };
/// # let edges = ripplet_graph::EdgeTable::new(ids, vec![0], vec![1])?;
/// # let graph = ripplet_graph::GraphBuilder::new().build(edges)?;
///
/// let mut changed = Vec::new();
/// let mut note = |round: &Round| changed.push(round.changed);
/// let mut relay = Relay { inner: &mut (), keeper: None, on_round: Some(&mut note) };
/// let executor = CpuExecutor::new(Some(1))?;
/// let found = executor.run(&graph, &Lpa::default(), &Settings::default(), &mut relay)?;
/// assert_eq!(changed.len(), found.rounds.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Relay<'a> {
    /// The observer that gets all events.
    pub inner: &'a mut dyn RoundObserver,
    /// The keeper; without one, that of the other observer.
    pub keeper: Option<&'a mut dyn Keeper>,
    /// Called after each round, before the other observer.
    pub on_round: Option<&'a mut (dyn FnMut(&Round) + Send + Sync)>,
}

impl Observer for Relay<'_> {
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

impl RoundObserver for Relay<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        if let Some(on_round) = &mut self.on_round {
            on_round(round);
        }
        self.inner.on_round(index, round);
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        match &mut self.keeper {
            Some(keeper) => Some(&mut **keeper),
            None => self.inner.keeper(),
        }
    }
}
