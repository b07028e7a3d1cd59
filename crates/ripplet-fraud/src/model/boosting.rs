//! Boosted stumps: steps at one interval each that are added to the points of a scorecard.
//!
//! The fits without each fold share most of their rows. So they take their steps side by side: a pass over the rows
//! reads the intervals of a row once, and adds to the sums of all fits.
//!
//! Memory: 2 bytes a row and column, and 20 bytes a row and fold. Determinism: the sums of an interval follow the
//! order of rows in each fit; columns are tasks.

use super::binning::Bins;
use super::logistic::logistic;
use crate::evidence::FOLDS;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, memory};
use std::ops::Range;

/// The most steps.
const MOST: usize = 150;

/// Share of a step that is taken.
const RATE: f64 = 0.1;

/// Strength of the ridge on a step.
const RIDGE: f64 = 2.0;

/// Fewest rows on either side of a step.
const FEWEST_ROWS: u32 = 15;

/// Columns in one parallel task: with at most 68 intervals a column and 80 bytes an interval, the sums of most
/// groups fit a cache of the first level.
const COLUMNS_PER_TASK: usize = 8;

/// Rows in one parallel task.
const ROWS_PER_TASK: usize = 1 << 10;

/// Fit whose points are boosted.
pub(super) struct Boosted {
    /// Rows that it does not use, as a range of the rows that are boosted.
    pub without: Range<usize>,
    /// Weight of each row that is boosted, above 0.
    pub weights: Vec<f64>,
    /// Points of each interval, by column; steps are added to them.
    pub tables: Vec<Vec<f64>>,
}

/// Slope and curve of each fit, in turns.
type Sums = [f64; 2 * FOLDS];

/// A number of each fit.
type Each<T> = [T; FOLDS];

/// The best step: its gain, the last interval below it, and the values on both sides.
#[derive(Clone, Copy, Debug)]
struct Step {
    gain: f64,
    column: usize,
    last: usize,
    below: f64,
    above: f64,
}

/// Adds steps to the points of at most [`FOLDS`] fits. As many steps are added to a fit as it uses rows of known bad, up to
/// 150. Of equal steps, that of the first column is taken.
///
/// `rows` lists the rows that are boosted, ascending. One pass over them a step, for all columns and fits.
///
/// # Errors
/// If memory allocation fails.
pub(super) fn boost(
    bins: &Bins,
    rows: &[u32],
    is_bad: &[bool],
    fits: &mut [Boosted],
) -> Result<(), OutOfMemory> {
    let mut groups = Group::all(bins, rows, fits)?;
    let mut used = [0; FOLDS];
    let mut steps = [0; FOLDS];
    let mut states = memory::with_room(rows.len())?;
    for (at, &row) in rows.iter().enumerate() {
        let is_bad = is_bad[row as usize];
        let mut state = State { is_bad: f64::from(u8::from(is_bad)), ..State::default() };
        for (lane, fit) in fits.iter().enumerate().filter(|(_, fit)| !fit.without.contains(&at)) {
            for (table, &place) in fit.tables.iter().zip(bins.of_row(row as usize)) {
                state.odds[lane] += table[usize::from(place)];
            }
            state.weights[lane] = fit.weights[at];
            used[lane] += 1;
            steps[lane] += usize::from(is_bad);
        }
        states.push(state);
    }
    for step in 0..MOST {
        let is_done = steps.map(|steps| step >= steps);
        if !is_done.contains(&false) {
            break;
        }
        // A fit that is done has no weights, so that its slopes are not computed.
        for lane in (0..fits.len()).filter(|&lane| is_done[lane]) {
            states.iter_mut().for_each(|state| state.weights[lane] = 0.0);
        }
        states.par_iter_mut().with_min_len(ROWS_PER_TASK).for_each(State::differentiate);
        groups.par_iter_mut().for_each(|group| group.find_steps(&states, &used));
        for lane in (0..fits.len()).filter(|&lane| !is_done[lane]) {
            let best = groups.iter().filter_map(|group| group.best[lane]);
            // The first of equal steps.
            let best = best.reduce(|best, next| if next.gain > best.gain { next } else { best });
            let Some(Step { column, last, below, above, .. }) = best else {
                steps[lane] = 0;
                continue;
            };
            for (interval, points) in fits[lane].tables[column].iter_mut().enumerate() {
                *points += RATE * if interval <= last { below } else { above };
            }
            for (state, &row) in states.iter_mut().zip(rows) {
                let is_below = usize::from(bins.of_row(row as usize)[column]) <= last;
                state.odds[lane] += RATE * if is_below { below } else { above };
            }
        }
    }
    Ok(())
}

/// State of a row in each fit.
#[derive(Clone, Copy, Default)]
struct State {
    /// 1 if it is known to be bad, else 0.
    is_bad: f64,
    /// Its weight; 0 in fits that do not use it.
    weights: Each<f64>,
    odds: Each<f64>,
    /// Slope and curve of its loss.
    sums: Sums,
}

