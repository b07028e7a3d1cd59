//! GML in the dialects of other programs, and malformed GML.

use proptest::prelude::*;
use ripplet_graph::{EdgeTable, ExternalId, Names, VertexIds};
use ripplet_io::{Columns, Format, IdKind, ReadError, ReadOptions, parse_edges, read_edges};
use std::fmt::Write as _;
use std::path::Path;

fn parse_with(text: &str, options: &ReadOptions) -> Result<EdgeTable, ReadError> {
    parse_edges(text.as_bytes(), Format::Gml, options)
}

fn parse(text: &str) -> Result<EdgeTable, ReadError> {
    parse_with(text, &ReadOptions::default())
}

fn of_kind(ids: IdKind) -> ReadOptions {
    ReadOptions { ids, ..ReadOptions::default() }
}

fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

/// Returns the edges by the ids of their ends.
fn edges(table: &EdgeTable) -> Vec<(String, String)> {
    let id = |&vertex: &u32| table.ids().get(vertex).to_string();
    table.sources().iter().map(id).zip(table.targets().iter().map(id)).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|&(s, t)| (s.to_owned(), t.to_owned())).collect()
}

const EXAMPLE: &str = r##"Creator "some program [ on 1 ]"
Version 1
# a comment with [ and "
graph
[
  comment "this is
a graph" directed 1
  node [ id 30 label "Ann &amp; &quot;Bob&quot;" graphics [ x 1.5 fill "#ff0000" deep [ deeper [ ] ] ] ]
  node
  [
    id 10
    label "Zo&#235;"
  ]
  node[id -5 label "Cy"]
  edge [ source 10 target 30 weight 2.5 value 9 ]
  Edge [ Source -5 Target 10 value "0.25" label "x" ]
  edge [ target -5 id 7 source 30 weight 1e3 graphics [ source 99 ] ]
]
"##;

#[test]
fn vertices_are_called_by_their_labels() {
    let table = parse_with(EXAMPLE, &weighted()).unwrap();
    let names = ["Ann & \"Bob\"", "Cy", "Zoë"];
    assert_eq!(*table.ids(), VertexIds::Names(Names::new(names)));
    let expected = [("Zoë", names[0]), ("Cy", "Zoë"), (names[0], "Cy")];
    assert_eq!(edges(&table), pairs(&expected));
    assert_eq!(table.weights(), Some(&[2.5, 0.25, 1000.0][..]));
    assert!(!table.is_in_both_directions());
    assert_eq!(parse(EXAMPLE).unwrap().weights(), None);
    let columns = Columns { weight: "value".into(), ..Columns::default() };
    let error = parse_with(EXAMPLE, &ReadOptions { columns, ..weighted() }).unwrap_err();
    assert!(error.to_string().contains(":17: the edge has no weight: expected `value`"), "{error}");
}

#[test]
fn ids_call_vertices_where_labels_do_not() {
    let by_id = parse_with(EXAMPLE, &of_kind(IdKind::Signed)).unwrap();
    assert_eq!(*by_id.ids(), VertexIds::Signed(vec![-5, 10, 30].into()));
    assert_eq!(edges(&by_id), pairs(&[("10", "30"), ("-5", "10"), ("30", "-5")]));
    let refused = parse_with(EXAMPLE, &of_kind(IdKind::Unsigned)).unwrap_err().to_string();
    assert!(refused.contains(":14: the id -5 is negative"), "{refused}");
    let graph = |nodes: &str| format!("graph [ {nodes} edge [ source 3 target 20 ] ]");
    for labels in [
        ["", ""],
        ["label \"a\"", "label \"a\""],
        ["label \"a\"", "label \"\""],
        ["label \"a\"", ""],
    ] {
        let text = graph(&format!("node [ id 20 {} ] node [ id 3 {} ]", labels[0], labels[1]));
        assert_eq!(*parse(&text).unwrap().ids(), VertexIds::Unsigned(vec![3, 20].into()));
        let names = parse_with(&text, &of_kind(IdKind::Names)).unwrap();
        assert_eq!(*names.ids(), VertexIds::Names(Names::new(["20", "3"])));
        assert_eq!(edges(&names), pairs(&[("3", "20")]));
    }
    let text = graph("node [ id 20 label \"9\" ] node [ id 3 label \"10\" ]");
    let integers = parse(&text).unwrap();
    assert_eq!(*integers.ids(), VertexIds::Consecutive { first: 9, count: 2 });
    assert_eq!(edges(&integers), pairs(&[("10", "9")]));
    let names = parse_with(&text, &of_kind(IdKind::Names)).unwrap();
    assert_eq!(*names.ids(), VertexIds::Names(Names::new(["10", "9"])));
    let unsigned = parse_with(&text, &of_kind(IdKind::Unsigned)).unwrap();
    assert_eq!(edges(&unsigned), pairs(&[("10", "9")]), "labels that are such integers");
    let negative = graph("node [ id 20 label \"-9\" ] node [ id 3 label \"10\" ]");
    assert_eq!(*parse(&negative).unwrap().ids(), VertexIds::Signed(vec![-9, 10].into()));
    let unsigned = parse_with(&negative, &of_kind(IdKind::Unsigned)).unwrap();
    assert_eq!(edges(&unsigned), pairs(&[("3", "20")]), "labels that are others");
    let zeros = graph("node [ id 20 label \"09\" ] node [ id 3 label 10 ]");
    assert_eq!(*parse(&zeros).unwrap().ids(), VertexIds::Names(Names::new(["09", "10"])));
}

