//! Ranks that read a table together have the graph that one process builds, each the lists of its own vertices.

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use ripplet_graph::{BuildOptions, Direction, Duplicates, Graph, GraphBuilder, SelfLoops};
use ripplet_io::ranked::{TablePart, TablePartError, has_shares, part_of_edges, read_part};
use ripplet_io::{Columns, Edge, IdKind, ReadOptions, edge_table, read_edges_with_summary, rg};
use ripplet_ranks::Threads;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Reads a table on some ranks.
fn on_ranks(
    ranks: usize,
    path: &Path,
    options: &ReadOptions,
    build: &BuildOptions,
) -> Vec<Result<TablePart, TablePartError>> {
    Threads::run(ranks, Duration::from_secs(60), |mut comm| {
        // As in processes of their own, notes of the ranks are not shared.
        let build = BuildOptions { weights: Default::default(), ..build.clone() };
        let with_ids = comm.rank() == 0;
        read_part(path, options, &build, &mut comm, with_ids)
    })
}

/// The list of a vertex: neighbours and stored weights, of all directions.
fn list(graph: &Graph, vertex: u32) -> Vec<(Vec<u32>, Option<Vec<u32>>)> {
    let shard = graph.shards().iter().find(|shard| shard.vertices().contains(&vertex)).unwrap();
    let local = (vertex - shard.vertices().start) as usize;
    let list = |lists: ripplet_graph::Neighbors<'_>| {
        (lists.of(local).to_vec(), lists.weights_of(local).map(<[u32]>::to_vec))
    };
    shard.lists().map(list).collect()
}

/// Compares the parts of ranks with the graph of one process.
fn compare(ranks: usize, path: &Path, options: &ReadOptions, build: &BuildOptions) {
    let (edges, summary) = read_edges_with_summary(path, options).unwrap();
    let whole = GraphBuilder::from(build.clone()).build(edges).unwrap();
    let parts = on_ranks(ranks, path, options, build);
    let parts: Vec<TablePart> = parts.into_iter().map(Result::unwrap).collect();
    assert!(parts.iter().all(|part| part.summary.edges == summary.edges));
    compare_lists(&parts, &whole);
    // Ranks write the file of one process.
    let folder = tempfile::tempdir().unwrap();
    let (of_one, of_ranks) = (folder.path().join("one.rg"), folder.path().join("ranks.rg"));
    rg::write(&whole, &of_one).unwrap();
    Threads::run(ranks, Duration::from_secs(60), |mut comm| {
        let part = &parts[comm.rank()];
        let own = part.bounds[comm.rank()]..part.bounds[comm.rank() + 1];
        rg::write_ranked(&part.graph, own, &of_ranks, &mut comm).unwrap();
    });
    assert!(fs::read(&of_one).unwrap() == fs::read(&of_ranks).unwrap());
    // As one process says it, unless there are several files.
    if !path.to_string_lossy().contains('*') {
        assert_eq!(parts[0].summary, summary);
    }
}

