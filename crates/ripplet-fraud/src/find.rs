//! Search for entities in a run folder: windows, scores and clusters of each entity, and when it was known to be bad.
//!
//! The search covers all entities, whether or not they are members of a cluster. It reads the tables of each
//! window once, in batches. Memory: the entities found, with their windows.

use crate::Timestamp;
use crate::folder::{ACTIVE, ENTITIES, FolderError, RunFolder, WindowRecord};
use crate::output::KnownBadStatus;
use crate::output::tables::{Kind, names, narrow, numbers, reals, schema_of, some_numbers, times};
use crate::source::{self, SourceError};
use crate::time::BadTime;
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, RecordBatch, StringArray,
    UInt32Array,
};
use arrow_schema::{ArrowError, SchemaRef};
use hashbrown::HashMap;
use ripplet_graph::VertexId;
use ripplet_io::WriteError;
use ripplet_io::write::{RecordWriter, Target};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Query of a search.
#[derive(Clone, Debug)]
pub struct Query {
    /// An id, or a part of one.
    pub text: String,
    /// Whether an id matches if it contains the text, ignoring case.
    pub part: bool,
    /// Kind of entities; all kinds if `None`.
    pub kind: Option<String>,
    /// Limit on the entities that are returned; the others are counted.
    pub most: usize,
}

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct FoundEntities {
    /// Entities, in the order in which the run first saw them.
    pub entities: Vec<FoundEntity>,
    /// Number of matching entities beyond the limit.
    pub others: u64,
    /// Kinds of all entities of the run, in the order in which the run first saw them.
    pub kinds: Vec<String>,
    /// Number of windows of the run.
    pub windows: u32,
    /// Number of windows whose entities have no score: those of a run without a model.
    pub without_scores: u32,
    /// Number of windows whose scores are a fixed combination of the evidence, drawn towards the known bad if there are any, as
    /// too few were known bad to hold one out: they rank, and are no probabilities.
    pub not_learnt: u32,
}

/// Entity with its windows.
#[derive(Clone, Debug)]
pub struct FoundEntity {
    /// Kind of the entity.
    pub kind: String,
    /// Id of the entity.
    pub id: String,
    /// Windows in which it has transactions with others or is known to be bad, ascending.
    pub occurrences: Vec<Occurrence>,
}

/// State of an entity in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Occurrence {
    /// Number of the window, from 0.
    pub window: u32,
    /// Name of the window's folder.
    pub folder: String,
    /// First instant of the window.
    pub from: Timestamp,
    /// First instant after the window.
    pub until: Timestamp,
    /// Its score and rank, in a cluster or not; `None` without transactions with others, and without a model.
    pub score: Option<EntityScore>,
    /// Its cluster, if it is a member of one.
    pub membership: Option<Membership>,
    /// Whether it has transactions in the window.
    pub active: bool,
    /// Whether a transaction up to the window's end names it.
    pub seen: bool,
    /// Whether it was known to be bad when the window ended.
    pub known_bad: bool,
}

/// Score of an entity in a window, as its table of entities has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityScore {
    /// Probability that it is on the list of known bad, which is too low for one that it is bad by about the share of the bad
    /// that is listed; in a window whose scores were not learnt, it ranks and is no probability.
    pub probability: f32,
    /// Rank among all entities of the window, from 1.
    pub rank: u32,
}

/// Cluster of an entity in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Membership {
    /// Id of the cluster.
    pub cluster: String,
    /// Rank of the cluster in the window.
    pub rank: Option<u32>,
    /// Suspicion of the entity: the excess of its ties and the labels that reach it, not its probability.
    pub suspicion: f64,
}

/// Error of a search.
#[derive(Debug, Error)]
pub enum FindError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A table cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A window has no tables of entities.
    #[error(
        "{} is not there: an older version of ripplet, which kept no table of all entities, wrote this run",
        .0.display()
    )]
    OlderRun(PathBuf),
    /// A table lacks the type of column that a run writes.
    #[error("{}: this is no table of a run: the column `{column}` is of another type", path.display())]
    Damaged {
        /// The table.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// The search was cancelled.
    #[error("interrupted")]
    Cancelled,
}

/// Error of a search that finds no entity.
#[derive(Clone, Debug, Error)]
pub enum NotFound {
    /// No entity of the run is of the kind.
    #[error("no window of {} has an entity of kind {kind}", folder.display())]
    Kind {
        /// The run folder.
        folder: PathBuf,
        /// The kind of the query.
        kind: String,
        /// Kinds of the run.
        kinds: Vec<String>,
    },
    /// No entity of the run has the id.
    #[error("no window of {} has an {}", folder.display(), wanted(.query))]
    Id {
        /// The run folder.
        folder: PathBuf,
        /// The query.
        query: Query,
    },
}

