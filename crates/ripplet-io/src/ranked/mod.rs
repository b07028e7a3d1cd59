//! Reading of a table by ranks, processes that share a run: each reads a share of the rows, and gets the lists of its own
//! vertices.
//!
//! ```text
//! bytes of all files ─▶ share of each rank ─▶ edges, with ids of the share       share.rs
//!     ids, dealt out by splitters ─▶ sorted, counted ─▶ numbers of all ids        numbers.rs
//!     arcs ─▶ the rank that has the vertex ─▶ lists of its own vertices           deal.rs
//! ```
//!
//! Vertices are numbered as one process numbers them, in ascending order of all ids, and the lists are those that it builds:
//! no result depends on the number of ranks, or on which rows each has read.
//!
//! A text that is not compressed is cut at its lines, and a Parquet file at its row groups. One rank reads all of any
//! other file.
//!
//! Memory of a rank: the edges of its share, the arcs of its own vertices, some mebibytes of messages, and the ids that it
//! numbers; 8 bytes a vertex to begin the empty lists of others, which take no memory before they are read.

mod deal;
mod numbers;
mod share;
mod together;

use crate::fault::Fault;
use crate::table_parts;
use crate::text::left_out_aside;
use crate::{Columns, Format, ReadError, ReadErrorKind, ReadOptions, ReadSummary};
use deal::Dealt;
use numbers::{IdKind, Numbers};
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
    /// Another rank has an error of its own.
    #[error("another rank failed")]
    Elsewhere,
    /// A rank sees other files than rank 0 does: other names, other sizes, or other bytes where they are compared, which is
    /// everywhere in small files, and at some places of large ones.
    #[error("rank {rank} has other input files than rank 0")]
    FilesDiffer {
        /// The rank.
        rank: usize,
    },
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
}

/// Whether [`read_part`] can read a file in shares: an edge list, `.csv`, `.tsv`, `.jsonl`, Parquet or Arrow, or a pattern.
pub fn has_shares(path: &Path, options: &ReadOptions) -> bool {
    let format = options.format.or_else(|| Format::of_path(path).map(|(format, _)| format));
    path != Path::new("-") && format.is_some_and(table_parts::is_table)
}

/// Reads a table with the other ranks, which call it at the same time for the same files; returns the part of the graph
/// of this rank. It runs on rayon's current pool.
///
/// `with_ids` is whether this rank's graph has the external ids; rank 0 may have them and others not.
///
/// # Errors
/// As [`read_edges`](crate::read_edges) and [`GraphBuilder::build`], on the rank whose share it is; all others then
/// return [`TablePartError::Elsewhere`]. The first error in the files is that of the first such rank.
pub fn read_part(
    path: &Path,
    options: &ReadOptions,
    build: &BuildOptions,
    comm: &mut Comm,
    with_ids: bool,
) -> Result<TablePart, TablePartError> {
    let mut together = Together::new(comm);
    let failed = |fault: Fault| TablePartError::from(fault.of(path));
    let shares = together.agree(Shares::of(path, options, together.rank(), together.size()))?;
    together.check_files(shares.listing)?;
    let read = together.agree(read_shares(&shares.own, options))?;
    together.check_columns(&read, options)?;
    let summary = together.summary(&read, shares.files, path)?;
    let Read { edges, of_first, .. } = read;
    let file = of_first.map_or(path.into(), |(file, _)| file);
    let (ids, sources, targets, weights) = edges.into_parts();
    let kind = IdKind::of_all(&ids, &file, &mut together)?;
    let numbers = Numbers::of(ids, kind, &mut together, path)?;
    let mut columns = [sources, targets];
    numbers.renumber(&mut columns);
    let vertices = numbers.vertices;
    let ids = numbers.into_ids(with_ids, kind, &mut together, path)?;
    let weights = options.weighted.then(|| weights.unwrap_or_default());
    let Dealt { arcs, bounds } = Dealt::of(columns, weights, vertices, build, &mut together, path)?;
    let builder = GraphBuilder::from(build.clone());
    let graph = builder.build_part(ids, arcs, &mut together).map_err(|error| match error {
        PartError::Build(error) => TablePartError::Build(error),
        PartError::Invalid(error) => failed(Fault::whole(error.to_string())),
        PartError::Elsewhere => TablePartError::Elsewhere,
        PartError::Reduce(error) => TablePartError::Ranks(error),
    })?;
    Ok(TablePart { graph, bounds, summary })
}

