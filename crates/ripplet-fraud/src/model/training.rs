//! Training of scorecards, one without each fold of the known bad, and their check.

use super::binning::{ends_of, interval};
use super::boosting::{Binned, boost};
use super::calibration::{self, HeldOut};
use super::check::{Check, CheckedFold, Ranked, average_precision, precision_at_top};
use super::logistic;
use super::scorecard::{Calibration, Scorecard};
use crate::Entities;
use crate::evidence::{ALL, Evidence, FOLDS, KINDS, Values, View};
use rayon::prelude::*;
use ripplet_graph::splitmix::finalize;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// Fewest known bad entities from which a scorecard is learnt. With fewer, the fixed combination is no worse on
/// the development sets (ADR 0032).
pub const FEWEST: usize = 10;

/// The most other entities of training and check.
pub const OTHERS: usize = 30_000;

/// Result of training.
pub(super) struct Trained {
    /// Scorecard of entities that are not known to be bad.
    pub scorecard: Scorecard,
    /// Scorecards of the known bad, by fold; empty if nothing was learnt.
    pub of_folds: Vec<Scorecard>,
    pub check: Option<Check>,
}

/// Rows of training: the known bad, and then others.
struct Rows {
    values: Vec<Values>,
    is_bad: Vec<bool>,
    /// The fold whose known bad a row's evidence does not use.
    folds: Vec<usize>,
}

/// Other entities: those that are not known, of the kinds of the known bad.
struct Others {
    /// A sample, by hash.
    sample: Vec<VertexId>,
    /// Number of entities that each stands for.
    weight: f64,
}

/// Trains the scorecards of a window.
///
/// # Errors
/// If memory allocation fails.
pub(super) fn train(
    evidence: &Evidence<'_>,
    entities: &Entities,
    trusted: &[VertexId],
    vertices: u32,
) -> Result<Trained, OutOfMemory> {
    let others = others(evidence, entities, trusted, vertices)?;
    let folds = evidence.folds();
    let known = folds.known();
    let is_used = |&fold: &usize| {
        let size = folds.size(fold);
        size > 0 && folds.count(View::Without(fold)) > 0
    };
    let used: Vec<usize> = (0..FOLDS).filter(is_used).collect();
    if known.len() < FEWEST || used.len() < 2 || others.sample.is_empty() {
        return fixed(evidence, &others);
    }
    let rows = rows(evidence, &others, &used)?;
    let shape = Shape::of(&rows.values)?;
    let cards: Vec<Scorecard> =
        used.par_iter().map(|&fold| shape.learn(&rows, fold)).collect::<Result<_, _>>()?;
    let held_out = held_out(&rows, &used, &cards, others.weight);
    let calibration = calibration::fit(&held_out);
    let finished = |card: Scorecard| Scorecard {
        learnt: true,
        known_bad: known.len() as u32,
        others: others.sample.len() as u32,
        calibration,
        ..card
    };
    let check = check(evidence, &others, &used, &cards)?;
    let scorecard = finished(Scorecard::mean(&cards).unwrap_or_else(|| Scorecard::of(Vec::new())));
    let of_folds = (0..FOLDS).map(|fold| match used.iter().position(|&used| used == fold) {
        Some(at) => finished(cards[at].clone()),
        None => scorecard.clone(),
    });
    Ok(Trained { of_folds: of_folds.collect(), scorecard, check: Some(check) })
}

fn others(
    evidence: &Evidence<'_>,
    entities: &Entities,
    trusted: &[VertexId],
    vertices: u32,
) -> Result<Others, OutOfMemory> {
    let known = evidence.folds().known();
    let mut kinds = [known.is_empty(); 256];
    for &(v, _) in known {
        kinds[usize::from(entities.kind_of(v).0)] = true;
    }
    let is_other = |v: &VertexId| {
        evidence.is_active(*v)
            && kinds[usize::from(entities.kind_of(*v).0)]
            && evidence.folds().fold_of(*v).is_none()
            && trusted.binary_search(v).is_err()
    };
    let mut all: Vec<(u64, VertexId)> = memory::with_room(vertices as usize)?;
    all.extend((0..vertices).filter(is_other).map(|v| (lot(v), v)));
    let count = all.len();
    if count > OTHERS {
        all.select_nth_unstable(OTHERS);
        all.truncate(OTHERS);
    }
    all.sort_unstable();
    let weight = count as f64 / all.len().max(1) as f64;
    Ok(Others { sample: all.into_iter().map(|(_, v)| v).collect(), weight })
}

/// Hash that orders vertices at random.
fn lot(vertex: VertexId) -> u64 {
    finalize(u64::from(vertex) ^ 0x7363_6f72_6563_6172)
}

