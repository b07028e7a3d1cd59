//! Labels in: what is read, and what is wrong with it.

use ripplet_graph::{Names, VertexIds};
use ripplet_io::write::{Communities, Naming, write_communities};
use ripplet_io::{
    Format, InitialLabels, MembershipForm, Memberships, ReadOptions, parse_initial_labels,
    parse_labels, parse_memberships, read_initial_labels, read_labels, read_memberships,
};

fn four() -> VertexIds {
    VertexIds::Unsigned(vec![1, 2, 30, 40].into())
}

#[test]
fn labels_are_vertices() {
    for (text, format) in [
        ("30 1\n1 1\n# a comment\n\n40\t40\n2,30\n", Format::EdgeList),
        ("id\tcommunity\n1\t1\n2\t30\n30\t1\n40\t40\n", Format::Tsv),
        ("vertex,label,more\n1,1,x\n2,30,y\n30,1,z\n40,40,\n", Format::Csv),
        ("1,1\r\n2,\"30\"\r\n30,1\r\n40,40", Format::Csv),
    ] {
        assert_eq!(parse_labels(text.as_bytes(), format, &four()).unwrap(), [0, 2, 0, 3], "{text}");
    }
}

#[test]
fn communities_are_called_anything() {
    let groups = |text: &str, format, ids: &VertexIds| {
        let read = parse_memberships(text.as_bytes(), MembershipForm::Rows, format, ids);
        read.unwrap().memberships
    };
    let text = "40 red\n30 7\n2 red\n1 7\n";
    let found = groups(text, Format::EdgeList, &four());
    assert_eq!(found, [(3, 0), (2, 1), (1, 0), (0, 1)]);
    let names = VertexIds::Names(Names::new(["New York", "a"]));
    let text = "a\tthe south\nNew York\tthe north\n";
    for format in [Format::EdgeList, Format::Tsv] {
        assert_eq!(groups(text, format, &names), [(1, 0), (0, 1)]);
    }
}

#[test]
fn a_run_may_begin_with_names_and_without_some_labels() {
    const NONE: u32 = u32::MAX;
    for (text, labels, communities, are_named) in [
        ("30 1\n1 1\n40 40\n2 30\n", [0, 2, 0, 3], 3, false),
        // A vertex may be called by one that has no label.
        ("30 1\n2 1\n", [NONE, 0, 0, NONE], 1, false),
        // `--names number`: not all numbers are vertices, so none stands for one.
        ("1 1\n2 0\n30 0\n40 1\n", [0, 1, 1, 0], 2, true),
        ("40 red\n30 2\n", [NONE, NONE, 2, 3], 2, true),
    ] {
        let read = parse_initial_labels(text.as_bytes(), Format::EdgeList, &four()).unwrap();
        let unlabelled = labels.iter().filter(|&&label| label == NONE).count() as u64;
        let labels = labels.to_vec();
        assert_eq!(read, InitialLabels { labels, communities, unlabelled, are_named }, "{text}");
    }
    let error = |text: &str| {
        let read = parse_initial_labels(text.as_bytes(), Format::Csv, &four());
        read.unwrap_err().to_string()
    };
    for (text, part) in [
        ("1,red\n1,blue\n", "(bytes):2: vertex 1 has a second label"),
        ("1,red\n9,red\n", "(bytes):2: `9` is no vertex of the graph"),
        ("1,red\n2,\n", "(bytes):2: the label is empty"),
        ("id,community\n", "the file has no labels"),
    ] {
        assert!(error(text).contains(part), "{}", error(text));
    }
    let folder = tempfile::tempdir().unwrap();
    for name in ["c.parquet", "c.arrow", "c.tsv", "c.csv.gz"] {
        let path = folder.path().join(name);
        let communities = Communities::of_all(&[3, 0, 0, 0]);
        write_communities(&path, &four(), &communities, Naming::BySize).unwrap();
        let read = read_initial_labels(&path, &ReadOptions::default(), &four()).unwrap();
        assert_eq!((read.labels, read.are_named), (vec![0, 1, 1, 1], true), "{name}");
    }
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let error = |text: &str, format| {
        parse_labels(text.as_bytes(), format, &four()).unwrap_err().to_string()
    };
    let txt = Format::EdgeList;
    for (text, place, what) in [
        ("1 1\n99 1\n", ":2: ", "`99` is no vertex of the graph"),
        ("1 1\n2 99\n", ":2: ", "the label `99` is no vertex of the graph"),
        ("1 1\n\n#\n1 2\n", ":4: ", "vertex 1 has a second label"),
        ("1 1\n2\n", ":2: ", "the label is missing"),
        ("1 1\n40 1\n", "(bytes): ", "2 of 4 vertices have no label, the first of them vertex 2"),
        ("", "(bytes): ", "4 of 4 vertices have no label"),
        ("-1 1\n", ":1: ", "`-1` is no vertex"),
    ] {
        let error = error(text, txt);
        assert!(error.contains(place) && error.contains(what), "{error}");
    }
    assert!(error("1,\"1\n", Format::Csv).contains(":1: "), "an open quote");
    assert!(error("1 1\n", Format::Metis).contains("labels are read from"));
    let of_rows = |text: &[u8], format| {
        let read = parse_memberships(text, MembershipForm::Rows, format, &four());
        read.unwrap_err().to_string()
    };
    let groups = of_rows(b"1,\n", Format::Csv);
    assert!(groups.contains(":1: the label is empty"), "{groups}");
    let invalid = of_rows(b"1 \xff\n", txt);
    assert!(invalid.contains(":1: ") && invalid.contains("UTF-8"), "{invalid}");
}

