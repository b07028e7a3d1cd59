//! Reader of GraphML.

use crate::ReadOptions;
use crate::exchange::network::{Found, NodeNaming};
use crate::exchange::stream::Meter;
use crate::exchange::xml::{Values, Xml};
use crate::exchange::xml_graph::{AttributeIds, OF_A_TYPE, XmlGraph, set_weight, take_edge};
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
    xml.document("graphml", |xml| match xml.name() {
        "key" => reader.key(xml),
        "graph" => reader.graph(xml),
        _ => xml.skip(),
    })?;
    reader.graph.finish("<graph edgedefault=\"undirected\">")
}

/// State of reading a file.
struct Reader<'o> {
    graph: XmlGraph<'o>,
    /// Keys of the nodes' names.
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
