//! What hooks see: a vertex, a neighbour, a candidate, each a small copy of scalars.

use crate::columns::Columns;
use crate::hash::{Clock, Stream, mix};
use crate::{Label, NO_LABEL};
use ripplet_graph::{Graph, VertexId};
use std::ops::Deref;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What is the same for all vertices in a round: where views look up what they do not carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    pub graph: &'a Graph,
    pub columns: &'a Columns,
    pub clock: Clock,
}

impl Scene<'_> {
    #[inline]
    fn degree(&self, v: VertexId) -> u32 {
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
    /// Its id.
    pub id: VertexId,
    /// The label it has; [`NO_LABEL`] where it has none.
    pub label: Label,
    pub(crate) scene: Scene<'a>,
}

/// A neighbour, as [`Program::load_neighbor`](crate::Program::load_neighbor) sees it.
#[derive(Clone, Copy, Debug)]
pub struct Neighbor<'a> {
    /// Its id.
    pub id: VertexId,
    /// The label it shows; [`NO_LABEL`] where it shows none.
    pub label: Label,
    /// The stored weight of the arc to it; 1 in an unweighted graph.
    pub weight: u32,
    pub(crate) scene: Scene<'a>,
}

impl Vertex<'_> {
    /// The number of arcs that touch it, in both directions where the graph is directed.
    #[inline]
    pub fn degree(&self) -> u32 {
        self.scene.degree(self.id)
    }

    /// The round, from 0.
    #[inline]
    pub fn round(&self) -> u32 {
        self.scene.clock.round()
    }

    /// 32 random bits: the same for the same seed, round, vertex and stream.
    #[inline]
    pub fn random(&self, stream: u32) -> u32 {
        self.scene.random(self.id, stream)
    }

    /// Value `index` of its `u32` column number `slot`; 0 where there is none.
    #[inline]
    pub fn column_u32(&self, slot: usize, index: u32) -> u32 {
        self.scene.columns.get(slot, self.id, index)
    }

    /// Value `index` of its `f32` column number `slot`; 0 where there is none.
    #[inline]
    pub fn column_f32(&self, slot: usize, index: u32) -> f32 {
        f32::from_bits(self.column_u32(slot, index))
    }
}

impl Neighbor<'_> {
    /// The number of arcs that touch it, in both directions where the graph is directed.
    #[inline]
    pub fn degree(&self) -> u32 {
        self.scene.degree(self.id)
    }

    /// The round, from 0.
    #[inline]
    pub fn round(&self) -> u32 {
        self.scene.clock.round()
    }

    /// 32 random bits of the neighbour, as [`Vertex::random`].
    #[inline]
    pub fn random(&self, stream: u32) -> u32 {
        self.scene.random(self.id, stream)
    }

    /// Value `index` of its `u32` column number `slot`; 0 where there is none.
    #[inline]
    pub fn column_u32(&self, slot: usize, index: u32) -> u32 {
        self.scene.columns.get(slot, self.id, index)
    }

    /// Value `index` of its `f32` column number `slot`; 0 where there is none.
    #[inline]
    pub fn column_f32(&self, slot: usize, index: u32) -> f32 {
        f32::from_bits(self.column_u32(slot, index))
    }
}

/// The vertex whose turn it is, as [`Program::update_vertex`](crate::Program::update_vertex) sees
/// it: a [`Vertex`] whose written columns can be set.
///
/// What is set is seen at once here, and by others when the schedule says so. Setting a value
/// outside of a column, or a column that the program does not declare as written, does nothing.
#[derive(Debug)]
pub struct VertexMut<'a> {
    pub(crate) vertex: Vertex<'a>,
    /// The written columns, one behind the other.
    pub(crate) draft: &'a mut [u32],
    pub(crate) carried: f32,
    pub(crate) frequency: u64,
    pub(crate) cast: u64,
}

impl<'a> Deref for VertexMut<'a> {
    type Target = Vertex<'a>;

    #[inline]
    fn deref(&self) -> &Vertex<'a> {
        &self.vertex
    }
}

impl VertexMut<'_> {
    /// The largest [`Program::carry`](crate::Program::carry) of the neighbours that voted for the
    /// winning label; 0 where nothing was carried.
    #[inline]
    pub fn carried(&self) -> f32 {
        self.carried
    }

    /// The sum of the votes for the winning label.
    #[inline]
    pub fn frequency(&self) -> u64 {
        self.frequency
    }

    /// The sum of all votes that the vertex got.
    #[inline]
    pub fn cast(&self) -> u64 {
        self.cast
    }

    /// Value `index` of its `u32` column number `slot`, as it was set; 0 where there is none.
    #[inline]
    pub fn column_u32(&self, slot: usize, index: u32) -> u32 {
        match self.scene.columns.drafted(slot, index) {
            Some(at) => self.draft.get(at).copied().unwrap_or(0),
            None => self.vertex.column_u32(slot, index),
        }
    }

    /// Value `index` of its `f32` column number `slot`, as it was set; 0 where there is none.
    #[inline]
    pub fn column_f32(&self, slot: usize, index: u32) -> f32 {
        f32::from_bits(self.column_u32(slot, index))
    }

    /// Sets value `index` of its `u32` column number `slot`.
    #[inline]
    pub fn set_column_u32(&mut self, slot: usize, index: u32, value: u32) {
        let at = self.scene.columns.drafted(slot, index);
        if let Some(held) = at.and_then(|at| self.draft.get_mut(at)) {
            *held = value;
        }
    }

    /// Sets value `index` of its `f32` column number `slot`.
    #[inline]
    pub fn set_column_f32(&mut self, slot: usize, index: u32, value: f32) {
        self.set_column_u32(slot, index, value.to_bits());
    }
}

/// What a neighbour says: a label, and how loudly.
///
/// A vote of weight 0 says nothing; neither does one for [`NO_LABEL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The label.
    pub label: Label,
    /// Its weight; votes for one label add up in integers.
    pub weight: u32,
}

impl Vote {
    /// The vote that says nothing.
    pub const NONE: Vote = Vote { label: NO_LABEL, weight: 0 };

    /// A vote for a label.
    #[inline]
    pub const fn new(label: Label, weight: u32) -> Vote {
        Vote { label, weight }
    }
}

/// A label that got votes, as [`Program::label_score`](crate::Program::label_score) sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The label.
    pub label: Label,
    /// The sum of the votes for it.
    pub frequency: u64,
    /// The sum of all votes that the vertex got.
    pub cast: u64,
    /// What all vertices add to the totals, those without a label too: the sum of
    /// [`Candidate::total`] over all labels where every vertex has one.
    pub grand_total: u64,
    pub(crate) total: Total<'a>,
}

/// Where a candidate's total comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Total<'a> {
    /// Looked up when a hook asks for it: it lies anywhere in memory.
    Kept(&'a [AtomicU32]),
    /// No label's total exceeds this.
    AtMost(u32),
}

impl Candidate<'_> {
    /// What the engine keeps for this label, by
    /// [`Program::label_total`](crate::Program::label_total); 0 where it keeps nothing.
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
