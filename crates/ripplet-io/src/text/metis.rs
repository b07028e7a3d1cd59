//! METIS: an undirected graph as one line of neighbours for each vertex.
//!
//! ```text
//! % a comment
//! 3 2 1          vertices, edges, and which further numbers the lists have
//! 2 7            vertex 1: neighbour 2 over an edge of weight 7
//! 1 7 3 4        vertex 2
//! 2 4            vertex 3
//! ```
//!
//! The digits of the third number in the header are flags, from the last: edges have weights, vertices have
//! weights (a fourth number is their count), vertices have sizes. Vertex weights and sizes are skipped. An
//! edge is listed by both its ends, and is kept once; the lists must agree. Vertices are all of 1..n.
//!
//! Two dialects are supported, too. GAP writes directed graphs, which have as many entries as the header has
//! edges. DIMACS graphs have 100 for "parallel edges and loops are allowed", and no sizes: the number of
//! entries decides which of the two is meant.
//!
//! Memory: 16 bytes per edge (32 with weights) while reading, as each edge is listed twice.
//!
//! Reference: Karypis, *METIS 5.1.0 manual*, section 4.1.1.

use super::Text;
use super::source::{Chunk, LONGEST_LIST, LineFault, lines, spans};
use super::token::{self, show};
use crate::ReadErrorKind;
use crate::ReadOptions;
use crate::fault::Fault;
use crate::intern::{into_column, into_columns};
use rayon::prelude::*;
use ripplet_graph::splitmix::mix;
use ripplet_graph::{EdgeTable, MAX_VERTICES, VertexId, VertexIds, memory};

/// Reads an adjacency list.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<EdgeTable, Fault> {
    text.longest_line(LONGEST_LIST);
    let header = Header::read(text, options)?;
    let mut lists = Vec::new();
    let mut vertices = 0;
    let parse = |chunk: Chunk<'_>| header.lists_of(chunk);
    text.parse_chunks(parse, |mut some, chunk, line| {
        (some.first, some.line) = (vertices, line);
        vertices += some.vertices;
        if let Some(extra) = header.line_too_many(chunk.bytes, some.first) {
            return Err(Fault::line(
                line + extra + 1,
                format!("a list more than the {} that line {} says", header.vertices, header.line),
            ));
        }
        if !some.arcs.is_empty() {
            memory::push(&mut lists, some)?;
        }
        Ok(())
    })?;
    if vertices < u64::from(header.vertices) {
        let (all, line) = (header.vertices, header.line);
        let sentence = format!("the file ends after {vertices} lists: line {line} says {all}");
        return Err(Fault::line(text.line(), sentence));
    }
    header.into_table(lists)
}

/// Header of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    line: u64,
    vertices: u32,
    edges: u64,
    /// Numbers of a list before its neighbours.
    leading: u64,
    /// Whether the first number of a list may be a size; if so, it is kept like a neighbour.
    perhaps_sizes: bool,
    /// Whether each neighbour is followed by a weight.
    edge_weights: bool,
    /// Whether weights are read.
    weighted: bool,
}

/// Lists of a chunk: arcs from vertices counted from `first` to neighbours from 0.
#[derive(Debug, Default)]
struct Lists {
    first: u64,
    vertices: u64,
    /// Number of lines of the file before the chunk.
    line: u64,
    /// For each comment in the chunk, the number of lists before it.
    comments: Vec<u64>,
    arcs: Vec<[VertexId; 2]>,
    weights: Vec<f64>,
}

/// Marks a size that cannot be a neighbour.
const NO_NEIGHBOR: VertexId = VertexId::MAX;

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"%")
}

impl Header {
    fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Header, Fault> {
        text.skip_lines(|line| is_comment(line) || line.trim_ascii().is_empty())?;
        let line = text.line() + 1;
        let Some(bytes) = text.peek_line()? else {
            return Err(Fault::whole("the file has no header: expected `vertices edges`"));
        };
        let header = Header::of(line, bytes, options.weighted);
        let header = header.map_err(|sentence| Fault::line(line, sentence));
        text.skip_line();
        header
    }

