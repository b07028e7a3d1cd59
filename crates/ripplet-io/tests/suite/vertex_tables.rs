//! Tables about vertices, and seeds: what they say, and what is wrong with them.

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;
use ripplet_graph::{Names, VertexIds};
use ripplet_io::write::{ColumnData, VertexColumn, check_values, write_values, write_vertex_table};
use ripplet_io::{
    Format, ReadError, ReadOptions, SeedRow, Seeds, UnknownSeeds, ValueKind, VertexTable,
    VertexValues, parse_seeds, parse_vertex_table, read_seeds, read_vertex_table,
};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

const WANTED: [(&str, ValueKind); 2] = [("amount", ValueKind::F32), ("age", ValueKind::U32)];

fn people() -> VertexIds {
    VertexIds::Names(Names::new(["ann", "bob", "cy"]))
}

fn table_at(path: &Path) -> Result<VertexTable, ReadError> {
    read_vertex_table(path, &ReadOptions::default(), &people(), &WANTED)
}

fn table(name: &str, content: &str) -> Result<VertexTable, ReadError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    table_at(&folder.path().join(name))
}

fn seeds(name: &str, content: &str, unknown: UnknownSeeds) -> Result<Seeds, ReadError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), content).unwrap();
    read_seeds(&folder.path().join(name), &ReadOptions::default(), &people(), unknown)
}

/// Returns the error's sentence without the folder's name.
fn sentence<T: std::fmt::Debug>(result: Result<T, ReadError>) -> String {
    let error = result.unwrap_err().to_string();
    error.rsplit_once('/').unwrap().1.to_string()
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    (folder, path)
}

#[test]
fn columns_are_found_by_name_and_rows_by_id() {
    let read = table(
        "t.csv",
        "age,city,id,amount\n7,x,cy,0.5\n1,\"y,z\",ann,-2\n3,z,bob,1e3\n9,q,dan,0\n",
    );
    let read = read.unwrap();
    let amounts = VertexValues::F32(vec![-2.0, 1000.0, 0.5]);
    assert_eq!(read.columns, [Some(amounts.clone()), Some(VertexValues::U32(vec![1, 3, 7]))]);
    assert_eq!(read.skipped, 1, "dan is no vertex");
    let read = table("t.tsv", "who\tAmount\nann\t-2\nbob\t1000\ncy\t0.5\n").unwrap();
    assert_eq!(read.columns, [Some(amounts), None]);
}

#[test]
fn parquet_says_the_same_as_text() {
    let (_folder, path) = parquet(vec![
        ("age", Arc::new(Int32Array::from(vec![7, 1, 3]))),
        ("id", Arc::new(StringArray::from(vec!["cy", "ann", "bob"]))),
        ("amount", Arc::new(Float64Array::from(vec![0.5, -2.0, 1000.0]))),
    ]);
    let text = table("t.csv", "id,amount,age\nann,-2,1\nbob,1000,3\ncy,0.5,7\n").unwrap();
    assert_eq!(table_at(&path).unwrap(), text);
}

