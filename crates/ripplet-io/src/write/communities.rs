//! Writes communities: a line or row for each vertex and community.

use super::column::{Column, ColumnType};
use super::manifest::{ManifestColumn, PartRecord};
use super::parts::{PartRows, TableParts, ends_of};
use super::{Target, columnar, listing_format, refused, whole_file};
use crate::output::text::{Fields, Line, push_integer, write_text};
use crate::{Compression, Format, WriteError};
use ripplet_graph::{OutOfMemory, VertexId, VertexIds, memory, ranked_by_size};
use std::io::{self, Write};
use std::ops::Range;

/// Communities of vertices.
///
/// Usually every vertex has one row. It has none if no label reached it, and several if communities overlap.
#[derive(Clone, Copy, Debug)]
pub struct Communities<'a> {
    /// Vertex of each row; `None` if the rows are all vertices in order.
    pub vertices: Option<&'a [VertexId]>,
    /// Vertex that represents the row's community.
    pub communities: &'a [VertexId],
    /// Strength of each membership, as a third column, if known.
    pub strengths: Option<&'a [f32]>,
}

/// Names of communities in an output.
#[derive(Clone, Copy, Debug, Default)]
pub enum Naming<'a> {
    /// The external id of a vertex.
    #[default]
    VertexId,
    /// Integers from 0, in the order of each community's first row.
    Consecutive,
    /// Integers from 0, by size: the community with most rows first; ties go to the earlier first row.
    BySize,
    /// Given names: that of the community that vertex `v` represents is `names.get(of[v])`.
    Given {
        /// The names.
        names: &'a VertexIds,
        /// Number of the name for each vertex; any number if it represents no community.
        of: &'a [u32],
    },
}

/// Rows in a block.
const ROWS: usize = 1 << 15;

impl<'a> Communities<'a> {
    /// Creates communities with one a vertex.
    pub fn of_all(communities: &'a [VertexId]) -> Communities<'a> {
        Communities { vertices: None, communities, strengths: None }
    }

    pub(super) fn rows(&self) -> usize {
        self.communities.len()
    }

    pub(super) fn vertex(&self, row: usize) -> VertexId {
        self.vertices.map_or(row as VertexId, |vertices| vertices[row])
    }

    /// Returns the rows of a range of vertices; rows ascend by vertex.
    fn rows_of(&self, vertices: &Range<VertexId>) -> Range<usize> {
        let before = |vertex: VertexId| match self.vertices {
            None => vertex as usize,
            Some(of) => of.partition_point(|&other| other < vertex),
        };
        before(vertices.start)..before(vertices.end)
    }

    /// Rejects rows that are not of these vertices.
    pub(super) fn check(&self, ids: &VertexIds) -> io::Result<()> {
        let (rows, vertices) = (self.rows(), ids.len());
        let known = |&vertex: &VertexId| (vertex as usize) < vertices;
        match self.vertices {
            None if rows != vertices => {
                return Err(refused(format!("{rows} communities for {vertices} vertices")));
            }
            Some(of) if of.len() != rows => {
                return Err(refused(format!("{rows} communities for {} rows", of.len())));
            }
            _ => {}
        }
        if let Some(vertex) = self.vertices.into_iter().flatten().find(|vertex| !known(vertex)) {
            return Err(refused(format!("row of vertex {vertex}, which is none")));
        }
        if let Some(label) = self.communities.iter().find(|label| !known(label)) {
            return Err(refused(format!("community {label} is no vertex")));
        }
        match self.strengths {
            Some(strengths) if strengths.len() != rows => {
                Err(refused(format!("{} strengths for {rows} rows", strengths.len())))
            }
            _ => Ok(()),
        }
    }
}

/// Writes communities atomically.
///
/// The extension selects the format:
/// - `.txt`: `id community` a line, and `id community strength` with strengths (with tabs if names contain
///   blanks),
/// - `.tsv` and `.csv`: with a header,
/// - `.jsonl`: a JSON object a line; these four also `.gz` and `.zst`,
/// - `.parquet` and `.arrow`: columns `id` and `community` of the ids' (or names') type (`UInt64`, `Int64` or
///   `Utf8`; numbers are `UInt32`) and `strength` (`Float32`).
///
/// `-` is standard output, as `.txt`. A path or an address that ends in `/` is that of a table in parts, which has one here; see
/// [`write_communities_part`] for several.
///
/// # Errors
/// If the extension is unknown, the format cannot hold an id or a name, the rows do not fit `ids`, or the
/// operating system refuses; no partial file remains.
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::write::{Communities, Naming, write_communities};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("communities.csv");
/// let ids = VertexIds::Consecutive { first: 10, count: 3 };
/// // Vertices 0 and 1 are in the community of vertex 0, and vertex 2 is alone.
/// write_communities(&*path, &ids, &Communities::of_all(&[0, 0, 2]), Naming::VertexId)?;
/// assert_eq!(std::fs::read_to_string(path)?, "id,community\n10,10\n11,10\n12,12\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_communities<'a>(
    target: impl Into<Target<'a>>,
    ids: &VertexIds,
    communities: &Communities<'_>,
    naming: Naming<'_>,
) -> Result<(), WriteError> {
    let target = target.into();
    if target.destination().is_in_parts() {
        let mut parts = TableParts::begin(target)?;
        let all = 0..ids.len() as VertexId;
        let part = write_communities_part(&mut parts, (0, all), ids, communities, naming)?;
        parts.commit()?;
        return parts.finish(vec![part]);
    }
    let refuse = |source| target.error(source);
    let (format, compression) = format_for(target, ids).map_err(refuse)?;
    let table = Table::new(ids, communities, naming, |names| format_for(target, names).map(drop));
    let table = table.map_err(refuse)?;
    let all = 0..communities.rows();
    whole_file(target.path(), |out| table.write_to(out, format, compression, all))
}

