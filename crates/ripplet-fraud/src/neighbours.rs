//! Rows whose time is far from the times of the rows around them: a wrong year, or a wrong unit.
//!
//! Time begins with the largest group of the first rows, each within the gap of the next. From then on a row is *near* if
//! its time is within the gap of the latest near row before it. Rows in a row that are not near wait for what comes
//! behind them:
//!
//! | what comes | verdict |
//! |---|---|
//! | a near row | all that wait are far |
//! | the end of the input | the smaller part is wrong: they are far, unless they are more than all near rows |
//! | so many that no more may wait | undecided |
//!
//! ```text
//! 01 Mar, 02 Mar, 02 Mar 2924 (a whole day of them), 03 Mar, …   the rows of 2924 are far
//! 01 Mar, 02 Mar, 01 Dec, 01 Dec, 02 Dec, … and never again Mar   undecided: a pause, or wrong rows on either side
//! ```
//!
//! What is undecided is the user's to say: nothing is guessed, and no windows are made of a pause that nobody allowed.
//!
//! The verdicts depend on the rows and their order alone. Memory: the rows that wait, at most [`Patience::ahead`].

use crate::{Span, Timestamp};
use ripplet_io::Place;

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The number of the file or query.
    pub input: u32,
    /// Where in it.
    pub place: Place,
}

/// How many rows may wait for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// First rows that are looked at together.
    pub first: usize,
    /// Rows in a row that are not near.
    pub ahead: usize,
}

impl Patience {
    /// Of an input that is there: as many rows as are read at a time.
    pub const WHOLE: Patience = Patience { first: 1 << 16, ahead: 1 << 16 };
    /// Of an input that grows: a window must not wait for rows of a later day.
    pub const FOLLOWED: Patience = Patience { first: 16, ahead: 256 };
}

/// A row with a verdict.
#[derive(Debug)]
pub(crate) struct Judged<T> {
    pub time: Timestamp,
    pub spot: Spot,
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
    /// One of these.
    pub beside: Spot,
}

/// Rows that may be as right as those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecided {
    /// The time of the first.
    pub time: Timestamp,
    /// Where the first is.
    pub spot: Spot,
    /// How many there are so far.
    pub rows: usize,
    /// How the first lies to the rows before it.
    pub far: Far,
}

/// Judges rows, in their order.
#[derive(Debug)]
pub(crate) struct Neighbours<T> {
    gap: Span,
    patience: Patience,
    /// The latest time of a near row, and where it is; none until time has begun.
    latest: Option<(Timestamp, Spot)>,
    /// Near rows so far.
    near: u64,
    /// Rows without a verdict.
    held: Vec<(Timestamp, Spot, T)>,
}

impl<T> Neighbours<T> {
    pub fn new(gap: Span, patience: Patience) -> Neighbours<T> {
        Neighbours { gap, patience, latest: None, near: 0, held: Vec::new() }
    }

    pub fn gap(&self) -> Span {
        self.gap
    }

    /// Whether a row needs no further look: nothing waits, and its time is within the gap.
    #[inline]
    pub fn is_near(&mut self, time: Timestamp, spot: Spot) -> bool {
        let near = self.held.is_empty() && self.fits(time);
        if near {
            self.note(time, spot);
        }
        near
    }

    #[inline]
    fn fits(&self, time: Timestamp) -> bool {
        self.latest.is_some_and(|(latest, _)| {
            time <= latest.plus(self.gap) && time >= latest.minus(self.gap)
        })
    }

    #[inline]
    fn note(&mut self, time: Timestamp, spot: Spot) {
        self.near += 1;
        // Of rows of one time the last: it is nearest to what comes.
        if self.latest.is_none_or(|(latest, _)| time >= latest) {
            self.latest = Some((time, spot));
        }
    }

    /// Takes a row that is not simply near; those that have a verdict by now, in their order.
    ///
    /// # Errors
    /// If no more rows may wait.
    pub fn judge(
        &mut self,
        time: Timestamp,
        spot: Spot,
        row: T,
    ) -> Result<Vec<Judged<T>>, Undecided> {
        let mut judged = Vec::new();
        if self.latest.is_some() {
            self.judge_into(time, spot, row, &mut judged)?;
        } else {
            self.held.push((time, spot, row));
            if self.held.len() >= self.patience.first {
                self.begin(&mut judged)?;
            }
        }
        Ok(judged)
    }

    /// The end of the rows: whatever waits has a verdict.
    ///
    /// # Errors
    /// If more rows wait than were near.
    pub fn finish(&mut self) -> Result<Vec<Judged<T>>, Undecided> {
        let mut judged = Vec::new();
        if self.latest.is_none() {
            self.begin(&mut judged)?;
        }
        if self.held.len() as u64 > self.near
            && let Some(undecided) = self.undecided()
        {
            return Err(undecided);
        }
        self.drop_held(&mut judged);
        Ok(judged)
    }

    /// Time begins with the largest group of the rows that wait, the earliest of equal ones.
    fn begin(&mut self, judged: &mut Vec<Judged<T>>) -> Result<(), Undecided> {
        let mut times: Vec<Timestamp> = self.held.iter().map(|(time, ..)| *time).collect();
        times.sort_unstable();
        let groups = times.chunk_by(|a, b| *b <= a.plus(self.gap));
        let largest = groups.max_by_key(|group| (group.len(), std::cmp::Reverse(group[0])));
        let Some(&[first, ..]) = largest else { return Ok(()) };
        let spot = self.held.iter().find(|(time, ..)| *time == first).map(|(_, spot, _)| *spot);
        self.latest = spot.map(|spot| (first, spot));
        for (time, spot, row) in std::mem::take(&mut self.held) {
            self.judge_into(time, spot, row, judged)?;
        }
        Ok(())
    }

