//! Quality against networkx and scikit-learn; `tests/data/make_quality.py` made the numbers.

use ripplet_graph::{
    Buffer, Direction, EdgeTable, Graph, GraphBuilder, SelfLoops, VertexId, VertexIds,
};
use ripplet_lp::NO_LABEL;
use ripplet_lp::quality::{
    Agreement, Quality, QualityError, SizeCounts, Sizes, Summary, agreement,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
struct Cases {
    files: Vec<FileCase>,
    small: Vec<SmallCase>,
}

#[derive(Deserialize)]
struct FileCase {
    graph: String,
    directed: bool,
    labelling: String,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct SmallCase {
    directed: bool,
    weighted: bool,
    edges: Vec<(u32, u32, f64)>,
    labels: Vec<u32>,
    truth: Vec<u32>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    resolution: f64,
    modularity: f64,
    coverage: f64,
    communities: u64,
    singletons: u64,
    disconnected: u64,
    smallest: u64,
    largest: u64,
    nmi: f64,
    ami: f64,
    ari: f64,
    vi: f64,
    homogeneity: f64,
    completeness: f64,
}

impl Expected {
    fn check(&self, case: &str, graph: &Graph, labels: &[u32], truth: &[u32]) {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let quality = Quality::at_resolution(graph, labels, self.resolution)?;
                quality.against(labels, truth)
            })
        };
        let found = on(1).unwrap();
        assert_eq!(found, on(2).unwrap(), "{case}: 2 threads");
        assert_eq!(found, on(7).unwrap(), "{case}: 7 threads");

        if self.resolution == 1.0 {
            let summary = Summary::of(graph, labels).unwrap();
            let expected = (found.communities, found.modularity);
            assert_eq!((summary.communities, summary.modularity), expected, "{case}: summary");
        }

        let Agreement { nmi, ami, ari, vi, homogeneity, completeness } = found.agreement.unwrap();
        for (name, found, expected) in [
            ("modularity", found.modularity, self.modularity),
            ("coverage", found.coverage, self.coverage),
            ("nmi", nmi, self.nmi),
            ("ami", ami, self.ami),
            ("ari", ari, self.ari),
            ("vi", vi, self.vi),
            ("homogeneity", homogeneity, self.homogeneity),
            ("completeness", completeness, self.completeness),
        ] {
            assert!(
                (found - expected).abs() < if name == "ami" { 1e-9 } else { 1e-12 },
                "{case}: {name} {found}, not {expected}"
            );
        }
        let counts = (found.communities, found.singletons, found.disconnected);
        assert_eq!(counts, (self.communities, self.singletons, self.disconnected), "{case}");
        assert_eq!((found.sizes.min, found.sizes.max), (self.smallest, self.largest), "{case}");
        assert_eq!(found.sizes.histogram.iter().sum::<u64>(), self.communities, "{case}");
    }
}

fn direction(directed: bool) -> Direction {
    if directed { Direction::Directed } else { Direction::Undirected }
}

fn build(table: EdgeTable, directed: bool, shard_arcs: u64) -> Graph {
    GraphBuilder::new()
        .direction(direction(directed))
        .self_loops(SelfLoops::Keep)
        .shard_arcs(shard_arcs)
        .build(table)
        .unwrap()
}

