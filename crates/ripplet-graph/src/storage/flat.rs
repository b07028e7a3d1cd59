//! Lists of any storage as plain ones of a single shard.

use super::{Adjacency, Direction, GraphView, NeighborLists, Neighbors};
use crate::dispatch_lists;
use crate::memory::{self, OutOfMemory};

/// The outgoing and incoming lists of a graph as plain ones of a single shard, without weights.
#[derive(Debug)]
pub struct FlatGraph<'a>(Flat<'a>);

#[derive(Debug)]
enum Flat<'a> {
    Borrowed([Neighbors<'a>; 2]),
    Copied(Adjacency, Option<Adjacency>),
}

impl FlatGraph<'_> {
    /// Returns the outgoing and the incoming lists; both are equal if the graph is undirected.
    pub fn lists(&self) -> (Neighbors<'_>, Neighbors<'_>) {
        match &self.0 {
            Flat::Borrowed([out, incoming]) => (*out, *incoming),
            Flat::Copied(out, incoming) => (out.view(), incoming.as_ref().unwrap_or(out).view()),
        }
    }
}

impl<'a> GraphView<'a> {
    /// Returns the lists as plain ones of a single shard: the graph's own, if it has such lists,
    /// else a copy. It suits small graphs that an algorithm reads many times.
    ///
    /// # Errors
    /// If memory is refused, or the graph has 2³² arcs or more.
    pub fn flat(self) -> Result<FlatGraph<'a>, OutOfMemory> {
        if let GraphView::Plain(graph) = self
            && let [shard] = graph.shards()
        {
            let out = shard.out();
            return Ok(FlatGraph(Flat::Borrowed([out, shard.incoming().unwrap_or(out)])));
        }
        let directed = self.direction() == Direction::Directed;
        dispatch_lists!(self, (out, incoming) => {
            let incoming = if directed { Some(copied(incoming)?) } else { None };
            Ok(FlatGraph(Flat::Copied(copied(out)?, incoming)))
        })
    }

    /// Returns the bytes that [`GraphView::flat`] allocates.
    pub fn bytes_of_flat(self) -> u64 {
        let directions = if self.direction() == Direction::Directed { 2 } else { 1 };
        match self {
            GraphView::Plain(graph) if graph.shards().len() == 1 => 0,
            _ => 4 * directions * (u64::from(self.vertices()) + 1 + self.arcs()),
        }
    }
}

/// Copies lists of any storage, without weights.
///
/// # Errors
/// If memory is refused, or there are 2³² arcs or more.
fn copied(lists: impl NeighborLists) -> Result<Adjacency, OutOfMemory> {
    let arcs = lists.arcs() as usize;
    let mut offsets = memory::with_room(lists.vertices() + 1)?;
    let mut neighbors = memory::with_room(arcs)?;
    u32::try_from(arcs).map_err(|_| OutOfMemory::of::<u32>(arcs))?;
    offsets.push(0);
    for local in 0..lists.vertices() {
        neighbors.extend(lists.each_of(local));
        offsets.push(neighbors.len() as u32);
    }
    Ok(Adjacency::new(offsets.into(), neighbors.into(), None))
}