#[test]
fn whole_floats_are_whole_numbers() {
    let read = |age: f64| {
        let (_folder, path) = parquet(vec![
            ("age", Arc::new(Float64Array::from(vec![7.0, age, 3.0]))),
            ("id", Arc::new(StringArray::from(vec!["cy", "ann", "bob"]))),
        ]);
        table_at(&path)
    };
    let ages = VertexValues::U32(vec![u32::MAX, 3, 7]);
    assert_eq!(read(f64::from(u32::MAX)).unwrap().columns, [None, Some(ages)]);
    for age in [0.5, -1.0, 4_294_967_296.0, f64::NAN, f64::INFINITY] {
        assert!(sentence(read(age)).contains("is not a whole number from 0"), "{age}");
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let amounts = [0.1, f32::INFINITY, -3.5e-20];
    let pairs = [1, 2, 3, 4, 5, u32::MAX];
    let columns = [
        VertexColumn { name: "amount", len: 1, values: ColumnData::F32(&amounts) },
        VertexColumn { name: "pair", len: 2, values: ColumnData::U32(&pairs) },
    ];
    let wanted =
        [("amount", ValueKind::F32), ("pair_0", ValueKind::U32), ("pair_1", ValueKind::U32)];
    for name in ["t.csv", "t.tsv.gz", "t.csv.zst", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write_vertex_table(&path, &people(), &columns).unwrap();
        let read = read_vertex_table(&path, &ReadOptions::default(), &people(), &wanted).unwrap();
        let expected = [
            VertexValues::F32(amounts.to_vec()),
            VertexValues::U32(vec![1, 3, 5]),
            VertexValues::U32(vec![2, 4, u32::MAX]),
        ];
        assert_eq!(read.columns, expected.map(Some), "{name}");
    }
    let short = VertexColumn { name: "pair", len: 2, values: ColumnData::U32(&pairs[..4]) };
    for (name, column, expected) in [
        ("s.csv", short, "the column `pair` has 4 values for 3 vertices"),
        ("s.txt", columns[0], "written as .tsv, .csv or .jsonl"),
    ] {
        let error =
            write_vertex_table(&folder.path().join(name), &people(), &[column]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn values_are_written_in_every_format_of_listings() {
    let folder = tempfile::tempdir().unwrap();
    let (values, counts) = ([1.0 / 3.0, 0.0, 2.5e-20], [0, 1 << 33, u64::from(u32::MAX)]);
    let value = VertexColumn { name: "value", len: 1, values: ColumnData::F64(&values) };
    let count = VertexColumn { name: "count", len: 1, values: ColumnData::U64(&counts) };
    for (name, expected) in [
        (
            "v.txt",
            "ann 0.3333333333333333 0\nbob 0 8589934592\ncy 0.000000000000000000025 4294967295\n",
        ),
        (
            "v.csv",
            "id,value,count\nann,0.3333333333333333,0\nbob,0,8589934592\n\
             cy,0.000000000000000000025,4294967295\n",
        ),
    ] {
        let path = folder.path().join(name);
        write_values(&path, &people(), &[value, count]).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), expected);
    }
    let counts = [7, 0, u64::from(u32::MAX)];
    let count = VertexColumn { name: "count", len: 1, values: ColumnData::U64(&counts) };
    for name in ["v.parquet", "v.arrow", "v.tsv.gz"] {
        let path = folder.path().join(name);
        write_values(&path, &people(), &[value, count]).unwrap();
        let wanted = [("value", ValueKind::F32), ("count", ValueKind::U32)];
        let read = read_vertex_table(&path, &ReadOptions::default(), &people(), &wanted).unwrap();
        let single = values.map(|value| value as f32).to_vec();
        let counts = VertexValues::U32(vec![7, 0, u32::MAX]);
        assert_eq!(read.columns, [Some(VertexValues::F32(single)), Some(counts)], "{name}");
    }
    let path = folder.path().join("v.rg");
    let error = check_values(&path, &people()).unwrap_err().to_string();
    assert!(error.contains("values of vertices are written as .txt"), "{error}");
    let short = VertexColumn { name: "value", len: 1, values: ColumnData::F64(&values[..2]) };
    let error = write_values(&folder.path().join("v.txt"), &people(), &[short]).unwrap_err();
    assert!(error.to_string().contains("2 values for 3 vertices"), "{error}");
}

#[test]
fn what_is_wrong_with_a_vertex_table_is_said_with_its_place() {
    for (content, expected) in [
        ("id,amount\nann,x\n", "t.csv:2: the column `amount`: `x` is not a number"),
        ("id,amount\nann,nan\n", "t.csv:2: the column `amount`: `nan` is not a number"),
        (
            "id,age\nann,1\nbob,-1\n",
            "t.csv:3: the column `age`: `-1` is not a whole number from 0 to 4294967295",
        ),
        (
            "id,age\nann,1.5\n",
            "t.csv:2: the column `age`: `1.5` is not a whole number from 0 to 4294967295",
        ),
        ("id,age\nann,\n", "t.csv:2: field 2 is empty"),
        ("id,age\nann\n", "t.csv:2: field 2 is missing"),
        ("id,age\nann,1\nann,1\n", "t.csv:3: vertex ann has a second row"),
        (
            "id,age\nann,1\n",
            "t.csv: 2 of 3 vertices have no row, the first of them vertex bob: expected a row for each",
        ),
    ] {
        assert_eq!(sentence(table("t.csv", content)), expected);
    }
    assert!(sentence(table("t.txt", "ann 1")).contains("is .tsv or .csv"));
    let ids = || Arc::new(StringArray::from(vec![Some("ann"), None])) as ArrayRef;
    let (_folder, path) = parquet(vec![("id", ids())]);
    assert_eq!(
        sentence(table_at(&path)),
        "t.parquet at row 2: no id: expected an integer or a string"
    );
    let ages = Arc::new(Int32Array::from(vec![Some(1), None]));
    let names = Arc::new(StringArray::from(vec!["ann", "bob"]));
    let (_folder, path) = parquet(vec![("id", names.clone()), ("age", ages)]);
    assert_eq!(sentence(table_at(&path)), "t.parquet at row 2: a null: expected a value");
    let ages = Arc::new(Float64Array::from(vec![1.5, 2.0]));
    let (_folder, path) = parquet(vec![("id", names), ("age", ages)]);
    assert!(
        sentence(table_at(&path))
            .contains("at row 1: the column `age`: `1.5` is not a whole number")
    );
}

#[test]
fn seeds_have_clusters_and_strengths_or_none() {
    let row = |vertex, cluster, strength| SeedRow { vertex, cluster, strength };
    let read = seeds("s.txt", "# known\ncy ring1 0.5\nann ring2\n", UnknownSeeds::Refuse);
    assert!(sentence(read).contains("s.txt:3: field 3 is missing"));
    let read =
        seeds("s.csv", "id,cluster,strength\ncy,ring 1,0.5\nann,ring 1,1\n", UnknownSeeds::Refuse);
    let read = read.unwrap();
    assert_eq!(read.rows, [row(2, 0, 0.5), row(0, 0, 1.0)]);
    assert_eq!(read.clusters, VertexIds::Names(Names::new(["ring 1"])));
    let read = seeds("s.txt", "cy 40\nann 7\n", UnknownSeeds::Refuse).unwrap();
    assert_eq!(read.rows, [row(2, 0, 1.0), row(0, 1, 1.0)]);
    assert_eq!(read.clusters, VertexIds::Unsigned(vec![40, 7].into()));
    let read = seeds("s.txt", "cy\nann\n", UnknownSeeds::Refuse).unwrap();
    assert_eq!(read.rows, [row(2, 0, 1.0), row(0, 1, 1.0)]);
    assert_eq!(read.clusters, VertexIds::Names(Names::new(["cy", "ann"])));
    let (_folder, path) = parquet(vec![
        ("label", Arc::new(UInt64Array::from(vec![5, 5]))),
        ("id", Arc::new(StringArray::from(vec!["bob", "ann"]))),
    ]);
    let read = read_seeds(&path, &ReadOptions::default(), &people(), UnknownSeeds::Refuse).unwrap();
    assert_eq!(read.rows, [row(1, 0, 1.0), row(0, 0, 1.0)]);
}

#[test]
fn what_is_wrong_with_seeds_is_said_with_its_place() {
    for (content, expected) in [
        (
            "cy ring\ndan ring\n",
            "s.txt:2: the seed `dan` is no vertex of the graph: --skip-unknown-seeds leaves such seeds out",
        ),
        (
            "holder group\ncy ring\n",
            "s.txt:1: the seed `holder` is no vertex of the graph (a header begins with `id`: id,cluster or id,cluster,strength): \
             --skip-unknown-seeds leaves such seeds out",
        ),
        ("cy ring\ncy ring\n", "s.txt:2: vertex cy is a seed twice"),
        ("cy ring 1.5\n", "s.txt:1: `1.5` is no strength: expected a number from 0 to 1"),
        ("cy ring x\n", "s.txt:1: `x` is no strength: expected a number from 0 to 1"),
        ("\n,\ncy ring\n", "s.txt:2: field 1 is missing"),
    ] {
        assert_eq!(sentence(seeds("s.txt", content, UnknownSeeds::Refuse)), expected);
    }
    let read = seeds("s.txt", "cy ring\ndan ring\n", UnknownSeeds::Skip).unwrap();
    assert_eq!((read.rows.len(), read.skipped), (1, 1));
    assert!(seeds("s.txt", "", UnknownSeeds::Refuse).unwrap().rows.is_empty());
}

#[test]
fn bytes_say_the_same_as_files() {
    let text = "id,amount,age\nann,-2,1\nbob,1000,3\ncy,0.5,7\n";
    let parsed = parse_vertex_table(text.as_bytes(), Format::Csv, &people(), &WANTED);
    assert_eq!(parsed.unwrap(), table("t.csv", text).unwrap());
    let parse = |text: &str| {
        parse_seeds(text.as_bytes(), Format::EdgeList, &people(), UnknownSeeds::Refuse)
    };
    let (parsed, read) = (parse("cy 40\nann 7\n"), "cy 40\nann 7\n");
    assert_eq!(parsed.unwrap().rows, seeds("s.txt", read, UnknownSeeds::Refuse).unwrap().rows);
    let error = parse("cy ring\ncy ring\n").unwrap_err().to_string();
    assert_eq!(error, "(bytes):2: vertex cy is a seed twice");
    let (_folder, path) = parquet(vec![
        ("id", Arc::new(StringArray::from(vec!["cy"]))),
        ("cluster", Arc::new(StringArray::from(vec!["ring"]))),
    ]);
    let bytes = fs::read(path).unwrap();
    let parsed = parse_seeds(&bytes, Format::Parquet, &people(), UnknownSeeds::Refuse).unwrap();
    assert_eq!(parsed.rows, [SeedRow { vertex: 2, cluster: 0, strength: 1.0 }]);
}

#[test]
fn seeds_say_which_columns_were_read() {
    let said = |name: &str, text: &str| {
        let read = seeds(name, text, UnknownSeeds::Skip);
        read.map(|read| read.summary.to_string()).map_err(|error| error.to_string())
    };
    for (name, text, expected) in [
        ("s.txt", "cy 40\nann 7\n", "read 2 seeds: id = column 1, community = column 2; no header"),
        ("s.txt", "cy\n", "read 1 seed: id = column 1, each a community; no header"),
        (
            "s.csv",
            "club,since,member\nring,2020,cy\nring,2021,zoe\n",
            "read 1 seed: id = \"member\", community = \"club\"; 1 other column ignored",
        ),
        (
            "s.csv",
            "id,cluster,strength,a,b\ncy,x,1,2,3\n",
            "read 1 seed: id = \"id\", community = \"cluster\", strength = \"strength\"; 2 other columns ignored",
        ),
    ] {
        assert_eq!(said(name, text).unwrap(), expected, "{text:?}");
    }
    for (name, text, part) in [
        (
            "s.txt",
            "cy ring 1 more\n",
            "s.txt:1: the row has 4 fields, and no header names them: `cy, ring, 1, more`",
        ),
        ("s.csv", "cy,ring\nann,ring,0.5\n", "s.csv:2: the row has 3 fields, and the first row 2"),
        ("s.csv", "id,cluster\ncy,a,b\n", "s.csv:2: the row has 3 fields, and the header 2"),
    ] {
        let error = said(name, text).unwrap_err();
        assert!(error.contains(part), "{text:?}: {error}");
    }
    assert!(said("s.txt", "cy ring 1 more\n").unwrap_err().contains("--seeds-columns 1,2"));
    assert_eq!(
        said("s.csv", "cy,ring,,\nann,ring,\n").unwrap().split(':').next(),
        Some("read 2 seeds")
    );
}

#[test]
fn ids_of_seeds_may_have_blanks() {
    let ids = VertexIds::Names(Names::new(["Ann", "Ann Lee", "Cid Poe"]));
    let read = |text: &str, format| {
        let seeds = parse_seeds(text.as_bytes(), format, &ids, UnknownSeeds::Refuse);
        let seeds = seeds.map_err(|error| error.to_string())?;
        Ok::<_, String>(seeds.rows.iter().map(|row| row.vertex).collect::<Vec<_>>())
    };
    for (text, format) in [
        ("id\nAnn Lee\nCid Poe\n", Format::Csv),
        ("id\n\"Ann Lee\"\n\"Cid Poe\"\n", Format::Csv),
        ("Ann Lee\nCid Poe\n", Format::Tsv),
        ("id\nAnn Lee\nCid Poe\n", Format::EdgeList),
        ("id\tcluster\nAnn Lee\ta b\nCid Poe\tc\n", Format::EdgeList),
    ] {
        assert_eq!(read(text, format), Ok(vec![1, 2]), "{text:?}");
    }
    // No other vertex begins the row.
    assert_eq!(read("Cid Poe\nAnn Lee\n", Format::EdgeList), Ok(vec![2, 1]));
    assert_eq!(read("Ann x\n", Format::EdgeList), Ok(vec![0]));
    let unclear = read("Ann Lee\nCid Poe\n", Format::EdgeList).unwrap_err();
    assert!(unclear.contains("the seed `Ann Lee`, or the seed `Ann` and its cluster"), "{unclear}");
    let wide = read("Ann\nCid Poe\n", Format::EdgeList).unwrap_err();
    assert!(wide.contains(":2: the row has 2 fields") && wide.contains("by tabs"), "{wide}");
}

#[test]
fn a_row_of_a_vertex_table_is_not_wider_than_its_header() {
    let error = sentence(table("t.csv", "id,amount,age\nann,-2,1\nbob,1,000,3\ncy,0.5,7\n"));
    assert!(error.contains("t.csv:3: the row has 4 fields, and the header 3"), "{error}");
    let one = sentence(table("t.csv", "id,amount,age\nann,-2,1\nbob,1,3\n"));
    assert!(one.contains("1 of 3 vertices has no row"), "{one}");
}

#[test]
fn a_header_of_seeds_may_have_its_columns_anywhere() {
    let rows = |text: &str, columns: Option<[&str; 2]>| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.csv");
        fs::write(&path, text).unwrap();
        let label_columns = columns.map(|columns| columns.map(String::from));
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        let read = read_seeds(&path, &options, &people(), UnknownSeeds::Refuse);
        read.map(|read| {
            let named = |row: &SeedRow| (row.vertex, read.clusters.get(row.cluster).to_string());
            read.rows.iter().map(named).collect::<Vec<_>>()
        })
        .map_err(|error| error.to_string())
    };
    let expected = Ok(vec![(2, "ring".to_owned()), (0, "other".to_owned())]);
    for text in [
        "club,member\nring,cy\nother,ann\n",
        ",account,age,community\n0,cy,7,ring\n1,ann,8,other\n",
        "Id,Label,modularity_class\ncy,x,ring\nann,y,other\n",
    ] {
        assert_eq!(rows(text, None), expected, "{text}");
    }
    assert_eq!(rows("a,b,c\nring,x,cy\nother,x,ann\n", Some(["c", "a"])), expected);
    assert_eq!(rows("ring,x,cy\nother,x,ann\n", Some(["3", "1"])), expected);
    let error = rows("a,b,c\nring,x,cy\n", Some(["c", "d"])).unwrap_err();
    assert!(error.contains("s.csv:1: there is no column `d`; the columns are: a, b, c"), "{error}");
}
