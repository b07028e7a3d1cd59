//! Lists of known bad and trusted entities, with the time from which each entry is known.
//!
//! Both are tables (`.csv`, `.tsv`, `.parquet`, `.arrow`) with a column `id` and three optional columns:
//! `kind` (by default that of the transactions' sources), `from` and `until` (by default unlimited). An entry
//! is active from the instant `from` on. So a window uses the entries with `from` before its end and `until`
//! not before it.
//!
//! Without a column `id`, ids are in the column with the best of the [`KNOWN_ID_NAMES`] except `name`, or in
//! the only column if its first row is clearly a header. A note names the column that was read. Ids match
//! those of the transactions exactly.

use crate::entities::{EntityError, KindId};
use crate::source::decode::{is_empty, texts};
use crate::source::{Places, SourceError, TableSource};
use crate::{Entities, Timestamp};
use arrow_array::{Array, StringArray};
use ripplet_graph::VertexId;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_io::{KNOWN_ID_NAMES, Place, ReadError, check_plain};
use std::path::Path;
use thiserror::Error;

/// Deny list: the known bad entities, and when each is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownBad {
    /// Entries, in the order of the file.
    pub entries: Vec<ListEntry>,
}

/// Allow list: entities that are trusted regardless of their partners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trusted {
    /// Entries, in the order of the file.
    pub entries: Vec<ListEntry>,
}

/// Entry of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListEntry {
    /// Kind of the entity.
    pub kind: KindId,
    /// Id of the entity.
    pub id: String,
    /// First instant at which the entry is active; unlimited if `None`.
    pub from: Option<Timestamp>,
    /// First instant at which the entry is no longer active; unlimited if `None`.
    pub until: Option<Timestamp>,
}

/// Error of reading a list.
#[derive(Debug, Error)]
pub enum ListError {
    /// The file cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is ambiguous which column has the ids.
    #[error("{}: {why}; {rows}", path.display())]
    NoIds {
        /// The file.
        path: std::path::PathBuf,
        /// Reason.
        why: String,
        /// The first rows, as a clause.
        rows: String,
    },
    /// A kind that the mapping does not have.
    #[error("{}{place}: the kind `{kind}` is none of the mapping's: {}", path.display(), known.join(", "))]
    Kind {
        /// The file.
        path: std::path::PathBuf,
        /// Position in it.
        place: Place,
        /// The unknown kind.
        kind: String,
        /// Kinds of the mapping.
        known: Vec<String>,
    },
    /// There are too many kinds.
    #[error(transparent)]
    Entity(#[from] EntityError),
}

impl From<ReadError> for ListError {
    fn from(error: ReadError) -> ListError {
        ListError::Source(error.into())
    }
}

/// Lists contradict each other on an entity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Conflict {
    /// It is known to be bad, and trusted.
    #[error(
        "the {kind} `{id}` is known to be bad and trusted at the same time: take it off one list"
    )]
    Trusted {
        /// Kind of the entity.
        kind: String,
        /// Id of the entity.
        id: String,
    },
    /// It is known to be bad, and cleared, from the same instant on.
    #[error(
        "the {kind} `{id}` is known to be bad and cleared from the same time on ({}): take it off one list, or give the \
         entry that holds a later `from`",
        since.map_or("no `from`".into(), |since| since.to_string())
    )]
    Cleared {
        /// Kind of the entity.
        kind: String,
        /// Id of the entity.
        id: String,
        /// The instant; `None` if neither entry has one.
        since: Option<Timestamp>,
    },
}

/// Size limit of a list in bytes, and of the entries kept of it: some ten million accounts.
pub const LARGEST_LIST: u64 = 1 << 30;

/// Returns the SHA-256 of a list, in hexadecimal.
///
/// # Errors
/// If it cannot be read, is no regular file, or has more than [`LARGEST_LIST`] bytes.
pub(crate) fn fingerprint(list: &TableSource) -> Result<String, ListError> {
    if let TableSource::File(path) = list {
        check_plain(path)?;
        if std::fs::metadata(path).is_ok_and(|found| found.len() > LARGEST_LIST) {
            return Err(too_large(path));
        }
    }
    Ok(list.fingerprint()?)
}

