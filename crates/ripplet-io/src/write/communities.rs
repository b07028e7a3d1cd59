//! Communities out: a line or a row a vertex, its id and its community.

use super::text::{Fields, push_integer, write_text};
use super::{columnar, refused, whole_file};
use crate::{Compression, Format, WriteError};
use ripplet_graph::{VertexId, VertexIds};
use std::io::{self, Write};
use std::path::Path;

/// How communities are called in an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// By the external id of a vertex.
    #[default]
    VertexId,
    /// By integers from 0, in the order of each community's first vertex.
    Consecutive,
}

/// Vertices in a block.
const ROWS: usize = 1 << 15;

/// What a reader of an output sees as communities.
enum Column<'a> {
    Vertices(&'a [VertexId]),
    Numbers(Vec<u32>),
}

/// Writes each vertex's community, whole or not at all: `communities[v]` is a vertex that stands
/// for the community of `v`.
///
/// The name tells the format: `.txt` is `id community` a line; `.tsv` and `.csv` have a header;
/// these three also `.gz` and `.zst`; `.parquet` and `.arrow` have columns `id` and `community` of
/// the ids' own type (`UInt64`, `Int64` or `Utf8`; numbers are `UInt32`). `-` is standard output,
/// as `.txt`.
///
/// # Errors
/// Where the name tells no such format, the format cannot hold an id, `communities` does not fit
/// `ids`, or the operating system refuses; nothing is left behind.
pub fn write_communities(
    path: &Path,
    ids: &VertexIds,
    communities: &[VertexId],
    naming: Naming,
) -> Result<(), WriteError> {
    let plan = plan(path, ids, communities);
    let (format, compression) = plan.map_err(|source| WriteError { path: path.into(), source })?;
    let column = match naming {
        Naming::VertexId => Column::Vertices(communities),
        Naming::Consecutive => Column::Numbers(numbered(communities)),
    };
    whole_file(path, |out| write_to(out, format, compression, ids, &column))
}

/// Checks what can be checked before there are communities: that the name tells a format, and that
/// the format can hold the ids.
///
/// # Errors
/// As [`write_communities`].
pub fn check_communities(path: &Path, ids: &VertexIds) -> Result<(), WriteError> {
    let checked = format_for(path, ids);
    checked.map(|_| ()).map_err(|source| WriteError { path: path.into(), source })
}

/// The format, after all that can be wrong before the first byte.
fn plan(
    path: &Path,
    ids: &VertexIds,
    communities: &[VertexId],
) -> io::Result<(Format, Compression)> {
    let told = format_for(path, ids)?;
    if communities.len() != ids.len() {
        let (labels, vertices) = (communities.len(), ids.len());
        return Err(refused(format!("{labels} communities for {vertices} vertices")));
    }
    if let Some(label) = communities.iter().find(|&&label| label as usize >= ids.len()) {
        return Err(refused(format!("community {label} is no vertex")));
    }
    Ok(told)
}

fn format_for(path: &Path, ids: &VertexIds) -> io::Result<(Format, Compression)> {
    let told = match path == Path::new("-") {
        true => Some((Format::EdgeList, Compression::None)),
        false => Format::of_path(path),
    };
    let (format, compression) = match told {
        Some(told @ (Format::EdgeList | Format::Tsv | Format::Csv, _)) => told,
        Some(told @ (Format::Parquet | Format::Arrow, Compression::None)) => told,
        _ => {
            return Err(refused(
                "communities are written as .txt, .tsv or .csv (each also .gz or .zst), .parquet \
                 or .arrow: choose such a name",
            ));
        }
    };
    Fields::of(format).map_or(Ok(()), |fields| fields.check(ids))?;
    Ok((format, compression))
}

fn write_to(
    out: &mut (dyn Write + Send),
    format: Format,
    compression: Compression,
    ids: &VertexIds,
    column: &Column<'_>,
) -> io::Result<()> {
    let blocks = ids.len().div_ceil(ROWS);
    let rows = |block: usize| block * ROWS..ids.len().min((block + 1) * ROWS);
    let Some(fields) = Fields::of(format) else {
        let schema = match column {
            Column::Vertices(_) => {
                columnar::schema(&[("id", ids.into()), ("community", ids.into())])
            }
            Column::Numbers(_) => {
                columnar::schema(&[("id", ids.into()), ("community", columnar::Type::Number)])
            }
        };
        return columnar::write_table(out, format, schema, blocks, |block| {
            let rows = rows(block);
            let vertices = columnar::ids(ids, rows.start as u32..rows.end as u32)?;
            let communities = match column {
                Column::Vertices(labels) => columnar::ids(ids, labels[rows].iter().copied())?,
                Column::Numbers(numbers) => columnar::numbers(&numbers[rows]),
            };
            Ok(vec![vertices, communities])
        });
    };
    write_text(out, compression, &fields.header(&["id", "community"]), blocks, |block, text| {
        for row in rows(block) {
            fields.push_id(text, ids, row as u32);
            text.push(fields.separator());
            match column {
                Column::Vertices(labels) => fields.push_id(text, ids, labels[row]),
                Column::Numbers(numbers) => push_integer(text, numbers[row]),
            }
            text.push(b'\n');
        }
    })
}

/// Communities as integers from 0, in the order of their first vertex.
fn numbered(communities: &[VertexId]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let (mut number_of, mut count) = (vec![UNSEEN; communities.len()], 0);
    let number = |&label: &VertexId| {
        let number = &mut number_of[label as usize];
        if *number == UNSEEN {
            *number = count;
            count += 1;
        }
        *number
    };
    communities.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::fails_at_every_byte;
    use super::*;
    use ripplet_graph::Names;

    #[test]
    fn numbers_follow_the_first_vertex() {
        assert_eq!(numbered(&[2, 2, 2, 0, 4]), [0, 0, 0, 1, 2]);
        assert_eq!(numbered(&[]), [0u32; 0]);
    }

    #[test]
    fn a_full_disk_is_an_error_in_every_format() {
        let ids = VertexIds::Names(Names::new(["a", "b", "c"]));
        let labels = [1, 1, 2];
        for format in [Format::EdgeList, Format::Tsv, Format::Csv, Format::Parquet, Format::Arrow] {
            for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
                fails_at_every_byte(|out| {
                    write_to(out, format, compression, &ids, &Column::Vertices(&labels))
                });
            }
        }
    }
}
