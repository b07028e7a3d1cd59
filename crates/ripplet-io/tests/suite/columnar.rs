//! Parquet and Arrow: every type of column, every container, and what is wrong with them.

use arrow_array::types::{Int8Type, UInt16Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use ripplet_graph::{EdgeTable, Names, VertexIds};
use ripplet_io::{
    Columns, Format, IdKind, ReadError, ReadErrorKind, ReadOptions, columnar,
    read_edges_with_summary,
};
use std::sync::Arc;

/// Files with a table in them: Parquet and Arrow, of several batches, in several compressions.
pub fn files(columns: Vec<(&str, ArrayRef)>) -> Vec<(Format, Vec<u8>)> {
    files_with(columns, 2)
}

fn files_with(columns: Vec<(&str, ArrayRef)>, group: usize) -> Vec<(Format, Vec<u8>)> {
    let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).unwrap();
    let rows = batch.num_rows();
    let parts = [batch.slice(0, rows / 2), batch.slice(rows / 2, rows - rows / 2)];
    let mut files = Vec::new();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ] {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(group))
            .build();
        let mut file = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        parts.iter().for_each(|part| file.write(part).unwrap());
        files.push((Format::Parquet, file.into_inner().unwrap()));
    }
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = || IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let schema = batch.schema();
        let mut file = FileWriter::try_new_with_options(Vec::new(), &schema, options()).unwrap();
        let mut stream =
            StreamWriter::try_new_with_options(Vec::new(), &schema, options()).unwrap();
        for part in &parts {
            file.write(part).unwrap();
            stream.write(part).unwrap();
        }
        file.finish().unwrap();
        stream.finish().unwrap();
        files.push((Format::Arrow, file.into_inner().unwrap()));
        files.push((Format::Arrow, stream.into_inner().unwrap()));
    }
    files
}

fn edges(source: ArrayRef, target: ArrayRef) -> Vec<(Format, Vec<u8>)> {
    files(vec![("source", source), ("target", target)])
}

fn read_all(files: Vec<(Format, Vec<u8>)>, options: &ReadOptions) -> EdgeTable {
    let mut tables =
        files.into_iter().map(|(format, bytes)| columnar::parse(bytes, format, options).unwrap());
    let first = tables.next().unwrap();
    tables.for_each(|table| assert_eq!(table, first));
    first
}

fn error_of(files: Vec<(Format, Vec<u8>)>, options: &ReadOptions) -> String {
    let errors = files
        .into_iter()
        .map(|(format, bytes)| columnar::parse(bytes, format, options).unwrap_err().to_string());
    errors
        .reduce(|first, error| if first == error { first } else { format!("{first} / {error}") })
        .unwrap()
}

fn auto() -> ReadOptions {
    ReadOptions::default()
}

fn weighted() -> ReadOptions {
    ReadOptions { weighted: true, ..ReadOptions::default() }
}

fn cast<T: Array + 'static>(array: T) -> ArrayRef {
    Arc::new(array)
}

fn integers_of_every_type(values: [u8; 5]) -> Vec<ArrayRef> {
    let keys = Int8Array::from(vec![2, 0, 1, 4, 3]);
    // Key `i` of the dictionary must stand for value `i` of the column.
    let mut behind = [0u16; 5];
    for (key, value) in keys.values().iter().zip(values) {
        behind[*key as usize] = value.into();
    }
    let dictionary = DictionaryArray::new(keys, cast(UInt16Array::from(behind.to_vec())));
    vec![
        cast(Int8Array::from(values.map(|v| v as i8).to_vec())),
        cast(Int16Array::from(values.map(i16::from).to_vec())),
        cast(Int32Array::from(values.map(i32::from).to_vec())),
        cast(Int64Array::from(values.map(i64::from).to_vec())),
        cast(UInt8Array::from(values.to_vec())),
        cast(UInt16Array::from(values.map(u16::from).to_vec())),
        cast(UInt32Array::from(values.map(u32::from).to_vec())),
        cast(UInt64Array::from(values.map(u64::from).to_vec())),
        cast::<DictionaryArray<Int8Type>>(dictionary),
    ]
}

