//! LDBC Graphalytics: edges in a `.e` file, all vertices in the `.v` file beside it.
//!
//! Both hold one item a line, fields apart by blanks; the third field of an edge is its weight
//! (LDBC Graphalytics specification 1.0.5, section 2.2.1). Vertices without edges count.

use super::layout::{BLANKS, Ids, Layout, fields, is_row};
use super::rows::{Row, integers, line_of_row, name, not_an_id};
use super::source::{Chunk, LineFault, lines};
use super::token::{self, show};
use super::{Fault, Text};
use crate::intern::{IdSlice, NameSet, Ranks, Sign, into_column, into_columns};
use crate::{IdKind, ReadOptions};
use ripplet_graph::{EdgeTable, VertexId, VertexIds};
use std::collections::HashSet;

/// The vertices of a `.v` file.
pub(crate) enum Vertices {
    Integers { ranks: Ranks, sign: Sign },
    Names { set: NameSet, ids: VertexIds, rank: Vec<VertexId> },
}

impl Vertices {
    /// Reads a `.v` file.
    pub(crate) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Vertices, Fault> {
        text.skip_lines(|line| !is_row(line))?;
        let Some(first) = text.peek_line()? else {
            return Err(Fault::whole("the file has no vertices: expected a line with each id"));
        };
        let integer = id_of_line(first).map(|id| token::id(id, Sign::Unsigned));
        match options.ids {
            IdKind::Names => Vertices::read_names(text),
            IdKind::Auto if integer == Some(Err(token::NotAnId::NoNumber)) => {
                Vertices::read_names(text)
            }
            IdKind::Signed => Vertices::read_integers(text, Sign::Signed),
            IdKind::Auto | IdKind::Unsigned => Vertices::read_integers(text, Sign::Unsigned),
        }
    }

    fn read_integers(text: &mut Text<'_>, sign: Sign) -> Result<Vertices, Fault> {
        let parse = |chunk: Chunk<'_>| {
            let mut ids = Vec::with_capacity(chunk.lines as usize);
            each_id(chunk, |field| {
                ids.push(token::id(field, sign).map_err(|why| not_an_id(field, sign, why))?);
                Ok(())
            })?;
            Ok(ids)
        };
        let mut blocks = Vec::new();
        text.parse_chunks(parse, |ids, _, _| {
            blocks.push(ids);
            Ok(())
        })?;
        let slices: Vec<IdSlice<'_>> = blocks.iter().map(|ids| IdSlice::Wide(ids)).collect();
        let ranks = Ranks::of(&slices).map_err(|error| Fault::whole(error.sentence()))?;
        let mut seen = HashSet::new();
        if blocks.iter().map(Vec::len).sum::<usize>() != ranks.len() as usize
            && let Some(&twice) = blocks.iter().flatten().find(|&&id| !seen.insert(id))
        {
            let vertex = Ranks::of(&[IdSlice::Wide(&[twice])]).map(|one| one.into_ids(sign));
            return Err(listed_twice(
                &vertex.map_or_else(|_| String::new(), |v| v.get(0).to_string()),
            ));
        }
        Ok(Vertices::Integers { ranks, sign })
    }

    fn read_names(text: &mut Text<'_>) -> Result<Vertices, Fault> {
        let mut set = NameSet::default();
        let like = set.alike();
        let parse = |chunk: Chunk<'_>| {
            let mut names = like.alike_with_room(chunk.lines as usize);
            each_id(chunk, |field| {
                let before = names.len() as u32;
                if name(field, &mut names)? < before {
                    return Err(twice_sentence(&show(field)));
                }
                Ok(())
            })?;
            Ok(names)
        };
        text.parse_chunks(parse, |names, _, line| {
            let before = set.len() as u32;
            let numbers = set.merge(&names);
            let numbers = numbers.map_err(|error| Fault::line(line, error.sentence()))?;
            match numbers.iter().find(|&&number| number < before) {
                Some(&number) => Err(listed_twice(&show(set.name(number)))),
                None => Ok(()),
            }
        })?;
        let (ids, rank) = set.sorted();
        Ok(Vertices::Names { set, ids, rank })
    }

    /// Reads the `.e` file of these vertices.
    pub(crate) fn read_edges(
        self,
        text: &mut Text<'_>,
        options: &ReadOptions,
    ) -> Result<EdgeTable, Fault> {
        let ids = match self {
            Vertices::Integers { sign, .. } => Ids::Integers(sign),
            Vertices::Names { .. } => Ids::Names,
        };
        let layout = Layout::plain(ids, options.weighted);
        let (mut blocks, mut weights) = (Vec::new(), Vec::new());
        let parse = |chunk: Chunk<'_>| match &self {
            Vertices::Integers { ranks, sign } => ranked(chunk, &layout, *sign, ranks),
            Vertices::Names { set, rank, .. } => named(chunk, &layout, set, rank),
        };
        text.parse_chunks(parse, |(ends, some), _, _| {
            blocks.push(ends);
            weights.push(some);
            Ok(())
        })?;
        let (sources, targets) = into_columns(blocks, Vec::len, |ends, sources, targets| {
            for ((source, target), ends) in sources.iter_mut().zip(targets).zip(ends) {
                [*source, *target] = ends;
            }
        });
        let ids = match self {
            Vertices::Integers { ranks, sign } => ranks.into_ids(sign),
            Vertices::Names { ids, .. } => ids,
        };
        let table = EdgeTable::new(ids, sources, targets)?;
        match layout.weight {
            Some(_) => Ok(table.with_weights(into_column(weights))?),
            None => Ok(table),
        }
    }
}

