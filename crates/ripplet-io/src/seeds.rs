//! Reads seeds: vertices whose cluster is known, such as a deny list.
//!
//! `.txt` is `id [cluster [strength]]` a line, with tabs between the fields if they contain blanks. `.tsv`
//! and `.csv` may have a header; these three may be compressed. `.parquet` and `.arrow` have columns `id`,
//! `cluster` (or `community`, `label`, `group`, or another pair of known names) and `strength`. Clusters may
//! have any names. Without a cluster, each seed is its own cluster, named by its id. Without a strength, it
//! is 1.
//!
//! Memory: 12 bytes a seed, and the clusters' names.

use crate::fault::Fault;
use crate::label_table::push_missing;
use crate::missing::is_missing_name;
use crate::names::NameSet;
use crate::summary::{ReadColumn, grouped};
use crate::vertex_rows::{Form, FoundColumns, Value};
use crate::vertex_table::{Source, vertex_rows};
use crate::{Format, Place, ReadError, ReadOptions};
use ripplet_graph::{Names, VertexId, VertexIds, memory};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// A vertex whose cluster is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedRow {
    /// The vertex.
    pub vertex: VertexId,
    /// Number of its cluster.
    pub cluster: u32,
    /// Confidence from 0 to 1.
    pub strength: f32,
}

/// Seeds of a file.
#[derive(Clone, Debug)]
pub struct Seeds {
    /// The seeds, in the order of the file.
    pub rows: Vec<SeedRow>,
    /// Name of each cluster, in the order of the file: integers if all are.
    pub clusters: VertexIds,
    /// Number of seeds that are no vertices of the graph.
    pub skipped: u64,
    /// Columns and rows that were read.
    pub summary: SeedSummary,
}

/// Summary of a file of seeds.
///
/// Prints as one line: `read 20 seeds: id = "account", community = "ring"; 2 other columns ignored`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedSummary {
    /// Number of seeds that are vertices of the graph.
    pub seeds: u64,
    /// The column of the vertices.
    pub id: ReadColumn,
    /// The column of the clusters; without one, each seed is its own cluster.
    pub cluster: Option<ReadColumn>,
    /// The column of the strengths; without one all are 1.
    pub strength: Option<ReadColumn>,
    /// Whether the table has a header.
    pub header: bool,
    /// Number of other columns.
    pub ignored: usize,
    /// Number of clusters that are a word for a missing value, such as `NA`: they count as names.
    pub missing_names: u64,
}

impl SeedSummary {
    fn of(found: FoundColumns, seeds: usize, missing_names: u64) -> SeedSummary {
        let column = |at: usize| match found.names.as_ref().and_then(|names| names.get(at)) {
            Some(name) if !name.is_empty() => ReadColumn::Name(name.clone()),
            _ => ReadColumn::Number(at + 1),
        };
        let wanted = |at: usize| found.wanted.get(at).copied().flatten().map(column);
        let (id, cluster, strength) = (column(found.id), wanted(0), wanted(1));
        let read = 1 + usize::from(cluster.is_some()) + usize::from(strength.is_some());
        let (header, ignored) = (found.names.is_some(), found.width.saturating_sub(read));
        SeedSummary { seeds: seeds as u64, id, cluster, strength, header, ignored, missing_names }
    }
}

impl fmt::Display for SeedSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seeds = if self.seeds == 1 { "seed" } else { "seeds" };
        write!(f, "read {} {seeds}: id = {}", grouped(self.seeds), self.id)?;
        match &self.cluster {
            Some(cluster) => write!(f, ", community = {cluster}")?,
            None => write!(f, ", each a community")?,
        }
        if let Some(strength) = &self.strength {
            write!(f, ", strength = {strength}")?;
        }
        match self.ignored {
            0 => {}
            1 => write!(f, "; 1 other column ignored")?,
            more => write!(f, "; {} other columns ignored", grouped(more as u64))?,
        }
        if !self.header {
            write!(f, "; no header")?;
        }
        push_missing(f, self.missing_names)
    }
}

/// Behaviour for seeds that are no vertices of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownSeeds {
    /// The first is an error.
    #[default]
    Refuse,
    /// They are counted.
    Skip,
}

/// Known names of the columns of a seed.
pub(crate) const COLUMNS: [&[&str]; 2] =
    [&["cluster", "community", "label", "group"], &["strength"]];

