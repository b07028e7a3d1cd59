//! `.rg`, ripplet's binary graph format: the arrays of a [`Graph`] in their memory layout, with checksums.
//!
//! ```text
//! 0         header, 64 bytes, below
//! 64        section table, 24 bytes a section: kind u32, shard u32, begin u64, length u64
//!           sections, each from a multiple of 64, with zero bytes between them
//! data_end  checksums, u32 each: CRC-32 (IEEE) of every MiB from byte 0 to data_end
//! end - 4   CRC-32 of the checksums
//!
//! header    0 magic [u8; 8]  8 version u32      12 direction u32   16 data_end u64
//!           24 vertices u32  28 kind of ids u32 32 first id u64    40 weight exponent i32
//!           44 shards u32    48 sections u32    52 weighted u32    56 zero u64
//! ```
//!
//! Numbers are little-endian. Direction is 0 (undirected) or 1 (directed). The ids are 0 consecutive
//! (from `first id`), 1 unsigned, 2 signed, or 3 names, and have none, one, one or two sections. The
//! sections' order is fixed: ids; then for each shard the offsets, neighbours and weights of its
//! `out` lists, and on a directed graph of its `incoming` lists. A shard begins where the previous one ends,
//! and has one vertex fewer than offsets.
//!
//! [`open`] memory-maps the file and copies nothing: the graph's arrays are the file's pages. Each byte is
//! under a checksum, which `open` verifies in parallel, so a damaged file is an error. Checksums do not
//! protect against crafted files; the checks of [`Graph::from_shards`] do, in the same time: offsets,
//! neighbours and the order of each list. A crafted file may contain an inconsistent graph (an arc without
//! its reverse), but none that causes an endless loop.
//!
//! Memory: the pages of the file, which the system may evict. As with every mapped file, overwriting or
//! truncating it *in place* while it is open breaks its reader. [`write()`] and [`RgWriter`] never do that:
//! they replace the file, and open graphs keep the old one.

mod part;
mod ranked;
mod writer;

pub use part::{Part, open_part};
pub use ranked::{WriteRankedError, write_ranked};
pub use writer::{RgShape, RgWriter};

use crate::map::map;
use crate::output::whole_file;
use crate::sections::{Sections, aligned, pair, sealed, verify, word};
use crate::{Place, ReadError, WriteError};
use ripplet_graph::{
    Adjacency, Buffer, Direction, Graph, InvalidGraph, Names, Neighbors, Shard, VertexIds,
    WeightScale,
};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The first byte is not valid text, so that the file is not mistaken for a text.
const MAGIC: [u8; 8] = *b"\x89ripplet";
/// Version of the layout above; a reader only reads its own.
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 64;
const ENTRY_BYTES: u64 = 24;
const IDS: u32 = 0;
const NAME_BYTES: u32 = 1;
const OUT: Lists = Lists { offsets: 2, neighbors: 3, weights: 4 };
const INCOMING: Lists = Lists { offsets: 5, neighbors: 6, weights: 7 };

/// Kinds of the sections of one direction's lists.
#[derive(Clone, Copy)]
struct Lists {
    offsets: u32,
    neighbors: u32,
    weights: u32,
}

/// Header without magic, version and the trailing zero.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Header {
    direction: u32,
    data_end: u64,
    vertices: u32,
    id_kind: u32,
    first_id: u64,
    exponent: i32,
    shards: u32,
    sections: u32,
    weighted: u32,
}

/// Writes a graph atomically.
///
/// Streams: needs 4 bytes of memory a MiB of file.
///
/// # Errors
/// If the operating system refuses, or the machine is big-endian; no partial file remains.
pub fn write(graph: &Graph, path: &Path) -> Result<(), WriteError> {
    whole_file(path, |out| write_to(graph, out))
}

/// Opens a graph, memory-mapped.
///
/// Cost: one pass for the checksums and one for the graph's own checks, on rayon's current pool.
///
/// # Errors
/// If the file cannot be read, is not an `.rg` of this version, or is damaged in any byte.
///
/// # Examples
/// ```
/// use ripplet_graph::GraphBuilder;
/// use ripplet_io::{edge_table, rg};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.rg");
/// let graph = GraphBuilder::new().build(edge_table([("ann", "bob"), ("bob", "cid")])?)?;
/// rg::write(&graph, &path)?;
/// assert_eq!(rg::open(&path)?.edges(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(path: &Path) -> Result<Graph, ReadError> {
    let map = map(path)?;
    from_bytes(Arc::new(map), path)
}

