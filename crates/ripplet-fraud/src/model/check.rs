//! Check of a ranking by held-out known bad.

use super::student;
use crate::evidence::Definition;
use ripplet_graph::{OutOfMemory, memory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rank up to which precision is reported.
const TOP: usize = 100;

/// Fewest folds from which a standard error is computed.
const FEWEST_FOLDS: usize = 3;

/// Fewest held-out known bad of which an evidence can be clearly better: four in each of five folds. A fold with fewer
/// has an average precision that one rank decides.
const FEWEST_KNOWN: u32 = 20;

/// Chance of at most this that any evidence is clearly better than a score of equal quality, over all kinds of evidence of
/// a window.
const FALSE_ALARM: f64 = 0.05;

/// Share of the score's average precision by which an evidence is better at least to be clearly better.
const CLEAR_SHARE: f64 = 0.1;

/// Check of a window's ranking: each fold of the known bad is ranked among the entities that are not known, by
/// a scorecard and by evidence that do not use the fold.
///
/// Entities that are not known count as good, so both measures are lower bounds if some of them are bad. With
/// more than 3,000 such entities, both are estimated from a sample: 30 for each known bad one, at least 3,000 and at
/// most 15,000.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Average precision: mean over the folds, by their known bad.
    pub average_precision: f64,
    /// Share of known bad among the first 100.
    pub precision_at_100: f64,
    /// Share of a fold's known bad among those ranked.
    pub base_rate: f64,
    /// Expected average precision of a random ranking. It is above the base rate, as a first rank by chance counts
    /// much: ((n − 1) / (N − 1) · (N − H) + H) / N, where n of N are known bad, and H is the N-th harmonic number
    /// (Bestgen, *Exact expected average precision of the random baseline*, 2015).
    #[serde(default)]
    pub chance: f64,
    /// Standard deviation of the average precision of a random ranking: about √(π² / 6 / (N · known bad)), that of
    /// the reciprocal of a random rank, over all known bad.
    #[serde(default)]
    pub chance_deviation: f64,
    /// Number of known bad that were held out.
    pub known_bad: u32,
    /// Average precision of each kind of evidence alone.
    pub evidence: BTreeMap<String, f64>,
    /// Number of held-out known bad among the first 100 by each kind of evidence alone, over all folds:
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
    /// Average precision of the score.
    pub average_precision: f64,
    /// Share of known bad among the first 100.
    pub precision_at_100: f64,
    /// Share of known bad among those ranked.
    pub base_rate: f64,
    /// Average precision, and share of known bad among the first 100, of each kind of evidence alone, in the order of
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
        let (mut alone, mut first) = (BTreeMap::new(), BTreeMap::new());
        let mut error = BTreeMap::new();
        for (at, column) in columns.iter().enumerate() {
            let of = |fold: &CheckedFold| fold.evidence.get(at).copied().unwrap_or_default();
            alone.insert(column.key.to_owned(), mean(&|fold| of(fold).0));
            let found = folds.iter().map(|fold| fold.found(of(fold).1)).sum();
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
            chance: mean(&|fold| fold.chance()),
            chance_deviation: {
                let of_one = mean(&|fold| std::f64::consts::PI.powi(2) / 6.0 / fold.ranked());
                (of_one / f64::from(known_bad.max(1))).sqrt()
            },
            known_bad,
            evidence: alone,
            evidence_found_at_100: first,
            evidence_error: error,
            folds,
        }
    }

    /// Whether an average precision is above that of chance, by two standard deviations.
    fn is_above_chance(&self, average_precision: f64) -> bool {
        average_precision > self.chance + 2.0 * self.chance_deviation
    }

    /// Whether the score ranks held-out known bad no better than chance.
    pub fn is_chance(&self) -> bool {
        !self.is_above_chance(self.average_precision)
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
        self.folds.iter().map(|fold| fold.found(fold.precision_at_100)).sum()
    }

    /// Returns the most held-out known bad that the first 100 of all folds can have.
    pub fn most_at_100(&self) -> u32 {
        self.folds.iter().map(|fold| fold.known_bad.min(TOP as u32)).sum()
    }
}

impl CheckedFold {
    /// Returns the number of entities that are ranked.
    fn ranked(&self) -> f64 {
        (f64::from(self.known_bad) / self.base_rate.max(f64::MIN_POSITIVE)).max(1.0)
    }

    /// Returns the number of known bad among the first 100, of the share of known bad there.
    fn found(&self, precision: f64) -> f64 {
        precision * self.ranked().min(TOP as f64)
    }

    /// Returns the expected average precision of a random ranking.
    fn chance(&self) -> f64 {
        let (bad, all) = (f64::from(self.known_bad), self.ranked());
        // Euler's constant, and the first term of the error: 0.08 / N².
        let harmonic = all.ln() + 0.577_215_664_901_532_9 + 0.5 / all;
        let more = if all > 1.0 { (bad - 1.0) / (all - 1.0) * (all - harmonic) } else { 0.0 };
        ((more + harmonic) / all).min(1.0)
    }
}

/// Row of a ranking that is judged.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// Score: higher is earlier.
    pub score: f64,
    /// Order of equal scores: a hash, so that it favours no entity.
    pub lot: u64,
    /// Whether it is to be found.
    pub is_bad: bool,
    /// Number of entities that it stands for.
    pub weight: f64,
}

/// Order of two rows in a ranking.
fn order(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.lot.cmp(&b.lot))
}

