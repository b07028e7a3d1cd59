//! Reads many small graphs, from folders, archives and tables, in parts that fit in memory.
//!
//! ```text
//! folder, .zip, .tar[.gz|.zst] ─▶ some files at a time, parsed in parallel ─▶ GraphBatch ─┐
//! TU data set, table with a `graph` column ─▶ all graphs ─▶ GraphBatch ───────────────────┤
//! .swarm ─▶ part by part ─▶ GraphBatch, the file's pages ─────────────────────────────────┴▶ BatchPart, …
//! ```
//!
//! - **A folder** of graph files: each file whose name ends as a format's does, compressed or not, is a
//!   graph; with [`ReadOptions::format`] each file is. The other files are skipped, as are folders
//!   in it and files whose names begin with a dot. Two files of an LDBC graph are one graph.
//! - **An archive**, `.zip`, `.tar`, `.tar.gz`, `.tgz` or `.tar.zst`, of such files, in folders or not.
//!   LDBC's pairs are not read from archives. A link to another entry is read as that entry; one that leads elsewhere, a
//!   pipe or a device is what is wrong with that graph.
//! - **A TU data set**: see [`crate::tu`]. An edge that is listed several times is one edge, whatever the
//!   options for duplicates are.
//! - **`.swarm`**: see [`crate::swarm_file`]. What its graphs were built with stays: directions, loops,
//!   duplicates. Weights are left out unless they are requested.
//! - **A table**: `.txt`, `.tsv`, `.csv`, Parquet or Arrow IPC, with a column of graphs ([`crate::Columns`]); those of
//!   the ends are found beside it as in a table of one graph. Rows may have any order. Each graph has the vertices
//!   that its rows name.
//!
//! **Ids.** The id of a graph in a folder is its file name without extensions, in an archive its path without
//! extensions. Graphs of a TU data set are numbered from 1. In a table the column holds integers or names.
//! Graphs ascend by id (names by their bytes, so `10` before `9`) over all parts. Vertices have the ids of
//! each reader. If the graphs of a part have names and integers, all ids of that part are names. Two parts
//! may differ in that; [`crate::IdKind`] fixes it.
//!
//! **Errors.** A file of a folder or an archive that is no graph, or a second one with the same id, ends the
//! reading, or is skipped and listed ([`OnError`]). An error of the folder or the archive itself, of a TU
//! data set, a table or a `.swarm` always ends it. So does a failed memory allocation.
//!
//! **Memory.** For a folder or an archive, one part and its files. As many files are read at once as have
//! about 4 bytes for each arc and vertex of the part, or one. An entry of an archive may unpack to at most 64
//! MiB, or 32 bytes for each arc and vertex of a part if that is more. A TU data set and a table are read as
//! a whole: the batch, and as much again while it is built. The parts of a `.swarm` are its pages.
//!
//! **Determinism.** Graphs, parts and errors do not depend on the number of threads.

mod folder;
mod links;
mod members;
mod summary;
mod table;
#[cfg(feature = "archives")]
mod tar;
#[cfg(feature = "archives")]
mod zip;

pub use summary::BatchSummary;
#[cfg(feature = "columnar")]
pub use table::graphs_of_batches;
pub use table::parse_table;

#[cfg(not(feature = "archives"))]
use crate::NotBuiltIn;
use crate::swarm_file::{LastId, SwarmFile};
use crate::{Format, Place, ReadError, ReadOptions, tu};
use ripplet_graph::batch::{BatchBuilder, BatchSlice, GraphBatch};
use ripplet_graph::{BuildOptions, Direction, WeightLedger, WeightLoss};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Default target size of a part in arcs and vertices.
const PART_SIZE: u64 = 1 << 22;

/// Options of reading and building graphs.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// Options of reading each file; the format is that of the files in a folder or an archive.
    pub read: ReadOptions,
    /// Rules by which edges become graphs.
    pub build: BuildOptions,
    /// Whether a directed `.swarm` is an error.
    pub undirected_only: bool,
    /// Behaviour if a graph cannot be read.
    pub on_error: OnError,
    /// Target size of a part in arcs and vertices; a larger graph is its own part.
    pub part_size: u64,
}

/// Behaviour if a graph cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Reading ends.
    #[default]
    Stop,
    /// The graph is listed, and reading continues.
    Skip,
}

/// Consecutive graphs of a batch, which several parts may share.
#[derive(Clone, Debug)]
pub struct BatchPart {
    /// The batch.
    pub batch: Arc<GraphBatch>,
    /// Graphs of the batch that are in this part.
    pub graphs: Range<usize>,
}

/// Graph that could not be read.
#[derive(Debug)]
pub struct Skipped {
    /// Id of the graph.
    pub graph: String,
    /// Reason.
    pub error: ReadError,
}

