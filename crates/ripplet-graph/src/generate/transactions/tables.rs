//! What lists are computed from, as plain data: for who computes them elsewhere, such as a GPU.
//!
//! The rules are those of [`Market::shard`], in integers alone:
//!
//! - The transactions of a day are numbered on either side, as *stubs*. Of a day with n newcomers,
//!   stub s < n is that of the s-th of them; any other is of the member on whose weight the place
//!   `offset + (s - n) · gap` lies, where the weights of all members are laid end to end
//!   ([`CrowdTables`]).
//! - A day's [`Permutation`] says which items' stub meets a buyers' stub, and its inverse the
//!   reverse.
//! - A [`Ring`](RingTable)'s buyers and items meet beside that.
//!
//! A vertex' list has whom its stubs meet, and whom its ring says, ascending and each once; the
//! weight is how often.

use super::super::permutation::Permutation;
use super::Market;
use super::crowd::Divisor;
use super::rings::{CHANCE, MOST_BUYERS, MOST_ITEMS};
use crate::VertexId;
use std::ops::Range;

/// The tables of a market that do not depend on which lists are drawn.
#[derive(Clone, Debug)]
pub struct MarketTables<'a> {
    /// Buyers, and items.
    pub crowds: [CrowdTables<'a>; 2],
    /// Of each day, from the buyers' stubs to the items'.
    pub pairings: &'a [Permutation],
    /// Whether lists have weights.
    pub is_weighted: bool,
}

/// Whose the stubs of one side are.
#[derive(Clone, Debug)]
pub struct CrowdTables<'a> {
    /// The vertex that is the first member.
    pub first: VertexId,
    /// The shares of each day.
    pub days: Vec<DayTable>,
    /// The sum of the weights before each member of a block, and at last of all: 2^`bits` members,
    /// whose weights come again in every block.
    pub before: &'a [u32],
    /// Divides a place by a block's weight: the block, and the place within it.
    pub block: Divisor,
    /// The binary logarithm of a block's members.
    pub bits: u32,
    /// For every 2^`step`-th place of a block, the member there: on or before whom any place up to
    /// the next lies.
    pub guide: &'a [u16],
    /// The binary logarithm of the distance of the guide's places.
    pub step: u32,
}

/// A crowd's share in a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayTable {
    /// Members who arrive, numbered from the crowd's first.
    pub newcomers: Range<u32>,
    /// How far apart the stubs' places are.
    pub gap: u64,
    /// The first stub's place.
    pub offset: u64,
}

/// Consecutive stubs of a day, all of vertices of some range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StubRange {
    /// 0 for stubs of buyers, 1 for those of items.
    pub side: usize,
    /// The day, from 0.
    pub day: usize,
    /// Which.
    pub stubs: Range<u64>,
}

/// A ring of fraud. On each of its days, buyer b buys item i where
/// `mix(key ^ mix(day << 16 | b << 8 | i)) < chance`, with b and i counted from the ring's first, and
/// SplitMix64's finalizer for `mix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingTable {
    /// Its buyers, then its items.
    pub members: [VertexId; RingTable::MOST_MEMBERS],
    /// How many of them are buyers.
    pub buyers: u32,
    /// How many are items.
    pub items: u32,
    /// Its days, from 0.
    pub days: Range<u32>,
    /// Draws who buys what.
    pub key: u64,
    /// With which probability, of 2⁶⁴.
    pub chance: u64,
}

impl RingTable {
    /// No ring has more buyers.
    pub const MOST_BUYERS: u32 = MOST_BUYERS;
    /// No ring has more items.
    pub const MOST_ITEMS: u32 = MOST_ITEMS;
    /// No ring has more members.
    pub const MOST_MEMBERS: usize = (MOST_BUYERS + MOST_ITEMS) as usize;

    /// No ring has more transactions than this one could.
    pub fn most_sales(&self) -> u64 {
        u64::from(self.buyers) * u64::from(self.items) * self.days.len() as u64
    }
}