/// A file as igraph writes it: `id`, and `name` as any other attribute.
#[test]
fn names_call_vertices_where_labels_do_not() {
    let graph = |nodes: &str| format!("graph [ {nodes} edge [ source 0 target 1 ] ]");
    let called = |nodes: &str| parse(&graph(nodes)).unwrap().ids().clone();
    let names = VertexIds::Names(Names::new(["ann", "bob"]));
    assert_eq!(called("node [ id 0 name \"bob\" ] node [ id 1 name \"ann\" ]"), names);
    let both = "node [ id 0 label \"x\" name \"bob\" ] node [ id 1 label \"x\" name \"ann\" ]";
    assert_eq!(called(both), names);
    let labels = "node [ id 0 label \"b\" name \"bob\" ] node [ id 1 label \"a\" name \"ann\" ]";
    assert_eq!(called(labels), VertexIds::Names(Names::new(["a", "b"])));
    let numbers = VertexIds::Consecutive { first: 0, count: 2 };
    for nodes in [
        "node [ id 0 name \"bob\" ] node [ id 1 name \"bob\" ]",
        "node [ id 0 name \"bob\" ] node [ id 1 ]",
        "node [ id 0 ] node [ id 1 name \"bob\" ]",
        "node [ id 0 name \"a\" name \"b\" ] node [ id 1 name \"bob\" ]",
        "node [ id 0 name [ x 1 ] ] node [ id 1 name \"bob\" ]",
    ] {
        assert_eq!(called(nodes), numbers, "{nodes}");
    }
}

#[test]
fn graphs_without_edges_or_nodes_are_graphs() {
    let lonely = parse("graph [ node [ id 0 ] node [ id 7 ] ]").unwrap();
    assert_eq!((lonely.ids().len(), lonely.len()), (2, 0));
    let empty = parse_with("graph [ ]", &weighted()).unwrap();
    assert_eq!((empty.ids().len(), empty.len(), empty.weights()), (0, 0, Some(&[][..])));
    let loops = parse("graph [ edge [ source 2 target 2 ] node [ id 2 ] ]").unwrap();
    assert_eq!(edges(&loops), pairs(&[("2", "2")]), "edges may come first");
}

