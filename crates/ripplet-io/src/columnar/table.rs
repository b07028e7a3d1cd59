//! A table in a file: its schema, and its rows in batches.

use super::ipc;
use crate::fault::Fault;
use crate::map::map_source;
#[cfg(feature = "object-storage")]
use crate::object::Object;
use crate::source::Source;
use crate::{Format, Place, ReadError, ReadErrorKind};
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use bytes::{Buf, Bytes};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use ripplet_graph::{memory, tasks};
use std::io::{self, Cursor};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The message for a table without rows.
pub(super) const NO_ROWS: &str = "the table has no rows: expected a row for each edge";
/// Rows that one task takes.
const ROWS: usize = 1 << 16;
/// Tasks' worth of rows that are decoded before they are worked on.
const SLICES: usize = 16;

/// An opened Parquet or Arrow IPC file, or batches in memory.
pub(crate) struct Table {
    content: Content,
    schema: SchemaRef,
    container: Container,
    /// The row groups of a Parquet file that are read, if not all.
    groups: Option<Range<usize>>,
}

enum Container {
    Parquet(ArrowReaderMetadata),
    ArrowFile,
    ArrowStream,
    Batches(Vec<RecordBatch>),
}

/// The bytes of a table.
#[derive(Clone)]
enum Content {
    /// All of them.
    Bytes(Bytes),
    /// A Parquet object, of which ranges are requested.
    #[cfg(feature = "object-storage")]
    Object(Object),
}

impl Content {
    /// Returns the bytes of some ranges; those of a file are all there.
    fn pieces(&self, ranges: impl Iterator<Item = Range<u64>>) -> Result<Pieces, Fault> {
        match self {
            Content::Bytes(bytes) => {
                drop(ranges);
                Ok(Pieces::all(bytes.clone()))
            }
            #[cfg(feature = "object-storage")]
            Content::Object(object) => Ok(Pieces {
                pieces: object.pieces(ranges.collect())?.into(),
                length: object.size(),
            }),
        }
    }
}

impl Table {
    /// Opens a file or an object. Of a Parquet object, columns are requested when they are read; an object of another format is
    /// copied.
    pub(crate) fn of_source(source: &Source, format: Format) -> Result<Table, ReadError> {
        #[cfg(feature = "object-storage")]
        if let (Source::Object(object), Format::Parquet) = (source, format) {
            let table = guarded(|| Table::of_object(object));
            return table.map_err(|fault| fault.of(source.path()));
        }
        let bytes = Bytes::from_owner(map_source(source)?);
        Table::open(bytes, format).map_err(|fault| fault.of(source.path()))
    }

    #[cfg(feature = "object-storage")]
    fn of_object(object: &Object) -> Result<Table, Fault> {
        /// Bytes at the end that are requested first. Most footers have fewer.
        const TAIL: u64 = 64 << 10;
        /// Length of the footer, and the magic word.
        const END: usize = 8;
        let content = Content::Object(object.clone());
        let size = object.size();
        let tail = |bytes: u64| content.pieces(std::iter::once(size.saturating_sub(bytes)..size));
        let mut pieces = tail(TAIL)?;
        let end = pieces.piece(size.saturating_sub(END as u64), END);
        let footer = end.and_then(|end| Some(u32::from_le_bytes(*end.first_chunk()?)));
        let footer = u64::from(footer.unwrap_or(0)) + END as u64;
        if footer > TAIL {
            pieces = tail(footer)?;
        }
        let options = ArrowReaderOptions::new();
        let metadata = ArrowReaderMetadata::load(&pieces, options).map_err(no_parquet)?;
        let schema = metadata.schema().clone();
        Ok(Table { content, schema, container: Container::Parquet(metadata), groups: None })
    }

    /// Reads what a file says about itself.
    pub(crate) fn open(bytes: Bytes, format: Format) -> Result<Table, Fault> {
        guarded(|| Table::open_unguarded(bytes, format))
    }

