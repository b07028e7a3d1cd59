//! The text readers: real files of many projects, every bad input, and random tables.

use flate2::write::GzEncoder;
use proptest::prelude::*;
use ripplet_graph::{EdgeTable, ExternalId, VertexIds};
use ripplet_io::{
    Columns, Format, Header, IdKind, Place, ReadError, ReadOptions, parse_edges, parse_ldbc,
    read_edges,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
}

fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

fn with_ids(ids: IdKind) -> ReadOptions {
    ReadOptions { ids, ..ReadOptions::default() }
}

/// See `expected.py` makes it.
fn fingerprint(table: &EdgeTable) -> u64 {
    let rows = (1u64..).zip(table.sources().iter().zip(table.targets()));
    let terms = rows.map(|(row, (&s, &t))| row.wrapping_mul(3 * u64::from(s) + u64::from(t)));
    terms.fold(0, u64::wrapping_add)
}

/// Sums of weights, and lengths of paths, are finite.
#[test]
fn weights_are_at_most_what_many_can_add_up_to() {
    let read = |text: &str, format| parse_edges(text.as_bytes(), format, &weighted());
    let json = "{\"source\":1,\"target\":2,\"weight\":1e300}";
    for (text, format) in [("1 2 1e300", Format::EdgeList), (json, Format::JsonLines)] {
        let error = read(text, format).unwrap_err().to_string();
        assert!(error.contains("is not a weight: expected a number up to 1e298"), "{error}");
    }
    let table = read("1 2 1e298\n1 2 1e298", Format::EdgeList).unwrap();
    assert_eq!(table.weights().unwrap(), [1e298, 1e298]);
}

#[test]
fn real_files_hold_what_another_parser_finds() {
    let expected = fs::read_to_string(data("expected.tsv")).unwrap();
    for line in expected.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (file, path) = (fields[0], data(fields[0]));
        let format = Format::of_name(fields[1]);
        let ids = if file.contains("negative") { IdKind::Signed } else { IdKind::Auto };
        let options = |weighted| ReadOptions { format, ids, weighted, ..ReadOptions::default() };
        let plain = read_edges(&path, &options(false));
        if fields[2] == "refused" {
            assert!(plain.is_err(), "{file}");
            continue;
        }
        let table = plain.unwrap();
        let direction = if table.is_in_both_directions() { "both" } else { "general" };
        let found = [table.ids().len().to_string(), table.len().to_string()];
        assert_eq!(
            (&found[0][..], &found[1][..], direction),
            (fields[2], fields[3], fields[5]),
            "{file}"
        );
        assert_eq!(fingerprint(&table), fields[4].parse::<u64>().unwrap(), "{file}");
        let read = read_edges(&path, &options(true));
        match fields[6] {
            "-" | "bad" => assert!(read.is_err(), "{file} has no weights, or bad ones"),
            sum => {
                let (read, sum) = (read.unwrap(), sum.parse::<f64>().unwrap());
                let total: f64 = read.weights().unwrap().iter().sum();
                assert!((total - sum).abs() <= 1e-12 * sum, "{file}: {total} is not {sum}");
                assert_eq!(fingerprint(&read), fingerprint(&table), "{file}");
            }
        }
    }
}

/// Returns the error of a text, as a person sees it, less its made-up name.
fn error(format: Format, text: impl AsRef<[u8]>, options: &ReadOptions) -> String {
    let error = parse_edges(text.as_ref(), format, options).unwrap_err();
    error.to_string().strip_prefix("(bytes)").unwrap().to_owned()
}

#[test]
fn a_padded_number_beyond_the_rows_that_decide_is_refused() {
    for at in [5_000, 100_000] {
        let mut text = "1 2\n".repeat(at);
        text.push_str("03 4\n");
        let expected = format!(":{}: the vertex id 03 would come out as another text", at + 1);
        let found = error(Format::EdgeList, &text, &ReadOptions::default());
        assert!(found.starts_with(&expected), "{found}");
        let table = parse_edges(text.as_bytes(), Format::EdgeList, &with_ids(IdKind::Names));
        assert_eq!(rows_of(&table.unwrap()).last().unwrap(), &["03", "4"]);
    }
}