/// Compares the lists of parts with those of the whole graph.
fn compare_lists(parts: &[TablePart], whole: &Graph) {
    let ranks = parts.len();
    assert_eq!(parts[0].graph.ids(), whole.ids());
    for (rank, part) in parts.iter().enumerate() {
        assert_eq!(part.bounds, parts[0].bounds);
        assert_eq!((part.bounds.len(), part.bounds[ranks]), (ranks + 1, whole.vertices()));
        assert!(
            part.bounds[..ranks].iter().all(|bound| bound % 64 == 0 || *bound == whole.vertices())
        );
        assert_eq!(part.graph.vertices(), whole.vertices());
        assert_eq!(part.graph.weight_scale(), whole.weight_scale());
        assert_eq!(part.graph.is_weighted(), whole.is_weighted());
        assert_eq!(part.graph.arcs(), whole.arcs());
        for vertex in 0..whole.vertices() {
            let found = list(&part.graph, vertex);
            if (part.bounds[rank]..part.bounds[rank + 1]).contains(&vertex) {
                assert_eq!(found, list(whole, vertex), "rank {rank} of {ranks}, vertex {vertex}");
            } else {
                assert!(found.iter().all(|(list, _)| list.is_empty()));
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Csv,
    Text,
    JsonLines,
    Parquet,
    Gzip,
}

/// Writes rows as a file of the kind; ids are text.
fn write(folder: &Path, name: &str, kind: Kind, rows: &[(String, String, String)]) {
    let lines = |row: &dyn Fn(&(String, String, String)) -> String| -> String {
        rows.iter().map(row).collect()
    };
    let csv = || {
        let rows = lines(&|(s, t, w)| format!("{s},{t},{w}\n"));
        format!("# made by a test\nsource,target,weight\n{rows}")
    };
    let file = |extension: &str| folder.join(format!("{name}.{extension}"));
    match kind {
        Kind::Csv => fs::write(file("csv"), csv()).unwrap(),
        Kind::Text => {
            fs::write(file("txt"), lines(&|(s, t, w)| format!("{s} {t} {w}\r\n"))).unwrap();
        }
        Kind::JsonLines => {
            let row = |(s, t, w): &(String, String, String)| {
                format!("{{\"source\":\"{s}\",\"target\":\"{t}\",\"weight\":{w}}}\n")
            };
            fs::write(file("jsonl"), lines(&row)).unwrap();
        }
        Kind::Gzip => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(csv().as_bytes()).unwrap();
            fs::write(file("csv.gz"), encoder.finish().unwrap()).unwrap();
        }
        Kind::Parquet => {
            let text = |end: fn(&(String, String, String)) -> &String| {
                Arc::new(StringArray::from_iter_values(rows.iter().map(end))) as ArrayRef
            };
            let weights = rows.iter().map(|(_, _, w)| w.parse::<f64>().unwrap() as u32);
            let batch = RecordBatch::try_from_iter([
                ("source", text(|row| &row.0)),
                ("target", text(|row| &row.1)),
                ("weight", Arc::new(UInt32Array::from_iter_values(weights)) as ArrayRef),
            ])
            .unwrap();
            let properties =
                WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
            let mut out =
                ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
            out.write(&batch).unwrap();
            fs::write(file("parquet"), out.into_inner().unwrap()).unwrap();
        }
    }
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Csv, Kind::Text, Kind::JsonLines, Kind::Parquet, Kind::Gzip])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_parts_are_the_graph(
        pairs in prop::collection::vec((0u64..300, 0u64..300, 0u32..2000), 1..400),
        kind in any_kind(),
        ids in 0..5,
        ranks in 1usize..8,
        (directed, loops, keep, weighted) in any::<(bool, bool, bool, bool)>(),
        weights in 0..4,
        cuts in prop::collection::vec(0usize..400, 0..4),
    ) {
        // Consecutive, far apart, signed, names, and names of which many begin alike.
        let id = |id: u64| match ids {
            0 => id.to_string(),
            1 => (id * 40_000_000_000_000_007).to_string(),
            2 => (id as i64 * 3 - 450).to_string(),
            3 => format!("n{id}é"),
            // Longer than what is compared of a name, in half of the cases.
            _ => format!("https://example.org/{}/{id}", "account-".repeat(weights as usize * 200)),
        };
        // Integers, cents, fractions, and sums beyond 32 bits.
        let weight = |weight: u32| match weights {
            _ if kind == Kind::Parquet => weight.to_string(),
            0 => weight.to_string(),
            1 => format!("{}.{:02}", weight / 100, weight % 100),
            2 => (f64::from(weight) / 7.0).to_string(),
            _ => (u64::from(weight) * 2_000_000).to_string(),
        };
        let rows: Vec<_> = pairs.iter().map(|&(s, t, w)| (id(s), id(t), weight(w))).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (rows.len() + 1)).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        for (at, ends) in cuts.windows(2).enumerate() {
            // A part may have no rows; one without a head has no columns either.
            if ends[0] < ends[1] {
                write(folder.path(), &format!("part-{at}"), kind, &rows[ends[0]..ends[1]]);
            }
        }
        let ids = match ids {
            2 if kind != Kind::Parquet => IdKind::Signed,
            0..=2 if !matches!(kind, Kind::Parquet | Kind::JsonLines) => IdKind::Auto,
            _ => IdKind::Names,
        };
        let options = ReadOptions { weighted, ids, ..ReadOptions::default() };
        let build = BuildOptions {
            direction: if directed { Direction::Directed } else { Direction::Undirected },
            self_loops: if loops { SelfLoops::Keep } else { SelfLoops::Drop },
            duplicates: if keep { Duplicates::Keep } else { Duplicates::Merge },
            weights: ripplet_graph::WeightLedger::new(true),
            ..BuildOptions::default()
        };
        compare(ranks, &folder.path().join("part-*"), &options, &build);
    }
}

fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

/// Reads a table on ranks of which some must fail; returns the error of each, `None` of those that have none of their own.
fn errors(
    ranks: usize,
    folder: &TempDir,
    name: &str,
    options: &ReadOptions,
) -> Vec<Option<String>> {
    let root = folder.path().display().to_string();
    let found = on_ranks(ranks, &folder.path().join(name), options, &BuildOptions::default());
    let sentence = |found: Result<TablePart, TablePartError>| match found.unwrap_err() {
        TablePartError::Elsewhere => None,
        error => Some(error.to_string().replace(&root, "")),
    };
    found.into_iter().map(sentence).collect()
}

