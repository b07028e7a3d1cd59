//! Overlapping communities against cdlib and networkx; `tests/data/make_covers.py` made the
//! numbers.

use ripplet_generate::Planted;
use ripplet_graph::{EdgeTable, Graph, GraphBuilder, SelfLoops, VertexIds};
use ripplet_lp::quality::{
    Cover, OverlapAgreement, Quality, QualityError, agreement, overlap_agreement, per_community,
};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Case {
    edges: Vec<(u64, u64, f64)>,
    vertices: Vec<u64>,
    labels: Vec<Vec<u64>>,
    truth: Vec<Vec<u64>>,
    agreement: Expected,
    communities: Vec<Figures>,
}

#[derive(Deserialize)]
struct Expected {
    nmi_lfk: f64,
    nmi_max: f64,
    omega: f64,
    f1: f64,
}

#[derive(Deserialize)]
struct Figures {
    inner_edges: u64,
    outer_edges: u64,
    inner_weight: f64,
    outer_weight: f64,
    conductance: f64,
    density: f64,
    modularity: f64,
    triangle_participation: f64,
    connected: bool,
}

fn cases() -> Vec<Case> {
    let path = format!("{}/tests/data/covers.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

impl Case {
    fn vertex(&self, id: u64) -> u32 {
        self.vertices.binary_search(&id).unwrap() as u32
    }

    fn cover(&self, communities: &[Vec<u64>]) -> Cover {
        let memberships = (0..).zip(communities).flat_map(|(community, members)| {
            members.iter().map(move |&id| (self.vertex(id), community))
        });
        Cover::new(self.vertices.len() as u32, communities.len() as u32, memberships).unwrap()
    }

    fn graph(&self) -> Graph {
        let ids = VertexIds::Unsigned(self.vertices.clone().into());
        let ends = |end: fn(&(u64, u64, f64)) -> u64| -> Vec<u32> {
            self.edges.iter().map(|edge| self.vertex(end(edge))).collect()
        };
        let weights = self.edges.iter().map(|edge| edge.2).collect();
        let table = EdgeTable::new(ids, ends(|edge| edge.0), ends(|edge| edge.1)).unwrap();
        let table = table.with_weights(weights).unwrap();
        GraphBuilder::new().self_loops(SelfLoops::Keep).shard_arcs(20).build(table).unwrap()
    }
}

fn on_any_threads<T: PartialEq + std::fmt::Debug + Send>(compute: impl Fn() -> T + Sync) -> T {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&compute)
    };
    let found = on(1);
    for threads in [2, 3, 4] {
        assert_eq!(found, on(threads), "on {threads} threads");
    }
    found
}

fn close(name: &str, case: usize, found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "case {case}: {name} {found}, not {expected}");
}

#[test]
fn agreement_is_that_of_cdlib() {
    let cases = cases();
    assert!(cases.len() > 25);
    for (at, case) in cases.iter().enumerate() {
        let (labels, truth) = (case.cover(&case.labels), case.cover(&case.truth));
        let found = on_any_threads(|| overlap_agreement(&labels, &truth).unwrap());
        let OverlapAgreement { nmi_lfk, nmi_max, omega, f1 } = found;
        close("nmi_lfk", at, nmi_lfk, case.agreement.nmi_lfk);
        close("nmi_max", at, nmi_max, case.agreement.nmi_max);
        close("omega", at, omega.unwrap(), case.agreement.omega);
        close("f1", at, f1, case.agreement.f1);
        let back = overlap_agreement(&truth, &labels).unwrap();
        close("f1 the other way", at, back.f1, f1);
        close("omega the other way", at, back.omega.unwrap(), omega.unwrap());
        let same = overlap_agreement(&truth, &truth).unwrap();
        assert_eq!((same.nmi_lfk, same.nmi_max, same.omega, same.f1), (1.0, 1.0, Some(1.0), 1.0));
    }
}

