//! Stop rules of a run: values that combine by `and` and `or`.
//!
//! A [`StopRule`] reads the counts of the rounds so far. [`RoundLimit`], [`Tolerance`],
//! [`Oscillation`] and [`Fixpoint`] are rules, [`when`] makes one of a closure. A [`Stop`] is the
//! rule of a run.

use crate::{Round, Schedule, SettingsError, StopReason};
use std::fmt;
use std::sync::Arc;

/// The default limit of rounds.
pub const DEFAULT_ROUNDS: u32 = 30;

/// The default [`Tolerance`].
pub const DEFAULT_TOLERANCE: f64 = 0.001;

/// The stop rule of a run. A fixpoint (nothing changed) always ends it.
///
/// If several rules hold, the reason is the one that comes first in [`StopReason`].
///
/// # Examples
/// ```
/// use ripplet_lp::Stop;
/// use ripplet_lp::stop::{StopRule, Tolerance, when};
///
/// let usual = Stop::after(100).at_tolerance(0.001).at_oscillation();
/// // Also after two quiet rounds with at most 1 % of changes, or after a second.
/// let few = when("two quiet rounds", |progress| {
///     let quiet = |round: &ripplet_lp::Round| round.changed < 100;
///     matches!(progress.rounds(), [.., a, b] if quiet(a) && quiet(b))
/// });
/// let slow = when("a second", |progress| {
///     progress.rounds().iter().map(|round| round.seconds).sum::<f64>() > 1.0
/// });
/// let stop = usual.or(few.and(Tolerance(0.01))).or(slow);
/// assert_eq!(stop.max_rounds(), Some(100));
/// ```
#[derive(Clone, Debug)]
pub struct Stop {
    rule: Arc<dyn StopRule>,
}

/// The counts of a run that stop rules read.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    rounds: &'a [Round],
    vertices: u32,
    schedule: Schedule,
}

/// A rule that says when a run ends.
pub trait StopRule: fmt::Debug + Send + Sync {
    /// Returns the reason to stop after these rounds, if there is one. It is also called before the
    /// first round.
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason>;

    /// Returns the largest number of rounds that the rule allows, if there is one.
    fn max_rounds(&self) -> Option<u32> {
        None
    }

    /// Returns the share of changed vertices at which the rule holds, if there is one.
    fn tolerance(&self) -> Option<f64> {
        None
    }

    /// Checks the rule's parameters before a run.
    ///
    /// # Errors
    /// If a parameter is out of range.
    fn check(&self) -> Result<(), SettingsError> {
        Ok(())
    }

    /// Returns a rule that holds if both rules hold.
    fn and<R: StopRule>(self, other: R) -> And<Self, R>
    where
        Self: Sized,
    {
        And(self, other)
    }

    /// Returns a rule that holds if one of the rules holds.
    fn or<R: StopRule>(self, other: R) -> Or<Self, R>
    where
        Self: Sized,
    {
        Or(self, other)
    }
}

/// Holds after this number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundLimit(pub u32);

/// Holds if nothing changed in the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixpoint;

/// Holds if at most this share of the vertices changed in the last round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(pub f64);

/// Holds if the labels equal those of two rounds before. It requires a `sync` schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oscillation;

/// Holds if both rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct And<A, B>(A, B);

/// Holds if one of the rules holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Or<A, B>(A, B);

/// A rule of a closure; see [`when`].
#[derive(Clone)]
pub struct When<F> {
    name: &'static str,
    holds: F,
}

/// Returns a rule that holds if `holds` returns true after a round; `name` is its
/// [reason](StopReason::Rule). It does not hold after a
/// [pick-less](crate::schedules::AsyncOrder::pick_less) round.
pub fn when<F: Fn(&Progress<'_>) -> bool + Send + Sync>(name: &'static str, holds: F) -> When<F> {
    When { name, holds }
}

impl<'a> Progress<'a> {
    /// Returns the counts of the rounds so far.
    pub fn rounds(&self) -> &'a [Round] {
        self.rounds
    }

    /// Returns the number of vertices of the graph.
    pub fn vertices(&self) -> u32 {
        self.vertices
    }

    /// Returns the counts of the last round. There are none before the first round, and after a
    /// [pick-less](crate::schedules::AsyncOrder::pick_less) round, in which few changes do not mean
    /// that labels settle.
    pub fn last(&self) -> Option<&'a Round> {
        let last = self.rounds.last()?;
        let index = self.rounds.len() as u32 - 1;
        (!self.schedule.is_pick_less(index)).then_some(last)
    }
}

