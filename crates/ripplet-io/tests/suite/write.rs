//! Written files read back equal, in every format.

use crate::graphs::{any_graph, any_ids, example};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_ipc::reader::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use proptest::prelude::*;
use ripplet_graph::{
    Direction, Duplicates, EdgeTable, ExternalId, Graph, GraphBuilder, Names, SelfLoops, VertexIds,
};
use ripplet_io::write::{
    Communities, Naming, check_communities_or_graph, write_communities, write_graph,
};
use ripplet_io::{
    Format, IdKind, MembershipForm, ReadOptions, read_edges, read_labels, read_memberships, rg, rgz,
};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Every edge by the ids of its ends, each undirected one once, with its real weight; sorted.
fn edges_of(graph: &Graph) -> Vec<(String, String, f64)> {
    let mut edges = Vec::new();
    for shard in graph.shards() {
        for (local, vertex) in shard.vertices().enumerate() {
            let weights = shard.out().weights_of(local);
            for (at, &neighbor) in shard.out().of(local).iter().enumerate() {
                if graph.direction() == Direction::Directed || vertex <= neighbor {
                    let weight = weights.map_or(1.0, |w| graph.weight_scale().weight(w[at].into()));
                    let [source, target] =
                        [vertex, neighbor].map(|v| graph.ids().get(v).to_string());
                    edges.push((source, target, weight));
                }
            }
        }
    }
    edges.sort_by(|a, b| a.partial_cmp(b).unwrap());
    edges
}

/// Reads a file as a graph that keeps everything.
pub fn reread(path: &Path, like: &Graph) -> Graph {
    let ids = match like.ids() {
        VertexIds::Names(_) => IdKind::Names,
        VertexIds::Signed(_) => IdKind::Signed,
        _ => IdKind::Auto,
    };
    let options = ReadOptions { weighted: like.is_weighted(), ids, ..ReadOptions::default() };
    let table = read_edges(path, &options).unwrap();
    GraphBuilder::new()
        .direction(like.direction())
        .self_loops(SelfLoops::Keep)
        .duplicates(Duplicates::Keep)
        .build(table)
        .unwrap()
}

/// Whether one of the ids is an empty name, which no text can hold.
pub fn has_empty(ids: &VertexIds) -> bool {
    ids.find(ExternalId::Name("")).is_some()
}

pub fn check(path: &Path, graph: &Graph, shift: u64) -> Result<(), TestCaseError> {
    let mut expected = edges_of(graph);
    if shift > 0 {
        let shifted = |id: &str| (id.parse::<u64>().unwrap() - (shift - 1)).to_string();
        expected
            .iter_mut()
            .for_each(|edge| (edge.0, edge.1) = (shifted(&edge.0), shifted(&edge.1)));
        expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
    }
    let again = reread(path, graph);
    let read = edges_of(&again);
    prop_assert_eq!(read.len(), expected.len());
    // The decimal that is written is within half a unit of the scale that the graph has, which a
    // larger weight than those left in it may have set; what is read is within a unit of its own.
    let [unit, unit_read] = [graph, &again].map(|graph| graph.weight_scale().weight(1));
    for (read, expected) in read.iter().zip(&expected) {
        prop_assert_eq!((&read.0, &read.1), (&expected.0, &expected.1));
        let error = (read.2 - expected.2).abs();
        prop_assert!(error <= unit / 2.0 + unit_read, "{read:?} for {expected:?}");
    }
    Ok(())
}

/// Weights of a graph whose largest one is gone: its scale is coarser than they need by themselves.
#[test]
fn weights_come_back_where_the_scale_was_set_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let ids = VertexIds::Names(Names::new(["a", "b"]));
    let table = EdgeTable::new(ids, vec![0, 0], vec![0, 1]).unwrap();
    // No number of decimals is exact.
    let table = table.with_weights(vec![2_999_999.0 / 3.0, 454_580.0 / 3.0]).unwrap();
    let graph = GraphBuilder::new().self_loops(SelfLoops::Drop).build(table).unwrap();
    assert_eq!(graph.weight_scale().code(), 8);
    for name in ["g.txt", "g.csv.gz", "g.parquet", "g.arrow"] {
        let path = folder.path().join(name);
        write_graph(&graph, &path, None).unwrap();
        check(&path, &graph, 0).unwrap();
        // What is written has the fewest decimals that identify it: three.
        assert_eq!(reread(&path, &graph).weight_scale().code(), 4099, "{name}");
    }
}

