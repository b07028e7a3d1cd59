//! The rounds of a run: the same loop for one rank and for several.
//!
//! A [`Group`] performs the phases of a round on all ranks. [`Alone`] is the group of a single
//! rank, which has nothing to exchange. Of a group of processes, one rank is here.

use super::rank::DeviceRank;
use ripplet_gpu::Device;
use ripplet_graph::Observer;
use ripplet_lp::engine::{Exchange, Finished, Rounds, SingleRank, run_phase};
use ripplet_lp::{Round, RunError, State};

/// How the ranks of a run work at the same time and exchange messages.
pub(super) trait Group<'a, D: Device> {
    /// Performs the phases of a round on each rank; returns the counts of each.
    ///
    /// # Errors
    /// If a rank fails. Ranks may then be gone.
    fn perform(&self, ranks: &mut Vec<DeviceRank<'a, D>>) -> Result<Vec<Round>, RunError>;

    /// Adds the active vertices of ranks of other processes to those of the ranks here, a bit each.
    ///
    /// # Errors
    /// If a message fails.
    fn add_active(&self, _words: &mut [u64]) -> Result<(), RunError> {
        Ok(())
    }
}

/// The group of a single rank.
pub(super) struct Alone;

impl<'a, D: Device> Group<'a, D> for Alone {
    fn perform(&self, ranks: &mut Vec<DeviceRank<'a, D>>) -> Result<Vec<Round>, RunError> {
        let count = |rank: &mut DeviceRank<'a, D>| {
            perform_phases(rank, &mut SingleRank)?;
            rank.count()
        };
        ranks.iter_mut().map(count).collect()
    }
}

/// Performs a rank's part of all phases of a round.
pub(super) fn perform_phases<'a, D: Device>(
    rank: &mut DeviceRank<'a, D>,
    exchange: &mut impl Exchange<DeviceRank<'a, D>>,
) -> Result<(), RunError> {
    for phase in 0..rank.phases() {
        rank.begin_phase(phase);
        run_phase(rank, exchange)?;
        rank.end_phase();
    }
    rank.end_round()
}

/// A run in progress.
pub(super) struct RankRounds<'a, D: Device, G> {
    /// The ranks; at least one.
    pub ranks: Vec<DeviceRank<'a, D>>,
    pub group: G,
    /// Seconds of moving the graph to all devices, beside those of each rank.
    pub transfer_seconds: f64,
}

impl<'a, D: Device> RankRounds<'a, D, Alone> {
    /// Returns the run of a single rank.
    pub fn alone(rank: DeviceRank<'a, D>) -> Self {
        RankRounds { ranks: vec![rank], group: Alone, transfer_seconds: 0.0 }
    }
}

impl<'a, D: Device, G: Group<'a, D>> Rounds for RankRounds<'a, D, G> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        if observer.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if let Some(round) = self.ranks[0].empty_round() {
            return Ok(round);
        }
        self.ranks.iter_mut().for_each(|rank| rank.begin_round(index));
        let counts = self.group.perform(&mut self.ranks)?;
        let round = counts.into_iter().reduce(Round::plus).unwrap_or_default();
        self.ranks.iter_mut().for_each(|rank| rank.expect_after(&round));
        Ok(round)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        self.ranks.iter_mut().try_for_each(DeviceRank::settle)?;
        let RankRounds { ranks, group, .. } = self;
        let read = |words: &mut [u64]| {
            ranks.iter().try_for_each(|rank| rank.read_active(words))?;
            group.add_active(words)
        };
        ranks[0].state_with(read)
    }

    /// Returns the labels and columns of the first rank; all ranks have the same.
    fn finish(mut self: Box<Self>) -> Result<Finished, RunError> {
        let others = self.ranks.split_off(1);
        let first = self.ranks.swap_remove(0);
        let moved: Vec<_> =
            others.into_iter().map(DeviceRank::finish_moving).collect::<Result<_, _>>()?;
        let mut finished = first.finish()?;
        for moved in moved {
            for (sum, its) in finished.lists_moved.iter_mut().zip(moved) {
                *sum = sum.plus(its);
            }
        }
        finished.transfer_seconds += self.transfer_seconds;
        Ok(finished)
    }
}