    fn judge_into(
        &mut self,
        time: Timestamp,
        spot: Spot,
        row: T,
        judged: &mut Vec<Judged<T>>,
    ) -> Result<(), Undecided> {
        if self.fits(time) {
            self.drop_held(judged);
            self.note(time, spot);
            judged.push(Judged { time, spot, row, far: None });
            return Ok(());
        }
        self.held.push((time, spot, row));
        match self.undecided() {
            Some(undecided) if self.held.len() >= self.patience.ahead => Err(undecided),
            _ => Ok(()),
        }
    }

    fn undecided(&self) -> Option<Undecided> {
        let &(time, spot, _) = self.held.first()?;
        Some(Undecided { time, spot, rows: self.held.len(), far: self.far(time)? })
    }

    fn far(&self, time: Timestamp) -> Option<Far> {
        let (around, beside) = self.latest?;
        Some(Far { side: if time > around { "after" } else { "before" }, around, beside })
    }

    /// Those that wait are far.
    fn drop_held(&mut self, judged: &mut Vec<Judged<T>>) {
        for (time, spot, row) in std::mem::take(&mut self.held) {
            judged.push(Judged { time, spot, row, far: self.far(time) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that are far, of days; else the first of those that are undecided, and how many there are.
    fn far_of(days: &[i64], patience: Patience) -> Result<Vec<i64>, (i64, usize)> {
        let mut neighbours = Neighbours::new(Span::of_days(180).unwrap(), patience);
        let mut judged = Vec::new();
        let undecided = |found: Undecided| (found.time.unit(Span::DAY), found.rows);
        for (row, &day) in days.iter().enumerate() {
            let time = Timestamp(day.saturating_mul(Span::DAY.micros()));
            let spot = Spot { input: 0, place: Place::Row(row as u64) };
            if neighbours.is_near(time, spot) {
                judged.push(Judged { time, spot, row: day, far: None });
            } else {
                judged.extend(neighbours.judge(time, spot, day).map_err(undecided)?);
            }
        }
        judged.extend(neighbours.finish().map_err(undecided)?);
        let order: Vec<i64> = judged.iter().map(|row| row.row).collect();
        assert_eq!(order, days, "none is lost, and the order stays");
        Ok(judged.iter().filter(|row| row.far.is_some()).map(|row| row.row).collect())
    }

    fn far(days: &[i64]) -> Vec<i64> {
        far_of(days, Patience::WHOLE).unwrap()
    }

    fn with(mut days: Vec<i64>, at: usize, wrong: &[i64]) -> Vec<i64> {
        days.splice(at..at, wrong.iter().copied());
        days
    }

    #[test]
    fn wrong_years_are_far_wherever_they_stand() {
        let days: Vec<i64> = (0..400).map(|row| 19_000 + row / 10).collect();
        assert_eq!(far(&days), [0i64; 0]);
        for at in [0, 1, 15, 16, 17, 200, 390, 400] {
            for wrong in [19_000 + 365, 19_000 - 365, 0, 300_000] {
                for rows in [1, 15, 16, 20, 199] {
                    let wrong = vec![wrong; rows];
                    assert_eq!(far(&with(days.clone(), at, &wrong)), wrong, "{rows} at {at}");
                }
            }
            assert_eq!(far(&with(days.clone(), at, &[400_000, 30_000])), [400_000, 30_000]);
        }
    }

    #[test]
    fn what_may_be_a_pause_is_undecided() {
        let days: Vec<i64> = (0..20).chain((0..30).map(|row| 1000 + row)).collect();
        assert_eq!(far(&days), (0..20).collect::<Vec<_>>(), "the smaller part of what is there");
        let patience = Patience { first: 16, ahead: 25 };
        assert_eq!(far_of(&days, patience), Err((1000, 25)));
        assert_eq!(far_of(&days[..44], patience), Err((1000, 24)), "more than those before");
        assert_eq!(far_of(&days[..40], patience), Ok((1000..1020).collect()));
        // A wrong row among them is no vote for those before.
        assert_eq!(far_of(&with(days.clone(), 30, &[-500]), patience), Err((1000, 25)));
        let back: Vec<i64> = days.iter().map(|day| 2000 - day).collect();
        assert_eq!(far_of(&back, patience), Err((1000, 25)));
        let yearly: Vec<i64> = (0..30).map(|year| 365 * year).collect();
        assert_eq!(far_of(&yearly, Patience::WHOLE), Err((365, 29)));
    }

    #[test]
    fn little_or_extreme_is_judged_too() {
        assert_eq!(far(&[5]), [0i64; 0]);
        assert_eq!(far(&[]), [0i64; 0]);
        assert_eq!(far(&[5, 3700]), [3700]);
        assert_eq!(far(&[3700, 5, 6]), [3700]);
        assert_eq!(far_of(&[i64::MIN, 0, i64::MAX], Patience::WHOLE), Err((0, 2)));
    }
}