fn strings_of_every_type(values: [&str; 5]) -> Vec<ArrayRef> {
    let dictionary: DictionaryArray<UInt16Type> = values.into_iter().collect();
    vec![
        cast(StringArray::from(values.to_vec())),
        cast(LargeStringArray::from(values.to_vec())),
        cast(StringViewArray::from(values.to_vec())),
        cast(dictionary),
    ]
}

#[test]
fn integers_of_every_type_are_ids() {
    let ids = VertexIds::Unsigned(vec![1, 2, 3, 4, 7, 9].into());
    let expected = EdgeTable::new(ids, vec![4, 2, 0, 4, 1], vec![0, 1, 2, 3, 5]).unwrap();
    let targets = integers_of_every_type([1, 2, 3, 4, 9]);
    for source in &integers_of_every_type([7, 3, 1, 7, 2]) {
        for target in &targets {
            let table = read_all(edges(source.clone(), target.clone()), &auto());
            assert_eq!(table, expected, "{:?}", (source.data_type(), target.data_type()));
        }
    }
}

#[test]
fn strings_of_every_type_are_ids() {
    let ids = VertexIds::Names(Names::new(["", "a", "b", "long enough for a view", "é"]));
    let expected = EdgeTable::new(ids, vec![2, 3, 2, 1, 0], vec![1, 2, 4, 1, 3]).unwrap();
    let targets = strings_of_every_type(["a", "b", "é", "a", "long enough for a view"]);
    for source in &strings_of_every_type(["b", "long enough for a view", "b", "a", ""]) {
        for target in &targets {
            let table = read_all(edges(source.clone(), target.clone()), &auto());
            assert_eq!(table, expected, "{:?}", (source.data_type(), target.data_type()));
        }
    }
}

#[test]
fn negative_and_very_large_integers_are_ids() {
    let signed = || cast(Int64Array::from(vec![-5, 3, i64::MIN]));
    let table = read_all(edges(signed(), cast(UInt8Array::from(vec![3, 3, 0]))), &auto());
    assert_eq!(table.ids(), &VertexIds::Signed(vec![i64::MIN, -5, 0, 3].into()));
    assert_eq!((table.sources(), table.targets()), (&[1, 3, 0][..], &[3, 3, 2][..]));

    let large = || cast(UInt64Array::from(vec![u64::MAX, 1, 1 << 63]));
    let table = read_all(edges(large(), large()), &auto());
    assert_eq!(table.ids(), &VertexIds::Unsigned(vec![1, 1 << 63, u64::MAX].into()));

    let error = error_of(edges(large(), signed()), &auto());
    assert!(error.starts_with("(bytes) at row 1: ") && error.contains("2^63"), "{error}");
    let unsigned = ReadOptions { ids: IdKind::Unsigned, ..auto() };
    let error = error_of(edges(signed(), signed()), &unsigned);
    assert!(error.contains("negative; use --ids signed"), "{error}");
    let signed_ids = ReadOptions { ids: IdKind::Signed, ..auto() };
    let error = error_of(edges(large(), large()), &signed_ids);
    assert!(error.contains("--ids names"), "{error}");
}

#[test]
fn integers_beside_strings_are_names_where_asked() {
    let source = || cast(Int32Array::from(vec![-1, 20, 3]));
    let target = || cast(StringArray::from(vec!["3", "a", "20"]));
    let error = error_of(edges(source(), target()), &auto());
    assert!(error.contains("`source` is Int32 and `target` is Utf8"), "{error}");
    assert!(error.contains("--ids names"), "{error}");
    let names = ReadOptions { ids: IdKind::Names, ..auto() };
    let table = read_all(edges(source(), target()), &names);
    assert_eq!(table.ids(), &VertexIds::Names(Names::new(["-1", "20", "3", "a"])));
    assert_eq!((table.sources(), table.targets()), (&[0, 1, 2][..], &[2, 3, 1][..]));
    let unsigned = ReadOptions { ids: IdKind::Unsigned, ..auto() };
    assert!(error_of(edges(target(), target()), &unsigned).contains("strings, not integers"));
}

