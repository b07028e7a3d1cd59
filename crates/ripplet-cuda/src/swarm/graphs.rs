//! The graphs of a run, as flat arrays that a device is given as they are.

use ripplet_graph::batch::{BatchSlice, FlatLists};
use ripplet_graph::{Graph, Neighbors, Shard};
use ripplet_lp::RunError;
use std::ops::Range;

/// Neighbouring graphs of a batch, or one graph alone.
#[derive(Clone, Copy, Debug)]
pub struct Graphs<'a> {
    /// Where each graph's vertices begin, and after them the end of the last.
    pub vertex_starts: &'a [u64],
    pub out: FlatLists<'a>,
    /// Where edges have a direction.
    pub incoming: Option<FlatLists<'a>>,
}

/// A graph, as a batch of one would have it.
pub struct Alone<'a> {
    shard: Option<&'a Shard>,
    vertices: [u64; 2],
    /// Where the outgoing and the incoming arcs begin and end.
    out: [u64; 2],
    incoming: [u64; 2],
}

impl<'a> Alone<'a> {
    /// # Errors
    /// Where the graph has more arcs than one of a batch may have.
    pub fn new(graph: &'a Graph) -> Result<Alone<'a>, RunError> {
        if graph.shards().len() > 1 {
            return Err(RunError::Device(format!(
                "the graph has {} arcs, and a GPU measures the distances of at most 2^31; compute \
                 on the CPU (--device cpu)",
                graph.arcs()
            )));
        }
        let shard = graph.shards().first();
        let arcs = |lists: Option<Neighbors<'_>>| {
            [0, lists.map_or(0, |lists| lists.neighbors().len() as u64)]
        };
        Ok(Alone {
            shard,
            vertices: [0, u64::from(graph.vertices())],
            out: arcs(shard.map(Shard::out)),
            incoming: arcs(shard.and_then(Shard::incoming)),
        })
    }

    /// The graph; none where it has no vertices.
    pub fn graphs(&self) -> Graphs<'_> {
        let Some(shard) = self.shard else {
            let nothing =
                FlatLists { arc_starts: &[0], offsets: &[], neighbors: &[], weights: None };
            return Graphs { vertex_starts: &[0], out: nothing, incoming: None };
        };
        Graphs {
            vertex_starts: &self.vertices,
            out: flat(shard.out(), &self.out),
            incoming: shard.incoming().map(|lists| flat(lists, &self.incoming)),
        }
    }
}

fn flat<'a>(lists: Neighbors<'a>, arc_starts: &'a [u64]) -> FlatLists<'a> {
    let (offsets, neighbors) = (lists.offsets(), lists.neighbors());
    FlatLists { arc_starts, offsets, neighbors, weights: None }
}

impl<'a> From<BatchSlice<'a>> for Graphs<'a> {
    fn from(graphs: BatchSlice<'a>) -> Graphs<'a> {
        Graphs {
            vertex_starts: graphs.vertex_starts(),
            out: graphs.out(),
            incoming: graphs.incoming(),
        }
    }
}

impl<'a> Graphs<'a> {
    pub fn len(self) -> usize {
        self.vertex_starts.len() - 1
    }

    /// The vertices of all.
    pub fn vertices(self) -> u64 {
        self.vertex_starts[self.len()] - self.vertex_starts[0]
    }

    pub fn vertices_of(self, graph: usize) -> u32 {
        (self.vertex_starts[graph + 1] - self.vertex_starts[graph]) as u32
    }

    pub fn is_directed(self) -> bool {
        self.incoming.is_some()
    }

    /// Some neighbouring ones.
    pub fn part(self, graphs: Range<usize>) -> Graphs<'a> {
        let starts = self.vertex_starts;
        let offset = |graph: usize| (starts[graph] - starts[0]) as usize + graph;
        let offsets = offset(graphs.start)..offset(graphs.end);
        let part = |lists: FlatLists<'a>| {
            let arc = |graph: usize| (lists.arc_starts[graph] - lists.arc_starts[0]) as usize;
            FlatLists {
                arc_starts: &lists.arc_starts[graphs.start..=graphs.end],
                offsets: &lists.offsets[offsets.clone()],
                neighbors: &lists.neighbors[arc(graphs.start)..arc(graphs.end)],
                weights: None,
            }
        };
        Graphs {
            vertex_starts: &starts[graphs.start..=graphs.end],
            out: part(self.out),
            incoming: self.incoming.map(part),
        }
    }
}