/// Opens a graph that lies in `owner`'s bytes; `path` is for errors.
///
/// # Errors
/// See [`open`].
pub fn from_bytes(
    owner: Arc<dyn AsRef<[u8]> + Send + Sync>,
    path: &Path,
) -> Result<Graph, ReadError> {
    if cfg!(target_endian = "big") {
        return Err(ReadError::content(path, Place::File, BIG_ENDIAN));
    }
    let bytes = (*owner).as_ref();
    let header = Header::read(bytes, path)?;
    verify(bytes, header.data_end as usize, path, 0)?;
    Opener { path, owner: &owner, header, next: 0, end: header.table_end() }.graph()
}

const BIG_ENDIAN: &str = ".rg files need a little-endian machine: use a text format here";

fn cut(path: &Path, length: u64) -> ReadError {
    let sentence =
        format!("an .rg has a header of {HEADER_BYTES} bytes, but this file has only {length}");
    ReadError::content(path, Place::Byte(length), sentence)
}

impl Header {
    /// The header of a graph in this many shards, with sections of these lengths.
    fn of(graph: &Graph, shards: u32, lengths: impl ExactSizeIterator<Item = u64>) -> Header {
        let (id_kind, first_id) = match graph.ids() {
            VertexIds::Consecutive { first, .. } => (0, *first),
            VertexIds::Unsigned(_) => (1, 0),
            VertexIds::Signed(_) => (2, 0),
            VertexIds::Names(_) => (3, 0),
        };
        let mut header = Header {
            direction: u32::from(graph.direction() == Direction::Directed),
            data_end: 0,
            vertices: graph.vertices(),
            id_kind,
            first_id,
            exponent: graph.weight_scale().code(),
            shards,
            sections: lengths.len() as u32,
            weighted: u32::from(graph.is_weighted()),
        };
        header.data_end = lengths.fold(header.table_end(), |end, length| aligned(end) + length);
        header
    }

    fn to_bytes(self) -> [u8; HEADER_BYTES as usize] {
        let mut words = [0u64; 8];
        words[0] = u64::from_le_bytes(MAGIC);
        words[1] = pair(VERSION, self.direction);
        words[2] = self.data_end;
        words[3] = pair(self.vertices, self.id_kind);
        words[4] = self.first_id;
        words[5] = pair(self.exponent as u32, self.shards);
        words[6] = pair(self.sections, self.weighted);
        bytemuck::cast(words)
    }

    /// Parses the header, as far as it is needed to find the checksums, which then verify the rest.
    fn read(bytes: &[u8], path: &Path) -> Result<Header, ReadError> {
        let wrong = |at, sentence: String| ReadError::content(path, Place::Byte(at), sentence);
        let (length, Some(head)) = (bytes.len() as u64, bytes.get(..HEADER_BYTES as usize)) else {
            return Err(cut(path, bytes.len() as u64));
        };
        let word = |index| word(head, index);
        let (low, high) = (|index| word(index) as u32, |index| (word(index) >> 32) as u32);
        if head[..8] != MAGIC {
            return Err(wrong(0, "this is not an .rg file: its first bytes are others".into()));
        }
        if low(1) != VERSION {
            let sentence = format!(
                "the file has version {}, this program reads version {VERSION}: convert the \
                 original again",
                low(1)
            );
            return Err(wrong(8, sentence));
        }
        let header = Header {
            direction: high(1),
            data_end: word(2),
            vertices: low(3),
            id_kind: high(3),
            first_id: word(4),
            exponent: low(5) as i32,
            shards: high(5),
            sections: low(6),
            weighted: high(6),
        };
        match sealed(header.data_end) {
            Some(expected) if expected == length => {}
            Some(expected) => {
                let what = if length < expected { "was cut short" } else { "has a tail" };
                let sentence = format!(
                    "the header speaks of {expected} bytes, but the file has {length}: it {what}"
                );
                return Err(wrong(length.min(expected), sentence));
            }
            None => return Err(wrong(16, "the header speaks of more bytes than can be".into())),
        }
        let table_fits = header.data_end >= header.table_end();
        let known = word(7) == 0
            && header.direction <= 1
            && header.weighted <= 1
            && header.id_kind <= 3
            && WeightScale::from_code(header.exponent).is_some()
            && (header.id_kind == 0 || header.first_id == 0);
        if !table_fits || !known || u64::from(header.sections) != header.expected_sections() {
            return Err(wrong(12, "the header is damaged: its values do not fit together".into()));
        }
        Ok(header)
    }

    /// Returns the end of the section table. Cannot overflow: a table has at most 2³² entries.
    fn table_end(&self) -> u64 {
        HEADER_BYTES + u64::from(self.sections) * ENTRY_BYTES
    }

    fn expected_sections(&self) -> u64 {
        let ids = [0, 1, 1, 2][self.id_kind as usize];
        let lists = u64::from(self.direction + 1) * u64::from(2 + self.weighted);
        ids + u64::from(self.shards) * lists
    }
}

