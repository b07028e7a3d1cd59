//! Writes graphs vertex by vertex and edge by edge, in any exchange format.

use super::dot::Dot;
use super::gexf::Gexf;
use super::gml::Gml;
use super::graphml::GraphMl;
use super::node_link::NodeLink;
use super::pajek::Pajek;
use super::xml_text;
use crate::labelled::shown;
use crate::write::arcs::Arcs;
use crate::write::refused;
use crate::write::text::{decimal, push_integer, write_blocks, write_head};
use crate::{Compression, Format};
use rayon::prelude::*;
use ripplet_graph::{Direction, ExternalId, Graph, VertexId, VertexIds};
use std::borrow::Cow;
use std::io::{self, Write};

/// Vertices in a block.
const ROWS: usize = 1 << 14;
/// Largest integer up to which doubles are exact.
const EXACT: i128 = 1 << 53;

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    Integer(i128),
    Text(Cow<'a, str>),
}

impl<'a> From<ExternalId<'a>> for Value<'a> {
    fn from(id: ExternalId<'a>) -> Value<'a> {
        match id {
            ExternalId::Unsigned(id) => Value::Integer(id.into()),
            ExternalId::Signed(id) => Value::Integer(id.into()),
            ExternalId::Name(name) => Value::Text(name.into()),
        }
    }
}

impl Value<'_> {
    /// Appends the digits of an integer, or a text as `push_text` does.
    pub(super) fn push(&self, text: &mut Vec<u8>, push_text: impl Fn(&mut Vec<u8>, &str)) {
        match self {
            Value::Integer(value) => push_integer(text, *value),
            Value::Text(value) => push_text(text, value),
        }
    }
}

/// Type of an attribute's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeKind {
    /// Integers that a double represents exactly.
    Integer,
    /// Texts.
    Text,
}

impl AttributeKind {
    /// Returns the kind that these ids are as values.
    pub(crate) fn of(ids: &VertexIds) -> AttributeKind {
        let fits = |vertex: VertexId| match Value::from(ids.get(vertex)) {
            Value::Integer(id) => (-EXACT..=EXACT).contains(&id),
            Value::Text(_) => false,
        };
        // Ids ascend.
        let last = ids.len().saturating_sub(1) as VertexId;
        match ids.is_empty() || fits(0) && fits(last) {
            true => AttributeKind::Integer,
            false => AttributeKind::Text,
        }
    }

    /// Returns the name of the type in GraphML and GEXF.
    pub(super) fn of_xml(self) -> &'static str {
        match self {
            AttributeKind::Integer => "long",
            AttributeKind::Text => "string",
        }
    }
}

/// Attribute of the vertices.
pub(crate) trait Attribute: Sync {
    /// Name of the attribute; only characters from a to z.
    fn name(&self) -> &'static str;

    /// Returns the type of its values.
    fn kind(&self) -> AttributeKind;

    /// Returns the value of a vertex, if it has one; its type is that of the attribute.
    fn value(&self, vertex: VertexId) -> Option<Value<'_>>;
}

/// Graph to write, with the attributes of its vertices.
#[derive(Clone, Copy)]
pub(super) struct Graphs<'a> {
    pub(super) graph: &'a Graph,
    pub(super) attributes: &'a [&'a dyn Attribute],
}

impl<'a> Graphs<'a> {
    /// Returns the id of a vertex.
    pub(super) fn id(&self, vertex: VertexId) -> Value<'a> {
        self.graph.ids().get(vertex).into()
    }

    /// Returns the names and values of a vertex's attributes.
    pub(super) fn attributes_of(
        &self,
        vertex: VertexId,
    ) -> impl Iterator<Item = (&'static str, Value<'a>)> {
        let attributes = self.attributes.iter();
        attributes.filter_map(move |of| of.value(vertex).map(|value| (of.name(), value)))
    }

    /// Returns the direction of the edges, as GraphML and GEXF name it.
    pub(super) fn direction_of_xml(&self) -> &'static str {
        match self.graph.direction() {
            Direction::Directed => "directed",
            Direction::Undirected => "undirected",
        }
    }
}

/// Edge to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) source: VertexId,
    pub(super) target: VertexId,
    pub(super) weight: Option<f64>,
    /// Unique number of the edge.
    pub(super) number: u64,
    /// Whether it is the first of the file.
    pub(super) is_first: bool,
}

