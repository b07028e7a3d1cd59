//! Graphs of Arrow batches in memory.

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use ripplet::graph::Direction;
use ripplet::{LoadError, LoadOptions, graph_from_batches};
use std::sync::Arc;

#[test]
fn batches_are_read_as_files_of_columns() {
    let names = |names: [&str; 2]| Arc::new(StringArray::from_iter_values(names)) as ArrayRef;
    let weights = |weights: [f64; 2]| Arc::new(Float64Array::from_iter_values(weights)) as ArrayRef;
    let batch = |sources, targets, values| {
        let columns = [("from", names(sources)), ("to", names(targets)), ("w", weights(values))];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let batches =
        [batch(["a", "c"], ["b", "a"], [1.5, 2.0]), batch(["b", "d"], ["c", "d"], [1.0, 1.0])];
    let mut options = LoadOptions { build: Direction::Directed.into(), ..LoadOptions::default() };
    options.read.weighted = true;
    options.read.columns.weight = "w".into();
    let graph = graph_from_batches(&batches, &options).unwrap();
    let edges = [("a", "b", 1.5), ("c", "a", 2.0), ("b", "c", 1.0), ("d", "d", 1.0)];
    let expected = options.builder().build(ripplet::edge_table(edges).unwrap()).unwrap();
    assert_eq!(graph, expected);

    let bad = [batch(["a", "c"], ["b", "a"], [1.5, f64::NAN])];
    let error = graph_from_batches(&bad, &options).unwrap_err();
    assert!(matches!(error, LoadError::Read(_)), "{error}");
    assert!(error.to_string().contains("(batches) at row 2"), "{error}");
    let integers = Arc::new(Int64Array::from_iter_values([1, 2])) as ArrayRef;
    let other = RecordBatch::try_from_iter([("from", integers.clone()), ("to", integers)]).unwrap();
    let mixed = graph_from_batches(&[batches[0].clone(), other], &options).unwrap_err();
    assert!(mixed.to_string().contains("batch 1 has another schema"), "{mixed}");
    assert!(graph_from_batches(&[], &options).is_err());
}
