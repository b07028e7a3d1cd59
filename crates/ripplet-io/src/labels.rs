//! Labels in: a file with a line or a row a vertex, its id and its label.
//!
//! Any of the table formats will do: `.txt` (and names that tell no format, as LDBC's reference
//! outputs), `.tsv`, `.csv`, each also compressed, `.parquet` and `.arrow`. In text the first two
//! fields of a line count; in a Parquet or Arrow table the columns `id` and `community` (or
//! `label`), or its only two. A table's heading is passed over.
//!
//! Memory: 12 bytes a row and 4 a vertex; groups also take the distinct labels.
//!
//! Determinism: nothing depends on the number of threads, the first error included.

use crate::columnar::{Table, Values};
use crate::map::map;
use crate::names::NameSet;
use crate::read::{in_memory, open};
use crate::text::{Fault, Text, pairs};
use crate::{Format, Place, ReadError, ReadErrorKind, ReadOptions};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use bytes::Bytes;
use ripplet_graph::{ExternalId, VertexId, VertexIds, memory};
use std::io;
use std::path::Path;

/// Reads labels that are vertices: what `--labels` starts from, or an output of ripplet.
///
/// `-` is standard input. The result has a vertex for each of `ids`: `labels[v]` is the label of
/// `v`.
///
/// # Errors
/// What cannot be read; an id or a label that is no vertex; a vertex with two labels, or none.
pub fn read_labels(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    let assigned = Reader { ids, kind: Kind::Vertices, names: NameSet::default() };
    assigned.read(path, options).map_err(|fault| fault.of(path))
}

/// Reads labels of any kind, integers or strings, as groups: a truth to compare with.
///
/// `-` is standard input. The result has a group for each of `ids`, numbered from 0 in the order
/// of each group's first vertex.
///
/// # Errors
/// What cannot be read; an id that is no vertex; a vertex with two labels, or none.
pub fn read_groups(
    path: &Path,
    options: &ReadOptions,
    ids: &VertexIds,
) -> Result<Vec<u32>, ReadError> {
    let assigned = Reader { ids, kind: Kind::Groups, names: NameSet::default() };
    assigned.read(path, options).and_then(renumbered).map_err(|fault| fault.of(path))
}

/// Reads labels from bytes, as [`read_labels`] does from a file; an error calls them `(bytes)`.
///
/// # Errors
/// Those of [`read_labels`].
pub fn parse_labels(
    bytes: &[u8],
    format: Format,
    ids: &VertexIds,
) -> Result<Vec<VertexId>, ReadError> {
    let assigned = Reader { ids, kind: Kind::Vertices, names: NameSet::default() };
    assigned.parse(bytes, format).map_err(|fault| fault.of(Path::new("(bytes)")))
}

/// Reads groups from bytes, as [`read_groups`] does from a file; an error calls them `(bytes)`.
///
/// # Errors
/// Those of [`read_groups`].
pub fn parse_groups(bytes: &[u8], format: Format, ids: &VertexIds) -> Result<Vec<u32>, ReadError> {
    let assigned = Reader { ids, kind: Kind::Groups, names: NameSet::default() };
    let groups = assigned.parse(bytes, format).and_then(renumbered);
    groups.map_err(|fault| fault.of(Path::new("(bytes)")))
}

/// No vertex and no group: both are fewer.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Vertices,
    Groups,
}

struct Reader<'a> {
    ids: &'a VertexIds,
    kind: Kind,
    /// The distinct groups, numbered as they come.
    names: NameSet,
}

/// Some rows in order.
pub(crate) struct Block {
    pub(crate) rows: Vec<Row>,
    /// The distinct groups of these rows.
    pub(crate) names: NameSet,
}

pub(crate) struct Row {
    pub(crate) vertex: VertexId,
    pub(crate) label: u32,
    /// The line or row, counted from the block's first.
    place: u32,
}