/// Syntax of a format; each part is appended to a text.
pub(super) trait Syntax: Sync {
    /// Appends the text before the vertices.
    fn head(&self, text: &mut Vec<u8>);

    /// Appends a vertex.
    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId);

    /// Appends the text between vertices and edges.
    fn between(&self, _text: &mut Vec<u8>) {}

    /// Appends an edge.
    fn edge(&self, text: &mut Vec<u8>, edge: Edge);

    /// Appends the text after the edges.
    fn end(&self, text: &mut Vec<u8>);
}

/// Writes a graph in an exchange format.
pub(crate) fn write(
    out: &mut (dyn Write + Send),
    graph: &Graph,
    attributes: &[&dyn Attribute],
    format: Format,
    compression: Compression,
) -> io::Result<()> {
    let graphs = Graphs { graph, attributes };
    match format {
        Format::GraphMl => write_as(&GraphMl(graphs), out, graph, compression),
        Format::Gexf => write_as(&Gexf(graphs), out, graph, compression),
        Format::Gml => write_as(&Gml::new(graphs), out, graph, compression),
        Format::Pajek => write_as(&Pajek(graphs), out, graph, compression),
        Format::NodeLink => write_as(&NodeLink::new(graphs), out, graph, compression),
        Format::Dot => write_as(&Dot(graphs), out, graph, compression),
        format => Err(refused(format!("{} is written elsewhere", format.name()))),
    }
}

fn write_as(
    syntax: &impl Syntax,
    out: &mut (dyn Write + Send),
    graph: &Graph,
    compression: Compression,
) -> io::Result<()> {
    let (arcs, scale, vertices) =
        (Arcs::of(graph), graph.weight_scale(), graph.vertices() as usize);
    let first = first_edge(&arcs);
    let part = |out: &mut (dyn Write + Send), write: &dyn Fn(&mut Vec<u8>)| {
        let mut text = Vec::new();
        write(&mut text);
        write_head(out, compression, &String::from_utf8_lossy(&text)).map(|_| ())
    };
    part(out, &|text| syntax.head(text))?;
    write_blocks(out, compression, vertices.div_ceil(ROWS), |block, text| {
        let rows = block * ROWS..vertices.min((block + 1) * ROWS);
        rows.for_each(|vertex| syntax.vertex(text, vertex as VertexId));
        Ok(())
    })?;
    part(out, &|text| syntax.between(text))?;
    write_blocks(out, compression, arcs.blocks(), |block, text| {
        arcs.for_each_numbered_edge(block, |number, source, target, weight| {
            let weight = weight.map(|weight| decimal(scale, weight));
            let is_first = Some(number) == first;
            syntax.edge(text, Edge { source, target, weight, number, is_first });
        });
        Ok(())
    })?;
    part(out, &|text| syntax.end(text))
}

/// Returns the number of the first edge.
fn first_edge(arcs: &Arcs<'_>) -> Option<u64> {
    (0..arcs.blocks()).find_map(|block| {
        let mut first = None;
        arcs.for_each_numbered_edge(block, |number, _, _, _| first = first.or(Some(number)));
        first
    })
}

/// Rejects names of vertices, or of `what`, that a format cannot hold.
pub(crate) fn check(format: Format, ids: &VertexIds, what: &str) -> io::Result<()> {
    let VertexIds::Names(names) = ids else { return Ok(()) };
    let found = (0..names.len())
        .into_par_iter()
        .find_map_first(|at| unfit(format, names.get(at)).map(|why| (at, why)));
    match found {
        None => Ok(()),
        Some((at, why)) => {
            let id = shown(ExternalId::Name(names.get(at)));
            Err(refused(format!("the {what} id \"{id}\" {why}")))
        }
    }
}

/// Returns why a format cannot hold a name.
fn unfit(format: Format, name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("is empty: give the vertex a name, or write .parquet or .arrow");
    }
    match format {
        Format::GraphMl | Format::Gexf if !name.chars().all(xml_text::can_hold) => {
            Some("holds a character that XML cannot hold: write .gml or .json")
        }
        Format::Pajek if name.contains(['"', '\n', '\r']) => {
            Some("holds a quotation mark or a line end, which Pajek cannot hold: write .graphml")
        }
        Format::Dot if name.contains('\0') => {
            Some("holds a zero byte, which DOT cannot: write .json")
        }
        _ => None,
    }
}