/// What a rank has read.
struct Read {
    edges: EdgeTable,
    /// The first of its files with edges, and the summary of all of them.
    of_first: Option<(PathBuf, ReadSummary)>,
    /// The summary of a share without rows, if there is no other.
    of_none: Option<ReadSummary>,
    /// Comments between rows, of shares of files.
    comments: u64,
    /// Why there are no edges, if there are none.
    empty: Option<&'static str>,
}

/// Reads the shares of a rank.
fn read_shares(shares: &[Share], options: &ReadOptions) -> Result<Read, TablePartError> {
    let mut joined = table_parts::Joined::new(options.columns != Columns::default());
    let (mut first, mut comments, mut empty, mut only) = (None, 0, None, None);
    let mut of_none = None;
    for share in shares {
        match share.read(options) {
            Ok((edges, summary, of_share)) => {
                comments += of_share;
                if edges.is_empty() {
                    of_none.get_or_insert(summary);
                    continue;
                }
                first.get_or_insert_with(|| share.file.clone());
                // A single share needs no joining.
                match (only.take(), shares) {
                    (None, [_]) => only = Some((edges, summary)),
                    _ => joined.add(&share.file, &edges, summary)?,
                }
            }
            Err(ReadError { kind: ReadErrorKind::NoEdges(why), .. }) => empty = Some(why),
            Err(error) => return Err(error.into()),
        }
    }
    let Some(first) = first else {
        let ids = VertexIds::Consecutive { first: 0, count: 0 };
        let edges = EdgeTable::new(ids, Vec::new(), Vec::new());
        let edges = edges.map_err(|error| Fault::from(error).of(Path::new("")))?;
        return Ok(Read { edges, of_first: None, of_none, comments, empty });
    };
    let (edges, summary) = match only {
        Some(only) => only,
        None => joined.finish().map_err(|fault| fault.of(&first))?,
    };
    Ok(Read { edges, of_first: Some((first, summary)), of_none: None, comments, empty: None })
}

impl Together<'_> {
    /// Refuses files of which another rank sees others.
    fn check_files(&mut self, listing: u64) -> Result<(), TablePartError> {
        let all = self.comm.all_gather("files", &[listing])?;
        match all.iter().position(|other| other != all.of(0)) {
            None => Ok(()),
            Some(rank) => Err(TablePartError::FilesDiffer { rank }),
        }
    }

    /// Refuses files whose edges are in other columns than those of the first file with edges.
    fn check_columns(&mut self, read: &Read, options: &ReadOptions) -> Result<(), TablePartError> {
        let is_told = options.columns != Columns::default();
        let chosen = read.of_first.as_ref().and_then(|(file, summary)| {
            let columns = summary.columns.as_ref()?;
            Some(format!("{:?}\0{}\0{}", columns.ends(), columns.chosen(), file.display()))
        });
        let all = self.comm.all_gather("columns", chosen.unwrap_or_default().as_bytes())?;
        let all: Vec<_> = all.iter().map(String::from_utf8_lossy).collect();
        let parts = |text: &str| -> [String; 3] {
            let mut parts = text.splitn(3, '\0').map(str::to_owned);
            std::array::from_fn(|_| parts.next().unwrap_or_default())
        };
        let first = all.iter().find(|text| !text.is_empty()).map(|text| parts(text));
        let own = all.get(self.rank()).map(|text| parts(text)).unwrap_or_default();
        let alike: Result<(), ReadError> = match (first, &read.of_first) {
            (Some([ends, chosen, first]), Some((file, _))) if own[0] != ends && !is_told => {
                Err(table_parts::other_columns(file, &own[1], Path::new(&first), &chosen))
            }
            _ => Ok(()),
        };
        self.agree(alike)
    }

    /// Returns the summary of all ranks' rows.
    fn summary(
        &mut self,
        read: &Read,
        files: usize,
        path: &Path,
    ) -> Result<ReadSummary, TablePartError> {
        let own = [read.edges.len() as u64, read.comments];
        let [edges, comments] =
            self.comm.all_reduce("rows", own, |a, b| [a[0] + b[0], a[1] + b[1]])?;
        if edges == 0 {
            // Of a file without a head, every rank that reads some of it says so.
            let why = self.comm.all_gather("empty", &[u8::from(read.empty.is_some())])?;
            let first = why.iter().position(|why| why == [1]).unwrap_or(0);
            if self.rank() != first {
                return Err(TablePartError::Elsewhere);
            }
            let why = read.empty.unwrap_or("there are no edges: expected a row for each");
            return Err(Fault::whole(ReadErrorKind::NoEdges(why)).of(path).into());
        }
        let own = read.of_first.as_ref().map(|(_, summary)| summary).or(read.of_none.as_ref());
        let mut summary = own.cloned().unwrap_or_else(|| ReadSummary::of_edges(&read.edges));
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
