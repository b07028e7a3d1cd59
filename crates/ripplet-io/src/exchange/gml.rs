//! GML: lists of nodes and edges in brackets.
//!
//! ```text
//! # a comment
//! graph [
//!   directed 1
//!   node [ id 1 label "Ann &amp; Bob" ]
//!   node [ id 2 label "Cy" graphics [ x 1.5 ] ]
//!   edge [ source 1 target 2 weight 0.5 ]
//! ]
//! ```
//!
//! The id of a vertex is its label if every node has a unique non-empty label; else, on the same conditions,
//! its `name`, as igraph writes it; else its `id`. Labels that are all integers as they print are integers.
//! With [`IdKind::Unsigned`] or [`IdKind::Signed`], it is the `id` if labels are not all such integers.
//! Vertices are all nodes of the file, with edges or without.
//!
//! A weight is the value of `weight` (or of the key in [`crate::Columns`]), else that of `value`. All other
//! keys are skipped, including nested lists. In strings, `&quot;`, `&amp;`, `&lt;`, `&gt;`, `&apos;` and
//! `&#233;` encode a character. Keys ignore case.
//!
//! In output, a vertex's label is its id. So is its number `id`, if all ids are 32-bit integers, as the
//! format requires; else vertices are numbered from 0. Non-ASCII characters are written as `&#233;`.
//!
//! Reference: Himsolt, *GML: A portable graph file format*, Universität Passau, 1997.

use super::network::{Found, Network, NodeNaming};
use super::stream::LONGEST_PIECE;
use super::syntax::{Edge, Graphs, Syntax, Value};
use crate::fault::Fault;
use crate::output::text::{push_integer, push_weight};
use crate::text::token::{self, show};
use crate::text::{LONGEST_OF_WORDS, Text};
use crate::{IdKind, ReadErrorKind, ReadOptions};
use ripplet_graph::{Direction, ExternalId, VertexId, VertexIds, memory};
use std::borrow::Cow;

/// Reads a graph.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Found, Fault> {
    text.longest_line(LONGEST_OF_WORDS);
    let mut parser = Parser::new(options);
    let mut open = None;
    loop {
        let line = text.line() + 1;
        let Some(bytes) = text.peek_line()? else { break };
        tokens(bytes, &mut open, line, |token| parser.take(token, line))?;
        text.skip_line();
    }
    if open.is_some() {
        return Err(Fault::line(
            text.line(),
            "the file ends within a string: expected a closing `\"`",
        ));
    }
    parser.finish(text.line())
}

/// Token of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    /// A key, or a number.
    Word(&'a [u8]),
    /// Contents of a quoted string.
    String(&'a [u8]),
}

/// Calls `visit` for each token of a line with the given number. A string that continues on the next line is
/// kept in `open`.
fn tokens(
    line: &[u8],
    open: &mut Option<Vec<u8>>,
    number: u64,
    mut visit: impl FnMut(Token<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut rest = line;
    if let Some(begun) = open {
        let end = memchr::memchr(b'"', rest);
        if begun.len() + end.unwrap_or(rest.len()) >= LONGEST_PIECE {
            return Err(Fault::line(number, too_long()));
        }
        memory::push(begun, b'\n')?;
        memory::extend(begun, &rest[..end.unwrap_or(rest.len())])?;
        let Some(end) = end else { return Ok(()) };
        visit(Token::String(begun))?;
        *open = None;
        rest = &rest[end + 1..];
    }
    loop {
        rest = rest.trim_ascii_start();
        let Some((&first, others)) = rest.split_first() else { return Ok(()) };
        rest = others;
        match first {
            b'#' => return Ok(()),
            b'[' => visit(Token::Open)?,
            b']' => visit(Token::Close)?,
            b'"' => match memchr::memchr(b'"', rest) {
                Some(end) if end >= LONGEST_PIECE => return Err(Fault::line(number, too_long())),
                Some(end) => {
                    visit(Token::String(&rest[..end]))?;
                    rest = &rest[end + 1..];
                }
                None if rest.len() >= LONGEST_PIECE => return Err(Fault::line(number, too_long())),
                None => {
                    *open = Some(memory::copied(rest)?);
                    return Ok(());
                }
            },
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b"[]\"".contains(byte);
                let length = 1 + rest.iter().position(ends).unwrap_or(rest.len());
                let from = line.len() - rest.len() - 1;
                visit(Token::Word(&line[from..from + length]))?;
                rest = &line[from + length..];
            }
        }
    }
}

fn too_long() -> ReadErrorKind {
    "a string of more than 1 MiB: expected a closing `\"`".into()
}

/// Current list, of those that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    File,
    Graph,
    Node,
    Edge,
}

/// Key whose value is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Graph,
    Node,
    Edge,
    Directed,
    Id,
    Label,
    Name,
    Source,
    Target,
    Weight,
    /// A weight, if there is no `weight`.
    Value,
    Other,
}

