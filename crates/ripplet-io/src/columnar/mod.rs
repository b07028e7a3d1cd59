//! Parquet and Arrow IPC (file and stream): tables with one row per edge.
//!
//! ```text
//! mapped file ─▶ row groups, batches ─▶ blocks of ends (parallel) ─▶ intern ─▶ EdgeTable
//! ```
//!
//! Columns are found by name ([`crate::Columns`]): `source` and `target`, else the only known pair of names,
//! as in text; others are not read. Ids may be integers of any width, or strings (`Utf8`, `LargeUtf8`,
//! `Utf8View`), either also dictionary-encoded. If both columns are integers, so are the ids, and negative
//! ones are allowed; an integer beside a string requires `--ids names`. Weights may be numbers of any type; a decimal
//! becomes the nearest float.
//!
//! A null is an error that names the row. So is a weight that is NaN, infinite or negative.
//!
//! Memory: twice the table, and a decoded batch a thread. A failed allocation while decoding is not always an
//! error (see the crate's documentation). The file is memory-mapped: overwriting it in place breaks its
//! reader.
//!
//! Determinism: the table, and the row of the first error, do not depend on the number of threads.

mod ipc;
mod labels;
mod table;
mod values;
mod vertices;

pub use arrow_array::RecordBatch;

pub(crate) use labels::label_rows;
pub(crate) use table::Table;
pub(crate) use vertices::vertex_rows;

use crate::column_names::{is_graph_name, is_weight_name};
use crate::fault::Fault;
use crate::intern::{Ends, Interned, Sign};
use crate::intern::{intern_integers, intern_names, into_column};
use crate::names::{NameIndex, NameSet};
use crate::shown::shown;
use crate::source::Source;
use crate::summary::{ReadColumn, ReadColumns, ReadGraphColumns, option_of};
use crate::text::GraphRows;
use crate::text::{KnownEnds, known_ends, number};
use crate::{Columns, Format, IdKind, Place, ReadError, ReadErrorKind, ReadOptions};
use arrow_array::Array;
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use rayon::prelude::*;
use ripplet_graph::{Cancel, EdgeTable, memory};
use std::ops::Range;
use std::path::Path;
use values::{Values, first_null, floats, id_kind};

/// Reads the edges of a Parquet or Arrow IPC file, on rayon's current pool.
///
/// # Errors
/// If the file cannot be read or is damaged, lacks a column, or has an invalid id or weight.
pub fn read(
    path: &Path,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    read_source(&Source::of(path)?, format, options)
}

/// Reads the edges of a source as [`read`] does.
pub(crate) fn read_source(
    source: &Source,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    let table = Table::of_source(source, format)?;
    edges_of_table(&table, options).map_err(|fault| fault.of(source.path()))
}

/// Reads the edges of a share of a Parquet file, as [`read`] does all: those of a range of its `size` bytes.
///
/// # Errors
/// The errors of [`read`]; [`ReadErrorKind::NoEdges`] if no row group begins there.
pub(crate) fn read_share(
    source: &Source,
    format: Format,
    options: &ReadOptions,
    range: Range<u64>,
    size: u64,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    let table = Table::of_source(source, format)?.of_share(range, size);
    edges_of_table(&table, options).map_err(|fault| fault.of(source.path()))
}

/// Parses the edges of a file in memory, as [`read`] does; errors name the input `(bytes)`.
///
/// # Errors
/// The errors of [`read`].
pub fn parse(
    bytes: Vec<u8>,
    format: Format,
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    Ok(parse_named(bytes.into(), format, options, Path::new("(bytes)"))?.0)
}

