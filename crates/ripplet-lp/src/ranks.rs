//! Ranks: executors that share a run, each of which updates a part of the vertices.
//!
//! A rank chooses labels for its own vertices and stores their neighbour lists. Labels, active
//! vertices, label totals and columns of all vertices are replicated on each rank. A phase has two
//! all-to-all exchanges:
//!
//! ```text
//! choose               each rank     update own active vertices, commit locally, pack the changes
//! exchange_updates     all to all    label updates: afterwards all ranks have the labels after the phase
//! activate_neighbors   each rank     activate the neighbours of own changed vertices
//! exchange_frontier    all to all    frontier updates: ranks activate their vertices that others activated
//! ```
//!
//! A phase therefore sees all changes of the phase before, as on a single rank, and labels are the
//! same bytes for any number of ranks. The format and location of messages are up to each kind of
//! rank: they may never leave the devices. An [`Exchange`] is the transport of messages; [`SingleRank`]
//! is that of a single rank.

use crate::rounds::Finished;
use crate::{Label, Round, RunError, State};
use ripplet_graph::{GraphView, Observer, OutOfMemory, VertexId};
use std::ops::Range;

/// A rank: one of the executors that share a run, as [`run_phase`] uses it.
pub trait Rank {
    /// Updates the rank's active vertices of the phase, commits locally, and packs the changes into
    /// a message.
    ///
    /// # Errors
    /// If the observer cancels or a device fails.
    fn choose(&mut self) -> Result<(), RunError>;

    /// Activates the neighbours of the rank's changed vertices, after all label updates are
    /// applied, and packs those of other ranks into messages.
    ///
    /// # Errors
    /// If a device fails.
    fn activate_neighbors(&mut self) -> Result<(), RunError>;
}

/// A label update: a vertex that changed in a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The vertex.
    pub vertex: VertexId,
    /// Its new label.
    pub label: Label,
    /// The values of its written columns, as bits, column by column.
    pub values: Vec<u32>,
}

/// The part of a run that a rank on the CPU begins with.
#[derive(Clone, Debug, Default)]
pub struct RankStart {
    /// The vertices that it updates. Their bounds are multiples of 64 or the number of vertices.
    pub own: Range<VertexId>,
    /// [`Checkpoint::fingerprint`](crate::Checkpoint::fingerprint) on one of the ranks, 0 on the others.
    pub fingerprint: u64,
    /// The source of label totals.
    pub totals: RankTotals,
}

/// The source of a rank's label totals.
#[derive(Clone, Debug)]
pub enum RankTotals {
    /// The rank sums up the contributions of all vertices, and has the labels of all.
    OfAll {
        /// The contribution of each vertex to [`LabelTotal::Volume`](crate::LabelTotal::Volume). If it is `None`, the
        /// rank computes it of the lists of all vertices.
        volumes: Option<Vec<u32>>,
    },
    /// [`CpuRank::set_totals`] sets those of the labels that the rank meets.
    Set {
        /// The sum of all vertices' contributions.
        grand: u64,
    },
}

impl Default for RankTotals {
    fn default() -> Self {
        RankTotals::OfAll { volumes: None }
    }
}

/// A rank on the CPU, for executors that exchange messages through memory or a network.
///
/// A rank updates its own vertices. It needs the labels and columns of their neighbours, too, and the totals of all their
/// labels; for those of other vertices it has room, but never reads them before [`CpuRank::finish`]. The words of its
/// active set have 64 vertices, and a word belongs to one rank. An in-place schedule runs as a
/// synchronous one. Work runs on rayon's current pool.
///
/// ```text
/// begin_round
/// for each phase:  choose, updates ──▶ others ──▶ apply_updates
///                  activate_neighbors, take_frontier ──▶ others ──▶ apply_frontier
/// end_round
/// ```
pub trait CpuRank: Send {
    /// Begins a round, counted from 0.
    fn begin_round(&mut self, round: u32);

    /// Updates the rank's active vertices of the next phase, and commits their choices.
    ///
    /// # Errors
    /// If the observer cancels.
    fn choose(&mut self, observer: &dyn Observer) -> Result<(), RunError>;