fn data(name: &str) -> String {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn pairs(name: &str) -> Vec<(u64, u64)> {
    let pair = |line: &str| {
        let (first, second) = line.split_once('\t').expect("two columns");
        (first.parse().unwrap(), second.trim().parse().unwrap())
    };
    data(&format!("altsoph/{name}")).lines().map(pair).collect()
}

/// Returns the graph of a file and its vertices' ids, ascending.
fn graph_of(name: &str, directed: bool) -> (Graph, Vec<u64>) {
    let edges = pairs(&format!("{name}.edges"));
    let ids: Vec<u64> =
        BTreeSet::from_iter(edges.iter().flat_map(|&(s, t)| [s, t])).into_iter().collect();
    let vertex = |id: u64| ids.binary_search(&id).unwrap() as VertexId;
    let (sources, targets) = edges.iter().map(|&(s, t)| (vertex(s), vertex(t))).unzip();
    let kept = VertexIds::Unsigned(Buffer::from(ids.clone()));
    (build(EdgeTable::new(kept, sources, targets).unwrap(), directed, 1 << 12), ids)
}

/// Returns the labelling of this name in `make_quality.py`.
fn labels_of(name: &str, labelling: &str, ids: &[u64]) -> Vec<u32> {
    let from_file =
        || -> BTreeMap<u64, u64> { pairs(&format!("{name}.{labelling}")).into_iter().collect() };
    let rule: Box<dyn Fn(u64) -> u32> = match labelling {
        "hash" => Box::new(|id| (id as u32).wrapping_mul(2_654_435_761) >> 29),
        "modulo" => Box::new(|id| (id % 3) as u32),
        "one" => Box::new(|_| 7),
        "own" => Box::new(|id| (id + 4_000_000_000) as u32),
        _ => {
            let labels = from_file();
            Box::new(move |id| labels.get(&id).map_or(u32::MAX - 1, |&label| label as u32))
        }
    };
    ids.iter().map(|&id| rule(id)).collect()
}

#[test]
fn as_networkx_and_scikit_learn_on_real_graphs() {
    let cases: Cases = serde_json::from_str(&data("quality.json")).unwrap();
    assert_eq!(cases.files.len(), 6 * 2 * 6);
    for FileCase { graph: name, directed, labelling, expected } in cases.files {
        let (graph, ids) = graph_of(&name, directed);
        let labels = labels_of(&name, &labelling, &ids);
        let truth = labels_of(&name, "clusters", &ids);
        let case = format!("{name}, directed: {directed}, {labelling}");
        expected.check(&case, &graph, &labels, &truth);
    }
}

#[test]
fn as_networkx_and_scikit_learn_with_weights_loops_and_shards() {
    let cases: Cases = serde_json::from_str(&data("quality.json")).unwrap();
    assert_eq!(cases.small.len(), 16);
    for (seed, case) in cases.small.into_iter().enumerate() {
        let (ends, weights): (Vec<_>, Vec<f64>) =
            case.edges.into_iter().map(|(s, t, w)| ((s, t), w)).unzip();
        let (sources, targets) = ends.into_iter().unzip();
        let ids = VertexIds::Consecutive { first: 0, count: 12 };
        let mut table = EdgeTable::new(ids, sources, targets).unwrap();
        if case.weighted {
            table = table.with_weights(weights).unwrap();
        }
        let graph = build(table, case.directed, 12);
        assert!(graph.shards().len() > 1, "a small limit makes several shards");
        case.expected.check(&format!("small {seed}"), &graph, &case.labels, &case.truth);
    }
}

#[test]
fn without_edges_or_vertices_all_is_zero() {
    for count in [0, 3] {
        let ids = VertexIds::Consecutive { first: 0, count };
        let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![], vec![]).unwrap());
        let labels: Vec<u32> = (0..count).collect();
        let quality = Quality::of(&graph.unwrap(), &labels).unwrap();
        assert_eq!((quality.modularity, quality.coverage), (0.0, 0.0));
        assert_eq!((quality.communities, quality.singletons), (count.into(), count.into()));
        assert_eq!((quality.disconnected, quality.sizes.max), (0, u64::from(count.min(1))));
    }
}

#[test]
fn sizes_are_summed_up() {
    let ids = VertexIds::Consecutive { first: 0, count: 8 };
    let table = EdgeTable::new(ids, vec![0, 1, 2], vec![1, 2, 3]).unwrap();
    let graph = GraphBuilder::new().build(table).unwrap();
    let quality = Quality::of(&graph, &[9, 9, 9, 9, 2, 2, 5, 0]).unwrap();
    let sizes = &quality.sizes;
    assert_eq!((sizes.min, sizes.median, sizes.mean, sizes.max), (1, 1.5, 2.0, 4));
    assert_eq!(sizes.histogram, [2, 1, 1]);
    assert_eq!(sizes.count(), 4);
    assert_eq!((quality.singletons, quality.disconnected), (2, 1));
    assert_eq!(Sizes::of(vec![0, 4, 1, 0, 2, 1]), *sizes);
    assert_eq!(Sizes::of(vec![7, 0, 3, 5]).median, 5.0);
    assert_eq!(Sizes::of(vec![0]), Sizes::default());
    for sizes in [vec![0], vec![3], vec![7, 0, 3, 5], vec![0, 4, 1, 0, 2, 1], vec![2, 2, 9, 9, 9]] {
        let mut counts = SizeCounts::default();
        sizes.iter().for_each(|&size| counts.add(size));
        assert_eq!(counts.sizes(), Sizes::of(sizes));
    }
}

