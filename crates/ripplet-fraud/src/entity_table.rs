//! The user's own table of entities: features that become evidence.
//!
//! A table (`.csv`, `.tsv`, `.parquet`, `.arrow`) has a row for each entity: its id, as in [lists](crate::seeds), an
//! optional column `kind`, and features. A column is numeric if all its cells are numbers, or all are dates or times (then in
//! days since 1970), or all are booleans (then 0 and 1), else categorical. A note says if most cells of a categorical one are
//! numbers.
//!
//! - An empty cell, a null, NaN and an infinity are missing.
//! - A column whose cells are all equal is left out, and so is one with more than [`MOST_CATEGORIES`] categories;
//!   notes say which.
//! - A repeated entity is refused.
//!
//! The table is read twice: first for the types of text columns, then for the values.
//!
//! Memory: 4 bytes a cell, 31 per row beside the bytes of its id, and each different category once.

use crate::entities::{Entities, EntityError, KindId};
use crate::seeds::{self, ListError};
use crate::source::decode::texts;
use crate::source::{SourceError, TableSource};
use crate::time::{Span, Timestamp};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use hashbrown::HashMap;
use ripplet_graph::{OutOfMemory, VertexId, memory};
use ripplet_io::{Place, ReadError};
use std::path::Path;

/// The most feature columns.
pub const MOST_FEATURES: usize = 200;

/// The most categories of a column.
pub const MOST_CATEGORIES: usize = 100_000;

/// Value of a missing number: below all others, so that it has an interval of its own.
pub const MISSING: f32 = f32::MIN;

/// Number of a missing category.
pub const NO_CATEGORY: u32 = u32::MAX;

/// Largest absolute value of a number.
const LARGEST: f64 = 3e38;

/// Feature of the entities of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Name of its column.
    pub name: String,
    /// Value of each row.
    pub values: FeatureValues,
}

/// Values of a feature, by row.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureValues {
    /// Numbers, or [`MISSING`].
    Numbers(Vec<f32>),
    /// Numbers of categories.
    Categories {
        /// Category of each row, or [`NO_CATEGORY`].
        codes: Vec<u32>,
        /// Number of rows of each category.
        counts: Vec<u32>,
    },
}

impl Feature {
    /// Returns the names of its columns of evidence, in their order: a number's own value, its mean over partners, and the mean
    /// of that over partners of partners; or a category's share of the rows, and of the known bad.
    pub fn columns(&self) -> Vec<String> {
        let suffixes: &[&str] = match self.values {
            FeatureValues::Numbers(_) => &["", "_of_partners", "_of_second"],
            FeatureValues::Categories { .. } => &["_share", "_known"],
        };
        suffixes.iter().map(|suffix| format!("table_{}{suffix}", self.name)).collect()
    }
}

/// Table of entities.
#[derive(Debug, Default)]
pub struct EntityTable {
    features: Vec<Feature>,
    /// Kind and id of each row; row numbers are its vertices.
    rows: Entities,
    /// Vertex of each row in the run; `None` as long as no transaction has named it.
    vertices: Vec<Option<VertexId>>,
    notes: Vec<String>,
}

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Numbers,
    /// Dates and times, as days since 1970.
    Dates,
    /// `true` and `false`, as 1 and 0.
    Booleans,
    Categories,
}

/// Counts of the cells of a text column that are not empty.
#[derive(Clone, Debug, Default)]
struct Cells {
    filled: u64,
    numbers: u64,
    /// Numbers with commas between thousands, which are none here.
    with_commas: u64,
    dates: u64,
    booleans: u64,
    /// Whether the column's type is that of categories, whatever their texts.
    categories: bool,
    /// The first that is no number.
    other: Option<String>,
}

impl Cells {
    fn add(&mut self, text: &str) {
        self.filled += 1;
        if number(text).is_some() {
            self.numbers += 1;
            return;
        }
        self.with_commas += u64::from(number(&text.replace(',', "")).is_some());
        self.dates += u64::from(days(text).is_some());
        self.booleans += u64::from(boolean(text).is_some());
        self.other.get_or_insert_with(|| text.to_owned());
    }

    fn of_type(&self) -> Type {
        match self.filled {
            _ if self.categories => Type::Categories,
            filled if filled == self.numbers => Type::Numbers,
            filled if filled == self.dates => Type::Dates,
            filled if filled == self.booleans => Type::Booleans,
            _ => Type::Categories,
        }
    }

    /// Returns a note if most cells of a column of categories are numbers.
    fn note(&self, column: &str) -> Option<String> {
        let is_guessed = self.of_type() == Type::Categories && !self.categories;
        let other = self.other.as_ref().filter(|_| is_guessed)?;
        let most = 2 * (self.numbers + self.with_commas) > self.filled;
        most.then(|| {
            format!(
                "`{column}`: {} of {} cells are numbers, and the others make it a column of categories; the first of these is \
                 `{other}`. For numbers, empty what is none, and write them without commas between thousands",
                self.numbers, self.filled
            )
        })
    }
}

