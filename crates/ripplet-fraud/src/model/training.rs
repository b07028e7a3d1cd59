//! Training of scorecards, one without each fold of the known bad, and their check.

use super::binning::Bins;
use super::boosting::{Boosted, boost};
use super::calibration::{self, HeldOut};
use super::check::{Check, CheckedFold, Ranking, place};
use super::earlier::{Earlier, Learnt};
use super::logistic::{Examples, Fit, Problem};
use super::rows::{Label, Rows};
use super::scorecard::{Calibration, Scorecard};
use crate::Entities;
use crate::evidence::{Definition, Evidence, FOLDS, View};
use rayon::prelude::*;
use ripplet_graph::splitmix::finalize;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use std::ops::Range;

/// The most other entities of training and check.
pub const OTHERS: usize = 30_000;

/// Other entities of training for each known bad entity, but at least [`FEWEST_OTHERS`]. Of half as many, average
/// precision is lower by 0.01 on two of nine development sets, and of all of them no higher (ADR 0032).
const OTHERS_OF_KNOWN: usize = 60;
const FEWEST_OTHERS: usize = 6_000;

/// Other rows that are boosted for each known bad row, but at least [`FEWEST_BOOSTED`]: half of them those of the
/// highest odds, and half a sample of the rest.
const BOOSTED_OF_KNOWN: usize = 10;
const FEWEST_BOOSTED: usize = 1_000;

/// Entities that are known to be good; both lists ascend.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownGood<'a> {
    /// Trusted entities: no rows of training.
    pub trusted: &'a [VertexId],
    /// Cleared entities: rows that weigh as much as those of the known bad.
    pub cleared: &'a [VertexId],
}

/// Result of training.
pub(super) struct Trained {
    /// Scorecard of entities that are not known to be bad.
    pub scorecard: Scorecard,
    /// Scorecards of the known bad, by fold; empty without known bad or others.
    pub of_folds: Vec<Scorecard>,
    pub check: Option<Check>,
    /// Weights for the next window.
    pub earlier: Earlier,
}

/// Other entities: those that are not known, of the kinds of the known bad.
struct Others {
    /// A sample, in the order of hashes.
    sample: Vec<VertexId>,
    /// Number of entities that each stands for.
    weight: f64,
    /// Cleared entities, beside the sample.
    cleared: Vec<VertexId>,
}

/// Training of a window's scorecards, up to what the window before passes on: rows, and their intervals.
pub struct Training<'e> {
    evidence: &'e Evidence<'e>,
    others: Others,
    used: Vec<usize>,
    vertices: u32,
    /// `None` if no fold can be held out.
    prepared: Option<Prepared>,
}

/// Rows from which scorecards are learnt.
struct Prepared {
    rows: Rows,
    bins: Bins,
    examples: Examples,
    is_bad: Vec<bool>,
}

/// Training of a window's scorecards whose regressions are fitted: the next window may begin with their weights.
pub struct Fitted<'e> {
    training: Training<'e>,
    fits: Option<Fits>,
    earlier: Earlier,
}

/// Regressions, each without one of the used folds.
struct Fits {
    boosted: Vec<Boosted>,
    chosen: Vec<u32>,
}

/// Prepares the training of a window's scorecards.
///
/// # Errors
/// If memory allocation fails.
pub(super) fn prepare<'e>(
    evidence: &'e Evidence<'e>,
    entities: &Entities,
    good: KnownGood<'_>,
    vertices: u32,
) -> Result<Training<'e>, OutOfMemory> {
    let known = evidence.folds().known();
    let used = used(evidence)?;
    let most = if known.is_empty() { OTHERS } else { others_of(known.len()) };
    let others = others(evidence, entities, good, vertices, most)?;
    let prepared = match used.len() > 1 && !others.sample.is_empty() {
        true => Some(Prepared::of(rows(evidence, &others, &used)?, evidence.columns(), true)?),
        false => None,
    };
    Ok(Training { evidence, others, used, vertices, prepared })
}

