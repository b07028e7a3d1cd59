//! Logistic regression with a ridge towards given weights, by Newton's method.

use ripplet_graph::{OutOfMemory, memory};

/// Strength of the ridge, as a share of the summed weight of the rows. Of 0.01 to 0.1, the largest is best with
/// few known bad, and no worse with many (ADR 0032).
const RIDGE: f64 = 0.1;

const STEPS: usize = 25;

/// Gain of a step, as a share of the summed weight, below which a fit has converged.
const CLOSE: f64 = 1e-7;

/// Gain of a step, as a share of the summed weight, up to which the next one keeps the second derivatives: they
/// hardly change, and take ten times as long as slopes.
const FAR: f64 = 1e-3;

/// Rows whose second derivatives are summed in single precision. They only direct the steps: loss and slopes are
/// summed in double precision.
const BLOCK: usize = 128;

/// Numbers in a vector of the processor: rows are padded to a multiple.
const LANES: usize = 8;

/// Rows of standardized values.
pub(super) struct Examples {
    /// By row: a 1 for the intercept, a value of each column, and zeros up to [`Examples::width`].
    values: Vec<f32>,
    columns: usize,
    width: usize,
}

impl Examples {
    /// Creates rows of zeros.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn new(rows: usize, columns: usize) -> Result<Examples, OutOfMemory> {
        let width = (columns + 1).next_multiple_of(LANES);
        let mut values = memory::zeros::<f32>(rows * width)?;
        values.iter_mut().step_by(width).for_each(|intercept| *intercept = 1.0);
        Ok(Examples { values, columns, width })
    }

    /// Returns the values of a row, by column.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.width + 1..][..self.columns]
    }

    /// Returns the log odds of a row by a fit.
    pub(super) fn odds(&self, fit: &Fit, row: usize) -> f64 {
        odds(fit, self.row(row))
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }
}

/// Fitted model: an intercept, and then a weight of each column.
pub(super) type Fit = Vec<f64>;

/// Problem of one fit: rows, their classes and weights, and the weights that the ridge draws to.
pub(super) struct Problem<'a, R> {
    pub examples: &'a Examples,
    /// The rows that are used.
    pub rows: R,
    pub is_bad: &'a [bool],
    pub weights: &'a [f64],
    pub prior: &'a [f64],
}

