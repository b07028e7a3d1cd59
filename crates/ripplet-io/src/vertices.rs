//! Reads a list of vertices.
//!
//! `.txt`, `.tsv` and `.csv` (each may be compressed) are an id a line, or have a header with the name of the column of ids:
//! `id`, `vertex`, `node` or `name`. `.parquet` and `.arrow` have a column of ids. A line with several fields and without a
//! header is refused.
//!
//! Memory: 4 bytes per vertex, 8 with weights, and 1 per vertex of the graph.

use crate::fault::Fault;
use crate::seeds::COLUMNS;
use crate::summary::{ReadColumn, grouped};
use crate::text::token;
use crate::vertex_rows::{Form, FoundColumns};
use crate::vertex_table::{Source, vertex_rows};
use crate::{Format, ReadError, ReadOptions};
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::fmt;
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

/// A list of vertices.
#[derive(Clone, Debug)]
pub struct VertexList {
    /// The vertices, in the order of the file.
    pub vertices: Vec<VertexId>,
    /// The weight of each vertex, if the list has a column of weights and these are read.
    pub weights: Option<Vec<f64>>,
    /// Columns that were read.
    pub summary: ListSummary,
}

/// Summary of the columns of a list of vertices.
///
/// Prints as a line: `id = "account", weight = "weight"; 2 other columns ignored`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListSummary {
    /// The column of the vertices.
    pub id: ReadColumn,
    /// The column of the weights.
    pub weight: Option<ReadColumn>,
    /// Number of other columns.
    pub ignored: usize,
}

impl ListSummary {
    fn of(found: FoundColumns, weighted: bool) -> ListSummary {
        let column = |at: usize| match found.names.as_ref().and_then(|names| names.get(at)) {
            Some(name) if !name.is_empty() => ReadColumn::Name(name.clone()),
            _ => ReadColumn::Number(at + 1),
        };
        let weight = found.wanted.get(COLUMNS.len()).copied().flatten().filter(|_| weighted);
        let (id, weight) = (column(found.id), weight.map(column));
        let ignored = found.width.saturating_sub(1 + usize::from(weight.is_some()));
        ListSummary { id, weight, ignored }
    }

    /// Whether the ids are the only column.
    pub fn is_plain(&self) -> bool {
        self.weight.is_none() && self.ignored == 0
    }
}

impl fmt::Display for ListSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "id = {}", self.id)?;
        if let Some(weight) = &self.weight {
            write!(f, ", weight = {weight}")?;
        }
        match self.ignored {
            0 => Ok(()),
            1 => write!(f, "; 1 other column ignored"),
            more => write!(f, "; {} other columns ignored", grouped(more as u64)),
        }
    }
}

/// Reads a list of vertices, in the order of the file, with the columns that were read; `-` is standard input. With
/// [`ReadOptions::weighted`], a column `weight` has their weights.
///
/// # Errors
/// The errors of [`read_vertices`], or if a weight is no finite number, 0 or above.
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{ReadOptions, read_vertex_list};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("known.csv");
/// std::fs::write(&path, "id,weight\n2,0.5\n0,4\n")?;
/// let ids = VertexIds::Consecutive { first: 0, count: 3 };
/// let options = ReadOptions { weighted: true, ..ReadOptions::default() };
/// let list = read_vertex_list(&path, &options, &ids)?;
/// assert_eq!((list.vertices, list.weights), (vec![2, 0], Some(vec![0.5, 4.0])));
/// assert_eq!(list.summary.to_string(), "id = \"id\", weight = \"weight\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_vertex_list(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<VertexList, ReadError> {
    list(Source::File(path, options), ids, options.weighted)
}

fn vertices(source: Source<'_>, ids: &VertexIds) -> Result<Vec<VertexId>, ReadError> {
    list(source, ids, false).map(|list| list.vertices)
}

fn list(source: Source<'_>, ids: &VertexIds, weighted: bool) -> Result<VertexList, ReadError> {
    let read = || {
        let (mut vertices, mut weights) = (Vec::new(), Vec::new());
        let mut is_listed = memory::filled(false, ids.len())?;
        let [clusters, strengths] = COLUMNS;
        let all: [&[&str]; 3] = [clusters, strengths, &["weight"]];
        let wanted = if weighted { &all[..] } else { &all[..COLUMNS.len()] };
        let found = vertex_rows(source, ids, wanted, Form::List, |row| {
            let Some(vertex) = ids.find(row.id) else {
                return Err(row.fault(no_vertex(row.id, ids)));
            };
            if std::mem::replace(&mut is_listed[vertex as usize], true) {
                return Err(row.fault(format!("vertex {} is listed twice", ids.get(vertex))));
            }
            if let Some(&Some(value)) = row.values.get(COLUMNS.len()) {
                let weight = token::weight(value.to_string().as_bytes());
                memory::push(&mut weights, weight.map_err(|why| row.fault(why))?)?;
            }
            Ok(memory::push(&mut vertices, vertex)?)
        })?;
        let summary = ListSummary::of(found, weighted);
        let weights = summary.weight.is_some().then_some(weights);
        Ok(VertexList { vertices, weights, summary })
    };
    read().map_err(|fault: Fault| fault.of(source.path()))
}