    /// Returns the rank's label updates of the phase.
    fn updates(&self) -> Vec<Update>;

    /// Returns the labels of the vertices of [`CpuRank::updates`] before the phase, in the same order.
    fn labels_before(&self) -> Vec<Label>;

    /// Applies the label updates of another rank.
    fn apply_updates(&mut self, updates: Vec<Update>);

    /// Sets totals of labels, which are vertices; see [`RankTotals::Set`].
    fn set_totals(&mut self, totals: &[(Label, u32)]);

    /// Activates the neighbours of the rank's changed vertices.
    fn activate_neighbors(&mut self);

    /// Removes the vertices of other ranks from the active set; returns their words by number.
    fn take_frontier(&mut self) -> Vec<(usize, u64)>;

    /// Activates the vertices of these words.
    fn apply_frontier(&mut self, words: Vec<(usize, u64)>);

    /// Ends a round; returns the counts of the rank's vertices.
    fn end_round(&mut self) -> Round;

    /// Returns the state from which a run can resume, with the rank's own active vertices.
    fn state(&mut self) -> State<'_>;

    /// Returns the label of each own vertex, followed by the values of its written columns, column by column.
    ///
    /// # Errors
    /// If memory is refused.
    fn own_vertices(&mut self) -> Result<Vec<u32>, OutOfMemory>;

    /// Replaces labels and written columns of another rank's vertices from `first` on by
    /// [those](CpuRank::own_vertices) that it has. Totals and active vertices stay as they are.
    fn replace_vertices(&mut self, first: VertexId, words: &[u32]);

    /// Returns labels and written columns of all vertices.
    ///
    /// # Errors
    /// None on the CPU; the signature is that of [`Rounds::finish`](crate::engine::Rounds::finish).
    fn finish(self: Box<Self>) -> Result<Finished, RunError>;
}

/// A transport of messages between ranks of a kind.
pub trait Exchange<R> {
    /// Exchanges label updates: sends the rank's changes to all others, and applies theirs.
    ///
    /// # Errors
    /// If a message does not arrive because another rank or a device failed.
    fn exchange_updates(&mut self, rank: &mut R) -> Result<(), RunError>;

    /// Exchanges frontier updates: sends each other rank its activated vertices, and applies those
    /// received.
    ///
    /// # Errors
    /// See [`Exchange::exchange_updates`].
    fn exchange_frontier(&mut self, rank: &mut R) -> Result<(), RunError>;
}

/// The transport of a single rank with all vertices: both exchanges do nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleRank;

impl<R> Exchange<R> for SingleRank {
    #[inline]
    fn exchange_updates(&mut self, _: &mut R) -> Result<(), RunError> {
        Ok(())
    }

    #[inline]
    fn exchange_frontier(&mut self, _: &mut R) -> Result<(), RunError> {
        Ok(())
    }
}

/// Performs a rank's part of a phase, with any transport.
///
/// # Errors
/// If a step of the rank or an exchange fails.
#[inline]
pub fn run_phase<R: Rank>(rank: &mut R, exchange: &mut impl Exchange<R>) -> Result<(), RunError> {
    rank.choose()?;
    exchange.exchange_updates(rank)?;
    rank.activate_neighbors()?;
    exchange.exchange_frontier(rank)
}

/// The partition of the vertices over ranks: a range of consecutive vertices for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The first vertex of each rank, and last the number of vertices.
    bounds: Vec<VertexId>,
}

/// Vertices of a word of the active set; a word belongs to one rank.
pub(crate) const WORD: u32 = 64;

/// Prefix sums of the work of vertices, per block of `block` vertices: the graph can be partitioned
/// again without another pass.
#[derive(Clone, Debug)]
pub struct Loads {
    vertices: u32,
    block: u32,
    /// The work before each block, and last the total.
    before: Vec<u64>,
}

