//! Tables of a window: clusters, their members, payments among members, and clusters that ended.
//!
//! The columns are described in `docs/fraud-report.md`; their order and kinds do not change.

use super::reasons::{path_text, transactions_text};
use super::{Edge, Explanation, WindowFindings, edges_among};
use crate::findings::NO_SEED;
use crate::ledger::Payment;
use crate::{Amount, Cluster, ClusterId, Member, Timestamp};
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float32Array, Float64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_io::WriteError;
use ripplet_io::write::{RecordWriter, Target};
use std::path::Path;
use std::sync::Arc;
use std::{io, iter};

/// Rows in a batch.
pub(super) const ROWS: usize = 1 << 15;

/// Writes the table of clusters, by rank.
///
/// # Errors
/// If the path has no table extension, or the operating system refuses.
pub fn write_clusters(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, from, until } = Window::of(found);
    let scale = found.window.graph.weight_scale();
    let explanation =
        |cluster: &Cluster| found.explained?.clusters.get(cluster.rank.checked_sub(1)? as usize);
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
            reals(rows.clone().map(|cluster| Some(cluster.chance))),
            Arc::new(
                rows.clone().map(|cluster| Some(found.is_noise(cluster))).collect::<BooleanArray>(),
            ),
            names(rows.clone().map(|cluster| found.why(cluster))),
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
            reals(rows.clone().map(|cluster| Some(cluster.suspicion))),
            of_reason(rows.clone().map(&explanation), 0),
            of_reason(rows.clone().map(&explanation), 1),
            of_reason(rows.clone().map(&explanation), 2),
            Arc::new(
                rows.clone()
                    .map(|cluster| path_text(found, explanation(cluster)?))
                    .collect::<StringArray>(),
            ),
        ])?;
    }
    table.finish()
}

/// Returns the column of the reasons at one place, in words.
fn of_reason<'a>(
    explanations: impl Iterator<Item = Option<&'a Explanation>>,
    place: usize,
) -> ArrayRef {
    let reason = |of: Option<&Explanation>| Some(of?.reasons.get(place)?.sentence());
    Arc::new(explanations.map(reason).collect::<StringArray>())
}

/// Writes the table of reasons: why the entities with the highest scores have them, by rank. It has no rows without a
/// model.
///
/// # Errors
/// See [`write_clusters`].
pub fn write_reasons(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let (entities, clusters) = (found.entities, found.cluster_of_members());
    let mut table = Table::create(path, &REASONS)?;
    let all = found.explained.map_or(&[][..], |explained| &explained.entities);
    for part in all.chunks(ROWS) {
        let rows = part.iter();
        let vertices = part.iter().map(|(vertex, _)| *vertex);
        let explanations = part.iter().map(|(_, explanation)| explanation);
        let score = |vertex| found.scores?.of(vertex);
        let paths = explanations.clone().map(|of| of.path.as_ref());
        let hops = paths.clone().map(|path| Some(path?.vertices.len() as u32 - 1));
        table.append(vec![
            numbers(rows.map(|_| index)),
            some_numbers(vertices.clone().map(|vertex| Some(score(vertex)?.1))),
            names(vertices.clone().map(|vertex| entities.kind_name_of(vertex))),
            names(vertices.clone().map(|vertex| entities.id_of(vertex))),
            narrow(vertices.clone().map(|vertex| Some(score(vertex)?.0))),
            Arc::new(
                vertices
                    .map(|vertex| clusters.get(&vertex).map(ToString::to_string))
                    .collect::<StringArray>(),
            ),
            of_reason(explanations.clone().map(Some), 0),
            of_reason(explanations.clone().map(Some), 1),
            of_reason(explanations.clone().map(Some), 2),
            some_numbers(hops),
            Arc::new(paths.map(|path| Some(path?.along_ties)).collect::<BooleanArray>()),
            Arc::new(explanations.clone().map(|of| path_text(found, of)).collect::<StringArray>()),
            names(explanations.map(|of| transactions_text(found, of))),
        ])?;
    }
    table.finish()
}

