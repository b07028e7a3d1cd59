//! Logistic regression with a ridge towards given weights, by Newton's method.

use crate::evidence::KINDS;

/// Number of unknowns: an intercept, and a weight for each kind of evidence.
const UNKNOWNS: usize = KINDS + 1;

/// Strength of the ridge, as a share of the summed weight of the rows. Of 0.01 to 0.1, the largest is best with
/// few known bad, and no worse with many (ADR 0032).
const RIDGE: f64 = 0.1;

const STEPS: usize = 25;

/// Fits weights to rows of standardized values; `is_bad` and `weights` are of the rows.
///
/// Returns the intercept and the weights. A step that does not lower the loss is halved.
pub(super) fn fit(
    rows: &[[f32; KINDS]],
    is_bad: &[bool],
    weights: &[f64],
    prior: &[f64; KINDS],
) -> (f64, [f64; KINDS]) {
    let total: f64 = weights.iter().sum();
    let of_bad = is_bad.iter().zip(weights).filter(|(bad, _)| **bad).map(|(_, weight)| weight);
    let bad: f64 = of_bad.sum();
    let mut now = [0.0; UNKNOWNS];
    now[0] = ((bad + 0.5) / (total - bad + 0.5)).ln();
    now[1..].copy_from_slice(prior);
    let ridge = RIDGE * total;
    let loss = |at: &[f64; UNKNOWNS]| -> f64 {
        let of_rows: f64 = rows
            .iter()
            .zip(is_bad)
            .zip(weights)
            .map(|((row, bad), weight)| {
                let odds = odds(at, row);
                weight * ln_1p_exp(if *bad { -odds } else { odds })
            })
            .sum();
        let far = at[1..].iter().zip(prior).map(|(now, prior)| (now - prior).powi(2));
        of_rows + 0.5 * ridge * far.sum::<f64>()
    };
    let mut lowest = loss(&now);
    for _ in 0..STEPS {
        let step = newton_step(rows, is_bad, weights, prior, ridge, &now);
        let Some(step) = step else { break };
        let mut size = 1.0;
        let better = loop {
            let mut next = now;
            next.iter_mut().zip(&step).for_each(|(next, step)| *next -= size * step);
            let reached = loss(&next);
            if reached < lowest {
                break Some((next, reached));
            }
            size *= 0.5;
            if size < 1e-3 {
                break None;
            }
        };
        let Some((next, reached)) = better else { break };
        let gain = lowest - reached;
        (now, lowest) = (next, reached);
        if gain < 1e-9 * total {
            break;
        }
    }
    let mut fitted = [0.0; KINDS];
    fitted.copy_from_slice(&now[1..]);
    (now[0], fitted)
}

fn odds(at: &[f64; UNKNOWNS], row: &[f32; KINDS]) -> f64 {
    at[0] + at[1..].iter().zip(row).map(|(weight, &value)| weight * f64::from(value)).sum::<f64>()
}

/// Returns ln(1 + e^x) without overflow.
pub(super) fn ln_1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Returns the probability of log odds.
pub(super) fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

fn newton_step(
    rows: &[[f32; KINDS]],
    is_bad: &[bool],
    weights: &[f64],
    prior: &[f64; KINDS],
    ridge: f64,
    now: &[f64; UNKNOWNS],
) -> Option<[f64; UNKNOWNS]> {
    let mut slope = [0.0; UNKNOWNS];
    let mut curve = [[0.0; UNKNOWNS]; UNKNOWNS];
    for ((row, &bad), &weight) in rows.iter().zip(is_bad).zip(weights) {
        let share = logistic(odds(now, row));
        let off = weight * (share - f64::from(u8::from(bad)));
        let bend = weight * (share * (1.0 - share)).max(1e-9);
        let mut values = [1.0; UNKNOWNS];
        values[1..].iter_mut().zip(row).for_each(|(to, &value)| *to = f64::from(value));
        slope.iter_mut().zip(&values).for_each(|(slope, value)| *slope += off * value);
        // All of each row, of which only the lower half is used: loops of one length are faster.
        for (row, value) in curve.iter_mut().zip(&values) {
            let scaled = bend * value;
            row.iter_mut().zip(&values).for_each(|(sum, other)| *sum += scaled * other);
        }
    }
    for i in 1..UNKNOWNS {
        slope[i] += ridge * (now[i] - prior[i - 1]);
        curve[i][i] += ridge;
    }
    curve[0][0] += 1e-9;
    solved(curve, slope)
}

/// Solves a system with a symmetric positive definite matrix, of which the lower half is given, by Cholesky's
/// decomposition. Returns `None` if it is not positive definite.
fn solved<const N: usize>(mut matrix: [[f64; N]; N], mut right: [f64; N]) -> Option<[f64; N]> {
    for i in 0..N {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - dot;
            matrix[i][j] = match i == j {
                true if rest > 0.0 => rest.sqrt(),
                true => return None,
                false => rest / matrix[j][j],
            };
        }
    }
    for i in 0..N {
        let dot: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    for i in (0..N).rev() {
        let dot: f64 = (i + 1..N).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    right.iter().all(|value| value.is_finite()).then_some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        // The lower half of a positive definite matrix; the solution is (1, −2, 3).
        let matrix = [[4.0, 0.0, 0.0], [2.0, 5.0, 0.0], [1.0, 3.0, 6.0]];
        let right = [4.0 - 4.0 + 3.0, 2.0 - 10.0 + 9.0, 1.0 - 6.0 + 18.0];
        let found = solved(matrix, right).unwrap();
        assert!(
            found.iter().zip([1.0, -2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
        assert_eq!(solved([[0.0]], [1.0]), None);
    }

    #[test]
    fn a_fit_has_no_slope_left() {
        let mut rows = Vec::new();
        let (mut is_bad, mut weights) = (Vec::new(), Vec::new());
        for at in 0..400_u32 {
            let mut row = [0.0; KINDS];
            row[3] = (at % 17) as f32 / 8.0 - 1.0;
            row[5] = (at % 5) as f32 / 2.0 - 1.0;
            is_bad.push(at % 17 > 9 && at % 3 == 0);
            weights.push(1.0 + f64::from(at % 2));
            rows.push(row);
        }
        let mut prior = [0.0; KINDS];
        prior[5] = 0.25;
        let (intercept, fitted) = fit(&rows, &is_bad, &weights, &prior);
        // At the minimum, the derivative by each weight is 0, computed here by differences.
        let total: f64 = weights.iter().sum();
        let loss = |intercept: f64, at: &[f64; KINDS]| -> f64 {
            let rows = rows.iter().zip(&is_bad).zip(&weights).map(|((row, bad), weight)| {
                let dot: f64 = at.iter().zip(row).map(|(a, &b)| a * f64::from(b)).sum();
                let p = 1.0 / (1.0 + (-(intercept + dot)).exp());
                -weight * if *bad { p.ln() } else { (1.0 - p).ln() }
            });
            let far = at.iter().zip(&prior).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            rows.sum::<f64>() + 0.05 * total * far
        };
        let step = 1e-5;
        for at in [3, 5, 7] {
            let (mut above, mut below) = (fitted, fitted);
            above[at] += step;
            below[at] -= step;
            let slope = (loss(intercept, &above) - loss(intercept, &below)) / (2.0 * step);
            assert!(slope.abs() < 1e-2, "{at}: {slope}");
        }
        assert!(fitted[3] > 0.1 && fitted[7] == 0.0, "{fitted:?}");
    }
}
