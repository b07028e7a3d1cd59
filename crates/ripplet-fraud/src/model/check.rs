//! Check of a ranking by held-out known bad.

use super::rows::Label;
use super::student;
use crate::evidence::Definition;
use ripplet_graph::{OutOfMemory, memory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rank up to which precision is reported.
const TOP: f64 = 100.0;

/// Standard deviations by which the average precision of scores is above that of a random ranking at least, to be better than
/// chance. Its distribution has a long tail, as a first rank counts much.
const DEVIATIONS: f64 = 3.0;

/// Standard deviations by which the AUC of scores is above 0.5 at least. Its distribution is close to the normal. By one of
/// both, at most 3 % of random rankings are better than chance, as a test counts; of random lists more (ADR 0048).
const DEVIATIONS_OF_AUC: f64 = 3.0;

/// Fewest folds from which a standard error is computed.
const FEWEST_FOLDS: usize = 3;

/// Fewest held-out known bad of which an evidence can be clearly better, or scores no better than chance: four in each of
/// five folds. A fold with fewer has an average precision that one rank decides.
pub const FEWEST_KNOWN: u32 = 20;

/// Chance of at most this that any evidence is clearly better than a score of equal quality, over all kinds of evidence of
/// a window.
const FALSE_ALARM: f64 = 0.05;

/// Share of the score's average precision by which an evidence is better at least to be clearly better.
const CLEAR_SHARE: f64 = 0.1;

/// Check of a window's ranking: each fold of the known bad is ranked among as large a part of the entities that are not known,
/// by a scorecard that was fitted to neither, and by evidence that does not use the fold.
///
/// Entities that are not known count as good, so all measures are lower bounds if some of them are bad. Average precision
/// suffers most: the bad that are not known come before those that were held out. With more than 6,000 entities that are not
/// known, measures are estimated from a sample: 60 for each known bad one, at least 6,000 and at most 30,000.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Average precision: mean over the folds, by their known bad.
    pub average_precision: f64,
    /// Share of known bad among the first 100: the first 20 of each of five folds.
    pub precision_at_100: f64,
    /// Share of a fold's known bad among those ranked.
    pub base_rate: f64,
    /// Expected average precision of a random ranking. It is above the base rate, as a first rank by chance counts
    /// much. Of n known bad and m others that stand for w entities each, it is about the mean of
    /// (1 + b) / (1 + b + w · k) over k from 0 to m, where b = (n − 1) · (k + 1) / (m + 2) is the expected number of
    /// known bad before one that follows k others.
    #[serde(default)]
    pub chance: f64,
    /// Standard deviation of the average precision of a random ranking. The variance of a fold is about that of
    /// 1 / (1 + w · k) by n, plus p² · (1 − p)² · (1 / n + 1 / m), where p is the base rate: a first rank by chance, and known
    /// bad that follow one another.
    #[serde(default)]
    pub chance_deviation: f64,
    /// Share of pairs of a known bad entity and another one of its fold in which the known bad comes first (the area under the
    /// ROC curve): 0.5 of a random ranking. Mean over the folds, by their known bad. 0 in files of before.
    #[serde(default)]
    pub auc: f64,
    /// Standard deviation of the AUC of a random ranking: its variance in a fold is (n + m + 1) / (12 · n · m) (Mann and Whitney).
    #[serde(default)]
    pub auc_deviation: f64,
    /// Number of known bad that were held out.
    pub known_bad: u32,
    /// Average precision of each kind of evidence alone.
    pub evidence: BTreeMap<String, f64>,
    /// Number of held-out known bad among the first 100 by each kind of evidence alone, the first 20 of each of five folds:
    /// [`Check::found_at_100`] is that by the score, and [`Check::most_at_100`] the most possible.
    #[serde(default)]
    pub evidence_found_at_100: BTreeMap<String, f64>,
    /// Standard error of the difference between the average precision of each kind of evidence and that of the score:
    /// √(F / (F − 1) · Σ w² (d − mean d)²) over F folds, where d is the difference in a fold and w its share of the known
    /// bad. Without entries if there are fewer than three folds.
    #[serde(default)]
    pub evidence_error: BTreeMap<String, f64>,
    /// Results of each fold.
    pub folds: Vec<CheckedFold>,
}