#[test]
fn columns_are_found_by_name_in_any_order() {
    let column = |values: Vec<u32>| cast(UInt32Array::from(values));
    let table = || {
        files(vec![
            ("w", cast(Float32Array::from(vec![0.5, 2.0, 0.0]))),
            ("to", column(vec![2, 3, 1])),
            ("note", cast(BooleanArray::from(vec![None, Some(true), None]))),
            ("from", column(vec![1, 2, 3])),
        ])
    };
    let unknown =
        files(vec![("w", column(vec![1])), ("a", column(vec![2])), ("b", column(vec![3]))]);
    let error = error_of(unknown, &auto());
    assert!(error.contains("no column `source`; the columns are w, a, b"), "{error}");
    assert!(error.contains("--columns"), "{error}");
    let known = read_all(table(), &ReadOptions { weighted: true, ..auto() });
    assert_eq!((known.sources(), known.targets()), (&[0, 1, 2][..], &[1, 2, 0][..]));
    assert_eq!(known.weights(), Some(&[0.5, 2.0, 0.0][..]));
    let [source, target, weight] = ["from", "to", "w"].map(String::from);
    let columns = Columns { source, target, weight, ..Columns::default() };
    let options = ReadOptions { columns: columns.clone(), ..auto() };
    let read = read_all(table(), &options);
    assert_eq!(read.ids(), &VertexIds::Consecutive { first: 1, count: 3 });
    assert_eq!((read.sources(), read.targets()), (&[0, 1, 2][..], &[1, 2, 0][..]));
    assert_eq!(read.weights(), None);
    let read = read_all(table(), &ReadOptions { weighted: true, ..options });
    assert_eq!(read.weights(), Some(&[0.5, 2.0, 0.0][..]));
    let note = Columns { source: "note".into(), ..columns };
    let error = error_of(table(), &ReadOptions { columns: note, ..auto() });
    assert!(error.contains("`note` is Boolean, but ids are integers or strings"), "{error}");
    // Names are found in any case, as in text.
    let named = |source: &str, target: &str| {
        let columns =
            Columns { source: source.into(), target: target.into(), ..Columns::default() };
        ReadOptions { columns, ..auto() }
    };
    assert_eq!(read_all(table(), &named("FROM", "To")).sources(), &[0, 1, 2]);
    let floats = || cast(Float64Array::from(vec![1.0, 2.0]));
    let error = error_of(files(vec![("source", floats()), ("target", floats())]), &auto());
    assert!(error.contains("the column `source` is Float64, but ids are integers"), "{error}");
    assert!(error.contains("frame[column].astype(\"Int64\")"), "{error}");
}

/// Summary of reading a table, by its file.
fn said(columns: Vec<(&str, ArrayRef)>, options: &ReadOptions) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let (_, bytes) = files(columns).swap_remove(0);
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, bytes).unwrap();
    let read = read_edges_with_summary(&path, options);
    read.map(|(_, summary)| summary.to_string()).map_err(|error| error.to_string())
}