#[test]
fn figures_of_communities_are_those_of_networkx() {
    for (at, case) in cases().iter().enumerate() {
        let (graph, cover) = (case.graph(), case.cover(&case.labels));
        let found = on_any_threads(|| per_community(&graph, &cover, 1.0).unwrap());
        assert_eq!(found.len(), case.communities.len());
        for ((found, expected), members) in found.iter().zip(&case.communities).zip(&case.labels) {
            assert_eq!(found.size as usize, members.len(), "case {at}");
            let counts = (found.inner_edges, found.outer_edges, found.connected);
            let wanted = (expected.inner_edges, expected.outer_edges, expected.connected);
            assert_eq!(counts, wanted, "case {at}");
            close("inner weight", at, found.inner_weight, expected.inner_weight);
            close("outer weight", at, found.outer_weight, expected.outer_weight);
            close("conductance", at, found.conductance, expected.conductance);
            close("density", at, found.density, expected.density);
            close("modularity", at, found.modularity, expected.modularity);
            close("triangles", at, found.triangle_participation, expected.triangle_participation);
        }
        if cover.is_disjoint() {
            let terms: f64 = found.iter().map(|figures| figures.modularity).sum();
            let quality = Quality::of(&graph, &cover.labels().unwrap()).unwrap();
            close("the sum of terms", at, terms, quality.modularity);
            let apart = found.iter().filter(|figures| !figures.connected).count();
            assert_eq!(apart as u64, quality.disconnected);
        }
    }
}

#[test]
fn only_vertices_that_both_have_are_compared() {
    let cover = |communities: &[&[u32]]| {
        let memberships =
            (0..).zip(communities).flat_map(|(at, members)| members.iter().map(move |&v| (v, at)));
        Cover::new(8, communities.len() as u32, memberships).unwrap()
    };
    let (a, b) = (cover(&[&[0, 1, 2, 7], &[3, 4]]), cover(&[&[3, 4, 6], &[0, 1, 2], &[6]]));
    let found = overlap_agreement(&a, &b).unwrap();
    assert_eq!((found.nmi_lfk, found.nmi_max, found.omega, found.f1), (1.0, 1.0, Some(1.0), 1.0));
    assert_eq!((a.covered_by_both(&b), b.covered_by_both(&a)), (5, 5));
    let none = overlap_agreement(&a, &cover(&[])).unwrap();
    assert_eq!(none.f1, 1.0, "of nothing, nothing differs");
    let other = Cover::new(3, 0, []).unwrap();
    assert!(matches!(overlap_agreement(&a, &other), Err(QualityError::Length { .. })));
    assert_eq!((a.covered(), a.is_disjoint(), a.communities_of(7)), (6, true, &[0][..]));
    assert!(!cover(&[&[0], &[0]]).is_disjoint());
}

/// A community of more than a third of all vertices has information about a disjoint community.
#[test]
fn large_strangers_count() {
    let cover = |communities: &[BTreeSet<u32>]| {
        let memberships =
            (0..).zip(communities).flat_map(|(at, members)| members.iter().map(move |&v| (v, at)));
        Cover::new(100, communities.len() as u32, memberships).unwrap()
    };
    let of = |range: std::ops::Range<u32>| range.collect::<BTreeSet<u32>>();
    let (a, b) = (cover(&[of(0..60), of(60..61), of(61..100)]), cover(&[of(0..60), of(60..100)]));
    let found = overlap_agreement(&a, &b).unwrap();
    // By the definition, {60} and {0, …, 59} share no member, but the conditional entropy of the
    // first given the second is less than its entropy.
    let h = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    let own = |p: f64| h(p) + h(1.0 - p);
    let left = |x: f64, y: f64, both: f64| {
        let (only_x, only_y, none) = (x - both, y - both, 1.0 + both - x - y);
        match h(both) + h(none) > h(only_x) + h(only_y) {
            true => h(both) + h(none) + h(only_x) + h(only_y) - own(y),
            false => own(x),
        }
    };
    let (xs, ys) = ([0.6, 0.01, 0.39], [0.6, 0.4]);
    let both = [[0.6, 0.0], [0.0, 0.01], [0.0, 0.39]];
    let x_left: f64 = (0..3)
        .map(|x| (0..2).map(|y| left(xs[x], ys[y], both[x][y])).fold(own(xs[x]), f64::min))
        .sum();
    let y_left: f64 = (0..2)
        .map(|y| (0..3).map(|x| left(ys[y], xs[x], both[x][y])).fold(own(ys[y]), f64::min))
        .sum();
    let (x_own, y_own) = (xs.map(own).iter().sum::<f64>(), ys.map(own).iter().sum::<f64>());
    let expected = (x_own - x_left + y_own - y_left) / 2.0 / x_own.max(y_own);
    close("nmi_max", 0, found.nmi_max, expected);
}

/// For communities that do not overlap, the omega index equals the adjusted Rand index.
#[test]
fn the_omega_index_of_partitions_is_the_adjusted_rand_index() {
    for case in cases().iter().filter(|case| case.cover(&case.labels).is_disjoint()) {
        let (labels, truth) = (case.cover(&case.labels), case.cover(&case.truth));
        if truth.is_disjoint() {
            let both = agreement(&labels.labels().unwrap(), &truth.labels().unwrap()).unwrap();
            close("ari", 0, both.ari, case.agreement.omega);
            assert_eq!(overlap_agreement(&labels, &truth).unwrap().omega, Some(both.ari));
        }
    }
}

