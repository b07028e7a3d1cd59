//! Reading of a table by ranks, processes that share a run: each reads a share of the rows, and gets the lists of its own
//! vertices. Or each has [edges of its own](part_of_edges).
//!
//! ```text
//! bytes of all files ─▶ share of each rank ─▶ edges, with ids of the share       share.rs
//!     ids, sent by splitters ─▶ sorted, counted ─▶ numbers of all ids             numbers.rs
//!     arcs ─▶ the rank that has the vertex ─▶ lists of its own vertices           redistribute.rs
//! ```
//!
//! Vertices are numbered as one process numbers them, in ascending order of all ids, and the lists are those that it builds:
//! no result depends on the number of ranks, or on which rows each has read.
//!
//! A text that is not compressed is cut at its lines, and a Parquet file at its row groups. One rank reads all of any
//! other file.
//!
//! Memory of a rank, for a share of R edges, and with A arcs of its own vertices (about 2 R): twice the edges while they are
//! read; the ids of the share three times, and those that it numbers, while they are numbered (`numbers.rs`); then 8 A bytes of
//! arcs, 8 R with weights, and some 100 MiB of messages, and the lists that are built of them. Lists of other vertices are
//! empty: 4 bytes per vertex (8 if the graph is directed), which take no memory before they are read.

mod numbers;
mod redistribute;
mod share;
mod together;

use crate::fault::Fault;
use crate::table_parts::{self, mixed_ids};
use crate::text::{NO_EDGES, left_out_aside};
use crate::{Format, ReadError, ReadErrorKind, ReadOptions, ReadSummary};
use numbers::{IdKind, Numbers};
use redistribute::Redistributed;
use ripplet_graph::{
    BuildError, BuildOptions, EdgeTable, Graph, GraphBuilder, PartError, VertexId, VertexIds,
};
use ripplet_ranks::{Comm, CommError};
use share::{Share, Shares};
use std::path::{Path, PathBuf};
use thiserror::Error;
use together::Together;

/// A rank's part of the graph of a table.
#[derive(Clone, Debug)]
pub struct TablePart {
    /// The graph. Of its lists, only those of the rank's own vertices are there.
    ///
    /// Without ids, its vertices are numbered from 0.
    pub graph: Graph,
    /// The first vertex of each rank, and last the number of vertices: multiples of 64, but for the last.
    pub bounds: Vec<VertexId>,
    /// The summary of all ranks' rows. Of the clauses about single files, it has those of the files that rank 0 has read.
    pub summary: ReadSummary,
}

/// The reason why a rank has no part.
#[derive(Debug, Error)]
pub enum TablePartError {
    /// Its share cannot be read, or is not valid.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The edges do not make a graph.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Another rank has an error of its own, or this one passed no edges.
    #[error("another rank failed")]
    Elsewhere,
    /// A rank sees other files than rank 0 does: other names, other sizes, or other bytes at some places, which are compared.
    /// Of up to 16 files, all bytes of those of up to a mebibyte are.
    #[error("rank {rank} has other input files than rank 0")]
    FilesDiffer {
        /// The rank.
        rank: usize,
    },
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
}

/// Whether [`read_part`] can read a file in shares: an edge list, `.csv`, `.tsv`, `.jsonl`, Parquet or Arrow, or a pattern of
/// such files.
pub fn has_shares(path: &Path, options: &ReadOptions) -> bool {
    // The name of a pattern has the extension of its files, if it has one.
    let is_named = options.format.is_some() || Format::of_path(path).is_some();
    let file = match is_named {
        true => None,
        false => match table_parts::files_of(path) {
            Ok(Some(files)) => files.first().map(|file| file.path().to_owned()),
            // The reader of the shares has the error, if there is one.
            Ok(None) | Err(_) => None,
        },
    };
    let file = file.as_deref().unwrap_or(path);
    let format = options.format.or_else(|| Format::of_path(file).map(|(format, _)| format));
    path != Path::new("-") && format.is_some_and(table_parts::is_table)
}

