//! A run in progress on a rank.

use super::link::{Link, Watched};
use super::locked;
use crate::ranks::{CpuRank, run_phase};
use crate::rounds::{Finished, Rounds};
use crate::{Round, RunError, State};
use ripplet_graph::Observer;
use ripplet_ranks::Comm;
use std::borrow::Cow;
use std::sync::Mutex;

/// A run in progress on a rank.
pub(super) struct RankRounds<'a> {
    pub state: Box<dyn CpuRank + 'a>,
    pub link: Link<'a>,
    pub phases: u32,
    /// The ranks that keep states.
    pub keepers: Vec<usize>,
    /// Whether rank 0 alone needs the labels of all vertices after the rounds.
    pub ends_at_first: bool,
}

impl Rounds for RankRounds<'_> {
    fn round(&mut self, index: u32, observer: &dyn Observer) -> Result<Round, RunError> {
        self.state.begin_round(index);
        for _ in 0..self.phases {
            let mut watched = Watched { rank: &mut *self.state, observer };
            run_phase(&mut watched, &mut self.link)?;
        }
        sum_of_ranks(self.state.end_round(), self.link.comm)
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        self.link.gather(&mut *self.state, Some(&self.keepers))?;
        let state = self.state.state();
        let mut active = state.active.into_owned();
        join_active(&mut active, self.link.comm)?;
        Ok(State { active: Cow::Owned(active), ..state })
    }

    fn finish(mut self: Box<Self>) -> Result<Finished, RunError> {
        let receivers = self.ends_at_first.then_some(&[0][..]);
        self.link.gather(&mut *self.state, receivers)?;
        drop(self.link);
        self.state.finish()
    }
}

/// Returns the counts of a round on all ranks, from those of each, which call it at the same time.
///
/// # Errors
/// If a message fails.
pub fn sum_of_ranks(own: Round, comm: &Mutex<Comm>) -> Result<Round, RunError> {
    let Round { changed, visited, scanned, nan_scores, fingerprint, .. } = own;
    let counts = [changed, visited, scanned, nan_scores, fingerprint.unwrap_or(0)];
    let sum = |a: [u64; 5], b: [u64; 5]| std::array::from_fn(|at| a[at].wrapping_add(b[at]));
    let [changed, visited, scanned, nan_scores, print] =
        locked(comm).all_reduce("counts", counts, sum)?;
    let fingerprint = fingerprint.map(|_| print);
    Ok(Round { changed, visited, scanned, nan_scores, fingerprint, ..Round::default() })
}

/// Adds the active vertices of all other ranks to those of this one, a bit each; all ranks call it at the same time.
///
/// # Errors
/// If a message fails.
pub fn join_active(words: &mut [u64], comm: &Mutex<Comm>) -> Result<(), RunError> {
    let set = (0..).zip(&*words).filter(|&(_, &word)| word != 0);
    let own: Vec<u64> = set.flat_map(|(at, &word)| [at, word]).collect();
    let received = locked(comm).all_gather("active vertices", &own)?;
    for pair in received.iter().flat_map(|words| words.chunks_exact(2)) {
        if let Some(word) = words.get_mut(pair[0] as usize) {
            *word |= pair[1];
        }
    }
    Ok(())
}