    fn of(line: u64, bytes: &[u8], weighted: bool) -> Result<Header, String> {
        let fields: Vec<&[u8]> =
            bytes.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
        let number = |at: usize| fields.get(at).and_then(|field| token::parse::<u64>(field));
        let (Some(vertices), Some(edges), 2..=4) = (number(0), number(1), fields.len()) else {
            let shown = show(bytes.trim_ascii());
            return Err(format!(
                "`{shown}`: expected a header, `vertices edges [format [weights]]`"
            ));
        };
        let vertices = u32::try_from(vertices).ok().filter(|n| (1..=MAX_VERTICES).contains(n));
        let vertices =
            vertices.ok_or_else(|| format!("expected between 1 and {MAX_VERTICES} vertices"))?;
        let [sizes, vertex_weights, edge_weights] = digits_of(fields.get(2).copied())?;
        let constraints = match (vertex_weights, number(3), fields.len()) {
            (true, None, 3) => 1,
            (true, Some(count), 4) if count > 0 => count,
            (false, None, 2..=3) | (false, Some(0), 4) => 0,
            _ => {
                return Err(
                    "the fourth number of the header, how many weights a vertex has, does \
                             not fit the third, which says whether there are any"
                        .into(),
                );
            }
        };
        if weighted && !edge_weights {
            return Err("the graph has no edge weights; leave out --weighted".into());
        }
        let perhaps_sizes = sizes && !vertex_weights && !edge_weights;
        let leading = constraints.saturating_add(u64::from(sizes && !perhaps_sizes));
        Ok(Header { line, vertices, edges, leading, perhaps_sizes, edge_weights, weighted })
    }

    fn lists_of(&self, chunk: Chunk<'_>) -> Result<Lists, LineFault> {
        let mut lists = Lists::default();
        for (line, span) in (0..).zip(spans(chunk.bytes)) {
            if is_comment(&chunk.bytes[span.clone()]) {
                memory::push(&mut lists.comments, lists.vertices)?;
                continue;
            }
            let numbers = Numbers { bytes: chunk.bytes, at: span.start, end: span.end };
            self.list(numbers, &mut lists).map_err(|why| LineFault::new(line, why))?;
            lists.vertices += 1;
        }
        Ok(lists)
    }

    /// Reads the list of one vertex. An empty line is a vertex without neighbours in any case: an editor may
    /// have added it to the end of the file.
    fn list(&self, mut numbers: Numbers<'_>, lists: &mut Lists) -> Result<(), ReadErrorKind> {
        for read in 0..self.leading {
            if numbers.token().is_none() {
                if read == 0 {
                    break;
                }
                return Err(
                    format!("expected {} numbers before the neighbours", self.leading).into()
                );
            }
        }
        let mut may_be_size = self.perhaps_sizes;
        while let Some(number) = numbers.integer()? {
            let neighbor = match u32::try_from(number) {
                Ok(number) if (1..=self.vertices).contains(&number) => number - 1,
                _ if may_be_size => NO_NEIGHBOR,
                _ => {
                    return Err(format!(
                        "there is no neighbour {number}: expected 1 to {}",
                        self.vertices
                    )
                    .into());
                }
            };
            may_be_size = false;
            memory::push(&mut lists.arcs, [lists.vertices as VertexId, neighbor])?;
            if self.weighted {
                memory::push(&mut lists.weights, numbers.weight()?)?;
            } else if self.edge_weights && numbers.token().is_none() {
                return Err(format!("expected a weight after the neighbour {number}").into());
            }
        }
        Ok(())
    }