/// Reads a table with the other ranks, which call it at the same time for the same files; returns the part of the graph
/// of this rank. It runs on rayon's current pool.
///
/// `with_ids` is whether this rank's graph has the external ids; rank 0 may have them and others not.
///
/// # Errors
/// The errors of [`read_edges`](crate::read_edges) and [`GraphBuilder::build`]. What is wrong with rows is an error of the rank whose
/// share they are in, and the others return [`TablePartError::Elsewhere`]: of all such errors, that of the first rank is the
/// first in the files. What is wrong with all of them is an error of all ranks.
pub fn read_part(
    path: &Path,
    options: &ReadOptions,
    build: &BuildOptions,
    comm: &mut Comm,
    with_ids: bool,
) -> Result<TablePart, TablePartError> {
    let mut together = Together::new(comm);
    let shares = together.agree(Shares::of(path, options, together.rank(), together.size()))?;
    together.check_files(shares.listing)?;
    let mut read = read_shares(&shares.own, options);
    let first = together.check_alike(&mut read, options)?;
    let summary = together.summary(&read, first, shares.files, path)?;
    let Read { edges, of_first, .. } = read;
    let file = of_first.map_or(path.into(), |(file, _)| file);
    let edges = edges.unwrap_or_else(no_edges);
    let places = Places { file: &file, all: path, mixed: mixed_ids };
    let (graph, bounds) =
        build_part(edges, options.weighted, build, &mut together, with_ids, &places)?;
    Ok(TablePart { graph, bounds, summary })
}

/// Makes the graph of the edges of all ranks, which call it at the same time; returns the part of the graph of this rank. It
/// runs on rayon's current pool.
///
/// The graph is that of one process with all edges, in any order: neither the number of ranks nor who has an edge matters.
/// `edges` are those of this rank, perhaps an empty table, or `None` if this rank failed to get them, which ends the call on all
/// ranks. `with_ids` is whether this rank's graph has the external ids.
///
/// Memory: as [`read_part`] after reading.
///
/// # Errors
/// If a rank has `None`, or no rank has an edge; if edges of one rank have weights and those of another one have none, or ids of one are names and of
/// another one integers; the errors of [`GraphBuilder::build`]. If one rank has an error, all have one.
pub fn part_of_edges(
    edges: Option<EdgeTable>,
    build: &BuildOptions,
    comm: &mut Comm,
    with_ids: bool,
) -> Result<TablePart, TablePartError> {
    let mut together = Together::new(comm);
    let edges = together.agree(edges.ok_or(TablePartError::Elsewhere))?;
    let all = Path::new("(edges)");
    let is_weighted = together.check_weights(&edges, all)?;
    let mut summary = ReadSummary::of_edges(&edges);
    summary.edges = together.comm.all_reduce("rows", edges.len() as u64, |a, b| a + b)?;
    if summary.edges == 0 {
        return Err(Fault::whole(ReadErrorKind::NoEdges(NO_EDGES)).of(all).into());
    }
    let mixed = |these: &str, others: &str| {
        format!("the ids of some ranks are {these}, and those of others are {others}")
    };
    let places = Places { file: all, all, mixed };
    let (graph, bounds) = build_part(edges, is_weighted, build, &mut together, with_ids, &places)?;
    Ok(TablePart { graph, bounds, summary })
}

/// What errors name and say.
struct Places<'p> {
    /// The first file with edges of this rank.
    file: &'p Path,
    /// All files.
    all: &'p Path,
    /// The sentence about ids of two kinds: these, and the others.
    mixed: fn(&str, &str) -> String,
}

