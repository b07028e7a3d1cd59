//! Parts of an exchange format: values, attributes, edges, and the syntax that writes them.

use crate::output::text::push_integer;
use ripplet_graph::{Direction, ExternalId, Graph, VertexId, VertexIds};
use std::borrow::Cow;

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