    fn open_unguarded(bytes: Bytes, format: Format) -> Result<Table, Fault> {
        if format == Format::Parquet {
            let options = ArrowReaderOptions::new();
            let metadata = ArrowReaderMetadata::load(&Pieces::all(bytes.clone()), options)
                .map_err(no_parquet)?;
            let schema = metadata.schema().clone();
            let container = Container::Parquet(metadata);
            let content = Content::Bytes(bytes);
            return Ok(Table { content, schema, container, groups: None });
        }
        ipc::check(&bytes)?;
        let reader = Cursor::new(bytes.clone());
        let (schema, container) = if bytes.starts_with(ipc::MAGIC) {
            let schema = FileReader::try_new(reader, None).map_err(no_arrow)?.schema();
            (schema, Container::ArrowFile)
        } else {
            let schema = StreamReader::try_new(reader, None).map_err(no_arrow)?.schema();
            (schema, Container::ArrowStream)
        };
        Ok(Table { content: Content::Bytes(bytes), schema, container, groups: None })
    }

    /// The table of batches in memory, which have one schema.
    pub(crate) fn of_batches(batches: &[RecordBatch]) -> Result<Table, Fault> {
        let Some(first) = batches.first() else {
            return Err(Fault::whole("there are no batches: expected a row for each edge"));
        };
        let schema = first.schema();
        if let Some(at) = batches.iter().position(|batch| batch.schema() != schema) {
            let sentence = format!("batch {at} has another schema than the batches before");
            return Err(Fault::whole(sentence));
        }
        // Of columns without rows, some packages know no type.
        let has_type = |field: &FieldRef| *field.data_type() != DataType::Null;
        let is_empty = batches.iter().all(|batch| batch.num_rows() == 0);
        if is_empty && !schema.fields().iter().all(has_type) {
            return Err(Fault::whole(ReadErrorKind::NoEdges(NO_ROWS)));
        }
        let container = Container::Batches(batches.to_vec());
        Ok(Table { content: Content::Bytes(Bytes::new()), schema, container, groups: None })
    }

    /// Returns the table of the row groups of a Parquet file that begin in a range of its bytes, if each of its rows has as
    /// many of the `size` bytes: those of consecutive ranges are all rows. Other tables are as they are.
    pub(crate) fn of_share(self, range: Range<u64>, size: u64) -> Table {
        let Container::Parquet(metadata) = &self.container else { return self };
        let rows = |group: &RowGroupMetaData| u64::try_from(group.num_rows()).unwrap_or(0);
        let groups = metadata.metadata().row_groups();
        let all: u128 = groups.iter().map(|group| u128::from(rows(group))).sum();
        let mut before = 0u128;
        let place = |group| {
            let place = before;
            before += u128::from(rows(group));
            place
        };
        let places: Vec<u128> = groups.iter().map(place).collect();
        // The first group that begins at a share or behind it.
        let first = |share: u64| {
            places.partition_point(|place| place * u128::from(size) < u128::from(share) * all)
        };
        let last = if range.end >= size { places.len() } else { first(range.end) };
        let groups = Some(first(range.start).min(last)..last);
        Table { groups, ..self }
    }

    /// Returns the bytes of an Arrow file.
    fn bytes(&self) -> Bytes {
        match &self.content {
            Content::Bytes(bytes) => bytes.clone(),
            #[cfg(feature = "object-storage")]
            Content::Object(_) => Bytes::new(),
        }
    }

    /// Returns the columns of the file.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the results of `visit` in the order of the rows. It gets a batch of rows of the columns
    /// `columns` (ascending) and the number of its first row, and runs in parallel.
    ///
    /// # Errors
    /// The first in the order of the rows, whether the file's or `visit`'s.
    pub(crate) fn map<T: Send>(
        &self,
        columns: &[usize],
        visit: impl Fn(RecordBatch, u64) -> Result<T, Fault> + Sync,
    ) -> Result<Vec<T>, Fault> {
        let reader = || Cursor::new(self.bytes());
        let projection = Some(columns.to_vec());
        match &self.container {
            Container::Parquet(metadata) => self.map_row_groups(metadata, columns, &visit),
            Container::ArrowFile => {
                let open = || FileReader::try_new(reader(), projection).map_err(no_arrow);
                let batches = guarded(open)?;
                map_batches(&mut batches.map(|batch| batch.map_err(no_arrow)), 0, &visit)
            }
            Container::ArrowStream => {
                let open = || StreamReader::try_new(reader(), projection).map_err(no_arrow);
                let batches = guarded(open)?;
                map_batches(&mut batches.map(|batch| batch.map_err(no_arrow)), 0, &visit)
            }
            Container::Batches(batches) => {
                let projected = |batch: &RecordBatch| batch.project(columns).map_err(no_arrow);
                map_batches(&mut batches.iter().map(projected), 0, &visit)
            }
        }
    }

