//! Writing of an `.rg` by ranks, each of which has the lists of its own vertices: rank 0 writes what the others send, some
//! mebibytes at a time.
//!
//! ```text
//! section   offsets           neighbours        weights
//! of ranks  0 │ 1 │ 2         0 │ 1 │ 2         0 │ 1 │ 2      in the order of the file
//! ```
//!
//! Offsets of a rank begin at 0 in its own lists; the file's begin where the rank before ends.

use super::part::lists_of;
use super::writer::Sums;
use super::{BIG_ENDIAN, INCOMING, OUT, head, id_sections};
use crate::WriteError;
use crate::output::whole_file;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{Direction, Graph, MAX_SHARD_ARCS, Neighbors, Shard, VertexId};
use ripplet_ranks::{Comm, CommError};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::Path;
use thiserror::Error;

/// Values of 4 bytes in a message.
const MESSAGE: usize = 1 << 20;

/// The reason why ranks have not written a graph.
#[derive(Debug, Error)]
pub enum WriteRankedError {
    /// The operating system refuses, or the machine is big-endian: rank 0's error.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Memory is refused.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A message between ranks failed.
    #[error(transparent)]
    Ranks(#[from] CommError),
}

/// Writes the graph that ranks have in parts, atomically; all ranks call it at the same time. Rank 0's graph has the ids, and
/// `path` is where it writes.
///
/// The bytes are those of [`write()`](super::write()) of the whole graph, if that is one shard: up to 2³¹ arcs, before repeated
/// ones were merged. Ranks count them after that; of more, the shards are ranges of the ranks' vertices.
///
/// Memory: some mebibytes of messages on each rank; on rank 0 also 4 bytes a MiB of file.
///
/// # Errors
/// If rank 0 cannot write: the others then wait, and are ended by [`Comm::abort`]. If a message fails, or memory is refused.
pub fn write_ranked(
    graph: &Graph,
    own: Range<VertexId>,
    path: &Path,
    comm: &mut Comm,
) -> Result<(), WriteRankedError> {
    write_in_shards(graph, own, path, MAX_SHARD_ARCS, comm)
}

/// Variant of [`write_ranked`] with shards of at most this many arcs, or of a rank's vertices.
fn write_in_shards(
    graph: &Graph,
    own: Range<VertexId>,
    path: &Path,
    most: u64,
    comm: &mut Comm,
) -> Result<(), WriteRankedError> {
    let kinds = if graph.direction() == Direction::Directed { 2 } else { 1 };
    let shards = shards_of(graph, &own, kinds, most, comm)?;
    // The arcs of each rank in each shard and kind of lists.
    let lists = |shard: &Range<VertexId>, kind: usize| own_lists(graph, within(&own, shard), kind);
    let arcs_in = |shard: &Range<VertexId>| {
        let arcs = |kind| lists(shard, kind).map(|(lists, locals)| arcs_of(lists, locals)).sum();
        (0..kinds).map(arcs).collect::<Vec<u64>>()
    };
    let arcs: Vec<u64> = shards.iter().flat_map(arcs_in).collect();
    let arcs = comm.all_gather("arcs of lists", &arcs)?;
    let ends = comm.all_gather("vertices", &[own.start, own.end])?;
    let mut plan = Vec::new();
    for (at, shard) in shards.iter().enumerate() {
        for kind in 0..kinds {
            let of_rank = |rank: usize| arcs.of(rank).get(at * kinds + kind).copied().unwrap_or(0);
            let arcs: Vec<u64> = (0..comm.size()).map(of_rank).collect();
            plan.push(List { number: at as u32, shard: shard.clone(), kind, arcs });
        }
    }
    let ends: Vec<Range<VertexId>> =
        ends.iter().map(|ends| if let [begin, end] = *ends { begin..end } else { 0..0 }).collect();
    let parts = Parts { graph, rank: comm.rank(), own, ends: &ends, plan: &plan };
    if comm.rank() > 0 {
        return parts.send_all(comm);
    }
    let mut broken = None;
    let written = whole_file(path, |out| {
        parts.write_all(out, comm).map_err(|error| match error {
            WriteRankedError::Write(error) => error.source,
            WriteRankedError::OutOfMemory(error) => io::Error::new(ErrorKind::OutOfMemory, error),
            WriteRankedError::Ranks(error) => {
                broken = Some(error.clone());
                io::Error::other(error)
            }
        })
    });
    match broken {
        Some(error) => Err(error.into()),
        None => Ok(written?),
    }
}

/// The lists of one kind in a shard of the file.
struct List {
    number: u32,
    shard: Range<VertexId>,
    /// 0 of outgoing arcs, 1 of incoming ones.
    kind: usize,
    /// The arcs of each rank.
    arcs: Vec<u64>,
}

/// The graph of a rank, and what all ranks have.
struct Parts<'g> {
    graph: &'g Graph,
    rank: usize,
    own: Range<VertexId>,
    /// The vertices of each rank.
    ends: &'g [Range<VertexId>],
    plan: &'g [List],
}

