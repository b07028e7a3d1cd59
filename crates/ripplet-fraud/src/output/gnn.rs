//! A window as arrays for training graph neural networks, in the layout of PyTorch Geometric and DGL.
//!
//! Nodes are the vertices with transactions in the window, and those of findings and lists. They ascend by
//! the run's numbers, and are renumbered from 0. Arcs are both directions of every edge, by source, then by
//! target.
//!
//! ```text
//! edge_index   2 × arcs   i64     edge_weight  arcs  f32     arcs_at  nodes + 1  i64, where a node's arcs begin
//! vertex       nodes      u32     vertex number of the run, the same in all windows
//! kind         nodes      u8      index into kinds
//! y            nodes      i8      1 known bad, 0 trusted, −1 unknown
//! known_mask, train_mask, val_mask, test_mask, member_mask        nodes  bool
//! score        nodes      f32     probability by the window's scorecard; without a model, the suspicion of members, and
//!                                 for other nodes the smallest possible
//! rank         nodes      u32     rank by it, from 1; 0 without a model, or without edges in the window
//! evidence     nodes × kinds f32  values of evidence_names; only with a model
//! share_to_known_bad  nodes  f32, 0 if the node is in no cluster
//! cluster      nodes      i64     the cluster's number, −1 for none
//! seed_distance nodes     i32     −1 if the node is in no cluster, or its cluster has no known bad member
//! id_bytes, id_ends              UTF-8 and where each id ends, u8 and i64
//! ```
//!
//! Memory: 4 bytes per vertex of the run, 40 per node, and 16 per member.

use super::WindowFindings;
use super::tables::{Kind, Table, names, numbers};
use crate::Member;
use crate::detect::FAINT;
use crate::entity_hash::entity_hash;
use crate::entity_table::MISSING;
use crate::findings::NO_SEED;
use arrow_array::{ArrayRef, BooleanArray, Float32Array, Int32Array, Int64Array};
use ripplet_graph::{OutOfMemory, VertexId, memory};
use ripplet_io::WriteError;
use ripplet_io::write::NpzWriter;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Scope of the arrays for graph neural networks: the vertices that become nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GnnScope {
    /// All vertices with transactions in the window, and all known ones.
    #[default]
    Window,
    /// Members of clusters, and the arcs among them.
    Clusters,
}

/// Part of a data set: training, validation or test.
///
/// It depends on the node's kind and id alone, so that a node keeps its part in all windows. The first eight
/// bytes of the SHA-256 of the kind, a zero byte and the id are a big-endian number; modulo 10, the values 0
/// to 7 train, 8 validates, 9 tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Eight of ten.
    Train,
    /// One of ten.
    Validation,
    /// One of ten.
    Test,
}

impl Split {
    /// Returns the part of an entity.
    pub fn of(kind: &str, id: &str) -> Split {
        match entity_hash(kind, id) % 10 {
            9 => Split::Test,
            8 => Split::Validation,
            _ => Split::Train,
        }
    }
}