/// Returns the entity that a query is about, in words.
fn wanted(query: &Query) -> String {
    let Query { text, part, kind, .. } = query;
    let kind = kind.as_ref().map_or("entity".into(), |kind| format!("entity of kind {kind}"));
    let whose = if *part { "whose id contains" } else { "with the id" };
    format!("{kind} {whose} `{text}`")
}

impl NotFound {
    /// Returns what to do, as a sentence without a period; `part` is how the caller writes [`Query::part`].
    pub fn help(&self, part: &str) -> String {
        match self {
            NotFound::Kind { kinds, .. } => {
                format!("the kinds of the run are {}", kinds.join(", "))
            }
            NotFound::Id { query: Query { part: true, .. }, .. } => {
                "see that the folder is that of the run that you mean".into()
            }
            NotFound::Id { .. } => {
                format!("ids must match exactly; {part} finds all that contain a text")
            }
        }
    }
}

/// Searches all windows of a run for entities. `cancelled` is polled; the search ends if it returns true.
///
/// # Errors
/// If a table cannot be read, or the search is cancelled.
pub fn find(
    folder: &RunFolder,
    query: &Query,
    cancelled: &dyn Fn() -> bool,
) -> Result<FoundEntities, FindError> {
    let windows = folder.finished()?;
    let mut search = Search {
        part: query.part.then(|| query.text.to_lowercase()),
        query,
        cancelled,
        place_of: HashMap::new(),
        seen: 0,
        vertices: Vec::new(),
        found: FoundEntities::default(),
    };
    for (at, record) in windows.iter().enumerate() {
        search.window(&folder.window(record), record, at + 1 == windows.len())?;
    }
    Ok(search.found)
}

impl FoundEntities {
    /// Returns the entities, if there is one; `folder` and `query` are those of the search.
    ///
    /// # Errors
    /// If there is none: the kind or the id that no entity has.
    pub fn or_not_found(
        self,
        folder: &RunFolder,
        query: &Query,
    ) -> Result<FoundEntities, NotFound> {
        if !self.entities.is_empty() {
            return Ok(self);
        }
        let folder = folder.path().to_owned();
        Err(match &query.kind {
            Some(kind) if !self.kinds.contains(kind) => {
                NotFound::Kind { folder, kind: kind.clone(), kinds: self.kinds }
            }
            _ => NotFound::Id { folder, query: query.clone() },
        })
    }

    /// Returns what is to be known beside the rows: entities beyond the limit, windows without probabilities, and
    /// entities without rows. `most` is how the caller writes [`Query::most`], up to its number.
    pub fn notes(&self, most: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if self.others > 0 {
            let all = self.entities.len() as u64 + self.others;
            notes.push(format!("{} other entities match: {most}{all} shows them", self.others));
        }
        if self.without_scores > 0 {
            let which = match self.windows - self.without_scores {
                0 => "the run has".to_owned(),
                _ => format!("{} of {} windows have", self.without_scores, self.windows),
            };
            notes.push(format!(
                "{which} no probabilities and ranks of entities (--model none, or an older version of ripplet); suspicion \
                 is that of members of clusters"
            ));
        }
        if self.not_learnt > 0 {
            let which = match self.windows - self.not_learnt {
                0 => "all windows".to_owned(),
                _ => format!("{} of {} windows", self.not_learnt, self.windows),
            };
            notes.push(format!(
                "in {which}, scores are a fixed combination of the evidence, drawn towards the known bad if there are any, as too few \
                 of these, or no others, have transactions there to hold one out (or by --model FILE): they rank, and are no probabilities"
            ));
        }
        let without = self.entities.iter().filter(|entity| entity.occurrences.is_empty());
        notes.extend(without.map(|FoundEntity { kind, id, .. }| {
            format!("the {kind} {id} has no transaction with another entity in any window")
        }));
        notes
    }

    /// Returns the schema of the table of found entities: `window`, `from`, `until`, `kind`, `id`, `place`,
    /// `probability`, `entity_rank`, `cluster`, `cluster_rank`, `suspicion` and `known_bad`.
    pub fn schema() -> SchemaRef {
        schema_of(&COLUMNS)
    }

    /// Iterates over the table: a row for each entity and window, and a batch for each entity with rows.
    ///
    /// # Errors
    /// If Arrow refuses a batch.
    pub fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
        let schema = FoundEntities::schema();
        let with_rows = self.entities.iter().filter(|entity| !entity.occurrences.is_empty());
        with_rows.map(move |entity| RecordBatch::try_new(schema.clone(), entity.columns()))
    }
}