/// Results of one fold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckedFold {
    /// Number of known bad in the fold.
    pub known_bad: u32,
    /// Number of others that they were ranked among, if these are a sample; 0 in files of before.
    #[serde(default)]
    pub others: u32,
    /// Average precision of the score.
    pub average_precision: f64,
    /// Share of pairs of a known bad entity and another one in which the score ranks the known bad first.
    #[serde(default)]
    pub auc: f64,
    /// Share of known bad among the first 100, divided by the number of folds.
    pub precision_at_100: f64,
    /// Share of known bad among those ranked.
    pub base_rate: f64,
    /// Average precision, and share of known bad among the first, of each kind of evidence alone, in the order of
    /// columns.
    #[serde(skip)]
    pub(super) evidence: Vec<(f64, f64)>,
}

impl Check {
    pub(super) fn of(columns: &[Definition], folds: Vec<CheckedFold>) -> Check {
        let known_bad: u32 = folds.iter().map(|fold| fold.known_bad).sum();
        let mean = |of: &dyn Fn(&CheckedFold) -> f64| -> f64 {
            let sum: f64 = folds.iter().map(|fold| f64::from(fold.known_bad) * of(fold)).sum();
            sum / f64::from(known_bad.max(1))
        };
        let deviation = |of: &dyn Fn(&CheckedFold) -> f64| {
            let share =
                |fold: &CheckedFold| f64::from(fold.known_bad) / f64::from(known_bad.max(1));
            folds.iter().map(|fold| share(fold).powi(2) * of(fold)).sum::<f64>().sqrt()
        };
        let top = Check::top(folds.len());
        let (mut alone, mut first) = (BTreeMap::new(), BTreeMap::new());
        let mut error = BTreeMap::new();
        for (at, column) in columns.iter().enumerate() {
            let of = |fold: &CheckedFold| fold.evidence.get(at).copied().unwrap_or_default();
            alone.insert(column.key.to_owned(), mean(&|fold| of(fold).0));
            let found = folds.iter().map(|fold| fold.found(of(fold).1, top)).sum();
            first.insert(column.key.to_owned(), found);
            if folds.len() >= FEWEST_FOLDS {
                let difference = |fold: &CheckedFold| of(fold).0 - fold.average_precision;
                let all = mean(&difference);
                let squares = folds.iter().map(|fold| {
                    let weight = f64::from(fold.known_bad) / f64::from(known_bad.max(1));
                    (weight * (difference(fold) - all)).powi(2)
                });
                let count = folds.len() as f64;
                let variance = squares.sum::<f64>() * count / (count - 1.0);
                error.insert(column.key.to_owned(), variance.sqrt());
            }
        }
        Check {
            average_precision: mean(&|fold| fold.average_precision),
            precision_at_100: mean(&|fold| fold.precision_at_100),
            base_rate: mean(&|fold| fold.base_rate),
            chance: mean(&|fold| fold.chance().0),
            chance_deviation: deviation(&|fold| fold.chance().1),
            auc: mean(&|fold| fold.auc),
            auc_deviation: deviation(&CheckedFold::auc_variance),
            known_bad,
            evidence: alone,
            evidence_found_at_100: first,
            evidence_error: error,
            folds,
        }
    }

    /// Returns the first rank of a fold's ranking that is not counted among the first 100 of all: each fold holds its share of
    /// all entities.
    pub(super) fn top(folds: usize) -> f64 {
        TOP / folds.max(1) as f64
    }

    /// Whether an average precision is above that of chance, by three standard deviations.
    fn is_above_chance(&self, average_precision: f64) -> bool {
        average_precision > self.chance + DEVIATIONS * self.chance_deviation
    }

    /// Whether the score ranks held-out known bad better than chance: by its average precision, or by its AUC. Unlisted bad
    /// before those that were held out take nearly all average precision, but little of the AUC.
    fn is_better_than_chance(&self) -> bool {
        let is_by_auc = self.auc > 0.5 + DEVIATIONS_OF_AUC * self.auc_deviation;
        is_by_auc || self.is_above_chance(self.average_precision)
    }

    /// Whether the score ranks held-out known bad no better than chance, although enough were held out to judge.
    pub fn is_chance(&self) -> bool {
        !self.is_better_than_chance() && self.known_bad >= FEWEST_KNOWN
    }

    /// Whether less than 20 known bad were held out, and chance explains how the score ranks them: nothing is known of the
    /// scores.
    pub fn is_unclear(&self) -> bool {
        !self.is_better_than_chance() && self.known_bad < FEWEST_KNOWN
    }

