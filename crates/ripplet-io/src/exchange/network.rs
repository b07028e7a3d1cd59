//! Nodes and edges in the order of a file, and the edge table of them.

use crate::fault::Fault;
use crate::names::InternError;
use crate::names::NameSet;
use crate::text::token::show;
use crate::{IdKind, ReadOptions};
use rayon::prelude::*;
use ripplet_graph::{EdgeTable, Names, OutOfMemory, VertexId, VertexIds, memory};

/// Edge table of a file, with its direction and notes.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) edges: EdgeTable,
    /// Whether the edges have a direction, if the file says.
    pub(super) directed: Option<bool>,
    /// Notes for the user, a sentence each.
    pub(super) notes: Vec<String>,
}

/// Names that become the ids of vertices if every node has a unique one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeNaming {
    /// None: the file's ids.
    Ids,
    /// Names, unless integer ids are requested and these are not.
    Names,
    /// Names, if the ids are `n0`, `n1`, … in the order of the nodes, which igraph generates.
    Igraph,
}

/// Concatenated texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    bytes: String,
    ends: Vec<usize>,
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) -> Result<(), OutOfMemory> {
        self.bytes.try_reserve(text.len()).map_err(|_| OutOfMemory::of::<u8>(text.len()))?;
        self.bytes.push_str(text);
        memory::push(&mut self.ends, self.bytes.len())
    }

    pub(super) fn get(&self, at: usize) -> &str {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[begin..self.ends[at]]
    }
}

/// Graph that is being read.
pub(super) struct Network<'o> {
    options: &'o ReadOptions,
    calls: NodeNaming,
    /// Ids of nodes and of ends of edges, numbered in the order of the file.
    ids: NameSet,
    /// By the number of an id: line of its node, 0 before it is read.
    node_lines: Vec<u64>,
    /// By the number of an id: line of the first edge that names it before its node.
    edge_lines: Vec<u64>,
    /// Numbers of the nodes' ids, in the order of the file.
    nodes: Vec<u32>,
    /// Names of the nodes, which may be empty.
    names: Texts,
    /// Second names of the nodes, used if the first ones are unsuitable; empty before the first non-empty
    /// one.
    others: Texts,
    ends: Vec<[u32; 2]>,
    weights: Vec<f64>,
    directed: Option<bool>,
}

impl<'o> Network<'o> {
    pub(super) fn new(options: &'o ReadOptions, calls: NodeNaming) -> Network<'o> {
        Network {
            options,
            calls,
            ids: NameSet::default(),
            node_lines: Vec::new(),
            edge_lines: Vec::new(),
            nodes: Vec::new(),
            names: Texts::default(),
            others: Texts::default(),
            ends: Vec::new(),
            weights: Vec::new(),
            directed: None,
        }
    }

    /// Returns the options of the caller.
    pub(super) fn options(&self) -> &'o ReadOptions {
        self.options
    }

    fn number(&mut self, id: &str) -> Result<usize, InternError> {
        let number = self.ids.number(id)?;
        if number as usize == self.node_lines.len() {
            memory::push(&mut self.node_lines, 0)?;
            memory::push(&mut self.edge_lines, 0)?;
        }
        Ok(number as usize)
    }

    /// Adds a node with its name, which may be empty.
    pub(super) fn node(&mut self, id: &str, name: &str, line: u64) -> Result<(), Fault> {
        if id.is_empty() {
            return Err(Fault::line(line, "a node's id is empty: give it one"));
        }
        let number = self.number(id).map_err(|error| Fault::line(line, error))?;
        if self.node_lines[number] > 0 {
            let sentence = format!(
                "a second node has the id {}; line {} has the first: give each an id of its own",
                show(id.as_bytes()),
                self.node_lines[number]
            );
            return Err(Fault::line(line, sentence));
        }
        self.node_lines[number] = line;
        memory::push(&mut self.nodes, number as u32)?;
        if self.calls != NodeNaming::Ids {
            self.names.push(name)?;
        }
        Ok(())
    }

    /// Adds a node with two names, the preferred one first.
    pub(super) fn node_of_two(
        &mut self,
        id: &str,
        [name, other]: [&str; 2],
        line: u64,
    ) -> Result<(), Fault> {
        self.node(id, name, line)?;
        // One node without such a name makes these names unsuitable.
        let others = self.others.ends.len() + 1;
        if !other.is_empty() && others == self.nodes.len() {
            self.others.push(other)?;
        }
        Ok(())
    }

    /// Adds an edge. `directed` is whether it has a direction, if the file says.
    pub(super) fn edge(
        &mut self,
        ends: [&str; 2],
        weight: Option<f64>,
        directed: Option<bool>,
        line: u64,
    ) -> Result<(), Fault> {
        self.check_direction(directed, line)?;
        if self.options.weighted {
            let weight = weight.ok_or_else(|| Fault::line(line, self.no_weight()))?;
            memory::push(&mut self.weights, weight)?;
        }
        let source = self.source(ends[0]).map_err(|error| Fault::line(line, error))?;
        let target = self.number(ends[1]).map_err(|error| Fault::line(line, error))?;
        for end in [source, target] {
            if self.node_lines[end] == 0 && self.edge_lines[end] == 0 {
                self.edge_lines[end] = line;
            }
        }
        Ok(memory::push(&mut self.ends, [source as u32, target as u32])?)
    }

