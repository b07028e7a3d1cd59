//! `.swarm`, ripplet's binary batch format: the arrays of many small graphs in their memory layout, part by
//! part.
//!
//! ```text
//! 0         header, 64 bytes: magic [u8; 8], version u32, zeros
//! 64        parts, each from a multiple of 64, with zero bytes between them
//!           index: for each part begin, length, graphs, vertices, arcs, u64 each
//! end - 64  footer, below
//!
//! part      0 header, 128 bytes, below
//!           128 sections, each from a multiple of 64
//!           data_end checksums of the part, as an .rg has them
//!
//! header    0 direction u32  4 weighted u32  8 graphs u64  16 vertices u64  24 arcs u64
//! of a part 32 incoming arcs u64  40 kind of graph ids u32  44 kind of vertex ids u32
//!           48 first graph id u64  56 first vertex id u64  64 bytes of graph names u64
//!           72 bytes of vertex names u64  80 data_end u64  88 zeros
//!
//! footer    0 begin of the index u64  8 parts u64  16 graphs u64  24 vertices u64  32 arcs u64
//!           40 direction u32  44 weighted u32  48 CRC-32 of header and index u32
//!           52 CRC-32 of bytes 0 to 52 of the footer u32  56 magic [u8; 8]
//! ```
//!
//! Numbers are little-endian; magic, direction, weights and ids are as in [`crate::rg`]. The sections'
//! order is fixed: graph ids, where each graph's vertices begin, vertex ids, the exponents of weights;
//! then of the `out` lists, and on directed graphs of the `incoming` lists, where each graph's arcs
//! begin, offsets, neighbours and weights. What a part has not has no section. Graph ids are 0
//! consecutive (from `first graph id`), 1 unsigned, 2 signed or 3 names; vertex ids are 0 consecutive
//! in each graph, 1 consecutive over the part (both from `first vertex id`), 2 unsigned, 3 signed or 4
//! names. Names have two sections: where each begins, and their bytes.
//!
//! A part is a [`GraphBatch`] that needs no other. All have the direction of the footer and weights or
//! none as it says, and the graphs' ids ascend over the whole file.
//!
//! **Reading** memory-maps the file and copies nothing. [`SwarmFile::read`] verifies the checksums of a part
//! and validates it as [`GraphBatch::new`] does, in parallel. So a damaged file is an error, and a crafted
//! one cannot cause an endless loop. Memory: the pages of the file, which the system may evict. Overwriting
//! or truncating the file *in place* while it is open breaks its reader; [`SwarmWriter`] never does that.
//!
//! **Writing** streams: only the offsets of graphs and names are copied, which is 16 bytes per graph (24
//! directed), and 8 a name, of the part that is written.

use crate::map::map;
use crate::parts::{
    Format, Index, Owner, PART_HEADER_BYTES, PartsWriter, Words, damaged, data_end, out_of_memory,
};
use crate::sections::{aligned, pair, sealed, verify, word};
use crate::{Place, ReadError, WriteError};
use bytemuck::{Pod, Zeroable};
use ripplet_graph::batch::{
    BatchAdjacency, BatchIds, BatchSlice, FlatLists, GraphBatch, InvalidBatch, Members,
};
use ripplet_graph::{Buffer, Direction, ExternalId, Names, OutOfMemory, VertexIds, memory};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FORMAT: Format =
    Format { name: "a .swarm", parts: "graphs", magic: *b"\x89rpswarm", version: 1, entry: 5 };
/// Target size of a part in arcs and vertices: at least 64 MiB, so that a part occupies many threads.
const PART_SIZE: u64 = 1 << 24;

/// Open `.swarm` file, whose parts are read one by one.
///
/// # Examples
/// ```
/// use ripplet_io::Format;
/// use ripplet_io::batch::{BatchOptions, parse_table};
/// use ripplet_io::swarm_file::{SwarmFile, SwarmWriter};
///
/// let table = b"graph,source,target\ncaffeine,1,2\ncaffeine,2,3\nwater,1,2\n";
/// let batch = parse_table(table.to_vec(), Format::Csv, &BatchOptions::default())?;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("molecules.swarm");
/// let mut writer = SwarmWriter::create(&path)?;
/// writer.append(batch.all())?;
/// writer.finish()?;
///
/// let file = SwarmFile::open(&path)?;
/// assert_eq!((file.graphs(), file.vertices()), (2, 5));
/// assert_eq!(file.read(0)?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SwarmFile {
    path: PathBuf,
    owner: Owner,
    footer: Footer,
    parts: Vec<Entry>,
}