    /// Returns the evidence with the highest average precision, if it is above chance and the score's.
    pub fn better_evidence(&self) -> Option<(&str, f64)> {
        let best = self.evidence.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
        let (name, &value) = best;
        (value > self.average_precision && self.is_above_chance(value)).then_some((name, value))
    }

    /// Returns [`better_evidence`](Check::better_evidence) if it is better by a tenth, and over the folds by more than chance
    /// explains; `None` with fewer than 20 known bad or three folds.
    ///
    /// The test is Student's t of the differences in the folds, one-sided with one degree of freedom less than folds, at a
    /// level of 0.05 divided by the number of kinds of evidence (Bonferroni), as the best of them is tested.
    pub fn clearly_better_evidence(&self) -> Option<(&str, f64)> {
        let (name, value) = self.better_evidence()?;
        let (difference, error) = (value - self.average_precision, self.evidence_error.get(name)?);
        if self.known_bad < FEWEST_KNOWN || self.folds.len() < FEWEST_FOLDS {
            return None;
        }
        let by_chance = student::upper_tail(difference / error, self.folds.len() - 1);
        let is_clear = by_chance <= FALSE_ALARM / self.evidence.len() as f64
            && difference >= CLEAR_SHARE * self.average_precision;
        is_clear.then_some((name, value))
    }

    /// Returns the number of held-out known bad among the first 100 by the score, over all folds.
    pub fn found_at_100(&self) -> f64 {
        let top = Check::top(self.folds.len());
        self.folds.iter().map(|fold| fold.found(fold.precision_at_100, top)).sum()
    }

    /// Returns the most held-out known bad that the first 100 of all folds can have.
    pub fn most_at_100(&self) -> u32 {
        let top = Check::top(self.folds.len());
        self.folds.iter().map(|fold| f64::from(fold.known_bad).min(top)).sum::<f64>() as u32
    }
}

impl CheckedFold {
    /// Returns the number of entities that are ranked.
    fn ranked(&self) -> f64 {
        (f64::from(self.known_bad) / self.base_rate.max(f64::MIN_POSITIVE)).max(1.0)
    }

    /// Returns the number of known bad among the first, of the share of known bad there.
    fn found(&self, precision: f64, top: f64) -> f64 {
        precision * self.ranked().min(top)
    }

    /// Returns the number of others that were ranked, and the number of entities that each stands for.
    fn others(&self) -> (f64, f64) {
        let all = self.ranked() - f64::from(self.known_bad);
        match self.others {
            0 => (all.round(), 1.0),
            others => (f64::from(others), all / f64::from(others)),
        }
    }

    /// Returns the mean and the variance of the average precision of a random ranking: those of
    /// [`Check::chance`] and [`Check::chance_deviation`].
    fn chance(&self) -> (f64, f64) {
        let bad = f64::from(self.known_bad);
        let (others, weight) = self.others();
        if bad == 0.0 || others == 0.0 {
            return (1.0, 0.0);
        }
        let (mut mean, mut first, mut square) = (0.0, 0.0, 0.0);
        for before in 0..=others as u32 {
            let before = f64::from(before);
            let found = 1.0 + (bad - 1.0) * (before + 1.0) / (others + 2.0);
            mean += found / (found + weight * before);
            let alone = 1.0 / (1.0 + weight * before);
            (first, square) = (first + alone, square + alone * alone);
        }
        let count = others + 1.0;
        let of_one = square / count - (first / count).powi(2);
        let together = (self.base_rate * (1.0 - self.base_rate)).powi(2);
        (mean / count, of_one / bad + together * (1.0 / bad + 1.0 / others))
    }

    /// Returns the variance of the AUC of a random ranking.
    fn auc_variance(&self) -> f64 {
        let (bad, (others, _)) = (f64::from(self.known_bad), self.others());
        (bad + others + 1.0) / (12.0 * bad * others).max(1.0)
    }
}

/// Place of a row in a ranking: lower is earlier. By score, higher first as [`f64::total_cmp`] has it, and of equal scores by
/// lot.
pub(super) fn place(score: f64, lot: u64) -> u128 {
    let bits = score.to_bits();
    let ascending = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    u128::from(!ascending) << 64 | u128::from(lot)
}

