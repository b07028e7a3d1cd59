//! Loading of a graph by ranks, each of which has the lists of its own vertices.

use crate::load::{LoadError, LoadOptions};
use ripplet_graph::{EdgeTable, Graph};
use ripplet_io::ranked::{self, TablePart, TablePartError};
use ripplet_io::rg::Part;
use ripplet_io::{Format, ReadSummary};
use ripplet_lp::engine::Parts;
use ripplet_ranks::{Comm, CommError};
use std::path::Path;
use thiserror::Error;

/// A rank's part of a graph; see [`LoadOptions::load_part`] and [`LoadOptions::part_of_edges`].
#[derive(Clone, Debug)]
pub struct RankGraph {
    /// The graph. It has the lists of this rank's vertices; those of others are not whole. Without ids, vertices are numbered from 0.
    pub graph: Graph,
    /// The vertices of each rank.
    pub parts: Parts,
    /// The summary of reading a table, or of all ranks' edges; `None` for an `.rg`.
    pub summary: Option<ReadSummary>,
}

/// The reason why a rank has no part of a graph.
#[derive(Debug, Error)]
pub enum LoadPartError {
    /// Its part cannot be read, is not valid, or does not make a graph.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The format has no parts.
    #[error("only tables of edges and .rg are read in parts; `ripplet convert` makes an .rg")]
    NoParts,
    /// A rank sees other files than rank 0 does: see [`TablePartError::FilesDiffer`].
    #[error("rank {rank} has other input files than rank 0")]
    FilesDiffer {
        /// The rank.
        rank: usize,
    },
    /// A rank has a part of another graph than rank 0.
    #[error("rank {rank} has a part of another graph than rank 0")]
    GraphsDiffer {
        /// The rank.
        rank: usize,
    },
    /// Another rank failed to load its part, or this one passed no edges.
    #[error("another rank failed to load its part")]
    Elsewhere,
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
}

impl LoadOptions {
    /// Returns whether [`LoadOptions::load_part`] can load a file: an `.rg`, or a table of edges that is not standard input.
    pub fn has_parts(&self, path: &Path) -> bool {
        self.format_of(path) == Some(Format::Rg) || self.has_shares(path)
    }

    /// Makes the graph of the edges of all ranks, which call it at the same time; returns this rank's part of it.
    ///
    /// `edges` are those of this rank, perhaps an empty table, or `None` if this rank failed to get them, which ends the call on
    /// all ranks. The graph is that of one process with all edges: neither the number of ranks nor who has an edge matters.
    /// `with_ids` is whether this rank has the ids of all vertices.
    /// [`CommunitySearch::ranks_with_parts`](crate::communities::CommunitySearch::ranks_with_parts) runs on the parts. It runs
    /// on rayon's current pool.
    ///
    /// Memory: see [`ranked`](ripplet_io::ranked).
    ///
    /// # Errors
    /// If a rank has `None`, or no rank has an edge; if edges of one rank have weights and those of another one have none, or ids of one are names
    /// and those of another one integers; if the edges do not make a graph. If one rank has an error, all have one.
    ///
    /// # Examples
    /// ```
    /// use ripplet::LoadOptions;
    /// use ripplet::io::edge_table;
    /// use ripplet::ranks::Threads;
    /// use std::time::Duration;
    ///
    /// // Processes that `mpirun` started call `ripplet::ranks::mpi::open` instead.
    /// let vertices = Threads::run(2, Duration::from_secs(10), |mut comm| {
    ///     let edges = [[("ann", "bob"), ("bob", "cid")], [("cid", "ann"), ("cid", "dan")]];
    ///     let edges = edge_table(edges[comm.rank()]).ok();
    ///     let part = LoadOptions::default().part_of_edges(edges, &mut comm, true)?;
    ///     Ok::<_, ripplet::LoadPartError>(part.graph.vertices())
    /// });
    /// assert!(vertices.into_iter().all(|vertices| vertices.is_ok_and(|vertices| vertices == 4)));
    /// ```
    pub fn part_of_edges(
        &self,
        edges: Option<EdgeTable>,
        comm: &mut Comm,
        with_ids: bool,
    ) -> Result<RankGraph, LoadPartError> {
        Ok(ranked::part_of_edges(edges, &self.build, comm, with_ids)?.into())
    }

