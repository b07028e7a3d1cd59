//! TU data sets: the first ten graphs of a real one, and every bad input.

use flate2::write::GzEncoder;
use proptest::prelude::*;
use ripplet_graph::{Direction, ExternalId, SelfLoops};
use ripplet_io::tu::{self, Dataset, DatasetOptions, Texts};
use ripplet_io::{Place, ReadError};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tu")
}

fn texts<'a>(edges: &'a str, indicator: &'a str, labels: Option<&'a str>) -> Texts<'a> {
    Texts {
        edges: edges.as_bytes(),
        graph_indicator: indicator.as_bytes(),
        graph_labels: labels.map(str::as_bytes),
    }
}

fn parse(edges: &str, indicator: &str, labels: Option<&str>) -> Result<Dataset, ReadError> {
    tu::parse(texts(edges, indicator, labels), &DatasetOptions::default())
}

#[test]
fn a_real_data_set_is_what_another_program_counts() {
    // Vertices, edges and triangles of each graph, counted in Python from the same files.
    const COUNTED: [(u32, u64, usize); 10] = [
        (37, 84, 53),
        (23, 51, 33),
        (25, 46, 27),
        (24, 45, 27),
        (23, 45, 29),
        (24, 46, 29),
        (26, 59, 37),
        (88, 133, 3),
        (23, 39, 20),
        (32, 53, 24),
    ];
    assert!(tu::is_dataset(&data()));
    let read = tu::read(&data(), &DatasetOptions::default()).unwrap();
    assert_eq!(read.graph_labels, Some(vec![6.0; 10]));
    let batch = &read.batch;
    assert_eq!((batch.len(), batch.vertices(), batch.arcs()), (10, 325, 1202));
    for (graph, (vertices, edges, triangles)) in batch.all().graphs().zip(COUNTED) {
        let lists = graph.out();
        let of = |v: u32| lists.of(v as usize).iter().copied();
        let closed = |(a, b): (u32, u32)| of(b).filter(|&c| c > b && of(a).any(|d| d == c)).count();
        let pairs = (0..vertices).flat_map(|a| of(a).filter(move |&b| b > a).map(move |b| (a, b)));
        let found: usize = pairs.map(closed).sum();
        assert_eq!((graph.vertices(), graph.arcs() / 2, found), (vertices, edges, triangles));
        assert_eq!(graph.id(), ExternalId::Unsigned(graph.index() as u64 + 1));
    }
    let last = batch.graph(9);
    assert_eq!(last.vertex_id(31), ExternalId::Unsigned(325));
    let ids: Vec<_> = last.out().of(31).iter().map(|&u| last.vertex_id(u).to_string()).collect();
    assert_eq!(ids, ["300", "301", "324"]);
}

#[test]
fn compressed_files_and_the_file_of_edges_are_the_same_data_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let original = |part: &str| fs::read(data().join(format!("ENZYMES_{part}.txt"))).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&original("A")).unwrap();
    fs::write(path("E_A.txt.gz"), gzip.finish().unwrap()).unwrap();
    let zstd = zstd::encode_all(&original("graph_indicator")[..], 1).unwrap();
    fs::write(path("E_graph_indicator.txt.zst"), zstd).unwrap();
    fs::write(path("E_graph_labels.txt"), original("graph_labels")).unwrap();
    let expected = tu::read(&data(), &DatasetOptions::default()).unwrap();
    assert_eq!(tu::read(folder.path(), &DatasetOptions::default()).unwrap(), expected);

    // Two in one folder: the file says which.
    let other = "1, 2\n";
    fs::write(path("Z_A.txt"), other).unwrap();
    fs::write(path("Z_graph_indicator.txt"), "1\n1\n").unwrap();
    let error = tu::read(folder.path(), &DatasetOptions::default()).unwrap_err().to_string();
    assert!(error.contains("several TU data sets, such as E and Z"), "{error}");
    for (file, graphs) in [("E_A.txt.gz", 10), ("Z_A.txt", 1)] {
        let read = tu::read(&path(file), &DatasetOptions::default()).unwrap();
        assert_eq!(read.batch.len(), graphs);
    }
    assert_eq!(tu::read(&path("Z_A.txt"), &DatasetOptions::default()).unwrap().graph_labels, None);
}