/// Returns the edges of batches in memory, which have one schema, on the threads of the current
/// rayon pool. The columns are found by name as those of a file; an error names the source
/// `(batches)`.
///
/// ```
/// use arrow_array::{ArrayRef, StringArray};
/// use ripplet_io::columnar::{RecordBatch, edges_of_batches};
/// use std::sync::Arc;
///
/// let column = |values: [&str; 2]| Arc::new(StringArray::from_iter_values(values)) as ArrayRef;
/// let batch = RecordBatch::try_from_iter([
///     ("source", column(["ann", "cid"])),
///     ("target", column(["bob", "ann"])),
/// ])?;
/// let edges = edges_of_batches(&[batch], &Default::default())?;
/// assert_eq!((edges.sources(), edges.targets()), (&[0, 2][..], &[1, 0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the schemas differ, a column is missing, there is no row, a value is null, no id or no
/// weight, or memory is refused.
pub fn edges_of_batches(
    batches: &[RecordBatch],
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    let edges = Table::of_batches(batches).and_then(|table| edges_of_table(&table, options));
    edges.map(|(edges, _)| edges).map_err(|fault| fault.of(Path::new("(batches)")))
}

/// Columns of a table by their places: an edge's ends, and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeColumns {
    /// The source.
    pub source: usize,
    /// The target.
    pub target: usize,
    /// The weight; nothing if weights are not read.
    pub weight: Option<usize>,
}

/// Returns the columns that [`edges_of_batches`] reads of a table with a schema. Columns that the options name may have types
/// that it refuses.
///
/// # Errors
/// If a column is missing, or several could be an end or the weight; the message advises options of the command.
pub fn edge_columns(schema: &Schema, options: &ReadOptions) -> Result<EdgeColumns, String> {
    let ends = ends(schema, options, None)?;
    let weight = options.weighted.then(|| weight(schema, &options.columns, ends, &ends));
    let [source, target] = ends;
    Ok(EdgeColumns { source, target, weight: weight.transpose()? })
}

/// Variant of [`parse`] for a file with a name.
pub(crate) fn parse_named(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
    path: &Path,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    edges(bytes, format, options).map_err(|fault| fault.of(path))
}

impl Fault {
    /// Creates an error of a row, counted from 0.
    pub(crate) fn row(row: u64, why: impl Into<ReadErrorKind>) -> Fault {
        Fault::at(Place::Row(row), why)
    }
}

fn edges(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), Fault> {
    edges_of_table(&Table::open(bytes, format)?, options)
}

fn edges_of_table(table: &Table, options: &ReadOptions) -> Result<(EdgeTable, ReadColumns), Fault> {
    let layout = Layout::of(table.schema(), options).map_err(Fault::whole)?;
    let (Interned { ids, sources, targets }, weights) =
        pairs(table, &layout, options.ids, &options.cancel)?;
    options.cancel.check().map_err(Fault::whole)?;
    let columns = layout.read_columns(table.schema());
    let edges = EdgeTable::new(ids, sources, targets)?;
    Ok(match weights {
        Some(weights) => (edges.with_weights(weights)?, columns),
        None => (edges, columns),
    })
}

/// Reads the edges of a table with a column of graphs, which takes a separate pass.
pub(crate) fn of_graphs(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
) -> Result<GraphRows, Fault> {
    graphs_of_table(&Table::open(bytes, format)?, options)
}

/// Variant of [`of_graphs`] for batches in memory, which have one schema.
pub(crate) fn graphs_of_batches(
    batches: &[RecordBatch],
    options: &ReadOptions,
) -> Result<GraphRows, Fault> {
    graphs_of_table(&Table::of_batches(batches)?, options)
}

fn graphs_of_table(table: &Table, options: &ReadOptions) -> Result<GraphRows, Fault> {
    let schema = table.schema();
    let graph = graph_column(schema, options).map_err(Fault::whole)?;
    let layout = Layout::beside(schema, options, Some(graph)).map_err(Fault::whole)?;
    let ids = if options.ids == IdKind::Names { IdKind::Names } else { IdKind::Auto };
    let of_graph = Layout::new(schema, [graph, graph], None, ids).map_err(Fault::whole)?;
    let mut edges = layout.read_columns(schema);
    edges.ignored -= 1;
    let graph = ReadColumn::Name(schema.field(graph).name().clone());
    let columns = ReadGraphColumns { graph, edges };
    let (ends, weights) = pairs(table, &layout, options.ids, &options.cancel)?;
    let (graphs, _) = pairs(table, &of_graph, ids, &options.cancel)?;
    Ok(GraphRows { ends, weights, graphs, columns })
}

