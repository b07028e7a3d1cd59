//! Rows of a vertex table, and the columns that are read.

use crate::fault::Fault;
use crate::label_table::{Choice, asked};
use crate::{Place, ReadErrorKind};
use ripplet_graph::ExternalId;
use std::fmt;

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Integers from 0 to 2³² − 1.
    U32,
    /// Numbers, rounded to the nearest `f32`; infinities are allowed, NaN is not.
    F32,
}

/// Row of a vertex table.
pub(crate) struct VertexRow<'a> {
    pub(crate) place: Place,
    pub(crate) id: ExternalId<'a>,
    /// The requested columns; `None` if the table lacks one.
    pub(crate) values: &'a [Option<Value<'a>>],
}

impl VertexRow<'_> {
    pub(crate) fn fault(&self, sentence: String) -> Fault {
        Fault { place: self.place, kind: ReadErrorKind::Content(sentence) }
    }
}

/// Field of a row.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    /// An integer, or a text of any form.
    Id(ExternalId<'a>),
    /// A number with a fraction.
    Number(f64),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Id(id) => crate::shown::shown(id).fmt(f),
            Value::Number(number) => f.write_str(&crate::shown::shown_number(*number)),
        }
    }
}

/// Returns a number without a fraction, as a column of floats has it.
fn whole(value: f64) -> Option<u32> {
    let whole = value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    whole.then_some(value as u32)
}

impl Value<'_> {
    pub(crate) fn bits(self, kind: ValueKind) -> Result<u32, String> {
        match kind {
            ValueKind::U32 => self.u32(),
            ValueKind::F32 => self.f32().map(f32::to_bits),
        }
    }

    pub(crate) fn u32(self) -> Result<u32, String> {
        let whole = match self {
            Value::Id(ExternalId::Unsigned(value)) => u32::try_from(value).ok(),
            Value::Id(ExternalId::Signed(value)) => u32::try_from(value).ok(),
            Value::Id(ExternalId::Name(text)) => text.parse().ok(),
            Value::Number(value) => whole(value),
        };
        whole.ok_or_else(|| format!("`{self}` is not a whole number from 0 to {}", u32::MAX))
    }

    pub(crate) fn f32(self) -> Result<f32, String> {
        let number = match self {
            Value::Id(ExternalId::Unsigned(value)) => Some(value as f32),
            Value::Id(ExternalId::Signed(value)) => Some(value as f32),
            Value::Id(ExternalId::Name(text)) => text.parse().ok(),
            Value::Number(value) => Some(value as f32),
        };
        number.filter(|number| !number.is_nan()).ok_or_else(|| format!("`{self}` is not a number"))
    }
}

/// Form of a table about vertices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Columns by name: a text needs a header.
    Table,
    /// Without a header, the columns are the id and the requested ones, in this order.
    Seeds,
    /// Without a header, a line is an id.
    List,
}

/// Known names of the column of ids.
pub(crate) const IDS: [&str; 4] = ["id", "vertex", "node", "name"];

/// Columns of a table that were read.
#[derive(Debug, Default)]
pub(crate) struct FoundColumns {
    /// Index of the column of ids.
    pub(crate) id: usize,
    /// Index of each requested column, if it exists.
    pub(crate) wanted: Vec<Option<usize>>,
    /// Names of all columns, if the table has names.
    pub(crate) names: Option<Vec<String>>,
    /// Number of columns.
    pub(crate) width: usize,
}

/// The columns of ids and of the first column wanted, by name or by number.
pub(crate) type Asked<'a> = Option<&'a [String; 2]>;

/// Evidence by which the columns of ids and labels were chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labelled {
    No,
    /// Both have known names.
    Known,
    /// Requested by name.
    ByName,
    /// Requested by number.
    ByNumber,
}

/// Positions of the column of ids and of the wanted columns.
pub(crate) struct Positions {
    pub(crate) id: usize,
    pub(crate) wanted: Vec<Option<usize>>,
}

impl Positions {
    pub(crate) fn by_name(names: &[&str], wanted: &[&[&str]]) -> Positions {
        let find = |known: &[&str]| {
            known
                .iter()
                .find_map(|known| names.iter().position(|name| name.eq_ignore_ascii_case(known)))
        };
        Positions {
            id: find(&IDS).unwrap_or(0),
            wanted: wanted.iter().map(|names| find(names)).collect(),
        }
    }

    /// Sets the requested columns of ids and clusters, or those with known names in a table that need not
    /// have them first. Returns whether such columns were found.
    pub(crate) fn set_labelled(
        &mut self,
        names: &[&str],
        asked_for: Asked<'_>,
    ) -> Result<Labelled, String> {
        let (both, found) = match (asked_for, Choice::of(names)) {
            (Some([id, label]), _) => {
                let [id, label] = [asked(names, id)?, asked(names, label)?];
                let by_name = id.1 || label.1;
                ([id.0, label.0], if by_name { Labelled::ByName } else { Labelled::ByNumber })
            }
            (None, Choice::Known(both)) => (both, Labelled::Known),
            (None, _) => return Ok(Labelled::No),
        };
        (self.id, self.wanted[0]) = (both[0], Some(both[1]));
        Ok(found)
    }

    /// Refuses a table that has the name of a column that is read twice.
    pub(crate) fn check_distinct(&self, names: &[&str]) -> Result<(), String> {
        let read = self.wanted.iter().flatten().chain([&self.id]).map(|&at| names.get(at));
        let is_twice = |name: &&&str| {
            let same = names.iter().filter(|other| other.eq_ignore_ascii_case(name));
            !name.trim().is_empty() && same.count() > 1
        };
        match read.flatten().find(is_twice) {
            None => Ok(()),
            Some(twice) => Err(format!(
                "the header has the column `{}` twice: expected one of that name",
                crate::shown::shown(twice)
            )),
        }
    }

    /// Returns the columns found in a table of `width` columns with these names, if it has names.
    pub(crate) fn found(self, names: Option<Vec<String>>, width: usize) -> FoundColumns {
        FoundColumns { id: self.id, wanted: self.wanted, names, width }
    }
}