/// Returns the fixed combination, with intervals of this window.
fn fixed(evidence: &Evidence<'_>, others: &Others) -> Result<Trained, OutOfMemory> {
    let known = evidence.folds().known().iter().map(|&(v, _)| v);
    let all: Vec<VertexId> = others.sample.iter().copied().chain(known).collect();
    let values = all.par_iter().map(|&v| evidence.values(v, evidence.view_of(v))).collect();
    let shape = Shape::of(&values)?;
    let count = evidence.folds().known().len() as f64;
    let rest = others.sample.len() as f64 * others.weight;
    // A prior of one known bad entity, so that the odds are defined.
    let offset = ((count + 1.0) / (rest + 1.0)).ln();
    let calibration = Calibration { slope: 1.0, offset };
    let tables = shape.tables(&shape.prior());
    let card = Scorecard {
        known_bad: count as u32,
        calibration,
        ..Scorecard::of(shape.ends.into_iter().zip(tables).collect())
    };
    Ok(Trained { scorecard: card, of_folds: Vec::new(), check: None })
}

fn rows(evidence: &Evidence<'_>, others: &Others, used: &[usize]) -> Result<Rows, OutOfMemory> {
    let known = evidence.folds().known().iter();
    let known = known.map(|&(v, fold)| (v, usize::from(fold), true));
    let known = known.filter(|(_, fold, _)| used.contains(fold));
    // Each other entity is in one fold's rows.
    let rest = others.sample.iter().enumerate();
    let rest = rest.map(|(at, &v)| (v, used[at % used.len()], false));
    let all: Vec<(VertexId, usize, bool)> = known.chain(rest).collect();
    let values = all.par_iter().map(|&(v, fold, _)| evidence.values(v, View::Without(fold)));
    Ok(Rows {
        values: values.collect(),
        is_bad: memory::collected(all.iter().map(|row| row.2))?,
        folds: memory::collected(all.iter().map(|row| row.1))?,
    })
}

/// Intervals of each kind of evidence, and the standardized value of each.
struct Shape {
    ends: Vec<Vec<f32>>,
    /// Standardized −ln of the share of rows above, by interval; 0 if all rows are in one.
    scales: Vec<Vec<f64>>,
    /// By kind, then by row.
    columns: Vec<Vec<u8>>,
}

/// Share that is added to the share of rows above, so that its logarithm is bounded.
const LEAST_SHARE: f64 = 0.002;

impl Shape {
    fn of(values: &Vec<Values>) -> Result<Shape, OutOfMemory> {
        let count = values.len() as f64;
        let column = |kind: usize| {
            let mut sorted: Vec<f32> = values.iter().map(|row| row[kind]).collect();
            sorted.sort_unstable_by(f32::total_cmp);
            let ends = ends_of(&sorted);
            let places = values.iter().map(|row| interval(&ends, row[kind]) as u8);
            let places: Vec<u8> = places.collect();
            let mut counts = vec![0.0; ends.len() + 1];
            places.iter().for_each(|&place| counts[usize::from(place)] += 1.0);
            let mut below = 0.0;
            let mut scale: Vec<f64> = Vec::with_capacity(counts.len());
            for &here in &counts {
                let share: f64 = (below + here / 2.0) / count.max(1.0);
                scale.push(-(1.0 - share + LEAST_SHARE).ln());
                below += here;
            }
            standardize(&mut scale, &counts);
            (ends, scale, places)
        };
        let all: Vec<_> = (0..KINDS).into_par_iter().map(column).collect();
        let mut shape = Shape { ends: Vec::new(), scales: Vec::new(), columns: Vec::new() };
        for (ends, scale, places) in all {
            shape.ends.push(ends);
            shape.scales.push(scale);
            shape.columns.push(places);
        }
        Ok(shape)
    }

    fn prior(&self) -> [f64; KINDS] {
        ALL.map(|of| of.prior)
    }

    /// Returns the points of each interval by these weights.
    fn tables(&self, weights: &[f64; KINDS]) -> Vec<Vec<f64>> {
        let both = self.scales.iter().zip(weights);
        both.map(|(scale, weight)| scale.iter().map(|value| value * weight).collect()).collect()
    }