/// Returns the vertices and the columns of all rows; there is at least one row.
fn pairs(
    table: &Table,
    layout: &Layout,
    asked: IdKind,
    cancel: &Cancel,
) -> Result<(Interned, Option<Vec<f64>>), Fault> {
    let names = NameIndex::default();
    let like = names.alike();
    let blocks = table.map(&layout.columns, |batch, first| {
        cancel.check().map_err(Fault::whole)?;
        Block::of(&batch, first, layout, &like)
    })?;
    cancel.check().map_err(Fault::whole)?;
    let (ends, weights): (Vec<_>, Vec<_>) = blocks.into_iter().map(|b| (b.ends, b.weights)).unzip();
    let interned = match layout.ids {
        Ids::Names => intern_name_ends(names, ends)?,
        Ids::Integers => intern_integer_ends(ends, asked)?,
    };
    if interned.sources.is_empty() {
        return Err(Fault::whole(ReadErrorKind::NoEdges(table::NO_ROWS)));
    }
    let weights = layout.weight.map(|_| into_column(weights)).transpose()?;
    Ok((interned, weights))
}

/// Columns that are read, and the kind of ids.
struct Layout {
    /// Indices of the columns to read, ascending.
    columns: Vec<usize>,
    /// Positions of the ends and the weight among these.
    source: usize,
    target: usize,
    weight: Option<usize>,
    ids: Ids,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    Integers,
    Names,
}

impl Layout {
    fn of(schema: &Schema, options: &ReadOptions) -> Result<Layout, String> {
        Layout::beside(schema, options, None)
    }

    /// Returns the layout of the columns other than that of graphs, if there is one.
    fn beside(
        schema: &Schema,
        options: &ReadOptions,
        graph: Option<usize>,
    ) -> Result<Layout, String> {
        let ends = ends(schema, options, graph)?;
        let apart: Vec<usize> = ends.into_iter().chain(graph).collect();
        let weight = options.weighted.then(|| weight(schema, &options.columns, ends, &apart));
        let weight = weight.transpose()?;
        if graph.is_some_and(|graph| ends.contains(&graph) || weight == Some(graph)) {
            return Err(
                "--columns names the column of graphs: expected those with an edge's ends".into()
            );
        }
        Layout::new(schema, ends, weight, options.ids)
    }

    fn new(
        schema: &Schema,
        [source, target]: [usize; 2],
        weight: Option<usize>,
        ids: IdKind,
    ) -> Result<Layout, String> {
        let ids = Ids::of(schema, [source, target], ids)?;
        if let Some(weight) = weight.filter(|&at| !values::is_number(schema.field(at).data_type()))
        {
            let field = schema.field(weight);
            let (name, kind) = (shown(field.name()), shown(field.data_type()));
            return Err(format!("the column `{name}` is {kind}, but weights are numbers"));
        }
        let mut columns: Vec<usize> = [source, target].into_iter().chain(weight).collect();
        columns.sort_unstable();
        columns.dedup();
        let place = |column| columns.partition_point(|&c| c < column);
        let (source, target, weight) = (place(source), place(target), weight.map(place));
        Ok(Layout { columns, source, target, weight, ids })
    }

    /// Returns the summary of the columns.
    fn read_columns(&self, schema: &Schema) -> ReadColumns {
        let column = |at: usize| ReadColumn::Name(schema.field(self.columns[at]).name().clone());
        let is_ignored = |at: &usize| self.columns.binary_search(at).is_err();
        let weights = match self.weight {
            Some(_) => Vec::new(),
            None => weight_candidates(schema, &self.columns),
        };
        let named = |at: usize| ReadColumn::Name(schema.field(at).name().clone());
        ReadColumns {
            source: column(self.source),
            target: column(self.target),
            weight: self.weight.map(column),
            header: true,
            ignored: schema.fields().len() - self.columns.len(),
            weight_ignored: weights.first().map(|&at| named(at)),
            weights_ignored: weights.len(),
            graph_ignored: (0..schema.fields().len())
                .filter(is_ignored)
                .find(|&at| is_graph_name(schema.field(at).name().as_bytes()))
                .map(named),
            asides: Vec::new(),
        }
    }
}