/// A column of lists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Offsets,
    Neighbors,
    Weights,
}

impl Parts<'_> {
    /// Returns the columns of each list, in the order of the file, with the kind of its section.
    fn columns(&self) -> impl Iterator<Item = (&List, Column, u32)> {
        let weights = self.graph.is_weighted();
        self.plan.iter().flat_map(move |list| {
            let kinds = if list.kind == 0 { OUT } else { INCOMING };
            let weights = weights.then_some((list, Column::Weights, kinds.weights));
            let offsets = (list, Column::Offsets, kinds.offsets);
            [offsets, (list, Column::Neighbors, kinds.neighbors)].into_iter().chain(weights)
        })
    }

    /// Returns the values that a rank has of a column.
    fn values_of(&self, list: &List, column: Column, rank: usize) -> u64 {
        match column {
            Column::Offsets => within(&self.ends[rank], &list.shard).len() as u64,
            Column::Neighbors | Column::Weights => list.arcs[rank],
        }
    }

    /// Calls `visit` with the own values of a column, some at a time. Offsets begin at that of the rank.
    fn for_each_own(
        &self,
        list: &List,
        column: Column,
        mut visit: impl FnMut(&[u32]) -> Result<(), WriteRankedError>,
    ) -> Result<(), WriteRankedError> {
        let mut before = list.arcs[..self.rank].iter().sum::<u64>() as u32;
        let mut chunk = Vec::new();
        for (lists, locals) in own_lists(self.graph, within(&self.own, &list.shard), list.kind) {
            let offsets = &lists.offsets()[locals.start..=locals.end];
            let (first, last) = (offsets[0], offsets[locals.len()]);
            let arcs = first as usize..last as usize;
            match column {
                Column::Offsets => {
                    for offsets in offsets[..locals.len()].chunks(MESSAGE) {
                        chunk.clear();
                        memory::reserve(&mut chunk, offsets.len())?;
                        chunk.extend(offsets.iter().map(|offset| offset - first + before));
                        visit(&chunk)?;
                    }
                    before += last - first;
                }
                Column::Neighbors => {
                    lists.neighbors()[arcs].chunks(MESSAGE).try_for_each(&mut visit)?;
                }
                Column::Weights => {
                    let weights = lists.weights().unwrap_or_default();
                    weights[arcs].chunks(MESSAGE).try_for_each(&mut visit)?;
                }
            }
        }
        Ok(())
    }

    /// Sends the own values of all columns to rank 0, each when it is its turn.
    fn send_all(&self, comm: &mut Comm) -> Result<(), WriteRankedError> {
        let nothing = |comm: &mut Comm, messages: u64| -> Result<(), CommError> {
            let to: Vec<&[u32]> = vec![&[]; comm.size()];
            (0..messages).try_for_each(|_| comm.all_to_all("lists", &to).map(|_| ()))
        };
        for (list, column, _) in self.columns() {
            for rank in 1..comm.size() {
                if rank != comm.rank() {
                    nothing(comm, messages(self.values_of(list, column, rank)))?;
                    continue;
                }
                let mut sending = Sending { comm, held: Vec::new() };
                self.for_each_own(list, column, |values| sending.add(values))?;
                sending.finish()?;
            }
        }
        Ok(())
    }

    /// Writes the file, as rank 0.
    fn write_all(
        &self,
        out: &mut (dyn Write + Send),
        comm: &mut Comm,
    ) -> Result<(), WriteRankedError> {
        let failed = |source| WriteRankedError::Write(WriteError { path: "".into(), source });
        if cfg!(target_endian = "big") {
            return Err(failed(io::Error::new(ErrorKind::Unsupported, BIG_ENDIAN)));
        }
        let ids = id_sections(self.graph.ids());
        let closing = |column| u64::from(column == Column::Offsets);
        let length = |list: &List, column: Column| {
            let of_rank = |rank| self.values_of(list, column, rank);
            4 * ((0..comm.size()).map(of_rank).sum::<u64>() + closing(column))
        };
        let of_ids = ids.iter().map(|&(kind, shard, bytes)| (kind, shard, bytes.len() as u64));
        let of_lists = self.columns();
        let of_lists =
            of_lists.map(|(list, column, kind)| (kind, list.number, length(list, column)));
        let sections: Vec<_> = of_ids.chain(of_lists).collect();
        let shards = self.plan.last().map_or(0, |list| list.number + 1);
        let (mut file, mut sums) = (out, Sums::default());
        sums.put(&mut file, &head(self.graph, shards, &sections)).map_err(failed)?;
        for (.., bytes) in ids {
            sums.begin_section(&mut file).map_err(failed)?;
            sums.put(&mut file, bytes).map_err(failed)?;
        }
        for (list, column, _) in self.columns() {
            sums.begin_section(&mut file).map_err(failed)?;
            self.for_each_own(list, column, |values| {
                sums.put(&mut file, bytemuck::cast_slice(values)).map_err(failed)
            })?;
            for rank in 1..comm.size() {
                let mut missing = self.values_of(list, column, rank);
                for _ in 0..messages(missing) {
                    let to: Vec<&[u32]> = vec![&[]; comm.size()];
                    let received = comm.all_to_all("lists", &to)?;
                    let values = received.of(rank);
                    let foreign = CommError::Foreign { peer: rank, bytes: size_of_val(values) };
                    missing = missing.checked_sub(values.len() as u64).ok_or(foreign)?;
                    sums.put(&mut file, bytemuck::cast_slice(values)).map_err(failed)?;
                }
                if missing > 0 {
                    return Err(CommError::Foreign { peer: rank, bytes: 0 }.into());
                }
            }
            if column == Column::Offsets {
                let all = list.arcs.iter().sum::<u64>() as u32;
                sums.put(&mut file, &all.to_le_bytes()).map_err(failed)?;
            }
        }
        sums.finish(&mut file, &[]).map_err(failed)
    }
}

