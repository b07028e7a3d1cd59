//! The graph of communities, held against a count over the list of edges.

use proptest::prelude::*;
use ripplet_draw::{CommunityGraph, DrawError, DrawOptions, NO_COMMUNITY, draw};
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Direction, Duplicates, EdgeTable, Graph, GraphBuilder, SelfLoops, VertexIds};
use std::collections::BTreeMap;

type Edges = Vec<(u32, u32, u32)>;

pub fn graph(vertices: u32, edges: &Edges, direction: Direction, weighted: bool) -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    let sources = edges.iter().map(|edge| edge.0).collect();
    let targets = edges.iter().map(|edge| edge.1).collect();
    let mut table = EdgeTable::new(ids, sources, targets).unwrap();
    if weighted {
        table = table.with_weights(edges.iter().map(|edge| f64::from(edge.2)).collect()).unwrap();
    }
    let builder = GraphBuilder::new().direction(direction).shard_arcs(7);
    builder.self_loops(SelfLoops::Keep).duplicates(Duplicates::Keep).build(table).unwrap()
}

/// What a community graph should say, by the definition.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    /// Number, size, inner and outer weight of each drawn community.
    communities: Vec<(u32, u32, u64, u64)>,
    /// By the communities' numbers, the smaller first.
    links: BTreeMap<(u32, u32), u64>,
}

fn expected(edges: &Edges, communities: &[u32], weighted: bool, most: usize) -> Expected {
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    for &number in communities.iter().filter(|&&number| number != NO_COMMUNITY) {
        *sizes.entry(number).or_default() += 1;
    }
    let mut order: Vec<(u32, u32)> = sizes.into_iter().collect();
    let first = |number: u32| communities.iter().position(|&of| of == number);
    order.sort_by_key(|&(number, size)| (std::cmp::Reverse(size), first(number)));
    order.truncate(most);
    let is_drawn = |number: u32| order.iter().any(|&(drawn, _)| drawn == number);
    let weight = |edge: &(u32, u32, u32)| if weighted { u64::from(edge.2) } else { 1 };
    let of = |vertex: u32| communities[vertex as usize];
    let mut links = BTreeMap::new();
    for edge in edges {
        let (a, b) = (of(edge.0).min(of(edge.1)), of(edge.0).max(of(edge.1)));
        if a != b && is_drawn(a) && is_drawn(b) {
            *links.entry((a, b)).or_default() += weight(edge);
        }
    }
    let communities = order.into_iter().map(|(number, size)| {
        let ends = |edge: &&(u32, u32, u32)| {
            [of(edge.0) == number, of(edge.1) == number].into_iter().filter(|&is| is).count()
        };
        let sum = |wanted: usize| edges.iter().filter(|e| ends(e) == wanted).map(weight).sum();
        (number, size, sum(2), sum(1))
    });
    Expected { communities: communities.collect(), links }
}

fn found(graph: &CommunityGraph) -> Expected {
    let communities: Vec<_> = graph
        .communities
        .iter()
        .map(|community| (community.number, community.size, community.inner, community.outer))
        .collect();
    let number = |at: u32| communities[at as usize].0;
    let links = graph.links.iter().map(|link| {
        let (a, b) = (number(link.a), number(link.b));
        ((a.min(b), a.max(b)), link.weight)
    });
    Expected { links: links.collect(), communities }
}

proptest! {
    #[test]
    fn counts_are_those_of_the_edges(
        numbers in prop::collection::vec(prop_oneof![4 => 0u32..6, 1 => Just(NO_COMMUNITY)], 6..30),
        ends in prop::collection::vec((0u32..30, 0u32..30, 1u32..9), 0..90),
        directed: bool,
        weighted: bool,
        most in 0usize..8,
    ) {
        let vertices = numbers.len() as u32;
        let edges: Edges = ends.iter().map(|&(a, b, w)| (a % vertices, b % vertices, w)).collect();
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let graph = graph(vertices, &edges, direction, weighted);
        let counted = CommunityGraph::new((&graph).into(), &numbers, most).unwrap();
        let wanted = expected(&edges, &numbers, weighted, most);
        prop_assert_eq!(found(&counted), wanted);
        let drawn: u32 = counted.communities.iter().map(|community| community.size).sum();
        let unassigned = numbers.iter().filter(|&&number| number == NO_COMMUNITY).count() as u64;
        prop_assert_eq!(counted.unassigned, unassigned);
        prop_assert_eq!(counted.members_left_out, u64::from(vertices - drawn) - unassigned);
        let compressed = CompressedGraph::of(graph.clone()).unwrap();
        let of_compressed = CommunityGraph::new((&compressed).into(), &numbers, most).unwrap();
        prop_assert_eq!(found(&of_compressed), found(&counted));
    }
}

#[test]
fn leading_members_have_the_most_edges_inside() {
    // A star around 3 within {0..5}, a triangle {6, 7, 8}, and an edge between the two.
    let edges = vec![
        (3, 0, 1),
        (3, 1, 1),
        (3, 2, 1),
        (3, 4, 1),
        (3, 5, 1),
        (0, 1, 1),
        (6, 7, 1),
        (7, 8, 1),
        (8, 6, 1),
        (5, 6, 1),
    ];
    let graph = graph(9, &edges, Direction::Undirected, false);
    let options = DrawOptions { members: 3, ..DrawOptions::default() };
    let picture = draw((&graph).into(), &[0, 0, 0, 0, 0, 0, 1, 1, 1], &options).unwrap();
    assert_eq!(picture.members()[0].vertices, [3, 0, 1]);
    assert_eq!(picture.members()[0].edges, [(0, 1, 1), (0, 2, 1), (1, 2, 1)]);
    assert_eq!(picture.members()[1].vertices, [6, 7, 8]);
    assert_eq!(picture.notes(), Vec::<String>::new());
    let areas: Vec<f64> = picture.circles().iter().map(|circle| circle.radius.powi(2)).collect();
    assert!((areas[0] / areas[1] - 2.0).abs() < 1e-9, "areas are in proportion to sizes");
}

#[test]
fn what_is_left_out_is_said() {
    let edges = vec![(0, 1, 1), (2, 3, 1)];
    let graph = graph(7, &edges, Direction::Directed, false);
    let numbers = [0, 0, 1, 1, 2, 3, NO_COMMUNITY];
    let options = DrawOptions { communities: 2, ..DrawOptions::default() };
    let picture = draw((&graph).into(), &numbers, &options).unwrap();
    assert_eq!(
        picture.notes(),
        [
            "2 smaller communities with 2 members are not drawn.",
            "1 vertex is in no community.",
            "Edges count in both directions.",
        ]
    );
}

#[test]
fn wrong_input_is_refused() {
    let graph = graph(3, &vec![(0, 1, 1)], Direction::Undirected, false);
    let refused = |numbers: &[u32], options: &DrawOptions| {
        draw((&graph).into(), numbers, options).unwrap_err()
    };
    let usual = DrawOptions::default();
    assert!(matches!(refused(&[0, 0], &usual), DrawError::OtherGraph { vertices: 3, .. }));
    assert!(matches!(refused(&[0, 0, 3], &usual), DrawError::OtherGraph { .. }));
    let many = DrawOptions { communities: 1001, ..usual.clone() };
    assert!(matches!(refused(&[0, 0, 0], &many), DrawError::TooMany { most: 1000, .. }));
    let many = DrawOptions { members: 501, ..usual };
    assert!(matches!(refused(&[0, 0, 0], &many), DrawError::TooMany { most: 500, .. }));
}