/// Writes a part of a table of communities: the rows of the vertices of a range, which are consecutive. `communities` has the rows of
/// all vertices, ascending by vertex, so that names of communities do not depend on the parts.
///
/// Returns the record of the part, which [`TableParts::finish`] takes. The part does not appear before [`TableParts::commit`].
///
/// # Errors
/// See [`write_communities`].
///
/// # Examples
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::write::{Communities, Naming, TableParts, Target, write_communities_part};
/// use ripplet_io::Format;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("communities/");
/// let ids = VertexIds::Consecutive { first: 10, count: 3 };
/// let communities = Communities::of_all(&[0, 0, 2]);
/// let target = Target::new(&path, Some(Format::Csv));
/// // Usually in two processes, of which the first one sends the token, and gets the records.
/// let mut first = TableParts::begin(target)?;
/// let mut other = TableParts::join(target, &first.token(), 1)?;
/// let own = write_communities_part(&mut first, (0, 0..2), &ids, &communities, Naming::VertexId)?;
/// let others = write_communities_part(&mut other, (1, 2..3), &ids, &communities, Naming::VertexId)?;
/// first.commit()?;
/// other.commit()?;
/// other.leave();
/// first.finish(vec![own, others])?;
/// let part = std::fs::read_to_string(path.join("part-00001.csv"))?;
/// assert_eq!(part, "id,community\n12,12\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_communities_part(
    parts: &mut TableParts,
    (number, vertices): (usize, Range<VertexId>),
    ids: &VertexIds,
    communities: &Communities<'_>,
    naming: Naming<'_>,
) -> Result<PartRecord, WriteError> {
    let target = parts.target();
    let refuse = |source| target.error(source);
    let (format, compression) = format_for(target, ids).map_err(refuse)?;
    let table = Table::new(ids, communities, naming, |names| format_for(target, names).map(drop));
    let table = table.map_err(refuse)?;
    let rows = communities.rows_of(&vertices);
    let ends = (!rows.is_empty()).then(|| {
        let [first, last] = [rows.start, rows.end - 1].map(|row| communities.vertex(row));
        ends_of(ids, first, last)
    });
    let columns = table.types().into_iter().map(|(name, kind)| ManifestColumn::new(name, kind));
    let of_part = PartRows { rows: rows.len() as u64, ends, columns: columns.collect() };
    parts.write_part(number, of_part, |out| table.write_to(out, format, compression, rows))
}

