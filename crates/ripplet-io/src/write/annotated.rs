//! Writes communities as attributes of the graph's vertices, in a format that holds the whole graph.

use super::communities::{
    Communities, CommunityNames, Naming, check_communities, write_communities,
};
use super::manifest::check_format;
use super::{Target, refused, unfit, whole_file};
use crate::exchange::{self, Attribute, AttributeKind, Value};
use crate::shown::shown_id;
use crate::{Compression, Format, WriteError};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{ExternalId, Graph, VertexId, VertexIds};
use std::io;

/// Separator of the communities of a vertex that has several.
const BETWEEN: char = '|';

/// Whether a file of this name holds the graph with attributes instead of a table: `.graphml`, `.gexf`,
/// `.gml`, `.json`, `.dot` and `.gv`, each also `.gz` or `.zst`.
pub fn is_graph<'a>(target: impl Into<Target<'a>>) -> bool {
    format_of(target.into()).is_some()
}

fn format_of(target: Target<'_>) -> Option<(Format, Compression)> {
    // Pajek's networks have no attributes.
    target.resolved_format().filter(|(format, _)| format.holds_attributes())
}

/// Checks the arguments before there are communities: see [`check_communities`]; for a graph, that its format
/// can hold the ids.
///
/// # Errors
/// See [`write_communities_or_graph`].
pub fn check_communities_or_graph<'a>(
    target: impl Into<Target<'a>>,
    ids: &VertexIds,
) -> Result<(), WriteError> {
    let target = target.into();
    let refuse = |source| target.error(source);
    match format_of(target) {
        Some((format, _)) if target.destination().is_in_parts() => {
            check_format(format).map(drop).map_err(refuse)
        }
        Some((format, _)) => exchange::check(format, ids, "vertex").map_err(refuse),
        None if target.resolved_format().is_some_and(|(format, _)| format == Format::Pajek) => {
            Err(refuse(refused(
                "a Pajek network holds no communities: write .graphml, .gexf, .gml, .json or .dot, or a table such \
                 as .csv",
            )))
        }
        None if !target.resolved_format().is_some_and(|(format, _)| format.is_listing()) => {
            Err(refuse(unfit(
                target.path(),
                "communities are written as .txt, .tsv, .csv or .jsonl (each also .gz or .zst), .parquet or .arrow, and with the \
             graph as .graphml, .gexf, .gml, .json or .dot: choose such a name, or give its format as --to",
            )))
        }
        None => check_communities(target, ids),
    }
}

/// Writes communities as [`write_communities`] does, or, if the name is that of a graph ([`is_graph`]), the
/// graph with attributes: `community` and `degree` of vertices, `weight` of edges. The file appears
/// atomically.
///
/// A vertex in several communities has their names in one text, separated by `|`. A vertex in none has no
/// attribute `community`. The degree is the number of arcs that touch the vertex.
///
/// Memory: 12 bytes per row of `communities`, if rows name their vertices.
///
/// # Errors
/// The errors of [`write_communities`]. Also if a format cannot hold a name, or a vertex is in several
/// communities of which one has `|` in its name.
pub fn write_communities_or_graph<'a>(
    target: impl Into<Target<'a>>,
    graph: &Graph,
    communities: &Communities<'_>,
    naming: Naming<'_>,
) -> Result<(), WriteError> {
    let (target, ids) = (target.into(), graph.ids());
    let Some((format, compression)) = format_of(target) else {
        return write_communities(target, ids, communities, naming);
    };
    let refuse = |source| target.error(source);
    let attribute = || {
        exchange::check(format, ids, "vertex")?;
        communities.check(ids)?;
        if let Naming::Given { names, .. } = naming {
            exchange::check(format, names, "community")?;
        }
        CommunityOf::new(communities, CommunityNames::of(communities, ids, naming)?, ids.len())
    };
    let community = attribute().map_err(refuse)?;
    let degree = DegreeOf(graph);
    whole_file(target.path(), |out| {
        exchange::write(out, graph, &[&community, &degree], format, compression)
    })
}

/// Attribute: the number of arcs that touch a vertex.
struct DegreeOf<'a>(&'a Graph);

impl Attribute for DegreeOf<'_> {
    fn name(&self) -> &'static str {
        "degree"
    }

    fn kind(&self) -> AttributeKind {
        AttributeKind::Integer
    }

    fn value(&self, vertex: VertexId) -> Option<Value<'_>> {
        Some(Value::Integer(self.0.degree(vertex).into()))
    }
}

/// Attribute: the communities of a vertex.
struct CommunityOf<'a> {
    communities: &'a Communities<'a>,
    called: CommunityNames<'a>,
    /// The rows of each vertex, if they name their vertices: those of `v` are `rows[begin[v]..begin[v + 1]]`.
    grouped: Option<(Vec<u32>, Vec<u32>)>,
    kind: AttributeKind,
}