struct Search<'a> {
    query: &'a Query,
    /// The text in lower case, if ids need only contain it.
    part: Option<String>,
    cancelled: &'a dyn Fn() -> bool,
    place_of: HashMap<(String, String), usize>,
    /// Number of entities seen up to the window before.
    seen: VertexId,
    /// Vertices of the found entities with transactions, ascending, with their indices.
    vertices: Vec<(VertexId, usize)>,
    found: FoundEntities,
}

impl Search<'_> {
    fn window(
        &mut self,
        folder: &Path,
        record: &WindowRecord,
        last: bool,
    ) -> Result<(), FindError> {
        let damaged = |why: BadTime| FolderError::Damaged {
            path: folder.join("window.json"),
            why: why.to_string(),
        };
        let now = Occurrence {
            window: record.index,
            folder: record.folder.clone(),
            from: record.from.parse().map_err(damaged)?,
            until: record.until.parse().map_err(damaged)?,
            score: None,
            membership: None,
            active: false,
            seen: true,
            known_bad: false,
        };
        self.found.windows += 1;
        self.found.without_scores += u32::from(record.scores.is_none());
        self.found.not_learnt += u32::from(record.scores.as_ref().is_some_and(|of| !of.learnt));
        self.entities(folder, &now, record.scores.is_some())?;
        self.seen = record.vertices;
        self.active(folder, &now)?;
        self.known_bad(folder, &now, last)?;
        self.members(folder, &now)?;
        self.ranks(folder, &now)
    }

    fn matches(&self, kind: &str, id: &str) -> bool {
        let text = match &self.part {
            Some(part) => id.to_lowercase().contains(part.as_str()),
            None => id == self.query.text,
        };
        text && self.query.kind.as_ref().is_none_or(|wanted| wanted == kind)
    }

    /// Returns the index of an entity, adding it if the limit allows.
    fn take(&mut self, kind: &str, id: &str) -> Option<usize> {
        let key = (kind.to_owned(), id.to_owned());
        let place = self.found.entities.len();
        match self.place_of.get(&key) {
            Some(&known) => Some(known),
            None if place == self.query.most => None,
            None => {
                let (kind, id) = key.clone();
                self.found.entities.push(FoundEntity { kind, id, occurrences: Vec::new() });
                self.place_of.insert(key, place);
                Some(place)
            }
        }
    }

    /// Adds a kind of the run; there are fewer than 255.
    fn see_kind(&mut self, kind: &str) {
        if !self.found.kinds.iter().any(|known| known == kind) {
            self.found.kinds.push(kind.into());
        }
    }

    /// Reads the entities that are seen for the first time in the window, and the scores of all found ones, if there
    /// are any.
    fn entities(
        &mut self,
        folder: &Path,
        now: &Occurrence,
        has_scores: bool,
    ) -> Result<(), FindError> {
        let path = folder.join(ENTITIES);
        if !path.exists() {
            return Err(FindError::OlderRun(path));
        }
        let columns = ["vertex", "kind", "id", "score", "rank"];
        let columns = &columns[..if has_scores { 5 } else { 3 }];
        each_batch(&path, columns, self.cancelled, |batch| {
            let vertices = batch.numbers(0)?;
            let (kinds, ids) = (batch.texts(1)?, batch.texts(2)?);
            let scores = match has_scores {
                true => Some((batch.narrow(3)?, batch.numbers(4)?)),
                false => None,
            };
            for row in 0..batch.rows() {
                let vertex = vertices.value(row);
                let place = if vertex < self.seen {
                    let found = self.vertices.binary_search_by_key(&vertex, |&(vertex, _)| vertex);
                    found.ok().map(|at| self.vertices[at].1)
                } else {
                    self.new_entity(vertex, kinds.value(row), ids.value(row))
                };
                let (Some(place), Some((scores, ranks))) = (place, scores) else { continue };
                // Both are null without transactions with others.
                if !scores.is_null(row) && !ranks.is_null(row) {
                    let (probability, rank) = (scores.value(row), ranks.value(row));
                    self.occurrence(place, now).score = Some(EntityScore { probability, rank });
                }
            }
            Ok(())
        })
    }

    /// Takes an entity that is seen for the first time, if it matches; returns its index.
    fn new_entity(&mut self, vertex: VertexId, kind: &str, id: &str) -> Option<usize> {
        self.see_kind(kind);
        if !self.matches(kind, id) {
            return None;
        }
        let place = self.take(kind, id);
        match place {
            Some(place) => self.vertices.push((vertex, place)),
            None => self.found.others += 1,
        }
        place
    }

    /// Reads which found entities have transactions in the window.
    fn active(&mut self, folder: &Path, now: &Occurrence) -> Result<(), FindError> {
        let path = folder.join(ACTIVE);
        let (mut first, mut done) = (0u64, 0);
        each_batch(&path, &["active"], self.cancelled, |batch| {
            let flags = batch.flags(0)?;
            let left = &self.vertices[done..];
            let end = first + batch.rows() as u64;
            let here = left.partition_point(|&(vertex, _)| u64::from(vertex) < end);
            let is_active = |vertex: VertexId| {
                let row = u64::from(vertex).checked_sub(first).map(|row| row as usize);
                row.is_some_and(|row| row < flags.len() && flags.value(row))
            };
            let these = left[..here].iter().filter(|&&(vertex, _)| is_active(vertex));
            let places: Vec<usize> = these.map(|&(_, place)| place).collect();
            places.into_iter().for_each(|place| self.occurrence(place, now).active = true);
            (first, done) = (end, done + here);
            Ok(())
        })
    }

    /// Reads which matching entities are known to be bad, even if no transaction names them.
    fn known_bad(&mut self, folder: &Path, now: &Occurrence, last: bool) -> Result<(), FindError> {
        let path = folder.join("known_bad.parquet");
        each_batch(&path, &["kind", "id", "place"], self.cancelled, |batch| {
            let (kinds, ids, places) = (batch.texts(0)?, batch.texts(1)?, batch.texts(2)?);
            for row in 0..batch.rows() {
                self.see_kind(kinds.value(row));
                if !self.matches(kinds.value(row), ids.value(row)) {
                    continue;
                }
                let seen = places.value(row) != KnownBadStatus::NeverSeen.name();
                match self.take(kinds.value(row), ids.value(row)) {
                    Some(place) => {
                        let occurrence = self.occurrence(place, now);
                        (occurrence.known_bad, occurrence.seen) = (true, seen);
                    }
                    // Entities that were seen are counted in the window that saw them first.
                    None => self.found.others += u64::from(last && !seen),
                }
            }
            Ok(())
        })
    }

    /// Reads the clusters of the found entities.
    fn members(&mut self, folder: &Path, now: &Occurrence) -> Result<(), FindError> {
        let path = folder.join("members.parquet");
        let columns = ["kind", "id", "cluster", "score"];
        each_batch(&path, &columns, self.cancelled, |batch| {
            let (kinds, ids, clusters) = (batch.texts(0)?, batch.texts(1)?, batch.texts(2)?);
            let scores = batch.reals(3)?;
            for row in 0..batch.rows() {
                if !self.matches(kinds.value(row), ids.value(row)) {
                    continue;
                }
                let key = (kinds.value(row).to_owned(), ids.value(row).to_owned());
                if let Some(&place) = self.place_of.get(&key) {
                    let (cluster, suspicion) = (clusters.value(row).to_owned(), scores.value(row));
                    self.occurrence(place, now).membership =
                        Some(Membership { cluster, rank: None, suspicion });
                }
            }
            Ok(())
        })
    }

    /// Reads the ranks of these clusters.
    fn ranks(&mut self, folder: &Path, now: &Occurrence) -> Result<(), FindError> {
        let last =
            self.found.entities.iter_mut().filter_map(|entity| entity.occurrences.last_mut());
        let here = last.filter(|occurrence| occurrence.window == now.window);
        let mut of_cluster: HashMap<String, Vec<&mut Membership>> = HashMap::new();
        for membership in here.filter_map(|occurrence| occurrence.membership.as_mut()) {
            of_cluster.entry(membership.cluster.clone()).or_default().push(membership);
        }
        if of_cluster.is_empty() {
            return Ok(());
        }
        let path = folder.join("clusters.parquet");
        each_batch(&path, &["cluster", "rank"], self.cancelled, |batch| {
            let (clusters, ranks) = (batch.texts(0)?, batch.numbers(1)?);
            for row in 0..batch.rows() {
                for membership in of_cluster.get_mut(clusters.value(row)).into_iter().flatten() {
                    membership.rank = Some(ranks.value(row));
                }
            }
            Ok(())
        })
    }

    /// Returns the record of an entity in this window.
    fn occurrence(&mut self, place: usize, now: &Occurrence) -> &mut Occurrence {
        let occurrences = &mut self.found.entities[place].occurrences;
        if occurrences.last().is_none_or(|last| last.window != now.window) {
            occurrences.push(now.clone());
        }
        let last = occurrences.len() - 1;
        &mut occurrences[last]
    }
}