fn too_large(path: &Path) -> ListError {
    let sentence = format!(
        "a list has at most {} MiB, here and unpacked: expected a table with a column `id`",
        LARGEST_LIST >> 20
    );
    ReadError::content(path, Place::File, sentence).into()
}

/// List as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// Entries, in the order of the file.
    pub entries: Vec<ListEntry>,
    /// Notes for the user: which columns were read, if that is not obvious, and entries without effect.
    pub notes: Vec<String>,
}

/// Reads a list. `entities` has the kinds; entries without a kind are of the kind `default`.
///
/// # Errors
/// If the file cannot be read, no column has ids, an id is empty, a kind is unknown, or a time is invalid.
pub fn read(list: &TableSource, entities: &Entities, default: KindId) -> Result<List, ListError> {
    let (path, there) = (list.path(), list.columns()?);
    let chosen = Chosen::of(list, &there)?;
    let columns: Vec<&str> = chosen.columns.iter().map(|&(_, at)| &*there[at]).collect();
    let (mut entries, mut kept, mut void) = (Vec::new(), 0, Void::default());
    for batch in list.open(&columns)? {
        let batch = batch?;
        let column = |name: &str| -> Result<Option<StringArray>, SourceError> {
            let Some(place) = chosen.columns.iter().position(|(known, _)| *known == name) else {
                return Ok(None);
            };
            let column = batch.columns.column(place);
            let unfit = || SourceError::ColumnType {
                origin: path.display().to_string(),
                column: name.into(),
                found: column.data_type().to_string(),
                expected: "ids and kinds are strings or integers, and times are timestamps or texts",
            };
            texts(column).map(Some).ok_or_else(unfit)
        };
        let ids = column("id")?;
        let (kinds, from, until) = (column("kind")?, column("from")?, column("until")?);
        let rows = batch.columns.num_rows();
        for row in 0..rows {
            let place = batch.places.of(row);
            let field = |column: &Option<StringArray>| {
                let column = column.as_ref().filter(|column| !is_empty(column, row));
                column.map(|column| column.value(row).to_owned())
            };
            let bad = |sentence: String| ReadError::content(path, place, sentence);
            let time = |name: &str, column: &Option<StringArray>| match field(column) {
                None => Ok(None),
                Some(text) => {
                    let time = text.parse::<Timestamp>();
                    time.map(Some).map_err(|error| bad(format!("{name}: {error}")))
                }
            };
            let id = field(&ids).ok_or_else(|| bad("the column `id` is empty".into()))?;
            let kind = match field(&kinds) {
                None => default,
                Some(kind) => entities.find_kind(&kind).ok_or_else(|| ListError::Kind {
                    path: path.into(),
                    place,
                    kind: kind.clone(),
                    known: entities.kinds().to_vec(),
                })?,
            };
            let (from, until) = (time("from", &from)?, time("until", &until)?);
            kept += (size_of::<ListEntry>() + id.len()) as u64;
            if kept > LARGEST_LIST {
                return Err(too_large(path));
            }
            let refused =
                |error: OutOfMemory| ReadError { path: path.into(), place, kind: error.into() };
            let entry = ListEntry { kind, id, from, until };
            void.count(&entry, place);
            memory::push(&mut entries, entry).map_err(refused)?;
        }
    }
    let empty = || format!("{}: the list has no entries", path.display());
    let notes = chosen.note(path, &there).into_iter();
    let notes = notes.chain(entries.is_empty().then(empty)).chain(void.note(path)).collect();
    Ok(List { entries, notes })
}

/// Entries of a list that are never active.
#[derive(Default)]
struct Void {
    count: u64,
    first: Option<Place>,
}

impl Void {
    fn count(&mut self, entry: &ListEntry, place: Place) {
        if entry.is_void() {
            self.count += 1;
            self.first.get_or_insert(place);
        }
    }

