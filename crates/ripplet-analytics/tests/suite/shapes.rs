//! Graphs whose coefficients have a closed formula.

use super::graphs::Edges;
use super::machines::run;
use ripplet_analytics::lcc::{Coefficients, Definition};

fn of(vertices: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> Coefficients {
    let pairs: Vec<_> = pairs.into_iter().collect();
    let undirected = Edges::undirected(vertices, pairs.iter().copied()).graph();
    let found = run(&undirected, Definition::Ldbc, 2);
    assert_eq!(run(&undirected, Definition::Fagiolo, 2), found);
    // The graph with each edge as two arcs.
    let both = pairs.iter().flat_map(|&(s, t)| [(s, t), (t, s)]);
    let directed = Edges::directed(vertices, both).graph();
    assert_eq!(run(&directed, Definition::Ldbc, 2), found);
    assert_eq!(run(&directed, Definition::Fagiolo, 2), found);
    found
}

fn clique(first: u32, size: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    (0..size).flat_map(move |a| (0..a).map(move |b| (first + a, first + b)))
}

#[test]
fn nothing() {
    for vertices in [0, 1, 2, 1000] {
        let found = of(vertices, []);
        assert_eq!(found.coefficients, vec![0.0; vertices as usize]);
        assert_eq!(found.triangles, Some(vec![0; vertices as usize]));
        assert_eq!((found.triangle_count, found.mean()), (0, 0.0));
    }
    // Loops and repeated edges add no neighbours.
    assert_eq!(of(2, [(0, 1), (1, 0), (0, 1), (0, 0), (1, 1)]).coefficients, [0.0, 0.0]);
}

#[test]
fn complete_graphs() {
    for n in [3u64, 4, 5, 63, 64, 65, 300] {
        let found = of(n as u32, clique(0, n as u32));
        assert_eq!(found.coefficients, vec![1.0; n as usize], "{n}");
        assert_eq!(found.triangles.unwrap(), vec![(n - 1) * (n - 2) / 2; n as usize], "{n}");
        assert_eq!(found.triangle_count, n * (n - 1) * (n - 2) / 6, "{n}");
    }
}

#[test]
fn no_triangles() {
    let n = 500;
    assert_eq!(of(n, (1..n).map(|v| (0, v))).triangle_count, 0, "star");
    assert_eq!(of(n, (0..n).map(|v| (v, (v + 1) % n))).triangle_count, 0, "cycle");
    assert_eq!(of(n, (1..n).map(|v| (v - 1, v))).triangle_count, 0, "path");
    let bipartite = (0..20).flat_map(|a| (20..60).map(move |b| (a, b)));
    assert_eq!(of(60, bipartite).coefficients, [0.0; 60]);
}

#[test]
fn wheels() {
    for rim in [4u32, 5, 100, 70_000] {
        let spokes = (1..=rim).map(|v| (0, v));
        let found = of(rim + 1, spokes.chain((0..rim).map(|v| (v + 1, (v + 1) % rim + 1))));
        let pairs = f64::from(rim) * f64::from(rim - 1);
        assert_eq!(found.coefficients[0], f64::from(2 * rim) / pairs, "{rim}");
        assert!(found.coefficients[1..].iter().all(|&c| c == 2.0 / 3.0), "{rim}");
        assert_eq!(found.triangle_count, u64::from(rim));
    }
}

#[test]
fn two_cliques_that_share_a_vertex() {
    // Of sizes a and b: the shared vertex has (a−1)(a−2)/2 + (b−1)(b−2)/2 triangles.
    let (a, b) = (40u32, 7u32);
    let found = of(a + b - 1, clique(0, a).chain(clique(a - 1, b)));
    let shared = (a - 1) as usize;
    let triangles = u64::from((a - 1) * (a - 2) / 2 + (b - 1) * (b - 2) / 2);
    assert_eq!(found.triangles.as_ref().unwrap()[shared], triangles);
    let neighbors = f64::from(a + b - 2);
    assert_eq!(
        found.coefficients[shared],
        2.0 * triangles as f64 / (neighbors * (neighbors - 1.0))
    );
    assert!((0..found.coefficients.len()).all(|v| v == shared || found.coefficients[v] == 1.0));
}

#[test]
fn directed_triangles() {
    let ldbc = |pairs: &[(u32, u32)]| {
        run(&Edges::directed(3, pairs.iter().copied()).graph(), Definition::Ldbc, 1).coefficients
    };
    let fagiolo = |pairs: &[(u32, u32)]| {
        run(&Edges::directed(3, pairs.iter().copied()).graph(), Definition::Fagiolo, 1).coefficients
    };
    // A cycle: of the two possible arcs between two neighbours, one exists; of Fagiolo's 2 · 2 · 1,
    // two.
    assert_eq!(ldbc(&[(0, 1), (1, 2), (2, 0)]), [0.5; 3]);
    assert_eq!(fagiolo(&[(0, 1), (1, 2), (2, 0)]), [0.5; 3]);
    // With 0 – 1 in both directions, both arcs between the neighbours of 2 exist.
    let one_both = [(0, 1), (1, 0), (1, 2), (2, 0)];
    assert_eq!(ldbc(&one_both), [0.5, 0.5, 1.0]);
    // 2 · 1 · 1 over 3 · 2 − 2 at 0 and 1, over 2 · 1 at 2.
    assert_eq!(fagiolo(&one_both), [0.5, 0.5, 1.0]);
    // With 0 – 1 and 1 – 2 in both directions: 4 over 12 − 4 at 1, over 6 − 2 at 0 and 2.
    let two_both = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0)];
    assert_eq!(ldbc(&two_both), [1.0, 0.5, 1.0]);
    assert_eq!(fagiolo(&two_both), [1.0, 0.5, 1.0]);
}

/// Ranks beyond those with cells of their own, with lists long and short.
#[test]
fn many_cliques_with_more_vertices_than_cells() {
    let (count, size) = (14_000u32, 5u32);
    let cliques = (0..count).flat_map(|c| clique(c * size, size));
    // Hubs adjacent to every vertex, so that lists span the first ranks to the last.
    let vertices = count * size + 3;
    let hubs = (count * size..vertices).flat_map(|hub| (0..hub).map(move |v| (hub, v)));
    for directed in [false, true] {
        let pairs = cliques.clone().chain(hubs.clone());
        let graph = Edges { directed, ..Edges::undirected(vertices, pairs) }.graph();
        let found = run(&graph, Definition::Ldbc, 3);
        let triangles = found.triangles.unwrap();
        let member = u64::from((size + 2) * (size + 1) / 2);
        assert!(triangles[..(count * size) as usize].iter().all(|&t| t == member));
        let inside = u64::from(count * size * (size - 1) / 2);
        let hub = inside + 2 * u64::from(count * size) + 1;
        assert_eq!(triangles[(count * size) as usize..], [hub; 3]);
        let expected = if directed { 0.5 } else { 1.0 };
        assert!(found.coefficients[..100].iter().all(|&c| c == expected));
    }
}
