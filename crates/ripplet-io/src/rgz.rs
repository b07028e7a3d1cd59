//! `.rgz`, ripplet's binary graph format with compressed lists: the arrays of a [`CompressedGraph`], shard by
//! shard.
//!
//! ```text
//! 0         header, 64 bytes: magic [u8; 8], version u32, zeros
//! 64        parts, each from a multiple of 64, with zero bytes between them: a part a shard, and the ids
//!           index: for each part begin u64, length u64
//! end - 64  footer, below
//!
//! part      0 header, 128 bytes, below; of the ids, zeros but for data_end and sections
//!           128 sections, each from a multiple of 64: of the out lists begins and words, on a directed
//!           graph of the incoming lists, too; or of the ids
//!           data_end checksums of the part, as an .rg has them
//!
//! header    0 data_end u64  8 vertices u64  16 out lists, 40 bytes  56 incoming lists, 40 bytes
//! of a part 96 zeros
//!
//! lists     0 arcs u64  8 words u64  16 widths [u8; 4]  20 widths of weights [u8; 4]
//!           24 runs u32  28 repeats u32  32 weighted u32  36 zero u32
//!
//! footer    0 begin of the index u64  8 shards u64  16 vertices u32  20 kind of ids u32
//!           24 first id u64  32 weight exponent i32  36 direction u32  40 bytes of names u64
//!           48 CRC-32 of header and index u32  52 CRC-32 of bytes 0 to 52 of the footer u32
//!           56 magic [u8; 8]
//! ```
//!
//! Numbers are little-endian; ids, direction and weights are as in [`crate::rg`], lists as in
//! [`ripplet_graph::compressed`].
//!
//! **Reading** memory-maps the file and copies nothing. [`open`] verifies the checksums of every part,
//! reports which shard is damaged, and validates every list ([`CompressedGraph::from_shards`]). A damaged
//! file is an error, and a crafted one at most an inconsistent graph.
//!
//! **Writing** streams: a shard that is written is no longer needed. The file appears atomically.

use crate::map::map;
use crate::parts::{
    Format, Index, Owner, PART_HEADER_BYTES, Part, PartsWriter, Words, damaged_part, data_end,
    out_of_memory,
};
use crate::sections::{pair, word};
use crate::{Place, ReadError, WriteError};
use ripplet_graph::compressed::{Code, CompressedAdjacency, CompressedGraph, CompressedShard};
use ripplet_graph::{Direction, Graph, Names, Shard, VertexId, VertexIds, WeightScale, memory};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const FORMAT: Format =
    Format { name: "an .rgz", parts: "shards", magic: *b"\x89rpgraph", version: 2, entry: 2 };

/// Compresses a graph and writes it atomically; one compressed shard at a time is in memory.
///
/// # Errors
/// See [`RgzWriter`].
pub fn write(graph: &Graph, path: &Path) -> Result<(), WriteError> {
    let mut writer = RgzWriter::create(path)?;
    graph.shards().iter().try_for_each(|shard| writer.compress(shard))?;
    writer.finish(graph.ids(), graph.direction(), graph.weight_scale())
}

/// Opens a graph, memory-mapped.
///
/// Cost: one pass for the checksums and one that decodes all lists, on rayon's current pool.
///
/// # Errors
/// If the file cannot be read, is no `.rgz` of this version, or is damaged in any byte.
///
/// # Examples
/// ```
/// use ripplet_graph::GraphBuilder;
/// use ripplet_io::{edge_table, rgz};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("graph.rgz");
/// let graph = GraphBuilder::new().build(edge_table([("ann", "bob"), ("bob", "cid")])?)?;
/// rgz::write(&graph, &path)?;
/// assert_eq!(rgz::open(&path)?.vertices(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(path: &Path) -> Result<CompressedGraph, ReadError> {
    let map = map(path)?;
    from_bytes(Arc::new(map), path)
}

/// Opens a graph that lies in `owner`'s bytes; `path` is for errors.
///
/// # Errors
/// See [`open`].
pub fn from_bytes(owner: Owner, path: &Path) -> Result<CompressedGraph, ReadError> {
    // The ids are one more part.
    let footer = |words| {
        let footer = Footer::read(words)?;
        Some((footer, footer.shards.checked_add(1)?))
    };
    let Index { footer, parts, .. } = FORMAT.index((*owner).as_ref(), path, footer)?;
    let file = Reader { path, owner: &owner, footer, parts };
    let (mut shards, mut first) = (Vec::new(), 0);
    for shard in 0..footer.shards as usize {
        let read = file.shard(shard, first)?;
        first = read.vertices().end;
        memory::push(&mut shards, read).map_err(|refused| out_of_memory(path, refused))?;
    }
    let direction = [Direction::Undirected, Direction::Directed][footer.direction as usize];
    let scale = WeightScale::from_code(footer.exponent)
        .expect("the footer was read where its exponent is one");
    CompressedGraph::from_shards(file.ids()?, direction, scale, shards).map_err(|invalid| {
        let sentence = format!("the file holds no graph: {invalid}; make it again");
        ReadError::content(path, Place::File, sentence)
    })
}

