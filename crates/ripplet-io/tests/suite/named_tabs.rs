//! Names with blanks, tabs, quotes and marks of comments: out into text, and back.

use ripplet_graph::batch::{BatchBuilder, BatchIds, BatchRows, BatchTable, Members};
use ripplet_graph::{Direction, EdgeTable, Graph, GraphBuilder, Names, VertexIds};
use ripplet_io::write::{
    ColumnData, ColumnKind, Communities, Naming, Part, Rows, Subject, TableShape, TableWriter,
    write_communities, write_graph,
};
use ripplet_io::{ReadOptions, UnknownSeeds, read_edges_with_summary, read_seeds};
use std::fs;
use std::path::Path;

/// Names that a line of blanks between fields could not hold.
const HARD: [&str; 11] = [
    "1 2",
    "Ann Lee",
    "a,b;c",
    "say \"hi\"",
    "\"quoted\"",
    "tab\there",
    " around ",
    "# no comment",
    "%",
    "\u{feff}marked",
    "Zoë 漢字",
];

/// Edges from the first name to all others, the `i`-th with weight `i`.
fn star(names: &[&str]) -> Graph {
    let ends = names.len() as u32 - 1;
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let vertex = |name: &&str| sorted.binary_search(name).unwrap() as u32;
    let targets = names[1..].iter().map(vertex).collect();
    let ids = VertexIds::Names(Names::new(sorted.iter().copied()));
    let table = EdgeTable::new(ids, vec![vertex(&names[0]); ends as usize], targets).unwrap();
    let weights = (1..=ends).map(f64::from).collect();
    let builder = GraphBuilder::new().direction(Direction::Directed);
    builder.build(table.with_weights(weights).unwrap()).unwrap()
}

/// The names at the ends of each edge of a file, and its weight.
fn edges(path: &Path) -> Vec<(String, String, f64)> {
    let options = ReadOptions { weighted: true, ..ReadOptions::default() };
    let (table, _) = read_edges_with_summary(path, &options).unwrap();
    let name = |&vertex: &u32| table.ids().get(vertex).to_string();
    let ends = table.sources().iter().map(name).zip(table.targets().iter().map(name));
    let weights = table.weights().unwrap().iter();
    let mut edges: Vec<_> = ends.zip(weights).map(|((a, b), &weight)| (a, b, weight)).collect();
    edges.sort_by(|a, b| a.2.total_cmp(&b.2));
    edges
}

#[test]
fn edges_between_any_names_come_back_from_every_text() {
    let folder = tempfile::tempdir().unwrap();
    for first in 0..HARD.len() {
        let mut names = HARD;
        names.swap(0, first);
        let graph = star(&names);
        for name in ["e.txt", "e.el", "e.txt.gz", "e.tsv", "e.tsv.zst", "e.csv"] {
            let path = folder.path().join(name);
            write_graph(&graph, &path, None).unwrap();
            let found = edges(&path);
            assert_eq!(found.len(), names.len() - 1, "{name}");
            for (at, (source, target, weight)) in (1..).zip(&found) {
                let ends = (source.as_str(), target.as_str(), *weight);
                assert_eq!(ends, (names[0], names[at], at as f64), "{name}");
            }
        }
    }
}

