//! GraphML, GEXF, GML, Pajek, node-link JSON and DOT: what is written is read, and what is wrong is refused.

use crate::graphs::{any_graph, any_graph_over, example};
use crate::write::{check, has_empty, reread};
use proptest::prelude::*;
use ripplet_graph::{Direction, EdgeTable, ExternalId, Graph, GraphBuilder, Names, VertexIds};
use ripplet_io::write::{Communities, Naming, write_communities_or_graph, write_graph};
use ripplet_io::{
    Columns, Format, IdKind, ReadError, ReadOptions, parse_edges, read_edges,
    read_edges_with_summary,
};
use std::fs;
use std::path::Path;

const READ: [(Format, &str); 5] = [
    (Format::GraphMl, "g.graphml"),
    (Format::Gexf, "g.gexf"),
    (Format::Gml, "g.gml"),
    (Format::Pajek, "g.net"),
    (Format::NodeLink, "g.json"),
];

fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

fn of_kind(ids: IdKind) -> ReadOptions {
    ReadOptions { ids, ..ReadOptions::default() }
}

fn parse(text: &str, format: Format) -> Result<EdgeTable, ReadError> {
    parse_edges(text.as_bytes(), format, &ReadOptions::default())
}

fn ids(table: &EdgeTable) -> Vec<String> {
    (0..table.ids().len() as u32).map(|vertex| table.ids().get(vertex).to_string()).collect()
}

/// Returns the edges by the ids of their ends.
fn edges(table: &EdgeTable) -> Vec<(String, String)> {
    let id = |&vertex: &u32| table.ids().get(vertex).to_string();
    table.sources().iter().map(id).zip(table.targets().iter().map(id)).collect()
}

fn written(graph: &Graph, name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    assert_eq!(write_graph(graph, &path, None).unwrap(), 0);
    fs::read_to_string(path).unwrap()
}

/// Checks a file's vertices, those without edges among them, its edges and its weights.
fn comes_back(path: &Path, graph: &Graph) -> Result<(), TestCaseError> {
    check(path, graph, 0)?;
    let again = reread(path, graph);
    prop_assert_eq!(again.vertices(), graph.vertices());
    for vertex in 0..graph.vertices() {
        let [read, own] = [&again, graph].map(|graph| graph.ids().get(vertex).to_string());
        prop_assert_eq!(read, own);
    }
    let (_, summary) = read_edges_with_summary(path, &of_kind(IdKind::Names))
        .unwrap_or_else(|_| read_edges_with_summary(path, &ReadOptions::default()).unwrap());
    prop_assert_eq!(summary.directed, graph.direction() == Direction::Directed);
    Ok(())
}

/// Graphs whose vertices have names of any characters.
fn any_named_graph() -> impl Strategy<Value = Graph> {
    prop::collection::btree_set("[\\PC\t\n\r\u{1}&<>\"'|\\\\;#n0-9 ]{1,5}", 1..12).prop_flat_map(
        |names| any_graph_over(VertexIds::Names(Names::new(names.iter().map(String::as_str)))),
    )
}

/// Whether a format cannot hold a name of the graph.
fn is_beyond(graph: &Graph, format: Format) -> bool {
    let bad = |name: &str| match format {
        Format::GraphMl | Format::Gexf => name
            .chars()
            .any(|c| c < ' ' && !"\t\n\r".contains(c) || matches!(c, '\u{fffe}' | '\u{ffff}')),
        Format::Pajek => name.contains(['"', '\n', '\r']),
        _ => false,
    };
    let named = |vertex| match graph.ids().get(vertex) {
        ExternalId::Name(name) => name.is_empty() || bad(name),
        _ => false,
    };
    (0..graph.vertices()).any(named)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn graphs_come_back(graph in prop_oneof![any_graph(), any_named_graph()]) {
        let folder = tempfile::tempdir().unwrap();
        for (format, name) in READ {
            for name in [name.to_owned(), format!("{name}.gz"), format!("{name}.zst")] {
                let path = folder.path().join(name);
                match write_graph(&graph, &path, None) {
                    Ok(left_out) => {
                        prop_assert_eq!(left_out, 0);
                        prop_assert!(!is_beyond(&graph, format));
                        comes_back(&path, &graph)?;
                    }
                    Err(error) => {
                        prop_assert!(is_beyond(&graph, format), "{error}");
                        prop_assert!(error.to_string().contains("the vertex id \""), "{error}");
                        prop_assert!(!path.exists());
                    }
                }
            }
        }
        let dot = folder.path().join("g.dot");
        prop_assert_eq!(write_graph(&graph, &dot, None).is_err(), has_empty(graph.ids()));
    }

    #[test]
    fn no_text_makes_a_reader_panic(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "<graphml>", "<gexf>", "<graph>", "</graph>", "<graph edgedefault=\"directed\">",
                "<nodes>", "</nodes>", "<edges>", "<node id=\"1\"/>", "<node id=\"1\">", "</node>",
                "<edge source=\"1\" target=\"1\"/>", "<edge source=\"1\" target=\"2\" weight=\"x\"/>",
                "<key id=\"d\" for=\"edge\" attr.name=\"weight\"/>", "<data key=\"d\">1</data>", "<!--",
                "-->", "<![CDATA[", "]]>", "&amp;", "&x;", "&#0;", "<?xml", "?>", "<", ">", "\"", "\n", "é",
                "*Vertices 2\n", "1 \"a\"\n", "*Arcs\n", "*Edges\n", "1 2 3\n", "*Edgeslist", "%", " ",
                "{", "}", "[", "]", ",", ":", "\"nodes\"", "\"edges\"", "\"links\"", "\"id\"",
                "\"source\"", "\"target\"", "1", "-7", "1.5", "true", "null", "\"directed\"", "\\", "\0",
            ]),
            0..40,
        ),
        kind in 0usize..4,
        is_weighted in any::<bool>(),
    ) {
        let ids = [IdKind::Auto, IdKind::Unsigned, IdKind::Signed, IdKind::Names][kind];
        let options = ReadOptions { weighted: is_weighted, ..of_kind(ids) };
        for (format, _) in READ {
            let begin = ["", "<graphml><graph>", "<gexf><graph>", "{\"nodes\":[", "*Vertices 3\n"];
            for begin in begin {
                let text = format!("{begin}{}", pieces.concat());
                let _ = parse_edges(text.as_bytes(), format, &options);
            }
        }
    }
}