#[test]
fn files_that_are_missing_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let read = |path: &Path| tu::read(path, &DatasetOptions::default()).unwrap_err().to_string();
    assert!(!tu::is_dataset(folder.path()));
    assert!(
        read(folder.path())
            .contains("has no TU data set: expected a file whose name ends in _A.txt")
    );
    let edges = folder.path().join("D_A.txt");
    assert!(read(&edges).contains("D_graph_indicator.txt is missing"));
    fs::write(&edges, "1, 2\n").unwrap();
    assert!(tu::is_dataset(folder.path()) && tu::is_dataset(&edges));
    assert!(read(folder.path()).contains("D_graph_indicator.txt is missing"));
    fs::write(folder.path().join("D_graph_indicator.txt"), "1\n1\n").unwrap();
    assert!(tu::read(folder.path(), &DatasetOptions::default()).is_ok());
    fs::remove_file(&edges).unwrap();
    assert!(read(&edges).contains("D_A.txt: "), "the system says that it is not there");
    assert!(read(&folder.path().join("D_graph_indicator.txt")).contains("expected a TU data set"));
}

#[test]
fn what_is_wrong_has_its_file_and_line() {
    let indicator = "1\n1\n2\n2\n";
    for (edges, indicator, labels, part) in [
        ("", indicator, None, "(bytes)_A.txt: the file has no edges"),
        ("\n# none\n", indicator, None, "(bytes)_A.txt: the file has no edges"),
        ("1, 2\n", "", None, "(bytes)_graph_indicator.txt: the file has no vertices"),
        ("1, 2\n", indicator, Some(""), "(bytes)_graph_labels.txt: the file has no labels"),
        ("1, 2\n3\n", indicator, None, "(bytes)_A.txt:2: "),
        ("1, 2\n\n3, x\n", indicator, None, "(bytes)_A.txt:3: `x` is no row or column"),
        ("1, 2\n3, 4.5\n", indicator, None, "(bytes)_A.txt:2: `4.5` is no row or column"),
        ("1, 2\n3, -4\n", indicator, None, "(bytes)_A.txt:2: `-4` is no row or column"),
        ("0, 1\n", indicator, None, "(bytes)_A.txt:1: 0 is no vertex: expected 1 to 4"),
        ("1, 2\n3, 5\n", indicator, None, "(bytes)_A.txt:2: 5 is no vertex: expected 1 to 4"),
        (
            "1, 2\n# a comment\n3, 99999999999\n",
            indicator,
            None,
            "(bytes)_A.txt:3: 99999999999 is no vertex",
        ),
        (
            "1, 2\n3, 4\n3, 2\n",
            indicator,
            None,
            "(bytes)_A.txt:3: the edge from 3 to 2 leads from graph 2 to graph 1",
        ),
        ("1, 2\n", "0\n0\n1\n", None, "(bytes)_graph_indicator.txt:1: `0` is no graph"),
        ("1, 2\n", "1\n1\n-1\n", None, "(bytes)_graph_indicator.txt:3: `-1` is no graph"),
        ("1, 2\n", "1\nx\n", None, "(bytes)_graph_indicator.txt:2: `x` is no graph"),
        ("1, 2\n", "1\n1 2\n", None, "(bytes)_graph_indicator.txt:2: `1 2`: expected one number"),
        ("1, 2\n", "1\n4294967295\n", None, "(bytes)_graph_indicator.txt:2: `4294967295` is no"),
        ("1, 2\n", "2\n2\n", None, "(bytes)_graph_indicator.txt: graph 1 has no vertex"),
        ("1, 2\n", "1\n1\n3\n", None, "(bytes)_graph_indicator.txt: graph 2 has no vertex"),
        (
            "1, 2\n",
            "1\n1\n4294967294\n",
            None,
            "(bytes)_graph_indicator.txt: graph 2 has no vertex, but graph 4294967294 has",
        ),
        (
            "1, 2\n",
            "1\n1\n3\n",
            Some("1\n-1\n"),
            "(bytes)_graph_indicator.txt:3: graph 3 has no label: the file of labels ends after 2",
        ),
        ("1, 2\n", indicator, Some("1\nx\n"), "(bytes)_graph_labels.txt:2: `x` is no label"),
        ("1, 2\n", indicator, Some("1\nnan\n"), "(bytes)_graph_labels.txt:2: `nan` is no label"),
        ("1, 2\n", indicator, Some("1, 2\n"), "(bytes)_graph_labels.txt:1: `1, 2`: expected one"),
    ] {
        let error = parse(edges, indicator, labels).unwrap_err();
        assert!(error.to_string().contains(part), "{error} has no {part}");
        assert!(error.place != Place::Line(0));
    }
}