    /// Returns the rows in their order, some at a time, of the columns `columns` (ascending).
    pub(crate) fn batches(
        &self,
        columns: &[usize],
    ) -> Result<impl Iterator<Item = Result<RecordBatch, Fault>> + Send + use<>, Fault> {
        type Batches = Box<dyn Iterator<Item = Result<RecordBatch, Fault>> + Send>;
        let reader = Cursor::new(self.bytes());
        let projection = Some(columns.to_vec());
        let mut batches: Batches = match &self.container {
            Container::Parquet(metadata) => {
                let (content, metadata) = (self.content.clone(), metadata.clone());
                let (groups, columns) = (metadata.metadata().num_row_groups(), columns.to_vec());
                let open = move |group| -> Batches {
                    match guarded(|| row_group(&content, &metadata, group, &columns)) {
                        Ok(batches) => Box::new(batches),
                        Err(fault) => Box::new(std::iter::once(Err(fault))),
                    }
                };
                Box::new((0..groups).flat_map(open))
            }
            Container::ArrowFile => {
                let open = || FileReader::try_new(reader, projection).map_err(no_arrow);
                Box::new(guarded(open)?.map(|batch| batch.map_err(no_arrow)))
            }
            Container::ArrowStream => {
                let open = || StreamReader::try_new(reader, projection).map_err(no_arrow);
                Box::new(guarded(open)?.map(|batch| batch.map_err(no_arrow)))
            }
            Container::Batches(batches) => {
                let columns = columns.to_vec();
                let projected = move |batch: RecordBatch| batch.project(&columns).map_err(no_arrow);
                Box::new(batches.clone().into_iter().map(projected))
            }
        };
        let mut over = false;
        Ok(std::iter::from_fn(move || {
            if over {
                return None;
            }
            let next = guarded(|| batches.next().transpose()).transpose();
            over = !matches!(next, Some(Ok(_)));
            next
        }))
    }

    fn map_row_groups<T: Send>(
        &self,
        metadata: &ArrowReaderMetadata,
        columns: &[usize],
        visit: &(dyn Fn(RecordBatch, u64) -> Result<T, Fault> + Sync),
    ) -> Result<Vec<T>, Fault> {
        let groups = metadata.metadata().row_groups();
        let mut first = 0u64;
        let firsts = groups.iter().map(|group| {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            let next = first.saturating_add(rows);
            std::mem::replace(&mut first, next)
        });
        let mut work: Vec<(usize, u64)> = firsts.enumerate().collect();
        if let Some(read) = &self.groups {
            work.retain(|(group, _)| read.contains(group));
        }
        let mapped = tasks::map(work.len(), |at| {
            let (group, first) = work[at];
            let mut batches = guarded(|| row_group(&self.content, metadata, group, columns))?;
            map_batches(&mut batches, first, visit)
        });
        let mut blocks = Vec::new();
        for some in mapped {
            let mut some = some?;
            memory::reserve(&mut blocks, some.len())?;
            blocks.append(&mut some);
        }
        Ok(blocks)
    }
}