/// Messages to rank 0, of [`MESSAGE`] values each but for the last.
struct Sending<'c> {
    comm: &'c mut Comm,
    held: Vec<u32>,
}

impl Sending<'_> {
    fn add(&mut self, values: &[u32]) -> Result<(), WriteRankedError> {
        let mut rest = values;
        while !rest.is_empty() {
            let (some, others) = rest.split_at(rest.len().min(MESSAGE - self.held.len()));
            memory::extend(&mut self.held, some)?;
            rest = others;
            if self.held.len() == MESSAGE {
                self.send()?;
            }
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), CommError> {
        let message = |rank: usize| if rank == 0 { &self.held[..] } else { &[] };
        let to: Vec<&[u32]> = (0..self.comm.size()).map(message).collect();
        self.comm.all_to_all("lists", &to)?;
        self.held.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), CommError> {
        if self.held.is_empty() { Ok(()) } else { self.send() }
    }
}

/// Returns the number of messages for some values.
fn messages(values: u64) -> u64 {
    values.div_ceil(MESSAGE as u64)
}

/// Returns the vertices that are in both ranges.
fn within(own: &Range<VertexId>, shard: &Range<VertexId>) -> Range<VertexId> {
    let begin = own.start.clamp(shard.start, shard.end);
    begin..own.end.clamp(begin, shard.end)
}