impl Prepared {
    /// Finds the intervals of rows. Evidence that depends on known bad is learnt from only if `with_known`.
    fn of(rows: Rows, columns: &[Definition], with_known: bool) -> Result<Prepared, OutOfMemory> {
        let bins = Bins::of(&rows)?;
        let mut examples = Examples::new(rows.len(), columns.len())?;
        for row in 0..rows.len() {
            let each = examples.row_mut(row).iter_mut().zip(bins.of_row(row)).zip(&bins.scales);
            let each = each.zip(columns).filter(|(_, of)| with_known || !of.needs_known);
            each.for_each(|(((value, &place), scale), _)| {
                *value = scale[usize::from(place)] as f32;
            });
        }
        let is_bad = rows.is_bad()?;
        Ok(Prepared { rows, bins, examples, is_bad })
    }
}

impl<'e> Training<'e> {
    /// Fits the regressions, drawn towards what `earlier` windows learnt.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn fit(self, earlier: &Earlier) -> Result<Fitted<'e>, OutOfMemory> {
        let columns = self.evidence.columns();
        let (fits, earlier) = match &self.prepared {
            Some(prepared) => {
                let (fits, weights) = fit(prepared, &self.used, columns, earlier)?;
                (Some(fits), earlier.after(columns, weights))
            }
            None => (None, earlier.clone()),
        };
        Ok(Fitted { training: self, fits, earlier })
    }
}

impl<'e> Fitted<'e> {
    /// Returns what the next window takes from this one and those before.
    pub fn earlier(&self) -> &Earlier {
        &self.earlier
    }

    /// Returns the number of vertices of the window.
    pub(super) fn vertices(&self) -> u32 {
        self.training.vertices
    }

    /// Returns the evidence that is learnt from.
    pub(super) fn evidence(&self) -> &'e Evidence<'e> {
        self.training.evidence
    }

    /// Boosts and calibrates the scorecards.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn trained(self) -> Result<Trained, OutOfMemory> {
        let Fitted { training, fits, earlier } = self;
        let Training { evidence, others, used, prepared, .. } = training;
        let (Some(Prepared { rows, bins, is_bad, .. }), Some(fits)) = (prepared, fits) else {
            return fixed(evidence, &others, &earlier);
        };
        let Fits { mut boosted, chosen } = fits;
        boost(&bins, &chosen, &is_bad, &mut boosted)?;
        let mut cards = memory::with_room(used.len())?;
        for Boosted { tables, .. } in boosted {
            cards.push(Scorecard::of(evidence.columns(), &bins.ends, tables)?);
        }
        let calibration = calibration::fit(&held_out(&rows, &bins, &used, &cards, others.weight)?);
        let finished = |card: Scorecard| Scorecard {
            learnt: true,
            known_bad: evidence.folds().known().len() as u32,
            others: others.sample.len() as u32,
            calibration,
            ..card
        };
        let each: Vec<&Scorecard> = memory::collected(cards.iter())?;
        let check = check(evidence, &rows, others.weight, &used, &each)?;
        let mean = match Scorecard::mean(&cards) {
            Some(mean) => finished(mean),
            None => return fixed(evidence, &others, &earlier),
        };
        let mut of_folds = memory::with_room(FOLDS)?;
        let of_fold = |fold| match used.iter().position(|&used| used == fold) {
            Some(at) => finished(cards[at].clone()),
            None => mean.clone(),
        };
        of_folds.extend((0..FOLDS).map(of_fold));
        Ok(Trained { of_folds, scorecard: mean, check: Some(check), earlier })
    }
}

/// Checks a scorecard that was learnt elsewhere: each fold of the known bad is ranked by it, with evidence that does
/// not use the fold.
///
/// # Errors
/// If memory allocation fails.
pub(super) fn given(
    evidence: &Evidence<'_>,
    entities: &Entities,
    good: KnownGood<'_>,
    vertices: u32,
    card: Scorecard,
) -> Result<Trained, OutOfMemory> {
    let used = used(evidence)?;
    let most = others_of(evidence.folds().known().len());
    let others = others(evidence, entities, good, vertices, most)?;
    let check = match used.is_empty() || others.sample.is_empty() {
        true => None,
        false => {
            let cards = memory::filled(&card, used.len())?;
            let rows = rows(evidence, &others, &used)?;
            Some(check(evidence, &rows, others.weight, &used, &cards)?)
        }
    };
    Ok(Trained { scorecard: card, of_folds: Vec::new(), check, earlier: Earlier::default() })
}