impl<'a> CommunityOf<'a> {
    fn new(
        communities: &'a Communities<'a>,
        called: CommunityNames<'a>,
        vertices: usize,
    ) -> io::Result<CommunityOf<'a>> {
        if u32::try_from(communities.rows()).is_err() {
            return Err(refused(
                "more than 4,294,967,295 rows: write them as a table, such as .parquet",
            ));
        }
        let no_memory = |refused: OutOfMemory| io::Error::new(io::ErrorKind::OutOfMemory, refused);
        let grouped = communities.vertices.map(|of| grouped(of, vertices)).transpose();
        let grouped = grouped.map_err(no_memory)?;
        let kind = match &called {
            CommunityNames::Ids(ids) => AttributeKind::of(ids),
            CommunityNames::Numbers(_) => AttributeKind::Integer,
            CommunityNames::Names { names, .. } => AttributeKind::of(names),
        };
        let community = CommunityOf { communities, called, grouped, kind };
        match community.is_overlapping() {
            false => Ok(community),
            true => {
                community.check_names(vertices)?;
                Ok(CommunityOf { kind: AttributeKind::Text, ..community })
            }
        }
    }

    fn is_overlapping(&self) -> bool {
        self.grouped
            .as_ref()
            .is_some_and(|(begin, _)| begin.par_windows(2).any(|pair| pair[1] - pair[0] > 1))
    }

    /// Rejects names that would be ambiguous in a list.
    fn check_names(&self, vertices: usize) -> io::Result<()> {
        let bad = (0..vertices as VertexId).into_par_iter().find_map_first(|vertex| {
            let rows = self.rows(vertex);
            let split = |row: &u32| match self.name(*row) {
                Value::Text(name) => name.contains(BETWEEN),
                Value::Integer(_) => false,
            };
            rows.iter().find(|row| rows.len() > 1 && split(row)).copied()
        });
        match bad.map(|row| self.name(row)) {
            Some(Value::Text(name)) => Err(refused(format!(
                "the community \"{}\" has `{BETWEEN}` in its name, which parts the communities of a vertex: write a \
                 table such as .csv, or number them by --consecutive",
                shown_id(ExternalId::Name(&name))
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the rows of a vertex, if rows name their vertices.
    fn rows(&self, vertex: VertexId) -> &[u32] {
        let vertex = vertex as usize;
        self.grouped
            .as_ref()
            .map_or(&[], |(begin, rows)| &rows[begin[vertex] as usize..begin[vertex + 1] as usize])
    }

    /// Returns the name of a row's community.
    fn name(&self, row: u32) -> Value<'_> {
        let label = self.communities.communities[row as usize];
        match &self.called {
            CommunityNames::Ids(ids) => ids.get(label).into(),
            CommunityNames::Numbers(numbers) => Value::Integer(numbers[row as usize].into()),
            CommunityNames::Names { names, of } => names.get(of[label as usize]).into(),
        }
    }

    /// Returns a value of the attribute's kind.
    fn of_kind<'v>(&self, value: Value<'v>) -> Value<'v> {
        match value {
            Value::Integer(number) if self.kind == AttributeKind::Text => {
                Value::Text(number.to_string().into())
            }
            value => value,
        }
    }
}

impl Attribute for CommunityOf<'_> {
    fn name(&self) -> &'static str {
        "community"
    }

    fn kind(&self) -> AttributeKind {
        self.kind
    }

    fn value(&self, vertex: VertexId) -> Option<Value<'_>> {
        if self.grouped.is_none() {
            return Some(self.of_kind(self.name(vertex)));
        }
        match self.rows(vertex) {
            [] => None,
            &[row] => Some(self.of_kind(self.name(row))),
            rows => {
                let mut all = String::new();
                for (at, &row) in rows.iter().enumerate() {
                    if at > 0 {
                        all.push(BETWEEN);
                    }
                    match self.name(row) {
                        Value::Integer(number) => all.push_str(&number.to_string()),
                        Value::Text(name) => all.push_str(&name),
                    }
                }
                Some(Value::Text(all.into()))
            }
        }
    }
}

/// Groups rows by their vertices, in order: the offset of each vertex's rows, and the rows.
fn grouped(of: &[VertexId], vertices: usize) -> Result<(Vec<u32>, Vec<u32>), OutOfMemory> {
    let mut begin = memory::zeros::<u32>(vertices + 1)?;
    of.iter().for_each(|&vertex| begin[vertex as usize + 1] += 1);
    (0..vertices).for_each(|vertex| begin[vertex + 1] += begin[vertex]);
    let mut next = memory::copied(&begin)?;
    let mut rows = memory::zeros::<u32>(of.len())?;
    for (row, &vertex) in (0..).zip(of) {
        let place = &mut next[vertex as usize];
        rows[*place as usize] = row;
        *place += 1;
    }
    Ok((begin, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_in_order_within_a_vertex() {
        let (begin, rows) = grouped(&[2, 0, 2, 2], 4).unwrap();
        assert_eq!(begin, [0, 1, 1, 4, 4]);
        assert_eq!(rows, [1, 0, 2, 3]);
    }
}
