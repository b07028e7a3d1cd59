//! Unusual contents of exchange formats: keys that repeat, other orders, text that is not UTF-8, odd weights,
//! nodes of a million attributes.

use ripplet_graph::EdgeTable;
use ripplet_io::{Format, ReadError, ReadOptions, parse_edges};

const FORMATS: [Format; 5] =
    [Format::GraphMl, Format::Gexf, Format::Gml, Format::Pajek, Format::NodeLink];

fn parse(text: impl AsRef<[u8]>, format: Format, weighted: bool) -> Result<EdgeTable, ReadError> {
    let options = ReadOptions { weighted, ..ReadOptions::default() };
    parse_edges(text.as_ref(), format, &options)
}

/// Returns the vertices 1 and 2, and edges between them, each with a weight as its text.
fn graph(format: Format, edges: &[(u32, u32, &str)]) -> String {
    let all = |edge: &dyn Fn(u32, u32, &str) -> String| -> String {
        edges.iter().map(|&(source, target, weight)| edge(source, target, weight)).collect()
    };
    match format {
        Format::GraphMl => format!(
            "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/><graph edgedefault=\"directed\">\n{}<node id=\"1\"/>\
             <node id=\"2\"/></graph></graphml>",
            all(&|source, target, weight| format!(
                "<edge source=\"{source}\" target=\"{target}\"><data key=\"w\">{weight}</data></edge>\n"
            ))
        ),
        Format::Gexf => format!(
            "<gexf><graph defaultedgetype=\"directed\"><edges>\n{}</edges><nodes><node id=\"1\"/><node id=\"2\"/></nodes>\
             </graph></gexf>",
            all(&|source, target, weight| format!(
                "<edge source=\"{source}\" target=\"{target}\" weight=\"{weight}\"/>\n"
            ))
        ),
        Format::Gml => format!(
            "graph [ directed 1\n{}node [ id 1 ] node [ id 2 ] ]",
            all(&|source, target, weight| format!(
                "edge [ source {source} target {target} weight {weight} ]\n"
            ))
        ),
        Format::Pajek => format!(
            "*Vertices 2 *Arcs\n*Arcs\n{}",
            all(&|source, target, weight| format!("{source} {target} {weight}\n"))
        ),
        _ => format!(
            "{{\"directed\": true, \"multigraph\": true, \"edges\": [\n{}], \"nodes\": [{{\"id\": 1}}, {{\"id\": 2}}]}}",
            all(&|source, target, weight| format!(
                "{{\"source\": {source}, \"target\": {target}, \"key\": 0, \"weight\": {weight}}},\n"
            ))
            .trim_end_matches(",\n")
        ),
    }
}

#[test]
fn edges_come_before_nodes_repeat_and_lead_back() {
    for format in FORMATS {
        let text = graph(format, &[(1, 2, "1"), (1, 2, "2"), (2, 2, "3")]);
        let table = parse(&text, format, true).unwrap();
        assert_eq!((table.sources(), table.targets()), (&[0, 0, 1][..], &[1, 1, 1][..]), "{text}");
        assert_eq!(table.weights(), Some(&[1.0, 2.0, 3.0][..]), "{text}");
        assert_eq!(table.ids().len(), 2, "{text}");
    }
}

#[test]
fn weights_are_finite_and_not_negative() {
    for format in FORMATS {
        for (weight, read) in
            [("1e298", 1e298), ("-0.0", 0.0), ("5e-324", 5e-324), ("1e-999", 0.0), ("7", 7.0)]
        {
            let table = parse(graph(format, &[(1, 2, weight)]), format, true).unwrap();
            assert_eq!(table.weights(), Some(&[read][..]), "{weight}");
        }
        for weight in ["-1", "1e308", "1e309", "NaN", "Infinity", "-Infinity", "heavy"] {
            let text = graph(format, &[(1, 2, "1"), (2, 1, weight)]);
            let error = parse(&text, format, true).unwrap_err().to_string();
            let part = match (format, weight) {
                (Format::NodeLink, "1e309") => "number out of range",
                (Format::NodeLink, "heavy" | "NaN" | "Infinity" | "-Infinity") => {
                    "expected a value; NaN and Infinity are none: leave such keys out"
                }
                _ => "is not a weight: expected a",
            };
            assert!(error.contains(part), "{weight}: {error}");
            let line = if format == Format::Pajek { ":4:" } else { ":3:" };
            assert!(error.contains(line), "{weight}: {error}");
        }
    }
    // No Rust type in the sentence.
    let text = graph(Format::NodeLink, &[(1, 2, "\"0.5\"")]);
    let error = parse(&text, Format::NodeLink, true).unwrap_err().to_string();
    assert!(error.contains("expected a weight: a finite number"), "{error}");
    assert!(parse(&text, Format::NodeLink, false).is_ok(), "it is not read without --weighted");
}