#[test]
fn what_is_wrong_has_its_line() {
    for (text, part) in [
        ("", "the file has no graph"),
        ("Creator \"x\"\n", "the file has no graph"),
        (
            "graph [\n node [ id 1 ]\n",
            "(bytes):2: the file ends within the list that line 1 begins",
        ),
        (
            "graph [\n node [\n id 1\n",
            "(bytes):3: the file ends within the list that line 2 begins",
        ),
        ("graph [\n x [ y [\n", "ends within"),
        ("graph [ ]\n]", "(bytes):2: `]` without `[`"),
        ("graph [ ]\ngraph [ ]", "(bytes):2: a second graph"),
        ("graph 7", "(bytes):1: expected `[`, found `7`"),
        ("graph [\nnode [ label \"a\" ]\n]", "(bytes):2: the node of line 2 has no id"),
        ("graph [\nnode [ id ]\n]", "(bytes):2: a key has no value"),
        ("graph [\nnode [ id x ]\n]", "(bytes):2: `x` is no id of a node"),
        ("graph [\nnode [ id 1.5 ]\n]", "(bytes):2: `1.5` is no id of a node"),
        ("graph [\nnode [ id [ ] ]\n]", "(bytes):2: a list where a number was expected"),
        ("graph [\n[ ]\n]", "(bytes):2: `[` without a key"),
        ("graph [\n7 7\n]", "(bytes):2: expected a key, found `7`"),
        ("graph [\n\"a\" 7\n]", "(bytes):2: expected a key, found the string \"a\""),
        (
            "graph [\nnode [ id 1 ]\nnode [ id 2 ]\nnode [ id 1 ] ]",
            "(bytes):4: a second node has the id 1",
        ),
        (
            "graph [\nnode [ id 1 ]\nedge [ source 1 ] ]",
            "(bytes):3: the edge of line 3 has no source",
        ),
        (
            "graph [\nnode [ id 1 ]\nedge [ source 1 target 1 ]\nedge [\nsource 1 target 2 ] ]",
            "(bytes):4: the edge names node 2, which the file has not",
        ),
        ("graph [\nnode [ id 1 label \"a\n\n", "(bytes):3: the file ends within a string"),
        ("1 2\n", "(bytes):1: expected a key, found `1`"),
        ("graph [\ndirected [ ]\n]", "(bytes):2: a list where a number was expected"),
        ("graph", "ends within a list or before a key's value"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
    for weight in ["-1", "nan", "x", "\"\""] {
        let text = format!("graph [\nnode [ id 1 ]\nedge [ source 1 target 1\nweight {weight} ] ]");
        let error = parse_with(&text, &weighted()).unwrap_err().to_string();
        assert!(error.contains("(bytes):4: ") && error.contains("weight"), "{error}");
        assert!(parse(&text).is_ok(), "not read");
    }
    let latin = b"graph [\nnode [ id 1 label \"Zo\xeb\" ] ]";
    let error = parse_edges(latin, Format::Gml, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("(bytes):2: the label") && error.contains("not UTF-8"), "{error}");
}

#[test]
fn depth_and_length_have_bounds_or_need_none() {
    let deep = 1_000_000;
    let text = format!("graph [ x {}{} node [ id 4 ] ]", "[ y ".repeat(deep), "]".repeat(deep));
    // A key without a value is of no matter in a list that is skipped.
    assert_eq!(parse(&text).unwrap().ids().len(), 1);
    let long = format!("graph [ node [ id 1 label \"{}\" ] ]", "x".repeat(1 << 20));
    assert!(parse(&long).unwrap_err().to_string().contains("more than 1 MiB"));
    let lines = format!("graph [ node [ id 1 label \"{}\" ] ]", "xxx\n".repeat(1 + (1 << 18)));
    assert!(parse(&lines).unwrap_err().to_string().contains("more than 1 MiB"));
}

#[test]
fn a_file_is_gml_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.gml.zst");
    std::fs::write(&path, zstd::encode_all(EXAMPLE.as_bytes(), 1).unwrap()).unwrap();
    let table = read_edges(&path, &ReadOptions::default()).unwrap();
    assert_eq!(table, parse(EXAMPLE).unwrap());
    assert_eq!(Format::of_name("gml"), Some(Format::Gml));
    assert!(Format::of_path(Path::new("x.GML")).is_some());
}

/// One of several forms of a blank.
fn blank(at: usize) -> &'static str {
    [" ", "\n", "\t ", " # ] [ \"\n", "\r\n"][at % 5]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read(
        labels in prop::collection::btree_set("[a-z\"&<é]{1,5}", 1..9),
        ids in prop::collection::hash_set(-50i64..1000, 9),
        rows in prop::collection::vec((0usize..9, 0usize..9, 0.0f64..1e6), 0..30),
        blanks in prop::collection::vec(0usize..5, 9),
        labelled in any::<bool>(),
    ) {
        let labels: Vec<String> = labels.into_iter().collect();
        let ids: Vec<i64> = ids.into_iter().take(labels.len()).collect();
        let rows: Vec<_> =
            rows.into_iter().map(|(s, t, w)| (s % labels.len(), t % labels.len(), w)).collect();
        let mut text = format!("graph{}[", blank(blanks[0]));
        for (at, (id, label)) in ids.iter().zip(&labels).enumerate() {
            let gap = blank(blanks[at]);
            let label = label.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&#60;");
            write!(text, "{gap}node{gap}[{gap}id{gap}{id}{gap}").unwrap();
            if labelled {
                write!(text, "label{gap}\"{label}\"").unwrap();
            }
            text.push(']');
        }
        for (at, (s, t, weight)) in rows.iter().enumerate() {
            let gap = blank(blanks[at % 9]);
            let (s, t) = (ids[*s], ids[*t]);
            write!(text, "{gap}edge [ target {t} weight{gap}{weight} source{gap}{s} ]").unwrap();
        }
        text.push(']');
        let table = parse_with(&text, &weighted()).unwrap();
        let name = |at: usize| if labelled { labels[at].clone() } else { ids[at].to_string() };
        let expected: Vec<_> = rows.iter().map(|&(s, t, _)| (name(s), name(t))).collect();
        prop_assert_eq!(edges(&table), expected);
        prop_assert!(table.weights().unwrap().iter().zip(&rows).all(|(a, row)| *a == row.2));
        prop_assert_eq!(table.ids().len(), labels.len());
        if let ExternalId::Name(first) = table.ids().get(0) {
            prop_assert_eq!(Some(first), labels.first().map(String::as_str));
        }
    }

    #[test]
    fn no_text_makes_it_panic(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "graph", "node", "edge", "id", "label", "source", "target", "weight", "value", " ",
                "[", "]", "\"", "\n", "1", "2", "-3", "1.5", "a", "&amp;", "&", "&#", ";", "#", "é",
            ]),
            0..60,
        ),
        kind in 0usize..4,
    ) {
        let kind = [IdKind::Auto, IdKind::Unsigned, IdKind::Signed, IdKind::Names][kind];
        for options in [of_kind(kind), ReadOptions { weighted: true, ..of_kind(kind) }] {
            let _ = parse_with(&pieces.join(" "), &options);
            let _ = parse_with(&format!("graph [ {} ]", pieces.concat()), &options);
        }
    }
}
