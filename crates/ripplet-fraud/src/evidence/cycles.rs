//! Short directed cycles: money that comes back within a quarter of the window.
//!
//! A cycle begins with a payment and follows, from each payee, its payments that are not earlier, over up to 6
//! entities in all, back to the first. Pairs that pay one another are no cycle. The payments of a cycle are in the
//! order of time, within a quarter of the span of the window.
//!
//! At most one cycle is counted for each payment as its first, the one that a depth-first search in the order of
//! time finds. So a search is bounded: it looks at 16 payments at most, and continues from 8 at most of each
//! entity. On the development sets, 64 rank no better (ADR 0033). A cycle counts for all its entities.
//!
//! Memory: 8 bytes a vertex. Determinism: each search depends on the transactions alone, and counts are integers.

use super::sides::{List, Side, Sides};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, as_atomic, memory};
use std::sync::atomic::Ordering::Relaxed;

/// The most entities of a cycle.
const LONGEST: usize = 6;

/// Payments that a search looks at.
const MOST_STEPS: u32 = 16;

/// Payments of an entity from which a search continues.
const MOST_BRANCHES: u32 = 8;

/// Longest duration of a cycle: a quarter of the window's span.
const DURATION: u64 = 1 << 30;

/// Natural logarithms of the least and of the largest ratio of successive amounts that are alike: 0.8 and 1.05.
const ALIKE: [f32; 2] = [-0.223_143_55, 0.048_790_16];

/// Number of cycles through each vertex.
#[derive(Debug, Default)]
pub struct Cycles {
    /// Of any amounts.
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
        let any = count(&sides.payers, None)?;
        let alike = match sides.has_amounts() {
            true => count(&sides.payers, Some(ALIKE))?,
            false => memory::zeros(sides.vertices())?,
        };
        Ok(Cycles { any, alike })
    }
}

fn count(payers: &Side, alike: Option<[f32; 2]>) -> Result<Vec<u32>, OutOfMemory> {
    let mut counts = memory::zeros::<u32>(payers.vertices())?;
    let shared = as_atomic(&mut counts);
    let vertices = (0..payers.vertices()).into_par_iter().with_min_len(1 << 6);
    vertices.for_each(|v| {
        let list = payers.list(v);
        for (at, &payee) in list.partners.iter().enumerate() {
            let end = u64::from(list.times[at]) + DURATION;
            let mut search = Search { payers, alike, end, steps: 0, path: [0; LONGEST] };
            search.path[0] = v as VertexId;
            search.path[1] = payee;
            let length = search.back(2, list.times[at], list.ln_amounts.get(at).copied());
            for &on in search.path.get(..length).unwrap_or_default() {
                shared[on as usize].fetch_add(1, Relaxed);
            }
        }
    });
    Ok(counts)
}

/// Search for a cycle that begins with one payment.
struct Search<'a> {
    payers: &'a Side,
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
        let mut branches = 0;
        for at in begin..times.len() {
            if u64::from(times[at]) > self.end || self.steps >= MOST_STEPS {
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
            if branches >= MOST_BRANCHES
                || length >= LONGEST
                || self.path[..length].contains(&payee)
            {
                continue;
            }
            branches += 1;
            self.path[length] = payee;
            let found = self.back(length + 1, times[at], ln);
            if found > 0 {
                return found;
            }
        }
        0
    }
}