impl<R: Iterator<Item = usize> + Clone> Problem<'_, R> {
    /// Fits a model, from `start` if there is one: that of nearly the same rows takes one or two steps.
    ///
    /// A step that does not lower the loss is halved.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn fit(&self, start: Option<&Fit>) -> Result<Fit, OutOfMemory> {
        let (mut total, mut bad) = (0.0, 0.0);
        for row in self.rows.clone() {
            total += self.weights[row];
            bad += if self.is_bad[row] { self.weights[row] } else { 0.0 };
        }
        let mut now: Fit = memory::with_room(self.prior.len() + 1)?;
        match start {
            Some(start) => now.extend_from_slice(start),
            None => {
                now.push(((bad + 0.5) / (total - bad + 0.5)).ln());
                now.extend_from_slice(self.prior);
            }
        }
        let ridge = RIDGE * total;
        let mut scratch = Scratch::new(self.examples, self.rows.clone().count())?;
        let mut next = memory::copied(&now)?;
        let mut lowest = self.loss(&now, ridge, &mut scratch.odds);
        let mut is_far = true;
        for _ in 0..STEPS {
            if !self.newton_step(ridge, &now, &mut scratch, is_far) {
                break;
            }
            let mut size = 1.0;
            let reached = loop {
                for ((next, now), step) in next.iter_mut().zip(&now).zip(&scratch.right) {
                    *next = now - size * step;
                }
                let reached = self.loss(&next, ridge, &mut scratch.next_odds);
                if reached < lowest {
                    std::mem::swap(&mut scratch.odds, &mut scratch.next_odds);
                    break Some(reached);
                }
                size *= 0.5;
                if size < 1e-3 {
                    break None;
                }
            };
            let Some(reached) = reached else {
                if is_far {
                    break;
                }
                is_far = true;
                continue;
            };
            let gain = lowest - reached;
            lowest = reached;
            now.copy_from_slice(&next);
            if gain < CLOSE * total {
                break;
            }
            is_far = gain > FAR * total;
        }
        Ok(now)
    }

    /// Returns the loss, and writes the log odds of the rows.
    fn loss(&self, at: &[f64], ridge: f64, all: &mut Vec<f64>) -> f64 {
        all.clear();
        all.extend(self.rows.clone().map(|row| odds(at, self.examples.row(row))));
        let of_row = |(row, &odds): (usize, &f64)| {
            self.weights[row] * ln_1p_exp(if self.is_bad[row] { -odds } else { odds })
        };
        let of_rows: f64 = self.rows.clone().zip(&*all).map(of_row).sum();
        let far = at[1..].iter().zip(self.prior).map(|(now, prior)| (now - prior).powi(2));
        of_rows + 0.5 * ridge * far.sum::<f64>()
    }

    /// Computes a step into `scratch.right` from `now`, whose log odds are `scratch.odds`, with second derivatives here if
    /// `is_far`, and else with those of the last step; returns false if there is none.
    fn newton_step(&self, ridge: f64, now: &[f64], scratch: &mut Scratch, is_far: bool) -> bool {
        let Examples { columns, width, .. } = *self.examples;
        let unknowns = columns + 1;
        let Scratch { block, matrix, right, odds, .. } = scratch;
        right.fill(0.0);
        if is_far {
            matrix.fill(0.0);
        }
        let mut add = |block: &mut [f32]| {
            for (to, from) in matrix.chunks_exact_mut(unknowns).zip(block.chunks_exact_mut(width)) {
                to.iter_mut().zip(&*from).for_each(|(to, from)| *to += f64::from(*from));
                from.fill(0.0);
            }
        };
        for (count, (row, &odds)) in self.rows.clone().zip(&*odds).enumerate() {
            if is_far && count % BLOCK == BLOCK - 1 {
                add(block);
            }
            let (values, weight) = (self.examples.row(row), self.weights[row]);
            let share = logistic(odds);
            let off = weight * (share - f64::from(u8::from(self.is_bad[row])));
            let bend = (weight * (share * (1.0 - share)).max(1e-9)) as f32;
            let each = right.iter_mut().zip(values);
            each.for_each(|(slope, &value)| *slope += off * f64::from(value));
            if is_far {
                add_curves(block, values, bend);
            }
        }
        for at in 1..unknowns {
            right[at] += ridge * (now[at] - self.prior[at - 1]);
        }
        if is_far {
            add(block);
            (1..unknowns).for_each(|at| matrix[at * unknowns + at] += ridge);
            matrix[0] += 1e-9;
            if !factorize(matrix, unknowns) {
                return false;
            }
        }
        solve(matrix, right)
    }
}

/// Adds the second derivatives of a row to the lower half of a block, in whole vectors.
fn add_curves(block: &mut [f32], values: &[f32], bend: f32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature that the function is compiled for, as checked above.
        return unsafe { add_curves_wide(block, values, bend) };
    }
    add_curves_plain(block, values, bend);
}

/// Implements [`add_curves`] with AVX2: the same products and sums, eight at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_curves_wide(block: &mut [f32], values: &[f32], bend: f32) {
    add_curves_plain(block, values, bend);
}

#[inline(always)]
fn add_curves_plain(block: &mut [f32], values: &[f32], bend: f32) {
    for (at, sums) in block.chunks_exact_mut(values.len()).enumerate() {
        let scaled = bend * values[at];
        let end = (at + 1).next_multiple_of(LANES);
        let (sums, _) = sums[..end].as_chunks_mut::<LANES>();
        let (values, _) = values[..end].as_chunks::<LANES>();
        for (sums, values) in sums.iter_mut().zip(values) {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += scaled * value);
        }
    }
}

/// Workspace of a fit.
struct Scratch {
    /// Second derivatives of a block of rows.
    block: Vec<f32>,
    /// Second derivatives, and then their Cholesky factor.
    matrix: Vec<f64>,
    /// Slopes, and then the step.
    right: Vec<f64>,
    /// Log odds of the rows, here and after the step that is tried.
    odds: Vec<f64>,
    next_odds: Vec<f64>,
}

impl Scratch {
    fn new(examples: &Examples, rows: usize) -> Result<Scratch, OutOfMemory> {
        let unknowns = examples.columns + 1;
        Ok(Scratch {
            block: memory::zeros(unknowns * examples.width)?,
            matrix: memory::zeros(unknowns * unknowns)?,
            right: memory::zeros(unknowns)?,
            odds: memory::with_room(rows)?,
            next_odds: memory::with_room(rows)?,
        })
    }
}

fn odds(at: &[f64], row: &[f32]) -> f64 {
    at.iter().zip(row).map(|(weight, &value)| weight * f64::from(value)).sum()
}