/// Reader of graphs, part by part.
///
/// # Examples
/// ```
/// use ripplet_io::batch::{BatchOptions, BatchReader};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path();
/// std::fs::write(path.join("caffeine.txt"), "1 2\n2 3\n")?;
/// std::fs::write(path.join("water.txt"), "1 2\n")?;
/// let mut reader = BatchReader::open(path, &BatchOptions::default())?;
/// while let Some(part) = reader.next_part()? {
///     println!("{} graphs", part.slice().len());
/// }
/// assert_eq!(reader.summary().graphs, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct BatchReader {
    source: Box<dyn Source>,
    part_size: u64,
    /// Current batch, and the number of its graphs that were returned.
    current: Option<(Arc<GraphBatch>, usize)>,
    log: ReadLog,
    weights: WeightLedger,
    last: LastId,
    /// Progress of the source before the current batch.
    before: f64,
    path: PathBuf,
}

/// Record of a read: skipped graphs and the summary.
#[derive(Default)]
struct ReadLog {
    skipped: Vec<Skipped>,
    summary: BatchSummary,
}

/// Source of batches.
trait Source: Send {
    /// Returns the next graphs, if there are any; adds skipped graphs and edge counts to `log`.
    fn next(&mut self, log: &mut ReadLog) -> Result<Option<GraphBatch>, ReadError>;

    /// Returns the share of the whole that was read, 0 to 1.
    fn progress(&self) -> f64;
}

/// Kind of container that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Swarm,
    Tu,
    Folder,
    Zip,
    Tar,
    Table,
}

impl Default for BatchOptions {
    /// Undirected, self-loops dropped, duplicates merged, no weights; the first error ends the reading.
    fn default() -> BatchOptions {
        BatchOptions {
            read: ReadOptions::default(),
            build: BuildOptions::default(),
            undirected_only: false,
            on_error: OnError::default(),
            part_size: PART_SIZE,
        }
    }
}

impl BatchOptions {
    fn builder(&self) -> BatchBuilder {
        self.build.clone().into()
    }

    /// Returns the bytes of files that are read at once.
    fn bytes_at_once(&self) -> u64 {
        self.part_size.saturating_mul(4)
    }

    /// Returns the bytes that an entry of an archive may unpack to.
    fn most_of_an_entry(&self) -> u64 {
        self.part_size.saturating_mul(32).max(64 << 20)
    }
}

impl BatchPart {
    /// Returns the graphs.
    pub fn slice(&self) -> BatchSlice<'_> {
        self.batch.slice(self.graphs.clone())
    }
}

/// Whether a path clearly names many graphs: a folder, an archive, a TU data set or a `.swarm`. A table with
/// a column of graphs looks like any other, and counts only if the user says so.
pub fn is_batch(path: &Path, options: &ReadOptions) -> bool {
    let is_given = options.format.is_some() && !path.is_dir();
    let kind = Kind::of(path);
    match kind {
        Kind::Swarm | Kind::Folder | Kind::Zip | Kind::Tar => true,
        Kind::Tu => !is_given,
        Kind::Table => false,
    }
}

/// Whether [`OnError::Skip`] can leave a single graph out of this batch: of a folder or an archive.
pub fn has_files(path: &Path) -> bool {
    matches!(Kind::of(path), Kind::Folder | Kind::Zip | Kind::Tar)
}

impl Kind {
    fn of(path: &Path) -> Kind {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if tu::has_indicator(path) {
            Kind::Tu
        } else if path.is_dir() {
            Kind::Folder
        } else if ends(&[".swarm"]) {
            Kind::Swarm
        } else if ends(&[".zip"]) {
            Kind::Zip
        } else if ends(&[".tar", ".tar.gz", ".tgz", ".tar.zst"]) {
            Kind::Tar
        } else {
            Kind::Table
        }
    }
}

impl BatchReader {
    /// Opens a folder, an archive, a TU data set or a `.swarm`; otherwise a table with a column of graphs.
    /// `-` is a table on standard input, text unless the options give another format.
    ///
    /// # Errors
    /// If it cannot be opened: a folder or an archive without graphs, or a `.swarm` that is damaged or lacks
    /// the requested direction or weights.
    pub fn open(path: &Path, options: &BatchOptions) -> Result<BatchReader, ReadError> {
        let source: Box<dyn Source> = match Kind::of(path) {
            Kind::Swarm => Box::new(Swarm::open(path, options)?),
            Kind::Tu => Box::new(Whole::of_tu(path, options)?),
            Kind::Folder => Box::new(folder::Folder::open(path, options)?),
            #[cfg(not(feature = "archives"))]
            Kind::Zip | Kind::Tar => {
                let kind = NotBuiltIn::ARCHIVES.into();
                return Err(ReadError { path: path.into(), place: Place::File, kind });
            }
            #[cfg(feature = "archives")]
            Kind::Zip => Box::new(zip::Zip::open(path, options)?),
            #[cfg(feature = "archives")]
            Kind::Tar => Box::new(tar::Tar::open(path, options)?),
            Kind::Table => Box::new(Whole::of_table(path, options)),
        };
        Ok(BatchReader {
            source,
            part_size: options.part_size,
            current: None,
            log: ReadLog::default(),
            weights: options.build.weights.clone(),
            last: LastId::default(),
            before: 0.0,
            path: path.into(),
        })
    }

