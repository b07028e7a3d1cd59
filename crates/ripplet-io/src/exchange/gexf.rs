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

use super::network::{Found, NodeNaming};
use super::stream::Meter;
use super::write::{Edge, Graphs, Syntax};
use super::xml::{Values, Xml, push_value};
use super::xml_graph::{XmlGraph, set_weight, take_edge, weight};
use crate::ReadOptions;
use crate::text::{Fault, Text};
use crate::write::text::{push_integer, push_weight};
use ripplet_graph::VertexId;
use std::io::Write as _;

/// Reads a graph.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Found, Fault> {
    let meter = Meter::new();
    let mut xml = Xml::new(text, &meter);
    let mut reader = Reader::new(options);
    xml.document("gexf", |xml| match xml.name() {
        "graph" => reader.graph(xml),
        _ => xml.skip(),
    })?;
    reader.graph.finish("<graph> in <gexf>")
}

/// What is known of a file.
struct Reader<'o> {
    graph: XmlGraph<'o>,
    node: Values<1>,
    edge: Values<4>,
    value: Values<2>,
}

impl<'o> Reader<'o> {
    fn new(options: &'o ReadOptions) -> Reader<'o> {
        let is_own = options.columns.weight == "weight";
        Reader {
            graph: XmlGraph::new(options, NodeNaming::Ids, is_own.then_some(1.0)),
            node: Values::of(["id"]),
            edge: Values::of(["source", "target", "type", "weight"]),
            value: Values::of(["for", "value"]),
        }
    }

    fn graph(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        self.graph.begin(xml)?;
        let mut graph = Values::of(["defaultedgetype"]);
        xml.take(&mut graph)?;
        self.graph.directed = graph.get(0).map(|of| has_direction(xml, of)).transpose()?;
        xml.each_child(|xml| match xml.name() {
            "attributes" => self.attributes(xml),
            "nodes" => xml.each_child(|xml| match xml.name() {
                "node" => self.node(xml),
                _ => xml.skip(),
            }),
            "edges" => xml.each_child(|xml| match xml.name() {
                "edge" => self.edge(xml),
                _ => xml.skip(),
            }),
            _ => xml.skip(),
        })
    }

    /// Finds the attribute of edges that is the weight, if it is not `weight` itself.
    fn attributes(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        let options = self.graph.network.options();
        let mut class = Values::of(["class"]);
        xml.take(&mut class)?;
        if !options.weighted || options.columns.weight == "weight" || class.get(0) != Some("edge") {
            return xml.skip();
        }
        xml.each_child(|xml| {
            let mut attribute = Values::of(["id", "title"]);
            xml.take(&mut attribute)?;
            if attribute.get(1) != Some(&*options.columns.weight) {
                return xml.skip();
            }
            let Some(id) = attribute.get(0) else {
                return Err(xml.fault("an attribute has no id: expected <attribute id=\"0\" …>"));
            };
            self.graph.take_weight_attribute(xml, id, "attributes")
        })
    }

    fn node(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        let line = xml.line();
        xml.take(&mut self.node)?;
        let Some(id) = self.node.get(0) else {
            return Err(xml.fault("the node has no id: expected <node id=\"…\">"));
        };
        self.graph.network.node(id, "", line)?;
        xml.each_child(|xml| match xml.name() {
            "nodes" | "edges" => {
                Err(xml.fault("nodes or edges within a node: expected a flat list of nodes"))
            }
            _ => xml.skip(),
        })
    }

    fn edge(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        let line = xml.line();
        take_edge(xml, &mut self.edge)?;
        let directed = match self.edge.get(2) {
            None => self.graph.directed,
            Some(of) => Some(has_direction(xml, of)?),
        };
        let mut own = None;
        let options = self.graph.network.options();
        match (options.weighted && options.columns.weight == "weight", self.edge.get(3)) {
            (true, Some(text)) => own = Some(weight(xml, text)?),
            _ if self.graph.weight_ids.is_empty() => {}
            _ => {
                let (attributes, value) = (&self.graph.weight_ids, &mut self.value);
                xml.each_child(|xml| match xml.name() {
                    "attvalues" => xml.each_child(|xml| {
                        xml.take(value)?;
                        if attributes.have(value.get(0)) {
                            set_weight(xml, &mut own, value.get(1).unwrap_or_default())?;
                        }
                        xml.skip()
                    }),
                    _ => xml.skip(),
                })?;
                return self.graph.edge(&self.edge, own, directed, line);
            }
        }
        xml.skip()?;
        self.graph.edge(&self.edge, own, directed, line)
    }
}

/// Whether edges of this type have a direction.
fn has_direction(xml: &Xml<'_, '_>, of: &str) -> Result<bool, Fault> {
    match of {
        "directed" => Ok(true),
        "undirected" | "mutual" => Ok(false),
        _ => Err(xml.fault("the type of edges is none of `directed`, `undirected` and `mutual`")),
    }
}

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