#[test]
fn one_file_is_cut_at_its_lines() {
    let rows = |from: u32| -> String {
        (from..from + 40).map(|row| format!("{},{},1\n", row * 7 % 90, row * 11 % 80)).collect()
    };
    // A mark of UTF-8, a comment, the separator of Excel, comments between rows, a last line without an end.
    let text = format!(
        "\u{feff}# a\nsource,target,weight\n{}# left out\n\n{}#,\n7,8,1",
        rows(0),
        rows(40)
    );
    let folder = folder_of(&[
        ("a.csv", &text),
        ("b.csv", &format!("sep=;\n{}", text[3..].replace(',', ";").replace("# a\n", ""))),
        ("c.txt", "1 2\n2 3\n3 1\n"),
        ("d.tsv", "a\tb"),
    ]);
    for name in ["a.csv", "b.csv", "c.txt", "d.tsv"] {
        let path = folder.path().join(name);
        for ranks in 1..9 {
            compare(ranks, &path, &ReadOptions::default(), &BuildOptions::default());
        }
    }
}

#[test]
fn the_first_error_is_that_of_one_process() {
    let mut lines: Vec<String> = (0..100).map(|row| format!("{row},{},2", row + 1)).collect();
    lines.insert(0, "source,target,weight".into());
    lines[70] = "69,70,heavy".into();
    let folder = folder_of(&[("a.csv", &lines.join("\n"))]);
    let one = errors(1, &folder, "a.csv", &weighted());
    let sentence = one[0].clone().unwrap();
    assert!(sentence.starts_with("/a.csv:71: "), "{sentence}");
    for ranks in 2..6 {
        let found = errors(ranks, &folder, "a.csv", &weighted());
        let mut told = found.iter().flatten();
        assert_eq!((told.next(), told.next()), (Some(&sentence), None), "{found:?}");
    }
    lines[90] = "89,90,light".into();
    let folder = folder_of(&[("a.csv", &lines.join("\n"))]);
    let found = errors(5, &folder, "a.csv", &weighted());
    assert_eq!(found.iter().flatten().next(), Some(&sentence), "{found:?}");
    // All ranks have an error of the first rows.
    let folder = folder_of(&[("a.csv", "payer,payee,age,size\n1,2,3,4\n2,3,4,5\n")]);
    let columns = Columns { source: "from".into(), ..Columns::default() };
    let options = ReadOptions { columns, ..ReadOptions::default() };
    let found = errors(3, &folder, "a.csv", &options);
    assert!(found.iter().all(|error| error.is_some() && *error == found[0]), "{found:?}");
}

#[test]
fn parts_that_do_not_fit_each_other_are_refused() {
    let check = |files: &[(&str, &str)], options: &ReadOptions, expected: &str| {
        let folder = folder_of(files);
        let found = errors(2, &folder, "*", options);
        let told: Vec<_> = found.iter().flatten().collect();
        assert!(!told.is_empty() && told.iter().all(|text| text.contains(expected)), "{found:?}");
    };
    let plain = ReadOptions::default();
    let first = ("1.csv", "source,target\n1,2\n");
    check(
        &[first, ("2.csv", "from,to\n1,2\n3,4\n")],
        &plain,
        "/2.csv: its edges are source = \"from\", target = \"to\", and those of ",
    );
    check(&[first, ("2.csv", "source,target\nann,bob\n")], &plain, "/2.csv: its ids are names");
    check(
        &[("1.csv", "source,target\nann,bob\n"), ("2.csv", "source,target\n1,2\n")],
        &plain,
        "/2.csv: its ids are integers",
    );
    let signed = ReadOptions { ids: IdKind::Signed, ..plain.clone() };
    check(&[first, ("2.csv", "source,target\n1,zwei\n")], &signed, "/2.csv:2: ");
    check(&[("1.csv", "source,target\n"), ("2.csv", "source,target\n")], &plain, "no edges");
    check(&[("1.csv", ""), ("2.csv", "")], &plain, "no edges");
    check(&[first, ("2.mtx", "")], &plain, "is a graph of its own");
    check(
        &[
            ("1.csv", "source,target,weight\n1,2,1e-30\n"),
            ("2.csv", "source,target,weight\n1,2,1e30\n"),
        ],
        &weighted(),
        "differ too much in size",
    );
    let found = errors(3, &folder_of(&[]), "none.csv", &plain);
    assert!(found.iter().all(|text| text.as_ref().unwrap().starts_with("/none.csv: No such file")));
    // A row that takes a rank nothing to read is no part of its share.
    let folder = folder_of(&[first, ("2.csv", "source,target\n")]);
    compare(4, &folder.path().join("*"), &plain, &BuildOptions::default());
}

