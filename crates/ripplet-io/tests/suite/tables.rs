//! Tables that are written part by part: rows, ids, formats, refusals.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use ripplet_graph::batch::{BatchBuilder, BatchIds, BatchRows, BatchTable, GraphBatch, Members};
use ripplet_graph::{Names, VertexIds};
use ripplet_io::write::{ColumnData, ColumnKind, Part, Rows, Subject, TableShape, TableWriter};
use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;

/// Graphs without edges of these sizes.
fn batch(sizes: &[u64], graph_ids: VertexIds, ids: BatchIds) -> GraphBatch {
    let sums = sizes.iter().scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    });
    let starts: Vec<u64> = [0].into_iter().chain(sums).collect();
    let members = Members::new(graph_ids, starts.into(), ids).unwrap();
    let rows = BatchRows { graphs: vec![], sources: vec![], targets: vec![], weights: None };
    BatchBuilder::new().build(BatchTable::new(members, rows).unwrap()).unwrap()
}

/// The kinds of ids that a batch may have.
#[derive(Clone, Copy, Debug)]
enum Kind {
    InGraph,
    InBatch,
    Unsigned,
    Signed,
    Names,
}

fn batch_of(sizes: &[u64], kind: Kind) -> GraphBatch {
    let all: u64 = sizes.iter().sum();
    let names = |count: u64| Names::new(named(count).iter().map(String::as_str));
    let ids = match kind {
        Kind::InGraph => BatchIds::InGraph { first: 5 },
        Kind::InBatch => BatchIds::InBatch { first: 7 },
        Kind::Unsigned => BatchIds::Unsigned((0..all).map(|at| 3 * at).collect::<Vec<_>>().into()),
        Kind::Signed => {
            BatchIds::Signed((0..all as i64).map(|at| 3 * at - 8).collect::<Vec<_>>().into())
        }
        Kind::Names => BatchIds::Names(names(all)),
    };
    let graphs = sizes.len() as u64;
    let graph_ids = match kind {
        Kind::InGraph => VertexIds::Consecutive { first: 1, count: graphs as u32 },
        Kind::Signed => {
            VertexIds::Signed((0..graphs as i64).map(|at| at - 2).collect::<Vec<_>>().into())
        }
        Kind::Names => VertexIds::Names(names(graphs)),
        _ => VertexIds::Unsigned((0..graphs).map(|at| at * at).collect::<Vec<_>>().into()),
    };
    batch(sizes, graph_ids, ids)
}

/// Returns ascending names, some of which are quoted in a `.csv`.
fn named(count: u64) -> Vec<String> {
    (0..count).map(|at| format!("n{at:05}{}", if at % 3 == 0 { ", \"x\"" } else { "" })).collect()
}

/// Text of an id in a `.csv`.
fn quoted(id: impl ToString) -> String {
    let id = id.to_string();
    if id.contains('"') { format!("\"{}\"", id.replace('"', "\"\"")) } else { id }
}

/// Returns the rows of a table of all vertices with a value, and of all pairs with one, as `.csv`.
fn expected(batch: &GraphBatch, values: &[f64], distances: &[u32]) -> [String; 3] {
    let [mut vertices, mut graphs, mut pairs] = [
        "graph,id,value,half\n".to_owned(),
        "graph,vertices,even\n".to_owned(),
        "graph,source,target,distance\n".to_owned(),
    ];
    let (mut place, mut pair) = (0, 0);
    for graph in batch.all().graphs() {
        let called = quoted(graph.id());
        let n = graph.vertices();
        graphs += &format!("{called},{n},{}\n", n % 2 == 0);
        for source in 0..n {
            let id = quoted(graph.vertex_id(source));
            vertices += &format!("{called},{id},{},{}\n", values[place], place / 2);
            place += 1;
            for target in 0..n {
                if source != target {
                    let to = quoted(graph.vertex_id(target));
                    pairs += &format!("{called},{id},{to},{}\n", distances[pair]);
                }
                pair += 1;
            }
        }
    }
    [vertices, graphs, pairs]
}