/// List of the graph that a token ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    Node,
    Edge,
}

/// Parser of tokens.
struct Parser<'o> {
    network: Network<'o>,
    /// Whether edges have a direction, if the graph says.
    directed: Option<bool>,
    within: Within,
    /// Number of open lists that are skipped.
    passed_over: u64,
    key: Option<Key>,
    /// Lines at which the graph, and the current node or edge, begin.
    graph_line: u64,
    line: u64,
    /// Values of the current node or edge.
    id: Option<i64>,
    source: Option<i64>,
    target: Option<i64>,
    weight: Option<f64>,
    value: Option<f64>,
    label: String,
    has_label: bool,
    name: String,
    has_name: bool,
}

impl<'o> Parser<'o> {
    fn new(options: &'o ReadOptions) -> Parser<'o> {
        Parser {
            network: Network::new(options, NodeNaming::Names),
            directed: None,
            within: Within::File,
            passed_over: 0,
            key: None,
            graph_line: 0,
            line: 0,
            id: None,
            source: None,
            target: None,
            weight: None,
            value: None,
            label: String::new(),
            has_label: false,
            name: String::new(),
            has_name: false,
        }
    }

    fn take(&mut self, token: Token<'_>, line: u64) -> Result<(), Fault> {
        match self.pass(token, line) {
            Ok(None) => Ok(()),
            Ok(Some(Whole::Node)) => self.node(line),
            Ok(Some(Whole::Edge)) => self.edge(line),
            Err(why) => Err(Fault::line(line, why)),
        }
    }

    /// Processes a token, and returns the list that it ends.
    fn pass(&mut self, token: Token<'_>, line: u64) -> Result<Option<Whole>, ReadErrorKind> {
        if self.passed_over > 0 {
            match token {
                Token::Open => self.passed_over += 1,
                Token::Close => self.passed_over -= 1,
                Token::Word(_) | Token::String(_) => {}
            }
            return Ok(None);
        }
        match (self.key.take(), token) {
            (Some(key), Token::Open) => self.enter(key, line).map(|()| None),
            (Some(key), Token::Word(value) | Token::String(value)) => {
                self.set(key, value, matches!(token, Token::String(_))).map(|()| None)
            }
            (Some(_), Token::Close) => Err("a key has no value: expected one before `]`".into()),
            (None, Token::Close) => self.leave(),
            (None, Token::Word(word)) => {
                self.key = Some(self.key(word)?);
                Ok(None)
            }
            (None, Token::Open) => Err("`[` without a key before it".into()),
            (None, Token::String(text)) => {
                Err(format!("expected a key, found the string \"{}\"", show(text)).into())
            }
        }
    }

    fn key(&self, word: &[u8]) -> Result<Key, ReadErrorKind> {
        if !word[0].is_ascii_alphabetic() && word[0] != b'_' {
            return Err(format!("expected a key, found `{}`", show(word)).into());
        }
        let is = |key: &str| word.eq_ignore_ascii_case(key.as_bytes());
        Ok(match self.within {
            Within::File if is("graph") => Key::Graph,
            Within::Graph if is("node") => Key::Node,
            Within::Graph if is("edge") => Key::Edge,
            Within::Graph if is("directed") => Key::Directed,
            Within::Node if is("id") => Key::Id,
            Within::Node if is("label") => Key::Label,
            Within::Node if is("name") => Key::Name,
            Within::Edge if is("source") => Key::Source,
            Within::Edge if is("target") => Key::Target,
            Within::Edge if is(&self.network.options().columns.weight) => Key::Weight,
            Within::Edge if is("value") => Key::Value,
            _ => Key::Other,
        })
    }

    fn enter(&mut self, key: Key, line: u64) -> Result<(), ReadErrorKind> {
        match key {
            Key::Graph if self.graph_line > 0 => {
                return Err("a second graph: expected a file of one".into());
            }
            Key::Graph => (self.within, self.graph_line) = (Within::Graph, line),
            Key::Node => (self.within, self.line) = (Within::Node, line),
            Key::Edge => (self.within, self.line) = (Within::Edge, line),
            Key::Label | Key::Name | Key::Other => self.passed_over = 1,
            Key::Weight | Key::Value if !self.network.options().weighted => self.passed_over = 1,
            Key::Directed | Key::Id | Key::Source | Key::Target | Key::Weight | Key::Value => {
                return Err("a list where a number was expected".into());
            }
        }
        Ok(())
    }

    fn set(&mut self, key: Key, value: &[u8], string: bool) -> Result<(), ReadErrorKind> {
        match key {
            Key::Id => once(&mut self.id, integer(value)?, "id")?,
            Key::Source => once(&mut self.source, integer(value)?, "source")?,
            Key::Target => once(&mut self.target, integer(value)?, "target")?,
            Key::Directed => {
                let directed = match value {
                    b"0" => false,
                    b"1" => true,
                    _ => return Err(format!("`directed {}`: expected 0 or 1", show(value)).into()),
                };
                once(&mut self.directed, directed, "directed")?;
            }
            Key::Label => self.set_label(&unescaped(value, string))?,
            Key::Name => self.set_name(&unescaped(value, string)),
            Key::Weight if self.network.options().weighted => {
                let name = &self.network.options().columns.weight;
                once(&mut self.weight, token::weight(value)?, name)?;
            }
            Key::Value if self.network.options().weighted => {
                // Any value is allowed if there is a `weight`, which may follow.
                once(&mut self.value, token::weight(value).unwrap_or(f64::NAN), "value")?;
            }
            Key::Weight | Key::Value | Key::Other => {}
            Key::Graph | Key::Node | Key::Edge => {
                return Err(format!("expected `[`, found `{}`", show(value)).into());
            }
        }
        Ok(())
    }

    /// Sets the label.
    fn set_label(&mut self, label: &[u8]) -> Result<(), ReadErrorKind> {
        if std::mem::replace(&mut self.has_label, true) {
            return Err(twice("label"));
        }
        match std::str::from_utf8(label) {
            Ok(label) => self.label.push_str(label),
            Err(_) if matches!(self.network.options().ids, IdKind::Unsigned | IdKind::Signed) => {}
            Err(_) => {
                let label = show(label);
                return Err(format!("the label `{label}` is not UTF-8: convert the file").into());
            }
        }
        Ok(())
    }

    /// Sets the name: the first one, if it is text. Other values are ignored, like those of other keys.
    fn set_name(&mut self, name: &[u8]) {
        let is_first = !std::mem::replace(&mut self.has_name, true);
        if let (true, Ok(name)) = (is_first, std::str::from_utf8(name)) {
            self.name.push_str(name);
        } else {
            self.name.clear();
        }
    }

    fn leave(&mut self) -> Result<Option<Whole>, ReadErrorKind> {
        let (outer, ended) = match self.within {
            Within::File => return Err("`]` without `[` before it".into()),
            Within::Graph => (Within::File, None),
            Within::Node => (Within::Graph, Some(Whole::Node)),
            Within::Edge => (Within::Graph, Some(Whole::Edge)),
        };
        self.within = outer;
        Ok(ended)
    }

    fn node(&mut self, line: u64) -> Result<(), Fault> {
        let Some(id) = self.id.take() else {
            return Err(Fault::line(line, format!("the node of line {} has no id", self.line)));
        };
        let mut number = itoa::Buffer::new();
        let id = number.format(id);
        let added = self.network.node_of_two(id, [&self.label, &self.name], self.line);
        self.label.clear();
        self.name.clear();
        (self.has_label, self.has_name) = (false, false);
        added
    }

    fn edge(&mut self, line: u64) -> Result<(), Fault> {
        let (Some(source), Some(target)) = (self.source.take(), self.target.take()) else {
            let sentence = format!("the edge of line {} has no source or no target", self.line);
            return Err(Fault::line(line, sentence));
        };
        let (weight, value) = (self.weight.take(), self.value.take());
        let weight = weight.or(value).filter(|weight| !weight.is_nan());
        let (mut first, mut second) = (itoa::Buffer::new(), itoa::Buffer::new());
        let ends = [first.format(source), second.format(target)];
        self.network.edge(ends, weight, None, self.line)
    }

    fn finish(self, last: u64) -> Result<Found, Fault> {
        let begin = match self.within {
            Within::File => None,
            Within::Graph => Some(self.graph_line),
            Within::Node | Within::Edge => Some(self.line),
        };
        if let Some(begin) = begin {
            let sentence = format!("the file ends within the list that line {begin} begins");
            return Err(Fault::line(last, sentence));
        }
        if self.passed_over > 0 || self.key.is_some() {
            return Err(Fault::line(last, "the file ends within a list or before a key's value"));
        }
        if self.graph_line == 0 {
            return Err(Fault::whole("the file has no graph: expected `graph [`"));
        }
        // A graph that does not say it is undirected.
        self.network.finish(Some(self.directed.unwrap_or(false)))
    }
}

/// Sets a value that may be given only once.
fn once<T>(slot: &mut Option<T>, value: T, key: &str) -> Result<(), ReadErrorKind> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice(key)),
    }
}

