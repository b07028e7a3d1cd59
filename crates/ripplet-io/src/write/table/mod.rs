//! Tables that grow: given their columns once, then rows part by part, then whole or not at all.
//!
//! ```text
//! Part (whose rows) + values ─▶ stretches that lie together ─▶ blocks in parallel ─▶ in order ─▶ Output
//! ```
//!
//! Ids are not materialized for all rows: a block takes those of its stretches, graph by graph, from the
//! batch's own arrays. Memory: a few blocks a thread, and 16 bytes a graph of a part of pairs.
//!
//! The bytes do not depend on the number of threads; where a block ends does depend on the parts.

mod keys;
mod rows;
mod values;

pub use rows::{Part, Rows, Subject};
pub use values::{ColumnData, ColumnKind};

pub(super) use values::Values;

use super::atomic_file::Output;
use super::column::{Column, ColumnType};
use super::columnar::TableFile;
use super::text::{Fields, Line, write_blocks, write_end, write_head};
use super::{Target, listing_format, refused};
use crate::{Compression, Format, WriteError};
use keys::{Ids, KeyColumn, KeyKind, no_memory};
use ripplet_graph::batch::BatchIds;
use ripplet_graph::{ExternalId, Names, VertexIds};
use rows::{About, Layout, Stretch};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Rows in a block.
const ROWS: u64 = 1 << 15;

/// What a table has: what its rows are about, and the columns of values behind those that say so.
#[derive(Clone, Copy, Debug)]
pub struct TableShape<'a> {
    /// What the rows are about.
    pub rows: Rows,
    /// Whether they are of many graphs: then the first column is `graph`.
    pub of_batch: bool,
    /// The name and the kind of each column of values.
    pub columns: &'a [(&'a str, ColumnKind)],
}

/// A table that is written part by part, and appears whole or not at all.
///
/// The name tells the format: `.txt` (fields with blanks between, or tabs if names of the first part's graph or batch
/// hold blanks; no header), `.tsv`, `.csv`, `.jsonl` (each also `.gz` or `.zst`), `.parquet`, `.arrow`; `-` is standard output as `.txt`. Columns of ids are `UInt64`,
/// `Int64` or `Utf8`, as those of the first part are. A number is the shortest decimal that reads back as
/// the same, and infinity `inf`.
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
    /// None after an error: what was written is of no use.
    sink: Option<Sink>,
}

/// Where rows go.
enum Sink {
    Text {
        out: Output,
        line: Line,
        compression: Compression,
        /// Whether nothing was written yet.
        is_empty: bool,
    },
    /// Before the first part says what the ids are.
    Begun {
        out: Output,
        format: Format,
    },
    Columnar {
        file: Box<TableFile<Output>>,
        keys: Vec<KeyKind>,
    },
}

impl TableWriter {
    /// Begins a table, which will be `path`.
    ///
    /// # Errors
    /// Where the name tells no such format, or the operating system refuses.
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