#[test]
fn an_indicator_may_be_in_any_order() {
    // Graph 1 has the vertices 2, 4 and 5, graph 2 has 1 and 3.
    let read = parse("1, 3\n3, 1\n5, 2\n2, 5\n4, 2\n", "2\n1\n2\n1\n1\n", None).unwrap();
    let (one, two) = (read.batch.graph(0), read.batch.graph(1));
    let ids = |graph: ripplet_graph::batch::BatchGraph<'_>| {
        (0..graph.vertices()).map(|v| graph.vertex_id(v).to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((ids(one), ids(two)), ("2 4 5".into(), "1 3".into()));
    assert_eq!([0, 1, 2].map(|v| one.out().of(v)), [&[1, 2][..], &[0], &[0]]);
    assert_eq!([0, 1].map(|v| two.out().of(v)), [[1], [0]]);
    let crossed = parse("1, 2\n", "2\n1\n2\n1\n1\n", None).unwrap_err().to_string();
    assert!(crossed.contains("from graph 2 to graph 1"), "{crossed}");
}

#[test]
fn graphs_with_labels_may_be_empty_and_vertices_alone() {
    let read = parse("3, 4\n", "2\n4\n4\n4\n", Some("0.5\n-1\n1e3\n7\n0\n")).unwrap();
    let sizes: Vec<_> = read.batch.all().graphs().map(|graph| graph.vertices()).collect();
    assert_eq!(sizes, [0, 1, 0, 3, 0]);
    assert_eq!(read.graph_labels, Some(vec![0.5, -1.0, 1000.0, 7.0, 0.0]));
    assert_eq!([0, 1, 2].map(|v| read.batch.graph(3).out().of(v)), [&[][..], &[2], &[1]]);
}

#[test]
fn direction_and_loops_are_as_asked() {
    let given = texts("1, 2\n2, 1\n2, 3\n2, 3\n3, 3\n", "1\n1\n1\n", None);
    let arcs = |direction, self_loops| {
        let read = tu::parse(given, &DatasetOptions { direction, self_loops }).unwrap();
        assert_eq!(read.batch.direction(), direction);
        read.batch.arcs()
    };
    assert_eq!(arcs(Direction::Undirected, SelfLoops::Drop), 4);
    assert_eq!(arcs(Direction::Undirected, SelfLoops::Keep), 5);
    assert_eq!(arcs(Direction::Directed, SelfLoops::Drop), 3);
    assert_eq!(arcs(Direction::Directed, SelfLoops::Keep), 4);
}

/// Returns a text of several chunks: 20,000 rings of 3 to 9 vertices; the edges stand in rounds over all
/// graphs, so that no graph's are together.
fn many_rings() -> (String, String) {
    let [mut edges, mut indicator] = [String::new(), String::new()];
    let sizes: Vec<u64> = (0..20_000u64).map(|graph| 3 + graph * graph % 7).collect();
    for (graph, size) in (1..).zip(&sizes) {
        indicator.push_str(&format!("{graph}\n").repeat(*size as usize));
    }
    for vertex in 0..9 {
        let mut first = 1;
        for size in &sizes {
            if vertex < *size {
                let (a, b) = (first + vertex, first + (vertex + 1) % size);
                write!(edges, "{a}, {b}\n{b}, {a}\n").unwrap();
            }
            first += size;
        }
    }
    (edges, indicator)
}

#[test]
fn threads_change_neither_the_batch_nor_the_first_error() {
    let (edges, indicator) = many_rings();
    assert!(edges.len() > 4 << 18 && indicator.len() > 2 << 18, "several chunks");
    let on = |threads, edges: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| parse(edges, &indicator, None))
    };
    let read = on(1, &edges).unwrap();
    assert_eq!(on(5, &edges).unwrap(), read);
    assert!(read.batch.all().graphs().all(|graph| {
        let lists = graph.out();
        graph.arcs() == 2 * u64::from(graph.vertices())
            && (0..graph.vertices() as usize).all(|v| lists.degree(v) == 2)
    }));

    // A wrong row near the end, and one in the middle: the middle one is reported.
    let mut lines: Vec<&str> = edges.lines().collect();
    let (middle, end) = (lines.len() / 2, lines.len() - 5);
    (lines[middle], lines[end]) = ("1, 500", "0, 0");
    let wrong = lines.join("\n");
    for threads in [1, 5] {
        let error = on(threads, &wrong).unwrap_err();
        assert_eq!(error.place, Place::Line(middle as u64 + 1), "{error}");
    }
}