/// Numbers the ids of all ranks, sends edges to the ranks that have their ends, and builds the lists of this rank's vertices.
fn build_part(
    edges: EdgeTable,
    is_weighted: bool,
    build: &BuildOptions,
    together: &mut Together<'_>,
    with_ids: bool,
    places: &Places<'_>,
) -> Result<(Graph, Vec<VertexId>), TablePartError> {
    let path = places.all;
    let (ids, sources, targets, weights) = edges.into_parts();
    let kind = IdKind::of_all(&ids, places, together)?;
    let numbers = Numbers::of(ids, kind, together, path)?;
    let mut columns = [sources, targets];
    numbers.renumber(&mut columns);
    let vertices = numbers.vertices;
    let ids = numbers.into_ids(with_ids, kind, together, path)?;
    let weights = is_weighted.then(|| weights.unwrap_or_default());
    let Redistributed { arcs, bounds } =
        Redistributed::of(columns, weights, vertices, build, together, path)?;
    let builder = GraphBuilder::from(build.clone());
    let graph = builder.build_part(ids, arcs, together).map_err(|error| match error {
        PartError::Build(error) => TablePartError::Build(error),
        PartError::Invalid(error) => Fault::whole(error.to_string()).of(path).into(),
        PartError::Elsewhere => TablePartError::Elsewhere,
        PartError::Reduce(error) => TablePartError::Ranks(error),
    })?;
    Ok((graph, bounds))
}

const WEIGHTS_OF_SOME: &str = "the edges of some ranks have weights, and those of others have none";

/// Returns a table without edges.
fn no_edges() -> EdgeTable {
    let ids = VertexIds::Consecutive { first: 0, count: 0 };
    EdgeTable::new(ids, Vec::new(), Vec::new()).expect("there is no row that could be wrong")
}

/// What a rank has read, up to its first error.
#[derive(Default)]
struct Read {
    /// The edges, if there are some.
    edges: Option<EdgeTable>,
    /// The first of its files with edges, and the summary of all of them.
    of_first: Option<(PathBuf, ReadSummary)>,
    /// The summary of a share without rows.
    of_none: Option<ReadSummary>,
    /// Comments between rows, of shares of files.
    comments: u64,
    /// Why a file has no edges, of the last one that has none.
    empty: Option<&'static str>,
    failed: Option<TablePartError>,
}

/// Reads the shares of a rank.
fn read_shares(shares: &[Share], options: &ReadOptions) -> Read {
    let mut joined = table_parts::Joined::new(options.has_named_columns());
    let (mut read, mut first, mut only) = (Read::default(), None, None);
    for share in shares {
        let added = match share.read(options) {
            Ok((edges, summary, comments)) => {
                read.comments += comments;
                if edges.is_empty() {
                    read.of_none.get_or_insert(summary);
                    continue;
                }
                first.get_or_insert_with(|| share.source.path().to_owned());
                // A single share needs no joining.
                if let [_] = shares {
                    only = Some((edges, summary));
                    continue;
                }
                joined.add(share.source.path(), &edges, summary)
            }
            Err(ReadError { kind: ReadErrorKind::NoEdges(why), .. }) => {
                read.empty = Some(why);
                continue;
            }
            Err(error) => Err(error),
        };
        if let Err(error) = added {
            read.failed = Some(error.into());
            break;
        }
    }
    let Some(first) = first else { return read };
    let whole = only.map_or_else(|| joined.finish().map_err(|fault| fault.of(&first)), Ok);
    match whole {
        Ok((edges, summary)) => {
            read.edges = Some(edges);
            read.of_first = Some((first, summary));
        }
        Err(error) => read.failed = read.failed.or(Some(error.into())),
    }
    read
}

/// What the ranks compare of the first files with edges that they have read.
#[derive(Debug, Default, PartialEq)]
struct First {
    /// Whether the ids are names.
    has_names: bool,
    /// The columns, exactly.
    ends: String,
    /// The columns, as they print.
    chosen: String,
    file: String,
}

impl First {
    fn of(read: &Read) -> Option<First> {
        let (file, summary) = read.of_first.as_ref()?;
        let (file, columns) = (file.display().to_string(), summary.columns.as_ref()?);
        let has_names = matches!(read.edges.as_ref()?.ids(), VertexIds::Names(_));
        let ends = format!("{:?}", columns.ends());
        Some(First { has_names, ends, chosen: columns.chosen(), file })
    }

    /// Returns the message of one, or of none.
    fn message(first: Option<&First>) -> String {
        let text = |First { has_names, ends, chosen, file }: &First| {
            format!("{}\0{ends}\0{chosen}\0{file}", u8::from(*has_names))
        };
        first.map(text).unwrap_or_default()
    }