/// Returns the columns of an edge's ends: the requested ones, else `source` and `target`, else the only known
/// pair of names beside the column of graphs.
fn ends(
    schema: &Schema,
    options: &ReadOptions,
    graph: Option<usize>,
) -> Result<[usize; 2], String> {
    let (columns, default) = (&options.columns, Columns::default());
    let is_there = |name: &str| schema.fields().iter().any(|field| field.name() == name);
    if options.has_named_ends() || is_there(&default.source) && is_there(&default.target) {
        return Ok([find(schema, &columns.source)?, find(schema, &columns.target)?]);
    }
    let may_be_end =
        |at: usize| graph != Some(at) && values::id_kind(schema.field(at).data_type()).is_some();
    let name = |at: usize| if may_be_end(at) { schema.field(at).name().as_str() } else { "" };
    match known_ends(&(0..schema.fields().len()).map(name).collect::<Vec<_>>()) {
        KnownEnds::Pair(ends) => Ok(ends),
        KnownEnds::Several([source, target]) => {
            let (names, shown) = (column_names(schema), |at| shown(schema.field(at).name()));
            Err(format!(
                "more than one pair of columns could be the edge's ends; the columns are {names}: use --columns with \
                 two of them, such as --columns {},{}",
                shown(source),
                shown(target)
            ))
        }
        KnownEnds::Unknown => {
            // The search reports a missing column.
            Ok([find(schema, &columns.source)?, find(schema, &columns.target)?])
        }
    }
}

/// Returns the column of weights: the requested one, else `weight`, else the only one with a known name.
fn weight(
    schema: &Schema,
    columns: &Columns,
    [source, target]: [usize; 2],
    apart: &[usize],
) -> Result<usize, String> {
    if columns.weight != Columns::default().weight {
        return find(schema, &columns.weight);
    }
    match *weight_candidates(schema, apart) {
        [only] => Ok(only),
        // The caller rejects a column of that name that has no numbers.
        [] => find(schema, &columns.weight),
        [first, second, ..] => {
            let named = |at: usize| ReadColumn::Name(schema.field(at).name().clone());
            Err(format!(
                "both `{}` and `{}` could be the weight: use --columns with the one that is, such as {}",
                shown(schema.field(first).name()),
                shown(schema.field(second).name()),
                option_of([&named(source), &named(target), &named(first)])
            ))
        }
    }
}

/// Returns the numeric columns with names of weights, apart from some; `weight` alone if there is one.
fn weight_candidates(schema: &Schema, apart: &[usize]) -> Vec<usize> {
    let name = |at: usize| schema.field(at).name();
    let is_free =
        |at: &usize| !apart.contains(at) && values::is_number(schema.field(*at).data_type());
    let free = || (0..schema.fields().len()).filter(is_free);
    match free().find(|&at| name(at) == "weight") {
        Some(exact) => vec![exact],
        None => free().filter(|&at| is_weight_name(name(at).as_bytes())).collect(),
    }
}

/// Returns the column of graphs: the requested one, else `graph`, else the only one with a known name.
fn graph_column(schema: &Schema, options: &ReadOptions) -> Result<usize, String> {
    let asked = &options.columns.graph;
    let name = |at: usize| schema.field(at).name();
    let all = 0..schema.fields().len();
    let mut called: Vec<usize> = all.clone().filter(|&at| name(at) == asked).collect();
    if called.is_empty() && *asked != Columns::default().graph {
        called = all.clone().filter(|&at| name(at).eq_ignore_ascii_case(asked)).collect();
    }
    if called.is_empty() && *asked == Columns::default().graph {
        called = all.clone().filter(|&at| is_graph_name(name(at).as_bytes())).collect();
    }
    match (&*called, number(asked).filter(|at| all.contains(at))) {
        ([only], _) => Ok(*only),
        ([first, second, ..], _) => Err(format!(
            "both `{}` and `{}` could be the column of graphs: use --graph-column with the number of one, such as \
             --graph-column {}",
            shown(name(*first)),
            shown(name(*second)),
            first + 1
        )),
        ([], Some(column)) => Ok(column),
        ([], None) => Err(format!(
            "there is no column `{}` with the graph of each edge; the columns are: {}: use --graph-column with a name or \
             number",
            shown(asked),
            column_names(schema)
        )),
    }
}