fn twice(key: &str) -> ReadErrorKind {
    format!("`{key}` is given twice: expected it once").into()
}

fn integer(value: &[u8]) -> Result<i64, String> {
    token::parse(value).ok_or_else(|| {
        format!("`{}` is no id of a node: expected an integer that fits 64 bits", show(value))
    })
}

/// Decodes the character references of a string: `&amp;` and the like.
fn unescaped(text: &[u8], string: bool) -> Cow<'_, [u8]> {
    /// Longest known reference, `&#x10ffff;`, with leading zeros.
    const LONGEST: usize = 12;
    if !string || !text.contains(&b'&') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (Vec::new(), text);
    while let Some(start) = memchr::memchr(b'&', rest) {
        plain.extend_from_slice(&rest[..start]);
        rest = &rest[start..];
        let end = rest.iter().take(LONGEST).position(|&byte| byte == b';');
        match end.and_then(|end| Some((end, character(&rest[1..end])?))) {
            Some((end, character)) => {
                plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[end + 1..];
            }
            // A literal ampersand.
            None => {
                plain.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

fn character(name: &[u8]) -> Option<char> {
    let name = std::str::from_utf8(name).ok()?;
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// Writes a graph.
pub(super) struct Gml<'a> {
    graphs: Graphs<'a>,
    /// Whether the ids are 32-bit integers, and number the nodes.
    by_id: bool,
    /// Attributes of which some value is no 32-bit integer: all their values are strings, so that readers see
    /// one type.
    of_text: Vec<&'static str>,
}

impl<'a> Gml<'a> {
    pub(super) fn new(graphs: Graphs<'a>) -> Gml<'a> {
        let ids = graphs.graph.ids();
        let fits = |vertex: VertexId| match ids.get(vertex) {
            ExternalId::Unsigned(id) => i32::try_from(id).is_ok(),
            ExternalId::Signed(id) => i32::try_from(id).is_ok(),
            ExternalId::Name(_) => false,
        };
        // Ids ascend.
        let last = ids.len().saturating_sub(1) as VertexId;
        let by_id =
            !matches!(ids, VertexIds::Names(_)) && (ids.is_empty() || fits(0) && fits(last));
        let mut of_text: Vec<&'static str> = Vec::new();
        for vertex in 0..ids.len() as VertexId {
            for (name, value) in graphs.attributes_of(vertex) {
                if !is_small(&value) && !of_text.contains(&name) {
                    of_text.push(name);
                }
            }
        }
        Gml { graphs, by_id, of_text }
    }

    fn push_number(&self, text: &mut Vec<u8>, vertex: VertexId) {
        match self.by_id {
            true => push_value(text, &self.graphs.id(vertex)),
            false => push_integer(text, vertex),
        }
    }
}

impl Syntax for Gml<'_> {
    fn head(&self, text: &mut Vec<u8>) {
        let directed = self.graphs.graph.direction() == Direction::Directed;
        text.extend_from_slice(b"graph [\n");
        if directed {
            text.extend_from_slice(b"  directed 1\n");
        } else {
            text.extend_from_slice(b"  directed 0\n");
        }
    }

    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId) {
        text.extend_from_slice(b"  node [ id ");
        self.push_number(text, vertex);
        text.extend_from_slice(b" label \"");
        self.graphs.id(vertex).push(text, push_escaped);
        text.push(b'"');
        for (name, value) in self.graphs.attributes_of(vertex) {
            text.push(b' ');
            text.extend_from_slice(name.as_bytes());
            text.push(b' ');
            match self.of_text.contains(&name) {
                true => push_string(text, &value),
                false => push_value(text, &value),
            }
        }
        text.extend_from_slice(b" ]\n");
    }

    fn edge(&self, text: &mut Vec<u8>, edge: Edge) {
        text.extend_from_slice(b"  edge [ source ");
        self.push_number(text, edge.source);
        text.extend_from_slice(b" target ");
        self.push_number(text, edge.target);
        if let Some(weight) = edge.weight {
            text.extend_from_slice(b" weight ");
            push_weight(text, weight);
        }
        text.extend_from_slice(b" ]\n");
    }

    fn end(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"]\n");
    }
}

/// Appends a 32-bit integer, or any other value as a string, as the format has no larger integers.
fn push_value(text: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Integer(value) if i32::try_from(*value).is_ok() => push_integer(text, *value),
        value => push_string(text, value),
    }
}

fn push_string(text: &mut Vec<u8>, value: &Value<'_>) {
    text.push(b'"');
    value.push(text, push_escaped);
    text.push(b'"');
}

/// Whether a value is a 32-bit integer.
fn is_small(value: &Value<'_>) -> bool {
    matches!(value, Value::Integer(value) if i32::try_from(*value).is_ok())
}

/// Appends a quoted text.
fn push_escaped(text: &mut Vec<u8>, value: &str) {
    for letter in value.chars() {
        match letter {
            '&' => text.extend_from_slice(b"&amp;"),
            '"' => text.extend_from_slice(b"&quot;"),
            ' '..='~' => text.push(letter as u8),
            letter => {
                text.extend_from_slice(b"&#");
                push_integer(text, letter as u32);
                text.push(b';');
            }
        }
    }
}
