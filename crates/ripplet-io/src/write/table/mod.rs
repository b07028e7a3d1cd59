//! Tables that are written part by part: the columns are declared once, and the file appears atomically.
//!
//! ```text
//! Part (whose rows) + values ─▶ blocks that lie together ─▶ blocks in parallel ─▶ in order ─▶ Output
//! ```
//!
//! Ids are not materialized for all rows: a block reads them graph by graph from the batch's own arrays.
//! Memory: a few blocks a thread, and 16 bytes per graph of a part of pairs.
//!
//! The bytes do not depend on the number of threads; the ends of blocks depend on the parts.

#[cfg(feature = "columnar")]
mod arrow;
mod keys;
mod rows;
mod values;

#[cfg(feature = "columnar")]
pub use arrow::ArrowTableWriter;
pub use rows::{Part, Rows, Subject};
pub use values::{ColumnData, ColumnKind};

pub(super) use values::Values;

use super::column::{Column, ColumnType};
#[cfg(feature = "columnar")]
use super::columnar::TableBatches;
use super::columnar::TableFile;
use super::{Target, listing_format, refused};
use crate::output::Output;
use crate::output::text::{Fields, Line, write_blocks, write_end, write_head};
use crate::{Compression, Format, WriteError};
use keys::{Ids, KeyColumn, KeyKind, no_memory};
use ripplet_graph::batch::BatchIds;
use ripplet_graph::{ExternalId, Names, VertexIds};
use rows::{Layout, RowBlock, RowSubject};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Rows in a block.
const ROWS: u64 = 1 << 15;

/// Shape of a table: the subject of its rows, and its columns of values.
#[derive(Clone, Copy, Debug)]
pub struct TableShape<'a> {
    /// Subject of the rows.
    pub rows: Rows,
    /// Whether rows are of many graphs: then the first column is `graph`.
    pub of_batch: bool,
    /// Name and kind of each column of values.
    pub columns: &'a [(&'a str, ColumnKind)],
}

/// Writer of a table, part by part; it appears atomically when it is finished.
///
/// The extension selects the format: `.txt` (fields with blanks between, or tabs if names of the first part's
/// graph or batch contain blanks; no header), `.tsv`, `.csv`, `.jsonl` (each also `.gz` or `.zst`),
/// `.parquet`, `.arrow`; `-` is standard output as `.txt`. Columns of ids are `UInt64`, `Int64` or `Utf8`, as
/// the ids of the first part. A number is the shortest decimal with the same value, and infinity is `inf`.
///
/// ```
/// use ripplet_graph::VertexIds;
/// use ripplet_io::write::{ColumnData, ColumnKind, Part, Rows, Subject, TableShape, TableWriter};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("distances.csv");
/// let ids = VertexIds::Consecutive { first: 1, count: 3 };
/// let columns = [("distance", ColumnKind::U32)];
/// let shape = TableShape { rows: Rows::Pairs, of_batch: false, columns: &columns };
/// let mut table = TableWriter::create(&path, shape)?;
/// let of = Subject::Graph(&ids);
/// // From the first two vertices to all three: rows of a path 1 – 2 – 3.
/// table.append(Part::Pairs { of, sources: 0..2 }, &[ColumnData::U32(&[0, 1, 2, 1, 0, 1])])?;
/// table.append(Part::Pairs { of, sources: 2..3 }, &[ColumnData::U32(&[2, 1, 0])])?;
/// table.finish()?;
/// let text = std::fs::read_to_string(path)?;
/// assert_eq!(text, "source,target,distance\n1,2,1\n1,3,2\n2,1,1\n2,3,1\n3,1,2\n3,2,1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter {
    path: PathBuf,
    rows: Rows,
    of_batch: bool,
    columns: Vec<(String, ColumnKind)>,
    /// `None` after an error: the file is incomplete then.
    sink: Option<Sink>,
}

/// Destination of rows.
enum Sink {
    Text {
        out: Output,
        line: Line,
        compression: Compression,
        /// Whether neither a header nor a row was written yet: what is read for the first rows may be wrong, and then
        /// standard output gets nothing.
        is_empty: bool,
    },
    /// Before the first part, which decides the kinds of ids.
    Begun {
        out: Output,
        format: Format,
    },
    Columnar {
        file: Box<TableFile<Output>>,
        keys: Vec<KeyKind>,
    },
    /// In memory; before the first part, without a table.
    #[cfg(feature = "columnar")]
    Memory(Option<(TableBatches, Vec<KeyKind>)>),
}

