//! Decodes the columns of a batch to ids, times and amounts, whatever their types.
//!
//! | field | types |
//! |---|---|
//! | ids | strings, integers (as they print), both also dictionary-encoded |
//! | times | timestamps, dates, texts ([`Timestamp`]), numbers of the mapping's unit since its origin |
//! | amounts | integers, floats, decimals, texts of a number; rounded to the mapping's decimals |
//!
//! A row is faulty if its id, time or amount is null or empty, if its time or amount is invalid, or if its
//! amount is negative. The caller decides whether a fault ends the run or is counted.

use super::{Places, RawBatch, SourceError};
use crate::mapping::{AmountColumn, Mapping, TimeColumn};
use crate::{Span, Timestamp};
use arrow_array::array::AnyDictionaryArray;
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::{DataType, TimeUnit};
use std::cell::Cell;
use thiserror::Error;

/// Batch of transactions, by column.
#[derive(Debug)]
pub struct Batch {
    /// Ids of sources, of targets, and of further entities, in the mapping's order; null for a missing
    /// entity.
    pub ids: Vec<StringArray>,
    /// Time of each transaction.
    pub times: Vec<Timestamp>,
    /// Amount of each transaction in smallest units; empty if amounts are not mapped.
    pub amounts: Vec<u64>,
    /// Faulty rows, ascending, one fault each.
    pub faults: Vec<Fault>,
    /// Number of rows whose amounts have too many decimals and were rounded.
    pub rounded: u64,
    /// Number of ids with surrounding blanks in a text, which were trimmed.
    pub trimmed: u64,
    /// Rows of kinds that are not read, ascending.
    pub others: Vec<u32>,
    /// Positions of the rows.
    pub places: Places,
}

/// Fault of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Row of the batch.
    pub row: u32,
    /// The fault.
    pub kind: FaultKind,
}

/// Kind of fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FaultKind {
    /// A required column is null or empty.
    #[error("the column `{0}` is empty")]
    Null(String),
    /// The text is no time.
    #[error(
        "`{text}` in the column `{column}` is no time: expected 2024-05-31T12:30:00Z or the like, or, where the mapping \
         says their `unit`, a number"
    )]
    Time {
        /// The column.
        column: String,
        /// Contents of the field.
        text: String,
    },
    /// The time is beyond the years 0 to 9999.
    #[error("{what} in the column `{column}` lies beyond the years 0 to 9999{hint}")]
    Era {
        /// The column.
        column: String,
        /// Contents of the field.
        what: String,
        /// Hint, if there is one.
        hint: String,
    },
    /// The text is no amount.
    #[error(
        "`{text}` in the column `{column}` is no amount: expected digits, and a point before decimals, as in 1234.50"
    )]
    Amount {
        /// The column.
        column: String,
        /// Contents of the field.
        text: String,
    },
    /// The amount is too large for an edge weight.
    #[error(
        "the amount `{text}` in the column `{column}` {why}: one such transaction alone would end the run"
    )]
    TooLarge {
        /// The column.
        column: String,
        /// Contents of the field.
        text: String,
        /// The bound that it exceeds.
        why: String,
    },
    /// The amount makes the sum of a pair in a day too large.
    #[error(
        "with the amount `{text}` in the column `{column}`, those between {ends} in the {unit} from {day} on sum up to more \
         than {most}, the most for a pair: keep fewer decimals in the mapping (amount = {{ column = \"{column}\", decimals = \
         0 }})"
    )]
    Sum {
        /// The column.
        column: String,
        /// The row's amount.
        text: String,
        /// The two ends of the edge.
        ends: String,
        /// Start of the day.
        day: Timestamp,
        /// Length of a day.
        unit: Span,
        /// The bound.
        most: String,
    },
    /// The time is far from those of the rows around it.
    #[error(
        "the time {time} in the column `{column}` is more than {gap} {side} the rows around it ({around} in \
         {beside}): a wrong year or unit?"
    )]
    TimeOutlier {
        /// The column.
        column: String,
        /// The row's time.
        time: Timestamp,
        /// `after` or `before`.
        side: &'static str,
        /// The time of the rows around it.
        around: Timestamp,
        /// Position of one of these rows.
        beside: String,
        /// Largest gap that is allowed.
        gap: Span,
    },
    /// The amount is negative.
    #[error("the amount `{text}` in the column `{column}` is below 0")]
    Negative {
        /// The column.
        column: String,
        /// Contents of the field.
        text: String,
    },
}

