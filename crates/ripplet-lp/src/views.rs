//! What hooks see: a vertex, a neighbour, a candidate, each a small copy of scalars.

use crate::columns::Columns;
use crate::hash::{Clock, Stream, mix};
use crate::{Label, NO_LABEL, Program};
use ripplet_graph::{GraphView, VertexId};
use std::ops::Deref;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// What is the same for all vertices in a round: where views look up what they do not carry.
///
/// Hooks have no need of it: it is for those who run hooks that are not compiled with the engine.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub(crate) graph: &'a GraphView<'a>,
    pub(crate) columns: &'a Columns,
    pub(crate) clock: Clock,
}

impl<'a> Scene<'a> {
    /// The clock of the round.
    #[inline]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The values of column number `slot`, one vertex behind the other, as everybody sees them now;
    /// none where there is no such column.
    #[inline]
    pub fn column(&self, slot: usize) -> &'a [AtomicU32] {
        self.columns.values(slot)
    }

    /// The number of vertices of the graph.
    #[inline]
    pub fn vertices(&self) -> u32 {
        self.graph.vertices()
    }

    /// The number of arcs that touch `v`, one of the vertices.
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

impl<'a> Vertex<'a> {
    /// Where it looks up what it does not carry.
    #[inline]
    pub fn scene(&self) -> Scene<'a> {
        self.scene
    }

    /// The same round as another vertex of the graph sees it, with the label that it has.
    #[inline]
    pub(crate) fn beside(self, id: VertexId, label: Label) -> Vertex<'a> {
        Vertex { id, label, scene: self.scene }
    }

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

    /// The values of its written columns, in the columns' order, one behind the other.
    #[inline]
    pub fn draft(&mut self) -> &mut [u32] {
        self.draft
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
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

/// A list of neighbours, all that [`Program::load_neighbors`](crate::Program::load_neighbors) needs
/// to tell their votes.
#[derive(Clone, Copy, Debug)]
pub struct NeighborList<'a> {
    /// Their ids.
    pub ids: &'a [VertexId],
    /// The stored weights of the arcs to them, as many as ids; without, each is 1.
    pub weights: Option<&'a [u32]>,
    /// The labels of all vertices of the graph, by id.
    pub labels: &'a [AtomicU32],
}

impl<'a> NeighborList<'a> {
    /// Writes down the vote that `v` gets from each, by a program's hooks for one neighbour.
    #[inline]
    pub fn ask_each<P: Program + ?Sized>(self, program: &P, v: Vertex<'a>, votes: &mut [Vote]) {
        let votes = votes.iter_mut().zip(self.ids);
        match self.weights {
            None => votes.for_each(|(vote, &u)| *vote = self.vote(program, v, u, 1)),
            Some(weights) => votes
                .zip(weights)
                .for_each(|((vote, &u), &weight)| *vote = self.vote(program, v, u, weight)),
        }
    }

    #[inline]
    fn vote<P: Program + ?Sized>(
        self,
        program: &P,
        v: Vertex<'a>,
        u: VertexId,
        weight: u32,
    ) -> Vote {
        program.load_neighbor(v, self.neighbor(program, v, u, weight))
    }

    /// The largest carry of those whose vote is for a label, by a program's hooks for one
    /// neighbour.
    #[inline]
    pub fn carried<P: Program + ?Sized>(
        self,
        program: &P,
        v: Vertex<'a>,
        votes: &[Vote],
        label: Label,
    ) -> Option<f32> {
        let said = votes.iter().zip(self.ids).enumerate();
        let agreed = said.filter(|(_, (vote, _))| vote.label == label && vote.weight > 0);
        let carries = agreed.map(|(index, (_, &u))| {
            let weight = self.weights.and_then(|weights| weights.get(index)).copied();
            program.carry(v, self.neighbor(program, v, u, weight.unwrap_or(1)))
        });
        carries.filter(|carry| !carry.is_nan()).max_by(f32::total_cmp)
    }

    /// A neighbour, with the label that it shows.
    #[inline]
    fn neighbor<P: Program + ?Sized>(
        self,
        program: &P,
        v: Vertex<'a>,
        u: VertexId,
        weight: u32,
    ) -> Neighbor<'a> {
        let label = self.labels.get(u as usize).map_or(NO_LABEL, |label| label.load(Relaxed));
        let label = program.pick_label(v.beside(u, label));
        Neighbor { id: u, label, weight, scene: v.scene }
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
    /// Where [`Candidate::total`] comes from.
    pub total: Total<'a>,
}

/// Where a candidate's total comes from.
#[derive(Clone, Copy, Debug)]
pub enum Total<'a> {
    /// The totals of all labels: looked up when a hook asks, as they lie anywhere in memory.
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
