//! Ranks: executors that share a run, each of which has some of its vertices.
//!
//! A rank chooses for its own vertices, whose lists it has; labels, active vertices, label totals and columns
//! it has of all. In a phase, ranks hear of one another twice:
//!
//! ```text
//! choose    each rank     its own active vertices choose, and what they chose is shown
//! swap      all to all    who changed, and to what: now everybody has the labels after the phase
//! wake      each rank     those who must look again because of its own vertices' changes
//! swap      all to all    which of the others' vertices were woken: their ranks make them active
//! ```
//!
//! So a phase sees all of the phase before, as it does where nobody shares, and labels are the same bytes for
//! any number of ranks. What lies in a letter, and where, is each kind of rank's own affair: it may never
//! leave the devices. An [`Exchange`] is who carries letters; [`Alone`] is that of a rank that has all vertices.

use crate::RunError;
use ripplet_graph::{GraphView, VertexId};
use std::ops::Range;

/// One of those who share a run, as [`do_phase`] sees it.
pub trait Rank {
    /// Has the phase's own active vertices choose, shows what they chose, and writes it into a letter.
    ///
    /// # Errors
    /// Where the observer cancels, or a device fails.
    fn choose(&mut self) -> Result<(), RunError>;

    /// Wakes those who must look again because own vertices changed, when it has learnt of all changes; and
    /// writes down which of the others' vertices they are.
    ///
    /// # Errors
    /// Where a device fails.
    fn wake(&mut self) -> Result<(), RunError>;
}

/// Who carries letters between ranks of a kind.
pub trait Exchange<R> {
    /// Gives all others the rank's changes, and it theirs.
    ///
    /// # Errors
    /// Where a letter does not come, because another rank failed or a device does.
    fn swap_changes(&mut self, rank: &mut R) -> Result<(), RunError>;

    /// Tells each other which of its vertices the rank woke, and it which of its own they did.
    ///
    /// # Errors
    /// As [`Exchange::swap_changes`].
    fn swap_woken(&mut self, rank: &mut R) -> Result<(), RunError>;
}

/// The exchange of a rank that has all vertices: there is nobody to hear of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl<R> Exchange<R> for Alone {
    #[inline]
    fn swap_changes(&mut self, _: &mut R) -> Result<(), RunError> {
        Ok(())
    }

    #[inline]
    fn swap_woken(&mut self, _: &mut R) -> Result<(), RunError> {
        Ok(())
    }
}

/// One rank's part of a phase, whoever carries the letters.
///
/// # Errors
/// As the rank's steps and the exchange have them.
#[inline]
pub fn do_phase<R: Rank>(rank: &mut R, exchange: &mut impl Exchange<R>) -> Result<(), RunError> {
    rank.choose()?;
    exchange.swap_changes(rank)?;
    rank.wake()?;
    exchange.swap_woken(rank)
}

/// Which vertices each rank has: consecutive ones, and each vertex one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Where each rank's vertices begin, and behind the last their end.
    bounds: Vec<VertexId>,
}

/// How much work vertices are, those before each grain of them: to part a graph anew costs no look at it.
#[derive(Clone, Debug)]
pub struct Loads {
    vertices: u32,
    grain: u32,
    /// Behind the last, of all.
    before: Vec<u64>,
}

impl Loads {
    /// One pass over a graph's degrees. Ranks' vertices will begin at multiples of `grain`.
    ///
    /// A vertex is as much work as it has arcs, and one arc's more.
    ///
    /// # Panics
    /// Where `grain` is 0.
    pub fn of(graph: GraphView<'_>, grain: u32) -> Loads {
        use rayon::prelude::*;
        let vertices = graph.vertices();
        let load = |number: u32| -> u64 {
            let first = number * grain;
            let end = first.saturating_add(grain).min(vertices);
            (first..end).map(|v| graph.degree(v) + 1).sum()
        };
        let loads: Vec<u64> = (0..vertices.div_ceil(grain)).into_par_iter().map(load).collect();
        let mut before = vec![0];
        before.extend(loads.into_iter().scan(0, |sum, load| {
            *sum += load;
            Some(*sum)
        }));
        Loads { vertices, grain, before }
    }

    /// Parts whose loads are to one another as these shares, as nearly as grains allow. A rank may have no
    /// vertices.
    pub fn part(&self, shares: &[f64]) -> Parts {
        let all = self.before.last().copied().unwrap_or(0);
        let sum: f64 = shares.iter().sum();
        let (mut bounds, mut begun) = (vec![0], 0.0);
        for share in shares {
            begun += share;
            let wanted = (all as f64 * (begun / sum)) as u64;
            // The bound that is nearest.
            let above = self.before.partition_point(|&before| before < wanted);
            let below = above.saturating_sub(1);
            let distance = |grain: usize| {
                self.before.get(grain).map_or(u64::MAX, |before| before.abs_diff(wanted))
            };
            let grain = if distance(below) <= distance(above) { below } else { above };
            let bound = (grain as u64 * u64::from(self.grain)).min(self.vertices.into()) as u32;
            bounds.push(bound.max(bounds.last().copied().unwrap_or(0)));
        }
        if let Some(last) = bounds.last_mut() {
            *last = self.vertices;
        }
        Parts { bounds }
    }
}

impl Parts {
    /// All vertices are one rank's.
    pub fn whole(vertices: u32) -> Parts {
        Parts { bounds: vec![0, vertices] }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.bounds.len() - 1
    }

    /// A rank's vertices.
    ///
    /// # Panics
    /// Where there is no such rank.
    pub fn of(&self, rank: usize) -> Range<VertexId> {
        self.bounds[rank]..self.bounds[rank + 1]
    }

    /// Where each rank's vertices begin, and behind the last their end.
    pub fn bounds(&self) -> &[VertexId] {
        &self.bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};

    fn star(vertices: u32) -> ripplet_graph::Graph {
        let ids = VertexIds::Consecutive { first: 0, count: vertices };
        let (sources, targets) = (1..vertices).map(|v| (0, v)).unzip();
        GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
    }

    #[test]
    fn every_vertex_is_one_ranks() {
        for vertices in [0, 1, 7, 8, 9, 100, 1000] {
            let graph = star(vertices.max(1));
            let loads = Loads::of((&graph).into(), 8);
            for shares in [&[1.0][..], &[1.0, 1.0], &[1.0; 5], &[0.0, 1.0, 0.0], &[3.0, 1.0]] {
                let parts = loads.part(shares);
                assert_eq!(parts.ranks(), shares.len());
                assert_eq!((parts.bounds[0], parts.bounds[shares.len()]), (0, graph.vertices()));
                assert!(parts.bounds.is_sorted());
                let inner = &parts.bounds[..shares.len()];
                assert!(inner.iter().all(|&bound| bound % 8 == 0 || bound == graph.vertices()));
            }
        }
    }

    #[test]
    fn a_hub_is_as_much_as_its_arcs() {
        let graph = star(8001);
        let parts = Loads::of((&graph).into(), 8).part(&[1.0, 1.0]);
        // The hub has half of the arcs; each leaf is an arc, and one more.
        assert!(parts.bounds[1] < 2100, "{parts:?}");
        let all = Loads::of((&graph).into(), 8).part(&[0.0, 1.0]);
        assert_eq!(all.bounds, [0, 0, 8001]);
    }
}
