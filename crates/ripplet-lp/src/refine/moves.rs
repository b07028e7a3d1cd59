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
use super::phases::{Change, Counts, Draw, Phases, READ_PER_TASK, Tallies};
use super::score::{Gain, GainFactors};
use super::tally::Tally;
use crate::hash::mix;
use crate::{Label, RunError};
use rayon::prelude::*;
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
    pub fn new(labels: Vec<Label>, masses: &[u64]) -> Result<Partition, OutOfMemory> {
        let vertices = labels.len();
        let labels = labels.into_iter().map(AtomicU32::new).collect();
        let mut totals = memory::with_room(vertices)?;
        totals.resize_with(vertices, AtomicU64::default);
        let mut active = memory::with_room(vertices)?;
        active.resize_with(vertices, || AtomicBool::new(true));
        let partition = Partition { labels, totals, active };
        partition.sum_up(masses);
        Ok(partition)
    }

    /// Returns the bytes of a partition.
    pub fn bytes_for(vertices: u64) -> u64 {
        13 * vertices
    }

    /// Computes the totals of the communities.
    pub fn sum_up(&self, masses: &[u64]) {
        let totals = self.totals.par_iter().with_min_len(READ_PER_TASK);
        totals.for_each(|total| total.store(0, Relaxed));
        let labels = self.labels.par_iter().zip(masses).with_min_len(READ_PER_TASK);
        labels.for_each(|(label, &mass)| {
            self.totals[label.load(Relaxed) as usize].fetch_add(mass, Relaxed);
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

    /// Moves a vertex of this mass to another community.
    #[inline]
    pub fn relabel(&self, change: Change, mass: u64) {
        let before = self.label(change.vertex);
        self.labels[change.vertex as usize].store(change.label, Relaxed);
        self.totals[before as usize].fetch_sub(mass, Relaxed);
        self.totals[change.label as usize].fetch_add(mass, Relaxed);
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
    pub fn separate(&self, masses: &[u64]) {
        let all = self.labels.par_iter().zip(&self.totals).zip(masses).enumerate();
        all.with_min_len(READ_PER_TASK).for_each(|(v, ((label, total), &mass))| {
            label.store(v as Label, Relaxed);
            total.store(mass, Relaxed);
        });
    }

    /// Returns whether every vertex is a community of its own.
    pub fn is_singletons(&self) -> bool {
        let own = |(v, label): (usize, &AtomicU32)| label.load(Relaxed) as usize == v;
        self.labels.par_iter().enumerate().with_min_len(READ_PER_TASK).all(own)
    }
}

/// A round in which vertices move, by any rule.
pub(super) struct MoveRound<'a, L> {
    pub level: &'a L,
    pub partition: &'a Partition,
    pub tallies: &'a Tallies,
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
        let MoveRound { level, partition, .. } = self;
        let active = &partition.active;
        phases.begin_round(level.vertices(), draw, |v| active[v as usize].load(Relaxed));
        let mut counts = Counts::default();
        for phase in 0..draw.phases as usize {
            let chosen = phases.choose(phase, self.tallies, self.observer, |v, tally| {
                active[v as usize].store(self.keeps_active, Relaxed);
                choose(v, tally)
            })?;
            counts = counts.plus(chosen);
            if chosen.changed > 0 {
                phases.commit(|change| partition.relabel(change, level.mass(change.vertex)));
                if !self.keeps_active {
                    phases.for_each_change(|change| self.activate_neighbors(change));
                }
            }
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
