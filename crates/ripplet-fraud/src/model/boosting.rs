//! Boosted stumps: steps at one interval each that are added to the points of a scorecard.

use super::binning::Bins;
use super::logistic::logistic;
use ripplet_graph::{OutOfMemory, memory};

/// The most steps.
const MOST: usize = 150;

/// Share of a step that is taken.
const RATE: f64 = 0.1;

/// Strength of the ridge on a step.
const RIDGE: f64 = 2.0;

/// Fewest rows on either side of a step.
const FEWEST_ROWS: u32 = 15;

/// The best step: its gain, the last interval below it, and the values on both sides.
#[derive(Clone, Copy, Debug)]
struct Step {
    gain: f64,
    column: usize,
    last: usize,
    below: f64,
    above: f64,
}

/// Adds steps to `tables`, the points of each interval by column. As many steps are added as there are rows of
/// known bad, up to 150. Of equal steps, that of the first column is taken.
///
/// `rows` lists the rows that are used. One pass over them a step, for all columns.
///
/// # Errors
/// If memory allocation fails.
pub(super) fn boost(
    bins: &Bins,
    rows: impl Iterator<Item = usize> + Clone,
    is_bad: &[bool],
    weights: &[f64],
    tables: &mut [Vec<f64>],
) -> Result<(), OutOfMemory> {
    let mut firsts = memory::with_room(tables.len())?;
    let mut cells = 0;
    for table in &*tables {
        firsts.push(cells);
        cells += table.len();
    }
    let (mut counts, mut used, mut bad) = (memory::zeros::<u32>(cells)?, 0, 0);
    let mut odds = memory::with_room(is_bad.len())?;
    for row in rows.clone() {
        let mut sum = 0.0;
        for ((&first, &place), table) in firsts.iter().zip(bins.of_row(row)).zip(&*tables) {
            counts[first + usize::from(place)] += 1;
            sum += table[usize::from(place)];
        }
        odds.push(sum);
        used += 1;
        bad += usize::from(is_bad[row]);
    }
    // Slope and curve of each interval.
    let mut sums = memory::zeros::<[f64; 2]>(cells)?;
    for _ in 0..bad.min(MOST) {
        sums.fill([0.0; 2]);
        for (row, &odds) in rows.clone().zip(&odds) {
            let share = logistic(odds);
            let slope = weights[row] * (f64::from(u8::from(is_bad[row])) - share);
            let curve = weights[row] * share * (1.0 - share);
            for (&first, &place) in firsts.iter().zip(bins.of_row(row)) {
                let [slopes, curves] = &mut sums[first + usize::from(place)];
                *slopes += slope;
                *curves += curve;
            }
        }
        let mut best = None;
        for (column, (&first, table)) in firsts.iter().zip(&*tables).enumerate() {
            let here = first..first + table.len();
            better_step(column, &sums[here.clone()], &counts[here], used, &mut best);
        }
        let Some(Step { column, last, below, above, .. }) = best else { break };
        for (interval, points) in tables[column].iter_mut().enumerate() {
            *points += RATE * if interval <= last { below } else { above };
        }
        for (row, odds) in rows.clone().zip(&mut odds) {
            let is_below = usize::from(bins.of_row(row)[column]) <= last;
            *odds += RATE * if is_below { below } else { above };
        }
    }
    Ok(())
}

/// Replaces the best step by one of this column if it gains more.
fn better_step(
    column: usize,
    sums: &[[f64; 2]],
    counts: &[u32],
    rows: u32,
    best: &mut Option<Step>,
) {
    let all = sums.iter().fold([0.0, 0.0], |all, sum| [all[0] + sum[0], all[1] + sum[1]]);
    let value = |slope: f64, curve: f64| slope / (curve + RIDGE);
    let gain = |slope: f64, curve: f64| slope * value(slope, curve);
    let whole = gain(all[0], all[1]);
    let (mut slope, mut curve, mut count) = (0.0, 0.0, 0);
    // Nothing is above the last interval.
    for (last, (sum, here)) in
        sums.iter().zip(counts).enumerate().take(sums.len().saturating_sub(1))
    {
        slope += sum[0];
        curve += sum[1];
        count += here;
        if count < FEWEST_ROWS || rows - count < FEWEST_ROWS {
            continue;
        }
        let (rest, bend) = (all[0] - slope, all[1] - curve);
        let gain = gain(slope, curve) + gain(rest, bend) - whole;
        if gain > best.map_or(1e-9, |best| best.gain) {
            let (below, above) = (value(slope, curve), value(rest, bend));
            *best = Some(Step { gain, column, last, below, above });
        }
    }
}