/// Returns the message for an id that is none of the graph's.
fn no_vertex(id: ExternalId<'_>, ids: &VertexIds) -> String {
    let is_vertex = |part: &str| ids.find(ExternalId::Name(part)).is_some();
    let text = match id {
        ExternalId::Name(text) => text,
        ExternalId::Unsigned(_) | ExternalId::Signed(_) => "",
    };
    let hint = match text.split([' ', '\t', ',', ';', '|']).any(is_vertex) {
        true => {
            ": write an id a line, or columns with their names in the first row, such as `id` and `note`"
        }
        false => "",
    };
    format!("`{}` is no vertex of the graph{hint}", crate::shown::shown(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_graph::Names;

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
        assert_eq!(read("id note\n2 red\n4 blue\n", Format::EdgeList), Ok(vec![1, 3]));
    }

    #[test]
    fn several_fields_on_a_line_need_a_header() {
        for (text, format) in [
            ("2 red\n", Format::EdgeList),
            ("5 4\n", Format::EdgeList),
            ("5\n1,4\n", Format::EdgeList),
            ("id\n1 4\n", Format::EdgeList),
            ("5,4\n", Format::Csv),
            ("id\n5,4\n", Format::Csv),
            ("5\t4\n", Format::Tsv),
            ("5 4\n", Format::Csv),
            ("5\n1 4\n", Format::Tsv),
        ] {
            let error = read(text, format).unwrap_err();
            assert!(error.contains("an id a line"), "{text:?}: {error}");
            assert!(error.contains(&format!("(bytes):{}: ", text.lines().count())), "{error}");
        }
    }

    #[test]
    fn a_first_row_that_is_a_name_and_a_vertex_is_refused() {
        let ids = VertexIds::Names(Names::new(["ann", "name", "node"]));
        let read = |text: &str, format| {
            parse_vertices(text.as_bytes(), format, &ids).map_err(|error| error.to_string())
        };
        for format in [Format::EdgeList, Format::Csv, Format::Tsv] {
            let error = read("node\nann\n", format).unwrap_err();
            assert!(error.starts_with("(bytes):1: the first row may be the name"), "{error}");
            assert!(error.contains("the vertex `node`"), "{error}");
            assert!(error.ends_with("write `id` or `vertex` or `name`"), "{error}");
            assert_eq!(read("ann\nnode\n", format), Ok(vec![0, 2]));
            assert_eq!(read("id\nnode\nann\n", format), Ok(vec![2, 0]));
            assert_eq!(read("vertex\nname\n", format), Ok(vec![1]));
        }
        assert_eq!(read("name,note\nann,x\n", Format::Csv), Ok(vec![0]));
    }

    #[test]
    fn bars_separate_fields() {
        let integers = |text: &str, format| read(text, format);
        for format in [Format::EdgeList, Format::Csv, Format::Tsv] {
            assert_eq!(integers("id|note\n2|red\n4|blue\n", format), Ok(vec![1, 3]));
            let error = integers("2|red\n", format).unwrap_err();
            assert!(error.contains("the line has 2 fields"), "{error}");
        }
        let ids = VertexIds::Names(Names::new(["Ann Lee", "Bob", "a|b"]));
        let names = |text: &str, format| {
            parse_vertices(text.as_bytes(), format, &ids).map_err(|error| error.to_string())
        };
        for format in [Format::EdgeList, Format::Csv, Format::Tsv] {
            assert_eq!(
                names("id|note\nBob|x\nAnn Lee|y z\n", format),
                Ok(vec![1, 0]),
                "{format:?}"
            );
            // An id may have bars.
            assert_eq!(names("a|b\nBob\n", format), Ok(vec![2, 1]), "{format:?}");
            let error = names("Ann Lee|Bob\n", format).unwrap_err();
            assert!(error.contains("the line has 2 fields"), "{format:?}: {error}");
        }
    }

    #[test]
    fn ids_may_have_blanks() {
        let names = Names::new(["Ann", "Ann Lee", "Bob", "Cid Poe", "Lee, Ann"]);
        let ids = VertexIds::Names(names);
        let read = |text: &str, format| {
            parse_vertices(text.as_bytes(), format, &ids).map_err(|error| error.to_string())
        };
        let both = Ok(vec![1, 3]);
        for (text, format) in [
            ("Ann Lee\nCid Poe\n", Format::EdgeList),
            (" Ann Lee \r\nCid Poe\r\n", Format::EdgeList),
            ("id\nAnn Lee\nCid Poe\n", Format::EdgeList),
            ("id\tnote\nAnn Lee\tx y\nCid Poe\tz\n", Format::EdgeList),
            ("id\nAnn Lee\nCid Poe\n", Format::Csv),
            ("id\n\"Ann Lee\"\n\"Cid Poe\"\n", Format::Csv),
            ("Ann Lee\nCid Poe\n", Format::Csv),
            ("id\nAnn Lee\nCid Poe\n", Format::Tsv),
            ("note,id\nx y,Ann Lee\nz,Cid Poe\n", Format::Csv),
        ] {
            assert_eq!(read(text, format), both, "{text:?}");
        }
        assert_eq!(read("Bob\nAnn Lee\n", Format::EdgeList), Ok(vec![2, 1]));
        assert_eq!(read("Lee, Ann\n", Format::EdgeList), Ok(vec![4]));
        assert_eq!(read("id\n\"Lee, Ann\"\n", Format::Csv), Ok(vec![4]));
        assert_eq!(read("id note\nBob x\nAnn y\n", Format::EdgeList), Ok(vec![2, 0]));
        for (text, format) in [
            ("Ann Bob\n", Format::EdgeList),
            ("Ann,Bob\n", Format::EdgeList),
            ("Ann\tBob\n", Format::EdgeList),
            ("Ann,Bob\n", Format::Csv),
            ("Ann Bob\n", Format::Csv),
            ("id note\nAnn Lee x\n", Format::EdgeList),
        ] {
            let error = read(text, format).unwrap_err();
            let parts =
                ["write an id a line", "write each id on a line", "separate fields by tabs"];
            assert!(parts.iter().any(|part| error.contains(part)), "{text:?}: {error}");
        }
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