    /// As [`TableWriter::create`], in a format that is settled.
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
            Some(fields) => {
                table.text(out, fields, compression).map_err(|source| table.error(source))?
            }
        });
        Ok(table)
    }

    /// Appends rows, with the values of each column. After an error the table takes no more.
    ///
    /// # Errors
    /// Where the rows or the values are not what the table was begun for, the format cannot hold an id, or
    /// the operating system refuses.
    pub fn append(&mut self, part: Part<'_>, values: &[ColumnData<'_>]) -> Result<(), WriteError> {
        let values: Vec<Values<'_>> = values.iter().map(|&data| Values::single(data)).collect();
        self.append_values(part, &values)
    }

    /// As [`TableWriter::append`], for values of which several stand together.
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

    /// Makes the table appear.
    ///
    /// # Errors
    /// Where the operating system refuses, or an error came before; nothing is left behind then.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let out = match self.sink.take() {
            None => Err(refused("an error ended this table")),
            Some(Sink::Text { mut out, compression, is_empty, .. }) => {
                write_end(&mut out, compression, is_empty).map(|()| out)
            }
            Some(Sink::Begun { out, format }) => {
                let keys = vec![KeyKind::Unsigned; self.key_names().len()];
                self.columnar(out, format, &keys).and_then(|file| file.finish())
            }
            Some(Sink::Columnar { file, .. }) => file.finish(),
        };
        out.map_err(|source| self.error(source))?.finish()
    }

    fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.path.clone(), source }
    }

    /// The names of the columns that say what a row is about.
    fn key_names(&self) -> Vec<&'static str> {
        let of_rows: &[_] = match self.rows {
            Rows::Vertices => &["id"],
            Rows::Groups => &["community"],
            Rows::Communities => &["id", "community"],
            Rows::Components => &["id", "component"],
            Rows::Graphs => &[],
            Rows::Pairs | Rows::Edges => &["source", "target"],
        };
        self.of_batch.then_some("graph").into_iter().chain(of_rows.iter().copied()).collect()
    }

    /// The names of all columns.
    fn column_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.key_names();
        names.extend(self.columns.iter().map(|(name, _)| name.as_str()));
        names
    }

    fn text(&self, mut out: Output, fields: Fields, compression: Compression) -> io::Result<Sink> {
        let header = self.column_names();
        let is_empty = !write_head(&mut out, compression, &fields.header(&header))?;
        Ok(Sink::Text { out, line: Line::new(fields, header), compression, is_empty })
    }

    fn columnar(
        &self,
        out: Output,
        format: Format,
        keys: &[KeyKind],
    ) -> io::Result<Box<TableFile<Output>>> {
        let keys = self.key_names().into_iter().zip(keys).map(|(name, &kind)| (name, kind.into()));
        let values = self.columns.iter().map(|(name, kind)| (name.as_str(), (*kind).into()));
        let columns: Vec<(&str, ColumnType)> = keys.chain(values).collect();
        TableFile::create(out, format, &columns).map(Box::new)
    }

    /// Refuses what the table was not begun for.
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
                // The first rows settle what stands between fields: a header did, where there is one.
                let mut is_empty = is_empty;
                if is_empty && line.fields == Fields::Blank {
                    let (fields, names) = (blocks.spaced(line.fields), self.column_names());
                    is_empty = !write_head(&mut out, compression, &fields.header(&names))?;
                    line = Line::new(fields, names);
                }
                blocks.check_names(line.fields)?;
                let format = |block, text: &mut Vec<u8>| blocks.push_text(block, &line, text);
                let count = blocks.count();
                write_blocks(&mut out, compression, count, format)?;
                Ok(Sink::Text { out, line, compression, is_empty: is_empty && count == 0 })
            }
            // No graph says what ids are.
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
        }
    }
}

impl Rows {
    /// What a table of such rows is called.
    fn title(self) -> &'static str {
        match self {
            Rows::Vertices => "values of vertices",
            Rows::Groups => "figures of communities",
            Rows::Communities => "communities",
            Rows::Components => "components",
            Rows::Graphs => "values of graphs",
            Rows::Pairs => "values of pairs",
            Rows::Edges => "values of edges",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Rows::Vertices | Rows::Communities | Rows::Components => "vertices",
            Rows::Groups => "communities",
            Rows::Graphs => "graphs",
            Rows::Pairs => "pairs, those of a vertex and itself among them",
            Rows::Edges => "edges",
        }
    }
}

