//! Parquet and Arrow IPC (file and stream): tables with a row an edge.
//!
//! ```text
//! mapped file ─▶ row groups, batches ─▶ blocks of ends (parallel) ─▶ intern ─▶ EdgeTable
//! ```
//!
//! The columns are found by name ([`crate::Columns`]); others are not read. Ids may be integers of
//! any width, or strings (`Utf8`, `LargeUtf8`, `Utf8View`), either also behind a dictionary. Where
//! both columns are integers, so are the ids, and negative ones are welcome; an integer beside a
//! string takes `--ids names`. Weights may be numbers of any type.
//!
//! A null is an error that names the row, as is a weight that is NaN, infinite or negative.
//!
//! Memory: the table, as much again while it is put together, and what a batch a thread takes to
//! decode; decoding is where refused memory is not always an error (see the crate's documentation). The file is mapped, so whoever overwrites it in place meanwhile breaks the reading.
//!
//! Determinism: the table, and the row of the first error, do not depend on the number of threads.

mod ipc;
mod table;
mod values;

pub(crate) use table::Table;
pub(crate) use values::{Values, first_null, floats, id_kind};

use crate::intern::{Ends, Interned, Sign};
use crate::intern::{intern_integers, intern_names, into_column, signed};
use crate::map::map;
use crate::names::{NameIndex, NameSet};
use crate::summary::{ReadColumn, ReadColumns};
use crate::text::{Fault, GraphRows};
use crate::text::{is_weight_name, number};
use crate::{Columns, Format, IdKind, Place, ReadError, ReadErrorKind, ReadOptions};
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use bytes::Bytes;
use rayon::prelude::*;
use ripplet_graph::{EdgeTable, OutOfMemory, memory};
use std::path::Path;

/// Reads the edges of a Parquet or Arrow IPC file, on the threads of the current rayon pool.
///
/// # Errors
/// Where the file cannot be read or is damaged, lacks a column, or holds what is no id or weight.
pub fn read(
    path: &Path,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    let bytes = map(path).map_err(|error| ReadError::io(path, Place::File, error))?;
    edges(Bytes::from_owner(bytes), format, options).map_err(|fault| fault.of(path))
}

/// Reads the edges of a file that is in memory, as [`read`] does one on a disk; an error calls it
/// `(bytes)`.
///
/// # Errors
/// Those of [`read`].
pub fn parse(
    bytes: Vec<u8>,
    format: Format,
    options: &ReadOptions,
) -> Result<EdgeTable, ReadError> {
    parse_named(bytes.into(), format, options, Path::new("(bytes)"))
}

/// [`parse`], of a file that has a name.
pub(crate) fn parse_named(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
    path: &Path,
) -> Result<EdgeTable, ReadError> {
    Ok(parse_with_columns(bytes, format, options, path)?.0)
}

/// [`parse_named`], and what its columns are.
pub(crate) fn parse_with_columns(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
    path: &Path,
) -> Result<(EdgeTable, ReadColumns), ReadError> {
    edges(bytes, format, options).map_err(|fault| fault.of(path))
}

impl Fault {
    /// What is wrong with a row, counted from 0.
    pub(crate) fn row(row: u64, why: impl Into<ReadErrorKind>) -> Fault {
        Fault::at(Place::Row(row), why)
    }
}

fn edges(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
) -> Result<(EdgeTable, ReadColumns), Fault> {
    let table = Table::open(bytes, format)?;
    let layout = Layout::of(table.schema(), options).map_err(Fault::whole)?;
    let (Interned { ids, sources, targets }, weights) = pairs(&table, &layout, options.ids)?;
    let columns = layout.read_columns(table.schema());
    let edges = EdgeTable::new(ids, sources, targets)?;
    Ok(match weights {
        Some(weights) => (edges.with_weights(weights)?, columns),
        None => (edges, columns),
    })
}

/// Reads the edges of a table with a column of graphs: that column is a pass of its own.
pub(crate) fn of_graphs(
    bytes: Bytes,
    format: Format,
    options: &ReadOptions,
) -> Result<GraphRows, Fault> {
    let table = Table::open(bytes, format)?;
    let layout = Layout::of(table.schema(), options).map_err(Fault::whole)?;
    let graph = options.columns.graph.clone();
    let columns = Columns { source: graph.clone(), target: graph, ..Columns::default() };
    let ids = if options.ids == IdKind::Names { IdKind::Names } else { IdKind::Auto };
    let of_graph = ReadOptions { columns, ids, weighted: false, ..options.clone() };
    let of_graph = Layout::of(table.schema(), &of_graph).map_err(Fault::whole)?;
    let (ends, weights) = pairs(&table, &layout, options.ids)?;
    let (graphs, _) = pairs(&table, &of_graph, ids)?;
    Ok(GraphRows { ends, weights, graphs })
}

