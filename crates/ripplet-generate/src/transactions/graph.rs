//! The transaction graph: the list of any vertex, and so any shard, computed from small tables.

use super::population::{Population, PopulationShape};
use super::rings::{MOST_PAIRS, Ring, Rings};
use super::{MOST_DAYS, Transactions};
use crate::permutation::Permutation;
use crate::random::derive;
use crate::{GenerateError, VERTICES_PER_STREAM};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::splitmix::mix;
use ripplet_graph::{
    Adjacency, Direction, Graph, MAX_SHARD_ARCS, Shard, VertexId, VertexIds, WeightScale,
};
use std::ops::Range;

/// A graph of transactions between buyers and items, as small tables from which any list is computed.
pub struct TransactionGraph {
    /// Buyers, then items.
    pub(super) populations: [Population; 2],
    /// For each day, the permutation from stubs of buyers to stubs of items.
    pub(super) pairings: Vec<Permutation>,
    pub(super) rings: Rings,
    /// Seed of the prices of items.
    pub(super) price_seed: u64,
    /// Seed of the known members of rings.
    known_seed: u64,
    pub(super) weighted: bool,
}

impl Transactions {
    /// Prepares the tables from which lists are computed.
    ///
    /// # Errors
    /// If a parameter is out of range or memory allocation fails.
    pub fn prepare(&self) -> Result<TransactionGraph, GenerateError> {
        let (_, rows) = self.size()?;
        let refused = |error: OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let ends: Vec<[u32; 2]> = (1..=self.days).map(|day| self.arrived(day)).collect();
        let arrived = [0, 1].map(|side| ends.iter().map(|end| end[side]).collect::<Vec<u32>>());
        let stubs = self.stubs(&arrived);
        let at_last = self.arrived(MOST_DAYS);
        let population = |side: usize| {
            let shape = PopulationShape {
                name: ["buyers", "items"][side],
                arrived: &arrived[side],
                stubs: &stubs,
                at_last: at_last[side],
                exponent: [self.buyer_exponent, self.item_exponent][side],
            };
            Population::draw(&shape, self.seed).map_err(refused)
        };
        let populations = [population(0)?, population(1)?];
        let seed = derive(self.seed, "pairings");
        let pairing =
            |(day, &stubs): (usize, &u64)| Permutation::new(stubs, seed ^ mix(day as u64));
        let pairings = stubs.iter().enumerate().map(pairing).collect();
        let rings = Rings::draw(self.ring_share, arrived, at_last, self.seed);
        let price_seed = derive(self.seed, "prices");
        let known_seed = derive(self.seed, "known");
        let weighted = self.weighted;
        Ok(TransactionGraph { populations, pairings, rings, price_seed, known_seed, weighted })
    }

    /// Returns the number of stubs per side on each day: at least one for each newcomer.
    fn stubs(&self, arrived: &[Vec<u32>; 2]) -> Vec<u64> {
        let of_day = |day: usize| {
            let new = |side: &Vec<u32>| side[day] - day.checked_sub(1).map_or(0, |last| side[last]);
            let least = u64::from(new(&arrived[0]).max(new(&arrived[1])));
            let sold = self.sold(day as u32 + 1) - self.sold(day as u32);
            sold.max(least)
        };
        (0..self.days as usize).map(of_day).collect()
    }
}

impl TransactionGraph {
    /// Returns the number of buyers, which are the first vertices.
    pub fn buyers(&self) -> u32 {
        self.populations[0].len()
    }

    /// Returns the number of vertices: buyers and items.
    pub fn vertices(&self) -> u32 {
        self.populations[0].len() + self.populations[1].len()
    }

    /// Returns the number of rings.
    pub fn rings(&self) -> u32 {
        self.rings.len()
    }

    /// Returns the members of a ring, buyers first; none if the number is not below
    /// [`TransactionGraph::rings`].
    pub fn ring(&self, ring: u32) -> impl Iterator<Item = VertexId> {
        let firsts = self.firsts();
        self.rings.get(ring).into_iter().flat_map(move |ring| {
            let side = |side: usize| (0..ring.members(side)).map(move |slot| (side, slot));
            let members: Vec<VertexId> = side(0)
                .chain(side(1))
                .map(|(side, slot)| firsts[side] + ring.member(side, slot))
                .collect();
            members
        })
    }