impl Reader<'_> {
    fn read(self, path: &Path, options: &ReadOptions) -> Result<Vec<u32>, Fault> {
        let told = options.format.or_else(|| Format::of_path(path).map(|(format, _)| format));
        let format = told.unwrap_or(Format::EdgeList);
        if matches!(format, Format::Parquet | Format::Arrow) {
            let system =
                |error: io::Error| Fault { place: Place::File, kind: ReadErrorKind::Io(error) };
            return self.table(Bytes::from_owner(map(path).map_err(system)?), format);
        }
        self.check(format)?;
        self.text(&mut open(path)?, format)
    }

    fn parse(self, bytes: &[u8], format: Format) -> Result<Vec<u32>, Fault> {
        if matches!(format, Format::Parquet | Format::Arrow) {
            return self.table(Bytes::copy_from_slice(bytes), format);
        }
        self.check(format)?;
        self.text(&mut in_memory(bytes)?, format)
    }

    fn check(&self, format: Format) -> Result<(), Fault> {
        match format {
            Format::EdgeList | Format::Tsv | Format::Csv => Ok(()),
            _ => Err(Fault::whole("labels are read from .txt, .tsv, .csv, .parquet or .arrow")),
        }
    }

    fn text(mut self, text: &mut Text<'_>, format: Format) -> Result<Vec<u32>, Fault> {
        let (ids, kind) = (self.ids, self.kind);
        let like = self.names.alike();
        let tabs = matches!(ids, VertexIds::Names(_));
        let mut labels = memory::filled(NONE, ids.len())?;
        let start = || Block { rows: Vec::new(), names: like.alike() };
        let row = |block: &mut Block, line: u32, id: &str, label: &str| {
            block.add(ids, kind, [ExternalId::Name(id), ExternalId::Name(label)], line)
        };
        let take = |block: Block, line: u64| {
            self.assign(&mut labels, block, |place| Place::Line(line + u64::from(place)))
        };
        pairs(text, format, tabs, |field| is_heading(ids, format, field), start, row, take)?;
        whole(labels, ids)
    }

    fn table(mut self, bytes: Bytes, format: Format) -> Result<Vec<u32>, Fault> {
        let table = Table::open(bytes, format)?;
        let [id, label] = columns(table.schema()).map_err(Fault::whole)?;
        let mut both = vec![id, label];
        both.sort_unstable();
        let (ids, kind, like) = (self.ids, self.kind, self.names.alike());
        // The columns arrive in the order of the file.
        let at = if id < label { [0, 1] } else { [1, 0] };
        let blocks = table.map(&both, |batch, first| {
            let block = Block { rows: Vec::new(), names: like.alike() };
            Ok((block.of_batch(ids, kind, &batch, at, first)?, first))
        })?;
        let mut labels = memory::filled(NONE, ids.len())?;
        for (block, first) in blocks {
            self.assign(&mut labels, block, |place| Place::Row(first + u64::from(place)))?;
        }
        whole(labels, ids)
    }

    /// Gives a block's vertices their labels.
    fn assign(
        &mut self,
        labels: &mut [u32],
        block: Block,
        place: impl Fn(u32) -> Place,
    ) -> Result<(), Fault> {
        let numbers = self.names.merge(&block.names);
        let numbers = numbers?;
        for row in block.rows {
            let label = &mut labels[row.vertex as usize];
            if *label != NONE {
                let sentence = format!("vertex {} has a second label", self.ids.get(row.vertex));
                return Err(Fault {
                    place: place(row.place),
                    kind: ReadErrorKind::Content(sentence),
                });
            }
            *label = match self.kind {
                Kind::Vertices => row.label,
                Kind::Groups => numbers[row.label as usize],
            };
        }
        Ok(())
    }
}