/// Writer of a `.rgz` file, which appears atomically when it is finished.
#[derive(Debug)]
pub struct RgzWriter {
    file: PartsWriter,
    parts: Vec<[u64; 2]>,
}

/// Footer: properties of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Footer {
    index: u64,
    shards: u64,
    vertices: u32,
    id_kind: u32,
    first_id: u64,
    exponent: i32,
    direction: u32,
    name_bytes: u64,
}

/// Header of a part's lists in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lists([u64; 5]);

impl Footer {
    fn words(self) -> Words {
        let (ids, scale) =
            (pair(self.vertices, self.id_kind), pair(self.exponent as u32, self.direction));
        [self.index, self.shards, ids, self.first_id, scale, self.name_bytes]
    }

    fn read([index, shards, ids, first_id, scale, name_bytes]: Words) -> Option<Footer> {
        let (low, high) = (|word: u64| word as u32, |word: u64| (word >> 32) as u32);
        let footer = Footer {
            index,
            shards,
            vertices: low(ids),
            id_kind: high(ids),
            first_id,
            exponent: low(scale) as i32,
            direction: high(scale),
            name_bytes,
        };
        let known = footer.id_kind <= 3
            && footer.direction <= 1
            && (footer.id_kind == 0 || footer.first_id == 0)
            && (footer.id_kind == 3 || footer.name_bytes == 0)
            && WeightScale::from_code(footer.exponent).is_some();
        known.then_some(footer)
    }
}

impl Lists {
    fn of(lists: &CompressedAdjacency) -> Lists {
        let Code { widths, runs, repeats, weight_widths } = lists.code();
        let widths = [widths, weight_widths.unwrap_or_default()].map(u32::from_le_bytes);
        Lists([
            lists.arcs(),
            lists.words().len() as u64,
            pair(widths[0], widths[1]),
            pair(runs.into(), repeats.into()),
            u64::from(weight_widths.is_some()),
        ])
    }

    /// Returns the code, or `None` if no lists can have it.
    fn code(self) -> Option<Code> {
        let Lists([_, _, widths, flags, weighted]) = self;
        let (low, high) = (flags as u32, (flags >> 32) as u32);
        let of_weights = ((widths >> 32) as u32).to_le_bytes();
        let known =
            low <= 1 && high <= 1 && (weighted == 1 || (weighted == 0 && of_weights == [0; 4]));
        known.then_some(Code {
            widths: (widths as u32).to_le_bytes(),
            runs: low == 1,
            repeats: high == 1,
            weight_widths: (weighted == 1).then_some(of_weights),
        })
    }
}

/// File with a valid index.
struct Reader<'a> {
    path: &'a Path,
    owner: &'a Owner,
    footer: Footer,
    parts: Vec<Range<u64>>,
}

impl Reader<'_> {
    fn wrong(&self, what: &str, at: u64, why: &str) -> ReadError {
        damaged_part(self.path, what, at, why)
    }

    /// Verifies a part's checksums; `what` describes it in an error.
    fn part(&self, part: usize, what: &str) -> Result<(Part<'_>, &[u8]), ReadError> {
        Part::open(self.owner, self.path, self.parts[part].clone(), what)
    }

    fn shard(&self, shard: usize, first: VertexId) -> Result<CompressedShard, ReadError> {
        let what = format!("shard {shard}");
        let (mut part, head) = self.part(shard, &what)?;
        let begin = self.parts[shard].start;
        let wrong = |why: &str| self.wrong(&what, begin, why);
        let lists = |from: usize| Lists([0, 1, 2, 3, 4].map(|at| word(head, from + at)));
        let last = u32::try_from(word(head, 1)).ok().and_then(|count| first.checked_add(count));
        let (Some(last), true) = (last, (12..16).all(|at| word(head, at) == 0)) else {
            return Err(wrong("its header holds what cannot be"));
        };
        let mut take = |Lists([arcs, words, ..]): Lists, code: Code| {
            let blocks = u64::from(last - first).div_ceil(32);
            let (begins, words) = (part.section(blocks + 1)?, part.section(words)?);
            CompressedAdjacency::from_parts(first..last, arcs, code, begins, words).ok()
        };
        let misfit = || wrong("its arrays do not fit its header");
        let out = lists(2).code().and_then(|code| take(lists(2), code)).ok_or_else(misfit)?;
        let incoming = match self.footer.direction {
            0 if lists(7) == Lists::default() => None,
            0 => return Err(misfit()),
            _ => Some(lists(7).code().and_then(|code| take(lists(7), code)).ok_or_else(misfit)?),
        };
        if !part.is_taken() {
            return Err(wrong("it has bytes that belong to no list"));
        }
        Ok(CompressedShard::new(out, incoming))
    }

    fn ids(&self) -> Result<VertexIds, ReadError> {
        let shards = self.footer.shards as usize;
        let (mut part, head) = self.part(shards, "the part of the ids")?;
        let Footer { vertices, id_kind, first_id, name_bytes, .. } = self.footer;
        let count = u64::from(vertices);
        let ids = match id_kind {
            0 => Some(VertexIds::Consecutive { first: first_id, count: vertices }),
            1 => part.section(count).map(VertexIds::Unsigned),
            2 => part.section(count).map(VertexIds::Signed),
            _ => part
                .section(count + 1)
                .zip(part.section(name_bytes))
                .and_then(|(offsets, bytes)| Names::from_parts(offsets, bytes))
                .map(VertexIds::Names),
        };
        let rest = (1..16).all(|at| word(head, at) == 0) && part.is_taken();
        let misfit = || {
            let why = "it does not fit the footer";
            self.wrong("the part of the ids", self.parts[shards].start, why)
        };
        ids.filter(|_| rest).ok_or_else(misfit)
    }
}

