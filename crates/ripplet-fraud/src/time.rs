//! Instants, ranges of time, and durations.
//!
//! All times are microseconds since 1970-01-01 00:00 UTC, and are written as UTC in the form of RFC 3339. A
//! text without an offset is UTC; leap seconds do not exist.

use chrono::{DateTime, NaiveDate};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Instant, in microseconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// Half-open range of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// First instant of the range.
    pub from: Timestamp,
    /// First instant after the range.
    pub until: Timestamp,
}

/// Duration in microseconds, above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

/// Text that is no instant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "`{0}` is no time: expected 2024-05-31, 2024-05-31T12:30:00, with an offset (Z, +02:00) or without"
)]
pub struct BadTime(pub String);

/// Text that is no duration.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "`{0}` is no span of time: expected a number above 0 and a unit, as in 90s, 30m, 12h, 30d, 2w"
)]
pub struct BadSpan(pub String);

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

impl Timestamp {
    /// Returns the instant `units` times `unit` after 1970; `None` on overflow.
    pub fn of_units(units: i64, unit: Span) -> Option<Timestamp> {
        units.checked_mul(unit.0).map(Timestamp)
    }

    /// Whether it stands for `infinity` or `-infinity`, as PostgreSQL and Arrow files store them.
    pub fn is_infinite(self) -> bool {
        [i64::MIN, i64::MAX].contains(&self.0)
    }

    /// Returns the instant this much later, saturating.
    #[must_use]
    pub fn plus(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0))
    }

    /// Returns the instant this much earlier, saturating.
    #[must_use]
    pub fn minus(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_sub(span.0))
    }

    /// Formats the end of a range: the last day before it if it is a midnight, else the instant. The report
    /// uses this form too.
    #[must_use]
    pub fn as_last(self) -> Timestamp {
        if self.0.rem_euclid(DAY) == 0 { self.minus(Span::DAY) } else { self }
    }

    /// Parses an end as [`Timestamp::as_last`] formats it: a day belongs to the range, and any other instant
    /// is the first one after it.
    ///
    /// # Errors
    /// If the text is no time.
    pub fn parse_last(text: &str) -> Result<Timestamp, BadTime> {
        let end: Timestamp = text.parse()?;
        let is_day = text.trim().len() == "2024-05-31".len();
        Ok(if is_day { end.plus(Span::DAY) } else { end })
    }

    /// Returns the number of the unit in which it lies, counted from 1970.
    pub fn unit(self, unit: Span) -> i64 {
        self.0.div_euclid(unit.0)
    }

    /// Parses the bytes of a text; see [`Timestamp::from_str`].
    pub fn parse(text: &[u8]) -> Option<Timestamp> {
        let (date, mut rest) = text.split_at_checked(10)?;
        let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *date else { return None };
        let (century, year) = (two([y0, y1])?, two([y2, y3])?);
        let year = i32::try_from(century * 100 + year).ok()?;
        let date = NaiveDate::from_ymd_opt(year, two([m0, m1])?, two([d0, d1])?)?;
        let days = date.signed_duration_since(NaiveDate::default()).num_days();
        let mut at = days * DAY;
        if rest.is_empty() {
            return Some(Timestamp(at));
        }
        let [b'T' | b't' | b' ', h0, h1, b':', m0, m1, ref behind @ ..] = *rest else {
            return None;
        };
        let (hours, minutes) = (two([h0, h1])?, two([m0, m1])?);
        rest = behind;
        let mut seconds = 0;
        if let [b':', s0, s1, ref behind @ ..] = *rest {
            seconds = two([s0, s1])?;
            rest = behind;
        }
        // A leap second counts as the last second of its minute.
        if hours > 23 || minutes > 59 || seconds > 60 {
            return None;
        }
        let seconds = seconds.min(59);
        at += i64::from(hours * 3600 + minutes * 60 + seconds) * SECOND;
        if let [b'.' | b',', ref behind @ ..] = *rest {
            let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            let micros = (0..6).fold(0, |sum, place| {
                let digit = if place < digits { i64::from(behind[place] - b'0') } else { 0 };
                sum * 10 + digit
            });
            at += micros;
            rest = &behind[digits..];
        }
        let offset = match *rest {
            [] | [b'Z' | b'z'] => 0,
            [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1]
            | [sign @ (b'+' | b'-'), h0, h1, m0, m1] => {
                offset_of(sign, two([h0, h1])?, two([m0, m1])?)?
            }
            [sign @ (b'+' | b'-'), h0, h1] => offset_of(sign, two([h0, h1])?, 0)?,
            _ => return None,
        };
        Some(Timestamp(at - offset))
    }
}

