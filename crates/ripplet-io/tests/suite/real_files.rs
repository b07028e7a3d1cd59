//! Shapes of files that users have: each is read as they mean it, or refused with the remedy, and a note names what may be meant
//! otherwise.

use ripplet_graph::{Names, VertexIds};
use ripplet_io::batch::{BatchOptions, BatchReader};
use ripplet_io::{
    Columns, Format, Header, MembershipForm, ReadOptions, read_edges_with_summary, read_memberships,
};
use std::path::Path;

/// Options for `--weighted`.
fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

/// Returns the line that names the columns, the edges and the notes; or the error.
fn read(name: &str, text: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    match read_edges_with_summary(&path, options) {
        Err(error) => error.to_string().replace(&path.display().to_string(), name),
        Ok((table, summary)) => {
            let id = |v: &u32| table.ids().get(*v).to_string();
            let ends = table.sources().iter().zip(table.targets());
            let mut edges: Vec<String> =
                ends.map(|(s, t)| format!("{}>{}", id(s), id(t))).collect();
            if let Some(weights) = table.weights() {
                let weighed = edges.iter_mut().zip(weights);
                weighed.for_each(|(edge, weight)| edge.push_str(&format!("={weight}")));
            }
            format!("{summary} | {} | {}", edges.join(" "), summary.notes.join(" "))
        }
    }
}

fn check(cases: &[(&str, &str, &ReadOptions, &[&str])]) {
    for (name, text, options, parts) in cases {
        let found = read(name, text, options);
        for part in *parts {
            assert!(found.contains(part), "{text:?}: {found}\nhas no {part}");
        }
    }
}

#[test]
fn a_comment_above_an_edge_list_names_its_columns() {
    let (plain, weighted) = (ReadOptions::default(), weighted());
    let by_number = ReadOptions { header: Header::Absent, ..weighted.clone() };
    check(&[
        (
            "snap.txt",
            "# Directed graph\n# FromNodeId\tToNodeId\tWeight\n1\t2\t3\n2\t3\t1.5\n",
            &plain,
            &[
                "source = \"FromNodeId\", target = \"ToNodeId\"; \"Weight\" ignored (--weighted reads it)",
            ],
        ),
        (
            "blanks.txt",
            "# FromNodeId ToNodeId Weight\n1\t2\t3\n2\t3\t1.5\n",
            &weighted,
            &["weight = \"Weight\" | 1>2=3 2>3=1.5"],
        ),
        (
            "behind.txt",
            "# FromNodeId ToNodeId Rank Weight\n1 2 9 0.5\n2 3 8 1.25\n",
            &weighted,
            &["weight = \"Weight\"", "1>2=0.5 2>3=1.25"],
        ),
        ("before.txt", "# Weight FromNodeId ToNodeId\n9 1 2\n8 2 3\n", &weighted, &["1>2=9 2>3=8"]),
        ("turned.txt", "# ToNodeId FromNodeId\n1 2\n2 3\n", &plain, &["2>1 3>2"]),
        (
            "times.txt",
            "# FromNodeId ToNodeId Timestamp\n1 2 1083924000\n2 3 1083924001\n",
            &weighted,
            &["times.txt:2: the column `Timestamp` does not seem to be a weight"],
        ),
        // Another number of names, or none that is known, is a comment.
        ("prose.txt", "# from to\n1 2 3\n2 3 4\n", &weighted, &["weight = column 3; no header"]),
        ("other.txt", "# who when what\n1 2 3\n2 3 4\n", &weighted, &["weight = column 3"]),
        ("asked.txt", "# ToNodeId FromNodeId W\n1 2 3\n2 3 4\n", &by_number, &["1>2=3 2>3=4"]),
    ]);
}

#[test]
fn a_first_column_without_a_name_is_no_end() {
    let plain = ReadOptions::default();
    let header = ReadOptions { header: Header::Present, ..ReadOptions::default() };
    let unnamed = "the first column has no name";
    check(&[
        (
            "a.csv",
            ",source,target,weight\n0,1,2,0.5\n1,2,3,1.5\n",
            &weighted(),
            &["1>2=0.5 2>3=1.5"],
        ),
        ("b.csv", ",a,b\n0,1,2\n1,2,3\n", &plain, &[unnamed, "--columns a,b"]),
        ("c.csv", ",a,b\n0,1,2\n1,2,3\n", &header, &[unnamed, "--columns a,b"]),
        ("d.csv", ",a,b,weight\n0,1,2,0.5\n1,2,3,1.5\n", &plain, &[unnamed, "--columns a,b"]),
        ("e.csv", ",a\n0,1\n1,2\n", &plain, &[unnamed, "--columns 1,2"]),
        ("f.csv", ",a\n0,1\n1,2\n", &header, &[unnamed]),
        ("g.csv", "Unnamed: 0,a,b\n0,1,2\n1,2,3\n", &plain, &["`Unnamed: 0`", "--columns a,b"]),
    ]);
}

