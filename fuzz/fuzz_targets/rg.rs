//! An `.rg` file, whose checksums are made right first: else no input would come further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ripplet_io::rg;
use std::path::Path;
use std::sync::Arc;

/// Bytes under one checksum; inputs are smaller.
const BLOCK: usize = 1 << 20;

fuzz_target!(|input: &[u8]| {
    if input.len() < 72 || input.len() > BLOCK {
        return;
    }
    // A graph's arrays must be aligned, as they are in a mapping.
    let mut words = vec![0u64; input.len().div_ceil(8)];
    let bytes = words_as_bytes(&mut words);
    bytes[..input.len()].copy_from_slice(input);
    let data_end = input.len() - 8;
    bytes[16..24].copy_from_slice(&(data_end as u64).to_le_bytes());
    let sum = crc32fast::hash(&bytes[..data_end]).to_le_bytes();
    bytes[data_end..data_end + 4].copy_from_slice(&sum);
    bytes[data_end + 4..input.len()].copy_from_slice(&crc32fast::hash(&sum).to_le_bytes());

    let owner = Arc::new(Aligned(words, input.len()));
    if let Ok(graph) = rg::from_bytes(owner, Path::new("fuzz.rg")) {
        assert!(graph.ids().is_valid());
        assert!(graph.edges() <= graph.arcs());
        graph.max_degree();
        for list in graph.shards().iter().flat_map(|shard| shard.lists()) {
            let degrees = list.offsets().len() - 1;
            assert!((0..degrees).all(|local| list.of(local).is_sorted()));
        }
    }
});

struct Aligned(Vec<u64>, usize);

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the vector owns eight times as many bytes as it has words, and `self.1` is at
        // most that; bytes have no alignment and any value.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.1) }
    }
}

fn words_as_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: as above, and the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
}