/// Cursor over the sections of a verified file.
#[derive(Clone)]
struct Opener<'a> {
    path: &'a Path,
    owner: &'a Arc<dyn AsRef<[u8]> + Send + Sync>,
    header: Header,
    /// The next section.
    next: u64,
    /// End of the previous section.
    end: u64,
}

impl Opener<'_> {
    fn graph(mut self) -> Result<Graph, ReadError> {
        let (ids, shards) = (self.ids()?, self.shards()?);
        self.whole(ids, shards, Graph::from_shards)
    }

    /// Returns the graph that `checked` makes of ids and shards.
    fn whole(
        &self,
        ids: VertexIds,
        shards: Vec<Shard>,
        checked: impl FnOnce(
            VertexIds,
            Direction,
            WeightScale,
            Vec<Shard>,
        ) -> Result<Graph, InvalidGraph>,
    ) -> Result<Graph, ReadError> {
        let header = self.header;
        if ids.len() as u64 != u64::from(header.vertices) {
            let sentence =
                format!("the header has {} vertices, the ids are {}", header.vertices, ids.len());
            return Err(self.wrong(24, &sentence));
        }
        let direction = [Direction::Undirected, Direction::Directed][header.direction as usize];
        let scale = WeightScale::from_code(header.exponent)
            .expect("the header was read where its exponent is one");
        checked(ids, direction, scale, shards).map_err(|invalid| {
            let sentence = format!("the file holds no graph: {invalid}; convert it again");
            ReadError::content(self.path, Place::File, sentence)
        })
    }

    /// Returns the shards, of which nothing is read; they are the last sections.
    fn shards(&mut self) -> Result<Vec<Shard>, ReadError> {
        let header = self.header;
        // Capacity is not reserved by the header's word: only the table's size is verified so far.
        let (mut shards, mut first) = (Vec::new(), 0u32);
        for shard in 0..header.shards {
            let (out, vertices) = self.lists(OUT, shard)?;
            let incoming = match header.direction {
                0 => None,
                _ => Some(self.lists(INCOMING, shard)?.0),
            };
            let Some(end) = first.checked_add(vertices) else {
                return Err(self.wrong(self.end, "there are more offsets than vertices can be"));
            };
            shards.push(Shard::new(first..end, out, incoming));
            first = end;
        }
        if self.end != header.data_end {
            return Err(self.wrong(self.end, "there are bytes that belong to no section"));
        }
        Ok(shards)
    }

    /// Returns the places of the sections of the ids, of which nothing is read.
    fn id_sections(mut self) -> Result<Vec<Range<usize>>, ReadError> {
        let kinds: &[u32] = match self.header.id_kind {
            0 => &[],
            1 | 2 => &[IDS],
            _ => &[IDS, NAME_BYTES],
        };
        let place = |&kind: &u32| {
            let begin = aligned(self.end) as usize;
            self.section::<u8>(kind, 0).map(|_| begin..self.end as usize)
        };
        kinds.iter().map(place).collect()
    }

    /// Returns numbers from 0 in place of the ids, of which nothing is read.
    fn numbers(&mut self) -> Result<VertexIds, ReadError> {
        let count = self.header.vertices;
        let found = match self.header.id_kind {
            0 => u64::from(count),
            1 | 2 => self.section::<u64>(IDS, 0)?.len() as u64,
            _ => {
                let offsets = self.section::<u64>(IDS, 0)?.len() as u64;
                self.section::<u8>(NAME_BYTES, 0)?;
                offsets.saturating_sub(1)
            }
        };
        if found != u64::from(count) {
            let sentence = format!("the header has {count} vertices, the ids are {found}");
            return Err(self.wrong(24, &sentence));
        }
        Ok(VertexIds::Consecutive { first: 0, count })
    }

    fn ids(&mut self) -> Result<VertexIds, ReadError> {
        Ok(match self.header.id_kind {
            0 => {
                VertexIds::Consecutive { first: self.header.first_id, count: self.header.vertices }
            }
            1 => VertexIds::Unsigned(self.section(IDS, 0)?),
            2 => VertexIds::Signed(self.section(IDS, 0)?),
            _ => {
                let (offsets, bytes) = (self.section(IDS, 0)?, self.section(NAME_BYTES, 0)?);
                let names = Names::from_parts(offsets, bytes);
                VertexIds::Names(names.ok_or_else(|| self.wrong(self.end, "the names are none"))?)
            }
        })
    }

    /// Returns one direction's lists of a shard, and their number of vertices.
    fn lists(&mut self, kinds: Lists, shard: u32) -> Result<(Adjacency, u32), ReadError> {
        let offsets: Buffer<u32> = self.section(kinds.offsets, shard)?;
        let neighbors = self.section(kinds.neighbors, shard)?;
        let weights = match self.header.weighted {
            0 => None,
            _ => Some(self.section(kinds.weights, shard)?),
        };
        let vertices = offsets.len().checked_sub(1).and_then(|n| u32::try_from(n).ok());
        let Some(vertices) = vertices else {
            return Err(self.wrong(self.end, "a shard has one offset more than vertices"));
        };
        Ok((Adjacency::new(offsets, neighbors, weights), vertices))
    }

    /// Returns the next section, which must be this one.
    fn section<T: bytemuck::Pod>(&mut self, kind: u32, shard: u32) -> Result<Buffer<T>, ReadError> {
        let at = HEADER_BYTES + self.next * ENTRY_BYTES;
        let bytes = (**self.owner).as_ref();
        // The header check rejected a wrong number of sections, and a table that does not fit.
        let entry: [u64; 3] = bytemuck::pod_read_unaligned(&bytes[at as usize..][..24]);
        let [what, begin, length] = entry;
        let end = begin.checked_add(length).filter(|&end| end <= self.header.data_end);
        let (true, true, Some(end)) = (what == pair(kind, shard), begin == aligned(self.end), end)
        else {
            return Err(self.wrong(at, "this section is not where, or not what, it must be"));
        };
        (self.next, self.end) = (self.next + 1, end);
        let range: Range<usize> = begin as usize..end as usize;
        Buffer::shared(self.owner.clone(), range)
            .ok_or_else(|| self.wrong(at, "this section holds a part of a value"))
    }

    fn wrong(&self, at: u64, sentence: &str) -> ReadError {
        ReadError::content(self.path, Place::Byte(at), sentence)
    }
}