impl Loads {
    /// Computes the work of the vertices in one pass over the degrees. The ranges of ranks will
    /// begin at multiples of `block`.
    ///
    /// The work of a vertex is its degree plus one.
    ///
    /// # Panics
    /// If `block` is 0.
    pub fn of(graph: GraphView<'_>, block: u32) -> Loads {
        use rayon::prelude::*;
        let vertices = graph.vertices();
        let load = |number: u32| -> u64 {
            let first = number * block;
            let end = first.saturating_add(block).min(vertices);
            (first..end).map(|v| graph.degree(v) + 1).sum()
        };
        let loads: Vec<u64> = (0..vertices.div_ceil(block)).into_par_iter().map(load).collect();
        let mut before = vec![0];
        before.extend(loads.into_iter().scan(0, |sum, load| {
            *sum += load;
            Some(*sum)
        }));
        Loads { vertices, block, before }
    }

    /// Partitions the vertices so that the work of the ranks is proportional to `shares`, to the
    /// precision of a block. A rank may have no vertices.
    pub fn part(&self, shares: &[f64]) -> Parts {
        let all = self.before.last().copied().unwrap_or(0);
        let sum: f64 = shares.iter().sum();
        let (mut bounds, mut begun) = (vec![0], 0.0);
        for share in shares {
            begun += share;
            let wanted = (all as f64 * (begun / sum)) as u64;
            // Take the nearest block boundary.
            let above = self.before.partition_point(|&before| before < wanted);
            let below = above.saturating_sub(1);
            let distance = |index: usize| {
                self.before.get(index).map_or(u64::MAX, |before| before.abs_diff(wanted))
            };
            let index = if distance(below) <= distance(above) { below } else { above };
            let bound = (index as u64 * u64::from(self.block)).min(self.vertices.into()) as u32;
            bounds.push(bound.max(bounds.last().copied().unwrap_or(0)));
        }
        if let Some(last) = bounds.last_mut() {
            *last = self.vertices;
        }
        Parts { bounds }
    }
}

impl Parts {
    /// Returns the vertices of each of several ranks, which have equal work; a word of the active set belongs to one.
    pub fn of_ranks(graph: GraphView<'_>, ranks: usize) -> Parts {
        Loads::of(graph, WORD).part(&vec![1.0; ranks])
    }

    /// Returns the partition with all vertices on one rank.
    pub fn whole(vertices: u32) -> Parts {
        Parts { bounds: vec![0, vertices] }
    }

    /// Returns the partition of these bounds: the first vertex of each rank, and last the number of vertices. `None` unless
    /// they ascend from 0.
    pub fn of_bounds(bounds: Vec<VertexId>) -> Option<Parts> {
        let is_partition = bounds.len() > 1 && bounds.first() == Some(&0) && bounds.is_sorted();
        is_partition.then_some(Parts { bounds })
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Returns the vertices of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn of(&self, rank: usize) -> Range<VertexId> {
        self.bounds[rank]..self.bounds[rank + 1]
    }

    /// Returns the rank of a vertex.
    pub fn owner(&self, v: VertexId) -> usize {
        // Of ranks without vertices, the bounds are equal, and the one behind them has the vertex.
        self.bounds.partition_point(|&bound| bound <= v).saturating_sub(1)
    }

    /// Returns the first vertex of each rank, and last the number of vertices.
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
    fn bounds_ascend_from_the_first_vertex() {
        assert_eq!(Parts::of_bounds(vec![0, 5]), Some(Parts::whole(5)));
        for bounds in [&[][..], &[0], &[1, 5], &[0, 5, 4]] {
            assert_eq!(Parts::of_bounds(bounds.to_vec()), None, "{bounds:?}");
        }
    }

    #[test]
    fn the_owner_of_a_vertex_has_it() {
        let parts = Parts::of_bounds(vec![0, 0, 64, 64, 64, 100]).unwrap();
        for v in 0..100 {
            assert!(parts.of(parts.owner(v)).contains(&v), "{v}");
        }
    }

    #[test]
    fn a_hub_is_as_much_as_its_arcs() {
        let graph = star(8001);
        let parts = Loads::of((&graph).into(), 8).part(&[1.0, 1.0]);
        // The hub has half of the arcs; the work of a leaf is one arc plus one.
        assert!(parts.bounds[1] < 2100, "{parts:?}");
        let all = Loads::of((&graph).into(), 8).part(&[0.0, 1.0]);
        assert_eq!(all.bounds, [0, 0, 8001]);
    }
}
