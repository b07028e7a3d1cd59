//! Move rounds: vertices move to the neighbouring community of the largest gain.
//!
//! ```text
//! each round, in phases, each active vertex v:
//!     v becomes inactive
//!     w[l] = the weight of v's arcs to the other members of community l
//!     gain(l) = attraction · w[l] − repulsion · mass[v] · (mass of l without v)
//!     v moves to the community of the largest gain
//!         its own wins ties, then the smallest hash(l, v, round)
//!         if all gains are below 0 and no community has label v, to a community of its own
//!     neighbours of v that are not in its new community become active
//! ```
//!
//! Fixed vertices stay where they are, and communities of limited size admit as many as they have room
//! for.

use super::level::Level;
use super::partition::{Partition, Unlimited};
use super::phases::{Change, Phases, Workers};
use super::score::{Gain, GainFactors};
use super::sizes::Room;
use super::steps::{Counts, Draw};
use super::tally::Tally;
use crate::hash::mix;
use crate::{Label, RunError};
use ripplet_graph::{Observer, VertexId};

/// A round in which vertices move, by any rule.
pub(super) struct MoveRound<'a, L> {
    pub level: &'a L,
    pub partition: &'a Partition,
    pub workers: &'a Workers<'a>,
    pub observer: &'a dyn Observer,
    /// Whether all vertices stay active: where nearly all move, to find out who need not be updated
    /// costs more than to update all.
    pub keeps_active: bool,
}

impl<L: Level> MoveRound<'_, L> {
    /// Performs the round; `choose` returns the new label of a vertex, if it moves, and the number of
    /// arcs read.
    pub fn perform(
        &self,
        phases: &mut Phases,
        draw: Draw,
        choose: impl Fn(VertexId, &mut Tally) -> (Option<Label>, u64) + Sync,
    ) -> Result<Counts, RunError> {
        let MoveRound { level, partition, workers, .. } = self;
        let team = workers.team;
        phases.begin_round(team, level.vertices(), draw, Some(partition));
        let mut counts = Counts::default();
        for phase in 0..draw.phases as usize {
            let chosen = phases.choose(phase, partition, workers, self.observer, |v, tally| {
                partition.keep_active(v, self.keeps_active);
                choose(v, tally)
            })?;
            counts = counts.plus(chosen);
            if let Some(sizes) = &partition.sizes {
                counts.changed -= phases.admit(team, partition, sizes, draw)?;
            }
            let activate: &(dyn Fn(Change) + Sync) = &|change| self.activate_neighbors(change);
            let activate = (!self.keeps_active).then_some(activate);
            phases.commit(team, &level.all_masses(), partition, activate);
        }
        Ok(counts)
    }

    /// Activates the neighbours of a moved vertex outside its community.
    fn activate_neighbors(&self, Change { vertex, label }: Change) {
        let MoveRound { level, partition, .. } = self;
        for (u, _) in level.arcs(vertex) {
            if partition.label(u) != label {
                partition.activate(u);
            }
        }
    }
}

/// A round in which vertices move to the community of the largest gain.
pub(super) struct Moves<'a, L, T> {
    pub round: MoveRound<'a, L>,
    pub factors: GainFactors<T>,
}

impl<L: Level, T: Gain> Moves<'_, L, T> {
    /// Performs the round.
    pub fn perform(&self, phases: &mut Phases, draw: Draw) -> Result<Counts, RunError> {
        let (tie_key, partition) = (mix(draw.key), self.round.partition);
        let unlimited = Unlimited(partition);
        match &partition.sizes {
            None => self
                .round
                .perform(phases, draw, |v, tally| self.choose(v, tally, tie_key, &unlimited)),
            Some(sizes) => {
                self.round.perform(phases, draw, |v, tally| self.choose(v, tally, tie_key, sizes))
            }
        }
    }

    /// Returns the new label of a vertex, if it moves, and the number of arcs read.
    #[inline]
    fn choose<R: Room>(
        &self,
        v: VertexId,
        tally: &mut Tally,
        tie_key: u32,
        room: &R,
    ) -> (Option<Label>, u64) {
        let MoveRound { level, partition, keeps_active, .. } = self.round;
        let (own, mass, degree) = (partition.label(v), level.mass(v), level.degree(v));
        let mut sums = tally.begin();
        for (u, weight) in level.arcs(v) {
            sums.add(partition.label(u), weight);
        }
        let gains = self.factors.of_vertex(mass);
        let (mut best, mut best_gain) = (own, None);
        for (label, weight) in sums.each() {
            if label == own {
                continue;
            }
            let gain = gains.gain(weight, partition.mass::<L::Null>(label));
            let wins = match best_gain {
                None => true,
                Some(best_gain) if gain == best_gain => {
                    let hash = |label: Label| mix(label ^ mix(v ^ tie_key));
                    hash(label) < hash(best)
                }
                Some(best_gain) => gain > best_gain,
            };
            if wins && room.admits(label, v) {
                (best, best_gain) = (label, Some(gain));
            }
        }
        let others = partition.mass::<L::Null>(own).without(mass);
        let own_gain = gains.gain(sums.of(own), others);
        let (best, best_gain) = match best_gain {
            Some(gain) if gain > own_gain => (best, gain),
            _ => (own, own_gain),
        };
        // Label v is free if no community has it; a vertex that is alone stays.
        let leaves = best_gain < T::ZERO && others.sum > 0 && room.is_empty(v);
        let label = if leaves { v } else { best };
        // A moved vertex has its arcs read again, to activate its neighbours.
        let moves = label != own;
        let scans = if moves && !keeps_active { 2 } else { 1 };
        (moves.then_some(label), scans * u64::from(degree))
    }
}
