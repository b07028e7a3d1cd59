//! Filter for rows whose time is far from the times of the rows around them: a wrong year, or a wrong unit.
//!
//! Time begins with the largest group of the first rows, each within the gap of the next. From then on a row
//! is *near* if its time is within the gap of the latest near row before it. Consecutive rows that are not
//! near are pending until later rows decide:
//!
//! | next | verdict |
//! |---|---|
//! | a near row | all pending rows are far |
//! | the end of the input | the smaller part is wrong: the pending rows, unless they outnumber the near ones |
//! | the limit of pending rows | undecided |
//!
//! ```text
//! 01 Mar, 02 Mar, 02 Mar 2924 (a whole day of them), 03 Mar, …   the rows of 2924 are far
//! 01 Mar, 02 Mar, 01 Dec, 01 Dec, 02 Dec, … and never again Mar   undecided: a pause, or wrong rows on either side
//! ```
//!
//! An undecided input is an error: the user decides whether it is a pause.
//!
//! Verdicts depend on the rows and their order alone. Memory: the pending rows, at most [`Lookahead::ahead`].

use crate::{Span, Timestamp};
use ripplet_io::Place;

/// Position of a row in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLocation {
    /// Number of the file or query.
    pub input: u32,
    /// Position in the file or query.
    pub place: Place,
}

/// Limits on the rows that are buffered before a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lookahead {
    /// First rows that are examined together.
    pub first: usize,
    /// Consecutive rows that are not near.
    pub ahead: usize,
}

impl Lookahead {
    /// For an input that is complete: as many rows as are read at a time.
    pub const WHOLE: Lookahead = Lookahead { first: 1 << 16, ahead: 1 << 16 };
    /// For an input that grows: a window must not wait for rows of a later day.
    pub const FOLLOWED: Lookahead = Lookahead { first: 16, ahead: 256 };
}

/// Row with a verdict.
#[derive(Debug)]
pub(crate) struct Classified<T> {
    pub time: Timestamp,
    pub location: RowLocation,
    pub row: T,
    /// Set if the row is far.
    pub far: Option<TimeOutlier>,
}

/// Deviation of a row's time from the times of the rows around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeOutlier {
    /// `after` or `before`.
    pub side: &'static str,
    /// The time of the rows around it.
    pub around: Timestamp,
    /// Position of one of these rows.
    pub beside: RowLocation,
}

/// Pending rows that may be as right as the near rows before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecided {
    /// Time of the first pending row.
    pub time: Timestamp,
    /// Position of the first pending row.
    pub location: RowLocation,
    /// Number of pending rows so far.
    pub rows: usize,
    /// Deviation of the first pending row from the rows before it.
    pub far: TimeOutlier,
}

/// Classifies rows, in their order, as near or far.
#[derive(Debug)]
pub(crate) struct TimeFilter<T> {
    gap: Span,
    lookahead: Lookahead,
    /// Latest time of a near row and its position; `None` until time has begun.
    latest: Option<(Timestamp, RowLocation)>,
    /// Number of near rows so far.
    near: u64,
    /// Rows without a verdict.
    held: Vec<(Timestamp, RowLocation, T)>,
}

impl<T> TimeFilter<T> {
    pub fn new(gap: Span, lookahead: Lookahead) -> TimeFilter<T> {
        TimeFilter { gap, lookahead, latest: None, near: 0, held: Vec::new() }
    }

    pub fn gap(&self) -> Span {
        self.gap
    }