    /// Learns a scorecard from the rows of all folds but one.
    fn learn(&self, rows: &Rows, without: usize) -> Result<Scorecard, OutOfMemory> {
        let used = (0..rows.values.len()).filter(|&row| rows.folds[row] != without);
        let used: Vec<u32> = used.map(|row| row as u32).collect();
        let bad = used.iter().filter(|&&row| rows.is_bad[row as usize]).count();
        // Between equal weights of rows, and of both classes.
        let of_bad = ((used.len() - bad).max(1) as f64 / bad.max(1) as f64).sqrt();
        let weights = rows.is_bad.iter().map(|&bad| if bad { of_bad } else { 1.0 });
        let weights: Vec<f64> = memory::collected(weights)?;
        let scaled = |row: usize| {
            let mut scaled = [0.0; KINDS];
            for (kind, value) in scaled.iter_mut().enumerate() {
                *value = self.scales[kind][usize::from(self.columns[kind][row])] as f32;
            }
            scaled
        };
        let values: Vec<[f32; KINDS]> = used.iter().map(|&row| scaled(row as usize)).collect();
        let is_bad: Vec<bool> = used.iter().map(|&row| rows.is_bad[row as usize]).collect();
        let of_used: Vec<f64> = used.iter().map(|&row| weights[row as usize]).collect();
        let (intercept, fitted) = logistic::fit(&values, &is_bad, &of_used, &self.prior());
        let mut tables = self.tables(&fitted);
        // The intercept belongs to every entity.
        tables[0].iter_mut().for_each(|points| *points += intercept);
        let mut odds = memory::zeros::<f64>(rows.values.len())?;
        for &row in &used {
            let places = self.columns.iter().map(|column| usize::from(column[row as usize]));
            odds[row as usize] = tables.iter().zip(places).map(|(of, place)| of[place]).sum();
        }
        let mut intervals = [0; KINDS];
        intervals.iter_mut().zip(&self.ends).for_each(|(count, ends)| *count = ends.len() + 1);
        let binned = Binned { columns: &self.columns, intervals };
        boost(&binned, &used, &rows.is_bad, &weights, &mut odds, &mut tables);
        Ok(Scorecard::of(self.ends.iter().cloned().zip(tables).collect()))
    }
}

fn standardize(scale: &mut [f64], counts: &[f64]) {
    let count: f64 = counts.iter().sum();
    let mean_of = |values: &mut dyn Iterator<Item = f64>| -> f64 {
        let sum: f64 = values.zip(counts).map(|(value, count)| value * count).sum();
        sum / count.max(1.0)
    };
    let mean = mean_of(&mut scale.iter().copied());
    let variance = mean_of(&mut scale.iter().map(|value| (value - mean).powi(2)));
    let deviation = variance.sqrt();
    for value in scale {
        *value = if deviation > 1e-9 { (*value - mean) / deviation } else { 0.0 };
    }
}

/// Judges each row by the scorecard without its fold.
fn held_out(rows: &Rows, used: &[usize], cards: &[Scorecard], weight: f64) -> Vec<HeldOut> {
    let judge = |row: usize| {
        let at = used.iter().position(|&fold| fold == rows.folds[row]).unwrap_or(0);
        let is_bad = rows.is_bad[row];
        let weight = if is_bad { 1.0 } else { weight };
        HeldOut { points: cards[at].points(&rows.values[row]), is_bad, weight }
    };
    (0..rows.values.len()).into_par_iter().map(judge).collect()
}

/// Ranks each fold among all other entities of the sample.
fn check(
    evidence: &Evidence<'_>,
    others: &Others,
    used: &[usize],
    cards: &[Scorecard],
) -> Result<Check, OutOfMemory> {
    let mut folds = Vec::new();
    for (&fold, card) in used.iter().zip(cards) {
        let known = evidence.folds().known().iter().filter(|known| usize::from(known.1) == fold);
        let known: Vec<VertexId> = known.map(|&(v, _)| v).collect();
        let all: Vec<VertexId> = known.iter().chain(&others.sample).copied().collect();
        let values: Vec<Values> =
            all.par_iter().map(|&v| evidence.values(v, View::Without(fold))).collect();
        let ranked = |score: &(dyn Fn(&Values) -> f64 + Sync)| -> Vec<Ranked> {
            let rows = all.iter().zip(&values).enumerate();
            rows.map(|(at, (&v, values))| {
                let is_bad = at < known.len();
                let weight = if is_bad { 1.0 } else { others.weight };
                Ranked { score: score(values), lot: lot(v), is_bad, weight }
            })
            .collect()
        };
        let mut by_score = ranked(&|values| card.points(values));
        let of_score = average_precision(&by_score);
        let alone = (0..KINDS)
            .into_par_iter()
            .map(|kind| average_precision(&ranked(&|values: &Values| f64::from(values[kind]))));
        let total = known.len() as f64 + others.sample.len() as f64 * others.weight;
        folds.push(CheckedFold {
            known_bad: known.len() as u32,
            average_precision: of_score,
            precision_at_100: precision_at_top(&mut by_score),
            base_rate: known.len() as f64 / total,
            evidence: alone.collect(),
        });
    }
    Ok(Check::of(folds))
}