#[test]
fn names_in_json_are_the_contract() {
    let ids = VertexIds::Consecutive { first: 0, count: 2 };
    let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0], vec![1]).unwrap()).unwrap();
    let quality = Quality::of(&graph, &[0, 0]).unwrap();
    let keys = |quality: &Quality| -> Vec<String> {
        let value = serde_json::to_value(quality).unwrap();
        value.as_object().unwrap().keys().cloned().collect()
    };
    let without = keys(&quality);
    for name in ["modularity", "coverage", "communities", "disconnected", "singletons", "sizes"] {
        assert!(without.iter().any(|key| key == name), "{name} in {without:?}");
    }
    assert!(!without.iter().any(|key| key == "nmi"));
    let with = keys(&quality.against(&[0, 0], &[1, 1]).unwrap());
    assert!(["nmi", "ari"].iter().all(|name| with.iter().any(|key| key == name)), "{with:?}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let ids = VertexIds::Consecutive { first: 0, count: 2 };
    let graph = GraphBuilder::new().build(EdgeTable::new(ids, vec![0], vec![1]).unwrap()).unwrap();
    assert_eq!(Quality::of(&graph, &[0]), Err(QualityError::Length { labels: 1, vertices: 2 }));
    for resolution in [-1.0, f64::NAN, f64::INFINITY] {
        let refused = Quality::at_resolution(&graph, &[0, 0], resolution);
        assert!(matches!(refused, Err(QualityError::Resolution { .. })));
    }
    assert!(agreement(&[1, 2], &[1]).is_err());
}

#[test]
fn vertices_without_a_label_are_in_no_community() {
    // 0–1–2–3 in a row and 4–5 separate; 2 has no label.
    let ids = VertexIds::Consecutive { first: 0, count: 6 };
    let edges = EdgeTable::new(ids, vec![0, 1, 2, 4], vec![1, 2, 3, 5]).unwrap();
    let graph = GraphBuilder::new().build(edges).unwrap();
    let labels = [7, 7, NO_LABEL, 7, 4, 4];
    let quality = Quality::of(&graph, &labels).unwrap();
    assert_eq!((quality.communities, quality.disconnected, quality.sizes.max), (2, 1, 3));
    // Of 4 edges, 0–1 and 4–5 are internal; the degrees are 1 + 2 + 1 and 1 + 1 of 8.
    assert_eq!(quality.coverage, 0.5);
    assert!((quality.modularity - (0.5 - (16.0 + 4.0) / 64.0)).abs() < 1e-12);
    assert_eq!(Summary::of(&graph, &labels).unwrap().communities, 2);
    let none = Quality::of(&graph, &[NO_LABEL; 6]).unwrap();
    assert_eq!((none.communities, none.modularity, none.sizes.max), (0, 0.0, 0));
}

/// Equal partitions agree wholly, however few vertices there are: all their measures are exactly 1.
#[test]
fn as_scikit_learn_on_all_small_partitions() {
    let table = include_str!("../data/small_agreement.tsv");
    let mut equal = 0;
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [a, b] = [0, 1].map(|at| fields[at].bytes().map(u32::from).collect::<Vec<u32>>());
        let expected: Vec<f64> = fields[2..].iter().map(|field| field.parse().unwrap()).collect();
        let Agreement { nmi, ami, ari, vi, homogeneity, completeness } = agreement(&a, &b).unwrap();
        let found = [nmi, ami, ari, homogeneity, completeness];
        if fields[0] == fields[1] {
            assert_eq!((found, vi), ([1.0; 5], 0.0), "{row}");
            equal += 1;
        }
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9, "{row}: {found}");
        }
    }
    // The partitions of 1 to 5 into sums.
    assert_eq!(equal, 1 + 2 + 3 + 5 + 7);
}
