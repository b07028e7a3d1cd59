//! Resolution profiles against all partitions of small graphs, and what holds for every profile.

use crate::definitions::{Edges, table};
use proptest::prelude::*;
use ripplet_graph::compressed::CompressedGraph;
use ripplet_graph::{Graph, GraphBuilder, Observer};
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::quality::agreement;
use ripplet_lp::refine::{
    Objective, Profile, ProfileOptions, Profiled, RefineError, Resolution, profile,
};
use ripplet_lp::{Label, RoundObserver, RunError};
use std::collections::BTreeMap;

const MODULARITY: Objective = Objective::Modularity(Resolution::Auto);
const CPM: Objective = Objective::Cpm(1.0);

fn graph(vertices: u32, edges: &Edges, weighted: bool) -> Graph {
    GraphBuilder::new().build(table(vertices, edges, weighted)).unwrap()
}

fn options(objective: Objective, range: Option<(f64, f64)>) -> ProfileOptions {
    let range = range.map(|(low, high)| low..=high);
    ProfileOptions { range, ..ProfileOptions::new(objective) }
}

/// Runs on several numbers of threads and both storages; the results must be equal.
fn run(graph: &Graph, options: &ProfileOptions) -> Profile {
    let without_seconds = |mut found: Profile| {
        found.rounds.iter_mut().for_each(|round| round.round.seconds = 0.0);
        found
    };
    let on = |threads| {
        let executor = CpuExecutor::new(Some(threads)).unwrap();
        without_seconds(executor.install(|| profile(graph, options, &mut ()).unwrap()))
    };
    let found = on(1);
    assert_eq!(on(3), found);
    let compressed = CompressedGraph::of(graph.clone()).unwrap();
    assert_eq!(without_seconds(profile(&compressed, options, &mut ()).unwrap()), found);
    found
}

/// The weight inside communities, the squares of their masses, and the weight of all.
fn sums(vertices: u32, edges: &Edges, objective: Objective, labels: &[Label]) -> [f64; 3] {
    let (mut inner, mut all) = (0.0, 0.0);
    let mut masses: BTreeMap<Label, f64> = BTreeMap::new();
    for &(u, v, weight) in edges {
        let weight = f64::from(weight);
        all += 2.0 * weight;
        inner += if labels[u as usize] == labels[v as usize] { 2.0 * weight } else { 0.0 };
        for end in [u, v] {
            *masses.entry(labels[end as usize]).or_default() += weight;
        }
    }
    if let Objective::Cpm(_) = objective {
        masses.clear();
        (0..vertices).for_each(|v| *masses.entry(labels[v as usize]).or_default() += 1.0);
    }
    [inner, masses.values().map(|mass| mass * mass).sum(), all]
}

fn score(vertices: u32, edges: &Edges, objective: Objective, labels: &[Label], at: f64) -> f64 {
    let [inner, squares, all] = sums(vertices, edges, objective, labels);
    let all = all.max(1.0);
    match objective {
        Objective::Modularity(_) => inner / all - at * squares / all / all,
        Objective::Cpm(_) => inner - at * squares,
    }
}

fn labels_of(profile: &Profile) -> Vec<&[Label]> {
    profile.partitions.iter().map(|found| &*found.labels).collect()
}

/// All partitions of this number of vertices.
fn partitions(vertices: usize) -> Vec<Vec<Label>> {
    let mut all = vec![vec![]];
    for v in 0..vertices as Label {
        let extended = |labels: Vec<Label>| {
            let mut names = labels.clone();
            names.sort_unstable();
            names.dedup();
            names.into_iter().chain([v]).map(move |name| [&labels[..], &[name]].concat())
        };
        all = all.into_iter().flat_map(extended).collect();
    }
    all
}

/// Two triangles with an edge between them, and a vertex that hangs on one.
fn triangles() -> Edges {
    [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3), (5, 6)].map(|(u, v)| (u, v, 1)).into()
}

