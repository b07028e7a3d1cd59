//! Tables of a window: its clusters, their members, their edges, and the clusters that ended.
//!
//! The columns are described in `docs/fraud-report.md`; their order and kinds do not change.

use super::{WindowFindings, edges_among};
use crate::scores::NO_SEED;
use crate::{Member, Timestamp};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
    UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use ripplet_graph::VertexId;
use ripplet_io::WriteError;
use ripplet_io::write::RecordWriter;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows that are appended at a time.
const ROWS: usize = 1 << 15;

/// Writes the table of clusters, by rank.
///
/// # Errors
/// Where the name tells no format of tables, or the operating system refuses.
pub fn write_clusters(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, from, until } = Window::of(found);
    let scale = found.window.graph.weight_scale();
    let mut table = Table::create(path, &CLUSTERS)?;
    for clusters in found.findings.clusters.chunks(ROWS) {
        let rows = clusters.iter();
        let parents = rows.clone().map(|cluster| {
            let names: Vec<String> = cluster.parents.iter().map(ToString::to_string).collect();
            (!names.is_empty()).then(|| names.join(" "))
        });
        table.append(vec![
            numbers(rows.clone().map(|_| index)),
            times(rows.clone().map(|_| Some(from))),
            times(rows.clone().map(|_| Some(until))),
            names(rows.clone().map(|cluster| cluster.id.to_string())),
            numbers(rows.clone().map(|cluster| cluster.rank)),
            reals(rows.clone().map(|cluster| Some(cluster.score))),
            numbers(rows.clone().map(|cluster| cluster.size)),
            numbers(rows.clone().map(|cluster| cluster.seeds)),
            counts(rows.clone().map(|cluster| Some(cluster.edges))),
            reals(rows.clone().map(|cluster| Some(scale.weight(cluster.weight_within)))),
            reals(rows.clone().map(|cluster| Some(scale.weight(cluster.weight_out)))),
            reals(rows.clone().map(|cluster| Some(cluster.density))),
            reals(rows.clone().map(|cluster| Some(cluster.conductance))),
            reals(rows.clone().map(|cluster| cluster.growth)),
            numbers(rows.clone().map(|cluster| cluster.age)),
            times(rows.clone().map(|cluster| Some(cluster.born))),
            names(rows.clone().map(|cluster| cluster.fate.name())),
            Arc::new(parents.collect::<StringArray>()),
        ])?;
    }
    table.finish()
}

/// Writes the table of members: by their clusters' ranks, then by score.
///
/// # Errors
/// As [`write_clusters`].
pub fn write_members(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let (entities, scale) = (found.entities, found.window.graph.weight_scale());
    let mut table = Table::create(path, &MEMBERS)?;
    for members in found.findings.members.chunks(ROWS) {
        let rows = members.iter();
        let distance =
            |member: &Member| Some(member.seed_distance).filter(|&distance| distance != NO_SEED);
        let standing = |vertex| match () {
            () if found.is_known_bad(vertex) => "known bad",
            () if found.is_trusted(vertex) => "trusted",
            () => "unknown",
        };
        table.append(vec![
            numbers(rows.clone().map(|_| index)),
            names(rows.clone().map(|member| member.cluster.to_string())),
            names(rows.clone().map(|member| entities.kind_name_of(member.vertex))),
            names(rows.clone().map(|member| entities.id_of(member.vertex))),
            reals(rows.clone().map(|member| Some(member.score))),
            reals(rows.clone().map(|member| Some(member.share_to_known_bad))),
            Arc::new(rows.clone().map(distance).collect::<UInt32Array>()),
            Arc::new(rows.clone().map(|member| Some(member.known_bad)).collect::<BooleanArray>()),
            names(rows.clone().map(|member| standing(member.vertex))),
            counts(rows.clone().map(|member| Some(member.degree))),
            reals(rows.clone().map(|member| Some(scale.weight(member.strength)))),
        ])?;
    }
    table.finish()
}

/// Writes the table of clusters of the window before that are no more, ascending.
///
/// # Errors
/// As [`write_clusters`].
pub fn write_ended(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let mut table = Table::create(path, &ENDED)?;
    for ended in found.findings.ended.chunks(ROWS) {
        let into = ended.iter().map(|(_, into)| into.map(|id| id.to_string()));
        table.append(vec![
            numbers(ended.iter().map(|_| index)),
            names(ended.iter().map(|(id, _)| id.to_string())),
            Arc::new(into.collect::<StringArray>()),
        ])?;
    }
    table.finish()
}