/// Writer of a `.swarm` file, which appears atomically when it is finished.
#[derive(Debug)]
pub struct SwarmWriter {
    file: PartsWriter,
    footer: Footer,
    parts: Vec<Entry>,
    part_size: u64,
    last: LastId,
    /// Whether graphs were appended, so that direction and weights are known.
    begun: bool,
}

/// Id of the last graph, which the next one's must exceed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum LastId {
    /// There is no graph yet.
    #[default]
    None,
    Unsigned(u64),
    Signed(i64),
    Name(String),
}

/// Index entry of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Entry {
    begin: u64,
    length: u64,
    graphs: u64,
    vertices: u64,
    arcs: u64,
}

/// Totals of all parts, in the footer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Footer {
    index: u64,
    parts: u64,
    graphs: u64,
    vertices: u64,
    arcs: u64,
    direction: u32,
    weighted: u32,
}

/// The header of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PartHeader {
    direction: u32,
    weighted: u32,
    graphs: u64,
    vertices: u64,
    arcs: u64,
    incoming: u64,
    graph_kind: u32,
    vertex_kind: u32,
    first_graph: u64,
    first_vertex: u64,
    graph_name_bytes: u64,
    vertex_name_bytes: u64,
    data_end: u64,
}

impl LastId {
    /// Whether `id` ascends; if so, it becomes the last one.
    pub(crate) fn advance(&mut self, id: ExternalId<'_>) -> bool {
        let last = match self {
            LastId::None => None,
            LastId::Unsigned(id) => Some(ExternalId::Unsigned(*id)),
            LastId::Signed(id) => Some(ExternalId::Signed(*id)),
            LastId::Name(name) => Some(ExternalId::Name(name)),
        };
        let ascends = last.is_none_or(|last| last.precedes(id));
        *self = match id {
            ExternalId::Unsigned(id) => LastId::Unsigned(id),
            ExternalId::Signed(id) => LastId::Signed(id),
            ExternalId::Name(name) => LastId::Name(name.into()),
        };
        ascends
    }

    /// Whether the ids of some graphs ascend; if so, the last of them becomes the last one.
    pub(crate) fn advance_over(&mut self, graphs: BatchSlice<'_>) -> bool {
        let Some(last) = graphs.len().checked_sub(1) else { return true };
        // Ids within a batch ascend.
        let first = self.advance(graphs.graph(0).id());
        self.advance(graphs.graph(last).id());
        first
    }
}

impl Footer {
    fn words(self) -> Words {
        let Footer { index, parts, graphs, vertices, arcs, direction, weighted } = self;
        [index, parts, graphs, vertices, arcs, pair(direction, weighted)]
    }

    fn read([index, parts, graphs, vertices, arcs, flags]: Words) -> Option<Footer> {
        let (direction, weighted) = (flags as u32, (flags >> 32) as u32);
        let footer = Footer { index, parts, graphs, vertices, arcs, direction, weighted };
        (direction <= 1 && weighted <= 1).then_some(footer)
    }

    /// Whether the parts' totals match these.
    fn has(self, parts: &[Entry]) -> bool {
        let sum = |of: fn(&Entry) -> u64| {
            parts.iter().try_fold(0u64, |sum, part| sum.checked_add(of(part)))
        };
        sum(|part| part.graphs) == Some(self.graphs)
            && sum(|part| part.vertices) == Some(self.vertices)
            && sum(|part| part.arcs) == Some(self.arcs)
    }
}

fn direction_of(flag: u32) -> Direction {
    [Direction::Undirected, Direction::Directed][flag as usize]
}

impl PartHeader {
    fn to_bytes(self) -> [u8; PART_HEADER_BYTES as usize] {
        let mut words = [0u64; 16];
        words[0] = pair(self.direction, self.weighted);
        words[1] = self.graphs;
        words[2] = self.vertices;
        words[3] = self.arcs;
        words[4] = self.incoming;
        words[5] = pair(self.graph_kind, self.vertex_kind);
        words[6] = self.first_graph;
        words[7] = self.first_vertex;
        words[8] = self.graph_name_bytes;
        words[9] = self.vertex_name_bytes;
        words[10] = self.data_end;
        bytemuck::cast(words)
    }

