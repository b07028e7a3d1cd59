//! Short directed cycles: money that comes back within a quarter of the window.
//!
//! A cycle begins with a payment and follows, from each payee, its payments that are not earlier, over up to 6
//! entities in all, back to the first. Pairs that pay one another are no cycle. The payments of a cycle are in the
//! order of time, within a quarter of the span of the window.
//!
//! At most one cycle is counted for each payment as its first: the first of like amounts that a depth-first search in
//! the order of time finds, or, without one, the first of any amounts. So a cycle of like amounts is one of any
//! amounts, too. A cycle counts for all its entities.
//!
//! # Search from both ends
//! ```text
//! first payment a → b
//! from the end   a ◀ x ◀ y ◀ …   the latest time at which each entity can still pass money on to a: up to 4 payments
//! forward        b ▶ y ▶ x ▶ a   only to entities that can still pass money on to a
//! ```
//! Ordinary payments of an entity on the cycle lead to no dead ends so, but they are looked at. The search is bounded:
//! from the end it looks at [`MOST_FROM_END`] payments at most, those after the first payment in the order of time,
//! receipts of `a` before those of its payers. Forward it looks at [`MOST_FORWARD`] at most.
//!
//! Memory: 8 bytes per vertex. Determinism: each search depends on the transactions alone, and counts are integers.
//!
//! Reference: Kumar, Calders, *2SCENT: an efficient algorithm for enumerating all simple temporal cycles*, VLDB 2018,
//! whose first phase also finds from where a cycle's first entity can be reached in the order of time.

use super::sides::{List, Side, Sides};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, as_atomic, memory};
use std::sync::atomic::Ordering::Relaxed;

/// The most entities of a cycle.
const LONGEST: usize = 6;

/// Payments that a search looks at from the end.
const MOST_FROM_END: u32 = 64;

/// Payments that a search looks at forward.
const MOST_FORWARD: u32 = 128;

/// Longest duration of a cycle: a quarter of the window's span.
const DURATION: u64 = 1 << 30;

/// Natural logarithms of the least and of the largest ratio of successive amounts that are alike: 0.8 and 1.05.
const ALIKE: [f32; 2] = [-0.223_143_55, 0.048_790_16];

/// Number of cycles through each vertex.
#[derive(Debug, Default)]
pub struct Cycles {
    /// Of any amounts; no vertex has fewer than of like amounts.
    pub any: Vec<u32>,
    /// In which no amount is below 0.8 times, or above 1.05 times, the one before; 0 if amounts are not mapped.
    pub alike: Vec<u32>,
}

impl Cycles {
    /// Counts the cycles through each vertex.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(sides: &Sides) -> Result<Cycles, OutOfMemory> {
        let mut any = memory::zeros::<u32>(sides.vertices())?;
        let mut alike = memory::zeros::<u32>(sides.vertices())?;
        let counts = (as_atomic(&mut any), as_atomic(&mut alike));
        let vertices = (0..sides.vertices()).into_par_iter().with_min_len(1 << 6);
        vertices.for_each_init(Reach::default, |reach, v| {
            let list = sides.payers.list(v);
            for (at, &payee) in list.partners.iter().enumerate() {
                let first = First {
                    payer: v as VertexId,
                    payee,
                    time: list.times[at],
                    ln_amount: list.ln_amounts.get(at).copied(),
                };
                let Some(found) = first.cycle(sides, reach) else { continue };
                for &on in found.entities() {
                    counts.0[on as usize].fetch_add(1, Relaxed);
                    if found.alike {
                        counts.1[on as usize].fetch_add(1, Relaxed);
                    }
                }
            }
        });
        Ok(Cycles { any, alike })
    }
}

/// First payment of a cycle.
struct First {
    payer: VertexId,
    payee: VertexId,
    time: u32,
    ln_amount: Option<f32>,
}

/// Cycle that was found.
struct Found {
    path: [VertexId; LONGEST],
    length: usize,
    alike: bool,
}

impl Found {
    fn entities(&self) -> &[VertexId] {
        &self.path[..self.length]
    }
}

impl First {
    /// Returns the last time of a payment of a cycle.
    fn end(&self) -> u64 {
        u64::from(self.time) + DURATION
    }

    /// Returns the cycle that is counted for this payment.
    fn cycle(&self, sides: &Sides, reach: &mut Reach) -> Option<Found> {
        // Most payees of purchases make no payment.
        let next = sides.payers.list(self.payee as usize).times;
        let next = next.get(next.partition_point(|&other| other < self.time))?;
        if u64::from(*next) > self.end() || !reach.fill(&sides.payees, self) {
            return None;
        }
        let search = |alike| {
            let mut search = Search {
                payers: &sides.payers,
                reach,
                alike,
                end: self.end(),
                steps: 0,
                path: [self.payer; LONGEST],
            };
            search.path[1] = self.payee;
            let length = search.back(2, self.time, self.ln_amount);
            (length > 0).then_some(Found { path: search.path, length, alike: alike.is_some() })
        };
        let alike = if sides.has_amounts() { search(Some(ALIKE)) } else { None };
        alike.or_else(|| search(None))
    }
}

/// Number of payments from the end that are followed: after the first payment and one more.
const FROM_END: usize = LONGEST - 2;

/// Entities from which a cycle's first entity can be reached: a hash table with linear probing.
struct Reach {
    slots: Vec<Slot>,
    /// Number of the search, which its slots have: others are free.
    search: u32,
    /// Places of entities whose latest time became later with one payment more.
    frontier: Vec<u32>,
    next: Vec<u32>,
}

