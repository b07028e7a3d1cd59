//! Rows whose time is far from the times of the rows around them: a wrong year, or a wrong unit.
//!
//! A row is *far* if it is more than a gap later than all rows before it, unless [`CONFIRMING`] rows in a row are as
//! late: then time did go on. A row is also far if it is more than the gap earlier than the latest row before it. What
//! comes first has nothing before it: the first [`CONFIRMING`] rows are looked at together, and the largest group of
//! them, each within the gap of the next, is where time begins.
//!
//! ```text
//! 01 Mar, 02 Mar, 02 Mar 2924, 02 Mar, …      the third row is far: the fourth is not as late
//! 01 Mar, 02 Mar, 01 Dec, 01 Dec, 02 Dec, …   time goes on, once 16 rows say so
//! ```
//!
//! The verdicts depend on the rows and their order alone. Memory: the rows that wait for a verdict, at most
//! [`CONFIRMING`].

use crate::{Span, Timestamp};

/// Rows that have to be as late as one that is far ahead, so that time goes on there.
pub const CONFIRMING: usize = 16;

/// A row with a verdict.
#[derive(Debug)]
pub(crate) struct Judged<T> {
    pub time: Timestamp,
    pub row: T,
    /// Why it is far, if it is.
    pub far: Option<Far>,
}

/// Why a row is far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Far {
    /// `after` or `before`.
    pub side: &'static str,
    /// The time of the rows around it.
    pub around: Timestamp,
}

/// Judges rows, in their order.
#[derive(Debug)]
pub(crate) struct Neighbours<T> {
    gap: Span,
    /// The latest time of a row that is not far; none until time has begun.
    latest: Option<Timestamp>,
    /// Rows without a verdict.
    held: Vec<(Timestamp, T)>,
}

impl<T> Neighbours<T> {
    pub fn new(gap: Span) -> Neighbours<T> {
        Neighbours { gap, latest: None, held: Vec::new() }
    }

    pub fn gap(&self) -> Span {
        self.gap
    }

    /// Whether a row needs no further look: nothing waits, and its time is within the gap.
    #[inline]
    pub fn is_near(&mut self, time: Timestamp) -> bool {
        let Some(latest) = self.latest else { return false };
        let near = time <= latest.plus(self.gap) && time >= latest.minus(self.gap);
        if near && self.held.is_empty() {
            self.latest = Some(latest.max(time));
            return true;
        }
        false
    }

    /// Takes a row that is not simply near; those that have a verdict by now, in their order.
    pub fn judge(&mut self, time: Timestamp, row: T) -> Vec<Judged<T>> {
        let mut judged = Vec::new();
        if self.latest.is_some() {
            self.judge_into(time, row, &mut judged);
        } else {
            self.held.push((time, row));
            if self.held.len() >= CONFIRMING {
                self.begin(&mut judged);
            }
        }
        judged
    }

    /// The end of the rows: whatever waits has a verdict.
    pub fn finish(&mut self) -> Vec<Judged<T>> {
        let mut judged = Vec::new();
        if self.latest.is_none() {
            self.begin(&mut judged);
        }
        self.drop_held(&mut judged);
        judged
    }

    /// Time begins with the largest group of the rows that wait, the earliest of equal ones.
    fn begin(&mut self, judged: &mut Vec<Judged<T>>) {
        let mut times: Vec<Timestamp> = self.held.iter().map(|(time, _)| *time).collect();
        times.sort_unstable();
        let groups = times.chunk_by(|a, b| *b <= a.plus(self.gap));
        let largest = groups.max_by_key(|group| (group.len(), std::cmp::Reverse(group[0])));
        let Some(&[first, ..]) = largest else { return };
        self.latest = Some(first);
        for (time, row) in std::mem::take(&mut self.held) {
            if time < first {
                judged.push(Judged { time, row, far: Some(Far { side: "before", around: first }) });
            } else {
                self.judge_into(time, row, judged);
            }
        }
    }

    fn judge_into(&mut self, time: Timestamp, row: T, judged: &mut Vec<Judged<T>>) {
        let latest = self.latest.unwrap_or(time);
        if time <= latest.plus(self.gap) {
            self.drop_held(judged);
            let early = time < latest.minus(self.gap);
            let far = early.then_some(Far { side: "before", around: latest });
            self.latest = Some(latest.max(time));
            judged.push(Judged { time, row, far });
            return;
        }
        if let Some(&(last, _)) = self.held.last()
            && (time > last.plus(self.gap) || time < last.minus(self.gap))
        {
            self.drop_held(judged);
        }
        self.held.push((time, row));
        if self.held.len() >= CONFIRMING {
            self.latest = self.held.iter().map(|(time, _)| *time).max();
            let held = std::mem::take(&mut self.held).into_iter();
            judged.extend(held.map(|(time, row)| Judged { time, row, far: None }));
        }
    }

    /// Those that wait are far ahead.
    fn drop_held(&mut self, judged: &mut Vec<Judged<T>>) {
        let around = self.latest.unwrap_or_default();
        let far = Some(Far { side: "after", around });
        let held = std::mem::take(&mut self.held).into_iter();
        judged.extend(held.map(|(time, row)| Judged { time, row, far }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that are far, of days.
    fn far(days: &[i64]) -> Vec<i64> {
        let mut neighbours = Neighbours::new(Span::of_days(180).unwrap());
        let mut judged = Vec::new();
        for &day in days {
            let time = Timestamp(day * Span::DAY.micros());
            if neighbours.is_near(time) {
                judged.push(Judged { time, row: day, far: None });
            } else {
                judged.extend(neighbours.judge(time, day));
            }
        }
        judged.extend(neighbours.finish());
        let order: Vec<i64> = judged.iter().map(|row| row.row).collect();
        assert_eq!(order, days, "none is lost, and the order stays");
        judged.iter().filter(|row| row.far.is_some()).map(|row| row.row).collect()
    }

    fn with(mut days: Vec<i64>, at: usize, wrong: &[i64]) -> Vec<i64> {
        days.splice(at..at, wrong.iter().copied());
        days
    }

    #[test]
    fn a_wrong_year_is_far_wherever_it_stands() {
        let days: Vec<i64> = (0..40).map(|row| 19_000 + row / 2).collect();
        assert_eq!(far(&days), [0i64; 0]);
        for at in [0, 1, 7, 15, 16, 17, 30, 40] {
            for wrong in [19_365, 19_000 - 365, 0, 300_000] {
                assert_eq!(far(&with(days.clone(), at, &[wrong])), [wrong], "{wrong} at {at}");
            }
            assert_eq!(far(&with(days.clone(), at, &[400_000, 30_000])), [400_000, 30_000]);
        }
    }

    #[test]
    fn time_goes_on_where_enough_rows_say_so() {
        let days: Vec<i64> = (0..20).chain((0..16).map(|row| 1000 + row)).collect();
        assert_eq!(far(&days), [0i64; 0]);
        assert_eq!(far(&days[..30]), (1000..1010).collect::<Vec<_>>());
        assert_eq!(far(&[5]), [0i64; 0]);
        assert_eq!(far(&[]), [0i64; 0]);
        let extreme = [i64::MIN / Span::DAY.micros(), 0, i64::MAX / Span::DAY.micros()];
        assert_eq!(far(&extreme).len(), 2);
    }
}