impl FaultKind {
    /// Whether the row has no time, because of this fault.
    pub(crate) fn is_of_time(&self, column: &str) -> bool {
        match self {
            FaultKind::Null(empty) => empty == column,
            FaultKind::Time { .. } | FaultKind::Era { .. } => true,
            _ => false,
        }
    }

    /// Returns the name of the fault, as counters use it.
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::Null(_) => "empty or null",
            FaultKind::Time { .. } | FaultKind::Era { .. } => "bad time",
            FaultKind::Amount { .. } => "bad amount",
            FaultKind::Negative { .. } => "negative amount",
            FaultKind::TooLarge { .. } => "amount too large",
            FaultKind::Sum { .. } => "sum of amounts too large",
            FaultKind::TimeOutlier { .. } => "time far from its neighbours",
        }
    }
}

impl Batch {
    /// Returns the number of rows, including faulty ones.
    pub fn rows(&self) -> usize {
        self.times.len()
    }

    /// Decodes the columns of the mapping ([`Mapping::columns`]).
    ///
    /// # Errors
    /// If the type of a column does not fit its field.
    pub fn of(raw: &RawBatch, mapping: &Mapping, origin: &str) -> Result<Batch, SourceError> {
        let names = mapping.columns();
        let column = |name: &str| {
            let place = names.iter().position(|known| *known == name).unwrap_or(0);
            raw.columns.column(place)
        };
        let unfit = |name: &str, expected| SourceError::ColumnType {
            origin: origin.into(),
            column: name.into(),
            found: column(name).data_type().to_string(),
            expected,
        };
        let mut faults = Vec::new();
        let ends = [(&mapping.source, false), (&mapping.target, false)];
        let also = mapping.also.iter().map(|linked| (&linked.entity, linked.optional));
        let (mut ids, mut trimmed) = (Vec::new(), 0);
        for (entity, optional) in ends.into_iter().chain(also) {
            let name = &entity.column;
            let array = texts(column(name));
            let array = array.ok_or_else(|| unfit(name, "ids are strings or integers"))?;
            if !optional {
                let empty = (0..array.len()).filter(|&row| is_empty(&array, row));
                let null = |row| Fault { row, kind: FaultKind::Null(name.clone()) };
                faults.extend(empty.map(|row| null(row as u32)));
            }
            ids.push(array);
            let place = names.iter().position(|known| known == name);
            trimmed += place.and_then(|place| raw.trimmed.get(place)).copied().unwrap_or(0);
        }
        let name = &mapping.time.column;
        let times = times(column(name), &mapping.time, &mut faults);
        let times = times.ok_or_else(|| {
            unfit(
                name,
                "times are timestamps, dates, texts such as 2024-05-31T12:00:00Z, or numbers of a unit that the \
                 mapping says: time = { column = \"…\", unit = \"1s\" }",
            )
        })?;
        let (mut amounts, mut rounded) = (Vec::new(), 0);
        if let Some(amount) = &mapping.amount {
            let found = amounts_of(column(&amount.column), amount, &mut faults, &mut rounded);
            amounts = found.ok_or_else(|| unfit(&amount.column, "amounts are numbers"))?;
        }
        let mut others = Vec::new();
        if let Some(kind) = &mapping.kind {
            let array = texts(column(&kind.column));
            let array =
                array.ok_or_else(|| unfit(&kind.column, "kinds are strings or integers"))?;
            let is_other = |&row: &usize| {
                array.is_null(row) || !kind.only.iter().any(|only| only == array.value(row))
            };
            others.extend((0..array.len()).filter(is_other).map(|row| row as u32));
        }
        // One fault a row: the first, in the order of the columns.
        faults.sort_by_key(|fault| fault.row);
        faults.dedup_by_key(|fault| fault.row);
        let places = raw.places.clone();
        Ok(Batch { ids, times, amounts, faults, rounded, trimmed, others, places })
    }
}

/// Whether a row of ids is empty.
pub(crate) fn is_empty(ids: &StringArray, row: usize) -> bool {
    ids.is_null(row) || ids.value_length(row) == 0
}

