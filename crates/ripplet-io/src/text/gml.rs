//! GML: lists of nodes and edges in brackets.
//!
//! ```text
//! # a comment
//! graph [
//!   directed 1                          passed over: the option decides
//!   node [ id 1 label "Ann &amp; Bob" ]
//!   node [ id 2 label "Cy" graphics [ x 1.5 ] ]
//!   edge [ source 1 target 2 weight 0.5 ]
//! ]
//! ```
//!
//! A vertex is called by its label where every node has one, no two have the same, and none is empty;
//! else by its id. Labels that are all non-negative integers as they print are integers. With
//! [`IdKind::Unsigned`] or [`IdKind::Signed`] the ids are read, whatever the labels are. Vertices are all
//! nodes of the file, with edges or without.
//!
//! A weight is the value of `weight` (or what [`crate::Columns`] calls it), or failing that of `value`.
//! An edge leads from its source to its target where edges are to have a direction, also in a file that
//! says `directed 0`, and has none where not, also in one that says `directed 1`. All other keys are
//! passed over, with lists of any depth in them. In strings, `&quot;`, `&amp;`, `&lt;`, `&gt;`, `&apos;` and
//! `&#233;` stand for a character. Upper and lower case of a key are the same.
//!
//! Runs on one thread. Memory: 24 bytes an edge (32 with weights), 32 a node, and the labels, beside the
//! table.
//!
//! Reference: Himsolt, *GML: A portable graph file format*, Universität Passau, 1997.

use super::source::LONGEST_OF_WORDS;
use super::token::{self, show};
use super::{Fault, Text};
use crate::{IdKind, ReadErrorKind, ReadOptions};
use rayon::prelude::*;
use ripplet_graph::{EdgeTable, MAX_VERTICES, Names, OutOfMemory, VertexId, VertexIds, memory};
use std::borrow::Cow;

/// The longest string: nobody's label, but a bound on memory for one that does not end.
const LONGEST_STRING: usize = 1 << 20;