/// Batch of rows of a table of a run.
struct Batch<'a> {
    path: &'a Path,
    names: &'a [&'static str],
    columns: RecordBatch,
}

/// Calls `take` for each batch of a table.
fn each_batch(
    path: &Path,
    names: &[&'static str],
    cancelled: &dyn Fn() -> bool,
    mut take: impl FnMut(&Batch<'_>) -> Result<(), FindError>,
) -> Result<(), FindError> {
    for rows in source::open_file(path, names)? {
        if cancelled() {
            return Err(FindError::Cancelled);
        }
        take(&Batch { path, names, columns: rows?.columns })?;
    }
    Ok(())
}

impl Batch<'_> {
    fn rows(&self) -> usize {
        self.columns.num_rows()
    }

    fn damaged(&self, place: usize) -> FindError {
        FindError::Damaged { path: self.path.into(), column: self.names[place] }
    }

    fn texts(&self, place: usize) -> Result<&StringArray, FindError> {
        self.columns.column(place).as_string_opt().ok_or_else(|| self.damaged(place))
    }

    fn numbers(&self, place: usize) -> Result<&UInt32Array, FindError> {
        self.columns.column(place).as_primitive_opt().ok_or_else(|| self.damaged(place))
    }

    fn reals(&self, place: usize) -> Result<&Float64Array, FindError> {
        self.columns.column(place).as_primitive_opt().ok_or_else(|| self.damaged(place))
    }

    fn narrow(&self, place: usize) -> Result<&Float32Array, FindError> {
        self.columns.column(place).as_primitive_opt().ok_or_else(|| self.damaged(place))
    }

    fn flags(&self, place: usize) -> Result<&BooleanArray, FindError> {
        self.columns.column(place).as_boolean_opt().ok_or_else(|| self.damaged(place))
    }
}

impl Occurrence {
    /// Returns its state in the words of the table `known_bad`.
    pub fn place(&self) -> &'static str {
        match &self.membership {
            Some(_) => "in a cluster",
            None if self.active => KnownBadStatus::NoCluster.name(),
            None if self.seen => KnownBadStatus::NoTransactions.name(),
            None => KnownBadStatus::NeverSeen.name(),
        }
    }
}