    /// Returns the first line of a chunk with a list for a vertex that does not exist; empty lines at the end
    /// of the file are no lists.
    fn line_too_many(&self, chunk: &[u8], first: u64) -> Option<u64> {
        let lists = (0..).zip(lines(chunk)).filter(|(_, line)| !is_comment(line));
        let rest = usize::try_from(u64::from(self.vertices).saturating_sub(first)).ok()?;
        let mut extra = lists.skip(rest).filter(|(_, list)| !list.trim_ascii().is_empty());
        extra.next().map(|(line, _)| line)
    }

    /// Returns the table of all lists, if they hold what the header says.
    fn into_table(self, mut lists: Vec<Lists>) -> Result<EdgeTable, Fault> {
        lists.par_iter_mut().for_each(|lists| {
            for arc in &mut lists.arcs {
                arc[0] += lists.first as VertexId;
            }
        });
        let mut count = Count::of(&lists);
        if self.perhaps_sizes && !count.fits(self.edges) {
            lists.par_iter_mut().for_each(Lists::drop_sizes);
            count = Count::of(&lists);
        }
        let both = count.is_symmetric() && count.edges() == self.edges;
        if !both && (count.entries() != self.edges || count.impossible > 0) {
            return Err(self.mismatch(count, &lists)?);
        }
        if both {
            lists.par_iter_mut().for_each(Lists::drop_backward);
        }
        let weights = lists.iter_mut().map(|lists| std::mem::take(&mut lists.weights));
        let weights = memory::collected(weights)?;
        let weights = self.weighted.then(|| into_column(weights)).transpose()?;
        let (sources, targets) = into_columns(
            lists,
            |l| l.arcs.len(),
            |lists, sources, targets| {
                for ((source, target), arc) in sources.iter_mut().zip(targets).zip(lists.arcs) {
                    [*source, *target] = arc;
                }
            },
        )?;
        let ids = VertexIds::Consecutive { first: 1, count: self.vertices };
        let mut table = EdgeTable::new(ids, sources, targets)?;
        if let Some(weights) = weights {
            table = table.with_weights(weights)?;
        }
        Ok(if both { table.in_both_directions() } else { table })
    }

    /// Returns the fault of lists that do not hold what the header says: the first list that disagrees with another
    /// one, if the edges of one end are as many as the header says or all entries twice as many.
    fn mismatch(&self, count: Count, lists: &[Lists]) -> Result<Fault, Fault> {
        let of_one_end = [count.forward, count.backward].map(|arcs| arcs + count.loops);
        let twice = self.edges.saturating_mul(2);
        if (of_one_end.contains(&self.edges) || count.entries() == twice)
            && let Some(disagreement) = disagreement(lists)?
        {
            return Ok(disagreement);
        }
        let sentence = format!(
            "the header says {} edges, but the lists have {} entries: expected {twice}, two for each edge",
            self.edges,
            count.entries(),
        );
        Ok(Fault::line(self.line, sentence))
    }
}

/// An entry of a list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// The ends, the smaller one first.
    ends: [VertexId; 2],
    /// Bits of the weight; 0 without weights.
    weight: u64,
    /// Whether the list is that of the larger end.
    is_backward: bool,
}

impl Entry {
    /// Returns the vertex of the list, and the neighbour.
    fn owner_and_neighbor(&self) -> [VertexId; 2] {
        let [small, large] = self.ends;
        if self.is_backward { [large, small] } else { [small, large] }
    }
}

