//! The communities of a level's vertices, with their masses, and which vertices are active.

use super::level::{Level, READ_PER_TASK};
use super::score::{Mass, NullModel};
use super::sizes::{Room, Sizes};
use crate::Label;
use crate::team::ThreadTeam;
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// A partition of a level's vertices, while it changes.
pub(super) struct Partition {
    /// The community of each vertex: below the number of vertices.
    pub labels: Vec<AtomicU32>,
    /// The sum of the members' masses, by label.
    pub totals: Vec<AtomicU64>,
    /// The sum of their imbalances modulo 2⁶⁴; nothing under an undirected null model.
    pub imbalances: Vec<AtomicU64>,
    /// [`INACTIVE`], [`ACTIVE`] or [`FIXED`], by vertex.
    states: Vec<AtomicU8>,
    /// Whether any vertex is fixed.
    has_fixed: bool,
    /// The sizes of communities, if they are limited.
    pub sizes: Option<Sizes>,
}

/// The state of a vertex that is not updated in the next round.
const INACTIVE: u8 = 0;
/// The state of a vertex that is updated.
const ACTIVE: u8 = 1;
/// The state of a vertex that is never updated.
const FIXED: u8 = 2;

impl Partition {
    /// Creates the partition of a level with these labels; all vertices are active.
    pub fn new<L: Level>(
        team: &ThreadTeam,
        labels: Vec<Label>,
        level: &L,
    ) -> Result<Partition, OutOfMemory> {
        let vertices = labels.len();
        let labels = labels.into_iter().map(AtomicU32::new).collect();
        let sums = |labels: usize| -> Result<Vec<AtomicU64>, OutOfMemory> {
            let mut sums = memory::with_room(labels)?;
            sums.resize_with(labels, AtomicU64::default);
            Ok(sums)
        };
        let totals = sums(vertices)?;
        let imbalances = sums(level.imbalances().len())?;
        let mut states = memory::with_room(vertices)?;
        states.resize_with(vertices, || AtomicU8::new(ACTIVE));
        let (has_fixed, sizes) = (false, None);
        let partition = Partition { labels, totals, imbalances, states, has_fixed, sizes };
        partition.sum_up(team, level.masses(), &partition.totals);
        partition.sum_up(team, level.imbalances(), &partition.imbalances);
        Ok(partition)
    }

    /// Creates a partition of a contraction of this partition's level. Parts with a fixed vertex are
    /// fixed, and the limit of sizes holds.
    pub fn contracted<L: Level>(
        &self,
        team: &ThreadTeam,
        labels: Vec<Label>,
        level: &L,
        vertex_of: &[VertexId],
    ) -> Result<Partition, OutOfMemory> {
        let mut partition = Partition::new(team, labels, level)?;
        if let Some(sizes) = &self.sizes {
            partition.sizes = Some(sizes.contracted(team, vertex_of, &partition.labels)?);
        }
        partition.has_fixed = self.has_fixed;
        if self.has_fixed {
            team.ranges(vertex_of.len(), READ_PER_TASK, |range| {
                for (state, &part) in self.states[range.clone()].iter().zip(&vertex_of[range]) {
                    if state.load(Relaxed) == FIXED {
                        partition.states[part as usize].store(FIXED, Relaxed);
                    }
                }
            });
        }
        Ok(partition)
    }

    /// Fixes vertices.
    pub fn fix(&mut self, vertices: &[VertexId]) {
        self.has_fixed |= !vertices.is_empty();
        vertices.iter().for_each(|&v| self.states[v as usize].store(FIXED, Relaxed));
    }

    /// Returns the bytes of a partition.
    pub fn bytes_for(vertices: u64, is_directed: bool) -> u64 {
        let directed = if is_directed { 8 } else { 0 };
        (13 + directed) * vertices
    }

    /// Sums up values of the vertices by community. Each thread has the communities of some lines of the sums.
    fn sum_up(&self, team: &ThreadTeam, values: &[u64], sums: &[AtomicU64]) {
        const LINE: usize = 64 / size_of::<u64>();
        let adders = team.adders(values.len());
        // Two threads read all labels for half of the sums each, which takes as long as all sums.
        let adders = if adders > 2 { adders } else { 1 };
        team.run(adders, |adder| {
            for (label, &value) in self.labels.iter().zip(values) {
                let label = label.load(Relaxed) as usize;
                if adders == 1 || label / LINE % adders == adder {
                    let sum = &sums[label];
                    sum.store(sum.load(Relaxed).wrapping_add(value), Relaxed);
                }
            }
        });
    }

    /// Returns the community of a vertex.
    #[inline]
    pub fn label(&self, v: VertexId) -> Label {
        self.labels[v as usize].load(Relaxed)
    }

