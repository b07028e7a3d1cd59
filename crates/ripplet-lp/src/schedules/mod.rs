//! Schedules: the order of updates, and the rule for ties.
//!
//! One file per order holds its definition, its parameters and what engines must know of it:
//!
//! | order | a vertex reads | deterministic | file |
//! |---|---|---|---|
//! | [`SyncOrder`] | the labels of the last round | yes | `sync.rs` |
//! | [`PhasedOrder`] | the labels of earlier phases | yes | `phased.rs` |
//! | [`AsyncOrder`] | the current labels | no | `asynchronous.rs` |
//!
//! Engines do not match on [`Order`]. They ask a [`Schedule`] for properties: [`visibility`],
//! [`phases`], [`is_pick_less`] and so on.
//!
//! [`visibility`]: Schedule::visibility
//! [`phases`]: Schedule::phases
//! [`is_pick_less`]: Schedule::is_pick_less

mod asynchronous;
mod phased;
mod sync;
mod ties;

pub use asynchronous::AsyncOrder;
pub use phased::{DEFAULT_PHASES, PhasedOrder};
pub(crate) use phased::{UnitSchedule, largest_phase};
pub use sync::SyncOrder;
pub use ties::Ties;

use std::num::NonZeroU32;

/// The order of updates, and the rule for ties.
///
/// All schedules update only active vertices: those with a neighbour that changed since their last
/// update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The order of updates.
    pub order: Order,
    /// The rule for ties.
    pub ties: Ties,
}

/// The order of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Synchronous: every vertex reads the labels of the last round.
    Sync(SyncOrder),
    /// Phased: a round updates the vertices in phases.
    Phased(PhasedOrder),
    /// Asynchronous: each vertex reads the current labels.
    Async(AsyncOrder),
}

/// The changes of other vertices that a vertex sees when it is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Changes of earlier rounds. Labels are double-buffered.
    LastRound,
    /// Changes of earlier rounds and of earlier phases of the round. The choices of a phase are
    /// buffered.
    EarlierPhases,
    /// All changes so far. Labels change in place.
    Current,
}

/// Order of updates, as engines use it.
pub(crate) trait UpdateOrder {
    /// Returns the name as the command line reads it.
    fn name(&self) -> &'static str;

    /// Returns the order in a few words, for the command's help.
    fn summary(&self) -> &'static str;

    /// Returns the order in words, for reports.
    fn description(&self) -> String;

    /// Returns the changes that a vertex sees.
    fn visibility(&self) -> Visibility;

    /// Returns the number of phases per round.
    fn phases(&self) -> u32 {
        1
    }

    /// Returns whether vertices may adopt only smaller labels in a round.
    fn is_pick_less(&self, _round: u32) -> bool {
        false
    }

    /// Returns the parameter, if there is one and it has a value.
    fn parameter(&self) -> Option<Parameter> {
        None
    }
}

/// A parameter of an order, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Phases per round; see [`PhasedOrder`].
    Phases(u32),
    /// The period of pick-less rounds; see [`AsyncOrder::pick_less`].
    PickLess(NonZeroU32),
}

impl Order {
    fn properties(&self) -> &dyn UpdateOrder {
        match self {
            Order::Sync(order) => order,
            Order::Phased(order) => order,
            Order::Async(order) => order,
        }
    }
}

impl Schedule {
    /// The schedules that a user may choose by [name](Schedule::name).
    pub const NAMED: [Schedule; 3] =
        [Schedule::sync(), Schedule::phased(), Schedule::asynchronous()];

    /// The schedules that a program may declare, by the names of their functions.
    const DECLARED: [(&str, Schedule); 4] = [
        ("phased", Schedule::phased()),
        ("sync", Schedule::sync()),
        ("asynchronous", Schedule::asynchronous()),
        ("cdlp", Schedule::cdlp()),
    ];

    const fn of(order: Order) -> Schedule {
        Schedule { order, ties: Ties::Hashed }
    }

    /// Returns the [synchronous](SyncOrder) schedule with hashed ties.
    pub const fn sync() -> Schedule {
        Schedule::of(Order::Sync(SyncOrder))
    }

    /// Returns the [phased](PhasedOrder) schedule with [`DEFAULT_PHASES`] and hashed ties: the
    /// default.
    pub const fn phased() -> Schedule {
        Schedule::phased_in(DEFAULT_PHASES)
    }

    /// Returns the [phased](PhasedOrder) schedule with this number of phases per round and hashed
    /// ties.
    pub const fn phased_in(phases: u32) -> Schedule {
        Schedule::of(Order::Phased(PhasedOrder { phases }))
    }

    /// Returns the [asynchronous](AsyncOrder) schedule with hashed ties and no pick-less rounds.
    pub const fn asynchronous() -> Schedule {
        Schedule::asynchronous_with(None)
    }

    /// Returns the [asynchronous](AsyncOrder) schedule with hashed ties and this period of
    /// pick-less rounds.
    pub const fn asynchronous_with(pick_less: Option<NonZeroU32>) -> Schedule {
        Schedule::of(Order::Async(AsyncOrder { pick_less }))
    }

    /// Returns the schedule of LDBC's CDLP: synchronous, the smallest label wins a tie.
    pub const fn cdlp() -> Schedule {
        Schedule { ties: Ties::Smallest, ..Schedule::sync() }
    }

    /// Returns the schedule that the function of this name returns, of those that a program may
    /// declare: `phased`, `sync`, `asynchronous` and `cdlp`.
    pub fn declared(function: &str) -> Option<Schedule> {
        Schedule::DECLARED.iter().find(|(name, _)| *name == function).map(|&(_, schedule)| schedule)
    }