type Ranked = (Vec<[VertexId; 2]>, Vec<f64>);

/// The edges of a chunk whose ids are integers.
fn ranked(
    chunk: Chunk<'_>,
    layout: &Layout,
    sign: Sign,
    ranks: &Ranks,
) -> Result<Ranked, LineFault> {
    let (ends, weights) = integers(chunk, layout, sign)?;
    let mut edges = Vec::with_capacity(ends.len());
    for (row, ends) in ends.iter().enumerate() {
        let [Some(source), Some(target)] = ends.map(|id| ranks.rank(id)) else {
            let line = line_of_row(chunk.bytes, row);
            let bytes = lines(chunk.bytes).nth(line as usize).unwrap_or_default();
            let missing = usize::from(ranks.rank(ends[0]).is_some());
            let field = fields(bytes, BLANKS).flatten().nth(missing).unwrap_or_default();
            return Err(LineFault { line, sentence: unlisted(&field) });
        };
        edges.push([source, target]);
    }
    Ok((edges, weights))
}

/// The edges of a chunk whose ids are names.
fn named(
    chunk: Chunk<'_>,
    layout: &Layout,
    set: &NameSet,
    rank: &[VertexId],
) -> Result<Ranked, LineFault> {
    let (mut edges, mut weights) = (Vec::with_capacity(chunk.lines as usize), Vec::new());
    let vertex = |name: &[u8]| match set.find(name) {
        Some(number) => Ok(rank[number as usize]),
        None => Err(unlisted(name)),
    };
    for (line, bytes) in (0..).zip(lines(chunk.bytes)) {
        let mut read = || {
            let Some(row) = Row::of(bytes, layout)? else { return Ok(()) };
            edges.push([vertex(&row.source)?, vertex(&row.target)?]);
            weights.extend(row.weight);
            Ok(())
        };
        read().map_err(|sentence| LineFault { line, sentence })?;
    }
    Ok((edges, weights))
}

fn unlisted(id: &[u8]) -> String {
    format!("vertex {} is not in the vertex file: expected each vertex of an edge there", show(id))
}

fn listed_twice(vertex: &str) -> Fault {
    Fault::whole(twice_sentence(vertex))
}

fn twice_sentence(vertex: &str) -> String {
    format!("vertex {vertex} is listed twice: expected each vertex once")
}

/// The first field of a line; nothing where the line is a comment or blank.
fn id_of_line(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    is_row(line).then_some(&line[..end])
}

fn each_id(
    chunk: Chunk<'_>,
    mut visit: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), LineFault> {
    for (line, bytes) in (0..).zip(lines(chunk.bytes)) {
        if let Some(field) = id_of_line(bytes) {
            visit(field).map_err(|sentence| LineFault { line, sentence })?;
        }
    }
    Ok(())
}