#[test]
fn the_first_error_is_told_for_any_thread_count() {
    let ids = VertexIds::Consecutive { first: 0, count: 300_000 };
    let row = |v: u32| match v {
        150_000 | 270_000 => "5 x\n".to_string(),
        v => format!("{v} {}\n", v / 2),
    };
    let text: String = (0..300_000).map(row).collect();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let read = || parse_labels(text.as_bytes(), Format::EdgeList, &ids);
        let error = pool.install(read).unwrap_err().to_string();
        assert!(error.contains(":150001: the label `x`"), "{error}");
    }
}

#[test]
fn tables_have_their_columns_and_rows_named() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["c.parquet", "c.arrow"] {
        let path = folder.path().join(name);
        write_communities(&path, &four(), &Communities::of_all(&[0, 0, 2, 0]), Naming::VertexId)
            .unwrap();
        let options = ReadOptions::default();
        assert_eq!(read_labels(&path, &options, &four()).unwrap(), [0, 0, 2, 0]);
        let rows = read_memberships(&path, MembershipForm::Rows, &options, &four()).unwrap();
        let names = ["1", "30"].map(String::from).to_vec();
        let memberships = vec![(0, 0), (1, 0), (2, 1), (3, 0)];
        assert_eq!(rows, Memberships { memberships, names });
        let fewer = VertexIds::Unsigned(vec![1, 2, 40].into());
        let error = read_labels(&path, &options, &fewer).unwrap_err().to_string();
        assert!(error.contains(" at row 2: `30` is no vertex of the graph"), "{error}");
        let more = VertexIds::Unsigned(vec![1, 2, 30, 40, 41].into());
        let error = read_labels(&path, &options, &more).unwrap_err().to_string();
        assert!(error.contains("1 of 5 vertices have no label"), "{error}");
    }
}

#[test]
fn a_file_without_a_known_extension_is_read_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph-CDLP");
    std::fs::write(&path, "1 1\n2 1\n30 1\n40 40\n").unwrap();
    assert_eq!(read_labels(&path, &ReadOptions::default(), &four()).unwrap(), [0, 0, 0, 3]);
    let missing = read_labels(&folder.path().join("none"), &ReadOptions::default(), &four());
    assert!(missing.unwrap_err().to_string().contains("No such file"));
}
