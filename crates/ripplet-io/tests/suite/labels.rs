//! Labels in: what is read, and what is wrong with it.

use ripplet_graph::{Names, VertexIds};
use ripplet_io::write::{Communities, Naming, write_communities};
use ripplet_io::{
    Format, InitialLabels, MembershipForm, ReadOptions, parse_initial_labels, parse_labels,
    parse_memberships, read_initial_labels, read_labels, read_memberships,
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
        let (labels, summary) = (labels.to_vec(), read.summary.clone());
        let expected = InitialLabels { labels, communities, unlabelled, are_named, summary };
        assert_eq!(read, expected, "{text}");
    }
    let error = |text: &str| {
        let read = parse_initial_labels(text.as_bytes(), Format::Csv, &four());
        read.unwrap_err().to_string()
    };
    for (text, part) in [
        ("1,red\n1,blue\n", "(bytes):2: vertex 1 has a second label"),
        ("1,red\n9,red\n", "(bytes):2: `9` is no vertex of the graph: give the graph of the run"),
        ("id,community\n", "the file has no labels"),
    ] {
        assert!(error(text).contains(part), "{}", error(text));
    }
    let empty = parse_initial_labels(b"1,red\n2,\n", Format::Csv, &four()).unwrap();
    assert_eq!((empty.labels, empty.unlabelled), (vec![0, NONE, NONE, NONE], 3));
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
    let groups = of_rows(b"1\n", Format::Csv);
    assert!(groups.contains(":1: the label is missing"), "{groups}");
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
        assert_eq!((rows.memberships, rows.names), (memberships, names));
        assert!(rows.summary.is_plain());
        let fewer = VertexIds::Unsigned(vec![1, 2, 40].into());
        let error = read_labels(&path, &options, &fewer).unwrap_err().to_string();
        assert!(error.contains(" at row 3: `30` is no vertex of the graph"), "{error}");
        let more = VertexIds::Unsigned(vec![1, 2, 30, 40, 41].into());
        let error = read_labels(&path, &options, &more).unwrap_err().to_string();
        assert!(error.contains("1 of 5 vertices has no label"), "{error}");
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

/// Labels read from a text about the vertices 0 to 3, and their summary.
fn read(text: &str, format: Format) -> Result<(Vec<(u32, String)>, String), String> {
    let ids = VertexIds::Consecutive { first: 0, count: 4 };
    let read = parse_memberships(text.as_bytes(), MembershipForm::Auto, format, &ids);
    let read = read.map_err(|error| error.to_string())?;
    let names = &read.names;
    let rows = read.memberships.iter().map(|&(v, label)| (v, names[label as usize].clone()));
    Ok((rows.collect(), read.summary.to_string()))
}

#[test]
fn a_line_of_json_may_have_no_community() {
    let text = "{\"id\":0,\"community\":\"a\"}\n{\"id\":1,\"community\":null}\n{\"community\":\"\",\"id\":2}\n";
    let found = read(text, Format::JsonLines).unwrap();
    assert_eq!(found.0, [(0, "a".to_owned())]);
    assert!(found.1.ends_with("; 2 rows have no community"), "{}", found.1);
    let error = read("{\"id\":null,\"community\":\"a\"}\n", Format::JsonLines).unwrap_err();
    assert!(error.contains("the key `id` has null"), "{error}");
}

