//! Mapping from the columns of a table to the fields of a transaction: a small TOML file.
//!
//! ```toml
//! time = "at"                  # or { column = "step", unit = "1d", origin = "2024-01-01" }, or { column = "at", partition = "dt" }
//! amount = "eur"               # or { column = "eur", decimals = 2 }; may be left out
//! kind = { column = "type", only = ["purchase", "transfer"] }   # of which kinds; may be left out
//!
//! [source]
//! column = "buyer"
//! kind = "user"
//!
//! [target]
//! column = "shop"
//! kind = "merchant"
//!
//! [[also]]                     # further entities of a transaction, linked to its source by default
//! column = "device_id"
//! kind = "device"
//! to = ["source"]
//! optional = true              # a row may lack it
//!
//! [weight]
//! of = "count * powf(0.5, age / 90.0)"
//! ```

use crate::{Span, Timestamp};
use ripplet_io::{LARGEST_TEXT, ReadError, read_small_text};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Mapping from columns to the fields of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// Time of a transaction.
    pub time: TimeColumn,
    /// Amount of a transaction.
    pub amount: Option<AmountColumn>,
    /// Kind of transaction, and the kinds that are read.
    pub kind: Option<KindColumn>,
    /// The paying entity.
    pub source: EntityColumn,
    /// The paid entity.
    pub target: EntityColumn,
    /// Further entities of a transaction.
    pub also: Vec<LinkedColumn>,
    /// Rule of edge weights.
    pub weight: WeightRule,
}

/// Column of times.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeColumn {
    /// Name of the column.
    pub column: String,
    /// Unit of numeric times. There is no default: numbers may count seconds or milliseconds, and `20240531`
    /// is a day.
    pub unit: Option<Span>,
    /// Origin of numeric times; 1970 by default.
    pub origin: Timestamp,
    /// Keys of partitions that hold the times of their files' rows: a date, or year, month, day and hour. A file
    /// outside the range of a run is passed over by them.
    pub partition: Vec<String>,
}

/// Column of amounts.
#[derive(Clone, Debug, PartialEq)]
pub struct AmountColumn {
    /// Name of the column.
    pub column: String,
    /// Number of decimals that are kept: amounts are integers in this unit.
    pub decimals: u32,
}

/// Column of transaction kinds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindColumn {
    /// Name of the column.
    pub column: String,
    /// Kinds that are read; others are skipped and counted.
    pub only: Vec<String>,
}

/// Column of entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityColumn {
    /// Name of the column.
    pub column: String,
    /// Kind of the entities.
    pub kind: String,
}

/// Column of a further entity of a transaction, beside source and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedColumn {
    /// The column.
    pub entity: EntityColumn,
    /// Ends to which it is linked.
    pub to: Vec<End>,
    /// Whether a row may lack the entity.
    pub optional: bool,
}

/// End of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// The payer.
    Source,
    /// The payee.
    Target,
}

/// Rule of edge weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightRule {
    /// `count`, `amount`, or an expression in `count`, `amount` and `age`; `count` by default.
    pub of: Option<String>,
    /// Units in a weight of 1, for an expression: a power of 2.
    pub resolution: Option<u32>,
}

/// Error of reading a mapping.
#[derive(Debug, Error)]
pub enum MappingError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is no valid mapping.
    #[error("{}: {sentence}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The error and its place, as a sentence.
        sentence: String,
    },
}

/// Default number of decimals: cents.
const DECIMALS: u32 = 2;
/// Largest number of decimals: with more, no integer part fits 64 bits.
const MOST_DECIMALS: u32 = 9;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    time: OneOrMore<TimeTable>,
    amount: Option<OneOrMore<AmountTable>>,
    kind: Option<KindColumn>,
    source: EntityTable,
    target: EntityTable,
    #[serde(default)]
    also: Vec<LinkedTable>,
    #[serde(default)]
    weight: WeightTable,
}

/// A column's name, or a table with further settings.
enum OneOrMore<T> {
    Name(String),
    Table(T),
}

/// Written by hand, as the derived implementation does not report errors inside a table.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<OneOrMore<T>, D::Error> {
        struct NameOrTable<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for NameOrTable<T> {
            type Value = OneOrMore<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a column's name, or a table with it")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<OneOrMore<T>, E> {
                Ok(OneOrMore::Name(name.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMore<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMore::Table)
            }
        }

        from.deserialize_any(NameOrTable(PhantomData))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeTable {
    column: String,
    unit: Option<String>,
    origin: Option<String>,
    partition: Option<OneOrMany>,
}

/// A key, or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AmountTable {
    column: String,
    decimals: Option<u32>,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with `column` and `kind`, such as { column = \"payer\", kind = \"account\" }"
)]
struct EntityTable {
    column: String,
    kind: String,
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with `column` and `kind`, such as { column = \"device\", kind = \"device\" }"
)]
struct LinkedTable {
    column: String,
    kind: String,
    to: Option<Vec<End>>,
    #[serde(default)]
    optional: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightTable {
    of: Option<String>,
    resolution: Option<u32>,
}

impl Mapping {
    /// Reads a mapping file.
    ///
    /// # Errors
    /// If the file cannot be read, or is no valid mapping.
    pub fn read(path: &Path) -> Result<Mapping, MappingError> {
        let text = read_small_text(path, LARGEST_TEXT, "a mapping")?;
        Mapping::parse(&text)
            .map_err(|sentence| MappingError::Content { path: path.into(), sentence })
    }

