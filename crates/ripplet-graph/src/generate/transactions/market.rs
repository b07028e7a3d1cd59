//! A market whose tables are made: any vertex' list, and so any shard.

use super::super::permutation::Permutation;
use super::super::random::{derive, mix};
use super::super::{GenerateError, VERTICES_PER_STREAM};
use super::crowd::{Crowd, CrowdShape};
use super::rings::{MOST_PAIRS, Ring, Rings};
use super::{MOST_DAYS, Transactions};
use crate::memory::{self, OutOfMemory};
use crate::{Adjacency, Direction, Graph, MAX_SHARD_ARCS, Shard, VertexId, VertexIds, WeightScale};
use rayon::prelude::*;
use std::ops::Range;

/// Buyers and items, and who met on which day: small tables that any list follows from.
pub struct Market {
    /// Buyers, and items.
    pub(super) crowds: [Crowd; 2],
    /// Of each day, from the buyers' stubs to the items'.
    pub(super) pairings: Vec<Permutation>,
    pub(super) rings: Rings,
    /// Draws the prices of items.
    pub(super) price_seed: u64,
    /// Draws who of the rings is known.
    known_seed: u64,
    pub(super) weighted: bool,
}

impl Transactions {
    /// The market: what of the graph is not computed list by list.
    ///
    /// # Errors
    /// Where a parameter is out of range or memory is refused.
    pub fn market(&self) -> Result<Market, GenerateError> {
        let (_, rows) = self.size()?;
        let refused = |error: OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let ends: Vec<[u32; 2]> = (1..=self.days).map(|day| self.arrived(day)).collect();
        let arrived = [0, 1].map(|side| ends.iter().map(|end| end[side]).collect::<Vec<u32>>());
        let stubs = self.stubs(&arrived);
        let at_last = self.arrived(MOST_DAYS);
        let crowd = |side: usize| {
            let shape = CrowdShape {
                name: ["buyers", "items"][side],
                arrived: &arrived[side],
                stubs: &stubs,
                at_last: at_last[side],
                exponent: [self.buyer_exponent, self.item_exponent][side],
            };
            Crowd::draw(&shape, self.seed).map_err(refused)
        };
        let crowds = [crowd(0)?, crowd(1)?];
        let seed = derive(self.seed, "pairings");
        let pairing =
            |(day, &stubs): (usize, &u64)| Permutation::new(stubs, seed ^ mix(day as u64));
        let pairings = stubs.iter().enumerate().map(pairing).collect();
        let rings = Rings::draw(self.ring_share, arrived, at_last, self.seed);
        let price_seed = derive(self.seed, "prices");
        let known_seed = derive(self.seed, "known");
        let weighted = self.weighted;
        Ok(Market { crowds, pairings, rings, price_seed, known_seed, weighted })
    }

    /// The stubs of each day, on either side: enough for who is new.
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

impl Market {
    /// How many vertices are buyers: the first ones.
    pub fn buyers(&self) -> u32 {
        self.crowds[0].len()
    }

    /// How many vertices there are, buyers and items.
    pub fn vertices(&self) -> u32 {
        self.crowds[0].len() + self.crowds[1].len()
    }

    /// How many rings there are.
    pub fn rings(&self) -> u32 {
        self.rings.len()
    }

    /// The members of a ring: its buyers, then its items; nobody where it is not below
    /// [`Market::rings`].
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

    /// The buyers of a ring that somebody has found out: each with probability `share`.
    pub fn known(&self, ring: u32, share: f64) -> impl Iterator<Item = VertexId> {
        let (buyers, seed) = (self.buyers(), self.known_seed);
        self.ring(ring).filter(move |&vertex| {
            let unit = mix(seed ^ mix(u64::from(vertex))) as f64 / u64::MAX as f64;
            vertex < buyers && (unit < share || share >= 1.0)
        })
    }

    /// Ranges of vertices, one after the other, each with at most so many arcs, or of one vertex.
    ///
    /// # Errors
    /// Where memory is refused.
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

    /// How many arcs the lists of some vertices have at most.
    ///
    /// # Errors
    /// Where the range is none, or may hold more arcs than a shard.
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

    /// The lists of a range of vertices, on rayon's current pool: the same whatever the range.
    ///
    /// Memory: the shard, and room for those arcs that turn out to be the same edge.
    ///
    /// # Errors
    /// Where the range is none, may hold more arcs than a shard, or memory is refused.
    pub fn shard(&self, vertices: Range<VertexId>) -> Result<Shard, GenerateError> {
        let rows = self.most_arcs(&vertices)?;
        let refused = |error: OutOfMemory| GenerateError::OutOfMemory { rows, bytes: error.bytes };
        let lists = self.lists(vertices.clone()).map_err(refused)?;
        Ok(Shard::new(vertices, lists, None))
    }

    /// The graph, in memory, of shards as large as can be.
    ///
    /// # Errors
    /// Where memory is refused.
    pub fn graph(&self) -> Result<Graph, GenerateError> {
        self.graph_of(|range| self.shard(range))
    }

    /// The graph, whose shards are drawn by `shard`: which gives what [`Market::shard`] would.
    ///
    /// # Errors
    /// Those of `shard`, and where memory is refused.
    ///
    /// # Panics
    /// Where the shards are not those asked for.
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

