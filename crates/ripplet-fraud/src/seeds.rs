//! Who is known to be bad, and from when until when that is known; and who is trusted.
//!
//! Both are tables (`.csv`, `.tsv`, `.parquet`, `.arrow`) with a column `id`, and, where they are there, `kind` (else
//! all are of the kind of the transactions' sources), `from` and `until` (else always). An entry is known from the
//! instant `from` on, so a window knows of those with `from` before its end, and not after `until`.

use crate::entities::{EntityError, KindId};
use crate::source::decode::{is_empty, texts};
use crate::source::{self, SourceError, files};
use crate::{Entities, Timestamp};
use arrow_array::{Array, StringArray};
use ripplet_graph::VertexId;
use ripplet_io::{Place, ReadError, check_plain};
use std::path::Path;
use thiserror::Error;

/// The black list: who is known to be bad, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownBad {
    /// Its entries, in their order.
    pub entries: Vec<Listed>,
}

/// The white list: who is trusted whatever is near.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trusted {
    /// Its entries, in their order.
    pub entries: Vec<Listed>,
}

/// An entry of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The kind of entity.
    pub kind: KindId,
    /// Its id.
    pub id: String,
    /// Since when it is known; always, where nothing is said.
    pub from: Option<Timestamp>,
    /// Until when; for ever, where nothing is said.
    pub until: Option<Timestamp>,
}

/// A list that cannot be read.
#[derive(Debug, Error)]
pub enum ListError {
    /// The file cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It has no column of ids.
    #[error("{}: there is no column `id`, which names the entities; the columns are {}", path.display(), known.join(", "))]
    NoIds {
        /// The file.
        path: std::path::PathBuf,
        /// Its columns.
        known: Vec<String>,
    },
    /// It has a kind that the mapping does not know.
    #[error("{}{place}: the kind `{kind}` is none of the mapping's: {}", path.display(), known.join(", "))]
    Kind {
        /// The file.
        path: std::path::PathBuf,
        /// Where in it.
        place: Place,
        /// The kind.
        kind: String,
        /// The mapping's.
        known: Vec<String>,
    },
    /// Too many kinds.
    #[error(transparent)]
    Entity(#[from] EntityError),
}

impl From<ReadError> for ListError {
    fn from(error: ReadError) -> ListError {
        ListError::Source(error.into())
    }
}

/// Bytes of a list at most, and of the entries that are kept of it: some ten million accounts.
pub const LARGEST_LIST: u64 = 1 << 30;

/// Returns the SHA-256 of a list, in hexadecimal.
///
/// # Errors
/// If it cannot be read, is no plain file, or has more than [`LARGEST_LIST`] bytes.
pub(crate) fn fingerprint(path: &Path) -> Result<String, ListError> {
    check_plain(path)?;
    if std::fs::metadata(path).is_ok_and(|found| found.len() > LARGEST_LIST) {
        return Err(too_large(path));
    }
    Ok(files::fingerprint(path)?.0)
}

fn too_large(path: &Path) -> ListError {
    let sentence = format!(
        "a list has at most {} MiB, here and unpacked: expected a table with a column `id`",
        LARGEST_LIST >> 20
    );
    ReadError::content(path, Place::File, sentence).into()
}

/// Reads a list; `entities` has the kinds, and those that name none are of the kind `default`.
///
/// # Errors
/// Where the file cannot be read, an id is empty, a kind is unknown, or a time is none.
pub fn read(path: &Path, entities: &Entities, default: KindId) -> Result<Vec<Listed>, ListError> {
    let there = source::columns_of(path)?;
    if !there.iter().any(|name| name == "id") {
        return Err(ListError::NoIds { path: path.into(), known: there });
    }
    let optional = ["kind", "from", "until"];
    let mut columns = vec!["id"];
    columns.extend(optional.into_iter().filter(|name| there.iter().any(|known| known == name)));
    let (mut entries, mut kept) = (Vec::new(), 0);
    for batch in source::open_file(path, &columns)? {
        let batch = batch?;
        let column = |name: &str| -> Result<Option<StringArray>, SourceError> {
            let Some(place) = columns.iter().position(|known| *known == name) else {
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
                column.map(|column| column.value(row).trim().to_owned())
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
            kept += (size_of::<Listed>() + id.len()) as u64;
            if kept > LARGEST_LIST {
                return Err(too_large(path));
            }
            entries.push(Listed { kind, id, from, until });
        }
    }
    Ok(entries)
}

impl Listed {
    /// Whether it holds at an instant.
    pub fn holds_at(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// Who of a list holds at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// The vertices, ascending, each once.
    pub vertices: Vec<VertexId>,
    /// Kind and id of entries that hold but name nobody who was seen so far, ascending, each once.
    pub unseen: Vec<(KindId, String)>,
}

pub(crate) fn holding(entries: &[Listed], entities: &Entities, at: Timestamp) -> Holding {
    let mut holding = Holding::default();
    for entry in entries.iter().filter(|entry| entry.holds_at(at)) {
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
    /// Who is known to be bad at an instant: of a window, at its last one ([`Window::range`](crate::Window)'s
    /// `until` is the first behind it, and what is known from then on is not known yet).
    pub fn at(&self, entities: &Entities, at: Timestamp) -> Holding {
        holding(&self.entries, entities, at)
    }

    /// Who is known to be bad when a window ends.
    pub fn at_end_of(&self, entities: &Entities, range: crate::TimeRange) -> Holding {
        self.at(entities, Timestamp(range.until.0.saturating_sub(1)))
    }
}

impl Trusted {
    /// Who is trusted at an instant.
    pub fn at(&self, entities: &Entities, at: Timestamp) -> Holding {
        holding(&self.entries, entities, at)
    }

    /// Who is trusted when a window ends.
    pub fn at_end_of(&self, entities: &Entities, range: crate::TimeRange) -> Holding {
        self.at(entities, Timestamp(range.until.0.saturating_sub(1)))
    }
}