/// The vertices and the columns of all rows, of which there is one at least.
fn pairs(
    table: &Table,
    layout: &Layout,
    asked: IdKind,
) -> Result<(Interned, Option<Vec<f64>>), Fault> {
    let names = NameIndex::default();
    let like = names.alike();
    let blocks =
        table.map(&layout.columns, |batch, first| Block::of(&batch, first, layout, &like))?;
    let (ends, weights): (Vec<_>, Vec<_>) = blocks.into_iter().map(|b| (b.ends, b.weights)).unzip();
    let interned = match layout.ids {
        Ids::Names => intern_name_ends(names, ends)?,
        Ids::Integers => intern_integer_ends(ends, asked)?,
    };
    if interned.sources.is_empty() {
        return Err(Fault::whole("the table has no rows: expected a row for each edge"));
    }
    let weights = layout.weight.map(|_| into_column(weights)).transpose()?;
    Ok((interned, weights))
}

/// Which columns are read, and what the ids are.
struct Layout {
    /// The columns of the file to read, ascending.
    columns: Vec<usize>,
    /// Where among these the ends and the weight are.
    source: usize,
    target: usize,
    weight: Option<usize>,
    ids: Ids,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    Integers,
    Names,
}

impl Layout {
    fn of(schema: &Schema, options: &ReadOptions) -> Result<Layout, String> {
        let names = &options.columns;
        let source = find(schema, &names.source)?;
        let target = find(schema, &names.target)?;
        let weight = options.weighted.then(|| find(schema, &names.weight)).transpose()?;
        let ids = Ids::of(schema, [source, target], options.ids)?;
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

    /// What is read of a table, for its owner.
    fn read_columns(&self, schema: &Schema) -> ReadColumns {
        let column = |at: usize| ReadColumn::Name(schema.field(self.columns[at]).name().clone());
        let is_ignored = |at: &usize| self.columns.binary_search(at).is_err();
        ReadColumns {
            source: column(self.source),
            target: column(self.target),
            weight: self.weight.map(column),
            header: true,
            ignored: schema.fields().len() - self.columns.len(),
            weight_ignored: (0..schema.fields().len())
                .filter(is_ignored)
                .map(|at| schema.field(at).name())
                .find(|name| self.weight.is_none() && is_weight_name(name.as_bytes()))
                .map(|name| ReadColumn::Name(name.clone())),
            graph_ignored: (0..schema.fields().len())
                .filter(is_ignored)
                .any(|at| schema.field(at).name() == "graph"),
            asides: Vec::new(),
        }
    }
}

fn find(schema: &Schema, name: &str) -> Result<usize, String> {
    let mut named = (0..schema.fields().len()).filter(|&at| schema.field(at).name() == name);
    let found = named.next();
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

/// The columns there are, for a message.
pub(crate) fn column_names(schema: &Schema) -> String {
    const MOST: usize = 12;
    let mut names: Vec<_> = schema.fields().iter().take(MOST).map(|f| shown(f.name())).collect();
    if schema.fields().len() > MOST {
        names.push("…".into());
    }
    names.join(", ")
}

/// A name or type out of a file, for a message: on one line, and not too long.
pub(crate) fn shown(text: impl std::fmt::Display) -> String {
    const LONGEST: usize = 60;
    let text = text.to_string();
    let cut = text.chars().count() > LONGEST;
    let start: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if cut { start + "…" } else { start }
}

impl Ids {
    fn of(schema: &Schema, columns: [usize; 2], asked: IdKind) -> Result<Ids, String> {
        let [source, target] = columns.map(|column| schema.field(column));
        let kind = |field: &arrow_schema::Field| match values::id_kind(field.data_type()) {
            Some(kind) => Ok(kind),
            None => Err(format!(
                "the column `{}` is {}, but ids are integers or strings",
                shown(field.name()),
                shown(field.data_type())
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

/// What some rows hold.
struct Block {
    ends: BlockEnds,
    weights: Vec<f64>,
}

enum BlockEnds {
    /// The bits of the integers; signed ones are in two's complement.
    Integers { ends: Ends, negative: Option<u64>, large: Option<u64> },
    /// Numbers in the set, which holds the block's names: two an edge.
    Names(NameSet, Vec<u32>),
}

impl Block {
    /// The rows of a batch, the first of which is row `first` of the table.
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
        let weighed = weights.map_or(Ok(vec![]), values::weights);
        let null = nulls.min();
        let heavy = weighed.as_ref().err().map(|fault| fault.row);
        if let Some(row) = null.filter(|&row| heavy.is_none_or(|heavy| row <= heavy)) {
            let sentence =
                "a null: each edge has two ends, and where they are read a weight and a graph";
            return Err(Fault::row(first + row as u64, sentence));
        }
        let weights = weighed.map_err(|fault| Fault::row(first + fault.row as u64, fault.kind))?;
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

/// Decides whether the ids are signed: where one is negative, or `asked` says so.
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
        all.iter_mut().try_for_each(make_signed)?;
    }
    Ok(intern_integers(all, sign)?)
}

/// From two's complement to the form that interning sorts by.
fn make_signed(ends: &mut Ends) -> Result<(), OutOfMemory> {
    match ends {
        Ends::Narrow(pairs) => {
            let mut wide = memory::with_room(pairs.len())?;
            wide.extend(pairs.iter().map(|pair| pair.map(|id| signed(i64::from(id)))));
            *ends = Ends::Wide(wide);
        }
        Ends::Wide(pairs) => {
            pairs.as_flattened_mut().iter_mut().for_each(|id| *id = signed(*id as i64));
        }
    }
    Ok(())
}