impl StopRule for RoundLimit {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        let done = progress.rounds.len() as u64 >= u64::from(self.0);
        done.then_some(StopReason::RoundLimit)
    }

    fn max_rounds(&self) -> Option<u32> {
        Some(self.0)
    }
}

impl StopRule for Fixpoint {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        (progress.last()?.changed == 0).then_some(StopReason::Fixpoint)
    }
}

impl StopRule for Tolerance {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        let most = (self.0 * f64::from(progress.vertices)).floor() as u64;
        (progress.last()?.changed <= most).then_some(StopReason::Tolerance)
    }

    fn tolerance(&self) -> Option<f64> {
        Some(self.0)
    }

    fn check(&self) -> Result<(), SettingsError> {
        match (0.0..=1.0).contains(&self.0) {
            true => Ok(()),
            false => Err(SettingsError::BadTolerance(self.0)),
        }
    }
}

impl StopRule for Oscillation {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        progress.last()?;
        oscillates(progress.rounds).then_some(StopReason::Oscillation)
    }
}

impl<F: Fn(&Progress<'_>) -> bool + Send + Sync> StopRule for When<F> {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        progress.last()?;
        (self.holds)(progress).then_some(StopReason::Rule(self.name))
    }
}

impl<F> fmt::Debug for When<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("When").field(&self.name).finish()
    }
}

impl<A: StopRule, B: StopRule> StopRule for And<A, B> {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        Some(self.0.reason(progress)?.min(self.1.reason(progress)?))
    }

    fn max_rounds(&self) -> Option<u32> {
        Some(self.0.max_rounds()?.max(self.1.max_rounds()?))
    }

    fn check(&self) -> Result<(), SettingsError> {
        self.0.check().and_then(|()| self.1.check())
    }
}

impl<A: StopRule, B: StopRule> StopRule for Or<A, B> {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        let both = [self.0.reason(progress), self.1.reason(progress)];
        both.into_iter().flatten().min()
    }

    fn max_rounds(&self) -> Option<u32> {
        [self.0.max_rounds(), self.1.max_rounds()].into_iter().flatten().min()
    }

    fn tolerance(&self) -> Option<f64> {
        let both = [self.0.tolerance(), self.1.tolerance()];
        both.into_iter().flatten().reduce(f64::max)
    }

    fn check(&self) -> Result<(), SettingsError> {
        self.0.check().and_then(|()| self.1.check())
    }
}

impl StopRule for Stop {
    fn reason(&self, progress: &Progress<'_>) -> Option<StopReason> {
        self.rule.reason(progress)
    }

    fn max_rounds(&self) -> Option<u32> {
        self.rule.max_rounds()
    }

    fn tolerance(&self) -> Option<f64> {
        self.rule.tolerance()
    }

    fn check(&self) -> Result<(), SettingsError> {
        self.rule.check()
    }
}

impl Stop {
    /// Ends a run by this rule, or at a fixpoint.
    pub fn by(rule: impl StopRule + 'static) -> Stop {
        Stop { rule: Arc::new(Fixpoint.or(rule)) }
    }

    /// Ends a run after this number of rounds.
    pub fn after(rounds: u32) -> Stop {
        Stop::by(RoundLimit(rounds))
    }

    /// Ends a run also if at most this share of the vertices changed in a round.
    #[must_use]
    pub fn at_tolerance(self, share: f64) -> Stop {
        self.or(Tolerance(share))
    }

    /// Ends a run also if the labels equal those of two rounds before. It requires a `sync`
    /// schedule.
    #[must_use]
    pub fn at_oscillation(self) -> Stop {
        self.or(Oscillation)
    }

    /// Ends a run also by this rule.
    #[must_use]
    pub fn or(self, rule: impl StopRule + 'static) -> Stop {
        Stop { rule: Arc::new(Or(self, rule)) }
    }

    /// Returns the largest number of rounds, if there is one.
    pub fn max_rounds(&self) -> Option<u32> {
        self.rule.max_rounds()
    }

    /// Returns the tolerance as a share of the vertices, if there is one.
    pub fn tolerance(&self) -> Option<f64> {
        self.rule.tolerance()
    }

    /// Returns the reason to stop after `rounds`, if there is one.
    pub(crate) fn reason_after(
        &self,
        rounds: &[Round],
        vertices: u32,
        schedule: Schedule,
    ) -> Option<StopReason> {
        self.rule.reason(&Progress { rounds, vertices, schedule })
    }
}