/// Returns the fault of the first list with a neighbour that does not list its vertex as often with the same weight.
///
/// Memory: 24 bytes an entry.
fn disagreement(lists: &[Lists]) -> Result<Option<Fault>, Fault> {
    let mut entries = memory::with_room(lists.iter().map(|lists| lists.arcs.len()).sum())?;
    for lists in lists {
        let mut weights = lists.weights.iter();
        entries.extend(lists.arcs.iter().map(|&[owner, neighbor]| Entry {
            ends: [owner.min(neighbor), owner.max(neighbor)],
            weight: weights.next().map_or(0, |weight| weight.to_bits()),
            is_backward: owner > neighbor,
        }));
    }
    entries.retain(|entry: &Entry| entry.ends[0] != entry.ends[1]);
    entries.par_sort_unstable();
    let is_same = |a: &Entry, b: &Entry| (a.ends, a.weight) == (b.ends, b.weight);
    let unmatched = entries.chunk_by(is_same).filter_map(|same| {
        // Entries of the smaller end come first.
        let forward = same.partition_point(|entry| !entry.is_backward);
        let more = if 2 * forward > same.len() { same.first() } else { same.last() };
        more.filter(|_| 2 * forward != same.len())
    });
    let Some(first) = unmatched.min_by_key(|entry| entry.owner_and_neighbor()) else {
        return Ok(None);
    };
    let [owner, neighbor] = first.owner_and_neighbor();
    let is_listed = entries
        .iter()
        .any(|entry| entry.ends == first.ends && entry.is_backward != first.is_backward);
    let (vertex, other) = (owner + 1, neighbor + 1);
    let how = match is_listed {
        false => format!("vertex {other} does not list {vertex}"),
        true => format!("vertex {other} lists {vertex} less often or with another weight"),
    };
    let sentence = format!(
        "vertex {vertex} lists {other}, but {how}: expected each edge in the lists of both its ends, with the same weight"
    );
    let line = lists.iter().find_map(|lists| lists.line_of(owner));
    Ok(line.map(|line| Fault::line(line, sentence)))
}

/// Returns whether there are sizes, vertex weights and edge weights.
fn digits_of(format: Option<&[u8]>) -> Result<[bool; 3], String> {
    let format = format.unwrap_or(b"0");
    if format.len() > 3 || !format.iter().all(|digit| matches!(digit, b'0' | b'1')) {
        let shown = show(format);
        return Err(format!("`{shown}`: expected up to three digits 0 or 1 for the format"));
    }
    let digit = |from_last: usize| format.iter().rev().nth(from_last) == Some(&b'1');
    Ok([digit(2), digit(1), digit(0)])
}

impl Lists {
    /// Returns the line of a vertex, from 1, if the chunk has its list.
    fn line_of(&self, vertex: VertexId) -> Option<u64> {
        let place = u64::from(vertex).checked_sub(self.first)?;
        let comments = self.comments.partition_point(|&lists| lists <= place) as u64;
        (place < self.vertices).then_some(self.line + place + comments + 1)
    }

    /// Removes the first number of each list; an empty list stays empty.
    fn drop_sizes(&mut self) {
        let mut owner = None;
        self.arcs.retain(|arc| owner.replace(arc[0]) == Some(arc[0]));
    }

    /// Keeps each edge once, and each loop as often as it is listed.
    fn drop_backward(&mut self) {
        let forward = |arc: &[VertexId; 2]| arc[0] <= arc[1];
        let mut arcs = self.arcs.iter();
        // With weights there is one for each arc.
        self.weights.retain(|_| arcs.next().is_some_and(forward));
        self.arcs.retain(forward);
        self.arcs.shrink_to_fit();
        self.weights.shrink_to_fit();
    }
}

/// Arcs by direction, with a fingerprint of the edges of each direction. Sums do not depend on the order, so
/// equal edges have equal sums; others have equal sums once in 2⁶⁴.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    forward: u64,
    backward: u64,
    loops: u64,
    /// Sizes that cannot be neighbours.
    impossible: u64,
    forward_sum: u64,
    backward_sum: u64,
}

impl Count {
    fn of(lists: &[Lists]) -> Count {
        lists.par_iter().map(Count::of_one).reduce(Count::default, Count::plus)
    }

