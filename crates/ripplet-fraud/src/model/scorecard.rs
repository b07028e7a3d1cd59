//! Points by intervals of evidence, and their calibration.

use super::binning::interval;
use crate::evidence::Definition;
use ripplet_graph::{OutOfMemory, memory};
use serde::{Deserialize, Serialize};

/// Version of the format of models; it changes whenever older versions of ripplet would read them wrongly.
pub const FORMAT: u32 = 1;

/// Points of one kind of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Key of the evidence.
    pub evidence: String,
    /// Upper ends of the intervals, ascending; the last interval has no end.
    pub ends: Vec<f32>,
    /// Points of each interval, in log odds; one more than `ends`.
    pub points: Vec<f64>,
}

/// Logistic function that maps points to a probability: 1 / (1 + exp(−(slope · points + offset))).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Factor of the points, above 0.
    pub slope: f64,
    /// Log odds at 0 points.
    pub offset: f64,
}

/// Model of a window: points for each kind of evidence, which add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scorecard {
    /// Version of the format: [`FORMAT`].
    pub format: u32,
    /// Whether it was learnt; otherwise it is the fixed combination, drawn towards the known bad if there are any, and
    /// probabilities are not calibrated.
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
    /// Returns the points that the values of an entity have, one for each table.
    pub fn parts(&self, values: impl IntoIterator<Item = f32>) -> impl Iterator<Item = f64> {
        self.tables.iter().zip(values).map(|(table, value)| table.at(value))
    }

    /// Returns the sum of all points.
    pub fn points(&self, values: impl IntoIterator<Item = f32>) -> f64 {
        self.parts(values).sum()
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

    /// Creates a scorecard of the ends and points of each column.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn of(
        columns: &[Definition],
        ends: &[Vec<f32>],
        points: Vec<Vec<f64>>,
    ) -> Result<Scorecard, OutOfMemory> {
        let mut tables = memory::with_room(columns.len())?;
        for ((of, ends), points) in columns.iter().zip(ends).zip(points) {
            tables.push(Points { evidence: of.key.into(), ends: memory::copied(ends)?, points });
        }
        let calibration = Calibration { slope: 1.0, offset: 0.0 };
        Ok(Scorecard {
            format: FORMAT,
            learnt: false,
            known_bad: 0,
            others: 0,
            tables,
            calibration,
        })
    }
}

impl Points {
    /// Returns the points of a value.
    #[inline]
    pub fn at(&self, value: f32) -> f64 {
        self.of_interval(interval(&self.ends, value))
    }

    /// Returns the points of an interval.
    #[inline]
    pub(super) fn of_interval(&self, interval: usize) -> f64 {
        self.points.get(interval).copied().unwrap_or(0.0)
    }
}
