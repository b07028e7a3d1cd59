//! Reader of GEXF.

use crate::ReadOptions;
use crate::exchange::network::{Found, NodeNaming};
use crate::exchange::stream::Meter;
use crate::exchange::xml::{Values, Xml};
use crate::exchange::xml_graph::{XmlGraph, set_weight, take_edge, weight};
use crate::fault::Fault;
use crate::text::Text;

/// Reads a graph.
pub(in crate::exchange) fn read(
    text: &mut Text<'_>,
    options: &ReadOptions,
) -> Result<Found, Fault> {
    let meter = Meter::new();
    let mut xml = Xml::new(text, &meter);
    let mut reader = Reader::new(options);
    xml.document("gexf", |xml| match xml.name() {
        "graph" => reader.graph(xml),
        _ => xml.skip(),
    })?;
    reader.graph.finish("<graph> in <gexf>")
}

/// State of reading a file.
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

    /// Finds the attribute of edges that is the weight, unless it is `weight` itself.
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

/// Whether edges of this type are directed.
fn has_direction(xml: &Xml<'_, '_>, of: &str) -> Result<bool, Fault> {
    match of {
        "directed" => Ok(true),
        "undirected" | "mutual" => Ok(false),
        _ => Err(xml.fault("the type of edges is none of `directed`, `undirected` and `mutual`")),
    }
}
