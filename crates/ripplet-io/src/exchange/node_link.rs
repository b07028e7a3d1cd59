//! Node-link JSON, as NetworkX, D3 and others have it.
//!
//! ```text
//! {"directed": false,
//!  "nodes": [{"id": "Ann"}, {"id": "Bob"}],
//!  "edges": [{"source": "Ann", "target": "Bob", "weight": 0.5}]}
//! ```
//!
//! The edges are those of `edges`, or of `links`; a file without either is refused. A vertex is called by its `id`, a text or an integer; the text
//! `"7"` and the integer 7 are the same id. A weight is the edge's `weight`, or what [`crate::Columns`] calls it. All
//! other keys are skipped, with values of up to 256 MiB.
//!
//! Ids are written as integers if all are integers that a double represents exactly, else as texts.
//!
//! Reference: *NetworkX, node_link_data*.

use super::network::{Found, Network, NodeNaming};
use super::stream::{Meter, Stream};
use super::syntax::{AttributeKind, Edge, Graphs, Syntax, Value};
use crate::ReadOptions;
use crate::fault::Fault;
use crate::output::text::push_json;
use crate::output::text::push_weight;
use crate::shown::shown_number;
use crate::text::{Text, is_json_lines, what_to_do_with_list};
use rayon::prelude::*;
use ripplet_graph::{Direction, Graph, VertexId, weight_flaw};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use std::fmt;
use std::io::Write as _;

/// Reads a graph.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Found, Fault> {
    /// Bytes that are examined.
    const LOOK: usize = 4096;
    let head = text.look_ahead(LOOK);
    if let [b'[', list @ ..] = head.trim_ascii_start() {
        return Err(Fault::line(1, what_to_do_with_list(list)));
    }
    if is_json_lines(head) {
        let sentence = "this is JSON lines, an object a line, not one object with `nodes`: use --from jsonl, or name the \
                        file .jsonl";
        return Err(Fault::line(1, sentence));
    }
    let meter = Meter::new();
    let mut stream = Stream::new(text, &meter);
    let mut reader = Reader {
        meter: &meter,
        network: Network::new(options, NodeNaming::Ids),
        fault: None,
        directed: None,
        has_nodes: false,
        edges: None,
        has_adjacency: false,
        node: Id::default(),
        ends: [Id::default(), Id::default()],
    };
    let mut json = serde_json::Deserializer::from_reader(&mut stream);
    let read = OfFile(&mut reader).deserialize(&mut json).and_then(|()| json.end());
    drop(json);
    if let Err(error) = read {
        let fault = reader.fault.take().or_else(|| stream.failed());
        return Err(fault.unwrap_or_else(|| refused(&meter, &error)));
    }
    if !reader.has_nodes {
        let sentence = "the file has no `nodes`: expected {\"nodes\": […], \"edges\": […]}";
        return Err(Fault::whole(sentence));
    }
    if reader.edges.is_none() {
        return Err(Fault::whole(match reader.has_adjacency {
            true => {
                "the file has `adjacency` and no list of edges: NetworkX's adjacency_data wrote it; write it with \
                 node_link_data"
            }
            false => {
                "the file has `nodes` and no list of edges: expected `edges` or `links`, which may be empty (`[]`)"
            }
        }));
    }
    reader.network.finish(reader.directed)
}

/// Returns the fault of a text that is not as expected.
fn refused(meter: &Meter, error: &serde_json::Error) -> Fault {
    if meter.is_used_up() {
        let sentence = "a node or an edge of more than 1 MiB, or another value of more than 256 MiB: this is no file of a graph";
        return Fault::line(meter.line(), sentence);
    }
    let sentence = error.to_string();
    // The parser adds the position, which a fault has itself.
    let sentence = sentence.split(" at line ").next().unwrap_or_default();
    let line = (error.line() as u64).max(1);
    match error.classify() {
        Category::Eof => Fault::line(line, "the file ends within a value: it was cut short"),
        Category::Data => Fault::line(line, sentence.to_owned()),
        _ => Fault::line(line, format!("this is no JSON: {}", in_full(sentence))),
    }
}

