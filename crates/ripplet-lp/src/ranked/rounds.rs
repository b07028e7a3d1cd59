//! A run in progress on a rank.

use super::link::{Link, Watched};
use super::locked;
use crate::ranks::{CpuRank, run_phase};
use crate::rounds::{Finished, Rounds};
use crate::{Round, RunError, State};
use ripplet_graph::Observer;
use std::borrow::Cow;

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
        let Round { changed, visited, scanned, nan_scores, fingerprint, .. } =
            self.state.end_round();
        let counts = [changed, visited, scanned, nan_scores, fingerprint.unwrap_or(0)];
        let sum = |a: [u64; 5], b: [u64; 5]| std::array::from_fn(|at| a[at].wrapping_add(b[at]));
        let [changed, visited, scanned, nan_scores, print] =
            locked(self.link.comm).all_reduce("counts", counts, sum)?;
        let fingerprint = fingerprint.map(|_| print);
        Ok(Round { changed, visited, scanned, nan_scores, fingerprint, ..Round::default() })
    }

    fn state(&mut self) -> Result<State<'_>, RunError> {
        self.link.gather(&mut *self.state, Some(&self.keepers))?;
        let state = self.state.state();
        let words = (0..).zip(&*state.active).filter(|&(_, &word)| word != 0);
        let own: Vec<u64> = words.flat_map(|(at, &word)| [at, word]).collect();
        let received = locked(self.link.comm).all_gather("active vertices", &own)?;
        let mut active = vec![0; state.active.len()];
        for pair in received.iter().flat_map(|words| words.chunks_exact(2)) {
            if let Some(word) = active.get_mut(pair[0] as usize) {
                *word |= pair[1];
            }
        }
        Ok(State { active: Cow::Owned(active), ..state })
    }

    fn finish(mut self: Box<Self>) -> Result<Finished, RunError> {
        let receivers = self.ends_at_first.then_some(&[0][..]);
        self.link.gather(&mut *self.state, receivers)?;
        drop(self.link);
        self.state.finish()
    }
}