#[test]
fn an_edge_list_of_names_with_blanks_says_what_it_is_to_others_in_a_comment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.txt");
    write_graph(&star(&["bob", "Ann Lee", "7", "say \"hi\""]), &path, None).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let rows = "bob\t7\t2\nbob\tAnn Lee\t1\nbob\t\"say \"\"hi\"\"\"\t3\n";
    assert_eq!(text, format!("# names: source\ttarget\tweight\n{rows}"));
    // Names without blanks are written as before.
    write_graph(&star(&["bob", "ann", "x7"]), &path, None).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "bob ann 1\nbob x7 2\n");
    // Names that a reader could take for numbers, dates or marks.
    for name in ["7", "2024-01-31", "->", "\"7\""] {
        write_graph(&star(&["bob", "ann", name]), &path, None).unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("# names: "), "{name}");
        let ends = |name: &str, weight| ("bob".to_owned(), name.to_owned(), weight);
        assert_eq!(edges(&path), [ends("ann", 1.0), ends(name, 2.0)]);
    }
    // Two integers in the first row are names all the same.
    fs::write(&path, "# names: source\ttarget\n1\t2\n2\tAnn Lee\n").unwrap();
    let (table, summary) = read_edges_with_summary(&path, &ReadOptions::default()).unwrap();
    assert!(matches!(table.ids(), VertexIds::Names(names) if names.len() == 3));
    assert!(!summary.columns.unwrap().header);
    // Any other comment means nothing.
    fs::write(&path, "# names of people\n1 2\n2 3\n").unwrap();
    let (table, _) = read_edges_with_summary(&path, &ReadOptions::default()).unwrap();
    assert_eq!(*table.ids(), VertexIds::Consecutive { first: 1, count: 3 });
}

#[test]
fn figures_of_edges_are_read_as_edges_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("betweenness.txt");
    let ids = VertexIds::Names(Names::new(["Ann Lee", "bob", "#c"]));
    let columns = [("betweenness", ColumnKind::F64)];
    let shape = TableShape { rows: Rows::Edges, of_batch: false, columns: &columns };
    let mut table = TableWriter::create(&path, shape).unwrap();
    let of = Subject::Graph(&ids);
    let part = Part::Edges { of, starts: &[0, 2], sources: &[2, 0], targets: &[0, 1] };
    table.append(part, &[ColumnData::F64(&[0.5, 1.5])]).unwrap();
    table.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let head = "# names: source\ttarget\tbetweenness\n";
    assert_eq!(text, format!("{head}\"#c\"\tAnn Lee\t0.5\nAnn Lee\tbob\t1.5\n"));
    let expected = [("#c", "Ann Lee", 0.5), ("Ann Lee", "bob", 1.5)];
    assert!(edges(&path).iter().map(|(a, b, w)| (a.as_str(), b.as_str(), *w)).eq(expected));
}

#[test]
fn a_later_part_of_a_batch_may_be_the_first_with_blanks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.txt");
    let names = |names: [&str; 2]| Names::new(names);
    let members = Members::new(
        VertexIds::Names(names(["one", "the other"])),
        vec![0, 1, 2].into(),
        BatchIds::Names(names(["ann", "Bob Ray"])),
    );
    let rows = BatchRows { graphs: vec![], sources: vec![], targets: vec![], weights: None };
    let table = BatchTable::new(members.unwrap(), rows).unwrap();
    let batch = BatchBuilder::new().build(table).unwrap();
    let columns = [("lcc", ColumnKind::F64)];
    let shape = TableShape { rows: Rows::Vertices, of_batch: true, columns: &columns };
    let mut table = TableWriter::create(&path, shape).unwrap();
    for part in [0..1, 1..2] {
        let of = Subject::Batch(batch.slice(part));
        table.append(Part::Vertices(of), &[ColumnData::F64(&[0.5])]).unwrap();
    }
    table.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\tann\t0.5\nthe other\tBob Ray\t0.5\n");
}

#[test]
fn communities_of_names_with_blanks_are_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.txt");
    let ids = VertexIds::Names(Names::new(["Ann", "Ann Lee", "Lee"]));
    write_communities(&path, &ids, &Communities::of_all(&[1, 1, 2]), Naming::VertexId).unwrap();
    let seeds = read_seeds(&path, &ReadOptions::default(), &ids, UnknownSeeds::Refuse).unwrap();
    let found: Vec<_> = seeds.rows.iter().map(|row| (row.vertex, row.cluster)).collect();
    assert_eq!(found, [(0, 0), (1, 0), (2, 1)]);
    assert_eq!(seeds.clusters, VertexIds::Names(Names::new(["Ann Lee", "Lee"])));
}