fn find(schema: &Schema, name: &str) -> Result<usize, String> {
    let all = 0..schema.fields().len();
    let mut named = all.clone().filter(|&at| schema.field(at).name() == name);
    let mut alike = all.filter(|&at| schema.field(at).name().eq_ignore_ascii_case(name));
    let found = named.next().or_else(|| alike.next().filter(|_| alike.next().is_none()));
    if named.next().is_some() {
        return Err(format!(
            "there are two columns `{}`: use --columns with their numbers, such as --columns 1,2",
            shown(name)
        ));
    }
    let numbered = || number(name).filter(|&at| at < schema.fields().len());
    found.or_else(numbered).ok_or_else(|| {
        let names = column_names(schema);
        format!(
            "there is no column `{name}`; the columns are {names}: use --columns to name those to read"
        )
    })
}

/// Formats the names of all columns for a message.
fn column_names(schema: &Schema) -> String {
    const MOST: usize = 12;
    let mut names: Vec<_> = schema.fields().iter().take(MOST).map(|f| shown(f.name())).collect();
    if schema.fields().len() > MOST {
        names.push("…".into());
    }
    names.join(", ")
}

impl Ids {
    fn of(schema: &Schema, columns: [usize; 2], asked: IdKind) -> Result<Ids, String> {
        let [source, target] = columns.map(|column| schema.field(column));
        let kind = |field: &arrow_schema::Field| match values::id_kind(field.data_type()) {
            Some(kind) => Ok(kind),
            None => Err(format!(
                "the column `{}` is {}, but ids are integers or strings{}",
                shown(field.name()),
                shown(field.data_type()),
                match field.data_type() {
                    kind if kind.is_floating() => OF_FLOATS,
                    kind if kind.is_decimal() => OF_DECIMALS,
                    DataType::Null => OF_NULLS,
                    _ => "",
                }
            )),
        };
        match (kind(source)?, kind(target)?, asked) {
            (_, _, IdKind::Names) | (Ids::Names, Ids::Names, IdKind::Auto) => Ok(Ids::Names),
            (Ids::Integers, Ids::Integers, _) => Ok(Ids::Integers),
            (_, _, IdKind::Auto) => Err(format!(
                "`{}` is {} and `{}` is {}: use --ids names to read both as names",
                shown(source.name()),
                shown(source.data_type()),
                shown(target.name()),
                shown(target.data_type())
            )),
            _ => Err("the ids are strings, not integers: leave --ids out".into()),
        }
    }
}

/// What to do about a column of floats with ids.
const OF_FLOATS: &str = ": pandas makes integers so if some are missing; leave rows without an id out, and write the column as \
                         integers, such as with frame[column].astype(\"Int64\") or in SQL CAST(… AS BIGINT)";

/// What to do about a column of decimals with ids, as DuckDB makes of `HUGEINT`, the type of its sums.
const OF_DECIMALS: &str =
    ": write the column as integers of 64 bits, such as in SQL with CAST(… AS BIGINT)";

/// What a column without a type is.
const OF_NULLS: &str = ": none of its rows has a value";

/// Ends of the edges of some rows.
struct Block {
    ends: BlockEnds,
    weights: Vec<f64>,
}

enum BlockEnds {
    /// Integers as bits; signed ones are in two's complement.
    Integers { ends: Ends, negative: Option<u64>, large: Option<u64> },
    /// Names as numbers in the set of the block: two an edge.
    Names(NameSet, Vec<u32>),
}

impl Block {
    /// Returns the rows of a batch, the first of which is row `first` of the table.
    fn of(
        batch: &RecordBatch,
        first: u64,
        layout: &Layout,
        like: &NameSet,
    ) -> Result<Block, Fault> {
        let column = |at: usize| batch.column(at).as_ref();
        let columns = [layout.source, layout.target].map(column);
        let weights = layout.weight.map(column);
        let nulls = columns.iter().chain(&weights).filter_map(|column| values::first_null(*column));
        let weights = weights.map_or(Ok(vec![]), values::weights);
        let null = nulls.min();
        let heavy = weights.as_ref().err().map(|fault| fault.row);
        if let Some(row) = null.filter(|&row| heavy.is_none_or(|heavy| row <= heavy)) {
            let sentence =
                "a null: each edge has two ends, and where they are read a weight and a graph";
            return Err(Fault::row(first + row as u64, sentence));
        }
        let weights = weights.map_err(|fault| Fault::row(first + fault.row as u64, fault.kind))?;
        let ends = match layout.ids {
            Ids::Integers => BlockEnds::integers(columns, first)?,
            Ids::Names => BlockEnds::names(columns, like.alike())?,
        };
        Ok(Block { ends, weights })
    }
}