impl EntityTable {
    /// Reads a table. `entities` has the kinds; rows without a kind are of the kind `default`.
    ///
    /// # Errors
    /// If the file cannot be read, no column has ids, an id is empty or repeated, a kind is unknown, there are more than
    /// [`MOST_FEATURES`] features, the name of one has a byte of value 0, or two have a column of evidence of the same name.
    pub fn read(
        table: &TableSource,
        entities: &Entities,
        default: KindId,
    ) -> Result<EntityTable, ListError> {
        let (path, names) = (table.path(), table.columns()?);
        let id = seeds::id_column(table, &names)?;
        let kind = names.iter().position(|name| name.eq_ignore_ascii_case("kind"));
        let is_feature = |at: &usize| *at != id && Some(*at) != kind;
        let features: Vec<usize> = (0..names.len()).filter(is_feature).collect();
        if features.len() > MOST_FEATURES {
            let sentence = format!(
                "the table has {} columns of features, and {MOST_FEATURES} are the most: leave some out",
                features.len()
            );
            return Err(ReadError::content(path, Place::File, sentence).into());
        }
        let columns: Vec<&str> = features.iter().map(|&at| &*names[at]).collect();
        if let Some(name) = columns.iter().find(|name| name.contains('\0')) {
            let sentence = format!(
                "the name of the column `{}` has a byte of value 0: rename it",
                name.escape_debug()
            );
            return Err(ReadError::content(path, Place::File, sentence).into());
        }
        let cells = cells(table, &columns)?;
        let types: Vec<Type> = cells.iter().map(Cells::of_type).collect();
        let mut reading = Reading::new(&columns, &types, entities)?;
        let mut all = vec![&*names[id]];
        all.extend(kind.map(|at| &*names[at]));
        all.extend(&columns);
        for batch in table.open(&all)? {
            let batch = batch?;
            let text = |at: usize| {
                let column = batch.columns.column(at);
                texts(column).ok_or_else(|| unfit(path, &all, at, column))
            };
            let ids = text(0)?;
            let kinds = kind.map(|_| text(1)).transpose()?;
            for row in 0..batch.columns.num_rows() {
                let place = batch.places.of(row);
                let kind = match kinds.as_ref().and_then(|kinds| field(kinds, row)) {
                    None => default,
                    Some(name) => entities.find_kind(name).ok_or_else(|| ListError::Kind {
                        path: path.into(),
                        place,
                        kind: name.into(),
                        known: entities.kinds().to_vec(),
                    })?,
                };
                let bad = |sentence: String| ReadError::content(path, place, sentence);
                let id = field(&ids, row);
                let id = id.ok_or_else(|| bad(format!("the column `{}` is empty", all[0])))?;
                reading.add(kind, id).map_err(|error| match error {
                    Refused::Repeated => ListError::from(bad(format!(
                        "{} {id} has a row already: keep one row for each entity",
                        entities.kind_name(kind)
                    ))),
                    Refused::Entity(error) => error.into(),
                })?;
            }
            let refused = |error: OutOfMemory| ReadError {
                path: path.into(),
                place: Place::File,
                kind: error.into(),
            };
            let first = all.len() - columns.len();
            for (at, values) in reading.values.iter_mut().enumerate() {
                let column = batch.columns.column(first + at);
                let known = values.extend(column).map_err(refused)?;
                if !known {
                    return Err(unfit(path, &all, first + at, column).into());
                }
            }
        }
        let mut table = reading.finish(path, &columns)?;
        let of_cells = columns.iter().zip(&cells).filter_map(|(column, cells)| cells.note(column));
        table.notes.extend(of_cells.map(|note| format!("{}: {note}", path.display())));
        Ok(table)
    }

    /// Returns the features, in the order of their columns.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u32 {
        self.rows.len()
    }

    /// Returns the vertex of each row; `None` as long as no transaction has named it.
    pub fn vertices(&self) -> &[Option<VertexId>] {
        &self.vertices
    }

    /// Returns notes for the user: what was left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Looks the rows up that no transaction had named so far. Vertices never change, so that others stay.
    pub fn refresh(&mut self, entities: &Entities) {
        for (row, vertex) in (0..).zip(&mut self.vertices) {
            if vertex.is_none() {
                *vertex = entities.find(self.rows.kind_of(row), self.rows.id_of(row));
            }
        }
    }

    /// Returns the number of rows that no transaction has named, and kind and id of the first of them.
    pub fn never_seen(&self) -> (u64, Option<String>) {
        let mut unseen = (0..).zip(&self.vertices).filter(|(_, vertex)| vertex.is_none());
        let name = |row: u32| format!("{} {}", self.rows.kind_name_of(row), self.rows.id_of(row));
        let first = unseen.next().map(|(row, _)| name(row));
        (u64::from(first.is_some()) + unseen.count() as u64, first)
    }

    /// Returns the bytes that it occupies.
    pub fn bytes(&self) -> u64 {
        let of = |feature: &Feature| match &feature.values {
            FeatureValues::Numbers(values) => 4 * values.capacity(),
            FeatureValues::Categories { codes, counts } => {
                4 * (codes.capacity() + counts.capacity())
            }
        };
        let features: usize = self.features.iter().map(of).sum();
        self.rows.bytes() + (8 * self.vertices.capacity() + features) as u64
    }
}