/// Returns a graph with what every format has: names, weights, an isolated vertex.
fn small(direction: Direction) -> Graph {
    let names = VertexIds::Names(Names::new(["Ann & \"Bob\"", "Cy <é>", "lonely", "x|y"]));
    let table = EdgeTable::new(names, vec![0, 1, 3], vec![1, 3, 0]).unwrap();
    let table = table.with_weights(vec![0.5, 2.0, 1.25]).unwrap();
    GraphBuilder::new().direction(direction).build(table).unwrap()
}

/// A damaged file is an error or a graph, whatever is missing or changed.
#[test]
fn files_that_are_cut_short_are_refused() {
    for direction in [Direction::Directed, Direction::Undirected] {
        for (format, name) in READ {
            // Every label of a Pajek network is between quotes.
            let graph = if format == Format::Pajek { example(direction) } else { small(direction) };
            let text = written(&graph, name);
            let whole = text.trim_end().len();
            for end in 0..whole {
                let cut = parse_edges(&text.as_bytes()[..end], format, &weighted());
                if format == Format::Pajek {
                    // A network has no end: it may be shorter.
                    continue;
                }
                let error = cut.expect_err(&format!("{end} bytes of {text}")).to_string();
                assert!(error.starts_with("(bytes)"), "{error}");
            }
            for at in 0..text.len() {
                for byte in [0, b'"', b'<', b'9', 0xff] {
                    let mut changed = text.clone().into_bytes();
                    changed[at] = byte;
                    let _ = parse_edges(&changed, format, &weighted());
                }
            }
        }
    }
}

#[test]
fn direction_is_what_the_file_says() {
    for (format, name) in READ {
        let read = |direction| parse(&written(&example(direction), name), format);
        if format == Format::Pajek {
            assert!(written(&example(Direction::Directed), name).contains("*Arcs"));
        }
        let directed = read(Direction::Directed).unwrap();
        assert!(!directed.is_in_both_directions(), "{name}");
        let undirected = read(Direction::Undirected).unwrap();
        assert!(
            undirected.is_in_both_directions(),
            "{name}: an edge without direction is two arcs"
        );
    }
}

#[test]
fn vertices_are_called_by_ids_or_by_names_of_igraph() {
    let node =
        |id: &str, name: &str| format!("<node id=\"{id}\"><data key=\"v\">{name}</data></node>");
    let graph = |nodes: &[(&str, &str)], target: &str| {
        let nodes: String = nodes.iter().map(|(id, name)| node(id, name)).collect();
        format!(
            "<?xml version=\"1.0\"?><graphml><key id=\"v\" for=\"node\" attr.name=\"name\"/>\
             <graph edgedefault=\"undirected\">{nodes}<edge source=\"n0\" target=\"{target}\"/></graph></graphml>"
        )
    };
    let names = |nodes: &[(&str, &str)], target: &str| {
        ids(&parse(&graph(nodes, target), Format::GraphMl).unwrap())
    };
    assert_eq!(names(&[("n0", "Zoë &amp; Ann"), ("n1", "Bob")], "n1"), ["Bob", "Zoë & Ann"]);
    assert_eq!(names(&[("n0", "10"), ("n1", "9")], "n1"), ["9", "10"]);
    assert_eq!(names(&[("n0", "Ann"), ("n1", "Ann")], "n1"), ["n0", "n1"], "names of two");
    assert_eq!(names(&[("n0", "Ann"), ("n1", "")], "n1"), ["n0", "n1"], "no name");
    assert_eq!(names(&[("n0", "Ann"), ("n7", "Bob")], "n7"), ["n0", "n7"], "ids of the owner's");
    let two = parse(&graph(&[("n0", "Zoë"), ("n1", "Bob")], "n1"), Format::GraphMl).unwrap();
    assert_eq!(edges(&two), [("Zoë".to_owned(), "Bob".to_owned())]);
}