/// Returns the folds that have known bad and that others are left without.
fn used(evidence: &Evidence<'_>) -> Result<Vec<usize>, OutOfMemory> {
    let folds = evidence.folds();
    let is_used = |&fold: &usize| folds.size(fold) > 0 && folds.count(View::Without(fold)) > 0;
    let mut used = memory::with_room(FOLDS)?;
    used.extend((0..FOLDS).filter(is_used));
    Ok(used)
}

/// Returns the most other entities of training with this many known bad.
fn others_of(known: usize) -> usize {
    known.saturating_mul(OTHERS_OF_KNOWN).clamp(FEWEST_OTHERS, OTHERS)
}

/// Samples at most `most` others.
fn others(
    evidence: &Evidence<'_>,
    entities: &Entities,
    good: KnownGood<'_>,
    vertices: u32,
    most: usize,
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
            && good.trusted.binary_search(v).is_err()
    };
    let is_cleared = |v: &VertexId| good.cleared.binary_search(v).is_ok();
    let mut all: Vec<(u64, VertexId)> = memory::with_room(vertices as usize)?;
    let others = (0..vertices).filter(|v| is_other(v) && !is_cleared(v));
    all.extend(others.map(|v| (lot(v), v)));
    let count = all.len();
    if count > most {
        all.select_nth_unstable(most);
        all.truncate(most);
    }
    all.sort_unstable();
    let weight = count as f64 / all.len().max(1) as f64;
    let sample = memory::collected(all.iter().map(|&(_, v)| v))?;
    let mut cleared = memory::with_room(good.cleared.len().min(OTHERS))?;
    let those = good.cleared.iter().copied().filter(|v| *v < vertices && is_other(v));
    cleared.extend(those.take(OTHERS));
    Ok(Others { sample, weight, cleared })
}

/// Hash that orders vertices or rows at random.
fn lot(of: u32) -> u64 {
    finalize(u64::from(of) ^ 0x7363_6f72_6563_6172)
}

/// Returns the fixed combination, with intervals of this window; drawn towards the known bad, if there are any.
///
/// These are all of one fold. So no row says how evidence that depends on known bad looks, and its weights stay as they are.
/// The known bad themselves are scored by the fixed combination: it is the scorecard without their fold.
fn fixed(
    evidence: &Evidence<'_>,
    others: &Others,
    earlier: &Earlier,
) -> Result<Trained, OutOfMemory> {
    let (known, columns) = (evidence.folds().known(), evidence.columns());
    let most = others.sample.len() + known.len();
    let (mut all, mut labels) = (memory::with_room(most)?, memory::with_room(most)?);
    all.extend(others.sample.iter().map(|&v| (v, View::All)));
    labels.resize(all.len(), Label::Unknown);
    all.extend(known.iter().map(|&(v, _)| (v, evidence.view_of(v))));
    labels.resize(all.len(), Label::Bad);
    let starts = [all.len(); FOLDS + 1];
    let rows = Rows { columns: columns_of(evidence, &all)?, labels, starts };
    let Prepared { rows, bins, examples, is_bad } = Prepared::of(rows, columns, false)?;
    let prior = &*prior(columns)?;
    let count = known.len() as f64;
    let rest = others.sample.len() as f64 * others.weight;
    // A prior of one known bad entity, so that the odds are defined.
    let offset = ((count + 1.0) / (rest + 1.0)).ln();
    let card = |weights: &[f64]| -> Result<Scorecard, OutOfMemory> {
        Ok(Scorecard {
            known_bad: known.len() as u32,
            calibration: Calibration { slope: 1.0, offset },
            ..Scorecard::of(columns, &bins.ends, tables(&bins, weights)?)?
        })
    };
    let (mut scorecard, mut of_folds) = (card(prior)?, Vec::new());
    if !known.is_empty() && !others.sample.is_empty() {
        of_folds = memory::filled(scorecard, FOLDS)?;
        let weights = &*rows.weights(rows.weight_of_known(0..rows.len()))?;
        let prior = &*earlier.prior(Earlier::ALL, columns)?;
        let rows = 0..rows.len();
        let fit =
            Problem { examples: &examples, rows, is_bad: &is_bad, weights, prior }.fit(None)?;
        scorecard = card(&fit[1..])?;
    }
    Ok(Trained { scorecard, of_folds, check: None, earlier: earlier.clone() })
}