/// Reads a graph.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<EdgeTable, Fault> {
    text.longest_line(LONGEST_OF_WORDS);
    let mut parser = Parser::new(options);
    let mut open = None;
    loop {
        let line = text.line() + 1;
        let Some(bytes) = text.peek_line()? else { break };
        let read = tokens(bytes, &mut open, |token| parser.take(token, line));
        read.map_err(|why| Fault::line(line, why))?;
        text.skip_line();
    }
    if open.is_some() {
        return Err(Fault::line(
            text.line(),
            "the file ends within a string: expected a closing `\"`",
        ));
    }
    parser.finish(text.line())?.into_table(options)
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    /// A key, or a number.
    Word(&'a [u8]),
    /// What stands between quotes.
    String(&'a [u8]),
}

/// Calls `visit` for each token of a line. A string that the line does not end stays in `open`, where
/// the next line finds it.
fn tokens(
    line: &[u8],
    open: &mut Option<Vec<u8>>,
    mut visit: impl FnMut(Token<'_>) -> Result<(), ReadErrorKind>,
) -> Result<(), ReadErrorKind> {
    let mut rest = line;
    if let Some(begun) = open {
        let end = memchr::memchr(b'"', rest);
        if begun.len() + end.unwrap_or(rest.len()) >= LONGEST_STRING {
            return Err(too_long());
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
                Some(end) if end >= LONGEST_STRING => return Err(too_long()),
                Some(end) => {
                    visit(Token::String(&rest[..end]))?;
                    rest = &rest[end + 1..];
                }
                None if rest.len() >= LONGEST_STRING => return Err(too_long()),
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

/// The list that the text is in, of those that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    File,
    Graph,
    Node,
    Edge,
}

/// A key whose value is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Graph,
    Node,
    Edge,
    Id,
    Label,
    Source,
    Target,
    Weight,
    /// A weight, where there is no other.
    Value,
    Other,
}

/// Puts tokens together.
struct Parser<'o> {
    options: &'o ReadOptions,
    within: Within,
    /// Lists that do not matter and are open.
    passed_over: u64,
    key: Option<Key>,
    /// Where the graph, and the node or edge in it, begins.
    graph_line: u64,
    line: u64,
    /// What is known of the node or edge.
    id: Option<i64>,
    source: Option<i64>,
    target: Option<i64>,
    weight: Option<f64>,
    value: Option<f64>,
    label: Option<Vec<u8>>,
    lists: Lists,
}

/// The nodes and edges of a graph.
#[derive(Default)]
struct Lists {
    nodes: Vec<Node>,
    /// The labels one behind the other.
    labels: Vec<u8>,
    edges: Vec<Edge>,
    weights: Vec<f64>,
}

struct Node {
    id: i64,
    line: u64,
    /// Where its label ends, which begins where that of the node before ends; it may be empty.
    label_end: usize,
}

struct Edge {
    ends: [i64; 2],
    line: u64,
}

impl<'o> Parser<'o> {
    fn new(options: &'o ReadOptions) -> Parser<'o> {
        Parser {
            options,
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
            label: None,
            lists: Lists::default(),
        }
    }

    fn take(&mut self, token: Token<'_>, line: u64) -> Result<(), ReadErrorKind> {
        if self.passed_over > 0 {
            match token {
                Token::Open => self.passed_over += 1,
                Token::Close => self.passed_over -= 1,
                Token::Word(_) | Token::String(_) => {}
            }
            return Ok(());
        }
        match (self.key.take(), token) {
            (Some(key), Token::Open) => self.enter(key, line),
            (Some(key), Token::Word(value) | Token::String(value)) => {
                self.set(key, value, matches!(token, Token::String(_)))
            }
            (Some(_), Token::Close) => Err("a key has no value: expected one before `]`".into()),
            (None, Token::Close) => self.leave(),
            (None, Token::Word(word)) => {
                self.key = Some(self.key(word)?);
                Ok(())
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
            Within::Node if is("id") => Key::Id,
            Within::Node if is("label") => Key::Label,
            Within::Edge if is("source") => Key::Source,
            Within::Edge if is("target") => Key::Target,
            Within::Edge if is(&self.options.columns.weight) => Key::Weight,
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
            Key::Label | Key::Other => self.passed_over = 1,
            Key::Weight | Key::Value if !self.options.weighted => self.passed_over = 1,
            Key::Id | Key::Source | Key::Target | Key::Weight | Key::Value => {
                return Err("a list where a number was expected".into());
            }
        }
        Ok(())
    }

    fn set(&mut self, key: Key, value: &[u8], string: bool) -> Result<(), ReadErrorKind> {
        match key {
            Key::Id => self.id = Some(integer(value)?),
            Key::Source => self.source = Some(integer(value)?),
            Key::Target => self.target = Some(integer(value)?),
            Key::Label => self.label = Some(memory::copied(&unescaped(value, string))?),
            Key::Weight if self.options.weighted => self.weight = Some(token::weight(value)?),
            Key::Value if self.options.weighted && self.weight.is_none() => {
                // It may be anything where there is a weight, which may come later.
                self.value = Some(token::weight(value).unwrap_or(f64::NAN));
            }
            Key::Weight | Key::Value | Key::Other => {}
            Key::Graph | Key::Node | Key::Edge => {
                return Err(format!("expected `[`, found `{}`", show(value)).into());
            }
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), ReadErrorKind> {
        self.within = match self.within {
            Within::File => return Err("`]` without `[` before it".into()),
            Within::Graph => Within::File,
            Within::Node => {
                self.node()?;
                Within::Graph
            }
            Within::Edge => {
                self.edge()?;
                Within::Graph
            }
        };
        Ok(())
    }

    fn node(&mut self) -> Result<(), ReadErrorKind> {
        let id =
            self.id.take().ok_or_else(|| format!("the node of line {} has no id", self.line))?;
        let Lists { nodes, labels, .. } = &mut self.lists;
        if nodes.len() >= MAX_VERTICES as usize {
            return Err(format!("more nodes than the {MAX_VERTICES} that a graph can have").into());
        }
        memory::extend(labels, &self.label.take().unwrap_or_default())?;
        Ok(memory::push(nodes, Node { id, line: self.line, label_end: labels.len() })?)
    }

    fn edge(&mut self) -> Result<(), ReadErrorKind> {
        let (Some(source), Some(target)) = (self.source.take(), self.target.take()) else {
            return Err(format!("the edge of line {} has no source or no target", self.line).into());
        };
        let (weight, value) = (self.weight.take(), self.value.take());
        if self.options.weighted {
            let weight = weight.or(value).filter(|weight| !weight.is_nan()).ok_or_else(|| {
                format!(
                    "the edge of line {} has no weight: expected `{} 0.5`, a finite number, 0 or above",
                    self.line, self.options.columns.weight
                )
            })?;
            memory::push(&mut self.lists.weights, weight)?;
        }
        let edge = Edge { ends: [source, target], line: self.line };
        Ok(memory::push(&mut self.lists.edges, edge)?)
    }

    fn finish(self, last: u64) -> Result<Lists, Fault> {
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
        Ok(self.lists)
    }
}

fn integer(value: &[u8]) -> Result<i64, String> {
    token::parse(value).ok_or_else(|| {
        format!("`{}` is no id of a node: expected an integer that fits 64 bits", show(value))
    })
}

/// A string's text: `&amp;` and the like become their characters.
fn unescaped(text: &[u8], string: bool) -> Cow<'_, [u8]> {
    /// The longest of those that are known, `&#x10ffff;`, and zeros.
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
            // An ampersand that is one.
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

impl Lists {
    fn into_table(self, options: &ReadOptions) -> Result<EdgeTable, Fault> {
        let by_id = self.by_id()?;
        let (ids, order) = match self.names(options.ids)? {
            Some(named) => named,
            None => self.ids(options.ids, &by_id)?,
        };
        let mut rank = memory::zeros::<VertexId>(self.nodes.len())?;
        for (vertex, &node) in (0..).zip(&order) {
            rank[node as usize] = vertex;
        }
        let find = |id: i64| {
            let at = by_id.binary_search_by_key(&id, |&node| self.nodes[node as usize].id);
            at.map(|at| rank[by_id[at] as usize]).map_err(|_| id)
        };
        let mut ends = memory::filled([0; 2], self.edges.len())?;
        let numbered = ends.par_iter_mut().zip(&self.edges).map(|(ends, edge)| {
            let [source, target] = edge.ends.map(find);
            let strange = |id| (edge.line, id);
            *ends = [source.map_err(strange)?, target.map_err(strange)?];
            Ok(())
        });
        let strange = numbered.find_first(Result::is_err);
        if let Some(Err((line, id))) = strange {
            return Err(Fault::line(
                line,
                format!("the edge names node {id}, which the file has not"),
            ));
        }
        let sources = memory::collected(ends.iter().map(|ends| ends[0]))?;
        let targets = memory::collected(ends.iter().map(|ends| ends[1]))?;
        let table = EdgeTable::new(ids, sources, targets)?;
        Ok(if options.weighted { table.with_weights(self.weights)? } else { table })
    }

    /// The nodes in the order of their ids, of which no two are the same.
    fn by_id(&self) -> Result<Vec<VertexId>, Fault> {
        let mut order = memory::collected(0..self.nodes.len() as VertexId)?;
        let id = |node: VertexId| self.nodes[node as usize].id;
        order.par_sort_by_key(|&node| id(node));
        let twice = order.windows(2).filter(|pair| id(pair[0]) == id(pair[1]));
        match twice.map(|pair| &self.nodes[pair[1] as usize]).min_by_key(|node| node.line) {
            None => Ok(order),
            Some(Node { id, line, .. }) => {
                Err(Fault::line(*line, format!("a second node has the id {id}")))
            }
        }
    }

    fn label(&self, node: VertexId) -> &[u8] {
        let node = node as usize;
        let begin = if node == 0 { 0 } else { self.nodes[node - 1].label_end };
        &self.labels[begin..self.nodes[node].label_end]
    }

    /// The labels, and the nodes in their order, where they are names or ids to call vertices by.
    fn names(&self, kind: IdKind) -> Result<Option<(VertexIds, Vec<VertexId>)>, Fault> {
        let nodes = self.nodes.len() as VertexId;
        let read = matches!(kind, IdKind::Auto | IdKind::Names);
        if !read || nodes == 0 || (0..nodes).any(|node| self.label(node).is_empty()) {
            return Ok(None);
        }
        if kind == IdKind::Auto && (0..nodes).all(|node| as_printed(self.label(node)).is_some()) {
            let number = |node: VertexId| as_printed(self.label(node)).unwrap_or_default();
            return self
                .ordered(number)
                .map(|order| {
                    let order = order?;
                    let ids: Vec<u64> = order.iter().map(|&node| number(node)).collect();
                    Some((integers(ids), order))
                })
                .map_err(Into::into);
        }
        let Some(order) = self.ordered(|node| self.label(node))? else { return Ok(None) };
        let text = |node: VertexId| {
            std::str::from_utf8(self.label(node)).map_err(|_| {
                let line = self.nodes[node as usize].line;
                Fault::line(line, format!("the label `{}` is not UTF-8", show(self.label(node))))
            })
        };
        let names = order.iter().map(|&node| text(node)).collect::<Result<Vec<_>, _>>()?;
        Ok(Some((VertexIds::Names(Names::new(names)), order)))
    }

    /// The nodes by what `key` says of them; `None` where it says the same of two.
    fn ordered<K: Ord>(
        &self,
        key: impl Fn(VertexId) -> K + Sync,
    ) -> Result<Option<Vec<VertexId>>, OutOfMemory> {
        let mut order = memory::collected(0..self.nodes.len() as VertexId)?;
        order.par_sort_unstable_by(|&a, &b| key(a).cmp(&key(b)));
        let distinct = order.windows(2).all(|pair| key(pair[0]) < key(pair[1]));
        Ok(distinct.then_some(order))
    }

    /// The ids, and the nodes in their order.
    fn ids(&self, kind: IdKind, by_id: &[VertexId]) -> Result<(VertexIds, Vec<VertexId>), Fault> {
        let id = |node: VertexId| self.nodes[node as usize].id;
        let order = memory::copied(by_id)?;
        if kind == IdKind::Names {
            let mut names =
                memory::collected(order.iter().map(|&node| (id(node).to_string(), node)))?;
            names.sort_unstable();
            let ids = Names::new(names.iter().map(|(name, _)| name.as_str()));
            let order = memory::collected(names.iter().map(|&(_, node)| node))?;
            return Ok((VertexIds::Names(ids), order));
        }
        let first = order.first().map_or(0, |&node| id(node));
        if first >= 0 {
            let ids = memory::collected(order.iter().map(|&node| id(node) as u64))?;
            return Ok((integers(ids), order));
        }
        if kind == IdKind::Unsigned {
            let node = &self.nodes[order[0] as usize];
            let sentence = format!("the id {} is negative; use --ids signed", node.id);
            return Err(Fault::line(node.line, sentence));
        }
        let ids = memory::collected(order.iter().map(|&node| id(node)))?;
        Ok((VertexIds::Signed(ids.into()), order))
    }
}

/// A label as a non-negative integer, where it is one and prints as the label is.
fn as_printed(label: &[u8]) -> Option<u64> {
    let plain = label.iter().all(u8::is_ascii_digit) && (label[0] != b'0' || label.len() == 1);
    plain.then(|| token::parse(label))?
}

/// Ascending integers as ids, which are not stored where they are consecutive.
fn integers(ids: Vec<u64>) -> VertexIds {
    let first = ids.first().copied().unwrap_or(0);
    let last = ids.last().copied().unwrap_or(0);
    if last - first == (ids.len() as u64).saturating_sub(1) && last < u64::MAX {
        return VertexIds::Consecutive { first, count: ids.len() as u32 };
    }
    VertexIds::Unsigned(ids.into())
}