#[test]
fn names_that_look_like_marks_come_back() {
    let folder = tempfile::tempdir().unwrap();
    for mark in [",", ";", "->", "<-", "--", "|"] {
        let ids = VertexIds::Names(Names::new([mark]));
        let table = EdgeTable::new(ids, vec![0], vec![0]).unwrap();
        let builder = GraphBuilder::new().self_loops(SelfLoops::Keep);
        let plain = builder.clone().build(table.clone()).unwrap();
        let weighted = builder.build(table.with_weights(vec![2.0]).unwrap()).unwrap();
        for graph in [plain, weighted] {
            let path = folder.path().join("g.txt");
            write_graph(&graph, &path, None).unwrap();
            check(&path, &graph, 0).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn graphs_come_back_from_every_format(graph in any_graph()) {
        let folder = tempfile::tempdir().unwrap();
        let isolated = (0..graph.vertices()).filter(|&v| graph.degree(v) == 0).count() as u64;
        for name in ["g.txt", "g.tsv", "g.csv", "g.csv.gz", "g.el.zst", "g.parquet", "g.arrow"] {
            let path = folder.path().join(name);
            match write_graph(&graph, &path, None) {
                Ok(left_out) => {
                    prop_assert_eq!(left_out, isolated);
                    if graph.arcs() > 0 {
                        check(&path, &graph, 0)?;
                    }
                }
                Err(error) => {
                    let csv = name.contains("csv") && !has_empty(graph.ids());
                    let names = matches!(graph.ids(), VertexIds::Names(_));
                    prop_assert!(names && !csv, "{error}");
                    prop_assert!(!path.exists());
                }
            }
        }
        for name in ["g.mtx", "g.graph.gz", "g.e", "g.e.zst"] {
            let path = folder.path().join(name);
            if write_graph(&graph, &path, None).is_ok() && graph.vertices() > 0 {
                let shift = match (graph.ids(), name.starts_with("g.e")) {
                    (VertexIds::Consecutive { first, .. }, false) => *first,
                    _ => 0,
                };
                if graph.arcs() > 0 && (shift != 0 || name.starts_with("g.e")) {
                    check(&path, &graph, shift)?;
                }
                prop_assert_eq!(reread(&path, &graph).vertices(), graph.vertices());
            }
        }
        let path = folder.path().join("g.rg");
        write_graph(&graph, &path, None).unwrap();
        prop_assert_eq!(rg::open(&path).unwrap(), graph.clone());
        let path = folder.path().join("g.rgz");
        write_graph(&graph, &path, None).unwrap();
        prop_assert_eq!(rgz::open(&path).unwrap().into_plain().unwrap(), graph);
    }

    #[test]
    fn communities_come_back_from_every_format(
        ids in any_ids(), seed in prop::collection::vec(any::<prop::sample::Index>(), 20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let labels: Vec<u32> =
            (0..ids.len()).map(|v| seed[v].index(ids.len()) as u32).collect();
        let mut first_of = Vec::new();
        let groups: Vec<u32> = labels.iter().map(|label| {
            first_of.iter().position(|known| known == label).unwrap_or_else(|| {
                first_of.push(*label);
                first_of.len() - 1
            }) as u32
        }).collect();
        for name in ["c.txt", "c.tsv", "c.csv", "c.txt.gz", "c.csv.zst", "c.parquet", "c.arrow"] {
            let path = folder.path().join(name);
            let options = ReadOptions::default();
            match write_communities(&path, &ids, &Communities::of_all(&labels), Naming::VertexId) {
                Ok(()) => prop_assert_eq!(&read_labels(&path, &options, &ids).unwrap(), &labels),
                Err(error) => {
                    let csv = name.contains("csv") && !has_empty(&ids);
                    let names = matches!(ids, VertexIds::Names(_));
                    prop_assert!(names && !csv, "{error}");
                    continue;
                }
            }
            // An empty string is no group's name.
            if !has_empty(&ids) {
                prop_assert_eq!(&groups_of(&path, &ids), &groups);
            }
            write_communities(&path, &ids, &Communities::of_all(&labels), Naming::Consecutive).unwrap();
            prop_assert_eq!(&groups_of(&path, &ids), &groups);
        }
    }
}

/// Returns the number of each vertex's community, in the order of the vertices.
fn groups_of(path: &Path, ids: &VertexIds) -> Vec<u32> {
    let read = read_memberships(path, MembershipForm::Rows, &ReadOptions::default(), ids).unwrap();
    assert!(read.memberships.iter().map(|&(vertex, _)| vertex).eq(0..ids.len() as u32));
    read.memberships.into_iter().map(|(_, community)| community).collect()
}

fn text_of(write: impl Fn(&Path), name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path);
    fs::read_to_string(path).unwrap()
}

#[test]
fn communities_as_text() {
    let ids = VertexIds::Names(Names::new(["a", "b,c", "d"]));
    let written = |naming, name| {
        text_of(
            |path| write_communities(path, &ids, &Communities::of_all(&[1, 1, 2]), naming).unwrap(),
            name,
        )
    };
    assert_eq!(
        written(Naming::VertexId, "c.csv"),
        "id,community\na,\"b,c\"\n\"b,c\",\"b,c\"\nd,d\n"
    );
    assert_eq!(written(Naming::Consecutive, "c.tsv"), "id\tcommunity\na\t0\nb,c\t0\nd\t1\n");
    let ids = VertexIds::Signed(vec![-4, 0, 9].into());
    let write = |path: &Path| {
        write_communities(path, &ids, &Communities::of_all(&[0, 0, 2]), Naming::VertexId).unwrap()
    };
    assert_eq!(text_of(write, "c.txt"), "-4 -4\n0 -4\n9 9\n");
}

/// Returns the only batch of a Parquet or Arrow file.
fn batch_of(path: &Path) -> RecordBatch {
    let file = File::open(path).unwrap();
    if path.extension().is_some_and(|name| name == "arrow") {
        return FileReader::try_new(file, None).unwrap().next().unwrap().unwrap();
    }
    ParquetRecordBatchReader::try_new(file, 1024).unwrap().next().unwrap().unwrap()
}

/// Vertex `b` is in two communities and `d` in none.
const OVERLAPPING: Communities<'static> = Communities {
    vertices: Some(&[0, 1, 1]),
    communities: &[2, 2, 0],
    strengths: Some(&[1.0, 0.75, 0.1]),
};

#[test]
fn overlapping_communities_have_a_row_each() {
    let ids = VertexIds::Names(Names::new(["a", "b", "d"]));
    let names = VertexIds::Names(Names::new(["ring 7", "x,y"]));
    let of = [1, u32::MAX, 0];
    let written = |naming, name| {
        text_of(|path| write_communities(path, &ids, &OVERLAPPING, naming).unwrap(), name)
    };
    assert_eq!(written(Naming::VertexId, "c.txt"), "a d 1\nb d 0.75\nb a 0.1\n");
    assert_eq!(
        written(Naming::Consecutive, "c.csv"),
        "id,community,strength\na,0,1\nb,0,0.75\nb,1,0.1\n"
    );
    assert_eq!(
        written(Naming::Given { names: &names, of: &of }, "c.csv"),
        "id,community,strength\na,ring 7,1\nb,ring 7,0.75\nb,\"x,y\",0.1\n"
    );
    for name in ["c.parquet", "c.arrow"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let naming = Naming::Given { names: &names, of: &of };
        write_communities(&path, &ids, &OVERLAPPING, naming).unwrap();
        let batch = batch_of(&path);
        let schema = batch.schema();
        let columns: Vec<&str> =
            schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(columns, ["id", "community", "strength"]);
        assert_eq!(
            batch.column(0).as_string::<i32>().iter().flatten().collect::<Vec<_>>(),
            ["a", "b", "b"]
        );
        let communities = batch.column(1).as_string::<i32>();
        assert_eq!(communities.iter().flatten().collect::<Vec<_>>(), ["ring 7", "ring 7", "x,y"]);
        assert_eq!(batch.column(2).as_primitive::<Float32Type>().values(), &[1.0, 0.75, 0.1]);
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let ids = VertexIds::Consecutive { first: 0, count: 3 };
    let names = VertexIds::Names(Names::new(["a\tb"]));
    let folder = tempfile::tempdir().unwrap();
    let refused = |communities: Communities<'_>, naming, sentence: &str| {
        let path = folder.path().join("c.txt");
        let error = write_communities(&path, &ids, &communities, naming).unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    };
    let by_id = Naming::VertexId;
    refused(
        Communities { vertices: Some(&[0, 1]), ..OVERLAPPING },
        by_id,
        "3 communities for 2 rows",
    );
    refused(
        Communities { vertices: Some(&[0, 1, 3]), ..OVERLAPPING },
        by_id,
        "vertex 3, which is none",
    );
    refused(
        Communities { strengths: Some(&[0.0]), ..OVERLAPPING },
        by_id,
        "1 strengths for 3 rows",
    );
    let unnamed = Naming::Given { names: &ids, of: &[0, 0] };
    refused(OVERLAPPING, unnamed, "community 2 has no name");
    refused(OVERLAPPING, Naming::Given { names: &names, of: &[0; 3] }, "holds a blank");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn graphs_as_text() {
    let ids = || VertexIds::Consecutive { first: 0, count: 4 };
    let table = EdgeTable::new(ids(), vec![0, 2, 0], vec![1, 1, 2]).unwrap();
    let build = |table: EdgeTable, direction| {
        GraphBuilder::new().direction(direction).build(table).unwrap()
    };
    let plain = build(table.clone(), Direction::Undirected);
    let directed = build(table.clone(), Direction::Directed);
    let weighted = table.with_weights(vec![0.1, 2.0, 3.5]).unwrap();
    let weighted = build(weighted, Direction::Undirected);
    let written =
        |graph: &Graph, name| text_of(|path| assert!(write_graph(graph, path, None).is_ok()), name);
    assert_eq!(written(&plain, "g.txt"), "0 1\n0 2\n1 2\n");
    assert_eq!(written(&directed, "g.tsv"), "source\ttarget\n0\t1\n0\t2\n2\t1\n");
    assert_eq!(written(&weighted, "g.csv"), "source,target,weight\n0,1,0.1\n0,2,3.5\n1,2,2\n");
    let comment = "% vertex 1 was 0, and so on\n";
    assert_eq!(
        written(&plain, "g.mtx"),
        format!(
            "%%MatrixMarket matrix coordinate pattern symmetric\n{comment}4 4 3\n2 1\n3 1\n3 2\n"
        )
    );
    assert_eq!(written(&plain, "g.graph"), format!("{comment}4 3\n2 3\n1 3\n1 2\n\n"));
}

#[test]
fn what_a_format_cannot_hold_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let names = example(Direction::Undirected);
    let line_end = VertexIds::Names(Names::new(["a", "b\nc"]));
    let line_end = EdgeTable::new(line_end, vec![0], vec![1]).unwrap();
    let line_end = GraphBuilder::new().build(line_end).unwrap();
    let gaps = EdgeTable::new(VertexIds::Unsigned(vec![1, 5].into()), vec![0], vec![1]).unwrap();
    let gaps = GraphBuilder::new().build(gaps).unwrap();
    let one = VertexIds::Consecutive { first: 1, count: 2 };
    let table = EdgeTable::new(one, vec![0, 1], vec![1, 1]).unwrap();
    let build = |builder: GraphBuilder, table: EdgeTable| builder.build(table).unwrap();
    let directed = build(GraphBuilder::new().direction(Direction::Directed), table.clone());
    let looped = build(GraphBuilder::new().self_loops(SelfLoops::Keep), table.clone());
    let real = build(GraphBuilder::new(), table.with_weights(vec![0.5, 1.0]).unwrap());
    for (graph, name, sentence) in [
        (&names, "g.mtx", "cannot hold names"),
        (&names, "g.graph", "cannot hold names"),
        (&names, "g.e", "write .csv"),
        (&line_end, "g.txt", "holds a line end: write .parquet, .arrow or .jsonl (--to parquet)"),
        (&line_end, "g.csv", "holds a line end: write .parquet, .arrow or .jsonl (--to parquet)"),
        (&gaps, "g.mtx", "have gaps"),
        (&gaps, "g.graph", "have gaps"),
        (&directed, "g.graph", "undirected graphs only"),
        (&looped, "g.graph", "no self-loops, but the graph has 1"),
        (&real, "g.graph", "whole weights only"),
        (&real, "g.parquet.gz", "only text formats"),
        (
            &real,
            "g.unknown",
            "no format that is written has this extension; the formats are: edgelist, tsv",
        ),
    ] {
        let error = write_graph(graph, &folder.path().join(name), None).unwrap_err().to_string();
        assert!(error.contains(sentence) && error.contains(name), "{error}");
    }
    let ids = VertexIds::Consecutive { first: 0, count: 2 };
    for (name, labels, sentence) in [
        ("c.mtx", &[0, 0][..], "communities are written as"),
        ("c.parquet.gz", &[0, 0], "communities are written as"),
        ("c", &[0, 0], "communities are written as"),
        ("c.txt", &[0], "1 communities for 2 vertices"),
        ("c.txt", &[0, 2], "community 2 is no vertex"),
    ] {
        let path = folder.path().join(name);
        let error = write_communities(&path, &ids, &Communities::of_all(labels), Naming::VertexId)
            .unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
    for name in ["c.mtx", "c.rg", "c"] {
        let error = check_communities_or_graph(&folder.path().join(name), &ids).unwrap_err();
        assert!(error.to_string().contains(".graphml, .gexf, .gml, .json or .dot"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_bytes_are_the_same_for_any_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    let vertices = 90_000u32;
    let (sources, targets) = (0..200_000u32).map(|i| (i % vertices, i * 7 % vertices)).unzip();
    let ids = VertexIds::Consecutive { first: 1, count: vertices };
    let table = EdgeTable::new(ids, sources, targets).unwrap();
    let graph = GraphBuilder::new().build(table).unwrap();
    let labels: Vec<u32> = (0..vertices).map(|v| v / 10 * 10).collect();
    for name in ["x.txt", "x.csv.gz", "x.tsv.zst", "x.graph", "x.mtx", "x.parquet", "x.arrow"] {
        let mut outputs = Vec::new();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let path = folder.path().join(name);
            pool.install(|| write_graph(&graph, &path, None)).unwrap();
            let edges = fs::read(&path).unwrap();
            let communities = |path: &Path| {
                write_communities(
                    path,
                    graph.ids(),
                    &Communities::of_all(&labels),
                    Naming::VertexId,
                )
            };
            let written =
                pool.install(|| communities(&path)).map(|()| fs::read(&path).unwrap()).ok();
            outputs.push((edges, written));
        }
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{name}");
    }
}

#[test]
fn a_compressed_output_is_one_file_to_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let ids = VertexIds::Consecutive { first: 0, count: 100_000 };
    let labels = vec![7; 100_000];
    let plain = folder.path().join("c.txt");
    write_communities(&plain, &ids, &Communities::of_all(&labels), Naming::VertexId).unwrap();
    let expected = fs::read(&plain).unwrap();
    let mut read = Vec::new();
    let packed = folder.path().join("c.txt.gz");
    write_communities(&packed, &ids, &Communities::of_all(&labels), Naming::VertexId).unwrap();
    flate2::read::MultiGzDecoder::new(fs::File::open(packed).unwrap())
        .read_to_end(&mut read)
        .unwrap();
    assert!(read == expected);
    let packed = folder.path().join("c.txt.zst");
    write_communities(&packed, &ids, &Communities::of_all(&labels), Naming::VertexId).unwrap();
    assert!(zstd::decode_all(fs::File::open(packed).unwrap()).unwrap() == expected);
    // Nothing is a valid compressed file, too.
    let none = VertexIds::Consecutive { first: 0, count: 0 };
    let packed = folder.path().join("none.txt.gz");
    write_communities(&packed, &none, &Communities::of_all(&[]), Naming::VertexId).unwrap();
    assert_eq!(read_labels(&packed, &ReadOptions::default(), &none).unwrap(), [0u32; 0]);
    assert!(fs::metadata(packed).unwrap().len() > 0);
}

#[test]
fn a_name_without_extension_takes_the_format_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.gz");
    let graph = example(Direction::Directed);
    write_graph(&graph, &path, Some(Format::Csv)).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]));
}
