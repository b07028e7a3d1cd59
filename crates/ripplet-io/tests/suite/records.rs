//! Tables of any columns, and `.npz`.

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_array::{BooleanArray, TimestampMicrosecondArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use ripplet_io::Format;
use ripplet_io::tables::TableFile;
use ripplet_io::write::{NpzWriter, RecordWriter};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

fn schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("name", DataType::Utf8, true),
        Field::new("count", DataType::UInt64, false),
        Field::new("change", DataType::Int64, true),
        Field::new("share", DataType::Float64, true),
        Field::new("known", DataType::Boolean, false),
        Field::new("at", time, true),
    ]))
}

fn batch(names: [Option<&str>; 3]) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(names.to_vec())),
        Arc::new(UInt64Array::from(vec![0, 7, u64::MAX])),
        Arc::new(Int64Array::from(vec![Some(-1), None, Some(i64::MAX)])),
        Arc::new(Float64Array::from(vec![Some(0.1), None, Some(1e300)])),
        Arc::new(BooleanArray::from(vec![true, false, true])),
        Arc::new(
            TimestampMicrosecondArray::from(vec![Some(0), None, Some(1_717_158_600_500_000)])
                .with_timezone("UTC"),
        ),
    ];
    RecordBatch::try_new(schema(), columns).unwrap()
}

const PLAIN: [Option<&str>; 3] = [Some("a, \"b\""), None, Some("#c")];

fn write(path: &Path, names: [Option<&str>; 3]) -> Result<(), ripplet_io::WriteError> {
    let mut table = RecordWriter::create(path, schema())?;
    table.append(&batch(names))?;
    table.append(&batch(names))?;
    table.finish()
}

#[test]
fn rows_are_written_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    write(&path, PLAIN).unwrap();
    let rows = "\"a, \"\"b\"\"\",0,-1,0.1,true,1970-01-01T00:00:00Z\n\
                ,7,,,false,\n\
                \"#c\",18446744073709551615,9223372036854775807,";
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&format!("name,count,change,share,known,at\n{rows}1")), "{text}");
    assert_eq!(text.matches("true,2024-05-31T12:30:00.500Z\n").count(), 2);
    assert_eq!(text.lines().count(), 7);
    for name in ["t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write(&path, PLAIN).unwrap();
        let table = TableFile::open(&path, Format::of_path(&path).unwrap().0).unwrap();
        assert_eq!(table.schema().fields(), schema().fields());
        let rows: Vec<RecordBatch> =
            table.batches(&[0, 1, 2, 3, 4, 5]).unwrap().map(|rows| rows.unwrap().batch).collect();
        let parts = rows
            .iter()
            .flat_map(|rows| (0..rows.num_rows()).step_by(3).map(|at| rows.slice(at, 3)));
        let parts: Vec<RecordBatch> = parts.collect();
        assert_eq!(parts.len(), 2);
        assert!(parts.iter().all(|part| part.columns() == batch(PLAIN).columns()), "{name}");
    }
    for name in ["t.csv.gz", "t.tsv.zst"] {
        let path = folder.path().join(name);
        write(&path, [Some("a"), None, Some("b")]).unwrap();
        let mut text = String::new();
        ripplet_io::tables::open_text(&path).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text.lines().count(), 7, "{name}");
    }
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["t", "t.txt", "t.mtx", "t.arrow.gz"] {
        assert!(RecordWriter::check(&at(name)).is_err());
        assert!(write(&at(name), PLAIN).is_err(), "{name}");
    }
    for (name, bad) in [("t.csv", "a\nb"), ("t.csv", ""), ("t.tsv", "a\rb"), ("t.tsv.gz", "")] {
        assert!(write(&at(name), [Some(bad), None, None]).is_err(), "{name} {bad:?}");
    }
    let other = Arc::new(Schema::new(vec![Field::new("list", DataType::Date32, false)]));
    let error = RecordWriter::create(&at("t.csv"), other).err().unwrap();
    assert!(error.to_string().contains("`list` is Date32"), "{error}");
    let narrow = Arc::new(Schema::new(vec![Field::new("name", DataType::Utf8, true)]));
    let mut table = RecordWriter::create(&at("t.csv"), narrow).unwrap();
    assert!(table.append(&batch(PLAIN)).is_err());
    assert!(table.append(&batch(PLAIN)).is_err(), "after an error it takes no more");
    assert!(table.finish().is_err());

    let mut arrays = NpzWriter::create(&at("t.npz")).unwrap();
    let error = arrays.array("x", &[2, 2], [1.0f32, 2.0, 3.0]).unwrap_err();
    assert!(error.to_string().contains("3 values for 4"), "{error}");
    assert!(arrays.array("y", &[1], [1u8]).is_err());
    assert!(arrays.finish().is_err());
    drop(NpzWriter::create(&at("t.npz")).unwrap());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn an_array_is_laid_out_as_numpy_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npz");
    let mut arrays = NpzWriter::create(&path).unwrap();
    arrays.array("pairs", &[2, 3], [1i64, 2, 3, -1, -2, -3]).unwrap();
    arrays.array("none", &[0], std::iter::empty::<f64>()).unwrap();
    arrays.texts("texts", &["é", "user", ""]).unwrap();
    arrays.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    // The bytes of numpy.save for these, from its magic on.
    let header = |text: &str| {
        let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((length as u16).to_le_bytes());
        bytes.extend(format!("{text:<width$}\n", width = length - 1).bytes());
        bytes
    };
    let mut pairs = header("{'descr': '<i8', 'fortran_order': False, 'shape': (2,3,), }");
    pairs.extend([1i64, 2, 3, -1, -2, -3].iter().flat_map(|value| value.to_le_bytes()));
    let mut texts = header("{'descr': '<U4', 'fortran_order': False, 'shape': (3,), }");
    let letters = ['é', '\0', '\0', '\0', 'u', 's', 'e', 'r', '\0', '\0', '\0', '\0'];
    texts.extend(letters.iter().flat_map(|&letter| u32::from(letter).to_le_bytes()));
    let none = header("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }");
    for (name, part) in [("pairs", pairs), ("none", none), ("texts", texts)] {
        assert!(bytes.windows(part.len()).any(|window| window == part), "{name}");
    }
}
