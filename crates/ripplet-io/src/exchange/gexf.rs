//! GEXF, the format of Gephi: nodes, edges, and typed attributes of both, in XML.
//!
//! ```text
//! <gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
//!   <graph defaultedgetype="undirected">
//!     <nodes><node id="Ann"/><node id="Bob"/></nodes>
//!     <edges><edge id="0" source="Ann" target="Bob" weight="0.5"/></edges>
//!   </graph>
//! </gexf>
//! ```
//!
//! Versions 1.1 to 1.3 are read, 1.2 is written. A vertex is called by its id, whatever its label is. A weight is
//! the edge's `weight`, or 1, as the format has it; with another name in [`crate::Columns`], the attribute of that
//! title. An edge of type `mutual` has no direction. When nodes and edges are there (`spells`, `start`, `end`) is
//! skipped: all of them are read. Nodes within nodes are refused.
//!
//! Reference: *GEXF 1.2draft Primer*, 2012; *GEXF 1.3 schema*, 2021.

#[cfg(feature = "graphml")]
mod reader;

#[cfg(feature = "graphml")]
pub(super) use reader::read;

use super::syntax::{Edge, Graphs, Syntax};
use super::xml_text::push_value;
use crate::output::text::{push_integer, push_weight};
use ripplet_graph::VertexId;
use std::io::Write as _;

/// Writes a graph.
pub(super) struct Gexf<'a>(pub(super) Graphs<'a>);

impl Syntax for Gexf<'_> {
    fn head(&self, text: &mut Vec<u8>) {
        let direction = self.0.direction_of_xml();
        let _ = write!(
            text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <gexf xmlns=\"http://www.gexf.net/1.2draft\" version=\"1.2\">\n\
             \x20 <graph mode=\"static\" defaultedgetype=\"{direction}\">\n"
        );
        if !self.0.attributes.is_empty() {
            text.extend_from_slice(b"    <attributes class=\"node\" mode=\"static\">\n");
            for attribute in self.0.attributes {
                let (name, kind) = (attribute.name(), attribute.kind().of_xml());
                let _ = writeln!(
                    text,
                    "      <attribute id=\"{name}\" title=\"{name}\" type=\"{kind}\"/>"
                );
            }
            text.extend_from_slice(b"    </attributes>\n");
        }
        text.extend_from_slice(b"    <nodes>\n");
    }

    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId) {
        text.extend_from_slice(b"      <node id=\"");
        push_value(text, &self.0.id(vertex));
        text.extend_from_slice(b"\" label=\"");
        push_value(text, &self.0.id(vertex));
        if self.0.attributes.is_empty() {
            return text.extend_from_slice(b"\"/>\n");
        }
        text.extend_from_slice(b"\"><attvalues>");
        for (name, value) in self.0.attributes_of(vertex) {
            text.extend_from_slice(b"<attvalue for=\"");
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\" value=\"");
            push_value(text, &value);
            text.extend_from_slice(b"\"/>");
        }
        text.extend_from_slice(b"</attvalues></node>\n");
    }

    fn between(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"    </nodes>\n    <edges>\n");
    }

    fn edge(&self, text: &mut Vec<u8>, edge: Edge) {
        text.extend_from_slice(b"      <edge id=\"");
        push_integer(text, edge.number);
        text.extend_from_slice(b"\" source=\"");
        push_value(text, &self.0.id(edge.source));
        text.extend_from_slice(b"\" target=\"");
        push_value(text, &self.0.id(edge.target));
        if let Some(weight) = edge.weight {
            text.extend_from_slice(b"\" weight=\"");
            push_weight(text, weight);
        }
        text.extend_from_slice(b"\"/>\n");
    }

    fn end(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"    </edges>\n  </graph>\n</gexf>\n");
    }
}
