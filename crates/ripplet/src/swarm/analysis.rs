//! What can be asked of a graph, or of each graph of a batch.

use super::{Answer, Column, SwarmError};
use ripplet_analytics::apsp::{self, Reach};
use ripplet_analytics::betweenness::{self, betweenness, betweenness_of_batch};
use ripplet_analytics::closeness::{self, Closeness, closeness, closeness_of_batch};
use ripplet_analytics::{Observer, Plan};
use ripplet_graph::batch::{BatchGraph, BatchSlice};
use ripplet_graph::{Direction, Graph, VertexId, memory};
use ripplet_io::write::{ColumnData, ColumnKind, Part, Rows, Subject};
use std::iter::once;

/// What is asked of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// Each vertex's closeness: a column `value`.
    Closeness {
        /// Which closeness.
        measure: Closeness,
        /// Whether it is normalized.
        normalized: bool,
    },
    /// Each vertex's betweenness: a column `value`.
    Betweenness {
        /// Whether it is normalized.
        normalized: bool,
    },
    /// From each vertex to each other the `distance`, which is infinite where there is no way.
    Distances,
    /// Of each vertex the `eccentricity`, how many others it has a way to (`reached`), and their
    /// `average_distance`; 0 without any.
    Reach,
    /// Of each graph the numbers of `vertices`, of `edges`, and of `pairs` of different vertices, in one
    /// order, that have a way; of these the largest distance (`diameter`), the `average_distance` and the
    /// sum of all distances (`wiener`, on an undirected graph of each two vertices once); the smallest
    /// eccentricity (`radius`); and whether all pairs have a way (`connected`).
    Summary,
}

/// The columns of [`Analysis::Summary`].
const SUMMARY: &[(&str, ColumnKind)] = &[
    ("vertices", ColumnKind::U32),
    ("edges", ColumnKind::U64),
    ("pairs", ColumnKind::U64),
    ("diameter", ColumnKind::F64),
    ("radius", ColumnKind::F64),
    ("average_distance", ColumnKind::F64),
    ("wiener", ColumnKind::F64),
    ("connected", ColumnKind::Bool),
];

/// Distances that are handed over at once, or those from one vertex.
const PAIRS: usize = 1 << 18;

impl Analysis {
    /// What the rows of its table are about.
    pub fn rows(self) -> Rows {
        match self {
            Analysis::Closeness { .. } | Analysis::Betweenness { .. } => Rows::Vertices,
            Analysis::Distances => Rows::Pairs,
            Analysis::Reach => Rows::Vertices,
            Analysis::Summary => Rows::Graphs,
        }
    }