#[test]
fn known_names_are_those_of_text() {
    let ids = || cast(UInt32Array::from(vec![1, 2]));
    let weights = || cast(Float32Array::from(vec![0.5, 2.0]));
    let table = |others: Vec<(&'static str, ArrayRef)>| {
        let mut columns = vec![("nameOrig", ids()), ("nameDest", ids())];
        columns.extend(others);
        columns
    };
    let read = "read 2 edges: source = \"nameOrig\", target = \"nameDest\"";
    // The hint in the message holds: `--weighted` reads the column.
    let one = || table(vec![("amount", weights())]);
    let sentence = format!("{read}; \"amount\" ignored (--weighted reads it)");
    assert_eq!(said(one(), &auto()).unwrap(), sentence);
    assert_eq!(said(one(), &weighted()).unwrap(), format!("{read}, weight = \"amount\""));
    let two = || table(vec![("amount", weights()), ("count", ids())]);
    let option = "--columns nameOrig,nameDest,amount";
    let sentence =
        format!("{read}; \"amount\" (--weighted {option} reads it) and 1 other column ignored");
    assert_eq!(said(two(), &auto()).unwrap(), sentence);
    let error = said(two(), &weighted()).unwrap_err();
    assert!(error.contains("both `amount` and `count`") && error.ends_with(option), "{error}");
    let [source, target, weight] = ["nameOrig", "nameDest", "amount"].map(String::from);
    let columns = Columns { source, target, weight, ..Columns::default() };
    said(two(), &ReadOptions { columns, ..weighted() }).unwrap();
    // A column of text is no weight, and one of fractions no end.
    let text = cast(StringArray::from(vec!["1", "2"]));
    let worded = || table(vec![("amount", text.clone()), ("w", ids())]);
    assert!(
        said(worded(), &weighted()).unwrap().ends_with("weight = \"w\"; 1 other column ignored")
    );
    let fractions = table(vec![("from", weights()), ("to", weights())]);
    assert_eq!(said(fractions, &auto()).unwrap(), format!("{read}; 2 other columns ignored"));
    let pairs = table(vec![("from", ids()), ("to", ids())]);
    let error = said(pairs, &auto()).unwrap_err();
    assert!(error.contains("more than one pair"), "{error}");
    assert!(error.ends_with("--columns nameOrig,nameDest"), "{error}");
}

#[test]
fn names_out_of_a_file_do_not_break_the_message() {
    let column = || cast(UInt32Array::from(vec![1]));
    let names: Vec<String> = (0..40).map(|i| format!("a\n{i}{}", "x".repeat(1000))).collect();
    let columns = names.iter().map(|name| (name.as_str(), column())).collect();
    let error = error_of(files(columns), &auto());
    assert!(!error.contains('\n') && error.len() < 2000, "{error}");
    assert!(error.contains("a\\n0xxx"), "{error}");
}

#[test]
fn weights_of_every_type() {
    let column = || cast(UInt32Array::from(vec![1, 2]));
    let with = |weight: ArrayRef| {
        files(vec![("source", column()), ("target", column()), ("weight", weight)])
    };
    let half = Float32Array::from(vec![0.5, 3.0]);
    for weight in [cast(Float64Array::from(vec![0.5, 3.0])), cast(half)] {
        assert_eq!(read_all(with(weight), &weighted()).weights(), Some(&[0.5, 3.0][..]));
    }
    for weight in [cast(Int8Array::from(vec![0, 3])), cast(UInt64Array::from(vec![0, 3]))] {
        assert_eq!(read_all(with(weight), &weighted()).weights(), Some(&[0.0, 3.0][..]));
    }
    for (weight, what) in [
        (cast(Float64Array::from(vec![1.0, f64::NAN])), "`NaN` is not a weight"),
        (cast(Float32Array::from(vec![1.0, f32::INFINITY])), "`inf` is not a weight"),
        (cast(Float64Array::from(vec![1.0, -0.5])), "`-0.5` is not a weight"),
        (cast(Int32Array::from(vec![1, -2])), "`-2` is not a weight"),
        (cast(Float64Array::from(vec![Some(1.0), None])), "a null"),
    ] {
        let error = error_of(with(weight), &weighted());
        assert!(error.starts_with("(bytes) at row 2: ") && error.contains(what), "{error}");
    }
    let text = with(cast(StringArray::from(vec!["1", "2"])));
    assert!(error_of(text, &weighted()).contains("`weight` is Utf8, but weights are numbers"));
    let error = error_of(edges(column(), column()), &weighted());
    assert!(error.contains("no column `weight`"), "{error}");
}