    /// Returns the sum of a community's masses.
    #[inline]
    pub fn total(&self, label: Label) -> u64 {
        self.totals[label as usize].load(Relaxed)
    }

    /// Returns the mass of a community.
    #[inline]
    pub fn mass<M: NullModel>(&self, label: Label) -> Mass {
        let imbalance = || self.imbalances[label as usize].load(Relaxed) as i64;
        Mass { sum: self.total(label), imbalance: if M::IS_DIRECTED { imbalance() } else { 0 } }
    }

    /// Sets the mass of a community.
    #[inline]
    pub fn set_mass<M: NullModel>(&self, label: Label, mass: Mass) {
        self.totals[label as usize].store(mass.sum, Relaxed);
        if M::IS_DIRECTED {
            self.imbalances[label as usize].store(mass.imbalance as u64, Relaxed);
        }
    }

    /// Adds the mass of a vertex to that of a community; no other thread may do so at the same time.
    #[inline]
    pub fn add<M: NullModel>(&self, label: Label, vertex: Mass) {
        let Mass { sum, imbalance } = self.mass::<M>(label);
        let (sum, imbalance) = (sum + vertex.sum, imbalance + vertex.imbalance);
        self.set_mass::<M>(label, Mass { sum, imbalance });
    }

    /// Takes the mass of a vertex off that of its community; no other thread may do so at the same time.
    #[inline]
    pub fn remove<M: NullModel>(&self, label: Label, vertex: Mass) {
        self.set_mass::<M>(label, self.mass::<M>(label).without(vertex));
    }

    /// Returns whether a vertex is updated in the next round.
    #[inline]
    pub fn is_active(&self, v: VertexId) -> bool {
        self.states[v as usize].load(Relaxed) == ACTIVE
    }

    /// Activates a vertex, unless it is fixed.
    #[inline]
    pub fn activate(&self, v: VertexId) {
        let state = &self.states[v as usize];
        if state.load(Relaxed) == INACTIVE {
            state.store(ACTIVE, Relaxed);
        }
    }

    /// Returns whether a vertex is fixed.
    #[inline]
    pub fn is_fixed(&self, v: VertexId) -> bool {
        self.states[v as usize].load(Relaxed) == FIXED
    }

    /// Sets whether a vertex is updated in the next round, unless it is fixed.
    pub fn set_active(&self, v: VertexId, is_active: bool) {
        let state = &self.states[v as usize];
        if state.load(Relaxed) != FIXED {
            state.store(if is_active { ACTIVE } else { INACTIVE }, Relaxed);
        }
    }

    /// Sets whether an active vertex stays so.
    #[inline]
    pub fn keep_active(&self, v: VertexId, is_kept: bool) {
        self.states[v as usize].store(if is_kept { ACTIVE } else { INACTIVE }, Relaxed);
    }

    /// Makes every vertex a community of its own.
    pub fn separate<L: Level>(&self, team: &ThreadTeam, level: &L) {
        team.ranges(level.masses().len(), READ_PER_TASK, |range| {
            for v in range {
                self.labels[v].store(v as Label, Relaxed);
                self.set_mass::<L::Null>(v as Label, level.mass(v as VertexId));
            }
        });
    }

    /// Returns whether every vertex is a community of its own.
    pub fn is_singletons(&self) -> bool {
        self.labels.iter().enumerate().all(|(v, label)| label.load(Relaxed) as usize == v)
    }
}

/// Room for all. A community of mass 0 counts as empty.
pub(super) struct Unlimited<'a>(pub &'a Partition);

impl Room for Unlimited<'_> {
    #[inline]
    fn admits(&self, _: Label, _: VertexId) -> bool {
        true
    }

    #[inline]
    fn is_empty(&self, label: Label) -> bool {
        self.0.total(label) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::SummedUp;
    use super::*;
    use crate::team::with_whole_pool;
    use rayon::ThreadPoolBuilder;

    #[test]
    fn masses_are_summed_up_the_same_by_any_number_of_threads() {
        let labels: Vec<Label> = (0..100).map(|v| v * 7 % 90).collect();
        let masses: Vec<u64> = (0..100).map(|v| v * v + 1).collect();
        let mut expected = vec![0; 100];
        labels.iter().zip(&masses).for_each(|(&label, mass)| expected[label as usize] += mass);
        let (begins, neighbors, weights) = (vec![0; 101], Vec::new(), Vec::new());
        let level = SummedUp { masses, begins, neighbors, weights };
        for threads in [1, 2, 3, 8] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let new = |team: &ThreadTeam| Partition::new(team, labels.clone(), &level);
            let partition = pool.install(|| with_whole_pool(new)).unwrap();
            let totals: Vec<u64> = partition.totals.iter().map(|sum| sum.load(Relaxed)).collect();
            assert_eq!(totals, expected, "{threads} threads");
        }
    }
}