    /// The columns of its answers: their names, and what they hold.
    pub fn columns(self) -> &'static [(&'static str, ColumnKind)] {
        match self {
            Analysis::Closeness { .. } | Analysis::Betweenness { .. } => {
                &[("value", ColumnKind::F64)]
            }
            Analysis::Distances => &[("distance", ColumnKind::F64)],
            Analysis::Reach => &[
                ("eccentricity", ColumnKind::F64),
                ("reached", ColumnKind::U64),
                ("average_distance", ColumnKind::F64),
            ],
            Analysis::Summary => SUMMARY,
        }
    }

    /// The memory that the CPU needs beside a graph on so many threads.
    pub fn plan(self, graph: &Graph, threads: usize) -> Plan {
        match self {
            Analysis::Closeness { measure, .. } => closeness::plan(graph, measure, threads),
            Analysis::Betweenness { .. } => betweenness::plan(graph, threads),
            Analysis::Distances => apsp::plan_of_rows(graph, threads),
            Analysis::Reach | Analysis::Summary => apsp::plan_of_reach(graph, threads),
        }
    }

    /// The memory that the CPU needs beside these graphs on so many threads, answer included.
    pub fn plan_of_batch(self, graphs: BatchSlice<'_>, threads: usize) -> Plan {
        match self {
            Analysis::Closeness { measure, .. } => {
                closeness::plan_of_batch(graphs, measure, threads)
            }
            Analysis::Betweenness { .. } => betweenness::plan_of_batch(graphs, threads),
            Analysis::Distances => apsp::plan_of_distances_of_batch(graphs, threads),
            Analysis::Reach | Analysis::Summary => apsp::plan_of_reach_of_batch(graphs, threads),
        }
    }

    /// Asks it of one graph, on rayon's current pool: hands over the rows and their columns, which are many
    /// times some where they are pairs.
    ///
    /// # Errors
    /// Where `take` fails, the observer cancels, or memory is refused.
    pub fn of_graph(
        self,
        graph: &Graph,
        observer: &mut dyn Observer,
        mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
    ) -> Result<(), SwarmError> {
        let of = Subject::Graph(graph.ids());
        let answer = match self {
            Analysis::Distances => return hand_out(graph, observer, take),
            Analysis::Closeness { measure, normalized } => {
                let values = closeness(graph, measure, normalized, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Betweenness { normalized } => {
                let values = betweenness(graph, normalized, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Reach => columns_of_reach(&apsp::reach(graph, observer)?)?,
            Analysis::Summary => {
                let reach = apsp::reach(graph, observer)?;
                summaries(once((graph.edges(), &reach[..])), graph.direction())?
            }
        };
        let columns: Vec<ColumnData<'_>> = answer.columns().iter().map(Column::data).collect();
        take(answer.part(of), &columns)
    }

    /// Asks it of each graph of a batch, on rayon's current pool.
    ///
    /// # Errors
    /// Where the observer cancels, or memory is refused.
    pub fn of_batch(
        self,
        graphs: BatchSlice<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Answer, SwarmError> {
        Ok(match self {
            Analysis::Closeness { measure, normalized } => {
                let values = closeness_of_batch(graphs, measure, normalized, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Betweenness { normalized } => {
                let values = betweenness_of_batch(graphs, normalized, observer)?;
                Answer::Vertices(vec![Column::F64(values)])
            }
            Analysis::Distances => {
                Answer::Pairs(vec![Column::F64(apsp::distances_of_batch(graphs, observer)?)])
            }
            Analysis::Reach => columns_of_reach(&apsp::reach_of_batch(graphs, observer)?)?,
            Analysis::Summary => {
                let reach = apsp::reach_of_batch(graphs, observer)?;
                let mut rest = &reach[..];
                let each = graphs.graphs().map(|graph| {
                    let (mine, others) = rest.split_at(graph.vertices() as usize);
                    rest = others;
                    (edges_of(graph), mine)
                });
                summaries(each, graphs.batch().direction())?
            }
        })
    }
}

/// Hands over the distances of a graph, some sources at a time.
fn hand_out(
    graph: &Graph,
    observer: &mut dyn Observer,
    mut take: impl FnMut(Part<'_>, &[ColumnData<'_>]) -> Result<(), SwarmError>,
) -> Result<(), SwarmError> {
    let of = Subject::Graph(graph.ids());
    let vertices = graph.vertices() as usize;
    let mut waiting = memory::with_room(PAIRS.max(vertices).min(vertices.pow(2)))?;
    let mut first: VertexId = 0;
    let real = |&distance: &u32| match distance {
        apsp::NO_WAY => f64::INFINITY,
        distance => f64::from(distance),
    };
    apsp::rows(graph, observer, |source, row| {
        waiting.extend(row.iter().map(real));
        let is_last = source + 1 == graph.vertices();
        if is_last || waiting.len() + vertices > PAIRS.max(vertices) {
            let part = Part::Pairs { of, sources: first..source + 1 };
            take(part, &[ColumnData::F64(&waiting)])?;
            waiting.clear();
            first = source + 1;
        }
        Ok(())
    })
}

fn columns_of_reach(reach: &[Reach]) -> Result<Answer, SwarmError> {
    let column =
        |value: fn(&Reach) -> f64| memory::collected(reach.iter().map(value)).map(Column::F64);
    Ok(Answer::Vertices(vec![
        column(|reach| f64::from(reach.farthest))?,
        Column::U64(memory::collected(reach.iter().map(|reach| reach.reached))?),
        column(|reach| reach.average())?,
    ]))
}

/// Edges of a graph of a batch, counted as [`Graph::edges`] does.
fn edges_of(graph: BatchGraph<'_>) -> u64 {
    if graph.incoming().is_some() {
        return graph.arcs();
    }
    let loops = |vertex: VertexId| {
        let list = graph.out().of(vertex as usize);
        let [before, to] =
            [vertex, vertex + 1].map(|end| list.partition_point(|&neighbor| neighbor < end));
        (to - before) as u64
    };
    (graph.arcs() + (0..graph.vertices()).map(loops).sum::<u64>()) / 2
}

/// Summaries of graphs with so many edges, from what the distances from each of their vertices come to.
fn summaries<'a>(
    graphs: impl ExactSizeIterator<Item = (u64, &'a [Reach])>,
    direction: Direction,
) -> Result<Answer, SwarmError> {
    let mut columns = Summaries::default();
    columns.reserve(graphs.len())?;
    for (edges, reach) in graphs {
        columns.push(edges, reach, direction);
    }
    Ok(Answer::Graphs(columns.into_columns()))
}

/// The columns of [`Analysis::Summary`] as they are filled.
#[derive(Default)]
struct Summaries {
    vertices: Vec<u32>,
    edges: Vec<u64>,
    pairs: Vec<u64>,
    diameter: Vec<f64>,
    radius: Vec<f64>,
    average: Vec<f64>,
    wiener: Vec<f64>,
    connected: Vec<bool>,
}

impl Summaries {
    fn reserve(&mut self, graphs: usize) -> Result<(), ripplet_graph::OutOfMemory> {
        memory::reserve(&mut self.vertices, graphs)?;
        memory::reserve(&mut self.edges, graphs)?;
        memory::reserve(&mut self.pairs, graphs)?;
        memory::reserve(&mut self.diameter, graphs)?;
        memory::reserve(&mut self.radius, graphs)?;
        memory::reserve(&mut self.average, graphs)?;
        memory::reserve(&mut self.wiener, graphs)?;
        memory::reserve(&mut self.connected, graphs)
    }

    fn push(&mut self, edges: u64, reach: &[Reach], direction: Direction) {
        let vertices = reach.len() as u64;
        let pairs: u64 = reach.iter().map(|reach| reach.reached).sum();
        let sum: u128 = reach.iter().map(|reach| u128::from(reach.far)).sum();
        let farthest = || reach.iter().map(|reach| reach.farthest);
        let once = match direction {
            Direction::Undirected => sum / 2,
            Direction::Directed => sum,
        };
        self.vertices.push(reach.len() as u32);
        self.edges.push(edges);
        self.pairs.push(pairs);
        self.diameter.push(f64::from(farthest().max().unwrap_or(0)));
        self.radius.push(f64::from(farthest().min().unwrap_or(0)));
        self.average.push(if pairs == 0 { 0.0 } else { sum as f64 / pairs as f64 });
        self.wiener.push(once as f64);
        self.connected.push(pairs == vertices * vertices.saturating_sub(1));
    }

    /// In the order of [`SUMMARY`].
    fn into_columns(self) -> Vec<Column> {
        vec![
            Column::U32(self.vertices),
            Column::U64(self.edges),
            Column::U64(self.pairs),
            Column::F64(self.diameter),
            Column::F64(self.radius),
            Column::F64(self.average),
            Column::F64(self.wiener),
            Column::Bool(self.connected),
        ]
    }
}