    /// Parses a mapping.
    ///
    /// # Errors
    /// A message that names the error and its position.
    pub fn parse(text: &str) -> Result<Mapping, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mapping = Mapping {
            time: file.time.column()?,
            amount: file.amount.map(OneOrMore::<AmountTable>::column).transpose()?,
            kind: file.kind,
            source: file.source.column(),
            target: file.target.column(),
            also: file.also.into_iter().map(LinkedTable::column).collect::<Result<_, _>>()?,
            weight: WeightRule { of: file.weight.of, resolution: file.weight.resolution },
        };
        let entities = [("source", &mapping.source), ("target", &mapping.target)];
        let also = mapping.also.iter().map(|linked| ("also", &linked.entity));
        if let Some((table, EntityColumn { column, .. })) =
            entities.into_iter().chain(also).find(|(_, entity)| entity.kind.trim().is_empty())
        {
            return Err(format!(
                "{table}.kind of column `{column}` is empty: write a word of your choice, such as \"account\""
            ));
        }
        if mapping.source == mapping.target {
            let EntityColumn { column, kind } = &mapping.source;
            return Err(format!(
                "source and target are both the {kind} of the column `{column}`: no entity could transact with another"
            ));
        }
        Ok(mapping)
    }

    /// Returns the kinds of entities, in the order of their first mention.
    pub fn kinds(&self) -> Vec<&str> {
        let also = self.also.iter().map(|linked| &linked.entity);
        let mut kinds: Vec<&str> = Vec::new();
        for entity in [&self.source, &self.target].into_iter().chain(also) {
            if !kinds.contains(&&*entity.kind) {
                kinds.push(&entity.kind);
            }
        }
        kinds
    }

    /// Returns the names of the pairs of columns that a row links, payer first: `buyer → shop`, then those of
    /// `[[also]]`, in the order in which the stream of transactions numbers them.
    pub fn pairs(&self) -> Vec<String> {
        let (source, target) = (&self.source.column, &self.target.column);
        let also = self.also.iter().flat_map(|linked| {
            let name = |end: &End| match end {
                End::Source => format!("{source} → {}", linked.entity.column),
                End::Target => format!("{target} → {}", linked.entity.column),
            };
            linked.to.iter().map(name)
        });
        std::iter::once(format!("{source} → {target}")).chain(also).collect()
    }

    /// Returns the columns to read, without duplicates: those of entities, then time, amount and kind.
    pub fn columns(&self) -> Vec<&str> {
        let also = self.also.iter().map(|linked| &*linked.entity.column);
        let amount = self.amount.iter().map(|amount| &*amount.column);
        let all = [&*self.source.column, &self.target.column].into_iter().chain(also);
        let all = all
            .chain([&*self.time.column])
            .chain(amount)
            .chain(self.kind.iter().map(|kind| &*kind.column));
        let mut columns: Vec<&str> = Vec::new();
        for column in all {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }
}

impl OneOrMore<TimeTable> {
    fn column(self) -> Result<TimeColumn, String> {
        let (column, unit, origin, partition) = match self {
            OneOrMore::Name(column) => (column, None, None, None),
            OneOrMore::Table(table) => (table.column, table.unit, table.origin, table.partition),
        };
        let partition = match partition {
            None => Vec::new(),
            Some(OneOrMany::One(key)) => vec![key],
            Some(OneOrMany::Many(keys)) => keys,
        };
        let unit = unit.map(|unit| unit.parse().map_err(|error| format!("time.unit: {error}")));
        let unit = unit.transpose()?;
        let origin = match origin.as_deref() {
            None => Timestamp(0),
            Some(origin) => origin.parse().map_err(|error| format!("time.origin: {error}"))?,
        };
        Ok(TimeColumn { column, unit, origin, partition })
    }
}

impl OneOrMore<AmountTable> {
    fn column(self) -> Result<AmountColumn, String> {
        let (column, decimals) = match self {
            OneOrMore::Name(column) => (column, None),
            OneOrMore::Table(table) => (table.column, table.decimals),
        };
        let decimals = decimals.unwrap_or(DECIMALS);
        if decimals > MOST_DECIMALS {
            return Err(format!(
                "amount.decimals: {decimals} digits are more than the {MOST_DECIMALS} that can be kept"
            ));
        }
        Ok(AmountColumn { column, decimals })
    }
}

impl EntityTable {
    fn column(self) -> EntityColumn {
        EntityColumn { column: self.column, kind: self.kind }
    }
}

impl LinkedTable {
    fn column(self) -> Result<LinkedColumn, String> {
        let to = self.to.unwrap_or_else(|| vec![End::Source]);
        let twice = to.len() > 1 && to[1..].contains(&to[0]);
        if to.is_empty() || twice || to.len() > 2 {
            return Err(format!(
                "also.to of column `{}`: expected [\"source\"], [\"target\"] or both",
                self.column
            ));
        }
        let entity = EntityColumn { column: self.column, kind: self.kind };
        Ok(LinkedColumn { entity, to, optional: self.optional })
    }
}
