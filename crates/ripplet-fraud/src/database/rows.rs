//! Rows of a batch in the binary format of COPY.
//!
//! A row is its number of fields (16 bits), and each field its length in bytes (32 bits, −1 for null) and its
//! value, big-endian. Numbers without a sign become those with one, of 64 bits; times are microseconds since 2000. A
//! jsonb is its version, 1, and its text.

use super::DatabaseError;
use crate::source::postgres::EPOCH;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, TimestampMicrosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float32Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use std::path::Path;

/// Begin of the data: signature, flags, and length of an extension.
pub(super) const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// End of the data.
pub(super) const END: [u8; 2] = (-1i16).to_be_bytes();
const NULL: [u8; 4] = (-1i32).to_be_bytes();

/// Appends the rows of a batch, each after the run's id, and hands over the bytes whenever `limit` of them are
/// there. With `features`, the last columns of the batch have these names and become one field, the last: an object, or
/// null if there are none.
///
/// # Errors
/// If a value does not fit the table, or `send` fails.
pub(super) fn append<E: From<DatabaseError>>(
    batch: &RecordBatch,
    run: &str,
    path: &Path,
    features: Option<&[&str]>,
    out: &mut Vec<u8>,
    limit: usize,
    mut send: impl FnMut(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let refused = |why: String| DatabaseError::File { path: path.into(), why };
    let names = features.unwrap_or_default();
    let own = batch.num_columns().saturating_sub(names.len());
    let fields = i16::try_from(1 + own + usize::from(features.is_some()));
    let fields = fields.map_err(|_| refused("it has too many columns".into()))?;
    let no_type = || refused("a column has a type that is not written to a database".into());
    let (columns, further) = batch.columns().split_at(own);
    let columns: Option<Vec<Values<'_>>> = columns.iter().map(Values::of).collect();
    let columns = columns.ok_or_else(no_type)?;
    let of_feature = |(name, array): (&&str, &'_ ArrayRef)| {
        let numbers = array.as_primitive_opt::<Float32Type>()?.clone();
        Some((serde_json::Value::from(*name).to_string(), numbers))
    };
    let further: Option<Vec<(String, Float32Array)>> =
        names.iter().zip(further).map(of_feature).collect();
    let further = further.ok_or_else(no_type)?;
    for row in 0..batch.num_rows() {
        out.extend(fields.to_be_bytes());
        text(out, run).map_err(refused)?;
        for column in &columns {
            column.append(row, out).map_err(refused)?;
        }
        match features {
            Some([]) => out.extend(NULL),
            Some(_) => object(out, &further, row).map_err(refused)?,
            None => {}
        }
        if out.len() >= limit {
            send(out)?;
        }
    }
    Ok(())
}

/// Values of a column.
enum Values<'a> {
    Texts(&'a arrow_array::StringArray),
    Numbers(&'a arrow_array::UInt32Array),
    Counts(&'a arrow_array::UInt64Array),
    Reals(&'a arrow_array::Float64Array),
    Narrow(&'a Float32Array),
    Flags(&'a arrow_array::BooleanArray),
    Times(&'a arrow_array::TimestampMicrosecondArray),
}

impl<'a> Values<'a> {
    fn of(array: &'a ArrayRef) -> Option<Values<'a>> {
        Some(match array.data_type() {
            DataType::Utf8 => Values::Texts(array.as_string_opt()?),
            DataType::UInt32 => Values::Numbers(array.as_primitive_opt::<UInt32Type>()?),
            DataType::UInt64 => Values::Counts(array.as_primitive_opt::<UInt64Type>()?),
            DataType::Float64 => Values::Reals(array.as_primitive_opt::<Float64Type>()?),
            DataType::Float32 => Values::Narrow(array.as_primitive_opt::<Float32Type>()?),
            DataType::Boolean => Values::Flags(array.as_boolean_opt()?),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Values::Times(array.as_primitive_opt::<TimestampMicrosecondType>()?)
            }
            _ => return None,
        })
    }

    fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let is_null = match self {
            Values::Texts(array) => array.is_null(row),
            Values::Numbers(array) => array.is_null(row),
            Values::Counts(array) => array.is_null(row),
            Values::Reals(array) => array.is_null(row),
            Values::Narrow(array) => array.is_null(row),
            Values::Flags(array) => array.is_null(row),
            Values::Times(array) => array.is_null(row),
        };
        if is_null {
            out.extend(NULL);
            return Ok(());
        }
        match self {
            Values::Texts(array) => text(out, array.value(row))?,
            Values::Numbers(array) => field(out, i64::from(array.value(row)).to_be_bytes()),
            Values::Counts(array) => {
                let value = array.value(row);
                let signed = i64::try_from(value);
                let signed = signed.map_err(|_| format!("{value} exceeds 64 bits with a sign"))?;
                field(out, signed.to_be_bytes());
            }
            Values::Reals(array) => field(out, array.value(row).to_be_bytes()),
            Values::Narrow(array) => field(out, array.value(row).to_be_bytes()),
            Values::Flags(array) => field(out, [u8::from(array.value(row))]),
            Values::Times(array) => {
                field(out, array.value(row).saturating_sub(EPOCH).to_be_bytes());
            }
        }
        Ok(())
    }
}

fn field<const N: usize>(out: &mut Vec<u8>, value: [u8; N]) {
    out.extend((N as i32).to_be_bytes());
    out.extend(value);
}

/// Appends the features of a row as a jsonb; missing ones are null.
fn object(
    out: &mut Vec<u8>,
    features: &[(String, Float32Array)],
    row: usize,
) -> Result<(), String> {
    let mut json = String::from("\u{1}{");
    for (at, (name, numbers)) in features.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        json += comma;
        json += name;
        json.push(':');
        // The shortest digits that are read as the same number.
        match !numbers.is_null(row) && numbers.value(row).is_finite() {
            true => json += &format!("{:e}", numbers.value(row)),
            false => json += "null",
        }
    }
    json.push('}');
    text(out, &json)
}

fn text(out: &mut Vec<u8>, value: &str) -> Result<(), String> {
    let length = i32::try_from(value.len());
    let length = length.map_err(|_| format!("a text of {} bytes is too long", value.len()))?;
    if value.contains('\0') {
        return Err(format!(
            "`{}` has a byte of value 0, which PostgreSQL's texts cannot have",
            value.replace('\0', "\\0")
        ));
    }
    out.extend(length.to_be_bytes());
    out.extend(value.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{StringArray, TimestampMicrosecondArray, UInt64Array};
    use arrow_schema::{Field, Schema};
    use std::sync::Arc;

    fn bytes(columns: Vec<ArrayRef>, limit: usize) -> Result<Vec<Vec<u8>>, DatabaseError> {
        with_features(columns, None, limit)
    }

    fn with_features(
        columns: Vec<ArrayRef>,
        features: Option<&[&str]>,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>, DatabaseError> {
        let field = |array: &ArrayRef| Field::new("x", array.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
        let (mut out, mut sent) = (Vec::new(), Vec::new());
        append(&batch, "r", Path::new("f.parquet"), features, &mut out, limit, |out| {
            sent.push(std::mem::take(out));
            Ok::<(), DatabaseError>(())
        })?;
        sent.push(out);
        Ok(sent)
    }

    #[test]
    fn a_row_has_the_bytes_of_the_format() {
        let ids: ArrayRef = Arc::new(StringArray::from(vec![Some("é"), None]));
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![EPOCH, EPOCH + 1]));
        let expected = [
            [0, 3, 0, 0, 0, 1, b'r', 0, 0, 0, 2, 0xc3, 0xa9, 0, 0, 0, 8].as_slice(),
            &[0; 8],
            &[0, 3, 0, 0, 0, 1, b'r', 255, 255, 255, 255, 0, 0, 0, 8],
            &[0, 0, 0, 0, 0, 0, 0, 1],
        ];
        assert_eq!(bytes(vec![ids, times], 1 << 16).unwrap(), [expected.concat()]);
    }

    #[test]
    fn features_are_one_object() {
        let ages: ArrayRef = Arc::new(Float32Array::from(vec![Some(1.5), None]));
        let flats: ArrayRef = Arc::new(Float32Array::from(vec![Some(3e38), Some(-7.0)]));
        let names = ["table_age", "table_a \"b\""];
        let sent = with_features(vec![ages, flats], Some(&names), 1 << 16).unwrap().concat();
        let sent = String::from_utf8_lossy(&sent);
        for expected in [
            "\u{1}{\"table_age\":1.5e0,\"table_a \\\"b\\\"\":3e38}",
            "\u{1}{\"table_age\":null,\"table_a \\\"b\\\"\":-7e0}",
        ] {
            assert!(sent.contains(expected), "{sent:?}");
        }
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let none = with_features(vec![ids], Some(&[]), 1 << 16).unwrap().concat();
        assert!(none.starts_with(&[0, 3]) && none.ends_with(&NULL), "{none:?}");
    }

    #[test]
    fn bytes_go_whenever_there_are_enough() {
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["a"; 10]));
        let sent = bytes(vec![ids], 20).unwrap();
        assert!(sent.len() > 4 && sent[..sent.len() - 1].iter().all(|part| part.len() >= 20));
    }

    #[test]
    fn what_the_database_cannot_hold_is_refused() {
        let zero: ArrayRef = Arc::new(StringArray::from(vec!["a\0b"]));
        let found = bytes(vec![zero], 100).unwrap_err().to_string();
        assert!(found.starts_with("f.parquet: `a\\0b` has a byte of value 0"), "{found}");
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        assert!(bytes(vec![large], 100).unwrap_err().to_string().contains("18446744073709551615"));
        let other: ArrayRef = Arc::new(arrow_array::Int8Array::from(vec![1]));
        assert!(bytes(vec![other], 100).unwrap_err().to_string().contains("has a type"));
    }
}