    fn note(&self, path: &Path) -> Option<String> {
        let first = self.first?;
        let entries = if self.count == 1 { "entry never holds" } else { "entries never hold" };
        let count = self.count;
        Some(format!("{}{first}: {count} {entries}: `until` is not after `from`", path.display()))
    }
}

/// Columns of a list that are read, by index.
struct Chosen {
    columns: Vec<(&'static str, usize)>,
}

impl Chosen {
    fn of(list: &TableSource, names: &[String]) -> Result<Chosen, ListError> {
        let path = list.path();
        let mut columns = vec![("id", id_column(list, names)?)];
        for wanted in ["kind", "from", "until"] {
            let of_this = |name: &&String| name.eq_ignore_ascii_case(wanted);
            let exact = names.iter().position(|name| name == wanted);
            let count = names.iter().filter(of_this).count();
            match exact.or_else(|| names.iter().position(|name| of_this(&name))) {
                Some(_) if exact.is_none() && count > 1 => {
                    let (origin, column) = (path.display().to_string(), wanted.into());
                    return Err(SourceError::RepeatedColumn { origin, column, count }.into());
                }
                found => columns.extend(found.map(|at| (wanted, at))),
            }
        }
        Ok(Chosen { columns })
    }

    /// Returns a note on the column with the ids, unless it is called `id` and no column is ignored.
    fn note(&self, path: &Path, names: &[String]) -> Option<String> {
        let id = &names[self.columns[0].1];
        let is_read = |at: usize| self.columns.iter().any(|&(_, read)| read == at);
        let ignored = (0..names.len()).filter(|&at| !is_read(at)).map(|at| names[at].clone());
        let ignored: Vec<String> = ignored.collect();
        let rest = match ignored.len() {
            0 if id == "id" => return None,
            0 => String::new(),
            1 => format!("; the column {} is ignored", shown_row(&ignored)),
            _ => format!("; the columns {} are ignored", shown_row(&ignored)),
        };
        Some(format!("{}: ids are in the column `{id}`{rest}", path.display()))
    }
}

/// Number of known names before `name`, which beside another column is what an account is called.
const BEFORE_NAMES: usize = 3;

/// Returns the index of the column with the ids.
pub(crate) fn id_column(list: &TableSource, names: &[String]) -> Result<usize, ListError> {
    if let Some(exact) = names.iter().position(|name| name == "id") {
        return Ok(exact);
    }
    for known in &KNOWN_ID_NAMES[..BEFORE_NAMES] {
        let is_known = |&at: &usize| known.iter().any(|name| plain(name) == plain(&names[at]));
        match (0..names.len()).filter(is_known).collect::<Vec<_>>()[..] {
            [] => {}
            [only] => return Ok(only),
            [one, other, ..] => {
                let why = format!("`{}` and `{}` may both be the ids", names[one], names[other]);
                return Err(no_ids(list, names, why));
            }
        }
    }
    let why = match names {
        [only] if is_header(list, only)? => return Ok(0),
        [only] => format!("the first row `{only}` may be an id, or the name of a column"),
        _ => "no column is called `id`, or has another known name of ids".into(),
    };
    Err(no_ids(list, names, why))
}

/// Normalizes a column name for comparison.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ':' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

/// Number of rows that decide whether the first is a header, as in edge tables.
const DECISIVE: usize = 4096;

/// Whether the only field of a first row is clearly a header, by the rules of `docs/tables.md`: a word above
/// numbers only, or above at least three codes and nothing else.
fn is_header(list: &TableSource, name: &str) -> Result<bool, ListError> {
    let is_number = |id: &str| id.parse::<f64>().is_ok();
    let digits = |id: &str| id.bytes().filter(u8::is_ascii_digit).count();
    let is_code = |id: &str| digits(id) >= 2 || id.contains('@');
    let Some(batch) = list.open(&[name])?.next() else { return Ok(false) };
    let batch = batch?;
    if matches!(batch.places, Places::Rows(_) | Places::Memory(_)) {
        return Ok(!name.is_empty());
    }
    let Some(ids) = texts(batch.columns.column(0)) else { return Ok(false) };
    let ids: Vec<&str> = (0..ids.len().min(DECISIVE)).map(|row| ids.value(row)).collect();
    let is_word = !name.is_empty() && !is_number(name) && !is_code(name);
    let numbers = ids.iter().all(|id| is_number(id));
    let codes = ids.len() >= 3 && ids.iter().all(|id| !is_number(id) && is_code(id));
    Ok(is_word && (numbers || codes))
}

/// Returns the error of a list in which no column has ids, with its first rows.
fn no_ids(list: &TableSource, names: &[String], why: String) -> ListError {
    let header = shown_row(names);
    let rows = match second_row(list, names) {
        Some(second) => format!("the first two rows are {header} and {}", shown_row(&second)),
        None => format!("the first row is {header}"),
    };
    ListError::NoIds { path: list.path().into(), why, rows }
}

/// Returns the row after the header, if it can be read.
fn second_row(list: &TableSource, names: &[String]) -> Option<Vec<String>> {
    let columns: Vec<&str> = names.iter().take(MOST_SHOWN).map(|name| &**name).collect();
    let batch = list.open(&columns).ok()?.next()?.ok()?;
    let field = |column: &arrow_array::ArrayRef| match texts(column) {
        Some(texts) if !texts.is_empty() && !is_empty(&texts, 0) => texts.value(0).to_owned(),
        _ => String::new(),
    };
    Some(batch.columns.columns().iter().map(field).collect())
}

/// Number of fields of a row that a message shows.
const MOST_SHOWN: usize = 8;

/// Formats the fields of a row for a message.
fn shown_row(fields: &[String]) -> String {
    const LONGEST: usize = 30;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let shown = |field: &String| field.chars().take(LONGEST).map(clean).collect::<String>();
    let all: Vec<String> = fields.iter().take(MOST_SHOWN).map(shown).collect();
    let more = if fields.len() > MOST_SHOWN { ",…" } else { "" };
    format!("`{}{more}`", all.join(","))
}

impl ListEntry {
    /// Whether the entry is never active: its end is not after its beginning.
    pub fn is_void(&self) -> bool {
        self.from.zip(self.until).is_some_and(|(from, until)| until <= from)
    }