/// Communities with too many members to examine all pairs.
#[test]
fn the_omega_index_of_giant_communities_is_that_of_its_definition() {
    const VERTICES: u32 = 200_000;
    // A: [0, 120000) and [80000, 200000). B: [0, 100000), [100000, 200000) and [60000, 140000).
    let cover = |communities: &[std::ops::Range<u32>]| {
        let memberships =
            (0..).zip(communities).flat_map(|(at, members)| members.clone().map(move |v| (v, at)));
        Cover::new(VERTICES, communities.len() as u32, memberships).unwrap()
    };
    let a = cover(&[0..120_000, 80_000..200_000]);
    let b = cover(&[0..100_000, 100_000..200_000, 60_000..140_000]);
    let found = on_any_threads(|| overlap_agreement(&a, &b).unwrap().omega);
    // Vertices of a block of 20000 have the same communities.
    let homes = |cover: &Cover, block: u32| cover.communities_of(block * 20_000).to_vec();
    let shared = |cover: &Cover, x: u32, y: u32| {
        let (x, y) = (homes(cover, x), homes(cover, y));
        x.iter().filter(|community| y.contains(community)).count()
    };
    let (mut of_a, mut of_b, mut equal) = ([0.0; 4], [0.0; 4], 0.0);
    for x in 0..10 {
        for y in 0..=x {
            let pairs = if x == y { 20_000.0 * 19_999.0 / 2.0 } else { 4e8 };
            let (i, j) = (shared(&a, x, y), shared(&b, x, y));
            of_a[i] += pairs;
            of_b[j] += pairs;
            equal += if i == j { pairs } else { 0.0 };
        }
    }
    let all: f64 = of_a.iter().sum();
    let chance = of_a.iter().zip(&of_b).map(|(a, b)| a * b).sum::<f64>() / all / all;
    close("omega", 0, found.unwrap(), (equal / all - chance) / (1.0 - chance));
}

/// 30,000 vertices in about 21 of 28 communities each, with almost all sets different: about 10^10 pairs
/// inside communities, and even more sets of communities.
#[test]
fn the_omega_index_is_absent_if_it_takes_too_long() {
    const VERTICES: u32 = 30_000;
    // Two bits of a hash of the vertex decide whether it is in a community.
    let hash = |v: u32| {
        let mixed = (u64::from(v) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let is_in = |v: u32, c: u32| hash(v) >> (2 * c + 8) & 3 != 0;
    let memberships = (0..VERTICES).flat_map(|v| (0..28).map(move |c| (v, c)));
    let a = Cover::new(VERTICES, 28, memberships.filter(|&(v, c)| is_in(v, c))).unwrap();
    let b = Cover::new(VERTICES, 2, (0..VERTICES).map(|v| (v, v % 2))).unwrap();
    let found = overlap_agreement(&a, &b).unwrap();
    assert_eq!(found.omega, None);
    assert!(found.f1 > 0.0 && found.f1 < 1.0);
}

/// All threads work on one community that has most arcs of the graph.
#[test]
fn a_giant_community_has_the_same_figures_on_any_number_of_threads() {
    let edges = Planted::new(6000, 60_000, 0.3).generate().unwrap().edges;
    let graph = GraphBuilder::new().build(edges).unwrap();
    let giant = |v: u32| !v.is_multiple_of(10);
    let memberships = (0..6000).map(|v| (v, u32::from(!giant(v)))).chain((0..6000).map(|v| (v, 2)));
    let cover = Cover::new(6000, 4, memberships).unwrap();
    let figures = on_any_threads(|| per_community(&graph, &cover, 1.0).unwrap());
    let labels: Vec<u32> = (0..6000).map(|v| u32::from(!giant(v))).collect();
    let parts = Quality::of(&graph, &labels).unwrap();
    close("modularity", 0, figures[0].modularity + figures[1].modularity, parts.modularity);
    let all = &figures[2];
    assert_eq!((all.size, all.inner_edges, all.outer_edges), (6000, graph.edges(), 0));
    assert_eq!(
        all.inner_edges - figures[0].inner_edges - figures[1].inner_edges,
        figures[0].outer_edges
    );
    assert!(all.triangle_participation > 0.5 && all.triangle_participation <= 1.0);
    assert_eq!(figures[3].size, 0);
}