/// Returns the values of entities, by column.
fn columns_of(
    evidence: &Evidence<'_>,
    rows: &[(VertexId, View)],
) -> Result<Vec<Vec<f32>>, OutOfMemory> {
    let mut columns = memory::with_room(evidence.columns().len())?;
    for _ in evidence.columns() {
        columns.push(memory::zeros::<f32>(rows.len())?);
    }
    columns.par_iter_mut().enumerate().for_each(|(column, values)| {
        evidence.fill(column, rows.iter().copied(), values);
    });
    Ok(columns)
}

fn rows(evidence: &Evidence<'_>, others: &Others, used: &[usize]) -> Result<Rows, OutOfMemory> {
    let known = evidence.folds().known();
    let most = known.len() + others.sample.len() + others.cleared.len();
    let (mut all, mut labels) = (memory::with_room(most)?, memory::with_room(most)?);
    let mut starts = [0; FOLDS + 1];
    for fold in 0..FOLDS {
        if let Some(at) = used.iter().position(|&used| used == fold) {
            let view = View::Without(fold);
            let of_fold = known.iter().filter(|known| usize::from(known.1) == fold);
            all.extend(of_fold.map(|&(v, _)| (v, view)));
            labels.resize(all.len(), Label::Bad);
            // Each other entity is in one fold's rows.
            all.extend(others.cleared.iter().skip(at).step_by(used.len()).map(|&v| (v, view)));
            labels.resize(all.len(), Label::Good);
            all.extend(others.sample.iter().skip(at).step_by(used.len()).map(|&v| (v, view)));
            labels.resize(all.len(), Label::Unknown);
        }
        starts[fold + 1] = all.len();
    }
    Ok(Rows { columns: columns_of(evidence, &all)?, labels, starts })
}

/// Returns the weights of the fixed combination.
fn prior(columns: &[Definition]) -> Result<Vec<f64>, OutOfMemory> {
    memory::collected(columns.iter().map(|of| of.prior))
}

/// Returns the points of each interval by the weights of columns.
fn tables(bins: &Bins, weights: &[f64]) -> Result<Vec<Vec<f64>>, OutOfMemory> {
    let mut tables = memory::with_room(weights.len())?;
    for (scale, weight) in bins.scales.iter().zip(weights) {
        tables.push(memory::collected(scale.iter().map(|value| value * weight))?);
    }
    Ok(tables)
}