/// The last one, or the first one, would be a guess.
#[test]
fn keys_that_repeat_are_refused() {
    let graphml = |keys: &str, inner: &str| {
        format!("<graphml>{keys}<graph edgedefault=\"directed\">\n{inner}</graph></graphml>")
    };
    let key = |id: &str, of: &str, name: &str| {
        format!("<key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\"/>\n")
    };
    let json = |inner: &str| format!("{{\"nodes\": [{{\"id\": 1}}],\n{inner}}}");
    let gexf = |attributes: &str, inner: &str| {
        format!(
            "<gexf><graph><attributes class=\"edge\">{attributes}</attributes><nodes><node id=\"1\"/></nodes>\n\
             <edges>{inner}</edges></graph></gexf>"
        )
    };
    let cost = "<attribute id=\"0\" title=\"cost\"/>";
    let cases = [
        (
            Format::GraphMl,
            graphml(
                &key("w", "edge", "weight"),
                "<node id=\"1\"/><edge source=\"1\" target=\"1\">\n<data key=\"w\">1</data><data key=\"w\">2</data></edge>",
            ),
            ":4: the edge has two weights",
        ),
        (
            Format::GraphMl,
            graphml(&(key("a", "edge", "weight") + &key("a", "all", "weight")), ""),
            ":2: two keys of edges are called `weight`: expected one for each type, each with an id of its own",
        ),
        (
            Format::GraphMl,
            graphml(&(key("a", "node", "name") + &key("a", "node", "name")), ""),
            ":2: two keys of nodes are called `name`: expected one for each type",
        ),
        (
            Format::GraphMl,
            graphml(
                &(0..99).map(|id| key(&id.to_string(), "edge", "weight")).collect::<String>(),
                "",
            ),
            ":17: more than 16 keys of edges are called `weight`",
        ),
        (
            Format::GraphMl,
            graphml(
                &(key("a", "edge", "weight") + &key("b", "edge", "weight")),
                "<node id=\"1\"/><edge source=\"1\" target=\"1\">\n<data key=\"a\">1</data><data key=\"b\">2</data></edge>",
            ),
            ":5: the edge has two weights",
        ),
        (
            Format::GraphMl,
            graphml(
                "<key id=\"a\" for=\"edge\" attr.name=\"weight\"><default>1</default></key>\
                 <key id=\"b\" for=\"edge\" attr.name=\"weight\"><default>2</default></key>",
                "",
            ),
            ":1: the keys of edges called `weight` have different defaults",
        ),
        (
            Format::GraphMl,
            graphml(
                &(key("a", "node", "name") + &key("b", "node", "name")),
                "<node id=\"n0\"><data key=\"a\">A</data><data key=\"b\">B</data></node>",
            ),
            ":4: the node has two names",
        ),
        (
            Format::GraphMl,
            graphml(
                &key("v", "node", "name"),
                "<node id=\"n0\"><data key=\"v\">A</data><data key=\"v\">B</data></node>",
            ),
            ":3: the node has two names",
        ),
        (
            Format::Gexf,
            gexf(
                cost,
                "<edge source=\"1\" target=\"1\"><attvalues><attvalue for=\"0\" value=\"1\"/>\
                 <attvalue for=\"0\" value=\"2\" start=\"3\"/></attvalues></edge>",
            ),
            ":2: the edge has two weights",
        ),
        (
            Format::Gexf,
            gexf(&[cost, cost].concat(), ""),
            ":1: two attributes of edges are called `cost`: expected one for each type",
        ),
        (Format::Gml, "graph [ node [ id 1\nid 2 ] ]".into(), ":2: `id` is given twice"),
        (
            Format::Gml,
            "graph [ node [ id 1 label \"a\"\nLABEL \"\" ] ]".into(),
            ":2: `label` is given twice",
        ),
        (Format::Gml, "graph [ directed 0\ndirected 0 ]".into(), ":2: `directed` is given twice"),
        (
            Format::Gml,
            "graph [ node [ id 1 ]\nedge [ source 1 source 1 target 1 ] ]".into(),
            ":2: `source` is given twice",
        ),
        (
            Format::Gml,
            "graph [ node [ id 1 ]\nedge [ source 1 target 1 cost 1 cost 2 ] ]".into(),
            ":2: `cost` is given twice",
        ),
        (
            Format::Gml,
            "graph [ node [ id 1 ]\nedge [ source 1 target 1 value 1 value 2 ] ]".into(),
            ":2: `value` is given twice",
        ),
        (
            Format::NodeLink,
            "{\"nodes\": [\n{\"id\": 1, \"id\": 2}]}".into(),
            ":2: `id` is given twice",
        ),
        (
            Format::NodeLink,
            json("\"directed\": true, \"directed\": true"),
            ":2: `directed` is given twice",
        ),
        (
            Format::NodeLink,
            json("\"edges\": [{\"source\": 1, \"target\": 1, \"target\": 1}]"),
            ":2: `target` is given twice",
        ),
        (
            Format::NodeLink,
            json("\"edges\": [{\"source\": 1, \"source\": 1, \"target\": 1}]"),
            ":2: `source` is given twice",
        ),
        (
            Format::NodeLink,
            json("\"edges\": [{\"source\": 1, \"target\": 1, \"cost\": 1, \"cost\": 1}]"),
            ":2: `cost` is given twice",
        ),
    ];
    for (format, text, part) in cases {
        let mut options = ReadOptions { weighted: true, ..ReadOptions::default() };
        if text.contains("cost") {
            options.columns.weight = "cost".into();
        }
        let error = parse_edges(text.as_bytes(), format, &options).expect_err(part).to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    // A weight that is not read may be anything.
    let text = "graph [ node [ id 1 ] edge [ source 1 target 1 weight 1 weight \"x\" ] ]";
    assert!(parse(text, Format::Gml, false).is_ok());
}

#[test]
fn text_that_is_not_utf_8_is_refused_by_its_line() {
    let cases: [(Format, &[u8]); 5] = [
        (Format::GraphMl, b"<graphml><graph>\n<node id=\"Zo\xeb\"/></graph></graphml>"),
        (Format::Gexf, b"<gexf><graph><nodes>\n<node id=\"Zo\xeb\"/></nodes></graph></gexf>"),
        (Format::Gml, b"graph [\nnode [ id 1 label \"Zo\xeb\" ] ]"),
        (Format::Pajek, b"*Vertices 1\n1 \"Zo\xeb\"\n"),
        (Format::NodeLink, b"{\"nodes\": [\n{\"id\": \"Zo\xeb\"}]}"),
    ];
    for (format, text) in cases {
        let error = parse(text, format, false).unwrap_err().to_string();
        assert!(error.contains(":2: ") && error.contains("not UTF-8: convert"), "{error}");
    }
}

#[test]
fn edges_to_nodes_that_are_not_there_are_refused_in_every_format() {
    for format in FORMATS {
        let text = graph(format, &[(1, 2, "1"), (2, 7, "1")]);
        let error = parse(&text, format, false).unwrap_err().to_string();
        let (line, part) = match format {
            Format::Pajek => (":4:", "`7` is no vertex: expected a number from 1 to 2"),
            _ => (":3:", "the edge names node 7, which the file has not: add the node"),
        };
        assert!(error.contains(part) && error.contains(line), "{error}");
    }
}

/// Entities within entities grow to gigabytes in readers that expand them.
#[test]
fn entities_do_not_grow() {
    let mut text = String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE g [<!ENTITY a0 \"lol\">");
    for level in 1..20 {
        let before = format!("&a{};", level - 1).repeat(10);
        text += &format!("<!ENTITY a{level} \"{before}\">");
    }
    for (format, inner) in [
        (Format::GraphMl, "]>\n<graphml><graph><node id=\"&a19;\"/></graph></graphml>"),
        (Format::GraphMl, "]>\n<graphml><desc>&a19;</desc><graph/></graphml>"),
        (Format::Gexf, "]>\n<gexf><graph><nodes><node id=\"&a19;\"/></nodes></graph></gexf>"),
    ] {
        let error = parse(text.clone() + inner, format, false).unwrap_err().to_string();
        assert!(error.contains(":3:") && error.contains("a19") && error.len() < 400, "{error}");
    }
}

/// The number of skipped parts is not bounded, nor is the length of lines in formats without lines.
#[test]
fn a_million_attributes_of_a_node_are_passed_over() {
    let many = |begin: &str, one: &str, end: &str| {
        let mut text = String::with_capacity(one.len() * 1_000_000 + 200);
        text.push_str(begin);
        (0..1_000_000).for_each(|_| text.push_str(one));
        text + end
    };
    let graphs = [
        (
            Format::GraphMl,
            many(
                "<graphml><graph><node id=\"1\">",
                "<data key=\"d\">1</data>",
                "</node></graph></graphml>",
            ),
        ),
        (
            Format::Gexf,
            many(
                "<gexf><graph><nodes><node id=\"1\"><attvalues>",
                "<attvalue for=\"d\" value=\"1\"/>",
                "</attvalues></node></nodes></graph></gexf>",
            ),
        ),
        (Format::Gml, many("graph [ node [ id 1 ", "d 1 ", "] ]")),
        (Format::Pajek, many("*Vertices 1\n1 x", " d 1", "\n")),
        (Format::NodeLink, many("{\"nodes\": [{\"id\": 1", ", \"d\": 1", "}], \"links\": []}")),
    ];
    for (format, text) in graphs {
        let table = parse(text, format, false).unwrap();
        assert_eq!(table.ids().len(), 1);
    }
    let tag = many("<graphml><graph>\n<node id=\"1\"", " d=\"1\"", "/></graph></graphml>");
    let error = parse(tag, Format::GraphMl, false).unwrap_err().to_string();
    assert!(error.contains(":2: a tag, a text or a comment of more than 1 MiB"), "{error}");
}

#[test]
fn lines_that_never_end_are_refused_where_lines_count() {
    let text = ["graph [", &" ".repeat(129 << 20)].concat();
    let error = parse(text, Format::Gml, false).unwrap_err().to_string();
    assert!(error.contains("(bytes):1: no line end within 64 MiB"), "{error}");
}