/// Writes the table of members: by rank of the cluster, then by score.
///
/// # Errors
/// See [`write_clusters`].
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
            narrow(rows.clone().map(|member| Some(found.scores?.of(member.vertex)?.0))),
            some_numbers(rows.clone().map(|member| Some(found.scores?.of(member.vertex)?.1))),
        ])?;
    }
    table.finish()
}

/// Writes the table of clusters that ended since the previous window, ascending.
///
/// # Errors
/// See [`write_clusters`].
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

/// Writes the table of known bad entities, each with its cluster or state.
///
/// # Errors
/// See [`write_clusters`].
pub fn write_known_bad(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let entities = found.entities;
    let mut table = Table::create(path, &KNOWN_BAD)?;
    for known in found.known_bad_places().chunks(ROWS) {
        let clusters = known.iter().map(|known| known.place.cluster().map(|id| id.to_string()));
        table.append(vec![
            numbers(known.iter().map(|_| index)),
            names(known.iter().map(|known| entities.kind_name(known.kind))),
            names(known.iter().map(|known| known.id)),
            names(known.iter().map(|known| known.place.name())),
            Arc::new(clusters.collect::<StringArray>()),
        ])?;
    }
    table.finish()
}

/// Writes the table of payments among the members of each cluster: by rank of the cluster, then by pair.
///
/// # Errors
/// See [`write_clusters`].
pub fn write_edges(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let entities = found.entities;
    let decimals = decimals_of(found);
    let mut table = Table::create(path, &edge_columns(decimals))?;
    for edges in edges_of_clusters(found) {
        for part in edges.chunks(ROWS) {
            let rows = part.iter();
            let edges = part.iter().map(|(_, edge)| edge);
            let flows = edges.clone().map(|edge| edge.flow);
            table.append(vec![
                numbers(rows.clone().map(|_| index)),
                names(rows.map(|(id, _)| id.to_string())),
                names(edges.clone().map(|edge| entities.kind_name_of(edge.source))),
                names(edges.clone().map(|edge| entities.id_of(edge.source))),
                names(edges.clone().map(|edge| entities.kind_name_of(edge.target))),
                names(edges.clone().map(|edge| entities.id_of(edge.target))),
                reals(edges.map(|edge| Some(edge.weight))),
                counts(flows.clone().map(|flow| flow.map(|flow| flow.count))),
                amounts(flows.clone().map(|flow| flow.and_then(|flow| flow.amount)), decimals),
                times(flows.clone().map(|flow| flow.map(|flow| flow.first))),
                times(flows.map(|flow| flow.map(|flow| flow.last))),
            ])?;
        }
    }
    table.finish()
}

/// Writes the table of single transactions on these edges: by rank of the cluster, then by pair, then by
/// time.
///
/// # Errors
/// See [`write_clusters`].
pub fn write_transactions(path: &Path, found: WindowFindings<'_>) -> Result<(), WriteError> {
    let Window { index, .. } = Window::of(found);
    let decimals = decimals_of(found);
    let mut table = Table::create(path, &transaction_columns(decimals))?;
    for edges in edges_of_clusters(found) {
        let mut rest = &*edges;
        while !rest.is_empty() {
            // Take edges until a batch of rows is full, and at least one.
            let mut rows = 0;
            let fits = rest.iter().take_while(|(_, edge)| {
                rows += edge.flow.map_or(0, |flow| flow.count);
                rows <= ROWS as u64
            });
            let (part, others) = rest.split_at(fits.count().max(1));
            rest = others;
            let payments = |&(cluster, edge): &(ClusterId, Edge)| {
                let newest = found.ledger.newest(edge.source, edge.target, usize::MAX);
                newest.into_iter().rev().map(move |payment| (cluster, edge, payment))
            };
            let waiting: Vec<_> = part.par_iter().flat_map_iter(payments).collect();
            for rows in waiting.chunks(ROWS) {
                table.append(transaction_rows(found, index, rows, decimals))?;
            }
        }
    }
    table.finish()
}