/// Fits a regression without each of the used folds. Returns also the weights of the columns, by fold, and of all rows.
fn fit(
    prepared: &Prepared,
    used: &[usize],
    columns: &[Definition],
    earlier: &Earlier,
) -> Result<(Fits, Learnt), OutOfMemory> {
    let Prepared { rows, bins, examples, is_bad } = prepared;
    let prior = &*earlier.prior(Earlier::ALL, columns)?;
    let all = 0..rows.len();
    let weights = &*rows.weights(rows.weight_of_known(all.clone()))?;
    // Fits without a fold begin with that of all rows, which is close.
    let of_all = Problem { examples, rows: all, is_bad, weights, prior }.fit(None)?;
    let Chosen { rows: chosen, stands_for } = chosen(rows, examples, &of_all)?;
    let place = |row: usize| chosen.partition_point(|&at| (at as usize) < row);
    let one = |&fold: &usize| -> Result<(Boosted, Vec<f64>), OutOfMemory> {
        let prior = &*earlier.prior(fold, columns)?;
        let used = rows.without(fold);
        let weights = &*rows.weights(rows.weight_of_known(used.clone()))?;
        let problem = Problem { examples, rows: used.clone(), is_bad, weights, prior };
        let mut fit: Fit = problem.fit(Some(&of_all))?;
        let mut tables = tables(bins, &fit[1..])?;
        // The intercept belongs to every entity.
        if let Some(first) = tables.first_mut() {
            first.iter_mut().for_each(|points| *points += fit[0]);
        }
        let each = chosen.iter().zip(&stands_for);
        let weights = memory::collected(each.map(|(&row, count)| weights[row as usize] * count))?;
        let without = place(rows.starts[fold])..place(rows.starts[fold + 1]);
        fit.remove(0);
        Ok((Boosted { without, weights, tables }, fit))
    };
    let mut each = memory::with_room(used.len())?;
    each.resize_with(used.len(), || None);
    each.par_iter_mut().zip(used).for_each(|(fit, fold)| *fit = Some(one(fold)));
    let mut boosted = memory::with_room(used.len())?;
    let mut weights = memory::with_room(FOLDS + 1)?;
    for (&fold, one) in used.iter().zip(each.into_iter().flatten()) {
        let (fit, of_fold) = one?;
        boosted.push(fit);
        weights.push((fold, of_fold));
    }
    weights.push((Earlier::ALL, memory::copied(&of_all[1..])?));
    Ok((Fits { boosted, chosen }, weights))
}

/// Rows that are boosted, ascending.
struct Chosen {
    rows: Vec<u32>,
    /// Number of rows that each stands for.
    stands_for: Vec<f64>,
}

