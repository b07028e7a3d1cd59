//! Reads a number for each vertex: lines of an id and a number, as LDBC's reference outputs are.
//!
//! The formats are `.txt` (and names without a known extension), `.tsv` and `.csv`, each also compressed. The
//! first two fields of a line count; a header is skipped.
//!
//! Memory: 24 bytes per row while a chunk is read, and 8 per vertex.
//!
//! Determinism: the result and the first error do not depend on the number of threads.

use crate::fault::Fault;
use crate::label_table::is_heading;
use crate::read::{in_memory, open};
use crate::shown::shown_id;
use crate::text::{Text, pairs};
use crate::{Format, Place, ReadError, ReadErrorKind, ReadOptions};
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::path::Path;

/// Reads a number for each vertex.
///
/// `-` is standard input. The result has one element for each of `ids`: `values[v]` is the number of `v`.
///
/// # Errors
/// If the file cannot be read, an id is no vertex, a value is no finite number, or a vertex has two numbers
/// or none.
///
/// # Examples
/// See [`parse_values`].
pub fn read_values(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Vec<f64>, ReadError> {
    let known = options.format.or_else(|| Format::of_path(path).map(|(format, _)| format));
    let format = known.unwrap_or(Format::EdgeList);
    let read = check(format).and_then(|()| open(path)?.read_by(|text| values(text, format, ids)));
    read.map_err(|fault| fault.of(path))
}

/// Parses numbers of vertices, as [`read_values`] does; errors name the input `(bytes)`.
///
/// # Errors
/// The errors of [`read_values`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::{Format, parse_values};
///
/// let ids = VertexIds::Consecutive { first: 1, count: 2 };
/// assert_eq!(parse_values(b"2 0.5\n1 0.25\n", Format::EdgeList, &ids)?, [0.25, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse_values(bytes: &[u8], format: Format, ids: &VertexIds) -> Result<Vec<f64>, ReadError> {
    let read = check(format).and_then(|()| values(&mut in_memory(bytes)?, format, ids));
    read.map_err(|fault| fault.of(Path::new("(bytes)")))
}

fn check(format: Format) -> Result<(), Fault> {
    match format {
        Format::EdgeList | Format::Tsv | Format::Csv => Ok(()),
        _ => Err(Fault::whole("numbers of vertices are read from .txt, .tsv or .csv")),
    }
}

struct Row {
    vertex: VertexId,
    /// The line, counted from the chunk's first.
    line: u32,
    value: f64,
}

fn values(text: &mut Text<'_>, format: Format, ids: &VertexIds) -> Result<Vec<f64>, Fault> {
    // NaN marks a vertex without a number: no value is NaN.
    let mut values = memory::filled(f64::NAN, ids.len())?;
    let tabs = matches!(ids, VertexIds::Names(_));
    let row = |rows: &mut Vec<Row>, line: u32, id: &str, value: &str| {
        let (id, text) = (ExternalId::Name(id), ExternalId::Name(value));
        let Some(vertex) = ids.find(id) else {
            return Err(format!("`{}` is no vertex of the graph", shown_id(id)).into());
        };
        let number = value.parse().ok().filter(|number: &f64| number.is_finite());
        let Some(value) = number else {
            return Err(format!("expected a number, not `{}`", shown_id(text)).into());
        };
        Ok(memory::push(rows, Row { vertex, line, value })?)
    };
    let take = |rows: Vec<Row>, before: u64| {
        for Row { vertex, line, value } in rows {
            let place = &mut values[vertex as usize];
            if !place.is_nan() {
                let sentence = format!("vertex {} has a second number", ids.get(vertex));
                let kind = ReadErrorKind::Content(sentence);
                return Err(Fault { place: Place::Line(before + u64::from(line)), kind });
            }
            *place = value;
        }
        Ok(())
    };
    pairs(text, format, tabs, |field| is_heading(ids, format, field), Vec::new, row, take)?;
    let missing = values.iter().filter(|value| value.is_nan()).count();
    match values.iter().position(|value| value.is_nan()) {
        None => Ok(values),
        Some(first) => Err(Fault::whole(format!(
            "{missing} of {} vertices {} no number, the first of them vertex {}: expected one for each",
            values.len(),
            if missing == 1 { "has" } else { "have" },
            ids.get(first as u32)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: VertexIds = VertexIds::Consecutive { first: 1, count: 3 };

    #[test]
    fn numbers_come_in_the_order_of_the_vertices() {
        for text in ["3 0.5\n1 1e-3\n2 0\n", "# a comment\n3\t0.5\n\n1\t0.001\n2\t-0\n"] {
            assert_eq!(
                parse_values(text.as_bytes(), Format::EdgeList, &IDS).unwrap(),
                [0.001, 0.0, 0.5]
            );
        }
        let table = b"id,value\n1,0.25\n2,1\n3,0\n";
        assert_eq!(parse_values(table, Format::Csv, &IDS).unwrap(), [0.25, 1.0, 0.0]);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        for (text, part) in [
            ("1 1\n4 1\n", "(bytes):2: `4` is no vertex"),
            ("1 1\n2 NaN\n", "(bytes):2: expected a number, not `NaN`"),
            ("1 1\n2 inf\n", "(bytes):2: expected a number, not `inf`"),
            ("1 1\n2 much\n", "(bytes):2: expected a number, not `much`"),
            ("1 1\n2 1\n1 1\n", "(bytes):3: vertex 1 has a second number"),
            ("2 1\n3 1\n", "1 of 3 vertices has no number, the first of them vertex 1"),
            ("2 1\n", "2 of 3 vertices have no number, the first of them vertex 1"),
            ("1\n", "(bytes):1: "),
        ] {
            let error = parse_values(text.as_bytes(), Format::EdgeList, &IDS).unwrap_err();
            assert!(error.to_string().contains(part), "{error} has no {part}");
        }
        let error = parse_values(b"", Format::Parquet, &IDS).unwrap_err().to_string();
        assert!(error.contains("read from .txt"), "{error}");
    }
}