    fn read(bytes: &[u8]) -> Option<PartHeader> {
        let head = bytes.get(..PART_HEADER_BYTES as usize)?;
        let word = |index| word(head, index);
        let (low, high) = (|index| word(index) as u32, |index| (word(index) >> 32) as u32);
        let header = PartHeader {
            direction: low(0),
            weighted: high(0),
            graphs: word(1),
            vertices: word(2),
            arcs: word(3),
            incoming: word(4),
            graph_kind: low(5),
            vertex_kind: high(5),
            first_graph: word(6),
            first_vertex: word(7),
            graph_name_bytes: word(8),
            vertex_name_bytes: word(9),
            data_end: word(10),
        };
        let none = |has: bool, value: u64| has || value == 0;
        let known = header.graph_kind <= 3
            && header.vertex_kind <= 4
            && none(header.direction == 1, header.incoming)
            && none(header.graph_kind == 0, header.first_graph)
            && none(header.vertex_kind <= 1, header.first_vertex)
            && none(header.graph_kind == 3, header.graph_name_bytes)
            && none(header.vertex_kind == 4, header.vertex_name_bytes)
            && (11..16).all(|at| word(at) == 0);
        known.then_some(header)
    }
}

impl SwarmFile {
    /// Opens a file, memory-mapped, and reads the index of its parts.
    ///
    /// # Errors
    /// If the file cannot be read, is no `.swarm` of this version, is truncated, or its index is damaged.
    pub fn open(path: &Path) -> Result<SwarmFile, ReadError> {
        let map = map(path)?;
        SwarmFile::from_bytes(Arc::new(map), path)
    }

    /// Opens a file that lies in `owner`'s bytes; `path` is for errors.
    ///
    /// # Errors
    /// See [`SwarmFile::open`].
    pub fn from_bytes(owner: Owner, path: &Path) -> Result<SwarmFile, ReadError> {
        let footer = |words| Footer::read(words).map(|footer| (footer, footer.parts));
        let Index { footer, entries, .. } = FORMAT.index((*owner).as_ref(), path, footer)?;
        let parts = entries.chunks_exact(size_of::<Entry>()).map(bytemuck::pod_read_unaligned);
        let parts = memory::collected(parts).map_err(|refused| out_of_memory(path, refused))?;
        match footer.has(&parts) {
            true => Ok(SwarmFile { path: path.into(), owner, footer, parts }),
            false => Err(damaged(path, footer.index)),
        }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the number of graphs of all parts.
    pub fn graphs(&self) -> u64 {
        self.footer.graphs
    }

    /// Returns the number of vertices of all graphs.
    pub fn vertices(&self) -> u64 {
        self.footer.vertices
    }

    /// Returns the number of stored arcs of all graphs, counted as [`ripplet_graph::Graph::arcs`] does.
    pub fn arcs(&self) -> u64 {
        self.footer.arcs
    }

    /// Whether edges are directed.
    pub fn direction(&self) -> Direction {
        direction_of(self.footer.direction)
    }

    /// Whether arcs have weights.
    pub fn is_weighted(&self) -> bool {
        self.footer.weighted == 1
    }

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        (*self.owner).as_ref().len() as u64
    }

    /// Reads and validates a part; its arrays are the file's pages.
    ///
    /// Cost: one pass for the checksums and one for the batch's own checks, on rayon's current pool.
    ///
    /// # Errors
    /// If the part is damaged in any byte, or is no valid batch.
    ///
    /// # Panics
    /// If `part` is not below [`SwarmFile::parts`].
    pub fn read(&self, part: usize) -> Result<GraphBatch, ReadError> {
        let entry = self.parts[part];
        let wrong = |at, why: &str| {
            let sentence =
                format!("part {part} of the file is no batch: {why}; make the file again");
            ReadError::content(&self.path, Place::Byte(at), sentence)
        };
        let range = entry.begin as usize..(entry.begin + entry.length) as usize;
        let bytes = &(*self.owner).as_ref()[range.clone()];
        let fits = |header: &PartHeader| {
            header.data_end >= PART_HEADER_BYTES && sealed(header.data_end) == Some(entry.length)
        };
        let Some(header) = PartHeader::read(bytes).filter(fits) else {
            return Err(wrong(entry.begin, "its header is damaged"));
        };
        verify(bytes, header.data_end as usize, &self.path, entry.begin)?;
        let said = (header.graphs, header.vertices, header.arcs);
        let same = said == (entry.graphs, entry.vertices, entry.arcs)
            && (header.direction, header.weighted) == (self.footer.direction, self.footer.weighted);
        if !same {
            return Err(wrong(entry.begin, "its header and the file's footer differ"));
        }
        let end = range.start + header.data_end as usize;
        let at = range.start + PART_HEADER_BYTES as usize;
        let opener = Opener { owner: &self.owner, header, at, end, begin: range.start };
        opener.batch().map_err(|flaw| match flaw {
            Flaw::Section(at) => wrong(at as u64, "its arrays do not fit its header"),
            Flaw::Invalid(InvalidBatch::OutOfMemory(refused)) => out_of_memory(&self.path, refused),
            Flaw::Invalid(invalid) => wrong(entry.begin, &invalid.to_string()),
        })
    }
}