/// Others of a ranking, counted between known bad rows.
pub(super) struct Ranking {
    /// Places of the known bad, ascending.
    bad: Vec<u128>,
    /// Number of others right before each, and after the last.
    others: Vec<u32>,
    /// Places of the first others, ascending; at most 100.
    first: Vec<u128>,
}

impl Ranking {
    /// Ranks rows of others among known bad ones, by their places. Cleared ones are left out.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub(super) fn of(
        rows: impl Iterator<Item = (Label, u128)> + Clone,
    ) -> Result<Ranking, OutOfMemory> {
        let places = |label: Label| rows.clone().filter(move |row| row.0 == label).map(|row| row.1);
        let mut bad = memory::with_room(places(Label::Bad).count())?;
        bad.extend(places(Label::Bad));
        bad.sort_unstable();
        let mut counts = memory::zeros::<u32>(bad.len() + 1)?;
        let mut first: Vec<u128> = memory::with_room(TOP as usize + 1)?;
        for place in places(Label::Unknown) {
            counts[bad.partition_point(|&bad| bad < place)] += 1;
            if first.len() < TOP as usize || first.last().is_some_and(|&last| place < last) {
                first.insert(first.partition_point(|&of| of < place), place);
                first.truncate(TOP as usize);
            }
        }
        Ok(Ranking { bad, others: counts, first })
    }

    /// Returns the number of known bad rows, and of others.
    pub(super) fn counts(&self) -> (u32, u32) {
        (self.bad.len() as u32, self.others.iter().sum())
    }

    /// Returns the number of others before each known bad row.
    fn before(&self) -> impl Iterator<Item = f64> {
        self.others[..self.bad.len()].iter().scan(0_u32, |before, count| {
            *before += count;
            Some(f64::from(*before))
        })
    }

    /// Returns the average precision, the mean of the precision at the rank of each known bad row, if each of the others
    /// stands for this number of entities; 0 without a known bad row.
    pub(super) fn average_precision(&self, weight: f64) -> f64 {
        let found = (1..).map(f64::from);
        let each =
            found.zip(self.before()).map(|(found, before)| found / (found + weight * before));
        each.sum::<f64>() / (self.bad.len() as f64).max(1.0)
    }

    /// Returns the share of pairs of a known bad row and another in which the known bad one comes first; 0.5 without pairs.
    pub(super) fn auc(&self) -> f64 {
        let (bad, others) = self.counts();
        let pairs = f64::from(bad) * f64::from(others);
        if pairs > 0.0 { 1.0 - self.before().sum::<f64>() / pairs } else { 0.5 }
    }

    /// Returns the share of known bad among the first `top` of the ranking, at most 100, if each of the others stands for this
    /// number of entities, at least one.
    pub(super) fn precision_at_top(&self, weight: f64, top: f64) -> f64 {
        let mut bad = self.bad.iter().peekable();
        let mut others = self.first.iter().peekable();
        let (mut found, mut passed) = (0.0, 0.0);
        while passed < top {
            let is_bad = match (bad.peek(), others.peek()) {
                (Some(bad), Some(other)) => bad < other,
                (None, None) => break,
                (bad, _) => bad.is_some(),
            };
            let _ = if is_bad { bad.next() } else { others.next() };
            let weight = f64::min(if is_bad { 1.0 } else { weight }, top - passed);
            passed += weight;
            found += if is_bad { weight } else { 0.0 };
        }
        if passed > 0.0 { found / passed } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ALL;
    use ripplet_graph::splitmix::finalize;

    /// Returns average precision and the precision at the top of rows, each with its score and whether it is bad; equal
    /// scores are in the order of rows.
    fn measures(rows: &[(f64, bool)], weight: f64) -> (f64, f64) {
        let ranking = ranking(rows);
        (ranking.average_precision(weight), ranking.precision_at_top(weight, TOP))
    }

    fn ranking(rows: &[(f64, bool)]) -> Ranking {
        let of = |(lot, &(score, is_bad)): (u64, &(f64, bool))| {
            (if is_bad { Label::Bad } else { Label::Unknown }, place(score, lot))
        };
        // A cleared row stands in between, and changes nothing.
        Ranking::of((0..).zip(rows).map(of).chain([(Label::Good, place(0.0, u64::MAX))])).unwrap()
    }

    fn average_precision(rows: &[(f64, bool)]) -> f64 {
        measures(rows, 1.0).0
    }

    #[test]
    fn measures_are_those_of_rankings_by_hand() {
        // Bad at ranks 1, 3 and 6: (1/1 + 2/3 + 3/6) / 3.
        let of = [true, false, true, false, false, true];
        let rows: Vec<_> =
            of.iter().enumerate().map(|(at, &bad)| (-(at as f64), bad)).rev().collect();
        let (average, top) = measures(&rows, 1.0);
        assert!((average - (1.0 + 2.0 / 3.0 + 0.5) / 3.0).abs() < 1e-12, "{average}");
        assert!((top - 0.5).abs() < 1e-12, "{top}");
        // A row that stands for 100 is as good as 100 rows.
        let (average, top) = measures(&[(3.0, true), (2.0, false), (1.0, true)], 100.0);
        assert!((average - (1.0 + 2.0 / 102.0) / 2.0).abs() < 1e-12, "{average}");
        assert!((top - 0.01).abs() < 1e-12, "{top}");
        assert_eq!(measures(&[(1.0, false)], 1.0), (0.0, 0.0));
        assert_eq!(measures(&[], 1.0), (0.0, 0.0));
        // Of 1,000 rows in any order, the first hundred count: every third is bad, by rank.
        let row = |rank: u32| (-f64::from(rank), rank.is_multiple_of(3));
        let rows: Vec<_> = (0..1000).map(|at| row(at * 7 % 1000)).collect();
        assert!((measures(&rows, 1.0).1 - 0.34).abs() < 1e-12);
    }

    #[test]
    fn rows_are_ranked_by_score_and_then_by_lot() {
        let scores = [f64::MAX, 2.5, 1e-300, 0.0, -0.0, -1e-300, -7.0, f64::MIN];
        let all: Vec<u128> = scores
            .iter()
            .flat_map(|&score| [0, 5, u64::MAX].map(|lot| place(score, lot)))
            .collect();
        assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    }

    /// All rows sorted, one after the other.
    #[test]
    fn measures_are_those_of_a_whole_ranking() {
        let mut state = 7;
        let mut next = |below: u64| ripplet_graph::splitmix::next(&mut state) % below;
        for count in [1, 2, 30, 99, 100, 101, 500] {
            for weight in [1.0, 1.5, 40.0] {
                // Few scores, so that many are equal.
                let rows: Vec<(f64, bool)> =
                    (0..count).map(|_| (next(9) as f64 - 4.0, next(4) == 0)).collect();
                let mut sorted = rows.clone();
                // Stable: equal scores stay in the order of rows.
                sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
                let (mut found, mut passed, mut sum, mut top, mut in_top) =
                    (0.0, 0.0, 0.0, 0.0, 0.0);
                for &(_, is_bad) in &sorted {
                    let counts = if is_bad { 1.0 } else { weight };
                    let part = f64::min(counts, TOP - in_top);
                    in_top += part;
                    top += if is_bad { part } else { 0.0 };
                    passed += counts;
                    if is_bad {
                        found += 1.0;
                        sum += found / passed;
                    }
                }
                let expected = (sum / f64::max(found, 1.0), top / in_top);
                let (average, precision) = measures(&rows, weight);
                assert!((average - expected.0).abs() < 1e-12, "{count} {weight}");
                assert!((precision - expected.1).abs() < 1e-12, "{count} {weight}");
            }
        }
    }

    #[test]
    fn a_clearly_better_evidence_is_better_in_most_folds() {
        let columns = [ALL[0], ALL[1]];
        let check = |score: [f64; 4], alone: [f64; 4]| {
            let fold = |(average_precision, value): (f64, f64)| CheckedFold {
                known_bad: 20,
                average_precision,
                base_rate: 0.01,
                evidence: vec![(value, 0.25), (0.001, 0.0)],
                ..CheckedFold::default()
            };
            Check::of(&columns, score.into_iter().zip(alone).map(fold).collect())
        };
        let name = ALL[0].key;
        let clear = check([0.4, 0.5, 0.4, 0.5], [0.6, 0.7, 0.7, 0.6]);
        assert!(clear.clearly_better_evidence().is_some_and(|(of, ap)| of == name && ap > 0.64));
        // A quarter of the first 25, in each of four folds that hold out 20.
        assert_eq!((clear.evidence_found_at_100[name], clear.most_at_100()), (25.0, 80));
        // Differences of .2, .2, .3 and .1, of a quarter of the known bad each.
        let error = (4.0_f64 / 3.0 * 2.0 * (0.25_f64 * 0.1).powi(2)).sqrt();
        assert!((clear.evidence_error[name] - error).abs() < 1e-12, "{clear:?}");
        // By as much on average, in one fold alone.
        let by_chance = check([0.4, 0.5, 0.4, 0.5], [0.4, 0.5, 0.9, 0.8]);
        assert!(by_chance.better_evidence().is_some());
        assert_eq!(by_chance.clearly_better_evidence(), None);
        // In all folds, by less than a tenth.
        let little = check([0.4, 0.5, 0.4, 0.5], [0.43, 0.53, 0.43, 0.53]);
        assert!(little.better_evidence().is_some());
        assert_eq!(little.clearly_better_evidence(), None);
        assert_eq!(check([0.4, 0.5, 0.4, 0.5], [0.3; 4]).clearly_better_evidence(), None);
        // Of too few known bad, and in too few folds.
        let few = Check { known_bad: 19, ..clear.clone() };
        assert_eq!(few.clearly_better_evidence(), None);
        let folds = clear.folds[..2].to_vec();
        assert_eq!(Check { folds, ..clear.clone() }.clearly_better_evidence(), None);
        // Of many kinds, the best is better by chance.
        let mut many = clear.clone();
        many.evidence.extend((0..998).map(|at| (format!("other {at}"), 0.0)));
        assert_eq!(many.clearly_better_evidence(), None);
        // A window.json of before has no errors.
        let before = Check { evidence_error: BTreeMap::new(), ..clear };
        assert_eq!(before.clearly_better_evidence(), None);
    }

    /// Windows in which the score and each kind of evidence are equally good, each with noise of its own.
    #[test]
    fn evidence_that_is_as_good_as_the_score_is_rarely_clearly_better() {
        const WINDOWS: u32 = 300;
        let mut state = 0_u64;
        let mut uniform = || {
            state += 1;
            (finalize(state) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut ap = |known: u32| {
            let row = |at: u32, uniform: &mut dyn FnMut() -> f64| {
                let is_bad = at < known;
                let score = (0..if is_bad { 8 } else { 1 }).map(|_| uniform()).fold(0.0, f64::max);
                (score, is_bad)
            };
            let rows: Vec<_> = (0..known + 120).map(|at| row(at, &mut uniform)).collect();
            average_precision(&rows)
        };
        let (mut clear, mut by_two_errors) = (0, 0);
        for _ in 0..WINDOWS {
            let fold = |&known_bad: &u32| CheckedFold {
                known_bad,
                average_precision: ap(known_bad),
                base_rate: f64::from(known_bad) / f64::from(known_bad + 120),
                evidence: ALL.iter().map(|_| (ap(known_bad), 0.0)).collect(),
                ..CheckedFold::default()
            };
            let check = Check::of(&ALL, [8, 5, 4, 5, 3].iter().map(fold).collect());
            clear += u32::from(check.clearly_better_evidence().is_some());
            let best = check.better_evidence();
            by_two_errors += u32::from(best.is_some_and(|(name, value)| {
                value - check.average_precision > 2.0 * check.evidence_error[name]
            }));
        }
        assert!(clear * 20 <= WINDOWS, "{clear} of {WINDOWS}");
        // Two standard errors of the best of all kinds are no test.
        assert!(by_two_errors * 10 > WINDOWS, "{by_two_errors} of {WINDOWS}");
    }

    #[test]
    fn chance_is_noticed_and_a_better_evidence_named() {
        let evidence = |best: f64| BTreeMap::from([("a".into(), best), ("b".into(), 0.01)]);
        let check = |average_precision, best| Check {
            average_precision,
            chance: 0.02,
            chance_deviation: 0.002,
            auc: 0.55,
            auc_deviation: 0.03,
            known_bad: 100,
            evidence: evidence(best),
            ..Check::default()
        };
        assert!(check(0.025, 0.0).is_chance() && !check(0.027, 0.0).is_chance());
        assert_eq!(check(0.02, 0.3).better_evidence(), Some(("a", 0.3)));
        assert_eq!(check(0.02, 0.025).better_evidence(), None, "by chance");
        assert_eq!(check(0.4, 0.3).better_evidence(), None);
        // The AUC alone says so, if bad that are not known come first.
        assert!(!Check { auc: 0.6, ..check(0.02, 0.0) }.is_chance());
        // Of less than 20, nothing is known unless they come first.
        let few = Check { known_bad: 19, ..check(0.02, 0.3) };
        assert!(!few.is_chance() && few.is_unclear());
        assert!(!Check { auc: 0.6, ..few.clone() }.is_unclear());
        assert!(!Check { average_precision: 0.03, ..few }.is_unclear());
        assert!(!check(0.02, 0.0).is_unclear() && !check(0.4, 0.0).is_unclear());
    }

    #[test]
    fn the_auc_is_the_share_of_pairs_in_order() {
        // Bad at ranks 1, 3 and 6 of 6: before them are 0, 1 and 3 of 3 others.
        let rows = [true, false, true, false, false, true].map(|bad| (0.0, bad));
        assert!((ranking(&rows).auc() - 5.0 / 9.0).abs() < 1e-12);
        assert_eq!((ranking(&rows[..1]).auc(), ranking(&[]).auc()), (0.5, 0.5));
    }

    /// Random rankings of folds, one after the other: their mean and deviations are as said, and few are better than chance.
    #[test]
    fn random_rankings_are_seldom_better_than_chance() {
        const WINDOWS: u32 = 1000;
        let mut state = 5;
        for (folds, others, weight) in [
            (vec![1; 5], 80, 1.0),
            (vec![3, 5, 4, 6, 2], 80, 1.0),
            (vec![12; 5], 80, 1.0),
            (vec![24; 5], 80, 1.0),
            (vec![4; 5], 600, 17.0),
            (vec![20; 5], 600, 3.0),
        ] {
            let mut fold = |bad: u32| {
                let mut next = || ripplet_graph::splitmix::next(&mut state) as f64;
                let rows: Vec<_> = (0..bad + others).map(|at| (next(), at < bad)).collect();
                let ranking = ranking(&rows);
                CheckedFold {
                    known_bad: bad,
                    others,
                    average_precision: ranking.average_precision(weight),
                    auc: ranking.auc(),
                    base_rate: f64::from(bad) / (f64::from(bad) + f64::from(others) * weight),
                    ..CheckedFold::default()
                }
            };
            let mut window = || Check::of(&[], folds.iter().map(|&bad| fold(bad)).collect());
            let checks: Vec<Check> = (0..WINDOWS).map(|_| window()).collect();
            let moments = |of: &dyn Fn(&Check) -> f64| {
                let mean = checks.iter().map(of).sum::<f64>() / f64::from(WINDOWS);
                let squares = checks.iter().map(|check| (of(check) - mean).powi(2)).sum::<f64>();
                (mean, (squares / f64::from(WINDOWS)).sqrt())
            };
            let (mean, deviation) = moments(&|check| check.average_precision);
            let Check { chance, chance_deviation, auc_deviation, .. } = checks[0].clone();
            let of = format!("{folds:?}: {mean} {deviation}, not {chance} {chance_deviation}");
            assert!((mean / chance - 1.0).abs() < 0.15, "{of}");
            assert!((deviation / chance_deviation - 1.0).abs() < 0.25, "{of}");
            let (mean, deviation) = moments(&|check| check.auc);
            assert!((mean - 0.5).abs() < 0.01, "{folds:?}: {mean}");
            assert!((deviation / auc_deviation - 1.0).abs() < 0.1, "{folds:?}: {deviation}");
            let better = checks.iter().filter(|check| check.is_better_than_chance()).count();
            assert!((1..=30).contains(&better), "{folds:?}: {better} of {WINDOWS}");
        }
    }

    /// The mean and the deviation over all rankings of few rows, one by one.
    #[test]
    fn chance_is_the_mean_over_all_rankings() {
        let mut all = Vec::new();
        for bad in 0_u32..1 << 12 {
            if bad.count_ones() == 3 {
                let rows: Vec<_> = (0..12).map(|at| (-f64::from(at), bad >> at & 1 == 1)).collect();
                all.push(average_precision(&rows));
            }
        }
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let fold = CheckedFold { known_bad: 3, base_rate: 0.25, ..CheckedFold::default() };
        let deviation = all.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let check = Check::of(&[], vec![fold]);
        assert!((check.chance_deviation / deviation.sqrt() - 1.0).abs() < 0.4, "{check:?}");
        // As little as it is above chance at a quarter of bad.
        assert!((check.chance / mean - 1.0).abs() < 0.03, "{mean} {check:?}");
    }
}
