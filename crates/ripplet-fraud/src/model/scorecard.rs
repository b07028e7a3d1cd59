//! Points by intervals of evidence, and their calibration.

use super::binning::interval;
use crate::evidence::{ALL, KINDS, Values};
use serde::Serialize;

/// Points of one kind of evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Points {
    /// Key of the evidence.
    pub evidence: &'static str,
    /// Upper ends of the intervals, ascending; the last interval has no end.
    pub ends: Vec<f32>,
    /// Points of each interval, in log odds; one more than `ends`.
    pub points: Vec<f64>,
}

/// Logistic function that maps points to a probability: 1 / (1 + exp(−(slope · points + offset))).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Factor of the points, above 0.
    pub slope: f64,
    /// Log odds at 0 points.
    pub offset: f64,
}

/// Model of a window: points for each kind of evidence, which add up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scorecard {
    /// Whether it was learnt; otherwise it is the fixed combination, and probabilities are not calibrated.
    pub learnt: bool,
    /// Number of known bad entities that it was learnt from.
    pub known_bad: u32,
    /// Number of other entities that it was learnt from.
    pub others: u32,
    /// Points by kind of evidence.
    pub tables: Vec<Points>,
    /// Maps points to probabilities.
    pub calibration: Calibration,
}

impl Scorecard {
    /// Returns the points of each kind of evidence.
    pub fn parts(&self, values: &Values) -> [f64; KINDS] {
        let mut parts = [0.0; KINDS];
        for ((part, table), &value) in parts.iter_mut().zip(&self.tables).zip(values) {
            *part = table.points.get(interval(&table.ends, value)).copied().unwrap_or(0.0);
        }
        parts
    }

    /// Returns the sum of all points.
    pub fn points(&self, values: &Values) -> f64 {
        self.parts(values).iter().sum()
    }

    /// Returns the probability of a sum of points.
    pub fn probability(&self, points: f64) -> f64 {
        let Calibration { slope, offset } = self.calibration;
        1.0 / (1.0 + (-(slope * points + offset)).exp())
    }

    /// Returns the mean of scorecards with the same intervals; `None` of none.
    pub(super) fn mean(cards: &[Scorecard]) -> Option<Scorecard> {
        let mut mean = cards.first()?.clone();
        for (column, table) in mean.tables.iter_mut().enumerate() {
            for (at, points) in table.points.iter_mut().enumerate() {
                let all = cards.iter().map(|card| card.tables[column].points[at]);
                *points = all.sum::<f64>() / cards.len() as f64;
            }
        }
        Some(mean)
    }

    /// Creates a scorecard of these tables, one for each of [`ALL`].
    pub(super) fn of(tables: Vec<(Vec<f32>, Vec<f64>)>) -> Scorecard {
        let named = ALL.iter().zip(tables);
        let tables =
            named.map(|(of, (ends, points))| Points { evidence: of.key, ends, points }).collect();
        let calibration = Calibration { slope: 1.0, offset: 0.0 };
        Scorecard { learnt: false, known_bad: 0, others: 0, tables, calibration }
    }
}