    /// Whether the entry is active at an instant.
    pub fn is_active_at(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// Entries of a list that are active at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActiveEntries {
    /// Vertices of active entries, ascending, without duplicates.
    pub vertices: Vec<VertexId>,
    /// Kind and id of active entries that no transaction has named so far, ascending, without duplicates.
    pub unseen: Vec<(KindId, String)>,
}

pub(crate) fn holding(entries: &[ListEntry], entities: &Entities, at: Timestamp) -> ActiveEntries {
    let mut holding = ActiveEntries::default();
    for entry in entries.iter().filter(|entry| entry.is_active_at(at)) {
        match entities.find(entry.kind, &entry.id) {
            Some(vertex) => holding.vertices.push(vertex),
            None => holding.unseen.push((entry.kind, entry.id.clone())),
        }
    }
    holding.vertices.sort_unstable();
    holding.vertices.dedup();
    holding.unseen.sort_unstable();
    holding.unseen.dedup();
    holding
}

impl KnownBad {
    /// Returns the known bad entities at an instant. For a window that is its last instant: `until` of
    /// [`Window::range`](crate::Window) is the first one after it.
    pub fn at(&self, entities: &Entities, at: Timestamp) -> ActiveEntries {
        holding(&self.entries, entities, at)
    }

    /// Returns the known bad entities at the end of a window.
    pub fn at_end_of(&self, entities: &Entities, range: crate::TimeRange) -> ActiveEntries {
        self.at(entities, Timestamp(range.until.0.saturating_sub(1)))
    }
}

impl Trusted {
    /// Returns the trusted entities at an instant.
    pub fn at(&self, entities: &Entities, at: Timestamp) -> ActiveEntries {
        holding(&self.entries, entities, at)
    }

    /// Returns the trusted entities at the end of a window.
    pub fn at_end_of(&self, entities: &Entities, range: crate::TimeRange) -> ActiveEntries {
        self.at(entities, Timestamp(range.until.0.saturating_sub(1)))
    }
}
