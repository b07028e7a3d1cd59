//! Stop rules of a run.

use crate::{Round, Schedule, StopReason};

/// The stop rules of a run, which ends at the first one that holds. A fixpoint (nothing changed)
/// always ends it.
///
/// ```
/// use ripplet_lp::Stop;
/// let stop = Stop::after(100).at_tolerance(0.001).at_oscillation();
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    max_rounds: u32,
    tolerance: Option<f64>,
    oscillation: bool,
}

impl Stop {
    /// Ends a run after this number of rounds.
    pub const fn after(rounds: u32) -> Stop {
        Stop { max_rounds: rounds, tolerance: None, oscillation: false }
    }

    /// Ends a run also if at most this share of the vertices changed in a round.
    pub const fn at_tolerance(mut self, share: f64) -> Stop {
        self.tolerance = Some(share);
        self
    }

    /// Ends a run also if the labels equal those of two rounds before. It requires a `sync`
    /// schedule.
    pub const fn at_oscillation(mut self) -> Stop {
        self.oscillation = true;
        self
    }

    /// Returns the largest number of rounds.
    pub fn max_rounds(self) -> u32 {
        self.max_rounds
    }

    /// Returns the tolerance as a share of the vertices, if there is one.
    pub fn tolerance(self) -> Option<f64> {
        self.tolerance
    }

    /// Returns the reason to stop after `rounds`, if there is one.
    pub(crate) fn reason(
        self,
        rounds: &[Round],
        vertices: u32,
        schedule: Schedule,
    ) -> Option<StopReason> {
        let done = rounds.len() as u64 >= u64::from(self.max_rounds);
        let Some(last) = rounds.last() else {
            return done.then_some(StopReason::RoundLimit);
        };
        if schedule.is_pick_less(rounds.len() as u32 - 1) {
            return done.then_some(StopReason::RoundLimit);
        }
        let tolerated = self.tolerance.map(|share| (share * f64::from(vertices)).floor() as u64);
        if last.changed == 0 {
            Some(StopReason::Fixpoint)
        } else if tolerated.is_some_and(|most| last.changed <= most) {
            Some(StopReason::Tolerance)
        } else if self.oscillation && oscillates(rounds) {
            Some(StopReason::Oscillation)
        } else {
            done.then_some(StopReason::RoundLimit)
        }
    }
}

impl Default for Stop {
    /// After 30 rounds, or if at most 0.1 % of the vertices changed, or at an oscillation.
    fn default() -> Self {
        Stop::after(30).at_tolerance(0.001).at_oscillation()
    }
}

/// Returns whether the labels after the last round equal those of two rounds before it.
pub(crate) fn oscillates(rounds: &[Round]) -> bool {
    match rounds {
        [.., before, _, last] => {
            before.fingerprint.is_some() && before.fingerprint == last.fingerprint
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(changed: &[u64]) -> Vec<Round> {
        changed.iter().map(|&changed| Round { changed, ..Round::default() }).collect()
    }

    #[test]
    fn the_first_rule_that_holds() {
        let stop = Stop::after(3).at_tolerance(0.01);
        assert_eq!(stop.reason(&rounds(&[]), 100, Schedule::sync()), None);
        assert_eq!(stop.reason(&rounds(&[50]), 100, Schedule::sync()), None);
        assert_eq!(
            stop.reason(&rounds(&[50, 1]), 100, Schedule::sync()),
            Some(StopReason::Tolerance)
        );
        assert_eq!(
            stop.reason(&rounds(&[50, 0]), 100, Schedule::sync()),
            Some(StopReason::Fixpoint)
        );
        assert_eq!(
            stop.reason(&rounds(&[50, 9, 9]), 100, Schedule::sync()),
            Some(StopReason::RoundLimit)
        );
        assert_eq!(
            Stop::after(0).reason(&rounds(&[]), 100, Schedule::sync()),
            Some(StopReason::RoundLimit)
        );
    }

    #[test]
    fn oscillation_needs_equal_fingerprints_two_rounds_apart() {
        let mut seen = rounds(&[5, 5, 5]);
        for (round, print) in seen.iter_mut().zip([7, 8, 7]) {
            round.fingerprint = Some(print);
        }
        let stop = Stop::after(9).at_oscillation();
        assert_eq!(stop.reason(&seen, 10, Schedule::sync()), Some(StopReason::Oscillation));
        assert_eq!(Stop::after(9).reason(&seen, 10, Schedule::sync()), None);
        seen[2].fingerprint = Some(9);
        assert_eq!(stop.reason(&seen, 10, Schedule::sync()), None);
    }
}