/// Refuses features that have a column of evidence of the same name, as `age` and `age_of_partners` have.
fn check_columns(path: &Path, features: &[Feature]) -> Result<(), ListError> {
    let mut of: HashMap<String, &str> = HashMap::new();
    for feature in features {
        for column in feature.columns() {
            if let Some(other) = of.get(&column) {
                let sentence = format!(
                    "the columns `{other}` and `{}` would both be the evidence `{column}`: rename one of them",
                    feature.name
                );
                return Err(ReadError::content(path, Place::File, sentence).into());
            }
            of.insert(column, &feature.name);
        }
    }
    Ok(())
}

/// Returns a cell's text; `None` if it is empty.
fn field(texts: &StringArray, row: usize) -> Option<&str> {
    (!texts.is_null(row) && !texts.value(row).is_empty()).then(|| texts.value(row))
}

fn unfit(path: &Path, names: &[&str], at: usize, column: &ArrayRef) -> SourceError {
    SourceError::ColumnType {
        origin: path.display().to_string(),
        column: names.get(at).copied().unwrap_or_default().into(),
        found: column.data_type().to_string(),
        expected: "ids, kinds and features are strings, numbers or truth values",
    }
}

/// Returns a text as a number: `None` if it is neither a number nor empty, and [`MISSING`] if it is not finite.
fn number(text: &str) -> Option<f32> {
    let text = text.trim();
    match text.is_empty() {
        true => Some(MISSING),
        false => text.parse::<f64>().ok().map(finite),
    }
}

/// Returns a text as days since 1970; `None` if it is neither a date nor a time.
fn days(text: &str) -> Option<f32> {
    let time: Timestamp = text.parse().ok()?;
    Some((time.0 as f64 / Span::DAY.micros() as f64) as f32)
}

/// Returns `true` as 1 and `false` as 0, in upper or lower case; `None` for all other texts.
fn boolean(text: &str) -> Option<f32> {
    let text = text.trim();
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") { Some(1.0) } else { is("false").then_some(0.0) }
}

fn finite(value: f64) -> f32 {
    if value.is_finite() { value.clamp(-LARGEST, LARGEST) as f32 } else { MISSING }
}