const COLUMNS: [(&str, Kind, bool); 12] = [
    ("window", Kind::Number, false),
    ("from", Kind::Time, false),
    ("until", Kind::Time, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("place", Kind::Name, false),
    ("probability", Kind::Narrow, true),
    ("entity_rank", Kind::Number, true),
    ("cluster", Kind::Name, true),
    ("cluster_rank", Kind::Number, true),
    ("suspicion", Kind::Real, true),
    ("known_bad", Kind::Flag, false),
];

impl FoundEntity {
    /// Returns the columns of its rows.
    fn columns(&self) -> Vec<ArrayRef> {
        let all = || self.occurrences.iter();
        let member = || all().map(|occurrence| occurrence.membership.as_ref());
        let clusters = member().map(|member| member.map(|member| &member.cluster));
        vec![
            numbers(all().map(|occurrence| occurrence.window)),
            times(all().map(|occurrence| Some(occurrence.from))),
            times(all().map(|occurrence| Some(occurrence.until))),
            names(all().map(|_| &self.kind)),
            names(all().map(|_| &self.id)),
            names(all().map(|occurrence| occurrence.place())),
            narrow(all().map(|occurrence| Some(occurrence.score?.probability))),
            some_numbers(all().map(|occurrence| Some(occurrence.score?.rank))),
            Arc::new(clusters.collect::<StringArray>()),
            some_numbers(member().map(|member| member?.rank)),
            reals(member().map(|member| Some(member?.suspicion))),
            Arc::new(all().map(|occurrence| Some(occurrence.known_bad)).collect::<BooleanArray>()),
        ]
    }
}

/// Writes the found entities as a table: a row for each entity and window.
///
/// # Errors
/// If neither the name nor the given format is that of a table, or the operating system refuses.
pub fn write_found<'a>(
    target: impl Into<Target<'a>>,
    found: &FoundEntities,
) -> Result<(), WriteError> {
    let target = target.into();
    let mut table = RecordWriter::create(target, FoundEntities::schema())?;
    for batch in found.batches() {
        let refused =
            |error| WriteError { path: target.path().into(), source: io::Error::other(error) };
        table.append(&batch.map_err(refused)?)?;
    }
    table.finish()
}
