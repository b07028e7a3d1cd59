//! The graphs of a run, as flat arrays that a device is given as they are.

use super::Subject;
use ripplet_graph::batch::{BatchSlice, FlatLists};
use ripplet_graph::{Graph, Neighbors, Shard, WeightScale};
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
    /// The exponent of each graph's weights, where it has any.
    exponents: &'a [i32],
    /// Of a graph alone the groups of sources that are asked for: the first, and how many.
    groups: (u32, u32),
}

/// All groups of sources of a graph.
const ALL: (u32, u32) = (0, u32::MAX);

/// A graph, as a batch of one would have it.
pub struct Alone<'a> {
    shard: Option<&'a Shard>,
    vertices: [u64; 2],
    /// Where the outgoing and the incoming arcs begin and end.
    out: [u64; 2],
    incoming: [u64; 2],
    exponents: [i32; 1],
}

/// What arrays are borrowed from.
pub enum Flat<'a> {
    Batch(Graphs<'a>),
    Alone(Alone<'a>),
}

impl<'a> Flat<'a> {
    /// # Errors
    /// Where a graph alone has more arcs than one of a batch may have.
    pub fn new(subject: Subject<'a>) -> Result<Flat<'a>, RunError> {
        Ok(match subject {
            Subject::Batch(graphs) => Flat::Batch(graphs.into()),
            Subject::Graph(graph) => Flat::Alone(Alone::new(graph)?),
        })
    }

    pub fn graphs(&self) -> Graphs<'_> {
        match self {
            Flat::Batch(graphs) => *graphs,
            Flat::Alone(alone) => alone.graphs(),
        }
    }
}

impl<'a> Alone<'a> {
    fn new(graph: &'a Graph) -> Result<Alone<'a>, RunError> {
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
            exponents: [graph.weight_scale().code()],
        })
    }

    /// The graph; none where it has no vertices.
    fn graphs(&self) -> Graphs<'_> {
        let Some(shard) = self.shard else {
            let nothing =
                FlatLists { arc_starts: &[0], offsets: &[], neighbors: &[], weights: None };
            let (vertex_starts, incoming) = (&[0], None);
            return Graphs { vertex_starts, out: nothing, incoming, exponents: &[], groups: ALL };
        };
        Graphs {
            vertex_starts: &self.vertices,
            out: flat(shard.out(), &self.out),
            incoming: shard.incoming().map(|lists| flat(lists, &self.incoming)),
            exponents: &self.exponents,
            groups: ALL,
        }
    }
}

fn flat<'a>(lists: Neighbors<'a>, arc_starts: &'a [u64]) -> FlatLists<'a> {
    let (offsets, neighbors) = (lists.offsets(), lists.neighbors());
    FlatLists { arc_starts, offsets, neighbors, weights: lists.weights() }
}

impl<'a> From<BatchSlice<'a>> for Graphs<'a> {
    fn from(graphs: BatchSlice<'a>) -> Graphs<'a> {
        Graphs {
            vertex_starts: graphs.vertex_starts(),
            out: graphs.out(),
            incoming: graphs.incoming(),
            exponents: graphs.weight_exponents().unwrap_or_default(),
            groups: ALL,
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

    pub fn is_weighted(self) -> bool {
        self.out.weights.is_some()
    }

    /// The real length that a stored 1 stands for, of each graph.
    pub fn units(self) -> impl ExactSizeIterator<Item = f64> {
        let scale = |&exponent| WeightScale::from_code(exponent).unwrap_or_default();
        self.exponents.iter().map(move |exponent| scale(exponent).weight(1))
    }

    /// The same with some groups of sources alone.
    pub fn of_groups(self, groups: Range<u32>) -> Graphs<'a> {
        Graphs { groups: (groups.start, groups.end - groups.start), ..self }
    }

    /// The groups that are asked for, of a graph of so many.
    pub fn groups(self, of: u32) -> Range<u32> {
        let (first, count) = self.groups;
        first.min(of)..first.saturating_add(count).min(of)
    }

    /// Some neighbouring ones.
    pub fn part(self, graphs: Range<usize>) -> Graphs<'a> {
        let starts = self.vertex_starts;
        let offset = |graph: usize| (starts[graph] - starts[0]) as usize + graph;
        let offsets = offset(graphs.start)..offset(graphs.end);
        let part = |lists: FlatLists<'a>| {
            let arc = |graph: usize| (lists.arc_starts[graph] - lists.arc_starts[0]) as usize;
            let arcs = arc(graphs.start)..arc(graphs.end);
            FlatLists {
                arc_starts: &lists.arc_starts[graphs.start..=graphs.end],
                offsets: &lists.offsets[offsets.clone()],
                neighbors: &lists.neighbors[arcs.clone()],
                weights: lists.weights.map(|weights| &weights[arcs]),
            }
        };
        Graphs {
            vertex_starts: &starts[graphs.start..=graphs.end],
            out: part(self.out),
            incoming: self.incoming.map(part),
            exponents: if self.exponents.is_empty() {
                &[]
            } else {
                &self.exponents[graphs.clone()]
            },
            groups: self.groups,
        }
    }
}