/// Reason that a part with valid checksums is no valid batch.
enum Flaw {
    /// A section is invalid, at this byte of the file.
    Section(usize),
    Invalid(InvalidBatch),
}

impl From<InvalidBatch> for Flaw {
    fn from(invalid: InvalidBatch) -> Flaw {
        Flaw::Invalid(invalid)
    }
}

/// Cursor over the sections of a verified part.
struct Opener<'a> {
    owner: &'a Owner,
    header: PartHeader,
    /// Offsets in the file: start of the part, end of the last section, and end of the data.
    begin: usize,
    at: usize,
    end: usize,
}

impl Opener<'_> {
    fn batch(mut self) -> Result<GraphBatch, Flaw> {
        let header = self.header;
        let graph_ids = match header.graph_kind {
            0 => VertexIds::Consecutive {
                first: header.first_graph,
                count: u32::try_from(header.graphs).map_err(|_| InvalidBatch::GraphIds)?,
            },
            1 => VertexIds::Unsigned(self.section(header.graphs)?),
            2 => VertexIds::Signed(self.section(header.graphs)?),
            _ => VertexIds::Names(self.names(header.graphs, header.graph_name_bytes)?),
        };
        let starts = self.section(plus_one(header.graphs))?;
        let first = header.first_vertex;
        let vertex_ids = match header.vertex_kind {
            0 => BatchIds::InGraph { first },
            1 => BatchIds::InBatch { first },
            2 => BatchIds::Unsigned(self.section(header.vertices)?),
            3 => BatchIds::Signed(self.section(header.vertices)?),
            _ => BatchIds::Names(self.names(header.vertices, header.vertex_name_bytes)?),
        };
        let members = Members::new(graph_ids, starts, vertex_ids)?;
        let scales = match header.weighted {
            0 => None,
            _ => Some(self.section(header.graphs)?),
        };
        let out = self.lists(header.arcs)?;
        let incoming = match header.direction {
            0 => None,
            _ => Some(self.lists(header.incoming)?),
        };
        if self.at != self.end {
            return Err(Flaw::Section(self.at));
        }
        Ok(GraphBatch::new(members, scales, out, incoming)?)
    }

    fn lists(&mut self, arcs: u64) -> Result<BatchAdjacency, Flaw> {
        let PartHeader { graphs, vertices, weighted, .. } = self.header;
        Ok(BatchAdjacency {
            arc_starts: self.section(plus_one(graphs))?,
            offsets: self.section(vertices.saturating_add(graphs))?,
            neighbors: self.section(arcs)?,
            weights: if weighted == 1 { Some(self.section(arcs)?) } else { None },
        })
    }

    fn names(&mut self, names: u64, bytes: u64) -> Result<Names, Flaw> {
        let (offsets, bytes) = (self.section(plus_one(names))?, self.section(bytes)?);
        Names::from_parts(offsets, bytes).ok_or(Flaw::Section(self.at))
    }

    /// Returns the next section of `values` values.
    fn section<T: bytemuck::Pod>(&mut self, values: u64) -> Result<Buffer<T>, Flaw> {
        let begin = self.begin + aligned((self.at - self.begin) as u64) as usize;
        let bytes = values.checked_mul(size_of::<T>() as u64);
        let end = bytes.and_then(|bytes| begin.checked_add(usize::try_from(bytes).ok()?));
        let range: Option<Range<usize>> = end.filter(|&end| end <= self.end).map(|end| begin..end);
        let range = range.ok_or(Flaw::Section(begin))?;
        self.at = range.end;
        Buffer::shared(self.owner.clone(), range).ok_or(Flaw::Section(begin))
    }
}

/// Saturates: no file has as many values.
fn plus_one(values: u64) -> u64 {
    values.saturating_add(1)
}

