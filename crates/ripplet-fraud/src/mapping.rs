//! Which columns of a table are what of a transaction: a small TOML file.
//!
//! ```toml
//! time = "at"                  # or { column = "step", unit = "1d", origin = "2024-01-01" }
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
//! [[also]]                     # what else a transaction links, to its source where nothing else is said
//! column = "device_id"
//! kind = "device"
//! to = ["source"]
//! optional = true              # rows without one are welcome
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

/// Which columns are what of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// When it was.
    pub time: TimeColumn,
    /// How much it was.
    pub amount: Option<AmountColumn>,
    /// What kind of transaction it was, and which are taken.
    pub kind: Option<KindColumn>,
    /// From whom.
    pub source: EntityColumn,
    /// To whom.
    pub target: EntityColumn,
    /// What else it links.
    pub also: Vec<LinkedColumn>,
    /// What an edge weighs.
    pub weight: WeightRule,
}

/// The column of times.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeColumn {
    /// Its name.
    pub column: String,
    /// What its numbers count, where it has numbers. There is no usual one: what counts seconds in one table counts
    /// milliseconds in another, and `20240531` is a day.
    pub unit: Option<Span>,
    /// From when they are counted: 1970, where nothing is said.
    pub origin: Timestamp,
}

/// The column of amounts.
#[derive(Clone, Debug, PartialEq)]
pub struct AmountColumn {
    /// Its name.
    pub column: String,
    /// Digits that are kept behind the decimal point: amounts are whole numbers of such units.
    pub decimals: u32,
}

/// The column of the transactions' kinds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindColumn {
    /// Its name.
    pub column: String,
    /// The kinds that are taken; others are passed over, and counted.
    pub only: Vec<String>,
}

/// A column of entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityColumn {
    /// Its name.
    pub column: String,
    /// What the entities are.
    pub kind: String,
}

/// A column of entities that a transaction links beside source and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedColumn {
    /// The column.
    pub entity: EntityColumn,
    /// To which ends it is linked.
    pub to: Vec<End>,
    /// Whether a row may lack it.
    pub optional: bool,
}

/// An end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// From whom it is.
    Source,
    /// To whom.
    Target,
}

/// What an edge weighs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightRule {
    /// `count`, `amount`, or an expression in `count`, `amount` and `age`; `count` where nothing is said.
    pub of: Option<String>,
    /// Units of a weight of 1 that are told apart, of an expression: a power of 2.
    pub resolution: Option<u32>,
}

/// A mapping that cannot be used.
#[derive(Debug, Error)]
pub enum MappingError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is no mapping.
    #[error("{}: {sentence}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        sentence: String,
    },
}

/// Digits behind an amount's decimal point, where nothing is said: cents.
const DECIMALS: u32 = 2;
/// More do not fit an integer with anything before the point.
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

/// A column's name alone, or a table with more about it.
enum OneOrMore<T> {
    Name(String),
    Table(T),
}

/// By hand, as a derived one would not say what is wrong in a table.
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AmountTable {
    column: String,
    decimals: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntityTable {
    column: String,
    kind: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Reads a mapping.
    ///
    /// # Errors
    /// Where the file cannot be read, or is no mapping.
    pub fn read(path: &Path) -> Result<Mapping, MappingError> {
        let text = read_small_text(path, LARGEST_TEXT, "a mapping")?;
        Mapping::parse(&text)
            .map_err(|sentence| MappingError::Content { path: path.into(), sentence })
    }

    /// A mapping of a text.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it, and where.
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
                "source and target are both the {kind} of the column `{column}`: nobody would deal with another"
            ));
        }
        Ok(mapping)
    }

    /// The kinds of entities, in the order in which they are named, each once.
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

    /// The columns that are read, each once: those of entities, then time, amount and kind.
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
        let (column, unit, origin) = match self {
            OneOrMore::Name(column) => (column, None, None),
            OneOrMore::Table(table) => (table.column, table.unit, table.origin),
        };
        let unit = unit.map(|unit| unit.parse().map_err(|error| format!("time.unit: {error}")));
        let unit = unit.transpose()?;
        let origin = match origin.as_deref() {
            None => Timestamp(0),
            Some(origin) => origin.parse().map_err(|error| format!("time.origin: {error}"))?,
        };
        Ok(TimeColumn { column, unit, origin })
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