    /// Returns the known buyers of a ring: each buyer is known with probability `share`.
    pub fn known(&self, ring: u32, share: f64) -> impl Iterator<Item = VertexId> {
        let (buyers, seed) = (self.buyers(), self.known_seed);
        self.ring(ring).filter(move |&vertex| {
            let unit = mix(seed ^ mix(u64::from(vertex))) as f64 / u64::MAX as f64;
            vertex < buyers && (unit < share || share >= 1.0)
        })
    }

    /// Cuts the vertices into consecutive ranges of at most `arcs` arcs each, or of one vertex.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn shard_ranges(&self, arcs: u64) -> Result<Vec<Range<VertexId>>, GenerateError> {
        let rows = self.room(0..self.vertices());
        let refused = |error: OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let arcs = arcs.min(MAX_SHARD_ARCS);
        let (mut ranges, mut first) = (Vec::new(), 0);
        while first < self.vertices() {
            // Between `low`, which fits, and `high`, which does not or is the last.
            let (mut low, mut high) = (first + 1, self.vertices());
            while low < high {
                let middle = high - (high - low) / 2;
                match self.room(first..middle) <= arcs {
                    true => low = middle,
                    false => high = middle - 1,
                }
            }
            memory::push(&mut ranges, first..low).map_err(refused)?;
            first = low;
        }
        Ok(ranges)
    }

    /// Returns an upper bound of the number of arcs of some vertices.
    ///
    /// # Errors
    /// If the range is none, or may hold more arcs than a shard.
    pub fn most_arcs(&self, vertices: &Range<VertexId>) -> Result<u64, GenerateError> {
        if vertices.start > vertices.end || vertices.end > self.vertices() {
            let expected = format!("within 0..{}", self.vertices());
            return Err(GenerateError::parameter("vertices", format!("{vertices:?}"), expected));
        }
        let rows = self.room(vertices.clone());
        if rows > MAX_SHARD_ARCS {
            let expected = format!("a range of at most {MAX_SHARD_ARCS} arcs, which has {rows}");
            return Err(GenerateError::parameter("vertices", format!("{vertices:?}"), expected));
        }
        Ok(rows)
    }

    /// Returns the lists of a range of vertices, on rayon's current pool. They do not depend on the range.
    ///
    /// Memory: the shard, and room for those arcs that turn out to be the same edge.
    ///
    /// # Errors
    /// If the range is none, may hold more arcs than a shard, or memory allocation fails.
    pub fn shard(&self, vertices: Range<VertexId>) -> Result<Shard, GenerateError> {
        let rows = self.most_arcs(&vertices)?;
        let refused = |error: OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let lists = self.lists(vertices.clone()).map_err(refused)?;
        Ok(Shard::new(vertices, lists, None))
    }

    /// Returns the graph in memory, in shards as large as possible.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn graph(&self) -> Result<Graph, GenerateError> {
        self.graph_of(|range| self.shard(range))
    }

    /// Returns the graph whose shards `shard` draws; it must return the shards of [`TransactionGraph::shard`].
    ///
    /// # Errors
    /// The errors of [`TransactionGraph::shard`]; also if memory allocation fails.
    ///
    /// # Panics
    /// If a shard is not the requested one.
    pub fn graph_of<E: From<GenerateError>>(
        &self,
        shard: impl FnMut(Range<VertexId>) -> Result<Shard, E>,
    ) -> Result<Graph, E> {
        let ranges = self.shard_ranges(MAX_SHARD_ARCS)?.into_iter();
        let shards: Vec<Shard> = ranges.map(shard).collect::<Result<_, _>>()?;
        let ids = VertexIds::Consecutive { first: 0, count: self.vertices() };
        let graph = Graph::from_shards(ids, Direction::Undirected, WeightScale::ONE, shards);
        Ok(graph.expect("lists ascend and name vertices"))
    }

    /// Returns the vertices of the first buyer and the first item.
    pub(super) fn firsts(&self) -> [VertexId; 2] {
        [0, self.buyers()]
    }

    /// Returns the buyers and the items among some vertices.
    pub(super) fn sides(&self, vertices: &Range<VertexId>) -> [Range<u32>; 2] {
        let split = vertices.start.max(vertices.end.min(self.buyers()));
        let first = self.buyers();
        [vertices.start..split, split.saturating_sub(first)..vertices.end.saturating_sub(first)]
            .map(|side| side.start..side.end.max(side.start))
    }

    /// Returns an upper bound of the arcs of some vertices: repeated arcs of an edge count.
    fn room(&self, vertices: Range<VertexId>) -> u64 {
        let sides = self.sides(&vertices);
        let of_side = |side: usize| {
            let (population, members) = (&self.populations[side], &sides[side]);
            let stubs =
                population.stubs_before(members.end) - population.stubs_before(members.start);
            stubs + self.rings.touching(side, members) * MOST_PAIRS
        };
        of_side(0) + of_side(1)
    }

    /// Draws some vertices' lists.
    fn lists(&self, vertices: Range<VertexId>) -> Result<Adjacency, OutOfMemory> {
        let cuts = self.cuts(&vertices)?;
        let room = cuts.iter().map(|cut| cut.room).sum();
        let mut neighbors = memory::zeros::<VertexId>(room)?;
        let mut weights = memory::zeros::<u32>(if self.weighted { room } else { 0 })?;
        let mut offsets = memory::zeros::<u32>(vertices.len() + 1)?;
        let places =
            Places { degrees: &mut offsets[1..], neighbors: &mut neighbors, weights: &mut weights };
        let mut parts = places.of(cuts)?;
        parts.par_iter_mut().try_for_each(|part| part.draw(self))?;
        let kept = memory::collected(parts.iter().map(|part| (part.cut.room, part.arcs)))?;
        drop(parts);

        let mut arcs = 0u32;
        for offset in &mut offsets[1..] {
            arcs += *offset;
            *offset = arcs;
        }
        close_gaps(&kept, &mut neighbors);
        neighbors.truncate(arcs as usize);
        if self.weighted {
            close_gaps(&kept, &mut weights);
            weights.truncate(arcs as usize);
        }
        let weights = self.weighted.then(|| weights.into());
        Ok(Adjacency::new(offsets.into(), neighbors.into(), weights))
    }

    /// Cuts vertices into parts that are drawn independently.
    fn cuts(&self, vertices: &Range<VertexId>) -> Result<Vec<Cut>, OutOfMemory> {
        let mut cuts = memory::with_room(vertices.len() / VERTICES_PER_STREAM + 4)?;
        for (side, members) in self.sides(vertices).into_iter().enumerate() {
            let population = &self.populations[side];
            let mut stubs = population.stubs_before(members.start);
            for first in members.clone().step_by(VERTICES_PER_STREAM) {
                let end = members.end.min(first.saturating_add(VERTICES_PER_STREAM as u32));
                let own = stubs..population.stubs_before(end);
                stubs = own.end;
                let rings = self.rings.touching(side, &(first..end)) * MOST_PAIRS;
                let room = (own.end - own.start + rings) as usize;
                cuts.push(Cut { side, members: first..end, room });
            }
        }
        Ok(cuts)
    }
}

