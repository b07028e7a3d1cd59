//! Writes graphs, for `ripplet convert`.

use super::column::{Column, ColumnType};
use super::{AtomicFile, absent, columnar, refused, whole_file};
use crate::output::arcs::{Arcs, Slot};
use crate::output::text::{Fields, Line, decimal, push_integer, push_weight, write_text};
use crate::{Compression, Format, NotBuiltIn, WriteError, exchange, rg, rgz};
use rayon::prelude::*;
use ripplet_graph::{Direction, Graph, VertexIds, WeightScale};
use std::io::{self, Write};
use std::path::Path;

/// Vertices in a block of LDBC's vertex file.
const ROWS: usize = 1 << 16;

/// Writes a graph in any format atomically; returns the number of vertices that it leaves out.
///
/// The extension selects the format, unless `format` is given. Text formats can be `.gz` and `.zst`, and go
/// to standard output (`-`, an edge list by default). An undirected edge is written once, but twice in METIS,
/// as that format requires. Weights are short decimals with the same fixed-point form. An edge list has tabs
/// if its ids contain blanks, under a comment that [`crate::read_edges`] recognises.
///
/// Formats differ in vertices and ids:
/// - Edge lists and tables name edges only: vertices without edges are left out, and counted in the result.
/// - METIS and MatrixMarket number the vertices from 1: consecutive ids are shifted (a comment has the
///   offset), and other ids are rejected, as they would be lost.
/// - LDBC has two files, `.e` and `.v`, each atomic.
/// - GraphML, GEXF, GML, Pajek, node-link JSON and DOT have all vertices; names that they cannot hold are
///   rejected.
///
/// # Errors
/// If the extension is unknown, the format cannot hold the graph, or the operating system refuses; no partial
/// file remains.
///
/// # Examples
/// ```
/// use ripplet_graph::GraphBuilder;
/// use ripplet_io::{edge_table, write::write_graph};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.csv");
/// let graph = GraphBuilder::new().build(edge_table([("ann", "bob"), ("bob", "cid")])?)?;
/// write_graph(&graph, &path, None)?;
/// assert_eq!(std::fs::read_to_string(path)?, "source,target\nann,bob\nbob,cid\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_graph(graph: &Graph, path: &Path, format: Option<Format>) -> Result<u64, WriteError> {
    let error = |source| WriteError { path: path.into(), source };
    let (format, compression) = plan(graph, path, format).map_err(error)?;
    match format {
        Format::Rg => rg::write(graph, path).map(|()| 0),
        Format::Rgz => rgz::write(graph, path).map(|()| 0),
        Format::Ldbc => write_ldbc(graph, path, compression).map(|()| 0),
        _ => {
            whole_file(path, |out| write_to(out, graph, format, compression))?;
            let tells_vertices =
                matches!(format, Format::MatrixMarket | Format::Metis) || format.is_exchange();
            Ok(if tells_vertices { 0 } else { without_edges(graph) })
        }
    }
}

/// Checks that a graph can be written with a name in a format, as far as the graph does not matter: see [`write_graph`].
///
/// # Errors
/// If no format has the name, or the format is not written, not compressed, or not compiled in.
pub fn check_graph_name(path: &Path, format: Option<Format>) -> Result<(), WriteError> {
    let checked = format_of(path, format).map(drop);
    checked.map_err(|source| WriteError { path: path.into(), source })
}

/// Returns the format of a name, if a graph can be written with it.
fn format_of(path: &Path, format: Option<Format>) -> io::Result<(Format, Compression)> {
    let standard_output = path == Path::new("-");
    let resolved = Format::of_path(path);
    let compression = resolved.map_or_else(|| compression_of(path), |(_, compression)| compression);
    let format = match (format, resolved) {
        (Some(format), _) | (None, Some((format, _))) => format,
        (None, None) if standard_output => Format::EdgeList,
        (None, None) => {
            let names = Format::names_written();
            return Err(refused(format!(
                "no format that is written has this extension; the formats are: {names}"
            )));
        }
    };
    if !format.is_text() && compression != Compression::None {
        return Err(refused("only text formats go out as .gz or .zst: choose another name"));
    }
    NotBuiltIn::check_writer(format, compression).map_err(absent)?;
    match format {
        Format::Ldbc if standard_output => Err(refused("LDBC has two files: name one")),
        Format::Bv => {
            let names = "any other format, such as .rg, .rgz or .parquet";
            Err(refused(format!("bv is read, but not written: choose {names}")))
        }
        _ => Ok((format, compression)),
    }
}

/// Returns the format, after all checks that are possible before the first byte.
fn plan(graph: &Graph, path: &Path, format: Option<Format>) -> io::Result<(Format, Compression)> {
    let (format, compression) = format_of(path, format)?;
    match format {
        Format::Ldbc | Format::MatrixMarket | Format::Metis if graph.vertices() == 0 => {
            return Err(refused("this format holds no graph without vertices: write .rg or .json"));
        }
        Format::Ldbc if matches!(graph.ids(), VertexIds::Names(_)) => {
            return Err(refused("LDBC's ids are integers, but these are names: write .csv"));
        }
        format if format.is_exchange() => exchange::check(format, graph.ids(), "vertex")?,
        Format::Metis => check_metis(graph)?,
        Format::MatrixMarket => {
            numbered_from(graph.ids(), "MatrixMarket")?;
        }
        _ => {
            let fields = Fields::of(format).map(|fields| fields.of_edges(graph.ids()));
            fields.map_or(Ok(()), |fields| fields.check(graph.ids()))?;
        }
    }
    Ok((format, compression))
}