    /// Returns the next part: its graphs' ids continue in ascending order. `None` after the last.
    ///
    /// Runs on rayon's current pool.
    ///
    /// # Errors
    /// If a graph cannot be read and the options do not skip it, the container is damaged, or memory
    /// allocation fails. Do not use the reader after an error.
    pub fn next_part(&mut self) -> Result<Option<BatchPart>, ReadError> {
        loop {
            if let Some((batch, taken)) = &mut self.current {
                let rest = batch.slice(*taken..batch.len());
                if !rest.is_empty() {
                    let graphs = *taken..*taken + rest.leading(self.part_size).len();
                    *taken = graphs.end;
                    return Ok(Some(BatchPart { batch: batch.clone(), graphs }));
                }
            }
            self.current = None;
            self.before = self.source.progress();
            let Some(batch) = self.source.next(&mut self.log)? else { return Ok(None) };
            if !self.last.advance_over(batch.all()) {
                let id = batch.graph(0).id();
                let sentence = format!("the graph {id} does not come after those before it");
                return Err(ReadError::content(&self.path, Place::File, sentence));
            }
            self.log.summary.add_graphs(&batch);
            self.current = Some((Arc::new(batch), 0));
        }
    }

    /// Returns the graphs that could not be read so far, in the order of their ids.
    pub fn skipped(&self) -> &[Skipped] {
        &self.log.skipped
    }

    /// Returns the summary so far: complete after the last part.
    pub fn summary(&self) -> &BatchSummary {
        &self.log.summary
    }

    /// Returns the rounding loss of the weights read so far.
    pub fn weight_loss(&self) -> WeightLoss {
        self.weights.loss()
    }

    /// Returns the share of the batch that was returned, 0 to 1, by bytes, files or graphs.
    pub fn progress(&self) -> f64 {
        let (batch, taken) = match &self.current {
            Some((batch, taken)) => (batch.len().max(1) as f64, *taken as f64),
            None => (1.0, 1.0),
        };
        let now = self.source.progress();
        self.before + (now - self.before).max(0.0) * taken / batch
    }
}

/// Parts of a `.swarm`.
struct Swarm {
    file: SwarmFile,
    next: usize,
    weighted: bool,
}

impl Swarm {
    fn open(path: &Path, options: &BatchOptions) -> Result<Swarm, ReadError> {
        let file = SwarmFile::open(path)?;
        let lacks = |what: &str| {
            let sentence = format!(
                "this .swarm was stored {what}, which cannot be undone: make it again from its source"
            );
            Err(ReadError::content(path, Place::File, sentence))
        };
        let undirected = file.direction() == Direction::Undirected;
        if file.parts() > 0 && undirected && options.build.direction == Direction::Directed {
            return lacks("undirected");
        }
        if file.parts() > 0 && !undirected && options.undirected_only {
            return lacks("directed");
        }
        if file.parts() > 0 && options.read.weighted && !file.is_weighted() {
            return lacks("without weights");
        }
        Ok(Swarm { file, next: 0, weighted: options.read.weighted })
    }
}

impl Source for Swarm {
    fn next(&mut self, log: &mut ReadLog) -> Result<Option<GraphBatch>, ReadError> {
        if self.next == self.file.parts() {
            return Ok(None);
        }
        let batch = self.file.read(self.next)?;
        self.next += 1;
        log.summary.add_edges_of(&batch);
        Ok(Some(if self.weighted { batch } else { batch.without_weights() }))
    }

    fn progress(&self) -> f64 {
        share(self.next as u64, self.file.parts() as u64)
    }
}

/// Graphs that are read in one go.
struct Whole {
    path: PathBuf,
    options: BatchOptions,
    read: fn(&Path, &BatchOptions, &mut ReadLog) -> Result<GraphBatch, ReadError>,
    done: bool,
}

impl Whole {
    fn of_tu(path: &Path, options: &BatchOptions) -> Result<Whole, ReadError> {
        if options.read.weighted {
            let sentence =
                "a TU data set's edges have no weights that are read: leave --weighted out";
            return Err(ReadError::content(path, Place::File, sentence));
        }
        let read = |path: &Path, options: &BatchOptions, log: &mut ReadLog| {
            let BuildOptions { direction, self_loops, .. } = options.build;
            let batch = tu::read(path, &tu::DatasetOptions { direction, self_loops })?.batch;
            log.summary.add_edges_of(&batch);
            Ok(batch)
        };
        Ok(Whole { path: path.into(), options: options.clone(), read, done: false })
    }

    fn of_table(path: &Path, options: &BatchOptions) -> Whole {
        Whole { path: path.into(), options: options.clone(), read: table::read, done: false }
    }
}

impl Source for Whole {
    fn next(&mut self, log: &mut ReadLog) -> Result<Option<GraphBatch>, ReadError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        (self.read)(&self.path, &self.options, log).map(Some)
    }

    fn progress(&self) -> f64 {
        f64::from(u8::from(self.done))
    }
}

/// Returns the ratio of a part and a whole.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
