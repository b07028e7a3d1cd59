//! Writes an `.rg` shard by shard, without the whole graph in memory.

use super::{BIG_ENDIAN, ENTRY_BYTES, HEADER_BYTES, Header, OUT};
use crate::WriteError;
use crate::output::AtomicFile;
use crate::sections::{BLOCK, aligned, gap, pair};
use ripplet_graph::{Neighbors, OutOfMemory, Shard, VertexId, memory};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

/// Properties of a graph that is written shard by shard: undirected, with vertex numbers as ids, and integer
/// weights, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RgShape {
    /// Number of vertices.
    pub vertices: u32,
    /// Number of shards.
    pub shards: u32,
    /// Whether arcs have weights.
    pub weighted: bool,
}

/// Writer of a graph, shard by shard; the file appears atomically.
///
/// The bytes are those of [`write()`](super::write()) of the same shards. The caller is responsible for the
/// lists: [`open`](super::open) checks their order and ids, but not that each arc has its reverse. Memory:
/// the table of the file's sections, twice, a MiB, and 4 bytes a MiB of file.
///
/// ```
/// use ripplet_generate::Transactions;
/// use ripplet_io::rg::{self, RgShape, RgWriter};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("transactions.rg");
/// let transactions = Transactions::new(10, 1e-5).prepare()?;
/// let ranges = transactions.shard_ranges(10_000)?;
/// let (vertices, shards) = (transactions.vertices(), ranges.len() as u32);
/// let mut file = RgWriter::create(&path, RgShape { vertices, shards, weighted: true })?;
/// for range in ranges {
///     file.append(&transactions.shard(range)?)?;
/// }
/// file.finish()?;
/// assert_eq!(rg::open(&path)?.arcs(), transactions.graph()?.arcs());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RgWriter {
    path: PathBuf,
    shape: RgShape,
    file: AtomicFile,
    header: Header,
    /// Section table so far.
    entries: Vec<[u64; 3]>,
    /// Vertices whose lists are written.
    written: VertexId,
    sums: Sums,
}

/// Checksums of a file that is written in order, but for its first bytes, which may be written last.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// First blocks of the file, up to the end of the block in which the section table ends.
    begin: Vec<u8>,
    held: usize,
    /// Bytes so far.
    at: u64,
    /// Checksums of the later blocks.
    sums: Vec<u32>,
    open: crc32fast::Hasher,
}

impl RgWriter {
    /// Creates a graph file, which will be `path`.
    ///
    /// # Errors
    /// If the operating system refuses, `path` is a device or a pipe, or the machine is big-endian.
    pub fn create(path: &Path, shape: RgShape) -> Result<RgWriter, WriteError> {
        RgWriter::begin(path, shape).map_err(|source| WriteError { path: path.into(), source })
    }

    fn begin(path: &Path, shape: RgShape) -> io::Result<RgWriter> {
        if cfg!(target_endian = "big") {
            return Err(io::Error::new(ErrorKind::Unsupported, BIG_ENDIAN));
        }
        let sections_a_shard = if shape.weighted { 3 } else { 2 };
        let sections = shape.shards.checked_mul(sections_a_shard).ok_or_else(|| {
            io::Error::new(ErrorKind::InvalidInput, "the shards are too many: make them larger")
        })?;
        let header = Header {
            direction: 0,
            data_end: 0,
            vertices: shape.vertices,
            id_kind: 0,
            first_id: 0,
            exponent: 0,
            shards: shape.shards,
            sections,
            weighted: u32::from(shape.weighted),
        };
        let head = header.table_end();
        let held = head.next_multiple_of(BLOCK as u64) as usize;
        let mut file = AtomicFile::create(path).map_err(|error| error.source)?;
        if file.is_in_order_only() {
            let sentence = "a graph's first bytes are written last, which a pipe or a device does \
                            not allow: name a file";
            return Err(io::Error::new(ErrorKind::InvalidInput, sentence));
        }
        let begin = memory::with_room(held).map_err(no_memory)?;
        let entries = memory::with_room(sections as usize).map_err(no_memory)?;
        let mut sums = Sums { begin, held, ..Sums::default() };
        let zeros = memory::zeros::<u8>(head as usize).map_err(no_memory)?;
        sums.put(&mut file, &zeros)?;
        Ok(RgWriter { path: path.into(), shape, file, header, entries, written: 0, sums })
    }

    /// Appends the next shard. After an error, further shards are rejected.
    ///
    /// # Errors
    /// If the shard is not the next one, or does not match the declared shape, or the operating system
    /// refuses.
    pub fn append(&mut self, shard: &Shard) -> Result<(), WriteError> {
        let appended = self.try_append(shard);
        appended.map_err(|source| {
            // The shard may be written in part.
            self.shape.shards = 0;
            self.error(source)
        })
    }

