//! Score of every entity: a scorecard of its evidence, learnt from the known bad.
//!
//! # What it returns
//! [`score`] returns for each entity with edges in the window a probability and a rank, and a [`Check`] of the
//! ranking by held-out known bad.
//!
//! # The model
//! A [`Scorecard`] has a table of points for each kind of evidence, by intervals of its value; the points of an
//! entity add up to its log odds. So a model is a page of numbers, and each part of a score has its evidence.
//!
//! 1. *Intervals* end at quantiles of the training rows, closer to each other towards both ends: a third of an
//!    octave of the number of rows above, and half an octave of those below.
//! 2. *Logistic regression* on −ln of the share of rows above, standardized, with a ridge towards the weights of
//!    the fixed combination ([`Definition::prior`](crate::evidence::Definition::prior)).
//! 3. *Boosted stumps* then add to the points, a step at one interval each, as many as there are known bad, at
//!    most 150.
//! 4. *Calibration*: a logistic function of the log odds, fitted to held-out known bad (Platt).
//!
//! # Learning from known bad alone
//! The known bad are learnt against all other entities of their kinds (positive-unlabelled learning). They are
//! split into folds. The rows of a fold's known bad have evidence from the other folds' known bad only; so what
//! is learnt is how entities look whose own label is not used. One scorecard is learnt without each fold, and
//! judges the fold: that is the [`Check`]. The final scorecard is their mean, and is applied to evidence from all
//! known bad. A known bad entity is scored with the evidence and the scorecard that do not use its fold.
//!
//! The ridge draws halfway to the weights of the window before ([`Earlier`]), so that a window uses what
//! windows before it found in labels that were known then.
//!
//! Cleared entities, which an analyst found to be good, are rows that weigh as much as those of the known bad; no
//! evidence depends on them.
//!
//! The ridge is the same share of the summed weight with few known bad as with many. So the fewer there are, the closer is
//! the scorecard to the fixed combination. If all known bad are of one fold, no row shows how evidence that depends on known bad
//! looks. Then the weights of other evidence alone are fitted, without steps, calibration and check, and the known bad are scored
//! by the fixed combination. Without any known bad, nothing is learnt.
//!
//! # Cost, memory, determinism
//! Training uses 60 other entities for each known bad one, but at least 6,000 and at most [`OTHERS`], those of
//! the smallest hashes; so its time does not depend on the window. Rows are binned once for all folds. A
//! regression without a fold begins with that of all rows, and takes one or two steps. A boosted step is one pass over all
//! columns, for all folds side by side, of 10 other rows for each known bad one: those of the highest odds, and a weighted sample of the rest.
//! Scoring takes a binary search for each kind of evidence and entity. Memory: [`plan`]. The bits do not depend on the
//! number of threads: sums are in the order of rows, and a fold or a column is one task.
//!
//! # References
//! Elkan, Noto, *Learning classifiers from only positive and unlabeled data*, KDD 2008. Friedman, *Greedy function
//! approximation: a gradient boosting machine*, Annals of Statistics 29, 2001. Ke et al., *LightGBM*, NIPS 2017
//! (one-side sampling). Platt, *Probabilistic outputs for support vector machines*, 1999.

mod binning;
mod boosting;
mod calibration;
mod check;
mod earlier;
mod file;
mod logistic;
mod rows;
mod scorecard;
mod student;
mod training;

pub use check::{Check, CheckedFold, FEWEST_KNOWN as FEWEST_CHECKED};
pub use earlier::Earlier;
pub use file::{ModelError, ModelFile};
pub use scorecard::{Calibration, FORMAT, Points, Scorecard};
pub use training::{Fitted, KnownGood, OTHERS, Training};

use crate::Entities;
use crate::evidence::{Evidence, View};
use rayon::prelude::*;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use training::Trained;

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1 << 10;

/// Scores of a window's entities.
#[derive(Debug)]
pub struct Scores {
    /// Probability of each vertex; 0 if it has no edges in the window.
    pub probability: Vec<f32>,
    /// Rank of each vertex, from 1; 0 if it has no edges in the window.
    pub rank: Vec<u32>,
    /// Log odds of each vertex before calibration, by which entities are ranked.
    pub points: Vec<f32>,
    /// The scorecard of entities that are not known to be bad.
    pub scorecard: Scorecard,
    /// The scorecards of the known bad, by fold; empty without known bad or others.
    pub of_folds: Vec<Scorecard>,
    /// Check of the ranking by held-out known bad; `None` if nothing was learnt.
    pub check: Option<Check>,
    /// What the next window takes from this one and those before.
    pub earlier: Earlier,
}

/// Returns the bytes that scoring needs beside this many columns of evidence.
pub fn plan(vertices: u32, columns: usize) -> u64 {
    let rows = (OTHERS as u64).min(u64::from(vertices));
    // Of a row: values, intervals, sorted values, standardized values; and its state while it is boosted, or what the
    // folds' checks rank.
    let of_rows = rows * (16 * columns as u64 + 400);
    28 * u64::from(vertices) + of_rows
}