/// Returns the rows of a Parquet file's row group, of these columns (ascending).
fn row_group(
    content: &Content,
    metadata: &ArrowReaderMetadata,
    group: usize,
    columns: &[usize],
) -> Result<impl Iterator<Item = Result<RecordBatch, Fault>> + Send + use<>, Fault> {
    let schema = metadata.parquet_schema();
    let chunks = metadata.metadata().row_group(group).columns().iter().enumerate();
    let read = chunks.filter(|&(leaf, _)| columns.contains(&schema.get_column_root_idx(leaf)));
    let pieces = content.pieces(read.map(|(_, chunk)| {
        let (begin, length) = chunk.byte_range();
        begin..begin.saturating_add(length)
    }))?;
    check_dictionaries(&pieces, metadata, group, columns)?;
    let rows = ParquetRecordBatchReaderBuilder::new_with_metadata(pieces, metadata.clone());
    let mask = ProjectionMask::roots(rows.parquet_schema(), columns.iter().copied());
    let rows = rows.with_row_groups(vec![group]).with_projection(mask).with_batch_size(ROWS);
    let batches = rows.build().map_err(no_parquet)?;
    Ok(batches.map(|batch| batch.map_err(broken_parquet)))
}

/// Rejects dictionaries that claim more values than they have bytes for: the decoder allocates as many
/// as are claimed, which may be gigabytes for a file of a few bytes.
fn check_dictionaries(
    pieces: &Pieces,
    metadata: &ArrowReaderMetadata,
    group: usize,
    columns: &[usize],
) -> Result<(), Fault> {
    let schema = metadata.parquet_schema();
    let group = metadata.metadata().row_group(group);
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    let bytes = Arc::new(pieces.clone());
    for (leaf, chunk) in group.columns().iter().enumerate() {
        if !columns.contains(&schema.get_column_root_idx(leaf)) {
            continue;
        }
        let pages = SerializedPageReader::new(Arc::clone(&bytes), chunk, rows, None);
        let mut pages = pages.map_err(no_parquet)?;
        if !pages.peek_next_page().map_err(no_parquet)?.is_some_and(|page| page.is_dict) {
            continue;
        }
        let Some(Page::DictionaryPage { buf, num_values, .. }) =
            pages.get_next_page().map_err(no_parquet)?
        else {
            continue;
        };
        let least = match chunk.column_type() {
            Type::BOOLEAN => continue,
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::INT96 => 12,
            // Each begins with its length.
            Type::BYTE_ARRAY => 4,
            Type::FIXED_LEN_BYTE_ARRAY => {
                u64::try_from(chunk.column_descr().type_length()).unwrap_or(0).max(1)
            }
        };
        if u64::from(num_values) * least > buf.len() as u64 {
            let (name, bytes) = (chunk.column_descr().name(), buf.len());
            return Err(Fault::whole(format!(
                "the Parquet file is damaged: the dictionary of column `{name}` claims {num_values} values in \
                 {bytes} bytes"
            )));
        }
    }
    Ok(())
}

/// Decodes batches one after the other, and works on some of them at once.
fn map_batches<T: Send>(
    batches: &mut dyn Iterator<Item = Result<RecordBatch, Fault>>,
    first: u64,
    visit: &(dyn Fn(RecordBatch, u64) -> Result<T, Fault> + Sync),
) -> Result<Vec<T>, Fault> {
    let (mut blocks, mut row, mut end) = (Vec::new(), first, Ok(()));
    let mut more = true;
    while more {
        let mut slices = Vec::with_capacity(SLICES);
        while more && slices.len() < SLICES {
            match guarded(|| batches.next().transpose()).transpose() {
                Some(Ok(batch)) => {
                    for at in (0..batch.num_rows()).step_by(ROWS) {
                        let rows = ROWS.min(batch.num_rows() - at);
                        slices.push((batch.slice(at, rows), row + at as u64));
                    }
                    row += batch.num_rows() as u64;
                }
                // The rows before may hold an error, too, which then comes first.
                Some(Err(fault)) => (more, end) = (false, Err(fault)),
                None => more = false,
            }
        }
        let visited = tasks::map(slices.len(), |at| {
            let (batch, first) = &slices[at];
            visit(RecordBatch::clone(batch), *first)
        });
        for block in visited {
            memory::push(&mut blocks, block?)?;
        }
    }
    end.map(|()| blocks)
}