/// Returns ln(1 + e^x) without overflow.
pub(super) fn ln_1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Returns the probability of log odds.
pub(super) fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// Replaces the lower half of a symmetric positive definite matrix by its Cholesky factor. Returns false if the
/// matrix is not positive definite.
fn factorize(matrix: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let (of_i, of_j) = (&matrix[i * n..i * n + j], &matrix[j * n..j * n + j]);
            let dot: f64 = of_i.iter().zip(of_j).map(|(a, b)| a * b).sum();
            let rest = matrix[i * n + j] - dot;
            matrix[i * n + j] = match i == j {
                true if rest > 0.0 => rest.sqrt(),
                true => return false,
                false => rest / matrix[j * n + j],
            };
        }
    }
    true
}

/// Solves a system by the Cholesky factor of its matrix; `right` becomes the solution. Returns false if it is not
/// finite.
fn solve(matrix: &[f64], right: &mut [f64]) -> bool {
    let n = right.len();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| matrix[i * n + k] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| matrix[k * n + i] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i * n + i];
    }
    right.iter().all(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wide vectors have the bits of plain code.
    #[test]
    fn curves_do_not_depend_on_the_processor() {
        let values: Vec<f32> = (0..40_u8).map(|at| 0.37 + f32::from(at) / 7.0).collect();
        let (mut wide, mut plain) = ([0.1; 38 * 40], [0.1; 38 * 40]);
        for bend in [0.3, 1e-9, 7.7] {
            add_curves(&mut wide, &values, bend);
            add_curves_plain(&mut plain, &values, bend);
        }
        assert_eq!(wide.map(f32::to_bits), plain.map(f32::to_bits));
        // The lower half alone, in whole vectors.
        assert!(plain[8] == 0.1 && plain[7] > 0.1 && plain[37 * 40 + 37] > 0.1);
    }

    #[test]
    fn systems_are_solved() {
        // The lower half of a positive definite matrix; the solution is (1, −2, 3).
        let mut matrix = [4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let mut right = [4.0 - 4.0 + 3.0, 2.0 - 10.0 + 9.0, 1.0 - 6.0 + 18.0];
        assert!(factorize(&mut matrix, 3) && solve(&matrix, &mut right));
        assert!(
            right.iter().zip([1.0, -2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12),
            "{right:?}"
        );
        assert!(!factorize(&mut [0.0], 1));
    }

    #[test]
    fn a_fit_has_no_slope_left() {
        const COLUMNS: usize = 9;
        let mut examples = Examples::new(400, COLUMNS).unwrap();
        let (mut is_bad, mut weights, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for at in 0..400_u32 {
            let row = examples.row_mut(at as usize);
            row[3] = (at % 17) as f32 / 8.0 - 1.0;
            row[5] = (at % 5) as f32 / 2.0 - 1.0;
            rows.push(row.to_vec());
            is_bad.push(at % 17 > 9 && at % 3 == 0);
            weights.push(1.0 + f64::from(at % 2));
        }
        let mut prior = [0.0; COLUMNS];
        prior[5] = 0.25;
        let (is_bad, weights, prior) = (&*is_bad, &*weights, &prior[..]);
        let problem = Problem { examples: &examples, rows: 0..400, is_bad, weights, prior };
        let fit = problem.fit(None).unwrap();
        // At the minimum, the derivative by each weight is 0, computed here by differences.
        let total: f64 = weights.iter().sum();
        let loss = |at: &[f64]| -> f64 {
            let rows = rows.iter().zip(is_bad).zip(weights).map(|((row, bad), weight)| {
                let dot: f64 = at[1..].iter().zip(row).map(|(a, &b)| a * f64::from(b)).sum();
                let p = 1.0 / (1.0 + (-(at[0] + dot)).exp());
                -weight * if *bad { p.ln() } else { (1.0 - p).ln() }
            });
            let far = at[1..].iter().zip(prior).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            rows.sum::<f64>() + 0.05 * total * far
        };
        let step = 1e-5;
        for at in [0, 4, 6, 8] {
            let (mut above, mut below) = (fit.clone(), fit.clone());
            above[at] += step;
            below[at] -= step;
            let slope = (loss(&above) - loss(&below)) / (2.0 * step);
            assert!(slope.abs() < 1e-2 * total.sqrt(), "{at}: {slope}");
        }
        assert!(fit[4] > 0.1 && fit[8] == 0.0, "{fit:?}");
        // From elsewhere, it is the same.
        let far = vec![0.5; COLUMNS + 1];
        let again = problem.fit(Some(&far)).unwrap();
        assert!(again.iter().zip(&fit).all(|(a, b)| (a - b).abs() < 1e-3), "{again:?} {fit:?}");
    }
}
