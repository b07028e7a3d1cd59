//! Data sets in folders by partition: `sales/dt=2026-01-01/part-0.parquet`.
//!
//! A folder named `key=value` is a partition, as Hive, Spark, pandas, DuckDB and Polars write them. Its value is a column
//! of every file below, if the file itself has none of that name. Values are unescaped (`%3A` is a colon), and
//! `__HIVE_DEFAULT_PARTITION__` is null.
//!
//! Files are ordered by path, component by component. Partitions of one key are ordered by value: as numbers if both
//! values have digits only (`month=9` before `month=10`), else as texts.
//!
//! A file is passed over unopened if its partition's span of time lies outside the range of the run. Only keys that
//! hold the transactions' times are used for that: the time column itself, or those of the mapping's
//! `time.partition`.

use crate::mapping::TimeColumn;
use crate::{Span, TimeRange, Timestamp};
use chrono::NaiveDate;
use std::cmp::Ordering;
use std::path::{Component, Path};

/// Value of a partition without one, as Hive writes it.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Partition that a file is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    /// Name of the column.
    pub key: String,
    /// Value; `None` for null.
    pub value: Option<String>,
}

/// Returns the partitions of a path's folders, outermost first. Of several with one key, the innermost counts.
pub(super) fn of_path(path: &Path) -> Vec<Partition> {
    let mut all: Vec<Partition> = Vec::new();
    let folders = path.parent().map(Path::components).into_iter().flatten();
    for folder in folders {
        let Component::Normal(name) = folder else { continue };
        if let Some((key, value)) = name.to_str().and_then(split) {
            let key = unescaped(key);
            all.retain(|partition| partition.key != key);
            all.push(Partition { key, value: (value != NULL).then(|| unescaped(value)) });
        }
    }
    all
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once('=').filter(|(key, _)| !key.is_empty())
}

