//! Amounts against an entity's own past: runs, drops, shifts and spread.
//!
//! For one side, the payers or the payees, the residual r of a transaction is its ln amount, less the side's
//! median, less the median of what remains at its partner (shrunk by n / (n + 3) of the partner's n
//! transactions), less the side's median of that. It is divided by the robust standard deviation of all: 1.4826 ·
//! the median of the sides' median absolute deviations. An own deviation of each entity would hide those whose
//! amounts jump: it ranks worse on all simulated sets of cards (ADR 0033).
//!
//! | | |
//! |---|---|
//! | run | the largest sum of successive residuals over the square root of their number, up to 8 of them: a scan statistic, which finds a run of amounts whose single ones are no outliers |
//! | drop | the same of −r |
//! | shift | the largest standardized difference of the mean residuals after and before an instant, 2 transactions at least on both sides |
//! | spread | the median of the absolute residuals, in standard deviations |
//!
//! Residuals are limited, so that no single amount decides. All are 0 with fewer than 4 transactions.
//!
//! Transactions of one instant, as all of a day are if times are dates, have no order among themselves. So each of
//! them counts in runs of several as the mean of the instant, and no shift is within an instant. Instants that are
//! nearer than 2⁻³² of the window's span count as one.
//!
//! Memory: 72 bytes per vertex. Determinism: one thread processes a vertex, transactions in the order of their
//! times, and those of one instant in the order of their residuals.

use super::sides::{Side, Sides};
use ripplet_graph::{OutOfMemory, memory};

/// Fewest transactions of a vertex that has a usual amount.
const FEWEST: usize = 4;

/// Numbers of successive transactions that are summed, beside single ones.
const RUNS: [usize; 5] = [2, 3, 4, 6, 8];

/// Number of transactions at which a partner's median counts half.
const SHRINK: f32 = 3.0;

/// Limits of residuals in runs, in standard deviations.
const LOWEST: f32 = -3.0;
const HIGHEST: f32 = 6.0;

/// Fewest transactions before and after a shift.
const FEWEST_OF_SHIFT: usize = 2;

/// Standard deviation of a normal variable, divided by its median absolute deviation.
const NORMAL: f32 = 1.4826;

/// Amounts of each vertex on one side, against its own.
#[derive(Debug, Default)]
pub struct OwnAmounts {
    /// Largest run of amounts above the usual ones.
    pub run: Vec<f32>,
    /// Largest run of amounts below the usual ones.
    pub drop: Vec<f32>,
    /// Largest rise of the mean.
    pub shift: Vec<f32>,
    /// Spread.
    pub spread: Vec<f32>,
}

/// Amounts of each vertex as payer and as payee.
#[derive(Debug, Default)]
pub struct Amounts {
    /// Of its payments.
    pub out: OwnAmounts,
    /// Of its receipts.
    pub received: OwnAmounts,
}

impl Amounts {
    /// Returns the bytes that [`Amounts::of`] needs for this number of vertices, beside the sides.
    pub fn bytes(vertices: u64) -> u64 {
        72 * vertices
    }

    /// Compares amounts; all values are 0 if amounts are not mapped.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(sides: &Sides) -> Result<Amounts, OutOfMemory> {
        Ok(Amounts {
            out: OwnAmounts::of(sides, &sides.payers, &sides.payees)?,
            received: OwnAmounts::of(sides, &sides.payees, &sides.payers)?,
        })
    }
}