/// Checks the arguments before there are communities: that the extension is known, and that the format can
/// hold the ids.
///
/// # Errors
/// See [`write_communities`].
pub fn check_communities<'a>(
    target: impl Into<Target<'a>>,
    ids: &VertexIds,
) -> Result<(), WriteError> {
    let target = target.into();
    format_for(target, ids).map(|_| ()).map_err(|source| target.error(source))
}

fn format_for(target: Target<'_>, ids: &VertexIds) -> io::Result<(Format, Compression)> {
    listing_format(target, ids, "communities")
}

/// Contents of the output.
struct Table<'a> {
    ids: &'a VertexIds,
    communities: &'a Communities<'a>,
    called: CommunityNames<'a>,
}

/// Names of communities for an output.
pub(super) enum CommunityNames<'a> {
    Ids(&'a VertexIds),
    /// Number of each row's community.
    Numbers(Vec<u32>),
    Names {
        names: &'a VertexIds,
        of: &'a [u32],
    },
}

impl<'a> CommunityNames<'a> {
    /// Returns the names of communities of vertices with these ids.
    pub(super) fn of(
        communities: &Communities<'_>,
        ids: &'a VertexIds,
        naming: Naming<'a>,
    ) -> io::Result<CommunityNames<'a>> {
        Ok(match naming {
            Naming::VertexId => CommunityNames::Ids(ids),
            Naming::Consecutive => {
                CommunityNames::Numbers(numbered(communities.communities, ids.len()))
            }
            Naming::BySize => CommunityNames::Numbers(
                numbered_by_size(communities.communities, ids.len())
                    .map_err(|refused| io::Error::new(io::ErrorKind::OutOfMemory, refused))?,
            ),
            Naming::Given { names, of } => {
                let known = |&label: &VertexId| {
                    of.get(label as usize).is_some_and(|&name| (name as usize) < names.len())
                };
                if let Some(label) = communities.communities.iter().find(|label| !known(label)) {
                    return Err(refused(format!("community {label} has no name")));
                }
                CommunityNames::Names { names, of }
            }
        })
    }
}

impl<'a> Table<'a> {
    /// Returns the contents of an output, after the check of names that are no ids.
    fn new(
        ids: &'a VertexIds,
        communities: &'a Communities<'a>,
        naming: Naming<'a>,
        check_names: impl FnOnce(&VertexIds) -> io::Result<()>,
    ) -> io::Result<Table<'a>> {
        communities.check(ids)?;
        if let Naming::Given { names, .. } = naming {
            check_names(names)?;
        }
        let called = CommunityNames::of(communities, ids, naming)?;
        Ok(Table { ids, communities, called })
    }

    /// Writes some of the rows.
    fn write_to(
        &self,
        out: &mut (dyn Write + Send),
        format: Format,
        compression: Compression,
        all: Range<usize>,
    ) -> io::Result<()> {
        let blocks = all.len().div_ceil(ROWS);
        let rows = |block: usize| {
            let start = all.start + block * ROWS;
            start..all.end.min(start + ROWS)
        };
        match self.fields(format) {
            None => columnar::write_table(out, format, &self.types(), blocks, |block| {
                self.columns(rows(block))
            }),
            Some(fields) => {
                let mut header = vec!["id", "community"];
                header.extend(self.communities.strengths.map(|_| "strength"));
                let line = Line::new(fields, &header);
                write_text(out, compression, &fields.header(&header), blocks, |block, text| {
                    rows(block).for_each(|row| self.push_line(&line, text, row));
                })
            }
        }
    }

    /// Returns the fields of a line, if the format is text.
    fn fields(&self, format: Format) -> Option<Fields> {
        let fields = Fields::of(format)?.spaced(self.ids);
        Some(match &self.called {
            CommunityNames::Names { names, .. } => fields.spaced(names),
            CommunityNames::Ids(_) | CommunityNames::Numbers(_) => fields,
        })
    }

    fn push_line(&self, line: &Line, text: &mut Vec<u8>, row: usize) {
        let fields = line.fields;
        line.begin(text, 0);
        fields.push_id(text, self.ids, self.communities.vertex(row));
        line.begin(text, 1);
        let label = self.communities.communities[row];
        match &self.called {
            CommunityNames::Ids(ids) => fields.push_id(text, ids, label),
            CommunityNames::Numbers(numbers) => push_integer(text, numbers[row]),
            CommunityNames::Names { names, of } => fields.push_id(text, names, of[label as usize]),
        }
        if let Some(strengths) = self.communities.strengths {
            line.begin(text, 2);
            fields.push_number(text, strengths[row]);
        }
        line.end(text);
    }

    fn types(&self) -> Vec<(&'static str, ColumnType)> {
        let called = match &self.called {
            CommunityNames::Ids(ids) => (*ids).into(),
            CommunityNames::Numbers(_) => ColumnType::U32,
            CommunityNames::Names { names, .. } => (*names).into(),
        };
        let mut columns = vec![("id", self.ids.into()), ("community", called)];
        columns.extend(self.communities.strengths.map(|_| ("strength", ColumnType::F32)));
        columns
    }

    fn columns(&self, rows: Range<usize>) -> io::Result<Vec<Column>> {
        let labels = self.communities.communities[rows.clone()].iter().copied();
        let vertices = rows.clone().map(|row| self.communities.vertex(row));
        let mut columns = vec![
            Column::of_ids(self.ids, vertices)?,
            match &self.called {
                CommunityNames::Ids(ids) => Column::of_ids(ids, labels)?,
                CommunityNames::Numbers(numbers) => Column::U32(numbers[rows.clone()].to_vec()),
                CommunityNames::Names { names, of } => {
                    Column::of_ids(names, labels.map(|label| of[label as usize]))?
                }
            },
        ];
        columns.extend(self.communities.strengths.map(|all| Column::F32(all[rows].to_vec())));
        Ok(columns)
    }
}

