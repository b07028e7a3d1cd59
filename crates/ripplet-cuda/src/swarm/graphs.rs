//! The graphs of a run, as flat arrays that are copied to a device unchanged.

use ripplet_graph::batch::{BatchSlice, FlatLists, Subject};
use ripplet_graph::{Graph, Neighbors, Shard, WeightScale};
use ripplet_lp::RunError;
use std::ops::Range;

/// Consecutive graphs of a batch, or a single graph.
#[derive(Clone, Copy, Debug)]
pub struct Graphs<'a> {
    /// Begin of each graph's vertices, and the end of the last.
    pub vertex_starts: &'a [u64],
    pub out: FlatLists<'a>,
    /// Incoming lists, if edges have a direction.
    pub incoming: Option<FlatLists<'a>>,
    /// Exponent of each graph's weight scale, if it has weights.
    exponents: &'a [i32],
    /// The groups of sources to process, for a single graph: the first, and their number.
    groups: (u32, u32),
}

/// All groups of sources of a graph.
const ALL: (u32, u32) = (0, u32::MAX);

/// A single graph, in the form of a batch of one.
pub struct Alone<'a> {
    shard: Option<&'a Shard>,
    vertices: [u64; 2],
    /// Begin and end of the outgoing arcs.
    out: [u64; 2],
    incoming: [u64; 2],
    exponents: [i32; 1],
}

/// Owner of the arrays that `Graphs` borrows.
pub enum Flat<'a> {
    Batch(Graphs<'a>),
    Alone(Alone<'a>),
}

impl<'a> Flat<'a> {
    /// Returns the arrays of a subject.
    ///
    /// # Errors
    /// If a single graph has more arcs than a graph of a batch may have.
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

    /// Returns the single graph as a batch; an empty batch if it has no vertices.
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

    /// Returns the number of vertices of all graphs.
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

    /// Returns the real length of a stored weight of 1, by graph.
    pub fn units(self) -> impl ExactSizeIterator<Item = f64> {
        let scale = |&exponent| WeightScale::from_code(exponent).unwrap_or_default();
        self.exponents.iter().map(move |exponent| scale(exponent).weight(1))
    }

    /// Restricts the sources to some groups.
    pub fn of_groups(self, groups: Range<u32>) -> Graphs<'a> {
        Graphs { groups: (groups.start, groups.end - groups.start), ..self }
    }

    /// Returns the groups to process, of a graph with `of` groups.
    pub fn groups(self, of: u32) -> Range<u32> {
        let (first, count) = self.groups;
        first.min(of)..first.saturating_add(count).min(of)
    }

    /// Returns some consecutive graphs.
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