/// Returns a column as strings; integers as they print, and times as [`Timestamp`] prints.
pub(crate) fn texts(column: &ArrayRef) -> Option<StringArray> {
    macro_rules! printed {
        ($type:ty) => {{
            let column = column.as_primitive::<$type>();
            let mut digits = itoa::Buffer::new();
            let mut texts = StringBuilder::with_capacity(column.len(), 12 * column.len());
            for value in column.iter() {
                texts.append_option(value.map(|value| digits.format(value)));
            }
            texts.finish()
        }};
    }
    Some(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().clone(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().collect(),
        DataType::Utf8View => column.as_string_view().iter().collect(),
        DataType::Int8 => printed!(Int8Type),
        DataType::Int16 => printed!(Int16Type),
        DataType::Int32 => printed!(Int32Type),
        DataType::Int64 => printed!(Int64Type),
        DataType::UInt8 => printed!(UInt8Type),
        DataType::UInt16 => printed!(UInt16Type),
        DataType::UInt32 => printed!(UInt32Type),
        DataType::UInt64 => printed!(UInt64Type),
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            let micros = micros(column)?.into_iter();
            micros
                .map(|time| time.map(|time| time.map_or(String::new(), |t| t.to_string())))
                .collect()
        }
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            let values = texts(dictionary.values())?;
            keys(dictionary)
                .into_iter()
                .map(|key| key.filter(|&key| !values.is_null(key)).map(|key| values.value(key)))
                .collect()
        }
        _ => return None,
    })
}

/// Returns the index of each row's dictionary value, if it has one.
fn keys(dictionary: &dyn AnyDictionaryArray) -> Vec<Option<usize>> {
    if dictionary.values().is_empty() {
        return vec![None; dictionary.len()];
    }
    let keys = dictionary.normalized_keys().into_iter().enumerate();
    keys.map(|(row, key)| dictionary.keys().is_valid(row).then_some(key)).collect()
}

/// Numbers of a column.
enum Numbers {
    Integers(Vec<Option<i128>>),
    Floats(Vec<Option<f64>>),
    /// Integers, to be multiplied by 10 to the negative of this number.
    Decimals(Vec<Option<i128>>, i8),
}

fn numbers(column: &ArrayRef) -> Option<Numbers> {
    macro_rules! integers {
        ($type:ty) => {
            Numbers::Integers(
                column.as_primitive::<$type>().iter().map(|v| v.map(i128::from)).collect(),
            )
        };
    }
    Some(match column.data_type() {
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        DataType::Float32 => Numbers::Floats(
            column.as_primitive::<Float32Type>().iter().map(|v| v.map(f64::from)).collect(),
        ),
        DataType::Float64 => Numbers::Floats(column.as_primitive::<Float64Type>().iter().collect()),
        DataType::Decimal32(_, scale) => Numbers::Decimals(
            column.as_primitive::<Decimal32Type>().iter().map(|v| v.map(i128::from)).collect(),
            *scale,
        ),
        DataType::Decimal64(_, scale) => Numbers::Decimals(
            column.as_primitive::<Decimal64Type>().iter().map(|v| v.map(i128::from)).collect(),
            *scale,
        ),
        DataType::Decimal128(_, scale) => {
            Numbers::Decimals(column.as_primitive::<Decimal128Type>().iter().collect(), *scale)
        }
        _ => return None,
    })
}