/// Returns the average precision of rows in any order, the mean of the precision at the rank of each bad row; 0
/// without one.
///
/// Only bad rows are sorted: the others are counted between them.
///
/// # Errors
/// If memory allocation fails.
pub fn average_precision(rows: &[Ranked]) -> Result<f64, OutOfMemory> {
    let mut bad = memory::with_room(rows.iter().filter(|row| row.is_bad).count())?;
    bad.extend(rows.iter().copied().filter(|row| row.is_bad));
    bad.sort_unstable_by(order);
    let mut others = memory::zeros::<f64>(bad.len() + 1)?;
    for row in rows.iter().filter(|row| !row.is_bad) {
        others[bad.partition_point(|bad| order(bad, row).is_lt())] += row.weight;
    }
    let (mut found, mut passed, mut sum) = (0.0, 0.0, 0.0);
    for (row, others) in bad.iter().zip(others) {
        found += row.weight;
        passed += row.weight + others;
        sum += row.weight * found / passed;
    }
    Ok(if found > 0.0 { sum / found } else { 0.0 })
}

/// Returns the share of bad rows among the first 100 of a ranking of rows in any order, each of which stands for one
/// entity at least.
///
/// Only the first 100 rows are kept in order: each of the others is compared with the last of them.
///
/// # Errors
/// If memory allocation fails.
pub(super) fn precision_at_top(rows: &[Ranked]) -> Result<f64, OutOfMemory> {
    let mut top: Vec<Ranked> = memory::with_room(TOP + 1)?;
    for row in rows {
        if top.len() == TOP && top.last().is_some_and(|last| order(last, row).is_lt()) {
            continue;
        }
        top.insert(top.partition_point(|of| order(of, row).is_lt()), *row);
        top.truncate(TOP);
    }
    let (mut found, mut passed) = (0.0, 0.0);
    for row in &top {
        let weight = row.weight.min(TOP as f64 - passed);
        passed += weight;
        found += if row.is_bad { weight } else { 0.0 };
    }
    Ok(if passed > 0.0 { found / passed } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ALL;
    use ripplet_graph::splitmix::finalize;

    fn ranked(of: &[(f64, bool, f64)]) -> Vec<Ranked> {
        let row = |(lot, &(score, is_bad, weight)): (u64, &(f64, bool, f64))| Ranked {
            score,
            lot,
            is_bad,
            weight,
        };
        (0..).zip(of).map(row).collect()
    }

    #[test]
    fn measures_are_those_of_rankings_by_hand() {
        // Bad at ranks 1, 3 and 6: (1/1 + 2/3 + 3/6) / 3.
        let of = [true, false, true, false, false, true].map(|bad| bad);
        let rows: Vec<_> =
            of.iter().enumerate().map(|(at, &bad)| (-(at as f64), bad, 1.0)).collect();
        let mut rows = ranked(&rows);
        rows.reverse();
        let expected = (1.0 + 2.0 / 3.0 + 0.5) / 3.0;
        assert!((average_precision(&rows).unwrap() - expected).abs() < 1e-12);
        assert!((precision_at_top(&rows).unwrap() - 0.5).abs() < 1e-12);
        // A row that stands for 100 is as good as 100 rows.
        let rows = ranked(&[(3.0, true, 1.0), (2.0, false, 100.0), (1.0, true, 1.0)]);
        assert!((average_precision(&rows).unwrap() - (1.0 + 2.0 / 102.0) / 2.0).abs() < 1e-12);
        assert!((precision_at_top(&rows).unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(average_precision(&ranked(&[(1.0, false, 1.0)])).unwrap(), 0.0);
        assert_eq!(precision_at_top(&[]).unwrap(), 0.0);
        // Of 1,000 rows in any order, the first hundred count: every third is bad, by rank.
        let row = |rank: u32| (-f64::from(rank), rank.is_multiple_of(3), 1.0);
        let rows: Vec<_> = (0..1000).map(|at| row(at * 7 % 1000)).collect();
        assert!((precision_at_top(&ranked(&rows)).unwrap() - 0.34).abs() < 1e-12);
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
        // A quarter of the first 100, in each of four folds that hold out 20.
        assert_eq!((clear.evidence_found_at_100[name], clear.most_at_100()), (100.0, 80));
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
                Ranked { score, lot: u64::from(at), is_bad, weight: 1.0 }
            };
            let rows: Vec<Ranked> = (0..known + 120).map(|at| row(at, &mut uniform)).collect();
            average_precision(&rows).unwrap()
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
            known_bad: 100,
            evidence: evidence(best),
            ..Check::default()
        };
        assert!(check(0.023, 0.0).is_chance() && !check(0.025, 0.0).is_chance());
        assert_eq!(check(0.02, 0.3).better_evidence(), Some(("a", 0.3)));
        assert_eq!(check(0.02, 0.022).better_evidence(), None, "by chance");
        assert_eq!(check(0.4, 0.3).better_evidence(), None);
    }

    /// The mean and the deviation over all rankings of few rows, one by one.
    #[test]
    fn chance_is_the_mean_over_all_rankings() {
        let mut all = Vec::new();
        for bad in 0_u32..1 << 12 {
            if bad.count_ones() == 3 {
                let rows: Vec<_> =
                    (0..12).map(|at| (-f64::from(at), bad >> at & 1 == 1, 1.0)).collect();
                all.push(average_precision(&ranked(&rows)).unwrap());
            }
        }
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let fold = CheckedFold { known_bad: 3, base_rate: 0.25, ..CheckedFold::default() };
        assert!((fold.chance() - mean).abs() < 1e-3, "{} {mean}", fold.chance());
        let deviation = all.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let check = Check::of(&[], vec![fold]);
        assert!((check.chance_deviation / deviation.sqrt() - 1.0).abs() < 0.4, "{check:?}");
        assert!((check.chance - mean).abs() < 1e-3);
    }
}
