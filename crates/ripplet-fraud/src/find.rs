//! A search for entities in a run folder: in which windows and clusters each was, and when it was known to be bad.
//!
//! All entities are found, members of a cluster or not: the tables of each window are read once, some rows at a time.
//! Memory: those that are found, with their windows.

use crate::Timestamp;
use crate::folder::{ACTIVE, ENTITIES, FolderError, RunFolder, WindowRecord};
use crate::output::Whereabouts;
use crate::output::tables::{Kind, Table, names, numbers, reals, times};
use crate::source::{self, SourceError};
use crate::time::BadTime;
use arrow_array::cast::AsArray;
use arrow_array::{BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array};
use hashbrown::HashMap;
use ripplet_graph::VertexId;
use ripplet_io::WriteError;
use ripplet_io::write::Target;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Query {
    /// An id, or a part of one.
    pub text: String,
    /// Whether ids match that contain the text, in upper or lower case.
    pub part: bool,
    /// The kind of entities; all kinds without one.
    pub kind: Option<String>,
    /// The most entities that are found; others are counted.
    pub most: usize,
}

/// What a search finds.
#[derive(Clone, Debug, Default)]
pub struct FoundEntities {
    /// The entities, in the order in which the run saw them first.
    pub entities: Vec<FoundEntity>,
    /// Entities that match beyond the most that were asked for.
    pub others: u64,
    /// The kinds of all entities of the run, in the order in which the run saw them first.
    pub kinds: Vec<String>,
}

/// An entity, and where it was.
#[derive(Clone, Debug)]
pub struct FoundEntity {
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Each window in which it has transactions with others or is known to be bad, ascending.
    pub sightings: Vec<Sighting>,
}

/// Where an entity was in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// The number of the window, from 0.
    pub window: u32,
    /// The name of the window's folder.
    pub folder: String,
    /// The window's first instant.
    pub from: Timestamp,
    /// The first instant behind it.
    pub until: Timestamp,
    /// Its cluster, if it is in one.
    pub membership: Option<Membership>,
    /// Whether it has transactions in the window.
    pub active: bool,
    /// Whether a transaction up to the window's end names it.
    pub seen: bool,
    /// Whether it was known to be bad when the window ended.
    pub known_bad: bool,
}

/// An entity's place in a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Membership {
    /// The cluster.
    pub cluster: String,
    /// The cluster's rank in the window.
    pub rank: Option<u32>,
    /// How suspicious the entity is.
    pub score: f64,
}

/// A search that ended early.
#[derive(Debug, Error)]
pub enum FindError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A table cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A window without tables of entities.
    #[error(
        "{} is not there: an older version of ripplet, which kept no table of all entities, wrote this run",
        .0.display()
    )]
    OlderRun(PathBuf),
    /// A table with another column than a run writes.
    #[error("{}: this is no table of a run: the column `{column}` is of another type", path.display())]
    Damaged {
        /// The table.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// Somebody wanted it to end.
    #[error("interrupted")]
    Cancelled,
}

/// Searches all windows of a run for entities. `cancelled` is called again and again, and ends the search when it says so.
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
        vertices: Vec::new(),
        found: FoundEntities::default(),
    };
    for (at, record) in windows.iter().enumerate() {
        search.window(&folder.window(record), record, at + 1 == windows.len())?;
    }
    Ok(search.found)
}

