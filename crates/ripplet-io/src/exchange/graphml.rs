//! GraphML: nodes, edges, and typed attributes of both, in XML.
//!
//! ```text
//! <graphml>
//!   <key id="d0" for="edge" attr.name="weight" attr.type="double"/>
//!   <graph edgedefault="undirected">
//!     <node id="Ann"/>
//!     <node id="Bob"/>
//!     <edge source="Ann" target="Bob"><data key="d0">0.5</data></edge>
//!   </graph>
//! </graphml>
//! ```
//!
//! A vertex is called by its id. If the ids are `n0`, `n1`, … in the order of the nodes, and every node has an
//! attribute `name` of its own, it is called by that: igraph writes names so. Written, ids that are names are attributes
//! `name`, too, as that is what igraph and Cytoscape call vertices by.
//!
//! A weight is the edge's attribute `weight` (or what [`crate::Columns`] calls it), or the default of that. There may
//! be several keys of that name, one a type, as NetworkX writes them; an edge has a value of one of them. Graphs in
//! a node, a second graph, and edges with more than two ends are refused.
//!
//! Reference: Brandes, Eiglsperger, Lerner, *GraphML Primer*, 2001–2007.

#[cfg(feature = "graphml")]
mod reader;

#[cfg(feature = "graphml")]
pub(super) use reader::read;

use super::syntax::{Edge, Graphs, Syntax, Value};
use super::xml_text::push_value;
use crate::output::text::push_weight;
use ripplet_graph::{VertexId, VertexIds};
use std::io::Write as _;

/// Writes a graph.
pub(super) struct GraphMl<'a>(pub(super) Graphs<'a>);

impl Syntax for GraphMl<'_> {
    fn head(&self, text: &mut Vec<u8>) {
        let Graphs { graph, attributes, .. } = self.0;
        text.extend_from_slice(
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
              <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
              xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
              xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
              http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
        );
        let mut key = |of: &str, name: &str, kind: &str| {
            let _ = writeln!(
                text,
                "  <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
            );
        };
        if self.is_named() {
            key("node", "name", "string");
        }
        attributes.iter().for_each(|of| key("node", of.name(), of.kind().of_xml()));
        if graph.is_weighted() {
            key("edge", "weight", "double");
        }
        let direction = self.0.direction_of_xml();
        let _ = writeln!(text, "  <graph edgedefault=\"{direction}\">");
    }

    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId) {
        text.extend_from_slice(b"    <node id=\"");
        self.push_id(text, vertex);
        let mut is_open = true;
        let mut data = |name: &str, value: &Value<'_>| {
            text.extend_from_slice(if is_open { b"\"><data key=\"" } else { b"<data key=\"" });
            is_open = false;
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\">");
            push_value(text, value);
            text.extend_from_slice(b"</data>");
        };
        if self.is_named() {
            data("name", &self.0.id(vertex));
        }
        for (name, value) in self.0.attributes_of(vertex) {
            data(name, &value);
        }
        text.extend_from_slice(if is_open { b"\"/>\n" } else { b"</node>\n" });
    }

    fn edge(&self, text: &mut Vec<u8>, edge: Edge) {
        text.extend_from_slice(b"    <edge source=\"");
        self.push_id(text, edge.source);
        text.extend_from_slice(b"\" target=\"");
        self.push_id(text, edge.target);
        match edge.weight {
            None => text.extend_from_slice(b"\"/>\n"),
            Some(weight) => {
                text.extend_from_slice(b"\"><data key=\"weight\">");
                push_weight(text, weight);
                text.extend_from_slice(b"</data></edge>\n");
            }
        }
    }

    fn end(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"  </graph>\n</graphml>\n");
    }
}

impl GraphMl<'_> {
    fn is_named(&self) -> bool {
        matches!(self.0.graph.ids(), VertexIds::Names(_))
    }

    fn push_id(&self, text: &mut Vec<u8>, vertex: VertexId) {
        push_value(text, &self.0.id(vertex));
    }
}
