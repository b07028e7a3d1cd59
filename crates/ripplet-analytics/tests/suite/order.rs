//! The order of floating-point additions, bit by bit, evaluated literally over matrices.
//!
//! An implementation elsewhere that must compute identical values relies on this order.

use super::graphs::Edges;
use super::random::any_edges;
use super::weighted::weighted_edges;
use proptest::prelude::*;
use ripplet_analytics::Lengths;
use ripplet_analytics::betweenness::betweenness;
use ripplet_analytics::closeness::{Closeness, closeness};
use ripplet_analytics::edge_betweenness::{edge_betweenness, ends};
use ripplet_graph::{Direction, Graph};

/// Adds one term per source: pairwise sums of 8, sums of 64 in order from them, and the total in
/// order.
fn in_order(terms: &[f64]) -> f64 {
    let mut sum = 0.0;
    for group in terms.chunks(64) {
        let mut of_group = 0.0;
        for eight in group.chunks(8) {
            let mut t = [0.0; 8];
            t[..eight.len()].copy_from_slice(eight);
            of_group += ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
        }
        sum += of_group;
    }
    sum
}

/// Lengths of arcs and paths in eighths, which are also the stored weights; `None` if there is no
/// arc or path.
struct Matrices {
    arcs: Vec<Vec<Option<u64>>>,
    distances: Vec<Vec<Option<u64>>>,
}

impl Matrices {
    fn new(edges: &Edges, lengths: Lengths) -> Matrices {
        let n = edges.vertices as usize;
        let mut arcs: Vec<Vec<Option<u64>>> = vec![vec![None; n]; n];
        for (row, &(s, t)) in edges.pairs.iter().enumerate() {
            let weight = edges.weights.as_ref().filter(|_| lengths == Lengths::Weights);
            let length = weight.map_or(1, |weights| (weights[row] * 8.0) as u64);
            for (s, t) in [(s, t), (t, s)].into_iter().take(if edges.directed { 1 } else { 2 }) {
                let arc = &mut arcs[s as usize][t as usize];
                *arc = Some(arc.map_or(length, |known| known.min(length)));
            }
        }
        let mut distances = arcs.clone();
        (0..n).for_each(|v| distances[v][v] = Some(0));
        for through in 0..n {
            for s in 0..n {
                for t in 0..n {
                    let (Some(a), Some(b)) = (distances[s][through], distances[through][t]) else {
                        continue;
                    };
                    let known = distances[s][t].unwrap_or(u64::MAX);
                    distances[s][t] = Some(known.min(a + b));
                }
            }
        }
        Matrices { arcs, distances }
    }

    fn n(&self) -> usize {
        self.arcs.len()
    }

    /// Returns whether the arc between two vertices is the last of a shortest path from `s`.
    fn leads(&self, s: usize, from: usize, to: usize) -> bool {
        let way = self.distances[s][from].zip(self.arcs[from][to]).map(|(way, arc)| way + arc);
        from != to && way.is_some() && way == self.distances[s][to]
    }

    /// Returns for a source: path counts σ, the ratios δ/σ of dependency and path count, and 1/σ +
    /// δ/σ, which a vertex adds to its predecessors' ratios.
    fn brandes(&self, s: usize) -> [Vec<f64>; 3] {
        let n = self.n();
        let [mut path_counts, mut share, mut passed] = [(); 3].map(|()| vec![0.0; n]);
        let mut found: Vec<usize> = (0..n).filter(|&v| self.distances[s][v].is_some()).collect();
        found.sort_by_key(|&v| self.distances[s][v]);
        path_counts[s] = 1.0;
        for &v in found.iter().filter(|&&v| v != s) {
            (0..n).filter(|&u| self.leads(s, u, v)).for_each(|u| path_counts[v] += path_counts[u]);
        }
        for &v in found.iter().rev() {
            (0..n).rev().filter(|&w| self.leads(s, v, w)).for_each(|w| share[v] += passed[w]);
            passed[v] = 1.0 / path_counts[v] + share[v];
        }
        [path_counts, share, passed]
    }
}

type Found = Result<(), TestCaseError>;