/// The rows of a part with their values, cut into blocks.
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

    /// What the ids of each column are.
    fn kinds(&self) -> Vec<KeyKind> {
        let subject = self.layout.part.subject();
        let graph = subject.graph_id(0).map(|id| match id {
            ExternalId::Unsigned(_) => KeyKind::Unsigned,
            ExternalId::Signed(_) => KeyKind::Signed,
            ExternalId::Name(_) => KeyKind::Name,
        });
        let vertex = subject.ids(0).kind();
        let of_row = match self.layout.part.rows() {
            Rows::Vertices | Rows::Groups => 1,
            Rows::Graphs => 0,
            Rows::Communities | Rows::Components | Rows::Pairs | Rows::Edges => 2,
        };
        graph.into_iter().chain(std::iter::repeat_n(vertex, of_row)).collect()
    }

    /// Refuses names that the text could not be read with.
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

    /// The fields that can hold all names of the graph or the batch, as far as any can.
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

    /// The names of graphs and of vertices that the rows have.
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
        self.layout.for_each(self.rows(block), |stretch| {
            self.push_lines(&stretch, line, &mut head, text);
            Ok(())
        })
    }

    /// Appends the lines of a stretch; `head` is for what they begin with.
    fn push_lines(&self, stretch: &Stretch, line: &Line, head: &mut Vec<u8>, text: &mut Vec<u8>) {
        let subject = self.layout.part.subject();
        let fields = line.fields;
        head.clear();
        let mut heads = 0;
        let mut push_head = |id| {
            line.begin(head, heads);
            fields.push_external(head, id);
            heads += 1;
        };
        let is_graphs = matches!(stretch.about, About::Graphs);
        let ids = if is_graphs { Ids::From(0) } else { subject.ids(stretch.graph) };
        subject.graph_id(stretch.graph).filter(|_| !is_graphs).into_iter().for_each(&mut push_head);
        if let About::Pairs { source, .. } = stretch.about {
            push_head(ids.get(source));
        }
        for (row, index) in (0..).zip(stretch.values.clone()) {
            let mut field = heads;
            text.extend_from_slice(head);
            let mut push = |text: &mut Vec<u8>, id| {
                line.begin(text, field);
                fields.push_external(text, id);
                field += 1;
            };
            match &stretch.about {
                About::Vertices(range) | About::Pairs { targets: range, .. } => {
                    push(text, ids.get(range.start + row));
                }
                About::Communities(range) => {
                    push(text, ids.get(range.start + row));
                    push(text, ids.get(self.community(index)));
                }
                About::Graphs => {
                    let id = subject.graph_id(stretch.graph + row as usize);
                    id.into_iter().for_each(|id| push(text, id));
                }
                About::Edges { .. } => {
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

    /// The vertex that a vertex's community or component is called by.
    fn community(&self, index: usize) -> u32 {
        match &self.layout.part {
            Part::Communities { communities, .. } => communities[index],
            Part::Components { components, .. } => components[index],
            _ => 0,
        }
    }

    /// The ends of an edge.
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
        self.layout.for_each(rows, |stretch| {
            self.extend(&mut columns, &stretch)?;
            values.push(stretch.values);
            Ok(())
        })?;
        let columns = columns.into_iter().map(|column| Ok(column.column()));
        let of_values = self.values.iter().map(|all| all.column(&values).map_err(no_memory));
        columns.chain(of_values).collect()
    }

    /// Appends the ids of a stretch to the columns that say what a row is about.
    fn extend(&self, columns: &mut [KeyColumn], stretch: &Stretch) -> io::Result<()> {
        let subject = self.layout.part.subject();
        let (graph, rows) = (stretch.graph, stretch.values.len());
        let (of_graph, of_row) = columns.split_at_mut(match subject {
            Subject::Graph(_) => 0,
            Subject::Batch(_) => 1,
        });
        for column in of_graph {
            match &stretch.about {
                About::Graphs => (graph..graph + rows)
                    .filter_map(|graph| subject.graph_id(graph))
                    .try_for_each(|id| column.push(id))?,
                _ => subject.graph_id(graph).map_or(Ok(()), |id| column.repeat(id, rows))?,
            }
        }
        if of_row.is_empty() {
            return Ok(());
        }
        let ids = subject.ids(graph);
        match (&stretch.about, of_row) {
            (About::Vertices(vertices), [column]) => column.extend(ids, vertices.clone()),
            (About::Communities(vertices), [column, communities]) => {
                column.extend(ids, vertices.clone())?;
                let mut of_rows = stretch.values.clone();
                of_rows.try_for_each(|index| communities.push(ids.get(self.community(index))))
            }
            (About::Pairs { source, targets }, [sources, column]) => {
                sources.repeat(ids.get(*source), rows)?;
                column.extend(ids, targets.clone())
            }
            (About::Edges { sources: edges }, [sources, targets]) => {
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