#[test]
fn ids_are_integers_where_all_print_as_such() {
    let graph = |ids: [&str; 2]| {
        format!(
            "{{\"nodes\": [{{\"id\": {}}}, {{\"id\": {}}}], \"links\": [{{\"source\": {}, \"target\": {}}}]}}",
            ids[0], ids[1], ids[1], ids[0]
        )
    };
    let read = |ids: [&str; 2], kind| {
        let table = parse_edges(graph(ids).as_bytes(), Format::NodeLink, &of_kind(kind));
        table.map(|table| table.ids().clone()).map_err(|error| error.to_string())
    };
    let names = |names: [&str; 2]| Ok(VertexIds::Names(Names::new(names)));
    let auto = IdKind::Auto;
    assert_eq!(read(["8", "\"7\""], auto), Ok(VertexIds::Consecutive { first: 7, count: 2 }));
    assert_eq!(read(["-8", "7"], auto), Ok(VertexIds::Signed(vec![-8, 7].into())));
    assert_eq!(read(["\"07\"", "7"], auto), names(["07", "7"]), "never one vertex");
    assert_eq!(read(["\"-0\"", "\"0\""], auto), names(["-0", "0"]));
    assert_eq!(read(["\"+5\"", "5"], auto), names(["+5", "5"]));
    assert_eq!(
        read(["18446744073709551615", "2"], auto),
        Ok(VertexIds::Unsigned(vec![2, u64::MAX].into()))
    );
    assert_eq!(read(["8", "7"], IdKind::Names), names(["7", "8"]));
    let bad = read(["\"07\"", "7"], IdKind::Unsigned).unwrap_err();
    assert!(bad.contains("(bytes):1: the id `07` is no integer"), "{bad}");
    let negative = read(["-8", "7"], IdKind::Unsigned).unwrap_err();
    assert!(negative.contains("the id -8 is negative; use --ids signed"), "{negative}");
}

#[test]
fn weights_are_those_of_the_format() {
    let read = |text: &str, format, column: &str| {
        let columns = Columns { weight: column.into(), ..Columns::default() };
        let table = parse_edges(text.as_bytes(), format, &ReadOptions { columns, ..weighted() });
        table.map(|table| table.weights().unwrap().to_vec()).map_err(|error| error.to_string())
    };
    let graphml = "<graphml><key id=\"a\" for=\"edge\" attr.name=\"weight\"><default>4</default></key>\
                   <key id=\"b\" for=\"edge\" attr.name=\"cost\"/><key id=\"c\" for=\"node\" attr.name=\"weight\"/>\n\
                   <graph edgedefault=\"directed\"><node id=\"1\"><data key=\"c\">9</data></node>\n\
                   <edge source=\"1\" target=\"1\"><data key=\"a\"> 2.5 </data><data key=\"b\">7</data></edge>\n\
                   <edge source=\"1\" target=\"1\"><data key=\"b\"><x>1</x>8</data></edge></graph></graphml>";
    assert_eq!(read(graphml, Format::GraphMl, "weight"), Ok(vec![2.5, 4.0]));
    assert_eq!(read(graphml, Format::GraphMl, "cost"), Ok(vec![7.0, 8.0]));
    // NetworkX writes weights that are integers and fractions under two keys.
    let networkx = "<graphml><key id=\"d1\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\
                    <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>\
                    <graph edgedefault=\"undirected\"><node id=\"1\"/><node id=\"2\"/>\
                    <edge source=\"1\" target=\"2\"><data key=\"d0\">3</data></edge>\
                    <edge source=\"1\" target=\"1\"><data key=\"d1\">0.5</data></edge></graph></graphml>";
    assert_eq!(read(networkx, Format::GraphMl, "weight"), Ok(vec![3.0, 0.5]));
    let missing = read(graphml, Format::GraphMl, "price").unwrap_err();
    assert!(missing.contains("(bytes):3: the edge has no weight: expected `price`"), "{missing}");
    let gexf = "<gexf><graph><attributes class=\"edge\"><attribute id=\"0\" title=\"cost\"/></attributes>\
                <nodes><node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"1\" weight=\"2.5\"><attvalues>\
                <attvalue for=\"0\" value=\"7\"/></attvalues></edge>\n<edge source=\"1\" target=\"1\"/></edges></graph></gexf>";
    assert_eq!(read(gexf, Format::Gexf, "weight"), Ok(vec![2.5, 1.0]), "1 where there is none");
    let missing = read(gexf, Format::Gexf, "cost").unwrap_err();
    assert!(missing.contains("(bytes):3: the edge has no weight"), "{missing}");
    let pajek = "*Vertices 3\n*Edges\n1 2 0.5 c Blue\n2 3\n*Edgeslist\n1 3\n";
    assert_eq!(read(pajek, Format::Pajek, "weight"), Ok(vec![0.5, 1.0, 1.0]));
    let json = "{\"edges\": [{\"source\": 1, \"target\": 1, \"weight\": 3, \"cost\": 0.25}], \"nodes\": [{\"id\": 1}]}";
    assert_eq!(read(json, Format::NodeLink, "weight"), Ok(vec![3.0]), "edges may come first");
    assert_eq!(read(json, Format::NodeLink, "cost"), Ok(vec![0.25]));
    assert!(read(json, Format::NodeLink, "price").unwrap_err().contains("no weight"));
}

