//! Transactions against an entity's own past in the window: growth, crowded times, and new partners.
//!
//! The newest part of a window is the last quarter of the span from its first to its last transaction. Parts of
//! spans are fractions, so that they are right for windows of hours and of years.
//!
//! Memory: 12 bytes per vertex, and 16 per transaction of the vertices in progress. Determinism: one thread processes
//! a vertex.

use super::sides::{Sides, VERTICES_PER_TASK};
use crate::surprise::surprise;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// The window's span, in the units of times.
const SPAN: u64 = 1 << 32;

/// Begin of the newest part.
const NEWEST: u64 = SPAN / 4 * 3;

/// Spans in which transactions may crowd, as divisors of the window's.
const CROWDED: [u64; 4] = [64, 32, 16, 8];

/// Timing of each vertex; see the [definitions](super::ALL) of the same names.
#[derive(Debug, Default)]
pub struct Timing {
    /// How much its transactions crowd in a part of the window.
    pub count_run: Vec<f32>,
    /// Transactions of the newest part beside those before.
    pub growth: Vec<f32>,
    /// Share of partners that it first met in the newest part.
    pub new_partners: Vec<f32>,
}

impl Timing {
    /// Computes the timing of all vertices; all values are 0 if all times are equal.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(sides: &Sides) -> Result<Timing, OutOfMemory> {
        let mut all = memory::zeros::<[f32; 3]>(sides.vertices())?;
        let each = all.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        each.for_each_init(Scratch::default, |scratch, (v, of)| {
            let (paid, received) = (sides.payers.list(v), sides.payees.list(v));
            scratch.times.clear();
            scratch.times.extend_from_slice(paid.times);
            scratch.times.extend_from_slice(received.times);
            scratch.times.sort_unstable();
            scratch.meetings.clear();
            for list in [paid, received] {
                let both = list.partners.iter().zip(list.times);
                scratch.meetings.extend(both.map(|(&partner, &time)| (partner, time)));
            }
            scratch.meetings.sort_unstable();
            *of = scratch.values();
        });
        let column = |at: usize| memory::collected(all.iter().map(|of| of[at]));
        Ok(Timing { count_run: column(0)?, growth: column(1)?, new_partners: column(2)? })
    }
}

#[derive(Default)]
struct Scratch {
    /// Times of all transactions, ascending.
    times: Vec<u32>,
    /// Partner and time of all transactions, ascending.
    meetings: Vec<(VertexId, u32)>,
}

impl Scratch {
    fn values(&self) -> [f32; 3] {
        if self.times.is_empty() {
            return [0.0; 3];
        }
        let count = self.times.len() as f64;
        let is_old = |time: u32| u64::from(time) < NEWEST;
        let before = self.times.partition_point(|&time| is_old(time)) as f64;
        let expected = before / 3.0;
        let growth = (count - before - expected) / (expected + 1.0).sqrt();
        let mut nats = 0.0_f64;
        for divisor in CROWDED {
            let most = self.most_within(SPAN / divisor) as f64;
            nats = nats.max(surprise(most, count / divisor as f64));
        }
        let partners = self.meetings.chunk_by(|a, b| a.0 == b.0);
        let (mut all, mut new) = (0.0, 0.0);
        for meetings in partners {
            all += 1.0;
            new += if is_old(meetings[0].1) { 0.0 } else { 1.0 };
        }
        [nats.ln_1p() as f32, growth as f32, (new / all) as f32]
    }

    /// Returns the most transactions in any part of the window of this length.
    fn most_within(&self, length: u64) -> usize {
        let (mut most, mut begin) = (0, 0);
        for (at, &time) in self.times.iter().enumerate() {
            while u64::from(time) - u64::from(self.times[begin]) >= length {
                begin += 1;
            }
            most = most.max(at + 1 - begin);
        }
        most
    }
}
