//! Runs of amounts that exceed what is usual for both sides.
//!
//! For one side, the payers or the payees, the residual r of a transaction is its ln amount, less the side's
//! median, less the median of what remains at its partner (shrunk by n / (n + 3) of the partner's n
//! transactions), less the side's median of that. It is divided by the robust standard deviation of all: 1.4826 ·
//! the median of the sides' median absolute deviations. The evidence is the largest sum of successive residuals
//! over the square root of their number, up to 8 of them: a scan statistic, which finds a run of amounts
//! whose single ones are no outliers. Residuals are limited to −3 to 6, so that no single amount decides. It is 0
//! with fewer than 4 transactions.
//!
//! Memory: 16 bytes a transaction, and 32 a vertex. Determinism: one thread processes a vertex, transactions in
//! the order of their times, then of days, payers and payees.

use crate::days::DayAdjacency;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// Fewest transactions of a vertex that has a usual amount.
const FEWEST: usize = 4;

/// Numbers of successive transactions that are summed.
const RUNS: [usize; 6] = [1, 2, 3, 4, 6, 8];

/// Number of transactions at which a partner's median counts half.
const SHRINK: f32 = 3.0;

/// Limits of residuals, in standard deviations.
const LOWEST: f32 = -3.0;
const HIGHEST: f32 = 6.0;

/// Standard deviation of a normal variable, divided by its median absolute deviation.
const NORMAL: f32 = 1.4826;

const VERTICES_PER_TASK: usize = 1 << 8;

/// Largest runs of amounts of each vertex, as payer and as payee.
#[derive(Debug, Default)]
pub struct Amounts {
    /// Of its payments.
    pub run_out: Vec<f32>,
    /// Of its receipts.
    pub run_in: Vec<f32>,
}

impl Amounts {
    /// Returns the bytes that [`Amounts::of`] needs for these numbers of vertices and transactions.
    pub fn bytes(vertices: u64, transactions: u64) -> u64 {
        16 * transactions + 40 * vertices
    }

    /// Computes the runs of the vertices `0..vertices`; all are 0 if amounts are not mapped.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(days: &[&DayAdjacency], vertices: u32) -> Result<Amounts, OutOfMemory> {
        let count = vertices as usize;
        let has_amounts = days.iter().any(|day| day.payments.amount(0).is_some());
        if !has_amounts {
            return Ok(Amounts { run_out: memory::zeros(count)?, run_in: memory::zeros(count)? });
        }
        let payers = Side::of(days, count, |ends| ends.0)?;
        let payees = Side::of(days, count, |ends| ends.1)?;
        Ok(Amounts {
            run_out: runs(days, &payers, &payees)?,
            run_in: runs(days, &payees, &payers)?,
        })
    }
}

/// Transactions by one of their ends: for each vertex in the order of time.
struct Side {
    /// The end.
    of: fn((VertexId, VertexId)) -> VertexId,
    offsets: Vec<u64>,
    /// Day and index in its payments, packed.
    places: Vec<u64>,
}

/// Bits of an index within a day.
const INDEX_BITS: u32 = 40;

fn place(packed: u64) -> (usize, usize) {
    ((packed >> INDEX_BITS) as usize, (packed & ((1 << INDEX_BITS) - 1)) as usize)
}

impl Side {
    fn of(
        days: &[&DayAdjacency],
        vertices: usize,
        of: fn((VertexId, VertexId)) -> VertexId,
    ) -> Result<Side, OutOfMemory> {
        let mut offsets = memory::zeros::<u64>(vertices + 2)?;
        let is_here = |v: VertexId| (v as usize) < vertices;
        for day in days {
            let ends = (0..day.payments.len()).map(|at| of(day.payments.ends(at)));
            ends.filter(|&v| is_here(v)).for_each(|v| offsets[v as usize + 2] += 1);
        }
        for v in 2..offsets.len() {
            offsets[v] += offsets[v - 1];
        }
        let total = offsets.last().copied().unwrap_or(0) as usize;
        let mut places = memory::zeros::<u64>(total)?;
        for (number, day) in days.iter().enumerate() {
            for at in 0..day.payments.len() {
                let v = of(day.payments.ends(at));
                if is_here(v) {
                    let next = &mut offsets[v as usize + 1];
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
        Ok(Side { of, offsets, places })
    }

    fn list(&self, v: usize) -> &[u64] {
        &self.places[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// Returns a value of each vertex, from its values of transactions; `values` is scratch.
    fn each(
        &self,
        value: impl Fn(usize, &[u64], &mut Vec<f32>) -> f32 + Sync,
    ) -> Result<Vec<f32>, OutOfMemory> {
        let mut result = memory::zeros::<f32>(self.offsets.len() - 1)?;
        let each = result.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
        each.for_each_init(Vec::new, |scratch, (v, result)| {
            let list = self.list(v);
            if !list.is_empty() {
                scratch.clear();
                *result = value(v, list, scratch);
            }
        });
        Ok(result)
    }
}

/// Returns the lower median; 0 of no values.
fn median(values: &mut [f32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = (values.len() - 1) / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

/// Returns the largest run of each vertex of a side.
fn runs(days: &[&DayAdjacency], side: &Side, other: &Side) -> Result<Vec<f32>, OutOfMemory> {
    let ln_amount = |packed: u64| {
        let (day, at) = place(packed);
        (days[day].payments.amount(at).unwrap_or(0).max(1) as f64).ln() as f32
    };
    let ends = |packed: u64| {
        let (day, at) = place(packed);
        days[day].payments.ends(at)
    };
    let usual = side.each(|_, list, values| {
        values.extend(list.iter().map(|&packed| ln_amount(packed)));
        median(values)
    })?;
    let level = other.each(|_, list, values| {
        let of = |&packed: &u64| ln_amount(packed) - usual[(side.of)(ends(packed)) as usize];
        values.extend(list.iter().map(of));
        median(values) * list.len() as f32 / (list.len() as f32 + SHRINK)
    })?;
    let residual = |v: usize, packed: u64| {
        ln_amount(packed) - usual[v] - level[(other.of)(ends(packed)) as usize]
    };
    let rest = side.each(|v, list, values| {
        values.extend(list.iter().map(|&packed| residual(v, packed)));
        median(values)
    })?;
    let deviation = side.each(|v, list, values| {
        values.extend(list.iter().map(|&packed| (residual(v, packed) - rest[v]).abs()));
        median(values)
    })?;
    let has_usual = |v: &usize| side.list(*v).len() >= FEWEST;
    let vertices = side.offsets.len() - 1;
    let mut deviations = memory::with_room(vertices)?;
    deviations.extend((0..vertices).filter(has_usual).map(|v| deviation[v]));
    let unit = (NORMAL * median(&mut deviations)).max(1e-3);
    side.each(|v, list, values| {
        if list.len() < FEWEST {
            return 0.0;
        }
        let of = |&packed: &u64| ((residual(v, packed) - rest[v]) / unit).clamp(LOWEST, HIGHEST);
        values.extend(list.iter().map(of));
        let sums = |run: usize| {
            let scale = 1.0 / (run as f32).sqrt();
            values.windows(run).map(move |run| run.iter().sum::<f32>() * scale)
        };
        RUNS.into_iter().flat_map(sums).fold(0.0, f32::max)
    })
}
