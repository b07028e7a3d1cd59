//! Measures of covers and of single communities against their definitions, written out over all vertices and pairs.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use ripplet_graph::{Direction, EdgeTable, GraphBuilder, SelfLoops, VertexIds};
use ripplet_lp::quality::{Cover, OverlapAgreement, overlap_agreement, per_community};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const VERTICES: u32 = 14;

type Sets = Vec<BTreeSet<u32>>;

fn cover_of(sets: &Sets) -> Cover {
    let memberships = (0..).zip(sets).flat_map(|(at, set)| set.iter().map(move |&v| (v, at)));
    Cover::new(VERTICES, sets.len() as u32, memberships).unwrap()
}

/// The vertices that both covers have, and what is left of the covers.
fn compared(a: &Sets, b: &Sets) -> (Vec<u32>, Sets, Sets) {
    let covered = |sets: &Sets| sets.iter().flatten().copied().collect::<BTreeSet<u32>>();
    let both: BTreeSet<u32> = covered(a).intersection(&covered(b)).copied().collect();
    let left = |sets: &Sets| -> Sets {
        let kept = sets.iter().map(|set| set.intersection(&both).copied().collect());
        kept.filter(|set: &BTreeSet<u32>| !set.is_empty()).collect()
    };
    let (a, b) = (left(a), left(b));
    (both.into_iter().collect(), a, b)
}