impl Block {
    pub(crate) fn add(
        &mut self,
        ids: &VertexIds,
        kind: Kind,
        [id, label]: [ExternalId<'_>; 2],
        place: u32,
    ) -> Result<(), ReadErrorKind> {
        let Some(vertex) = ids.find(id) else {
            return Err(format!("`{}` is no vertex of the graph", shown(id)).into());
        };
        let label = match (kind, label) {
            (Kind::Vertices, label) => ids.find(label).ok_or_else(|| {
                let label = shown(label);
                format!("the label `{label}` is no vertex of the graph: expected a vertex id")
            })?,
            (Kind::Groups, ExternalId::Name("")) => return Err("the label is empty".into()),
            (Kind::Groups, ExternalId::Name(name)) => self.names.number(name)?,
            (Kind::Groups, integer) => self.names.number(&integer.to_string())?,
        };
        Ok(memory::push(&mut self.rows, Row { vertex, label, place })?)
    }

    pub(crate) fn of_batch(
        mut self,
        ids: &VertexIds,
        kind: Kind,
        batch: &RecordBatch,
        [id, label]: [usize; 2],
        first: u64,
    ) -> Result<Block, Fault> {
        let columns = [id, label].map(|at| batch.column(at).as_ref());
        let null = columns.iter().filter_map(|column| crate::columnar::first_null(*column)).min();
        let rows = null.unwrap_or(batch.num_rows());
        let [vertices, labels] = columns.map(Values::of);
        let (vertices, labels) = (vertices?, labels?);
        for row in 0..rows {
            let fault = |why: ReadErrorKind| Fault::row(first + row as u64, why);
            let (Some(id), Some(label)) = (vertices.get(row), labels.get(row)) else {
                return Err(fault("a value that its dictionary lacks".into()));
            };
            self.add(ids, kind, [id, label], row as u32).map_err(fault)?;
        }
        match null {
            Some(row) => Err(Fault::row(first + row as u64, "a null: expected an id and a label")),
            None => Ok(self),
        }
    }
}

/// Whether a first field is a column's name: no vertex, and either a usual name or, in a table, no
/// integer where ids are integers.
pub(crate) fn is_heading(ids: &VertexIds, format: Format, field: &str) -> bool {
    const USUAL: [&str; 6] = ["id", "vertex", "node", "vertex_id", "node_id", "name"];
    let integers = !matches!(ids, VertexIds::Names(_));
    let letters = integers && format != Format::EdgeList && field.parse::<i128>().is_err();
    ids.find(ExternalId::Name(field)).is_none()
        && (letters || USUAL.iter().any(|usual| field.eq_ignore_ascii_case(usual)))
}

/// The columns with ids and with labels.
pub(crate) fn columns(schema: &Schema) -> Result<[usize; 2], String> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let find = |name: &str| names.iter().position(|&known| known == name);
    let found = match (find("id"), find("community").or(find("label")), names.len()) {
        (Some(id), Some(label), _) => [id, label],
        (_, _, 2) => [0, 1],
        _ => {
            let names = crate::columnar::column_names(schema);
            return Err(format!("expected columns `id` and `community`, but there are: {names}"));
        }
    };
    for column in found {
        let field = schema.field(column);
        if crate::columnar::id_kind(field.data_type()).is_none() {
            let kind = crate::columnar::shown(field.data_type());
            let name = crate::columnar::shown(field.name());
            return Err(format!("the column `{name}` is {kind}: expected integers or strings"));
        }
    }
    Ok(found)
}

/// The labels, if every vertex has one.
fn whole(labels: Vec<u32>, ids: &VertexIds) -> Result<Vec<u32>, Fault> {
    let Some(first) = labels.iter().position(|&label| label == NONE) else { return Ok(labels) };
    let (missing, all) = (labels.iter().filter(|&&label| label == NONE).count(), labels.len());
    let id = ids.get(first as u32);
    Err(Fault::whole(format!(
        "{missing} of {all} vertices have no label, the first of them vertex {id}: expected a \
         label for each"
    )))
}

/// Groups numbered in the order of their first vertex.
fn renumbered(groups: Vec<u32>) -> Result<Vec<u32>, Fault> {
    let count = groups.iter().max().map_or(0, |&most| most as usize + 1);
    let (mut number_of, mut next) = (memory::filled(NONE, count)?, 0);
    let mut number = |group: u32| {
        let number = &mut number_of[group as usize];
        if *number == NONE {
            *number = next;
            next += 1;
        }
        *number
    };
    let mut groups = groups;
    groups.iter_mut().for_each(|group| *group = number(*group));
    Ok(groups)
}

/// An id, or another field, for a message, which must not be as long as the file.
pub(crate) fn shown(id: ExternalId<'_>) -> String {
    let text = id.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
        None => text.escape_debug().to_string(),
    }
}