/// Replaces `%` and two hexadecimal digits by the byte; other text, and what is no text then, stays.
pub(super) fn unescaped(text: &str) -> String {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Compares two paths as files of a data set are ordered.
pub(super) fn compare(one: &Path, other: &Path) -> Ordering {
    let (mut ones, mut others) = (one.components(), other.components());
    loop {
        let (a, b) = match (ones.next(), others.next()) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return Ordering::Equal,
            (a, b) => return a.is_some().cmp(&b.is_some()),
        };
        let values =
            a.as_os_str().to_str().and_then(split).zip(b.as_os_str().to_str().and_then(split));
        let order = match values {
            Some(((key, value), (other_key, other))) if key == other_key => {
                ranked(value).cmp(&ranked(other))
            }
            _ => Ordering::Equal,
        };
        let order = order.then_with(|| a.cmp(&b));
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Returns what orders the values of a key: numbers before texts, and these as texts.
pub(super) fn ranked(value: &str) -> (bool, usize, &str) {
    match value.bytes().all(|byte| byte.is_ascii_digit()) {
        true => {
            let digits = value.trim_start_matches('0');
            (false, digits.len(), digits)
        }
        false => (true, 0, value),
    }
}

/// Returns the span of time of a file's partition, if the mapping says that partitions have one, and the partition's
/// name.
pub(super) fn span_of(partitions: &[Partition], time: &TimeColumn) -> Option<(TimeRange, String)> {
    let find = |key: &str| partitions.iter().find(|partition| partition.key == key);
    if time.partition.is_empty() {
        return None;
    }
    let (mut parts, mut names) = (Vec::new(), Vec::new());
    for key in &time.partition {
        let value = find(key)?.value.as_deref()?;
        parts.extend(value.split(['-', 'T', ' ']));
        names.push(format!("{key}={value}"));
    }
    Some((span(&parts)?, names.join("/")))
}

/// Returns the span of a year, a month, a day or an hour.
fn span(parts: &[&str]) -> Option<TimeRange> {
    let number = |part: &&str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| is_number)
    };
    let numbers: Vec<u32> = parts.iter().map(number).collect::<Option<_>>()?;
    let midnight = |year: u32, month: u32, day: u32| {
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        let days = date.signed_duration_since(NaiveDate::default()).num_days();
        days.checked_mul(Span::DAY.micros()).map(Timestamp)
    };
    /// Microseconds of an hour.
    const HOUR: i64 = 3_600_000_000;
    Some(match *numbers {
        [year @ 1..=9998] => TimeRange::new(midnight(year, 1, 1)?, midnight(year + 1, 1, 1)?),
        [year @ 1..=9998, month] => {
            let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            TimeRange::new(midnight(year, month, 1)?, midnight(next.0, next.1, 1)?)
        }
        [year @ 1..=9998, month, day] => {
            let from = midnight(year, month, day)?;
            TimeRange::new(from, from.plus(Span::DAY))
        }
        [year @ 1..=9998, month, day, hour @ 0..24] => {
            let from = Timestamp(midnight(year, month, day)?.0 + i64::from(hour) * HOUR);
            TimeRange::new(from, Timestamp(from.0 + HOUR))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time(keys: &[&str]) -> TimeColumn {
        let partition = keys.iter().map(|&key| key.to_owned()).collect();
        TimeColumn { column: "at".into(), unit: None, origin: Timestamp(0), partition }
    }

    #[test]
    fn folders_are_columns() {
        let found = of_path(Path::new(
            "a=b/x/dt=2026-01-01/at=10%3A30%/k=__HIVE_DEFAULT_PARTITION__/f=1.csv",
        ));
        let pairs: Vec<(&str, Option<&str>)> =
            found.iter().map(|p| (&*p.key, p.value.as_deref())).collect();
        let expected =
            [("a", Some("b")), ("dt", Some("2026-01-01")), ("at", Some("10:30%")), ("k", None)];
        assert_eq!(pairs, expected);
        assert_eq!(of_path(Path::new("k=1/k=2/f"))[0].value.as_deref(), Some("2"));
        assert!(of_path(Path::new("=1/x/f.csv")).is_empty());
        assert_eq!(unescaped("%ff%é%4"), "%ff%é%4");
    }

    #[test]
    fn months_are_in_their_order() {
        let mut paths = [
            "d/year=2024/month=10/a",
            "d/year=2024/month=9/b",
            "d/year=2023/month=12/a",
            "d/year=2024/month=9/a",
            "d/year=2024/month=09/c",
            "d/x=b/a",
            "d/x=10a/a",
            "d/a",
        ]
        .map(Path::new);
        paths.sort_by(|a, b| compare(a, b));
        let expected = [
            "d/a",
            "d/x=10a/a",
            "d/x=b/a",
            "d/year=2023/month=12/a",
            "d/year=2024/month=09/c",
            "d/year=2024/month=9/a",
            "d/year=2024/month=9/b",
            "d/year=2024/month=10/a",
        ];
        assert_eq!(paths, expected.map(Path::new));
    }

    #[test]
    fn a_partition_has_its_span() {
        let of = |path: &str, keys: &[&str]| {
            span_of(&of_path(Path::new(path)), &time(keys)).map(|(span, _)| span.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("dt=2026-01-01/f", &["dt"]), some("2026-01-01 to 2026-01-01"));
        assert_eq!(of("dt=2026-02/f", &["dt"]), some("2026-02-01 to 2026-02-28"));
        assert_eq!(
            of("year=2024/month=12/f", &["year", "month"]),
            some("2024-12-01 to 2024-12-31")
        );
        assert_eq!(of("y=2024/m=2/d=9/f", &["y", "m", "d"]), some("2024-02-09 to 2024-02-09"));
        assert_eq!(of("h=2024-02-09-23/f", &["h"]), some("2024-02-09T23:00:00Z to 2024-02-09"));
        for (path, keys) in [
            ("dt=2026-01-01/f", &[][..]),
            ("f", &["dt"]),
            ("dt=2026-02-30/f", &["dt"]),
            ("dt=/f", &["dt"]),
            ("dt=9999/f", &["dt"]),
            ("dt=2024-01-01-24/f", &["dt"]),
            ("dt=x/f", &["dt"]),
            ("dt=__HIVE_DEFAULT_PARTITION__/f", &["dt"]),
            ("dt=20260101/f", &["dt"]),
            ("year=2024/f", &["year", "month"]),
            ("dt=+2024/f", &["dt"]),
        ] {
            assert_eq!(of(path, keys), None, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_is_ordered_and_read(paths in prop::collection::vec("[a=0-9/%_é-]{0,12}", 3)) {
            let [a, b, c] = [0, 1, 2].map(|at| Path::new(&paths[at]));
            prop_assert_eq!(compare(a, b), compare(b, a).reverse());
            if compare(a, b).is_le() && compare(b, c).is_le() {
                prop_assert!(compare(a, c).is_le());
            }
            span_of(&of_path(a), &time(&["a"]));
        }
    }
}