/// Numbers communities from 0, in the order of their first row.
fn numbered(communities: &[VertexId], vertices: usize) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let (mut number_of, mut count) = (vec![UNSEEN; vertices], 0);
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

/// Numbers communities from 0 in the order of their size, the largest first, as [`Naming::BySize`] does.
///
/// `communities` has the community of each row, called by a vertex below `vertices`.
///
/// # Errors
/// If memory allocation fails.
pub fn numbered_by_size(
    communities: &[VertexId],
    vertices: usize,
) -> Result<Vec<u32>, OutOfMemory> {
    let ranked = ranked_by_size(communities, vertices, usize::MAX)?;
    let mut place = memory::zeros::<u32>(vertices)?;
    (0..).zip(ranked.largest).for_each(|(at, community)| place[community.label as usize] = at);
    memory::collected(communities.iter().map(|&label| place[label as usize]))
}

#[cfg(test)]
mod tests {
    use super::super::tests::fails_at_every_byte;
    use super::*;
    use ripplet_graph::Names;

    #[test]
    fn numbers_follow_the_first_vertex() {
        assert_eq!(numbered(&[2, 2, 2, 0, 4], 5), [0, 0, 0, 1, 2]);
        assert_eq!(numbered(&[], 3), [0u32; 0]);
    }

    #[test]
    fn numbers_follow_the_size() {
        assert_eq!(numbered_by_size(&[4, 0, 2, 2, 2, 0, 3], 5).unwrap(), [2, 1, 0, 0, 0, 1, 3]);
        assert_eq!(numbered_by_size(&[], 3).unwrap(), [0u32; 0]);
    }

    #[test]
    fn a_full_disk_is_an_error_in_every_format() {
        let ids = VertexIds::Names(Names::new(["a", "b", "c"]));
        let strengths = Some(&[0.5, 1.0, 0.25][..]);
        let communities = Communities { strengths, ..Communities::of_all(&[1, 1, 2]) };
        let table =
            Table { ids: &ids, communities: &communities, called: CommunityNames::Ids(&ids) };
        for format in [
            Format::EdgeList,
            Format::Tsv,
            Format::Csv,
            Format::JsonLines,
            Format::Parquet,
            Format::Arrow,
        ] {
            for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
                fails_at_every_byte(|out| table.write_to(out, format, compression, 0..3));
            }
        }
    }
}