impl TableWriter {
    /// Creates a table, which will be `path`.
    ///
    /// # Errors
    /// If the extension is unknown, or the operating system refuses.
    pub fn create<'a>(
        target: impl Into<Target<'a>>,
        shape: TableShape<'_>,
    ) -> Result<TableWriter, WriteError> {
        let target = target.into();
        let no_ids = VertexIds::Consecutive { first: 0, count: 0 };
        let format = listing_format(target, &no_ids, shape.rows.title());
        let format = format.map_err(|source| target.error(source))?;
        TableWriter::create_as(format, target.path(), shape)
    }

    /// Variant of [`TableWriter::create`] for a resolved format.
    pub(super) fn create_as(
        (format, compression): (Format, Compression),
        path: &Path,
        shape: TableShape<'_>,
    ) -> Result<TableWriter, WriteError> {
        let TableShape { rows, of_batch, columns } = shape;
        let out = Output::create(path)?;
        let columns = columns.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect();
        let mut table = TableWriter { path: path.into(), rows, of_batch, columns, sink: None };
        table.sink = Some(match Fields::of(format) {
            None => Sink::Begun { out, format },
            Some(fields) => table.text(out, fields, compression),
        });
        Ok(table)
    }

    /// Appends rows, with the values of each column. After an error, further rows are rejected.
    ///
    /// # Errors
    /// If the rows or the values do not fit the shape, the format cannot hold an id, or the operating system
    /// refuses.
    pub fn append(&mut self, part: Part<'_>, values: &[ColumnData<'_>]) -> Result<(), WriteError> {
        let values: Vec<Values<'_>> = values.iter().map(|&data| Values::single(data)).collect();
        self.append_values(part, &values)
    }

    /// Variant of [`TableWriter::append`] for several values in each row.
    pub(super) fn append_values(
        &mut self,
        part: Part<'_>,
        values: &[Values<'_>],
    ) -> Result<(), WriteError> {
        let after_an_error = || refused("an error ended this table: begin another");
        let appended = self.sink.take().ok_or_else(after_an_error).and_then(|sink| {
            let layout = self.layout(part, values)?;
            self.write(sink, &Blocks { layout: &layout, values })
        });
        self.sink = Some(appended.map_err(|source| self.error(source))?);
        Ok(())
    }

    /// Completes the table, which then appears.
    ///
    /// # Errors
    /// If the operating system refuses, or an earlier call failed; no partial file remains.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let out = match self.sink.take() {
            None => Err(refused("an error ended this table")),
            Some(Sink::Text { mut out, line, compression, is_empty }) => {
                let head = line.fields.header(&self.column_names());
                let head = if is_empty { &*head } else { "" };
                let ended = write_head(&mut out, compression, head)
                    .and_then(|has_head| write_end(&mut out, compression, is_empty && !has_head));
                ended.map(|()| out)
            }
            Some(Sink::Begun { out, format }) => {
                let keys = vec![KeyKind::Unsigned; self.key_names().len()];
                self.columnar(out, format, &keys).and_then(|file| file.finish())
            }
            Some(Sink::Columnar { file, .. }) => file.finish(),
            #[cfg(feature = "columnar")]
            Some(Sink::Memory(_)) => Err(refused("this table has no file")),
        };
        out.map_err(|source| self.error(source))?.finish()
    }

    fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.path.clone(), source }
    }

    /// Returns the names of the key columns.
    fn key_names(&self) -> Vec<&'static str> {
        let of_rows: &[_] = match self.rows {
            Rows::Vertices => &["id"],
            Rows::Groups => &["community"],
            Rows::Numbered(name) => return self.with_graph(&[name]),
            Rows::Communities => &["id", "community"],
            Rows::Components => &["id", "component"],
            Rows::Graphs => &[],
            Rows::Pairs | Rows::Edges => &["source", "target"],
        };
        self.with_graph(of_rows)
    }

    /// Returns the names of the key columns, with that of the graph before them if rows are of a batch.
    fn with_graph(&self, of_rows: &[&'static str]) -> Vec<&'static str> {
        self.of_batch.then_some("graph").into_iter().chain(of_rows.iter().copied()).collect()
    }

    /// Returns the names of all columns.
    fn column_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.key_names();
        names.extend(self.columns.iter().map(|(name, _)| name.as_str()));
        names
    }

    fn text(&self, out: Output, fields: Fields, compression: Compression) -> Sink {
        let line = Line::new(fields, self.column_names());
        Sink::Text { out, line, compression, is_empty: true }
    }

    fn columnar(
        &self,
        out: Output,
        format: Format,
        keys: &[KeyKind],
    ) -> io::Result<Box<TableFile<Output>>> {
        TableFile::create(out, format, &self.types(keys)).map(Box::new)
    }

    /// Returns the names and types of all columns.
    fn types(&self, keys: &[KeyKind]) -> Vec<(&str, ColumnType)> {
        let keys = self.key_names().into_iter().zip(keys).map(|(name, &kind)| (name, kind.into()));
        let values = self.columns.iter().map(|(name, kind)| (name.as_str(), (*kind).into()));
        keys.chain(values).collect()
    }

    /// Rejects rows and values that do not fit the shape.
    fn layout<'a>(&self, part: Part<'a>, values: &[Values<'_>]) -> io::Result<Layout<'a>> {
        let of_batch = matches!(part.subject(), Subject::Batch(_));
        if (part.rows(), of_batch) != (self.rows, self.of_batch) {
            return Err(refused("these rows are not what the table was begun for"));
        }
        let given: Vec<ColumnKind> = values.iter().map(|values| values.data.kind()).collect();
        if !given.iter().eq(self.columns.iter().map(|(_, kind)| kind)) {
            return Err(refused("these values are not what the table's columns were said to hold"));
        }
        let layout = Layout::of(part)?;
        let all = layout.values();
        let fits = |values: &Values<'_>| {
            usize::try_from(all).ok().and_then(|all| all.checked_mul(values.len))
                == Some(values.data.len())
        };
        for ((name, _), values) in self.columns.iter().zip(values) {
            if !fits(values) {
                let (found, what) = (values.data.len(), self.rows.plural());
                let sentence = format!("the column `{name}` has {found} values for {all} {what}");
                return Err(refused(sentence));
            }
        }
        Ok(layout)
    }

    fn write(&self, sink: Sink, blocks: &Blocks<'_>) -> io::Result<Sink> {
        match sink {
            Sink::Text { mut out, mut line, compression, is_empty } => {
                let mut is_empty = is_empty;
                if is_empty {
                    let names = self.column_names();
                    // The first rows decide on the separators, unless a header does.
                    if line.fields == Fields::Blank {
                        line = Line::new(blocks.spaced(line.fields), names.clone());
                    }
                    is_empty = !write_head(&mut out, compression, &line.fields.header(&names))?;
                }
                blocks.check_names(line.fields)?;
                let format = |block, text: &mut Vec<u8>| blocks.push_text(block, &line, text);
                let count = blocks.count();
                write_blocks(&mut out, compression, count, format)?;
                Ok(Sink::Text { out, line, compression, is_empty: is_empty && count == 0 })
            }
            // No graph determines the kinds of ids.
            Sink::Begun { out, format } if blocks.layout.part.subject().graphs() == 0 => {
                Ok(Sink::Begun { out, format })
            }
            Sink::Begun { out, format } => {
                let keys = blocks.kinds();
                let file = self.columnar(out, format, &keys)?;
                self.write(Sink::Columnar { file, keys }, blocks)
            }
            Sink::Columnar { mut file, keys } => {
                file.append(blocks.count(), |block| blocks.columns(block, &keys))?;
                Ok(Sink::Columnar { file, keys })
            }
            #[cfg(feature = "columnar")]
            Sink::Memory(None) if blocks.layout.part.subject().graphs() == 0 => {
                Ok(Sink::Memory(None))
            }
            #[cfg(feature = "columnar")]
            Sink::Memory(kept) => {
                let (mut table, keys) = kept.unwrap_or_else(|| {
                    let keys = blocks.kinds();
                    (TableBatches::new(&self.types(&keys)), keys)
                });
                table.append(blocks.count(), |block| blocks.columns(block, &keys))?;
                Ok(Sink::Memory(Some((table, keys))))
            }
        }
    }
}

