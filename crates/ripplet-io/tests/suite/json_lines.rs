//! JSON lines as edges: keys in any order, what is refused, and the way back of what is written.

use ripplet_graph::{EdgeTable, GraphBuilder, Names, VertexIds};
use ripplet_io::write::write_graph;
use ripplet_io::{
    Columns, Format, Header, ReadError, ReadOptions, parse_edges, read_edges,
    read_edges_with_summary,
};
use std::fs;

fn read(text: &str, options: &ReadOptions) -> Result<EdgeTable, ReadError> {
    parse_edges(text.as_bytes(), Format::JsonLines, options)
}

fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

/// The ids at the ends of each edge.
fn edges(table: &EdgeTable) -> Vec<[String; 2]> {
    let id = |&vertex: &u32| table.ids().get(vertex).to_string();
    table
        .sources()
        .iter()
        .map(id)
        .zip(table.targets().iter().map(id))
        .map(|(a, b)| [a, b])
        .collect()
}

#[test]
fn keys_may_stand_in_any_order_beside_others() {
    let text = "\n{\"source\": 1, \"target\": 2, \"weight\": 0.5}\r\n# a comment\n\
                {\"tags\": [{\"a\": [1]}], \"weight\": 2, \"target\": 18446744073709551615, \"source\": 1}";
    let table = read(text, &weighted()).unwrap();
    assert_eq!(*table.ids(), VertexIds::Unsigned(vec![1, 2, u64::MAX].into()));
    assert_eq!((table.sources(), table.targets()), (&[0, 0][..], &[1, 2][..]));
    assert_eq!(table.weights().unwrap(), [0.5, 2.0]);
}

#[test]
fn the_keys_are_found_as_the_names_of_a_header() {
    let text = "{\"date\":\"2024-01-01\",\"Sender\":\"Ann Lee\",\"receiver\":\"00123\",\"amount\":\"2.5\"}\n\
                {\"Sender\":\"\\u00e9\\n\",\"receiver\":123,\"amount\":1e1}\n";
    let table = read(text, &weighted()).unwrap();
    assert_eq!(edges(&table), [["Ann Lee", "00123"], ["\u{e9}\n", "123"]]);
    assert_eq!(table.weights().unwrap(), [2.5, 10.0]);
    let columns = |source: &str, target: &str| {
        let (source, target) = (source.to_owned(), target.to_owned());
        let columns = Columns { source, target, ..Columns::default() };
        ReadOptions { columns, ..ReadOptions::default() }
    };
    for options in [columns("date", "Sender"), columns("1", "2")] {
        let table = read(text.lines().next().unwrap(), &options).unwrap();
        assert_eq!(edges(&table), [["2024-01-01", "Ann Lee"]]);
    }
}