fn check(edges: &Edges, keep: bool, lengths: Lengths) -> Found {
    let (graph, matrices) = (edges.graph_of(1 << 20, keep), Matrices::new(edges, lengths));
    if lengths == Lengths::Weights && edges.weights.is_some() {
        check_harmonic(&graph, &matrices)?;
    }
    let n = matrices.n();
    let arcs = || (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    if arcs().any(|(from, to)| from != to && matrices.arcs[from][to] == Some(0)) {
        return Ok(());
    }
    let brandes: Vec<[Vec<f64>; 3]> = (0..n).map(|s| matrices.brandes(s)).collect();
    check_vertices(&graph, &brandes, lengths)?;
    check_edges(&graph, &matrices, &brandes, lengths)
}

fn check_harmonic(graph: &Graph, matrices: &Matrices) -> Found {
    let found = closeness(graph, Closeness::Harmonic, false, Lengths::Weights, &mut ()).unwrap();
    let unit = graph.weight_scale().weight(1);
    for (v, found) in found.into_iter().enumerate() {
        let term = |u: usize| match matrices.distances[u][v] {
            None | Some(0) => 0.0,
            // The stored weights are the eighths times a power of two.
            Some(eighths) => 1.0 / (eighths as f64 / 8.0 / unit),
        };
        let terms: Vec<f64> = (0..matrices.n()).map(term).collect();
        let expected = in_order(&terms) / unit;
        prop_assert_eq!(found.to_bits(), expected.to_bits(), "{}: {}, {}", v, found, expected);
    }
    Ok(())
}

/// Returns the factor of sums over ordered pairs.
fn scale(graph: &Graph) -> f64 {
    if graph.direction() == Direction::Directed { 1.0 } else { 0.5 }
}

fn check_vertices(graph: &Graph, brandes: &[[Vec<f64>; 3]], lengths: Lengths) -> Found {
    let found = betweenness(graph, false, lengths, &mut ()).unwrap();
    for (v, found) in found.into_iter().enumerate() {
        let of = |(s, [path_counts, share, _]): (usize, &[Vec<f64>; 3])| match s == v {
            true => 0.0,
            false => path_counts[v] * share[v],
        };
        let terms: Vec<f64> = brandes.iter().enumerate().map(of).collect();
        let expected = in_order(&terms) * scale(graph);
        prop_assert_eq!(found.to_bits(), expected.to_bits(), "{}: {}, {}", v, found, expected);
    }
    Ok(())
}

fn check_edges(
    graph: &Graph,
    matrices: &Matrices,
    brandes: &[[Vec<f64>; 3]],
    lengths: Lengths,
) -> Found {
    let along = |from: usize, to: usize| {
        let of = |(s, [path_counts, _, passed]): (usize, &[Vec<f64>; 3])| match matrices
            .leads(s, from, to)
        {
            true => path_counts[from] * passed[to],
            false => 0.0,
        };
        in_order(&brandes.iter().enumerate().map(of).collect::<Vec<f64>>())
    };
    let undirected = graph.direction() == Direction::Undirected;
    let found = edge_betweenness(graph, false, lengths, &mut ()).unwrap();
    for ((from, to), found) in ends(graph).zip(found) {
        let (from, to) = (from as usize, to as usize);
        let back = if undirected && from != to { along(to, from) } else { 0.0 };
        let expected = (along(from, to) + back) * scale(graph);
        prop_assert_eq!(found.to_bits(), expected.to_bits(), "{} {}: {}", from, to, found);
    }
    Ok(())
}

proptest! {
    #[test]
    fn by_hops(edges in any_edges(), keep in any::<bool>()) {
        check(&edges, keep, Lengths::Hops)?;
    }

    #[test]
    fn by_weights(edges in weighted_edges(0), keep in any::<bool>()) {
        check(&edges, keep, Lengths::Weights)?;
    }

    #[test]
    fn by_weights_that_all_count(edges in weighted_edges(1), keep in any::<bool>()) {
        check(&edges, keep, Lengths::Weights)?;
    }
}

/// More sources than one group has.
#[test]
fn groups_of_sources() {
    let ring = (0..150u32).map(|v| (v, (v + 1) % 150));
    let chords = (0..150u32).step_by(4).map(|v| (v, (v * v + 11) % 150));
    let edges = Edges::undirected(153, ring.chain(chords).chain([(150, 151)]));
    let weights = Some((0..edges.pairs.len()).map(|at| 1.0 + (at * 37 % 5) as f64).collect());
    for directed in [false, true] {
        let edges = Edges { directed, weights: weights.clone(), ..edges.clone() };
        check(&edges, false, Lengths::Hops).unwrap();
        check(&edges, false, Lengths::Weights).unwrap();
    }
}