#[test]
fn decimals_are_weights() {
    let column = || cast(UInt32Array::from(vec![1, 2]));
    let with = |weight: ArrayRef| {
        files(vec![("source", column()), ("target", column()), ("weight", weight)])
    };
    let small = Decimal32Array::from(vec![5, 125]).with_precision_and_scale(9, 2).unwrap();
    let cents = Decimal128Array::from(vec![5, 125]).with_precision_and_scale(38, 2).unwrap();
    for weight in [cast(small), cast(cents)] {
        assert_eq!(read_all(with(weight), &weighted()).weights(), Some(&[0.05, 1.25][..]));
    }
    // Above 2⁵³, and with a scale whose power of 10 is not exact, as digits are read.
    let large = vec![9_007_199_254_740_993_000_001_i128, 3];
    let large = Decimal128Array::from(large).with_precision_and_scale(38, 6).unwrap();
    let expected = [9_007_199_254_740_993.000001, 0.000003];
    assert_eq!(read_all(with(cast(large)), &weighted()).weights(), Some(&expected[..]));
    let fine = Decimal128Array::from(vec![3, 7]).with_precision_and_scale(38, 30).unwrap();
    assert_eq!(read_all(with(cast(fine)), &weighted()).weights(), Some(&[3e-30, 7e-30][..]));
    for (weight, what) in
        [(vec![Some(1), Some(-5)], "`-0.05` is not a weight"), (vec![Some(1), None], "a null")]
    {
        let weight = Decimal128Array::from(weight).with_precision_and_scale(38, 2).unwrap();
        let error = error_of(with(cast(weight)), &weighted());
        assert!(error.starts_with("(bytes) at row 2: ") && error.contains(what), "{error}");
    }
    let ids = Decimal128Array::from(vec![1, 2]).with_precision_and_scale(38, 0).unwrap();
    let error = error_of(edges(cast(ids), column()), &auto());
    assert!(error.contains("Decimal128") && error.contains("CAST(… AS BIGINT)"), "{error}");
}

#[test]
fn a_null_is_an_error_with_its_row() {
    let some = || cast(UInt32Array::from(vec![1, 2, 3, 4, 5]));
    let null = cast(UInt32Array::from(vec![Some(1), Some(2), Some(3), None, None]));
    for (source, target) in [(some(), null.clone()), (null, some())] {
        let error = error_of(edges(source, target), &auto());
        assert!(error.starts_with("(bytes) at row 4: a null"), "{error}");
    }
    let keys = Int8Array::from(vec![0, 1, 0, 1, 0]);
    let in_dictionary = DictionaryArray::new(keys, cast(StringArray::from(vec![Some("a"), None])));
    let names = cast(StringArray::from(vec!["a", "b", "c", "d", "e"]));
    let error = error_of(edges(names, cast(in_dictionary)), &auto());
    assert!(error.starts_with("(bytes) at row 2: a null"), "{error}");
}

#[test]
fn the_first_error_is_told_for_any_thread_count() {
    let rows = 300_000;
    let ids = || cast(UInt32Array::from_iter_values(0..rows));
    let bad = |row: u32| (row == 250_000 || row == 123_456 || row == 299_999).then_some(f64::NAN);
    let weights = Float64Array::from_iter_values((0..rows).map(|row| bad(row).unwrap_or(1.0)));
    let columns = vec![("source", ids()), ("target", ids()), ("weight", cast(weights))];
    for (format, bytes) in files_with(columns, 100_000) {
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let read = |options| pool.install(|| columnar::parse(bytes.clone(), format, &options));
            let error = read(weighted()).unwrap_err().to_string();
            assert!(error.starts_with("(bytes) at row 123457: "), "{error}");
            let table = read(auto()).unwrap();
            assert_eq!(table.ids(), &VertexIds::Consecutive { first: 0, count: rows });
            assert!(table.sources().iter().copied().eq(0..rows));
        }
    }
}

/// A file of 1.7 kB whose dictionary claims 671 million numbers, and would be given room for them. The fuzzer's first byte
/// is before it.
#[test]
fn a_dictionary_that_claims_more_than_it_has_is_refused() {
    let bytes = include_bytes!("../../../../fuzz/corpus/parquet/dictionary_that_claims_too_much");
    let error = columnar::parse(bytes[1..].to_vec(), Format::Parquet, &weighted()).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("the dictionary of column `weight` claims"), "{error}");
}