/// Returns a sentence of the parser, with the remedy for usual mistakes of writers.
fn in_full(sentence: &str) -> &str {
    match sentence {
        "invalid unicode code point" => "a text is not UTF-8: convert the file",
        "expected value" | "invalid number" => {
            "expected a value; NaN and Infinity are none: leave such keys out, or write numbers"
        }
        sentence => sentence,
    }
}

/// State of reading a file.
struct Reader<'o, 't> {
    meter: &'t Meter,
    network: Network<'o>,
    /// A fault that did not come from the parser.
    fault: Option<Fault>,
    directed: Option<bool>,
    has_nodes: bool,
    /// Key of the list of edges.
    edges: Option<&'static str>,
    /// Whether there is an adjacency list, as NetworkX's `adjacency_data` writes it.
    has_adjacency: bool,
    node: Id,
    ends: [Id; 2],
}

/// An id, or whether there was one.
#[derive(Debug, Default)]
struct Id {
    text: String,
    is_given: bool,
}

impl Id {
    fn given(&self) -> Option<&str> {
        self.is_given.then_some(&*self.text)
    }
}

impl Reader<'_, '_> {
    /// Stores a fault, and ends the parser.
    fn keep<E: de::Error>(&mut self, result: Result<(), Fault>) -> Result<(), E> {
        result.map_err(|fault| {
            self.fault = Some(fault);
            E::custom("")
        })
    }

    fn fault<E: de::Error>(&mut self, line: u64, sentence: &str) -> E {
        self.fault = Some(Fault::line(line, sentence));
        E::custom("")
    }

    fn twice<E: de::Error>(&mut self, line: u64, key: &str) -> E {
        self.fault(line, &format!("`{key}` is given twice: expected it once"))
    }
}

/// Top-level object.
struct OfFile<'r, 'o, 't>(&'r mut Reader<'o, 't>);

