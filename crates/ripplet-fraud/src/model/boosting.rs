//! Boosted stumps: steps at one interval each that are added to the points of a scorecard.

use super::logistic::logistic;
use crate::evidence::KINDS;
use rayon::prelude::*;

/// The most steps.
const MOST: u32 = 150;

/// Share of a step that is taken.
const RATE: f64 = 0.1;

/// Strength of the ridge on a step.
const RIDGE: f64 = 2.0;

/// Fewest rows on either side of a step.
const FEWEST_ROWS: u32 = 15;

/// Rows by intervals: for each kind of evidence, the interval of each row.
pub(super) struct Binned<'a> {
    /// By kind, then by row.
    pub columns: &'a [Vec<u8>],
    /// Number of intervals of each kind.
    pub intervals: [usize; KINDS],
}

/// The best step of a column: its gain, the last interval below it, and the values on both sides.
#[derive(Clone, Copy, Debug)]
struct Step {
    gain: f64,
    column: usize,
    last: usize,
    below: f64,
    above: f64,
}

/// Adds steps to `tables`, the points of each interval by kind; `odds` are the log odds of the rows so far, and
/// change with the points. As many steps are added as there are rows of known bad, up to 150.
///
/// `rows` lists the rows that are used.
pub(super) fn boost(
    binned: &Binned<'_>,
    rows: &[u32],
    is_bad: &[bool],
    weights: &[f64],
    odds: &mut [f64],
    tables: &mut [Vec<f64>],
) {
    let bad = rows.iter().filter(|&&row| is_bad[row as usize]).count() as u32;
    let mut slopes = vec![0.0; rows.len()];
    let mut curves = vec![0.0; rows.len()];
    for _ in 0..bad.min(MOST) {
        for (at, &row) in rows.iter().enumerate() {
            let row = row as usize;
            let share = logistic(odds[row]);
            slopes[at] = weights[row] * (f64::from(u8::from(is_bad[row])) - share);
            curves[at] = weights[row] * share * (1.0 - share);
        }
        let steps: Vec<Option<Step>> = (0..KINDS)
            .into_par_iter()
            .map(|column| best_step(binned, column, rows, &slopes, &curves))
            .collect();
        // The first of equal gains.
        let best = steps.into_iter().flatten().reduce(|a, b| if b.gain > a.gain { b } else { a });
        let Some(Step { column, last, below, above, .. }) = best else { return };
        for (interval, points) in tables[column].iter_mut().enumerate() {
            *points += RATE * if interval <= last { below } else { above };
        }
        for &row in rows {
            let is_below = usize::from(binned.columns[column][row as usize]) <= last;
            odds[row as usize] += RATE * if is_below { below } else { above };
        }
    }
}

fn best_step(
    binned: &Binned<'_>,
    column: usize,
    rows: &[u32],
    slopes: &[f64],
    curves: &[f64],
) -> Option<Step> {
    let intervals = binned.intervals[column];
    let mut sums = vec![(0.0, 0.0, 0_u32); intervals];
    let of_rows = &binned.columns[column];
    for ((&row, slope), curve) in rows.iter().zip(slopes).zip(curves) {
        let sum = &mut sums[usize::from(of_rows[row as usize])];
        *sum = (sum.0 + slope, sum.1 + curve, sum.2 + 1);
    }
    let all = sums.iter().fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let value = |slope: f64, curve: f64| slope / (curve + RIDGE);
    let gain = |slope: f64, curve: f64| slope * value(slope, curve);
    let whole = gain(all.0, all.1);
    let (mut slope, mut curve, mut count) = (0.0, 0.0, 0);
    let mut best: Option<Step> = None;
    for (last, sum) in sums.iter().enumerate().take(intervals.saturating_sub(1)) {
        slope += sum.0;
        curve += sum.1;
        count += sum.2;
        let others = rows.len() as u32 - count;
        if count < FEWEST_ROWS || others < FEWEST_ROWS {
            continue;
        }
        let (rest, bend) = (all.0 - slope, all.1 - curve);
        let gain = gain(slope, curve) + gain(rest, bend) - whole;
        if gain > best.map_or(1e-9, |best| best.gain) {
            let (below, above) = (value(slope, curve), value(rest, bend));
            best = Some(Step { gain, column, last, below, above });
        }
    }
    best
}