/// Reads seeds; `-` is standard input.
///
/// # Errors
/// If the file cannot be read, a seed is no vertex (unless `unknown` skips it), a vertex is listed twice, or
/// a strength is not from 0 to 1.
///
/// # Examples
/// See [`parse_seeds`].
pub fn read_seeds(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
    unknown: UnknownSeeds,
) -> Result<Seeds, ReadError> {
    seeds(Source::File(path, options), ids, unknown)
}

/// Parses seeds of an uncompressed text in memory, as [`read_seeds`] does; errors name the input `(bytes)`.
///
/// # Errors
/// The errors of [`read_seeds`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, UnknownSeeds, parse_seeds};
///
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let text = b"id,cluster,strength\n0,red,1\n7,red,1\n";
/// let seeds = parse_seeds(text, Format::Csv, &ids, UnknownSeeds::Skip)?;
/// assert_eq!((seeds.rows[0].vertex, seeds.rows[0].strength), (0, 1.0));
/// assert_eq!(seeds.skipped, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_seeds(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
    unknown: UnknownSeeds,
) -> Result<Seeds, ReadError> {
    seeds(Source::Bytes(bytes, format), ids, unknown)
}

fn seeds(source: Source<'_>, ids: &VertexIds, unknown: UnknownSeeds) -> Result<Seeds, ReadError> {
    let read = || {
        let (mut rows, mut skipped, mut missing) = (Vec::new(), 0, 0);
        let mut seen = memory::filled(false, ids.len())?;
        let mut clusters = NameSet::default();
        let found = vertex_rows(source, ids, &COLUMNS, Form::Seeds, |row| {
            let vertex = match (ids.find(row.id), unknown) {
                (Some(vertex), _) => vertex,
                (None, UnknownSeeds::Skip) => {
                    skipped += 1;
                    return Ok(());
                }
                (None, UnknownSeeds::Refuse) => {
                    let id = crate::shown::shown(row.id);
                    // A file whose first row is one without a known name.
                    let header = match row.place {
                        Place::Line(1) => {
                            " (a header begins with `id`: id,cluster or id,cluster,strength)"
                        }
                        _ => "",
                    };
                    let sentence = format!(
                        "the seed `{id}` is no vertex of the graph{header}: --skip-unknown-seeds leaves such seeds out"
                    );
                    return Err(row.fault(sentence));
                }
            };
            if std::mem::replace(&mut seen[vertex as usize], true) {
                return Err(row.fault(format!("vertex {} is a seed twice", ids.get(vertex))));
            }
            let cluster = match row.values[0] {
                None => clusters.number(&row.id.to_string())?,
                Some(Value::Id(name)) => {
                    let name = name.to_string();
                    missing += u64::from(is_missing_name(&name));
                    clusters.number(&name)?
                }
                Some(value) => {
                    let sentence = "is no cluster: expected an integer or a string";
                    return Err(row.fault(format!("`{value}` {sentence}")));
                }
            };
            let strength = row.values[1].map_or(Ok(1.0), Value::f32).ok();
            let strength = strength.filter(|strength| (0.0..=1.0).contains(strength));
            let strength = strength.ok_or_else(|| {
                let value = row.values[1].map(|value| value.to_string()).unwrap_or_default();
                row.fault(format!("`{value}` is no strength: expected a number from 0 to 1"))
            })?;
            Ok(memory::push(&mut rows, SeedRow { vertex, cluster, strength })?)
        })?;
        let summary = SeedSummary::of(found, rows.len(), missing);
        Ok(Seeds { rows, clusters: named(&clusters), skipped, summary })
    };
    read().map_err(|fault: Fault| fault.of(source.path()))
}

/// Returns the names of the clusters, by number.
fn named(clusters: &NameSet) -> VertexIds {
    // Names were read from text, so they are UTF-8.
    let names =
        (0..clusters.len() as u32).map(|number| String::from_utf8_lossy(clusters.name(number)));
    let names: Vec<_> = names.collect();
    let canonical =
        |name: &Cow<'_, str>| name.parse::<u64>().ok().filter(|id| id.to_string() == **name);
    match names.iter().map(canonical).collect::<Option<Vec<u64>>>() {
        Some(integers) => VertexIds::Unsigned(integers.into()),
        None => VertexIds::Names(Names::new(names.iter().map(AsRef::as_ref))),
    }
}
