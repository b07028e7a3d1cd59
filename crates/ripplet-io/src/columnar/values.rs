//! A column's values, whatever type they are stored as.

use super::Ids;
use crate::ReadErrorKind;
use crate::fault::Fault;
use crate::names::InternError;
use crate::names::NameSet;
use crate::shown::shown_number;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use ripplet_graph::{ExternalId, OutOfMemory, memory, weight_flaw};
use std::borrow::Cow;

/// The values of a column without nulls.
pub(crate) enum Values<'a> {
    Integers(Integers),
    Strings(Strings<'a>),
}

/// Integers of any type.
pub(crate) struct Integers {
    /// As they are, or in two's complement.
    pub(crate) bits: Vec<u64>,
    /// Whether the type has a sign.
    signed: bool,
}

/// Strings of any type.
pub(crate) enum Strings<'a> {
    Utf8(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
    Dictionary { keys: Vec<u64>, values: Box<Strings<'a>> },
}

/// Error in a row of a record batch.
#[derive(Debug)]
pub(super) struct RowFault {
    pub(super) row: usize,
    pub(super) kind: ReadErrorKind,
}

/// Memory is refused in no particular row.
impl From<OutOfMemory> for RowFault {
    fn from(error: OutOfMemory) -> RowFault {
        RowFault { row: 0, kind: error.into() }
    }
}

/// Returns the kind of ids in a column of this type; nothing if ids cannot have it.
pub(crate) fn id_kind(kind: &DataType) -> Option<Ids> {
    match kind {
        DataType::Dictionary(_, values) => match **values {
            DataType::Dictionary(..) => None,
            ref values => id_kind(values),
        },
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Ids::Names),
        kind if kind.is_integer() => Some(Ids::Integers),
        _ => None,
    }
}

/// Whether values of this type can be weights.
pub(super) fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || kind.is_floating() || kind.is_decimal()
}

/// Returns the first row of a column that has a null, itself or in the dictionary.
pub(crate) fn first_null(column: &dyn Array) -> Option<usize> {
    let nulls = column.logical_nulls()?;
    (nulls.null_count() > 0).then(|| nulls.iter().position(|valid| !valid))?
}

/// Returns the numbers of a column of floats or decimals; the value of a null is arbitrary.
pub(crate) fn floats(column: &dyn Array) -> Result<Option<Vec<f64>>, OutOfMemory> {
    Ok(Some(match column.data_type() {
        DataType::Float16 => memory::collected(
            column.as_primitive::<Float16Type>().values().iter().map(|w| w.to_f64()),
        )?,
        DataType::Float32 => memory::collected(
            column.as_primitive::<Float32Type>().values().iter().map(|&w| w.into()),
        )?,
        DataType::Float64 => memory::copied(column.as_primitive::<Float64Type>().values())?,
        DataType::Decimal32(..) => decimals::<Decimal32Type>(column)?,
        DataType::Decimal64(..) => decimals::<Decimal64Type>(column)?,
        DataType::Decimal128(..) => decimals::<Decimal128Type>(column)?,
        DataType::Decimal256(..) => decimals::<Decimal256Type>(column)?,
        _ => return Ok(None),
    }))
}

/// Returns the float nearest to each decimal of a column.
fn decimals<T: DecimalType>(column: &dyn Array) -> Result<Vec<f64>, OutOfMemory> {
    // Powers of 10 up to this one are exact, and so are integers up to 2⁵³: their quotient is rounded once.
    const EXACT_POWERS: i8 = 22;
    const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
    let column = column.as_primitive::<T>();
    let scale = column.scale();
    let unit = (0..=EXACT_POWERS).contains(&scale).then(|| 10f64.powi(scale.into()));
    memory::collected(column.values().iter().map(|&value| match (value.to_i64(), unit) {
        (Some(value), Some(unit)) if (-EXACT..=EXACT).contains(&value) => value as f64 / unit,
        // The text of a decimal is a number.
        _ => T::format_decimal(value, column.precision(), scale).parse().unwrap_or(f64::NAN),
    }))
}

