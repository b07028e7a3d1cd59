//! Subdivision of communities into connected parts, which contraction makes vertices.
//!
//! Each vertex begins as a part of its own. In one round, in phases, a vertex that is still alone
//! may join a part within its community:
//!
//! ```text
//! each vertex v that is a part of its own which no vertex has joined:
//!     w[l] = the weight of v's arcs to part l of its community;  own = their sum
//!     v stays if attraction · own < repulsion · mass[v] · (mass of the community without v)
//!     part l is allowed if a vertex has joined it, or if its founder l is not in this phase
//!     v joins the allowed part of the largest gain of at least 0; ties by hash(l, v)
//! ```
//!
//! Parts are connected: who joins was alone, and a founder never leaves a part that was joined.
//! Vertices with few arcs into their community stay alone, and so can leave it on the next level.
//!
//! Reference: Traag, Waltman, van Eck, *From Louvain to Leiden: guaranteeing well-connected
//! communities*, Scientific Reports 9, 2019: the refinement phase, with the largest gain in place of
//! a random choice, and only the first half of its test (of the vertex, not of the part).

use super::level::Level;
use super::partition::Partition;
use super::phases::{Phases, Workers};
use super::score::{Gain, GainFactors};
use super::steps::{Counts, Draw};
use super::tally::Tally;
use crate::hash::mix;
use crate::{Label, RunError};
use ripplet_graph::{Observer, VertexId};

/// The subdivision of a partition.
pub(super) struct Subdivision<'a, L, T> {
    pub level: &'a L,
    /// The communities.
    pub communities: &'a Partition,
    /// The parts, by the id of their founder.
    pub parts: &'a Partition,
    pub factors: GainFactors<T>,
    pub workers: &'a Workers<'a>,
    pub observer: &'a dyn Observer,
}

impl<L: Level, T: Gain> Subdivision<'_, L, T> {
    /// Performs the round; all parts must be single vertices.
    pub fn round(&self, phases: &mut Phases, draw: Draw) -> Result<Counts, RunError> {
        let Subdivision { level, parts, workers, observer, .. } = *self;
        phases.begin_round(workers.team, level.vertices(), draw, None);
        let mut counts = Counts::default();
        for phase in 0..draw.phases {
            let choose = |v, tally: &mut Tally| self.choose(v, tally, draw, phase);
            counts =
                counts.plus(phases.choose(phase as usize, parts, workers, observer, choose)?);
            phases.commit(workers.team, &level.all_masses(), parts, None);
        }
        Ok(counts)
    }

    /// Returns the part that a vertex joins, if any, and the number of arcs read.
    #[inline]
    fn choose(
        &self,
        v: VertexId,
        tally: &mut Tally,
        draw: Draw,
        phase: u32,
    ) -> (Option<Label>, u64) {
        let Subdivision { level, communities, parts, .. } = self;
        let mass = level.mass(v);
        let is_alone = parts.label(v) == v && parts.total(v) == mass.sum;
        let community = communities.label(v);
        let others = communities.mass::<L::Null>(community).without(mass);
        if !is_alone || others.sum == 0 {
            return (None, 0);
        }
        let degree = level.degree(v);
        let mut own = 0;
        let mut sums = tally.begin();
        for (u, weight) in level.arcs(v) {
            let is_inside = communities.label(u) == community;
            own += if is_inside { weight } else { 0 };
            sums.add_if(is_inside, parts.label(u), weight);
        }
        let scanned = u64::from(degree);
        let gains = self.factors.of_vertex(mass);
        if gains.gain(own, others) < T::ZERO {
            return (None, scanned);
        }
        let hash = |part: Label| mix(part ^ mix(v ^ mix(draw.key)));
        let (mut best, mut best_gain) = (None, T::ZERO);
        for (part, weight) in sums.each() {
            let total = parts.mass::<L::Null>(part);
            let gain = gains.gain(weight, total);
            // Few parts get past this comparison, so that the costly test comes last.
            if gain < best_gain {
                continue;
            }
            let is_joined = || total.sum > level.mass(part).sum;
            let is_allowed = || is_joined() || draw.phase(part) != phase;
            let is_behind = gain == best_gain && best.is_some_and(|held| hash(held) < hash(part));
            if !is_behind && is_allowed() {
                (best, best_gain) = (Some(part), gain);
            }
        }
        (best, scanned)
    }
}