    fn of_one(lists: &Lists) -> Count {
        let mut count = Count::default();
        let mut weights = lists.weights.iter();
        for &[owner, neighbor] in &lists.arcs {
            let weight = weights.next().map_or(0, |weight| weight.to_bits());
            let sum =
                mix(mix(weight ^ u64::from(owner.min(neighbor))) ^ u64::from(owner.max(neighbor)));
            match owner.cmp(&neighbor) {
                _ if neighbor == NO_NEIGHBOR => count.impossible += 1,
                std::cmp::Ordering::Less => {
                    count.forward += 1;
                    count.forward_sum = count.forward_sum.wrapping_add(sum);
                }
                std::cmp::Ordering::Greater => {
                    count.backward += 1;
                    count.backward_sum = count.backward_sum.wrapping_add(sum);
                }
                std::cmp::Ordering::Equal => count.loops += 1,
            }
        }
        count
    }

    fn plus(self, other: Count) -> Count {
        Count {
            forward: self.forward + other.forward,
            backward: self.backward + other.backward,
            loops: self.loops + other.loops,
            impossible: self.impossible + other.impossible,
            forward_sum: self.forward_sum.wrapping_add(other.forward_sum),
            backward_sum: self.backward_sum.wrapping_add(other.backward_sum),
        }
    }

    fn entries(self) -> u64 {
        self.forward + self.backward + self.loops + self.impossible
    }

    fn edges(self) -> u64 {
        self.forward + self.loops
    }

    fn is_symmetric(self) -> bool {
        self.impossible == 0
            && self.forward == self.backward
            && self.forward_sum == self.backward_sum
    }

    fn fits(self, edges: u64) -> bool {
        self.is_symmetric() && self.edges() == edges
            || self.impossible == 0 && self.entries() == edges
    }
}

/// Numbers of a line; `bytes` continue after its `end`, so that most can be read eight at a time.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Numbers<'a> {
    fn skip_blanks(&mut self) {
        while self.at < self.end && matches!(self.bytes[self.at], b' ' | b'\t') {
            self.at += 1;
        }
    }

    fn token(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..self.end];
        let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let token = &rest[..length.unwrap_or(rest.len())];
        self.at += token.len();
        (!token.is_empty()).then_some(token)
    }

    /// Whether a number that ends at `end` is a whole token; if so it is skipped.
    fn take_to(&mut self, end: usize) -> bool {
        let whole = end == self.end || end < self.end && matches!(self.bytes[end], b' ' | b'\t');
        if whole {
            self.at = end;
        }
        whole
    }

    fn integer(&mut self) -> Result<Option<u64>, String> {
        self.skip_blanks();
        if let Some((value, end)) = token::digits(self.bytes, self.at)
            && self.take_to(end)
        {
            return Ok(Some(value));
        }
        let Some(token) = self.token() else { return Ok(None) };
        let number = token::id(token, crate::intern::Sign::Unsigned);
        number.map(Some).map_err(|_| {
            format!("`{}` is not a neighbour: expected a number from 1 on", show(token))
        })
    }

    fn weight(&mut self) -> Result<f64, String> {
        self.skip_blanks();
        if let Some((weight, end)) = token::decimal(self.bytes, self.at)
            && self.take_to(end)
        {
            return Ok(weight);
        }
        let token = self.token().ok_or("expected a weight after each neighbour")?;
        token::weight(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let of = |text: &str| Header::of(1, text.as_bytes(), false);
        let plain = of(" 7 11").unwrap();
        assert_eq!((plain.vertices, plain.edges, plain.leading), (7, 11, 0));
        assert_eq!(of("7 11 10 3").unwrap().leading, 3);
        assert_eq!(of("7 11 111").unwrap().leading, 2);
        assert!(of("7 11 1").unwrap().edge_weights);
        assert!(of("7 11 100").unwrap().perhaps_sizes);
        for refused in [
            "",
            "7",
            "0 0",
            "x 1",
            "7 11 2",
            "7 11 0001",
            "7 11 0 1",
            "7 11 10 0",
            "7 11 1 x",
            "1 2 3 4 5",
            "4294967295 1",
        ] {
            assert!(of(refused).is_err(), "{refused}");
        }
        assert!(Header::of(1, b"7 11", true).is_err(), "no weights");
    }
}