/// Numbers as weights: finite, 0 or above.
pub(super) fn weights(column: &dyn Array) -> Result<Vec<f64>, RowFault> {
    let mut weights: Vec<f64> = match floats(column)? {
        Some(floats) => floats,
        None => {
            let integers = integers(column)?.unwrap_or(Integers { bits: vec![], signed: false });
            let weight =
                |&bits: &u64| if integers.signed { bits as i64 as f64 } else { bits as f64 };
            memory::collected(integers.bits.iter().map(weight))?
        }
    };
    // The value behind a null is arbitrary; nulls are another error.
    let wrong = |&row: &usize| weight_flaw(weights[row]).is_some() && column.is_valid(row);
    match (0..weights.len()).find(wrong) {
        Some(row) => {
            let weight = weights[row];
            let expected = weight_flaw(weight).unwrap_or_default();
            let sentence =
                format!("`{}` is not a weight: expected {expected}", shown_number(weight));
            Err(RowFault { row, kind: sentence.into() })
        }
        // No negative zero: sums and prints do not need two.
        None => {
            weights.iter_mut().for_each(|weight| *weight += 0.0);
            Ok(weights)
        }
    }
}

impl<'a> Values<'a> {
    /// Returns the values of a column that [`id_kind`] accepts and that has no nulls.
    pub(crate) fn of(column: &'a dyn Array) -> Result<Values<'a>, Fault> {
        let unfit = || Fault::whole("the columns of a batch do not fit the table's schema");
        match id_kind(column.data_type()).ok_or_else(unfit)? {
            Ids::Integers => integers(column)?.map(Values::Integers).ok_or_else(unfit),
            Ids::Names => strings(column)?.map(Values::Strings).ok_or_else(unfit),
        }
    }

    /// Returns the value of a row, or `None` if a dictionary lacks it.
    pub(crate) fn get(&self, row: usize) -> Option<ExternalId<'_>> {
        Some(match self {
            Values::Integers(integers) if integers.signed => {
                ExternalId::Signed(integers.bits[row] as i64)
            }
            Values::Integers(integers) => ExternalId::Unsigned(integers.bits[row]),
            Values::Strings(strings) => ExternalId::Name(strings.get(row)?),
        })
    }

    /// Returns the number of each value in `set`, to which new ones are added; integers as they print.
    pub(super) fn numbers(&self, set: &mut NameSet) -> Result<Vec<u32>, InternError> {
        match self {
            Values::Strings(Strings::Dictionary { keys, values }) => {
                numbers_by_key(keys, values, set)
            }
            Values::Strings(strings) => numbered((0..strings.len()).map(|row| {
                // A row is within its array.
                set.number(strings.get(row).unwrap_or_default())
            })),
            Values::Integers(integers) => {
                numbered((0..integers.bits.len()).map(|row| set.number(&integers.print(row))))
            }
        }
    }
}

/// Returns all numbers, or the first error.
fn numbered(
    numbers: impl ExactSizeIterator<Item = Result<u32, InternError>>,
) -> Result<Vec<u32>, InternError> {
    let mut all = memory::with_room(numbers.len())?;
    for number in numbers {
        all.push(number?);
    }
    Ok(all)
}

/// Each value of the dictionary that occurs is hashed once.
fn numbers_by_key(
    keys: &[u64],
    values: &Strings<'_>,
    set: &mut NameSet,
) -> Result<Vec<u32>, InternError> {
    let value = |key: u64| values.get(key as usize).unwrap_or_default();
    // A dictionary much larger than the batch is not worth an array of its size.
    if values.len() > 4 * keys.len() {
        return numbered(keys.iter().map(|&key| set.number(value(key))));
    }
    let mut known: Vec<Option<u32>> = memory::filled(None, values.len())?;
    let mut number = |&key: &u64| {
        let Some(slot) = known.get_mut(key as usize) else { return set.number("") };
        match *slot {
            Some(number) => Ok(number),
            None => Ok(*slot.insert(set.number(value(key))?)),
        }
    };
    numbered(keys.iter().map(&mut number))
}

