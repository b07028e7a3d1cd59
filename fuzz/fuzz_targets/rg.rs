//! An `.rg` file, whose checksums are made right first: else no input would come further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_fuzz::Aligned;
use ripplet_io::rg;
use std::path::Path;
use std::sync::Arc;

/// Bytes under one checksum; inputs are smaller.
const BLOCK: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    if input.len() < 72 || input.len() > BLOCK {
        return;
    }
    let mut bytes = input.to_vec();
    let data_end = input.len() - 8;
    bytes[16..24].copy_from_slice(&(data_end as u64).to_le_bytes());
    let sum = crc32fast::hash(&bytes[..data_end]).to_le_bytes();
    bytes[data_end..data_end + 4].copy_from_slice(&sum);
    bytes[data_end + 4..].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());

    // A graph's arrays must be aligned, as they are in a mapping.
    if let Ok(graph) = rg::from_bytes(Arc::new(Aligned::of(&bytes)), Path::new("fuzz.rg")) {
        assert!(graph.ids().is_valid());
        assert!(graph.edges() <= graph.arcs());
        graph.max_degree();
        for list in graph.shards().iter().flat_map(|shard| shard.lists()) {
            let degrees = list.offsets().len() - 1;
            assert!((0..degrees).all(|local| list.of(local).is_sorted()));
        }
    }
});