#[test]
fn what_comes_first_in_the_files_is_the_error() {
    let row = |columns: &str| format!("{columns}\n1,2\n3,4\n5,6\n");
    let bad = "source,target\n1,2\n3,zwei\n5,6\n";
    let (good, other) = (row("source,target"), row("from,to"));
    let names = "source,target\na,b\nc,dd\ne,f\n";
    let of_ranks = |second: &str| {
        let folder = folder_of(&[("1.csv", &good), ("2.csv", second), ("3.csv", bad)]);
        let one = read_edges_with_summary(&folder.path().join("*.csv"), &ReadOptions::default());
        let root = folder.path().display().to_string();
        let expected = one.unwrap_err().to_string().replace(&root, "");
        for ranks in 1..6 {
            let found = errors(ranks, &folder, "*.csv", &ReadOptions::default());
            assert_eq!(found.iter().flatten().next(), Some(&expected), "{ranks} ranks: {found:?}");
        }
        expected
    };
    assert!(of_ranks(&other).starts_with("/2.csv: its edges are source = \"from\""));
    assert!(of_ranks(names).starts_with("/2.csv: its ids are names"));
    assert!(of_ranks(&good).starts_with("/3.csv:3: "));
}

#[test]
fn the_summary_is_that_of_files_with_edges() {
    let folder = folder_of(&[("1.csv", "from,to\n"), ("2.csv", "source,target\n1,2\n#,\n2,3\n")]);
    let path = folder.path().join("*.csv");
    for ranks in 1..5 {
        let parts = on_ranks(ranks, &path, &ReadOptions::default(), &BuildOptions::default());
        let summary = parts.into_iter().next().unwrap().unwrap().summary.to_string();
        // Rank 0 may have read none of them.
        let of_one = read_edges_with_summary(&path, &ReadOptions::default()).unwrap().1.to_string();
        assert!(summary == of_one || summary == "read 2 edges", "{summary}");
        assert!(ranks > 1 || summary == of_one, "{summary}");
    }
    let files = [("a/part-1", "1,2\n"), ("a/part-2.csv", "2,3\n")];
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let options = ReadOptions::default();
    assert!(!has_shares(&folder.path().join("a/part-*"), &options));
    assert!(has_shares(&folder.path().join("a/part-2*"), &options));
}

#[test]
fn ids_beyond_64_bits_together_are_refused() {
    let folder = folder_of(&[]);
    let column = |ids: ArrayRef| {
        RecordBatch::try_from_iter([("source", ids.clone()), ("target", ids)]).unwrap()
    };
    let negative = Arc::new(arrow_array::Int64Array::from(vec![-5, 5])) as ArrayRef;
    let above = Arc::new(arrow_array::UInt64Array::from(vec![5, u64::MAX])) as ArrayRef;
    let write = |name: &str, ids: &ArrayRef| {
        let batch = column(ids.clone());
        let mut out = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        out.write(&batch).unwrap();
        fs::write(folder.path().join(name), out.into_inner().unwrap()).unwrap();
    };
    write("1.parquet", &negative);
    write("2.parquet", &above);
    let found = errors(2, &folder, "*.parquet", &ReadOptions::default());
    assert!(
        found.iter().all(|text| text.as_ref().unwrap().contains("above 2^63 - 1")),
        "{found:?}"
    );
    // Without one of the two, the kinds fit each other.
    write("2.parquet", &(Arc::new(arrow_array::UInt64Array::from(vec![5, 90])) as ArrayRef));
    compare(2, &folder.path().join("*.parquet"), &ReadOptions::default(), &BuildOptions::default());
    write("1.parquet", &(Arc::new(arrow_array::Int64Array::from(vec![7, 5])) as ArrayRef));
    write("2.parquet", &above);
    compare(2, &folder.path().join("*.parquet"), &ReadOptions::default(), &BuildOptions::default());
}