/// Returns the numbers of a column; `None` if its type is not numeric.
fn numbers(column: &ArrayRef) -> Option<Vec<f32>> {
    macro_rules! of {
        ($type:ty) => {{
            let all = column.as_primitive::<$type>().iter();
            Some(all.map(|value| value.map_or(MISSING, |value| finite(value as f64))).collect())
        }};
    }
    match column.data_type() {
        DataType::Float32 => of!(Float32Type),
        DataType::Float64 => of!(Float64Type),
        DataType::Int8 => of!(Int8Type),
        DataType::Int16 => of!(Int16Type),
        DataType::Int32 => of!(Int32Type),
        DataType::Int64 => of!(Int64Type),
        DataType::UInt8 => of!(UInt8Type),
        DataType::UInt16 => of!(UInt16Type),
        DataType::UInt32 => of!(UInt32Type),
        DataType::UInt64 => of!(UInt64Type),
        DataType::Boolean => {
            let all = column.as_boolean().iter();
            Some(
                all.map(|value| value.map_or(MISSING, |value| f32::from(u8::from(value))))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// Counts the cells of text columns; columns of numbers have none.
fn cells(table: &TableSource, columns: &[&str]) -> Result<Vec<Cells>, ListError> {
    let mut cells = vec![Cells::default(); columns.len()];
    if columns.is_empty() {
        return Ok(cells);
    }
    for batch in table.open(columns)? {
        let batch = batch?;
        for (at, of) in cells.iter_mut().enumerate() {
            let column = batch.columns.column(at);
            if numbers(column).is_some() {
                continue;
            }
            of.categories |= matches!(column.data_type(), DataType::Dictionary(..));
            let texts = texts(column).ok_or_else(|| unfit(table.path(), columns, at, column))?;
            (0..texts.len()).filter_map(|row| field(&texts, row)).for_each(|text| of.add(text));
        }
    }
    Ok(cells)
}

/// Values of a column that is being read.
enum Values {
    /// Numbers, and how a text is one.
    Numbers(Vec<f32>, fn(&str) -> Option<f32>),
    Categories {
        codes: Vec<u32>,
        known: HashMap<String, u32>,
        counts: Vec<u32>,
    },
    /// It has too many categories.
    TooMany,
}

impl Values {
    /// Appends the values of a batch; false if the column's type is not supported.
    fn extend(&mut self, column: &ArrayRef) -> Result<bool, OutOfMemory> {
        if let Values::Numbers(values, number) = self {
            let batch = match numbers(column) {
                Some(numbers) => numbers,
                None => {
                    let Some(texts) = texts(column) else { return Ok(false) };
                    let of = |row| field(&texts, row).and_then(*number).unwrap_or(MISSING);
                    (0..texts.len()).map(of).collect()
                }
            };
            memory::extend(values, &batch)?;
            return Ok(true);
        }
        let Some(texts) = texts(column) else { return Ok(false) };
        for row in 0..texts.len() {
            let Values::Categories { codes, known, counts } = self else { return Ok(true) };
            let Some(text) = field(&texts, row) else {
                memory::push(codes, NO_CATEGORY)?;
                continue;
            };
            let code = match known.get(text) {
                Some(&code) => code,
                None => {
                    let code = counts.len() as u32;
                    if counts.len() >= MOST_CATEGORIES {
                        *self = Values::TooMany;
                        return Ok(true);
                    }
                    let refused = |_| OutOfMemory::of::<(String, u32)>(counts.len() + 1);
                    known.try_reserve(1).map_err(refused)?;
                    known.insert(text.to_owned(), code);
                    memory::push(counts, 0)?;
                    code
                }
            };
            counts[code as usize] += 1;
            memory::push(codes, code)?;
        }
        Ok(true)
    }
}

/// Table that is being read.
struct Reading {
    rows: Entities,
    values: Vec<Values>,
}

enum Refused {
    Repeated,
    Entity(EntityError),
}

impl Reading {
    fn new(columns: &[&str], types: &[Type], entities: &Entities) -> Result<Reading, EntityError> {
        let mut rows = Entities::new();
        // The same numbers of kinds.
        for kind in entities.kinds() {
            rows.kind(kind)?;
        }
        let of = |of: &Type| match of {
            Type::Numbers => Values::Numbers(Vec::new(), number),
            Type::Dates => Values::Numbers(Vec::new(), days),
            Type::Booleans => Values::Numbers(Vec::new(), boolean),
            Type::Categories => {
                Values::Categories { codes: Vec::new(), known: HashMap::new(), counts: Vec::new() }
            }
        };
        let values = types.iter().take(columns.len()).map(of).collect();
        Ok(Reading { rows, values })
    }

    fn add(&mut self, kind: KindId, id: &str) -> Result<(), Refused> {
        if self.rows.find(kind, id).is_some() {
            return Err(Refused::Repeated);
        }
        self.rows.intern(kind, id).map(|_| ()).map_err(Refused::Entity)
    }

    fn finish(self, path: &Path, columns: &[&str]) -> Result<EntityTable, ListError> {
        let (mut features, mut constant, mut large) = (Vec::new(), Vec::new(), Vec::new());
        for (&name, values) in columns.iter().zip(self.values) {
            let values = match values {
                Values::Numbers(values, _) if values.windows(2).all(|two| two[0] == two[1]) => {
                    constant.push(name);
                    continue;
                }
                Values::Categories { codes, counts, .. }
                    if counts.is_empty() || counts.len() == 1 && !codes.contains(&NO_CATEGORY) =>
                {
                    constant.push(name);
                    continue;
                }
                Values::TooMany => {
                    large.push(name);
                    continue;
                }
                Values::Numbers(values, _) => FeatureValues::Numbers(values),
                Values::Categories { codes, counts, .. } => {
                    FeatureValues::Categories { codes, counts }
                }
            };
            features.push(Feature { name: name.into(), values });
        }
        check_columns(path, &features)?;
        let mut notes = Vec::new();
        let mut say = |names: &[&str], why: String| {
            if !names.is_empty() {
                let which = if names.len() == 1 { "the column is" } else { "the columns are" };
                let shown = names.join("`, `");
                notes.push(format!("{}: {which} left out, {why}: `{shown}`", path.display()));
            }
        };
        say(&constant, "all cells being equal".into());
        say(&large, format!("with more than {MOST_CATEGORIES} categories"));
        if features.is_empty() {
            notes.push(format!("{}: the table has no features", path.display()));
        }
        let rows = self.rows.len() as usize;
        let vertices = memory::filled(None, rows).map_err(EntityError::from)?;
        Ok(EntityTable { features, rows: self.rows, vertices, notes })
    }
}