#[test]
fn a_header_with_a_name_less_than_the_rows_have_fields() {
    let plain = ReadOptions::default();
    let unclear = "2 names, and each row 3 fields";
    check(&[
        ("a.csv", "source,target\n1,2,1.5\n2,3,2.5\n", &plain, &["a.csv:1: ", unclear]),
        ("b.csv", "a,b\n1,2,1.5\n2,3,2.5\n", &plain, &[unclear, "write a name for each column"]),
        // Weights without a name, as likely as names of rows.
        ("c.csv", "source,target\n1,2,5\n2,3,7\n3,1,4\n", &plain, &[unclear]),
        ("d.csv", "source,target\n7,2,5\n8,3,7\n9,1,4\n", &plain, &[unclear]),
        ("e.txt", "source target\n1 2 1.5\n2 3 2.5\n", &plain, &[unclear]),
        ("f.csv", "a,b\n1,2,1.5\n2,3,2.5\n", &weighted(), &[unclear]),
        // Names of rows, as R writes them.
        ("g.csv", "from,to\n\"1\",5,6\n\"2\",6,8\n", &plain, &["5>6 6>8", "names of rows"]),
        ("h.csv", "from,to\n1,5,6\n2,6,7\n3,7,5\n", &plain, &["5>6 6>7 7>5", "names of rows"]),
        ("i.csv", "from,to\n4,ann,bob\n2,bob,cyd\n", &plain, &["ann>bob bob>cyd"]),
    ]);
}

#[test]
fn known_names_are_a_header_above_names_of_which_some_look_like_numbers() {
    let plain = ReadOptions::default();
    for odd in ["12e4", "1.5", "3-4", "3/4", "10:30", "5%", "-3.0", "$7", "2024-01-31"] {
        for text in [
            format!("source,target\nab12,cd34\n{odd},ab12\n"),
            format!("from,to\nab12,cd34\nab12,{odd}\n{odd},cd34\n"),
            format!("note,from,amount,to\nx,ab12,3,cd34\ny,{odd},4,ab12\n"),
            format!("sender,receiver,note,day\nab12,cd34,x,1\n{odd},ab12,y,2\n"),
        ] {
            let found = read("a.csv", &text, &plain);
            assert!(found.contains("ab12>cd34"), "{text}: {found}");
            assert!(found.contains(&format!("{odd}>")), "{text}: {found}");
        }
    }
    let hex: Vec<String> = (0..4000u32)
        .map(|at| {
            let hash = |value: u32| value.wrapping_mul(2_654_435_769) ^ value << 13;
            format!("{:08x},{:08x}\n", hash(at + 7), hash(hash(at)))
        })
        .collect();
    for names in ["source,target", "from,to"] {
        let found = read("h.csv", format!("{names}\n{}", hex.concat()), &plain);
        assert!(found.starts_with("read 4,000 edges: source = "), "{}", &found[..200]);
    }
    check(&[
        // Columns of times and of numbers are no ends, whatever their names are.
        (
            "b.csv",
            "from,to,who\n2024-01-31,2024-02-01,ann\n2024-02-01,x,bob\n",
            &plain,
            &["does not say which columns"],
        ),
        (
            "c.csv",
            "from,to,payer,payee\n1.5,2.5,ann,bob\n2.5,x,bob,cyd\n",
            &plain,
            &["source = \"payer\", target = \"payee\""],
        ),
        (
            "d.csv",
            "source,target\n1,2\n1.5,3\n",
            &plain,
            &["d.csv:3: ", "`1.5` is not a vertex id"],
        ),
        // An edge of two words of which one recurs.
        ("e.csv", "first,second\nsecond,3/4\n", &plain, &["may name the columns or be an edge"]),
    ]);
}