#[test]
fn no_rows_and_no_table_are_errors() {
    let none = || cast(UInt32Array::from(Vec::<u32>::new()));
    let error = error_of(edges(none(), none()), &auto());
    assert!(error.contains("no rows"), "{error}");
    for format in [Format::Parquet, Format::Arrow] {
        for bytes in [&b""[..], b"1 2\n", b"PAR1", b"PAR1PAR1", b"ARROW1", b"ARROW1\0\0ARROW1"] {
            let error = columnar::parse(bytes.to_vec(), format, &auto()).unwrap_err().to_string();
            assert!(error.contains("this is no "), "{error}");
        }
        let missing = std::path::Path::new("/nowhere/at/all.parquet");
        let error = columnar::read(missing, format, &auto()).unwrap_err().to_string();
        assert!(error.contains("all.parquet: No such file"), "{error}");
    }
}

/// Reads a damaged file: any error or table is right, a panic is not.
fn survives(bytes: Vec<u8>, format: Format) -> Result<EdgeTable, ReadError> {
    columnar::parse(bytes.clone(), format, &weighted())
        .and_then(|_| columnar::parse(bytes, format, &auto()))
}

#[test]
fn cut_files_are_errors_and_flipped_bytes_do_not_panic() {
    let ids = cast(StringArray::from(vec!["a", "b", "c", "a"]));
    let numbers = cast(Int64Array::from(vec![1, 2, 3, -4]));
    let weights = cast(Float64Array::from(vec![0.5, 2.0, 1.0, 0.0]));
    let dictionary: DictionaryArray<UInt16Type> = ["x", "y", "x", "x"].into_iter().collect();
    for (source, target) in [(ids, cast(dictionary)), (numbers.clone(), numbers)] {
        let columns = vec![("source", source), ("target", target), ("weight", weights.clone())];
        for (at, (format, bytes)) in files(columns).into_iter().enumerate() {
            let stream = format == Format::Arrow && !bytes.starts_with(b"ARROW1");
            for length in 0..bytes.len() {
                let cut = survives(bytes[..length].to_vec(), format);
                // A stream may end after any batch: nothing says how many there are.
                assert!(cut.is_err() || stream, "file {at} cut to {length}");
            }
            for place in 0..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[place] ^= [0x01, 0x80, 0xff][place % 3];
                let _ = survives(bytes, format);
            }
        }
    }
}

#[test]
fn a_cancelled_reader_of_batches_stops() {
    let column = |ids: [u32; 3]| Arc::new(UInt32Array::from(ids.to_vec())) as ArrayRef;
    let rows = [("source", column([1, 2, 3])), ("target", column([2, 3, 1]))];
    let batch = RecordBatch::try_from_iter(rows).unwrap();
    let options = ReadOptions::default();
    let read = || columnar::edges_of_batches(std::slice::from_ref(&batch), &options);
    assert_eq!(read().unwrap().len(), 3);
    options.cancel.cancel();
    assert!(matches!(read().unwrap_err().kind, ReadErrorKind::Cancelled(_)));
}

/// Some packages give tables without rows no batch of them, or columns of no type.
#[test]
fn empty_batches_have_no_rows() {
    let batch = |column: ArrayRef| {
        RecordBatch::try_from_iter([("source", column.clone()), ("target", column)]).unwrap()
    };
    let error = |column: ArrayRef| {
        columnar::edges_of_batches(&[batch(column)], &auto()).unwrap_err().to_string()
    };
    let expected = "(batches): the table has no rows: expected a row for each edge";
    assert_eq!(error(cast(Int64Array::from(Vec::<i64>::new()))), expected);
    assert_eq!(error(cast(arrow_array::NullArray::new(0))), expected);
    let nulls = error(cast(arrow_array::NullArray::new(2)));
    assert!(nulls.contains("`source` is Null, but ids are integers or strings"), "{nulls}");
    assert!(nulls.ends_with("none of its rows has a value"), "{nulls}");
}
