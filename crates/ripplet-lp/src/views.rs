//! Views: the arguments of hooks for a vertex, a neighbour and a candidate, each a small copy of
//! scalars.

use crate::columns::Columns;
use crate::hash::{Clock, Stream, mix};
use crate::{Label, NO_LABEL};
use ripplet_graph::{GraphView, VertexId};
use std::ops::Deref;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// `Context`: the context of a round, common to all vertices, in which views look up what they do not
/// hold.
///
/// Hooks do not need it; it is for engines whose hooks are not compiled with this crate.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub(crate) graph: &'a GraphView<'a>,
    pub(crate) columns: &'a Columns,
    pub(crate) clock: Clock,
}

impl<'a> Context<'a> {
    /// Returns the clock of the round.
    #[inline]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Returns the committed values of column number `slot`, vertex by vertex; empty if there is no
    /// such column.
    #[inline]
    pub fn column(&self, slot: usize) -> &'a [AtomicU32] {
        self.columns.values(slot)
    }

    /// Returns the number of vertices of the graph.
    #[inline]
    pub fn vertices(&self) -> u32 {
        self.graph.vertices()
    }

    /// Returns the number of arcs that touch `v`, which must be a vertex.
    #[inline]
    pub fn degree(&self, v: VertexId) -> u32 {
        u32::try_from(self.graph.degree(v)).unwrap_or(u32::MAX)
    }

    #[inline]
    fn random(&self, v: VertexId, stream: u32) -> u32 {
        mix(v ^ self.clock.key((Stream::Program as u32).wrapping_add(stream)))
    }
}

/// A vertex, as hooks see it.
#[derive(Clone, Copy, Debug)]
pub struct Vertex<'a> {
    /// The id.
    pub id: VertexId,
    /// The label; [`NO_LABEL`] for none.
    pub label: Label,
    pub(crate) context: Context<'a>,
}

/// A neighbour, as [`Program::load_neighbor`](crate::Program::load_neighbor) sees it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbor<'a> {
    /// The id.
    pub id: VertexId,
    /// The label from [`Program::pick_label`](crate::Program::pick_label); [`NO_LABEL`] for none.
    pub label: Label,
    /// The stored weight of the arc to it; 1 in an unweighted graph.
    pub weight: u32,
    pub(crate) context: Context<'a>,
}

impl<'a> Vertex<'a> {
    /// Returns the context of the round.
    #[inline]
    pub fn context(&self) -> Context<'a> {
        self.context
    }

    /// Returns the view of another vertex, with its label, in the same round.
    #[inline]
    pub(crate) fn beside(self, id: VertexId, label: Label) -> Vertex<'a> {
        Vertex { id, label, context: self.context }
    }

    /// Returns the number of arcs that touch the vertex, in both directions if the graph is
    /// directed.
    #[inline]
    pub fn degree(&self) -> u32 {
        self.context.degree(self.id)
    }

    /// Returns the round, counted from 0.
    #[inline]
    pub fn round(&self) -> u32 {
        self.context.clock.round()
    }

    /// Returns 32 random bits: a function of seed, round, vertex and stream.
    #[inline]
    pub fn random(&self, stream: u32) -> u32 {
        self.context.random(self.id, stream)
    }

    /// Returns value `index` of the vertex in `u32` column number `slot`; 0 if there is no such
    /// value.
    #[inline]
    pub fn column_u32(&self, slot: usize, index: u32) -> u32 {
        self.context.columns.get(slot, self.id, index)
    }

    /// Returns value `index` of the vertex in `f32` column number `slot`; 0 if there is no such
    /// value.
    #[inline]
    pub fn column_f32(&self, slot: usize, index: u32) -> f32 {
        f32::from_bits(self.column_u32(slot, index))
    }
}

impl Neighbor<'_> {
    /// Returns the number of arcs that touch the neighbour, in both directions if the graph is
    /// directed.
    #[inline]
    pub fn degree(&self) -> u32 {
        self.context.degree(self.id)
    }

    /// Returns the round, counted from 0.
    #[inline]
    pub fn round(&self) -> u32 {
        self.context.clock.round()
    }

    /// Returns 32 random bits of the neighbour, like [`Vertex::random`].
    #[inline]
    pub fn random(&self, stream: u32) -> u32 {
        self.context.random(self.id, stream)
    }

    /// Returns value `index` of the neighbour in `u32` column number `slot`; 0 if there is no such
    /// value.
    #[inline]
    pub fn column_u32(&self, slot: usize, index: u32) -> u32 {
        self.context.columns.get(slot, self.id, index)
    }

    /// Returns value `index` of the neighbour in `f32` column number `slot`; 0 if there is no such
    /// value.
    #[inline]
    pub fn column_f32(&self, slot: usize, index: u32) -> f32 {
        f32::from_bits(self.column_u32(slot, index))
    }
}