impl SwarmWriter {
    /// Creates a file that will be `path`.
    ///
    /// # Errors
    /// If the folder does not exist or is not writable, or `path` is standard output.
    pub fn create(path: &Path) -> Result<SwarmWriter, WriteError> {
        Ok(SwarmWriter {
            file: PartsWriter::create(&FORMAT, path)?,
            footer: Footer::default(),
            parts: Vec::new(),
            part_size: PART_SIZE,
            last: LastId::None,
            begun: false,
        })
    }

    /// Sets the target size of a part in arcs and vertices; 2²⁴ by default.
    pub fn part_size(mut self, part_size: u64) -> SwarmWriter {
        self.part_size = part_size;
        self
    }

    /// Appends graphs, as one part, or as several if they are many. Without graphs it does nothing.
    ///
    /// # Errors
    /// If the graphs' ids do not ascend, if their direction or weights differ from earlier graphs', or if the
    /// operating system refuses. The file cannot be finished then.
    pub fn append(&mut self, graphs: BatchSlice<'_>) -> Result<(), WriteError> {
        let appended = self.file.ready().and_then(|()| self.try_append(graphs));
        self.file.note(appended)
    }

    /// Completes the file, which then appears.
    ///
    /// # Errors
    /// If appending failed, or the operating system refuses; no partial file remains.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.footer.parts = self.parts.len() as u64;
        self.file.finish(bytemuck::cast_slice(&self.parts), self.footer.words()).map(drop)
    }

    fn try_append(&mut self, mut graphs: BatchSlice<'_>) -> io::Result<()> {
        let refused = |sentence: String| io::Error::new(ErrorKind::InvalidInput, sentence);
        if graphs.is_empty() {
            return Ok(());
        }
        let direction = u32::from(graphs.batch().direction() == Direction::Directed);
        let weighted = u32::from(graphs.batch().is_weighted());
        let footer = &mut self.footer;
        if !self.begun {
            (footer.direction, footer.weighted, self.begun) = (direction, weighted, true);
        }
        if (footer.direction, footer.weighted) != (direction, weighted) {
            let sentence = "graphs of one file all have directed edges or none have, and all have \
                            weights or none have";
            return Err(refused(sentence.into()));
        }
        if !self.last.advance_over(graphs) {
            let id = graphs.graph(0).id();
            return Err(refused(format!("the graph {id} does not come after those before it")));
        }
        while !graphs.is_empty() {
            let part = graphs.leading(self.part_size);
            graphs = graphs.slice(part.len()..graphs.len());
            self.write_part(part)?;
        }
        Ok(())
    }

    fn write_part(&mut self, graphs: BatchSlice<'_>) -> io::Result<()> {
        let refused = |refused| io::Error::new(ErrorKind::OutOfMemory, refused);
        let arrays = Arrays::of(graphs).map_err(refused)?;
        let mut header = arrays.header(graphs);
        let sections = arrays.sections(graphs);
        header.data_end = data_end(&sections);
        let [begin, length] = self.file.part(&header.to_bytes(), &sections)?;
        let PartHeader { graphs, vertices, arcs, .. } = header;
        memory::push(&mut self.parts, Entry { begin, length, graphs, vertices, arcs })
            .map_err(refused)?;
        self.footer.graphs += graphs;
        self.footer.vertices += vertices;
        self.footer.arcs += arcs;
        Ok(())
    }
}

/// Offsets of a part, which count from its own start, unlike those of the batch.
struct Arrays {
    graph_names: Vec<u64>,
    vertex_starts: Vec<u64>,
    vertex_names: Vec<u64>,
    arc_starts: Vec<u64>,
    incoming_starts: Vec<u64>,
}

impl Arrays {
    fn of(graphs: BatchSlice<'_>) -> Result<Arrays, OutOfMemory> {
        let members = graphs.batch().members();
        Ok(Arrays {
            graph_names: match members.graph_ids() {
                VertexIds::Names(names) => rebased(offsets(names, graph_range(graphs)))?,
                _ => Vec::new(),
            },
            vertex_starts: rebased(graphs.vertex_starts())?,
            vertex_names: match members.vertex_ids() {
                BatchIds::Names(names) => rebased(offsets(names, vertex_range(graphs)))?,
                _ => Vec::new(),
            },
            arc_starts: rebased(graphs.out().arc_starts)?,
            incoming_starts: rebased(graphs.incoming().map_or(&[], |lists| lists.arc_starts))?,
        })
    }