#[test]
fn ranks_with_other_files_are_found() {
    let folder =
        folder_of(&[("a.csv", "source,target\n1,2\n"), ("b.csv", "source,target\n1,2\n3,4\n")]);
    let found = Threads::run(3, Duration::from_secs(60), |mut comm| {
        let name = if comm.rank() == 2 { "b.csv" } else { "a.csv" };
        let path = folder.path().join(name);
        let options = (ReadOptions::default(), BuildOptions::default());
        read_part(&path, &options.0, &options.1, &mut comm, true).map(|_| ())
    });
    for error in found {
        assert!(matches!(error, Err(TablePartError::FilesDiffer { rank: 2 })), "{error:?}");
    }
}

/// Makes parts of edges that are dealt out by `rank_of`.
fn dealt<E: Edge + Clone + Sync>(
    ranks: usize,
    edges: &[E],
    build: &BuildOptions,
    rank_of: impl Fn(usize) -> usize + Sync,
) -> Vec<TablePart> {
    let parts = Threads::run(ranks, Duration::from_secs(60), |mut comm| {
        let own = edges.iter().enumerate().filter(|(at, _)| rank_of(*at) % ranks == comm.rank());
        let own = edge_table(own.map(|(_, edge)| edge.clone())).unwrap();
        let build = BuildOptions { weights: Default::default(), ..build.clone() };
        part_of_edges(Some(own), &build, &mut comm, true)
    });
    parts.into_iter().map(Result::unwrap).collect()
}

/// Compares parts of edges, dealt out in several ways, with the graph of all.
fn compare_dealt<E: Edge + Clone + Sync>(edges: &[E], build: &BuildOptions) {
    let all = edge_table(edges.iter().cloned()).unwrap();
    let whole = GraphBuilder::from(build.clone()).build(all).unwrap();
    for ranks in [1, 2, 3, 7] {
        compare_lists(&dealt(ranks, edges, build, |at| at * 7919 % 13), &whole);
        // All ranks but one have none.
        compare_lists(&dealt(ranks, edges, build, |_| ranks / 2), &whole);
    }
}

#[test]
fn edges_of_ranks_make_the_graph_of_all() {
    let numbers: Vec<(u64, u64)> = (0..600).map(|e| (e * 7 % 190, e * 31 % 211 + 5)).collect();
    let signed: Vec<(i64, i64, f64)> = numbers
        .iter()
        .map(|&(a, b)| (a as i64 - 60, b as i64 - 70, (a % 9) as f64 / 4.0))
        .collect();
    let names: Vec<(String, String)> =
        numbers.iter().map(|(a, b)| (format!("user{a}"), format!("user{b}"))).collect();
    let builds = [
        BuildOptions::default(),
        Direction::Directed.into(),
        BuildOptions {
            self_loops: SelfLoops::Keep,
            duplicates: Duplicates::Keep,
            ..BuildOptions::default()
        },
    ];
    for build in &builds {
        compare_dealt(&numbers, build);
        compare_dealt(&signed, build);
        compare_dealt(&names, build);
    }
}

#[test]
fn edges_of_ranks_that_do_not_fit_each_other_are_refused() {
    let refused = |edges: [Option<ripplet_graph::EdgeTable>; 2]| -> Vec<Option<String>> {
        let found = Threads::run(2, Duration::from_secs(60), |mut comm| {
            let own = edges[comm.rank()].clone();
            part_of_edges(own, &BuildOptions::default(), &mut comm, true).map(|_| ())
        });
        let sentence = |found: Result<(), TablePartError>| match found.unwrap_err() {
            TablePartError::Elsewhere => None,
            error => Some(error.to_string()),
        };
        found.into_iter().map(sentence).collect()
    };
    let plain = || edge_table([(1_u64, 2_u64)]).ok();
    let none = || edge_table::<(u64, u64)>([]).ok();
    assert_eq!(refused([plain(), None]), [None, None]);
    let told = refused([edge_table([(1_u64, 2_u64, 2.0)]).ok(), plain()]);
    assert!(told.iter().all(|text| text.as_ref().unwrap().contains("have weights")), "{told:?}");
    let told = refused([plain(), edge_table([("ann", "bob")]).ok()]);
    assert!(told[0].is_none() && told[1].as_ref().unwrap().contains("are names"), "{told:?}");
    let told = refused([none(), none()]);
    assert!(told.iter().all(|text| text.as_ref().unwrap().contains("no edges")), "{told:?}");
}

#[test]
fn tables_have_shares() {
    let has = |name: &str| has_shares(Path::new(name), &ReadOptions::default());
    assert!(
        ["a.csv", "a.csv.gz", "days/*.parquet", "a.txt", "a.jsonl", "a.arrow"]
            .map(has)
            .iter()
            .all(|&has| has)
    );
    assert!(["a.rg", "a.mtx", "a.graph", "a.gml", "-", "a"].map(has).iter().all(|&has| !has));
}