    /// The first buyer's vertex, and the first item's.
    pub(super) fn firsts(&self) -> [VertexId; 2] {
        [0, self.buyers()]
    }

    /// The buyers, and the items, among some vertices.
    pub(super) fn sides(&self, vertices: &Range<VertexId>) -> [Range<u32>; 2] {
        let split = vertices.start.max(vertices.end.min(self.buyers()));
        let first = self.buyers();
        [vertices.start..split, split.saturating_sub(first)..vertices.end.saturating_sub(first)]
            .map(|side| side.start..side.end.max(side.start))
    }

    /// How many arcs some vertices have at most: arcs of one edge are counted apart.
    fn room(&self, vertices: Range<VertexId>) -> u64 {
        let sides = self.sides(&vertices);
        let of_side = |side: usize| {
            let (crowd, members) = (&self.crowds[side], &sides[side]);
            let stubs = crowd.stubs_before(members.end) - crowd.stubs_before(members.start);
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

    /// Cuts vertices into parts that are drawn by themselves.
    fn cuts(&self, vertices: &Range<VertexId>) -> Result<Vec<Cut>, OutOfMemory> {
        let mut cuts = memory::with_room(vertices.len() / VERTICES_PER_STREAM + 4)?;
        for (side, members) in self.sides(vertices).into_iter().enumerate() {
            let crowd = &self.crowds[side];
            let mut stubs = crowd.stubs_before(members.start);
            for first in members.clone().step_by(VERTICES_PER_STREAM) {
                let end = members.end.min(first.saturating_add(VERTICES_PER_STREAM as u32));
                let own = stubs..crowd.stubs_before(end);
                stubs = own.end;
                let rings = self.rings.touching(side, &(first..end)) * MOST_PAIRS;
                let room = (own.end - own.start + rings) as usize;
                cuts.push(Cut { side, members: first..end, room });
            }
        }
        Ok(cuts)
    }
}

/// Members of a crowd, and for how many arcs they take room.
struct Cut {
    side: usize,
    members: Range<u32>,
    room: usize,
}

/// Where lists go.
struct Places<'a> {
    degrees: &'a mut [u32],
    neighbors: &'a mut [VertexId],
    weights: &'a mut [u32],
}

impl<'a> Places<'a> {
    /// The parts, with their places.
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

/// Moves what parts have kept together: `(room, kept)` values each.
fn close_gaps(parts: &[(usize, usize)], values: &mut [u32]) {
    let (mut from, mut to) = (0, 0);
    for &(room, kept) in parts {
        values.copy_within(from..from + kept, to);
        from += room;
        to += kept;
    }
}

/// A part of a shard that is drawn.
struct Part<'a> {
    cut: Cut,
    places: Places<'a>,
    /// How many places are taken.
    arcs: usize,
}

impl Part<'_> {
    fn draw(&mut self, market: &Market) -> Result<(), OutOfMemory> {
        let Cut { side, members, .. } = &self.cut;
        let (side, members) = (*side, members.clone());
        let mut purchases = Purchases::before(market, side, members.start);
        let (mut met, mut near, mut ring) = (Vec::new(), None, None);
        for (local, member) in members.enumerate() {
            met.clear();
            purchases.of(member, &mut met)?;
            let stretch = market.rings.near(side, member);
            if near.replace(stretch) != Some(stretch) {
                ring = market.rings.get(stretch);
            }
            if let Some(ring) = &ring {
                market.add_ring(ring, side, member, &mut met)?;
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

impl Market {
    /// What a ring adds to a list, where the member is one of its.
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

/// The purchases of members of a crowd, one after the other.
struct Purchases<'a> {
    market: &'a Market,
    side: usize,
    /// Of each day, the first stub of the next member.
    next: Vec<u64>,
}

impl<'a> Purchases<'a> {
    /// From `member` on.
    fn before(market: &'a Market, side: usize, member: u32) -> Purchases<'a> {
        let crowd = &market.crowds[side];
        let weight = crowd.weight_before(member);
        let next = (0..crowd.days()).map(|day| crowd.first(day, weight)).collect();
        Purchases { market, side, next }
    }

    /// Appends whom the next member, `member`, met in all transactions but the rings'.
    fn of(&mut self, member: u32, met: &mut Vec<VertexId>) -> Result<(), OutOfMemory> {
        let crowd = &self.market.crowds[self.side];
        let arrival = crowd.arrival(member);
        memory::push(met, self.partner(arrival, crowd.newcomers_stub(arrival, member)))?;
        let weight = crowd.weight_before(member + 1);
        for day in arrival..crowd.days() {
            let end = crowd.first(day, weight);
            let stubs = std::mem::replace(&mut self.next[day], end)..end;
            memory::reserve(met, (stubs.end - stubs.start) as usize)?;
            met.extend(stubs.map(|stub| self.partner(day, stub)));
        }
        Ok(())
    }

    /// The vertex at the other end of a transaction.
    #[inline]
    fn partner(&self, day: usize, stub: u64) -> VertexId {
        let Market { crowds, pairings, .. } = self.market;
        match self.side {
            0 => self.market.buyers() + crowds[1].owner(day, pairings[day].of(stub)),
            _ => crowds[0].owner(day, pairings[day].inverse_of(stub)),
        }
    }
}