    /// Returns the header of the part, without the end of its data.
    fn header(&self, graphs: BatchSlice<'_>) -> PartHeader {
        let members = graphs.batch().members();
        let (graph_kind, first_graph) = match members.graph_ids() {
            VertexIds::Consecutive { first, .. } => (0, first + graph_range(graphs).start as u64),
            VertexIds::Unsigned(_) => (1, 0),
            VertexIds::Signed(_) => (2, 0),
            VertexIds::Names(_) => (3, 0),
        };
        let (vertex_kind, first_vertex) = match members.vertex_ids() {
            BatchIds::InGraph { first } => (0, *first),
            BatchIds::InBatch { first } => (1, first + vertex_range(graphs).start as u64),
            BatchIds::Unsigned(_) => (2, 0),
            BatchIds::Signed(_) => (3, 0),
            BatchIds::Names(_) => (4, 0),
        };
        PartHeader {
            direction: u32::from(graphs.incoming().is_some()),
            weighted: u32::from(graphs.batch().is_weighted()),
            graphs: graphs.len() as u64,
            vertices: graphs.vertices(),
            arcs: graphs.arcs(),
            incoming: graphs.incoming().map_or(0, |lists| lists.neighbors.len() as u64),
            graph_kind,
            vertex_kind,
            first_graph,
            first_vertex,
            graph_name_bytes: self.graph_names.last().copied().unwrap_or(0),
            vertex_name_bytes: self.vertex_names.last().copied().unwrap_or(0),
            data_end: 0,
        }
    }

    /// Returns the sections of the part, in the file's order.
    fn sections<'a>(&'a self, graphs: BatchSlice<'a>) -> Vec<&'a [u8]> {
        let members = graphs.batch().members();
        let range = graph_range(graphs);
        let mut all: Vec<&[u8]> = Vec::new();
        match members.graph_ids() {
            VertexIds::Consecutive { .. } => {}
            VertexIds::Unsigned(ids) => all.push(bytemuck::cast_slice(&ids[range])),
            VertexIds::Signed(ids) => all.push(bytemuck::cast_slice(&ids[range])),
            VertexIds::Names(names) => {
                all.extend([bytemuck::cast_slice(&self.graph_names), text(names, range)]);
            }
        }
        all.push(bytemuck::cast_slice(&self.vertex_starts));
        let range = vertex_range(graphs);
        match members.vertex_ids() {
            BatchIds::InGraph { .. } | BatchIds::InBatch { .. } => {}
            BatchIds::Unsigned(ids) => all.push(bytemuck::cast_slice(&ids[range])),
            BatchIds::Signed(ids) => all.push(bytemuck::cast_slice(&ids[range])),
            BatchIds::Names(names) => {
                all.extend([bytemuck::cast_slice(&self.vertex_names), text(names, range)]);
            }
        }
        all.extend(graphs.weight_exponents().map(bytemuck::cast_slice::<i32, u8>));
        let mut lists = |starts: &'a [u64], lists: FlatLists<'a>| {
            all.push(bytemuck::cast_slice(starts));
            all.push(bytemuck::cast_slice(lists.offsets));
            all.push(bytemuck::cast_slice(lists.neighbors));
            all.extend(lists.weights.map(bytemuck::cast_slice::<u32, u8>));
        };
        lists(&self.arc_starts, graphs.out());
        if let Some(incoming) = graphs.incoming() {
            lists(&self.incoming_starts, incoming);
        }
        all
    }
}

/// Returns the numbers of the graphs in their batch.
fn graph_range(graphs: BatchSlice<'_>) -> Range<usize> {
    let first = if graphs.is_empty() { 0 } else { graphs.graph(0).index() };
    first..first + graphs.len()
}

/// Returns the places of the graphs' vertices in their batch.
fn vertex_range(graphs: BatchSlice<'_>) -> Range<usize> {
    let Range { start, end } = graphs.vertex_range();
    start.index()..end.index()
}

/// Returns the offsets of some names, and the end of the last.
fn offsets(names: &Names, range: Range<usize>) -> &[u64] {
    &names.parts().0[range.start..=range.end]
}

/// Returns the bytes of some names.
fn text(names: &Names, range: Range<usize>) -> &[u8] {
    let (offsets, bytes) = names.parts();
    &bytes[offsets[range.start] as usize..offsets[range.end] as usize]
}

/// Returns offsets relative to the first of them.
fn rebased(starts: &[u64]) -> Result<Vec<u64>, OutOfMemory> {
    memory::collected(starts.iter().map(|start| start - starts[0]))
}