impl Integers {
    /// Returns the first row with a negative value.
    pub(super) fn first_negative(&self) -> Option<usize> {
        self.signed.then(|| self.first_high())?
    }

    /// Returns the first row with a value of 2⁶³ or more.
    pub(super) fn first_large(&self) -> Option<usize> {
        if self.signed { None } else { self.first_high() }
    }

    fn first_high(&self) -> Option<usize> {
        self.bits.iter().position(|bits| bits >> 63 == 1)
    }

    fn print(&self, row: usize) -> Cow<'static, str> {
        let bits = self.bits[row];
        Cow::Owned(if self.signed { (bits as i64).to_string() } else { bits.to_string() })
    }
}

impl Strings<'_> {
    fn len(&self) -> usize {
        match self {
            Strings::Utf8(array) => array.len(),
            Strings::Large(array) => array.len(),
            Strings::View(array) => array.len(),
            Strings::Dictionary { keys, .. } => keys.len(),
        }
    }

    /// Returns a row's string; `None` outside of the array, or if the dictionary lacks it.
    fn get(&self, row: usize) -> Option<&str> {
        if row >= self.len() {
            return None;
        }
        match self {
            Strings::Utf8(array) => Some(array.value(row)),
            Strings::Large(array) => Some(array.value(row)),
            Strings::View(array) => Some(array.value(row)),
            Strings::Dictionary { keys, values } => values.get(keys[row] as usize),
        }
    }
}

/// Returns the integers of a column, which may be behind a dictionary.
fn integers(column: &dyn Array) -> Result<Option<Integers>, OutOfMemory> {
    macro_rules! bits {
        ($kind:ty, $signed:expr) => {{
            let Some(values) = column.as_primitive_opt::<$kind>() else { return Ok(None) };
            // Sign extension is what makes two's complement of the narrower types.
            let bits = values.values().iter().map(|&value| value as i64 as u64);
            Ok(Some(Integers { bits: memory::collected(bits)?, signed: $signed }))
        }};
    }
    match column.data_type() {
        DataType::Int8 => bits!(Int8Type, true),
        DataType::Int16 => bits!(Int16Type, true),
        DataType::Int32 => bits!(Int32Type, true),
        DataType::Int64 => bits!(Int64Type, true),
        DataType::UInt8 => bits!(UInt8Type, false),
        DataType::UInt16 => bits!(UInt16Type, false),
        DataType::UInt32 => bits!(UInt32Type, false),
        DataType::UInt64 => bits!(UInt64Type, false),
        DataType::Dictionary(..) => {
            let Some(dictionary) = column.as_any_dictionary_opt() else { return Ok(None) };
            let both = (integers(dictionary.keys())?, integers(dictionary.values().as_ref())?);
            let (Some(keys), Some(values)) = both else { return Ok(None) };
            let mut bits = memory::with_room(keys.bits.len())?;
            for key in keys.bits {
                let Some(&value) = values.bits.get(key as usize) else { return Ok(None) };
                bits.push(value);
            }
            Ok(Some(Integers { bits, signed: values.signed }))
        }
        _ => Ok(None),
    }
}

/// Returns the strings of a column, which may be behind a dictionary.
fn strings(column: &dyn Array) -> Result<Option<Strings<'_>>, OutOfMemory> {
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string_opt().map(Strings::Utf8),
        DataType::LargeUtf8 => column.as_string_opt().map(Strings::Large),
        DataType::Utf8View => column.as_string_view_opt().map(Strings::View),
        DataType::Dictionary(..) => {
            let Some(dictionary) = column.as_any_dictionary_opt() else { return Ok(None) };
            let both = (integers(dictionary.keys())?, strings(dictionary.values().as_ref())?);
            let (Some(keys), Some(values)) = both else { return Ok(None) };
            Some(Strings::Dictionary { keys: keys.bits, values: Box::new(values) })
        }
        _ => None,
    })
}