#[test]
fn a_bad_table_names_its_line() {
    use Format::{Csv, EdgeList, Tsv};
    let plain = ReadOptions::default();
    let signed = with_ids(IdKind::Signed);
    for (format, text, options, expected) in [
        (EdgeList, "1 2\n3\n", &plain, ":2: expected two vertex ids, found only `3`"),
        (EdgeList, "7", &plain, ":1: expected two vertex ids, found only `7`"),
        (EdgeList, "# c\n\n1 2\n1 x\n3\n", &plain, ":4: `x` is not a vertex id"),
        (EdgeList, "1 2\n3 4x\n", &plain, ":2: `4x` is not a vertex id"),
        (EdgeList, "1 2\n3.0 4\n", &plain, ":2: `3.0` is not a vertex id"),
        (EdgeList, "1 2\n+3 4\n", &plain, ":2: `+3` is not a vertex id"),
        (EdgeList, "1 2\n1e3 4\n", &plain, ":2: `1e3` is not a vertex id"),
        (EdgeList, "1 2\n-0 4\n", &plain, ":2: the vertex id -0 is negative"),
        (Csv, ",b\nc,d\n", &plain, ":1: a vertex id is empty"),
        (Csv, "a,b\n\"\",a\n", &plain, ":2: a vertex id is empty"),
        (EdgeList, "1 2\n-3 4", &plain, ":2: the vertex id -3 is negative; use --ids signed"),
        (EdgeList, "-1 2", &plain, ":1: the vertex id -1 is negative; use --ids signed"),
        (EdgeList, "1 18446744073709551616", &plain, ":1: the vertex id 18446744073709551616 does"),
        (
            EdgeList,
            "1 2\n3 9223372036854775808",
            &signed,
            ":2: the vertex id 9223372036854775808 does",
        ),
        (EdgeList, "1 2\n3 4 1\n", &weighted(), ":1: expected a weight beside the two ids"),
        (EdgeList, "1 2 1\n3 4\n", &weighted(), ":2: expected a weight beside the two ids"),
        (EdgeList, "1 2 1\n3 4 nan\n", &weighted(), ":2: `nan` is not a weight: expected a finite"),
        (EdgeList, "1 2 -1", &weighted(), ":1: `-1` is not a weight: expected a finite"),
        (EdgeList, "1 2 inf", &weighted(), ":1: `inf` is not a weight: expected a finite"),
        (EdgeList, "1 2 1e400", &weighted(), ":1: `1e400` is not a weight: expected a finite"),
        (EdgeList, "1 2 w", &weighted(), ":1: `w` is not a weight: expected a number"),
        (EdgeList, "1 2\r3 4\r5 6\r", &plain, ":1: a carriage return within the line"),
        (EdgeList, "1 2 0.5\r3 4 0.5\n", &plain, ":1: a carriage return within the line"),
        (EdgeList, "", &plain, ": the file has no edges"),
        (EdgeList, "\u{feff}", &plain, ": the file has no edges"),
        (EdgeList, "# one\n% two\n\n  \n", &plain, ": the file has no edges"),
        (Csv, "source,target\n", &plain, ": the file has no edges"),
        (Csv, "1,2\n3,\n", &plain, ":2: a vertex id is empty"),
        (Csv, "1,2\n3;4\n", &plain, ":2: expected two vertex ids, found only `3;4`"),
        (Csv, "a,b\n\"c,d\n", &plain, ":2: a quoted field does not end on its line"),
        (Csv, "a,b\n\"c\"d,e\n", &plain, ":2: expected `,` after the quoted field `c`"),
        (Csv, "source,target\n1,2\n", &weighted(), ":1: there is no column `weight`"),
        (Tsv, "1\t2\n3\tx\n", &plain, ":2: `x` is not a vertex id"),
        (Tsv, "a\tb\nc\t\n", &plain, ":2: a vertex id is empty"),
    ] {
        let found = error(format, text, options);
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let names = error(EdgeList, b"a b\na \xff\n", &plain);
    assert!(names.starts_with(":2: the name `\u{fffd}` is not UTF-8"), "{names}");
    let wide = error(EdgeList, b"\xff\xfe1\0 \x002\0", &plain);
    assert!(wide.contains("UTF-16"), "{wide}");
}

#[test]
fn a_bad_matrix_names_its_line() {
    const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n";
    for (text, options, expected) in [
        ("3 3 2\n1 2 1\n", weighted(), ":3: the file ends after 1 entries: line 2 says 2"),
        (
            "3 3 1\n1 2 1\n% c\n2 3 1\n",
            weighted(),
            ":5: one entry more than the 1 that line 2 says",
        ),
        ("3 3 1\n1 4 1\n", weighted(), ":3: 4 is outside of the matrix: expected 1 to 3"),
        ("3 3 1\n\n0 1 1\n", weighted(), ":4: 0 is outside of the matrix"),
        ("3 3 1\n1 -2 1\n", weighted(), ":3: `-2` is no row or column"),
        ("3 3 1\n1 x 1\n", weighted(), ":3: `x` is no row or column"),
        ("3 3 1\n1\n", weighted(), ":3: expected a row and a column, found only `1`"),
        ("3 3 1\n1 2\n", weighted(), ":3: expected a weight"),
        ("3 3 1\n1 2 -4\n", weighted(), ":3: `-4` is not a weight"),
        ("3 4 1\n1 2 1\n", weighted(), ":2: the matrix has 3 rows and 4 columns"),
        ("3 3\n", weighted(), ":2: `3 3`: expected the size"),
        ("% c\n", weighted(), ": the matrix has no size"),
        ("3 3 99999999999999999999\n", weighted(), ":2: `3 3 99999999999999999999`: expected"),
    ] {
        let found = error(Format::MatrixMarket, format!("{BANNER}{text}"), &options);
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
    let banner = |words: &str| format!("%%MatrixMarket matrix {words}\n2 2 1\n2 1 1\n");
    for (words, options, expected) in [
        ("array real general", ReadOptions::default(), ":1: the matrix is dense"),
        ("coordinate complex general", ReadOptions::default(), ":1: the matrix is complex"),
        ("coordinate pattern general", weighted(), ":1: the matrix is a `pattern`"),
        ("coordinate real skew-symmetric", weighted(), ":1: the matrix is skew-symmetric"),
    ] {
        let found = error(Format::MatrixMarket, banner(words), &options);
        assert!(found.starts_with(expected), "{words:?}: {found}");
    }
    assert!(error(Format::MatrixMarket, "", &weighted()).starts_with(": the file is empty"));
}

#[test]
fn a_bad_adjacency_list_names_its_line() {
    let plain = ReadOptions::default();
    for (text, options, expected) in [
        ("3 2\n2\n1 4\n2\n", &plain, ":3: there is no neighbour 4: expected 1 to 3"),
        ("3 2\n2\n1 0\n2\n", &plain, ":3: there is no neighbour 0"),
        ("3 2\n2\n1 x\n2\n", &plain, ":3: `x` is not a neighbour"),
        ("3 2\n2\n1 -3\n2\n", &plain, ":3: `-3` is not a neighbour"),
        ("3 2\n2\n1 3\n", &plain, ":3: the file ends after 2 lists: line 1 says 3"),
        ("3 2\n2\n1 3\n2\n\n1\n", &plain, ":6: a list more than the 3 that line 1 says"),
        ("% c\n3 3\n2\n1 3\n2\n", &plain, ":2: the header says 3 edges, but the lists have 4"),
        (
            "3 2\n2 3\n1\n2\n",
            &plain,
            ":2: vertex 1 lists 3, but vertex 3 does not list 1: expected each edge in the lists of both its ends, with \
             the same weight",
        ),
        (
            "% c\n3 3\n2 3\n% c\n1 3\n% c\n% c\n1\n",
            &plain,
            ":5: vertex 2 lists 3, but vertex 3 does not list 2",
        ),
        ("3 3\n2 3\n1\n% c\n1 2\n", &plain, ":5: vertex 3 lists 2, but vertex 2 does not list 3"),
        ("2 2\n2 2\n1\n", &plain, ":2: vertex 1 lists 2, but vertex 2 lists 1 less often or with"),
        (
            "2 1 1\n2 5\n1 6\n",
            &weighted(),
            ":2: vertex 1 lists 2, but vertex 2 lists 1 less often or with another weight",
        ),
        ("2 1 1\n2\n1 6\n", &plain, ":2: expected a weight after the neighbour 2"),
        ("2 1 1\n2 5\n1\n", &weighted(), ":3: expected a weight after each neighbour"),
        ("2 1 1\n2 -5\n1 -5\n", &weighted(), ":2: `-5` is not a weight"),
        ("2 1\n2\n1\n", &weighted(), ":1: the graph has no edge weights"),
        ("2 1 10 3\n1 2 3 2\n1 2\n", &plain, ":3: expected 3 numbers before the neighbours"),
        ("2\n2\n1\n", &plain, ":1: `2`: expected a header"),
        ("x y\n2\n1\n", &plain, ":1: `x y`: expected a header"),
        ("2 1 7\n2\n1\n", &plain, ":1: `7`: expected up to three digits"),
        ("0 0\n", &plain, ":1: expected between 1 and"),
        ("", &plain, ": the file has no header"),
        ("% only a comment\n", &plain, ": the file has no header"),
    ] {
        let found = error(Format::Metis, text, options);
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
}

#[test]
fn a_bad_ldbc_graph_names_file_and_line() {
    let message = |vertices: &str, edges: &str, options: &ReadOptions| {
        parse_ldbc(vertices.as_bytes(), edges.as_bytes(), options).unwrap_err().to_string()
    };
    let plain = ReadOptions::default();
    for (vertices, edges, options, expected) in [
        ("1\n2\n", "1 2\n\n2 3\n", &plain, "(bytes).e:3: vertex 3 is not in the vertex file"),
        ("1\n2\n", "9 2\n", &plain, "(bytes).e:1: vertex 9 is not in the vertex file"),
        ("a\nb\n", "a b\na c\n", &plain, "(bytes).e:2: vertex c is not in the vertex file"),
        ("1\n2\n", "1 2 0.5\n2 1\n", &weighted(), "(bytes).e:2: expected a weight"),
        ("1\n2\n", "1\n", &plain, "(bytes).e:1: expected two vertex ids"),
        ("1\n2\n1\n", "1 2\n", &plain, "(bytes).v:3: vertex 1 is listed twice"),
        ("# a\n1\n\n2\n# b\n2\n", "1 2\n", &plain, "(bytes).v:6: vertex 2 is listed twice"),
        ("# a\nx\n\ny\n# b\ny\n", "x y\n", &plain, "(bytes).v:6: vertex y is listed twice"),
        ("a\nb\na\n", "a b\n", &plain, "(bytes).v:3: vertex a is listed twice"),
        ("1\nx\n", "1 2\n", &plain, "(bytes).v:2: `x` is not a vertex id"),
        ("1\n-2\n", "1 2\n", &plain, "(bytes).v:2: the vertex id -2 is negative"),
        ("", "1 2\n", &plain, "(bytes).v: the file has no vertices"),
    ] {
        let found = message(vertices, edges, options);
        assert!(found.starts_with(expected), "{vertices:?} {edges:?}: {found}");
    }
}

#[test]
fn a_vertex_listed_twice_is_named_far_from_the_first() {
    // More lines than one chunk and one batch have.
    for prefix in ["", "vertex-with-a-long-name-"] {
        let mut vertices: Vec<String> = (0..1_000_000).map(|v| format!("{prefix}{v}")).collect();
        let first = vertices[70_000].clone();
        vertices[900_000] = first.clone();
        vertices[950_000] = vertices[900_001].clone();
        let text = vertices.join("\n");
        let read = parse_ldbc(text.as_bytes(), b"", &ReadOptions::default());
        let expected = format!("(bytes).v:900001: vertex {first} is listed twice");
        let found = read.unwrap_err().to_string();
        assert!(found.starts_with(&expected), "{found}");
    }
}

fn ids_of(table: &EdgeTable) -> Vec<String> {
    (0..table.ids().len() as u32).map(|vertex| table.ids().get(vertex).to_string()).collect()
}

fn rows_of(table: &EdgeTable) -> Vec<[String; 2]> {
    let name = |&vertex: &u32| table.ids().get(vertex).to_string();
    table.sources().iter().zip(table.targets()).map(|(s, t)| [name(s), name(t)]).collect()
}

#[test]
fn vertices_without_edges_count_in_ldbc() {
    let table = parse_ldbc(b"30\n10\n20\n40\n", b"", &ReadOptions::default()).unwrap();
    assert_eq!(
        (table.len(), ids_of(&table)),
        (0, ["10", "20", "30", "40"].map(String::from).to_vec())
    );
    let signed = parse_ldbc(b"-3\n5\n", b"5 -3\n", &with_ids(IdKind::Signed)).unwrap();
    assert_eq!(rows_of(&signed), [["5", "-3"]]);
    let names = parse_ldbc(b"b\na\nc\n", b"b a 2.5\n", &weighted()).unwrap();
    assert_eq!(
        (rows_of(&names), names.weights()),
        (vec![["b".into(), "a".into()]], Some(&[2.5][..]))
    );
}

#[test]
fn odd_but_clear_tables_are_read() {
    use Format::{Csv, EdgeList, Tsv};
    let plain = ReadOptions::default();
    for (format, text, options, expected) in [
        (
            EdgeList,
            "\u{feff}1 2\r\n 3\t4 \r\n\r\n5,6",
            &plain,
            &[["1", "2"], ["3", "4"], ["5", "6"]][..],
        ),
        (EdgeList, "1 2 0.5 x\n3 4\n5   6 \n", &plain, &[["1", "2"], ["3", "4"], ["5", "6"]]),
        (EdgeList, "ann bob\n1 ann\n", &plain, &[["ann", "bob"], ["1", "ann"]]),
        (EdgeList, "New York\tBoston\n", &plain, &[["New York", "Boston"]]),
        (EdgeList, "1 2\n", &with_ids(IdKind::Names), &[["1", "2"]]),
        (EdgeList, "01 2\n", &plain, &[["01", "2"]]),
        (EdgeList, "01 2\n", &with_ids(IdKind::Unsigned), &[["1", "2"]]),
        (Csv, "00123,00999\n123,555\n", &plain, &[["00123", "00999"], ["123", "555"]]),
        (EdgeList, "-5 3\n4 -5\n", &with_ids(IdKind::Signed), &[["-5", "3"], ["4", "-5"]]),
        (EdgeList, "18446744073709551615 0\n", &plain, &[["18446744073709551615", "0"]]),
        (Csv, "id1,id2,w\n1,2,x\n", &plain, &[["1", "2"]]),
        (Csv, "1 2 1.0\n", &plain, &[["1", "2"]]),
        (EdgeList, "1 2\n03 4\n", &plain, &[["1", "2"], ["03", "4"]]),
        (Csv, "1,2\n3,00\n", &plain, &[["1", "2"], ["3", "00"]]),
        (
            Csv,
            "\"a,b\",\"say \"\"hi\"\"\"\nc , \"a,b\"\n",
            &plain,
            &[["a,b", "say \"hi\""], ["c", "a,b"]],
        ),
        (Csv, "day,target,source\nmon,1,2\n", &plain, &[["2", "1"]]),
        (Csv, "\"#1\",b\n#c,d\n", &plain, &[["#1", "b"]]),
        (Tsv, "a b\tc,d\n", &plain, &[["a b", "c,d"]]),
    ] {
        let table = parse_edges(text.as_bytes(), format, options).unwrap();
        assert_eq!(rows_of(&table), expected, "{text:?}");
    }
}

#[test]
fn columns_are_read_by_name() {
    let [source, target, weight] = ["from", "to", "amount"].map(String::from);
    let options = ReadOptions {
        columns: Columns { source, target, weight, ..Columns::default() },
        ..weighted()
    };
    let table =
        parse_edges(b"amount,x,to,from\n2.5,?,b,a\n1,?,a,c\n", Format::Csv, &options).unwrap();
    assert_eq!(rows_of(&table), [["a", "b"], ["c", "a"]]);
    assert_eq!(table.weights(), Some(&[2.5, 1.0][..]));
    let missing = error(Format::Csv, "amount,to\n1,2\n", &options);
    assert!(
        missing.starts_with(":1: there is no column `from`; the columns are: amount, to"),
        "{missing}"
    );
}

#[test]
fn metis_dialects() {
    let read = |text: &str| parse_edges(text.as_bytes(), Format::Metis, &ReadOptions::default());
    let rows = |text: &str| rows_of(&read(text).unwrap());
    // Loops stand once in the list of their vertex.
    assert_eq!(rows("2 2\n1 2\n1\n"), [["1", "1"], ["1", "2"]]);
    // 100 with sizes (METIS) and without (DIMACS), distinguished by the number of entries.
    assert_eq!(rows("3 2 100\n2\n1 3\n2\n"), [["1", "2"], ["2", "3"]]);
    assert_eq!(rows("3 2 100\n9 2\n9 1 3\n9 2\n"), [["1", "2"], ["2", "3"]]);
    assert_eq!(rows("3 2 100\n1 2\n1 1 3\n1 2\n"), [["1", "2"], ["2", "3"]]);
    assert_eq!(rows("2 1 111\n7 5 2 3\n7 5 1 3\n"), [["1", "2"]]);
    // Parallel edges stay.
    assert_eq!(rows("2 2\n2 2\n1 1\n"), [["1", "2"], ["1", "2"]]);
    // The number of entries equals that of edges: one direction each.
    let directed = read("3 3\n2 3\n1\n\n").unwrap();
    assert!(!directed.is_in_both_directions());
    assert_eq!(rows_of(&directed), [["1", "2"], ["1", "3"], ["2", "1"]]);
}

#[test]
fn compressed_files_read_as_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..300_000u64).fold(String::new(), |mut text, i| {
        writeln!(text, "{} {}", i, i * 7919 % 300_000).unwrap();
        text
    });
    let plain = parse_edges(text.as_bytes(), Format::EdgeList, &ReadOptions::default()).unwrap();
    let (half, rest) = text.split_at(text.len() / 2);
    let member = |part: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let gzip = [member(half), member(rest)].concat();
    let frame = |part: &str| zstd::encode_all(part.as_bytes(), 1).unwrap();
    let zstd = [frame(half), frame(rest)].concat();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let read = |path: &Path| read_edges(path, &ReadOptions::default());
    for (name, bytes) in [("a.txt.gz", &gzip), ("a.el.zst", &zstd), ("named_otherwise.txt", &gzip)]
    {
        assert_eq!(read(&write(name, bytes)).unwrap(), plain, "{name}");
    }
    for (name, bytes) in [("cut.txt.gz", &gzip), ("cut.txt.zst", &zstd)] {
        let error = read(&write(name, &bytes[..bytes.len() / 3])).unwrap_err();
        assert!(error.to_string().contains("data ends early: the file was cut short"), "{error}");
    }
    for garbage in [&b"x"[..], b"7 bytes"] {
        let error = read(&write("more.txt.gz", &[&gzip, garbage].concat())).unwrap_err();
        assert!(error.to_string().contains("other bytes behind its end"), "{error}");
    }
    // A wrong row is no error of data that is cut: a flipped byte can make a wrong row and an early end.
    let bad = member(&format!("1 2\n3 x\n{text}"));
    let error = read(&write("bad.txt.gz", &bad[..bad.len() / 2])).unwrap_err();
    assert!(error.to_string().contains("the gzip data ends early"), "{error}");
    let error = read(&write("bad.txt.gz", &bad)).unwrap_err();
    assert!(error.to_string().contains(":2: `x`"), "{error}");
    let error = read(&write("plain.txt.gz", text.as_bytes())).unwrap_err();
    assert!(error.to_string().contains("the content is not compressed"), "{error}");
}

#[test]
fn files_are_found_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let message = |path: &Path| read_edges(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(message(&path("none.txt")).contains("none.txt: No such file"));
    assert!(message(folder.path()).contains("no format that is read has this extension"));
    fs::write(path("graph.XLSX"), "").unwrap();
    assert!(message(&path("graph.XLSX")).ends_with("graph.XLSX: a spreadsheet is not read"));
    fs::create_dir(path("folder.txt")).unwrap();
    assert!(message(&path("folder.txt")).contains("is a directory"));
    assert!(message(&path("graph.rg")).contains("an .rg file is a finished graph"));
    assert!(message(&path("graph.rgz")).contains("an .rgz file is a finished graph"));
    fs::write(path("g.e"), "1 2\n").unwrap();
    assert!(message(&path("g.e")).contains("the vertex file"));
    fs::write(path("g.v.gz"), zstd::encode_all(&b"1\n2\n"[..], 1).unwrap()).unwrap();
    let table = read_edges(&path("g.e"), &ReadOptions::default()).unwrap();
    assert_eq!((table.ids().len(), table.len()), (2, 1));
    fs::write(path("g.v"), "1\n2\n3\n").unwrap();
    let table = read_edges(&path("g.e"), &ReadOptions::default()).unwrap();
    assert_eq!((table.ids().len(), table.len()), (3, 1));
    let ldbc = ReadOptions { format: Some(Format::Ldbc), ..ReadOptions::default() };
    let error = read_edges(Path::new("-"), &ldbc).unwrap_err();
    assert!(error.to_string().starts_with("standard input: an LDBC graph is two files"), "{error}");
}

/// Returns the outcome with 1, 2 and 7 threads, which is one.
fn on_any_threads(
    read: impl Fn() -> Result<EdgeTable, ReadError> + Sync,
) -> Result<EdgeTable, ReadError> {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&read)
    };
    let one = on(1);
    for threads in [2, 7] {
        match (&one, &on(threads)) {
            (Ok(a), Ok(b)) => assert_eq!(a, b),
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
            (a, b) => panic!("{a:?} with one thread, {b:?} with {threads}"),
        }
    }
    one
}