impl OwnAmounts {
    fn of(sides: &Sides, side: &Side, other: &Side) -> Result<OwnAmounts, OutOfMemory> {
        if !sides.has_amounts() {
            let zeros = || memory::zeros(sides.vertices());
            return Ok(OwnAmounts {
                run: zeros()?,
                drop: zeros()?,
                shift: zeros()?,
                spread: zeros()?,
            });
        }
        let all = compare(side, other)?;
        let column = |at: usize| memory::collected(all.iter().map(|of| of[at]));
        Ok(OwnAmounts { run: column(0)?, drop: column(1)?, shift: column(2)?, spread: column(3)? })
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

/// Returns run, drop, shift and spread of each vertex of a side.
fn compare(side: &Side, other: &Side) -> Result<Vec<[f32; 4]>, OutOfMemory> {
    let usual = side.each(|_, list, values| {
        values.extend_from_slice(list.ln_amounts);
        median(values)
    })?;
    let level = other.each(|_, list, values| {
        let both = list.ln_amounts.iter().zip(list.partners);
        values.extend(both.map(|(ln, &partner)| ln - usual[partner as usize]));
        median(values) * list.partners.len() as f32 / (list.partners.len() as f32 + SHRINK)
    })?;
    // The residuals of a vertex before its median is taken off.
    let residuals = |v: usize, list: super::sides::List<'_>, values: &mut Vec<f32>| {
        let both = list.ln_amounts.iter().zip(list.partners);
        values.extend(both.map(|(ln, &partner)| ln - usual[v] - level[partner as usize]));
    };
    let rests: Vec<[f32; 2]> = side.each(|v, list, values| {
        residuals(v, list, values);
        let rest = median(values);
        values.iter_mut().for_each(|value| *value = (*value - rest).abs());
        [rest, median(values)]
    })?;
    let mut deviations = memory::with_room(rests.len())?;
    let has_usual = |v: &usize| side.list(*v).partners.len() >= FEWEST;
    deviations.extend((0..rests.len()).filter(has_usual).map(|v| rests[v][1]));
    let unit = (NORMAL * median(&mut deviations)).max(1e-3);
    drop(deviations);
    side.each(|v, list, values| {
        if list.partners.len() < FEWEST {
            return [0.0; 4];
        }
        let [rest, deviation] = rests[v];
        residuals(v, list, values);
        values.iter_mut().for_each(|value| *value = (*value - rest) / unit);
        // The sums of an instant do not depend on the order of its transactions.
        each_instant(list.times, values, |same| same.sort_unstable_by(f32::total_cmp));
        let shift = largest_shift(values, list.times);
        let spread = NORMAL * deviation / unit;
        // Both are of limited residuals.
        let run = largest_run(values, list.times, |r| r.clamp(LOWEST, HIGHEST));
        let drop = largest_run(values, list.times, |r| (-r).clamp(LOWEST, HIGHEST));
        [run, drop, shift, spread]
    })
}

/// Calls `each` with the values of every instant that has several.
fn each_instant(times: &[u32], values: &mut [f32], mut each: impl FnMut(&mut [f32])) {
    let mut rest = values;
    for same in times.chunk_by(|a, b| a == b) {
        let of = memory::front(&mut rest, same.len());
        if same.len() > 1 {
            each(of);
        }
    }
}

/// Returns the largest sum of successive values over the square root of their number; 0 if all are below.
///
/// In sums of several, the values of an instant are its mean. `values` is extended and shortened again.
fn largest_run(values: &mut Vec<f32>, times: &[u32], limited: impl Fn(f32) -> f32) -> f32 {
    let count = values.len();
    let single = values.iter().map(|&value| limited(value)).fold(0.0, f32::max);
    values.extend_from_within(..);
    let means = &mut values[count..];
    means.iter_mut().for_each(|value| *value = limited(*value));
    each_instant(times, means, |same| {
        let mean = same.iter().sum::<f32>() / same.len() as f32;
        same.fill(mean);
    });
    let means = &*means;
    let sums = |run: usize| {
        let scale = 1.0 / (run as f32).sqrt();
        means.windows(run).map(move |run| run.iter().sum::<f32>() * scale)
    };
    let most = RUNS.into_iter().flat_map(sums).fold(single, f32::max);
    values.truncate(count);
    most
}

/// Returns the largest standardized rise of the mean from the first to the last values, at an instant; 0 if there is
/// none.
fn largest_shift(values: &[f32], times: &[u32]) -> f32 {
    let limited = |value: &f32| f64::from(value.clamp(-HIGHEST, HIGHEST));
    let count = values.len() as f64;
    let all: f64 = values.iter().map(limited).sum();
    let (mut before, mut most) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let is_enough = at >= FEWEST_OF_SHIFT && values.len() - at >= FEWEST_OF_SHIFT;
        if is_enough && times[at] != times[at - 1] {
            let (first, last) = (at as f64, count - at as f64);
            let rise = (all - before) / last - before / first;
            most = f64::max(most, rise * (first * last / count).sqrt());
        }
        before += limited(value);
    }
    most as f32
}