/// Returns the compression of a name whose inner extension is unknown.
pub(super) fn compression_of(path: &Path) -> Compression {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => Compression::Gzip,
        Some("zst") => Compression::Zstd,
        _ => Compression::None,
    }
}

fn check_metis(graph: &Graph) -> io::Result<()> {
    numbered_from(graph.ids(), "METIS")?;
    if graph.direction() == Direction::Directed {
        return Err(refused("METIS holds undirected graphs only: write another format"));
    }
    if !graph.weight_scale().is_whole() {
        return Err(refused("METIS holds whole weights only, but these have fractions"));
    }
    match graph.self_loops() {
        0 => Ok(()),
        loops => Err(refused(format!("METIS holds no self-loops, but the graph has {loops}"))),
    }
}

/// Returns the external id of the first vertex, if the ids are consecutive.
fn numbered_from(ids: &VertexIds, format: &str) -> io::Result<u64> {
    match ids {
        VertexIds::Consecutive { first, .. } => Ok(*first),
        _ if ids.is_empty() => Ok(1),
        VertexIds::Names(_) => {
            Err(refused(format!("{format} numbers vertices from 1 and cannot hold names")))
        }
        _ => Err(refused(format!(
            "{format} numbers vertices from 1 to n, but these ids have gaps and would be lost"
        ))),
    }
}

fn without_edges(graph: &Graph) -> u64 {
    let in_shard = |shard: &ripplet_graph::Shard| {
        (0..shard.vertices().len()).into_par_iter().filter(|&v| shard.degree(v) == 0).count() as u64
    };
    graph.shards().iter().map(in_shard).sum()
}

fn write_to(
    out: &mut (dyn Write + Send),
    graph: &Graph,
    format: Format,
    compression: Compression,
) -> io::Result<()> {
    match (format, Fields::of(format)) {
        (_, Some(fields)) => {
            write_edges(out, graph, fields.of_edges(graph.ids()), compression, true)
        }
        (Format::MatrixMarket, _) => write_matrix(out, graph, compression),
        (Format::Metis, _) => write_metis(out, graph, compression),
        (Format::Parquet | Format::Arrow, _) => write_table(out, graph, format),
        (format, _) if format.is_exchange() => {
            exchange::write(out, graph, &[], format, compression)
        }
        (format, _) => Err(refused(format!("{} is not written here", format.name()))),
    }
}

/// Writes one line per edge.
fn write_edges(
    out: &mut (dyn Write + Send),
    graph: &Graph,
    fields: Fields,
    compression: Compression,
    header: bool,
) -> io::Result<()> {
    let (arcs, ids, scale) = (Arcs::of(graph), graph.ids(), graph.weight_scale());
    let columns = ["source", "target", "weight"];
    let columns = if graph.is_weighted() { &columns[..] } else { &columns[..2] };
    let head = if header { fields.header(columns) } else { String::new() };
    let line = Line::new(fields, columns);
    write_text(out, compression, &head, arcs.blocks(), |block, text| {
        arcs.for_each_edge(block, |source, target, weight| {
            line.begin(text, 0);
            fields.push_id(text, ids, source);
            line.begin(text, 1);
            fields.push_id(text, ids, target);
            if let Some(weight) = weight {
                line.begin(text, 2);
                push_weight(text, decimal(scale, weight));
            }
            line.end(text);
        });
    })
}

/// Writes MatrixMarket: the lower triangle if the graph is undirected.
fn write_matrix(
    out: &mut (dyn Write + Send),
    graph: &Graph,
    compression: Compression,
) -> io::Result<()> {
    let (arcs, scale) = (Arcs::of(graph), graph.weight_scale());
    let values = match graph.is_weighted() {
        false => "pattern",
        true if scale == WeightScale::ONE => "integer",
        true => "real",
    };
    let symmetry = match graph.direction() {
        Direction::Directed => "general",
        Direction::Undirected => "symmetric",
    };
    let first = first_vertex_comment(graph, "MatrixMarket")?;
    let (n, entries) = (graph.vertices(), graph.edges());
    let head =
        format!("%%MatrixMarket matrix coordinate {values} {symmetry}\n{first}{n} {n} {entries}\n");
    write_text(out, compression, &head, arcs.blocks(), |block, text| {
        arcs.for_each_edge(block, |source, target, weight| {
            let directed = graph.direction() == Direction::Directed;
            let (row, column) = if directed { (source, target) } else { (target, source) };
            push_integer(text, row + 1);
            text.push(b' ');
            push_integer(text, column + 1);
            if let Some(weight) = weight {
                text.push(b' ');
                push_weight(text, decimal(scale, weight));
            }
            text.push(b'\n');
        });
    })
}