/// Writes all arrays as one `.npz`.
///
/// # Errors
/// If memory allocation fails, or the operating system refuses.
pub fn write_gnn(
    path: &Path,
    found: WindowFindings<'_>,
    scope: GnnScope,
) -> Result<(), WriteError> {
    let nodes = Nodes::of(path, found, scope)?;
    let (count, arcs) = (nodes.vertices.len() as u64, nodes.arcs());
    let all = 0..nodes.vertices.len();
    let mut out = NpzWriter::create(path)?;
    let sources = nodes.each_arc().map(|arc| i64::from(arc.0));
    let targets = nodes.each_arc().map(|arc| i64::from(arc.1));
    out.array("edge_index", &[2, arcs], sources.chain(targets))?;
    out.array("edge_weight", &[arcs], nodes.each_arc().map(|arc| arc.2))?;
    out.array("arcs_at", &[count + 1], nodes.arcs_at.iter().copied())?;
    out.array("vertex", &[count], nodes.vertices.iter().copied())?;
    out.array("kind", &[count], all.clone().map(|node| nodes.kind(node)))?;
    let kinds: Vec<&str> = found.entities.kinds().iter().map(String::as_str).collect();
    out.texts("kinds", &kinds)?;
    out.array("y", &[count], all.clone().map(|node| nodes.label(node)))?;
    out.array("known_mask", &[count], all.clone().map(|node| nodes.label(node) >= 0))?;
    for (name, split) in SPLITS {
        out.array(name, &[count], all.clone().map(|node| nodes.is_for(node, split)))?;
    }
    out.array("member_mask", &[count], all.clone().map(|node| nodes.member(node).is_some()))?;
    out.array("score", &[count], all.clone().map(|node| nodes.score(node)))?;
    out.array("rank", &[count], all.clone().map(|node| nodes.rank(node)))?;
    if let Some(scores) = found.scores {
        let columns = scores.evidence.columns();
        let none = || vec![0.0; columns.len()];
        // A missing feature of the table of entities is NaN.
        let shown = |value: f32| if value == MISSING { f32::NAN } else { value };
        let values = |node: usize| {
            let values = scores.row(nodes.vertices[node]).unwrap_or_else(none);
            values.into_iter().map(shown)
        };
        out.array("evidence", &[count, columns.len() as u64], all.clone().flat_map(values))?;
        let names: Vec<&str> = columns.iter().map(|of| of.key).collect();
        out.texts("evidence_names", &names)?;
    }
    out.array("share_to_known_bad", &[count], all.clone().map(|node| nodes.share(node)))?;
    out.array("seed_distance", &[count], all.clone().map(|node| nodes.distance(node)))?;
    out.array("cluster", &[count], all.clone().map(|node| nodes.cluster(node)))?;
    let bytes: u64 = all.clone().map(|node| nodes.id(node).len() as u64).sum();
    out.array("id_bytes", &[bytes], all.clone().flat_map(|node| nodes.id(node).bytes()))?;
    let mut end = 0;
    let ends = all.map(|node| {
        end += nodes.id(node).len() as i64;
        end
    });
    out.array("id_ends", &[count], ends)?;
    out.finish()
}

/// Writes the nodes as a table: one row each, in the order of their numbers.
///
/// # Errors
/// If the path has no table extension, memory allocation fails, or the operating system refuses.
pub fn write_nodes(
    path: &Path,
    found: WindowFindings<'_>,
    scope: GnnScope,
) -> Result<(), WriteError> {
    let nodes = Nodes::of(path, found, scope)?;
    let mut table = Table::create(path, &NODES)?;
    for first in (0..nodes.vertices.len()).step_by(ROWS) {
        let part = first..nodes.vertices.len().min(first + ROWS);
        let rows = || part.clone();
        let flags = |of: &dyn Fn(usize) -> bool| -> ArrayRef {
            Arc::new(BooleanArray::from(rows().map(of).collect::<Vec<bool>>()))
        };
        let labels = rows().map(|node| i32::from(nodes.label(node)));
        table.append(vec![
            numbers(rows().map(|node| node as u32)),
            numbers(rows().map(|node| nodes.vertices[node])),
            names(rows().map(|node| found.entities.kind_name_of(nodes.vertices[node]))),
            names(rows().map(|node| nodes.id(node))),
            Arc::new(Int32Array::from_iter_values(labels)),
            flags(&|node| nodes.label(node) >= 0),
            flags(&|node| nodes.is_for(node, Split::Train)),
            flags(&|node| nodes.is_for(node, Split::Validation)),
            flags(&|node| nodes.is_for(node, Split::Test)),
            flags(&|node| nodes.member(node).is_some()),
            Arc::new(Float32Array::from_iter_values(rows().map(|node| nodes.score(node)))),
            Arc::new(Float32Array::from_iter_values(rows().map(|node| nodes.share(node)))),
            Arc::new(Int32Array::from_iter_values(rows().map(|node| nodes.distance(node)))),
            Arc::new(Int64Array::from_iter_values(rows().map(|node| nodes.cluster(node)))),
        ])?;
    }
    table.finish()
}