/// Scores all entities of a window with edges by a scorecard that is learnt from its known bad, and drawn towards what
/// `earlier` windows learnt.
///
/// # Errors
/// If memory allocation fails.
pub fn score(
    evidence: &Evidence<'_>,
    entities: &Entities,
    good: KnownGood<'_>,
    earlier: &Earlier,
    vertices: u32,
) -> Result<Scores, OutOfMemory> {
    prepare(evidence, entities, good, vertices)?.fit(earlier)?.finish()
}

/// Prepares [`score`] up to the point that needs what earlier windows learnt: [`Training::fit`] has that next, and
/// [`Fitted::finish`] the rest. A run that several processes share passes [`Fitted::earlier`] on in between.
///
/// # Errors
/// If memory allocation fails.
pub fn prepare<'e>(
    evidence: &'e Evidence<'e>,
    entities: &Entities,
    good: KnownGood<'_>,
    vertices: u32,
) -> Result<Training<'e>, OutOfMemory> {
    training::prepare(evidence, entities, good, vertices)
}

impl Fitted<'_> {
    /// Boosts and calibrates the scorecards, and scores all entities.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn finish(self) -> Result<Scores, OutOfMemory> {
        let (evidence, vertices) = (self.evidence(), self.vertices());
        scores(evidence, vertices, self.trained()?)
    }
}

/// Scores all entities of a window with edges by a scorecard with a table for each column of the evidence:
/// [`ModelFile::for_columns`].
///
/// The check is by evidence that does not use a fold; but the scorecard may have been learnt from the same known bad.
///
/// # Errors
/// If memory allocation fails.
pub fn score_by(
    evidence: &Evidence<'_>,
    entities: &Entities,
    good: KnownGood<'_>,
    vertices: u32,
    card: Scorecard,
) -> Result<Scores, OutOfMemory> {
    scores(evidence, vertices, training::given(evidence, entities, good, vertices, card)?)
}

fn scores(evidence: &Evidence<'_>, vertices: u32, trained: Trained) -> Result<Scores, OutOfMemory> {
    let Trained { scorecard, of_folds, check, earlier } = trained;
    let count = vertices as usize;
    let mut points = memory::zeros::<f32>(count)?;
    let blocks = points.par_chunks_mut(VERTICES_PER_TASK).enumerate();
    let sum = |(block, points): (usize, &mut [f32])| {
        points_of(evidence, (block * VERTICES_PER_TASK) as VertexId, points, &scorecard, &of_folds)
    };
    blocks.try_for_each(sum)?;
    let probability = (0..count).map(|v| match evidence.is_active(v as VertexId) {
        true => scorecard.probability(f64::from(points[v])) as f32,
        false => 0.0,
    });
    let probability = memory::collected(probability)?;
    let mut order: Vec<VertexId> = memory::with_room(count)?;
    order.extend((0..vertices).filter(|&v| evidence.is_active(v)));
    let by_points = |v: VertexId| points[v as usize];
    order.par_sort_unstable_by(|&a, &b| by_points(b).total_cmp(&by_points(a)).then(a.cmp(&b)));
    let mut rank = memory::zeros::<u32>(count)?;
    for (&v, at) in order.iter().zip(1..) {
        rank[v as usize] = at;
    }
    Ok(Scores { probability, rank, points, scorecard, of_folds, check, earlier })
}

/// Sums the points of vertices from number `first` on, column by column; 0 without edges.
fn points_of(
    evidence: &Evidence<'_>,
    first: VertexId,
    points: &mut [f32],
    scorecard: &Scorecard,
    of_folds: &[Scorecard],
) -> Result<(), OutOfMemory> {
    let mut rows = memory::with_room(points.len())?;
    let mut cards = memory::with_room(points.len())?;
    let all = (first..).take(points.len());
    for v in all.clone().filter(|&v| evidence.is_active(v)) {
        let fold = evidence.folds().fold_of(v);
        rows.push((v, fold.map_or(View::All, View::Without)));
        cards.push(fold.and_then(|fold| of_folds.get(fold)).unwrap_or(scorecard));
    }
    let mut values = memory::zeros::<f32>(rows.len())?;
    // The neutral element of a sum.
    let mut sums = memory::filled(-0.0_f64, rows.len())?;
    for column in 0..scorecard.tables.len() {
        evidence.fill(column, rows.iter().copied(), &mut values);
        let each = sums.iter_mut().zip(&cards).zip(&values);
        each.for_each(|((sum, card), &value)| *sum += card.tables[column].at(value));
    }
    for (&(v, _), &sum) in rows.iter().zip(&sums) {
        points[(v - first) as usize] = sum as f32;
    }
    Ok(())
}

impl Scores {
    /// Returns the scorecard of an entity by its fold: that which was fitted without the fold, if it is known to
    /// be bad.
    pub fn card_of(&self, fold: Option<usize>) -> &Scorecard {
        fold.and_then(|fold| self.of_folds.get(fold)).unwrap_or(&self.scorecard)
    }
}