impl Market {
    /// What lists are computed from. Cost: none.
    pub fn tables(&self) -> MarketTables<'_> {
        let crowds = [0, 1].map(|side| self.crowds[side].tables(self.firsts()[side]));
        MarketTables { crowds, pairings: &self.pairings, is_weighted: self.weighted }
    }

    /// The stubs of some vertices, buyers' before items', day by day: together all, each once.
    pub fn stubs_of(&self, vertices: &Range<VertexId>) -> Vec<StubRange> {
        let mut all = Vec::new();
        for (side, members) in self.sides(vertices).into_iter().enumerate() {
            for day in 0..self.crowds[side].days() {
                let ranges = self.crowds[side].stubs_of(day, &members).into_iter();
                let there = ranges.filter(|stubs| !stubs.is_empty());
                all.extend(there.map(|stubs| StubRange { side, day, stubs }));
            }
        }
        all
    }

    /// The numbers of the rings that may have members among some vertices, each once: one or two
    /// ranges.
    pub fn rings_near(&self, vertices: &Range<VertexId>) -> Vec<Range<u32>> {
        let mut near: Vec<Range<u32>> = Vec::new();
        for (side, members) in self.sides(vertices).into_iter().enumerate() {
            if members.is_empty() {
                continue;
            }
            let last = self.rings.near(side, members.end - 1).saturating_add(1);
            let found = self.rings.near(side, members.start)..last.min(self.rings());
            match near.last_mut() {
                // Those that touch are one range.
                Some(before) if found.start <= before.end && before.start <= found.end => {
                    *before = before.start.min(found.start)..before.end.max(found.end);
                }
                _ if !found.is_empty() => near.push(found),
                _ => {}
            }
        }
        near
    }

    /// A ring, or none where the number is not below [`Market::rings`].
    pub fn ring_table(&self, number: u32) -> Option<RingTable> {
        let ring = self.rings.get(number)?;
        let mut members = [0; RingTable::MOST_MEMBERS];
        let (buyers, items) = (ring.members(0), ring.members(1));
        let slots = (0..buyers).map(|slot| (0, slot)).chain((0..items).map(|slot| (1, slot)));
        for (member, (side, slot)) in members.iter_mut().zip(slots) {
            *member = self.firsts()[side] + ring.member(side, slot);
        }
        let (days, key) = (ring.days.clone(), ring.key);
        Some(RingTable { members, buyers, items, days, key, chance: CHANCE })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Transactions;
    use super::*;

    fn market(days: u32, ring_share: f64) -> Market {
        Transactions { ring_share, ..Transactions::new(days, 2e-6) }.market().unwrap()
    }

    /// Sums of stubs and of what rings sell, vertex by vertex, are those of any range.
    #[test]
    fn stubs_of_a_range_are_those_of_its_vertices() {
        for days in [1, 12] {
            let market = market(days, 0.1);
            let count = |range| -> u64 {
                let ranges = market.stubs_of(&range).into_iter();
                ranges.map(|found| found.stubs.end - found.stubs.start).sum()
            };
            let (all, buyers) = (market.vertices(), market.buyers());
            let each: Vec<u64> = (0..all).map(|v| count(v..v + 1)).collect();
            for range in [0..all, 0..0, 3..buyers + 5, buyers..all, 7..8] {
                let expected: u64 = each[range.start as usize..range.end as usize].iter().sum();
                assert_eq!(count(range.clone()), expected, "{range:?}");
            }
            // Every transaction has two ends.
            let sold = (0..days as usize).map(|day| market.crowds[0].stubs(day)).sum::<u64>();
            assert_eq!(count(0..all), 2 * sold);
        }
    }

    #[test]
    fn rings_near_a_range_have_all_of_its_members() {
        let market = market(14, 0.3);
        let (all, buyers) = (market.vertices(), market.buyers());
        assert!(market.rings() > 10);
        for range in [0..all, 0..1, 5..5, buyers - 3..buyers + 3, buyers..buyers + 9, 50..400] {
            let near = market.rings_near(&range);
            assert!(
                near.windows(2).all(|two| two[0].end < two[1].start || two[1].end < two[0].start)
            );
            for ring in 0..market.rings() {
                let table = market.ring_table(ring).unwrap();
                let count = (table.buyers + table.items) as usize;
                assert!(market.ring(ring).eq(table.members[..count].iter().copied()));
                let has = table.members[..count].iter().any(|vertex| range.contains(vertex));
                let is_near = near.iter().any(|near| near.contains(&ring));
                assert!(is_near || !has, "ring {ring} of {range:?}");
            }
        }
        assert_eq!(market.ring_table(market.rings()), None);
    }
}
