//! Boosted stumps: steps at one interval each that are added to the points of a scorecard.
//!
//! The fits without each fold share most of their rows. So they take their steps side by side: a pass over the rows
//! reads the intervals of a row once, and adds to the sums of all fits.
//!
//! Memory: 2 bytes per row and column, and 20 bytes per row and fold. Determinism: the sums of an interval follow the
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

impl Step {
    /// Returns the points that it adds to an interval.
    fn at(&self, interval: usize) -> f64 {
        RATE * if interval <= self.last { self.below } else { self.above }
    }
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
    // Steps that the rows are still to take.
    let mut taken = [None; FOLDS];
    for step in 0..MOST {
        let is_done = steps.map(|steps| step >= steps);
        if !is_done.contains(&false) {
            break;
        }
        let each = states.par_iter_mut().zip(rows).with_min_len(ROWS_PER_TASK);
        each.for_each(|(state, &row)| {
            state.step(&taken, bins.of_row(row as usize));
            state.differentiate(&is_done);
        });
        groups.par_iter_mut().for_each(|group| group.find_steps(&states, &used));
        for lane in (0..fits.len()).filter(|&lane| !is_done[lane]) {
            let best = groups.iter().filter_map(|group| group.best[lane]);
            // The first of equal steps.
            let best = best.reduce(|best, next| if next.gain > best.gain { next } else { best });
            taken[lane] = best;
            match best {
                None => steps[lane] = 0,
                Some(step) => {
                    let points = fits[lane].tables[step.column].iter_mut().enumerate();
                    points.for_each(|(interval, points)| *points += step.at(interval));
                }
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
    /// Takes a step of each fit, by the row's intervals.
    fn step(&mut self, steps: &Each<Option<Step>>, places: &[u8]) {
        for (odds, step) in self.odds.iter_mut().zip(steps) {
            if let Some(step) = step {
                *odds += step.at(usize::from(places[step.column]));
            }
        }
    }

    /// Computes slopes and curves of the fits that are not done.
    fn differentiate(&mut self, is_done: &Each<bool>) {
        for (lane, sums) in self.sums.chunks_exact_mut(2).enumerate() {
            let weight = self.weights[lane];
            if weight == 0.0 || is_done[lane] {
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
        self.add(states);
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

impl Group {
    /// Sums slopes and curves by cell.
    fn add(&mut self, states: &[State]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature that the function is compiled for, as checked above.
            return unsafe { self.add_wide(states) };
        }
        self.add_plain(states);
    }

    /// Implements [`Group::add`] with AVX2: the same additions, four at a time.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_wide(&mut self, states: &[State]) {
        self.add_plain(states);
    }

    #[inline(always)]
    fn add_plain(&mut self, states: &[State]) {
        self.sums.fill([0.0; 2 * FOLDS]);
        for (places, state) in self.places.chunks_exact(self.columns.len()).zip(states) {
            for &cell in places {
                let sums = &mut self.sums[usize::from(cell)];
                sums.iter_mut().zip(&state.sums).for_each(|(sum, of_row)| *sum += of_row);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rows::{Label, Rows};
    use ripplet_graph::splitmix;

    const ROWS: usize = 600;

    /// Rows by fold, a third of which are known bad if their second column is high; the first column is constant.
    fn rows() -> Rows {
        let mut state = 5;
        let mut next = |below: u64| splitmix::next(&mut state) % below;
        let mut columns = vec![vec![7.0; ROWS]];
        columns.extend(
            [1000, 4, 90, 2, 50, 33, 12, 700, 21]
                .map(|below| (0..ROWS).map(|_| next(below) as f32).collect::<Vec<f32>>()),
        );
        let label = |row: usize| match columns[1][row] > 600.0 && row.is_multiple_of(3) {
            true => Label::Bad,
            false => Label::Unknown,
        };
        let labels = (0..ROWS).map(label).collect();
        let starts = [0, 100, 250, 400, 520, ROWS];
        Rows { columns, labels, starts }
    }

    fn fits(rows: &Rows, chosen: &[u32], bins: &Bins) -> Vec<Boosted> {
        let fit = |fold: usize| {
            let place = |row: usize| chosen.partition_point(|&at| (at as usize) < row);
            Boosted {
                without: place(rows.starts[fold])..place(rows.starts[fold + 1]),
                weights: chosen.iter().map(|&row| 1.0 + f64::from(row % 4)).collect(),
                tables: bins
                    .scales
                    .iter()
                    .map(|of| of.iter().map(|of| of * 0.1).collect())
                    .collect(),
            }
        };
        (0..FOLDS).map(fit).collect()
    }

    /// One fit, with passes over all columns and rows of plain arrays.
    fn boost_alone(bins: &Bins, chosen: &[u32], is_bad: &[bool], fit: &mut Boosted) -> usize {
        let rows: Vec<usize> = (0..chosen.len()).filter(|at| !fit.without.contains(at)).collect();
        let place =
            |at: usize, column: usize| usize::from(bins.of_row(chosen[at] as usize)[column]);
        let bad = rows.iter().filter(|&&at| is_bad[chosen[at] as usize]).count();
        let start = |at: &usize| {
            let points = fit.tables.iter().enumerate().map(|(column, of)| of[place(*at, column)]);
            points.fold(0.0, |sum, of| sum + of)
        };
        let mut odds: Vec<f64> = rows.iter().map(start).collect();
        for step in 0..bad.min(MOST) {
            let mut best = None;
            for (column, table) in fit.tables.iter().enumerate() {
                let mut cells = vec![[0.0; 3]; table.len()];
                for (&at, &odds) in rows.iter().zip(&odds) {
                    let (weight, share) = (fit.weights[at], logistic(odds));
                    let is_bad = f64::from(u8::from(is_bad[chosen[at] as usize]));
                    let cell = &mut cells[place(at, column)];
                    cell[0] += weight * (is_bad - share);
                    cell[1] += weight * share * (1.0 - share);
                    cell[2] += 1.0;
                }
                let cells =
                    cells.iter().map(|of| Cell { slope: of[0], curve: of[1], count: of[2] as u32 });
                better_step(column, cells, rows.len() as u32, &mut best);
            }
            let Some(taken) = best else { return step };
            let points = fit.tables[taken.column].iter_mut().enumerate();
            points.for_each(|(interval, points)| *points += taken.at(interval));
            for (&at, odds) in rows.iter().zip(&mut odds) {
                *odds += taken.at(place(at, taken.column));
            }
        }
        bad.min(MOST)
    }

    /// Wide vectors have the bits of plain code.
    #[test]
    fn sums_do_not_depend_on_the_processor() {
        let rows = rows();
        let bins = Bins::of(&rows).unwrap();
        let chosen: Vec<u32> = (0..ROWS as u32).collect();
        let fits = fits(&rows, &chosen, &bins);
        let mut groups = Group::all(&bins, &chosen, &fits).unwrap();
        // Nine columns can be split, in two groups.
        assert_eq!(groups.iter().map(|group| group.columns.len()).collect::<Vec<_>>(), [8, 1]);
        let of = |row: usize, lane: usize| (row as f64 + 0.1).ln() * (lane as f64 - 4.5);
        let state =
            |row| State { sums: std::array::from_fn(|lane| of(row, lane)), ..State::default() };
        let states: Vec<State> = (0..ROWS).map(state).collect();
        for group in &mut groups {
            group.add(&states);
            let wide = group.sums.clone();
            group.add_plain(&states);
            let bits =
                |sums: &[Sums]| sums.iter().flatten().map(|of| of.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&wide), bits(&group.sums));
        }
    }

    #[test]
    fn fits_side_by_side_are_those_of_each_alone() {
        let rows = rows();
        let bins = Bins::of(&rows).unwrap();
        let is_bad = rows.is_bad().unwrap();
        let chosen: Vec<u32> = (0..ROWS as u32).filter(|row| row % 7 != 0).collect();
        let mut together = fits(&rows, &chosen, &bins);
        let mut alone = fits(&rows, &chosen, &bins);
        let steps: Vec<usize> =
            alone.iter_mut().map(|fit| boost_alone(&bins, &chosen, &is_bad, fit)).collect();
        boost(&bins, &chosen, &is_bad, &mut together).unwrap();
        // Fits end after different numbers of steps.
        assert!(
            steps.iter().all(|&steps| steps > 20) && steps.iter().any(|of| *of != steps[0]),
            "{steps:?}"
        );
        for (a, b) in together.iter().zip(&alone) {
            let bits = |of: &Boosted| {
                of.tables.iter().flatten().map(|of| of.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(a), bits(b));
        }
        // So are fewer than all.
        let mut two = fits(&rows, &chosen, &bins);
        two.truncate(2);
        boost(&bins, &chosen, &is_bad, &mut two).unwrap();
        assert!(two.iter().zip(&alone).all(|(a, b)| a.tables == b.tables));
    }
}
