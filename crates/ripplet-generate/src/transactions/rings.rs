//! Rings of fraud: their members and purchases.

use crate::permutation::Permutation;
use crate::random::derive;
use ripplet_graph::splitmix::mix;
use std::ops::{Range, RangeInclusive};

/// Positions of the rings: at most one in each stretch of buyers, with an equally large share of
/// the items, so that all arrive at about the same time.
pub(super) struct Rings {
    /// Lengths of a stretch of buyers and of one of items.
    stretch: [u32; 2],
    /// Stretches that are complete, of buyers and of items.
    count: u32,
    /// Buyers and items at the end of each day.
    arrived: [Vec<u32>; 2],
    seed: u64,
}

/// Buyers of a ring.
const BUYERS: RangeInclusive<u32> = 8..=24;
/// Items of a ring.
const ITEMS: RangeInclusive<u32> = 3..=6;
/// Days on which a ring buys.
const CAMPAIGN: u32 = 10;
/// Probability that a buyer of the ring buys an item of the ring on one of these days, in units of 2⁻⁶⁴.
const CHANCE: u64 = (0.3 * u64::MAX as f64) as u64;
/// No ring has more buyers, items, or pairs of them.
const MOST_BUYERS: u32 = *BUYERS.end();
const MOST_ITEMS: u32 = *ITEMS.end();
pub(super) const MOST_PAIRS: u64 = (MOST_BUYERS * MOST_ITEMS) as u64;

/// One of the rings.
pub(super) struct Ring {
    sides: [Side; 2],
    pub(super) days: Range<u32>,
    pub(super) key: u64,
}

/// Positions of a ring's members in a population: the first of a stretch, under a permutation of it.
struct Side {
    first: u32,
    stretch: Permutation,
    members: u32,
}

impl Rings {
    /// Draws rings that have a share of the buyers.
    ///
    /// `arrived` are the buyers and items at the end of each day, and `at_last` those of all days
    /// that a graph can have.
    pub(super) fn draw(share: f64, arrived: [Vec<u32>; 2], at_last: [u32; 2], seed: u64) -> Rings {
        let mean = f64::from(BUYERS.start() + BUYERS.end()) / 2.0;
        // A cast saturates: where the share is 0, a stretch is longer than any population.
        let buyers = libm::round(mean / share) as u32;
        let items = u64::from(buyers) * u64::from(at_last[1]) / u64::from(at_last[0].max(1));
        let items = u32::try_from(items).unwrap_or(u32::MAX).max(*ITEMS.end());
        let stretch = [buyers, items];
        let whole = |side: usize| arrived[side].last().map_or(0, |&all| all / stretch[side]);
        let count = whole(0).min(whole(1));
        Rings { stretch, count, arrived, seed: derive(seed, "rings") }
    }

    /// Returns the number of rings.
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// Returns the ring of a member's stretch; the member need not belong to the ring.
    pub(super) fn near(&self, side: usize, member: u32) -> u32 {
        member / self.stretch[side]
    }

    /// Returns the number of stretches that intersect some members of a population.
    pub(super) fn touching(&self, side: usize, members: &Range<u32>) -> u64 {
        if members.is_empty() {
            return 0;
        }
        u64::from(self.near(side, members.end - 1) - self.near(side, members.start)) + 1
    }

    /// Returns the day on which all members of a ring's stretches have arrived; it is never before that of the ring
    /// before.
    fn begin(&self, ring: u32) -> u32 {
        let complete = |side: usize| {
            let members = (ring + 1) * self.stretch[side];
            self.arrived[side].partition_point(|&arrived| arrived < members) as u32
        };
        complete(0).max(complete(1))
    }

    /// Returns the rings that buy on a day.
    pub(super) fn active(&self, day: u32) -> Range<u32> {
        // The first ring that begins on this day or later.
        let first = |day: u32| {
            let (mut low, mut high) = (0, self.count);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.begin(middle) < day { low = middle + 1 } else { high = middle }
            }
            low
        };
        first((day + 1).saturating_sub(CAMPAIGN))..first(day + 1)
    }

    /// One of the rings.
    pub(super) fn get(&self, ring: u32) -> Option<Ring> {
        if ring >= self.count {
            return None;
        }
        let begin = self.begin(ring);
        let days = begin..(self.arrived[0].len() as u32).min(begin + CAMPAIGN);
        let key = mix(self.seed ^ mix(u64::from(ring)));
        let side = |side: usize, sizes: RangeInclusive<u32>| {
            let key = derive(key, ["buyers", "items"][side]);
            let length = self.stretch[side];
            let choice = u64::from(sizes.end() - sizes.start()) + 1;
            Side {
                first: ring * length,
                stretch: Permutation::new(u64::from(length), key),
                members: sizes.start() + (mix(key) % choice) as u32,
            }
        };
        Some(Ring { sides: [side(0, BUYERS), side(1, ITEMS)], days, key })
    }
}

impl Ring {
    /// Returns the number of buyers, or items, of the ring.
    pub(super) fn members(&self, side: usize) -> u32 {
        self.sides[side].members
    }

    /// Returns one of the ring's buyers, or items.
    pub(super) fn member(&self, side: usize, slot: u32) -> u32 {
        let side = &self.sides[side];
        side.first + side.stretch.of(u64::from(slot)) as u32
    }

    /// Returns the number of a buyer, or item, within the ring, if it belongs to the ring; it must be in the ring's
    /// stretch.
    pub(super) fn slot(&self, side: usize, member: u32) -> Option<u32> {
        let side = &self.sides[side];
        let slot = side.stretch.inverse_of(u64::from(member - side.first)) as u32;
        (slot < side.members).then_some(slot)
    }

    /// Returns whether a buyer buys an item on a day.
    pub(super) fn buys(&self, buyer: u32, item: u32, day: u32) -> bool {
        let which = u64::from(day) << 16 | u64::from(buyer) << 8 | u64::from(item);
        self.days.contains(&day) && mix(self.key ^ mix(which)) < CHANCE
    }

    /// Returns how often a buyer buys an item.
    pub(super) fn times(&self, buyer: u32, item: u32) -> u32 {
        self.days.clone().map(|day| u32::from(self.buys(buyer, item, day))).sum()
    }
}