impl<'de> DeserializeSeed<'de> for OfFile<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OfFile<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object with `nodes` and `edges`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.0;
        while let Some(key) = next_key(reader, &mut map)? {
            match &*key {
                "directed" => {
                    if reader.directed.replace(map.next_value()?).is_some() {
                        return Err(reader.twice(reader.meter.line(), "directed"));
                    }
                }
                "nodes" => {
                    if std::mem::replace(&mut reader.has_nodes, true) {
                        return Err(reader.fault(reader.meter.line(), "a second list of nodes"));
                    }
                    map.next_value_seed(Part { reader, of: Of::Nodes, is_list: true })?;
                }
                "edges" | "links" => {
                    let name = if key == "edges" { "edges" } else { "links" };
                    if let Some(before) = reader.edges.replace(name) {
                        let sentence = format!(
                            "`{name}` beside `{before}`: expected one list of edges, called `edges` or `links`"
                        );
                        return Err(reader.fault(reader.meter.line(), &sentence));
                    }
                    map.next_value_seed(Part { reader, of: Of::Edges, is_list: true })?;
                }
                key => {
                    reader.has_adjacency |= key == "adjacency";
                    pass_over(reader, &mut map)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the next key of an object, which begins a piece of the text.
fn next_key<'de, A: MapAccess<'de>>(
    reader: &Reader<'_, '_>,
    map: &mut A,
) -> Result<Option<String>, A::Error> {
    reader.meter.renew();
    map.next_key()
}

/// Skips a value, which may be long, as little of it is buffered.
fn pass_over<'de, A: MapAccess<'de>>(reader: &Reader<'_, '_>, map: &mut A) -> Result<(), A::Error> {
    reader.meter.release();
    map.next_value::<IgnoredAny>()?;
    reader.meter.renew();
    Ok(())
}

/// Contents of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Nodes,
    Edges,
}

/// The list of all nodes, or of all edges, or one of them.
struct Part<'r, 'o, 't> {
    reader: &'r mut Reader<'o, 't>,
    of: Of,
    is_list: bool,
}

impl<'de> DeserializeSeed<'de> for Part<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        match self.is_list {
            true => json.deserialize_seq(self),
            false => json.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Part<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match (self.of, self.is_list) {
            (Of::Nodes, true) => "a list of nodes",
            (Of::Edges, true) => "a list of edges",
            (Of::Nodes, false) => "a node, {\"id\": …}",
            (Of::Edges, false) => "an edge, {\"source\": …, \"target\": …}",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Part { reader, of, .. } = self;
        loop {
            reader.meter.renew();
            if list.next_element_seed(Part { reader, of, is_list: false })?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        match self.of {
            Of::Nodes => node(self.reader, map),
            Of::Edges => edge(self.reader, map),
        }
    }
}

fn node<'de, A: MapAccess<'de>>(reader: &mut Reader<'_, '_>, mut map: A) -> Result<(), A::Error> {
    let line = reader.meter.line();
    reader.node.is_given = false;
    while let Some(field) = map.next_key_seed(Keys { of: Of::Nodes, weight: None })? {
        match field {
            Field::Id if reader.node.is_given => return Err(reader.twice(line, "id")),
            Field::Id => map.next_value_seed(&mut reader.node)?,
            _ => pass_over(reader, &mut map)?,
        }
    }
    match reader.node.given() {
        Some(id) => {
            let added = reader.network.node(id, "", line);
            reader.keep(added)
        }
        None => Err(reader.fault(line, "the node has no id: expected {\"id\": …}")),
    }
}

fn edge<'de, A: MapAccess<'de>>(reader: &mut Reader<'_, '_>, mut map: A) -> Result<(), A::Error> {
    let line = reader.meter.line();
    let options = reader.network.options();
    let weight_name = options.weighted.then_some(&*options.columns.weight);
    reader.ends.iter_mut().for_each(|end| end.is_given = false);
    let mut weight = None;
    while let Some(field) = map.next_key_seed(Keys { of: Of::Edges, weight: weight_name })? {
        match field {
            Field::Source if reader.ends[0].is_given => return Err(reader.twice(line, "source")),
            Field::Source => map.next_value_seed(&mut reader.ends[0])?,
            Field::Target if reader.ends[1].is_given => return Err(reader.twice(line, "target")),
            Field::Target => map.next_value_seed(&mut reader.ends[1])?,
            Field::Weight if weight.is_some() => {
                return Err(reader.twice(line, &options.columns.weight));
            }
            Field::Weight => {
                let value = map.next_value_seed(Weight)?;
                if let Some(expected) = weight_flaw(value) {
                    let sentence =
                        format!("`{}` is not a weight: expected {expected}", shown_number(value));
                    return Err(reader.fault(line, &sentence));
                }
                // No negative zero: sums and output do not need two zeros.
                weight = Some(value + 0.0);
            }
            _ => pass_over(reader, &mut map)?,
        }
    }
    let [source, target] = &reader.ends;
    match (source.given(), target.given()) {
        (Some(source), Some(target)) => {
            let added = reader.network.edge([source, target], weight, None, line);
            reader.keep(added)
        }
        _ => Err(reader.fault(line, "the edge has no source or no target")),
    }
}

impl<'de> DeserializeSeed<'de> for &mut Id {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl Visitor<'_> for &mut Id {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an id: a text or an integer")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.is_given = true;
        self.text.clear();
        self.text.push_str(text);
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.visit_str(itoa::Buffer::new().format(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.visit_str(itoa::Buffer::new().format(number))
    }
}

/// Weight, which may still be negative.
struct Weight;

impl<'de> DeserializeSeed<'de> for Weight {
    type Value = f64;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<f64, D::Error> {
        json.deserialize_any(self)
    }
}

impl Visitor<'_> for Weight {
    type Value = f64;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a weight: a finite number, 0 or above, not in quotes")
    }

    fn visit_f64<E>(self, number: f64) -> Result<f64, E> {
        Ok(number)
    }

    fn visit_u64<E>(self, number: u64) -> Result<f64, E> {
        Ok(number as f64)
    }

    fn visit_i64<E>(self, number: i64) -> Result<f64, E> {
        Ok(number as f64)
    }
}

/// A key that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Id,
    Source,
    Target,
    Weight,
    Other,
}