/// Writes METIS: one line per vertex with its neighbours.
fn write_metis(
    out: &mut (dyn Write + Send),
    graph: &Graph,
    compression: Compression,
) -> io::Result<()> {
    let (arcs, scale) = (Arcs::of(graph), graph.weight_scale());
    let weights = if graph.is_weighted() { " 001" } else { "" };
    let first = first_vertex_comment(graph, "METIS")?;
    let head = format!("{first}{} {}{weights}\n", graph.vertices(), graph.edges());
    write_text(out, compression, &head, arcs.blocks(), |block, text| {
        arcs.for_each(block, |slot| match slot {
            Slot::Arc { target, weight, first, .. } => {
                if !first {
                    text.push(b' ');
                }
                push_integer(text, target + 1);
                if let Some(weight) = weight {
                    text.push(b' ');
                    push_weight(text, decimal(scale, weight));
                }
            }
            Slot::End => text.push(b'\n'),
        });
    })
}

/// Returns a comment with what the numbering from 1 would lose, if anything.
fn first_vertex_comment(graph: &Graph, format: &str) -> io::Result<String> {
    Ok(match numbered_from(graph.ids(), format)? {
        1 => String::new(),
        first => format!("% vertex 1 was {first}, and so on\n"),
    })
}

fn write_table(out: &mut (dyn Write + Send), graph: &Graph, format: Format) -> io::Result<()> {
    let (arcs, ids, scale) = (Arcs::of(graph), graph.ids(), graph.weight_scale());
    let mut columns = vec![("source", ids.into()), ("target", ids.into())];
    if graph.is_weighted() {
        columns.push(("weight", ColumnType::F64));
    }
    columnar::write_table(out, format, &columns, arcs.blocks(), |block| {
        let (mut sources, mut targets, mut weights) = (vec![], vec![], vec![]);
        arcs.for_each_edge(block, |source, target, weight| {
            sources.push(source);
            targets.push(target);
            weights.extend(weight.map(|weight| decimal(scale, weight)));
        });
        let mut columns = vec![
            Column::of_ids(ids, sources.iter().copied())?,
            Column::of_ids(ids, targets.iter().copied())?,
        ];
        if graph.is_weighted() {
            columns.push(Column::F64(weights));
        }
        Ok(columns)
    })
}

/// Writes LDBC: the vertices in `.v`, the edges in `.e` beside it.
fn write_ldbc(graph: &Graph, path: &Path, compression: Compression) -> Result<(), WriteError> {
    let suffix = match compression {
        Compression::None => "",
        Compression::Gzip => ".gz",
        Compression::Zstd => ".zst",
    };
    let stem = if suffix.is_empty() { path.into() } else { path.with_extension("") };
    let vertex_path = stem.with_extension(format!("v{suffix}"));
    let mut vertices = AtomicFile::create(&vertex_path)?;
    let mut edges = AtomicFile::create(path)?;
    write_vertices(&mut vertices, graph.ids(), compression)
        .map_err(|source| WriteError { path: vertex_path.clone(), source })?;
    write_edges(&mut edges, graph, Fields::Blank, compression, false)
        .map_err(|source| WriteError { path: path.into(), source })?;
    // An older graph stays complete if the disk has no room for both files.
    vertices.settle()?;
    edges.settle()?;
    // The vertices first: a program that waits for the `.e` then finds both.
    vertices.commit()?;
    edges.commit().inspect_err(|_| {
        // Without its edges it would pass for an empty graph.
        let _ = std::fs::remove_file(vertex_path);
    })
}

fn write_vertices(
    out: &mut (dyn Write + Send),
    ids: &VertexIds,
    compression: Compression,
) -> io::Result<()> {
    write_text(out, compression, "", ids.len().div_ceil(ROWS), |block, text| {
        for vertex in block * ROWS..ids.len().min((block + 1) * ROWS) {
            Fields::Blank.push_id(text, ids, vertex as u32);
            text.push(b'\n');
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::fails_at_every_byte;
    use super::*;
    use ripplet_graph::{EdgeTable, GraphBuilder};

    #[test]
    fn a_full_disk_is_an_error_in_every_format() {
        let ids = VertexIds::Consecutive { first: 1, count: 4 };
        let table = EdgeTable::new(ids, vec![0, 1, 1], vec![1, 2, 3]).unwrap();
        let table = table.with_weights(vec![1.0, 2.0, 3.0]).unwrap();
        let graph = GraphBuilder::new().build(table).unwrap();
        for format in [
            Format::EdgeList,
            Format::Tsv,
            Format::Csv,
            Format::MatrixMarket,
            Format::Metis,
            Format::GraphMl,
            Format::Gexf,
            Format::Gml,
            Format::Pajek,
            Format::NodeLink,
            Format::Dot,
            Format::Parquet,
            Format::Arrow,
        ] {
            fails_at_every_byte(|out| write_to(out, &graph, format, Compression::None));
        }
        fails_at_every_byte(|out| write_vertices(out, graph.ids(), Compression::Gzip));
    }
}