#[test]
fn pajek_has_labels_numbers_arcs_and_lists() {
    let read = |text: &str| parse(text, Format::Pajek).unwrap();
    let text = "% made by hand\n*Network x\n*Vertices 3\n1 \"Ann B\" 0.1 0.2 ic Red\n3 Cy\n2 \"Bob\"\n\n*Arcs :1 \"likes\"\n1 3\n*arcslist\n2 1 3\n";
    let table = read(text);
    assert_eq!(ids(&table), ["Ann B", "Bob", "Cy"]);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(edges(&table), [pair("Ann B", "Cy"), pair("Bob", "Ann B"), pair("Bob", "Cy")]);
    let numbers = VertexIds::Consecutive { first: 1, count: 3 };
    assert_eq!(*read("*Vertices 3\n*Edges\n1 2\n").ids(), numbers);
    assert_eq!(*read("*Vertices 3\n2 \"x\"\n").ids(), numbers, "not all have labels");
    assert_eq!(*read("*Vertices 3\n1 a\n2 a\n3 b\n").ids(), numbers, "labels of two");
    for text in
        ["*Arcs\n*Edges\n1 2\n2 3\n", "*Edges\n1 2\n2 3\n*Arcs\n", "*Arcs\n*Edgeslist\n2 1 3\n"]
    {
        let table = read(&format!("*Vertices 3\n{text}"));
        assert!(table.is_in_both_directions(), "{text}");
        assert_eq!(edges(&table).len(), 2, "{text}");
    }
    assert!(!read("*Vertices 2\n*Edges\n*Arcs\n1 2\n").is_in_both_directions());
    let empty = parse_edges(b"*Vertices 0\n", Format::Pajek, &of_kind(IdKind::Names)).unwrap();
    assert_eq!(*empty.ids(), VertexIds::Names(Names::new([""; 0])));
}

#[test]
fn a_network_of_two_modes_is_read_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let read = |head: &str| {
        let path = folder.path().join("g.net");
        fs::write(
            &path,
            format!("{head}\n1 \"ann\"\n2 \"bob\"\n3 \"book\"\n4 \"film\"\n*Edges\n1 3\n2 4\n"),
        )
        .unwrap();
        read_edges_with_summary(&path, &ReadOptions::default())
    };
    let (table, summary) = read("*Vertices 4 2").unwrap();
    assert_eq!((table.ids().len(), table.len()), (4, 2));
    assert!(
        matches!(&*summary.notes, [note] if note.contains("two modes, 2 vertices of the first and 2 of the second")),
        "{summary:?}"
    );
    for one in ["*Vertices 4", "*Vertices 4 0", "*Vertices 4 4", "*Vertices 4 %"] {
        assert!(read(one).unwrap().1.notes.is_empty(), "{one}");
    }
    let error = read("*Vertices 4 5").unwrap_err().to_string();
    assert!(error.contains("g.net:1: the first mode has 5 of 4 vertices"), "{error}");
}