fn h(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

/// H(X | Y) of two sets, with the constraint of Lancichinetti, Fortunato and Kertész; and H(X).
fn conditional(x: &BTreeSet<u32>, y: &BTreeSet<u32>, vertices: &[u32]) -> (f64, f64) {
    let share = |in_x: bool, in_y: bool| {
        let of = |v: &&u32| x.contains(v) == in_x && y.contains(v) == in_y;
        vertices.iter().filter(of).count() as f64 / vertices.len() as f64
    };
    let [both, only_x, only_y, none] =
        [(true, true), (true, false), (false, true), (false, false)].map(|(x, y)| share(x, y));
    let own = h(both + only_x) + h(only_y + none);
    let of_y = h(both + only_y) + h(only_x + none);
    match h(both) + h(none) > h(only_x) + h(only_y) {
        true => (h(both) + h(none) + h(only_x) + h(only_y) - of_y, own),
        false => (own, own),
    }
}

/// Of each set of `a` the least H(X | Y) over all Y of `b`, and H(X).
fn best(a: &Sets, b: &Sets, vertices: &[u32]) -> Vec<(f64, f64)> {
    let of_set = |x: &BTreeSet<u32>| {
        let all = b.iter().map(|y| conditional(x, y, vertices));
        all.reduce(|least, next| (least.0.min(next.0), next.1)).unwrap()
    };
    a.iter().map(of_set).collect()
}

fn omega(a: &Sets, b: &Sets, vertices: &[u32]) -> f64 {
    let shared = |sets: &Sets, u: &u32, v: &u32| {
        sets.iter().filter(|set| set.contains(u) && set.contains(v)).count()
    };
    let mut pairs = Vec::new();
    for (at, u) in vertices.iter().enumerate() {
        pairs.extend(vertices[at + 1..].iter().map(|v| (shared(a, u, v), shared(b, u, v))));
    }
    let all = pairs.len() as f64;
    let observed = pairs.iter().filter(|(a, b)| a == b).count() as f64 / all;
    let expected: f64 = (0..=a.len().max(b.len()))
        .map(|count| {
            let of_a = pairs.iter().filter(|pair| pair.0 == count).count() as f64;
            let of_b = pairs.iter().filter(|pair| pair.1 == count).count() as f64;
            of_a * of_b / all / all
        })
        .sum();
    if pairs.is_empty() || expected >= 1.0 { 1.0 } else { (observed - expected) / (1.0 - expected) }
}

fn mean_best_f1(a: &Sets, b: &Sets) -> f64 {
    let f1 = |x: &BTreeSet<u32>, y: &BTreeSet<u32>| {
        2.0 * x.intersection(y).count() as f64 / (x.len() + y.len()) as f64
    };
    let best = a.iter().map(|x| b.iter().map(|y| f1(x, y)).fold(0.0, f64::max));
    best.sum::<f64>() / a.len() as f64
}

fn agreement_by_definition(a: &Sets, b: &Sets) -> OverlapAgreement {
    let (vertices, a, b) = compared(a, b);
    let sorted = |sets: &Sets| {
        let mut sets = sets.clone();
        sets.sort();
        sets
    };
    if vertices.is_empty() || sorted(&a) == sorted(&b) {
        return OverlapAgreement { nmi_lfk: 1.0, nmi_max: 1.0, omega: Some(1.0), f1: 1.0 };
    }
    let (of_a, of_b) = (best(&a, &b, &vertices), best(&b, &a, &vertices));
    let share = |all: &[(f64, f64)]| {
        let shares = all.iter().map(|&(left, own)| if own > 0.0 { left / own } else { 1.0 });
        shares.sum::<f64>() / all.len() as f64
    };
    let own = |all: &[(f64, f64)]| all.iter().map(|found| found.1).sum::<f64>();
    let known = |all: &[(f64, f64)]| all.iter().map(|(left, own)| own - left).sum::<f64>();
    let most = own(&of_a).max(own(&of_b));
    OverlapAgreement {
        nmi_lfk: 1.0 - (share(&of_a) + share(&of_b)) / 2.0,
        nmi_max: if most > 0.0 { (known(&of_a) + known(&of_b)) / 2.0 / most } else { 0.0 },
        omega: Some(omega(&a, &b, &vertices)),
        f1: (mean_best_f1(&a, &b) + mean_best_f1(&b, &a)) / 2.0,
    }
}

/// Inner and outer edges, conductance, density, the term of the modularity, the share in triangles, connectedness.
fn figures_by_definition(
    edges: &BTreeSet<(u32, u32)>,
    members: &BTreeSet<u32>,
    directed: bool,
) -> ([u64; 2], [f64; 4], bool) {
    let is_in = |v: &u32| members.contains(v);
    let (mut inner, mut outer, mut loops, mut out, mut incoming) = (0, 0, 0, 0u64, 0u64);
    for (u, v) in edges {
        inner += u64::from(is_in(u) && is_in(v));
        outer += u64::from(is_in(u) != is_in(v));
        loops += u64::from(is_in(u) && u == v);
        out += u64::from(is_in(u));
        incoming += u64::from(is_in(v));
    }
    let (total, within) = (edges.len() as f64, inner as f64 / edges.len() as f64);
    let volume = (out + incoming) as f64;
    let smaller = volume.min(2.0 * total - volume);
    let by_chance = match directed {
        true => out as f64 * incoming as f64 / total / total,
        false => (volume / total / 2.0).powi(2),
    };
    let size = members.len() as f64;
    let pairs = size * (size - 1.0) / if directed { 1.0 } else { 2.0 };
    let joined = |u: u32, v: u32| u != v && (edges.contains(&(u, v)) || edges.contains(&(v, u)));
    let in_triangle = members.iter().filter(|&&u| {
        let others = members.iter().filter(|&&v| joined(u, v));
        others.clone().any(|&v| others.clone().any(|&w| joined(v, w)))
    });
    let mut reached: BTreeSet<u32> = members.first().copied().into_iter().collect();
    for _ in 0..members.len() {
        let more = members.iter().filter(|&&v| reached.iter().any(|&u| joined(u, v)));
        let more: Vec<u32> = more.copied().collect();
        reached.extend(more);
    }
    let figures = [
        if smaller > 0.0 { outer as f64 / smaller } else { 0.0 },
        if pairs > 0.0 { (inner - loops) as f64 / pairs } else { 0.0 },
        within - by_chance,
        in_triangle.count() as f64 / size,
    ];
    ([inner, outer], figures, reached.len() == members.len())
}

fn covers() -> impl Strategy<Value = Sets> {
    vec(btree_set(0..VERTICES, 1..9), 0..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn agreement_is_that_of_the_definitions(a in covers(), b in covers()) {
        let found = overlap_agreement(&cover_of(&a), &cover_of(&b)).unwrap();
        let expected = agreement_by_definition(&a, &b);
        let values = |of: OverlapAgreement| [of.nmi_lfk, of.nmi_max, of.omega.unwrap(), of.f1];
        for (found, expected) in values(found).into_iter().zip(values(expected)) {
            prop_assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
    }

    #[test]
    fn figures_of_communities_are_those_of_the_definitions(
        pairs in btree_set((0..VERTICES, 0..VERTICES), 1..60),
        communities in covers(),
        directed: bool,
    ) {
        let undirected = |&(u, v): &(u32, u32)| if directed { (u, v) } else { (u.min(v), u.max(v)) };
        let edges: BTreeSet<(u32, u32)> = pairs.iter().map(undirected).collect();
        let ids = VertexIds::Consecutive { first: 0, count: VERTICES };
        let (sources, targets) = edges.iter().copied().unzip();
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let builder = GraphBuilder::new().self_loops(SelfLoops::Keep).direction(direction);
        let graph = builder.shard_arcs(20).build(table).unwrap();
        let found = per_community(&graph, &cover_of(&communities), 1.0).unwrap();
        for (found, members) in found.iter().zip(&communities) {
            let (counts, figures, connected) = figures_by_definition(&edges, members, directed);
            prop_assert_eq!(found.size as usize, members.len());
            prop_assert_eq!([found.inner_edges, found.outer_edges], counts);
            prop_assert_eq!([found.inner_weight, found.outer_weight], counts.map(|count| count as f64));
            prop_assert_eq!(found.connected, connected);
            let shown =
                [found.conductance, found.density, found.modularity, found.triangle_participation];
            for (shown, expected) in shown.into_iter().zip(figures) {
                prop_assert!((shown - expected).abs() < 1e-12, "{:?}, not {:?}", found, figures);
            }
        }
    }
}

/// Work for each community must not grow with the graph: where each fills an array with a value for every vertex, this
/// fills 720 GB (of 320 GB, two threads took 14 s of processor time).
#[test]
fn many_communities_cost_what_their_members_do() {
    let vertices = 600_000;
    let ids = VertexIds::Consecutive { first: 0, count: vertices };
    let table = EdgeTable::new(ids, (0..vertices - 1).collect(), (1..vertices).collect()).unwrap();
    let graph = GraphBuilder::new().build(table).unwrap();
    let cover = Cover::new(vertices, vertices / 2, (0..vertices).map(|v| (v, v / 2))).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let begin = Instant::now();
    let found = pool.install(|| per_community(&graph, &cover, 1.0)).unwrap();
    let spent = begin.elapsed();
    assert!(found.iter().all(|figures| figures.inner_edges == 1 && figures.connected));
    assert!(spent < Duration::from_secs(10), "{spent:?}");
}