fn transaction_rows(
    found: WindowFindings<'_>,
    index: u32,
    rows: &[(ClusterId, Edge, Payment)],
    decimals: u8,
) -> Vec<ArrayRef> {
    let entities = found.entities;
    let edges = || rows.iter().map(|(_, edge, _)| edge);
    let payments = || rows.iter().map(|(_, _, payment)| payment);
    vec![
        numbers(rows.iter().map(|_| index)),
        names(rows.iter().map(|(id, _, _)| id.to_string())),
        names(edges().map(|edge| entities.kind_name_of(edge.source))),
        names(edges().map(|edge| entities.id_of(edge.source))),
        names(edges().map(|edge| entities.kind_name_of(edge.target))),
        names(edges().map(|edge| entities.id_of(edge.target))),
        times(payments().map(|payment| Some(payment.time))),
        amounts(payments().map(|payment| payment.amount), decimals),
    ]
}

/// Iterates over the edges among the members of each cluster, by rank; a block of clusters is computed in
/// parallel.
fn edges_of_clusters(found: WindowFindings<'_>) -> impl Iterator<Item = Vec<(ClusterId, Edge)>> {
    let mut clusters = found.clusters();
    let part = move || {
        let (mut part, mut edges) = (Vec::new(), 0);
        while edges < ROWS as u64
            && let Some((cluster, members)) = clusters.next()
        {
            edges += cluster.edges.max(1);
            part.push((cluster, members));
        }
        (!part.is_empty()).then_some(part)
    };
    iter::from_fn(part).map(move |part| {
        let edges = |(cluster, members): (&Cluster, &[Member])| {
            let mut vertices: Vec<VertexId> = members.iter().map(|member| member.vertex).collect();
            vertices.sort_unstable();
            let edges = edges_among(&found.window.graph, &vertices, found.ledger);
            let id = cluster.id;
            edges.into_iter().map(move |edge| (id, edge))
        };
        part.into_par_iter().flat_map_iter(edges).collect()
    })
}

/// Returns the decimals of a column of amounts; any value fits if all are null.
fn decimals_of(found: WindowFindings<'_>) -> u8 {
    found.ledger.decimals().unwrap_or(0) as u8
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Name,
    Number,
    Count,
    Real,
    Narrow,
    Signed,
    Long,
    Flag,
    Time,
    /// A decimal with this many digits after the point.
    Amount(u8),
}

impl Kind {
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Kind::Name => DataType::Utf8,
            Kind::Number => DataType::UInt32,
            Kind::Count => DataType::UInt64,
            Kind::Real => DataType::Float64,
            Kind::Narrow => DataType::Float32,
            Kind::Signed => DataType::Int32,
            Kind::Long => DataType::Int64,
            Kind::Flag => DataType::Boolean,
            Kind::Amount(decimals) => DataType::Decimal128(DIGITS, decimals as i8),
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }
}

pub(super) const CLUSTERS: [(&str, Kind, bool); 26] = [
    ("window", Kind::Number, false),
    ("from", Kind::Time, false),
    ("until", Kind::Time, false),
    ("cluster", Kind::Name, false),
    ("rank", Kind::Number, false),
    ("score", Kind::Real, false),
    ("chance", Kind::Real, false),
    ("noise", Kind::Flag, false),
    ("why", Kind::Name, false),
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
    ("suspicion", Kind::Real, false),
    ("reason_1", Kind::Name, true),
    ("reason_2", Kind::Name, true),
    ("reason_3", Kind::Name, true),
    ("path", Kind::Name, true),
];

pub(super) const MEMBERS: [(&str, Kind, bool); 13] = [
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
    ("entity_score", Kind::Narrow, true),
    ("entity_rank", Kind::Number, true),
];

pub(super) const REASONS: [(&str, Kind, bool); 13] = [
    ("window", Kind::Number, false),
    ("rank", Kind::Number, true),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("score", Kind::Narrow, true),
    ("cluster", Kind::Name, true),
    ("reason_1", Kind::Name, true),
    ("reason_2", Kind::Name, true),
    ("reason_3", Kind::Name, true),
    ("hops", Kind::Number, true),
    ("along_ties", Kind::Flag, true),
    ("path", Kind::Name, true),
    ("transactions", Kind::Name, false),
];

