//! Transactions of each vertex as payer, and as payee, in the order of time.
//!
//! Several kinds of evidence read a vertex's transactions one after another. So they are listed once, with
//! partner, time and logarithm of the amount beside one another, and not looked up day by day.
//!
//! Memory: 8 bytes per transaction and side, 12 with amounts, and 8 more while a side is built; 8 per vertex.
//! Determinism: equal times are in the order of days, payers, payees and amounts.

use crate::days::DayAdjacency;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// Vertices in one parallel task.
pub(super) const VERTICES_PER_TASK: usize = 1 << 8;

/// Transactions by one of their ends.
#[derive(Debug, Default)]
pub struct Side {
    offsets: Vec<u64>,
    partners: Vec<VertexId>,
    /// Times as fractions of the span from the first to the last transaction of all, from 0 to 2³² − 1.
    times: Vec<u32>,
    /// Natural logarithms of the amounts; empty if amounts are not mapped.
    ln_amounts: Vec<f32>,
}

/// Transactions of a vertex on one side, in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct List<'a> {
    /// The other end of each.
    pub partners: &'a [VertexId],
    /// Time of each, as a fraction of the window's span: 2³² is the whole.
    pub times: &'a [u32],
    /// Natural logarithm of each amount in smallest units, at least 0; empty if amounts are not mapped.
    pub ln_amounts: &'a [f32],
}

/// Both sides of a window's transactions.
#[derive(Debug, Default)]
pub struct Sides {
    /// Payments of each vertex.
    pub payers: Side,
    /// Receipts of each vertex.
    pub payees: Side,
}

/// Bits of an index within a day.
const INDEX_BITS: u32 = 40;

fn place(packed: u64) -> (usize, usize) {
    ((packed >> INDEX_BITS) as usize, (packed & ((1 << INDEX_BITS) - 1)) as usize)
}

impl Sides {
    /// Returns the bytes that [`Sides::of`] needs for these numbers of vertices and transactions.
    pub fn bytes(vertices: u64, transactions: u64) -> u64 {
        32 * transactions + 40 * vertices
    }

    /// Lists the transactions between the vertices `0..vertices`.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(days: &[&DayAdjacency], vertices: u32) -> Result<Sides, OutOfMemory> {
        let count = vertices as usize;
        let clock = Clock::of(days);
        Ok(Sides {
            payers: Side::of(days, count, &clock, |ends| ends)?,
            payees: Side::of(days, count, &clock, |(payer, payee)| (payee, payer))?,
        })
    }

    /// Whether amounts are mapped.
    pub fn has_amounts(&self) -> bool {
        !self.payers.ln_amounts.is_empty()
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.payers.vertices()
    }
}

/// Scale of times.
struct Clock {
    first: i64,
    /// Microseconds from the first to the last transaction, and one more.
    span: u128,
}

impl Clock {
    fn of(days: &[&DayAdjacency]) -> Clock {
        let times = |day: &DayAdjacency| {
            let times = (0..day.payments.len()).map(|at| day.payments.time(at).0);
            times.map(|time| (time, time)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        };
        let all = days.iter().filter_map(|day| times(day));
        let all = all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (first, last) = all.unwrap_or((0, 0));
        Clock { first, span: u128::from(last.abs_diff(first)) + 1 }
    }

    fn fraction(&self, time: i64) -> u32 {
        ((u128::from(time.abs_diff(self.first)) << 32) / self.span) as u32
    }
}

impl Side {
    /// Lists transactions by the first of the `ends` that are returned for payer and payee.
    fn of(
        days: &[&DayAdjacency],
        vertices: usize,
        clock: &Clock,
        ends: fn((VertexId, VertexId)) -> (VertexId, VertexId),
    ) -> Result<Side, OutOfMemory> {
        let mut offsets = memory::zeros::<u64>(vertices + 2)?;
        let is_here = |of: (VertexId, VertexId)| (of.0.max(of.1) as usize) < vertices;
        for day in days {
            let all = (0..day.payments.len()).map(|at| day.payments.ends(at));
            all.filter(|&of| is_here(of)).for_each(|of| offsets[ends(of).0 as usize + 2] += 1);
        }
        for v in 2..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        let total = offsets.last().copied().unwrap_or(0) as usize;
        let mut places = memory::zeros::<u64>(total)?;
        for (number, day) in days.iter().enumerate() {
            for at in 0..day.payments.len() {
                let of = day.payments.ends(at);
                if is_here(of) {
                    let next = &mut offsets[ends(of).0 as usize + 1];
                    places[*next as usize] = (number as u64) << INDEX_BITS | at as u64;
                    *next += 1;
                }
            }
        }
        offsets.pop();
        let time = |packed: u64| {
            let (day, at) = place(packed);
            days[day].payments.time(at)
        };
        let mut rest = &mut places[..];
        let mut lists = memory::with_room(vertices)?;
        for v in 0..vertices {
            lists.push(memory::front(&mut rest, (offsets[v + 1] - offsets[v]) as usize));
        }
        let each = lists.into_par_iter().with_min_len(VERTICES_PER_TASK);
        each.for_each(|list| list.sort_unstable_by_key(|&packed| (time(packed), packed)));
        let mut partners = memory::zeros::<VertexId>(total)?;
        let of_place = |packed: u64| {
            let (day, at) = place(packed);
            (&days[day].payments, at)
        };
        let each = partners.par_iter_mut().zip(&places).with_min_len(1 << 12);
        each.for_each(|(partner, &packed)| {
            let (payments, at) = of_place(packed);
            *partner = ends(payments.ends(at)).1;
        });
        let mut times = memory::zeros::<u32>(total)?;
        let each = times.par_iter_mut().zip(&places).with_min_len(1 << 12);
        each.for_each(|(of, &packed)| *of = clock.fraction(time(packed).0));
        let has_amounts = days.iter().any(|day| day.payments.amount(0).is_some());
        let mut ln_amounts = memory::zeros::<f32>(if has_amounts { total } else { 0 })?;
        let each = ln_amounts.par_iter_mut().zip(&places).with_min_len(1 << 12);
        each.for_each(|(ln, &packed)| {
            let (payments, at) = of_place(packed);
            *ln = (payments.amount(at).unwrap_or(0).max(1) as f64).ln() as f32;
        });
        Ok(Side { offsets, partners, times, ln_amounts })
    }

    /// Returns the number of vertices.
    pub fn vertices(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the transactions of a vertex.
    #[inline]
    pub fn list(&self, v: usize) -> List<'_> {
        let range = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        List {
            partners: &self.partners[range.clone()],
            times: &self.times[range.clone()],
            ln_amounts: self.ln_amounts.get(range).unwrap_or_default(),
        }
    }

    /// Returns a value of each vertex with transactions, from its list; the default for others. The last
    /// argument of `value` is scratch, empty at first.
    pub(super) fn each<T: Send + bytemuck::Zeroable>(
        &self,
        value: impl Fn(usize, List<'_>, &mut Vec<f32>) -> T + Sync,
    ) -> Result<Vec<T>, OutOfMemory> {
        let mut result = memory::zeros::<T>(self.vertices())?;
        let each = result.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        each.for_each_init(Vec::new, |scratch, (v, result)| {
            let list = self.list(v);
            if !list.partners.is_empty() {
                scratch.clear();
                *result = value(v, list, scratch);
            }
        });
        Ok(result)
    }
}