    /// Whether a row needs no buffering: no row is pending, and its time is within the gap.
    #[inline]
    pub fn is_near(&mut self, time: Timestamp, location: RowLocation) -> bool {
        let near = self.held.is_empty() && self.fits(time);
        if near {
            self.note(time, location);
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
    fn note(&mut self, time: Timestamp, location: RowLocation) {
        self.near += 1;
        // Of rows with one time the last: it is nearest to the rows that follow.
        if self.latest.is_none_or(|(latest, _)| time >= latest) {
            self.latest = Some((time, location));
        }
    }

    /// Adds a row that is not simply near, and returns the rows that now have a verdict, in their order.
    ///
    /// # Errors
    /// If the limit of pending rows is reached.
    pub fn classify(
        &mut self,
        time: Timestamp,
        location: RowLocation,
        row: T,
    ) -> Result<Vec<Classified<T>>, Undecided> {
        let mut classified = Vec::new();
        if self.latest.is_some() {
            self.classify_into(time, location, row, &mut classified)?;
        } else {
            self.held.push((time, location, row));
            if self.held.len() >= self.lookahead.first {
                self.begin(&mut classified)?;
            }
        }
        Ok(classified)
    }

    /// Ends the input: every pending row gets a verdict.
    ///
    /// # Errors
    /// If more rows are pending than were near.
    pub fn finish(&mut self) -> Result<Vec<Classified<T>>, Undecided> {
        let mut classified = Vec::new();
        if self.latest.is_none() {
            self.begin(&mut classified)?;
        }
        if self.held.len() as u64 > self.near
            && let Some(undecided) = self.undecided()
        {
            return Err(undecided);
        }
        self.reject_pending(&mut classified);
        Ok(classified)
    }

    /// Begins time with the largest group of the pending rows, the earliest of equally large ones.
    fn begin(&mut self, classified: &mut Vec<Classified<T>>) -> Result<(), Undecided> {
        let mut times: Vec<Timestamp> = self.held.iter().map(|(time, ..)| *time).collect();
        times.sort_unstable();
        let groups = times.chunk_by(|a, b| *b <= a.plus(self.gap));
        let largest = groups.max_by_key(|group| (group.len(), std::cmp::Reverse(group[0])));
        let Some(&[first, ..]) = largest else { return Ok(()) };
        let location =
            self.held.iter().find(|(time, ..)| *time == first).map(|(_, location, _)| *location);
        self.latest = location.map(|location| (first, location));
        for (time, location, row) in std::mem::take(&mut self.held) {
            self.classify_into(time, location, row, classified)?;
        }
        Ok(())
    }

    fn classify_into(
        &mut self,
        time: Timestamp,
        location: RowLocation,
        row: T,
        classified: &mut Vec<Classified<T>>,
    ) -> Result<(), Undecided> {
        if self.fits(time) {
            self.reject_pending(classified);
            self.note(time, location);
            classified.push(Classified { time, location, row, far: None });
            return Ok(());
        }
        self.held.push((time, location, row));
        match self.undecided() {
            Some(undecided) if self.held.len() >= self.lookahead.ahead => Err(undecided),
            _ => Ok(()),
        }
    }

    fn undecided(&self) -> Option<Undecided> {
        let &(time, location, _) = self.held.first()?;
        Some(Undecided { time, location, rows: self.held.len(), far: self.far(time)? })
    }

    fn far(&self, time: Timestamp) -> Option<TimeOutlier> {
        let (around, beside) = self.latest?;
        Some(TimeOutlier { side: if time > around { "after" } else { "before" }, around, beside })
    }

    /// Marks the pending rows as far.
    fn reject_pending(&mut self, classified: &mut Vec<Classified<T>>) {
        for (time, location, row) in std::mem::take(&mut self.held) {
            classified.push(Classified { time, location, row, far: self.far(time) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the days of the far rows, or the first undecided day and the number of undecided rows.
    fn far_of(days: &[i64], lookahead: Lookahead) -> Result<Vec<i64>, (i64, usize)> {
        let mut time_outliers = TimeFilter::new(Span::of_days(180).unwrap(), lookahead);
        let mut classified = Vec::new();
        let undecided = |found: Undecided| (found.time.unit(Span::DAY), found.rows);
        for (row, &day) in days.iter().enumerate() {
            let time = Timestamp(day.saturating_mul(Span::DAY.micros()));
            let location = RowLocation { input: 0, place: Place::Row(row as u64) };
            if time_outliers.is_near(time, location) {
                classified.push(Classified { time, location, row: day, far: None });
            } else {
                classified.extend(time_outliers.classify(time, location, day).map_err(undecided)?);
            }
        }
        classified.extend(time_outliers.finish().map_err(undecided)?);
        let order: Vec<i64> = classified.iter().map(|row| row.row).collect();
        assert_eq!(order, days, "none is lost, and the order stays");
        Ok(classified.iter().filter(|row| row.far.is_some()).map(|row| row.row).collect())
    }

    fn far(days: &[i64]) -> Vec<i64> {
        far_of(days, Lookahead::WHOLE).unwrap()
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
        let lookahead = Lookahead { first: 16, ahead: 25 };
        assert_eq!(far_of(&days, lookahead), Err((1000, 25)));
        assert_eq!(far_of(&days[..44], lookahead), Err((1000, 24)), "more than those before");
        assert_eq!(far_of(&days[..40], lookahead), Ok((1000..1020).collect()));
        // A wrong row among them does not count for those before.
        assert_eq!(far_of(&with(days.clone(), 30, &[-500]), lookahead), Err((1000, 25)));
        let back: Vec<i64> = days.iter().map(|day| 2000 - day).collect();
        assert_eq!(far_of(&back, lookahead), Err((1000, 25)));
        let yearly: Vec<i64> = (0..30).map(|year| 365 * year).collect();
        assert_eq!(far_of(&yearly, Lookahead::WHOLE), Err((365, 29)));
    }

    #[test]
    fn little_or_extreme_is_judged_too() {
        assert_eq!(far(&[5]), [0i64; 0]);
        assert_eq!(far(&[]), [0i64; 0]);
        assert_eq!(far(&[5, 3700]), [3700]);
        assert_eq!(far(&[3700, 5, 6]), [3700]);
        assert_eq!(far_of(&[i64::MIN, 0, i64::MAX], Lookahead::WHOLE), Err((0, 2)));
    }
}