    /// Loads this rank's part of a graph together with the other ranks, which call it at the same time for the same file.
    ///
    /// `with_ids` is whether this rank has the ids of all vertices, which rank 0 always has.
    /// [`CommunitySearch::ranks_with_parts`](crate::communities::CommunitySearch::ranks_with_parts) runs on the parts. It
    /// runs on rayon's current pool.
    ///
    /// Memory: of an `.rg`, nothing but the pages that are read; of a table, see [`ranked`](ripplet_io::ranked).
    ///
    /// # Errors
    /// If a rank cannot load its part, or has another file or graph than rank 0. If one rank has an error, all have one.
    ///
    /// # Examples
    /// ```
    /// use ripplet::LoadOptions;
    /// use ripplet::ranks::Threads;
    /// use std::sync::{Arc, Mutex};
    /// use std::time::Duration;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("graph.csv");
    /// std::fs::write(&path, "a,b\nb,c\nc,a\nd,e\ne,f\nf,d\nc,d\n")?;
    /// // Processes that `mpirun` started call `ripplet::ranks::mpi::open` instead.
    /// let found = Threads::run(2, Duration::from_secs(10), |mut comm| {
    ///     let part = LoadOptions::default().load_part(&path, &mut comm, true)?;
    ///     let search = ripplet::communities(&part.graph);
    ///     let found = search.ranks_with_parts(Arc::new(Mutex::new(comm)), part.parts).run()?;
    ///     Ok::<_, Box<dyn std::error::Error + Send + Sync>>(found.len())
    /// });
    /// for communities in found {
    ///     assert!(communities.is_ok_and(|communities| communities == 2));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_part(
        &self,
        path: &Path,
        comm: &mut Comm,
        with_ids: bool,
    ) -> Result<RankGraph, LoadPartError> {
        let (rank, ranks) = (comm.rank(), comm.size());
        let with_ids = with_ids || rank == 0;
        // What is the same on all ranks that have parts of one graph; nothing if this rank has none.
        let (loaded, content) = if self.format_of(path) == Some(Format::Rg) {
            match self.read_part(path, rank, ranks, with_ids) {
                Err(error) => (Err(LoadError::from(error).into()), Vec::new()),
                Ok(Part { graph, bounds, content: (bytes, checksum) }) => {
                    let content = of_content([bytes, checksum.into()], &bounds);
                    (Ok(RankGraph::new(graph, bounds, None)), content)
                }
            }
        } else if self.has_shares(path) {
            let part = RankGraph::from(self.read_table_part(path, comm, with_ids)?);
            let scale = part.graph.weight_scale().code() as u32;
            let content = of_content([part.graph.arcs(), scale.into()], part.parts.bounds());
            (Ok(part), content)
        } else {
            (Err(LoadPartError::NoParts), Vec::new())
        };
        let all = comm.all_gather("file", &content)?;
        match (loaded, all.other_than_first()) {
            (Err(error), _) => Err(error),
            _ if all.iter().any(<[u64]>::is_empty) => Err(LoadPartError::Elsewhere),
            (Ok(_), Some(rank)) => Err(LoadPartError::GraphsDiffer { rank }),
            (Ok(part), None) => Ok(part),
        }
    }
}

impl RankGraph {
    fn new(graph: Graph, bounds: Vec<u32>, summary: Option<ReadSummary>) -> RankGraph {
        let parts = Parts::of_bounds(bounds).unwrap_or_else(|| Parts::whole(graph.vertices()));
        RankGraph { graph, parts, summary }
    }
}

impl From<TablePart> for RankGraph {
    fn from(TablePart { graph, bounds, summary }: TablePart) -> RankGraph {
        RankGraph::new(graph, bounds, Some(summary))
    }
}

fn of_content(content: [u64; 2], bounds: &[u32]) -> Vec<u64> {
    content.into_iter().chain(bounds.iter().copied().map(u64::from)).collect()
}

impl From<TablePartError> for LoadPartError {
    fn from(error: TablePartError) -> LoadPartError {
        match error {
            TablePartError::Read(error) => LoadError::Read(error).into(),
            TablePartError::Build(error) => LoadError::Build(error).into(),
            TablePartError::FilesDiffer { rank } => LoadPartError::FilesDiffer { rank },
            TablePartError::Elsewhere => LoadPartError::Elsewhere,
            TablePartError::Ranks(error) => error.into(),
        }
    }
}