const VERTICES: TableShape<'_> = TableShape {
    rows: Rows::Vertices,
    of_batch: true,
    columns: &[("value", ColumnKind::F64), ("half", ColumnKind::U64)],
};
const GRAPHS: TableShape<'_> = TableShape {
    rows: Rows::Graphs,
    of_batch: true,
    columns: &[("vertices", ColumnKind::U32), ("even", ColumnKind::Bool)],
};
const PAIRS: TableShape<'_> =
    TableShape { rows: Rows::Pairs, of_batch: true, columns: &[("distance", ColumnKind::U32)] };

/// Writes the three tables of a batch, cut into parts at `cuts`.
fn write(folder: &Path, extension: &str, batch: &GraphBatch, cuts: &[usize]) {
    let (values, distances) = values_of(batch);
    let halves: Vec<u64> = (0..batch.vertices()).map(|place| place / 2).collect();
    let table = |name: &str, shape| {
        TableWriter::create(&folder.join(format!("{name}.{extension}")), shape).unwrap()
    };
    let mut tables = [table("vertices", VERTICES), table("graphs", GRAPHS), table("pairs", PAIRS)];
    let (mut from, mut pair) = (0, 0);
    for &to in cuts.iter().chain([&batch.len()]) {
        let graphs = batch.slice(from..to);
        let of = Subject::Batch(graphs);
        let Range { start, end } = graphs.vertex_range();
        let places = start.index()..end.index();
        let columns = [ColumnData::F64(&values[places.clone()]), ColumnData::U64(&halves[places])];
        tables[0].append(Part::Vertices(of), &columns).unwrap();
        let sizes: Vec<u32> = graphs.graphs().map(|graph| graph.vertices()).collect();
        let even: Vec<bool> = sizes.iter().map(|size| size % 2 == 0).collect();
        let columns = [ColumnData::U32(&sizes), ColumnData::Bool(&even)];
        tables[1].append(Part::Graphs(of), &columns).unwrap();
        let pairs: usize = sizes.iter().map(|&size| (size * size) as usize).sum();
        let columns = [ColumnData::U32(&distances[pair..pair + pairs])];
        tables[2].append(Part::Pairs { of, sources: 0..u32::MAX }, &columns).unwrap();
        (from, pair) = (to, pair + pairs);
    }
    tables.into_iter().for_each(|table| table.finish().unwrap());
}

fn values_of(batch: &GraphBatch) -> (Vec<f64>, Vec<u32>) {
    let values = (0..batch.vertices()).map(|place| match place % 5 {
        3 => f64::INFINITY,
        _ => 1.0 / (place + 3) as f64,
    });
    let squares = batch.all().graphs().map(|graph| u64::from(graph.vertices()).pow(2)).sum();
    (values.collect(), (0..squares).map(|pair: u64| pair as u32 % 97).collect())
}

fn batches_of(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    if path.extension().unwrap() == "arrow" {
        return FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect();
    }
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader.map(Result::unwrap).collect()
}

/// Returns a table of Parquet or Arrow as a `.csv` without its header.
fn lines(path: &Path) -> String {
    let field = |column: &dyn Array, row: usize| match column.data_type() {
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => quoted(column.as_string::<i32>().value(row)),
        other => panic!("{other}"),
    };
    let mut text = String::new();
    for batch in batches_of(path) {
        for row in 0..batch.num_rows() {
            let fields: Vec<String> =
                batch.columns().iter().map(|column| field(&**column, row)).collect();
            text += &(fields.join(",") + "\n");
        }
    }
    text
}