/// The vertex that is being updated, as [`Program::update_vertex`](crate::Program::update_vertex)
/// sees it: a [`Vertex`] whose written columns can be set.
///
/// A value that is set can be read here at once, and by other vertices when the schedule commits
/// it. Setting a value outside of a column, or of a column that is not declared as written, does
/// nothing.
#[derive(Debug)]
pub struct VertexMut<'a> {
    pub(crate) vertex: Vertex<'a>,
    /// The written columns, one after the other.
    pub(crate) draft: &'a mut [u32],
    pub(crate) carried: f32,
    pub(crate) frequency: u64,
    pub(crate) total_votes: u64,
}

impl<'a> Deref for VertexMut<'a> {
    type Target = Vertex<'a>;

    #[inline]
    fn deref(&self) -> &Vertex<'a> {
        &self.vertex
    }
}

impl VertexMut<'_> {
    /// Returns the largest [`Program::carry`](crate::Program::carry) among the neighbours that
    /// voted for the winning label; 0 without any.
    #[inline]
    pub fn carried(&self) -> f32 {
        self.carried
    }

    /// Returns the sum of the votes for the winning label.
    #[inline]
    pub fn frequency(&self) -> u64 {
        self.frequency
    }

    /// Returns the sum of all votes of the vertex, for any label.
    #[inline]
    pub fn total_votes(&self) -> u64 {
        self.total_votes
    }

    /// Returns the values of the vertex's written columns, column by column.
    #[inline]
    pub fn draft(&mut self) -> &mut [u32] {
        self.draft
    }

    /// Returns value `index` of `u32` column number `slot`, as last set; 0 if there is no such
    /// value.
    #[inline]
    pub fn column_u32(&self, slot: usize, index: u32) -> u32 {
        match self.context.columns.drafted(slot, index) {
            Some(at) => self.draft.get(at).copied().unwrap_or(0),
            None => self.vertex.column_u32(slot, index),
        }
    }

    /// Returns value `index` of `f32` column number `slot`, as last set; 0 if there is no such
    /// value.
    #[inline]
    pub fn column_f32(&self, slot: usize, index: u32) -> f32 {
        f32::from_bits(self.column_u32(slot, index))
    }

    /// Sets value `index` of `u32` column number `slot`.
    #[inline]
    pub fn set_column_u32(&mut self, slot: usize, index: u32, value: u32) {
        let at = self.context.columns.drafted(slot, index);
        if let Some(held) = at.and_then(|at| self.draft.get_mut(at)) {
            *held = value;
        }
    }

    /// Sets value `index` of `f32` column number `slot`.
    #[inline]
    pub fn set_column_f32(&mut self, slot: usize, index: u32, value: f32) {
        self.set_column_u32(slot, index, value.to_bits());
    }
}

/// A vote of a neighbour: a label and its weight.
///
/// A vote of weight 0, or for [`NO_LABEL`], does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Vote {
    /// The label.
    pub label: Label,
    /// The weight; votes for one label add up as integers.
    pub weight: u32,
}

impl Vote {
    /// The vote that does not count.
    pub const NONE: Vote = Vote { label: NO_LABEL, weight: 0 };

    /// Returns a vote for a label.
    #[inline]
    pub const fn new(label: Label, weight: u32) -> Vote {
        Vote { label, weight }
    }
}

/// A list of neighbours: the input of [`Hints::load_neighbors`](crate::Hints::load_neighbors).
#[derive(Clone, Copy, Debug)]
pub struct NeighborList<'a> {
    /// The ids of the neighbours.
    pub ids: &'a [VertexId],
    /// The stored weights of the arcs, one per id; `None` if each is 1.
    pub weights: Option<&'a [u32]>,
    /// The labels of all vertices of the graph, by id.
    pub labels: &'a [AtomicU32],
}

/// A label with votes, as [`Program::label_score`](crate::Program::label_score) sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The label.
    pub label: Label,
    /// The sum of the votes for the label.
    pub frequency: u64,
    /// The sum of all votes of the vertex, for any label.
    pub total_votes: u64,
    /// The sum of all vertices' contributions to totals, including vertices without a label. It
    /// equals the sum of [`Candidate::total`] over all labels if every vertex has one.
    pub grand_total: u64,
    /// The source of [`Candidate::total`].
    pub total: Total<'a>,
}

/// The source of a candidate's total.
#[derive(Clone, Copy, Debug)]
pub enum Total<'a> {
    /// The totals of all labels; looked up on demand, as each is likely a cache miss.
    Kept(&'a [AtomicU32]),
    /// An upper bound of all totals.
    AtMost(u32),
}

impl Candidate<'_> {
    /// Returns the engine's total for this label, by
    /// [`Program::label_total`](crate::Program::label_total); 0 if it keeps none.
    #[inline]
    pub fn total(&self) -> u32 {
        match self.total {
            Total::Kept(totals) => {
                totals.get(self.label as usize).map_or(0, |total| total.load(Relaxed))
            }
            Total::AtMost(total) => total,
        }
    }
}