/// Members of a population, and the capacity for their arcs.
struct Cut {
    side: usize,
    members: Range<u32>,
    room: usize,
}

/// Destinations of lists.
struct Places<'a> {
    degrees: &'a mut [u32],
    neighbors: &'a mut [VertexId],
    weights: &'a mut [u32],
}

impl<'a> Places<'a> {
    /// Returns the parts, with their places.
    fn of(mut self, cuts: Vec<Cut>) -> Result<Vec<Part<'a>>, OutOfMemory> {
        memory::collected(cuts.into_iter().map(|cut| Part {
            places: Places {
                degrees: memory::front(&mut self.degrees, cut.members.len()),
                neighbors: memory::front(&mut self.neighbors, cut.room),
                weights: memory::front(&mut self.weights, cut.room),
            },
            cut,
            arcs: 0,
        }))
    }
}

/// Closes the gaps between the values that parts have kept: `(room, kept)` values each.
fn close_gaps(parts: &[(usize, usize)], values: &mut [u32]) {
    let (mut from, mut to) = (0, 0);
    for &(room, kept) in parts {
        values.copy_within(from..from + kept, to);
        from += room;
        to += kept;
    }
}

/// A part of a shard, while it is drawn.
struct Part<'a> {
    cut: Cut,
    places: Places<'a>,
    /// Number of places in use.
    arcs: usize,
}