/// Writes the file's bytes in order.
fn write_to(graph: &Graph, out: &mut (dyn Write + Send)) -> io::Result<()> {
    if cfg!(target_endian = "big") {
        return Err(io::Error::new(ErrorKind::Unsupported, BIG_ENDIAN));
    }
    let sections = sections(graph);
    let lengths = sections.iter().map(|&(kind, shard, bytes)| (kind, shard, bytes.len() as u64));
    let head = head(graph, graph.shards().len() as u32, &lengths.collect::<Vec<_>>());
    let mut all = Sections::default();
    all.push(&head);
    sections.iter().for_each(|(_, _, bytes)| all.push(bytes));
    all.write(out)
}

/// Returns the header of a graph in this many shards, and the table of its sections: kind, shard, length.
fn head(graph: &Graph, shards: u32, sections: &[(u32, u32, u64)]) -> Vec<u8> {
    let header = Header::of(graph, shards, sections.iter().map(|&(.., length)| length));
    let mut head = header.to_bytes().to_vec();
    let mut end = header.table_end();
    for &(kind, shard, length) in sections {
        let begin = aligned(end);
        head.extend_from_slice(bytemuck::bytes_of(&[pair(kind, shard), begin, length]));
        end = begin + length;
    }
    head
}

/// Returns the sections of ids: kind, shard, bytes.
fn id_sections(ids: &VertexIds) -> Vec<(u32, u32, &[u8])> {
    match ids {
        VertexIds::Consecutive { .. } => vec![],
        VertexIds::Unsigned(ids) => vec![(IDS, 0, bytemuck::cast_slice(ids))],
        VertexIds::Signed(ids) => vec![(IDS, 0, bytemuck::cast_slice(ids))],
        VertexIds::Names(names) => {
            let (offsets, bytes) = names.parts();
            vec![(IDS, 0, bytemuck::cast_slice(offsets)), (NAME_BYTES, 0, bytes)]
        }
    }
}

/// Returns the sections in the file's order: kind, shard, bytes.
fn sections(graph: &Graph) -> Vec<(u32, u32, &[u8])> {
    fn push<'a>(to: &mut Vec<(u32, u32, &'a [u8])>, kinds: Lists, shard: u32, list: Neighbors<'a>) {
        to.push((kinds.offsets, shard, bytemuck::cast_slice(list.offsets())));
        to.push((kinds.neighbors, shard, bytemuck::cast_slice(list.neighbors())));
        if let Some(weights) = list.weights() {
            to.push((kinds.weights, shard, bytemuck::cast_slice(weights)));
        }
    }
    let mut sections = id_sections(graph.ids());
    for (index, shard) in graph.shards().iter().enumerate() {
        push(&mut sections, OUT, index as u32, shard.out());
        if let Some(incoming) = shard.incoming() {
            push(&mut sections, INCOMING, index as u32, incoming);
        }
    }
    sections
}