#[test]
fn any_number_of_threads_reads_the_same() {
    // Several batches of several chunks, so that all that is cut is cut here.
    const ROWS: u64 = 1_300_000;
    let row = |i: u64| [i * 7919 % 100_003, i * 104_729 % 1_000_003];
    let write = |id: &dyn Fn(u64) -> String| {
        (0..ROWS).map(row).fold(String::new(), |mut text, [s, t]| {
            writeln!(text, "{} {}", id(s), id(t)).unwrap();
            text
        })
    };
    for id in [&|id: u64| id.to_string() as _, &|id: u64| format!("n{id}"), &|id: u64| {
        (id << 40).to_string()
    }] as [&dyn Fn(u64) -> String; 3]
    {
        let mut text = write(id).into_bytes();
        let read = |text: &[u8]| parse_edges(text, Format::EdgeList, &ReadOptions::default());
        let table = on_any_threads(|| read(&text)).unwrap();
        assert_eq!(table.len() as u64, ROWS);
        let outside = |vertex: u32| table.ids().get(vertex).to_string();
        for at in (0..ROWS).step_by(99_991) {
            let found =
                [table.sources(), table.targets()].map(|column| outside(column[at as usize]));
            assert_eq!(found, row(at).map(id), "row {at}");
        }
        // The first of two bad lines is reported.
        for line in [1_299_990, 1_234_567] {
            let starts = text.split_inclusive(|&byte| byte == b'\n').take(line).map(<[u8]>::len);
            let start: usize = starts.sum();
            text[start] = b'\xff';
            let error = on_any_threads(|| read(&text)).unwrap_err();
            assert_eq!(error.place, Place::Line(line as u64 + 1));
        }
    }
}