/// Returns the edges of a data set by the ids of its files, each once.
fn edges_of(read: &Dataset) -> BTreeSet<(u64, u64)> {
    let mut edges = BTreeSet::new();
    for graph in read.batch.all().graphs() {
        for v in 0..graph.vertices() {
            for &u in graph.out().of(v as usize) {
                let id = |vertex| graph.vertex_id(vertex).to_string().parse::<u64>().unwrap();
                edges.insert((id(v), id(u)));
            }
        }
    }
    edges
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edges_come_back_by_their_ids(
        mut graphs in prop::collection::vec(1u32..6, 1..40),
        pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 1..80),
        sorted: bool,
    ) {
        if sorted {
            graphs.sort_unstable();
        }
        let within = |(a, b): (u32, u32)| {
            let a = a as usize % graphs.len();
            let others: Vec<usize> = (0..graphs.len()).filter(|&v| graphs[v] == graphs[a]).collect();
            (a as u64 + 1, others[b as usize % others.len()] as u64 + 1)
        };
        let edges: Vec<(u64, u64)> = pairs.into_iter().map(within).collect();
        let [mut a, mut indicator] = [String::new(), String::new()];
        edges.iter().for_each(|(s, t)| writeln!(a, "{s}, {t}").unwrap());
        graphs.iter().for_each(|graph| writeln!(indicator, "{graph}").unwrap());
        let read = parse(&a, &indicator, Some("1\n2\n3\n4\n5\n")).unwrap();
        let both = edges.iter().flat_map(|&(s, t)| [(s, t), (t, s)]);
        let expected: BTreeSet<_> = both.filter(|(s, t)| s != t).collect();
        prop_assert_eq!(edges_of(&read), expected);
        prop_assert_eq!(read.batch.arcs() as usize, edges_of(&read).len());
    }

    #[test]
    fn no_text_is_a_panic(
        edges in "[0-9, \n#x-]{0,60}",
        indicator in "[0-9 \n-]{0,40}",
        labels in prop::option::of("[0-9.e \n-]{0,20}"),
    ) {
        let _ = parse(&edges, &indicator, labels.as_deref());
    }
}
