//! The first byte says the format and the graph's ids; the rest is a table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{about_vertices, check_error, quiet};
use ripplet_io::{ValueKind, VertexValues, parse_vertex_table};

fuzz_target!(init: quiet(), |input: &[u8]| {
    let (_, format, ids, table) = about_vertices(input);
    let wanted = [("a", ValueKind::U32), ("w", ValueKind::F32)];
    match parse_vertex_table(table, format, &ids, &wanted) {
        Ok(table) => {
            assert_eq!(table.columns.len(), wanted.len());
            for column in table.columns.iter().flatten() {
                match column {
                    VertexValues::U32(values) => assert_eq!(values.len(), ids.len()),
                    VertexValues::F32(values) => {
                        assert_eq!(values.len(), ids.len());
                        assert!(values.iter().all(|value| !value.is_nan()));
                    }
                }
            }
        }
        Err(error) => check_error(&error),
    }
});