/// Writes the arcs as a table: one row each, in the order of `edge_index`.
///
/// # Errors
/// See [`write_nodes`].
pub fn write_arcs(
    path: &Path,
    found: WindowFindings<'_>,
    scope: GnnScope,
) -> Result<(), WriteError> {
    let nodes = Nodes::of(path, found, scope)?;
    let mut table = Table::create(path, &ARCS)?;
    let mut arcs = nodes.each_arc();
    loop {
        let part: Vec<_> = arcs.by_ref().take(ROWS).collect();
        if part.is_empty() {
            return table.finish();
        }
        table.append(vec![
            numbers(part.iter().map(|arc| arc.0)),
            numbers(part.iter().map(|arc| arc.1)),
            Arc::new(Float32Array::from_iter_values(part.iter().map(|arc| arc.2))),
        ])?;
    }
}

/// Rows in a batch.
const ROWS: usize = 1 << 15;

const SPLITS: [(&str, Split); 3] =
    [("train_mask", Split::Train), ("val_mask", Split::Validation), ("test_mask", Split::Test)];

const NODES: [(&str, Kind, bool); 14] = [
    ("node", Kind::Number, false),
    ("vertex", Kind::Number, false),
    ("kind", Kind::Name, false),
    ("id", Kind::Name, false),
    ("y", Kind::Signed, false),
    ("known_mask", Kind::Flag, false),
    ("train_mask", Kind::Flag, false),
    ("val_mask", Kind::Flag, false),
    ("test_mask", Kind::Flag, false),
    ("member_mask", Kind::Flag, false),
    ("score", Kind::Narrow, false),
    ("share_to_known_bad", Kind::Narrow, false),
    ("seed_distance", Kind::Signed, false),
    ("cluster", Kind::Long, false),
];

const ARCS: [(&str, Kind, bool); 3] = [
    ("source", Kind::Number, false),
    ("target", Kind::Number, false),
    ("weight", Kind::Narrow, false),
];

/// Nodes of a window.
struct Nodes<'a> {
    found: WindowFindings<'a>,
    /// The vertex of each node, ascending.
    vertices: Vec<VertexId>,
    /// Node of each vertex of the run, or [`NO_NODE`].
    node_of: Vec<u32>,
    /// Offset of each node's arcs, and the end of the last.
    arcs_at: Vec<i64>,
    /// Index of each member in the findings, by vertex; the first for a vertex in several clusters.
    members: Vec<(VertexId, u32)>,
}

const NO_NODE: u32 = u32::MAX;

impl<'a> Nodes<'a> {
    fn of(path: &Path, found: WindowFindings<'a>, scope: GnnScope) -> Result<Self, WriteError> {
        let nodes = Nodes::number(found, scope);
        nodes.map_err(|error| WriteError {
            path: path.into(),
            source: io::Error::new(io::ErrorKind::OutOfMemory, error),
        })
    }

    fn number(found: WindowFindings<'a>, scope: GnnScope) -> Result<Self, OutOfMemory> {
        let graph = &found.window.graph;
        let mut members = memory::with_room(found.findings.members.len())?;
        members.extend(found.findings.members.iter().map(|member| member.vertex).zip(0..));
        members.sort_unstable();
        members.dedup_by_key(|(vertex, _)| *vertex);
        let mut node_of = memory::filled(NO_NODE, graph.vertices() as usize)?;
        let mut mark = |vertex: VertexId| {
            // Lists may name entities that appeared after this window.
            if let Some(node) = node_of.get_mut(vertex as usize) {
                *node = 0;
            }
        };
        members.iter().for_each(|&(vertex, _)| mark(vertex));
        if scope == GnnScope::Window {
            let listed = found.known_bad.vertices.iter().chain(&found.trusted.vertices);
            listed.for_each(|&vertex| mark(vertex));
            (0..graph.vertices()).filter(|&vertex| graph.degree(vertex) > 0).for_each(mark);
        }
        let mut vertices = Vec::new();
        for (vertex, node) in node_of.iter_mut().enumerate().filter(|(_, node)| **node == 0) {
            *node = vertices.len() as u32;
            memory::push(&mut vertices, vertex as VertexId)?;
        }
        let mut nodes = Nodes { found, vertices, node_of, arcs_at: Vec::new(), members };
        let mut arcs_at = memory::with_room(nodes.vertices.len() + 1)?;
        arcs_at.push(0);
        for node in 0..nodes.vertices.len() {
            arcs_at.push(arcs_at[node] + nodes.arcs_of(node).count() as i64);
        }
        nodes.arcs_at = arcs_at;
        Ok(nodes)
    }