#[test]
fn what_is_wrong_has_its_line_and_its_key() {
    let good = "{\"source\":1,\"target\":2,\"weight\":1}\n";
    for (line, part) in [
        ("{\"source\":1,\"weight\":1}", "the key `target` is missing"),
        ("{\"source\":1,\"target\":2}", "the key `weight` is missing"),
        ("{\"source\":1,\"target\":null,\"weight\":1}", "the key `target` has null"),
        ("{\"source\":[1],\"target\":2,\"weight\":1}", "the key `source` has a list"),
        ("{\"source\":{},\"target\":2,\"weight\":1}", "the key `source` has an object"),
        ("{\"source\":true,\"target\":2,\"weight\":1}", "the key `source` has a truth value"),
        ("{\"source\":1e3,\"target\":2,\"weight\":1}", "has the number 1000.0: expected"),
        ("{\"source\":-0,\"target\":2,\"weight\":1}", "has the number -0.0"),
        ("{\"source\":18446744073709551616,\"target\":2,\"weight\":1}", "64 bits"),
        ("{\"source\":\"\",\"target\":2,\"weight\":1}", "the key `source` is empty"),
        ("{\"source\":\"a\",\"target\":2,\"weight\":1}", "use --ids names"),
        ("{\"source\":1,\"target\":2,\"weight\":-1}", "is not a weight"),
        ("{\"source\":1,\"target\":2,\"weight\":[]}", "the key `weight` has a list"),
        ("{\"source\":1,\"source\":3,\"target\":2,\"weight\":1}", "given twice"),
        ("{\"source\":1,\"target\":2,\"weight\":1} x", "trailing characters"),
        ("{\"source\":1,\"target\":2,\"weight\":1", "expected a JSON object"),
        ("[1,2]", "expected an object"),
        ("1,2", "expected an object"),
        ("source,target", "expected a JSON object"),
    ] {
        let error = read(&format!("{good}{good}{line}\n"), &weighted()).unwrap_err().to_string();
        assert!(error.starts_with("(bytes):3: ") && error.contains(part), "{line}: {error}");
        assert!(!error.contains('\n') && error.len() < 300, "{error}");
    }
    for (text, part) in [
        ("", "the file has no edges"),
        ("{}\n", "(bytes):1: the first object has no keys"),
        ("{\"a\":1}\n", "(bytes):1: expected two vertex ids"),
        ("{\"a\":1,\"a\":2}\n", "(bytes):1: the header has the column `a` twice"),
        ("{\"id\":1,\"name\":\"x\",\"age\":3}\n", "a table of vertices"),
        ("source,target\n1,2\n", "(bytes):1: expected a JSON object"),
    ] {
        let error = read(text, &ReadOptions::default()).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let options = ReadOptions { header: Header::Absent, ..ReadOptions::default() };
    let error = read(good, &options).unwrap_err().to_string();
    assert!(error.contains("leave --no-header out"), "{error}");
}

#[test]
fn deep_and_wide_objects_end_in_bounded_time_and_memory() {
    let deep = format!(
        "{{\"source\":1,\"target\":2,\"x\":{}1{}}}\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(read(&deep, &ReadOptions::default()).unwrap().len(), 1);
    let nested = format!("{{\"source\":{}\n", "[".repeat(100_000));
    assert!(read(&nested, &ReadOptions::default()).is_err());
    let keys: String = (0..200_000).map(|at| format!(",\"k{at}\":{at}")).collect();
    let wide = format!("{{\"source\":1,\"target\":2{keys}}}\n");
    assert_eq!(read(&wide, &ReadOptions::default()).unwrap().len(), 1);
}

#[test]
fn what_is_written_is_read_again_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let hard = [" a ", "#b", "line\nend", "say \"x\"", "tab\t\\"];
    let table = EdgeTable::new(VertexIds::Names(Names::new(hard)), vec![0, 1, 2], vec![1, 3, 4]);
    let graph = GraphBuilder::new().build(table.unwrap()).unwrap();
    let path = folder.path().join("hard.ndjson.gz");
    write_graph(&graph, &path, None).unwrap();
    let found = read_edges(&path, &ReadOptions::default()).unwrap();
    assert_eq!(edges(&found), [[hard[0], hard[1]], [hard[1], hard[3]], [hard[2], hard[4]]]);

    let vertices = 60_000;
    let ids = VertexIds::Consecutive { first: 3, count: vertices };
    let targets = (0..vertices).map(|v| (v * 7 + 1) % vertices).collect();
    let table = EdgeTable::new(ids.clone(), (0..vertices).collect(), targets).unwrap();
    let graph = GraphBuilder::new().build(table).unwrap();
    let path = folder.path().join("many.jsonl");
    write_graph(&graph, &path, None).unwrap();
    let (expected, summary) = read_edges_with_summary(&path, &ReadOptions::default()).unwrap();
    assert_eq!(*expected.ids(), ids);
    assert_eq!(expected.len() as u64, graph.edges());
    assert!(summary.columns.unwrap().header);
    let text = fs::read_to_string(&path).unwrap();
    let mut bad: Vec<&str> = text.lines().collect();
    let line = bad.len() - 5;
    bad[line - 1] = "{\"source\":x}";
    let bad = bad.join("\n");
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| read_edges(&path, &ReadOptions::default())).unwrap();
        assert!(found == expected, "{threads} threads");
        let error = pool.install(|| read(&bad, &ReadOptions::default())).unwrap_err();
        assert!(error.to_string().starts_with(&format!("(bytes):{line}: ")), "{error}");
    }
}