struct Search<'a> {
    query: &'a Query,
    /// The text in lower case, if ids are to contain it.
    part: Option<String>,
    cancelled: &'a dyn Fn() -> bool,
    place_of: HashMap<(String, String), usize>,
    /// The numbers of those found that have transactions, ascending, and their places.
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
        let now = Sighting {
            window: record.index,
            folder: record.folder.clone(),
            from: record.from.parse().map_err(damaged)?,
            until: record.until.parse().map_err(damaged)?,
            membership: None,
            active: false,
            seen: true,
            known_bad: false,
        };
        self.entities(folder)?;
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

    /// Returns the place of an entity, which is taken in if there is room for it.
    fn take(&mut self, kind: &str, id: &str) -> Option<usize> {
        let key = (kind.to_owned(), id.to_owned());
        let place = self.found.entities.len();
        match self.place_of.get(&key) {
            Some(&known) => Some(known),
            None if place == self.query.most => None,
            None => {
                let (kind, id) = key.clone();
                self.found.entities.push(FoundEntity { kind, id, sightings: Vec::new() });
                self.place_of.insert(key, place);
                Some(place)
            }
        }
    }

    /// Takes in a kind of the run; there are fewer than 255.
    fn see_kind(&mut self, kind: &str) {
        if !self.found.kinds.iter().any(|known| known == kind) {
            self.found.kinds.push(kind.into());
        }
    }

    /// Reads who is in the window for the first time.
    fn entities(&mut self, folder: &Path) -> Result<(), FindError> {
        let path = folder.join(ENTITIES);
        if !path.exists() {
            return Err(FindError::OlderRun(path));
        }
        let columns = ["vertex", "kind", "id"];
        each_batch(&path, &columns, self.cancelled, |batch| {
            let vertices = batch.numbers(0)?;
            let (kinds, ids) = (batch.texts(1)?, batch.texts(2)?);
            for row in 0..batch.rows() {
                self.see_kind(kinds.value(row));
                if !self.matches(kinds.value(row), ids.value(row)) {
                    continue;
                }
                match self.take(kinds.value(row), ids.value(row)) {
                    Some(place) => self.vertices.push((vertices.value(row), place)),
                    None => self.found.others += 1,
                }
            }
            Ok(())
        })
    }

    /// Reads whether those found have transactions in the window.
    fn active(&mut self, folder: &Path, now: &Sighting) -> Result<(), FindError> {
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
            places.into_iter().for_each(|place| self.sighting(place, now).active = true);
            (first, done) = (end, done + here);
            Ok(())
        })
    }

    /// Reads which of those who match are known to be bad, also if no transaction names them.
    fn known_bad(&mut self, folder: &Path, now: &Sighting, last: bool) -> Result<(), FindError> {
        let path = folder.join("known_bad.parquet");
        each_batch(&path, &["kind", "id", "place"], self.cancelled, |batch| {
            let (kinds, ids, places) = (batch.texts(0)?, batch.texts(1)?, batch.texts(2)?);
            for row in 0..batch.rows() {
                self.see_kind(kinds.value(row));
                if !self.matches(kinds.value(row), ids.value(row)) {
                    continue;
                }
                let seen = places.value(row) != Whereabouts::NeverSeen.name();
                match self.take(kinds.value(row), ids.value(row)) {
                    Some(place) => {
                        let sighting = self.sighting(place, now);
                        (sighting.known_bad, sighting.seen) = (true, seen);
                    }
                    // Those that were seen are counted where they were seen first.
                    None => self.found.others += u64::from(last && !seen),
                }
            }
            Ok(())
        })
    }

    /// Reads the clusters of those found.
    fn members(&mut self, folder: &Path, now: &Sighting) -> Result<(), FindError> {
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
                    let (cluster, score) = (clusters.value(row).to_owned(), scores.value(row));
                    self.sighting(place, now).membership =
                        Some(Membership { cluster, rank: None, score });
                }
            }
            Ok(())
        })
    }

    /// Reads the ranks of these clusters.
    fn ranks(&mut self, folder: &Path, now: &Sighting) -> Result<(), FindError> {
        let last = self.found.entities.iter_mut().filter_map(|entity| entity.sightings.last_mut());
        let here = last.filter(|sighting| sighting.window == now.window);
        let mut of_cluster: HashMap<String, Vec<&mut Membership>> = HashMap::new();
        for membership in here.filter_map(|sighting| sighting.membership.as_mut()) {
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

    /// What is known of an entity in this window.
    fn sighting(&mut self, place: usize, now: &Sighting) -> &mut Sighting {
        let sightings = &mut self.found.entities[place].sightings;
        if sightings.last().is_none_or(|last| last.window != now.window) {
            sightings.push(now.clone());
        }
        let last = sightings.len() - 1;
        &mut sightings[last]
    }
}

/// Some rows of a table of a run.
struct Batch<'a> {
    path: &'a Path,
    names: &'a [&'static str],
    columns: RecordBatch,
}

/// Calls `take` for some rows of a table after others.
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

    fn flags(&self, place: usize) -> Result<&BooleanArray, FindError> {
        self.columns.column(place).as_boolean_opt().ok_or_else(|| self.damaged(place))
    }
}

impl Sighting {
    /// Where it is, in the words of the table `known_bad`.
    pub fn place(&self) -> &'static str {
        match &self.membership {
            Some(_) => "in a cluster",
            None if self.active => Whereabouts::NoCluster.name(),
            None if self.seen => Whereabouts::NoTransactions.name(),
            None => Whereabouts::NeverSeen.name(),
        }
    }
}

const COLUMNS: [(&str, Kind, bool); 10] = [
    ("window", Kind::Number, false),
    ("from", Kind::Time, false),
    ("until", Kind::Time, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("place", Kind::Name, false),
    ("cluster", Kind::Name, true),
    ("rank", Kind::Number, true),
    ("score", Kind::Real, true),
    ("known_bad", Kind::Flag, false),
];

/// Writes a table of what was found: a row for each entity and window.
///
/// # Errors
/// If neither the name nor the format that was said is a table's, or the operating system refuses.
pub fn write_found<'a>(
    target: impl Into<Target<'a>>,
    found: &FoundEntities,
) -> Result<(), WriteError> {
    let mut table = Table::create(target, &COLUMNS)?;
    let rows = |entity: &'_ FoundEntity| entity.sightings.len();
    for entity in found.entities.iter().filter(|entity| rows(entity) > 0) {
        let all = || entity.sightings.iter();
        let member = || all().map(|sighting| sighting.membership.as_ref());
        let clusters = member().map(|member| member.map(|member| &member.cluster));
        table.append(vec![
            numbers(all().map(|sighting| sighting.window)),
            times(all().map(|sighting| Some(sighting.from))),
            times(all().map(|sighting| Some(sighting.until))),
            names(all().map(|_| &entity.kind)),
            names(all().map(|_| &entity.id)),
            names(all().map(|sighting| sighting.place())),
            Arc::new(clusters.collect::<StringArray>()),
            Arc::new(member().map(|member| member?.rank).collect::<UInt32Array>()),
            reals(member().map(|member| member.map(|member| member.score))),
            Arc::new(all().map(|sighting| Some(sighting.known_bad)).collect::<BooleanArray>()),
        ])?;
    }
    table.finish()
}