impl Default for Stop {
    /// Ends a run after [`DEFAULT_ROUNDS`], at [`DEFAULT_TOLERANCE`], or at an oscillation.
    fn default() -> Self {
        Stop::after(DEFAULT_ROUNDS).at_tolerance(DEFAULT_TOLERANCE).at_oscillation()
    }
}

/// Returns whether the labels after the last round equal those of two rounds before it.
fn oscillates(rounds: &[Round]) -> bool {
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
    use std::num::NonZeroU32;

    fn rounds(changed: &[u64]) -> Vec<Round> {
        changed.iter().map(|&changed| Round { changed, ..Round::default() }).collect()
    }

    /// Returns the reason to stop after rounds with these numbers of changes, of 100 vertices.
    fn reason(stop: &Stop, changed: &[u64]) -> Option<StopReason> {
        stop.reason_after(&rounds(changed), 100, Schedule::sync())
    }

    #[test]
    fn the_first_rule_that_holds() {
        let stop = Stop::after(3).at_tolerance(0.01);
        assert_eq!(reason(&stop, &[]), None);
        assert_eq!(reason(&stop, &[50]), None);
        assert_eq!(reason(&stop, &[50, 1]), Some(StopReason::Tolerance));
        assert_eq!(reason(&stop, &[50, 0]), Some(StopReason::Fixpoint));
        assert_eq!(reason(&stop, &[50, 9, 9]), Some(StopReason::RoundLimit));
        assert_eq!(reason(&Stop::after(0), &[]), Some(StopReason::RoundLimit));
    }

    #[test]
    fn oscillation_needs_equal_fingerprints_two_rounds_apart() {
        let mut seen = rounds(&[5, 5, 5]);
        for (round, print) in seen.iter_mut().zip([7, 8, 7]) {
            round.fingerprint = Some(print);
        }
        let after = |stop: Stop, seen: &[Round]| stop.reason_after(seen, 10, Schedule::sync());
        let stop = Stop::after(9).at_oscillation();
        assert_eq!(after(stop.clone(), &seen), Some(StopReason::Oscillation));
        assert_eq!(after(Stop::after(9), &seen), None);
        // The tolerance comes first, whatever the order of the rules.
        let both = Stop::after(9).at_oscillation().at_tolerance(0.5);
        assert_eq!(after(both, &seen), Some(StopReason::Tolerance));
        seen[2].fingerprint = Some(9);
        assert_eq!(after(stop, &seen), None);
    }

    #[test]
    fn only_the_limit_of_rounds_holds_after_a_pick_less_round() {
        let schedule = Schedule::asynchronous_with(NonZeroU32::new(2));
        let stop = Stop::after(3).at_tolerance(1.0).or(when("always", |_| true));
        let after = |changed: &[u64]| stop.reason_after(&rounds(changed), 100, schedule);
        assert_eq!(after(&[0]), None);
        assert_eq!(after(&[0, 5]), Some(StopReason::Tolerance));
        assert_eq!(after(&[5, 5, 0]), Some(StopReason::RoundLimit));
    }

    #[test]
    fn rules_combine() {
        let fell = when(
            "it fell",
            |progress| matches!(progress.rounds(), [.., a, b] if b.changed < a.changed),
        );
        let stop = Stop::by(fell.clone().and(Tolerance(0.1)));
        assert_eq!(reason(&stop, &[20, 15]), None);
        assert_eq!(reason(&stop, &[5, 6]), None);
        assert_eq!(reason(&stop, &[20, 9]), Some(StopReason::Tolerance));
        assert_eq!(reason(&stop, &[5, 0]), Some(StopReason::Fixpoint));
        assert_eq!((stop.max_rounds(), stop.tolerance()), (None, None));
        let stop = Stop::after(9).or(fell);
        assert_eq!(reason(&stop, &[20, 9]), Some(StopReason::Rule("it fell")));
        assert_eq!(format!("{stop:?}").matches("it fell").count(), 1);
        let limits = RoundLimit(4).and(RoundLimit(6));
        assert_eq!(Stop::by(limits).or(RoundLimit(9)).max_rounds(), Some(6));
        let bad = Stop::after(9).or(RoundLimit(3).and(Tolerance(2.0)));
        assert_eq!(StopRule::check(&bad), Err(SettingsError::BadTolerance(2.0)));
    }
}