#[test]
fn columns_that_are_named_need_a_header() {
    let columns = |source: &str, target: &str| ReadOptions {
        columns: Columns { source: source.into(), target: target.into(), ..Columns::default() },
        named_ends: true,
        ..ReadOptions::default()
    };
    let ends = columns("source", "target");
    let weighted = ReadOptions { weighted: true, ..ends.clone() };
    check(&[
        ("a.csv", "source,target\ntarget,x\n", &ends, &["source = \"source\"", "| target>x |"]),
        ("b.csv", "target,source,weight\na,target,2\n", &weighted, &["| target>a=2 |"]),
        ("c.csv", "from,to\na,b\n", &ends, &["there is no column `source`", "from, to"]),
        ("d.csv", "1,2\n2,3\n", &ends, &["--columns names the column source, but no row"]),
        ("e.csv", "source,target,5\n1,2,6\n", &columns("1", "2"), &["1>2"]),
        ("f.jsonl", "{\"from\": 1, \"to\": 2}\n", &ends, &["no column `source`"]),
    ]);
    let default = read("g.csv", "source,target\ntarget,x\n", &ReadOptions::default());
    assert!(default.contains("use --header or --no-header"), "{default}");
}

#[test]
fn words_for_missing_values_are_noted() {
    let plain = ReadOptions::default();
    let note = "`NA` is a vertex, with all edges of the rows that have that id";
    check(&[
        ("a.csv", "source,target\na,NA\nNA,c\nb,c\n", &plain, &[note]),
        ("b.csv", "source,target\nNA,2\n2,3\n", &plain, &[note]),
        ("c.csv", "source,target\na,null\nb,None\n", &plain, &["`null`, `None` are vertices"]),
        ("d.jsonl", "{\"source\": \"a\", \"target\": \"NA\"}\n", &plain, &[note]),
    ]);
    assert!(read("e.csv", "source,target\nNAN,b\nna,c\n", &plain).ends_with(" | "));

    let ids = VertexIds::Names(Names::new(["a", "b", "c"]));
    let labels = |name: &str, text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let found = read_memberships(&path, MembershipForm::Auto, &ReadOptions::default(), &ids);
        let found = found.unwrap();
        (found.memberships, found.summary)
    };
    let (rows, summary) = labels("l.csv", "community,node\n1,a\nNA,b\nnull,c\n");
    assert_eq!(rows, [(0, 0), (1, 1), (2, 2)]);
    assert_eq!((summary.columns, summary.missing_names), ([1, 0], 2));
    assert!(!summary.is_plain());
    let expected = "id = \"node\", community = \"community\"; 2 rows with a community such as NA or null, which counts as its \
                    name: leave the field empty if it means none";
    assert_eq!(summary.to_string(), expected);
    let lines =
        "{\"node\": \"a\", \"community\": \"NaN\"}\n{\"node\": \"b\", \"community\": \"x\"}\n";
    assert_eq!(labels("l.jsonl", lines).1.missing_names, 1);
    let (_, plain) = labels("l.txt", "a\t1\nb\tNA\n");
    assert_eq!((plain.missing_names, plain.is_plain()), (1, false));
    assert!(labels("l.tsv", "id\tcommunity\na\t1\nb\t\n").1.missing_names == 0);
}

#[test]
fn a_comment_above_labels_names_their_columns() {
    let ids = VertexIds::Consecutive { first: 1, count: 4 };
    let labels = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.txt");
        std::fs::write(&path, text).unwrap();
        let found = read_memberships(&path, MembershipForm::Auto, &ReadOptions::default(), &ids);
        found.map(|found| found.memberships).map_err(|error| error.to_string())
    };
    assert_eq!(labels("# community node\n7 1\n7 2\n8 3\n"), Ok(vec![(0, 0), (1, 0), (2, 1)]));
    assert_eq!(labels("# community, node\n7\t1\n8\t3\n"), Ok(vec![(0, 0), (2, 1)]));
    assert_eq!(labels("# node community\n1 7\n2 7\n"), Ok(vec![(0, 0), (1, 0)]));
    // No names of both columns.
    assert_eq!(labels("# community of\n1 7\n2 7\n"), Ok(vec![(0, 0), (1, 0)]));
}