/// Writes rows as a person or a program might, so that each is still the same row.
///
/// Some rows of integers have a field more, which in rows of text is a separator within a field.
fn untidy(rows: &[(String, String, f64)], separator: &str, oddness: u8, integers: bool) -> String {
    let mut text = String::new();
    for (i, (source, target, weight)) in rows.iter().enumerate() {
        let odd = oddness.rotate_left(i as u32 * 3);
        if odd & 1 != 0 {
            text.push_str("# a comment\n\n");
        }
        let end = if odd & 2 != 0 { "\r\n" } else { "\n" };
        let more =
            if odd & 4 != 0 && integers { format!("{separator}more") } else { String::new() };
        write!(text, "{source}{separator}{target}{separator}{weight}{more}{end}").unwrap();
    }
    if oddness & 8 != 0 {
        text.truncate(text.trim_end().len());
    }
    text
}

/// Ids as they come out, in the order that vertices have.
fn sorted_ids(rows: &[(String, String, f64)], integers: bool) -> Vec<String> {
    let ids: BTreeSet<&String> = rows.iter().flat_map(|(s, t, _)| [s, t]).collect();
    let mut ids: Vec<String> = ids.into_iter().cloned().collect();
    if integers {
        ids.sort_by_key(|id| id.parse::<u64>().unwrap());
    }
    ids
}