impl Part<'_> {
    fn draw(&mut self, transactions: &TransactionGraph) -> Result<(), OutOfMemory> {
        let Cut { side, members, .. } = &self.cut;
        let (side, members) = (*side, members.clone());
        let mut purchases = Purchases::before(transactions, side, members.start);
        let (mut met, mut near, mut ring) = (Vec::new(), None, None);
        for (local, member) in members.enumerate() {
            met.clear();
            purchases.of(member, &mut met)?;
            let stretch = transactions.rings.near(side, member);
            if near.replace(stretch) != Some(stretch) {
                ring = transactions.rings.get(stretch);
            }
            if let Some(ring) = &ring {
                transactions.add_ring(ring, side, member, &mut met)?;
            }
            met.sort_unstable();
            self.append(local, &met);
        }
        Ok(())
    }

    /// Appends a list, each neighbour once.
    fn append(&mut self, local: usize, met: &[VertexId]) {
        let Places { degrees, neighbors, weights } = &mut self.places;
        for same in met.chunk_by(|a, b| a == b) {
            neighbors[self.arcs] = same[0];
            if let Some(weight) = weights.get_mut(self.arcs) {
                *weight = same.len() as u32;
            }
            self.arcs += 1;
            degrees[local] += 1;
        }
    }
}

impl TransactionGraph {
    /// Adds the purchases of a ring to a list, if the member is in the ring.
    fn add_ring(
        &self,
        ring: &Ring,
        side: usize,
        member: u32,
        met: &mut Vec<VertexId>,
    ) -> Result<(), OutOfMemory> {
        let Some(slot) = ring.slot(side, member) else { return Ok(()) };
        let other = 1 - side;
        for partner in 0..ring.members(other) {
            let [buyer, item] = if side == 0 { [slot, partner] } else { [partner, slot] };
            let vertex = self.firsts()[other] + ring.member(other, partner);
            for _ in 0..ring.times(buyer, item) {
                memory::push(met, vertex)?;
            }
        }
        Ok(())
    }
}

/// The purchases of members of a population, one after the other.
struct Purchases<'a> {
    transactions: &'a TransactionGraph,
    side: usize,
    /// Of each day, the first stub of the next member.
    next: Vec<u64>,
}

impl<'a> Purchases<'a> {
    /// Returns the purchases from `member` on.
    fn before(transactions: &'a TransactionGraph, side: usize, member: u32) -> Purchases<'a> {
        let population = &transactions.populations[side];
        let weight = population.weight_before(member);
        let next = (0..population.days()).map(|day| population.first(day, weight)).collect();
        Purchases { transactions, side, next }
    }

    /// Appends the partners of the next member, `member`, in all transactions except those of rings.
    fn of(&mut self, member: u32, met: &mut Vec<VertexId>) -> Result<(), OutOfMemory> {
        let population = &self.transactions.populations[self.side];
        let arrival = population.arrival(member);
        memory::push(met, self.partner(arrival, population.newcomers_stub(arrival, member)))?;
        let weight = population.weight_before(member + 1);
        for day in arrival..population.days() {
            let end = population.first(day, weight);
            let stubs = std::mem::replace(&mut self.next[day], end)..end;
            memory::reserve(met, (stubs.end - stubs.start) as usize)?;
            met.extend(stubs.map(|stub| self.partner(day, stub)));
        }
        Ok(())
    }

    /// Returns the vertex at the other end of a transaction.
    #[inline]
    fn partner(&self, day: usize, stub: u64) -> VertexId {
        let TransactionGraph { populations, pairings, .. } = self.transactions;
        match self.side {
            0 => self.transactions.buyers() + populations[1].owner(day, pairings[day].of(stub)),
            _ => populations[0].owner(day, pairings[day].inverse_of(stub)),
        }
    }
}
