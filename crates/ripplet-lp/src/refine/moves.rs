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

use super::level::Level;
use super::phases::{Change, Phases, READ_PER_TASK, Team};
use super::score::{Gain, GainFactors};
use super::steps::{Counts, Draw};
use super::tally::Tally;
use crate::crew::Crew;
use crate::hash::mix;
use crate::{Label, RunError};
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Observer, VertexId};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// A partition of a level's vertices, while it changes.
pub(super) struct Partition {
    /// The community of each vertex: below the number of vertices.
    pub labels: Vec<AtomicU32>,
    /// The sum of the members' masses, by label.
    pub totals: Vec<AtomicU64>,
    /// Whether a vertex is updated in the next round.
    pub active: Vec<AtomicBool>,
}

impl Partition {
    /// Creates the partition with these labels; all vertices are active.
    pub fn new(crew: &Crew, labels: Vec<Label>, masses: &[u64]) -> Result<Partition, OutOfMemory> {
        let vertices = labels.len();
        let labels = labels.into_iter().map(AtomicU32::new).collect();
        let mut totals = memory::with_room(vertices)?;
        totals.resize_with(vertices, AtomicU64::default);
        let mut active = memory::with_room(vertices)?;
        active.resize_with(vertices, || AtomicBool::new(true));
        let partition = Partition { labels, totals, active };
        partition.sum_up(crew, masses);
        Ok(partition)
    }

    /// Returns the bytes of a partition.
    pub fn bytes_for(vertices: u64) -> u64 {
        13 * vertices
    }

    /// Computes the totals of the communities.
    fn sum_up(&self, crew: &Crew, masses: &[u64]) {
        crew.ranges(masses.len(), READ_PER_TASK, |range| {
            for (label, &mass) in self.labels[range.clone()].iter().zip(&masses[range]) {
                self.totals[label.load(Relaxed) as usize].fetch_add(mass, Relaxed);
            }
        });
    }

    /// Returns the community of a vertex.
    #[inline]
    pub fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize].load(Relaxed)
    }

    /// Returns the mass of a community.
    #[inline]
    pub fn total(&self, label: Label) -> u64 {
        self.totals[label as usize].load(Relaxed)
    }

    /// Adds a mass to that of a community, modulo 2⁶⁴; no other thread may do so at the same time.
    #[inline]
    pub fn add(&self, label: Label, mass: u64) {
        let total = &self.totals[label as usize];
        total.store(total.load(Relaxed).wrapping_add(mass), Relaxed);
    }

    /// Activates a vertex.
    #[inline]
    pub fn activate(&self, v: VertexId) {
        let active = &self.active[v as usize];
        if !active.load(Relaxed) {
            active.store(true, Relaxed);
        }
    }

    /// Makes every vertex a community of its own.
    pub fn separate(&self, crew: &Crew, masses: &[u64]) {
        crew.ranges(masses.len(), READ_PER_TASK, |range| {
            for v in range {
                self.labels[v].store(v as Label, Relaxed);
                self.totals[v].store(masses[v], Relaxed);
            }
        });
    }

    /// Returns whether every vertex is a community of its own.
    pub fn is_singletons(&self) -> bool {
        self.labels.iter().enumerate().all(|(v, label)| label.load(Relaxed) as usize == v)
    }
}

/// A round in which vertices move, by any rule.
pub(super) struct MoveRound<'a, L> {
    pub level: &'a L,
    pub partition: &'a Partition,
    pub team: &'a Team<'a>,
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
        let MoveRound { level, partition, team, .. } = self;
        let (active, crew) = (&partition.active, team.crew);
        phases.begin_round(crew, level.vertices(), draw, |v| active[v as usize].load(Relaxed));
        let mut counts = Counts::default();
        for phase in 0..draw.phases as usize {
            let chosen = phases.choose(phase, partition, team, self.observer, |v, tally| {
                active[v as usize].store(self.keeps_active, Relaxed);
                choose(v, tally)
            })?;
            counts = counts.plus(chosen);
            let activate = |change| self.activate_neighbors(change);
            phases.commit(crew, *level, partition, (!self.keeps_active).then_some(activate));
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
        let tie_key = mix(draw.key);
        self.round.perform(phases, draw, |v, tally| self.choose(v, tally, tie_key))
    }

    /// Returns the new label of a vertex, if it moves, and the number of arcs read.
    #[inline]
    fn choose(&self, v: VertexId, tally: &mut Tally, tie_key: u32) -> (Option<Label>, u64) {
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
            let gain = gains.gain(weight, partition.total(label));
            let wins = match best_gain {
                None => true,
                Some(best_gain) if gain == best_gain => {
                    let hash = |label: Label| mix(label ^ mix(v ^ tie_key));
                    hash(label) < hash(best)
                }
                Some(best_gain) => gain > best_gain,
            };
            if wins {
                (best, best_gain) = (label, Some(gain));
            }
        }
        let others = partition.total(own) - mass;
        let own_gain = gains.gain(sums.of(own), others);
        let (best, best_gain) = match best_gain {
            Some(gain) if gain > own_gain => (best, gain),
            _ => (own, own_gain),
        };
        // Label v is free if no community has it; a vertex that is alone stays.
        let leaves = best_gain < T::ZERO && others > 0 && partition.total(v) == 0;
        let label = if leaves { v } else { best };
        // A moved vertex has its arcs read again, to activate its neighbours.
        let moves = label != own;
        let scans = if moves && !keeps_active { 2 } else { 1 };
        (moves.then_some(label), scans * u64::from(degree))
    }
}