#[test]
fn what_is_wrong_has_its_line_and_what_to_do() {
    let graphml = |inner: &str| {
        format!("<graphml>\n<graph edgedefault=\"undirected\">\n{inner}\n</graph></graphml>")
    };
    let gexf = |inner: &str| format!("<gexf>\n<graph><nodes>\n{inner}\n</edges></graph></gexf>");
    let json = |inner: &str| format!("{{\n{inner}\n}}");
    let long = "x".repeat((1 << 20) + 1);
    let deep = "<d>".repeat(300);
    let cases: Vec<(Format, String, &str)> = vec![
        (Format::GraphMl, String::new(), "the file has no <graphml>"),
        (Format::GraphMl, "1 2\n".into(), "expected <graphml>, found `1 2`"),
        (Format::GraphMl, "<html></html>".into(), ":1: expected <graphml>, found <html>"),
        (Format::GraphMl, "<graphml></graphml>".into(), "the file has no graph: expected <graph"),
        (
            Format::GraphMl,
            "<graphml>\n<graph edgedefault=\"up\"/></graphml>".into(),
            ":2: edgedefault is neither",
        ),
        (
            Format::GraphMl,
            graphml("<node id=\"1\"/>\n<node id=\"1\"/>"),
            ":4: a second node has the id 1; line 3 has the first",
        ),
        (Format::GraphMl, graphml("<node/>"), ":3: the node has no id"),
        (Format::GraphMl, graphml("<node id=\"\"/>"), ":3: a node's id is empty"),
        (
            Format::GraphMl,
            graphml("<node id=\"1\"/>\n<edge source=\"1\" target=\"9\"/>"),
            ":4: the edge names node 9, which the file has not: add",
        ),
        (
            Format::GraphMl,
            graphml("<edge source=\"1\"/>"),
            ":3: the edge has no source or no target",
        ),
        (Format::GraphMl, graphml("<hyperedge/>"), ":3: an edge with any number of ends"),
        (Format::GraphMl, graphml("<node id=\"1\"><graph/></node>"), ":3: a graph within a node"),
        (
            Format::GraphMl,
            graphml("<node id=\"1\"/><edge source=\"1\" target=\"1\" directed=\"x\"/>"),
            ":3: `directed` is neither",
        ),
        (
            Format::GraphMl,
            graphml(
                "<node id=\"1\"/><edge source=\"1\" target=\"1\"/>\n<edge source=\"1\" target=\"1\" directed=\"true\"/>",
            ),
            ":4: some edges have a direction",
        ),
        (Format::GraphMl, graphml("<node id=\"&x;\"/>"), ":3: the attribute `id`"),
        (
            Format::GraphMl,
            graphml("<node id=\"1\">&lol;</node>"),
            ":3: `&lol;` is none of the characters",
        ),
        (
            Format::GraphMl,
            graphml("<node id=\"1\" id=\"2\"/>"),
            ":3: the attribute `id` is given twice",
        ),
        (Format::GraphMl, graphml("<node id=\"1\"></edge>"), ":3: this is no XML"),
        (
            Format::GraphMl,
            graphml(&format!("<node id=\"{long}\"/>")),
            ":3: a tag, a text or a comment of more than 1 MiB",
        ),
        (
            Format::GraphMl,
            graphml(&format!("<!-- {long} -->")),
            ":3: a tag, a text or a comment of more than 1 MiB",
        ),
        (Format::GraphMl, graphml(&deep), ":3: elements more than 256 deep"),
        (
            Format::GraphMl,
            "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><graphml/>".into(),
            ":1: the text is ISO-8859-1: convert it to UTF-8",
        ),
        (
            Format::GraphMl,
            "<graphml>\n<graph><node id=\"1\"/>".into(),
            "the file ends within the element that line 2 begins",
        ),
        (Format::GraphMl, "<graphml><graph/><graph/></graphml>".into(), ":1: a second graph"),
        (Format::Gexf, "<gexf/>".into(), "the file has no graph"),
        (
            Format::Gexf,
            gexf("<node id=\"1\"><nodes/></node></nodes><edges>"),
            ":3: nodes or edges within a node",
        ),
        (
            Format::Gexf,
            gexf("<node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"2\"/>"),
            ":4: the edge names node 2",
        ),
        (
            Format::Gexf,
            gexf("<node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"1\" type=\"x\"/>"),
            ":4: the type of edges is none of",
        ),
        (Format::NodeLink, String::new(), "the file ends within a value"),
        (Format::NodeLink, "[]".into(), ":1: the file is one list of objects"),
        (Format::NodeLink, "{}".into(), "the file has no `nodes`"),
        (
            Format::NodeLink,
            json("\"nodes\": 7 "),
            ":2: invalid type: integer `7`, expected a list of nodes",
        ),
        (Format::NodeLink, json("\"nodes\": [\n{}]"), ":3: the node has no id"),
        (
            Format::NodeLink,
            json("\"nodes\": [\n{\"id\": [1, 2]}]"),
            ":3: invalid type: sequence, expected an id: a text or an integer",
        ),
        (
            Format::NodeLink,
            json("\"nodes\": [\n{\"id\": 1.5}]"),
            ":3: invalid type: floating point",
        ),
        (
            Format::NodeLink,
            json("\"nodes\": [{\"id\": 1},\n{\"id\": 1}]"),
            ":3: a second node has the id 1",
        ),
        (
            Format::NodeLink,
            json("\"nodes\": [{\"id\": 1}], \"edges\": [\n{\"source\": 1}]"),
            ":3: the edge has no source or no target",
        ),
        (
            Format::NodeLink,
            json("\"nodes\": [{\"id\": 1}], \"edges\": [\n{\"source\": 1, \"target\": 2}]"),
            ":3: the edge names node 2",
        ),
        (
            Format::NodeLink,
            json("\"nodes\": [], \"edges\": [],\n\"links\": []"),
            ":3: `links` beside `edges`",
        ),
        (Format::NodeLink, json("\"nodes\": [],\n\"nodes\": []"), ":3: a second list of nodes"),
        (
            Format::NodeLink,
            json(&format!("\"nodes\": [{{\"id\": \"{long}\"}}]")),
            ":2: a node or an edge of more than 1 MiB",
        ),
        (Format::NodeLink, "{\"nodes\": []} x".into(), ":1: this is no JSON: trailing characters"),
        (Format::Pajek, String::new(), "the file has no vertices: expected `*Vertices n`"),
        (Format::Pajek, "1 2\n".into(), ":1: expected `*Vertices`"),
        (Format::Pajek, "*Vertices x\n".into(), ":1: `x` is no number of vertices"),
        (
            Format::Pajek,
            "*Vertices 4294967295\n".into(),
            ":1: `4294967295` is no number of vertices",
        ),
        (Format::Pajek, "*Arcs\n".into(), ":1: edges before `*Vertices`"),
        (
            Format::Pajek,
            "*Vertices 2\n3 \"x\"\n".into(),
            ":2: `3` is no vertex: expected a number from 1 to 2",
        ),
        (Format::Pajek, "*Vertices 2\n1 \"x\n".into(), ":2: a label without an end"),
        (Format::Pajek, "*Vertices 2\n1 a\n1 b\n".into(), ":3: a second line of vertex 1"),
        (Format::Pajek, "*Vertices 2\n*Edges\n1 3\n".into(), ":3: `3` is no vertex"),
        (Format::Pajek, "*Vertices 2\n*Edges\n1\n".into(), ":3: one vertex alone"),
        (
            Format::Pajek,
            "*Vertices 2\n*Edges\n1 2\n*Arcs\n1 2\n".into(),
            ":5: a network of both arcs and edges",
        ),
        (
            Format::Pajek,
            "*Vertices 2\n*Matrix\n0 1\n".into(),
            ":2: `*matrix` is not read: expected *Vertices",
        ),
        (Format::Gml, "graph [\ndirected 2\n]".into(), ":2: `directed 2`: expected 0 or 1"),
        (
            Format::Dot,
            "graph {}".into(),
            "dot is written, but not read: save the graph as .graphml",
        ),
    ];
    for (format, text, part) in cases {
        let error = parse(&text, format).expect_err(part).to_string();
        assert!(error.contains(part), "{part}: {error}");
        assert!(error.len() < 400, "{error}");
    }
    for (format, text, line) in [
        (
            Format::GraphMl,
            "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/><graph><node id=\"1\"/>\n<edge source=\"1\" target=\"1\"><data key=\"w\">@</data></edge></graph></graphml>",
            2,
        ),
        (
            Format::Gexf,
            "<gexf><graph><nodes><node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"1\" weight=\"@\"/></edges></graph></gexf>",
            2,
        ),
        (Format::Pajek, "*Vertices 1\n*Edges\n1 1 @\n", 3),
    ] {
        for weight in ["-1", "nan", "inf", "heavy"] {
            let error = parse_edges(text.replace('@', weight).as_bytes(), format, &weighted());
            let error = error.unwrap_err().to_string();
            let part = format!("(bytes):{line}: `{weight}` is not a weight");
            assert!(error.contains(&part), "{error}");
        }
    }
    let latin = b"<graphml><graph><node id=\"Zo\xeb\"/></graph></graphml>";
    let error =
        parse_edges(latin, Format::GraphMl, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("(bytes):1: the text is not UTF-8"), "{error}");
}

