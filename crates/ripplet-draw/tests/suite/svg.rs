//! The static picture: the same bytes on any number of threads, for any graph.

use crate::counting::graph;
use ripplet_draw::{DrawOptions, NO_COMMUNITY, draw, write_svg};
use ripplet_graph::{Direction, GraphView};
use std::fs;

/// Returns a ring of `count` cliques of different sizes, and the number of each vertex's clique.
pub fn ring_of_cliques(count: u32) -> (u32, Vec<(u32, u32, u32)>, Vec<u32>) {
    let (mut edges, mut numbers, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    for clique in 0..count {
        let (start, size) = (numbers.len() as u32, 3 + clique % 7);
        starts.push(start);
        for a in 0..size {
            (a + 1..size).for_each(|b| edges.push((start + a, start + b, 1 + (a + b) % 3)));
            numbers.push(clique);
        }
    }
    for clique in 0..count as usize {
        edges.push((starts[clique], starts[(clique + 1) % count as usize], 2));
    }
    (numbers.len() as u32, edges, numbers)
}

fn svg_of(graph: GraphView<'_>, numbers: &[u32], title: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.svg");
    let options = DrawOptions { title: title.into(), ..DrawOptions::default() };
    write_svg(&path, &draw(graph, numbers, &options).unwrap()).unwrap();
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let (vertices, edges, numbers) = ring_of_cliques(60);
    let graph = graph(vertices, &edges, Direction::Undirected, true);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| svg_of((&graph).into(), &numbers, "Cliques"))
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_eq!(one, on(5));
    assert_eq!(one.matches("<circle").count(), 60);
    assert_eq!(one.matches("<line").count(), 60);
}

#[test]
fn titles_are_escaped_and_numbers_finite() {
    let (vertices, edges, numbers) = ring_of_cliques(5);
    let graph = graph(vertices, &edges, Direction::Directed, false);
    let svg = svg_of((&graph).into(), &numbers, "<script>&\u{7}");
    assert!(svg.contains("&lt;script&gt;&amp;\u{fffd}") && !svg.contains("<script"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn graphs_without_edges_vertices_or_communities_are_drawn() {
    let none = graph(0, &Vec::new(), Direction::Undirected, false);
    assert!(svg_of((&none).into(), &[], "Nothing").contains("0 vertices, 0 edges, 0 communities"));
    let single = graph(1, &Vec::new(), Direction::Undirected, false);
    assert!(svg_of((&single).into(), &[0], "One").contains("1 vertex, 0 edges, 1 community"));
    let without = graph(2, &vec![(0, 1, 1)], Direction::Undirected, false);
    let svg = svg_of((&without).into(), &[NO_COMMUNITY; 2], "None");
    assert!(svg.contains("2 vertices are in no community."), "{svg}");
}