const KINDS: [Kind; 5] = [Kind::InGraph, Kind::InBatch, Kind::Unsigned, Kind::Signed, Kind::Names];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_are_the_same_in_every_format_and_however_they_are_cut(
        sizes in prop::collection::vec(0u64..9, 0..7),
        kind in prop::sample::select(KINDS.to_vec()),
        cuts in prop::collection::vec(0usize..7, 0..4),
    ) {
        let batch = batch_of(&sizes, kind);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(sizes.len())).collect();
        cuts.sort_unstable();
        let folder = tempfile::tempdir().unwrap();
        let (values, distances) = values_of(&batch);
        let expected = expected(&batch, &values, &distances);
        let extensions = ["csv", "parquet", "arrow"];
        for extension in extensions {
            write(folder.path(), extension, &batch, &cuts);
        }
        for (name, expected) in ["vertices", "graphs", "pairs"].into_iter().zip(expected) {
            let path = |extension: &str| folder.path().join(format!("{name}.{extension}"));
            prop_assert_eq!(&fs::read_to_string(path("csv")).unwrap(), &expected);
            let rows = expected.split_once('\n').unwrap().1;
            prop_assert_eq!(lines(&path("parquet")), rows);
            prop_assert_eq!(lines(&path("arrow")), rows);
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    // More rows than a block has, and graphs across the blocks' ends.
    let sizes: Vec<u64> = (0..300).map(|graph| graph * 31 % 90).collect();
    let batch = batch_of(&sizes, Kind::Unsigned);
    let extensions = ["csv", "tsv.gz", "txt.zst", "parquet", "arrow"];
    let bytes = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        pool.install(|| {
            for extension in extensions {
                write(folder.path(), extension, &batch, &[20, 233]);
            }
        });
        let read = |name: String| fs::read(folder.path().join(name)).unwrap();
        ["vertices", "graphs", "pairs"]
            .map(|name| extensions.map(|extension| read(format!("{name}.{extension}"))))
    };
    let one = bytes(1);
    assert!(one == bytes(2) && one == bytes(7));
    let (values, distances) = values_of(&batch);
    let [vertices, graphs, pairs] = expected(&batch, &values, &distances);
    assert!(one[0][0] == vertices.as_bytes());
    assert!(one[1][0] == graphs.as_bytes());
    assert!(one[2][0] == pairs.as_bytes());
}

#[test]
fn edges_of_graphs_and_of_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.csv");
    let shape = TableShape {
        rows: Rows::Edges,
        of_batch: true,
        columns: &[("betweenness", ColumnKind::F64)],
    };
    let batch = batch_of(&[3, 0, 2], Kind::Names);
    let of = Subject::Batch(batch.all());
    let values = ColumnData::F64(&[0.5, 2.0, 1.0]);
    let (sources, targets) = ([0, 1, 1], [1, 2, 0]);
    let starts = [0, 2, 2, 3];
    let mut table = TableWriter::create(&path, shape).unwrap();
    table
        .append(
            Part::Edges { of, starts: &starts, sources: &sources, targets: &targets },
            &[values],
        )
        .unwrap();
    table.finish().unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let expected = "graph,source,target,betweenness\n\"n00000, \"\"x\"\"\",\"n00000, \"\"x\"\"\",n00001,0.5\n\
        \"n00000, \"\"x\"\"\",n00001,n00002,2\nn00002,n00004,\"n00003, \"\"x\"\"\",1\n";
    assert_eq!(written, expected);
    let ids = VertexIds::Consecutive { first: 1, count: 2 };
    let mut table = TableWriter::create(&path, TableShape { of_batch: false, ..shape }).unwrap();
    let of = Subject::Graph(&ids);
    let part = Part::Edges { of, starts: &[0, 1], sources: &[0], targets: &[1] };
    table.append(part, &[ColumnData::F64(&[1.0])]).unwrap();
    table.finish().unwrap();
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(written, "source,target,betweenness\n1,2,1\n");
    // Ends that are no vertices, and starts that do not fit.
    for (starts, targets) in [([0, 1], [2]), ([0, 2], [1]), ([1, 1], [1])] {
        let mut table =
            TableWriter::create(&path, TableShape { of_batch: false, ..shape }).unwrap();
        let part = Part::Edges { of, starts: &starts, sources: &[0], targets: &targets };
        assert!(table.append(part, &[ColumnData::F64(&[1.0])]).is_err());
    }
}