const ENDED: [(&str, Kind, bool); 3] =
    [("window", Kind::Number, false), ("cluster", Kind::Name, false), ("into", Kind::Name, true)];

pub(super) const KNOWN_BAD: [(&str, Kind, bool); 5] = [
    ("window", Kind::Number, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("place", Kind::Name, false),
    ("cluster", Kind::Name, true),
];

/// Decimal precision that holds any amount: 64 bits, with a margin for sums.
const DIGITS: u8 = 38;

fn edge_columns(decimals: u8) -> [(&'static str, Kind, bool); 11] {
    [
        ("window", Kind::Number, false),
        ("cluster", Kind::Name, false),
        ("source_kind", Kind::Name, false),
        ("source", Kind::Name, false),
        ("target_kind", Kind::Name, false),
        ("target", Kind::Name, false),
        ("weight", Kind::Real, false),
        ("count", Kind::Count, true),
        ("amount", Kind::Amount(decimals), true),
        ("first", Kind::Time, true),
        ("last", Kind::Time, true),
    ]
}

fn transaction_columns(decimals: u8) -> [(&'static str, Kind, bool); 8] {
    [
        ("window", Kind::Number, false),
        ("cluster", Kind::Name, false),
        ("source_kind", Kind::Name, false),
        ("source", Kind::Name, false),
        ("target_kind", Kind::Name, false),
        ("target", Kind::Name, false),
        ("time", Kind::Time, false),
        ("amount", Kind::Amount(decimals), true),
    ]
}

/// Columns that are constant in a table.
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

/// Table that is being written.
pub(crate) struct Table<'a> {
    path: &'a Path,
    schema: SchemaRef,
    rows: RecordWriter,
}

impl<'a> Table<'a> {
    /// Creates a table of columns: name, kind, and whether they may be null.
    pub(crate) fn create(
        target: impl Into<Target<'a>>,
        columns: &[(&str, Kind, bool)],
    ) -> Result<Table<'a>, WriteError> {
        let target = target.into();
        let schema = schema_of(columns);
        let rows = RecordWriter::create(target, schema.clone())?;
        Ok(Table { path: target.path(), schema, rows })
    }

    pub(crate) fn append(&mut self, columns: Vec<ArrayRef>) -> Result<(), WriteError> {
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let refused =
            |error| WriteError { path: self.path.into(), source: io::Error::other(error) };
        self.rows.append(&batch.map_err(refused)?)
    }

    pub(crate) fn finish(self) -> Result<(), WriteError> {
        self.rows.finish()
    }
}

/// Returns the schema of columns: name, kind, and whether they may be null.
pub(crate) fn schema_of(columns: &[(&str, Kind, bool)]) -> SchemaRef {
    let field =
        |&(name, kind, nullable): &(&str, Kind, bool)| Field::new(name, kind.data_type(), nullable);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

pub(crate) fn numbers(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

pub(crate) fn names(values: impl Iterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn counts(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.collect::<UInt64Array>())
}

pub(crate) fn reals(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

/// Formats exact amounts.
fn amounts(values: impl Iterator<Item = Option<Amount>>, decimals: u8) -> ArrayRef {
    let units = values.map(|value| value.map(|amount| i128::from(amount.units)));
    let kind = Kind::Amount(decimals).data_type();
    Arc::new(units.collect::<Decimal128Array>().with_data_type(kind))
}

pub(crate) fn narrow(values: impl Iterator<Item = Option<f32>>) -> ArrayRef {
    Arc::new(values.collect::<Float32Array>())
}

pub(crate) fn some_numbers(values: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    Arc::new(values.collect::<UInt32Array>())
}

pub(crate) fn times(values: impl Iterator<Item = Option<Timestamp>>) -> ArrayRef {
    let values = values.map(|value| value.map(|time| time.0));
    Arc::new(values.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
}