impl BlockEnds {
    fn integers(columns: [&dyn Array; 2], first: u64) -> Result<BlockEnds, Fault> {
        let [sources, targets] = columns.map(Values::of);
        let (Values::Integers(sources), Values::Integers(targets)) = (sources?, targets?) else {
            return Err(Fault::whole("a batch has strings where the table has integers"));
        };
        let either = |a: Option<usize>, b: Option<usize>| {
            a.into_iter().chain(b).min().map(|row| first + row as u64)
        };
        let negative = either(sources.first_negative(), targets.first_negative());
        let large = either(sources.first_large(), targets.first_large());
        let mut ends = Ends::with_room(sources.bits.len())?;
        for (&source, &target) in sources.bits.iter().zip(&targets.bits) {
            ends.push([source, target])?;
        }
        Ok(BlockEnds::Integers { ends, negative, large })
    }

    fn names(columns: [&dyn Array; 2], mut set: NameSet) -> Result<BlockEnds, Fault> {
        let [sources, targets] = columns.map(Values::of);
        let mut number = |values: Values<'_>| values.numbers(&mut set);
        let (sources, targets) = (number(sources?)?, number(targets?)?);
        let mut ends = memory::with_room(2 * sources.len())?;
        sources.into_iter().zip(targets).for_each(|(s, t)| ends.extend([s, t]));
        Ok(BlockEnds::Names(set, ends))
    }
}

/// Joins the blocks' names, some blocks at a time: their own sets are then given back.
fn intern_name_ends(mut names: NameIndex, blocks: Vec<BlockEnds>) -> Result<Interned, Fault> {
    /// Enough for many threads.
    const BLOCKS_AT_ONCE: usize = 64;
    let mut numbers = memory::with_room(blocks.len())?;
    let mut blocks = blocks.into_iter();
    loop {
        let (mut sets, first) = (Vec::with_capacity(BLOCKS_AT_ONCE), numbers.len());
        for block in blocks.by_ref().take(BLOCKS_AT_ONCE) {
            if let BlockEnds::Names(set, ends) = block {
                sets.push(set);
                memory::push(&mut numbers, ends)?;
            }
        }
        if sets.is_empty() {
            return Ok(intern_names(names, numbers)?);
        }
        let number = names.number_sets(&sets)?;
        numbers[first..].par_iter_mut().zip(number).for_each(|(ends, number)| {
            ends.iter_mut().for_each(|end| *end = number[*end as usize]);
        });
    }
}

/// Decides whether the ids are signed: if one is negative, or if `asked` requires it.
fn intern_integer_ends(blocks: Vec<BlockEnds>, asked: IdKind) -> Result<Interned, Fault> {
    let (mut all, mut first_negative, mut first_large) =
        (memory::with_room(blocks.len())?, None, None);
    for block in blocks {
        let BlockEnds::Integers { ends, negative, large } = block else { continue };
        all.push(ends);
        first_negative = first_negative.or(negative);
        first_large = first_large.or(large);
    }
    if let (IdKind::Unsigned, Some(row)) = (asked, first_negative) {
        return Err(Fault::row(row, "a vertex id is negative; use --ids signed"));
    }
    let signed_ids = asked == IdKind::Signed || first_negative.is_some();
    if let (true, Some(row)) = (signed_ids, first_large) {
        let sentence = "a vertex id is 2^63 or more, and others are signed; use --ids names";
        return Err(Fault::row(row, sentence));
    }
    let sign = if signed_ids { Sign::Signed } else { Sign::Unsigned };
    if signed_ids {
        all.iter_mut().try_for_each(Ends::make_signed)?;
    }
    Ok(intern_integers(all, sign)?)
}