impl State {
    /// Computes slopes and curves.
    fn differentiate(&mut self) {
        for (lane, sums) in self.sums.chunks_exact_mut(2).enumerate() {
            let weight = self.weights[lane];
            if weight == 0.0 {
                sums.fill(0.0);
                continue;
            }
            let share = logistic(self.odds[lane]);
            sums[0] = weight * (self.is_bad - share);
            sums[1] = weight * share * (1.0 - share);
        }
    }
}

/// Columns that are one task.
struct Group {
    /// Columns that a step can split, each with its first cell and the one after its last: a cell is an interval.
    columns: Vec<(usize, Range<usize>)>,
    /// Cell of each row, by row and then by column.
    places: Vec<u16>,
    /// Number of rows in each cell.
    counts: Vec<Each<u32>>,
    sums: Vec<Sums>,
    best: Each<Option<Step>>,
}

impl Group {
    /// Groups the columns that a step can split: others have too few rows on one side of any step.
    fn all(bins: &Bins, rows: &[u32], fits: &[Boosted]) -> Result<Vec<Group>, OutOfMemory> {
        let mut columns = memory::with_room(bins.ends.len())?;
        for column in 0..bins.ends.len() {
            let mut counts = memory::zeros::<u32>(bins.ends[column].len() + 1)?;
            for &row in rows {
                counts[usize::from(bins.of_row(row as usize)[column])] += 1;
            }
            let mut below = 0;
            let can_split = counts.iter().any(|&count| {
                below += count;
                below >= FEWEST_ROWS && rows.len() as u32 - below >= FEWEST_ROWS
            });
            if can_split {
                columns.push(column);
            }
        }
        let mut groups = memory::with_room(columns.len().div_ceil(COLUMNS_PER_TASK))?;
        for columns in columns.chunks(COLUMNS_PER_TASK) {
            groups.push(Group::of(columns, bins, rows, fits)?);
        }
        Ok(groups)
    }

    fn of(
        columns: &[usize],
        bins: &Bins,
        rows: &[u32],
        fits: &[Boosted],
    ) -> Result<Group, OutOfMemory> {
        let mut cells = 0;
        let cells_of = |&column: &usize| {
            let first = cells;
            cells += bins.ends[column].len() + 1;
            (column, first..cells)
        };
        let columns = memory::collected(columns.iter().map(cells_of))?;
        let mut places = memory::with_room(rows.len() * columns.len())?;
        let mut counts = memory::filled([0; FOLDS], cells)?;
        for (at, &row) in rows.iter().enumerate() {
            let of_row = bins.of_row(row as usize);
            for (column, range) in &columns {
                let cell = range.start + usize::from(of_row[*column]);
                places.push(cell as u16);
                for (count, fit) in counts[cell].iter_mut().zip(fits) {
                    *count += u32::from(!fit.without.contains(&at));
                }
            }
        }
        let sums = memory::filled([0.0; 2 * FOLDS], cells)?;
        Ok(Group { columns, places, counts, sums, best: [None; FOLDS] })
    }

    /// Sums slopes and curves by cell, and finds the best step of each fit, which has this number of rows.
    fn find_steps(&mut self, states: &[State], used: &Each<u32>) {
        self.sums.fill([0.0; 2 * FOLDS]);
        for (places, state) in self.places.chunks_exact(self.columns.len()).zip(states) {
            for &cell in places {
                let sums = &mut self.sums[usize::from(cell)];
                sums.iter_mut().zip(&state.sums).for_each(|(sum, of_row)| *sum += of_row);
            }
        }
        for (lane, best) in self.best.iter_mut().enumerate() {
            *best = None;
            for (column, cells) in &self.columns {
                let sums = self.sums[cells.clone()].iter();
                let cells = sums.zip(&self.counts[cells.clone()]).map(|(sums, counts)| Cell {
                    slope: sums[2 * lane],
                    curve: sums[2 * lane + 1],
                    count: counts[lane],
                });
                better_step(*column, cells, used[lane], best);
            }
        }
    }
}

/// Sums of one interval in one fit.
struct Cell {
    slope: f64,
    curve: f64,
    count: u32,
}

/// Replaces the best step by one of this column if it gains more.
fn better_step(
    column: usize,
    cells: impl ExactSizeIterator<Item = Cell> + Clone,
    rows: u32,
    best: &mut Option<Step>,
) {
    let all = cells.clone().fold([0.0, 0.0], |all, of| [all[0] + of.slope, all[1] + of.curve]);
    let value = |slope: f64, curve: f64| slope / (curve + RIDGE);
    let gain = |slope: f64, curve: f64| slope * value(slope, curve);
    let whole = gain(all[0], all[1]);
    let (mut slope, mut curve, mut count) = (0.0, 0.0, 0);
    // Nothing is above the last interval.
    let intervals = cells.len().saturating_sub(1);
    for (last, cell) in cells.enumerate().take(intervals) {
        slope += cell.slope;
        curve += cell.curve;
        count += cell.count;
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
