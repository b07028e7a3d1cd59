//! Reads a list of vertices.
//!
//! `.txt` is an id a line. `.tsv` and `.csv` may have a header; these three may be compressed. `.parquet` and
//! `.arrow` have a column of ids. The form is that of seeds ([`crate::read_seeds`]), whose clusters and
//! strengths are ignored.
//!
//! Memory: 4 bytes a vertex, and 1 per vertex of the graph.

use crate::fault::Fault;
use crate::seeds::COLUMNS;
use crate::vertex_rows::Header;
use crate::vertex_table::{Source, vertex_rows};
use crate::{Format, ReadError, ReadOptions};
use ripplet_graph::{VertexId, VertexIds, memory};
use std::path::Path;

/// Reads the vertices of a list, in the order of the file; `-` is standard input.
///
/// # Errors
/// If the file cannot be read, an id is no vertex, or a vertex is listed twice.
///
/// # Examples
/// See [`parse_vertices`].
pub fn read_vertices(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    vertices(Source::File(path, options), ids)
}

/// Parses the vertices of an uncompressed text in memory, as [`read_vertices`] does; errors name the input
/// `(bytes)`.
///
/// # Errors
/// The errors of [`read_vertices`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, parse_vertices};
///
/// let ids = VertexIds::Consecutive { first: 10, count: 3 };
/// assert_eq!(parse_vertices(b"12\n10\n", Format::EdgeList, &ids)?, [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_vertices(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    vertices(Source::Bytes(bytes, format), ids)
}

fn vertices(source: Source<'_>, ids: &VertexIds) -> Result<Vec<VertexId>, ReadError> {
    let read = || {
        let mut vertices = Vec::new();
        let mut is_listed = memory::filled(false, ids.len())?;
        vertex_rows(source, ids, &COLUMNS, Header::Optional, |row| {
            let Some(vertex) = ids.find(row.id) else {
                let id = crate::shown::shown(row.id);
                return Err(row.fault(format!("`{id}` is no vertex of the graph")));
            };
            if std::mem::replace(&mut is_listed[vertex as usize], true) {
                return Err(row.fault(format!("vertex {} is listed twice", ids.get(vertex))));
            }
            Ok(memory::push(&mut vertices, vertex)?)
        })?;
        Ok(vertices)
    };
    read().map_err(|fault: Fault| fault.of(source.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, format: Format) -> Result<Vec<VertexId>, String> {
        let ids = VertexIds::Consecutive { first: 1, count: 5 };
        parse_vertices(text.as_bytes(), format, &ids).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_are_an_id_a_line_or_a_table() {
        assert_eq!(read("3\n1\n", Format::EdgeList), Ok(vec![2, 0]));
        assert_eq!(read("# names\n\n5\n", Format::EdgeList), Ok(vec![4]));
        assert_eq!(read("", Format::EdgeList), Ok(vec![]));
        assert_eq!(read("2\n4\n", Format::Csv), Ok(vec![1, 3]));
        assert_eq!(read("id,note\n2,first\n4,second\n", Format::Csv), Ok(vec![1, 3]));
        assert_eq!(read("group,id\nred,2\nblue,4\n", Format::Csv), Ok(vec![1, 3]));
        assert_eq!(read("2 red\n4 blue\n", Format::EdgeList), Ok(vec![1, 3]));
    }

    #[test]
    fn what_is_no_vertex_or_comes_twice_is_refused_with_its_line() {
        for (text, parts) in [
            ("1\n9\n", [":2", "`9` is no vertex"]),
            ("1\n3\n1\n", [":3", "vertex 1 is listed twice"]),
            ("1\nann\n", [":2", "`ann` is no vertex"]),
        ] {
            let error = read(text, Format::EdgeList).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
