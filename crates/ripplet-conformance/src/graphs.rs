//! Graphs for the tests, each in the oracle's and in the engine's form.

use crate::oracle::Lists;
use proptest::prelude::*;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, GraphView, VertexIds};
use std::collections::BTreeMap;

/// The storage of a graph's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Plain,
    Compressed,
}

/// The engine's graph, in one of the storages.
pub enum Stored {
    Plain(Graph),
    Compressed(CompressedGraph),
}

impl Stored {
    pub fn view(&self) -> GraphView<'_> {
        match self {
            Stored::Plain(graph) => graph.into(),
            Stored::Compressed(graph) => graph.into(),
        }
    }
}

/// An edge list as a user has it.
#[derive(Clone, Debug)]
pub struct Edges {
    pub vertices: u32,
    pub pairs: Vec<(u32, u32)>,
    pub weights: Option<Vec<u32>>,
    pub directed: bool,
}

impl Edges {
    pub fn new(vertices: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> Edges {
        Edges { vertices, pairs: pairs.into_iter().collect(), weights: None, directed: false }
    }

    pub fn directed(self) -> Edges {
        Edges { directed: true, ..self }
    }

    /// Returns the engine's graph, in shards of at most `shard_arcs` arcs.
    pub fn graph(&self, shard_arcs: u64) -> Graph {
        let ids = VertexIds::Consecutive { first: 0, count: self.vertices };
        let (sources, targets) = self.pairs.iter().copied().unzip();
        let mut table = EdgeTable::new(ids, sources, targets).unwrap();
        if let Some(weights) = &self.weights {
            table = table.with_weights(weights.iter().map(|&w| f64::from(w)).collect()).unwrap();
        }
        let direction = if self.directed { Direction::Directed } else { Direction::Undirected };
        GraphBuilder::new().direction(direction).shard_arcs(shard_arcs).build(table).unwrap()
    }

    /// Returns [`Edges::graph`] in the given storage.
    pub fn stored(&self, shard_arcs: u64, storage: Storage) -> Stored {
        let graph = self.graph(shard_arcs);
        match storage {
            Storage::Plain => Stored::Plain(graph),
            Storage::Compressed => Stored::Compressed(CompressedGraph::of(graph).unwrap()),
        }
    }

    /// Returns the oracle's lists: loops dropped, duplicates merged, both directions of directed
    /// edges, outgoing ones first.
    pub fn lists(&self) -> Lists {
        let mut merged: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (row, &(s, t)) in self.pairs.iter().enumerate() {
            let key = if self.directed { (s, t) } else { (s.min(t), s.max(t)) };
            match (&self.weights, merged.entry(key).or_default()) {
                (Some(weights), sum) => *sum += u64::from(weights[row]),
                (None, one) => *one = 1,
            }
        }
        let mut lists = vec![Vec::new(); self.vertices as usize];
        merged.retain(|(s, t), _| s != t);
        for (&(s, t), &weight) in &merged {
            lists[s as usize].push((t, weight));
            if !self.directed {
                lists[t as usize].push((s, weight));
            }
        }
        if self.directed {
            merged.iter().for_each(|(&(s, t), &weight)| lists[t as usize].push((s, weight)));
        }
        lists
    }
}

pub fn ring(n: u32) -> Edges {
    Edges::new(n, (0..n).map(|v| (v, (v + 1) % n)))
}

pub fn star(leaves: u32) -> Edges {
    Edges::new(leaves + 1, (1..=leaves).map(|v| (0, v)))
}

pub fn bipartite(a: u32, b: u32) -> Edges {
    Edges::new(a + b, (0..a).flat_map(move |u| (0..b).map(move |v| (u, a + v))))
}

pub fn grid(side: u32) -> Edges {
    let at = move |x, y| y * side + x;
    let right = (0..side - 1).flat_map(move |x| (0..side).map(move |y| (at(x, y), at(x + 1, y))));
    let down = (0..side).flat_map(move |x| (0..side - 1).map(move |y| (at(x, y), at(x, y + 1))));
    Edges::new(side * side, right.chain(down))
}

pub fn cliques(count: u32, size: u32) -> Edges {
    let inside = (0..count).flat_map(move |c| {
        (0..size).flat_map(move |a| (0..a).map(move |b| (c * size + a, c * size + b)))
    });
    let between = (1..count).map(move |c| ((c - 1) * size, c * size + 1));
    Edges::new(count * size, inside.chain(between))
}

/// Returns pairs of vertices whose ids differ by `apart` and that have no other neighbours.
pub fn pairs(n: u32, apart: u32) -> Edges {
    let first = (0..n).filter(move |v| (v / apart).is_multiple_of(2));
    Edges::new(n, first.map(|v| (v, v + apart)).filter(|&(_, v)| v < n))
}

/// Returns named graphs that are hard for label propagation in different ways.
pub fn shapes() -> Vec<(&'static str, Edges)> {
    vec![
        ("nothing", Edges::new(0, [])),
        ("one vertex", Edges::new(1, [])),
        ("isolated", Edges::new(70, [(3, 4)])),
        ("ring", ring(65)),
        ("star", star(200)),
        ("bipartite", bipartite(13, 7)),
        ("grid", grid(12)),
        ("pairs", pairs(96, 8)),
        ("cliques", cliques(9, 8)),
        ("directed cliques", cliques(9, 8).directed()),
        ("reciprocal", Edges::new(5, [(0, 1), (1, 0), (1, 2), (3, 2), (2, 3), (4, 0)]).directed()),
    ]
}

/// Generates any small multigraph: loops, duplicates, isolated vertices, weights or none, either
/// direction.
pub fn any_edges() -> impl Strategy<Value = Edges> {
    (1u32..140, any::<bool>(), any::<bool>(), 0u32..3).prop_flat_map(
        |(vertices, weighted, directed, size)| {
            let most = [20usize, 200, 1500][size as usize];
            prop::collection::vec((0..vertices, 0..vertices, 0u32..=1 << 30), 0..most).prop_map(
                move |rows| Edges {
                    vertices,
                    pairs: rows.iter().map(|&(s, t, _)| (s, t)).collect(),
                    // Small and huge weights, so that volumes sometimes need more than 32 bits.
                    weights: weighted.then(|| {
                        let small = rows.len() % 2 == 0;
                        rows.iter().map(|&(_, _, w)| if small { w % 8 } else { w / 512 }).collect()
                    }),
                    directed,
                },
            )
        },
    )
}