    /// Returns the number of an edge's source, which often equals that of the previous edge: files list edges
    /// by source.
    fn source(&mut self, id: &str) -> Result<usize, InternError> {
        if let Some(&[before, _]) = self.ends.last()
            && self.ids.name(before) == id.as_bytes()
        {
            return Ok(before as usize);
        }
        self.number(id)
    }

    fn no_weight(&self) -> String {
        format!(
            "the edge has no weight: expected `{}`, a finite number, 0 or above; or leave --weighted out",
            self.options.columns.weight
        )
    }

    fn check_direction(&mut self, directed: Option<bool>, line: u64) -> Result<(), Fault> {
        match (self.directed, directed) {
            (Some(before), Some(now)) if before != now => Err(Fault::line(
                line,
                "some edges have a direction and others have none: expected edges of one kind",
            )),
            (None, Some(_)) => {
                self.directed = directed;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Builds the table; `directed` is the file's default direction, if it has one.
    pub(super) fn finish(mut self, directed: Option<bool>) -> Result<Found, Fault> {
        self.check_ends()?;
        let lines: Vec<u64> = std::mem::take(&mut self.node_lines);
        let (ids, order) = self.vertex_ids(&lines)?;
        drop(lines);
        let mut vertex_of = memory::zeros::<VertexId>(self.nodes.len())?;
        for (vertex, &node) in (0..).zip(&order) {
            vertex_of[self.nodes[node as usize] as usize] = vertex;
        }
        let column = |end: usize| -> Result<Vec<VertexId>, OutOfMemory> {
            let mut column = memory::zeros(self.ends.len())?;
            let all = column.par_iter_mut().zip(&self.ends);
            all.for_each(|(vertex, ends)| *vertex = vertex_of[ends[end] as usize]);
            Ok(column)
        };
        let (sources, targets) = (column(0)?, column(1)?);
        let directed = self.directed.or(directed);
        let weights = self.options.weighted.then_some(self.weights);
        found(ids, sources, targets, weights, directed)
    }

    /// Rejects an edge that names a node which does not exist.
    fn check_ends(&self) -> Result<(), Fault> {
        let unknown = |&number: &usize| self.node_lines[number] == 0;
        let first = (0..self.node_lines.len())
            .filter(unknown)
            .min_by_key(|&number| (self.edge_lines[number], number));
        match first {
            None => Ok(()),
            Some(number) => {
                let id = show(self.ids.name(number as u32));
                let sentence = format!(
                    "the edge names node {id}, which the file has not: add the node, or correct the edge"
                );
                Err(Fault::line(self.edge_lines[number], sentence))
            }
        }
    }

    fn id(&self, node: u32) -> &str {
        let id = self.ids.name(self.nodes[node as usize]);
        std::str::from_utf8(id).expect("names are added as text")
    }

    /// Returns the ids of the vertices, and the nodes in their order; `lines` are those of the nodes, by the
    /// number of the id.
    fn vertex_ids(&self, lines: &[u64]) -> Result<Ordered<VertexIds>, Fault> {
        let kind = self.options.ids;
        let count = self.nodes.len() as u32;
        let wanted = match self.calls {
            NodeNaming::Ids => false,
            NodeNaming::Names => true,
            NodeNaming::Igraph => (0..count).all(|node| {
                let number = self.id(node).strip_prefix('n').map(as_printed);
                number == Some(Some(u64::from(node)))
            }),
        };
        for names in [&self.names, &self.others] {
            let is_named = |node: u32| !names.get(node as usize).is_empty();
            if !wanted || names.ends.len() < count as usize || !(0..count).all(is_named) {
                continue;
            }
            match called(count, &|node: u32| names.get(node as usize), kind) {
                Ok(Some(called)) => return Ok(called),
                Ok(None) | Err(NamingError::NoInteger(_)) => {}
                Err(NamingError::Memory(refused)) => return Err(refused.into()),
            }
        }
        let id = |node: u32| self.id(node);
        let by_id = called(count, &id, kind).map_err(|why| self.uncalled(why, id, lines))?;
        by_id.ok_or_else(|| Fault::whole("two nodes have the same id"))
    }

    fn uncalled<'a>(
        &self,
        why: NamingError,
        text: impl Fn(u32) -> &'a str,
        lines: &[u64],
    ) -> Fault {
        match why {
            NamingError::Memory(refused) => refused.into(),
            NamingError::NoInteger(node) => {
                let line = lines[self.nodes[node as usize] as usize];
                Fault::line(line, no_integer(text(node)))
            }
        }
    }
}

/// Values in ascending order, with their vertices (in the order of the file).
pub(super) type Ordered<T> = (T, Vec<u32>);

/// Reason that texts are unsuitable as ids.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamingError {
    /// The text of this vertex is not an integer, although integers are requested.
    NoInteger(u32),
    /// Memory allocation failed.
    Memory(OutOfMemory),
}

impl From<OutOfMemory> for NamingError {
    fn from(refused: OutOfMemory) -> NamingError {
        NamingError::Memory(refused)
    }
}

/// Returns the message for an id that should be an integer.
pub(super) fn no_integer(id: &str) -> String {
    let shown = show(id.as_bytes());
    match as_printed_signed(id) {
        Some(_) => format!("the id {shown} is negative; use --ids signed"),
        None => format!(
            "the id `{shown}` is no integer of this kind as integers print; leave --ids out, or use --ids names"
        ),
    }
}

/// Returns the ids of vertices with these names, and the vertices in the order of the ids; `None` if two
/// names are equal.
///
/// With [`IdKind::Auto`], the ids are integers if all names print as integers do.
pub(super) fn called<'a>(
    count: u32,
    text: &(dyn Fn(u32) -> &'a str + Sync),
    kind: IdKind,
) -> Result<Option<Ordered<VertexIds>>, NamingError> {
    let unfit = |fits: fn(&str) -> bool| {
        (0..count).into_par_iter().find_first(|&vertex| !fits(text(vertex)))
    };
    let is_unsigned = |text: &str| as_printed(text).is_some();
    let is_signed = |text: &str| as_printed_signed(text).is_some();
    let kind = match kind {
        IdKind::Auto if unfit(is_unsigned).is_none() => IdKind::Unsigned,
        IdKind::Auto if unfit(is_signed).is_none() => IdKind::Signed,
        IdKind::Auto => IdKind::Names,
        kind => kind,
    };
    let bad = match kind {
        IdKind::Unsigned => unfit(is_unsigned),
        IdKind::Signed => unfit(is_signed),
        IdKind::Auto | IdKind::Names => None,
    };
    if let Some(vertex) = bad {
        return Err(NamingError::NoInteger(vertex));
    }
    Ok(match kind {
        IdKind::Unsigned => {
            let value = |vertex| as_printed(text(vertex)).unwrap_or_default();
            ascending(count, &value)?.map(|(ids, order)| (integers(ids), order))
        }
        IdKind::Signed => {
            let value = |vertex| as_printed_signed(text(vertex)).unwrap_or_default();
            ascending(count, &value)?.map(|(ids, order)| (VertexIds::Signed(ids.into()), order))
        }
        IdKind::Auto | IdKind::Names => ascending(count, text)?
            .map(|(names, order)| (VertexIds::Names(Names::new(names)), order)),
    })
}

/// Sorts the values of vertices, and returns the vertices in this order; `None` if two values are equal.
fn ascending<K: Ord + Copy + Send + Sync>(
    count: u32,
    value: &(dyn Fn(u32) -> K + Sync),
) -> Result<Option<Ordered<Vec<K>>>, OutOfMemory> {
    let mut pairs = memory::with_room(count as usize)?;
    (0..count).into_par_iter().map(|vertex| (value(vertex), vertex)).collect_into_vec(&mut pairs);
    pairs.par_sort_unstable();
    if pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Ok(None);
    }
    let order = memory::collected(pairs.iter().map(|&(_, vertex)| vertex))?;
    Ok(Some((memory::collected(pairs.iter().map(|&(value, _)| value))?, order)))
}