#[test]
fn chosen_vertices_have_rows_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let shape = TableShape {
        rows: Rows::Vertices,
        of_batch: false,
        columns: &[("value", ColumnKind::F64)],
    };
    let names = VertexIds::Names(Names::new(["a", "b", "c", "d", "e"]));
    let numbers = VertexIds::Consecutive { first: 7, count: 5 };
    for (ids, expected) in
        [(&names, "b,1.5\nc,2\ne,3\na,4\n"), (&numbers, "8,1.5\n9,2\n11,3\n7,4\n")]
    {
        let values = [ColumnData::F64(&[1.5, 2.0, 3.0, 4.0])];
        for extension in ["csv", "parquet", "arrow"] {
            let path = folder.path().join("some").with_extension(extension);
            let mut table = TableWriter::create(&path, shape).unwrap();
            table.append(Part::Chosen { ids, vertices: &[1, 2, 4, 0] }, &values).unwrap();
            table.append(Part::Chosen { ids, vertices: &[] }, &[ColumnData::F64(&[])]).unwrap();
            table.finish().unwrap();
            let found = match extension {
                "csv" => fs::read_to_string(&path).unwrap(),
                _ => format!("id,value\n{}", lines(&path)),
            };
            assert_eq!(found, format!("id,value\n{expected}"), "{extension}");
        }
        let path = folder.path().join("a.csv");
        for (vertices, count) in [(&[1, 5][..], 2), (&[1], 2)] {
            let mut table = TableWriter::create(&path, shape).unwrap();
            let values = [ColumnData::F64(&[1.0; 2][..count])];
            assert!(table.append(Part::Chosen { ids, vertices }, &values).is_err());
        }
    }
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let batch = batch_of(&[], Kind::Names);
    for extension in ["csv", "txt", "csv.gz", "parquet", "arrow"] {
        write(folder.path(), extension, &batch, &[]);
    }
    let text = fs::read_to_string(folder.path().join("pairs.csv")).unwrap();
    assert_eq!(text, "graph,source,target,distance\n");
    assert_eq!(fs::read(folder.path().join("pairs.txt")).unwrap(), b"");
    assert!(!fs::read(folder.path().join("pairs.csv.gz")).unwrap().is_empty());
    let file = File::open(folder.path().join("graphs.arrow")).unwrap();
    let schema = FileReader::try_new(file, None).unwrap().schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["graph", "vertices", "even"]);
    let file = File::open(folder.path().join("vertices.parquet")).unwrap();
    assert_eq!(ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().fields().len(), 4);
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let batch = batch_of(&[2, 1], Kind::InGraph);
    let of = Subject::Batch(batch.all());
    let refused = |name: &str, shape, part, values: &[ColumnData<'_>], expected: &str| {
        let path = folder.path().join(name);
        let mut table = TableWriter::create(&path, shape).unwrap();
        let error = table.append(part, values).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(name), "{error}");
        // It takes no more, and does not appear.
        let again = table.append(Part::Graphs(of), values).unwrap_err().to_string();
        assert!(again.contains("an error ended this table"), "{again}");
        assert!(table.finish().is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    };
    let graphs = [ColumnData::U32(&[2, 1]), ColumnData::Bool(&[true, false])];
    let vertices = Part::Vertices(of);
    refused("a.csv", GRAPHS, vertices.clone(), &graphs, "not what the table was begun for");
    let one = Subject::Graph(&VertexIds::Consecutive { first: 0, count: 2 });
    refused("a.csv", GRAPHS, Part::Graphs(one), &graphs, "not what the table was begun for");
    refused("a.csv", GRAPHS, Part::Graphs(of), &graphs[..1], "not what the table's columns");
    let short = [ColumnData::U32(&[2]), graphs[1]];
    let sentence = "the column `vertices` has 1 values for 2 graphs";
    refused("a.arrow", GRAPHS, Part::Graphs(of), &short, sentence);
    let pairs = Part::Pairs { of, sources: 0..1 };
    refused("a.parquet", PAIRS, pairs, &short[..1], "has 1 values for 3 pairs");
    // Ids that the format cannot hold, or a column of those before.
    let named = batch_of(&[1], Kind::Names);
    let of_named = Subject::Batch(named.all());
    let value = [ColumnData::F64(&[1.0]), ColumnData::U64(&[1])];
    let names = |name: &str| Names::new([name]);
    let around =
        super::tables::batch(&[1], VertexIds::Names(names(" n")), BatchIds::Names(names("n")));
    let of_around = Part::Vertices(Subject::Batch(around.all()));
    refused("a.txt", VERTICES, of_around, &value, "the graph id \" n\" has blanks around it");
    let path = folder.path().join("a.arrow");
    let mut table = TableWriter::create(&path, VERTICES).unwrap();
    let three = [ColumnData::F64(&[1.0; 3]), ColumnData::U64(&[1; 3])];
    table.append(vertices, &three).unwrap();
    let error = table.append(Part::Vertices(of_named), &value).unwrap_err().to_string();
    assert!(error.contains("n00000") && error.contains("column of integers"), "{error}");
    drop(table);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let error = TableWriter::create(&folder.path().join("a.rg"), PAIRS).err().unwrap();
    assert!(error.to_string().contains("values of pairs are written as .txt"), "{error}");
}