#[test]
fn a_small_graph_has_the_best_of_all_partitions() {
    let edges = triangles();
    let all = partitions(7);
    for (objective, low, high) in [(MODULARITY, 0.1, 8.0), (CPM, 0.01, 1.5)] {
        let found = run(&graph(7, &edges, false), &options(objective, Some((low, high))));
        assert!(!found.is_cut);
        assert!(found.partitions.len() > 2);
        for step in 0..400 {
            let at = low * (high / low).powf((f64::from(step) + 0.5) / 400.0);
            let of = |labels: &[Label]| score(7, &edges, objective, labels, at);
            let best = all.iter().map(|labels| of(labels)).fold(f64::MIN, f64::max);
            let here = found.partitions.iter().find(|found| (found.from..found.to).contains(&at));
            let here = of(&here.unwrap().labels);
            assert!((here - best).abs() < 1e-9, "{objective:?} at {at}: {here}, best {best}");
        }
    }
}

/// Checks the figures of each row.
fn check(vertices: u32, edges: &Edges, objective: Objective, found: &Profile) {
    let rows = &found.partitions;
    assert!(rows.windows(2).all(|pair| pair[0].to == pair[1].from));
    for (index, row) in rows.iter().enumerate() {
        let Profiled { labels, from, to, .. } = row;
        assert!(from < to);
        assert!((row.width() - (to / from).ln()).abs() < 1e-9);
        let [inner, _, all] = sums(vertices, edges, objective, labels);
        let expected = if all > 0.0 { inner / all } else { 0.0 };
        assert!((row.inner - expected).abs() < 1e-12);
        if all > 0.0 {
            let modularity = score(vertices, edges, MODULARITY, labels, 1.0);
            assert!((row.modularity - modularity).abs() < 1e-9);
        }
        let mut names = labels.clone();
        names.sort_unstable();
        names.dedup();
        assert_eq!(row.communities as usize, names.len());
        let next = rows.get(index + 1).map(|next| agreement(labels, &next.labels).unwrap());
        assert_eq!(row.next, next);
        // The best of the rows where it says so.
        let middle = (from * to).sqrt();
        let of = |row: &Profiled| score(vertices, edges, objective, &row.labels, middle);
        let scale = of(row).abs() + 1.0;
        assert!(rows.iter().all(|other| of(other) <= of(row) + 1e-9 * scale));
    }
    // Weight inside communities falls with the resolution.
    assert!(rows.windows(2).all(|pair| pair[0].inner > pair[1].inner || pair[0].inner == 0.0));
    let widest = &rows[found.widest()];
    let rank = |row: &Profiled| (!row.is_trivial, row.to / row.from);
    assert!(rows.iter().all(|row| rank(row) <= rank(widest)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn rows_are_the_best_between_their_resolutions(
        edges in prop::collection::btree_map((0u32..40, 0u32..40), 1u32..9, 0..160),
        weighted: bool,
        cpm: bool,
        seed: u64,
    ) {
        let edges = edges.into_iter().filter(|((u, v), _)| u < v);
        let edges: Edges =
            edges.map(|((u, v), weight)| (u, v, if weighted { weight } else { 1 })).collect();
        let graph = graph(40, &edges, weighted);
        let objective = if cpm { CPM } else { MODULARITY };
        let mut options = options(objective, None);
        options.refine.seed = seed;
        options.runs = 12;
        let found = run(&graph, &options);
        prop_assert!(found.runs <= 12);
        check(40, &edges, objective, &found);
    }
}

#[test]
fn communities_of_communities_are_wide_rows() {
    // Four rings of four cliques of five vertices; rings are joined by single edges.
    let clique = |first: u32| {
        let pairs = (0..5).flat_map(|u| (0..u).map(move |v| (u, v)));
        pairs.map(move |(u, v)| (first + u, first + v, 1))
    };
    let mut edges: Edges = (0..16).flat_map(|number| clique(5 * number)).collect();
    for ring in [0, 20, 40, 60] {
        for (from, to) in [(0, 5), (5, 10), (10, 15), (15, 0), (1, 11), (6, 16)] {
            edges.push((ring + from, ring + to, 1));
        }
        edges.push((ring + 2, (ring + 23) % 80, 1));
    }
    let graph = graph(80, &edges, false);
    let found = run(&graph, &options(MODULARITY, Some((0.05, 50.0))));
    check(80, &edges, MODULARITY, &found);
    let row = |communities| found.partitions.iter().find(|row| row.communities == communities);
    let (rings, cliques) = (row(4).unwrap(), row(16).unwrap());
    assert_eq!(rings.labels, (0..80).map(|v| v / 20 * 20).collect::<Vec<_>>());
    assert_eq!(cliques.labels, (0..80).map(|v| v / 5 * 5).collect::<Vec<_>>());
    assert_eq!((rings.seeds.nmi, cliques.seeds.ari), (1.0, 1.0));
    assert_eq!(found.partitions[found.widest()].communities, 16);
}

#[test]
fn a_limit_of_runs_is_kept() {
    let graph = graph(7, &triangles(), false);
    for runs in [0, 2, 3] {
        let options = ProfileOptions { runs, ..options(MODULARITY, Some((0.1, 9.0))) };
        let found = run(&graph, &options);
        assert_eq!(found.runs, runs.max(2));
        assert!(found.is_cut);
    }
}

#[test]
fn graphs_without_communities_have_a_profile() {
    for (vertices, edges) in [(0, vec![]), (1, vec![]), (4, vec![]), (2, vec![(0, 1, 1)])] {
        let graph = graph(vertices, &edges, false);
        for objective in [MODULARITY, CPM] {
            let found = run(&graph, &options(objective, None));
            check(vertices, &edges, objective, &found);
            let [first, last] = [found.partitions.first(), found.partitions.last()];
            assert!(first.unwrap().from < last.unwrap().to);
            assert!(labels_of(&found).iter().all(|labels| labels.len() == vertices as usize));
        }
    }
}

#[test]
fn ranges_without_meaning_are_refused() {
    let graph = graph(7, &triangles(), false);
    for (low, high) in [
        (1.0, 1.0),
        (2.0, 1.0),
        (0.0, 1.0),
        (-1.0, 1.0),
        (1.0, f64::INFINITY),
        (1e-10, 1.0),
        (1.0, 1e10),
    ] {
        for objective in [MODULARITY, CPM] {
            let found = profile(&graph, &options(objective, Some((low, high))), &mut ());
            assert_eq!(found, Err(RefineError::Range { from: low, to: high }));
        }
    }
    for (low, high) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
        let found = profile(&graph, &options(CPM, Some((low, high))), &mut ());
        assert!(matches!(found, Err(RefineError::Range { .. })));
    }
    let mut short = options(CPM, None);
    short.refine.initial = Some(vec![0; 3]);
    let refused = Err(RefineError::Length { labels: 3, vertices: 7 });
    assert_eq!(profile(&graph, &short, &mut ()), refused);
}

#[test]
fn observers_cancel_between_runs() {
    struct After(usize);
    impl Observer for After {
        fn is_cancelled(&self) -> bool {
            self.0 == 0
        }
    }
    impl RoundObserver for After {
        fn on_round(&mut self, _: usize, _: &ripplet_lp::Round) {
            self.0 = self.0.saturating_sub(1);
        }
    }
    let graph = graph(7, &triangles(), false);
    let all = profile(&graph, &options(CPM, None), &mut ()).unwrap().rounds.len();
    for rounds in [0, 3, all - 1] {
        let found = profile(&graph, &options(CPM, None), &mut After(rounds));
        assert_eq!(found, Err(RefineError::Run(RunError::Cancelled)), "{rounds} of {all}");
    }
}