/// Entity from which a cycle's first entity can be reached.
#[derive(Clone, Copy)]
struct Slot {
    search: u32,
    entity: VertexId,
    /// Number of payments for which it was last listed.
    listed: u32,
    /// Number of payments from which on it can pass money on.
    least: u32,
    /// The latest time at which it can pass money on with at most 1, 2, … payments, from `least` on.
    latest: [u32; FROM_END],
}

const FREE: Slot = Slot { search: 0, entity: 0, listed: 0, least: 0, latest: [0; FROM_END] };

/// Bits of a place in the table: each payment adds one entity at most, so that it is at most half full.
const SLOT_BITS: u32 = (2 * MOST_FROM_END).ilog2();

impl Default for Reach {
    fn default() -> Reach {
        Reach {
            slots: vec![FREE; 1 << SLOT_BITS],
            search: 0,
            frontier: Vec::new(),
            next: Vec::new(),
        }
    }
}

impl Reach {
    /// Returns the place of an entity, or the free one for it.
    fn place(&self, entity: VertexId) -> usize {
        // Fibonacci hashing: 2³² over the golden ratio.
        let mut place = (entity.wrapping_mul(0x9E37_79B9) >> (32 - SLOT_BITS)) as usize;
        loop {
            let slot = &self.slots[place];
            if slot.search != self.search || slot.entity == entity {
                return place;
            }
            place = (place + 1) % (1 << SLOT_BITS);
        }
    }

    /// Whether an entity that is paid at a time can pass money on with at most this number of payments, at least 1.
    fn can_pass(&self, entity: VertexId, time: u32, payments: usize) -> bool {
        let slot = &self.slots[self.place(entity)];
        slot.search == self.search
            && slot.least as usize <= payments
            && slot.latest[payments - 1] >= time
    }

    /// Finds the entities from which a cycle's first one can be reached after the first payment, without its payee;
    /// returns whether there are any.
    fn fill(&mut self, payees: &Side, first: &First) -> bool {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.slots.fill(FREE);
            self.search = 1;
        }
        let mut steps = 0;
        self.next.clear();
        self.follow(payees, first, (first.payer, first.end(), 0), &mut steps);
        let has_any = !self.next.is_empty();
        for level in 1..FROM_END {
            std::mem::swap(&mut self.frontier, &mut self.next);
            self.next.clear();
            for at in 0..self.frontier.len() {
                let Slot { entity, latest, .. } = self.slots[self.frontier[at] as usize];
                let latest = u64::from(latest[level - 1]);
                self.follow(payees, first, (entity, latest, level), &mut steps);
            }
        }
        has_any
    }

    /// Lists the payers of an entity up to its latest time, who need one payment more than its `level`.
    fn follow(
        &mut self,
        payees: &Side,
        first: &First,
        (entity, latest, level): (VertexId, u64, usize),
        steps: &mut u32,
    ) {
        if *steps >= MOST_FROM_END {
            return;
        }
        let List { partners, times, .. } = payees.list(entity as usize);
        let begin = times.partition_point(|&other| other < first.time);
        for at in begin..times.len() {
            let time = times[at];
            if u64::from(time) > latest || *steps >= MOST_FROM_END {
                return;
            }
            *steps += 1;
            let payer = partners[at];
            if payer == first.payer || payer == first.payee {
                continue;
            }
            let place = self.place(payer);
            let search = self.search;
            let slot = &mut self.slots[place];
            let payments = level as u32 + 1;
            if slot.search != search {
                *slot = Slot { search, entity: payer, least: payments, ..FREE };
            } else if slot.latest[level] >= time {
                continue;
            }
            slot.latest[level..].fill(time);
            if slot.listed != payments {
                slot.listed = payments;
                self.next.push(place as u32);
            }
        }
    }
}

/// Search for a cycle that begins with one payment.
struct Search<'a> {
    payers: &'a Side,
    reach: &'a Reach,
    alike: Option<[f32; 2]>,
    /// Last time of a payment.
    end: u64,
    steps: u32,
    path: [VertexId; LONGEST],
}

impl Search<'_> {
    /// Whether an amount may follow another, both as logarithms.
    fn is_alike(&self, before: Option<f32>, next: Option<f32>) -> bool {
        let ratio = before.zip(next).map(|(before, next)| next - before);
        let both = self.alike.zip(ratio);
        both.is_none_or(|([least, most], ratio)| (least..=most).contains(&ratio))
    }

    /// Returns the number of entities of the first cycle that continues a path of `length` entities, whose last
    /// was paid this amount at this time; 0 if none is found.
    fn back(&mut self, length: usize, time: u32, ln_amount: Option<f32>) -> usize {
        let last = self.path[length - 1];
        let List { partners, times, ln_amounts } = self.payers.list(last as usize);
        let begin = times.partition_point(|&other| other < time);
        for at in begin..times.len() {
            if u64::from(times[at]) > self.end || self.steps >= MOST_FORWARD {
                return 0;
            }
            self.steps += 1;
            let ln = ln_amounts.get(at).copied();
            if !self.is_alike(ln_amount, ln) {
                continue;
            }
            let payee = partners[at];
            if payee == self.path[0] {
                if length > 2 {
                    return length;
                }
                continue;
            }
            if length >= LONGEST
                || !self.reach.can_pass(payee, times[at], LONGEST - length)
                || self.path[..length].contains(&payee)
            {
                continue;
            }
            self.path[length] = payee;
            let found = self.back(length + 1, times[at], ln);
            if found > 0 {
                return found;
            }
        }
        0
    }
}