    fn read(message: &[u8]) -> Option<First> {
        let text = String::from_utf8_lossy(message);
        let mut parts = text.splitn(4, '\0').map(str::to_owned);
        let has_names = parts.next().filter(|text| !text.is_empty())? == "1";
        let mut part = || parts.next().unwrap_or_default();
        Some(First { has_names, ends: part(), chosen: part(), file: part() })
    }
}

impl Together<'_> {
    /// Returns whether the edges of all ranks have weights; refuses those of which only some have.
    fn check_weights(&mut self, edges: &EdgeTable, path: &Path) -> Result<bool, TablePartError> {
        let is_weighted = edges.weights().is_some();
        let own = (!edges.is_empty()).then_some(u8::from(is_weighted));
        let all = self.comm.all_gather("whether there are weights", own.as_slice())?;
        let mut told = all.all().map(|weighted| weighted == 1);
        let Some(first) = told.next() else { return Ok(false) };
        match told.all(|other| other == first) {
            true => Ok(first),
            false => Err(Fault::whole(WEIGHTS_OF_SOME).of(path).into()),
        }
    }

    /// Refuses files of which another rank sees others.
    fn check_files(&mut self, listing: u64) -> Result<(), TablePartError> {
        let all = self.comm.all_gather("files", &[listing])?;
        match all.other_than_first() {
            None => Ok(()),
            Some(rank) => Err(TablePartError::FilesDiffer { rank }),
        }
    }

    /// Refuses files whose edges are in other columns, or have ids of another kind, than those of the first file with edges,
    /// and what a rank could not read. Returns what there is to know of that first file.
    fn check_alike(
        &mut self,
        read: &mut Read,
        options: &ReadOptions,
    ) -> Result<Option<First>, TablePartError> {
        let own = First::of(read);
        let all = self.comm.all_gather("first files", First::message(own.as_ref()).as_bytes())?;
        let first = all.iter().find_map(First::read);
        let is_told = options.has_named_columns();
        let refused = match (&first, &own, &read.of_first) {
            (Some(first), Some(own), Some((file, _))) if first.ends != own.ends && !is_told => {
                let named = Path::new(&first.file);
                Some(table_parts::other_columns(file, &own.chosen, named, &first.chosen))
            }
            (Some(first), Some(own), Some((file, _))) if first.has_names != own.has_names => {
                let kind = |of: &First| if of.has_names { "names" } else { "integers" };
                let sentence = mixed_ids(kind(own), kind(first));
                Some(Fault::whole(sentence).of(file))
            }
            _ => None,
        };
        // What a rank has read before its error comes before it in the files, too.
        let failed = refused.map(TablePartError::from).or(read.failed.take());
        self.agree(failed.map_or(Ok(()), Err))?;
        Ok(first)
    }

    /// Returns the summary of all ranks' rows.
    fn summary(
        &mut self,
        read: &Read,
        first: Option<First>,
        files: usize,
        path: &Path,
    ) -> Result<ReadSummary, TablePartError> {
        let own = [read.edges.as_ref().map_or(0, EdgeTable::len) as u64, read.comments];
        let [edges, comments] =
            self.comm.all_reduce("rows", own, |a, b| [a[0] + b[0], a[1] + b[1]])?;
        let Some(first) = first.filter(|_| edges > 0) else {
            let why = read.empty.unwrap_or(NO_EDGES);
            return Err(Fault::whole(ReadErrorKind::NoEdges(why)).of(path).into());
        };
        let has_columns_of_first = |summary: &&ReadSummary| {
            let ends = summary.columns.as_ref().map(|columns| format!("{:?}", columns.ends()));
            ends.as_ref() == Some(&first.ends)
        };
        let own = read.of_first.as_ref().map(|(_, summary)| summary);
        let own = own.or(read.of_none.as_ref().filter(has_columns_of_first)).cloned();
        let mut summary = own.unwrap_or_else(|| ReadSummary::of_edges(&no_edges()));
        summary.edges = edges;
        if let Some(columns) = &mut summary.columns {
            columns.asides.extend(left_out_aside(comments));
        }
        if files > 1 {
            summary.note_files(files);
        }
        Ok(summary)
    }
}