impl Rows {
    /// Returns the description of a table of such rows.
    fn title(self) -> &'static str {
        match self {
            Rows::Vertices => "values of vertices",
            Rows::Groups => "figures of communities",
            Rows::Communities => "communities",
            Rows::Components => "components",
            Rows::Graphs => "values of graphs",
            Rows::Pairs => "values of pairs",
            Rows::Edges => "values of edges",
            Rows::Numbered(_) => "a table",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Rows::Vertices | Rows::Communities | Rows::Components => "vertices",
            Rows::Groups => "communities",
            Rows::Graphs => "graphs",
            Rows::Pairs => "pairs, those of a vertex and itself among them",
            Rows::Edges => "edges",
            Rows::Numbered(_) => "rows",
        }
    }
}

/// Rows of a part with their values, cut into blocks.
struct Blocks<'a> {
    layout: &'a Layout<'a>,
    values: &'a [Values<'a>],
}

impl Blocks<'_> {
    fn count(&self) -> usize {
        self.layout.rows().div_ceil(ROWS) as usize
    }

    fn rows(&self, block: usize) -> Range<u64> {
        let first = block as u64 * ROWS;
        first..self.layout.rows().min(first + ROWS)
    }

    /// Returns the kinds of ids of the key columns.
    fn kinds(&self) -> Vec<KeyKind> {
        let subject = self.layout.part.subject();
        let graph = subject.graph_id(0).map(|id| match id {
            ExternalId::Unsigned(_) => KeyKind::Unsigned,
            ExternalId::Signed(_) => KeyKind::Signed,
            ExternalId::Name(_) => KeyKind::Name,
        });
        let vertex = subject.ids(0).kind();
        let of_row = match self.layout.part.rows() {
            Rows::Vertices | Rows::Groups | Rows::Numbered(_) => 1,
            Rows::Graphs => 0,
            Rows::Communities | Rows::Components | Rows::Pairs | Rows::Edges => 2,
        };
        graph.into_iter().chain(std::iter::repeat_n(vertex, of_row)).collect()
    }

    /// Rejects names that would make the text ambiguous.
    fn check_names(&self, fields: Fields) -> io::Result<()> {
        let (graphs, vertices) = match self.layout.part.subject() {
            Subject::Graph(ids) => (0..0, 0..ids.len()),
            Subject::Batch(graphs) => {
                let first = graphs.graphs().next().map_or(0, |graph| graph.index());
                let Range { start, end } = graphs.vertex_range();
                (first..first + graphs.len(), start.index()..end.index())
            }
        };
        let (of_graphs, of_vertices) = self.names();
        of_graphs.map_or(Ok(()), |names| fields.check_names(names, graphs, "graph"))?;
        of_vertices.map_or(Ok(()), |names| fields.check_names(names, vertices, "vertex"))
    }

    /// Returns the fields that can hold all names of the graph or the batch, if any can.
    fn spaced(&self, fields: Fields) -> Fields {
        if let (Rows::Edges | Rows::Pairs, Subject::Graph(ids)) =
            (self.layout.part.rows(), self.layout.part.subject())
        {
            return fields.of_edges(ids);
        }
        let (graphs, vertices) = self.names();
        let all = graphs.into_iter().chain(vertices);
        all.fold(fields, |fields, names| fields.spaced_names(names, 0..names.len()))
    }

    /// Returns the names of graphs and of vertices in the rows.
    fn names(&self) -> (Option<&Names>, Option<&Names>) {
        match self.layout.part.subject() {
            Subject::Graph(VertexIds::Names(names)) => (None, Some(names)),
            Subject::Graph(_) => (None, None),
            Subject::Batch(graphs) => {
                let members = graphs.batch().members();
                let of_graphs = match members.graph_ids() {
                    VertexIds::Names(names) => Some(names),
                    _ => None,
                };
                let of_vertices = match members.vertex_ids() {
                    BatchIds::Names(names) if self.layout.part.rows() != Rows::Graphs => {
                        Some(names)
                    }
                    _ => None,
                };
                (of_graphs, of_vertices)
            }
        }
    }

    fn push_text(&self, block: usize, line: &Line, text: &mut Vec<u8>) -> io::Result<()> {
        let mut head = Vec::new();
        self.layout.for_each(self.rows(block), |block| {
            self.push_lines(&block, line, &mut head, text);
            Ok(())
        })
    }

    /// Appends the lines of a block; `head` is a buffer for their first fields.
    fn push_lines(&self, block: &RowBlock, line: &Line, head: &mut Vec<u8>, text: &mut Vec<u8>) {
        let subject = self.layout.part.subject();
        let fields = line.fields;
        head.clear();
        let mut heads = 0;
        let mut push_head = |id| {
            line.begin(head, heads);
            fields.push_external(head, id);
            heads += 1;
        };
        let is_graphs = matches!(block.about, RowSubject::Graphs);
        let ids = if is_graphs { Ids::From(0) } else { subject.ids(block.graph) };
        subject.graph_id(block.graph).filter(|_| !is_graphs).into_iter().for_each(&mut push_head);
        if let RowSubject::Pairs { source, .. } = block.about {
            push_head(ids.get(source));
        }
        for (row, index) in (0..).zip(block.values.clone()) {
            let mut field = heads;
            text.extend_from_slice(head);
            let mut push = |text: &mut Vec<u8>, id| {
                line.begin(text, field);
                fields.push_external(text, id);
                field += 1;
            };
            match &block.about {
                RowSubject::Vertices(range) | RowSubject::Pairs { targets: range, .. } => {
                    push(text, ids.get(range.start + row));
                }
                RowSubject::Communities(range) => {
                    push(text, ids.get(range.start + row));
                    push(text, ids.get(self.community(index)));
                }
                RowSubject::Graphs => {
                    let id = subject.graph_id(block.graph + row as usize);
                    id.into_iter().for_each(|id| push(text, id));
                }
                RowSubject::Edges { .. } => {
                    self.ends(index).into_iter().for_each(|end| push(text, ids.get(end)));
                }
            }
            for values in self.values {
                line.begin(text, field);
                values.push(fields, text, index);
                field += 1;
            }
            line.end(text);
        }
    }

    /// Returns the vertex that names a vertex's community or component.
    fn community(&self, index: usize) -> u32 {
        match &self.layout.part {
            Part::Communities { communities, .. } => communities[index],
            Part::Components { components, .. } => components[index],
            _ => 0,
        }
    }

    /// Returns the ends of an edge.
    fn ends(&self, edge: usize) -> [u32; 2] {
        match &self.layout.part {
            Part::Edges { sources, targets, .. } => [sources[edge], targets[edge]],
            _ => [0; 2],
        }
    }

    fn columns(&self, block: usize, keys: &[KeyKind]) -> io::Result<Vec<Column>> {
        let rows = self.rows(block);
        let count = (rows.end - rows.start) as usize;
        let columns = keys.iter().map(|&kind| KeyColumn::with_room(kind, count));
        let mut columns = columns.collect::<Result<Vec<_>, _>>().map_err(no_memory)?;
        let mut values = Vec::new();
        self.layout.for_each(rows, |block| {
            self.extend(&mut columns, &block)?;
            values.push(block.values);
            Ok(())
        })?;
        let columns = columns.into_iter().map(|column| Ok(column.column()));
        let of_values = self.values.iter().map(|all| all.column(&values).map_err(no_memory));
        columns.chain(of_values).collect()
    }

    /// Appends the ids of a block to the key columns.
    fn extend(&self, columns: &mut [KeyColumn], block: &RowBlock) -> io::Result<()> {
        let subject = self.layout.part.subject();
        let (graph, rows) = (block.graph, block.values.len());
        let (of_graph, of_row) = columns.split_at_mut(match subject {
            Subject::Graph(_) => 0,
            Subject::Batch(_) => 1,
        });
        for column in of_graph {
            match &block.about {
                RowSubject::Graphs => (graph..graph + rows)
                    .filter_map(|graph| subject.graph_id(graph))
                    .try_for_each(|id| column.push(id))?,
                _ => subject.graph_id(graph).map_or(Ok(()), |id| column.repeat(id, rows))?,
            }
        }
        if of_row.is_empty() {
            return Ok(());
        }
        let ids = subject.ids(graph);
        match (&block.about, of_row) {
            (RowSubject::Vertices(vertices), [column]) => column.extend(ids, vertices.clone()),
            (RowSubject::Communities(vertices), [column, communities]) => {
                column.extend(ids, vertices.clone())?;
                let mut of_rows = block.values.clone();
                of_rows.try_for_each(|index| communities.push(ids.get(self.community(index))))
            }
            (RowSubject::Pairs { source, targets }, [sources, column]) => {
                sources.repeat(ids.get(*source), rows)?;
                column.extend(ids, targets.clone())
            }
            (RowSubject::Edges { sources: edges }, [sources, targets]) => {
                edges.clone().try_for_each(|edge| {
                    let [source, target] = self.ends(edge);
                    sources.push(ids.get(source))?;
                    targets.push(ids.get(target))
                })
            }
            _ => Ok(()),
        }
    }
}