/// Skipped parts may be long, deep (as far as the formats allow), and in any order.
#[test]
fn what_does_not_matter_is_passed_over() {
    let blob = format!("[\"{}\"{}{}]", "x".repeat(3 << 20), ",[0".repeat(9999), "]".repeat(9999));
    let json = format!(
        "{{\"graph\": {{\"blob\": {blob}}}, \"nodes\": [{{\"blob\": {blob}, \"id\": 1}}], \"edges\": []}}"
    );
    assert_eq!(ids(&parse(&json, Format::NodeLink).unwrap()), ["1"]);
    let doctype = "<?xml version=\"1.0\" encoding=\"utf-8\"?><!DOCTYPE graphml [<!ENTITY a \"aaaa\">]>\
                   <g:graphml xmlns:g=\"x\"><desc>&lt;</desc><g:graph edgedefault=\"directed\"><g:node id='a&#10;b'>\
                   <data key=\"x\"><y:ShapeNode><y:deep/></y:ShapeNode></data><port name=\"p\"/></g:node></g:graph></g:graphml>\n";
    assert_eq!(ids(&parse(doctype, Format::GraphMl).unwrap()), ["a\nb"]);
    let gexf = "<gexf xmlns=\"http://gexf.net/1.3\" version=\"1.3\"><meta/><graph mode=\"dynamic\" defaultedgetype=\"mutual\">\
                <edges><edge source=\"b\" target=\"a\" kind=\"x\"><spells/></edge></edges><nodes count=\"2\"><node id=\"a\" label=\"A\"/>\
                <node id=\"b\"><viz:size value=\"2\"/></node></nodes></graph></gexf>";
    let table = parse(gexf, Format::Gexf).unwrap();
    assert_eq!(edges(&table), [("b".to_owned(), "a".to_owned())]);
    assert!(table.is_in_both_directions());
}