    fn arcs(&self) -> u64 {
        self.arcs_at.last().map_or(0, |&end| end as u64)
    }

    fn each_arc(&self) -> impl Iterator<Item = (u32, u32, f32)> {
        (0..self.vertices.len()).flat_map(|node| self.arcs_of(node))
    }

    /// Iterates over the arcs of a node: source, target, weight.
    fn arcs_of(&self, node: usize) -> impl Iterator<Item = (u32, u32, f32)> {
        let (graph, vertex) = (&self.found.window.graph, self.vertices[node]);
        let (shard, scale) = (graph.shard_of(vertex), graph.weight_scale());
        let (lists, local) = (shard.out(), (vertex - shard.vertices().start) as usize);
        let weights = lists.weights_of(local);
        lists.of(local).iter().enumerate().filter_map(move |(place, &neighbor)| {
            let stored = weights.map_or(1, |weights| weights[place]);
            let other = self.node_of[neighbor as usize];
            let weight = scale.weight(u64::from(stored)) as f32;
            (other != NO_NODE).then_some((node as u32, other, weight))
        })
    }

    fn id(&self, node: usize) -> &'a str {
        self.found.entities.id_of(self.vertices[node])
    }

    fn kind(&self, node: usize) -> u8 {
        self.found.entities.kind_of(self.vertices[node]).0
    }

    fn label(&self, node: usize) -> i8 {
        let vertex = self.vertices[node];
        match () {
            () if self.found.is_known_bad(vertex) => 1,
            () if self.found.is_trusted(vertex) => 0,
            () => -1,
        }
    }

    fn is_for(&self, node: usize, split: Split) -> bool {
        let kind = self.found.entities.kind_name_of(self.vertices[node]);
        self.label(node) >= 0 && Split::of(kind, self.id(node)) == split
    }

    fn member(&self, node: usize) -> Option<&'a Member> {
        let vertex = self.vertices[node];
        let at = self.members.binary_search_by_key(&vertex, |&(vertex, _)| vertex).ok()?;
        self.found.findings.members.get(self.members[at].1 as usize)
    }

    fn score(&self, node: usize) -> f32 {
        match self.found.scores {
            Some(scores) => scores.of(self.vertices[node]).map_or(0.0, |score| score.0),
            None => self.member(node).map_or(FAINT.ln(), |member| member.score as f32),
        }
    }

    fn rank(&self, node: usize) -> u32 {
        let score = self.found.scores.and_then(|scores| scores.of(self.vertices[node]));
        score.map_or(0, |score| score.1)
    }

    fn share(&self, node: usize) -> f32 {
        self.member(node).map_or(0.0, |member| member.share_to_known_bad as f32)
    }

    fn distance(&self, node: usize) -> i32 {
        let known = self.member(node).map(|member| member.seed_distance);
        let known = known.filter(|&distance| distance != NO_SEED);
        known.map_or(-1, |distance| i32::try_from(distance).unwrap_or(i32::MAX))
    }

    fn cluster(&self, node: usize) -> i64 {
        let number = |member: &Member| i64::try_from(member.cluster.0).unwrap_or(i64::MAX);
        self.member(node).map_or(-1, number)
    }
}
