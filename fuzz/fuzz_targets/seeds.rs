//! The first byte says the format, the graph's ids, and what unknown seeds become; the rest is a table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::{about_vertices, check_error, quiet};
use ripplet_io::{UnknownSeeds, parse_seeds};

fuzz_target!(init: quiet(), |input: &[u8]| {
    let (first, format, ids, table) = about_vertices(input);
    let unknown = if first & 32 == 0 { UnknownSeeds::Refuse } else { UnknownSeeds::Skip };
    match parse_seeds(table, format, &ids, unknown) {
        Ok(seeds) => {
            assert!(seeds.rows.len() <= ids.len() && seeds.clusters.len() <= seeds.rows.len());
            for row in &seeds.rows {
                assert!((row.vertex as usize) < ids.len());
                assert!((row.cluster as usize) < seeds.clusters.len());
                assert!((0.0..=1.0).contains(&row.strength));
            }
        }
        Err(error) => check_error(&error),
    }
});
