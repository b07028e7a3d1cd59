//! Listings of vertices out, with names that are hard to write: JSON lines, and `.txt` with tabs.

use ripplet_graph::{Names, VertexIds};
use ripplet_io::write::{
    ColumnData, Communities, Naming, VertexColumn, write_communities, write_community_table,
    write_numbered_table, write_values,
};
use ripplet_io::{
    Format, MembershipForm, ReadOptions, parse_memberships, read_edges, read_labels, read_values,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Names that begin, end, quote, escape or separate what they stand in.
const HARD: [&str; 9] = [
    "Ann Lee",
    "a,b;c",
    "say \"hi\"",
    "tab\there",
    "line\nend",
    "",
    "C:\\dir",
    "Zoë 漢字",
    "\u{1}\u{7f}",
];

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn json_lines_hold_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.jsonl");
    let ids = VertexIds::Names(Names::new(HARD));
    let labels: Vec<u32> = (0..HARD.len() as u32).map(|v| v / 2).collect();
    let strengths = vec![0.25f32; HARD.len()];
    let communities = Communities { strengths: Some(&strengths), ..Communities::of_all(&labels) };
    write_communities(&path, &ids, &communities, Naming::VertexId).unwrap();
    let found = lines(&path);
    assert_eq!(found.len(), HARD.len());
    for (v, row) in found.iter().enumerate() {
        assert_eq!(*row, json!({"id": HARD[v], "community": HARD[v / 2], "strength": 0.25}));
    }
    assert!(fs::read_to_string(&path).unwrap().starts_with("{\"id\":\"Ann Lee\",\"community\":"));
}

#[test]
fn numbers_of_json_lines_are_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.ndjson");
    let ids = VertexIds::Unsigned(vec![1, 2, u64::MAX].into());
    let column = |name, values| VertexColumn { name, len: 1, values };
    let values = [
        column("closeness", ColumnData::F64(&[0.1, f64::INFINITY, f64::NAN])),
        column("near", ColumnData::Bool(&[true, false, true])),
        column("far \"x\"", ColumnData::U32(&[0, 7, u32::MAX])),
    ];
    write_values(&path, &ids, &values).unwrap();
    let expected = [
        json!({"id": 1, "closeness": 0.1, "near": true, "far \"x\"": 0}),
        json!({"id": 2, "closeness": null, "near": false, "far \"x\"": 7}),
        json!({"id": u64::MAX, "closeness": null, "near": true, "far \"x\"": u32::MAX}),
    ];
    assert_eq!(lines(&path), expected);
    write_community_table(&path, &ids, &values[2..]).unwrap();
    assert_eq!(lines(&path)[0], json!({"community": 1, "far \"x\"": 0}));
}

#[test]
fn rows_with_numbers_begin_with_any_number() {
    let folder = tempfile::tempdir().unwrap();
    let column = |values| [VertexColumn { name: "size", len: 1, values: ColumnData::U32(values) }];
    let write = |name: &str, first, values| {
        let path = folder.path().join(name);
        write_numbered_table(&path, "cluster", first, &column(values)).map(|()| path)
    };
    let text = |path| fs::read_to_string(path).unwrap();
    assert_eq!(text(write("a.csv", 5, &[2, 3]).unwrap()), "cluster,size\n5,2\n6,3\n");
    assert_eq!(text(write("b.tsv", 0, &[]).unwrap()), "cluster\tsize\n");
    assert!(write("c.txt", 0, &[1]).is_err());
}

#[test]
fn json_lines_are_the_same_for_any_number_of_threads_and_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let count = 100_000;
    let ids = VertexIds::Consecutive { first: 5, count };
    let labels: Vec<u32> = (0..count).map(|v| v / 3).collect();
    let write = |name: &str| {
        let path = folder.path().join(name);
        let rows = Communities::of_all(&labels);
        write_communities(&path, &ids, &rows, Naming::Consecutive).unwrap();
        fs::read(path).unwrap()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = pool.install(|| write("one.jsonl"));
    assert!(alone == write("many.jsonl"));
    assert_eq!(alone.iter().filter(|&&byte| byte == b'\n').count(), count as usize);
    let packed = zstd::decode_all(&write("many.jsonl.zst")[..]).unwrap();
    assert!(alone == packed);
}

#[test]
fn json_lines_of_edges_are_no_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.jsonl");
    fs::write(&path, "{\"source\":1,\"target\":2}\n").unwrap();
    assert_eq!(read_edges(&path, &ReadOptions::default()).unwrap().len(), 1);
    let ids = VertexIds::Consecutive { first: 0, count: 2 };
    let error = read_labels(&path, &ReadOptions::default(), &ids).unwrap_err().to_string();
    assert!(error.contains("expected the keys `id` and `community`"), "{error}");
}

#[test]
fn names_with_blanks_come_back_from_a_txt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let names = ["1 2", "Ann Lee", "Zoë 漢字", "a, b; c", "bob"];
    let ids = VertexIds::Names(Names::new(names));
    let labels = [0, 1, 1, 0, 1];
    write_communities(&path, &ids, &Communities::of_all(&labels), Naming::VertexId).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("1 2\t1 2\nAnn Lee\tAnn Lee\nZoë 漢字\tAnn Lee\n"), "{text}");
    assert_eq!(read_labels(&path, &ReadOptions::default(), &ids).unwrap(), labels);
    let form = MembershipForm::Rows;
    let found = parse_memberships(text.as_bytes(), form, Format::EdgeList, &ids).unwrap();
    assert_eq!(found.names, ["1 2", "Ann Lee"]);

    // Communities that are numbers, and values.
    write_communities(&path, &ids, &Communities::of_all(&labels), Naming::BySize).unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("1 2\t1\nAnn Lee\t0\n"));
    let values = [0.5, 1.0, 2.0, 3.0, 4.0];
    let column = VertexColumn { name: "lcc", len: 1, values: ColumnData::F64(&values) };
    write_values(&path, &ids, &[column]).unwrap();
    assert_eq!(read_values(&path, &ReadOptions::default(), &ids).unwrap(), values);

    // A name that is written between its names' blanks.
    let plain = VertexIds::Names(Names::new(["a", "b"]));
    let called = VertexIds::Names(Names::new(["the north"]));
    let naming = Naming::Given { names: &called, of: &[0, 0] };
    write_communities(&path, &plain, &Communities::of_all(&[0, 0]), naming).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\tthe north\nb\tthe north\n");
    // In a `.txt` a quotation mark is an ordinary character.
    let quotes = VertexIds::Names(Names::new(["\"b\" o", "a \"x\""]));
    write_communities(&path, &quotes, &Communities::of_all(&[0, 0]), Naming::VertexId).unwrap();
    assert_eq!(read_labels(&path, &ReadOptions::default(), &quotes).unwrap(), [0, 0]);
    // Ids without blanks get no tabs.
    write_communities(&path, &plain, &Communities::of_all(&[0, 0]), Naming::VertexId).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a a\nb a\n");
}

#[test]
fn names_that_no_reader_could_tell_apart_are_refused_with_a_format_that_holds_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    for (name, help) in [
        ("a\tb c", "--to csv"),
        (" around ", "--to csv"),
        ("# comment", "--to csv"),
        ("line\nend", "--to parquet"),
        ("", "--to parquet"),
    ] {
        let ids = VertexIds::Names(Names::new([name]));
        let error = write_communities(&path, &ids, &Communities::of_all(&[0]), Naming::VertexId);
        let error = error.unwrap_err().to_string();
        assert!(error.contains(help), "{name:?}: {error}");
        assert!(!path.exists());
    }
}
