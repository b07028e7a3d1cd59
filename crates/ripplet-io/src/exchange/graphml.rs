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

use super::network::{Found, NodeNaming};
use super::stream::Meter;
use super::write::{Edge, Graphs, Syntax, Value};
use super::xml::{Values, Xml, push_value};
use super::xml_graph::{AttributeIds, OF_A_TYPE, XmlGraph, set_weight, take_edge};
use crate::ReadOptions;
use crate::text::{Fault, Text};
use crate::write::text::push_weight;
use ripplet_graph::{VertexId, VertexIds};
use std::io::Write as _;

/// Reads a graph.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Found, Fault> {
    let meter = Meter::new();
    let mut xml = Xml::new(text, &meter);
    let mut reader = Reader::new(options);
    xml.document("graphml", |xml| match xml.name() {
        "key" => reader.key(xml),
        "graph" => reader.graph(xml),
        _ => xml.skip(),
    })?;
    reader.graph.finish("<graph edgedefault=\"undirected\">")
}

/// What is known of a file.
struct Reader<'o> {
    graph: XmlGraph<'o>,
    /// The keys of the nodes' names.
    name_keys: AttributeIds,
    node: Values<1>,
    edge: Values<3>,
    data: Values<1>,
    text: String,
}

impl<'o> Reader<'o> {
    fn new(options: &'o ReadOptions) -> Reader<'o> {
        Reader {
            graph: XmlGraph::new(options, NodeNaming::Igraph, None),
            name_keys: AttributeIds::default(),
            node: Values::of(["id"]),
            edge: Values::of(["source", "target", "directed"]),
            data: Values::of(["key"]),
            text: String::new(),
        }
    }

    fn key(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        let mut key = Values::of(["id", "for", "attr.name"]);
        xml.take(&mut key)?;
        let Some(id) = key.get(0) else {
            return Err(xml.fault("a key has no id: expected <key id=\"d0\" …>"));
        };
        let name = key.get(2).unwrap_or(id);
        let is_for = |what| key.get(1).is_none_or(|of| of == what || of == "all");
        if is_for("node") && name == "name" {
            self.name_keys.push(id).map_err(|why| {
                xml.fault(format!("{why} keys of nodes are called `name`{OF_A_TYPE}"))
            })?;
        }
        let options = self.graph.network.options();
        if !options.weighted || !is_for("edge") || name != options.columns.weight {
            return xml.skip();
        }
        self.graph.take_weight_attribute(xml, id, "keys")
    }

    fn graph(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        self.graph.begin(xml)?;
        let mut graph = Values::of(["edgedefault"]);
        xml.take(&mut graph)?;
        self.graph.directed = match graph.get(0) {
            None => None,
            Some("directed") => Some(true),
            Some("undirected") => Some(false),
            Some(_) => {
                let sentence =
                    "edgedefault is neither `directed` nor `undirected`: expected one of them";
                return Err(xml.fault(sentence));
            }
        };
        xml.each_child(|xml| match xml.name() {
            "node" => self.node(xml),
            "edge" => self.edge(xml),
            "hyperedge" => Err(xml.fault(
                "an edge with any number of ends: expected edges with a source and a target",
            )),
            _ => xml.skip(),
        })
    }

    fn node(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        let line = xml.line();
        xml.take(&mut self.node)?;
        if self.node.get(0).is_none() {
            return Err(xml.fault("the node has no id: expected <node id=\"…\">"));
        }
        let Reader { name_keys, data, text, .. } = self;
        text.clear();
        let mut is_named = false;
        xml.each_child(|xml| {
            match xml.name() {
                "graph" => {
                    return Err(xml.fault("a graph within a node: expected a file of one graph"));
                }
                "data" if !name_keys.is_empty() => {
                    xml.take(data)?;
                    if name_keys.have(data.get(0)) {
                        if std::mem::replace(&mut is_named, true) {
                            return Err(xml.fault("the node has two names: expected one"));
                        }
                        return xml.read_text(text);
                    }
                }
                _ => {}
            }
            xml.skip()
        })?;
        self.graph.network.node(self.node.get(0).unwrap_or_default(), &self.text, line)
    }

    fn edge(&mut self, xml: &mut Xml<'_, '_>) -> Result<(), Fault> {
        let line = xml.line();
        take_edge(xml, &mut self.edge)?;
        let Reader { graph, data, text, .. } = self;
        let mut own = None;
        xml.each_child(|xml| {
            if xml.name() == "data" && !graph.weight_ids.is_empty() {
                xml.take(data)?;
                if graph.weight_ids.have(data.get(0)) {
                    xml.read_text(text)?;
                    return set_weight(xml, &mut own, text);
                }
            }
            xml.skip()
        })?;
        let directed = match self.edge.get(2) {
            None => self.graph.directed,
            Some("true" | "1") => Some(true),
            Some("false" | "0") => Some(false),
            Some(_) => {
                let sentence = "`directed` is neither `true` nor `false`: expected one of them";
                return Err(Fault::line(line, sentence));
            }
        };
        self.graph.edge(&self.edge, own, directed, line)
    }
}

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