/// Returns an offset from UTC in microseconds; ISO 8601 and XML Schema allow at most ±18:00 (±14:00 are in
/// use).
fn offset_of(sign: u8, hours: u32, minutes: u32) -> Option<i64> {
    const MOST_MINUTES: u32 = 18 * 60;
    let all = hours * 60 + minutes;
    let offset = i64::from(all) * 60 * SECOND;
    (minutes < 60 && all <= MOST_MINUTES).then_some(if sign == b'+' { offset } else { -offset })
}

fn two([tens, ones]: [u8; 2]) -> Option<u32> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

impl FromStr for Timestamp {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Timestamp, BadTime> {
        Timestamp::parse(text.trim().as_bytes()).ok_or_else(|| BadTime(text.into()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(at) = DateTime::from_timestamp_micros(self.0) else {
            return write!(f, "{} µs", self.0);
        };
        match self.0.rem_euclid(DAY) {
            0 => write!(f, "{}", at.format("%Y-%m-%d")),
            part if part % SECOND == 0 => write!(f, "{}", at.format("%Y-%m-%dT%H:%M:%SZ")),
            _ => write!(f, "{}", at.format("%Y-%m-%dT%H:%M:%S%.6fZ")),
        }
    }
}

impl TimeRange {
    /// All instants.
    pub const ALL: TimeRange = TimeRange { from: Timestamp(i64::MIN), until: Timestamp(i64::MAX) };

    /// Creates a range; `until` is not part of it.
    pub fn new(from: Timestamp, until: Timestamp) -> TimeRange {
        TimeRange { from, until }
    }

    /// Whether an instant lies in the range.
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

/// Formats the first and the last day; if the range does not end at a midnight, the first instant after it.
impl fmt::Display for TimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from, self.until.as_last())
    }
}

impl Span {
    /// One day.
    pub const DAY: Span = Span(DAY);
    /// One second.
    pub const SECOND: Span = Span(SECOND);

    /// Creates a duration of microseconds; `None` unless it is above 0.
    pub fn of_micros(micros: i64) -> Option<Span> {
        (micros > 0).then_some(Span(micros))
    }

    /// Creates a duration of a positive number of days.
    pub(crate) const fn days_of(days: i64) -> Span {
        Span(days * DAY)
    }

    /// Creates a duration of days; `None` unless it is above 0.
    pub fn of_days(days: i64) -> Option<Span> {
        days.checked_mul(DAY).and_then(Span::of_micros)
    }

    /// Returns the duration in microseconds.
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Returns the duration in days, with fractions.
    pub fn days(self) -> f64 {
        self.0 as f64 / DAY as f64
    }

    /// Returns the greatest common divisor of two durations.
    #[must_use]
    pub fn common(self, other: Span) -> Span {
        let (mut a, mut b) = (self.0, other.0);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Span(a)
    }

    /// Returns the number of whole `unit`s in the duration.
    pub fn over(self, unit: Span) -> i64 {
        self.0 / unit.0
    }
}

/// Units of durations, the longest first.
const UNITS: [(&str, i64); 7] = [
    ("w", 7 * DAY),
    ("d", DAY),
    ("h", 3600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1000),
    ("us", 1),
];

impl FromStr for Span {
    type Err = BadSpan;

    fn from_str(text: &str) -> Result<Span, BadSpan> {
        let bad = || BadSpan(text.into());
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let number: i64 = number.parse().map_err(|_| bad())?;
        let (_, micros) = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(bad)?;
        number.checked_mul(*micros).and_then(Span::of_micros).ok_or_else(bad)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Weeks are only parsed, not written: 30d and 28d should look alike.
        let unit = UNITS[1..].iter().find(|(_, micros)| self.0 % micros == 0);
        match unit {
            Some((name, micros)) => write!(f, "{}{name}", self.0 / micros),
            None => write!(f, "{}us", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_in_words_has_its_last_day() {
        for (from, until, words) in [
            ("2024-05-01", "2024-05-03", "2024-05-01 to 2024-05-02"),
            ("2024-05-01", "2024-05-02", "2024-05-01 to 2024-05-01"),
            ("2024-05-01T12:00:00", "2024-05-02", "2024-05-01T12:00:00Z to 2024-05-01"),
            ("2024-05-01", "2024-05-02T06:00:00", "2024-05-01 to 2024-05-02T06:00:00Z"),
        ] {
            let range = TimeRange::new(from.parse().unwrap(), until.parse().unwrap());
            assert_eq!(range.to_string(), words);
            let last = words.split(" to ").nth(1).unwrap();
            assert_eq!(Timestamp::parse_last(last), Ok(range.until), "{words} is read back");
        }
        assert_eq!(Timestamp::parse_last("2024-05-02T00:00:00Z"), "2024-05-02".parse());
        assert!(Timestamp::parse_last("2024-05-32").is_err());
    }
}