    fn try_append(&mut self, shard: &Shard) -> io::Result<()> {
        let (vertices, lists) = (shard.vertices(), shard.out());
        let number = self.entries.len() as u32 / self.sections_a_shard();
        let fits = vertices.start == self.written
            && vertices.end <= self.shape.vertices
            && number < self.shape.shards
            && lists.weights().is_some() == self.shape.weighted
            && shard.incoming().is_none();
        if !fits {
            let sentence =
                format!("the shard of vertices {vertices:?} is not the next of the graph");
            return Err(io::Error::new(ErrorKind::InvalidInput, sentence));
        }
        for (kind, values) in arrays(lists) {
            let bytes: &[u8] = bytemuck::cast_slice(values);
            let at = self.sums.begin_section(&mut self.file)?;
            self.sums.put(&mut self.file, bytes)?;
            self.entries.push([pair(kind, number), at, bytes.len() as u64]);
        }
        self.written = vertices.end;
        Ok(())
    }

    fn sections_a_shard(&self) -> u32 {
        if self.shape.weighted { 3 } else { 2 }
    }

    /// Writes header, section table and checksums, and makes the file appear.
    ///
    /// # Errors
    /// If shards are missing or the operating system refuses; no partial file remains.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.try_finish().map_err(|source| self.error(source))?;
        self.file.commit()
    }

    fn try_finish(&mut self) -> io::Result<()> {
        let missing = self.header.sections as usize - self.entries.len();
        if missing > 0 || self.written != self.shape.vertices {
            let (written, all) = (self.written, self.shape.vertices);
            let sentence = format!("the graph has lists of {written} vertices of {all} only");
            return Err(io::Error::new(ErrorKind::InvalidInput, sentence));
        }
        self.header.data_end = self.sums.at;
        let table: &[u8] = bytemuck::cast_slice(&self.entries);
        let mut head = memory::with_room(self.header.table_end() as usize).map_err(no_memory)?;
        head.extend_from_slice(&self.header.to_bytes());
        head.extend_from_slice(table);
        debug_assert_eq!(head.len() as u64, HEADER_BYTES + self.entries.len() as u64 * ENTRY_BYTES);
        self.sums.finish(&mut self.file, &head)?;
        self.file.rewind()?;
        self.file.write_all(&head)
    }

    fn error(&self, source: io::Error) -> WriteError {
        WriteError { path: self.path.clone(), source }
    }
}

/// Returns the arrays of a shard's lists, each with the kind of its section.
fn arrays(lists: Neighbors<'_>) -> impl Iterator<Item = (u32, &[u32])> {
    let weights = lists.weights().map(|weights| (OUT.weights, weights));
    [(OUT.offsets, lists.offsets()), (OUT.neighbors, lists.neighbors())].into_iter().chain(weights)
}

impl Sums {
    /// Writes zero bytes up to where a section may begin, and returns that place.
    pub(super) fn begin_section(&mut self, out: &mut impl Write) -> io::Result<u64> {
        let at = aligned(self.at);
        self.put(out, gap(self.at..at))?;
        Ok(at)
    }

    /// Writes bytes, and updates the checksums.
    pub(super) fn put(&mut self, out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        out.write_all(bytes)?;
        let (held, mut rest) = bytes.split_at(bytes.len().min(self.held - self.begin.len()));
        self.begin.extend_from_slice(held);
        self.at += held.len() as u64;
        while !rest.is_empty() {
            let room = BLOCK - (self.at % BLOCK as u64) as usize;
            let (now, later) = rest.split_at(rest.len().min(room));
            self.open.update(now);
            self.at += now.len() as u64;
            if now.len() == room {
                let sum = std::mem::take(&mut self.open).finalize();
                memory::push(&mut self.sums, sum).map_err(no_memory)?;
            }
            rest = later;
        }
        Ok(())
    }

    /// Writes all checksums, of a file whose bytes that were held begin with `head`.
    pub(super) fn finish(&mut self, out: &mut impl Write, head: &[u8]) -> io::Result<()> {
        let sums = self.all(head)?;
        let sums: &[u8] = bytemuck::cast_slice(&sums);
        out.write_all(sums)?;
        out.write_all(&crc32fast::hash(sums).to_le_bytes())
    }

    /// Returns all checksums, of a file whose bytes that were held begin with `head`.
    fn all(&mut self, head: &[u8]) -> io::Result<Vec<u32>> {
        self.begin[..head.len()].copy_from_slice(head);
        let first = self.begin.chunks(BLOCK).map(crc32fast::hash);
        let mut sums = memory::collected(first).map_err(no_memory)?;
        memory::extend(&mut sums, &self.sums).map_err(no_memory)?;
        if self.at > self.held as u64 && !self.at.is_multiple_of(BLOCK as u64) {
            let last = std::mem::take(&mut self.open).finalize();
            memory::push(&mut sums, last).map_err(no_memory)?;
        }
        Ok(sums)
    }
}

fn no_memory(refused: OutOfMemory) -> io::Error {
    io::Error::new(ErrorKind::OutOfMemory, refused)
}