/// Writes the table of edges between members of one cluster: by the clusters' ranks, then by the ends' numbers.
///
/// # Errors
/// As [`write_clusters`].
pub fn write_edges(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let entities = found.entities;
    let mut table = Table::create(path, &EDGES)?;
    let mut waiting = Vec::new();
    let mut clusters = found.clusters().peekable();
    while let Some((cluster, members)) = clusters.next() {
        let mut vertices: Vec<VertexId> = members.iter().map(|member| member.vertex).collect();
        vertices.sort_unstable();
        let edges = edges_among(&found.window.graph, &vertices, found.dealings_of);
        waiting.extend(edges.into_iter().map(|edge| (cluster.id, edge)));
        if waiting.len() < ROWS && clusters.peek().is_some() {
            continue;
        }
        for part in waiting.chunks(ROWS) {
            let rows = part.iter();
            let edges = part.iter().map(|(_, edge)| edge);
            let dealings = edges.clone().map(|edge| edge.dealings);
            table.append(vec![
                numbers(rows.clone().map(|_| index)),
                names(rows.map(|(id, _)| id.to_string())),
                names(edges.clone().map(|edge| entities.kind_name_of(edge.source))),
                names(edges.clone().map(|edge| entities.id_of(edge.source))),
                names(edges.clone().map(|edge| entities.kind_name_of(edge.target))),
                names(edges.clone().map(|edge| entities.id_of(edge.target))),
                reals(edges.map(|edge| Some(edge.weight))),
                counts(dealings.clone().map(|dealings| dealings.map(|dealings| dealings.count))),
                reals(
                    dealings.clone().map(|dealings| dealings.and_then(|dealings| dealings.amount)),
                ),
                times(dealings.clone().map(|dealings| dealings.map(|dealings| dealings.first))),
                times(dealings.map(|dealings| dealings.map(|dealings| dealings.last))),
            ])?;
        }
        waiting.clear();
    }
    table.finish()
}

/// Columns: their names, what they hold, and whether they may be null.
type Columns = [(&'static str, Kind, bool)];

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Name,
    Number,
    Count,
    Real,
    Narrow,
    Signed,
    Long,
    Flag,
    Time,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Kind::Name => DataType::Utf8,
            Kind::Number => DataType::UInt32,
            Kind::Count => DataType::UInt64,
            Kind::Real => DataType::Float64,
            Kind::Narrow => DataType::Float32,
            Kind::Signed => DataType::Int32,
            Kind::Long => DataType::Int64,
            Kind::Flag => DataType::Boolean,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }
}

const CLUSTERS: [(&str, Kind, bool); 18] = [
    ("window", Kind::Number, false),
    ("from", Kind::Time, false),
    ("until", Kind::Time, false),
    ("cluster", Kind::Name, false),
    ("rank", Kind::Number, false),
    ("score", Kind::Real, false),
    ("size", Kind::Number, false),
    ("known_bad", Kind::Number, false),
    ("edges", Kind::Count, false),
    ("weight_within", Kind::Real, false),
    ("weight_out", Kind::Real, false),
    ("density", Kind::Real, false),
    ("conductance", Kind::Real, false),
    ("growth", Kind::Real, true),
    ("age", Kind::Number, false),
    ("born", Kind::Time, false),
    ("fate", Kind::Name, false),
    ("parents", Kind::Name, true),
];

const MEMBERS: [(&str, Kind, bool); 11] = [
    ("window", Kind::Number, false),
    ("cluster", Kind::Name, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("score", Kind::Real, false),
    ("share_to_known_bad", Kind::Real, false),
    ("seed_distance", Kind::Number, true),
    ("known_bad", Kind::Flag, false),
    ("standing", Kind::Name, false),
    ("degree", Kind::Count, false),
    ("strength", Kind::Real, false),
];

const ENDED: [(&str, Kind, bool); 3] =
    [("window", Kind::Number, false), ("cluster", Kind::Name, false), ("into", Kind::Name, true)];

const EDGES: [(&str, Kind, bool); 11] = [
    ("window", Kind::Number, false),
    ("cluster", Kind::Name, false),
    ("source_kind", Kind::Name, false),
    ("source", Kind::Name, false),
    ("target_kind", Kind::Name, false),
    ("target", Kind::Name, false),
    ("weight", Kind::Real, false),
    ("count", Kind::Count, true),
    ("amount", Kind::Real, true),
    ("first", Kind::Time, true),
    ("last", Kind::Time, true),
];

/// What every row of a table says.
struct Window {
    index: u32,
    from: Timestamp,
    until: Timestamp,
}

impl Window {
    fn of(found: WindowFindings<'_>) -> Window {
        let window = found.window;
        Window { index: window.index, from: window.range.from, until: window.range.until }
    }
}

/// A table that is written.
pub(super) struct Table<'a> {
    path: &'a Path,
    schema: SchemaRef,
    rows: RecordWriter,
}

impl<'a> Table<'a> {
    pub(super) fn create(path: &'a Path, columns: &Columns) -> Result<Table<'a>, WriteError> {
        let field = |&(name, kind, nullable): &(&str, Kind, bool)| {
            Field::new(name, kind.data_type(), nullable)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let rows = RecordWriter::create(path, schema.clone())?;
        Ok(Table { path, schema, rows })
    }

    pub(super) fn append(&mut self, columns: Vec<ArrayRef>) -> Result<(), WriteError> {
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let refused =
            |error| WriteError { path: self.path.into(), source: io::Error::other(error) };
        self.rows.append(&batch.map_err(refused)?)
    }

    pub(super) fn finish(self) -> Result<(), WriteError> {
        self.rows.finish()
    }
}

pub(super) fn numbers(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

pub(super) fn names(values: impl Iterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn counts(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.collect::<UInt64Array>())
}

fn reals(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn times(values: impl Iterator<Item = Option<Timestamp>>) -> ArrayRef {
    let values = values.map(|value| value.map(|time| time.0));
    Arc::new(values.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
}