#[test]
fn communities_are_called_by_vertices_of_their_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let shape = TableShape { rows: Rows::Communities, of_batch: true, columns: &[] };
    for kind in [Kind::InGraph, Kind::InBatch, Kind::Signed, Kind::Names] {
        let batch = batch_of(&[2, 0, 3], kind);
        let of = Subject::Batch(batch.all());
        let mut expected = "graph,id,community\n".to_owned();
        for (graph, vertex, community) in [(0, 0, 1), (0, 1, 1), (2, 0, 0), (2, 1, 2), (2, 2, 0)] {
            let graph = batch.graph(graph);
            let ids = [graph.id(), graph.vertex_id(vertex), graph.vertex_id(community)];
            expected += &format!("{}\n", ids.map(quoted).join(","));
        }
        for extension in ["csv", "arrow", "parquet"] {
            let path = folder.path().join("communities").with_extension(extension);
            let mut table = TableWriter::create(&path, shape).unwrap();
            table.append(Part::Communities { of, communities: &[1, 1, 0, 2, 0] }, &[]).unwrap();
            table.finish().unwrap();
            let found = match extension {
                "csv" => fs::read_to_string(&path).unwrap(),
                _ => format!("graph,id,community\n{}", lines(&path)),
            };
            assert_eq!(found, expected, "{kind:?}, {extension}");
        }
        for (wrong, communities) in [(0, &[1, 2, 0, 0, 0][..]), (2, &[0, 0, 3, 0, 0]), (3, &[0; 4])]
        {
            let mut table = TableWriter::create(&folder.path().join("a.csv"), shape).unwrap();
            let error = table.append(Part::Communities { of, communities }, &[]).unwrap_err();
            let expected = match wrong {
                3 => "not one community for each vertex".to_owned(),
                graph => format!("of graph {graph} is called by no vertex"),
            };
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }
}

#[test]
fn integers_go_into_a_column_of_names_and_signs_where_they_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.arrow");
    let shape = TableShape { columns: &[], ..VERTICES };
    let mut table = TableWriter::create(&path, shape).unwrap();
    for kind in [Kind::Names, Kind::Signed, Kind::InGraph] {
        let batch = batch_of(&[1], kind);
        table.append(Part::Vertices(Subject::Batch(batch.all())), &[]).unwrap();
    }
    table.finish().unwrap();
    let first = "\"n00000, \"\"x\"\"\"";
    assert_eq!(lines(&path), format!("{first},{first}\n-2,-8\n1,5\n"));
    let mut table = TableWriter::create(&path, shape).unwrap();
    for kind in [Kind::Signed, Kind::InGraph] {
        let batch = batch_of(&[1], kind);
        table.append(Part::Vertices(Subject::Batch(batch.all())), &[]).unwrap();
    }
    let batch = batch(
        &[1],
        VertexIds::Consecutive { first: 9, count: 1 },
        BatchIds::InGraph { first: u64::MAX - 1 },
    );
    let error = table.append(Part::Vertices(Subject::Batch(batch.all())), &[]).unwrap_err();
    assert!(error.to_string().contains("18446744073709551614"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let batch = batch_of(&[40; 100], Kind::InGraph);
    let (values, _) = values_of(&batch);
    let halves = vec![1; values.len()];
    // The extension selects the format; a device is written directly.
    let folder = tempfile::tempdir().unwrap();
    for name in ["full.csv", "full.arrow", "full.parquet", "full.tsv.zst"] {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let written = TableWriter::create(&path, VERTICES).and_then(|mut table| {
            let columns = [ColumnData::F64(&values), ColumnData::U64(&halves)];
            for _ in 0..20 {
                table.append(Part::Vertices(Subject::Batch(batch.all())), &columns)?;
            }
            table.finish()
        });
        assert_eq!(written.unwrap_err().source.kind(), std::io::ErrorKind::StorageFull, "{name}");
    }
}