#[test]
fn a_header_decides_which_columns_are_read() {
    let expected: Vec<(u32, String)> =
        [(0, "7"), (1, "8"), (2, "7")].map(|(v, c)| (v, c.into())).into();
    for (text, said) in [
        (
            "id,age,community\n0,20,7\n1,30,8\n2,20,7\n",
            "id = \"id\", community = \"community\"; 1 other column ignored",
        ),
        (
            "Id,Label,Interval,community,degree\n0,3,,7,1\n1,2,,8,1\n2,1,,7,1\n",
            "id = \"Id\", community = \"community\"; 3 other columns ignored",
        ),
        (
            "Id,Label,modularity_class\n0,2,7\n1,3,8\n2,2,7\n",
            "id = \"Id\", community = \"modularity_class\"; 1 other column ignored",
        ),
        (
            ",id,community\n3,0,7\n2,1,8\n1,2,7\n",
            "id = \"id\", community = \"community\"; 1 other column ignored",
        ),
        ("club,member\n7,0\n8,1\n7,2\n", "id = \"member\", community = \"club\""),
        ("community,id\n7,0\n8,1\n7,2\n", "id = \"id\", community = \"community\""),
        (
            "graph,id,community\n3,0,7\n3,1,8\n3,2,7\n",
            "id = \"id\", community = \"community\"; 1 other column ignored",
        ),
        ("town,number\n0,7\n1,8\n2,7\n", "id = \"town\", community = \"number\""),
        (
            "id,name,department\n0,ann,7\n1,bob,8\n2,cyd,7\n",
            "id = \"id\", community = \"department\"; 1 other column ignored",
        ),
    ] {
        let read = read(text, Format::Csv).unwrap();
        assert_eq!(read, (expected.clone(), said.to_owned()), "{text}");
        let tabs = text.replace(',', "\t");
        let by_tabs = self::read(&tabs, Format::Tsv).unwrap();
        assert_eq!(by_tabs.0, expected, "{tabs}");
    }
    for (text, parts) in [
        (
            "a,b,c\n0,1,2\n",
            ["(bytes):1: ", "the first rows are `a,b,c` and `0,1,2`: use --labels-columns"],
        ),
        ("id,club,team\n0,1,2\n", ["`club` and `team` may both be meant", "--labels-columns"]),
        (
            "id,community\n0,1,2\n",
            ["(bytes):2: ", "the row has 3 fields, but the header names 2 columns"],
        ),
    ] {
        let error = read(text, Format::Csv).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn columns_may_be_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let ids = VertexIds::Consecutive { first: 0, count: 4 };
    let read = |text: &str, columns: [&str; 2]| {
        let path = folder.path().join("c.csv");
        std::fs::write(&path, text).unwrap();
        let label_columns = Some(columns.map(String::from));
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        let read = read_memberships(&path, MembershipForm::Auto, &options, &ids);
        read.map(|read| (read.names, read.memberships)).map_err(|error| error.to_string())
    };
    let expected = Ok((vec!["7".into(), "8".into()], vec![(0, 0), (1, 1)]));
    assert_eq!(read("a,b,c\n7,x,0\n8,x,1\n", ["c", "a"]), expected);
    assert_eq!(read("a,b,c\n7,x,0\n8,x,1\n", ["3", "1"]), expected);
    assert_eq!(read("7,x,0\n8,x,1\n", ["3", "1"]), expected);
    for (columns, part) in
        [(["c", "d"], "no column `d`; the columns are: a, b, c"), (["1", "a"], "one column twice")]
    {
        let error = read("a,b,c\n7,x,0\n", columns).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn numbers_of_columns_are_places_although_the_first_row_has_them_as_fields() {
    let folder = tempfile::tempdir().unwrap();
    let ids = VertexIds::Consecutive { first: 1, count: 4 };
    let read = |text: &str, columns: [&str; 2]| {
        let path = folder.path().join("c.csv");
        std::fs::write(&path, text).unwrap();
        let label_columns = Some(columns.map(String::from));
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        read_memberships(&path, MembershipForm::Auto, &options, &ids).unwrap().memberships.len()
    };
    assert_eq!(read("1,x,5\n2,x,5\n3,x,5\n4,y,6\n", ["1", "3"]), 4);
    assert_eq!(read("1,2\n2,2\n3,1\n4,1\n", ["1", "2"]), 4);
    assert_eq!(read("2,1\n2,2\n1,3\n1,4\n", ["2", "1"]), 4);
    // A header may have numbers as names.
    assert_eq!(read("3,id,1\n9,1,5\n9,2,5\n", ["id", "1"]), 2);
}

#[test]
fn several_labels_of_a_line_are_all_read_or_refused() {
    let several: Vec<(u32, String)> =
        [(0, "5"), (1, "5"), (2, "5"), (2, "4"), (3, "4")].map(|(v, c)| (v, c.into())).into();
    for (text, format) in [
        ("0\t5\n1\t5\n2\t5 4 \n3\t4\r\n", Format::EdgeList),
        ("0\t5\n1\t5\n2\t5 4\n3\t4\n", Format::Tsv),
        ("id\tcommunities\n0\t5\n1\t5\n2\t5 4\n3\t4\n", Format::Tsv),
    ] {
        let (found, said) = read(text, format).unwrap();
        assert_eq!(found, several, "{text}");
        assert!(said.ends_with("1 row has several communities"), "{said}");
    }
    // With no tab it may be members, too; and so may be rows of three.
    let forms = "use --labels-form rows, memberships or members";
    for (text, format, part) in [
        ("0 1 2 3\n1 2\n", Format::EdgeList, "(bytes):1: a row has 4 fields"),
        ("0 5\n2 5 4\n", Format::EdgeList, "(bytes):2: the row has 3 fields"),
        ("0\t1\t2\n3\t1\n", Format::EdgeList, "(bytes):1: "),
        ("0,1,2\n3,1,2\n", Format::Csv, "(bytes):1: "),
        ("0 1 0\n3 2 1\n", Format::EdgeList, "(bytes):1: "),
        ("0 5 0.5\n1 5 1\n2 5 3\n", Format::EdgeList, "(bytes):1: "),
    ] {
        let error = read(text, format).unwrap_err();
        assert!(error.contains(forms) && error.contains(part), "{text}: {error}");
    }
    // Outputs of slpa and seeded.
    for text in ["0 5 0.5\n0 4 1\n", "0 5 1\n0 4 1\n"] {
        let (found, said) = read(text, Format::EdgeList).unwrap();
        assert_eq!(found, [(0, "5".into()), (0, "4".into())]);
        assert_eq!(said, "id = field 1, community = field 2; 1 other field ignored");
    }
    let ids = VertexIds::Consecutive { first: 0, count: 4 };
    let told = |form| {
        parse_memberships(b"0 5\n2 5 4\n", form, Format::EdgeList, &ids).unwrap().memberships
    };
    assert_eq!(told(MembershipForm::Memberships), [(0, 0), (2, 0), (2, 1)]);
    assert_eq!(told(MembershipForm::Rows), [(0, 0), (2, 0)]);
    // A name with blanks is one name.
    let names = VertexIds::Names(Names::new(["1 2", "3"]));
    let found = parse_memberships(b"1 2\t1 2\n3\t4 5\n", MembershipForm::Auto, Format::Tsv, &names);
    assert_eq!(found.unwrap().names, ["1 2", "4", "5"]);
}

#[test]
fn an_empty_label_is_none() {
    let found = read("id,community\n0,a\n1,\n2,a\n", Format::Csv).unwrap();
    assert_eq!(found.0, [(0, "a".into()), (2, "a".into())]);
    assert!(found.1.ends_with("; 1 row has no community"), "{}", found.1);
    let error = read("id,community\n0,a\n9,\n", Format::Csv).unwrap_err();
    assert!(error.contains("`9` is no vertex"), "{error}");
}

#[test]
fn json_lines_name_their_columns() {
    let text = "{\"id\":0,\"community\":\"a\",\"strength\":0.5}\n{\"community\":7,\"id\":1}\n";
    let found = read(text, Format::JsonLines).unwrap();
    assert_eq!(found.0, [(0, "a".into()), (1, "7".into())]);
    let error = read("{\"source\":0,\"target\":1}\n", Format::JsonLines).unwrap_err();
    assert!(error.contains("expected the keys `id` and `community`"), "{error}");
}

#[test]
fn nulls_and_floats_of_whole_numbers_are_labels_of_tables() {
    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.arrow");
    let ids = VertexIds::Consecutive { first: 0, count: 4 };
    let read = |labels: ArrayRef| {
        let vertices: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![0, 1, 2, 3]));
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("id", vertices, false),
            ("community", labels, true),
        ])
        .unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let options = ReadOptions::default();
        let read = read_memberships(&path, MembershipForm::Auto, &options, &ids);
        read.map(|read| (read.names, read.memberships, read.summary.without_label))
            .map_err(|error| error.to_string())
    };
    let expected = Ok((vec!["7".into(), "8".into()], vec![(0, 0), (2, 1)], 2));
    let integers = Int64Array::from(vec![Some(7), None, Some(8), None]);
    assert_eq!(read(std::sync::Arc::new(integers)), expected);
    let floats = Float64Array::from(vec![Some(7.0), Some(f64::NAN), Some(8.0), None]);
    assert_eq!(read(std::sync::Arc::new(floats)), expected);
    let error =
        read(std::sync::Arc::new(Float64Array::from(vec![7.0, 0.5, 1.0, 1.0]))).unwrap_err();
    assert!(error.contains("at row 2: the label 0.5 is no whole number"), "{error}");
    let large = Float64Array::from(vec![7.0, 1e308, 1.0, 1.0]);
    let error = read(std::sync::Arc::new(large)).unwrap_err();
    assert!(error.contains("at row 2: the label 1e308 is no whole number"), "{error}");
}