/// Keys of a node or an edge that are read.
struct Keys<'w> {
    of: Of,
    /// Key of an edge's weight, if weights are read.
    weight: Option<&'w str>,
}

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Field, D::Error> {
        json.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Keys<'_> {
    type Value = Field;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Field, E> {
        Ok(match (self.of, key) {
            (Of::Nodes, "id") => Field::Id,
            (Of::Edges, "source") => Field::Source,
            (Of::Edges, "target") => Field::Target,
            (Of::Edges, key) if self.weight == Some(key) => Field::Weight,
            _ => Field::Other,
        })
    }
}

/// Writes a graph.
pub(super) struct NodeLink<'a> {
    graphs: Graphs<'a>,
    ids: AttributeKind,
    is_multigraph: bool,
}

impl<'a> NodeLink<'a> {
    pub(super) fn new(graphs: Graphs<'a>) -> NodeLink<'a> {
        let ids = AttributeKind::of(graphs.graph.ids());
        NodeLink { graphs, ids, is_multigraph: has_repeated_edges(graphs.graph) }
    }

    fn push_id(&self, text: &mut Vec<u8>, vertex: VertexId) {
        let id = self.graphs.id(vertex);
        match self.ids {
            AttributeKind::Integer => push_value(text, &id),
            // Numbers that a reader would round.
            AttributeKind::Text if matches!(id, Value::Integer(_)) => {
                text.push(b'"');
                push_value(text, &id);
                text.push(b'"');
            }
            AttributeKind::Text => push_value(text, &id),
        }
    }
}

/// Whether two edges have the same ends; the lists of a graph are sorted.
fn has_repeated_edges(graph: &Graph) -> bool {
    graph.shards().iter().any(|shard| {
        let out = shard.out();
        (0..shard.vertices().len())
            .into_par_iter()
            .any(|local| out.of(local).windows(2).any(|pair| pair[0] == pair[1]))
    })
}

impl Syntax for NodeLink<'_> {
    fn head(&self, text: &mut Vec<u8>) {
        let directed = self.graphs.graph.direction() == Direction::Directed;
        let _ = write!(
            text,
            "{{\"directed\": {directed}, \"multigraph\": {}, \"graph\": {{}},\n\"nodes\": [",
            self.is_multigraph
        );
    }

    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId) {
        text.extend_from_slice(if vertex == 0 { b"\n{\"id\": " } else { b",\n{\"id\": " });
        self.push_id(text, vertex);
        for (name, value) in self.graphs.attributes_of(vertex) {
            text.extend_from_slice(b", \"");
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b"\": ");
            push_value(text, &value);
        }
        text.push(b'}');
    }

    fn between(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"\n],\n\"edges\": [");
    }

    fn edge(&self, text: &mut Vec<u8>, edge: Edge) {
        text.extend_from_slice(if edge.is_first {
            b"\n{\"source\": "
        } else {
            b",\n{\"source\": "
        });
        self.push_id(text, edge.source);
        text.extend_from_slice(b", \"target\": ");
        self.push_id(text, edge.target);
        if let Some(weight) = edge.weight {
            text.extend_from_slice(b", \"weight\": ");
            push_weight(text, weight);
        }
        text.push(b'}');
    }

    fn end(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"\n]}\n");
    }
}

fn push_value(text: &mut Vec<u8>, value: &Value<'_>) {
    value.push(text, push_json);
}