/// Returns the integer whose digits are the text.
fn as_printed(text: &str) -> Option<u64> {
    let is_padded = text.len() > 1 && text.starts_with('0');
    let is_plain = !is_padded && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?
}

/// Variant of [`as_printed`] for signed integers.
fn as_printed_signed(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_padded = digits.starts_with('0') && text.len() > 1;
    let is_plain = !is_padded && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok())?
}

/// Returns ascending integers as ids, which are not stored if they are consecutive.
pub(super) fn integers(ids: Vec<u64>) -> VertexIds {
    let first = ids.first().copied().unwrap_or(0);
    let last = ids.last().copied().unwrap_or(0);
    if last - first == (ids.len() as u64).saturating_sub(1) && last < u64::MAX {
        return VertexIds::Consecutive { first, count: ids.len() as u32 };
    }
    VertexIds::Unsigned(ids.into())
}

/// Combines a table of edges with the file's direction and notes.
pub(super) fn found(
    ids: VertexIds,
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    weights: Option<Vec<f64>>,
    directed: Option<bool>,
) -> Result<Found, Fault> {
    let mut edges = EdgeTable::new(ids, sources, targets)?;
    if let Some(weights) = weights {
        edges = edges.with_weights(weights)?;
    }
    if directed == Some(false) {
        edges = edges.in_both_directions();
    }
    Ok(Found { edges, directed, notes: Vec::new() })
}