fn any_rows() -> impl Strategy<Value = (bool, Vec<(String, String, f64)>)> {
    let rows = |id: BoxedStrategy<String>| {
        let weight = prop_oneof![
            (0u32..1000).prop_map(f64::from),
            (0u32..1_000_000).prop_map(|w| f64::from(w) / 1000.0),
            0.0f64..1e298,
        ];
        prop::collection::vec((id.clone(), id, weight), 1..60)
    };
    let integers = prop_oneof![Just(40u64), Just(1 << 33), Just(u64::MAX)]
        .prop_flat_map(move |most| rows((0..=most).prop_map(|id| id.to_string()).boxed()));
    let names = rows("[a-zé][a-zé0-9_.-]{0,10}".boxed());
    prop_oneof![integers.prop_map(|rows| (true, rows)), names.prop_map(|rows| (false, rows))]
}

proptest! {
    #[test]
    fn a_table_reads_as_it_was_written((integers, rows) in any_rows(), oddness: u8, kind in 0usize..3) {
        let (format, separator) =
            [(Format::EdgeList, " "), (Format::Tsv, "\t"), (Format::Csv, ",")][kind];
        let ids = if integers { IdKind::Auto } else { IdKind::Names };
        let text = untidy(&rows, separator, oddness, integers);
        let mut options = ReadOptions { ids, header: Header::Absent, ..weighted() };
        if integers {
            // Rows with one field more may come first.
            (options.columns.source, options.columns.target) = ("1".into(), "2".into());
        }
        let table = parse_edges(text.as_bytes(), format, &options).unwrap();
        prop_assert_eq!(ids_of(&table), sorted_ids(&rows, integers));
        let written: Vec<[String; 2]> = rows.iter().map(|(s, t, _)| [s.clone(), t.clone()]).collect();
        prop_assert_eq!(rows_of(&table), written);
        let weights: Vec<u64> = rows.iter().map(|row| row.2.to_bits()).collect();
        let found: Vec<u64> = table.weights().unwrap().iter().map(|w| w.to_bits()).collect();
        prop_assert_eq!(found, weights);
        let unweighted = parse_edges(text.as_bytes(), format, &ReadOptions { weighted: false, ..options });
        prop_assert_eq!(unweighted.unwrap(), table.without_weights());
    }

    #[test]
    fn a_metis_graph_reads_as_it_was_written(
        edges in prop::collection::vec((0u32..30, 0u32..30, 1u32..100), 0..80),
        blanks in prop::sample::select(vec![" ", "  ", "\t"]),
    ) {
        let mut lists = vec![String::new(); 30];
        for &(a, b, weight) in &edges {
            write!(lists[a as usize], "{blanks}{} {weight}", b + 1).unwrap();
            if a != b {
                write!(lists[b as usize], "{blanks}{} {weight}", a + 1).unwrap();
            }
        }
        let text = format!("30 {} 001\n{}\n", edges.len(), lists.join("\n"));
        let table = parse_edges(text.as_bytes(), Format::Metis, &weighted()).unwrap();
        let found = table.sources().iter().zip(table.targets()).zip(table.weights().unwrap());
        let mut found: Vec<_> = found.map(|((&s, &t), &w)| (s, t, w as u32)).collect();
        let mut written: Vec<_> = edges.iter().map(|&(a, b, w)| (a.min(b), a.max(b), w)).collect();
        found.sort_unstable();
        written.sort_unstable();
        prop_assert_eq!(found, written);
        prop_assert_eq!(table.ids(), &VertexIds::Consecutive { first: 1, count: 30 });
    }

    #[test]
    fn any_bytes_end_in_a_table_or_an_error(bytes in "[-0-9a-c \t,;\"%#.\r\n]{0,80}", kind in 0usize..5, weighted: bool) {
        let format = [Format::EdgeList, Format::Tsv, Format::Csv, Format::MatrixMarket, Format::Metis][kind];
        for ids in [IdKind::Auto, IdKind::Unsigned, IdKind::Signed, IdKind::Names] {
            let options = ReadOptions { ids, weighted, ..ReadOptions::default() };
            if let Ok(table) = parse_edges(bytes.as_bytes(), format, &options) {
                prop_assert!(table.ids().is_valid());
                let names = (0..table.ids().len() as u32).map(|v| table.ids().get(v));
                prop_assert!(names.into_iter().all(|id| id != ExternalId::Name("")), "{bytes:?}");
            }
        }
    }
}