#[test]
fn names_that_a_format_cannot_hold_are_refused_by_the_vertex() {
    let folder = tempfile::tempdir().unwrap();
    for (name, file, part) in [
        (
            "a\u{1}b",
            "x.graphml",
            "the vertex id \"a\\u{1}b\" holds a character that XML cannot hold: write .gml or .json",
        ),
        ("a\u{ffff}", "x.gexf.gz", "holds a character that XML cannot hold"),
        (
            "a\"b",
            "x.net",
            "holds a quotation mark or a line end, which Pajek cannot hold: write .graphml",
        ),
        ("a\nb", "x.net", "which Pajek cannot hold"),
        ("", "x.gml", "the vertex id \"\" is empty"),
        ("a\0", "x.dot", "holds a zero byte"),
    ] {
        let ids = VertexIds::Names(Names::new([name]));
        let graph =
            GraphBuilder::new().build(EdgeTable::new(ids, vec![], vec![]).unwrap()).unwrap();
        let path = folder.path().join(file);
        let error = write_graph(&graph, &path, None).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        let labels = Communities::of_all(&[0]);
        let communities = write_communities_or_graph(&path, &graph, &labels, Naming::VertexId);
        assert!(communities.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

/// The example of each format in the documentation.
#[test]
fn communities_are_attributes_of_the_vertices() {
    let graph = small(Direction::Undirected);
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str, communities: &Communities<'_>, naming| {
        let path = folder.path().join(name);
        write_communities_or_graph(&path, &graph, communities, naming).unwrap();
        fs::read_to_string(path).unwrap()
    };
    let labels = [0, 0, 2, 0];
    let all = Communities::of_all(&labels);
    let graphml = text("x.graphml", &all, Naming::VertexId);
    for part in [
        "<key id=\"community\" for=\"node\" attr.name=\"community\" attr.type=\"string\"/>",
        "<key id=\"degree\" for=\"node\" attr.name=\"degree\" attr.type=\"long\"/>",
        "<key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>",
        "<graph edgedefault=\"undirected\">",
        "<node id=\"Cy &lt;é&gt;\"><data key=\"name\">Cy &lt;é&gt;</data><data key=\"community\">Ann &amp; &quot;Bob&quot;</data><data key=\"degree\">2</data></node>",
        "<node id=\"lonely\"><data key=\"name\">lonely</data><data key=\"community\">lonely</data><data key=\"degree\">0</data></node>",
        "<data key=\"weight\">0.5</data>",
    ] {
        assert!(graphml.contains(part), "{part}: {graphml}");
    }
    let numbers = text("x.gexf", &all, Naming::Consecutive);
    assert!(
        numbers.contains("<attribute id=\"community\" title=\"community\" type=\"long\"/>"),
        "{numbers}"
    );
    assert!(numbers.contains("<attvalue for=\"community\" value=\"1\"/>"), "{numbers}");
    let gml = text("x.gml", &all, Naming::VertexId);
    assert!(
        gml.contains(
            "node [ id 1 label \"Cy <&#233;>\" community \"Ann &amp; &quot;Bob&quot;\" degree 2 ]"
        ),
        "{gml}"
    );
    let json = text("x.json", &all, Naming::VertexId);
    assert!(
        json.contains("{\"id\": \"lonely\", \"community\": \"lonely\", \"degree\": 0}"),
        "{json}"
    );
    let dot = text("x.gv", &all, Naming::VertexId);
    assert!(
        dot.contains("  \"Ann & \\\"Bob\\\"\" [community=\"Ann & \\\"Bob\\\"\", degree=2];\n"),
        "{dot}"
    );
    assert!(dot.contains(" -- \"Cy <é>\" [weight=\"0.5\"];\n"), "{dot}");
    // The first is in two communities, the third in none.
    let (vertices, labels) = ([0, 0, 1, 3], [0, 2, 2, 0]);
    let some = Communities { vertices: Some(&vertices), ..Communities::of_all(&labels) };
    let overlapping = text("y.json", &some, Naming::VertexId);
    assert!(overlapping.contains("\"community\": \"Ann & \\\"Bob\\\"|lonely\""), "{overlapping}");
    assert!(overlapping.contains("{\"id\": \"lonely\", \"degree\": 0}"), "{overlapping}");
    let numbered = text("y.graphml", &some, Naming::Consecutive);
    assert!(numbered.contains("attr.name=\"community\" attr.type=\"string\""), "{numbered}");
    assert!(numbered.contains("<data key=\"community\">0|1</data>"), "{numbered}");
    // Names that would be ambiguous.
    let (vertices, labels) = ([0, 0], [3, 2]);
    let split = Communities { vertices: Some(&vertices), ..Communities::of_all(&labels) };
    let path = folder.path().join("z.json");
    let error = write_communities_or_graph(&path, &graph, &split, Naming::VertexId).unwrap_err();
    assert!(error.to_string().contains("the community \"x|y\" has `|` in its name"), "{error}");
    let pajek = write_communities_or_graph(Path::new("x.net"), &graph, &all, Naming::VertexId);
    assert!(pajek.is_err());
}

/// Large blocks, whose borders are everywhere, on any number of threads.
#[test]
fn bytes_do_not_depend_on_the_threads() {
    let (leaves, folder) = (150_000u32, tempfile::tempdir().unwrap());
    let ids = VertexIds::Consecutive { first: 0, count: leaves + 1 };
    let table = EdgeTable::new(ids, vec![leaves; leaves as usize], (0..leaves).collect()).unwrap();
    let graph = GraphBuilder::new().shard_arcs(100_000).build(table).unwrap();
    for name in ["g.graphml", "g.gexf.gz", "g.gml", "g.net", "g.json.zst", "g.dot"] {
        let write = |threads| {
            let path = folder.path().join(format!("{threads}-{name}"));
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| write_graph(&graph, &path, None)).unwrap();
            path
        };
        let [one, three] = [1, 3].map(write);
        assert_eq!(fs::read(&one).unwrap(), fs::read(three).unwrap(), "{name}");
        if !name.contains("dot") {
            let again = reread(&one, &graph);
            assert_eq!(
                (again.vertices(), again.edges()),
                (leaves + 1, u64::from(leaves)),
                "{name}"
            );
        }
    }
}

#[test]
fn a_file_is_of_the_format_of_its_name() {
    for (format, name) in READ {
        assert_eq!(Format::of_path(Path::new(name)).map(|found| found.0), Some(format));
        assert_eq!(Format::of_name(format.name()), Some(format));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    fs::write(&path, "{\"nodes\": [{\"id\": 5}], \"edges\": []}").unwrap();
    assert_eq!(ids(&read_edges(&path, &ReadOptions::default()).unwrap()), ["5"]);
}

#[test]
fn nodes_without_a_list_of_edges_are_no_graph() {
    for (text, part) in [
        (r#"{"nodes": [{"id": 1}]}"#, "no list of edges: expected `edges` or `links`"),
        (
            r#"{"directed": false, "nodes": [{"id": 1}, {"id": 2}], "adjacency": [[{"id": 2}], []]}"#,
            "write it with node_link_data",
        ),
    ] {
        let error = parse(text, Format::NodeLink).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    for empty in
        [r#"{"nodes": [{"id": 1}], "links": []}"#, r#"{"edges": [], "nodes": [{"id": 1}]}"#]
    {
        assert_eq!(ids(&parse(empty, Format::NodeLink).unwrap()), ["1"]);
    }
}

/// As NetworkX writes undirected graphs.
#[test]
fn gml_that_does_not_say_it_is_undirected() {
    let text = |directed: &str| {
        format!("graph [{directed} node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]")
    };
    for (directed, arcs) in [("", 2), (" directed 0", 2), (" directed 1", 1)] {
        let edges = parse(&text(directed), Format::Gml).unwrap();
        let graph = GraphBuilder::new().direction(Direction::Directed).build(edges).unwrap();
        assert_eq!(graph.arcs(), arcs, "{directed}");
    }
}

/// Readers of GML take the first value's kind for all.
#[test]
fn an_attribute_of_gml_has_one_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gml");
    let edges = parse("4 5000000000\n5000000000 4\n", Format::EdgeList).unwrap();
    let graph = GraphBuilder::new().build(edges).unwrap();
    write_communities_or_graph(&path, &graph, &Communities::of_all(&[0, 1]), Naming::VertexId)
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("community \"4\" degree 1") && text.contains("community \"5000000000\""),
        "{text}"
    );
}