/// Yields the lists of a kind of some vertices, with these by their place in their shard.
fn own_lists<'g>(
    graph: &'g Graph,
    own: Range<VertexId>,
    kind: usize,
) -> impl Iterator<Item = (Neighbors<'g>, Range<usize>)> {
    let of_shard = move |shard: &'g Shard| lists_of(shard, &own).nth(kind);
    graph.shards().iter().filter_map(of_shard)
}

/// Returns the number of arcs of some lists.
fn arcs_of(lists: Neighbors<'_>, locals: Range<usize>) -> u64 {
    let offset = |local: usize| u64::from(lists.offsets()[local]);
    offset(locals.end) - offset(locals.start)
}

/// Returns the shards of the file: one if its arcs fit, otherwise ranges of the ranks' vertices.
fn shards_of(
    graph: &Graph,
    own: &Range<VertexId>,
    kinds: usize,
    most: u64,
    comm: &mut Comm,
) -> Result<Vec<Range<VertexId>>, CommError> {
    let all = 0..graph.vertices();
    let arcs = |kind| -> u64 {
        own_lists(graph, own.clone(), kind).map(|(lists, locals)| arcs_of(lists, locals)).sum()
    };
    let own_arcs = [arcs(0), if kinds > 1 { arcs(1) } else { 0 }];
    let sum = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
    let arcs = comm.all_reduce("arcs", own_arcs, sum)?;
    // The shards of a rank's part hold no more than a shard of a file.
    let mut ends: Vec<VertexId> = match arcs.iter().all(|&arcs| arcs <= most) {
        true => vec![all.end],
        false => graph.shards().iter().map(|shard| within(&shard.vertices(), own).end).collect(),
    };
    ends.dedup();
    let gathered = comm.all_gather("shards", &ends)?;
    let mut ends: Vec<VertexId> = gathered.all().collect();
    ends.sort_unstable();
    ends.dedup();
    let begins = [0].into_iter().chain(ends.iter().copied());
    let shards: Vec<_> = begins.zip(&ends).map(|(begin, &end)| begin..end).collect();
    Ok(shards.into_iter().filter(|shard| !shard.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rg::open;
    use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
    use ripplet_ranks::Threads;
    use std::time::Duration;

    #[test]
    fn a_graph_of_several_shards_has_the_same_lists() {
        let ids = || VertexIds::Consecutive { first: 7, count: 640 };
        let sources: Vec<u32> = (0..5000).map(|row| row * row % 640).collect();
        let targets: Vec<u32> = (0..5000).map(|row| row * 31 % 577).collect();
        let table = || EdgeTable::new(ids(), sources.clone(), targets.clone()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.rg");
        for direction in [Direction::Directed, Direction::Undirected] {
            let graph = GraphBuilder::new().direction(direction).build(table()).unwrap();
            for (most, shards) in [(1 << 20, 1), (1000, 3)] {
                let written = Threads::run(3, Duration::from_secs(60), |mut comm| {
                    let bounds = [0, 128, 320, 640];
                    let own = bounds[comm.rank()]..bounds[comm.rank() + 1];
                    write_in_shards(&graph, own, &path, most, &mut comm)
                });
                written.into_iter().for_each(|written| written.unwrap());
                let found = open(&path).unwrap();
                assert_eq!(found.shards().len(), shards);
                assert_eq!((found.ids(), found.arcs()), (graph.ids(), graph.arcs()));
                let lists = |graph: &Graph| -> Vec<Vec<Vec<u32>>> {
                    let of_shard = |shard: &Shard| {
                        let list = |lists: Neighbors<'_>, at| lists.of(at).to_vec();
                        let lists: Vec<_> = shard.lists().collect();
                        let vertex = |at| lists.iter().map(|&lists| list(lists, at)).collect();
                        (0..shard.vertices().len()).map(vertex).collect::<Vec<_>>()
                    };
                    graph.shards().iter().flat_map(of_shard).collect()
                };
                assert_eq!(lists(&found), lists(&graph));
            }
        }
    }
}
