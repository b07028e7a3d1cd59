//! Intervals of values that end at quantiles, and rows by interval.

use super::rows::Rows;
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, memory};

/// Number of intervals per octave of the number of rows above, at the upper end; the lower end has 2.
const UPPER_PER_OCTAVE: f64 = 3.0;
const LOWER_PER_OCTAVE: f64 = 2.0;
const UPPER: u32 = 40;
const LOWER: u32 = 28;

/// Share that is added to the share of rows above, so that its logarithm is bounded.
const LEAST_SHARE: f64 = 0.002;

/// Returns the upper ends of the intervals of a sorted column, ascending and distinct; less than 68. A value
/// belongs to the first interval whose end is not below it; larger values belong to a last interval without end.
fn ends_of(sorted: &[f32]) -> Result<Vec<f32>, OutOfMemory> {
    let count = sorted.len();
    if count == 0 {
        return Ok(Vec::new());
    }
    let upper = (0..UPPER).map(|k| 1.0 - (-f64::from(k) / UPPER_PER_OCTAVE).exp2());
    let lower = (1..LOWER).map(|k| (-f64::from(k) / LOWER_PER_OCTAVE).exp2());
    let at = |share: f64| ((share * count as f64) as usize).min(count - 1);
    let mut ends = memory::with_room((UPPER + LOWER) as usize)?;
    ends.extend(upper.chain(lower).map(|share| sorted[at(share)]));
    ends.sort_unstable_by(f32::total_cmp);
    ends.dedup();
    Ok(ends)
}

/// Returns the interval of a value.
#[inline]
pub(super) fn interval(ends: &[f32], value: f32) -> usize {
    ends.partition_point(|&end| end < value)
}

/// Intervals of each column, and the rows by interval.
pub(super) struct Bins {
    /// Upper ends, by column.
    pub ends: Vec<Vec<f32>>,
    /// Standardized −ln of the share of rows above, by column and interval; 0 if all rows are in one.
    pub scales: Vec<Vec<f64>>,
    /// Interval of each row in each column, by row.
    pub places: Vec<u8>,
    /// Number of rows in each interval, by column.
    pub counts: Vec<Vec<u32>>,
}

impl Bins {
    /// Finds the intervals of rows.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn of(rows: &Rows) -> Result<Bins, OutOfMemory> {
        let columns = rows.columns.len();
        let mut each = memory::with_room(columns)?;
        each.extend(rows.columns.iter().map(|values| (values, Ok(Column::default()))));
        each.par_iter_mut().for_each(|(values, column)| *column = Column::of(values));
        let mut bins = Bins {
            ends: memory::with_room(columns)?,
            scales: memory::with_room(columns)?,
            places: memory::zeros(columns * rows.len())?,
            counts: memory::with_room(columns)?,
        };
        for (at, (_, column)) in each.into_iter().enumerate() {
            let Column { ends, scale, counts, places } = column?;
            let of_rows = bins.places.iter_mut().skip(at).step_by(columns);
            of_rows.zip(places).for_each(|(to, place)| *to = place);
            bins.ends.push(ends);
            bins.scales.push(scale);
            bins.counts.push(counts);
        }
        Ok(bins)
    }

    /// Returns the intervals of a row, by column.
    #[inline]
    pub(super) fn of_row(&self, row: usize) -> &[u8] {
        &self.places[row * self.ends.len()..(row + 1) * self.ends.len()]
    }
}

/// Intervals of one column.
#[derive(Default)]
struct Column {
    ends: Vec<f32>,
    scale: Vec<f64>,
    counts: Vec<u32>,
    places: Vec<u8>,
}

impl Column {
    fn of(values: &[f32]) -> Result<Column, OutOfMemory> {
        let mut sorted = memory::copied(values)?;
        sorted.sort_unstable_by(f32::total_cmp);
        let ends = ends_of(&sorted)?;
        let places = values.iter().map(|&value| interval(&ends, value) as u8);
        let places: Vec<u8> = memory::collected(places)?;
        let mut counts = memory::zeros::<u32>(ends.len() + 1)?;
        places.iter().for_each(|&place| counts[usize::from(place)] += 1);
        let count = values.len().max(1) as f64;
        let mut scale = memory::with_room(counts.len())?;
        let mut below = 0.0;
        for &here in &counts {
            let here = f64::from(here);
            scale.push(-(1.0 - (below + here / 2.0) / count + LEAST_SHARE).ln());
            below += here;
        }
        standardize(&mut scale, &counts);
        Ok(Column { ends, scale, counts, places })
    }
}

/// Shifts and scales the values of intervals to a mean of 0 and a variance of 1 over all rows.
fn standardize(scale: &mut [f64], counts: &[u32]) {
    let count: u32 = counts.iter().sum();
    let mean_of = |scale: &[f64], of: &dyn Fn(f64) -> f64| -> f64 {
        let sum: f64 = scale.iter().zip(counts).map(|(v, &count)| of(*v) * f64::from(count)).sum();
        sum / f64::from(count.max(1))
    };
    let mean = mean_of(scale, &|value| value);
    let deviation = mean_of(scale, &|value| (value - mean).powi(2)).sqrt();
    for value in scale {
        *value = if deviation > 1e-9 { (*value - mean) / deviation } else { 0.0 };
    }
}