/// Returns the instants of a column of timestamps or dates; the inner `None` is out of range.
///
/// The largest value of a type stands for `infinity`, the least two for `-infinity`: PostgreSQL and DuckDB
/// write them so.
fn micros(column: &ArrayRef) -> Option<Vec<Option<Option<Timestamp>>>> {
    macro_rules! stamps {
        ($type:ty, $micros:expr) => {{
            type Native = <$type as ArrowPrimitiveType>::Native;
            let micros: fn(i64) -> Option<i64> = $micros;
            let instant = |value: Native| match value {
                Native::MAX => Some(Timestamp(i64::MAX)),
                value if value <= Native::MIN + 1 => Some(Timestamp(i64::MIN)),
                value => micros(i64::from(value)).map(Timestamp),
            };
            column.as_primitive::<$type>().iter().map(|value| value.map(instant)).collect()
        }};
    }
    Some(match column.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            stamps!(TimestampSecondType, |seconds| seconds.checked_mul(1_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            stamps!(TimestampMillisecondType, |millis| millis.checked_mul(1000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => stamps!(TimestampMicrosecondType, Some),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            stamps!(TimestampNanosecondType, |nanos| Some(nanos.div_euclid(1000)))
        }
        DataType::Date32 => stamps!(Date32Type, |days| days.checked_mul(Span::DAY.micros())),
        DataType::Date64 => stamps!(Date64Type, |millis| millis.checked_mul(1000)),
        _ => return None,
    })
}

fn times(column: &ArrayRef, of: &TimeColumn, faults: &mut Vec<Fault>) -> Option<Vec<Timestamp>> {
    let null = || FaultKind::Null(of.column.clone());
    let bad = |text: String| FaultKind::Time { column: of.column.clone(), text };
    let in_units = |units: i128, unit: Span| {
        let micros = units.checked_mul(unit.micros().into());
        let micros = micros.and_then(|micros| micros.checked_add(of.origin.0.into()));
        micros.and_then(|micros| i64::try_from(micros).ok()).map(Timestamp)
    };
    let of_float = |number: f64, unit: Span| {
        let micros = number * unit.micros() as f64;
        // Fractions of a microsecond are rounded; floats are exact enough for 285 years.
        let fits = micros.is_finite() && micros.abs() < 9.0e18;
        fits.then(|| Timestamp((micros.round() as i64).saturating_add(of.origin.0)))
    };
    let found: Vec<Result<Timestamp, FaultKind>> = match column.data_type() {
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            let of_row = |time: Option<Option<Timestamp>>| match time {
                None => Err(null()),
                Some(None) => Err(bad("a time beyond all counting".into())),
                Some(Some(time)) if time.is_infinite() => {
                    Err(bad(if time.0 > 0 { "infinity" } else { "-infinity" }.into()))
                }
                Some(Some(time)) => Ok(time),
            };
            micros(column)?.into_iter().map(of_row).collect()
        }
        _ => match (numbers(column), texts(column)) {
            (Some(Numbers::Integers(values)), _) => {
                let unit = of.unit?;
                let of_row = |value: Option<i128>| match value {
                    None => Err(null()),
                    Some(units) => in_units(units, unit).ok_or_else(|| bad(units.to_string())),
                };
                values.into_iter().map(of_row).collect()
            }
            (Some(Numbers::Floats(values)), _) => {
                let unit = of.unit?;
                let of_row = |value: Option<f64>| match value {
                    None => Err(null()),
                    Some(units) => of_float(units, unit).ok_or_else(|| bad(units.to_string())),
                };
                values.into_iter().map(of_row).collect()
            }
            (Some(Numbers::Decimals(values, scale)), _) => {
                let unit = of.unit?;
                let of_row = |value: Option<i128>| match value {
                    None => Err(null()),
                    Some(units) => {
                        let number = units as f64 * 10f64.powi(-i32::from(scale));
                        of_float(number, unit).ok_or_else(|| bad(number.to_string()))
                    }
                };
                values.into_iter().map(of_row).collect()
            }
            (None, Some(texts)) => {
                let of_text = |text: &str| {
                    let text = text.trim();
                    let stamp = || Timestamp::parse(text.as_bytes());
                    let units = || in_units(text.parse::<i64>().ok()?.into(), of.unit?);
                    let float = || of_float(text.parse::<f64>().ok()?, of.unit?);
                    stamp().or_else(units).or_else(float)
                };
                let of_row = |row: usize| match is_empty(&texts, row) {
                    true => Err(null()),
                    false => of_text(texts.value(row)).ok_or_else(|| bad(shown(texts.value(row)))),
                };
                (0..texts.len()).map(of_row).collect()
            }
            (None, None) => return None,
        },
    };
    let in_time = found.into_iter().map(|found| found.and_then(|time| in_era(time, of)));
    Some(collected(in_time.collect(), faults))
}

/// Rejects times beyond the years 0 to 9999: most often, numbers of another unit.
fn in_era(time: Timestamp, of: &TimeColumn) -> Result<Timestamp, FaultKind> {
    /// Days from 1970 to January 1 of the year 0.
    const DAYS_OF_YEAR_0: i64 = -719_528;
    const DAYS_OF_YEAR_10000: i64 = 2_932_897;
    if (DAYS_OF_YEAR_0..DAYS_OF_YEAR_10000).contains(&time.unit(Span::DAY)) {
        return Ok(time);
    }
    let (what, hint) = match of.unit {
        Some(unit) => {
            let units = (i128::from(time.0) - i128::from(of.origin.0)) / i128::from(unit.micros());
            let hint =
                "; is the mapping's `unit` right? \"1s\" counts seconds, \"1ms\" milliseconds";
            (format!("the time {units} (of {unit})"), hint)
        }
        None => ("the time".to_owned(), ""),
    };
    Err(FaultKind::Era { column: of.column.clone(), what, hint: hint.into() })
}

fn amounts_of(
    column: &ArrayRef,
    of: &AmountColumn,
    faults: &mut Vec<Fault>,
    rounded: &mut u64,
) -> Option<Vec<u64>> {
    let is_rounded = Cell::new(0u64);
    let null = || FaultKind::Null(of.column.clone());
    let bad = |text: String| FaultKind::Amount { column: of.column.clone(), text };
    let below = |text: String| FaultKind::Negative { column: of.column.clone(), text };
    let large = |text: String| {
        let why = "does not fit 64 bits of the smallest unit".to_owned();
        FaultKind::TooLarge { column: of.column.clone(), text, why }
    };
    let factor = 10f64.powi(of.decimals as i32);
    // Messages have the text of the input, as `show` returns it.
    let of_float = |value: f64, show: &dyn Fn() -> String| {
        let units = (value * factor).round();
        match value {
            value if value < 0.0 => Err(below(show())),
            _ if units < 18e18 => {
                // A double without more decimals is the one nearest to the exact number.
                is_rounded.set(is_rounded.get() + u64::from(units / factor != value));
                Ok(units as u64)
            }
            value if value.is_nan() => Err(bad(show())),
            _ => Err(large(show())),
        }
    };
    let scaled = |value: i128, scale: i32, show: &dyn Fn() -> String| {
        if value < 0 {
            return Err(below(show()));
        }
        let shift = of.decimals as i32 - scale;
        let power = 10i128.checked_pow(shift.unsigned_abs());
        let units = match (power, shift >= 0) {
            (Some(power), true) => value.checked_mul(power),
            (Some(power), false) => {
                is_rounded.set(is_rounded.get() + u64::from(value % power != 0));
                value.checked_add(power / 2).map(|value| value / power)
            }
            (None, _) => None,
        };
        units.and_then(|units| u64::try_from(units).ok()).ok_or_else(|| large(show()))
    };
    let found: Vec<Result<u64, FaultKind>> = match (numbers(column), texts(column)) {
        (Some(Numbers::Integers(values)), _) => {
            let of_row = |value: Option<i128>| {
                value.map_or_else(|| Err(null()), |v| scaled(v, 0, &|| v.to_string()))
            };
            values.into_iter().map(of_row).collect()
        }
        (Some(Numbers::Decimals(values, scale)), _) => {
            let scale = i32::from(scale);
            let of_row = |value: Option<i128>| {
                value.map_or_else(|| Err(null()), |v| scaled(v, scale, &|| decimal_text(v, scale)))
            };
            values.into_iter().map(of_row).collect()
        }
        (Some(Numbers::Floats(values)), _) => {
            let of_row = |value: Option<f64>| {
                value.map_or_else(|| Err(null()), |v| of_float(v, &|| v.to_string()))
            };
            values.into_iter().map(of_row).collect()
        }
        (None, Some(texts)) => {
            let of_text = |text: &str| {
                let text = text.trim();
                match decimal(text) {
                    Some((value, scale)) => scaled(value, scale, &|| shown(text)),
                    None => match text.parse::<f64>() {
                        Ok(value) => of_float(value, &|| shown(text)),
                        Err(_) => Err(bad(shown(text))),
                    },
                }
            };
            let of_row = |row: usize| match is_empty(&texts, row) {
                true => Err(null()),
                false => of_text(texts.value(row)),
            };
            (0..texts.len()).map(of_row).collect()
        }
        (None, None) => return None,
    };
    *rounded = is_rounded.get();
    Some(collected(found, faults))
}

/// Formats a decimal of a column with its digits.
fn decimal_text(value: i128, scale: i32) -> String {
    let Some(decimals) = usize::try_from(scale).ok().filter(|&decimals| decimals > 0) else {
        let zeros = "0".repeat(scale.unsigned_abs() as usize);
        return format!("{value}{}", if value == 0 { "" } else { &zeros });
    };
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{whole}.{part}")
}

/// Parses digits and a point as an integer and its number of decimals.
fn decimal(text: &str) -> Option<(i128, i32)> {
    const LONGEST: usize = 30;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mut value, mut behind, mut point) = (0i128, 0, false);
    if digits.len() > LONGEST || !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => {
                value = value * 10 + i128::from(byte - b'0');
                behind += i32::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    Some((if negative { -value } else { value }, behind))
}

fn collected<T: Default>(found: Vec<Result<T, FaultKind>>, faults: &mut Vec<Fault>) -> Vec<T> {
    let of_row = |(row, found): (usize, Result<T, FaultKind>)| {
        found.unwrap_or_else(|kind| {
            faults.push(Fault { row: row as u32, kind });
            T::default()
        })
    };
    found.into_iter().enumerate().map(of_row).collect()
}

/// Shortens a field for a message.
fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Date32Array, Date64Array, RecordBatch, TimestampMicrosecondArray,
        TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    };
    use std::sync::Arc;

    const MAPPING: &str = "time = \"at\"\n[source]\ncolumn = \"a\"\nkind = \"u\"\n\
        [target]\ncolumn = \"b\"\nkind = \"u\"\n";

    #[test]
    fn decimals_of_columns_are_shown_with_their_digits() {
        for (value, scale, text) in [
            (-4055, 2, "-40.55"),
            (-5, 3, "-0.005"),
            (7, 0, "7"),
            (-7, -2, "-700"),
            (0, -2, "0"),
            (1_000_000_000_000_000_000_001, 2, "10000000000000000000.01"),
        ] {
            assert_eq!(decimal_text(value, scale), text);
        }
    }

    /// Returns the faults of a column of times, and the time of its last row.
    fn read(times: ArrayRef) -> (Vec<String>, Timestamp) {
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["x"; times.len()]));
        let columns = [("a", ids.clone()), ("b", ids), ("at", times)];
        let columns = RecordBatch::try_from_iter(columns).unwrap();
        let raw = RawBatch { columns, places: Places::Rows(0), trimmed: Vec::new() };
        let batch = Batch::of(&raw, &Mapping::parse(MAPPING).unwrap(), "here").unwrap();
        let faults = batch.faults.iter().map(|fault| fault.kind.to_string()).collect();
        (faults, *batch.times.last().unwrap())
    }

    #[test]
    fn infinite_times_of_arrow_are_faults_of_their_rows_in_every_unit() {
        const LARGEST: i64 = i64::MAX;
        let day = 19_783;
        let wide = |unit: i64| vec![LARGEST, i64::MIN, -LARGEST, day * 86_400 * unit];
        let columns: [ArrayRef; 7] = [
            Arc::new(TimestampSecondArray::from(wide(1))),
            Arc::new(TimestampMillisecondArray::from(wide(1000))),
            Arc::new(TimestampMicrosecondArray::from(wide(1_000_000))),
            Arc::new(TimestampMicrosecondArray::from(wide(1_000_000)).with_timezone("UTC")),
            Arc::new(TimestampNanosecondArray::from(wide(1_000_000_000))),
            Arc::new(Date32Array::from(vec![i32::MAX, i32::MIN, -i32::MAX, day as i32])),
            Arc::new(Date64Array::from(wide(1000))),
        ];
        for column in columns {
            let kind = column.data_type().to_string();
            let (faults, last) = read(column);
            assert_eq!(faults.len(), 3, "{kind}: {faults:?}");
            for (fault, name) in faults.iter().zip(["`infinity`", "`-infinity`", "`-infinity`"]) {
                assert!(
                    fault.starts_with(&format!("{name} in the column `at`")),
                    "{kind}: {fault}"
                );
            }
            assert_eq!(last.to_string(), "2024-03-01", "{kind}");
        }
    }

    #[test]
    fn a_time_beyond_counting_and_an_offset_beyond_eighteen_hours_are_faults() {
        let (faults, _) = read(Arc::new(TimestampSecondArray::from(vec![i64::MAX / 2])));
        assert!(faults[0].starts_with("`a time beyond all counting`"), "{faults:?}");
        let texts = vec![
            "infinity",
            "-infinity",
            "2024-03-01T00:00:00+18:01",
            "2024-03-01 00:00:00-19",
            "2024-03-01T00:00:00+18:00",
        ];
        let dictionary: arrow_array::DictionaryArray<Int32Type> = texts.iter().copied().collect();
        let columns: [ArrayRef; 2] =
            [Arc::new(StringArray::from(texts.clone())), Arc::new(dictionary)];
        for column in columns {
            let (faults, last) = read(column);
            assert_eq!(faults.len(), 4, "{faults:?}");
            for (fault, text) in faults.iter().zip(&texts) {
                assert!(fault.starts_with(&format!("`{text}` in the column `at`")), "{fault}");
            }
            assert_eq!(last.to_string(), "2024-02-29T06:00:00Z");
        }
    }
}