/// Runs what the arrow and parquet crates do with a file's bytes.
///
/// Both mean to answer damage with an error, but a flipped byte in a page or a footer makes them
/// panic in several places (the tests flip each byte). What a call had in hand is dropped then,
/// and nothing of it is used again, so nothing half-done is seen.
fn guarded<T>(read: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(Fault::whole("the file is damaged: its parts do not fit together, make it again"))
    })
}

fn no_parquet(error: ParquetError) -> Fault {
    let sentence = first_line(&error);
    let other = || Fault::whole(format!("this is no Parquet file that can be read: {sentence}"));
    unread_codec(&sentence).unwrap_or_else(other)
}

fn broken_parquet(error: ArrowError) -> Fault {
    if let ArrowError::MemoryError(_) = error {
        return refused(&error);
    }
    let sentence = first_line(&error);
    let other = || Fault::whole(format!("the Parquet file is damaged: {sentence}"));
    unread_codec(&sentence).unwrap_or_else(other)
}

/// Returns the error for a compression that is not read, if that is the reader's sentence.
fn unread_codec(sentence: &str) -> Option<Fault> {
    let disabled =
        sentence.split_once("Disabled feature at compile time: ").map(|(_, codec)| codec);
    let unknown = || {
        let (_, codec) = sentence.split_once("The codec type ")?;
        Some(codec.split_once(" is not supported")?.0)
    };
    let codec = disabled.or_else(unknown)?.to_ascii_lowercase();
    Some(Fault::whole(format!(
        "its columns are compressed by {codec}, which is not read: write the file with one of {} (in pandas and pyarrow \
         compression=\"snappy\")",
        if cfg!(feature = "zstd") { "snappy, gzip, lz4 and zstd" } else { "snappy, gzip and lz4" }
    )))
}

fn no_arrow(error: ArrowError) -> Fault {
    if let ArrowError::MemoryError(_) = error {
        return refused(&error);
    }
    let error = first_line(&error);
    Fault::whole(format!("this is no Arrow IPC file or stream that can be read: {error}"))
}

/// Memory that these crates were refused, if they answer with an error.
fn refused(error: &ArrowError) -> Fault {
    let error = io::Error::new(io::ErrorKind::OutOfMemory, first_line(error));
    Fault { place: Place::File, kind: ReadErrorKind::Io(error) }
}

/// Returns the first line of an error, shortened: messages of the Arrow crates may quote the file.
fn first_line(error: &dyn std::error::Error) -> String {
    const LONGEST: usize = 200;
    error.to_string().chars().take_while(|c| !c.is_control()).take(LONGEST).collect()
}

/// Bytes of a file, read by ranges. A damaged file may request any range.
#[derive(Clone)]
struct Pieces {
    /// What is there of the file: where it begins, ascending, and its bytes.
    pieces: Arc<[(u64, Bytes)]>,
    /// The number of bytes of the file.
    length: u64,
}

impl Pieces {
    fn all(bytes: Bytes) -> Pieces {
        Pieces { length: bytes.len() as u64, pieces: Arc::new([(0, bytes)]) }
    }

    /// Returns the bytes of a piece from `start` on.
    fn rest(&self, start: u64) -> Option<Bytes> {
        let at = self.pieces.partition_point(|(begin, _)| *begin <= start).checked_sub(1)?;
        let (begin, bytes) = &self.pieces[at];
        let skipped =
            usize::try_from(start - begin).ok().filter(|&skipped| skipped <= bytes.len())?;
        Some(bytes.slice(skipped..))
    }

    fn piece(&self, start: u64, length: usize) -> Option<Bytes> {
        let rest = self.rest(start).filter(|rest| length <= rest.len())?;
        Some(rest.slice(..length))
    }

    fn outside(&self, start: u64) -> ParquetError {
        let length = self.length;
        ParquetError::EOF(format!("it asks for bytes from {start} on, but has {length}"))
    }
}

impl Length for Pieces {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Pieces {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.rest(start).map(Bytes::reader).ok_or_else(|| self.outside(start))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.piece(start, length).ok_or_else(|| self.outside(start))
    }
}