#[test]
fn a_cancelled_reader_stops() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let path = folder.path().join("edges.txt");
    fs::write(&path, "1 2\n".repeat(100_000)).unwrap();
    assert_eq!(read_edges(&path, &options).unwrap().len(), 100_000);
    options.cancel.cancel();
    let error = read_edges(&path, &options).unwrap_err();
    assert!(error.to_string().ends_with("cancelled"), "{error}");
}

/// The rows of damaged data may be wrong in any way: that is no error of these rows.
#[test]
fn a_flipped_byte_of_gzip_is_never_a_wrong_row() {
    let mut text = String::from("source,target,weight\n");
    (0..150u32).for_each(|row| {
        writeln!(text, "{},{},{}.5", row * 7 % 50, row * 11 % 61 + 50, row).unwrap();
    });
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.csv.gz");
    let (mut damaged, mut whole) = (0, 0);
    for at in 0..bytes.len() {
        for flip in [0x01, 0x10, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            fs::write(&path, bytes).unwrap();
            match read_edges(&path, &weighted()) {
                // Some bytes before the data do not matter, such as the time.
                Ok(edges) => {
                    assert_eq!(edges.len(), 150, "byte {at} flipped by {flip:#x}");
                    whole += 1;
                }
                Err(error) => {
                    assert_eq!(error.place, Place::File, "byte {at} flipped by {flip:#x}: {error}");
                    assert!(error.kind.to_string().contains("gz"), "{error}");
                    damaged += 1;
                }
            }
        }
    }
    assert!(damaged > 10 * whole && whole < 40, "{damaged} damaged, {whole} whole");
    // A wrong row of whole data is one.
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.replace("7.5", "x").as_bytes()).unwrap();
    fs::write(&path, gzip.finish().unwrap()).unwrap();
    let error = read_edges(&path, &weighted()).unwrap_err();
    assert!(matches!(error.place, Place::Line(_)), "{error}");
}