impl RgzWriter {
    /// Creates a file that will be `path`.
    ///
    /// # Errors
    /// If the folder does not exist or is not writable, or `path` is standard output.
    pub fn create(path: &Path) -> Result<RgzWriter, WriteError> {
        Ok(RgzWriter { file: PartsWriter::create(&FORMAT, path)?, parts: Vec::new() })
    }

    /// Appends the next shard of the graph. Opening the file validates the graph.
    ///
    /// # Errors
    /// If the operating system refuses. The file cannot be finished then.
    pub fn append(&mut self, shard: &CompressedShard) -> Result<(), WriteError> {
        let mut head = [0u64; PART_HEADER_BYTES as usize / 8];
        head[1] = shard.vertices().len() as u64;
        head[2..7].copy_from_slice(&Lists::of(shard.out()).0);
        if let Some(incoming) = shard.incoming() {
            head[7..12].copy_from_slice(&Lists::of(incoming).0);
        }
        let mut sections: Vec<&[u8]> = Vec::new();
        for lists in std::iter::once(shard.out()).chain(shard.incoming()) {
            sections.push(bytemuck::cast_slice(lists.begins()));
            sections.push(bytemuck::cast_slice(lists.words()));
        }
        self.append_part(head, &sections)
    }

    /// Compresses the next shard of the graph and appends it; the compressed shard is in memory meanwhile.
    ///
    /// # Errors
    /// See [`RgzWriter::append`]; also if memory allocation fails.
    pub fn compress(&mut self, shard: &Shard) -> Result<(), WriteError> {
        let refused = |refused| io::Error::new(ErrorKind::OutOfMemory, refused);
        let shard = CompressedShard::of(shard).map_err(refused);
        self.append(&shard.map_err(|source| self.file.error(source))?)
    }

    /// Completes the file, which then appears: a graph of the appended shards, in their order.
    ///
    /// # Errors
    /// If appending failed, or the operating system refuses; no partial file remains.
    pub fn finish(
        mut self,
        ids: &VertexIds,
        direction: Direction,
        scale: WeightScale,
    ) -> Result<(), WriteError> {
        let mut footer = Footer {
            shards: self.parts.len() as u64,
            vertices: ids.len() as u32,
            exponent: scale.code(),
            direction: u32::from(direction == Direction::Directed),
            ..Footer::default()
        };
        let mut sections: Vec<&[u8]> = Vec::new();
        match ids {
            VertexIds::Consecutive { first, .. } => footer.first_id = *first,
            VertexIds::Unsigned(ids) => sections.push(bytemuck::cast_slice(ids)),
            VertexIds::Signed(ids) => sections.push(bytemuck::cast_slice(ids)),
            VertexIds::Names(names) => {
                let (offsets, bytes) = names.parts();
                sections.extend([bytemuck::cast_slice(offsets), bytes]);
                footer.name_bytes = bytes.len() as u64;
            }
        }
        footer.id_kind = match ids {
            VertexIds::Consecutive { .. } => 0,
            VertexIds::Unsigned(_) => 1,
            VertexIds::Signed(_) => 2,
            VertexIds::Names(_) => 3,
        };
        self.append_part([0; 16], &sections)?;
        self.file.finish(bytemuck::cast_slice(&self.parts), footer.words()).map(drop)
    }

    fn append_part(&mut self, head: [u64; 16], sections: &[&[u8]]) -> Result<(), WriteError> {
        let appended = self.file.ready().and_then(|()| self.write_part(head, sections));
        self.file.note(appended)
    }

    fn write_part(&mut self, mut head: [u64; 16], sections: &[&[u8]]) -> io::Result<()> {
        head[0] = data_end(sections);
        let part = self.file.part(bytemuck::cast_ref(&head), sections)?;
        let refused = |refused| io::Error::new(ErrorKind::OutOfMemory, refused);
        memory::push(&mut self.parts, part).map_err(refused)
    }
}