/// Chooses the rows that are boosted. Others with low odds have hardly any slope, so that a sample of them does.
fn chosen(rows: &Rows, examples: &Examples, fit: &Fit) -> Result<Chosen, OutOfMemory> {
    let certain = rows.labels.iter().filter(|label| **label != Label::Unknown).count();
    let bad = rows.labels.iter().filter(|label| **label == Label::Bad).count();
    let half = bad.saturating_mul(BOOSTED_OF_KNOWN).max(FEWEST_BOOSTED) / 2;
    let mut others = memory::with_room(rows.len() - certain)?;
    let of_others = (0..rows.len()).filter(|&row| rows.labels[row] == Label::Unknown);
    others.extend(of_others.map(|row| (examples.odds(fit, row), row as u32)));
    let half = half.min(others.len());
    if half < others.len() {
        others.select_nth_unstable_by(half, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    let rest = &mut others[half..];
    rest.sort_unstable_by_key(|&(_, row)| row);
    let every = rest.len().div_ceil(half.max(1)).max(1);
    let sampled = rest.len().div_ceil(every);
    let count = rest.len() as f64 / sampled.max(1) as f64;
    let mut stands_for = memory::with_room(certain + half + sampled)?;
    let of_certain = (0..rows.len()).filter(|&row| rows.labels[row] != Label::Unknown);
    stands_for.extend(of_certain.map(|row| (row as u32, 1.0)));
    stands_for.extend(rest.iter().step_by(every).map(|&(_, row)| (row, count)));
    stands_for.extend(others[..half].iter().map(|&(_, row)| (row, 1.0)));
    stands_for.sort_unstable_by_key(|&(row, _)| row);
    Ok(Chosen {
        rows: memory::collected(stands_for.iter().map(|&(row, _)| row))?,
        stands_for: memory::collected(stands_for.iter().map(|&(_, count)| count))?,
    })
}

/// Judges each row by the scorecard without its fold.
fn held_out(
    rows: &Rows,
    bins: &Bins,
    used: &[usize],
    cards: &[Scorecard],
    weight: f64,
) -> Result<Vec<HeldOut>, OutOfMemory> {
    let mut held_out = memory::with_room(rows.len())?;
    for (&fold, card) in used.iter().zip(cards) {
        for row in rows.starts[fold]..rows.starts[fold + 1] {
            let parts = card.tables.iter().zip(bins.of_row(row));
            let points = parts.map(|(table, &place)| table.points[usize::from(place)]).sum();
            let is_bad = rows.labels[row] == Label::Bad;
            let weight = if rows.labels[row] == Label::Unknown { weight } else { 1.0 };
            held_out.push(HeldOut { points, is_bad, weight });
        }
    }
    Ok(held_out)
}

/// Ranks each fold among its other rows, each of which stands for `weight` entities, by the scorecard without the fold. Others of
/// other folds are no measure: their scorecard was fitted to them as good ones, and so ranks them low.
fn check(
    evidence: &Evidence<'_>,
    rows: &Rows,
    weight: f64,
    used: &[usize],
    cards: &[&Scorecard],
) -> Result<Check, OutOfMemory> {
    let top = Check::top(used.len());
    let mut each = memory::with_room(used.len())?;
    each.resize_with(used.len(), || Ok(CheckedFold::default()));
    each.par_iter_mut().zip(used).zip(cards).for_each(|((checked, &fold), card)| {
        *checked = check_fold(rows, rows.starts[fold]..rows.starts[fold + 1], (weight, top), card);
    });
    let folds = each.into_iter().collect::<Result<_, _>>()?;
    Ok(Check::of(evidence.columns(), folds))
}

/// Ranks the known bad rows of a fold among its others, by a scorecard and by each kind of evidence.
fn check_fold(
    rows: &Rows,
    of_fold: Range<usize>,
    (weight, top): (f64, f64),
    card: &Scorecard,
) -> Result<CheckedFold, OutOfMemory> {
    let labels = &rows.labels[of_fold.clone()];
    let mut points = memory::zeros::<f64>(of_fold.len())?;
    let mut evidence = memory::with_room(rows.columns.len())?;
    for (table, values) in card.tables.iter().zip(&rows.columns) {
        let values = &values[of_fold.clone()];
        points.iter_mut().zip(values).for_each(|(points, &value)| *points += table.at(value));
        let alone = ranking(labels, of_fold.start, values.iter().map(|&value| f64::from(value)))?;
        evidence.push((alone.average_precision(weight), alone.precision_at_top(weight, top)));
    }
    let ranking = ranking(labels, of_fold.start, points.into_iter())?;
    let (known, others) = ranking.counts();
    Ok(CheckedFold {
        known_bad: known,
        others,
        average_precision: ranking.average_precision(weight),
        auc: ranking.auc(),
        precision_at_100: ranking.precision_at_top(weight, top),
        base_rate: f64::from(known) / (f64::from(known) + f64::from(others) * weight),
        evidence,
    })
}

/// Ranks rows from number `first` on by their scores, and equal ones by lot: by a hash that does not begin with 0, so that a
/// known bad row, the first of its fold, is not the first of all equal ones, and that differs by fold.
fn ranking(
    labels: &[Label],
    first: usize,
    scores: impl Iterator<Item = f64>,
) -> Result<Ranking, OutOfMemory> {
    let mut places = memory::with_room(labels.len())?;
    places.extend((first as u32..).map(lot).zip(scores).map(|(lot, score)| place(score, lot)));
    Ranking::of(labels.iter().copied().zip(places.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column with one value ranks as by chance, whatever fold it is of.
    #[test]
    fn equal_values_are_ranked_by_chance() {
        let mut labels = [Label::Unknown; 84];
        labels[..4].fill(Label::Bad);
        let folds = (0..500).map(|fold| {
            let alone = ranking(&labels, 84 * fold, [7.0; 84].into_iter()).unwrap();
            (alone.average_precision(1.0), alone.auc())
        });
        let (precision, auc) =
            folds.fold((0.0, 0.0), |(a, b), of| (a + of.0 / 500.0, b + of.1 / 500.0));
        // By chance 0.09; with the first known bad row before all others, more than 0.25.
        assert!((precision - 0.09).abs() < 0.015 && (auc - 0.5).abs() < 0.03, "{precision} {auc}");
    }
}