#[test]
fn json_under_another_name_says_what_it_is() {
    let plain = ReadOptions::default();
    check(&[
        (
            "a.json",
            "{\"source\":1,\"target\":2}\n{\"source\":2,\"target\":3}\n",
            &plain,
            &["this is JSON lines", "--from jsonl"],
        ),
        ("b.json", "{\"source\":1,\"target\":2}", &plain, &["this is JSON lines"]),
        ("c.json", "[[1,2],[2,3]]", &plain, &["one list of lists", "jq -r '.[] | @csv'"]),
        (
            "d.json",
            "[{\"source\":1,\"target\":2}]",
            &plain,
            &["one list of objects", "jq -c '.[]'"],
        ),
        (
            "e.jsonl",
            "[{\"source\":1,\"target\":2}]",
            &plain,
            &["one list of objects", "jq -c '.[]'"],
        ),
        ("f.jsonl", "[\n  {\"source\":1,\n \"target\":2}]", &plain, &["one list of objects"]),
        ("g.jsonl", "[[1,2],\n[2,3]]", &plain, &["one list of lists"]),
        ("m.json", "[1,2]\n[2,3]\n", &plain, &["each line is a list", "jq -r '@csv'"]),
        ("h.jsonl", "[1,2]\n[2,3]\n", &plain, &["each line is a list", "jq -r '@csv'"]),
        ("i.jsonl", "{\n \"source\":1,\n \"target\":2\n}\n", &plain, &["several lines", "jq -c ."]),
        (
            "j.jsonl",
            "{\"nodes\":[{\"id\":1}],\"links\":[{\"source\":1,\"target\":1}]}",
            &plain,
            &["--from json, or name the file .json"],
        ),
        (
            "k.csv",
            "[{\"source\":1,\"target\":2}]\n",
            &plain,
            &["one list of objects in JSON", "jq"],
        ),
        ("l.json", "{\"nodes\":[],\"links\":[]}", &plain, &["read 0 edges"]),
    ]);
}

#[test]
fn what_stands_for_a_file_is_no_table() {
    let plain = ReadOptions::default();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    check(&[
        ("a.csv", pointer, &plain, &["a pointer of Git LFS", "git lfs pull"]),
        ("b.txt", "<!doctype html>\n<html><body>404</body></html>\n", &plain, &["a page in HTML"]),
    ]);
    let utf16: Vec<u8> = "source,target\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read("c.csv", &utf16, &plain).contains("the text is UTF-16"));
    let utf16: Vec<u8> = "1 2\n2 3\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert!(read("d.txt", &utf16, &plain).contains("iconv"));
}

#[test]
fn lists_and_brackets_are_no_ids() {
    let plain = ReadOptions::default();
    let brackets = "the rows have brackets around them";
    check(&[
        ("a.txt", "(1, 2)\n(2, 3)\n(1, 3)\n", &plain, &[brackets, "sed"]),
        ("j.txt", "(1,2)\n(2,3)\n", &plain, &[brackets]),
        ("k.csv", "a,b\n(1,2)\n(2,3)\n", &plain, &[brackets]),
        ("b.csv", "[1,2]\n[2,3]\n[1,3]\n", &plain, &[brackets]),
        ("c.txt", "(1, 2),\n(2, 3),\n(1, 3)\n", &plain, &[brackets]),
        ("d.csv", "source,target\n(a),(b)\n(b),(c)\n", &plain, &["(a)>(b) (b)>(c)"]),
        (
            "e.csv",
            "source,target\n1,2;3\n2,3\n",
            &plain,
            &["the column `target` has lists of ids, such as `2;3`: write a row for each edge"],
        ),
        (
            "f.csv",
            "source,target\n1,\"2, 3\"\n2,3 4\n",
            &plain,
            &["has lists of ids, such as `2, 3`"],
        ),
        ("g.csv", "source,target\nann,2;3\n2,3\n", &plain, &["ann>2;3"]),
        // A third field that the first row lacks is counted.
        ("h.csv", "1,2\n2,3\n3,4,5\n", &plain, &["1 other column ignored; no header"]),
    ]);
}

#[test]
fn the_column_of_graphs_is_named_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graphs.csv");
    std::fs::write(&path, "Case,source,target\nx,1,2\nx,2,3\ny,1,2\n").unwrap();
    let read = |column: &str| {
        let columns = Columns { graph: column.into(), ..Columns::default() };
        let read = ReadOptions { columns, ..ReadOptions::default() };
        let options = BatchOptions { read, ..BatchOptions::default() };
        let part = BatchReader::open(&path, &options).and_then(|mut reader| reader.next_part());
        part.map(|part| part.unwrap().slice().len()).map_err(|error| error.to_string())
    };
    assert_eq!([read("CASE"), read("Case"), read("1")], [Ok(2), Ok(2), Ok(2)]);
    let error = read("2").unwrap_err();
    assert!(error.contains("--graph-column asks for column 2, `source`"), "{error}");
    assert!(error.contains("the columns are: Case, source, target"), "{error}");
}

/// Two edges, compressed by brotli: `pyarrow.parquet.write_table(table, path, compression="brotli")`.
#[test]
fn a_compression_that_is_not_read_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/brotli.parquet");
    let error = read_edges_with_summary(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("compressed by brotli, which is not read"), "{error}");
    assert!(error.contains("snappy, gzip, lz4 and zstd"), "{error}");
    assert_eq!(Format::of_path(&path).unwrap().0, Format::Parquet);
}
