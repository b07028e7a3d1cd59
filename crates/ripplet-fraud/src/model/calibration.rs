//! Calibration: a logistic function of the points that fits the share of known bad (Platt).

use super::logistic::logistic;
use super::scorecard::Calibration;

/// Held-out row: its points, whether it is known to be bad, and the number of entities that it stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldOut {
    pub points: f64,
    pub is_bad: bool,
    pub weight: f64,
}

const STEPS: usize = 60;

/// Smallest slope: ranks must not be reversed, even if the held-out known bad have few points.
const LEAST_SLOPE: f64 = 1e-3;

/// Fits a calibration; targets are smoothed by one row of each class, as Platt does.
pub(super) fn fit(rows: &[HeldOut]) -> Calibration {
    let sum = |bad: bool| -> f64 {
        rows.iter().filter(|row| row.is_bad == bad).map(|row| row.weight).sum()
    };
    let (bad, others) = (sum(true), sum(false));
    let high = (bad + 1.0) / (bad + 2.0);
    let low = 1.0 / (others + 2.0);
    let (mut slope, mut offset) = (1.0, ((bad + 1.0) / (others + 1.0)).ln());
    // Levenberg-Marquardt: the damping grows until the loss falls.
    let loss = |slope: f64, offset: f64| -> f64 {
        rows.iter()
            .map(|row| {
                let odds = slope * row.points + offset;
                let target = if row.is_bad { high } else { low };
                row.weight * (super::logistic::ln_1p_exp(odds) - target * odds)
            })
            .sum()
    };
    let mut lowest = loss(slope, offset);
    let mut damping = 1e-6;
    for _ in 0..STEPS {
        let mut g = [0.0; 2];
        let mut h = [0.0; 3];
        for row in rows {
            let share = logistic(slope * row.points + offset);
            let target = if row.is_bad { high } else { low };
            let (off, bend) = (row.weight * (share - target), row.weight * share * (1.0 - share));
            g = [g[0] + off * row.points, g[1] + off];
            h = [h[0] + bend * row.points * row.points, h[1] + bend * row.points, h[2] + bend];
        }
        let (a, c) = (h[0] * (1.0 + damping) + 1e-9, h[2] * (1.0 + damping) + 1e-9);
        let determinant = a * c - h[1] * h[1];
        if !(determinant.is_finite() && determinant > 0.0) {
            break;
        }
        let next_slope = slope - (c * g[0] - h[1] * g[1]) / determinant;
        let next_offset = offset - (a * g[1] - h[1] * g[0]) / determinant;
        let reached = loss(next_slope, next_offset);
        if reached < lowest {
            let gain = lowest - reached;
            (slope, offset, lowest) = (next_slope, next_offset, reached);
            damping = (damping * 0.1).max(1e-9);
            if gain < 1e-10 * (bad + others) {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e6 {
                break;
            }
        }
    }
    if slope < LEAST_SLOPE {
        // No better than chance: every entity has the share of all.
        return Calibration { slope: LEAST_SLOPE, offset: ((bad + 1.0) / (others + 1.0)).ln() };
    }
    Calibration { slope, offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_the_shares() {
        // Of 1000 rows with −1 point 10 are bad, and of 100 with 2 points 40.
        let row = |points, is_bad, weight| HeldOut { points, is_bad, weight };
        let rows = [
            row(-1.0, true, 10.0),
            row(-1.0, false, 990.0),
            row(2.0, true, 40.0),
            row(2.0, false, 60.0),
        ];
        let Calibration { slope, offset } = fit(&rows);
        let at = |points: f64| 1.0 / (1.0 + (-(slope * points + offset)).exp());
        assert!((at(-1.0) - 0.01).abs() < 2e-3, "{}", at(-1.0));
        assert!((at(2.0) - 0.4).abs() < 2e-2, "{}", at(2.0));
    }

    #[test]
    fn ranks_are_never_reversed() {
        let row = |points, is_bad| HeldOut { points, is_bad, weight: 1.0 };
        let rows = [row(2.0, false), row(1.0, false), row(-1.0, true), row(-2.0, true)];
        assert!(fit(&rows).slope > 0.0);
        let one = fit(&[row(1.0, true)]);
        assert!(one.slope > 0.0 && one.offset.is_finite());
        assert!(fit(&[]).offset.is_finite());
    }
}