    /// Returns the schedule with this number of phases per round, if its order has phases.
    pub fn with_phases(self, phases: u32) -> Option<Schedule> {
        match self.order {
            Order::Phased(_) => Some(Schedule { ties: self.ties, ..Schedule::phased_in(phases) }),
            _ => None,
        }
    }

    /// Returns the schedule with the number of phases of another, if both have phases.
    #[must_use]
    pub fn with_phases_of(self, other: Schedule) -> Schedule {
        match other.order {
            Order::Phased(_) => self.with_phases(other.phases()).unwrap_or(self),
            _ => self,
        }
    }

    /// Returns the schedule with this period of pick-less rounds, if its order may have such
    /// rounds.
    pub fn with_pick_less(self, pick_less: Option<NonZeroU32>) -> Option<Schedule> {
        match self.order {
            Order::Async(_) => {
                Some(Schedule { ties: self.ties, ..Schedule::asynchronous_with(pick_less) })
            }
            _ => None,
        }
    }

    /// Returns the schedule of this name, of [`Schedule::NAMED`].
    pub fn named(name: &str) -> Option<Schedule> {
        Schedule::NAMED.into_iter().find(|schedule| schedule.name() == name)
    }

    /// Returns the name as the command line reads it.
    pub fn name(self) -> &'static str {
        self.order.properties().name()
    }

    /// Returns the order in a few words, for the command's help.
    pub fn summary(self) -> &'static str {
        self.order.properties().summary()
    }

    /// Returns the order and the rule for ties in words, for reports.
    pub fn description(self) -> String {
        self.ties.describe(self.order.properties().description())
    }

    /// Returns the changes of other vertices that a vertex sees when it is updated.
    pub fn visibility(self) -> Visibility {
        self.order.properties().visibility()
    }

    /// Returns the number of phases per round: 1 unless the order is [phased](PhasedOrder). It is 0
    /// only in settings that [`Settings::check`](crate::Settings::check) refuses.
    pub fn phases(self) -> u32 {
        self.order.properties().phases()
    }

    /// Returns the parameter of the order, if there is one and it has a value.
    pub fn parameter(self) -> Option<Parameter> {
        self.order.properties().parameter()
    }

    /// Returns whether labels are the same bytes for any number of threads and any device.
    pub fn is_deterministic(self) -> bool {
        !self.is_in_place()
    }

    /// Returns whether labels change in place: a vertex sees [all changes](Visibility::Current) so
    /// far.
    pub fn is_in_place(self) -> bool {
        self.visibility() == Visibility::Current
    }

    /// Returns whether all vertices choose before one changes, in every round. Such rounds have a
    /// [`fingerprint`](crate::Round::fingerprint), by which a run detects oscillation.
    pub fn is_traced(self) -> bool {
        self.visibility() == Visibility::LastRound
    }

    /// Returns whether vertices may adopt only smaller labels in a round.
    pub fn is_pick_less(self, round: u32) -> bool {
        self.order.properties().is_pick_less(round)
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule::phased()
    }
}

impl Parameter {
    /// Returns the name as the command line reads it.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::Phases(_) => "phases",
            Parameter::PickLess(_) => "pick-less",
        }
    }

    /// Returns the value.
    pub fn value(self) -> u32 {
        match self {
            Parameter::Phases(phases) => phases,
            Parameter::PickLess(every) => every.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_each_order() {
        let every = NonZeroU32::new(4);
        let of = |schedule: Schedule| {
            let parameter = schedule.parameter().map(|of| (of.name(), of.value()));
            (schedule.name(), schedule.visibility(), schedule.phases(), parameter)
        };
        assert_eq!(of(Schedule::cdlp()), ("sync", Visibility::LastRound, 1, None));
        let phased = ("phased", Visibility::EarlierPhases, 5, Some(("phases", 5)));
        assert_eq!(of(Schedule::phased_in(5)), phased);
        assert_eq!(of(Schedule::asynchronous()), ("async", Visibility::Current, 1, None));
        let pick_less = Schedule::asynchronous_with(every);
        assert_eq!(of(pick_less), ("async", Visibility::Current, 1, Some(("pick-less", 4))));
        assert_eq!(
            [0, 1, 4, 6].map(|round| pick_less.is_pick_less(round)),
            [true, false, true, false]
        );
        assert!(!pick_less.is_deterministic() && Schedule::phased().is_deterministic());
    }

    #[test]
    fn parameters_are_set_where_the_order_has_them() {
        assert_eq!(Schedule::phased().with_phases(5), Some(Schedule::phased_in(5)));
        assert_eq!(Schedule::sync().with_phases(5), None);
        let five = Schedule::phased_in(5);
        assert_eq!(Schedule::phased().with_phases_of(five), five);
        assert_eq!(Schedule::sync().with_phases_of(five), Schedule::sync());
        assert_eq!(five.with_phases_of(Schedule::sync()), five);
        let every = NonZeroU32::new(4);
        let pick_less = Schedule::asynchronous().with_pick_less(every);
        assert_eq!(pick_less, Some(Schedule::asynchronous_with(every)));
        assert_eq!(Schedule::phased().with_pick_less(every), None);
    }

    #[test]
    fn declared_schedules_have_names() {
        assert_eq!(Schedule::declared("asynchronous"), Some(Schedule::asynchronous()));
        assert_eq!(Schedule::declared("async"), None);
        assert_eq!(Schedule::named("async"), Some(Schedule::asynchronous()));
        assert_eq!(Schedule::named("cdlp"), None);
    }
}
